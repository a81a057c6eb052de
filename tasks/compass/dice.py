"""Chance for one attempt at one task."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass
from typing import TypeVar

from ...schemas.chance import drawn

Item = TypeVar("Item")


@dataclass(frozen=True, slots=True)
class Dice:
    """Draws addressed by seed, slot, attempt and what they are for: the order in which they are made is nothing."""

    seed: int
    slot: str
    attempt: int

    def below(self, bound: int, *what: str | int) -> int:
        """An integer in [0, bound)."""
        return drawn(bound, self.seed, self.slot, self.attempt, *what)

    def between(self, low: int, high: int, *what: str | int) -> int:
        """An integer from low to high."""
        return low + self.below(high - low + 1, *what)

    def pick(self, items: Sequence[Item], *what: str | int) -> Item:
        """One of the items."""
        return items[self.below(len(items), *what)]

    def order(self, items: Sequence[Item], *what: str | int) -> list[Item]:
        """All items in some order."""
        keys = [(self.below(2**32, *what, place), place) for place in range(len(items))]
        return [items[place] for _, place in sorted(keys)]
