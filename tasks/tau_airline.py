"""Flights of tau-bench's airline: priced offers of 300 flights, and the requests of a file as routes over them.

`flights.json` holds, by flight number, where and when a flight goes, and for each date its status; prices and seats are
there where the status is `available`. Every such flight, date and cabin becomes an offer. The source holds no requests,
so those come from a YAML file:

    requests:
      tau-atl-phl:                        # the id of the task
        date: "2024-05-24"                # of every flight of the trip
        from: ATL
        to: PHL
        cabin: economy
        stops: 1                          # at most
        not_before: "11:00"               # of the first departure; may be left out
        itinerary: [HAT110, HAT172]       # an answer that is known; may be left out
        published: cheapest, $207         # what is said of it; may be left out

They become trips over at least one and at most `stops + 1` flights with a seat left, each from the place and no earlier
than the time where and when the one before arrived, at the least price. Times are of the source's one time zone.
"""

from __future__ import annotations

import json
import re
from collections.abc import Iterator, Mapping
from pathlib import Path
from typing import Any

from pydantic import Field

from ..schemas.errors import TaskError, Where, did_you_mean
from ..schemas.source import Source, load_source, repeated_key
from ..schemas.units import parse_date, parse_time
from ..schemas.validation import Written, validate
from .converted import Converted, Row, drafting

FLIGHTS = "flights.json"
DATASET = "tau-airline"
MOST_BYTES = 1 << 26
_DAY = 24 * 60
_CLOCK = re.compile(r"([0-9]{2}:[0-9]{2}):00(\+1)?\Z")  # whole minutes; `+1` is the next day
_FLIGHT = re.compile(r"[A-Z0-9]{1,12}\Z")
_PLACE = re.compile(r"[A-Z]{3}\Z")
_CABIN = re.compile(r"[a-z]+(_[a-z]+)*\Z")
_FACTS = ("origin", "destination", "scheduled_departure_time_est", "scheduled_arrival_time_est", "dates")
_AVAILABLE = "available"
_COLUMNS = {
    "flight": {"type": "string"},
    "date": {"type": "date"},
    "cabin": {"type": "string"},
    "origin": {"type": "string"},
    "destination": {"type": "string"},
    "departs": {"type": "number", "unit": "min", "note": "after 00:00 of the date"},
    "arrives": {"type": "number", "unit": "min", "note": "after 00:00 of the date of departure"},
    "price": {"type": "number", "unit": "USD"},
    "seats": {"type": "number"},
}
_MANIFEST = {
    "cobench_dataset": 1,
    "name": DATASET,
    "tables": {"flights": {"key": ["flight", "date", "cabin"], "id": "{flight}_{date}_{cabin}", "columns": _COLUMNS}},
    # Without a row: a trip goes on where it arrived. A route without a relation could go on anywhere.
    "relations": {
        "transfer": {
            "args": ["arrival", "departure"],
            "columns": {"arrival": {"type": "string"}, "departure": {"type": "string"}},
            "note": "nothing but flights leads from airport to airport",
        }
    },
}


class _Malformed(Exception):
    """What is wrong with a flight."""


class Request(Written):
    """A trip that somebody asks for, and an answer to it if one is known."""

    date: str
    origin: str = Field(alias="from")
    destination: str = Field(alias="to")
    cabin: str
    stops: int = Field(ge=0, le=8)
    not_before: str | None = None
    itinerary: list[str] | None = Field(None, min_length=1)
    published: str | None = None


class Requests(Written):
    """A file of requests, by the ids of the tasks that they become."""

    requests: dict[str, Request] = Field(min_length=1)


def convert(source: Path, out: Path, requests: Path) -> Converted:
    """Writes the flights in the folder `source` as one dataset, and a task for each request.

    Raises TaskError at the place of what cannot be read: in a file of flights the file, flight and date.
    """
    with drafting(source, out) as draft:
        asked = load_source(requests, TaskError)
        found = validate(Requests, asked, TaskError).requests
        rows = list(read_flights(source / FLIGHTS))
        draft.dataset(DATASET, _MANIFEST, {"flights": rows, "transfer": ()})
        flights, cabins = {str(row[0]) for row in rows}, {str(row[2]) for row in rows}
        places = {str(place) for row in rows for place in row[3:5]}
        for name, request in found.items():
            _require(asked, name, request, flights, cabins, places)
            draft.task(_task(name, request))
            if request.itinerary is not None:
                trip = [{"id": f"{flight}_{request.date}_{_spelt(request.cabin)}"} for flight in request.itinerary]
                draft.submit(name, "published", {"picks": {"trip": trip}}, request.published)
        return draft.converted()


def read_flights(path: Path) -> Iterator[Row]:
    """The offers in a file of flights, as rows of the table: available flights, by cabin."""
    for name, flight in _json(path).items():
        try:
            origin, destination, departs, arrives = _schedule(name, flight)
        except _Malformed as problem:
            raise TaskError(f"{name}: {problem}", where=Where(str(path))) from None
        for date, state in flight["dates"].items():
            try:
                day, offers = _offers(date, state)
            except _Malformed as problem:
                raise TaskError(f"{name} on {date}: {problem}", where=Where(str(path))) from None
            for cabin, price, seats in offers:
                yield name, day, _spelt(cabin), origin, destination, departs, arrives, price, seats


def _schedule(name: str, flight: Any) -> tuple[str, str, int, int]:
    """Where and when a flight departs and arrives, in minutes after 00:00; _Malformed if it does not say so."""
    if not _FLIGHT.match(name):
        raise _Malformed("a flight's number is of capital letters and digits")
    if not isinstance(flight, dict) or not all(fact in flight for fact in _FACTS):
        raise _Malformed(f"a flight has {', '.join(_FACTS)}")
    if flight.get("flight_number", name) != name:
        raise _Malformed(f"its flight_number is {flight['flight_number']!r}")
    origin, destination, departure, arrival, dates = (flight[fact] for fact in _FACTS)
    for place in (origin, destination):
        if not (isinstance(place, str) and _PLACE.match(place)):
            raise _Malformed(f"{place!r} is not an airport, written as three capital letters")
    departs, arrives = _minutes(departure), _minutes(arrival)
    if departs is None or arrives is None or not departs < min(arrives, _DAY):
        raise _Malformed(f"{departure!r} to {arrival!r} are not times HH:MM:00, one after the other")
    if not isinstance(dates, dict):
        raise _Malformed("its dates are not by date")
    return origin, destination, departs, arrives


def _offers(date: str, state: Any) -> tuple[int, list[tuple[str, int, int]]]:
    """The day, and cabin, price and seats of each offer on it; _Malformed for what does not say so."""
    day = parse_date(date)
    if day is None:
        raise _Malformed("a date is written YYYY-MM-DD")
    if not isinstance(state, dict) or not isinstance(state.get("status"), str):
        raise _Malformed("there is no status")
    if state["status"] != _AVAILABLE:
        return day, []
    prices, seats = state.get("prices"), state.get("available_seats")
    if not isinstance(prices, dict) or not isinstance(seats, dict) or prices.keys() != seats.keys():
        raise _Malformed("an available flight has prices and available_seats of the same cabins")
    for cabin, price in prices.items():
        if not _CABIN.match(cabin):
            raise _Malformed(f"{cabin!r} is not the name of a cabin")
        for amount in (price, seats[cabin]):
            if type(amount) is not int or not 0 <= amount < 10**9:
                raise _Malformed(f"price and seats in {cabin} are whole numbers, not {amount!r}")
    return day, [(cabin, price, seats[cabin]) for cabin, price in prices.items()]


def _json(path: Path) -> dict[str, Any]:
    def fault(message: str, line: int = 0, column: int = 0) -> TaskError:
        return TaskError(message, where=Where(str(path), line, column))

    def distinct(pairs: list[tuple[str, Any]]) -> dict[str, Any]:
        if (twice := repeated_key(pairs)) is not None:
            raise fault(f"the key '{twice}' stands there twice")
        return dict(pairs)

    try:
        with path.open("rb") as stream:
            text = stream.read(MOST_BYTES + 1)
        if len(text) > MOST_BYTES:
            raise fault("the file is larger than 64 MiB")
        found = json.loads(text.decode("utf-8"), object_pairs_hook=distinct)
    except OSError as problem:
        raise fault(f"cannot read the file: {problem.strerror}") from None
    except json.JSONDecodeError as problem:
        raise fault(f"not JSON: {problem.msg}", problem.lineno, problem.colno) from None
    except (ValueError, RecursionError) as problem:  # no UTF-8, or deeper than any flight
        raise fault(f"not JSON: {problem}") from None
    if not isinstance(found, dict):
        raise fault("a JSON object of flights by number is needed here")
    return found


def _minutes(clock: Any) -> int | None:
    """Minutes after 00:00 of the date of `HH:MM:00`, a day more with `+1`."""
    match = _CLOCK.match(clock) if isinstance(clock, str) else None
    minutes = parse_time(match[1]) if match else None
    return minutes + (_DAY if match and match[2] else 0) if minutes is not None else None


def _spelt(cabin: str) -> str:
    """A cabin as it can stand in an offer's id."""
    return cabin.replace("_", "-")


def _require(file: Source, name: str, request: Request, flights: set[str], cabins: set[str], places: set[str]) -> None:
    """Raises TaskError where a request names what the flights do not have."""

    def fault(message: str, *path: str | int, hint: str = "") -> TaskError:
        return TaskError(message, where=file.where(("requests", name, *path)), hint=hint)

    if parse_date(request.date) is None:
        raise fault(f"'{request.date}' is not a date, written YYYY-MM-DD", "date")
    for key, place in (("from", request.origin), ("to", request.destination)):
        if place not in places:
            raise fault(f"no flight goes from or to '{place}'", key, hint=did_you_mean(place, places, "airports"))
    if _spelt(request.cabin) not in cabins or not _CABIN.match(request.cabin):
        hint = did_you_mean(request.cabin, [cabin.replace("-", "_") for cabin in cabins], "cabins")
        raise fault(f"no flight has a cabin '{request.cabin}'", "cabin", hint=hint)
    if request.not_before is not None and parse_time(request.not_before) is None:
        raise fault(f"'{request.not_before}' is not a time of day, written HH:MM", "not_before")
    if request.published is not None and request.itinerary is None:
        raise fault("what is published is said of an itinerary", "published")
    for place, flight in enumerate(request.itinerary or []):
        if flight not in flights:
            hint = did_you_mean(flight, flights)
            raise fault(f"there is no flight '{flight}' with seats for sale", "itinerary", place, hint=hint)


def _task(name: str, request: Request) -> Mapping[str, Any]:
    start: dict[str, Any] = {"at": request.origin}
    later = ""
    if request.not_before is not None:
        start["time"] = parse_time(request.not_before)
        later = f", not before {request.not_before}"
    cabin = _spelt(request.cabin)
    trip = {
        "route": "flights",
        "where": f'date == "{request.date}" and cabin == "{cabin}" and seats >= 1',
        "at_least": 1,
        "at_most": request.stops + 1,
        "at": {"from": "origin", "to": "destination"},
        "opens": "departs",
        "closes": "arrives",
        "lasts": "arrives - departs",
        "travel": "transfer",
        "start": start,
        "end": {"at": request.destination},
    }
    return {
        "cobench": 1,
        "id": name,
        "title": f"{request.origin} to {request.destination} on {request.date}, {cabin}{later}",
        "dataset": f"../data/{DATASET}",
        "choose": {"trip": trip},
        "minimize": "sum(flight.price for flight in trip)",
    }
