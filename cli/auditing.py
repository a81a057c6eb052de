"""`cobench audit` and `cobench harden`: what a task tests, and thresholds that make it test more."""

from __future__ import annotations

import os
from functools import partial
from pathlib import Path
from typing import TYPE_CHECKING, Any

import rich_click as click

from ..schemas.errors import CobenchError, InputError, TaskError, Where
from .common import DATA, Telling, error_texts, find_files, internal_error, print_json, progress, say, worst
from .verification import Seconds

if TYPE_CHECKING:
    from ..solver.questions.audit import Audit
    from ..solver.questions.findings import Finding


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
@DATA
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
    from ..solver.outcome import Limits
    from ..solver.questions.audit import audit as audit_task
    from ..solver.questions.findings import findings
    from ..verification import data_of

    files = find_files(tasks, (".yaml", ".yml"), "task files (*.yaml)")
    limits = Limits(time_limit, work_limit)
    opened: dict[Path, Any] = {}
    codes: list[int] = []
    telling = Telling()
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
            code = 1 if strict and any(item.severity == "warning" for item in told) else 0
            audited.append((result, told))
            show = partial(_tell, path, file.task.title, result, told, as_json, len(files) == 1)
        except CobenchError as fault:
            code, show = fault.exit_code, partial(_failed, path, fault, as_json)
        except OSError as fault:
            error = InputError(os.strerror(fault.errno) if fault.errno else str(fault), where=Where(str(path)))
            code, show = error.exit_code, partial(_failed, path, error, as_json)
        except Exception as fault:  # noqa: BLE001 - one task must not take the others down
            code, show = 70, partial(internal_error, fault)
        codes.append(worst([code, telling(show)]))
    if len(files) > 1 and not as_json:
        from .audits import print_suite

        print_suite(audited)
    return worst(codes)


def _failed(path: Path, fault: CobenchError, as_json: bool) -> None:
    if as_json:
        print_json({"task": str(path), "exit": fault.exit_code, "errors": error_texts(fault)})
    else:
        say(str(fault), err=True)


def _tell(path: Path, title: str, result: Audit, told: tuple[Finding, ...], as_json: bool, alone: bool) -> None:
    from . import audits

    if as_json:
        print_json(audits.as_data(path, result, told))
    elif alone:
        audits.print_audit(title, result, told)
    else:
        audits.print_findings(result, told)


@click.command()
@click.argument("task", type=click.Path(path_type=Path))
@click.option("--unique", is_flag=True, help="One plan alone is to reach the optimum.")
@click.option("--plans", type=click.IntRange(min=1), metavar="N", help="So many plans are to be feasible.")
@click.option(
    "--margin", metavar="AMOUNT|PERCENT", help="Naive plans are to be infeasible, or worse by so much: 25.00, or 5%."
)
@click.option("--constraint", metavar="NAME", help="The threshold to move; otherwise whichever changes least.")
@DATA
@click.option("--write", is_flag=True, help="Apply the patch to the file.")
@click.option("--json", "as_json", is_flag=True, help="One line of JSON on stdout, the patch in it.")
@_TIME
@_WORK
@click.option("-q", "--quiet", is_flag=True, help="No progress.")
def harden(
    task: Path, unique: bool, plans: int | None, margin: str | None, constraint: str | None, data: str | None,
    write: bool, as_json: bool, time_limit: float | None, work_limit: int, quiet: bool,
) -> int:  # fmt: skip
    """Find a threshold with which TASK tests more, and print the change as a patch.

    Only the number of one threshold changes; the task with it is certified before anything is said. Exit codes: 0 the
    patch does it, or nothing needs to change; 1 no threshold does; 2 invalid file; 3 a limit left it open.

    \b
    cobench harden task.yaml --unique
    cobench harden task.yaml --plans 100 --constraint budget --write
    cobench harden task.yaml --margin 5% | patch -p0
    """
    from ..schemas.problem import pose
    from ..schemas.source import read_text
    from ..schemas.task import parse_task
    from ..solver.outcome import Limits, Undecided
    from ..solver.questions.harden import harden as harden_task
    from ..verification import data_of
    from . import hardening

    if [unique, plans is not None, margin is not None].count(True) != 1:
        raise click.UsageError("give one of --unique, --plans and --margin")
    with progress(quiet) as shown:
        shown.begin(f"{task.stem}: hardening")
        text = read_text(task, TaskError)
        file = parse_task(text, str(task))
        dataset = data_of(file, data)
        goal = hardening.goal(unique, plans, margin, pose(file, dataset.manifest).objective.type)
        try:
            limits = Limits(time_limit, work_limit)
            found = harden_task(
                file, text, dataset, goal, constraint, limits, lambda name: shown.begin(f"{task.stem}: moving {name}")
            )
        except Undecided as limit:
            say(f"undecided: what the task has now is open: {hardening.limit_told(str(limit))}", err=True)
            return 3
    if write and found.changes:
        hardening.write(task, found.changes[0])
    hardening.tell(file, text, found, goal, as_json)
    if found.changes or found.reached:
        return 0
    return 1 if found.complete else 3
