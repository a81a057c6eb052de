"""All orders of a route's visits, summed up by what they visit, when they end and what they travel; and their times."""

from __future__ import annotations

from dataclasses import dataclass

import numpy as np

from ...schemas.errors import OverflowRisk
from ..model import LIMIT, Bools, Ints
from .model import EARLY, LATE, NEVER, Course, Part
from .states import Coding, Counts, Meter, groups, number_of_lists

_WORD = 62  # rows whose visits are bits of one integer


@dataclass(frozen=True, slots=True)
class Orders:
    """E kinds of orders: `visited: bool[E, n]`, `ends, travel: int64[E]`, how many orders, and the first as a code."""

    visited: Bools
    ends: Ints
    travel: Ints
    counts: Counts
    codes: list[Ints]


@dataclass(frozen=True, slots=True)
class _Tours:
    """Beginnings of orders: bits of the rows visited, the row visited last, and when that visit may end."""

    bits: list[Ints]
    last: Ints
    low: Ints
    high: Ints
    travel: Ints
    counts: Counts
    codes: list[Ints]

    def merged(self) -> _Tours:
        """Each once, with the first of its orders."""
        if not len(self.last):
            return self
        order, starts = groups([*self.bits, self.last, self.low, self.high, self.travel], self.codes, len(self.last))
        first = order[starts]
        return _Tours(
            [bits[first] for bits in self.bits],
            self.last[first],
            self.low[first],
            self.high[first],
            self.travel[first],
            np.add.reduceat(self.counts[order], starts),
            [word[first] for word in self.codes],
        )


def orders(part: Part, ends: bool, travel: bool, meter: Meter) -> Orders:
    """The orders of a route that some times fit; what is not asked for is 0. Raises Stopped.

    Follows from visit to visit what `model.schedule` does, for all orders at once that have visited the same rows, are
    in the same place and may be there in the same interval of time: O(states reached * rows).
    """
    course = part.course
    if course is None:
        raise ValueError("a part without an order")
    _check(course)
    size, coding = len(part), Coding.of(len(part), part.at_most)
    begins = (EARLY, LATE) if course.begins is None else (course.begins, course.begins)
    large = number_of_lists(size, part.at_least, part.at_most, ordered=True) >= LIMIT
    one = np.ones(1, object if large else np.int64)
    zero = np.zeros(1, np.int64)
    bits = [zero for _ in range(max(1, -(-size // _WORD)))]
    tours = _Tours(bits, zero - 1, zero + begins[0], zero + begins[1], zero, one, coding.empty(1))
    found: list[_Tours] = []
    for number in range(min(part.at_most, size) + 1):
        if number >= part.at_least:
            found.append(_ended(course, tours, ends, travel))
        if number == min(part.at_most, size) or not len(tours.last):
            break
        tours = _longer(course, tours, number, travel, coding, meter)
    whole = _together(found, coding) if found else None
    if whole is None:
        return Orders(np.zeros((0, size), np.bool_), zero[:0], zero[:0], one[:0], coding.empty(0))
    order, starts = groups([*whole.bits, whole.low, whole.travel], whole.codes, len(whole.low))
    first = order[starts]
    counts = np.add.reduceat(whole.counts[order], starts) if len(order) else whole.counts
    visited = np.zeros((len(first), size), np.bool_)
    for row in range(size):
        visited[:, row] = (whole.bits[row // _WORD][first] >> (row % _WORD)) & 1
    return Orders(visited, whole.low[first], whole.travel[first], counts, [word[first] for word in whole.codes])


def _check(course: Course) -> None:
    """Raises OverflowRisk when points in time might leave int64."""
    reach = sum(abs(point) for point in (course.begins or 0, course.wait or 0, course.direct))
    reach += max(LATE, abs(course.earliest), abs(course.latest))
    for points in (course.opens, course.closes):
        reach += int(np.abs(points).max(initial=0))
    reach += sum(int(np.abs(length).max(initial=0)) for length in (course.leave, course.back))
    reach += int(np.abs(course.lasts).sum()) + int(np.abs(course.travel).max(initial=0)) * len(course.lasts)
    if reach >= LIMIT:
        raise OverflowRisk(f"times on a route add up to {reach}, beyond 2^62")


def _longer(course: Course, tours: _Tours, number: int, travel: bool, coding: Coding, meter: Meter) -> _Tours:
    """All tours with one more visit."""
    some: list[_Tours] = []
    size = len(course.opens)
    held = 0
    for row in range(size):
        word, bit = divmod(row, _WORD)
        if number == 0:
            ways = np.full(1, course.leave[row] if course.first[row] else NEVER)
        else:
            ways = course.travel[tours.last, row]
        meter.spend(len(ways), 1)
        keep = np.flatnonzero((ways != NEVER) & (((tours.bits[word] >> bit) & 1) == 0))
        ways = ways[keep]
        low = np.maximum(tours.low[keep] + ways, course.opens[row])
        free = course.wait is None or (number == 0 and course.begins is None)
        high = np.full(len(keep), LATE) if free else tours.high[keep] + ways + (course.wait or 0)
        high = np.minimum(high, course.closes[row] - course.lasts[row])
        possible = low <= high
        keep, ways, low, high = keep[possible], ways[possible], low[possible], high[possible]
        meter.spend(len(keep), len(tours.bits) + len(tours.codes) + 5)
        held += len(keep)
        meter.hold(held, len(tours.bits) + len(tours.codes) + 5)
        bits = [column[keep] for column in tours.bits]
        bits[word] = bits[word] | (1 << bit)
        codes = [column[keep] for column in tours.codes]
        at, digit = coding.placed(np.full(1, row), number)
        codes[at] = codes[at] | digit
        low = low + course.lasts[row]
        high = np.full(len(keep), course.closes[row]) if course.longer else high + course.lasts[row]
        ways = tours.travel[keep] + ways if travel else tours.travel[keep]
        some.append(_Tours(bits, np.full(len(keep), row), low, high, ways, tours.counts[keep], codes))
    return _together(some, coding).merged()


def _ended(course: Course, tours: _Tours, ends: bool, travel: bool) -> _Tours:
    """The tours that may stop here; `low` is the least end of the route."""
    empty = len(tours.last) > 0 and tours.last[0] < 0
    back = np.full(1, course.direct) if empty else np.where(course.last[tours.last], course.back[tours.last], NEVER)
    low = np.maximum(tours.low + back, course.earliest)
    keep = np.flatnonzero((back != NEVER) & (low <= np.minimum(tours.high + back, course.latest)))
    nothing = np.zeros(len(keep), np.int64)
    return _Tours(
        [bits[keep] for bits in tours.bits],
        tours.last[keep],
        low[keep] if ends else nothing,
        nothing,
        (tours.travel + back)[keep] if travel else nothing,
        tours.counts[keep],
        [word[keep] for word in tours.codes],
    )


def _together(some: list[_Tours], coding: Coding) -> _Tours:
    return _Tours(
        [np.concatenate(words) for words in zip(*(one.bits for one in some), strict=True)],
        np.concatenate([one.last for one in some]),
        np.concatenate([one.low for one in some]),
        np.concatenate([one.high for one in some]),
        np.concatenate([one.travel for one in some]),
        np.concatenate([one.counts for one in some]),
        [np.concatenate([one.codes[word] for one in some]) for word in range(coding.words)],
    )


def times(course: Course, order: tuple[int, ...]) -> tuple[tuple[int, int], ...]:
    """When each visit begins and ends: the route ends as early as it can, and from the last visit back each is as early
    as the later ones allow. Raises ValueError when no times fit. O(n).
    """
    if not order:
        return ()
    if not (course.first[order[0]] and course.last[order[-1]]):
        raise ValueError("no times fit")
    low, high = (EARLY, LATE) if course.begins is None else (course.begins, course.begins)
    least: list[tuple[int, int]] = []  # the least begin and end of each visit
    ways: list[int] = []
    for place, row in enumerate(order):
        way = int(course.travel[order[place - 1], row] if place else course.leave[row])
        free = course.wait is None or (place == 0 and course.begins is None)
        begin = max(low + way, int(course.opens[row]))
        latest = min(LATE if free else high + way + (course.wait or 0), int(course.closes[row] - course.lasts[row]))
        if way == NEVER or begin > latest:
            raise ValueError("no times fit")
        low, high = begin + int(course.lasts[row]), latest + int(course.lasts[row])
        high = int(course.closes[row]) if course.longer else high
        least.append((begin, low))
        ways.append(way)
    back = int(course.back[order[-1]])
    end = max(low, course.earliest - back)
    if back == NEVER or end > min(high, course.latest - back):
        raise ValueError("no times fit")
    found: list[tuple[int, int]] = []
    for place in range(len(order) - 1, -1, -1):
        begin = least[place][0] if course.longer else end - int(course.lasts[order[place]])
        found.append((begin, end))
        if place:
            end = least[place - 1][1]
            if course.wait is not None:
                end = max(end, begin - ways[place] - course.wait)
    return tuple(reversed(found))
