"""The exact dynamic program for sets, routes and formulas: optimum, canonical plan, counts and the values of all plans.

A plan is summed up by few numbers: the values of the quantities that something still reads. Plans are built part by
part, row by row, and those with equal numbers are one state. Nothing is guessed: a limit ends in UNKNOWN.
"""

from __future__ import annotations

import math
from dataclasses import dataclass

import numpy as np

from ...schemas.errors import OverflowRisk
from ..outcome import Limits, Outcome, Reason, Status
from .model import Picked, SetModel
from .stages import Stages, conjuncts
from .states import Meter, States, Stopped, number_of_lists
from .sweep import Keep, Sweep

NAME = "fold"
MOST_NAMES = 62  # constraints whose sets are told apart


@dataclass(frozen=True, slots=True)
class Folded:
    """An outcome, whose plan is the canonical one, and figures about all plans.

    `count`: the number of plans, between (low, high), equal if exact; `tied`: those as good as the best. `runner_up`:
    the second best value. `distribution`: each value and how many plans have it, ascending; None when there are too
    many values. Values are those of the minimised objective. When a limit ended the work (UNKNOWN), there is nothing
    but bounds of the count.
    """

    outcome: Outcome
    count: tuple[int, int]
    tied: int
    runner_up: int | None
    distribution: tuple[tuple[int, int], ...] | None


def survey(model: SetModel, limits: Limits, most_values: int = 65_536) -> Folded:
    """All about the plans of a model. `limits.work` counts states that are made; there is a limit of our own, too.

    Work and memory grow with the number of different sums, not with that of plans.
    """
    most = math.prod(
        number_of_lists(len(part), part.at_least, part.at_most, part.course is not None) for part in model.parts
    )
    meter = Meter(limits)
    try:
        stages = Stages(model, conjuncts(model.formulas), meter)
        ends = Sweep(stages, Keep.COUNTS, meter).run()
        if ends is None:
            return Folded(Outcome(Status.INFEASIBLE), (0, 0), 0, None, ())
        values, counts = _values(model, stages, ends)
        picked = _best(model, stages, meter, values[0])
    except Stopped as stopped:
        return Folded(Outcome(Status.UNKNOWN, reason=stopped.reason), (0, most), 0, None, None)
    except OverflowRisk:
        return Folded(Outcome(Status.UNKNOWN, reason=Reason.RANGE), (0, most), 0, None, None)
    if picked is None:
        raise AssertionError("there are plans, but no best one")
    total = sum(counts)
    return Folded(
        Outcome(Status.OPTIMAL, picked, values[0], values[0]),
        (total, total),
        counts[0],
        values[1] if len(values) > 1 else None,
        tuple(zip(values, counts, strict=True)) if len(values) <= most_values else None,
    )


def satisfiable(model: SetModel, limits: Limits) -> tuple[int, ...] | None:
    """The maximal sets of constraints (bit k is constraint k) that some plan satisfies, ascending; None at a limit.

    Numbers of rows and routes always hold: without any such plan, there are no sets, not even the empty one.
    """
    if len(model.formulas) > MOST_NAMES:
        return None
    meter = Meter(limits)
    try:
        stages = Stages(model, model.formulas, meter, objective=False)
        ends = Sweep(stages, Keep.MASKS, meter).run()
    except (Stopped, OverflowRisk):
        return None
    if ends is None:
        return ()
    found = sorted(set(ends.keys[stages.mask].tolist()))
    return tuple(one for one in found if not any(one != other and one & ~other == 0 for other in found))


def witness(model: SetModel, constraints: int, limits: Limits) -> Picked | None:
    """The canonical best plan under the constraints whose bits are set; None without one. Raises Stopped at a limit."""
    wanted = [formula for number, formula in enumerate(model.formulas) if constraints >> number & 1]
    meter = Meter(limits)
    return _best(model, Stages(model, conjuncts(wanted), meter), meter, None)


def _values(model: SetModel, stages: Stages, ends: States) -> tuple[list[int], list[int]]:
    """The values of all plans, ascending, and how many plans have each."""
    costs, counts = ends.keys[stages.cost], ends.counts
    order = np.argsort(costs)
    values = [value + model.objective.constant for value in costs[order].tolist()]
    return values, counts[order].tolist() if counts is not None else []


def _best(model: SetModel, stages: Stages, meter: Meter, value: int | None) -> Picked | None:
    """The canonical plan, whose value may be known."""
    bound = None if value is None else value - model.objective.constant
    ends = Sweep(stages, Keep.BEST, meter, bound).run()
    if ends is None or ends.codes is None:
        return None
    words = [[int(word[0]) for word in ends.codes[part]] for part in range(len(model.parts))]
    return tuple(coding.rows(some) for coding, some in zip(stages.codings, words, strict=True))
