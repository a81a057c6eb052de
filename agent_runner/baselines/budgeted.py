"""The best of what a limited number of searches shows: how much more effort finds."""

from __future__ import annotations

from collections.abc import Sequence

from .agent import Baseline, shuffled, spread
from .picking import Picker, Picks
from .search import Search

SEARCHES = 20


class Budgeted(Baseline):
    """Looks here and there, over all parks and the whole month, with so many searches in all of a conversation.

    Half of what is left goes into every turn that tells something new; all of it, where nothing fits yet.
    """

    def __init__(self, address: Sequence[int | str], searches: int = SEARCHES) -> None:
        super().__init__(address)
        self._kept = searches
        self.search = Search(left=0)

    def plan(self, picker: Picker) -> Picks | None:
        """The best plan of all that has been shown."""
        spend = -(-self._kept // 2)
        self.search.left, self._kept = spend, self._kept - spend
        parks = list(picker.problem.world.tables["hotels"].types["park"].values or ())
        windows = self.search.windows(picker.problem, max(1, spend // 4), shuffled(parks, *self.address, "park"))
        outings = spread(shuffled(windows.outings(), *self.address, "window"))
        found = None
        for outing in outings:
            if not self.search.left and found is None:
                found = picker.best(self.search.shown)
                if found is None:
                    self.search.left, self._kept = self._kept, 0
            if not self.search.left:
                break
            self.search.show(windows, outing)
        self._kept, self.search.left = self._kept + (self.search.left or 0), 0
        found = picker.best(self.search.shown)
        return None if found is None else found[1]
