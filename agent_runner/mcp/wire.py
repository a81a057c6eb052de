"""What lies between stdin and stdout and the server: every request that can be read is answered before the end."""

from __future__ import annotations

import json
import sys
from collections.abc import AsyncGenerator
from contextlib import asynccontextmanager
from io import TextIOWrapper
from typing import Any

import anyio
from mcp.server.stdio import stdio_server
from mcp.shared.message import SessionMessage
from mcp_types import JSONRPCError, JSONRPCNotification, JSONRPCRequest, JSONRPCResponse


class Lines(TextIOWrapper):
    """Lines of JSON as UTF-8 can hold them: half a surrogate pair, for which readers refuse a line, becomes `?`."""

    def readline(self, size: int = -1, /) -> str:
        """The next line, empty at the end."""
        line = super().readline(size)
        if "\\ud" not in line.lower():
            return line
        try:
            return json.dumps(json.loads(line), ensure_ascii=False).encode("utf-8", "replace").decode() + "\n"
        except (ValueError, RecursionError):
            return line

    def close(self) -> None:
        """Leaves what it reads open: that is not its own."""
        self.detach()


@asynccontextmanager
async def wire() -> AsyncGenerator[tuple[Any, Any]]:
    """The streams to read from and to write to. The end is only read when all requests before it have an answer.

    The server drops what it is at when it reads the end, and so the calls of a client that writes them all and leaves.
    """
    waiting: set[str | int] = set()
    answered = anyio.Event()
    into, reading = anyio.create_memory_object_stream[SessionMessage | Exception](0)
    writing, out = anyio.create_memory_object_stream[SessionMessage](0)
    lines = anyio.wrap_file(Lines(sys.stdin.buffer, encoding="utf-8", errors="replace"))

    async def inward(stream: Any) -> None:
        nonlocal answered
        async with into:
            async for item in stream:
                message = item.message if isinstance(item, SessionMessage) else None
                if isinstance(message, JSONRPCRequest):
                    waiting.add(message.id)
                elif isinstance(message, JSONRPCNotification) and message.method == "notifications/cancelled":
                    waiting.discard((message.params or {}).get("requestId", ""))  # which is never answered
                await into.send(item)
            while waiting:
                answered = anyio.Event()
                await answered.wait()

    async def outward(stream: Any) -> None:
        async for item in out:
            await stream.send(item)
            if isinstance(item.message, JSONRPCResponse | JSONRPCError) and item.message.id is not None:
                waiting.discard(item.message.id)
                answered.set()

    async with (
        reading, writing, out, stdio_server(stdin=lines) as (source, sink), source, sink,
        anyio.create_task_group() as group,
    ):  # fmt: skip
        group.start_soon(inward, source)
        group.start_soon(outward, sink)
        yield reading, writing
        group.cancel_scope.cancel()
