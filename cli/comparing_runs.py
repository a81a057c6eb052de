"""`cobench compare`: two agents on the same tasks, pair by pair."""

from __future__ import annotations

from collections.abc import Sequence
from pathlib import Path
from typing import TYPE_CHECKING, Any

import rich_click as click

from ..schemas.errors import InputError, Where, did_you_mean
from .common import SEED, console, print_json, progress

if TYPE_CHECKING:
    from ..agent_runner.measures.paired import Compared, Pair
    from ..schemas.episode import Episode


@click.command()
@click.argument("first", metavar="RUN[:AGENT]")
@click.argument("second", metavar="RUN[:AGENT]")
@click.option("--seed", type=SEED, default=0, show_default=True, help="Of the bootstrap.")
@click.option("--json", "as_json", is_flag=True, help="One line of JSON on stdout.")
@click.option("-q", "--quiet", is_flag=True, help="No progress.")
def compare(first: str, second: str, seed: int, as_json: bool, quiet: bool) -> int:
    """Compare two agents by the conversations that they both had: about the same task, in the same epoch.

    Each is the folder of a run that has one agent, or RUN:AGENT, or the file of one conversation. Differences are the
    second's minus the first's, with 95 % intervals of a bootstrap over tasks, and the probability of Wilcoxon's signed
    ranks over the tasks.

    \b
    cobench compare runs/all:greedy runs/all:strategic
    cobench compare runs/gpt-5 runs/gpt-5-code --json
    """
    from ..agent_runner.measures.paired import compared, pairs

    with progress(quiet=quiet) as shown:
        shown.begin("reading runs")
        (one, mine), (two, theirs) = map(_side, (first, second))
        names, sides = (one, two), (mine, theirs)
        both = pairs(mine, theirs)
        _require_pairs(both, names)
        shown.begin("comparing")
        rows = compared(both, seed)
    others = sum(one.persona != two.persona for one, two in both)
    if as_json:
        print_json(_content(rows, names, sides, len(both), others))
    else:
        _print(rows, names, sides, len(both), others)
    return 0


def _side(given: str) -> tuple[str, Sequence[Episode]]:
    """The name and the conversations of an agent, `RUN` or `RUN:AGENT`; names of agents may hold colons, too."""
    from ..agent_runner.single import read_run_or_episode

    path, agent = given, None
    while not Path(path).exists() and ":" in path:
        path = path.rpartition(":")[0]
        agent = given[len(path) + 1 :]
    run = read_run_or_episode(Path(path))
    where = Where(path)
    if agent is None:
        agent, *others = run.facts.agents
        if others:
            hint = f"one of {', '.join(f'{path}:{name}' for name in run.facts.agents[:10])}"
            raise InputError(f"this run has {len(others) + 1} agents", where=where, hint=hint)
    if agent not in run.facts.agents:
        raise InputError(
            f"no agent '{agent}' in this run", where=where, hint=did_you_mean(agent, run.facts.agents, "agents")
        )
    return f"{path}:{agent}", [item for item in run.episodes if item.agent == agent]


def _require_pairs(both: Sequence[Pair], names: Sequence[str]) -> None:
    """Raises InputError when there is nothing to compare, or tasks of one name are not the same ones."""
    if not both:
        raise InputError(f"{names[0]} and {names[1]} have no conversation about the same task in the same epoch")
    for one, two in both:
        if other := _difference(one, two):
            raise InputError(
                f"{one.task} is not the same task in {names[0]} and {names[1]}: another {other}",
                hint="compare runs on one suite",
            )


def _difference(one: Episode, two: Episode) -> str:
    """What two conversations about tasks of one name are not both about."""
    for name, what in (("task_digest", "task"), ("certificate_digest", "certificate"), ("wording", "wording")):
        if getattr(one, name) != getattr(two, name):
            return what
    return ""


def _content(
    rows: Sequence[Compared], names: Sequence[str], sides: Sequence[Sequence[Episode]], pairs: int, others: int
) -> dict[str, Any]:
    return {
        "first": names[0],
        "second": names[1],
        "pairs": pairs,
        "unpaired": [len(side) - pairs for side in sides],
        "other_users": others,
        "measures": [
            {
                "name": row.name,
                "pairs": row.pairs,
                "tasks": row.tasks,
                "first": str(row.first),
                "second": str(row.second),
                "difference": str(row.difference),
                "interval": None if row.interval is None else [f"{end:.4f}" for end in row.interval],
                "more": row.more,
                "fewer": row.fewer,
                "same": row.same,
                "p": None if row.p is None else f"{row.p:.6g}",
            }
            for row in rows
        ],
    }


def _print(
    rows: Sequence[Compared], names: Sequence[str], sides: Sequence[Sequence[Episode]], pairs: int, others: int
) -> None:
    from rich import box
    from rich.table import Table
    from rich.text import Text

    from .run_cells import NONE, number_text
    from .tables import show
    from .words import count, short

    out, table = console(), Table(box=box.SIMPLE, pad_edge=True, padding=(0, 1, 0, 0))
    for name in ("", "first", "second", "change", "95 %", "+/−/=", "p"):
        table.add_column(name, justify="right" if name else "left")
    for row in rows:
        low_high = NONE
        if row.interval is not None:
            low, high = (_amount(end, row.share, signed=True).removesuffix(" %") for end in row.interval)
            low_high = f"{low} to {high}"
        ends = (_amount(float(value), row.share) for value in (row.first, row.second))
        difference = _amount(float(row.difference), row.share, signed=True)
        signs = f"{row.more:,}/{row.fewer:,}/{row.same:,}"
        table.add_row(
            row.name.removesuffix(" regret"),
            *ends,
            difference,
            low_high,
            signs,
            NONE if row.p is None else number_text(row.p),
        )
    for place, name in zip(("first ", "second"), names, strict=True):
        out.print(Text(f"{place}  {short(name, 200)}"))
    show(out, table)
    tasks = max(row.tasks for row in rows)
    out.print(Text("+/−/=: tasks on which the second has more, less, the same"))
    said = f"{count(pairs, 'pair')} about {count(tasks, 'task')}"
    alone = sum(len(side) - pairs for side in sides)
    if alone:
        said += f"; {count(alone, 'conversation')} without a partner"
    if others:
        said += f"; in {count(others, 'pair')} the users are not the same"
    out.print(Text(said))


def _amount(value: float, share: bool, signed: bool = False) -> str:
    sign = "+" if signed else ""
    return f"{100 * value:{sign}.1f} %" if share else f"{value:{sign}.1f}"
