"""Calls of tools as JSON that a schema constrains: for local models whose servers cannot call tools themselves."""

from __future__ import annotations

import json
from typing import Any

from anyio import to_thread
from inspect_ai.model import (
    ChatMessage,
    ChatMessageAssistant,
    ChatMessageUser,
    GenerateConfig,
    Model,
    ResponseSchema,
)
from inspect_ai.util import JSONSchema

from ...schemas.episode import Usage
from ..briefing import tools_text
from ..tools.toolbox import TOOLS
from .speaking import Reply, added, whole
from .tools import Played

RULES = """\
To call a tool, write one JSON object {{"tool": "…", "arguments": {{…}}}} instead of a reply; you are told its result.

The tools:
{tools}"""
MOST_TEXT = 400  # characters of a text in an action
_RESULT = "Result of {tool}: {text}"


class Actions:
    """A model that acts by JSON in one conversation; at most `steps` calls before a reply."""

    def __init__(self, model: Model, played: Played, steps: int) -> None:
        self._model, self._played, self._steps = model, played, steps
        self.rules = RULES.format(tools=tools_text())
        self._reply_schema = _reply_schema(list(played.env.case.problem.choices))

    async def reply(self, messages: list[ChatMessage], *, calls: bool) -> Reply:
        """The reply to the last message."""
        usage = Usage()
        for step in range(self._steps + 1):
            last = not calls or step == self._steps or self._played.env.ended is not None
            allowed = [self._reply_schema] if last else [_call_schema(), self._reply_schema]
            schema = ResponseSchema(name="action", json_schema=JSONSchema.model_validate(_any_of(allowed)))
            output = whole(await self._model.generate(messages, config=GenerateConfig(response_schema=schema)))
            usage = added(usage, output)
            messages.append(ChatMessageAssistant(content=output.completion, model=output.model, source="generate"))
            call = None if last else _call(output.completion)
            if call is None:
                return Reply(output.completion, usage)
            text = await to_thread.run_sync(self._played.call, *call)
            messages.append(ChatMessageUser(content=_RESULT.format(tool=call[0], text=text)))
        raise AssertionError("the last step replies")


def _call(text: str) -> tuple[str, Any] | None:
    """The tool and its arguments, if a text is a call."""
    try:
        found = json.loads(text)
    except (ValueError, RecursionError):
        return None
    if isinstance(found, dict) and isinstance(found.get("tool"), str):
        return found["tool"], found.get("arguments", {})
    return None


def _any_of(allowed: list[dict[str, Any]]) -> dict[str, Any]:
    return allowed[0] if len(allowed) == 1 else {"anyOf": allowed}


def _object(properties: dict[str, Any], required: list[str]) -> dict[str, Any]:
    return {"type": "object", "properties": properties, "required": required, "additionalProperties": False}


def _call_schema() -> dict[str, Any]:
    """One alternative a tool, with the tool's own parameters."""
    tools = [
        _object(
            {"tool": {"type": "string", "enum": [tool.name]}, "arguments": _bounded(tool.schema())},
            ["tool", "arguments"],
        )
        for tool in TOOLS.values()
    ]
    return {"anyOf": tools}


def _bounded(schema: dict[str, Any]) -> dict[str, Any]:
    """A tool's parameters with texts of bounded length, so that a weak model comes to an end."""
    parameters = schema["function"]["parameters"]
    properties = {
        name: ({"maxLength": MOST_TEXT} if item.get("type") == "string" else {}) | item
        for name, item in parameters["properties"].items()
    }
    return {**parameters, "properties": properties}


def _reply_schema(choices: list[str]) -> dict[str, Any]:
    text = {"type": "string", "maxLength": MOST_TEXT}
    if len(choices) == 1:
        named: dict[str, Any] = {f"{choices[0]}_ids": {"type": "array", "items": text}}
    else:
        named = {f"{choice}_id": text for choice in choices}
    recommendation = {"anyOf": [{"type": "null"}, _object(named, list(named))]}
    return _object({"message": text, "recommendation": recommendation}, ["message", "recommendation"])
