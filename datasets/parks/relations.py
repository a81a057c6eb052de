"""The airports, and how they relate to the parks."""

from __future__ import annotations

import polars as pl

from .places import airports as real_airports
from .places import drives


def airports() -> pl.DataFrame:
    """All origin and destination airports."""
    return pl.DataFrame(
        {
            "airport": [a.code for a in real_airports()],
            "airport_name": [a.name for a in real_airports()],
            "city": [a.city for a in real_airports()],
            "airport_type": [a.kind for a in real_airports()],
            "airport_latitude": [a.latitude for a in real_airports()],
            "airport_longitude": [a.longitude for a in real_airports()],
            "utc_offset": [a.utc_offset for a in real_airports()],
            "is_origin": [a.is_origin for a in real_airports()],
            "is_destination": [a.is_destination for a in real_airports()],
        }
    )


def serves() -> pl.DataFrame:
    """The pairs of an airport and a park that it is an airport for."""
    return pl.DataFrame(
        {"airport": [d.airport for d in drives() if d.serves], "park": [d.park for d in drives() if d.serves]}
    )


def drive_minutes() -> pl.DataFrame:
    """Minutes by car for every pair of at most six hours."""
    return pl.DataFrame(
        {
            "airport": [d.airport for d in drives()],
            "park": [d.park for d in drives()],
            "minutes": [d.minutes for d in drives()],
        }
    )
