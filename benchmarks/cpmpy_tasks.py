"""Time per task against CPMpy on the same converted tasks: trips, days of meetings, knapsacks.

    cobench convert natural-plan SOURCE/natural_plan --out NATURAL --patch benchmarks/external/natural_plan_patch.yaml
    cobench convert mmkp SOURCE/mmkp --out MMKP
    python benchmarks/cpmpy_tasks.py NATURAL MMKP [--limit N]

CPMpy solves through OR-Tools with one worker. Its models are what its manual suggests: a trip is a permutation with
elements of arrays, a day of meetings has a Boolean and a start per friend and no overlap with travel between any two, a
knapsack a Boolean per item. Building the model is counted, since lowering is counted for cobench, too. Both must give the
same optimum. cobench's exact engine also counts all plans and their values; CPMpy is asked for the optimum alone, and for
trips, where nothing is to be optimised, for all orders. Needs `pip install 'cobench[dev]'`.
"""

from __future__ import annotations

import argparse
import json
import os
import time
from collections.abc import Callable
from pathlib import Path
from statistics import median
from typing import Any

import cpmpy as cp
import polars as pl
from cobench.datasets.opening import Dataset, open_dataset
from cobench.schemas.canonical import narrow
from cobench.schemas.certificate import Scope
from cobench.schemas.problem import Problem, pose
from cobench.schemas.several import Route
from cobench.schemas.task import load_task
from cobench.solver import cpsat as plain_cpsat
from cobench.solver.certify import certify_problem
from cobench.solver.lower import lower as lower_rows
from cobench.solver.outcome import Limits, Status
from cobench.solver.sets import cpsat
from cobench.solver.sets.lower import lower as lower_sets
from machine import machine

RESULTS = Path(__file__).resolve().parent / "results" / "cpmpy_tasks.json"
REPEATS = 3


def trip(problem: Problem, folder: Path) -> Any:
    """Which city comes when: a permutation, the days that follow from it, and a flight between neighbours."""
    cities, flights, _ = _tables(folder, problem, "trip")
    names = cities["city"].to_list()
    number, place = len(names), {name: at for at, name in enumerate(names)}
    fly = [0] * (number * number)
    for a, b in flights.iter_rows():
        fly[place[a] * number + place[b]] = 1
    order = cp.intvar(0, number - 1, shape=number)
    begin = cp.intvar(1, 400, shape=number)
    lasts, opens, closes = ([*cities[name].to_list()] for name in ("days", "first_day", "last_day"))
    lasts = [days - 1 for days in lasts]
    model = cp.Model(cp.AllDifferent(order), begin[0] == 1)
    for at in range(number):
        model += begin[at] >= cp.cpm_array(opens)[order[at]]
        model += begin[at] + cp.cpm_array(lasts)[order[at]] <= cp.cpm_array(closes)[order[at]]
        if at + 1 < number:
            model += begin[at + 1] == begin[at] + cp.cpm_array(lasts)[order[at]]
            model += cp.cpm_array(fly)[order[at] * number + order[at + 1]] == 1
    return model


def meeting(problem: Problem, folder: Path) -> Any:
    """Whom to meet and from when: no two meetings overlap with the way between them."""
    people, walking, route = _tables(folder, problem, "day")
    way = {(a, b): minutes for a, b, minutes in walking.iter_rows()}
    places = people["place"].to_list()
    number, lasts = len(places), people["least"].to_list()
    met, begin = ([make() for _ in places] for make in (cp.boolvar, lambda: cp.intvar(0, 24 * 60)))
    model = cp.Model()
    for at, (opens, closes) in enumerate(zip(people["there_from"], people["there_until"], strict=True)):
        first = way.get((route.start_place, places[at]), 0 if route.start_place == places[at] else None)
        if first is None:
            model += ~met[at]
            continue
        model += met[at].implies(begin[at] >= max(opens, (route.start_time or 0) + first))
        model += met[at].implies(begin[at] + lasts[at] <= closes)
        for other in range(at):
            there, back = way.get((places[at], places[other])), way.get((places[other], places[at]))
            after = [begin[at] + lasts[at] + there <= begin[other]] if there is not None else []
            after += [begin[other] + lasts[other] + back <= begin[at]] if back is not None else []
            model += (met[at] & met[other]).implies(cp.any(after))
    model.maximize(cp.sum(met))
    return model


def knapsack(problem: Problem, folder: Path) -> Any:
    """One item of each group within the capacities, at the greatest value."""
    items = pl.read_parquet(folder / "items.parquet")
    taken = cp.boolvar(shape=len(items))
    model = cp.Model()
    for group in items["group"].unique(maintain_order=True):
        model += cp.sum(taken[(items["group"] == group).to_numpy()]) == 1
    for constraint in problem.constraints:
        column = constraint.name  # a resource and its limit have one name
        capacity = int(constraint.text.text.rpartition("<=")[2])
        model += cp.sum(taken * items[column].to_numpy()) <= capacity
    model.maximize(cp.sum(taken * items["value"].to_numpy()))
    return model


FAMILIES: dict[str, tuple[str, Callable[[Problem, Path], Any]]] = {
    "trip": ("trip_planning_*", trip),
    "meeting": ("meeting_planning_*", meeting),
    **{f"mmkp {name}": (f"mmkp-{name}-*", knapsack) for name in ("set1", "set2", "set3", "set5", "set8")},
}


def _tables(folder: Path, problem: Problem, choice: str) -> tuple[pl.DataFrame, pl.DataFrame, Route]:
    """The rows of a route, its relation, and the route."""
    route = problem.sets[choice].route
    if route is None or route.travel is None:
        raise SystemExit(f"{choice} is no route with travel")
    table, found = problem.world.tables[problem.choices[choice]], problem.world.relations[route.travel]
    return pl.read_parquet(folder / table.file), pl.read_parquet(folder / found.file).select(list(found.columns)), route


def timed(make: Callable[[], Any]) -> tuple[float, Any]:
    """The median of a few runs, and what the last one gave."""
    seconds, found = [], None
    for _ in range(REPEATS):
        began = time.perf_counter()
        found = make()
        seconds.append(time.perf_counter() - began)
    return median(seconds), found


def compared(path: Path, build: Callable[[Problem, Path], Any]) -> dict[str, Any]:
    """Seconds of each side for one task; stops when their optima differ."""
    file = load_task(path)
    dataset: Dataset = open_dataset(file.task.dataset, path.parent)
    problem = pose(file, dataset.manifest)

    def exact() -> Any:
        return certify_problem(problem, dataset, Scope(), Limits(None, 100_000_000), "scan").certificate.claims

    def alone() -> Any:
        if problem.sets:
            return cpsat.solve(lower_sets(problem, dataset).model, Limits())
        model = lower_rows(problem, dataset).model
        return plain_cpsat.solve(model.kept(range(len(model.names))), Limits())

    def theirs() -> Any:
        model = build(problem, dataset.folder)
        if not model.solve(solver="ortools", num_workers=1):
            raise SystemExit(f"{path}: CPMpy finds no plan")
        return model.objective_value()

    def orders() -> int:
        model = build(problem, dataset.folder)
        return int(model.solveAll(solver="ortools"))

    sign = -1 if problem.objective.maximize else 1
    ours, claims = timed(exact)
    engine, outcome = timed(alone)
    other, value = timed(theirs)
    if outcome.status is not Status.OPTIMAL or claims.count is None:
        raise SystemExit(f"{path}: not answered")
    best = sign * outcome.best
    if claims.optimum is not None and narrow(claims.optimum.value) != best:
        raise SystemExit(f"{path}: {claims.optimum.value} is not {best}")
    if value is not None and int(value) != best:
        raise SystemExit(f"{path}: CPMpy found {value}, cobench {best}")
    times = {"exact": ours if claims.optimum is not None else None, "cp_sat": engine, "cpmpy": other}
    if value is None:  # nothing is to be optimised: how many orders there are
        times["cpmpy_all"], number = timed(orders)
        if number != narrow(claims.count.at_least):
            raise SystemExit(f"{path}: CPMpy counts {number}, cobench {claims.count.at_least}")
    return {"task": path.stem, **times}


def main() -> None:
    """Compares a sample of each family and writes medians."""
    parser = argparse.ArgumentParser(description=(__doc__ or "").partition("\n")[0])
    parser.add_argument("natural", type=Path)
    parser.add_argument("mmkp", type=Path)
    parser.add_argument("--limit", type=int, default=12, help="tasks of each family, spread over its list")
    asked = parser.parse_args()
    load = os.getloadavg()[0]
    rows: list[dict[str, Any]] = []
    for family, (pattern, build) in FAMILIES.items():
        folder = asked.mmkp if family.startswith("mmkp") else asked.natural
        paths = sorted((folder / "tasks").glob(f"{pattern}.yaml"))
        sample = paths[:: max(1, len(paths) // asked.limit)][: asked.limit]
        found = [compared(path, build) for path in sample]
        row: dict[str, Any] = {"family": family, "tasks": len(found)}
        for side in ("exact", "cp_sat", "cpmpy", "cpmpy_all"):
            times = [item[side] for item in found if item.get(side) is not None]
            row[side] = round(median(times), 5) if len(times) == len(found) else None
        for side in ("exact", "cp_sat"):
            ratios = [item["cpmpy"] / item[side] for item in found if item[side] is not None]
            row[f"cpmpy_over_{side}"] = round(median(ratios), 1) if len(ratios) == len(found) else None
        rows.append(row)
        print(row, flush=True)
    facts = machine(["cpmpy", "ortools"])
    result = {"machine": facts, "load_at_start": round(load, 2), "repeats": REPEATS, "results": rows}
    RESULTS.write_text(json.dumps(result, indent=1) + "\n", encoding="utf-8")


if __name__ == "__main__":
    main()
