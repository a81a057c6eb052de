"""Searches give exactly what a query of the tables gives, in its order, page by page; an id names exactly one offer."""

from __future__ import annotations

import atexit
import json
import sqlite3
from datetime import date, timedelta
from typing import Any

import polars as pl
import pytest
from cobench.agent_runner.tools import hotels as hotel_tools
from cobench.agent_runner.tools.catalogue import catalogue_of
from cobench.agent_runner.tools.fault import WrongCall
from cobench.agent_runner.tools.paging import MOST_PARTS, page_of
from cobench.agent_runner.tools.toolbox import Toolbox
from cobench.datasets.opening import open_dataset
from cobench.schemas.episode import Fault
from hypothesis import given
from hypothesis import strategies as st

DATA = open_dataset("parks")
TOOLBOX = Toolbox(catalogue_of(DATA))
PARKS = ("Zion", "Yellowstone", "Yosemite", "Grand Canyon", "Rocky Mountain", "Death Valley", "Everglades")


def database() -> sqlite3.Connection:
    """The dataset's tables in SQLite: dates are ISO texts, truth is 0 and 1, money is cents."""
    made = sqlite3.connect(":memory:")
    made.row_factory = sqlite3.Row
    manifest = DATA.manifest.manifest
    for name, spec in (manifest.tables | manifest.relations).items():
        frame = pl.read_parquet(DATA.folder / spec.file).with_columns(pl.selectors.date().cast(pl.String))
        made.execute(f"create table {name} ({', '.join(frame.columns)})")
        made.executemany(f"insert into {name} values ({', '.join('?' * frame.width)})", frame.iter_rows())  # noqa: S608
    made.execute("create index by_dates on stays (check_in, check_out)")
    made.execute("create index by_day on round_trips (departs_on, returns_on)")
    return made


SQL = database()
atexit.register(SQL.close)


def rows(query: str, parameters: dict[str, Any]) -> list[sqlite3.Row]:
    return SQL.execute(query, parameters).fetchall()


def call(name: str, **arguments: Any) -> dict[str, Any]:
    result = TOOLBOX.call(name, arguments)
    assert result.fault is None, result.content
    assert len(json.dumps(result.content, ensure_ascii=False)) <= 30_000
    return result.content


def everything(name: str, **arguments: Any) -> list[dict[str, Any]]:
    """The results of all pages; each says which it is, and `Result.offers` are the ids on it."""
    found: list[dict[str, Any]] = []
    pages = call(name, **arguments)["pages"]
    for page in range(1, pages + 1):
        result = TOOLBOX.call(name, {**arguments, "page": page})
        assert (result.content["page"], result.content["pages"]) == (page, pages)
        shown = [item["package_id"] for one in result.content["results"] for item in one.get("packages", [one])]
        assert [*result.offers.values()] == [tuple(shown)]
        found += result.content["results"]
    assert len(found) == call(name, **arguments)["total"]
    assert bool(found) != ("message" in call(name, **arguments))
    return found


def dollars(cents: int) -> Any:
    return pytest.approx(cents / 100, abs=1e-9)


def two_digits(value: float) -> bool:
    return len(str(value).partition(".")[2]) <= 2


@st.composite
def windows(draw: st.DrawFn) -> tuple[str, str]:
    """A day in August and one up to eight nights later, of which the eighth has no offers."""
    first = date(2025, 8, draw(st.integers(1, 31)))
    return first.isoformat(), (first + timedelta(draw(st.integers(1, 8)))).isoformat()


# --- hotels ---------------------------------------------------------------------------------------------------------

HOTELS = """
select *, (:guests + capacity - 1) / capacity as rooms
from stays join rooms using (config) join hotels using (hotel_id)
where park = :park and check_in = :first and check_out = :last and available >= (:guests + capacity - 1) / capacity
  and (:low is null or room_price >= :low * nights) and (:high is null or room_price <= :high * nights)
  and (:score is null or review_score >= :score)
  and (not :free or free_cancellation) and (not :later or no_prepayment) and (not :parking or has_parking)
  and (not :breakfast or meal_plan <> 'room_only') and (not :pets or pet_policy <> 'not_allowed')
order by distance, hotel_id, config
"""
CENTS = st.integers(6_000, 60_000)
MAYBE = st.sampled_from([False, False, True])


@pytest.mark.row(10)
@pytest.mark.row(11)
@given(
    st.fixed_dictionaries({
        "park": st.sampled_from(PARKS), "dates": windows(), "guests": st.integers(1, 12), "low": st.none() | CENTS,
        "high": st.none() | CENTS, "score": st.none() | st.integers(50, 95), "free": MAYBE, "later": MAYBE,
        "parking": MAYBE, "breakfast": MAYBE, "pets": MAYBE,
    })
)  # fmt: skip
def test_every_filter_of_hotels_equals_a_query(asked: dict[str, Any]) -> None:
    first, last = asked.pop("dates")
    expected = rows(HOTELS, {**asked, "first": first, "last": last})
    found = everything(
        "search_hotel", location=asked["park"], start_date=first, end_date=last, num_guests=asked["guests"],
        min_price_nightly=None if asked["low"] is None else asked["low"] / 100,
        max_price_nightly=None if asked["high"] is None else asked["high"] / 100,
        min_review_score=None if asked["score"] is None else asked["score"] / 10,
        free_cancellation=asked["free"], no_prepayment_needed=asked["later"], has_parking=asked["parking"],
        breakfast_included=asked["breakfast"], is_pet_friendly=asked["pets"],
    )  # fmt: skip
    packages = [(hotel, package) for hotel in found for package in hotel["packages"]]
    assert len(packages) == len(expected)
    for (hotel, package), row in zip(packages, expected, strict=True):
        nights = (date.fromisoformat(last) - date.fromisoformat(first)).days
        days = f"{int(first[-2:])}_{int(last[-2:])}"
        assert package["package_id"] == f"pkg_{row['config']}_{days}_{row['rooms']}"
        assert package["total_price"] == dollars(row["rooms"] * row["room_price"])
        assert package["price_per_night"] == pytest.approx(row["room_price"] / nights / 100, abs=0.00501)
        assert two_digits(package["total_price"])
        assert two_digits(package["price_per_night"])
        assert (package["rooms_needed"], package["rooms_left"]) == (row["rooms"], row["available"])
        assert package["free_cancellation"] == row["free_cancellation"]
        assert package["no_prepayment_needed"] == row["no_prepayment"]
        assert package["meal_plan"] == row["meal_plan"]
        assert hotel["distance_km"] == pytest.approx(row["distance"] / 10)
        score = row["review_score"]
        assert hotel["review_score"] == (None if score is None else pytest.approx(score / 10))
        for name in ("hotel_id", "hotel_name", "stars", "review_count", "has_parking", "pet_policy"):
            assert hotel[name] == row[name]
    assert len({hotel["hotel_id"] for hotel in found}) == len(found)


@pytest.mark.row(10)
def test_each_filter_of_hotels_takes_something_away() -> None:
    total = dict.fromkeys(PARKS, 0)
    one = {"start_date": "2025-08-04", "end_date": "2025-08-06", "num_guests": 2}
    filters: dict[str, Any] = {
        "min_price_nightly": 150, "max_price_nightly": 150, "min_review_score": 8, "free_cancellation": True,
        "no_prepayment_needed": True, "has_parking": True, "breakfast_included": True, "is_pet_friendly": True,
    }  # fmt: skip
    total = sum(call("search_hotel", location=park, **one)["total_packages"] for park in PARKS)
    for name, value in filters.items():
        left = sum(call("search_hotel", location=park, **one, **{name: value})["total_packages"] for park in PARKS)
        assert 0 < left < total, name


def test_a_price_limit_is_the_exact_average_of_the_nights() -> None:
    row = rows("select * from stays join rooms using (config) join hotels using (hotel_id) "
               "where nights = 3 and room_price % 3 = 1 limit 1", {})[0]  # fmt: skip
    asked = {"location": row["park"], "start_date": row["check_in"], "end_date": row["check_out"], "num_guests": 1}

    def ids(**limits: float) -> set[str]:
        found = everything("search_hotel", **asked, **limits)
        return {package["package_id"] for hotel in found for package in hotel["packages"]}

    name = f"pkg_{row['config']}_{int(row['check_in'][-2:])}_{int(row['check_out'][-2:])}_1"
    below, above = row["room_price"] // 3 / 100, (row["room_price"] // 3 + 1) / 100
    assert name in ids()
    assert name not in ids(max_price_nightly=below)
    assert name in ids(max_price_nightly=above)
    assert name in ids(min_price_nightly=below)
    assert name not in ids(min_price_nightly=above)


@pytest.mark.row(10)
def test_a_least_score_is_met_by_just_that_score() -> None:
    scored = rows("select hotel_id, park, review_score from hotels where review_score is not null", {})
    asked = {"start_date": "2025-08-05", "end_date": "2025-08-06", "num_guests": 1}
    met = 0
    for row in scored:
        everywhere = {hotel["hotel_id"] for hotel in everything("search_hotel", location=row["park"], **asked)}
        for step in (0, 1):
            least = (row["review_score"] + step) / 10
            found = everything("search_hotel", location=row["park"], **asked, min_review_score=least)
            ids = {hotel["hotel_id"] for hotel in found}
            assert (row["hotel_id"] in ids) == (step == 0 and row["hotel_id"] in everywhere)
        met += row["hotel_id"] in everywhere
    assert met > 20


@pytest.mark.row(11)
def test_a_package_is_as_many_rooms_as_the_group_needs_for_the_sum_of_its_nights() -> None:
    seen: set[tuple[int, int]] = set()
    for guests in (1, 2, 3, 5, 7, 12):
        found = everything(
            "search_hotel", location="Zion", start_date="2025-08-06", end_date="2025-08-10", num_guests=guests
        )
        for package in (package for hotel in found for package in hotel["packages"]):
            details = call("get_room_details", package_id=package["package_id"])
            config = package["package_id"].split("_")[1]
            nights = rows("select * from nights where config = :config and night between '2025-08-06' and '2025-08-09' "
                          "order by night", {"config": config})  # fmt: skip
            needed = -(-guests // details["capacity"])
            assert len(nights) == details["nights"] == 4
            assert package["rooms_needed"] == details["rooms_needed"] == needed
            assert package["total_price"] == dollars(needed * sum(night["night_price"] for night in nights))
            assert package["rooms_left"] == min(night["night_available"] for night in nights) >= needed
            assert [(night["night"], night["rooms_left"]) for night in details["nightly"]] == [
                (night["night"], night["night_available"]) for night in nights
            ]
            assert [night["price_per_room"] for night in details["nightly"]] == [
                dollars(night["night_price"]) for night in nights
            ]
            seen.add((details["capacity"], needed))
    assert len(seen) > 6


@pytest.mark.row(12)
def test_details_of_rooms_and_hotels_are_those_of_the_tables() -> None:
    for row in rows("select * from stays join rooms using (config) join hotels using (hotel_id) "
                    "where check_in = '2025-08-12' and nights = 2", {}):  # fmt: skip
        room = call("get_room_details", package_id=f"pkg_{row['config']}_12_14_1")
        for name in ("hotel_id", "room_type", "capacity", "bed_type", "bed_count"):
            assert room[name] == row[name]
        assert room["size_sqm"] == row["size"]
        assert room["amenities"] == {name: bool(row[name]) for name in row.keys() if name in room["amenities"]}  # noqa: SIM118
        hotel = call("get_hotel_details", hotel_identifier=row["hotel_id"])
        for name in ("hotel_name", "brand", "park", "stars", "review_count", "pet_policy", "eco_rating"):
            assert hotel[name] == row[name]
        assert hotel["amenities"] == {name: bool(row[name]) for name in row.keys() if name in hotel["amenities"]}  # noqa: SIM118
        assert (hotel["latitude"], hotel["longitude"]) == (row["latitude"] / 10_000, row["longitude"] / 10_000)


# --- flights --------------------------------------------------------------------------------------------------------

FLIGHTS = """
select *, trips.stops as most_stops
from round_trips join trips using (template) join flights on flight = outbound_flight
where trips.origin = :origin and trips.destination = :destination and departs_on = :first and returns_on = :last
  and seats >= :people and (:most is null or fare * :people <= :most) and (:airline is null or airline = :airline)
  and (:class is null or booking_class = :class) and (not :direct or is_direct)
order by departs_at, template
"""


@pytest.mark.row(13)
@given(
    st.fixed_dictionaries({
        "origin": st.sampled_from(["DEN", "LAX", "ATL"]), "destination": st.sampled_from(["LAS", "SFO", "JAC", "DEN"]),
        "dates": windows(), "people": st.integers(1, 12), "most": st.none() | st.integers(10_000, 300_000),
        "airline": st.none() | st.sampled_from(["Blue Mesa", "Cardinal", "Great Basin", "Summit"]),
        "class": st.none() | st.sampled_from(["basic", "economy", "business"]), "direct": MAYBE,
    }).filter(lambda asked: asked["origin"] != asked["destination"])
)  # fmt: skip
def test_every_filter_of_flights_equals_a_query(asked: dict[str, Any]) -> None:
    first, last = asked.pop("dates")
    expected = rows(FLIGHTS, {**asked, "first": first, "last": last})
    found = everything(
        "search_flights", origin=asked["origin"], destination=asked["destination"], departure_date=first,
        return_date=last, passengers=asked["people"], max_price=None if asked["most"] is None else asked["most"] / 100,
        airline_preference=asked["airline"], booking_class=asked["class"], direct_flights_only=asked["direct"],
    )  # fmt: skip
    assert len(found) == len(expected)
    for trip, row in zip(found, expected, strict=True):
        assert trip["package_id"] == f"flight_{row['template']}_{int(first[-2:])}_{int(last[-2:])}"
        assert trip["total_price"] == dollars(row["fare"] * asked["people"])
        assert trip["price_per_person"] == dollars(row["fare"])
        assert two_digits(trip["total_price"])
        assert trip["seats_left"] == row["seats"] >= asked["people"]
        assert (trip["stops"], trip["direct"]) == (row["most_stops"], row["is_direct"])
        for name in ("airline", "booking_class", "free_changes", "bags_included"):
            assert trip[name] == row[name]


@pytest.mark.row(13)
def test_flights_go_both_ways_and_details_agree_with_the_search() -> None:
    found = everything(
        "search_flights", origin="DEN", destination="LAS", departure_date="2025-08-05", return_date="2025-08-08"
    )
    assert found
    for trip in found:
        details = call("get_flight_details", package_id=trip["package_id"])
        shared = trip.keys() & details.keys() - {"outbound", "return"}
        assert trip.keys() - shared == {"total_price", "outbound", "return"}
        assert all(details[name] == trip[name] for name in shared)
        ends = [("DEN", "LAS"), ("LAS", "DEN")]
        for leg, (start, end) in zip(("outbound", "return"), ends, strict=True):
            row = rows("select * from flights where flight = :flight", {"flight": trip[leg]["flight"]})[0]
            assert trip[leg].items() <= details[leg].items()
            assert (
                (trip[leg]["origin"], trip[leg]["destination"]) == (start, end) == (row["origin"], row["destination"])
            )
            assert trip[leg]["departs_at"] == f"{row['departs_at'] // 60:02d}:{row['departs_at'] % 60:02d}"
            assert trip[leg]["arrives_at"] == f"{row['arrives_at'] // 60:02d}:{row['arrives_at'] % 60:02d}"
            assert (trip[leg]["duration_minutes"], details[leg]["via"]) == (row["duration"], row["via"])


# --- permits --------------------------------------------------------------------------------------------------------

PERMITS = """
select * from permits join permit_templates using (permit_template)
where permit_park = :park and template_name = :name and quota >= :people and (:days is null or days = :days)
  and (:first is null or (starts_on >= :first and ends_on <= :last))
order by starts_on, ends_on
"""
TEMPLATES = [tuple(row) for row in rows("select permit_park, template_name, permit_type from permit_templates", {})]


@pytest.mark.row(14)
@given(st.sampled_from(TEMPLATES), st.none() | windows(), st.integers(1, 12), st.none() | st.integers(1, 6))
def test_every_filter_of_permits_equals_a_query(
    template: tuple[str, str, str], dates: tuple[str, str] | None, people: int, days: int | None
) -> None:
    park, name, kind = template
    days = days if kind == "backpacking" else None
    first, last = dates or (None, None)
    asked = {"park": park, "name": name, "people": people, "days": days, "first": first, "last": last}
    found = everything(
        "search_permit_availability", park=park.upper(), template_name=name, num_people=people, duration_days=days,
        date_range=dates and f"{first} to {last}",
    )  # fmt: skip
    expected = rows(PERMITS, asked)
    assert len(found) == len(expected)
    for permit, row in zip(found, expected, strict=True):
        length = "" if row["days"] is None else f"_{row['days']}"
        assert permit["package_id"] == f"permit_{row['permit_template']}_{int(row['starts_on'][-2:])}{length}"
        assert (permit["start_date"], permit["end_date"]) == (row["starts_on"], row["ends_on"])
        assert (permit["duration_days"], permit["places_left"]) == (row["days"], row["quota"])
        assert permit["total_price"] == dollars(people * row["permit_price"])


@pytest.mark.row(14)
def test_permits_are_listed_with_type_and_lengths() -> None:
    for park in {park for park, _, _ in TEMPLATES}:
        found = call("list_permits", park=park)["results"]
        assert [(park, item["template_name"], item["permit_type"]) for item in found] == [
            template for template in TEMPLATES if template[0] == park
        ]
        assert all(("durations_days" in item) == (item["permit_type"] == "backpacking") for item in found)


@pytest.mark.row(14)
def test_a_date_disappears_when_its_quota_is_exhausted() -> None:
    row = rows("select * from permits join permit_templates using (permit_template) where quota between 2 and 5 and "
               "days is null limit 1", {})[0]  # fmt: skip
    asked = {"park": row["permit_park"], "template_name": row["template_name"],
             "date_range": f"{row['starts_on']} to {row['starts_on']}"}  # fmt: skip
    assert len(everything("search_permit_availability", **asked, num_people=row["quota"])) == 1
    gone = call("search_permit_availability", **asked, num_people=row["quota"] + 1)
    assert (gone["results"], gone["message"]) == ([], "No places are left that fit.")
    other = call("search_permit_availability", park="Zion", template_name="West Rim Trail", duration_days=9)
    assert other["message"] == "No places are left that fit. It is for 2, 3, 4, 5 days."


# --- pages ----------------------------------------------------------------------------------------------------------


@given(st.lists(st.integers(0, 2 * MOST_PARTS), max_size=40), st.integers(1, 12))
def test_pages_are_disjoint_complete_and_in_order(weights: list[int], size: int) -> None:
    items = list(enumerate(weights))
    _, facts = page_of(items, 1, size, lambda item: item[1])
    pages = [page_of(items, page, size, lambda item: item[1])[0] for page in range(1, facts["pages"] + 1)]
    assert [item for page in pages for item in page] == items
    assert facts["total"] == len(items)
    for page in pages:
        assert len(page) <= size
        assert len(page) <= 1 or sum(weight for _, weight in page) <= MOST_PARTS
        assert page or not items
    with pytest.raises(WrongCall, match="no page"):
        page_of(items, facts["pages"] + 1, size, lambda item: item[1])


def test_hotels_come_a_page_at_a_time(monkeypatch: pytest.MonkeyPatch) -> None:
    asked = {"location": "Zion", "start_date": "2025-08-05", "end_date": "2025-08-08", "num_guests": 2}
    whole = everything("search_hotel", **asked)
    monkeypatch.setattr(hotel_tools, "PAGE", 2)
    assert call("search_hotel", **asked)["pages"] > 2
    assert everything("search_hotel", **asked) == whole


def test_a_park_without_offers_says_which_offers_there_are() -> None:
    found = call("search_hotel", location="Acadia", start_date="2025-08-05", end_date="2025-08-08", num_guests=2)
    assert found["results"] == []
    assert found["message"].endswith("Stays are of 1 to 7 nights between 2025-08-01 and 2025-09-01.")
    found = call(
        "search_flights", origin="LAS", destination="DEN", departure_date="2026-08-05", return_date="2026-08-08"
    )
    assert found["message"].startswith("No round trip fits. Round trips are of 1 to 7 nights")


# --- ids ------------------------------------------------------------------------------------------------------------

TABLES = {"stays": "hotel", "round_trips": "flight", "permits": "permit"}


def some_offers() -> list[tuple[str, str]]:
    """Table and id of a few hundred offers, by SQL."""
    stays = rows("select * from stays join rooms using (config) where stays.rowid % 211 = 0", {})
    trips = rows("select * from round_trips where rowid % 401 = 0", {})
    permits = rows("select * from permits where rowid % 7 = 0", {})
    found = [("stays", f"pkg_{row['config']}_{day(row['check_in'])}_{day(row['check_out'])}_1") for row in stays]
    found += [
        ("round_trips", f"flight_{row['template']}_{day(row['departs_on'])}_{day(row['returns_on'])}") for row in trips
    ]
    for row in permits:
        days = "" if row["days"] is None else f"_{row['days']}"
        found.append(("permits", f"permit_{row['permit_template']}_{day(row['starts_on'])}{days}"))
    return found


def day(text: str) -> int:
    return int(text[-2:])


OFFERS = some_offers()


def recommended(table: str, *names: str) -> tuple[tuple[str, ...], Fault | None]:
    result = TOOLBOX.call(f"recommend_{TABLES[table]}", {"ids": list(names), "reasoning": "It fits."})
    return result.confirmed, result.fault


@pytest.mark.row(8)
@pytest.mark.row(16)
def test_every_id_of_an_offer_is_confirmed_and_formats_back() -> None:
    tables = DATA.manifest.sample().tables
    for table, name in OFFERS:
        assert recommended(table, name) == ((name,), None)
        form = tables[table].id
        assert form is not None
        parts = form.parse(name)
        assert parts is not None
        assert form.format([parts[column] for column in form.columns]) == name
    assert {table for table, _ in OFFERS} == TABLES.keys()


@pytest.mark.row(8)
@pytest.mark.row(16)
@given(st.data())
def test_an_altered_id_is_refused(data: st.DataObject) -> None:
    table, name = data.draw(st.sampled_from(OFFERS))
    at = data.draw(st.integers(0, len(name)))
    put = data.draw(st.sampled_from(["", "0", "9", "_", " ", "A", "-", "+", "é", "\0", "٣"]))
    altered = name[:at] + put + name[at + data.draw(st.integers(0, 1)) :]
    confirmed, fault = recommended(table, altered)
    if fault is None:  # then it is the id of another offer, or of more rooms, as a query knows
        assert confirmed == (altered,)
        assert exists(table, altered), altered
    else:
        assert (confirmed, fault) == ((), Fault.CONTENT)
        assert not exists(table, altered), altered


def exists(table: str, name: str) -> bool:
    """Whether some row, for some number of guests from 1 to 12, has this id, each written out."""
    key = {"key": name.split("_")[1] if "_" in name else ""}
    if table == "stays":
        return name in {
            f"pkg_{row['config']}_{day(row['check_in'])}_{day(row['check_out'])}_{-(-guests // row['capacity'])}"
            for row in rows("select * from stays join rooms using (config) where config = :key", key)
            for guests in range(1, 13)
            if -(-guests // row["capacity"]) <= row["available"]
        }
    if table == "round_trips":
        return name in {
            f"flight_{row['template']}_{day(row['departs_on'])}_{day(row['returns_on'])}"
            for row in rows("select * from round_trips where template = :key", key)
        }
    return name in {
        f"permit_{row['permit_template']}_{day(row['starts_on'])}" + ("" if row["days"] is None else f"_{row['days']}")
        for row in rows("select * from permits where permit_template = :key", key)
    }


@pytest.mark.row(16)
def test_one_to_three_ids_are_checked_and_unknown_ones_refused_with_the_reason() -> None:
    table, name = OFFERS[0]
    config = name.split("_")[1]
    others = [other for kind, other in OFFERS if kind == table][1:4]
    assert recommended(table, name, *others[:2]) == ((name, *others[:2]), None)
    assert recommended(table, name, name) == ((name,), None)
    assert recommended(table) == ((), Fault.CONTENT)
    assert recommended(table, name, *others) == ((), Fault.CONTENT)
    result = TOOLBOX.call("recommend_hotel", {"ids": ["pkg_0_1_2_1", name], "reasoning": "x"})
    assert (result.fault, result.confirmed) == (Fault.CONTENT, (name,))
    assert result.content["unknown"] == [{"id": "pkg_0_1_2_1", "reason": "there is no such room type"}]
    assert result.content["confirmed"] == [name]
    for other, reason in {
        f"pkg_{config}_1_31_1": "not free on these dates", name[:-1] + "12": "no number of guests", "pkg": "form",
        name.replace("_1", "_01", 1) if "_1" in name else name + " ": "",
    }.items():  # fmt: skip
        (unknown,) = TOOLBOX.call("recommend_hotel", {"ids": [other], "reasoning": "x"}).content["unknown"]
        assert reason in unknown["reason"]
    scarce = rows("select * from stays join rooms using (config) where available = 1 and capacity = 2 limit 1", {})[0]
    days = f"{int(scarce['check_in'][-2:])}_{int(scarce['check_out'][-2:])}"
    (unknown,) = TOOLBOX.call(
        "recommend_hotel", {"ids": [f"pkg_{scarce['config']}_{days}_2"], "reasoning": "x"}
    ).content["unknown"]
    assert unknown["reason"] == "only 1 rooms are left on these dates"


def test_ids_of_one_kind_are_none_of_another() -> None:
    for table, name in (OFFERS[0], OFFERS[-1]):
        for other in TABLES:
            assert (recommended(other, name)[1] is None) == (other == table)
    assert TOOLBOX.call("get_room_details", {"package_id": OFFERS[-1][1]}).fault is Fault.CONTENT
