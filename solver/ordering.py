"""Rows in lexicographic order of several columns: packed into one integer each, which sorts several times quicker."""

from __future__ import annotations

from collections.abc import Sequence

import numpy as np

from . import kernels
from .model import Ints
from .pairs import radix_sort

BITS = 63  # of a packed key, beside the sign
_DIGIT = 11  # bits that one pass of the radix sort looks at


def ordered(columns: Sequence[Ints]) -> tuple[Ints, list[Ints]]:
    """The stable order `int64[n]` of the rows by the columns, the first being the most significant; and the columns in
    that order.

    As many columns as fit 63 bits together with the row number are packed and sorted at once, from the last to the
    first; when a single column does not fit, `numpy.lexsort` orders them. Time: O(n) per eleven bits of a packed key
    once kernels are compiled, else O(n log n).
    """
    size = len(columns[0])
    lows = [int(column.min()) if size else 0 for column in columns]
    widths = [(int(column.max()) - low).bit_length() if size else 0 for column, low in zip(columns, lows, strict=True)]
    place = max(0, size - 1).bit_length()
    if max(widths) + place > BITS:
        order = np.lexsort(tuple(columns)[::-1])
        return order, [column[order] for column in columns]
    parts: list[slice] = []
    last = len(columns)
    while last > 0:
        first = last - 1
        while first > 0 and sum(widths[first - 1 : last]) + place <= BITS:
            first -= 1
        parts.append(slice(first, last))
        last = first
    order = np.arange(size)
    for part in parts:
        taken = columns[part] if part is parts[0] else [column[order] for column in columns[part]]
        packed = _packed(taken, lows[part], widths[part], place)
        _sort(packed, place, sum(widths[part]))
        if len(parts) == 1:
            found = _unpacked(packed, lows, widths, place)
            packed &= (1 << place) - 1
            return packed, found
        packed &= (1 << place) - 1
        order = order[packed]
    return order, [column[order] for column in columns]


def _packed(columns: Sequence[Ints], lows: Sequence[int], widths: Sequence[int], place: int) -> Ints:
    """One integer per row: the columns above their least values, and in the lowest bits the row's number."""
    key = columns[0] - lows[0]
    for column, low, width in zip(columns[1:], lows[1:], widths[1:], strict=True):
        if width:
            key <<= width
            key += column
            key -= low
    key <<= place
    key |= np.arange(len(key))
    return key


def _unpacked(packed: Ints, lows: Sequence[int], widths: Sequence[int], place: int) -> list[Ints]:
    """The columns again, read from the packed integers one after the other."""
    found: list[Ints] = []
    shift = place
    for low, width in zip(reversed(lows), reversed(widths), strict=True):
        column = packed >> shift
        column &= (1 << width) - 1
        column += low
        found.append(column)
        shift += width
    return found[::-1]


def _sort(packed: Ints, place: int, width: int) -> None:
    """Sorts in place; rows with equal columns keep their order."""
    if not kernels.ready(len(packed)):
        packed.sort()
        return
    digits = -(-width // _DIGIT)
    counts = np.empty(1 << (-(-width // digits) if digits else 0), np.int64)
    kernels.compiled(radix_sort)(packed, np.empty_like(packed), counts, place, digits)
