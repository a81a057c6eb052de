"""Tasks of the size that papers pose, in process and warm: cobench's scan beside the papers' own method.

    cobench data build parks --out FOLDER
    python benchmarks/compass_tasks.py tasks/parks --data FOLDER --json benchmarks/results/compass_tasks.json

The tasks are those of the folder, and some for each level that are made here, of the size that COMPASS reports: a park,
a few wishes about hotel, flight and permit, thousands of plans.

Both answer the same question about each solvable task: number of plans, best value, and how many plans are better than
a given one (a value a twentieth of the way from best to worst). The papers' method is measured twice: as they do it,
stays put together from nightly offers ("papers"), and with every stay ready in an indexed table ("ready"). Ours is
everything from the parsed file on: pose, lower, one survey for all three; reading YAML is timed apart, as their tasks
are Python. All have had each task once before: tables are open, indexes built, code compiled. Seconds are of processor
time, medians of interleaved repetitions. When two answers differ the script ends with exit code 4 and writes nothing.
"""

from __future__ import annotations

import argparse
import json
import random
import statistics
import sys
import time
from collections.abc import Callable
from pathlib import Path
from typing import Any

from cobench.datasets.opening import Dataset, open_dataset
from cobench.schemas.problem import Problem, pose
from cobench.schemas.task import TaskFile, parse_task
from cobench.solver import scan
from cobench.solver.lowering.narrow import feasible
from cobench.solver.outcome import Limits
from machine import machine
from papers_method import Answer, load, script

BANDWIDTH = 15e9  # bytes a second that one core reads: for the floor
SLOW = 5.0  # seconds of the papers' method after which a task is not repeated
STEPS = ("pose", "lower", "survey")


def seconds(work: Callable[[], Any]) -> tuple[float, Any]:
    """Processor time that some work takes, and what it gives."""
    started = time.process_time()
    result = work()
    return time.process_time() - started, result


def ours(file: TaskFile, data: Dataset, value: int) -> tuple[list[float], Answer, int]:
    """Seconds per step, the answer, and the bytes of the rows that the scan reads."""
    posing, problem = seconds(lambda: pose(file, data.manifest))
    lowering, lowered = seconds(lambda: feasible(problem, data))
    surveying, survey = seconds(lambda: scan.survey(lowered.model, Limits(), (value,)))
    outcome = survey.outcome
    best = outcome.best if outcome.picked is not None else None
    better, _ = survey.ranks[value]
    model = lowered.model
    sums = [model.objective, *(row.linear for row in model.rows)]
    codes = sum(len(part.codes) for part in (*model.links, *model.tables))
    size = 8 * sum(len(column) for linear in sums for column in linear.columns.values())
    size += 8 * codes * max((len(choice) for choice in model.choices), default=0)
    return [posing, lowering, surveying], (survey.count[0], best, better), size


def value_of(problem: Problem, data: Dataset) -> int | None:
    """The value to rank; None for a task without plans."""
    model = feasible(problem, data).model
    found = scan.distribution(model, 2**20, Limits())
    if not found:
        return None
    return found[0][0] + (found[-1][0] - found[0][0]) // 20


PARKS = ("Zion", "Yosemite", "Yellowstone", "Glacier", "Acadia", "Grand Canyon")
ORIGINS = ("ORD", "DEN", "LAX", "SEA")
TASK = """cobench: 1
id: {id}
dataset: parks
given:
  guests: {guests}
choose:
  {choose}
constraints:
  {constraints}
minimize: {objective}
"""


def made(level: int, number: int) -> str:
    """A task of a level, always the same one: one choice, two or three."""
    draw = random.Random(10 * number + level)  # noqa: S311 - tasks, no secrets
    choices = {"hotel": "stays", "flight": "round_trips", "permit": "permits"}
    chosen = dict(list(choices.items())[:level])
    wish = draw.choice(("has_balcony", "has_air_conditioning", "has_restaurant", "free_cancellation"))
    spent = " + ".join(f"{name}.total_price" for name in chosen)
    constraints = {
        "park": f'hotel.park == "{draw.choice(PARKS)}"',
        "nights": f"hotel.nights in [{', '.join(map(str, draw.sample(range(2, 6), 3)))}]",
        "wish": f"hotel.{wish} and hotel.review_score >= {draw.choice((5, 6, 7))}",
        "budget": f"{spent} <= {draw.choice((900, 1400, 2000)) * level}",
    }
    if level > 1:
        constraints["origin"] = f'flight.origin == "{draw.choice(ORIGINS)}" and serves(flight.destination, hotel.park)'
        constraints["dates"] = "flight.departs_on == hotel.check_in and flight.returns_on == hotel.check_out"
        constraints["stops"] = "flight.stops <= 1"
    if level > 2:
        constraints["permit"] = 'permit.permit_park == hotel.park and permit.permit_type == "day_hikes"'
        constraints["hike"] = "permit.starts_on > hotel.check_in and permit.ends_on < hotel.check_out"
    return TASK.format(
        id=f"made-{level}-{number:02}",
        guests=draw.choice((1, 2, 3, 4)),
        choose="\n  ".join(f"{name}: {table}" for name, table in chosen.items()),
        constraints="\n  ".join(f"{name}: {text}" for name, text in constraints.items()),
        objective=draw.choice((spent, "hotel.distance")),
    )


def measure(text: str, data: Dataset, database: Any, repeats: int) -> dict[str, Any] | None:
    """The results for one task; None when it has no plan."""
    file = parse_task(text)
    problem = pose(file, data.manifest)
    value = value_of(problem, data)
    if value is None:
        return None
    theirs = [script(problem, database, nightly) for nightly in (True, False)]
    times: list[list[float]] = []
    papers: list[list[float]] = []
    loading: list[float] = []
    answer, size = ours(file, data, value)[1:]
    for _ in range(repeats):
        if papers and sum(papers[-1]) > SLOW:
            break
        loading.append(seconds(lambda: parse_task(text))[0])
        times += [ours(file, data, value)[0] for _ in range(5)]  # ours is short
        papers.append([])
        for each in theirs:
            needed, said = seconds(lambda each=each: each.run(value))
            papers[-1].append(needed)
            if said != answer:
                print(f"{problem.id}: ours {answer}, the papers' method {said}", file=sys.stderr)
                sys.exit(4)
    total = statistics.median(map(sum, times))
    method, ready = (statistics.median(column) for column in zip(*papers, strict=True))
    return {
        "task": problem.id,
        "made": problem.id.startswith("made-"),
        "level": len(problem.choices),
        "plans": answer[0],
        "seconds": round(total, 6),
        "papers_seconds": round(method, 6),
        "ready_seconds": round(ready, 6),
        "ratio": round(method / total, 1),
        "ready_ratio": round(ready / total, 1),
        "steps": {
            name: round(statistics.median(column), 6)
            for name, column in zip(STEPS, zip(*times, strict=True), strict=True)
        },
        "yaml_seconds": round(statistics.median(loading), 6),
        "bytes": size,
        "floor_seconds": round(size / BANDWIDTH, 9),
    }


def main() -> int:
    """Measures, prints a table and writes the results."""
    parser = argparse.ArgumentParser(description=(__doc__ or "").partition("\n")[0])
    parser.add_argument("tasks", type=Path, help="a folder of task files")
    parser.add_argument("--data", required=True, help="the dataset: a folder, or a bundled name")
    parser.add_argument("--made", type=int, default=6, metavar="N", help="tasks to make for each level")
    parser.add_argument("--repeats", type=int, default=5)
    parser.add_argument("--json", type=Path, metavar="FILE", help="where to write the results")
    options = parser.parse_args()
    data = open_dataset(options.data)
    database = load(data, data.manifest.sample())
    results: list[dict[str, Any]] = []
    print(
        f"{'task':42} {'plans':>8} {'ours ms':>8} {'papers ms':>9} {'ratio':>6} {'ready ms':>8} {'ratio':>6}   "
        + " ".join(f"{s:>7}" for s in STEPS)
    )
    texts = [path.read_text(encoding="utf-8") for path in sorted(options.tasks.glob("*.yaml"))]
    texts += [made(level, number) for level in (1, 2, 3) for number in range(options.made)]
    for text in texts:
        found = measure(text, data, database, options.repeats)
        if found is None:
            continue
        results.append(found)
        steps = " ".join(f"{1e3 * found['steps'][name]:7.3f}" for name in STEPS)
        line = f"{found['task'][:42]:42} {found['plans']:>8,} {1e3 * found['seconds']:8.2f}"
        line += f" {1e3 * found['papers_seconds']:9.1f} {found['ratio']:6.0f}"
        print(f"{line} {1e3 * found['ready_seconds']:8.1f} {found['ready_ratio']:6.1f}   {steps}", flush=True)
    levels = [
        {
            "tasks": kind,
            "level": level,
            "number": len(some),
            "plans": statistics.median(item["plans"] for item in some),
            "seconds": statistics.median(item["seconds"] for item in some),
            "papers_seconds": statistics.median(item["papers_seconds"] for item in some),
            "ratio": statistics.median(item["ratio"] for item in some),
            "ready_ratio": statistics.median(item["ready_ratio"] for item in some),
        }
        for kind in ("shipped", "made")
        for level in (1, 2, 3)
        if (some := [item for item in results if item["level"] == level and item["made"] == (kind == "made")])
    ]
    for line in levels:
        print(", ".join(f"{name} {value}" for name, value in line.items()))
    if options.json:
        options.json.parent.mkdir(parents=True, exist_ok=True)
        content = {
            "machine": machine(("numpy", "numba", "polars", "pyarrow")),
            "dataset": data.manifest.manifest.name,
            "medians": levels,
            "results": results,
        }
        options.json.write_text(json.dumps(content, indent=1) + "\n", encoding="utf-8")
    return 0


if __name__ == "__main__":
    sys.exit(main())
