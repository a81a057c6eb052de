"""`cobench check`: replay certificates from the task and the Parquet files alone."""

from __future__ import annotations

import json
from collections.abc import Iterator
from dataclasses import dataclass
from functools import lru_cache
from pathlib import Path
from typing import TYPE_CHECKING

import rich_click as click

from ..schemas.errors import CertificateError, CobenchError, Where
from .common import error_texts, find_files, print_json, progress, say, worst

if TYPE_CHECKING:
    from ..datasets.opening import Dataset
    from ..schemas.task import TaskFile
    from ..suite.source import Entry

BINDING = ("task", "dataset", "objective", "scope")
ONE, MANY = ".cert.json", "certificates.jsonl"


@click.command()
@click.argument("certificates", nargs=-1, required=True, metavar="CERT...")
@click.option(
    "--task",
    type=click.Path(path_type=Path),
    help="The task file, or a folder or file of many tasks, instead of what the run file beside the certificate says.",
)
@click.option("--data", metavar="DATASET", help="The dataset, instead of the one in the run file.")
@click.option("--json", "as_json", is_flag=True, help="One line of JSON per certificate on stdout.")
@click.option("-q", "--quiet", is_flag=True, help="No progress.")
def check(certificates: tuple[str, ...], task: Path | None, data: str | None, as_json: bool, quiet: bool) -> int:
    """Recompute the claims of certificates, using no solver and nothing that made them.

    CERT is a certificate, a file with one on each line (as `certify` and `merge` write them), a folder, or a glob. The
    grades told are those that this check gives; a certificate that says less is accepted. Exit code 2: malformed,
    altered, or about another task or other data; 4: a claim is wrong; 3: nothing is wrong, but a claim is too large to
    be recomputed.

    \b
    cobench check certificates
    cobench check x.cert.json --task task.yaml --data parks
    cobench check results/certificates.jsonl --task tasks/
    """
    files = find_files(certificates, (ONE, MANY), f"certificates (*{ONE}, {MANY})")
    checking = _Checking(task, data)
    codes: list[int] = []
    for number, path in enumerate(files, 1):
        place = f"{number}/{len(files)} " if len(files) > 1 else ""
        with progress(quiet) as shown:
            for name, found in checking.file(path):
                shown.begin(f"{place}{name}: checking")
                codes.append(_tell(name, found, as_json))
    return worst(codes)


@dataclass(frozen=True, slots=True)
class _Checked:
    """What is wrong with a certificate and what could not be recomputed, as (claim, detail), and grades by claim."""

    wrong: list[tuple[str, str]]
    left: list[tuple[str, str]]
    grades: dict[str, str]


def _tell(name: str, found: _Checked | CobenchError, as_json: bool) -> int:
    """Tells about one certificate; its exit code."""
    if isinstance(found, CobenchError):
        if as_json:
            errors = error_texts(found)
            print_json({"certificate": name, "accepted": False, "exit": found.exit_code, "errors": errors})
        else:
            say(str(found), err=True)
        return found.exit_code
    code = 3 if found.left else 0
    if found.wrong:
        code = 2 if any(claim in BINDING for claim, _ in found.wrong) else 4
    if as_json:
        refuted = [f"{claim}: {detail}" for claim, detail in found.wrong]
        said = {"certificate": name, "accepted": code == 0, "exit": code, "refuted": refuted}
        print_json({**said, "not_recomputed": [claim for claim, _ in found.left], "grades": found.grades})
        return code
    grades = ", ".join(f"{claim} {grade}" for claim, grade in found.grades.items())
    word = "refused" if found.wrong else "not recomputed" if found.left else "accepted"
    say(f"{name}: {word}" + ("" if found.wrong else f" ({grades})"))
    for claim, detail in found.wrong or found.left:
        say(f"  {claim}: {detail}")
    return code


class _Checking:
    """Checks certificates; tasks and tables that several of them are about are read once."""

    def __init__(self, task: Path | None, data: str | None) -> None:
        from ..solver.checker.opened import Opened

        self._task, self._data = task, data
        self._opening = Opened()

    def file(self, path: Path) -> Iterator[tuple[str, _Checked | CobenchError]]:
        """A name and what is to be said for each certificate of a file."""
        from ..schemas.collection import documents

        name = str(path)
        try:
            for name, content in documents(path):
                yield name, self._one(path, name, content)
        except CobenchError as fault:  # the file ends here
            yield name, fault

    def _one(self, path: Path, name: str, content: bytes) -> _Checked | CobenchError:
        try:
            return self._checked(path, name, content)
        except CobenchError as fault:
            return fault

    def _checked(self, path: Path, name: str, content: bytes) -> _Checked:
        """The evidence in a certificate is only its author's word, so nothing is accepted for that alone."""
        from ..schemas.certificate import read_certificate
        from ..schemas.problem import pose
        from ..solver.checker.replay import grades, wrong_grades
        from ..verification import replay

        certificate = read_certificate(content, name)
        file, dataset = self._about(path, certificate.task.id)
        report = replay(pose(file, dataset.manifest), dataset, certificate, self._opening)
        wrong = [(finding.claim, finding.detail) for finding in report.refuted]
        given, known = certificate.claims.graded(), grades(certificate, report)
        if not wrong:  # who says less than could be said is not wrong
            overstated = {claim for claim, grade in given.items() if grade.above(known[claim])}
            faults = wrong_grades(certificate, report)
            wrong = [(finding.claim, finding.detail) for finding in faults if finding.claim in overstated]
        left = [(item.claim, item.detail) for item in report.findings if item.state == "not recomputed"]
        undecided = left if certificate.claims.status.value != "unknown" else []
        return _Checked(wrong, undecided, {claim: grade.value for claim, grade in known.items()})

    def _about(self, path: Path, task: str) -> tuple[TaskFile, Dataset]:
        """The task and the dataset that a certificate in a file has to be about."""
        from ..schemas.task import load_task, read_task
        from ..verification import data_of

        if self._task is not None and (self._task.is_dir() or self._task.suffix in (".jsonl", ".parquet")):
            root, entries = _suite(self._task)
            if task not in entries:
                raise CertificateError(f"there is no task '{task}' in {self._task}", where=Where(str(path)))
            file = read_task(entries[task].source())
            return file, data_of(file, self._data, root)
        run = _run_file(path) if self._task is None else {}
        file = load_task(self._task or Path(_known(run, "task", path)))
        return file, data_of(file, self._data or run.get("data"))


@lru_cache(maxsize=1)
def _suite(path: Path) -> tuple[Path, dict[str, Entry]]:
    """The folder of a suite, and its tasks by id."""
    from ..suite.source import find_suite

    suite = find_suite(path)
    return suite.root, {entry.id: entry for entry in suite.entries if entry.id is not None and not entry.fault}


def _run_file(path: Path) -> dict[str, str]:
    """The paths that were noted when the certificate was made; empty when there is no such note."""
    beside = path.with_name(path.name.removesuffix(".cert.json") + ".run.json")
    try:
        value = json.loads(beside.read_bytes())
    except (OSError, ValueError, RecursionError):
        return {}
    return {key: item for key, item in value.items() if isinstance(item, str)} if isinstance(value, dict) else {}


def _known(run: dict[str, str], what: str, path: Path) -> str:
    if what not in run:
        raise CertificateError(
            "there is no run file beside the certificate that says where the task is",
            where=Where(str(path)),
            hint="give --task (and --data)",
        )
    return run[what]
