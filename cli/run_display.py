"""What a run came to, a row for each agent: shown on a terminal, and as plain data."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass
from fractions import Fraction
from typing import TYPE_CHECKING, Any

from rich import box
from rich.table import Table
from rich.text import Text

from ..schemas.verdict import VerdictKind
from ..solver.rank import in_top
from .common import console, visible
from .display import percent
from .tables import show

if TYPE_CHECKING:
    from ..agent_runner.runs import Run
    from ..schemas.episode import Episode

TOP = (5, 10, 20)  # percent


@dataclass(frozen=True, slots=True)
class Line:
    """One agent. `top`: how many of its plans are among the best 5, 10, 20 % of all feasible ones."""

    agent: str
    conversations: int
    unscored: int
    feasible: int
    top: tuple[int, ...]
    gaps: tuple[Fraction, ...]
    effort: Fraction
    found: Fraction

    @property
    def mean_gap(self) -> Fraction | None:
        """The mean of the relative gaps that are known: those of feasible plans."""
        return sum(self.gaps, Fraction(0)) / len(self.gaps) if self.gaps else None


def lines(run: Run) -> list[Line]:
    """A line for each agent, in the order that was asked for."""
    return [_line(run, agent) for agent in run.facts.agents]


def _line(run: Run, agent: str) -> Line:
    mine: Sequence[Episode] = [item for item in run.episodes if item.agent == agent]
    verdicts = [item.verdict for item in mine]
    feasible = [item for item in verdicts if item.kind in (VerdictKind.OPTIMAL, VerdictKind.FEASIBLE)]
    standings = [item.standing for item in feasible if item.standing is not None]
    gaps = (Fraction(0) if item.kind is VerdictKind.OPTIMAL else item.relative_gap for item in feasible)
    return Line(
        agent,
        len(mine),
        sum(item.agent == agent for item in run.unscored),
        len(feasible),
        tuple(sum(in_top(item, share) for item in standings) for share in TOP),
        tuple(Fraction(gap) for gap in gaps if gap is not None),
        Fraction(sum(item.effort for item in mine), max(1, len(mine))),
        Fraction(sum(item.found for item in mine), max(1, len(mine))),
    )


def run_content(run: Run) -> dict[str, Any]:
    """The lines as plain data; shares and means are fractions as text, since they are exact."""
    agents = [
        {
            "agent": line.agent,
            "conversations": line.conversations,
            "unscored": line.unscored,
            "feasible": line.feasible,
            **{f"top_{share}": number for share, number in zip(TOP, line.top, strict=True)},
            "mean_gap": None if line.mean_gap is None else str(line.mean_gap),
            "effort": str(line.effort),
            "yield": str(line.found),
        }
        for line in lines(run)
    ]
    return {
        "run": str(run.folder),
        "suite": run.facts.suite,
        "tasks": len(run.facts.tasks),
        "conversations": len(run.episodes),
        "unscored": len(run.unscored),
        "agents": agents,
    }


def print_run(run: Run) -> None:
    """A row for each agent: rates of feasible plans and of those among the best, mean gap, effort and yield."""
    table = Table(box=box.SIMPLE, pad_edge=True)
    names = ("agent", "conversations", "FR", *(f"OR-{share}" for share in TOP), "mean gap", "E", "Y")
    for name in names:
        table.add_column(name, justify="left" if name == "agent" else "right")
    for line in lines(run):
        rates = (_rate(number, line.conversations) for number in (line.feasible, *line.top))
        gap = "–" if line.mean_gap is None else percent(line.mean_gap)
        means = (f"{float(number):,.1f}" for number in (line.effort, line.found))
        table.add_row(Text(visible(line.agent)), f"{line.conversations:,}", *rates, gap, *means)
    show(console(), table)


def _rate(number: int, of: int) -> str:
    return f"{100 * number / of:.1f} %" if of else "–"
