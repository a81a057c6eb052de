"""`cobench verify`: certify tasks, check the certificates, write them, and say so in a table or in JSON."""

from __future__ import annotations

import json
import math
import os
import platform
import time
from collections.abc import Callable
from functools import partial
from pathlib import Path
from typing import TYPE_CHECKING, Any

import rich_click as click

from ..schemas.errors import CobenchError, InputError, Where
from .common import (
    DATA,
    Progress,
    Telling,
    error_texts,
    find_files,
    internal_error,
    limit_memory,
    print_json,
    progress,
    say,
    worst,
)

if TYPE_CHECKING:
    from ..solver.certify import Engines
    from ..verification import Verification
    from .junit import Case


UNDECIDED = 3


class Seconds(click.FloatRange):
    """A number of seconds; `nan` is none."""

    def convert(self, value: Any, param: click.Parameter | None, ctx: click.Context | None) -> float:
        """The number, or a usage error."""
        seconds = super().convert(value, param, ctx)
        if not math.isfinite(seconds):
            self.fail(f"{value} is not a number of seconds.", param, ctx)
        return seconds


@click.command()
@click.argument("tasks", nargs=-1, required=True, metavar="TASK...")
@DATA
@click.option(
    "--out", default="certificates", show_default=True, help="Folder for certificates.", type=click.Path(path_type=Path)
)
@click.option("--json", "as_json", is_flag=True, help="One line of JSON per task on stdout.")
@click.option(
    "--time-limit",
    type=Seconds(min=0, max=10**9),
    metavar="SECONDS",
    help="Per task; what is open then stays undecided.",
)
@click.option(
    "--work-limit",
    type=click.IntRange(min=1),
    metavar="STEPS",
    help="Per task, in elementary steps: a limit that is the same everywhere.",
)
@click.option("--memory-limit", type=click.IntRange(min=64), metavar="MB", help="Address space of this process.")
@click.option(
    "--engines",
    type=click.Choice(["all", "scan"]),
    default="all",
    show_default=True,
    help="Whether CP-SAT and MIP cross-check the optimum (a second or so per task), or the scan answers alone.",
)
@click.option("--junit", type=click.Path(path_type=Path), help="A file for the results as JUnit XML, as CI shows them.")
@click.option("-q", "--quiet", is_flag=True, help="No progress.")
def verify(
    tasks: tuple[str, ...], data: str | None, out: Path, as_json: bool, time_limit: float | None, work_limit: int |
    None, memory_limit: int | None, engines: Engines, junit: Path | None, quiet: bool,
) -> int:  # fmt: skip
    """Certify tasks and have an independent checker recompute every claim.

    TASK is a task file, a folder of them, or a glob. For each task a certificate ID.cert.json is written, and beside it
    ID.run.json with paths and seconds.

    \b
    cobench verify tasks/parks/parks-2-01-zion-weekend.yaml
    cobench verify tasks/parks --data parks-full --json
    """
    from ..schemas.files import require_writable
    from ..solver.outcome import Limits
    from ..verification import verify as verify_task
    from .junit import Case

    files = find_files(tasks, (".yaml", ".yml"), "task files (*.yaml)")
    limit_memory(memory_limit)
    limits = Limits(time_limit, work_limit) if work_limit is not None else Limits(time_limit)
    seen: dict[str, Path] = {}
    cases: list[Case] = []
    datasets = _Datasets(data)
    telling = Telling(go_on=junit is not None)
    if junit is not None:
        require_writable(junit, files)

    def verified(path: Path, place: str) -> tuple[int, str, Callable[[], object]]:
        """The exit code of one task, why it is not 0, and what prints its result."""
        file, dataset = datasets.of(path)
        name = file.task.id
        if name in seen:
            raise InputError(f"the id '{name}' is also that of {seen[name]}", where=file.source.where(("id",)))
        seen[name] = path
        with progress(quiet) as shown:
            shown.begin(f"{place}{name}: reading tables")
            step = partial(_begin, shown, f"{place}{name}")
            result = verify_task(file, dataset, limits, engines, step)
        written = None if result.refuted else _write(out, path, dataset.folder, result)
        show = partial(_tell, path, file.task.title, result, written, as_json, len(files) == 1)
        return result.exit_code, result.note, show

    for number, path in enumerate(files, 1):
        began = time.monotonic()
        try:
            code, reason, show = verified(path, f"{number}/{len(files)} " if len(files) > 1 else "")
        except CobenchError as fault:
            code, reason, show = fault.exit_code, str(fault), partial(_tell_error, path, fault, as_json)
        except OSError as fault:
            error = InputError(os.strerror(fault.errno) if fault.errno else str(fault), where=Where(str(path)))
            code, reason, show = error.exit_code, str(error), partial(_tell_error, path, error, as_json)
        except MemoryError:
            error = InputError("out of memory", where=Where(str(path)), hint="raise --memory-limit")
            code, reason, show = UNDECIDED, str(error), partial(_tell_error, path, error, as_json, UNDECIDED)
        except Exception as fault:  # noqa: BLE001 - one task must not take the others down
            code, reason, show = 70, f"internal error: {fault}", partial(internal_error, fault)
        code = worst([code, telling(show)])
        cases.append(Case(str(path), path.stem, time.monotonic() - began, code, reason))
    codes = [case.code for case in cases]
    if junit is not None:
        _write_junit(junit, cases, datasets)
    if len(files) > 1 and not as_json:
        from .display import print_summary

        telling(partial(print_summary, codes))
    telling.end()
    return worst(codes)


def _begin(shown: Progress, name: str, what: str) -> None:
    shown.begin(f"{name}: {what}")


class _Datasets:
    """Opens each dataset once for all tasks that use it."""

    def __init__(self, data: str | None) -> None:
        self._data = data
        self._open: dict[Path, Any] = {}

    def of(self, path: Path) -> tuple[Any, Any]:
        """The task file at a path and its dataset."""
        from ..schemas.task import load_task
        from ..verification import data_of

        file = load_task(path)
        dataset = data_of(file, self._data)
        return file, self._open.setdefault(dataset.folder, dataset)

    def files(self) -> list[Path]:
        """All files of the datasets so far."""
        return [path for dataset in self._open.values() for path in dataset.files()]


def _write_junit(path: Path, cases: list[Case], datasets: _Datasets) -> None:
    from ..schemas.files import require_writable, write_atomically
    from .junit import junit_xml

    require_writable(path, datasets.files())
    write_atomically(path, junit_xml("cobench verify", cases))


def _write(out: Path, task: Path, folder: Path, result: Verification) -> Path:
    """Writes the certificate and, before it, the run file that says where task and data were."""
    from ..schemas.files import write_atomically

    run = {
        "task": str(task.resolve()),
        "data": str(folder.resolve()),
        "seconds": {step: round(seconds, 3) for step, seconds in result.seconds.items()},
        "host": platform.node(),
        "python": platform.python_version(),
    }
    path = out / f"{result.problem.id}.cert.json"
    write_atomically(
        out / f"{result.problem.id}.run.json", json.dumps(run, indent=1, ensure_ascii=False).encode() + b"\n"
    )
    write_atomically(path, result.certificate.to_bytes())
    return path


def _tell(path: Path, title: str, result: Verification, written: Path | None, as_json: bool, alone: bool) -> None:
    if as_json:
        print_json(as_data(path, result, written))
        return
    from .display import print_line, print_verification

    if alone:
        print_verification(title, result, written)
    else:
        print_line(result)


def _tell_error(path: Path, fault: CobenchError, as_json: bool, code: int | None = None) -> None:
    """Tells what is wrong with a task."""
    if as_json:
        print_json({"task": str(path), "exit": fault.exit_code if code is None else code, "errors": error_texts(fault)})
    else:
        say(str(fault), err=True)


def as_data(path: Path, result: Verification, written: Path | None) -> dict[str, Any]:
    """What `--json` says of one task."""
    certificate = result.certificate
    return {
        "task": str(path),
        "id": certificate.task.id,
        "exit": result.exit_code,
        "surprise": result.surprise,
        "undecided": result.undecided,
        "headline": certificate.claims.headline().value,
        "claims": {
            name: value
            for name, value in certificate.claims.model_dump(mode="json", exclude_none=True).items()
            if name != "distribution"
        },
        "grades": {name: grade.value for name, grade in certificate.claims.graded().items()},
        "objective": certificate.objective.model_dump(),
        "refuted": [f"{finding.claim}: {finding.detail}" for finding in result.refuted],
        "survivors": [
            {
                "choice": item.choice,
                "table": item.table,
                "offers": item.offers,
                "alone": dict(item.alone),
                "together": dict(item.together),
            }
            for item in result.survivors
        ],
        "certificate": str(written) if written is not None else None,
        "engines": [
            {
                "engine": answer.engine,
                "version": answer.version,
                "status": answer.outcome.status.value,
                "reason": answer.outcome.reason,
                "seconds": round(answer.seconds, 3),
                "memory_mb": answer.memory,
            }
            for answer in result.answers
        ],
        "seconds": {step: round(seconds, 3) for step, seconds in result.seconds.items()},
    }
