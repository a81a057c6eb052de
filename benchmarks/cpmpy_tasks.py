"""Tasks of other people's benchmarks, in process and warm: cobench beside models written by hand in CPMpy.

    python benchmarks/cpmpy_tasks.py SOURCE [--limit N] [--families trip meeting calendar mmkp] [--json FILE]

SOURCE holds the folders natural_plan and mmkp, as docs/external.md describes them. They are converted into a temporary
folder; of every family and size (cities, friends, busy ranges, set) the first N tasks by id are taken. Of each, by

- `certify`: `certify_problem` by the exact engine: the optimum, and with it number of plans, ties, distribution;
- `engine`: the model lowered, and CP-SAT as cobench asks it: the optimum alone;
- `cpmpy`: a model of the same tables built in CPMpy, handed to its OR-Tools back end, and solved by one worker: the
  optimum alone;
- `all`: the same without an objective by `solveAll`, for trips and calendars: the number of plans alone.

Every side must find the same optimum and number, else the script ends with exit code 4 and writes nothing. A side that
a limit stops has no time there: CP-SAT has --cap seconds for each question, the exact engine so many steps that a
knapsack of ten groups or more is left to the others (`engine` and `cpmpy` are compared there). Posing the task is
counted for cobench; reading the tables for nobody. Seconds are of processor time, medians of interleaved repetitions
after a first run; ratios are medians of the ratios of tasks, above 1 where cobench is faster.

The models are in `cpmpy_models.py`. Needs cpmpy, which is in the `dev` extra.
"""

from __future__ import annotations

import argparse
import json
import os
import statistics
import sys
import tempfile
import time
from collections.abc import Callable
from dataclasses import dataclass
from pathlib import Path
from typing import Any, NoReturn

from cobench.datasets.opening import open_dataset
from cobench.schemas.canonical import narrow
from cobench.schemas.certificate import Scope
from cobench.schemas.problem import pose
from cobench.schemas.task import load_task
from cobench.solver import cpsat
from cobench.solver.certify import certify_problem
from cobench.solver.lowering.narrow import feasible
from cobench.solver.outcome import Limits, Status
from cobench.solver.sets import cpsat as set_cpsat
from cobench.solver.sets.lower import lower as lower_sets
from cobench.tasks import mmkp, natural_plan
from cpmpy_models import BUILDERS, Built, Task, busy, cp, rows
from machine import machine

HERE = Path(__file__).resolve().parent
PATCH = HERE / "external" / "natural_plan_patch.yaml"
FAMILIES = {"trip": "cities", "meeting": "friends", "calendar": "busy ranges", "mmkp": "set"}
COUNTED = ("trip", "calendar")  # by solveAll too
SCAN_WORK = 100_000_000  # elementary steps of the exact engine
SLOW = 1.0  # seconds after which a side is not repeated
BUSY_RANGES = (10, 15, 20, 25)  # sizes of calendars go up to these
PACKAGES = ("cpmpy", "ortools", "numpy", "numba")

Times = dict[str, float]


@dataclass(frozen=True, slots=True)
class Found:
    """What a side found and the seconds of its steps; None for what was not asked or not decided."""

    optimum: int | None
    count: int | None
    seconds: Times


def disagree(message: str) -> NoReturn:
    """Ends the script: every task here has plans, and one optimum."""
    print(message, file=sys.stderr)
    sys.exit(4)


def by_certify(task: Task, cap: float) -> Found:
    """What the certificate claims by the exact engine."""
    began = time.process_time()
    problem = pose(task.file, task.data.manifest)
    claims = certify_problem(problem, task.data, Scope(), Limits(cap, SCAN_WORK), "scan").certificate.claims
    seconds = {"certify": time.process_time() - began}
    count = claims.count
    if claims.status.value == "unsolvable":
        disagree(f"{problem.id}: the exact engine says that there is no plan")
    if claims.optimum is None or count is None or count.at_least != count.at_most:
        return Found(None, None, seconds)
    return Found(narrow(claims.optimum.value), narrow(count.at_least), seconds)


def by_engine(task: Task, cap: float) -> Found:
    """What CP-SAT says of the lowered model."""
    began = time.process_time()
    problem = pose(task.file, task.data.manifest)
    if problem.sets:
        sets = lower_sets(problem, task.data).model
        lowered = time.process_time()
        outcome = set_cpsat.solve(sets, Limits(cap))
    else:
        model = feasible(problem, task.data).model
        lowered = time.process_time()
        outcome = cpsat.solve(model, Limits(cap))
    seconds = {"lower": lowered - began, "solve": time.process_time() - lowered}
    if outcome.status is Status.INFEASIBLE:
        disagree(f"{problem.id}: CP-SAT says that there is no plan")
    sign = -1 if problem.objective.maximize else 1
    return Found(sign * outcome.best if outcome.status is Status.OPTIMAL else None, None, seconds)


def by_cpmpy(task: Task, build: Callable[[], Built], cap: float) -> Found:
    """The optimum by CPMpy; `build` is its model, `post` what its back end makes of it."""
    began = time.process_time()
    built = build()
    fixed = isinstance(built.objective, int)
    if not fixed:
        improve = built.model.maximize if task.problem.objective.maximize else built.model.minimize
        improve(built.objective)
    written = time.process_time()
    solver = cp.SolverLookup.get("ortools", built.model)
    posted = time.process_time()
    solver.solve(num_workers=1, time_limit=cap)
    seconds = {"build": written - began, "post": posted - written, "solve": time.process_time() - posted}
    status = solver.status().exitstatus.name
    if status == "OPTIMAL" or (fixed and status == "FEASIBLE"):
        return Found(built.objective if fixed else int(solver.objective_value()), None, seconds)
    if status in ("UNKNOWN", "FEASIBLE"):
        return Found(None, None, seconds)
    disagree(f"{task.problem.id}: CPMpy says {status}")


def by_all(build: Callable[[], Built], cap: float) -> Found:
    """The number of plans by CPMpy."""
    began = time.process_time()
    solver = cp.SolverLookup.get("ortools", build().model)
    posted = time.process_time()
    number = solver.solveAll(num_workers=1, time_limit=cap)
    seconds = {"build": posted - began, "solve": time.process_time() - posted}
    return Found(None, number if solver.status().exitstatus.name == "OPTIMAL" else None, seconds)


def measure(task: Task, repeats: int, cap: float) -> dict[str, Any]:
    """The results for one task."""
    build = BUILDERS[task.family](task)
    sides: dict[str, Callable[[], Found]] = {
        "certify": lambda: by_certify(task, cap),
        "engine": lambda: by_engine(task, cap),
        "cpmpy": lambda: by_cpmpy(task, build, cap),
    }
    if task.family in COUNTED:
        sides["all"] = lambda: by_all(build, cap)
    runs = {name: [side()] for name, side in sides.items()}
    for _ in range(repeats):
        for name, side in sides.items():
            # The first run is to warm up; what a limit stopped, or took long when warm, is not asked again.
            if decided(runs[name]) and (len(runs[name]) == 1 or total(runs[name][-1]) <= SLOW):
                runs[name].append(side())
    said = {
        kind: {name: {getattr(found, kind) for found in some} - {None} for name, some in runs.items()}
        for kind in ("optimum", "count")
    }
    answers = {kind: set[int]().union(*by.values()) for kind, by in said.items()}
    if any(len(found) > 1 for found in answers.values()):
        disagree(f"{task.problem.id}: {said}")
    timed = {name: some[1:] or some for name, some in runs.items()}
    return {
        "task": task.problem.id,
        "optimum": next(iter(answers["optimum"]), None),
        "count": next(map(str, answers["count"]), None),
        "seconds": {
            name: round(statistics.median(map(total, some)), 6) if decided(runs[name]) else None
            for name, some in timed.items()
        },
        "steps": {
            name: {step: round(statistics.median(found.seconds[step] for found in some), 6) for step in some[0].seconds}
            for name, some in timed.items()
        },
        "repeats": {name: len(some) for name, some in timed.items()},
    }


def total(found: Found) -> float:
    """Seconds of all steps."""
    return sum(found.seconds.values())


def decided(runs: list[Found]) -> bool:
    """Whether no run was stopped by a limit."""
    return all(found.optimum is not None or found.count is not None for found in runs)


def size_of(task: Task) -> tuple[int, str]:
    """The size of a task, to sort by and to show."""
    if task.family == "mmkp":
        number = int(task.problem.id.removeprefix("mmkp-set").partition("-")[0])
        return number, str(number)
    if task.family == "calendar":
        number = len(list(busy(task)))
        top = next((top for top in BUSY_RANGES if number <= top), None)
        return top or 10**6, f"to {top}" if top else f"over {BUSY_RANGES[-1]}"
    table = {"trip": "cities", "meeting": "friends"}[task.family]
    number = len(rows(task.data.table(task.problem.world, table), task.problem.world.tables[table].key[0]))
    return number, str(number)


def sample(folder: Path, family: str, limit: int) -> dict[tuple[int, str], list[Task]]:
    """The first tasks of each size, by id."""
    found: dict[tuple[int, str], list[Task]] = {}
    for path in sorted((folder / "tasks").glob("mmkp-set*.yaml" if family == "mmkp" else f"{family}*.yaml")):
        file = load_task(path)
        data = open_dataset(file.task.dataset, path.parent)
        task = Task(family, file, data, pose(file, data.manifest))
        some = found.setdefault(size_of(task), [])
        if len(some) < limit:
            some.append(task)
    return dict(sorted(found.items()))


def summary(family: str, size: str, results: list[dict[str, Any]]) -> dict[str, Any]:
    """Medians of each side over the tasks that it decided, of ratios over those that both did; None without any."""

    def middle(side: str) -> float | None:
        known = [item["seconds"][side] for item in results if item["seconds"].get(side) is not None]
        return round(statistics.median(known), 6) if known else None

    def ratio(theirs: str, ours: str) -> float | None:
        pairs = [(item["seconds"].get(theirs), item["seconds"].get(ours)) for item in results]
        known = [one / other for one, other in pairs if one is not None and other is not None]
        return round(statistics.median(known), 2) if known else None

    sides = ("certify", "engine", "cpmpy", "all")
    decided = {side: sum(item["seconds"].get(side) is not None for item in results) for side in sides}
    return {
        "family": family,
        "size": size,
        "tasks": len(results),
        "decided": decided,
        "seconds": {side: middle(side) for side in sides},
        "cpmpy_to_certify": ratio("cpmpy", "certify"),
        "all_to_certify": ratio("all", "certify"),
        "cpmpy_to_engine": ratio("cpmpy", "engine"),
    }


def shown(line: dict[str, Any]) -> str:
    """A line of the table; `-` for what was not asked or not decided."""
    ms = [f"{1e3 * value:10.2f}" if value is not None else f"{'-':>10}" for value in line["seconds"].values()]
    ratios = [line[name] for name in ("cpmpy_to_certify", "all_to_certify", "cpmpy_to_engine")]
    tail = [f"{value:12.2f}" if value is not None else f"{'-':>12}" for value in ratios]
    return f"{line['family']:9} {line['size']:>8} {line['tasks']:>5} {''.join(ms)} {''.join(tail)}"


def main() -> int:
    """Measures, prints a table and writes the results."""
    parser = argparse.ArgumentParser(description=(__doc__ or "").partition("\n")[0])
    parser.add_argument("source", type=Path, help="a folder that holds natural_plan and mmkp")
    parser.add_argument("--limit", type=int, default=3, metavar="N", help="tasks of each family and size")
    parser.add_argument("--families", nargs="+", choices=list(FAMILIES), default=list(FAMILIES))
    parser.add_argument("--repeats", type=int, default=5)
    parser.add_argument("--cap", type=float, default=20.0, help="seconds for each question to CP-SAT")
    parser.add_argument("--json", type=Path, metavar="FILE", default=HERE / "results" / "cpmpy_tasks.json")
    options = parser.parse_args()
    if options.limit < 1 or options.repeats < 1 or options.cap <= 0:
        parser.error("--limit, --repeats and --cap are above 0")
    load = os.getloadavg()[0]
    medians: list[dict[str, Any]] = []
    results: list[dict[str, Any]] = []
    heads = "".join(f"{name + ' ms':>10}" for name in ("certify", "engine", "cpmpy", "all"))
    ratios = "".join(f"{name:>12}" for name in ("cpmpy/cert.", "all/cert.", "cpmpy/eng."))
    print(f"{'family':9} {'size':>8} {'tasks':>5} {heads} {ratios}")
    with tempfile.TemporaryDirectory() as name:
        folder = Path(name)
        if set(options.families) - {"mmkp"}:
            natural_plan.convert(options.source / "natural_plan", folder / "natural_plan", PATCH)
        if "mmkp" in options.families:
            mmkp.convert(options.source / "mmkp", folder / "mmkp")
        for family in options.families:
            tasks = sample(folder / ("mmkp" if family == "mmkp" else "natural_plan"), family, options.limit)
            for (_, size), some in tasks.items():
                found = [measure(task, options.repeats, options.cap) for task in some]
                results += [{"family": family, "size": size, **item} for item in found]
                medians.append(summary(family, size, found))
                print(shown(medians[-1]), flush=True)
    content = {
        "machine": machine(PACKAGES),
        "processes_waiting": [round(load, 1), round(os.getloadavg()[0], 1)],  # before and after; one is this script
        "time": "processor seconds",
        "sizes": {family: FAMILIES[family] for family in options.families},
        "cap_seconds": options.cap,
        "exact_engine_steps": SCAN_WORK,
        "medians": medians,
        "results": results,
    }
    options.json.parent.mkdir(parents=True, exist_ok=True)
    options.json.write_text(json.dumps(content, indent=1) + "\n", encoding="utf-8")
    return 0


if __name__ == "__main__":
    sys.exit(main())
