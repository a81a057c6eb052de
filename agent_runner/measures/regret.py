"""Where an agent loses: it was not shown the best offers (exploration), or did not pick the best of those (reasoning).

Both parts are exact: for a feasible plan they add up to its gap, since the best of what was shown, its own offers among
that, lies between its value and the optimum.
"""

from __future__ import annotations

from dataclasses import dataclass
from fractions import Fraction

from ...schemas.canonical import narrow
from ...schemas.episode import Regret
from ...schemas.verdict import Verdict, VerdictKind
from .rates import feasible

# What becomes of an episode, from the best to the worst; the last is for limits of ours.
FATES = (
    "optimal", "not shown better", "picked worse", "both", "infeasible, feasible shown", "infeasible, none shown",
    "not known",
)  # fmt: skip


@dataclass(frozen=True, slots=True)
class Split:
    """The two parts of a gap over the absolute value of the optimum, at least 0."""

    exploration: Fraction
    reasoning: Fraction


def split(regret: Regret | None) -> Split | None:
    """The relative parts for a feasible plan; None for another, for an optimum of 0, and where a limit left it open."""
    optimum = None if regret is None or regret.optimum is None else abs(narrow(regret.optimum))
    if not optimum or regret is None or regret.exploration is None or regret.reasoning is None:
        return None
    return Split(Fraction(narrow(regret.exploration), optimum), Fraction(narrow(regret.reasoning), optimum))


def exploration(regret: Regret | None) -> Fraction | None:
    """The relative exploration regret, of an infeasible plan, too; None when no feasible plan was shown."""
    optimum = None if regret is None or regret.optimum is None else abs(narrow(regret.optimum))
    if not optimum or regret is None or regret.exploration is None:
        return None
    return Fraction(narrow(regret.exploration), optimum)


def fate(verdict: Verdict, regret: Regret | None) -> str:
    """Which of FATES."""
    if verdict.kind is VerdictKind.OPTIMAL:
        return FATES[0]
    if regret is None:
        return FATES[6]
    if not feasible(verdict):
        return FATES[5] if regret.shown_best is None else FATES[4]
    unseen, worse = bool(narrow(regret.exploration or 0)), bool(narrow(regret.reasoning or 0))
    return FATES[3] if unseen and worse else FATES[1] if unseen else FATES[2]
