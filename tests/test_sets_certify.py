"""Certificates of tasks with sets and routes say the truth about all plans, as the oracle finds it."""

from __future__ import annotations

import itertools
import tempfile
from pathlib import Path
from typing import Any

import pytest
from cobench.datasets.opening import open_dataset
from cobench.schemas.certificate import Certificate, Grade
from cobench.schemas.errors import ExpressionError, InputErrors
from cobench.schemas.problem import pose
from cobench.schemas.task import TaskFile, parse_task
from cobench.solver.certify import certify
from cobench.solver.checker.replay import grades
from cobench.solver.outcome import Reason
from cobench.solver.sets import fold
from cobench.solver.sets.certify import least_hitting
from cobench.verification import replay
from hypothesis import event, given
from hypothesis import strategies as st

from .models import THOROUGH
from .oracle_sets import truth
from .phrases_sets import case_of


def expect(found: Certificate, file: TaskFile, folder: Path, within: dict[str, list[str]] | None = None) -> str:
    wanted, claims = truth(file, folder, within=within), found.claims
    assert claims.count is not None
    assert claims.count.at_least == claims.count.at_most == wanted.count
    if not wanted.count:
        assert claims.status.value == "unsolvable"
        if claims.conflicts is not None and file.task.constraints and not _moved(claims):
            _explained(claims, file, folder)
        return "no plan"
    assert claims.optimum is not None
    assert claims.distribution is not None
    assert {name: [pick.id for pick in picks] for name, picks in claims.optimum.plan.picks.items()} == wanted.canonical
    assert claims.optimum.tied == wanted.tied
    scale = found.objective.scale
    assert list(claims.distribution.values) == [(int(worth * scale), times) for worth, times in wanted.distribution]
    return "some plans"


def _moved(claims: Any) -> bool:
    return any(item.move is not None for item in claims.conflicts.corrections)


def _explained(claims: Any, file: TaskFile, folder: Path) -> None:
    every = list(file.task.constraints)
    sets = [frozenset(some) for size in range(len(every) + 1) for some in itertools.combinations(every, size)]
    good = [some for some in sets if truth(file, folder, constraints=some).count]
    bad = [some for some in sets if some not in good]
    greatest = {frozenset(every) - some for some in good if not any(some < other for other in good)}
    assert {frozenset(item.drop) for item in claims.conflicts.corrections} == greatest
    least = {some for some in bad if not any(other < some for other in bad)}
    assert {frozenset(names) for names in claims.conflicts.conflicts} == least


@given(st.integers(0, 2**40))
def test_a_certificate_claims_exactly_what_is_true(seed: int) -> None:
    case = case_of(seed)
    with tempfile.TemporaryDirectory() as name:
        case.world.write(Path(name))
        file = parse_task(case.task)
        try:
            found = certify(file, open_dataset(name))
        except (ExpressionError, InputErrors):
            event("refused")
            return
        event(expect(found, file, Path(name)))


def verified(folder: Path, task: str, within: dict[str, list[str]] | None = None) -> Certificate:
    """The certificate; each of its claims is proved, and the truth."""
    file, data = parse_task(task), open_dataset(str(folder))
    found = certify(file, data, within=within)
    report = replay(pose(file, data.manifest), data, found)
    assert {*grades(found, report).values()} == {Grade.PROVED}, report
    expect(found, file, folder, within)
    return found


def test_of_lists_with_per_an_empty_group_comes_first_whatever_other_groups_pick(tmp_path: Path) -> None:
    case = case_of(99)
    case.world.write(tmp_path)
    lines = [line for line in case.task.splitlines() if not line.startswith("maximize:")]
    found = verified(tmp_path, "\n".join([*lines, "maximize: count(m.n > 100 for m in c0)", ""]))
    assert found.claims.optimum is not None
    assert [pick.id for pick in found.claims.optimum.plan.picks["c0"]] == ["i_é"]


PER = """cobench: 1
id: t
dataset: .
choose:
  days: {any_of: items, per: day, at_least: 1}
minimize: count(m for m in days)
"""


@pytest.mark.parametrize(
    ("kept", "status"), [(["i_Z", "i_é"], "solvable"), (["i_Z"], "unsolvable"), ([], "unsolvable")]
)
def test_a_scope_takes_rows_away_and_no_group(tmp_path: Path, kept: list[str], status: str) -> None:
    case_of(99).world.write(tmp_path)  # Z is of one day, é of another
    assert verified(tmp_path, PER, {"days": kept}).claims.status.value == status


@pytest.mark.parametrize("seed", range(1000 if THOROUGH else 25))
def test_where_plans_are_not_counted_the_best_one_is_still_claimed(seed: int) -> None:
    case = case_of(seed)
    with tempfile.TemporaryDirectory() as name, pytest.MonkeyPatch.context() as patch:
        patch.setattr(fold, "_counted", stopped)
        case.world.write(Path(name))
        file = parse_task(case.task)
        try:
            found = certify(file, open_dataset(name))
        except (ExpressionError, InputErrors):
            return
        if found.evidence[0].engine != "fold":
            return
        wanted, claims = truth(file, Path(name)), found.claims
        assert claims.optimum is claims.distribution is None
        if not wanted.count:
            assert claims.status.value == "unsolvable"
            return
        assert claims.incumbent is not None
        assert claims.incumbent.value == claims.incumbent.bound == int(wanted.optimum * found.objective.scale)
        ids = {name: [pick.id for pick in picks] for name, picks in claims.incumbent.plan.picks.items()}
        assert ids == wanted.canonical
        assert claims.count is not None
        assert claims.count.at_least == 1
        assert wanted.count <= int(claims.count.at_most)


def stopped(*_: Any) -> Any:
    raise fold.Stopped(Reason.WORK)


@given(st.lists(st.integers(1, 63), max_size=6))
def test_least_hitting_sets_are_those_that_no_smaller_one_hits(sets: list[int]) -> None:
    hitting = [one for one in range(64) if all(one & other for other in sets)]
    least = {one for one in hitting if not any(other != one and other & one == other for other in hitting)}
    assert set(least_hitting(sets) or ()) == least


HEAVY = """cobench: 1
id: t
dataset: .
choose:
  days: {any_of: items, at_least: 2}
constraints:
  few: count(m for m in days) <= 1
  kinds: distinct(m.day for m in days) >= 4
  some: any(m.n > -1000 for m in days)
maximize: count(m for m in days)
"""


def test_thresholds_over_sets_are_dropped_and_the_checker_agrees(tmp_path: Path) -> None:
    case_of(99).world.write(tmp_path)
    found = verified(tmp_path, HEAVY)
    assert found.claims.status.value == "unsolvable"
    assert found.claims.conflicts is not None
    assert [item.drop for item in found.claims.conflicts.corrections] == [("few", "kinds")]
    assert found.claims.conflicts.conflicts == (("few",), ("kinds",))


@pytest.mark.parametrize("function", ["ceil", "floor"])
@pytest.mark.parametrize("bound", ["<= 0", "<= 1", ">= 1", "== 1", "!= 1"])
def test_a_rounded_part_of_a_number_of_rows_is_compared_exactly(tmp_path: Path, function: str, bound: str) -> None:
    case_of(99).world.write(tmp_path)
    task = PER.replace(", per: day, at_least: 1", "")
    verified(tmp_path, f"{task}constraints:\n  c: '{function}(count(m for m in days) / 2) {bound}'\n")
