"""What makes a choice a route, as integers: windows, lengths of visits, and the way from each row to each other."""

from __future__ import annotations

from collections.abc import Callable, Sequence

import numpy as np

from ...datasets.opening import Dataset
from ...schemas import expression as ex
from ...schemas.errors import OverflowRisk, TableError
from ...schemas.expression import Expr
from ...schemas.several import Route
from ...schemas.syntax import ExpressionText, Span
from ...schemas.units import Type
from ...schemas.world import World
from ..lowering.values import Evaluator, Values, integers
from ..model import Bools, Ints
from .model import EARLY, LATE, MOST_TIME, NEVER, Course

_NOWHERE = Span(0, 0)
_TEXT = ExpressionText("")
Place = int | str | None
Evaluate = Callable[[Expr], Values]


def visitable(route: Route, evaluate: Evaluate, size: int) -> Bools:
    """The rows that can be visited, `bool[size]`: time and place are known, and no visit takes less than no time."""
    good = np.ones(size, np.bool_)
    needed = (route.origin, route.destination, route.opens, route.closes, route.lasts)
    for expr in needed:
        values = evaluate(expr) if expr is not None else None
        if values is not None and values.null is not None:
            good &= ~values.null
    lasts = evaluate(route.lasts)
    return good & (lasts.data >= 0 if lasts.null is None else (lasts.data >= 0) | lasts.null)


def course_of(route: Route, rows: Ints, evaluate: Evaluate, world: World, dataset: Dataset) -> Course:
    """The course of some rows that can be visited. Raises TableError for ways that take less than no time, and
    OverflowRisk for times beyond 2^48, or a route that may take longer than that.
    """

    def times(expr: Expr | None, otherwise: int) -> Ints:
        if expr is None:
            return np.full(len(rows), otherwise, np.int64)
        found: Ints = evaluate(expr).data[rows]
        _within([int(found.min()), int(found.max())] if len(found) else ())
        return found

    def condition(expr: Expr | None) -> Bools:
        return np.ones(len(rows), np.bool_) if expr is None else evaluate(expr).true()[rows]

    _within([moment for moment in (route.start_time, route.end_from, route.end_by) if moment is not None])
    ways = _Ways(route, world, dataset)
    origins, destinations = (ways.places(expr, rows, evaluate) for expr in (route.origin, route.destination))
    start, end = route.start_place, route.end_place
    anywhere = np.zeros(len(rows), np.int64)
    both = start is not None and end is not None
    course = Course(
        opens=times(route.opens, EARLY),
        closes=times(route.closes, LATE),
        lasts=times(route.lasts, 0),
        longer=route.longer,
        travel=ways.between(destinations, origins),
        leave=ways.between([start], origins)[0] if start is not None else anywhere,
        back=ways.between(destinations, [end])[:, 0] if end is not None else anywhere,
        direct=int(ways.between([start], [end])[0, 0]) if both else 0,
        begins=route.start_time,
        earliest=EARLY if route.end_from is None else route.end_from,
        latest=LATE if route.end_by is None else route.end_by,
        wait=route.wait,
        first=condition(route.first),
        last=condition(route.last),
    )
    longest = max((int(way.max()) for way in (course.travel, course.leave, course.back) if way.size), default=0)
    _within([sum(course.lasts.tolist()) + (len(rows) + 1) * (longest + (route.wait or 0))])
    return course


def _within(times: Sequence[int]) -> None:
    if any(abs(time) > MOST_TIME for time in times):
        raise OverflowRisk("a time on a route, or all it may take, lies beyond 2^48")


class _Ways:
    """How long it takes from place to place."""

    def __init__(self, route: Route, world: World, dataset: Dataset) -> None:
        self.route, self.world, self.dataset = route, world, dataset

    def places(self, expr: Expr | None, rows: Ints, evaluate: Evaluate) -> list[Place]:
        """Where the rows begin or end; None for all when the route does not say."""
        if expr is None:
            return [None] * len(rows)
        found = evaluate(expr)
        items: list[int | str] = found.data[rows].tolist()
        return [found.words[int(item)] for item in items] if found.words is not None else list(items)

    def between(self, left: Sequence[Place], right: Sequence[Place]) -> Ints:
        """The time from each place on the left to each on the right, NEVER where there is no way: int64[n, m]."""
        relation = self.route.travel
        if relation is None or not left or not right:
            return np.zeros((len(left), len(right)), np.int64)
        known = list(dict.fromkeys([*left, *right]))
        number = {place: code for code, place in enumerate(known)}
        size = len(known)
        signature = self.world.relations[relation].signature
        args = tuple(ex.Column("", name, kind, _NOWHERE) for name, kind in zip("ab", signature.args, strict=True))
        first, second = np.divmod(np.arange(size * size), size)
        sides = {
            id(arg): self._values(known, arg.type).take(codes) for arg, codes in zip(args, (first, second), strict=True)
        }
        evaluator = Evaluator(size * size, lambda node: sides[id(node)], self.dataset, self.world, _TEXT, sides)
        found = evaluator.values(ex.Relation(relation, args, signature.result, _NOWHERE))
        if signature.result.kind == "bool":
            ways = np.where(found.data, 0, NEVER).astype(np.int64)
        else:
            absent = np.zeros(size * size, np.bool_) if found.null is None else found.null
            self._checked(relation, found.data[~absent])
            ways = np.where(absent, NEVER, found.data)
        ways = ways.reshape(size, size)
        np.fill_diagonal(ways, 0)
        picked: Ints = ways[np.ix_([number[place] for place in left], [number[place] for place in right])]
        return picked

    def _checked(self, relation: str, ways: Ints) -> None:
        if len(ways) and int(ways.min()) < 0:
            raise TableError(f"'{relation}' says that a way takes {int(ways.min())}, less than no time")
        if len(ways) and int(ways.max()) > MOST_TIME:
            raise OverflowRisk(f"'{relation}' says that a way takes {int(ways.max())}, beyond 2^48")

    @staticmethod
    def _values(places: Sequence[Place], kind: Type) -> Values:
        if kind.kind == "string":
            return Values(np.arange(len(places)), None, tuple(str(place) for place in places))
        return integers(np.array(places, np.int64))
