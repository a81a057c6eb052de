"""The truth about small tasks with sets and routes, by trying every subset and every order: goes with `oracle.py`.

Aggregates are worked out row by row and put into the expression as names, so `oracle.value` does the rest. On a route
the possible times are kept as plain sets of integers. Points in time are whole numbers here, or texts `HH:MM`; whatever
is not said of them lies within HORIZON, which test data must stay well inside.
"""

from __future__ import annotations

import itertools
from collections import Counter
from collections.abc import Collection, Iterator, Mapping, Sequence
from dataclasses import dataclass, replace
from fractions import Fraction
from pathlib import Path
from typing import Any

from cobench.schemas.choice import ChoiceSpec, Least, Ways
from cobench.schemas.manifest import Manifest
from cobench.schemas.syntax import ExpressionText, Syntax, parse
from cobench.schemas.task import TaskFile, parse_task

from .oracle import Data, Names, Row, UnknownObjectiveError, Value, read_data, value

HORIZON = range(-200, 400)
Picks = tuple[tuple[str, ...], ...]  # ids per choice: ascending by group and id, on a route in the order of visits
Offer = tuple[str, Row]


@dataclass(frozen=True)
class World:
    """The names that do not depend on the plan."""

    data: Data

    def value(self, tree: Syntax, rows: Mapping[str, Any]) -> Value:
        """The value of an expression; `rows` has one row for `one` choices, a list for sets, both for routes."""
        found: dict[str, Value] = {}
        bare = self._bare(tree, rows, found)
        singles = {name: row for name, row in rows.items() if isinstance(row, dict)}
        return value(
            bare, Names({**singles, "": {**singles.get("", {}), **found}}, self.data.parameters, self.data.relations)
        )

    def _bare(self, tree: Any, rows: Mapping[str, Any], found: dict[str, Value]) -> Any:
        """The tree with names in place of aggregates; their values go into `found`."""
        if not isinstance(tree, Syntax):
            return tree
        if tree.op == "each":
            name = f"#{len(found)}"
            found[name] = self._each(tree, rows)
            return replace(tree, op="name", args=(name,))
        return replace(tree, args=tuple(self._bare(part, rows, found) for part in tree.args))

    def _each(self, tree: Syntax, rows: Mapping[str, Any]) -> Value:
        function, variable, choice, body, *conditions = tree.args
        picked: list[Row] = rows[f"{choice}[]"]
        counted = [
            row for row in picked if all(self.value(part, {**rows, variable: row}) is True for part in conditions)
        ]
        if function == "count" and body.op == "name" and body.args == (variable,):
            return Fraction(len(counted))
        values = [self.value(body, {**rows, variable: row}) for row in counted]
        if function == "count":
            return Fraction(sum(item is True for item in values))
        if function == "all":
            return False if False in values else None if None in values else True
        if function == "any":
            return True if True in values else None if None in values else False
        if None in values:
            return None
        if function == "sum":
            return sum((Fraction(item) for item in values if item is not None), Fraction(0))
        if function == "distinct":
            return Fraction(len(set(values)))
        if not values:
            return None
        return {"max": max, "min": min}[function](values)  # type: ignore[type-var]

    def rows(self, spec: ChoiceSpec) -> list[Offer]:
        """The offers of a choice that satisfy its `where`, ascending by id."""
        found = self.data.offers[spec.table]
        if spec.where is not None:
            tree = parse(ExpressionText(spec.where))
            found = [offer for offer in found if self.value(tree, {"": offer[1]}) is True]
        return sorted(found, key=lambda offer: offer[0].encode())


def _moment(item: Any) -> int | None:
    """A point in time, or a length, as an integer."""
    if item is None or isinstance(item, int):
        return item
    return int(item[:2]) * 60 + int(item[3:]) if isinstance(item, str) else int(item)


@dataclass(frozen=True)
class Way:
    """A route of a task."""

    world: World
    spec: ChoiceSpec

    def order(self, visits: Sequence[Row]) -> tuple[int, int] | None:
        """The least end and the travel of an order of visits; None when no times fit."""
        spec = self.spec
        start, end = spec.start, spec.end
        begin = _moment(start.time) if start else None
        possible = set(HORIZON) if begin is None else {begin}
        place: Any = start.at if start else None
        before: Row | None = None
        travel = 0
        for number, row in enumerate(visits):
            opens, closes = self._time(spec.opens, row), self._time(spec.closes, row)
            longer = isinstance(spec.lasts, Least)
            lasts = (
                self._time(spec.lasts.at_least if isinstance(spec.lasts, Least) else spec.lasts, row)
                if spec.lasts is not None
                else 0
            )
            here, there = self._places(row)
            unknown = (opens is None and spec.opens is not None) or (closes is None and spec.closes is not None)
            if unknown or lasts is None or lasts < 0 or (spec.at is not None and (here is None or there is None)):
                return None
            way = self._way(place, here) if (number or place is not None) else 0
            if way is None:
                return None
            travel += way
            wait = spec.wait.at_most if spec.wait is not None and (number or begin is not None) else None
            begins = {
                time
                for time in HORIZON
                if any(time >= left + way and (wait is None or time <= left + way + wait) for left in possible)
                and (opens is None or time >= opens)
            }
            lengths = range(lasts, len(HORIZON)) if longer else (lasts,)
            possible = {
                time + length
                for time in begins
                for length in lengths
                if time + length in HORIZON and (closes is None or time + length <= closes)
            }
            if spec.first is not None and number == 0 and not self._holds(spec.first, row):
                return None
            if spec.last is not None and number == len(visits) - 1 and not self._holds(spec.last, row):
                return None
            place, before = there, row
        goal: Any = end.at if end else None
        way = self._way(place, goal) if goal is not None and place is not None else 0
        if way is None:
            return None
        earliest, latest = (_moment(end.earliest), _moment(end.by)) if end else (None, None)
        arrivals = {left + way for left in possible}
        if before is None and begin is None:
            arrivals = set(HORIZON)
        arrivals = {
            time for time in arrivals if (earliest is None or time >= earliest) and (latest is None or time <= latest)
        }
        return (min(arrivals), travel + way) if arrivals else None

    def _time(self, text: str | int | None, row: Row) -> int | None:
        if text is None:
            return None
        if isinstance(text, str) and len(text) == 5 and text[2] == ":":
            return _moment(text)
        return _moment(self.world.value(parse(ExpressionText(str(text))), {"": row}))

    def _holds(self, text: str, row: Row) -> bool:
        return self.world.value(parse(ExpressionText(text)), {"": row}) is True

    def _places(self, row: Row) -> tuple[Value, Value]:
        at = self.spec.at
        if at is None:
            return None, None
        texts = (at.origin, at.destination) if isinstance(at, Ways) else (at, at)
        here, there = (self.world.value(parse(ExpressionText(text)), {"": row}) for text in texts)
        return here, there

    def _way(self, here: Value, there: Value) -> int | None:
        """The time from a place to another; None when there is no way."""
        here, there = (Fraction(item) if isinstance(item, int) else item for item in (here, there))
        if self.spec.travel is None or here == there:
            return 0
        _, facts = self.world.data.relations[self.spec.travel]
        found = facts.get((here, there))
        if found is True:
            return 0
        return None if found is None or found is False else int(Fraction(found))


@dataclass(frozen=True)
class Truth:
    """All feasible plans, best first and then canonical: (ids of each choice, value in major units)."""

    choices: tuple[str, ...]
    maximize: bool
    plans: tuple[tuple[Picks, Fraction], ...]

    @property
    def count(self) -> int:
        return len(self.plans)

    @property
    def optimum(self) -> Fraction:
        return self.plans[0][1]

    @property
    def canonical(self) -> dict[str, list[str]]:
        return {name: list(ids) for name, ids in zip(self.choices, self.plans[0][0], strict=True)}

    @property
    def tied(self) -> int:
        return sum(worth == self.optimum for _, worth in self.plans)

    @property
    def runner_up(self) -> Fraction | None:
        return next((worth for _, worth in self.plans if worth != self.optimum), None)

    @property
    def distribution(self) -> list[tuple[Fraction, int]]:
        return list(Counter(worth for _, worth in self.plans).items())


def candidates(
    spec: ChoiceSpec, offers: Sequence[Offer], within: Collection[str] | None
) -> Iterator[tuple[Offer, ...]]:
    """Everything that a choice may pick, as far as its numbers go; `within` takes rows away, and no group."""
    groups = _groups(spec, offers)
    if within is not None:
        offers = [offer for offer in offers if offer[0] in within]
        groups = [[offer for offer in group if offer[0] in within] for group in groups]
    if spec.one is not None:
        yield from ((offer,) for offer in offers)
        return
    least, most = spec.at_least or 0, spec.at_most
    if spec.route is not None:
        for size in range(least, min(len(offers), len(offers) if most is None else most) + 1):
            yield from itertools.permutations(offers, size)
        return
    subsets = [
        [
            subset
            for size in range(least, min(len(group), len(group) if most is None else most) + 1)
            for subset in itertools.combinations(group, size)
        ]
        for group in groups
    ]
    for several in itertools.product(*subsets):
        yield tuple(itertools.chain.from_iterable(several))


def truth(
    task: str | TaskFile,
    folder: Path,
    manifest: Manifest | None = None,
    *,
    within: Mapping[str, Collection[str]] | None = None,
    constraints: Collection[str] | None = None,
) -> Truth:
    """Everything about a task (or its YAML text) on the dataset in a folder."""
    file = parse_task(task) if isinstance(task, str) else task
    world = World(read_data(folder, file.task.given, manifest))
    sense, text = file.task.objective
    trees = [
        parse(file.text("constraints", name))
        for name in file.task.constraints
        if constraints is None or name in constraints
    ]
    objective = parse(ExpressionText(text))
    specs = {name: file.task.choice(name) for name in file.task.choose}
    every: list[list[tuple[Picks, dict[str, Any]]]] = []
    for name, spec in specs.items():
        every.append(list(_options(world, name, spec, None if within is None else within.get(name))))
    found: list[tuple[Picks, Fraction]] = []
    for parts in itertools.product(*every):
        rows = {key: item for _, part in parts for key, item in part.items()}
        if all(world.value(tree, rows) is True for tree in trees):
            worth = world.value(objective, rows)
            if not isinstance(worth, Fraction):
                raise UnknownObjectiveError(f"{parts}: {worth}")
            found.append((tuple(ids for (ids,), _ in parts), worth))
    sign = -1 if sense == "maximize" else 1
    grouped = {name: _groups(spec, world.rows(spec)) for name, spec in specs.items()}
    found.sort(
        key=lambda plan: (
            sign * plan[1],
            [_in_groups(grouped[name], ids) for name, ids in zip(specs, plan[0], strict=True)],
        )
    )
    return Truth(tuple(specs), sense == "maximize", tuple(found))


def _options(
    world: World, name: str, spec: ChoiceSpec, within: Collection[str] | None
) -> Iterator[tuple[Picks, dict[str, Any]]]:
    """What a choice may pick, its ids, and what expressions see of it."""
    for picked in candidates(spec, world.rows(spec), within):
        ids = (tuple(offer for offer, _ in picked),)
        rows = [row for _, row in picked]
        if spec.one is not None:
            yield ids, {name: rows[0]}
        elif spec.route is None:
            yield ids, {f"{name}[]": rows}
        elif (times := Way(world, spec).order(rows)) is not None:
            ends, travel = times
            begin = _moment(spec.start.time) if spec.start else None
            axis = _is_clock(world, spec)
            tour: Row = {
                "ends": f"{ends // 60:02d}:{ends % 60:02d}" if axis else Fraction(ends),
                "travel": Fraction(travel),
            }
            if begin is not None:
                tour["takes"] = Fraction(ends - begin)
            yield ids, {name: tour, f"{name}[]": rows}


def _is_clock(world: World, spec: ChoiceSpec) -> bool:
    """Whether the route is in times of day."""
    if spec.start is not None and isinstance(spec.start.time, str):
        return True
    rows = world.data.offers[spec.table]
    seen = [
        world.value(parse(ExpressionText(text)), {"": row})
        for text in (spec.opens, spec.closes)
        if isinstance(text, str)
        for _, row in rows
    ]
    return any(isinstance(item, str) for item in seen)


def _groups(spec: ChoiceSpec, offers: Sequence[Offer]) -> list[list[Offer]]:
    """The offers for each value of `per` that the task can pick from, ascending; all of them without `per`."""
    if spec.per is None:
        return [list(offers)]
    values = sorted({row[spec.per] for _, row in offers if row[spec.per] is not None})  # type: ignore[type-var]
    return [[offer for offer in offers if offer[1][spec.per] == item] for item in values]


def _in_groups(groups: Sequence[Sequence[Offer]], ids: Sequence[str]) -> list[list[int]]:
    """What canonical plans compare of a list: for each group, by their places in it, the ids in their order."""
    places = [{offer: place for place, (offer, _) in enumerate(group)} for group in groups]
    return [[group[item] for item in ids if item in group] for group in places]
