"""Where and when to look: the queries that what has been revealed leaves open, from the constraints alone.

A search asks for a park and dates, or for two airports and dates; the columns that it fixes are known before it is
made. Conditions that read no others are decided here, so that no call is spent on a window that cannot be allowed.
Whatever reads more, such as prices, is left to the offers that searches show.
"""

from __future__ import annotations

from collections.abc import Callable, Iterator, Mapping, Sequence
from dataclasses import dataclass, field
from datetime import date, timedelta
from functools import cached_property
from typing import Any

from ...schemas import expression as ex
from ...schemas.expression import Expr, split_and, walk
from ...schemas.problem import Problem
from ...schemas.units import day_of_month
from ...solver.checker.check import compiled

Value = int | str | None
State = Mapping[tuple[str, str], Value]

FIRST, LAST = date(2025, 8, 1), date(2025, 8, 31)  # the days on which trips of the world begin, as the tools say
MOST_NIGHTS = 7
EPOCH = date(1970, 1, 1)


@dataclass(frozen=True, slots=True)
class Outing:
    """A frame for a trip: park and nights of the hotel, and airports and dates of the flights where there are any.

    Dates are days since 1970-01-01, as expressions have them. `permit_park` is "" without a permit.
    """

    park: str
    check_in: int
    check_out: int
    permit_park: str = ""
    origin: str = ""
    destination: str = ""
    departs_on: int = 0
    returns_on: int = 0

    @property
    def stay(self) -> tuple[str, int, int]:
        """What a search for hotels asks."""
        return self.park, self.check_in, self.check_out

    @property
    def flight(self) -> tuple[str, str, int, int]:
        """What a search for flights asks."""
        return self.origin, self.destination, self.departs_on, self.returns_on


@dataclass(frozen=True, slots=True)
class Airport:
    """An airport that serves a park, `minutes` by car from there (None: too far to say)."""

    code: str
    kind: str
    minutes: int | None


@dataclass(frozen=True, slots=True)
class Permit:
    """A permit as a search shows it; dates are days since 1970-01-01."""

    id: str
    park: str
    template: str
    kind: str
    starts_on: int
    ends_on: int
    days: int | None


def iso(day: int) -> str:
    """A day since 1970-01-01 as tools take it."""
    return (EPOCH + timedelta(days=day)).isoformat()


def days_since(text: str) -> int:
    """The inverse of `iso`."""
    return (date.fromisoformat(text) - EPOCH).days


@dataclass(frozen=True, slots=True)
class _Condition:
    """A conjunct that reads only what searches fix, remembered by the values that it reads."""

    reads: tuple[tuple[str, str], ...]
    function: Callable[[Any], Any]
    found: dict[tuple[Value, ...], bool] = field(default_factory=dict[tuple[Value, ...], bool])

    def __call__(self, state: State) -> bool:
        key = tuple(state[name] for name in self.reads)
        if key not in self.found:
            self.found[key] = self.function(state) is True
        return self.found[key]


class Windows:
    """The frames that the constraints of a problem leave open.

    `serving`: per park the airports that one flies to for it, as far as they are known: where they are not, nothing is
    open that needs a flight. `origins`: the airports from which one may start.
    """

    def __init__(
        self, problem: Problem, serving: Mapping[str, Sequence[Airport]], origins: Sequence[str]
    ) -> None:
        self._problem, self._serving, self._origins = problem, serving, origins
        self.choice = {problem.world.tables[table].base: name for name, table in problem.choices.items()}

    @cached_property
    def _conditions(self) -> tuple[_Condition, ...]:
        known = {(airport.code, park): airport for park, found in self._serving.items() for airport in found}
        facts: dict[str, dict[tuple[Value, ...], Value]] = {
            "serves": dict.fromkeys(known, True),
            "drive_minutes": {key: airport.minutes for key, airport in known.items()},
        }
        fixed = set(self._names(_STAY)) | set(self._names(_FLIGHT)) | set(self._names(_PERMIT))
        found: list[_Condition] = []
        for constraint in self._problem.constraints:
            for node in split_and(constraint.condition):
                reads = columns_read(node)
                if reads <= fixed and all(part.relation in facts for part in _relations(node)):
                    found.append(_Condition(tuple(sorted(reads)), compiled(node, _leaf, facts)))
        return tuple(found)

    def _names(self, columns: Mapping[str, tuple[str, ...]]) -> Iterator[tuple[str, str]]:
        for table, names in columns.items():
            if table in self.choice:
                yield from ((self.choice[table], name) for name in names)

    def _about(self, *wanted: str) -> list[_Condition]:
        """The conditions that read some columns of these groups and none of others."""
        columns = {name for group in wanted for name in self._names(_GROUPS[group])}
        return [condition for condition in self._conditions if set(condition.reads) <= columns]

    # values that conditions read, by group

    def _place(self, park: str) -> dict[tuple[str, str], Value]:
        return {(self.choice["stays"], "park"): park}

    def _nights(self, check_in: int, check_out: int) -> dict[tuple[str, str], Value]:
        hotel = self.choice["stays"]
        return {
            (hotel, "check_in"): check_in,
            (hotel, "check_out"): check_out,
            (hotel, "nights"): check_out - check_in,
            (hotel, "start_day"): day_of_month(check_in),
            (hotel, "end_day"): day_of_month(check_out),
        }

    def _dates(self, departs_on: int, returns_on: int) -> dict[tuple[str, str], Value]:
        flight = self.choice["round_trips"]
        return {
            (flight, "departs_on"): departs_on,
            (flight, "returns_on"): returns_on,
            (flight, "nights_away"): returns_on - departs_on,
            (flight, "depart_day"): day_of_month(departs_on),
            (flight, "return_day"): day_of_month(returns_on),
        }

    def _airports(self, origin: str, destination: str) -> dict[tuple[str, str], Value]:
        flight = self.choice["round_trips"]
        kinds = (item.kind for found in self._serving.values() for item in found if item.code == destination)
        return {
            (flight, "origin"): origin,
            (flight, "destination"): destination,
            (flight, "destination_airport_type"): next(kinds),
        }

    def _permit(self, permit: Permit) -> dict[tuple[str, str], Value]:
        choice = self.choice["permits"]
        return {
            (choice, "permit_park"): permit.park,
            (choice, "template_name"): permit.template,
            (choice, "permit_type"): permit.kind,
            (choice, "starts_on"): permit.starts_on,
            (choice, "ends_on"): permit.ends_on,
            (choice, "days"): permit.days,
            (choice, "start_day"): day_of_month(permit.starts_on),
        }

    # what is open

    def parks(self) -> list[str]:
        """The parks that the hotel may be at, in the order of the manifest."""
        return self._allowed_parks(self.choice["stays"], "park", "park")

    def permit_parks(self) -> list[str]:
        """The parks that the permit may be for; none without a permit."""
        if "permits" not in self.choice:
            return []
        conditions = self._about("park", "permit park")
        choice = self.choice["permits"]
        return [
            name
            for name in self._allowed_parks(choice, "permit_park", "permit park")
            if any(
                all(condition({**self._place(park), (choice, "permit_park"): name}) for condition in conditions)
                for park in self.parks()
            )
        ]

    def _allowed_parks(self, choice: str, column: str, group: str) -> list[str]:
        kind = self._problem.world.tables[self._problem.choices[choice]].types[column]
        conditions = self._about(group)
        return [
            park for park in kind.values or () if all(condition({(choice, column): park}) for condition in conditions)
        ]

    def may_be_permit(self, park: str, template: str, kind: str) -> bool:
        """Whether permits of a template can be allowed, whatever their dates."""
        choice = self.choice["permits"]
        state = {(choice, "permit_park"): park, (choice, "template_name"): template, (choice, "permit_type"): kind}
        return all(condition(state) for condition in self._about("permit park", "template"))

    def places(self) -> list[tuple[str, str, str, str]]:
        """(park, permit park, origin, destination) that fit each other, "" for what the trip does not have."""
        found: list[tuple[str, str, str, str]] = []
        conditions = self._about("park", "permit park", "airports")
        for park in self.parks():
            for permit_park in self.permit_parks() or [""]:
                for origin, destination in self._routes(park):
                    state = self._place(park)
                    if permit_park:
                        state[self.choice["permits"], "permit_park"] = permit_park
                    if origin:
                        state |= self._airports(origin, destination)
                    if all(condition(state) for condition in conditions):
                        found.append((park, permit_park, origin, destination))
        return found

    def _routes(self, park: str) -> list[tuple[str, str]]:
        if "round_trips" not in self.choice:
            return [("", "")]
        return [(origin, airport.code) for airport in self._serving.get(park, ()) for origin in self._origins]

    @cached_property
    def dates(self) -> list[tuple[int, int, int, int]]:
        """(check-in, check-out, departure, return) that fit each other, earliest and shortest first; flights 0 if none.

        Each of them starts within the month and takes one to seven nights.
        """
        stays = [
            (start, end) for start, end in _spans() if self._holds(self._nights(start, end), self._about("nights"))
        ]
        if "round_trips" not in self.choice:
            return [(start, end, 0, 0) for start, end in stays]
        alone, both = self._about("dates"), self._about("nights", "dates")
        flights: dict[int, list[int]] = {}
        for start, end in _spans():
            if self._holds(self._dates(start, end), alone):
                flights.setdefault(start, []).append(end)
        outward = (self.choice["round_trips"], "departs_on")
        early = [item for item in both if not {name for name in item.reads if name[0] == outward[0]} - {outward}]
        found: list[tuple[int, int, int, int]] = []
        for start, end in stays:
            nights = self._nights(start, end)
            for departs_on, returns in flights.items():
                if self._holds({**nights, outward: departs_on}, early):
                    found += [
                        (start, end, departs_on, returns_on)
                        for returns_on in returns
                        if self._holds({**nights, **self._dates(departs_on, returns_on)}, both)
                    ]
        return found

    @staticmethod
    def _holds(state: State, conditions: Sequence[_Condition]) -> bool:
        return all(condition(state) for condition in conditions)

    def outings(self, permits: Sequence[Permit]) -> Iterator[Outing]:
        """The frames that fit, by place, then by date; with a permit those that at least one of `permits` fits."""
        everything = [item for item in self._conditions if not self._reads_permit(item)]
        for park, permit_park, origin, destination in self.places():
            for check_in, check_out, departs_on, returns_on in self.dates:
                outing = Outing(park, check_in, check_out, permit_park, origin, destination, departs_on, returns_on)
                state = self._state(outing)
                if self._holds(state, everything) and (not permit_park or any(self.fitting(outing, permits))):
                    yield outing

    def _reads_permit(self, condition: _Condition) -> bool:
        return any(choice == self.choice.get("permits") for choice, _ in condition.reads)

    def _state(self, outing: Outing) -> dict[tuple[str, str], Value]:
        state = {**self._place(outing.park), **self._nights(outing.check_in, outing.check_out)}
        if outing.origin:
            state |= self._airports(outing.origin, outing.destination)
            state |= self._dates(outing.departs_on, outing.returns_on)
        return state

    def fitting(self, outing: Outing, permits: Sequence[Permit]) -> Iterator[Permit]:
        """The permits that fit a frame."""
        conditions = [item for item in self._conditions if self._reads_permit(item)]
        state = self._state(outing)
        for permit in permits:
            if permit.park == outing.permit_park and self._holds({**state, **self._permit(permit)}, conditions):
                yield permit


_STAY = {"stays": ("park", "check_in", "check_out", "nights", "start_day", "end_day")}
_FLIGHT = {
    "round_trips": (
        "origin", "destination", "destination_airport_type",
        "departs_on", "returns_on", "nights_away", "depart_day", "return_day",
    )
}  # fmt: skip
_PERMIT = {
    "permits": ("permit_park", "template_name", "permit_type", "starts_on", "ends_on", "days", "start_day"),
}
_GROUPS: dict[str, Mapping[str, tuple[str, ...]]] = {
    "park": {"stays": ("park",)},
    "nights": {"stays": _STAY["stays"][1:]},
    "airports": {"round_trips": _FLIGHT["round_trips"][:3]},
    "dates": {"round_trips": _FLIGHT["round_trips"][3:]},
    "permit park": {"permits": ("permit_park",)},
    "template": {"permits": ("template_name", "permit_type")},
}


def columns_read(node: Expr) -> set[tuple[str, str]]:
    """The columns that an expression reads, as (choice, column)."""
    return {(part.choice, part.column) for part in walk(node) if isinstance(part, ex.Column)}


def _relations(node: Expr) -> Iterator[ex.Relation]:
    return (part for part in walk(node) if isinstance(part, ex.Relation))


def _leaf(node: Any) -> Callable[[Any], Value]:
    name = (node.choice, node.column)
    return lambda state: state[name]


def _spans() -> Iterator[tuple[int, int]]:
    first, last = (FIRST - EPOCH).days, (LAST - EPOCH).days
    for start in range(first, last + 1):
        for nights in range(1, MOST_NIGHTS + 1):
            if start + nights <= last + 1:
                yield start, start + nights
