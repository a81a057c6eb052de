"""Hotels: searching group packages, and the details that a search does not show."""

from __future__ import annotations

from collections.abc import Iterator
from datetime import date
from typing import Any

from .catalogue import Catalogue
from .fault import nothing_such, quoted
from .fields import Field, Row, columns, day, degrees, exact, money, plain, shown, tenths
from .ids import id_of, require_offer, stay_row
from .paging import page_of
from .resemblance import LEAST_CONFIDENCE, confidence, plain_name
from .tool import Answer, Arguments, Desk, Kind, Parameter, Tool

PAGE = 10  # hotels at most, each with all its packages
MOST_OTHERS = 5


def nightly(room_price: int, nights: int) -> int | float:
    """Dollars a night for one room on average, rounded to a cent, halves up."""
    return money((2 * room_price + nights) // (2 * nights))


_FACTS = (
    *plain("hotel_id", "hotel_name", "stars"),
    Field.of("review_score", show=tenths),
    *plain("review_count"),
    Field.of("distance_km", "distance", tenths),
)
HOTEL = (*_FACTS, *plain("has_parking", "pet_policy"))
POLICIES = (
    *plain("free_cancellation"),
    Field.of("no_prepayment_needed", "no_prepayment"),
    *plain("meal_plan"),
)
PRICES = (
    Field("price_per_night", ("room_price", "nights"), nightly),
    Field.of("rooms_needed", "rooms"),
    Field.of("rooms_left", "available"),
    Field.of("total_price", show=money),
)
PACKAGE = (*PRICES, *POLICIES)
WINDOW = (Field.of("check_in", show=day), Field.of("check_out", show=day), *plain("nights"))
PLACE = plain("park")
AMENITIES = plain(
    "has_parking", "has_pool", "has_restaurant", "has_wifi", "has_gym", "has_spa", "has_bar", "has_laundry",
    "has_ev_charging", "has_airport_shuttle", "is_accessible", "is_family_friendly",
)  # fmt: skip
DETAILS = (
    *_FACTS,
    *PLACE,
    *plain("brand"),
    Field.of("latitude", show=degrees),
    Field.of("longitude", show=degrees),
    *plain("pet_policy", "eco_rating"),
)
ROOM = plain("room_type", "capacity", "bed_type", "bed_count")
ROOM_SIZE = (Field.of("size_sqm", "size"),)
ROOM_AMENITIES = plain("has_kitchenette", "has_air_conditioning", "has_balcony", "has_view", "has_bathtub", "has_desk")
OWNER = plain("hotel_id", "hotel_name")

SHOWN_BY_SEARCH = columns(HOTEL, PACKAGE, WINDOW, PLACE)
SHOWN_OF_HOTEL = columns(DETAILS, AMENITIES)
SHOWN_OF_ROOM = columns(OWNER, WINDOW, PRICES, ROOM, ROOM_SIZE, ROOM_AMENITIES, POLICIES)


def _wanted(given: Arguments, room: Row) -> bool:
    """Whether a room type and its hotel satisfy what is asked of them, prices aside."""
    least = given["min_review_score"]
    return (
        (least is None or (room["review_score"] is not None and room["review_score"] >= exact(least) * 10))
        and (not given["free_cancellation"] or room["free_cancellation"])
        and (not given["no_prepayment_needed"] or room["no_prepayment"])
        and (not given["has_parking"] or room["has_parking"])
        and (not given["breakfast_included"] or room["meal_plan"] in ("breakfast", "half_board"))
        and (not given["is_pet_friendly"] or room["pet_policy"] != "not_allowed")
    )


def _packages(catalogue: Catalogue, given: Arguments, check_in: date, check_out: date) -> Iterator[Row]:
    guests, nights = given["num_guests"], (check_out - check_in).days
    low, high = (None if given[f"{end}_price_nightly"] is None else exact(given[f"{end}_price_nightly"]) * 100 * nights
                 for end in ("min", "max"))  # fmt: skip
    for config, price, available in catalogue.stays(given["location"], check_in, check_out):
        room = catalogue.rooms[config]
        rooms = -(-guests // room["capacity"])
        if rooms > available or (low is not None and price < low) or (high is not None and price > high):
            continue
        if _wanted(given, room):
            yield stay_row(room, check_in, check_out, price, available, rooms)


def _search_hotel(desk: Desk, given: Arguments) -> Answer:
    check_in, check_out = date.fromisoformat(given["start_date"]), date.fromisoformat(given["end_date"])
    if check_out <= check_in:
        raise nothing_such("end_date must be after start_date", "end_date is the day on which the guests leave")
    world = desk.catalogue
    hotels: dict[str, list[Row]] = {}
    for row in _packages(world, given, check_in, check_out):
        hotels.setdefault(row["hotel_id"], []).append(row)
    listed, paging = page_of(list(hotels.values()), given["page"], PAGE, len)
    ids: list[str] = []
    results: list[dict[str, Any]] = []
    for rows in listed:
        names = [id_of(world, "stays", row) for row in rows]
        ids += names
        packages = [{"package_id": name, **shown(PACKAGE, row)} for name, row in zip(names, rows, strict=True)]
        results.append({**shown(HOTEL, rows[0]), "packages": packages})
    content: dict[str, Any] = {
        "park": given["location"],
        "check_in": given["start_date"],
        "check_out": given["end_date"],
        "nights": (check_out - check_in).days,
        "num_guests": given["num_guests"],
        "results": results,
        **paging,
        "total_packages": sum(map(len, hotels.values())),
    }
    if not hotels:
        content["message"] = f"No hotel has a package that fits. {world.stay_span}"
    return Answer(content, {"stays": tuple(ids)})


def _hotel_named(catalogue: Catalogue, text: str) -> tuple[int, Row, list[dict[str, Any]]]:
    """The hotel that a text names with the confidence, and others that it may mean; raises WrongCall."""
    wanted = plain_name(text)
    for row in catalogue.hotels.values():
        if wanted in (plain_name(row["hotel_id"]), plain_name(row["hotel_name"])):
            return 100, row, []
    scored = ((confidence(text, [row["hotel_name"]]), row["hotel_name"], key) for key, row in catalogue.hotels.items())
    near = sorted(scored, key=lambda item: (-item[0], *item[1:]))
    if not near or near[0][0] < LEAST_CONFIDENCE:
        hint = "give a hotel_id, or a hotel's name or part of it, as search_hotel shows them"
        raise nothing_such(f"there is no hotel {quoted(text)}", hint)
    others = [
        {"hotel_id": key, "hotel_name": name, "confidence_score": score}
        for score, name, key in near[1 : MOST_OTHERS + 1]
        if score >= LEAST_CONFIDENCE
    ]
    return min(near[0][0], 99), catalogue.hotels[near[0][2]], others


def _get_hotel_details(desk: Desk, given: Arguments) -> Answer:
    score, row, others = _hotel_named(desk.catalogue, given["hotel_identifier"])
    content = {
        **shown(DETAILS, row),
        "amenities": shown(AMENITIES, row),
        "confidence_score": score,
        "other_matches": others,
    }
    return Answer(content, asked={"hotel_identifier": row["hotel_id"]})


def _get_room_details(desk: Desk, given: Arguments) -> Answer:
    name = given["package_id"]
    row = require_offer(desk.catalogue, "stays", name)
    nights = [
        {"night": day(night), "price_per_room": money(price), "rooms_left": left}
        for night, price, left in desk.catalogue.nights(row["config"])
        if row["check_in"] <= night < row["check_out"]
    ]
    content = {
        "package_id": name,
        **shown((*OWNER, *WINDOW, *PRICES), row),
        "nightly": nights,
        **shown((*ROOM, *ROOM_SIZE), row),
        "amenities": shown(ROOM_AMENITIES, row),
        "policies": shown(POLICIES, row),
    }
    return Answer(content, {"stays": (name,)})


def _flag(name: str, description: str) -> Parameter:
    """A filter that `true` turns on; `false` is the same as leaving it out."""
    return Parameter(name, Kind.FLAG, description + " false: all.", default=False)


TOOLS = (
    Tool(
        "search_hotel",
        "Searches hotels at a national park for a group on fixed dates. Each hotel comes with its packages: as many "
        "rooms of one type as the group needs, for all nights, with policies and package_id. price_per_night is for "
        "one room, on average; total_price for all rooms and nights. Up to ten hotels a page, the nearest to the park "
        "first. What is in the rooms and in the hotel, get_room_details and get_hotel_details show.",
        (
            Parameter("location", Kind.PARK, "Exact name of the park, such as Zion.", required=True),
            Parameter("start_date", Kind.DATE, "Day of arrival, YYYY-MM-DD.", required=True),
            Parameter("end_date", Kind.DATE, "Day of departure, YYYY-MM-DD.", required=True),
            Parameter("num_guests", Kind.COUNT, "Number of guests.", required=True, minimum=1, maximum=12),
            Parameter("min_price_nightly", Kind.NUMBER, "Least price_per_night, in dollars.", minimum=0),
            Parameter(
                "max_price_nightly",
                Kind.NUMBER,
                "Greatest price of one room a night on average, in dollars.",
                minimum=0,
            ),
            Parameter("min_review_score", Kind.NUMBER, "Least review score, 0 to 10.", minimum=0, maximum=10),
            _flag("free_cancellation", "Only packages that can be cancelled free of charge."),
            _flag("no_prepayment_needed", "Only packages that need no prepayment."),
            _flag("has_parking", "Only hotels with parking."),
            _flag("breakfast_included", "Only packages with breakfast or half board."),
            _flag("is_pet_friendly", "Only hotels that allow pets, free or for a fee."),
            Parameter("page", Kind.COUNT, "Page of the results.", default=1, minimum=1),
        ),
        _search_hotel,
        ("AccommodationSearch",),
    ),
    Tool(
        "get_hotel_details",
        "Gives location, stars, reviews and amenities of a hotel, named by its id or by its name, also in part.",
        (Parameter("hotel_identifier", Kind.TEXT, "A hotel_id, or a hotel's name.", required=True),),
        _get_hotel_details,
    ),
    Tool(
        "get_room_details",
        "Gives room type, beds, amenities, policies and the price of each night of a package from search_hotel.",
        (Parameter("package_id", Kind.ID, "The package_id, exactly as shown.", required=True),),
        _get_room_details,
    ),
)
