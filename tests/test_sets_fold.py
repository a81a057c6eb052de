"""The dynamic program for sets and routes against trying every plan, and times of routes against trying them all."""

from __future__ import annotations

import itertools
import math
import random
from collections import Counter
from dataclasses import replace

import numpy as np
import pytest
from cobench.solver.outcome import Limits, Outcome, Reason, Status
from cobench.solver.sets import fold, shapes, states
from cobench.solver.sets.fold import Folded, satisfiable, survey, witness
from cobench.solver.sets.model import EARLY, LATE, NEVER, Any, Course, Leaf, Part, Quantity, SetModel, schedule
from cobench.solver.sets.route import times
from cobench.solver.sets.states import Coding, Stopped
from hypothesis import event, given
from hypothesis import strategies as st

from .set_models import RandomSetModel, every_pick, feasible_plans, number_of_picks, random_set_model, set_models

Times = tuple[tuple[int, int], ...]
FREE = Limits()


def truth(model: SetModel) -> Folded:
    """What a survey should find."""
    plans = feasible_plans(model)
    if not plans:
        return Folded(Outcome(Status.INFEASIBLE), (0, 0), 0, None, ())
    values = sorted(Counter(cost for cost, _ in plans).items())
    best, picked = plans[0]
    runner_up = values[1][0] if len(values) > 1 else None
    outcome = Outcome(Status.OPTIMAL, picked, best, best)
    return Folded(outcome, (len(plans), len(plans)), values[0][1], runner_up, tuple(values))


@given(set_models())
def test_a_survey_finds_what_trying_every_plan_finds(model: SetModel) -> None:
    expected = truth(model)
    event(expected.outcome.status)
    assert survey(model, FREE) == expected


@given(set_models())
def test_counts_side_by_side_in_long_integers_are_those_of_states(model: SetModel) -> None:
    packed, plain = survey(model, FREE), None
    with pytest.MonkeyPatch.context() as patch:
        patch.setattr(shapes, "MOST_BITS", 0)
        plain = survey(model, FREE)
    assert packed == plain


@pytest.mark.parametrize("seed", [3038, 346, 138])
def test_a_row_far_beyond_a_bound_takes_no_memory(seed: int) -> None:
    model = random_set_model(seed)
    for quantity in {model.objective.quantity, *range(len(model.quantities))}:
        limit = Leaf(quantity, model.objective.sign, 0)
        bounded = replace(
            model, names=("limit",), formulas=(limit,), objective=replace(model.objective, quantity=quantity)
        )
        if not model.quantities[quantity].ends:
            assert survey(bounded, FREE) == truth(bounded)
    assert survey(model, FREE) == truth(model)


@given(set_models())
def test_where_counting_is_too_much_the_best_plan_is_still_proved(model: SetModel) -> None:
    expected = truth(model)
    with pytest.MonkeyPatch.context() as patch:
        patch.setattr(fold, "_counted", stopped)
        found = survey(model, FREE)
    assert found.outcome == expected.outcome
    if expected.count[0]:
        assert found == Folded(expected.outcome, (1, number_of_picks(model)), None, None, None)
    else:
        assert found == expected


def stopped(*_: object) -> Folded:
    raise Stopped(Reason.WORK)


@given(set_models(), st.integers(-3, 3), st.integers(1, 2))
def test_bounds_of_what_is_made_small_are_kept_to_the_unit(model: SetModel, above: int, number: int) -> None:
    """Those that hold it down, which the program sees apart from other conditions, and those that hold it up."""
    plans = feasible_plans(model)
    middle = plans[len(plans) // 2][0] - model.objective.constant if plans else 0
    sign = model.objective.sign if number == 1 or model.quantities[model.objective.quantity].ends else -1
    limit = Leaf(model.objective.quantity, sign, -(sign * model.objective.sign * middle + above))
    model = replace(model, names=(*model.names, "limit"), formulas=(*model.formulas, limit))
    assert survey(model, FREE) == truth(model)
    best = truth(model).outcome.picked
    assert witness(model, (1 << len(model.formulas)) - 1, FREE) == best


@given(st.lists(st.tuples(st.integers(0, 5), st.integers(0, 3), st.integers(0, 6)), max_size=3), st.integers(0, 9))
def test_rows_that_nothing_reads_are_counted_without_a_look_at_them(
    free: list[tuple[int, int, int]], seed: int
) -> None:
    rng = random.Random(seed)  # noqa: S311
    read = Part(len(free), np.arange(4), 1, 2)
    parts = tuple(Part(number, np.arange(size), least, most) for number, (size, least, most) in enumerate(free))
    cost = Quantity({len(free): np.array([rng.randint(-3, 3) for _ in range(4)])})
    objective = Leaf(0, rng.choice([1, -1]), 5)
    choices = tuple(f"c{number}" for number in range(len(free) + 1))
    model = SetModel((), choices, (*parts, read), (cost,), (), (), objective, maximize=False)
    assert survey(model, FREE) == truth(model)


def test_hundreds_of_rows_that_nothing_reads_are_binomials() -> None:
    sights, meals = Part(0, np.arange(500), 2, 500), Part(1, np.arange(40), 3, 9)
    model = SetModel(
        (), ("sights", "meals"), (sights, meals), (Quantity({1: np.full(40, 7)}),), (), (), Leaf(0, 1, 0), False
    )
    found = survey(model, Limits(work=50_000))
    ways = 2**500 - 501
    assert found.distribution == tuple((7 * number, ways * math.comb(40, number)) for number in range(3, 10))
    assert found.outcome.picked == ((0, 1), (0, 1, 2))


@given(set_models(300))
def test_maximal_sets_of_constraints_and_their_best_plans(model: SetModel) -> None:
    structure = replace(model, formulas=(), names=())
    plans = sorted(
        (model.cost(picked), picked, sum(model.true(picked, one) << bit for bit, one in enumerate(model.formulas)))
        for picked in every_pick(model)
        if structure.feasible(picked)
    )
    masks = {mask for _, _, mask in plans}
    maximal = [one for one in sorted(masks) if not any(one != other and one & ~other == 0 for other in masks)]
    assert satisfiable(model, FREE) == tuple(maximal)
    for wanted in range(1 << len(model.formulas)):
        best = next((picked for _, picked, mask in plans if mask & wanted == wanted), None)
        assert witness(model, wanted, FREE) == best


@given(set_models(300), st.integers(0, 200))
def test_a_work_limit_never_becomes_an_answer(model: SetModel, work: int) -> None:
    expected, found = truth(model), survey(model, Limits(work=work))
    if found.outcome.status is Status.UNKNOWN:
        event("stopped")
        assert found.outcome.reason is Reason.WORK
        assert found.count == (0, number_of_picks(model))
        assert (found.tied, found.runner_up, found.distribution) == (0, None, None)
    elif found.tied is None:
        event("best plan alone")
        assert found == Folded(expected.outcome, (1, number_of_picks(model)), None, None, None)
    else:
        assert found == expected
    assert satisfiable(model, Limits(work=work)) in (None, satisfiable(model, FREE))
    try:
        best = witness(model, (1 << len(model.formulas)) - 1, Limits(work=work))
    except Stopped:
        return
    assert best == expected.outcome.picked


# ----------------------------------------------------------------------------------------------------- times


def all_times(course: Course, order: tuple[int, ...], horizon: range) -> dict[int, list[Times]]:
    """Every way to begin and end the visits of an order at times in a horizon, by when the route ends."""
    found: dict[int, list[Times]] = {}

    def arrives(at: int, so_far: Times) -> None:
        if max(at, course.earliest) <= min(at, course.latest):
            found.setdefault(at, []).append(so_far)

    def visit(place: int, at: int | None, so_far: Times) -> None:
        """`at`: when the one before ended; None when the route sets out at any time."""
        if place == len(order):
            if course.last[order[-1]] and course.back[order[-1]] != NEVER and at is not None:
                arrives(at + int(course.back[order[-1]]), so_far)
            return
        row = order[place]
        way = int(course.travel[order[place - 1], row] if place else course.leave[row])
        if way == NEVER or (place == 0 and not course.first[row]):
            return
        for begin in horizon:
            waited = None if at is None else begin - at - way
            late = waited is not None and (waited < 0 or (course.wait is not None and waited > course.wait))
            if late or begin < course.opens[row]:
                continue
            for end in horizon if course.longer else (begin + int(course.lasts[row]),):
                if begin + course.lasts[row] <= end <= course.closes[row]:
                    visit(place + 1, end, (*so_far, (begin, end)))

    visit(0, course.begins, ())
    return found


def small_course(seed: int) -> tuple[Course, tuple[int, ...]]:
    """A course of up to three rows, all of whose times are in 0..15, and an order of some of them."""
    rng = random.Random(seed)  # noqa: S311
    size = rng.randint(1, 3)
    course = RandomSetModel(rng).course(size)
    course = replace(
        course,
        opens=np.clip(course.opens, 0, 6),
        closes=np.clip(course.closes, 0, 11),
        begins=None if course.begins is None else max(0, course.begins),
    )
    return course, tuple(rng.sample(range(size), rng.randint(1, size)))


@given(st.integers(0, 2**32 - 1))
def test_an_order_is_possible_if_some_times_fit_and_ends_when_the_quickest_do(seed: int) -> None:
    course, order = small_course(seed)
    found, possible = schedule(course, order), all_times(course, order, range(12))
    event("possible" if possible else "impossible")
    if found is None:
        assert not possible
        with pytest.raises(ValueError, match="no times fit"):
            times(course, order)
        return
    late = max(found[0] - 4, course.earliest)  # waiting for the earliest end is done on a visit, not on the way
    assert possible or late > 11
    if possible:
        assert found[0] == min(possible)
        given_times = times(course, order)
        assert given_times in possible[found[0]]
        # From the last visit back, each ends as early as the later ones allow, and then begins as early.
        best = min(possible[found[0]], key=lambda some: [(end, begin) for begin, end in reversed(some)])
        ends = [end for _, end in given_times]
        if not course.longer:
            assert ends == [end for _, end in best]


def test_a_route_without_visits_leads_from_start_to_end() -> None:
    ones = np.ones(0, np.bool_)
    nothing = np.zeros(0, np.int64)
    course = Course(
        nothing, nothing, nothing, False, nothing.reshape(0, 0), nothing, nothing, 5, 10, EARLY, 14, None, ones, ones
    )
    part = Part(0, nothing, 0, 3, course)
    model = SetModel((), ("x",), (part,), (Quantity(ends=((0, 1),)),), (), (), Leaf(0, 1, 0), maximize=False)
    assert schedule(course, ()) is None
    assert survey(model, FREE).outcome.status is Status.INFEASIBLE
    later = replace(model, parts=(replace(part, course=replace(course, latest=15)),))
    assert survey(later, FREE).outcome.best == 15
    assert times(course, ()) == ()


# ----------------------------------------------------------------------------------------------------- size


def test_counts_beyond_64_bits_are_exact() -> None:
    part = Part(0, np.arange(100), 0, 100)
    column = np.ones(100, np.int64)
    model = SetModel((), ("x",), (part,), (Quantity({0: column}),), (), (), Leaf(0, -1, 0), maximize=True)
    found = survey(model, FREE)
    assert found.count == (2**100, 2**100)
    assert found.outcome.picked == (tuple(range(100)),)
    assert found.distribution is not None
    assert found.distribution[50] == (-50, 100891344545564193334812497256)


def test_too_many_values_are_not_listed() -> None:
    model = random_set_model(1)
    while len(truth(model).distribution or ()) < 3:
        model = random_set_model(int(model.objective.constant) + 2**20)
    full = survey(model, FREE)
    assert survey(model, FREE, most_values=2) == replace(full, distribution=None)


def test_a_hopeless_model_is_given_up(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(states, "MOST_CELLS", 1_000_000)
    rng = random.Random(1)  # noqa: S311
    parts = tuple(Part(number, np.arange(10), 1, 1) for number in range(25))
    quantities = tuple(
        Quantity({part: np.array([rng.randint(0, 100) for _ in range(10)]) for part in range(25)}) for _ in range(11)
    )
    formulas = tuple(Leaf(number, 1, -1100) for number in range(10))
    names = tuple(f"c{number}" for number in range(10))
    model = SetModel(names, ("x",) * 25, parts, quantities, (), formulas, Leaf(10, -1, 0), maximize=True)
    found = survey(model, FREE)
    assert (found.outcome.reason, found.count) == (Reason.WORK, (0, 10**25))
    assert survey(model, Limits(seconds=0)).outcome.reason is Reason.TIME


def test_rows_that_must_all_differ_are_known_by_the_rows_that_are_left() -> None:
    """Eight choices of one hour each: 8! plans, and 2^8 sets of hours."""
    number = 8
    parts = tuple(Part(part, np.arange(number), 1, 1) for part in range(number))
    hours = np.arange(number)
    pairs = list(itertools.combinations(range(number), 2))
    differences = tuple(Quantity({one: hours, other: -hours}) for one, other in pairs)
    differ = tuple(Any((Leaf(pair, 1, 1), Leaf(pair, -1, 1))) for pair in range(len(pairs)))
    cost = Quantity({part: hours * part for part in range(number)})
    names = tuple(f"c{pair}" for pair in range(len(pairs)))
    model = SetModel(
        names, ("x",) * number, parts, (*differences, cost), (), differ, Leaf(len(pairs), 1, 0), maximize=False
    )
    found = survey(model, Limits(work=100_000))
    assert found.count == (40320, 40320)
    assert found.outcome.picked == tuple((row,) for row in reversed(range(number)))


@pytest.mark.parametrize("size", [3, 63, 300])
def test_codes_of_lists_compare_as_the_lists(size: int) -> None:
    rng = random.Random(size)  # noqa: S311
    coding = Coding.of(size, 12)
    lists = [tuple(sorted(rng.sample(range(size), rng.randint(0, min(3, size))))) for _ in range(200)]
    lists += [tuple(sorted(rng.sample(range(size), min(12, size)))) for _ in range(50)]
    codes = []
    for some in lists:
        words = coding.empty(1)
        for row in reversed(some):
            words = coding.before(row, words)
        codes.append(tuple(int(word[0]) for word in words))
        assert coding.rows(codes[-1]) == some
    assert [some for _, some in sorted(zip(codes, lists, strict=True))] == sorted(lists)
    assert LATE < 2**62


def test_a_visit_is_put_off_so_that_nobody_waits_too_long() -> None:
    never, zero = np.full((2, 2), NEVER), np.zeros(2, np.int64)
    never[0, 1] = 0
    yes = np.ones(2, np.bool_)
    opens, closes, lasts = np.array([0, 50]), np.array([100, 100]), np.array([10, 10])
    course = Course(opens, closes, lasts, False, never, zero, zero, 0, None, EARLY, LATE, 5, yes, yes)
    assert times(course, (0, 1)) == ((35, 45), (50, 60))
    assert times(replace(course, wait=None), (0, 1)) == ((0, 10), (50, 60))
    assert times(replace(course, longer=True), (0, 1)) == ((0, 45), (50, 60))


@pytest.mark.parametrize("seed", range(60))
def test_costs_below_nothing_are_counted_under_a_bound(seed: int) -> None:
    draw = random.Random(seed)  # noqa: S311 - models, no secrets
    size = draw.randint(2, 6)
    costs = np.array([draw.randint(-9, 9) for _ in range(size)])
    part = Part(0, np.arange(size), draw.randint(0, 1), draw.randint(1, size - 1))
    leaf = Leaf(0, 1, -draw.randint(-12, 12))
    model = SetModel(("k",), ("c",), (part,), (Quantity({0: costs}),), (), (leaf,), Leaf(0, 1, 0), False)
    assert survey(model, FREE) == truth(model)
