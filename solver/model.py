"""A task lowered to plain integers: what every engine reads, and nothing else.

A plan picks one row index per choice. It is feasible when every picked row satisfies the single-choice part of each
constraint (a bit of `satisfied`), every `Link` has equal codes, every `Table` allows the codes, and every `Row` holds.
"""

from __future__ import annotations

from collections.abc import Iterable, Mapping
from dataclasses import dataclass, field, replace

import numpy as np
from numpy.typing import NDArray

from ..schemas.errors import OverflowRisk

Ints = NDArray[np.int64]
Bools = NDArray[np.bool_]

LIMIT = 2**62  # sums stay below this, so that adding two of them, or a sentinel, cannot leave int64


@dataclass(frozen=True, slots=True)
class Choice:
    """The rows that may be picked for one decision.

    `rows: int64[n]`, row numbers in the offer table. `satisfied: uint64[n]`, bit k set when the row satisfies every
    condition of constraint k that concerns this choice alone.
    """

    name: str
    at_least: int
    at_most: int
    rows: Ints
    satisfied: NDArray[np.uint64]

    def __len__(self) -> int:
        return len(self.rows)


@dataclass(frozen=True, slots=True)
class Term:
    """A number that depends on small codes of several choices: `values[codes[0][i], codes[1][j], …]`, int64."""

    choices: tuple[int, ...]
    codes: tuple[Ints, ...]
    values: Ints


@dataclass(frozen=True, slots=True)
class Linear:
    """`constant + sum of columns[c][i] over the picked rows + sum of terms`; `columns[c]: int64[n]`, absent is zero."""

    columns: Mapping[int, Ints]
    terms: tuple[Term, ...]
    constant: int

    def bounds(self) -> tuple[int, int]:
        """The least and greatest value over all combinations of rows, as Python integers."""
        low = high = self.constant
        for values in [*self.columns.values(), *(term.values for term in self.terms)]:
            if values.size:
                low, high = low + int(values.min()), high + int(values.max())
        return low, high

    def reach(self) -> int:
        """A number that no sum of any of the parts exceeds in absolute value, in whatever order they are added."""
        parts = [*self.columns.values(), *(term.values for term in self.terms)]
        return abs(self.constant) + sum(max(abs(int(part.min())), abs(int(part.max()))) for part in parts if part.size)

    def value(self, picked: tuple[int, ...]) -> int:
        """The value of a plan."""
        total = self.constant + sum(int(column[picked[choice]]) for choice, column in self.columns.items())
        for term in self.terms:
            cell = tuple(int(codes[picked[choice]]) for choice, codes in zip(term.choices, term.codes, strict=True))
            total += int(term.values[cell])
        return total

    def taken(self, rows: Mapping[int, Ints]) -> Linear:
        """The same for the choices' rows at the given indices."""
        columns = {choice: column[rows[choice]] for choice, column in self.columns.items()}
        terms = tuple(
            replace(term, codes=tuple(codes[rows[c]] for c, codes in zip(term.choices, term.codes, strict=True)))
            for term in self.terms
        )
        return Linear(columns, terms, self.constant)


@dataclass(frozen=True, slots=True)
class Row:
    """`linear <= 0`, part of constraint number `constraint`."""

    constraint: int
    linear: Linear


@dataclass(frozen=True, slots=True)
class Link:
    """Two choices must have equal, non-negative codes; `codes: (int64[n], int64[m])`, -1 never matches."""

    constraint: int
    choices: tuple[int, int]
    codes: tuple[Ints, Ints]


@dataclass(frozen=True, slots=True)
class Table:
    """Codes of several choices must be allowed together: `allowed[codes[0][i], codes[1][j], …]`."""

    constraint: int
    choices: tuple[int, ...]
    codes: tuple[Ints, ...]
    allowed: Bools


@dataclass(frozen=True, slots=True)
class Threshold:
    """A constraint that is one comparison of numbers: it holds where `linear <= 0` and all parts are known.

    `linear` above zero is by how far the threshold would have to move. Parts are known for rows in `known[c]: bool[n]`
    as far as choice c goes, and where every table in `tables` allows the combination.
    """

    linear: Linear
    known: Mapping[int, Bools]
    tables: tuple[Table, ...] = ()


@dataclass(frozen=True, slots=True)
class Model:
    """Choices in file order, the parts of all constraints, and an objective to minimise (negated if `maximize`).

    `thresholds`: by constraint number, for those constraints that are a single comparison of numbers.
    """

    names: tuple[str, ...]
    choices: tuple[Choice, ...]
    rows: tuple[Row, ...]
    links: tuple[Link, ...]
    tables: tuple[Table, ...]
    objective: Linear
    maximize: bool
    thresholds: Mapping[int, Threshold] = field(default_factory=dict[int, Threshold])

    def __post_init__(self) -> None:
        for what, linear in [
            ("the objective", self.objective),
            *((self.names[row.constraint], row.linear) for row in self.rows),
        ]:
            if linear.reach() >= LIMIT:
                raise OverflowRisk(f"the parts of {what} add up to {linear.reach()}, beyond 2^62")

    def kept(self, constraints: Iterable[int], rows: Mapping[int, Ints] | None = None) -> Model:
        """The model with only these constraints, and the rows that satisfy their single-choice parts.

        `rows` narrows choices further, to row indices in ascending order. Indices of plans refer to the new model; its
        `rows` still name rows of the offer tables.
        """
        wanted = set(constraints)
        bits = np.uint64(sum(1 << number for number in wanted))
        good_as_is = not rows and len(wanted) == len(self.names)
        if good_as_is and all(bool(((choice.satisfied & bits) == bits).all()) for choice in self.choices):
            return self
        taken: dict[int, Ints] = {}
        for number, choice in enumerate(self.choices):
            good = (choice.satisfied & bits) == bits
            taken[number] = rows[number][good[rows[number]]] if rows and number in rows else np.flatnonzero(good)
        return self._taken(taken, wanted)

    def narrowed(self, rows: Mapping[int, Ints]) -> Model:
        """The model with only the given row indices of some choices, and every part, also those of no constraint."""
        every = {number: rows.get(number, np.arange(len(choice))) for number, choice in enumerate(self.choices)}
        parts = (*self.rows, *self.links, *self.tables)
        return self._taken(every, {part.constraint for part in parts})

    def _taken(self, taken: Mapping[int, Ints], wanted: set[int]) -> Model:
        def codes(part: Link | Table) -> tuple[Ints, ...]:
            return tuple(code[taken[choice]] for choice, code in zip(part.choices, part.codes, strict=True))

        def threshold(item: Threshold) -> Threshold:
            known = {choice: flags[taken[choice]] for choice, flags in item.known.items()}
            tables = tuple(replace(table, codes=codes(table)) for table in item.tables)
            return Threshold(item.linear.taken(taken), known, tables)

        choices = tuple(
            replace(choice, rows=choice.rows[taken[number]], satisfied=choice.satisfied[taken[number]])
            for number, choice in enumerate(self.choices)
        )
        links = (Link(part.constraint, part.choices, codes(part)) for part in self.links if part.constraint in wanted)  # type: ignore[arg-type]
        tables = (replace(part, codes=codes(part)) for part in self.tables if part.constraint in wanted)
        rows = (Row(row.constraint, row.linear.taken(taken)) for row in self.rows if row.constraint in wanted)
        return replace(
            self,
            choices=choices,
            rows=tuple(rows),
            links=tuple(links),
            tables=tuple(tables),
            objective=self.objective.taken(taken),
            thresholds={number: threshold(item) for number, item in self.thresholds.items()},
        )

    def feasible(self, picked: tuple[int, ...], constraints: Iterable[int]) -> bool:
        """Whether a plan satisfies the given constraints."""
        wanted = set(constraints)
        bits = sum(1 << number for number in wanted)
        return (
            all(int(choice.satisfied[index]) & bits == bits for choice, index in zip(self.choices, picked, strict=True))
            and all(row.linear.value(picked) <= 0 for row in self.rows if row.constraint in wanted)
            and all(_linked(part, picked) for part in self.links if part.constraint in wanted)
            and all(_allowed(part, picked) for part in self.tables if part.constraint in wanted)
        )


def _linked(link: Link, picked: tuple[int, ...]) -> bool:
    left, right = (int(code[picked[choice]]) for choice, code in zip(link.choices, link.codes, strict=True))
    return left == right and left >= 0


def _allowed(table: Table, picked: tuple[int, ...]) -> bool:
    cell = tuple(int(code[picked[choice]]) for choice, code in zip(table.choices, table.codes, strict=True))
    return bool(table.allowed[cell])
