"""All feasible plans in the order of their values: where a value stands among them, and which are the best.

Two sources answer alike: the distribution in a certificate, without any engine, and the scan (`best.py`), which loads
numba and lowering.
"""

from __future__ import annotations

from bisect import bisect_left, bisect_right
from collections.abc import Sequence
from dataclasses import dataclass
from itertools import accumulate
from typing import Protocol

from ..schemas.canonical import wide
from ..schemas.certificate import Certificate, distribution_pairs
from ..schemas.units import Type
from ..schemas.verdict import Standing

TOP = (1, 5, 10, 20)  # percent


class Undecided(Exception):
    """A limit kept the scan from answering."""


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

    def up_to(self, value: int) -> int:
        """The number of plans with at most this value."""
        ...

    def at(self, position: int) -> int:
        """The value of the plan at a position from 1 to `total`."""
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

    def up_to(self, value: int) -> int:
        """See Order; by bisection."""
        place = bisect_right(self._values, value)
        return self._ends[place - 1] if place else 0

    def at(self, position: int) -> int:
        """See Order; by bisection."""
        return self._values[bisect_left(self._ends, position)]


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
    that good). `better` and `worse` are the neighbouring values of other plans.
    """

    objective: Type
    maximize: bool
    value: int
    optimum: int
    gap: int
    standing: Standing
    better: Level | None
    worse: Level | None
    cuts: tuple[Cut, ...]
    source: str


def place(order: Order, objective: Type, maximize: bool, value: int) -> Place:
    """The place of a value; there must be a plan. Raises Undecided when a limit stops a count."""
    sign = -1 if maximize else 1
    own, total = sign * value, order.total

    def level(position: int) -> Level | None:
        if not 1 <= position <= total:
            return None
        there = order.at(position)
        return Level(sign * there, order.up_to(there) - order.up_to(there - 1))

    better, up_to = order.up_to(own - 1), order.up_to(own)
    cuts: list[Cut] = []
    for percent in TOP:
        last = order.at(-(-percent * total // 100))  # a plan is in the top A % when 100 * better < A * total
        cuts.append(Cut(percent, sign * last, order.up_to(last)))
    optimum = order.at(1)
    standing = Standing(better=wide(better), tied=wide(up_to - better), worse=wide(total - up_to), total=wide(total))
    return Place(
        objective, maximize, value, sign * optimum, own - optimum, standing, level(better), level(up_to + 1),
        tuple(cuts), order.source,
    )  # fmt: skip


def order_of(certificate: Certificate) -> Order | None:
    """The order that a certificate's distribution gives; None when it has none."""
    claim = certificate.claims.distribution
    if claim is None:
        return None
    sign = -1 if certificate.objective.sense == "maximize" else 1
    return Listed([(sign * value, number) for value, number in distribution_pairs(claim)], "certificate")
