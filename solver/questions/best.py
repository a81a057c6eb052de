"""The best plans of a task, and the order of all of them as the scan sees it."""

from __future__ import annotations

import time
from collections.abc import Iterator, Mapping, Sequence
from dataclasses import dataclass, replace
from itertools import islice
from typing import TypeVar

from ...schemas.certificate import MAX_DISTRIBUTION
from ...schemas.units import Type
from .. import scan
from ..lower import Lowered
from ..model import Model
from ..outcome import Limits, Undecided
from .place import Level, Listed, Order

LISTED = 10_000_000  # plans: up to here one pass over all of them costs less than a few scans
_Found = TypeVar("_Found")


class Scanned:
    """The order of a model's plans, each answer a scan or, for a position, a few dozen of them."""

    source = "scan"

    def __init__(self, model: Model, limits: Limits, total: int) -> None:
        self._model, self._limits, self._started = model, limits, time.monotonic()
        self.total = total

    def ranks(self, values: Sequence[int]) -> Mapping[int, tuple[int, int]]:
        """See Order; all in one sweep."""
        found = scan.survey(self._model, self._limits.left(self._started), values)
        return _decided(found.ranks if found.outcome.reason is None else None)

    def at(self, positions: Sequence[int]) -> Sequence[int]:
        """See Order."""
        return [_decided(value) for value in scan.values_at(self._model, positions, self._limits.left(self._started))]


@dataclass(frozen=True, slots=True)
class Ranked:
    """A plan by its offer ids, in the order of the choices, and its value."""

    value: int
    ids: dict[str, str]


@dataclass(frozen=True, slots=True)
class Best:
    """The best plans, best first, equal ones by ids: every plan of each value listed, so that no tie is cut.

    Only when the best value alone has more plans than were asked for, the first of them by ids are listed, and `cut`
    says so. `next` is the next value with its number of plans, None when all plans are listed or a tie is cut.
    """

    objective: Type
    maximize: bool
    asked: int
    total: int
    plans: tuple[Ranked, ...]
    cut: Level | None
    next: Level | None


def scanned_order(model: Model, limits: Limits) -> Order:
    """The order of all plans of a model, every constraint in it holding; raises Undecided when a limit stops the scan.

    Listed once where there are few values, so that every answer after that is a look-up.
    """
    started = time.monotonic()
    total = _decided(scan.count(model, limits))
    if total <= LISTED:
        pairs = scan.distribution(model, MAX_DISTRIBUTION, limits.left(started), total)
        if pairs is not None:
            return Listed(pairs, "scan")
    return Scanned(model, limits.left(started), total)


def best_plans(lowered: Lowered, objective: Type, most: int, limits: Limits) -> Best:
    """The best `most` plans or, at a tie, fewer; raises Undecided when a limit stops the scan."""
    started = time.monotonic()
    model = lowered.model.kept(range(len(lowered.model.names)))
    kind, sign = replace(objective, nullable=False), -1 if model.maximize else 1
    order = scanned_order(model, limits)
    total = order.total
    if not total:
        return Best(kind, model.maximize, most, 0, (), None, None)
    (last,) = order.at([min(most, total)])
    better, tied = order.ranks([last])[last]
    if better + tied <= most:
        number = better + tied
    elif better:  # the last value has more plans than there is room for
        number, last = better, last - 1
    else:
        first = _first(lowered, model, last, most, limits, started)
        plans = tuple(Ranked(sign * last, ids) for ids in first)
        return Best(kind, model.maximize, most, total, plans, Level(sign * last, tied), None)
    found = _decided(scan.plans_up_to(model, last, limits.left(started), number))
    named = [(value, lowered.ids(model, picked)) for value, picked in found]
    named.sort(key=lambda item: (item[0], [offer.encode() for offer in item[1].values()]))
    after = None
    if number < total:
        (there,) = order.at([number + 1])
        after = Level(sign * there, order.ranks([there])[there][1])
    return Best(kind, model.maximize, most, total, tuple(Ranked(sign * v, ids) for v, ids in named), None, after)


def _first(
    lowered: Lowered, model: Model, value: int, most: int, limits: Limits, started: float
) -> list[dict[str, str]]:
    """Of the plans with the best value the first by ids, choice by choice: a scan for each choice of each plan."""

    def from_choice(part: Model, number: int, ids: dict[str, str]) -> Iterator[dict[str, str]]:
        if number == len(part.choices):
            yield ids
            return
        rows = _decided(scan.best_rows(part, number, value, limits.left(started)))
        offers = lowered.offers[number]
        names = lowered.names(offers, part.choices[number], rows.tolist())
        for place in sorted(range(len(names)), key=lambda place: names[place].encode()):
            rest = part.narrowed({number: rows[place : place + 1]})
            yield from from_choice(rest, number + 1, {**ids, offers.choice: names[place]})

    plans = from_choice(model, 0, {})
    return list(islice(plans, most))


def _decided(found: _Found | None) -> _Found:
    if found is None:
        raise Undecided
    return found
