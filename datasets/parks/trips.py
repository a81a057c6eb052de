"""The round trips: an outbound and a return flight of one airline in one booking class, on two dates."""

from __future__ import annotations

import numpy as np
import polars as pl

from .august import dates, spans
from .fares import FareTable
from .flights import AIRLINES, Service
from .prng import I64, Stream, entities

BAGS = {"basic": (0, 0), "economy": (0, 1), "business": (2, 2)}
FREE_CHANGES = {"basic": 0, "economy": 450, "business": 1000}  # thousandths


def trips(offered: list[Service], legs: pl.DataFrame, seed: int) -> pl.DataFrame:
    """One template per service and booking class; `rank` is the airline's place on its route.

    Numbered over everything that is `offered`, so pass all services and take a part of the rows afterwards.
    """
    at = {flight: row for row, flight in enumerate(legs["flight"])}
    rows = [(s, sold) for s in offered for sold in s.classes]
    there = legs[[at[s.outbound] for s, _ in rows]]
    back = legs[[at[s.inbound] for s, _ in rows]]
    key = entities(f"{s.name}-{sold}" for s, sold in rows)
    bags: list[int] = Stream.of(seed, "trip/bags").below(2, key).tolist()
    changes: I64 = np.array([FREE_CHANGES[sold] for _, sold in rows], dtype=np.int64)
    stops = np.maximum(there["stops"].to_numpy(), back["stops"].to_numpy())
    return pl.DataFrame(
        {
            "rank": [s.rank for s, _ in rows],
            "template": [f"T{number:04d}" for number in range(1, len(rows) + 1)],
            "outbound_flight": there["flight"],
            "return_flight": back["flight"],
            "origin": [s.route.origin for s, _ in rows],
            "destination": [s.route.destination for s, _ in rows],
            "airline": [AIRLINES[s.airline] for s, _ in rows],
            "booking_class": [sold for _, sold in rows],
            "stops": stops,
            "is_direct": stops == 0,
            "has_wifi": there["has_wifi"] & back["has_wifi"],
            "pets_allowed": there["pets_allowed"] & back["pets_allowed"],
            "free_changes": Stream.of(seed, "trip/changes").chance(changes, key),
            "bags_included": [BAGS[sold][bag] for (_, sold), bag in zip(rows, bags, strict=True)],
        }
    )


def round_trips(templates: pl.DataFrame, table: FareTable) -> pl.DataFrame:
    """One row per template, departure and return one to seven nights later, if a seat is free both ways.

    The fare is the sum of both legs (cents per person), the seats are the fewer. Linear in templates * 31 * 7.
    """
    sold = list(templates["booking_class"])
    there = np.array([table.row[pair] for pair in zip(templates["outbound_flight"], sold, strict=True)], dtype=np.int64)
    back = np.array([table.row[pair] for pair in zip(templates["return_flight"], sold, strict=True)], dtype=np.int64)
    parts: list[pl.DataFrame] = []
    for away, first in spans():
        out, home = first - 1, first - 1 + away
        seats = np.minimum(table.seats[there][:, out], table.seats[back][:, home])
        fare = table.price[there][:, out] + table.price[back][:, home]
        row, column = np.nonzero(seats)
        parts.append(
            pl.DataFrame(
                {
                    "template": templates["template"].gather(row),
                    "departs_on": dates(first[column]),
                    "returns_on": dates(first[column] + away),
                    "nights_away": np.full(row.size, away, dtype=np.int64),
                    "fare": fare[row, column],
                    "seats": seats[row, column],
                }
            )
        )
    return pl.concat(parts)
