"""Whether a certificate is about a task and its data, and coherent: asked before anybody is scored by it."""

from __future__ import annotations

from ..datasets.opening import Dataset
from ..schemas.canonical import narrow
from ..schemas.certificate import Certificate
from ..schemas.errors import CertificateError, Disagreement, Where
from ..schemas.problem import Problem
from ..solver.checker.check import Data, evaluate
from ..solver.checker.replay import contradictions, objective_faults


def require_about(found: Certificate, path: str, problem: Problem, dataset: Dataset, opened: Data) -> None:
    """Raises CertificateError when a certificate is not about all of this task and these tables, or is incoherent."""
    facts = found.dataset
    if found.task.digest != problem.digest:
        raise CertificateError("the certificate is about another task", where=Where(path))
    same = (facts.tables, facts.relations) == (opened.digests, opened.relation_digests)
    if not same or facts.manifest != dataset.manifest.digest():
        raise CertificateError("the certificate is about other data", where=Where(path))
    if other := objective_faults(problem, found):
        raise CertificateError(f"the certificate is about another objective: {other[0]}", where=Where(path))
    require_coherent(found, path)
    best = found.claims.optimum or found.claims.incumbent
    if best is not None and evaluate(problem, opened, best.plan).value != narrow(best.value):
        raise Disagreement(f"error: the plan in {path} does not have the value that it says")
    if found.scope.constraints is not None or found.scope.within is not None:
        raise CertificateError("the certificate covers only a part of the task", where=Where(path))


def require_coherent(certificate: Certificate, name: str) -> None:
    """Raises CertificateError when claims contradict each other, for those who take them without recomputing them."""
    claim, wrong = next(contradictions(certificate), ("", ""))
    if claim:
        hint = "cobench check recomputes every claim"
        raise CertificateError(f"the claims contradict each other: {claim}: {wrong}", where=Where(name), hint=hint)
