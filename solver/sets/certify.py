"""The claims about a problem with sets, routes, or sums under `or` and `not`; `solver.certify` writes them down."""

from __future__ import annotations

import time
from typing import Any

import numpy as np

from ...datasets.opening import Dataset
from ...schemas.canonical import wide
from ...schemas.certificate import (
    MAX_DISTRIBUTION,
    Claims,
    ConflictsClaim,
    CorrectionClaim,
    CountClaim,
    DistributionClaim,
    Grade,
    OptimumClaim,
    Scope,
    StatusClaim,
    wide_pairs,
)
from ...schemas.expression import Compare
from ...schemas.plan import Plan
from ...schemas.problem import Problem
from ...schemas.version import VERSION
from ..asking import Asking
from ..isolate import ENGINES, Answer, Running
from ..outcome import Limits, Outcome, Status, Undecided
from . import fold
from .lower import LoweredSets, lower

MAX_FOUND = 20_000  # conflicts that are listed


class SetCertifying(Asking):
    """Asks the engines about one problem lowered to a SetModel."""

    def __init__(self, problem: Problem, data: Dataset, scope: Scope, limits: Limits, started: float) -> None:
        super().__init__(problem, limits, started)
        self.scope = scope
        self.lowered: LoweredSets = lower(problem, data, scope.within)
        self.model = self.lowered.model

    def plan_of(self, picked: tuple[Any, ...]) -> Plan:
        """The plan that another engine found; a set's rows ascend."""
        parts = zip(self.model.parts, picked, strict=True)
        return self.lowered.plan(
            tuple(tuple(sorted(rows)) if part.course is None else tuple(rows) for part, rows in parts)
        )

    def survivors(self, engines: str) -> tuple[Any, ...]:  # noqa: ARG002
        """None: a constraint on a set passes or fails with all of its rows, not row by row."""
        return ()

    def run(self, engines: str) -> tuple[Claims, tuple[Answer, ...]]:
        """The claims, and what each engine answered, the fold first."""
        running: list[Running] = []
        try:
            if engines == "all":
                running.extend(Running(engine, self.model, self.left()) for engine in ENGINES)
            began = time.monotonic()
            found = fold.survey(self.model, self.left(), MAX_DISTRIBUTION)
            folded = Answer(fold.NAME, VERSION, found.outcome, time.monotonic() - began, 0)
            answers = (folded, *(engine.answer() for engine in running))
        finally:
            for engine in running:
                engine.stop()
        self.agree(answers)  # before anything is built on what the fold says
        claims = self.with_others(self._claims(found), answers)
        if claims.status.value == "unknown" and any(_infeasible(answer.outcome) for answer in answers):
            none = CountClaim(at_least=0, at_most=0, grade=Grade.CLAIMED)
            claims = Claims(status=StatusClaim(value="unsolvable", grade=Grade.CLAIMED), count=none)
        return claims, answers

    def _claims(self, found: fold.Folded) -> Claims:
        """What the fold found."""
        grade = Grade.CLAIMED
        count = CountClaim(at_least=wide(found.count[0]), at_most=wide(found.count[1]), grade=grade)
        outcome = found.outcome
        if outcome.status is Status.INFEASIBLE:
            conflicts = self._conflicts()
            return Claims(status=StatusClaim(value="unsolvable", grade=grade), count=count, conflicts=conflicts)
        if outcome.status is not Status.OPTIMAL:
            return Claims(status=StatusClaim(value="unknown", grade=grade, reason=outcome.reason), count=count)
        status = StatusClaim(value="solvable", grade=grade)
        if found.tied is None:
            best = self.incumbent(outcome.best, self.lowered.plan(outcome.plan), outcome.best)
            return Claims(status=status, incumbent=best, count=count)
        optimum = OptimumClaim(
            value=wide(self.sign * outcome.best),
            plan=self.lowered.plan(outcome.plan),
            tied=wide(found.tied),
            runner_up=wide(self.sign * found.runner_up) if found.runner_up is not None else None,
            grade=grade,
        )
        shape = None
        if found.distribution is not None:
            pairs = wide_pairs((self.sign * value, times) for value, times in found.distribution)
            shape = DistributionClaim(values=pairs, grade=grade)
        return Claims(status=status, optimum=optimum, count=count, distribution=shape)

    def _conflicts(self) -> ConflictsClaim | None:
        """Why there is no plan, and what to drop; None when a limit stops the search."""
        greatest = fold.satisfiable(self.model, self.left())
        if greatest is None:
            return None
        names = self.model.names
        every = (1 << len(names)) - 1
        dropped = sorted((_members(every & ~kept) for kept in greatest), key=lambda item: (len(item), item))
        if not self.problem.sets and any(self._movable(number) for item in dropped for number in item):
            return None  # a task without sets says by how much a threshold has to move, which nobody asks the fold
        corrections: list[CorrectionClaim] = []
        complete = True
        for drop in dropped:
            try:
                picked = fold.witness(self.model, every & ~_mask(drop), self.left())
            except Undecided:
                picked = None
            if picked is None:
                complete = False
                continue
            named = tuple(names[number] for number in drop)
            corrections.append(CorrectionClaim(drop=named, plan=self.lowered.plan(picked)))
        hitting = least_hitting([_mask(drop) for drop in dropped])
        complete = complete and hitting is not None
        found = sorted((_members(item) for item in hitting or ()), key=lambda item: (len(item), item))
        conflicts = tuple(tuple(names[number] for number in item) for item in found)
        return ConflictsClaim(
            conflicts=conflicts, corrections=tuple(corrections), complete=complete, grade=Grade.CLAIMED
        )

    def _movable(self, number: int) -> bool:
        condition = self.problem.constraints[number].condition
        return (
            isinstance(condition, Compare) and condition.left.type.kind == "number" and condition.op not in ("==", "!=")
        )


def least_hitting(sets: list[int]) -> list[int] | None:
    """The least sets that have a member in each of the sets (bits); None if there are too many. Berge's algorithm."""
    found = np.zeros(1, np.int64)
    for one in sets:
        hit = found & one != 0
        bits = np.array([1 << number for number in _members(one)], np.int64)
        longer = np.unique((found[~hit][:, None] | bits).ravel())
        if len(found) + len(longer) > MAX_FOUND:
            return None
        kept = found[hit]
        good = [~(((kept & item) == kept).any()) for item in longer] if len(kept) else [True] * len(longer)
        found = _minimal(np.concatenate([kept, longer[np.array(good, np.bool_)]]))
    return found.tolist()


def _minimal(sets: np.ndarray) -> np.ndarray:
    """Those that hold no other one."""
    good = [int(((sets & item) == sets).sum()) == 1 for item in sets]
    return sets[np.array(good, np.bool_)]


def _members(mask: int) -> tuple[int, ...]:
    return tuple(number for number in range(mask.bit_length()) if mask >> number & 1)


def _mask(numbers: tuple[int, ...]) -> int:
    return sum(1 << number for number in numbers)


def _infeasible(outcome: Outcome) -> bool:
    return outcome.status is Status.INFEASIBLE
