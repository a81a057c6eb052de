"""What can be picked for a choice of several rows, counted by what the rest of the task reads of it.

Sets are folded row by row over the values of their aggregates; orders on a route are followed visit by visit, together
where they have visited the same rows and leave the same times. `recompute.py` joins what is found here with the rest.
"""

from __future__ import annotations

import operator
from collections.abc import Callable, Collection, Iterable, Sequence
from typing import Any, Protocol

from ...schemas import expression as ex
from ...schemas.expression import Expr, walk
from ...schemas.plan import Pick
from ...schemas.problem import Problem, structure
from ...schemas.units import format_moment
from .check import Data, Function, Plans, Value, compiled, plans_of
from .several import Course, Judge, Stop, Window, aggregate

# Places in the list of rows: as plans list them, END after each group of a set, so that lists compare group by group
# and one that begins another comes first; or of visits in their order.
Order = tuple[int, ...]
END = -1
Kinds = dict[tuple[Value, ...], tuple[int, Order]]  # by values read: how many picks have them, and the first of these


class Steps(Protocol):
    """Counts work down, and raises an exception of its own when there is too much."""

    def take(self, steps: int) -> None:
        """Counts steps before they are done."""


def several_rows(problem: Problem, data: Data, choice: str, rows: Iterable[int]) -> list[int]:
    """Those of the rows that can be in a plan, in the order in which canonical plans list them."""
    judge, table = plans_of(problem, data).judges[choice], problem.choices[choice]
    fit = [row for row in rows if not judge.unfit(row)]
    ids = dict(zip(fit, data.ids(table, fit), strict=True))
    return sorted(fit, key=lambda row: (judge.group(row), ids[row]))


def kinds(problem: Problem, data: Data, choice: str, rows: Sequence[int], reads: Sequence[Expr], work: Steps) -> Kinds:
    """All picks for a choice by the values of expressions that read no other choice, and how many picks have them.

    Picks that break a number or that no times fit are none. Takes time linear in rows times states, for routes in
    states times rows, where a state is what was visited, where that ended and when it could.
    """
    plans = plans_of(problem, data)
    judge = plans.judges[choice]
    if judge.course is not None:
        return _orders(plans, judge, judge.course, rows, reads, work)
    each: dict[Any, ex.Each] = {}
    for expr in reads:
        each.update((structure(part), part) for part in walk(expr) if isinstance(part, ex.Each))
    places = {key: at for at, key in enumerate(each)}
    folds = [_Fold(part, data, problem.choices[choice]) for part in each.values()]

    def leaf(part: Expr) -> Function:
        return operator.itemgetter(places[structure(part)])

    results = [compiled(expr, leaf, data.facts) for expr in reads]
    found: Kinds = {}
    for state, (number, least) in _subsets(judge, rows, folds, work).items():
        values = tuple([fold.value(part) for fold, part in zip(folds, state, strict=True)])
        _add(found, tuple([result(values) for result in results]), number, least)
    return found


def timed_picks(problem: Problem, data: Data, choice: str, ids: Sequence[str], rows: Sequence[int]) -> tuple[Pick, ...]:
    """The picks of these rows as canonical plans write them: on a route with their times."""
    course = plans_of(problem, data).judges[choice].course
    if course is None:
        return tuple(Pick(id=id_) for id_ in ids)
    axis = course.route.axis
    return tuple(
        Pick(id=id_, start=format_moment(begin, axis), end=format_moment(end, axis))
        for id_, (begin, end) in zip(ids, course.times(rows), strict=True)
    )


def _add(found: dict[Any, tuple[int, Order]], key: Any, number: int, order: Order) -> None:
    if key in found:
        before, least = found[key]
        found[key] = before + number, min(least, order)
    else:
        found[key] = number, order


_UNKNOWN = "unknown"  # in a state: some row made the aggregate unknown for good


class _Fold:
    """One aggregate over the rows of a set, one row after another."""

    def __init__(self, each: ex.Each, data: Data, table: str) -> None:
        self._function = each.function
        self._counts, self._body = data.function(table, each.condition), data.function(table, each.body)
        self.start: Any = frozenset[Value]() if each.function == "distinct" else 0 if self._adds else ()

    @property
    def _adds(self) -> bool:
        return self._function in ("sum", "count")

    def step(self, row: int) -> Callable[[Any], Any]:
        """What the row makes of a state."""
        if self._counts(row) is not True:
            return lambda state: state
        value: Any = self._body(row)
        if self._function == "count":
            return lambda state: state + (value is True)
        if self._function in ("all", "any"):
            return lambda state: (aggregate(self._function, (*state, value)),)
        if value is None:
            return lambda _: _UNKNOWN
        if self._function == "sum":
            return lambda state: state if state == _UNKNOWN else state + value
        if self._function == "distinct":
            return lambda state: state if state == _UNKNOWN else state | {value}
        best = max if self._function == "max" else min
        return lambda state: state if state == _UNKNOWN else (best((*state, value)),)

    def value(self, state: Any) -> Value:
        """The value of the aggregate at the end."""
        if state == _UNKNOWN:
            return None
        return state if self._adds else len(state) if self._function == "distinct" else self._last(state)

    def _last(self, state: tuple[Value, ...]) -> Value:
        return state[0] if state else aggregate(self._function, ())


def _subsets(judge: Judge, rows: Sequence[int], folds: Sequence[_Fold], work: Steps) -> dict[Any, tuple[int, Order]]:
    """All subsets whose numbers are right, by the states of the folds.

    From the last row to the first: of two lists the lesser stays so when the same row is put before both.
    """
    least, most = judge.spec.at_least, judge.spec.at_most
    states: dict[Any, tuple[int, Order]] = {tuple(fold.start for fold in folds): (1, ())}
    members: dict[Any, list[int]] = {group: [] for group in judge.groups()} if least else {}
    for at, row in enumerate(rows):
        members.setdefault(judge.group(row), []).append(at)
    for group in sorted(members, reverse=True):
        counted: dict[Any, tuple[int, Order]] = {
            (0, state): (times, (END, *order)) for state, (times, order) in states.items()
        }
        for at in reversed(members[group]):
            steps = [fold.step(rows[at]) for fold in folds]
            work.take(len(counted))
            for (number, state), (times, order) in list(counted.items()):
                if most is None or number < most:
                    taken = tuple([step(part) for step, part in zip(steps, state, strict=True)])
                    _add(counted, (number + 1, taken), times, (at, *order))
        states = {}
        for (number, state), (times, order) in counted.items():
            if number >= least:
                _add(states, state, times, order)
    return states


def _orders(
    plans: Plans, judge: Judge, course: Course, rows: Sequence[int], reads: Sequence[Expr], work: Steps
) -> Kinds:
    """All orders that some times fit, by the values that are read of them."""
    data, choice, route = plans.data, judge.name, course.route
    tours = {part.quantity for expr in reads for part in walk(expr) if isinstance(part, ex.Tour)}
    results = [compiled(expr, plans.leaf, data.facts) for expr in reads]
    found: Kinds = {}
    for (visited, ends, travel), (number, order) in _tours(judge, course, rows, tours, work).items():
        state = {
            choice: [row for at, row in enumerate(rows) if visited >> at & 1],
            (choice, "ends"): ends,
            (choice, "takes"): ends - (route.start_time or 0),
            (choice, "travel"): travel,
        }
        _add(found, tuple([result(state) for result in results]), number, order)
    return found


_State = tuple[int, int, Window, int]  # the places visited as bits, the last of them, when that may end, travel so far


def _tours(
    judge: Judge, course: Course, rows: Sequence[int], reads: Collection[str], work: Steps
) -> dict[tuple[int, int, int], tuple[int, Order]]:
    """All orders by what they visit, their least end and their travel, each 0 if `reads` does not have it.

    Of two orders that have visited the same rows the lesser stays so when the same visits follow.
    """
    stops = [stop for row in rows if isinstance(stop := course.stop(row), Stop)]
    start, end = course.route.start_place, course.route.end_place
    least, most = judge.spec.at_least, judge.spec.at_most
    most = len(rows) if most is None else min(most, len(rows))
    found: dict[tuple[int, int, int], tuple[int, Order]] = {}
    layer: dict[_State, tuple[int, Order]] = {(0, -1, course.setting_out(), 0): (1, ())}
    for number in range(most + 1):
        longer: dict[_State, tuple[int, Order]] = {}
        for (visited, last, window, travel), (times, order) in layer.items():
            work.take(1 + len(rows))
            place = stops[last].destination if order else start
            back = course.way(place, end)
            if number >= least and back is not None and (not order or stops[last].last):
                low, high = course.arrival(window, back)
                if low <= high:
                    total = travel + back if "travel" in reads else 0
                    _add(found, (visited, low if {"ends", "takes"} & set(reads) else 0, total), times, order)
            for at, stop in enumerate(stops) if number < most else ():
                way = course.way(place, stop.origin)
                if visited >> at & 1 or way is None or not (order or stop.first):
                    continue
                begin, after = course.visit(window, way, stop, number)
                if begin[0] <= begin[1]:
                    total = travel + way if "travel" in reads else 0
                    _add(longer, (visited | 1 << at, at, after, total), times, (*order, at))
        layer = longer
    return found
