"""Where and when to look: the queries that what has been revealed leaves open, from the constraints alone.

A search asks for a park and dates, or for two airports and dates; the columns that it fixes are known before it is
made. Conditions that read no others are decided here, so that no call is spent on a window that cannot be allowed.
Whatever reads more, such as prices, is left to the offers that searches show.
"""

from __future__ import annotations

from collections.abc import Callable, Collection, Iterator, Mapping, Sequence
from dataclasses import dataclass, field
from functools import cached_property
from operator import itemgetter
from typing import Any

from ...schemas import expression as ex
from ...schemas.expression import Expr, split_and, walk
from ...schemas.problem import Problem
from ...schemas.units import day_of_month
from ...solver.checker.check import compiled
from .frames import Known, Outing, Permit, spans

Value = int | str | None
Name = tuple[str, str]  # of a column: choice and column
State = Mapping[Name, Value]


@dataclass(frozen=True, slots=True, eq=False)
class _Condition:
    """A conjunct that reads only what searches fix, remembered by the values that it reads."""

    reads: frozenset[Name]
    key: Callable[[State], Any]
    function: Callable[[State], Value]
    found: dict[Any, bool] = field(default_factory=dict[Any, bool])

    def __call__(self, state: State) -> bool:
        key = self.key(state)
        known = self.found.get(key)
        if known is None:
            known = self.found[key] = self.function(state) is True
        return known


class Windows:
    """The frames that the constraints of a problem leave open, given what is known."""

    def __init__(self, problem: Problem, known: Known) -> None:
        self._problem, self._known = problem, known
        self._fitting: dict[tuple[str | int, ...], list[Permit]] = {}
        self._alone: dict[str, list[Permit]] = {}
        self.choice = {problem.world.tables[table].base: name for name, table in problem.choices.items()}

    @cached_property
    def _conditions(self) -> tuple[_Condition, ...]:
        known = {(airport.code, park): airport for park, found in self._known.serving.items() for airport in found}
        facts: dict[str, dict[tuple[Value, ...], Value]] = {
            "serves": dict.fromkeys(known, True),
            "drive_minutes": {key: airport.minutes for key, airport in known.items()},
        }
        fixed = set(self._names(_STAY)) | set(self._names(_FLIGHT)) | set(self._names(_PERMIT))
        found: list[_Condition] = []
        for constraint in self._problem.constraints:
            for node in split_and(constraint.condition):
                reads = columns_read(node)
                if reads and reads <= fixed and all(part.relation in facts for part in _relations(node)):
                    key = itemgetter(*sorted(reads))
                    found.append(_Condition(frozenset(reads), key, compiled(node, _leaf, facts)))
        return tuple(found)

    def _names(self, columns: Mapping[str, tuple[str, ...]]) -> Iterator[Name]:
        for table, names in columns.items():
            if table in self.choice:
                yield from ((self.choice[table], name) for name in names)

    def _about(self, *wanted: str) -> list[_Condition]:
        """The conditions that read some columns of these groups and none of others."""
        columns = {name for group in wanted for name in self._names(_GROUPS[group])}
        return [condition for condition in self._conditions if condition.reads <= columns]

    # values that conditions read, by group

    def _place(self, park: str) -> dict[Name, Value]:
        return {(self.choice["stays"], "park"): park}

    def _nights(self, check_in: int, check_out: int) -> dict[Name, Value]:
        hotel = self.choice["stays"]
        return {
            (hotel, "check_in"): check_in,
            (hotel, "check_out"): check_out,
            (hotel, "nights"): check_out - check_in,
            (hotel, "start_day"): day_of_month(check_in),
            (hotel, "end_day"): day_of_month(check_out),
        }

    def _dates(self, departs_on: int, returns_on: int) -> dict[Name, Value]:
        flight = self.choice["round_trips"]
        return {
            (flight, "departs_on"): departs_on,
            (flight, "returns_on"): returns_on,
            (flight, "nights_away"): returns_on - departs_on,
            (flight, "depart_day"): day_of_month(departs_on),
            (flight, "return_day"): day_of_month(returns_on),
        }

    def _airports(self, origin: str, destination: str) -> dict[Name, Value]:
        flight = self.choice["round_trips"]
        kinds = (item.kind for found in self._known.serving.values() for item in found if item.code == destination)
        return {
            (flight, "origin"): origin,
            (flight, "destination"): destination,
            (flight, "destination_airport_type"): next(kinds),
        }

    def _permit(self, permit: Permit) -> dict[Name, Value]:
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

    @cached_property
    def _pairs(self) -> list[tuple[str, str]]:
        """The parks of hotel and permit that fit each other, in the order of the manifest; "" without a permit."""
        hotel = self.choice["stays"]
        if "permits" not in self.choice:
            return [(park, "") for park in self._values(hotel, "park") if self._fit(self._place(park), "park")]
        choice = self.choice["permits"]
        return [
            (park, other)
            for other in self._values(choice, "permit_park")
            if self._known.templates is None or self.templates(other)
            for park in self._values(hotel, "park")
            if self._fit({**self._place(park), (choice, "permit_park"): other}, "park", "permit park")
        ]

    def _values(self, choice: str, column: str) -> tuple[str, ...]:
        return self._problem.world.tables[self._problem.choices[choice]].types[column].values or ()

    def _fit(self, state: State, *groups: str) -> bool:
        return all(condition(state) for condition in self._about(*groups))

    def parks(self) -> list[str]:
        """The parks that the hotel may be at."""
        return list(dict.fromkeys(park for park, _ in self._pairs))

    def permit_parks(self, parks: Collection[str] | None = None) -> list[str]:
        """The parks that the permit may be for, with a hotel at any park or at one of these; none without a permit."""
        return list(dict.fromkeys(other for park, other in self._pairs if other and (parks is None or park in parks)))

    def templates(self, park: str) -> list[str]:
        """The permits of a park that can be allowed, whatever their dates."""
        choice = self.choice["permits"]
        place = {(choice, "permit_park"): park}
        return [
            name
            for name, kind in (self._known.templates or {}).get(park, ())
            if self._fit({**place, (choice, "template_name"): name, (choice, "permit_type"): kind},
                         "permit park", "template")
        ]  # fmt: skip

    def places(self) -> list[tuple[str, str, str, str]]:
        """(park, permit park, origin, destination) that fit each other, "" for what the trip does not have."""
        found: list[tuple[str, str, str, str]] = []
        for park, other in self._pairs:
            pair = {**self._place(park), **({(self.choice["permits"], "permit_park"): other} if other else {})}
            for origin, destination in self._routes(park):
                airports = self._airports(origin, destination) if origin else {}
                if self._fit({**pair, **airports}, "park", "permit park", "airports"):
                    found.append((park, other, origin, destination))
        return found

    def _routes(self, park: str) -> list[tuple[str, str]]:
        if "round_trips" not in self.choice:
            return [("", "")]
        return [
            (origin, airport.code)
            for airport in self._known.serving.get(park, ())
            for origin in self._known.origins
            if origin != airport.code
        ]

    @cached_property
    def dates(self) -> list[tuple[int, int, int, int]]:
        """(check-in, check-out, departure, return) that fit each other, earliest and shortest first; flights 0 if none.

        Each of them starts within the month and takes one to seven nights.
        """
        stays = [(start, end) for start, end in spans() if self._holds(self._nights(start, end), self._about("nights"))]
        if "round_trips" not in self.choice:
            return [(start, end, 0, 0) for start, end in stays]
        alone, both = self._about("dates"), self._about("nights", "dates")
        flights: dict[int, list[int]] = {}
        for start, end in spans():
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

    def outings(self) -> Iterator[Outing]:
        """The frames that fit, by place, then by date; with a permit those that at least one permit fits."""
        settled = {*self._about("park", "permit park", "airports"), *self._about("nights", "dates")}
        mixed = [item for item in self._conditions if item not in settled and not self._reads_permit(item)]
        for park, permit_park, origin, destination in self.places():
            for check_in, check_out, departs_on, returns_on in self.dates:
                outing = Outing(park, check_in, check_out, permit_park, origin, destination, departs_on, returns_on)
                if mixed and not self._holds(self._state(outing), mixed):
                    continue
                if not permit_park or next(self.fitting(outing), None) is not None:
                    yield outing

    def fitting(self, outing: Outing) -> Iterator[Permit]:
        """The permits that fit a frame."""
        timed, placed = self._permit_conditions
        key = (outing.permit_park, outing.check_in, outing.check_out, outing.departs_on, outing.returns_on)
        if key not in self._fitting:
            state = self._moments(outing)
            self._fitting[key] = [
                permit
                for permit in self.allowed(outing.permit_park)
                if self._holds({**state, **self._permit(permit)}, timed)
            ]
        found = self._fitting[key]
        if not placed:
            return iter(found)
        state = self._state(outing)
        return (permit for permit in found if self._holds({**state, **self._permit(permit)}, placed))

    def allowed(self, park: str) -> list[Permit]:
        """The permits of a park that are allowed whatever the rest of the trip is."""
        if park not in self._alone:
            conditions = self._about("permit park", "template", "permit dates")
            self._alone[park] = [
                permit
                for permit in self._known.permits
                if permit.park == park and self._holds(self._permit(permit), conditions)
            ]
        return self._alone[park]

    @cached_property
    def _permit_conditions(self) -> tuple[list[_Condition], list[_Condition]]:
        """The conditions on permit and dates, and those on permit, dates and places."""
        settled = self._about("park", "permit park", "airports")
        open_ = [item for item in self._conditions if self._reads_permit(item) and item not in settled]
        timed = self._about("nights", "dates", "permit park", "template", "permit dates")
        return [item for item in open_ if item in timed], [item for item in open_ if item not in timed]

    def _reads_permit(self, condition: _Condition) -> bool:
        return any(choice == self.choice.get("permits") for choice, _ in condition.reads)

    def _moments(self, outing: Outing) -> dict[Name, Value]:
        dates = self._dates(outing.departs_on, outing.returns_on) if outing.origin else {}
        return {**self._nights(outing.check_in, outing.check_out), **dates}

    def _state(self, outing: Outing) -> dict[Name, Value]:
        airports = self._airports(outing.origin, outing.destination) if outing.origin else {}
        return {**self._place(outing.park), **self._moments(outing), **airports}


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
    "permit dates": {"permits": _PERMIT["permits"][3:]},
}


def columns_read(node: Expr) -> set[Name]:
    """The columns that an expression reads, as (choice, column)."""
    return {(part.choice, part.column) for part in walk(node) if isinstance(part, ex.Column)}


def _relations(node: Expr) -> Iterator[ex.Relation]:
    return (part for part in walk(node) if isinstance(part, ex.Relation))


def _leaf(node: Any) -> Callable[[Any], Value]:
    name = (node.choice, node.column)
    return lambda state: state[name]
