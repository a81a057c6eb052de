"""Random small datasets with everything in them that makes answers go wrong; `phrases.py` writes tasks on them.

Values come from small ranges, so that plans tie; columns may be null; rows repeat under other ids; tables may be empty;
with `extreme` a column holds integers at the edges of 63 and 64 bits, for which a refusal is an acceptable answer.
"""

from __future__ import annotations

import datetime
from collections.abc import Callable
from dataclasses import dataclass, field
from pathlib import Path
from typing import Any

import pyarrow as pa
import pyarrow.parquet as pq
from hypothesis import strategies as st

Draw = Callable[[st.SearchStrategy[Any]], Any]

FIRST_DAY = datetime.date(2024, 2, 27)  # the days around it cross a month and a leap day
KINDS = ("inn", "hut", "çamp")
PLACES = ("Åre", "b", "Z")
ARROW = {"bool": pa.bool_(), "string": pa.string(), "date": pa.date32(), "time": pa.int64(), "number": pa.int64()}


@dataclass(frozen=True)
class Column:
    """A column as expressions see it, and the stored values that it may have."""

    name: str
    type: str
    unit: str = ""
    digits: int = 0
    values: tuple[str, ...] = ()
    nullable: bool = False
    pool: tuple[Any, ...] = ()

    def renamed(self, name: str) -> Column:
        return Column(name, self.type, self.unit, self.digits, self.values, self.nullable, self.pool)

    def spec(self) -> str:
        parts = [f"type: {self.type}"]
        parts += [f"unit: {self.unit}"] if self.unit else []
        parts += [f"digits: {self.digits}"] if self.digits else []
        parts += [f"values: [{', '.join(self.values)}]"] if self.values else []
        parts += ["nullable: true"] if self.nullable else []
        return "{" + ", ".join(parts) + "}"

    def cell(self, draw: Draw) -> Any:
        if self.nullable and draw(st.integers(0, 2)) == 0:
            return None
        return draw(st.sampled_from(self.pool))


DAYS = tuple(FIRST_DAY + datetime.timedelta(days=step) for step in range(5))
EDGES = (2**62, -(2**62), 2**63 - 1, -(2**63), 2**62 - 1, 2**61, 1, 0, -1)
POOL = (
    Column("price", "number", "USD", 2, pool=(-250, 0, 125, 150, 199, 300)),
    Column("fee", "number", "USD", 0, pool=(0, 1, 2, -1)),
    Column("km", "number", "km", 1, pool=(-3, 0, 5, 10, 15)),
    Column("mins", "number", "min", 0, pool=(0, 10, 20, 45)),
    Column("n", "number", pool=(-2, -1, 0, 1, 2, 3)),
    Column("m", "number", pool=(0, 1, 2)),
    Column("stars", "number", "", 1, pool=(10, 25, 40, 45)),
    Column("pool", "bool", pool=(True, False)),
    Column("pets", "bool", pool=(True, False)),
    Column("kind", "string", values=KINDS, pool=KINDS),
    Column("town", "string", pool=("Åre", "b", "O'Hare", "")),
    Column("day", "date", pool=DAYS),
    Column("until", "date", pool=DAYS),
    Column("at", "time", pool=(0, 450, 451, 1439)),
)
BIG = Column("big", "number", pool=EDGES)


@dataclass(frozen=True)
class Sheet:
    """What one Parquet file holds."""

    types: dict[str, str]
    rows: list[tuple[Any, ...]]

    def write(self, path: Path) -> None:
        lists = list(zip(*self.rows, strict=True)) or [()] * len(self.types)
        arrays = [pa.array(list(cells), ARROW[kind]) for cells, kind in zip(lists, self.types.values(), strict=True)]
        pq.write_table(pa.table(dict(zip(self.types, arrays, strict=True))), path)


@dataclass(frozen=True)
class Relation:
    """A relation as expressions see it; a number where `unit` is not None."""

    name: str
    args: tuple[Column, ...]
    unit: str | None


@dataclass
class World:
    """A dataset: its manifest, its files, and what expressions may name: the visible columns of its offer tables."""

    manifest: str = ""
    files: dict[str, Sheet] = field(default_factory=dict)
    tables: dict[str, list[Column]] = field(default_factory=dict, repr=False)
    relations: list[Relation] = field(default_factory=list, repr=False)
    guests: int = 0
    extreme: bool = False

    def write(self, folder: Path) -> None:
        (folder / "dataset.yaml").write_text(self.manifest, encoding="utf-8")
        for name, sheet in self.files.items():
            if name in self.manifest:
                sheet.write(folder / name)


def unique_rows(draw: Draw, keys: list[Any], columns: list[Column], most: int) -> list[tuple[Any, ...]]:
    """Rows with different keys, now and then none; some repeat the values of an earlier row."""
    size = 0 if draw(st.integers(0, 19)) == 19 else draw(st.integers(1, min(most, len(keys)) or 1))
    chosen = draw(st.permutations(keys))[:size]
    rows: list[tuple[Any, ...]] = []
    for key in chosen:
        if rows and draw(st.integers(0, 3)) == 0:
            cells = draw(st.sampled_from(rows))[1:]
        else:
            cells = tuple(column.cell(draw) for column in columns)
        rows.append((key, *cells))
    return rows


def maybe_null(draw: Draw, column: Column) -> Column:
    nullable = draw(st.integers(0, 3)) == 0
    return Column(column.name, column.type, column.unit, column.digits, column.values, nullable, column.pool)


def some(draw: Draw, columns: tuple[Column, ...], least: int, most: int) -> list[Column]:
    numbers = draw(st.lists(st.integers(0, len(columns) - 1), min_size=least, max_size=most, unique=True))
    return [maybe_null(draw, columns[number]) for number in sorted(numbers)]


@st.composite
def worlds(draw: Draw, most_rows: int = 5, tables: int | None = None, extreme: bool | None = None) -> World:
    """A dataset with one to three offer tables of at most `most_rows` rows."""
    world = World(extreme=draw(st.integers(0, 7)) == 0 if extreme is None else extreme)
    world.guests = draw(st.integers(1, 5)) if draw(st.booleans()) else 0
    lines = ["cobench_dataset: 1", "name: w"]
    if world.guests:
        lines += ["parameters:", "  guests: {type: number, min: 1, max: 12}"]
    lines += ["tables:"]
    before = len(lines)
    places, place_columns = _places(draw, world, lines)
    after = len(lines)
    for number in range(tables or draw(st.integers(1, 3))):
        _offers(draw, world, lines, f"t{number}", places, place_columns, most_rows)
    lines += ["relations:"]
    _relations(draw, world, lines)
    if not any("references" in line for line in lines[after:]):  # half of the time goes into reading manifests
        del lines[before:after]
    world.manifest = "\n".join(lines) + "\n"
    return world


def _places(draw: Draw, world: World, lines: list[str]) -> tuple[list[str], list[Column]]:
    """The table that offers may refer to, itself referring to regions; its keys, and what is visible through it."""
    region_columns = [Column("coast", "bool", pool=(True, False)), Column("toll", "number", "USD", 2, pool=(0, 50, 75))]
    regions = unique_rows(draw, ["n", "s"], region_columns, 2)
    columns = [
        Column("sight", "number", "", 1, pool=(5, 10)),
        maybe_null(draw, Column("zone", "string", pool=("x", "y"))),
    ]
    prefix = draw(st.sampled_from(["", "r_"]))
    keys = [row[0] for row in regions]
    region = Column("region", "string", pool=tuple(keys))
    places = unique_rows(draw, list(PLACES), [region, *columns], 3) if keys else []
    world.files["regions.parquet"] = Sheet({"region": "string", **{c.name: c.type for c in region_columns}}, regions)
    world.files["places.parquet"] = Sheet(
        {"place": "string", "region": "string", **{c.name: c.type for c in columns}}, places
    )
    lines += [
        "  regions:",
        "    file: regions.parquet",
        "    key: [region]",
        "    columns:",
        "      region: {type: string}",
    ]
    lines += [f"      {column.name}: {column.spec()}" for column in region_columns]
    shown = "{table: regions, prefix: r_}" if prefix else "regions"
    lines += ["  places:", "    file: places.parquet", "    key: [place]", f"    references: {{region: {shown}}}"]
    lines += ["    columns:", "      place: {type: string}", "      region: {type: string}"]
    lines += [f"      {column.name}: {column.spec()}" for column in columns]
    visible = [region, *columns, *(column.renamed(prefix + column.name) for column in region_columns)]
    return [row[0] for row in places], visible


def _offers(
    draw: Draw, world: World, lines: list[str], name: str, places: list[str], seen: list[Column], most_rows: int
) -> None:
    """One offer table: key, id template, stored, referenced and derived columns, and what it requires."""
    columns = some(draw, POOL, 1, 6) + ([BIG] if world.extreme and draw(st.integers(0, 2)) else [])
    refers = draw(st.booleans())
    if refers:
        columns.append(Column("place", "string", pool=tuple(places)))
    derives: list[tuple[Column, str]] = []
    require = ""
    if world.guests and draw(st.booleans()):
        columns.append(Column("capacity", "number", pool=(1, 2, 4)))
        derives.append((Column("rooms", "number", pool=(1, 2, 3)), "ceil(guests / capacity)"))
        price = next((column for column in columns if column.name == "price"), None)
        if price:
            derives.append((price.renamed("total"), "rooms * price"))
        require = draw(st.sampled_from(["", "rooms <= 2", "capacity * rooms <= 4 and rooms >= 1"]))
    both = [column for column in columns if column.name in ("n", "m")]
    if len(both) == 2:
        nullable = both[0].nullable or both[1].nullable
        derives.append((Column("sum", "number", nullable=nullable, pool=(0, 1)), "2 * n - m"))
        require = require or draw(st.sampled_from(["", "sum >= -2", "known(n) or m > 0"]))
    key = draw(st.sampled_from([("code", ("a", "b", "é", "Z", "10", "9")), ("number", (7, 10, 9, -1, 0, 100))]))
    rows = unique_rows(draw, list(key[1]), columns, most_rows) if places or not refers else []
    code = Column(key[0], "string" if key[0] == "code" else "number", pool=key[1])
    template = draw(st.sampled_from([f"{name}_{{{code.name}}}", f"{{{code.name}}}"]))
    parts = [item for item in columns if item.name in ("day", "n", "m")] + [
        item for item, _ in derives if item.name == "rooms"
    ]
    if parts and draw(st.booleans()):
        part = draw(st.sampled_from(parts))
        template += f"[_{{{part.name}}}]" if part.nullable else f"_{{{part.name}}}"
    lines += [f"  {name}:", f"    file: {name}.parquet", f"    key: [{code.name}]", f"    id: '{template}'"]
    visible = [code, *columns]
    if refers:
        prefix = draw(st.sampled_from(["", "p_"])) if not {c.name for c in seen} & {c.name for c in columns} else "p_"
        lines += [
            f"    references: {{place: {{table: places, prefix: {prefix}}}}}"
            if prefix
            else "    references: {place: places}"
        ]
        visible += [column.renamed(prefix + column.name) for column in seen]
    lines += ["    columns:", *(f"      {column.name}: {column.spec()}" for column in [code, *columns])]
    if derives:
        lines += ["    derive:", *(f"      {column.name}: {text}" for column, text in derives)]
    if require:
        lines += [f"    require: {require}"]
    visible += [column for column, _ in derives]
    world.files[f"{name}.parquet"] = Sheet({column.name: column.type for column in [code, *columns]}, rows)
    world.tables[name] = visible


def _relations(draw: Draw, world: World, lines: list[str]) -> None:
    """`serves(town, kind)` and `lucky(number, date)` are true or false, `drive(kind, kind)` is minutes, for some."""
    kind, town = Column("kind", "string", values=KINDS, pool=KINDS), Column("town", "string", pool=("Åre", "b", "x"))
    number, day = Column("n", "number", pool=(-1, 0, 1, 2)), Column("day", "date", pool=DAYS)
    minutes = maybe_null(draw, Column("minutes", "number", "min", pool=(0, 10, 30, 90)))
    for name, args, extra in (
        ("serves", (town, kind), []),
        ("lucky", (number, day), []),
        ("drive", (kind, kind), [minutes]),
    ):
        columns = [Column(f"x{place}", arg.type, "", 0, arg.values, False, arg.pool) for place, arg in enumerate(args)]
        pairs = draw(st.sets(st.tuples(*(st.sampled_from(column.pool) for column in columns)), max_size=7))
        rows = [(*pair, *(column.cell(draw) for column in extra)) for pair in sorted(pairs, key=str)]
        world.files[f"{name}.parquet"] = Sheet({column.name: column.type for column in [*columns, *extra]}, rows)
        world.relations.append(Relation(name, args, "min" if extra else None))
        lines += [f"  {name}:", f"    file: {name}.parquet", f"    args: [{', '.join(c.name for c in columns)}]"]
        lines += ["    value: minutes"] if extra else []
        lines += ["    columns:", *(f"      {column.name}: {column.spec()}" for column in [*columns, *extra])]
