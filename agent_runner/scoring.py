"""Scoring a submission against a certificate: one verdict, exact amounts, no engine unless the ranking needs one."""

from __future__ import annotations

from collections.abc import Callable, Sequence
from fnmatch import fnmatchcase
from fractions import Fraction
from functools import cached_property

from ..schemas.canonical import narrow, wide
from ..schemas.certificate import Certificate, IncumbentClaim, distribution_pairs
from ..schemas.errors import Disagreement, InputError, InputErrors
from ..schemas.plan import Plan, Refusal, parse_plan
from ..schemas.problem import Problem
from ..schemas.source import MAX_BYTES
from ..schemas.verdict import ROUTE_CLAUSES, SET_CLAUSES, Standing, Verdict, VerdictKind
from ..solver.checker.check import Data, evaluate
from ..solver.questions.place import Order, order_of
from ..solver.rank import standing_in

Ranker = Callable[[int], Standing | None]


def score_text(
    text: str, name: str, problem: Problem, data: Data, certificate: Certificate, ranker: Ranker | None = None,
    ignore: Sequence[str] = (),
) -> Verdict:  # fmt: skip
    """The verdict on what an agent wrote; `name` stands for the file in reasons. Never raises for a bad submission."""
    if len(text) > MAX_BYTES:
        return Verdict(task=problem.id, kind=VerdictKind.UNPARSABLE, reason="the submission is larger than 1 MiB")
    try:
        submission = parse_plan(text, name)
    except (InputError, InputErrors) as fault:
        return Verdict(task=problem.id, kind=VerdictKind.UNPARSABLE, reason=str(fault))
    return Scorer(problem, data, certificate, ranker, ignore).score(submission)


def score(
    submission: Plan | Refusal | None,
    problem: Problem,
    data: Data,
    certificate: Certificate,
    ranker: Ranker | None = None,
) -> Verdict:
    """The verdict on a submission (None: nothing was submitted), as `Scorer.score` gives it."""
    return Scorer(problem, data, certificate, ranker).score(submission)


class Scorer:
    """Gives verdicts on submissions to one task; what is the same for all of them is prepared once.

    The plan is evaluated on the tables themselves; prices and totals that a submission may state are never read. The
    standing comes from the certificate's distribution, else from `ranker` (value to standing), else it is absent.
    Optimum and counts are the certificate's word (`cobench check` recomputes them); Disagreement is raised when a
    feasible plan shows that it is wrong.

    `ignore`: names of constraints and clauses (`budget`, `trip.lasts`, `*.twice`) as lenient graders leave them out.
    Violations of these are listed, but a plan with no others is called feasible, and its verdict names them in
    `ignored`. It is then outside of what the certificate covers: it has a value, and is neither compared with the
    optimum, where it may be better, nor ranked, nor held against the certificate. Refusals are judged by the
    certificate, which ignores nothing.
    """

    def __init__(
        self, problem: Problem, data: Data, certificate: Certificate, ranker: Ranker | None = None,
        ignore: Sequence[str] = (),
    ) -> None:  # fmt: skip
        self.problem, self.data, self.certificate = problem, data, certificate
        self._ranker, self._ignore = ranker, tuple(ignore)

    @cached_property
    def _order(self) -> Order | None:
        return order_of(self.certificate)

    @cached_property
    def _values(self) -> frozenset[int] | None:
        """The values that some plan has, where the certificate lists them."""
        claim = self.certificate.claims.distribution
        return None if claim is None else frozenset(value for value, _ in distribution_pairs(claim))

    def score(self, submission: Plan | Refusal | None) -> Verdict:
        """The verdict on a submission (None: nothing was submitted). Constant time beside evaluating the plan."""
        problem, certificate = self.problem, self.certificate
        if submission is None:
            return Verdict(task=problem.id, kind=VerdictKind.NO_ANSWER, reason="the submission is empty")
        if isinstance(submission, Refusal):
            return _refusal(problem, certificate)
        found = evaluate(problem, self.data, submission)
        unit, scale = problem.objective.type.unit, problem.objective.type.scale
        if found.unknown:
            reason = "; ".join(found.unknown)
            return Verdict(task=problem.id, kind=VerdictKind.UNKNOWN_OFFER, reason=reason, unit=unit, scale=scale)
        value, broken = found.value, [item.constraint for item in found.violations]
        ignored = tuple(name for name in broken if any(fnmatchcase(name, pattern) for pattern in self._ignore))
        if broken or value is None:
            lenient = len(broken) == len(ignored) > 0
            return Verdict(
                task=problem.id,
                kind=VerdictKind.FEASIBLE if lenient else VerdictKind.VIOLATES,
                value=_wide(value),
                violations=found.violations,
                ignored=ignored,
                unit=unit,
                scale=scale,
            )
        self._require_consistent(value)
        place = self._standing(value)
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

    def _standing(self, value: int) -> Standing | None:
        if self._values is not None and value not in self._values:
            return None  # it is later than its order needs to be, so it is none of the plans that are counted
        if self._order is not None:
            return standing_in(self._order, value, maximize=self.certificate.objective.sense == "maximize")
        return self._ranker(value) if self._ranker is not None else None

    def _require_consistent(self, value: int) -> None:
        """Raises Disagreement when a feasible plan of this value shows that the certificate is wrong."""
        claims, problem = self.certificate.claims, self.problem
        sign = -1 if problem.objective.maximize else 1
        wrong = ""
        if claims.status.value == "unsolvable":
            wrong = "it says that there is no plan"
        elif claims.optimum is not None and sign * value < sign * narrow(claims.optimum.value):
            wrong = f"it says that {claims.optimum.value} is the best value, and the plan has {value}"
        elif claims.incumbent is not None and sign * value < sign * narrow(claims.incumbent.bound):
            wrong = f"it says that no value is better than {claims.incumbent.bound}, and the plan has {value}"
        elif self._values is not None and value not in self._values and not problem.timed:
            wrong = f"it says that no plan has the value {value}"
        if wrong:
            raise Disagreement(f"error: a feasible plan contradicts the certificate of {problem.id}: {wrong}")


def ignorable(problem: Problem) -> list[str]:
    """The names that violations of a task may have: its constraints, and the clauses of its sets and routes."""
    clauses = (
        f"{choice}.{clause}"
        for choice, found in problem.sets.items()
        for clause in (SET_CLAUSES if found.route is None else ROUTE_CLAUSES)
    )
    return [*(item.name for item in problem.constraints), *clauses]


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
