"""Calendars: a start and an end, each a minute of a day, outside of what is taken."""

from __future__ import annotations

import re

from ..converted import Draft
from ..reading import Node
from .writing import MIDNIGHT, ORIGIN, Picks, clock, shown, write_task

DAYS = ("Monday", "Tuesday", "Wednesday", "Thursday", "Friday", "Saturday", "Sunday")
_GOLDEN = re.compile(r"Here is the proposed time: ([A-Za-z]+), ([0-9]+:[0-9]{2}) - ([0-9]+:[0-9]{2})\s*\Z")
_EARLIEST = re.compile(r"would like to (?:meet|schedule the meeting) at their earli?e?st availability")


def write(draft: Draft, name: str, task: Node) -> None:
    """Writes the dataset and the task."""
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
            **ORIGIN,
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
                (day, _clock_id(at), at, at + DAYS.index(day) * MIDNIGHT) for day in days for at in range(MIDNIGHT + 1)
            ]
        },
    )
    constraints = {"length": f"start.day == end.day and end.minute - start.minute == {length}"}
    for day in days:
        for start, end in sorted((start, end) for one, start, end in taken if one == day):
            label = f"{day.lower()}_{shown(start)}_{shown(end)}".replace(":", "")
            free = [f"start.minute >= {end}", *([f"start.minute <= {start - length}"] if start >= length else [])]
            constraints[label] = " or ".join([f'start.day != "{day}"', *free])
    earliest = _EARLIEST.search(task["prompt"].text().rpartition("TASK:")[2])
    objective = "start.since" if earliest else "0"
    title = f"{'The earliest' if earliest else 'A'} meeting of {length} minutes"
    decisions = {"choose": {"start": "moments", "end": "moments"}, "constraints": constraints}
    write_task(draft, name, title, decisions, {"minimize": objective})


def golden(task: Node) -> Picks:
    """The time that the golden plan proposes."""
    plan = task["golden_plan"]
    match = _GOLDEN.match(plan.text())
    start, end = (clock(Node(match[at] if match else None, plan.file)) for at in (2, 3))
    if match is None or start is None or end is None:
        raise plan.fault("the golden plan does not give a day and two times")
    return _moments(match[1], start, end)


def read(plan: Node, _task: Node) -> Picks | None:
    """The moments of a submitted plan; None when it has no day or no times."""
    start, end, day = clock(plan["start_time"]), clock(plan["end_time"]), plan["day"].value
    return None if start is None or end is None or not isinstance(day, str) else _moments(day, start, end)


def _moments(day: str, start: int, end: int) -> Picks:
    return {name: [{"id": f"{day}_{_clock_id(at)}"}] for name, at in (("start", start), ("end", end))}


def _clock_id(minute: int) -> str:
    """The time of day in an offer id, which holds no colon."""
    return shown(minute).replace(":", ".")


def _minutes(hours: Node) -> int:
    """Minutes of hours such as 9.5."""
    minutes = hours.number() * 60
    if minutes.denominator != 1 or not 0 <= minutes <= MIDNIGHT:
        raise hours.fault(f"{hours.number()} hours are no whole minutes of a day")
    return int(minutes)
