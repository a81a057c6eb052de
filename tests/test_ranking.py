"""`rank` and `best`: places and best plans against the truth, and what the commands say."""

from __future__ import annotations

from collections import Counter
from fractions import Fraction
from pathlib import Path

import pytest
from cobench.schemas.certificate import Certificate
from cobench.solver.outcome import Limits, Undecided
from cobench.solver.questions import best as listing
from cobench.solver.questions.best import best_plans, scanned_order
from cobench.solver.questions.place import TOP, Level, Order, Place, order_of, place
from hypothesis import given, settings
from hypothesis import strategies as st

from .models import THOROUGH
from .oracle import Truth
from .phrases import Case, cases
from .test_cli import BEST, Shell, edit, folder, shell
from .test_house import loaded_by
from .test_semantics import Posed, posed, slow

FIXTURES = (folder, shell)  # pytest finds them in this module by their names
many = settings(slow, max_examples=2000 if THOROUGH else 40)
few = settings(slow, max_examples=200 if THOROUGH else 5)


def expect_place(found: Place, wanted: Truth, value: Fraction, at: Posed) -> None:
    """A place is what counting all plans gives, with the definitions written out."""
    values = [worth for _, worth in wanted.plans]  # best first
    assert (found.standing.better, found.standing.tied, found.standing.worse) == wanted.rank(value)
    assert found.standing.total == wanted.count
    assert found.percentile == Fraction(100 * wanted.rank(value)[2], wanted.count)
    assert found.optimum == at.steps(wanted.optimum)
    worse_by = wanted.optimum - value if wanted.maximize else value - wanted.optimum
    assert found.gap == at.steps(worse_by)
    better, tied, _ = wanted.rank(value)
    number = Counter(values)
    for level, position in ((found.better, better - 1), (found.worse, better + tied)):
        if 0 <= position < wanted.count:
            assert level == Level(at.steps(values[position]), number[values[position]])
        else:
            assert level is None
    for cut, percent in zip(found.cuts, TOP, strict=True):
        top = [worth for worth in values if 100 * wanted.rank(worth)[0] < percent * wanted.count]
        assert (cut.percent, cut.value, cut.plans) == (percent, at.steps(top[-1]), len(top))


def orders(at: Posed, certificate: Certificate) -> list[Order]:
    """Every source of an order: the certificate, the scan's list of values, and scan by scan."""
    _, model = at.lowered()
    found = [order_of(certificate), scanned_order(model, Limits())]
    with pytest.MonkeyPatch.context() as patch:
        patch.setattr(listing, "LISTED", -1)
        found.append(scanned_order(model, Limits()))
    return [order for order in found if order is not None]


@many
@given(cases(), st.integers(-3, 3), st.integers(0, 99))
def test_a_place_is_what_counting_all_plans_gives(case: Case, off: int, which: int) -> None:
    with posed(case) as at:
        certificate, wanted = at.certify(), at.truth()
        kind, maximize = at.problem.objective.type, at.problem.objective.maximize
        for order in orders(at, certificate) if wanted.count else ():
            assert order.total == wanted.count
            own = wanted.plans[which % wanted.count][1]
            for value in {own, own + Fraction(off, kind.scale)}:
                expect_place(place(order, kind, maximize, at.steps(value)), wanted, value, at)


@many
@given(cases(), st.integers(1, 12))
def test_the_best_plans_are_those_of_sorting_all(case: Case, most: int) -> None:
    with posed(case) as at:
        lowered, _ = at.lowered()
        wanted = at.truth()
        number = Counter(worth for _, worth in wanted.plans)
        whole: list[tuple[tuple[str, ...], Fraction]] = []  # values as a whole, as long as there is room
        for times in number.values():
            if len(whole) + times > most:
                break
            whole += wanted.plans[len(whole) : len(whole) + times]
        for every in (True, False):
            with pytest.MonkeyPatch.context() as patch:
                patch.setattr(listing, "LISTED", 10**6 if every else -1)
                found = best_plans(lowered, at.problem.objective.type, most, Limits())
            assert (found.total, found.asked) == (wanted.count, most)
            cut = bool(wanted.count) and not whole
            expected = wanted.plans[:most] if cut else tuple(whole)
            plans = [(tuple(plan.ids.values()), plan.value) for plan in found.plans]
            assert plans == [(ids, at.steps(worth)) for ids, worth in expected]
            assert all(tuple(plan.ids) == wanted.choices for plan in found.plans)
            assert found.cut == (Level(at.steps(wanted.optimum), number[wanted.optimum]) if cut else None)
            after = None if cut or len(whole) == wanted.count else wanted.plans[len(whole)][1]
            assert found.next == (None if after is None else Level(at.steps(after), number[after]))


@few
@given(cases())
def test_a_limit_is_said_and_never_an_answer(case: Case) -> None:
    with posed(case) as at:
        lowered, model = at.lowered()
        wanted = at.truth()
        for work in range(0, 40, 3):
            try:
                found = best_plans(lowered, at.problem.objective.type, 3, Limits(work=work))
            except Undecided:
                continue
            assert found == best_plans(lowered, at.problem.objective.type, 3, Limits())
            assert scanned_order(model, Limits()).total == wanted.count


# ------------------------------------------------------------------------------------------------------ the commands


def test_rank_reads_the_certificate(folder: Path, shell: Shell) -> None:
    certificate = next(Path("valid").glob("*cheapest*"))
    Path("plan.yaml").write_text(BEST, encoding="utf-8")
    assert shell("rank", "tasks/cheapest.yaml", "plan.yaml", "--certificate", certificate) == 0
    for part in (
        "$90.00 among 10 plans",
        "1 of 10",
        "next worse",
        "$104.97",
        "in: $90.00",
        "certificate's distribution",
    ):
        assert part in shell.out
    assert shell("rank", "tasks/cheapest.yaml", "plan.yaml") == 0
    assert "counted by the scan" in shell.out
    assert shell("rank", "tasks/cheapest.yaml", "plan.yaml", "--json", "--certificate", certificate) == 0
    [said] = shell.lines()
    assert (said["task"], said["value"], said["gap"], said["source"]) == ("tiny-cheapest", 9000, 0, "certificate")
    assert said["standing"] == {"better": 0, "tied": 1, "worse": 9, "total": 10}
    assert said["objective"] == {"unit": "USD", "scale": 100}
    assert [cut["percent"] for cut in said["cuts"]] == [1, 5, 10, 20]


def test_rank_of_a_value(folder: Path, shell: Shell) -> None:
    assert shell("rank", "tasks/cheapest.yaml", "--value", "100") == 0
    assert "would be 2: no plan has this value" in shell.out
    assert shell("rank", "tasks/cheapest.yaml", "--value", "-5.00") == 0
    assert "none: $95.00 better than the optimum" in shell.out
    assert shell("rank", "tasks/cheapest.yaml", "--value", "1.005") == 2
    assert "'1.005' is no value of the objective" in shell.err
    assert shell("rank", "tasks/cheapest.yaml") == 2
    assert shell("rank", "tasks/cheapest.yaml", "plan.yaml", "--value", "1") == 2


def test_a_plan_that_violates_something_has_no_rank(folder: Path, shell: Shell) -> None:
    edit("tasks/cheapest.yaml", "<= 300", "<= 89.99")
    Path("plan.yaml").write_text(BEST, encoding="utf-8")
    assert shell("rank", "tasks/cheapest.yaml", "plan.yaml") == 1
    assert "no rank: violates budget" in shell.out
    assert "over by $0.01" in shell.out
    assert shell("rank", "tasks/cheapest.yaml", "plan.yaml", "--json") == 1
    assert shell.lines()[0]["violations"][0]["amount"] == 1
    Path("plan.yaml").write_text("picks: {room: room_x_2, train: train_t6}", encoding="utf-8")
    assert shell("rank", "tasks/cheapest.yaml", "plan.yaml") == 1
    assert "no rank: room: 'room_x_2' is no offer" in shell.out
    Path("plan.yaml").write_text("refusal: there is none", encoding="utf-8")
    assert shell("rank", "tasks/cheapest.yaml", "plan.yaml") == 2
    assert "a refusal is no plan" in shell.err


def test_no_plan_has_no_best(folder: Path, shell: Shell) -> None:
    assert shell("best", "tasks/nowhere.yaml") == 1
    assert shell("rank", "tasks/nowhere.yaml", "--value", "80") == 1
    assert "the task has no plan" in shell.err


def test_a_limit_leaves_it_undecided(folder: Path, shell: Shell) -> None:
    assert shell("best", "tasks/cheapest.yaml", "--time-limit", "0") == 3
    assert shell("rank", "tasks/cheapest.yaml", "--value", "80", "--time-limit", "0") == 3
    assert "undecided: a limit" in shell.err


def test_best_says_where_it_stops(folder: Path, shell: Shell) -> None:
    assert shell("best", "tasks/cheapest.yaml", "-k", "2") == 0
    assert "the best 2 of 10 plans" in shell.out
    assert shell("best", "tasks/cheapest.yaml", "-k", "99") == 0
    assert "These are all plans." in shell.out
    assert shell("best", "tasks/wishes.yaml", "-k", "1", "--json") == 0
    [said] = shell.lines()
    assert len(said["plans"]) == 1
    assert said["objective"] == {"unit": "", "scale": 1}
    assert said["cut"] == {"value": 4, "plans": said["cut"]["plans"]}


def test_rank_with_a_certificate_loads_no_engine(folder: Path) -> None:
    args = ["rank", "tasks/cheapest.yaml", "--value", "100", "--certificate", "valid/cheapest.cert.json"]
    assert loaded_by(f"from cobench.cli import run\nassert run({args!r}) == 0") == set()
