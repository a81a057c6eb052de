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

Order = tuple[int, ...]  # places in the list of rows: as plans list them, or of visits in their order
_A_STATE = 4  # steps to make a state of a set, about as many as take as long elsewhere
Kinds = dict[tuple[Value, ...], tuple[int, Order]]  # by values read: how many picks have them, and the first of these


class Steps(Protocol):
    """Counts work down, and raises an exception of its own when there is too much."""

    def take(self, steps: int) -> None:
        """Counts steps before they are done."""


def several_rows(problem: Problem, data: Data, choice: str, rows: Iterable[int]) -> list[int]:
    """Those of the rows that can be in a plan, by id, and with `per` from the last group to the first.

    So lists of places compare as canonical plans do: a list that has no more of a group goes on in a later one, or
    ends, and comes before one that has.
    """
    judge, table = plans_of(problem, data).judges[choice], problem.choices[choice]
    fit = [row for row in rows if not judge.unfit(row)]
    ids = dict(zip(fit, data.ids(table, fit), strict=True))
    return sorted(sorted(fit, key=ids.__getitem__), key=judge.group, reverse=True)


def kinds(
    problem: Problem,
    data: Data,
    choice: str,
    rows: Sequence[int],
    reads: Sequence[Expr],
    work: Steps,
    must: Sequence[Expr] = (),
) -> Kinds:
    """All picks for a choice by the values of expressions that read no other choice, and how many picks have them.

    Picks that break a number or that no times fit are none; those that break a condition of `must` may be left out.
    Takes time linear in rows times states, for routes in states times rows, where a state is what was visited, where
    that ended and when it could.
    """
    plans = plans_of(problem, data)
    judge = plans.judges[choice]
    if judge.course is not None:
        return _orders(plans, judge, judge.course, rows, reads, work)
    each: dict[Any, ex.Each] = {}
    for expr in reads:
        each.update((structure(part), part) for part in walk(expr) if isinstance(part, ex.Each))
    places = {key: at for at, key in enumerate(each)}
    caps = dict(cap for atom in must if (cap := _cap(atom)) is not None)
    folds = [_Fold(part, data, problem.choices[choice], rows, caps.get(key)) for key, part in each.items()]

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
    if course is None or course.route.adrift:
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
    """One aggregate over the rows of a set, some rows that look alike after others."""

    def __init__(self, each: ex.Each, data: Data, table: str, rows: Iterable[int], cap: int | None) -> None:
        self._function = each.function
        self._counts, self._body = data.function(table, each.condition), data.function(table, each.body)
        self.start: Any = frozenset[Value]() if each.function == "distinct" else 0 if self._adds else ()
        looks: Any = [value for row in rows for value in self.look(row)] if cap is not None and self._adds else ()
        self.cap = None if any(value is not None and value < 0 for value in looks) else cap

    @property
    def _adds(self) -> bool:
        return self._function in ("sum", "count")

    def look(self, row: int) -> tuple[Value, ...]:
        """All that the aggregate sees of the row: nothing, or a value."""
        if self._counts(row) is not True:
            return ()
        value = self._body(row)
        return () if self._function == "count" and value is not True else (value,)

    def step(self, look: tuple[Value, ...]) -> Callable[[Any, int], Any]:
        """What so many rows, at least one, that look so make of a state."""
        if not look:
            return lambda state, _: state
        value: Any = look[0]
        if self._function == "count":
            return lambda state, times: state + times
        if self._function in ("all", "any"):
            so_far: tuple[tuple[Value, ...], ...] = ((), (True,), (False,), (None,))
            after = {state: (aggregate(self._function, (*state, value)),) for state in so_far}
            return lambda state, _: after[state]
        if value is None:
            return lambda _, __: _UNKNOWN
        if self._function == "sum":
            return lambda state, times: state if state == _UNKNOWN else state + times * value
        if self._function == "distinct":
            return lambda state, _: state if state == _UNKNOWN else state | {value}
        best = max if self._function == "max" else min
        return lambda state, _: state if state == _UNKNOWN else (best((*state, value)),)

    def over(self, state: Any) -> bool:
        """Whether no more rows bring the aggregate to its cap or below: it is above, or unknown, and stays so."""
        if self.cap is None:
            return False
        value: Any = self.value(state)
        return value is None or value > self.cap

    def value(self, state: Any) -> Value:
        """The value of the aggregate at the end."""
        if state == _UNKNOWN:
            return None
        return state if self._adds else len(state) if self._function == "distinct" else self._last(state)

    def _last(self, state: tuple[Value, ...]) -> Value:
        return state[0] if state else aggregate(self._function, ())


def _cap(atom: Expr) -> tuple[Any, int] | None:
    """The aggregate that a condition bounds from above by a constant, by its structure, and the bound."""
    if not isinstance(atom, ex.Compare):
        return None
    for side, other, ops in ((atom.left, atom.right, ("<", "<=", "==")), (atom.right, atom.left, (">", ">=", "=="))):
        rises = isinstance(side, ex.Each) and side.function in ("sum", "count", "distinct")
        if rises and isinstance(other, ex.Literal) and isinstance(other.value, int) and atom.op in ops:
            return structure(side), other.value
    return None


_Bits = int  # picks of a set: of rows that plans list one after the other, the first has the highest bit


def _subsets(judge: Judge, rows: Sequence[int], folds: Sequence[_Fold], work: Steps) -> dict[Any, tuple[int, Order]]:
    """All subsets whose numbers are right, by the states of the folds.

    Rows of a group that look alike to all folds are taken together: of as many of them the first are the least pick.
    Of two picks that have equally many rows of a group the lesser stays so when the same rows join both.
    """
    least, most = judge.spec.at_least, judge.spec.at_most
    groups: dict[Any, list[int]] = {group: [] for group in judge.groups()} if least else {}
    for at, row in enumerate(rows):
        groups.setdefault(judge.group(row), []).append(at)
    listed = [at for group in sorted(groups) for at in groups[group]]
    bits = {at: len(rows) - 1 - number for number, at in enumerate(listed)}
    lowest = {bits[at]: bits[members[-1]] for members in groups.values() for at in members}  # of its group

    def first(one: _Bits, other: _Bits) -> _Bits:
        """The lesser of two picks: where one goes on in a group, it is the other if that has no more of the group."""
        top = (one ^ other).bit_length() - 1
        if top < 0:
            return one
        one, other = (one, other) if one >> top & 1 else (other, one)
        return one if (other & (1 << top) - 1) >> lowest[top] else other

    def add(found: dict[Any, tuple[int, _Bits]], key: Any, number: int, picks: _Bits) -> None:
        before = found.get(key)
        found[key] = (number, picks) if before is None else (before[0] + number, first(before[1], picks))

    capped = [at for at, fold in enumerate(folds) if fold.cap is not None]
    states: dict[Any, tuple[int, _Bits]] = {tuple([fold.start for fold in folds]): (1, 0)}
    for members in groups.values():
        alike: dict[tuple[tuple[Value, ...], ...], list[int]] = {}
        for at in members:
            alike.setdefault(tuple([fold.look(rows[at]) for fold in folds]), []).append(bits[at])
        counted = {(0, state): weight for state, weight in states.items()}
        for looks, same in alike.items():
            steps = [fold.step(look) for fold, look in zip(folds, looks, strict=True)]
            firsts = _firsts(same, most)
            work.take(len(counted))
            for (number, state), (ways, picks) in list(counted.items()):
                for taken, (times, some) in enumerate(firsts if most is None else firsts[: most - number], 1):
                    work.take(_A_STATE)
                    after = tuple([step(part, taken) for step, part in zip(steps, state, strict=True)])
                    if any(folds[at].over(after[at]) for at in capped):
                        break
                    add(counted, (number + taken, after), ways * times, picks | some)
        states = {}
        work.take(len(counted))
        for (number, state), (ways, picks) in counted.items():
            if number >= least:
                add(states, state, ways, picks)
    work.take(len(states) * len(rows))
    return {
        state: (ways, tuple([at for at in listed if picks >> bits[at] & 1])) for state, (ways, picks) in states.items()
    }


def _firsts(same: Sequence[int], most: int | None) -> list[tuple[int, _Bits]]:
    """How many ways there are to pick 1, 2, ... of rows that look alike, up to `most`, and the first pick of each."""
    found, ways, picks = list[tuple[int, _Bits]](), 1, 0
    for taken, bit in enumerate(same[:most], 1):
        ways, picks = ways * (len(same) - taken + 1) // taken, picks | 1 << bit
        found.append((ways, picks))
    return found


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
