"""What is real in this world: parks, towns, airports, routes and permit names, read from the CSV files in facts/.

facts/README.md says where each number comes from. Coordinates are integers in 1/10,000 degree.
"""

from __future__ import annotations

import csv
from collections.abc import Callable
from dataclasses import dataclass
from functools import cache
from pathlib import Path
from typing import TypeVar

Row = TypeVar("Row")


@dataclass(frozen=True, slots=True)
class Park:
    """A national park and how this world treats it: hotel count, price level, share of four stars and more."""

    name: str
    code: str
    latitude: int
    longitude: int
    cosine: int  # of the latitude, in thousandths
    hotels: int
    price: int  # thousandths of the common level
    upscale: int  # thousandths of the hotels


@dataclass(frozen=True, slots=True)
class Town:
    """A town or village near a park, where hotels stand."""

    park: str
    name: str
    latitude: int
    longitude: int


@dataclass(frozen=True, slots=True)
class Airport:
    """An airport; `utc_offset` is that of August, in minutes."""

    code: str
    name: str
    city: str
    latitude: int
    longitude: int
    kind: str
    utc_offset: int
    is_origin: bool
    is_destination: bool


@dataclass(frozen=True, slots=True)
class Drive:
    """The road from an airport to a park, at most six hours."""

    airport: str
    park: str
    minutes: int
    serves: bool


@dataclass(frozen=True, slots=True)
class Route:
    """An origin and a destination: distance in km, direct minutes each way, two places to connect."""

    origin: str
    destination: str
    km: int
    there: int
    back: int
    via: tuple[str, str]
    detour: tuple[int, int]  # minutes of flight that connecting at each `via` adds


@dataclass(frozen=True, slots=True)
class PermitKind:
    """A permit on offer: fee in cents per person (per day when backpacking), and how many a day."""

    code: str
    park: str
    kind: str
    name: str
    fee: int
    daily: int


def _read(file: str, row: Callable[[dict[str, str]], Row]) -> tuple[Row, ...]:
    path = Path(__file__).parent / "facts" / file
    with path.open(encoding="utf-8", newline="") as lines:
        return tuple(row(fields) for fields in csv.DictReader(lines))


@cache
def parks() -> tuple[Park, ...]:
    """The twenty parks, by name."""
    return _read(
        "parks.csv",
        lambda f: Park(
            name=f["park"],
            code=f["code"],
            latitude=int(f["latitude_e4"]),
            longitude=int(f["longitude_e4"]),
            cosine=int(f["cosine_permille"]),
            hotels=int(f["hotels"]),
            price=int(f["price_permille"]),
            upscale=int(f["upscale_permille"]),
        ),
    )


@cache
def towns() -> tuple[Town, ...]:
    """Two to four towns for each park, by park."""
    return _read(
        "gateways.csv",
        lambda f: Town(f["park"], f["town"], int(f["latitude_e4"]), int(f["longitude_e4"])),
    )


@cache
def airports() -> tuple[Airport, ...]:
    """All airports, by code."""
    return _read(
        "airports.csv",
        lambda f: Airport(
            code=f["airport"],
            name=f["airport_name"],
            city=f["city"],
            latitude=int(f["latitude_e4"]),
            longitude=int(f["longitude_e4"]),
            kind=f["airport_type"],
            utc_offset=int(f["utc_offset_min"]),
            is_origin=f["is_origin"] == "1",
            is_destination=f["is_destination"] == "1",
        ),
    )


@cache
def drives() -> tuple[Drive, ...]:
    """All roads of at most six hours from a destination airport to a park, by airport and park."""
    return _read(
        "drives.csv",
        lambda f: Drive(f["airport"], f["park"], int(f["minutes"]), f["serves"] == "1"),
    )


@cache
def routes() -> tuple[Route, ...]:
    """Every origin with every destination except itself, by both codes."""
    return _read(
        "routes.csv",
        lambda f: Route(
            origin=f["origin"],
            destination=f["destination"],
            km=int(f["great_circle_km"]),
            there=int(f["there_min"]),
            back=int(f["back_min"]),
            via=(f["via_1"], f["via_2"]),
            detour=(int(f["via_1_extra_min"]), int(f["via_2_extra_min"])),
        ),
    )


@cache
def permit_kinds() -> tuple[PermitKind, ...]:
    """The fifty permits, by code."""
    return _read(
        "permits.csv",
        lambda f: PermitKind(
            code=f["permit_template"],
            park=f["park"],
            kind=f["permit_type"],
            name=f["template_name"],
            fee=int(f["fee_cents"]),
            daily=int(f["daily_quota"]),
        ),
    )
