"""What trips, meetings and calendars have in common: names, clocks, and the frame of a dataset and of a task."""

from __future__ import annotations

import re
from collections.abc import Mapping
from typing import Any

from ...schemas.offer_id import is_id_text
from ..converted import Draft
from ..reading import Node

MIDNIGHT = 24 * 60
ORIGIN = {
    "cobench_dataset": 1,
    "name": "natural-plan",
    "license": "CC-BY 4.0",
    "source": "Natural Plan (Google DeepMind)",
}
Picks = dict[str, list[dict[str, Any]]]

_CLOCK = re.compile(r"([01]?[0-9]|2[0-3]):([0-5]?[0-9])\Z")
_CLOCK_12 = re.compile(r"(1[0-2]|[1-9]):([0-5][0-9])([AP])M\Z")


def name_of(node: Node) -> str:
    """A name that can be an offer id; InputError for another."""
    if not is_id_text(name := node.text()):
        raise node.fault(f"'{name}' cannot be an id: only letters, digits, '.' and '-' can")
    return name


def clock_12(node: Node) -> int:
    """Minutes since midnight of a time such as 12:30PM; InputError for another."""
    match = _CLOCK_12.match(node.text())
    if match is None:
        raise node.fault(f"'{node.text()}' is no time of day such as 9:00AM")
    return (int(match[1]) % 12 + 12 * (match[3] == "P")) * 60 + int(match[2])


def clock(node: Node) -> int | None:
    """Minutes since midnight of a time such as 13:45, 9:00 or 9:5, as C's strptime reads it; else None."""
    match = _CLOCK.match(node.value) if isinstance(node.value, str) else None
    return int(match[1]) * 60 + int(match[2]) if match else None


def shown(minutes: int) -> str:
    """HH:MM of minutes since midnight."""
    return f"{minutes // 60:02d}:{minutes % 60:02d}"


def write_task(draft: Draft, name: str, title: str, decisions: Mapping[str, Any], objective: Mapping[str, str]) -> None:
    """Adds a task on the dataset of its own name; `decisions` are its `choose` and `constraints`."""
    draft.task({"cobench": 1, "id": name, "title": title, "dataset": f"../data/{name}", **decisions, **objective})
