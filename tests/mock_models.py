"""Models for Inspect that say what a test wrote down; their tokens are given, since it would fetch a table to count."""

from __future__ import annotations

import json
from collections.abc import Callable, Iterator, Sequence
from typing import Any

from inspect_ai.model import ChatMessage, Model, ModelOutput, ModelUsage, get_model

Call = tuple[str, dict[str, Any]]
Line = str | Call | ModelOutput


def mock(lines: Sequence[Line] | Callable[[list[ChatMessage]], Line], tokens: int = 10) -> Model:
    """A model that says these lines one after the other, the last again and again; a pair is a call of a tool.

    `lines` may be a function of the messages so far. Each output is said to have taken `tokens` to read, and one to
    write.
    """
    rest = iter(()) if callable(lines) else _again(lines)

    def say(messages: list[ChatMessage], *_: Any) -> ModelOutput:
        line = lines(messages) if callable(lines) else next(rest)
        if isinstance(line, ModelOutput):
            output = line
        elif isinstance(line, str):
            output = ModelOutput.from_content("mock", line)
        else:
            output = ModelOutput.for_tool_call("mock", line[0], line[1])
        output.usage = ModelUsage(input_tokens=tokens, output_tokens=1, total_tokens=tokens + 1)
        return output

    return get_model("mockllm/model", custom_outputs=say, memoize=False)


def _again(lines: Sequence[Line]) -> Iterator[Line]:
    yield from lines
    while True:
        yield lines[-1]


def reply(message: str = "Here you are.", **ids: Any) -> str:
    """A reply in the agreed form, with a recommendation if there are ids."""
    return json.dumps({"message": message, "recommendation": ids or None})
