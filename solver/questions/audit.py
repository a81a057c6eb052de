"""What a task tests: which constraints matter, in what order, and whether a plan that nobody searched for wins.

Every fact is exact, from numbers of plans under sets of constraints; what a limit left open is None, never a guess.
"""

from __future__ import annotations

import time
from collections.abc import Collection, Iterator
from dataclasses import dataclass, replace
from typing import Literal

from ...datasets.opening import Dataset
from ...schemas import expression as ex
from ...schemas.certificate import MAX_DISTRIBUTION
from ...schemas.errors import InputError, InputErrors
from ...schemas.problem import Constraint, Problem, pose
from ...schemas.task import MAX_CONSTRAINTS, TaskFile
from .. import conflicts, scan
from ..certify import Survivors, survivors_of
from ..lower import lower
from ..outcome import Limits, Status, Undecided
from . import naive
from .entailment import Entailment
from .naive import Picked

WORK = 2_000_000_000  # elementary steps for each question, unless the caller says otherwise
NEAR = (1, 5, 10)  # percent of the optimum


@dataclass(frozen=True, slots=True)
class ConstraintFacts:
    """One constraint. `alone`: combinations of offers that it removes by itself; `margin`: plans that it removes when
    all others hold. `redundant`: the others imply it, and `implied_by` is the smallest set that does (empty when every
    combination of offers satisfies it). `optimum_without`: None, too, where the objective would not always be known.
    """

    name: str
    alone: int | None
    margin: int | None
    redundant: bool | None
    implied_by: tuple[str, ...] | None
    optimum_without: int | None


@dataclass(frozen=True, slots=True)
class Step:
    """What there is once `revealed` is known (at first: everything said at the start) with all before it."""

    revealed: tuple[str, ...]
    plans: int | None
    optimum: int | None
    tied: int | None


@dataclass(frozen=True, slots=True)
class Wish:
    """A condition that the objective counts, and how many plans meet it."""

    text: str
    met_by: int | None


@dataclass(frozen=True, slots=True)
class Naive:
    """What a naive strategy finds. `plan`: ids, None when nothing was left for the choice `stuck`; `broken`:
    constraints that the plan does not satisfy. `gap` and `rank` (1 is best, ties share it) of a feasible plan.
    """

    strategy: str
    plan: dict[str, str] | None
    stuck: str | None
    broken: tuple[str, ...]
    value: int | None
    gap: int | None
    rank: int | None

    @property
    def feasible(self) -> bool:
        """Whether the plan satisfies everything."""
        return self.plan is not None and not self.broken


@dataclass(frozen=True, slots=True)
class Audit:
    """The facts about one task. Values are in the scale of the objective, in the task's own sense.

    `plans`: least and greatest number of feasible plans. `duplicates`: pairs of constraints that hold for the same
    combinations of offers. `clashing`: pairs of wishes, by position, each met by some plan, both by none. `near`: plans
    within some percent of the optimum, as (percent, plans). `idle`: of an unsolvable task, the constraints that take
    part in no conflict. `open_facts`: what a limit left unknown.
    """

    problem: Problem
    status: Literal["solvable", "unsolvable", "unknown"]
    plans: tuple[int, int]
    optimum: int | None
    tied: int | None
    runner_up: int | None
    survivors: tuple[Survivors, ...]
    constraints: tuple[ConstraintFacts, ...]
    duplicates: tuple[tuple[str, str], ...]
    steps: tuple[Step, ...]
    wishes: tuple[Wish, ...]
    clashing: tuple[tuple[int, int], ...]
    strategies: tuple[Naive, ...]
    near: tuple[tuple[int, int], ...]
    idle: tuple[str, ...] | None
    open_facts: tuple[str, ...]


def audit(task: TaskFile, data: Dataset, limits: Limits | None = None) -> Audit:
    """The facts about a task on its data. `limits.work` is meant for each question, `limits.seconds` for them all.

    Raises InputError for a task or data that cannot be certified.
    """
    problem = pose(task, data.manifest)
    later = [name for name in task.task.constraints if task.task.constraint(name).reveal == "later"]
    return _Auditing(problem, data, limits or Limits(work=WORK)).run(later)


class _Auditing:
    def __init__(self, problem: Problem, data: Dataset, limits: Limits) -> None:
        self.problem, self.data, self.limits = problem, data, limits
        self.started = time.monotonic()
        self.lowered = lower(problem, data)
        self.every = range(len(problem.constraints))
        self.names = [constraint.name for constraint in problem.constraints]
        self.model = self.lowered.model.kept(self.every)
        self.sign = -1 if self.model.maximize else 1
        self.counted = Entailment(self.lowered.model, limits)
        self.unknown: list[str] = []

    def run(self, later: Collection[str]) -> Audit:
        found = scan.survey(self.model, self._left())
        optimal = found.outcome.status is Status.OPTIMAL
        infeasible = found.outcome.status is Status.INFEASIBLE
        if not (optimal or infeasible):
            self.unknown.append(f"the optimum ({found.outcome.reason})")
        best = found.outcome.best if optimal else None
        constraints = tuple(self._constraint(number, not infeasible) for number in self.every)
        wishes, clashing = self._wishes() if not infeasible else ((), ())
        return Audit(
            problem=self.problem,
            status="solvable" if found.outcome.picked is not None else "unsolvable" if infeasible else "unknown",
            plans=found.count,
            optimum=self._own(best),
            tied=found.tied if optimal else None,
            runner_up=self._own(found.runner_up),
            survivors=survivors_of(self.lowered),
            constraints=constraints,
            duplicates=tuple(self._duplicates(constraints)),
            steps=tuple(self._steps(later)),
            wishes=wishes,
            clashing=clashing,
            strategies=self._strategies(best) if not infeasible else (),
            near=self._near(best, found.count[0]) if best is not None else (),
            idle=self._idle() if infeasible else None,
            open_facts=tuple(self.unknown),
        )

    def _left(self) -> Limits:
        return self.limits.left(self.started)

    def _own(self, value: int | None) -> int | None:
        """A value of the model's objective in the task's own sense."""
        return None if value is None else self.sign * value

    def _count(self, names: Collection[int], what: str) -> int | None:
        try:
            return self.counted.count(names)
        except Undecided:
            self.unknown.append(what)
            return None

    def _known_under(self, names: Collection[int]) -> bool:
        """Whether the objective has a value in every plan that satisfies only these constraints."""
        try:
            self.problem.restrict([self.names[number] for number in names])
        except (InputError, InputErrors):
            return False
        return True

    def _best_under(self, names: Collection[int], what: str) -> tuple[int | None, int | None]:
        """The optimum under some of the constraints and how many plans reach it; None without one."""
        if not self._known_under(names):
            return None, None
        found = scan.survey(self.lowered.model.kept(names), self._left())
        if found.outcome.status is Status.OPTIMAL:
            return self._own(found.outcome.best), found.tied
        if found.outcome.status is not Status.INFEASIBLE:
            self.unknown.append(what)
        return None, None

    # constraints

    def _constraint(self, number: int, solvable: bool) -> ConstraintFacts:
        name = self.names[number]
        others = [other for other in self.every if other != number]
        nothing, one = (self._count(names, f"what {name} removes alone") for names in ((), (number,)))
        rest, every = (self._count(names, f"what {name} removes") for names in (others, self.every))
        margin = None if rest is None or every is None else rest - every
        redundant: bool | None = None
        implied_by: tuple[str, ...] | None = None
        if solvable and margin is not None:
            redundant = margin == 0
            try:
                names = self.counted.implied_by(number) if redundant else None
                implied_by = tuple(self.names[other] for other in names) if names is not None else None
            except Undecided:
                self.unknown.append(f"what implies {name}")
        best, _ = self._best_under(others, f"the optimum without {name}")
        return ConstraintFacts(
            name, None if nothing is None or one is None else nothing - one, margin, redundant, implied_by, best
        )

    def _duplicates(self, constraints: tuple[ConstraintFacts, ...]) -> Iterator[tuple[str, str]]:
        """Pairs that hold for the same combinations of offers, and not for all of them."""
        for first in self.every:
            for second in range(first + 1, len(self.names)):
                alone = constraints[first].alone
                if alone and alone == constraints[second].alone:
                    both = self._count((first, second), f"whether {self.names[first]} is {self.names[second]}")
                    if both is not None and both == self._count((first,), ""):
                        yield self.names[first], self.names[second]

    def _steps(self, later: Collection[str]) -> Iterator[Step]:
        """The start, and each constraint that is revealed later, in file order."""
        known = [number for number in self.every if self.names[number] not in later]
        steps = [tuple(self.names[number] for number in known)]
        steps += [(name,) for name in self.names if name in later]
        for step in steps:
            known = sorted({*known, *(self.names.index(name) for name in step)})
            what = f"the plans once {step[0] if step else 'nothing'} is revealed"
            plans = self._count(known, what)
            best, tied = self._best_under(known, what)
            yield Step(step, plans, best, tied)

    def _idle(self) -> tuple[str, ...] | None:
        """The constraints in no minimal conflict; None when they cannot all be found."""
        explanation = conflicts.explain(self.lowered.model, self._left())
        if not explanation.complete:
            self.unknown.append("which constraints take part in no conflict")
            return None
        part = {name for conflict in explanation.conflicts for name in conflict}
        return tuple(self.names[number] for number in self.every if number not in part)

    # wishes

    def _wishes(self) -> tuple[tuple[Wish, ...], tuple[tuple[int, int], ...]]:
        """The conditions that the objective counts, each looked at as one more constraint."""
        text = self.problem.objective.text
        nodes = list(_counted(self.problem.objective.expr))
        if not nodes:
            return (), ()
        texts = [text.text[node.span.start : node.span.end] for node in nodes]
        extra = tuple(Constraint(f"wish {place}", node, text) for place, node in enumerate(nodes, 1))
        posed = replace(self.problem, constraints=(*self.problem.constraints, *extra))
        try:
            if len(posed.constraints) > MAX_CONSTRAINTS:
                raise Undecided
            counted = Entailment(lower(posed, self.data).model, self.limits.left(self.started))
            met = [counted.count({*self.every, len(self.names) + place}) for place in range(len(nodes))]
            clashing = tuple(
                (first, second)
                for first in range(len(nodes))
                for second in range(first + 1, len(nodes))
                if met[first] and met[second]
                and not counted.count({*self.every, len(self.names) + first, len(self.names) + second})
            )  # fmt: skip
        except (Undecided, InputError):  # a wish may be a condition that only an objective can hold
            self.unknown.append("which wishes can be met")
            return tuple(Wish(item, None) for item in texts), ()
        return tuple(Wish(item, number) for item, number in zip(texts, met, strict=True)), clashing

    # plans

    def _strategies(self, best: int | None) -> tuple[Naive, ...]:
        found = naive.strategies(self.lowered, self.model, naive.cost(self.problem, self.model))
        return tuple(self._judged(item, best) for item in found)

    def _judged(self, item: Picked, best: int | None) -> Naive:
        names = [choice.name for choice in self.model.choices]
        plan = self.lowered.ids(self.model, item.rows) if item.stuck is None else None
        stuck = names[item.stuck] if item.stuck is not None else None
        broken = tuple(self.names[number] for number in item.broken)
        if plan is None or not (item.feasible or self._known_under(())):
            return Naive(item.strategy, plan, stuck, broken, None, None, None)
        value = self.model.objective.value(item.rows)
        gap = rank = None
        if item.feasible:
            gap = value - best if best is not None else None
            better = scan.count_up_to(self.model, value - 1, self._left())
            rank = better + 1 if better is not None else None
            if rank is None:
                self.unknown.append(f"the rank of {item.strategy}")
        return Naive(item.strategy, plan, stuck, broken, self._own(value), gap, rank)

    def _near(self, best: int, plans: int) -> tuple[tuple[int, int], ...]:
        """How many plans are within each percentage of the optimum."""
        bounds = [(percent, best + percent * abs(best) // 100) for percent in NEAR]
        pairs = scan.distribution(self.model, MAX_DISTRIBUTION, self._left(), plans)
        found: list[tuple[int, int]] = []
        for percent, bound in bounds:
            if pairs is not None:
                number = sum(times for value, times in pairs if value <= bound)
            else:
                number = scan.count_up_to(self.model, bound, self._left())
            if number is None:
                self.unknown.append(f"the plans within {percent} % of the optimum")
                continue
            found.append((percent, number))
        return tuple(found)


def _counted(node: ex.Expr) -> Iterator[ex.Expr]:
    """The conditions that an objective counts, where counts are all that it adds up."""
    if isinstance(node, ex.Count):
        yield from node.args
    elif isinstance(node, ex.Sum):
        for term in node.terms:
            yield from _counted(term)
    elif isinstance(node, ex.Scaled):
        yield from _counted(node.term)
