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
from ..coding import equal_pairs, tuple_codes
from ..model import LIMIT, Bools, Ints, Linear, Link, Model, Row, Table, Term
from .grouping import Part, Side, nobody

MAX_BLOCKS = 5_000_000  # of groups of side A with groups of side B, for each combination of groups of the others
_AT_ONCE = 65_536  # blocks in one batch; and groups that are tried together
_Groups = Mapping[int, tuple[Side, Ints]]  # per choice its side, and groups of it


@dataclass(frozen=True, slots=True)
class Batch:
    """k blocks, each of rows of side A with rows of side B and one combination of merged rows of the other choices.

    `bounds: int64[4*k]` (a0, a1, b0, b1 per block), `offsets: int64[k*R]`, `base: int64[k]`, `by: int64[k]`; `times:
    int64[k]`, how many combinations of the model's rows are alike; `picks`: per other choice its side and `int64[k]`
    merged rows. Whatever is counted in the batch counts `scale` times: that is 1 unless counts may leave int64.
    """

    a: Side
    b: Side
    bounds: Ints
    offsets: Ints
    base: Ints
    by: Ints
    times: Ints
    picks: tuple[tuple[Side, Ints], ...]
    scale: int

    def __len__(self) -> int:
        return len(self.base)

    def inputs(self) -> tuple[tuple[NDArray[Any], ...], ...]:
        """What the kernels read."""
        return (self.bounds, self.offsets, self.base, self.by, self.times), self.a.arrays(), self.b.arrays()

    def rows(self) -> Ints:
        """How many rows each block touches."""
        shape = self.bounds.reshape(-1, 4)
        return shape[:, 1] - shape[:, 0] + shape[:, 3] - shape[:, 2]

    def pairs(self) -> Ints:
        """How many pairs of rows each block holds."""
        shape = self.bounds.reshape(-1, 4)
        return (shape[:, 1] - shape[:, 0]) * (shape[:, 3] - shape[:, 2])

    def picked(self, block: int, a_row: int, b_row: int) -> tuple[int, ...]:
        """A plan, as rows of the model, from a block and merged rows of both sides."""
        rows = {side.choice: side.row(int(merged[block])) for side, merged in self.picks}
        rows |= {side.choice: side.row(row) for side, row in ((self.a, a_row), (self.b, b_row))}
        return tuple(rows[choice] for choice in sorted(rows) if choice >= 0)

    def plans(self, block: int, a_row: int, b_row: int) -> Iterator[tuple[int, ...]]:
        """All plans behind a block and merged rows of both sides, as rows of the model."""
        rows = {side.choice: side.members(int(merged[block])).tolist() for side, merged in self.picks}
        rows |= {side.choice: side.members(row).tolist() for side, row in ((self.a, a_row), (self.b, b_row))}
        yield from itertools.product(*(rows[choice] for choice in sorted(rows) if choice >= 0))

    def taken(self, blocks: slice | Ints) -> Batch:
        """Some of the blocks."""
        return replace(
            self,
            bounds=self.bounds.reshape(-1, 4)[blocks].reshape(-1),
            offsets=self.offsets.reshape(len(self), -1)[blocks].reshape(-1),
            base=self.base[blocks],
            by=self.by[blocks],
            times=self.times[blocks],
            picks=tuple((side, merged[blocks]) for side, merged in self.picks),
        )

    def cut(self, most: int) -> Batch:
        """The same work in blocks of at most `most` pairs, or of one row of A: large ones are cut along side A."""
        pairs = self.pairs()
        if pairs.max(initial=0) <= most:
            return self
        bounds: list[tuple[int, int, int, int]] = []
        number: list[int] = []
        for block, (a0, a1, b0, b1) in enumerate(self.bounds.reshape(-1, 4).tolist()):
            stride = max(1, most // max(1, b1 - b0))
            cuts = [(low, min(a1, low + stride), b0, b1) for low in range(a0, a1, stride)]
            bounds += cuts
            number += [block] * len(cuts)
        return replace(self.taken(np.array(number)), bounds=np.array(bounds, np.int64).reshape(-1))


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
    layout = _Layout(model, rows, by, a, b, outer)
    huge = math.prod(len(side.order) for side in every) >= LIMIT
    sizes = [len(side.start) - 1 for side in outer]
    number = math.prod(sizes)
    stride = 1 if huge else max(1, _AT_ONCE // (len(a.start) + len(b.start)))
    for low in range(0, number, stride):
        for joined in layout.joined(_combinations(sizes, low, min(number, low + stride))):
            if joined is None:
                yield None
                return
            yield from joined.batches(huge)


def _combinations(sizes: Sequence[int], low: int, high: int) -> list[Ints]:
    """Combinations number `low` to `high` of one number below each of the sizes, the last changing quickest."""
    found: list[Ints] = []
    carry = np.arange(high - low)
    for size in reversed(sizes):
        carry += low % size
        found.append(carry % size)
        carry //= size
        low //= size
    return found[::-1]


@dataclass(frozen=True, slots=True)
class _Joined:
    """The blocks of a batch before they are repeated for each combination of rows of the outer groups.

    `groups`: per outer side the group in each block.
    """

    a: Side
    b: Side
    bounds: Ints
    offsets: Ints
    base: Ints
    by: Ints
    groups: tuple[tuple[Side, Ints], ...]

    def batches(self, huge: bool) -> Iterator[Batch]:
        """Every block with every combination; with one at a time, which scales the counts, if these are `huge`."""
        ranges = [(side.start[group], side.start[group + 1] - side.start[group]) for side, group in self.groups]
        if huge:  # all blocks are of the same outer groups
            every = np.arange(len(self.base))
            for number in range(math.prod(int(sizes[0]) for _, sizes in ranges)):
                yield self._batch(every, np.full(len(every), number), ranges, huge)
            return
        sizes = np.ones(len(self.base), np.int64)
        for _, several in ranges:
            sizes *= several
        ends = np.cumsum(sizes)
        for low in range(0, int(ends[-1]), _AT_ONCE):
            places = np.arange(low, min(int(ends[-1]), low + _AT_ONCE))
            blocks = np.searchsorted(ends, places, "right")
            yield self._batch(blocks, places - (ends - sizes)[blocks], ranges, huge)

    def _batch(self, blocks: Ints, number: Ints, ranges: Sequence[tuple[Ints, Ints]], huge: bool) -> Batch:
        """Blocks with the combinations of outer rows that have the given numbers among those of each block."""
        offsets, base, by = self.offsets[blocks], self.base[blocks], self.by[blocks]
        times, scale = np.ones(len(blocks), np.int64), 1
        picks: list[tuple[Side, Ints]] = []
        for (side, _), (first, sizes) in zip(self.groups[::-1], ranges[::-1], strict=True):
            number, place = np.divmod(number, sizes[blocks])
            rows = first[blocks] + place
            picks.append((side, rows))
            offsets += side.costs.reshape(len(side), -1)[rows]
            base += side.obj[rows]
            if len(side.by):
                by += side.by[rows]
            if len(side.mult) and huge:
                scale *= int(side.mult[rows[0]])
            elif len(side.mult):
                times *= side.mult[rows]
        bounds = self.bounds[blocks].reshape(-1)
        return Batch(self.a, self.b, bounds, offsets.reshape(-1), base, by, times, tuple(picks), scale)


class _Layout:
    """Which groups of A and B fit groups of the other choices and each other, and what the terms add to them."""

    def __init__(
        self, model: Model, rows: Sequence[Row], by: Linear | None, a: Side, b: Side, outer: Sequence[Side]
    ) -> None:
        self.model, self.a, self.b, self.by, self.outer = model, a, b, by, outer
        self.sums = [row.linear for row in rows] or [Linear({}, (), 0)]
        both, others = {a.choice, b.choice}, {side.choice for side in outer}
        parts = [(part, {*part.choices}) for part in (*model.links, *model.tables)]
        self.among = [part for part, choices in parts if choices <= others]
        self.with_side = {
            side.choice: [part for part, choices in parts if {side.choice} == choices & both] for side in (a, b)
        }
        self.between = [part for part, choices in parts if both <= choices and isinstance(part, Table)]
        links = [part for part, choices in parts if both == choices and isinstance(part, Link)]
        joint = [np.concatenate([a.codes[id(link)], b.codes[id(link)]]) for link in links]
        codes, self.number = tuple_codes(joint, len(a.start) + len(b.start) - 2)
        keys = np.where(np.min(joint, axis=0) < 0, -1, codes) if joint else codes
        self.keys = {a.choice: keys[: len(a.start) - 1], b.choice: keys[len(a.start) - 1 :]}

    def joined(self, groups: Sequence[Ints]) -> Iterator[_Joined | None]:
        """The blocks for combinations of groups of the outer sides; None where there are too many for one of them."""
        size = len(groups[0]) if groups else 1
        known = {side.choice: (side, group) for side, group in zip(self.outer, groups, strict=True)}
        known = _chosen(known, _fitting(self.among, known, size))
        size = len(next(iter(known.values()))[1]) if known else 1
        pairs = self._pairs(known, size)
        if pairs is None and size > 1:
            for half in (slice(None, size // 2), slice(size // 2, None)):
                yield from self.joined([group[half] for _, group in known.values()])
        elif pairs is None:
            yield None
        elif len(pairs[next(iter(pairs))][1]):
            yield self._blocks(pairs)

    def _pairs(self, known: _Groups, size: int) -> _Groups | None:
        """Groups of all choices that fit, for some of the others; None for more than MAX_BLOCKS."""
        sides: list[tuple[Ints, Ints, Ints]] = []
        for side in (self.a, self.b):
            number = len(side.start) - 1
            which, group = np.repeat(np.arange(size), number), np.tile(np.arange(number), size)
            good = _fitting(
                self.with_side[side.choice], {**_chosen(known, which), side.choice: (side, group)}, len(group)
            )
            key = self.keys[side.choice][group]
            good &= key >= 0
            sides.append((which[good], group[good], key[good]))
        (a_which, a_group, a_key), (b_which, b_group, b_key) = sides
        pairs = equal_pairs(a_which * self.number + a_key, b_which * self.number + b_key, MAX_BLOCKS)
        if pairs is None:
            return None
        left, right = pairs
        groups = {
            self.a.choice: (self.a, a_group[left]),
            self.b.choice: (self.b, b_group[right]),
            **_chosen(known, a_which[left]),
        }
        return _chosen(groups, _fitting(self.between, groups, len(left)))

    def _blocks(self, groups: _Groups) -> _Joined:
        """Bounds, and what the terms add, for groups of all choices."""
        (a, ga), (b, gb) = groups[self.a.choice], groups[self.b.choice]
        offsets = np.stack([_added(linear, groups, len(ga)) for linear in self.sums], axis=1)
        base = _added(self.model.objective, groups, len(ga))
        by = np.zeros(len(ga), np.int64) if self.by is None else _added(self.by, groups, len(ga))
        if self.by is not None:  # counted from the least possible value of each term
            by -= self.by.constant + sum(int(term.values.min()) for term in self.by.terms)
        bounds = np.stack([a.start[ga], a.start[ga + 1], b.start[gb], b.start[gb + 1]], axis=1)
        return _Joined(a, b, bounds, offsets, base, by, tuple(groups[side.choice] for side in self.outer))


def _chosen(groups: _Groups, which: Ints | Bools) -> _Groups:
    """Some of the combinations of groups."""
    return {choice: (side, group[which]) for choice, (side, group) in groups.items()}


def _fitting(parts: Sequence[Link | Table], groups: _Groups, size: int) -> Bools:
    """Which of so many combinations of groups some links and tables allow."""
    good = np.ones(size, np.bool_)
    for part in parts:
        if isinstance(part, Table):
            good &= _look_up(part.allowed, part, groups)
        else:
            left, right = (_codes(part, choice, groups) for choice in part.choices)
            good &= (left == right) & (left >= 0)
    return good


def _added(linear: Linear, groups: _Groups, number: int) -> Ints:
    """The constant and the terms of a sum, for every combination of groups."""
    total = np.full(number, linear.constant, np.int64)
    for term in linear.terms:
        total += _look_up(term.values, term, groups)
    return total


def _codes(part: Part, choice: int, groups: _Groups) -> Ints:
    side, group = groups[choice]
    return side.codes[id(part)][group]


def _look_up(values: NDArray[Any], part: Table | Term, groups: _Groups) -> NDArray[Any]:
    return values[tuple(_codes(part, choice, groups) for choice in part.choices)]
