"""The only source of chance in this world: counter-based SplitMix64, integers in and integers out.

A stream is keyed by (seed, name); every value in it is addressed by counters such as (hotel, night), so a draw
depends on what it is for and never on how many draws came before. That is why a part of the world has the same
values as the whole, on every machine. No floating point is used anywhere.

One counter `c` gives output number `c` of SplitMix64 (Steele, Lea and Flood 2014; state increment GAMMA, the
finaliser below) started from the stream's key. Further counters repeat this, started from the value so far.
"""

from __future__ import annotations

from collections.abc import Iterable, Sequence
from dataclasses import dataclass
from hashlib import blake2b
from typing import TypeAlias, TypeVar

import numpy as np
import numpy.typing as npt

U64: TypeAlias = npt.NDArray[np.uint64]
I64: TypeAlias = npt.NDArray[np.int64]
Flags: TypeAlias = npt.NDArray[np.bool_]

T = TypeVar("T")

GAMMA = 0x9E3779B97F4A7C15


def finalise(state: U64) -> U64:
    """SplitMix64's output function, a bijection of the 64-bit integers; same shape as `state`."""
    state = (state ^ (state >> np.uint64(30))) * np.uint64(0xBF58476D1CE4E5B9)
    state = (state ^ (state >> np.uint64(27))) * np.uint64(0x94D049BB133111EB)
    return state ^ (state >> np.uint64(31))


def digest(text: str) -> int:
    """A 64-bit integer that stands for `text` (BLAKE2b over its UTF-8 bytes, little-endian)."""
    return int.from_bytes(blake2b(text.encode(), digest_size=8).digest(), "little")


def entities(names: Iterable[str]) -> U64:
    """Counters (uint64[n]) that stand for named things: a hotel, a route, a flight."""
    return np.array([digest(name) for name in names], dtype=np.uint64)


@dataclass(frozen=True, slots=True)
class Stream:
    """Random integers of one kind, addressed by counters that broadcast against each other."""

    key: int

    @classmethod
    def of(cls, seed: int, name: str) -> Stream:
        """The stream called `name` in the world with this seed."""
        return cls(digest(f"{seed}/{name}"))

    def bits(self, *counters: U64 | I64) -> U64:
        """64 random bits per address; the counters' broadcast shape. Counters must be arrays, not scalars."""
        state = np.array([self.key], dtype=np.uint64)
        for counter in counters:
            state = finalise(state + (counter.astype(np.uint64) + np.uint64(1)) * np.uint64(GAMMA))
        return state

    def below(self, bound: int, *counters: U64 | I64) -> I64:
        """Integers in [0, bound), for bound < 2^31 (fixed point: the upper 32 bits times the bound)."""
        high = self.bits(*counters) >> np.uint64(32)
        return ((high * np.uint64(bound)) >> np.uint64(32)).astype(np.int64)

    def between(self, low: int, high: int, *counters: U64 | I64) -> I64:
        """Integers in [low, high], both included."""
        return low + self.below(high - low + 1, *counters)

    def options(self, choices: Sequence[T], *counters: U64 | I64) -> list[T]:
        """One of the choices per address, each equally likely; the counters must broadcast to one dimension."""
        picked: list[int] = self.below(len(choices), *counters).tolist()
        return [choices[at] for at in picked]

    def pick(self, quantiles: Sequence[int], *counters: U64 | I64) -> I64:
        """Entries of an integer quantile table, each equally likely."""
        return np.array(quantiles, dtype=np.int64)[self.below(len(quantiles), *counters)]

    def chance(self, permille: int | I64, *counters: U64 | I64) -> Flags:
        """True with the given probability in thousandths; one number, or an array that broadcasts."""
        return self.below(1000, *counters) < permille

    def ranking(self, rows: U64, columns: int) -> I64:
        """A random permutation of 0..columns-1 for each row entity, int64[rows, columns].

        Entry [i, j] is the j-th choice of row i. Ties of 64-bit draws fall to the lower column.
        """
        draws = self.bits(rows[:, None], np.arange(columns)[None, :])
        return np.argsort(draws, axis=1, kind="stable").astype(np.int64)
