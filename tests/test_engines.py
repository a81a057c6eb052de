"""The engines that cross-check each other: what trying every plan gives, or no answer; and engines that lie or die."""

from __future__ import annotations

import os
import random
import signal
import subprocess
import sys
import threading
import time
from collections import Counter
from collections.abc import Callable
from importlib import import_module
from pathlib import Path
from typing import Any

import pulp
import pytest
from cobench.cli import run
from cobench.datasets.opening import open_dataset
from cobench.schemas.certificate import Grade
from cobench.schemas.errors import Disagreement
from cobench.schemas.problem import pose
from cobench.schemas.task import load_task
from cobench.solver import certify as certifying
from cobench.solver import cpsat, isolate, mip, scan
from cobench.solver.certify import certify
from cobench.solver.checker import check
from cobench.solver.checker import replay as checker
from cobench.solver.isolate import Answer, Running
from cobench.solver.model import Linear, Model, Row
from cobench.solver.outcome import Limits, Outcome, Reason, Status
from cobench.solver.program import Program, program
from cobench.solver.reduce import cheapest, reduced
from cobench.solver.scan import Survey
from hypothesis import event, given
from hypothesis import strategies as st
from ortools.sat.python import cp_model_helper

from .models import (
    THOROUGH,
    Conflicting,
    best_value,
    canonical_rows,
    cents,
    corpus,
    everything,
    feasible_plans,
    hard,
    knapsack,
    one_budget,
    random_knapsack,
    rows_of,
)
from .test_model import RandomModel, choice, ints

# PuLP 3.3 announces what PuLP 4 will do otherwise; setup.cfg pins PuLP below 4.
pytestmark = pytest.mark.filterwarnings("ignore:.*PuLP 4:DeprecationWarning")

TASKS = Path(__file__).resolve().parent / "certificates" / "tasks"
PARKS = Path(__file__).resolve().parent.parent / "tasks" / "parks"


def brute(model: Model, limits: Limits) -> Outcome:
    """The engine that nobody doubts."""
    plans = feasible_plans(model)
    best = min(plans, key=model.objective.value, default=None)
    if best is None:
        return Outcome(Status.INFEASIBLE)
    return Outcome(Status.OPTIMAL, best, model.objective.value(best), model.objective.value(best))


Engine = Callable[[Model, Limits], Outcome]
ENGINES: dict[str, Engine] = {"scan": scan.solve, "cpsat": cpsat.solve, "mip": mip.solve, "brute": brute}
OTHERS = {name: ENGINES[name] for name in isolate.ENGINES}
every_engine = pytest.mark.parametrize("engine", ENGINES)
other_engines = pytest.mark.parametrize("engine", OTHERS)


def expect_truth(found: Outcome, model: Model, best: int | None) -> None:
    """The outcome is the truth, or says that the engine declined."""
    if found.status is Status.UNKNOWN:
        assert found.reason is Reason.RANGE
    elif found.status is Status.INFEASIBLE:
        assert best is None
    else:
        assert (found.status, found.best) == (Status.OPTIMAL, best)
        assert model.feasible(found.plan, range(len(model.names)))
        assert model.objective.value(found.plan) == best


# ------------------------------------------------------------------------------------------------ answers are true


def random_model(seed: int) -> Model:
    rng = random.Random(seed)  # noqa: S311
    return everything((RandomModel if seed % 3 else Conflicting)(rng).model())


@every_engine
@given(seed=st.integers(0, 2**32))
def test_an_engine_gives_the_best_value_or_says_why_not(engine: str, seed: int) -> None:
    model = random_model(seed)
    found = ENGINES[engine](model, Limits())
    event(f"{found.status} {found.reason or ''}")
    expect_truth(found, model, best_value(model))
    small = all(abs(bound) < 10**6 for bound in model.objective.bounds()) and not any(
        abs(bound) > 10**6 for row in model.rows for bound in row.linear.bounds()
    )
    assert found.reason is None or not small, "only large numbers are declined"


@every_engine
@given(seed=st.integers(0, 2**32))
def test_an_engine_gives_the_same_on_a_reduced_model(engine: str, seed: int) -> None:
    model = random_model(seed)
    less = reduced(model)
    found = ENGINES[engine](less, Limits())
    expect_truth(found, less, best_value(model))


@given(st.integers(0, 2**32))
def test_reduction_keeps_the_best_value_and_the_canonical_plan(seed: int) -> None:
    model, rng = random_model(seed), random.Random(seed)  # noqa: S311
    ranks = [rng.sample(range(10), 6) for _ in model.choices]
    less = reduced(model, lambda part, place: ints(*(ranks[place][row] for row in part.choices[place].rows)))
    event(f"{sum(map(len, less.choices)) < sum(map(len, model.choices))}")
    assert best_value(less) == best_value(model)
    assert canonical_rows(less, ranks) == canonical_rows(model, ranks)
    assert {rows_of(less, plan) for plan in feasible_plans(less)} <= {
        rows_of(model, plan) for plan in feasible_plans(model)
    }


@given(st.integers(0, 2**32))
def test_one_row_for_alike_rows_keeps_what_can_be_had(seed: int) -> None:
    rng = random.Random(seed)  # noqa: S311
    model = Conflicting(rng).model() if seed % 2 else RandomModel(rng).model()
    less = cheapest(Model(model.names, model.choices, model.rows, model.links, model.tables, Linear({}, (), 0), False))
    event(f"{sum(map(len, less.choices)) < sum(map(len, model.choices))}")
    for subset in range(2 ** len(model.names)):
        names = [number for number in range(len(model.names)) if subset >> number & 1]
        assert bool(feasible_plans(less, names)) == bool(feasible_plans(model, names)), names


def test_reduction_of_choices_without_rows() -> None:
    model = Model((), (choice("a", 3), choice("b", 0)), (), (), (), Linear({0: ints(1, 2, 3)}, (), 0), False)
    assert not feasible_plans(reduced(model))
    for solve in ENGINES.values():
        assert solve(reduced(model), Limits()) == solve(model, Limits()) == Outcome(Status.INFEASIBLE)


# --------------------------------------------------------------------------------------------------- large numbers


@pytest.mark.parametrize(("engine", "fits", "too_large"), [("cpsat", 2**30, 2**31), ("mip", 10**9, 10**9 + 1)])
@pytest.mark.parametrize("where", ["row", "objective"])
def test_cpsat_row_total_limit(engine: str, fits: int, too_large: int, where: str) -> None:
    """An engine declines numbers beyond those for which it was found to be right. Also HiGHS, by the largest one."""
    for number, expected in ((fits - 1, Status.OPTIMAL), (too_large, Status.UNKNOWN)):
        wide = Linear({0: ints(0, number), 1: ints(0, 1)}, (), 0)
        small = Linear({0: ints(0, -1), 1: ints(0, -1)}, (), 0)
        row, objective = (wide, small) if where == "row" else (small, wide)
        limit = 1 if where == "row" else 0
        rows = (Row(0, Linear(row.columns, (), -limit)),)
        model = Model(("k",), (choice("a", 2), choice("b", 2)), rows, (), (), objective, False)
        found = OTHERS[engine](model, Limits())
        assert found.status is expected
        assert found.reason is (Reason.RANGE if expected is Status.UNKNOWN else None)


def test_what_every_plan_has_in_common_is_no_large_number() -> None:
    """Prices of 2^40 that differ by one, and multiples of 2^40, are small numbers once shrunk."""
    near = Linear({0: ints(2**40, 2**40 + 1), 1: ints(2**40, 2**40 + 1)}, (), -(2**41) - 1)
    multiples = Linear({0: ints(0, -(2**40)), 1: ints(0, -3 * 2**40)}, (), 0)
    rows = (Row(0, near),)
    model = Model(("k",), (choice("a", 2), choice("b", 2)), rows, (), (), multiples, False)
    for solve in ENGINES.values():
        assert solve(model, Limits()).best == -3 * 2**40


def test_wrong_optimal_corpus(shared: Path) -> None:
    """The instances on which CP-SAT was seen to claim a wrong optimum: now it is right, or declines."""
    said: Counter[str] = Counter()
    for instance in corpus(shared):
        model = knapsack(instance)
        truth = -instance["true_optimum"]
        assert best_value(model) == truth
        assert scan.solve(model, Limits()).best == truth
        for name, solve in OTHERS.items():
            found = solve(model, Limits())
            expect_truth(found, model, truth)
            said[f"{name} {found.status}"] += 1
    print(said)  # noqa: T201
    assert said["cpsat optimal"] + said["cpsat unknown"] == 24
    assert said["cpsat unknown"] >= 12, "most are beyond the limit"


def test_no_wrong_answer_beyond_the_limit() -> None:
    """Random instances like those of the corpus, rows of which add up to more than 2^31."""
    rng, said = random.Random(7), Counter[str]()  # noqa: S311
    number = 2_000 if THOROUGH else 200
    for _ in range(number):
        model = knapsack(random_knapsack(rng))
        best = best_value(model)
        for name, solve in ENGINES.items():
            if name != "brute":
                found = solve(model, Limits())
                expect_truth(found, model, best)
                said[f"{name} {found.status}"] += 1
    print(said)  # noqa: T201
    assert said["scan unknown"] == 0
    assert said["scan infeasible"] > 0
    for name in OTHERS:
        assert said[f"{name} optimal"] > number // 20, "some are small enough after shrinking"
        assert said[f"{name} unknown"] > number // 4


def test_mip_gap_zero() -> None:
    """Sums of 10^5 that differ by less than the default gap of 10^-4: with that, a quarter of the answers is wrong."""
    for seed in range(30):
        model, best = one_budget(random.Random(seed))  # noqa: S311
        assert mip.solve(model, Limits()).best == best
        assert cpsat.solve(model, Limits()).best == best


def test_mip_keeps_a_budget_to_the_cent() -> None:
    """At $100,000, where each best pair costs a cent too much: no plan above the budget, no worse one called best."""
    worse: dict[int, str] = {}
    for seed in range(150):
        model = cents(random.Random(seed))  # noqa: S311
        found, best = mip.solve(model, Limits()), best_value(model)
        assert model.feasible(found.plan, [0])
        if (found.status, found.value) != (Status.OPTIMAL, best):
            worse[seed] = f"{found.status} {found.value}, truth {best}"
    assert not worse


@given(st.integers(0, 2**32))
def test_no_big_m_coefficients(seed: int) -> None:
    """Every number of a program is a difference of two numbers of the model, or one: nothing comes from outside."""
    model = random_model(seed)
    if not all(map(len, model.choices)):
        return
    built = program(model)
    linears = [model.objective, *(row.linear for row in model.rows)]
    parts = [part for linear in linears for part in (*linear.columns.values(), *(term.values for term in linear.terms))]
    most = max((int(part.max()) - int(part.min()) for part in parts), default=0)
    for item in (*built.sums, built.objective):
        assert int(abs(item.coefficients).max(initial=0)) <= max(most, 1)


# ------------------------------------------------------------------------------------------ limits, death and silence


def expect_stopped(found: Outcome, model: Model) -> None:
    assert found.status in (Status.FEASIBLE, Status.UNKNOWN)
    if found.status is Status.FEASIBLE:
        assert model.feasible(found.plan, range(len(model.names)))
        assert found.bound is not None
        assert found.bound <= found.best == model.objective.value(found.plan)


@other_engines
@pytest.mark.parametrize("seconds", [0.0, 0.01, 0.1, 0.3])
def test_timeout_is_never_optimal(engine: str, seconds: float) -> None:
    for seed in range(6):
        model = hard(random.Random(seed))  # noqa: S311
        found = OTHERS[engine](model, Limits(seconds))
        expect_stopped(found, model)
        assert found.reason is Reason.TIME


@other_engines
def test_a_child_stops_at_its_limit(engine: str) -> None:
    model = hard(random.Random(1))  # noqa: S311
    answer = Running(engine, model, Limits(0.5)).answer()
    expect_stopped(answer.outcome, model)
    assert answer.engine == import_module(f"cobench.solver.{engine}").NAME
    assert answer.version


def test_cpsat_stops_at_the_same_work_everywhere(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setitem(cpsat.PARAMETERS, "max_deterministic_time", 1)
    model = hard(random.Random(1))  # noqa: S311
    first, second = (cpsat.solve(model, Limits()) for _ in range(2))
    assert first == second
    assert first.reason is Reason.WORK
    expect_stopped(first, model)


SMALL = Model((), (choice("a", 2),), (), (), (), Linear({0: ints(3, 2)}, (), 0), False)
BEST = Outcome(Status.OPTIMAL, (1,), 2, 2)
Plant = Callable[[str], Path]


@pytest.fixture
def plant(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> Plant:
    """Makes the engines of children do something else, after they have written their number to the file returned."""

    def planted(does: str) -> Path:
        started = tmp_path / "started"
        code = (
            "import os, signal, sys, time\nfrom cobench.solver import cpsat, mip\n\ndef solve(model, limits):\n"
            f"    with open({str(started) + '.part'!r}, 'w') as file:\n        file.write(str(os.getpid()))\n"
            f"    os.rename({str(started) + '.part'!r}, {str(started)!r})\n    {does}\n\n"
            "right, cpsat.solve, mip.solve = cpsat.solve, solve, solve\n"
        )
        (tmp_path / "sitecustomize.py").write_text(code, encoding="utf-8")
        monkeypatch.syspath_prepend(str(tmp_path))
        monkeypatch.setattr(isolate, "_GRACE", 3.0)
        return started

    return planted


def expect_gone(running: Running) -> None:
    """No child is left, not even a zombie."""
    assert running._process.returncode is not None
    with pytest.raises(ChildProcessError):
        os.waitpid(running._process.pid, os.WNOHANG)


@other_engines
@pytest.mark.parametrize(
    ("does", "reason"),
    [
        ("os.kill(os.getpid(), signal.SIGKILL)", Reason.DIED),
        ("os.kill(os.getpid(), signal.SIGSEGV)", Reason.DIED),
        ("os._exit(0)", Reason.DIED),
        ("raise RuntimeError", Reason.DIED),
        ("return 'optimal', lambda: 0", Reason.DIED),  # what cannot be written as an answer
        ("bytearray(1 << 40)", Reason.MEMORY),
        ("time.sleep(600)", Reason.TIME),
        ("signal.signal(signal.SIGTERM, signal.SIG_IGN); time.sleep(600)", Reason.TIME),
        ("while True: pass", Reason.TIME),
    ],
)
def test_what_befalls_a_child_is_an_outcome(engine: str, does: str, reason: Reason, plant: Plant) -> None:
    started = plant(does)
    running = Running(engine, SMALL, Limits(1.0))
    answer = running.answer()
    assert started.exists()
    assert answer.outcome == Outcome(Status.UNKNOWN, reason=reason)
    assert answer.engine == import_module(f"cobench.solver.{engine}").NAME
    expect_gone(running)


def test_what_a_solver_prints_is_not_its_answer(plant: Plant) -> None:
    plant("print('hello'); os.write(1, b'hello'); return right(model, limits)")
    assert Running("cpsat", SMALL, Limits(20.0)).answer().outcome == BEST


def test_a_child_killed_from_outside_takes_nothing_down(plant: Plant) -> None:
    started = plant("time.sleep(600)")
    running = Running("cpsat", SMALL, Limits(60.0))

    def kill() -> None:
        wait_for(started.exists)
        os.kill(int(started.read_text()), signal.SIGKILL)

    killer = threading.Thread(target=kill)
    killer.start()
    assert running.answer().outcome == Outcome(Status.UNKNOWN, reason=Reason.DIED)
    killer.join()
    expect_gone(running)


@other_engines
@pytest.mark.parametrize("megabytes", [16, 200])
def test_a_child_without_memory(engine: str, megabytes: int) -> None:
    """The libraries alone map more than the first limit; what some can do within the second is never a proof."""
    model = hard(random.Random(1))  # noqa: S311
    running = Running(engine, model, Limits(2.0), memory=megabytes << 20)
    found = running.answer().outcome
    expect_stopped(found, model)
    if megabytes == 16:
        assert found.reason in (Reason.MEMORY, Reason.DIED)
    expect_gone(running)


@other_engines
def test_stop_leaves_no_child(engine: str) -> None:
    running = Running(engine, SMALL, Limits(5.0))
    running.stop()
    expect_gone(running)
    running.stop()


def wait_for(condition: Callable[[], bool]) -> None:
    for _ in range(3_000):
        if condition():
            return
        time.sleep(0.01)
    pytest.fail("it never came")


@pytest.mark.skipif(sys.platform != "linux", reason="asks Linux to end the child with its parent")
def test_a_child_ends_with_its_parent(plant: Plant) -> None:
    started = plant("time.sleep(600)")
    code = (
        "import numpy as np\nfrom cobench.solver.isolate import Running\nfrom cobench.solver.model import *\n"
        "from cobench.solver.outcome import Limits\n"
        "choice = Choice('a', 1, 1, np.arange(1), np.zeros(1, np.uint64))\n"
        "model = Model((), (choice,), (), (), (), Linear({}, (), 0), False)\n"
        "Running('mip', model, Limits(600.0)).answer()\n"
    )
    paths = os.pathsep.join(path for path in sys.path if path)
    with subprocess.Popen([sys.executable, "-c", code], env={**os.environ, "PYTHONPATH": paths}) as parent:
        wait_for(started.exists)
        state = Path(f"/proc/{started.read_text()}/stat")
        assert state.exists()
        parent.kill()
    # An orphan that nobody waits for stays as a zombie: ended, too.
    wait_for(lambda: not state.exists() or state.read_text().rpartition(")")[2].split()[0] == "Z")


# ---------------------------------------------------------------------------------------------------- names stay here


def test_ids_never_reach_a_solver(monkeypatch: pytest.MonkeyPatch) -> None:
    """Names like these were once made equal by a solver's own rules; variables and rows are numbers there."""
    seen: list[str] = []
    names = ("x+", "x-", "a b", "a-b", "objective", "Ж")

    def mip_names(problem: Any, solver: Any = None) -> Any:
        seen.extend([*(item.name for item in problem.variables()), *problem.constraints, problem.name])
        return real_solve(problem, solver)

    class Spy(cp_model_helper.SolveWrapper):
        def solve(self, proto: Any) -> Any:
            seen.extend(item.name for item in (*proto.variables, *proto.constraints))
            seen.append(proto.name)
            return super().solve(proto)

    real_solve = pulp.LpProblem.solve
    monkeypatch.setattr(pulp.LpProblem, "solve", mip_names)
    monkeypatch.setattr(cp_model_helper, "SolveWrapper", Spy)
    rows = tuple(Row(place, Linear({place % 3: ints(0, 1), (place + 1) % 3: ints(0, 1)}, (), -1)) for place in range(6))
    choices = tuple(choice(name, 2) for name in ("x+", "x-", "x+ "))
    model = Model(names, choices, rows, (), (), Linear({0: ints(0, -1)}, (), 0), False)
    for solve in OTHERS.values():
        assert solve(model, Limits()).best == -1
    assert {name.rstrip("0123456789") for name in seen} == {"", "x", "_C", "cobench"}
    assert not any(isinstance(getattr(program(model), field), str) for field in Program.__slots__)


# ------------------------------------------------------------------------------------------------- engines that lie


class InProcess:
    """Stands for `Running`: the engine works here, and `lies` may change what it says."""

    lies: dict[str, Callable[[Outcome], Outcome]] = {}

    def __init__(self, engine: str, model: Model, limits: Limits) -> None:
        self.engine, self.model, self.limits = engine, model, limits

    def answer(self) -> Answer:
        outcome = OTHERS[self.engine](self.model, self.limits)
        name = import_module(f"cobench.solver.{self.engine}").NAME
        return Answer(name, "1", self.lies.get(self.engine, lambda said: said)(outcome), 0.0, 0)

    def stop(self) -> None:
        pass


Lie = Callable[[Outcome], Outcome]


@pytest.fixture
def lying(monkeypatch: pytest.MonkeyPatch) -> Callable[[dict[str, Lie]], None]:
    def lie(lies: dict[str, Lie]) -> None:
        monkeypatch.setattr(InProcess, "lies", lies)
        if "scan" in lies:
            right = scan.survey

            def wrong(model: Model, limits: Limits) -> Survey:
                found = right(model, limits)
                said = lies["scan"](found.outcome)
                return Survey(said, found.count if found.count[0] else (1, 1), max(found.tied, 1), found.runner_up)

            monkeypatch.setattr(scan, "survey", wrong)

    monkeypatch.setattr(certifying, "Running", InProcess)
    return lie


def shifted(by: int) -> Lie:
    return lambda said: Outcome(Status.OPTIMAL, said.plan, said.best + by, said.best + by)


def feasible_beyond(said: Outcome) -> Outcome:
    return Outcome(Status.FEASIBLE, said.plan, said.best - 1, said.best - 9, Reason.TIME)


def unproved(low: int) -> Lie:
    """The right plan, said to be at most so much above the best."""
    return lambda said: Outcome(Status.FEASIBLE, said.plan, said.best, said.best - low, Reason.WORK)


def infeasible(_: Outcome) -> Outcome:
    return Outcome(Status.INFEASIBLE)


def optimal(_: Outcome) -> Outcome:
    return Outcome(Status.OPTIMAL, (0, 0), 700, 700)


def declines(_: Outcome) -> Outcome:
    return Outcome(Status.UNKNOWN, reason=Reason.RANGE)


LIES = [
    ("cheapest", "worse", shifted(1)), ("cheapest", "better", shifted(-1)), ("cheapest", "none", infeasible),
    ("cheapest", "feasible", feasible_beyond), ("wishes", "worse", shifted(1)), ("wishes", "better", shifted(-1)),
    ("wishes", "none", infeasible), ("nowhere", "some", optimal),
]  # fmt: skip


@pytest.mark.parametrize("liar", ["scan", *OTHERS])
@pytest.mark.parametrize(("task", "lie"), [(task, lie) for task, _, lie in LIES], ids=[f"{t}-{n}" for t, n, _ in LIES])
def test_a_lie_is_a_disagreement_and_never_a_certificate(
    task: str, lie: Lie, liar: str, lying: Any, tmp_path: Path, capsys: pytest.CaptureFixture[str]
) -> None:
    file = load_task(TASKS / f"{task}.yaml")
    data = open_dataset(file.task.dataset, TASKS)
    certify(file, data, engines="all")
    lying({liar: lie})
    with pytest.raises(Disagreement) as caught:
        certify(file, data, engines="all")
    said = str(caught.value)
    assert f"the engines disagree on tiny-{task}" in said
    assert all(f"  {name}: " in said for name in ("scan", cpsat.NAME, mip.NAME))
    assert run(["verify", str(TASKS / f"{task}.yaml"), "--out", str(tmp_path / "out"), "-q"]) == 4
    assert "the engines disagree" in capsys.readouterr().err
    assert not list(tmp_path.glob("out/*"))


def grades_without_the_checker(task: str, limits: Limits | None = None) -> tuple[Any, dict[str, Grade]]:
    """A certificate and its grades where the checker may only evaluate the witness."""
    file = load_task(TASKS / f"{task}.yaml")
    data = open_dataset(file.task.dataset, TASKS)
    made = certify(file, data, engines="all", limits=limits)
    problem, manifest = pose(file, data.manifest), data.manifest
    opened = check.open_data(data.folder, problem)
    report = checker.replay(
        problem, opened, made, dataset=manifest.manifest.name, manifest_digest=manifest.digest(), work_limit=0
    )
    assert not report.refuted
    return made, checker.grades(made, report)


@pytest.mark.parametrize("declining", [(), ("cpsat",), ("mip",), ("cpsat", "mip")])
def test_one_engine_is_no_agreement(declining: tuple[str, ...], lying: Any) -> None:
    lying(dict.fromkeys(declining, declines))
    _, grades = grades_without_the_checker("cheapest")
    assert grades["optimum"] is (Grade.CLAIMED if len(declining) == 2 else Grade.AGREED)
    assert grades["count"] is Grade.CLAIMED
    _, grades = grades_without_the_checker("nowhere")
    assert grades["status"] is (Grade.CLAIMED if len(declining) == 2 else Grade.AGREED)


@pytest.mark.parametrize("declining", [("cpsat",), ("mip",), ("cpsat", "mip")])
def test_where_the_scan_stops_another_engine_may_answer(declining: tuple[str, ...], lying: Any) -> None:
    lying(dict.fromkeys(declining, declines))
    made, grades = grades_without_the_checker("cheapest", Limits(work=1))
    claims = made.claims
    assert claims.optimum is None
    if len(declining) == 2:
        assert claims.status.value == "unknown"
        assert set(grades.values()) == {Grade.CLAIMED}
        return
    assert claims.status.value == "solvable"
    assert (claims.incumbent.value, claims.incumbent.bound) == (9000, 9000)
    assert grades["incumbent"] is Grade.CLAIMED


@pytest.mark.parametrize(("lows", "bound"), [((500, 300), 8700), ((300, 500), 8700), ((0, 500), 9000), ((500,), 8500)])
def test_a_plan_that_is_not_proved_best_comes_with_the_best_bound(
    lows: tuple[int, ...], bound: int, lying: Any
) -> None:
    lies = [unproved(low) for low in lows] + [declines]
    lying(dict(zip(("cpsat", "mip"), lies, strict=False)))
    made, _ = grades_without_the_checker("cheapest", Limits(work=1))
    claims = made.claims
    assert (claims.status.value, claims.count.at_least) == ("solvable", 1)
    assert (claims.incumbent.value, claims.incumbent.bound) == (9000, bound)


def test_a_plan_below_the_bound_of_another_engine_is_a_disagreement(lying: Any) -> None:
    lying({"cpsat": unproved(-1), "mip": unproved(500)})
    with pytest.raises(Disagreement):
        grades_without_the_checker("cheapest", Limits(work=1))


@given(st.integers(0, 2**40))
def test_what_cp_sat_proved_is_a_bound_in_the_units_of_the_model(seed: int) -> None:
    model = RandomModel(random.Random(seed)).model()  # noqa: S311
    right = cpsat.run
    for above in (0, 1):

        def run_out(proto: Any, limits: Limits, above: int = above) -> Any:
            status, values, reason, least = right(proto, limits)
            if status is Status.OPTIMAL:
                status = Status.FEASIBLE
            return status, values, reason, None if least is None else least + above

        with pytest.MonkeyPatch.context() as patch:
            patch.setattr(cpsat, "run", run_out)
            found = cpsat.solve(model, Limits())
        best = best_value(model)
        event(f"{found.status} {found.reason}")
        if above:
            assert found.status in (Status.UNKNOWN, Status.INFEASIBLE)
        elif found.status is Status.FEASIBLE:
            assert found.value == found.bound == best


@pytest.mark.parametrize("name", ["parks-1-06*", "parks-2-01*", "parks-3-01*", "parks-3-05*"])
def test_engines_agree_on_shipped_tasks(name: str) -> None:
    (path,) = PARKS.glob(name)
    file = load_task(path)
    made = certify(file, open_dataset("parks"), engines="all")
    assert len(made.evidence) == 3
    assert len({(item.status, item.value) for item in made.evidence}) == 1
    assert made.evidence[0].status == ("infeasible" if file.task.expect else "optimal")
