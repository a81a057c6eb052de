"""Where things are: parks, airports and towns, by exact name or by resemblance, and how far it is by car."""

from __future__ import annotations

from collections.abc import Iterator
from dataclasses import dataclass
from math import asin, cos, radians, sin, sqrt

from ...datasets.parks import places as facts
from .catalogue import Catalogue
from .fault import nothing_such, quoted
from .fields import Field, columns, degrees, plain, shown
from .resemblance import LEAST_CONFIDENCE, confidence, plain_name
from .tool import Answer, Arguments, Desk, Kind, Parameter, Tool

MOST_MATCHES = 10
_EARTH_KM, _WINDING, _KM_AN_HOUR, _START_MINUTES = 6371, 1.3, 100, 10  # as in datasets/parks/facts/README.md
_SUFFIX = " national park"


@dataclass(frozen=True, slots=True)
class Place:
    """A place that has a name, and other texts by which people know it."""

    name: str
    kind: str
    spellings: tuple[str, ...]
    park: str = ""
    airport: str = ""


def _places(catalogue: Catalogue) -> Iterator[Place]:
    for park in catalogue.parks:
        yield Place(park, "park", (park, park + " National Park"), park=park)
    for code, row in catalogue.airports.items():
        name = row["airport_name"]
        yield Place(name, "airport", (name, f"{name} Airport", code, row["city"]), airport=code)
    for town in facts.towns():
        yield Place(town.name, "town", (town.name,), park=town.park)


def matches(catalogue: Catalogue, query: str) -> list[tuple[int, Place]]:
    """Places that resemble a query with their confidence, best first and then by name; at most ten, none below 60."""
    found = [(confidence(query, place.spellings), place) for place in _places(catalogue)]
    found = [item for item in found if item[0] >= LEAST_CONFIDENCE]
    return sorted(found, key=lambda item: (-item[0], item[1].name, item[1].kind))[:MOST_MATCHES]


def park_named(catalogue: Catalogue, text: str) -> str:
    """The park of a name in any case, with or without "National Park"; raises WrongCall with what may be meant."""
    wanted = plain_name(text).removesuffix(_SUFFIX)
    for name in catalogue.parks:
        if plain_name(name) == wanted:
            return name
    near = [place.park for _, place in matches(catalogue, text) if place.park]
    near = list(dict.fromkeys(near))[:3]
    hint = f"did you mean {' or '.join(near)}?" if near else "Search with search_location_name."
    raise nothing_such(f"there is no park {quoted(text)}", f"{hint} The name of a park must be exact.")


def airport_named(catalogue: Catalogue, text: str) -> str:
    """The code of an airport in upper case; raises WrongCall with what may be meant."""
    code = text.upper()
    if code in catalogue.airports:
        return code
    near = [place for _, place in matches(catalogue, text) if place.airport][:3]
    meant = ", ".join(f"{place.airport} ({place.name})" for place in near)
    hint = f"did you mean {meant}?" if near else "search_airports lists those of a park."
    raise nothing_such(f"there is no airport {quoted(text)}", f"{hint} An airport is named by its three letters.")


def time_by_car(minutes: int) -> str:
    """Minutes as `2h 15m`."""
    return f"{minutes // 60}h {minutes % 60:02d}m"


def by_car(lat1: float, lon1: float, lat2: float, lon2: float) -> tuple[int, float]:
    """Minutes and kilometres of a drive, as the drives of the world were estimated from the great circle."""
    north1, east1, north2, east2 = (radians(value) for value in (lat1, lon1, lat2, lon2))
    half = sin((north2 - north1) / 2) ** 2 + cos(north1) * cos(north2) * sin((east2 - east1) / 2) ** 2
    km = 2 * _EARTH_KM * asin(min(1.0, sqrt(half))) * _WINDING
    return round(km / _KM_AN_HOUR * 60 + _START_MINUTES), round(km, 1)


def _search_location_name(desk: Desk, given: Arguments) -> Answer:
    results: list[dict[str, object]] = []
    for score, place in matches(desk.catalogue, given["query"]):
        more = {"airport_code": place.airport} if place.airport else {"park": place.park}
        results.append({"name": place.name, "location_type": place.kind, **more, "confidence_score": score})
    content: dict[str, object] = {"query": given["query"], "results": results, "total": len(results)}
    if not results:
        content["message"] = "No park, town or airport has a similar name."
    return Answer(content, asked={"query": plain_name(given["query"])})


def _search_airports(desk: Desk, given: Arguments) -> Answer:
    world, park = desk.catalogue, given["park_name"]
    results: list[dict[str, object]] = []
    for code in world.served_by.get(park, ()):
        row, minutes = world.airports[code], world.drive_minutes.get((code, park))
        results.append(
            {
                "code": code,
                "name": row["airport_name"],
                "city": row["city"],
                "airport_type": row["airport_type"],
                "drive_hours": None if minutes is None else round(minutes / 60, 2),
                "drive_time": None if minutes is None else time_by_car(minutes),
                "drive_minutes": minutes,
            }
        )
    content: dict[str, object] = {"park": park, "results": results, "total": len(results)}
    if not results:
        content["message"] = "No airport serves this park."
    return Answer(content)


AIRPORT = (
    Field.of("name", "airport_name"),
    *plain("city", "airport_type"),
    Field.of("latitude", "airport_latitude", degrees),
    Field.of("longitude", "airport_longitude", degrees),
)
SHOWN_OF_AIRPORT = columns(AIRPORT)


def _airport_location(desk: Desk, given: Arguments) -> Answer:
    code = given["airport_code"]
    return Answer({"code": code, **shown(AIRPORT, desk.catalogue.airports[code])})


def _park_coordinates(desk: Desk, given: Arguments) -> Answer:
    park = desk.catalogue.parks[given["park"]]
    return Answer({"park": park.name, "latitude": degrees(park.latitude), "longitude": degrees(park.longitude)})


def _driving_distance(_: Desk, given: Arguments) -> Answer:
    minutes, km = by_car(given["lat1"], given["lon1"], given["lat2"], given["lon2"])
    estimate = "from the great circle; not route planning"
    return Answer({"driving_time": time_by_car(minutes), "minutes": minutes, "distance_km": km, "estimate": estimate})


def _degrees(name: str, of: str, most: int) -> Parameter:
    axis = "Latitude" if most == 90 else "Longitude"
    return Parameter(name, Kind.NUMBER, f"{axis} of the {of}, in degrees.", required=True, minimum=-most, maximum=most)


TOOLS = (
    Tool(
        "search_airports",
        "Lists the airports that serve a national park: code, name, city, type, and the drive from there to the park.",
        (Parameter("park_name", Kind.PARK, "Exact name of the park, such as Zion.", required=True),),
        _search_airports,
    ),
    Tool(
        "get_airport_location",
        "Gives name, city, type and coordinates of an airport.",
        (Parameter("airport_code", Kind.AIRPORT, "Three-letter code, such as DEN.", required=True),),
        _airport_location,
        ("get_airport_coordinates",),
    ),
    Tool(
        "get_park_coordinates",
        "Gives the coordinates of a national park.",
        (Parameter("park", Kind.PARK, "Exact name of the park, such as Zion.", required=True),),
        _park_coordinates,
    ),
    Tool(
        "search_location_name",
        "Finds parks, towns and airports by an informal or partial name, each with a confidence from 0 to 100.",
        (Parameter("query", Kind.TEXT, "What the place is called, as well as you know it.", required=True),),
        _search_location_name,
    ),
    Tool(
        "calculate_driving_distance",
        "Estimates time and distance by car between two points given by coordinates.",
        (
            _degrees("lat1", "start", 90),
            _degrees("lon1", "start", 180),
            _degrees("lat2", "end", 90),
            _degrees("lon2", "end", 180),
        ),
        _driving_distance,
        ("calculate_distance",),
    ),
)
