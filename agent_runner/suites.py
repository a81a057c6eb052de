"""Suites of certified tasks: what a conversation about one of them needs, checked to belong together."""

from __future__ import annotations

import json
from collections.abc import Iterator, Sequence
from dataclasses import dataclass
from pathlib import Path

from pydantic import ValidationError

from ..datasets.opening import Dataset, open_dataset
from ..schemas import expression as ex
from ..schemas.canonical import narrow
from ..schemas.certificate import Certificate, distribution_pairs, read_certificate
from ..schemas.episode import Traits
from ..schemas.errors import CertificateError, InputError, Where, did_you_mean
from ..schemas.problem import Problem, pose
from ..schemas.suite import SUITE, SuiteFile
from ..schemas.task import TaskFile, load_task
from ..solver.checker.check import Data
from ..solver.checker.opened import Opened
from .matching import require_about

BUNDLED = Path(__file__).parents[1] / "tasks"  # suites that come with cobench are folders here


@dataclass(frozen=True, slots=True)
class Case:
    """A task, its data as engines and as the checker read them, and its certificate, which is about both."""

    file: TaskFile
    problem: Problem
    dataset: Dataset
    data: Data
    certificate: Certificate
    optimum: int

    @property
    def total(self) -> int:
        """How many feasible plans there are."""
        claim = self.certificate.claims.distribution
        return 0 if claim is None else sum(count for _, count in distribution_pairs(claim))

    @property
    def traits(self) -> Traits:
        """What analyses group the task by."""
        problem, task = self.problem, self.file.task
        wishes = counted(problem)
        return Traits(
            level=min(3, len(problem.choices)),
            objective="feature_count" if wishes else "metric",
            metric="" if wishes else task.objective[1],
            wishes=wishes,
            constraints=len(problem.constraints),
            later=sum(task.constraint(name).reveal == "later" for name in task.constraints),
        )


class Suite:
    """The tasks of a folder with a `tasks.json`; tables stay open from one task to the next."""

    def __init__(self, folder: Path, facts: SuiteFile) -> None:
        self.folder, self.facts = folder, facts
        self._datasets: dict[str, Dataset] = {}
        self._opened = Opened()

    def case(self, task: str) -> Case:
        """The task with an id. Raises InputError for a task, data or certificate that is missing or does not fit."""
        if task not in self.facts.tasks:
            raise InputError(f"no task '{task}' in {self.folder}", hint=did_you_mean(task, self.facts.tasks, "tasks"))
        certificate = _file(self.folder / "certificates" / f"{task}.cert.json")
        return self._case(self.task(task), self._path(task), certificate)

    def task(self, task: str) -> TaskFile:
        """The file of a task. Raises InputError when it cannot be read, or is about another one."""
        file = load_task(_file(self._path(task)))
        if file.task.id != task:
            message = f"this is the task '{file.task.id}', and the suite means '{task}'"
            raise InputError(message, where=file.source.where(("id",)))
        return file

    def _path(self, task: str) -> Path:
        return self.folder / "tasks" / f"{task}.yaml"

    def places(self) -> list[Path]:
        """The files and folders that it consists of, and the tables of all cases that have been opened."""
        own = [self.folder / name for name in (SUITE, "tasks", "certificates")]
        return own + [path for dataset in self._datasets.values() for path in dataset.files()]

    def cases(self, tasks: Sequence[str]) -> Iterator[Case]:
        """These tasks one after the other."""
        return (self.case(task) for task in tasks)

    def _case(self, file: TaskFile, path: Path, certificate: Path) -> Case:
        name = file.task.dataset
        if name not in self._datasets:
            self._datasets[name] = open_dataset(name, path.parent, file.source.where(("dataset",)))
        dataset = self._datasets[name]
        problem = pose(file, dataset.manifest)
        data = self._opened(dataset.folder, problem)
        try:
            found = read_certificate(certificate.read_bytes(), str(certificate))
        except OSError as fault:
            where = Where(str(certificate))
            raise CertificateError(f"cannot read the certificate: {fault.strerror}", where=where) from None
        return case_of(file, problem, dataset, data, found, str(certificate))


def case_of(
    file: TaskFile, problem: Problem, dataset: Dataset, data: Data, certificate: Certificate, name: str
) -> Case:  # fmt: skip
    """The case of a task whose certificate `name` is. Raises InputError for one that cannot be talked about."""
    require_about(certificate, name, problem, dataset, data)
    optimum = certificate.claims.optimum
    if optimum is None or certificate.claims.distribution is None:
        raise CertificateError("the certificate lacks the optimum or the distribution", where=Where(name))
    if problem.sets:
        message = "conversations are about tasks that pick one offer a choice, without sets and routes"
        raise InputError(message, where=file.source.where(("choose",)))
    return Case(file, problem, dataset, data, certificate, narrow(optimum.value))


def _file(path: Path) -> Path:
    """The path, unless a pipe or a device is there, which would be waited for."""
    if path.exists() and not path.is_file():
        raise InputError("this is no file", where=Where(str(path)))
    return path


def is_suite(name_or_path: str) -> bool:
    """Whether that is a folder with a suite, or one that comes with cobench."""
    return (_folder(name_or_path) / SUITE).is_file()


def _folder(name_or_path: str) -> Path:
    return _bundled().get(name_or_path, Path(name_or_path))


def _bundled() -> dict[str, Path]:
    return {path.parent.name: path.parent for path in BUNDLED.glob(f"*/{SUITE}")}


def open_suite(name_or_path: str) -> Suite:
    """The suite in a folder, or one that comes with cobench by its name; raises InputError when there is none."""
    folder = _folder(name_or_path)
    path = folder / SUITE
    if not path.is_file():
        near = did_you_mean(name_or_path, _bundled(), "suites")
        hint = f"cobench tasks make compass --out {name_or_path} makes one" + (f", or {near}" if near else "")
        raise InputError(f"no suite '{name_or_path}': neither bundled nor a folder with a {SUITE}", hint=hint)
    try:
        return Suite(folder, SuiteFile.model_validate_json(path.read_bytes()))
    except (ValidationError, json.JSONDecodeError) as fault:
        reason = fault.errors()[0]["msg"] if isinstance(fault, ValidationError) else str(fault)
        raise InputError(f"this is no suite: {reason.removeprefix('Value error, ')}", where=Where(str(path))) from None


def counted(problem: Problem) -> int:
    """How many wishes the objective counts; 0 when it is something else."""
    expr = problem.objective.expr
    return len(expr.args) if isinstance(expr, ex.Count) else 0
