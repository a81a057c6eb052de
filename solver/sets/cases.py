"""Conditions over several choices of one row, case by case: what they read of each choice has few distinct values."""

from __future__ import annotations

import math
from collections.abc import Iterator, Sequence
from dataclasses import dataclass

import numpy as np

from ..coding import first_rows
from ..lowering.values import Values, codes_of_tuples
from ..model import Bools, Ints
from .model import Formula
from .pool import FALSE, TRUE, Pool, both, either

MAX_CASES = 4_096


@dataclass(frozen=True, slots=True)
class Codes:
    """What is read of one choice: `codes: int64[n]` of its offers, and for each of the `number` codes an offer."""

    choice: int
    codes: Ints
    number: int

    @classmethod
    def of(cls, choice: int, values: Sequence[Values], size: int) -> Codes:
        """The codes of the tuples that values form offer by offer."""
        codes, number = codes_of_tuples(values, size)
        return cls(choice, codes, number)

    def rows(self) -> Ints:
        """An offer for each code."""
        return first_rows(self.codes, self.number)


def combinations(parts: Sequence[Codes]) -> int:
    """How many combinations of codes there are."""
    return math.prod(part.number for part in parts)


def cases(parts: Sequence[Codes]) -> Iterator[tuple[int, ...]]:
    """All combinations of codes."""
    return iter(np.ndindex(*(part.number for part in parts)))


def not_case(pool: Pool, parts: Sequence[Codes], case: tuple[int, ...]) -> Formula:
    """Some choice does not have its code of the case."""
    return either(pool.none(part.choice, part.codes == code) for part, code in zip(parts, case, strict=True))


def allowed_together(pool: Pool, parts: Sequence[Codes], allowed: Bools) -> Formula:
    """The picked offers' codes are allowed together: `allowed[a, b, …]`; each choice picks exactly one offer."""
    if allowed.all() or not allowed.any():
        return TRUE if allowed.all() else FALSE
    if len(parts) == 1:
        return pool.some(parts[0].choice, allowed[parts[0].codes])
    rows, inverse = np.unique(allowed.reshape(len(allowed), -1), axis=0, return_inverse=True)
    alike = inverse.reshape(-1)
    found: list[Formula] = []
    for number, row in enumerate(rows):
        if row.all():
            continue
        members = (alike == number)[parts[0].codes]
        if len(parts) == 2 and row.any():  # at most one of: an offer of these, an offer that does not go with them
            form = pool.column(parts[0].choice, members.astype(np.int64))
            others = pool.column(parts[1].choice, (~row)[parts[1].codes].astype(np.int64))
            form.columns.update(others.columns)
            form.constant = -1
            found.append(pool.at_most_zero(form))
        else:
            rest = allowed_together(pool, parts[1:], row.reshape(allowed.shape[1:]))
            found.append(either([pool.none(parts[0].choice, members), rest]))
    return both(found)
