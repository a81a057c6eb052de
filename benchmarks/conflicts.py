"""All minimal conflicts and corrections of unsolvable tasks, beside the usual ways to find them.

    python benchmarks/conflicts.py --sizes 1e3,1e4,1e5,1e6 --names 14,18,21 --json benchmarks/results/conflicts.json

Two tables of n offers each are joined on a key of 114 values, under one budget; every other constraint is a filter of
one of the two, so tight that few offers satisfy all filters of their table. Each way gets the same columns in memory.

- lattice: `explain`, from a model in memory to all conflicts and corrections; with amounts: for the thresholds, too.
- MARCO: all of them, one by one, by an oracle over the rows in numpy. Only the time in its oracle counts; what is left
  of a map that also had to be solved is not held against it. It is stopped after --time-limit.
- deletion: one conflict by the same oracle, leaving out name by name.
- CP-SAT: one conflict, from a sufficient set of assumptions, made minimal by deletion; up to --cpsat offers.

What MARCO finds must be what the lattice found (when it is stopped, a part of it), and every single conflict must be
among these, else the script ends with exit code 4 and writes nothing. Seconds are of processor time: everything runs in
one thread, and what else a machine does at the time matters less.
"""

from __future__ import annotations

import argparse
import itertools
import json
import os
import statistics
import sys
import time
from collections.abc import Callable
from dataclasses import dataclass, replace
from pathlib import Path
from typing import Any

import numpy as np
from cobench.solver.conflicts import Explanation, explain
from cobench.solver.model import Choice, Linear, Link, Model, Row, Threshold
from cobench.solver.outcome import Limits
from machine import machine
from ortools.sat.python import cp_model

GROUPS = 114  # as many as date pairs of 2 to 5 nights in a month
DATES, BUDGET, RATING = 0, 1, 2
Names = frozenset[int]


def model_of(offers: int, names: int) -> Model:
    """A hotel and a flight with the same dates; about one offer of each table satisfies all its filters."""
    random = np.random.default_rng([offers, names])
    prices = [random.integers(low, high, offers) for low, high in ((6_000, 300_000), (8_000, 200_000))]
    dates = [random.integers(0, GROUPS, offers) for _ in range(2)]
    satisfied = [np.full(offers, 2**64 - 1, np.uint64) for _ in range(2)]
    rating = random.integers(0, 1_000, offers)
    filters, most = range(RATING, names), 0
    for name in filters:
        table = name % 2
        often = (1 / offers) ** (1 / len(filters[table::2])) * random.uniform(0.8, 1.25)
        if name == RATING:
            most = int(1_000 * often)
        fails = rating > most if name == RATING else random.random(offers) >= often
        satisfied[table][fails] &= np.uint64(2**64 - 1 - (1 << name))
    total = Linear(dict(enumerate(prices)), (), -60_000)
    known = dict.fromkeys(range(2), np.ones(offers, np.bool_))
    return Model(
        tuple(f"k{name}" for name in range(names)),
        tuple(Choice(name, 1, 1, np.arange(offers), satisfied[side]) for side, name in enumerate(("hotel", "flight"))),
        (Row(BUDGET, total),),
        (Link(DATES, (0, 1), (dates[0], dates[1])),),
        (),
        total,
        False,
        {BUDGET: Threshold(total, known), RATING: Threshold(Linear({0: rating}, (), -most), known)},
    )


@dataclass(slots=True)
class Oracle:
    """Whether some plan satisfies names, by a look at every row; counts its questions and seconds."""

    model: Model
    questions: int = 0
    seconds: float = 0.0

    def __call__(self, names: Names) -> bool:
        """The answer to one question."""
        started = time.process_time()
        answer = self._answer(names)
        self.seconds += time.process_time() - started
        self.questions += 1
        return answer

    def _answer(self, names: Names) -> bool:
        bits = np.uint64(sum(1 << name for name in names))
        budget, link = self.model.rows[0].linear, self.model.links[0]
        least: list[Any] = []
        for side, choice in enumerate(self.model.choices):
            rows = np.flatnonzero((choice.satisfied & bits) == bits)
            if not len(rows):
                return False
            cheapest = np.full(GROUPS if DATES in names else 1, 2**40)
            prices = budget.columns[side][rows]
            if DATES in names:
                np.minimum.at(cheapest, link.codes[side][rows], prices)
            else:
                cheapest[0] = prices.min()
            least.append(cheapest)
        total = int((least[0] + least[1]).min())
        return total + budget.constant <= 0 if BUDGET in names else total < 2**40


def deletion(names: Names, solvable: Callable[[Names], bool]) -> Names:
    """One conflict among names that no plan satisfies."""
    for name in sorted(names, reverse=True):
        if not solvable(names - {name}):
            names -= {name}
    return names


def marco(names: int, solvable: Oracle, seconds: float) -> tuple[set[Names], set[Names], bool]:
    """All conflicts and corrections, or some when the oracle has taken so many seconds.

    The map is a bit for every set of names that is not explained; the largest one is asked for next.
    """
    every = frozenset(range(names))
    sets = np.arange(2**names, dtype=np.int32)
    order = np.argsort(-np.bitwise_count(sets).astype(np.int8), kind="stable")
    left = np.ones(2**names, np.bool_)
    place = 0
    conflicts: set[Names] = set()
    corrections: set[Names] = set()
    while solvable.seconds < seconds:
        while place < len(order) and not left[order[place]]:
            ahead = left[order[place : place + 4096]]
            place += int(ahead.argmax()) if ahead.any() else len(ahead)
        if place >= len(order):
            return conflicts, corrections, True
        seed = frozenset(name for name in every if order[place] >> name & 1)
        if solvable(seed):
            for name in sorted(every - seed):
                if solvable(seed | {name}):
                    seed |= {name}
            corrections.add(every - seed)
            index: list[Any] = [slice(None) if name in seed else 0 for name in reversed(range(names))]
        else:
            seed = deletion(seed, solvable)
            conflicts.add(seed)
            index = [1 if name in seed else slice(None) for name in reversed(range(names))]
        left.reshape((2,) * names)[tuple(index)] = False
    return conflicts, corrections, False


class CpSat:
    """One Boolean per offer, exactly one of each table, and one Boolean per constraint that switches it on."""

    def __init__(self, model: Model) -> None:
        self.program = cp_model.CpModel()
        self.on = [self.program.new_bool_var(name) for name in model.names]
        rows = [[self.program.new_bool_var("") for _ in range(len(choice))] for choice in model.choices]
        for side, choice in enumerate(model.choices):
            self.program.add_exactly_one(rows[side])
            for row, mask in zip(rows[side], choice.satisfied.tolist(), strict=True):
                for name in range(RATING, len(model.names)):
                    if not mask >> name & 1:
                        self.program.add_implication(self.on[name], ~row)
        for group in range(GROUPS):
            inside = [
                [row for row, code in zip(rows[side], codes.tolist(), strict=True) if code == group]
                for side, codes in enumerate(model.links[0].codes)
            ]
            self.program.add(sum(inside[0]) == sum(inside[1])).only_enforce_if(self.on[DATES])
        budget = model.rows[0].linear
        total = sum(
            price * row
            for side in range(2)
            for price, row in zip(budget.columns[side].tolist(), rows[side], strict=True)
        )
        self.program.add(total <= -budget.constant).only_enforce_if(self.on[BUDGET])

    def core(self, names: Names) -> Names | None:
        """Names among these that cannot hold together, or None if all can."""
        self.program.clear_assumptions()
        self.program.add_assumptions([self.on[name] for name in sorted(names)])
        solver = cp_model.CpSolver()
        solver.parameters.num_workers = 1
        if solver.solve(self.program) != cp_model.INFEASIBLE:
            return None
        places = {literal.index: name for name, literal in enumerate(self.on)}
        return frozenset(places[index] for index in solver.sufficient_assumptions_for_infeasibility())


def timed(function: Callable[[], Any], runs: int) -> tuple[Any, float]:
    """What the function returns, and the median of its seconds."""
    seconds: list[float] = []
    found = None
    for _ in range(runs):
        started = time.process_time()
        found = function()
        seconds.append(time.process_time() - started)
    return found, statistics.median(seconds)


class DisagreementError(Exception):
    """Two ways found different conflicts."""


def measure(offers: int, names: int, limit: float, cpsat: int) -> list[dict[str, Any]]:
    """All results for one task."""
    model = model_of(offers, names)
    bare = replace(model, thresholds={})
    explain(bare, Limits())
    found, seconds = timed(lambda: explain(bare, Limits()), 9)
    full, with_amounts = timed(lambda: explain(model, Limits()), 3)
    conflicts, drops = (
        {frozenset(item) for item in found.conflicts},
        {frozenset(item.drop) for item in found.corrections},
    )
    check(found.complete and full.complete and found.conflicts == full.conflicts, "the lattice is not complete")
    results = [line("lattice", seconds, found, 9), line("lattice, with amounts", with_amounts, full, 3)]

    oracle = Oracle(model)
    some, others, all_found = marco(names, oracle, limit)
    check(some <= conflicts and others <= drops, "MARCO found others")
    check(not all_found or (some == conflicts and others == drops), "MARCO found fewer")
    results.append(
        {
            "way": "MARCO" if all_found else "MARCO, stopped", "seconds": round(oracle.seconds, 4), "runs": 1,
            "conflicts": len(some), "corrections": len(others), "questions": oracle.questions,
        }
    )  # fmt: skip
    one, single = timed(lambda: deletion(frozenset(range(names)), Oracle(model)), 3)
    check(one in conflicts, "deletion found another conflict")
    results.append({"way": "deletion", "seconds": round(single, 6), "runs": 3, "conflicts": 1, "corrections": 0})
    if offers <= cpsat:
        started = time.process_time()
        program = CpSat(model)
        core = program.core(frozenset(range(names)))
        check(core is not None, "CP-SAT found a plan")
        first = time.process_time() - started
        least = deletion(core or frozenset(), lambda some: program.core(some) is None)
        check(least in conflicts, "CP-SAT found another conflict")
        seconds = time.process_time() - started
        results.append(
            {
                "way": "CP-SAT", "seconds": round(seconds, 4), "runs": 1, "conflicts": 1, "corrections": 0,
                "core_seconds": round(first, 4),
            }
        )  # fmt: skip
    base = results[0]["seconds"]
    return [
        {"offers": offers, "names": names, **result, "ratio": round(result["seconds"] / base, 1)} for result in results
    ]


def line(way: str, seconds: float, found: Explanation, runs: int) -> dict[str, Any]:
    """One line of the results about an explanation."""
    counts = {"conflicts": len(found.conflicts), "corrections": len(found.corrections)}
    return {"way": way, "seconds": round(seconds, 6), "runs": runs, **counts}


def check(agreed: bool, otherwise: str) -> None:
    """Raises DisagreementError unless it is so."""
    if not agreed:
        raise DisagreementError(otherwise)


def main() -> int:
    """Measures, prints a table and writes the results."""
    parser = argparse.ArgumentParser(description=(__doc__ or "").partition("\n")[0])
    parser.add_argument("--sizes", default="1e3,1e4,1e5,1e6", help="offers in each of the two tables")
    parser.add_argument("--names", default="14,18,21", help="constraints")
    parser.add_argument("--time-limit", type=float, default=30.0, metavar="SECONDS", help="for MARCO's oracle")
    parser.add_argument("--cpsat", type=float, default=1e3, metavar="OFFERS", help="the most offers CP-SAT gets")
    parser.add_argument("--json", type=Path, metavar="FILE", help="where to write the results")
    options = parser.parse_args()
    facts = {**machine(("numpy", "ortools")), "load_at_start": round(os.getloadavg()[0], 1)}
    results: list[dict[str, Any]] = []
    print(f"{'offers a side':>13} {'names':>5}  {'':21} {'seconds':>9} {'ratio':>9}  conflicts, corrections")
    for size, names in itertools.product(options.sizes.split(","), options.names.split(",")):
        cpsat = int(options.cpsat) if names == options.names.split(",")[0] else 0
        try:
            found = measure(int(float(size)), int(names), options.time_limit, cpsat)
        except DisagreementError as fault:
            print(f"{size} offers, {names} names: {fault}", file=sys.stderr)
            return 4
        for one in found:
            place = f"{one['offers']:>13,} {one['names']:>5}  {one['way']:21} {one['seconds']:>9.4f} {one['ratio']:>9,}"
            print(f"{place}  {one['conflicts']}, {one['corrections']}", flush=True)
        results += found
    if options.json:
        options.json.parent.mkdir(parents=True, exist_ok=True)
        content = {"machine": facts, "groups": GROUPS, "time_limit": options.time_limit, "results": results}
        options.json.write_text(json.dumps(content, indent=1) + "\n", encoding="utf-8")
    return 0


if __name__ == "__main__":
    sys.exit(main())
