"""How CP-SAT and MIP grow with the number of offers, with and without reduction, beside the scan.

    python benchmarks/engine_growth.py --sizes 1e3,1e4,1e5 --json benchmarks/results/engine_growth.json

Two tables of n offers each are joined on a key of 114 values, under one budget, with another objective: unrelated
to the price, or the better the dearer, which leaves more rows that no other row dominates.
Prices are whole dollars: in cents the 10^5 offers of a table are beyond what CP-SAT is trusted with, and it declines.
Engines run in processes of their own, as in `cobench verify`; their seconds include start and building of the program.
All that call a value optimal must give the same value, else the script ends with exit code 4 and writes nothing.
"""

from __future__ import annotations

import argparse
import itertools
import json
import statistics
import sys
import time
from pathlib import Path
from typing import Any

import numpy as np
from cobench.solver import scan
from cobench.solver.isolate import ENGINES, Running
from cobench.solver.model import Choice, Linear, Link, Model, Row
from cobench.solver.outcome import Limits, Outcome
from cobench.solver.reduce import reduced
from machine import machine

GROUPS = 114  # as many as date pairs of 2 to 5 nights in a month
KINDS = ("unrelated", "dearer")
ONE_RUN_FROM = 100_000


def model_of(offers: int, kind: str) -> Model:
    """Stays and flights with the same dates: the shortest way that the budget pays for."""
    random = np.random.default_rng(offers)
    every = np.full(offers, 2**64 - 1, np.uint64)
    codes = [random.integers(0, GROUPS, offers) for _ in range(2)]
    prices = [random.integers(low, high, offers) for low, high in ((60, 3_000), (80, 2_000))]
    dearer = 2 if kind == "dearer" else 0
    ways = [6_000 - dearer * price + random.integers(0, 900, offers) for price in prices]
    choices = tuple(Choice(name, 1, 1, np.arange(offers), every) for name in ("hotel", "flight"))
    budget = Row(0, Linear(dict(enumerate(prices)), (), -1_200))
    dates = Link(1, (0, 1), (codes[0], codes[1]))
    return Model(("budget", "dates"), choices, (budget,), (dates,), (), Linear(dict(enumerate(ways)), (), 0), False)


def said(outcome: Outcome) -> str:
    """The status, and why it is no better."""
    return outcome.status.value + (f" ({outcome.reason})" if outcome.reason else "")


def measured(name: str, rows: int, runs: list[tuple[float, int, Outcome]]) -> dict[str, Any]:
    """One line of the results: medians over the runs."""
    outcome = runs[0][2]
    return {
        "engine": name,
        "rows": rows,
        "outcome": said(outcome),
        "value": outcome.value,
        "seconds": round(statistics.median(run[0] for run in runs), 4),
        "memory_mb": max(run[1] for run in runs),
        "runs": len(runs),
    }


def by_scan(model: Model) -> tuple[float, int, Outcome]:
    """One run of the scan, in this process: its memory is not measured."""
    started = time.perf_counter()
    outcome = scan.solve(model, Limits())
    return time.perf_counter() - started, 0, outcome


def by_engine(name: str, model: Model, seconds: float) -> tuple[float, int, Outcome]:
    """One run of an engine in a process of its own."""
    started = time.perf_counter()
    answer = Running(name, model, Limits(seconds)).answer()
    return time.perf_counter() - started, answer.memory, answer.outcome


def measure(offers: int, kind: str, seconds: float) -> list[dict[str, Any]]:
    """All results for one size and kind of objective."""
    model, repeats = model_of(offers, kind), 1 if offers >= ONE_RUN_FROM else 3
    by_scan(model)  # compiles its kernels, once
    rows = sum(len(choice) for choice in model.choices)
    results = [measured("scan", rows, [by_scan(model) for _ in range(3)])]
    times: list[float] = []
    less = model
    for _ in range(3):
        started = time.perf_counter()
        less = reduced(model)
        times.append(time.perf_counter() - started)
    fewer = sum(len(choice) for choice in less.choices)
    best = scan.solve(less, Limits())
    results.append(measured("reduction", fewer, [(one, 0, best) for one in times]))
    results += [
        measured(f"{name}, reduced", fewer, [by_engine(name, less, seconds) for _ in range(repeats)])
        for name in ENGINES
    ]
    results += [measured(name, rows, [by_engine(name, model, seconds) for _ in range(repeats)]) for name in ENGINES]
    return [{"offers": offers, "objective": kind, **result} for result in results]


def main() -> int:
    """Measures, prints a table and writes the results."""
    parser = argparse.ArgumentParser(description=(__doc__ or "").partition("\n")[0])
    parser.add_argument("--sizes", default="1e3,1e4,1e5", help="offers in each of the two tables")
    parser.add_argument("--time-limit", type=float, default=120.0, metavar="SECONDS", help="for each run of an engine")
    parser.add_argument("--json", type=Path, metavar="FILE", help="where to write the results")
    options = parser.parse_args()
    results: list[dict[str, Any]] = []
    print(f"{'offers a side':>13}  {'objective':9}  {'':14} {'rows':>7} {'seconds':>8} {'MB':>4}  outcome")
    for size, kind in itertools.product(options.sizes.split(","), KINDS):
        found = measure(int(float(size)), kind, options.time_limit)
        values = {result["value"] for result in found if result["outcome"] == "optimal"}
        for result in found:
            place = f"{result['offers']:>13,}  {kind:9}  {result['engine']:14} {result['rows']:>7,}"
            print(f"{place} {result['seconds']:>8.3f} {result['memory_mb'] or '':>4}  {result['outcome']}", flush=True)
        if len(values) > 1:
            print(f"the engines disagree: {values}", file=sys.stderr)
            return 4
        results += found
    if options.json:
        options.json.parent.mkdir(parents=True, exist_ok=True)
        content = {
            "machine": machine(("numpy", "numba", "ortools", "pulp", "highspy")),
            "groups": GROUPS,
            "time_limit": options.time_limit,
            "results": results,
        }
        options.json.write_text(json.dumps(content, indent=1) + "\n", encoding="utf-8")
    return 0


if __name__ == "__main__":
    sys.exit(main())
