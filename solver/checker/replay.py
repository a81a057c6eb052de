"""The independent checker of certificates: `replay` recomputes every claim, `grades` says how each is known.

It stands on `check.py`, `recompute.py` and `schemas/`, and shares no code with lowering and engines.
"""

from __future__ import annotations

from collections.abc import Iterator, Mapping, Sequence
from dataclasses import dataclass
from itertools import pairwise
from typing import Any, Literal

from ...schemas.canonical import narrow
from ...schemas.certificate import (
    Certificate,
    Claims,
    Evidence,
    Grade,
    IncumbentClaim,
    OptimumClaim,
    distribution_pairs,
)
from ...schemas.errors import InputError, InputErrors
from ...schemas.problem import Problem
from .check import Data, evaluate
from .recompute import WORK_LIMIT, Feasible, Within, Work, WorkLimitError, recompute
from .recompute_conflicts import conflict_faults, plan_faults

_CHECKED = ("status", "optimum", "incumbent", "count", "distribution", "conflicts")

State = Literal["confirmed", "refuted", "not recomputed"]


@dataclass(frozen=True, slots=True)
class Finding:
    """What the checker found out about one claim, or about what the claims are bound to."""

    claim: str
    state: State
    detail: str


@dataclass(frozen=True, slots=True)
class Report:
    """All findings: what the certificate is about, then its witness plan, then its claims and its evidence."""

    findings: tuple[Finding, ...]

    @property
    def refuted(self) -> tuple[Finding, ...]:
        """The findings that speak against the certificate."""
        return tuple(finding for finding in self.findings if finding.state == "refuted")

    def confirmed(self, claim: str) -> bool:
        """Whether the claim was recomputed and is true."""
        return any(finding.claim == claim and finding.state == "confirmed" for finding in self.findings)


def replay(
    problem: Problem,
    data: Data,
    certificate: Certificate,
    *,
    dataset: str,
    manifest_digest: str,
    work_limit: int = WORK_LIMIT,
) -> Report:
    """What holds of a certificate for this problem and data: nothing in it is trusted, everything is computed anew.

    `dataset` and `manifest_digest` are name and digest of the manifest that the problem was posed on. `work_limit`
    counts combinations, not seconds, so that equal inputs give equal reports. Raises TableError as `recompute` does;
    the certificate's own digest and spelling are checked where it is read (`read_certificate`).
    """
    posed, findings = _binding(problem, data, certificate, {"name": dataset, "manifest": manifest_digest})
    claims, within, maximize = certificate.claims, certificate.scope.within or {}, problem.objective.maximize
    if any(finding.state == "refuted" for finding in findings):
        about = "the certificate is about something else"
        return Report((*findings, *(Finding(name, "not recomputed", about) for name in claims.graded())))
    witness = claims.optimum or claims.incumbent
    doubts = _doubts(posed, data, witness, within) if witness is not None else []
    if witness is not None:
        findings.append(_finding("witness", doubts))
    truth, reason = _truth(posed, data, within, work_limit)
    wrong: dict[str, list[str]] = {name: [] for name in claims.graded()}
    unchecked = {name: "this checker does not know how" for name in wrong if name not in _CHECKED}
    if claims.conflicts is not None and claims.status.value == "unsolvable":
        try:
            for sentence in conflict_faults(posed, data, claims.conflicts, within, Work.on(posed, work_limit)):
                wrong["conflicts"].append(sentence)
            if truth is None and not wrong["conflicts"]:
                truth = Feasible((), None)  # no plan satisfies all constraints, or the conflicts would not hold
        except WorkLimitError as fault:
            unchecked["conflicts"] = str(fault)
    if truth is None:
        open_ = wrong if witness is None or doubts else wrong.keys() - {"status"}
        unchecked = {**dict.fromkeys(open_, reason), **unchecked}
    if claims.status.value == "unknown":
        unchecked["status"] = "unknown claims nothing"
    mistakes = _mistakes(claims, truth, maximize) if truth is not None else ()
    for name, sentence in (*contradictions(certificate), *mistakes):
        wrong[name].append(sentence)
    for name, faults in wrong.items():
        faults.extend(doubts if name in ("optimum", "incumbent") else ())
        known = faults or name not in unchecked
        findings.append(_finding(name, faults) if known else Finding(name, "not recomputed", unchecked[name]))
    odd = [sentence for entry in certificate.evidence for sentence in _odd(entry, claims, maximize)]
    return Report((*findings, _finding("evidence", odd)))


def _truth(problem: Problem, data: Data, within: Within, work_limit: int) -> tuple[Feasible | None, str]:
    """All feasible plans, or why they are not recomputed."""
    try:
        return recompute(problem, data, within, work_limit), ""
    except WorkLimitError as fault:
        return None, str(fault)


def _binding(
    problem: Problem, data: Data, certificate: Certificate, named: Mapping[str, str]
) -> tuple[Problem, list[Finding]]:
    """The problem within the certificate's scope, and whether the certificate is about that, a dataset so named, and
    these data.
    """
    scope, facts = certificate.scope, certificate.dataset
    posed, limits = problem, list[str]()
    try:
        posed = problem if scope.constraints is None else problem.restrict(scope.constraints)
        limits += [f"no choice '{name}'" for name in scope.within or {} if name not in problem.choices]
        picks = [(name, offer) for name, ids in (scope.within or {}).items() for offer in ids]
        lost = [offer for name, offer in picks if not limits and data.find(problem.choices[name], offer) is None]
        limits += [f"no offer '{offer}'" for offer in lost]
    except (InputError, InputErrors) as fault:
        limits.append(str(fault))
    if not limits and scope.constraints not in (None, tuple(item.name for item in posed.constraints)):
        limits.append("the constraints are not in file order, each once")
    if any(list(ids) != sorted(set(ids)) for ids in (scope.within or {}).values()):
        limits.append("the ids of a choice are not in the order of their bytes, each once")
    relations = {name: data.relation_digests[name] for name in posed.relations()}
    world = _differences(named, {"name": facts.name, "manifest": facts.manifest})
    world += _differences(data.digests, facts.tables) + _differences(relations, facts.relations)
    groups = {
        "task": _differences({"id": problem.id, "digest": problem.digest}, certificate.task.model_dump()),
        "dataset": world,
        "objective": objective_faults(problem, certificate),
        "scope": limits,
    }
    return posed, [_finding(claim, faults) for claim, faults in groups.items()]


def objective_faults(problem: Problem, certificate: Certificate) -> list[str]:
    """How the certificate reads objective values otherwise than the task."""
    kind = problem.objective.type
    goal = {"sense": "maximize" if problem.objective.maximize else "minimize", "unit": kind.unit, "scale": kind.scale}
    return _differences(goal, certificate.objective.model_dump())


def _finding(claim: str, faults: Sequence[str]) -> Finding:
    return Finding(claim, "refuted", "; ".join(faults)) if faults else Finding(claim, "confirmed", "as it says")


def _differences(found: Mapping[str, Any], claimed: Mapping[str, Any]) -> list[str]:
    """A sentence for every entry that the certificate has otherwise, lacks, or has in excess."""
    names = sorted({*found, *claimed})
    pairs = ((name, found.get(name), claimed.get(name)) for name in names)
    return [f"{name} is {here}, the certificate says {there}" for name, here, there in pairs if here != there]


def _numbers(claim: OptimumClaim) -> dict[str, Any]:
    """The claim's content with plain integers."""
    runner_up = None if claim.runner_up is None else narrow(claim.runner_up)
    return {
        "value": narrow(claim.value),
        "plan": claim.plan.written(),
        "tied": narrow(claim.tied),
        "runner_up": runner_up,
    }


def _doubts(problem: Problem, data: Data, claim: OptimumClaim | IncumbentClaim, within: Within) -> list[str]:
    """Why a claimed plan is not feasible, or has another value."""
    found = evaluate(problem, data, claim.plan)
    faults = plan_faults(found, claim.plan, within)
    if found.feasible and found.value != narrow(claim.value):
        faults.append(f"its plan has the value {found.value}, the certificate says {claim.value}")
    return faults


def _mistakes(claims: Claims, truth: Feasible, maximize: bool) -> Iterator[tuple[str, str]]:
    """The claims that the recomputed truth refutes, and how."""
    solvable = "solvable" if truth.values else "unsolvable"
    if claims.status.value not in (solvable, "unknown"):
        yield "status", f"the task is {solvable}"
    (best, tied), runner_up = truth.values[0] if truth.values else (None, 0), [value for value, _ in truth.values[1:2]]
    if claims.optimum is not None:
        found = {"value": best, "plan": truth.plan and truth.plan.written(), "tied": tied}
        found["runner_up"] = runner_up[0] if runner_up else None
        yield from (("optimum", sentence) for sentence in _differences(found, _numbers(claims.optimum)))
    if claims.incumbent is not None and best is not None and _better(best, narrow(claims.incumbent.bound), maximize):
        yield "incumbent", f"the optimum {best} is better than the bound"
    if claims.count is not None and not narrow(claims.count.at_least) <= truth.count <= narrow(claims.count.at_most):
        yield "count", f"{truth.count} plans are feasible"
    if claims.distribution is not None and distribution_pairs(claims.distribution) != list(truth.values):
        yield "distribution", "the feasible plans have other values or counts"


def _better(first: int, second: int, maximize: bool) -> bool:
    return first > second if maximize else first < second


def contradictions(certificate: Certificate) -> Iterator[tuple[str, str]]:
    """Claims that cannot all be true, or do not come together, whatever the data are: which, and how."""
    claims, maximize = certificate.claims, certificate.objective.sense == "maximize"
    status, optimum, incumbent = claims.status.value, claims.optimum, claims.incumbent
    if (status == "unknown") != (claims.status.reason is not None):
        yield "status", "a reason comes with an unknown status, and with no other"
    elif status == "unknown" and claims.status.reason not in {entry.reason for entry in certificate.evidence}:
        yield "status", "no engine gives this reason"
    alien = () if status == "solvable" else ("optimum", "incumbent", "distribution")
    alien = alien if status == "unsolvable" else (*alien, "conflicts")
    made = [name for name in alien if getattr(claims, name) is not None]
    yield from ((name, f"a task of status {status} has none") for name in made)
    if status == "solvable" and (optimum is None) == (incumbent is None):
        yield "status", "a solvable task has either an optimum or an incumbent"
    low, high = (narrow(claims.count.at_least), narrow(claims.count.at_most)) if claims.count else (0, None)
    if low < 0 or (high is not None and high < low):
        yield "count", "the interval is empty or negative"
    if claims.count and {"solvable": high == 0, "unsolvable": high != 0, "unknown": low > 0 or high == 0}[status]:
        yield "count", f"it does not fit the status {status}"
    if optimum is not None:
        value, tied = narrow(optimum.value), narrow(optimum.tied)
        if tied < 1 or (high is not None and tied > high):
            yield "optimum", "as many plans cannot be tied"
        if optimum.runner_up is not None and not _better(value, narrow(optimum.runner_up), maximize):
            yield "optimum", "the runner-up is not worse"
        if (tied < low and optimum.runner_up is None) or (tied == high and optimum.runner_up is not None):
            yield "optimum", "the number of feasible plans does not fit the runner-up"
    if incumbent is not None and _better(narrow(incumbent.value), narrow(incumbent.bound), maximize):
        yield "incumbent", "the value is better than the bound"
    if claims.distribution is not None:
        pairs = distribution_pairs(claims.distribution)
        values = [value for value, _ in pairs]
        if any(not _better(*both, maximize) for both in pairwise(values)) or any(number < 1 for _, number in pairs):
            yield "distribution", "the values are not in order, best first, each with at least one plan"
        if low != high or sum(number for _, number in pairs) != low:
            yield "distribution", "it does not add up to an exact count"
        start = [_numbers(optimum)[name] for name in ("value", "tied", "runner_up")] if optimum else []
        if [*pairs[:1], *values[1:2]] != [tuple(start[:2]), *(item for item in start[2:] if item is not None)]:
            yield "distribution", "it does not begin with the optimum and the runner-up"


_MEANING = {"optimal": "solvable", "feasible": "solvable", "infeasible": "unsolvable"}  # an unknown one means nothing


def _odd(entry: Evidence, claims: Claims, maximize: bool) -> Iterator[str]:
    """What an engine answered against the claims."""
    if claims.status.value not in (_MEANING.get(entry.status, claims.status.value), "unknown"):
        yield f"{entry.engine} answered {entry.status}"
    known = claims.optimum or claims.incumbent
    if known is not None and entry.value is not None:
        value, least = narrow(entry.value), narrow(known.value)  # an optimal value lies between least and most
        most = least if isinstance(known, OptimumClaim) else narrow(known.bound)
        if _better(value, most, maximize) or (entry.status == "optimal" and _better(least, value, maximize)):
            yield f"{entry.engine} answered the value {value}"
    if claims.count is not None and entry.count is not None and entry.status in ("optimal", "infeasible"):
        low, high = narrow(claims.count.at_least), narrow(claims.count.at_most)
        if not low <= narrow(entry.count) <= high:
            yield f"{entry.engine} answered the count {entry.count}"


def grades(certificate: Certificate, report: Report) -> dict[str, Grade]:
    """What the grade of each claim must be after a replay: proved where the checker confirmed the claim; else agreed
    where two engines answered it alike, and nothing was refuted; else claimed. An unknown status is always claimed.
    """
    claims, result = certificate.claims, dict[str, Grade]()
    for name in claims.graded():
        engines = {entry.engine for entry in certificate.evidence if _answers(entry, name, claims)}
        witnessed = report.confirmed("witness") or claims.status.value != "solvable"
        agreed = len(engines) > 1 and witnessed and not report.refuted
        result[name] = Grade.PROVED if report.confirmed(name) else Grade.AGREED if agreed else Grade.CLAIMED
    return result


def _answers(entry: Evidence, name: str, claims: Claims) -> bool:
    """Whether an engine answered the claim as it stands. No evidence speaks of a bound beyond a value, of a
    distribution or of conflicts.
    """
    if name == "status":
        return _MEANING.get(entry.status) == claims.status.value
    if name == "optimum" and claims.optimum is not None:
        return entry.status == "optimal" and entry.value == claims.optimum.value
    if name == "incumbent" and claims.incumbent is not None:
        return entry.status == "optimal" and entry.value == claims.incumbent.value == claims.incumbent.bound
    if name == "count" and claims.count is not None and claims.count.at_least == claims.count.at_most:
        return claims.count.at_least == (0 if entry.status == "infeasible" else entry.count)
    return False


def wrong_grades(certificate: Certificate, report: Report) -> tuple[Finding, ...]:
    """A refuted finding for every claim whose grade in the certificate is not what `grades` says."""
    given = certificate.claims.graded()
    return tuple(
        Finding(name, "refuted", f"the grade must be {grade}, the certificate says {given[name]}")
        for name, grade in grades(certificate, report).items()
        if grade != given[name]
    )
