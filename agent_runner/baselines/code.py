"""Programs in place of calls: one searches every window that is open, page by page, and one looks up all details.

As thorough as `exhaustive` with two programs for each thing that it is told, where that one makes thousands of calls.
"""

from __future__ import annotations

import json
from collections.abc import Iterable, Sequence
from typing import Any

from ..coding.program import CodeLimits, Reason
from .agent import Baseline
from .frames import iso
from .picking import Picker, Picks
from .search import Search

# An agent without a model reads all that its program prints, however long that is.
LIMITS = CodeLimits(seconds=600, cpu_seconds=300, output=64 << 20, calls=1_000_000)
MOST_QUERIES = 2000  # in one program, which may have 256 Ki characters

_SEARCHES = """\
import json
from tools import ToolError, search_flights, search_hotel


def pages(tool, asked):
    number = last = 1
    while number <= last:
        found = tool(**asked, page=number)
        yield from found["results"]
        number, last = number + 1, found["pages"]


for asked in json.loads({queries!r}):
    try:
        if "location" in asked:
            found = [
                [hotel["hotel_id"], [package["package_id"] for package in hotel["packages"]]]
                for hotel in pages(search_hotel, asked)
            ]
        else:
            found = [["", [flight["package_id"]]] for flight in pages(search_flights, asked)]
    except ToolError:
        found = []
    print(json.dumps(found))
"""
_DETAILS = """\
import json
import tools

for name, about in json.loads({queries!r}):
    try:
        getattr(tools, name)(about)
    except tools.ToolError as fault:
        print(name, about, fault)
"""


class Programs(Search):
    """A search whose questions come in programs. What one program decides between two calls is decided here before."""

    def __init__(self) -> None:
        super().__init__()
        self._details: list[tuple[str, str]] = []

    def sweep(self, stays: Iterable[tuple[str, int, int]], flights: Iterable[tuple[str, str, int, int]]) -> None:
        """Learns the offers of these windows, all pages of them."""
        asked: dict[tuple[str | int, ...], dict[str, Any]] = {}
        for park, check_in, check_out in stays:
            asked["stays", park, check_in, check_out] = {
                "location": park, "start_date": iso(check_in), "end_date": iso(check_out), "num_guests": self._guests,
            }  # fmt: skip
        for origin, destination, departs_on, returns_on in flights:
            asked["round_trips", origin, destination, departs_on, returns_on] = {
                "origin": origin, "destination": destination, "departure_date": iso(departs_on),
                "return_date": iso(returns_on), "passengers": self._guests,
            }  # fmt: skip
        new = [key for key in asked if key not in self._ids]
        lines = self._run(_SEARCHES, [asked[key] for key in new])
        for key, line in zip(new, lines, strict=False):  # fewer lines when the conversation was over before
            self._learn(key, json.loads(line))

    def _learn(self, key: tuple[str | int, ...], found: Sequence[tuple[str, Sequence[str]]]) -> None:
        self._ids[key] = tuple(offer for _, offers in found for offer in offers)
        self._hotel_of |= {offer: hotel for hotel, offers in found if hotel for offer in offers}
        self.shown.setdefault(self._choice_of[str(key[0])], set()).update(self._ids[key])

    def look_up(self, offer: str, level: str) -> bool:
        """Puts the details of an offer on the list for the next program."""
        about = self._about(level, offer)
        self._details.append((level, about if level == "get_hotel_details" else offer))
        self._known.add((level, about))
        return True

    def look_all_up(self) -> None:
        """Asks for the details that are on the list."""
        self._run(_DETAILS, self._details)
        self._details.clear()

    def _run(self, program: str, queries: Sequence[Any]) -> list[str]:
        """The lines that a program prints for its queries, as many programs as it takes."""
        lines: list[str] = []
        for start in range(0, len(queries), MOST_QUERIES):
            source = program.format(queries=json.dumps(queries[start : start + MOST_QUERIES]))
            output = self.view.run_code(source, LIMITS)
            lines += output.text.splitlines()
            if output.reason is not Reason.FINISHED:
                break
        return lines


class Code(Baseline):
    """Recommends the best plan of all that there are, as `exhaustive` does, by a few programs."""

    def __init__(self, address: Sequence[int | str]) -> None:
        super().__init__(address)
        self.search = self._programs = Programs()

    def plan(self, picker: Picker) -> Picks | None:
        """The best plan under what has been told."""
        outings = list(self.search.windows(picker.problem).outings())
        self._programs.sweep(
            dict.fromkeys(outing.stay for outing in outings),
            dict.fromkeys(outing.flight for outing in outings if outing.origin),
        )
        picker.look_up_all(self.search.shown)
        found = picker.best(self.search.shown)
        self._programs.look_all_up()
        return None if found is None else found[1]
