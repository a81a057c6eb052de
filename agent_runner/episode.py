"""A conversation between an environment and an agent that runs in this process."""

from __future__ import annotations

from collections.abc import Iterator, Mapping
from dataclasses import replace
from functools import cached_property
from typing import Any, Protocol

from ..datasets.opening import Dataset
from ..schemas import expression as ex
from ..schemas.episode import Episode
from ..schemas.problem import Constraint, Objective, Problem
from ..schemas.units import Type
from .coding.program import CodeLimits, Output, run_code
from .env import Env
from .tools.result import Result


class View:
    """What a built-in agent is given in one turn: the message, the tools, and what has been revealed as a problem.

    A model reads the revealed constraints as prose; agents without one read them here, as the task has them. Neither
    the certificate nor a constraint that is still to come can be reached from what this returns.
    """

    def __init__(self, env: Env) -> None:
        self._env = env
        self.message, self.turn = env.message, env.turn
        self.dataset: Dataset = env.case.dataset
        self.revealed: tuple[str, ...] = env.user.revealed

    @cached_property
    def problem(self) -> Problem:
        """The task with the constraints that have been revealed so far, and that what the objective reads be known:
        that may be left to a constraint which is still to come.
        """
        problem = self._env.case.problem
        told = tuple(item for item in problem.constraints if item.name in self.revealed)
        return replace(problem, constraints=(*told, *_guards(problem.objective)), expected=None)

    @property
    def shown(self) -> Mapping[str, frozenset[str]]:
        """Per choice the ids of the offers that tools have shown so far."""
        return self._env.shown

    def call(self, name: str, **arguments: Any) -> Result:
        """The result of a tool."""
        return self._env.call(name, arguments)

    def run_code(self, source: str, limits: CodeLimits | None = None) -> Output:
        """The output of a program that calls the tools, as agents in coding mode write them; raises SandboxError."""
        return run_code(self._env, source, limits)


def _guards(objective: Objective) -> Iterator[Constraint]:
    """Constraints by which an objective has a value for every plan."""
    if not isinstance(objective.expr, ex.Count):
        for part in ex.walk(objective.expr):
            if isinstance(part, ex.Column | ex.Relation) and part.type.nullable:
                yield Constraint("known", ex.Known(part, Type("bool"), part.span), objective.text)


class Agent(Protocol):
    """Something that answers a simulated user. Made anew for each conversation, so that it may remember."""

    def reply(self, view: View) -> str:
        """The reply to a message, in the agreed form (see `answer`), after any number of calls of tools."""
        ...


def converse(env: Env, agent: Agent) -> Episode:
    """The whole conversation; an agent that raises ends it, since that is a fault of ours and not of a model."""
    while env.ended is None:
        env.submit(agent.reply(View(env)))
        if env.user_reply() is None:
            break
    return env.episode()
