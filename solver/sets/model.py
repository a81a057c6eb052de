"""A task with sets, routes, and sums under `or` and `not`, as plain integers: what its engines read, nothing else.

The rows of a choice stand in one or more `Part`s, ascending by part and inside a part by offer id. A plan picks from
every part some rows; on a route their order matters. Conditions are formulas without negation over `Leaf`s, each of
which says that an integer quantity of the plan is at most zero; unknown values are spelled out in them.
"""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass, field

import numpy as np

from ...schemas.errors import OverflowRisk
from ..model import LIMIT, Bools, Ints

NEVER = -1  # in place of a length of time: there is no way
EARLY, LATE = -(2**50), 2**50  # in place of points in time that nothing bounds
MOST_TIME = 2**48  # of a point in time, and of what a whole route takes: so nothing real comes near EARLY and LATE


@dataclass(frozen=True, slots=True)
class Course:
    """What makes a part a route. For its n rows: `opens, closes, lasts: int64[n]`, `first, last: bool[n]`.

    `travel: int64[n, n]` from row to row, `leave: int64[n]` from the start to a row, `back: int64[n]` from a row to the
    end, NEVER where there is no way; `direct` from start to end when no row is visited. Times as in schemas/several.py:
    a visit of row i begins at b >= opens[i] and ends at e with e - b == lasts[i] (>= if `longer`) and e <= closes[i].
    The first visit is reached at begins + leave[i] (begins None: at any time), another at the end of the one before
    plus travel, and begins at most `wait` later (None: whenever). The route ends when the end is reached, between
    `earliest` and `latest`; without visits at begins + direct. An order is possible if such times exist; what it
    `ends` at is the least possible, and `travel` is leave + travels + back.
    """

    opens: Ints
    closes: Ints
    lasts: Ints
    longer: bool
    travel: Ints
    leave: Ints
    back: Ints
    direct: int
    begins: int | None
    earliest: int
    latest: int
    wait: int | None
    first: Bools
    last: Bools


@dataclass(frozen=True, slots=True)
class Part:
    """Between `at_least` and `at_most` of some rows of choice number `choice`; `rows: int64[n]` in the offer table."""

    choice: int
    rows: Ints
    at_least: int
    at_most: int
    course: Course | None = None

    def __len__(self) -> int:
        return len(self.rows)


@dataclass(frozen=True, slots=True)
class Flag:
    """1 if a picked row is a member, else 0; `members[p]: bool[n]` for the rows of part p."""

    members: Mapping[int, Bools]


@dataclass(frozen=True, slots=True)
class Leaf:
    """`sign * quantity + constant <= 0`; `quantity` is a number in the model's list, `sign` 1 or -1."""

    quantity: int
    sign: int
    constant: int


@dataclass(frozen=True, slots=True)
class All:
    """True if every part is; without parts, true."""

    parts: tuple[Formula, ...] = ()


@dataclass(frozen=True, slots=True)
class Any:
    """True if some part is; without parts, false."""

    parts: tuple[Formula, ...] = ()


Formula = Leaf | All | Any


@dataclass(frozen=True, slots=True)
class Quantity:
    """An integer of a plan: sum of `columns[p][i]` over the picked rows, and of factors times other numbers.

    `flags`: (flag, factor); `truths`: (formula, factor), 1 where the formula is true; `ends`, `travel`: (part, factor)
    of routes. Truths are about quantities with smaller numbers. Ends have factors by which less is never worse, in the
    objective and in the leaf where the quantity stands: so the least end of an order decides.
    """

    columns: Mapping[int, Ints] = field(default_factory=dict[int, Ints])
    flags: tuple[tuple[int, int], ...] = ()
    truths: tuple[tuple[Formula, int], ...] = ()
    ends: tuple[tuple[int, int], ...] = ()
    travel: tuple[tuple[int, int], ...] = ()

    def reach(self, parts: tuple[Part, ...]) -> int:
        """A number that the quantity never exceeds in absolute value."""
        total = sum(abs(factor) for _, factor in (*self.flags, *self.truths))
        total += sum(abs(factor) * LATE for _, factor in (*self.ends, *self.travel))
        for number, column in self.columns.items():
            largest = np.sort(np.abs(column))[::-1][: parts[number].at_most]
            total += sum(int(value) for value in largest)
        return total


@dataclass(frozen=True, slots=True)
class SetModel:
    """Parts, quantities and flags; a formula for each named constraint; an objective to be made small.

    The objective is `objective.sign * quantity + objective.constant`, negated already if `maximize`.
    """

    names: tuple[str, ...]
    choices: tuple[str, ...]
    parts: tuple[Part, ...]
    quantities: tuple[Quantity, ...]
    flags: tuple[Flag, ...]
    formulas: tuple[Formula, ...]
    objective: Leaf
    maximize: bool

    def __post_init__(self) -> None:
        for quantity in self.quantities:
            if (reach := quantity.reach(self.parts)) >= LIMIT:
                raise OverflowRisk(f"the parts of a sum add up to {reach}, beyond 2^62")

    def value(self, picked: Picked, quantity: int) -> int:
        """A quantity of a plan that the routes allow."""
        found = self.quantities[quantity]
        total = sum(int(column[list(picked[part])].sum()) for part, column in found.columns.items() if picked[part])
        for flag, factor in found.flags:
            members = self.flags[flag].members
            total += factor * any(
                bool(good[list(picked[part])].any()) for part, good in members.items() if picked[part]
            )
        total += sum(factor * self.true(picked, formula) for formula, factor in found.truths)
        for part, factor in found.ends:
            total += factor * self._schedule(picked, part)[0]
        for part, factor in found.travel:
            total += factor * self._schedule(picked, part)[1]
        return total

    def true(self, picked: Picked, formula: Formula) -> bool:
        """Whether a formula is true of a plan."""
        if isinstance(formula, All):
            return all(self.true(picked, part) for part in formula.parts)
        if isinstance(formula, Any):
            return any(self.true(picked, part) for part in formula.parts)
        return formula.sign * self.value(picked, formula.quantity) + formula.constant <= 0

    def feasible(self, picked: Picked) -> bool:
        """Whether a plan keeps all numbers, routes and constraints."""
        for part, rows in zip(self.parts, picked, strict=True):
            if not part.at_least <= len(rows) <= part.at_most or len(set(rows)) < len(rows):
                return False
            if part.course is not None and schedule(part.course, rows) is None:
                return False
        return all(self.true(picked, formula) for formula in self.formulas)

    def cost(self, picked: Picked) -> int:
        """The objective of a plan, to be made small."""
        return self.objective.sign * self.value(picked, self.objective.quantity) + self.objective.constant

    def _schedule(self, picked: Picked, part: int) -> tuple[int, int]:
        course = self.parts[part].course
        found = schedule(course, picked[part]) if course is not None else None
        if found is None:
            raise ValueError("the plan is not on the route")
        return found


# Per part the indices of the picked rows: ascending, on a route in the order of the visits.
Picked = tuple[tuple[int, ...], ...]


def schedule(course: Course, order: tuple[int, ...]) -> tuple[int, int] | None:
    """The least end and the travel of an order of visits; None when no times fit.

    Which ends are possible after each visit is an interval, so it is followed from visit to visit: O(n).
    """
    if not order:
        low, high = (EARLY, LATE) if course.begins is None else (course.begins, course.begins)
        ways, reached = course.direct, (low + course.direct, high + course.direct)
        possible = course.direct != NEVER
    else:
        if not (course.first[order[0]] and course.last[order[-1]]):
            return None
        low, high = (EARLY, LATE) if course.begins is None else (course.begins, course.begins)
        ways, before = 0, None
        for row in order:
            way = int(course.leave[row] if before is None else course.travel[before, row])
            if way == NEVER:
                return None
            free = course.wait is None or (before is None and course.begins is None)
            low, high = low + way, LATE if free else high + way + (course.wait or 0)
            low, high = max(low, int(course.opens[row])), min(high, int(course.closes[row] - course.lasts[row]))
            if low > high:
                return None
            low += int(course.lasts[row])
            high = int(course.closes[row]) if course.longer else high + int(course.lasts[row])
            ways, before = ways + way, row
        back = int(course.back[order[-1]])
        possible, ways, reached = back != NEVER, ways + back, (low + back, high + back)
    least = max(reached[0], course.earliest)
    if not possible or least > min(reached[1], course.latest):
        return None
    return least, ways
