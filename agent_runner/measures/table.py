"""Tables of what was measured: a page, a terminal, JSON and Parquet show the same ones."""

from __future__ import annotations

import io
import math
from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from fractions import Fraction
from typing import Any, Literal

import pyarrow as pa
import pyarrow.parquet as pq

from ...schemas.canonical import wide
from ..analysis import Rate
from .intervals import Mean
from .stability import Spread

# What a column holds: text; an integer; a fraction that is a share or another number; a Rate; a Mean of shares or of
# other numbers; a Spread of shares; a float (a statistic, or a probability). Any cell may be None.
# `part` is a Rate that is shown as so many of so many.
Kind = Literal["text", "count", "share", "number", "rate", "part", "mean share", "mean", "spread", "float"]

_TEXT, _NUMBER, _FLOAT = pa.string(), pa.int64(), pa.float64()
_RATE = pa.struct({"hits": _NUMBER, "of": _NUMBER, "low": _FLOAT, "high": _FLOAT}.items())
_EXACT = pa.struct({"exact": _TEXT, "float": _FLOAT}.items())
_ENDS = {"low": _FLOAT, "high": _FLOAT}
_MEAN = pa.struct({"exact": _TEXT, "float": _FLOAT, "of": _NUMBER, "tasks": _NUMBER, **_ENDS}.items())
_TYPES: Mapping[Kind, Any] = {
    "text": _TEXT, "count": _NUMBER, "share": _EXACT, "number": _EXACT, "mean": _MEAN, "mean share": _MEAN,
    "spread": pa.struct({"mean": _TEXT, "mean_float": _FLOAT, "deviation": _FLOAT}.items()),
    "float": _FLOAT, "rate": _RATE, "part": _RATE,
}  # fmt: skip


@dataclass(frozen=True, slots=True)
class Column:
    """The heading of a column, and what its cells are."""

    name: str
    kind: Kind = "text"


@dataclass(frozen=True, slots=True)
class Table:
    """A table by a name that files can have, its title, and a sentence or two on how to read it."""

    name: str
    title: str
    columns: tuple[Column, ...]
    rows: tuple[tuple[Any, ...], ...]
    note: str = ""

    def content(self) -> dict[str, Any]:
        """As plain data; what is not exact is text."""
        names = [column.name for column in self.columns]
        return {
            "title": self.title,
            "note": self.note,
            "rows": [dict(zip(names, map(_plain, row), strict=True)) for row in self.rows],
        }

    def parquet(self) -> bytes:
        """As a Parquet file; equal tables give equal bytes with one version of pyarrow."""
        names = [column.name for column in self.columns]
        schema = pa.schema([(column.name, _TYPES[column.kind]) for column in self.columns])
        rows = [dict(zip(names, map(_columnar, row), strict=True)) for row in self.rows]
        stream = io.BytesIO()
        pq.write_table(pa.Table.from_pylist(rows, schema=schema), stream, compression="zstd")
        return stream.getvalue()


def columns(*named: str | tuple[str, Kind]) -> tuple[Column, ...]:
    """Columns from their names; those of text need no kind."""
    return tuple(Column(item) if isinstance(item, str) else Column(*item) for item in named)


def content(tables: Sequence[Table]) -> dict[str, Any]:
    """All tables by name, as plain data."""
    return {table.name: table.content() for table in tables}


def _plain(cell: Any) -> Any:
    if isinstance(cell, Rate | Mean):
        return cell.content()
    if isinstance(cell, Spread):
        return {
            "mean": str(cell.mean),
            "deviation": f"{cell.deviation:.6g}",
            "values": [str(item) for item in cell.values],
        }
    if isinstance(cell, Fraction):
        return str(cell)
    if isinstance(cell, float):
        return f"{cell:.6g}" if math.isfinite(cell) else None
    return wide(cell) if isinstance(cell, int) else cell


def _columnar(cell: Any) -> Any:
    if isinstance(cell, Rate):
        return {"hits": cell.hits, "of": cell.of, "low": cell.low, "high": cell.high}
    if isinstance(cell, Mean):
        low, high = cell.interval or (None, None)
        exact = {"exact": str(cell.value), "float": float(cell.value)}
        return {**exact, "of": cell.of, "tasks": cell.tasks, "low": low, "high": high}
    if isinstance(cell, Spread):
        return {"mean": str(cell.mean), "mean_float": float(cell.mean), "deviation": cell.deviation}
    return {"exact": str(cell), "float": float(cell)} if isinstance(cell, Fraction) else cell
