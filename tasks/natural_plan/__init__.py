"""Natural Plan (Google DeepMind): trips, meetings and calendars, with the plans that others submitted.

The source is the folder, or one of its files; beside `NAME.json` may be `NAME_submissions.jsonl.gz`. Of a task only the
constraints given as JSON are read, and from the prompt whether a calendar asks for the earliest time. Each task has a
dataset of its own:

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
import os
from collections.abc import Mapping
from pathlib import Path
from typing import Any, Literal

from pydantic import ConfigDict, Field

from ...schemas.errors import InputError, Where
from ...schemas.source import load_source
from ...schemas.validation import Written, validate
from ..converted import Converted, Draft, drafting
from ..reading import Node, read_json, read_json_lines
from . import calendars, meetings, trips

SUBMITTED = "_submissions.jsonl.gz"
STEMS = ("trip_planning", "meeting_planning", "calendar_scheduling")
GOLDEN = "golden"  # the agent, and the published verdict, of the plan that the benchmark gives as its answer
_KINDS = {"trip_length": trips, "people_to_meet": meetings, "meeting_duration": calendars}


class Flight(Written):
    """A direct flight that the source lost, and how one knows."""

    model_config = ConfigDict(populate_by_name=False)

    origin: str = Field(alias="from")
    destination: str = Field(alias="to")
    reason: str = Field(min_length=1)


class Patch(Written):
    """What is put back into one task."""

    direct_flights: list[Flight]


class PatchFile(Written):
    """What is put back into which task."""

    natural_plan_patch: Literal[1]
    tasks: dict[str, Patch]


def convert(source: Path, out: Path, patch: Path | None = None) -> Converted:
    """How much was written into the new folder `out`; `patch` is a file with flights that the source lost.

    Raises InputError (or InputErrors) for what cannot be read, with file and place, OutputError for `out`.
    """
    files = _files(source)
    patches = validate(PatchFile, load_source(patch), InputError).tasks if patch is not None else {}
    with drafting(source, out) as draft:
        seen: set[str] = set()
        for file in files:
            tasks = read_json(file).fields()
            for name, task in tasks.items():
                if name in seen:
                    raise task.fault(f"the task '{name}' comes twice")
                seen.add(name)
                _task(draft, name, task, patches.get(name))
            _submissions(draft, file.with_name(f"{file.stem}{SUBMITTED}"), tasks)
        if alien := next((name for name in patches if name not in seen), None):
            raise InputError(f"there is no task '{alien}' to be patched", where=Where(str(patch)))
    return draft.converted()


def _files(source: Path) -> list[Path]:
    if not source.is_dir():
        return [source]
    files = [path for stem in STEMS if os.path.lexists(path := source / f"{stem}.json")]
    plans = {path.name.removesuffix(SUBMITTED): path for path in sorted(source.glob(f"*{SUBMITTED}"))}
    if alone := next((path for stem, path in plans.items() if stem not in {file.stem for file in files}), None):
        raise InputError("these plans were submitted for tasks that are not there", where=Where(str(alone)))
    if files:
        return files
    names = ", ".join(f"{stem}.json" for stem in STEMS)
    raise InputError("the folder has none of the files of Natural Plan", where=Where(str(source)), hint=names)


def _task(draft: Draft, name: str, task: Node, patch: Patch | None) -> None:
    kind = _kind(task)
    if kind is trips:
        trips.write(draft, name, task, _lost(patch, task))
    elif patch is not None:
        raise task.fault("the patch has flights for a task without any")
    elif kind is meetings:
        meetings.write(draft, name, task)
    else:
        calendars.write(draft, name, task)
    draft.submit(name, GOLDEN, {"picks": kind.golden(task)}, GOLDEN)


def _kind(task: Node) -> Any:
    """The module that knows tasks such as this."""
    given = task["constraints"]
    for key, kind in _KINDS.items():
        if key in given:
            return kind
    raise given.fault(f"one of the keys {', '.join(_KINDS)} is needed here")


def _lost(patch: Patch | None, task: Node) -> list[tuple[str, str]]:
    """The flights that a patch puts back; InputError for one that was never lost."""
    given, added = task["constraints"], list[tuple[str, str]]()
    there = trips.flights(task)
    cities = {city["city"].text() for city in given["city_length"].items()}
    for flight in patch.direct_flights if patch is not None else ():
        pair = (flight.origin, flight.destination)
        if pair in there or pair in added:
            raise given["direct_flights"].fault(f"the flight {pair[0]} -> {pair[1]} of the patch is there already")
        if strange := next((city for city in pair if city not in cities), None):
            raise given["city_length"].fault(f"the patch flies from or to '{strange}', which is not to be visited")
        added.append(pair)
    return added


def _submissions(draft: Draft, path: Path, tasks: Mapping[str, Node]) -> None:
    seen: set[tuple[str, str]] = set()
    for line in read_json_lines(path) if os.path.lexists(path) else ():
        name, agent = line["task"].text(), f"{line['model'].text()}/{line['method'].text()}"
        if name not in tasks:
            raise line["task"].fault(f"there is no task '{name}'")
        if (name, agent) in seen:
            raise line.fault(f"a second plan of {agent} for '{name}'")
        seen.add((name, agent))
        clauses = ", ".join(line["violated"].fields())
        published = f"{line['status'].text()}: {clauses}" if clauses else line["status"].text()
        draft.submit(name, agent, _answer(line["plan"], tasks[name]), published)


def _answer(plan: Node, task: Node) -> Any:
    """The plan in our form; None when there is none, and its own text when it has no times that can be read."""
    fields = plan.fields()
    if not fields or plan.value.get("itinerary") == [] or any(field.value is None for field in fields.values()):
        return None
    picks = _kind(task).read(plan, task)
    return {"picks": picks} if picks is not None else json.dumps(plan.value, ensure_ascii=False, default=str)
