"""Many folders of results become one collection of certificates, if each task is in them exactly once."""

from __future__ import annotations

import json
from collections import Counter
from collections.abc import Sequence
from dataclasses import dataclass, field
from pathlib import Path
from typing import Any

from ..schemas.canonical import canonical_bytes
from ..schemas.errors import InputError, Where
from ..schemas.files import write_atomically
from .parts import MERGED, KnownData, Plan, finished_parts, read_plan, records_of
from .records import REMOVE, Stored, check_certificate


@dataclass(frozen=True, slots=True)
class _Found:
    """Where the record of a task is, and whether it has a certificate."""

    path: Path
    offset: int
    certified: bool


@dataclass(slots=True)
class Summary:
    """How many tasks ended how. `grades`: per claim."""

    tasks: int = 0
    exits: Counter[int] = field(default_factory=Counter[int])
    statuses: Counter[str] = field(default_factory=Counter[str])
    headlines: Counter[str] = field(default_factory=Counter[str])
    grades: dict[str, Counter[str]] = field(default_factory=dict[str, Counter[str]])

    def add(self, record: Stored) -> None:
        """Counts one record."""
        self.tasks += 1
        self.exits[record.exit] += 1
        if record.certificate is None:
            self.statuses["no certificate"] += 1
            return
        claims = record.certificate["claims"]
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
    part is in memory at a time. Raises InputError when tasks are missing or there twice, when folders differ in
    version, flags, tasks or data, or when a certificate was altered, and then writes nothing.
    """
    collected = _Collected(read_plan(folders[0]))
    for folder in folders:
        collected.add(folder, folders[0])
    collected.check_complete(folders[0])
    plan, found = collected.plan, collected.found
    order = sorted(plan.tasks, key=lambda task: ((task[1] or "").encode(), task[0].encode()))
    places = [place for place, _, _ in order]
    names = [out / name for name in MERGED]
    certified = (found[place] for place in places if found[place].certified)
    write_atomically(names[0], (_certificate_at(item.path, item.offset) for item in certified))
    write_atomically(names[1], (collected.problems[place] for place in places if place in collected.problems))
    facts = {name: known.model_dump(mode="json") for name, known in collected.data.found.items()}
    content = {"version": plan.version, "flags": plan.flags, "data": facts, **collected.summary.content()}
    text = json.dumps(content, indent=1, sort_keys=True, ensure_ascii=False)
    write_atomically(names[2], text.encode() + b"\n")
    return collected.summary


class _Collected:
    """What is in the folders, everything checked, before anything is written."""

    def __init__(self, plan: Plan) -> None:
        self.plan = plan
        self.summary, self.data = Summary(), KnownData()
        self.found: dict[str, _Found] = {}
        self.problems: dict[str, bytes] = {}
        self._tasks = {place: (name, digest) for place, name, digest in plan.tasks}

    def add(self, folder: Path, first: Path) -> None:
        """Takes what a folder holds; raises InputError when that does not belong with the rest."""
        own = read_plan(folder)
        different = own.difference(self.plan)
        if different:
            message = f"these results do not belong with those in {first}: {different}"
            raise InputError(message, where=Where(str(folder)))
        for part in finished_parts(folder, own):
            for name, facts in part.marker.data.items():
                self.data.add(name, facts, str(part.path))
            for record, offset, where in records_of(part):
                self._add(record, _Found(part.path, offset, record.certificate is not None), where)

    def _add(self, record: Stored, found: _Found, where: Where) -> None:
        place = record.place
        if place in self.found:
            raise InputError(f"{place} is here twice, also in {self.found[place].path}", where=where)
        if place not in self._tasks:
            raise InputError(f"{place} is no task of this suite", where=where)
        if (record.id, record.digest) != self._tasks[place]:
            raise InputError(f"the record of {place} is that of another task", where=where, hint=REMOVE)
        check_certificate(record, where)
        self.found[place] = found
        self.summary.add(record)
        if record.exit or not found.certified:
            self.problems[place] = record.problem()

    def check_complete(self, first: Path) -> None:
        """Raises InputError when tasks have no record."""
        missing = [place for place, _, _ in self.plan.tasks if place not in self.found]
        if missing:
            hint = "give the folders of all shards; `cobench certify … --resume` finishes what was interrupted"
            message = f"{len(missing)} of {len(self.plan.tasks)} tasks are missing, first {missing[0]}"
            raise InputError(message, where=Where(str(first)), hint=hint)


def _certificate_at(path: Path, offset: int) -> bytes:
    """The certificate of the record that begins there, as a file holds it."""
    with path.open("rb") as stream:
        stream.seek(offset)
        return canonical_bytes(json.loads(stream.readline())["certificate"])
