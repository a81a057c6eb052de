"""From a task and its data to a certificate: runs the engines, picks the canonical plan, and writes down what is
claimed.

Every claim leaves here graded `claimed`; only the checker, which shares nothing with this code, can raise it.
"""

from __future__ import annotations

import time
from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from functools import cached_property
from typing import TYPE_CHECKING, Literal

import numpy as np
from numpy.typing import NDArray

from ..datasets.opening import Dataset
from ..schemas.canonical import wide
from ..schemas.certificate import (
    FORMAT,
    MAX_DISTRIBUTION,
    Certificate,
    Claims,
    ConflictsClaim,
    CorrectionClaim,
    CountClaim,
    DatasetFacts,
    DistributionClaim,
    Evidence,
    Grade,
    Move,
    ObjectiveFacts,
    OptimumClaim,
    Scope,
    StatusClaim,
    TaskFacts,
    wide_pairs,
)
from ..schemas.errors import ExpressionError
from ..schemas.plan import Plan
from ..schemas.problem import Problem, pose
from ..schemas.task import TaskFile
from ..schemas.version import VERSION
from . import scan
from .asking import Asking
from .columns.sweeping import binding
from .isolate import ENGINES, Answer, Running
from .lower import Lowered, lower
from .lowering.narrow import feasible, marked
from .lowering.offers import Offers
from .model import Model
from .outcome import Limits, Outcome, Reason, Status
from .reduce import reduced
from .scan import Survey

if TYPE_CHECKING:
    from .sets.certify import SetCertifying

Engines = Literal["scan", "all"]
SCAN, FOLD = "scan", "fold"  # the first engine of each kind of model
LOOPS = 3  # choices up to which a scan may take all the work it is given
LOOPED = 500_000_000  # steps, about a second or two, of a scan of more choices, unless the caller set a limit
WHOLE = 5_000  # rows up to which the other engines get the model as it is, so that nothing is decided before them


@dataclass(frozen=True, slots=True)
class Survivors:
    """How many rows of one choice there are: in its table, as offers, and passing each constraint alone and in turn."""

    choice: str
    table: int
    offers: int
    alone: Mapping[str, int]
    together: Mapping[str, int]


@dataclass(frozen=True, slots=True)
class Certified:
    """A certificate, how many rows survive its constraints if that was asked for, and what each engine answered."""

    certificate: Certificate
    survivors: tuple[Survivors, ...]
    answers: tuple[Answer, ...]


def certify(
    task: TaskFile,
    data: Dataset,
    *,
    within: Mapping[str, Sequence[str]] | None = None,
    constraints: Sequence[str] | None = None,
    limits: Limits | None = None,
    engines: Engines = "scan",
) -> Certificate:
    """The certificate of a task, sealed, every claim graded `claimed`.

    `within` keeps only the offers with the given ids, per choice; `constraints` keeps only the named constraints. Both
    are written into the certificate's scope. `engines="all"` asks CP-SAT and MIP, too, for the optimum. A limit never
    becomes an answer: it gives an interval, or status unknown. Raises InputError (see schemas/errors.py) for a task or
    data that cannot be certified, and Disagreement when engines contradict each other.
    """
    problem = pose(task, data.manifest)
    if constraints is not None:
        problem = problem.restrict(constraints)
    scope = Scope(
        constraints=tuple(item.name for item in problem.constraints) if constraints is not None else None,
        within={name: tuple(sorted(set(ids))) for name, ids in within.items()} if within is not None else None,
    )
    return certify_problem(problem, data, scope, limits or Limits(), engines).certificate


def certify_problem(
    problem: Problem, data: Dataset, scope: Scope, limits: Limits, engines: Engines, *, survivors: bool = False
) -> Certified:
    """The certificate of a posed problem under a scope, and what is worth telling beside it.

    `survivors` are counted when asked for: that takes time linear in the tables, which most tasks do not need.
    """
    started = time.monotonic()
    counted: tuple[Survivors, ...] = ()
    answers: tuple[Answer, ...] = ()
    try:
        certifying = _certifying(problem, data, scope, limits, started)
        scope = certifying.scope
        if survivors:
            counted = certifying.survivors(engines)
        claims, answers = certifying.run(engines)
    except MemoryError:
        claims = Claims(status=StatusClaim(value="unknown", grade=Grade.CLAIMED, reason=Reason.MEMORY))
        outcome = Outcome(Status.UNKNOWN, reason=Reason.MEMORY)
        answers = (Answer(FOLD if problem.sets else SCAN, VERSION, outcome, time.monotonic() - started, 0),)
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
        evidence=tuple(_evidence(answer, problem, claims, limits) for answer in answers),
        digest="",
    )
    return Certified(certificate.sealed(), counted, answers)


def _certifying(
    problem: Problem, data: Dataset, scope: Scope, limits: Limits, started: float
) -> _Certifying | SetCertifying:
    """By columns where that is possible; sets, routes, and sums under `or` and `not` by their own model."""
    refused: ExpressionError | None = None
    if not problem.sets:
        try:
            return _Certifying(problem, data, scope, limits, started)
        except ExpressionError as fault:
            if not fault.message.startswith("not supported, because"):
                raise
            refused = fault
    from .sets.certify import SetCertifying

    try:
        found = SetCertifying(problem, data, scope, limits, started)
    except ExpressionError as fault:
        raise refused or fault from None
    found.scope = _written(scope, found.lowered.offers)
    return found


def _written(scope: Scope, lowered: Sequence[Offers]) -> Scope:
    """The scope with the ids of offers alone: what is no offer restricts nothing."""
    if scope.within is None:
        return scope
    offers = {found.choice: found for found in lowered if found.choice in scope.within}
    kept = {name: tuple(sorted(found.ids(range(len(found.rows))))) for name, found in offers.items()}
    return scope.model_copy(update={"within": kept})


class _Certifying(Asking):
    """Asks the engines about one problem lowered to columns."""

    def __init__(self, problem: Problem, data: Dataset, scope: Scope, limits: Limits, started: float) -> None:
        super().__init__(problem, limits, started)
        self.data, self.scope = data, scope
        if scope.within is None:
            self.lowered = feasible(problem, data)
        else:
            self.scope = _written(scope, self.whole.offers)
            self.lowered = Lowered(self.whole.model.kept(range(len(self.whole.model.names))), self.whole.offers)
        self.model = self.lowered.model

    @cached_property
    def whole(self) -> Lowered:
        """The problem with every offer: for conflicts, and for other engines, which share no shortcut with the scan."""
        return lower(self.problem, self.data, self.scope.within)

    @cached_property
    def small(self) -> Model:
        """For the other engines: without the rows that no best plan needs."""
        model = self.whole.model.kept(range(len(self.whole.model.names)))
        if sum(len(choice) for choice in model.choices) > WHOLE:
            return reduced(model, self.whole.ranks)
        return model

    def survivors(self, engines: Engines) -> tuple[Survivors, ...]:
        """How many rows pass each constraint; by whole lowering only where the other engines need it anyhow."""
        if self.scope.within is not None or engines == "all":
            return survivors_of(self.whole)
        names = [constraint.name for constraint in self.problem.constraints]
        return tuple(_survivors(names, *found) for found in marked(self.problem, self.data))

    def run(self, engines: Engines) -> tuple[Claims, tuple[Answer, ...]]:
        """The claims, and what each engine answered, the scan first."""
        running: list[Running] = []
        try:
            if engines == "all":
                running.extend(Running(engine, self.small, self.left()) for engine in ENGINES)
            began = time.monotonic()
            limits = self.scanning()
            found = scan.survey(self.model, limits)
            asked: dict[str, int | str | bool] = {"work_limit": wide(limits.work)}
            scanned = Answer(SCAN, VERSION, found.outcome, time.monotonic() - began, 0, asked)
            answers = (scanned, *(engine.answer() for engine in running))
        finally:
            for engine in running:
                engine.stop()
        self.agree(answers)  # before anything is built on what the scan says
        return self.with_others(self._claims(found), answers), answers

    def scanning(self) -> Limits:
        """The limits of the scan: with every choice more its loops multiply, and other engines answer at once.

        So the default ends soon where rows bind more than a few choices; a limit that the caller set is kept.
        """
        limits = self.left()
        if len(self.model.choices) <= LOOPS or limits.work != Limits().work or not binding(self.model)[0]:
            return limits
        return Limits(limits.seconds, LOOPED)

    def _claims(self, found: Survey) -> Claims:
        """What the scan found."""
        grade = Grade.CLAIMED
        low, high = found.count
        count = CountClaim(at_least=wide(low), at_most=wide(high), grade=grade)
        outcome = found.outcome
        if outcome.status is Status.INFEASIBLE:
            conflicts = self._conflicts()
            return Claims(status=StatusClaim(value="unsolvable", grade=grade), count=count, conflicts=conflicts)
        if outcome.status is Status.UNKNOWN:
            return Claims(status=StatusClaim(value="unknown", grade=grade, reason=outcome.reason), count=count)
        status = StatusClaim(value="solvable", grade=grade)
        picked = _canonical(self.lowered, self.model, found, self.left()) if outcome.status is Status.OPTIMAL else None
        if picked is None:
            bound = outcome.bound if outcome.bound is not None else outcome.best
            plan = Plan.of(self.lowered.ids(self.model, outcome.plan))
            return Claims(status=status, incumbent=self.incumbent(outcome.best, plan, bound), count=count)
        optimum = OptimumClaim(
            value=wide(self.sign * outcome.best),
            plan=Plan.of(picked),
            tied=wide(found.tied),
            runner_up=wide(self.sign * found.runner_up) if found.runner_up is not None else None,
            grade=grade,
        )
        pairs = scan.distribution(self.model, MAX_DISTRIBUTION, self.scanning(), low)
        shape = None
        if pairs is not None:
            shape = DistributionClaim(
                values=wide_pairs((self.sign * value, times) for value, times in pairs), grade=grade
            )
        return Claims(status=status, optimum=optimum, count=count, distribution=shape)

    def plan_of(self, picked: tuple[int, ...]) -> Plan:
        """The plan that another engine found."""
        return Plan.of(self.whole.ids(self.small, picked))

    def _conflicts(self) -> ConflictsClaim:
        """Why there is no plan, and the least that would help."""
        from . import conflicts

        model = self.whole.model
        explanation = conflicts.explain(model, self.left())
        names = [model.names[number] for number in range(len(model.names))]
        corrections: list[CorrectionClaim] = []
        complete = explanation.complete
        for item in explanation.corrections:
            rest = conflicts.without(model, item)
            found = scan.survey(rest, self.left())
            picked = (
                _canonical(self.whole, rest, found, self.left()) if found.outcome.status is Status.OPTIMAL else None
            )
            if picked is None:  # a limit: the correction is left out, and the list is no longer complete
                complete = False
                continue
            move = None
            if item.move is not None:
                move = Move(constraint=names[item.move], amount=wide(item.amount))
            drop = tuple(names[number] for number in item.drop)
            corrections.append(CorrectionClaim(drop=drop, move=move, plan=Plan.of(picked)))
        found_conflicts = tuple(tuple(names[number] for number in item) for item in explanation.conflicts)
        return ConflictsClaim(
            conflicts=found_conflicts, corrections=tuple(corrections), complete=complete, grade=Grade.CLAIMED
        )


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


def _evidence(answer: Answer, problem: Problem, claims: Claims, limits: Limits) -> Evidence:
    """What an engine answered, as the certificate notes it."""
    scanned = answer.engine in (SCAN, FOLD)
    parameters: dict[str, int | str | bool] = dict(answer.parameters)
    if scanned:
        parameters.setdefault("work_limit", wide(limits.work))
    if limits.seconds is not None:
        parameters["time_limit_ms"] = int(limits.seconds * 1000)
    outcome = answer.outcome
    exact = scanned and claims.count is not None and claims.count.at_least == claims.count.at_most
    sign = -1 if problem.objective.maximize else 1
    return Evidence(
        engine=answer.engine,
        version=answer.version,
        parameters=parameters,
        status=outcome.status.value,
        value=wide(sign * outcome.best) if outcome.picked is not None else None,
        count=claims.count.at_least if exact and claims.count is not None else None,
        reason=outcome.reason,
    )


def survivors_of(lowered: Lowered) -> tuple[Survivors, ...]:
    """How many rows of each choice pass each constraint, alone and with those before it in the file."""
    bits = (choice.satisfied for choice in lowered.model.choices)
    return tuple(_survivors(lowered.model.names, *found) for found in zip(lowered.offers, bits, strict=True))


def _survivors(names: Sequence[str], offers: Offers, satisfied: NDArray[np.uint64]) -> Survivors:
    alone, together = dict[str, int](), dict[str, int]()
    left = np.ones(len(satisfied), np.bool_)
    for number, name in enumerate(names):
        passing = satisfied & np.uint64(1 << number) != 0
        left &= passing
        alone[name], together[name] = int(np.count_nonzero(passing)), int(np.count_nonzero(left))
    return Survivors(offers.choice, offers.table.length, len(satisfied), alone, together)
