"""The verdict on a recommendation, and where its regret comes from: too little seen, or a bad pick of what was seen."""

from __future__ import annotations

from collections.abc import Collection, Mapping, Sequence
from dataclasses import dataclass

from ..schemas.canonical import narrow, wide
from ..schemas.episode import Regret
from ..schemas.plan import Plan
from ..schemas.verdict import Verdict, VerdictKind
from ..solver.outcome import Limits, Undecided
from ..solver.questions.shown import ShownOffers
from .scoring import Scorer
from .suites import Case

WORK = 200_000_000  # elementary steps for one question about the offers shown, well under a second
FEASIBLE = (VerdictKind.OPTIMAL, VerdictKind.FEASIBLE)


@dataclass(frozen=True, slots=True)
class Objection:
    """What somebody who knows some of the constraints has against a recommendation.

    `unknown`: it is no offer for this trip. `broken`: those of the constraints that it breaks, in their order.
    """

    unknown: bool = False
    broken: tuple[str, ...] = ()


class Judge:
    """Scores recommendations for one task by its certificate; agents, tools and users never hold one."""

    def __init__(self, case: Case) -> None:
        self._scorer = Scorer(case.problem, case.data, case.certificate)
        self._shown = ShownOffers(case.problem, case.dataset, Limits(work=WORK))
        self._maximize = case.problem.objective.maximize
        self._optimum = case.optimum

    def verdict(self, options: Sequence[Plan]) -> Verdict:
        """The verdict on the best of the options: feasible before infeasible, then by value, then in their order."""
        if not options:
            return self._scorer.score(None)
        return min((self._scorer.score(plan) for plan in options), key=self._order)

    def objection(self, options: Sequence[Plan], told: Sequence[str]) -> Objection:
        """What there is against the options by the constraints `told` alone: by that one which there is least against.

        The first of those that break the fewest; one that does not exist comes last. Neither which one that is nor what
        is said of it depends on any other constraint, or else alternatives would tell of constraints not told yet.
        """
        found = (_objection(self._scorer.score(plan), told) for plan in options)
        return min(found, key=lambda item: (item.unknown, len(item.broken)), default=Objection())

    def _order(self, verdict: Verdict) -> tuple[bool, int]:
        feasible = verdict.kind in FEASIBLE
        value = narrow(verdict.value) if feasible and verdict.value is not None else 0
        return not feasible, -value if self._maximize else value

    def regret(self, verdict: Verdict, shown: Mapping[str, Collection[str]]) -> Regret | None:
        """How the distance of a verdict's plan to the optimum divides; None when a limit left that open.

        `shown`: per choice the ids of all offers that the agent has met, its own recommendation included.
        """
        try:
            best = self._shown.best(shown)
        except Undecided:
            return None
        if best is None:
            return Regret(optimum=wide(self._optimum))
        value = best[0]
        own = narrow(verdict.value) if verdict.kind in FEASIBLE and verdict.value is not None else None
        return Regret(
            optimum=wide(self._optimum),
            shown_best=wide(value),
            exploration=wide(abs(value - self._optimum)),
            reasoning=None if own is None else wide(abs(own - value)),
        )


def _objection(verdict: Verdict, told: Sequence[str]) -> Objection:
    broken = {item.constraint for item in verdict.violations}
    return Objection(verdict.kind is VerdictKind.UNKNOWN_OFFER, tuple(name for name in told if name in broken))
