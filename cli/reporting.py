"""`cobench report`: what many verdicts or conversations come to, as one page or as numbers."""

from __future__ import annotations

from collections.abc import Sequence
from pathlib import Path
from typing import TYPE_CHECKING, Any

import rich_click as click

from .common import print_json, progress, say

if TYPE_CHECKING:
    from ..schemas.scored import Scored

_PATH = click.Path(path_type=Path)
PAGE = "report.html"


@click.command()
@click.argument("found", nargs=-1, required=True, metavar="RUN|VERDICTS...", type=_PATH)
@click.option("-o", "--out", type=_PATH, metavar="FILE", help=f"The page.  [default: {PAGE}]")
@click.option("--title", help="Of the page.")
@click.option("--out-tables", "folder", type=_PATH, metavar="DIR", help="Write every table of runs there, as Parquet.")
@click.option("--json", "as_json", is_flag=True, help="The numbers as one line of JSON, and no page unless -o says so.")
@click.option("-q", "--quiet", is_flag=True, help="No progress.")
def report(
    found: tuple[Path, ...], out: Path | None, title: str | None, folder: Path | None, as_json: bool, quiet: bool
) -> int:  # fmt: skip
    """Report on runs of `cobench run`, or on verdicts of `cobench score`: one page that needs no network.

    Of folders with runs: feasibility and optimality rates with 95 % intervals, where regret comes from, rates by what
    tasks and users are like, effort, errors, violations, transcripts of the worst cases, two agents side by side, and
    the paper's own numbers apart. Agents of several runs are compared as different ones.

    Of files that `cobench score --submissions … --out VERDICTS` wrote: rates, gaps, places among all feasible plans,
    constraints that are violated, agreement with published verdicts, and the worst cases beside the best plan.

    \b
    cobench report runs/sample -o report.html
    cobench report runs/before runs/after --out-tables tables
    cobench report verdicts.parquet --json
    """
    from ..agent_runner.runs import taken_by_runs
    from ..agent_runner.single import is_episode
    from ..schemas.errors import OutputError
    from ..schemas.files import require_writable

    page = out if out is not None or as_json or folder is not None else Path(PAGE)
    if len({path.resolve() for path in found}) < len(found):
        raise click.UsageError("a run or a file of verdicts is given twice")
    folders = [path.is_dir() or is_episode(path) for path in found]
    if any(folders) and not all(folders):
        raise click.UsageError("a report is either on runs, which are folders, or on files of verdicts")
    if page is not None:
        from ..report.page import require

        require()
        require_writable(page, () if any(folders) else found, taken_by_runs(page))
    if folder is not None:
        from ..agent_runner.runs import RUN

        if (folder / RUN).is_file():
            raise OutputError(f"error: cannot write {folder}: it is the folder of a run")
        require_writable(folder / "table", taken=taken_by_runs(folder))
    if any(folders):
        return _report_runs(found, page, title or "Agents in conversation", folder, as_json, quiet)
    if folder is not None:
        raise click.UsageError("--out-tables goes with runs")
    return _report_verdicts(found, page, title or "Optimality gaps", as_json, quiet)


def _report_runs(
    folders: Sequence[Path], page: Path | None, title: str, out: Path | None, as_json: bool, quiet: bool
) -> int:  # fmt: skip
    from ..agent_runner.measures.collected import collected
    from ..agent_runner.measures.table import content
    from ..agent_runner.measures.tables import tables
    from ..agent_runner.single import read_run_or_episode
    from ..schemas.files import write_atomically

    with progress(quiet=quiet) as shown:
        shown.begin("reading runs")
        found = collected([read_run_or_episode(folder) for folder in folders])
        every = tables(found)
        if page is not None:
            from .run_pages import run_page

            shown.begin("drawing")
            write_atomically(page, run_page(title, found, every).encode())
        if out is not None:
            for table in every:
                write_atomically(out / f"{table.name}.parquet", table.parquet())
    if as_json:
        print_json({"conversations": len(found.episodes), "agents": found.agents, "tables": content(every)})
    if page is not None:
        say(f"page written: {page}", err=True)
    if out is not None:
        say(f"{len(every)} tables written: {out}", err=True)
    return 0


def _report_verdicts(
    files: Sequence[Path], page: Path | None, title: str, as_json: bool, quiet: bool
) -> int:  # fmt: skip
    from ..agent_runner.verdict_files import read_verdict_rows
    from ..schemas.files import write_atomically

    with progress(quiet=quiet) as shown:
        shown.begin("reading verdicts")
        runs = {path: read_verdict_rows(path) for path in files}
        named = {str(path) if len(runs) > 1 else "": rows for path, rows in runs.items()}
        if page is not None:
            from .verdict_pages import verdict_page

            shown.begin("drawing")
            write_atomically(page, verdict_page(title, named).encode())
    if as_json:
        print_json(_numbers(named))
    if page is not None:
        say(f"page written: {page}", err=True)
    return 0


def _numbers(runs: dict[str, list[Scored]]) -> dict[str, Any]:
    """What the page says, as plain data."""
    from ..agent_runner.analysis import Case, agreement, broken, case_content, farthest, most_broken, summaries
    from ..schemas.plain import as_data
    from .verdict_pages import CASES

    every: Sequence[Scored] = [row for rows in runs.values() for row in rows]
    cases = [Case(run, row) for run, rows in runs.items() for row in rows]
    return {
        "submissions": len(every),
        "tasks": len({row.task for row in every}),
        "agents": [item.content() for item in summaries(runs)],
        "violations": [as_data(item) for item in broken(every)],
        "agreement": {
            name: {"optimal": optimal, "feasible": feasible, "not feasible": wrong}
            for name, (optimal, feasible, wrong) in agreement(every).items()
        },
        "farthest": [case_content(case) for case in farthest(cases, CASES)],
        "most_broken": [case_content(case) for case in most_broken(cases, CASES)],
    }
