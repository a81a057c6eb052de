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
from cobench.schemas.task import parse_task
from cobench.solver.sets.lower import LoweredSets, lower
from cobench.solver.sets.model import Part, Picked
from hypothesis import assume, event, given
from hypothesis import strategies as st

from .oracle_sets import truth
from .phrases_sets import Case, case_of


def options(part: Part) -> Iterator[tuple[int, ...]]:
    choose = itertools.combinations if part.course is None else itertools.permutations
    for size in range(part.at_least, part.at_most + 1):
        yield from choose(range(len(part)), size)


def plans(lowered: LoweredSets) -> Iterator[tuple[tuple[tuple[str, ...], ...], int]]:
    """Every feasible plan of the model in ids, with its value."""
    model = lowered.model
    names = [lowered.offers[part.choice].ids(places.tolist()) for part, places in zip(model.parts, lowered.places, strict=True)]
    for picked in itertools.product(*(options(part) for part in model.parts)):
        if model.feasible(picked):
            ids: list[tuple[str, ...]] = [() for _ in model.choices]
            for part, named, rows in zip(model.parts, names, picked, strict=True):
                ids[part.choice] += tuple(named[row] for row in rows)
            yield tuple(ids), -model.cost(picked) if model.maximize else model.cost(picked)


def check(case: Case) -> str:
    with tempfile.TemporaryDirectory() as name:
        case.world.write(Path(name))
        data, file = open_dataset(name), parse_task(case.task)
        try:
            problem = pose(file, data.manifest)
            lowered = lower(problem, data)
        except (ExpressionError, InputErrors) as fault:
            faults = fault.errors if isinstance(fault, InputErrors) else (fault,)
            if any(not item.message.startswith("not supported, because") and "may be unknown" not in item.message for item in faults):
                raise
            return "refused: " + faults[0].message[:60]
        scale = problem.objective.type.scale
        wanted = truth(file, Path(name), data.manifest.manifest)
        found = Counter(plans(lowered))
        assert found == Counter((ids, int(worth * scale)) for ids, worth in wanted.plans)
        return "some plans" if found else "no plan"


@given(st.integers(0, 2**40))
def test_a_model_has_exactly_the_plans_that_the_expressions_allow_and_their_values(seed: int) -> None:
    event(check(case_of(seed)))
