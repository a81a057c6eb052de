"""A plan: which offers are picked. One type for an optimum, a witness and a submission."""

from __future__ import annotations

import json
import unicodedata
from typing import Annotated, Any

from pydantic import BeforeValidator, Field, field_validator

from .errors import PlanError
from .source import Source, parse_source, repeated_key
from .validation import Written, validate

MAX_ID = 4096  # characters of an offer id


class Pick(Written):
    """One chosen offer; on a route with when the visit starts and ends: a time, a date, or a number of its axis."""

    id: str = Field(min_length=1, max_length=MAX_ID)
    start: int | str | None = None
    end: int | str | None = None

    @field_validator("id")
    @classmethod
    def _composed(cls, text: str) -> str:
        return unicodedata.normalize("NFC", text)


def _picks(value: Any) -> Any:
    """The long form of what files may say for short."""
    if isinstance(value, str):
        return ({"id": value},)
    if isinstance(value, dict):
        return (value,)
    if isinstance(value, list):
        return tuple({"id": item} if isinstance(item, str) else item for item in value)
    return value


Picks = Annotated[tuple[Pick, ...], BeforeValidator(_picks, json_schema_input_type=str | Pick | list[str | Pick])]


class Plan(Written):
    """The picks of each choice. In files `hotel: ID` is short for `hotel: [{id: ID}]`."""

    picks: dict[str, Picks]

    @classmethod
    def of(cls, ids: dict[str, str]) -> Plan:
        """The plan that picks one offer per choice."""
        return cls(picks={name: (Pick(id=offer),) for name, offer in ids.items()})

    def written(self) -> dict[str, list[dict[str, Any]]]:
        """The picks in the long form, as files and certificates hold them."""
        return {name: [pick.model_dump(exclude_none=True) for pick in picks] for name, picks in self.picks.items()}


class Refusal(Written):
    """An answer that claims that the task has no plan."""

    refusal: str


def parse_plan(text: str, name: str) -> Plan | Refusal | None:
    """The submission in YAML or JSON text; None when it is empty; PlanError when it is something else."""
    if not text.strip():
        return None
    return read_plan(parse_source(_escaped(text), name, PlanError))


def read_plan(source: Source) -> Plan | Refusal:
    """The submission in a parsed text; PlanError when it is something else."""
    if isinstance(source.data, dict) and "refusal" in source.data:
        return validate(Refusal, source, PlanError)
    return validate(Plan, source, PlanError)


def _escaped(text: str) -> str:
    """JSON as YAML reads it: some escapes and tabs are none in YAML, so JSON with them is spelled out."""
    if not text.lstrip().startswith("{") or not ("\\" in text or "\t" in text):
        return text
    try:
        value = json.loads(text, object_pairs_hook=_no_repeats)
        return json.dumps(value, ensure_ascii=False)
    except (ValueError, RecursionError):
        return text


def _no_repeats(pairs: list[tuple[str, Any]]) -> dict[str, Any]:
    if repeated_key(pairs) is not None:
        raise ValueError("repeated key")  # YAML's reader then says which, and where
    return dict(pairs)
