"""What no agent reaches, by programs or by tools: certificates, hidden constraints, other answers, the host."""

from __future__ import annotations

import json
import os
import select
import socket
import subprocess
import sys
import time
from collections import Counter
from collections.abc import Iterable, Iterator, Mapping, Sequence
from concurrent.futures import ThreadPoolExecutor
from contextlib import ExitStack
from dataclasses import dataclass, replace
from pathlib import Path
from typing import Any

import pytest
from cobench.agent_runner.coding.program import CodeLimits, Reason, run_code
from cobench.agent_runner.coding.sandbox import Sandbox, SandboxError, sandbox
from cobench.agent_runner.env import Env
from cobench.agent_runner.suites import Case
from cobench.agent_runner.tools.result import Result
from cobench.agent_runner.tools.toolbox import Toolbox

from .attacks import ATTACKS, Attack
from .cases import FILES, PERSONA, ROOT, case_of, catalogue

SECRET = "CANARY-7f3a91"  # noqa: S105
PATIENT = CodeLimits(seconds=20, cpu_seconds=10, memory=256 << 20, files=8 << 20, calls=200)
SHORT = replace(PATIENT, seconds=1)


@pytest.fixture(scope="module")
def case() -> Case:
    """A shipped task with constraints that are told later, and its certificate."""
    found = case_of(FILES[0])
    assert found is not None
    return found


@pytest.fixture(scope="module")
def walls() -> None:
    try:
        sandbox()
    except SandboxError as fault:
        pytest.skip(str(fault))


@dataclass
class Host:
    """What there is to reach outside: a file, what the attacks are told of this host, and who came to its sockets."""

    file: Path
    places: Mapping[str, str]
    sockets: Sequence[socket.socket]

    @property
    def visited(self) -> list[socket.socket]:
        """The sockets that somebody has connected or sent something to."""
        return select.select(self.sockets, [], [], 0)[0]


@pytest.fixture(scope="module")
def sockets(tmp_path_factory: pytest.TempPathFactory) -> Iterator[list[socket.socket]]:
    """Sockets that wait for visitors: TCP, UDP, one with a path, one with an abstract name."""
    stream, datagram = socket.SOCK_STREAM, socket.SOCK_DGRAM
    path = tmp_path_factory.mktemp("sockets") / "x"
    with ExitStack() as ends:
        waiting: list[socket.socket] = []
        for family, kind, address in (
            (socket.AF_INET, stream, ("127.0.0.1", 0)),
            (socket.AF_INET, datagram, ("127.0.0.1", 0)),
            (socket.AF_UNIX, stream, str(path)),
            (socket.AF_UNIX, stream, f"\0cobench-{os.getpid()}"),
        ):
            each = ends.enter_context(socket.socket(family, kind))
            each.bind(address)
            if kind == stream:
                each.listen(16)
            waiting.append(each)
        yield waiting


@pytest.fixture
def host(tmp_path: Path, monkeypatch: pytest.MonkeyPatch, sockets: list[socket.socket]) -> Host:
    file = tmp_path / "certificates" / "task.cert.json"
    file.parent.mkdir()
    file.write_text(SECRET)
    monkeypatch.setenv("COBENCH_SECRET", SECRET)
    tcp, udp, path, abstract = sockets
    places = {
        "secret": SECRET,
        "backwards": SECRET[::-1],
        "file": str(file),
        "root": str(ROOT),
        "host": str(os.getpid()),
        "tcp": str(tcp.getsockname()[1]),
        "udp": str(udp.getsockname()[1]),
        "path": path.getsockname(),
        "abstract": abstract.getsockname().decode()[1:],
    }
    found = Host(file, places, sockets)
    for each in found.visited:  # by attacks without walls
        each.recv(100) if each is udp else each.accept()[0].close()
    return found


def filled(attack: Attack, places: Mapping[str, str]) -> str:
    """The attack's program, for this host."""
    source = attack.source
    for name, value in places.items():
        source = source.replace(f"@{name}@", value)
    return source


def test_attacks_are_many_and_have_names() -> None:
    assert len(ATTACKS) >= 60
    assert not [name for name, count in Counter(attack.name for attack in ATTACKS).items() if count > 1]


def held(attack: Attack, host: Host, case: Case, limits: CodeLimits) -> None:
    """Runs an attack in a conversation of its own and looks at what has come of it."""
    env = Env(case, Toolbox(catalogue()), PERSONA, agent="attacker", seed=1, mode="code")
    done = run_code(env, filled(attack, host.places), limits)
    seen = f"{attack.name}: {done}"
    assert "BREACH" not in done.text, seen
    assert SECRET not in done.text, seen
    assert done.reason.value.endswith(attack.ends), seen
    assert len(done.text + done.error) < 2 * limits.output + 200
    assert host.file.read_text() == SECRET
    assert not host.visited
    # The conversation has seen calls of tools and nothing else, each kept as an inner one, and goes on.
    episode = env.episode()
    assert len(episode.calls) == done.calls
    assert all(call.inner for call in episode.calls)
    assert not episode.turns
    assert env.ended is None
    assert env.call("calendar", {"date": "2026-08-07"}).fault is None


@pytest.mark.usefixtures("walls")
@pytest.mark.parametrize("attack", [attack for attack in ATTACKS if not attack.endless], ids=lambda attack: attack.name)
def test_the_walls_hold_against(attack: Attack, host: Host, case: Case) -> None:
    held(attack, host, case, PATIENT)


@pytest.mark.usefixtures("walls")
def test_what_goes_on_without_end_is_stopped(host: Host, case: Case) -> None:
    endless = [attack for attack in ATTACKS if attack.endless]
    with ThreadPoolExecutor(len(endless)) as pool:
        list(pool.map(lambda attack: held(attack, host, case, SHORT), endless))


@pytest.mark.usefixtures("walls")
def test_nothing_of_a_program_that_was_stopped_is_left(case: Case, monkeypatch: pytest.MonkeyPatch) -> None:
    started: list[subprocess.Popen[bytes]] = []
    inside: set[int] = set()
    start = Sandbox.start

    def noted(self: Sandbox, *given: Any) -> subprocess.Popen[bytes]:
        started.append(start(self, *given))
        return started[-1]

    class Looking(Toolbox):
        def call(self, name: str, arguments: Any) -> Result:
            inside.update(descendants(started[0].pid))
            return super().call(name, arguments)

    monkeypatch.setattr(Sandbox, "start", noted)
    env = Env(case, Looking(catalogue()), PERSONA, agent="attacker", seed=1, mode="code")
    source = "from tools import calendar\ncalendar('2025-08-05')\nwhile True: pass"
    assert run_code(env, source, replace(SHORT, seconds=0.5)).reason is Reason.TIME
    assert len(inside) >= 2  # what reaps, and the interpreter
    assert started[0].returncode is not None
    assert ended(inside)


@pytest.mark.usefixtures("walls")
def test_a_program_shares_no_namespace_with_its_host() -> None:
    """Each wall stands for itself: sockets are refused already, and there is no network to reach with one, either."""
    running = sandbox().start(("-c", "print(flush=True); import time; time.sleep(1000)"), ())
    with running:
        assert running.stdout is not None
        running.stdout.readline()
        interpreter = max(descendants(running.pid))
        kinds = ("cgroup", "ipc", "mnt", "net", "pid", "user", "uts")
        shared = [kind for kind in kinds if namespace(interpreter, kind) == namespace(os.getpid(), kind)]
        running.kill()
    assert not shared


def namespace(process: int, kind: str) -> str:
    """The name of a namespace that a process is in."""
    return str(Path(f"/proc/{process}/ns/{kind}").readlink())


@pytest.mark.usefixtures("walls")
def test_a_program_ends_with_its_host() -> None:
    source = """
import sys, time
from cobench.agent_runner.coding.sandbox import sandbox
running = sandbox().start(("-c", "import time; time.sleep(1000)"), ())
time.sleep(0.3)
print(running.pid, flush=True)
time.sleep(1000)
"""
    with subprocess.Popen([sys.executable, "-c", source], stdout=subprocess.PIPE, encoding="utf-8") as host:
        assert host.stdout is not None
        outer = int(host.stdout.readline())
        inside = {outer, *descendants(outer)}
        host.kill()
    assert len(inside) >= 3
    assert ended(inside)


def descendants(process: int) -> set[int]:
    """The processes below one."""
    try:
        below = {int(word) for word in Path(f"/proc/{process}/task/{process}/children").read_text().split()}
    except OSError:
        return set()
    return below.union(*map(descendants, below))


def ended(processes: Iterable[int]) -> bool:
    """Whether all of these have ended, at once or within a moment."""
    for _ in range(100):
        if not any(Path(f"/proc/{process}").exists() for process in processes):
            return True
        time.sleep(0.05)
    return False


OUTSIDE = """
import json, os, sys, tempfile
for name, source in json.load(sys.stdin).items():
    with tempfile.TemporaryFile() as out:
        if os.fork() == 0:
            os.dup2(out.fileno(), 1)
            exec(compile(source, name, "exec"), {"__name__": "__main__"})
            sys.stdout.flush()
            os._exit(0)
        os.wait()
        out.seek(0)
        if b"BREACH" not in out.read(): print("held:", name)
"""


def test_without_walls_these_attacks_succeed(host: Host) -> None:
    """What the walls hold against is real: nothing but them is in the way of these, which do no harm."""
    outside = {attack.name: filled(attack, host.places) for attack in ATTACKS if attack.outside}
    done = subprocess.run(
        [sys.executable, "-c", OUTSIDE], input=json.dumps(outside), capture_output=True, encoding="utf-8", timeout=60,
        check=False,
    )  # fmt: skip
    assert len(outside) > 40
    assert (done.stdout, done.returncode) == ("", 0), done.stderr
