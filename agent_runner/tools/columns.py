"""Which columns of an offer tools tell: a search at once, the others by a call for details."""

from __future__ import annotations

from collections.abc import Mapping

from . import flights, hotels, permits

SHOWN: Mapping[str, frozenset[str]] = {
    "stays": hotels.SHOWN_BY_SEARCH,
    "round_trips": flights.SHOWN_BY_SEARCH,
    "permits": permits.SHOWN_BY_SEARCH,
}
DETAILS: Mapping[str, Mapping[str, frozenset[str]]] = {
    "stays": {"get_room_details": hotels.SHOWN_OF_ROOM, "get_hotel_details": hotels.SHOWN_OF_HOTEL},
    "round_trips": {"get_flight_details": flights.SHOWN_OF_FLIGHT},
    "permits": {},
}
