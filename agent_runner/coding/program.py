"""Running a program that an agent wrote: it calls the tools of a conversation, and the agent gets what it printed."""

from __future__ import annotations

import json
import os
import signal
from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from enum import StrEnum
from typing import TYPE_CHECKING, Any

from ..tools.toolbox import ALIASES
from .channel import MOST_REQUEST, Served, line_of
from .sandbox import CLIENT, sandbox

if TYPE_CHECKING:
    from ..env import Env

MOST_SOURCE = 256 << 10  # characters of a program
_PROCESSOR_TIME = 128 + signal.SIGXCPU  # the exit status when there was no more of it


@dataclass(frozen=True, slots=True)
class CodeLimits:
    """Caps on one program. `seconds` run on the wall, without the time that tools take; sizes are in bytes.

    `output` is the cap of stdout and of stderr each: what is beyond is cut off, and the program goes on.
    """

    seconds: float = 60
    cpu_seconds: int = 20
    memory: int = 512 << 20
    files: int = 16 << 20
    output: int = 30_000
    calls: int = 2000


class Reason(StrEnum):
    """How a program came to its end."""

    FINISHED = "finished"
    FAILED = "failed"  # an exception, or an exit status other than 0
    TIME = "time limit"
    CALLS = "call limit"  # of the program or of the conversation
    PROTOCOL = "protocol"  # it wrote something to the tools that no function of `tools` writes


@dataclass(frozen=True, slots=True)
class Output:
    """What a program printed, what it complained of, how many calls of tools it made, and how it ended."""

    text: str
    error: str
    calls: int
    reason: Reason

    def shown(self) -> str:
        """All of it as one text for a language model."""
        parts = [self.text, self.error and f"[stderr]\n{self.error}"]
        parts += [] if self.reason is Reason.FINISHED else [f"[the program ended: {self.reason}]"]
        return "\n".join(part.rstrip("\n") for part in parts if part) or "[the program printed nothing]"


class _Inner:
    """The calls of one program: counted, and kept in the conversation's record as inner ones."""

    def __init__(self, env: Env, most: int) -> None:
        self._env, self._most, self.count = env, most, 0

    def call(self, name: str, arguments: dict[str, Any]) -> Mapping[str, Any] | None:
        if self.count >= self._most or self._env.ended is not None:
            return None
        self.count += 1
        result = self._env.call(name, arguments, inner=True)
        if result.fault is None:
            return {"fault": None, "content": result.content}
        return {"fault": result.fault.value, "message": complaint(result.content)}


def complaint(content: Any) -> str:
    """The words of a result that reports a fault, with what would do where that is known."""
    match content:
        case {"error": {"message": str(message), "hint": str(hint)}}:
            return f"{message}; {hint}" if hint else message
        case _:
            return json.dumps(content, ensure_ascii=False, default=str)


def parameters_of(schemas: Sequence[Mapping[str, Any]]) -> dict[str, list[str]]:
    """Per tool and alias the names of its parameters, in the order in which a program may give them by position."""
    functions = [schema["function"] for schema in schemas]
    found = {function["name"]: [*function["parameters"].get("properties", {})] for function in functions}
    return found | {alias: found[name] for alias, name in ALIASES.items() if name in found}


def run_code(env: Env, source: str, limits: CodeLimits | None = None) -> Output:
    """The output of a Python program that may say `from tools import search_hotel, …`; it never raises for a program.

    Nothing is kept from one program to the next but what is in the notebook tool. Blocks until the program has ended,
    from whatever thread it is called. Raises SandboxError where programs cannot be run.
    """
    limits = limits or CodeLimits()
    walls = sandbox(limits.files)
    if len(source) > MOST_SOURCE:
        return Output("", f"the program is longer than {MOST_SOURCE} characters", 0, Reason.FAILED)
    start = {
        "source": source,
        "tools": parameters_of(env.tools()),
        "most": MOST_REQUEST,
        "limits": {"cpu_seconds": limits.cpu_seconds, "memory": limits.memory, "files": limits.files},
    }
    inner = _Inner(env, limits.calls)
    requests, sending = os.pipe()
    receiving, answers = os.pipe()
    try:
        try:
            process = walls.start((f"/{CLIENT.name}", str(sending), str(receiving)), (sending, receiving))
        finally:
            os.close(sending)
            os.close(receiving)
        with process:
            served = Served(process, requests, answers, limits.output)
            stopped = served.serve(inner, line_of(start), limits.seconds)
    finally:
        os.close(requests)
        os.close(answers)
    return Output(served.out.text(), served.err.text(), inner.count, _reason(stopped, process.returncode))


def _reason(stopped: str, status: int) -> Reason:
    match stopped:
        case "time":
            return Reason.TIME
        case "calls":
            return Reason.CALLS
        case "protocol":
            return Reason.PROTOCOL
        case _ if status == _PROCESSOR_TIME:
            return Reason.TIME
        case _:
            return Reason.FAILED if status else Reason.FINISHED
