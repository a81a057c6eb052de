"""Two agents on the same tasks: differences of pairs of episodes, with intervals and tests over tasks.

A pair is the episodes of both about one task in one epoch. Intervals are percentiles of a bootstrap over tasks; the
test is Wilcoxon's of signed ranks, over the mean difference of each task.
"""

from __future__ import annotations

import math
from array import array
from collections import Counter, defaultdict
from collections.abc import Callable, Mapping, Sequence
from dataclasses import dataclass
from fractions import Fraction
from functools import lru_cache

from ...schemas.chance import drawn
from ...schemas.episode import Episode
from ...schemas.verdict import VerdictKind
from ..analysis import TOP
from .rates import among_best, feasible, relative_gap
from .regret import exploration, split

RESAMPLES = 2000
_EXACT = 50  # tasks with a difference; for more the normal distribution is near enough

Value = Callable[[Episode], Fraction | int | None]
Pair = tuple[Episode, Episode]


def _best(percent: int) -> Value:
    return lambda episode: int(among_best(episode.verdict, percent))


def _reasoning(episode: Episode) -> Fraction | None:
    found = split(episode.regret)
    return None if found is None else found.reasoning


# What is compared: its name, whether it is a share, whether more is better (None: neither), and its value.
MEASURES: tuple[tuple[str, bool, bool | None, Value], ...] = (
    ("FR", True, True, lambda episode: int(feasible(episode.verdict))),
    *((f"OR-{percent}", True, True, _best(percent)) for percent in TOP),
    ("optimal", True, True, lambda episode: int(episode.verdict.kind is VerdictKind.OPTIMAL)),
    ("relative gap", True, False, lambda episode: relative_gap(episode.verdict)),
    ("exploration regret", True, False, lambda episode: exploration(episode.regret)),
    ("reasoning regret", True, False, _reasoning),
    ("E", False, None, lambda episode: episode.effort),
    ("Y", False, None, lambda episode: episode.found),
    ("turns", False, None, lambda episode: len(episode.turns)),
)


@dataclass(frozen=True, slots=True)
class Compared:
    """One measure of two agents over the pairs in which both have it.

    `difference`: of the second from the first. `interval`: 95 %, None for fewer than two tasks. `more`, `fewer` and
    `same`: tasks by the sign of their mean difference. `p`: that the differences lie so far to one side by chance, None
    without any.
    """

    name: str
    share: bool
    up: bool | None
    pairs: int
    tasks: int
    first: Fraction
    second: Fraction
    interval: tuple[float, float] | None
    more: int
    fewer: int
    same: int
    p: float | None

    @property
    def difference(self) -> Fraction:
        """How much more the second has."""
        return self.second - self.first


def pairs(first: Sequence[Episode], second: Sequence[Episode]) -> list[Pair]:
    """The episodes of two agents that are about the same task in the same epoch, in that order."""
    others = {(episode.task, episode.epoch): episode for episode in second}
    mine = sorted(first, key=lambda episode: (episode.task, episode.epoch))
    return [(episode, others[key]) for episode in mine if (key := (episode.task, episode.epoch)) in others]


def compared(found: Sequence[Pair], seed: int = 0) -> list[Compared]:
    """Every measure that some pair has."""
    rows = [_compared(name, share, up, value, found, seed) for name, share, up, value in MEASURES]
    return [row for row in rows if row is not None]


def _compared(
    name: str, share: bool, up: bool | None, value: Value, found: Sequence[Pair], seed: int
) -> Compared | None:
    values = [(one.task, value(one), value(two)) for one, two in found]
    known = [(task, Fraction(a), Fraction(b)) for task, a, b in values if a is not None and b is not None]
    if not known:
        return None
    by_task: defaultdict[str, list[Fraction]] = defaultdict(list)
    for task, a, b in known:
        by_task[task].append(b - a)
    means = [sum(item, Fraction(0)) / len(item) for item in by_task.values()]
    return Compared(
        name=name, share=share, up=up, pairs=len(known), tasks=len(means),
        first=sum((a for _, a, _ in known), Fraction(0)) / len(known),
        second=sum((b for _, _, b in known), Fraction(0)) / len(known),
        interval=bootstrap(by_task, seed),
        more=sum(mean > 0 for mean in means), fewer=sum(mean < 0 for mean in means), same=means.count(Fraction(0)),
        p=signed_ranks(means),
    )  # fmt: skip


def bootstrap(by_task: Mapping[str, Sequence[Fraction]], seed: int) -> tuple[float, float] | None:
    """The 95 % interval of the mean over all values when tasks are drawn anew, with all their values.

    A function of the seed, the number of tasks and the values. None for fewer than two tasks.
    """
    sums = [(math.fsum(map(float, found)), len(found)) for found in by_task.values()]
    if len(sums) < 2:
        return None
    means: list[float] = []
    for places in _resamples(len(sums), seed):
        picked = [sums[place] for place in places]
        means.append(math.fsum(total for total, _ in picked) / sum(size for _, size in picked))
    means.sort()
    cut = RESAMPLES // 40
    return means[cut - 1], means[-cut]


@lru_cache(maxsize=2)
def _resamples(size: int, seed: int) -> tuple[array[int], ...]:
    """Samples of so many tasks with repetition, as positions: the same for all measures."""
    return tuple(
        array("H" if size < 2**16 else "L", (drawn(size, seed, "bootstrap", number, place) for place in range(size)))
        for number in range(RESAMPLES)
    )


def signed_ranks(differences: Sequence[Fraction]) -> float | None:
    """The two-sided probability of Wilcoxon's signed ranks; zeros are left out, and equals share their ranks.

    Exact for up to 50 differences, else by the normal distribution with the variance for shared ranks.
    """
    kept = [item for item in differences if item]
    if not kept:
        return None
    ranks = _double_ranks([abs(item) for item in kept])
    high = sum(rank for rank, item in zip(ranks, kept, strict=True) if item > 0)
    total = sum(ranks)
    far = max(high, total - high)
    if len(kept) <= _EXACT:
        ways = Counter({0: 1})
        for rank in ranks:
            ways.update({place + rank: number for place, number in list(ways.items())})
        beyond = sum(number for place, number in ways.items() if place >= far)
        return min(1.0, 2 * beyond / 2 ** len(kept))
    deviation = math.sqrt(sum(rank * rank for rank in ranks)) / 2
    return math.erfc((far - total / 2) / deviation / math.sqrt(2))


def _double_ranks(sizes: Sequence[Fraction]) -> list[int]:
    """Twice the rank of each size from 1, the mean of the ranks where sizes are equal."""
    count, ranks, before = Counter(sizes), dict[Fraction, int](), 0
    for size in sorted(count):
        ranks[size] = 2 * before + count[size] + 1
        before += count[size]
    return [ranks[size] for size in sizes]
