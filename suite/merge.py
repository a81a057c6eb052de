"""Many folders of results become one collection of certificates, if each task is in them exactly once."""

from __future__ import annotations

import json
from collections import Counter
from collections.abc import Iterator, Sequence
from dataclasses import dataclass, field
from pathlib import Path
from typing import Any

from ..schemas.canonical import canonical_bytes
from ..schemas.errors import InputError, Where
from ..schemas.files import write_atomically
from .parts import MERGED, KnownData, Part, Plan, finished_parts, lines_of, read_plan, record_in

_KEPT = ("place", "id", "exit", "errors", "surprise", "undecided", "refuted")


@dataclass(slots=True)
class Summary:
    """How many tasks ended how. `grades`: per claim."""

    tasks: int = 0
    exits: Counter[int] = field(default_factory=Counter[int])
    statuses: Counter[str] = field(default_factory=Counter[str])
    headlines: Counter[str] = field(default_factory=Counter[str])
    grades: dict[str, Counter[str]] = field(default_factory=dict[str, Counter[str]])

    def add(self, record: dict[str, Any]) -> None:
        """Counts one record."""
        self.tasks += 1
        self.exits[record["exit"]] += 1
        if "certificate" not in record:
            self.statuses["no certificate"] += 1
            return
        claims = record["certificate"]["claims"]
        self.statuses[claims["status"]["value"]] += 1
        for name, claim in claims.items():
            self.grades.setdefault(name, Counter())[claim["grade"]] += 1
        order = ("claimed", "agreed", "proved")
        self.headlines[min((claim["grade"] for claim in claims.values()), key=order.index)] += 1

    def content(self) -> dict[str, Any]:
        """The counts as plain data."""
        return {
            "tasks": self.tasks,
            "exits": {str(code): self.exits[code] for code in sorted(self.exits)},
            "status": dict(self.statuses),
            "headline": dict(self.headlines),
            "grades": {name: dict(found) for name, found in self.grades.items()},
        }


def merge(folders: Sequence[Path], out: Path) -> Summary:
    """Writes the certificates of all folders to `out`: one a line, by task id; what is not as expected; counts.

    Equal suites, data, version and flags give equal bytes, however the suite was sharded, chunked and interrupted. One
    record is in memory at a time. Raises InputError when tasks are missing or there twice, or when folders differ in
    version, flags, tasks or data, and then writes nothing.
    """
    plan, places, data = _collected(folders)
    ids = {place: name for place, name, _ in plan.tasks}
    order = sorted(places, key=lambda place: ((ids[place] or "").encode(), place.encode()))
    summary = Summary()
    problems: list[bytes] = []

    def certificates() -> Iterator[bytes]:
        for place in order:
            record = dict(record_in(*places[place]))
            if record["place"] != place or record["id"] != ids[place]:
                raise InputError(f"the record of {place} is that of another task", where=Where(str(places[place][0])))
            summary.add(record)
            certificate = record.pop("certificate", None)
            if record["exit"] or certificate is None:
                problems.append(canonical_bytes({name: record[name] for name in _KEPT if name in record}))
            if certificate is not None:
                yield canonical_bytes(certificate)

    names = [out / name for name in MERGED]
    write_atomically(names[0], certificates())
    write_atomically(names[1], problems)
    found = {name: facts.model_dump(mode="json") for name, facts in data.found.items()}
    content = {"version": plan.version, "flags": plan.flags, "data": found, **summary.content()}
    text = json.dumps(content, indent=1, sort_keys=True, ensure_ascii=False)
    write_atomically(names[2], text.encode() + b"\n")
    return summary


def _collected(folders: Sequence[Path]) -> tuple[Plan, dict[str, tuple[Path, int, int]], KnownData]:
    """The common plan, where the record of each task is, and the data."""
    plan, places, data = read_plan(folders[0]), dict[str, tuple[Path, int, int]](), KnownData()
    for folder in folders:
        own = read_plan(folder)
        different = own.difference(plan)
        if different:
            message = f"these results do not belong with those in {folders[0]}: {different}"
            raise InputError(message, where=Where(str(folder)))
        for part in finished_parts(folder, own):
            for name, facts in part.marker.data.items():
                data.add(name, facts, str(part.path))
            _locate(part, places)
    known = {place for place, _, _ in plan.tasks}
    foreign = sorted(places.keys() - known)
    if foreign:
        raise InputError(f"{foreign[0]} is no task of this suite", where=Where(str(places[foreign[0]][0])))
    missing = [place for place, _, _ in plan.tasks if place not in places]
    if missing:
        hint = "give the folders of all shards; `cobench certify … --resume` finishes what was interrupted"
        message = f"{len(missing)} of {len(plan.tasks)} tasks are missing, first {missing[0]}"
        raise InputError(message, where=Where(str(folders[0])), hint=hint)
    return plan, places, data


def _locate(part: Part, places: dict[str, tuple[Path, int, int]]) -> None:
    for place, offset, length in lines_of(part):
        if place in places:
            raise InputError(f"{place} is here twice, also in {places[place][0]}", where=Where(str(part.path)))
        places[place] = (part.path, offset, length)
