"""The parks world has the shape, the derived tables and the patterns that the papers describe, and is reproducible."""

from __future__ import annotations

import ast
from collections.abc import Callable
from datetime import date, timedelta
from math import asin, cos, radians, sin, sqrt
from pathlib import Path
from statistics import mean
from typing import Any

import numpy as np
import polars as pl
import pyarrow as pa
import pyarrow.parquet as pq
import pytest
from cobench.datasets.opening import open_dataset
from cobench.datasets.parks import build as build_module
from cobench.datasets.parks.build import build
from cobench.datasets.parks.prng import Stream
from hypothesis import given
from hypothesis import strategies as st
from polars.testing import assert_frame_equal
from ruamel.yaml import YAML

PARKS = Path(build_module.__file__).parent
MANIFEST: dict[str, Any] = YAML(typ="safe", pure=True).load((PARKS / "dataset.yaml").read_text("utf-8"))
TABLES: dict[str, dict[str, Any]] = MANIFEST["tables"] | {
    name: relation | {"key": relation["args"]} for name, relation in MANIFEST["relations"].items()
}
ARROW = {"bool": pa.bool_(), "string": pa.string(), "date": pa.date32(), "time": pa.int64(), "number": pa.int64()}
WEEKEND = [5, 6, 7]  # nights of Friday, Saturday and Sunday; Monday is 1

Tables = Callable[[str], pl.DataFrame]


@pytest.fixture(scope="session")
def folders(tmp_path_factory: pytest.TempPathFactory) -> dict[str, Path]:
    top = tmp_path_factory.mktemp("parks")
    for scale in ("full", "mini"):
        build(top / scale, scale)
    return {"full": top / "full", "mini": top / "mini", "committed": PARKS / "mini"}


@pytest.fixture(scope="session")
def full(folders: dict[str, Path]) -> Tables:
    return lambda name: pl.read_parquet(folders["full"] / f"{name}.parquet")


@pytest.fixture(scope="session")
def priced(full: Tables) -> pl.DataFrame:
    """Nights with their hotels, ISO week and weekday; only the four whole weeks from Monday 4 August."""
    joined = full("nights").join(full("rooms"), on="config").join(full("hotels"), on="hotel_id")
    night = pl.col("night")
    whole = joined.filter(night >= date(2025, 8, 4))
    return whole.with_columns(week=night.dt.week(), weekday=night.dt.weekday())


def haversine_km(a: tuple[float, float], b: tuple[float, float]) -> float:
    (la, lo), (lc, ld) = [(radians(x), radians(y)) for x, y in (a, b)]
    return 2 * 6371 * asin(sqrt(sin((lc - la) / 2) ** 2 + cos(la) * cos(lc) * sin((ld - lo) / 2) ** 2))


def facts(name: str) -> pl.DataFrame:
    return pl.read_csv(PARKS / "facts" / f"{name}.csv")


def coordinates(name: str) -> dict[str, tuple[float, float]]:
    places = facts(name).select(pl.nth(0), pl.col("latitude_e4") / 10_000, pl.col("longitude_e4") / 10_000)
    return {place: (latitude, longitude) for place, latitude, longitude in places.iter_rows()}


# --- chance -----------------------------------------------------------------------------------------------------


def test_the_generator_is_splitmix64() -> None:
    published = [6457827717110365317, 3203168211198807973, 9817491932198370423, 4593380528125082431]
    assert Stream(1234567).bits(np.arange(4)).tolist() == published


@given(st.integers(0, 2**63 - 1), st.lists(st.integers(0, 2**62), min_size=1), st.integers(1, 2**31 - 1))
def test_a_draw_depends_on_its_address_only(key: int, counters: list[int], bound: int) -> None:
    stream, address = Stream(key), np.array(counters, dtype=np.int64)
    together = stream.below(bound, address[:, None], np.arange(3)[None, :])
    assert ((together >= 0) & (together < bound)).all()
    alone = [stream.below(bound, address[i : i + 1], np.array([2]))[0] for i in range(len(counters))]
    assert together[:, 2].tolist() == alone


def test_no_floating_point_makes_a_value() -> None:
    for path in PARKS.glob("*.py"):
        for node in ast.walk(ast.parse(path.read_text("utf-8"))):
            assert not (isinstance(node, ast.Constant) and isinstance(node.value, float)), path
            assert not (isinstance(node, ast.Name | ast.Attribute) and "float" in ast.unparse(node)), path
            if isinstance(node, ast.BinOp) and isinstance(node.op, ast.Div):  # joins paths, divides no number
                assert any(word in ast.unparse(node) for word in ("Path(", "draft")), path


# --- what the manifest promises -----------------------------------------------------------------------------------


@pytest.mark.parametrize("folder", ["full", "mini", "committed"])
def test_files_are_exactly_what_the_manifest_says(folders: dict[str, Path], folder: str) -> None:
    here = folders[folder]
    assert {path.name for path in here.iterdir()} == {"dataset.yaml", *(table["file"] for table in TABLES.values())}
    assert (here / "dataset.yaml").read_bytes() == (PARKS / "dataset.yaml").read_bytes()
    for name, table in TABLES.items():
        arrow = pq.read_table(here / table["file"])
        columns = table["columns"]
        assert [(f.name, f.type) for f in arrow.schema] == [(c, ARROW[t["type"]]) for c, t in columns.items()], name
        for column, typed in columns.items():
            values = set(arrow[column].to_pylist())
            assert (None in values) == typed.get("nullable", False), (name, column)
            if "values" in typed:
                assert values - {None} <= set(typed["values"]), (name, column)
                assert folder != "full" or values == set(typed["values"]), (name, column)
        frame = pl.read_parquet(here / table["file"])
        assert frame.select(table["key"]).is_duplicated().sum() == 0, name
        assert frame.equals(frame.sort(table["key"])), f"{name} is not sorted by its key"


@pytest.mark.parametrize("folder", ["full", "mini", "committed"])
def test_no_reference_dangles(folders: dict[str, Path], folder: str) -> None:
    def values(table: str, column: str) -> pl.Series:
        return pl.read_parquet(folders[folder] / TABLES[table]["file"])[column]

    for name, table in TABLES.items():
        for column, to in table.get("references", {}).items():
            target = to if isinstance(to, str) else to["table"]
            (key,) = TABLES[target]["key"]
            assert values(name, column).is_in(values(target, key).implode()).all(), (name, column)
    for table, column in [("flights", "origin"), ("flights", "destination"), ("serves", "airport"), ("flights", "via")]:
        assert values(table, column).drop_nulls().is_in(values("airports", "airport").implode()).all()


def test_strings_in_ids_keep_ids_parseable(full: Tables) -> None:
    for table, column in [("rooms", "config"), ("trips", "template"), ("permits", "permit_template")]:
        assert full(table)[column].str.contains("^[A-Za-z0-9.-]+$").all()


@pytest.mark.row(1)
@pytest.mark.row(2)
@pytest.mark.row(3)
def test_counts(full: Tables) -> None:
    hotels, flights, trips, airports = (full(name) for name in ("hotels", "flights", "trips", "airports"))
    assert hotels["park"].n_unique() == 20
    assert hotels["park"].value_counts()["count"].max() == 20
    assert full("nights").height >= 100_000
    assert full("round_trips").height >= 67_000
    assert trips["origin"].n_unique() == airports["is_origin"].sum() == 10
    assert trips["destination"].n_unique() == airports["is_destination"].sum() == 21
    assert flights["carrier"].n_unique() == trips["airline"].n_unique() == 4
    assert set(flights["stops"]) == set(trips["stops"]) == {0, 1}
    assert full("serves")["park"].n_unique() == 20
    assert full("permit_templates").height == 50
    assert full("permit_templates")["permit_type"].n_unique() == 3
    assert set(full("permits")["permit_template"]) == set(full("permit_templates")["permit_template"])


def test_prices_are_plausible(full: Tables) -> None:
    for table, column, low, high in [
        ("nights", "night_price", 60, 900),
        ("round_trips", "fare", 80, 2500),
        ("permits", "permit_price", 5, 150),
    ]:
        cents: list[int] = full(table)[column].to_list()
        assert low * 100 <= min(cents) <= max(cents) <= high * 100
        if table != "permits":  # permits have list prices, the others are limited while they are made
            assert cents.count(min(cents)) + cents.count(max(cents)) < len(cents) / 1000, f"{column} piles up"


# --- derived tables, every row --------------------------------------------------------------------------------------


def days(first: date, last: date) -> list[date]:
    """The days from `first` to the day before `last`."""
    return [first + timedelta(day) for day in range((last - first).days)]


def windows() -> list[tuple[date, date]]:
    """Each pair of dates one to seven nights apart, from 1 August to 1 September."""
    august = days(date(2025, 8, 1), date(2025, 9, 2))
    return [(first, last) for first in august for last in august if 1 <= (last - first).days <= 7]


@pytest.mark.parametrize("folder", ["full", "committed"])
def test_stays_are_all_runs_of_nights_with_a_room(folders: dict[str, Path], folder: str) -> None:
    nights = pl.read_parquet(folders[folder] / "nights.parquet")
    runs = [(first, last, night) for first, last in windows() for night in days(first, last)]
    expected = (
        pl.DataFrame(runs, schema=["check_in", "check_out", "night"], orient="row")
        .join(nights, on="night")
        .group_by("config", "check_in", "check_out")
        .agg(
            nights=pl.len().cast(pl.Int64),
            room_price=pl.col("night_price").sum(),
            available=pl.col("night_available").min(),
        )
        .filter(pl.col("available") >= 1)
        .sort("config", "check_in", "check_out")
    )
    assert_frame_equal(pl.read_parquet(folders[folder] / "stays.parquet"), expected)


@pytest.mark.parametrize("folder", ["full", "committed"])
def test_round_trips_are_all_pairs_of_fares_with_a_seat(folders: dict[str, Path], folder: str) -> None:
    trips, fares = (pl.read_parquet(folders[folder] / f"{name}.parquet") for name in ("trips", "fares"))
    dates = pl.DataFrame(windows(), schema=["departs_on", "returns_on"], orient="row")
    away = pl.col("returns_on") - pl.col("departs_on")
    expected = (
        trips.join(dates, how="cross")
        .join(
            fares,
            left_on=["outbound_flight", "departs_on", "booking_class"],
            right_on=["flight", "flies_on", "booking_class"],
        )
        .join(
            fares,
            left_on=["return_flight", "returns_on", "booking_class"],
            right_on=["flight", "flies_on", "booking_class"],
            suffix="_back",
        )
        .select(
            "template",
            "departs_on",
            "returns_on",
            nights_away=away.dt.total_days(),
            fare=pl.col("leg_price") + pl.col("leg_price_back"),
            seats=pl.min_horizontal("leg_seats", "leg_seats_back"),
        )
        .filter(pl.col("seats") >= 1)
        .sort("template", "departs_on", "returns_on")
    )
    assert_frame_equal(pl.read_parquet(folders[folder] / "round_trips.parquet"), expected)


def test_trips_summarise_two_matching_flights(full: Tables) -> None:
    flights = full("flights")
    there, back = (flights.select(pl.all().name.prefix(prefix)) for prefix in ("there_", "back_"))
    trips = full("trips").join(there, left_on="outbound_flight", right_on="there_flight")
    trips = trips.join(back, left_on="return_flight", right_on="back_flight")
    assert trips.height == full("trips").height
    col = pl.col
    for claim in (
        (col("origin") == col("there_origin")) & (col("origin") == col("back_destination")),
        (col("destination") == col("there_destination")) & (col("destination") == col("back_origin")),
        (col("airline") == col("there_carrier")) & (col("airline") == col("back_carrier")),
        col("stops") == pl.max_horizontal("there_stops", "back_stops"),
        col("is_direct") == (col("stops") == 0),
        col("has_wifi") == (col("there_has_wifi") & col("back_has_wifi")),
        col("pets_allowed") == (col("there_pets_allowed") & col("back_pets_allowed")),
        col("origin") != col("destination"),
    ):
        assert trips.select(claim.all()).item(), claim


def test_timetables_agree_with_the_clocks(full: Tables) -> None:
    offset = dict(full("airports").select("airport", "utc_offset").iter_rows())
    for row in full("flights").iter_rows(named=True):
        elapsed = row["arrives_at"] + 1440 * row["arrives_next_day"] - row["departs_at"]
        assert elapsed - (offset[row["destination"]] - offset[row["origin"]]) == row["duration"]
        assert 0 <= row["departs_at"] < 1440
        assert 0 <= row["arrives_at"] < 1440
        assert (row["via"] is None) == (row["stops"] == 0)
        assert row["via"] not in (row["origin"], row["destination"])


@pytest.mark.row(3)
def test_permits_have_quotas_and_only_backpacking_has_days(full: Tables) -> None:
    permits = full("permits").join(full("permit_templates"), on="permit_template")
    assert (permits["quota"] >= 1).all()
    assert permits["quota"].n_unique() > 20
    assert (permits["days"].is_null() == (permits["permit_type"] != "backpacking")).all()
    length = (permits["ends_on"] - permits["starts_on"]).dt.total_days() + 1
    assert (length == permits["days"].fill_null(1)).all()
    # A longer trip needs a place on more days.
    quotas = permits.drop_nulls("days").sort("days").group_by("permit_template", "starts_on").agg("quota")["quota"]
    assert all(q.to_list() == sorted(q, reverse=True) for q in quotas)
    assert any(q[0] > q[-1] for q in quotas)


# --- real distances -------------------------------------------------------------------------------------------------


def test_committed_distances_follow_from_the_coordinates() -> None:
    airports, parks = coordinates("airports"), coordinates("parks")
    drives = {(a, p): (km, minutes) for a, p, km, minutes, _ in facts("drives").iter_rows()}
    destinations = facts("airports").filter(pl.col("is_destination") == 1)["airport"]
    for airport in destinations:
        for park in parks:
            km = haversine_km(airports[airport], parks[park])
            minutes = km * 1.3 / 100 * 60 + 10
            if (airport, park) in drives:
                assert drives[airport, park] == (pytest.approx(km, abs=1), pytest.approx(minutes, abs=1))
            else:
                assert minutes > 359
    for origin, destination, km, *_ in facts("routes").iter_rows():
        assert km == pytest.approx(haversine_km(airports[origin], airports[destination]), abs=1)


def test_hotel_distance_is_that_of_its_coordinates(full: Tables) -> None:
    parks = coordinates("parks")
    for park, tenths, latitude, longitude in (
        full("hotels").select("park", "distance", "latitude", "longitude").iter_rows()
    ):
        km = haversine_km(parks[park], (latitude / 10_000, longitude / 10_000))
        assert tenths / 10 == pytest.approx(km, rel=0.005, abs=0.1)


# --- patterns (spec A.3) --------------------------------------------------------------------------------------------


@pytest.mark.row(4)
def test_weekends_are_dearer_with_fewer_rooms(priced: pl.DataFrame) -> None:
    means = priced.group_by(pl.col("weekday").is_in(WEEKEND)).agg(pl.col("night_price", "night_available").mean())
    midweek, weekend = means.sort("weekday").iter_rows(named=True)
    assert weekend["night_price"] > 1.1 * midweek["night_price"]
    assert weekend["night_available"] < 0.75 * midweek["night_available"]


@pytest.mark.row(4)
def test_inside_a_week_price_and_rooms_move_against_each_other(priced: pl.DataFrame) -> None:
    price, free = pl.col("night_price"), pl.col("night_available")
    for days, limit in ((range(1, 8), -0.5), (WEEKEND, -0.3), (range(1, 5), -0.3)):  # beyond weekends against midweek
        group = ["config", "week"]
        part = priced.filter(pl.col("weekday").is_in(list(days)))
        inside = part.select(price / price.mean().over(group), free - free.mean().over(group))
        assert inside.select(pl.corr("night_price", "night_available")).item() < limit


@pytest.mark.row(4)
def test_late_august_is_dearer_but_not_scarcer(priced: pl.DataFrame) -> None:
    weeks = priced.group_by("week").agg(pl.col("night_price", "night_available").mean()).sort("week")
    price, free = weeks["night_price"], weeks["night_available"]
    assert len(price) == 4
    assert price[3] > 1.08 * price[0]
    assert price[2] > price[1]
    assert free[3] >= free[0]
    assert np.corrcoef(price, free)[0, 1] >= 0


def test_midweek_trips_are_cheaper(full: Tables) -> None:
    for table, day, cents, nights in (
        ("stays", "check_in", "room_price", "nights"),
        ("round_trips", "departs_on", "fare", "nights_away"),
    ):
        start = pl.col(day).dt.weekday()
        three = full(table).filter(pl.col(nights) == 3)
        midweek = three.filter(start.is_in([1, 2]))[cents].mean()  # home by Friday
        weekend = three.filter(start.is_in([4, 5]))[cents].mean()  # over Saturday
        assert isinstance(midweek, float)
        assert isinstance(weekend, float)
        assert midweek < 0.97 * weekend, table


@pytest.mark.row(5)
def test_rocky_mountain_is_clearly_dearest(priced: pl.DataFrame) -> None:
    for average in (pl.col("night_price").mean(), pl.col("night_price").median()):
        first, second = priced.group_by("park").agg(average).sort("night_price", descending=True).head(2).iter_rows()
        assert first[0] == "Rocky Mountain"
        assert first[1] > 1.2 * second[1]


@pytest.mark.row(5)
def test_death_valley_and_everglades_have_few_lodgings(full: Tables) -> None:
    counts = dict(full("hotels")["park"].value_counts().iter_rows())
    few = {counts.pop("Death Valley"), counts.pop("Everglades")}
    assert max(few) <= 8
    assert min(counts.values()) >= 12


@pytest.mark.row(5)
def test_the_share_of_upscale_hotels_varies(full: Tables) -> None:
    shares = full("hotels").group_by("park").agg(share=(pl.col("stars") >= 4).mean())["share"]
    assert (shares <= 0.1).sum() >= 4
    assert (shares >= 0.3).sum() >= 4
    assert full("hotels")["stars"].n_unique() == 5


@pytest.mark.row(6)
def test_fares_have_a_long_upper_tail(full: Tables) -> None:
    trips = full("round_trips").join(full("trips"), on="template")
    assert (trips["fare"].skew() or 0) > 1
    economy = trips.filter(pl.col("booking_class") == "economy")["fare"]  # not only because there are classes
    assert (economy.skew() or 0) > 1
    middle, top = sorted(economy)[len(economy) // 2], sorted(economy)[len(economy) * 99 // 100]
    assert top > 2 * middle


@pytest.mark.row(6)
def test_regional_airports_have_fewer_flights(full: Tables) -> None:
    kind = full("airports").select("airport", "airport_type")
    for table in ("flights", "trips"):
        rows = full(table).join(kind, left_on="destination", right_on="airport")
        if table == "flights":  # those towards a park; flights home land at origins
            rows = rows.join(full("trips"), left_on="flight", right_on="outbound_flight", how="semi")
        counts = rows.group_by("destination", "airport_type").len()
        regional: list[int] = counts.filter(pl.col("airport_type") == "regional")["len"].to_list()
        hub: list[int] = counts.filter(pl.col("airport_type") == "hub")["len"].to_list()
        assert (len(regional), len(hub)) == (10, 11)
        assert max(regional) < min(hub)
        assert mean(regional) < 0.7 * mean(hub)


# --- reproducible, and mini is a part of full -----------------------------------------------------------------------


@pytest.mark.row(7)
def test_a_seed_gives_one_world(folders: dict[str, Path], tmp_path: Path) -> None:
    build(tmp_path / "again", "full")
    build(tmp_path / "other", "full", seed=2)
    same: set[str] = set()
    for name, table in TABLES.items():
        first = pl.read_parquet(folders["full"] / table["file"])
        assert_frame_equal(pl.read_parquet(tmp_path / "again" / table["file"]), first)
        if first.equals(pl.read_parquet(tmp_path / "other" / table["file"])):
            same.add(name)
    assert same == {"airports", "permit_templates", "serves", "drive_minutes"}  # the facts


@pytest.mark.row(7)
def test_the_committed_mini_is_what_build_writes(folders: dict[str, Path]) -> None:
    assert sum(path.stat().st_size for path in folders["committed"].glob("*.parquet")) < 1_000_000
    for table in TABLES.values():
        built, committed = (pl.read_parquet(folders[folder] / table["file"]) for folder in ("mini", "committed"))
        assert_frame_equal(committed, built)
    built, committed = (open_dataset(str(folders[folder])) for folder in ("mini", "committed"))
    world = built.manifest.sample()
    for name in world.tables:
        assert committed.table(world, name).digest == built.table(world, name).digest


def test_every_row_of_mini_is_a_row_of_full(folders: dict[str, Path]) -> None:
    for name, table in TABLES.items():
        mini, full = (pl.read_parquet(folders[folder] / table["file"]) for folder in ("mini", "full"))
        assert mini.height > 0
        assert mini.join(full, on=mini.columns, how="anti", nulls_equal=True).is_empty(), name


def test_mini_still_holds_a_trip_to_each_park(folders: dict[str, Path]) -> None:
    def mini(name: str) -> pl.DataFrame:
        return pl.read_parquet(folders["mini"] / f"{name}.parquet")

    parks = set(mini("hotels")["park"])
    assert {"Zion", "Yellowstone", "Yosemite", "Grand Canyon", "Rocky Mountain", "Death Valley", "Everglades"} == parks
    served = mini("serves").filter(pl.col("park").is_in(parks))
    assert set(served["airport"]) == set(mini("trips")["destination"])
    assert mini("trips")["origin"].n_unique() == 10
    assert set(mini("permits").join(mini("permit_templates"), on="permit_template")["permit_park"]) == parks


# --- the folder appears whole or not at all -------------------------------------------------------------------------


def test_an_occupied_folder_is_refused_and_an_empty_one_used(tmp_path: Path) -> None:
    said: list[str] = []
    (tmp_path / "world").mkdir()
    rows = build(tmp_path / "world", "mini", progress=said.append)
    assert {name: pl.read_parquet(tmp_path / "world" / t["file"]).height for name, t in TABLES.items()} == rows
    assert any("stays" in line for line in said)
    before = {path: path.stat().st_mtime_ns for path in (tmp_path / "world").iterdir()}
    with pytest.raises(FileExistsError, match="not an empty folder"):
        build(tmp_path / "world", "mini", seed=2)
    assert {path: path.stat().st_mtime_ns for path in (tmp_path / "world").iterdir()} == before


def test_a_failed_build_leaves_nothing(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(build_module, "MANIFEST", tmp_path / "absent.yaml")
    with pytest.raises(FileNotFoundError):
        build(tmp_path / "world", "mini")
    assert list(tmp_path.iterdir()) == []
