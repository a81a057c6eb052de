"""The conversation as Inspect's solver: the user's message, the model's calls and reply, the score, and so on."""

from __future__ import annotations

from contextlib import ExitStack
from functools import partial
from typing import Any, Literal

from anyio import to_thread
from inspect_ai.model import ChatMessageSystem, ChatMessageUser, Model, get_model
from inspect_ai.scorer import score
from inspect_ai.solver import Generate, Solver, TaskState, solver
from inspect_ai.util import LimitExceededError

from ...schemas.episode import Ended
from ...schemas.errors import InputError
from ..briefing import briefing
from ..env import Env, EnvLimits
from .actions import Actions
from .cases import Cases
from .paraphrase import reword
from .provider import BuiltIn
from .scorer import EPISODE, STANDING, standing
from .speaking import Native, OutOfTokensError, Speaker, answer
from .tools import PLAYED, Played, tool_defs

Voice = Literal["native", "json"]
UserKind = Literal["rules", "model"]
USER = "user"  # the role of the model that puts the user's decisions into words
AGENT = "cobench_agent"  # metadata of a sample: what the agent is called in the record
EPOCH = "cobench_epoch"  # … and which conversation about the task it is, where samples are not repeated by Inspect
TASK = "task"
FREE = 10**9  # rounds of calls: built-in agents know when to stop
# A limit on anything else, such as seconds, says nothing about the agent: then there is no outcome.
_ENDED = {"token": Ended.TOKENS, "cost": Ended.COST, "message": Ended.CALLS, "turn": Ended.CALLS}


@solver
def conversation(
    suite: str = "compass", seed: int = 0, turns: int = 30, calls: int | None = None, tokens: int | None = None,
    steps: int = 100, mode: Literal["tools", "code"] = "tools", user: UserKind = "rules", voice: Voice = "native",
) -> Solver:  # fmt: skip
    """Has the conversation about the task that a sample names, and leaves its record in the store.

    `calls` and `tokens` cap the conversation, `steps` the rounds of calls before one reply. `voice`: how the model
    calls tools, by its provider, or by JSON that a schema constrains, which local models without tool calling can do.
    """
    if voice == "json" and mode == "code":
        raise InputError("coding mode needs a model that calls tools: mode=code goes with voice=native")
    cases = Cases(suite, seed, mode, EnvLimits(turns, calls, tokens))

    async def solve(state: TaskState, generate: Generate) -> TaskState:  # noqa: ARG001 - Inspect's signature
        model = get_model()
        estimate_tokens(model)
        about = state.metadata or {}
        task, epoch = str(about.get(TASK, state.sample_id)), int(about.get(EPOCH, state.epoch))
        env = await to_thread.run_sync(cases.env, task, about.get(AGENT, str(model)), epoch)
        with ExitStack() as closing:
            played = Played(env, (seed, task, epoch), closing)
            token = PLAYED.set(played)
            closing.callback(PLAYED.reset, token)
            tools = tool_defs(played, mode)
            most = FREE if isinstance(model.api, BuiltIn) else steps
            speaker = Actions(model, played, most) if voice == "json" else Native(model, played, tools, most)
            try:
                await _talk(state, played, speaker, mode, user)
            except OutOfTokensError:
                env.stop(Ended.TOKENS)
            except LimitExceededError as limit:
                if limit.type not in _ENDED:
                    raise
                env.stop(_ENDED[limit.type])
                await _keep(state, env)
                raise
            await _keep(state, env)
        return state

    return solve


async def _talk(state: TaskState, played: Played, speaker: Speaker, mode: Any, user: UserKind) -> None:
    env = played.env
    state.messages = [ChatMessageSystem(content="\n\n".join(filter(None, [briefing(env.case, mode), speaker.rules])))]
    if user == "model":
        await reword(env, get_model(role=USER), None)
    while True:
        state.messages.append(ChatMessageUser(content=env.message))
        reply = await answer(speaker, played, state.messages)
        state.output.completion = reply.text
        submit = partial(env.submit, reply.text, usage=reply.usage, repaired=reply.repaired)
        await to_thread.run_sync(submit)
        state.store.set(STANDING, await to_thread.run_sync(standing, env.episode()))
        await score(state)
        state.store.delete(STANDING)  # so that what breaks off later has no score
        if env.user_reply() is None:
            return
        if user == "model":
            await reword(env, get_model(role=USER), reply.text)


async def _keep(state: TaskState, env: Env) -> None:
    """Leaves the record and the last score where scorers, and those who read the log, find them."""
    episode = await to_thread.run_sync(env.episode)
    state.store.set(STANDING, standing(episode))
    state.store.set(EPISODE, episode.model_dump(mode="json", exclude_none=True))


def estimate_tokens(model: Model) -> None:
    """Lets Inspect's mock model count tokens without a table that it would fetch from the network."""
    if type(model.api).__name__ == "MockLLM":
        model.api.count_text_tokens = _estimated


async def _estimated(text: str) -> int:
    return max(1, len(text) // 4)
