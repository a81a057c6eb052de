"""How the scan lays a model out: rows sorted into groups, and blocks of two groups that may be combined."""

from __future__ import annotations

import itertools
from collections.abc import Iterator, Mapping, Sequence
from dataclasses import dataclass, field, replace
from typing import Any

import numpy as np
from numpy.typing import NDArray

from .coding import tuple_codes
from .model import Ints, Linear, Link, Model, Row, Table, Term

MAX_BLOCKS = 5_000_000
_Part = Link | Table | Term


@dataclass(frozen=True, slots=True)
class Side:
    """One choice's rows sorted by (group, costs, objective), equal ones merged; m merged rows, G groups, R >= 1 costs.

    `start: int64[G+1]` first merged row of each group; `costs: int64[m*R]`; `obj`, `mult: int64[m]`;
    `row: int64[m]` one of the model's rows behind each; `merged: int64[n]` the merged row of each of the model's rows;
    `codes[id(part)]: int64[G]` the code that a link, table or term sees.
    """

    choice: int
    start: Ints
    costs: Ints
    obj: Ints
    mult: Ints
    row: Ints
    merged: Ints
    codes: dict[int, Ints] = field(default_factory=dict[int, Ints])

    def __len__(self) -> int:
        return len(self.obj)

    def arrays(self) -> tuple[Ints, Ints, Ints]:
        """What the kernels read."""
        return self.costs, self.obj, self.mult

    def second_costs(self) -> tuple[Ints, Ints]:
        """With two costs: the second ones in ascending order within each group, and each row's 1-based place there."""
        second = self.costs[1::2]
        group = np.repeat(np.arange(len(self.start) - 1), np.diff(self.start))
        order = np.lexsort((second, group))
        place = np.empty(len(order), np.int64)
        place[order] = np.arange(len(order))
        return second[order], place - self.start[group] + 1


_Groups = Mapping[int, tuple[Side, "Ints | int"]]  # per choice: its side, and one group or several


@dataclass(frozen=True, slots=True)
class Batch:
    """Blocks of side A with side B, for one combination of merged rows of the other choices.

    `blocks: int64[4*k]` (a0, a1, b0, b1 per block), `offsets: int64[k*R]`, `base: int64[k]`; `times`: how many
    combinations of the model's rows of the other choices are alike; `outer`: (choice, merged row) of each.
    """

    a: Side
    b: Side
    blocks: Ints
    offsets: Ints
    base: Ints
    times: int
    outer: tuple[tuple[int, int], ...]
    others: tuple[tuple[int, int], ...]

    def rows(self) -> int:
        """How many rows the blocks touch."""
        shape = self.blocks.reshape(-1, 4)
        return int((shape[:, 1] - shape[:, 0] + shape[:, 3] - shape[:, 2]).sum())

    def pairs(self) -> int:
        """How many pairs of rows the blocks hold."""
        shape = self.blocks.reshape(-1, 4)
        return int(((shape[:, 1] - shape[:, 0]) * (shape[:, 3] - shape[:, 2])).sum())

    def picked(self, a_row: int, b_row: int) -> tuple[int, ...]:
        """A plan, as rows of the model, from merged rows of both sides."""
        rows = dict(self.others)
        rows[self.a.choice] = int(self.a.row[a_row])
        rows[self.b.choice] = int(self.b.row[b_row])
        return tuple(rows[choice] for choice in sorted(rows) if choice >= 0)

    def split(self, steps: int) -> Iterator[Batch]:
        """The same work in batches of about `steps` pairs; a large block is cut along side A."""
        count = len(self.offsets) // len(self.base) if len(self.base) else 1
        for number in range(len(self.base)):
            a0, a1, b0, b1 = self.blocks[4 * number : 4 * number + 4].tolist()
            stride = max(1, steps // max(1, b1 - b0))
            for low in range(a0, a1, stride):
                block = np.array([low, min(a1, low + stride), b0, b1], np.int64)
                offsets = self.offsets[number * count : (number + 1) * count]
                yield replace(self, blocks=block, offsets=offsets, base=self.base[number : number + 1])


def sides(model: Model, rows: Sequence[Row]) -> list[Side]:
    """The sorted rows of every choice."""
    return [_side(model, rows, choice) for choice in range(len(model.choices))]


def _parts(model: Model, rows: Sequence[Row]) -> list[_Part]:
    terms = [term for linear in (model.objective, *(row.linear for row in rows)) for term in linear.terms]
    return [*model.links, *model.tables, *terms]


def _side(model: Model, rows: Sequence[Row], choice: int) -> Side:
    number = len(model.choices[choice])
    seen = [(part, part.codes[part.choices.index(choice)]) for part in _parts(model, rows) if choice in part.choices]
    group, _ = tuple_codes([codes for _, codes in seen], number)
    costs = [_column(row.linear, choice, number) for row in rows] or [np.zeros(number, np.int64)]
    obj = _column(model.objective, choice, number)
    keys = [group, *costs, obj]
    order = np.lexsort(keys[::-1])
    ordered = [key[order] for key in keys]
    fresh = np.ones(number, np.bool_)
    fresh[1:] = np.any([key[1:] != key[:-1] for key in ordered], axis=0)
    first = np.flatnonzero(fresh)
    merged = np.empty(number, np.int64)
    merged[order] = np.cumsum(fresh) - 1
    groups = ordered[0][first]
    start = np.searchsorted(groups, np.arange(int(groups[-1]) + 2))
    row = order[first]
    codes = {id(part): code[row[start[:-1]]] for part, code in seen}
    flat = np.stack([cost[first] for cost in ordered[1:-1]], axis=1).reshape(-1)
    mult = np.diff(np.append(first, number))
    return Side(choice, start, np.ascontiguousarray(flat), ordered[-1][first], mult, row, merged, codes)


def _column(linear: Linear, choice: int, number: int) -> Ints:
    return linear.columns.get(choice, np.zeros(number, np.int64))


def _nobody(costs: int) -> Side:
    """A side with one row of nothing, so that a single choice is a pair too."""
    one, zero = np.ones(1, np.int64), np.zeros(1, np.int64)
    return Side(-1, np.array([0, 1]), np.zeros(costs, np.int64), zero, one, zero, zero)


def batches(model: Model, rows: Sequence[Row], every: list[Side], tracked: int | None) -> Iterator[Batch | None]:
    """All blocks, batch by batch; None when a combination of groups would need more than MAX_BLOCKS blocks.

    The two choices with the most rows are the inner pair; `tracked`, if among them, is side A.
    """
    ranked = sorted(every, key=lambda side: (len(side), -side.choice))
    inner, outer = ranked[-2:], ranked[:-2]
    if len(inner) == 1:
        inner = [_nobody(max(1, len(rows))), *inner]
    b, a = inner
    if tracked is not None and b.choice == tracked:
        a, b = b, a
    layout = _Layout(model, rows, a, b)
    for groups in itertools.product(*(range(len(side.start) - 1) for side in outer)):
        joined = layout.join(dict(zip((side.choice for side in outer), zip(outer, groups, strict=True), strict=True)))
        if joined is None:
            yield None
            return
        blocks, offsets, base = joined
        if not len(base):
            continue
        ranges = [range(side.start[group], side.start[group + 1]) for side, group in zip(outer, groups, strict=True)]
        for picked in itertools.product(*ranges):
            chosen = list(zip(outer, picked, strict=True))
            costs = sum(
                (side.costs.reshape(len(side), -1)[row] for side, row in chosen), np.zeros(offsets.shape[1], np.int64)
            )
            yield Batch(
                a, b, blocks, (offsets + costs).reshape(-1), base + sum(int(side.obj[row]) for side, row in chosen),
                int(np.prod([int(side.mult[row]) for side, row in chosen], dtype=object)),
                tuple((side.choice, row) for side, row in chosen),
                tuple((side.choice, int(side.row[row])) for side, row in chosen),
            )  # fmt: skip


class _Layout:
    """Which groups of A and B fit, given groups of the other choices, and what the terms add to them."""

    def __init__(self, model: Model, rows: Sequence[Row], a: Side, b: Side) -> None:
        self.model, self.rows, self.a, self.b = model, rows, a, b
        self.between = [link for link in model.links if set(link.choices) == {a.choice, b.choice}]
        self.sums = [row.linear for row in rows] or [Linear({}, (), 0)]
        self.keys: tuple[Ints, Ints] | None = None
        if self.between:
            joint = [np.concatenate([a.codes[id(link)], b.codes[id(link)]]) for link in self.between]
            codes, _ = tuple_codes(joint, len(joint[0]))
            keys = np.where(np.min(joint, axis=0) < 0, -1, codes)
            self.keys = keys[: len(a.start) - 1], keys[len(a.start) - 1 :]

    def join(self, outer: dict[int, tuple[Side, int]]) -> tuple[Ints, Ints, Ints] | None:
        """Blocks `int64[4*k]`, offsets `int64[k, R]` and objective bases `int64[k]`; None for too many."""
        known = {choice: (side, group) for choice, (side, group) in outer.items()}
        a_good, b_good = (self._fitting(side, known) for side in (self.a, self.b))
        if a_good is None or b_good is None:
            return _NO_BLOCKS
        pairs = self._pairs(a_good, b_good)
        if pairs is None:
            return None
        ga, gb = pairs
        groups: _Groups = {**known, self.a.choice: (self.a, ga), self.b.choice: (self.b, gb)}
        both = [table for table in self.model.tables if {self.a.choice, self.b.choice} <= set(table.choices)]
        keep = np.ones(len(ga), np.bool_)
        for table in both:
            keep &= _look_up(table.allowed, table, groups)
        if not keep.all():
            ga, gb = ga[keep], gb[keep]
            groups |= {self.a.choice: (self.a, ga), self.b.choice: (self.b, gb)}
        offsets = np.stack([self._added(linear, groups, len(ga)) for linear in self.sums], axis=1)
        base = self._added(self.model.objective, groups, len(ga))
        a, b = self.a.start, self.b.start
        blocks = np.stack([a[ga], a[ga + 1], b[gb], b[gb + 1]], axis=1).reshape(-1)
        return blocks, offsets, base

    def _fitting(self, side: Side, known: dict[int, tuple[Side, int]]) -> Ints | None:
        """The groups of one inner side that fit the outer groups; None when the outer groups do not fit each other."""
        good = np.ones(len(side.start) - 1, np.bool_)
        mine = {**known, side.choice: (side, np.arange(len(good)))}
        for link in self.model.links:
            if set(link.choices) <= set(mine):
                left, right = (_codes(link, choice, mine) for choice in link.choices)
                good &= (left == right) & (np.asarray(left) >= 0)
        for table in self.model.tables:
            if set(table.choices) <= set(mine):
                good &= _look_up(table.allowed, table, mine)
        return np.flatnonzero(good) if good.any() else None

    def _pairs(self, a_good: Ints, b_good: Ints) -> tuple[Ints, Ints] | None:
        """The pairs of groups with equal link codes."""
        if self.keys is None:
            if len(a_good) * len(b_good) > MAX_BLOCKS:
                return None
            return np.repeat(a_good, len(b_good)), np.tile(b_good, len(a_good))
        a_keys, b_keys = self.keys[0][a_good], self.keys[1][b_good]
        a_good, a_keys = a_good[a_keys >= 0], a_keys[a_keys >= 0]
        order = np.argsort(b_keys, kind="stable")
        low, high = (np.searchsorted(b_keys[order], a_keys, side) for side in ("left", "right"))
        sizes = high - low
        if sizes.sum() > MAX_BLOCKS:
            return None
        within = np.arange(int(sizes.sum())) - np.repeat(np.cumsum(sizes) - sizes, sizes)
        return np.repeat(a_good, sizes), b_good[order[np.repeat(low, sizes) + within]]

    @staticmethod
    def _added(linear: Linear, groups: _Groups, number: int) -> Ints:
        """The constant and the terms of a sum, for every pair of groups."""
        total = np.full(number, linear.constant, np.int64)
        for term in linear.terms:
            total += _look_up(term.values, term, groups)
        return total


def _codes(part: _Part, choice: int, groups: _Groups) -> Ints:
    side, group = groups[choice]
    return side.codes[id(part)][group]


def _look_up(values: NDArray[Any], part: Table | Term, groups: _Groups) -> NDArray[Any]:
    return values[tuple(_codes(part, choice, groups) for choice in part.choices)]


_NO_BLOCKS = (np.zeros(0, np.int64), np.zeros((0, 1), np.int64), np.zeros(0, np.int64))
