"""How the scan sorts a choice's rows: into groups by what links, tables and terms see of them, then by costs."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass, field

import numpy as np
from numpy.typing import NDArray

from ..coding import tuple_codes
from ..model import Ints, Linear, Link, Model, Row, Table, Term
from .kernels import NONE
from .ordering import Ordered, Places, at_once, spans

WORTH = 0.9  # rows are merged when at most this share of them is left
NOTHING = np.zeros(0, np.int64)
_UNTALLIED = np.zeros(0, np.int32)
Part = Link | Table | Term


@dataclass(frozen=True, slots=True)
class Side:
    """One choice's rows sorted by (group, costs, objective), equal ones merged; m merged rows, G groups, R >= 1 costs.

    `start: int64[G+1]` first merged row of each group; `costs: int64[m*R]`; `obj: int64[m]`; `mult: int64[m]`, empty
    when all are one; `by: int32[m]`, from 0, empty when no sum is tallied; `order: int[n]` the model's rows, sorted;
    `first: int64[m+1]` where those behind a merged row begin there, empty when none were merged;
    `codes[id(part)]: int64[G]` the code that a link, table or term sees.
    """

    choice: int
    start: Ints
    costs: Ints
    obj: Ints
    mult: Ints
    by: NDArray[np.int32]
    order: Places
    first: Ints
    codes: dict[int, Ints] = field(default_factory=dict[int, Ints])

    def __len__(self) -> int:
        return len(self.obj)

    def arrays(self) -> tuple[Ints, Ints, Ints, NDArray[np.int32]]:
        """What the kernels read."""
        return self.costs, self.obj, self.mult, self.by

    def row(self, merged: int) -> int:
        """One of the model's rows behind a merged row."""
        return int(self.order[self.first[merged] if len(self.first) else merged])

    def members(self, merged: int) -> Places:
        """All of the model's rows behind a merged row."""
        if len(self.first):
            return self.order[self.first[merged] : self.first[merged + 1]]
        return self.order[merged : merged + 1]

    def spread(self, values: Ints) -> Ints:
        """A value for each of the model's rows `int64[n]`, from one for each merged row."""
        found = np.empty(len(self.order), np.int64)
        found[self.order] = np.repeat(values, np.diff(self.first)) if len(self.first) else values
        return found

    def largest(self) -> int:
        """The number of merged rows of the largest group."""
        return int(np.diff(self.start).max(initial=0))

    def numbered(self, values: Ints) -> tuple[Ints, Ints]:
        """Per merged row the number, from 1, of its value among those in its group; and the values in ascending order.

        The values of group g stand from `start[g]` on; places that are left in the group hold NONE.
        """
        group, rows = self._by_group(values)
        fresh, order = rows.fresh(2), rows.order()
        number = np.cumsum(fresh)
        number -= (number[self.start[:-1]] - 1)[group]
        place = np.empty(len(order), np.int64)
        place[order] = number
        distinct = np.full(len(order), NONE, np.int64)
        distinct[(self.start[:-1][group] + number - 1)[fresh]] = rows.column(1)[fresh]
        return place, distinct

    def bits(self) -> tuple[Ints, Ints, Ints, Ints, Ints]:
        """What `bits.sweep_bits` reads of side B: `place`, `in_order`, `values`, `ranked`, `costs`."""
        group, rows = self._by_group(self.obj)
        in_order = rows.order().astype(np.int64)
        place = np.empty(len(in_order), np.int64)
        place[in_order] = np.arange(len(in_order)) - self.start[group]
        others = [self._by_group(column)[1] for column in self.costs.reshape(len(self), -1).T[1:]]
        ranked = np.concatenate([place[other.order()] for other in others])
        return place, in_order, rows.column(1), ranked, np.concatenate([other.column(1) for other in others])

    def _by_group(self, values: Ints) -> tuple[Ints, Ordered]:
        """The group of each merged row, and the merged rows in the order of the values within their groups."""
        group = np.repeat(np.arange(len(self.start) - 1), np.diff(self.start))
        return group, Ordered([group, values])


def sides(model: Model, rows: Sequence[Row], by: Linear | None = None) -> list[Side]:
    """The sorted rows of every choice; `by` is the sum that is to be tallied."""
    return [_side(model, rows, by, choice) for choice in range(len(model.choices))]


def nobody(costs: int) -> Side:
    """A side with one row of nothing, so that a single choice is a pair too."""
    zero = np.zeros(1, np.int64)
    return Side(-1, np.array([0, 1]), np.zeros(costs, np.int64), zero, NOTHING, np.zeros(1, np.int32), zero, NOTHING)


def parts_of(model: Model, rows: Sequence[Row], by: Linear | None) -> list[Part]:
    """Everything that depends on several choices at once."""
    linears = [model.objective, *(row.linear for row in rows)] + ([] if by is None else [by])
    return [*model.links, *model.tables, *(term for linear in linears for term in linear.terms)]


def _side(model: Model, rows: Sequence[Row], by: Linear | None, choice: int) -> Side:
    number = len(model.choices[choice])
    seen = [
        (part, part.codes[part.choices.index(choice)]) for part in parts_of(model, rows, by) if choice in part.choices
    ]
    columns = [codes for _, codes in seen]
    columns += [_column(row.linear, choice, number) for row in rows]
    columns.append(_column(model.objective, choice, number))
    known, groups = spans(columns), len(seen)
    if groups > 1 and not at_once(known, number):  # codes of their tuples are fewer
        columns[:groups] = [tuple_codes(columns[:groups], number)[0]]
        known[:groups] = spans(columns[:1])
        groups = 1
    rows_in_order = Ordered(columns, known)
    start = np.append(np.flatnonzero(rows_in_order.fresh(groups)), number)
    fresh = rows_in_order.fresh(len(columns))
    order = rows_in_order.order()
    tallied = _UNTALLIED
    if by is not None:
        column = _column(by, choice, number)
        tallied = (column - column.min()).astype(np.int32)[order]
    costs = [rows_in_order.column(place) for place in range(groups, groups + len(rows))]
    obj = rows_in_order.column(len(columns) - 1)
    codes = {id(part): code[order[start[:-1]]] for part, code in seen}
    mult = first = NOTHING
    if np.count_nonzero(fresh) <= WORTH * number:
        if len(tallied):
            fresh[1:] |= tallied[1:] != tallied[:-1]
        at = np.flatnonzero(fresh)
        start = np.searchsorted(at, start)
        first = np.append(at, number)
        mult = np.diff(first)
        costs, obj = [cost[at] for cost in costs], obj[at]
        tallied = tallied[at] if len(tallied) else tallied
    if len(costs) == 1:
        flat = costs[0]
    else:
        flat = np.stack(costs, axis=1).reshape(-1) if costs else np.zeros(len(obj), np.int64)
    return Side(choice, start, flat, obj, mult, tallied, order, first, codes)


def _column(linear: Linear, choice: int, number: int) -> Ints:
    return linear.columns[choice] if choice in linear.columns else np.zeros(number, np.int64)
