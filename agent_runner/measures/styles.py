"""Whether an agent does as well whatever the user is like: nine styles, and users who trust or question."""

from __future__ import annotations

import math
from collections import defaultdict
from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from fractions import Fraction

from ...schemas.episode import Episode
from ..analysis import Rate
from .rates import best_rate
from .stability import spread

PERCENT = 5
ALPHA = 0.05


@dataclass(frozen=True, slots=True)
class Consistency:
    """OR-5 by style; `variation`: standard deviation over mean of these rates, None when the mean is 0 or of one style.

    `chance`: what the variation would be on average if only chance made the styles differ, each with as many episodes.
    """

    rates: Mapping[int, Rate]
    variation: float | None
    chance: float | None


def consistency(episodes: Sequence[Episode]) -> Consistency:
    """How OR-5 varies over the styles that occur."""
    groups: defaultdict[int, list[Episode]] = defaultdict(list)
    for episode in episodes:
        groups[episode.persona.style].append(episode)
    rates = {style: best_rate(groups[style], PERCENT) for style in sorted(groups)}
    found = spread([Fraction(item.hits, item.of) for item in rates.values()])
    if found is None or len(rates) < 2 or not found.mean:
        return Consistency(rates, None, None)
    share = sum(item.hits for item in rates.values()) / sum(item.of for item in rates.values())
    part = 1 - 1 / len(rates)  # the mean is estimated from the same rates
    noise = math.sqrt(part * share * (1 - share) * sum(1 / item.of for item in rates.values()) / len(rates))
    return Consistency(rates, found.deviation / float(found.mean), noise / share)


@dataclass(frozen=True, slots=True)
class Difference:
    """Two rates, the statistic of the test that they are one, and its two-sided probability; None where it has none."""

    first: Rate
    second: Rate
    z: float | None
    p: float | None

    @property
    def significant(self) -> bool:
        """Whether the probability is below 0.05."""
        return self.p is not None and self.p < ALPHA


def trust(episodes: Sequence[Episode]) -> Difference:
    """OR-5 with questioning and with trusting users, and the test that these are equal."""
    first, second = (
        best_rate([episode for episode in episodes if episode.persona.trust == kind], PERCENT)
        for kind in ("questioning", "trusting")
    )
    found = pooled_z(first.hits, first.of, second.hits, second.of)
    return Difference(first, second, *(found or (None, None)))


def pooled_z(hits: Fraction | int, of: int, other_hits: Fraction | int, other_of: int) -> tuple[float, float] | None:
    """The z and two-sided p of two proportions with a pooled variance; None when one is empty or all outcomes are one.

    Outcomes are taken for independent, as in the paper; hits may be fractions, for published percentages.
    """
    if not of or not other_of:
        return None
    pooled = Fraction(hits + other_hits) / (of + other_of)
    variance = pooled * (1 - pooled) * (Fraction(1, of) + Fraction(1, other_of))
    if variance <= 0:
        return None
    z = float(Fraction(hits) / of - Fraction(other_hits) / other_of) / math.sqrt(variance)
    return z, math.erfc(abs(z) / math.sqrt(2))
