"""`cobench report`: what many verdicts come to, as one page or as numbers."""

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
@click.argument("verdicts", nargs=-1, required=True, metavar="VERDICTS...", type=_PATH)
@click.option("-o", "--out", type=_PATH, metavar="FILE", help=f"The page.  [default: {PAGE}]")
@click.option("--title", default="Optimality gaps", show_default=True, help="Of the page.")
@click.option("--json", "as_json", is_flag=True, help="The numbers as one line of JSON, and no page unless -o says so.")
@click.option("-q", "--quiet", is_flag=True, help="No progress.")
def report(verdicts: tuple[Path, ...], out: Path | None, title: str, as_json: bool, quiet: bool) -> int:
    """Report on VERDICTS that `cobench score --submissions … --out VERDICTS` wrote: one page that needs no network.

    Rates of feasible and optimal plans with 95 % intervals, gaps to the optimum, places among all feasible plans,
    constraints that are violated, agreement with published verdicts, and the worst cases beside the best plan.
    Agents of several files are compared as different runs.

    \b
    cobench report verdicts.parquet -o report.html
    cobench report before.parquet after.parquet --json
    """
    from ..agent_runner.verdict_files import read_verdict_rows
    from ..schemas.files import require_writable, write_atomically

    page = out if out is not None or as_json else Path(PAGE)
    if len(set(verdicts)) < len(verdicts):
        raise click.UsageError("a file of verdicts is given twice")
    if page is not None:
        from ..report.page import require

        require()
        require_writable(page, verdicts)
    with progress(quiet=quiet) as shown:
        shown.begin("reading verdicts")
        runs = {path: read_verdict_rows(path) for path in verdicts}
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
