"""What leaves the program: files that may be replaced, texts on a terminal, and an output that is full or closed."""

from __future__ import annotations

import io
import json
import os
import shutil
import stat
import subprocess
import sys
import time
from collections.abc import Callable
from pathlib import Path
from typing import Any

import cobench
import pyarrow as pa
import pytest
from cobench.cli import common, run
from cobench.schemas.canonical import canonical_bytes, digest
from cobench.schemas.errors import OutputError
from cobench.schemas.files import require_writable, write_atomically
from pyarrow import parquet

HERE = Path(__file__).resolve().parent / "certificates"
MAIN = "from cobench.cli import main; main()"

posix = pytest.mark.skipif(os.name != "posix", reason="needs pipes, links and permissions of POSIX")

# Unbalanced markup, markup that would vanish, an emoji code, a colour, and writing that turns around.
NASTY = "[/x] [kWh] :smile: \x1b[31m \u202e \x9b2J"
SHOWN = "[/x] [kWh] :smile: \\x1b[31m \\u202e \\x9b2J"
MANIFEST = """\
cobench_dataset: 1
name: x
tables:
  t:
    file: t.parquet
    key: [code]
    id: t_{code}
    columns:
      code: {type: string}
      price: {type: number, unit: USD, digits: 2}
      stars: {type: number, digits: 1, unit: "[/x] [kWh]"}
"""
TASK = """\
cobench: 1
id: a
title: "[/x] [kWh] :smile: \\e[31m \\u202e \\x9b2J"
dataset: ds
choose: {h: t}
constraints:
  budget: h.price <= 3
  "no": h.code != "[/x] [kWh]"
maximize: h.stars
"""


@pytest.fixture
def folder(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> Path:
    """A task whose title and unit are no markup, a plan for it, and its dataset; the current folder."""
    monkeypatch.chdir(tmp_path)
    (tmp_path / "ds").mkdir()
    columns = {
        "code": ["a", "b", "c", "d"],
        "price": pa.array([100, 200, 300, 400], pa.int64()),
        "stars": pa.array([10, 20, 30, 45], pa.int64()),
    }
    parquet.write_table(pa.table(columns), "ds/t.parquet")
    Path("ds/dataset.yaml").write_text(MANIFEST, encoding="utf-8")
    Path("a.yaml").write_text(TASK, encoding="utf-8")
    Path("p.yaml").write_text("picks: {h: t_a}\n", encoding="utf-8")
    return tmp_path


# ---------------------------------------------------------------------------------------------- what is replaced


@posix
def test_only_files_are_replaced(tmp_path: Path) -> None:
    pipe, below = tmp_path / "pipe", tmp_path / "folder"
    os.mkfifo(pipe)
    below.mkdir()
    (tmp_path / "link").symlink_to(pipe)
    for path, what in ((pipe, "a pipe"), (below, "a folder"), (tmp_path / "link", "a pipe")):
        for refuse in (lambda path: write_atomically(path, b"x"), require_writable):
            with pytest.raises(OutputError, match=f"cannot write {path}: it is {what}"):
                refuse(path)
    assert stat.S_ISFIFO(pipe.stat().st_mode)
    assert (tmp_path / "link").is_symlink()
    assert sorted(path.name for path in tmp_path.iterdir()) == ["folder", "link", "pipe"]


@posix
def test_a_device_is_not_replaced(tmp_path: Path) -> None:
    device = tmp_path / "device"
    try:
        os.mknod(device, 0o666 | stat.S_IFCHR, os.makedev(1, 3))
    except PermissionError:
        pytest.skip("only root makes devices")
    with pytest.raises(OutputError, match="it is a device"):
        write_atomically(device, b"x")
    assert stat.S_ISCHR(device.stat().st_mode)


@posix
@pytest.mark.parametrize("there", [False, True], ids=["dangling", "to-a-file"])
def test_a_link_stays_and_its_file_is_written(there: bool, tmp_path: Path) -> None:
    (tmp_path / "far").mkdir()
    target, link = tmp_path / "far" / "target", tmp_path / "link"
    if there:
        target.write_bytes(b"old")
    link.symlink_to(target)
    write_atomically(link, b"new")
    assert link.is_symlink()
    assert target.read_bytes() == b"new"
    assert [path.name for path in (tmp_path / "far").iterdir()] == ["target"]


@posix
@pytest.mark.parametrize("mode", [0o600, 0o640, 0o755])
def test_a_replaced_file_keeps_its_permissions(mode: int, tmp_path: Path) -> None:
    path = tmp_path / "file"
    path.write_bytes(b"old")
    path.chmod(mode)
    write_atomically(path, b"new")
    assert path.read_bytes() == b"new"
    assert stat.S_IMODE(path.stat().st_mode) == mode


@posix
def test_a_loop_of_links_is_an_error(tmp_path: Path) -> None:
    (tmp_path / "one").symlink_to(tmp_path / "two")
    (tmp_path / "two").symlink_to(tmp_path / "one")
    with pytest.raises(OutputError, match="cannot write"):
        write_atomically(tmp_path / "one", b"x")


@posix
@pytest.mark.parametrize("target", ["a.yaml", "link.yaml", "ds/t.parquet", "ds/dataset.yaml"])
@pytest.mark.parametrize("command", ["explain --html", "verify --engines scan --junit"])
def test_an_input_is_no_output(command: str, target: str, folder: Path, capsys: pytest.CaptureFixture[str]) -> None:
    (folder / "link.yaml").symlink_to(folder / "a.yaml")
    before = (folder / target).read_bytes()
    name, *options = command.split()
    assert run([name, "a.yaml", "-q", *options, target]) == 2
    assert f"cannot write {target}: it is an input" in capsys.readouterr().err
    assert (folder / target).read_bytes() == before


@posix
def test_init_writes_nothing_when_its_file_is_none(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch, capsys: pytest.CaptureFixture[str]
) -> None:
    monkeypatch.chdir(tmp_path)
    os.mkfifo("pipe.yaml")
    assert run(["init", "pipe.yaml", "--force"]) == 2
    assert "it is a pipe" in capsys.readouterr().err
    assert [path.name for path in tmp_path.iterdir()] == ["pipe.yaml"]


@pytest.mark.parametrize("args", ["verify |", "verify a.yaml --out=", "verify a.yaml --junit |", "diff | |", "audit |"])
def test_an_empty_path_is_not_the_current_folder(args: str, folder: Path, capsys: pytest.CaptureFixture[str]) -> None:
    before = sorted(folder.rglob("*"))
    assert run([arg.replace("|", "") for arg in args.split()]) == 2
    assert "empty" in capsys.readouterr().err
    assert sorted(folder.rglob("*")) == before


# ------------------------------------------------------------------------------------------------ what is shown

SAYING = [
    "verify a.yaml --engines scan --out c[/x]", "verify a.yaml b.yaml --engines scan", "best a.yaml",
    "rank a.yaml p.yaml", "explain a.yaml", "explain b.yaml --price budget=1", "explain a.yaml --plan p.yaml",
    "audit a.yaml", "audit a.yaml b.yaml", "score a.yaml p.yaml", "solve a.yaml", "data describe ds",
    "harden a.yaml --unique", "diff old new",
]  # fmt: skip


@pytest.mark.parametrize("args", SAYING)
def test_texts_are_no_markup_and_command_nothing(args: str, folder: Path, capsys: pytest.CaptureFixture[str]) -> None:
    Path("b.yaml").write_text(TASK.replace("id: a", "id: b").replace("<= 3", "<= 0"), encoding="utf-8")
    if args.startswith("diff"):
        for path, limit in (("old", "3"), ("new", "2")):
            Path("c.yaml").write_text(TASK.replace("<= 3", f"<= {limit}"), encoding="utf-8")
            assert run(["verify", "c.yaml", "--engines", "scan", "-q", "--out", path]) == 0
        capsys.readouterr()
    code = run(args.split())
    out, err = capsys.readouterr()
    assert code in (0, 1), err
    assert "[kWh]" in out + err or args == "audit a.yaml b.yaml"
    assert not {"\x1b", "\x9b", "\u202e"} & {*out, *err}
    if "[/x] [kWh] :" in out:
        assert SHOWN in out
    if "c[/x]" in args:
        assert "certificate  c[/x]" in out
        assert Path("c[/x]/a.cert.json").exists()


def test_titles_are_among_the_texts(folder: Path, capsys: pytest.CaptureFixture[str]) -> None:
    assert run(["explain", "a.yaml"]) == 0
    assert f"a  {SHOWN}\n" in capsys.readouterr().out


def test_errors_command_nothing(folder: Path, capsys: pytest.CaptureFixture[str]) -> None:
    for args in (["verify", f"{NASTY}.yaml", "-q"], ["audit", f"{NASTY}.yaml"], ["explain", f"{NASTY}.yaml"]):
        assert run(args) == 2
        assert f"{SHOWN}.yaml" in capsys.readouterr().err


def test_json_reads_the_same_and_commands_nothing(capsys: pytest.CaptureFixture[str]) -> None:
    value = {"text": NASTY + "\x7f\ud800 é 漢 \U0001f600"}
    common.print_json(value)
    out = capsys.readouterr().out
    assert json.loads(out) == value
    assert not {"\x1b", "\x9b", "\u202e", "\x7f", "\ud800"} & {*out}
    assert "é 漢 \U0001f600" in out


def test_a_spinner_takes_a_name_for_what_it_is(monkeypatch: pytest.MonkeyPatch) -> None:
    class Screen(io.StringIO):
        def isatty(self) -> bool:
            return True

    screen = Screen()
    monkeypatch.setattr(sys, "stderr", screen)
    monkeypatch.setenv("TERM", "xterm")
    with common.progress() as shown:
        shown.begin("[/x] [kWh]")
        deadline = time.monotonic() + 10
        while "[/x] [kWh]" not in screen.getvalue() and time.monotonic() < deadline:
            time.sleep(0.02)
    assert "[/x] [kWh]" in screen.getvalue()


# -------------------------------------------------------------------------------- an output that is full or closed


def ended(stdout: str, folder: Path, *args: str) -> tuple[int, str]:
    """The exit code and stderr of a command whose stdout is `full`, or `closed` by its reader."""
    if stdout == "full":
        if not Path("/dev/full").exists():
            pytest.skip("needs /dev/full")
        out = os.open("/dev/full", os.O_WRONLY)
    else:
        reader, out = os.pipe()
        os.close(reader)
    try:
        done = subprocess.run(
            [sys.executable, "-c", MAIN, *args],
            cwd=folder, stdout=out, stderr=subprocess.PIPE, encoding="utf-8", timeout=60, check=False,
        )  # fmt: skip
    finally:
        os.close(out)
    return done.returncode, done.stderr


@posix
@pytest.mark.parametrize("form", [[], ["--json"]], ids=["text", "json"])
@pytest.mark.parametrize(("stdout", "code"), [("full", 2), ("closed", 141)])
def test_the_outputs_fault_is_said_once_and_junit_written(
    stdout: str, code: int, form: list[str], folder: Path
) -> None:
    (folder / "many").mkdir()
    for number in (1, 2):
        text = TASK.replace("id: a", f"id: a{number}").replace("dataset: ds", "dataset: ../ds")
        (folder / "many" / f"a{number}.yaml").write_text(text, encoding="utf-8")
    found, err = ended(stdout, folder, "verify", "many", "--engines", "scan", "-q", "--junit", "j.xml", *form)
    assert found == code
    assert err.splitlines() == (["error: No space left on device"] if stdout == "full" else [])
    junit = (folder / "j.xml").read_text(encoding="utf-8")
    assert 'tests="2" failures="0" errors="0"' in junit
    assert len(list((folder / "certificates").glob("*.cert.json"))) == 2


@posix
@pytest.mark.parametrize(("stdout", "code"), [("full", 2), ("closed", 141)])
def test_a_task_is_not_blamed_by_audit(stdout: str, code: int, folder: Path) -> None:
    found, err = ended(stdout, folder, "audit", "a.yaml", "a.yaml", "-q")
    assert found == code
    assert err.splitlines() == (["error: No space left on device"] if stdout == "full" else [])


# ------------------------------------------------------------------------------ certificates taken at their word

Edit = Callable[[dict[str, Any]], None]


def put(*steps: Any) -> Edit:
    *way, last, value = steps

    def edit(content: dict[str, Any]) -> None:
        for step in way:
            content = content[step]
        content[last] = value

    return edit


BEST, PAIRS = ("claims", "optimum"), ("claims", "distribution", "values")
CONTRADICTIONS = {
    "negative-counts": put(*PAIRS, [[9000, -3], [9500, 13]]),
    "out-of-order": lambda content: content["claims"]["distribution"]["values"].reverse(),
    "an-empty-distribution": put(*PAIRS, []),
    "an-empty-interval": put("claims", "count", "at_most", 3),
    "tied-with-none": put(*BEST, "tied", 0),
    "another-first-value": put(*BEST, "runner_up", 9001),
    "solvable-called-unsolvable": put("claims", "status", "value", "unsolvable"),
}  # fmt: skip
OTHER = {
    "sense": put("objective", "sense", "maximize"),
    "unit": put("objective", "unit", "EUR"),
    "scale": put("objective", "scale", 1),
}
SCALES = [0, -10, 7, 20, -1]


def sealed(edit: Edit, path: Path) -> Path:
    content = json.loads((HERE / "valid" / "cheapest.cert.json").read_bytes())
    edit(content)
    del content["digest"]
    path.write_bytes(canonical_bytes({**content, "digest": digest(content)}))
    return path


@pytest.fixture
def tiny(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> Path:
    """A task and its dataset, a plan; the current folder."""
    for name in ("world", "tasks"):
        shutil.copytree(HERE / name, tmp_path / name)
    monkeypatch.chdir(tmp_path)
    Path("p.yaml").write_text("picks: {room: room_a2_2, train: train_t6}\n", encoding="utf-8")
    return tmp_path


@pytest.mark.parametrize("command", ["rank", "score", "diff"])
@pytest.mark.parametrize("what", CONTRADICTIONS)
def test_claims_that_contradict_each_other_are_not_taken(
    what: str, command: str, tiny: Path, capsys: pytest.CaptureFixture[str]
) -> None:
    path = str(sealed(CONTRADICTIONS[what], tiny / "x.cert.json"))
    args = [path, path] if command == "diff" else ["tasks/cheapest.yaml", "p.yaml", "--certificate", path, "-q"]
    assert run([command, *args]) == 2
    out, err = capsys.readouterr()
    assert out == ""
    assert "x.cert.json: error: the claims contradict each other: " in err


@pytest.mark.parametrize("command", ["rank", "score"])
@pytest.mark.parametrize("what", OTHER)
def test_a_certificate_about_another_objective_is_not_taken(
    what: str, command: str, tiny: Path, capsys: pytest.CaptureFixture[str]
) -> None:
    path = str(sealed(OTHER[what], tiny / "x.cert.json"))
    assert run([command, "tasks/cheapest.yaml", "p.yaml", "--certificate", path, "-q"]) == 2
    assert f"about another objective: {what} is " in capsys.readouterr().err


@pytest.mark.parametrize("scale", SCALES)
def test_a_scale_is_a_power_of_ten(scale: int, tiny: Path, capsys: pytest.CaptureFixture[str]) -> None:
    path = str(sealed(put("objective", "scale", scale), tiny / "x.cert.json"))
    assert run(["diff", path, path]) == 2
    assert "malformed certificate: objective.scale: " in capsys.readouterr().err


def test_nothing_to_compare_is_an_error_in_files_and_folders(
    tmp_path: Path, capsys: pytest.CaptureFixture[str]
) -> None:
    (tmp_path / "empty.jsonl").write_bytes(b"\n")
    (tmp_path / "folder").mkdir()
    for name, kind in (("empty.jsonl", "file"), ("folder", "folder")):
        path = str(tmp_path / name)
        assert run(["diff", path, path]) == 2
        assert f"{path}: error: this {kind} holds no certificates" in capsys.readouterr().err


def test_the_schema_of_a_task_allows_an_optimum_as_people_write_it() -> None:
    schema = json.loads((Path(cobench.__file__).parent / "schemas" / "task.schema.json").read_bytes())
    kinds = [item["type"] for item in schema["$defs"]["Expectation"]["properties"]["optimum"]["anyOf"]]
    assert kinds == ["number", "string", "null"]
