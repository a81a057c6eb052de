"""Hardened tasks against every threshold there is: what is promised holds, and what is said to be out of reach is."""

from __future__ import annotations

import json
import shutil
import subprocess
from collections.abc import Iterator
from fractions import Fraction
from pathlib import Path

import pytest
from cobench.cli import run
from cobench.schemas.errors import TaskError
from cobench.schemas.expression import Compare, Literal
from cobench.schemas.problem import pose
from cobench.schemas.task import parse_task
from cobench.schemas.units import COUNT, Type
from cobench.solver import scan
from cobench.solver.lower import lower
from cobench.solver.model import Model
from cobench.solver.outcome import Limits, Undecided
from cobench.solver.questions import naive
from cobench.solver.questions.harden import Hardened, State, harden
from cobench.solver.questions.rewrite import spelled, unified
from cobench.solver.questions.thresholds import Goal, Margin, Plans, Unique
from hypothesis import event, given, settings
from hypothesis import strategies as st

from .models import THOROUGH, every_plan
from .oracle import truth
from .phrases import Case, cases
from .test_audit import hotels, lines
from .test_semantics import Posed, posed, slow

PARKS = Path(__file__).resolve().parent.parent / "tasks" / "parks"
some = settings(parent=slow, max_examples=2_000 if THOROUGH else 30)
few = settings(parent=slow, max_examples=500 if THOROUGH else 12)


def hardened(at: Posed, goal: Goal, constraint: str | None = None, limits: Limits | None = None) -> Hardened:
    return harden(at.file, at.case.task, at.data, goal, constraint, limits)


@st.composite
def thresholds(draw: st.DrawFn) -> Case:
    """Tasks with several thresholds, mostly solvable."""
    number = st.integers(0, 70)
    options = [
        f"sum: a.price + b.price <= {draw(number)}",
        f"top: {draw(number)} > a.price",
        f"low: b.price >= {draw(number) // 2}.0",
        f"less: a.price - b.price < {draw(number)}",
        f"third: a.price / 3 <= {draw(number) // 3}",
        f"stars: a.stars + b.stars >= {draw(st.integers(0, 8))}",
        f"minus: -a.stars >= -{draw(st.integers(0, 4))}",
        "same: a.pool == b.pool",
        "other: a.price != b.price",
    ]
    chosen = draw(st.lists(st.sampled_from(options), min_size=1, max_size=4, unique=True))
    goal = draw(
        st.sampled_from(["a.price + b.price", "a.stars + b.stars", "b.price", "2 * a.price - b.price", "a.stars"])
    )
    sense = draw(st.sampled_from(["minimize", "maximize"]))
    return hotels(lines(*chosen), f"{sense}: {goal}")


def points(model: Model, number: int) -> list[tuple[int, int]]:
    """Slack and worth of every plan that satisfies all but one threshold."""
    others = [name for name in range(len(model.names)) if name != number]
    threshold = model.thresholds[number]
    found: list[tuple[int, int]] = []
    for plan in every_plan(model):
        known = all(flags[plan[choice]] for choice, flags in threshold.known.items()) and all(
            table.allowed[tuple(code[plan[c]] for c, code in zip(table.choices, table.codes, strict=True))]
            for table in threshold.tables
        )
        if known and model.feasible(plan, others):
            found.append((threshold.linear.value(plan), model.objective.value(plan)))
    return found


def reachable(at: Posed, name: str, step: int) -> Iterator[tuple[int, int, int]]:
    """Plans, optimum and ties for every slack at which a threshold can stand."""
    model = lower(at.problem, at.data).model
    found = points(model, model.names.index(name))
    for slack in sorted({-(-slack // step) * step for slack, _ in found}):
        worths = [worth for other, worth in found if other <= slack]
        yield len(worths), min(worths), worths.count(min(worths))


def dials(at: Posed) -> dict[str, int]:
    """The thresholds that have a literal, and how far apart their literals are."""
    found: dict[str, int] = {}
    for name in at.case.constraints:
        try:
            missed = hardened(at, Plans(10**6), name).nearest
        except TaskError:
            continue
        found[name] = 3 if name == "third" or "/ 3" in at.file.text("constraints", name).text else 1
        assert all(change.constraint == name for change in missed)
    return found


def expect_only_the_literal_changed(before: str, found: Hardened) -> None:
    for change in (*found.changes, *found.nearest):
        assert change.new != change.old
        old, new = before.splitlines(), change.text.splitlines()
        differing = [(one, other) for one, other in zip(old, new, strict=True) if one != other]
        assert len(differing) == 1
        one, other = differing[0]
        places = [place for place in range(len(one)) if one.startswith(change.old, place)]
        assert other in [one[:place] + change.new + one[place + len(change.old) :] for place in places]


def expect_state(at: Posed, text: str, state: State) -> None:
    wanted = truth(text, at.folder, at.data.manifest.manifest)
    assert state.plans == wanted.count
    if wanted.count:
        assert state.optimum == at.steps(wanted.optimum)
        assert state.tied == len(wanted.best)


@some
@given(st.one_of(thresholds(), cases(most_choices=2, most_rows=4)), st.integers(1, 26))
def test_a_number_of_plans_is_reached_exactly_where_some_threshold_reaches_it(case: Case, number: int) -> None:
    with posed(case) as at:
        found = hardened(at, Plans(number))
        expect_state(at, case.task, found.now)
        assert found.complete
        assert found.reached == (found.now.plans == number)
        if found.reached:
            return
        known = {name: {plans for plans, _, _ in reachable(at, name, step)} for name, step in dials(at).items()}
        assert [item.constraint for item in found.changes] == [name for name in known if number in known[name]]
        event("reached" if found.changes else "missed")
        expect_only_the_literal_changed(case.task, found)
        for change in (*found.changes, *found.nearest):
            expect_state(at, change.text, change.state)
        if not found.changes:
            for name, counts in known.items():
                below = max((count for count in counts if count < number), default=0)
                above = min((count for count in counts if count > number), default=0)
                wanted = sorted({below, above} - {0, found.now.plans})
                assert sorted(item.state.plans for item in found.nearest if item.constraint == name) == wanted


@some
@given(st.one_of(thresholds(), thresholds(), cases(most_choices=2, most_rows=4)))
def test_a_unique_optimum_is_found_exactly_where_some_threshold_gives_one(case: Case) -> None:
    with posed(case) as at:
        found = hardened(at, Unique())
        assert found.complete
        assert found.reached == (found.now.tied == 1)
        if found.reached:
            return
        known = {name: {tied for _, _, tied in reachable(at, name, step)} for name, step in dials(at).items()}
        assert {item.constraint for item in found.changes} == {name for name in known if 1 in known[name]}
        event("reached" if found.changes else "missed")
        expect_only_the_literal_changed(case.task, found)
        for change in found.changes:
            expect_state(at, change.text, change.state)
            assert change.state.tied == 1


def naive_gap(at: Posed, text: str) -> tuple[int, int | None] | None:
    """The optimum and the least gap of a naive plan in the model's sense; nothing for a task without a plan."""
    problem = pose(parse_task(text), at.data.manifest)
    lowered = lower(problem, at.data)
    model = lowered.model.kept(range(len(lowered.model.names)))
    best = scan.solve(model, Limits()).value
    found = naive.strategies(lowered, model, naive.cost(problem, model))
    gaps = [model.objective.value(item.rows) - best for item in found if item.feasible and best is not None]
    return None if best is None else (best, min(gaps, default=None))


@few
@given(thresholds(), st.sampled_from([Margin(1), Margin(amount=10), Margin(percent=Fraction(30))]))
def test_a_margin_over_naive_plans_is_found_exactly_where_some_threshold_gives_it(case: Case, goal: Margin) -> None:
    with posed(case) as at:
        found = hardened(at, goal)
        assert found.complete
        now = naive_gap(at, case.task)
        assert found.reached == (now is not None and goal.reached(now[1], now[0]))
        if found.reached:
            return
        event("reached" if found.changes else "missed")
        expect_only_the_literal_changed(case.task, found)
        for change in found.changes:
            then = naive_gap(at, change.text)
            assert then is not None
            assert (abs(then[0]), then[1]) == (abs(change.state.optimum or 0), change.state.gap)
            assert goal.reached(then[1], then[0])
        reaching = {item.constraint for item in found.changes}
        model = lower(at.problem, at.data).model
        for name in dials(at).keys() - reaching:  # every place where anything can change
            number, constraint = model.names.index(name), at.problem.constraints[model.names.index(name)]
            node, text = constraint.condition, constraint.text.text
            assert isinstance(node, Compare)
            literal = node.right if isinstance(node.right, Literal) else node.left
            assert isinstance(literal, Literal)
            for slack in {model.thresholds[number].linear.value(plan) for plan in every_plan(model)}:
                for value in (int(literal.value) + slack, int(literal.value) - slack):
                    if value % literal.type.scale == 0:
                        new = text[: literal.span.start] + str(value // literal.type.scale) + text[literal.span.end :]
                        then = naive_gap(at, at.case.task.replace(text, new))
                        assert then is None or not goal.reached(then[1], then[0]), new


@some
@given(thresholds(), st.sampled_from([Unique(), Plans(5), Margin(1)]), st.integers(0, 60))
def test_a_limit_never_promises_what_does_not_hold(case: Case, goal: Goal, work: int) -> None:
    with posed(case) as at:
        try:
            found = hardened(at, goal, limits=Limits(work=work))
        except Undecided:
            event("undecided")
            return
        full = hardened(at, goal)
        assert found.now == full.now
        assert {item.text for item in found.changes} <= {item.text for item in full.changes}
        assert found.reached == full.reached
        if full.changes and not found.changes:
            assert not found.complete


# ------------------------------------------------------------------------------------------------------- the text


@pytest.mark.parametrize(
    ("value", "digits", "kind", "text"),
    [
        (Fraction(1800), 0, Type("number", "USD", 100), "1800"),
        (Fraction(14404, 10), 0, Type("number", "USD", 100), "1440.40"),
        (Fraction(14404, 10), 1, Type("number", "USD", 100), "1440.4"),
        (Fraction(1800), 2, Type("number", "USD", 100), "1800.00"),
        (Fraction(-1, 2), 0, Type("number", "", 2), "-0.5"),
        (Fraction(-7), 0, COUNT, "-7"),
    ],
)
def test_numbers_are_spelled_as_the_task_spells_them(value: Fraction, digits: int, kind: Type, text: str) -> None:
    assert spelled(value, digits, kind) == text


def test_a_number_without_a_decimal_is_not_spelled() -> None:
    with pytest.raises(ValueError, match="no exact decimal"):
        spelled(Fraction(1, 3), 0, COUNT)


@pytest.mark.parametrize(
    "written",
    [
        "sum: a.price + b.price <= 40   # forty, 40",
        "sum: 'a.price + b.price <= 40'",
        "sum: {require: a.price + b.price <= 40, say: Not more than 40.}",
        "sum: 40 >= a.price + b.price",
        "sum:   40.00   >=   a.price + b.price",
        "sum: (a.price) + b.price + 40 * 0 <= (40)",
    ],
)
@pytest.mark.parametrize("newline", ["\n", "\r\n"])
def test_comments_quotes_and_layout_stay(written: str, newline: str) -> None:
    case = hotels(f"constraints:  # all 40\n  {written}\n")
    text = case.task.replace("\n", newline)
    with posed(Case(case.world, text, case.choices, case.constraints)) as at:
        found = hardened(at, Plans(5))
        (change,) = found.changes
        assert change.state.plans == 5
        expect_only_the_literal_changed(text, found)
        assert change.text.count(newline) == text.count(newline)


@pytest.mark.parametrize(
    "written",
    ["a.pool", "a.price == 20", "a.price + b.price <= 20 + 20", "a.price <= b.price", "a.price <= 9 and a.pool"],
)
def test_what_is_no_comparison_with_a_literal_cannot_be_moved(written: str) -> None:
    with posed(hotels(f"constraints:\n  x: {written}\n")) as at:
        with pytest.raises(TaskError, match="x is not a threshold"):
            hardened(at, Unique(), "x")
        assert hardened(at, Plans(7)).changes == ()


def test_an_unknown_constraint_is_named() -> None:
    with (
        posed(hotels(lines("sum: a.price + b.price <= 40"))) as at,
        pytest.raises(TaskError, match="no constraint 'sun'"),
    ):
        hardened(at, Unique(), "sun")


def test_every_number_of_plans_up_to_what_there_is_now_or_its_neighbours() -> None:
    case = hotels(lines("sum: a.price + 2 * b.price <= 100"))
    with posed(case) as at:
        counts = {plans for plans, _, _ in reachable(at, "sum", 1)}
        for number in range(1, 26):
            found = hardened(at, Plans(number))
            assert (found.reached or bool(found.changes)) == (number in counts)
            assert all(change.state.plans == number for change in found.changes)


def test_a_promise_that_does_not_hold_is_a_fault(monkeypatch: pytest.MonkeyPatch) -> None:
    with posed(hotels(lines("sum: a.price + b.price <= 40"))) as at:
        monkeypatch.setattr("cobench.solver.questions.thresholds.Turning.slacks", lambda *_: iter([(-1, True)]))
        with pytest.raises(Exception, match="does not give what the search says"):
            hardened(at, Plans(24))


# -------------------------------------------------------------------------------------------------- the command itself


TASK = "parks-2-04-best-score-on-one-budget.yaml"


def test_the_patch_is_one_that_patch_applies_and_write_does_the_same(
    capsys: pytest.CaptureFixture[str], tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.chdir(tmp_path)
    for name in ("one.yaml", "two.yaml"):
        content = (PARKS / TASK).read_text(encoding="utf-8")
        Path(name).write_text(content, encoding="utf-8")
    assert run(["harden", "one.yaml", "--unique"]) == 0
    shown = capsys.readouterr()
    assert "budget: 2400 becomes 1820: 103 plans" in shown.err
    assert "note: what budget says still speaks of 2400" in shown.err
    assert shown.out.startswith("--- one.yaml\n+++ one.yaml\n")
    assert run(["harden", "two.yaml", "--unique", "--write"]) == 0
    capsys.readouterr()
    assert Path("two.yaml").read_text(encoding="utf-8") == content.replace("<= 2400", "<= 1820")
    patch = shutil.which("patch")
    if patch is not None:
        done = subprocess.run([patch, "-p0"], input=shown.out, encoding="utf-8", check=False, capture_output=True)
        assert done.returncode == 0, done.stdout
        assert Path("one.yaml").read_bytes() == Path("two.yaml").read_bytes()
    assert run(["harden", "two.yaml", "--unique"]) == 0
    shown = capsys.readouterr()
    assert shown.out == ""
    assert "nothing needs to change" in shown.err


def test_json_says_what_is_nearest_and_exits_with_1(capsys: pytest.CaptureFixture[str]) -> None:
    assert run(["harden", str(PARKS / "parks-2-05-five-to-the-canyon.yaml"), "--plans", "100", "--json"]) == 1
    told = json.loads(capsys.readouterr().out)
    assert told["changes"] == []
    assert told["patch"] == ""
    assert told["now"]["plans"] == 98
    assert [(item["constraint"], item["then"]["plans"]) for item in told["nearest"]] == [("night", 101), ("share", 546)]
    assert {item["side"] for item in told["nearest"]} == {"above"}


def test_the_nearest_are_named_by_their_side(capsys: pytest.CaptureFixture[str]) -> None:
    assert run(["harden", str(PARKS / "parks-2-05-five-to-the-canyon.yaml"), "--plans", "100"]) == 1
    said = capsys.readouterr().err
    assert said.index("nearest from above with night at 294") < said.index("nearest from above with share at 3")


def test_a_search_that_ends_early_says_where_and_why(
    capsys: pytest.CaptureFixture[str], monkeypatch: pytest.MonkeyPatch
) -> None:
    task = str(PARKS / "parks-2-01-zion-weekend.yaml")
    with monkeypatch.context() as patch:
        patch.setattr("cobench.solver.questions.thresholds.MAX_STEPS", 6)
        other = str(PARKS / "parks-1-01-southwest-fixed-dates.yaml")
        assert run(["harden", other, "--margin", "900", "--constraint", "rating"]) == 3
        said = capsys.readouterr().err
        assert "undecided: no threshold was found that does it" in said
        assert "rating was not tried to the end" in said
        assert "which no option raises" in said
        assert "nearest with rating at 8.3 instead of 7" in said  # what was found until then
    with monkeypatch.context() as patch:
        patch.setattr("cobench.solver.questions.thresholds.MAX_DISTRIBUTION", 3)
        assert run(["harden", task, "--margin", "900", "--json"]) == 3
        told = json.loads(capsys.readouterr().out)
        assert told["complete"] is False
        assert "places of the threshold" in told["open"]["budget"]
    assert run(["harden", task, "--margin", "900", "--work-limit", "1"]) == 3
    assert "work limit (--work-limit raises it)" in capsys.readouterr().err


@pytest.mark.parametrize(
    ("args", "message"),
    [
        ([], "give one of"),
        (["--unique", "--plans", "3"], "give one of"),
        (["--margin", "much"], "no amount"),
        (["--margin", "-3"], "no amount"),
        (["--margin", "0.005"], "steps of"),
        (["--plans", "0"], "range"),
    ],
)
def test_wishes_that_make_no_sense_are_usage_errors(
    args: list[str], message: str, capsys: pytest.CaptureFixture[str]
) -> None:
    assert run(["harden", str(PARKS / "parks-2-01-zion-weekend.yaml"), *args]) == 2
    assert message in capsys.readouterr().err


def test_a_limit_exits_with_3(capsys: pytest.CaptureFixture[str]) -> None:
    assert run(["harden", str(PARKS / TASK), "--unique", "--work-limit", "1"]) == 3
    assert "undecided" in capsys.readouterr().err


def test_a_file_without_a_last_newline_gives_a_patch_that_says_so() -> None:
    assert (
        unified("t", "a\nb", "a\nc")
        == "--- t\n+++ t\n@@ -1,2 +1,2 @@\n a\n-b\n\\ No newline at end of file\n+c\n\\ No newline at end of file\n"
    )
