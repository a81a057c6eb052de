"""From slots to the folder of a suite, which appears complete or not at all."""

from __future__ import annotations

import shutil
from collections.abc import Callable, Generator, Sequence
from contextlib import closing
from dataclasses import dataclass
from pathlib import Path
from typing import Any

from ...datasets.opening import bundled, open_dataset
from ...datasets.parks.build import build
from ...schemas.canonical import canonical_bytes
from ...schemas.errors import CobenchError
from ...schemas.suite import SUITE, SuiteFile
from ...schemas.version import VERSION
from ...workers import answers
from ..converted import drafting
from .building import Built, Work
from .quality import page, quality
from .slots import Slot, sample, slots

NAME = "compass"
WORKER = __name__.rpartition(".")[0]  # the module that a worker runs
DATA = "data"  # the copy of the world in a suite's folder
# Whoever fills chunks of slots, in any order; closing the generator ends all work.
Fill = Callable[[Work, Sequence[Sequence[Slot]]], Generator[Built]]
Tick = Callable[[int, int, str], None]


@dataclass(frozen=True, slots=True)
class Made:
    """The suite that was written, and the counts of its quality report."""

    facts: SuiteFile
    quality: dict[str, Any]


def make(out: Path, seed: int, data: str | None, fill: Fill, tick: Tick, *, sampled: bool = False) -> Made:
    """Writes a suite to a new folder: all 281 tasks, or the 40 of the sample, the same as they are among all.

    `data`: a bundled name, which tasks then name; a folder, which is copied; or None for the full parks world, which
    is built. The same seed and data give the same bytes. `tick` is told how many slots are done, of how many, and what
    is at work. Raises InputError for data that is no parks world, OutputError when `out` cannot be written, and
    CobenchError when a slot cannot be filled.
    """
    wanted = sample() if sampled else slots()
    # Nothing of the suite may come to lie in its own data.
    source = Path(data) if data is not None and data not in bundled() else out.parent / f".{out.name}-no-source"
    with drafting(source, out) as draft:
        if data in bundled():
            work = Work(seed, str(data), str(data))
        else:
            tick(0, len(wanted), "the world")
            _world(data, draft.folder / DATA)
            work = Work(seed, str((draft.folder / DATA).absolute()), f"../{DATA}")
        built = _built(wanted, work, fill, tick)
        for item in built:
            _write(draft.folder / "tasks" / f"{item.slot.id}.yaml", item.task)
            _write(draft.folder / "certificates" / f"{item.slot.id}.cert.json", item.certificate)
        ids = tuple(item.slot.id for item in built)
        chosen = {slot.id for slot in sample()}
        facts = SuiteFile(
            name=NAME, version=VERSION, seed=seed, tasks=ids, sample=tuple(name for name in ids if name in chosen)
        )
        found = quality(built, seed, open_dataset(work.data).manifest.manifest.name)
        _write(draft.folder / SUITE, facts.to_bytes())
        _write(draft.folder / "quality.json", canonical_bytes(found))
        _write(draft.folder / "quality.md", page(found).encode())
    return Made(facts, found)


def _world(data: str | None, folder: Path) -> None:
    """The world at `folder`."""
    if data is None:
        build(folder, "full")
        return
    opened = open_dataset(data)
    folder.mkdir()
    for path in opened.files():
        shutil.copyfile(path, folder / path.name)


def _built(wanted: Sequence[Slot], work: Work, fill: Fill, tick: Tick) -> list[Built]:
    """What became of all slots, in their order; raises CobenchError for one that could not be filled."""
    found: dict[str, Built] = {}
    tick(0, len(wanted), "tasks")
    with closing(fill(work, [[slot] for slot in wanted])) as found_so_far:
        for built in found_so_far:
            if built.fault:
                raise CobenchError(f"error: {built.slot.id}: {built.fault}")
            found[built.slot.id] = built
            tick(len(found), len(wanted), "tasks")
    return [found[slot.id] for slot in wanted]


def in_processes(workers: int) -> Fill:
    """Worker processes of this machine that fill slots."""
    return lambda work, chunks: answers(WORKER, work, chunks, _lost, workers=workers)


def _lost(slot: Slot, reason: str) -> Built:
    """What is said of a slot that took its worker down."""
    return Built(slot, fault=reason)


def _write(path: Path, content: bytes) -> None:
    path.parent.mkdir(exist_ok=True)
    path.write_bytes(content)
