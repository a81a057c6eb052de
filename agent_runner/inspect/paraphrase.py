"""A model that puts the simulated user's decisions into words. What it says otherwise than decided is its own fault."""

from __future__ import annotations

from collections.abc import Generator
from contextlib import contextmanager
from typing import Any

from inspect_ai.model import ChatMessage, ChatMessageAssistant, ChatMessageUser, Model
from inspect_ai.util import message_limit, sample_limits, suspend_token_limit, suspend_turn_limit

from ...schemas.episode import Usage, UserFault
from ..env import Env
from ..user.decision import Heard
from ..user.paraphrase import faults_in
from ..user.prompt import prompt
from .speaking import added

TRIES = 2
AGAIN = """\
That was wrong: {faults}. Write the message once more, with everything under TO SAY NOW and nothing beyond."""


async def reword(env: Env, model: Model, heard: str | None) -> None:
    """Replaces the user's last message by one of the model that says the same; `heard` is the reply before it.

    After a second faulty one the words of the rules stay. All faults are in the record of the turn, as the user's.
    What the model spends counts toward no limit of the conversation.
    """
    decision, revealed = env.decision, env.user.revealed
    said = None if heard is None else Heard(heard)
    asked = prompt(env.script, env.persona, revealed, decision, said, env.turn)
    messages: list[ChatMessage] = [ChatMessageUser(content=asked)]
    faults: dict[UserFault, None] = {}
    usage, wording = Usage(), env.message
    for _ in range(TRIES):
        with _uncounted():
            output = await model.generate(messages)
        usage, text = added(usage, output), output.completion.strip()
        found = faults_in(text, env.script, decision, revealed)
        faults |= dict.fromkeys(found)
        if not found:
            wording = text
            break
        again = AGAIN.format(faults="; ".join(fault.value for fault in found))
        messages += [ChatMessageAssistant(content=output.completion), ChatMessageUser(content=again)]
    env.reword(wording, faults=tuple(faults), usage=usage)


@contextmanager
def _uncounted() -> Generator[None]:
    """What is spent within ends no conversation: Inspect's limits are for the agent's model."""
    cost: Any = sample_limits().cost  # Inspect suspends every limit but this one, which can be set instead
    limit, before = cost.limit, cost.usage
    cost.limit = None
    try:
        with suspend_token_limit(), suspend_turn_limit(), message_limit(None):
            yield
    finally:
        cost.limit = None if limit is None else limit + cost.usage - before
