"""`cobench tasks make`: a suite of certified tasks, made from a seed."""

from __future__ import annotations

from pathlib import Path

import rich_click as click

from .common import SEED, print_json, progress

FAMILIES = ("compass",)


@click.group()
def tasks() -> None:
    """Make suites of certified tasks."""


@tasks.command()
@click.argument("family", type=click.Choice(FAMILIES))
@click.option("--seed", type=SEED, default=1, show_default=True, help="The same seed and data give the same bytes.")
@click.option("--out", type=click.Path(path_type=Path), required=True, help="A new folder.")
@click.option(
    "--data", metavar="DATASET", help="A bundled name, or a folder to be copied, instead of the full parks world."
)
@click.option("--sample", is_flag=True, help="Only the 40 tasks that stand for all.")
@click.option("--workers", type=click.IntRange(1, 64), default=2, show_default=True, help="Processes.")
@click.option("--json", "as_json", is_flag=True, help="The quality report as JSON.")
@click.option("-q", "--quiet", is_flag=True, help="No progress.")
def make(
    family: str, seed: int, out: Path, data: str | None, sample: bool, workers: int, as_json: bool, quiet: bool
) -> int:
    """Make a suite of FAMILY: tasks, certificates, and a report of what was turned away.

    \b
    cobench tasks make compass --seed 1 --out compass
    cobench tasks make compass --sample --data parks --out small
    """
    from ..agent_runner.runs import taken_by_runs
    from ..schemas.files import require_writable
    from ..schemas.suite import SUITE
    from ..tasks.compass.making import in_processes
    from ..tasks.compass.making import make as make_suite

    require_writable(out / SUITE, taken=taken_by_runs(out))
    with progress(quiet=quiet) as shown:
        shown.begin(f"making {family}")
        made = make_suite(
            out, seed, data, in_processes(workers),
            lambda done, of, what: shown.begin(f"making {family}: {what}, {done} of {of}"), sampled=sample,
        )  # fmt: skip
    if as_json:
        print_json({"family": family, "out": str(out), "quality": made.quality})
    else:
        turned = made.quality["candidates"] - made.quality["tasks"]
        click.echo(f"{len(made.facts.tasks):,} tasks in {out}, {turned:,} candidates turned away: see quality.md")
    return 0
