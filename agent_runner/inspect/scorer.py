"""How a conversation stands as Inspect's scores, after each turn and at the end.

Scores are functions of what is in the store, so `inspect score` computes them again from a log. What has no value, such
as the gap of a plan that is not feasible, has no score.
"""

from __future__ import annotations

import json
from fractions import Fraction
from typing import Any

from inspect_ai.scorer import Score, Scorer, Target, mean, scorer, stderr
from inspect_ai.solver import TaskState
from inspect_ai.util import Store

from ...schemas.canonical import narrow
from ...schemas.episode import Episode
from ...schemas.plan import Plan
from ...schemas.verdict import Verdict, VerdictKind
from ...solver.rank import in_top
from ..judge import FEASIBLE

STANDING, EPISODE = "cobench_standing", "cobench_episode"
TOPS = (5, 10, 20)  # percent
_METRICS = [mean(), stderr(cluster="task")]


def standing(episode: Episode) -> dict[str, Any]:
    """How a conversation stands, as plain JSON: only the keys that have a value."""
    verdict, regret = episode.verdict, episode.regret
    feasible, optimum = verdict.kind in FEASIBLE, _amount(verdict.optimum)
    found: dict[str, Any] = {
        "answer": " or ".join(map(_listed, episode.turns[-1].options)) if episode.turns else "",
        "explanation": _explained(verdict),
        "outcome": {
            "feasible": float(feasible),
            "optimal": float(verdict.kind is VerdictKind.OPTIMAL),
            **{f"optimal_{top}": float(_among(verdict, top)) for top in TOPS},
            "effort": float(episode.effort),
            "yield": float(episode.found),
        },
    }
    if feasible and verdict.relative_gap is not None and verdict.standing is not None:
        rank = narrow(verdict.standing.better) + 1
        found["gap"] = {"relative_gap": float(Fraction(verdict.relative_gap)), "rank": float(rank)}
    for part in ("exploration", "reasoning"):
        amount = _amount(getattr(regret, part)) if regret is not None else None
        if amount is not None and optimum:
            found[part] = {part: float(Fraction(amount, abs(optimum)))}
    return found


def episode_in(store: Store) -> Episode | None:
    """The record of a conversation that has an outcome."""
    found = store.get(EPISODE)
    return None if found is None else Episode.model_validate_json(json.dumps(found))


def _amount(value: Any) -> int | None:
    return None if value is None else narrow(value)


def _among(verdict: Verdict, top: int) -> bool:
    return verdict.kind in FEASIBLE and verdict.standing is not None and in_top(verdict.standing, top)


def _listed(plan: Plan) -> str:
    return ", ".join(pick.id for picks in plan.picks.values() for pick in picks)


def _explained(verdict: Verdict) -> str:
    broken = ", ".join(dict.fromkeys(item.constraint for item in verdict.violations))
    if broken:
        return f"{verdict.kind}: breaks {broken}"
    if verdict.kind in FEASIBLE and verdict.standing is not None:
        better, total = narrow(verdict.standing.better), narrow(verdict.standing.total)
        return f"{verdict.kind}: {better:,} of {total:,} feasible plans are better"
    return verdict.reason or str(verdict.kind)


@scorer(metrics={"*": _METRICS})
def outcome() -> Scorer:
    """Feasible, optimal, among the best 5, 10 and 20 % of the feasible plans; effort and yield of the search."""
    return _part("outcome")


@scorer(metrics={"relative_gap": _METRICS, "rank": _METRICS})
def gap() -> Scorer:
    """The gap to the optimum over the optimum, and the rank among the feasible plans; of feasible plans only."""
    return _part("gap")


@scorer(metrics={"exploration": _METRICS})
def exploration() -> Scorer:
    """From the best plan among the offers shown to the optimum, over the optimum."""
    return _part("exploration")


@scorer(metrics={"reasoning": _METRICS})
def reasoning() -> Scorer:
    """From the plan to the best one among the offers shown, over the optimum."""
    return _part("reasoning")


def _part(name: str) -> Scorer:
    async def scored(state: TaskState, target: Target) -> Score | None:  # noqa: ARG001 - Inspect's signature
        found = state.store.get(STANDING)
        if found is None:
            broken_off = Score.unscored(reason="no outcome", explanation="the conversation broke off")
            return broken_off if name == "outcome" else None
        if name not in found:
            return None
        return Score(value=found[name], answer=found["answer"], explanation=found["explanation"])

    return scored
