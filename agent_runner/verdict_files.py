"""Files of verdicts: Parquet, or one JSON object a line. Amounts are exact; two columns of floats are for plotting.

Parquet has a column for each fact (`SCHEMA`). Values, gaps, ranks and counts are decimal text, since they may be
larger than 64 bits; `value / scale` is in `unit`. `relative_gap_float` and `better_float` (better plans over all) are
written for plots, and never read.
"""

from __future__ import annotations

import io
from collections.abc import Iterator, Sequence
from fractions import Fraction
from pathlib import Path
from typing import Any

import pyarrow as pa
import pyarrow.parquet as pq
from pydantic import ValidationError

from ..schemas.canonical import canonical_bytes, narrow, wide
from ..schemas.errors import InputError, Where
from ..schemas.lines import json_lines
from ..schemas.scored import Scored
from ..schemas.verdict import Verdict

PARQUET, LINES = ".parquet", ".jsonl"
_TEXT, _NUMBER, _FLOAT = pa.string(), pa.int64(), pa.float64()
_AMOUNTS = ("value", "optimum", "gap")
_STANDING = ("better", "tied", "worse", "total")
_VIOLATION = pa.struct({"constraint": _TEXT, "detail": _TEXT, "amount": _TEXT, "unit": _TEXT, "scale": _NUMBER}.items())
VERDICT = {  # the columns of a verdict in any table, without what it is about
    "kind": _TEXT, "reason": _TEXT,
    **dict.fromkeys(_AMOUNTS, _TEXT), "unit": _TEXT, "scale": _NUMBER,
    "relative_gap": _TEXT, "relative_gap_float": _FLOAT,
    **dict.fromkeys(_STANDING, _TEXT), "better_float": _FLOAT,
    "violations": pa.list_(_VIOLATION),
}  # fmt: skip
SCHEMA = pa.schema(
    {
        "task": _TEXT, "agent": _TEXT, "line": _NUMBER, "status": _TEXT, **VERDICT,
        "ignored": pa.list_(_TEXT), "published": _TEXT,
        "submitted": _TEXT, "best": _TEXT, "task_digest": _TEXT, "data_digest": _TEXT, "certificate_digest": _TEXT,
    }.items()
)  # fmt: skip
_HINT = "`cobench score --submissions FILE --out VERDICTS` writes such a file"


def require_suffix(path: Path) -> None:
    """Raises InputError for a name that ends in neither of the two suffixes."""
    if path.suffix not in (PARQUET, LINES):
        raise InputError(f"a file of verdicts ends in {PARQUET} or {LINES}", where=Where(str(path)))


def verdict_bytes(rows: Sequence[Scored], suffix: str) -> bytes:
    """The content of a file of verdicts; equal rows give equal bytes (Parquet: with one version of pyarrow)."""
    if suffix == LINES:
        return b"".join(canonical_bytes(row.model_dump(mode="json", exclude_none=True)) for row in rows)
    stream = io.BytesIO()
    table = pa.Table.from_pylist([verdict_columns(row) for row in rows], schema=SCHEMA)
    pq.write_table(table, stream, compression="zstd")
    return stream.getvalue()


def read_verdict_rows(path: Path) -> list[Scored]:
    """The verdicts in a file; InputError, with the line or row, for one that is none, and when there are none."""
    require_suffix(path)
    found = list(_from_lines(path) if path.suffix == LINES else _from_parquet(path))
    if not found:
        raise InputError("this file holds no verdicts", where=Where(str(path)))
    return found


def verdict_columns(row: Verdict) -> dict[str, Any]:
    """A verdict as a row of a table, with whatever else it has."""
    found = row.model_dump(mode="json", exclude={"standing"})
    for name in _AMOUNTS:
        found[name] = _digits(getattr(row, name))
    for item in found["violations"]:
        item["amount"] = _digits(item["amount"])
    found["relative_gap_float"] = None if row.relative_gap is None else _float(Fraction(row.relative_gap))
    if row.standing is not None:
        numbers = {name: narrow(getattr(row.standing, name)) for name in _STANDING}
        found |= {name: str(number) for name, number in numbers.items()}
        found["better_float"] = _float(Fraction(numbers["better"], numbers["total"]))
    return found


def _digits(value: int | str | None) -> str | None:
    return None if value is None else str(value)


def _float(share: Fraction) -> float | None:
    try:
        return float(share)
    except OverflowError:
        return None


def _from_lines(path: Path) -> Iterator[Scored]:
    for where, value in json_lines(path, "a verdict"):
        yield _row(value, where)


def _from_parquet(path: Path) -> Iterator[Scored]:
    where = Where(str(path))
    try:
        if path.is_dir():
            raise InputError("this is a folder, not a file", where=where)
        with pq.ParquetFile(path) as file:
            _require_columns(file.schema_arrow, where)
            table = file.read(use_threads=False).select(SCHEMA.names).cast(SCHEMA)
        rows = table.to_pylist()
    except OSError as fault:
        raise InputError(f"cannot read the file: {fault.strerror or fault}", where=where) from None
    except (pa.ArrowException, UnicodeDecodeError, MemoryError) as fault:
        raise InputError(f"not a readable Parquet file: {fault}", where=where, hint=_HINT) from None
    for number, row in enumerate(rows, 1):
        place = Where(f"{path} row {number}")
        try:
            yield _row(_document(row), place)
        except (ValueError, TypeError) as fault:
            raise InputError(f"this is no verdict: {str(fault)[:200]}", where=place, hint=_HINT) from None


def _require_columns(found: Any, where: Where) -> None:
    names = set(SCHEMA.names)
    wrong = [name for name in SCHEMA.names if found.names.count(name) != 1]
    other = [name for name in found.names if name not in names]
    if wrong or other:
        what = f"the column '{wrong[0]}' is missing" if wrong else f"unknown column '{other[0][:80]}'"
        raise InputError(f"this is no file of verdicts: {what}", where=where, hint=_HINT)
    for field in SCHEMA:
        kind = found.field(field.name).type
        if kind != field.type and pa.types.is_integer(kind) != pa.types.is_integer(field.type):
            raise InputError(f"the column '{field.name}' holds {kind}, not {field.type}", where=where, hint=_HINT)


def _document(row: dict[str, Any]) -> dict[str, Any]:
    """A row of the table as a line has it."""
    found = {name: value for name, value in row.items() if value is not None and name not in _STANDING}
    for name in ("relative_gap_float", "better_float"):
        found.pop(name, None)
    for name in _AMOUNTS:
        if name in found:
            found[name] = _amount(found[name])
    if any(row[name] is not None for name in _STANDING):
        found["standing"] = {name: _amount(row[name]) for name in _STANDING}
    found["violations"] = [
        {name: _amount(value) if name == "amount" else value for name, value in item.items() if value is not None}
        for item in row["violations"] or ()
    ]
    return found


def _amount(text: str) -> int | str:
    value = wide(int(text))
    if str(value) != text:
        raise ValueError(f"'{text[:80]}' is not the one spelling of an integer")
    return value


def _row(value: dict[str, Any], where: Where) -> Scored:
    try:
        return Scored.model_validate_json(canonical_bytes(value))
    except ValidationError as fault:
        first = fault.errors(include_url=False)[0]
        place, said = ".".join(map(str, first["loc"])), str(first["msg"]).removeprefix("Value error, ")
        raise InputError(
            f"this is no verdict: {place}: {said}" if place else f"this is no verdict: {said}", where=where, hint=_HINT
        ) from None
