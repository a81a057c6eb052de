"""A suite from its tasks to its results: which tasks are left, in which order and chunks, written as they come."""

from __future__ import annotations

import time
from collections.abc import Callable, Sequence
from contextlib import closing
from dataclasses import dataclass
from pathlib import Path

from ..datasets.opening import bundled, open_dataset
from ..schemas.errors import InputError, Where
from .executor import Executor
from .parts import Results
from .source import Entry, Suite
from .work import GIVEN, Flags, Job, Record

CHUNK = 100
PART_SECONDS = 10.0  # at least so often what is finished goes to disk

Tick = Callable[[int, int, float], None]


@dataclass(frozen=True, slots=True)
class Run:
    """How to certify a suite. `data`: a bundled name or an absolute path, or None for what each task names."""

    suite: Suite
    data: str | None
    flags: Flags
    chunk: int | None = None


def certify_suite(run: Run, results: Results, executor: Executor, workers: int, tick: Tick) -> None:
    """Certifies every task of the results' shard that has no record yet, and writes the records in parts.

    `tick` is told how many tasks are done, of how many, and the seconds since the first began. When this is interrupted
    or fails, what was finished is on disk, and the workers have ended. Raises InputError when the data is not that of
    the records which are there, and OutputError when a part cannot be written.
    """
    number, of = results.plan.shard
    mine = [entry for entry in run.suite.entries if entry.shard(of) == number]
    left = [entry for entry in mine if entry.place not in results.finished]
    root = run.suite.root.resolve()
    for name in results.data.found:
        if (name == GIVEN) != (run.data is not None):
            given, where = "with" if name == GIVEN else "without", Where(str(results.folder))
            raise InputError(f"the results that are there were certified {given} --data", where=where)
        results.data.compare(name, open_dataset(run.data or name, root))
    buffer: list[Record] = []
    started = written = time.monotonic()
    done = 0
    records = executor.run(Job(str(root), run.data, run.flags), chunked(left, run.chunk, workers))
    with closing(records):
        try:
            for record in records:
                buffer.append(record)
                done += 1
                now = time.monotonic()
                tick(done, len(left), now - started)
                if len(buffer) >= CHUNK or now - written >= PART_SECONDS:
                    ready, buffer, written = buffer, [], now
                    results.write(ready)
        finally:
            if buffer:
                results.write(buffer)


def chunked(entries: Sequence[Entry], size: int | None, workers: int) -> list[Sequence[Entry]]:
    """The entries in chunks, those that read the same tables together. By default every worker gets several."""
    size = size or max(1, min(CHUNK, len(entries) // (16 * workers)))
    ordered = sorted(entries, key=lambda entry: (entry.world, entry.place))
    return [ordered[start : start + size] for start in range(0, len(ordered), size)]


def absolute(data: str | None) -> str | None:
    """The name of data as every worker understands it, wherever it runs; raises ManifestError when there is none."""
    if data is None:
        return None
    open_dataset(data)
    return data if data in bundled() else str(Path(data).absolute())  # links stay: tables lie beside the manifest named
