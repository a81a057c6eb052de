"""What an agent asks the tools in one conversation: every question once, long results page by page.

Which columns stand in no search result, and are only known of an offer after a call for its details, is decided here
and nowhere else: `Search.level` by what the tools say that they show, `Search.look_up` by what was asked.
"""

from __future__ import annotations

import json
from collections.abc import Collection, Mapping, Sequence
from dataclasses import replace
from typing import Any

from ...schemas.problem import Problem
from ..episode import View
from ..tools.columns import DETAILS, SHOWN
from ..tools.result import Result
from .frames import Airport, Known, Outing, Permit, days_since, iso
from .windows import Windows

# For each table the tools that tell more than a search does, in the order in which one asks them.
LEVELS: Mapping[str, tuple[str, ...]] = {
    "stays": ("get_hotel_details", "get_room_details"),
    "round_trips": ("get_flight_details",),
    "permits": (),
}


class Search:
    """The questions of one agent and what it learnt from the answers.

    `left`: the searches that it may still make, pages and lists of airports and permits included; `looks`: the calls
    for details. None: as many as it likes. Nothing is found once they are spent.
    """

    def __init__(self, left: int | None = None, looks: int | None = None) -> None:
        self.left, self.looks = left, looks
        self.shown: dict[str, set[str]] = {}
        self._answers: dict[str, Result] = {}
        self._ids: dict[tuple[str | int, ...], tuple[str, ...]] = {}
        self._known: set[tuple[str, str]] = set()
        self._hotel_of: dict[str, str] = {}
        self._view: View | None = None

    def attend(self, view: View) -> None:
        """Goes on in the turn of a view."""
        self._view = view
        self._choice_of = {view.problem.world.tables[table].base: name for name, table in view.problem.choices.items()}
        self._guests = int(view.problem.world.parameters["guests"].value)

    @property
    def view(self) -> View:
        """The turn that it is."""
        if self._view is None:
            raise RuntimeError("no turn has begun")
        return self._view

    # searches

    def ask(self, tool: str, **arguments: Any) -> Result | None:
        """The answer to a question that counts as a search, asked once; None when no search is left."""
        key = json.dumps([tool, arguments], sort_keys=True)
        if key not in self._answers:
            if self.left is not None:
                if self.left <= 0:
                    return None
                self.left -= 1
            result = self.view.call(tool, **arguments)
            self._answers[key] = result
            for table, ids in result.offers.items():
                if table in self._choice_of:
                    self.shown.setdefault(self._choice_of[table], set()).update(ids)
        return self._answers[key]

    def pages(self, tool: str, **arguments: Any) -> list[Result]:
        """All pages of an answer, or as many as searches were left for."""
        found: list[Result] = []
        while not found or len(found) < int(found[0].content.get("pages", 1)):
            page = {"page": len(found) + 1} if found else {}
            result = self.ask(tool, **arguments, **page)
            if result is None or result.fault is not None:
                break
            found.append(result)
        return found

    def windows(self, problem: Problem, most_parks: int | None = None, order: Sequence[str] = ()) -> Windows:
        """What the constraints of a problem leave open, after asking for airports and permits of the parks in question.

        At most so many parks, in the order given or else in that of the world; airports of others are not asked for, so
        that a trip with flights cannot go there.
        """
        places = {park: place for place, park in enumerate(order)}
        known = Known()
        if "permits" in self._choice_of:
            parks = Windows(problem, known).permit_parks()
            known = replace(known, templates={park: self._templates(park) for park in parks})
        windows = Windows(problem, known)
        parks = sorted(windows.parks(), key=lambda park: places.get(park, 0))[:most_parks]
        if "round_trips" in self._choice_of:
            serving = {park: self._airports(park) for park in parks}
            known = replace(known, origins=self._origins(problem), serving=serving)
        permits = [
            permit
            for park in windows.permit_parks(parks)
            for name, kind in (known.templates or {})[park]
            if name in windows.templates(park)
            for permit in self._permits(park, name, kind)
        ]
        return Windows(problem, replace(known, permits=permits))

    def _airports(self, park: str) -> list[Airport]:
        rows = self._rows(self.ask("search_airports", park_name=park))
        return [Airport(row["code"], row["airport_type"], row["drive_minutes"]) for row in rows]

    def _templates(self, park: str) -> list[tuple[str, str]]:
        rows = self._rows(self.ask("list_permits", park=park))
        return [(row["template_name"], row["permit_type"]) for row in rows]

    def _permits(self, park: str, name: str, kind: str) -> list[Permit]:
        pages = self.pages("search_permit_availability", park=park, template_name=name, num_people=self._guests)
        return [
            Permit(
                row["package_id"], park, name, kind, days_since(row["start_date"]), days_since(row["end_date"]),
                row["duration_days"],
            )
            for page in pages
            for row in self._rows(page)
        ]  # fmt: skip

    @staticmethod
    def _rows(result: Result | None) -> list[dict[str, Any]]:
        return [] if result is None or result.fault is not None else result.content["results"]

    def _origins(self, problem: Problem) -> list[str]:
        """The airports from which trips start: known to everyone."""
        columns = self.view.dataset.table(problem.world, "airports").columns
        codes, starts = columns["airport"], columns["is_origin"]
        return [str(codes.value(row)) for row in range(len(starts.values)) if starts.value(row)]

    def stays(self, park: str, check_in: int, check_out: int) -> tuple[str, ...]:
        """The packages of hotel rooms at a park on some dates, in the order in which they are shown."""
        key = ("stays", park, check_in, check_out)
        if key not in self._ids:
            pages = self.pages(
                "search_hotel", location=park, start_date=iso(check_in), end_date=iso(check_out),
                num_guests=self._guests,
            )  # fmt: skip
            for page in pages:
                for hotel in self._rows(page):
                    for package in hotel["packages"]:
                        self._hotel_of[package["package_id"]] = hotel["hotel_id"]
            return self._kept(key, "stays", pages)
        return self._ids[key]

    def flights(self, origin: str, destination: str, departs_on: int, returns_on: int) -> tuple[str, ...]:
        """The round trips between two airports on some dates, in the order in which they are shown."""
        key = ("round_trips", origin, destination, departs_on, returns_on)
        if key not in self._ids:
            pages = self.pages(
                "search_flights", origin=origin, destination=destination, departure_date=iso(departs_on),
                return_date=iso(returns_on), passengers=self._guests,
            )  # fmt: skip
            return self._kept(key, "round_trips", pages)
        return self._ids[key]

    def _kept(self, key: tuple[str | int, ...], table: str, pages: Sequence[Result]) -> tuple[str, ...]:
        """The offers on some pages, remembered unless searches ran out before the last."""
        found = tuple(offer for page in pages for offer in page.offers.get(table, ()))
        if self.left != 0:
            self._ids[key] = found
        return found

    def show(self, windows: Windows, outing: Outing) -> dict[str, tuple[str, ...]]:
        """The offers for a frame, as ids per choice; nothing more is asked once one of them has none."""
        found: dict[str, tuple[str, ...]] = {}
        asked = {
            "permits": lambda: tuple(item.id for item in windows.fitting(outing)),
            "stays": lambda: self.stays(*outing.stay),
            "round_trips": lambda: self.flights(*outing.flight),
        }
        for table, ask in asked.items():
            if table in self._choice_of:
                found[self._choice_of[table]] = ask()
                if not found[self._choice_of[table]]:
                    return dict.fromkeys(self._choice_of.values(), ())
        return found

    # details

    def level(self, table: str, column: str) -> str:
        """The tool whose details tell a column of an offer table; "" for one that searches show."""
        if column in SHOWN[table]:
            return ""
        return next((tool for tool in LEVELS[table] if column in DETAILS[table][tool]), "")

    def unknown(self, table: str, offer: str, levels: Collection[str]) -> list[str]:
        """Those of the levels that have not been looked up for an offer, in the order in which one does."""
        return [
            tool for tool in LEVELS[table] if tool in levels and (tool, self._about(tool, offer)) not in self._known
        ]

    def look_up(self, offer: str, level: str) -> bool:
        """Asks for the details of an offer, once for all offers of its hotel, room or flight; False if none is left."""
        if self.looks is not None:
            if self.looks <= 0:
                return False
            self.looks -= 1
        about = self._about(level, offer)
        name = "hotel_identifier" if level == "get_hotel_details" else "package_id"
        self.view.call(level, **{name: about if level == "get_hotel_details" else offer})
        self._known.add((level, about))
        return True

    def _about(self, tool: str, offer: str) -> str:
        """What the details of an offer are details of: a hotel, a room under its rate plan, or a flight."""
        if tool == "get_hotel_details":
            return self._hotel_of[offer]
        return offer.split("_")[1]
