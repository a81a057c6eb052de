"""The tools of a conversation as Inspect's, and what was called, also what Inspect itself refuses to call."""

from __future__ import annotations

import json
from collections.abc import Callable
from contextlib import ExitStack
from contextvars import ContextVar
from dataclasses import dataclass
from typing import Any

from anyio import to_thread
from inspect_ai.model import ChatMessage, ChatMessageAssistant, ChatMessageTool, execute_tools
from inspect_ai.tool import ToolDef, ToolParams

from ..coding.program import run_code
from ..env import Env, Mode
from ..tools.result import Result

RUN_PYTHON = "run_python"
_PROGRAM = {
    "type": "object",
    "properties": {"code": {"type": "string", "description": "The program; what it prints is returned."}},
    "required": ["code"],
    "additionalProperties": False,
}
_ABOUT = "Runs a Python program that may import the tools as functions: from tools import search_hotel, calculator"


@dataclass(slots=True)
class Played:
    """The conversation of the sample at work: for those who take the place of a model but are none.

    `address`: of its chance, which is (seed, task, epoch). `closing` is closed when the conversation is over, however
    that comes. `last`: the result of the last call.
    """

    env: Env
    address: tuple[int | str, ...]
    closing: ExitStack
    last: Result | None = None

    def call(self, name: str, arguments: Any) -> str:
        """What a call comes to, as text for a model."""
        self.last = self.env.call(name, arguments)
        return json.dumps(self.last.content, ensure_ascii=False, default=str)


PLAYED: ContextVar[Played] = ContextVar("played")


def tool_defs(played: Played, mode: Mode) -> list[ToolDef]:
    """The eighteen tools under their own schemas; in coding mode the one that runs programs which call them."""
    if mode == "code":
        return [_program(played.env)]
    return [_tool(played, schema["function"]) for schema in played.env.tools()]


def _tool(played: Played, function: dict[str, Any]) -> ToolDef:
    name: str = function["name"]

    async def execute(**kwargs: Any) -> str:
        return await to_thread.run_sync(played.call, name, kwargs)

    return _defined(execute, name, function["description"], function["parameters"])


def _program(env: Env) -> ToolDef:
    async def execute(code: str) -> str:
        return (await to_thread.run_sync(run_code, env, code)).shown()

    return _defined(execute, RUN_PYTHON, _ABOUT, _PROGRAM)


def _defined(execute: Callable[..., Any], name: str, about: str, parameters: dict[str, Any]) -> ToolDef:
    # max_output=0: our results are bounded and paged; cut off in the middle they would be no JSON
    return ToolDef(execute, name, about, ToolParams.model_validate(parameters), max_output=0)


async def called(played: Played, messages: list[ChatMessage], tools: list[ToolDef]) -> list[ChatMessage]:
    """The answers to the calls in the last message.

    A call of no tool, or with arguments that are not as its schema says, does not get through Inspect: it is made here,
    so that it is answered and counted as everywhere.
    """
    asked = messages[-1]
    answers, _ = await execute_tools(messages, tools)
    calls = {call.id: call for call in asked.tool_calls or ()} if isinstance(asked, ChatMessageAssistant) else {}
    found: list[ChatMessage] = []
    for answer in answers:
        call = calls.get(answer.tool_call_id or "") if isinstance(answer, ChatMessageTool) else None
        if call is not None and isinstance(answer, ChatMessageTool) and answer.error and answer.error.type == "parsing":
            given = call.arguments if call.parse_error is None else call.parse_error
            text = await to_thread.run_sync(played.call, call.function, given)
            found.append(answer.model_copy(update={"content": text, "error": None}))
        else:
            found.append(answer)
    return found
