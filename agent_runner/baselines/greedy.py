"""The first dates for which something fits, and there the cheapest hotel, the cheapest flight, the first permit."""

from __future__ import annotations

from itertools import islice

from .agent import Baseline
from .picking import Picker, Picks, Shown, cheapest

MOST_FRAMES = 100


class Greedy(Baseline):
    """Takes what is cheapest part by part where it first finds something, whatever the traveller wants most."""

    def plan(self, picker: Picker) -> Picks | None:
        """What stands if that still fits, else the first plan that does."""
        if self._standing is not None and picker.best({name: [offer] for name, offer in self._standing.items()}):
            return None
        windows = self.search.windows(picker.problem)
        parts = {
            name: Picker(cheapest(picker.problem, name), self.search.view.dataset, self.search)
            for name in picker.problem.choices
        }
        for outing in islice(windows.outings(), MOST_FRAMES):
            picks = _cheapest(parts, self.search.show(windows, outing), picker)
            if picks is not None:
                return picks
        return None


def _cheapest(parts: dict[str, Picker], within: Shown, whole: Picker) -> Picks | None:
    """The parts that are cheapest each on its own; None if they do not fit each other."""
    picks: Picks = {}
    for picker in parts.values():
        found = picker.best(within)
        if found is None:
            return None
        picks |= found[1]
    return None if whole.best({name: [offer] for name, offer in picks.items()}) is None else picks
