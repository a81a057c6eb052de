"""What runs in the sandbox before a program: sets its limits and gives it the module `tools`. Standard library only.

Started with the numbers of two descriptors, to write requests to and to read answers from: one line of JSON each.
Nothing that the other side relies on is in here, since a program can do as it likes with this.
"""

from __future__ import annotations

import json
import linecache
import os
import resource
import sys
import threading
import traceback
import types
from collections.abc import Callable, Sequence
from typing import Any, NoReturn

NAME = "program.py"


class ToolError(Exception):
    """A call of a tool that went wrong: `kind` is name, parameter or content."""

    def __init__(self, kind: str, message: str) -> None:
        super().__init__(f"{kind}: {message}")
        self.kind, self.message = kind, message


class Channel:
    """Requests and their answers, one at a time, whatever thread asks."""

    def __init__(self, requests: int, answers: int) -> None:
        self._requests, self._answers = os.fdopen(requests, "wb"), os.fdopen(answers, "rb")
        self._turn = threading.Lock()

    def read(self) -> Any:
        """The next answer."""
        line = self._answers.readline()
        if not line:
            raise ToolError("content", "the tools are gone")
        return json.loads(line)

    def call(self, name: str, arguments: dict[str, Any], most: int) -> Any:
        """The content of a tool's result; raises ToolError."""
        try:  # dates and the like go as text
            text = json.dumps({"name": name, "arguments": arguments}, default=str, allow_nan=False)
        except (ValueError, TypeError, RecursionError) as fault:
            raise ToolError("parameter", f"{name} cannot take such arguments: {fault}") from None
        if len(text) >= most:
            raise ToolError("parameter", f"the arguments of {name} are longer than {most} bytes")
        with self._turn:
            self._requests.write(text.encode() + b"\n")
            self._requests.flush()
            answer = self.read()
        if answer["fault"] is not None:
            raise ToolError(answer["fault"], answer["message"])
        return answer["content"]


def tool(channel: Channel, name: str, parameters: Sequence[str], most: int) -> Callable[..., Any]:
    """A function that calls a tool, with arguments by position in the order of its schema, or by keyword."""

    def call(*values: Any, **arguments: Any) -> Any:
        names = [*parameters, *(f"argument_{number + 1}" for number in range(len(parameters), len(values)))]
        placed = dict(zip(names, values, strict=False))
        twice = placed.keys() & arguments.keys()
        if twice:
            raise TypeError(f"{name}() got multiple values for argument '{min(twice)}'")
        return channel.call(name, placed | arguments, most)

    call.__name__ = call.__qualname__ = name
    return call


def confine(limits: dict[str, int]) -> None:
    """Sets limits that cannot be taken back: none but the superuser outside may raise a hard one."""
    seconds = limits["cpu_seconds"]
    resource.setrlimit(resource.RLIMIT_CPU, (seconds, seconds + 1))
    for kind, most in (
        (resource.RLIMIT_AS, limits["memory"]),
        (resource.RLIMIT_FSIZE, limits["files"]),
        (resource.RLIMIT_NOFILE, 64),
        (resource.RLIMIT_CORE, 0),
        (resource.RLIMIT_MEMLOCK, 0),
        (resource.RLIMIT_MSGQUEUE, 0),
    ):
        resource.setrlimit(kind, (most, most))


def main() -> NoReturn:
    """Reads what to run, runs it as a script is run, and exits with its status."""
    channel = Channel(int(sys.argv[1]), int(sys.argv[2]))
    start = channel.read()
    confine(start["limits"])
    module = types.ModuleType("tools", "The tools: each function returns plain Python values, or raises ToolError.")
    module.__dict__["ToolError"] = ToolError
    ToolError.__module__ = "tools"
    for name, parameters in start["tools"].items():
        module.__dict__[name] = tool(channel, name, parameters, start["most"])
    sys.modules["tools"] = module
    script = types.ModuleType("__main__")
    sys.modules["__main__"], sys.argv = script, [NAME]
    source: str = start["source"]
    linecache.cache[NAME] = (len(source), None, source.splitlines(keepends=True), NAME)
    status = 0
    try:
        exec(compile(source, NAME, "exec"), script.__dict__)  # noqa: S102  what all this is for
    except SystemExit:
        raise
    except BaseException as fault:  # noqa: BLE001  told as an interpreter tells it
        status = 1
        inside = fault.__traceback__.tb_next if fault.__traceback__ else None
        traceback.print_exception(type(fault), fault, inside)
    sys.exit(status)


if __name__ == "__main__":
    main()
