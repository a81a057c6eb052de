"""Texts of others, and numbers of things, within what a person reads."""

from __future__ import annotations

import re

from .common import visible

NAME = 60  # characters of a name
TEXT = 400  # … of a reason, or of what a choice holds


def short(text: str, most: int = NAME) -> str:
    """The text in one line with what cannot be seen escaped, its middle left out where it is long."""
    text = visible(
        " ".join(text[: 4 * most].split()) if len(text) <= 4 * most else text[: 2 * most] + text[-2 * most :]
    )
    text = " ".join(text.split())
    if len(text) <= most:
        return text
    head, tail = text[: most // 2], text[-(most - most // 2 - 1) :]
    return f"{_to_word(head)}…{_to_word(tail[::-1])[::-1]}"


def beginning(text: str, most: int) -> str:
    """At most so many characters of a text, up to the end of a word where there is one near; lines stay lines."""
    return text if len(text) <= most else _to_word(text[:most])


def _to_word(text: str) -> str:
    """The text without the part of a word at its end, if that is short."""
    found = re.match(r"(?s)(.+)\s\S{0,20}\Z", text)
    return found[1] if found else text


def count(number: int, noun: str, several: str = "") -> str:
    """So many of something; `several`: the plural, where it is not the noun with an s."""
    return f"{number:,} {noun if number == 1 else several or noun + 's'}"
