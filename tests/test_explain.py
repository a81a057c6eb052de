"""`explain`: steps of the optimum, what binds, prices and plans held against a task, all against the truth."""

from __future__ import annotations

import random
from dataclasses import replace
from fractions import Fraction
from pathlib import Path
from typing import Any

import numpy as np
import pytest
from cobench.cli.chart import MARK, step_chart
from cobench.cli.display import correction_text, exact
from cobench.datasets.opening import open_dataset
from cobench.schemas.certificate import ConflictsClaim, CorrectionClaim, Grade, Move
from cobench.schemas.plan import Plan
from cobench.schemas.problem import pose
from cobench.schemas.syntax import parse
from cobench.schemas.task import load_task, parse_task
from cobench.solver.checker.check import open_data
from cobench.solver.checker.trace import trace
from cobench.solver.lower import lower
from cobench.solver.model import Model, Table
from cobench.solver.outcome import Limits, Reason
from cobench.solver.questions.prices import priced
from cobench.solver.questions.sensitivity import UNDEFINED, curve, is_threshold, sensitivity
from cobench.solver.questions.steps import steps
from hypothesis import given, settings
from hypothesis import strategies as st

from .models import THOROUGH, Conflicting, every_plan
from .oracle import Names, read_data, truth, value
from .phrases import Case, cases
from .test_cli import BEST, Shell, edit, folder, shell
from .test_model import EVERY
from .test_semantics import posed, slow

FIXTURES = (folder, shell)  # pytest finds them in this module by their names
many = settings(slow, max_examples=2000 if THOROUGH else 40)

# ---------------------------------------------------------------------------------------------- steps of the optimum


PARTS = ("rows", "links", "tables")


def drawn(seed: int) -> Model:
    """A random model with thresholds, some with terms that are unknown for some combinations; often little else holds
    plans back, and the thresholds do.
    """
    rng = random.Random(seed)  # noqa: S311
    source = Conflicting(rng)
    model = source.model()
    if rng.random() < 0.7:
        choices = tuple(replace(item, satisfied=item.satisfied | np.uint64(EVERY - 1)) for item in model.choices)
        parts = {name: tuple(part for part in getattr(model, name) if not part.constraint) for name in PARTS}
        model = replace(model, choices=choices, **parts)
    thresholds = dict(model.thresholds)
    for constraint, threshold in thresholds.items():
        linear = replace(threshold.linear, constant=threshold.linear.constant - rng.randint(0, 12))
        thresholds[constraint] = replace(threshold, linear=linear)
        if len(source.sizes) > 1 and rng.random() < 0.4:
            among, codes, shape = source.grid()
            allowed = np.array([rng.random() < 0.7 for _ in range(int(np.prod(shape)))]).reshape(shape)
            thresholds[constraint] = replace(thresholds[constraint], tables=(Table(constraint, among, codes, allowed),))
    return replace(model, thresholds=thresholds, maximize=rng.random() < 0.5)


def allowed(table: Table, plan: tuple[int, ...]) -> bool:
    cell = tuple(codes[plan[place]] for place, codes in zip(table.choices, table.codes, strict=True))
    return bool(table.allowed[cell])


def pairs(model: Model, constraint: int) -> list[tuple[int, int]]:
    """How far the threshold has to move for each plan that satisfies everything else, and the plan's value."""
    threshold = model.thresholds[constraint]
    others = [number for number in range(len(model.names)) if number != constraint]
    return [
        (threshold.linear.value(plan), model.objective.value(plan))
        for plan in every_plan(model)
        if model.feasible(plan, others)
        and all(flags[plan[place]] for place, flags in threshold.known.items())
        and all(allowed(table, plan) for table in threshold.tables)
    ]


def front(found: list[tuple[int, int]]) -> list[tuple[int, int]]:
    """Of (amount, value) those that no other has both at most; each once, the least amount first."""
    kept: list[tuple[int, int]] = []
    for amount, worth in sorted(found):
        if not kept or worth < kept[-1][1]:
            kept.append((amount, worth))
    return kept


@given(st.integers(0, 2**32))
def test_steps_are_what_solving_again_at_every_threshold_gives(seed: int) -> None:
    model = drawn(seed)
    sign = -1 if model.maximize else 1
    for constraint in model.thresholds:
        found = steps(model, constraint, Limits())
        known = pairs(model, constraint)
        assert [(step.loosened, sign * step.value) for step in found.steps] == front(known)
        assert (found.from_first, found.to_last, found.stopped) == (True, True, None)
        amounts = [amount for amount, _ in known]
        for loosened in range(max(min(amounts, default=0) - 1, -60), min(max(amounts, default=0) + 2, 60)):
            best = min((worth for amount, worth in known if amount <= loosened), default=None)
            assert found.at(loosened) == (None if best is None else sign * best)


@given(st.integers(0, 2**32), st.integers(1, 3), st.integers(0, 400))
def test_fewer_steps_are_those_around_the_threshold_as_it_is(seed: int, most: int, work: int) -> None:
    model = drawn(seed)
    for constraint in model.thresholds:
        every = steps(model, constraint, Limits())
        tighter = [step for step in every.steps if step.loosened <= 0]
        looser = [step for step in every.steps if step.loosened > 0]
        found = steps(model, constraint, Limits(), most)
        assert found.steps == (*tighter[-most:], *looser[:most])
        assert (found.from_first, found.to_last) == (len(tighter) <= most, len(looser) <= most)
        stopped = steps(model, constraint, Limits(work=work))
        assert stopped == every or stopped.stopped == Reason.WORK
        assert set(stopped.steps) <= set(every.steps)
        assert not stopped.stopped or not (stopped.from_first and stopped.to_last)


TASK = """cobench: 1
id: t
dataset: .
given: {guests: 3}
choose:
  room: rooms
  train: trains
constraints:
  day: train.arrives_on == room.night
  limit: TEXT
OBJECTIVE
"""
FORMS = [
    "room.total + train.fares <= 150",
    "room.total + train.fares < 150",
    "150 >= room.total + train.fares",
    "room.stars >= 3.5",
    "room.stars > 3.5",
    "3 < room.stars",
    "room.total - train.fares <= 2 * train.fares",
    "walk(train.station, room.town) <= 20",
]
WORLD = Path(__file__).resolve().parent / "certificates" / "world"


@pytest.mark.parametrize("text", FORMS)
@pytest.mark.parametrize(
    "objective", ["minimize: room.total + train.minutes * 0 + train.fares", "maximize: room.stars"]
)
def test_a_threshold_means_what_the_task_would_with_that_constant(text: str, objective: str) -> None:
    if "minutes" in objective:
        objective = (
            "minimize: train.minutes + 100 * room.beds" if "total +" in text else "minimize: room.total + train.fares"
        )
        objective = objective.replace("train.minutes + 100 * room.beds", "train.minutes")
    data = open_dataset(str(WORLD))

    def written(condition: str) -> Any:
        return parse_task(TASK.replace("TEXT", condition).replace("OBJECTIVE", objective))

    problem = pose(written(text), data.manifest)
    found = curve(problem, lower(problem, data), "limit", Limits())
    assert found.steps.steps
    for step in found.steps.steps:
        for loosened in (step.loosened, step.loosened - 1, step.loosened + 1):
            threshold = found.threshold(loosened)
            if threshold is None:
                spelled = f"{text} + {Fraction(loosened, 100)}" if "fares" in text else text
                spelled = f"room.total - train.fares - {loosened / 100:.2f} <= 2 * train.fares"
            else:
                number = f"{threshold / found.unit.scale:.2f}" if found.unit.scale > 1 else str(threshold)
                number = number.rstrip("0").rstrip(".") if found.unit.scale == 10 else number
                constant = next(part for part in ("150", "3.5", "20", "3") if part in text.split())
                spelled = " ".join(number if part == constant else part for part in text.split())
            wanted = truth(written(f"'{spelled}'"), WORLD)
            best = wanted.optimum * problem.objective.type.scale if wanted.count else None
            assert found.steps.at(loosened) == best, spelled


# ------------------------------------------------------------------------------------------------------- what binds


@many
@given(cases())
def test_what_binds_is_what_leaving_each_constraint_out_gives(case: Case) -> None:
    with posed(case) as at:
        lowered, _ = at.lowered()
        found = sensitivity(at.problem, lowered, Limits())
        wanted = at.truth()
        assert found.plans == wanted.count
        assert not found.open
        if not wanted.count:
            assert (found.optimum, found.influences) == (None, ())
            return
        best = at.steps(wanted.optimum)
        assert found.optimum == best
        for item in found.influences:
            others = set(case.constraints) - {item.constraint}
            if item.reason == UNDEFINED:
                assert item.constraint.startswith("k")  # the generator's guards
                assert (item.value, item.gain) == (None, None)
                continue
            rest = at.truth(constraints=others)
            assert item.removed == rest.count - wanted.count
            assert item.redundant == (rest.count == wanted.count)
            assert item.value == at.steps(rest.optimum)
            assert item.gain == abs(at.steps(rest.optimum) - best)
        for constraint in at.problem.constraints:
            if is_threshold(constraint):
                there = curve(at.problem, lowered, constraint.name, Limits())
                assert there.steps.at(0) == best
        assert found.tightest(at.problem) is None or found.optimum is not None


def test_what_keeps_unknown_values_out_cannot_be_left_out() -> None:
    data = open_dataset(str(WORLD))
    text = TASK.replace("TEXT", "known(room.altitude)").replace("OBJECTIVE", "minimize: room.altitude")
    problem = pose(parse_task(text), data.manifest)
    day, limit = sensitivity(problem, lower(problem, data), Limits()).influences
    assert day.value is not None
    assert (limit.value, limit.gain, limit.reason) == (None, None, UNDEFINED)
    assert limit.removed


def test_a_limit_leaves_what_binds_open() -> None:
    file = load_task(WORLD.parent / "tasks" / "cheapest.yaml")
    data = open_dataset(str(WORLD))
    problem = pose(file, data.manifest)
    lowered = lower(problem, data)
    assert sensitivity(problem, lowered, Limits(work=0)).status == "unknown"
    partly = [sensitivity(problem, lowered, Limits(work=work)) for work in range(0, 120, 5)]
    assert any(found.open and found.status == "solvable" for found in partly)
    for found in partly:
        for item in found.influences:
            assert item.removed is None or item.removed >= 0
            assert item.removed is not None or item.reason


# ----------------------------------------------------------------------------------------------- the price of a way out


def test_prices_order_the_ways_out_and_weigh_nothing_without_one() -> None:
    file = load_task(WORLD.parent / "tasks" / "nowhere.yaml")
    problem = pose(file, open_dataset(str(WORLD)).manifest)

    def way(*drop: str, move: int | None = None) -> CorrectionClaim:
        moved = None if move is None else Move(constraint="budget", amount=move)
        return CorrectionClaim(drop=drop, move=moved, plan=Plan.of({}))

    ways = (way(move=1250), way("sea"), way("day"), way("sea", move=250), way("sea", "budget"))
    claim = ConflictsClaim(conflicts=(), corrections=ways, complete=True, grade=Grade.CLAIMED)
    found = priced(claim, problem, {"budget": Fraction(1, 3), "sea": Fraction(4)})
    assert [(ways.index(item.correction), item.price) for item in found] == [
        (1, Fraction(4)), (0, Fraction(25, 6)), (3, Fraction(29, 6)), (2, None), (4, None),
    ]  # fmt: skip
    assert [item.correction for item in priced(claim, problem, {})] == list(ways)
    prices = {"drop:sea": Fraction(4), "drop:budget": Fraction(300), "sea": Fraction(9)}
    dropped = [(ways.index(item.correction), item.price) for item in priced(claim, problem, prices)]
    assert dropped == [(1, Fraction(4)), (4, Fraction(304)), (0, None), (2, None), (3, None)]
    assert correction_text(way("sea", "day", "night", move=1250), problem) == (
        "drop sea, day and night; raise budget by $12.50"
    )
    assert correction_text(way("sea", "day"), problem) == "drop sea and day"
    assert correction_text(way(move=1250), problem) == "raise budget by $12.50"
    assert [exact(price) for price in (Fraction(4), Fraction(25, 6), Fraction(12345, 10), Fraction(1, 8))] == [
        "4", "25/6", "1,234.5", "0.125",
    ]  # fmt: skip


# ------------------------------------------------------------------------------------------------- a plan and a task


@many
@given(cases(), st.integers(0, 2**32))
def test_a_trace_judges_every_constraint_as_the_truth_does(case: Case, seed: int) -> None:
    rng = random.Random(seed)  # noqa: S311
    with posed(case) as at:
        data = read_data(at.folder, at.file.task.given, at.data.manifest.manifest)
        offers = [data.offers[table] for table in at.problem.choices.values()]
        if not all(offers):
            return
        picks = {choice: rng.choice(found) for choice, found in zip(at.problem.choices, offers, strict=True)}
        plan = Plan.of({choice: offer for choice, (offer, _) in picks.items()})
        names = Names({choice: row for choice, (_, row) in picks.items()}, data.parameters, data.relations)
        found = trace(at.problem, at.opened(), plan)
        assert [item.constraint for item in found.constraints] == [item.name for item in at.problem.constraints]
        for item in found.constraints:
            holds = value(parse(at.file.text("constraints", item.constraint)), names) is True
            assert item.holds is holds
            assert bool(item.detail) is not holds
            assert item.slack is None or (item.slack >= 0) is holds
        assert found.feasible == all(item.holds for item in found.constraints)
        lost = next(iter(picks))
        missing = trace(at.problem, at.opened(), Plan.of({**{c: o for c, (o, _) in picks.items()}, lost: "no such"}))
        assert missing.unknown
        assert not missing.feasible
        for before, after in zip(found.constraints, missing.constraints, strict=True):
            assert after.holds is (None if f"{lost}." in after.text else before.holds)


@pytest.mark.parametrize(
    ("text", "slack"),
    [("{} <= 45.02", 2), ("{} < 45.02", 1), ("{} >= 44.98", 2), ("{} > 44.98", 1), ("45.02 > {}", 1),
     ("{} == 45", None), ("{} < 45", -1), ("{} <= 44.98", -2), ("{} > 45.02", -3), ("{} >= 45.02", -2)],
)  # fmt: skip
def test_slack_is_how_far_a_threshold_could_be_tightened(text: str, slack: int | None) -> None:
    data = open_dataset(str(WORLD))
    task = TASK.replace("TEXT", text.format("room.total")).replace("OBJECTIVE", "minimize: room.total")
    problem = pose(parse_task(task), data.manifest)
    found = trace(problem, open_data(WORLD, problem), Plan.of({"room": "room_a2_2", "train": "train_t6"}))
    assert found.value == 4500
    assert found.constraints[1].slack == slack


# ---------------------------------------------------------------------------------------------------------- the chart


@given(st.lists(st.tuples(st.integers(-99, 99), st.integers(0, 10**6)), max_size=30), st.integers(0, 130),
       st.integers(-120, 120) | st.none(), st.booleans())  # fmt: skip
def test_a_chart_keeps_to_its_width_and_falls_where_the_optimum_does(
    found: list[tuple[int, int]], width: int, mark: int | None, rises: bool
) -> None:
    points = [(start, -worth if rises else worth) for start, worth in front(found)]
    lines = step_chart(points, mark, str, width)
    if len(points) < 2 or width < 20:
        assert len(points) < 2 or width < 28 or lines
        return
    assert len(lines) == 9
    assert all(len(line) <= width for line in lines)
    high, low = lines[0], lines[-1]
    assert str(max(worth for _, worth in points)) in high.split("┤")[0]
    assert str(min(worth for _, worth in points)) in low.split("┤")[0]
    last = lines[0 if rises else -1]
    assert last[-1] in "─╰╭"
    assert not any(wrong in "".join(lines) for wrong in ("╰╮" if rises else "╯", "╮" if rises else "╭"))


def test_a_chart_marks_the_threshold_as_it_is() -> None:
    lines = step_chart([(-10, 5), (0, 3), (10, 1)], 0, str, 40)
    assert any(MARK in line for line in lines)
    assert step_chart([(0, 1)], 0, str, 40) == []


# ------------------------------------------------------------------------------------------------------ the command


def test_explain_tells_what_binds(folder: Path, shell: Shell) -> None:
    edit("tasks/cheapest.yaml", "minimize: room.total + train.fares", "maximize: room.stars")
    assert shell("explain", "tasks/cheapest.yaml") == 0
    assert "solvable: 10 plans, optimum" in shell.out
    assert "each constraint alone left out" in shell.out
    assert shell("explain", "tasks/cheapest.yaml", "--json") == 0
    [said] = shell.lines()
    assert (said["status"], said["plans"], said["maximize"]) == ("solvable", 10, True)
    assert {item["constraint"] for item in said["influences"]} == {"sea", "way", "day", "budget"}
    assert shell("explain", "tasks/cheapest.yaml", "--threshold", "budget") == 0
    assert "optimum against budget  (room.total + train.fares <= 300)" in shell.out
    assert "the task is possible from $90.00 on" in shell.out
    assert shell("explain", "tasks/cheapest.yaml", "--threshold", "budget", "--steps", "1", "--json") == 0
    [said] = shell.lines()
    assert said["curve"]["limit"] == 30000
    assert said["curve"]["unit"] == said["units"]["budget"] == {"unit": "USD", "scale": 100}
    for step, threshold in zip(said["curve"]["steps"]["steps"], said["curve"]["thresholds"], strict=True):
        assert threshold == 30000 + step["loosened"]


def test_explain_refuses_what_is_no_threshold(folder: Path, shell: Shell) -> None:
    assert shell("explain", "tasks/cheapest.yaml", "--threshold", "sea") == 2
    assert "'sea' is not one comparison of numbers" in shell.err
    assert "thresholds of this task: budget" in shell.err
    assert shell("explain", "tasks/cheapest.yaml", "--threshold", "budgt") == 2
    assert "did you mean 'budget'?" in shell.err
    for price in ("budget", "budget=-1", "budget=x", "bugdet=1", "drop:bugdet=1", "drop:=1", "move:budget=1"):
        assert shell("explain", "tasks/nowhere.yaml", "--price", price) == 2
    assert shell("explain", "tasks/nowhere.yaml", "--price", "budget=1", "--price", "budget=2") == 2
    assert shell("explain", "tasks/nowhere.yaml", "--price", "sea=1", "--price", "drop:sea=2") == 2
    assert "'sea' has two prices" in shell.err
    assert shell("explain", "tasks/cheapest.yaml", "--plan", "plan.yaml", "--price", "budget=1") == 2


def test_explain_tells_why_there_is_no_plan(folder: Path, shell: Shell) -> None:
    assert shell("explain", "tasks/nowhere.yaml", "--price", "budget=1", "--price", "sea=39.5") == 0
    assert "No plan exists. Any one of these makes it possible:" in shell.out
    assert "price 39.5" in shell.out
    assert "cannot hold together" in shell.out
    assert "moving two" not in shell.out  # there is but one threshold
    edit("tasks/nowhere.yaml", "constraints:", "constraints:\n  cheap: room.total <= 10")
    assert shell("explain", "tasks/nowhere.yaml") == 0
    assert "moving two at once is not looked for" in shell.out
    edit("tasks/nowhere.yaml", "  cheap: room.total <= 10\n", "")
    assert shell("explain", "tasks/nowhere.yaml", "--threshold", "budget") == 0
    assert "$100.00 (now)" in shell.out or "the task is possible from" in shell.out
    assert shell("explain", "tasks/nowhere.yaml", "--json", "--price", "sea=1") == 0
    [said] = shell.lines()
    assert said["status"] == "unsolvable"
    assert len(said["prices"]) == len(said["conflicts"]["corrections"])
    assert said["conflicts"]["complete"] is True
    assert said["survivors"][0]["choice"] == "room"


def test_a_threshold_stands_in_its_table_where_it_is_and_as_it_is_compared(folder: Path, shell: Shell) -> None:
    edit("tasks/cheapest.yaml", "room.total + train.fares <= 300", "300 >= room.total + train.fares")
    assert shell("explain", "tasks/cheapest.yaml", "--threshold", "budget", "--json") == 0
    assert shell.lines()[0]["curve"]["comparison"] == "<="
    assert shell("explain", "tasks/cheapest.yaml", "--threshold", "budget") == 0
    rows = [line.split() for line in shell.out.splitlines()]
    assert ["budget", "<=", "change", "optimum"] in rows
    assert ["$300.00", "$0.00", "$90.00", "(now)"] in rows
    assert ["$90.00", "-$210.00", "$90.00"] in rows
    assert "One step: the task is possible from" in shell.out
    edit("tasks/cheapest.yaml", "300 >= room.total", "50 >= room.total")
    assert shell("explain", "tasks/cheapest.yaml", "--threshold", "budget") == 0
    assert "no plan (now)" in shell.out


def test_explain_leaves_open_what_a_limit_stops(folder: Path, shell: Shell) -> None:
    assert shell("explain", "tasks/cheapest.yaml", "--time-limit", "0") == 3
    assert "undecided: a limit ended the scan" in shell.out
    assert shell("explain", "tasks/nowhere.yaml", "--time-limit", "0", "--json") == 3
    assert shell.lines()[0]["status"] in ("unknown", "unsolvable")


def test_explain_holds_a_plan_against_the_task(folder: Path, shell: Shell) -> None:
    Path("plan.yaml").write_text(BEST, encoding="utf-8")
    assert shell("explain", "tasks/cheapest.yaml", "--plan", "plan.yaml") == 0
    assert "satisfies every constraint, value $90.00" in shell.out
    edit("tasks/cheapest.yaml", "<= 300", "<= 89.99")
    edit("tasks/cheapest.yaml", "room.coast", 'room.coast and room.kind == "villa"')
    assert shell("explain", "tasks/cheapest.yaml", "--plan", "plan.yaml") == 0
    for part in ("breaks 2 of 4 constraints", "first", "over by", "room room_a2_2 drops out at sea"):
        assert part in shell.out
    assert shell("explain", "tasks/cheapest.yaml", "--plan", "plan.yaml", "--json") == 0
    [said] = shell.lines()
    assert [item["holds"] for item in said["constraints"]] == [False, True, True, False]
    assert said["constraints"][3]["slack"] == -1
    assert said["first"] == said["lost"][0]["constraint"] == "sea"
    Path("plan.yaml").write_text("picks: {room: room_x_2, train: train_t6}", encoding="utf-8")
    assert shell("explain", "tasks/cheapest.yaml", "--plan", "plan.yaml") == 0
    assert "room: 'room_x_2' is no offer of 'rooms'" in shell.out
    assert "cannot be told without" in shell.out
