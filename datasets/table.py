"""Parquet files as typed columns of numpy arrays, in the order of their key.

What a manifest does not allow is refused here, with table, column, count and the key of the first such row: later code
may rely on exact types, known values and unique keys. Files are read through pyarrow's buffers, because its conversions
to numpy import pandas (0.5 s).
"""

from __future__ import annotations

import datetime
import errno
import os
from collections.abc import Callable, Collection, Iterator, Mapping, Sequence
from dataclasses import dataclass
from pathlib import Path
from typing import Any

import numpy as np
import pyarrow as pa
from numpy.typing import NDArray
from pyarrow import _parquet  # pyright: ignore[reportAttributeAccessIssue] - compiled, without type stubs

from ..schemas.errors import TableError, Where, did_you_mean, raise_all
from ..schemas.offer_id import is_id_text
from ..schemas.units import Kind, Type, format_value
from .digest import key_order, table_digest

_MAGIC = b"PAR1"
_EPOCH = datetime.date(1970, 1, 1).toordinal()
_UNREADABLE = (pa.ArrowException, OSError, ValueError, MemoryError)
_ARROW: dict[Kind, Any] = {
    "bool": pa.bool_(), "string": pa.string(), "date": pa.date32(), "time": pa.int64(), "number": pa.int64()
}  # fmt: skip
_STRINGS = (pa.string(), pa.large_string(), pa.string_view())
_HINTS: dict[Kind, str] = {
    "bool": "cast the column to bool",
    "string": "cast the column to string, text in UTF-8",
    "date": "a date is date32, without time and time zone: the local day as a calendar shows it",
    "time": "a time of day is int64, minutes since local midnight",
    "number": "store whole steps as int64: value * 10^digits, such as cents",
}
_RANGES: dict[Kind, tuple[int, int, str]] = {
    "date": (1 - _EPOCH, datetime.date.max.toordinal() - _EPOCH, "days of the years 1 to 9999"),
    "time": (0, 24 * 60 - 1, "minutes 0 to 1439"),
}


@dataclass(frozen=True, slots=True)
class Column:
    """A stored column of n rows.

    `values` is int64[n] for numbers (in steps of 1/scale), dates (days since 1970-01-01) and times (minutes), bool[n]
    for bools, and int32[n] codes into `dictionary` for strings. `dictionary` holds the distinct strings in the order
    of their UTF-8 bytes, so codes sort as the strings do; it is ("",) when there are rows but all are null, and () for
    other types. `null` is bool[n], or None when no row is null; `values` of null rows are 0, false or code 0.
    """

    type: Type
    values: NDArray[Any]
    dictionary: tuple[str, ...] = ()
    null: NDArray[np.bool_] | None = None

    def value(self, row: int) -> bool | int | str | None:
        """The value in a row; None for null."""
        if self.null is not None and self.null[row]:
            return None
        value: bool | int = self.values[row].item()
        return self.dictionary[value] if self.type.kind == "string" else value

    def shown(self, row: int) -> str:
        """The value in a row as people read it, long text shortened and control characters escaped."""
        text = format_value(self.value(row), self.type)
        short = text if len(text) <= 80 else f"{text[:80]}…"
        return "".join(char if char.isprintable() else ascii(char)[1:-1] for char in short)

    def take(self, rows: NDArray[np.int64]) -> Column:
        """The column of the given rows."""
        return Column(self.type, self.values[rows], self.dictionary, None if self.null is None else self.null[rows])


@dataclass(frozen=True, slots=True)
class OfferTable:
    """The stored columns of a validated table or relation, `rows` rows in ascending order of the declared key."""

    name: str
    rows: int
    columns: Mapping[str, Column]
    digest: str


def read_table(
    path: Path, name: str, key: Sequence[str], types: Mapping[str, Type], *, id_columns: frozenset[str] = frozenset()
) -> OfferTable:
    """The table (or relation, with its arguments as key) in a Parquet file with exactly the columns in `types`.

    `id_columns` are string columns whose values become part of offer ids. Linear when the rows are already in the order
    of `key`, else one sort. Raises TableError, or InputErrors when several columns are at fault.
    """
    source = _Source(path, name)
    data = _load(source, types)
    rows = _Rows({column: _column(data.column(column), kind) for column, kind in types.items()}, key)
    raise_all([fault for column in types for fault in _value_faults(source, column, rows, column in id_columns)])
    columns = _in_order(source, rows)
    return OfferTable(name, data.num_rows, columns, table_digest(data.num_rows, columns))


def row_of(key_column: Column, reference: Column) -> NDArray[np.int64]:
    """int64[n]: for each row of `reference` the row in which the key has its value, or -1 where it is null or absent.

    `key_column` is the only key column of a table, so it is ascending and without duplicates.
    """
    if reference.type.kind == "string":
        codes = {text: code for code, text in enumerate(key_column.dictionary)}
        sought = np.array([codes.get(text, -1) for text in reference.dictionary], dtype=np.int64)
        rows = _search(key_column.values, sought)[reference.values]
    else:
        rows = _search(key_column.values, reference.values)
    return rows if reference.null is None else np.where(reference.null, -1, rows)


def _search(ascending: NDArray[Any], sought: NDArray[Any]) -> NDArray[np.int64]:
    """The position of each sought value in an ascending array, -1 where it is absent."""
    if not len(ascending):
        return np.full(len(sought), -1, dtype=np.int64)
    found = np.searchsorted(ascending, sought).clip(max=len(ascending) - 1)
    return np.where(ascending[found] == sought, found, -1)


@dataclass(frozen=True, slots=True)
class _Source:
    """The file that is read, for its content and for messages about it."""

    path: Path
    name: str

    def error(self, message: str, column: str = "", hint: str = "") -> TableError:
        subject = f"{self.name}.{column}" if column else self.name
        return TableError(f"{subject}: {message}", where=Where(str(self.path)), hint=hint)

    def damaged(self, fault: Exception, column: str = "") -> TableError:
        if "UTF8" in str(fault):
            return self.error("some text is not UTF-8", column)
        reason = (str(fault).splitlines() or [type(fault).__name__])[0]
        return self.error(f"the Parquet file is damaged: {reason}", column)

    def content(self) -> bytes:
        """The bytes of the file, which looks like a whole Parquet file from both ends."""
        try:
            content = self.path.read_bytes()
        except OSError as fault:
            known = {errno.ENOENT: "the file is missing", errno.EISDIR: "this is a folder, not a file"}
            message = known.get(fault.errno or 0) or f"cannot read the file: {os.strerror(fault.errno or 0)}"
            raise self.error(message) from None
        if content[:4] != _MAGIC:
            raise self.error("this is not a Parquet file" if content else "the file is empty")
        if content[-4:] != _MAGIC or len(content) < 12:
            raise self.error("the Parquet file is cut short")
        return content


@dataclass(frozen=True, slots=True)
class _Rows:
    """Columns in the order of the file, and which of them are the key."""

    columns: Mapping[str, Column]
    key: Sequence[str]

    def first(self, mask: NDArray[np.bool_]) -> str:
        """The key of the first row in the mask, as people read it."""
        row = int(mask.argmax())
        return ", ".join(f"{name} {self.columns[name].shown(row)}" for name in self.key)


def _load(source: _Source, types: Mapping[str, Type]) -> Any:
    """The pyarrow.Table of a file whose columns have the right names and types, its buffers checked."""
    texts = [column for column, kind in types.items() if kind.kind == "string"]
    content = pa.py_buffer(source.content())
    try:
        file = _opened(content)
        raise_all(list(_schema_faults(source, file, types)))
        # strings as dictionaries, whatever they are in the file: names that it lacks would be a KeyError
        data = _columns(_opened(content, read_dictionary=texts, page_checksum_verification=True), types)
    except _UNREADABLE as fault:
        raise source.damaged(fault) from None
    for column in types:
        try:
            data.column(column).validate(full=True)  # codes and offsets of a damaged file would be followed blindly
        except _UNREADABLE as fault:
            raise source.damaged(fault, column) from None
    return data


def _opened(content: Any, **options: Any) -> Any:
    """A reader of the bytes of a Parquet file, as `pyarrow.parquet` has it, which imports more than reading takes."""
    reader: Any = _parquet.ParquetReader()
    reader.open(pa.BufferReader(content), **options)
    return reader


def _columns(file: Any, names: Collection[str]) -> Any:
    """The pyarrow.Table of some columns of a file."""
    wanted = [number for number, (name, *_) in enumerate(file.column_paths) if name in names]
    # No threads: a pool that still winds down when Python ends can abort the process.
    return file.read_all(column_indices=wanted, use_threads=False)


def _schema_faults(source: _Source, file: Any, types: Mapping[str, Type]) -> Iterator[TableError]:
    names: list[str] = file.schema_arrow.names
    repeated = sorted({column for column in names if names.count(column) > 1})
    for column in repeated:
        yield source.error(f"{names.count(column)} columns have this name", column)
    for column in names:
        if column not in types:
            missing = [wanted for wanted in types if wanted not in names]
            hint = did_you_mean(column, missing, "missing columns") or "list it in dataset.yaml, or leave it out here"
            yield source.error("the manifest has no such column", column, hint)
    for column, kind in types.items():
        if column not in names:
            yield source.error("the column is missing", column)
        elif column not in repeated:
            found, wanted = file.schema_arrow.field(column).type, _ARROW[kind.kind]
            if kind.kind == "string" and pa.types.is_dictionary(found):
                found = found.value_type
            if found not in (_STRINGS if kind.kind == "string" else (wanted,)):
                note = _not_finite(file, column) if pa.types.is_floating(found) else ""
                message = f"the file holds {found}{note}, but {kind} is stored as {wanted}"
                yield source.error(message, column, _HINTS[kind.kind])


def _not_finite(file: Any, column: str) -> str:
    """How many values of a column of floats are NaN or infinite, as a part of a sentence."""
    array = _columns(file, [column]).column(column).combine_chunks()
    broken, null = ~np.isfinite(_fixed(array, "f")), _nulls(array)
    count = int((broken if null is None else broken & ~null).sum())
    return f" ({count} of its values NaN or infinite)" if count else ""


def _column(data: Any, kind: Type) -> Column:
    """A column of the right Arrow type, its chunks joined."""
    array = data.combine_chunks()
    if kind.kind == "string":
        return _strings(array, kind)
    null = _nulls(array)
    values = _bits(array, 1) if kind.kind == "bool" else _fixed(array, "i").astype(np.int64)
    if null is not None:
        values[null] = 0
    return Column(kind, values, null=null)


def _strings(array: Any, kind: Type) -> Column:
    """A dictionary array with its dictionary sorted, without repeats and without strings that no row uses."""
    null, codes = _nulls(array), _fixed(array.indices, "i")
    texts: list[str] = [*array.dictionary.to_pylist(), ""]
    if null is not None:
        codes = np.where(null, len(texts) - 1, codes)
    used = np.flatnonzero(np.bincount(codes, minlength=len(texts))[:-1]).tolist()
    # code point order is the order of UTF-8 bytes; a dict keeps the order of the file, which is often sorted already
    dictionary = tuple(sorted(dict.fromkeys(texts[code] for code in used)))
    rank = {text: code for code, text in enumerate(dictionary)}
    ranks = np.array([*(rank.get(text, 0) for text in texts[:-1]), 0], dtype=np.int32)
    return Column(kind, ranks[codes], dictionary or ("",) * (len(codes) > 0), null)


def _nulls(array: Any) -> NDArray[np.bool_] | None:
    return ~_bits(array, 0) if array.null_count else None


def _fixed(array: Any, letter: str) -> NDArray[Any]:
    """The values of an array of integers (`i`) or floats (`f`), a view of its buffer; undefined where null."""
    values: NDArray[Any] = np.frombuffer(array.buffers()[1], dtype=f"<{letter}{array.type.bit_width // 8}")
    return values[array.offset : array.offset + len(array)]


def _bits(array: Any, buffer: int) -> NDArray[np.bool_]:
    """One of the array's buffers of single bits as bool[n]."""
    packed = np.frombuffer(array.buffers()[buffer], dtype=np.uint8)
    return np.unpackbits(packed, bitorder="little")[array.offset : array.offset + len(array)].astype(np.bool_)


def _value_faults(source: _Source, name: str, rows: _Rows, in_id: bool) -> Iterator[TableError]:
    """What the values of a column break: nullability, categories, ranges and the alphabet of ids."""
    column = rows.columns[name]
    kind = column.type
    if column.null is not None and not kind.nullable:
        message = f"{column.null.sum()} of {len(column.null)} values are null, first at {rows.first(column.null)}"
        yield source.error(message, name, "leave such rows out, or declare the column nullable: true")
    if kind.kind in _RANGES:
        least, most, what = _RANGES[kind.kind]
        outside = (column.values < least) | (column.values > most)
        if outside.any():
            value = int(column.values[outside.argmax()])
            yield source.error(f"{outside.sum()} values are not {what}, first {value} at {rows.first(outside)}", name)
    if kind.values is not None:
        declared = frozenset(kind.values)
        yield from _text_faults(source, name, rows, declared.__contains__, "not among the declared values", kind.values)
    if in_id:
        rule = "no text for an offer id, which is made of letters, digits, '.' and '-' in Unicode's composed form (NFC)"
        yield from _text_faults(source, name, rows, is_id_text, rule)


def _text_faults(
    source: _Source, name: str, rows: _Rows, allowed: Callable[[str], bool], rule: str, values: Sequence[str] = ()
) -> Iterator[TableError]:
    """One error when rows hold strings that are not allowed, about the first such string."""
    column = rows.columns[name]
    wrong = np.array([not allowed(text) for text in column.dictionary], dtype=np.bool_)
    mask = wrong[column.values] if column.null is None else wrong[column.values] & ~column.null
    if mask.any():
        row = int(mask.argmax())
        message = f"{column.shown(row)} is {rule} ({mask.sum()} such rows, first at {rows.first(mask)})"
        yield source.error(message, name, did_you_mean(str(column.value(row)), values, "values"))


def _in_order(source: _Source, rows: _Rows) -> dict[str, Column]:
    """The columns with their rows in ascending order of the key; raises TableError when two rows share a key."""
    columns = dict(rows.columns)
    order, repeats = key_order([columns[name].values for name in rows.key])
    if order is not None:
        columns = {name: column.take(order) for name, column in columns.items()}
    if repeats.any():
        first = _Rows(columns, rows.key).first(repeats)
        raise source.error(f"{repeats.sum()} rows repeat the key of another row, first {first}")
    return columns
