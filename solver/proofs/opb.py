"""A model as a pseudo-Boolean problem in the task's own numbers, for proofs that others can check.

Unlike the program that solvers get (program.py), nothing is shrunk, so that prices and budgets can be looked up in the
tables; and what cannot go together is written so that unit propagation sees it: picking a row rules the others out.

One variable per row, exactly one row per choice. Rows of linked choices are tied per code. For every combination of
codes in a table, at most so many rows of these codes go with a row that it does not allow. A term over codes of several
choices gets one variable per combination, exactly one of them, whose sums per code are those of the rows of that code.
"""

from __future__ import annotations

import math
from collections.abc import Iterable, Iterator, Sequence
from dataclasses import dataclass, field, replace

import numpy as np

from ..model import Ints, Linear, Link, Model, Table, Term

MAX_TERMS = 5_000_000


class TooLargeError(Exception):
    """The problem would have more terms than is sensible."""


@dataclass(frozen=True, slots=True)
class Weighted:
    """`sum of coefficients * variables >= right`, or `==` it; variables count from 1."""

    terms: tuple[tuple[int, int], ...]
    equal: bool
    right: int


@dataclass(slots=True)
class Problem:
    """The problem of a model. `groups` are the variables of which exactly one is 1: those of each choice, in the order
    of its rows, then those of terms; the first constraints say so, in this order. `rows` are the numbers of the
    constraints that come from integer rows, in the numbering of proofs, where equations count twice.

    A choice without rows makes the problem unsolvable, whatever else it holds.
    """

    choices: int
    groups: list[range] = field(default_factory=list[range])
    constraints: list[tuple[str, list[Weighted]]] = field(default_factory=list[tuple[str, list[Weighted]]])
    objective: dict[int, int] = field(default_factory=dict[int, int])
    rows: list[int] = field(default_factory=list[int])
    grids: dict[tuple[object, ...], tuple[Term, Ints]] = field(
        default_factory=dict[tuple[object, ...], tuple[Term, Ints]]
    )

    @property
    def variables(self) -> int:
        """How many variables there are: the last one's number."""
        return self.groups[-1].stop - 1 if self.groups else 0

    def all(self) -> Iterator[Weighted]:
        """The constraints, in the order of the file."""
        for _, items in self.constraints:
            yield from items

    def ones(self, picked: tuple[int, ...]) -> list[int]:
        """The variables that are 1 when these rows are picked, given by their index per choice."""
        rows = [group[index] for group, index in zip(self.groups, picked, strict=False)]
        cells = [
            tuple(
                int(np.searchsorted(np.unique(codes), codes[picked[choice]]))
                for choice, codes in zip(term.choices, term.codes, strict=True)
            )
            for term, _ in self.grids.values()
        ]
        return rows + [int(grid[cell]) for (_, grid), cell in zip(self.grids.values(), cells, strict=True)]

    def text(self, minimized: bool) -> str:
        """The problem as an OPB file; without its objective, for a proof that there is no solution."""
        every = list(self.all())
        lines = [f"* #variable= {self.variables} #constraint= {len(every)}"]
        if minimized:
            terms = [f"{amount} x{variable} " for variable, amount in self.objective.items()]
            lines.append(f"min: {''.join(terms) or '0 x1 '};")
        for title, items in self.constraints:
            lines.append(f"* {title}")
            for item in items:
                terms = [f"{amount} x{variable} " for amount, variable in item.terms]
                lines.append(f"{''.join(terms)}{'=' if item.equal else '>='} {item.right} ;")
        return "\n".join(lines) + "\n"


def problem_of(model: Model) -> Problem:
    """The problem of a model; raises TooLargeError. Variables of rows come first, in the order of choices and rows."""
    return _Builder(model).build()


class _Builder:
    def __init__(self, model: Model) -> None:
        self.model = model
        self.problem = Problem(len(model.choices))
        self.terms = self.number = 0

    def build(self) -> Problem:
        problem, model = self.problem, self.model
        for choice in model.choices:
            self._group(len(choice))
        for linear in (model.objective, *(row.linear for row in model.rows)):
            for term in linear.terms:
                self._grid(term)
        for number, group in enumerate(problem.groups):
            name = f"choice {model.choices[number].name}" if number < problem.choices else "combinations of codes"
            self._put(f"exactly one: {name}", [_sum([(1, group)], True, 1)])
        for term, grid in self.problem.grids.values():
            self._put("combinations of codes are those of the rows", self._marginals(term, grid))
        for choices, links in _by_choices(model.links).items():
            names = dict.fromkeys(model.names[link.constraint] for link in links)
            self._put(f"{', '.join(names)}: equal codes", self._links(choices, links))
        for table in model.tables:
            self._put(f"{model.names[table.constraint]}: codes that do not go together", self._table(table))
        for row in model.rows:
            total, constant = self._linear(row.linear)
            terms = tuple((-amount, variable) for variable, amount in total.items())
            self._put(f"{model.names[row.constraint]}: negated, at least", [Weighted(terms, False, constant)])
            problem.rows.append(self.number)
        total, constant = self._linear(model.objective)
        if constant:  # exactly one row of the first choice is picked, so each can carry it
            for variable in problem.groups[0]:
                total[variable] = total.get(variable, 0) + constant
        problem.objective = {variable: total[variable] for variable in sorted(total) if total[variable]}
        return problem

    def _group(self, size: int) -> range:
        start = self.problem.variables + 1
        self.problem.groups.append(range(start, start + size))
        return self.problem.groups[-1]

    def _put(self, title: str, items: Iterable[Weighted]) -> None:
        found: list[Weighted] = []
        self.problem.constraints.append((title, found))
        for item in items:
            found.append(item)
            self.number += 2 if item.equal else 1
            self.terms += len(item.terms)
            if self.terms > MAX_TERMS:
                raise TooLargeError

    def _rows(self, choice: int, flags: np.ndarray) -> list[int]:
        return (np.flatnonzero(flags) + self.problem.groups[choice].start).tolist()

    def _links(self, choices: tuple[int, int], links: Sequence[Link]) -> Iterator[Weighted]:
        """Per tuple of codes of all links between two choices: as many rows of one as of the other, none or one."""
        left, right = (list(zip(*(link.codes[side].tolist() for link in links), strict=True)) for side in (0, 1))
        rows: dict[tuple[int, ...], tuple[list[int], list[int]]] = {}
        for side, (choice, codes) in enumerate(zip(choices, (left, right), strict=True)):
            for variable, code in zip(self.problem.groups[choice], codes, strict=True):
                rows.setdefault(code, ([], []))[side].append(variable)
        for code in sorted(rows):
            one, other = rows[code]
            if min(code) < 0:  # unknown matches nothing
                yield _sum([(-1, one), (-1, other)], False, 0)
            else:
                yield _sum([(1, one), (-1, other)], True, 0)

    def _table(self, table: Table) -> Iterator[Weighted]:
        *others, last = zip(table.choices, table.codes, strict=True)
        present = [np.unique(codes) for _, codes in others]
        if math.prod(len(codes) for codes in present) > MAX_TERMS:
            raise TooLargeError
        for index in np.ndindex(*(len(codes) for codes in present)):
            cell = tuple(int(codes[place]) for codes, place in zip(present, index, strict=True))
            forbidden = self._rows(last[0], ~table.allowed[cell][last[1]])
            every = len(forbidden) == len(last[1])  # then the codes before it do not go together at all
            if forbidden:
                rows = [self._rows(choice, codes == code) for (choice, codes), code in zip(others, cell, strict=True)]
                parts = rows if every else [*rows, forbidden]
                yield _sum([(-1, part) for part in parts], False, 1 - len(parts))

    def _grid(self, term: Term) -> Ints:
        """The variables of the combinations of codes, an axis per choice; terms with equal codes share them."""
        key = (term.choices, *(codes.tobytes() for codes in term.codes))
        if key not in self.problem.grids:
            shape = [len(np.unique(codes)) for codes in term.codes]
            if math.prod(shape) > MAX_TERMS:
                raise TooLargeError
            self.problem.grids[key] = term, np.array(self._group(math.prod(shape)), np.int64).reshape(shape)
        return self.problem.grids[key][1]

    def _marginals(self, term: Term, grid: Ints) -> Iterator[Weighted]:
        """Per code of each choice: as many combinations with it as picked rows with it, one or none."""
        for axis, (choice, codes) in enumerate(zip(term.choices, term.codes, strict=True)):
            for place, code in enumerate(np.unique(codes).tolist()):
                combinations = grid.take(place, axis=axis).reshape(-1).tolist()
                yield _sum([(1, combinations), (-1, self._rows(choice, codes == code))], True, 0)

    def _linear(self, linear: Linear) -> tuple[dict[int, int], int]:
        """The coefficients of the variables, zeros left out, and the constant."""
        total: dict[int, int] = {}
        parts: list[tuple[Sequence[int], list[int]]] = [
            (self.problem.groups[choice], column.tolist()) for choice, column in linear.columns.items()
        ]
        for term in linear.terms:
            values = term.values[np.ix_(*(np.unique(codes) for codes in term.codes))]
            parts.append((self._grid(term).reshape(-1).tolist(), values.reshape(-1).tolist()))
        for variables, amounts in parts:
            for variable, amount in zip(variables, amounts, strict=True):
                total[variable] = total.get(variable, 0) + amount
        return {variable: amount for variable, amount in total.items() if amount}, linear.constant


def _by_choices(links: Sequence[Link]) -> dict[tuple[int, int], list[Link]]:
    """The links by the two choices that they are about, the lesser first."""
    found: dict[tuple[int, int], list[Link]] = {}
    for link in links:
        swapped = replace(link, choices=link.choices[::-1], codes=link.codes[::-1])
        ordered = min(link, swapped, key=lambda either: either.choices)
        found.setdefault(ordered.choices, []).append(ordered)
    return found


def _sum(parts: Sequence[tuple[int, Sequence[int]]], equal: bool, right: int) -> Weighted:
    return Weighted(tuple((sign, variable) for sign, part in parts for variable in part), equal, right)
