"""How an agent went about a task: what it called when, which dates it looked at, and how its best plan improved."""

from __future__ import annotations

import datetime
import json
from collections import Counter
from collections.abc import Iterable, Mapping
from dataclasses import dataclass
from fractions import Fraction
from typing import Any

from ...schemas.episode import CallRecord, Episode
from ...schemas.verdict import Verdict
from .rates import feasible, relative_gap
from .regret import exploration

PHASES = {
    "dates": ("calendar",),
    "places": (
        "search_airports", "get_airport_location", "search_location_name", "calculate_driving_distance",
        "get_park_coordinates",
    ),
    "search": ("search_hotel", "search_flights", "search_permit_availability", "list_permits"),
    "details": ("get_hotel_details", "get_room_details", "get_flight_details"),
    "notes": ("notebook", "calculator"),
    "recommend": ("recommend_hotel", "recommend_flight", "recommend_permit"),
}  # fmt: skip
OTHER = "other"
_PHASE_OF = {tool: phase for phase, tools in PHASES.items() for tool in tools}
_STAYS, _TRIPS = ("search_hotel", "start_date", "end_date"), ("search_flights", "departure_date", "return_date")
MIDWEEK = (1, 2, 3, 4)  # Tuesday to Friday

Window = tuple[datetime.date, datetime.date]


@dataclass(frozen=True, slots=True)
class Step:
    """One turn. `windows`: the dates that were searched for the first time. `shown`: how far the best plan among the
    offers shown is from the optimum, relative; `own`: the recommendation that stands. `improved`: that is feasible, and
    better than all before.
    """

    turn: int
    calls: Mapping[str, int]
    windows: tuple[Window, ...]
    shown: Fraction | None
    own: Fraction | None
    improved: bool


@dataclass(frozen=True, slots=True)
class Trace:
    """The turns, and what of a strategy they show.

    `windows`: different dates of stays that were searched; `midweek`: how many of those begin from Tuesday to Friday;
    `thirds`: which of early, mid and late month these touch. `astray`: searched dates of flights at which no stay was
    searched.
    """

    steps: tuple[Step, ...]
    calendar: bool
    windows: int
    midweek: int
    thirds: tuple[str, ...]
    flights: int
    astray: int
    improvements: int


def trace(episode: Episode) -> Trace:
    """The strategy of an agent in one conversation."""
    steps: list[Step] = []
    known: set[Window] = set()
    best: Fraction | None = None
    for turn in episode.turns:
        calls = [call for call in episode.calls if call.turn == turn.number]
        new = [window for window in windows(calls, _STAYS, _TRIPS) if window not in known]
        known.update(new)
        own = relative_gap(turn.verdict)
        improved = _better(own, best, turn.verdict)
        best = own if improved else best
        phases = Counter(_PHASE_OF.get(call.tool, OTHER) for call in calls)
        ordered = {phase: phases[phase] for phase in (*PHASES, OTHER) if phases[phase]}
        steps.append(Step(turn.number, ordered, tuple(new), exploration(turn.regret), own, improved))
    stays, flights = windows(episode.calls, _STAYS), windows(episode.calls, _TRIPS)
    return Trace(
        steps=tuple(steps),
        calendar=any(call.tool == "calendar" and call.fault is None for call in episode.calls),
        windows=len(stays),
        midweek=sum(start.weekday() in MIDWEEK for start, _ in stays),
        thirds=tuple(
            name for place, name in enumerate(("early", "mid", "late"))
            if any(min(2, (start.day - 1) // 10) == place for start, _ in stays)
        ),
        flights=len(flights),
        astray=len(set(flights) - set(stays)),
        improvements=sum(step.improved for step in steps),
    )  # fmt: skip


def windows(calls: Iterable[CallRecord], *kinds: tuple[str, str, str]) -> list[Window]:
    """The different dates that calls without a fault searched, in the order of the first such call."""
    found: dict[Window, None] = {}
    for call in calls:
        for tool, start, end in kinds:
            if call.tool == tool and call.fault is None:
                given = _arguments(call)
                dates = _date(given.get(start)), _date(given.get(end))
                if dates[0] is not None and dates[1] is not None:
                    found[dates[0], dates[1]] = None
    return list(found)


def _better(own: Fraction | None, best: Fraction | None, verdict: Verdict) -> bool:
    return own is not None and feasible(verdict) and (best is None or own < best)


def _arguments(call: CallRecord) -> dict[str, Any]:
    try:
        found = json.loads(call.arguments)
    except (ValueError, RecursionError):
        return {}
    return found if isinstance(found, dict) else {}


def _date(value: Any) -> datetime.date | None:
    try:
        return datetime.date.fromisoformat(value)
    except (TypeError, ValueError):
        return None
