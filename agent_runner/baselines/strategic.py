"""A plan of search as strong agents have one: the calendar first, weekdays, the whole month, then near the best found.

It consults the calendar, asks about each park early, in the middle and late in the month, for stays with few weekend
nights and few nights; remembers how good each of these frames was, and spends what is left on the neighbours of the
best ones: a day earlier or later, a night more or less, another airport.
"""

from __future__ import annotations

from collections.abc import Iterable, Sequence

from ...schemas.units import WEEKDAYS
from .agent import Baseline, spread, third
from .picking import Picker, Picks
from .search import Search
from .windows import FIRST, MOST_NIGHTS, Outing, Windows, days_since, iso

SEARCHES = 40
LOOKS = 20  # calls for details in a turn
_SAMPLED = 3  # fifths of a turn's searches that go into sampling the month
_DEAR = ("fri", "sat", "sun")  # nights
_MOST_PARKS = 6


class Strategic(Baseline):
    """Samples, keeps the best, and refines around it."""

    def __init__(self, address: tuple[int | str, ...]) -> None:
        super().__init__(address)
        self.search = Search(left=0, looks=0)
        self._kept = SEARCHES
        self._first_weekday = 0

    def plan(self, picker: Picker) -> Picks | None:
        """The best plan of all that has been shown; searches on while nothing fits, and then near what is best."""
        if self._told is None:
            self._consult()
        spend = max(-(-self._kept * 3 // 5), 6)
        self._kept = max(0, self._kept - spend)
        self.search.left, self.search.looks = spend, LOOKS
        windows = self.search.windows(_MOST_PARKS)
        order = sorted(windows.outings(self.search.permits()), key=self._preference)
        values: dict[Outing, int] = {}
        return None
