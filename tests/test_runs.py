"""Runs: kept one conversation at a time, killed, gone on with, refused where they would mix, and equal by seed."""

from __future__ import annotations

import json
import os
import random
import shutil
import signal
import subprocess
import sys
import time
from collections.abc import Callable, Generator
from contextlib import suppress
from pathlib import Path
from typing import Any
from urllib.parse import unquote

import pyarrow as pa
import pyarrow.parquet as pq
import pytest
from cobench import workers
from cobench.agent_runner import batch
from cobench.agent_runner.baselines import BASELINES
from cobench.agent_runner.batch import Job, Outcome, Talking
from cobench.agent_runner.runs import Key, file_name, keys_of, open_run, read_run
from cobench.agent_runner.tables import TABLES
from cobench.cli import run
from cobench.schemas.canonical import canonical_bytes, digest
from cobench.schemas.errors import InputError
from cobench.schemas.run import RunFile
from cobench.schemas.suite import SuiteFile
from hypothesis import given
from hypothesis import strategies as st

from .small_suite import HOTEL, NAMES

THOROUGH = os.environ.get("COBENCH_HYPOTHESIS") == "thorough"
AGENTS = ("greedy", "random")
ASKED = ("--agent", "greedy", "--agent", "random", "--epochs", "2", "--seed", "5")

RunCobench = Callable[..., "subprocess.CompletedProcess[str]"]


@pytest.fixture(scope="module")
def suite(small_suite: Path) -> Path:
    return small_suite


@pytest.fixture(scope="module")
def undisturbed(suite: Path, tmp_path_factory: pytest.TempPathFactory) -> Path:
    """A run that nothing came in the way of."""
    out = tmp_path_factory.mktemp("run") / "out"
    assert run(["run", str(suite), *ASKED, "--out", str(out), "-q", "--workers", "2"]) == 0
    return out


@pytest.fixture
def inline(monkeypatch: pytest.MonkeyPatch) -> None:
    """Agents talk in this process, so that a test need not wait until others have started."""

    monkeypatch.setattr(batch, "answers", answers_inline)


def answers_inline(
    _module: str, job: Job, chunks: list[list[Key]], _lost: object, *, workers: int
) -> Generator[Outcome]:  # fmt: skip
    assert workers
    talking = Talking(job)
    yield from (talking(key) for chunk in chunks for key in chunk)


@pytest.fixture
def copy(suite: Path, tmp_path: Path) -> Path:
    """A suite to be changed."""
    return Path(shutil.copytree(suite, tmp_path / "copy"))


def files(folder: Path) -> dict[str, bytes]:
    """Every file of a run with its bytes, but the logs of other programs."""
    paths = (path for path in folder.rglob("*") if path.is_file() and "logs" not in path.relative_to(folder).parts)
    return {path.relative_to(folder).as_posix(): path.read_bytes() for path in paths}


def facts_of(out: Path) -> RunFile:
    return read_run(out).facts


def begin(suite: Path, *args: str | Path) -> subprocess.Popen[str]:
    """The command in a process group of its own."""
    return subprocess.Popen(
        [sys.executable, "-c", "from cobench.cli import main; main()", "run", str(suite), *ASKED, *map(str, args)],
        stdin=subprocess.DEVNULL,
        stdout=subprocess.DEVNULL,
        stderr=subprocess.PIPE,
        encoding="utf-8",
        process_group=0,
        env={**os.environ, "NO_COLOR": "1"},
    )


def until(holds: Callable[[], bool], seconds: float = 60.0) -> bool:
    """Waits until something holds; whether it came to hold."""
    end = time.monotonic() + seconds
    while not holds():
        if time.monotonic() > end:
            return False
        time.sleep(0.01)
    return True


# ------------------------------------------------------------------------------------------------ one seed, one folder


@pytest.mark.row(100)
@pytest.mark.usefixtures("inline")
def test_two_runs_with_one_seed_are_the_same_bytes(suite: Path, undisturbed: Path, tmp_path: Path) -> None:
    out = tmp_path / "again"
    assert run(["run", str(suite), *ASKED, "--out", str(out), "-q", "--workers", "1"]) == 0
    assert files(out) == files(undisturbed)


@pytest.mark.usefixtures("inline")
def test_another_seed_is_another_run(suite: Path, undisturbed: Path, tmp_path: Path) -> None:
    out = tmp_path / "other"
    assert run(["run", str(suite), *ASKED, "--seed", "6", "--out", str(out), "-q"]) == 0
    mine, theirs = files(out), files(undisturbed)
    same = {name for name in theirs if name.startswith("episodes/") and mine[name] == theirs[name]}
    assert mine.keys() == theirs.keys()
    assert not same


@pytest.mark.row(40)
def test_every_conversation_is_there_and_ended_with_a_reason(undisturbed: Path) -> None:
    found = read_run(undisturbed)
    assert [(item.task, item.agent, item.epoch) for item in found.episodes] == keys_of(found.facts)
    assert (found.missing, found.unscored) == (0, ())
    assert len(found.episodes) == len(NAMES) * len(AGENTS) * 2
    assert all(item.ended for item in found.episodes)
    assert {item.agent for item in found.episodes} == set(AGENTS)


def test_tables_say_what_the_records_say(undisturbed: Path) -> None:
    episodes = read_run(undisturbed).episodes
    tables = {name: pq.read_table(undisturbed / f"{name}.parquet") for name in TABLES}
    assert {name: tuple(table.schema.names) for name, table in tables.items()} == {
        name: tuple(columns) for name, columns in TABLES.items()
    }
    samples, turns, calls = (tables[name].to_pylist() for name in ("samples", "turns", "calls"))
    assert len(turns) == sum(len(item.turns) for item in episodes)
    assert len(calls) == sum(len(item.calls) for item in episodes)
    for row, item in zip(samples, episodes, strict=True):
        assert (row["task"], row["agent"], row["epoch"]) == (item.task, item.agent, item.epoch)
        assert (row["kind"], row["ended"], row["turns"]) == (item.verdict.kind, item.ended, len(item.turns))
        assert (row["effort"], row["yield"]) == (item.effort, item.found)
        assert row["style"] == item.persona.style
        assert row["level"] == item.traits.level
        assert row["value"] == (None if item.verdict.value is None else str(item.verdict.value))
        assert row["told"] == item.told
    shown = {row["task"]: 0 for row in calls}
    for row in calls:
        shown[row["task"]] += sum(len(group["ids"]) for group in row["offers"])
    assert all(shown.values())
    assert [row["user_text"] for row in turns] == [turn.user for item in episodes for turn in item.turns]
    assert [row["revealed"] for row in turns] == [list(turn.revealed) for item in episodes for turn in item.turns]
    assert json.loads(turns[-1]["options"]) == [plan.written() for plan in episodes[-1].turns[-1].options]


def test_every_column_is_explained() -> None:
    page = (Path(__file__).resolve().parent.parent / "docs" / "runs.md").read_text(encoding="utf-8")
    missing = [column for columns in TABLES.values() for column in columns if f"`{column}`" not in page]
    assert not missing


@pytest.mark.usefixtures("inline")
def test_the_table_on_the_terminal_and_the_same_as_json(
    suite: Path, undisturbed: Path, capsys: pytest.CaptureFixture[str]
) -> None:
    assert run(["run", str(suite), *ASKED, "--out", str(undisturbed), "-q"]) == 0
    shown = capsys.readouterr().out
    assert all(word in shown for word in ("FR", "OR-5", "mean gap", *AGENTS))
    assert run(["run", str(suite), *ASKED, "--out", str(undisturbed), "-q", "--json"]) == 0
    told = json.loads(capsys.readouterr().out)
    assert {item["agent"]: item["episodes"] for item in told["agents"]} == dict.fromkeys(AGENTS, 6)
    assert (told["conversations"], told["unscored"], told["tasks"]) == (12, 0, 3)


# ------------------------------------------------------------------------------------------------ killed and resumed


@pytest.mark.skipif(sys.platform != "linux", reason="workers end with their parent on Linux")
@pytest.mark.usefixtures("inline")
def test_stopped_at_any_moment_and_gone_on_with_nothing_is_lost_or_doubled(
    suite: Path, undisturbed: Path, tmp_path: Path
) -> None:
    """A round: kill or interrupt the run several times, each time when another conversation at least is on the disk."""
    for round_ in range(20 if THOROUGH else 1):
        out, moment = tmp_path / str(round_), random.Random(round_)  # noqa: S311 - for a moment
        for number in (signal.SIGKILL, signal.SIGINT) * (2 if THOROUGH else 1):
            _stop(begin(suite, "--out", out, "--workers", "1"), number, out, moment)
        assert list(out.glob("episodes/*.json"))
        (out / "episodes" / ".half.json.x.tmp").write_bytes(b"{")
        assert run(["run", str(suite), *ASKED, "--out", str(out), "-q"]) == 0
        assert files(out) == files(undisturbed)


def _stop(process: subprocess.Popen[str], number: signal.Signals, out: Path, moment: random.Random) -> None:
    """Sends a signal at some moment after one more conversation, unless the run has ended before."""

    def there() -> int:
        return len(list(out.glob("episodes/*.json")))

    wanted = there() + moment.randint(1, 3)
    assert until(lambda: there() >= wanted or process.poll() is not None)
    time.sleep(moment.uniform(0, 0.02))
    process.send_signal(number)
    _, errors = process.communicate(timeout=60)
    assert process.returncode in (0, 130 if number is signal.SIGINT else -number), errors
    assert "Traceback" not in errors


@pytest.mark.usefixtures("inline")
def test_what_is_there_is_not_done_again(suite: Path, undisturbed: Path, tmp_path: Path) -> None:
    out = Path(shutil.copytree(undisturbed, tmp_path / "part"))
    kept = sorted((out / "episodes").iterdir())
    for path in kept[::2]:
        path.unlink()
    (out / "samples.parquet").unlink()
    times = {path: path.stat().st_mtime_ns for path in kept[1::2]}
    assert run(["run", str(suite), *ASKED, "--out", str(out), "-q"]) == 0
    assert {path: path.stat().st_mtime_ns for path in times} == times
    assert files(out) == files(undisturbed)


# ------------------------------------------------------------------------------------------------ refused


@pytest.mark.parametrize(
    ("other", "said"),
    [
        (("--seed", "6"), "seed 5, and now 6"),
        (("--epochs", "3"), "epochs 2, and now 3"),
        (("--turns", "9"), "turns 30, and now 9"),
        (("--max-calls", "9"), "max calls not given, and now 9"),
        (("--agent", "weak"), "other agents: with weak"),
        (("--limit", "2"), "other tasks: without parks-3-01-angels-landing"),
        (("--sample",), "other tasks: without parks-1-01-southwest-fixed-dates"),
    ],
)
def test_a_run_that_asked_for_something_else_is_not_gone_on_with(
    other: tuple[str, ...], said: str, suite: Path, undisturbed: Path, capsys: pytest.CaptureFixture[str]
) -> None:
    before = files(undisturbed)
    assert run(["run", str(suite), *ASKED, *other, "--out", str(undisturbed), "-q"]) == 2
    assert f"the run in this folder asked for something else: {said}" in capsys.readouterr().err
    assert files(undisturbed) == before


def test_every_difference_has_words() -> None:
    base = RunFile(version="1", suite="s", suite_digest="d", tasks=("t", "u"), agents=("a",), settings={"model": "m"})
    assert not base.difference(base)
    changes: dict[str, Any] = {
        "tasks": ("u", "t"), "agents": ("a", "b"), "settings": {"model": "n"}, "mode": "code", "cost_limit": "1",
        "max_tokens": 5, "version": "2", "suite": "x", "suite_digest": "e", "seed": 1, "epochs": 2, "turns": 3,
        "max_calls": 4,
    }  # fmt: skip
    told = {name: base.difference(base.model_copy(update={name: value})) for name, value in changes.items()}
    assert all(told.values())
    assert changes.keys() | {"cobench_run"} == RunFile.model_fields.keys()
    assert told["tasks"] == "the same tasks in another order"
    assert told["settings"] == "model m, and now n"


@pytest.mark.usefixtures("inline")
def test_two_runs_in_one_folder_at_once_are_refused(
    suite: Path, undisturbed: Path, tmp_path: Path, capsys: pytest.CaptureFixture[str]
) -> None:
    out = Path(shutil.copytree(undisturbed, tmp_path / "busy"))
    with open_run(out, facts_of(out)):
        assert run(["run", str(suite), *ASKED, "--out", str(out), "-q"]) == 2
    assert "another process is at work in this folder" in capsys.readouterr().err
    assert run(["run", str(suite), *ASKED, "--out", str(out), "-q"]) == 0


def test_a_folder_with_something_else_is_left_alone(
    suite: Path, tmp_path: Path, capsys: pytest.CaptureFixture[str]
) -> None:
    (tmp_path / "thesis.txt").write_text("all of it", encoding="utf-8")
    assert run(["run", str(suite), *ASKED, "--out", str(tmp_path), "-q"]) == 2
    assert "the folder holds something else" in capsys.readouterr().err
    assert [path.name for path in tmp_path.iterdir()] == ["thesis.txt"]


def _tamper(folder: Path) -> None:
    path = folder / "certificates" / f"{HOTEL}.cert.json"
    path.write_bytes(path.read_bytes().replace(b'"tied":1', b'"tied":2', 1))


def _raise_the_price(folder: Path) -> None:
    path = folder / "tasks" / f"{HOTEL}.yaml"
    path.write_text(path.read_text(encoding="utf-8").replace("<= 700", "<= 701"), encoding="utf-8")


def _other_data(folder: Path) -> None:
    data = folder / "tasks" / "parks"
    shutil.copytree(Path(__file__).resolve().parent.parent / "datasets" / "parks" / "mini", data)
    table = pq.read_table(data / "hotels.parquet")
    scores = pa.array([score and score - 1 for score in table["review_score"].to_pylist()], table["review_score"].type)
    pq.write_table(
        table.set_column(table.schema.names.index("review_score"), "review_score", scores), data / "hotels.parquet"
    )
    path = folder / "tasks" / f"{HOTEL}.yaml"
    path.write_text(path.read_text(encoding="utf-8").replace("dataset: parks", "dataset: ./parks"), encoding="utf-8")


def _no_certificate(folder: Path) -> None:
    (folder / "certificates" / f"{HOTEL}.cert.json").unlink()


def _of_another(folder: Path) -> None:
    shutil.copy(folder / "certificates" / f"{NAMES[1]}.cert.json", folder / "certificates" / f"{HOTEL}.cert.json")


def _half_a_task(folder: Path) -> None:
    path = folder / "tasks" / f"{HOTEL}.yaml"
    path.write_text(path.read_text(encoding="utf-8").partition("constraints:")[0], encoding="utf-8")


def _no_task(folder: Path) -> None:
    (folder / "tasks" / f"{HOTEL}.yaml").unlink()


@pytest.mark.parametrize(
    ("poison", "said"),
    [
        (_tamper, "the digest"),
        (_raise_the_price, "the certificate is about another task"),
        (_other_data, "the certificate is about other data"),
        (_no_certificate, "cannot read the certificate"),
        (_of_another, "the certificate is about another task"),
        (_half_a_task, "exactly one of minimize and maximize"),
        (_no_task, "cannot read the file"),
    ],
)
@pytest.mark.usefixtures("inline")
def test_a_task_that_is_not_what_was_certified_is_refused_before_anything_runs(
    poison: Callable[[Path], None], said: str, copy: Path, tmp_path: Path, capsys: pytest.CaptureFixture[str]
) -> None:
    poison(copy)
    out = tmp_path / "out"
    assert run(["run", str(copy), *ASKED, "--out", str(out), "-q"]) == 2
    errors = capsys.readouterr().err
    assert said in errors
    assert HOTEL in errors
    assert not list(out.glob("episodes/*"))


@pytest.mark.usefixtures("inline")
def test_all_that_is_wrong_with_a_suite_is_told_at_once(
    copy: Path, tmp_path: Path, capsys: pytest.CaptureFixture[str]
) -> None:
    _no_certificate(copy)
    path = copy / "certificates" / f"{NAMES[2]}.cert.json"
    path.write_bytes(path.read_bytes()[:-2])
    assert run(["run", str(copy), *ASKED, "--out", str(tmp_path / "out"), "-q"]) == 2
    errors = capsys.readouterr().err
    assert HOTEL in errors
    assert NAMES[2] in errors
    assert NAMES[1] not in errors
    asked = ["--agent", "greedy", "--task", NAMES[1]]
    assert run(["run", str(copy), *asked, "--out", str(tmp_path / "out"), "-q"]) == 0, "in the same folder: nothing ran"
    assert len(read_run(tmp_path / "out").episodes) == 1


@pytest.mark.usefixtures("inline")
def test_conversations_about_an_earlier_task_are_not_mixed_with_those_about_a_later_one(
    copy: Path, undisturbed: Path, tmp_path: Path, capsys: pytest.CaptureFixture[str]
) -> None:
    from cobench.verification import verify  # noqa: PLC0415 - slow, and only here

    out = Path(shutil.copytree(undisturbed, tmp_path / "out"))
    _raise_the_price(copy)
    task, certificate = copy / "tasks" / f"{HOTEL}.yaml", copy / "certificates" / f"{HOTEL}.cert.json"
    certificate.write_bytes(verify(task, engines="scan", survivors=False).certificate.to_bytes())
    assert run(["run", str(copy), *ASKED, "--out", str(out), "-q"]) == 2
    errors = capsys.readouterr().err
    assert "this conversation was about another task" in errors
    assert file_name(HOTEL, "greedy", 1) in errors


@pytest.mark.parametrize(
    ("old", "new"),
    [
        ("title: Three", "title: Just three"),
        ("minimize:", "story: We are two friends.\nminimize:"),
        ("minimize:", "goal: As cheap as can be.\nminimize:"),
        ("say: ", "say: Be sure of this. "),
    ],
)
@pytest.mark.usefixtures("inline")
def test_what_the_user_says_is_part_of_the_task(
    old: str, new: str, copy: Path, undisturbed: Path, tmp_path: Path, capsys: pytest.CaptureFixture[str]
) -> None:
    """The digest of a task leaves wording out, so that a certificate survives it; conversations do not."""
    out, other = Path(shutil.copytree(undisturbed, tmp_path / "out")), tmp_path / "other"
    path = copy / "tasks" / f"{HOTEL}.yaml"
    text = path.read_text(encoding="utf-8")
    assert old in text
    path.write_text(text.replace(old, new, 1), encoding="utf-8")
    before = files(out)
    assert run(["run", str(copy), *ASKED, "--out", str(out), "-q"]) == 2
    errors = capsys.readouterr().err
    assert "this conversation was about another wording" in errors
    assert file_name(HOTEL, "greedy", 1) in errors
    assert "give another folder" in errors
    assert files(out) == before
    assert run(["run", str(copy), *ASKED, "--task", HOTEL, "--out", str(other), "-q"]) == 0
    assert run(["compare", f"{undisturbed}:greedy", f"{other}:greedy", "-q"]) == 2
    assert "another wording" in capsys.readouterr().err


@pytest.mark.parametrize(
    ("damage", "said"),
    [
        (b"", "this file is damaged"),
        (b'{"cobench_episode":1}\n', "this file is damaged: task: Field required"),
        (b"\xff\xfe", "this file is damaged"),
        (b"[" * 100_000, "this file is damaged"),
    ],
)
def test_a_damaged_record_is_named(
    damage: bytes, said: str, suite: Path, undisturbed: Path, tmp_path: Path, capsys: pytest.CaptureFixture[str]
) -> None:
    out = Path(shutil.copytree(undisturbed, tmp_path / "out"))
    path = out / "episodes" / file_name(HOTEL, "random", 2)
    path.write_bytes(damage)
    with pytest.raises(InputError, match=said):
        read_run(out)
    assert run(["run", str(suite), *ASKED, "--out", str(out), "-q"]) == 2
    errors = capsys.readouterr().err
    assert said in errors
    assert path.name in errors
    assert "remove it" in errors


def test_records_that_were_not_asked_for_or_lie_are_refused(undisturbed: Path, tmp_path: Path) -> None:
    out = Path(shutil.copytree(undisturbed, tmp_path / "out"))
    one, other = (out / "episodes" / file_name(HOTEL, "greedy", epoch) for epoch in (1, 2))
    content = one.read_bytes()
    one.write_bytes(other.read_bytes())
    with pytest.raises(InputError, match="about another conversation"):
        read_run(out)
    one.write_bytes(content)
    (out / "episodes" / file_name(HOTEL, "greedy", 3)).write_bytes(content)
    with pytest.raises(InputError, match="no conversation that the run asked for"):
        read_run(out)
    with pytest.raises(InputError, match="here is no run"):
        read_run(tmp_path)


@pytest.mark.usefixtures("inline")
def test_a_full_disk_is_said_and_nothing_half_is_left(
    suite: Path, tmp_path: Path, monkeypatch: pytest.MonkeyPatch, capsys: pytest.CaptureFixture[str]
) -> None:
    out = tmp_path / "out"
    fsync = os.fsync

    def full(descriptor: int) -> None:
        if len(list(out.glob("episodes/*.json"))) >= 2:
            raise OSError(28, "No space left on device")
        fsync(descriptor)

    monkeypatch.setattr(os, "fsync", full)
    assert run(["run", str(suite), *ASKED, "--out", str(out), "-q", "--workers", "1"]) == 2
    assert "No space left on device" in capsys.readouterr().err
    assert sorted(path.suffix for path in (out / "episodes").iterdir()) == [".json"] * 2


# ------------------------------------------------------------------------------------------------ infrastructure


POISONED = """
import os
from cobench.agent_runner import batch
from cobench.workers import serve

converse = batch.converse

def poisoned(env, agent):
    episode = converse(env, agent)
    if episode.agent == "random" and episode.epoch == 1:
        raise ValueError("\\ud800 " + "x" * 5000)
    if episode.agent == "greedy" and episode.epoch == 1 and "angels" in episode.task:
        os.abort()
    return episode

batch.converse = poisoned
serve(batch.Talking)
"""


@pytest.mark.skipif(sys.platform != "linux", reason="needs a process that aborts quietly")
def test_a_fault_of_ours_is_never_the_agents_and_is_tried_again(
    suite: Path, undisturbed: Path, tmp_path: Path, monkeypatch: pytest.MonkeyPatch, capsys: pytest.CaptureFixture[str]
) -> None:
    (tmp_path / "poisoned_talker.py").write_text(POISONED, encoding="utf-8")
    monkeypatch.syspath_prepend(tmp_path)
    monkeypatch.setattr(batch, "WORKER", "poisoned_talker")
    monkeypatch.setattr(workers, "ATTEMPTS", 1)
    out = tmp_path / "out"
    assert run(["run", str(suite), *ASKED, "--out", str(out), "-q", "--json", "--workers", "1"]) == 3
    captured = capsys.readouterr()
    told = json.loads(captured.out)
    assert (told["unscored"], told["conversations"]) == (4, 8)
    assert {item["agent"]: item["episodes"] for item in told["agents"]} == {"greedy": 5, "random": 3}
    assert "4 conversations have no outcome" in captured.err
    found = read_run(out)
    reasons = {(item.agent, item.epoch): item.reason for item in found.unscored}
    assert reasons["random", 1].startswith("ValueError: \\ud800 xxx")
    assert reasons["greedy", 1] == f"the worker died (signal {int(signal.SIGABRT)})"
    assert found.missing == 0
    assert pq.read_table(out / "samples.parquet").num_rows == 8
    monkeypatch.setattr(batch, "answers", answers_inline)
    assert run(["run", str(suite), *ASKED, "--out", str(out), "-q"]) == 0
    found = files(out)
    assert found == files(undisturbed)


def test_workers_that_do_not_start_are_one_error(
    suite: Path, tmp_path: Path, monkeypatch: pytest.MonkeyPatch, capsys: pytest.CaptureFixture[str]
) -> None:
    monkeypatch.setattr(batch, "WORKER", "json.tool")
    assert run(["run", str(suite), *ASKED, "--out", str(tmp_path / "out"), "-q"]) == 2
    assert "the worker processes do not start" in capsys.readouterr().err


# ------------------------------------------------------------------------------------------------ names and options


@given(
    st.lists(
        st.tuples(st.from_regex(r"[A-Za-z0-9][A-Za-z0-9._-]{0,8}", fullmatch=True), st.text(max_size=6)), max_size=9
    )
)
def test_names_of_files_are_unique_and_can_be_told_apart(pairs: list[tuple[str, str]]) -> None:
    names: dict[str, tuple[str, str]] = {}
    for task, agent in pairs:
        with suppress(InputError, UnicodeEncodeError):
            name = file_name(task, agent, 1)
            assert names.setdefault(name, (task, agent)) == (task, agent)
            found, named, _ = name.rsplit("--", 2)
            assert (found, unquote(named)) == (task, agent)
            assert "/" not in name
            assert name[0] != "."


@pytest.mark.parametrize("pair", [("a--b", "c"), ("a", "b--c"), ("a-", "b"), ("a", "-b"), ("a-", "-b"), ("a", "b-")])
def test_hyphens_do_not_mix_up_names(pair: tuple[str, str]) -> None:
    found, named, epoch = file_name(*pair, 12).removesuffix(".json").rsplit("--", 2)
    assert (found, unquote(named), epoch) == (*pair, "12")


@pytest.mark.parametrize(
    ("args", "said"),
    [
        ((), "either --agent NAME, or --model NAME"),
        (("--agent", "greedy", "--model", "openai/x"), "either --agent NAME, or --model NAME"),
        (("--agent", "greedi"), "did you mean 'greedy'?"),
        (("--agent", "budgeted:0"), "no setting of the baseline"),
        (("--agent", "budgeted:5", "--agent", "budgeted:05"), "'05' is no setting of the baseline"),
        (("--agent", "all", "--agent", "budgeted:20"), "budgeted and budgeted:20 are one agent"),
        (("--agent", "greedy", "--user-model", "m"), "--user-model goes with --model"),
        (("--agent", "greedy", "--mode", "code"), "--mode code goes with --model"),
        (("--agent", "greedy", "--cost-limit", "1"), "--cost-limit goes with --model"),
        (("--model", "m", "--cost-limit", "free"), "an amount of dollars above 0"),
        (("--model", "m", "--cost-limit", "-1"), "an amount of dollars above 0"),
        (("--model", "m", "--cost-limit", "nan"), "an amount of dollars above 0"),
        (("--agent", "greedy", "--task", "parks-1-01-southwest-fixed-date"), f"did you mean '{HOTEL}'?"),
        (("--agent", "greedy", "--task", HOTEL, "--sample"), "exclude each other"),
        (("--agent", "greedy", "--limit", "0"), "0 is not in the range"),
        (("--agent", "greedy", "--epochs", "x"), "not a valid integer"),
    ],
)
def test_options_that_make_no_sense_are_refused(
    args: tuple[str, ...], said: str, suite: Path, tmp_path: Path, capsys: pytest.CaptureFixture[str]
) -> None:
    assert run(["run", str(suite), *args, "--out", str(tmp_path / "out")]) == 2
    assert said in " ".join(capsys.readouterr().err.replace("│", " ").split())
    assert not (tmp_path / "out").exists()


@pytest.mark.usefixtures("inline")
def test_all_agents_are_one_word_and_the_sample_another(suite: Path, tmp_path: Path) -> None:
    out = tmp_path / "out"
    assert run(["run", str(suite), "--agent", "all", "--agent", "weak", "--sample", "--out", str(out), "-q"]) == 0
    facts = facts_of(out)
    assert facts.agents == tuple(BASELINES)
    assert facts.tasks == NAMES[1:]
    content = json.loads((suite / "tasks.json").read_bytes())
    assert facts.suite_digest == digest(content)
    assert SuiteFile.model_validate_json(canonical_bytes(content)).sample == facts.tasks


@pytest.mark.parametrize("text", ["", "[]", '{"cobench_suite": 2}', '{"name": "' + "x" * 10, "\0"])
def test_what_is_no_suite_is_refused(text: str, tmp_path: Path, capsys: pytest.CaptureFixture[str]) -> None:
    (tmp_path / "tasks.json").write_text(text, encoding="utf-8")
    assert run(["run", str(tmp_path), "--agent", "greedy", "--out", str(tmp_path / "out")]) == 2
    assert "this is no suite" in capsys.readouterr().err


def test_a_run_cannot_be_written_below_a_file(suite: Path, tmp_path: Path, capsys: pytest.CaptureFixture[str]) -> None:
    (tmp_path / "file").touch()
    assert run(["run", str(suite), *ASKED, "--out", str(tmp_path / "file" / "out"), "-q"]) == 2
    assert "cannot write" in capsys.readouterr().err
