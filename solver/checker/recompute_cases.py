"""A task whose aggregates read another choice, case by case: for what that choice says there, a task without.

`all(m.city == hotel.city for m in meals)` becomes one task for each city that a hotel is in.
"""

from __future__ import annotations

import itertools
from collections.abc import Iterable, Iterator, Mapping, Sequence
from dataclasses import dataclass, fields, replace
from typing import Any

from ...schemas import expression as ex
from ...schemas.expression import Expr, children, choices_of, walk
from ...schemas.problem import Problem, structure
from .check import Data, Value

Rows = Mapping[str, Sequence[int]]  # by choice


@dataclass(frozen=True, slots=True)
class Case:
    """What has to hold and what is optimised among the plans that pick of these rows."""

    atoms: tuple[Expr, ...]
    objective: Expr
    rows: Rows


def cases(problem: Problem, data: Data, atoms: Sequence[Expr], objective: Expr, rows: Rows) -> Iterator[Case]:
    """Every plan that picks of `rows` belongs to one of the cases; in each no aggregate reads a choice of one row."""
    split: list[list[tuple[Mapping[Any, Expr], str, list[int]]]] = []
    for choice, parts in _shared(problem, (*atoms, objective)).items():
        table, some = problem.choices[choice], rows[choice]
        for atom in atoms:
            if choices_of(atom) == frozenset({choice}):
                some = data.satisfying(table, atom, some)
        groups: dict[tuple[Value, ...], list[int]] = {}
        columns = [data.values(table, part, some) for part in parts]
        for values, row in zip(zip(*columns, strict=True), some, strict=True):
            groups.setdefault(values, []).append(row)
        split.append([(_literals(parts, values), choice, members) for values, members in groups.items()])
    for chosen in itertools.product(*split):
        known = {key: literal for literals, _, _ in chosen for key, literal in literals.items()}
        fewer = {choice: members for _, choice, members in chosen}
        put = tuple(_put(atom, known) for atom in atoms) if known else tuple(atoms)
        yield Case(put, _put(objective, known) if known else objective, {**rows, **fewer})


def _shared(problem: Problem, expressions: Iterable[Expr]) -> dict[str, list[Expr]]:
    """By choice of one row, the largest parts that read it alone in aggregates over others, each once."""
    found: dict[str, dict[Any, Expr]] = {}
    for each in (part for expr in expressions for part in walk(expr) if isinstance(part, ex.Each)):
        waiting = list(children(each))
        while waiting:
            part = waiting.pop()
            reads = choices_of(part) - problem.sets.keys()
            if reads and reads == choices_of(part) and len(reads) == 1:
                found.setdefault(next(iter(reads)), {}).setdefault(structure(part), part)
            elif reads:
                waiting.extend(children(part))
    return {choice: list(parts.values()) for choice, parts in found.items()}


def _literals(parts: Sequence[Expr], values: Sequence[Value]) -> Mapping[Any, Expr]:
    known: Sequence[Any] = values  # None stands for unknown here, which no literal of a text is
    return {structure(part): ex.Literal(value, part.type, part.span) for part, value in zip(parts, known, strict=True)}


def _put(node: Expr, known: Mapping[Any, Expr]) -> Expr:
    """The expression with values in place of parts."""
    if (value := known.get(structure(node))) is not None:
        return value
    changed: dict[str, Any] = {}
    for field in fields(node):
        part = getattr(node, field.name)
        if isinstance(part, Expr):
            changed[field.name] = _put(part, known)
        elif isinstance(part, tuple):
            changed[field.name] = tuple(_put(item, known) if isinstance(item, Expr) else item for item in part)
    return replace(node, **changed)
