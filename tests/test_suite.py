"""Suites: found in files of three kinds, certified by processes, killed, resumed, sharded, and merged."""

from __future__ import annotations

import errno
import hashlib
import io
import json
import os
import random
import re
import shutil
import signal
import subprocess
import sys
import threading
import time
from collections.abc import Callable, Generator, Sequence
from contextlib import redirect_stderr, redirect_stdout, suppress
from multiprocessing.connection import wait
from pathlib import Path
from typing import Any

import cobench
import pyarrow as pa
import pyarrow.parquet as pq
import pytest
from cobench import workers
from cobench.cli import run
from cobench.schemas.canonical import canonical_bytes
from cobench.schemas.errors import InputError, OutputError
from cobench.suite import executor as executors
from cobench.suite.certify import Run, absolute, certify_suite, chunked
from cobench.suite.executor import Chunk, ProcessExecutor
from cobench.suite.merge import merge
from cobench.suite.parts import MERGED, Marker, open_results, plan_of
from cobench.suite.source import Suite, find_suite
from cobench.suite.work import Flags, Job, Record, certifier
from hypothesis import given, settings
from hypothesis import strategies as st
from ruamel.yaml import YAML

HERE = Path(__file__).resolve().parent / "certificates"
THOROUGH = os.environ.get("COBENCH_HYPOTHESIS") == "thorough"
NAMES = ("cheapest", "gold", "nowhere", "wishes")
COPIES = 6

RunCobench = Callable[..., "subprocess.CompletedProcess[str]"]


def texts(copies: int = COPIES) -> dict[str, str]:
    """Many tasks on the small world by name: copies under other ids."""
    found: dict[str, str] = {}
    for name in NAMES:
        text = (HERE / "tasks" / f"{name}.yaml").read_text(encoding="utf-8")
        for number in range(copies):
            task = f"tiny-{name}-{number:02d}"
            found[task] = text.replace(f"id: tiny-{name}\n", f"id: {task}\n")
    return found


def write_suite(folder: Path, copies: int = COPIES) -> Path:
    """The tasks in YAML files of one folder beside their dataset, and one that is no task."""
    shutil.copytree(HERE / "world", folder / "world")
    (folder / "tasks").mkdir()
    for name, text in texts(copies).items():
        (folder / "tasks" / f"{name}.yaml").write_text(text, encoding="utf-8")
    broken = texts(1)["tiny-cheapest-00"].replace("tiny-cheapest-00", "tiny-broken").replace("minimize:", "minimise:")
    (folder / "tasks" / "broken.yaml").write_text(broken, encoding="utf-8")
    return folder / "tasks"


class Remembered:
    """An executor that knows all records, tells them in some order, and is interrupted after some."""

    def __init__(self, records: dict[str, Record], seed: int, most: int) -> None:
        self._records, self._order, self._most = records, random.Random(seed), most  # noqa: S311 - for an order

    def run(self, job: Job, chunks: Sequence[Chunk]) -> Generator[Record]:
        assert Path(job.root).is_dir()
        places = [entry.place for chunk in chunks for entry in chunk]
        self._order.shuffle(places)
        for place in places[: self._most]:
            yield self._records[place]
        if len(places) > self._most:
            raise KeyboardInterrupt


class Inline:
    """An executor that does everything itself."""

    def run(self, job: Job, chunks: Sequence[Chunk]) -> Generator[Record]:
        for chunk in chunks:
            yield from (certifier(job).certify(entry) for entry in chunk)


def certified(
    tasks: Path | Suite, out: Path, by: Any, *, shard: tuple[int, int] = (1, 1), resume: bool = False, chunk: int = 3
) -> None:
    suite = tasks if isinstance(tasks, Suite) else find_suite(tasks)
    the_run = Run(suite, None, Flags(), chunk)
    with open_results(out, plan_of(suite, the_run.flags, shard), resume=resume) as results:
        certify_suite(the_run, results, by, 2, lambda *_: None)


def merged(out: Path) -> tuple[bytes, ...]:
    return tuple((out / name).read_bytes() for name in MERGED)


def problems(out: Path) -> dict[str, dict[str, Any]]:
    lines = (out / "problems.jsonl").read_text(encoding="utf-8").splitlines()
    return {record["place"]: record for record in map(json.loads, lines)}


def records_of(tasks: Path) -> dict[str, Record]:
    suite = find_suite(tasks)
    job = Job(str(suite.root), None, Flags())
    return {entry.place: certifier(job).certify(entry) for entry in suite.entries}


@pytest.fixture(scope="module")
def suite(tmp_path_factory: pytest.TempPathFactory) -> Path:
    """A folder of tasks that no test changes."""
    return write_suite(tmp_path_factory.mktemp("suite"))


@pytest.fixture(scope="module")
def undisturbed(suite: Path, tmp_path_factory: pytest.TempPathFactory) -> Path:
    """The merged results of one process that was never disturbed."""
    out = tmp_path_factory.mktemp("undisturbed") / "out"
    certified(suite, out, Inline())
    merge([out], out)
    return out


# ------------------------------------------------------------------------------------------------- task files


def test_a_suite_is_what_lies_in_a_folder_but_not_its_data(suite: Path) -> None:
    found = find_suite(suite.parent)
    assert len(found.entries) == len(NAMES) * COPIES + 1
    assert {entry.name.partition("/")[0] for entry in found.entries} == {"tasks"}
    assert {entry.id for entry in found.entries} == {*texts(), "tiny-broken"}


def as_json(text: str) -> str:
    return json.dumps(YAML(typ="safe", pure=True).load(text))


def test_the_same_tasks_as_yaml_json_lines_and_parquet_give_the_same_certificates(
    suite: Path, undisturbed: Path, tmp_path: Path
) -> None:
    shutil.copytree(suite.parent / "world", tmp_path / "world")
    (tmp_path / "tasks").mkdir()
    tasks = list(texts().values())
    lines = "\n\n".join(map(as_json, tasks[:8]))
    (tmp_path / "tasks" / "a.jsonl").write_text(f"\ufeff{lines}\n", encoding="utf-8")
    rows = [*tasks[8:16], *map(as_json, tasks[16:])]
    pq.write_table(pa.table({"task": rows, "note": ["x"] * len(rows)}), tmp_path / "tasks" / "b.parquet")
    certified(tmp_path / "tasks", tmp_path / "out", Inline())
    merge([tmp_path / "out"], tmp_path / "out")
    assert merged(tmp_path / "out")[0] == merged(undisturbed)[0]
    assert not problems(tmp_path / "out")


def told(tmp_path: Path, name: str, content: str | bytes) -> list[str]:
    """The errors of the tasks in one file."""
    (tmp_path / name).write_bytes(content.encode() if isinstance(content, str) else content)
    return [
        "\n".join(json.loads(record.line)["errors"])
        for record in records_of(tmp_path / name).values()
        if record.exit == 2
    ]


def test_errors_in_json_lines_have_line_and_column(tmp_path: Path) -> None:
    shutil.copytree(HERE / "world", tmp_path / "world")
    good = as_json(texts()["tiny-cheapest-00"].replace("../world", "world"))
    wrong = good.replace('"minimize"', '"minimise"').replace("tiny-cheapest-00", "b")
    unknown = good.replace("room.total", "room.totl").replace("tiny-cheapest-00", "c")
    twice = good.replace('"id":', '"id": "other", "id":').replace("tiny-cheapest-00", "d")
    again = good
    lines = [good, wrong, unknown, "[1]", '{"id": "e",', twice, again]
    errors = told(tmp_path, "tasks.jsonl", "\n".join(lines))
    column = wrong.index('"minimise"') + 2
    assert errors[0].startswith(f"tasks.jsonl:2:{column}: error: unknown key 'minimise'")
    assert "hint: did you mean 'minimize'?" in errors[0]
    assert f"tasks.jsonl:3:{unknown.index('totl') + 1}: error: 'room' has no column 'totl'" in errors[1]
    assert "tasks.jsonl:4:1: error: a line of JSON Lines holds one task as a JSON object" in errors[2]
    assert "tasks.jsonl:5:12: error: not valid JSON" in errors[3]
    assert "tasks.jsonl:6:1: error: the key 'id' stands here twice" in errors[4]
    assert "tasks.jsonl:7:1: error: the id 'tiny-cheapest-00' is also that of tasks.jsonl:1" in errors[5]
    assert len(errors) == 6


@pytest.mark.parametrize(
    ("name", "content", "said"),
    [
        ("a.yaml", b"id: \xff", "a.yaml: error: line 1: not UTF-8 text: byte 0xff at offset 4"),
        ("a.yaml", "id: a\nid: b", "a.yaml:2:1: error: the key 'id' stands here twice"),
        ("a.jsonl", b'{"id": "\xff"}', "a.jsonl:1:1: error: not UTF-8 text: byte 0xff"),
        ("a.jsonl", '{"id": "\\ud800"}', "a.jsonl:1:1: error: half of a surrogate pair is no character"),
        ("a.jsonl", '{"id": ' + "[" * 5000 + "]" * 5000 + "}", "a.jsonl:1:1: error: nested deeper than 16 levels"),
        ("a.jsonl", '{"id": ' + "[" * 20 + "]" * 20 + "}", "a.jsonl:1:1: error: nested deeper than 16 levels"),
        ("a.jsonl", '{"cobench": ' + "1" * 5000 + "}", "a.jsonl:1:1: error: a number of more than 40 digits"),
        ("a.jsonl", '{"id": "' + "x" * (1 << 20) + '"}', "a.jsonl:1:1: error: this is longer than 1 MiB"),
        ("a.parquet", b"PAR1", "a.parquet: error: not a readable Parquet file: "),
    ],
)
def test_a_bad_file_becomes_an_error_with_its_place(name: str, content: str | bytes, said: str, tmp_path: Path) -> None:
    [error] = told(tmp_path, name, content)
    assert error.startswith(said)


def test_a_parquet_file_needs_a_column_of_texts(tmp_path: Path) -> None:
    pq.write_table(pa.table({"text": ["a"]}), tmp_path / "a.parquet")
    pq.write_table(pa.table({"task": [7]}), tmp_path / "b.parquet")
    errors = [json.loads(record.line)["errors"] for record in records_of(tmp_path).values()]
    message = "a Parquet file of tasks has one column 'task' with the text of a task in each row"
    assert errors == [[f"a.parquet: error: {message}"], ["b.parquet row 1: error: this is no text of a task"]]


@pytest.mark.parametrize("line", ["id: tiny-x # mine", 'id: "tiny-x"', "id: tiny-x\r", "'id': tiny-x"])
def test_ids_are_found_however_they_are_written(line: str, tmp_path: Path) -> None:
    text = texts()["tiny-gold-00"].replace("id: tiny-gold-00", line)
    (tmp_path / "a.yaml").write_bytes(text.encode())
    assert [entry.id for entry in find_suite(tmp_path).entries] == ["tiny-x"]


def test_a_parquet_file_has_one_column_of_tasks(tmp_path: Path) -> None:
    """Not two of which one is forgotten; and those that are called alike are not read instead."""
    one, two = texts(1)["tiny-cheapest-00"], texts(1)["tiny-gold-00"]
    pq.write_table(pa.Table.from_arrays([pa.array([one]), pa.array([two])], ["task", "task"]), tmp_path / "a.parquet")
    pq.write_table(pa.table({"task.id": ["x"], "task": [two]}), tmp_path / "b.parquet")
    first, second = find_suite(tmp_path).entries
    assert first.fault.startswith("a Parquet file of tasks has one column 'task'")
    assert (second.id, second.fault) == ("tiny-gold-00", "")


# What stands at the start of a line in a text over several lines looks like an id, and is none.
LOOKS_LIKE = [
    "title: 'a\nid: tiny-x\nb'\nchoose: {}\n",
    "'id': other\ntitle: \"a\nid: tiny-x\n\"\n",
    "id: tiny-x\n  and more\n",
    "id: tiny-x\n? [\n",
]


@pytest.mark.parametrize("text", LOOKS_LIKE)
@pytest.mark.parametrize("names", [("a.yaml", "b.yaml"), ("b.yaml", "a.yaml")])
def test_only_an_id_makes_another_a_duplicate(text: str, names: tuple[str, str], tmp_path: Path) -> None:
    good = texts()["tiny-gold-00"].replace("id: tiny-gold-00", "id: tiny-x")
    for name, content in zip(names, (good, text), strict=True):
        (tmp_path / name).write_text(content, encoding="utf-8")
    (tmp_path / "c.yaml").write_text(good, encoding="utf-8")
    faults = {entry.name: entry.fault for entry in find_suite(tmp_path).entries if entry.fault}
    assert faults == {"c.yaml": f"the id 'tiny-x' is also that of {names[0]}"}


@pytest.mark.skipif(sys.platform != "linux", reason="names of files are text elsewhere")
def test_a_file_whose_name_is_not_utf_8_is_an_error_of_its_own(suite: Path, undisturbed: Path, tmp_path: Path) -> None:
    tasks = shutil.copytree(suite, tmp_path / "tasks")
    shutil.copytree(suite.parent / "world", tmp_path / "world")
    text = texts()["tiny-gold-00"]
    bad = [b"\xff.yaml", b"a\\xfe\xff.yaml", b"a\xfe\\xff.yaml", b"\xe4/b.jsonl", b"\xe4/c.parquet"]
    (tasks / os.fsdecode(b"\xe4")).mkdir()
    for name in bad:
        (tasks / os.fsdecode(name)).write_text(text, encoding="utf-8")
    (tasks / "\\xff.yaml").write_text(text.replace("tiny-gold-00", "tiny-zzz"), encoding="utf-8")
    with pytest.MonkeyPatch.context() as patch, redirect_stdout(io.StringIO()):
        patch.setattr("cobench.suite.executor.ProcessExecutor", lambda *_: Inline())
        for more in ([], ["--resume"]):
            assert run(["certify", str(tasks), "--out", str(tmp_path / "out"), "-q", *more]) == 2
    assert merged(tmp_path / "out")[0].startswith(merged(undisturbed)[0])
    assert b'"id":"tiny-zzz"' in merged(tmp_path / "out")[0]
    found = {place: record["errors"] for place, record in problems(tmp_path / "out").items()}
    assert found.pop("broken.yaml")
    assert found == {
        f"{name} (not UTF-8)": [f"{name} (not UTF-8): error: the name of the file is not UTF-8 text"]
        for name in ("\\xff.yaml", "a\\\\xfe\\xff.yaml", "a\\xfe\\\\xff.yaml", "\\xe4/b.jsonl", "\\xe4/c.parquet")
    }
    [entry] = find_suite(tasks / os.fsdecode(bad[0])).entries
    assert entry.fault


def test_a_folder_that_cannot_be_read_is_not_left_out(suite: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    def denied(path: Any = ".") -> Any:
        raise PermissionError(errno.EACCES, "Permission denied", str(path))

    monkeypatch.setattr(os, "scandir", denied)
    with pytest.raises(InputError, match=r"tasks: error: cannot read the folder: Permission denied"):
        find_suite(suite)


def test_a_folder_without_tasks_is_an_error(tmp_path: Path) -> None:
    with pytest.raises(InputError, match="no tasks are here"):
        find_suite(tmp_path)


# ------------------------------------------------------------------------------------------------------- data


def change_table(folder: Path, world: str = "world") -> None:
    path = folder / world / "rooms.parquet"
    pq.write_table(pq.ParquetFile(path).read().slice(1), path)


def write_named(folder: Path, datasets: dict[str, str]) -> Path:
    """The cheapest night on datasets as they are named, by the file of the task below `folder / "s"`."""
    for number, (name, dataset) in enumerate(datasets.items()):
        path = folder / "s" / name
        path.parent.mkdir(parents=True, exist_ok=True)
        text = texts()["tiny-cheapest-00"].replace("../world", dataset)
        path.write_text(text.replace("tiny-cheapest-00", f"named-{number}"), encoding="utf-8")
    return folder / "s"


def test_a_task_of_a_suite_has_the_data_that_verify_opens(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    """Also where a folder is called like a bundled dataset, or the way to it leads over a link."""
    named = {
        "a.yaml": "./world",
        "b.yaml": "world/",
        "c.yaml": "world",
        "deep/d.yaml": "../world",
        "deep/e.yaml": "./world",
        "f.yaml": "link/../w",
        "g.yaml": "deep/../world",
        "h.yaml": "../world",
        "i.yaml": str(tmp_path / "world"),
        "j.yaml": "world/dataset.yaml",
        "deep/k.yaml": "link/../../w",
    }
    suite = write_named(tmp_path, named)
    for place in ("world", "s/world", "s/deep/world", "s/w", "else/w", "w"):
        shutil.copytree(HERE / "world", tmp_path / place)
    for place in ("s/world", "s/deep/world", "s/deep/world", "else/w", "w"):
        change_table(tmp_path, place)
    (tmp_path / "else" / "dir").mkdir()
    (suite / "link").symlink_to(tmp_path / "else" / "dir")
    (suite / "deep" / "link").symlink_to(tmp_path / "else" / "dir")
    bundled = {"world": tmp_path / "world"}
    for module in ("cobench.datasets.opening", "cobench.suite.work"):
        monkeypatch.setattr(f"{module}.bundled", lambda: bundled)
    certifier.cache_clear()
    monkeypatch.chdir(tmp_path)
    for data in (None, "./s/world", "world"):
        out = tmp_path / f"out-{data}".replace("/", "-")
        for resume in (False, True):
            found = find_suite(suite)
            the_run = Run(found, absolute(data), Flags())
            with open_results(out, plan_of(found, Flags(), (1, 1)), resume=resume) as results:
                certify_suite(the_run, results, Inline(), 1, lambda *_: None)
        merge([out], out)
        lines = {json.loads(line)["task"]["id"]: line for line in merged(out)[0].splitlines(keepends=True)}
        for number, name in enumerate(named):
            alone = cobench.verify(suite / name, data, engines="scan").certificate
            assert lines.pop(f"named-{number}") == alone.to_bytes(), (name, data)
        assert not lines


def test_results_do_not_depend_on_where_suite_and_data_lie(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    """Nor on the working folder: also not in the messages about data that is missing or broken."""
    named = {"a.yaml": "world", "deep/b.yaml": "../world", "c.yaml": "nowhere", "d.yaml": "../bad", "e.yaml": "parks"}
    found: list[tuple[bytes, ...]] = []
    for place in ("one", "another/two"):
        suite = write_named(tmp_path / place, named)
        for world in ("s/world", "bad"):
            shutil.copytree(HERE / "world", tmp_path / place / world)
        (tmp_path / place / "bad" / "rooms.parquet").write_bytes(b"PAR1")
        monkeypatch.chdir(tmp_path / place)
        for data, path in (None, Path("s")), (None, suite), ("bad", suite):
            out = tmp_path / place / f"out-{len(found)}"
            monkeypatch.setattr("cobench.suite.executor.ProcessExecutor", lambda *_: Inline())
            given = ["--data", data] if data else []
            assert run(["certify", str(path), "--out", str(out), "-q", *given]) == 2
            found.append(merged(out))
    assert found[0] == found[1] == found[3] == found[4]
    assert found[2] == found[5]
    for contents in found:
        assert str(tmp_path).encode() not in b"".join(contents)
    assert set(json.loads(found[0][2])["data"]) == {"./world"}
    [broken] = [json.loads(line)["errors"][0] for line in found[0][1].splitlines() if b'"d.yaml"' in line]
    assert broken.startswith("../bad/rooms.parquet: error: ")


def test_data_given_or_not_is_not_mixed(tmp_path: Path) -> None:
    tasks = write_suite(tmp_path, 2)
    found, records = find_suite(tasks), records_of(tasks)
    given = Run(found, str(tmp_path / "world"), Flags())
    certified(found, tmp_path / "1", Remembered(records, 1, 99), shard=(1, 2))
    for number in (1, 2):
        with open_results(tmp_path / str(number), plan_of(found, Flags(), (number, 2)), resume=True) as results:
            if number == 1:
                with pytest.raises(InputError, match="were certified without --data"):
                    certify_suite(given, results, Inline(), 1, lambda *_: None)
            else:
                certify_suite(given, results, Inline(), 1, lambda *_: None)
    with pytest.raises(InputError, match="were certified with --data"):
        certified(found, tmp_path / "2", Inline(), shard=(2, 2), resume=True)
    with pytest.raises(InputError, match="some tasks were certified with --data, others without"):
        merge([tmp_path / "1", tmp_path / "2"], tmp_path / "out")


# --------------------------------------------------------------------------------------- parts, shards, merge


def test_shards_do_not_depend_on_machine_or_hash_seed(suite: Path) -> None:
    found = {entry.key: entry.shard(5) for entry in find_suite(suite).entries}
    assert found["tiny-broken"] == 5
    assert [found[f"tiny-gold-0{number}"] for number in range(6)] == [2, 2, 4, 4, 3, 2]


@given(
    of=st.integers(1, 4),
    chunk=st.integers(1, 30),
    seed=st.integers(0, 99),
    stops=st.lists(st.integers(0, 12), max_size=3),
)
@settings(max_examples=300 if THOROUGH else 12)
def test_any_sharding_chunks_and_interruptions_merge_to_the_same_bytes(
    suite: Path,
    undisturbed: Path,
    tmp_path_factory: pytest.TempPathFactory,
    of: int,
    chunk: int,
    seed: int,
    stops: list[int],
) -> None:
    folder, found, records = tmp_path_factory.mktemp("shards"), find_suite(suite), _records_once(suite)
    shards = [folder / str(number) for number in range(1, of + 1)]
    for number, out in enumerate(shards, 1):
        for most in stops:
            with suppress(KeyboardInterrupt):
                by = Remembered(records, seed, most)
                certified(found, out, by, shard=(number, of), resume=True, chunk=chunk)
        if number < of:
            with pytest.raises(InputError, match=r"are missing|cannot read"):
                merge(shards[:number], folder / "early")
        certified(found, out, Remembered(records, seed, 99), shard=(number, of), resume=True, chunk=chunk)
    random.Random(seed).shuffle(shards)  # noqa: S311 - for an order
    merge(shards, folder / "out")
    assert merged(folder / "out") == merged(undisturbed)
    shutil.rmtree(folder)


_known: dict[Path, dict[str, Record]] = {}


def _records_once(suite: Path) -> dict[str, Record]:
    if suite not in _known:
        _known[suite] = records_of(suite)
    return _known[suite]


def test_chunks_hold_each_task_once_and_those_of_one_dataset_together(suite: Path) -> None:
    entries = find_suite(suite).entries
    for size in (None, 1, 7, 1000):
        chunks = chunked(entries, size, 2)
        assert sorted(entry.place for chunk in chunks for entry in chunk) == sorted(entry.place for entry in entries)
        worlds = [entry.world for chunk in chunks for entry in chunk]
        assert worlds == sorted(worlds)
    assert len(chunked(entries, None, 2)) >= 8


def test_merge_refuses_what_does_not_belong_together(suite: Path, tmp_path: Path) -> None:
    found, records = find_suite(suite), _records_once(suite)
    for number in (1, 2):
        by = Remembered(records, 1, 99)
        certified(found, tmp_path / str(number), by, shard=(number, 2))
    one, two = tmp_path / "1", tmp_path / "2"
    for folders, said in [
        ([one], "tasks are missing, first "),
        ([one, one, two], "is here twice"),
        ([one, tmp_path], "cannot read the results"),
    ]:
        with pytest.raises(InputError, match=said):
            merge(folders, tmp_path / "out")
    for old, new, said in [
        ('"version":"', '"version":"9', "they are from version 9"),
        ('"engines":"scan"', '"engines":"all"', "they were certified with engines all, the others with scan"),
        ('"broken.yaml","tiny-broken","sha', '"broken.yaml","tiny-broken","ahs', "tasks are others, first broken.yaml"),
    ]:  # fmt: skip
        shutil.copytree(two, tmp_path / "other")
        path = tmp_path / "other" / "suite.json"
        content = path.read_text(encoding="utf-8")
        assert old in content
        path.write_text(content.replace(old, new, 1), encoding="utf-8")
        with pytest.raises(InputError, match=said):
            merge([one, tmp_path / "other"], tmp_path / "out")
        shutil.rmtree(tmp_path / "other")
    assert not (tmp_path / "out").exists()


def test_resume_refuses_other_tasks_flags_and_shards(suite: Path, tmp_path: Path) -> None:
    def told(*args: str) -> str:
        base = ["certify", str(tmp_path / "tasks"), "--out", str(tmp_path / "out"), "--data", str(tmp_path / "world")]
        with pytest.MonkeyPatch.context() as patch:
            patch.setattr("cobench.suite.executor.ProcessExecutor", lambda *_: Inline())
            errors = io.StringIO()
            patch.setattr(sys, "stderr", errors)
            with redirect_stdout(io.StringIO()):
                code = run([*base, "-q", *args])
        return f"{code} {errors.getvalue()}"

    write_suite(tmp_path, 1)
    assert told().startswith("2 ")  # one task is broken
    assert "here are results already\nhint: --resume goes on with them" in told()
    assert told("--resume") == "2 "
    assert "they were certified with check True, the others with False" in told("--resume", "--no-check")
    assert "work_limit 20000000000, the others with 7" in told("--resume", "--work-limit", "7")
    assert "they are of shard 1/1" in told("--resume", "--shard", "1/2")
    assert "is no shard" in told("--resume", "--shard", "3/2")
    task = tmp_path / "tasks" / "tiny-gold-00.yaml"
    task.write_text(task.read_text(encoding="utf-8") + "# edited\n", encoding="utf-8")
    assert "1 tasks are others, first tiny-gold-00.yaml" in told("--resume")
    assert "the folder holds something else" in told("--out", str(tmp_path / "world"))
    assert "no dataset 'worlds'" in told("--data", "worlds")


def test_a_part_without_its_marker_or_with_another_content_is_made_again(
    suite: Path, tmp_path: Path, undisturbed: Path
) -> None:
    records, out = _records_once(suite), tmp_path / "out"
    with pytest.raises(KeyboardInterrupt):
        certified(suite, out, Remembered(records, 3, 9))
    with pytest.raises(KeyboardInterrupt):
        certified(suite, out, Remembered(records, 4, 9), resume=True)
    first, second = sorted((out / "parts").glob("*.jsonl"))
    damaged = first.read_bytes().replace(b'"grade":"proved"', b'"grade":"prowed"', 1)
    assert damaged != first.read_bytes()
    first.write_bytes(damaged)
    second.with_suffix(".done").unlink()
    (out / "parts" / ".00003.jsonl.x.tmp").write_text("half")
    certified(suite, out, Remembered(records, 5, 99), resume=True)
    merge([out], out)
    assert merged(out) == merged(undisturbed)
    assert not list((out / "parts").glob(".*"))


def test_a_table_that_changed_between_shards_or_before_resuming_is_refused(tmp_path: Path) -> None:
    tasks = write_suite(tmp_path, 2)
    found, records = find_suite(tasks), records_of(tasks)
    certified(found, tmp_path / "1", Remembered(records, 1, 99), shard=(1, 2))
    with pytest.raises(KeyboardInterrupt):
        certified(found, tmp_path / "half", Remembered(records, 1, 4))
    change_table(tmp_path)
    certifier.cache_clear()
    certified(found, tmp_path / "2", Inline(), shard=(2, 2))
    said = r"the table 'rooms' of the data '\.\./world' has changed"
    with pytest.raises(InputError, match=said):
        merge([tmp_path / "1", tmp_path / "2"], tmp_path / "out")
    for out, shard in (("half", (1, 1)), ("1", (1, 2))):  # one interrupted, one finished
        with pytest.raises(InputError, match=said):
            certified(found, tmp_path / out, Inline(), shard=shard, resume=True)


def test_a_table_that_changes_in_the_middle_is_noticed(tmp_path: Path) -> None:
    tasks = write_suite(tmp_path, 1)
    old = records_of(tasks)
    change_table(tmp_path)
    certifier.cache_clear()
    mixed = {place: record if "nowhere" in place else old[place] for place, record in records_of(tasks).items()}
    with pytest.raises(InputError, match="has changed"):
        certified(tasks, tmp_path / "out", Remembered(mixed, 1, 99))


def test_a_compressed_copy_of_a_table_is_the_same_table(tmp_path: Path) -> None:
    tasks = write_suite(tmp_path, 1)
    with pytest.raises(KeyboardInterrupt):
        certified(tasks, tmp_path / "out", Remembered(records_of(tasks), 1, 3))
    path = tmp_path / "world" / "rooms.parquet"
    pq.write_table(pq.ParquetFile(path).read(), path, compression="zstd", row_group_size=2)
    certified(tasks, tmp_path / "out", Inline(), resume=True)


Edit = Callable[[bytes], bytes]


def forge(part: Path, edit: Edit) -> None:
    """Edits the records of a part, and makes its marker again so that all digests fit."""
    content = edit(part.read_bytes())
    part.write_bytes(content)
    path = part.with_suffix(".done")
    marker = Marker.model_validate_json(path.read_bytes())
    digest = "sha256:" + hashlib.sha256(content).hexdigest()
    path.write_bytes(canonical_bytes(marker.model_copy(update={"digest": digest}).sealed().model_dump(mode="json")))


def instead(other: bytes) -> Edit:
    return lambda _: other


def first_line(edit: Edit) -> Edit:
    def edited(content: bytes) -> bytes:
        first, rest = content.split(b"\n", 1)
        return edit(first) + b"\n" + rest

    return edited


def resume_and_merge(suite: Path, out: Path) -> list[list[str]]:
    return [["certify", str(suite), "--resume", "--out", str(out)], ["merge", str(out), "--out", str(out / "m")]]


@pytest.fixture(scope="module")
def two_parts(suite: Path, tmp_path_factory: pytest.TempPathFactory) -> Path:
    """Results of all tasks in two parts, the first without the task that is broken."""
    out = tmp_path_factory.mktemp("parts") / "out"
    found, records = find_suite(suite), sorted(_records_once(suite).values(), key=lambda record: -len(record.line))
    with open_results(out, plan_of(found, Flags(), (1, 1)), resume=False) as results:
        results.write(records[:9])
        results.write(records[9:])
    return out


@pytest.mark.parametrize(
    ("edit", "said"),
    [
        (instead(b"{}"), "this is no record"),
        (instead(b""), "this is no record"),
        (instead(b"\xff"), "this is no record"),
        (instead(b"[" * 100_000), "this is no record"),
        (lambda line: line.replace(b'"exit":0', b'"exit":8'), "this is no record"),
        (lambda line: line.replace(b'"exit":0', b'"exit":0.0'), "this is no record"),
        (lambda line: line.replace(b'"exit":0', b'"exit": 0'), "this is no record"),
        (lambda line: line + b"\n" + line, "the marker of this part says nothing of "),
        (
            lambda line: line.replace(b'"place":"tiny-', b'"place":"tony-'),
            "the marker of this part says nothing of tony",
        ),
    ],
)
def test_a_part_with_something_else_is_refused(
    edit: Edit, said: str, suite: Path, two_parts: Path, tmp_path: Path
) -> None:
    """By resuming and by merging, with the line of the file; and nothing is written."""
    out = shutil.copytree(two_parts, tmp_path / "out")
    forge(out / "parts" / "00001.jsonl", first_line(edit))
    for command in (
        ["certify", str(suite), "--resume", "--out", str(out)],
        ["merge", str(out), "--out", str(out / "m")],
    ):
        errors = io.StringIO()
        with redirect_stderr(errors), redirect_stdout(io.StringIO()):
            assert run(command) == 2
        assert "/parts/00001.jsonl:" in errors.getvalue()
        assert f"error: {said}" in errors.getvalue()
        assert "hint: remove it, and `cobench certify" in errors.getvalue()
    assert sorted(path.name for path in out.iterdir()) == ["lock", "parts", "suite.json"]


@pytest.mark.parametrize(
    ("edit", "said"),
    [
        (lambda line: line.replace(b'"grade":"proved"', b'"grade":"agreed"', 1), "the digest does not fit the content"),
        (lambda line: line.replace(b'"claims":{', b'"claims":{"a":1,'), "malformed certificate: claims.a"),
        (
            lambda line: re.sub(b'"id":"tiny-[a-z0-9-]*","place"', b'"id":"tiny-x","place"', line),
            "is that of another task",
        ),
        (
            lambda line: re.sub(b'"digest":"sha256:[0-9a-f]*","exit"', b'"digest":"sha256:","exit"', line),
            "another task",
        ),
    ],
)
def test_merge_refuses_a_certificate_that_was_altered(edit: Edit, said: str, two_parts: Path, tmp_path: Path) -> None:
    out = shutil.copytree(two_parts, tmp_path / "out")
    forge(out / "parts" / "00001.jsonl", first_line(edit))
    with pytest.raises(InputError, match=said) as caught:
        merge([out], tmp_path / "merged")
    assert str(caught.value).startswith(f"{out}/parts/00001.jsonl:1:1: error: ")
    assert not (tmp_path / "merged").exists()


def test_merge_refuses_the_certificate_of_another_task(two_parts: Path, tmp_path: Path) -> None:
    out = shutil.copytree(two_parts, tmp_path / "out")

    def swap(content: bytes) -> bytes:
        first, second, *rest = [json.loads(line) for line in content.splitlines()]
        first["certificate"] = second["certificate"]
        return b"".join(canonical_bytes(record) for record in (first, second, *rest))

    forge(out / "parts" / "00001.jsonl", swap)
    with pytest.raises(InputError, match=r"the certificate of .* is that of another task"):
        merge([out], tmp_path / "merged")


@pytest.mark.parametrize(
    ("old", "new"),
    [
        ('"places":["', '"exits":{"0":25},"places":["'),
        ('"manifest":"sha256:', '"manifest":"sha257:'),
        ('"seal":"sha256:', '"seal":"sha257:'),
        ('{"', '["'),
    ],
)
def test_a_marker_that_was_edited_does_not_count(
    old: str, new: str, suite: Path, undisturbed: Path, two_parts: Path, tmp_path: Path
) -> None:
    """Its tasks are done again, and exit code and counts are those of the records."""
    out = shutil.copytree(two_parts, tmp_path / "out")
    path = out / "parts" / "00002.done"
    content = path.read_text(encoding="utf-8")
    assert old in content
    path.write_text(content.replace(old, new, 1), encoding="utf-8")
    with pytest.raises(InputError, match="tasks are missing"):
        merge([out], tmp_path / "merged")
    with pytest.MonkeyPatch.context() as patch, redirect_stdout(io.StringIO()) as said:
        patch.setattr("cobench.suite.executor.ProcessExecutor", lambda *_: Inline())
        assert run(["certify", str(suite), "--out", str(out), "--resume", "--json", "-q"]) == 2
    assert json.loads(said.getvalue())["resumed"] == 9
    assert json.loads(said.getvalue())["exits"] == {"0": len(NAMES) * COPIES, "2": 1}
    assert merged(out) == merged(undisturbed)


@pytest.mark.parametrize("name", ["²", "x", "1", "-0001", "٠٠٠٠١"])
def test_what_is_no_part_is_refused(
    name: str, suite: Path, two_parts: Path, tmp_path: Path, capsys: pytest.CaptureFixture[str]
) -> None:
    out = shutil.copytree(two_parts, tmp_path / "out")
    shutil.copy(out / "parts" / "00001.done", out / "parts" / f"{name}.done")
    shutil.copy(out / "parts" / "00001.jsonl", out / "parts" / f"{name}.jsonl")
    for command in (
        ["certify", str(suite), "--resume", "--out", str(out)],
        ["merge", str(out), "--out", str(out / "m")],
    ):
        assert run(command) == 2
        assert f"{name}.done: error: this is no part of `cobench certify`\nhint: " in capsys.readouterr().err


def test_a_plan_with_fewer_flags_or_in_another_order_is_another(suite: Path, two_parts: Path, tmp_path: Path) -> None:
    for edit, said in (
        (lambda plan: plan["flags"].pop("check"), "with check None, the others with True"),
        (lambda plan: plan["tasks"].reverse(), "their tasks come otherwise"),
    ):
        out = shutil.copytree(two_parts, tmp_path / "out")
        plan = json.loads((out / "suite.json").read_bytes())
        edit(plan)
        (out / "suite.json").write_bytes(canonical_bytes(plan))
        with pytest.raises(InputError, match=said):
            merge([two_parts, out], tmp_path / "merged")
        shutil.rmtree(out)


# ---------------------------------------------------------------------------------------- faults from outside


def test_one_process_at_a_time(suite: Path, tmp_path: Path) -> None:
    found = find_suite(suite)
    plan = plan_of(found, Flags(), (1, 1))
    with (
        open_results(tmp_path / "out", plan, resume=True),
        pytest.raises(InputError, match="another process is at work in this folder"),
        open_results(tmp_path / "out", plan, resume=True),
    ):
        pass
    with open_results(tmp_path / "out", plan, resume=True):
        pass  # the lock ended with its holder


def test_of_many_that_begin_at_once_one_works(suite: Path, tmp_path: Path) -> None:
    """Nobody takes a lock that another has, or away what the other is writing."""
    plan = plan_of(find_suite(suite), Flags(), (1, 1))
    at_work, most, said = [0], [0], list[str]()

    def begin(out: Path, together: threading.Barrier) -> None:
        together.wait()
        try:
            with open_results(out, plan, resume=True):
                at_work[0] += 1
                most[0] = max(most[0], at_work[0])
                (out / ".a.tmp").write_bytes(b"")
                time.sleep(0.02)
                (out / ".a.tmp").unlink()
                at_work[0] -= 1
        except (InputError, OutputError, FileNotFoundError) as fault:
            said.append(str(fault).partition("error: ")[2].partition("\n")[0])

    for number in range(12):
        together = threading.Barrier(4)
        threads = [threading.Thread(target=begin, args=(tmp_path / str(number), together)) for _ in range(4)]
        for thread in threads:
            thread.start()
        for thread in threads:
            thread.join()
    assert most == [1]
    assert set(said) == {"another process is at work in this folder"}


@pytest.mark.parametrize("name", ["lock", "suite.json", "parts"])
def test_something_else_in_the_place_of_a_file(
    name: str, suite: Path, tmp_path: Path, capsys: pytest.CaptureFixture[str], monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr("cobench.suite.executor.ProcessExecutor", lambda *_: Remembered(_records_once(suite), 1, 99))
    (tmp_path / "out").mkdir()
    if name == "parts":
        (tmp_path / "out" / name).write_bytes(b"")
    else:
        (tmp_path / "out" / name).mkdir()
    assert run(["certify", str(suite), "--out", str(tmp_path / "out"), "-q"]) == 2
    assert f"error: cannot write {tmp_path / 'out' / name}" in capsys.readouterr().err


def test_a_folder_that_cannot_be_written_to(
    suite: Path, tmp_path: Path, capsys: pytest.CaptureFixture[str], monkeypatch: pytest.MonkeyPatch
) -> None:
    out = tmp_path / "out"
    monkeypatch.setattr("cobench.suite.executor.ProcessExecutor", lambda *_: Remembered(_records_once(suite), 1, 99))
    open_file = os.open

    def read_only(path: Any, flags: int, *args: Any, **kwargs: Any) -> int:
        if flags & os.O_CREAT and str(path).startswith(str(out)):
            raise PermissionError(errno.EACCES, "Permission denied", str(path))
        return open_file(path, flags, *args, **kwargs)

    monkeypatch.setattr(os, "open", read_only)
    assert run(["certify", str(suite), "--out", str(out), "-q"]) == 2
    monkeypatch.undo()
    assert capsys.readouterr().err == f"error: cannot write {out / 'lock'}: Permission denied\n"
    assert not list(out.iterdir())


def test_a_full_disk_keeps_what_was_written(
    suite: Path, undisturbed: Path, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    """The disk is full when the second part, or its marker, is written."""
    records = _records_once(suite)
    for calls in (3, 4):  # after those for plan, part and marker
        out, left = tmp_path / str(calls), [calls]

        monkeypatch.setattr("cobench.suite.certify.CHUNK", 6)

        def full(descriptor: int, left: list[int] = left) -> None:
            left[0] -= 1
            if left[0] < 0:
                raise OSError(28, "No space left on device")

        monkeypatch.setattr(os, "fsync", full)
        with pytest.raises(OutputError, match="No space left on device"):
            certified(suite, out, Remembered(records, 1, 99))
        monkeypatch.undo()
        assert [path.name for path in (out / "parts").glob("*.done")] == ["00001.done"]
        certified(suite, out, Remembered(records, 2, 99), resume=True)
        merge([out], out)
        assert merged(out) == merged(undisturbed)


@pytest.mark.parametrize("place", ["file", "file/below"])
def test_no_place_to_write(place: str, suite: Path, tmp_path: Path, capsys: pytest.CaptureFixture[str]) -> None:
    (tmp_path / "file").write_text("mine", encoding="utf-8")
    assert run(["certify", str(suite), "--out", str(tmp_path / place), "-q"]) == 2
    assert "error: cannot write" in capsys.readouterr().err
    assert (tmp_path / "file").read_text(encoding="utf-8") == "mine"


POISONED = """
import os, pathlib, time
from cobench.suite import work

certify = work.Certifier.certify

def poisoned(self, entry):
    if entry.id == "tiny-gold-03":
        os.abort()
    if entry.id == "tiny-gold-05":
        pathlib.Path(__file__).with_name("hangs").touch()
        time.sleep(600)
    return certify(self, entry)

work.Certifier.certify = poisoned
from cobench.suite.worker import serve
serve()
"""


@pytest.mark.skipif(sys.platform != "linux", reason="needs a process that aborts quietly")
def test_tasks_that_crash_or_hang_take_no_other_down(
    suite: Path, undisturbed: Path, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    (tmp_path / "poisoned_worker.py").write_text(POISONED, encoding="utf-8")
    monkeypatch.syspath_prepend(tmp_path)
    monkeypatch.setattr(executors, "WORKER", "poisoned_worker")
    monkeypatch.setattr(workers, "ATTEMPTS", 2)

    hangs, passed = tmp_path / "hangs", [0.0]

    class Clock:  # an hour passes when the task hangs, so that no other task is slow enough to be given up
        @staticmethod
        def monotonic() -> float:
            return time.monotonic() + passed[0]

    def wait_an_hour(of: Any, seconds: float) -> Any:
        there = hangs.exists()  # before waiting: what was answered before it hangs is heard first, however slow we are
        heard = wait(of, min(seconds, 0.1))
        if there and not heard:
            hangs.unlink()
            passed[0] = 3600.0
        return heard

    monkeypatch.setattr(workers, "time", Clock)
    monkeypatch.setattr(workers, "wait", wait_an_hour)
    out = tmp_path / "out"
    certified(suite, out, ProcessExecutor(1, patience=1000.0), chunk=7)
    assert merge([out], out).exits == {0: len(NAMES) * COPIES - 2, 2: 1, 3: 2}
    found = problems(out)
    assert found["tiny-gold-03.yaml"]["undecided"] == f"the worker died (signal {int(signal.SIGABRT)})"
    assert found["tiny-gold-05.yaml"]["undecided"] == "no answer in 1000 seconds"
    lost = (b'"id":"tiny-gold-03"', b'"id":"tiny-gold-05"')
    lines = merged(undisturbed)[0].splitlines()
    assert merged(out)[0].splitlines() == [line for line in lines if not any(name in line for name in lost)]


def test_workers_that_cannot_start_are_one_error(suite: Path, tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(executors, "WORKER", "json.tool")
    with pytest.raises(cobench.CobenchError, match="the worker processes do not start"):
        certified(suite, tmp_path / "out", ProcessExecutor(1))


# The command with parts as small as they can be, so that a kill falls between them.
PROGRAM = "from cobench.suite import certify; certify.PART_SECONDS = 0.0; from cobench.cli import main; main()"


def start(*args: str | Path) -> subprocess.Popen[str]:
    return subprocess.Popen(
        [sys.executable, "-c", PROGRAM, "certify", *map(str, args), "-q"],
        env={**os.environ, "NO_COLOR": "1", "PYTHONUTF8": "1"},
        stdin=subprocess.DEVNULL,
        stdout=subprocess.PIPE,
        stderr=subprocess.PIPE,
        encoding="utf-8",
        start_new_session=True,
    )


def children(pid: int) -> list[int]:
    """The processes whose parent is `pid`."""
    found: list[int] = []
    for path in Path("/proc").glob("[0-9]*/stat"):
        try:
            fields = path.read_text(encoding="utf-8").rpartition(")")[2].split()
        except OSError:
            continue
        if int(fields[1]) == pid and fields[0] != "Z":
            found.append(int(path.parent.name))
    return found


def until(holds: Callable[[], bool], seconds: float = 30.0) -> bool:
    end = time.monotonic() + seconds
    while not holds() and time.monotonic() < end:
        time.sleep(0.01)
    return holds()


def alive(pid: int) -> bool:
    try:
        return Path(f"/proc/{pid}/stat").read_text(encoding="utf-8").rpartition(")")[2].split()[0] != "Z"
    except OSError:
        return False


@pytest.mark.skipif(sys.platform != "linux", reason="looks into /proc")
def test_kills_at_random_moments_lose_nothing(suite: Path, undisturbed: Path, tmp_path: Path) -> None:
    """A round: start, kill a worker or all at once at some moment, until the results are there; then compare."""
    for round_ in range(50 if THOROUGH else 1):
        random_ = random.Random(round_)  # noqa: S311 - for a moment
        out = tmp_path / str(round_)
        for victims in ("worker", "parent", None):
            process = start(suite, "--out", out, "--workers", "2", "--resume", "--chunk", str(random_.randint(1, 9)))
            workers: list[int] = []
            if victims:
                until(lambda process=process: bool(children(process.pid)) or process.poll() is not None)
                time.sleep(random_.uniform(0.0, 2.5))
                workers = children(process.pid)
                for pid in random_.sample(workers, min(1, len(workers))) if victims == "worker" else [process.pid]:
                    with suppress(ProcessLookupError):
                        os.kill(pid, signal.SIGKILL)
            _, errors = process.communicate(timeout=120)
            assert process.returncode in ((2,) if victims != "parent" else (2, -9)), errors
            assert until(lambda workers=workers: not any(map(alive, workers))), "a worker outlived its parent"
        assert merged(out) == merged(undisturbed)


@pytest.mark.skipif(sys.platform != "linux", reason="looks into /proc")
def test_ctrl_c_ends_workers_and_keeps_what_is_finished(suite: Path, undisturbed: Path, tmp_path: Path) -> None:
    out = tmp_path / "out"
    process = start(suite, "--out", out, "--workers", "1", "--chunk", "1")
    assert until(lambda: any((out / "parts").glob("*.done")))
    workers = children(process.pid)
    os.killpg(process.pid, signal.SIGINT)
    _, errors = process.communicate(timeout=30)
    if process.returncode == 130:
        assert "interrupted" in errors
        assert "Traceback" not in errors
    else:  # it had finished
        assert process.returncode == 2
    assert not any(map(alive, workers))
    certified(suite, out, Inline(), resume=True)
    merge([out], out)
    assert merged(out) == merged(undisturbed)


# ------------------------------------------------------------------------------------------------ the command


def test_the_command_says_how_many_ended_how(
    suite: Path, undisturbed: Path, tmp_path: Path, run_cobench: RunCobench
) -> None:
    done = run_cobench("certify", suite, "--out", tmp_path / "out", "--workers", "2", "--json")
    assert done.returncode == 2
    said = json.loads(done.stdout)
    assert said["exits"] == {"0": len(NAMES) * COPIES, "2": 1}
    assert said["tasks"] == len(NAMES) * COPIES + 1
    assert said["headline"] == {"proved": len(NAMES) * COPIES}
    assert merged(tmp_path / "out") == merged(undisturbed)
    [problem] = problems(tmp_path / "out").values()
    assert problem["errors"][0].startswith("broken.yaml:")
    assert "hint: did you mean 'minimize'?" in problem["errors"][0]


def test_without_the_checker_claims_stay_claims(suite: Path, tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr("cobench.suite.executor.ProcessExecutor", lambda *_: Inline())
    assert run(["certify", str(suite), "--out", str(tmp_path / "out"), "--no-check", "-q"]) == 2
    for line in (tmp_path / "out" / "certificates.jsonl").read_bytes().splitlines(keepends=True):
        certificate = cobench.read_certificate(line, "a line")
        assert certificate.claims.headline() == "claimed"
    assert run(["merge", str(tmp_path / "out"), "--out", str(tmp_path / "merged"), "--json"]) == 2
    assert merged(tmp_path / "merged") == merged(tmp_path / "out")


def test_a_certificate_in_a_suite_is_that_of_verify(suite: Path, undisturbed: Path) -> None:
    for line in (undisturbed / "certificates.jsonl").read_bytes().splitlines(keepends=True)[::7]:
        task = suite / f"{json.loads(line)['task']['id']}.yaml"
        assert cobench.verify(task, engines="scan").certificate.to_bytes() == line


def test_patience_is_not_promised_with_dask(suite: Path, tmp_path: Path, capsys: pytest.CaptureFixture[str]) -> None:
    out = ["--out", str(tmp_path / "out")]
    assert run(["certify", str(suite), *out, "--executor", "dask", "--patience", "9"]) == 2
    assert "--patience is for --executor process" in capsys.readouterr().err
    assert not (tmp_path / "out").exists()


def test_dask_gives_the_same_certificates(
    suite: Path, undisturbed: Path, tmp_path: Path, run_cobench: RunCobench
) -> None:
    pytest.importorskip("distributed")
    done = run_cobench("certify", suite, "--out", tmp_path / "out", "--workers", "1", "--executor", "dask", "-q")
    assert done.returncode == 2, done.stderr
    assert merged(tmp_path / "out") == merged(undisturbed)
