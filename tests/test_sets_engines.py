"""The engines of set models say what trying every plan says, or decline with a reason."""

from __future__ import annotations

import random
from pathlib import Path
from typing import Any as Anything

import numpy as np
import pytest
from cobench.solver.isolate import Engine, Running
from cobench.solver.model import Ints
from cobench.solver.outcome import Limits, Outcome, Reason, Status
from cobench.solver.sets import cpsat, mip
from cobench.solver.sets.model import (
    EARLY,
    LATE,
    NEVER,
    Any,
    Course,
    Formula,
    Leaf,
    Part,
    Quantity,
    SetModel,
)
from hypothesis import given

from .models import THOROUGH, best_value, corpus, knapsack, random_knapsack
from .set_models import feasible_plans, random_set_model, set_models

# As in test_engines.py.
pytestmark = pytest.mark.filterwarnings("ignore:.*PuLP 4:DeprecationWarning")

LIMITS = Limits(20)
ENGINES: tuple[Engine, ...] = (cpsat, mip)
DECLINES = (Reason.RANGE, Reason.FORM)


def agrees(model: SetModel, engine: Engine) -> Outcome:
    """What the engine said, after it was compared with every plan."""
    outcome, plans = engine.solve(model, LIMITS), feasible_plans(model)
    if outcome.status is Status.UNKNOWN:
        assert outcome.reason in DECLINES
    elif outcome.status is Status.INFEASIBLE:
        assert not plans
    else:
        assert outcome.status is Status.OPTIMAL
        assert outcome.best == plans[0][0]
        assert (outcome.best, outcome.plan) in plans
    return outcome


def ints(*values: int) -> Ints:
    return np.array(values, np.int64)


def model_of(
    parts: list[Part], quantities: list[Quantity], formulas: list[Formula], objective: Leaf | None = None
) -> SetModel:
    """A model whose objective is its last quantity, to be made small."""
    return SetModel(
        names=tuple(f"c{number}" for number in range(len(formulas))),
        choices=tuple(f"x{number}" for number in range(len(parts))),
        parts=tuple(parts),
        quantities=tuple(quantities),
        flags=(),
        formulas=tuple(formulas),
        objective=objective or Leaf(len(quantities) - 1, 1, 0),
        maximize=False,
    )


def set_knapsack(instance: dict[str, Anything]) -> SetModel:
    """An instance of `models.knapsack` as sets: at most one of each group, any of the rest, guards as `or`."""
    groups = [*instance["at_most_one"]]
    rest = [one for one in range(len(instance["maximize"])) if not any(one in group for group in groups)]
    parts = [Part(number, ints(*group), 0, 1) for number, group in enumerate(groups)]
    parts.append(Part(len(groups), ints(*rest), 0, len(rest)))

    def columns(terms: list[tuple[int, int]]) -> Quantity:
        factors = dict(terms)
        return Quantity(
            {number: ints(*(factors.get(one, 0) for one in part.rows)) for number, part in enumerate(parts)}
        )

    quantities: list[Quantity] = []
    formulas: list[Formula] = []
    for row in instance["rows"]:
        quantities.append(columns(row["terms"]))
        formulas.append(Leaf(len(quantities) - 1, 1, -row["at_most"]))
        if row.get("only_if") is not None:
            quantities.append(columns([(row["only_if"], 1)]))
            formulas[-1] = Any((formulas[-1], Leaf(len(quantities) - 1, 1, 0)))
    quantities.append(columns([(one, -weight) for one, weight in enumerate(instance["maximize"])]))
    return model_of(parts, quantities, formulas)


def flights(rng: random.Random, number: int = 6) -> Course:
    """Visits at fixed times, of which one leads to another where there is time between."""
    departs = ints(*(rng.randint(0, 60) for _ in range(number)))
    lasts = ints(*(rng.randint(1, 9) for _ in range(number)))
    ways = [[rng.choice([NEVER, 0, 3]) for _ in range(number)] for _ in range(number)]
    return Course(
        opens=departs,
        closes=departs + lasts,
        lasts=lasts,
        longer=False,
        travel=np.array(ways, np.int64),
        leave=ints(*(rng.choice([NEVER, 0]) for _ in range(number))),
        back=ints(*(rng.choice([NEVER, 0, 5]) for _ in range(number))),
        direct=NEVER,
        begins=None,
        earliest=EARLY,
        latest=70,
        wait=rng.choice([None, 40]),
        first=np.ones(number, np.bool_),
        last=np.ones(number, np.bool_),
    )


@given(model=set_models())
def test_cp_sat_finds_the_optimum_of_every_plan(model: SetModel) -> None:
    agrees(model, cpsat)


@given(model=set_models())
def test_the_mip_finds_the_optimum_of_every_plan(model: SetModel) -> None:
    agrees(model, mip)


def test_most_models_are_answered_not_declined() -> None:
    outcomes = [(cpsat.solve(model, LIMITS), mip.solve(model, LIMITS)) for model in map(random_set_model, range(100))]
    by_cpsat, by_mip = (
        sum(said.status is not Status.UNKNOWN for said in column) for column in zip(*outcomes, strict=True)
    )
    assert by_cpsat >= 50
    assert by_mip >= 40


def test_no_wrong_optimum_on_the_instances_where_cp_sat_was_seen_to_claim_one(shared: Path) -> None:
    said = [(cpsat.solve(set_knapsack(instance), LIMITS), instance) for instance in corpus(shared)]
    for outcome, instance in said:
        assert outcome.value in (None, -instance["true_optimum"])
    assert sum(outcome.reason is Reason.RANGE for outcome, _ in said) >= 12


def test_no_wrong_answer_where_coefficients_are_large() -> None:
    rng, said = random.Random(11), list[Status]()  # noqa: S311
    for _ in range(2_000 if THOROUGH else 60):
        instance = random_knapsack(rng)
        best = best_value(knapsack(instance))
        for engine in ENGINES:
            outcome = engine.solve(set_knapsack(instance), LIMITS)
            said.append(outcome.status)
            assert outcome.status is Status.UNKNOWN or outcome.value == best
    assert Status.UNKNOWN in said
    assert Status.OPTIMAL in said


def test_routes_whose_times_are_fixed_are_decided_by_arcs_so_the_mip_answers_them() -> None:
    rng, said = random.Random(5), list[Status]()  # noqa: S311
    for _ in range(40):
        part = Part(0, ints(*range(6)), 1, 4, flights(rng))
        price = Quantity({0: ints(*(rng.randint(-20, 50) for _ in range(6)))}, ends=((0, 1),), travel=((0, 2),))
        model = model_of([part], [price], [])
        said.append(agrees(model, mip).status)
        assert agrees(model, cpsat).status is said[-1]
    assert Status.UNKNOWN not in said
    assert said.count(Status.OPTIMAL) >= 20


def test_the_mip_declines_what_would_need_a_bound_for_each_alternative() -> None:
    sums = [Quantity({0: ints(3, 5, 7)}), Quantity({0: ints(5, 3, 2)}), Quantity({0: ints(-1, -1, -1)})]
    either: Formula = Any((Leaf(0, 1, -9), Leaf(1, 1, -6)))
    model = model_of([Part(0, ints(0, 1, 2), 0, 3)], sums, [either])
    assert mip.solve(model, LIMITS).reason is Reason.FORM
    assert agrees(model, cpsat).best == -2


def test_one_row_of_some_under_or_needs_no_bound() -> None:
    sums = [
        Quantity({0: ints(30, 50, 70)}),
        Quantity({1: ints(9, 4, 1)}),
        Quantity({0: ints(3, 2, 1), 1: ints(0, 1, 2)}),
    ]
    either: Formula = Any((Leaf(0, 1, -55), Leaf(1, 1, -3)))
    model = model_of([Part(0, ints(0, 1, 2), 1, 1), Part(1, ints(0, 1, 2), 1, 1)], sums, [either])
    for engine in ENGINES:
        assert agrees(model, engine).best == 2


def test_a_route_without_visits_is_a_plan() -> None:
    none = ints()
    course = Course(none, none, none, False, none.reshape(0, 0), none, none, 7, 5, EARLY, LATE, 0, none == 0, none == 0)
    model = model_of([Part(0, none, 0, 3, course)], [Quantity(ends=((0, 1),), travel=((0, 100),))], [])
    for engine in ENGINES:
        assert agrees(model, engine).best == 712


def test_an_end_that_nothing_bounds_is_beyond_the_engines() -> None:
    course = flights(random.Random(1))  # noqa: S311
    free = np.full(6, EARLY, np.int64)
    open_course = Course(
        free, np.full(6, LATE, np.int64), course.lasts, False, course.travel * 0, course.leave * 0, course.back * 0,
        NEVER, None, EARLY, LATE, None, course.first, course.last,
    )  # fmt: skip
    model = model_of([Part(0, ints(*range(6)), 1, 2, open_course)], [Quantity(ends=((0, 1),))], [])
    for engine in ENGINES:
        assert engine.solve(model, LIMITS).reason is Reason.RANGE


def course_of(number: int, **changed: Anything) -> Course:
    """A route from time 0 on: every way takes two, every visit three, nothing is closed."""
    usual: dict[str, Anything] = {
        "opens": np.full(number, EARLY, np.int64),
        "closes": np.full(number, LATE, np.int64),
        "lasts": np.full(number, 3, np.int64),
        "longer": False,
        "travel": np.full((number, number), 2, np.int64),
        "leave": np.full(number, 2, np.int64),
        "back": np.full(number, 2, np.int64),
        "direct": 0,
        "begins": 0,
        "earliest": EARLY,
        "latest": LATE,
        "wait": None,
        "first": np.ones(number, np.bool_),
        "last": np.ones(number, np.bool_),
    }
    return Course(**{**usual, **changed})


@pytest.mark.parametrize("sign", [1, -1])
@pytest.mark.parametrize("constant", [-3, -2, -1])
def test_a_truth_that_is_counted_is_one_exactly_where_it_is_true(sign: int, constant: int) -> None:
    """Rewarded or punished, for sums at the limit and one beside it."""
    count = Quantity({0: ints(1, 1, 1)})
    counted = Quantity(truths=((Leaf(0, 1, constant), sign),))
    for picked in range(4):
        exactly: list[Formula] = [Leaf(0, 1, -picked), Leaf(0, -1, picked)]
        model = model_of([Part(0, ints(0, 1, 2), 0, 3)], [count, counted], exactly)
        assert agrees(model, cpsat).best == sign * (picked + constant <= 0)


@pytest.mark.parametrize(("wait", "status"), [(5, Status.OPTIMAL), (4, Status.INFEASIBLE)])
def test_a_wait_is_exact_to_the_unit(wait: int, status: Status) -> None:
    """From the first visit (2 to 5) to the second, which opens at 12: five units between arrival and beginning."""
    course = course_of(2, opens=ints(0, 12), closes=ints(5, 40), wait=wait)
    model = model_of([Part(0, ints(0, 1), 2, 2, course)], [Quantity(ends=((0, 1),))], [])
    assert agrees(model, cpsat).status is status


@pytest.mark.parametrize(("opens", "end"), [(12, 17), (0, 12)])
def test_the_end_read_is_the_least_end(opens: int, end: int) -> None:
    course = course_of(2, longer=True, opens=ints(0, opens), closes=ints(30, 40))
    model = model_of([Part(0, ints(0, 1), 2, 2, course)], [Quantity(ends=((0, 1),))], [])
    assert agrees(model, cpsat).best == end


def test_rows_that_could_form_a_circuit_of_their_own_are_no_case_for_the_mip() -> None:
    """Without times, a circuit beside the route would be cheaper than the way that leads through all rows."""
    far = np.array([[NEVER, 0, 9, 9], [0, NEVER, 9, 9], [9, 9, NEVER, 0], [9, 9, 0, NEVER]], np.int64)
    model = model_of([Part(0, ints(0, 1, 2, 3), 4, 4, course_of(4, travel=far))], [Quantity(travel=((0, 1),))], [])
    assert mip.solve(model, LIMITS).reason is Reason.FORM
    assert agrees(model, cpsat).best == 2 + 9 + 2


def test_a_guard_of_one_row_is_exact_at_its_limit() -> None:
    """The price that just fits is allowed, the next is not; a sum that must keep all at their least leaves no slack."""
    either: Formula = Any((Leaf(0, 1, -50), Leaf(1, 1, 0)))
    model = model_of(
        [Part(0, ints(0, 1, 2), 1, 1), Part(1, ints(0, 1), 1, 2)],
        [Quantity({0: ints(30, 50, 70)}), Quantity({1: ints(1, 1)}), Quantity({0: ints(-1, -2, -3)})],
        [either],
    )
    for engine in ENGINES:
        assert agrees(model, engine).best == -2
    either = Any((Leaf(0, 1, -1), Leaf(1, 1, 0)))
    one = [Quantity({0: ints(1, 1, 1)}), Quantity({1: ints(1, 1)}), Quantity({0: ints(-1, -1, -1)})]
    several = [Part(0, ints(0, 1, 2), 0, 3), Part(1, ints(0, 1), 1, 2)]
    assert agrees(model_of(several, one, [either]), cpsat).best == -1
    assert mip.solve(model_of(several, one, [either]), LIMITS).reason is Reason.FORM


def test_a_plan_that_the_model_refuses_is_never_given(monkeypatch: pytest.MonkeyPatch) -> None:
    model = model_of([Part(0, ints(0, 1), 0, 2)], [Quantity({0: ints(1, -1)})], [])
    monkeypatch.setattr(SetModel, "feasible", lambda *_: False)
    for engine in ENGINES:
        assert engine.solve(model, LIMITS).reason in (Reason.WRONG, None)
        assert engine.solve(model, LIMITS).picked is None


def test_no_time_is_no_answer() -> None:
    model = random_set_model(3)
    for engine in ENGINES:
        assert engine.solve(model, Limits(0.0)).status in (Status.UNKNOWN, engine.solve(model, LIMITS).status)


@pytest.mark.parametrize("name", ["cpsat", "mip"])
def test_a_process_of_its_own_takes_the_engine_for_the_kind_of_its_model(name: str) -> None:
    model = model_of([Part(0, ints(0, 1), 0, 2)], [Quantity({0: ints(1, -1)})], [])
    answer = Running(name, model, LIMITS).answer()
    assert (answer.outcome.best, answer.outcome.plan) == (-1, ((1,),))
