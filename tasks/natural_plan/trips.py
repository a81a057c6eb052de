"""Trips: a route through all cities, by days and direct flights."""

from __future__ import annotations

import re
from collections.abc import Sequence
from typing import Any

from ..converted import Draft
from ..reading import Node
from .writing import ORIGIN, Picks, name_of, write_task

_DAY_RANGE = re.compile(r"Day ([0-9]{1,6})(?: ?- ?([0-9]{1,6}))?\Z")
_GOLDEN = re.compile(r"\*\*Day ([0-9]+)-([0-9]+):\*\* (?:Arriving in .+? and visit|Visit) (.+) for [0-9]+ days\.\Z")


def flights(task: Node) -> set[tuple[str, str]]:
    """From where to where there are direct flights, one way as they are written."""
    listed = task["constraints"]["direct_flights"].items()
    return {(flight["from"].text(), flight["to"].text()) for flight in listed}


def write(draft: Draft, name: str, task: Node, added: Sequence[tuple[str, str]]) -> None:
    """Writes the dataset and the task, with `added` flights that the source lost."""
    given = task["constraints"]
    length = given["trip_length"].whole(1)
    stays = {name_of(stay["city"]): stay["days"].whole(1) for stay in given["city_length"].items()}
    if len(stays) < len(given["city_length"].items()):
        raise given["city_length"].fault("a city stands here twice")
    ranges: dict[str, tuple[int, int]] = {}
    for event in given["city_day_ranges"].items():
        city = event["city"].text()
        if city not in stays or city in ranges:
            raise event["city"].fault(f"'{city}' is not to be visited, or has its days already")
        ranges[city] = event["start"].whole(1), event["end"].whole(1)
    city = {"type": "string"}
    number = {"type": "number"}
    draft.dataset(
        name,
        {
            **ORIGIN,
            "tables": {
                "cities": {
                    "key": ["city"],
                    "id": "{city}",
                    "columns": {"city": city, "days": number, "first_day": number, "last_day": number},
                }
            },
            "relations": {
                "direct_flight": {"args": ["origin", "destination"], "columns": {"origin": city, "destination": city}}
            },
        },
        {
            "cities": [(place, days, *ranges.get(place, (1, length))) for place, days in stays.items()],
            "direct_flight": {*flights(task), *added},
        },
    )
    route = {
        "route": "cities",
        "at_least": len(stays),
        "at": "city",
        "opens": "first_day",
        "closes": "last_day",
        "lasts": "days - 1",
        "travel": "direct_flight",
        "start": {"time": 1},
        "end": {"from": length, "by": length},
        "wait": {"at_most": 0},
    }
    title = f"{len(stays)} cities in {length} days"
    write_task(draft, name, title, {"choose": {"trip": route}}, {"maximize": "count(c for c in trip)"})


def golden(task: Node) -> Picks:
    """The stays that the golden plan lists, one for each city."""
    found = [_GOLDEN.match(line) for line in task["golden_plan"].text().split("\n")]
    stays = [(match[3], int(match[1]), int(match[2])) for match in found if match]
    if len(stays) != len(task["constraints"]["city_length"].items()):
        raise task["golden_plan"].fault("the golden plan does not give one stay for each city")
    return {"trip": [{"id": city, "start": first, "end": last} for city, first, last in stays]}


def read(plan: Node, _task: Node) -> Picks | None:
    """The stays of a submitted plan in its order; None when some has no days or no place."""
    picks: list[dict[str, Any]] = []
    for stay in plan["itinerary"].items():
        fields = stay.value if isinstance(stay.value, dict) else {}
        days, place = _DAY_RANGE.match(str(fields.get("day_range"))), fields.get("place")
        if days is None or not isinstance(place, str) or not place:
            return None
        picks.append({"id": place, "start": int(days[1]), "end": int(days[2] or days[1])})
    return {"trip": picks}
