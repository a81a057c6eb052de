"""Which columns of an offer tools tell, as tasks name them: a search at once, others a call for details.

Taken from the fields that results are made of, so never out of date. Whoever plans calls sees here whether a constraint
can be judged after a search.
"""

from __future__ import annotations

from collections.abc import Mapping

from . import flights, hotels, permits, places

SHOWN: Mapping[str, frozenset[str]] = {
    "stays": hotels.SHOWN_BY_SEARCH,
    "round_trips": flights.SHOWN_BY_SEARCH,
    "permits": permits.SHOWN_BY_SEARCH,
}
"""Per table, what its search shows of every offer."""

DETAILS: Mapping[str, Mapping[str, frozenset[str]]] = {
    "stays": {"get_room_details": hotels.SHOWN_OF_ROOM, "get_hotel_details": hotels.SHOWN_OF_HOTEL},
    "round_trips": {
        "get_flight_details": flights.SHOWN_OF_FLIGHT,
        "get_airport_location": frozenset(
            f"{end}_{column}" for end in ("origin", "destination") for column in places.SHOWN_OF_AIRPORT
        ),
    },
    "permits": {},
}
"""Per table and tool for details, what that shows of one offer (or of its hotel, or of one of its airports)."""
