"""The exact dynamic program for sets, routes and formulas: optimum, canonical plan, counts and the values of all plans.

A plan is summed up by few numbers: the values of the quantities that something still reads. Plans are built part by
part, row by row, and those with equal numbers are one state. Nothing is guessed: a limit ends in UNKNOWN.
"""

from __future__ import annotations

import math
import time
from dataclasses import dataclass, replace

import numpy as np

from ...schemas.errors import OverflowRisk
from ..outcome import Limits, Outcome, Reason, Status
from .model import Picked, SetModel
from .shapes import Packing, packing
from .stages import Stages, bounded, conjuncts
from .states import Meter, States, Stopped, number_of_lists
from .sweep import Keep, Sweep

NAME = "fold"
MOST_NAMES = 62  # constraints whose sets are told apart


@dataclass(frozen=True, slots=True)
class Folded:
    """An outcome, whose plan is the canonical one, and figures about all plans.

    `count`: the number of plans, between (low, high), equal if exact; `tied`: those as good as the best, None when
    nothing was counted, nor listed then. `runner_up`: the second best value. `distribution`: each value and how many
    plans have it, ascending; None when there are too many values. Values are those of the minimised objective. When a
    limit ended the work (UNKNOWN), there is nothing but bounds of the count.
    """

    outcome: Outcome
    count: tuple[int, int]
    tied: int | None
    runner_up: int | None
    distribution: tuple[tuple[int, int], ...] | None


def survey(model: SetModel, limits: Limits, most_values: int = 65_536) -> Folded:
    """All about the plans of a model. `limits.work` counts states that are made; there is a limit of our own, too.

    Work and memory grow with the number of different sums, not with that of plans. Where that is too much, the best
    plan may still be found, since it takes no counts: then OPTIMAL comes with an interval, and `tied` None.
    """
    most = math.prod(
        number_of_lists(len(part), part.at_least, part.at_most, part.course is not None) for part in model.parts
    )
    meter, started = Meter(limits), time.monotonic()
    try:
        return _counted(model, meter, most_values)
    except Stopped as stopped:
        reason = stopped.reason
    except OverflowRisk:
        reason = Reason.RANGE
    left = replace(limits.left(started), work=max(0, meter.states))
    try:
        picked = witness(model, (1 << len(model.formulas)) - 1, left) if left.work else None
        if picked is None and left.work:
            return Folded(Outcome(Status.INFEASIBLE), (0, 0), 0, None, ())
    except (Stopped, OverflowRisk):
        picked = None
    if picked is None:
        return Folded(Outcome(Status.UNKNOWN, reason=reason), (0, most), 0, None, None)
    value = model.cost(picked)
    return Folded(Outcome(Status.OPTIMAL, picked, value, value), (1, most), None, None, None)


def _counted(model: SetModel, meter: Meter, most_values: int) -> Folded:
    """All about the plans of a model. Raises Stopped."""
    formulas, bound = bounded(model, conjuncts(model.formulas))
    stages = Stages(model, formulas, meter)
    some = [part for number, part in enumerate(model.parts) if number not in stages.free]
    plans = math.prod(number_of_lists(len(part), part.at_least, part.at_most, part.course is not None) for part in some)
    packed = packing(stages, plans, bound)
    ends = Sweep(stages, Keep.COUNTS, meter, bound, packed).run()
    values, counts = ([], []) if ends is None else _values(model, stages, ends, bound, packed)
    if not values:
        return Folded(Outcome(Status.INFEASIBLE), (0, 0), 0, None, ())
    picked = _best(stages, meter, values[0] - model.objective.constant)
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
    formulas, bound = bounded(model, conjuncts(wanted))
    return _best(Stages(model, formulas, meter), meter, bound)


def _values(
    model: SetModel, stages: Stages, ends: States, bound: int | None, packed: Packing | None
) -> tuple[list[int], list[int]]:
    """The values of all plans, ascending, and how many plans have each."""
    if packed is not None:
        costs, counts = packed.unpacked(sum(ends.counts.tolist()) if ends.counts is not None else 0)
    else:
        order = np.argsort(ends.keys[stages.cost])
        costs = ends.keys[stages.cost][order].tolist()
        counts = ends.counts[order].tolist() if ends.counts is not None else []
    some = [(cost, number) for cost, number in zip(costs, counts, strict=True) if bound is None or cost <= bound]
    return [cost + model.objective.constant for cost, _ in some], [number * stages.factor for _, number in some]


def _best(stages: Stages, meter: Meter, bound: int | None) -> Picked | None:
    """The canonical plan of those that cost no more than the bound, without the objective's constant."""
    ends = Sweep(stages, Keep.BEST, meter, bound).run()
    if ends is None or ends.codes is None:
        return None
    words = {part: [int(word[0]) for word in some] for part, some in ends.codes.items()}
    return tuple(
        stages.free[part] if part in stages.free else coding.rows(words[part])
        for part, coding in enumerate(stages.codings)
    )
