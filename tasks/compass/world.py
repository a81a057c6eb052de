"""What there is in a parks world, as far as tasks name it."""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass
from typing import Any

import pyarrow.parquet as pq

from ...datasets.opening import Dataset
from ...schemas.errors import InputError, Where

TABLES = ("hotels", "airports", "trips", "permit_templates", "permits")


@dataclass(frozen=True, slots=True)
class Permit:
    """A permit of a park; `days`: the lengths in which a backpacking trip comes, else empty."""

    name: str
    type: str
    days: tuple[int, ...]


@dataclass(frozen=True, slots=True)
class World:
    """`parks` with hotels, sorted. `origins`: per park the airports from which one flies there, with their cities."""

    parks: tuple[str, ...]
    origins: Mapping[str, tuple[tuple[str, str], ...]]
    permits: Mapping[str, tuple[Permit, ...]]

    def from_all(self, parks: tuple[str, ...]) -> tuple[tuple[str, str], ...]:
        """The airports from which one flies to each of some parks."""
        return tuple(origin for origin in self.origins[parks[0]] if all(origin in self.origins[park] for park in parks))

    def types(self, parks: tuple[str, ...]) -> tuple[str, ...]:
        """The types of permits that each of some parks has."""
        found = [{permit.type for permit in self.permits[park]} for park in parks]
        return tuple(sorted(set.intersection(*found)))


def world_of(dataset: Dataset) -> World:
    """What a dataset has; raises InputError for one that is no parks world."""
    manifest = dataset.manifest.manifest
    if not {*TABLES} <= {*manifest.tables} or "serves" not in manifest.relations:
        raise InputError(
            "this is no parks world: compass tasks need its tables and relations",
            where=Where(str(dataset.folder)), hint="cobench data build parks --out parks-full makes one",
        )  # fmt: skip
    rows = {name: _rows(dataset, manifest.tables[name].file) for name in TABLES}
    serves = _rows(dataset, manifest.relations["serves"].file)
    cities = {row["airport"]: row["city"] for row in rows["airports"]}
    parks = tuple(sorted({row["park"] for row in rows["hotels"]}))
    origins: dict[str, tuple[tuple[str, str], ...]] = {}
    permits: dict[str, tuple[Permit, ...]] = {}
    for park in parks:
        near = {row["airport"] for row in serves if row["park"] == park}
        codes = sorted({row["origin"] for row in rows["trips"] if row["destination"] in near})
        origins[park] = tuple((code, cities[code]) for code in codes)
        permits[park] = tuple(
            Permit(row["template_name"], row["permit_type"], _days(rows["permits"], row["permit_template"]))
            for row in rows["permit_templates"]
            if row["permit_park"] == park
        )
    return World(parks, origins, permits)


def _rows(dataset: Dataset, file: str) -> list[dict[str, Any]]:
    return pq.read_table(dataset.folder / file).to_pylist()


def _days(permits: list[dict[str, Any]], template: str) -> tuple[int, ...]:
    lengths = {row["days"] for row in permits if row["permit_template"] == template}
    return tuple(sorted(length for length in lengths if length is not None))
