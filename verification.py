"""Certifying and checking in one go: the only module that knows both the engines and the checker.

`certify` claims, the checker recomputes from the task and the Parquet files alone, and the grades follow from what it
could recompute. What the checker refutes is never written as a certificate. Both are imported where they are used:
scoring a plan needs no engine, and checking a certificate none either.
"""

from __future__ import annotations

import time
from collections.abc import Callable
from dataclasses import dataclass, field
from pathlib import Path
from typing import TYPE_CHECKING

from .datasets.opening import Dataset, open_dataset
from .schemas.canonical import narrow
from .schemas.certificate import Certificate, Scope
from .schemas.problem import Problem, pose
from .schemas.task import TaskFile, load_task

if TYPE_CHECKING:
    from .solver.certify import Engines, Survivors
    from .solver.checker import replay as checker
    from .solver.checker.check import Data
    from .solver.isolate import Answer
    from .solver.outcome import Limits

Step = Callable[[str], None]
Opening = Callable[[Path, Problem], "Data"]  # as `open_data` does, or from tables that were opened before


@dataclass(frozen=True, slots=True)
class Verification:
    """A task's certificate as the checker graded it, what the checker found, and how it compares with `expect`.

    `seconds` per step. `surprise` says what is not as the author expects, empty if all is; `undecided` says what no
    claim answers.
    """

    problem: Problem
    certificate: Certificate
    survivors: tuple[Survivors, ...]
    answers: tuple[Answer, ...]
    report: checker.Report
    seconds: dict[str, float] = field(default_factory=dict[str, float])

    @property
    def refuted(self) -> tuple[checker.Finding, ...]:
        """Claims that the checker found to be wrong. There must be none; if there are, cobench has a fault."""
        return self.report.refuted

    @property
    def undecided(self) -> str:
        """What the certificate leaves open although the task, or its author, asks for it."""
        claims, expected = self.certificate.claims, self.problem.expected
        if claims.status.value == "unknown":
            return f"whether there is a plan ({claims.status.reason})"
        best = claims.incumbent
        proved = claims.optimum is not None or (best is not None and best.optimal)
        if claims.status.value == "solvable" and not proved and not (expected and expected.unsolvable):
            return "the optimum"
        counted = claims.count is not None and claims.count.at_least == claims.count.at_most
        if not counted and not (expected and expected.unsolvable):
            return "the number of plans"
        return ""

    @property
    def surprise(self) -> str:
        """How the claims differ from what the author expects; a task without `expect` is expected to be solvable."""
        claims, expected = self.certificate.claims, self.problem.expected
        unsolvable = expected is not None and expected.unsolvable
        if claims.status.value == "unsolvable" and not unsolvable:
            return "the task has no plan, and does not say expect: unsolvable"
        if claims.status.value == "solvable" and unsolvable:
            return "the task has a plan, but says expect: unsolvable"
        if expected is None:
            return ""
        optimum, count = claims.optimum or claims.incumbent, claims.count
        if (
            expected.optimum is not None
            and optimum
            and not self.undecided
            and narrow(optimum.value) != expected.optimum
        ):
            return "the optimum is not the expected one"
        if expected.count is not None and count is not None:  # an interval only speaks when it leaves the number out
            low, high = narrow(count.at_least), narrow(count.at_most)
            return "" if low <= expected.count <= high else f"there are {low} plans, not {expected.count}"
        return ""

    @property
    def note(self) -> str:
        """Why the exit code is not 0, in one line; empty when it is."""
        return "; ".join(f"{item.claim}: {item.detail}" for item in self.refuted) or self.surprise or self.undecided

    @property
    def exit_code(self) -> int:
        """0 as expected, 1 verified but not as expected, 3 undecided, 4 the checker disagrees."""
        if self.refuted:
            return 4
        if self.surprise:
            return 1
        return 3 if self.undecided else 0


def verify(
    task: str | Path | TaskFile,
    data: str | Path | Dataset | None = None,
    limits: Limits | None = None,
    engines: Engines = "all",
    step: Step | None = None,
    check: bool = True,
    opening: Opening | None = None,
    survivors: bool = True,
) -> Verification:
    """Certifies a task (a path or a loaded one) and has the checker replay the certificate.

    `engines`: the scan alone, or all, which must agree (else Disagreement). `data`: a bundled name, a folder, or an
    open dataset; by default what the task names, relative to its file. `step` is told what begins. Without `check`
    every claim stays `claimed`. `opening` gives the checker its tables instead of `open_data`. Without `survivors`
    nobody counts the rows that pass each constraint, which takes time linear in the tables. Raises InputError for a
    task or data that cannot be certified.
    """
    from .solver.certify import certify_problem
    from .solver.checker.replay import Report, grades
    from .solver.outcome import Limits

    seconds: dict[str, float] = {}
    tell = step or (lambda _: None)
    file = task if isinstance(task, TaskFile) else load_task(Path(task))
    dataset = data_of(file, data)
    problem = pose(file, dataset.manifest)
    tell("certifying")
    started = time.perf_counter()
    certified = certify_problem(problem, dataset, Scope(), limits or Limits(), engines, survivors=survivors)
    claimed = certified.certificate
    seconds["certify"] = time.perf_counter() - started
    if not check:
        return Verification(problem, claimed, certified.survivors, certified.answers, Report(()), seconds)
    tell("checking")
    started = time.perf_counter()
    report = replay(problem, dataset, claimed, opening)
    graded = claimed.claims.with_grades(grades(claimed, report))
    certificate = claimed.model_copy(update={"claims": graded}).sealed()
    seconds["check"] = time.perf_counter() - started
    return Verification(problem, certificate, certified.survivors, certified.answers, report, seconds)


def replay(
    problem: Problem, dataset: Dataset, certificate: Certificate, opening: Opening | None = None
) -> checker.Report:
    """What the checker finds when it recomputes a certificate from the task and the Parquet files."""
    from .solver.checker import replay as checker
    from .solver.checker.check import open_data

    manifest = dataset.manifest
    opened = (opening or open_data)(dataset.folder, problem)
    return checker.replay(
        problem, opened, certificate, dataset=manifest.manifest.name, manifest_digest=manifest.digest()
    )


def data_of(task: TaskFile, data: str | Path | Dataset | None, below: Path | None = None) -> Dataset:
    """The dataset to use for a task: the given one (a text may be a bundled name), else the one that the task names.

    `below`: the folder that the name of the task's file starts from, where that is not the working folder.
    """
    if isinstance(data, Dataset):
        return data
    if isinstance(data, Path):  # a path is never a bundled name, and Path("./parks") keeps no dot
        return open_dataset(str(data) if data.is_absolute() else f"./{data}")
    if data is not None:
        return open_dataset(data)
    folder = (below or Path()) / Path(task.source.name).parent
    return open_dataset(task.task.dataset, folder, task.source.where(("dataset",)))
