"""Judging a candidate: what is let in has plans, a best one worth finding, and no constraint that does nothing.

All of it exact, from numbers of plans; a limit is a reason to turn a candidate away, never to let it in.
"""

from __future__ import annotations

from dataclasses import dataclass
from itertools import accumulate

from ...datasets.opening import Dataset
from ...schemas.certificate import Certificate, Grade
from ...schemas.problem import Problem, pose
from ...schemas.task import TaskFile
from ...solver import scan
from ...solver.checker.opened import Opened
from ...solver.lowering.narrow import feasible
from ...solver.outcome import Limits, Status
from ...solver.questions import naive
from ...verification import verify
from .drafting import LEAST, Candidate
from .plans import WORK, Data, RejectedError
from .slots import WISHES

MOST = 200_000  # plans of a task
MOST_VALUES = 4_000  # in the distribution, which the certificate lists
MOST_TIED = 50  # plans that share the optimum of a metric
TIED = 20  # and of any objective: not more than one in so many of all plans


@dataclass(frozen=True, slots=True)
class Facts:
    """What is known of a task that was let in; `values`: how many different ones its plans have."""

    plans: int
    tied: int
    values: int


def judge(candidate: Candidate, file: TaskFile, data: Data) -> Facts:
    """The facts about the plans of a candidate with its file; raises RejectedError with the reason to turn it away."""
    problem = pose(file, data.dataset.manifest)
    lowered = feasible(problem, data.dataset)
    model = lowered.model
    if not all(map(len, model.choices)):
        raise RejectedError("no plan")
    found = scan.survey(model, Limits(work=WORK))
    if found.outcome.status is Status.INFEASIBLE:
        raise RejectedError("no plan")
    if found.outcome.status is not Status.OPTIMAL:
        raise RejectedError("too much work")
    plans = found.count[0]
    if plans < LEAST:
        raise RejectedError("too few plans")
    if plans > MOST:
        raise RejectedError("too many plans")
    counts = candidate.slot.objective == WISHES
    if found.tied * TIED > plans or (not counts and found.tied > MOST_TIED):
        raise RejectedError("too many plans share the optimum")
    pairs = scan.distribution(model, MOST_VALUES, Limits(work=WORK), plans)
    if pairs is None:
        raise RejectedError("too many values")
    if naive.gap(problem, lowered, model, found.outcome.best) == 0:
        raise RejectedError("a naive strategy finds the optimum")
    _require_effects(candidate, data, plans)
    _require_learning(problem, file, data, (found.outcome.best, found.tied))
    return Facts(plans, found.tied, len(pairs))


def _require_effects(candidate: Candidate, data: Data, plans: int) -> None:
    """Every constraint removes a plan when all others hold."""
    for part in candidate.parts:
        found = scan.survey(candidate.plans(data, without=part.name).model, Limits(work=WORK))
        if found.count[0] <= plans:  # the least number that is certain
            exact = found.count[0] == found.count[1]
            raise RejectedError("a constraint removes nothing" if exact else "too much work")


def _require_learning(problem: Problem, file: TaskFile, data: Data, best: tuple[int, int]) -> None:
    """What is told later changes the best plans; and at every moment on the way the objective is known."""
    later = {name for name in file.task.constraints if file.task.constraint(name).reveal == "later"}
    told = [constraint.name for constraint in problem.constraints if constraint.name not in later]
    for known in accumulate(([name] for name in file.task.constraints if name in later), initial=told):
        problem.restrict(known)
    found = scan.survey(feasible(problem.restrict(told), data.dataset).model, Limits(work=WORK))
    if found.outcome.status is not Status.OPTIMAL:
        raise RejectedError("too much work")
    if (found.outcome.best, found.tied) == best:
        raise RejectedError("what is told later changes nothing")


def certified(file: TaskFile, dataset: Dataset, opened: Opened) -> Certificate:
    """The certificate of a task by all engines; raises RejectedError unless the checker proved every claim in it."""
    result = verify(file, dataset, engines="all", opening=opened, survivors=False)
    claims = result.certificate.claims
    found = (claims.status, claims.optimum, claims.count, claims.distribution)
    if result.exit_code or any(claim is None or claim.grade is not Grade.PROVED for claim in found):
        raise RejectedError("not proved")
    return result.certificate
