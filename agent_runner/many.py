"""Scoring many submissions to many tasks: one row each, in their order, without any engine."""

from __future__ import annotations

import json
from collections import defaultdict
from collections.abc import Callable, Iterable, Sequence
from typing import Any

from ..schemas.canonical import digest
from ..schemas.certificate import Certificate
from ..schemas.errors import Disagreement, InputError, InputErrors
from ..schemas.plan import Plan
from ..schemas.scored import Scored
from ..schemas.verdict import Verdict, VerdictKind
from .scoring import Scorer
from .submissions import Submission

Tick = Callable[[int], None]  # told how many submissions are done


def score_many(
    submissions: Sequence[Submission], scorers: Iterable[tuple[str, Scorer]], tick: Tick | None = None
) -> list[Scored]:
    """A verdict for each submission, in their order: equal submissions and certificates give equal rows.

    `scorers`: one for each task that a submission names; each is used up before the next is asked for, so that the
    tables of all tasks need not be open at once. Raises Disagreement, with the place of the submission, when a plan
    contradicts a certificate.
    """
    places: defaultdict[str, list[int]] = defaultdict(list)
    for place, submission in enumerate(submissions):
        places[submission.task].append(place)
    rows: dict[int, Scored] = {}
    for task, scorer in scorers:
        facts = _facts(scorer.certificate)
        for place in places[task]:
            rows[place] = _row(submissions[place], scorer, facts)
        if tick is not None:
            tick(len(rows))
    return [rows[place] for place in range(len(submissions))]


def _row(submission: Submission, scorer: Scorer, facts: dict[str, Any]) -> Scored:
    plan = None
    try:
        plan = submission.parsed()
        verdict = scorer.score(plan)
    except (InputError, InputErrors) as fault:
        if plan is not None:  # not the answer, but the tables are at fault
            raise
        verdict = Verdict(task=scorer.problem.id, kind=VerdictKind.UNPARSABLE, reason=_whole(str(fault)))
    except Disagreement as fault:
        raise Disagreement(f"{submission.where}: {fault}") from None
    return Scored(
        **{name: getattr(verdict, name) for name in Verdict.model_fields},
        agent=submission.agent,
        line=submission.where.line,
        published=submission.published,
        submitted=_json(plan) if isinstance(plan, Plan) else None,
        **facts,
    )


def _facts(certificate: Certificate) -> dict[str, Any]:
    """What the rows of a task have in common."""
    best = certificate.claims.optimum or certificate.claims.incumbent
    return {
        "status": certificate.claims.status.value,
        "best": None if best is None else _json(best.plan),
        "task_digest": certificate.task.digest,
        "data_digest": digest(certificate.dataset.model_dump(mode="json")),
        "certificate_digest": certificate.digest,
    }


def _json(plan: Plan) -> str:
    """The picks in the order of the plan, which for a route is that of the visits."""
    return json.dumps({"picks": plan.written()}, ensure_ascii=False)


def _whole(text: str) -> str:
    """The text with half characters, which no file can hold, escaped."""
    return text.encode("utf-8", "backslashreplace").decode()
