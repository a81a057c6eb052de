"""What happens from outside at a bad moment: no place to write, a full disk, Ctrl-C, a kill, a closed pipe, limits."""

from __future__ import annotations

import json
import os
import shutil
import signal
import subprocess
import sys
import time
from collections.abc import Callable, Iterator
from pathlib import Path

import cobench
import pytest
from cobench.cli import run

HERE = Path(__file__).resolve().parent / "certificates"
NAMES = ("cheapest", "gold", "nowhere", "wishes")
CERTIFICATES = [f"tiny-{name}.cert.json" for name in NAMES]
PARKS = Path(cobench.__file__).resolve().parent / "tasks" / "parks"
Run = Callable[..., "subprocess.CompletedProcess[str]"]

posix = pytest.mark.skipif(os.name != "posix", reason="needs POSIX signals and limits")


@pytest.fixture
def folder(tmp_path: Path) -> Path:
    """A folder with four small tasks and their dataset."""
    shutil.copytree(HERE / "world", tmp_path / "world")
    shutil.copytree(HERE / "tasks", tmp_path / "tasks")
    return tmp_path


def complete(out: Path) -> list[str]:
    """The names of the certificates in a folder, each of which is whole and true of what verify says of its task."""
    names = sorted(path.name for path in out.glob("*.cert.json"))
    for name in names:
        cobench.read_certificate((out / name).read_bytes(), name)
    return names


started: list[subprocess.Popen[str]] = []


@pytest.fixture(autouse=True)
def no_process_is_left() -> Iterator[None]:
    """Ends what a failed test has started."""
    yield
    for process in started:
        if process.poll() is None:
            os.killpg(process.pid, signal.SIGKILL)
            process.communicate()
    started.clear()


def start(program: str, *args: str | Path, cwd: Path) -> subprocess.Popen[str]:
    """A Python program in a process group of its own, as a terminal starts it."""
    process = subprocess.Popen(
        [sys.executable, "-c", program, *map(str, args)],
        cwd=cwd,
        env={**os.environ, "NO_COLOR": "1", "PYTHONUTF8": "1"},
        stdin=subprocess.PIPE,
        stdout=subprocess.PIPE,
        stderr=subprocess.PIPE,
        encoding="utf-8",
        start_new_session=True,
    )
    started.append(process)
    return process


MAIN = "from cobench.cli import main; main()"


@pytest.mark.parametrize("place", ["file", "file/below", "file/far/below"])
def test_no_place_to_write(place: str, folder: Path, capsys: pytest.CaptureFixture[str]) -> None:
    (folder / "file").write_text("mine", encoding="utf-8")
    code = run(["verify", str(folder / "tasks"), "--out", str(folder / place), "--engines", "scan", "-q"])
    shown = capsys.readouterr()
    assert code == 2
    assert shown.err.count("error: cannot write ") == len(NAMES)
    assert [line for line in shown.out.splitlines() if "tasks:" not in line] == []
    assert (folder / "file").read_text(encoding="utf-8") == "mine"


def test_a_folder_in_the_place_of_a_certificate(folder: Path, capsys: pytest.CaptureFixture[str]) -> None:
    (folder / "out" / "tiny-gold.cert.json").mkdir(parents=True)
    code = run(["verify", str(folder / "tasks"), "--out", str(folder / "out"), "--engines", "scan", "-q", "--json"])
    assert code == 2
    lines = map(json.loads, capsys.readouterr().out.splitlines())
    said = {Path(line["task"]).stem: line["exit"] for line in lines}
    assert said == {"cheapest": 0, "gold": 2, "nowhere": 0, "wishes": 0}
    found = sorted(path.name for path in (folder / "out").iterdir() if not path.name.endswith(".run.json"))
    assert found == CERTIFICATES


@pytest.mark.parametrize("command", ["init", "build"])
def test_other_commands_without_a_place_to_write(command: str, tmp_path: Path, run_cobench: Run) -> None:
    (tmp_path / "file").write_text("mine", encoding="utf-8")
    args = {
        "init": ["init", "file/task.yaml"],
        "build": ["data", "build", "parks", "--scale", "mini", "--out", "file/new"],
    }
    done = run_cobench(*args[command], cwd=tmp_path)
    assert done.returncode == 2
    assert "error: cannot " in done.stderr
    assert "Traceback" not in done.stderr
    assert [path.name for path in tmp_path.iterdir()] == ["file"]


@posix
def test_a_full_disk(folder: Path, run_cobench: Run) -> None:
    """A limit on the size of files stands for the disk: one stops the run file, one the certificate in its middle."""
    assert run_cobench("verify", "tasks/gold.yaml", "--out", "out", "--engines", "scan", cwd=folder).returncode == 0
    target = folder / "out" / "tiny-gold.cert.json"
    old = json.dumps({"an": "older certificate"}).encode()
    target.write_bytes(old)
    program = (
        "import resource, signal, sys; signal.signal(signal.SIGXFSZ, signal.SIG_IGN);"
        "size = int(sys.argv.pop(1)); resource.setrlimit(resource.RLIMIT_FSIZE, (size, size));" + MAIN
    )
    for size in (64, 700):
        args = (str(size), "verify", "tasks/gold.yaml", "--out", "out", "--engines", "scan", "-q", "--json")
        process = start(program, *args, cwd=folder)
        out, err = process.communicate(timeout=60)
        assert process.returncode == 2, err
        assert "Traceback" not in err
        [line] = map(json.loads, out.splitlines())
        assert "cannot write out" in line["errors"][0]
        assert "File too large" in line["errors"][0]
        assert target.read_bytes() == old
        assert sorted(path.name for path in (folder / "out").iterdir()) == ["tiny-gold.cert.json", "tiny-gold.run.json"]


@posix
@pytest.mark.parametrize(
    "args", [["solve", "tasks/gold.yaml"], ["schema", "task"], ["data", "describe", "world"]], ids=" ".join
)
def test_a_full_disk_behind_stdout(args: list[str], folder: Path) -> None:
    if not Path("/dev/full").exists():
        pytest.skip("needs /dev/full")
    with Path("/dev/full").open("w", encoding="utf-8") as full:
        done = subprocess.run(
            [sys.executable, "-c", MAIN, *args],
            cwd=folder, stdout=full, stderr=subprocess.PIPE, encoding="utf-8", timeout=60, check=False,
        )  # fmt: skip
    assert done.returncode == 2
    assert done.stderr.splitlines() == ["error: No space left on device"]


@posix
@pytest.mark.parametrize("whole_group", [False, True], ids=["process", "terminal"])
def test_ctrl_c(whole_group: bool, folder: Path) -> None:
    """While engines run in processes of their own, after the first certificate; a terminal interrupts all of them."""
    process = start(MAIN, "verify", PARKS, "--out", "out", "--json", cwd=folder)
    assert process.stdout is not None
    first = json.loads(process.stdout.readline())
    time.sleep(0.7)
    if whole_group:
        os.killpg(process.pid, signal.SIGINT)
    else:
        process.send_signal(signal.SIGINT)
    out, err = process.communicate(timeout=60)
    assert process.returncode == 130
    assert err.strip() == "interrupted"
    told = [first, *map(json.loads, out.splitlines())]
    names = complete(folder / "out")
    assert {Path(line["certificate"]).name for line in told} <= set(names)
    left = {path.name for path in (folder / "out").iterdir()} - set(names)
    assert all(name.endswith(".run.json") for name in left)


# Certifies the tasks over and over in a fork of itself, and kills it after a while; storing is slow, so that it is hit.
KILLER = """
import os, shutil, signal, sys, time
from pathlib import Path
from cobench.cli import run

run(["verify", "tasks", "--out", "first", "--engines", "scan", "-q", "--json"])  # loads everything
store = os.fsync
os.fsync = lambda file: (time.sleep(0.01), store(file))
for number, moment in enumerate(sys.argv[1:]):
    child = os.fork()
    if not child:
        while True:
            run(["verify", "tasks", "--out", f"out{number}", "--engines", "scan", "-q", "--json"])
    deadline = time.monotonic() + 30
    while not list(Path().glob(f"out{number}/*.run.json")) and time.monotonic() < deadline:
        time.sleep(0.001)
    time.sleep(float(moment))
    os.kill(child, signal.SIGKILL)
    os.waitpid(child, 0)
"""


@posix
def test_killed_at_any_moment(folder: Path, run_cobench: Run) -> None:
    """Every certificate that is there has all its bytes, those of a run that nobody disturbed."""
    assert run_cobench("verify", "tasks", "--out", "whole", "--engines", "scan", cwd=folder).returncode == 0
    whole = {path.name: path.read_bytes() for path in (folder / "whole").glob("*.cert.json")}
    assert sorted(whole) == CERTIFICATES
    moments = [0.007 * step for step in range(12)] + [0.15, 0.25, 0.35]
    process = start(KILLER, *map(str, moments), cwd=folder)
    _, err = process.communicate(timeout=120)
    assert process.returncode == 0, err
    assert "Traceback" not in err
    found = 0
    for number in range(len(moments)):
        for path in (folder / f"out{number}").glob("*.cert.json"):
            assert path.read_bytes() == whole[path.name]
            found += 1
    assert found > len(moments)
    assert run_cobench("verify", "tasks", "--out", "out0", "--engines", "scan", cwd=folder).returncode == 0
    assert complete(folder / "out0") == CERTIFICATES


def ends(process: subprocess.Popen[str]) -> tuple[int, str]:
    """The exit code and stderr of a process whose output nobody reads any more."""
    assert process.stdout is not None
    process.stdout.close()
    process.stdout = None
    _, err = process.communicate(timeout=60)
    return process.returncode, err


LONG = [
    ["data", "describe", "parks"],
    ["data", "describe", "parks", "--json"],
    ["schema", "certificate"],
    ["verify", "tasks", "--engines", "scan", "--out", "out"],
    ["verify", "tasks", "--engines", "scan", "--out", "out", "--json"],
]


@posix
@pytest.mark.parametrize("args", LONG, ids=" ".join)
def test_a_closed_pipe(args: list[str], folder: Path) -> None:
    """As when `head` has seen enough: silent, and not the code that means "not as expected"."""
    code, err = ends(start(MAIN, *args, cwd=folder))
    assert err == ""
    assert code in (0, 128 + signal.SIGPIPE, -signal.SIGPIPE)
    complete(folder / "out")


@posix
@pytest.mark.parametrize("megabytes", [64, 400, 1200])
def test_little_memory(megabytes: int, folder: Path, run_cobench: Run) -> None:
    """Undecided, or decided all the same, but nothing else."""
    args = ("verify", "tasks/wishes.yaml", "--out", "out", "--memory-limit", str(megabytes), "-q")
    done = run_cobench(*args, cwd=folder)
    assert "Traceback" not in done.stderr + done.stdout
    assert done.returncode in (0, 3), done.stderr
    if done.returncode == 3:
        assert "memory" in done.stderr + done.stdout
    complete(folder / "out")


@pytest.mark.parametrize("limit", ["--time-limit", "--work-limit"])
@pytest.mark.parametrize("name", ["cheapest", "gold", "wishes"])
def test_no_time_at_all(limit: str, name: str, folder: Path, capsys: pytest.CaptureFixture[str]) -> None:
    """What a limit stops stays undecided, with an interval that holds; the checker accepts it."""
    amount = {"--time-limit": "0", "--work-limit": "1"}[limit]
    task, out = folder / "tasks" / f"{name}.yaml", str(folder / "out")
    assert run(["verify", str(task), "--out", out, limit, amount, "--engines", "scan", "--json", "-q"]) == 3
    said = json.loads(capsys.readouterr().out)
    assert said["exit"] == 3
    assert said["undecided"].startswith(("whether there is a plan", "the optimum"))
    path = folder / "out" / f"tiny-{name}.cert.json"
    claims = cobench.read_certificate(path.read_bytes(), path.name).claims
    assert claims.optimum is None
    assert claims.distribution is None
    assert claims.status.value in ("unknown", "solvable")
    assert (claims.status.reason == limit[2:].replace("-", " ")) == (claims.status.value == "unknown")
    assert claims.count is not None
    truth = {"cheapest": 10, "gold": 36, "wishes": 28}[name]
    assert int(claims.count.at_least) <= truth <= int(claims.count.at_most)
    assert int(claims.count.at_least) < int(claims.count.at_most)
    assert run(["check", out, "-q"]) == 0
    assert "accepted" in capsys.readouterr().out
