"""The optimum as an exact step function of one threshold: where it changes, and what it is there."""

from __future__ import annotations

import time
from dataclasses import dataclass, replace

import numpy as np

from ...schemas.errors import OverflowRisk
from .. import scan
from ..model import Linear, Model, Row
from ..outcome import Limits, Reason, Status, Undecided
from ..reduce import reduced

MOST = 200


@dataclass(frozen=True, slots=True)
class Step:
    """From `loosened` on (negative: tightened), in the scale of the threshold's comparison, `value` is the optimum."""

    loosened: int
    value: int


@dataclass(frozen=True, slots=True)
class Steps:
    """The steps of the optimum, tightest threshold first; values get better from step to step.

    `from_first`: before the first step there is no plan. `to_last`: after the last step loosening helps no more; where
    one of them is false, there are more steps on that side. `stopped` is the reason when a limit ended the search,
    rather than the number of steps asked for.
    """

    steps: tuple[Step, ...]
    from_first: bool
    to_last: bool
    stopped: str | None = None

    def at(self, loosened: int) -> int | None:
        """The optimum at a threshold; None where the task has no plan, or before the first known step."""
        return next((step.value for step in reversed(self.steps) if step.loosened <= loosened), None)


def steps(model: Model, constraint: int, limits: Limits, most: int = MOST) -> Steps:
    """The steps around the threshold as it is: up to `most` on either side, all other constraints holding.

    `constraint` is a key of `model.thresholds`; plans in which a part of its comparison is unknown are in no step.
    Values are those of the task's own objective. First the rows go that another row dominates in the objective, the
    threshold and every other row; then each step takes two scans of what is left: the best value at a threshold, and
    the tightest threshold at which that value, or a better one, is reached. O(rows log rows) once, and for each step.
    """
    try:
        search = _Search(model, constraint, limits)
    except OverflowRisk:  # the threshold as far as it goes and the objective's row do not fit 64 bits together
        return Steps((), False, False, Reason.RANGE.value)
    sign = -1 if model.maximize else 1
    tighter: list[Step] = []
    looser: list[Step] = []
    from_first = to_last = False
    stopped = None
    try:
        best = search.best(0)
        value, bound = best, 0
        while value is not None and len(tighter) < most:
            least = search.least(value)
            if least is None:
                break  # not reached: the plan with that value has a threshold
            tighter.append(Step(least, sign * value))
            bound = least - 1
            value = search.best(bound)
        from_first = value is None
        while len(looser) < most:
            least = search.least(None if best is None else best - 1)
            if least is None:
                to_last = True
                break
            best = search.best(least)
            if best is None:
                break  # not reached, as above
            looser.append(Step(least, sign * best))
        else:
            to_last = best is not None and search.least(best - 1) is None
    except Undecided as limit:
        stopped = str(limit)
    except OverflowRisk:
        stopped = Reason.RANGE.value
    return Steps((*reversed(tighter), *looser), from_first, to_last, stopped)


class _Search:
    def __init__(self, model: Model, constraint: int, limits: Limits) -> None:
        self.limits, self.started = limits, time.monotonic()
        known = model.thresholds[constraint].known
        others = [number for number in range(len(model.names)) if number != constraint]
        rest = model.kept(others, {choice: np.flatnonzero(flags) for choice, flags in known.items()})
        threshold = rest.thresholds[constraint]
        loose = _at_most(threshold.linear, threshold.linear.bounds()[1])  # holds always, but dominance has to see it
        small = reduced(
            replace(rest, tables=(*rest.tables, *threshold.tables), rows=(*rest.rows, Row(constraint, loose)))
        )
        *rows, bound = small.rows
        self.model = replace(small, rows=tuple(rows), names=(*small.names, "the objective"))
        self.constraint = constraint
        self.threshold = replace(bound.linear, constant=threshold.linear.constant)

    def best(self, loosened: int) -> int | None:
        """The best value at a threshold, in the model's sense; None without a plan."""
        row = Row(self.constraint, _at_most(self.threshold, loosened))
        return self._least(replace(self.model, rows=(*self.model.rows, row)))

    def least(self, value: int | None) -> int | None:
        """The tightest threshold at which some plan (None) has at most this value; None if none has, at any."""
        rows = self.model.rows
        if value is not None:
            rows = (*rows, Row(-1, _at_most(self.model.objective, value)))
        return self._least(replace(self.model, rows=rows, objective=self.threshold))

    def _least(self, model: Model) -> int | None:
        outcome = scan.solve(model, self.limits.left(self.started))
        if outcome.status is Status.INFEASIBLE:
            return None
        if outcome.status is not Status.OPTIMAL:
            raise Undecided(outcome.reason)
        return outcome.best


def _at_most(linear: Linear, value: int) -> Linear:
    """`linear <= value` as something that is at most zero."""
    return replace(linear, constant=linear.constant - value)
