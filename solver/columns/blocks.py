"""Which groups of rows may be combined, and the blocks of work that this makes for the loops of the scan."""

from __future__ import annotations

import itertools
import math
from collections.abc import Iterator, Mapping, Sequence
from dataclasses import dataclass, replace
from typing import Any

import numpy as np
from numpy.typing import NDArray

from ...schemas.errors import OverflowRisk
from ..coding import tuple_codes
from ..model import LIMIT, Ints, Linear, Model, Row, Table, Term
from .grouping import NOTHING, Part, Side, nobody

MAX_BLOCKS = 5_000_000
_COMBINATIONS = 65_536  # of rows of the outer choices in one batch
_Groups = Mapping[int, tuple[Side, "Ints | int"]]  # per choice: its side, and one group or several


@dataclass(frozen=True, slots=True)
class Batch:
    """Blocks of side A with side B, each for all of `q` combinations of merged rows of the other choices.

    `bounds: int64[4*k]` (a0, a1, b0, b1 per block), `offsets: int64[k*R]`, `base: int64[k]`, `by: int64[k]`; `outer`:
    the same sums of the combinations, `int64[q*R]`, `int64[q]`, `int64[q]`, and how many combinations of the model's
    rows are alike, `int64[q]`; `picks`: per outer choice its side and `int64[q]` merged rows. Whatever is counted in
    the batch counts `scale` times: that is 1 unless counts may leave int64.
    """

    a: Side
    b: Side
    bounds: Ints
    offsets: Ints
    base: Ints
    by: Ints
    outer: tuple[Ints, Ints, Ints, Ints]
    picks: tuple[tuple[Side, Ints], ...]
    scale: int

    def inputs(self) -> tuple[tuple[NDArray[Any], ...], ...]:
        """What the kernels read."""
        return (self.bounds, self.offsets, self.base, self.by), self.outer, self.a.arrays(), self.b.arrays()

    def rows(self) -> Ints:
        """How many rows each block touches."""
        shape = self.bounds.reshape(-1, 4)
        return shape[:, 1] - shape[:, 0] + shape[:, 3] - shape[:, 2]

    def pairs(self) -> Ints:
        """How many pairs of rows each block holds."""
        shape = self.bounds.reshape(-1, 4)
        return (shape[:, 1] - shape[:, 0]) * (shape[:, 3] - shape[:, 2])

    def picked(self, which: int, a_row: int, b_row: int) -> tuple[int, ...]:
        """A plan, as rows of the model, from a combination and merged rows of both sides."""
        rows = {side.choice: side.row(int(merged[which])) for side, merged in self.picks}
        rows |= {side.choice: side.row(row) for side, row in ((self.a, a_row), (self.b, b_row))}
        return tuple(rows[choice] for choice in sorted(rows) if choice >= 0)

    def plans(self, which: int, a_row: int, b_row: int) -> Iterator[tuple[int, ...]]:
        """All plans behind a combination and merged rows of both sides, as rows of the model."""
        rows = {side.choice: side.members(int(merged[which])).tolist() for side, merged in self.picks}
        rows |= {side.choice: side.members(row).tolist() for side, row in ((self.a, a_row), (self.b, b_row))}
        yield from itertools.product(*(rows[choice] for choice in sorted(rows) if choice >= 0))

    def taken(self, combinations: slice, blocks: slice) -> Batch:
        """Some of the combinations with some of the blocks."""
        rows = len(self.offsets) // len(self.base)
        wide, long = (slice(part.start * rows, part.stop * rows) for part in (blocks, combinations))
        return replace(
            self,
            bounds=self.bounds[4 * blocks.start : 4 * blocks.stop],
            offsets=self.offsets[wide],
            base=self.base[blocks],
            by=self.by[blocks],
            outer=(self.outer[0][long], *(part[combinations] for part in self.outer[1:])),  # type: ignore[arg-type]
            picks=tuple((side, merged[combinations]) for side, merged in self.picks),
        )

    def cut(self, most: int) -> Batch:
        """The same work in blocks of at most `most` pairs, or of one row of A: large ones are cut along side A."""
        pairs = self.pairs()
        if pairs.max(initial=0) <= most:
            return self
        rows = len(self.offsets) // len(self.base)
        bounds: list[tuple[int, int, int, int]] = []
        number: list[int] = []
        for block, (a0, a1, b0, b1) in enumerate(self.bounds.reshape(-1, 4).tolist()):
            stride = max(1, most // max(1, b1 - b0))
            cuts = [(low, min(a1, low + stride), b0, b1) for low in range(a0, a1, stride)]
            bounds += cuts
            number += [block] * len(cuts)
        return replace(
            self,
            bounds=np.array(bounds, np.int64).reshape(-1),
            offsets=self.offsets.reshape(-1, rows)[number].reshape(-1),
            base=self.base[number],
            by=self.by[number],
        )


def batches(
    model: Model, rows: Sequence[Row], by: Linear | None, every: list[Side], tracked: int | None
) -> Iterator[Batch | None]:
    """All blocks, batch by batch; None when a combination of groups would need more than MAX_BLOCKS blocks.

    The two choices with the most rows are the inner pair; `tracked`, if among them, is side A. No more plans than 2^62
    are in one batch, not counting its scale.
    """
    ranked = sorted(every, key=lambda side: (len(side), -side.choice))
    inner, outer = ranked[-2:], ranked[:-2]
    if len(inner) == 1:
        inner = [nobody(max(1, len(rows))), *inner]
    b, a = inner
    if tracked is not None and b.choice == tracked:
        a, b = b, a
    if len(a.order) * len(b.order) >= LIMIT:
        raise OverflowRisk(f"{len(a.order)} times {len(b.order)} plans are beyond 2^62")
    layout = _Layout(model, rows, by, a, b)
    huge = math.prod(len(side.order) for side in every) >= LIMIT
    for groups in itertools.product(*(range(len(side.start) - 1) for side in outer)):
        joined = layout.join(dict(zip((side.choice for side in outer), zip(outer, groups, strict=True), strict=True)))
        if joined is None:
            yield None
            return
        if not len(joined[1]):
            continue
        ranges = [
            (int(side.start[group]), int(side.start[group + 1])) for side, group in zip(outer, groups, strict=True)
        ]
        number = math.prod(high - low for low, high in ranges)
        stride = 1 if huge else _COMBINATIONS
        for low in range(0, number, stride):
            merged = _combinations(ranges, low, min(number, low + stride))
            combined, scale = _outer(outer, merged, layout.width, huge)
            yield Batch(a, b, *joined, combined, tuple(zip(outer, merged, strict=True)), scale)


def _combinations(ranges: Sequence[tuple[int, int]], low: int, high: int) -> list[Ints]:
    """Combinations number `low` to `high` of one number from each range, the last changing quickest."""
    found: list[Ints] = []
    carry = np.arange(high - low)
    for first, last in reversed(ranges):
        size = last - first
        carry += low % size
        found.append(first + carry % size)
        carry //= size
        low //= size
    return found[::-1]


def _outer(
    sides: Sequence[Side], merged: Sequence[Ints], width: int, huge: bool
) -> tuple[tuple[Ints, Ints, Ints, Ints], int]:
    """The sums of combinations of outer rows, how many are alike; and that number as the scale, if counts are huge."""
    number = len(merged[0]) if merged else 1
    costs = np.zeros((number, width), np.int64)
    base, by, times = np.zeros(number, np.int64), np.zeros(number, np.int64), np.ones(number, np.int64)
    scale = 1
    for side, rows in zip(sides, merged, strict=True):
        costs += side.costs.reshape(len(side), width)[rows]
        base += side.obj[rows]
        if len(side.by):
            by += side.by[rows]
        if len(side.mult) and huge:
            scale *= int(side.mult[rows[0]])
        elif len(side.mult):
            times *= side.mult[rows]
    return (costs.reshape(-1), base, by, times), scale


class _Layout:
    """Which groups of A and B fit, given groups of the other choices, and what the terms add to them."""

    def __init__(self, model: Model, rows: Sequence[Row], by: Linear | None, a: Side, b: Side) -> None:
        self.model, self.a, self.b, self.by = model, a, b, by
        self.between = [link for link in model.links if set(link.choices) == {a.choice, b.choice}]
        self.sums = [row.linear for row in rows] or [Linear({}, (), 0)]
        self.width = len(self.sums)
        self.keys: tuple[Ints, Ints] | None = None
        if self.between:
            joint = [np.concatenate([a.codes[id(link)], b.codes[id(link)]]) for link in self.between]
            codes, _ = tuple_codes(joint, len(joint[0]))
            keys = np.where(np.min(joint, axis=0) < 0, -1, codes)
            self.keys = keys[: len(a.start) - 1], keys[len(a.start) - 1 :]

    def join(self, outer: dict[int, tuple[Side, int]]) -> tuple[Ints, Ints, Ints, Ints] | None:
        """Bounds `int64[4*k]`, offsets `int64[k*R]`, and of objective and tallied sum `int64[k]`; None for too many."""
        known = {choice: (side, group) for choice, (side, group) in outer.items()}
        a_good, b_good = (self._fitting(side, known) for side in (self.a, self.b))
        if a_good is None or b_good is None:
            return NOTHING, NOTHING, NOTHING, NOTHING
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
        offsets = np.stack([_added(linear, groups, len(ga)) for linear in self.sums], axis=1)
        base = _added(self.model.objective, groups, len(ga))
        by = np.zeros(len(ga), np.int64) if self.by is None else _added(self.by, groups, len(ga))
        if self.by is not None:  # counted from the least possible value of each term
            by -= self.by.constant + sum(int(term.values.min()) for term in self.by.terms)
        a, b = self.a.start, self.b.start
        bounds = np.stack([a[ga], a[ga + 1], b[gb], b[gb + 1]], axis=1)
        return bounds.reshape(-1), offsets.reshape(-1), base, by

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


def _added(linear: Linear, groups: _Groups, number: int) -> Ints:
    """The constant and the terms of a sum, for every pair of groups."""
    total = np.full(number, linear.constant, np.int64)
    for term in linear.terms:
        total += _look_up(term.values, term, groups)
    return total


def _codes(part: Part, choice: int, groups: _Groups) -> Ints:
    side, group = groups[choice]
    return side.codes[id(part)][group]


def _look_up(values: NDArray[Any], part: Table | Term, groups: _Groups) -> NDArray[Any]:
    return values[tuple(_codes(part, choice, groups) for choice in part.choices)]
