"""The world as tools look things up in it: the dataset's tables, partitioned once by what searches ask for.

Stays lie by park and dates, round trips by airports and dates, permits by template: an answer reads a few hundred rows
of a million. Amounts are integers as stored, cents and tenths; rows are dicts from the columns as tasks see them.
"""

from __future__ import annotations

from collections import defaultdict
from collections.abc import Iterator, Mapping, Sequence
from datetime import date
from functools import cached_property
from typing import Any

import polars as pl

from ...datasets.opening import MANIFEST, Dataset, bundled
from ...datasets.parks import places
from ...schemas.errors import ManifestError, TableError, Where
from ...schemas.manifest import load_manifest
from ...schemas.offer_id import IdTemplate, parse_template
from .fields import Row

WORLD = "parks"
Key = tuple[Any, ...]


class _Partition:
    """Rows of a frame that is sorted by some columns, found by the values of these."""

    def __init__(self, frame: pl.DataFrame, by: Sequence[str], keep: Sequence[str]) -> None:
        groups = frame.group_by(by, maintain_order=True).len()
        ends: list[int] = groups["len"].cum_sum().to_list()
        starts = [0, *ends[:-1]] if ends else []
        self._rows = frame.select(keep)
        self._span: dict[Key, tuple[int, int]] = {
            key: (start, end - start)
            for key, start, end in zip(groups.select(by).iter_rows(), starts, ends, strict=True)
        }

    def rows(self, *key: Any) -> list[tuple[Any, ...]]:
        """The rows of a key in their order; none for a key that does not occur."""
        span = self._span.get(key)
        return self._rows.slice(*span).rows() if span else []

    def __iter__(self) -> Iterator[Key]:
        """The keys that occur."""
        return iter(self._span)


class Catalogue:
    """Everything that tools know; nothing in it changes, so that conversations may share it."""

    def __init__(self, dataset: Dataset) -> None:
        """Reads the tables of a parks world; raises ManifestError for another dataset, TableError for a bad file."""
        self._dataset, self._tables = dataset, dataset.manifest.manifest.tables
        _require_parks(dataset)
        guests = dataset.manifest.manifest.parameters["guests"]
        self.most_guests = int(guests.max or 1)
        self.hotels: Mapping[str, Row] = _by("hotel_id", self._read("hotels"))
        self.rooms: Mapping[str, Row] = {
            config: {**self.hotels[row["hotel_id"]], **row}
            for config, row in _by("config", self._read("rooms")).items()
        }
        self.airports: Mapping[str, Row] = _by("airport", self._read("airports"))
        self.flights: Mapping[str, Row] = _by("flight", self._read("flights"))
        self.trips: Mapping[str, Row] = _by("template", self._read("trips"))
        self.templates: Mapping[str, Row] = _by("permit_template", self._read("permit_templates"))
        self.parks: Mapping[str, places.Park] = {park.name: park for park in places.parks()}
        self.forms: Mapping[str, IdTemplate] = {name: self._form(name) for name in ("stays", "round_trips", "permits")}
        self._stays = self._by_place()
        self._round_trips = self._by_route()

    def _read(self, name: str) -> pl.DataFrame:
        manifest = self._dataset.manifest.manifest
        spec = self._tables[name] if name in self._tables else manifest.relations[name]
        path = self._dataset.folder / spec.file
        try:
            return pl.read_parquet(path).select(list(spec.columns))
        except (OSError, pl.exceptions.PolarsError) as fault:
            reason = str(fault).partition("\n")[0]
            raise TableError(f"{name}: the file cannot be read: {reason}", where=Where(str(path))) from None

    def _form(self, table: str) -> IdTemplate:
        form = parse_template(self._tables[table].id or "")
        if isinstance(form, str):
            raise ManifestError(f"{table}: {form}")
        return form

    def _by_place(self) -> _Partition:
        """Stays by park and dates; within, hotels by distance from the park and then id, rooms by config."""
        hotels = self._read("hotels").select("hotel_id", "park", "distance")
        order = (
            self._read("rooms")
            .select("config", "hotel_id")
            .join(hotels, on="hotel_id")
            .sort("park", "distance", "hotel_id", "config")
            .with_row_index("position")
            .select("config", "position", pl.col("park").cast(pl.Categorical))
        )
        dates = ["check_in", "check_out"]
        stays = self._read("stays").join(order, on="config").sort("park", *dates, "position")
        stays = stays.with_columns(pl.col("park").cast(pl.String))
        return _Partition(stays, ["park", *dates], ["config", "room_price", "available"])

    def _by_route(self) -> _Partition:
        """Round trips by airports and dates; within, by the time at which they leave and then template."""
        flights = self._read("flights").select(outbound_flight="flight", leaves="departs_at")
        order = (
            self._read("trips")
            .select("template", "origin", "destination", "outbound_flight")
            .join(flights, on="outbound_flight")
            .sort("origin", "destination", "leaves", "template")
            .with_row_index("position")
            .drop("outbound_flight", "leaves")
        )
        by = ["origin", "destination", "departs_on", "returns_on"]
        trips = self._read("round_trips").join(order, on="template").sort(*by, "position")
        return _Partition(trips, by, ["template", "fare", "seats"])

    @cached_property
    def _permits(self) -> _Partition:
        permits = self._read("permits").sort("permit_template", "starts_on", "ends_on")
        return _Partition(permits, ["permit_template"], ["starts_on", "ends_on", "days", "quota", "permit_price"])

    @cached_property
    def _nights(self) -> _Partition:
        nights = self._read("nights").sort("config", "night")
        return _Partition(nights, ["config"], ["night", "night_price", "night_available"])

    @cached_property
    def drive_minutes(self) -> Mapping[tuple[str, str], int]:
        """Minutes by car from an airport to a park."""
        return {(airport, park): minutes for airport, park, minutes in self._read("drive_minutes").iter_rows()}

    @cached_property
    def served_by(self) -> Mapping[str, tuple[str, ...]]:
        """The airports to which one flies for a park, by code."""
        found: dict[str, list[str]] = defaultdict(list)
        for airport, park in self._read("serves").sort("park", "airport").iter_rows():
            found[park].append(airport)
        return {park: tuple(airports) for park, airports in found.items()}

    def stays(self, park: str, check_in: date, check_out: date) -> list[tuple[str, int, int]]:
        """Config, price of one room in cents and rooms left, of the stays at a park on two dates."""
        return self._stays.rows(park, check_in, check_out)

    def round_trips(self, origin: str, destination: str, out: date, back: date) -> list[tuple[str, int, int]]:
        """Template, fare of one person in cents and seats left, of the round trips between two airports."""
        return self._round_trips.rows(origin, destination, out, back)

    def permits(self, template: str) -> list[tuple[date, date, int | None, int, int]]:
        """Start, end, days of a backpacking trip, places left and price in cents, of the dates of a permit."""
        return self._permits.rows(template)

    def nights(self, config: str) -> list[tuple[date, int, int]]:
        """Night, price of one room in cents and rooms left, of the nights of a room type."""
        return self._nights.rows(config)

    @cached_property
    def stay_dates(self) -> Mapping[tuple[int, int], tuple[tuple[date, date], ...]]:
        """The dates that the days of month of a check-in and a check-out can mean."""
        return _by_days({key[1:] for key in self._stays})

    @cached_property
    def trip_dates(self) -> Mapping[tuple[int, int], tuple[tuple[date, date], ...]]:
        """The dates that the days of month of a departure and a return can mean."""
        return _by_days({key[2:] for key in self._round_trips})

    @cached_property
    def stay_span(self) -> str:
        """In words, which stays there are at all."""
        return _span("Stays", self.stay_dates)

    @cached_property
    def trip_span(self) -> str:
        """In words, which round trips there are at all."""
        return _span("Round trips", self.trip_dates)


def _span(what: str, dates: Mapping[Any, Sequence[tuple[date, date]]]) -> str:
    pairs = [pair for pairs in dates.values() for pair in pairs]
    if not pairs:
        return ""
    nights = [(last - first).days for first, last in pairs]
    first, last = min(pair[0] for pair in pairs), max(pair[1] for pair in pairs)
    return f"{what} are of {min(nights)} to {max(nights)} nights between {first.isoformat()} and {last.isoformat()}."


def _by_days(pairs: set[tuple[Any, ...]]) -> dict[tuple[int, int], tuple[tuple[date, date], ...]]:
    found: dict[tuple[int, int], list[tuple[date, date]]] = defaultdict(list)
    for first, last in sorted(pairs):
        found[first.day, last.day].append((first, last))
    return {key: tuple(dates) for key, dates in found.items()}


def _by(key: str, frame: pl.DataFrame) -> dict[str, Row]:
    return {row[key]: row for row in frame.iter_rows(named=True)}


def _require_parks(dataset: Dataset) -> None:
    """Raises ManifestError unless tables, columns and ids are those of the parks world."""
    model = bundled()[WORLD] / MANIFEST
    if dataset.manifest.digest() != load_manifest(model).digest():
        where = Where(str(dataset.folder / MANIFEST))
        hint = "cobench data build parks makes one; other datasets have no tools yet"
        raise ManifestError("the tools are about worlds of the kind 'parks' only", where=where, hint=hint)


def catalogue_of(dataset: Dataset) -> Catalogue:
    """The catalogue of a parks world, made once as long as the dataset is open; raises as Catalogue does."""
    return dataset.once("catalogue", lambda: Catalogue(dataset))
