"""Built-in agents as a model of Inspect: `--model cobench/greedy` needs no network and no language model."""

from __future__ import annotations

import json
from collections.abc import Mapping
from dataclasses import dataclass
from queue import SimpleQueue
from threading import Thread
from typing import Any

from anyio import to_thread
from inspect_ai.model import ChatMessage, GenerateConfig, ModelAPI, ModelOutput, ModelUsage, modelapi
from inspect_ai.tool import ToolChoice, ToolInfo

from ...schemas.episode import Fault
from ..baselines import baseline
from ..env import NO_MORE_CALLS, Env
from ..episode import Agent, View
from ..tools.result import Result
from .tools import PLAYED, Played


@dataclass(frozen=True, slots=True)
class Call:
    """A tool that an agent wants to call."""

    tool: str
    arguments: Mapping[str, Any]


class _Over(Exception):
    """The conversation is over; nobody waits for the agent any more."""


class _Relayed(View):
    """A view whose calls are handed out, and answered by whoever makes them."""

    def __init__(self, env: Env, calls: SimpleQueue[Any], results: SimpleQueue[Result | None]) -> None:
        super().__init__(env)
        self._out, self._back = calls, results

    def call(self, name: str, **arguments: Any) -> Result:
        self._out.put(Call(name, arguments))
        result = self._back.get()
        if result is None:
            raise _Over
        return result


class Relay:
    """An agent that is asked step by step, as a model is: what it wants to call, and at last what it says.

    It runs in a thread of its own, which waits while a call is made elsewhere.
    """

    def __init__(self, agent: Agent, env: Env) -> None:
        self._agent, self._env = agent, env
        self._out: SimpleQueue[Call | str | Exception] = SimpleQueue()
        self._back: SimpleQueue[Result | None] = SimpleQueue()
        self._waiting = False

    def step(self, result: Result | None) -> Call | str:
        """The next call or the reply; `result` is that of the call before. Blocks until the agent has decided."""
        if self._waiting:
            self._back.put(result)
        else:
            Thread(target=self._reply, args=(_Relayed(self._env, self._out, self._back),), daemon=True).start()
        found = self._out.get()
        self._waiting = isinstance(found, Call)
        if isinstance(found, Exception):
            raise found
        return found

    def close(self) -> None:
        """Ends the thread."""
        if self._waiting:
            self._back.put(None)
            self._waiting = False

    def _reply(self, view: View) -> None:
        try:
            self._out.put(self._agent.reply(view))
        except _Over:
            return
        except Exception as fault:  # noqa: BLE001 - told to whoever asked
            self._out.put(fault)


NO_CONFIG = GenerateConfig()


class BuiltIn(ModelAPI):
    """The model `cobench/NAME`: the built-in agent NAME, within conversations of the task cobench/compass."""

    def __init__(
        self, model_name: str, base_url: str | None = None, api_key: str | None = None,
        config: GenerateConfig = NO_CONFIG, **_: Any,
    ) -> None:  # fmt: skip
        super().__init__(model_name, base_url, api_key, [], config)
        baseline(model_name, ())
        self._relays: dict[int, Relay] = {}

    async def generate(
        self, input: list[ChatMessage], tools: list[ToolInfo], tool_choice: ToolChoice, config: GenerateConfig  # noqa: A002, ARG002 - Inspect's signature
    ) -> ModelOutput:  # fmt: skip
        """The next call, or the reply when there is nothing left to call."""
        played = PLAYED.get(None)
        if played is None:
            raise RuntimeError(f"cobench/{self.model_name} only speaks in the task cobench/compass")
        relay = self._relay(played)
        found = await to_thread.run_sync(relay.step, played.last)
        while isinstance(found, Call) and tool_choice == "none":
            refused = Result(found.tool, {}, {"error": NO_MORE_CALLS}, Fault.CONTENT)
            found = await to_thread.run_sync(relay.step, refused)
        if isinstance(found, str):
            output = ModelOutput.from_content(self.model_name, found)
        else:
            arguments = json.loads(json.dumps(dict(found.arguments), default=str))
            output = ModelOutput.for_tool_call(self.model_name, found.tool, arguments)
        output.usage = ModelUsage()
        return output

    def _relay(self, played: Played) -> Relay:
        key = id(played)
        if key not in self._relays:
            self._relays[key] = relay = Relay(baseline(self.model_name, played.address), played.env)
            played.closing.callback(self._relays.pop, key)
            played.closing.callback(relay.close)
        return self._relays[key]


@modelapi("cobench")
def cobench() -> type[ModelAPI]:
    """What Inspect looks up for a model `cobench/NAME`."""
    return BuiltIn
