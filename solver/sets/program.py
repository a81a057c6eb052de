"""A set model as rows over bounded integer variables, for solvers that know nothing of parts and formulas: no big-M.

One zero-one variable per row of a part. A formula under `or` gets a literal that implies it; only a truth that is
counted gets one that is equivalent. Literals as in CP-SAT: variable v is v, its negation -v - 1. Columns of a part from
which a fixed number is picked are shrunk by their least value, and rows are divided by their greatest common divisor.
"""

from __future__ import annotations

import math
from collections.abc import Mapping, Sequence
from dataclasses import dataclass, field

from ..outcome import Reason
from .model import All, Any, Formula, Leaf, Picked, SetModel
from .tour import Maker, Tour


class Declined(Exception):
    """The program would not say what the model says, or be too large; `reason` says which."""

    def __init__(self, reason: Reason) -> None:
        super().__init__(str(reason))
        self.reason = reason


@dataclass(frozen=True, slots=True)
class Row:
    """The sum of coefficients * variables is at most `high`, wherever the literal `under` is true (None: always)."""

    terms: Mapping[int, int]
    high: int
    under: int | None = None


@dataclass(frozen=True, slots=True)
class SetProgram:
    """Minimise `base + unit * sum(objective)`. `domains[v]` are the least and the largest value of variable v.

    `parts[p]` are the variables of the rows of part p, `tours[p]` the arcs of a route: they form one circuit, in which
    a row that is not visited has a loop. `exclusive` are groups of variables of which at most one is 1.
    """

    domains: tuple[tuple[int, int], ...]
    rows: tuple[Row, ...]
    parts: tuple[range, ...]
    tours: Mapping[int, Tour]
    exclusive: tuple[range, ...]
    objective: Mapping[int, int]
    base: int
    unit: int

    def value(self, values: Sequence[int]) -> int:
        """The objective of a solution."""
        return self.base + self.unit * sum(factor * values[variable] for variable, factor in self.objective.items())

    def bound(self) -> int:
        """A number that no solution is below."""
        return self.base + self.unit * _reach(self.objective, self.domains)[0]

    def picked(self, values: Sequence[int]) -> Picked | None:
        """The plan of a solution; None when its arcs are no route through the rows it picks."""
        found: list[tuple[int, ...]] = []
        for number, span in enumerate(self.parts):
            rows = tuple(variable - span.start for variable in span if values[variable])
            if number in self.tours:
                order = self.tours[number].order(values)
                if order is None or tuple(sorted(order)) != rows:
                    return None
                rows = order
            found.append(rows)
        return tuple(found)


@dataclass(slots=True)
class Sum:
    """An expression: coefficients * variables + constant."""

    terms: dict[int, int] = field(default_factory=dict[int, int])
    constant: int = 0

    def add(self, terms: Mapping[int, int], constant: int = 0, factor: int = 1) -> None:
        """Adds a multiple of another expression."""
        for variable, coefficient in terms.items():
            self.terms[variable] = self.terms.get(variable, 0) + factor * coefficient
        self.constant += factor * constant


def set_program(model: SetModel) -> SetProgram:
    """The program of a model: a plan is feasible if and only if some solution is this plan, and one has its cost.

    Raises Declined where the least end of a route stands in a truth that is counted (a solution may end later than it
    must, which could make it better), where nothing bounds an end that is read, or where a route has too many ways.
    """
    return _Builder(model).build()


@dataclass(slots=True)
class _Builder(Maker):
    model: SetModel
    domains: list[tuple[int, int]] = field(default_factory=list[tuple[int, int]])
    rows: list[Row] = field(default_factory=list[Row])
    parts: list[range] = field(default_factory=list[range])
    tours: dict[int, Tour] = field(default_factory=dict[int, Tour])
    flags: list[int] = field(default_factory=list[int])
    sums: list[Sum] = field(default_factory=list[Sum])

    def build(self) -> SetProgram:
        self.variable(1, 1)
        read = {part for quantity in self.model.quantities for part, factor in quantity.ends if factor}
        for part in self.model.parts:
            start = len(self.domains)
            self.parts.append(range(start, start + len(part)))
            self.domains.extend([(0, 1)] * len(part))
        for number, part in enumerate(self.model.parts):
            rows = dict.fromkeys(self.parts[number], 1)
            self.require(rows, -part.at_most)
            self.require(dict.fromkeys(rows, -1), part.at_least)
            if part.course is not None:
                self.tours[number] = Tour.of(part.course, part.at_least, self.parts[number], self, ends=number in read)
        self.flags = [self._flag(number) for number in range(len(self.model.flags))]
        for number in range(len(self.model.quantities)):
            self.sums.append(self._sum(number))
        for formula in self.model.formulas:
            self._post(formula, None)
        objective = Sum(constant=self.model.objective.constant)
        found = self.sums[self.model.objective.quantity]
        objective.add(found.terms, found.constant, self.model.objective.sign)
        terms = {variable: factor for variable, factor in objective.terms.items() if factor}
        unit = max(1, math.gcd(*terms.values()))
        return SetProgram(
            tuple(self.domains),
            tuple(self.rows),
            tuple(self.parts),
            self.tours,
            tuple(span for span, part in zip(self.parts, self.model.parts, strict=True) if part.at_most == 1),
            {variable: factor // unit for variable, factor in terms.items()},
            objective.constant,
            unit,
        )

    def variable(self, low: int, high: int) -> int:
        self.domains.append((low, high))
        return len(self.domains) - 1

    def require(self, terms: Mapping[int, int], constant: int, under: int | None = None) -> None:
        terms = {variable: factor for variable, factor in terms.items() if factor}
        least, most = _reach(terms, self.domains)
        if most + constant <= 0:
            return
        if least + constant > 0:  # the literal is false; where there is none, the program has no solution
            terms, constant, under = ({0: 1}, 0, None) if under is None else (*_clause([-under - 1]), None)
        common = math.gcd(*terms.values())
        divided = {variable: factor // common for variable, factor in terms.items()}
        self.rows.append(Row(divided, -constant // common, under))

    def decline(self, reason: Reason) -> Declined:
        return Declined(reason)

    def _flag(self, number: int) -> int:
        """1 exactly if a member is picked."""
        flag = self.variable(0, 1)
        members = [
            self.parts[part][row]
            for part, good in self.model.flags[number].members.items()
            for row in good.nonzero()[0].tolist()
        ]
        for member in members:
            self.require({member: 1, flag: -1}, 0)
        self.require({flag: 1, **dict.fromkeys(members, -1)}, 0)
        return flag

    def _sum(self, number: int) -> Sum:
        """A quantity as an expression; exact, but that an end may be later than the least."""
        quantity, total = self.model.quantities[number], Sum()
        for part, column in quantity.columns.items():
            values, some = column.tolist(), self.model.parts[part]
            least = min(values) if values and some.at_least == some.at_most else 0
            terms = {variable: value - least for variable, value in zip(self.parts[part], values, strict=True)}
            total.add(terms, least * some.at_least)
        for flag, factor in quantity.flags:
            total.add({self.flags[flag]: factor})
        for formula, factor in quantity.truths:
            total.add({self._truth(formula): factor})
        for part, factor in quantity.ends:
            total.add(*self.tours[part].end, factor)
        for part, factor in quantity.travel:
            total.add(self.tours[part].travel, factor=factor)
        return total

    def _truth(self, formula: Formula) -> int:
        if self._reads_ends(formula):
            raise Declined(Reason.FORM)
        truth = self.variable(0, 1)
        self._post(formula, truth)
        self._post(negation(formula), -truth - 1)
        return truth

    def _reads_ends(self, formula: Formula) -> bool:
        if not isinstance(formula, Leaf):
            return any(self._reads_ends(part) for part in formula.parts)
        return any(factor for _, factor in self.model.quantities[formula.quantity].ends)

    def _post(self, formula: Formula, under: int | None) -> None:
        """The formula is true wherever the literal is."""
        if isinstance(formula, Leaf):
            found = Sum(constant=formula.constant)
            found.add(self.sums[formula.quantity].terms, self.sums[formula.quantity].constant, formula.sign)
            self.require(found.terms, found.constant, under)
        elif isinstance(formula, All) or len(formula.parts) == 1:
            for part in formula.parts:
                self._post(part, under)
        else:
            literals: list[int] = []
            for part in formula.parts:
                literals.append(self.variable(0, 1))
                self._post(part, literals[-1])
            self.require(*_clause(literals if under is None else [*literals, -under - 1]))


def negation(formula: Formula) -> Formula:
    """The opposite of a formula: exact, since quantities are integers."""
    if isinstance(formula, Leaf):
        return Leaf(formula.quantity, -formula.sign, 1 - formula.constant)
    parts = tuple(negation(part) for part in formula.parts)
    return Any(parts) if isinstance(formula, All) else All(parts)


def _clause(literals: Sequence[int]) -> tuple[dict[int, int], int]:
    """Some of different literals is true, as an expression that is at most 0."""
    terms = {literal if literal >= 0 else -literal - 1: -1 if literal >= 0 else 1 for literal in literals}
    return terms, 1 - sum(literal < 0 for literal in literals)


def _reach(terms: Mapping[int, int], domains: Sequence[tuple[int, int]]) -> tuple[int, int]:
    """The least and the largest value that a sum may have."""
    low = sum(factor * domains[variable][factor < 0] for variable, factor in terms.items())
    return low, sum(factor * domains[variable][factor > 0] for variable, factor in terms.items())
