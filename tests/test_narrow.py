"""Lowering for feasible plans alone gives the plans of whole lowering; what it remembers is never taken for another."""

from __future__ import annotations

import itertools
from collections.abc import Callable
from pathlib import Path

import pytest
from cobench.datasets.opening import Dataset, open_dataset
from cobench.schemas.errors import InputError
from cobench.schemas.problem import Problem, pose
from cobench.schemas.task import TaskFile, parse_task
from cobench.solver.certify import certify
from cobench.solver.lower import Lowered, lower
from cobench.solver.lowering import levels
from cobench.solver.lowering.narrow import feasible, marked
from hypothesis import given
from hypothesis import strategies as st

from .phrases import Case, cases
from .test_semantics import posed, slow
from .worlds import Sheet, World

Plans = dict[tuple[int, ...], int]  # rows of the offer tables, and the value
Lowerer = Callable[[Problem, Dataset], Lowered]

TASK = """
cobench: 1
id: t
dataset: parks
given:
  guests: {guests}
choose:
  hotel: stays
  flight: round_trips
constraints:
  park: hotel.park in ["Zion", "Acadia"] and serves(flight.destination, hotel.park)
  dates: flight.departs_on == hotel.check_in and flight.returns_on == hotel.check_out
  cheap: hotel.room_price <= {price} and weekday(hotel.check_in) == "fri"
minimize: hotel.total_price + flight.total_price
"""


def plans(lowerer: Lowerer, problem: Problem, data: Dataset) -> Plans | str:
    """All feasible plans by trying every combination of rows; or what the task is refused with."""
    try:
        model = lowerer(problem, data).model
    except InputError as fault:
        return str(fault)
    every = range(len(model.names))
    return {
        tuple(
            int(choice.rows[index]) for choice, index in zip(model.choices, picked, strict=True)
        ): model.objective.value(picked)
        for picked in itertools.product(*(range(len(choice)) for choice in model.choices))
        if model.feasible(picked, every)
    }


@slow
@given(cases(most_choices=3, most_rows=6, extreme=True), st.booleans())
def test_the_plans_are_those_of_whole_lowering(case: Case, every_column_is_a_level: bool) -> None:
    with pytest.MonkeyPatch.context() as patch, posed(case) as at:
        if every_column_is_a_level:
            patch.setattr(levels, "_FROM", 0)
            patch.setattr(levels, "_REPEATED", 0)
        expected = plans(lower, at.problem, at.data)
        assert plans(feasible, at.problem, at.data) == expected
        assert plans(feasible, at.problem, at.data) == expected  # and once more, from what is remembered


@slow
@given(cases(most_choices=2, most_rows=6, extreme=True), st.booleans())
def test_the_constraints_that_each_offer_can_satisfy_are_those_of_whole_lowering(case: Case, levels_: bool) -> None:
    with pytest.MonkeyPatch.context() as patch, posed(case) as at:
        if levels_:
            patch.setattr(levels, "_FROM", 0)
            patch.setattr(levels, "_REPEATED", 0)
        try:
            whole = lower(at.problem, at.data)
        except InputError:
            return
        found = marked(at.problem, at.data)
        assert [offers.rows.tolist() for offers, _ in found] == [offers.rows.tolist() for offers in whole.offers]
        assert [bits.tolist() for _, bits in found] == [choice.satisfied.tolist() for choice in whole.model.choices]


def task(guests: int, price: int = 900) -> TaskFile:
    return parse_task(TASK.format(guests=guests, price=price))


def test_what_is_remembered_for_one_number_of_guests_is_not_used_for_another() -> None:
    shared = open_dataset("parks")
    for guests in (2, 5, 2, 1, 5):
        assert certify(task(guests), shared) == certify(task(guests), open_dataset("parks"))


def test_little_is_remembered_however_many_tasks_there_are(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(levels, "_BYTES", 100_000)
    shared = open_dataset("parks")
    expected = certify(task(2), shared)
    for price in range(100, 400, 10):
        certify(task(2, price), shared)
        assert levels.recent(shared).size <= 100_000
    assert certify(task(2), shared) == expected


def test_datasets_do_not_share_what_they_remember(tmp_path: Path) -> None:
    manifest = (
        "cobench_dataset: 1\nname: w\ntables:\n  t:\n    file: t.parquet\n    key: [code]\n    id: '{code}'\n"
        "    columns:\n      code: {type: number}\n      n: {type: number}\n"
    )
    file = parse_task(
        "cobench: 1\nid: t\ndataset: .\nchoose:\n  a: t\n  b: t\nconstraints:\n  low: a.n <= 1\n  same: a.n == b.n\n"
        "minimize: a.code + b.code\n"
    )
    found: list[Plans | str] = []
    for name, values in (("one", (0, 1, 2)), ("two", (5, 1, 1)), ("three", (0, 1, 2))):
        folder = tmp_path / name
        folder.mkdir()
        rows = [(code, value) for code, value in enumerate(values)]
        World(manifest, {"t.parquet": Sheet({"code": "number", "n": "number"}, rows)}).write(folder)
        data = open_dataset(str(folder))
        found.append(plans(feasible, pose(file, data.manifest), data))
    assert found == [{(0, 0): 0, (1, 1): 2}, {(1, 1): 2, (1, 2): 3, (2, 1): 3, (2, 2): 4}, {(0, 0): 0, (1, 1): 2}]


@pytest.mark.parametrize("condition", ["hotel.review_score < 9", "hotel.eco_rating != 3", "not hotel.eco_rating > 1"])
def test_unknown_values_satisfy_nothing_wherever_they_are_decided(condition: str) -> None:
    data = open_dataset("parks")
    text = "cobench: 1\nid: t\ndataset: parks\ngiven:\n  guests: 2\nchoose:\n  hotel: stays\nconstraints:\n"
    file = parse_task(f"{text}  some: {condition}\n  short: hotel.nights == 1\nminimize: hotel.total_price\n")
    problem = pose(file, data.manifest)
    assert plans(feasible, problem, data) == plans(lower, problem, data) != {}
