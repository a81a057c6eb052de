"""How much rates move when everything is done again: over epochs, each a conversation about every task.

The standard deviation is that of the population (over n, not n - 1), as in the published table.
"""

from __future__ import annotations

import math
from collections import defaultdict
from collections.abc import Callable, Sequence
from dataclasses import dataclass
from fractions import Fraction

from ...schemas.episode import Episode
from ..analysis import Rate
from .rates import all_rates


@dataclass(frozen=True, slots=True)
class Spread:
    """The mean of some values, exactly, and their population standard deviation."""

    values: tuple[Fraction, ...]
    mean: Fraction
    deviation: float


def spread(values: Sequence[Fraction]) -> Spread | None:
    """Mean and standard deviation; None without values."""
    if not values:
        return None
    mean = sum(values, Fraction(0)) / len(values)
    variance = sum(((value - mean) ** 2 for value in values), Fraction(0)) / len(values)
    return Spread(tuple(values), mean, math.sqrt(variance))


def by_epoch(episodes: Sequence[Episode]) -> dict[int, list[Episode]]:
    """The episodes of each epoch, ascending."""
    found: defaultdict[int, list[Episode]] = defaultdict(list)
    for episode in episodes:
        found[episode.epoch].append(episode)
    return dict(sorted(found.items()))


def stability(episodes: Sequence[Episode]) -> dict[str, Spread]:
    """For each rate its values over the epochs; empty when there are fewer than two."""
    epochs = [all_rates(found) for found in by_epoch(episodes).values()]
    if len(epochs) < 2:
        return {}
    return {
        name: found
        for name in epochs[0]
        if (found := spread([_share(rates[name]) for rates in epochs])) is not None
    }  # fmt: skip


def pass_all(episodes: Sequence[Episode], good: Callable[[Episode], bool]) -> list[Fraction]:
    """pass^k for k from 1: how likely all of k conversations about a task come out well, averaged over the tasks.

    With c of n that do, C(c, k) / C(n, k) for a task, which is unbiased; k goes up to the least n.
    """
    counts: defaultdict[str, list[int]] = defaultdict(lambda: [0, 0])
    for episode in episodes:
        counts[episode.task][0] += good(episode)
        counts[episode.task][1] += 1
    most = min((of for _, of in counts.values()), default=0)
    return [
        sum((Fraction(math.comb(hits, k), math.comb(of, k)) for hits, of in counts.values()), Fraction(0)) / len(counts)
        for k in range(1, most + 1)
    ]


def _share(found: Rate) -> Fraction:
    return Fraction(found.hits, found.of)
