"""What a table may hold, and how everything else is refused: at the door, by name, with the place and the count."""

from __future__ import annotations

import datetime
import subprocess
import sys
import zoneinfo
from collections.abc import Callable
from pathlib import Path
from typing import Any

import numpy as np
import pyarrow as pa
import pyarrow.parquet as pq
import pytest
from cobench.datasets import opening
from cobench.datasets.opening import Dataset, bundled, open_dataset
from cobench.datasets.table import Column, OfferTable, read_table, row_of
from cobench.schemas.errors import InputErrors, ManifestError, TableError
from cobench.schemas.units import BOOL, COUNT, DATE, Type
from cobench.schemas.world import World

Arrays = dict[str, Any]
TEXT = Type("string")
DAYS = [datetime.date(2025, 8, day) for day in (1, 2, 3)]
KEY = ["config", "night"]
TYPES = {
    "config": TEXT,
    "night": DATE,
    "price": Type("number", "USD", 100),
    "kind": Type("string", values=("cabin", "studio", "suite")),
    "note": Type("string", values=("loud", "quiet"), nullable=True),
    "pool": BOOL,
    "opens": Type("time"),
}


def good() -> Arrays:
    return {
        "config": pa.array(["zion-1", "zion-1", "zion-2"]),
        "night": pa.array([DAYS[0], DAYS[1], DAYS[0]], pa.date32()),
        "price": pa.array([10000, 12050, 8000], pa.int64()),
        "kind": pa.array(["cabin", "suite", "cabin"]),
        "note": pa.array([None, "quiet", None], pa.string()),
        "pool": pa.array([True, False, True]),
        "opens": pa.array([0, 450, 1439], pa.int64()),
    }


def read(path: Path, **options: Any) -> OfferTable:
    return read_table(path, "stays", KEY, TYPES, **options)


def write(path: Path, arrays: Arrays) -> Path:
    pq.write_table(pa.table(arrays), path)
    return path


def listed(column: Column) -> list[bool | int | str | None]:
    return [column.value(row) for row in range(len(column.values))]


def test_a_good_table_is_read_with_exact_types(tmp_path: Path) -> None:
    table = read(write(tmp_path / "t.parquet", good()), id_columns=frozenset({"config"}))
    found = {name: (column.values.dtype, listed(column)) for name, column in table.columns.items()}
    assert (table.name, table.rows, table.digest[:7]) == ("stays", 3, "sha256:")
    assert found == {
        "config": (np.int32, ["zion-1", "zion-1", "zion-2"]),
        "night": (np.int64, [20301, 20302, 20301]),
        "price": (np.int64, [10000, 12050, 8000]),
        "kind": (np.int32, ["cabin", "suite", "cabin"]),
        "note": (np.int32, [None, "quiet", None]),
        "pool": (np.bool_, [True, False, True]),
        "opens": (np.int64, [0, 450, 1439]),
    }
    assert [name for name, column in table.columns.items() if column.null is not None] == ["note"]
    assert table.columns["kind"].dictionary == ("cabin", "suite")
    assert table.columns["note"].dictionary == ("quiet",)


STAMP = datetime.datetime(2025, 8, 1, 22, 30)  # noqa: DTZ001  a local time of no zone is what is refused
ZONED = pa.timestamp("us", "America/Denver")
NUMBER = "store whole steps as int64: value * 10^digits"
DATE_HINT = "a date is date32, without time and time zone"
MINUTES = "minutes since local midnight"
INF = float("inf")
# fmt: off
REFUSED: dict[str, tuple[str, Any, str, str]] = {  # column, content, in the message, in the hint
    "float prices": ("price", [1.5, 2.0, 3.0], "holds double, but a number in USD is stored as int64", NUMBER),
    "NaN and infinity": ("price", [float("nan"), None, -INF], "double (2 of its values NaN or infinite)", NUMBER),
    "float32": ("price", pa.array([1, 2, INF], pa.float32()), "float (1 of its values NaN or infinite)", NUMBER),
    "all-null floats": ("price", pa.array([None] * 3, pa.float64()), "stays.price: the file holds double, but", NUMBER),
    "decimals": ("price", pa.array([1, 2, 3]).cast(pa.decimal128(22, 2)), "holds decimal128(22, 2), but", NUMBER),
    "int32": ("price", pa.array([1, 2, 3], pa.int32()), "stays.price: the file holds int32, but", NUMBER),
    "uint64": ("price", pa.array([1, 2, 3], pa.uint64()), "stays.price: the file holds uint64, but", NUMBER),
    "number as text": ("price", ["1", "2", "3"], "stays.price: the file holds string, but", NUMBER),
    "timestamp": ("night", [STAMP] * 3, "stays.night: the file holds timestamp[us], but", DATE_HINT),
    "zoned timestamp": ("night", pa.array([STAMP] * 3, ZONED), "timestamp[us, tz=America/Denver], but", DATE_HINT),
    "date as text": ("night", ["2025-08-01"] * 3, "stays.night: the file holds string, but", DATE_HINT),
    "time32": ("opens", pa.array([0, 1, 2], pa.int32()).cast(pa.time32("s")), "the file holds time32", MINUTES),
    "bool as number": ("pool", [0, 1, 1], "holds int64, but true/false is stored as bool", "cast the column"),
    "binary": ("config", [b"a", b"b", b"c"], "stays.config: the file holds binary, but text is", "text in UTF-8"),
    "text of no type": ("note", pa.nulls(3), "stays.note: the file holds null, but", "cast the column to string"),
    "lists": ("note", [["a"], [], None], "stays.note: the file holds list<", "cast the column to string"),
    "null category": ("kind", ["cabin", None, None], "stays.kind: 2 of 3 values are null", "nullable: true"),
    "null bool": ("pool", [True, True, None], "1 of 3 values are null, first at config 'zion-2'", "nullable: true"),
    "null key": ("config", ["a", None, "b"], "first at config unknown, night 2025-08-02", "leave such rows out"),
    "duplicate keys": (
        "night", pa.array([DAYS[0]] * 3, pa.date32()),
        "stays: 1 rows repeat the key of another row, first config 'zion-1', night 2025-08-01", "",
    ),
    "duplicate keys apart": ("config", ["b", "a", "b"], "1 rows repeat the key of another row, first config 'b'", ""),
    "unknown category": (
        "kind", ["cabin", "stduio", "stduio"],
        "stays.kind: 'stduio' is not among the declared values (2 such rows, first at config 'zion-1', night",
        "did you mean 'studio'?",
    ),
    "hostile text": ("kind", ["cabin", "x\x1b" + "y" * 2000, "cabin"], "stays.kind: 'x\\x1byyyy", "values: cabin"),
    "nullable category": ("note", [None, "quit", None], "'quit' is not among the declared values (1 such", "quiet"),
    "time of 24:00": ("opens", [0, 1440, -1], "2 values are not minutes 0 to 1439, first 1440 at config 'zion-1'", ""),
    "year 10000": ("night", pa.array([0, 1, 2932897], pa.int32()).cast(pa.date32()), "not days of the years 1 to", ""),
    "decomposed id": ("config", ["e\u0301", "a", "b"], "is no text for an offer id", ""),
    "underscore in id": ("config", ["a", "zion_1", "b"], "stays.config: 'zion_1' is no text for an offer id", ""),
    "empty id": ("config", ["a", "", ""], "stays.config: '' is no text for an offer id, which is made of letters", ""),
    "extra column": ("prices", [1, 2, 3], "stays.prices: the manifest has no such column", "list it in dataset.yaml"),
}
# fmt: on


@pytest.mark.parametrize("name", REFUSED)
def test_refused_tables(name: str, tmp_path: Path) -> None:
    column, content, message, hint = REFUSED[name]
    path = write(tmp_path / "t.parquet", {**good(), column: content})
    with pytest.raises(TableError) as caught:
        read(path, id_columns=frozenset({"config"}))
    assert message in caught.value.message
    assert hint in caught.value.hint
    assert str(caught.value).startswith(f"{path}: error: stays")
    assert "\x1b" not in str(caught.value)
    assert len(caught.value.message) < 400


def _twice(path: Path) -> None:
    arrays = good()
    pq.write_table(pa.Table.from_arrays([*arrays.values(), arrays["price"]], [*arrays, "price"]), path)


def _bytes(path: Path, *texts: bytes) -> None:
    write(path, {**good(), "note": pa.Array.from_buffers(pa.string(), 3, pa.array(texts).buffers())})


def _cut(path: Path, start: int, end: int) -> None:
    content = write(path, good()).read_bytes()
    path.write_bytes(content[:start] + content[end:])


def _without_kind(path: Path) -> None:
    write(path, {name: array for name, array in good().items() if name != "kind"})


def _altered(path: Path) -> None:
    pq.write_table(pa.table(good()), path, write_page_checksum=True, compression="none")
    content = path.read_bytes()
    path.write_bytes(content.replace(b"\x10\x27\0\0\0\0\0\0", b"\x11\x27\0\0\0\0\0\0", 1))  # 10000, the first price


UNREADABLE: dict[str, tuple[Callable[[Path], Any], str]] = {
    "missing file": (lambda path: path.unlink(missing_ok=True), "stays: the file is missing"),
    "folder": (Path.mkdir, "stays: this is a folder, not a file"),
    "zero bytes": (Path.touch, "stays: the file is empty"),
    "csv": (lambda path: path.write_text("config,night\na,2025-08-01\n"), "stays: this is not a Parquet file"),
    "truncated": (lambda path: _cut(path, 900, 10**9), "stays: the Parquet file is cut short"),
    "only the magic": (lambda path: path.write_bytes(b"PAR1"), "stays: the Parquet file is cut short"),
    "garbage": (lambda path: path.write_bytes(b"PAR1" + bytes(range(256)) + b"PAR1"), "the Parquet file is damaged: "),
    "a hole": (lambda path: _cut(path, 200, 600), "the Parquet file is damaged: "),
    "wrong checksum": (_altered, "the Parquet file is damaged: "),
    "not UTF-8": (lambda path: _bytes(path, b"ok", b"\xff", b"ok"), "stays.note: some text is not UTF-8"),
    "surrogates": (lambda path: _bytes(path, b"ok", b"ok", b"\xed\xa0\x80"), "stays.note: some text is not UTF-8"),
    "missing column": (_without_kind, "stays.kind: the column is missing"),
    "column twice": (_twice, "stays.price: 2 columns have this name"),
}


@pytest.mark.parametrize("name", UNREADABLE)
def test_unreadable_files(name: str, tmp_path: Path) -> None:
    make, message = UNREADABLE[name]
    path = tmp_path / "t.parquet"
    make(path)
    with pytest.raises(TableError) as caught:
        read(path)
    assert message in caught.value.message
    assert str(caught.value).startswith(f"{path}: error: stays")


def test_unreadable_path(tmp_path: Path) -> None:
    write(tmp_path / "t.parquet", good())
    with pytest.raises(TableError, match="cannot read the file: Not a directory"):
        read(tmp_path / "t.parquet" / "stays.parquet")


def test_damaged_files_never_escape_as_other_errors(tmp_path: Path) -> None:
    path = tmp_path / "t.parquet"
    content = write(path, good()).read_bytes()
    random = np.random.default_rng(7)
    refused = 0
    for _ in range(400):
        damaged = bytearray(content)
        for place in random.integers(4, len(content) - 4, 3):
            damaged[place] = random.integers(256)
        path.write_bytes(damaged)
        try:
            read(path)
        except (TableError, InputErrors):
            refused += 1
    assert refused > 100


def test_all_faults_of_a_schema_are_told_at_once(tmp_path: Path) -> None:
    arrays = {**good(), "price": pa.array([1.5, 2.0, 3.0]), "pool": pa.array([0, 1, 1])}
    arrays["open"] = arrays.pop("opens")
    with pytest.raises(InputErrors) as caught:
        read(write(tmp_path / "t.parquet", arrays))
    columns = [error.message.split(":")[0] for error in caught.value.errors]
    assert columns == ["stays.open", "stays.price", "stays.pool", "stays.opens"]
    assert caught.value.errors[0].hint == "did you mean 'opens'?"


def test_null_prices_refused(tmp_path: Path) -> None:
    path = write(tmp_path / "t.parquet", {**good(), "price": pa.array([10000, None, None], pa.int64())})
    with pytest.raises(TableError) as caught:
        read(path)
    assert caught.value.message == "stays.price: 2 of 3 values are null, first at config 'zion-1', night 2025-08-02"


def test_ids_unicode_and_duplicates(tmp_path: Path) -> None:
    path = tmp_path / "t.parquet"
    composed = {**good(), "config": pa.array(["Zürich-1", "Zürich-1", "北京.2"])}
    accepted = read(write(path, composed), id_columns=frozenset({"config"}))
    assert accepted.columns["config"].dictionary == ("Zürich-1", "北京.2")
    decomposed = {**good(), "config": pa.array(["Zürich-1", "Zu\u0308rich-1", "Zu\u0308rich-1"])}
    with pytest.raises(TableError, match=r"'Zu\u0308rich-1' is no text for an offer id.*NFC.*2 such rows"):
        read(write(path, decomposed), id_columns=frozenset({"config"}))
    assert len(read(path).columns["config"].dictionary) == 2  # outside ids both spellings are just different texts
    repeated = {**composed, "night": pa.array([DAYS[0]] * 3, pa.date32())}
    with pytest.raises(TableError, match="1 rows repeat the key of another row, first config 'Zürich-1'"):
        read(write(path, repeated))


def test_local_date_vs_utc_date(tmp_path: Path) -> None:
    path = tmp_path / "t.parquet"
    late = STAMP.replace(tzinfo=zoneinfo.ZoneInfo("America/Denver"))  # 1 August there, 2 August in UTC
    for stamp in (pa.array([late] * 3, pa.timestamp("s", "UTC")), pa.array([STAMP] * 3, pa.timestamp("ns"))):
        with pytest.raises(TableError, match="but a date is stored as date32"):
            read(write(path, {**good(), "night": stamp}))
    days = listed(read(write(path, good())).columns["night"])
    assert days == [20301, 20302, 20301]  # 2025-08-01 and -02, since 1970-01-01


def column(kind: Type, *values: bool | int | str, null: list[bool] | None = None) -> Column:
    texts = tuple(sorted({value for value in values if isinstance(value, str)}))
    codes = [texts.index(value) if isinstance(value, str) else value for value in values]
    dtype = {"bool": np.bool_, "string": np.int32}.get(kind.kind, np.int64)
    return Column(kind, np.array(codes, dtype), texts, None if null is None else np.array(null))


# fmt: off
ROW_OF: dict[str, tuple[Column, Column, list[int]]] = {
    "text": (column(TEXT, "a", "b", "d"), column(TEXT, "c", "b", "d", "é", "b"), [-1, 1, 2, -1, 1]),
    "number": (column(COUNT, -5, 0, 7), column(COUNT, 7, -5, 8, -6, 0), [2, 0, -1, -1, 1]),
    "date with null": (column(DATE, 0, 11), column(DATE, 11, 0, 0, null=[False, True, False]), [1, -1, 0]),
    "text with null": (column(TEXT, "a", "b"), column(TEXT, "b", "a", null=[False, True]), [1, -1]),
    "bool": (column(BOOL, False, True), column(BOOL, True, False, True), [1, 0, 1]),
    "one bool": (column(BOOL, True), column(BOOL, True, False), [0, -1]),
    "empty key": (column(COUNT), column(COUNT, 1, 2), [-1, -1]),
    "empty text key": (column(TEXT), column(TEXT, "a"), [-1]),
    "no reference": (column(TEXT, "a"), column(TEXT), []),
}
# fmt: on


@pytest.mark.parametrize("name", ROW_OF)
def test_row_of(name: str) -> None:
    key, reference, rows = ROW_OF[name]
    found = row_of(key, reference)
    assert found.dtype == np.int64
    assert found.tolist() == rows


MANIFEST = """
cobench_dataset: 1
name: inns
tables:
  hotels: {file: hotels.parquet, key: [hotel_id], columns: {hotel_id: {type: string}, town: {type: string}}}
  rooms:
    file: rooms.parquet
    key: [room]
    references: {hotel_id: hotels}
    columns: {room: {type: number}, hotel_id: {type: string}}
  stays:
    file: stays.parquet
    key: [room, night]
    id: stay_{room}_{night}_{place}
    references: {room: rooms}
    derive: {place: town}
    columns: {room: {type: number}, night: {type: date}}
relations:
  hotels:
    file: near.parquet
    args: [town]
    value: minutes
    columns: {town: {type: string}, minutes: {type: number, unit: min}}
"""


def inns(folder: Path, changes: dict[str, Arrays] | None = None) -> tuple[Dataset, World]:
    """A dataset of three tables and a relation (named as a table is) in `folder`, with some columns changed."""
    tables: dict[str, Arrays] = {
        "hotels": {"hotel_id": ["h2", "h1"], "town": ["Bern", "Aosta"]},
        "rooms": {"room": pa.array([1, 2, 3], pa.int64()), "hotel_id": ["h1", "h2", "h1"]},
        "stays": {"room": pa.array([1, 3], pa.int64()), "night": pa.array(DAYS[:2], pa.date32())},
        "near": {"town": ["Bern"], "minutes": pa.array([9], pa.int64())},
    }
    folder.mkdir(exist_ok=True)
    (folder / "dataset.yaml").write_text(MANIFEST)
    for name, arrays in tables.items():
        write(folder / f"{name}.parquet", {**arrays, **(changes or {}).get(name, {})})
    dataset = open_dataset(str(folder))
    return dataset, dataset.manifest.bind({})


def test_tables_and_relations_are_opened_once(tmp_path: Path) -> None:
    dataset, world = inns(tmp_path)
    stays, near = dataset.table(world, "stays"), dataset.relation(world, "hotels")
    assert stays.rows == 2
    assert listed(near.columns["minutes"]) == [9]
    for path in tmp_path.glob("*.parquet"):
        path.unlink()
    assert dataset.table(world, "stays") is stays
    assert dataset.relation(world, "hotels") is near
    assert dataset.table(world, "hotels").rows == 2  # opened for the references


def test_dangling_references_are_refused(tmp_path: Path) -> None:
    dataset, world = inns(tmp_path, {"rooms": {"hotel_id": ["h1", "h3", "h4"]}})
    for table in ("rooms", "stays"):  # also through a table that refers to the faulty one, also the second time
        with pytest.raises(TableError) as caught:
            dataset.table(world, table)
        assert caught.value.message == "rooms.hotel_id: 2 rows refer to no row of hotels, first 'h3'"
        assert caught.value.hint == "every hotel_id must be a hotel_id in hotels.parquet"
        assert str(caught.value).startswith(str(tmp_path / "rooms.parquet"))


def test_texts_that_reach_an_id_through_references_are_checked(tmp_path: Path) -> None:
    dataset, world = inns(tmp_path, {"hotels": {"town": ["Bern", "Aosta Valley"]}})
    with pytest.raises(TableError, match=r"hotels.town: 'Aosta Valley' is no text for an offer id"):
        dataset.table(world, "stays")


def test_a_dataset_is_opened_by_name_folder_or_file(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    inns(tmp_path / "parks")
    inns(tmp_path / "ours")
    monkeypatch.setattr(opening, "bundled", lambda: {"parks": tmp_path / "ours"})
    monkeypatch.chdir(tmp_path)
    assert open_dataset("parks").folder == tmp_path / "ours"
    assert open_dataset("parks", tmp_path).folder == tmp_path / "ours"
    assert open_dataset("./parks").folder.resolve() == tmp_path / "parks"
    assert open_dataset("../parks", tmp_path / "ours").folder.resolve() == tmp_path / "parks"
    assert open_dataset("ours", tmp_path).folder == tmp_path / "ours"
    assert open_dataset(str(tmp_path / "parks/dataset.yaml"), Path("/nowhere")).folder == tmp_path / "parks"


def test_unknown_datasets_are_refused_with_a_hint(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(opening, "bundled", lambda: {"parks": tmp_path})
    with pytest.raises(ManifestError, match="no dataset 'park', neither bundled nor at ") as caught:
        open_dataset("park", tmp_path)
    assert caught.value.hint == "did you mean 'parks'?"
    with pytest.raises(ManifestError, match="no dataset 'a\x00b'"):
        open_dataset("a\0b")
    with pytest.raises(ManifestError, match=r"this folder has no dataset\.yaml"):
        open_dataset(str(tmp_path))


def test_bundled_datasets_have_a_manifest() -> None:
    for name, folder in bundled().items():
        assert (folder / "dataset.yaml").is_file()
        assert folder.name == "mini"
        assert folder.parent.name == name


def test_reading_tables_loads_no_pandas(tmp_path: Path) -> None:
    inns(tmp_path)
    code = (
        "import sys\nfrom cobench.datasets.opening import open_dataset\n"
        f"data = open_dataset({str(tmp_path)!r})\ndata.table(data.manifest.bind({{}}), 'stays')\n"
        "print(sorted({'pandas', 'polars', 'numba', 'ortools', 'pulp'} & set(sys.modules)))"
    )
    done = subprocess.run([sys.executable, "-c", code], capture_output=True, text=True, check=True)
    assert done.stdout == "[]\n"
