"""95 % intervals by task: episodes of one task are not independent, whatever their agents, personas or epochs.

For shares `analysis.rate` has them. For means the variance is that between tasks (sums of the deviations by task, times
G / (G - 1) for G tasks), the sandwich for clusters, with the normal distribution.
"""

from __future__ import annotations

import math
from collections import defaultdict
from collections.abc import Iterable
from dataclasses import dataclass
from fractions import Fraction
from typing import Any

from ..analysis import Z


@dataclass(frozen=True, slots=True)
class Mean:
    """The mean of so many values of so many tasks, exactly, and its 95 % interval; None where one task is all."""

    value: Fraction
    of: int
    tasks: int
    interval: tuple[float, float] | None

    def content(self) -> dict[str, Any]:
        """As plain data; what is not exact as text."""
        ends = None if self.interval is None else [f"{end:.4f}" for end in self.interval]
        return {"mean": str(self.value), "of": self.of, "tasks": self.tasks, "interval": ends}


def mean(values: Iterable[tuple[str, Fraction | int]]) -> Mean | None:
    """The mean of values (task, value); None without any."""
    clusters: defaultdict[str, list[Fraction | int]] = defaultdict(list)
    for task, value in values:
        clusters[task].append(value)
    of, number = sum(map(len, clusters.values())), len(clusters)
    if not of:
        return None
    middle = Fraction(sum(sum(found) for found in clusters.values()), of)
    if number == 1:
        return Mean(middle, of, 1, None)
    spread = math.fsum(float(sum(found) - middle * len(found)) ** 2 for found in clusters.values())
    half = Z * math.sqrt(number / (number - 1) * spread) / of
    low, high = float(middle) - half, float(middle) + half
    if min(map(min, clusters.values())) >= 0:
        low = max(low, 0.0)  # nor is the mean below what no value is below
    return Mean(middle, of, number, (low, high))
