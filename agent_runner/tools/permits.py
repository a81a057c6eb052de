"""Permits: which a park has, and on which dates places are left."""

from __future__ import annotations

from datetime import date
from typing import Any

from ...schemas.errors import did_you_mean
from .catalogue import Catalogue
from .fault import nothing_such, quoted
from .fields import Field, Row, columns, day, money, plain, shown
from .ids import id_of, permit_row
from .paging import page_of
from .tool import Answer, Arguments, Desk, Kind, Parameter, Tool

PAGE = 20
BACKPACKING = "backpacking"
TEMPLATE = plain("template_name", "permit_type")
PLACE = (Field.of("park", "permit_park"),)
DATES = (
    Field.of("start_date", "starts_on", day),
    Field.of("end_date", "ends_on", day),
    Field.of("duration_days", "days"),
    Field.of("places_left", "quota"),
    Field.of("price_per_person", "permit_price", money),
    Field.of("total_price", show=money),
)

SHOWN_BY_SEARCH = columns(TEMPLATE, PLACE, DATES)


def _lengths(catalogue: Catalogue, template: str) -> list[int]:
    return sorted({days for _, _, days, _, _ in catalogue.permits(template) if days is not None})


def _list_permits(desk: Desk, given: Arguments) -> Answer:
    world, park = desk.catalogue, given["park"]
    results: list[dict[str, Any]] = []
    for name, row in world.templates.items():
        if row["permit_park"] == park:
            lengths = {"durations_days": _lengths(world, name)} if row["permit_type"] == BACKPACKING else {}
            results.append({**shown(TEMPLATE, row), **lengths})
    content: dict[str, Any] = {"park": park, "results": results, "total": len(results)}
    if not results:
        content["message"] = "This park has no permits."
    return Answer(content)


def _template_of(catalogue: Catalogue, park: str, text: str) -> Row:
    """The permit of a park with exactly this name; raises WrongCall."""
    of_park = {row["template_name"]: row for row in catalogue.templates.values() if row["permit_park"] == park}
    if text in of_park:
        return of_park[text]
    if not of_park:
        raise nothing_such(f"{park} has no permits")
    hint = did_you_mean(text, of_park, "permits there") + " The template_name must be exact, as list_permits shows it."
    raise nothing_such(f"{park} has no permit {quoted(text)}", hint)


def _search_permit_availability(desk: Desk, given: Arguments) -> Answer:
    world, people = desk.catalogue, given["num_people"]
    template = _template_of(world, given["park"], given["template_name"])
    length = given["duration_days"]
    if length is not None and template["permit_type"] != BACKPACKING:
        raise nothing_such(
            "duration_days is for backpacking permits only", f"this one is for {template['permit_type']}"
        )
    first, last = date.min, date.max
    if given["date_range"] is not None:
        first, last = (date.fromisoformat(text) for text in given["date_range"].split(" to "))
    rows = [
        {**permit_row(world, template["permit_template"], found), "total_price": people * found[4]}
        for found in world.permits(template["permit_template"])
        if first <= found[0] and found[1] <= last and found[3] >= people and length in (None, found[2])
    ]
    listed, paging = page_of(rows, given["page"], PAGE)
    results = [{"package_id": id_of(world, "permits", row), **shown(DATES, row)} for row in listed]
    content: dict[str, Any] = {
        **shown((*PLACE, *TEMPLATE), template), "num_people": people, "results": results, **paging
    }  # fmt: skip
    if not rows:
        lengths = _lengths(world, template["permit_template"])
        known = f" It is for {', '.join(map(str, lengths))} days." if lengths and length not in (None, *lengths) else ""
        content["message"] = f"No places are left that fit.{known}"
    return Answer(content, {"permits": tuple(item["package_id"] for item in results)})


TOOLS = (
    Tool(
        "list_permits",
        "Lists the permits of a national park: template_name, type, and of backpacking permits how many days.",
        (Parameter("park", Kind.PARK, "Exact name of the park, such as Zion.", required=True),),
        _list_permits,
    ),
    Tool(
        "search_permit_availability",
        "Lists dates on which a permit has places left for a group, with price and package_id. Twenty a page, by date.",
        (
            Parameter("park", Kind.PARK, "Exact name of the park, such as Zion.", required=True),
            Parameter("template_name", Kind.ID, "Exact name of the permit, from list_permits.", required=True),
            Parameter(
                "date_range",
                Kind.DATES,
                "Only permits that start and end within these days, both included: YYYY-MM-DD to YYYY-MM-DD.",
            ),
            Parameter("duration_days", Kind.COUNT, "Only so many days; for backpacking.", minimum=1, maximum=31),
            Parameter("num_people", Kind.COUNT, "Number of people.", default=1, minimum=1, maximum=12),
            Parameter("page", Kind.COUNT, "Page of the results.", default=1, minimum=1),
        ),
        _search_permit_availability,
    ),
)
