"""Wrong answers and tracebacks that were found in tasks with sets and routes."""

from __future__ import annotations

import json
from pathlib import Path

import polars as pl
import pytest
from cobench.cli import run
from cobench.schemas.certificate import Grade
from cobench.verification import Verification, verify

DATASET = """\
cobench_dataset: 1
name: found
tables:
  items:
    file: items.parquet
    key: [name]
    id: "{name}"
    columns:
      name: {type: string}
      opens: {type: number, unit: min}
      takes: {type: number, unit: min}
"""
TASK = """\
cobench: 1
id: t
dataset: .
choose:
  r: CHOICE
minimize: GOAL
"""
EVERY_ORDER = 15  # of one, two or three rows out of three


@pytest.fixture
def folder(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> Path:
    (tmp_path / "dataset.yaml").write_text(DATASET, encoding="utf-8")
    rows = {"name": ["a", "b", "c"], "opens": [0, 0, 0], "takes": [5, 5, 5]}
    pl.DataFrame(rows).write_parquet(tmp_path / "items.parquet")
    monkeypatch.chdir(tmp_path)
    return tmp_path


def certified(folder: Path, choice: str, goal: str = "count(m for m in r)") -> Verification:
    task = folder / "t.yaml"
    task.write_text(TASK.replace("CHOICE", choice).replace("GOAL", f"'{goal}'"), encoding="utf-8")
    return verify(task, engines="scan")


@pytest.mark.parametrize(
    "times",
    [
        "start: {time: 1700000000000}",  # milliseconds since 1970
        f"start: {{time: {2**40 - 12}}}",
        f"start: {{time: 0}}, end: {{from: {2**40 + 3}}}",
        f"start: {{time: {-(2**41)}}}, end: {{by: {-(2**40) - 1}}}",
    ],
)
def test_times_beyond_a_trillion_are_times(folder: Path, times: str) -> None:
    found = certified(folder, f"{{route: items, lasts: takes, at_least: 1, {times}}}")
    claims = found.certificate.claims
    assert claims.headline() == Grade.PROVED
    assert claims.count is not None
    assert claims.count.at_least == claims.count.at_most == EVERY_ORDER


@pytest.mark.parametrize("times", [f"start: {{time: {2**48 + 1}}}", f"start: {{time: 0}}, wait: {{at_most: {2**47}}}"])
def test_times_that_the_engines_cannot_hold_are_refused(
    folder: Path, times: str, capsys: pytest.CaptureFixture[str]
) -> None:
    task = TASK.replace("CHOICE", f"{{route: items, lasts: takes, {times}}}").replace("GOAL", "'count(m for m in r)'")
    (folder / "t.yaml").write_text(task, encoding="utf-8")
    assert run(["verify", "t.yaml", "--out", "out"]) == 2
    assert "beyond 2^48" in capsys.readouterr().err


def test_a_canonical_plan_has_no_times_where_nothing_says_when_it_begins(folder: Path) -> None:
    found = certified(folder, "{route: items, lasts: takes, at_least: 2}")
    claims = found.certificate.claims
    assert claims.headline() == Grade.PROVED
    assert claims.optimum is not None
    assert claims.optimum.plan.written() == {"r": [{"id": "a"}, {"id": "b"}]}


def test_a_plan_that_is_later_than_it_need_be_has_a_gap_and_contradicts_nothing(
    folder: Path, capsys: pytest.CaptureFixture[str]
) -> None:
    found = certified(folder, "{route: items, opens: opens, lasts: takes, start: {time: 0}, at_least: 1}", "r.takes")
    (folder / "c.json").write_bytes(found.certificate.to_bytes())
    plan = {"picks": {"r": [{"id": "a", "start": 1, "end": 6}]}}
    (folder / "plan.json").write_text(json.dumps(plan), encoding="utf-8")
    assert run(["score", "t.yaml", "plan.json", "--certificate", "c.json", "--json"]) == 0
    verdict = json.loads(capsys.readouterr().out)
    assert (verdict["kind"], verdict["value"], verdict["optimum"], verdict["gap"]) == ("feasible", 6, 5, 1)
    assert "standing" not in verdict or verdict["standing"] is None
    assert run(["rank", "t.yaml", "plan.json", "--certificate", "c.json", "--json"]) == 0
    assert json.loads(capsys.readouterr().out)["standing"] == {"better": 3, "tied": 0, "worse": 12, "total": 15}


@pytest.mark.parametrize("part", ["m.takes < r.takes", "true for m in r if m.opens < r.ends"])
def test_an_aggregate_that_reads_its_own_route_is_refused_with_the_place(
    folder: Path, part: str, capsys: pytest.CaptureFixture[str]
) -> None:
    goal = f"'count({part}{'' if ' for ' in part else ' for m in r'})'"
    choice = "{route: items, opens: opens, lasts: takes, start: {time: 0}}"
    (folder / "t.yaml").write_text(TASK.replace("CHOICE", choice).replace("GOAL", goal), encoding="utf-8")
    assert run(["verify", "t.yaml", "--out", "out"]) == 2
    shown = capsys.readouterr().err
    assert "t.yaml:6:" in shown
    assert "reads what the route 'r' has as a whole" in shown
