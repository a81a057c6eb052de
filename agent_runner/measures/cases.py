"""Conversations to look at: where agents are worst, and two agents about one task."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass
from fractions import Fraction

from ...schemas.episode import Episode
from ...schemas.verdict import VerdictKind
from .collected import Collected
from .rates import feasible, relative_gap
from .regret import FATES, fate


def farthest(episodes: Sequence[Episode], most: int) -> list[Episode]:
    """The feasible plans with the greatest relative gaps that are not 0, greatest first, one for each task."""
    known = [(gap, item) for item in episodes if (gap := relative_gap(item.verdict))]
    ordered = sorted(known, key=lambda pair: (-pair[0], pair[1].task, pair[1].epoch))
    return _distinct([item for _, item in ordered], most)


def most_broken(episodes: Sequence[Episode], most: int) -> list[Episode]:
    """Answers that are not feasible, one for each task: those that break most constraints first, then other faults."""
    wrong = [item for item in episodes if not feasible(item.verdict)]
    ordered = sorted(wrong, key=lambda item: (-len(item.verdict.violations), item.task, item.epoch))
    return _distinct(ordered, most)


def _distinct(ordered: Sequence[Episode], most: int) -> list[Episode]:
    found: dict[str, Episode] = {}
    for item in ordered:
        found.setdefault(item.task, item)
    return list(found.values())[:most]


@dataclass(frozen=True, slots=True)
class Study:
    """What two agents did about one task in one epoch: the one that does better over all first."""

    strong: Episode
    weak: Episode


def study(found: Collected) -> Study | None:
    """The best agent and the best other one whose feasible plan differs in value about a shared task.

    There is most to learn from two that are both good. Where no such pair is, the best and the worst agent; None when
    these share no conversation. Of the tasks that one where the better agent comes out best, and the other worst.
    """
    if len(found.agents) < 2:
        return None
    strong, *others = found.agents
    near = ([pair for pair in _pairs(found, strong, other) if _close(pair)] for other in others)
    pairs = next(filter(None, near), None) or _pairs(found, strong, others[-1])
    return min(pairs, key=_contrast, default=None)


def _pairs(found: Collected, strong: str, weak: str) -> list[Study]:
    others = {(item.task, item.epoch): item for item in found.of(weak)}
    mine = found.of(strong)
    return [Study(item, others[item.task, item.epoch]) for item in mine if (item.task, item.epoch) in others]


def _close(pair: Study) -> bool:
    """Whether both plans are feasible, and the first is better."""
    strong, weak = relative_gap(pair.strong.verdict), relative_gap(pair.weak.verdict)
    both = feasible(pair.strong.verdict) and feasible(pair.weak.verdict)
    return both and strong is not None and weak is not None and strong < weak


def _contrast(pair: Study) -> tuple[int, bool, Fraction, int, str, int]:
    strong, weak = pair.strong, pair.weak
    gap = relative_gap(weak.verdict) or Fraction(0)
    return (
        FATES.index(fate(strong.verdict, strong.regret)), weak.verdict.kind is VerdictKind.NO_ANSWER,
        -(gap if feasible(weak.verdict) else 1 + gap), -len(weak.verdict.violations), strong.task, strong.epoch,
    )  # fmt: skip
