"""Picks of several rows, judged one clause at a time: numbers of rows, and routes against their stated times.

Below `check.py`, which knows the tables: here rows are numbers, and expressions over them are functions. A route
without times is followed with the interval of the times that are possible after each visit.
"""

from __future__ import annotations

from collections.abc import Callable, Iterator, Mapping, Sequence
from dataclasses import dataclass
from itertools import pairwise
from typing import Any

from ...schemas.canonical import wide
from ...schemas.errors import TableError
from ...schemas.expression import Column, Expr, walk
from ...schemas.plan import Pick
from ...schemas.several import Route, Several
from ...schemas.syntax import Span
from ...schemas.units import COUNT, format_moment, format_value, parse_moment
from ...schemas.verdict import Violation

RowValue = Callable[[Any], int | str | None]  # of a row number
Look = Callable[[Expr], RowValue]
Facts = Mapping[str, Mapping[tuple[int | str | None, ...], int | str | None]]
Groups = Callable[[str], Sequence[int | str]]  # of a column: its values in the rows that can be picked

EARLY, LATE = -(2**100), 2**100  # in place of points in time that nothing bounds: Parquet holds none near them


def aggregate(function: str, values: Sequence[int | str | None]) -> int | str | None:
    """What `ex.Each` makes of the values of its body in the rows that count."""
    if function == "count":
        return sum(value is True for value in values)
    if function in ("all", "any"):
        decisive = function == "any"
        if any(value is decisive for value in values):
            return decisive
        return None if None in values else not decisive
    if None in values:
        return None
    if function == "distinct":
        return len(set(values))
    known: Any = values
    if function == "sum":
        return sum(known)
    return (max if function == "max" else min)(known, default=None)


Window = tuple[int, int]  # least and greatest time


@dataclass(frozen=True, slots=True)
class Stop:
    """What a visit to a row asks for; `first` and `last` say whether it may be visited then."""

    origin: int | str | None
    destination: int | str | None
    opens: int
    closes: int
    lasts: int
    first: bool
    last: bool


@dataclass(frozen=True, slots=True)
class Judged:
    """What is wrong with the picks of one choice, and what a route has: `ends`, `takes`, `travel`, None if unknown."""

    violations: tuple[Violation, ...]
    tour: Mapping[str, int | None]


@dataclass(frozen=True, slots=True)
class Followed:
    """The times that an order of visits leaves possible: least beginnings and ends, and the least end of the route.

    If none fit, `stuck` is the visit (or the number of visits: the end) that comes too late, by `late`.
    """

    begins: tuple[int, ...]
    ends: tuple[int, ...]
    least: int
    stuck: int | None
    late: int


Times = tuple[tuple[int, int], ...]  # begin and end of each visit


class Course:
    """A route as functions of rows: what a visit asks for, the ways between, and the times that fit."""

    def __init__(self, route: Route, look: Look, facts: Facts) -> None:
        self.route = route
        asked = (route.origin, route.destination, route.opens, route.closes, route.lasts, route.first, route.last)
        self._asked = [None if expr is None else look(expr) for expr in asked]
        self._same = route.origin == route.destination
        self._facts = facts[route.travel] if route.travel is not None else None
        self._stops: dict[int, Stop | str] = {}

    def stop(self, row: int) -> Stop | str:
        """What a visit to the row asks for; or in words why it cannot be visited."""
        if row not in self._stops:
            self._stops[row] = self._stop(row)
        return self._stops[row]

    def _stop(self, row: int) -> Stop | str:
        values: list[Any] = [None if function is None else function(row) for function in self._asked]
        words = ("where it begins", "where it ends", "when it opens", "when it closes", "how long it lasts")
        if self._same:
            words = ("where it takes place", *words[1:])
        for word, function, value in zip(words, self._asked[:5], values[:5], strict=True):
            if function is not None and value is None:
                return f"{word} is unknown"
        origin, destination, opens, closes, lasts, first, last = values
        if lasts < 0:
            return f"it lasts {lasts}, less than no time"
        opens, closes = EARLY if opens is None else opens, LATE if closes is None else closes
        first, last = self._asked[5] is None or first is True, self._asked[6] is None or last is True
        return Stop(origin, destination, opens, closes, lasts, first, last)

    def way(self, here: int | str | None, there: int | str | None) -> int | None:
        """How long it takes from place to place; None without a way. It is no way off from nowhere in particular."""
        if self._facts is None or here is None or there is None or here == there:
            return 0
        found = self._facts.get((here, there))
        if found is None or found is False:
            return None
        length = 0 if found is True else int(found)
        if length < 0:
            raise TableError(f"the way from {here!r} to {there!r} takes less than no time")
        return length

    def ways(self, stops: Sequence[Stop]) -> list[int | None]:
        """The ways from the start over the visits to the end: one more than visits."""
        places = [(self.route.start_place, self.route.start_place)]
        places += [(stop.origin, stop.destination) for stop in stops]
        places += [(self.route.end_place, self.route.end_place)]
        return [self.way(here[1], there[0]) for here, there in pairwise(places)]

    def setting_out(self) -> Window:
        """When the route can set out."""
        return (EARLY, LATE) if self.route.start_time is None else (self.route.start_time, self.route.start_time)

    def visit(self, window: Window, way: int, stop: Stop, at: int) -> tuple[Window, Window]:
        """When visit number `at` can begin and when it can end, if the one before can end, or the route set out, in
        `window`. No time fits if the least beginning is after the greatest.
        """
        route, (low, high) = self.route, window
        low, latest = max(low + way, stop.opens), stop.closes - stop.lasts
        if route.wait is not None and (at > 0 or route.start_time is not None):
            latest = min(high + way + route.wait, latest)
        return (low, latest), (low + stop.lasts, stop.closes if route.longer else latest + stop.lasts)

    def arrival(self, window: Window, way: int) -> Window:
        """When the route can end, if its last visit can end, or the route without any set out, in `window`."""
        low, high = window[0] + way, window[1] + way
        route = self.route
        least = low if route.end_from is None else max(low, route.end_from)
        return least, high if route.end_by is None else min(high, route.end_by)

    def follow(self, stops: Sequence[Stop], ways: Sequence[int]) -> Followed:
        """The times that fit, visit by visit."""
        begins, ends, window = list[int](), list[int](), self.setting_out()
        for at, (stop, way) in enumerate(zip(stops, ways, strict=False)):
            begin, window = self.visit(window, way, stop, at)
            if begin[0] > begin[1]:
                return Followed(tuple(begins), tuple(ends), 0, at, begin[0] - begin[1])
            begins.append(begin[0])
            ends.append(window[0])
        least, most = self.arrival(window, ways[-1])
        late = max(least - most, 0)
        return Followed(tuple(begins), tuple(ends), least, len(stops) if late else None, late)

    def times(self, rows: Sequence[int]) -> Times:
        """Begin and end of each visit of an order that some times fit: the least end, each visit as early as the one
        after it allows.
        """
        stops = [stop for row in rows if isinstance(stop := self.stop(row), Stop)]
        ways = [way for way in self.ways(stops) if way is not None]
        found, times = self.follow(stops, ways), list[tuple[int, int]]()
        earliest = found.least - ways[-1]  # for the end of the visit at hand
        for at in reversed(range(len(stops))):
            end = max(found.ends[at], earliest)
            begin = found.begins[at] if self.route.longer else end - stops[at].lasts
            times.append((begin, end))
            earliest = EARLY if self.route.wait is None else begin - ways[at] - self.route.wait
        return tuple(reversed(times))


class Judge:
    """Judges what is picked for one choice of several rows."""

    def __init__(self, name: str, spec: Several, look: Look, groups: Groups, facts: Facts) -> None:
        self.name, self.spec, self._groups = name, spec, groups
        self._per = None if spec.per is None else look(Column("", spec.per, COUNT, Span(0, 0)))
        self._look = look
        self.course = None if spec.route is None else Course(spec.route, look, facts)

    def unfit(self, row: int) -> str:
        """Why the row can be in no plan; empty if it can."""
        if self._per is not None and self._per(row) is None:
            return f"its {self.spec.per} is unknown"
        stop = "" if self.course is None else self.course.stop(row)
        return stop if isinstance(stop, str) else ""

    def group(self, row: int) -> Any:
        """The value for which the numbers hold on their own."""
        return 0 if self._per is None else self._per(row)

    def groups(self) -> Sequence[int | str]:
        """All groups that can be picked from."""
        return [0] if self.spec.per is None else self._groups(self.spec.per)

    def judge(self, picks: Sequence[Pick], rows: Sequence[int]) -> Judged:
        """What is wrong with picks whose rows can all be in a plan."""
        found = [*self._twice(picks), *self._number(set(rows))]
        if self.course is None:
            return Judged(tuple(found), {})
        trip = _Trip(self, self.course, picks, rows)
        return Judged((*found, *trip.faults()), trip.tour())

    def fault(self, clause: str, detail: str, amount: int | None = None, unit: str = "") -> Violation:
        """A violation of a clause of this choice."""
        missed = None if amount is None else wide(amount)
        return Violation(constraint=f"{self.name}.{clause}", detail=detail, amount=missed, unit=unit)

    def shown(self, expr: Expr, row: int) -> str:
        """The columns that an expression reads, with their values in a row."""
        columns = {part.column: part for part in walk(expr) if isinstance(part, Column)}
        values = {name: format_value(self._look(part)(row), part.type) for name, part in columns.items()}
        return ", ".join(f"{name} is {value}" for name, value in values.items())

    def _twice(self, picks: Sequence[Pick]) -> Iterator[Violation]:
        ids = [pick.id for pick in picks]
        doubles = [name for name in dict.fromkeys(ids) if ids.count(name) > 1] if len(set(ids)) < len(ids) else []
        if doubles:
            listed = ", ".join(f"'{name}' is picked {ids.count(name)} times" for name in doubles)
            yield self.fault("twice", listed, len(ids) - len(set(ids)))

    def _number(self, rows: set[int]) -> Iterator[Violation]:
        least, most = self.spec.at_least, self.spec.at_most
        counts: dict[Any, int] = dict.fromkeys(self.groups() if least else (), 0)
        for row in rows:
            counts[self.group(row)] = counts.get(self.group(row), 0) + 1
        wrong: list[str] = []
        missed = 0
        for group, number in sorted(counts.items()):
            if least <= number and (most is None or number <= most):
                continue
            many, bound = (number > least, most) if number > least else (False, least)
            place = "" if self.spec.per is None else f" for {self.spec.per} {group}"
            rows_ = f"{number} row is" if number == 1 else f"{number or 'no'} rows are"
            wrong.append(f"{rows_} picked{place}, at {'most' if many else 'least'} {bound} {_may(bound, many)}")
            missed += abs(number - (bound or 0))
        if wrong:
            yield self.fault("number", "; ".join(wrong), missed)


def _may(bound: int | None, many: bool) -> str:
    verb = "is" if bound == 1 else "are"
    return f"{verb} {'possible' if many else 'needed'}"


class _Trip:
    """The picks of a route, in order."""

    def __init__(self, judge: Judge, course: Course, picks: Sequence[Pick], rows: Sequence[int]) -> None:
        self.judge, self.course, self.route, self.rows = judge, course, course.route, rows
        self.names = [pick.id for pick in picks]
        self.stops = [stop for row in rows if isinstance(stop := course.stop(row), Stop)]
        self.ways = course.ways(self.stops)
        self.wrong: list[str] = []  # with how the times are written
        self.times = self._times(picks)
        lengths = [way for way in self.ways if way is not None]
        self.lengths = lengths if len(lengths) == len(self.ways) else None
        self.fit = course.follow(self.stops, self.lengths) if self.lengths is not None and not self.times else None

    def _times(self, picks: Sequence[Pick]) -> list[tuple[int, int]] | None:
        """Begin and end of each visit as stated; None where none are, or something is wrong with them."""
        axis, found = self.route.axis, list[tuple[int, int]]()
        for pick, stop in zip(picks, self.stops, strict=True):
            moments = [None if text is None else parse_moment(text, axis) for text in (pick.start, pick.end)]
            for text, moment in zip((pick.start, pick.end), moments, strict=True):
                if text is not None and moment is None:
                    self.wrong.append(f"'{text}' for '{pick.id}' is not {axis}")
            begin, end = moments
            if begin is not None and (end is not None or pick.end is None):
                found.append((begin, begin + stop.lasts if end is None else end))
        if found and len(found) < len(picks) and not self.wrong:
            self.wrong.append(f"only {len(found)} of {len(picks)} visits have a time")
        elif not found and any(pick.end is not None for pick in picks) and not self.wrong:
            self.wrong.append("a visit has an end and no start")
        return found if found and not self.wrong else None

    def tour(self) -> dict[str, int | None]:
        """What the route has: with its own times, or at its least end."""
        route, ends = self.route, None
        if self.lengths is not None:
            if self.times:
                ends = self.times[-1][1] + self.lengths[-1]
                ends = ends if route.end_from is None else max(ends, route.end_from)
            elif self.fit is not None and self.fit.stuck is None:
                ends = self.fit.least
        takes = None if ends is None or route.start_time is None else ends - route.start_time
        return {"ends": ends, "takes": takes, "travel": None if self.lengths is None else sum(self.lengths)}

    def faults(self) -> Iterator[Violation]:
        """Each clause that the route breaks, once, with the visits that break it."""
        found: dict[str, list[tuple[str, int | None]]] = {}
        for clause, detail, amount in self._broken():
            found.setdefault(clause, []).append((detail, amount))
        for clause, parts in found.items():
            amounts = [amount for _, amount in parts]
            total = sum(amount for amount in amounts if amount is not None) if None not in amounts else None
            unit = self.route.length.unit if total is not None else ""
            yield self.judge.fault(clause, "; ".join(detail for detail, _ in parts), total, unit)

    def _broken(self) -> Iterator[tuple[str, str, int | None]]:
        route, names, stops = self.route, self.names, self.stops
        for at, way in enumerate(self.ways):
            if way is None:
                yield "travel", f"there is no way from {self._from(at)} to {self._to(at)}", None
        if stops and route.first is not None and not stops[0].first:
            yield "first", f"'{names[0]}' cannot be first: {self.judge.shown(route.first, self.rows[0])}", None
        if stops and route.last is not None and not stops[-1].last:
            yield "last", f"'{names[-1]}' cannot be last: {self.judge.shown(route.last, self.rows[-1])}", None
        for sentence in self.wrong:
            yield "times", sentence, None
        if self.times:
            yield from self._late(self.times)
        elif self.fit is not None and self.fit.stuck is not None and not self.wrong:
            at, late = self.fit.stuck, self._length(self.fit.late)
            what = f"'{names[at]}'" if at < len(names) else "the end"
            yield "times", f"no times fit: {what} is missed by {late}", self.fit.late

    def _late(self, times: Sequence[tuple[int, int]]) -> Iterator[tuple[str, str, int | None]]:
        """What is wrong with stated times."""
        route, clock, length = self.route, self._clock, self._length
        before = route.start_time
        for at, ((begin, end), stop, name) in enumerate(zip(times, self.stops, self.names, strict=True)):
            way = self.ways[at]
            if before is not None and way is not None:
                arrival, clause = before + way, "travel" if at else "start"
                if begin < arrival:
                    reached = f"and can be reached at {clock(arrival)} from {self._from(at)}"
                    yield clause, f"'{name}' begins at {clock(begin)} {reached}", arrival - begin
                elif route.wait is not None and begin - arrival > route.wait:
                    waits = f"is reached at {clock(arrival)} and begins at {clock(begin)}"
                    yield "wait", f"'{name}' {waits}, a wait of {length(begin - arrival)}", begin - arrival - route.wait
            if begin < stop.opens:
                yield "opens", f"'{name}' begins at {clock(begin)} and opens at {clock(stop.opens)}", stop.opens - begin
            if end > stop.closes:
                yield "closes", f"'{name}' ends at {clock(end)} and closes at {clock(stop.closes)}", end - stop.closes
            off = stop.lasts - (end - begin)
            if off > 0 or (off and not route.longer):
                needed = f"at least {length(stop.lasts)}" if route.longer else length(stop.lasts)
                yield "lasts", f"'{name}' takes {length(end - begin)}, {needed} is needed", abs(off)
            before = end
        back = self.ways[-1]
        if before is not None and back is not None:
            reached = before + back
            if route.end_by is not None and reached > route.end_by:
                yield "end", self._ending(reached, "by", route.end_by), reached - route.end_by
            if route.end_from is not None and reached < route.end_from:
                yield "end", self._ending(reached, "not before", route.end_from), route.end_from - reached

    def _ending(self, reached: int, word: str, bound: int) -> str:
        where = "" if self.route.end_place is None else f" at {self.route.end_place}"
        return f"the route ends{where} at {self._clock(reached)}, it has to end {word} {self._clock(bound)}"

    def _from(self, at: int) -> str:
        if at:
            place = self.stops[at - 1].destination
            return f"'{self.names[at - 1]}'" + ("" if place is None else f" ({place})")
        return "the start" if self.route.start_place is None else f"the start ({self.route.start_place})"

    def _to(self, at: int) -> str:
        if at < len(self.stops):
            place = self.stops[at].origin
            return f"'{self.names[at]}'" + ("" if place is None else f" ({place})")
        return "the end" if self.route.end_place is None else f"the end ({self.route.end_place})"

    def _clock(self, moment: int) -> str:
        return str(format_moment(moment, self.route.axis))

    def _length(self, length: int) -> str:
        return format_value(length, self.route.length)
