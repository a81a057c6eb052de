"""Tasks of Natural Plan and knapsacks as an expert would write them in CPMpy, from the converted tables.

Of trips and meetings several models were tried; these are the fastest of them.

- trip: the city, the arrival and the departure at each position; a table of the visits that the windows allow, one of
  the flights, and AllDifferent. (Element constraints in place of tables, and Circuit with successors, are slower.)
- meeting: a Boolean and a beginning for each friend, a Boolean for each pair that says who is first, and implications.
  This is exact where no detour over a friend, with the time spent there, is shorter than the way, which is checked.
  (Circuit with a tail for those who are not met is slower.)
- calendar: a day, and a minute that lies before or after each busy range of that day.
- mmkp: one Boolean for each item, one of them in each group.

Tables are read once, as plain tuples; what is returned builds a model from them each time.
"""

from __future__ import annotations

import re
from collections.abc import Callable, Iterator
from dataclasses import dataclass
from typing import Any

import cpmpy
from cobench.datasets.opening import Dataset
from cobench.datasets.table import OfferTable
from cobench.schemas.problem import Problem
from cobench.schemas.several import Route
from cobench.schemas.task import TaskFile

cp: Any = cpmpy  # it publishes no types

BUSY = re.compile(r"([a-z]+)_([0-9]{2})([0-9]{2})_([0-9]{2})([0-9]{2})\Z")  # the name of a constraint

Rows = list[tuple[Any, ...]]


@dataclass(frozen=True, slots=True)
class Task:
    """A converted task with its data open."""

    family: str
    file: TaskFile
    data: Dataset
    problem: Problem


@dataclass(frozen=True, slots=True)
class Built:
    """A model without objective, and what is to be maximised or minimised; a number where every plan has it."""

    model: Any
    objective: Any


def rows(table: OfferTable, *columns: str) -> Rows:
    """Some columns of a table as plain tuples."""
    found = [table.columns[name] for name in columns]
    return [tuple(column.value(row) for column in found) for row in range(len(found[0].values))]


def route_of(problem: Problem, choice: str) -> Route:
    """The route that a choice is."""
    route = problem.sets[choice].route
    if route is None:
        raise SystemExit(f"{problem.id}: {choice} is no route")
    return route


def trip(task: Task) -> Callable[[], Built]:
    """Positions and tables."""
    cities = rows(task.data.table(task.problem.world, "cities"), "city", "days", "first_day", "last_day")
    flights = rows(task.data.relation(task.problem.world, "direct_flight"), "origin", "destination")
    route = route_of(task.problem, "trip")
    first, last = route.start_time, route.end_by

    def build() -> Built:
        place = {city: number for number, (city, *_) in enumerate(cities)}
        visits = [
            [place[city], day, day + days - 1]
            for city, days, opens, closes in cities
            for day in range(opens, closes - days + 2)
        ]
        pairs = [[place[origin], place[to]] for origin, to in flights if origin in place and to in place]
        order = cp.intvar(0, len(cities) - 1, shape=len(cities))
        days = cp.intvar(first, last, shape=len(cities) + 1)
        model = cp.Model(cp.AllDifferent(order), days[0] == first, days[len(cities)] == last)
        for at in range(len(cities)):
            model += cp.Table([order[at], days[at], days[at + 1]], visits)
            if at:
                model += cp.Table([order[at - 1], order[at]], pairs)
        return Built(model, len(cities))

    return build


def meeting(task: Task) -> Callable[[], Built]:
    """Pairs in one order or the other."""
    friends = rows(
        task.data.table(task.problem.world, "friends"), "person", "place", "there_from", "there_until", "least"
    )
    travel = rows(task.data.relation(task.problem.world, "travel"), "origin", "destination", "minutes")
    ways = {(origin, to): minutes for origin, to, minutes in travel}
    route = route_of(task.problem, "day")
    home, begin = route.start_place, route.start_time
    places = {home, *(place for _, place, *_ in friends)}
    ways |= {(place, place): 0 for place in places}
    for _, over, _, _, least in friends:
        if any(ways[a, b] > ways[a, over] + least + ways[over, b] for a in places for b in places):
            raise SystemExit(f"{task.problem.id}: a detour over {over} is shorter than a way")

    def build() -> Built:
        reached = [
            (place, max(opens, begin + ways[home, place]), closes - least, least)
            for _, place, opens, closes, least in friends
        ]
        able = [visit for visit in reached if visit[1] <= visit[2]]
        met = [cp.boolvar() for _ in able]
        begins = [cp.intvar(low, high) for _, low, high, _ in able]
        model = cp.Model()
        for i, (here, _, _, stay) in enumerate(able):
            for j, (there, _, _, other) in enumerate(able[:i]):
                before = cp.boolvar()
                both = met[i] & met[j]
                model += (both & before).implies(begins[j] >= begins[i] + stay + ways[here, there])
                model += (both & ~before).implies(begins[i] >= begins[j] + other + ways[there, here])
        return Built(model, cp.sum(met) if met else 0)

    return build


def busy(task: Task) -> Iterator[tuple[str, int, int]]:
    """The ranges that are taken: day in small letters, minutes from and to."""
    for constraint in task.problem.constraints:
        if match := BUSY.match(constraint.name):
            hours = [int(part) for part in match.groups()[1:]]
            yield match[1], 60 * hours[0] + hours[1], 60 * hours[2] + hours[3]


def calendar(task: Task) -> Callable[[], Built]:
    """A day and a minute."""
    moments = rows(task.data.table(task.problem.world, "moments"), "day", "minute", "since")
    days = {day.lower(): since for day, minute, since in moments if minute == 0}
    latest = max(minute for _, minute, _ in moments)
    length = next(int(item.text.text.rpartition("==")[2]) for item in task.problem.constraints if item.name == "length")
    taken = list(busy(task))
    earliest = task.file.task.minimize == "start.since"

    def build() -> Built:
        number = {day: at for at, day in enumerate(sorted(days, key=days.__getitem__))}
        day, minute = cp.intvar(0, len(days) - 1), cp.intvar(0, latest - length)
        model = cp.Model(minute >= 0, day >= 0)  # so that solveAll sees both, even on a day without ranges
        for name, start, end in taken:
            model += (day == number[name]).implies((minute >= end) | (minute <= start - length))
        offsets = cp.cpm_array(sorted(days.values()))
        return Built(model, offsets[day] + minute if earliest else 0)

    return build


def knapsack(task: Task) -> Callable[[], Built]:
    """An integer program."""
    names = [name for name in task.problem.world.tables["items"].stored if re.match(r"r[0-9]+\Z", name)]
    names.sort(key=lambda name: int(name[1:]))
    items = rows(task.data.table(task.problem.world, "items"), "group", "value", *names)
    limits = {item.name: int(item.text.text.rpartition("<=")[2]) for item in task.problem.constraints}

    def build() -> Built:
        picked = cp.boolvar(shape=len(items))
        members: dict[int, list[int]] = {}
        for at, (group, *_) in enumerate(items):
            members.setdefault(group, []).append(at)
        model = cp.Model([cp.sum(picked[group]) == 1 for group in members.values()])
        for column, name in enumerate(names, 2):
            model += cp.sum(cp.cpm_array([item[column] for item in items]) * picked) <= limits[name]
        return Built(model, cp.sum(cp.cpm_array([item[1] for item in items]) * picked))

    return build


BUILDERS = {"trip": trip, "meeting": meeting, "calendar": calendar, "mmkp": knapsack}
