"""The host's side of a running program: its output, and the requests that it sends, one line of JSON each.

Nothing that a program sends is trusted: a line that is too long or no request ends it. What it can name is a tool and
its arguments, and these reach `Tools.call` and nothing else.
"""

from __future__ import annotations

import json
import os
import selectors
import signal
import subprocess
import time
from collections.abc import Mapping
from contextlib import suppress
from dataclasses import dataclass, field
from typing import Any, NoReturn, Protocol

MOST_REQUEST = 64 << 10  # bytes of a request
MOST_ANSWER = 1 << 20  # bytes of an answer
_CHUNK = 64 << 10
Request = tuple[str, dict[str, Any]]


class Tools(Protocol):
    """What a program's requests reach."""

    def call(self, name: str, arguments: dict[str, Any]) -> Mapping[str, Any] | None:
        """The answer, plain JSON values; None when there is nothing more to be had, which ends the program."""
        ...


class ProtocolError(ValueError):
    """A line that is no request."""


def read_request(line: bytes) -> Request:
    """The tool and the arguments that a line names; raises ProtocolError for anything that is not such a line."""
    try:
        found = json.loads(line.decode("utf-8"), parse_constant=_no_number)
    except (ValueError, RecursionError) as fault:
        raise ProtocolError(str(fault)[:200]) from None
    match found:
        case {"name": str(name), "arguments": dict(arguments)} if len(found) == 2:
            return name, arguments
        case _:
            raise ProtocolError("not a request")


def _no_number(text: str) -> NoReturn:
    raise ValueError(f"{text} is no JSON")


def line_of(value: Mapping[str, Any]) -> bytes:
    """The line for a value: ASCII, so that no text in it can end it early."""
    return json.dumps(value, ensure_ascii=True).encode("ascii") + b"\n"


@dataclass(slots=True)
class Kept:
    """The first bytes of an output, and how many there were."""

    most: int
    data: bytearray = field(default_factory=bytearray)
    size: int = 0

    def add(self, chunk: bytes) -> None:
        """Takes more of the output."""
        self.size += len(chunk)
        self.data += chunk[: self.most - len(self.data)]

    def text(self) -> str:
        """What was kept, as text; says when something was cut off."""
        text = self.data.decode("utf-8", "replace")
        return text if self.size <= self.most else f"{text}\n[cut: {self.most} of {self.size} bytes]"


class Served:
    """A program being served until it ends, is stopped, or its time is over; `why` says which.

    Its time does not run while a tool works. One thread does it all, and never waits for the program.
    """

    def __init__(self, process: subprocess.Popen[bytes], requests: int, answers: int, most_output: int) -> None:
        if process.stdout is None or process.stderr is None:
            raise ValueError("the process must have pipes")
        self._process, self._requests, self._answers = process, requests, answers
        self.out, self.err = Kept(most_output), Kept(most_output)
        self._kept = {process.stdout.fileno(): self.out, process.stderr.fileno(): self.err}
        self._line, self._pending, self._asking = bytearray(), b"", True
        self._selector = selectors.DefaultSelector()
        for descriptor in (*self._kept, requests):
            os.set_blocking(descriptor, False)
            self._selector.register(descriptor, selectors.EVENT_READ)
        os.set_blocking(answers, False)

    def serve(self, tools: Tools, start: bytes, seconds: float) -> str:
        """Sends the start, answers requests, and gives "", or why the program was stopped before its end."""
        self._deadline = time.monotonic() + seconds
        try:
            self._send(start)
            while self._selector.get_map():
                left = self._deadline - time.monotonic()
                if left <= 0:
                    return "time"
                for key, _ in self._selector.select(left):
                    stop = self._handle(key.fd, tools)
                    if stop:
                        return stop
            return ""
        finally:
            self._selector.close()
            self._end()

    def _handle(self, descriptor: int, tools: Tools) -> str:
        if descriptor == self._answers:
            self._send(b"")
            return self._answer(tools) if not self._pending else ""
        chunk = os.read(descriptor, _CHUNK)
        if not chunk:
            self._selector.unregister(descriptor)
            self._asking = self._asking and descriptor != self._requests
        elif descriptor in self._kept:
            self._kept[descriptor].add(chunk)
        else:
            self._line += chunk
            return self._answer(tools)
        return ""

    def _answer(self, tools: Tools) -> str:
        """Answers the requests that have come, as long as their answers are taken."""
        while not self._pending:
            line, newline, rest = self._line.partition(b"\n")
            if len(line) > MOST_REQUEST:
                return "protocol"
            if not newline:
                return ""
            self._line = rest
            try:
                name, arguments = read_request(bytes(line))
            except ProtocolError:
                return "protocol"
            started = time.monotonic()
            answer = tools.call(name, arguments)
            self._deadline += time.monotonic() - started
            if answer is None:
                return "calls"
            text = line_of(answer)
            if len(text) > MOST_ANSWER:
                text = line_of({"fault": "content", "message": f"the answer is longer than {MOST_ANSWER} bytes"})
            self._send(text)
        return ""

    def _send(self, more: bytes) -> None:
        """Writes what the pipe takes, and remembers the rest; meanwhile no request is read."""
        self._pending += more
        try:
            self._pending = self._pending[os.write(self._answers, self._pending) :]
        except BlockingIOError:
            pass
        except BrokenPipeError:  # the program reads no answers any more
            self._pending = b""
        self._watch(self._answers, selectors.EVENT_WRITE, bool(self._pending))
        self._watch(self._requests, selectors.EVENT_READ, self._asking and not self._pending)

    def _watch(self, descriptor: int, event: int, wanted: bool) -> None:
        if wanted and descriptor not in self._selector.get_map():
            self._selector.register(descriptor, event)
        elif not wanted and descriptor in self._selector.get_map():
            self._selector.unregister(descriptor)

    def _end(self) -> None:
        """Kills what is left of the program, which ends all that it has started, and waits for it."""
        with suppress(ProcessLookupError):
            os.killpg(self._process.pid, signal.SIGKILL)
        self._process.wait()
