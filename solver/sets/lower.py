"""From a problem with sets, routes, or sums under `or` and `not` to a model of plain integers (see model.py)."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import dataclass, replace

import numpy as np

from ...datasets.opening import Dataset
from ...schemas.errors import ExpressionError, Where
from ...schemas.plan import Pick, Plan
from ...schemas.problem import Problem
from ...schemas.several import Several
from ...schemas.syntax import ExpressionText
from ...schemas.units import format_moment
from ..lowering.choices import offered
from ..lowering.offers import Offers
from ..lowering.values import Values
from ..model import Ints
from .courses import course_of, visitable
from .formulas import Translation
from .model import Part, Picked, SetModel
from .pool import Pool
from .route import times
from .setting import Setting

MAX_VISITS = 4_096  # rows of a route: it has a number for each pair of them


@dataclass(frozen=True, slots=True)
class LoweredSets:
    """The model, the offers of each choice in file order, and which of them the rows of each part are."""

    problem: Problem
    model: SetModel
    offers: tuple[Offers, ...]
    places: tuple[Ints, ...]

    def plan(self, picked: Picked) -> Plan:
        """The plan in ids; on routes with the times of the canonical plan."""
        picks: dict[str, tuple[Pick, ...]] = dict.fromkeys(self.model.choices, ())
        for part, places, rows in zip(self.model.parts, self.places, picked, strict=True):
            offers = self.offers[part.choice]
            ids = offers.ids(places[list(rows)].tolist()) if rows else []
            found = [Pick(id=offer) for offer in ids]
            route = self.problem.sets[offers.choice].route if part.course is not None else None
            if part.course is not None and route is not None and not route.adrift:
                axis = route.axis
                found = [
                    Pick(id=offer, start=format_moment(begin, axis), end=format_moment(end, axis))
                    for offer, (begin, end) in zip(ids, times(part.course, rows), strict=True)
                ]
            picks[offers.choice] = (*picks[offers.choice], *found)
        return Plan(picks=picks)


def lower(problem: Problem, dataset: Dataset, within: Mapping[str, Sequence[str]] | None = None) -> LoweredSets:
    """The model of a problem. `within` keeps only the offers with the given ids, per choice.

    Raises TableError for data that does not fit, ExpressionError for what no model can hold, OverflowRisk for ranges.
    """
    offers = offered(problem, dataset, within)
    parts: list[Part] = []
    places: list[Ints] = []
    where: list[list[tuple[int, Ints]]] = []
    tours: dict[str, int] = {}
    setting = Setting(problem, dataset, offers, Pool((), ()), tours)
    for number, offer in enumerate(offers):
        where.append([])
        for part, rows in _parts(setting, number, problem.sets.get(offer.choice)):
            if part.course is not None:
                tours[offer.choice] = len(parts)
            where[-1].append((len(parts), rows))
            parts.append(part)
            places.append(rows)
    pool = setting.pool = Pool(parts, where)
    formulas = tuple(Translation(setting, item.text).true(item.condition) for item in problem.constraints)
    goal = problem.objective
    objective = Translation(setting, goal.text).objective(goal.expr, -1 if goal.maximize else 1)
    model = SetModel(
        tuple(item.name for item in problem.constraints),
        tuple(problem.choices),
        pool.parts,
        tuple(pool.quantities),
        tuple(pool.flags),
        formulas,
        objective,
        goal.maximize,
    )
    return LoweredSets(problem, model, tuple(offers), tuple(places))


def _parts(setting: Setting, number: int, several: Several | None) -> list[tuple[Part, Ints]]:
    """The parts of a choice, and which offers their rows are: ascending by id."""
    offer = setting.offers[number]
    names = [name.encode() for name in offer.ids(range(len(offer.rows)))]
    order = np.array(sorted(range(len(names)), key=names.__getitem__), np.int64)
    if several is None:
        return [(Part(number, offer.rows[order], 1, 1), order)]
    if several.route is not None:
        return [_route(setting, number, several, order)]
    groups = [order]
    if several.per is not None:
        every = offer.table.column(several.per).take(Offers.all(offer.choice, offer.table).rows)
        groups = [order[mine[order]] for mine in _groups(setting.column(number, several.per), every)]
    return [(_part(offer, number, several, rows), rows) for rows in groups]


def _groups(values: Values, every: Values) -> list[np.ndarray]:
    """For each known value of `every` offer, ascending, which rows have it: none where `within` leaves none."""
    known = np.ones(len(values.data), np.bool_) if values.null is None else ~values.null
    distinct: list[int] = np.unique(every.data if every.null is None else every.data[~every.null]).tolist()
    if values.words is not None:
        words = values.words
        distinct.sort(key=lambda code: words[code].encode())
    return [known & (values.data == value) for value in distinct]


def _part(offer: Offers, number: int, several: Several, rows: Ints) -> Part:
    most = len(rows) if several.at_most is None else min(several.at_most, len(rows))
    return Part(number, offer.rows[rows], several.at_least, most)


def _route(setting: Setting, number: int, several: Several, order: Ints) -> tuple[Part, Ints]:
    offer, route, problem = setting.offers[number], several.route, setting.problem
    if route is None:
        raise ValueError("no route")

    def evaluate(expr: object) -> Values:
        return setting.evaluate(expr, number, ExpressionText(""))  # type: ignore[arg-type]

    rows = order[visitable(route, evaluate, len(order))[order]]
    if len(rows) > MAX_VISITS:
        raise ExpressionError(
            f"not supported, because the route '{offer.choice}' has {len(rows)} rows that can be visited",
            where=Where(problem.id),
            hint=f"at most {MAX_VISITS}; choose fewer with where",
        )
    course = course_of(route, rows, evaluate, problem.world, setting.dataset)
    return replace(_part(offer, number, several, rows), course=course), rows
