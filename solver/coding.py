"""Small dense codes for values and for tuples of values, in linear time where the values lie close together."""

from __future__ import annotations

from collections.abc import Sequence

import numpy as np

from .model import Ints

_DENSE = 4_096  # extra room that a table of marks may take, beyond four places per value


def coded(values: Ints) -> tuple[Ints, int]:
    """Codes `int64[n]` of the values, in their order, from 0 to the number of distinct values - 1; and that number."""
    if not len(values):
        return np.zeros(0, np.int64), 0
    low, high = int(values.min()), int(values.max())
    if high - low < 4 * len(values) + _DENSE:  # marks in a table are quicker than sorting
        present = np.zeros(high - low + 1, np.bool_)
        present[values - low] = True
        return (np.cumsum(present) - 1)[values - low], int(present.sum())
    distinct, inverse = np.unique(values, return_inverse=True)
    return inverse.astype(np.int64), len(distinct)


def tuple_codes(columns: Sequence[Ints], size: int) -> tuple[Ints, int]:
    """Codes `int64[size]` of the tuples that the columns form row by row, in lexicographic order; and their number."""
    codes, number = np.zeros(size, np.int64), 1
    room = 4 * size + _DENSE
    for column in columns if size else ():
        low = int(column.min())
        more, several = column - low, int(column.max()) - low + 1
        if number * several > room:  # then both become at most the number of rows: no overflow
            (codes, number), (more, several) = coded(codes), coded(column)
        codes = codes * several + more
        number *= several
    return coded(codes)


def first_rows(codes: Ints, number: int) -> Ints:
    """For each code some row that has it: `int64[number]`."""
    rows = np.zeros(number, np.int64)
    rows[codes] = np.arange(len(codes))
    return rows


def equal_pairs(left: Ints, right: Ints, most: int) -> tuple[Ints, Ints] | None:
    """All pairs of places with equal numbers, by the place in `left`; None when there are more than `most`."""
    order = np.argsort(right, kind="stable")
    low, high = (np.searchsorted(right[order], left, side) for side in ("left", "right"))
    sizes = high - low
    if sizes.sum() > most:
        return None
    within = np.arange(int(sizes.sum())) - np.repeat(np.cumsum(sizes) - sizes, sizes)
    return np.repeat(np.arange(len(left)), sizes), order[np.repeat(low, sizes) + within]
