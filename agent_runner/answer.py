"""What an agent answers: a message for the user and, when it commits itself, the offers that it recommends.

    {"message": "…", "recommendation": null}
    {"message": "…", "recommendation": {"hotel_ids": ["pkg_…", "pkg_…"]}}                                one choice
    {"message": "…", "recommendation": {"hotel_id": "pkg_…", "flight_id": "flight_…", "permit_id": "permit_…"}}

The last object counts that has a message or a recommendation and is not within another one. Whatever stands around it
is passed over, also what looks like JSON and is none. One choice may have up to three alternatives, of which the best
counts; several choices make exactly one plan. Ids are read as they are; whatever else stands there, such as a price, is
not read at all.
"""

from __future__ import annotations

import json
import re
from collections.abc import Sequence
from dataclasses import dataclass
from typing import Any

from pydantic import ValidationError

from ..schemas.plan import MAX_ID, Plan
from ..schemas.source import MAX_BYTES

MOST_OPTIONS = 3

# Parts of JSON as Python reads it, as patterns that take linear time.
_SPACE = r"[ \t\n\r]*"
_TEXT = r'"[^"\\\x00-\x1f]*(?:\\(?:["\\/bfnrt]|u[0-9a-fA-F]{4})[^"\\\x00-\x1f]*)*"'
_NUMBER = r"-?(?:(?:0|[1-9][0-9]*)(?:\.[0-9]+)?(?:[eE][-+]?[0-9]+)?|Infinity)|NaN"
_PLAIN = rf"(?:{_TEXT}|{_NUMBER}|true|false|null|\{{{_SPACE}\}}|\[{_SPACE}\])"
_VALUE = rf"(?:{_PLAIN}{_SPACE}(?P<next>[],}}])|(?P<opens>[{{[]))"
_BEGIN = re.compile(rf"\{{(?={_SPACE}{_TEXT}{_SPACE}:)")  # of an object that is not empty
_MEMBER = re.compile(rf"{_SPACE}(?P<key>{_TEXT}){_SPACE}:{_SPACE}{_VALUE}")
_ITEM = re.compile(rf"{_SPACE}{_VALUE}")
_AFTER = re.compile(rf"{_SPACE}(?P<next>[],}}])")
_CLOSING = {"{": "}", "[": "]"}
_KEYS = ('"message"', '"recommendation"')


class AnswerError(ValueError):
    """A reply that does not have the agreed form; says why in words for the agent."""


@dataclass(frozen=True, slots=True)
class Answer:
    """The message, and the plans that are formally recommended: none, one, or alternatives in their order."""

    message: str
    options: tuple[Plan, ...] = ()


def parse_answer(text: str, choices: Sequence[str]) -> Answer:
    """The answer in what an agent wrote, alone, in a fence or within prose; raises AnswerError, also for no text."""
    if not isinstance(text, str):  # pyright: ignore[reportUnnecessaryIsInstance]
        raise AnswerError("the reply must be a text")
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
    span = _last(text)
    if span is None:
        raise AnswerError('the reply must be one JSON object {"message": …, "recommendation": …}')
    try:
        return _DECODER.decode(text[slice(*span)])
    except ValueError:
        raise AnswerError("a key comes twice in the reply's JSON object") from None
    except RecursionError:
        raise AnswerError("the reply's JSON object is nested too deeply") from None


def _last(text: str) -> tuple[int, int] | None:
    """Where the last of these objects begins and ends.

    In linear time: a brace stands inside or outside of a text, and as either it is looked at once, since all objects
    that are open when one cannot go on do not end either.
    """
    ends: dict[int, tuple[int, bool]] = {}
    found: tuple[int, int] | None = None
    place = 0
    while (begin := _BEGIN.search(text, place)) is not None:
        at = begin.start()
        if at not in ends:
            _measure(text, at, ends)
        end, formed = ends[at]
        found = (at, end) if formed else found
        place = end or at + 1
    return found


def _measure(text: str, at: int, ends: dict[int, tuple[int, bool]]) -> None:
    """Notes of the object at a place, and of those in it, where they end, 0 for nowhere, and whether they are such."""
    opened: list[tuple[int, bool]] = []  # where the open objects and lists begin
    place, mark = at, text[at]
    while True:
        if mark in "{[":
            opened.append((place, False))
            match = (_MEMBER if mark == "{" else _ITEM).match(text, place + 1)
        elif mark == ",":
            match = (_MEMBER if text[opened[-1][0]] == "{" else _ITEM).match(text, place)
        else:
            begun, formed = opened.pop()
            if _CLOSING[text[begun]] != mark:
                opened.append((begun, formed))
                break
            ends[begun] = place, formed
            if not opened:
                return
            match = _AFTER.match(text, place)
        if match is None:
            break
        if match.re is _MEMBER and match["key"] in _KEYS:
            opened[-1] = opened[-1][0], True
        mark, place = match[match.lastgroup or 0], match.end()
        if mark in "{[":
            place -= 1
    ends.update(dict.fromkeys((begun for begun, _ in opened), (0, False)))


def _unrepeated(pairs: list[tuple[str, Any]]) -> dict[str, Any]:
    found = dict(pairs)
    if len(found) < len(pairs):
        raise ValueError("a key comes twice")
    return found


# No number is read; as they are, some are too long for an integer.
_DECODER = json.JSONDecoder(object_pairs_hook=_unrepeated, parse_int=float)


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
