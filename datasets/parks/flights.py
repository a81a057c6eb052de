"""The flights: on every route one to three airlines, each with one flight there and one back."""

from __future__ import annotations

from collections import Counter
from dataclasses import dataclass

import numpy as np
import polars as pl

from .places import Route, airports, routes
from .prng import I64, Flags, Stream, entities

AIRLINES = ("Blue Mesa", "Cardinal", "Great Basin", "Summit")
CODES = ("BM", "CD", "GB", "SM")
WIFI = (930, 560, 780, 680)  # thousandths, by airline
PETS = (820, 560, 640, 880)
CLASSES = ("basic", "economy", "business")


@dataclass(frozen=True, slots=True)
class Service:
    """An airline on a route: its two flights, its place among the route's airlines, the classes it sells."""

    route: Route
    airline: int
    rank: int
    outbound: str
    inbound: str
    classes: tuple[str, ...]

    @property
    def name(self) -> str:
        """What draws about this service are keyed by, such as `DEN-SGU-BM`."""
        return f"{self.route.origin}-{self.route.destination}-{CODES[self.airline]}"


def services(seed: int) -> list[Service]:
    """All services, by route and rank. Regional airports have fewer airlines and no business class."""
    kind = {airport.code: airport.kind for airport in airports()}
    key = entities(f"{route.origin}-{route.destination}" for route in routes())
    order = Stream.of(seed, "route/airline").ranking(key, len(AIRLINES))
    third = Stream.of(seed, "route/third").chance(300, key)
    second = Stream.of(seed, "route/second").chance(300, key)
    used: Counter[int] = Counter()
    found: list[Service] = []
    for at, route in enumerate(routes()):
        hub = kind[route.destination] == "hub"
        count = 2 + int(third[at]) if hub else 1 + int(second[at])
        for rank in range(count):
            airline = int(order[at, rank])
            service_key = entities([f"{route.origin}-{route.destination}-{CODES[airline]}"])
            basic = bool(Stream.of(seed, "route/basic").chance(550, service_key)[0])
            business = hub and bool(Stream.of(seed, "route/business").chance(350, service_key)[0])
            offered = (basic, True, business)
            number = 101 + 2 * used[airline]  # odd numbers fly out, the next even number flies back
            used[airline] += 1
            found.append(
                Service(
                    route=route,
                    airline=airline,
                    rank=rank,
                    outbound=f"{CODES[airline]}{number}",
                    inbound=f"{CODES[airline]}{number + 1}",
                    classes=tuple(name for name, sold in zip(CLASSES, offered, strict=True) if sold),
                )
            )
    return found


def _direct_chance(route: Route, hub: bool) -> int:
    """Thousandths; short hops are direct, and small airports have few long direct flights."""
    if route.km < 600:
        return 1000
    if hub:
        return 680
    return 380 if route.km < 1600 else 60


def flights(offered: list[Service], seed: int) -> pl.DataFrame:
    """Two legs for each service. Times are minutes of the local day, durations are minutes."""
    offset = {airport.code: airport.utc_offset for airport in airports()}
    hubs = {airport.code for airport in airports() if airport.kind == "hub"}
    legs = [(s, False) for s in offered] + [(s, True) for s in offered]
    number = [s.inbound if back else s.outbound for s, back in legs]
    start = [s.route.destination if back else s.route.origin for s, back in legs]
    end = [s.route.origin if back else s.route.destination for s, back in legs]
    key = entities(f"{s.name}-{'back' if back else 'there'}" for s, back in legs)

    def stream(name: str) -> Stream:
        return Stream.of(seed, f"flight/{name}")

    chance: I64 = np.array([_direct_chance(s.route, s.route.destination in hubs) for s, _ in legs], dtype=np.int64)
    one_stop: Flags = ~stream("direct").chance(chance, key)
    via: list[int] = stream("via").below(2, key).tolist()
    flying: I64 = np.array([s.route.back if back else s.route.there for s, back in legs], dtype=np.int64)
    detour: I64 = np.array([s.route.detour[v] for (s, _), v in zip(legs, via, strict=True)], dtype=np.int64)
    layover = stream("layover").between(10, 34, key) * 5
    # A stop costs the detour, the wait, and a second climb and descent (25 min).
    duration: I64 = flying + stream("slack").between(-1, 2, key) * 5 + one_stop * (detour + layover + 25)
    # From 06:00; one-stop flights leave by 17:00 and direct ones by 20:00, so all land before the next noon.
    departs: I64 = 360 + 5 * np.where(one_stop, stream("early").below(133, key), stream("any").below(169, key))
    shift: I64 = np.array([offset[e] - offset[s] for s, e in zip(start, end, strict=True)], dtype=np.int64)
    lands = departs + duration + shift
    airline: I64 = np.array([s.airline for s, _ in legs], dtype=np.int64)
    return pl.DataFrame(
        {
            "flight": number,
            "carrier": [AIRLINES[s.airline] for s, _ in legs],
            "origin": start,
            "destination": end,
            "departs_at": departs,
            "arrives_at": lands % 1440,
            "arrives_next_day": lands >= 1440,
            "duration": duration,
            "stops": one_stop.astype(np.int64),
            "via": [
                s.route.via[v] if one_stop[row] else None for row, ((s, _), v) in enumerate(zip(legs, via, strict=True))
            ],
            "has_wifi": stream("wifi").chance(np.array(WIFI, dtype=np.int64)[airline], key),
            "pets_allowed": stream("pets").chance(np.array(PETS, dtype=np.int64)[airline], key),
        }
    )
