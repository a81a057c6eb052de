"""The logical content of a table and its digest, against golden values and a naive reading of docs/formats.md."""

from __future__ import annotations

import datetime
import hashlib
import struct
from collections.abc import Callable, Mapping
from pathlib import Path
from typing import Any

import pyarrow as pa
import pyarrow.parquet as pq
import pytest
from cobench.datasets.table import Column, OfferTable, read_table
from cobench.schemas.units import Type
from hypothesis import given, settings
from hypothesis import strategies as st

Row = dict[str, Any]
ARROW = {"bool": pa.bool_(), "string": pa.string(), "date": pa.date32(), "time": pa.int64(), "number": pa.int64()}
KINDS = {"config": "string", "night": "date", "price": "number", "opens": "time", "pool": "bool", "näme": "string"}
KEY = ["config", "night"]
DAY = datetime.date(2025, 8, 1)
ROWS: list[Row] = [
    {"config": "zion-1", "night": DAY, "price": 12345, "opens": 450, "pool": True, "näme": "Überblick"},
    {"config": "zion-1", "night": DAY + datetime.timedelta(1), "price": None, "opens": 0, "pool": None, "näme": None},
    {"config": "a", "night": DAY, "price": -(2**63), "opens": 1439, "pool": False, "näme": ""},
    {
        "config": "é",
        "night": datetime.date(1969, 12, 31),
        "price": 2**63 - 1,
        "opens": None,
        "pool": True,
        "näme": "😀",
    },
]
GOLDEN = "sha256:805adf78d903c5600d812d77ea2034f3f6d93d903687f71b978bdc78302c71a2"


def naive(rows: list[Row], key: list[str], kinds: dict[str, str]) -> str:
    """The digest, one value at a time, from the text of docs/formats.md."""
    zero: dict[str, Any] = {"bool": False, "string": "", "date": datetime.date(1970, 1, 1), "time": 0, "number": 0}
    rows = sorted(rows, key=lambda row: [row[k].encode() if isinstance(row[k], str) else row[k] for k in key])
    stream = b"cobench table 1\n" + struct.pack("<q", len(rows))
    for name in sorted(kinds, key=str.encode):
        kind = kinds[name]
        stream += struct.pack("<q", len(name.encode())) + name.encode()
        stream += {"bool": b"b", "string": b"s", "date": b"d", "time": b"t", "number": b"n"}[kind]
        nulls = [row[name] is None for row in rows]
        stream += bytes([1, *nulls]) if any(nulls) else bytes([0])
        values = [zero[kind] if row[name] is None else row[name] for row in rows]
        if kind == "string":
            stream += b"".join(struct.pack("<q", len(value.encode())) for value in values)
            stream += b"".join(value.encode() for value in values)
        elif kind == "bool":
            stream += bytes(values)
        elif kind == "date":
            stream += b"".join(struct.pack("<i", (value - zero["date"]).days) for value in values)
        else:
            stream += b"".join(struct.pack("<q", value) for value in values)
    return "sha256:" + hashlib.sha256(stream).hexdigest()


def arrow(rows: list[Row], kinds: dict[str, str]) -> pa.Table:
    return pa.table({name: pa.array([row[name] for row in rows], ARROW[kind]) for name, kind in kinds.items()})


def open_table(table: pa.Table, path: Path, key: list[str], kinds: dict[str, Any], **options: Any) -> OfferTable:
    pq.write_table(table, path, **options)
    return read_table(path, "stays", key, {name: Type(kind, nullable=name not in key) for name, kind in kinds.items()})


def digest_of(table: pa.Table, path: Path, key: list[str], kinds: dict[str, str], **options: Any) -> str:
    return open_table(table, path, key, kinds, **options).digest


def columns_of(table: pa.Table, path: Path, key: list[str], kinds: dict[str, str]) -> Mapping[str, Column]:
    return open_table(table, path, key, kinds).columns


def listed(column: Column) -> list[bool | int | str | None]:
    return [column.value(row) for row in range(len(column.values))]


def test_golden_digest(tmp_path: Path) -> None:
    assert naive(ROWS, KEY, KINDS) == GOLDEN
    assert digest_of(arrow(ROWS, KINDS), tmp_path / "t.parquet", KEY, KINDS) == GOLDEN


def test_digest_of_a_stream_written_by_hand(tmp_path: Path) -> None:
    one, two, none = b"\1\0\0\0\0\0\0\0", b"\2\0\0\0\0\0\0\0", b"\0\0\0\0\0\0\0\0"
    stream = b"cobench table 1\n%b" % two
    stream += b"%ban\0%b%b" % (one, b"\xff" * 8, b"\5\0\0\0\0\0\0\0")  # a: a number, no null, -1 and 5
    stream += b"%bbs\1\0\1%b%b\xc3\xa9" % (one, two, none)  # b: text, the second null, lengths 2 and 0
    kinds = {"b": "string", "a": "number"}
    table = arrow([{"a": 5, "b": None}, {"a": -1, "b": "é"}], kinds)
    assert digest_of(table, tmp_path / "t.parquet", ["a"], kinds) == "sha256:" + hashlib.sha256(stream).hexdigest()


def test_digest_of_no_rows(tmp_path: Path) -> None:
    assert digest_of(arrow([], KINDS), tmp_path / "t.parquet", KEY, KINDS) == naive([], KEY, KINDS)


def _cast(table: pa.Table, name: str, kind: pa.DataType) -> pa.Table:
    return table.set_column(table.schema.get_field_index(name), name, table.column(name).cast(kind))


BLIND: dict[str, tuple[Callable[[pa.Table], pa.Table], dict[str, Any]]] = {
    "zstd": (lambda table: table, {"compression": "zstd"}),
    "no compression": (lambda table: table, {"compression": "none"}),
    "no dictionary": (lambda table: table, {"use_dictionary": False}),
    "row groups": (lambda table: table, {"row_group_size": 1}),
    "data page version": (lambda table: table, {"data_page_version": "2.0"}),
    "no arrow schema": (lambda table: table, {"store_schema": False}),
    "chunks": (lambda table: pa.concat_tables([table.slice(0, 1), table.slice(1)]), {}),
    "row order": (lambda table: table.take(pa.array([3, 0, 2, 1])), {}),
    "column order": (lambda table: table.select(sorted(KINDS, reverse=True)), {}),
    "large string": (lambda table: _cast(table, "näme", pa.large_string()), {}),
    "string view": (lambda table: _cast(table, "näme", pa.string_view()), {}),
    "dictionary": (lambda table: _cast(table, "config", pa.dictionary(pa.int8(), pa.string())), {"row_group_size": 2}),
    "metadata": (lambda table: table.replace_schema_metadata({"author": "someone"}), {}),
}


@pytest.mark.parametrize("name", BLIND)
def test_digest_is_blind_to_storage(name: str, tmp_path: Path) -> None:
    change, options = BLIND[name]
    assert digest_of(change(arrow(ROWS, KINDS)), tmp_path / "t.parquet", KEY, KINDS, **options) == GOLDEN


@pytest.mark.parametrize(
    ("row", "column", "value"),
    [(0, "price", 12346), (0, "price", None), (1, "price", 0), (1, "pool", False), (1, "näme", ""), (3, "opens", 0),
     (0, "pool", False), (0, "config", "zion-2"), (2, "night", DAY + datetime.timedelta(1)), (0, "näme", "Überblicks")],
)  # fmt: skip
def test_digest_sees_every_value(row: int, column: str, value: Any, tmp_path: Path) -> None:
    rows = [dict(item) for item in ROWS]
    rows[row][column] = value
    assert digest_of(arrow(rows, KINDS), tmp_path / "t.parquet", KEY, KINDS) != GOLDEN


def test_digest_sees_where_texts_end(tmp_path: Path) -> None:
    kinds = {"k": "number", "t": "string"}
    first = arrow([{"k": 1, "t": "ab"}, {"k": 2, "t": "c"}], kinds)
    second = arrow([{"k": 1, "t": "a"}, {"k": 2, "t": "bc"}], kinds)
    path = tmp_path / "t.parquet"
    assert digest_of(first, path, ["k"], kinds) != digest_of(second, path, ["k"], kinds)


def test_digest_sees_names_types_and_missing_rows(tmp_path: Path) -> None:
    renamed = {("cost" if name == "price" else name): kind for name, kind in KINDS.items()}
    rows = [{("cost" if name == "price" else name): value for name, value in row.items()} for row in ROWS]
    path = tmp_path / "t.parquet"
    found = {
        digest_of(arrow(rows, renamed), path, KEY, renamed),
        digest_of(arrow(ROWS, KINDS), path, KEY, {**KINDS, "opens": "number"}),
        digest_of(arrow(ROWS[:-1], KINDS), path, KEY, KINDS),
        GOLDEN,
    }
    assert len(found) == 4


def test_rows_come_in_the_order_of_the_key(tmp_path: Path) -> None:
    texts = ["é", "z", "\uffee", "😀", "Z", "é"]
    days = [DAY + datetime.timedelta(number) for number in (0, 1, 2, 0, 1, 1)]
    rows = [{"config": text, "night": day, "row": row} for row, (text, day) in enumerate(zip(texts, days, strict=True))]
    kinds = {"config": "string", "night": "date", "row": "number"}
    columns = columns_of(arrow(rows, kinds), tmp_path / "t.parquet", KEY, kinds)
    assert listed(columns["config"]) == ["Z", "z", "é", "é", "\uffee", "😀"]  # by UTF-8 bytes
    assert listed(columns["row"]) == [4, 1, 0, 5, 2, 3]


def test_null_slots_are_zero_and_an_all_null_text_has_a_dictionary(tmp_path: Path) -> None:
    kinds = {"k": "number", "n": "number", "d": "date", "b": "bool", "s": "string"}
    rows = [{"k": 2} | dict.fromkeys("ndbs"), {"k": 1} | dict.fromkeys("ndbs")]
    columns = columns_of(arrow(rows, kinds), tmp_path / "t.parquet", ["k"], kinds)
    for name in "ndbs":
        assert listed(columns[name]) == [None, None]
        assert columns[name].values.tolist() == [0, 0]
    assert columns["s"].dictionary == ("",)


def test_a_table_may_be_empty(tmp_path: Path) -> None:
    columns = columns_of(arrow([], KINDS), tmp_path / "t.parquet", KEY, KINDS)
    assert [len(column.values) for column in columns.values()] == [0] * len(KINDS)
    assert columns["config"].dictionary == ()


def test_unused_and_repeated_dictionary_entries_do_not_count(tmp_path: Path) -> None:
    texts = pa.DictionaryArray.from_arrays(pa.array([0, 3, 1], pa.int8()), pa.array(["b", "a", "unused", "b"]))
    table = pa.table({"k": pa.array([1, 2, 3], pa.int64()), "t": texts})
    columns = columns_of(table, tmp_path / "t.parquet", ["k"], {"k": "number", "t": "string"})
    assert listed(columns["t"]) == ["b", "b", "a"]
    assert columns["t"].dictionary == ("a", "b")


TEXT = st.text(st.characters(exclude_categories=["Cs"]), max_size=6)
VALUES: dict[str, st.SearchStrategy[Any]] = {
    "bool": st.booleans(),
    "string": TEXT,
    "date": st.dates(),
    "time": st.integers(0, 1439),
    "number": st.integers(-(2**63), 2**63 - 1),
}


@st.composite
def tables(draw: st.DrawFn) -> tuple[list[Row], list[str], dict[str, str]]:
    """Rows with a unique key of one to three columns and up to four more columns, which may be null."""
    names = draw(st.lists(st.text("abcé_", min_size=1, max_size=4), min_size=1, max_size=7, unique=True))
    kinds = {name: draw(st.sampled_from(sorted(VALUES))) for name in names}
    key = names[: draw(st.integers(1, min(3, len(names))))]
    cells = {name: VALUES[kind] if name in key else st.none() | VALUES[kind] for name, kind in kinds.items()}
    row = st.fixed_dictionaries(cells)
    rows = draw(st.lists(row, max_size=12, unique_by=lambda found: tuple(found[name] for name in key)))
    return rows, key, kinds


@settings(deadline=None, max_examples=150)
@given(tables(), st.booleans(), st.integers(1, 13))
def test_digest_agrees_with_the_naive_one(
    tmp_path_factory: pytest.TempPathFactory,
    drawn: tuple[list[Row], list[str], dict[str, str]],
    coded: bool,
    group: int,
) -> None:
    rows, key, kinds = drawn
    path = tmp_path_factory.getbasetemp() / "drawn.parquet"
    found = digest_of(arrow(rows, kinds), path, key, kinds, use_dictionary=coded, row_group_size=group)
    assert found == naive(rows, key, kinds)
