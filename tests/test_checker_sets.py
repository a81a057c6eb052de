"""The checker on tasks with sets and routes: plans clause by clause, and all plans against brute force."""

from __future__ import annotations

import tempfile
from fractions import Fraction
from pathlib import Path
from typing import Any

import pyarrow as pa
import pyarrow.parquet as pq
import pytest
from cobench.schemas.certificate import Grade
from cobench.schemas.errors import InputErrors, TableError, TaskError
from cobench.schemas.manifest import load_manifest
from cobench.schemas.plan import Plan
from cobench.schemas.problem import Problem, pose
from cobench.schemas.task import parse_task
from cobench.solver.checker import recompute_conflicts as disputed
from cobench.solver.checker.check import Data, Evaluation, evaluate, open_data
from cobench.solver.checker.opened import Opened
from cobench.solver.checker.recompute import WORK_LIMIT, Work, WorkLimitError, recompute
from cobench.solver.checker.trace import trace
from cobench.solver.checker.vendor import plan_checker
from hypothesis import assume, given, settings
from hypothesis import strategies as st

from . import oracle_sets
from .oracle import UnknownObjectiveError
from .oracle_sets import truth
from .test_replay_unit import Case
from .test_vendor import carried

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


def write(
    folder: Path, rows: list[tuple[Any, ...]], walk: dict[tuple[str, str], int], manifest: str = MANIFEST
) -> None:
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
    "2 > count(x.stars > 1 for x in {s})",
    "sum(x.stars - 2 for x in {s}) <= 0",
    "sum(x.stars for x in {s}) == 3",
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
    "all(x.price >= one.price for x in {s})",
    "sum(x.price for x in {s} if x.kind == one.kind) <= 2",
    "known(max(x.stars - one.stars for x in {s} if one.price < 2))",
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


@settings(deadline=None)
@given(ROWS, WAYS, tasks())
def test_which_constraints_can_hold_together_is_as_brute_force_says(rows: Any, walk: Any, task: str) -> None:
    with tempfile.TemporaryDirectory() as name, pytest.MonkeyPatch.context() as patch:
        patch.setattr(oracle_sets, "HORIZON", range(-10, 90))
        folder = Path(name)
        write(folder, [(chr(ord("a") + at), *row) for at, row in enumerate(rows)], walk)
        try:
            problem, data = posed(folder, task.replace(task.splitlines()[-1], "minimize: one.price"))
        except (InputErrors, TaskError):
            assume(False)
            return
        try:
            ask = disputed._Questions(problem, data, {}, Work(WORK_LIMIT))
        except WorkLimitError:  # an aggregate reads another choice
            assume(False)
            return
        names = [item.name for item in problem.constraints]
        for some in (names, names[:1], names[1:]):
            possible = truth(task.replace(task.splitlines()[-1], "minimize: one.price"), folder, constraints=some).count
            assert ask.exists(ask.mask(some)) == (possible > 0)


def test_an_aggregate_that_reads_another_choice_is_recomputed_for_each_of_its_values(folder: Path) -> None:
    choose = ["one: items", "bag: {any_of: items, at_least: 1}"]
    problem, data = posed(folder, task_on(choose, ["all(x.price >= one.price for x in bag)"], "minimize: one.price"))
    plan = {"one": "Ben", "bag": [{"id": "Cyd"}, {"id": "Dan"}]}
    assert evaluate(problem, data, Plan.model_validate({"picks": plan})).feasible
    plan["bag"] = [{"id": "Ann"}]
    assert said(evaluate(problem, data, Plan.model_validate({"picks": plan}))) == [
        ("c0", "all(x.price >= one.price for x in bag) fails", None, "")
    ]
    found = recompute(problem, data)
    assert found.values == ((1000, 15), (2000, 7), (3000, 3), (4000, 1))
    assert found.plan == Plan.model_validate({"picks": {"one": "Ann", "bag": [{"id": "Ann"}]}})


def test_an_aggregate_that_reads_a_route_is_not_recomputed_and_that_is_said(folder: Path) -> None:
    choose = ["bag: {any_of: items}", 'tour: {route: items, lasts: minutes, start: {time: "09:00"}}']
    problem, data = posed(
        folder, task_on(choose, ["all(tour.travel > 0 for x in bag)"], "maximize: count(x for x in bag)")
    )
    with pytest.raises(
        WorkLimitError, match="an aggregate over one choice reads another, which is not recomputed here"
    ):
        recompute(problem, data)


def test_tables_kept_open_know_the_conditions_of_each_task(folder: Path) -> None:
    opened = Opened()
    for limit in (15, 25, 15):
        choose = [f"bag: {{any_of: items, where: price <= {limit}}}"]
        problem, _ = posed(folder, task_on(choose, [], "maximize: count(x for x in bag)"))
        found = recompute(problem, opened(folder, problem))
        assert found.values[0][0] == limit // 10


# ---------------------------------------------------------------------------------------------------- clause by clause

CLOCK = MANIFEST.replace(
    "opens: {type: number, unit: min, nullable: true}", "opens: {type: time, nullable: true}"
).replace("closes: {type: number, unit: min}", "closes: {type: time}")
PEOPLE = [  # name, day, price, stars, kind, place, opens, closes, minutes
    ("Ann", 1, 1000, 1, "thai", "A", 540, 660, 30),
    ("Ben", 1, 2000, None, "pizza", "B", 600, 720, 45),
    ("Cyd", 2, 3000, 3, None, "C", 0, 1200, 10),
    ("Dan", 2, 4000, 3, None, None, 0, 1200, 10),
]
STREETS = {(a, b): 10 for a in "ABH" for b in "ABH" if a != b}
DAY = [
    "meals: {any_of: items, at_least: 1, at_most: 2, per: day, where: price <= 35}",
    (
        "tour: {route: items, at_most: 3, at: place, opens: opens, closes: closes, lasts: minutes, travel: walk, "
        'start: {at: H, time: "09:00"}, end: {at: H, from: "09:30", by: "11:30"}, wait: {at_most: 20}, '
        "first: stars == 1, last: price >= 20}"
    ),
]
MONEY = ["sum(m.price for m in meals) <= 45", 'tour.ends <= "11:00" or any(m.kind == "thai" for m in meals)']
NO_WAY = "there is no way from"
GOOD = [{"id": "Ann", "start": "09:10", "end": "09:40"}, {"id": "Ben", "start": "10:00", "end": "10:45"}]


@pytest.fixture
def folder(tmp_path: Path) -> Path:
    write(tmp_path, PEOPLE, STREETS, CLOCK)
    return tmp_path


def day(
    folder: Path, choose: list[str] = DAY, objective: str = "maximize: count(m for m in tour)"
) -> tuple[Problem, Data]:
    return posed(folder, task_on(choose, MONEY if len(choose) > 1 else [], objective))


def judged(at: tuple[Problem, Data], tour: Any, meals: Any = ("Ann", "Cyd")) -> Evaluation:
    picks = {"tour": list(tour), **({"meals": list(meals)} if "meals" in at[0].choices else {})}
    return evaluate(*at, Plan.model_validate({"picks": picks}))


def said(found: Evaluation) -> list[tuple[str, str, Any, str]]:
    return [(item.constraint, item.detail, item.amount, item.unit) for item in found.violations]


def moved(at: int, start: str | None, end: str | None, tour: list[dict[str, Any]] = GOOD) -> list[dict[str, Any]]:
    times = {name: time for name, time in (("start", start), ("end", end)) if time is not None}
    return [{"id": visit["id"], **times} if number == at else visit for number, visit in enumerate(tour)]


def test_a_good_day(folder: Path) -> None:
    at = day(folder)
    assert judged(at, GOOD) == Evaluation(2, (), ())
    assert judged(at, ["Ann", "Ben"]) == Evaluation(2, (), ())
    assert judged(at, [{"id": "Ann", "start": "09:10"}, {"id": "Ben", "start": 600}]).feasible
    ends = day(folder, objective="minimize: tour.takes + tour.travel")
    assert judged(ends, ["Ann", "Ben"]).value == 115 + 30
    assert judged(ends, moved(1, "10:05", "10:50")).value == 120 + 30
    assert said(judged(ends, [])) == [("tour.times", "no times fit: the end is missed by 30 min", 30, "min")]


@pytest.mark.parametrize(
    ("tour", "expected"),
    [
        (moved(1, "09:45", "10:30"), [
            ("tour.travel", "'Ben' begins at 09:45 and can be reached at 09:50 from 'Ann' (A)", 5, "min"),
            ("tour.opens", "'Ben' begins at 09:45 and opens at 10:00", 15, "min"),
        ]),
        (moved(0, "09:05", "09:35"), [
            ("tour.start", "'Ann' begins at 09:05 and can be reached at 09:10 from the start (H)", 5, "min"),
        ]),
        (moved(1, "10:20", "11:05"), [
            ("tour.wait", "'Ben' is reached at 09:50 and begins at 10:20, a wait of 30 min", 10, "min"),
        ]),
        (moved(1, "10:00", "10:50"), [("tour.lasts", "'Ben' takes 50 min, 45 min is needed", 5, "min")]),
        (moved(1, "10:00", "12:05"), [
            ("tour.closes", "'Ben' ends at 12:05 and closes at 12:00", 5, "min"),
            ("tour.lasts", "'Ben' takes 125 min, 45 min is needed", 80, "min"),
            ("tour.end", "the route ends at H at 12:15, it has to end by 11:30", 45, "min"),
        ]),
        ([GOOD[0]], [("tour.last", "'Ann' cannot be last: price is $10.00", None, "")]),
        ([{"id": "Ben", "start": "10:00"}], [
            ("tour.first", "'Ben' cannot be first: stars is unknown", None, ""),
            ("tour.wait", "'Ben' is reached at 09:10 and begins at 10:00, a wait of 50 min", 30, "min"),
        ]),
        (["Ann", "Cyd"], [
            ("tour.travel", f"{NO_WAY} 'Ann' (A) to 'Cyd' (C); {NO_WAY} 'Cyd' (C) to the end (H)", None, ""),
        ]),
        (moved(1, None, None), [("tour.times", "only 1 of 2 visits have a time", None, "")]),
        (moved(1, "25:00", None), [("tour.times", "'25:00' for 'Ben' is not a time of day", None, "")]),
        ([{"id": "Ann"}, {"id": "Ben", "end": "10:45"}], [("tour.times", "a visit has an end and no start", None, "")]),
        ([*GOOD, {"id": "Ann", "start": "10:55", "end": "11:25"}], [
            ("tour.twice", "'Ann' is picked 2 times", 1, ""),
            ("tour.last", "'Ann' cannot be last: price is $10.00", None, ""),
            ("tour.closes", "'Ann' ends at 11:25 and closes at 11:00", 25, "min"),
            ("tour.end", "the route ends at H at 11:35, it has to end by 11:30", 5, "min"),
        ]),
    ],
)  # fmt: skip
def test_each_clause_of_a_route_is_judged_on_its_own(folder: Path, tour: Any, expected: Any) -> None:
    found = judged(day(folder), tour)
    assert [item for item in said(found) if item[0].startswith("tour")] == [
        item for item in expected if item[0] != "c1"
    ]
    assert not found.unknown


def test_an_end_that_is_too_early_and_orders_that_no_times_fit(folder: Path) -> None:
    choose = [DAY[1].replace("stars == 1", "price >= 0").replace("last: price >= 20", "last: price >= 0")]
    at = day(folder, [choose[0].replace("09:30", "10:30")])
    assert said(judged(at, [GOOD[0]])) == [
        ("tour.end", "the route ends at H at 09:50, it has to end not before 10:30", 40, "min")
    ]
    assert said(judged(at, ["Ben"])) == [("tour.times", "no times fit: 'Ben' is missed by 30 min", 30, "min")]
    assert said(judged(day(folder, [choose[0].replace("11:30", "10:30")]), ["Ann", "Ben"])) == [
        ("tour.times", "no times fit: the end is missed by 25 min", 25, "min")
    ]


def test_numbers_of_rows_for_each_value_of_a_column(folder: Path) -> None:
    found = judged(day(folder), GOOD, ["Ann", "Ben", "Ann"])
    assert said(found) == [
        ("meals.twice", "'Ann' is picked 2 times", 1, ""),
        ("meals.number", "no rows are picked for day 2, at least 1 is needed", 1, ""),
    ]
    assert said(judged(day(folder), GOOD, ["Cyd", "Ben"]))[0] == (
        "c0",
        "sum(m.price for m in meals) is $50.00, over by $5.00",
        500,
        "USD",
    )
    at = day(folder, [DAY[1].replace("at_most: 3", "at_most: 1")])
    assert said(judged(at, GOOD)) == [("tour.number", "2 rows are picked, at most 1 is possible", 1, "")]


def test_a_row_that_cannot_be_picked_says_why(folder: Path) -> None:
    assert judged(day(folder), ["Dan"], ["Dan"]).unknown == (
        "meals: 'Dan' is no offer of 'items': price is $40.00, over by $5.00",
        "tour: 'Dan' is no offer of 'items' for a plan: where it takes place is unknown",
    )
    assert judged(day(folder), [], [{"id": "Ann", "start": 3}]).unknown == (
        "meals: 'Ann' has a start time, which this task does not ask for",
    )


def test_a_trace_tells_aggregates_and_clauses(folder: Path) -> None:
    problem, data = day(folder)
    plan = Plan.model_validate({"picks": {"meals": ["Cyd", "Ben"], "tour": ["Ann"]}})
    found = trace(problem, data, plan)
    assert [(item.constraint, item.holds) for item in found.constraints] == [
        ("c0", False),
        ("c1", True),
        ("tour.last", False),
    ]
    assert found.constraints[0].slack == -500
    assert [(fact.text, fact.value) for fact in found.constraints[0].facts] == [
        ("sum(m.price for m in meals)", "$50.00")
    ]
    assert not found.feasible


# ---------------------------------------------------------------------------------------------------- certificates


class Small:
    """The world of a certificate."""

    def __init__(self, folder: Path) -> None:
        self.folder, self.manifest = folder, load_manifest(folder / "dataset.yaml")

    def open(self, task: str) -> tuple[Problem, Data]:
        return posed(self.folder, task)


def claims(**changed: Any) -> dict[str, Any]:
    optimum = {
        "value": 2,
        "plan": {"picks": {"meals": ["Ann", "Cyd"], "tour": GOOD}},
        "tied": 1,
        "runner_up": None,
        "grade": Grade.PROVED,
    }
    optimum.update(changed.pop("optimum", {}))
    count = {"at_least": 1, "at_most": 1, "grade": Grade.PROVED, **changed.pop("count", {})}
    values = {"values": ((2, 1),), "grade": Grade.PROVED, **changed.pop("distribution", {})}
    status = {"value": "solvable", "grade": Grade.PROVED}
    return {"status": status, "optimum": optimum, "count": count, "distribution": values}


def test_a_certificate_is_recomputed(folder: Path) -> None:
    case = Case(Small(folder), task_on(DAY, MONEY, "maximize: count(m for m in tour)"))  # type: ignore[arg-type]
    report = case.replay(case.certificate(claims()))
    assert not report.refuted, report.refuted
    assert all(report.confirmed(name) for name in ("status", "optimum", "count", "distribution"))
    assert not case.replay(case.certificate(claims()), work_limit=5).confirmed("count")


@pytest.mark.parametrize(
    ("claim", "changed"),
    [
        ("optimum", {"value": 1}),
        ("optimum", {"tied": 2}),
        ("optimum", {"runner_up": 1}),
        ("optimum", {"plan": {"picks": {"meals": ["Cyd", "Ann"], "tour": GOOD}}}),
        ("optimum", {"plan": {"picks": {"meals": ["Ann", "Cyd"], "tour": GOOD[::-1]}}}),
        ("optimum", {"plan": {"picks": {"meals": ["Ann", "Cyd"], "tour": moved(0, "09:20", "09:50")}}}),
        ("optimum", {"plan": {"picks": {"meals": ["Ann", "Cyd"], "tour": ["Ann", "Ben"]}}}),
        ("optimum", {"plan": {"picks": {"meals": ["Ann"], "tour": GOOD}}}),
        ("count", {"at_least": 3, "at_most": 3}),
        ("distribution", {"values": ((2, 1), (1, 1))}),
    ],
)
def test_a_changed_certificate_is_refuted(folder: Path, claim: str, changed: dict[str, Any]) -> None:
    case = Case(Small(folder), task_on(DAY, MONEY, "maximize: count(m for m in tour)"))  # type: ignore[arg-type]
    report = case.replay(case.certificate(claims(**{claim: changed})))
    assert claim in {finding.claim for finding in report.refuted}


def test_what_is_carried_along_judges_routes(folder: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    problem, data = day(folder)
    module = carried(plan_checker(problem, data), monkeypatch)
    its = module.open_data(folder, module.PROBLEM)
    for tour in (GOOD, moved(1, "09:45", "10:30"), ["Ann", "Cyd"], ["Dan"]):
        ours = judged((problem, data), tour)
        long = [visit if isinstance(visit, dict) else {"id": visit} for visit in tour]
        picks = {"meals": (module.Pick("Ann"), module.Pick("Cyd")), "tour": tuple(module.Pick(**one) for one in long)}
        theirs = module.evaluate(module.PROBLEM, its, module.Plan(picks))
        assert (theirs.value, theirs.unknown) == (ours.value, ours.unknown)
        assert [module.asdict(item) for item in theirs.violations] == [item.model_dump() for item in ours.violations]


def test_rows_that_lead_from_a_place_to_another_and_lengths_below_nothing(tmp_path: Path) -> None:
    rows = [("Ann", 1, 0, 1, None, "A", 0, 100, 5), ("Bad", 1, 0, 1, None, "B", 0, 100, -5)]
    write(tmp_path, rows, {("A", "H"): -1, ("H", "A"): 3})
    choose = "tour: {route: items, at: {from: place, to: name}, lasts: minutes, travel: walk, end: {at: %s}}"
    problem, data = posed(tmp_path, task_on([choose % "Ann"], ["tour.travel <= 5"], "maximize: count(x for x in tour)"))
    assert judged((problem, data), ["Ann"]).value == 1
    assert judged((problem, data), ["Bad"]).unknown == (
        "tour: 'Bad' is no offer of 'items' for a plan: it lasts -5, less than no time",
    )
    assert judged((problem, data), []).feasible
    choose = choose.replace("{from: place, to: name}", "place")
    with pytest.raises(TableError, match="the way from 'A' to 'H' takes less than no time"):
        judged(posed(tmp_path, task_on([choose % "H"], [], "maximize: count(x for x in tour)")), ["Ann"])


def test_a_sum_that_is_unknown_for_good_is_recomputed(folder: Path) -> None:
    choose = ["bag: {any_of: items}"]
    conditions = ["known(sum(x.stars for x in bag))", "not known(max(x.stars for x in bag if x.stars >= 4))"]
    problem, data = posed(folder, task_on(choose, conditions, "maximize: count(x for x in bag)"))
    found = recompute(problem, data)
    assert found.values == ((3, 1), (2, 3), (1, 3), (0, 1))
