"""Who does the work: the protocol, and worker processes of this machine, for certifying tasks or for other jobs.

A worker is a new interpreter that runs `python -m cobench.suite`: no fork, since polars and numba have threads, and
nothing of the caller's main module. It answers task by task, so that when it dies or hangs it is known on which one.
"""

from __future__ import annotations

import os
import subprocess
import sys
import time
from collections import Counter, deque
from collections.abc import Callable, Generator, Iterator, Sequence
from multiprocessing.connection import Connection, Pipe, wait
from typing import Generic, Protocol, TypeVar

from ..schemas.errors import CobenchError
from .source import Entry
from .work import Job, Record
from .worker import READY

Chunk = Sequence[Entry]


class Placed(Protocol):
    """A task, as far as whoever hands it out knows."""

    @property
    def place(self) -> str:
        """What it is called; unique."""
        ...


Task = TypeVar("Task", bound=Placed)
Answer = TypeVar("Answer")
Task_contra = TypeVar("Task_contra", bound=Placed, contravariant=True)
Answer_co = TypeVar("Answer_co", covariant=True)


class Work(Protocol[Task_contra, Answer_co]):
    """What is to be done with each task; it travels to the workers."""

    def begin(self) -> Callable[[Task_contra], Answer_co]:
        """What answers task by task, in a worker; called once in each."""
        ...

    def lost(self, task: Task_contra, reason: str) -> Answer_co:
        """The answer for a task that took its worker down."""
        ...


WORKER = __name__.rpartition(".")[0]  # the module that a worker runs
ATTEMPTS = 3  # on a task whose worker dies: something else may have killed it
PATIENCE = 1800.0  # seconds for one task, whatever limits it has
_DYING = 2.0  # seconds for a process that closed its connection to end, so that we hear how
_ONE_THREAD = ("POLARS_MAX_THREADS", "OMP_NUM_THREADS", "NUMBA_NUM_THREADS")  # the workers are the parallelism


class Executor(Protocol):
    """Something that certifies chunks of tasks, in any order."""

    def run(self, job: Job, chunks: Sequence[Chunk]) -> Generator[Record]:
        """Exactly one record for each task, as they come; closing the generator ends all work."""
        ...


class ProcessExecutor:
    """Worker processes of this machine. `patience`: seconds after which a task is given up and its worker killed."""

    def __init__(self, workers: int, patience: float = PATIENCE) -> None:
        self._workers, self._patience = workers, patience

    def run(self, job: Work[Task, Answer], chunks: Sequence[Sequence[Task]]) -> Generator[Answer]:
        """See `Executor`. A task whose worker dies is tried again; one that is given up is lost."""
        pool = _Pool(job, chunks, self._workers, self._patience)
        try:
            yield from pool.records()
        finally:
            pool.end()


class _Worker(Generic[Task, Answer]):
    """A worker process and the tasks that it still has to answer, the one at work first."""

    def __init__(self, job: Work[Task, Answer], patience: float) -> None:
        self._patience = patience
        self.tasks: deque[Task] = deque()
        self.ready = False
        self.deadline = time.monotonic() + PATIENCE  # for its start
        self.connection, theirs = Pipe()
        self._process = subprocess.Popen(
            [sys.executable, "-P", "-m", WORKER, str(theirs.fileno()), str(os.getpid())],
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

    def give(self, chunk: Sequence[Task]) -> None:
        """Sends tasks to a worker that has none."""
        self.tasks.extend(chunk)
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


class _Pool(Generic[Task, Answer]):
    def __init__(
        self, job: Work[Task, Answer], chunks: Sequence[Sequence[Task]], workers: int, patience: float
    ) -> None:
        self._job, self._patience = job, patience
        self._waiting: deque[Sequence[Task]] = deque(chunk for chunk in chunks if chunk)
        self._most = workers
        self._workers: dict[Connection, _Worker[Task, Answer]] = {}
        self._deaths: Counter[str] = Counter()
        self._stillborn = 0

    def records(self) -> Iterator[Answer]:
        """One record for each task."""
        while True:
            self._assign()
            if not any(worker.tasks for worker in self._workers.values()):
                return
            busy = [worker for worker in self._workers.values() if worker.tasks or not worker.ready]
            soonest = min(worker.deadline for worker in busy)
            for connection in wait(list(self._workers), max(0.0, soonest - time.monotonic())):
                yield from self._heard(self._workers[connection])  # pyright: ignore[reportArgumentType]
            now = time.monotonic()
            for worker in [worker for worker in busy if worker.deadline <= now and worker.tasks]:
                if not worker.connection.closed and not worker.connection.poll():
                    yield from self._gave_up(worker)

    def end(self) -> None:
        """Ends all workers."""
        for worker in self._workers.values():
            worker.end()
        self._workers.clear()

    def _assign(self) -> None:
        """Gives every worker something to do, and starts as many as are useful."""
        idle = [worker for worker in self._workers.values() if not worker.tasks]
        while self._waiting and (idle or len(self._workers) < self._most):
            if not idle:
                worker = _Worker[Task, Answer](self._job, self._patience)
                self._workers[worker.connection] = worker
                idle.append(worker)
            idle.pop().give(self._waiting.popleft())

    def _heard(self, worker: _Worker[Task, Answer]) -> Iterator[Answer]:
        try:
            said = worker.connection.recv()
        except (EOFError, OSError):
            yield from self._died(worker)
            return
        worker.touch()
        if said != READY:
            worker.tasks.popleft()
            yield said
        else:
            worker.ready = True
            self._stillborn = 0

    def _died(self, worker: _Worker[Task, Answer]) -> Iterator[Answer]:
        """Its first task is tried again, alone and after all others, until that is once too often."""
        del self._workers[worker.connection]
        code = worker.end(_DYING)
        if not worker.ready:
            self._stillborn += 1
            if self._stillborn >= ATTEMPTS:
                raise CobenchError(f"error: the worker processes do not start (exit code {code})")
            self._put_back(worker)
            return
        if not worker.tasks:
            return
        entry = worker.tasks.popleft()
        self._put_back(worker)
        self._deaths[entry.place] += 1
        if self._deaths[entry.place] < ATTEMPTS:
            self._waiting.append([entry])
        else:
            cause = f"signal {-code}" if code < 0 else f"exit code {code}"
            yield self._job.lost(entry, f"the worker died ({cause})")

    def _gave_up(self, worker: _Worker[Task, Answer]) -> Iterator[Answer]:
        del self._workers[worker.connection]
        worker.end()
        entry = worker.tasks.popleft()
        self._put_back(worker)
        yield self._job.lost(entry, f"no answer in {self._patience:g} seconds")

    def _put_back(self, worker: _Worker[Task, Answer]) -> None:
        if worker.tasks:
            self._waiting.appendleft(list(worker.tasks))
