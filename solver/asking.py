"""What asking several engines about a problem has in common, whatever its model is."""

from __future__ import annotations

from abc import ABC, abstractmethod
from typing import Any

from ..schemas.canonical import narrow, wide
from ..schemas.certificate import Claims, CountClaim, Grade, IncumbentClaim, StatusClaim
from ..schemas.errors import Disagreement
from ..schemas.plan import Plan
from ..schemas.problem import Problem
from ..schemas.units import Type, format_value
from .isolate import Answer
from .outcome import Limits, Outcome, Status


class Asking(ABC):
    """Asks the engines about one lowered problem, and puts what they say in the task's own terms."""

    def __init__(self, problem: Problem, limits: Limits, started: float) -> None:
        self.problem, self.limits, self.started = problem, limits, started
        self.sign = -1 if problem.objective.maximize else 1

    @abstractmethod
    def plan_of(self, picked: tuple[Any, ...]) -> Plan:
        """The plan that an engine other than the first found."""

    def left(self) -> Limits:
        """What is left of the limits."""
        return self.limits.left(self.started)

    def incumbent(self, value: int, plan: Plan, bound: int) -> IncumbentClaim:
        """A plan of the given value that is none of the best for all we know, and no plan is below the bound."""
        return IncumbentClaim(
            value=wide(self.sign * value), plan=plan, bound=wide(self.sign * bound), grade=Grade.CLAIMED
        )

    def with_others(self, claims: Claims, answers: tuple[Answer, ...]) -> Claims:
        """The claims; where a limit stopped the first engine, the best plan of all as incumbent, and the best bound.

        No plan is below a bound that any engine proved, so the greatest of them holds.
        """
        found = [answer.outcome for answer in answers if answer.outcome.picked is not None]
        if claims.optimum is not None or claims.status.value == "unsolvable" or not found:
            return claims
        best = min(found, key=lambda outcome: (outcome.best, outcome.status is not Status.OPTIMAL))
        if best is answers[0].outcome and claims.incumbent is not None:
            plan = claims.incumbent.plan
        else:
            plan = self.plan_of(best.plan)
        bounds = [outcome.bound for outcome in found if outcome.bound is not None]
        if not bounds:
            return claims
        incumbent = self.incumbent(best.best, plan, max(bounds))
        status = StatusClaim(value="solvable", grade=Grade.CLAIMED)
        most = claims.count.at_most if claims.count is not None else 1
        least = max(1, narrow(claims.count.at_least)) if claims.count is not None else 1
        count = CountClaim(at_least=wide(least), at_most=most, grade=Grade.CLAIMED)
        return claims.model_copy(update={"status": status, "incumbent": incumbent, "count": count})

    def agree(self, answers: tuple[Answer, ...]) -> None:
        """Raises Disagreement when two answers cannot both be true."""
        solvable = [answer for answer in answers if answer.outcome.picked is not None]
        unsolvable = [answer for answer in answers if answer.outcome.status is Status.INFEASIBLE]
        least = min((answer.outcome.best for answer in solvable), default=0)
        bounds = [answer.outcome.bound for answer in solvable if answer.outcome.bound is not None]
        if (solvable and unsolvable) or any(bound > least for bound in bounds):
            kind = self.problem.objective.type
            said = [f"  {answer.engine}: {self._said(answer.outcome, kind)}" for answer in answers]
            lines = "\n".join(said)
            raise Disagreement(f"error: the engines disagree on {self.problem.id}; nothing is certified\n{lines}")

    def _said(self, outcome: Outcome, kind: Type) -> str:
        value = f" {format_value(self.sign * outcome.best, kind)}" if outcome.picked is not None else ""
        return outcome.status.value + value + (f" ({outcome.reason})" if outcome.reason else "")
