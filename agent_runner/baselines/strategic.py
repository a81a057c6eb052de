"""A plan of search as strong agents have one: the calendar first, weekdays, the whole month, then near the best found.

It consults the calendar; asks about each park early, in the middle and late in the month, for stays with few weekend
nights; remembers how good each of these frames was, and spends what is left on the neighbours of the best: a day
earlier or later, a night more or less, another airport.
"""

from __future__ import annotations

from collections.abc import Sequence

from ...schemas.units import WEEKDAYS
from .agent import Baseline, spread
from .frames import FIRST, Outing, days_since
from .picking import Picker, Picks
from .search import Search
from .windows import Windows

SEARCHES = 30  # calls for offers in a conversation
LEAST = 6  # of them for whatever is new, also once the others are spent
LOOKS = 30  # calls for details in a turn
_DEAR = ("fri", "sat", "sun")  # nights
_MOST_PARKS = 6


class Strategic(Baseline):
    """Samples, keeps the best, and refines around it.

    Three fifths of the searches that are left go into each turn that tells something new, half of these into sampling.
    """

    def __init__(self, address: Sequence[int | str]) -> None:
        super().__init__(address)
        self._searches = SEARCHES
        self.search = Search(0, 0)
        self._first_weekday: int | None = None

    def plan(self, picker: Picker) -> Picks | None:
        """The best plan of all that has been shown, as far as details are known or worth a call."""
        first = self._consulted()
        spend = max(LEAST, -(-self._searches * 3 // 5))
        self.search.left, self.search.looks = spend, LOOKS
        windows = self.search.windows(picker.problem, _MOST_PARKS)
        order = sorted(windows.outings(), key=lambda outing: _weekend_nights(outing, first))
        waiting = list(spread(order))
        self._explore(picker, windows, waiting, spend // 2)
        found = picker.best(self.search.shown)
        self._searches = max(0, self._searches - spend + self.search.left)
        if found is None:  # then it is no time to be sparing
            self.search.left, self.search.looks = SEARCHES, None
            self._explore(picker, windows, waiting, SEARCHES)
            found = picker.best(self.search.shown)
        return None if found is None else found[1]

    def _explore(self, picker: Picker, windows: Windows, waiting: list[Outing], refining: int) -> None:
        """Samples what is waiting until only so many searches are left and something fits, then looks near the best."""
        sign, values = -1 if picker.problem.objective.maximize else 1, dict[Outing, int]()
        while self.search.left and waiting:
            outing = _neighbour(values, waiting) if values and self.search.left <= refining else waiting[0]
            waiting.remove(outing)
            value = picker.outlook(self.search.show(windows, outing))
            if value is not None:
                values[outing] = sign * value

    def _consulted(self) -> int:
        """The weekday of the first day of the month, as the calendar says."""
        if self._first_weekday is None:
            told = self.search.view.call("calendar", date=FIRST.isoformat()).content["weekday"]
            self._first_weekday = WEEKDAYS.index(told[:3].lower())
        return self._first_weekday


def _weekend_nights(outing: Outing, first_weekday: int) -> tuple[int, int, int]:
    """How many nights of a frame are dear, how many there are, and when it begins: fewest and earliest come first."""
    first = days_since(FIRST.isoformat())
    nights = range(outing.check_in - first, outing.check_out - first)
    dear = sum(WEEKDAYS[(first_weekday + night) % 7] in _DEAR for night in nights)
    return dear, len(nights), outing.check_in


def _neighbour(values: dict[Outing, int], waiting: Sequence[Outing]) -> Outing:
    """The frame that is nearest to the best one; of equally near ones the first."""
    best = min(values, key=lambda outing: values[outing])
    return min(waiting, key=lambda outing: _distance(outing, best))


def _distance(one: Outing, other: Outing) -> int:
    """Days between two frames, in and out, and a week for another park, a day for another airport."""
    apart = abs(one.check_in - other.check_in) + abs(one.check_out - other.check_out)
    return apart + 7 * (one.park != other.park) + (one.origin != other.origin) + (one.destination != other.destination)
