"""One task without a conversation: everything is told at once, and what was last passed through recommend_* counts."""

from __future__ import annotations

import json
from dataclasses import replace
from typing import Any

from ...schemas.episode import Ended, Episode, Fault, Persona
from ..answer import MOST_OPTIONS
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
{tools}. {number}"""
_SEVERAL = """\
One to {most} ids may be recommended as alternatives; the best of them counts."""
_ONE = """\
Exactly one id counts for each part of the trip, and every part needs one: a call with more ids changes nothing."""
_TAKEN = "This is your recommendation now, until you pass other ids."
_REFUSED = "exactly one id can be recommended for each part of the trip, and these are {number}"


class Session:
    """What a client meets: a message, the tools, and nothing else. The record is for whoever serves it."""

    def __init__(self, case: Case, toolbox: Toolbox, agent: str, seed: int) -> None:
        self._env = Env(told_at_once(case), toolbox, PLAIN, agent=agent, seed=seed)
        self._choice = {RECOMMENDING[table]: name for name, table in case.problem.choices.items()}
        self._most = MOST_OPTIONS if len(self._choice) == 1 else 1
        self._recommended: dict[str, list[str]] = {}

    @property
    def text(self) -> str:
        """The task: the agent's role, the user's whole message, and how a recommendation is made."""
        tools = " and ".join(self._choice)
        number = _ONE if self._most == 1 else _SEVERAL.format(most=self._most)
        return "\n\n".join([role(at_once=True), self._env.message, _FORM.format(tools=tools, number=number)])

    def tools(self) -> list[dict[str, Any]]:
        """The tools as OpenAI-style function definitions."""
        return self._env.tools()

    def call(self, name: str, arguments: Any) -> Result:
        """The result of a call, also of a wrong one; of a recommendation it says whether it was taken as one."""
        result = self._env.call(name, arguments)
        if result.fault is not None or result.tool not in self._choice:
            return result
        ids = list(result.confirmed)
        if len(ids) > self._most:
            hint = "what was recommended before still stands; call again with one id"
            error = {"kind": Fault.CONTENT.value, "message": _REFUSED.format(number=len(ids)), "hint": hint}
            return replace(result, content={"error": error, "confirmed": ids}, fault=Fault.CONTENT)
        self._recommended[self._choice[result.tool]] = ids
        return replace(result, content={"confirmed": ids, "message": _TAKEN})

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
