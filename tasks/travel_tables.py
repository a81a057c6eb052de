"""The five tables of TravelPlanner as one dataset of ours: ways, stays, restaurants and attractions.

What upstream's evaluator does with its tables decides how they are read:

- A plan names a place by name and city, so of several rows with the same name and city only the first is an offer, as
  upstream reads the first; a row without a name cannot be picked. Spaces around a name do not count.
- Of several rows for the same road the first holds. Without distance and duration there is no way by road; a road of a
  day or more is kept, and no offer.
- Driving costs int(km * 0.05) for five people in a car, a taxi int(km) for four, in whole dollars.
- An accommodation without a price is no offer; without a minimum of nights, it has none.
"""

from __future__ import annotations

import csv
import io
import re
import unicodedata
from collections.abc import Iterator, Mapping
from dataclasses import dataclass
from pathlib import Path
from typing import Any

from ..schemas.errors import TaskError, Where, did_you_mean
from ..schemas.source import read_text
from ..schemas.units import parse_date, parse_time
from .converted import Row

LONGEST = 6  # nights in one city that a stay may have: a trip of a week has six
CARRIES = {"self-driving": 5, "taxi": 4}  # people for the price of one
_FILES = {
    "accommodations": "clean_accommodations_2022.csv",
    "restaurants": "clean_restaurant_2022.csv",
    "attractions": "attractions.csv",
    "roads": "distance.csv",
    "flights": "flights_from_ref_info.csv",
}
_COLUMNS = {
    "accommodations": ",NAME,room type,price,minimum nights,review rate number,house_rules,maximum occupancy,city",
    "restaurants": ",Name,City,Cuisines,Average Cost,Aggregate Rating",
    "attractions": "Name,Latitude,Longitude,Address,Phone,Website,City",
    "roads": "origin,destination,cost,duration,distance",
    "flights": "Flight Number,Price,DepTime,ArrTime,ActualElapsedTime,FlightDate,OriginCityName,DestCityName,Distance",
}
RULES = {
    "children": "No children under 10",
    "parties": "No parties",
    "pets": "No pets",
    "smoking": "No smoking",
    "visitors": "No visitors",
}
_ROOMS = ["Entire home/apt", "Private room", "Shared room"]
_WHOLE = re.compile(r"[0-9]{1,9}(?:\.0)?\Z")
_KILOMETRES = re.compile(r"([0-9]{1,3}(?:,[0-9]{3})*|[0-9]{1,6})(?:\.([0-9]))? km\Z")
_DURATION = re.compile(r"(?:([0-9]+) days?)? ?(?:([0-9]+) hours?)? ?(?:([0-9]+) min(?:ute)?s?)?\Z")
_CITY = re.compile(r"[A-Za-z][A-Za-z .'/-]*\Z")
_CUISINE = re.compile(r"[A-Za-z][A-Za-z ]*\Z")


@dataclass(frozen=True, slots=True)
class Tables:
    """The rows of each table of the dataset, and how a plan's words lead to them.

    `places[table][name, city]` and `roads[mode, origin, destination]` are ids, `flights[number]` is
    (origin, destination, day since 1970-01-01).
    """

    rows: Mapping[str, list[Row]]
    places: Mapping[str, Mapping[tuple[str, str], str]]
    roads: Mapping[tuple[str, str, str], str]
    flights: Mapping[str, tuple[str, str, int]]
    cuisines: tuple[str, ...]


@dataclass(frozen=True, slots=True)
class _Line:
    """A row of a CSV file, with its place."""

    values: Mapping[str, str]
    file: str
    number: int

    def __getitem__(self, column: str) -> str:
        return self.values[column]

    def fault(self, column: str, message: str, hint: str = "") -> TaskError:
        text = f"{column or 'row'} '{self.values[column]}' {message}"
        return TaskError(text, where=Where(self.file, self.number, 1), hint=hint)

    def whole(self, column: str) -> int:
        if not _WHOLE.match(self[column]):
            raise self.fault(column, "is not a whole number")
        return int(self[column].removesuffix(".0"))

    def city(self, column: str) -> str:
        if not _CITY.match(self[column]):
            raise self.fault(column, "is not the name of a city")
        return self[column]


def read_tables(source: Path) -> Tables:
    """The tables in the folder `source`; raises TaskError at file and line of what is not in upstream's form."""
    flights, numbers = _flights(source)
    roads, ways = _roads(source)
    restaurants = list(_lines(source, "restaurants"))
    cuisines = tuple(sorted({cuisine for line in restaurants for cuisine in _cuisines(line)}))
    tables: dict[str, list[Row]] = {"transports": [*flights, *roads], "accommodations": [], "restaurants": []}
    places: dict[str, dict[tuple[str, str], str]] = {"accommodations": {}, "restaurants": {}, "attractions": {}}
    for line in _lines(source, "accommodations"):
        offer = _named(places["accommodations"], line["NAME"], line.city("city"), line[""])
        facts = _accommodation(line)
        if offer and facts is not None:
            tables["accommodations"].append((offer, *facts))
    for line in restaurants:
        if offer := _named(places["restaurants"], line["Name"], line.city("City"), line[""]):
            served = _cuisines(line)
            flags = (cuisine in served for cuisine in cuisines)
            row = (offer, line["Name"].strip(), line["City"], line.whole("Average Cost"), *flags)
            tables["restaurants"].append(row)
    tables["attractions"] = [
        (offer, line["Name"].strip(), line["City"])
        for line in _lines(source, "attractions")
        if (offer := _named(places["attractions"], line["Name"], line.city("City"), str(line.number)))
    ]
    tables["stays"] = [(row[0], nights) for row in tables["accommodations"] for nights in range(1, LONGEST + 1)]
    return Tables(tables, places, ways, numbers, cuisines)


def manifest(cuisines: tuple[str, ...]) -> dict[str, Any]:
    """The content of the dataset.yaml for the rows of `read_tables`."""
    text, number, flag = {"type": "string"}, {"type": "number"}, {"type": "bool"}
    dollars = {**number, "unit": "USD"}
    place = {"name": text, "city": text}
    return {
        "cobench_dataset": 1,
        "name": "travelplanner",
        "title": "TravelPlanner's tables",
        "license": "MIT",
        "source": "TravelPlanner (OSU NLP); of rows with the same name and city only the first",
        "parameters": {"people": {"type": "number", "min": 1, "max": 100}},
        "tables": {
            "transports": {
                "note": "Flights on a date, and roads on any.",
                "key": ["transport"],
                "id": "{transport}",
                "columns": {
                    "transport": text,
                    "mode": {**text, "values": ["flight", "self-driving", "taxi"]},
                    "origin": text,
                    "destination": text,
                    "travels_on": {"type": "date", "nullable": True},
                    "departs_at": {"type": "time", "nullable": True},
                    "arrives_at": {"type": "time", "nullable": True},
                    "duration": {**number, "unit": "min"},
                    "price": dollars,
                    "carries": {**number, "note": "People for one price."},
                    "own_car": flag,
                },
                "derive": {"total": "ceil(people / carries) * price"},
                "require": "duration < 1440",
            },
            "accommodations": {
                "key": ["accommodation"],
                "columns": {
                    "accommodation": text,
                    **place,
                    "room_type": {**text, "values": _ROOMS},
                    "price": {**dollars, "note": "For one room and night."},
                    "minimum_nights": {**number, "nullable": True},
                    "maximum_occupancy": number,
                    **{f"allows_{rule}": flag for rule in RULES},
                },
            },
            "stays": {
                "note": "An accommodation for some nights in a row.",
                "key": ["accommodation", "nights"],
                "id": "{accommodation}_{nights}",
                "references": {"accommodation": "accommodations"},
                "columns": {"accommodation": text, "nights": number},
                "derive": {"rooms": "ceil(people / maximum_occupancy)", "total": "rooms * nights * price"},
                "require": "nights >= minimum_nights or not known(minimum_nights)",
            },
            "restaurants": {
                "key": ["restaurant"],
                "id": "{restaurant}",
                "columns": {
                    "restaurant": text,
                    **place,
                    "price": {**dollars, "note": "What a meal costs one person on average."},
                    **{serves(cuisine): flag for cuisine in cuisines},
                },
                "derive": {"total": "people * price"},
            },
            "attractions": {"key": ["attraction"], "id": "{attraction}", "columns": {"attraction": text, **place}},
        },
    }


def serves(cuisine: str) -> str:
    """The column that says whether a restaurant has a cuisine."""
    return f"serves_{cuisine.lower().replace(' ', '_')}"


def _lines(source: Path, table: str) -> Iterator[_Line]:
    """The rows of a CSV file of the source."""
    path = source / _FILES[table]
    text = read_text(path, TaskError)
    reader = csv.reader(io.StringIO(text, newline=""), strict=True)
    columns = _COLUMNS[table].split(",")
    try:
        header = next(reader, [])
        if header != columns:
            hint = f"the columns are {', '.join(columns)}"
            raise TaskError("this is not the table of upstream", where=Where(str(path), 1, 1), hint=hint)
        for values in reader:
            if len(values) != len(columns):
                place = Where(str(path), reader.line_num, 1)
                raise TaskError(f"{len(values)} values for {len(columns)} columns", where=place)
            yield _Line(dict(zip(columns, values, strict=True)), str(path), reader.line_num)
    except csv.Error as fault:
        raise TaskError(f"not CSV: {fault}", where=Where(str(path), reader.line_num, 1)) from None


def _named(found: dict[tuple[str, str], str], name: str, city: str, number: str) -> str:
    """The id of a new place, entered under its name; empty for what a plan cannot mean."""
    name = name.strip()
    if not name or (name, city) in found:
        return ""
    offer = "-".join(part for part in (slug(name, 40), number) if part)
    found[name, city] = offer
    return offer


def slug(text: str, length: int = 128) -> str:
    """The letters and digits of a text, as they may stand in an id."""
    plain = unicodedata.normalize("NFC", text)
    joined = "".join(char if char.isalnum() else " " for char in plain)
    return unicodedata.normalize("NFC", "-".join(joined.split())[:length].strip("-"))


def _accommodation(line: _Line) -> Row | None:
    """The columns from the name on; None without a price."""
    if line["room type"] not in _ROOMS:
        raise line.fault("room type", "is unknown", did_you_mean(line["room type"], _ROOMS))
    rules = line["house_rules"].split(" & ") if line["house_rules"] else []
    if alien := set(rules) - set(RULES.values()):
        raise line.fault("house_rules", f"has the unknown rule '{min(alien)}'")
    occupancy = line.whole("maximum occupancy")
    if occupancy == 0:
        raise line.fault("maximum occupancy", "is no number of people")
    minimum = line.whole("minimum nights") if line["minimum nights"] else None
    if not line["price"]:
        return None
    numbers = (line.whole("price"), minimum, occupancy)
    allowed = (rule not in rules for rule in RULES.values())
    return (line["NAME"].strip(), line["city"], line["room type"], *numbers, *allowed)


def _cuisines(line: _Line) -> list[str]:
    cuisines = line["Cuisines"].split(", ") if line["Cuisines"] else []
    if any(not _CUISINE.match(cuisine) for cuisine in cuisines):
        raise line.fault("Cuisines", "is not a list of cuisines")
    return cuisines


def _flights(source: Path) -> tuple[list[Row], dict[str, tuple[str, str, int]]]:
    rows: list[Row] = []
    found: dict[str, tuple[str, str, int]] = {}
    for line in _lines(source, "flights"):
        number, day = line["Flight Number"], parse_date(line["FlightDate"])
        if not re.match(r"F[0-9]+\Z", number) or number in found:
            raise line.fault("Flight Number", "comes twice" if number in found else "is not F and digits")
        if day is None:
            raise line.fault("FlightDate", "is no date")
        times = [parse_time(line[column]) for column in ("DepTime", "ArrTime")]
        if None in times:
            raise line.fault("DepTime" if times[0] is None else "ArrTime", "is no time")
        found[number] = line.city("OriginCityName"), line.city("DestCityName"), day
        minutes = _minutes(line, "ActualElapsedTime")
        rows.append((number, "flight", *found[number], *times, minutes, line.whole("Price"), 1, False))
    return rows, found


def _roads(source: Path) -> tuple[list[Row], dict[tuple[str, str, str], str]]:
    rows: list[Row] = []
    found: dict[tuple[str, str, str], str] = {}
    seen: set[tuple[str, str]] = set()
    for line in _lines(source, "roads"):
        road = line.city("origin"), line.city("destination")
        if road in seen:
            continue
        seen.add(road)
        if not line["distance"] and not line["duration"]:
            continue
        match = _KILOMETRES.match(line["distance"])
        if match is None:
            raise line.fault("distance", "is not a number of km")
        tenths = int(match[1].replace(",", "")) * 10 + int(match[2] or 0)
        minutes = _minutes(line, "duration")
        # int(km * 0.05) in whole numbers: a car costs a dollar for twenty kilometres.
        for mode, price in (("self-driving", tenths // 200), ("taxi", tenths // 10)):
            offer = f"{mode}.{slug(road[0])}.{slug(road[1])}"
            found[(mode, *road)] = offer
            rows.append((offer, mode, *road, None, None, None, minutes, price, CARRIES[mode], mode == "self-driving"))
    if len({row[0] for row in rows}) < len(rows):
        raise TaskError("two roads cannot be told apart by their cities", where=Where(str(source / _FILES["roads"])))
    return rows, found


def _minutes(line: _Line, column: str) -> int:
    match = _DURATION.match(line[column])
    if not match or not any(match.groups()):
        raise line.fault(column, "is not a duration")
    days, hours, minutes = (int(part or 0) for part in match.groups())
    return (days * 24 + hours) * 60 + minutes
