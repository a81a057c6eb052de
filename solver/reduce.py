"""A smaller model with the same best value and the same canonical plan: what the cross-checking engines are given.

Only for the optimum: counts and distributions need every row. Three rules, repeated until nothing changes: a row whose
code has no partner, a row that no combination can afford, and a row that another row of its group dominates.
"""

from __future__ import annotations

from collections.abc import Sequence

import numpy as np

from .model import Bools, Ints, Linear, Model

_PAIRWISE = 2_000  # with several integer rows, groups beyond this size are left as they are


def reduced(model: Model, order: Sequence[Ints] | None = None) -> Model:
    """The model without rows that are in no best plan, or in none that the canonical rule would take.

    `order[c]: int64[n]` ranks the rows of choice c by offer id; without it, by their place. A dominator is strictly
    better in the objective, or equal with the smaller rank, and no worse in any integer row. Time: O(rows * log rows).
    """
    ranks = list(order) if order is not None else [np.arange(len(choice)) for choice in model.choices]
    while True:
        before = sum(len(choice) for choice in model.choices)
        for rule in (_partnered, _affordable):
            model, ranks = _kept(model, ranks, rule(model))
        model, ranks = _kept(model, ranks, _undominated(model, ranks))
        if sum(len(choice) for choice in model.choices) in (before, 0):
            return model


def cheapest(model: Model) -> Model:
    """The model with one row for rows that satisfy the same names, have the same codes, and of which it is the
    cheapest.

    Keeps whether there is a plan for any set of the names; the model has no objective.
    """
    flags: list[Bools] = []
    for number, choice in enumerate(model.choices):
        order, groups = _groups(model, number, [choice.satisfied.view(np.int64)], [])
        flags.append(_fronts(model, number, order, groups))
    return _kept(model, [np.arange(len(choice)) for choice in model.choices], flags)[0]


def _kept(model: Model, ranks: list[Ints], good: list[Bools]) -> tuple[Model, list[Ints]]:
    if all(flags.all() for flags in good):
        return model, ranks
    rows = {number: np.flatnonzero(flags) for number, flags in enumerate(good)}
    return model.narrowed(rows), [rank[flags] for rank, flags in zip(ranks, good, strict=True)]


def _partnered(model: Model) -> list[Bools]:
    """Rows whose code in every link and table occurs with some code of the other choices."""
    good = [np.ones(len(choice), np.bool_) for choice in model.choices]
    for link in model.links:
        (left, right), (first, second) = link.choices, link.codes
        good[left] &= np.isin(first, second) & (first >= 0)
        good[right] &= np.isin(second, first) & (second >= 0)
    for table in model.tables:
        present = [np.unique(codes) for codes in table.codes]
        allowed = table.allowed[np.ix_(*present)]
        for axis, (choice, codes) in enumerate(zip(table.choices, table.codes, strict=True)):
            others = tuple(number for number in range(len(present)) if number != axis)
            usable = present[axis][allowed.any(axis=others)] if allowed.size else present[axis][:0]
            good[choice] &= np.isin(codes, usable)
    return good


def _affordable(model: Model) -> list[Bools]:
    """Rows that fit every integer row together with the cheapest rows of the other choices."""
    good = [np.ones(len(choice), np.bool_) for choice in model.choices]
    if not all(len(choice) for choice in model.choices):
        return good
    for row in model.rows:
        low, _ = row.linear.bounds()
        for choice, column in row.linear.columns.items():
            good[choice] &= column + (low - int(column.min())) <= 0
    return good


def _undominated(model: Model, ranks: Sequence[Ints]) -> list[Bools]:
    """Rows that no other row with the same codes dominates."""
    flags: list[Bools] = []
    for number, choice in enumerate(model.choices):
        objective = _column(model.objective, number, len(choice))
        order, starts = _groups(model, number, [], [objective, ranks[number]])
        flags.append(_fronts(model, number, order, starts))
    return flags


def _groups(model: Model, choice: int, same: list[Ints], sort: list[Ints]) -> tuple[Ints, Ints]:
    """The rows of a choice by group (equal codes, and equal in `same`), then by `sort`; and where groups start."""
    terms = [term for linear in (model.objective, *(row.linear for row in model.rows)) for term in linear.terms]
    parts = [part for part in (*model.links, *model.tables, *terms) if choice in part.choices]
    seen = [*same, *(part.codes[part.choices.index(choice)] for part in parts)]
    size = len(model.choices[choice])
    group = np.zeros(size, np.int64)
    if seen and size:
        group = np.unique(np.stack(seen), axis=1, return_inverse=True)[1].reshape(-1)
    order = np.lexsort((*reversed(sort), group))
    return order, np.flatnonzero(np.diff(group[order], prepend=-1))


def _fronts(model: Model, choice: int, order: Ints, starts: Ints) -> Bools:
    """The rows of every group that no earlier row of it makes superfluous."""
    size = len(model.choices[choice])
    costs = [_column(row.linear, choice, size) for row in model.rows if choice in row.linear.columns]
    kept = np.zeros(size, np.bool_)
    for rows in np.split(order, starts[1:]):
        kept[_front(rows, costs)] = True
    return kept


def _front(rows: Ints, costs: list[Ints]) -> Ints:
    """The rows of one group, given from best to worst, that are cheaper somewhere than every row before them."""
    if not costs:
        return rows[:1]
    if len(costs) == 1:
        cost = costs[0][rows]
        least = np.minimum.accumulate(cost)
        first = np.ones(len(rows), np.bool_)
        first[1:] = cost[1:] < least[:-1]
        return rows[first]
    if len(rows) > _PAIRWISE:
        return rows
    every = np.stack([cost[rows] for cost in costs], axis=1)
    kept: list[int] = []
    for position, cost in enumerate(every):
        if not kept or not (every[kept] <= cost).all(axis=1).any():
            kept.append(position)
    return rows[kept]


def _column(linear: Linear, choice: int, size: int) -> Ints:
    return linear.columns.get(choice, np.zeros(size, np.int64))
