"""A route in a program: arcs between its rows, and times that the arcs decide.

Two nodes beside the rows, start and end, and an arc from end to start that is always taken: so an empty route is the
circuit of these two, and the circuit is never empty.
"""

from __future__ import annotations

from abc import ABC, abstractmethod
from collections.abc import Mapping, Sequence
from dataclasses import dataclass

from ..outcome import Reason
from .model import EARLY, LATE, NEVER, Course

MAX_ARCS = 100_000

Expression = tuple[Mapping[int, int], int]  # coefficients * variables + constant


class Maker(ABC):
    """What collects the variables and rows of a program."""

    __slots__ = ()

    @abstractmethod
    def variable(self, low: int, high: int) -> int:
        """A new variable with these bounds."""

    @abstractmethod
    def require(self, terms: Mapping[int, int], constant: int, under: int | None = None) -> None:
        """The expression is at most zero, wherever the literal `under` is true (None: always)."""

    @abstractmethod
    def decline(self, reason: Reason) -> Exception:
        """What to raise when the route cannot be said."""


@dataclass(frozen=True, slots=True)
class Tour:
    """The arcs of a route of n rows, `literals` per (tail, head); node n is its start, n + 1 its end.

    `end` is an expression for when it ends: at least the least end of the order, and that in some solution. `travel`
    are coefficients of arcs.
    """

    rows: range
    literals: Mapping[tuple[int, int], int]
    end: Expression
    travel: Mapping[int, int]

    @staticmethod
    def of(course: Course, least: int, rows: range, maker: Maker, *, ends: bool) -> Tour:
        """Writes arcs and times of a route with `least` visits or more; `ends`: somebody reads when it ends."""
        return _Writer(course, least, rows, maker, ends).write()

    def order(self, values: Sequence[int]) -> tuple[int, ...] | None:
        """The visits from start to end in a solution; None if the arcs do not lead there."""
        start, end = len(self.rows), len(self.rows) + 1
        follows = {tail: head for (tail, head), literal in self.literals.items() if tail != head and values[literal]}
        order: list[int] = []
        node = follows.get(start)
        while node is not None and node != end and len(order) < len(self.rows):
            order.append(node)
            node = follows.get(node)
        return tuple(order) if node == end else None

    def acyclic(self) -> bool:
        """Whether arcs between rows lead nowhere in a circle: then no rows can form a circuit of their own. O(arcs)."""
        count = len(self.rows)
        ways: list[list[int]] = [[] for _ in range(count)]
        entering = [0] * count
        for tail, head in self.literals:
            if tail != head and tail < count and head < count:
                ways[tail].append(head)
                entering[head] += 1
        free = [row for row in range(count) if not entering[row]]
        for row in free:
            for head in ways[row]:
                entering[head] -= 1
                if not entering[head]:
                    free.append(head)
        return len(free) == count


@dataclass(slots=True)
class _Writer:
    course: Course
    least: int
    rows: range
    maker: Maker
    ends: bool

    def write(self) -> Tour:
        count, course = len(self.rows), self.course
        start, end = count, count + 1
        ways = self._ways()
        if len(ways) > MAX_ARCS:
            raise self.maker.decline(Reason.MEMORY)
        literals = {arc: self.maker.variable(0, 1) for arc in ways}
        for row, variable in enumerate(self.rows):
            self._exactly_one([literal for (tail, _), literal in literals.items() if tail == row], {variable: -1}, 0)
            self._exactly_one([literal for (_, head), literal in literals.items() if head == row], {variable: -1}, 0)
        self._exactly_one([literal for (tail, _), literal in literals.items() if tail == start], {}, -1)
        self._exactly_one([literal for (_, head), literal in literals.items() if head == end], {}, -1)
        timed = self.ends or not (
            (course.opens <= EARLY).all()
            and (course.closes >= LATE).all()
            and course.earliest <= EARLY
            and course.latest >= LATE
        )
        finish = self._times(literals, ways) if timed else ({}, 0)
        return Tour(self.rows, literals, finish, {literals[arc]: way for arc, way in ways.items()})

    def _exactly_one(self, literals: list[int], terms: Mapping[int, int], constant: int) -> None:
        """As many of the literals as the expression says, negated: one, or one where a row is visited."""
        self.maker.require({**dict.fromkeys(literals, 1), **terms}, constant)
        self.maker.require({**dict.fromkeys(literals, -1), **{v: -f for v, f in terms.items()}}, -constant)

    def _ways(self) -> dict[tuple[int, int], int]:
        """The arcs that ways and opening hours leave, each with its length."""
        course, count = self.course, len(self.rows)
        opens, lasts, travel = course.opens.tolist(), course.lasts.tolist(), course.travel.tolist()
        latest = (course.closes - course.lasts).tolist()
        possible = [row for row in range(count) if opens[row] <= latest[row]]
        found: dict[tuple[int, int], int] = {}
        if course.direct != NEVER:
            found[count, count + 1] = course.direct
        for row in possible:
            if course.first[row] and course.leave[row] != NEVER:
                found[count, row] = int(course.leave[row])
            if course.last[row] and course.back[row] != NEVER:
                found[row, count + 1] = int(course.back[row])
            for other in possible:
                way = travel[row][other]
                if row != other and way != NEVER and opens[row] + lasts[row] + way <= latest[other]:
                    found[row, other] = way
        return found

    def _window(self) -> tuple[int, int]:
        """Bounds for times that nothing bounds, such that an order that is possible is possible within them.

        The times of an order are a system of differences. If it has a solution, it has one no further beyond its
        bounds in absolute time than lengths and ways add up to (shortest paths); twice that, since the end is one more.
        """
        course = self.course
        given = [int(time) for times in (course.opens, course.closes) for time in times]
        given += [time for time in (course.begins, course.earliest, course.latest) if time is not None]
        given = [time for time in given if EARLY < time < LATE] or [0]
        longest = max((int(way.max(initial=0)) for way in (course.travel, course.leave, course.back)), default=0)
        longest = max(longest, course.direct)
        slack = 2 * (len(self.rows) + 1) * (longest + int(course.lasts.max(initial=0)))
        return min(given) - slack, max(given) + slack

    def _bounded(self) -> bool:
        """Whether the least end of every order comes from a time in the task."""
        empty = self.least == 0 and self.course.direct != NEVER
        opened = bool((self.course.opens > EARLY).all()) and not empty
        return self.course.begins is not None or self.course.earliest > EARLY or opened

    def _times(self, literals: Mapping[tuple[int, int], int], ways: Mapping[tuple[int, int], int]) -> Expression:
        """Begins and ends of visits, tied by the arcs; returns the end of the route."""
        if self.ends and not self._bounded():
            raise self.maker.decline(Reason.RANGE)  # the end would be EARLY, a number beyond what engines can take
        course, count = self.course, len(self.rows)
        low, high = self._window()
        begins: list[Expression] = []
        finishes: list[Expression] = []
        for row in range(count):
            lasts, opens = int(course.lasts[row]), max(low, int(course.opens[row]))
            closes = min(high, int(course.closes[row]))
            begins.append(self._time(opens, closes - lasts))
            if course.longer:
                finishes.append(self._time(opens + lasts, closes))
                self._no_later(begins[row], finishes[row], lasts)
            else:
                finishes.append((begins[row][0], begins[row][1] + lasts))
        for (tail, head), way in ways.items():
            if head == count + 1:
                continue
            literal = literals[tail, head]
            if tail == count and course.begins is None:
                continue
            before: Expression = ({}, course.begins or 0) if tail == count else finishes[tail]
            self._no_later(before, begins[head], way, literal)
            if course.wait is not None:
                self._no_later(begins[head], before, -way - course.wait, literal)
        return self._finish(literals, ways, finishes, (max(low, course.earliest), min(high, course.latest)))

    def _finish(
        self,
        literals: Mapping[tuple[int, int], int],
        ways: Mapping[tuple[int, int], int],
        finishes: list[Expression],
        limits: tuple[int, int],
    ) -> Expression:
        """When the route ends. A solution may end later than the order must, but never earlier: ends have factors by
        which less is never worse, so a best solution ends at the least, and what holds of it holds of the least.
        """
        count, course = len(self.rows), self.course
        reached: dict[int, Expression] = {}
        for (tail, head), way in ways.items():
            if head != count + 1:
                continue
            literal = literals[tail, head]
            if tail == count and course.begins is None:
                reached[literal] = ({}, limits[0])  # it starts whenever it pleases, so it ends at the earliest
                continue
            before: Expression = ({}, course.begins or 0) if tail == count else finishes[tail]
            reached[literal] = before[0], before[1] + way
        fixed: Expression = ({}, limits[0])
        for literal, (terms, constant) in reached.items():
            self._no_later((terms, constant), ({}, limits[1]), 0, literal)
            self._no_later(fixed, (terms, constant), 0, literal)
        if not self.ends:
            return {}, 0
        if not any(terms for terms, _ in reached.values()):
            return {literal: constant for literal, (_, constant) in reached.items()}, 0
        end = self._time(*limits)
        for literal, time in reached.items():
            self._no_later(time, end, 0, literal)
        return end

    def _time(self, low: int, high: int) -> Expression:
        """A point in time; where there is only one, or none (then no arc leads there), no variable."""
        return ({self.maker.variable(0, high - low): 1}, low) if low < high else ({}, low)

    def _no_later(self, first: Expression, second: Expression, gap: int, under: int | None = None) -> None:
        """`first + gap <= second`."""
        terms = dict(first[0])
        for variable, factor in second[0].items():
            terms[variable] = terms.get(variable, 0) - factor
        self.maker.require(terms, first[1] + gap - second[1], under)
