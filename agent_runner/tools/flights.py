"""Flights: round trips between two airports, and what a search does not show of them."""

from __future__ import annotations

from datetime import date
from typing import Any

from ...schemas.errors import did_you_mean
from .catalogue import Catalogue
from .fault import nothing_such, quoted
from .fields import Field, Row, clock, columns, day, exact, money, plain, shown
from .ids import id_of, require_offer, round_trip_row
from .paging import page_of
from .tool import Answer, Arguments, Desk, Kind, Parameter, Tool

PAGE = 20
LEGS = ("outbound", "return")


def _leg(prefix: str) -> tuple[Field, ...]:
    """What a search shows of a flight, outbound or back."""
    return (
        Field.of("flight", f"{prefix}_flight"),
        Field.of("origin", f"{prefix}_origin"),
        Field.of("destination", f"{prefix}_destination"),
        Field.of("departs_at", f"{prefix}_departs_at", clock),
        Field.of("arrives_at", f"{prefix}_arrives_at", clock),
        Field.of("arrives_next_day", f"{prefix}_arrives_next_day"),
        Field.of("duration_minutes", f"{prefix}_duration"),
        Field.of("stops", f"{prefix}_stops"),
    )


def _leg_details(prefix: str) -> tuple[Field, ...]:
    """What details show of it besides."""
    return tuple(Field.of(name, f"{prefix}_{name}") for name in ("via", "has_wifi", "pets_allowed"))


ROUTE = plain("origin", "destination")
WINDOW = (Field.of("departure_date", "departs_on", day), Field.of("return_date", "returns_on", day))
AWAY = plain("nights_away")
SERVICE = (*plain("airline", "booking_class", "stops"), Field.of("direct", "is_direct"))
POLICIES = plain("free_changes", "bags_included", "pets_allowed")
FARE = (Field.of("price_per_person", "fare", money), Field.of("seats_left", "seats"))
TOTAL = (Field.of("total_price", show=money),)
WIFI = plain("has_wifi")
_SCHEDULE = tuple(field for prefix in LEGS for field in _leg(prefix))
_FULL = tuple(field for prefix in LEGS for field in _leg_details(prefix))

SHOWN_BY_SEARCH = columns(ROUTE, WINDOW, AWAY, SERVICE, POLICIES, FARE, TOTAL, _SCHEDULE)
SHOWN_OF_FLIGHT = columns(ROUTE, WINDOW, AWAY, SERVICE, POLICIES, FARE, WIFI, _SCHEDULE, _FULL)


def _wanted(given: Arguments, row: Row) -> bool:
    passengers, most = given["passengers"], given["max_price"]
    return (
        row["seats"] >= passengers
        and (most is None or passengers * row["fare"] <= exact(most) * 100)
        and given["airline_preference"] in (None, row["airline"])
        and given["booking_class"] in (None, row["booking_class"])
        and (not given["direct_flights_only"] or row["is_direct"])
    )


def _airline(catalogue: Catalogue, text: str) -> str:
    airlines = sorted({trip["airline"] for trip in catalogue.trips.values()})
    for name in airlines:
        if name.casefold() == text.casefold():
            return name
    raise nothing_such(f"there is no airline {quoted(text)}", did_you_mean(text, airlines, "airlines"))


def _search_flights(desk: Desk, given: Arguments) -> Answer:
    world, asked = desk.catalogue, dict(given)
    out, back = date.fromisoformat(given["departure_date"]), date.fromisoformat(given["return_date"])
    if back <= out:
        raise nothing_such("return_date must be after departure_date", "only round trips are on offer")
    if given["origin"] == given["destination"]:
        raise nothing_such("origin and destination are the same airport", "search_airports lists those of a park")
    if given["airline_preference"] is not None:
        asked["airline_preference"] = _airline(world, given["airline_preference"])
    found = world.round_trips(given["origin"], given["destination"], out, back)
    rows = [round_trip_row(world, name, out, back, fare, seats) for name, fare, seats in found]
    rows = [row for row in rows if _wanted(asked, row)]
    listed, paging = page_of(rows, given["page"], PAGE)
    results: list[dict[str, Any]] = []
    for row in listed:
        name = id_of(world, "round_trips", row)
        total = shown(TOTAL, {"total_price": given["passengers"] * row["fare"]})
        legs = {prefix: shown(_leg(prefix), row) for prefix in LEGS}
        results.append({"package_id": name, **shown((*SERVICE, *FARE), row), **total, **legs, **shown(POLICIES, row)})
    content: dict[str, Any] = {
        "origin": given["origin"],
        "destination": given["destination"],
        "departure_date": given["departure_date"],
        "return_date": given["return_date"],
        "nights_away": (back - out).days,
        "passengers": given["passengers"],
        "results": results,
        **paging,
    }
    if not rows:
        content["message"] = f"No round trip fits. {world.trip_span}"
    return Answer(content, {"round_trips": tuple(item["package_id"] for item in results)}, asked=asked)


def _get_flight_details(desk: Desk, given: Arguments) -> Answer:
    world, name = desk.catalogue, given["package_id"]
    row = require_offer(world, "round_trips", name)
    content = {
        "package_id": name,
        **shown((*ROUTE, *WINDOW, *AWAY, *SERVICE, *FARE), row),
        **{prefix: shown((*_leg(prefix), *_leg_details(prefix)), row) for prefix in LEGS},
        **shown((*POLICIES, *WIFI), row),
    }
    return Answer(content, {"round_trips": (name,)})


TOOLS = (
    Tool(
        "search_flights",
        "Searches round trips between two airports on fixed dates, with schedule, airline, policies, price and "
        "package_id. Twenty a page, by the time of departure.",
        (
            Parameter("origin", Kind.AIRPORT, "Three-letter code of the airport of departure.", required=True),
            Parameter("destination", Kind.AIRPORT, "Three-letter code of the airport near the park.", required=True),
            Parameter("departure_date", Kind.DATE, "Day of the flight there, YYYY-MM-DD.", required=True),
            Parameter("return_date", Kind.DATE, "Day of the flight back, YYYY-MM-DD.", required=True),
            Parameter("passengers", Kind.COUNT, "Number of passengers.", default=1, minimum=1, maximum=12),
            Parameter("max_price", Kind.NUMBER, "Greatest price for all passengers, in dollars.", minimum=0),
            Parameter("airline_preference", Kind.TEXT, "Only this airline."),
            Parameter("booking_class", Kind.TEXT, "Only this booking class.", values=("basic", "economy", "business")),
            Parameter("direct_flights_only", Kind.FLAG, "Only without a stop both ways. false: all.", default=False),
            Parameter("page", Kind.COUNT, "Page of the results.", default=1, minimum=1),
        ),
        _search_flights,
    ),
    Tool(
        "get_flight_details",
        "Gives the full route, schedule, amenities, policies and price of a round trip from search_flights.",
        (Parameter("package_id", Kind.ID, "The package_id, exactly as shown.", required=True),),
        _get_flight_details,
    ),
)
