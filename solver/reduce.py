"""A smaller model with the same best value and the same canonical plan: what the cross-checking engines are given.

Only for the optimum: counts and distributions need every row. Three rules, repeated until nothing changes: a row whose
code has no partner, a row that no combination can afford, and a row that another row of its group dominates.
"""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import replace

import numpy as np

from .coding import tuple_codes
from .model import Bools, Ints, Linear, Model

_PAIRWISE = 2_000  # with several integer rows, groups beyond this size are left as they are


Watch = Callable[[Model, list[Bools]], None]  # is told of a model and of the rows in it that a rule keeps


def reduced(model: Model, ranks: Callable[[Model, int], Ints] | None = None, watch: Watch | None = None) -> Model:
    """The model without rows that are in no best plan, or in none that the canonical rule would take.

    A dominator is no worse in any integer row, and strictly better in the objective, or equal with the smaller rank.
    `ranks(model, c): int64[n]` ranks the rows of choice c by offer id, and is asked late, when few rows are left;
    without it they rank by their place. No choice becomes empty: what has no plan is left for an engine to find out.
    `watch` is told of every step, in order. Time: O(rows * log rows).
    """
    rank = ranks or (lambda part, number: np.arange(len(part.choices[number])))
    every = range(len(model.choices))
    model = _settled(model, lambda part: [_undominated(part, number, None) for number in every], watch)
    return _settled(model, lambda part: [_undominated(part, number, rank(part, number)) for number in every], watch)


def _settled(model: Model, dominance: Callable[[Model], list[Bools]], watch: Watch | None) -> Model:
    """The model after all rules, again and again until none removes a row."""
    while True:
        before = _size(model)
        for rule in (_partnered, _affordable, dominance):
            flags = rule(model)
            if not all(good.any() for good in flags):
                return _piecemeal(model, watch)  # there is no plan; that is for an engine to find out
            model = _kept(model, flags, watch)
        if _size(model) == before:
            return model


def _piecemeal(model: Model, watch: Watch | None) -> Model:
    """The model after every link, table and integer row on its own that leaves no choice empty, again and again."""
    while True:
        before = _size(model)
        for place in range(len(model.links)):
            model = _unless_empty(
                model, _partnered(replace(model, links=model.links[place : place + 1], tables=())), watch
            )
        for place in range(len(model.tables)):
            model = _unless_empty(
                model, _partnered(replace(model, links=(), tables=model.tables[place : place + 1])), watch
            )
        for place in range(len(model.rows)):
            model = _unless_empty(model, _affordable(replace(model, rows=model.rows[place : place + 1])), watch)
        if _size(model) == before:
            return model


def _unless_empty(model: Model, good: list[Bools], watch: Watch | None) -> Model:
    return _kept(model, good, watch) if all(flags.any() for flags in good) else model


def _size(model: Model) -> int:
    return sum(len(choice) for choice in model.choices)


def cheapest(model: Model) -> Model:
    """The model with one row for rows that satisfy the same names, have the same codes, and of which it is the
    cheapest.

    Keeps whether there is a plan for any set of the names; the model has no objective.
    """
    flags: list[Bools] = []
    for number, choice in enumerate(model.choices):
        order, groups = _groups(model, number, [choice.satisfied.view(np.int64)], [])
        flags.append(_fronts(model, number, order, groups))
    return _kept(model, flags)


def _kept(model: Model, good: list[Bools], watch: Watch | None = None) -> Model:
    if all(flags.all() for flags in good):
        return model
    if watch is not None:
        watch(model, good)
    return model.narrowed({number: np.flatnonzero(flags) for number, flags in enumerate(good)})


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


def _undominated(model: Model, choice: int, rank: Ints | None) -> Bools:
    """Rows that no other row with the same codes dominates; without ranks, only strictly better rows dominate."""
    objective = _column(model.objective, choice, len(model.choices[choice]))
    order, starts = _groups(model, choice, [], [objective] if rank is None else [objective, rank])
    return _fronts(model, choice, order, starts, objective if rank is None else None)


def _groups(model: Model, choice: int, same: list[Ints], sort: list[Ints]) -> tuple[Ints, Ints]:
    """The rows of a choice by group (equal codes, and equal in `same`), then by `sort`; and where groups start."""
    terms = [term for linear in (model.objective, *(row.linear for row in model.rows)) for term in linear.terms]
    parts = [part for part in (*model.links, *model.tables, *terms) if choice in part.choices]
    seen = [*same, *(part.codes[part.choices.index(choice)] for part in parts)]
    size = len(model.choices[choice])
    group, _ = tuple_codes(seen, size)
    order = np.lexsort((*reversed(sort), group))
    return order, np.flatnonzero(np.diff(group[order], prepend=-1))


def _fronts(model: Model, choice: int, order: Ints, starts: Ints, level: Ints | None = None) -> Bools:
    """The rows of every group that no earlier row makes superfluous; rows of one level cannot do so to each other."""
    size = len(model.choices[choice])
    costs = [_column(row.linear, choice, size) for row in model.rows if choice in row.linear.columns]
    kept = np.zeros(size, np.bool_)
    for rows in np.split(order, starts[1:]):
        before = np.arange(len(rows)) if level is None else np.searchsorted(level[rows], level[rows])
        kept[rows[_front(rows, costs, before)]] = True
    return kept


def _front(rows: Ints, costs: list[Ints], before: Ints) -> Bools:
    """Which rows of a group are cheaper somewhere than each of the first `before` rows."""
    if not costs:
        return before == 0
    if len(costs) == 1:
        cost = costs[0][rows]
        least = np.minimum.accumulate(cost)
        return (before == 0) | (cost < least[before - 1])
    good = np.ones(len(rows), np.bool_)
    if len(rows) <= _PAIRWISE:
        every = np.stack([cost[rows] for cost in costs], axis=1)
        for position, cost in enumerate(every):
            earlier = every[: before[position]][good[: before[position]]]
            good[position] = not (earlier <= cost).all(axis=1).any()
    return good


def _column(linear: Linear, choice: int, size: int) -> Ints:
    return linear.columns.get(choice, np.zeros(size, np.int64))
