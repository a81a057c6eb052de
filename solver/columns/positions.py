"""The value of the plan at a position, best first, found by asking for ranks, many values in each sweep."""

from __future__ import annotations

import time
from collections.abc import Sequence
from dataclasses import dataclass

from ..model import Model
from ..outcome import Limits
from .sweeping import Scan, in_steps

_COARSE = 256  # steps into which the first sweep divides the objective's range
_ASKED = 3  # values for which each sweep asks, for each position


@dataclass(slots=True)
class _Bracket:
    """The value at `position` is above `low` and at most `high`: so many plans are up to each of them."""

    position: int
    low: int
    high: int
    up_to_low: int
    up_to_high: int

    def asks(self) -> list[int]:
        """Values inside, where straight interpolation has the value, and a little to both sides of it; else halves."""
        inside = self.high - self.low - 1
        if inside <= _ASKED:
            return [self.low + 1 + number for number in range(inside)]
        share = (self.position - self.up_to_low) * (self.high - self.low) // max(1, self.up_to_high - self.up_to_low)
        guess, near = self.low + share, max(1, inside // 64)
        asked = {guess - near, guess + near, (self.low + self.high) // 2}
        return sorted(value for value in asked if self.low < value < self.high)

    def told(self, value: int, up_to: int) -> None:
        """So many plans are up to the value."""
        if up_to < self.position and value > self.low:
            self.low, self.up_to_low = value, up_to
        elif up_to >= self.position and value < self.high:
            self.high, self.up_to_high = value, up_to


def values_at(model: Model, positions: Sequence[int], limits: Limits) -> list[int | None]:
    """For each 1-based position the objective value of the plan there, best first, None with fewer plans; all None when
    a limit stops it.

    Every sweep at least halves what is left of each value's range, and mostly leaves a thirtieth.
    """
    started = time.monotonic()
    low, high = model.objective.bounds()
    step = (high - low) // _COARSE + 1
    coarse = in_steps(model.objective, step)
    parts = len(coarse.columns) + len(coarse.terms)
    first = Scan(model, limits, by=coarse).survey(coarse)
    if first.outcome.reason is not None or first.tally is None:
        return [None] * len(positions)
    total = first.count[0]
    brackets = [_Bracket(position, low - 1, high, 0, total) for position in positions if 1 <= position <= total]
    for bracket in brackets:
        up_to = 0
        for value, number in sorted(first.tally.items()):
            if up_to + number >= bracket.position:
                # Fewer steps are less than `least`; as many are at most that and a step less one for each part.
                least = low + value * step
                bracket.low, bracket.up_to_low = max(bracket.low, least - 1), up_to
                bracket.high, bracket.up_to_high = min(bracket.high, least + parts * (step - 1)), up_to + number
                break
            up_to += number
    work = limits.work
    while any(bracket.high - bracket.low > 1 for bracket in brackets):
        asked = sorted({value for bracket in brackets for value in bracket.asks()})
        scan = Scan(model, Limits(limits.left(started).seconds, work), asked)
        found = scan.survey()
        work -= scan.work
        if found.outcome.reason is not None:
            return [None] * len(positions)
        for bracket in brackets:
            for value, (better, tied) in found.ranks.items():
                bracket.told(value, better + tied)
    at = {bracket.position: bracket.high for bracket in brackets}
    return [at.get(position) for position in positions]
