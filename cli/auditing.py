"""`cobench audit` and `cobench harden`: what a task tests, and thresholds that make it test more."""

from __future__ import annotations

import os
from pathlib import Path
from typing import TYPE_CHECKING, Any

import rich_click as click

from ..schemas.errors import CobenchError, InputError, Where
from .common import error_texts, find_files, internal_error, print_json, progress, worst
from .verification import Seconds

if TYPE_CHECKING:
    from ..solver.audit import Audit
    from ..solver.findings import Finding


_DATA = click.option(
    "--data", metavar="DATASET", help="A bundled name or a folder, instead of the dataset that the task names."
)
_TIME = click.option(
    "--time-limit",
    type=Seconds(min=0, max=10**9),
    metavar="SECONDS",
    help="Per task; what is open then stays unknown.",
)
_WORK = click.option(
    "--work-limit",
    type=click.IntRange(min=1),
    default=2_000_000_000,
    show_default=True,
    metavar="STEPS",
    help="Per question, in elementary steps: a limit that is the same everywhere.",
)


@click.command()
@click.argument("tasks", nargs=-1, required=True, metavar="TASK...")
@_DATA
@click.option("--strict", is_flag=True, help="Exit with 1 when there is a warning.")
@click.option("--json", "as_json", is_flag=True, help="One line of JSON per task on stdout.")
@_TIME
@_WORK
@click.option("-q", "--quiet", is_flag=True, help="No progress.")
def audit(
    tasks: tuple[str, ...], data: str | None, strict: bool, as_json: bool, time_limit: float | None, work_limit: int,
    quiet: bool,
) -> int:  # fmt: skip
    """Say what tasks test: which constraints matter, what each reveal changes, and whether a naive plan already wins.

    TASK is a task file, a folder of them, or a glob. Everything is exact; what a limit leaves open is said to be
    unknown. Exit codes: 0; 1 with --strict when there is a warning; 2 invalid file.

    \b
    cobench audit task.yaml
    cobench audit tasks/parks --strict
    """
    from ..schemas.task import load_task
    from ..solver.audit import audit as audit_task
    from ..solver.findings import findings
    from ..solver.outcome import Limits
    from ..verification import data_of

    files = find_files(tasks, (".yaml", ".yml"), "task files (*.yaml)")
    limits = Limits(time_limit, work_limit)
    opened: dict[Path, Any] = {}
    codes: list[int] = []
    audited: list[tuple[Audit, tuple[Finding, ...]]] = []
    for number, path in enumerate(files, 1):
        place = f"{number}/{len(files)} " if len(files) > 1 else ""
        try:
            with progress(quiet) as shown:
                shown.begin(f"{place}{path.stem}: auditing")
                file = load_task(path)
                found = data_of(file, data)
                result = audit_task(file, opened.setdefault(found.folder, found), limits)
            told = findings(result)
            codes.append(1 if strict and any(item.severity == "warning" for item in told) else 0)
            audited.append((result, told))
            _tell(path, file.task.title, result, told, as_json, len(files) == 1)
        except BrokenPipeError:
            raise
        except CobenchError as fault:
            codes.append(_failed(path, fault, as_json))
        except OSError as fault:
            error = InputError(os.strerror(fault.errno) if fault.errno else str(fault), where=Where(str(path)))
            codes.append(_failed(path, error, as_json))
        except Exception as fault:  # noqa: BLE001 - one task must not take the others down
            codes.append(internal_error(fault))
    if len(files) > 1 and not as_json:
        from .audits import print_suite

        print_suite(audited)
    return worst(codes)


def _failed(path: Path, fault: CobenchError, as_json: bool) -> int:
    if as_json:
        print_json({"task": str(path), "exit": fault.exit_code, "errors": error_texts(fault)})
    else:
        click.echo(str(fault), err=True)
    return fault.exit_code


def _tell(path: Path, title: str, result: Audit, told: tuple[Finding, ...], as_json: bool, alone: bool) -> None:
    from . import audits

    if as_json:
        print_json(audits.as_data(path, result, told))
    elif alone:
        audits.print_audit(title, result, told)
    else:
        audits.print_findings(result, told)
