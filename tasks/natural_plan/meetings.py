"""Meetings: a route to as many friends as possible, each at one place in a window of time."""

from __future__ import annotations

import re
from typing import Any

from ..converted import Draft
from ..reading import Node
from .writing import MIDNIGHT, ORIGIN, Picks, clock, clock_12, name_of, shown, write_task

_GOLDEN = re.compile(r"You meet (.+) for [0-9]+ minutes from (\S+) to (\S+)\.\Z")


def write(draft: Draft, name: str, task: Node) -> None:
    """Writes the dataset and the task."""
    given = task["constraints"]
    people: dict[str, tuple[Any, ...]] = {}
    for person in given["people_to_meet"].items():
        who, times = name_of(person["name"]), person["time_of_day"]
        if who in people:
            raise person["name"].fault(f"'{who}' stands here twice")
        least = person["min_meeting_duration"].whole(0, MIDNIGHT)
        people[who] = (who, person["location"].text(), clock_12(times["from"]), clock_12(times["to"]), least)
    ways: dict[tuple[str, str], int] = {}
    for way in given["travel_distances"].items():
        pair = (way["place"]["from"].text(), way["place"]["to"].text())
        if pair in ways:
            raise way["place"].fault(f"the way from {pair[0]} to {pair[1]} stands here twice")
        ways[pair] = way["walking_time"].whole(0, MIDNIGHT)
    text, time, minutes = {"type": "string"}, {"type": "time"}, {"type": "number", "unit": "min"}
    columns = {"person": text, "place": text, "there_from": time, "there_until": time, "least": minutes}
    draft.dataset(
        name,
        {
            **ORIGIN,
            "tables": {"friends": {"key": ["person"], "id": "{person}", "columns": columns}},
            "relations": {
                "travel": {
                    "args": ["origin", "destination"],
                    "columns": {"origin": text, "destination": text, "minutes": minutes},
                    "value": "minutes",
                }
            },
        },
        {"friends": list(people.values()), "travel": [(*pair, way) for pair, way in ways.items()]},
    )
    start = given["start"]
    time_of_start = clock_12(start["time_of_day"])
    route = {
        "route": "friends",
        "at_least": 0,
        "at": "place",
        "opens": "there_from",
        "closes": "there_until",
        "lasts": {"at_least": "least"},
        "travel": "travel",
        "start": {"at": start["location"].text(), "time": f"{time_of_start // 60:02d}:{time_of_start % 60:02d}"},
    }
    title = f"As many of {len(people)} friends as possible"
    write_task(draft, name, title, {"choose": {"day": route}}, {"maximize": "count(f for f in day)"})


def golden(task: Node) -> Picks:
    """The meetings that the golden plan tells of."""
    picks: list[dict[str, Any]] = []
    for sentence in task["golden_plan"].items():
        if not sentence.text().startswith("You meet "):
            continue
        match = _GOLDEN.match(sentence.text())
        if match is None:
            raise sentence.fault("this sentence about a meeting cannot be read")
        times = (clock_12(Node(text, sentence.file, sentence.pointer)) for text in (match[2], match[3]))
        picks.append({"id": match[1], **dict(zip(("start", "end"), map(shown, times), strict=True))})
    return {"day": picks}


def read(plan: Node, task: Node) -> Picks | None:
    """The meetings of a submitted plan in the order of their times; None when some has no times or no person.

    Who is said to be met somewhere else than where they are is no friend of the task: `Sarah at Bayview`.
    """
    places = {one["name"].text(): one["location"].text() for one in task["constraints"]["people_to_meet"].items()}
    met: list[tuple[int, int, str]] = []
    for meeting in plan["itinerary"].items():
        fields = meeting.fields() if isinstance(meeting.value, dict) else {}
        if not {"start_time", "end_time", "person"} <= fields.keys():
            return None
        start, end, person = clock(fields["start_time"]), clock(fields["end_time"]), fields["person"].value
        if start is None or end is None or not isinstance(person, str):
            return None
        place = fields["location"].value if "location" in fields else places.get(person)
        met.append((start, end, person if person and place == places.get(person, place) else f"{person} at {place}"))
    met.sort(key=lambda one: one[0])
    return {"day": [{"id": who, "start": shown(start), "end": shown(end)} for start, end, who in met]}
