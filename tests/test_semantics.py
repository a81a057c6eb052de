"""Every answer about random tasks against the truth: scan, certificate, ranking, checker, and what limits leave."""

from __future__ import annotations

import tempfile
from collections.abc import Callable, Generator, Iterator, Sequence
from contextlib import contextmanager
from dataclasses import dataclass
from fractions import Fraction
from pathlib import Path
from typing import Any

import pytest
from cobench.datasets.opening import Dataset, open_dataset
from cobench.schemas.canonical import narrow, wide
from cobench.schemas.certificate import Certificate, Claims, Scope, distribution_pairs
from cobench.schemas.errors import ExpressionError, OverflowRisk
from cobench.schemas.plan import Plan
from cobench.schemas.problem import Problem, pose
from cobench.schemas.task import TaskFile, parse_task
from cobench.solver import scan
from cobench.solver.certify import certify
from cobench.solver.checker import check
from cobench.solver.checker import replay as checker
from cobench.solver.columns import kernels
from cobench.solver.lower import Lowered, lower
from cobench.solver.model import Model
from cobench.solver.outcome import Limits, Outcome, Status
from cobench.solver.rank import scan_standing, standing
from hypothesis import HealthCheck, event, given, settings
from hypothesis import strategies as st

from .oracle import Truth, read_data, truth
from .phrases import Case, cases
from .worlds import Sheet, World

NEVER = 2**62  # steps: more than any test runs

# Every engine answers every question here: one line each.
ENGINES: dict[str, Callable[[Model, Limits], Outcome]] = {"scan": scan.solve}

# Building a world takes hypothesis a while, and its rows are many small draws; both are wanted.
slow = settings(suppress_health_check=[HealthCheck.too_slow, HealthCheck.data_too_large, HealthCheck.filter_too_much])


@dataclass(frozen=True)
class Posed:
    """A case written to a folder, and opened by the code under test."""

    case: Case
    folder: Path
    file: TaskFile
    problem: Problem
    data: Dataset

    def truth(self, **restrictions: Any) -> Truth:
        return truth(self.file, self.folder, self.data.manifest.manifest, **restrictions)

    def certify(self, **options: Any) -> Certificate:
        return certify(self.file, self.data, **options)

    def lowered(self) -> tuple[Lowered, Model]:
        lowered = lower(self.problem, self.data)
        return lowered, lowered.model.kept(range(len(lowered.model.names)))

    def steps(self, value: Fraction) -> int:
        """A value in steps of the objective, as certificates hold it."""
        scaled = value * self.problem.objective.type.scale
        assert scaled.denominator == 1
        return int(scaled)

    def opened(self) -> check.Data:
        """The data as the checker reads them."""
        return check.open_data(self.folder, self.problem)

    def replay(self, certificate: Certificate, data: check.Data | None = None, **options: int) -> checker.Report:
        manifest = self.data.manifest
        return checker.replay(
            self.problem,
            data or self.opened(),
            certificate,
            dataset=manifest.manifest.name,
            manifest_digest=manifest.digest(),
            **options,
        )


@contextmanager
def posed(case: Case) -> Generator[Posed]:
    """The case, opened; skips the example when a refusal that is allowed ends it."""
    with tempfile.TemporaryDirectory() as name:
        folder = Path(name)
        case.world.write(folder)
        data, file = open_dataset(name), parse_task(case.task)
        try:
            yield Posed(case, folder, file, pose(file, data.manifest), data)
        except OverflowRisk:
            if not case.world.extreme:  # only integers at the edge of 64 bits may be refused
                raise
            event("refused: overflow")
        except ExpressionError as fault:
            if not fault.message.startswith("not supported, because"):
                raise
            event("refused: not supported")


def expect_claims(found: Certificate, wanted: Truth, steps: Callable[[Fraction], int]) -> None:
    """The claims say everything about the truth, and nothing else."""
    claims = found.claims
    assert claims.count is not None
    assert narrow(claims.count.at_least) == narrow(claims.count.at_most) == wanted.count
    assert claims.incumbent is None
    if not wanted.count:
        assert claims.status.value == "unsolvable"
        assert claims.optimum is claims.distribution is None
        return
    assert claims.status.value == "solvable"
    assert claims.optimum is not None
    assert narrow(claims.optimum.value) == steps(wanted.optimum)
    assert claims.optimum.plan == Plan.of(wanted.canonical)
    assert narrow(claims.optimum.tied) == len(wanted.best)
    second = wanted.runner_up
    assert claims.optimum.runner_up == (None if second is None else wide(steps(second)))
    assert claims.distribution is not None
    assert distribution_pairs(claims.distribution) == [(steps(value), count) for value, count in wanted.distribution]


@slow
@given(cases(), st.integers(-2, 2))
def test_a_certificate_says_the_truth_and_the_checker_confirms_it(case: Case, off: int) -> None:
    with posed(case) as at:
        certificate = at.certify()
        wanted = at.truth()
        event(f"{certificate.claims.status.value}, {len(case.choices)} choices")
        expect_claims(certificate, wanted, at.steps)
        report = at.replay(certificate)
        assert not report.refuted
        made = set(certificate.claims.graded()) - {"conflicts"}  # these have tests of their own
        assert all(report.confirmed(name) for name in made)
        known = [at.steps(value) for value, _ in wanted.distribution]
        for value in sorted({*known[:1], *known[-1:], *(value + off for value in known[:1])}):
            ranked = standing(certificate, value)
            assert ranked is not None
            numbers = (narrow(ranked.better), narrow(ranked.tied), narrow(ranked.worse))
            assert numbers == wanted.rank(Fraction(value, at.problem.objective.type.scale))
            assert narrow(ranked.total) == wanted.count
            assert scan_standing(at.problem, at.data, certificate, value) == ranked


@pytest.mark.parametrize("engine", ENGINES)
@slow
@given(case=cases())
def test_an_engine_finds_a_best_plan(engine: str, case: Case) -> None:
    with posed(case) as at:
        lowered, model = at.lowered()
        outcome, wanted = ENGINES[engine](model, Limits()), at.truth()
        if engine != "scan" and outcome.status is Status.UNKNOWN:  # the others may decline, with a reason
            assert outcome.reason is not None
            return
        assert outcome.status is (Status.OPTIMAL if wanted.count else Status.INFEASIBLE)
        if wanted.count:
            assert tuple(lowered.ids(model, outcome.plan).values()) in wanted.best
            sign = -1 if model.maximize else 1
            assert outcome.best == outcome.bound == sign * at.steps(wanted.optimum)


@slow
@given(cases(), st.data())
def test_restrictions_of_offers_and_constraints(case: Case, data: st.DataObject) -> None:
    with posed(case) as at:
        table = {name: at.problem.choices[name] for name in case.choices}
        known = read_data(at.folder, at.file.task.given, at.data.manifest.manifest).offers
        offers = {name: [offer for offer, _ in known[table[name]]] for name in table}
        some = [name for name in table if offers[name] and data.draw(st.booleans())]
        within = {name: data.draw(st.lists(st.sampled_from(offers[name]), max_size=4)) for name in some}
        kept = [name for name in case.constraints if name[0] == "k" or data.draw(st.booleans())]
        options: dict[str, Any] = {"within": within, "constraints": kept}
        certificate = at.certify(**options)
        assert certificate.scope == Scope(
            constraints=tuple(item.name for item in at.problem.constraints if item.name in kept),
            within={name: tuple(sorted(set(ids))) for name, ids in within.items()},
        )
        wanted = at.truth(**options)
        expect_claims(certificate, wanted, at.steps)
        assert not at.replay(certificate).refuted
        for value, _ in wanted.distribution[:2]:
            place = standing(certificate, at.steps(value))
            assert scan_standing(at.problem, at.data, certificate, at.steps(value)) == place


@slow
@given(cases())
def test_compiled_kernels_answer_the_same_and_the_rows_of_best_plans_are_found(case: Case) -> None:
    with posed(case) as at, pytest.MonkeyPatch.context() as patch:
        patch.setattr(kernels, "COMPILE_FROM", NEVER)
        plain = at.certify()
        patch.setattr(kernels, "COMPILE_FROM", 0)
        assert at.certify().to_bytes() == plain.to_bytes()
        (lowered, model), wanted = at.lowered(), at.truth()
        if not wanted.count:
            return
        best = (-1 if model.maximize else 1) * at.steps(wanted.optimum)
        for number, offers in enumerate(lowered.offers):
            rows = scan.best_rows(model, number, best, Limits())
            assert rows is not None
            names = lowered.names(offers, model.choices[number], rows.tolist())
            assert set(names) == {ids[number] for ids in wanted.best}


def expect_no_false_claim(at: Posed, certificate: Certificate, wanted: Truth) -> None:
    """Whatever a limit stopped: intervals hold the truth, a plan is a plan, and nothing false is called optimal."""
    claims = certificate.claims
    assert not at.replay(certificate).refuted
    assert claims.count is not None
    assert narrow(claims.count.at_least) <= wanted.count <= narrow(claims.count.at_most)
    assert claims.status.value in ("unknown", "solvable" if wanted.count else "unsolvable")
    assert (claims.status.reason is None) == (claims.status.value != "unknown")
    if claims.optimum is not None:
        assert narrow(claims.optimum.value) == at.steps(wanted.optimum)
        assert claims.optimum.plan == Plan.of(wanted.canonical)
    if claims.incumbent is not None:
        sign = -1 if wanted.maximize else 1
        value, bound = narrow(claims.incumbent.value), narrow(claims.incumbent.bound)
        assert sign * bound <= sign * at.steps(wanted.optimum) <= sign * value
        ids = tuple(claims.incumbent.plan.picks[name][0].id for name in at.case.choices)
        assert (ids, Fraction(value, at.problem.objective.type.scale)) in wanted.plans


@slow
@given(cases(), st.one_of(st.builds(Limits, work=st.integers(0, 30)), st.just(Limits(seconds=0.0))))
def test_a_limit_never_makes_a_false_claim(case: Case, limits: Limits) -> None:
    with posed(case) as at:
        certificate = at.certify(limits=limits)
        event(certificate.claims.status.value + (" with incumbent" if certificate.claims.incumbent else ""))
        expect_no_false_claim(at, certificate, at.truth())


def lies(certificate: Certificate, wanted: Truth, case: Case) -> Iterator[tuple[str, Claims]]:
    """The claims, each time with one thing changed so that they are false, and what was changed."""
    claims = certificate.claims
    yield from _false_statuses(claims)
    assert claims.count is not None
    low, high = narrow(claims.count.at_least), narrow(claims.count.at_most)
    for change in ({"at_least": low + 1}, {"at_most": high - 1}, {"at_least": low + 1, "at_most": high + 1}):
        yield f"count {change}", claims.model_copy(update={"count": claims.count.model_copy(update=change)})
    if claims.optimum is None:
        return
    optimum = claims.optimum
    value, runner_up = narrow(optimum.value), optimum.runner_up
    changes: list[dict[str, Any]] = [{"value": wide(value + 1)}, {"value": wide(value - 1)}]
    changes += [{"tied": narrow(optimum.tied) + 1}, {"tied": narrow(optimum.tied) - 1}]
    worse = value + (-1 if wanted.maximize else 1)
    changes += [{"runner_up": wide(worse if runner_up is None else narrow(runner_up) + 1)}]
    changes += [{"runner_up": None}] if runner_up is not None else []
    changes += [{"plan": Plan.of(dict(zip(case.choices, ids, strict=True)))} for ids, _ in wanted.plans[1:3]]
    first = case.choices[0]
    changes += [{"plan": Plan.of({**wanted.canonical, first: "nothing"})}]
    changes += [{"plan": Plan.of({**wanted.canonical, "more": "x"})}]
    for change in changes:
        yield f"optimum {change}", claims.model_copy(update={"optimum": optimum.model_copy(update=change)})
    assert claims.distribution is not None
    yield from _false_distributions(claims)


def _false_statuses(claims: Claims) -> Iterator[tuple[str, Claims]]:
    other = "unsolvable" if claims.status.value == "solvable" else "solvable"
    status = claims.status.model_copy(update={"value": other})
    yield f"status {other}", claims.model_copy(update={"status": status})
    alone = {"status": status, "optimum": None, "distribution": None, "count": None}
    yield f"only status {other}", claims.model_copy(update=alone)


def _false_distributions(claims: Claims) -> Iterator[tuple[str, Claims]]:
    assert claims.distribution is not None
    pairs = list(claims.distribution.values)
    value, number = narrow(pairs[-1][0]), narrow(pairs[-1][1])
    others: Sequence[list[tuple[Any, Any]]] = (
        [*pairs[:-1], (pairs[-1][0], wide(number + 1))],
        [*pairs[:-1], (wide(value + 1), pairs[-1][1])],
        pairs[:-1],
        [*pairs, (wide(value + 7), 1)],
        [pairs[0], *pairs],
    )
    for values in others:
        changed = claims.distribution.model_copy(update={"values": tuple(values)})
        yield f"distribution {values}", claims.model_copy(update={"distribution": changed})


@slow
@given(cases(most_choices=3, most_rows=4))
def test_the_checker_refutes_every_changed_claim(case: Case) -> None:
    with posed(case) as at:
        certificate, wanted, data = at.certify(), at.truth(), at.opened()
        for what, claims in lies(certificate, wanted, case):
            lie = certificate.model_copy(update={"claims": claims}).sealed()
            assert at.replay(lie, data=data).refuted, what


@slow
@given(cases(most_choices=2, most_rows=4))
def test_the_checker_refutes_a_certificate_about_something_else(case: Case) -> None:
    with posed(case) as at:
        certificate, data = at.certify(), at.opened()
        task, dataset, goal = certificate.task, certificate.dataset, certificate.objective
        sense = "minimize" if goal.sense == "maximize" else "maximize"
        table = next(iter(dataset.tables))
        evidence = certificate.evidence[0]
        others: list[dict[str, Any]] = [
            {"task": task.model_copy(update={"digest": "sha256:0"})},
            {"task": task.model_copy(update={"id": "u"})},
            {"dataset": dataset.model_copy(update={"name": "other"})},
            {"dataset": dataset.model_copy(update={"manifest": "sha256:0"})},
            {"dataset": dataset.model_copy(update={"tables": {**dataset.tables, table: "sha256:0"}})},
            {"dataset": dataset.model_copy(update={"tables": {}})},
            {"dataset": dataset.model_copy(update={"relations": {**dataset.relations, "more": "sha256:0"}})},
            {"objective": goal.model_copy(update={"sense": sense})},
            {"objective": goal.model_copy(update={"scale": goal.scale * 10})},
            {"objective": goal.model_copy(update={"unit": "GBP"})},
            {"scope": Scope(constraints=("nothing",))},
            {"scope": Scope(within={"nobody": ("x",)})},
            {"evidence": (evidence.model_copy(update={"count": wide(narrow(evidence.count or 0) + 1)}),)},
        ]
        for change in others:
            assert at.replay(certificate.model_copy(update=change).sealed(), data=data).refuted, change
        report = at.replay(certificate, work_limit=0)  # what it cannot afford, it neither refutes nor confirms
        assert not report.refuted
        for name, grade in checker.grades(certificate, report).items():
            assert (grade == "proved") == report.confirmed(name)


# What random tasks found, each by itself.


def small(constraint: str = "", goal: str = "minimize: a.n") -> Case:
    """Two choices of one table with three rows, and a relation that lists one number."""
    columns = "      code: {type: string}\n      n: {type: number, nullable: true}\n      m: {type: number}\n"
    manifest = (
        "cobench_dataset: 1\nname: w\ntables:\n  t:\n    file: t.parquet\n    key: [code]\n    id: '{code}'\n"
        f"    columns:\n{columns}relations:\n  lucky:\n    file: lucky.parquet\n    args: [x]\n"
        "    columns:\n      x: {type: number}\n"
    )
    rows = [("a", None, 1), ("b", 5, 2), ("c", 3, 2)]
    sheets = {
        "t.parquet": Sheet({"code": "string", "n": "number", "m": "number"}, rows),
        "lucky.parquet": Sheet({"x": "number"}, [(2,)]),
    }
    constraints = f"constraints:\n  k: {constraint}\n" if constraint else ""
    task = f"cobench: 1\nid: t\ndataset: .\nchoose:\n  a: t\n  b: t\n{constraints}{goal}\n"
    return Case(World(manifest, sheets), task, ("a", "b"), ("k",) if constraint else ())


def test_a_relation_of_a_dropped_constraint_is_no_part_of_the_certificate() -> None:
    with posed(small("lucky(a.m)", "minimize: a.m")) as at:
        certificate = at.certify(constraints=[])
        assert not at.replay(certificate).refuted


def test_what_certify_writes_for_an_id_of_no_offer_is_confirmed() -> None:
    with posed(small(goal="minimize: a.m")) as at:
        certificate = at.certify(within={"a": ["b", "nothing"]})
        expect_claims(certificate, at.truth(within={"a": ["b", "nothing"]}), at.steps)
        assert not at.replay(certificate).refuted


def test_a_value_under_dropped_constraints_is_ranked_under_them() -> None:
    with posed(small("a.m == 2 and b.m == 2", "minimize: a.m + b.m")) as at:
        certificate = at.certify(constraints=[])
        assert scan_standing(at.problem, at.data, certificate, 3) == standing(certificate, 3)


def test_an_incumbent_comes_with_a_bound_that_holds() -> None:
    case = small(goal="maximize: a.m + b.m - c.m")
    with posed(Case(case.world, case.task.replace("  b: t\n", "  b: t\n  c: t\n"), ("a", "b", "c"), ())) as at:
        wanted = at.truth()
        found = [at.certify(limits=Limits(work=work)) for work in range(30)]
        for certificate in found:
            expect_no_false_claim(at, certificate, wanted)
        assert any(certificate.claims.incumbent for certificate in found)
        assert found[-1].claims.optimum is not None
