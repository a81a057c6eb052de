"""What a run came to, a row for each agent: shown on a terminal, and as plain data."""

from __future__ import annotations

from typing import TYPE_CHECKING, Any

from rich import box
from rich.table import Table
from rich.text import Text

from ..agent_runner.measures.summary import summary
from .common import console, visible
from .display import percent
from .tables import show

if TYPE_CHECKING:
    from ..agent_runner.analysis import Rate
    from ..agent_runner.measures.intervals import Mean
    from ..agent_runner.runs import Run

RATES = ("FR", "OR-5", "OR-10", "OR-20")
LEGEND = (
    "talks: conversations; FR: feasible; OR-5: among the best 5 % of feasible plans;\n"
    "gap: mean gap of feasible plans; E: different calls answered, Y: offers shown"
)


def run_content(run: Run) -> dict[str, Any]:
    """The summary of each agent as plain data; means are fractions as text, since they are exact."""
    return {
        "run": str(run.folder),
        "suite": run.facts.suite,
        "tasks": len(run.facts.tasks),
        "conversations": len(run.episodes),
        "unscored": len(run.unscored),
        "agents": [item.content() for item in summary(run.episodes)],
    }


def print_run(run: Run) -> None:
    """A row for each agent: rates of feasible plans and of those among the best, mean gap, effort and yield."""
    out, table = console(), Table(box=box.SIMPLE, pad_edge=True, padding=(0, 1, 0, 0))
    for name in ("agent", "talks", *RATES, "gap", "E", "Y"):
        table.add_column(name, justify="left" if name == "agent" else "right")
    for item in summary(run.episodes):
        rates = (_share(item.rates[name]) for name in RATES)
        gap = "–" if item.gap is None else percent(item.gap.value)
        table.add_row(
            Text(visible(item.agent)), f"{item.episodes:,}", *rates, gap, _number(item.effort), _number(item.found)
        )
    show(out, table)
    out.print(Text(LEGEND))


def _share(rate: Rate) -> str:
    return f"{100 * rate.hits / rate.of:.1f} %" if rate.of else "–"


def _number(mean: Mean | None) -> str:
    return "–" if mean is None else f"{float(mean.value):,.1f}"
