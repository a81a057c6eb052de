"""Whole tasks: thousands of them over processes, what each step of one costs, and growth with the tables.

    cobench data build parks --out FOLDER
    python benchmarks/certify_suite.py --data FOLDER --tasks 10000 --json benchmarks/results/certify_suite.json

*Throughput*, without the checker, and *checked*: seeded variations of the shipped tasks (other budgets, guests and
parks; some end up without a plan), as JSON Lines, by `cobench certify` with one and two workers: tasks a second,
processor time, and the memory of the workers over time. All runs with the same flags must give the same bytes, else
exit code 4.
*Apart*: seconds of each engine and of the checker for every shipped task, tables open, engines in processes of their
own as in `cobench verify`; and of the papers' method. *Growth*: scan and checker on mini, full, and some parks of it.
"""

from __future__ import annotations

import argparse
import hashlib
import json
import os
import random
import re
import resource
import statistics
import subprocess
import sys
import tempfile
import threading
import time
from collections.abc import Iterator, Mapping, Sequence
from importlib import import_module
from pathlib import Path
from typing import Any

import cobench
import pyarrow as pa
import pyarrow.parquet as pq
from cobench.datasets.opening import Dataset, open_dataset
from cobench.schemas.problem import pose
from cobench.schemas.source import load_source
from cobench.schemas.task import load_task
from cobench.solver.checker.opened import Opened
from cobench.solver.outcome import Limits
from cobench.verification import verify
from machine import machine
from pyarrow import compute

SHIPPED = Path(cobench.__file__).parent / "tasks" / "parks"
PARKS = ("Death Valley", "Everglades", "Grand Canyon", "Rocky Mountain", "Yellowstone", "Yosemite", "Zion")  # of mini
MORE_PARKS = ("Acadia", "Arches", "Badlands", "Bryce Canyon", "Crater Lake", "Glacier")
OF_HOTELS = (("hotels", "hotel_id"), ("rooms", "config"), ("nights", None), ("stays", None))
arrow: Any = compute  # its functions are made at run time
POINTS = 20  # of memory over time


def variations(number: int, seed: int) -> Iterator[str]:
    """Tasks as lines of JSON: the shipped ones in turn, with other amounts, guests and parks."""
    written = [load_source(path).data for path in sorted(SHIPPED.glob("*.yaml"))]
    parks: list[str] = [*PARKS, *MORE_PARKS]
    for index in range(number):
        draw = random.Random(f"{seed} {index}")  # noqa: S311 - no secret
        task: dict[str, Any] = {**written[index % len(written)]}
        task.pop("expect", None)
        task["id"] = f"many-{index:06d}"
        factor = draw.randint(85, 150)
        other: dict[str, str] = dict(zip(PARKS, draw.sample(parks, len(PARKS)), strict=True))
        moved = "permit" not in task["choose"] and draw.random() < 0.5
        task["given"] = {"guests": min(12, max(1, task["given"]["guests"] + draw.randint(-1, 1)))}
        task["constraints"] = {
            name: varied(spec if isinstance(spec, str) else spec["require"], factor, other if moved else {})
            for name, spec in task["constraints"].items()
        }
        yield json.dumps(task, ensure_ascii=False)


def varied(text: str, percent: int, parks: Mapping[str, str]) -> str:
    """The constraint with another budget (in steps of five dollars) and other parks."""

    def budget(found: re.Match[str]) -> str:
        return f"{found[1]}{int(found[2]) * percent // 500 * 5}"

    text = re.sub(r"(_price <= )([0-9]+)$", budget, text)
    return re.sub(r'"([A-Z][A-Za-z ]+)"', lambda found: f'"{parks.get(found[1], found[1])}"', text)


class Memory:
    """Watches the memory of all child processes of a process, in MB."""

    def __init__(self, pid: int) -> None:
        self._pid, self._end = pid, threading.Event()
        self.seen: list[tuple[float, int]] = []
        self._thread = threading.Thread(target=self._watch, daemon=True)
        self._thread.start()

    def _watch(self) -> None:
        started = time.monotonic()
        while not self._end.wait(0.5):
            sizes = [_resident(child) for child in _children(self._pid)]
            if sizes:
                self.seen.append((time.monotonic() - started, max(sizes)))

    def points(self) -> list[tuple[float, int]]:
        """Seconds, and the memory of the largest worker: a few points over the run."""
        self._end.set()
        self._thread.join()
        step = max(1, len(self.seen) // POINTS)
        return [(round(when, 1), size) for when, size in self.seen[::step]]


def _children(pid: int) -> list[int]:
    try:
        return [int(child) for child in Path(f"/proc/{pid}/task/{pid}/children").read_text().split()]
    except OSError:
        return []


def _resident(pid: int) -> int:
    try:
        lines = Path(f"/proc/{pid}/status").read_text().splitlines()
    except OSError:
        return 0
    return next((int(line.split()[1]) >> 10 for line in lines if line.startswith("VmRSS:")), 0)


def throughput(tasks: Path, data: str, workers: int, check: bool) -> dict[str, Any]:
    """One run of `cobench certify`."""
    with tempfile.TemporaryDirectory() as folder:
        out = Path(folder) / "out"
        command = [sys.executable, "-P", "-m", "cobench", "certify", str(tasks), "--out", str(out), "--data", data]
        flags = ["--workers", str(workers), "--check" if check else "--no-check", "--json", "--quiet"]
        before, started = resource.getrusage(resource.RUSAGE_CHILDREN), time.perf_counter()
        process = subprocess.Popen([*command, *flags], stdout=subprocess.PIPE, encoding="utf-8")
        memory = Memory(process.pid)
        said = json.loads(process.communicate()[0])
        seconds, after = time.perf_counter() - started, resource.getrusage(resource.RUSAGE_CHILDREN)
        content = (out / "certificates.jsonl").read_bytes()
    used = after.ru_utime + after.ru_stime - before.ru_utime - before.ru_stime
    return {
        "workers": workers,
        "check": check,
        "tasks": said["tasks"],
        "seconds": round(seconds, 2),
        "processor_seconds": round(used, 2),
        "tasks_a_second": round(said["tasks"] / seconds, 2),
        "exits": said["exits"],
        "status": said["status"],
        "grades": said["grades"],
        "certificates": hashlib.sha256(content).hexdigest(),
        "memory_mb": memory.points(),
    }


def apart(data: Dataset, seconds: float, papers: Any) -> list[dict[str, Any]]:
    """What each step costs, for every shipped task; once before, so that tables are open."""
    opened, results = Opened(), list[dict[str, Any]]()
    for path in sorted(SHIPPED.glob("*.yaml")):
        file = load_task(path)
        verify(file, data, engines="scan", opening=opened)
        alone = verify(file, data, engines="scan", opening=opened)
        both = verify(file, data, Limits(seconds), "all", opening=opened)
        times = {"certify": alone.seconds["certify"], "check": alone.seconds["check"]}
        times |= {answer.engine: answer.seconds for answer in both.answers}
        if papers is not None and both.certificate.claims.optimum is not None:
            times["papers"] = papers(pose(file, data.manifest), both)
        results.append(
            {
                "task": file.task.id,
                "choices": len(file.task.choose),
                "seconds": {name: round(spent, 5) for name, spent in times.items()},
                "outcomes": {answer.engine: answer.outcome.status.value for answer in both.answers},
                "headline": both.certificate.claims.headline().value,
            }
        )
        shown = "  ".join(f"{name} {spent:.3f}" for name, spent in times.items())
        print(f"{file.task.id:42} {shown}", flush=True)
    return results


def papers_method(data: Dataset) -> Any:
    """A function that gives the seconds of the papers' method for a problem; None where it is not there."""
    try:
        method = import_module("papers_method")
    except ImportError:
        return None
    database = method.load(data, data.manifest.sample())

    def seconds(problem: Any, result: Any) -> float:
        ready, optimum = method.script(problem, database, True), result.certificate.claims.optimum
        best = -int(optimum.value) if problem.objective.maximize else int(optimum.value)
        started = time.perf_counter()
        found = ready.run(best)
        spent = time.perf_counter() - started
        if found != (int(result.certificate.claims.count.at_least), best, 0):
            print(f"{problem.id}: the papers' method says {found}", file=sys.stderr)
            sys.exit(4)
        return spent

    return seconds


def some_parks(full: Path, parks: Sequence[str], out: Path) -> Path:
    """A copy of a parks world with the hotels of some parks only."""
    out.mkdir()
    for path in full.iterdir():
        (out / path.name).write_bytes(path.read_bytes())
    kept, column = pa.array(parks), "park"
    for name, key in OF_HOTELS:
        table = pq.ParquetFile(full / f"{name}.parquet").read()
        table = table.filter(arrow.is_in(table[column], kept))
        pq.write_table(table, out / f"{name}.parquet")
        if key is not None:
            kept, column = table[key].combine_chunks(), key
    return out


def growth(full: Path) -> list[dict[str, Any]]:
    """Seconds of scan and checker for the shipped tasks, medians over those of so many choices, per size."""
    results: list[dict[str, Any]] = []
    with tempfile.TemporaryDirectory() as folder:
        between = some_parks(full, [*PARKS, *MORE_PARKS], Path(folder) / "between")
        for name, data in (("mini", "parks"), (f"{len(PARKS + MORE_PARKS)} parks", str(between)), ("full", str(full))):
            dataset, opened = open_dataset(data), Opened()
            times: dict[int, list[tuple[float, float]]] = {}
            for path in sorted(SHIPPED.glob("*.yaml")):
                file = load_task(path)
                verify(file, dataset, engines="scan", opening=opened)
                found = verify(file, dataset, engines="scan", opening=opened).seconds
                times.setdefault(len(file.task.choose), []).append((found["certify"], found["check"]))
            for choices, pairs in sorted(times.items()):
                scan, check = (round(statistics.median(column), 5) for column in zip(*pairs, strict=True))
                rows = dataset.table(dataset.manifest.sample(), "stays").rows
                results.append({"data": name, "stays": rows, "choices": choices, "certify": scan, "check": check})
                print(
                    f"{name:10} {rows:>8,} stays  {choices} choices  certify {scan:.4f}  check {check:.4f}", flush=True
                )
    return results


def main() -> int:
    """Measures, prints tables and writes the results."""
    parser = argparse.ArgumentParser(description=(__doc__ or "").partition("\n")[0])
    parser.add_argument("--data", type=Path, required=True, metavar="FOLDER", help="the full parks world")
    parser.add_argument("--tasks", type=int, default=10_000)
    parser.add_argument("--seed", type=int, default=7)
    parser.add_argument("--workers", default="1,2", help="numbers of processes to compare")
    parser.add_argument("--parts", default="throughput,checked,apart,growth")
    parser.add_argument("--time-limit", type=float, default=120.0, metavar="SECONDS", help="for CP-SAT and MIP")
    parser.add_argument("--json", type=Path, metavar="FILE", help="where to write the results")
    options = parser.parse_args()
    parts, results = options.parts.split(","), dict[str, Any]()
    checks = [check for check, part in ((False, "throughput"), (True, "checked")) if part in parts]
    if checks:
        with tempfile.TemporaryDirectory() as folder:
            tasks = Path(folder) / "tasks.jsonl"
            tasks.write_text("".join(f"{line}\n" for line in variations(options.tasks, options.seed)), encoding="utf-8")
            runs = results["throughput"] = list[dict[str, Any]]()
            for check in checks:
                for workers in map(int, options.workers.split(",")):
                    found = throughput(tasks, str(options.data), workers, check)
                    runs.append(found)
                    sizes = [size for _, size in found["memory_mb"]]
                    told = f"{found['tasks_a_second']:.2f} tasks a second, processor {found['processor_seconds']:.0f} s"
                    checked = "checked" if check else "unchecked"
                    print(f"{workers} workers, {checked}: {found['seconds']:.1f} s, {told}, MB {sizes}", flush=True)
                if len({run["certificates"] for run in runs if run["check"] == check}) > 1:
                    print("the runs differ", file=sys.stderr)
                    return 4
    if "apart" in parts:
        dataset = open_dataset(str(options.data))
        results["apart"] = apart(dataset, options.time_limit, papers_method(dataset))
    if "growth" in parts:
        results["growth"] = growth(options.data)
    if options.json:
        options.json.parent.mkdir(parents=True, exist_ok=True)
        content = {
            "machine": machine(("numpy", "numba", "polars", "pyarrow")),
            "load": os.getloadavg()[0],
            "seed": options.seed,
            **results,
        }
        options.json.write_text(json.dumps(content, indent=1) + "\n", encoding="utf-8")
    return 0


if __name__ == "__main__":
    sys.exit(main())
