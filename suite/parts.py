"""What `certify` writes, so that it can be stopped at any moment: parts, each with a marker that says what it holds.

    DIR/suite.json            every task of the whole suite, the shard, version and flags
    DIR/lock                  held by the process at work
    DIR/parts/00001.jsonl     records of tasks, one line each, in the order in which they came
    DIR/parts/00001.done      written after the part: its digest, tasks, digests of the data, and a seal on all of it

A part counts only with its marker, and a marker only with its seal and a part of its digest, so whatever a kill or a
full disk leaves behind is written anew.
"""

from __future__ import annotations

import hashlib
import os
import re
from collections import Counter
from collections.abc import Generator, Iterator, Sequence
from contextlib import contextmanager
from dataclasses import dataclass, field
from pathlib import Path
from typing import Literal

from pydantic import ValidationError

from ..datasets.opening import Dataset
from ..schemas.canonical import canonical_bytes, digest
from ..schemas.certificate import DatasetFacts
from ..schemas.errors import InputError, Where
from ..schemas.files import locked, write_atomically
from ..schemas.validation import Written
from ..schemas.version import VERSION
from .records import REMOVE, Stored, read_record
from .source import Suite
from .work import GIVEN, Flags, Record

SUITE, LOCK, PARTS = "suite.json", "lock", "parts"
MERGED = ("certificates.jsonl", "problems.jsonl", "summary.json")


class Plan(Written):
    """What a folder of results is about. `tasks`: place, id and digest of the text of every task in the suite."""

    cobench_suite: Literal[1] = 1
    version: str
    flags: dict[str, str | int | bool | None]
    shard: tuple[int, int]
    tasks: tuple[tuple[str, str | None, str], ...]

    def difference(self, other: Plan) -> str:
        """In what results of the two cannot stand side by side; nothing when they can."""
        if self.version != other.version:
            return f"they are from version {self.version}, the others from {other.version}"
        for name in sorted(self.flags.keys() | other.flags.keys()):
            mine, theirs = self.flags.get(name), other.flags.get(name)
            if mine != theirs:
                return f"they were certified with {name} {mine}, the others with {theirs}"
        if self.tasks != other.tasks:
            changed = sorted({place for place, _, _ in set(self.tasks) ^ set(other.tasks)})
            return f"{len(changed)} tasks are others, first {changed[0]}" if changed else "their tasks come otherwise"
        return ""


class Marker(Written):
    """What one part holds. `data`: by the name under which the suite knows it."""

    cobench_part: Literal[1] = 1
    version: str
    flags: dict[str, str | int | bool | None]
    digest: str
    places: tuple[str, ...]
    data: dict[str, DatasetFacts]
    seal: str = ""

    def sealed(self) -> Marker:
        """The same marker with the digest of all else that it says."""
        return self.model_copy(update={"seal": digest(self.model_dump(mode="json", exclude={"seal"}))})


@dataclass(frozen=True, slots=True)
class Part:
    """A finished part. `content`: its bytes, whose digest is that in the marker."""

    path: Path
    marker: Marker
    content: bytes


@dataclass(slots=True)
class KnownData:
    """The digests of all data that records were made from; data under one name has one digest a table."""

    found: dict[str, DatasetFacts] = field(default_factory=dict[str, DatasetFacts])

    def add(self, name: str, facts: DatasetFacts, where: str) -> None:
        """Raises InputError when a manifest, table or relation is another than before, or when only some tasks had
        their data replaced.
        """
        if self.found and (name == GIVEN) != (GIVEN in self.found):
            hint = "certify all of them in the same way, in a new folder"
            raise InputError("some tasks were certified with --data, others without", where=Where(where), hint=hint)
        known = self.found.setdefault(name, facts)
        pairs = [("the manifest", known.manifest, facts.manifest), ("the name", known.name, facts.name)]
        for kind, old, new in (("table", known.tables, facts.tables), ("relation", known.relations, facts.relations)):
            pairs += [(f"the {kind} '{item}'", old[item], new[item]) for item in sorted(old.keys() & new.keys())]
        for what, before, now in pairs:
            if before != now:
                hint = f"{before[:19]}… became {now[:19]}…; certify all tasks on the same data, in a new folder"
                raise InputError(f"{what} of the data '{name}' has changed", where=Where(where), hint=hint)
        tables, relations = {**known.tables, **facts.tables}, {**known.relations, **facts.relations}
        self.found[name] = known.model_copy(update={"tables": tables, "relations": relations})

    def compare(self, name: str, dataset: Dataset) -> None:
        """Raises InputError when a dataset is no longer what records were made from."""
        known, manifest = self.found[name], dataset.manifest
        world = manifest.sample()
        tables = {item: dataset.table(world, item).digest for item in known.tables if item in world.tables}
        relations = {item: dataset.relation(world, item).digest for item in known.relations if item in world.relations}
        now = DatasetFacts(name=manifest.manifest.name, manifest=manifest.digest(), tables=tables, relations=relations)
        self.add(name, now, str(dataset.folder))


class Results:
    """A folder of results that this process may write to."""

    def __init__(self, folder: Path, plan: Plan) -> None:
        self.folder, self.plan, self.data = folder, plan, KnownData()
        self.exits: Counter[int] = Counter()
        self.finished: set[str] = set()
        self._number = 0

    def take(self, part: Part, exits: Sequence[int]) -> None:
        """Counts a part that is there, and the exit codes of its tasks."""
        for name, facts in part.marker.data.items():
            self.data.add(name, facts, str(part.path))
        self.finished.update(part.marker.places)
        self.exits.update(exits)
        self._number = max(self._number, int(part.path.stem))

    def write(self, records: Sequence[Record]) -> None:
        """One more part, on the disk when this returns. Raises OutputError when it cannot be written, and InputError
        when data has changed since other records were made.
        """
        data = KnownData()
        for record in records:
            if record.data is not None:
                data.add(record.data[0], DatasetFacts(**record.data[1]), record.place)
        content = b"".join(record.line for record in records)
        marker = Marker(
            version=self.plan.version,
            flags=self.plan.flags,
            digest=_digest(content),
            places=tuple(record.place for record in records),
            data=data.found,
        ).sealed()
        part = Part(self.folder / PARTS / f"{self._number + 1:05d}.jsonl", marker, content)
        for name, facts in data.found.items():
            self.data.add(name, facts, str(part.path))
        write_atomically(part.path, content)
        write_atomically(part.path.with_suffix(".done"), canonical_bytes(marker.model_dump(mode="json")))
        self.take(part, [record.exit for record in records])


def plan_of(suite: Suite, flags: Flags, shard: tuple[int, int]) -> Plan:
    """The plan of a shard: it names all tasks of the suite, so that nothing can be missing unnoticed."""
    tasks = tuple((entry.place, entry.id, entry.digest) for entry in suite.entries)
    return Plan(version=VERSION, flags=flags.content(), shard=shard, tasks=tasks)


@contextmanager
def open_results(folder: Path, plan: Plan, *, resume: bool) -> Generator[Results]:
    """The results in a folder, locked against other processes, with the parts that are finished.

    Raises InputError when another process is at work there, when the folder holds something else (or anything, without
    `resume`), and OutputError when it cannot be written to.
    """
    _claim(folder, plan, resume)
    with locked(folder / LOCK, "wait for it, or give each shard a folder of its own"):
        _claim(folder, plan, resume)  # again: it may have been another's in the meantime
        for rest in (*folder.glob(".*.tmp"), *(folder / PARTS).glob(".*.tmp")):
            rest.unlink(missing_ok=True)  # of a process that was killed
        if not _begun(folder):
            write_atomically(folder / SUITE, canonical_bytes(plan.model_dump(mode="json")))
        results = Results(folder, plan)
        for part in finished_parts(folder, plan):
            results.take(part, [record.exit for record, _, _ in records_of(part)])
        yield results


def _begun(folder: Path) -> bool:
    return any((folder / PARTS).glob("*.done"))


def _claim(folder: Path, plan: Plan, resume: bool) -> None:
    where = Where(str(folder))
    if _begun(folder):
        if not resume:
            raise InputError("here are results already", where=where, hint="--resume goes on with them")
        found = read_plan(folder)
        different = found.difference(plan)
        if not different and found.shard != plan.shard:
            different = f"they are of shard {found.shard[0]}/{found.shard[1]}"
        if different:
            message = f"these results do not belong to this suite: {different}"
            raise InputError(message, where=where, hint="give another folder, or remove this one")
    elif folder.is_dir() and any(
        path.name not in (LOCK, SUITE, PARTS) and path.suffix != ".tmp" for path in folder.iterdir()
    ):
        raise InputError("the folder holds something else", where=where, hint="give a new folder, or an empty one")


def read_plan(folder: Path) -> Plan:
    """The plan in a folder of results; raises InputError when there is none."""
    path = folder / SUITE
    try:
        return Plan.model_validate_json(path.read_bytes())
    except OSError as fault:
        reason = os.strerror(fault.errno or 0)
        raise InputError(f"cannot read the results: {reason}", where=Where(str(path))) from None
    except ValidationError:
        raise InputError("this is not what `cobench certify` writes", where=Where(str(path))) from None


def finished_parts(folder: Path, plan: Plan) -> Iterator[Part]:
    """The parts that count, in the order of their numbers; raises InputError for one made in another way."""
    markers = sorted((folder / PARTS).glob("*.done"))
    for path in markers:
        if not re.fullmatch("[0-9]{5,}", path.stem):
            raise InputError("this is no part of `cobench certify`", where=Where(str(path)), hint=REMOVE)
    for path in sorted(markers, key=lambda path: int(path.stem)):
        content = path.with_suffix(".jsonl")
        try:
            marker = Marker.model_validate_json(path.read_bytes())
            found = content.read_bytes()
        except (OSError, ValidationError):
            continue
        if marker.seal != marker.sealed().seal or marker.digest != _digest(found):
            continue
        if (marker.version, marker.flags) != (plan.version, plan.flags):
            raise InputError("this part was made with another version or other flags", where=Where(str(content)))
        yield Part(content, marker, found)


def _digest(content: bytes) -> str:
    return "sha256:" + hashlib.sha256(content).hexdigest()


def records_of(part: Part) -> Iterator[tuple[Stored, int, Where]]:
    """Every record in a part, the offset of its line, and its place in messages; InputError for anything else."""
    offset = 0
    lines = part.content.splitlines(keepends=True)
    for number, line in enumerate(lines):
        where = Where(str(part.path), number + 1, 1)
        record = read_record(line, where)
        if part.marker.places[number : number + 1] != (record.place,):
            raise InputError(f"the marker of this part says nothing of {record.place}", where=where, hint=REMOVE)
        yield record, offset, where
        offset += len(line)
    if len(lines) < len(part.marker.places):
        message = f"the record of {part.marker.places[len(lines)]} is not in this part"
        raise InputError(message, where=Where(str(part.path)), hint=REMOVE)
