"""`cobench convert`: tasks, data and submitted plans of other benchmarks in our formats."""

from __future__ import annotations

from dataclasses import asdict, dataclass
from importlib import import_module
from pathlib import Path

import rich_click as click

from .common import print_json, progress


@dataclass(frozen=True, slots=True)
class Family:
    """A module with `convert(source, out) -> Converted`, which may take a third file: a patch, or requests."""

    module: str
    patch: bool = False
    requests: bool = False


FAMILIES = {
    "mmkp": Family("mmkp"),
    "natural-plan": Family("natural_plan", patch=True),
    "tau-airline": Family("tau_airline", requests=True),
    "travelplanner": Family("travelplanner"),
}


@click.command()
@click.argument("family", type=click.Choice(list(FAMILIES)))
@click.argument("source", metavar="SRC", type=click.Path(path_type=Path))
@click.option("--out", type=click.Path(path_type=Path), required=True, help="A new folder.")
@click.option("--patch", type=click.Path(path_type=Path), help="A YAML file with what the source lost, and why.")
@click.option("--requests", type=click.Path(path_type=Path), help="A YAML file of trips that are asked for.")
@click.option("--json", "as_json", is_flag=True, help="How much was written as JSON.")
@click.option("-q", "--quiet", is_flag=True, help="No progress.")
def convert(
    family: str, source: Path, out: Path, patch: Path | None, requests: Path | None, as_json: bool, quiet: bool
) -> int:
    """Write the benchmark FAMILY at SRC, in its own format, into a new folder of tasks, data and submitted plans.

    What cannot be read is refused, with file and place; nothing is invented.

    \b
    cobench convert natural-plan natural_plan --out converted
    cobench verify converted/tasks
    """
    found = FAMILIES[family]
    if patch is not None and not found.patch:
        raise click.UsageError(f"there is no --patch for {family}")
    if (requests is not None) != found.requests:
        raise click.UsageError(
            f"{family} needs --requests" if found.requests else f"there is no --requests for {family}"
        )
    with progress(quiet=quiet) as shown:
        shown.begin(f"converting {source}")
        run = import_module(f"...tasks.{found.module}", __name__).convert
        third = [patch] if found.patch else [requests] if found.requests else []
        converted = run(source, out, *third)
    if as_json:
        print_json({"family": family, "out": str(out), **asdict(converted)})
    else:
        click.echo(f"{converted.tasks:,} tasks and {converted.submissions:,} submitted plans in {out}")
    return 0
