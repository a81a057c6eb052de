"""How a model is got to reply: by calls of tools until it says something, in a number of steps that is bounded."""

from __future__ import annotations

from dataclasses import dataclass
from typing import Protocol

from inspect_ai.model import ChatMessage, ChatMessageAssistant, ChatMessageUser, Model, ModelOutput
from inspect_ai.tool import ToolDef

from ...schemas.episode import Usage
from ...schemas.errors import CobenchError
from .tools import Played, called

REPAIR = "Your reply has not the agreed form: {fault}. Give the same reply again in the agreed form, and nothing else."


class NoReplyError(CobenchError):
    """The provider gave no reply, or not all of it: that says nothing about the agent."""


class OutOfTokensError(CobenchError):
    """An output reached the most tokens that the model may write, or that it can hold."""


@dataclass(frozen=True, slots=True)
class Reply:
    """What a model says to the user, and the tokens that it took, calls of tools included."""

    text: str
    usage: Usage
    repaired: bool = False


class Speaker(Protocol):
    """A model in one conversation; messages that come about are added to those given.

    `rules`: what it is told first.
    """

    rules: str

    async def reply(self, messages: list[ChatMessage], *, calls: bool) -> Reply:
        """The reply to the last message; `calls`: after any calls of tools."""
        ...


class Native:
    """A model that calls tools as its provider has it."""

    rules = ""

    def __init__(self, model: Model, played: Played, tools: list[ToolDef], steps: int) -> None:
        self._model, self._played, self._tools, self._steps = model, played, tools, steps

    async def reply(self, messages: list[ChatMessage], *, calls: bool) -> Reply:
        """The reply to the last message; after `steps` rounds of calls the model has to speak."""
        usage, step = Usage(), 0
        while True:
            last = not calls or step == self._steps or self._played.env.ended is not None
            output = whole(await self._model.generate(messages, self._tools, "none" if last else "auto"))
            usage, said = added(usage, output), output.message
            if last or not said.tool_calls:
                # what is not called stays out of the history: no provider takes a call without an answer
                messages.append(ChatMessageAssistant(content=said.content, model=output.model, source="generate"))
                return Reply(output.completion, usage)
            messages.append(said)
            messages += await called(self._played, messages, self._tools)
            step += 1


async def answer(speaker: Speaker, played: Played, messages: list[ChatMessage]) -> Reply:
    """The reply to the last message, asked for once more if it has not the agreed form."""
    first = await speaker.reply(messages, calls=True)
    fault = played.env.fault_of(first.text)
    if fault is None:
        return first
    messages.append(ChatMessageUser(content=REPAIR.format(fault=fault)))
    second = await speaker.reply(messages, calls=False)
    return Reply(second.text, total(first.usage, second.usage), repaired=True)


def whole(output: ModelOutput) -> ModelOutput:
    """The output, if the model came to its end. Raises OutOfTokensError where a limit cut it, else NoReplyError."""
    if not output.choices:
        raise NoReplyError("the provider gave no reply")
    reason = output.stop_reason
    if reason in ("max_tokens", "model_length"):
        raise OutOfTokensError(f"an output was cut: {reason}")
    if reason in ("content_filter", "unknown"):
        raise NoReplyError(f"the provider broke off the reply: {reason}")
    if not output.completion.strip() and not output.message.tool_calls:
        raise NoReplyError("the provider gave an empty reply")
    return output


def added(usage: Usage, output: ModelOutput) -> Usage:
    """The tokens so far and those of one more output; what came out of a provider's cache was read, too."""
    more = output.usage
    if more is None:
        return usage
    read = more.input_tokens + (more.input_tokens_cache_read or 0) + (more.input_tokens_cache_write or 0)
    return total(usage, Usage(read=read, written=more.output_tokens))


def total(one: Usage, other: Usage) -> Usage:
    """The sum."""
    return Usage(read=one.read + other.read, written=one.written + other.written)
