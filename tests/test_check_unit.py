"""The checker of plans on tiny worlds written by hand: expressions, files, and plans in words."""

from __future__ import annotations

import hashlib
import itertools
import operator
import struct
from dataclasses import replace
from pathlib import Path
from typing import Any

import pyarrow as pa
import pyarrow.parquet as pq
import pytest
from cobench.schemas import expression as ex
from cobench.schemas.binding import Scope, bind
from cobench.schemas.errors import TableError
from cobench.schemas.manifest import load_manifest
from cobench.schemas.plan import Pick, Plan
from cobench.schemas.problem import Problem, pose
from cobench.schemas.syntax import ExpressionText, Span, parse
from cobench.schemas.task import parse_task
from cobench.schemas.units import BOOL
from cobench.solver.checker import check
from cobench.solver.checker.check import Data, evaluate, open_data

MANIFEST = """
cobench_dataset: 1
name: tiny
parameters:
  guests: {type: number, min: 1, max: 9}
tables:
  hotels:
    file: hotels.parquet
    key: [hotel]
    columns:
      hotel: {type: string}
      park: {type: string, values: [Zion, Arches]}
      pool: {type: bool}
      score: {type: number, digits: 1, nullable: true}
  rooms:
    file: rooms.parquet
    key: [config]
    references: {hotel: {table: hotels, prefix: hotel_}}
    columns:
      config: {type: string}
      hotel: {type: string}
      capacity: {type: number}
  stays:
    file: stays.parquet
    key: [config, check_in, check_out]
    id: pkg_{config}_{start_day}_{end_day}_{rooms}
    references: {config: rooms}
    columns:
      config: {type: string}
      check_in: {type: date}
      check_out: {type: date}
      room_price: {type: number, unit: USD, digits: 2}
      available: {type: number}
    derive:
      start_day: day(check_in)
      end_day: day(check_out)
      rooms: ceil(guests / capacity)
      total_price: rooms * room_price
    require: available >= rooms
  flights:
    file: flights.parquet
    key: [flight]
    id: f_{flight}[_{stop}]
    columns:
      flight: {type: string}
      stop: {type: string, nullable: true}
      lands: {type: string}
      departs_on: {type: date}
      price: {type: number, unit: USD, digits: 2}
      direct: {type: bool}
      seats: {type: number, nullable: true}
  cars:
    file: cars.parquet
    key: [car]
    id: car_{car}
    columns:
      car: {type: number}
      size: {type: number}
      price: {type: number, unit: USD, digits: 2}
      electric: {type: bool, nullable: true}
  things:
    file: things.parquet
    key: [thing]
    id: t_{thing}_{d}
    columns:
      thing: {type: number}
      n: {type: number, nullable: true}
      m: {type: number}
      s: {type: string, nullable: true}
      b: {type: bool, nullable: true}
      d: {type: date}
      e: {type: date, nullable: true}
      t: {type: time, nullable: true}
relations:
  serves:
    file: serves.parquet
    args: [airport, park]
    columns:
      airport: {type: string}
      park: {type: string, values: [Zion, Arches]}
  minutes:
    file: minutes.parquet
    args: [airport, park]
    value: drive
    columns:
      airport: {type: string}
      park: {type: string, values: [Zion, Arches]}
      drive: {type: number, unit: min, nullable: true}
  short:
    file: short.parquet
    args: [m]
    columns:
      m: {type: number}
"""

TYPES = {
    "hotels": {"hotel": pa.string(), "park": pa.string(), "pool": pa.bool_(), "score": pa.int64()},
    "rooms": {"config": pa.string(), "hotel": pa.string(), "capacity": pa.int64()},
    "stays": {
        "config": pa.string(),
        "check_in": pa.date32(),
        "check_out": pa.date32(),
        "room_price": pa.int64(),
        "available": pa.int64(),
    },
    "flights": {
        "flight": pa.string(),
        "stop": pa.string(),
        "lands": pa.string(),
        "departs_on": pa.date32(),
        "price": pa.int64(),
        "direct": pa.bool_(),
        "seats": pa.int64(),
    },
    "cars": {"car": pa.int64(), "size": pa.int64(), "price": pa.int64(), "electric": pa.bool_()},
    "things": {
        "thing": pa.int64(),
        "n": pa.int64(),
        "m": pa.int64(),
        "s": pa.string(),
        "b": pa.bool_(),
        "d": pa.date32(),
        "e": pa.date32(),
        "t": pa.int64(),
    },
    "serves": {"airport": pa.string(), "park": pa.string()},
    "minutes": {"airport": pa.string(), "park": pa.string(), "drive": pa.int64()},
    "short": {"m": pa.int64()},
}
AUG = 20301  # 2025-08-01, a Friday, in days since 1970-01-01


def day(number: int) -> int:
    return AUG + number - 1


ROWS: dict[str, list[tuple[Any, ...]]] = {
    "hotels": [("h1", "Zion", True, 87), ("h2", "Zion", False, None), ("h3", "Arches", True, 65)],
    "rooms": [("c1", "h1", 2), ("c2", "h2", 4), ("c3", "h3", 3)],
    "stays": [
        ("c1", day(8), day(10), 10000, 2),
        ("c1", day(8), day(11), 14000, 1),
        ("c1", day(9), day(12), 15000, 9),
        ("c2", day(8), day(10), 19000, 3),
        ("c3", day(8), day(10), 12000, 3),
    ],
    "flights": [
        ("A1", None, "LAS", day(8), 30000, True, 5),
        ("A2", "DEN", "LAS", day(8), 29000, False, None),
        ("B1", None, "SLC", day(9), 31000, True, 2),
    ],
    "cars": [(1, 4, 5000, True), (2, 5, 5000, None), (3, 7, 9000, False)],
    "things": [
        (1, 7, 2, "a", True, day(1), day(4), 450),
        (2, None, 0, None, None, day(31), None, None),
        (3, -7, 2, "b", False, day(10), day(1), 0),
    ],
    "serves": [("LAS", "Zion"), ("SLC", "Arches")],
    "minutes": [("LAS", "Zion", 160), ("SLC", "Arches", 230), ("SLC", "Zion", None)],
    "short": [(2,)],
}

TASK = """
cobench: 1
id: t1
dataset: tiny
given: {guests: 3}
choose:
  hotel: stays
  flight: flights
constraints:
  park: hotel.hotel_park == "Zion"
  origin: serves(flight.lands, hotel.hotel_park)
  dates: flight.departs_on == hotel.check_in
minimize: hotel.total_price + flight.price
"""


class World:
    """A folder with a manifest and tables, some of them changed."""

    def __init__(self, folder: Path, **changed: Any) -> None:
        self.folder = folder
        folder.mkdir(exist_ok=True)
        (folder / "dataset.yaml").write_text(changed.pop("manifest", MANIFEST), encoding="utf-8")
        for name, types in TYPES.items():
            self.write(name, changed.get(name, ROWS[name]), types)
        self.manifest = load_manifest(folder / "dataset.yaml")

    def write(self, name: str, rows: Any, types: dict[str, pa.DataType]) -> None:
        path = self.folder / f"{name}.parquet"
        if isinstance(rows, bytes):
            path.write_bytes(rows)
        elif isinstance(rows, pa.Table):
            pq.write_table(rows, path)
        elif rows is not None:
            columns = list(zip(*rows, strict=True)) or [()] * len(types)
            arrays = [pa.array(values, kind) for values, kind in zip(columns, types.values(), strict=True)]
            pq.write_table(pa.table(dict(zip(types, arrays, strict=True))), path)

    def problem(self, task: str = TASK) -> Problem:
        return pose(parse_task(task), self.manifest)

    def open(self, task: str = TASK) -> tuple[Problem, Data]:
        problem = self.problem(task)
        return problem, open_data(self.folder, problem)


@pytest.fixture
def world(tmp_path: Path) -> World:
    return World(tmp_path)


def task_on(choose: dict[str, str], constraints: dict[str, str], objective: str, guests: int = 3) -> str:
    lines = ["cobench: 1", "id: t1", "dataset: tiny", f"given: {{guests: {guests}}}", "choose:"]
    lines += [f"  {name}: {table}" for name, table in choose.items()]
    lines += ["constraints:"] * bool(constraints)
    lines += [f"  {name}:\n    require: {text}" for name, text in constraints.items()]
    return "\n".join([*lines, objective, ""])


# ---------------------------------------------------------------------------------------------------- expressions


def values_of(world: World, text: str) -> list[Any]:
    """The values of an expression over `x` on the rows of things."""
    uses = 'short(x.m) or known(minutes(\'LAS\', "Zion")) or serves("LAS", "Zion")'.replace("'", '"')
    problem, data = world.open(task_on({"x": "things"}, {"uses": uses}, "minimize: x.m"))
    bound = problem.world
    scope = Scope({"x": bound.tables["things"].types}, bound.parameters, bound.signatures())
    source = ExpressionText(text)
    look = data.function("things", bind(parse(source), source, scope))
    return [look(row) for row in data.rows("things")]


@pytest.mark.parametrize(
    ("text", "expected"),
    [
        ("x.n", [7, None, -7]),
        ("guests", [3, 3, 3]),
        ("x.n + x.m", [9, None, -5]),
        ("x.n + x.m - x.thing", [8, None, -8]),
        ("-x.n", [-7, None, 7]),
        ("x.n * x.m", [14, None, -14]),
        ("x.n * 0", [0, None, 0]),
        ("ceil(x.n / 2)", [4, None, -3]),
        ("floor(x.n / 2)", [3, None, -4]),
        ("ceil(x.n / x.thing)", [7, None, -2]),
        ("floor(x.n / x.thing)", [7, None, -3]),
        ("max(x.n, x.m)", [7, None, 2]),
        ("min(x.n, x.m, x.thing)", [1, None, -7]),
        ("abs(x.n)", [7, None, 7]),
        ("days_between(x.d, x.e)", [3, None, -9]),
        ("weekday(x.d)", ["fri", "sun", "sun"]),
        ("weekday(x.e)", ["mon", None, "fri"]),
        ("day(x.d)", [1, 31, 10]),
        ("x.n < 7", [False, None, True]),
        ("x.n <= 7", [True, None, True]),
        ("x.n == 7", [True, None, False]),
        ("x.n != 7", [False, None, True]),
        ("x.n > -7", [True, None, False]),
        ("x.n >= -7", [True, None, True]),
        ('x.s == "a"', [True, None, False]),
        ('x.t >= "07:30"', [True, None, False]),
        ('x.e in ["2025-08-04", "2025-08-02"]', [True, None, False]),
        ('x.s in ["a", "b"]', [True, None, True]),
        ("x.n not in [1, 7]", [False, None, True]),
        ("not x.b", [False, None, True]),
        ("x.b and x.m > 0", [True, False, False]),
        ("x.m == 0 and x.b", [False, None, False]),
        ("x.b and x.n < 0", [False, None, False]),
        ("x.b or x.m == 0", [True, True, False]),
        ("x.m > 0 or x.b", [True, None, True]),
        ("x.n > 9 or x.b", [True, None, False]),
        ("x.m < 0 or x.b", [True, None, False]),
        ("known(x.n)", [True, False, True]),
        ("known(x.b or x.m == 0)", [True, True, True]),
        ("count(x.b, x.n < 0, x.m == 0)", [1, 1, 1]),
        ("count(x.b, true)", [2, 1, 1]),
        ("short(x.m)", [True, False, True]),
        ("short(x.n)", [False, None, False]),
        ("not short(x.n)", [True, None, True]),
        ('minutes("LAS", "Zion")', [160, 160, 160]),
        ('minutes("SLC", "Zion")', [None, None, None]),
        ('minutes("XXX", "Zion")', [None, None, None]),
        ('serves("LAS", "Arches")', [False, False, False]),
    ],
)
def test_every_node_means_what_the_language_says(world: World, text: str, expected: list[Any]) -> None:
    found = values_of(world, text)
    assert found == expected
    assert [type(item) for item in found] == [type(item) for item in expected]


@pytest.mark.parametrize("op", ["and", "or"])
def test_kleene_tables(op: str) -> None:
    for left, right in itertools.product([True, False, None], repeat=2):
        names = [ex.Column("", name, BOOL, Span(0, 0)) for name in ("l", "r")]
        node = (ex.And if op == "and" else ex.Or)(tuple(names), BOOL, Span(0, 0))
        row = {"l": left, "r": right}
        found = check.compiled(node, lambda part: operator.itemgetter(part.column), {})(row)
        decisive = op == "or"
        expected = decisive if decisive in (left, right) else None if None in (left, right) else not decisive
        assert found is expected


def test_numbers_do_not_wrap(tmp_path: Path) -> None:
    big = 2**63 - 1
    world = World(tmp_path, things=[(1, big, big, "a", True, day(1), None, None)])
    assert values_of(world, "x.n * x.m") == [big * big]
    assert values_of(world, "x.n + x.m + x.thing") == [2 * big + 1]


def test_division_by_zero_is_an_error_of_the_data(world: World) -> None:
    with pytest.raises(TableError, match="denominator 0"):
        values_of(world, "ceil(x.thing / x.m)")


# ---------------------------------------------------------------------------------------------------- files


def test_derived_and_referenced_columns(world: World) -> None:
    _, data = world.open()
    seen = {name: [data.column("stays", name)(row) for row in data.rows("stays")] for name in ("rooms", "total_price")}
    assert seen == {"rooms": [2, 2, 2, 1, 1], "total_price": [20000, 28000, 30000, 19000, 12000]}
    assert [data.column("stays", "hotel_score")(row) for row in data.rows("stays")] == [87, 87, 87, None, 65]
    assert data.bases("stays", ex.Column("", "total_price", BOOL, Span(0, 0))) == {"config", "room_price"}


def test_ids_with_an_optional_part(world: World) -> None:
    problem, data = world.open()
    assert [data.id("flights", row) for row in data.rows("flights")] == ["f_A1", "f_A2_DEN", "f_B1"]
    assert data.find("flights", "f_A2_DEN") == 1
    assert data.find("flights", "f_A2") is None
    assert [data.id("stays", row) for row in data.offers("stays").values()] == [
        "pkg_c1_8_10_2",
        "pkg_c1_9_12_2",
        "pkg_c2_8_10_1",
        "pkg_c3_8_10_1",
    ]
    assert data.find("stays", "pkg_c1_08_10_2") is None
    with pytest.raises(TableError, match="'rooms' has no offer ids"):
        data.offers("rooms")
    assert problem.choices == {"hotel": "stays", "flight": "flights"}


def test_dates_in_ids(world: World) -> None:
    _, data = world.open(task_on({"x": "things"}, {}, "minimize: x.m"))
    assert data.find("things", "t_1_2025-08-01") == 0
    assert data.find("things", "t_1_2025-08-1") is None
    assert data.find("things", "t_1_20250801") is None


def golden(columns: dict[str, tuple[bytes, bool, bytes]], rows: int) -> str:
    stream = b"cobench table 1\n" + struct.pack("<q", rows)
    for name, (letter, nulls, content) in sorted(columns.items()):
        stream += struct.pack("<q", len(name)) + name.encode() + letter + (b"\1" if nulls else b"\0") + content
    return "sha256:" + hashlib.sha256(stream).hexdigest()


def things_digest() -> str:
    def texts(*values: str) -> bytes:
        return struct.pack(f"<{len(values)}q", *(len(v.encode()) for v in values)) + "".join(values).encode()

    return golden(
        {
            "thing": (b"n", False, struct.pack("<3q", 1, 2, 3)),
            "n": (b"n", True, b"\0\1\0" + struct.pack("<3q", 7, 0, -7)),
            "m": (b"n", False, struct.pack("<3q", 2, 0, 2)),
            "s": (b"s", True, b"\0\1\0" + texts("a", "", "b")),
            "b": (b"b", True, b"\0\1\0" + b"\1\0\0"),
            "d": (b"d", False, struct.pack("<3i", day(1), day(31), day(10))),
            "e": (b"d", True, b"\0\1\0" + struct.pack("<3i", day(4), 0, day(1))),
            "t": (b"t", True, b"\0\1\0" + struct.pack("<3q", 450, 0, 0)),
        },
        3,
    )


def test_digest_follows_the_documented_bytes(world: World) -> None:
    _, data = world.open(task_on({"x": "things"}, {"short": "short(x.m)"}, "minimize: x.m"))
    assert data.digests == {"things": things_digest()}
    assert data.relation_digests == {"short": golden({"m": (b"n", False, struct.pack("<q", 2))}, 1)}


def test_digest_is_blind_to_order_chunks_dictionaries_and_offsets(tmp_path: Path) -> None:
    names = list(TYPES["things"])
    rows = [ROWS["things"][at] for at in (2, 0, 1)]
    arrays = [
        pa.array(values, kind) for values, kind in zip(zip(*rows, strict=True), TYPES["things"].values(), strict=True)
    ]
    arrays[names.index("s")] = arrays[names.index("s")].dictionary_encode()
    table = pa.table(dict(zip(names, arrays, strict=True)))
    wider = table.append_column("extra", pa.array([1, 2, 3])).select([*reversed(names), "extra"])
    world = World(tmp_path)
    pq.write_table(wider, tmp_path / "things.parquet", row_group_size=1, compression="gzip")
    problem, data = world.open(task_on({"x": "things"}, {}, "minimize: x.m"))
    assert data.digests == {"things": things_digest()}
    assert data.id("things", 0) == "t_1_2025-08-01"
    view = pa.array(["a", None, "b"], pa.string_view())
    assert check._plain(pa.chunked_array([view])).type == pa.large_string()
    sliced = pa.array(["xx", "é", "z"], pa.large_string()).slice(1)
    assert bytes(check._text_bytes(sliced)) == "éz".encode()
    assert problem.tables() == ["things"]


def test_an_empty_table_is_a_table(tmp_path: Path) -> None:
    world = World(tmp_path, things=[], short=[])
    problem, data = world.open(task_on({"x": "things"}, {"short": "short(x.m)"}, "minimize: x.m"))
    nothing = {
        name: (check._LETTERS[kind.kind], False, b"") for name, kind in problem.world.tables["things"].stored.items()
    }
    assert data.digests == {"things": golden(nothing, 0)}
    assert not data.offers("things")


def test_rows_are_in_the_order_of_utf8_bytes(tmp_path: Path) -> None:
    names = ["z", "é", "\uffff", "\U00010400", "aa", "a"]
    world = World(tmp_path, rooms=[(name, "h1", 2) for name in names], stays=[])
    _, data = world.open()
    assert list(data.by_key("rooms")) == sorted(names, key=str.encode)


def rewritten(name: str, column: str, kind: pa.DataType, values: list[Any]) -> pa.Table:
    kinds = {**TYPES[name], column: kind}
    columns = dict(zip(TYPES[name], zip(*ROWS[name], strict=True), strict=True)) | {column: values}
    return pa.table({at: pa.array(found, kinds[at]) for at, found in columns.items()})


@pytest.mark.parametrize(
    ("changed", "message"),
    [
        ({"cars": None}, "the file is missing"),
        ({"cars": b"garbage"}, "not a readable Parquet file"),
        ({"cars": rewritten("cars", "size", pa.int32(), [1, 2, 3])}, "'size' holds int32, not int64"),
        ({"cars": rewritten("cars", "size", pa.float64(), [1, 2, 3])}, "'size' holds double, not int64"),
        ({"cars": rewritten("cars", "electric", pa.int64(), [1, 2, 3])}, "'electric' holds int64, not bool"),
        ({"cars": rewritten("cars", "size", pa.int64(), [1, None, 3])}, "'size' holds 1 nulls, and is not nullable"),
        (
            {"cars": rewritten("cars", "size", pa.int64(), [1, 2, 3]).drop_columns(["price"])},
            "there are 0 columns 'price'",
        ),
        ({"cars": [ROWS["cars"][0], *ROWS["cars"]]}, "two rows have the same key: car 1"),
        ({"hotels": [("h1", "Mars", True, 1)]}, "'park' holds 'Mars', which is none of its values"),
        ({"rooms": [*ROWS["rooms"], ("c9", "h9", 1)]}, "'hotel' refers to 'h9', which is no key of 'hotels'"),
        ({"serves": [("LAS", "Zion")] * 2}, "two rows have the same key: airport 'LAS', park 'Zion'"),
        ({"stays": [("c1", 10**7, 10**7, 1, 1)]}, "'check_in' holds a date outside the years 1 to 9999"),
        (
            {
                "cars": pa.table(
                    [*rewritten("cars", "size", pa.int64(), [1, 2, 3]).columns, pa.array([1, 2, 3])],
                    names=[*TYPES["cars"], "size"],
                )
            },
            "there are 2 columns 'size'",
        ),
    ],
)
def test_files_that_do_not_fit_the_manifest_are_refused(tmp_path: Path, changed: dict[str, Any], message: str) -> None:
    world = World(tmp_path, **changed)
    problem = world.problem(
        task_on({"hotel": "stays", "car": "cars"}, {"serves": 'serves("LAS", hotel.hotel_park)'}, "minimize: car.price")
    )
    with pytest.raises(TableError, match=message) as caught:
        open_data(tmp_path, problem)
    assert str(tmp_path) in str(caught.value)


def test_text_that_is_no_utf8_is_refused(tmp_path: Path) -> None:
    world = World(tmp_path)
    content = (tmp_path / "flights.parquet").read_bytes()
    plain = rewritten("flights", "lands", pa.string(), ["QQQQ", "QQQQ", "QQQQ"])
    pq.write_table(plain, tmp_path / "flights.parquet", compression="none", use_dictionary=False)
    content = (tmp_path / "flights.parquet").read_bytes()
    (tmp_path / "flights.parquet").write_bytes(content.replace(b"QQQQ", b"Q\xff\xfeQ"))
    with pytest.raises(TableError, match="not a readable Parquet file"):
        world.open()


def test_two_offers_with_one_id(tmp_path: Path) -> None:
    september = ("c1", day(8 + 31), day(10 + 31), 1, 2)
    problem, data = World(tmp_path, stays=[*ROWS["stays"], september]).open()
    with pytest.raises(TableError, match="two offers of 'stays' have the id 'pkg_c1_8_10_2'"):
        data.offers(problem.choices["hotel"])
    unavailable = (*september[:4], 1)
    problem, data = World(tmp_path, stays=[*ROWS["stays"], unavailable]).open()
    assert len(data.offers(problem.choices["hotel"])) == 4


def test_an_offer_is_found_by_its_id_as_among_all_offers(tmp_path: Path) -> None:
    shuffled = [*ROWS["stays"][::-1], ("c1", day(8), day(13), 1, 2)]
    for table, number in (("stays", "total_price"), ("flights", "price"), ("cars", "price"), ("things", "m")):
        world, task = World(tmp_path / table, stays=shuffled), task_on({"x": table}, {}, f"minimize: x.{number}")
        (_, data), (_, other) = world.open(task), world.open(task)
        ids = [data.id(table, row) for row in data.rows(table)]
        wrong = [*(f"{text}0" for text in ids), *(text.replace("1", "x") for text in ids), "pkg_c1_8_10_x", "f_", "t_x"]
        for offer in [*ids, *wrong]:
            values = other.parse(table, offer)
            assert data.find(table, offer) == (None if values is None else other.offers(table).get(values)), offer


def test_an_id_that_two_offers_have_is_not_found(tmp_path: Path) -> None:
    september = ("c1", day(8 + 31), day(10 + 31), 1, 2)
    _, data = World(tmp_path, stays=[*ROWS["stays"], september]).open()
    with pytest.raises(TableError, match="two offers of 'stays' have the id 'pkg_c1_8_10_2'"):
        data.find("stays", "pkg_c1_8_10_2")
    assert data.find("stays", "pkg_c2_8_10_1") is not None


def test_text_that_cannot_stand_in_an_id(tmp_path: Path) -> None:
    problem, data = World(tmp_path, flights=[("A_1", None, "LAS", day(8), 1, True, 1)]).open()
    with pytest.raises(TableError, match="'A_1' in 'flight' of 'flights' cannot stand in an id"):
        data.offers(problem.choices["flight"])


# ---------------------------------------------------------------------------------------------------- plans


def unknown(world: World, task: str = TASK, **picks: str) -> str:
    problem, data = world.open(task)
    found = evaluate(problem, data, Plan.of(picks))
    assert found.value is None
    assert not found.violations
    assert not found.feasible
    return " | ".join(found.unknown)


def test_a_feasible_plan_has_its_value(world: World) -> None:
    problem, data = world.open()
    found = evaluate(problem, data, Plan.of({"hotel": "pkg_c1_8_10_2", "flight": "f_A1"}))
    assert found == check.Evaluation(50000, (), ())
    assert found.feasible


@pytest.mark.parametrize(
    ("offer", "reason"),
    [
        ("pkg_c1_8_10", "its ids have the form pkg_{config}_{start_day}_{end_day}_{rooms}"),
        ("pkg_c1_8_10_1", "for this offer rooms is 2 (ceil(guests / capacity)), the id says 1"),
        ("pkg_c1_8_11_2", "available >= rooms is 1, under by 1"),
        ("pkg_c7_8_10_2", "no offer has config c7"),
        ("pkg_c1_40_10_2", "no offer has start_day 40"),
        ("pkg_c1_8_12_2", "no offer has start_day 8 with the other parts"),
        ("pkg_c3_9_11_1", "no offer has these parts together"),
        ("pkg_c1_08_10_2", "no offer has start_day 08"),
    ],
)
def test_why_an_id_is_no_offer(world: World, offer: str, reason: str) -> None:
    if "under by" in reason:
        reason = "available is 1 and rooms is 2, under by 1"
    assert unknown(world, hotel=offer, flight="f_A1") == f"hotel: '{offer}' is no offer of 'stays': {reason}"


def test_why_an_id_with_an_optional_part_is_no_offer(world: World) -> None:
    assert unknown(world, hotel="pkg_c1_8_10_2", flight="A1").endswith("its ids have the form f_{flight}[_{stop}]")
    assert unknown(world, hotel="pkg_c1_8_10_2", flight="f_A2").endswith(
        "for this offer stop is DEN, the id says nothing"
    )
    assert unknown(world, hotel="pkg_c1_8_10_2", flight="f_A1_X").endswith(
        "for this offer stop is nothing, the id says X"
    )


def test_a_require_that_is_no_comparison_of_numbers(tmp_path: Path) -> None:
    manifest = MANIFEST.replace("id: car_{car}", "id: car_{car}\n    require: electric and size > 4")
    world = World(tmp_path, manifest=manifest)
    task = task_on({"car": "cars"}, {}, "minimize: car.price")
    assert unknown(world, task, car="car_1").endswith("size is 4, under by 1")
    assert unknown(world, task, car="car_2").endswith("electric is unknown: electric is unknown")
    assert unknown(world, task, car="car_3").endswith("electric fails: electric is false")


def test_picks_that_are_not_one_for_each_choice(world: World) -> None:
    problem, data = world.open()
    picks = {"hotel": (Pick(id="a"), Pick(id="b")), "car": (Pick(id="c"),)}
    assert evaluate(problem, data, Plan(picks=picks)).unknown == (
        "'car' is no choice of this task",
        "hotel: 2 offers are picked, one is needed",
        "flight: no offers are picked, one is needed",
    )
    timed = Plan(picks={"hotel": (Pick(id="pkg_c1_8_10_2"),), "flight": (Pick(id="f_A1", start=60),)})
    assert evaluate(problem, data, timed).unknown == (
        "flight: 'f_A1' has a start time, which this task does not ask for",
    )


BOTH = {"hotel": "stays", "flight": "flights"}


@pytest.mark.parametrize(
    ("condition", "detail", "amount", "unit", "scale"),
    [
        (
            "hotel.total_price + flight.price <= 450",
            "hotel.total_price + flight.price is $500.00, over by $50.00",
            5000,
            "USD",
            100,
        ),
        (
            "hotel.total_price + flight.price < 500",
            "hotel.total_price + flight.price is $500.00, over by $0.01",
            1,
            "USD",
            100,
        ),
        (
            "hotel.total_price >= flight.price",
            "hotel.total_price is $200.00 and flight.price is $300.00, under by $100.00",
            10000,
            "USD",
            100,
        ),
        (
            "hotel.total_price > flight.price - 100",
            "hotel.total_price is $200.00 and flight.price - 100 is $200.00, under by $0.01",
            1,
            "USD",
            100,
        ),
        (
            "450 >= flight.price + hotel.total_price",
            "flight.price + hotel.total_price is $500.00, over by $50.00",
            5000,
            "USD",
            100,
        ),
        ("6 <= flight.seats", "flight.seats is 5, under by 1", 1, "", 1),
        ("flight.seats == 7", "flight.seats is 5, off by 2", 2, "", 1),
        ("hotel.hotel_score >= 9", "hotel.hotel_score is 8.7, under by 0.3", 3, "", 10),
        ("flight.seats != 5", "flight.seats != 5 fails: flight.seats is 5", None, "", 1),
        ("(hotel.rooms + flight.seats) <= 9 <= flight.seats", "flight.seats is 5, under by 4", 4, "", 1),
        (
            'weekday(hotel.check_in) == "sat"',
            'weekday(hotel.check_in) == "sat" fails: hotel.check_in is 2025-08-08 (fri)',
            None,
            "",
            1,
        ),
        (
            "not flight.direct and flight.seats > 5",
            "not flight.direct fails: flight.direct is true; flight.seats is 5, under by 1",
            None,
            "",
            1,
        ),
        ('serves("SLC", "Zion")', 'serves("SLC", "Zion") fails', None, "", 1),
        (
            'minutes("SLC", hotel.hotel_park) <= 99',
            "minutes(\"SLC\", hotel.hotel_park) <= 99 is unknown: hotel.hotel_park is 'Zion'",
            None,
            "",
            1,
        ),
        (
            "flight.departs_on != hotel.check_in",
            "flight.departs_on != hotel.check_in fails: flight.departs_on is 2025-08-08, hotel.check_in is 2025-08-08",
            None,
            "",
            1,
        ),
    ],
)
def test_violations_say_what_is_and_by_how_much(
    world: World, condition: str, detail: str, amount: int | None, unit: str, scale: int
) -> None:
    problem, data = world.open(task_on(BOTH, {"wish": condition}, "minimize: hotel.total_price"))
    found = evaluate(problem, data, Plan.of({"hotel": "pkg_c1_8_10_2", "flight": "f_A1"}))
    assert found.value == 20000
    (violation,) = found.violations
    assert (violation.constraint, violation.detail) == ("wish", detail)
    assert (violation.amount, violation.unit, violation.scale) == (amount, unit, scale)


def test_a_null_date_has_no_weekday(world: World) -> None:
    problem, data = world.open(task_on({"x": "things"}, {"w": 'weekday(x.e) == "fri"'}, "minimize: x.m"))
    (violation,) = evaluate(problem, data, Plan.of({"x": "t_2_2025-08-31"})).violations
    assert violation.detail == 'weekday(x.e) == "fri" is unknown: x.e is unknown'


def test_an_unknown_objective(world: World) -> None:
    task = task_on({"flight": "flights"}, {"known": "known(flight.seats)"}, "maximize: flight.seats")
    problem, data = world.open(task)
    assert evaluate(problem, data, Plan.of({"flight": "f_A2_DEN"})).value is None
    unguarded = replace(problem, constraints=())
    with pytest.raises(TableError, match="objective of a feasible plan is unknown"):
        evaluate(unguarded, data, Plan.of({"flight": "f_A2_DEN"}))
