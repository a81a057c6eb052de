"""Plans that somebody finds who does not search: if one of them is the best plan, the task tests nothing.

Each strategy starts from the offers that satisfy everything that constraints say about their choice alone.

- `greedy`: choice by choice in file order, the offer with the best part of its own in the objective, among those that
  fit the offers picked before (a constraint over several choices is looked at when the last of them is picked).
- `cheapest`: the same with the offer's part of the cost; see `cost`.
- `first page`: the same with the least id (UTF-8 bytes): what a search lists first.
- `best alone`: the best part of its own in the objective for every choice, whatever constraints say across choices.

Ties go to the least id. A part of the objective that depends on several choices at once is in nobody's own part.
"""

from __future__ import annotations

import re
from collections.abc import Iterator, Mapping
from dataclasses import dataclass
from typing import Any

import numpy as np
from numpy.typing import NDArray

from ...schemas import expression as ex
from ...schemas.problem import Problem
from ..lower import Lowered
from ..model import Bools, Ints, Linear, Link, Model, Table, Term

_CURRENCY = re.compile(r"[A-Z]{3}\Z")


@dataclass(frozen=True, slots=True)
class Picked:
    """What a strategy picked: a row of the model per choice, up to choice number `stuck` if nothing fitted there.

    `broken`: the numbers of the constraints over several choices that the plan does not satisfy.
    """

    strategy: str
    rows: tuple[int, ...]
    stuck: int | None = None
    broken: tuple[int, ...] = ()

    @property
    def feasible(self) -> bool:
        """Whether the strategy found a plan that satisfies everything."""
        return self.stuck is None and not self.broken


def strategies(lowered: Lowered, model: Model, cost: Linear | None) -> tuple[Picked, ...]:
    """What each strategy picks from `model`, a part of the lowered one that holds only rows fit for their choice.

    `cost` is what `cheapest` looks at; None leaves that strategy out. Linear in the rows, and for `first page` in the
    ids that fit.
    """
    found = [_greedily("greedy", lowered, model, model.objective.columns)]
    if cost is not None:
        found.append(_greedily("cheapest", lowered, model, cost.columns))
    found += [_greedily("first page", lowered, model, {}), _alone(lowered, model)]
    return tuple(found)


def leaves_out(strategy: str, choices: int) -> bool:
    """Whether a strategy is less than a search: with one choice two of them look at every offer and take the best."""
    return choices > 1 or strategy not in ("greedy", "best alone")


def cost(problem: Problem, model: Model) -> Linear | None:
    """What `cheapest` looks at: the first constraint in the file that bounds a sum of money from above.

    None without one, and where money is what the objective minimises: `greedy` is the cheapest there.
    """
    if not problem.objective.maximize and _CURRENCY.match(problem.objective.type.unit):
        return None
    for number, constraint in enumerate(problem.constraints):
        node = constraint.condition
        if number in model.thresholds and isinstance(node, ex.Compare) and _CURRENCY.match(node.left.type.unit):
            bounded = node.right if node.op in ("<", "<=") else node.left
            if isinstance(bounded, ex.Literal):
                return model.thresholds[number].linear
    return None


def shortcuts(problem: Problem, lowered: Lowered, model: Model) -> tuple[Picked, ...]:
    """What the strategies pick that are less than a search."""
    found = strategies(lowered, model, cost(problem, model))
    return tuple(item for item in found if leaves_out(item.strategy, len(model.choices)))


def gap(problem: Problem, lowered: Lowered, model: Model, best: int) -> int | None:
    """By how much the best naive plan of a model is worse than its best value; None without a feasible one."""
    values = [model.objective.value(item.rows) for item in shortcuts(problem, lowered, model) if item.feasible]
    return min(values) - best if values else None


def broken(model: Model, rows: tuple[int, ...]) -> tuple[int, ...]:
    """The numbers of the constraints that rows of the model do not satisfy together."""
    picked = dict(enumerate(rows))
    return tuple(sorted({number for number, holds in _parts(model, picked, None) if not holds.all()}))


def _greedily(name: str, lowered: Lowered, model: Model, worth: Mapping[int, Ints]) -> Picked:
    picked: dict[int, int] = {}
    for choice in range(len(model.choices)):
        fits = np.ones(len(model.choices[choice]), np.bool_)
        for _, holds in _parts(model, picked, choice):
            fits &= holds
        row = _best(lowered, model, choice, np.flatnonzero(fits), worth)
        if row is None:
            return Picked(name, tuple(picked.values()), choice)
        picked[choice] = row
    return Picked(name, tuple(picked.values()))


def _alone(lowered: Lowered, model: Model) -> Picked:
    rows: list[int] = []
    for choice in range(len(model.choices)):
        row = _best(lowered, model, choice, np.arange(len(model.choices[choice])), model.objective.columns)
        if row is None:
            return Picked("best alone", tuple(rows), choice)
        rows.append(row)
    return Picked("best alone", tuple(rows), None, broken(model, tuple(rows)))


def _best(lowered: Lowered, model: Model, choice: int, rows: Ints, worth: Mapping[int, Ints]) -> int | None:
    """Of some rows of a choice the one of least worth, and of these the one with the least id."""
    if choice in worth and len(rows):
        own = worth[choice][rows]
        rows = rows[own == own.min()]
    if len(rows) > 1:
        names = lowered.names(lowered.offers[choice], model.choices[choice], rows.tolist())
        rows = rows[[min(range(len(names)), key=lambda place: names[place].encode())]]
    return int(rows[0]) if len(rows) else None


def _parts(model: Model, picked: Mapping[int, int], choice: int | None) -> Iterator[tuple[int, Bools]]:
    """Each part over several choices that the picked rows decide, with its constraint's number: where it holds.

    With a choice that is not picked yet: for each of its rows, by the parts that this choice decides.
    """
    known = {*picked} if choice is None else {*picked, choice}

    def decided(choices: Any) -> bool:
        return known.issuperset(choices) and (choice is None or choice in choices)

    def codes(part: Link | Table | Term) -> list[Any]:
        return [code if c == choice else code[[picked[c]]] for c, code in zip(part.choices, part.codes, strict=True)]

    for link in model.links:
        if decided(link.choices):
            left, right = codes(link)
            yield link.constraint, (left == right) & (left >= 0)
    for table in model.tables:
        if decided(table.choices):
            yield table.constraint, _looked_up(table.allowed, codes(table))
    for row in model.rows:
        if decided({*row.linear.columns, *(c for term in row.linear.terms for c in term.choices)}):
            total = np.full(1, row.linear.constant, np.int64)  # within 2^62 in whatever order: see Model
            for c, column in row.linear.columns.items():
                total = total + (column if c == choice else column[[picked[c]]])
            for term in row.linear.terms:
                total = total + _looked_up(term.values, codes(term))
            yield row.constraint, total <= 0


def _looked_up(values: NDArray[Any], codes: list[Any]) -> NDArray[Any]:
    return values[tuple(codes)]
