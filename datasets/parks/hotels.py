"""The hotels: at most twenty around each park, with position, stars, reviews and amenities."""

from __future__ import annotations

from math import isqrt

import numpy as np
import polars as pl

from .places import Park, parks, towns
from .prng import I64, U64, Flags, Stream, entities

# Words for names. Every hotel of a park gets its own, so (town, word) names one hotel.
WORDS = (
    "Amber Hill", "Aspen Grove", "Bighorn", "Blue Heron", "Boulder Bend", "Canyon Wren", "Cedar Hollow",
    "Copper Ridge", "Cottonwood", "Eagle Point", "Elk Meadow", "Falcon View", "Fern Valley", "Foxglove",
    "Gray Owl", "Hidden Spring", "Lone Pine", "Mule Deer", "Quiet River", "Red Mesa", "Sage Brush",
    "Silver Creek", "Stone Arch", "Wildflower",
)  # fmt: skip
NOUNS = (("Motel", "Inn"), ("Motel", "Inn"), ("Inn", "Hotel"), ("Hotel", "Lodge"), ("Lodge", "Resort"))  # by stars
BRANDS = (
    ("Pinecone", "Waymark", "Independent", "Independent"),
    ("Pinecone", "Waymark", "Lantern", "Independent"),
    ("Lantern", "Trailhead", "Juniper", "Independent"),
    ("Juniper", "Granite", "Trailhead", "Independent"),
    ("Granite", "Overlook", "Overlook", "Independent"),
)  # by stars
AMENITIES = {
    "has_pool": (60, 200, 420, 650, 880),
    "has_restaurant": (60, 150, 400, 750, 960),
    "has_parking": (900, 930, 940, 950, 970),
    "has_wifi": (800, 880, 940, 980, 1000),
    "has_gym": (20, 90, 330, 650, 900),
    "has_spa": (0, 20, 80, 330, 750),
    "has_bar": (60, 120, 320, 650, 900),
    "has_laundry": (300, 420, 480, 520, 600),
    "has_ev_charging": (30, 90, 220, 420, 650),
    "has_airport_shuttle": (20, 50, 110, 220, 380),
    "is_accessible": (420, 550, 700, 820, 900),
    "is_family_friendly": (450, 560, 640, 660, 620),
}  # probability in thousandths, for one to five stars
REVIEWS = (0, 14, 48, 85, 120, 160, 205, 260, 330, 420, 530, 670, 860, 1120, 1600, 2700)
PETS = ("not_allowed", "not_allowed", "not_allowed", "not_allowed", "not_allowed", "fee", "fee", "fee", "free", "free")
SCATTER = 300  # hotels stand within 0.0300 degrees of their town's centre, in each direction
DEGREE = 11_132  # mm of a meridian in 1/10,000 degree


def number(park: int, index: int) -> int:
    """A small integer for hotel `index` of park number `park`; rooms count on from it."""
    return park * 32 + index


def _stars(park: Park, key: U64, seed: int) -> I64:
    """Stars of all hotels of one park: exactly the park's share of four and five, the others one to three."""
    quota = (park.hotels * park.upscale + 500) // 1000
    order = np.argsort(Stream.of(seed, "hotel/upscale").bits(key), kind="stable")
    upscale: Flags = np.zeros(park.hotels, dtype=np.bool_)
    upscale[order[:quota]] = True
    high = Stream.of(seed, "hotel/high").pick((4, 4, 4, 5), key)
    low = Stream.of(seed, "hotel/low").pick((1, 2, 2, 2, 3, 3, 3, 3), key)
    return np.where(upscale, high, low)


def _park(position: int, park: Park, seed: int) -> pl.DataFrame:
    ids = [f"{park.code}-{index + 1:02d}" for index in range(park.hotels)]
    key = entities(ids)

    def stream(name: str) -> Stream:
        return Stream.of(seed, f"hotel/{name}")

    stars = _stars(park, key, seed)
    near = [town for town in towns() if town.park == park.name]
    town = stream("town").options(near, key)
    latitude = np.array([t.latitude for t in town]) + stream("north").between(-SCATTER, SCATTER, key)
    longitude = np.array([t.longitude for t in town]) + stream("east").between(-SCATTER, SCATTER, key)
    # On a plane around the park: within 60 km that is the great circle to about a tenth of a percent.
    north = (latitude - park.latitude) * DEGREE
    east = (longitude - park.longitude) * DEGREE * park.cosine // 1000
    squares: list[int] = (north**2 + east**2).tolist()
    distance = [(isqrt(square) + 50_000) // 100_000 for square in squares]

    level: list[int] = (stars - 1).tolist()
    word: list[int] = stream("word").ranking(entities([park.code]), len(WORDS))[0, : park.hotels].tolist()
    noun: list[int] = stream("noun").below(2, key).tolist()
    chain: list[int] = stream("brand").below(4, key).tolist()
    brand = [BRANDS[level[i]][chain[i]] for i in range(park.hotels)]
    names = [
        f"{town[i].name} {WORDS[word[i]]} {NOUNS[level[i]][noun[i]]}"
        + ("" if brand[i] == "Independent" else f" by {brand[i]}")
        for i in range(park.hotels)
    ]
    reviews = stream("reviews").pick(REVIEWS, key)
    reviews = reviews + stream("more reviews").below(40, key) * (reviews > 0)
    score = 58 + 6 * stars + stream("score").between(-10, 10, key)
    eco = stream("eco").between(1, 5, key)
    rated = stream("eco rated").chance(380, key)
    return pl.DataFrame(
        {
            "number": [number(position, index) for index in range(park.hotels)],
            "hotel_id": ids,
            "hotel_name": names,
            "brand": brand,
            "park": [park.name] * park.hotels,
            "stars": stars,
            "review_score": pl.select(pl.when(pl.Series(reviews > 0)).then(pl.Series(score))).to_series(),
            "review_count": reviews,
            "distance": pl.Series(distance, dtype=pl.Int64),
            "latitude": latitude,
            "longitude": longitude,
            "pet_policy": stream("pets").options(PETS, key),
            "eco_rating": pl.select(pl.when(pl.Series(rated)).then(pl.Series(eco))).to_series(),
            **{
                name: stream(name).chance(np.array(table, dtype=np.int64)[stars - 1], key)
                for name, table in AMENITIES.items()
            },
        }
    )


def hotels(seed: int) -> pl.DataFrame:
    """All hotels of the full world, by park; `number` is the small integer that rooms count on from."""
    return pl.concat([_park(position, park, seed) for position, park in enumerate(parks())])
