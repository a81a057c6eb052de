"""Types of values, and the only place that knows decimals, money, dates and times of day.

Everything is an integer inside: a number is `value = integer / scale` in its unit (USD with two digits has scale 100),
a date is days since 1970-01-01, a time is minutes since midnight of the local day.
"""

from __future__ import annotations

import datetime
import re
from dataclasses import dataclass
from fractions import Fraction
from typing import Literal

Kind = Literal["bool", "string", "date", "time", "number"]

WEEKDAYS = ("mon", "tue", "wed", "thu", "fri", "sat", "sun")
INT64_MAX = 2**63 - 1
INT64_MIN = -(2**63)
_EPOCH = datetime.date(1970, 1, 1).toordinal()
_SYMBOLS = {"USD": "$", "EUR": "€", "GBP": "£", "JPY": "¥", "CNY": "¥"}
_DATE = re.compile(r"[0-9]{4}-[0-9]{2}-[0-9]{2}\Z")
_TIME = re.compile(r"([01][0-9]|2[0-3]):([0-5][0-9])\Z")
_DECIMAL = re.compile(r"-?[0-9]{1,40}(\.[0-9]{1,40})?\Z")


@dataclass(frozen=True, slots=True)
class Type:
    """What a value is. `unit` and `scale` belong to numbers, `values` to strings with a closed set of values."""

    kind: Kind
    unit: str = ""
    scale: int = 1
    values: tuple[str, ...] | None = None
    nullable: bool = False

    def __str__(self) -> str:
        if self.kind == "number":
            return f"a number in {self.unit}" if self.unit else "a plain number"
        return {"bool": "true/false", "string": "text", "date": "a date", "time": "a time of day"}[self.kind]


BOOL = Type("bool")
DATE = Type("date")
COUNT = Type("number")
WEEKDAY = Type("string", values=WEEKDAYS)


def parse_date(text: str) -> int | None:
    """Days since 1970-01-01 of an ISO date `YYYY-MM-DD`; None for anything else, date-times included."""
    if not _DATE.match(text):
        return None
    try:
        return datetime.date.fromisoformat(text).toordinal() - _EPOCH
    except ValueError:
        return None


def parse_time(text: str) -> int | None:
    """Minutes since midnight of `HH:MM`; None for anything else."""
    match = _TIME.match(text)
    return int(match[1]) * 60 + int(match[2]) if match else None


def parse_moment(value: int | str, kind: Type) -> int | None:
    """A point on an axis of time as plans write it: `09:30` or minutes, `2025-08-08` or days, a whole number."""
    if isinstance(value, int):
        return value
    return {"time": parse_time, "date": parse_date}.get(kind.kind, lambda _: None)(value)


def format_moment(value: int, kind: Type) -> int | str:
    """The one spelling of a point on an axis of time in plans; `parse_moment` reads it."""
    if kind.kind == "time" and 0 <= value < 24 * 60:
        return f"{value // 60:02d}:{value % 60:02d}"
    text = format_date(value) if kind.kind == "date" else ""
    return text if text and parse_date(text) == value else value


def parse_decimal(text: str) -> Fraction | None:
    """The exact value of a decimal such as `-12.50`; None for exponents, hex, underscores and words."""
    return Fraction(text) if _DECIMAL.match(text) else None


def format_date(day: int) -> str:
    """`YYYY-MM-DD` of days since 1970-01-01; the bare number of days outside years 1 to 9999."""
    ordinal = day + _EPOCH
    if 1 <= ordinal <= datetime.date.max.toordinal():
        return datetime.date.fromordinal(ordinal).isoformat()
    return f"day {day}"


def weekday_index(day: int) -> int:
    """0 for Monday to 6 for Sunday, of days since 1970-01-01 (a Thursday)."""
    return (day + 3) % 7


def day_of_month(day: int) -> int:
    """1 to 31, of days since 1970-01-01."""
    return datetime.date.fromordinal(day + _EPOCH).day


def format_decimal(value: int, scale: int, grouped: bool = False) -> str:
    """The exact decimal of value / scale, with as many digits as the scale has; a fraction if no decimal is exact."""
    digits = len(str(scale)) - 1
    if scale != 10**digits:
        return str(Fraction(value, scale))
    whole, part = divmod(abs(value), scale)
    text = f"{whole:,}" if grouped else str(whole)
    if digits:
        text += f".{part:0{digits}d}"
    return "-" + text if value < 0 else text


def format_value(value: int | str | bool | None, kind: Type) -> str:
    """A value as people write it: `$1,800.00`, `8.7`, `45 min`, `2025-08-08`, `07:30`, `true`, `unknown`."""
    if value is None:
        return "unknown"
    if isinstance(value, str):
        return f"'{value}'"
    if kind.kind == "bool":
        return "true" if value else "false"
    if kind.kind == "date":
        return format_date(value)
    if kind.kind == "time":
        return f"{value // 60:02d}:{value % 60:02d}"
    symbol = _SYMBOLS.get(kind.unit, "")
    text = format_decimal(abs(value), kind.scale, grouped=True)
    sign = "-" if value < 0 else ""
    if symbol:
        return f"{sign}{symbol}{text}"
    return f"{sign}{text} {kind.unit}" if kind.unit else f"{sign}{text}"
