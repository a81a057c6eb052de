"""How much an agent searched, in classes, and which of its calls were wrong.

`Episode.effort` is E, `Episode.found` is Y.
"""

from __future__ import annotations

from collections import Counter
from collections.abc import Sequence
from dataclasses import dataclass

from ...schemas.episode import Episode, Fault
from ..analysis import Rate, rate

HIGH = 30  # more distinct calls than that are high effort
BINS = ((0, 5), (6, 10), (11, 20), (21, HIGH), (HIGH + 1, 60), (61, 120), (121, None))


def effort_bin(value: int) -> str:
    """The class of an effort, such as `11–20`; the last is open."""
    low, high = next((low, high) for low, high in BINS if high is None or value <= high)
    return f"{low}–{high}" if high is not None else f"{low}+"


def bin_names() -> list[str]:
    """The classes of effort, ascending."""
    return [effort_bin(low) for low, _ in BINS]


@dataclass(frozen=True, slots=True)
class ToolErrors:
    """How many of so many calls had a fault, by kind; the interval is clustered by task."""

    calls: int
    kinds: dict[Fault, int]
    total: Rate


def tool_errors(episodes: Sequence[Episode]) -> ToolErrors:
    """The calls of these episodes, inner ones of programs among them."""
    kinds = Counter(call.fault for episode in episodes for call in episode.calls)
    total = rate((episode.task, call.fault is not None) for episode in episodes for call in episode.calls)
    return ToolErrors(kinds.total(), {fault: kinds[fault] for fault in Fault}, total)
