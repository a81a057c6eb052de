"""Thresholds that make a task test more: a unique optimum, a number of plans, a distance to what nobody searched for.

How a threshold is moved: see `thresholds`. What comes out is written into the task's text, and that is certified
anew: what is said of it is read from that certificate.
"""

from __future__ import annotations

import time
from collections.abc import Callable, Mapping, Sequence
from dataclasses import dataclass
from fractions import Fraction

from ...datasets.opening import Dataset
from ...schemas.canonical import narrow
from ...schemas.errors import Disagreement, OverflowRisk, TaskError, did_you_mean
from ...schemas.problem import Problem, pose
from ...schemas.task import TaskFile, parse_task
from ..certify import certify
from ..lower import Lowered, lower
from ..outcome import Limits, Reason, Undecided
from . import naive
from .rewrite import replaced, spelled
from .thresholds import Dial, Goal, Margin, Turning, Unique, dial_of


@dataclass(frozen=True, slots=True)
class State:
    """What a task has: plans, optimum in the task's own sense (None without a plan), ties, and the least naive gap."""

    plans: int
    optimum: int | None
    tied: int
    gap: int | None

    def has(self, goal: Goal) -> bool:
        """Whether it is as wanted."""
        if self.optimum is None:
            return False
        if isinstance(goal, Margin):
            return goal.reached(self.gap, self.optimum)
        return self.tied == 1 if isinstance(goal, Unique) else self.plans == goal.number


@dataclass(frozen=True, slots=True)
class Change:
    """Another literal for a threshold, the whole text with it, and what the task then has, by certifying it."""

    constraint: str
    old: str
    new: str
    text: str
    state: State


@dataclass(frozen=True, slots=True)
class Hardened:
    """What there is now, and whether that is as wanted already; changes that reach the goal, the one that changes the
    number of plans least first; when there is none, the nearest on either side. `left_open`: by threshold, the limit
    that ended its search.
    """

    problem: Problem
    now: State
    reached: bool
    changes: tuple[Change, ...]
    nearest: tuple[Change, ...]
    left_open: Mapping[str, str]

    @property
    def complete(self) -> bool:
        """Whether no limit ended the search."""
        return not self.left_open


def harden(
    file: TaskFile, text: str, data: Dataset, goal: Goal, constraint: str | None = None, limits: Limits | None = None,
    step: Callable[[str], None] = lambda _: None,
) -> Hardened:  # fmt: skip
    """Changes of one threshold (of `constraint`, or of any) with which the task is as the goal says.

    `text` is what `file` was read from; `step` hears which threshold's turn it is. `limits.work` is
    meant for each question, `limits.seconds` for them all.

    Raises InputError for a task or data that cannot be certified, or a constraint that is no threshold; Undecided when
    a limit leaves even the present state open; Disagreement if a promise does not hold when certified.
    """
    search = _Hardening(file, text, data, goal, limits or Limits())
    return search.run(search.dials(constraint), step)


class _Hardening:
    def __init__(self, file: TaskFile, text: str, data: Dataset, goal: Goal, limits: Limits) -> None:
        self.file, self.text, self.data, self.goal, self.limits = file, text, data, goal, limits
        self.started = time.monotonic()
        self.problem = pose(file, data.manifest)
        self.lowered = lower(self.problem, data)
        self.sign = -1 if self.problem.objective.maximize else 1

    def left(self) -> Limits:
        """What is left of the limits; raises Undecided when that is nothing."""
        left = self.limits.left(self.started)
        if left.seconds is not None and left.seconds <= 0:
            raise Undecided(Reason.TIME)
        return left

    def dials(self, name: str | None) -> list[Dial]:
        """The thresholds that may be moved; raises TaskError when the named constraint is none."""
        model = self.lowered.model
        found = [
            dial
            for number in model.thresholds
            if (dial := dial_of(self.problem.constraints[number], number)) is not None
        ]
        if name is None:
            return found
        if name not in model.names:
            raise TaskError(f"no constraint '{name}'", hint=did_you_mean(name, model.names, "constraints"))
        chosen = [dial for dial in found if model.names[dial.number] == name]
        if not chosen:
            where = self.file.source.where(("constraints", name), key=True)
            hint = "a threshold is one comparison of a number with a literal, such as hotel.price <= 100"
            raise TaskError(f"{name} is not a threshold", where=where, hint=hint)
        return chosen

    def run(self, dials: Sequence[Dial], step: Callable[[str], None]) -> Hardened:
        now = self._state(self.file, self.lowered)
        if now.has(self.goal):
            return Hardened(self.problem, now, True, (), (), {})
        changes: list[Change] = []
        nearest: list[Change] = []
        left_open: dict[str, str] = {}
        for dial in dials:
            name = self.problem.constraints[dial.number].name
            step(name)
            try:
                for slack, promised in Turning(self.problem, self.lowered, dial, self.left).slacks(self.goal):
                    if not slack:  # nearest of all is what there is
                        continue
                    change = self._change(dial, slack)
                    if promised and not change.state.has(self.goal):
                        said = f"{change.constraint} {change.new} does not give what the search says: {change.state}"
                        raise Disagreement(f"error: {said}")
                    (changes if change.state.has(self.goal) else nearest).append(change)
            except Undecided as limit:
                left_open[name] = str(limit)
            except OverflowRisk:  # of a candidate: the task as it is has a state
                left_open[name] = Reason.RANGE.value
        changes.sort(key=lambda item: abs(item.state.plans - now.plans))
        return Hardened(self.problem, now, False, tuple(changes), () if changes else tuple(nearest), left_open)

    def _change(self, dial: Dial, slack: int) -> Change:
        constraint, literal = self.problem.constraints[dial.number], dial.literal
        new = spelled(Fraction(int(literal.value) + dial.sign * slack, literal.type.scale), dial.digits, literal.type)
        old = constraint.text.text[literal.span.start : literal.span.end]
        text = replaced(self.file, self.text, constraint.name, literal.span, new)
        file = parse_task(text, self.file.source.name)
        state = self._state(file, lower(pose(file, self.data.manifest), self.data))
        return Change(constraint.name, old, new, text, state)

    def _state(self, file: TaskFile, lowered: Lowered) -> State:
        """What a task has, from a certificate of its own; raises Undecided."""
        claims = certify(file, self.data, limits=self.left()).claims
        count, best = claims.count, claims.optimum
        if claims.status.value == "unsolvable":
            return State(0, None, 0, None)
        if best is None or count is None or count.at_least != count.at_most:
            raise Undecided(claims.status.reason or "the plans cannot all be counted")
        model = lowered.model.kept(range(len(lowered.model.names)))
        gap = naive.gap(self.problem, lowered, model, self.sign * narrow(best.value))
        return State(narrow(count.at_least), narrow(best.value), narrow(best.tied), gap)
