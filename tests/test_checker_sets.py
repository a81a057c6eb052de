"""The checker on tasks with sets and routes: plans clause by clause, and all plans against brute force."""

from __future__ import annotations

import tempfile
from collections.abc import Iterator
from fractions import Fraction
from pathlib import Path
from typing import Any

import pyarrow as pa
import pyarrow.parquet as pq
import pytest
from cobench.schemas.errors import InputErrors, TaskError
from cobench.schemas.manifest import load_manifest
from cobench.schemas.plan import Plan
from cobench.schemas.problem import Problem, pose
from cobench.schemas.task import parse_task
from cobench.solver.checker.check import Data, Evaluation, evaluate, open_data
from cobench.solver.checker.recompute import recompute
from cobench.solver.checker.trace import trace
from hypothesis import assume, given, settings
from hypothesis import strategies as st

from . import oracle_sets
from .oracle import UnknownObjectiveError
from .oracle_sets import truth

MANIFEST = """
cobench_dataset: 1
name: small
tables:
  items:
    file: items.parquet
    key: [name]
    id: "{name}"
    columns:
      name: {type: string}
      day: {type: number, nullable: true}
      price: {type: number, unit: USD, digits: 2}
      stars: {type: number, nullable: true}
      kind: {type: string, values: [thai, pizza], nullable: true}
      place: {type: string, nullable: true}
      opens: {type: number, unit: min, nullable: true}
      closes: {type: number, unit: min}
      minutes: {type: number, unit: min}
relations:
  walk:
    file: walk.parquet
    args: [here, there]
    value: minutes
    columns:
      here: {type: string}
      there: {type: string}
      minutes: {type: number, unit: min}
"""
TYPES = {
    "name": pa.string(),
    "day": pa.int64(),
    "price": pa.int64(),
    "stars": pa.int64(),
    "kind": pa.string(),
    "place": pa.string(),
    "opens": pa.int64(),
    "closes": pa.int64(),
    "minutes": pa.int64(),
}
WALK = {"here": pa.string(), "there": pa.string(), "minutes": pa.int64()}


def write(folder: Path, rows: list[tuple[Any, ...]], walk: dict[tuple[str, str], int], manifest: str = MANIFEST) -> None:
    """The dataset's files."""
    for name, types, content in (("items", TYPES, rows), ("walk", WALK, [(*ends, way) for ends, way in walk.items()])):
        columns = list(zip(*content, strict=True)) or [()] * len(types)
        arrays = [pa.array(values, kind) for values, kind in zip(columns, types.values(), strict=True)]
        pq.write_table(pa.table(dict(zip(types, arrays, strict=True))), folder / f"{name}.parquet")
    (folder / "dataset.yaml").write_text(manifest, encoding="utf-8")


def posed(folder: Path, task: str) -> tuple[Problem, Data]:
    problem = pose(parse_task(task), load_manifest(folder / "dataset.yaml"))
    return problem, open_data(folder, problem)


def task_on(choose: list[str], constraints: list[str], objective: str) -> str:
    lines = ["cobench: 1", "id: t", "dataset: small", "choose:", *(f"  {line}" for line in choose)]
    lines += ["constraints:"] * bool(constraints)
    lines += [f"  c{at}:\n    require: {text}" for at, text in enumerate(constraints)]
    return "\n".join([*lines, objective, ""])


# ---------------------------------------------------------------------------------------------------- all plans

small = st.integers(0, 3)
ROWS = st.lists(
    st.tuples(
        st.sampled_from([None, 1, 2]),
        st.integers(0, 4).map(lambda number: 50 * number),
        st.sampled_from([None, 1, 2, 3]),
        st.sampled_from([None, "thai", "pizza"]),
        st.sampled_from([None, "A", "B", "B"]),
        st.sampled_from([None, 0, 5, 10, 10]),
        st.integers(10, 40),
        st.integers(0, 12),
    ),
    min_size=1,
    max_size=3,
)
WAYS = st.dictionaries(st.sampled_from([("A", "B"), ("B", "A"), ("H", "A"), ("H", "B"), ("A", "H"), ("B", "H")]), small)
CONDITIONS = [
    "sum(x.price for x in {s}) <= 3",
    "count(x for x in {s}) >= 1",
    "count(x.stars > 1 for x in {s}) >= 1",
    'any(x.kind == "thai" for x in {s})',
    'all(x.kind == "thai" or x.price < 1.5 for x in {s})',
    "sum(x.stars for x in {s}) >= 2",
    "distinct(x.kind for x in {s}) <= 1",
    "max(x.stars for x in {s}) >= 2",
    "min(x.price for x in {s} if x.stars >= 1) < 1",
    "not any(x.stars == 2 for x in {s}) or sum(x.price for x in {s}) <= one.price",
    "sum(x.price for x in {s}) + one.price <= 4",
    "sum(x.price for x in {s} if x.day == 1) != 1 or one.stars > 1",
    "known(sum(x.stars for x in {s}))",
    "sum(x.price for x in bag) <= 2 or sum(x.price for x in tour) >= 1",
    "tour.travel <= 3",
    "tour.ends <= 30 or one.price < 1",
    'one.kind == "pizza"',
]
OBJECTIVES = [
    "minimize: sum(x.price for x in bag) + one.price",
    "maximize: sum(x.price for x in tour) - sum(x.price for x in bag)",
    "maximize: count(x for x in tour)",
    "minimize: tour.ends",
    "minimize: tour.travel",
    "maximize: one.price",
    "maximize: distinct(x.price for x in bag) + distinct(x.price for x in tour)",
]


@st.composite
def tasks(draw: st.DrawFn) -> str:
    """A task with one row, a set and a route."""
    few = st.integers(0, 2)
    sizes = f"at_least: {draw(few)}, at_most: {draw(st.integers(2, 3))}"
    bag = [sizes, *draw(st.sampled_from([[], ["per: day"], ["where: price >= 1"], ["where: stars <= 2", "per: day"]]))]
    tour = [f"at_least: {draw(few)}", "lasts: " + draw(st.sampled_from(["minutes", "{at_least: minutes}"]))]
    tour += draw(st.sampled_from([[], ["at: place", "travel: walk"]]))
    placed = "walk" in tour[-1]
    tour += draw(st.sampled_from([[], ["closes: closes"]])) + draw(st.sampled_from([["opens: opens"], ["opens: 3"]]))
    at = draw(st.sampled_from(["", "at: H, "])) if placed else ""
    tour += draw(st.sampled_from([[f"start: {{{at}time: {draw(small)}}}"], ["start: {at: H}"] if placed else []]))
    ends = [["end: {by: 35}"], ["end: {from: 20, by: 40}"], ["end: {at: H}"] if placed else []]
    tour += draw(st.sampled_from([[], *ends]))
    tour += draw(st.sampled_from([[], ["wait: {at_most: 2}"]]))
    tour += draw(st.sampled_from([[], [], ["first: price < 1"], ["last: stars >= 2"]]))
    choose = ["one: items", f"bag: {{any_of: items, {', '.join(bag)}}}", f"tour: {{route: items, {', '.join(tour)}}}"]
    choose = draw(st.permutations(choose))
    conditions = draw(st.lists(st.sampled_from(CONDITIONS), max_size=3))
    constraints = [text.format(s=draw(st.sampled_from(["bag", "tour"]))) for text in conditions]
    return task_on(choose, constraints, draw(st.sampled_from(OBJECTIVES)))


def checked(rows: list[tuple[Any, ...]], walk: dict[tuple[str, str], int], task: str) -> None:
    """All plans are those of brute force, with their values, and each of them is evaluated so."""
    with tempfile.TemporaryDirectory() as name:
        folder = Path(name)
        write(folder, [(chr(ord("a") + at), *row) for at, row in enumerate(rows)], walk)
        try:
            problem, data = posed(folder, task)
        except (InputErrors, TaskError):
            assume(False)
            return
        try:
            expected = truth(task, folder)
        except UnknownObjectiveError:
            assume(False)
            return
        found = recompute(problem, data)
        scale = problem.objective.type.scale
        assert found is not None
        assert [(Fraction(value, scale), number) for value, number in found.values] == expected.distribution
        plans = [(dict(zip(expected.choices, map(list, ids), strict=True)), value) for ids, value in expected.plans]
        if found.plan is not None:
            written = {name: [pick.id for pick in picks] for name, picks in found.plan.picks.items()}
            assert written == expected.canonical
            whole = evaluate(problem, data, found.plan)
            assert whole.feasible, whole
            assert Fraction(whole.value or 0, scale) == expected.optimum
        for picks, value in plans[:: len(plans) // 12 + 1]:
            whole = evaluate(problem, data, Plan.model_validate({"picks": picks}))
            assert whole.feasible, whole
            assert Fraction(whole.value or 0, scale) == value
        feasible = [picks for picks, _ in plans]
        for picks in feasible[:3]:  # others nearby
            for choice, ids in picks.items():
                for other in ([], ids[:-1], ids[::-1], [*ids, "a"]):
                    near = {**picks, choice: list(other)}
                    if choice == "bag":
                        near[choice] = [one for one in sorted(other) if one in ids or one == "a"]
                    same = evaluate(problem, data, Plan.model_validate({"picks": near})).feasible
                    canonical = {name: [*ids] for name, ids in near.items()}
                    some = [{name: [*ids] for name, ids in plan.items()} for plan in feasible]
                    if "per: day" not in task:
                        assert same == (canonical in some), near


@settings(deadline=None)
@given(ROWS, WAYS, tasks())
def test_all_plans_are_those_of_brute_force(rows: Any, walk: Any, task: str) -> None:
    assume("minimize: tour.ends" not in task or "at_least: 0, lasts" not in task or "time" in task)  # ends at no time
    with pytest.MonkeyPatch.context() as patch:
        patch.setattr(oracle_sets, "HORIZON", range(-10, 90))
        checked(rows, walk, task)
