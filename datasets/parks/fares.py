"""The fares: price and free seats of every flight, booking class and day."""

from __future__ import annotations

from dataclasses import dataclass

import numpy as np
import polars as pl

from .august import DAYS, by_weekday, dates, scaled
from .flights import Service
from .places import airports
from .prng import I64, Stream, entities

TAXES = 3_500  # cents of every fare that nothing scales
HIGHEST = 125_000  # cents: the most a leg is sold for
AIRLINE_PRICE = (1000, 920, 1060, 1020)
CLASS_PRICE = {"basic": 810, "economy": 1000, "business": 2200}
# How dear a flight is on one day, in thousandths: quantiles with a long upper tail.
DEMAND = (
    640, 660, 680, 700, 715, 730, 745, 760, 775, 790, 805, 820, 840, 860, 880, 900,
    925, 950, 975, 1000, 1030, 1060, 1100, 1140, 1190, 1250, 1330, 1430, 1560, 1740, 2000, 2500,
)  # fmt: skip
WEEKDAY_PRICE = by_weekday(980, 890, 900, 960, 1120, 1010, 1140)
WEEKDAY_TAKEN = by_weekday(0, -1, -1, 0, 2, 0, 2)  # seats
# Summer ebbs towards the middle of the month; the days around Labor Day (1 September) are dear again.
SEASON: I64 = np.where(DAYS >= 29, 1130, 1060 - 6 * np.minimum(DAYS, 14))


@dataclass(frozen=True, slots=True)
class FareTable:
    """Fares by day. `price` is int64[pairs, 32] in cents per person, `seats` int64[pairs, 32]; `row` finds a pair."""

    pairs: list[tuple[str, str]]  # flight, booking class
    row: dict[tuple[str, str], int]
    price: I64
    seats: I64


def fare_table(offered: list[Service], legs: pl.DataFrame, seed: int) -> FareTable:
    """The fares of these services, on every day from 1 August to 1 September."""
    regional = {airport.code for airport in airports() if airport.kind == "regional"}
    stops: dict[str, int] = dict(legs.select("flight", "stops").iter_rows())
    rows = [(s, flight, sold) for s in offered for flight in (s.outbound, s.inbound) for sold in s.classes]
    flight = entities(name for _, name, _ in rows)[:, None]
    pair = entities(f"{name}/{sold}" for _, name, sold in rows)[:, None]
    route = entities(f"{s.route.origin}-{s.route.destination}" for s, _, _ in rows)
    day = DAYS[None, :]

    def column(values: list[int]) -> I64:
        return np.array(values, dtype=np.int64)

    base = scaled(
        column([4_500 + 3 * s.route.km for s, _, _ in rows]),
        column([AIRLINE_PRICE[s.airline] for s, _, _ in rows]),
        column([CLASS_PRICE[sold] for _, _, sold in rows]),
        column([860 if stops[name] else 1000 for _, name, _ in rows]),
        column([1180 if s.route.destination in regional else 1000 for s, _, _ in rows]),
        Stream.of(seed, "fare/route").between(850, 1200, route),
    )
    quantile = Stream.of(seed, "fare/demand").below(len(DEMAND), flight, day)  # all classes of a flight fill together
    price = TAXES + scaled(
        base[:, None],
        WEEKDAY_PRICE[None, :],
        SEASON[None, :],
        column(list(DEMAND))[quantile],
        Stream.of(seed, "fare/price").between(960, 1040, pair, day),
    )
    seats = 14 - 13 * quantile // len(DEMAND) - WEEKDAY_TAKEN[None, :]
    seats = seats + Stream.of(seed, "fare/seats").between(-2, 2, pair, day)
    pairs = [(name, sold) for _, name, sold in rows]
    return FareTable(
        pairs=pairs,
        row={pair: at for at, pair in enumerate(pairs)},
        price=np.minimum(price, HIGHEST),
        seats=np.clip(seats, 0, None),
    )


def fares(table: FareTable) -> pl.DataFrame:
    """One row per flight, booking class and day."""
    pair = np.repeat(np.arange(len(table.pairs)), DAYS.size)
    return pl.DataFrame(
        {
            "flight": pl.Series([flight for flight, _ in table.pairs]).gather(pair),
            "flies_on": np.tile(dates(DAYS), len(table.pairs)),
            "booking_class": pl.Series([sold for _, sold in table.pairs]).gather(pair),
            "leg_price": table.price.ravel(),
            "leg_seats": table.seats.ravel(),
        }
    )
