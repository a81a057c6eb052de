"""What a report is about: the conversations of one or more runs, and what is known of the runs themselves."""

from __future__ import annotations

import os
from collections import Counter
from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from pathlib import Path

from ...schemas.episode import Episode
from ...schemas.run import RunFile
from ..runs import Run
from .summary import Summary, summary


@dataclass(frozen=True, slots=True)
class Collected:
    """Conversations of agents that have different names, also where they come from different runs.

    `summaries`: best first, and in that order agents are told of. `asked`, `unscored`: how many conversations of each
    agent were to be had, and have no outcome for a reason that is not the agent's.
    """

    runs: tuple[tuple[str, RunFile], ...]
    episodes: tuple[Episode, ...]
    summaries: tuple[Summary, ...]
    asked: Mapping[str, int]
    unscored: Mapping[str, int]
    reasons: tuple[tuple[str, int], ...]

    @property
    def agents(self) -> list[str]:
        """The agents that have a conversation, best first."""
        return [row.agent for row in self.summaries]

    def of(self, agent: str) -> list[Episode]:
        """An agent's conversations, by task and epoch."""
        mine = (episode for episode in self.episodes if episode.agent == agent)
        return sorted(mine, key=lambda episode: (episode.task, episode.epoch))


def collected(runs: Sequence[Run]) -> Collected:
    """The conversations of runs; with several, the name of a run's folder stands behind its agents."""
    asked, unscored, reasons = Counter[str](), Counter[str](), Counter[str]()
    folders = _names([run.folder for run in runs])
    episodes: list[Episode] = []
    for run, folder in zip(runs, folders, strict=True):
        names = {agent: f"{agent} ({folder})" if len(runs) > 1 else agent for agent in run.facts.agents}
        for name in names.values():
            asked[name] += len(run.facts.tasks) * run.facts.epochs
        for item in run.unscored:
            unscored[names[item.agent]] += 1
            reasons[item.reason] += 1
        episodes += (item.model_copy(update={"agent": names[item.agent]}) for item in run.episodes)
    return Collected(
        tuple((folder, run.facts) for run, folder in zip(runs, folders, strict=True)),
        tuple(episodes),
        tuple(summary(episodes)),
        asked,
        unscored,
        tuple(sorted(reasons.items(), key=lambda item: (-item[1], item[0]))),
    )


def _names(folders: Sequence[Path]) -> list[str]:
    """What runs are called: the last names of their folders, so that a page does not tell where they lie.

    Folders of one name have as many of their parents' names in front as tell them apart.
    """
    whole = [Path(os.path.abspath(folder)).parts for folder in folders]  # noqa: PTH100 - never fails, and links stay
    found: list[str] = []
    for parts in whole:
        rest = [other for other in whole if other != parts]
        length = next(
            (size for size in range(1, len(parts)) if all(other[-size:] != parts[-size:] for other in rest)), len(parts)
        )
        found.append("/".join(parts[-length:]))
    return found
