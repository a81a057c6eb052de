"""Offer ids: `pkg_{config}_{start_day}_{end_day}_{rooms}` as a template that formats and parses without ambiguity.

A value in an id is a whole number, a date, or text of letters, digits, `.` and `-`. Every part after the first begins
with another character, so equal ids mean equal values. One part may stand in square brackets: it is left out when its
value is unknown, and the number of parts tells.
"""

from __future__ import annotations

import re
import unicodedata
from collections.abc import Sequence
from dataclasses import dataclass
from functools import lru_cache

from .units import Type, format_date

_PART = re.compile(r"(?P<open>\[)?(?P<before>[^\[\]{}]*)\{(?P<column>[a-z][a-z0-9_]*)\}(?P<close>\])?")


@dataclass(frozen=True, slots=True)
class IdPart:
    """Fixed text, then the value of a column; an optional part is absent when the value is unknown."""

    before: str
    column: str
    optional: bool

    def text(self, value: str | None) -> str:
        """The part in the id of a row whose column has this text."""
        return "" if value is None and self.optional else self.before + (value or "")


@dataclass(frozen=True, slots=True)
class IdTemplate:
    """The parts of an id, in order."""

    parts: tuple[IdPart, ...]

    @property
    def columns(self) -> tuple[str, ...]:
        """The columns an id is made of."""
        return tuple(part.column for part in self.parts)

    def format(self, values: Sequence[str | None]) -> str:
        """The id of a row, from the texts of its columns in the order of `columns`."""
        return "".join(part.text(value) for part, value in zip(self.parts, values, strict=True))

    def parse(self, text: str) -> dict[str, str | None] | None:
        """The texts of the columns in an id, None for absent parts; None when the text does not have this form."""
        match = _compiled(self.parts).fullmatch(text)
        return dict(match.groupdict()) if match else None


@lru_cache(64)
def _compiled(parts: tuple[IdPart, ...]) -> re.Pattern[str]:
    return re.compile("".join(_pattern(part) for part in parts))


def _pattern(part: IdPart) -> str:
    body = rf"{re.escape(part.before)}(?P<{part.column}>(?:[^\W_]|[.-])+)"
    return f"(?:{body})?" if part.optional else body


def parse_template(text: str) -> IdTemplate | str:
    """The template, or a sentence that says what is wrong with it."""
    parts: list[IdPart] = []
    position = 0
    for match in _PART.finditer(text):
        if match.start() != position or bool(match["open"]) != bool(match["close"]):
            return "an id template is made of text, {column} and [text{column}]"
        before = match["before"]
        if parts and (not before or is_id_text(before[0])):
            return f"the part {{{match['column']}}} must begin with a separator such as '_'"
        parts.append(IdPart(before, match["column"], bool(match["open"])))
        position = match.end()
    if position != len(text) or not parts:
        return "an id template ends with a {column}"
    if sum(part.optional for part in parts) > 1:
        return "an id has at most one part in [ ]: with two, different offers could have one id"
    columns = [part.column for part in parts]
    repeated = next((column for column in columns if columns.count(column) > 1), None)
    return f"the column {{{repeated}}} stands in the id twice" if repeated else IdTemplate(tuple(parts))


def id_text(value: int | str | None, kind: Type) -> str | None:
    """A value as it stands in an id."""
    if value is None or isinstance(value, str):
        return value
    return format_date(value) if kind.kind == "date" else str(value)


def is_id_text(text: str) -> bool:
    """Whether a text can stand in an id: letters, digits, `.` and `-`, in Unicode's composed form (NFC)."""
    return (
        bool(text) and all(char.isalnum() or char in ".-" for char in text) and unicodedata.is_normalized("NFC", text)
    )
