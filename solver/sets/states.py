"""Many states at once: a column of integers for each thing that a state knows. Equal states are merged exactly."""

from __future__ import annotations

import math
import time
from collections.abc import Iterable, Mapping, Sequence
from dataclasses import dataclass
from typing import Any

import numpy as np
from numpy.typing import NDArray

from ..model import LIMIT, Ints
from ..outcome import Limits, Reason, Undecided

MOST_CELLS = 100_000_000  # numbers made in all, so that a hopeless model is given up within about two seconds
MOST_HELD = 20_000_000  # numbers held at once: 160 MB, and as much again while they are sorted
MOST_WORDS = 64_000_000  # of long integers held at once: 512 MB, which are not sorted
_BITS = 62  # of a word of a code
_WORDS = 16  # of a long integer that are shifted and added in the time that a cell takes

Counts = NDArray[Any]  # int64 while the sum of all is below LIMIT, else Python integers


class Stopped(Undecided):
    """A limit ended the work."""

    def __init__(self, reason: Reason) -> None:
        super().__init__(str(reason))
        self.reason = reason


class Meter:
    """What may still be spent; the numbers of states and of cells do not depend on the machine."""

    def __init__(self, limits: Limits) -> None:
        self.limits, self.started = limits, time.monotonic()
        self.states, self.cells = limits.work, MOST_CELLS

    def spend(self, states: int, columns: int, words: int = 0) -> None:
        """Counts states before they are made, and words of long integers. Raises Stopped."""
        self.states -= states
        self.cells -= states * columns + words // _WORDS
        if self.states < 0 or self.cells < 0:
            raise Stopped(Reason.WORK)
        if self.limits.seconds is not None and time.monotonic() - self.started > self.limits.seconds:
            raise Stopped(Reason.TIME)

    def need(self, states: int, columns: int) -> None:
        """Raises Stopped when as many states cannot be made any more."""
        if self.states < states or self.cells < states * columns:
            raise Stopped(Reason.WORK)

    def hold(self, states: int, columns: int, words: int = 0) -> None:
        """Raises Stopped when as many states, and words of long integers, would take too much memory."""
        if states * columns > MOST_HELD or words > MOST_WORDS:
            raise Stopped(Reason.MEMORY)


@dataclass(frozen=True, slots=True)
class Coding:
    """How lists of at most `length` of n rows are written as words that compare as the lists do: a digit per row."""

    bits: int
    digits: int
    words: int

    @classmethod
    def of(cls, rows: int, length: int) -> Coding:
        """For lists of at most so many rows."""
        bits = max(1, rows.bit_length())
        digits = _BITS // bits
        return cls(bits, digits, max(1, -(-min(rows, length) // digits)))

    def empty(self, number: int) -> list[Ints]:
        """As many empty lists."""
        return [np.zeros(number, np.int64) for _ in range(self.words)]

    def placed(self, row: Ints, position: int) -> tuple[int, Ints]:
        """The word in which a position is, and what the row is there."""
        word, digit = divmod(position, self.digits)
        return word, (row + 1) << (self.bits * (self.digits - 1 - digit))

    def before(self, row: int, words: Sequence[Ints]) -> list[Ints]:
        """The lists with a row put before all others."""
        first = self.bits * (self.digits - 1)
        carried = np.full(len(words[0]), row + 1, np.int64)
        found: list[Ints] = []
        for word in words:
            found.append((word >> self.bits) | (carried << first))
            carried = word & ((1 << self.bits) - 1)
        return found

    def rows(self, words: Iterable[int]) -> tuple[int, ...]:
        """The list that is written so."""
        mask = (1 << self.bits) - 1
        shifts = range(self.bits * (self.digits - 1), -1, -self.bits)
        digits = [(word >> shift) & mask for word in words for shift in shifts]
        return tuple(digit - 1 for digit in digits if digit)


@dataclass(frozen=True, slots=True)
class States:
    """N states: `keys[name]: int64[N]` is what they know, `counts[N]` how many plans lead to each.

    Instead of counts there may be `cost: int64[N]` and `codes[part][word]: int64[N]`, of the plan that is kept.
    """

    size: int
    keys: Mapping[int, Ints]
    counts: Counts | None = None
    cost: Ints | None = None
    codes: Mapping[int, Sequence[Ints]] | None = None

    @property
    def width(self) -> int:
        """The number of columns."""
        codes = sum(len(words) for words in self.codes.values()) if self.codes is not None else 0
        return len(self.keys) + codes + 1

    def taken(self, where: NDArray[Any]) -> States:
        """The states at indices, or where a mask is true."""
        counts = self.counts[where] if self.counts is not None else None
        cost = self.cost[where] if self.cost is not None else None
        codes = None
        if self.codes is not None:
            codes = {part: [word[where] for word in words] for part, words in self.codes.items()}
        size = int(where.sum()) if where.dtype == np.bool_ else len(where)
        return States(size, {name: key[where] for name, key in self.keys.items()}, counts, cost, codes)


def joined(some: Sequence[States]) -> States:
    """The states of all, which know the same things; at least one."""
    if len(some) == 1:
        return some[0]
    first = some[0]
    codes = None
    if first.codes is not None:
        codes = {
            part: [np.concatenate([one.codes[part][word] for one in some if one.codes]) for word in range(len(words))]
            for part, words in first.codes.items()
        }
    return States(
        sum(one.size for one in some),
        {name: np.concatenate([one.keys[name] for one in some]) for name in first.keys},
        np.concatenate([one.counts for one in some if one.counts is not None]) if first.counts is not None else None,
        np.concatenate([one.cost for one in some if one.cost is not None]) if first.cost is not None else None,
        codes,
    )


def merged(states: States) -> States:
    """Each state once: its counts added, or of its plans the cheapest, and of these the first by its codes."""
    if states.size < 2:
        return states
    after: list[Ints] = [] if states.cost is None else [states.cost]
    for part in sorted(states.codes or ()):
        after.extend((states.codes or {})[part])
    order, starts = groups(list(states.keys.values()), after, states.size)
    found = states.taken(order[starts])
    if states.counts is None:
        return found
    return States(found.size, found.keys, np.add.reduceat(states.counts[order], starts), found.cost, found.codes)


def groups(keys: Sequence[Ints], after: Sequence[Ints], size: int) -> tuple[Ints, Ints]:
    """An order of `size` rows by keys, then by `after`, and where in it each set of equal keys starts. O(n log n)."""
    if size == 0:
        return np.zeros(0, np.int64), np.zeros(0, np.int64)
    some, rest = packed(keys), packed(after) if after else []
    sort = [*reversed(rest), *reversed(some)]
    order = np.lexsort(sort) if len(sort) > 1 else np.argsort(sort[0]) if sort else np.arange(size)
    new = np.zeros(size, np.bool_)
    new[:1] = True
    for key in some:
        by_order = key[order]
        new[1:] |= by_order[1:] != by_order[:-1]
    return order, np.flatnonzero(new)


def packed(keys: Sequence[Ints]) -> list[Ints]:
    """Fewer columns in which rows compare as in these; constant columns vanish. Values are below LIMIT, or words."""
    found: list[Ints] = []
    room = 0
    for key in keys:
        low, high = int(key.min()), int(key.max())
        if low == high:
            continue
        reach = high - low + 1
        if found and room * reach < LIMIT:
            found[-1] = found[-1] * reach + (key - low)
            room *= reach
        elif reach < LIMIT:
            found.append(key - low)
            room = reach
        else:
            found.append(key)
            room = LIMIT
    return found


def counting(counts: Counts, growth: int) -> Counts:
    """The counts, as Python integers if they might not fit once each became `growth` times as many."""
    if counts.dtype == object:
        return counts
    highest = int(counts.max(initial=0)) * len(counts)  # no overflow here: Python integers
    if highest * growth < LIMIT:
        return counts
    total = sum(counts.tolist())
    return counts if total * growth < LIMIT else counts.astype(object)


def number_of_lists(rows: int, at_least: int, at_most: int, ordered: bool) -> int:
    """How many lists of so many rows there are."""
    ways = math.perm if ordered else math.comb
    return sum(ways(rows, number) for number in range(at_least, min(at_most, rows) + 1))
