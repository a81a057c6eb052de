"""Ranks, tallies, positions, lists and shards of all plans against trying every plan; every loop in both its forms."""

from __future__ import annotations

import itertools
import random
from collections import Counter
from dataclasses import replace
from functools import reduce
from typing import Any

import numpy as np
import pytest
from cobench.solver import kernels, ordering, scan, sweeping
from cobench.solver.model import Linear, Link, Model, Row
from cobench.solver.ordering import ordered
from cobench.solver.outcome import Limits, Outcome, Reason, Status
from cobench.solver.pairs import radix_sort
from cobench.solver.scan import Survey
from hypothesis import event, given
from hypothesis import strategies as st

from .models import Plan, everything, feasible_plans
from .test_model import EVERY, MANY, RandomModel, alike, choice, ints
from .test_semantics import NEVER

seeds = st.integers(0, 2**32)
both_forms = pytest.mark.parametrize("compiled", [False, True], ids=["lists", "compiled"])


def form(compiled: bool, patch: pytest.MonkeyPatch) -> None:
    """Has every loop run compiled, or none."""
    patch.setattr(kernels, "COMPILE_FROM", 0 if compiled else NEVER)


class Repeated(RandomModel):
    """Few different numbers, so that rows are alike and values tied; at most three linear rows, of any share."""

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


def random_model(seed: int) -> Model:
    rng = random.Random(seed)  # noqa: S311
    return everything((RandomModel if seed % 3 == 0 else Repeated)(rng).model())


def drawn_sum(model: Model, seed: int) -> Linear:
    """A small sum over the choices of a model, such as a number of wishes."""
    drawing = Repeated(random.Random(seed))  # noqa: S311
    drawing.sizes, drawing.big = [len(item) for item in model.choices], False
    return drawing.linear()


# --------------------------------------------------------------------------------------------- answers are the truth


@both_forms
@given(seed=seeds)
def test_ranks_and_tally_agree_with_trying_every_plan(compiled: bool, seed: int) -> None:
    model, by = random_model(seed), drawn_sum(random_model(seed), seed + 1)
    plans = feasible_plans(model)
    values = sorted(model.objective.value(plan) for plan in plans)
    asked = {0, 2**70, -(2**70), *values[:1], *(value + step for value in values[::7] for step in (-1, 0, 1))}
    event(f"{len(model.choices)} choices, {len(sweeping.binding(model)[0])} rows")
    with pytest.MonkeyPatch.context() as patch:
        form(compiled, patch)
        found = scan.survey(model, Limits(), sorted(asked), by)
        plain = scan.survey(model, Limits())
    assert found.ranks == {value: (sum(v < value for v in values), values.count(value)) for value in asked}
    assert found.tally == dict(sorted(Counter(by.value(plan) for plan in plans).items()))
    assert found.count == plain.count == (len(plans), len(plans))
    assert (found.outcome.status, found.outcome.value) == (plain.outcome.status, plain.outcome.value)
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
        form(compiled, patch)
        assert scan.values_at(model, positions, Limits()) == truth
        assert scan.value_at(model, positions[-2], Limits()) == truth[-2]
        for value in sorted({value for value, _ in plans[::9]}) + [10**30, -(10**30)]:
            wanted = [plan for plan in plans if plan[0] <= value]
            assert scan.plans_up_to(model, value, Limits(), len(plans)) == wanted
            if wanted:
                assert scan.plans_up_to(model, value, Limits(), len(wanted) - 1) is None
        counted = Counter(value for value, _ in plans)
        assert scan.distribution(model, len(counted), Limits()) == sorted(counted.items())
        assert not counted or scan.distribution(model, len(counted) - 1, Limits()) is None


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
    parts = [
        scan.survey(shard, Limits(), asked, replace(by, columns=scan_columns(by, number, of)))
        for number, shard in enumerate(shards)
    ]
    assert sum(len(shard.choices[0]) for shard in shards) == len(model.choices[0])
    left = reduce(Survey.merge, parts)
    right = reduce(lambda later, earlier: earlier.merge(later), reversed(parts))
    assert known(left) == known(right) == known(whole)
    if whole.outcome.status is Status.OPTIMAL:
        best = {plan for plan in feasible_plans(model) if model.objective.value(plan) == whole.outcome.best}
        rows = {tuple(int(item.rows[row]) for item, row in zip(model.choices, plan, strict=True)) for plan in best}
        number = next(n for n, part in enumerate(parts) if part.outcome.value == whole.outcome.best)
        picked = zip(shards[number].choices, left.outcome.plan, strict=True)
        assert tuple(int(item.rows[row]) for item, row in picked) in rows
