"""How a conversation stands as Inspect's scores, after each turn and at the end.

Scores are functions of what is in the store, so `inspect score` computes them again from a log. What has no value, such
as the gap of a plan that is not feasible, has no score.
"""

from __future__ import annotations

import json
from typing import Any

from inspect_ai.scorer import Score, Scorer, Target, mean, scorer, stderr
from inspect_ai.solver import TaskState
from inspect_ai.util import Store

from ...schemas.episode import Episode
from ...schemas.plan import Plan
from ...schemas.verdict import Verdict, VerdictKind
from ..analysis import TOP
from ..measures import rates, regret

STANDING, EPISODE = "cobench_standing", "cobench_episode"
_METRICS = [mean(), stderr(cluster="task")]


def standing(episode: Episode) -> dict[str, Any]:
    """How a conversation stands, as plain JSON: only the keys that have a value."""
    verdict, lost = episode.verdict, episode.regret
    found: dict[str, Any] = {
        "answer": " or ".join(map(_listed, episode.turns[-1].options)) if episode.turns else "",
        "explanation": _explained(verdict),
        "outcome": {
            "feasible": float(rates.feasible(verdict)),
            "optimal": float(verdict.kind is VerdictKind.OPTIMAL),
            **{f"optimal_{percent}": float(rates.among_best(verdict, percent)) for percent in TOP},
            "effort": float(episode.effort),
            "yield": float(episode.found),
        },
    }
    place, parts = rates.rank(verdict), regret.split(lost)
    single = {
        "gap": ("relative_gap", rates.relative_gap(verdict)),
        "rank": ("rank", None if place is None else place[0]),
        "exploration": ("exploration", regret.exploration(lost)),
        "reasoning": ("reasoning", None if parts is None else parts.reasoning),
    }
    return found | {part: {name: float(value)} for part, (name, value) in single.items() if value is not None}


def episode_in(store: Store) -> Episode | None:
    """The record of a conversation that has an outcome."""
    found = store.get(EPISODE)
    return None if found is None else Episode.model_validate_json(json.dumps(found))


def _listed(plan: Plan) -> str:
    return ", ".join(pick.id for picks in plan.picks.values() for pick in picks)


def _explained(verdict: Verdict) -> str:
    broken = ", ".join(dict.fromkeys(item.constraint for item in verdict.violations))
    if broken:
        return f"{verdict.kind}: breaks {broken}"
    place = rates.rank(verdict)
    if place is not None:
        return f"{verdict.kind}: {place[0] - 1:,} of {place[1]:,} feasible plans are better"
    return verdict.reason or str(verdict.kind)


@scorer(metrics={"*": _METRICS})
def outcome() -> Scorer:
    """Feasible, optimal, among the best 5, 10 and 20 % of the feasible plans; effort and yield of the search."""
    return _part("outcome")


@scorer(metrics={"relative_gap": _METRICS})
def gap() -> Scorer:
    """The gap to the optimum over the optimum; of feasible plans only."""
    return _part("gap")


@scorer(metrics={"rank": _METRICS})
def rank() -> Scorer:
    """The rank among the feasible plans, from 1; of feasible plans only."""
    return _part("rank")


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
