"""When everything had been told, how long the answer took then, and whether agents met the same users.

t* is the turn whose message completes what there is to reveal. Δt is how many turns after it the last formal
recommendation came; it is negative when that came before. These are controls: if t* were distributed otherwise for
another agent, the agents were not compared in the same situation.
"""

from __future__ import annotations

import math
from bisect import bisect_right
from collections.abc import Sequence
from dataclasses import dataclass
from fractions import Fraction

from ...schemas.episode import Answered, Episode

SPEEDS = ((1, 2), (3, 4), (5, 6), (7, 9), (10, None))
NEVER = "not all told"


def answered_at(episode: Episode) -> int | None:
    """The turn of the last formal recommendation; None when there was none."""
    formal = (turn.number for turn in episode.turns if turn.answered is Answered.RECOMMENDATION)
    return max(formal, default=None)


def delay(episode: Episode) -> int | None:
    """Δt; None when not everything was told, or nothing recommended."""
    last = answered_at(episode)
    return None if last is None or episode.told is None else last - episode.told


def speed_bin(episode: Episode) -> str:
    """The class of t*, such as `3–4`; the last is open, and NEVER is for conversations that ended before."""
    told = episode.told
    if told is None:
        return NEVER
    low, high = next((low, high) for low, high in SPEEDS if high is None or told <= high)
    return f"{low}–{high}" if high is not None else f"{low}+"


def speed_bins() -> list[str]:
    """The classes of t*, ascending."""
    return [*(f"{low}–{high}" if high is not None else f"{low}+" for low, high in SPEEDS), NEVER]


@dataclass(frozen=True, slots=True)
class Box:
    """Five numbers of a distribution, and its mean; quartiles are those of the inverse of the step function."""

    of: int
    least: int
    low: int
    median: int
    high: int
    most: int
    mean: Fraction


def box(values: Sequence[int]) -> Box | None:
    """The five numbers; None without values."""
    if not values:
        return None
    ordered = sorted(values)
    low, median, high = (ordered[-(-part * len(ordered) // 4) - 1] for part in (1, 2, 3))
    return Box(len(ordered), ordered[0], low, median, high, ordered[-1], Fraction(sum(ordered), len(ordered)))


@dataclass(frozen=True, slots=True)
class Distance:
    """The greatest distance between two empirical distributions, and how likely a greater one is if they are one."""

    statistic: Fraction
    p: float


def ks_test(first: Sequence[int], second: Sequence[int]) -> Distance | None:
    """Kolmogorov and Smirnov's test of two samples; None when one of them is empty.

    The probability is that of the limit with Stephens' correction for small samples: near the exact one of values that
    are never equal, within a third of it. Of values that are often equal, as turns are, both err on the large side.
    """
    if not first or not second:
        return None
    one, two = sorted(first), sorted(second)
    statistic = max(
        abs(Fraction(bisect_right(one, value), len(one)) - Fraction(bisect_right(two, value), len(two)))
        for value in {*one, *two}
    )
    root = math.sqrt(len(one) * len(two) / (len(one) + len(two)))
    return Distance(statistic, _kolmogorov((root + 0.12 + 0.11 / root) * float(statistic)))


def _kolmogorov(place: float) -> float:
    """The probability that the limit is beyond a place; its series alternates and shrinks faster than any power."""
    if place < 0.2:  # where the series has not begun to shrink, and the result is 1 to twelve digits
        return 1.0
    total = sum((-1) ** (term - 1) * math.exp(-2 * (term * place) ** 2) for term in range(1, 101))
    return min(1.0, max(0.0, 2 * total))
