"""The independent checker of plans: what a plan is worth, from the task and the Parquet files alone.

It shares no code with lowering and engines: it reads the files through Arrow, turns expressions into Python closures,
and computes with Python integers, which cannot wrap. With `schemas/` and pyarrow beside it, it stands alone; what it
knows of plans, `replay.py` uses to judge certificates. Read it in this order:

1. files        `open_data`: columns, keys, references and digests (docs/formats.md)
2. expressions  `compiled`: three-valued closures; `Data` applies them to the rows of tables
3. plans        `evaluate`: a plan's value, or what is wrong with it in words
"""

from __future__ import annotations

import hashlib
import operator
import re
from bisect import bisect_left, bisect_right
from collections import Counter
from collections.abc import Callable, Iterator, Mapping, Sequence
from dataclasses import dataclass
from functools import cache
from itertools import compress
from pathlib import Path
from typing import Any

import pyarrow as pa
from pyarrow import (
    _compute,  # pyright: ignore[reportAttributeAccessIssue] - compiled, without type stubs
    _parquet,  # pyright: ignore[reportAttributeAccessIssue] - likewise
)

from ...schemas import expression as ex
from ...schemas.canonical import wide
from ...schemas.errors import TableError, Where
from ...schemas.expression import Expr, choices_of, split_and, walk
from ...schemas.offer_id import IdTemplate, id_text, is_id_text
from ...schemas.plan import Pick, Plan
from ...schemas.problem import Problem, structure
from ...schemas.syntax import ExpressionText, Span
from ...schemas.units import WEEKDAYS, Type, day_of_month, format_value, parse_date, weekday_index
from ...schemas.verdict import Violation
from ...schemas.world import Derived, Referenced, Stored, Table
from .several import Judge, aggregate

# Arrow's functions by name: `pyarrow.compute` wraps all of them when it is imported, which takes longer than to check a
# small task; `pyarrow.parquet` imports file systems. Importing pandas takes longer, too; Arrow does before it makes
# an array or a scalar from Python's objects.
arrow: Any = _compute
parquet: Any = _parquet

Value = int | str | None  # truth values are True, False and None; what a type calls nullable may be None
Function = Callable[[Any], Value]  # of a row number, of a tuple of values, or of a state of picks
Leaf = Callable[[Any], Function]  # of a column, and in plans of an aggregate or a quantity of a route

# ---------------------------------------------------------------------------------------------------- 1. files

_HEADER = b"cobench table 1\n"
_LETTERS = {"bool": b"b", "string": b"s", "date": b"d", "time": b"t", "number": b"n"}
_FIRST_DAY, _LAST_DAY = -719162, 2932896  # 0001-01-01 and 9999-12-31, in days since 1970-01-01


@dataclass(slots=True)
class _File:
    """One Parquet file, rows in the order of its key; `decoded` holds the columns that were asked for."""

    rows: int
    arrays: dict[str, Any]
    digest: str
    decoded: dict[str, Sequence[Value]]

    def values(self, column: str) -> Sequence[Value]:
        """The column as Python values: int, str, bool, or None where it is null."""
        if column not in self.decoded:
            self.decoded[column] = _decoded(self.arrays[column])
        return self.decoded[column]


def _read(path: Path, types: Mapping[str, Type], key: Sequence[str]) -> _File:
    """The columns of a Parquet file that the manifest names; raises TableError unless they are as it says."""
    where = Where(str(path))
    try:
        file = parquet.ParquetReader()
        file.open(str(path))
        for name in types:
            if (times := file.schema_arrow.names.count(name)) != 1:
                raise TableError(f"there are {times} columns '{name}', one is needed", where=where)
        wanted = [number for number, (name, *_) in enumerate(file.column_paths) if name in types]
        table = file.read_all(column_indices=wanted, use_threads=False)
        file.close()
        arrays = {name: _plain(table.column(name)) for name in types}
    except FileNotFoundError:
        raise TableError("the file is missing", where=where) from None
    except (OSError, ValueError, pa.ArrowException) as fault:
        raise TableError(f"not a readable Parquet file: {fault}", where=where) from None
    for name, kind in types.items():
        _check_column(name, arrays[name], kind, where)
    if _first_out_of_order(arrays, key) >= 0:
        keys, ascending = [arrays[name] for name in key], [(name, "ascending") for name in key]
        order = _call("sort_indices", pa.Table.from_arrays(keys, key), options=arrow.SortOptions(ascending))
        arrays = {name: _call("take", array, order) for name, array in arrays.items()}
    same = _first_out_of_order(arrays, key)
    if same >= 0:
        shown = ", ".join(f"{name} {format_value(_decoded(arrays[name])[same], types[name])}" for name in key)
        raise TableError(f"two rows have the same key: {shown}", where=where)
    rows = len(next(iter(arrays.values())))
    return _File(rows, arrays, _digest(rows, arrays, types), {})


def _call(function: str, *arguments: Any, options: Any = None) -> Any:
    return arrow.call_function(function, list(arguments), options)


def _cast(array: Any, kind: Any) -> Any:
    return _call("cast", array, options=arrow.CastOptions.safe(kind))


def _plain(column: Any) -> Any:
    """The column as one array, dictionaries decoded and strings with 64-bit offsets."""
    kind = column.type
    if pa.types.is_dictionary(kind):
        kind = kind.value_type
        column = _cast(column, kind)
    if pa.types.is_string(kind) or pa.types.is_string_view(kind):
        column = _cast(column, pa.large_string())
    array = column.combine_chunks()
    array.validate(full=True)  # UTF-8 among others
    return array


def _check_column(name: str, array: Any, kind: Type, where: Where) -> None:
    wanted = {"bool": pa.bool_(), "string": pa.large_string(), "date": pa.date32()}.get(kind.kind, pa.int64())
    if array.type != wanted:
        raise TableError(f"the column '{name}' holds {array.type}, not {wanted}", where=where)
    if array.null_count and not kind.nullable:
        raise TableError(f"the column '{name}' holds {array.null_count} nulls, and is not nullable", where=where)
    if kind.values is not None:
        foreign = [text for text in _call("unique", array).to_pylist() if text is not None and text not in kind.values]
        if foreign:
            raise TableError(f"the column '{name}' holds '{min(foreign)}', which is none of its values", where=where)
    if kind.kind == "date":
        bounds = _call("min_max", array.view(pa.int32())).as_py()
        if bounds["min"] is not None and not _FIRST_DAY <= bounds["min"] <= bounds["max"] <= _LAST_DAY:
            raise TableError(f"the column '{name}' holds a date outside the years 1 to 9999", where=where)


def _first_out_of_order(arrays: Mapping[str, Any], key: Sequence[str]) -> int:
    """The first row whose key is not less than the next row's, or -1. Arrow compares strings by their UTF-8 bytes."""
    ascending: Any = None
    for name in reversed(key):
        earlier, later = arrays[name].slice(0, max(len(arrays[name]) - 1, 0)), arrays[name].slice(1)
        less = _call("less", earlier, later)
        if ascending is not None:
            less = _call("or", less, _call("and", _call("equal", earlier, later), ascending))
        ascending = less
    return bytes(_raw(_cast(ascending, pa.uint8()), 1)).find(0)


def _digest(rows: int, arrays: Mapping[str, Any], types: Mapping[str, Type]) -> str:
    """`sha256:` and the digest of the logical content in docs/formats.md, the rows being in order of their key."""
    stream = hashlib.sha256(_HEADER + rows.to_bytes(8, "little"))
    for name in sorted(arrays):  # names are ASCII
        array, kind = arrays[name], types[name].kind
        stream.update(len(name).to_bytes(8, "little") + name.encode() + _LETTERS[kind])
        stream.update(b"\1" if array.null_count else b"\0")
        if array.null_count:
            stream.update(_null_bytes(array))
        known = _filled(array)
        if kind == "string":
            stream.update(_raw(_call("binary_length", known), 8))
            stream.update(_text_bytes(known))
        elif kind == "bool":
            stream.update(_raw(_cast(known, pa.uint8()), 1))
        else:
            stream.update(_raw(known, 4 if kind == "date" else 8))
    return "sha256:" + stream.hexdigest()


def _filled(array: Any) -> Any:
    """The array with 0, false or the empty string in place of nulls."""
    if not array.null_count:
        return array
    zeros = pa.py_buffer(bytes(16))  # a fixed value, or two offsets
    layout = [None, zeros, zeros] if pa.types.is_large_string(array.type) else [None, zeros]
    return _call("coalesce", array, pa.Array.from_buffers(array.type, 1, layout)[0])


def _null_bytes(array: Any) -> memoryview:
    """One byte for each row, 1 where it is null."""
    return _raw(_cast(_call("is_null", array), pa.uint8()), 1)


def _text_bytes(array: Any) -> memoryview:
    """The bytes of all strings of an array without nulls, one after another."""
    _, offsets, content = array.buffers()
    ends = memoryview(offsets or bytes(8)).cast("q")
    return memoryview(content or b"")[ends[array.offset] : ends[array.offset + len(array)]]


def _raw(array: Any, width: int) -> memoryview:
    """The bytes of the values of an array without nulls, `width` for each row."""
    content = array.buffers()[1]
    return memoryview(content or b"")[array.offset * width : (array.offset + len(array)) * width]


def _decoded(array: Any) -> Sequence[Value]:
    known = _filled(array)
    values: Sequence[Value]
    if pa.types.is_large_string(array.type):
        coded = _call("dictionary_encode", known)
        texts = coded.dictionary.to_pylist()
        values = [texts[code] for code in _raw(coded.indices, 4).cast("i")]
    elif pa.types.is_boolean(array.type):
        values = [byte == 1 for byte in _raw(_cast(known, pa.uint8()), 1)]
    elif pa.types.is_date(array.type):
        values = _raw(known, 4).cast("i")
    else:
        values = _raw(known, 8).cast("q")
    if array.null_count:
        return [None if null else value for value, null in zip(values, _null_bytes(array), strict=True)]
    return values


# ---------------------------------------------------------------------------------------------- 2. expressions

_COMPARE: dict[str, Callable[[Any, Any], bool]] = {
    "<": operator.lt, "<=": operator.le, "==": operator.eq, "!=": operator.ne, ">": operator.gt, ">=": operator.ge
}  # fmt: skip


def compiled(
    node: Expr,
    leaf: Leaf,
    relations: Mapping[str, Mapping[tuple[Value, ...], Value]],
) -> Function:
    """A function from whatever the functions of `leaf` take to the value of the expression, None for unknown.

    It raises TableError for a quotient whose denominator is zero. `and` and `or` stop at the first part that decides.
    """
    if isinstance(node, ex.Literal):
        constant = node.value
        return lambda _: constant
    if isinstance(node, ex.Column | ex.Each | ex.Tour):
        return leaf(node)
    if not _is_strict(node):
        return _lenient(node, [compiled(part, leaf, relations) for part in ex.children(node)], relations)
    parts = [compiled(part, leaf, relations) for part in ex.children(node)]
    combine = _strict(node)
    if len(parts) == 1:
        (only,) = parts
        return lambda row: None if (value := only(row)) is None else combine(value)
    if len(parts) == 2:
        left, right = parts
        return lambda row: None if (a := left(row)) is None or (b := right(row)) is None else combine(a, b)
    return lambda row: None if None in (values := [part(row) for part in parts]) else combine(*values)


def _is_strict(node: Expr) -> bool:
    """Whether the node consists of parts, and is unknown as soon as one of them is, but not otherwise."""
    return not isinstance(node, ex.Literal | ex.Column | ex.And | ex.Or | ex.Count | ex.Known | ex.Relation)


def _lenient(node: Expr, parts: list[Function], relations: Mapping[str, Mapping[tuple[Value, ...], Value]]) -> Function:
    """The nodes that can be known although a part is unknown, and relations."""
    if isinstance(node, ex.Known):
        return lambda row: parts[0](row) is not None
    if isinstance(node, ex.Count):
        return lambda row: sum(part(row) is True for part in parts)
    if isinstance(node, ex.Relation):
        facts, absent = relations[node.relation], False if node.type.kind == "bool" else None
        return lambda row: None if None in (key := tuple(part(row) for part in parts)) else facts.get(key, absent)
    decisive = isinstance(node, ex.Or)

    def connected(row: Any) -> Value:
        unknown = False
        for part in parts:
            value = part(row)
            if value is decisive:
                return decisive
            unknown = unknown or value is None
        return None if unknown else not decisive

    return connected


def _strict(node: Expr) -> Callable[..., Value]:
    """What the node makes of the known values of its parts."""
    match node:
        case ex.Sum(terms=terms):
            return operator.add if len(terms) == 2 else lambda *values: sum(values)
        case ex.Scaled(factor=factor):
            return lambda term: factor * term
        case ex.Product():
            return operator.mul
        case ex.Quotient(up=up):
            return lambda top, bottom: _quotient(top, bottom, up)
        case ex.Extreme(largest=largest):
            return max if largest else min
        case ex.Absolute():
            return lambda value: abs(value)  # noqa: PLW0108
        case ex.DaysBetween():
            return lambda start, end: end - start
        case ex.Weekday():
            return lambda day: WEEKDAYS[weekday_index(day)]
        case ex.Day():
            return day_of_month
        case ex.Member(values=values):
            return frozenset(values).__contains__
        case ex.Compare(op=op):
            return _COMPARE[op]
        case _:  # Not
            return operator.not_


def _quotient(top: int, bottom: int, up: bool) -> int:
    if bottom == 0:
        raise TableError("a quotient has the denominator 0")
    return -(-top // bottom) if up else top // bottom


class Data:
    """The tables and relations of one problem, rows numbered from 0 in the order of the key. Columns decode on demand.

    `digests` and `relation_digests` hold the digest of every table that the problem reaches and relation that it uses.
    """

    def __init__(self, tables: Mapping[str, Table], files: Mapping[str, _File], relations: Mapping[str, _File]) -> None:
        self.digests = {tables[name].base: file.digest for name, file in files.items()}
        self.relation_digests = {name: file.digest for name, file in relations.items()}
        self.facts: dict[str, Mapping[tuple[Value, ...], Value]] = {}
        self.plans: Plans | None = None  # of the problem whose plans were evaluated last
        self._tables, self._files = tables, files
        self._columns: dict[tuple[str, str], Function] = {}
        self._offered: dict[str, Sequence[int]] = {}
        self._offers: dict[str, Mapping[tuple[Value, ...], int]] = {}
        self._keys: dict[str, dict[Value, int]] = {}

    def rows(self, table: str) -> range:
        """The numbers of all rows, offers or not."""
        return range(self._files[table].rows)

    def by_key(self, table: str) -> Mapping[Value, int]:
        """The row with a key, for a table whose key is one column."""
        if table not in self._keys:
            values = self._files[table].values(self._tables[table].key[0])
            self._keys[table] = dict(zip(values, self.rows(table), strict=True))
        return self._keys[table]

    def bases(self, table: str, node: Expr) -> frozenset[str]:
        """The stored columns on which the value of an expression over one row depends."""
        columns = [part.column for part in walk(node) if isinstance(part, ex.Column)]
        return frozenset[str]().union(*(self.bases_of(table, column) for column in columns))

    def bases_of(self, table: str, column: str) -> frozenset[str]:
        """The stored columns on which a visible column depends."""
        field = self._tables[table].fields[column]
        if isinstance(field, Derived):
            return self.bases(table, field.expr)
        return frozenset({field.via if isinstance(field, Referenced) else column})

    def column(self, table: str, column: str) -> Function:
        """The value of a visible column by row number."""
        place = (table, column)
        if place not in self._columns:
            field = self._tables[table].fields[column]
            if isinstance(field, Stored):
                self._columns[place] = self._files[table].values(column).__getitem__
            elif isinstance(field, Derived):
                self._columns[place] = self.function(table, field.expr)
            else:
                keys, rows = self._files[table].values(field.via), self.by_key(field.table)
                there = self.column(field.table, field.column)
                self._columns[place] = _remembered(lambda row: there(rows[keys[row]]), keys)
        return self._columns[place]

    def function(self, table: str, node: Expr) -> Function:
        """The value of an expression over one row by row number; computed once per value where it reads one column."""
        if isinstance(node, ex.Column):
            return self.column(table, node.column)
        result = compiled(node, lambda part: self.column(table, part.column), self.facts)
        bases = self.bases(table, node)
        return _remembered(result, self._files[table].values(min(bases))) if len(bases) == 1 else result

    def values(self, table: str, node: Expr, rows: Sequence[int]) -> Sequence[Value]:
        """The value of an expression over one row in each of `rows`.

        It is computed once for all rows that are alike in the one stored column on which it depends. Where few are, or
        it depends on several, whole columns of its parts are combined by Python's own loops, which are several times
        quicker than a call for each row.
        """
        if isinstance(node, ex.Column):
            field = self._tables[table].fields[node.column]
            if isinstance(field, Stored):
                return self._stored(table, node.column, rows)
            if isinstance(field, Derived):
                return self.values(table, field.expr, rows)
        bases = self.bases(table, node)
        whole = bases and _is_strict(node)
        if not (whole and len(bases) > 1):
            columns = [self._stored(table, name, rows) for name in bases]
            keys = columns[0] if len(columns) == 1 else list(zip(*columns, strict=True)) if columns else [0] * len(rows)
            some = dict(zip(keys, rows, strict=True))
            if not whole or 4 * len(some) < len(rows):
                function = self.function(table, node)
                found = {key: function(row) for key, row in some.items()}
                return list(map(found.__getitem__, keys))
        combine, parts = _strict(node), [self.values(table, part, rows) for part in ex.children(node)]
        if any(None in set(part) for part in parts):
            return [None if None in values else combine(*values) for values in zip(*parts, strict=True)]
        return list(map(combine, *parts))

    def satisfying(self, table: str, condition: Expr, rows: Sequence[int]) -> list[int]:
        """Those of the rows in which a condition over one row is known and true."""
        return list(compress(rows, self.values(table, condition, rows)))  # unknown is None, and false like False

    def _stored(self, table: str, column: str, rows: Sequence[int]) -> Sequence[Value]:
        values = self._files[table].values(column)
        return values if rows == self.rows(table) else [values[row] for row in rows]

    def _visible(self, table: str, column: str, rows: Sequence[int]) -> Sequence[Value]:
        return self.values(table, ex.Column("", column, self._tables[table].fields[column].type, Span(0, 0)), rows)

    def _id_columns(self, table: str, rows: Sequence[int]) -> list[Sequence[Value]]:
        """The values of rows in the columns that their ids are made of."""
        return [self._visible(table, name, rows) for name in self.template(table).columns]

    def _id_tells_key(self, table: str) -> bool:
        """Whether the key of any row follows from its id, so that no two rows, whose keys differ, can share an id.

        So it is when each column of the key stands in the id, or decides alone a part of it that has another value for
        each of its own. Where this does not hold ids may differ all the same.
        """
        names = self.template(table).columns
        return all(
            column in names or any(self._mirrors(table, column, name) for name in names)
            for column in self._tables[table].key
        )

    def _mirrors(self, table: str, column: str, other: str) -> bool:
        """Whether a stored column decides another one alone, which has another value for each of its own."""
        if self.bases_of(table, other) != frozenset({column}):
            return False
        some = list(dict(zip(self._files[table].values(column), self.rows(table), strict=True)).values())
        return len(set(self._visible(table, other, some))) == len(some)

    def _required(self, table: str) -> tuple[Expr, ...]:
        """What makes a row of the table an offer."""
        require = self._tables[table].require
        return () if require is None else tuple(split_and(require))

    def template(self, table: str) -> IdTemplate:
        """How offer ids of the table are made; TableError for a table that has none."""
        found = self._tables[table].id
        if found is None:
            raise TableError(f"the table '{table}' has no offer ids")
        return found

    def offered(self, table: str) -> Sequence[int]:
        """The rows that satisfy the table's `require`.

        Raises TableError when two of them have one id, or a text cannot stand in an id.
        """
        if table not in self._offered:
            fields, names = self._tables[table].fields, self.template(table).columns
            rows: Sequence[int] = self.rows(table)
            for atom in self._required(table):
                rows = self.satisfying(table, atom, rows)
            for name in names:
                if fields[name].type.kind == "string":
                    texts = (str(text) for text in set(self._visible(table, name, rows)) if text is not None)
                    if wrong := [text for text in texts if not is_id_text(text)]:
                        raise TableError(f"'{min(wrong)}' in '{name}' of '{table}' cannot stand in an id")
            if not self._id_tells_key(table) and len(set(zip(*self._id_columns(table, rows), strict=True))) < len(rows):
                (double, _), *_ = Counter(self.ids(table, rows)).most_common(1)
                raise TableError(f"two offers of '{table}' have the id '{double}'")
            self._offered[table] = rows
        return self._offered[table]

    def offers(self, table: str) -> Mapping[tuple[Value, ...], int]:
        """The rows that `offered` gives, by the values of the columns that their ids are made of. Raises as it does."""
        if table not in self._offers:
            rows = self.offered(table)
            self._offers[table] = dict(zip(zip(*self._id_columns(table, rows), strict=True), rows, strict=True))
        return self._offers[table]

    def id(self, table: str, row: int) -> str:
        """The offer id of a row."""
        return self.ids(table, [row])[0]

    def ids(self, table: str, rows: Sequence[int]) -> list[str]:
        """The offer ids of rows."""
        fields, texts = self._tables[table].fields, list[list[str]]()
        for part, values in zip(self.template(table).parts, self._id_columns(table, rows), strict=True):
            kind = fields[part.column].type
            shown = {value: part.text(id_text(value, kind)) for value in set(values)}
            texts.append([shown[value] for value in values])
        return list(map("".join, zip(*texts, strict=True)))

    def find(self, table: str, offer: str) -> int | None:
        """The row of the offer with an id; None when there is none. Raises TableError when two offers have it."""
        values, first, names = self.parse(table, offer), self._tables[table].key[0], self.template(table).columns
        if values is None or table in self._offers or first not in names:
            return None if values is None else self.offers(table).get(values)
        wanted = dict(zip(names, values, strict=True))
        keys: Any = self._files[table].values(first)  # in ascending order, without nulls
        sought: Any = wanted[first]
        if sought is None or isinstance(sought, str) != (self._tables[table].fields[first].type.kind == "string"):
            return None
        rows: Sequence[int] = range(bisect_left(keys, sought), bisect_right(keys, sought))
        for name, value in wanted.items():
            look = self.column(table, name)
            rows = [row for row in rows if look(row) == value]
        for atom in self._required(table):
            holds = self.function(table, atom)
            rows = [row for row in rows if holds(row) is True]
        if len(rows) > 1:
            raise TableError(f"two offers of '{table}' have the id '{offer}'")
        return rows[0] if rows else None

    def parse(self, table: str, offer: str) -> tuple[Value, ...] | None:
        """The values in an id, in the order of its columns; None when it does not have the form of the template.

        A text that is not the one spelling of a number or date (`007`) stays a text, which no row has.
        """
        texts = self.template(table).parse(offer)
        if texts is None:
            return None
        return tuple(_value(text, self._tables[table].fields[name].type) for name, text in texts.items())


def _value(text: str | None, kind: Type) -> Value:
    """The value whose text in an id is `text`, or else the text itself."""
    if text is None or kind.kind == "string":
        return text
    found = parse_date(text) if kind.kind == "date" else int(text) if re.fullmatch(r"-?[0-9]+", text) else None
    return found if id_text(found, kind) == text else text


def _remembered(function: Function, keys: Sequence[Value]) -> Function:
    """The same function of row numbers, where the value depends on nothing but the row's entry in `keys`."""
    memory: dict[Value, Value] = {}

    def look(row: int) -> Value:
        key = keys[row]
        try:
            return memory[key]
        except KeyError:
            value = memory[key] = function(row)
            return value

    return look


def open_data(folder: Path, problem: Problem) -> Data:
    """The tables and relations that a problem needs, read from `folder`.

    Raises TableError, with the file, for one that is missing or damaged, wrong types, nulls and categories that the
    manifest does not allow, repeated keys, and references that lead nowhere.
    """
    world = problem.world
    bases = {name: world.tables[name] for name in problem.tables()}
    read = {name: _read(folder / table.file, table.stored, table.key) for name, table in bases.items()}
    tables = {name: world.tables[name] for name in {*bases, *problem.choices.values()}}
    files = {name: read[table.base] for name, table in tables.items()}
    relations = {name: world.relations[name] for name in problem.relations()}
    lists = {name: _read(folder / found.file, found.columns, found.args) for name, found in relations.items()}
    data = Data(tables, files, lists)
    for name, found in relations.items():
        keys = zip(*(lists[name].values(arg) for arg in found.args), strict=True)
        results = lists[name].values(found.value) if found.value else [True] * lists[name].rows
        data.facts[name] = dict(zip(keys, results, strict=True))
    for name, table in bases.items():
        for column, target in table.references.items():
            lost = set(files[name].values(column)) - data.by_key(target).keys()
            if lost:
                shown = format_value(min(lost, key=lambda value: (str(type(value)), value)), table.fields[column].type)
                where = Where(str(folder / table.file))
                raise TableError(f"'{column}' refers to {shown}, which is no key of '{target}'", where=where)
    return data


# ---------------------------------------------------------------------------------------------------- 3. plans


@dataclass(frozen=True, slots=True)
class Evaluation:
    """What a plan is worth: the value of the objective where every pick is an offer and the value is known, and what
    is wrong. `unknown` has a sentence for every pick that is no offer, or picks that are not one for each choice.
    """

    value: int | None
    violations: tuple[Violation, ...]
    unknown: tuple[str, ...]

    @property
    def feasible(self) -> bool:
        """Whether the plan satisfies everything."""
        return not self.violations and not self.unknown


def evaluate(problem: Problem, data: Data, plan: Plan) -> Evaluation:
    """The plan's value and violations; TableError when a feasible plan has no value, or on division by zero.

    Numbers and routes come first, as violations of `choice.clause`; each clause is judged on its own, with the times
    that the plan states. What a plan says twice counts once in aggregates. Takes time linear in the picks for each
    constraint; the expressions of a problem are compiled once.
    """
    return plans_of(problem, data).evaluate(plan)


def plans_of(problem: Problem, data: Data) -> Plans:
    """The problem's expressions over plans, compiled once as long as no other problem comes between."""
    if data.plans is None or data.plans.problem is not problem:
        data.plans = Plans(problem, data)
    return data.plans


State = dict[Any, Any]  # by choice its row, or its rows; by choice and quantity of a route its value


@dataclass(frozen=True, slots=True)
class Read:
    """What a plan picks, without the choices that something is `unknown` about, and what is wrong with it as such."""

    state: State
    violations: list[Violation]
    unknown: list[str]


class Plans:
    """One problem's constraints and objective as functions of what is picked."""

    def __init__(self, problem: Problem, data: Data) -> None:
        self.problem, self.data = problem, data
        self.judges = {name: self._judge(name) for name in problem.sets}
        self._functions: dict[int, Function] = {}  # by the identity of nodes of the problem, which lives as long
        self._constraints = [(item, list(split_and(item.condition))) for item in problem.constraints]

    def _judge(self, choice: str) -> Judge:
        data, table = self.data, self.problem.choices[choice]

        @cache
        def groups(column: str) -> Sequence[int | str]:
            look, judge = data.column(table, column), self.judges[choice]
            values = {look(row) for row in data.offered(table) if not judge.unfit(row)}
            return [value for value in values if value is not None]

        return Judge(choice, self.problem.sets[choice], lambda node: data.function(table, node), groups, data.facts)

    def function(self, node: Expr) -> Function:
        """An expression of the problem as a function of a state."""
        if id(node) not in self._functions:
            self._functions[id(node)] = compiled(node, self.leaf, self.data.facts)
        return self._functions[id(node)]

    def leaf(self, part: ex.Column | ex.Each | ex.Tour) -> Function:
        """What an expression reads of a plan, as a function of a state."""
        choice, data = part.choice, self.data
        table = self.problem.choices[choice]
        if isinstance(part, ex.Tour):
            return operator.itemgetter((choice, part.quantity))
        if isinstance(part, ex.Column):
            look = data.column(table, part.column)
            return lambda state: look(state[choice])
        function = part.function
        if choices_of(part) == frozenset({choice}) and not any(isinstance(node, ex.Tour) for node in walk(part)):
            counts, body = data.function(table, part.condition), data.function(table, part.body)
            return lambda state: aggregate(function, [body(row) for row in state[choice] if counts(row) is True])
        counts, body = self.function(part.condition), self.function(part.body)

        def mixed(state: State) -> Value:
            each = [
                {**state, choice: row} for row in state[choice]
            ]  # inside, the name of the choice is the row at hand
            return aggregate(function, [body(one) for one in each if counts(one) is True])

        return mixed

    def read(self, plan: Plan) -> Read:
        """What the plan picks."""
        state, violations = State(), list[Violation]()
        unknown = [f"'{name}' is no choice of this task" for name in plan.picks if name not in self.problem.choices]
        for choice in self.problem.choices:
            picks, judge = plan.picks.get(choice, ()), self.judges.get(choice)
            faults, rows = self._wrong_picks(choice, picks, judge), list[int]()
            for pick in () if faults else picks:
                row = self._find(choice, pick.id)
                if isinstance(row, str):
                    faults.append(f"{choice}: '{pick.id}' is {row}")
                else:
                    rows.append(row)
            unknown += dict.fromkeys(faults)
            if faults:
                continue
            if judge is None:
                state[choice] = rows[0]
                continue
            judged = judge.judge(picks, rows)
            state[choice] = list(dict.fromkeys(rows))
            state.update({(choice, name): value for name, value in judged.tour.items()})
            violations += judged.violations
        return Read(state, violations, unknown)

    def evaluate(self, plan: Plan) -> Evaluation:
        """The plan's value and violations."""
        found = self.read(plan)
        if found.unknown:
            return Evaluation(None, (), tuple(found.unknown))
        return self._evaluated(found.state, found.violations)

    def _wrong_picks(self, choice: str, picks: Sequence[Pick], judge: Judge | None) -> list[str]:
        """What is wrong with the picks of a choice before they are looked up."""
        if judge is None and len(picks) != 1:
            return [f"{choice}: {len(picks) or 'no'} offers are picked, one is needed"]
        if judge is not None and judge.course is not None:
            return []
        timed = [(pick.id, "a start time" if pick.start is not None else "an end time") for pick in picks
                 if pick.start is not None or pick.end is not None]  # fmt: skip
        return [f"{choice}: '{name}' has {what}, which this task does not ask for" for name, what in timed]

    def _find(self, choice: str, offer: str) -> int | str:
        """The row of an offer; or in words why it is none."""
        data, table = self.data, self.problem.choices[choice]
        judge, facts = self.judges.get(choice), self.problem.world.tables[table]
        row = data.find(table, offer)
        if row is None:
            return f"no offer of '{facts.base}': {_why_no_offer(data, facts, data.parse(table, offer))}"
        reason = "" if judge is None else judge.unfit(row)
        return f"no offer of '{facts.base}' for a plan: {reason}" if reason else row

    def _evaluated(self, state: State, violations: list[Violation]) -> Evaluation:
        """The evaluation of what is picked, with what is wrong with it as such."""

        def value(node: Expr) -> Value:
            return self.function(node)(state)

        for constraint, atoms in self._constraints:
            failing = [atom for atom in atoms if value(atom) is not True]
            if failing:
                detail = "; ".join(_explained(atom, constraint.text, value) for atom in failing)
                amount = _missed_by(failing[0], value) if len(failing) == 1 else None
                kind = next(ex.children(failing[0])).type if amount is not None else Type("number")
                missed = None if amount is None else wide(amount)
                violations.append(
                    Violation(
                        constraint=constraint.name, detail=detail, amount=missed, unit=kind.unit, scale=kind.scale
                    )
                )
        result = value(self.problem.objective.expr)
        if result is None and not violations:
            raise TableError("the objective of a feasible plan is unknown")
        return Evaluation(None if result is None else int(result), tuple(violations), ())


def _missed_by(atom: Expr, value: Callable[[Expr], Value]) -> int | None:
    """The least change of a threshold that makes a failing comparison of numbers true; None for anything else."""
    if not isinstance(atom, ex.Compare) or atom.left.type.kind != "number" or atom.op == "!=":
        return None
    left, right = value(atom.left), value(atom.right)
    if left is None or right is None:
        return None
    over = int(left) - int(right)
    return {"<=": over, "<": over + 1, ">=": -over, ">": -over + 1}.get(atom.op, abs(over))


def _explained(atom: Expr, text: ExpressionText, value: Callable[[Expr], Value]) -> str:
    """A failing conjunct in words, with the values it failed on."""
    amount = _missed_by(atom, value)
    if amount is not None and isinstance(atom, ex.Compare):
        sides = [side for side in (atom.left, atom.right) if not isinstance(side, ex.Literal)]
        shown = " and ".join(f"{_quoted(side, text)} is {format_value(value(side), side.type)}" for side in sides)
        above = atom.op.startswith("<") != isinstance(atom.left, ex.Literal)
        word = "off" if atom.op == "==" else "over" if above else "under"
        return f"{shown}, {word} by {format_value(amount, atom.left.type)}"
    weekdays = {structure(part.arg) for part in walk(atom) if isinstance(part, ex.Weekday)}
    facts: dict[str, str] = {}
    for part in walk_plan(atom):
        if isinstance(part, ex.Column | ex.Tour) or (isinstance(part, ex.Each) and part is not atom):
            found = value(part)
            facts[_quoted(part, text)] = format_value(found, part.type)
            if structure(part) in weekdays and found is not None:
                facts[_quoted(part, text)] += f" ({WEEKDAYS[weekday_index(int(found))]})"
    outcome = "is unknown" if value(atom) is None else "fails"
    listed = ", ".join(f"{name} is {shown}" for name, shown in facts.items())
    return f"{_quoted(atom, text)} {outcome}" + (f": {listed}" if listed else "")


def walk_plan(node: Expr) -> Iterator[Expr]:
    """The node and what is below it, but not what is about each row of a set."""
    yield node
    for part in () if isinstance(node, ex.Each) else ex.children(node):
        yield from walk_plan(part)


def _quoted(node: Expr, text: ExpressionText) -> str:
    """The node as it was written; a link of a chain is put together from its sides."""
    if isinstance(node, ex.Compare):
        return f"{_quoted(node.left, text)} {node.op} {_quoted(node.right, text)}"
    return text.text[node.span.start : node.span.end]


def _why_no_offer(data: Data, table: Table, values: tuple[Value, ...] | None) -> str:
    """Why no offer has an id with these values: the part of it that fits no row, or the `require` that a row fails."""
    name, template = table.name, data.template(table.name)
    if values is None:
        shown = [(f"{part.before}{{{part.column}}}", part.optional) for part in template.parts]
        return "its ids have the form " + "".join(f"[{text}]" if optional else text for text, optional in shown)
    wanted = dict(zip(template.columns, values, strict=True))
    fitting: Sequence[int] = data.rows(name)
    all_but: dict[str, Sequence[int]] = {}  # the rows that have every value but that of this part
    for part, asked in wanted.items():
        look = data.column(name, part)
        all_but = {other: [row for row in rows if look(row) == asked] for other, rows in all_but.items()}
        all_but[part] = [row for row in fitting if look(row) != asked]
        fitting = [row for row in fitting if look(row) == asked]
    if fitting and table.require is not None and table.require_text is not None:
        row, text = fitting[0], table.require_text
        atoms = [atom for atom in split_and(table.require) if data.function(name, atom)(row) is not True]
        return "; ".join(_explained(atom, text, lambda node: data.function(name, node)(row)) for atom in atoms)
    said = {part: id_text(asked, table.fields[part].type) or "nothing" for part, asked in wanted.items()}
    for part, rows in all_but.items():
        others = set(wanted) - {part}
        if rows and (data.bases_of(name, part) <= others or set(table.key) <= others):  # the others leave no choice
            field = table.fields[part]
            right = id_text(data.column(name, part)(rows[0]), field.type) or "nothing"
            formula = f" ({field.text.text})" if isinstance(field, Derived) else ""
            return f"for this offer {part} is {right}{formula}, the id says {said[part]}"
    for part, asked in wanted.items():
        look = data.column(name, part)
        if not any(look(row) == asked for row in data.rows(name)):
            return f"no offer has {part} {said[part]}"
    alone = next((part for part, rows in all_but.items() if rows), None)
    return f"no offer has {alone} {said[alone]} with the other parts" if alone else "no offer has these parts together"
