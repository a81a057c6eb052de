"""The checker of certificates on tiny worlds: all plans against brute force, conflicts, and every finding."""

from __future__ import annotations

import itertools
import random
from collections import Counter
from collections.abc import Iterator
from dataclasses import replace
from pathlib import Path
from typing import Any

import pytest
from cobench.schemas import expression as ex
from cobench.schemas.certificate import Certificate, Grade, read_certificate
from cobench.schemas.errors import TableError
from cobench.schemas.plan import Plan
from cobench.schemas.problem import Problem
from cobench.solver.checker import recompute as whole
from cobench.solver.checker import recompute_conflicts as disputed
from cobench.solver.checker import replay as checker
from cobench.solver.checker.check import Data, evaluate
from cobench.solver.checker.recompute import Feasible, WorkLimitError, recompute
from cobench.solver.checker.replay import Report, grades, replay, wrong_grades

from .test_check_unit import BOTH, TASK, World, task_on


@pytest.fixture
def world(tmp_path: Path) -> World:
    return World(tmp_path)


# ---------------------------------------------------------------------------------------------------- the whole


def brute_force(problem: Problem, data: Data) -> Feasible:
    """All plans, one by one, each evaluated on its own."""
    offers = [[data.id(table, row) for row in data.offers(table).values()] for table in problem.choices.values()]
    values: Counter[int] = Counter()
    best: dict[int, tuple[bytes, ...]] = {}
    for ids in itertools.product(*offers):
        found = evaluate(problem, data, Plan.of(dict(zip(problem.choices, ids, strict=True))))
        if found.feasible:
            assert found.value is not None
            values[found.value] += 1
            key = tuple(offer.encode() for offer in ids)
            best[found.value] = min(best.get(found.value, key), key)
    ordered = sorted(values.items(), reverse=problem.objective.maximize)
    plan = Plan.of(dict(zip(problem.choices, map(bytes.decode, best[ordered[0][0]]), strict=True))) if ordered else None
    return Feasible(tuple(ordered), plan)


THREE = {"car": "cars", "hotel": "stays", "flight": "flights"}


@pytest.mark.parametrize(
    ("choose", "constraints", "objective"),
    [
        (BOTH, {}, "minimize: hotel.total_price + flight.price"),
        (
            BOTH,
            {"a": "flight.departs_on == hotel.check_in"},
            "maximize: count(hotel.hotel_pool, flight.direct, flight.seats > 2)",
        ),
        (BOTH, {"a": "hotel.check_in == flight.departs_on"}, "minimize: flight.price"),
        (BOTH, {"a": 'flight.lands == "LAS" or hotel.hotel_pool'}, "minimize: 7 * flight.price - hotel.total_price"),
        (
            BOTH,
            {"a": "serves(flight.lands, hotel.hotel_park)", "b": "hotel.total_price + flight.price <= 490"},
            "minimize: hotel.total_price",
        ),
        (BOTH, {"a": '"false"'}, "minimize: hotel.total_price"),
        (BOTH, {"a": '"true"'}, 'minimize: "5"'),
        (BOTH, {"a": 'serves("LAS", "Arches")'}, "minimize: flight.price"),
        (BOTH, {"a": "flight.seats == hotel.rooms"}, "minimize: flight.price"),
        (
            BOTH,
            {"a": "flight.seats > hotel.rooms"},
            "maximize: min(flight.price, hotel.total_price, flight.price + 1, 310)",
        ),
        (
            BOTH,
            {"a": "minutes(flight.lands, hotel.hotel_park) <= 170"},
            "minimize: abs(flight.price - hotel.total_price)",
        ),
        (BOTH, {"a": "flight.seats > 99"}, "minimize: flight.price"),
        ({"flight": "flights"}, {"a": "flight.direct"}, "minimize: flight.price"),
        (THREE, {}, "minimize: car.price + hotel.total_price + flight.price + 1"),
        (
            THREE,
            {"a": "car.price + hotel.total_price + flight.price <= 600"},
            "maximize: count(hotel.hotel_pool, car.electric, flight.direct, car.size > 4, hotel.rooms == 2, true)",
        ),
        (
            THREE,
            {"a": "flight.seats == car.size - 2 or hotel.hotel_pool", "b": "hotel.check_in == flight.departs_on"},
            "minimize: max(car.price, hotel.total_price, flight.price)",
        ),
        (
            THREE,
            {
                "a": "car.electric or flight.direct or hotel.hotel_pool",
                "b": "hotel.rooms <= car.size and flight.seats <= car.size",
            },
            "maximize: 2 * (car.size + hotel.rooms + flight.seats) - car.car",
        ),
        (
            THREE,
            {"a": "not (car.electric and flight.direct and hotel.hotel_pool)", "k": "known(flight.seats)"},
            "maximize: flight.seats + hotel.rooms + car.size + 2 * (car.car + flight.seats + car.size)",
        ),
        (
            {"c": "cars", "d": "cars", "e": "cars"},
            {"a": "c.car != d.car", "b": "d.car != e.car", "c2": "c.price + d.price == e.price + 10"},
            "minimize: c.size + d.size + e.size",
        ),
        (
            {"c": "cars", "d": "cars", "e": "cars", "f": "cars"},
            {"a": "c.car < d.car < e.car or f.electric"},
            "maximize: c.price + d.price + e.price + f.price",
        ),
    ],
)
def test_recomputing_equals_brute_force(
    world: World, choose: dict[str, str], constraints: dict[str, str], objective: str
) -> None:
    if "flight.seats" in objective:
        constraints = {**constraints, "known": "known(flight.seats)"}
    problem, data = world.open(task_on(choose, constraints, objective))
    assert recompute(problem, data) == brute_force(problem, data)


ATOMS = [
    "c.car != d.car",
    "d.car == e.size - 3",
    "c.size == e.size",
    "c.electric == d.electric",
    "c.electric != e.electric",
    "c.electric or d.electric or e.electric",
    "not (c.electric and d.electric)",
    "known(d.electric) or c.size > 4",
    "c.price + d.price + e.price <= 190",
    "c.price - e.price < 30",
    "2 * c.size + d.size >= e.size + e.car",
    "c.size + d.size == e.size + e.car",
    "max(c.size, d.size, e.size) - min(c.size, d.size) <= 2",
    "count(c.electric, d.electric, e.electric, true) in [2, 3]",
    "short(c.size - d.size)",
    "not short(d.car)",
    'minutes("LAS", "Zion") > 100 or c.car == d.car',
    "abs(c.size - d.size) != abs(d.size - e.size)",
    "e.electric",
    "ceil(d.price / d.size) > 10",
    "known(e.electric) and c.car < d.car < e.car + 3",
    "c.price + d.price + e.price <= 15 or not c.size + d.size > e.size",
    "not (c.price + d.price >= 9 and e.electric)",
]
GOALS = [
    "minimize: c.price + d.price + e.price",
    "maximize: count(c.electric, d.electric, e.electric, c.size > d.size)",
    "maximize: min(c.price, d.price, e.price) - max(c.price, d.price)",
    "minimize: abs(c.size - d.size) * 3 - e.size",
    "maximize: c.size + 2 * (d.size - e.size) + count(c.size == d.size or e.electric, e.electric)",
    "minimize: d.price",
]


@pytest.mark.parametrize("seed", range(60))
def test_recomputing_equals_brute_force_on_random_tasks(tmp_path: Path, seed: int) -> None:
    chance = random.Random(seed)  # noqa: S311
    cars = [
        (at, chance.randint(1, 5), chance.randint(1, 9) * 10, chance.choice([True, False, None])) for at in range(1, 8)
    ]
    world = World(tmp_path, cars=cars)
    choose = dict.fromkeys(chance.sample("cde", 3), "cars")
    conditions = {f"a{at}": text for at, text in enumerate(chance.sample(ATOMS, chance.randint(0, 4)))}
    problem, data = world.open(task_on(choose, conditions, chance.choice(GOALS)))
    assert recompute(problem, data) == brute_force(problem, data)


def test_numbers_of_equal_structure_but_other_constants_stay_apart(world: World) -> None:
    task = task_on(
        BOTH, {"a": "flight.price - 310 >= hotel.rooms * 0", "b": "flight.price - 300 >= 0"}, "minimize: flight.price"
    )
    with pytest.raises(Exception, match="cannot compare"):
        world.open(task)
    problem, data = world.open(
        task_on(BOTH, {"a": "flight.price - 310 >= 10 * hotel.total_price - 2000"}, "minimize: flight.price - 300")
    )
    assert recompute(problem, data) == brute_force(problem, data)


def test_fine_conditions_are_tried_for_each_pair(tmp_path: Path) -> None:
    cars = [(at, at * 37 % 11, at * 7919 % 1000, at % 3 == 0) for at in range(1, 31)]
    world = World(tmp_path, cars=cars)
    task = task_on(
        {"c": "cars", "d": "cars"},
        {"a": "c.price + d.price <= 9", "b": "c.size + 0 <= d.size * 3"},
        "maximize: c.price - 2 * d.size * 0 + d.price".replace("- 2 * d.size * 0 ", ""),
    )
    problem, data = world.open(task)
    assert recompute(problem, data) == brute_force(problem, data)
    with pytest.raises(WorkLimitError, match="more than 100 steps"):
        recompute(problem, data, work_limit=100)


def test_any_optimum_scores_one(world: World) -> None:
    problem, data = world.open(task_on({"car": "cars"}, {}, "minimize: car.price"))
    truth = recompute(problem, data)
    assert truth.values == ((5000, 2), (9000, 1))
    assert truth.plan == Plan.of({"car": "car_1"})
    assert [evaluate(problem, data, Plan.of({"car": offer})).value for offer in ("car_1", "car_2")] == [5000, 5000]


def test_an_unknown_objective_of_a_feasible_plan(world: World) -> None:
    task = task_on({"flight": "flights"}, {"known": "known(flight.seats)"}, "maximize: flight.seats")
    problem, data = world.open(task)
    with pytest.raises(TableError, match="objective of a feasible plan is unknown"):
        recompute(replace(problem, constraints=()), data)


def test_offers_within(world: World) -> None:
    problem, data = world.open(task_on({"car": "cars"}, {}, "minimize: car.price"))
    assert recompute(problem, data, {"car": ["car_3", "car_2", "car_2", "none"]}) == Feasible(
        ((5000, 1), (9000, 1)), Plan.of({"car": "car_2"})
    )


# ---------------------------------------------------------------------------------------------------- claims


class Case:
    """A task with everything that a certificate of it needs."""

    def __init__(self, world: World, task: str) -> None:
        self.manifest = world.manifest
        self.problem, self.data = world.open(task)

    def truth(self) -> Feasible:
        return recompute(self.problem, self.data)

    def certificate(self, claims: dict[str, Any] | None = None, **changes: Any) -> Certificate:
        kind = self.problem.objective.type
        content: dict[str, Any] = {
            "cobench_certificate": 1,
            "version": "0.1.0",
            "task": {"id": self.problem.id, "digest": self.problem.digest},
            "dataset": {
                "name": "tiny",
                "manifest": self.manifest.digest(),
                "tables": self.data.digests,
                "relations": self.data.relation_digests,
            },
            "scope": {},
            "objective": {
                "sense": "maximize" if self.problem.objective.maximize else "minimize",
                "unit": kind.unit,
                "scale": kind.scale,
            },
            "claims": self.claims() if claims is None else claims,
            "evidence": (),
            "digest": "",
        }
        for path, value in changes.items():
            place = content
            *steps, last = path.split("__")
            for step in steps:
                place[step] = dict(place[step])
                place = place[step]
            place[last] = value
        return Certificate.model_validate(content).sealed()

    def claims(self) -> dict[str, Any]:
        """True claims, as plain data."""
        truth = self.truth()
        count = {"at_least": truth.count, "at_most": truth.count, "grade": Grade.PROVED}
        if not truth.values:
            return {"status": {"value": "unsolvable", "grade": Grade.PROVED}, "count": count}
        assert truth.plan is not None
        optimum: dict[str, Any] = {
            "value": truth.values[0][0],
            "tied": truth.values[0][1],
            "plan": truth.plan.written(),
            "grade": Grade.PROVED,
        }
        optimum["plan"] = {"picks": optimum["plan"]}
        if len(truth.values) > 1:
            optimum["runner_up"] = truth.values[1][0]
        return {
            "status": {"value": "solvable", "grade": Grade.PROVED},
            "optimum": optimum,
            "count": count,
            "distribution": {"values": truth.values, "grade": Grade.PROVED},
        }

    def replay(self, certificate: Certificate, **limits: Any) -> Report:
        facts: dict[str, Any] = {"dataset": "tiny", "manifest_digest": self.manifest.digest()}
        return replay(self.problem, self.data, certificate, **{**facts, **limits})


def states(report: Report) -> dict[str, str]:
    return {finding.claim: finding.state for finding in report.findings}


def refuted(report: Report) -> list[tuple[str, str]]:
    return [(finding.claim, finding.detail) for finding in report.refuted]


TIES = task_on({"car": "cars"}, {"small": "car.size < 9"}, "minimize: car.price")
NONE = task_on({"car": "cars"}, {"small": "car.size < 1"}, "minimize: car.price")
PAIRS = task_on({"c": "cars", "d": "cars"}, {"two": "c.car != d.car"}, "maximize: c.price + d.price")


@pytest.fixture
def ties(world: World) -> Case:
    return Case(world, TIES)


@pytest.mark.parametrize("task", [TASK, TIES, NONE, PAIRS])
def test_a_true_certificate_is_proved(world: World, task: str) -> None:
    case = Case(world, task)
    certificate = case.certificate()
    report = case.replay(read_certificate(certificate.to_bytes(), "c.json"))
    assert not report.refuted
    assert set(states(report).values()) == {"confirmed"}
    assert set(grades(certificate, report).values()) == {Grade.PROVED}
    assert not wrong_grades(certificate, report)


@pytest.mark.parametrize(
    ("path", "value", "claim", "words"),
    [
        ("task__id", "t2", "task", "id is t1, the certificate says t2"),
        ("task__digest", "sha256:0", "task", "digest is sha256:"),
        ("dataset__name", "huge", "dataset", "name is tiny, the certificate says huge"),
        ("dataset__manifest", "sha256:0", "dataset", "manifest is sha256:"),
        ("dataset__tables", {"cars": "sha256:0"}, "dataset", "cars is sha256:"),
        ("dataset__tables", {}, "dataset", "the certificate says None"),
        ("dataset__relations", {"serves": "sha256:0"}, "dataset", "serves is None, the certificate says sha256:0"),
        ("objective__sense", "maximize", "objective", "sense is minimize"),
        ("objective__unit", "EUR", "objective", "unit is USD"),
        ("objective__scale", 1, "objective", "scale is 100"),
        ("scope", {"constraints": ["big"]}, "scope", "no constraint 'big'"),
        ("scope", {"within": {"bus": ["car_1"]}}, "scope", "no choice 'bus'"),
        ("scope", {"within": {"car": ["car_2", "car_1"]}}, "scope", "not in the order of their bytes"),
        ("scope", {"within": {"car": ["car_1", "car_1"]}}, "scope", "not in the order of their bytes"),
        ("scope", {"constraints": ["small", "small"]}, "scope", "not in file order, each once"),
        ("scope", {"within": {"car": ["car_1", "car_9"]}}, "scope", "no offer 'car_9'"),
    ],
)
def test_certificates_about_something_else(ties: Case, path: str, value: Any, claim: str, words: str) -> None:
    value = (
        {k: {a: tuple(b) for a, b in v.items()} if isinstance(v, dict) else tuple(v) for k, v in value.items()}
        if path == "scope"
        else value
    )
    certificate = ties.certificate(**{path: value})
    report = ties.replay(certificate)
    (finding,) = report.refuted
    assert finding.claim == claim
    assert words in finding.detail
    assert {states(report)[name] for name in certificate.claims.graded()} == {"not recomputed"}
    assert set(grades(certificate, report).values()) == {Grade.CLAIMED}


def test_scope_that_leaves_the_objective_unguarded_is_refuted(world: World) -> None:
    task = task_on({"flight": "flights"}, {"known": "known(flight.seats)"}, "maximize: flight.seats")
    case = Case(world, task)
    report = case.replay(case.certificate(scope={"constraints": ()}))
    assert "the objective might have no value" in dict(refuted(report))["scope"]


def test_scope_is_honoured(world: World) -> None:
    case = Case(world, TASK)
    scope = {"constraints": ("dates",), "within": {"flight": ("f_A2_DEN", "f_B1")}}
    restricted = case.problem.restrict(["dates"])
    truth = recompute(restricted, case.data, {"flight": ["f_B1", "f_A2_DEN"]})
    assert truth.count == 4
    case.truth = lambda: truth  # type: ignore[method-assign]
    assert not case.replay(case.certificate(scope=scope, dataset__relations={})).refuted
    outside = {"hotel": [{"id": "pkg_c1_8_10_2"}], "flight": [{"id": "f_A1"}]}
    found = refuted(
        case.replay(case.certificate(scope=scope, dataset__relations={}, claims__optimum__plan={"picks": outside}))
    )
    assert dict(found)["witness"].startswith("the pick for flight is not within the scope")


@pytest.mark.parametrize(
    ("path", "value"),
    [
        ("status__value", "unsolvable"),
        ("status__value", "unknown"),
        ("status__reason", "time"),
        ("optimum", None),
        ("optimum__value", 4999),
        ("optimum__value", 5001),
        ("optimum__tied", 1),
        ("optimum__tied", 3),
        ("optimum__tied", 0),
        ("optimum__tied", 4),
        ("optimum__runner_up", None),
        ("optimum__runner_up", 9001),
        ("optimum__runner_up", 5000),
        ("optimum__plan", {"picks": {"car": [{"id": "car_2"}]}}),
        ("optimum__plan", {"picks": {"car": [{"id": "car_3"}]}}),
        ("optimum__plan", {"picks": {"car": [{"id": "car_9"}]}}),
        ("optimum__plan", {"picks": {"car": [{"id": "car_1", "start": 0}]}}),
        ("optimum__plan", {"picks": {"car": [{"id": "car_1"}], "bus": [{"id": "b"}]}}),
        ("optimum__plan", {"picks": {}}),
        ("count__at_least", 4),
        ("count__at_least", -1),
        ("count__at_most", 2),
        ("count__at_most", 4),
        ("count", None),
        ("distribution__values", ((5000, 2),)),
        ("distribution__values", ()),
        ("distribution__values", ((5000, 2), (9000, 2))),
        ("distribution__values", ((5000, 1), (9000, 2))),
        ("distribution__values", ((9000, 1), (5000, 2))),
        ("distribution__values", ((5000, 2), (9000, 1), (9001, 0))),
        ("distribution__values", ((5000, 2), (9001, 1))),
    ],
)
def test_every_changed_claim_is_refuted(ties: Case, path: str, value: Any) -> None:
    certificate = ties.certificate(**{f"claims__{path}": value})
    report = ties.replay(certificate)
    assert report.refuted
    assert Grade.PROVED not in {
        grades(certificate, report)[finding.claim]
        for finding in report.refuted
        if finding.claim in grades(certificate, report)
    }


def test_refutations_say_what_is_true(ties: Case) -> None:
    claims = {
        "status": {"value": "unsolvable", "grade": Grade.PROVED},
        "count": {"at_least": 0, "at_most": 0, "grade": Grade.PROVED},
    }
    assert refuted(ties.replay(ties.certificate(claims))) == [
        ("status", "the task is solvable"),
        ("count", "3 plans are feasible"),
    ]
    found = refuted(ties.replay(ties.certificate(claims__optimum__tied=1)))
    assert found == [
        ("optimum", "tied is 2, the certificate says 1"),
        ("distribution", "it does not begin with the optimum and the runner-up"),
    ]
    plan = {"picks": {"car": [{"id": "car_2"}]}}
    ((claim, detail),) = refuted(ties.replay(ties.certificate(claims__optimum__plan=plan)))
    assert claim == "optimum"
    assert "'car_1'" in detail
    assert "'car_2'" in detail


def test_an_unsolvable_task_claimed_solvable(world: World) -> None:
    case = Case(world, NONE)
    optimum = {"value": 5000, "tied": 1, "plan": {"picks": {"car": [{"id": "car_1"}]}}, "grade": Grade.PROVED}
    claims = {"status": {"value": "solvable", "grade": Grade.PROVED}, "optimum": optimum}
    found = dict(refuted(case.replay(case.certificate(claims))))
    assert found["status"] == "the task is unsolvable"
    assert found["witness"] == "small: car.size is 4, over by 4"
    assert "tied is 0, the certificate says 1" in found["optimum"]
    report = case.replay(case.certificate(claims__count={"at_least": 0, "at_most": 5, "grade": Grade.PROVED}))
    assert refuted(report) == [("count", "it does not fit the status unsolvable")]


def incumbent(
    case: Case, value: int, bound: int, offer: str = "car_3", evidence: tuple[Any, ...] = (), **more: Any
) -> Certificate:
    claim = {"value": value, "bound": bound, "plan": {"picks": {"car": [{"id": offer}]}}, "grade": Grade.PROVED}
    claims = {"status": {"value": "solvable", "grade": Grade.PROVED}, "incumbent": claim, **more}
    return case.certificate(claims, evidence=evidence)


def test_incumbents(ties: Case) -> None:
    assert not ties.replay(incumbent(ties, 9000, 4000)).refuted
    assert not ties.replay(incumbent(ties, 9000, 5000)).refuted
    assert refuted(ties.replay(incumbent(ties, 9000, 5001))) == [
        ("incumbent", "the optimum 5000 is better than the bound")
    ]
    assert dict(refuted(ties.replay(incumbent(ties, 5000, 5001, "car_1"))))["incumbent"].startswith(
        "the value is better"
    )
    wrong = "its plan has the value 9000, the certificate says 8999"
    assert refuted(ties.replay(incumbent(ties, 8999, 4000))) == [("witness", wrong), ("incumbent", wrong)]
    count = {"at_least": 1, "at_most": 10, "grade": Grade.PROVED}
    report = ties.replay(incumbent(ties, 9000, 4000, count=count))
    assert set(states(report).values()) == {"confirmed"}
    distribution = {"values": ((5000, 2), (9000, 1)), "grade": Grade.PROVED}
    exact = {"at_least": 3, "at_most": 3, "grade": Grade.PROVED}
    found = refuted(ties.replay(incumbent(ties, 9000, 4000, count=exact, distribution=distribution)))
    assert found == [("distribution", "it does not begin with the optimum and the runner-up")]


@pytest.mark.parametrize(
    ("claims", "found"),
    [
        ({"status": {"reason": "time"}}, []),
        ({"status": {}}, ["status"]),
        ({"status": {"reason": "time"}, "count": {"at_least": 0, "at_most": 9}}, []),
        ({"status": {"reason": "time"}, "count": {"at_least": 1, "at_most": 9}}, ["count"]),
        ({"status": {"reason": "time"}, "count": {"at_least": 0, "at_most": 0}}, ["count"]),
        ({"status": {"reason": "time"}, "distribution": {"values": ((5000, 2), (9000, 1))}}, ["distribution"]),
    ],
)
def test_unknown_claims_nothing_and_is_never_upgraded(ties: Case, claims: dict[str, Any], found: list[str]) -> None:
    graded = {name: {**claim, "grade": Grade.CLAIMED} for name, claim in claims.items()}
    graded["status"]["value"] = "unknown"
    evidence = tuple({**answer(engine, "unknown"), "reason": "time"} for engine in ("scan", "cpsat"))
    certificate = ties.certificate(graded, evidence=evidence)
    report = ties.replay(certificate)
    assert [name for name, _ in refuted(report)] == found
    assert grades(certificate, report)["status"] == Grade.CLAIMED
    if not found:
        assert states(report)["status"] == "not recomputed"


def answer(engine: str, status: str, value: int | None = None, count: int | None = None) -> dict[str, Any]:
    found = {"engine": engine, "version": "1", "parameters": {}, "status": status, "value": value, "count": count}
    return {key: item for key, item in found.items() if item is not None}


def test_beyond_the_limit_nothing_is_recomputed_but_the_witness(world: World) -> None:
    case = Case(world, PAIRS)
    evidence = (answer("scan", "optimal", 14000, 6), answer("cpsat", "optimal", 14000))
    certificate = case.certificate(evidence=evidence)
    report = case.replay(certificate, work_limit=3)
    assert not report.refuted
    assert states(report)["status"] == "confirmed"
    assert states(report)["witness"] == "confirmed"
    assert [finding.detail for finding in report.findings if finding.state == "not recomputed"] == [
        "it takes more than 3 steps"
    ] * 3
    assert grades(certificate, report) == {
        "status": Grade.PROVED,
        "optimum": Grade.AGREED,
        "count": Grade.CLAIMED,
        "distribution": Grade.CLAIMED,
    }
    assert [(finding.claim, finding.detail) for finding in wrong_grades(certificate, report)] == [
        ("optimum", "the grade must be agreed, the certificate says proved"),
        ("count", "the grade must be claimed, the certificate says proved"),
        ("distribution", "the grade must be claimed, the certificate says proved"),
    ]
    twice = (answer("scan", "optimal", 14000, 6), answer("scan", "optimal", 14000, 6))
    assert grades(case.certificate(evidence=twice), report)["optimum"] == Grade.CLAIMED
    counted = (*evidence, answer("mip", "feasible", 14000, 6))
    assert grades(case.certificate(evidence=counted), report)["count"] == Grade.AGREED
    false_plan = {"picks": {"c": [{"id": "car_1"}], "d": [{"id": "car_1"}]}}
    worse = case.certificate(evidence=evidence, claims__optimum__plan=false_plan)
    report = case.replay(worse, work_limit=3)
    assert [claim for claim, _ in refuted(report)] == ["witness", "optimum"]
    assert states(report)["status"] == "not recomputed"
    assert set(grades(worse, report).values()) == {Grade.CLAIMED}


def test_contradictions_are_seen_beyond_the_limit(world: World) -> None:
    case = Case(world, PAIRS)
    changes: list[tuple[str, Any]] = [
        ("optimum__tied", 7),
        ("optimum__tied", 6),
        ("optimum__runner_up", None),
        ("optimum__runner_up", 14001),
        ("count__at_least", 5),
        ("count__at_least", 7),
        ("optimum__value", 13999),
        ("count", None),
        ("distribution__values", ((14000, 4), (9999, 2))),
        ("distribution__values", ()),
    ]
    for path, value in changes:
        assert case.replay(case.certificate(**{f"claims__{path}": value}), work_limit=3).refuted, (path, value)


def test_unsolvable_can_be_agreed(world: World) -> None:
    case = Case(world, task_on({"c": "cars", "d": "cars"}, {"no": "c.car + d.car > 6"}, "minimize: c.price"))
    evidence = (answer("scan", "infeasible", count=0), answer("cpsat", "infeasible"))
    certificate = case.certificate(evidence=evidence)
    report = case.replay(certificate, work_limit=1)
    assert states(report)["status"] == "not recomputed"
    assert grades(certificate, report) == {"status": Grade.AGREED, "count": Grade.AGREED}


@pytest.mark.parametrize(
    ("entry", "words"),
    [
        (answer("scan", "infeasible"), "scan answered infeasible"),
        (answer("scan", "optimal", 4999), "scan answered the value 4999"),
        (answer("scan", "optimal", 9000), "scan answered the value 9000"),
        (answer("scan", "feasible", 4999), "scan answered the value 4999"),
        (answer("scan", "optimal", 5000, 4), "scan answered the count 4"),
        (answer("scan", "feasible", 9000, 1), ""),
        (answer("scan", "unknown"), ""),
    ],
)
def test_evidence_against_the_claims(ties: Case, entry: dict[str, Any], words: str) -> None:
    assert refuted(ties.replay(ties.certificate(evidence=(entry,)))) == ([("evidence", words)] if words else [])


def test_large_counts_are_written_as_text(tmp_path: Path) -> None:
    cars = [(at, 1, 100, True) for at in range(1, 1001)]
    case = Case(World(tmp_path, cars=cars), task_on(dict.fromkeys("abcdef", "cars"), {}, "minimize: a.price"))
    count = str(10**18)
    claims = case.claims()
    claims["optimum"]["tied"] = claims["count"]["at_least"] = claims["count"]["at_most"] = count
    claims["distribution"]["values"] = ((100, count),)
    assert not case.replay(case.certificate(claims)).refuted
    claims["count"]["at_most"] = str(10**18 + 1)
    assert case.replay(case.certificate(claims)).refuted


def test_reports_are_the_same_twice(world: World) -> None:
    case = Case(world, TASK)
    again = Case(world, TASK)
    assert case.replay(case.certificate()) == again.replay(again.certificate())


@pytest.mark.parametrize(("tied", "high"), [(0, None), (0, 9), (7, 6)])
def test_impossible_numbers_of_ties_are_refuted_without_recomputing(world: World, tied: int, high: int | None) -> None:
    case = Case(world, PAIRS)
    claims = {name: claim for name, claim in case.claims().items() if name in ("status", "optimum")}
    claims["optimum"]["tied"] = tied
    if high is not None:
        claims["count"] = {"at_least": 0, "at_most": high, "grade": Grade.PROVED}
    report = case.replay(case.certificate(claims), work_limit=3)
    assert refuted(report) == [("optimum", "as many plans cannot be tied")]


def test_a_kind_of_claim_that_the_checker_does_not_know_is_never_confirmed(
    ties: Case, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr(checker, "_CHECKED", ("status", "optimum", "count"))
    certificate = ties.certificate()
    report = ties.replay(certificate)
    assert states(report)["distribution"] == "not recomputed"
    assert grades(certificate, report)["distribution"] == Grade.CLAIMED


@pytest.mark.parametrize("given", [None, "time"])
def test_a_reason_is_one_that_an_engine_gave(ties: Case, given: str | None) -> None:
    claims = {"status": {"value": "unknown", "reason": "memory", "grade": Grade.CLAIMED}}
    entry = {**answer("scan", "unknown"), **({"reason": given} if given else {})}
    assert refuted(ties.replay(ties.certificate(claims, evidence=(entry,)))) == [
        ("status", "no engine gives this reason")
    ]
    entry["reason"] = "memory"
    assert not ties.replay(ties.certificate(claims, evidence=(entry,))).refuted


def test_an_incumbent_that_reaches_its_bound_can_be_agreed(world: World) -> None:
    case = Case(world, PAIRS)
    plan = {"picks": {"c": [{"id": "car_1"}], "d": [{"id": "car_3"}]}}
    claims = {
        "status": {"value": "solvable", "grade": Grade.PROVED},
        "incumbent": {"value": 14000, "bound": 14000, "plan": plan, "grade": Grade.AGREED},
    }
    evidence = (answer("cpsat", "optimal", 14000), answer("mip", "optimal", 14000))
    certificate = case.certificate(claims, evidence=evidence)
    report = case.replay(certificate, work_limit=3)
    assert not report.refuted
    assert not wrong_grades(certificate, report)
    assert grades(certificate, case.replay(certificate))["incumbent"] == Grade.PROVED
    for changed in (
        case.certificate(claims, evidence=(answer("cpsat", "optimal", 14000), answer("mip", "feasible", 14000))),
        case.certificate(claims, evidence=evidence, claims__incumbent__bound=14001),
        case.certificate(claims, evidence=evidence[:1]),
    ):
        assert grades(changed, case.replay(changed, work_limit=3))["incumbent"] == Grade.CLAIMED


@pytest.mark.parametrize(
    ("entry", "odd"),
    [
        (answer("scan", "optimal", 4999), False),
        (answer("scan", "optimal", 3999), True),
        (answer("scan", "feasible", 3999), True),
        (answer("scan", "optimal", 9001), True),
        (answer("scan", "feasible", 9001), False),
    ],
)
def test_evidence_against_an_incumbent(ties: Case, entry: dict[str, Any], odd: bool) -> None:
    found = refuted(ties.replay(incumbent(ties, 9000, 4000, evidence=(entry,))))
    assert found == [("evidence", f"scan answered the value {entry['value']}")] * odd


# ---------------------------------------------------------------------------------------------------- conflicts


def violated(problem: Problem, data: Data) -> Iterator[tuple[Plan, dict[str, Any]]]:
    """Every plan, and the constraints that it violates with the amounts by which."""
    aimless = replace(problem, objective=replace(problem.objective, expr=disputed._NOTHING))
    offers = [[data.id(table, row) for row in data.offers(table).values()] for table in problem.choices.values()]
    for ids in itertools.product(*offers):
        plan = Plan.of(dict(zip(problem.choices, ids, strict=True)))
        yield plan, {item.constraint: item.amount for item in evaluate(aimless, data, plan).violations}


def thresholds(problem: Problem) -> list[str]:
    return [
        item.name
        for item in problem.constraints
        if isinstance(item.condition, ex.Compare)
        if item.condition.left.type.kind == "number" and item.condition.op not in ("==", "!=")
    ]


def explained(problem: Problem, data: Data) -> dict[str, Any]:
    """The true claim about the conflicts of an unsolvable task, by looking at all sets and all plans."""
    names, plans = [item.name for item in problem.constraints], list(violated(problem, data))
    subsets = [set(some) for size in range(len(names) + 1) for some in itertools.combinations(names, size)]

    def in_order(subset: Any) -> Any:
        return len(subset), sorted(map(names.index, subset))

    apart = [subset for subset in subsets if not any(subset.isdisjoint(wrong) for _, wrong in plans)]
    conflicts = [subset for subset in apart if not any(other < subset for other in apart)]
    helping = {frozenset(wrong) for _, wrong in plans}
    corrections: list[tuple[Any, int, dict[str, Any]]] = []
    for given_up in (subset for subset in helping if not any(other < subset for other in helping)):
        found = [(plan, wrong) for plan, wrong in plans if given_up == set(wrong)]
        moved = False
        for name in (name for name in thresholds(problem) if name in given_up):
            if known := [(wrong[name], plan) for plan, wrong in found if wrong[name] is not None]:
                amount, plan = min(known, key=lambda pair: pair[0])
                drop = tuple(other for other in names if other in given_up - {name})
                move = {"constraint": name, "amount": amount}
                corrections.append((in_order(given_up), amount, {"drop": drop, "move": move, "plan": plan}))
                moved = True
        if not moved:
            drop = tuple(name for name in names if name in given_up)
            corrections.append((in_order(given_up), 0, {"drop": drop, "plan": found[0][0]}))
    corrections.sort(key=lambda entry: entry[:2])
    return {
        "conflicts": tuple(tuple(sorted(item, key=names.index)) for item in sorted(conflicts, key=in_order)),
        "corrections": tuple(correction for _, _, correction in corrections),
        "complete": True,
        "grade": Grade.PROVED,
    }


def told(case: Case, claim: dict[str, Any], **limits: Any) -> str:
    """What the checker finds wrong with the conflicts of an unsolvable task; empty if nothing."""
    certificate = case.certificate({**UNSOLVABLE, "conflicts": claim})
    report = case.replay(certificate, **limits)
    assert {name for name, _ in refuted(report)} <= {"conflicts"}
    if not report.refuted:
        assert states(report)["conflicts"] == "confirmed"
        assert not wrong_grades(certificate, report)
    return dict(refuted(report)).get("conflicts", "")


UNSOLVABLE = {
    "status": {"value": "unsolvable", "grade": Grade.PROVED},
    "count": {"at_least": 0, "at_most": 0, "grade": Grade.PROVED},
}
ALL = {"big": "car.size >= 7", "cheap": "car.price <= 60", "electric": "car.electric"}
TWO = (("big", "cheap"), ("big", "electric"))
BIG: dict[str, Any] = {
    "drop": (),
    "move": {"constraint": "big", "amount": 3},
    "plan": {"picks": {"car": [{"id": "car_1"}]}},
}
DEAR: dict[str, Any] = {
    "drop": ("electric",),
    "move": {"constraint": "cheap", "amount": 3000},
    "plan": {"picks": {"car": [{"id": "car_3"}]}},
}


@pytest.fixture
def conflict(world: World) -> Case:
    return Case(world, task_on({"car": "cars"}, ALL, "minimize: car.price"))


def why(conflicts: Any = TWO, corrections: Any = (BIG, DEAR), complete: bool = True) -> dict[str, Any]:
    return {"conflicts": conflicts, "corrections": corrections, "complete": complete, "grade": Grade.PROVED}


def changed(correction: dict[str, Any], move: dict[str, Any] | None = None, **changes: Any) -> dict[str, Any]:
    return {**correction, **changes, **({} if move is None else {"move": {**correction["move"], **move}})}


def plan_of(offer: str) -> dict[str, Any]:
    return {"picks": {"car": [{"id": offer}]}}


def test_true_conflicts_are_proved(conflict: Case) -> None:
    claim = explained(conflict.problem, conflict.data)
    assert claim["conflicts"] == TWO
    assert [item["move"] for item in claim["corrections"]] == [BIG["move"], DEAR["move"]]
    assert told(conflict, claim) == told(conflict, why()) == ""
    assert told(conflict, why(TWO[:1], (DEAR,), complete=False)) == ""
    assert told(conflict, why((), (), complete=False)) == ""


@pytest.mark.parametrize(
    ("claim", "words"),
    [
        (why((("big", "cheap"), ("big", "pool"))), "[big, pool] are not names of constraints in file order, each once"),
        (why((("cheap", "big"), TWO[1])), "[cheap, big] are not names of constraints in file order"),
        (why((("big", "big"), *TWO)), "[big, big] are not names of constraints in file order"),
        (why(TWO[::-1]), "the conflicts are not in order"),
        (why((TWO[0], *TWO)), "the conflicts are not in order"),
        (why((("big", "cheap", "electric"), TWO[0]), complete=False), "the conflicts are not in order"),
        (
            why((("big", "cheap", "electric"),), complete=False),
            "[big, cheap, electric]: without cheap there is no plan",
        ),
        (why((("big",),), complete=False), "[big]: a plan satisfies them together"),
        (why(((),), ()), "[]: a plan satisfies them together"),
        (why(TWO[:1]), "there are other conflicts or corrections"),
        (why(TWO, (BIG,)), "there are other conflicts or corrections"),
        (why((), ()), "there are other conflicts or corrections"),
        (why(corrections=(DEAR, BIG)), "the corrections are not in order"),
        (why(corrections=(BIG, BIG, DEAR)), "the corrections are not in order, each once"),
        (why(corrections=(changed(BIG, {"constraint": "pool"}), DEAR)), "'pool' is no constraint, or dropped already"),
        (why(corrections=(BIG, changed(DEAR, drop=("cheap",)))), "'cheap' is no constraint, or dropped already"),
        (why(corrections=(BIG, changed(DEAR, drop=("pool",)))), "[pool] are not names of constraints"),
        (why(corrections=(changed(BIG, {"amount": 2}), DEAR)), "[big]: its plan does not miss big by 2"),
        (why(corrections=(changed(BIG, {"amount": 2}), DEAR)), "[big]: the least amount for big is 3, not 2"),
        (why(corrections=(changed(BIG, {"amount": 4}), DEAR)), "[big]: the least amount for big is 3, not 4"),
        (
            why(corrections=(BIG, changed(DEAR, plan=plan_of("car_1")))),
            "[electric, cheap]: big: car.size is 4, under by 3",
        ),
        (why(corrections=(BIG, changed(DEAR, plan=plan_of("car_9")))), "car: 'car_9' is no offer of 'cars'"),
        (why(corrections=(BIG, changed(DEAR, plan={"picks": {}}))), "car: no offers are picked, one is needed"),
        (
            why(corrections=(BIG, {"drop": ("cheap", "electric"), "plan": plan_of("car_3")})),
            "[cheap, electric]: cheap can be moved; a correction that moves cheap lacks",
        ),
        (
            why(corrections=(BIG, changed(DEAR, {"constraint": "electric", "amount": 1}, drop=("cheap",)))),
            "[cheap, electric]: the least amount for electric is None, not 1; a correction that moves cheap lacks",
        ),
        (
            why(TWO[:1], (changed(BIG, drop=("electric",)), DEAR), complete=False),
            "[electric, big]: electric need not be given up",
        ),
        (
            why((), ({"drop": ("big", "cheap", "electric"), "plan": plan_of("car_1")},), complete=False),
            "[big, cheap, electric]: cheap need not be given up",
        ),
    ],
)
def test_every_changed_conflict_is_refuted(conflict: Case, claim: dict[str, Any], words: str) -> None:
    assert words in told(conflict, claim)


def test_conflicts_of_tasks_that_are_not_unsolvable(ties: Case) -> None:
    claim = {"conflicts": (), "corrections": (), "complete": False, "grade": Grade.PROVED}
    assert refuted(ties.replay(ties.certificate({**ties.claims(), "conflicts": claim}))) == [
        ("conflicts", "a task of status solvable has none")
    ]
    report = ties.replay(ties.certificate({**UNSOLVABLE, "conflicts": claim}))
    assert dict(refuted(report))["conflicts"] == "a plan satisfies all constraints"
    unknown = {"status": {"value": "unknown", "reason": "time", "grade": Grade.CLAIMED}, "conflicts": claim}
    evidence = ({**answer("scan", "unknown"), "reason": "time"},)
    assert refuted(ties.replay(ties.certificate(unknown, evidence=evidence))) == [
        ("conflicts", "a task of status unknown has none")
    ]


def test_an_objective_without_its_guard_plays_no_role(world: World) -> None:
    guarded = {"guard": "known(flight.seats)", "stop": "not flight.direct"}
    case = Case(world, task_on({"flight": "flights"}, guarded, "maximize: flight.seats"))
    claim = explained(case.problem, case.data)
    assert claim["conflicts"] == (("guard", "stop"),)
    assert [item["drop"] for item in claim["corrections"]] == [("guard",), ("stop",)]
    assert told(case, claim) == ""


def test_a_threshold_is_moved_only_where_its_sides_are_known(world: World) -> None:
    case = Case(
        world,
        task_on(
            {"flight": "flights"}, {"stop": "not flight.direct", "seats": "flight.seats >= 1"}, "minimize: flight.price"
        ),
    )
    claim = explained(case.problem, case.data)
    assert [("move" in item, item["drop"]) for item in claim["corrections"]] == [
        (False, ("stop",)),
        (False, ("seats",)),
    ]
    assert told(case, claim) == ""


@pytest.mark.parametrize(
    ("condition", "amount"),
    [
        ("car.size > 7", 1),
        ("car.size >= 8", 1),
        ("4 > car.size", 1),
        ("car.size <= 1", 3),
        ("10 < car.size + guests", 1),
        ("0 * car.size + guests >= 5", 2),
        ("car.size == 6", None),
        ("4 < car.size < 5", None),
        ("car.size < 0 or car.electric and not car.electric", None),
        ("max(2 * car.size, 4 - car.size) < 5", 4),
    ],
)
def test_only_a_comparison_of_numbers_can_be_moved(world: World, condition: str, amount: int | None) -> None:
    case = Case(world, task_on({"car": "cars"}, {"a": condition}, "minimize: car.price"))
    claim = explained(case.problem, case.data)
    (correction,) = claim["corrections"]
    assert correction.get("move") == (None if amount is None else {"constraint": "a", "amount": amount})
    assert claim["conflicts"] == (("a",),)
    assert told(case, claim) == ""


def test_a_task_without_offers_has_the_empty_conflict(tmp_path: Path) -> None:
    case = Case(World(tmp_path, cars=[]), task_on({"car": "cars"}, ALL, "minimize: car.price"))
    assert explained(case.problem, case.data) == why(((),), ())
    assert told(case, why(((),), ())) == ""
    assert "without big there is no plan either" in told(case, why((("big",),), ()))
    assert told(case, why((), ())) == "there are other conflicts or corrections"


def test_conflicts_within_a_scope(world: World) -> None:
    case = Case(world, task_on({"car": "cars"}, ALL, "minimize: car.price"))
    scope = {"constraints": ("big", "cheap"), "within": {"car": ("car_1", "car_3")}}
    move = {"constraint": "cheap", "amount": 3000}
    last = {"drop": (), "move": move, "plan": plan_of("car_3")}
    for plan, words in [("car_1", []), ("car_2", ["[big]: the pick for car is not within the scope"])]:
        claim = why(
            (("big", "cheap"),), ({**BIG, "move": {"constraint": "big", "amount": 3}, "plan": plan_of(plan)}, last)
        )
        report = case.replay(case.certificate({**UNSOLVABLE, "conflicts": claim}, scope=scope))
        assert [detail.split(";")[0] for _, detail in refuted(report)] == words
    claim = why(TWO, (BIG, last))
    report = case.replay(case.certificate({**UNSOLVABLE, "conflicts": claim}, scope=scope))
    assert "[big, electric] are not names" in dict(refuted(report))["conflicts"]


@pytest.mark.parametrize("more", [15, 16])
def test_completeness_is_checked_for_16_names(world: World, more: int) -> None:
    conditions = {"big": "car.size > 7"} | {f"a{at}": f"car.size > {at % 4}" for at in range(more)}
    case = Case(world, task_on({"car": "cars"}, conditions, "minimize: car.price"))
    correction = {"drop": (), "move": {"constraint": "big", "amount": 1}, "plan": plan_of("car_3")}
    claim = why((("big",),), (correction,))
    certificate = case.certificate({**UNSOLVABLE, "conflicts": claim})
    (finding,) = (item for item in case.replay(certificate).findings if item.claim == "conflicts")
    assert finding.state == ("confirmed" if more == 15 else "not recomputed")
    if more == 16:
        assert finding.detail == "whether there are others is found out for at most 16 constraints"
        assert told(case, {**claim, "complete": False}) == ""
        assert "not miss big by 2" in told(case, why((("big",),), (changed(correction, {"amount": 2}),)))


def test_conflicts_beyond_the_limit_of_work(conflict: Case) -> None:
    certificate = conflict.certificate({**UNSOLVABLE, "conflicts": why()})
    report = conflict.replay(certificate, work_limit=2)
    assert not report.refuted
    (finding,) = (item for item in report.findings if item.claim == "conflicts")
    assert (finding.state, finding.detail) == ("not recomputed", "it takes more than 2 steps")
    assert grades(certificate, report)["conflicts"] == Grade.CLAIMED
    wrong = why(corrections=(changed(BIG, plan=plan_of("car_9")), DEAR))
    report = conflict.replay(conflict.certificate({**UNSOLVABLE, "conflicts": wrong}), work_limit=2)
    assert "no offer of 'cars'" in dict(refuted(report))["conflicts"]


def test_conflicts_that_hold_prove_that_there_is_no_plan(tmp_path: Path) -> None:
    cars = [(at, at * 37 % 11, at * 7919 % 1000, at % 3 == 0) for at in range(1, 31)]
    conditions = {"dear": "c.price + d.price >= 100", "small": "c.size + d.size <= 9"}
    case = Case(
        World(tmp_path, cars=cars), task_on({"c": "cars", "d": "cars"}, conditions, "minimize: c.price - d.price")
    )
    claim = explained(case.problem, case.data)
    with pytest.raises(WorkLimitError, match="more than 400 steps"):
        recompute(case.problem, case.data, work_limit=400)
    assert told(case, claim, work_limit=400) == ""


CONDITIONS = [
    *ATOMS,
    "c.electric",
    "d.size > 3",
    "e.price <= 40",
    "c.size + d.size > e.size + 4",
    "d.electric and d.price < 50",
    "c.price + d.price + e.price >= 180",
    "min(c.size, d.size) >= max(e.size, 2)",
    "3 >= c.size - d.size + 2 * e.size",
    "c.size < 2 and d.size < e.size",
    "known(d.electric) and c.price <= 30",
]


def random_case(folder: Path, seed: int) -> Case:
    chance = random.Random(seed)  # noqa: S311
    cars = [
        (at, chance.randint(1, 5), chance.randint(1, 9) * 10, chance.choice([True, False, None])) for at in range(1, 5)
    ]
    choose = dict.fromkeys(chance.sample("cde", 3), "cars")
    conditions = {f"a{at}": text for at, text in enumerate(chance.sample(CONDITIONS, chance.randint(4, 7)))}
    return Case(World(folder, cars=cars), task_on(choose, conditions, chance.choice(GOALS)))


@pytest.mark.parametrize("seed", range(16))
def test_questions_about_all_sets_equal_brute_force(tmp_path: Path, seed: int) -> None:
    case = random_case(tmp_path, seed)
    plans = [wrong for _, wrong in violated(case.problem, case.data)]
    names = [item.name for item in case.problem.constraints]
    ask = disputed._Questions(case.problem, case.data, {}, whole.Work(10**9))
    assert sorted(ask.misses) == sorted(thresholds(case.problem))
    subsets = [asked for size in range(len(names) + 1) for asked in itertools.combinations(names, size)]
    random.Random(seed).shuffle(subsets)  # noqa: S311  what is known of one set must not depend on the order
    for asked in subsets:
        fitting = [wrong for wrong in plans if not wrong.keys() & set(asked)]
        assert ask.exists(ask.mask(asked)) == bool(fitting)
        for name in ask.misses:
            missed = [wrong[name] for wrong in fitting if wrong.get(name) is not None]
            if len(missed) == len(fitting):  # where a plan satisfies it too, how far it does so is not in `plans`
                assert ask.least(ask.mask(asked), ask.misses[name]) == min(missed, default=None)


@pytest.mark.parametrize("seed", range(24))
def test_conflicts_of_random_tasks(tmp_path: Path, seed: int) -> None:
    case = random_case(tmp_path, seed)
    if any(not wrong for _, wrong in violated(case.problem, case.data)):
        assert recompute(case.problem, case.data) != Feasible((), None)
        return
    claim = explained(case.problem, case.data)
    assert told(case, claim) == ""
    conflicts, corrections = claim["conflicts"], claim["corrections"]
    wrong: list[dict[str, Any]] = []
    for at, names in enumerate(conflicts):
        wrong.append(why(conflicts[:at] + conflicts[at + 1 :], corrections))
        wrong += [why((tuple(set(names) - {name}),), (), complete=False) for name in names]
    for at, item in enumerate(corrections):
        before, after = corrections[:at], corrections[at + 1 :]
        wrong.append(why(conflicts, before + after))
        if "move" in item:
            others = [{**item, "move": {**item["move"], "amount": item["move"]["amount"] + by}} for by in (-1, 1)]
            given_up = sorted([*item["drop"], item["move"]["constraint"]])
            others.append({"drop": tuple(given_up), "plan": item["plan"]})
            wrong += [why((), (other,), complete=False) for other in others]
    some = random.Random(seed).sample(wrong, min(len(wrong), 12))  # noqa: S311
    assert all(told(case, claim) for claim in some)
