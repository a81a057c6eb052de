"""Ids of offers: which offer one names, exactly, or why it names none."""

from __future__ import annotations

from collections.abc import Callable, Mapping
from typing import Any

from .catalogue import Catalogue
from .fault import nothing_such, quoted
from .fields import Row

TABLES = ("stays", "round_trips", "permits")


class NoOffer(ValueError):
    """Why an id names no offer, in words for the agent."""


def offer_of(catalogue: Catalogue, table: str, name: str) -> Row:
    """The columns of the offer that an id names; raises NoOffer.

    The spelling is exact: of all texts only the one that searches show is the id. A stay has
    the `rooms` that its id says; how many travel is in no id, so trips and permits have no total price here.
    """
    parts = catalogue.forms[table].parse(name)
    if parts is None:
        raise NoOffer("the id does not have the form that searches show")
    row = _FINDERS[table](catalogue, parts)
    if id_of(catalogue, table, row) != name:
        raise NoOffer("the id is not spelt as searches show it")
    return row


def require_offer(catalogue: Catalogue, table: str, name: str) -> Row:
    """As `offer_of`; raises WrongCall."""
    try:
        return offer_of(catalogue, table, name)
    except NoOffer as fault:
        raise nothing_such(f"there is no offer {quoted(name)}: {fault}", _HINTS[table]) from None


def id_of(catalogue: Catalogue, table: str, row: Row) -> str:
    """The id of an offer."""
    form = catalogue.forms[table]
    return form.format([None if row[column] is None else str(row[column]) for column in form.columns])


def _number(text: str | None) -> int:
    """A whole number in an id; none of the numbers that can be there when it is none."""
    return int(text) if text is not None and text.isascii() and text.isdigit() and len(text) <= 9 else -1


def _stay(catalogue: Catalogue, parts: Mapping[str, str | None]) -> Row:
    config, rooms = parts["config"] or "", _number(parts["rooms"])
    if config not in catalogue.rooms:
        raise NoOffer("there is no such room type")
    room = catalogue.rooms[config]
    for check_in, check_out in catalogue.stay_dates.get((_number(parts["start_day"]), _number(parts["end_day"])), ()):
        for found, price, available in catalogue.stays(room["park"], check_in, check_out):
            if found == config:
                return _with_rooms(catalogue, stay_row(room, check_in, check_out, price, available, rooms))
    raise NoOffer("this room type is not free on these dates")


def _with_rooms(catalogue: Catalogue, row: Row) -> Row:
    most = -(-catalogue.most_guests // row["capacity"])
    if not 1 <= row["rooms"] <= most:
        raise NoOffer(f"no number of guests from 1 to {catalogue.most_guests} needs so many rooms")
    if row["rooms"] > row["available"]:
        raise NoOffer(f"only {row['available']} rooms are left on these dates")
    return row


def stay_row(room: Row, check_in: Any, check_out: Any, price: int, available: int, rooms: int) -> Row:
    """The columns of a stay in some rooms, as tasks see them."""
    return {
        **room,
        "check_in": check_in,
        "check_out": check_out,
        "nights": (check_out - check_in).days,
        "room_price": price,
        "available": available,
        "start_day": check_in.day,
        "end_day": check_out.day,
        "rooms": rooms,
        "total_price": rooms * price,
    }


def _round_trip(catalogue: Catalogue, parts: Mapping[str, str | None]) -> Row:
    name = parts["template"] or ""
    if name not in catalogue.trips:
        raise NoOffer("there is no such flight")
    trip = catalogue.trips[name]
    for out, back in catalogue.trip_dates.get((_number(parts["depart_day"]), _number(parts["return_day"])), ()):
        for found, fare, seats in catalogue.round_trips(trip["origin"], trip["destination"], out, back):
            if found == name:
                return round_trip_row(catalogue, name, out, back, fare, seats)
    raise NoOffer("this flight has no seat left on these dates")


def round_trip_row(catalogue: Catalogue, template: str, out: Any, back: Any, fare: int, seats: int) -> Row:
    """The columns of a round trip as tasks see them, of both flights with a prefix."""
    trip = catalogue.trips[template]
    legs = {
        f"{prefix}_{column}": value
        for prefix in ("outbound", "return")
        for column, value in catalogue.flights[trip[f"{prefix}_flight"]].items()
    }
    return {
        **legs,
        **trip,
        "departs_on": out,
        "returns_on": back,
        "nights_away": (back - out).days,
        "fare": fare,
        "seats": seats,
        "depart_day": out.day,
        "return_day": back.day,
    }


def _permit(catalogue: Catalogue, parts: Mapping[str, str | None]) -> Row:
    name = parts["permit_template"] or ""
    if name not in catalogue.templates:
        raise NoOffer("there is no such permit")
    start, days = _number(parts["start_day"]), None if parts["days"] is None else _number(parts["days"])
    for first, last, length, quota, price in catalogue.permits(name):
        if first.day == start and length == days:
            return permit_row(catalogue, name, (first, last, length, quota, price))
    raise NoOffer("this permit has no place left on these dates")


def permit_row(catalogue: Catalogue, template: str, found: tuple[Any, Any, int | None, int, int]) -> Row:
    """The columns of a permit as tasks see them."""
    first, last, length, quota, price = found
    return {
        **catalogue.templates[template],
        "starts_on": first,
        "ends_on": last,
        "days": length,
        "quota": quota,
        "permit_price": price,
        "start_day": first.day,
    }


_FINDERS: dict[str, Callable[[Catalogue, Mapping[str, str | None]], Row]] = {
    "stays": _stay, "round_trips": _round_trip, "permits": _permit
}  # fmt: skip
_HINTS = {
    "stays": "copy a package_id from search_hotel",
    "round_trips": "copy a package_id from search_flights",
    "permits": "copy a package_id from search_permit_availability",
}
