"""The checker on tiny worlds written by hand: expressions, files, plans in words, recomputation, and every finding."""

from __future__ import annotations

import hashlib
import itertools
import operator
import random
import struct
from collections import Counter
from pathlib import Path
from typing import Any

import pyarrow as pa
import pyarrow.parquet as pq
import pytest
from cobench.schemas import expression as ex
from cobench.schemas.binding import Scope, bind
from cobench.schemas.certificate import Certificate, Grade, read_certificate
from cobench.schemas.errors import TableError
from cobench.schemas.manifest import load_manifest
from cobench.schemas.plan import Pick, Plan
from cobench.schemas.problem import Problem, pose
from cobench.schemas.syntax import ExpressionText, Span, parse
from cobench.schemas.task import parse_task
from cobench.schemas.units import BOOL
from cobench.solver import check
from cobench.solver.check import Data, Report, evaluate, grades, open_data, recompute, replay, wrong_grades

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
    assert recompute(problem, data) == check.Feasible((), None)


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
        recompute(problem, data)
    unavailable = (*september[:4], 1)
    problem, data = World(tmp_path, stays=[*ROWS["stays"], unavailable]).open()
    assert recompute(problem, data) is not None


def test_text_that_cannot_stand_in_an_id(tmp_path: Path) -> None:
    problem, data = World(tmp_path, flights=[("A_1", None, "LAS", day(8), 1, True, 1)]).open()
    with pytest.raises(TableError, match="'A_1' in 'flight' of 'flights' cannot stand in an id"):
        recompute(problem, data)


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
    unguarded = Problem(
        problem.id, problem.digest, problem.world, problem.choices, (), problem.objective, problem.expected
    )
    with pytest.raises(TableError, match="objective of a feasible plan is unknown"):
        evaluate(unguarded, data, Plan.of({"flight": "f_A2_DEN"}))
    with pytest.raises(TableError, match="objective of a feasible plan is unknown"):
        recompute(unguarded, data)


# ---------------------------------------------------------------------------------------------------- the whole


def brute_force(problem: Problem, data: Data) -> check.Feasible:
    """All plans, one by one, each evaluated on its own."""
    offers = [[data.id(table, row) for row in data.offers(table).values()] for table in problem.choices.values()]
    values: Counter[int] = Counter()
    best: dict[int, tuple[bytes, ...]] = {}
    for ids in itertools.product(*offers):
        found = evaluate(problem, data, Plan.of(dict(zip(problem.choices, ids, strict=True))))
        if found.feasible:
            assert found.value is not None
            values[found.value] += 1
            key = tuple(offer.encode() for offer in ids)
            best[found.value] = min(best.get(found.value, key), key)
    ordered = sorted(values.items(), reverse=problem.objective.maximize)
    plan = Plan.of(dict(zip(problem.choices, map(bytes.decode, best[ordered[0][0]]), strict=True))) if ordered else None
    return check.Feasible(tuple(ordered), plan)


THREE = {"car": "cars", "hotel": "stays", "flight": "flights"}


@pytest.mark.parametrize(
    ("choose", "constraints", "objective"),
    [
        (BOTH, {}, "minimize: hotel.total_price + flight.price"),
        (
            BOTH,
            {"a": "flight.departs_on == hotel.check_in"},
            "maximize: count(hotel.hotel_pool, flight.direct, flight.seats > 2)",
        ),
        (BOTH, {"a": "hotel.check_in == flight.departs_on"}, "minimize: flight.price"),
        (BOTH, {"a": 'flight.lands == "LAS" or hotel.hotel_pool'}, "minimize: 7 * flight.price - hotel.total_price"),
        (
            BOTH,
            {"a": "serves(flight.lands, hotel.hotel_park)", "b": "hotel.total_price + flight.price <= 490"},
            "minimize: hotel.total_price",
        ),
        (BOTH, {"a": '"false"'}, "minimize: hotel.total_price"),
        (BOTH, {"a": '"true"'}, 'minimize: "5"'),
        (BOTH, {"a": 'serves("LAS", "Arches")'}, "minimize: flight.price"),
        (BOTH, {"a": "flight.seats == hotel.rooms"}, "minimize: flight.price"),
        (
            BOTH,
            {"a": "flight.seats > hotel.rooms"},
            "maximize: min(flight.price, hotel.total_price, flight.price + 1, 310)",
        ),
        (
            BOTH,
            {"a": "minutes(flight.lands, hotel.hotel_park) <= 170"},
            "minimize: abs(flight.price - hotel.total_price)",
        ),
        (BOTH, {"a": "flight.seats > 99"}, "minimize: flight.price"),
        ({"flight": "flights"}, {"a": "flight.direct"}, "minimize: flight.price"),
        (THREE, {}, "minimize: car.price + hotel.total_price + flight.price + 1"),
        (
            THREE,
            {"a": "car.price + hotel.total_price + flight.price <= 600"},
            "maximize: count(hotel.hotel_pool, car.electric, flight.direct, car.size > 4, hotel.rooms == 2, true)",
        ),
        (
            THREE,
            {"a": "flight.seats == car.size - 2 or hotel.hotel_pool", "b": "hotel.check_in == flight.departs_on"},
            "minimize: max(car.price, hotel.total_price, flight.price)",
        ),
        (
            THREE,
            {
                "a": "car.electric or flight.direct or hotel.hotel_pool",
                "b": "hotel.rooms <= car.size and flight.seats <= car.size",
            },
            "maximize: 2 * (car.size + hotel.rooms + flight.seats) - car.car",
        ),
        (
            THREE,
            {"a": "not (car.electric and flight.direct and hotel.hotel_pool)", "k": "known(flight.seats)"},
            "maximize: flight.seats + hotel.rooms + car.size + 2 * (car.car + flight.seats + car.size)",
        ),
        (
            {"c": "cars", "d": "cars", "e": "cars"},
            {"a": "c.car != d.car", "b": "d.car != e.car", "c2": "c.price + d.price == e.price + 10"},
            "minimize: c.size + d.size + e.size",
        ),
        (
            {"c": "cars", "d": "cars", "e": "cars", "f": "cars"},
            {"a": "c.car < d.car < e.car or f.electric"},
            "maximize: c.price + d.price + e.price + f.price",
        ),
    ],
)
def test_recomputing_equals_brute_force(
    world: World, choose: dict[str, str], constraints: dict[str, str], objective: str
) -> None:
    if "flight.seats" in objective:
        constraints = {**constraints, "known": "known(flight.seats)"}
    problem, data = world.open(task_on(choose, constraints, objective))
    assert recompute(problem, data) == brute_force(problem, data)


ATOMS = [
    "c.car != d.car",
    "d.car == e.size - 3",
    "c.size == e.size",
    "c.electric == d.electric",
    "c.electric != e.electric",
    "c.electric or d.electric or e.electric",
    "not (c.electric and d.electric)",
    "known(d.electric) or c.size > 4",
    "c.price + d.price + e.price <= 190",
    "c.price - e.price < 30",
    "2 * c.size + d.size >= e.size + e.car",
    "c.size + d.size == e.size + e.car",
    "max(c.size, d.size, e.size) - min(c.size, d.size) <= 2",
    "count(c.electric, d.electric, e.electric, true) in [2, 3]",
    "short(c.size - d.size)",
    "not short(d.car)",
    'minutes("LAS", "Zion") > 100 or c.car == d.car',
    "abs(c.size - d.size) != abs(d.size - e.size)",
    "e.electric",
    "ceil(d.price / d.size) > 10",
    "known(e.electric) and c.car < d.car < e.car + 3",
]
GOALS = [
    "minimize: c.price + d.price + e.price",
    "maximize: count(c.electric, d.electric, e.electric, c.size > d.size)",
    "maximize: min(c.price, d.price, e.price) - max(c.price, d.price)",
    "minimize: abs(c.size - d.size) * 3 - e.size",
    "maximize: c.size + 2 * (d.size - e.size) + count(c.size == d.size or e.electric, e.electric)",
    "minimize: d.price",
]


@pytest.mark.parametrize("seed", range(60))
def test_recomputing_equals_brute_force_on_random_tasks(tmp_path: Path, seed: int) -> None:
    chance = random.Random(seed)  # noqa: S311
    cars = [
        (at, chance.randint(1, 5), chance.randint(1, 9) * 10, chance.choice([True, False, None])) for at in range(1, 8)
    ]
    world = World(tmp_path, cars=cars)
    choose = dict.fromkeys(chance.sample("cde", 3), "cars")
    conditions = {f"a{at}": text for at, text in enumerate(chance.sample(ATOMS, chance.randint(0, 4)))}
    problem, data = world.open(task_on(choose, conditions, chance.choice(GOALS)))
    assert recompute(problem, data) == brute_force(problem, data)


def test_numbers_of_equal_structure_but_other_constants_stay_apart(world: World) -> None:
    task = task_on(
        BOTH, {"a": "flight.price - 310 >= hotel.rooms * 0", "b": "flight.price - 300 >= 0"}, "minimize: flight.price"
    )
    with pytest.raises(Exception, match="cannot compare"):
        world.open(task)
    problem, data = world.open(
        task_on(BOTH, {"a": "flight.price - 310 >= 10 * hotel.total_price - 2000"}, "minimize: flight.price - 300")
    )
    assert recompute(problem, data) == brute_force(problem, data)


def test_fine_conditions_are_tried_for_each_pair(tmp_path: Path) -> None:
    cars = [(at, at * 37 % 11, at * 7919 % 1000, at % 3 == 0) for at in range(1, 31)]
    world = World(tmp_path, cars=cars)
    task = task_on(
        {"c": "cars", "d": "cars"},
        {"a": "c.price + d.price <= 9", "b": "c.size + 0 <= d.size * 3"},
        "maximize: c.price - 2 * d.size * 0 + d.price".replace("- 2 * d.size * 0 ", ""),
    )
    problem, data = world.open(task)
    assert recompute(problem, data) == brute_force(problem, data)
    assert recompute(problem, data, work_limit=100) is None


def test_any_optimum_scores_one(world: World) -> None:
    problem, data = world.open(task_on({"car": "cars"}, {}, "minimize: car.price"))
    truth = recompute(problem, data)
    assert truth is not None
    assert truth.values == ((5000, 2), (9000, 1))
    assert truth.plan == Plan.of({"car": "car_1"})
    assert [evaluate(problem, data, Plan.of({"car": offer})).value for offer in ("car_1", "car_2")] == [5000, 5000]


def test_offers_within(world: World) -> None:
    problem, data = world.open(task_on({"car": "cars"}, {}, "minimize: car.price"))
    assert recompute(problem, data, {"car": ["car_3", "car_2", "car_2", "none"]}) == check.Feasible(
        ((5000, 1), (9000, 1)), Plan.of({"car": "car_2"})
    )


# ---------------------------------------------------------------------------------------------------- claims


class Case:
    """A task with everything that a certificate of it needs."""

    def __init__(self, world: World, task: str) -> None:
        self.manifest = world.manifest
        self.problem, self.data = world.open(task)

    def truth(self) -> check.Feasible:
        found = recompute(self.problem, self.data)
        assert found is not None
        return found

    def certificate(self, claims: dict[str, Any] | None = None, **changes: Any) -> Certificate:
        kind = self.problem.objective.type
        content: dict[str, Any] = {
            "cobench_certificate": 1,
            "version": "0.1.0",
            "task": {"id": self.problem.id, "digest": self.problem.digest},
            "dataset": {
                "name": "tiny",
                "manifest": self.manifest.digest(),
                "tables": self.data.digests,
                "relations": self.data.relation_digests,
            },
            "scope": {},
            "objective": {
                "sense": "maximize" if self.problem.objective.maximize else "minimize",
                "unit": kind.unit,
                "scale": kind.scale,
            },
            "claims": self.claims() if claims is None else claims,
            "evidence": (),
            "digest": "",
        }
        for path, value in changes.items():
            place = content
            *steps, last = path.split("__")
            for step in steps:
                place[step] = dict(place[step])
                place = place[step]
            place[last] = value
        return Certificate.model_validate(content).sealed()

    def claims(self) -> dict[str, Any]:
        """True claims, as plain data."""
        truth = self.truth()
        count = {"at_least": truth.count, "at_most": truth.count, "grade": Grade.PROVED}
        if not truth.values:
            return {"status": {"value": "unsolvable", "grade": Grade.PROVED}, "count": count}
        assert truth.plan is not None
        optimum: dict[str, Any] = {
            "value": truth.values[0][0],
            "tied": truth.values[0][1],
            "plan": truth.plan.written(),
            "grade": Grade.PROVED,
        }
        optimum["plan"] = {"picks": optimum["plan"]}
        if len(truth.values) > 1:
            optimum["runner_up"] = truth.values[1][0]
        return {
            "status": {"value": "solvable", "grade": Grade.PROVED},
            "optimum": optimum,
            "count": count,
            "distribution": {"values": truth.values, "grade": Grade.PROVED},
        }

    def replay(self, certificate: Certificate, **limits: Any) -> Report:
        facts: dict[str, Any] = {"dataset": "tiny", "manifest_digest": self.manifest.digest()}
        return replay(self.problem, self.data, certificate, **{**facts, **limits})


def states(report: Report) -> dict[str, str]:
    return {finding.claim: finding.state for finding in report.findings}


def refuted(report: Report) -> list[tuple[str, str]]:
    return [(finding.claim, finding.detail) for finding in report.refuted]


TIES = task_on({"car": "cars"}, {"small": "car.size < 9"}, "minimize: car.price")
NONE = task_on({"car": "cars"}, {"small": "car.size < 1"}, "minimize: car.price")
PAIRS = task_on({"c": "cars", "d": "cars"}, {"two": "c.car != d.car"}, "maximize: c.price + d.price")


@pytest.fixture
def ties(world: World) -> Case:
    return Case(world, TIES)


@pytest.mark.parametrize("task", [TASK, TIES, NONE, PAIRS])
def test_a_true_certificate_is_proved(world: World, task: str) -> None:
    case = Case(world, task)
    certificate = case.certificate()
    report = case.replay(read_certificate(certificate.to_bytes(), "c.json"))
    assert not report.refuted
    assert set(states(report).values()) == {"confirmed"}
    assert set(grades(certificate, report).values()) == {Grade.PROVED}
    assert not wrong_grades(certificate, report)


@pytest.mark.parametrize(
    ("path", "value", "claim", "words"),
    [
        ("task__id", "t2", "task", "id is t1, the certificate says t2"),
        ("task__digest", "sha256:0", "task", "digest is sha256:"),
        ("dataset__name", "huge", "dataset", "name is tiny, the certificate says huge"),
        ("dataset__manifest", "sha256:0", "dataset", "manifest is sha256:"),
        ("dataset__tables", {"cars": "sha256:0"}, "dataset", "cars is sha256:"),
        ("dataset__tables", {}, "dataset", "the certificate says None"),
        ("dataset__relations", {"serves": "sha256:0"}, "dataset", "serves is None, the certificate says sha256:0"),
        ("objective__sense", "maximize", "objective", "sense is minimize"),
        ("objective__unit", "EUR", "objective", "unit is USD"),
        ("objective__scale", 1, "objective", "scale is 100"),
        ("scope", {"constraints": ["big"]}, "scope", "no constraint 'big'"),
        ("scope", {"within": {"bus": ["car_1"]}}, "scope", "no choice 'bus'"),
        ("scope", {"within": {"car": ["car_2", "car_1"]}}, "scope", "not in the order of their bytes"),
        ("scope", {"within": {"car": ["car_1", "car_1"]}}, "scope", "not in the order of their bytes"),
        ("scope", {"constraints": ["small", "small"]}, "scope", "not in file order, each once"),
        ("scope", {"within": {"car": ["car_1", "car_9"]}}, "scope", "no offer 'car_9'"),
    ],
)
def test_certificates_about_something_else(ties: Case, path: str, value: Any, claim: str, words: str) -> None:
    value = (
        {k: {a: tuple(b) for a, b in v.items()} if isinstance(v, dict) else tuple(v) for k, v in value.items()}
        if path == "scope"
        else value
    )
    certificate = ties.certificate(**{path: value})
    report = ties.replay(certificate)
    (finding,) = report.refuted
    assert finding.claim == claim
    assert words in finding.detail
    assert {states(report)[name] for name in certificate.claims.graded()} == {"not recomputed"}
    assert set(grades(certificate, report).values()) == {Grade.CLAIMED}


def test_scope_that_leaves_the_objective_unguarded_is_refuted(world: World) -> None:
    task = task_on({"flight": "flights"}, {"known": "known(flight.seats)"}, "maximize: flight.seats")
    case = Case(world, task)
    report = case.replay(case.certificate(scope={"constraints": ()}))
    assert "the objective might have no value" in dict(refuted(report))["scope"]


def test_scope_is_honoured(world: World) -> None:
    case = Case(world, TASK)
    scope = {"constraints": ("dates",), "within": {"flight": ("f_A2_DEN", "f_B1")}}
    restricted = case.problem.restrict(["dates"])
    truth = recompute(restricted, case.data, {"flight": ["f_B1", "f_A2_DEN"]})
    assert truth is not None
    assert truth.count == 4
    case.truth = lambda: truth  # type: ignore[method-assign]
    assert not case.replay(case.certificate(scope=scope, dataset__relations={})).refuted
    outside = {"hotel": [{"id": "pkg_c1_8_10_2"}], "flight": [{"id": "f_A1"}]}
    found = refuted(
        case.replay(case.certificate(scope=scope, dataset__relations={}, claims__optimum__plan={"picks": outside}))
    )
    assert dict(found)["witness"].startswith("the pick for flight is not within the scope")


@pytest.mark.parametrize(
    ("path", "value"),
    [
        ("status__value", "unsolvable"),
        ("status__value", "unknown"),
        ("status__reason", "time"),
        ("optimum", None),
        ("optimum__value", 4999),
        ("optimum__value", 5001),
        ("optimum__tied", 1),
        ("optimum__tied", 3),
        ("optimum__tied", 0),
        ("optimum__tied", 4),
        ("optimum__runner_up", None),
        ("optimum__runner_up", 9001),
        ("optimum__runner_up", 5000),
        ("optimum__plan", {"picks": {"car": [{"id": "car_2"}]}}),
        ("optimum__plan", {"picks": {"car": [{"id": "car_3"}]}}),
        ("optimum__plan", {"picks": {"car": [{"id": "car_9"}]}}),
        ("optimum__plan", {"picks": {"car": [{"id": "car_1", "start": 0}]}}),
        ("optimum__plan", {"picks": {"car": [{"id": "car_1"}], "bus": [{"id": "b"}]}}),
        ("optimum__plan", {"picks": {}}),
        ("count__at_least", 4),
        ("count__at_least", -1),
        ("count__at_most", 2),
        ("count__at_most", 4),
        ("count", None),
        ("distribution__values", ((5000, 2),)),
        ("distribution__values", ()),
        ("distribution__values", ((5000, 2), (9000, 2))),
        ("distribution__values", ((5000, 1), (9000, 2))),
        ("distribution__values", ((9000, 1), (5000, 2))),
        ("distribution__values", ((5000, 2), (9000, 1), (9001, 0))),
        ("distribution__values", ((5000, 2), (9001, 1))),
    ],
)
def test_every_changed_claim_is_refuted(ties: Case, path: str, value: Any) -> None:
    certificate = ties.certificate(**{f"claims__{path}": value})
    report = ties.replay(certificate)
    assert report.refuted
    assert Grade.PROVED not in {
        grades(certificate, report)[finding.claim]
        for finding in report.refuted
        if finding.claim in grades(certificate, report)
    }


def test_refutations_say_what_is_true(ties: Case) -> None:
    claims = {
        "status": {"value": "unsolvable", "grade": Grade.PROVED},
        "count": {"at_least": 0, "at_most": 0, "grade": Grade.PROVED},
    }
    assert refuted(ties.replay(ties.certificate(claims))) == [
        ("status", "the task is solvable"),
        ("count", "3 plans are feasible"),
    ]
    found = refuted(ties.replay(ties.certificate(claims__optimum__tied=1)))
    assert found == [
        ("optimum", "tied is 2, the certificate says 1"),
        ("distribution", "it does not begin with the optimum and the runner-up"),
    ]
    plan = {"picks": {"car": [{"id": "car_2"}]}}
    ((claim, detail),) = refuted(ties.replay(ties.certificate(claims__optimum__plan=plan)))
    assert claim == "optimum"
    assert "'car_1'" in detail
    assert "'car_2'" in detail


def test_an_unsolvable_task_claimed_solvable(world: World) -> None:
    case = Case(world, NONE)
    optimum = {"value": 5000, "tied": 1, "plan": {"picks": {"car": [{"id": "car_1"}]}}, "grade": Grade.PROVED}
    claims = {"status": {"value": "solvable", "grade": Grade.PROVED}, "optimum": optimum}
    found = dict(refuted(case.replay(case.certificate(claims))))
    assert found["status"] == "the task is unsolvable"
    assert found["witness"] == "small: car.size is 4, over by 4"
    assert "tied is 0, the certificate says 1" in found["optimum"]
    report = case.replay(case.certificate(claims__count={"at_least": 0, "at_most": 5, "grade": Grade.PROVED}))
    assert refuted(report) == [("count", "it does not fit the status unsolvable")]


def incumbent(case: Case, value: int, bound: int, offer: str = "car_3", **more: Any) -> Certificate:
    claim = {"value": value, "bound": bound, "plan": {"picks": {"car": [{"id": offer}]}}, "grade": Grade.PROVED}
    claims = {"status": {"value": "solvable", "grade": Grade.PROVED}, "incumbent": claim, **more}
    return case.certificate(claims)


def test_incumbents(ties: Case) -> None:
    assert not ties.replay(incumbent(ties, 9000, 4000)).refuted
    assert not ties.replay(incumbent(ties, 9000, 5000)).refuted
    assert refuted(ties.replay(incumbent(ties, 9000, 5001))) == [
        ("incumbent", "the optimum 5000 is better than the bound")
    ]
    assert dict(refuted(ties.replay(incumbent(ties, 5000, 5001, "car_1"))))["incumbent"].startswith(
        "the value is better"
    )
    wrong = "its plan has the value 9000, the certificate says 8999"
    assert refuted(ties.replay(incumbent(ties, 8999, 4000))) == [("witness", wrong), ("incumbent", wrong)]
    count = {"at_least": 1, "at_most": 10, "grade": Grade.PROVED}
    report = ties.replay(incumbent(ties, 9000, 4000, count=count))
    assert set(states(report).values()) == {"confirmed"}
    distribution = {"values": ((5000, 2), (9000, 1)), "grade": Grade.PROVED}
    exact = {"at_least": 3, "at_most": 3, "grade": Grade.PROVED}
    found = refuted(ties.replay(incumbent(ties, 9000, 4000, count=exact, distribution=distribution)))
    assert found == [("distribution", "it does not begin with the optimum and the runner-up")]


@pytest.mark.parametrize(
    ("claims", "found"),
    [
        ({"status": {"reason": "time"}}, []),
        ({"status": {}}, ["status"]),
        ({"status": {"reason": "time"}, "count": {"at_least": 0, "at_most": 9}}, []),
        ({"status": {"reason": "time"}, "count": {"at_least": 1, "at_most": 9}}, ["count"]),
        ({"status": {"reason": "time"}, "count": {"at_least": 0, "at_most": 0}}, ["count"]),
        ({"status": {"reason": "time"}, "distribution": {"values": ((5000, 2), (9000, 1))}}, ["distribution"]),
    ],
)
def test_unknown_claims_nothing_and_is_never_upgraded(ties: Case, claims: dict[str, Any], found: list[str]) -> None:
    graded = {name: {**claim, "grade": Grade.CLAIMED} for name, claim in claims.items()}
    graded["status"]["value"] = "unknown"
    evidence = tuple(answer(engine, "unknown") for engine in ("scan", "cpsat"))
    certificate = ties.certificate(graded, evidence=evidence)
    report = ties.replay(certificate)
    assert [name for name, _ in refuted(report)] == found
    assert grades(certificate, report)["status"] == Grade.CLAIMED
    if not found:
        assert states(report)["status"] == "not recomputed"


def answer(engine: str, status: str, value: int | None = None, count: int | None = None) -> dict[str, Any]:
    found = {"engine": engine, "version": "1", "parameters": {}, "status": status, "value": value, "count": count}
    return {key: item for key, item in found.items() if item is not None}


def test_beyond_the_limit_nothing_is_recomputed_but_the_witness(world: World) -> None:
    case = Case(world, PAIRS)
    evidence = (answer("scan", "optimal", 14000, 6), answer("cpsat", "optimal", 14000))
    certificate = case.certificate(evidence=evidence)
    report = case.replay(certificate, work_limit=3)
    assert not report.refuted
    assert states(report)["status"] == "confirmed"
    assert states(report)["witness"] == "confirmed"
    assert [finding.detail for finding in report.findings if finding.state == "not recomputed"] == [
        "it takes more than 3 steps"
    ] * 3
    assert grades(certificate, report) == {
        "status": Grade.PROVED,
        "optimum": Grade.AGREED,
        "count": Grade.CLAIMED,
        "distribution": Grade.CLAIMED,
    }
    assert [(finding.claim, finding.detail) for finding in wrong_grades(certificate, report)] == [
        ("optimum", "the grade must be agreed, the certificate says proved"),
        ("count", "the grade must be claimed, the certificate says proved"),
        ("distribution", "the grade must be claimed, the certificate says proved"),
    ]
    twice = (answer("scan", "optimal", 14000, 6), answer("scan", "optimal", 14000, 6))
    assert grades(case.certificate(evidence=twice), report)["optimum"] == Grade.CLAIMED
    counted = (*evidence, answer("mip", "feasible", 14000, 6))
    assert grades(case.certificate(evidence=counted), report)["count"] == Grade.AGREED
    false_plan = {"picks": {"c": [{"id": "car_1"}], "d": [{"id": "car_1"}]}}
    worse = case.certificate(evidence=evidence, claims__optimum__plan=false_plan)
    report = case.replay(worse, work_limit=3)
    assert [claim for claim, _ in refuted(report)] == ["witness", "optimum"]
    assert states(report)["status"] == "not recomputed"
    assert set(grades(worse, report).values()) == {Grade.CLAIMED}


def test_contradictions_are_seen_beyond_the_limit(world: World) -> None:
    case = Case(world, PAIRS)
    changes: list[tuple[str, Any]] = [
        ("optimum__tied", 7),
        ("optimum__tied", 6),
        ("optimum__runner_up", None),
        ("optimum__runner_up", 14001),
        ("count__at_least", 5),
        ("count__at_least", 7),
        ("optimum__value", 13999),
        ("count", None),
        ("distribution__values", ((14000, 4), (9999, 2))),
        ("distribution__values", ()),
    ]
    for path, value in changes:
        assert case.replay(case.certificate(**{f"claims__{path}": value}), work_limit=3).refuted, (path, value)


def test_unsolvable_can_be_agreed(world: World) -> None:
    case = Case(world, task_on({"c": "cars", "d": "cars"}, {"no": "c.car + d.car > 6"}, "minimize: c.price"))
    evidence = (answer("scan", "infeasible", count=0), answer("cpsat", "infeasible"))
    certificate = case.certificate(evidence=evidence)
    report = case.replay(certificate, work_limit=1)
    assert states(report)["status"] == "not recomputed"
    assert grades(certificate, report) == {"status": Grade.AGREED, "count": Grade.AGREED}


@pytest.mark.parametrize(
    ("entry", "words"),
    [
        (answer("scan", "infeasible"), "scan answered infeasible"),
        (answer("scan", "optimal", 4999), "scan answered the value 4999"),
        (answer("scan", "optimal", 9000), "scan answered the value 9000"),
        (answer("scan", "feasible", 4999), "scan answered the value 4999"),
        (answer("scan", "optimal", 5000, 4), "scan answered the count 4"),
        (answer("scan", "feasible", 9000, 1), ""),
        (answer("scan", "unknown"), ""),
    ],
)
def test_evidence_against_the_claims(ties: Case, entry: dict[str, Any], words: str) -> None:
    assert refuted(ties.replay(ties.certificate(evidence=(entry,)))) == ([("evidence", words)] if words else [])


def test_large_counts_are_written_as_text(tmp_path: Path) -> None:
    cars = [(at, 1, 100, True) for at in range(1, 1001)]
    case = Case(World(tmp_path, cars=cars), task_on(dict.fromkeys("abcdef", "cars"), {}, "minimize: a.price"))
    count = str(10**18)
    claims = case.claims()
    claims["optimum"]["tied"] = claims["count"]["at_least"] = claims["count"]["at_most"] = count
    claims["distribution"]["values"] = ((100, count),)
    assert not case.replay(case.certificate(claims)).refuted
    claims["count"]["at_most"] = str(10**18 + 1)
    assert case.replay(case.certificate(claims)).refuted


def test_reports_are_the_same_twice(world: World) -> None:
    case = Case(world, TASK)
    again = Case(world, TASK)
    assert case.replay(case.certificate()) == again.replay(again.certificate())


@pytest.mark.parametrize(("tied", "high"), [(0, None), (0, 9), (7, 6)])
def test_impossible_numbers_of_ties_are_refuted_without_recomputing(world: World, tied: int, high: int | None) -> None:
    case = Case(world, PAIRS)
    claims = {name: claim for name, claim in case.claims().items() if name in ("status", "optimum")}
    claims["optimum"]["tied"] = tied
    if high is not None:
        claims["count"] = {"at_least": 0, "at_most": high, "grade": Grade.PROVED}
    report = case.replay(case.certificate(claims), work_limit=3)
    assert refuted(report) == [("optimum", "as many plans cannot be tied")]


def test_claims_of_other_kinds_are_never_confirmed(world: World) -> None:
    case = Case(world, NONE)
    conflicts = {"conflicts": (("small",),), "corrections": (), "complete": True, "grade": Grade.PROVED}
    certificate = case.certificate({**case.claims(), "conflicts": conflicts})
    report = case.replay(certificate)
    assert states(report)["conflicts"] == "not recomputed"
    assert grades(certificate, report)["conflicts"] == Grade.CLAIMED
