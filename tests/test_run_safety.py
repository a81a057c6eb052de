"""Runs that are damaged, would overwrite what they read, or could not be read again: refused, and said why."""

from __future__ import annotations

import errno
import json
import os
import shutil
import sys
from collections.abc import Callable
from pathlib import Path
from typing import Any

import pytest
from cobench.agent_runner.baselines import BASELINES, baseline, mode_of
from cobench.agent_runner.batch import require_cases
from cobench.agent_runner.coding import sandbox as walls
from cobench.agent_runner.runs import RUN, file_name, open_run, read_run
from cobench.agent_runner.suites import open_suite
from cobench.cli import run
from cobench.schemas.canonical import LARGEST, canonical_bytes
from cobench.schemas.episode import Episode
from cobench.schemas.errors import InputError, InputErrors, OutputError
from cobench.schemas.files import require_writable
from cobench.schemas.run import MOST, RunFile, Unscored
from cobench.schemas.suite import SUITE, SuiteFile
from cobench.schemas.verdict import VerdictKind
from hypothesis import given
from hypothesis import strategies as st
from pydantic import ValidationError

from .episodes import drawn_episodes, episode, verdict
from .small_suite import HOTEL, NAMES, Cases
from .test_measures_paired import as_run
from .test_runs import answers_inline, files

posix = pytest.mark.skipif(sys.platform == "win32", reason="POSIX only")


@pytest.fixture
def folder(tmp_path: Path) -> Path:
    """A run of two agents."""
    items = drawn_episodes(1, ["a", "b"])
    with open_run(tmp_path / "run", as_run(items).facts) as opened:
        for item in items:
            opened.add(item)
        opened.finish()
    return tmp_path / "run"


@pytest.fixture
def few(small_suite: Path, tmp_path: Path) -> Path:
    """A suite to be changed."""
    return Path(shutil.copytree(small_suite, tmp_path / "few"))


def said(capsys: pytest.CaptureFixture[str]) -> str:
    return " ".join(capsys.readouterr().err.replace("│", " ").split())


# ---------------------------------------------------------------------------------------------------- outputs


@pytest.mark.parametrize(
    "name", [RUN, "lock", "samples.parquet", "calls.parquet", "logs/x", "unscored/x", "episodes/x"]
)
def test_no_report_lies_where_a_run_writes(name: str, folder: Path, capsys: pytest.CaptureFixture[str]) -> None:
    before = files(folder)
    other = folder.parent / "link"
    other.symlink_to(folder)
    for out in (folder / name, other / name, folder / "episodes" / ".." / name):
        assert run(["report", str(folder), "-o", str(out), "-q"]) == 2
        assert "cannot write" in said(capsys)
    assert files(folder) == before


def test_no_table_lies_where_a_run_writes(folder: Path, capsys: pytest.CaptureFixture[str]) -> None:
    before = files(folder)
    for out in (folder, folder / "episodes", folder / "logs" / "tables", folder / "lock"):
        assert run(["report", str(folder), "--json", "--out-tables", str(out), "-q"]) == 2
        assert "cannot write" in said(capsys)
    assert files(folder) == before
    assert run(["report", str(folder), "--json", "--out-tables", str(folder / "tables"), "-q"]) == 0


@pytest.mark.parametrize("page", ["few/tasks.json", f"few/tasks/{HOTEL}.yaml", "few/certificates/x", "new/run.json",
                                  "new/episodes/x", "new/samples.parquet", "run/run.json"])  # fmt: skip
def test_no_page_of_a_run_lies_where_the_run_or_its_suite_is(
    page: str, few: Path, folder: Path, capsys: pytest.CaptureFixture[str]
) -> None:
    before, beside = files(few), few.parent
    args = ["run", str(few), "--agent", "weak", "--out", str(beside / "new"), "--report", str(beside / page), "-q"]
    assert run(args) == 2
    assert "cannot write" in said(capsys)
    assert files(few) == before
    assert not (beside / "new").exists()
    assert folder.is_dir()


@pytest.mark.parametrize("out", ["few/tasks", "few/certificates/new", "run/episodes", "run/logs/new"])
def test_no_folder_lies_where_a_run_or_a_suite_is(
    out: str, few: Path, folder: Path, capsys: pytest.CaptureFixture[str]
) -> None:
    before = files(few), files(folder)
    target = str(few.parent / out)
    assert run(["run", str(few), "--agent", "weak", "--out", target, "-q"]) == 2
    assert "cannot write" in said(capsys)
    if out.startswith("run"):
        assert run(["tasks", "make", "compass", "--sample", "--data", "parks", "--out", target, "-q"]) == 2
        assert "cannot write" in said(capsys)
    assert (files(few), files(folder)) == before


@pytest.mark.parametrize("command", ["play", "mcp"])
def test_no_record_is_the_task_the_suite_or_of_a_run(
    command: str, few: Path, folder: Path, capsys: pytest.CaptureFixture[str]
) -> None:
    if command == "mcp":
        pytest.importorskip("mcp")
    task = few / "tasks" / f"{HOTEL}.yaml"
    before = files(few), files(folder)
    for what, out in (
        (task, task),
        (few, few / SUITE),
        (f"{few}:{HOTEL}", task),
        (f"{few}:{HOTEL}", few / "certificates" / "x"),
        (task, folder / "episodes" / "x.json"),
        (task, folder / RUN),
    ):
        assert run([command, str(what), "--out", str(out), "-q"]) == 2
        assert "cannot write" in said(capsys)
    assert (files(few), files(folder)) == before


@posix
def test_what_cannot_be_written_at_the_end_is_said_at_the_beginning(
    few: Path, folder: Path, tmp_path: Path, capsys: pytest.CaptureFixture[str]
) -> None:
    bad = "/dev/null/x"
    for args in (
        ["play", str(few), "--out", bad],
        ["run", str(few), "--agent", "weak", "--out", str(tmp_path / "new"), "--report", bad],
        ["report", str(folder), "-o", bad],
        ["report", str(folder), "--json", "--out-tables", bad],
    ):
        assert run([*args, "-q"]) == 2
        assert "Not a directory" in said(capsys)
    assert not (tmp_path / "new").exists()


@posix
def test_the_first_folder_that_is_there_decides_whether_a_file_can_be_made(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    require_writable(tmp_path / "a" / "b" / "c")
    (tmp_path / "file").touch()
    with pytest.raises(OutputError, match=os.strerror(errno.ENOTDIR)):
        require_writable(tmp_path / "file" / "b" / "c")
    monkeypatch.setattr(os, "access", lambda path, _mode: Path(path) != tmp_path)  # root may write everywhere
    with pytest.raises(OutputError, match=os.strerror(errno.EACCES)):
        require_writable(tmp_path / "a" / "b")
    assert [path.name for path in tmp_path.iterdir()] == ["file"]


# ---------------------------------------------------------------------------------------------------- numbers


@pytest.mark.parametrize("option", ["--seed", "--turns", "--max-calls", "--max-tokens", "--epochs"])
def test_numbers_that_no_file_holds_are_refused(
    option: str, few: Path, tmp_path: Path, capsys: pytest.CaptureFixture[str]
) -> None:
    out = tmp_path / "out"
    for number in (LARGEST + 1, 10**30):
        assert run(["run", str(few), "--agent", "weak", option, str(number), "--out", str(out), "-q"]) == 2
        assert "not in the range" in said(capsys)
    assert not out.exists()


def test_seeds_that_no_file_holds_are_refused(few: Path, tmp_path: Path, capsys: pytest.CaptureFixture[str]) -> None:
    for args in (["play", str(few)], ["tasks", "make", "compass", "--out", str(tmp_path / "x")], ["compare", "x", "y"]):
        for seed in (LARGEST + 1, -LARGEST - 1):
            assert run([*args, "--seed", str(seed)]) == 2
            assert "not in the range" in said(capsys)


@given(st.integers(-(2**70), 2**70), st.sampled_from(["run", "suite", "episode", "unscored"]))
def test_what_is_written_can_be_read(number: int, kind: str) -> None:
    made: dict[str, Callable[[], RunFile | SuiteFile | Episode | Unscored]] = {
        "run": lambda: RunFile(
            version="1", suite="s", suite_digest="d", tasks=("t",), agents=("a",), seed=number, turns=abs(number) + 1
        ),
        "suite": lambda: SuiteFile(name="s", version="1", seed=number, tasks=("t",), sample=()),
        "episode": lambda: episode(verdict("t", VerdictKind.OPTIMAL), seed=number),
        "unscored": lambda: Unscored(task="t", agent="a", epoch=abs(number) + 1, reason=""),
    }
    try:
        found = made[kind]()
    except ValidationError:
        assert abs(number) >= LARGEST
        return
    assert abs(number) <= LARGEST
    assert type(found).model_validate_json(found.to_bytes()) == found


def test_more_conversations_than_can_be_had_are_refused(
    few: Path, tmp_path: Path, capsys: pytest.CaptureFixture[str]
) -> None:
    for epochs in (99_999_999_999, MOST // 3 + 1):
        assert run(["run", str(few), "--agent", "weak", "--epochs", str(epochs), "--out", str(tmp_path / "o")]) == 2
        assert "a run has at most 1,000,000" in said(capsys)
    (tmp_path / "o").mkdir()
    facts = RunFile(version="1", suite="s", suite_digest="d", tasks=("t",), agents=("a",)).model_dump(mode="json")
    (tmp_path / "o" / RUN).write_bytes(canonical_bytes({**facts, "epochs": MOST + 1, "settings": {}}))
    with pytest.raises(InputError, match="this file is damaged"):
        read_run(tmp_path / "o")


# ---------------------------------------------------------------------------------------------------- names


@pytest.mark.parametrize(
    ("tasks", "sample", "why"),
    [
        ([*NAMES, HOTEL], [], "is there twice"),
        (NAMES, [HOTEL, HOTEL], "is there twice"),
        (NAMES, ["other"], "is none of the tasks"),
        ([], [], "at least 1 item"),
    ],
)
def test_a_suite_names_each_task_once(
    tasks: list[str], sample: list[str], why: str, few: Path, capsys: pytest.CaptureFixture[str]
) -> None:
    content = {"cobench_suite": 1, "name": "n", "version": "1", "seed": 1, "tasks": tasks, "sample": sample}
    (few / SUITE).write_bytes(canonical_bytes(content))
    for args in (["run", str(few), "--agent", "weak", "--out", str(few.parent / "out")], ["play", str(few)]):
        assert run([*args, "-q"]) == 2
        assert why in said(capsys)


def test_a_task_is_the_one_that_the_suite_means(few: Path, capsys: pytest.CaptureFixture[str]) -> None:
    for kind in ("tasks", "certificates"):
        ending = "yaml" if kind == "tasks" else "cert.json"
        shutil.copy(few / kind / f"{NAMES[1]}.{ending}", few / kind / f"{HOTEL}.{ending}")
    assert run(["run", str(few), "--agent", "weak", "--out", str(few.parent / "out"), "-q"]) == 2
    assert f"this is the task '{NAMES[1]}', and the suite means '{HOTEL}'" in said(capsys)


def test_one_agent_has_one_name() -> None:
    assert baseline("budgeted:5", ())
    for name in ("budgeted:05", "budgeted:0000005"):
        with pytest.raises(InputError, match="no setting"):
            baseline(name, ())


@posix
def test_a_pipe_is_not_waited_for(few: Path, folder: Path, capsys: pytest.CaptureFixture[str]) -> None:
    os.mkfifo(folder / "episodes" / "pipe.json")
    record = next(iter(sorted((folder / "episodes").glob("task*.json"))))
    record.unlink()
    (folder / "episodes" / "pipe.json").rename(record)
    assert run(["report", str(folder), "--json", "-q"]) == 2
    assert "this is no file" in said(capsys)
    for path in (few / "tasks" / f"{HOTEL}.yaml", few / "certificates" / f"{NAMES[1]}.cert.json"):
        path.unlink()
        os.mkfifo(path)
    assert run(["run", str(few), "--agent", "weak", "--out", str(few.parent / "out"), "-q"]) == 2
    errors = said(capsys)
    assert "this is no file" in errors
    assert run(["run", str(few), "--agent", "weak", "--task", NAMES[1], "--out", str(few.parent / "o"), "-q"]) == 2
    assert f"{NAMES[1]}.cert.json: error: this is no file" in said(capsys)


# ---------------------------------------------------------------------------------------------------- damage


def _put(content: Any, path: tuple[str | int, ...], value: Any) -> None:
    for step in path[:-1]:
        content = content[step]
    content[path[-1]] = value


NINES = "9" * 400
LAST = ("turns", -1)


@pytest.mark.parametrize(
    "changes",
    [
        {("verdict", "relative_gap"): "1/0"},
        {("verdict", "relative_gap"): "abc"},
        {("verdict", "relative_gap"): "1/3"},
        {("verdict", "gap"): 1},
        {("verdict", "optimum"): NINES},
        {("verdict", "value"): NINES},
        {("verdict", "kind"): "optimal"},
        {("verdict", "task"): "other"},
        {("verdict", "scale"): 0},
        {("verdict", "standing", "total"): 0},
        {("regret", "reasoning"): NINES},
        {("regret", "reasoning"): -1},
        {("regret", "exploration"): NINES},
        {("regret", "optimum"): 7},
        {("told",): 99},
        {("turns", 0, "number"): 2},
        {("calls", 0, "turn"): 99},
    ],
)
@pytest.mark.parametrize("alike", [True, False], ids=["everywhere", "once"])
def test_a_record_that_contradicts_itself_is_damaged(
    changes: dict[tuple[str | int, ...], Any], alike: bool, tmp_path: Path, capsys: pytest.CaptureFixture[str]
) -> None:
    """Canonical JSON of the right types, and still nothing that any conversation came to."""
    items = drawn_episodes(8, ["a"])
    wrong = next(item for item in items if item.verdict.kind is VerdictKind.FEASIBLE and item.regret and item.calls)
    with open_run(tmp_path / "run", as_run([wrong]).facts) as opened:
        opened.add(wrong)
    content = json.loads(wrong.to_bytes())
    for path, value in changes.items():
        _put(content, path, value)
        if alike and path[0] in ("verdict", "regret"):
            _put(content, (*LAST, *path), value)
    path = tmp_path / "run" / "episodes" / file_name(wrong.task, "a", 1)
    path.write_bytes(canonical_bytes(content))
    assert run(["report", str(tmp_path / "run"), "--json", "-q"]) == 2
    errors = said(capsys)
    assert "this file is damaged" in errors
    assert path.name in errors
    assert "remove it" in errors


def test_records_are_held_against_the_certificate(small_suite: Path, tmp_path: Path) -> None:
    """Records that agree with themselves, about another optimum or another number of plans."""
    cases = Cases(small_suite)
    env = cases.env()
    ids = {f"{choice}_id": offer for choice, offer in cases.best(HOTEL).items()}
    env.submit(json.dumps({"message": "", "recommendation": ids}))
    found = env.episode()
    suite = open_suite(str(small_suite))
    facts = as_run([found]).facts
    standing = found.verdict.standing
    assert standing is not None
    assert found.verdict.value is not None
    more = standing.model_copy(update={"worse": int(standing.worse) + 1, "total": int(standing.total) + 1})
    other = int(found.verdict.value) + 1
    changes = [{"standing": more}, {"value": other, "optimum": other}]
    for number, change in enumerate([{}, *changes]):
        told = found.verdict.model_copy(update=change)
        last = found.turns[-1].model_copy(update={"verdict": told})
        wrong = found.model_copy(update={"verdict": told, "turns": (*found.turns[:-1], last)})
        with open_run(tmp_path / str(number), facts) as opened:
            opened.add(wrong)
            if not change:
                require_cases(suite, [HOTEL], opened, lambda _: None)
                continue
            with pytest.raises((InputError, InputErrors), match="than the certificate") as fault:
                require_cases(suite, [HOTEL], opened, lambda _: None)
        assert file_name(HOTEL, found.agent, 1) in str(fault.value)
        assert "remove it" in str(fault.value)


def test_a_run_without_a_sound_description_says_what_helps(folder: Path, capsys: pytest.CaptureFixture[str]) -> None:
    (folder / RUN).write_bytes(b"{")
    assert run(["report", str(folder), "--json", "-q"]) == 2
    errors = said(capsys)
    assert "this file is damaged" in errors
    assert "put it back as it was" in errors


# ---------------------------------------------------------------------------------------------------- code


def test_the_agent_that_writes_programs_is_recorded_as_one_that_does(
    small_suite: Path, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr("cobench.agent_runner.batch.answers", answers_inline)
    try:
        walls.sandbox()
    except walls.SandboxError as fault:
        pytest.skip(str(fault))
    asked = ["--agent", "code", "--agent", "weak", "--task", HOTEL]
    assert run(["run", str(small_suite), *asked, "--out", str(tmp_path / "o"), "-q", "--json"]) == 0
    assert {item.agent: item.mode for item in read_run(tmp_path / "o").episodes} == {"code": "code", "weak": "tools"}


def test_without_a_sandbox_only_other_agents_talk(
    small_suite: Path, tmp_path: Path, monkeypatch: pytest.MonkeyPatch, capsys: pytest.CaptureFixture[str]
) -> None:
    def none() -> None:
        raise walls.SandboxError("no sandbox: bubblewrap is not installed", hint="apt install bubblewrap")

    monkeypatch.setattr(walls, "sandbox", none)
    monkeypatch.setattr("cobench.agent_runner.batch.answers", answers_inline)
    for named in (["code"], ["all", "code"]):
        asked = [word for name in named for word in ("--agent", name)]
        assert run(["run", str(small_suite), *asked, "--out", str(tmp_path / "o"), "-q"]) == 2
        assert "apt install bubblewrap" in said(capsys)
        assert not (tmp_path / "o").exists()
    asked = ["--agent", "all", "--task", HOTEL, "--turns", "1", "--max-calls", "1"]
    assert run(["run", str(small_suite), *asked, "--out", str(tmp_path / "o"), "-q"]) == 0
    assert "without code" in said(capsys)
    assert read_run(tmp_path / "o").facts.agents == tuple(name for name in BASELINES if mode_of(name) == "tools")
