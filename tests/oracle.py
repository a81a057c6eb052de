"""The truth about small tasks, by trying every combination of rows: a third interpretation beside lowering and checker.

It is obvious rather than fast. It reads the *untyped* tree of an expression, so that binding is checked as well, and
values as people write them: a number is an exact fraction in its major unit ($12.50 is 25/2), a date is its text
`2025-08-08`, a time is its text `07:30` (both in the order of their texts), unknown is None. It shares the YAML reader,
the parser and the id template with the code under test, and nothing of what gives them a meaning.
"""

from __future__ import annotations

import datetime
import itertools
import math
import operator
from collections import Counter
from collections.abc import Callable, Collection, Iterator, Mapping, Sequence
from dataclasses import dataclass
from fractions import Fraction
from pathlib import Path
from typing import Any

import pyarrow.parquet as pq
from cobench.schemas.manifest import ColumnSpec, Manifest, load_manifest
from cobench.schemas.offer_id import parse_template
from cobench.schemas.syntax import ExpressionText, Syntax, parse
from cobench.schemas.task import TaskFile, parse_task

Value = Fraction | str | bool | None
Row = dict[str, Value]
Facts = dict[tuple[Value, ...], Value]

WEEKDAYS = ("mon", "tue", "wed", "thu", "fri", "sat", "sun")
COMPARE: dict[str, Callable[..., bool]] = {
    "<": operator.lt, "<=": operator.le, "==": operator.eq, "!=": operator.ne, ">": operator.gt, ">=": operator.ge
}  # fmt: skip


# ------------------------------------------------------------------------------------------------------ expressions


@dataclass(frozen=True)
class Names:
    """What the names of an expression stand for: rows by choice (in a manifest the row itself is under "")."""

    rows: Mapping[str, Row]
    parameters: Mapping[str, Value]
    relations: Mapping[str, tuple[bool, Facts]]  # whether it gives a number, and its facts


def value(tree: Syntax, names: Names) -> Value:
    """The value of an expression; None when it is unknown. ZeroDivisionError for a quotient by zero."""
    match tree.op:
        case "number":
            return Fraction(tree.args[0])
        case "text" | "truth":
            return tree.args[0]
        case "name":
            here = names.rows.get("", {})
            return here[tree.args[0]] if tree.args[0] in here else names.parameters[tree.args[0]]
        case "column":
            return names.rows[tree.args[0]][tree.args[1]]
        case "call":
            return _call(tree.args[0], [value(part, names) for part in tree.args[1:]], names)
        case _:
            pass
    parts = [value(part, names) for part in tree.args]
    if tree.op == "and":
        return False if False in parts else None if None in parts else True
    if tree.op == "or":
        return True if True in parts else None if None in parts else False
    if None in parts:
        return None
    if tree.op == "not":
        return not parts[0]
    if tree.op == "in":
        return any(parts[0] == part for part in parts[1:])
    if tree.op in COMPARE:
        return COMPARE[tree.op](*parts)
    return _arithmetic(tree.op, [Fraction(part) for part in parts if part is not None])


def _arithmetic(op: str, parts: list[Fraction]) -> Fraction:
    match op:
        case "+":
            return sum(parts, Fraction(0))
        case "neg":
            return -parts[0]
        case "*":
            return parts[0] * parts[1]
        case "/":
            return parts[0] / parts[1]
        case _:
            raise NotImplementedError(op)


def _call(function: str, args: list[Value], names: Names) -> Value:
    if function == "known":
        return args[0] is not None
    if function == "count":
        return Fraction(sum(arg is True for arg in args))
    if None in args:
        return None
    if function in names.relations:
        number, facts = names.relations[function]
        return facts.get(tuple(args), None if number else False)
    if function in ("weekday", "day", "days_between"):
        days = [datetime.date.fromisoformat(str(arg)) for arg in args]
        if function == "weekday":
            return WEEKDAYS[days[0].weekday()]
        return Fraction(days[0].day if function == "day" else (days[1] - days[0]).days)
    numbers = [Fraction(arg) for arg in args if arg is not None]
    plain: dict[str, Callable[..., Any]] = {
        "ceil": math.ceil, "floor": math.floor, "abs": abs, "min": min, "max": max
    }  # fmt: skip
    return Fraction(plain[function](*numbers))


# ------------------------------------------------------------------------------------------------------------- data


@dataclass(frozen=True)
class Data:
    """Every table with all visible columns, and every relation, for one task's parameters."""

    tables: Mapping[str, list[Row]]
    offers: Mapping[str, list[tuple[str, Row]]]  # ids and rows of the tables that have ids
    parameters: Mapping[str, Value]
    relations: Mapping[str, tuple[bool, Facts]]


def read_data(folder: Path, given: Mapping[str, int | str | bool], manifest: Manifest | None = None) -> Data:
    """The dataset in a folder, as it looks with these parameters; `manifest` saves reading it again."""
    manifest = manifest or load_manifest(folder / "dataset.yaml").manifest
    parameters = {name: _parameter(manifest, name, given[name]) for name in manifest.parameters}
    relations: dict[str, tuple[bool, Facts]] = {}
    for name, spec in manifest.relations.items():
        facts: Facts = {}
        for row in read_rows(folder / spec.file, spec.columns):
            facts[tuple(row[arg] for arg in spec.args)] = row[spec.value] if spec.value else True
        relations[name] = (spec.value is not None, facts)
    tables: dict[str, list[Row]] = {}
    for name in manifest.tables:
        _fill(folder, manifest, name, tables, parameters, relations)
    offers: dict[str, list[tuple[str, Row]]] = {}
    for name, table in manifest.tables.items():
        if table.id is not None:
            template = parse_template(table.id)
            assert not isinstance(template, str)
            kept = tables[name]
            if table.require is not None:
                tree = parse(ExpressionText(table.require))
                kept = [row for row in kept if value(tree, Names({"": row}, parameters, relations)) is True]
            offers[name] = [
                (template.format([None if row[part] is None else str(row[part]) for part in template.columns]), row)
                for row in kept
            ]
    return Data(tables, offers, parameters, relations)


def _parameter(manifest: Manifest, name: str, given: int | str | bool) -> Value:
    if isinstance(given, bool):
        return given
    return Fraction(given) if manifest.parameters[name].type == "number" else str(given)


def _fill(
    folder: Path,
    manifest: Manifest,
    name: str,
    tables: dict[str, list[Row]],
    parameters: Mapping[str, Value],
    relations: Mapping[str, tuple[bool, Facts]],
) -> None:
    """Puts a table, and first the tables that it refers to, into `tables`."""
    if name in tables:
        return
    spec = manifest.tables[name]
    rows = read_rows(folder / spec.file, spec.columns)
    for column in spec.references:
        reference = spec.reference(column)
        _fill(folder, manifest, reference.table, tables, parameters, relations)
        key = manifest.tables[reference.table].key[0]
        for row in rows:
            (target,) = [other for other in tables[reference.table] if other[key] == row[column]]
            row.update({reference.prefix + seen: item for seen, item in target.items() if seen != key})
    for column, text in spec.derive.items():
        tree = parse(ExpressionText(text))
        for row in rows:
            row[column] = value(tree, Names({"": row}, parameters, relations))
    tables[name] = rows


def read_rows(path: Path, columns: Mapping[str, ColumnSpec]) -> list[Row]:
    """The rows of a Parquet file, values as people write them."""
    stored = pq.ParquetFile(path).read().to_pylist()
    return [{name: shown(row[name], spec) for name, spec in columns.items()} for row in stored]


def shown(item: object, spec: ColumnSpec) -> Value:
    """A stored value as people write it."""
    if item is None or isinstance(item, bool | str):
        return item
    if isinstance(item, datetime.date):
        return item.isoformat()
    assert isinstance(item, int)
    return f"{item // 60:02d}:{item % 60:02d}" if spec.type == "time" else Fraction(item, 10**spec.digits)


# ------------------------------------------------------------------------------------------------------------ plans


@dataclass(frozen=True)
class Truth:
    """All feasible plans, best first: (ids in the order of the choices, value in major units)."""

    choices: tuple[str, ...]
    maximize: bool
    plans: tuple[tuple[tuple[str, ...], Fraction], ...]

    @property
    def count(self) -> int:
        return len(self.plans)

    @property
    def optimum(self) -> Fraction:
        return self.plans[0][1]

    @property
    def canonical(self) -> dict[str, str]:
        """Of the best plans the one with the least ids by UTF-8 bytes, compared choice by choice."""
        return dict(zip(self.choices, self.plans[0][0], strict=True))

    @property
    def best(self) -> list[tuple[str, ...]]:
        return [ids for ids, worth in self.plans if worth == self.optimum]

    @property
    def runner_up(self) -> Fraction | None:
        return next((worth for _, worth in self.plans if worth != self.optimum), None)

    @property
    def distribution(self) -> list[tuple[Fraction, int]]:
        """Values with their numbers of plans, best first."""
        return list(Counter(worth for _, worth in self.plans).items())

    def rank(self, worth: Fraction) -> tuple[int, int, int]:
        """How many plans are better, equal and worse than a value."""
        others = [other for _, other in self.plans]
        above, below = sum(other > worth for other in others), sum(other < worth for other in others)
        tied = sum(other == worth for other in others)
        return (above, tied, below) if self.maximize else (below, tied, above)


class UnknownObjectiveError(Exception):
    """A feasible plan has no value: the task should have been refused."""


def truth(
    task: str | TaskFile,
    folder: Path,
    manifest: Manifest | None = None,
    *,
    within: Mapping[str, Collection[str]] | None = None,
    constraints: Collection[str] | None = None,
) -> Truth:
    """Everything about a task (or its YAML text) on the dataset in a folder."""
    file = parse_task(task) if isinstance(task, str) else task
    data = read_data(folder, file.task.given, manifest)
    sense, text = file.task.objective
    trees = [
        parse(file.text("constraints", name))
        for name in file.task.constraints
        if constraints is None or name in constraints
    ]
    objective = parse(ExpressionText(text))
    choices = {name: file.task.choice(name).table for name in file.task.choose}
    offers = [
        [offer for offer in data.offers[table] if within is None or name not in within or offer[0] in within[name]]
        for name, table in choices.items()
    ]
    found = list(_plans(list(choices), offers, trees, objective, data))
    sign = -1 if sense == "maximize" else 1
    found.sort(key=lambda plan: (sign * plan[1], [part.encode() for part in plan[0]]))
    return Truth(tuple(choices), sense == "maximize", tuple(found))


def _plans(
    choices: Sequence[str],
    offers: Sequence[list[tuple[str, Row]]],
    trees: Sequence[Syntax],
    objective: Syntax,
    data: Data,
) -> Iterator[tuple[tuple[str, ...], Fraction]]:
    for picks in itertools.product(*offers):
        rows = {choice: row for choice, (_, row) in zip(choices, picks, strict=True)}
        names = Names(rows, data.parameters, data.relations)
        if all(value(tree, names) is True for tree in trees):
            ids = tuple(offer for offer, _ in picks)
            worth = value(objective, names)
            if not isinstance(worth, Fraction):
                raise UnknownObjectiveError(f"{ids}: {worth}")
            yield ids, worth
