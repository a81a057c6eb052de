"""A model as a program over zero-one variables, for solvers that know nothing of tables: no big-M, numbers only.

One variable per row of a choice, exactly one of each choice is 1. A term over codes of several choices gets one
variable per combination of codes, whose sums per code equal those of the rows with that code. Coefficients are shrunk
first: per choice the least one moves into the constant (exactly one row is picked, so nothing changes), rows that
cannot bind go, and what is left is divided by its greatest common divisor.
"""

from __future__ import annotations

import math
from collections.abc import Iterator, Sequence
from dataclasses import dataclass, field

import numpy as np

from .model import Ints, Linear, Link, Model, Table, Term

MAX_COMBINATIONS = 200_000


class TooLarge(Exception):
    """The program would need more variables for code combinations than is sensible."""


@dataclass(frozen=True, slots=True)
class Sum:
    """`low <= sum of coefficients * variables <= high`; None is no limit."""

    variables: Ints
    coefficients: Ints
    low: int | None
    high: int | None


@dataclass(frozen=True, slots=True)
class Program:
    """Minimise `base + unit * sum(objective)`. `choices[c]` are the variables of choice c, in the order of its rows."""

    variables: int
    choices: tuple[range, ...]
    sums: tuple[Sum, ...]
    objective: Sum
    base: int
    unit: int

    def picked(self, ones: set[int]) -> tuple[int, ...] | None:
        """The rows that a solution picks; None unless it is exactly one per choice."""
        rows = [[variable - span.start for variable in span if variable in ones] for span in self.choices]
        return tuple(found[0] for found in rows) if all(len(found) == 1 for found in rows) else None


def program(model: Model) -> Program:
    """The program of a model; TooLarge when codes have too many combinations."""
    return _Builder(model).build()


@dataclass(slots=True)
class _Builder:
    model: Model
    sums: list[Sum] = field(default_factory=list[Sum])
    variables: int = 0
    spans: list[range] = field(default_factory=list[range])

    def build(self) -> Program:
        for choice in self.model.choices:
            self.spans.append(range(self.variables, self.variables + len(choice)))
            self.variables += len(choice)
        for span in self.spans:
            every = np.arange(span.start, span.stop)
            self.sums.append(Sum(every, np.ones(len(every), np.int64), 1, 1))
        for link in self.model.links:
            self.sums.extend(self._link(link))
        for table in self.model.tables:
            self.sums.extend(self._table(table))
        for row in self.model.rows:
            variables, coefficients, constant = self._linear(row.linear)
            if constant + int(_most(coefficients, variables, self.spans)) > 0:
                self.sums.append(_divided(Sum(variables, coefficients, None, -constant)))
        variables, coefficients, base = self._linear(self.model.objective)
        unit = max(1, math.gcd(*coefficients.tolist()) if len(coefficients) else 1)
        objective = Sum(variables, coefficients // unit, None, None)
        return Program(self.variables, tuple(self.spans), tuple(self.sums), objective, base, unit)

    def _link(self, link: Link) -> Iterator[Sum]:
        """Per code, as many rows of one choice as of the other: none or one."""
        (left, right), (first, second) = link.choices, link.codes
        for code in np.union1d(first, second).tolist():
            a, b = (np.flatnonzero(codes == code) for codes in (first, second))
            if code < 0:  # unknown matches nothing
                a, b = np.concatenate([a + self.spans[left].start, b + self.spans[right].start]), a[:0]
                yield Sum(a, np.ones(len(a), np.int64), 0, 0)
                continue
            variables = np.concatenate([a + self.spans[left].start, b + self.spans[right].start])
            yield Sum(variables, np.concatenate([np.ones(len(a), np.int64), -np.ones(len(b), np.int64)]), 0, 0)

    def _table(self, table: Table) -> Iterator[Sum]:
        """For every combination of codes but the last: picking it leaves only the allowed rows of the last choice."""
        *others, last = zip(table.choices, table.codes, strict=True)
        present = [np.unique(codes) for _, codes in others]
        if math.prod(len(codes) for codes in present) > MAX_COMBINATIONS:
            raise TooLarge
        for cell in _product(present):
            parts = [self._rows(choice, codes == code) for (choice, codes), code in zip(others, cell, strict=True)]
            allowed = self._rows(last[0], table.allowed[cell][last[1]])
            variables = np.concatenate([*parts, allowed])
            signs = np.ones(len(variables), np.int64)
            signs[len(variables) - len(allowed) :] = -1
            yield Sum(variables, signs, None, len(parts) - 1)

    def _rows(self, choice: int, flags: np.ndarray) -> Ints:
        return np.flatnonzero(flags) + self.spans[choice].start

    def _linear(self, linear: Linear) -> tuple[Ints, Ints, int]:
        """Variables, coefficients (zeros left out) and constant of a linear form, shrunk per choice and per term."""
        constant = linear.constant
        variables, coefficients = [np.zeros(0, np.int64)], [np.zeros(0, np.int64)]
        for choice, column in linear.columns.items():
            if not column.size:  # then exactly one row of nothing is asked for, which the solver finds impossible
                continue
            least = int(column.min())
            constant += least
            rows = np.flatnonzero(column != least)
            variables.append(rows + self.spans[choice].start)
            coefficients.append(column[rows] - least)
        for term in linear.terms:
            combinations, values = self._term(term)
            least = int(values.min())
            constant += least
            more = np.flatnonzero(values != least)
            variables.append(combinations[more])
            coefficients.append(values[more] - least)
        return np.concatenate(variables), np.concatenate(coefficients), constant

    def _term(self, term: Term) -> tuple[Ints, Ints]:
        """One variable per combination of codes that occur, tied to the rows with these codes."""
        present = [np.unique(codes) for codes in term.codes]
        shape = tuple(len(codes) for codes in present)
        size = math.prod(shape)
        if size > MAX_COMBINATIONS:
            raise TooLarge
        if not size:
            return np.zeros(0, np.int64), np.zeros(1, np.int64)
        combinations = np.arange(self.variables, self.variables + size)
        self.variables += size
        grid = combinations.reshape(shape)
        for axis, (choice, codes) in enumerate(zip(term.choices, term.codes, strict=True)):
            for place, code in enumerate(present[axis].tolist()):
                chosen = grid.take(place, axis=axis).reshape(-1)
                rows = self._rows(choice, codes == code)
                signs = np.concatenate([np.ones(len(chosen), np.int64), -np.ones(len(rows), np.int64)])
                self.sums.append(Sum(np.concatenate([chosen, rows]), signs, 0, 0))
        return combinations, term.values[np.ix_(*present)].reshape(-1)


def _product(present: Sequence[Ints]) -> Iterator[tuple[int, ...]]:
    shape = tuple(len(codes) for codes in present)
    for index in np.ndindex(shape):
        yield tuple(int(codes[place]) for codes, place in zip(present, index, strict=True))


def _most(coefficients: Ints, variables: Ints, spans: Sequence[range]) -> int:
    """The greatest value of a shrunk sum: the largest coefficient of each choice, and all of the terms'."""
    total = 0
    for span in spans:
        inside = coefficients[(variables >= span.start) & (variables < span.stop)]
        total += int(inside.max(initial=0))
    beyond = coefficients[variables >= spans[-1].stop]
    return total + sum(beyond.tolist())


def _divided(item: Sum) -> Sum:
    """The same limit in smaller numbers: a sum of multiples of g that is at most h is at most floor(h / g) * g."""
    common = math.gcd(*item.coefficients.tolist())
    if common <= 1 or item.high is None:
        return item
    return Sum(item.variables, item.coefficients // common, None, item.high // common)
