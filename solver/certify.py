"""From a task and its data to a certificate: runs the engines, picks the canonical plan, and writes down what is claimed.

Every claim leaves here graded `claimed`; only the checker, which shares nothing with this code, can raise it.
"""

from __future__ import annotations

import time
from collections.abc import Mapping, Sequence
from dataclasses import dataclass

import numpy as np

from ..datasets.opening import Dataset
from ..schemas.canonical import wide
from ..schemas.certificate import (
    FORMAT,
    MAX_DISTRIBUTION,
    Certificate,
    Claims,
    CountClaim,
    DatasetFacts,
    DistributionClaim,
    Evidence,
    Grade,
    IncumbentClaim,
    ObjectiveFacts,
    OptimumClaim,
    Scope,
    StatusClaim,
    TaskFacts,
    wide_pairs,
)
from ..schemas.plan import Plan
from ..schemas.problem import Problem, pose
from ..schemas.task import TaskFile
from ..schemas.version import VERSION
from . import scan
from .lower import Lowered, lower
from .model import Model
from .outcome import Limits, Outcome, Reason, Status
from .scan import Survey


@dataclass(frozen=True, slots=True)
class Survivors:
    """How many rows of one choice pass: in its table, as offers, and per constraint name, alone and after those before."""

    choice: str
    table: int
    offers: int
    alone: Mapping[str, int]
    together: Mapping[str, int]


def certify(
    task: TaskFile,
    data: Dataset,
    *,
    within: Mapping[str, Sequence[str]] | None = None,
    constraints: Sequence[str] | None = None,
    limits: Limits | None = None,
) -> Certificate:
    """The certificate of a task, sealed, every claim graded `claimed`.

    `within` keeps only the offers with the given ids, per choice; `constraints` keeps only the named constraints. Both
    are written into the certificate's scope. A limit never becomes an answer: it gives an interval, or status unknown.
    Raises InputError (see schemas/errors.py) for a task or data that cannot be certified.
    """
    problem = pose(task, data.manifest)
    if constraints is not None:
        problem = problem.restrict(constraints)
    scope = Scope(
        constraints=tuple(item.name for item in problem.constraints) if constraints is not None else None,
        within={name: tuple(sorted(set(ids))) for name, ids in within.items()} if within is not None else None,
    )
    return certify_problem(problem, data, scope, limits or Limits())[0]


def certify_problem(
    problem: Problem, data: Dataset, scope: Scope, limits: Limits
) -> tuple[Certificate, tuple[Survivors, ...]]:
    """The certificate of a posed problem under a scope, and how many rows survive its constraints."""
    started = time.monotonic()
    survivors: tuple[Survivors, ...] = ()
    try:
        lowered = lower(problem, data, scope.within)
        survivors = _survivors(lowered)
        claims, answer = _claims(problem, lowered, limits, started)
    except MemoryError:
        answer = Survey(Outcome(Status.UNKNOWN, reason=Reason.MEMORY), (0, 0))
        claims = Claims(status=StatusClaim(value="unknown", grade=Grade.CLAIMED, reason=Reason.MEMORY))
    objective = problem.objective
    certificate = Certificate(
        cobench_certificate=FORMAT,
        version=VERSION,
        task=TaskFacts(id=problem.id, digest=problem.digest),
        dataset=DatasetFacts(
            name=data.manifest.manifest.name,
            manifest=data.manifest.digest(),
            tables={name: data.table(problem.world, name).digest for name in problem.tables()},
            relations={name: data.relation(problem.world, name).digest for name in problem.relations()},
        ),
        scope=scope,
        objective=ObjectiveFacts(
            sense="maximize" if objective.maximize else "minimize", unit=objective.type.unit, scale=objective.type.scale
        ),
        claims=claims,
        evidence=(_evidence(answer, claims, limits),),
        digest="",
    )
    return certificate.sealed(), survivors


def _claims(problem: Problem, lowered: Lowered, limits: Limits, started: float) -> tuple[Claims, Survey]:
    """What the scan found, in the task's own terms."""
    grade = Grade.CLAIMED
    model = lowered.model.kept(range(len(lowered.model.names)))
    sign = -1 if model.maximize else 1
    found = scan.survey(model, limits.left(started))
    low, high = found.count
    count = CountClaim(at_least=wide(low), at_most=wide(high), grade=grade)
    outcome = found.outcome
    if outcome.status is Status.INFEASIBLE:
        return Claims(status=StatusClaim(value="unsolvable", grade=grade), count=count), found
    if outcome.status is Status.UNKNOWN:
        return Claims(status=StatusClaim(value="unknown", grade=grade, reason=outcome.reason), count=count), found
    status = StatusClaim(value="solvable", grade=grade)
    picked = _canonical(lowered, model, found, limits.left(started)) if outcome.status is Status.OPTIMAL else None
    if picked is None or outcome.bound is None:
        ids = lowered.ids(model, outcome.plan)
        bound = outcome.bound if outcome.bound is not None else outcome.best
        incumbent = IncumbentClaim(
            value=wide(sign * outcome.best), plan=Plan.of(ids), bound=wide(sign * bound), grade=grade
        )
        return Claims(status=status, incumbent=incumbent, count=count), found
    optimum = OptimumClaim(
        value=wide(sign * outcome.best),
        plan=Plan.of(picked),
        tied=wide(found.tied),
        runner_up=wide(sign * found.runner_up) if found.runner_up is not None else None,
        grade=grade,
    )
    pairs = scan.distribution(model, MAX_DISTRIBUTION, limits.left(started))
    shape = None
    if pairs is not None:
        shape = DistributionClaim(values=wide_pairs((sign * value, number) for value, number in pairs), grade=grade)
    return Claims(status=status, optimum=optimum, count=count, distribution=shape), found


def _canonical(lowered: Lowered, model: Model, found: Survey, limits: Limits) -> dict[str, str] | None:
    """Among the best plans the one with the least ids, choice by choice; None when a limit stops the search."""
    if found.tied == 1:
        return lowered.ids(model, found.outcome.plan)
    ids: dict[str, str] = {}
    started = time.monotonic()
    for number, offers in enumerate(lowered.offers):
        rows = scan.best_rows(model, number, found.outcome.best, limits.left(started))
        if rows is None:
            return None
        names = lowered.names(offers, model.choices[number], rows.tolist())
        least = min(range(len(names)), key=lambda position: names[position].encode())
        ids[offers.choice] = names[least]
        model = model.narrowed({number: rows[least : least + 1]})
    return ids


def _evidence(found: Survey, claims: Claims, limits: Limits) -> Evidence:
    parameters: dict[str, int | str | bool] = {"work_limit": wide(limits.work)}
    if limits.seconds is not None:
        parameters["time_limit_ms"] = int(limits.seconds * 1000)
    best = claims.optimum or claims.incumbent
    exact = found.count[0] == found.count[1] and found.outcome.status is not Status.UNKNOWN
    return Evidence(
        engine="scan",
        version=VERSION,
        parameters=parameters,
        status=found.outcome.status.value,
        value=best.value if best is not None else None,
        count=wide(found.count[0]) if exact else None,
        reason=found.outcome.reason,
    )


def _survivors(lowered: Lowered) -> tuple[Survivors, ...]:
    names = lowered.model.names
    result: list[Survivors] = []
    for choice, offers in zip(lowered.model.choices, lowered.offers, strict=True):
        bits = [(choice.satisfied >> np.uint64(number)) & np.uint64(1) == 1 for number in range(len(names))]
        together = np.logical_and.accumulate(bits, axis=0) if bits else []
        result.append(
            Survivors(
                choice.name,
                offers.table.length,
                len(choice),
                {name: int(bit.sum()) for name, bit in zip(names, bits, strict=True)},
                {name: int(row.sum()) for name, row in zip(names, together, strict=True)},
            )
        )
    return tuple(result)
