"""What people found by trying to break it; each stays as it was found."""

from __future__ import annotations

import json
import shutil
import subprocess
from collections.abc import Callable
from pathlib import Path
from typing import Any

import numpy as np
import pyarrow as pa
import pyarrow.parquet as pq
import pytest
from cobench.cli import run
from cobench.schemas.certificate import read_certificate
from cobench.schemas.offer_id import parse_template
from cobench.schemas.task import load_task
from cobench.solver import scan
from cobench.solver.model import Choice, Linear, Model, Row
from cobench.solver.outcome import Limits, Status
from cobench.solver.program import program
from cobench.solver.questions.rewrite import unified
from cobench.verification import data_of

WORLD = Path(__file__).parent / "certificates"
HEAD = f"cobench: 1\nid: found\ndataset: {WORLD / 'world'}\ngiven:\n  guests: 3\n"


@pytest.fixture
def cheapest(tmp_path: Path) -> tuple[Path, Path]:
    """A task that has plans, and its certificate."""
    task = tmp_path / "cheapest.yaml"
    text = (WORLD / "tasks" / "cheapest.yaml").read_text(encoding="utf-8").replace("../world", str(WORLD / "world"))
    task.write_text(text, encoding="utf-8")
    assert run(["verify", str(task), "--out", str(tmp_path / "out"), "--engines", "scan", "-q"]) == 0
    return task, next((tmp_path / "out").glob("*.cert.json"))


def forged(path: Path, change: Callable[[dict[str, Any]], None]) -> None:
    """Alters a certificate and gives it the digest of what it says then."""
    content = json.loads(path.read_bytes())
    change(content)
    certificate = read_certificate(path.read_bytes(), "it").model_validate_json(json.dumps(content)).sealed()
    path.write_bytes(certificate.to_bytes())


def test_ids_that_two_offers_could_share_are_refused() -> None:
    assert "at most one part" in str(parse_template("{a}[_{b}][_{c}]"))
    assert "at most one part" in str(parse_template("{a}[_x{b}][_{c}]"))


def test_a_feasible_plan_exposes_a_certificate_of_no_plan(cheapest: tuple[Path, Path], tmp_path: Path) -> None:
    task, certificate = cheapest
    plan = tmp_path / "plan.json"
    best = read_certificate(certificate.read_bytes(), "it").claims.optimum
    assert best is not None
    plan.write_text(json.dumps({"picks": best.plan.written()}), encoding="utf-8")

    def no_plan(content: dict[str, Any]) -> None:
        content["claims"] = {
            "status": {"value": "unsolvable", "grade": "proved"},
            "count": {"at_least": 0, "at_most": 0, "grade": "proved"},
        }

    forged(certificate, no_plan)
    assert run(["score", str(task), str(plan), "--certificate", str(certificate), "-q"]) == 4


def test_a_certificate_whose_plan_has_another_value_scores_nothing(cheapest: tuple[Path, Path], tmp_path: Path) -> None:
    task, certificate = cheapest
    plan = tmp_path / "plan.yaml"
    plan.write_text("picks: {}\n", encoding="utf-8")

    def dearer(content: dict[str, Any]) -> None:
        content["claims"]["optimum"]["value"] += 1

    forged(certificate, dearer)  # its distribution says otherwise
    assert run(["score", str(task), str(plan), "--certificate", str(certificate), "-q"]) == 2
    forged(certificate, lambda content: content["claims"].pop("distribution"))
    assert run(["score", str(task), str(plan), "--certificate", str(certificate), "-q"]) == 4


def test_a_condition_stands_alone_as_it_does_in_company(tmp_path: Path) -> None:
    for number, company in enumerate(("", " and known(room.town)")):
        task = tmp_path / f"{number}.yaml"
        near = f"abs(days_between(room.night, train.arrives_on)) <= 2{company}"
        choices = "choose:\n  room: rooms\n  train: trains\n"
        task.write_text(f"{HEAD}{choices}constraints:\n  near: {near}\nminimize: room.total\n", encoding="utf-8")
        assert run(["verify", str(task), "--out", str(tmp_path / "out"), "--engines", "scan", "-q"]) == 0


def test_half_a_surrogate_pair_has_a_place(tmp_path: Path, capsys: pytest.CaptureFixture[str]) -> None:
    task = tmp_path / "task.yaml"
    task.write_text('cobench: 1\ntitle: "\\ud800"\n', encoding="utf-8")
    assert run(["verify", str(task), "-q"]) == 2
    assert f"{task}:2:8: error: half of a surrogate pair" in capsys.readouterr().err


def test_a_module_in_the_current_folder_is_not_an_engine(
    cheapest: tuple[Path, Path], tmp_path: Path, monkeypatch: pytest.MonkeyPatch, capsys: pytest.CaptureFixture[str]
) -> None:
    elsewhere = tmp_path / "elsewhere"
    elsewhere.mkdir()
    (elsewhere / "pulp.py").write_text("raise SystemExit('imported')\n", encoding="utf-8")
    monkeypatch.chdir(elsewhere)
    assert run(["verify", str(cheapest[0]), "--json", "-q"]) == 0
    answers = json.loads(capsys.readouterr().out.splitlines()[-1])["engines"]
    assert {answer["engine"]: answer["status"] for answer in answers}["highs"] == "optimal"


def test_a_parameter_may_divide(tmp_path: Path) -> None:
    """A manifest is first read with sample values; the least one made this divisor zero."""
    shutil.copytree(WORLD / "world", tmp_path / "world")
    manifest = tmp_path / "world" / "dataset.yaml"
    text = manifest.read_text(encoding="utf-8")
    assert "    derive:\n" in text
    changed = text.replace("    derive:\n", "    derive:\n      share: 10 / (guests - 1)\n", 1)
    manifest.write_text(changed, encoding="utf-8")
    assert run(["data", "describe", str(tmp_path / "world"), "--json"]) == 0


def one(costs: list[int], limit: int) -> Model:
    """Two choices with these costs each, whose sum must not exceed the limit; dear rows are wanted."""
    rows = np.arange(len(costs))
    every = np.full(len(costs), 2**64 - 1, np.uint64)
    choices = tuple(Choice(name, 1, 1, rows, every) for name in "ab")
    column = np.array(costs, np.int64)
    budget = Row(0, Linear({0: column, 1: column}, (), -limit))
    return Model(("budget",), choices, (budget,), (), (), Linear({0: -column, 1: -column}, (), 0), False)


def test_a_limit_that_is_no_multiple_is_rounded_down() -> None:
    """Costs are multiples of 4 and the limit is not: 7 means 4, never 8."""
    (budget,) = [item for item in program(one([0, 4, 8], 7)).sums if item.low is None]
    assert budget.high == 1
    assert set(budget.coefficients.tolist()) == {1, 2}


def test_a_stopped_scan_does_not_call_what_it_found_the_bound() -> None:
    """Four choices and two rows: stopped after some pairs, it has a plan that is not the best."""
    rows = np.arange(6)
    every = np.full(6, 2**64 - 1, np.uint64)
    choices = tuple(Choice(name, 1, 1, rows, every) for name in "abcd")
    column = np.arange(6)
    linear = Linear(dict.fromkeys(range(4), column), (), -19)
    other = Linear({number: column if number % 2 else -column for number in range(4)}, (), -9)
    goal = Linear(dict.fromkeys(range(4), -column), (), 0)
    model = Model(("x", "y"), choices, (Row(0, linear), Row(1, other)), (), (), goal, False)
    whole = scan.survey(model, Limits()).outcome
    stopped = [scan.survey(model, Limits(work=work)).outcome for work in range(36, 36 * 36, 36)]
    partial = [outcome for outcome in stopped if outcome.status is Status.FEASIBLE]
    assert any(outcome.best > whole.best for outcome in partial)
    assert all(outcome.bound is not None and outcome.bound <= whole.best for outcome in partial)


def test_a_combination_that_is_unknown_does_not_tie_with_one_that_is_zero(tmp_path: Path) -> None:
    """From (S, Cue) it is no walk at all, from (N, Cue) nobody knows: only the first can be a witness."""
    shutil.copytree(WORLD / "world", tmp_path / "world")
    walk = tmp_path / "world" / "walk.parquet"
    known = [{**row, "minutes": row["minutes"] % 5} for row in pq.ParquetFile(walk).read().to_pylist()]
    pq.write_table(pa.Table.from_pylist([row for row in known if row["town"] == "Cue"]), walk)
    task = tmp_path / "task.yaml"
    lines = ["cobench: 1", "id: t", "dataset: world", "given: {guests: 3}", "choose:", "  room: rooms"]
    lines += [
        "  train: trains",
        "constraints:",
        "  near: walk(train.station, room.town) <= -3",
        "minimize: train.fares",
    ]
    task.write_text("\n".join([*lines, ""]), encoding="utf-8")
    assert run(["verify", str(task), "--engines", "scan", "--out", str(tmp_path)]) == 1


# --------------------------------------------------------------------------------------------- questions about a task


def small(tmp_path: Path, columns: dict[str, Any], kinds: str, task: str) -> Path:
    """A task over one table `t` with a key `code` and these columns."""
    folder = tmp_path / "ds"
    folder.mkdir(exist_ok=True)
    number = len(next(iter(columns.values())))
    arrays = {"code": [f"c{row}" for row in range(number)]} | columns
    kept = {name: pa.array(values, pa.string() if name == "code" else pa.int64()) for name, values in arrays.items()}
    pq.write_table(pa.table(kept), folder / "t.parquet")
    (folder / "dataset.yaml").write_text(
        "cobench_dataset: 1\nname: x\ntitle: x\nlicense: CC0-1.0\ntables:\n  t:\n    file: t.parquet\n    key: [code]\n"
        f"    id: t_{{code}}\n    columns:\n      code: {{type: string}}\n{kinds}",
        encoding="utf-8",
    )
    path = tmp_path / "task.yaml"
    path.write_text(f"cobench: 1\nid: found\ndataset: ds\n{task}", encoding="utf-8")
    return path


PRICES = "      price: {type: number, unit: USD, digits: 2}\n"


def test_a_threshold_that_keeps_unknown_values_out_is_moved(tmp_path: Path, capsys: pytest.CaptureFixture[str]) -> None:
    task = small(
        tmp_path, {"w": [1, 2, 3, None]}, "      w: {type: number, nullable: true}\n",
        "choose:\n  h: t\nconstraints:\n  cap: h.w <= 2\nmaximize: h.w\n",
    )  # fmt: skip
    assert run(["explain", str(task), "-q", "--json"]) == 0
    curve = json.loads(capsys.readouterr().out)["curve"]
    assert [(step["loosened"], step["value"]) for step in curve["steps"]["steps"]] == [(-1, 1), (0, 2), (1, 3)]


def test_steps_beyond_64_bits_are_left_out_and_the_rest_is_told(
    tmp_path: Path, capsys: pytest.CaptureFixture[str]
) -> None:
    task = small(
        tmp_path, {"price": [2**60, 2**60 - 500, 0], "stars": [1, 2, 3]}, PRICES + "      stars: {type: number}\n",
        "choose:\n  h: t\n  g: t\nconstraints:\n  c: 11529215046068469.76 <= h.price + g.price\n"
        "maximize: h.stars + g.stars\n",
    )  # fmt: skip
    assert run(["verify", str(task), "-q", "--json", "--out", str(tmp_path / "out")]) == 0
    capsys.readouterr()
    assert run(["explain", str(task), "-q", "--json"]) == 3
    said = json.loads(capsys.readouterr().out)
    assert [item["constraint"] for item in said["influences"]] == ["c"]
    assert said["curve"]["steps"]["stopped"] == "coefficient range"
    assert run(["harden", str(task), "--unique", "-q"]) in (0, 1, 3)


def test_a_long_number_in_words_is_no_reason_to_end(tmp_path: Path, capsys: pytest.CaptureFixture[str]) -> None:
    words = "9" * 5000
    task = small(
        tmp_path, {"price": [100, 200, 300, 400]}, PRICES,
        f"choose:\n  h: t\nconstraints:\n  budget:\n    require: -h.price >= -3\n    say: {words} or -3\n"
        "minimize: h.price\n",
    )  # fmt: skip
    assert run(["harden", str(task), "--plans", "2", "--write", "-q"]) == 0
    shown = capsys.readouterr()
    assert "-h.price >= -2" in shown.out
    assert "still speaks of -3" in shown.err


@pytest.mark.skipif(shutil.which("patch") is None, reason="needs the program patch")
def test_patches_apply_whatever_the_file_is_called(tmp_path: Path) -> None:
    before, after = "a\n# x\u2028y\x85z\nb: 1\rc\n", "a\n# x\u2028y\x85z\nb: 2\rc\n"
    assert unified("my task.yaml", before, after).splitlines()[0] == "--- my task.yaml\t"
    for name in ("task.yaml", "my task.yaml"):
        (tmp_path / name).write_bytes(before.encode())
        patch = unified(name, before, after).encode()
        done = subprocess.run(["patch", "-p0"], cwd=tmp_path, input=patch, capture_output=True, check=False)  # noqa: S607
        assert done.returncode == 0, done.stdout
        assert (tmp_path / name).read_bytes() == after.encode()


def test_a_path_is_not_the_name_of_a_bundled_dataset(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    """Path("./parks") is written like the text `parks`, which is bundled."""
    shutil.copytree(WORLD / "world", tmp_path / "parks")
    monkeypatch.chdir(tmp_path)
    task = load_task(WORLD / "tasks" / "cheapest.yaml")
    for data in (Path("parks"), Path("./parks"), tmp_path / "parks", "./parks"):
        assert data_of(task, data).manifest.manifest.name == "tiny"
    assert data_of(task, "parks").manifest.manifest.name == "parks"
