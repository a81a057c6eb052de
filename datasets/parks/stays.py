"""The stays: every run of one to seven nights in one config that at least one room is free for."""

from __future__ import annotations

import numpy as np
import polars as pl

from .august import NIGHTS, dates, spans
from .nights import Calendar
from .prng import I64


def stays(offers: Calendar) -> pl.DataFrame:
    """One row per config, first night and length: the sum of the nightly prices, the least of the free rooms.

    Time and memory are linear in configs * 31 * 7: prices by differences of running sums, rooms by a running minimum.
    """
    count = len(offers.config)
    before: I64 = np.zeros((count, NIGHTS + 1), dtype=np.int64)  # at [:, d]: the price of the first d nights of August
    np.cumsum(offers.price, axis=1, out=before[:, 1:])
    least = offers.free
    parts: list[pl.DataFrame] = []
    for length, first in spans():
        if length > 1:
            least = np.minimum(least[:, :-1], offers.free[:, length - 1 :])
        row, column = np.nonzero(least)
        parts.append(
            pl.DataFrame(
                {
                    "config": pl.Series(offers.config).gather(row),
                    "check_in": dates(first[column]),
                    "check_out": dates(first[column] + length),
                    "nights": np.full(row.size, length, dtype=np.int64),
                    "room_price": (before[:, length:] - before[:, :-length])[row, column],
                    "available": least[row, column],
                }
            )
        )
    return pl.concat(parts)
