"""The nightly offers: price and free rooms of every config in every night of August."""

from __future__ import annotations

from dataclasses import dataclass

import numpy as np
import polars as pl

from .august import DAYS, NIGHTS, by_weekday, dates, scaled
from .places import parks
from .prng import I64, Stream, entities
from .rooms import PLAN_PRICE, TYPE_PRICE, room_keys

STANDARD = 12_000  # cents: a standard room of an average three-star hotel at the common level
LOWEST, HIGHEST = 6_000, 90_000  # cents: no night is sold outside
STAR_PRICE = (780, 870, 1000, 1220, 1450)
DAY = DAYS[:NIGHTS]
# Friday, Saturday and Sunday nights are dear and scarce: demand moves price and rooms in opposite directions.
WEEKDAY_PRICE = by_weekday(960, 940, 950, 990, 1130, 1180, 1070)[:NIGHTS]
WEEKDAY_TAKEN = by_weekday(160, 120, 130, 200, 460, 540, 340)[:NIGHTS]
# Late August is dearer for another reason than demand, so the rooms do not get scarcer with it.
LATE_PRICE: I64 = 1000 + 8 * np.clip(DAY - 10, 0, None)
LATE_FREE: I64 = 5 * np.clip(DAY - 10, 0, None)


@dataclass(frozen=True, slots=True)
class Calendar:
    """Offers by night. `price` is int64[configs, 31] in cents per room, `free` int64[configs, 31] in rooms."""

    config: list[str]
    price: I64
    free: I64


def _base_price(rooms: pl.DataFrame, seed: int) -> I64:
    """Cents of each config in an ordinary night, int64[configs], from what a guest can see and the hotel's mood."""
    level = {park.name: park.price for park in parks()}
    score = rooms["review_score"].fill_null(76).to_numpy()
    plan = rooms.select("free_cancellation", "no_prepayment", "meal_plan").iter_rows()
    return scaled(
        np.full(rooms.height, STANDARD, dtype=np.int64),
        np.array([level[park] for park in rooms["park"]], dtype=np.int64),
        np.array(STAR_PRICE, dtype=np.int64)[rooms["stars"].to_numpy() - 1],
        np.array([TYPE_PRICE[kind] for kind in rooms["room_type"]], dtype=np.int64),
        np.array([PLAN_PRICE[terms] for terms in plan], dtype=np.int64),
        1000 + 4 * (score - 76),
        Stream.of(seed, "night/mood").between(890, 1130, entities(rooms["hotel_id"])),
    )


def calendar(rooms: pl.DataFrame, hotels: pl.DataFrame, seed: int) -> Calendar:
    """Price and free rooms per config and night. Rate plans of one room sell from the same stock."""
    joined = rooms.sort("config").join(hotels, on="hotel_id", maintain_order="left")
    config = entities(joined["config"])[:, None]
    room = entities(room_keys(joined))[:, None]
    hotel = entities(joined["hotel_id"])[:, None]
    day = DAY[None, :]

    # Demand at the hotel that night, -100..100: two draws added, so extremes are rarer than the middle.
    surge = Stream.of(seed, "night/surge")
    demand = surge.between(-50, 50, hotel, day) + Stream.of(seed, "night/surge too").between(-50, 50, hotel, day)
    price = scaled(
        _base_price(joined, seed)[:, None],
        WEEKDAY_PRICE[None, :],
        LATE_PRICE[None, :],
        1000 + demand,
        Stream.of(seed, "night/price").between(985, 1015, config, day),
    )
    stock = Stream.of(seed, "night/stock").between(4, 13, room)
    share = 1000 - WEEKDAY_TAKEN[None, :] + LATE_FREE[None, :] - 3 * demand
    free = stock * share // 1000 + Stream.of(seed, "night/free").between(-2, 1, room, day)
    return Calendar(joined["config"].to_list(), np.clip(price, LOWEST, HIGHEST), np.clip(free, 0, None))


def nights(offers: Calendar) -> pl.DataFrame:
    """One row per config and night, by config and night."""
    return pl.DataFrame(
        {
            "config": pl.Series(offers.config).gather(np.repeat(np.arange(len(offers.config)), NIGHTS)),
            "night": np.tile(dates(DAY), len(offers.config)),
            "night_price": offers.price.ravel(),
            "night_available": offers.free.ravel(),
        }
    )
