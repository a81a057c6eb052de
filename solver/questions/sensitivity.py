"""What binds in a solvable task: what each constraint costs and keeps out, and what moving a threshold is worth."""

from __future__ import annotations

import time
from dataclasses import dataclass, replace
from typing import Literal

from ...schemas import expression as ex
from ...schemas.errors import InputError, InputErrors
from ...schemas.problem import Constraint, Problem
from ...schemas.units import Type
from .. import scan
from ..lower import Lowered
from ..outcome import Limits, Status
from .steps import MOST, Steps, steps

UNDEFINED = "without it the objective may be unknown"


_TURNED = str.maketrans("<>", "><")  # of a comparison whose sides change places


@dataclass(frozen=True, slots=True)
class Influence:
    """One constraint alone, all others holding: the best value without it, and how much better that is.

    `removed`: the plans that it alone keeps out. `value` and `gain` are in the scale of the objective, `gain` never
    below zero. What is None is not known, `reason` says why.
    """

    constraint: str
    value: int | None
    gain: int | None
    removed: int | None
    reason: str = ""

    @property
    def redundant(self) -> bool:
        """Whether the other constraints imply it: no plan more without it."""
        return self.removed == 0


@dataclass(frozen=True, slots=True)
class Curve:
    """The optimum against the threshold of one constraint: `steps`, and how to read their `loosened`.

    `unit` is that of the comparison. `limit` is the constant it compares with, None where it compares two sums; then
    only `loosened` tells the steps apart. `upper`: the constant is the most that is allowed, else the least; loosening
    by x adds x to the one and takes it from the other; `comparison` is what stands before it, such as `>=`, empty
    without a limit. `thresholds`: the constant at each step, empty without a limit.
    """

    constraint: str
    unit: Type
    limit: int | None
    upper: bool
    steps: Steps
    comparison: str = ""
    thresholds: tuple[int, ...] = ()

    def threshold(self, loosened: int) -> int | None:
        """The constant that the comparison has when loosened so far."""
        return None if self.limit is None else self.limit + loosened if self.upper else self.limit - loosened


@dataclass(frozen=True, slots=True)
class Sensitivity:
    """What binds in a task: its optimum and number of plans, and what they would be without each constraint.

    `plans` and `optimum` are None where a limit ended the count; `optimum` also where there is no plan at all, and then
    there are no influences.
    """

    status: Literal["solvable", "unsolvable", "unknown"]
    objective: Type
    maximize: bool
    optimum: int | None
    plans: int | None
    influences: tuple[Influence, ...]
    curve: Curve | None = None

    @property
    def open(self) -> bool:
        """Whether a limit left something unanswered."""
        stopped = self.curve is not None and self.curve.steps.stopped is not None
        return self.plans is None or stopped or any(item.removed is None for item in self.influences)

    def tightest(self, problem: Problem) -> str | None:
        """The threshold without which the optimum gains most, the first of equals; None when none binds.

        Where none is known to, the first that keeps plans out and of which the gain is not known.
        """
        thresholds = {item.name for item in problem.constraints if is_threshold(item)}
        among = [item for item in self.influences if item.constraint in thresholds]
        binding = [item for item in among if item.gain] or [
            item for item in among if item.gain is None and item.removed
        ]
        return max(binding, key=lambda item: item.gain or 0).constraint if binding else None


def is_threshold(constraint: Constraint) -> bool:
    """Whether a constraint is one comparison of numbers by size, so that it can be moved by an amount."""
    node = constraint.condition
    return isinstance(node, ex.Compare) and node.op not in ("==", "!=") and node.left.type.kind == "number"


def sensitivity(problem: Problem, lowered: Lowered, limits: Limits) -> Sensitivity:
    """What binds, without a curve. One scan of the whole feasible set for each constraint, and one with all of them."""
    started = time.monotonic()
    model = lowered.model
    every = frozenset(range(len(model.names)))
    sign = -1 if model.maximize else 1
    whole = scan.survey(model.kept(every), limits)
    plans = whole.count[0] if whole.count[0] == whole.count[1] else None
    best = whole.outcome.best if whole.outcome.status is Status.OPTIMAL else None
    influences: list[Influence] = []
    kind = replace(problem.objective.type, nullable=False)
    if whole.outcome.status in (Status.INFEASIBLE, Status.UNKNOWN):
        status = "unsolvable" if whole.outcome.status is Status.INFEASIBLE else "unknown"
        return Sensitivity(status, kind, model.maximize, None, plans, ())
    for number, name in enumerate(model.names):
        found = scan.survey(model.kept(every - {number}), limits.left(started))
        low, high = found.count
        removed = low - plans if low == high and plans is not None else None
        reason = str(found.outcome.reason or whole.outcome.reason or "")
        value = gain = None
        if not _defined(problem, name):
            reason = reason or UNDEFINED
        elif found.outcome.status is Status.OPTIMAL:
            value = sign * found.outcome.best
            gain = best - found.outcome.best if best is not None else None
        influences.append(Influence(name, value, gain, removed, reason))
    value = None if best is None else sign * best
    return Sensitivity("solvable", kind, model.maximize, value, plans, tuple(influences))


def curve(problem: Problem, lowered: Lowered, constraint: str, limits: Limits, most: int = MOST) -> Curve:
    """The optimum against one threshold; `constraint` is one of which `is_threshold` holds."""
    model = lowered.model
    number = model.names.index(constraint)
    node = problem.constraints[number].condition
    if not isinstance(node, ex.Compare):
        raise TypeError(f"{constraint} is no threshold")
    found = steps(model, number, limits, most)
    unit = replace(node.left.type, nullable=False)
    upper = node.op.startswith("<") is not isinstance(node.left, ex.Literal)
    side = next((side for side in (node.left, node.right) if isinstance(side, ex.Literal)), None)
    if side is None:
        return Curve(constraint, unit, None, True, found)
    limit = int(side.value)
    thresholds = tuple(limit + (step.loosened if upper else -step.loosened) for step in found.steps)
    comparison = node.op.translate(_TURNED) if isinstance(node.left, ex.Literal) else node.op
    return Curve(constraint, unit, limit, upper, found, comparison, thresholds)


def _defined(problem: Problem, without: str) -> bool:
    """Whether every plan has a value when one constraint is dropped, which may be what keeps unknown values out."""
    try:
        problem.restrict([item.name for item in problem.constraints if item.name != without])
    except (InputError, InputErrors):
        return False
    return True
