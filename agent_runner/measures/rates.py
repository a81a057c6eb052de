"""Feasibility rate, optimality rates and gaps of final answers, as they stand in the last turn of each episode.

FR is the share of episodes whose plan satisfies every constraint. Other texts call it solve rate or acceptable rate.
OR-A is the share whose plan is among the best A % of all feasible plans: with b better ones of F, when 100 b < A F, so
that the optimum is always in it, and equals share the better rank. What is not feasible is in none.
"""

from __future__ import annotations

from collections.abc import Iterable, Sequence
from fractions import Fraction
from statistics import median

from ...schemas.canonical import narrow
from ...schemas.episode import Episode
from ...schemas.verdict import Verdict, VerdictKind
from ...solver.rank import in_top
from ..analysis import TOP, Rate, rate


def feasible(verdict: Verdict) -> bool:
    """Whether the plan satisfies every constraint."""
    return verdict.kind in (VerdictKind.OPTIMAL, VerdictKind.FEASIBLE)


def among_best(verdict: Verdict, percent: int) -> bool:
    """Whether the plan is feasible and among the best `percent` of the feasible plans."""
    if not feasible(verdict) or verdict.standing is None:
        return verdict.kind is VerdictKind.OPTIMAL
    return in_top(verdict.standing, percent)


def rank(verdict: Verdict) -> tuple[int, int] | None:
    """The rank from 1, which equals share, and the number of feasible plans; None for what has no rank."""
    if verdict.standing is None:
        return None
    return narrow(verdict.standing.better) + 1, narrow(verdict.standing.total)


def relative_gap(verdict: Verdict) -> Fraction | None:
    """The distance of a feasible plan's value to the optimum, over the optimum's absolute value.

    None for what is not feasible, and where the optimum is 0 but the value is not.
    """
    if verdict.kind is VerdictKind.OPTIMAL:
        return Fraction(0)
    return Fraction(verdict.relative_gap) if feasible(verdict) and verdict.relative_gap is not None else None


def gaps(episodes: Iterable[Episode]) -> list[Fraction]:
    """The relative gaps that are known, ascending."""
    return sorted(gap for episode in episodes if (gap := relative_gap(episode.verdict)) is not None)


def median_gap(episodes: Iterable[Episode]) -> Fraction | None:
    """The median of the relative gaps; None without any."""
    found = gaps(episodes)
    return Fraction(median(found)) if found else None


def feasible_rate(episodes: Iterable[Episode]) -> Rate:
    """FR, with an interval clustered by task."""
    return rate((episode.task, feasible(episode.verdict)) for episode in episodes)


def best_rate(episodes: Iterable[Episode], percent: int) -> Rate:
    """OR-`percent`, with an interval clustered by task."""
    return rate((episode.task, among_best(episode.verdict, percent)) for episode in episodes)


def optimal_rate(episodes: Iterable[Episode]) -> Rate:
    """The share whose plan is an optimum, with an interval clustered by task."""
    return rate((episode.task, episode.verdict.kind is VerdictKind.OPTIMAL) for episode in episodes)


def all_rates(episodes: Sequence[Episode]) -> dict[str, Rate]:
    """FR, OR-5, OR-10, OR-20 and the share of optima, by these names."""
    return {
        "FR": feasible_rate(episodes),
        **{f"OR-{percent}": best_rate(episodes, percent) for percent in TOP},
        "optimal": optimal_rate(episodes),
    }
