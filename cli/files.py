"""`cobench init`, `schema` and `completion`: what helps to write tasks."""

from __future__ import annotations

import json
import re
import shlex
from pathlib import Path
from typing import Any

import rich_click as click

from ..schemas.errors import OutputError
from .common import say

KINDS = ("task", "dataset", "plan", "certificate")

_STARTER = """\
# yaml-language-server: $schema=task.schema.json
# A task: choose one row from each offer table, subject to named constraints, optimising one objective.
# Certify it with:   cobench verify {name}
cobench: 1
id: {id}
title: Cheapest long weekend at Zion, flying from Denver

# A bundled dataset, or the path of a folder with a dataset.yaml. See its columns with: cobench data describe parks
dataset: parks

# Values that the dataset asks for.
given:
  guests: 2

# name of the decision: offer table
choose:
  hotel: stays
  flight: round_trips

# Each constraint has a name of its own; certificates and scores speak of constraints by these names.
constraints:
  park: hotel.park == "Zion"
  origin: flight.origin == "DEN" and serves(flight.destination, hotel.park)
  dates: flight.departs_on == hotel.check_in and flight.returns_on == hotel.check_out
  weekend: weekday(hotel.check_in) == "fri" and hotel.nights in [2, 3]
  # The long form says when an agent learns of the constraint, and in which words.
  pool:
    require: hotel.has_pool
    reveal: later
    say: Oh, and the children want a pool.
  budget:
    require: hotel.total_price + flight.total_price <= 2500   # dollars
    reveal: later
    say: Everything together has to stay under $2,500.

# Exactly one of minimize and maximize. Wish lists: maximize: count(hotel.has_pool, flight.is_direct)
minimize: hotel.total_price + flight.total_price

# What you expect, if you do: `unsolvable`, or an optimum and a count. Verify exits with 1 when it is otherwise.
# expect: unsolvable
"""


def json_schema(kind: str) -> dict[str, Any]:
    """The JSON Schema of a kind of file."""
    from ..schemas.certificate import Certificate
    from ..schemas.manifest import Manifest
    from ..schemas.plan import Plan
    from ..schemas.task import Task

    models = {"task": Task, "dataset": Manifest, "plan": Plan, "certificate": Certificate}
    schema = models[kind].model_json_schema()
    return {"$schema": "https://json-schema.org/draft/2020-12/schema", **schema}


def schema_text(kind: str) -> str:
    """The JSON Schema as it is committed and printed."""
    return json.dumps(json_schema(kind), indent=2, ensure_ascii=False) + "\n"


@click.command()
@click.argument("kind", type=click.Choice(KINDS), default="task")
def schema(kind: str) -> int:
    """Print the JSON Schema of a file format, for editors and validators.

    \b
    cobench schema > task.schema.json
    """
    click.echo(schema_text(kind), nl=False)
    return 0


@click.command()
@click.argument("file", type=click.Path(path_type=Path), default=Path("task.yaml"))
@click.option("--force", is_flag=True, help="Replace files that are there.")
def init(file: Path, force: bool) -> int:
    """Write a commented task to FILE, and its JSON Schema beside it for completion in the editor."""
    from ..schemas.files import require_writable, write_atomically

    if not file.name or file.is_dir():
        raise OutputError(f"error: {file} is no name for a file")
    schema_file = file.with_name("task.schema.json")
    if file.exists() and not force:
        raise OutputError(f"error: {file} is there already\nhint: --force replaces it")
    name = re.sub(r"[^A-Za-z0-9._-]", "-", file.stem).lstrip("._-") or "task"
    fresh = force or not schema_file.exists()
    require_writable(file)
    if fresh:
        write_atomically(schema_file, schema_text("task").encode())
    write_atomically(file, _STARTER.format(name=file, id=name[:128]).encode())
    say(f"wrote {file}{f' and {schema_file}' if fresh else ''}; next: cobench verify {shlex.quote(str(file))}")
    return 0


@click.command()
@click.argument("shell", type=click.Choice(["bash", "zsh", "fish"]))
def completion(shell: str) -> int:
    """Print the completion script of a shell.

    \b
    cobench completion bash >> ~/.bashrc
    """
    from click.shell_completion import get_completion_class

    from . import cobench

    script = get_completion_class(shell)
    if script is None:
        raise OutputError(f"error: no completion for {shell}")
    click.echo(script(cobench, {}, "cobench", "_COBENCH_COMPLETE").source())
    return 0
