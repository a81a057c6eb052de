"""Rows in lexicographic order of several columns: packed into one integer each, which sorts several times quicker."""

from __future__ import annotations

from collections.abc import Sequence

import numpy as np
from numpy.typing import NDArray

from ..model import Bools, Ints
from . import kernels
from .pairs import radix_sort

BITS = 63  # of a packed key, beside the sign
Places = NDArray[np.int32] | NDArray[np.int64]
_DIGIT = 10  # bits that one pass of the radix sort looks at: its 1,024 places stay in the first cache


Span = tuple[int, int]  # of a column: its least value, and how many bits the values above it take


def spans(columns: Sequence[Ints]) -> list[Span]:
    """The span of each column."""
    bounds = [(int(column.min()), int(column.max())) if len(column) else (0, 0) for column in columns]
    return [(low, (high - low).bit_length()) for low, high in bounds]


def at_once(known: Sequence[Span], size: int) -> bool:
    """Whether so many rows of columns with these spans are sorted at once."""
    return sum(width for _, width in known) + max(0, size - 1).bit_length() <= BITS


class Ordered:
    """The rows in stable order by the columns, `int64[n]` each, the first being the most significant.

    As many columns as fit 63 bits together with the row number are packed and sorted at once, from the last to the
    first, usually all; when a single one does not fit, `numpy.lexsort` orders them. What is asked for is read from the
    packed integers, one after the other, so little memory is held. `known`: the spans, if somebody has them.
    Time: O(n) per ten bits of a packed key once kernels are compiled, else O(n log n).
    """

    def __init__(self, columns: Sequence[Ints], known: Sequence[Span] | None = None) -> None:
        size = len(columns[0])
        known = spans(columns) if known is None else known
        self.lows, self.widths = [low for low, _ in known], [width for _, width in known]
        self.place = max(0, size - 1).bit_length()
        self.packed: Ints | None = None
        self.columns: list[Ints] = []
        parts = self._parts()
        if len(parts) == 1:
            self.packed = self._sorted(columns, parts[0])
            return
        if parts:
            rows = np.arange(size)
            for part in parts:
                packed = self._sorted([column[rows] for column in columns[part]], part)
                packed &= (1 << self.place) - 1
                rows = rows[packed]
        else:
            rows = np.lexsort(tuple(columns)[::-1])
        self.columns = [column[rows] for column in columns]
        self.rows = rows

    def column(self, number: int) -> Ints:
        """A column in order, `int64[n]`."""
        if self.packed is None:
            return self.columns[number]
        found = self.packed >> self._shift(number)
        if number:
            found &= (1 << self.widths[number]) - 1
        if self.lows[number]:
            found += self.lows[number]
        return found

    def fresh(self, number: int) -> Bools:
        """Where a row differs from the one before in any of the first columns, so many of them: `bool[n]`."""
        if self.packed is not None:
            upper = self.packed >> self._shift(number - 1)
            found = np.ones(len(upper), np.bool_)
            np.not_equal(upper[1:], upper[:-1], out=found[1:])
            return found
        found = np.arange(len(self.rows)) == 0
        for column in self.columns[:number]:
            found[1:] |= column[1:] != column[:-1]
        return found

    def order(self) -> Places:
        """The numbers of the rows in order: `int32[n]`, or `int64[n]` where those are too small."""
        small = self.place < 31
        if self.packed is None:
            return self.rows.astype(np.int32) if small else self.rows
        found: Places = np.empty(len(self.packed), np.int32) if small else np.empty(len(self.packed), np.int64)
        np.bitwise_and(self.packed, (1 << self.place) - 1, out=found, casting="same_kind")
        return found

    def _parts(self) -> list[slice]:
        """Which columns are packed together, in the order of sorting; none when one does not fit."""
        parts: list[slice] = []
        last = len(self.widths)
        while last > 0:
            first = last
            while first > 0 and sum(self.widths[first - 1 : last]) + self.place <= BITS:
                first -= 1
            if first == last:
                return []
            parts.append(slice(first, last))
            last = first
        return parts

    def _shift(self, number: int) -> int:
        """Below which bits of a packed integer a column stands."""
        return self.place + sum(self.widths[number + 1 :])

    def _sorted(self, columns: Sequence[Ints], part: slice) -> Ints:
        """Some columns packed, each above its least value, with the row's number in the lowest bits; and sorted."""
        lows, widths = self.lows[part], self.widths[part]
        key = columns[0] - lows[0]
        for column, low, width in zip(columns[1:], lows[1:], widths[1:], strict=True):
            if width:
                key <<= width
                key += column
                if low:
                    key -= low
        key <<= self.place
        key |= np.arange(len(key))
        if (key[1:] > key[:-1]).all():  # often: the objective is what the budget is about, too
            return key
        if not kernels.ready(len(key)):
            key.sort()
        elif width := sum(widths):
            digits = -(-width // _DIGIT)
            counts = np.empty(1 << -(-width // digits), np.int64)
            kernels.compiled(radix_sort)(key, np.empty_like(key), counts, self.place, digits)
        return key
