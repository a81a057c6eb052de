"""Dask as the executor: a cluster that is there, or worker processes of its own on this machine."""

from __future__ import annotations

import logging
from collections.abc import Generator, Iterator, Sequence
from concurrent.futures import CancelledError
from typing import Any

from ..schemas.errors import InputError
from ..workers import ATTEMPTS
from .executor import Chunk, lost
from .source import Entry
from .work import Job, Record, certifier

_HINT = "pip install 'cobench[dask]'"


class DaskExecutor:
    """Dask workers; `scheduler` is the address of a running cluster, without it `workers` processes start here.

    A task that hangs, whatever its limits, keeps its worker for good: only Dask could end that, with all that others
    have running there.
    """

    def __init__(self, workers: int, scheduler: str | None) -> None:
        self._workers, self._scheduler = workers, scheduler

    def run(self, job: Job, chunks: Sequence[Chunk]) -> Generator[Record]:
        """See `executor.Executor`. A chunk whose worker dies is tried again task by task."""
        try:
            from dask import config
            from distributed import Client, LocalCluster, as_completed
        except ImportError:
            raise InputError("--executor dask needs Dask", hint=_HINT) from None
        settings = {"distributed.scheduler.allowed-failures": ATTEMPTS - 1}
        local: Any = LocalCluster  # its annotations know no cluster without a dashboard
        with config.set(settings):
            cluster: Any = self._scheduler or local(
                n_workers=self._workers, threads_per_worker=1, dashboard_address=None, silence_logs=logging.CRITICAL
            )
            try:
                with Client(cluster) as client:
                    yield from _records(client, as_completed, job, chunks)
            finally:
                if self._scheduler is None:
                    cluster.close()


def _records(client: Any, as_completed: Any, job: Job, chunks: Sequence[Chunk]) -> Iterator[Record]:
    pending = {client.submit(certify_chunk, job, tuple(chunk), pure=False): chunk for chunk in chunks}
    completed = as_completed(list(pending))
    for future in completed:
        chunk = pending.pop(future)
        try:
            yield from future.result()
        except (Exception, CancelledError) as fault:  # noqa: BLE001 - whatever Dask says when a worker is gone
            if len(chunk) == 1:
                yield lost(chunk[0], f"the worker died ({type(fault).__name__})")
                continue
            for entry in chunk:
                alone = client.submit(certify_chunk, job, (entry,), pure=False)
                pending[alone] = (entry,)
                completed.add(alone)
        finally:
            future.release()


def certify_chunk(job: Job, chunk: tuple[Entry, ...]) -> list[Record]:
    """The records of some tasks, made in a Dask worker; datasets stay open there from one chunk to the next."""
    certify = certifier(job).certify
    return [certify(entry) for entry in chunk]
