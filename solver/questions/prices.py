"""Corrections in the order of what they cost, when the task's author says what each constraint is worth."""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass
from fractions import Fraction

from ...schemas.canonical import narrow
from ...schemas.certificate import ConflictsClaim, CorrectionClaim
from ...schemas.expression import Compare
from ...schemas.problem import Problem
from .sensitivity import is_threshold

DROP = "drop:"  # before the name of a constraint: the price of dropping it


@dataclass(frozen=True, slots=True)
class Priced:
    """A correction and its exact price, None when a part of it has none."""

    correction: CorrectionClaim
    price: Fraction | None


def priced(claim: ConflictsClaim, problem: Problem, prices: Mapping[str, Fraction]) -> tuple[Priced, ...]:
    """The corrections, cheapest first; equal prices, and corrections without a price at the end, in their own order.

    The price of a threshold is for one unit (one dollar, one minute) that it moves, that of any other constraint is for
    dropping it; `drop:NAME` is for dropping any, a threshold too. Nothing is weighed that has no price.
    """
    found = [Priced(correction, _price(correction, problem, prices)) for correction in claim.corrections]
    return tuple(sorted(found, key=lambda item: (item.price is None, item.price or 0)))


def _price(correction: CorrectionClaim, problem: Problem, prices: Mapping[str, Fraction]) -> Fraction | None:
    constraints = {item.name: item for item in problem.constraints}
    total = Fraction(0)
    for name in correction.drop:
        price = prices.get(DROP + name, None if is_threshold(constraints[name]) else prices.get(name))
        if price is None:
            return None
        total += price
    move = correction.move
    if move is not None:
        node = constraints[move.constraint].condition
        if move.constraint not in prices or not isinstance(node, Compare):
            return None
        total += prices[move.constraint] * Fraction(narrow(move.amount), node.left.type.scale)
    return total
