"""All feasible plans in the order of their values: where a value stands among them, and which are the best.

Two sources answer alike: the distribution in a certificate, without any engine, and the scan (`best.py`), which loads
numba and lowering.
"""

from __future__ import annotations

from bisect import bisect_left, bisect_right
from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from fractions import Fraction
from itertools import accumulate, pairwise
from typing import Protocol

from ...schemas.canonical import wide
from ...schemas.certificate import Certificate, distribution_pairs
from ...schemas.errors import CertificateError
from ...schemas.units import Type
from ...schemas.verdict import Standing

TOP = (1, 5, 10, 20)  # percent


class Order(Protocol):
    """Plans by value, lower is better (a maximised objective is negated); positions count from 1."""

    @property
    def source(self) -> str:
        """`certificate` or `scan`."""
        ...

    @property
    def total(self) -> int:
        """The number of plans."""
        ...

    def ranks(self, values: Sequence[int]) -> Mapping[int, tuple[int, int]]:
        """By value, how many plans are better than it, and how many have it."""
        ...

    def at(self, positions: Sequence[int]) -> Sequence[int]:
        """The values of the plans at positions from 1 to `total`."""
        ...


class Listed:
    """The order that a list of values with their numbers of plans gives, best first."""

    def __init__(self, pairs: Sequence[tuple[int, int]], source: str) -> None:
        self.source = source
        self._values = [value for value, _ in pairs]
        self._ends = list(accumulate(number for _, number in pairs))

    @property
    def total(self) -> int:
        """The number of plans."""
        return self._ends[-1] if self._ends else 0

    def ranks(self, values: Sequence[int]) -> Mapping[int, tuple[int, int]]:
        """See Order; by bisection."""
        return {value: (self._up_to(value - 1), self._up_to(value) - self._up_to(value - 1)) for value in values}

    def at(self, positions: Sequence[int]) -> Sequence[int]:
        """See Order; by bisection."""
        return [self._values[bisect_left(self._ends, position)] for position in positions]

    def _up_to(self, value: int) -> int:
        place = bisect_right(self._values, value)
        return self._ends[place - 1] if place else 0


@dataclass(frozen=True, slots=True)
class Level:
    """A value, and the number of plans that have it."""

    value: int
    plans: int


@dataclass(frozen=True, slots=True)
class Cut:
    """The worst value that is still among the best `percent` of the plans, and how many plans reach it."""

    percent: int
    value: int
    plans: int


@dataclass(frozen=True, slots=True)
class Place:
    """Where a value stands: `standing.tied` is 0 for a value that no plan has.

    Values are in the scale of `objective` and in its own sense, `gap` the distance to the optimum (negative: no plan is
    that good). `percentile`: of a hundred plans, how many are worse. `better` and `worse` are the neighbouring values
    of other plans.
    """

    objective: Type
    maximize: bool
    value: int
    optimum: int
    gap: int
    standing: Standing
    percentile: Fraction
    better: Level | None
    worse: Level | None
    cuts: tuple[Cut, ...]
    source: str


def place(order: Order, objective: Type, maximize: bool, value: int) -> Place:
    """The place of a value; there must be a plan. Raises Undecided when a limit stops a count."""
    sign = -1 if maximize else 1
    own, total = sign * value, order.total
    better, tied = order.ranks([own])[own]
    # A plan is in the top A % when 100 * better < A * total; the last of them is at this position.
    ends = {percent: -(-percent * total // 100) for percent in TOP}
    sides = [position for position in (better, better + tied + 1) if 1 <= position <= total]
    positions = [1, *ends.values(), *sides]
    found = dict(zip(positions, order.at(positions), strict=True))
    ranks = order.ranks(sorted(set(found.values())))

    def level(position: int) -> Level | None:
        there = found.get(position) if position in sides else None
        return None if there is None else Level(sign * there, ranks[there][1])

    cuts = tuple(Cut(percent, sign * found[end], sum(ranks[found[end]])) for percent, end in ends.items())
    standing = Standing(better=wide(better), tied=wide(tied), worse=wide(total - better - tied), total=wide(total))
    return Place(
        objective,
        maximize,
        value,
        sign * found[1],
        own - found[1],
        standing,
        Fraction(100 * (total - better - tied), total),
        level(better),
        level(better + tied + 1),
        cuts,
        order.source,
    )


def order_of(certificate: Certificate) -> Order | None:
    """The order that a certificate's distribution gives; None when it has none, CertificateError if it is in none."""
    claim = certificate.claims.distribution
    if claim is None:
        return None
    sign = -1 if certificate.objective.sense == "maximize" else 1
    pairs = [(sign * value, number) for value, number in distribution_pairs(claim)]
    if any(before >= after for (before, _), (after, _) in pairwise(pairs)) or any(number < 1 for _, number in pairs):
        raise CertificateError("the values of the distribution are not listed best first, each with its plans")
    return Listed(pairs, "certificate")
