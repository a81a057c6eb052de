"""Who certifies the tasks: the protocol, and worker processes of this machine."""

from __future__ import annotations

from collections.abc import Generator, Sequence
from typing import Protocol

from ..workers import PATIENCE, answers
from .source import Entry
from .work import UNDECIDED, Job, Record, record_of

Chunk = Sequence[Entry]

WORKER = __name__.rpartition(".")[0]  # the module that a worker runs


class Executor(Protocol):
    """Something that certifies chunks of tasks, in any order."""

    def run(self, job: Job, chunks: Sequence[Chunk]) -> Generator[Record]:
        """Exactly one record for each task, as they come; closing the generator ends all work."""
        ...


def lost(entry: Entry, reason: str) -> Record:
    """The record of a task that took its worker down."""
    return record_of(entry, UNDECIDED, undecided=reason)


class ProcessExecutor:
    """Worker processes of this machine. `patience`: seconds after which a task is given up and its worker killed."""

    def __init__(self, workers: int, patience: float = PATIENCE) -> None:
        self._workers, self._patience = workers, patience

    def run(self, job: Job, chunks: Sequence[Chunk]) -> Generator[Record]:
        """See `Executor`. A task whose worker dies is tried again; one that is given up is undecided."""
        return answers(WORKER, job, chunks, lost, workers=self._workers, patience=self._patience)
