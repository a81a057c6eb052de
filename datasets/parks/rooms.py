"""The configs: a room type of a hotel sold under a rate plan."""

from __future__ import annotations

from dataclasses import dataclass

import numpy as np
import polars as pl

from .prng import I64, Stream, digest, entities


@dataclass(frozen=True, slots=True)
class RoomType:
    """A kind of room; chances in thousandths, size in square metres, price in thousandths of a standard room."""

    name: str
    price: int
    capacity: tuple[int, ...]
    beds: int
    bed_types: tuple[str, ...]
    size: tuple[int, int]
    kitchenette: int
    balcony: int


@dataclass(frozen=True, slots=True)
class Plan:
    """A rate plan; price in thousandths of the flexible room-only rate."""

    free_cancellation: bool
    no_prepayment: bool
    meals: str
    price: int


ROOM_TYPES = (
    RoomType("standard", 1000, (2,), 1, ("queen", "king", "double"), (18, 27), 40, 150),
    RoomType("twin", 960, (2,), 2, ("twin",), (17, 25), 30, 120),
    RoomType("deluxe", 1180, (2, 3), 1, ("king", "queen"), (24, 36), 90, 420),
    RoomType("double", 1120, (4,), 2, ("queen", "double"), (26, 36), 80, 200),
    RoomType("studio", 1150, (2, 3), 1, ("queen", "king"), (28, 42), 850, 260),
    RoomType("family", 1280, (4, 5), 3, ("queen", "double"), (34, 50), 420, 260),
    RoomType("suite", 1400, (3, 4), 2, ("king", "queen"), (42, 70), 480, 600),
    RoomType("cabin", 1330, (4, 6), 3, ("queen", "bunk"), (36, 62), 720, 550),
)
PLANS = (
    Plan(False, False, "room_only", 920),
    Plan(True, False, "room_only", 1000),
    Plan(True, True, "room_only", 1040),
    Plan(False, False, "breakfast", 1010),
    Plan(True, True, "breakfast", 1120),
    Plan(True, False, "half_board", 1200),
)
TYPE_PRICE = {kind.name: kind.price for kind in ROOM_TYPES}
PLAN_PRICE = {(plan.free_cancellation, plan.no_prepayment, plan.meals): plan.price for plan in PLANS}
FEWEST_TYPES, MOST_TYPES = 3, 5  # room types in a hotel
FEWEST_PLANS, MOST_PLANS = 2, 4  # rate plans of a room type


def config_ids(numbers: I64, seed: int) -> list[str]:
    """Eight hexadecimal digits per config number (< 2^32), different for different numbers.

    MurmurHash3's 32-bit finaliser, which is a bijection, so that no two configs of a world can collide.
    """
    mask = np.uint64(0xFFFFFFFF)
    h = numbers.astype(np.uint64) ^ np.uint64(digest(f"{seed}/config") & 0xFFFFFFFF)
    h = ((h ^ (h >> np.uint64(16))) * np.uint64(0x85EBCA6B)) & mask
    h = ((h ^ (h >> np.uint64(13))) * np.uint64(0xC2B2AE35)) & mask
    return [f"{value:08x}" for value in (h ^ (h >> np.uint64(16))).tolist()]


def room_keys(rooms: pl.DataFrame) -> list[str]:
    """The room behind each config, shared by its rate plans: hotel id and room type."""
    return [f"{hotel}/{kind}" for hotel, kind in rooms.select("hotel_id", "room_type").iter_rows()]


def _choices(hotels: pl.DataFrame, seed: int, most_types: int, most_plans: int) -> list[tuple[int, int, int]]:
    """(row of the hotel, room type, plan) of every config, the hotel's and the room's first choices only."""
    key = entities(hotels["hotel_id"])
    types = Stream.of(seed, "room/type").ranking(key, len(ROOM_TYPES))
    type_count = Stream.of(seed, "room/types").between(FEWEST_TYPES, MOST_TYPES, key)
    restaurant = hotels["has_restaurant"].to_numpy()
    found: list[tuple[int, int, int]] = []
    for row, hotel_id in enumerate(hotels["hotel_id"]):
        offered: list[int] = types[row, : min(int(type_count[row]), most_types)].tolist()
        rooms = entities(f"{hotel_id}/{ROOM_TYPES[kind].name}" for kind in offered)
        favoured: list[list[int]] = Stream.of(seed, "room/plan").ranking(rooms, len(PLANS)).tolist()
        plan_count = Stream.of(seed, "room/plans").between(FEWEST_PLANS, MOST_PLANS, rooms)
        for slot, kind in enumerate(offered):
            sold = [p for p in favoured[slot] if restaurant[row] or PLANS[p].meals != "half_board"]
            found += [(row, kind, plan) for plan in sold[: min(int(plan_count[slot]), most_plans)]]
    return found


def rooms(hotels: pl.DataFrame, seed: int, most_types: int = MOST_TYPES, most_plans: int = MOST_PLANS) -> pl.DataFrame:
    """The configs of these hotels. Lower limits keep the first choices, so they give a subset of the rows."""
    found = _choices(hotels, seed, most_types, most_plans)
    row = np.array([r for r, _, _ in found], dtype=np.int64)
    kinds = [ROOM_TYPES[t] for _, t, _ in found]
    plans = [PLANS[p] for _, _, p in found]
    at = hotels[row]
    choice = np.array([kind * 8 + plan for _, kind, plan in found], dtype=np.int64)
    frame = pl.DataFrame(
        {
            "config": config_ids(at["number"].to_numpy() * 64 + choice, seed),
            "hotel_id": at["hotel_id"],
            "room_type": [kind.name for kind in kinds],
        }
    )
    key = entities(room_keys(frame))  # plans of one room agree in everything but the plan
    stars = at["stars"].to_numpy()

    def stream(name: str) -> Stream:
        return Stream.of(seed, f"room/{name}")

    low = np.array([kind.size[0] for kind in kinds], dtype=np.int64)
    width = np.array([kind.size[1] - kind.size[0] for kind in kinds], dtype=np.int64)
    bed: list[int] = stream("bed").below(60, key).tolist()  # a multiple of every number of choices
    capacity: list[int] = stream("capacity").below(60, key).tolist()
    return frame.with_columns(
        pl.Series("capacity", [k.capacity[c % len(k.capacity)] for k, c in zip(kinds, capacity, strict=True)]),
        pl.Series("bed_type", [k.bed_types[b % len(k.bed_types)] for k, b in zip(kinds, bed, strict=True)]),
        pl.Series("bed_count", [kind.beds for kind in kinds]),
        pl.Series("size", low + width * stream("size").below(1000, key) // 1000),
        pl.Series("has_kitchenette", stream("kitchenette").chance(np.array([k.kitchenette for k in kinds]), key)),
        pl.Series("has_air_conditioning", stream("air").chance(400 + 110 * stars, key)),
        pl.Series("has_balcony", stream("balcony").chance(np.array([k.balcony for k in kinds]), key)),
        pl.Series("has_view", stream("view").chance(220 + 90 * stars, key)),
        pl.Series("has_bathtub", stream("bathtub").chance(160 + 110 * stars, key)),
        pl.Series("has_desk", stream("desk").chance(300 + 120 * stars, key)),
        pl.Series("free_cancellation", [plan.free_cancellation for plan in plans]),
        pl.Series("no_prepayment", [plan.no_prepayment for plan in plans]),
        pl.Series("meal_plan", [plan.meals for plan in plans]),
    )
