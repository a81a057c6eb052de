"""Lowered models of sets, routes and aggregates mean what the expressions say: every plan, tried against the oracle."""

from __future__ import annotations

import itertools
import tempfile
from collections import Counter
from collections.abc import Iterator
from pathlib import Path

import pytest
from cobench.datasets.opening import open_dataset
from cobench.schemas.errors import ExpressionError, InputErrors
from cobench.schemas.problem import pose
from cobench.schemas.task import TaskFile, parse_task
from cobench.solver.sets.lower import LoweredSets, lower
from cobench.solver.sets.model import Part
from hypothesis import event, given
from hypothesis import strategies as st

from .oracle_sets import truth
from .phrases_sets import Case, case_of

_ALLOWED = "not supported, because"


def options(part: Part) -> Iterator[tuple[int, ...]]:
    choose = itertools.combinations if part.course is None else itertools.permutations
    for size in range(part.at_least, part.at_most + 1):
        yield from choose(range(len(part)), size)


def plans(lowered: LoweredSets) -> Iterator[tuple[tuple[tuple[str, ...], ...], int]]:
    """Every feasible plan of the model in ids, with its value."""
    model = lowered.model
    places = zip(model.parts, lowered.places, strict=True)
    names = [lowered.offers[part.choice].ids(rows.tolist()) for part, rows in places]
    for picked in itertools.product(*(options(part) for part in model.parts)):
        if model.feasible(picked):
            ids: list[tuple[str, ...]] = [() for _ in model.choices]
            for part, named, rows in zip(model.parts, names, picked, strict=True):
                ids[part.choice] += tuple(named[row] for row in rows)
            yield tuple(ids), -model.cost(picked) if model.maximize else model.cost(picked)


def scope(file: TaskFile, kept: int) -> dict[str, list[str]]:
    """Some ids for some choices, a bit each."""
    ids = {"items": ["i_a", "i_b", "i_é", "i_Z", "i_10"], "hotels": ["h1", "h2", "é"]}
    found: dict[str, list[str]] = {}
    for name in file.task.choose:
        some = ids[file.task.choice(name).table]
        kept, chosen = kept >> 6, kept & 63
        if chosen >> 5:
            found[name] = sorted((offer for at, offer in enumerate(some) if chosen >> at & 1), key=str.encode)
    return found


def check(case: Case, kept: int) -> str:
    with tempfile.TemporaryDirectory() as name:
        case.world.write(Path(name))
        data, file = open_dataset(name), parse_task(case.task)
        try:
            problem = pose(file, data.manifest)
            within = scope(file, kept)
            lowered = lower(problem, data, within)
        except (ExpressionError, InputErrors) as fault:
            faults = fault.errors if isinstance(fault, InputErrors) else (fault,)
            if not all(item.message.startswith(_ALLOWED) or "may be unknown" in item.message for item in faults):
                raise
            return "refused: " + faults[0].message[:60]
        scale = problem.objective.type.scale
        wanted = truth(file, Path(name), data.manifest.manifest, within=within)
        found = Counter(plans(lowered))
        assert found == Counter((ids, int(worth * scale)) for ids, worth in wanted.plans)
        return "some plans" if found else "no plan"


@given(st.integers(0, 2**40), st.just(0) | st.integers(0, 2**40))
def test_a_model_has_exactly_the_plans_that_the_expressions_allow_and_their_values(seed: int, kept: int) -> None:
    event(check(case_of(seed), kept))


TASK = """cobench: 1
id: t
title: t
dataset: .
choose:
  hotel: hotels
  other: {one: hotels, where: n >= 0}
  meals: {any_of: items, at_least: 1}
  day: {route: items, opens: opens, closes: closes, lasts: mins}
"""


def lowered(more: str, choose: str = "") -> LoweredSets:
    with tempfile.TemporaryDirectory() as name:
        case_of(0).world.write(Path(name))
        data = open_dataset(name)
        return lower(
            pose(parse_task(TASK.replace("opens: opens", choose or "opens: opens") + more), data.manifest), data
        )


@pytest.mark.parametrize(
    ("more", "reason"),
    [
        ("minimize: sum(m.n + hotel.n for m in meals)", "reads two choices where a number is added up"),
        ("minimize: max(hotel.n, sum(m.n for m in meals))", "is not linear, and stands where numbers are added up"),
        ("maximize: day.ends_", "nothing says when 'day' begins, so it has no least end"),
        ("minimize: hotel.n\nconstraints:\n  a: 'not day.ends_ <= 20'", "a later end of a route would be better here"),
    ],
)
def test_what_no_model_can_hold_is_refused_with_the_reason(more: str, reason: str) -> None:
    choose = "" if "nothing" in reason else "start: {time: 0}, opens: opens"
    with pytest.raises(ExpressionError, match="not supported, because") as caught:
        lowered(more.replace("day.ends_", "day.ends"), choose)
    assert reason in caught.value.message


def test_equal_sums_up_to_their_sign_are_one_quantity() -> None:
    model = lowered(
        "constraints:\n  a: sum(m.n for m in meals) <= 2\n  b: sum(m.n for m in meals) >= -1\n"
        "maximize: sum(m.n for m in meals)"
    ).model
    assert len(model.quantities) == 1


def test_a_maximum_against_a_constant_needs_no_flag() -> None:
    assert not lowered("constraints:\n  a: max(m.n for m in meals) <= 2\nminimize: hotel.n").model.flags
    assert lowered("constraints:\n  a: max(m.n for m in meals) <= hotel.n\nminimize: hotel.n").model.flags


def test_a_larger_upper_bound_than_the_table_is_lowered() -> None:
    model = lowered("minimize: hotel.n").model
    assert all(part.at_most <= max(len(part), 1) for part in model.parts)
