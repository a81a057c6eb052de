"""Certifying one task of a suite after the other in a worker process, which opens every dataset once.

Imported by name in every worker, whoever started it. What a worker answers is plain data, so that no fault of a task is
the fault of another.
"""

from __future__ import annotations

import os
from collections.abc import Mapping
from dataclasses import dataclass, field, replace
from functools import lru_cache
from pathlib import Path, PurePosixPath
from typing import Any

from ..datasets.opening import Dataset, bundled
from ..schemas.canonical import canonical_bytes, wide
from ..schemas.certificate import Certificate
from ..schemas.errors import CobenchError, InputError, InputErrors, TaskError
from ..schemas.task import TaskFile, read_task
from ..solver.certify import Engines
from ..solver.checker.opened import Opened
from ..solver.outcome import Limits
from ..verification import Verification, data_of, verify
from .source import Entry

UNDECIDED, INTERNAL = 3, 70
GIVEN = "--data"  # what a suite calls the data that replaces the tasks' own


@dataclass(frozen=True, slots=True)
class Flags:
    """How the tasks of a suite are certified; equal flags, texts and tables give equal certificates."""

    engines: Engines = "scan"
    check: bool = True
    limits: Limits = field(default_factory=Limits)

    def content(self) -> dict[str, Any]:
        """The flags as they are written down."""
        seconds = self.limits.seconds
        return {
            "engines": self.engines,
            "check": self.check,
            "time_limit_ms": None if seconds is None else int(seconds * 1000),
            "work_limit": wide(self.limits.work),
        }


@dataclass(frozen=True, slots=True)
class Job:
    """What a worker has to know beside the tasks: where the suite is, which data replaces the tasks' own, the flags."""

    root: str
    data: str | None
    flags: Flags


@dataclass(frozen=True, slots=True)
class Record:
    """What became of one task: the exit code it would have alone, and the rest as one line of canonical JSON.

    `data`: name and digests of the dataset with which it was certified, and how the suite calls it.
    """

    place: str
    exit: int
    line: bytes
    data: tuple[str, Mapping[str, Any]] | None = None


def record_of(entry: Entry, exit_code: int, **said: Any) -> Record:
    """The record of a task without a certificate."""
    return Record(entry.place, exit_code, _line(entry, exit_code, said))


def _line(entry: Entry, exit_code: int, said: Mapping[str, Any]) -> bytes:
    known = {"place": entry.place, "id": entry.id, "digest": entry.digest, "exit": exit_code}
    return canonical_bytes({**known, **{name: value for name, value in said.items() if value}})


@lru_cache(maxsize=1)
def certifier(job: Job) -> Certifier:
    """The certifier of this process for a job: tables stay open from one chunk of tasks to the next."""
    return Certifier(job)


class Certifier:
    """Certifies tasks one by one; whatever goes wrong with one becomes its record."""

    def __init__(self, job: Job) -> None:
        self._job = job
        self._datasets: dict[str, Dataset] = {}
        self._places = {str(folder): name for name, folder in bundled().items()} | {job.root: ""}
        if job.data is not None:
            self._places[job.data if Path(job.data).is_dir() else str(Path(job.data).parent)] = GIVEN
        self._checked = Opened()

    def certify(self, entry: Entry) -> Record:
        """The record of a task: its certificate, or the errors that `cobench verify` would show."""
        try:
            return self._record(entry)
        except CobenchError as fault:
            errors = fault.errors if isinstance(fault, InputErrors) else (fault,)
            return record_of(entry, fault.exit_code, errors=[self._told(error) for error in errors])
        except MemoryError:
            return record_of(entry, UNDECIDED, errors=["error: out of memory"])
        except OSError as fault:
            error = InputError(os.strerror(fault.errno) if fault.errno else str(fault), where=entry.where())
            return record_of(entry, error.exit_code, errors=[str(error)])
        except Exception as fault:  # noqa: BLE001 - one task must not take the others down
            return record_of(entry, INTERNAL, errors=[f"internal error: {type(fault).__name__}: {fault}"])

    def _record(self, entry: Entry) -> Record:
        source = entry.source()
        try:
            return self._certified(entry, read_task(source))
        except (InputError, InputErrors):
            exact = entry.exact_source()
            if exact is None:
                raise
        return self._certified(entry, read_task(exact))  # which raises the same, with columns

    def _certified(self, entry: Entry, file: TaskFile) -> Record:
        if file.task.id != entry.id:
            raise TaskError("write the id of the task on a line of its own: id: NAME", where=file.source.where(("id",)))
        name = data_name(file.task.dataset, entry.name) if self._job.data is None else GIVEN
        flags = self._job.flags
        dataset = self._dataset(name, file)
        result = verify(
            file, dataset, flags.limits, flags.engines, check=flags.check, opening=self._checked, survivors=False
        )
        certificate = result.certificate
        said = _said(result, certificate)
        facts = certificate.dataset.model_dump(mode="json")
        line = _line(entry, result.exit_code, {"data": name, **said})
        return Record(entry.place, result.exit_code, line, (name, facts))

    def _told(self, fault: CobenchError) -> str:
        """The error as `cobench verify` shows it, its files named as the suite does: the same on every machine."""
        if not isinstance(fault, InputError):
            return str(fault)
        where, message = fault.where, fault.message.replace(f" at {self._job.root}/", " at ")
        for folder, name in self._places.items():
            if where is not None and where.file.startswith(f"{folder}/"):
                where = replace(where, file=f"{name}{where.file[len(folder) :]}".lstrip("/"))
        return str(InputError(message, where=where, hint=fault.hint))

    def _dataset(self, name: str, file: TaskFile) -> Dataset:
        if name not in self._datasets:
            self._datasets[name] = data_of(file, self._job.data, Path(self._job.root))
        return self._datasets[name]


def _said(result: Verification, certificate: Certificate) -> dict[str, Any]:
    refuted = [f"{finding.claim}: {finding.detail}" for finding in result.refuted]
    return {
        "surprise": result.surprise,
        "undecided": result.undecided,
        "refuted": refuted,
        "certificate": None if refuted else {**certificate.content(), "digest": certificate.digest},
    }


def data_name(dataset: str, file: str) -> str:
    """How a suite calls the dataset that a task in `file` names: the same on every machine.

    A bundled name, or else a path from the folder of the suite, which is never read as a bundled name: `open_dataset`
    opens with it, there, what `data_of` opens for the task. One folder may have two names, but no two have one.
    """
    if dataset in bundled():
        return dataset
    steps, base = list(PurePosixPath(dataset).parts), list(PurePosixPath(file).parent.parts)
    while steps[:1] == [".."] and base:  # no folder of a suite is a link; what an author names may be one, so it stays
        steps.pop(0)
        base.pop()
    path = PurePosixPath(*base, *steps)
    return str(path) if path.is_absolute() or path.parts[:1] == ("..",) else f"./{path}"
