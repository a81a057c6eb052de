"""Audits against trying every combination of offers: entailments, reveals, wishes, naive strategies, and limits."""

from __future__ import annotations

import itertools
import json
import re
from collections.abc import Callable, Collection, Iterator
from dataclasses import dataclass, fields, replace
from fractions import Fraction
from functools import cached_property
from pathlib import Path
from typing import Any

import pytest
from cobench.cli import run
from cobench.schemas.errors import InputError, InputErrors
from cobench.schemas.syntax import ExpressionText, parse
from cobench.schemas.task import parse_task
from cobench.solver.lower import Lowered
from cobench.solver.model import Linear, Model
from cobench.solver.outcome import Limits
from cobench.solver.questions import naive
from cobench.solver.questions.audit import Audit, audit
from cobench.solver.questions.findings import Finding, findings
from hypothesis import event, given, settings
from hypothesis import strategies as st

from .models import THOROUGH
from .oracle import Names, Value, read_data, value
from .phrases import Case, cases
from .test_semantics import Posed, posed, slow, small
from .worlds import Sheet, World

some = settings(parent=slow, max_examples=2_000 if THOROUGH else 30)
PARKS = Path(__file__).resolve().parent.parent / "tasks" / "parks"


# ------------------------------------------------------------------------------------------------- against all plans


@dataclass(frozen=True)
class Combination:
    ids: tuple[str, ...]
    violated: frozenset[str]
    worth: Value
    names: Names


class Truth:
    """Every combination of offers of a task, and what it violates."""

    def __init__(self, at: Posed) -> None:
        self.at, task = at, at.file.task
        data = read_data(at.folder, task.given, at.data.manifest.manifest)
        trees = {name: parse(at.file.text("constraints", name)) for name in task.constraints}
        sense, text = task.objective
        self.sign, goal = (-1 if sense == "maximize" else 1), parse(ExpressionText(text))
        self.constraints = tuple(task.constraints)
        self.combinations: list[Combination] = []
        for picks in itertools.product(*(data.offers[task.choice(name).table] for name in task.choose)):
            rows = {name: row for name, (_, row) in zip(task.choose, picks, strict=True)}
            names = Names(rows, data.parameters, data.relations)
            violated = frozenset(name for name, tree in trees.items() if value(tree, names) is not True)
            self.combinations.append(Combination(tuple(ids for ids, _ in picks), violated, value(goal, names), names))

    def plans(self, names: Collection[str]) -> list[Combination]:
        return [item for item in self.combinations if not item.violated & set(names)]

    def implies(self, names: Collection[str], other: str) -> bool:
        return not any(other in item.violated for item in self.plans(names))

    def implied_by(self, name: str) -> tuple[str, ...] | None:
        others = [other for other in self.constraints if other != name]
        sets = (names for size in range(len(others) + 1) for names in itertools.combinations(others, size))
        return next((names for names in sets if self.implies(names, name)), None)

    @cached_property
    def values(self) -> list[int]:
        """What the plans cost, cheapest first, in the model's sense."""
        return sorted(self.steps(item) for item in self.plans(self.constraints))

    def steps(self, item: Combination) -> int:
        assert isinstance(item.worth, Fraction)
        return self.sign * self.at.steps(item.worth)

    def best(self, names: Collection[str]) -> tuple[int | None, int | None]:
        """The optimum and its ties, in the task's sense; nothing where the objective is not always known."""
        plans = self.plans(names)
        try:
            self.at.problem.restrict(list(names))
        except (InputError, InputErrors):
            return None, None
        worths = [self.steps(item) for item in plans]
        return (self.sign * min(worths), worths.count(min(worths))) if worths else (None, None)

    def conflicts(self) -> list[tuple[str, ...]]:
        """The minimal sets of constraints that no combination satisfies."""
        found: list[tuple[str, ...]] = []
        for size in range(len(self.constraints) + 1):
            for names in itertools.combinations(self.constraints, size):
                if not self.plans(names) and not any(set(part) <= set(names) for part in found):
                    found.append(names)
        return found


def expect_constraints(found: Audit, truth: Truth) -> None:
    every, solvable = truth.constraints, bool(truth.values)
    for facts in found.constraints:
        others = [name for name in every if name != facts.name]
        assert facts.alone == len(truth.combinations) - len(truth.plans([facts.name]))
        assert facts.margin == len(truth.plans(others)) - len(truth.plans(every))
        assert facts.optimum_without == truth.best(others)[0]
        if solvable:
            assert facts.redundant == (facts.margin == 0)
            assert facts.implied_by == truth.implied_by(facts.name)
            event(f"implied by {len(facts.implied_by or ())}" if facts.redundant else "not redundant")
    assert found.duplicates == tuple(
        (first, second)
        for first, second in itertools.combinations(every, 2)
        if all((first in item.violated) == (second in item.violated) for item in truth.combinations)
        and any(first in item.violated for item in truth.combinations)
    )


def expect_wishes(found: Audit, truth: Truth) -> None:
    plans = truth.plans(truth.constraints)
    trees = [parse(ExpressionText(wish.text)) for wish in found.wishes]
    met = [{item.ids for item in plans if value(tree, item.names) is True} for tree in trees]
    if any(wish.met_by is None for wish in found.wishes):  # what only an objective can hold is not looked at
        assert found.open_facts
        return
    assert [wish.met_by for wish in found.wishes] == [len(item) for item in met]
    assert found.clashing == tuple(
        (first, second)
        for first, second in itertools.combinations(range(len(met)), 2)
        if met[first] and met[second] and not met[first] & met[second]
    )


def expect_strategies(found: Audit, truth: Truth) -> None:
    plans = {item.ids: truth.steps(item) for item in truth.plans(truth.constraints)}
    for item in found.strategies:
        ids = tuple(item.plan.values()) if item.plan is not None else None
        assert item.feasible == (ids in plans)
        if ids in plans:
            assert item.value == truth.sign * plans[ids]
            assert item.gap == plans[ids] - truth.values[0]
            assert item.rank == 1 + sum(other < plans[ids] for other in truth.values)
        else:
            assert item.gap is item.rank is None
            violated = {part.ids: part.violated for part in truth.combinations}
            assert ids is None or set(item.broken) == violated[ids]


@some
@given(cases())
def test_an_audit_says_the_truth(case: Case) -> None:
    with posed(case) as at:
        later = [name for place, name in enumerate(case.constraints) if place % 2]
        file = parse_task(revealed_later(case.task, later))
        found, truth = audit(file, at.data), Truth(at)
        plans = len(truth.values)
        event(found.status)
        assert found.status == ("solvable" if plans else "unsolvable")
        assert found.plans == (plans, plans)
        expect_constraints(found, truth)
        known = [name for name in truth.constraints if name not in later]
        for step in found.steps:
            known += [name for name in step.revealed if name not in known]
            assert step.plans == len(truth.plans(known))
            assert (step.optimum, step.tied) == truth.best(known)
        assert len(found.steps) == 1 + len(later)
        numbers = [step.plans or 0 for step in found.steps]
        assert numbers == sorted(numbers, reverse=True)
        if not plans:
            part = {name for names in truth.conflicts() for name in names}
            assert found.idle == tuple(name for name in truth.constraints if name not in part)
            return
        assert found.optimum == truth.sign * truth.values[0]
        assert found.tied == truth.values.count(truth.values[0])
        second = next((worth for worth in truth.values if worth > truth.values[0]), None)
        assert found.runner_up == (None if second is None else truth.sign * second)
        best = truth.values[0]
        assert dict(found.near) == {
            part: sum(100 * (worth - best) <= part * abs(best) for worth in truth.values) for part in (1, 5, 10)
        }
        expect_wishes(found, truth)
        expect_strategies(found, truth)


def revealed_later(task: str, names: Collection[str]) -> str:
    """The task with some constraints in their long form, revealed later."""
    lines: list[str] = []
    for line in task.splitlines():
        name, _, text = line.strip().partition(":")
        if name in names and text.strip():
            lines += [f"  {name}:", f"    require:{text}", "    reveal: later"]
        else:
            lines.append(line)
            if name in names:
                lines.append("    reveal: later")
    return "\n".join(lines) + "\n"


# ---------------------------------------------------------------------------------------------------- naive strategies


class Slowly:
    """The strategies as their description says, row by row."""

    def __init__(self, lowered: Lowered, model: Model) -> None:
        self.lowered, self.model = lowered, model
        self.ids = [
            lowered.names(offers, item, range(len(item)))
            for offers, item in zip(lowered.offers, model.choices, strict=True)
        ]

    def holds(self, picked: dict[int, int]) -> Iterator[tuple[int, bool]]:
        """Each part whose choices are all picked, and whether it holds."""
        rows = tuple(picked.get(number, 0) for number in range(len(self.ids)))
        for link in self.model.links:
            if {*link.choices} <= picked.keys():
                left, right = (int(code[rows[c]]) for c, code in zip(link.choices, link.codes, strict=True))
                yield link.constraint, left == right != -1
        for table in self.model.tables:
            if {*table.choices} <= picked.keys():
                cell = tuple(int(code[rows[c]]) for c, code in zip(table.choices, table.codes, strict=True))
                yield table.constraint, bool(table.allowed[cell])
        for row in self.model.rows:
            if {*row.linear.columns, *(c for term in row.linear.terms for c in term.choices)} <= picked.keys():
                yield row.constraint, row.linear.value(rows) <= 0

    def pick(self, own: Callable[[int, int], int], joint: bool) -> tuple[int, ...] | None:
        picked: dict[int, int] = {}
        for number, ids in enumerate(self.ids):
            fits = [
                row
                for row in range(len(ids))
                if not joint or all(good for _, good in self.holds({**picked, number: row}))
            ]
            if not fits:
                return None
            picked[number] = min(fits, key=lambda row: (own(number, row), ids[row].encode()))
        return tuple(picked.values())


def part_of(linear: Linear) -> Callable[[int, int], int]:
    return lambda number, row: int(linear.columns[number][row]) if number in linear.columns else 0


@some
@given(cases())
def test_naive_strategies_do_what_their_description_says(case: Case) -> None:
    with posed(case) as at:
        lowered, model = at.lowered()
        slowly, price = Slowly(lowered, model), naive.cost(at.problem, model)
        wanted = {
            "greedy": slowly.pick(part_of(model.objective), joint=True),
            "first page": slowly.pick(part_of(Linear({}, (), 0)), joint=True),
            "best alone": slowly.pick(part_of(model.objective), joint=False),
        }
        if price is not None:
            event("with a cost")
            wanted["cheapest"] = slowly.pick(part_of(price), joint=True)
        found = {item.strategy: item for item in naive.strategies(lowered, model, price)}
        assert {name: item.rows if item.stuck is None else None for name, item in found.items()} == wanted
        for name, rows in wanted.items():
            broken = [] if rows is None else [k for k, good in slowly.holds(dict(enumerate(rows))) if not good]
            assert found[name].broken == tuple(sorted(set(broken)))
            assert found[name].feasible == (rows is not None and not broken)


def test_offers_with_an_unknown_part_fit_no_others() -> None:
    with posed(small("a.n == b.n", "minimize: a.m")) as at:
        lowered, model = at.lowered()
        found = {item.strategy: item for item in naive.strategies(lowered, model, None)}
        assert found["first page"].stuck == 1
        assert found["best alone"].broken == (0,)


# -------------------------------------------------------------------------------------------------------------- limits


@some
@given(cases(), st.one_of(st.builds(Limits, work=st.integers(0, 40)), st.just(Limits(seconds=0.0))))
def test_a_limit_leaves_facts_unknown_and_never_wrong(case: Case, limits: Limits) -> None:
    with posed(case) as at:
        full, part = audit(at.file, at.data), audit(at.file, at.data, limits)
        assert part.status in (full.status, "unknown")
        assert part.plans[0] <= full.plans[0] <= part.plans[1]
        assert set(part.duplicates) <= set(full.duplicates)
        assert set(part.clashing) <= set(full.clashing)
        assert set(part.near) <= set(full.near)
        lists: list[tuple[Any, Any]] = [(full, part)]
        for name in ("constraints", "steps", "wishes", "strategies"):
            known, said = getattr(full, name), getattr(part, name)
            assert len(said) in (0, len(known)) or part.status == "unknown"
            lists += zip(known, said, strict=False)
        for known, said in lists:
            for field in fields(said):
                fact = getattr(said, field.name)
                if fact is None or isinstance(fact, int | str | bool):
                    assert fact in (None, getattr(known, field.name)) or field.name == "status"
        kinds = {(item.kind, item.about) for item in findings(full)}
        for item in findings(part):
            assert item.kind in ("unknown", "redundant", "naive wins") or (item.kind, item.about) in kinds
        if replace(part, problem=full.problem) != full:
            event("limited")
            assert any(item.kind == "unknown" for item in findings(part))


# ------------------------------------------------------------------------------------------------------------ findings


def hotels(constraints: str, goal: str = "minimize: a.price + b.price", choices: str = "  a: t\n  b: t\n") -> Case:
    """Tasks on a table of five hotels, whose ids are in the order of their rows."""
    columns = ("code", "string"), ("price", "number"), ("stars", "number"), ("pool", "bool"), ("spa", "bool")
    written = "".join(
        f"      {name}: {{type: {kind}{', unit: USD' if name == 'price' else ''}}}\n" for name, kind in columns
    )
    manifest = (
        "cobench_dataset: 1\nname: w\ntables:\n  t:\n    file: t.parquet\n    key: [code]\n    id: '{code}'\n"
        f"    columns:\n{written}"
    )
    rows = [
        ("a", 30, 2, True, False), ("b", 20, 3, False, True), ("c", 25, 3, True, False), ("d", 60, 4, True, False),
        ("e", 10, 1, False, False),
    ]  # fmt: skip
    task = f"cobench: 1\nid: t\ndataset: .\nchoose:\n{choices}{constraints}{goal}\n"
    names = tuple(parse_task(task).task.constraints)
    return Case(World(manifest, {"t.parquet": Sheet(dict(columns), rows)}), task, ("a", "b"), names)


def found_in(case: Case) -> dict[str, Finding]:
    with posed(case) as at:
        return {item.kind: item for item in findings(audit(at.file, at.data))}


def lines(*constraints: str, later: Collection[str] = ()) -> str:
    return revealed_later("constraints:\n" + "".join(f"  {item}\n" for item in constraints), later)


def test_a_constraint_that_everything_satisfies_is_vacuous() -> None:
    found = found_in(hotels(lines("cheap: a.price <= 60", "real: a.price + b.price >= 40")))
    assert found["vacuous"].about == ("cheap",)
    assert "redundant" not in found


def test_a_constraint_is_implied_by_the_smallest_set_of_others() -> None:
    found = found_in(hotels(lines("x: a.stars >= 3", "y: b.stars >= 3", "z: a.stars + b.stars >= 6", "w: b.pool")))
    assert found["redundant"].about == ("z", "x", "y")
    assert found["redundant"].sentence.endswith("x and y imply it")


def test_constraints_that_hold_for_the_same_offers_are_duplicates_and_not_called_redundant_as_well() -> None:
    found = found_in(hotels(lines("x: a.stars >= 3", "y: a.stars > 2", "z: b.pool")))
    assert found["duplicate"].about == ("x", "y")
    assert "redundant" not in found


def test_reveals_that_leave_the_best_plans_as_they_are_are_noted() -> None:
    start = "x: a.pool"
    late = found_in(hotels(lines(start, "y: a.price + b.price <= 80", later=["y"])))
    assert late["nothing to learn"].severity == "warning"
    part = found_in(hotels(lines(start, "y: a.price + b.price <= 80", "z: b.pool", later=["y", "z"])))
    assert part["idle reveal"].about == ("y",)
    assert "nothing to learn" not in part
    assert "idle last reveal" not in part


def test_a_last_reveal_that_changes_nothing_is_a_warning_and_named_as_the_last() -> None:
    constraints = lines("x: a.pool", "y: b.pool", "z: a.price + b.price <= 80", later=["y", "z"])
    found = found_in(hotels(constraints))
    assert found["idle last reveal"].severity == "warning"
    assert found["idle last reveal"].about == ("z",)
    assert "the last reveal, z, changes nothing" in found["idle last reveal"].sentence
    assert "idle reveal" not in found


def test_harden_is_advised_only_where_there_is_a_threshold_that_it_could_move() -> None:
    moved = found_in(hotels(lines("x: a.stars >= 3"), "minimize: a.stars"))["ties"]
    assert "cobench harden TASK --unique may find" in moved.hint
    fixed = found_in(hotels(lines("x: a.stars == 3"), "minimize: a.stars + 2 * b.stars"))
    for finding in fixed.values():
        assert "cobench harden TASK" not in finding.hint
    assert "no threshold" in fixed["naive wins"].hint


def test_a_naive_plan_that_wins_is_a_warning() -> None:
    assert "greedy" in found_in(hotels(lines("x: a.pool")))["naive wins"].about
    hard = found_in(hotels(lines("x: a.price + b.price >= 45", "y: b.price <= a.price")))
    assert "naive wins" not in hard


def test_with_one_choice_to_take_the_best_offer_is_no_shortcut() -> None:
    one = {"choices": "  a: t\n"}
    assert "naive wins" not in found_in(hotels(lines("x: a.stars >= 2"), "minimize: a.price", **one))
    first = found_in(hotels(lines("x: a.pool"), "maximize: 0 - a.stars", **one))
    assert first["naive wins"].about == ("first page",)
    cheap = found_in(hotels(lines("x: a.stars <= 3", "y: a.price <= 50"), "maximize: 0 - a.price", **one))
    assert cheap["naive wins"].about == ("cheapest",)


def test_wishes_that_nothing_or_everything_meets_and_wishes_that_clash() -> None:
    goal = "maximize: count(a.pool, a.spa, a.stars >= 9, b.stars >= 1)"
    found = found_in(hotels(lines("x: a.stars + b.stars >= 4"), goal))
    assert found["hopeless wish"].about == ("a.stars >= 9",)
    assert found["idle wish"].about == ("b.stars >= 1",)
    assert found["clashing wishes"].about == ("a.pool", "a.spa")


def test_ties_one_plan_and_all_plans_alike() -> None:
    assert found_in(hotels(lines("x: a.stars == 3 and b.stars == 4"), "minimize: a.stars"))["all equal"]
    assert found_in(hotels(lines("x: a.stars == 4 and b.stars == 4")))["only plan"].severity == "note"
    assert found_in(hotels(lines("x: a.stars == 4"), "minimize: b.stars + a.stars + 0"))
    assert found_in(hotels(lines("x: a.stars >= 3"), "minimize: a.stars"))["ties"].about == ()


def test_an_unsolvable_task_is_a_warning_unless_it_says_so() -> None:
    constraints = lines("x: a.stars >= 3", "y: a.stars <= 2", "z: b.pool", later=["y", "z"])
    found = found_in(hotels(constraints))
    assert found["unsolvable"].severity == "warning"
    assert "explain" in found["unsolvable"].hint
    assert found["no plan since"].about == ("y",)
    assert found["in no conflict"].about == ("z",)
    meant = found_in(hotels(constraints, "minimize: a.price\nexpect: unsolvable"))
    assert meant["unsolvable"].severity == "note"


def test_an_objective_that_only_a_later_constraint_makes_known_has_no_optimum_before() -> None:
    with posed(small("a.n >= 3", "minimize: a.n + a.m")) as at:
        found = audit(at.file, at.data)
        assert found.constraints[0].optimum_without is None
        assert found.optimum == 5


# -------------------------------------------------------------------------------------------------- the command itself


def test_audit_tells_findings_and_facts(capsys: pytest.CaptureFixture[str]) -> None:
    assert run(["audit", str(PARKS / "parks-2-01-zion-weekend.yaml")]) == 0
    out = capsys.readouterr().out
    for text in ("$1,020.97", "revealing budget changes nothing", "breaks origin, dates", "$1,109.01", "726"):
        assert text in out


def test_strict_fails_on_warnings_only(capsys: pytest.CaptureFixture[str]) -> None:
    clean, warned = PARKS / "parks-2-01-zion-weekend.yaml", PARKS / "parks-1-04-everglades-midweek-close-by.yaml"
    assert run(["audit", str(clean), "--strict"]) == 0
    assert run(["audit", str(warned)]) == 0
    assert run(["audit", str(clean), str(warned), "--strict"]) == 1
    assert "2 tasks audited, 1 with warnings" in capsys.readouterr().out


def test_json_has_a_line_per_task_and_a_bad_task_does_not_stop_the_others(
    capsys: pytest.CaptureFixture[str], tmp_path: Path
) -> None:
    bad = tmp_path / "bad.yaml"
    bad.write_text("cobench: 1\n", encoding="utf-8")
    good = PARKS / "parks-1-06-workation-eight-wishes.yaml"
    assert run(["audit", str(bad), str(good), str(tmp_path / "none.yaml"), "--json"]) == 2
    first, second, third = (json.loads(line) for line in capsys.readouterr().out.splitlines())
    assert first["exit"] == third["exit"] == 2
    assert first["errors"]
    assert second["plans"] == {"at_least": 131, "at_most": 131}
    assert [wish["met_by"] for wish in second["wishes"]] == [27, 0, 88, 113, 27, 32, 92, 67]
    assert second["clashing"] == [[0, 2], [2, 4]]
    assert {item["strategy"]: item["rank"] for item in second["strategies"]}["cheapest"] == 91


def test_a_limit_is_said(capsys: pytest.CaptureFixture[str]) -> None:
    assert run(["audit", str(PARKS / "parks-2-01-zion-weekend.yaml"), "--work-limit", "1"]) == 0
    out = capsys.readouterr().out
    assert "a limit left open" in out
    assert "unknown" in out


def examples() -> Iterator[tuple[list[str], list[str]]]:
    """Each command on the page, and the lines that it says."""
    page = (PARKS.parent.parent / "docs" / "auditing.md").read_text(encoding="utf-8")
    for block in re.findall(r"^```console\n(.*?)^```", page, re.MULTILINE | re.DOTALL):
        for part in block.split("$ cobench ")[1:]:
            command, *said = part.splitlines()
            yield command.split(), said


@pytest.mark.parametrize(("command", "said"), list(examples()))
def test_the_page_about_auditing_says_what_the_commands_say(
    command: list[str], said: list[str], capsys: pytest.CaptureFixture[str], monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.chdir(PARKS.parent.parent)
    monkeypatch.delenv("COLUMNS", raising=False)
    assert run([*command, "-q"]) in (0, 1)
    captured = capsys.readouterr()
    printed = [line.rstrip() for line in (captured.err + captured.out).rstrip().splitlines()]
    wanted = "\n".join(["", *said, ""])
    parts = wanted.split("\n…\n")
    pattern = r"\n(?:.*\n)?".join(map(re.escape, parts))
    assert re.fullmatch(pattern, "\n".join(["", *printed, ""]), re.DOTALL), "\n".join(printed)
    assert said
