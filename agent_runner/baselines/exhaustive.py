"""Every window, every page, all details: whatever the constraints leave open has been seen."""

from __future__ import annotations

from .agent import Baseline
from .picking import Picker, Picks


class Exhaustive(Baseline):
    """Recommends the best plan of all that there are; always optimal once everything has been told."""

    def plan(self, picker: Picker) -> Picks | None:
        """The best plan under what has been told."""
        windows = self.search.windows(picker.problem)
        outings = list(windows.outings())
        for stay in dict.fromkeys(outing.stay for outing in outings):
            self.search.stays(*stay)
        for flight in dict.fromkeys(outing.flight for outing in outings if outing.origin):
            self.search.flights(*flight)
        picker.look_up_all(self.search.shown)
        found = picker.best(self.search.shown)
        return None if found is None else found[1]
