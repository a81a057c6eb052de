"""The headline of each agent: what a terminal prints after a run, and a report begins with."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from fractions import Fraction
from typing import Any

from ...schemas.episode import Answered, Episode
from ..analysis import Rate, rate
from .effort import ToolErrors, tool_errors
from .intervals import Mean, mean
from .rates import all_rates, median_gap, relative_gap
from .regret import split


@dataclass(frozen=True, slots=True)
class Summary:
    """What an agent's episodes come to.

    `rates`: FR, OR-5, OR-10, OR-20 and `optimal`. Gaps and regrets are relative to the optimum and of feasible plans
    only; `exploration` and `reasoning` add up to the gap. `effort`: distinct calls without fault, `found`: distinct
    offers shown, per episode. `format_errors`: turns whose reply did not have the agreed form. `user_faults`: turns in
    which the simulated user was at fault. What there is none of is None.
    """

    agent: str
    episodes: int
    tasks: int
    rates: Mapping[str, Rate]
    gap: Mean | None
    median_gap: Fraction | None
    exploration: Mean | None
    reasoning: Mean | None
    effort: Mean | None
    found: Mean | None
    errors: ToolErrors
    format_errors: Rate
    user_faults: int
    turns: Mean | None

    def content(self) -> dict[str, Any]:
        """As plain data."""
        means = {name: getattr(self, name) for name in ("gap", "exploration", "reasoning", "effort", "turns")}
        means["yield"] = self.found
        return {
            "agent": self.agent,
            "episodes": self.episodes,
            "tasks": self.tasks,
            "rates": {name: found.content() for name, found in self.rates.items()},
            "median_gap": None if self.median_gap is None else str(self.median_gap),
            **{name: None if found is None else found.content() for name, found in means.items()},
            "calls": self.errors.calls,
            "tool_errors": {fault.value: number for fault, number in self.errors.kinds.items()},
            "format_errors": self.format_errors.content(),
            "user_faults": self.user_faults,
        }


def by_agent(episodes: Sequence[Episode]) -> dict[str, list[Episode]]:
    """The episodes of each agent, in the order of task and epoch; agents by name."""
    ordered = sorted(episodes, key=lambda item: (item.agent, item.task, item.epoch))
    found: dict[str, list[Episode]] = {}
    for episode in ordered:
        found.setdefault(episode.agent, []).append(episode)
    return found


def summary(episodes: Sequence[Episode]) -> list[Summary]:
    """A row for each agent, best first: by OR-5, then FR, then name."""
    rows = [_summary(agent, found) for agent, found in by_agent(episodes).items()]
    return sorted(rows, key=lambda row: (-_share(row.rates["OR-5"]), -_share(row.rates["FR"]), row.agent))


def _share(found: Rate) -> Fraction:
    return Fraction(found.hits, found.of) if found.of else Fraction(0)


def _summary(agent: str, episodes: Sequence[Episode]) -> Summary:
    parts = [(episode.task, found) for episode in episodes if (found := split(episode.regret)) is not None]
    gaps = ((episode.task, relative_gap(episode.verdict)) for episode in episodes)
    turns = [(episode.task, turn) for episode in episodes for turn in episode.turns]
    return Summary(
        agent=agent,
        episodes=len(episodes),
        tasks=len({episode.task for episode in episodes}),
        rates=all_rates(episodes),
        gap=mean((task, gap) for task, gap in gaps if gap is not None),
        median_gap=median_gap(episodes),
        exploration=mean((task, found.exploration) for task, found in parts),
        reasoning=mean((task, found.reasoning) for task, found in parts),
        effort=mean((episode.task, episode.effort) for episode in episodes),
        found=mean((episode.task, episode.found) for episode in episodes),
        errors=tool_errors(episodes),
        format_errors=rate((task, turn.answered is Answered.FORMAT_ERROR) for task, turn in turns),
        user_faults=sum(bool(turn.user_faults) for _, turn in turns),
        turns=mean((episode.task, len(episode.turns)) for episode in episodes),
    )
