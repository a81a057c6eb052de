"""The independent checker: recomputes what a certificate claims from the task and the Parquet files alone.

It shares no code with lowering and engines: it reads the files through Arrow, turns expressions into Python closures,
and computes with Python integers, which cannot wrap. Read it in this order:

1. files        `open_data`: columns, keys, references and digests (docs/formats.md)
2. expressions  `compiled`: three-valued closures; `Data` applies them to the rows of tables
3. plans        `evaluate`: a plan's value, or what is wrong with it in words
4. the whole    `recompute`: rows of one choice are filtered, rows that look alike to the rest of the task are counted
                together, and choices are joined one after the other
5. claims       `replay`, `grades`, `wrong_grades`
"""

from __future__ import annotations

import hashlib
import operator
import re
from collections.abc import Callable, Collection, Iterable, Iterator, Mapping, Sequence
from dataclasses import dataclass, fields, replace
from itertools import pairwise
from pathlib import Path
from typing import Any, Literal

import pyarrow as pa
from pyarrow import compute
from pyarrow.parquet import ParquetFile

from ..schemas import expression as ex
from ..schemas.canonical import narrow, wide
from ..schemas.certificate import (
    Certificate,
    Claims,
    Evidence,
    Grade,
    IncumbentClaim,
    OptimumClaim,
    distribution_pairs,
)
from ..schemas.errors import InputError, InputErrors, TableError, Where
from ..schemas.expression import Expr, choices_of, split_and, walk
from ..schemas.offer_id import IdTemplate, id_text, is_id_text
from ..schemas.plan import Plan
from ..schemas.problem import Problem, structure
from ..schemas.syntax import ExpressionText
from ..schemas.units import WEEKDAYS, Type, day_of_month, format_value, parse_date, weekday_index
from ..schemas.verdict import Violation
from ..schemas.world import Derived, Referenced, Stored, Table

WORK_LIMIT = 20_000_000

pc: Any = compute  # Arrow makes these functions at run time, so type checkers do not see them

Value = int | str | None  # truth values are True, False and None; what a type calls nullable may be None
Function = Callable[[Any], Value]  # of a row number, or of a tuple of values

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
        with ParquetFile(path) as file:
            for name in types:
                if (times := file.schema_arrow.names.count(name)) != 1:
                    raise TableError(f"there are {times} columns '{name}', one is needed", where=where)
            table = file.read(columns=list(types))
        arrays = {name: _plain(table.column(name)) for name in types}
    except FileNotFoundError:
        raise TableError("the file is missing", where=where) from None
    except (OSError, ValueError, pa.ArrowException) as fault:
        raise TableError(f"not a readable Parquet file: {fault}", where=where) from None
    for name, kind in types.items():
        _check_column(name, arrays[name], kind, where)
    if _first_out_of_order(arrays, key) >= 0:
        order = pc.sort_indices(pa.table({name: arrays[name] for name in key}), [(name, "ascending") for name in key])
        arrays = {name: array.take(order) for name, array in arrays.items()}
    same = _first_out_of_order(arrays, key)
    if same >= 0:
        shown = ", ".join(f"{name} {format_value(_decoded(arrays[name])[same], types[name])}" for name in key)
        raise TableError(f"two rows have the same key: {shown}", where=where)
    rows = len(next(iter(arrays.values())))
    return _File(rows, arrays, _digest(rows, arrays, types), {})


def _plain(column: Any) -> Any:
    """The column as one array, dictionaries decoded and strings with 64-bit offsets."""
    kind = column.type
    if pa.types.is_dictionary(kind):
        kind = kind.value_type
        column = column.cast(kind)
    if pa.types.is_string(kind) or pa.types.is_string_view(kind):
        column = column.cast(pa.large_string())
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
        foreign = [text for text in array.unique().to_pylist() if text is not None and text not in kind.values]
        if foreign:
            raise TableError(f"the column '{name}' holds '{min(foreign)}', which is none of its values", where=where)
    if kind.kind == "date":
        bounds = pc.min_max(array.cast(pa.int32())).as_py()
        if bounds["min"] is not None and not _FIRST_DAY <= bounds["min"] <= bounds["max"] <= _LAST_DAY:
            raise TableError(f"the column '{name}' holds a date outside the years 1 to 9999", where=where)


def _first_out_of_order(arrays: Mapping[str, Any], key: Sequence[str]) -> int:
    """The first row whose key is not less than the next row's, or -1. Arrow compares strings by their UTF-8 bytes."""
    ascending: Any = None
    for name in reversed(key):
        earlier, later = arrays[name].slice(0, max(len(arrays[name]) - 1, 0)), arrays[name].slice(1)
        less = pc.less(earlier, later)
        ascending = less if ascending is None else pc.or_(less, pc.and_(pc.equal(earlier, later), ascending))
    return pc.index(ascending, pa.scalar(False)).as_py()


def _digest(rows: int, arrays: Mapping[str, Any], types: Mapping[str, Type]) -> str:
    """`sha256:` and the digest of the logical content in docs/formats.md, the rows being in order of their key."""
    stream = hashlib.sha256(_HEADER + rows.to_bytes(8, "little"))
    for name in sorted(arrays):  # names are ASCII
        array, kind = arrays[name], types[name].kind
        stream.update(len(name).to_bytes(8, "little") + name.encode() + _LETTERS[kind])
        stream.update(b"\1" if array.null_count else b"\0")
        if array.null_count:
            stream.update(_raw(array.is_null().cast(pa.uint8()), 1))
        if kind == "string":
            texts = array.fill_null("")
            stream.update(_raw(pc.binary_length(texts), 8))
            stream.update(_text_bytes(texts))
        else:
            width, stored = {"bool": (1, pa.uint8()), "date": (4, pa.int32())}.get(kind, (8, pa.int64()))
            stream.update(_raw(array.cast(stored).fill_null(0), width))
    return "sha256:" + stream.hexdigest()


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
    if pa.types.is_large_string(array.type):
        coded = array.dictionary_encode()
        texts = [*coded.dictionary.to_pylist(), None]
        return [texts[code] for code in _raw(coded.indices.fill_null(-1), 4).cast("i")]
    values: Sequence[Value]
    if pa.types.is_boolean(array.type):
        values = [byte == 1 for byte in _raw(array.cast(pa.uint8()).fill_null(0), 1)]
    elif pa.types.is_date(array.type):
        values = _raw(array.cast(pa.int32()).fill_null(0), 4).cast("i")
    else:
        values = _raw(array.fill_null(0), 8).cast("q")
    if array.null_count:
        nulls = _raw(array.is_null().cast(pa.uint8()), 1)
        return [None if null else value for value, null in zip(values, nulls, strict=True)]
    return values


# ---------------------------------------------------------------------------------------------- 2. expressions

_COMPARE: dict[str, Callable[[Any, Any], bool]] = {
    "<": operator.lt, "<=": operator.le, "==": operator.eq, "!=": operator.ne, ">": operator.gt, ">=": operator.ge
}  # fmt: skip


def compiled(
    node: Expr, column: Callable[[ex.Column], Function], relations: Mapping[str, Mapping[tuple[Value, ...], Value]]
) -> Function:
    """A function from whatever the functions of `column` take to the value of the expression, None for unknown.

    It raises TableError for a quotient whose denominator is zero. `and` and `or` stop at the first part that decides.
    """
    if isinstance(node, ex.Literal):
        constant = node.value
        return lambda _: constant
    if isinstance(node, ex.Column):
        return column(node)
    if isinstance(node, ex.And | ex.Or | ex.Count | ex.Known | ex.Relation):
        return _lenient(node, [compiled(part, column, relations) for part in ex.children(node)], relations)
    # All other nodes are unknown as soon as one part is.
    parts = [compiled(part, column, relations) for part in ex.children(node)]
    combine = _strict(node)
    if len(parts) == 1:
        (only,) = parts
        return lambda row: None if (value := only(row)) is None else combine(value)
    if len(parts) == 2:
        left, right = parts
        return lambda row: None if (a := left(row)) is None or (b := right(row)) is None else combine(a, b)
    return lambda row: None if None in (values := [part(row) for part in parts]) else combine(*values)


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
        self.digests = {name: file.digest for name, file in files.items()}
        self.relation_digests = {name: file.digest for name, file in relations.items()}
        self.facts: dict[str, Mapping[tuple[Value, ...], Value]] = {}
        self._tables, self._files = tables, files
        self._columns: dict[tuple[str, str], Function] = {}
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

    def template(self, table: str) -> IdTemplate:
        """How offer ids of the table are made; TableError for a table that has none."""
        found = self._tables[table].id
        if found is None:
            raise TableError(f"the table '{table}' has no offer ids")
        return found

    def offers(self, table: str) -> Mapping[tuple[Value, ...], int]:
        """The rows that satisfy the table's `require`, by the values of the columns that their ids are made of.

        Raises TableError when two of them have one id, or a text cannot stand in an id.
        """
        if table not in self._offers:
            facts, names = self._tables[table], self.template(table).columns
            rows: Sequence[int] = self.rows(table)
            for atom in split_and(facts.require) if facts.require is not None else ():
                holds = self.function(table, atom)
                rows = [row for row in rows if holds(row) is True]
            looks = [self.column(table, name) for name in names]
            for name, look in zip(names, looks, strict=True):
                if facts.fields[name].type.kind == "string":
                    texts = {str(text) for row in rows if (text := look(row)) is not None}
                    if wrong := [text for text in texts if not is_id_text(text)]:
                        raise TableError(f"'{min(wrong)}' in '{name}' of '{table}' cannot stand in an id")
            keys = list(zip(*(map(look, rows) for look in looks), strict=True))
            found = dict(zip(keys, rows, strict=True))
            if len(found) < len(keys):  # a later row took the place of an earlier one
                double = next(row for row, key in zip(rows, keys, strict=True) if found[key] != row)
                raise TableError(f"two offers of '{table}' have the id '{self.id(table, double)}'")
            self._offers[table] = found
        return self._offers[table]

    def id(self, table: str, row: int) -> str:
        """The offer id of a row."""
        template, parts = self.template(table), self._tables[table].fields
        return template.format([id_text(self.column(table, name)(row), parts[name].type) for name in template.columns])

    def find(self, table: str, offer: str) -> int | None:
        """The row of the offer with an id; None when there is none."""
        values = self.parse(table, offer)
        return None if values is None else self.offers(table).get(values)

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
    tables = {name: world.tables[name] for name in problem.tables()}
    files = {name: _read(folder / table.file, table.stored, table.key) for name, table in tables.items()}
    relations = {name: world.relations[name] for name in problem.relations()}
    lists = {name: _read(folder / found.file, found.columns, found.args) for name, found in relations.items()}
    data = Data(tables, files, lists)
    for name, found in relations.items():
        keys = zip(*(lists[name].values(arg) for arg in found.args), strict=True)
        results = lists[name].values(found.value) if found.value else [True] * lists[name].rows
        data.facts[name] = dict(zip(keys, results, strict=True))
    for name, table in tables.items():
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
    """The plan's value and violations; TableError when a feasible plan has no value, or on division by zero."""
    rows: dict[str, int] = {}
    unknown = [f"'{name}' is no choice of this task" for name in plan.picks if name not in problem.choices]
    for choice, table in problem.choices.items():
        picks = plan.picks.get(choice, ())
        if len(picks) != 1:
            unknown.append(f"{choice}: {len(picks) or 'no'} offers are picked, one is needed")
        elif picks[0].start is not None:
            unknown.append(f"{choice}: '{picks[0].id}' has a start time, which this task does not ask for")
        else:
            row = data.find(table, picks[0].id)
            if row is None:
                reason = _why_no_offer(data, problem.world.tables[table], data.parse(table, picks[0].id))
                unknown.append(f"{choice}: '{picks[0].id}' is no offer of '{table}': {reason}")
            else:
                rows[choice] = row
    if unknown:
        return Evaluation(None, (), tuple(unknown))

    def column(part: ex.Column) -> Function:
        look, row = data.column(problem.choices[part.choice], part.column), rows[part.choice]
        return lambda _: look(row)

    def value(node: Expr) -> Value:
        return compiled(node, column, data.facts)(None)

    violations: list[Violation] = []
    for constraint in problem.constraints:
        failing = [atom for atom in split_and(constraint.condition) if value(atom) is not True]
        if failing:
            detail = "; ".join(_explained(atom, constraint.text, value) for atom in failing)
            amount = _missed_by(failing[0], value) if len(failing) == 1 else None
            kind = next(ex.children(failing[0])).type if amount is not None else Type("number")
            missed = None if amount is None else wide(amount)
            violations.append(
                Violation(constraint=constraint.name, detail=detail, amount=missed, unit=kind.unit, scale=kind.scale)
            )
    result = value(problem.objective.expr)
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
    for part in walk(atom):
        if isinstance(part, ex.Column):
            found = value(part)
            facts[_quoted(part, text)] = format_value(found, part.type)
            if structure(part) in weekdays and found is not None:
                facts[_quoted(part, text)] += f" ({WEEKDAYS[weekday_index(int(found))]})"
    outcome = "is unknown" if value(atom) is None else "fails"
    listed = ", ".join(f"{name} is {shown}" for name, shown in facts.items())
    return f"{_quoted(atom, text)} {outcome}" + (f": {listed}" if listed else "")


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


# ------------------------------------------------------------------------------------------------ 4. the whole


@dataclass(frozen=True, slots=True)
class Feasible:
    """All feasible plans: for each objective value, best first, their number; and the canonical best plan."""

    values: tuple[tuple[int, int], ...]
    plan: Plan | None

    @property
    def count(self) -> int:
        """The number of feasible plans."""
        return sum(number for _, number in self.values)


class _WorkLimitError(Exception):
    """More combinations had to be tried than allowed."""


class _Work:
    """Counts combinations down."""

    def __init__(self, limit: int) -> None:
        self.left = limit

    def take(self, steps: int) -> None:
        self.left -= steps
        if self.left < 0:
            raise _WorkLimitError


_Slots = dict[Any, tuple[int, Expr]]  # by the structure of an expression: where its value stands in a state, and itself
_States = dict[tuple[Value, ...], tuple[int, tuple[str, ...]]]  # number of partial plans, and the least ids among them


@dataclass(frozen=True, slots=True)
class _Block:
    """The partial plans over some choices. Those that give equal values to all that the rest of the task reads of them
    (`slots`) are one state. Ids are compared as text, which Python orders by code points, the order of UTF-8 bytes.
    """

    choices: frozenset[str]
    slots: _Slots
    states: _States


def recompute(
    problem: Problem, data: Data, within: Mapping[str, Collection[str]] | None = None, work_limit: int = WORK_LIMIT
) -> Feasible | None:
    """All feasible plans that pick offers `within` only; None when more than `work_limit` combinations had to be tried.

    Takes time linear in the rows of the tables, and in the number of combinations of states that joins leave. Raises
    TableError for two offers with one id, division by zero, and a feasible plan whose objective is unknown.
    """
    atoms = [atom for constraint in problem.constraints for atom in split_and(constraint.condition)]
    objective = problem.objective.expr
    if any(_constant(atom, data)(()) is not True for atom in atoms if not choices_of(atom)):
        return Feasible((), None)
    joint = [atom for atom in atoms if len(choices_of(atom)) > 1]
    blocks: dict[str, _Block] = {}
    for choice, table in problem.choices.items():
        rows: Iterable[int] = data.offers(table).values()
        if within is not None and choice in within:
            rows = [row for offer in dict.fromkeys(within[choice]) if (row := data.find(table, offer)) is not None]
        own = [atom for atom in atoms if choices_of(atom) == frozenset({choice})]
        for atom in sorted(own, key=lambda atom: len(data.bases(table, atom))):  # those of one column are looked up
            holds = data.function(table, atom)
            rows = [row for row in rows if holds(row) is True]
        slots = _slots([*joint, objective], frozenset({choice}))
        reads = [data.function(table, part) for _, part in slots.values()]
        states: _States = {}
        for row in rows:
            state, ids = tuple(read(row) for read in reads), (data.id(table, row),)
            number, least = states.get(state, (0, ids))
            states[state] = number + 1, min(ids, least)
        blocks[choice] = _Block(frozenset({choice}), slots, states)
    try:
        whole = _joined(blocks, joint, objective, data, _Work(work_limit))
    except _WorkLimitError:
        return None
    value = _constant(_lifted(objective, whole.choices, whole.slots, 0), data)
    found: dict[int, tuple[int, tuple[str, ...]]] = {}
    for state, (number, ids) in whole.states.items():
        result = value(state)
        if result is None:
            raise TableError("the objective of a feasible plan is unknown")
        found[int(result)] = (number, ids)  # the objective is all that the last states tell apart
    values = sorted(found, reverse=problem.objective.maximize)
    plan = Plan.of(dict(zip(problem.choices, found[values[0]][1], strict=True))) if values else None
    return Feasible(tuple((value, found[value][0]) for value in values), plan)


def _constant(node: Expr, data: Data) -> Function:
    """The value of an expression by state: its columns are places in it."""
    return compiled(node, lambda part: operator.itemgetter(int(part.column)), data.facts)


def _slots(expressions: Iterable[Expr], choices: frozenset[str]) -> _Slots:
    """What has to be known of the picks of `choices` to evaluate the expressions."""
    slots: _Slots = {}
    for expression in expressions:
        _lifted(expression, choices, slots, 0)
    return slots


def _lifted(node: Expr, choices: frozenset[str], slots: _Slots, offset: int) -> Expr:
    """The node with every largest part that reads only `choices` made a column: the place of its value in a state.

    The terms of a sum that read these choices are one part, their sum; likewise for `and`, `or`, `min`, `max` and
    `count`. So wishes that are met equally often, and prices with equal sums, become one state.
    """
    reads = choices_of(node)
    if reads and reads <= choices:
        place = slots.setdefault(structure(node), (len(slots), node))[0]
        return ex.Column("", str(offset + place), node.type, node.span)
    if not reads & choices:
        return node
    if isinstance(node, ex.Count) and len(node.args) > 1:
        node = ex.Sum(tuple(ex.Count((arg,), node.type, node.span) for arg in node.args), node.type, node.span)
    if isinstance(node, ex.Sum | ex.And | ex.Or | ex.Extreme):
        parts = list(ex.children(node))
        inside = tuple(part for part in parts if (own := choices_of(part)) and own <= choices)
        outside = tuple(part for part in parts if part not in inside)
        name = "terms" if isinstance(node, ex.Sum) else "args"
        if len(inside) > 1:
            return _lifted(replace(node, **{name: (replace(node, **{name: inside}), *outside)}), choices, slots, offset)
    changed: dict[str, Any] = {}
    for field in fields(node):
        value = getattr(node, field.name)
        if isinstance(value, Expr):
            changed[field.name] = _lifted(value, choices, slots, offset)
        elif isinstance(value, tuple):
            changed[field.name] = tuple(
                _lifted(item, choices, slots, offset) if isinstance(item, Expr) else item for item in value
            )
    return replace(node, **changed)


def _joined(blocks: Mapping[str, _Block], joint: list[Expr], objective: Expr, data: Data, work: _Work) -> _Block:
    """The block of all choices. Begins with the smallest, then takes one that an equality links, else the smallest."""
    order = list(blocks)
    left = min(blocks.values(), key=lambda block: len(block.states))
    while len(left.choices) < len(order):

        def rank(choice: str, left: _Block = left, joint: list[Expr] = joint) -> tuple[bool, bool, int]:
            linked = [atom for atom in joint if choice in choices_of(atom) <= left.choices | {choice}]
            equal = any(isinstance(atom, ex.Compare) and atom.op == "==" for atom in linked)
            return not equal, not linked, len(blocks[choice].states)

        choice = min((name for name in order if name not in left.choices), key=rank)
        choices = left.choices | {choice}
        due = [atom for atom in joint if choices_of(atom) <= choices]
        joint = [atom for atom in joint if not choices_of(atom) <= choices]
        place = sum(name in left.choices for name in order[: order.index(choice)])
        slots = _slots([*joint, objective], choices)
        left = _Block(choices, slots, _pairs(left, blocks[choice], due, slots, place, data, work))
    return left


def _pairs(left: _Block, right: _Block, due: list[Expr], slots: _Slots, place: int, data: Data, work: _Work) -> _States:
    """The states of both blocks together that satisfy what is `due`; the ids of `right` go to `place` in file order.

    Equalities between the sides are looked up. Conditions over few distinct values are tried once for each pair of
    values, all others for each pair of states.
    """
    width = len(left.slots)

    def lift(node: Expr) -> Expr:
        return _lifted(_lifted(node, left.choices, left.slots, 0), right.choices, right.slots, width)

    keys: list[tuple[int, int]] = []  # places of values that must be equal, left and right
    coarse: list[tuple[Function, list[int], list[int]]] = []
    fine: list[Function] = []
    for atom in map(lift, due):
        ends = [int(side.column) for side in ex.children(atom) if isinstance(side, ex.Column)]
        if isinstance(atom, ex.Compare) and atom.op == "==" and len(ends) == 2:
            first, second = sorted(ends)
            keys.append((first, second - width))
            continue
        places = {int(part.column) for part in walk(atom) if isinstance(part, ex.Column)}
        sides = [at for at in places if at < width], [at - width for at in places if at >= width]
        distinct = [
            len({tuple(state[at] for at in side) for state in block.states})
            for side, block in zip(sides, (left, right), strict=True)
        ]
        if distinct[0] * distinct[1] <= len(left.states) + len(right.states):
            coarse.append((_constant(atom, data), *sides))
        else:
            fine.append(_constant(atom, data))
    near = _buckets(left, [first for first, _ in keys], [at for _, side, _ in coarse for at in side])
    far = _buckets(right, [second for _, second in keys], [at for _, _, side in coarse for at in side])
    results = [_constant(lift(part), data) for _, part in slots.values()]
    states: _States = {}
    for shared, groups in near.items():
        partners = far.get(shared, {}).values()
        for mine in groups.values():
            for theirs in partners:
                work.take(1)
                if any(holds(mine[0][0] + theirs[0][0]) is not True for holds, _, _ in coarse):
                    continue
                work.take(len(mine) * len(theirs))
                for state, (number, ids) in mine:
                    for other, (times, id_) in theirs:
                        pair = state + other
                        for holds in fine:
                            if holds(pair) is not True:
                                break
                        else:
                            key = tuple([result(pair) for result in results])
                            before, least = states.get(key, (0, ()))
                            if not least or (ids if place else id_)[0] <= least[0]:  # mostly the first id decides
                                merged = ids[:place] + id_ + ids[place:]
                                least = min(least, merged) if least else merged
                            states[key] = before + number * times, least
    return states


_Bucket = list[tuple[tuple[Value, ...], tuple[int, tuple[str, ...]]]]


def _buckets(
    block: _Block, keys: list[int], others: list[int]
) -> dict[tuple[Value, ...], dict[tuple[Value, ...], _Bucket]]:
    """The states by their values at `keys`, then at `others`; without those unknown at a key, which equals nothing."""
    found: dict[tuple[Value, ...], dict[tuple[Value, ...], _Bucket]] = {}
    for state, weight in block.states.items():
        key = tuple(state[at] for at in keys)
        if None not in key:
            found.setdefault(key, {}).setdefault(tuple(state[at] for at in others), []).append((state, weight))
    return found


# ---------------------------------------------------------------------------------------------------- 5. claims


_CHECKED = ("status", "optimum", "incumbent", "count", "distribution")

State = Literal["confirmed", "refuted", "not recomputed"]


@dataclass(frozen=True, slots=True)
class Finding:
    """What the checker found out about one claim, or about what the claims are bound to."""

    claim: str
    state: State
    detail: str


@dataclass(frozen=True, slots=True)
class Report:
    """All findings: what the certificate is about, then its witness plan, then its claims and its evidence."""

    findings: tuple[Finding, ...]

    @property
    def refuted(self) -> tuple[Finding, ...]:
        """The findings that speak against the certificate."""
        return tuple(finding for finding in self.findings if finding.state == "refuted")

    def confirmed(self, claim: str) -> bool:
        """Whether the claim was recomputed and is true."""
        return any(finding.claim == claim and finding.state == "confirmed" for finding in self.findings)


def replay(
    problem: Problem,
    data: Data,
    certificate: Certificate,
    *,
    dataset: str,
    manifest_digest: str,
    work_limit: int = WORK_LIMIT,
) -> Report:
    """What holds of a certificate for this problem and data: nothing in it is trusted, everything is computed anew.

    `dataset` and `manifest_digest` are name and digest of the manifest that the problem was posed on. `work_limit`
    counts combinations, not seconds, so that equal inputs give equal reports. Raises TableError as `recompute` does;
    the certificate's own digest and spelling are checked where it is read (`read_certificate`).
    """
    claims, scope = certificate.claims, certificate.scope
    kind, facts = problem.objective.type, certificate.dataset
    sense = "maximize" if problem.objective.maximize else "minimize"
    posed, limits = problem, list[str]()
    try:
        posed = problem if scope.constraints is None else problem.restrict(scope.constraints)
        limits += [f"no choice '{name}'" for name in scope.within or {} if name not in problem.choices]
        picks = [(name, offer) for name, ids in (scope.within or {}).items() for offer in ids]
        lost = [offer for name, offer in picks if not limits and data.find(problem.choices[name], offer) is None]
        limits += [f"no offer '{offer}'" for offer in lost]
    except (InputError, InputErrors) as fault:
        limits.append(str(fault))
    if not limits and scope.constraints not in (None, tuple(item.name for item in posed.constraints)):
        limits.append("the constraints are not in file order, each once")
    if any(list(ids) != sorted(set(ids)) for ids in (scope.within or {}).values()):
        limits.append("the ids of a choice are not in the order of their bytes, each once")
    task = _differences({"id": problem.id, "digest": problem.digest}, certificate.task.model_dump())
    named = {"name": facts.name, "manifest": facts.manifest}
    world = _differences({"name": dataset, "manifest": manifest_digest}, named)
    relations = {name: data.relation_digests[name] for name in posed.relations()}
    world += _differences(data.digests, facts.tables) + _differences(relations, facts.relations)
    goal = _differences({"sense": sense, "unit": kind.unit, "scale": kind.scale}, certificate.objective.model_dump())
    groups = {"task": task, "dataset": world, "objective": goal, "scope": limits}
    findings = [_finding(claim, faults) for claim, faults in groups.items()]
    if task or world or goal or limits:
        about = "the certificate is about something else"
        return Report((*findings, *(Finding(name, "not recomputed", about) for name in claims.graded())))
    plan = claims.optimum or claims.incumbent
    doubts = _doubts(posed, data, plan, scope.within or {}) if plan is not None else []
    if plan is not None:
        findings.append(_finding("witness", doubts))
    truth = recompute(posed, data, scope.within, work_limit)
    wrong: dict[str, list[str]] = {name: [] for name in claims.graded()}
    for name, sentence in _contradictions(claims, problem.objective.maximize):
        wrong[name].append(sentence)
    for name, sentence in _mistakes(claims, truth, problem.objective.maximize) if truth is not None else ():
        wrong[name].append(sentence)
    for name, faults in wrong.items():
        if name in ("optimum", "incumbent"):
            faults.extend(doubts)
        if faults:
            findings.append(_finding(name, faults))
        elif name not in _CHECKED:
            findings.append(Finding(name, "not recomputed", "this checker does not know how"))
        elif name == "status" and claims.status.value == "unknown":
            findings.append(Finding(name, "not recomputed", "unknown claims nothing"))
        elif truth is not None or (name == "status" and plan is not None and not doubts):
            findings.append(Finding(name, "confirmed", "recomputed" if truth is not None else "by its plan"))
        else:
            findings.append(Finding(name, "not recomputed", f"it takes more than {work_limit:,} steps"))
    odd = [sentence for entry in certificate.evidence for sentence in _odd(entry, claims, problem.objective.maximize)]
    return Report((*findings, _finding("evidence", odd)))


def _finding(claim: str, faults: Sequence[str]) -> Finding:
    return Finding(claim, "refuted", "; ".join(faults)) if faults else Finding(claim, "confirmed", "as it says")


def _differences(found: Mapping[str, Any], claimed: Mapping[str, Any]) -> list[str]:
    """A sentence for every entry that the certificate has otherwise, lacks, or has in excess."""
    names = sorted({*found, *claimed})
    pairs = ((name, found.get(name), claimed.get(name)) for name in names)
    return [f"{name} is {here}, the certificate says {there}" for name, here, there in pairs if here != there]


def _numbers(claim: OptimumClaim) -> dict[str, Any]:
    """The claim's content with plain integers."""
    runner_up = None if claim.runner_up is None else narrow(claim.runner_up)
    return {
        "value": narrow(claim.value),
        "plan": claim.plan.written(),
        "tied": narrow(claim.tied),
        "runner_up": runner_up,
    }


def _doubts(
    problem: Problem, data: Data, claim: OptimumClaim | IncumbentClaim, within: Mapping[str, Collection[str]]
) -> list[str]:
    """Why a claimed plan is not feasible, or has another value."""
    found = evaluate(problem, data, claim.plan)
    faults = [*found.unknown, *(f"{item.constraint}: {item.detail}" for item in found.violations)]
    outside = [] if found.unknown else [name for name, ids in within.items() if claim.plan.picks[name][0].id not in ids]
    faults += [f"the pick for {name} is not within the scope" for name in outside]
    if found.feasible and found.value != narrow(claim.value):
        faults.append(f"its plan has the value {found.value}, the certificate says {claim.value}")
    return faults


def _mistakes(claims: Claims, truth: Feasible, maximize: bool) -> Iterator[tuple[str, str]]:
    """The claims that the recomputed truth refutes, and how."""
    solvable = "solvable" if truth.values else "unsolvable"
    if claims.status.value not in (solvable, "unknown"):
        yield "status", f"the task is {solvable}"
    (best, tied), runner_up = truth.values[0] if truth.values else (None, 0), [value for value, _ in truth.values[1:2]]
    if claims.optimum is not None:
        found = {"value": best, "plan": truth.plan and truth.plan.written(), "tied": tied}
        found["runner_up"] = runner_up[0] if runner_up else None
        yield from (("optimum", sentence) for sentence in _differences(found, _numbers(claims.optimum)))
    if claims.incumbent is not None and best is not None and _better(best, narrow(claims.incumbent.bound), maximize):
        yield "incumbent", f"the optimum {best} is better than the bound"
    if claims.count is not None and not narrow(claims.count.at_least) <= truth.count <= narrow(claims.count.at_most):
        yield "count", f"{truth.count} plans are feasible"
    if claims.distribution is not None and distribution_pairs(claims.distribution) != list(truth.values):
        yield "distribution", "the feasible plans have other values or counts"


def _better(first: int, second: int, maximize: bool) -> bool:
    return first > second if maximize else first < second


def _contradictions(claims: Claims, maximize: bool) -> Iterator[tuple[str, str]]:
    """Claims that cannot all be true, or do not come together, whatever the data are."""
    status, optimum, incumbent = claims.status.value, claims.optimum, claims.incumbent
    if (status == "unknown") != (claims.status.reason is not None):
        yield "status", "a reason comes with an unknown status, and with no other"
    if status != "solvable":
        made = [name for name in ("optimum", "incumbent", "distribution") if getattr(claims, name) is not None]
        yield from ((name, f"a task of status {status} has none") for name in made)
    elif (optimum is None) == (incumbent is None):
        yield "status", "a solvable task has either an optimum or an incumbent"
    low, high = (narrow(claims.count.at_least), narrow(claims.count.at_most)) if claims.count else (0, None)
    if low < 0 or (high is not None and high < low):
        yield "count", "the interval is empty or negative"
    if claims.count and {"solvable": high == 0, "unsolvable": high != 0, "unknown": low > 0 or high == 0}[status]:
        yield "count", f"it does not fit the status {status}"
    if optimum is not None:
        value, tied = narrow(optimum.value), narrow(optimum.tied)
        if tied < 1 or (high is not None and tied > high):
            yield "optimum", "as many plans cannot be tied"
        if optimum.runner_up is not None and not _better(value, narrow(optimum.runner_up), maximize):
            yield "optimum", "the runner-up is not worse"
        if (tied < low and optimum.runner_up is None) or (tied == high and optimum.runner_up is not None):
            yield "optimum", "the number of feasible plans does not fit the runner-up"
    if incumbent is not None and _better(narrow(incumbent.value), narrow(incumbent.bound), maximize):
        yield "incumbent", "the value is better than the bound"
    if claims.distribution is not None:
        pairs = distribution_pairs(claims.distribution)
        values = [value for value, _ in pairs]
        if any(not _better(*both, maximize) for both in pairwise(values)) or any(number < 1 for _, number in pairs):
            yield "distribution", "the values are not in order, best first, each with at least one plan"
        if low != high or sum(number for _, number in pairs) != low:
            yield "distribution", "it does not add up to an exact count"
        start = [_numbers(optimum)[name] for name in ("value", "tied", "runner_up")] if optimum else []
        if [*pairs[:1], *values[1:2]] != [tuple(start[:2]), *(item for item in start[2:] if item is not None)]:
            yield "distribution", "it does not begin with the optimum and the runner-up"


_MEANING = {"optimal": "solvable", "feasible": "solvable", "infeasible": "unsolvable"}  # an unknown one means nothing


def _odd(entry: Evidence, claims: Claims, maximize: bool) -> Iterator[str]:
    """What an engine answered against the claims."""
    if claims.status.value not in (_MEANING.get(entry.status, claims.status.value), "unknown"):
        yield f"{entry.engine} answered {entry.status}"
    if claims.optimum is not None and entry.value is not None:
        value, optimum = narrow(entry.value), narrow(claims.optimum.value)
        if _better(value, optimum, maximize) or (entry.status == "optimal" and value != optimum):
            yield f"{entry.engine} answered the value {value}"
    if claims.count is not None and entry.count is not None and entry.status in ("optimal", "infeasible"):
        low, high = narrow(claims.count.at_least), narrow(claims.count.at_most)
        if not low <= narrow(entry.count) <= high:
            yield f"{entry.engine} answered the count {entry.count}"


def grades(certificate: Certificate, report: Report) -> dict[str, Grade]:
    """What the grade of each claim must be after a replay: proved where the checker confirmed the claim; else agreed
    where two engines answered it alike, and nothing was refuted; else claimed. An unknown status is always claimed.
    """
    claims, result = certificate.claims, dict[str, Grade]()
    for name in claims.graded():
        engines = {entry.engine for entry in certificate.evidence if _answers(entry, name, claims)}
        witnessed = report.confirmed("witness") or claims.status.value != "solvable"
        agreed = len(engines) > 1 and witnessed and not report.refuted
        result[name] = Grade.PROVED if report.confirmed(name) else Grade.AGREED if agreed else Grade.CLAIMED
    return result


def _answers(entry: Evidence, name: str, claims: Claims) -> bool:
    """Whether an engine answered the claim as it stands. None answers a bound or a distribution in the evidence."""
    if name == "status":
        return _MEANING.get(entry.status) == claims.status.value
    if name == "optimum" and claims.optimum is not None:
        return entry.status == "optimal" and entry.value == claims.optimum.value
    if name == "count" and claims.count is not None and claims.count.at_least == claims.count.at_most:
        return claims.count.at_least == (0 if entry.status == "infeasible" else entry.count)
    return False


def wrong_grades(certificate: Certificate, report: Report) -> tuple[Finding, ...]:
    """A refuted finding for every claim whose grade in the certificate is not what `grades` says."""
    given = certificate.claims.graded()
    return tuple(
        Finding(name, "refuted", f"the grade must be {grade}, the certificate says {given[name]}")
        for name, grade in grades(certificate, report).items()
        if grade != given[name]
    )
