"""Facts as plain data: what `--json` prints, and what a report page is drawn from."""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import fields, is_dataclass
from enum import Enum
from fractions import Fraction
from typing import Any

from .canonical import wide
from .units import Type
from .validation import Written


def as_data(fact: Any) -> Any:
    """JSON data: dataclasses become objects, tuples lists, fractions `p/q`, integers of 2^53 and more decimal strings.

    A numeric type becomes `{unit, scale}`, by which the amounts beside it are to be read: `amount / scale` in `unit`.
    """
    if isinstance(fact, Type):
        return {"unit": fact.unit, "scale": wide(fact.scale)}
    if isinstance(fact, Written):
        return fact.model_dump(mode="json", exclude_none=True)
    if is_dataclass(fact):
        return {field.name: as_data(getattr(fact, field.name)) for field in fields(fact)}
    if isinstance(fact, Mapping):
        return {str(key): as_data(value) for key, value in fact.items()}
    if isinstance(fact, tuple | list):
        return [as_data(item) for item in fact]
    if isinstance(fact, Enum | Fraction):
        return str(fact)
    return wide(fact) if isinstance(fact, int) and not isinstance(fact, bool) else fact
