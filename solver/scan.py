"""The columnar engine: count, optimum, ties, ranks and distribution of all plans, without a list of plans.

The rows of a choice fall into groups by what links, tables and terms see of them. Inside a pair of groups that fit, two
choices are independent except for the integer rows, and one sweep answers for all pairs of rows (`kernels.sweep`). More
than two choices loop over the rows of the smaller ones; more than two binding rows fall back on pairs. Work is counted
before it is done, so a work limit stops at the same point on every machine.
"""

from __future__ import annotations

from collections.abc import Sequence

import numpy as np

from .columns.positions import values_at
from .columns.survey import Survey
from .columns.sweeping import Scan, Stopped, common_step, in_steps
from .model import Ints, Linear, Model
from .outcome import Limits, Outcome


def solve(model: Model, limits: Limits) -> Outcome:
    """Some best plan: the function that every engine has."""
    return survey(model, limits).outcome


def survey(model: Model, limits: Limits, ranks: Sequence[int] = (), tally: Linear | None = None) -> Survey:
    """Count, optimum, ties and runner-up of all plans of the model, every constraint in it holding.

    In the same sweep: the ranks of values of the objective, and the number of plans for each value of one more sum over
    the same choices, such as a number of wishes, if it spans at most 2^20 values (ValueError for one of other rows).

    n rows, one of the constraints a binding linear row: O(n log n) for two choices, times the rows of the others; times
    n at worst with more binding rows, or with two and ranks or a tally.
    """
    return Scan(model, limits, ranks, tally).survey(tally)


def shard(model: Model, number: int, of: int) -> Model:
    """Every `of`-th row of the first choice, from `number` on: the shards have all plans, and no plan in common.

    Surveys of all shards merge into the survey of the whole; their plans name rows of their shard, and a sum to be
    tallied has to be taken to its rows, too (`Linear.taken`).
    """
    return model.narrowed({0: np.arange(number, len(model.choices[0]), of)})


def best_rows(model: Model, choice: int, value: int, limits: Limits) -> Ints | None:
    """The row indices of a choice that occur in some plan of the given best value; None when a limit stops it."""
    scan = Scan(model, limits, tracked=choice)
    return None if scan.survey().outcome.reason else np.flatnonzero(scan.best_of_tracked() == value)


def count(model: Model, limits: Limits) -> int | None:
    """The number of plans; None when a limit stops the count."""
    found = survey(model, limits)
    return None if found.outcome.reason else found.count[0]


def count_up_to(model: Model, value: int, limits: Limits) -> int | None:
    """The number of plans whose objective is at most `value`; None when a limit stops the count."""
    found = survey(model, limits, (value,)).ranks
    return sum(found[value]) if found else None


def distribution(model: Model, most: int, limits: Limits, plans: int | None = None) -> list[tuple[int, int]] | None:
    """Objective values with their numbers of plans, ascending; None above `most` values or beyond the work limits.

    `plans`, the number of plans if it is known, keeps the table of values small.
    """
    values = most + 1 if plans is None else min(plans, most + 1)
    step = common_step(model.objective)
    unit = model.objective.bounds()[0], step
    return Scan(model, limits, by=in_steps(model.objective, step), unit=unit).distribution(most, values)


def value_at(model: Model, position: int, limits: Limits) -> int | None:
    """The objective value of the plan at 1-based `position`, best first; None with fewer plans, or at a limit."""
    return values_at(model, [position], limits)[0]


def plans_up_to(
    model: Model, value: int, limits: Limits, most: int
) -> list[tuple[int, tuple[int, ...]]] | None:  # fmt: skip
    """Every plan with an objective of at most `value`, as (value, row indices), ascending; None with more than `most`
    such plans, or when a limit stops it.
    """
    try:
        return Scan(model, limits).plans_up_to(value, most)
    except Stopped:
        return None


__all__ = [
    "Survey", "best_rows", "count", "count_up_to", "distribution", "plans_up_to", "shard", "solve", "survey",
    "value_at", "values_at",
]  # fmt: skip
