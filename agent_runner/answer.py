"""What an agent answers: a message for the user and, when it commits itself, the offers that it recommends.

    {"message": "…", "recommendation": null}
    {"message": "…", "recommendation": {"hotel_ids": ["pkg_…", "pkg_…"]}}                                one choice
    {"message": "…", "recommendation": {"hotel_id": "pkg_…", "flight_id": "flight_…", "permit_id": "permit_…"}}

One choice may have up to three alternatives, of which the best counts; several choices make exactly one plan. Ids are
read as they are; whatever else stands there, such as a price, is not read at all.
"""

from __future__ import annotations

import json
from collections.abc import Sequence
from dataclasses import dataclass
from typing import Any

from pydantic import ValidationError

from ..schemas.plan import MAX_ID, Plan
from ..schemas.source import MAX_BYTES, repeated_key

MOST_OPTIONS = 3
_TRIES = 50  # braces that begin no JSON and are passed over, so that a reply takes linear time


class AnswerError(ValueError):
    """A reply that does not have the agreed form; says why in words for the agent."""


@dataclass(frozen=True, slots=True)
class Answer:
    """The message, and the plans that are formally recommended: none, one, or alternatives in their order."""

    message: str
    options: tuple[Plan, ...] = ()


def parse_answer(text: str, choices: Sequence[str]) -> Answer:
    """The answer in what an agent wrote, alone, in a fence or within prose; raises AnswerError."""
    if len(text) > MAX_BYTES:
        raise AnswerError("the reply is larger than 1 MiB")
    found = _object(text)
    message = found.get("message", "")
    if not isinstance(message, str):
        raise AnswerError("message must be a text")
    recommended = found.get("recommendation")
    if recommended is None:
        return Answer(message)
    if not isinstance(recommended, dict):
        raise AnswerError("recommendation must be null or an object with ids")
    return Answer(message, _options(recommended, choices))


def _object(text: str) -> dict[str, Any]:
    """The last JSON object in a text that has a message or a recommendation, and is not within another object."""
    found: dict[str, Any] | None = None
    place, tries = text.find("{"), 0
    while place >= 0 and tries < _TRIES:
        try:
            value, end = _DECODER.raw_decode(text, place)
        except (ValueError, RecursionError):
            end, tries = place + 1, tries + 1
        else:
            if isinstance(value, dict) and ("message" in value or "recommendation" in value):
                found = value
        place = text.find("{", end)
    if found is None:
        raise AnswerError('the reply must be one JSON object {"message": …, "recommendation": …}')
    return found


def _unrepeated(pairs: list[tuple[str, Any]]) -> dict[str, Any]:
    if repeated_key(pairs) is not None:
        raise ValueError("a key comes twice")
    return dict(pairs)


_DECODER = json.JSONDecoder(object_pairs_hook=_unrepeated)


def _options(recommended: dict[str, Any], choices: Sequence[str]) -> tuple[Plan, ...]:
    picked = {choice: _ids(recommended, choice) for choice in choices}
    if not any(picked.values()):
        raise AnswerError(f"recommendation holds no ids; it needs {_needed(choices)}")
    missing = [choice for choice in choices if not picked[choice]]
    if missing:
        raise AnswerError(f"recommendation lacks {_needed(missing)}")
    most = MOST_OPTIONS if len(choices) == 1 else 1
    many = next((choice for choice in choices if len(picked[choice]) > most), None)
    if many is not None:
        allowed = f"at most {most} ids" if most > 1 else "exactly one id for each part of the trip"
        raise AnswerError(f"{allowed} can be recommended, and there are {len(picked[many])} for {many}")
    if len(choices) > 1:
        return (_plan({choice: ids[0] for choice, ids in picked.items()}),)
    return tuple(_plan({choices[0]: offer}) for offer in picked[choices[0]])


def _plan(ids: dict[str, str]) -> Plan:
    try:
        return Plan.of(ids)
    except ValidationError:  # half of a character, which JSON can escape and no text holds
        raise AnswerError("an id is no text") from None


def _ids(recommended: dict[str, Any], choice: str) -> list[str]:
    """The ids for a choice, under `hotel_id` or `hotel_ids`, one or a list, in their order and without repetitions."""
    found: list[Any] = []
    for key in (f"{choice}_id", f"{choice}_ids"):
        value = recommended.get(key)
        found += value if isinstance(value, list) else [] if value is None else [value]
    if any(not isinstance(item, str) or not item or len(item) > MAX_ID for item in found):
        raise AnswerError(f"the ids of {choice} must be texts")
    return list(dict.fromkeys(found))


def _needed(choices: Sequence[str]) -> str:
    return ", ".join(f"{choice}_id" for choice in choices)
