"""What a result shows of an offer: each field with the columns of the dataset that it tells."""

from __future__ import annotations

from collections.abc import Callable, Iterable, Mapping, Sequence
from dataclasses import dataclass
from datetime import date
from fractions import Fraction
from typing import Any

Row = Mapping[str, Any]


def same(value: Any) -> Any:
    """The value as it is stored."""
    return value


def money(cents: int) -> int | float:
    """Dollars as a JSON number of at most two decimals."""
    return scaled(cents, 100)


def tenths(value: int | None) -> int | float | None:
    """A number stored in tenths; None stays None."""
    return None if value is None else scaled(value, 10)


def degrees(value: int) -> int | float:
    """A coordinate stored in 1/10,000 degree."""
    return scaled(value, 10_000)


def scaled(value: int, scale: int) -> int | float:
    """Value / scale, a power of ten, as the number that prints as that decimal."""
    return value // scale if value % scale == 0 else value / scale


def exact(number: float) -> Fraction:
    """The decimal that a JSON number prints as: 0.1 is a tenth."""
    return Fraction(str(number))


def clock(minutes: int) -> str:
    """`HH:MM` of minutes since midnight."""
    return f"{minutes // 60:02d}:{minutes % 60:02d}"


def day(value: date) -> str:
    """An ISO date."""
    return value.isoformat()


@dataclass(frozen=True, slots=True)
class Field:
    """A name in a result, and what is shown there of one column or several."""

    name: str
    columns: tuple[str, ...]
    show: Callable[..., Any] = same

    @staticmethod
    def of(name: str, column: str = "", show: Callable[[Any], Any] = same) -> Field:
        """A field that shows one column, that of its own name unless another is given."""
        return Field(name, (column or name,), show)


def plain(*names: str) -> tuple[Field, ...]:
    """Fields that show columns as they are, under their own names."""
    return tuple(Field.of(name) for name in names)


def shown(fields: Sequence[Field], row: Row) -> dict[str, Any]:
    """What the fields show of a row."""
    return {item.name: item.show(*[row[column] for column in item.columns]) for item in fields}


def columns(*groups: Iterable[Field]) -> frozenset[str]:
    """The columns that fields tell."""
    return frozenset(column for group in groups for item in group for column in item.columns)
