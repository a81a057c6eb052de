"""Worker processes of this machine that answer item by item: both ends, for whatever there is to be done.

A worker is a new interpreter that runs a module: no fork, since polars and numba have threads, and nothing of the
caller's main module. It answers one item after the other, so that when it dies or hangs it is known on which one. The
module calls `serve`.
"""

from __future__ import annotations

import ctypes
import os
import signal
import subprocess
import sys
import threading
import time
from collections import Counter, deque
from collections.abc import Callable, Generator, Hashable, Iterator, Sequence
from multiprocessing.connection import Connection, Pipe, wait
from typing import Any, Generic, TypeVar

from .schemas.errors import CobenchError

ATTEMPTS = 3  # on an item whose worker dies: something else may have killed it
PATIENCE = 1800.0  # seconds for one item, whatever limits it has
READY = "ready"
_DYING = 2.0  # seconds for a process that closed its connection to end, so that we hear how
_ONE_THREAD = ("POLARS_MAX_THREADS", "OMP_NUM_THREADS", "NUMBA_NUM_THREADS")  # the workers are the parallelism

Item = TypeVar("Item", bound=Hashable)
Answer = TypeVar("Answer")


def answers(
    module: str, job: object, chunks: Sequence[Sequence[Item]], lost: Callable[[Item, str], Answer], *,
    workers: int, patience: float = PATIENCE,
) -> Generator[Answer]:  # fmt: skip
    """Exactly one answer for each item, as they come; closing the generator ends all work.

    A worker of `module` gets the job first, and a chunk of items at a time. An item whose worker dies is tried again,
    after all others; `lost` answers for one that is given up, with the reason. Raises CobenchError when workers do not
    even start.
    """
    pool = _Pool(module, job, chunks, lost, workers, patience)
    try:
        yield from pool.answers()
    finally:
        pool.end()


class _Worker(Generic[Item]):
    """A worker process and the items that it still has to answer, the one at work first."""

    def __init__(self, module: str, job: object, patience: float) -> None:
        self._patience = patience
        self.items: deque[Item] = deque()
        self.ready = False
        self.deadline = time.monotonic() + PATIENCE  # for its start
        self.connection, theirs = Pipe()
        self._process = subprocess.Popen(
            [sys.executable, "-P", "-m", module, str(theirs.fileno()), str(os.getpid())],
            stdin=subprocess.DEVNULL,
            stdout=subprocess.DEVNULL,
            env={
                **dict.fromkeys(_ONE_THREAD, "1"),
                **os.environ,
                "PYTHONPATH": os.pathsep.join(path for path in sys.path if path),
            },
            pass_fds=[theirs.fileno()],
            process_group=0,  # Ctrl-C is for the parent alone
        )
        theirs.close()
        self._send(job)

    def give(self, chunk: Sequence[Item]) -> None:
        """Sends items to a worker that has none."""
        self.items.extend(chunk)
        if self.ready:
            self.touch()
        self._send(tuple(chunk))

    def _send(self, message: object) -> None:
        try:
            self.connection.send(message)
        except OSError:
            return  # it died, which is noticed when its answer is read

    def touch(self) -> None:
        """It has answered: the clock begins anew."""
        self.deadline = time.monotonic() + self._patience

    def end(self, grace: float = 0.0) -> int:
        """How the process ended; after the grace (seconds) it is killed."""
        self.connection.close()
        try:
            return self._process.wait(grace)
        except subprocess.TimeoutExpired:
            self._process.kill()
            return self._process.wait()


class _Pool(Generic[Item, Answer]):
    def __init__(
        self, module: str, job: object, chunks: Sequence[Sequence[Item]], lost: Callable[[Item, str], Answer],
        workers: int, patience: float,
    ) -> None:  # fmt: skip
        self._module, self._job, self._lost, self._patience = module, job, lost, patience
        self._waiting: deque[Sequence[Item]] = deque(chunk for chunk in chunks if chunk)
        self._most = workers
        self._workers: dict[Connection, _Worker[Item]] = {}
        self._deaths: Counter[Item] = Counter()
        self._stillborn = 0

    def answers(self) -> Iterator[Answer]:
        """One answer for each item."""
        while True:
            self._assign()
            if not any(worker.items for worker in self._workers.values()):
                return
            busy = [worker for worker in self._workers.values() if worker.items or not worker.ready]
            soonest = min(worker.deadline for worker in busy)
            for connection in wait(list(self._workers), max(0.0, soonest - time.monotonic())):
                yield from self._heard(self._workers[connection])  # pyright: ignore[reportArgumentType]
            now = time.monotonic()
            for worker in [worker for worker in busy if worker.deadline <= now and worker.items]:
                if not worker.connection.closed and not worker.connection.poll():
                    yield self._gave_up(worker)

    def end(self) -> None:
        """Ends all workers."""
        for worker in self._workers.values():
            worker.end()
        self._workers.clear()

    def _assign(self) -> None:
        """Gives every worker something to do, and starts as many as are useful."""
        idle = [worker for worker in self._workers.values() if not worker.items]
        while self._waiting and (idle or len(self._workers) < self._most):
            if not idle:
                worker = _Worker[Item](self._module, self._job, self._patience)
                self._workers[worker.connection] = worker
                idle.append(worker)
            idle.pop().give(self._waiting.popleft())

    def _heard(self, worker: _Worker[Item]) -> Iterator[Answer]:
        try:
            said: Any = worker.connection.recv()
        except (EOFError, OSError):
            yield from self._died(worker)
            return
        worker.touch()
        if worker.ready:
            worker.items.popleft()
            yield said
        else:
            worker.ready = True
            self._stillborn = 0

    def _died(self, worker: _Worker[Item]) -> Iterator[Answer]:
        """Its first item is tried again, alone and after all others, until that is once too often."""
        del self._workers[worker.connection]
        code = worker.end(_DYING)
        if not worker.ready:
            self._stillborn += 1
            if self._stillborn >= ATTEMPTS:
                raise CobenchError(f"error: the worker processes do not start (exit code {code})")
            self._put_back(worker)
            return
        if not worker.items:
            return
        item = worker.items.popleft()
        self._put_back(worker)
        self._deaths[item] += 1
        if self._deaths[item] < ATTEMPTS:
            self._waiting.append([item])
        else:
            cause = f"signal {-code}" if code < 0 else f"exit code {code}"
            yield self._lost(item, f"the worker died ({cause})")

    def _gave_up(self, worker: _Worker[Item]) -> Answer:
        del self._workers[worker.connection]
        worker.end()
        item = worker.items.popleft()
        self._put_back(worker)
        return self._lost(item, f"no answer in {self._patience:g} seconds")

    def _put_back(self, worker: _Worker[Item]) -> None:
        if worker.items:
            self._waiting.appendleft(list(worker.items))


def serve(answering: Callable[[Any], Callable[[Any], object]]) -> None:
    """The worker's end: answers what comes through the connection whose number is the first argument, until it closes.

    `answering` makes from the job what answers an item.
    """
    descriptor, parent = map(int, sys.argv[1:])
    _end_with(parent)
    connection: Connection[Any, Any] = Connection(descriptor)
    try:
        answer = answering(connection.recv())
        connection.send(READY)
        while True:
            for item in connection.recv():
                connection.send(answer(item))
    except (EOFError, BrokenPipeError, ConnectionResetError):
        return  # the parent ended


def _end_with(parent: int) -> None:
    """Ends this process when its parent does, even in the middle of an item."""
    if sys.platform == "linux":
        ctypes.CDLL(None).prctl(1, signal.SIGKILL)  # PR_SET_PDEATHSIG
    if os.getppid() != parent:
        os._exit(1)
    threading.Thread(target=_watch, args=(parent,), daemon=True).start()


def _watch(parent: int) -> None:
    while os.getppid() == parent:
        time.sleep(1.0)
    os._exit(1)
