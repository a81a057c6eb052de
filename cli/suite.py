"""`cobench certify` and `cobench merge`: suites of thousands of tasks, by many processes, interrupted and resumed."""

from __future__ import annotations

import os
import re
from collections import Counter
from pathlib import Path
from typing import TYPE_CHECKING

import rich_click as click

from .common import print_json, progress, say, worst
from .verification import Seconds

if TYPE_CHECKING:
    from ..solver.certify import Engines
    from ..suite.executor import Executor
    from ..suite.merge import Summary

WHOLE = (1, 1)


def _shard(_ctx: click.Context, _param: click.Parameter, value: str) -> tuple[int, int]:
    """The two numbers of `i/N`, the i-th of N shards, counted from 1; or a usage error."""
    found = re.fullmatch(r"([0-9]{1,6})/([0-9]{1,6})", value)
    number, of = map(int, found.groups()) if found else (0, 0)
    if not 1 <= number <= of:
        raise click.BadParameter(f"'{value}' is no shard; write 1/4 for the first of four")
    return number, of


@click.command()
@click.argument("tasks", metavar="FOLDER", type=click.Path(exists=True, path_type=Path))
@click.option("--out", required=True, metavar="DIR", help="Folder for the results.", type=click.Path(path_type=Path))
@click.option("--data", metavar="DATASET", help="A bundled name or a folder, instead of what the tasks name.")
@click.option("--workers", type=click.IntRange(1, 4096), metavar="N", help="Processes.  [default: one per core]")
@click.option("--shard", default="1/1", callback=_shard, metavar="I/N", help="Only this part of the tasks.")
@click.option("--resume", is_flag=True, help="Go on with the results that are in DIR.")
@click.option(
    "--engines",
    type=click.Choice(["scan", "all"]),
    default="scan",
    show_default=True,
    help="The scan alone, or CP-SAT and MIP as a cross-check.",
)
@click.option("--check/--no-check", default=True, help="Have the checker recompute every claim.  [default: check]")
@click.option(
    "--time-limit", type=Seconds(min=0, max=10**9), metavar="SECONDS", help="Per task; the results then depend on time."
)
@click.option("--work-limit", type=click.IntRange(min=1), metavar="STEPS", help="Per task, in elementary steps.")
@click.option(
    "--patience",
    type=Seconds(min=0.1, max=10**6),
    metavar="SECONDS",
    help="A task that takes longer is given up, and its worker killed; not with Dask.  [default: 1800]",
)
@click.option("--chunk", type=click.IntRange(1, 100_000), metavar="N", help="Tasks sent at once.  [default: up to 100]")
@click.option("--executor", "kind", type=click.Choice(["process", "dask"]), default="process", show_default=True)
@click.option("--scheduler", metavar="ADDRESS", help="Of a Dask cluster; without it, --workers processes here.")
@click.option("--json", "as_json", is_flag=True, help="The summary as one line of JSON on stdout.")
@click.option("-q", "--quiet", is_flag=True, help="No progress.")
def certify(
    tasks: Path, out: Path, data: str | None, workers: int | None, shard: tuple[int, int], resume: bool,
    engines: Engines, check: bool, time_limit: float | None, work_limit: int | None, patience: float | None,
    chunk: int | None, kind: str, scheduler: str | None, as_json: bool, quiet: bool,
) -> int:  # fmt: skip
    """Certify all tasks in FOLDER with every core: YAML files, JSON Lines (*.jsonl), Parquet (a column `task`).

    One task that is invalid, hangs or crashes does not stop the others. The results in DIR are written as they come:
    after an interruption, --resume goes on. Without --shard they are merged at the end, as by cobench merge.

    \b
    cobench certify tasks/ --out results/
    cobench certify tasks/ --out results-2/ --shard 2/4 --workers 16 --resume
    """
    from ..solver.outcome import Limits
    from ..suite.certify import Run, absolute, certify_suite
    from ..suite.merge import merge as merge_results
    from ..suite.parts import open_results, plan_of
    from ..suite.source import find_suite
    from ..suite.work import Flags

    limits = Limits(time_limit, work_limit) if work_limit is not None else Limits(time_limit)
    count = workers or os.cpu_count() or 1
    executor = _executor(kind, scheduler, count, patience)
    with progress(quiet) as shown:
        shown.begin("reading tasks")
        run = Run(find_suite(tasks), absolute(data), Flags(engines, check, limits), chunk)
        plan = plan_of(run.suite, run.flags, shard)
        with open_results(out, plan, resume=resume) as results:
            before = len(results.finished)

            def tick(done: int, left: int, seconds: float) -> None:
                rate = done / max(seconds, 1e-9)
                told = f"{before + done:,} of {before + left:,} tasks, {rate:,.1f} a second"
                shown.begin(f"{told}, {_clock((left - done) / rate)} left")

            certify_suite(run, results, executor, count, tick)
            shown.begin("merging")
            summary = merge_results([out], out) if shard == WHOLE else None
    exits = results.exits if summary is None else summary.exits
    _tell(out, exits, before, summary, as_json)
    return worst(exits)


def _executor(kind: str, scheduler: str | None, workers: int, patience: float | None) -> Executor:
    if kind == "process":
        if scheduler is not None:
            raise click.UsageError("--scheduler is for --executor dask")
        from ..suite.executor import ProcessExecutor
        from ..workers import PATIENCE

        return ProcessExecutor(workers, PATIENCE if patience is None else patience)
    if patience is not None:
        raise click.UsageError("--patience is for --executor process; Dask has no way to end one task")
    from ..suite.dask import DaskExecutor

    return DaskExecutor(workers, scheduler)


def _clock(seconds: float) -> str:
    minutes, rest = divmod(round(seconds), 60)
    hours, minutes = divmod(minutes, 60)
    return f"{hours}:{minutes:02d}:{rest:02d}"


@click.command()
@click.argument("folders", nargs=-1, required=True, metavar="DIR...", type=click.Path(path_type=Path))
@click.option("--out", required=True, metavar="DIR", help="Where to write.", type=click.Path(path_type=Path))
@click.option("--json", "as_json", is_flag=True, help="The summary as one line of JSON on stdout.")
def merge(folders: tuple[Path, ...], out: Path, as_json: bool) -> int:
    """Merge what `cobench certify` wrote for the shards of a suite, if every task is there exactly once.

    Writes certificates.jsonl (one certificate a line, by task id), problems.jsonl (what is not as expected, undecided
    or invalid) and summary.json.

    \b
    cobench merge results-1 results-2 results-3 results-4 --out results
    """
    from ..suite.merge import merge as merge_results

    with progress() as shown:
        shown.begin("merging")
        summary = merge_results(folders, out)
    _tell(out, summary.exits, 0, summary, as_json)
    return worst(summary.exits)


def _tell(out: Path, exits: Counter[int], resumed: int, summary: Summary | None, as_json: bool) -> None:
    if as_json:
        found = summary.content() if summary is not None else {"tasks": exits.total()}
        codes = {str(code): exits[code] for code in sorted(exits)}
        print_json({**found, "out": str(out), "resumed": resumed, "exits": codes, "exit": worst(exits)})
        return
    from .display import print_summary

    print_summary(list(exits.elements()))
    if summary is not None:
        grades = ", ".join(f"{times} {grade}" for grade, times in sorted(summary.headlines.items()))
        say(f"certificates  {out / 'certificates.jsonl'}" + (f" ({grades})" if grades else ""))
