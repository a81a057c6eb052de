"""The month of this world: days are numbered 1..31 for August 2025, and 32 is Monday, 1 September."""

from __future__ import annotations

from collections.abc import Iterator

import numpy as np
import numpy.typing as npt

from .prng import I64

NIGHTS = 31
LONGEST = 7  # nights of the longest stay and of the longest round trip
DAYS: I64 = np.arange(1, NIGHTS + 2, dtype=np.int64)
WEEKDAY: I64 = (DAYS + 3) % 7  # 0 is Monday; 1 August 2025 was a Friday


def dates(days: I64) -> npt.NDArray[np.datetime64]:
    """Calendar dates (datetime64[D]) of day numbers, same shape."""
    return np.datetime64("2025-07-31", "D") + days.astype("timedelta64[D]")


def by_weekday(*permille: int) -> I64:
    """One value per day number (int64[32]) from seven values, Monday to Sunday."""
    return np.array(permille, dtype=np.int64)[WEEKDAY]


def spans() -> Iterator[tuple[int, I64]]:
    """(nights, first days) of every stay from 1 to LONGEST nights that ends on 1 September at the latest."""
    for nights in range(1, LONGEST + 1):
        yield nights, DAYS[: NIGHTS + 1 - nights]


def scaled(amount: I64, *permille: I64) -> I64:
    """`amount` times each factor in thousandths, rounded down after each; arrays broadcast."""
    for factor in permille:
        amount = amount * factor // 1000
    return amount
