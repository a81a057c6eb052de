"""Cells of tables of measures as people read them: on a page and on a terminal."""

from __future__ import annotations

import math
from collections.abc import Callable, Iterable
from fractions import Fraction
from typing import Any

from ..agent_runner.analysis import Rate
from ..agent_runner.measures.intervals import Mean
from ..agent_runner.measures.stability import Spread
from ..agent_runner.measures.table import Column, Table
from ..report.page import Grid
from .words import TEXT, short

NONE = "–"
LISTED = 400  # rows of a table on a page


def share_text(share: Fraction | float) -> str:
    """A share in percent with one digit."""
    return f"{100 * float(share):.1f} %"


def rate_text(rate: Rate) -> str:
    """The share, and its interval in parentheses."""
    if not rate.of:
        return NONE
    return f"{share_text(Fraction(rate.hits, rate.of))} ({100 * rate.low:.0f}–{100 * rate.high:.0f})"


def part_text(rate: Rate) -> str:
    """So many of so many, and the share."""
    if not rate.of:
        return NONE
    return f"{rate.hits:,} of {rate.of:,}" + (f" ({share_text(Fraction(rate.hits, rate.of))})" if rate.hits else "")


def mean_text(mean: Mean, *, share: bool) -> str:
    """The mean, and its interval in parentheses where there is one."""
    factor, digits = (100, 1) if share else (1, 1)
    said = f"{factor * float(mean.value):.{digits}f}" + (" %" if share else "")
    if mean.interval is None:
        return said
    low, high = (factor * end for end in mean.interval)
    return f"{said} ({low:.{digits}f} to {high:.{digits}f})"


def number_text(value: float) -> str:
    """A statistic or probability with three digits after the point."""
    if not math.isfinite(value):
        return NONE
    return "< 0.001" if 0 < value < 0.001 else f"{value:.3f}"


def spread_text(spread: Spread) -> str:
    """Mean and population standard deviation in percent, as published tables have it."""
    return f"{100 * float(spread.mean):.1f} ± {100 * spread.deviation:.1f} %"


_TEXTS: dict[str, Callable[[Any], str]] = {
    "text": lambda value: short(value, TEXT), "count": lambda value: f"{value:,}", "share": share_text,
    "number": lambda value: f"{float(value):.1f}", "rate": rate_text, "part": part_text, "float": number_text,
    "spread": spread_text,
    "mean": lambda value: mean_text(value, share=False), "mean share": lambda value: mean_text(value, share=True),
}  # fmt: skip


def cell_text(column: Column, value: Any) -> str:
    """A cell as text; what there is none of is a dash."""
    return NONE if value is None else _TEXTS[column.kind](value)


def right(columns: Iterable[Column]) -> frozenset[int]:
    """The columns with numbers."""
    return frozenset(number for number, column in enumerate(columns) if column.kind != "text")


def grid(table: Table) -> Grid:
    """The table as text, at most so many rows of it."""
    rows = tuple(
        tuple(cell_text(column, value) for column, value in zip(table.columns, row, strict=True))
        for row in table.rows[:LISTED]
    )
    return Grid(tuple(column.name for column in table.columns), rows, right(table.columns))
