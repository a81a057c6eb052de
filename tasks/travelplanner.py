"""TravelPlanner: the cheapest trip from a query's words, and the plans that people annotated.

Each query becomes a task. Where it names a state, it leaves the cities to the planner, but the published tables cover
only those of the annotated plan: the task takes cities, their order and the days from there, and says so in its title.
So a proven minimum is that of this sequence of cities.

A plan chooses, with the rules of upstream's evaluator:

- `leg1 …` a flight on the day or a way by road; one drives all the way or not at all;
- `stay1 …` in each city accommodations for the nights there, each once, with their minimum of nights and their rooms;
- `meals1 …` in each city different restaurants. A day spent in one city has three meals there; on a day of travel up to
  three, in one or the other city: so a row of cities has no more than three for each day that touches it;
- `sights1 …` in each city different attractions, at least one for each day spent there. Upstream sets no upper bound.

Meals and sights stand as sets of a city: which is had on which day makes no difference to anything that is asked.
Upstream would also take meals in the city of departure; here they are none, as the published tables have none there.
"""

from __future__ import annotations

import ast
import json
import re
from collections.abc import Iterator, Mapping, Sequence
from dataclasses import dataclass
from datetime import timedelta
from itertools import groupby
from pathlib import Path
from typing import Any

from ..schemas.errors import TaskError, Where, did_you_mean
from ..schemas.source import read_text
from .converted import Converted, drafting
from .travel_queries import Query, read_query
from .travel_tables import Tables, manifest, read_tables, serves

PLANS = "train_annotated_plans.json"
AGENT = "annotated"
IN_TOWN = "annotated/in-town"  # the same without what lies in other cities than those of the day
_NOTHING = "-"
_MEALS = ("breakfast", "lunch", "dinner")
_KEYS = ("current_city", "transportation", *_MEALS, "attraction", "accommodation")
_LONGEST = 100_000  # characters of an annotated plan
_MOVE = re.compile(r"from (.+) to (.+)\Z")
_WAY = re.compile(r"(?:(Flight) Number: (\w+)|(Self-driving|Taxi)), from (.+?) to ([^,]+?)(?:,.*)?\Z")
_STATE = re.compile(r"(.+?)\(([^()]+)\)\Z")


@dataclass(frozen=True, slots=True)
class Day:
    """A day of an annotated plan: one city, or the cities that one travels between; and the texts of the plan."""

    number: int
    cities: tuple[str, ...]
    states: tuple[str, ...]
    texts: Mapping[str, str]


@dataclass(frozen=True, slots=True)
class Leg:
    """A way between two cities on the day with a number from 0 on."""

    origin: str
    destination: str
    day: int
    way: str


@dataclass(frozen=True, slots=True)
class Trip:
    """A query and its annotated plan; `legs` lead from the origin through the cities and back."""

    idx: int
    query: Query
    days: tuple[Day, ...]
    legs: tuple[Leg, ...]
    where: Where

    @property
    def cities(self) -> list[str]:
        """The cities in their order."""
        return [leg.destination for leg in self.legs[:-1]]

    def nights(self, city: int) -> int:
        """How many nights are spent in a city."""
        return self.legs[city + 1].day - self.legs[city].day

    def touching(self, first: int, last: int) -> int:
        """The days on which one is in one of some cities in a row, for a part of the day at least."""
        return self.legs[last + 1].day - self.legs[first].day + 1


def convert(source: Path, out: Path) -> Converted:
    """Writes the queries in the folder `source`; raises TaskError at the file, line or idx of what is not understood.

    Tasks are named travelplanner-IDX. The annotated plans are submitted by "annotated". Where one visits a sight or
    eats in a city that it is not in that day, that is an offer which the task does not have; "annotated/in-town" is
    then the plan without these.
    """
    with drafting(source, out) as draft:
        tables = read_tables(source)
        trips = read_trips(source / PLANS, tables)
        draft.dataset("travelplanner", manifest(tables.cuisines), tables.rows)
        for trip in trips:
            draft.task(_task(trip))
            picks, elsewhere = _picks(trip, tables)
            draft.submit(_name(trip), AGENT, {"picks": _with(picks, elsewhere)})
            if any(elsewhere.values()):
                draft.submit(_name(trip), IN_TOWN, {"picks": picks})
        return draft.converted()


def read_trips(path: Path, tables: Tables) -> list[Trip]:
    """The queries with their plans; raises TaskError with the idx of what is not understood."""
    try:
        content = json.loads(read_text(path, TaskError))
    except (ValueError, RecursionError) as fault:
        raise TaskError(f"not JSON: {fault}", where=Where(str(path))) from None
    if not isinstance(content, list):
        raise TaskError("a list of queries is needed here", where=Where(str(path)))
    trips = [_trip(item, path, tables) for item in content]
    if not trips:
        raise TaskError("there is no query", where=Where(str(path)))
    return trips


def _trip(item: Any, path: Path, tables: Tables) -> Trip:
    idx = item.get("idx") if isinstance(item, dict) else None
    if not isinstance(idx, int) or isinstance(idx, bool) or idx < 0:
        raise TaskError(f"an entry has no idx: {str(item)[:80]}", where=Where(str(path)))
    where = Where(f"{path} (idx {idx})")
    if not all(isinstance(item.get(key), str) for key in ("query", "annotated_plan")):
        raise TaskError("the entry has no query and annotated_plan", where=where)
    query = read_query(item["query"], tables.cuisines, where)
    days = tuple(_days(item["annotated_plan"], where))
    if len(days) != query.days:
        raise TaskError(f"the query is about {query.days} days, the plan has {len(days)}", where=where)
    trip = Trip(idx, query, days, tuple(_legs(days, query, where)), where)
    states = {state for day in days for state in day.states}
    place = [query.place] if query.cities is None else trip.cities
    if trip.cities != place or len(place) != (query.cities or 1):
        raise TaskError(f"the plan visits {', '.join(trip.cities)}, not what the query asks for", where=where)
    if states and states != {query.place}:
        raise TaskError(f"the plan is in {', '.join(sorted(states))}, the query about {query.place}", where=where)
    return trip


def _days(text: str, where: Where) -> Iterator[Day]:
    """The days of an annotated plan, which is written as a Python list of dicts and may end with empty ones."""
    try:
        if len(text) > _LONGEST:
            raise ValueError
        plan = ast.literal_eval(text)
    except (ValueError, SyntaxError, TypeError, MemoryError, RecursionError):
        raise TaskError("the annotated plan is no list of days", where=where) from None
    while isinstance(plan, list) and plan and plan[-1] == {}:
        plan.pop()
    if not isinstance(plan, list) or not plan:
        raise TaskError("the annotated plan is no list of days", where=where)
    for number, day in enumerate(plan, 1):
        if not isinstance(day, dict) or day.get("days") != number:
            raise TaskError(f"day {number} of the plan is missing", where=where)
        if missing := next((key for key in _KEYS if not isinstance(day.get(key), str)), None):
            raise TaskError(f"day {number} of the plan has no {missing}", where=where)
        move = _MOVE.match(day["current_city"])
        names = [_split(name) for name in (move.groups() if move else (day["current_city"],))]
        states = tuple(state for _, state in names if state)
        yield Day(number, tuple(city for city, _ in names), states, {key: day[key] for key in _KEYS})


def _split(name: str) -> tuple[str, str]:
    """City and state of "Helena(Montana)"; the state is empty where there is none."""
    match = _STATE.match(name.strip())
    return (match[1].strip(), match[2]) if match else (name.strip(), "")


def _legs(days: Sequence[Day], query: Query, where: Where) -> Iterator[Leg]:
    at = query.origin
    visited = {at}
    for day in days:
        if day.cities[0] != at:
            raise TaskError(f"day {day.number} of the plan begins in {day.cities[0]}, not in {at}", where=where)
        if len(day.cities) == 2:
            origin, at = day.cities
            if at in visited and (at != query.origin or day is not days[-1]):
                raise TaskError(f"day {day.number} of the plan leads to {at} again", where=where)
            visited.add(at)
            yield Leg(origin, at, day.number - 1, day.texts["transportation"])
    if at != query.origin or len(days[0].cities) != 2:
        raise TaskError(f"the plan does not lead from {query.origin} and back", where=where)


def _name(trip: Trip) -> str:
    return f"travelplanner-{trip.idx:03}"


def _task(trip: Trip) -> dict[str, Any]:
    query, cities = trip.query, trip.cities
    choose: dict[str, Any] = {}
    for number, leg in enumerate(trip.legs, 1):
        day = query.first_day + timedelta(days=leg.day)
        way = f'origin == "{leg.origin}" and destination == "{leg.destination}"'
        choose[f"leg{number}"] = {
            "one": "transports",
            "where": f'{way} and (travels_on == "{day.isoformat()}" or mode != "flight")',
        }
    constraints: dict[str, str] = {}
    for number, city in enumerate(cities, 1):
        nights, where = trip.nights(number - 1), f'city == "{city}"'
        whole = nights - 1  # days between arrival and departure
        choose[f"stay{number}"] = {"any_of": "stays", "where": where, "per": "accommodation", "at_most": 1}
        choose[f"meals{number}"] = {
            "any_of": "restaurants",
            "where": where,
            "at_least": 3 * whole,
            "at_most": 3 * trip.touching(number - 1, number - 1),
        }
        choose[f"sights{number}"] = {"any_of": "attractions", "where": where, "at_least": whole}
        constraints[f"nights{number}"] = f"sum(s.nights for s in stay{number}) == {nights}"
    numbers = range(1, len(cities) + 1)
    for first in numbers:
        for last in range(first + 1, len(cities) + 1):
            counts = " + ".join(f"count(m for m in meals{city})" for city in range(first, last + 1))
            constraints[f"meals{first}_to_{last}"] = f"{counts} <= {3 * trip.touching(first - 1, last - 1)}"
    legs = range(1, len(trip.legs) + 1)
    constraints["one_way_of_driving"] = " and ".join(f"leg1.own_car == leg{leg}.own_car" for leg in legs[1:])
    for mode in query.avoided:
        constraints[f"no_{mode.replace('-', '_')}"] = " and ".join(f'leg{leg}.mode != "{mode}"' for leg in legs)
    if query.room_type is not None:
        constraints["room"] = _everywhere(f's.room_type == "{query.room_type}"', numbers)
    for rule in query.rules:
        constraints[rule] = _everywhere(f"s.allows_{rule}", numbers)
    for cuisine in query.cuisines:
        column = serves(cuisine)
        somewhere = (f"any(m.{column} for m in meals{city})" for city in numbers)
        constraints[column.removeprefix("serves_")] = " or ".join(somewhere)
    sums = [f"sum({kind[0]}.total for {kind[0]} in {kind}{city})" for city in numbers for kind in ("stay", "meals")]
    cost = " + ".join([*(f"leg{leg}.total" for leg in legs), *sums])
    constraints["budget"] = f"{cost} <= {query.budget}"
    return {
        "cobench": 1,
        "id": _name(trip),
        "title": _title(trip),
        "dataset": "../data/travelplanner",
        "given": {"people": query.people},
        "choose": choose,
        "constraints": constraints,
        "minimize": cost,
    }


def _everywhere(condition: str, numbers: Sequence[int]) -> str:
    return " and ".join(f"all({condition} for s in stay{city})" for city in numbers)


def _title(trip: Trip) -> str:
    query, stops = trip.query, [f"{city} ({trip.nights(number)})" for number, city in enumerate(trip.cities)]
    free = "" if query.cities is None else ", with the cities and nights of the annotated plan"
    last_day = query.first_day + timedelta(days=query.days - 1)
    dates = f"{query.first_day.isoformat()} to {last_day.isoformat()}"
    return f"{' - '.join([query.origin, *stops, query.origin])}, {dates}, for {query.people}{free}"


def _with(picks: Mapping[str, Any], more: Mapping[str, list[str]]) -> dict[str, Any]:
    return {name: value + more[name] if name in more else value for name, value in picks.items()}


def _picks(trip: Trip, tables: Tables) -> tuple[dict[str, Any], dict[str, list[str]]]:
    """The picks of the annotated plan, and what it picks elsewhere than where it is."""
    picks: dict[str, Any] = {f"leg{number}": _transport(trip, leg, tables) for number, leg in enumerate(trip.legs, 1)}
    elsewhere: dict[str, list[str]] = {}
    for number in range(1, len(trip.cities) + 1):
        picks.update({f"{name}{number}": [] for name in ("stay", "meals", "sights")})
    nights: list[list[str]] = [[] for _ in trip.cities]

    def put(kind: str, offer: str, city: str, day: Day) -> None:
        inside = [place for place in day.cities if place in trip.cities]
        known = city in inside
        number = trip.cities.index(city if known else inside[-1]) + 1
        (picks if known else elsewhere).setdefault(f"{kind}{number}", []).append(offer)

    for day in trip.days:
        for text in (day.texts[meal] for meal in _MEALS):
            if text != _NOTHING:
                put("meals", *_place(trip, day, text, "restaurants", tables), day)
        for text in day.texts["attraction"].split(";"):
            if text.strip() not in ("", _NOTHING):
                put("sights", *_place(trip, day, text, "attractions", tables), day)
        text = day.texts["accommodation"]
        if (text == _NOTHING) != (day is trip.days[-1]):
            raise TaskError(f"day {day.number} of the plan has a night too many or too few", where=trip.where)
        if text != _NOTHING:
            offer, city = _place(trip, day, text, "accommodations", tables)
            if city != day.cities[-1]:
                raise TaskError(f"day {day.number} of the plan ends in {day.cities[-1]}, not {city}", where=trip.where)
            nights[trip.cities.index(city)].append(offer)
    for number, offers in enumerate(nights, 1):
        picks[f"stay{number}"] = [f"{offer}_{len(list(row))}" for offer, row in groupby(offers)]
    return picks, elsewhere


def _place(trip: Trip, day: Day, text: str, table: str, tables: Tables) -> tuple[str, str]:
    """The offer and the city of "Coco Bambu, Rockford"."""
    name, _, place = text.rpartition(",")
    city = _split(place)[0]
    offer = tables.places[table].get((name.strip(), city))
    if offer is None:
        near = [name for name, there in tables.places[table] if there == city]
        message = f"day {day.number} of the plan has '{text.strip()}', which is none of the {table}"
        raise TaskError(message, where=trip.where, hint=did_you_mean(name.strip(), near))
    return offer, city


def _transport(trip: Trip, leg: Leg, tables: Tables) -> str:
    """The offer of "Flight Number: F3573659, from … to …", "Self-driving, from … to …" or "Taxi, from … to …"."""

    def fault(message: str) -> TaskError:
        return TaskError(f"day {leg.day + 1} of the plan has '{leg.way}', {message}", where=trip.where)

    match = _WAY.match(leg.way)
    if match is None:
        raise fault("which is no flight, self-driving or taxi")
    road = _split(match[4])[0], _split(match[5])[0]
    if road != (leg.origin, leg.destination):
        raise fault(f"but leads from {leg.origin} to {leg.destination}")
    if match[1]:
        if match[2] not in tables.flights:
            raise fault("which is none of the flights")
        return match[2]
    offer = tables.roads.get((match[3].lower(), *road))
    if offer is None:
        raise fault("where no distance is known")
    return offer
