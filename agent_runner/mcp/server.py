"""The server on stdin and stdout. On it are the tools and the task, and nothing that starts anew or gives a score."""

from __future__ import annotations

import json
import signal
from typing import Any

import anyio
from anyio import to_thread
from mcp.server.lowlevel import Server
from mcp_types import (
    CallToolRequestParams,
    CallToolResult,
    GetPromptRequestParams,
    GetPromptResult,
    ListPromptsResult,
    ListToolsResult,
    Prompt,
    PromptMessage,
    TextContent,
    Tool,
)

from ...schemas.version import VERSION
from .session import Session
from .wire import wire

PROMPT = "task"
_ABOUT = "The task: what the customer wants, and how to recommend a trip."


def server_of(session: Session) -> Server[Any]:
    """A server for one client; calls are made one after the other."""
    one = anyio.Lock()

    async def list_tools(_ctx: Any, _params: Any) -> ListToolsResult:
        functions = [schema["function"] for schema in session.tools()]
        return ListToolsResult(
            tools=[
                Tool(name=item["name"], description=item["description"], input_schema=item["parameters"])
                for item in functions
            ]
        )

    async def call_tool(_ctx: Any, params: CallToolRequestParams) -> CallToolResult:
        async with one:
            result = await to_thread.run_sync(session.call, params.name, params.arguments or {})
        text = json.dumps(result.content, ensure_ascii=False, default=str)
        return CallToolResult(content=[TextContent(text=text)], is_error=result.fault is not None)

    async def list_prompts(_ctx: Any, _params: Any) -> ListPromptsResult:
        return ListPromptsResult(prompts=[Prompt(name=PROMPT, description=_ABOUT)])

    async def get_prompt(_ctx: Any, params: GetPromptRequestParams) -> GetPromptResult:
        if params.name != PROMPT:
            raise ValueError(f"there is no prompt '{params.name}', only '{PROMPT}'")
        return GetPromptResult(
            description=_ABOUT, messages=[PromptMessage(role="user", content=TextContent(text=session.text))]
        )

    return Server(
        "cobench",
        version=VERSION,
        instructions=f"Tools to find a trip. The prompt '{PROMPT}' says which.",
        on_list_tools=list_tools,
        on_call_tool=call_tool,
        on_list_prompts=list_prompts,
        on_get_prompt=get_prompt,
    )


def serve(session: Session) -> None:
    """Serves on stdin and stdout until the client is gone, or this process is asked to end."""
    try:
        anyio.run(_serve, session)
    except* (BrokenPipeError, ConnectionResetError, anyio.BrokenResourceError):
        pass  # the client reads no more, so it is gone


async def _serve(session: Session) -> None:
    server = server_of(session)
    async with anyio.create_task_group() as group:
        group.start_soon(_until_signal, group.cancel_scope)
        async with wire() as (reading, writing):
            await server.run(reading, writing, server.create_initialization_options())
        group.cancel_scope.cancel()


async def _until_signal(scope: anyio.CancelScope) -> None:
    with anyio.open_signal_receiver(signal.SIGINT, signal.SIGTERM) as signals:
        async for _ in signals:
            scope.cancel()
            return
