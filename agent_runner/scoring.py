"""Scoring a submission against a certificate: one verdict, exact amounts, no engine unless the ranking needs one."""

from __future__ import annotations

from collections.abc import Callable
from fractions import Fraction

from ..schemas.canonical import narrow, wide
from ..schemas.certificate import Certificate, IncumbentClaim, distribution_pairs
from ..schemas.errors import Disagreement, InputError, InputErrors
from ..schemas.plan import Plan, Refusal, parse_plan
from ..schemas.problem import Problem
from ..schemas.source import MAX_BYTES
from ..schemas.verdict import Standing, Verdict, VerdictKind
from ..solver.checker.check import Data, evaluate
from ..solver.rank import standing

Ranker = Callable[[int], Standing | None]


def score_text(
    text: str, name: str, problem: Problem, data: Data, certificate: Certificate, ranker: Ranker | None = None
) -> Verdict:
    """The verdict on what an agent wrote; `name` stands for the file in reasons. Never raises for a bad submission."""
    if len(text) > MAX_BYTES:
        return Verdict(task=problem.id, kind=VerdictKind.UNPARSABLE, reason="the submission is larger than 1 MiB")
    try:
        submission = parse_plan(text, name)
    except (InputError, InputErrors) as fault:
        return Verdict(task=problem.id, kind=VerdictKind.UNPARSABLE, reason=str(fault))
    return score(submission, problem, data, certificate, ranker)


def score(
    submission: Plan | Refusal | None,
    problem: Problem,
    data: Data,
    certificate: Certificate,
    ranker: Ranker | None = None,
) -> Verdict:
    """The verdict on a submission (None: nothing was submitted).

    The plan is evaluated on the tables themselves; prices and totals that a submission may state are never read. The
    standing comes from the certificate's distribution, else from `ranker` (value to standing), else it is absent.
    Optimum and counts are the certificate's word (`cobench check` recomputes them); Disagreement is raised when a
    feasible plan shows that it is wrong.
    """
    if submission is None:
        return Verdict(task=problem.id, kind=VerdictKind.NO_ANSWER, reason="the submission is empty")
    if isinstance(submission, Refusal):
        return _refusal(problem, certificate)
    found = evaluate(problem, data, submission)
    unit, scale = problem.objective.type.unit, problem.objective.type.scale
    if found.unknown:
        reason = "; ".join(found.unknown)
        return Verdict(task=problem.id, kind=VerdictKind.UNKNOWN_OFFER, reason=reason, unit=unit, scale=scale)
    value = found.value
    if found.violations or value is None:
        return Verdict(
            task=problem.id,
            kind=VerdictKind.VIOLATES,
            value=_wide(value),
            violations=found.violations,
            unit=unit,
            scale=scale,
        )
    _consistent(problem, certificate, value)
    place = standing(certificate, value) or (ranker(value) if ranker is not None else None)
    best_known = certificate.claims.optimum or certificate.claims.incumbent
    if best_known is None or (isinstance(best_known, IncumbentClaim) and not best_known.optimal):
        return Verdict(
            task=problem.id, kind=VerdictKind.FEASIBLE, value=wide(value), standing=place, unit=unit, scale=scale
        )
    best = narrow(best_known.value)
    gap = abs(value - best)
    return Verdict(
        task=problem.id,
        kind=VerdictKind.FEASIBLE if gap else VerdictKind.OPTIMAL,
        value=wide(value),
        optimum=wide(best),
        gap=wide(gap),
        relative_gap=str(Fraction(gap, abs(best))) if best else None,
        standing=place,
        unit=unit,
        scale=scale,
    )


def _consistent(problem: Problem, certificate: Certificate, value: int) -> None:
    """Raises Disagreement when a feasible plan of this value shows that the certificate is wrong."""
    claims = certificate.claims
    sign = -1 if problem.objective.maximize else 1
    wrong = ""
    if claims.status.value == "unsolvable":
        wrong = "it says that there is no plan"
    elif claims.optimum is not None and sign * value < sign * narrow(claims.optimum.value):
        wrong = f"it says that {claims.optimum.value} is the best value, and the plan has {value}"
    elif claims.distribution is not None and value not in dict(distribution_pairs(claims.distribution)):
        wrong = f"it says that no plan has the value {value}"
    if wrong:
        raise Disagreement(f"error: a feasible plan contradicts the certificate of {problem.id}: {wrong}")


def _refusal(problem: Problem, certificate: Certificate) -> Verdict:
    kinds = {
        "solvable": (VerdictKind.WRONG_REFUSAL, "the task has a plan"),
        "unsolvable": (VerdictKind.CORRECT_REFUSAL, "the task has no plan"),
        "unknown": (VerdictKind.UNDECIDED, "the certificate does not know whether there is a plan"),
    }
    kind, reason = kinds[certificate.claims.status.value]
    return Verdict(task=problem.id, kind=kind, reason=reason)


def _wide(value: int | None) -> int | str | None:
    return None if value is None else wide(value)
