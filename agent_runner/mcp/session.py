"""One task without a conversation: everything is told at once, and what was last passed through recommend_* counts."""

from __future__ import annotations

import json
from dataclasses import replace
from typing import Any

from ...schemas.episode import Ended, Episode, Persona
from ..briefing import role
from ..env import Env
from ..play import RECOMMENDING
from ..suites import Case
from ..tools.result import Result
from ..tools.toolbox import Toolbox

# Somebody who says it all in the first message and has nothing to add.
PLAIN = Persona(revelation="fast", trust="trusting", checking="unreliable", style=9, permille=1000)
MESSAGE = "This is what I recommend."
_FORM = """\
There is no further conversation: all that counts is above. What you recommend is what you last passed through \
{tools}, each with the ids to be recommended."""


class Session:
    """What a client meets: a message, the tools, and nothing else. The record is for whoever serves it."""

    def __init__(self, case: Case, toolbox: Toolbox, agent: str, seed: int) -> None:
        self._env = Env(told_at_once(case), toolbox, PLAIN, agent=agent, seed=seed)
        self._choice = {RECOMMENDING[table]: name for name, table in case.problem.choices.items()}
        self._recommended: dict[str, list[str]] = {}

    @property
    def text(self) -> str:
        """The task: the agent's role, the user's whole message, and how a recommendation is made."""
        tools = " and ".join(self._choice)
        return "\n\n".join([role(), self._env.message, _FORM.format(tools=tools)])

    def tools(self) -> list[dict[str, Any]]:
        """The tools as OpenAI-style function definitions."""
        return self._env.tools()

    def call(self, name: str, arguments: Any) -> Result:
        """The result of a call, also of a wrong one."""
        result = self._env.call(name, arguments)
        if result.fault is None and result.tool in self._choice:
            self._recommended[self._choice[result.tool]] = list(result.confirmed)
        return result

    def finish(self) -> Episode:
        """The record, scored; of a client that recommended nothing or not all parts of a trip, without an answer."""
        ids = {f"{choice}_ids": found for choice, found in self._recommended.items()}
        self._env.submit(json.dumps({"message": MESSAGE, "recommendation": ids or None}))
        self._env.stop(Ended.LEFT)
        return self._env.episode()


def told_at_once(case: Case) -> Case:
    """The case with nothing left to be told later; the problem, its digest and its certificate are the same."""
    task = case.file.task
    told = {name: task.constraint(name).model_copy(update={"reveal": "initial"}) for name in task.constraints}
    return replace(case, file=replace(case.file, task=task.model_copy(update={"constraints": told})))
