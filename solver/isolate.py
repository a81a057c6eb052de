"""Solvers in processes of their own: one that dies, hangs or eats memory takes nothing else down.

CP-SAT ignores its own memory limit, so the process has an address-space limit; a wall-clock limit ends what hangs. Run
as `python -m cobench.solver`, this module is the child.
"""

from __future__ import annotations

import ctypes
import os
import pickle
import resource
import signal
import subprocess
import sys
import threading
import time
from collections.abc import Callable, Mapping
from dataclasses import dataclass, field
from pathlib import Path
from typing import Any, Protocol

from .model import Model
from .outcome import Limits, Outcome, Reason, Status
from .sets.model import SetModel

ENGINES = ("cpsat", "mip")
SECONDS = 300.0  # for an engine, when the caller sets no limit
MEMORY = 6 << 30  # bytes of address space; the libraries alone map about one gigabyte
_GRACE = 10.0  # for start and end of the process, beyond the solver's own limit


@dataclass(frozen=True, slots=True)
class Answer:
    """What an engine said, which version of it, how long it took (seconds), its peak memory (MB), how it was asked."""

    engine: str
    version: str
    outcome: Outcome
    seconds: float
    memory: int
    parameters: Mapping[str, int | str | bool] = field(default_factory=dict[str, int | str | bool])


class Running:
    """An engine at work in a child process."""

    def __init__(self, engine: str, model: Model | SetModel, limits: Limits, memory: int = MEMORY) -> None:
        self._engine = _engine(engine, model)
        self._seconds = limits.seconds if limits.seconds is not None else SECONDS
        self._started = time.monotonic()
        # -P: a file in the current folder must not be taken for a module.
        self._process = subprocess.Popen(
            [sys.executable, "-P", "-m", __name__.rpartition(".")[0]],
            stdin=subprocess.PIPE,
            stdout=subprocess.PIPE,
            stderr=subprocess.DEVNULL,
            env={**os.environ, "PYTHONPATH": os.pathsep.join(path for path in sys.path if path)},
        )
        request = pickle.dumps((engine, model, Limits(self._seconds, limits.work), memory))
        self._reply = b""
        self._reason = Reason.DIED
        self._talk = threading.Thread(target=self._exchange, args=(request,), daemon=True)
        self._talk.start()

    def _exchange(self, request: bytes) -> None:
        """Sends the model and waits for the answer, while the caller does something else."""
        try:
            self._reply, _ = self._process.communicate(request, self._seconds + _GRACE)
        except subprocess.TimeoutExpired:
            self._reason = Reason.TIME
            self._process.kill()
            self._process.communicate()

    def answer(self) -> Answer:
        """Waits for the engine; whatever befalls it becomes an outcome with a reason."""
        self._talk.join()
        try:
            found = pickle.loads(self._reply)  # noqa: S301 - our own child wrote it
        except Exception:  # noqa: BLE001 - a process that was killed leaves half a pickle, which fails in many ways
            found = None
        if not isinstance(found, Answer):
            return self._failed()
        return found

    def stop(self) -> None:
        """Ends the process if it still runs."""
        if self._process.poll() is None:
            self._process.kill()
        self._talk.join()

    def _failed(self) -> Answer:
        outcome = Outcome(Status.UNKNOWN, reason=self._reason)
        spent = time.monotonic() - self._started
        return Answer(self._engine.NAME, self._engine.engine_version(), outcome, spent, 0)


class Engine(Protocol):
    """What an engine's module offers."""

    NAME: str
    PARAMETERS: dict[str, int | str | bool]

    def engine_version(self) -> str:
        """The version of the solver behind it."""
        ...

    @property
    def solve(self) -> Callable[[Any, Limits], Outcome]:
        """The best plan, or how far it came."""
        ...


def _engine(name: str, model: Model | SetModel) -> Engine:
    """The module of an engine for this kind of model; loading it loads no solver yet."""
    if isinstance(model, SetModel):
        from .sets import cpsat, mip
    else:
        from . import cpsat, mip
    return cpsat if name == "cpsat" else mip


def serve() -> None:
    """Reads (engine, model, limits, memory) from stdin, solves, writes an Answer to stdout."""
    if sys.platform == "linux":
        ctypes.CDLL(None).prctl(1, signal.SIGKILL)  # PR_SET_PDEATHSIG: do not outlive the parent
    started = time.monotonic()
    reply = os.fdopen(os.dup(1), "wb")
    os.dup2(os.open(os.devnull, os.O_WRONLY), 1)  # solvers greet on stdout
    name, model, limits, memory = pickle.load(sys.stdin.buffer)  # noqa: S301 - our own parent wrote it
    resource.setrlimit(resource.RLIMIT_AS, (memory, memory))
    engine = _engine(name, model)
    try:
        outcome = engine.solve(model, limits)
    except MemoryError:
        outcome = Outcome(Status.UNKNOWN, reason=Reason.MEMORY)
    asked = {**engine.PARAMETERS, "time_limit_ms": int((limits.seconds or 0) * 1000)}
    spent = time.monotonic() - started
    pickle.dump(Answer(engine.NAME, engine.engine_version(), outcome, spent, _peak(), asked), reply)
    reply.flush()


def _peak() -> int:
    """The peak memory of this process in MB. Not from getrusage: that starts with the peak of the parent."""
    try:
        lines = Path("/proc/self/status").read_text().splitlines()
    except OSError:
        return 0
    return next((int(line.split()[1]) // 1024 for line in lines if line.startswith("VmHWM:")), 0)
