"""What sets of names see of a choice: the names that each row fails, the codes of its group, and its part of a sum."""

from __future__ import annotations

import math
from collections.abc import Mapping, Sequence

import numpy as np
from numpy.typing import NDArray

from .coding import first_rows, tuple_codes
from .model import Bools, Choice, Ints

_ROWS = 2**15  # that are worked on together: they stay in the cache
_Seen = tuple[int, int]


def failing(choice: Choice, names: int) -> frozenset[int]:
    """The names that some row of the choice does not satisfy."""
    every = int(np.bitwise_and.reduce(choice.satisfied)) if len(choice) else -1
    return frozenset(name for name in range(names) if not every >> name & 1)


def least_values(
    masks: NDArray[np.uint64],
    names: Sequence[int],
    codes: Mapping[_Seen, Ints],
    column: Ints | None,
    infinite: int,
    most: int,
) -> tuple[Ints, dict[_Seen, Ints]] | None:
    """The least number in the column (absent is zero) of the rows of each group that satisfy each set of names.

    `values: int64[groups, 2^names]`: bit k of a set stands for `names[k]`, its other names may hold or not, and
    `infinite` is in place of rows that are not there; with the codes of each group. None for more than `most` values.
    One pass over `masks: uint64[n]`, the codes and `column: int64[n]`, in pieces that stay in the cache.
    """
    most >>= len(names)
    digits, start, groups, seen = _groups(codes, len(masks), most)
    if groups > most:
        return None
    least, words = np.full(groups << len(names), infinite), _words(names)
    start <<= len(names)
    for low in range(0, len(masks), _ROWS):
        part = slice(low, low + _ROWS)
        cells = _local(masks[part], words)
        for code, factor in digits:
            cells += code[part] * (factor << len(names))
        if start:
            cells -= start
        if column is None:
            least[cells] = 0
        else:
            np.minimum.at(least, cells, column[part])
    for bit in range(len(names)):  # superset minima
        pairs = least.reshape(len(least) >> bit + 1, 2, 1 << bit)
        np.minimum(pairs[:, 0], pairs[:, 1], out=pairs[:, 0])
    return least.reshape(groups, 1 << len(names)), seen


def frontier(solvable: Bools) -> tuple[Ints, Ints]:
    """The least sets that are not solvable, and the greatest that are: indices into `solvable: bool[2^names]`.

    A subset of a solvable set has to be solvable. Time: O(names * 2^names).
    """
    least, greatest = ~solvable, solvable.copy()
    bit = 1
    while bit < len(solvable):
        smaller, larger = (solvable.reshape(-1, 2, bit)[:, side] for side in (0, 1))
        least.reshape(-1, 2, bit)[:, 1] &= smaller
        greatest.reshape(-1, 2, bit)[:, 0] &= ~larger
        bit *= 2
    return np.flatnonzero(least), np.flatnonzero(greatest)


def _words(names: Sequence[int]) -> list[tuple[int, Ints]]:
    """How bits of the names move to the front, in their order: for every 16 bits of a mask its shift, and a table."""
    words: list[tuple[int, Ints]] = []
    for word in sorted({name // 16 for name in names}):
        places = {name % 16: bit for bit, name in enumerate(names) if name // 16 == word}
        table = np.zeros(2 << max(places), np.int64)
        for place, bit in places.items():
            table.reshape(-1, 2, 1 << place)[:, 1] |= 1 << bit
        words.append((16 * word, table))
    return words


def _local(masks: NDArray[np.uint64], words: Sequence[tuple[int, Ints]]) -> Ints:
    """The masks with only the bits that the words move: int64[n]."""
    result: Ints | None = None
    for shift, table in words:
        part = (masks >> np.uint64(shift) if shift else masks) & np.uint64(len(table) - 1)
        moved = table.take(part.view(np.int64), mode="clip")
        result = moved if result is None else result + moved
    return np.zeros(len(masks), np.int64) if result is None else result


def _groups(
    codes: Mapping[_Seen, Ints], size: int, most: int
) -> tuple[list[tuple[Ints, int]], int, int, dict[_Seen, Ints]]:
    """How groups come from codes: `sum(codes * factor) - least` is a row's group; how many groups; their codes.

    Codes that are small enough together are digits of the group's number; others are numbered as tuples.
    """
    if not size:
        return [], 0, 0, {key: code[:0] for key, code in codes.items()}
    different = {id(code): code for code in codes.values()}
    ranges = {key: (int(code.min()), int(code.max())) for key, code in different.items()}
    groups = math.prod(high - low + 1 for low, high in ranges.values())
    if groups > min(most, 4 * size + _ROWS):
        group, groups = tuple_codes(list(different.values()), size)
        sample = first_rows(group, groups)
        return [(group, 1)], 0, groups, {key: code[sample] for key, code in codes.items()}
    digits: list[tuple[Ints, int]] = []
    seen: dict[int, Ints] = {}
    factor, least = 1, 0
    for key, (low, high) in ranges.items():
        digits.append((different[key], factor))
        seen[key] = np.arange(groups) // factor % (high - low + 1) + low
        least += low * factor
        factor *= high - low + 1
    return digits, least, groups, {key: seen[id(code)] for key, code in codes.items()}
