"""How much a text resembles a name: the one measure by which tools guess what an agent means."""

from __future__ import annotations

from collections.abc import Iterable

from rapidfuzz import fuzz, process, utils

LEAST_CONFIDENCE = 60  # below, nothing is shown as a match


def plain_name(text: str) -> str:
    """A text without regard to case and spacing."""
    return " ".join(text.casefold().split())


def confidence(query: str, spellings: Iterable[str]) -> int:
    """How well a query fits the best of some spellings, 0 to 100.

    rapidfuzz's token set ratio: neither order nor case counts, and words that only one side has count little.
    """
    best = process.extractOne(query, spellings, scorer=fuzz.token_set_ratio, processor=utils.default_process)
    return round(best[1]) if best else 0
