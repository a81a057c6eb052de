"""Natural Plan (Google DeepMind): trips, meetings and calendars, with the plans that others submitted.

The source is the folder, or one of its files; beside `NAME.json` may be `NAME_submissions.jsonl.gz`. Only the constraints
given as JSON are read, and from the prompt whether a calendar asks for the earliest time. Each task has a dataset:

trip      a route through all cities. Days are plain numbers; who flies on a day is in both cities on it, so a stay of n
          days takes n - 1. Where something takes place in a city, the stay is within its days. Flights are one way.
meeting   a route to friends, each at one place in a window of time; as many as possible.
calendar  a start and an end, each a minute of a day; one constraint for each range that is taken.

A submitted plan is carried over as it is: its days, times, people and places. Meetings stand in the order of their
times. Somebody who is met where he is not becomes an offer that is unknown. What has no readable times stays text, an
empty plan is no answer.
"""

from __future__ import annotations

import json
import re
from collections.abc import Callable, Iterator, Mapping
from dataclasses import dataclass
from pathlib import Path
from typing import Any

from ..schemas.errors import InputError, Where
from ..schemas.offer_id import is_id_text
from ..schemas.source import load_source
from ..schemas.validation import Written, validate
from .converted import Converted, Draft, drafting
from .reading import Node, read_json, read_json_lines

STEMS = ("trip_planning", "meeting_planning", "calendar_scheduling")
DAYS = ("Monday", "Tuesday", "Wednesday", "Thursday", "Friday", "Saturday", "Sunday")
GOLDEN = "golden"  # the agent, and the published verdict, of the plan that the benchmark gives as its answer
MIDNIGHT = 24 * 60
_ORIGIN = {
    "cobench_dataset": 1,
    "name": "natural-plan",
    "license": "CC-BY 4.0",
    "source": "Natural Plan (Google DeepMind)",
}
_DAY_RANGE = re.compile(r"Day (\d{1,6})(?: ?- ?(\d{1,6}))?\Z", re.ASCII)
_CLOCK = re.compile(r"(\d{1,2}):(\d{1,2})\Z", re.ASCII)
_CLOCK_12 = re.compile(r"(1[0-2]|[1-9]):([0-5]\d)([AP])M\Z", re.ASCII)
_GOLDEN_STAY = re.compile(
    r"\*\*Day (\d+)-(\d+):\*\* (?:Arriving in .+? and visit|Visit) (.+) for \d+ days\.\Z", re.ASCII
)
_GOLDEN_MEETING = re.compile(r"You meet (.+) for \d+ minutes from (\S+) to (\S+)\.\Z", re.ASCII)
_GOLDEN_TIME = re.compile(r"Here is the proposed time: (\w+), (\d+:\d\d) - (\d+:\d\d)\s*\Z", re.ASCII)
_EARLIEST = re.compile(r"would like to (?:meet|schedule the meeting) at their earli?e?st availability")

Picks = dict[str, list[dict[str, Any]]]


class Flight(Written):
    """A direct flight that the source lost, and how one knows."""

    origin: str
    destination: str
    reason: str


class Patch(Written):
    """What is put back into one task."""

    direct_flights: list[Flight]


class Patches(Written):
    """A patch file: task ids, and what each gets back."""

    natural_plan_patch: int
    tasks: dict[str, Patch]


@dataclass(frozen=True, slots=True)
class _Kind:
    """How tasks of one kind are written, and how plans for them are read; `read` gives None for what has no times."""

    write: Callable[[Draft, str, Node, list[tuple[str, str]]], None]
    golden: Callable[[Node], Picks]
    read: Callable[[Node, Node], Picks | None]


def convert(source: Path, out: Path, patch: Path | None = None) -> Converted:
    """How much was written into the new folder `out`.

    Raises InputError (or InputErrors) for what cannot be read, with file and place, OutputError for `out`.
    """
    files = _files(source)
    patches = _patches(patch) if patch is not None else {}
    with drafting(source, out) as draft:
        seen: dict[str, Node] = {}
        for file in files:
            tasks = read_json(file).fields()
            for name, task in tasks.items():
                if name in seen:
                    raise task.fault(f"the task '{name}' comes twice")
                seen[name] = task
                kind = _kind(task)
                kind.write(draft, name, task, _flights(patches.get(name), task))
                draft.submit(name, GOLDEN, {"picks": kind.golden(task)}, GOLDEN)
            _submissions(draft, file.with_name(f"{file.stem}_submissions.jsonl.gz"), tasks)
        if alien := next((name for name in patches if name not in seen), None):
            raise InputError(f"there is no task '{alien}' to be patched", where=Where(str(patch)))
    return draft.converted()


def _files(source: Path) -> list[Path]:
    if not source.is_dir():
        return [source]
    if files := [path for stem in STEMS if (path := source / f"{stem}.json").exists()]:
        return files
    names = ", ".join(f"{stem}.json" for stem in STEMS)
    raise InputError("the folder has none of the files of Natural Plan", where=Where(str(source)), hint=names)


def _kind(task: Node) -> _Kind:
    given = task["constraints"]
    for key, kind in _KINDS.items():
        if key in given:
            return kind
    raise given.fault(f"one of the keys {', '.join(_KINDS)} is needed here")


def _name(node: Node) -> str:
    """A name that can be an offer id."""
    if not is_id_text(name := node.text()):
        raise node.fault(f"'{name}' cannot be an id: only letters, digits, '.' and '-' can")
    return name


# Patches


def _patches(path: Path) -> dict[str, Patch]:
    source = load_source(path)
    patches = validate(Patches, source, InputError)
    return patches.tasks


def _flights(patch: Patch | None, task: Node) -> list[tuple[str, str]]:
    """The flights that a patch puts back; InputError for what was never lost."""
    if patch is None:
        return []
    given = task["constraints"]
    if "direct_flights" not in given:
        raise given.fault("the patch has flights for a task without any")
    there = {(flight["from"].text(), flight["to"].text()) for flight in given["direct_flights"].items()}
    cities = {city["city"].text() for city in given["city_length"].items()}
    added: list[tuple[str, str]] = []
    for flight in patch.direct_flights:
        pair = (flight.origin, flight.destination)
        if pair in there or pair in added:
            raise given["direct_flights"].fault(f"the flight {pair[0]} -> {pair[1]} of the patch is there already")
        if strange := next((city for city in pair if city not in cities), None):
            raise given["city_length"].fault(f"the patch flies to or from '{strange}', which is not to be visited")
        added.append(pair)
    return added


# Trips


def _write_trip(draft: Draft, name: str, task: Node, added: list[tuple[str, str]]) -> None:
    given = task["constraints"]
    length = given["trip_length"].whole(1)
    stays = {_name(stay["city"]): stay["days"].whole(1) for stay in given["city_length"].items()}
    if len(stays) < len(given["city_length"].items()):
        raise given["city_length"].fault("a city stands here twice")
    ranges: dict[str, tuple[int, int]] = {}
    for event in given["city_day_ranges"].items():
        city = event["city"].text()
        if city not in stays or city in ranges:
            raise event["city"].fault(f"'{city}' is not to be visited, or has its days already")
        ranges[city] = event["start"].whole(1), event["end"].whole(1)
    flights = {(flight["from"].text(), flight["to"].text()) for flight in given["direct_flights"].items()} | {*added}
    city = {"type": "string"}
    number = {"type": "number"}
    draft.dataset(
        name,
        {
            **_ORIGIN,
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
            "cities": [(name, days, *ranges.get(name, (1, length))) for name, days in stays.items()],
            "direct_flight": list(flights),
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
    _task(
        draft, name, f"{len(stays)} cities in {length} days", {"trip": route}, {}, "maximize", "count(c for c in trip)"
    )


def _golden_trip(task: Node) -> Picks:
    found = [_GOLDEN_STAY.match(line) for line in task["golden_plan"].text().split("\n")]
    stays = [(match[3], int(match[1]), int(match[2])) for match in found if match]
    if len(stays) != len(task["constraints"]["city_length"].items()):
        raise task["golden_plan"].fault("the golden plan does not give one stay for each city")
    return {"trip": [{"id": city, "start": first, "end": last} for city, first, last in stays]}


def _read_trip(plan: Node, _task: Node) -> Picks | None:
    picks: list[dict[str, Any]] = []
    for stay in plan["itinerary"].items():
        if not isinstance(stay.value, dict):
            return None
        days, place = _DAY_RANGE.match(stay["day_range"].text()), stay["place"].value
        if days is None or not place:
            return None
        picks.append({"id": stay["place"].text(), "start": int(days[1]), "end": int(days[2] or days[1])})
    return {"trip": picks}


# Meetings


def _write_meeting(draft: Draft, name: str, task: Node, _added: list[tuple[str, str]]) -> None:
    given = task["constraints"]
    people: dict[str, tuple[Any, ...]] = {}
    for person in given["people_to_meet"].items():
        who, times = _name(person["name"]), person["time_of_day"]
        if who in people:
            raise person["name"].fault(f"'{who}' stands here twice")
        least = person["min_meeting_duration"].whole(0, MIDNIGHT)
        people[who] = (who, person["location"].text(), _clock_12(times["from"]), _clock_12(times["to"]), least)
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
            **_ORIGIN,
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
    time_of_start = _clock_12(start["time_of_day"])
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
    _task(draft, name, title, {"day": route}, {}, "maximize", "count(f for f in day)")


def _golden_meeting(task: Node) -> Picks:
    picks: list[dict[str, Any]] = []
    for sentence in task["golden_plan"].items():
        if not sentence.text().startswith("You meet "):
            continue
        match = _GOLDEN_MEETING.match(sentence.text())
        if match is None:
            raise sentence.fault("this sentence about a meeting cannot be read")
        times = (_clock_12(Node(text, sentence.file, sentence.pointer)) for text in (match[2], match[3]))
        picks.append({"id": match[1], **dict(zip(("start", "end"), map(_shown, times), strict=True))})
    return {"day": picks}


def _read_meeting(plan: Node, task: Node) -> Picks | None:
    places = {one["name"].value: one["location"].value for one in task["constraints"]["people_to_meet"].items()}
    met: list[tuple[int, int, str]] = []
    for meeting in plan["itinerary"].items():
        start, end = _clock(meeting["start_time"]), _clock(meeting["end_time"])
        if start is None or end is None:
            return None
        who = meeting["person"].value
        where = meeting["location"].value if "location" in meeting else places.get(who)
        met.append((start, end, who if where == places.get(who, where) and who else f"{who} at {where}"))
    met.sort(key=lambda one: one[0])
    return {"day": [{"id": who, "start": _shown(start), "end": _shown(end)} for start, end, who in met]}


# Calendars


def _write_calendar(draft: Draft, name: str, task: Node, _added: list[tuple[str, str]]) -> None:
    given = task["constraints"]
    length = _minutes(given["meeting_duration"])
    taken: dict[tuple[str, int, int], None] = {}
    for one in given["disallowed_ranges"].items():
        day = one["day"].text()
        if day not in DAYS:
            raise one["day"].fault(f"'{day}' is no day of the week")
        start, end = _minutes(one["start"]), _minutes(one["end"])
        if start >= end:
            raise one.fault("the range ends before it begins")
        taken[day, start, end] = None
    days = [day for day in DAYS if any(day == one for one, _, _ in taken)]
    minutes = {"type": "number", "unit": "min"}
    columns = {
        "day": {"type": "string", "values": days},
        "clock": {"type": "string"},
        "minute": minutes,
        "since": minutes,
    }
    draft.dataset(
        name,
        {
            **_ORIGIN,
            "tables": {
                "moments": {
                    "note": "Each minute of a day; since is counted from the beginning of the week.",
                    "key": ["day", "clock"],
                    "id": "{day}_{clock}",
                    "columns": columns,
                }
            },
        },
        {
            "moments": [
                (day, f"{at // 60:02d}.{at % 60:02d}", at, at + DAYS.index(day) * MIDNIGHT)
                for day in days
                for at in range(MIDNIGHT + 1)
            ]
        },
    )
    constraints = {"length": f"start.day == end.day and end.minute - start.minute == {length}"}
    for day in days:
        for start, end in sorted((start, end) for one, start, end in taken if one == day):
            label = f"{day.lower()}_{start // 60:02d}{start % 60:02d}_{end // 60:02d}{end % 60:02d}"
            free = [f"start.minute >= {end}", *([f"start.minute <= {start - length}"] if start >= length else [])]
            constraints[label] = " or ".join([f'start.day != "{day}"', *free])
    earliest = _EARLIEST.search(task["prompt"].text().rpartition("TASK:")[2])
    objective = "start.since" if earliest else "0"
    title = f"{'The earliest' if earliest else 'A'} meeting of {length} minutes"
    _task(draft, name, title, {"start": "moments", "end": "moments"}, constraints, "minimize", objective)


def _golden_calendar(task: Node) -> Picks:
    match = _GOLDEN_TIME.match(task["golden_plan"].text())
    if match is None:
        raise task["golden_plan"].fault("the golden plan does not give a day and two times")
    return _moments(match[1], *(_clock(Node(text, "")) or 0 for text in (match[2], match[3])))


def _read_calendar(plan: Node, _task: Node) -> Picks | None:
    start, end = _clock(plan["start_time"]), _clock(plan["end_time"])
    return None if start is None or end is None else _moments(plan["day"].text(), start, end)


def _moments(day: str, start: int, end: int) -> Picks:
    return {name: [{"id": f"{day}_{at // 60:02d}.{at % 60:02d}"}] for name, at in (("start", start), ("end", end))}


# What they share


def _task(
    draft: Draft,
    name: str,
    title: str,
    choose: Mapping[str, Any],
    constraints: Mapping[str, str],
    sense: str,
    objective: str,
) -> None:
    task = {"cobench": 1, "id": name, "title": title, "dataset": f"../data/{name}", "choose": choose}
    draft.task({**task, **({"constraints": constraints} if constraints else {}), sense: objective})


def _minutes(hours: Node) -> int:
    """Minutes of hours such as 9.5."""
    minutes = hours.number() * 60
    if minutes.denominator != 1 or not 0 <= minutes <= MIDNIGHT:
        raise hours.fault(f"{hours.number()} hours are no whole minutes of a day")
    return int(minutes)


def _clock_12(node: Node) -> int:
    """Minutes since midnight of a time such as 12:30PM."""
    match = _CLOCK_12.match(node.text())
    if match is None:
        raise node.fault(f"'{node.text()}' is no time of day such as 9:00AM")
    return (int(match[1]) % 12 + 12 * (match[3] == "P")) * 60 + int(match[2])


def _clock(node: Node) -> int | None:
    """Minutes since midnight of a time such as 13:45, 9:00 or 9:5 (as C's strptime reads it); None for anything else."""
    match = _CLOCK.match(node.value) if isinstance(node.value, str) else None
    if match is None or int(match[1]) > 23 or int(match[2]) > 59:  # noqa: PLR2004
        return None
    return int(match[1]) * 60 + int(match[2])


def _shown(minutes: int) -> str:
    return f"{minutes // 60:02d}:{minutes % 60:02d}"


def _submissions(draft: Draft, path: Path, tasks: Mapping[str, Node]) -> None:
    if not path.exists():
        return
    seen: set[tuple[str, str]] = set()
    for line in read_json_lines(path):
        name, agent = line["task"].text(), f"{line['model'].text()}/{line['method'].text()}"
        if name not in tasks:
            raise line["task"].fault(f"there is no task '{name}'")
        if (name, agent) in seen:
            raise line.fault(f"a second plan of {agent} for '{name}'")
        seen.add((name, agent))
        published = ": ".join(
            [line["status"].text(), *([", ".join(clauses)] if (clauses := line["violated"].fields()) else [])]
        )
        draft.submit(name, agent, _answer(line["plan"], tasks[name]), published)


def _answer(plan: Node, task: Node) -> Any:
    """The plan in our form; None when there is none, and its own text when it has no times that can be read."""
    if not plan.fields() or plan.value.get("itinerary") == [] or None in list(_values(plan.value)):
        return None
    picks = _kind(task).read(plan, task)
    return {"picks": picks} if picks is not None else json.dumps(plan.value, ensure_ascii=False, sort_keys=True)


def _values(plan: Mapping[str, Any]) -> Iterator[Any]:
    yield from plan.values()


_KINDS = {
    "trip_length": _Kind(_write_trip, _golden_trip, _read_trip),
    "people_to_meet": _Kind(_write_meeting, _golden_meeting, _read_meeting),
    "meeting_duration": _Kind(_write_calendar, _golden_calendar, _read_calendar),
}
