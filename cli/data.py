"""`cobench data`: build a world, describe a dataset."""

from __future__ import annotations

from pathlib import Path

import rich_click as click

from ..schemas.errors import OutputError
from .common import print_json, progress

WORLDS = ("parks",)


@click.group()
def data() -> None:
    """Build and describe datasets."""


@data.command()
@click.argument("world", type=click.Choice(WORLDS))
@click.option("--scale", type=click.Choice(["full", "mini"]), default="full", show_default=True)
@click.option("--seed", type=int, default=1, show_default=True)
@click.option("--out", type=click.Path(path_type=Path), required=True, help="A new folder.")
@click.option("--json", "as_json", is_flag=True, help="The rows per table as JSON.")
@click.option("-q", "--quiet", is_flag=True, help="No progress.")
def build(world: str, scale: str, seed: int, out: Path, as_json: bool, quiet: bool) -> int:
    """Generate WORLD into a new folder: the same seed gives the same tables everywhere.

    \b
    cobench data build parks --scale full --out parks-full
    """
    from ..datasets.parks.build import build as build_parks

    try:
        with progress(quiet=quiet) as shown:
            rows = build_parks(out, "full" if scale == "full" else "mini", seed, shown.begin)
    except OSError as fault:  # FileExistsError among them
        reason = fault.strerror or str(fault)
        raise OutputError(f"error: cannot build {world} at {out}: {reason}") from None
    if as_json:
        print_json({"world": world, "scale": scale, "seed": seed, "out": str(out), "rows": rows})
    else:
        for name, number in rows.items():
            click.echo(f"{name:20} {number:>12,}")
    return 0


@data.command()
@click.argument("dataset", default="parks")
@click.option("--json", "as_json", is_flag=True, help="Everything as JSON.")
def describe(dataset: str, as_json: bool) -> int:
    """Show the tables, columns, relations and digests of DATASET (a bundled name or a folder)."""
    from ..datasets.opening import open_dataset
    from .display import describe_dataset, print_dataset

    found = describe_dataset(open_dataset(dataset))
    if as_json:
        print_json(found)
    else:
        print_dataset(found)
    return 0
