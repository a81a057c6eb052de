"""Writes the tables of `world/` and the certificates in `valid/`, `invalid/` and `malformed/`, as they are committed.

    python tests/certificates/make.py

Run it after a deliberate change of the certificate format. The changes that make a certificate wrong are listed here, so
that each file says by its name what is wrong with it, and nothing else is.
"""

from __future__ import annotations

import copy
import datetime
import json
from collections.abc import Callable
from pathlib import Path
from typing import Any

import cobench
import pyarrow as pa
import pyarrow.parquet as pq
from cobench.schemas.canonical import canonical_bytes, digest

HERE = Path(__file__).resolve().parent
DAY = datetime.date(2025, 8, 1)
NEXT = datetime.date(2025, 8, 2)

Json = Any

STRING, NUMBER, BOOL, DATE = pa.string(), pa.int64(), pa.bool_(), pa.date32()
TABLES: dict[str, tuple[dict[str, pa.DataType], list[tuple[Any, ...]]]] = {
    "towns": ({"town": STRING, "coast": BOOL, "altitude": NUMBER}, [("Abo", True, 3), ("Bly", False, 410), ("Cue", True, None)]),
    "rooms": (
        {
            "room": STRING, "town": STRING, "night": DATE, "kind": STRING, "stars": NUMBER, "price": NUMBER, "beds": NUMBER,
            "free": NUMBER, "pool": BOOL,
        },
        [
            ("a1", "Abo", DAY, "inn", 35, 9950, 2, 4, True),
            ("a1", "Abo", NEXT, "inn", 35, 11950, 2, 4, True),
            ("a2", "Abo", DAY, "hut", 20, 4500, 4, 1, False),
            ("a2", "Abo", NEXT, "hut", 20, 4500, 4, 1, False),
            ("b1", "Bly", DAY, "inn", 40, 8000, 3, 2, True),
            ("b1", "Bly", NEXT, "inn", 40, 8000, 3, 2, True),
            ("b2", "Bly", DAY, "hut", 15, 2999, 6, 1, False),
            ("c1", "Cue", DAY, "villa", 50, 45000, 6, 1, True),
            ("c1", "Cue", NEXT, "villa", 50, 39900, 6, 1, True),
            ("c2", "Cue", NEXT, "inn", 45, 9999, 1, 2, False),
        ],
    ),
    "trains": (
        {
            "train": STRING, "coach": NUMBER, "arrives_on": DATE, "arrives_at": NUMBER, "station": STRING, "minutes": NUMBER,
            "fare": NUMBER,
        },
        [
            ("t1", None, DAY, 600, "N", 95, 2500),
            ("t2", 7, DAY, 720, "N", 120, 1999),
            ("t3", None, NEXT, 600, "N", 95, 3100),
            ("t4", None, NEXT, 1439, "S", 60, 6400),
            ("t5", 1, DAY, 0, "S", 60, 5800),
            ("t6", None, NEXT, 815, "N", 140, 1500),
            ("t7", None, DAY, 815, "S", 100, 5800),
        ],
    ),
    "vaults": (
        {"vault": STRING, "gold": NUMBER},
        [("q", 2**59), ("r", 2**59 + 1), ("s", 2**53), ("t", -(2**53)), ("u", 2**53 - 1), ("v", 2**59), ("w", 2**60)],
    ),
    "near": ({"station": STRING, "town": STRING}, [("N", "Abo"), ("N", "Bly"), ("S", "Abo"), ("S", "Cue")]),
    "walk": (
        {"station": STRING, "town": STRING, "minutes": NUMBER},
        [("N", "Abo", 15), ("N", "Bly", 20), ("S", "Abo", 21), ("S", "Bly", 90), ("S", "Cue", 5)],
    ),
}  # fmt: skip


def write_tables(folder: Path) -> None:
    """The Parquet files of the world."""
    for name, (types, rows) in TABLES.items():
        columns = zip(*rows, strict=True)
        arrays = {column: pa.array(values, kind) for (column, kind), values in zip(types.items(), columns, strict=True)}
        pq.write_table(pa.table(arrays), folder / f"{name}.parquet")


if __name__ == "__main__":
    write_tables(HERE / "world")
