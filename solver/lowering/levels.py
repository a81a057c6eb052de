"""Where the value of an expression is decided: a condition on a hotel is evaluated per hotel, not per stay.

A path leads from the rows of a table to a level with fewer: by references, `("config", "hotel_id")`, and at the end
perhaps to the distinct values of a stored column, `("=check_in",)`; `()` are the rows themselves. Values at a level are
computed once; rows further down look theirs up. Everything kept depends on stored columns and bound expressions alone.
"""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import dataclass, field
from typing import Any, TypeVar

import numpy as np
from numpy.typing import NDArray

from ...datasets.opening import Dataset
from ...schemas import expression as ex
from ...schemas.errors import TableError
from ...schemas.expression import Expr
from ...schemas.syntax import ExpressionText
from ...schemas.world import Derived, Referenced, TableField, World
from ..coding import first_rows
from .values import Evaluator, Ints, TableColumns, Values, codes_of, table_columns

Path = tuple[str, ...]
Places = NDArray[Any]  # row numbers, in the smallest unsigned type or int32
Kept = TypeVar("Kept")

# A column has a level of its own in tables from so many rows on, up to so many distinct values, each so often there.
_FROM, _FEW, _REPEATED = 4_096, 4_096, 8
_BYTES = 48 * 2**20
_ENTRY = 1_500  # bytes, about, that an entry takes beside its arrays


@dataclass(slots=True)
class Recent:
    """What was computed last, up to a number of bytes; each entry holds on to the objects that its key names by id."""

    entries: dict[tuple[str, int, int], tuple[object, object, Any, int]] = field(
        default_factory=dict[tuple[str, int, int], tuple[object, object, Any, int]]
    )
    size: int = 0

    def get(
        self,
        what: str,
        first: object,
        second: object,
        make: Callable[[], Kept],
        size: Callable[[Kept], int] | None = None,
    ) -> Kept:
        """What `make` gives for two objects, from the last time if that is remembered; `size` tells its bytes."""
        key = what, id(first), id(second)
        entry = self.entries.pop(key, None)
        if entry is None:
            made = make()
            entry = first, second, made, _ENTRY + (0 if size is None else size(made))
            self.size += entry[3]
        self.entries[key] = entry
        while self.size > _BYTES:
            self.size -= self.entries.pop(next(iter(self.entries)))[3]
        found: Kept = entry[2]
        return found


def recent(dataset: Dataset) -> Recent:
    """What was computed last on a dataset."""
    return dataset.once("recent", Recent)


@dataclass(slots=True, eq=False)
class Levels:
    """The levels of one table. Bounds of values are those of whole tables, so they hold for any rows asked for."""

    columns: TableColumns
    _tables: dict[str, Levels]
    _paths: dict[str, Path] = field(default_factory=dict[str, Path])
    _ends: dict[str, tuple[Path, str, TableField]] = field(default_factory=dict[str, tuple[Path, str, TableField]])

    @property
    def world(self) -> World:
        """The world that the table is in."""
        return self.columns.world

    @property
    def dataset(self) -> Dataset:
        """The dataset that the table is in."""
        return self.columns.dataset

    def end(self, name: str) -> tuple[Path, str, TableField]:
        """Where a visible column comes from: the path to its table, its name there, and what it is there."""
        if name not in self._ends:
            found = self.world.tables[self.columns.table].fields[name]
            if isinstance(found, Referenced):
                path, name_there, last = self._tables[found.table].end(found.column)
                self._ends[name] = (found.via, *path), name_there, last
            else:
                self._ends[name] = (), name, found
        return self._ends[name]

    def _of(self, path: Path) -> Levels:
        """The levels of the table at the end of a path of references."""
        table = self.columns.table
        for via in path:
            table = self.world.tables[table].references[via]
        return self._tables[table]

    def column_path(self, name: str) -> Path:
        """The furthest level that decides the column."""
        if name not in self._paths:
            path, there, found = self.end(name)
            owner = self._of(path)
            if isinstance(found, Derived):
                path = (*path, *(owner.path(found.expr) or ()))
            elif owner.distinct(there) is not None:
                path = (*path, f"={there}")
            self._paths[name] = path
        return self._paths[name]

    def path(self, node: Expr) -> Path | None:
        """The furthest level that decides the expression; None when it reads no column."""
        return recent(self.dataset).get("path", self, node, lambda: self._path(node))

    def _path(self, node: Expr) -> Path | None:
        found: Path | None = None
        for part in ex.walk(node):
            if isinstance(part, ex.Column):
                path = self.column_path(part.column)
                found = path if found is None else common(found, path)
        return found

    def distinct(self, name: str) -> tuple[Places, Ints] | None:
        """Per row the code of a stored column's value, and per code a row that has it; None when there are many."""

        def find() -> tuple[Places, Ints] | None:
            if self.columns.length < _FROM:
                return None
            values = self.columns.stored(name)
            if values.words is None and values.high - values.low > 2**20:
                return None  # not worth a look: money, mostly
            codes, number = codes_of(values)
            if number > _FEW or number * _REPEATED > len(codes):
                return None
            return codes.astype(np.uint8 if number <= 256 else np.uint16), first_rows(codes, number)

        return self.dataset.once(("distinct", self.columns.table, name), find)

    def number(self, path: Path) -> int:
        """The number of rows at a level."""
        owner = self._of(_references(path))
        distinct = owner.distinct(path[-1][1:]) if path != _references(path) else None
        return owner.columns.length if distinct is None else len(distinct[1])

    def places(self, path: Path) -> Places:
        """For each row of the table its row at the level; the path is not empty."""
        return self.dataset.once(("places", self.columns.table, path), lambda: self._places(path))

    def _places(self, path: Path) -> Places:
        step, rest = path[0], path[1:]
        if step[0] == "=":
            distinct = self.distinct(step[1:])
            return distinct[0] if distinct is not None else np.arange(self.columns.length, dtype=np.int32)
        rows = self.columns.referred(step)
        return self._of((step,)).places(rest)[rows] if rest else rows

    def sizes(self, path: Path) -> Ints:
        """For each row of the level how many rows of the table lead there."""
        return self.dataset.once(
            ("sizes", self.columns.table, path), lambda: np.bincount(self.places(path), minlength=self.number(path))
        )

    def is_ascending(self, path: Path) -> bool:
        """Whether the table's rows are in the order of the level."""

        def look() -> bool:
            places = self.places(path)
            return bool((places[1:] >= places[:-1]).all())

        return self.dataset.once(("ascending", self.columns.table, path), look)

    def offers(self) -> Ints:
        """The rows of the table that satisfy its `require`, ascending."""
        table = self.world.tables[self.columns.table]
        if table.require is None or table.require_text is None:
            return np.arange(self.columns.length)
        return np.flatnonzero(self.at(table.require, (), None, table.require_text).true())

    def below(self, path: Path, good: NDArray[np.bool_]) -> Ints:
        """The rows of the table that lead to good rows of the level, ascending. Time: O(those rows)."""
        sizes, table = self.sizes(path), self.columns.table
        starts = self.dataset.once(("starts", table, path), lambda: np.cumsum(sizes) - sizes)
        wanted = np.flatnonzero(good)
        lengths = sizes[wanted]
        before = np.cumsum(lengths) - lengths
        rows = np.repeat(starts[wanted] - before, lengths)
        rows += np.arange(len(rows))
        if self.is_ascending(path):
            return rows
        order = self.dataset.once(
            ("order", table, path), lambda: np.argsort(self.places(path), kind="stable").astype(np.int32)
        )
        return np.sort(order[rows]).astype(np.int64)

    def whole(self, node: Expr, path: Path, text: ExpressionText) -> Values:
        """The expression over all rows of `path`, which is its own: computed once, as long as it is remembered."""
        return recent(self.dataset).get("whole", self, node, lambda: self.at(node, path, None, text), size_of)

    def at(self, node: Expr, path: Path, rows: Places | None, text: ExpressionText) -> Values:
        """The expression at some rows, or all, of a level that decides it."""
        return _AtLevel(self, path, rows, text).values(node)

    def column(self, name: str, path: Path, rows: Places | None) -> Values:
        """A visible column at rows of a level that decides it; all rows if None."""
        end, there, found = self.end(name)
        owner = self._of(end)
        if isinstance(found, Derived):
            if len(path) >= len(end):  # the level is one of the column's own table
                return owner.at(found.expr, path[len(end) :], rows, found.text)
            places = self.between(path, end)
            return owner.at(found.expr, (), places if rows is None else places[rows], found.text)
        values = owner.columns.stored(there)
        if path == (*end, f"={there}"):
            distinct = owner.distinct(there)
            values = values if distinct is None else values.take(distinct[1])
        elif path != end:
            places = self.between(path, end)
            return values.take(places if rows is None else places[rows])
        return values if rows is None else values.take(rows)

    def between(self, path: Path, further: Path) -> Places:
        """For each row of a level its row at a further one."""
        return self._of(path).places(further[len(path) :])

    def lookup(self, node: Expr, path: Path, rows: Places | None, text: ExpressionText) -> Values | None:
        """The expression at rows of a level by way of a further level; None when no further one decides it."""
        further = self.path(node)
        if further is None or len(further) <= len(path):
            return None
        if isinstance(node, ex.Column) and not isinstance(self.end(node.column)[2], Derived):
            return None  # nothing to compute
        places = self.between(path, further)
        return self.whole(node, further, text).take(places if rows is None else places[rows])


def levels_of(world: World, dataset: Dataset) -> dict[str, Levels]:
    """The levels of every table of the world; the same ones as long as they are remembered."""

    def make() -> dict[str, Levels]:
        tables: dict[str, Levels] = {}
        for name, columns in table_columns(world, dataset).items():
            tables[name] = Levels(columns, tables)
        return tables

    return recent(dataset).get("levels", world, None, make, lambda tables: 10_000 * len(tables))


class CarefulEvaluator(Evaluator):
    """Evaluates with bounds that hold for all rows of the tables, however few are looked at.

    So what it accepts for some rows is accepted for all rows, too; what it refuses may be acceptable.
    """

    def _quotient(self, node: ex.Quotient) -> Values:
        top, bottom = self.values(node.numerator), self.values(node.denominator)
        if bottom.low <= 0 <= bottom.high:
            raise TableError("perhaps a division by zero", where=self._text.place(node.span))
        found = super()._quotient(node)
        pairs = [(a, b) for a in (top.low, top.high) for b in (bottom.low, bottom.high)]
        low, high = min(a // b for a, b in pairs), max(-(-a // b) for a, b in pairs)
        return Values(found.data, found.null, None, low, high)

    def _relation(self, node: ex.Relation) -> Values:
        found = super()._relation(node)
        relation = self._world.relations[node.relation]
        if relation.value is None:
            return found
        column = self._dataset.relation(self._world, node.relation).columns[relation.value].values
        low, high = self._dataset.once(
            ("range", node.relation), lambda: (int(column.min(initial=0)), int(column.max(initial=0)))
        )
        return Values(found.data, found.null, None, low, high)


class _AtLevel(CarefulEvaluator):
    """At rows of a level of one table; parts that a further level decides are looked up there."""

    def __init__(self, levels: Levels, path: Path, rows: Places | None, text: ExpressionText) -> None:
        length = levels.number(path) if rows is None else len(rows)
        super().__init__(length, self._at, levels.dataset, levels.world, text)
        self._levels, self._path, self._rows = levels, path, rows

    def values(self, node: Expr) -> Values:
        found = self._levels.lookup(node, self._path, self._rows, self._text)
        return super().values(node) if found is None else found

    def _at(self, node: ex.Column) -> Values:
        return self._levels.column(node.column, self._path, self._rows)


def common(first: Path, second: Path) -> Path:
    """The furthest level on the way to both."""
    number = 0
    while number < min(len(first), len(second)) and first[number] == second[number]:
        number += 1
    return first[:number]


def _references(path: Path) -> Path:
    return path[:-1] if path and path[-1][0] == "=" else path


def size_of(values: Values) -> int:
    """About how many bytes the values take."""
    return values.data.nbytes + (0 if values.null is None else values.null.nbytes)
