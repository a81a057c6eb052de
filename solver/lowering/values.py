"""Expressions over whole columns: the interpretation that lowering uses (the checker has its own).

Before any array operation, interval arithmetic in Python integers proves that no result can leave int64; otherwise
OverflowRisk names the expression and its range.
"""

from __future__ import annotations

from collections.abc import Callable, Mapping, Sequence
from dataclasses import dataclass, field, replace
from functools import reduce
from typing import Any

import numpy as np
from numpy.typing import NDArray

from ...datasets.opening import Dataset
from ...datasets.table import Column, row_of
from ...schemas import expression as ex
from ...schemas.errors import OverflowRisk, TableError
from ...schemas.expression import Expr
from ...schemas.syntax import ExpressionText
from ...schemas.units import INT64_MAX, INT64_MIN, WEEKDAYS, day_of_month
from ...schemas.world import Derived, Referenced, Stored, World
from ..coding import coded, first_rows, tuple_codes

Ints = NDArray[np.int64]
Bools = NDArray[np.bool_]


@dataclass(frozen=True, slots=True)
class Values:
    """One value per row: `data` is int64 (numbers, dates, times), bool, or codes into `words`; `null` marks unknowns.

    `low` and `high` bound the known integers; they are zero for other kinds.
    """

    data: NDArray[Any]
    null: Bools | None = None
    words: tuple[str, ...] | None = None
    low: int = 0
    high: int = 0

    def true(self) -> Bools:
        """Where a condition is known and true."""
        return self.data if self.null is None else self.data & ~self.null

    def take(self, rows: NDArray[np.integer[Any]]) -> Values:
        """The values at the given rows; the bounds stay."""
        null = None if self.null is None else self.null[rows]
        return Values(self.data[rows], null, self.words, self.low, self.high)


def integers(data: Ints, null: Bools | None = None) -> Values:
    """Integers with their own bounds."""
    known = data if null is None else data[~null]
    low, high = (int(known.min()), int(known.max())) if len(known) else (0, 0)
    return Values(data, null, None, low, high)


def codes_of(values: Values) -> tuple[Ints, int]:
    """Codes `int64[n]` of the values, from 0 to the number of distinct ones - 1; unknown is one more of its own."""
    codes, number = coded(np.where(values.null, 0, values.data) if values.null is not None else _wide(values.data))
    if values.null is not None and values.null.any():
        codes, number = coded(np.where(values.null, number, codes))
    return codes, number


def codes_of_tuples(parts: Sequence[Values], size: int) -> tuple[Ints, int]:
    """Codes of the tuples that several values form row by row."""
    return tuple_codes([codes_of(part)[0] for part in parts], size)


def _wide(data: NDArray[Any]) -> Ints:
    return data.astype(np.int64, copy=False)


@dataclass(slots=True)
class TableColumns:
    """The visible columns of one table as Values, computed on demand and kept."""

    world: World
    dataset: Dataset
    table: str
    _tables: dict[str, TableColumns]
    _done: dict[str, Values] = field(default_factory=dict[str, Values])

    @property
    def length(self) -> int:
        """The number of rows in the table."""
        return self.dataset.table(self.world, self.table).rows

    def column(self, name: str) -> Values:
        """A visible column over all rows of the table."""
        if name not in self._done:
            self._done[name] = self._compute(name)
        return self._done[name]

    def _compute(self, name: str) -> Values:
        field_ = self.world.tables[self.table].fields[name]
        match field_:
            case Stored():
                return self.stored(name)
            case Derived():
                evaluator = Evaluator(
                    self.length, lambda node: self.column(node.column), self.dataset, self.world, field_.text
                )
                return evaluator.values(field_.expr)
            case Referenced():
                return self._tables[field_.table].column(field_.column).take(self.referred(field_.via))

    def taken(self, name: str, rows: NDArray[np.integer[Any]]) -> Values:
        """A visible column at some rows of the table, computed for these alone unless all of it is there."""
        if name in self._done:
            return self._done[name].take(rows)
        match self.world.tables[self.table].fields[name]:
            case Stored():
                return self.stored(name).take(rows)
            case Derived() as field_:
                evaluator = Evaluator(
                    len(rows), lambda node: self.taken(node.column, rows), self.dataset, self.world, field_.text
                )
                return evaluator.values(field_.expr)
            case Referenced() as field_:
                return self._tables[field_.table].taken(field_.column, self.referred(field_.via)[rows])

    def stored(self, name: str) -> Values:
        """A stored column over all rows of the table."""
        return self.dataset.once(
            ("stored", self.table, name),
            lambda: from_column(self.dataset.table(self.world, self.table).columns[name]),
        )

    def referred(self, via: str) -> NDArray[np.int32]:
        """The row of the referenced table for each row of this one."""

        def search() -> NDArray[np.int32]:
            target = self.world.tables[self.table].references[via]
            key = self.dataset.table(self.world, target).columns[self.world.tables[target].key[0]]
            return row_of(key, self.dataset.table(self.world, self.table).columns[via]).astype(np.int32)

        return self.dataset.once(("referred", self.table, via), search)


def table_columns(world: World, dataset: Dataset) -> dict[str, TableColumns]:
    """The columns of every table of the world."""
    tables: dict[str, TableColumns] = {}
    for name in world.tables:
        tables[name] = TableColumns(world, dataset, name, tables)
    return tables


def from_column(column: Column) -> Values:
    """A stored column as Values."""
    if column.type.kind == "string":
        return Values(column.values, column.null, column.dictionary)
    if column.type.kind == "bool":
        return Values(column.values, column.null)
    return integers(column.values, column.null)


class Evaluator:
    """Evaluates typed expressions over `length` rows; `column` supplies the leaves.

    `leaves` maps sub-expressions (by identity) to values that are already known, so that a condition over several
    choices can be evaluated over combinations of their values.
    """

    def __init__(
        self, length: int, column: Callable[[ex.Column], Values], dataset: Dataset, world: World, text: ExpressionText,
        leaves: Mapping[int, Values] | None = None,
    ) -> None:  # fmt: skip
        self.length, self._column, self._dataset, self._world, self._text = length, column, dataset, world, text
        self._leaves = leaves or {}

    def values(self, node: Expr) -> Values:
        """The value of an expression in every row."""
        if id(node) in self._leaves:
            return self._leaves[id(node)]
        if isinstance(node, ex.Column):
            return self._column(node)
        method: Callable[[Any], Values] = getattr(self, f"_{type(node).__name__.lower()}")
        return method(node)

    def _ranged(self, node: Expr, low: int, high: int) -> None:
        """Refuses an expression whose integers could leave int64."""
        if low < INT64_MIN or high > INT64_MAX:
            shown = self._text.text[node.span.start : node.span.end]
            raise OverflowRisk(
                f"'{shown}' ranges from {low} to {high}, beyond 64 bits", where=self._text.place(node.span),
                hint="use smaller factors, or a coarser unit",
            )  # fmt: skip

    def _literal(self, node: ex.Literal) -> Values:
        if isinstance(node.value, str):
            return Values(np.zeros(self.length, np.int64), None, (node.value,))
        if isinstance(node.value, bool):
            return Values(np.full(self.length, node.value))
        self._ranged(node, node.value, node.value)
        return Values(np.full(self.length, node.value, np.int64), None, None, node.value, node.value)

    def _sum(self, node: ex.Sum) -> Values:
        terms = [self.values(term) for term in node.terms]
        bounds = [(0, 0)]
        for term in terms:  # every partial sum has to fit, not only the last
            bounds.append((bounds[-1][0] + term.low, bounds[-1][1] + term.high))
            self._ranged(node, *bounds[-1])
        total = reduce(np.add, (term.data for term in terms))
        return Values(total, _nulls(terms), None, *bounds[-1])

    def _scaled(self, node: ex.Scaled) -> Values:
        term = self.values(node.term)
        low, high = sorted((term.low * node.factor, term.high * node.factor))
        self._ranged(node, min(low, node.factor), max(high, node.factor))
        return _masked(Values(_known_data(term) * np.int64(node.factor), term.null, None, low, high))

    def _product(self, node: ex.Product) -> Values:
        left, right = self.values(node.left), self.values(node.right)
        corners = [a * b for a in (left.low, left.high) for b in (right.low, right.high)]
        self._ranged(node, min(corners), max(corners))
        product = Values(
            _known_data(left) * _known_data(right), _nulls([left, right]), None, min(corners), max(corners)
        )
        return _masked(product)

    def _quotient(self, node: ex.Quotient) -> Values:
        top, bottom = self.values(node.numerator), self.values(node.denominator)
        zero = bottom.data == 0 if bottom.null is None else (bottom.data == 0) & ~bottom.null
        if zero.any():
            shown = self._text.text[node.span.start : node.span.end]
            place = self._text.place(node.span)
            raise TableError(f"division by zero in '{shown}' for {int(zero.sum())} rows", where=place)
        divisor = bottom.data if bottom.null is None else np.where(bottom.null, 1, bottom.data)
        self._ranged(node, -max(top.high, -top.low), max(top.high, -top.low))  # -2^63 / -1 is the one that overflows
        data = _known_data(top)
        quotient = -(-data // divisor) if node.up else data // divisor
        null = _nulls([top, bottom])
        return integers(quotient if null is None else np.where(null, 0, quotient), null)

    def _extreme(self, node: ex.Extreme) -> Values:
        args = [self.values(arg) for arg in node.args]
        pick, bound = (np.maximum, max) if node.largest else (np.minimum, min)
        data = reduce(pick, (arg.data for arg in args))
        return Values(data, _nulls(args), None, bound(arg.low for arg in args), bound(arg.high for arg in args))

    def _absolute(self, node: ex.Absolute) -> Values:
        arg = self.values(node.arg)
        high = max(abs(arg.low), abs(arg.high))
        self._ranged(node, 0, high)
        return Values(np.abs(_known_data(arg)), arg.null, None, 0, high)

    def _daysbetween(self, node: ex.DaysBetween) -> Values:
        start, end = self.values(node.start), self.values(node.end)
        return Values(end.data - start.data, _nulls([start, end]), None, end.low - start.high, end.high - start.low)

    def _weekday(self, node: ex.Weekday) -> Values:
        arg = self.values(node.arg)
        return Values((arg.data + 3) % 7, arg.null, WEEKDAYS)

    def _day(self, node: ex.Day) -> Values:
        arg = self.values(node.arg)
        codes, number = coded(arg.data)
        days = np.array([day_of_month(int(day)) for day in arg.data[first_rows(codes, number)]], np.int64)
        return Values(days[codes], arg.null, None, 1, 31)

    def _compare(self, node: ex.Compare) -> Values:
        left, right = self.values(node.left), self.values(node.right)
        first, second = _same_words(left, right)
        compare = {
            "<": np.less,
            "<=": np.less_equal,
            "==": np.equal,
            "!=": np.not_equal,
            ">": np.greater,
            ">=": np.greater_equal,
        }[node.op]
        return Values(compare(first, second), _nulls([left, right]))

    def _member(self, node: ex.Member) -> Values:
        arg = self.values(node.arg)
        if arg.words is not None:
            wanted = [code for code, word in enumerate(arg.words) if word in node.values]
        else:
            wanted = [value for value in node.values if isinstance(value, int) and INT64_MIN <= value <= INT64_MAX]
        return Values(np.isin(arg.data, np.array(wanted, np.int64)), arg.null)

    def _and(self, node: ex.And) -> Values:
        args = [self.values(arg) for arg in node.args]
        true = reduce(np.logical_and, (arg.true() for arg in args))
        false = reduce(np.logical_or, (_false(arg) for arg in args))
        return _kleene(true, false)

    def _or(self, node: ex.Or) -> Values:
        args = [self.values(arg) for arg in node.args]
        true = reduce(np.logical_or, (arg.true() for arg in args))
        false = reduce(np.logical_and, (_false(arg) for arg in args))
        return _kleene(true, false)

    def _not(self, node: ex.Not) -> Values:
        arg = self.values(node.arg)
        return Values(~arg.data, arg.null)

    def _known(self, node: ex.Known) -> Values:
        arg = self.values(node.arg)
        return Values(np.ones(self.length, np.bool_) if arg.null is None else ~arg.null)

    def _count(self, node: ex.Count) -> Values:
        total = np.zeros(self.length, np.int64)
        for arg in node.args:
            total += self.values(arg).true()
        return Values(total, None, None, 0, len(node.args))

    def _relation(self, node: ex.Relation) -> Values:
        """Looks facts up once per distinct combination of arguments."""
        args = [self.values(arg) for arg in node.args]
        codes, number = codes_of_tuples(args, self.length)
        unknown = _nulls(args)
        facts = self._dataset.once(("facts", node.relation), lambda: self._facts(node.relation))
        found: list[int | None] = []
        for row in first_rows(codes, number):
            if unknown is not None and unknown[row]:
                found.append(None)
            else:
                found.append(facts.get(tuple(_plain(arg, int(row)) for arg in args)))
        if self._world.relations[node.relation].value is None:
            return Values(np.array([fact is not None for fact in found], np.bool_)[codes], unknown)
        null = np.array([fact is None for fact in found], np.bool_)[codes]
        data = np.array([fact or 0 for fact in found], np.int64)[codes]
        return integers(data, null if null.any() else None)

    def _facts(self, name: str) -> dict[tuple[int | str, ...], int]:
        relation = self._world.relations[name]
        table = self._dataset.relation(self._world, name)
        args = [from_column(table.columns[arg]) for arg in relation.args]
        value = from_column(table.columns[relation.value]).data.tolist() if relation.value else [1] * table.rows
        null = table.columns[relation.value].null if relation.value else None
        return {
            tuple(_plain(arg, row) for arg in args): fact
            for row, fact in enumerate(value)
            if null is None or not null[row]
        }


def _plain(values: Values, row: int) -> int | str:
    item = int(values.data[row])
    return item if values.words is None else values.words[item]


def _known_data(values: Values) -> Ints:
    """The integers, zero where unknown: what stands in a null slot is not within the proven bounds."""
    data: Ints = values.data
    return data if values.null is None else np.where(values.null, 0, data)


def _masked(values: Values) -> Values:
    return values if values.null is None else replace(values, data=_known_data(values))


def _nulls(parts: Sequence[Values]) -> Bools | None:
    """Where any of the parts is unknown."""
    masks = [part.null for part in parts if part.null is not None]
    return reduce(np.logical_or, masks) if masks else None


def _false(values: Values) -> Bools:
    return ~values.data if values.null is None else ~values.data & ~values.null


def _kleene(true: Bools, false: Bools) -> Values:
    unknown = ~(true | false)
    return Values(true, unknown if unknown.any() else None)


def _same_words(left: Values, right: Values) -> tuple[NDArray[Any], NDArray[Any]]:
    """Both sides as numbers that can be compared: texts as codes of one dictionary."""
    if left.words is None or right.words is None or left.words is right.words:
        return left.data, right.data
    known = {word: code for code, word in enumerate(left.words)}
    extra = len(known)
    mapped = [known.get(word, extra + code) for code, word in enumerate(right.words)]
    return left.data, np.array(mapped, np.int64)[right.data] if mapped else right.data
