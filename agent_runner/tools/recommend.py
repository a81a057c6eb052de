"""The check before a recommendation: whether each of up to three ids names an offer that there is."""

from __future__ import annotations

from functools import partial
from typing import Any

from ...schemas.episode import Fault
from .fault import WrongCall, nothing_such, quoted
from .ids import NoOffer, offer_of
from .tool import Answer, Arguments, Desk, Kind, Parameter, Tool

MOST_IDS = 3


def _recommend(table: str, desk: Desk, given: Arguments) -> Answer:
    """The ids that exist. Raises WrongCall, with all that were found and not found, if one does not."""
    ids: list[str] = list(dict.fromkeys(given["ids"]))
    if not 1 <= len(given["ids"]) <= MOST_IDS:
        raise nothing_such(f"one to three ids can be recommended, and these are {len(given['ids'])}")
    confirmed: list[str] = []
    unknown: list[dict[str, Any]] = []
    for name in ids:
        try:
            offer_of(desk.catalogue, table, name)
        except NoOffer as fault:
            unknown.append({"id": name[:100], "reason": str(fault)})
            continue
        confirmed.append(name)
    if unknown:
        reasons = "; ".join(f"{quoted(item['id'])}: {item['reason']}" for item in unknown)
        more = {"confirmed": confirmed, "unknown": unknown}
        raise WrongCall(Fault.CONTENT, f"unknown ids: {reasons}", "copy each package_id from a search", more)
    asked = {"ids": sorted(ids), "reasoning": None}
    message = "These offers exist. Put the ids into your recommendation to make it formal."
    return Answer({"confirmed": confirmed, "message": message}, confirmed=tuple(confirmed), asked=asked)


def _tool(noun: str, plural: str, table: str, searched: str) -> Tool:
    return Tool(
        f"recommend_{noun}",
        f"Checks that {plural} exist which you are about to recommend. Mandatory before a recommendation. It does not "
        "check whether they are what the user wants.",
        (
            Parameter("ids", Kind.IDS, f"One to three package ids from {searched}.", required=True),
            Parameter("reasoning", Kind.FREE, "Why you recommend them.", required=True),
        ),
        partial(_recommend, table),
        (f"validate_{noun}_id",),
    )


TOOLS = (
    _tool("hotel", "hotel packages", "stays", "search_hotel"),
    _tool("flight", "round trips", "round_trips", "search_flights"),
    _tool("permit", "permits", "permits", "search_permit_availability"),
)
