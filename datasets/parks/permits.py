"""The permits: day hikes, guided tours and backpacking trips with a quota for every day."""

from __future__ import annotations

from collections.abc import Collection

import numpy as np
import polars as pl

from .august import DAYS, NIGHTS, WEEKDAY, by_weekday, dates
from .places import permit_kinds
from .prng import I64, Stream, entities

DAY = DAYS[:NIGHTS]
FREE = by_weekday(820, 860, 850, 760, 520, 430, 560)[:NIGHTS]  # thousandths of the daily quota left to book
TOUR_DAYS = 720  # thousandths: a guided tour runs on this share of the weekdays
TRIP_DAYS = (2, 3, 4, 5)  # lengths of a backpacking trip
TRIP_FEE = 600  # cents per person and trip, beside the fee per day


def permit_templates() -> pl.DataFrame:
    """The fifty permits, by code."""
    return pl.DataFrame(
        [(kind.code, kind.name, kind.park, kind.kind) for kind in permit_kinds()],
        schema=["permit_template", "template_name", "permit_park", "permit_type"],
        orient="row",
    )


def permits(parks: Collection[str], seed: int) -> pl.DataFrame:
    """Rows for every permit of these parks and every date with a quota left. Prices are cents per person.

    A backpacking trip of n days takes one place on each of its days, so its quota is the least of theirs.
    """
    parts: list[pl.DataFrame] = []
    for kind in permit_kinds():
        if kind.park not in parks:
            continue
        key = entities([kind.code])
        left = Stream.of(seed, "permit/left").between(150, 1250, key, DAY)
        quota: I64 = kind.daily * FREE // 1000 * left // 1000
        if kind.kind == "guided_tours":
            runs = Stream.of(seed, "permit/runs").chance(TOUR_DAYS, key, np.arange(7))
            quota = quota * runs[WEEKDAY[:NIGHTS]]
        for length in TRIP_DAYS if kind.kind == "backpacking" else (1,):
            left_on_trip = np.lib.stride_tricks.sliding_window_view(quota, length).min(axis=1)
            start = np.flatnonzero(left_on_trip)
            trip = length > 1
            parts.append(
                pl.DataFrame(
                    {
                        "permit_template": [kind.code] * start.size,
                        "starts_on": dates(DAY[start]),
                        "ends_on": dates(DAY[start] + length - 1),
                        "days": pl.Series([length if trip else None] * start.size, dtype=pl.Int64),
                        "quota": left_on_trip[start],
                        "permit_price": [TRIP_FEE + kind.fee * length if trip else kind.fee] * start.size,
                    }
                )
            )
    return pl.concat(parts)
