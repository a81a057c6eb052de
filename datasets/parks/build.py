"""Writes the parks world as a dataset folder: `build(out, "full")` or `build(out, "mini")`."""

from __future__ import annotations

import shutil
from collections.abc import Callable
from dataclasses import dataclass
from pathlib import Path
from tempfile import mkdtemp
from typing import Literal

import polars as pl
import pyarrow as pa
import pyarrow.parquet as pq

from .fares import fare_table, fares
from .flights import flights, services
from .hotels import hotels
from .nights import calendar, nights
from .permits import permit_templates, permits
from .places import parks
from .relations import airports, drive_minutes, serves
from .rooms import MOST_PLANS, MOST_TYPES, rooms
from .stays import stays
from .trips import round_trips, trips

MANIFEST = Path(__file__).parent / "dataset.yaml"
MOST_HOTELS = max(park.hotels for park in parks())

KEYS = {
    "hotels": ("hotel_id",),
    "rooms": ("config",),
    "nights": ("config", "night"),
    "stays": ("config", "check_in", "check_out"),
    "airports": ("airport",),
    "flights": ("flight",),
    "fares": ("flight", "flies_on", "booking_class"),
    "trips": ("template",),
    "round_trips": ("template", "departs_on", "returns_on"),
    "permit_templates": ("permit_template",),
    "permits": ("permit_template", "starts_on", "ends_on"),
    "serves": ("airport", "park"),
    "drive_minutes": ("airport", "park"),
}
ARROW: dict[pl.DataType, pa.DataType] = {
    pl.String(): pa.string(),
    pl.Int64(): pa.int64(),
    pl.Date(): pa.date32(),
    pl.Boolean(): pa.bool_(),
}


@dataclass(frozen=True, slots=True)
class Scale:
    """Which part of the world is written. A smaller one leaves rows out and changes none."""

    parks: frozenset[str]
    hotels: int  # per park
    room_types: int  # per hotel
    plans: int  # per room type
    all_trips: bool  # or only the first airline of a route in all classes, and the second in economy


SCALES = {
    "full": Scale(
        parks=frozenset(park.name for park in parks()),
        hotels=MOST_HOTELS,
        room_types=MOST_TYPES,
        plans=MOST_PLANS,
        all_trips=True,
    ),
    "mini": Scale(
        parks=frozenset(
            {"Death Valley", "Everglades", "Grand Canyon", "Rocky Mountain", "Yellowstone", "Yosemite", "Zion"}
        ),
        hotels=5,
        room_types=2,
        plans=2,
        all_trips=False,
    ),
}


def _lodging(scale: Scale, seed: int) -> dict[str, pl.DataFrame]:
    """Hotels, rooms, nights and stays."""
    index = pl.int_range(pl.len()).over("park")
    kept = hotels(seed).filter(pl.col("park").is_in(scale.parks), index < scale.hotels)
    configs = rooms(kept, seed, scale.room_types, scale.plans)
    offers = calendar(configs, kept, seed)
    return {"hotels": kept.drop("number"), "rooms": configs, "nights": nights(offers), "stays": stays(offers)}


def _flying(scale: Scale, seed: int) -> dict[str, pl.DataFrame]:
    """Airports, flights, fares, trips and round trips. Flight and trip numbers are those of the full world."""
    offered = services(seed)
    legs = flights(offered, seed)
    templates = trips(offered, legs, seed)
    if not scale.all_trips:
        near = serves().filter(pl.col("park").is_in(scale.parks))["airport"]
        first = (pl.col("rank") == 0) | ((pl.col("rank") == 1) & (pl.col("booking_class") == "economy"))
        templates = templates.filter(pl.col("destination").is_in(near.unique().implode()), first)
    flown = {*templates["outbound_flight"], *templates["return_flight"]}
    table = fare_table([service for service in offered if service.outbound in flown], legs, seed)
    return {
        "airports": airports(),
        "flights": legs.filter(pl.col("flight").is_in(flown)),
        "fares": fares(table),
        "trips": templates.drop("rank"),
        "round_trips": round_trips(templates, table),
    }


def _write(frame: pl.DataFrame, key: tuple[str, ...], path: Path) -> None:
    """Rows by key (strings by UTF-8 bytes), with the plain Arrow types any Parquet reader knows."""
    schema = pa.schema([(name, ARROW[dtype]) for name, dtype in frame.schema.items()])
    table = frame.sort(key).to_arrow().cast(schema)
    pq.write_table(table, path, compression="zstd")


def build(
    out: Path,
    scale: Literal["full", "mini"],
    seed: int = 1,
    progress: Callable[[str], None] | None = None,
) -> dict[str, int]:
    """The number of rows written per table and relation, after `out` has appeared as a complete dataset folder.

    The same scale and seed give the same content on every machine. Nothing is left behind when it fails.
    Raises FileExistsError when `out` is anything but an empty folder or absent.
    """
    out = Path(out).absolute()
    if out.exists() and (not out.is_dir() or any(out.iterdir())):
        raise FileExistsError(f"{out} exists and is not an empty folder: choose another place or remove it first")
    part = SCALES[scale]

    def say(line: str) -> None:
        if progress:
            progress(line)

    say(f"parks ({scale}, seed {seed}): hotels and stays")
    tables = _lodging(part, seed)
    say("flights and round trips")
    tables |= _flying(part, seed)
    say("permits and relations")
    tables |= {
        "permit_templates": permit_templates(),
        "permits": permits(part.parks, seed),
        "serves": serves(),
        "drive_minutes": drive_minutes(),
    }

    out.parent.mkdir(parents=True, exist_ok=True)
    # Beside `out`, because a rename is atomic only within one file system.
    draft = Path(mkdtemp(prefix=f".{out.name}-", dir=out.parent))
    try:
        for name, frame in tables.items():
            _write(frame, KEYS[name], draft / f"{name}.parquet")
            say(f"{name}: {frame.height:,} rows")
        shutil.copyfile(MANIFEST, draft / MANIFEST.name)
        draft.chmod(0o755)  # mkdtemp makes private folders
        if out.exists():
            out.rmdir()
        draft.rename(out)
    except BaseException:
        shutil.rmtree(draft, ignore_errors=True)
        raise
    return {name: frame.height for name, frame in tables.items()}
