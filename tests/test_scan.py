"""Ranks, tallies, positions, lists and shards of all plans against trying every plan; every loop in both its forms."""

from __future__ import annotations

import random
from collections import Counter
from dataclasses import replace
from functools import reduce
from typing import Any

import numpy as np
import pytest
from cobench.solver import scan
from cobench.solver.columns import grouping, kernels, ordering, sweeping
from cobench.solver.columns.ordering import Ordered
from cobench.solver.columns.pairs import radix_sort
from cobench.solver.model import Linear, Link, Model, Row
from cobench.solver.outcome import Limits, Outcome, Reason, Status
from cobench.solver.scan import Survey
from hypothesis import event, given
from hypothesis import strategies as st

from .models import everything, feasible_plans, rows_of
from .test_model import RandomModel, alike, choice, ints
from .test_semantics import NEVER

seeds = st.integers(0, 2**32)
both_forms = pytest.mark.parametrize("compiled", [False, True], ids=["lists", "compiled"])


def form(compiled: bool, patch: pytest.MonkeyPatch, seed: int) -> None:
    """Has every loop run compiled, or none. The seed says which loops are taken for several rows, whatever they cost,
    and whether rows of a choice that are alike are merged.
    """
    patch.setattr(kernels, "COMPILE_FROM", 0 if compiled else NEVER)
    patch.setattr(sweeping, "TREE_STEPS", (0, 16)[seed % 2])
    patch.setattr(sweeping, "BIT_STEPS", (-(10**6), 64)[seed // 2 % 2])
    patch.setattr(grouping, "WORTH", (0.0, 1.0)[seed // 4 % 2])
    patch.setattr(sweeping, "_CHUNK", (10**8, 20)[seed // 8 % 2])


class Repeated(RandomModel):
    """Few different numbers, so that rows are alike and values tied; up to three more rows, which about half hold."""

    def __init__(self, rng: random.Random) -> None:
        super().__init__(rng)
        self.big = self.big and rng.random() < 0.3
        self.few = rng.random() < 0.5

    def linear(self) -> Linear:
        linear = super().linear()
        if not self.few:
            return linear
        columns = {place: column % 2 for place, column in linear.columns.items()}
        return Linear(columns, linear.terms, linear.constant - self.rng.randint(0, 2))

    def model(self) -> Model:
        model = super().model()
        if self.rng.random() < 0.6:  # else few have a plan
            choices = tuple(choice(item.name, len(item)) for item in model.choices)
            model = replace(model, names=(), choices=choices, rows=(), links=model.links[:1], tables=())
            model = replace(model, names=("link",), links=tuple(replace(link, constraint=0) for link in model.links))
        names, rows = [*model.names], [*model.rows]
        for _ in range(self.rng.randint(0, 3)):
            linear = self.linear()
            middle = sum(linear.bounds()) // 2 + self.rng.randint(-1, 2)
            rows.append(Row(len(names), replace(linear, constant=linear.constant - middle)))
            names.append(f"more{len(names)}")
        return replace(model, names=tuple(names), rows=tuple(rows))


def random_model(seed: int) -> Model:
    rng = random.Random(seed)  # noqa: S311
    return everything((RandomModel if seed % 3 == 0 else Repeated)(rng).model())


def drawn_sum(model: Model, seed: int) -> Linear:
    """A small sum over the choices of a model, such as a number of wishes."""
    drawing = Repeated(random.Random(seed))  # noqa: S311
    drawing.sizes, drawing.big = [len(item) for item in model.choices], False
    return drawing.linear()


# --------------------------------------------------------------------------------------------- answers are the truth


def wide_model(rng: np.random.Generator) -> Model:
    """Two choices of up to 700 rows, so that sets of rows take several machine words; up to three budgets."""
    sizes = [int(size) for size in rng.integers(60, 700, 2)]

    def total(high: int) -> Linear:
        return Linear({place: rng.integers(0, high, size) for place, size in enumerate(sizes)}, (), 0)

    rows = [total(1_000) for _ in range(int(rng.integers(0, 4)))]
    budgets = tuple(Row(place, replace(row, constant=-int(rng.integers(400, 1_500)))) for place, row in enumerate(rows))
    groups = int(rng.integers(1, 6))
    codes = (rng.integers(0, groups, sizes[0]), rng.integers(-1, groups, sizes[1]))
    link = Link(len(rows), (0, 1), codes)
    choices = tuple(choice(name, size) for name, size in zip("ab", sizes, strict=True))
    names = (*(f"budget{place}" for place in range(len(rows))), "dates")
    return Model(names, choices, budgets, (link,), (), total(300), False)


@pytest.mark.parametrize(("seed", "compiled"), [*((seed, True) for seed in range(12)), (0, False), (1, False)])
def test_tables_beyond_one_machine_word_agree_with_all_pairs(
    seed: int, compiled: bool, monkeypatch: pytest.MonkeyPatch
) -> None:
    model = wide_model(np.random.default_rng(seed))
    form(compiled, monkeypatch, seed)
    left, right = model.links[0].codes
    fits = (left[:, None] == right[None, :]) & (left[:, None] >= 0)
    for row in model.rows:
        columns = row.linear.columns
        fits &= columns[0][:, None] + columns[1][None, :] + row.linear.constant <= 0
    worth = model.objective.columns
    values = np.sort((worth[0][:, None] + worth[1][None, :])[fits])
    asked = [250, *map(int, values[:: max(1, len(values) // 5)])]
    found = scan.survey(model, Limits(), asked)
    assert found.count == (len(values), len(values))
    if not len(values):
        return
    assert found.outcome.value == values[0]
    assert found.tied == np.count_nonzero(values == values[0])
    for value in asked:
        assert found.ranks[value] == (np.count_nonzero(values < value), np.count_nonzero(values == value))
    places = [1, len(values) // 3 + 1, len(values)]
    assert scan.values_at(model, places, Limits()) == [int(values[place - 1]) for place in places]


@both_forms
@given(seed=seeds)
def test_ranks_and_tally_agree_with_trying_every_plan(compiled: bool, seed: int) -> None:
    model, by = random_model(seed), drawn_sum(random_model(seed), seed + 1)
    plans = feasible_plans(model)
    values = sorted(model.objective.value(plan) for plan in plans)
    asked = {0, 2**70, -(2**70), *values[:1], *(value + step for value in values[::7] for step in (-1, 0, 1))}
    event(f"{len(model.choices)} choices, {len(sweeping.binding(model)[0])} rows")
    with pytest.MonkeyPatch.context() as patch:
        form(compiled, patch, seed)
        found = scan.survey(model, Limits(), sorted(asked), by)
        ranked = scan.survey(model, Limits(), sorted(asked))
        plain = scan.survey(model, Limits())
    assert found.ranks == {value: (sum(v < value for v in values), values.count(value)) for value in asked}
    assert found.tally == dict(sorted(Counter(by.value(plan) for plan in plans).items()))
    assert ranked == replace(found, outcome=ranked.outcome, tally=None)
    assert found.count == plain.count == (len(plans), len(plans))
    assert (found.outcome.status, found.outcome.value) == (plain.outcome.status, plain.outcome.value)
    for survey in (found, ranked, plain):
        assert not plans or model.objective.value(survey.outcome.plan) == values[0]
        assert not plans or survey.outcome.plan in plans
    assert (found.tied, found.runner_up) == (plain.tied, plain.runner_up)
    assert found.tied == (values.count(values[0]) if values else 0)
    assert found.runner_up == next((value for value in values if value > values[0]), None)


@both_forms
@given(seed=seeds)
def test_positions_and_lists_agree_with_trying_every_plan(compiled: bool, seed: int) -> None:
    model = random_model(seed)
    plans = sorted((model.objective.value(plan), plan) for plan in feasible_plans(model))
    positions = [0, *range(1, len(plans) + 2, 1 + len(plans) // 5), len(plans), len(plans) + 1]
    truth = [plans[position - 1][0] if 1 <= position <= len(plans) else None for position in positions]
    with pytest.MonkeyPatch.context() as patch:
        form(compiled, patch, seed)
        assert scan.values_at(model, positions, Limits()) == truth
        assert scan.value_at(model, positions[-2], Limits()) == truth[-2]
        for value in (*sorted({value for value, _ in plans[::9]}), 10**30, -(10**30)):
            wanted = [plan for plan in plans if plan[0] <= value]
            assert scan.plans_up_to(model, value, Limits(), len(plans)) == wanted
            if wanted:
                assert scan.plans_up_to(model, value, Limits(), len(wanted) - 1) is None
        counted = Counter(value for value, _ in plans)
        assert scan.distribution(model, len(counted), Limits()) == sorted(counted.items())
        assert not counted or scan.distribution(model, len(counted) - 1, Limits()) is None


@both_forms
@given(seed=seeds)
def test_several_rows_that_bind_two_larger_choices(compiled: bool, seed: int) -> None:
    rng = random.Random(seed)  # noqa: S311
    model = small_pairs(rng, 1, 9)
    more = [
        Row(
            1,
            Linear(
                {place: ints(*(rng.randint(-3, 3) for _ in range(9))) for place in range(2)}, (), -rng.randint(0, 3)
            ),
        )
        for _ in range(rng.randint(1, 2))
    ]
    model = replace(model, rows=(*model.rows, *more))
    values = sorted(map(model.objective.value, feasible_plans(model)))
    with pytest.MonkeyPatch.context() as patch:
        form(compiled, patch, seed)
        found = [scan.survey(model, Limits()), scan.survey(model, Limits(), (9,))]
    for survey in found:
        assert survey.count[0] == len(values)
        assert survey.tied == (values.count(values[0]) if values else 0)
        assert survey.runner_up == next((value for value in values if value > values[0]), None)
    assert found[1].ranks[9] == (sum(value < 9 for value in values), values.count(9))


@both_forms
def test_the_models_above_reach_every_loop(compiled: bool, monkeypatch: pytest.MonkeyPatch) -> None:
    taken: Counter[str] = Counter()
    right = kernels.run

    def run(kernel: Any, *rest: Any) -> None:
        taken[kernel.__name__] += 1
        right(kernel, *rest)

    monkeypatch.setattr(sweeping, "run", run)
    for seed in range(200):
        form(compiled, monkeypatch, seed)
        model = random_model(seed)
        scan.survey(model, Limits(), (0,))
        scan.survey(model, Limits(), (), model.objective)
        scan.survey(model, Limits())
        scan.distribution(model, 1_000, Limits())
        scan.plans_up_to(model, 0, Limits(), 1_000)
    assert set(taken) == {"sweep", "sweep_two", "sweep_bits", "enumerate_pairs", "hash_values", "report"}
    assert min(taken.values()) > 5


# ------------------------------------------------------------------------------------------------------ shards merge


def known(survey: Survey) -> Survey:
    """Without the plan: which of the best plans it is depends on the shards."""
    outcome = survey.outcome
    return replace(survey, outcome=replace(outcome, picked=outcome.picked and ()))


@given(seeds, st.integers(1, 5))
def test_surveys_of_shards_merge_into_the_survey_of_the_whole(seed: int, of: int) -> None:
    model, by = random_model(seed), drawn_sum(random_model(seed), seed + 1)
    asked = (0, 3, -3)
    whole = scan.survey(model, Limits(), asked, by)
    shards = [scan.shard(model, number, of) for number in range(of)]
    rows = {place: np.arange(len(item)) for place, item in enumerate(model.choices)}
    parts = [
        scan.survey(shard, Limits(), asked, by.taken(rows | {0: rows[0][number::of]}))
        for number, shard in enumerate(shards)
    ]
    assert sum(len(shard.choices[0]) for shard in shards) == len(model.choices[0])
    left = reduce(Survey.merge, parts)
    right = reduce(lambda later, earlier: earlier.merge(later), reversed(parts))
    assert known(left) == known(right) == known(whole)
    if whole.outcome.status is Status.OPTIMAL:
        best = {plan for plan in feasible_plans(model) if model.objective.value(plan) == whole.outcome.best}
        offers = {rows_of(model, plan) for plan in best}
        number = next(n for n, part in enumerate(parts) if part.outcome.value == whole.outcome.best)
        assert rows_of(shards[number], left.outcome.plan) in offers


def test_a_shard_that_a_limit_stopped_stops_the_whole() -> None:
    model = alike(2, 4)
    solved, empty = scan.survey(model, Limits(), (2,), model.objective), Survey(Outcome(Status.INFEASIBLE), (0, 0))
    stopped = scan.survey(model, Limits(work=1), (2,), model.objective)
    assert stopped == Survey(Outcome(Status.UNKNOWN, reason=Reason.WORK), (0, 16))
    for merged in (solved.merge(stopped), stopped.merge(solved), empty.merge(stopped).merge(solved)):
        assert (merged.outcome.status, merged.outcome.reason) == (Status.FEASIBLE, Reason.WORK)
        assert (merged.count, merged.outcome.best, merged.outcome.bound) == ((16, 32), 2, None)
        assert not merged.ranks
        assert merged.tally is None
    assert stopped.merge(stopped).outcome == stopped.outcome
    part = replace(solved, outcome=Outcome(Status.FEASIBLE, (0, 0), 2, -5, Reason.TIME))
    assert part.merge(solved).outcome == replace(part.outcome)
    assert part.merge(empty).outcome.bound == empty.merge(part).outcome.bound == -5


# ------------------------------------------------------------------------------------------------------ large numbers


@both_forms
def test_counts_beyond_64_bits_are_exact_in_every_answer(compiled: bool, monkeypatch: pytest.MonkeyPatch) -> None:
    """Four choices of 2^16 rows, half of them one dearer: 2^64 plans, which is 0 modulo 2^64."""
    for rows in range(4):  # each has its own loop
        form(compiled, monkeypatch, 4)
        small, model = (two_kinds(rows, number) for number in (2, 2**16))
        values = [small.objective.value(plan) for plan in feasible_plans(small)]
        truth = {value: number * 2**60 for value, number in sorted(Counter(values).items())}
        total, worst = sum(truth.values()), max(truth)
        found, plain = scan.survey(model, Limits(), (0, 1, 4), model.objective), scan.survey(model, Limits())
        assert found.count == plain.count == (total, total)
        assert total >= 2**63
        assert found.tied == plain.tied == truth[0]
        assert found.tally == truth
        assert scan.distribution(model, 10, Limits()) == list(truth.items())
        for value, rank in found.ranks.items():
            assert rank == (sum(truth[other] for other in truth if other < value), truth.get(value, 0))
        positions = (truth[0], truth[0] + 1, total, total + 1)
        assert scan.values_at(model, positions, Limits()) == [0, 1, worst, None]


def two_kinds(rows: int, number: int) -> Model:
    """Four choices of so many rows of two kinds, and up to three rows that bind."""
    half = np.arange(number) % 2
    items = tuple(choice(f"c{place}", number) for place in range(4))
    budgets = [Row(row, Linear({0: half * row, 1: half, 2: half, 3: half}, (), -2)) for row in range(rows)]
    every = Linear(dict.fromkeys(range(4), half), (), 0)
    return Model(("a", "b", "c")[:rows], items, tuple(budgets), (), (), every, False)


# ------------------------------------------------------------------------------------------------- sorting and layout


@both_forms
@given(data=st.data())
def test_rows_are_ordered_by_their_columns_in_turn_however_wide(compiled: bool, data: Any) -> None:
    """In one packed key, in several that are sorted one after the other, or by lexsort when none would do."""
    size = data.draw(st.integers(0, 40))
    spans = data.draw(st.lists(st.sampled_from([0, 1, 7, 2**20, 2**40, 2**57, 2**62 - 1]), min_size=1, max_size=5))
    columns = [ints(*data.draw(st.lists(st.integers(-span, span), min_size=size, max_size=size))) for span in spans]
    with pytest.MonkeyPatch.context() as patch:
        form(compiled, patch, 0)
        rows = Ordered(columns)
        found = [rows.column(place) for place in range(len(columns))]
        fresh = [rows.fresh(number) for number in range(1, len(columns) + 1)]
        order = rows.order()
    truth = sorted(range(size), key=lambda row: [int(column[row]) for column in columns])
    assert order.tolist() == truth
    assert [column.tolist() for column in found] == [column[truth].tolist() for column in columns]
    ranked = [[int(column[row]) for column in columns] for row in truth]
    for number, flags in enumerate(fresh, 1):
        keys = [key[:number] for key in ranked]
        assert flags.tolist() == [place == 0 or key != keys[place - 1] for place, key in enumerate(keys)]


@pytest.mark.parametrize("bits", [1, 20, 40, 62])
def test_wide_columns_are_sorted_without_a_packed_key(bits: int, monkeypatch: pytest.MonkeyPatch) -> None:
    """Budgets in so small a unit that group, cost, objective and row do not fit 63 bits together, or one does not."""
    seen: list[int] = []
    right = np.lexsort
    monkeypatch.setattr(ordering.np, "lexsort", lambda keys: seen.append(len(keys)) or right(keys))
    unit = 2 ** max(0, bits - 5)
    model = small_pairs(random.Random(bits), unit)  # noqa: S311
    budget = model.rows[0].linear
    plans = feasible_plans(model)
    found = scan.survey(model, Limits())
    assert found.count == (len(plans), len(plans))
    assert found.outcome.best == min(map(model.objective.value, plans))
    assert bool(seen) == (max(int(np.ptp(column)) for column in budget.columns.values()) >= 2**60)


def small_pairs(rng: random.Random, unit: int, rows: int = 8) -> Model:
    """Two choices of a few rows each, linked, under a budget in some unit."""
    costs = [ints(*(rng.randint(-3, 3) * unit for _ in range(rows))) for _ in range(2)]
    worth = {place: ints(*(rng.randint(0, 9) for _ in range(rows))) for place in range(2)}
    codes = tuple(ints(*(rng.randint(0, 1) for _ in range(rows))) for _ in range(2))
    items = tuple(choice(f"c{place}", rows) for place in range(2))
    budget = Row(0, Linear(dict(enumerate(costs)), (), 0))
    return Model(("budget", "dates"), items, (budget,), (Link(1, (0, 1), codes),), (), Linear(worth, (), 0), False)


def test_radix_sort_uncompiled() -> None:
    keys = [random.Random(1).getrandbits(40) << 3 | place for place in range(8)]  # noqa: S311
    for digits, bits in ((4, 10), (5, 8)):
        found = list(keys)
        radix_sort(found, [0] * len(keys), [0] * (1 << bits), 3, digits)
        assert found == sorted(keys)


def test_a_tally_over_other_rows_is_refused() -> None:
    model = Model((), (choice("a", 6), choice("b", 2)), (), (), (), Linear({}, (), 0), False)
    whole = Linear({0: ints(*range(6))}, (), 0)
    with pytest.raises(ValueError, match="other rows"):
        scan.survey(scan.shard(model, 0, 2), Limits(), tally=whole)
