"""Windows by chance until something feasible is seen, then a feasible plan by chance."""

from __future__ import annotations

from .agent import Baseline, shuffled
from .picking import Picker, Picks, Shown

MOST_FRAMES = 100


class RandomFeasible(Baseline):
    """Recommends any plan that fits: what being feasible is worth without wanting the best."""

    def plan(self, picker: Picker) -> Picks | None:
        """What stands if that still fits, else a plan by chance."""
        if self._standing is not None and picker.best({name: [offer] for name, offer in self._standing.items()}):
            return None
        windows = self.search.windows(picker.problem)
        outings = shuffled(windows.outings(), *self.address, "window")
        for outing in outings[:MOST_FRAMES]:
            within = self.search.show(windows, outing)
            if picker.best(within) is not None:
                return self._any(picker, within)
        return None

    def _any(self, picker: Picker, within: Shown) -> Picks:
        """Part by part an offer by chance that still leaves a plan."""
        picks: Picks = {}
        for choice in picker.problem.choices:
            for offer in shuffled(picker.fitting(choice, within), *self.address, "offer"):
                trial = {**within, choice: [offer]}
                if picker.best(trial) is not None:
                    within, picks[choice] = trial, offer
                    break
        return picks
