"""Texts of others, and numbers of things, within what a person reads."""

from __future__ import annotations

from .common import visible

NAME = 60  # characters of a name
TEXT = 400  # … of a reason, or of what a choice holds


def short(text: str, most: int = NAME) -> str:
    """The text in one line with what cannot be seen escaped, its middle left out where it is long."""
    text = visible(
        " ".join(text[: 4 * most].split()) if len(text) <= 4 * most else text[: 2 * most] + text[-2 * most :]
    )
    text = " ".join(text.split())
    return text if len(text) <= most else f"{text[: most // 2]}…{text[-(most - most // 2 - 1) :]}"


def count(number: int, noun: str) -> str:
    """So many of something."""
    return f"{number:,} {noun}{'s' if number != 1 else ''}"
