"""The whole feasible set of a task with two large tables: cobench's scan beside what else would answer.

    python benchmarks/feasible_set.py --sizes 1e4,1e5,1e6 --json benchmarks/results/feasible_set.json

Hotels and flights, n offers each, are joined on one of 114 pairs of dates, under one budget in cents; the objective is
minutes on the way, and each offer grants 0 to 3 wishes. Asked is, at once: how many plans are feasible, the least
objective, how many plans are better than a given value and how many have it, and how many plans grant each number of
wishes. By

- `cobench`: `solver.scan.survey`, from int64 columns in memory, sorting included, kernels compiled before;
- `papers`: SQL filters in sqlite3, then nested loops in Python over a dict by dates, as in the published benchmarks;
  above 10^5 offers for some of the hotels only, and the loops extrapolated by their share of the pairs;
- `duckdb` and `polars`: a join with aggregation, from tables in memory, polars with its streaming engine. Both use all
  cores, cobench uses one.

Each runs in a process of its own, so that the peak of memory is its own; the tables are counted in it. Methods that
answer everything must answer alike, else the script ends with exit code 4 and writes nothing.
Needs duckdb, which is in the `dev` extra. At 10^6 duckdb takes one minute or more, polars several.
"""

from __future__ import annotations

import argparse
import itertools
import json
import sqlite3
import statistics
import subprocess
import sys
import time
from collections.abc import Callable, Iterator
from dataclasses import dataclass
from pathlib import Path
from typing import Any

import numpy as np
from cobench.solver import scan
from cobench.solver.model import Choice, Linear, Link, Model, Row
from cobench.solver.outcome import Limits
from machine import machine, peak_mb

GROUPS = 114  # date pairs of 2 to 5 nights in a month
BUDGET = 220_000
VALUE = 2_000
FIELDS = ("dates", "price", "minutes", "wishes")
PACKAGES = ("numpy", "numba", "duckdb", "polars")
EXTRAPOLATED_ABOVE = 100_000
ONE_RUN_FROM = 1_000_000

Tables = dict[str, dict[str, "np.ndarray[Any, np.dtype[np.int64]]"]]
Answers = dict[str, Any]


def tables_of(offers: int) -> Tables:
    """The columns of both tables, `int64[offers]` each; the same for the same number on every machine."""
    random = np.random.default_rng(offers)

    def table(cheapest: int, dearest: int) -> dict[str, Any]:
        ranges = ((0, GROUPS), (cheapest * 100, dearest * 100), (20, 3_000), (0, 4))
        return {name: random.integers(low, high, offers) for name, (low, high) in zip(FIELDS, ranges, strict=True)}

    return {"hotel": table(60, 3_000), "flight": table(80, 2_000)}


def answers(count: int, optimum: int | None, better: int, tied: int, wishes: dict[int, int]) -> Answers:
    """What every method has to say."""
    granted = {str(number): plans for number, plans in sorted(wishes.items()) if plans}
    return {"plans": count, "optimum": optimum, "better": better, "tied": tied, "wishes": granted}


@dataclass(frozen=True, slots=True)
class Question:
    """How a method is asked once all is prepared; `share` of the pairs is looked at, and `start` is the part of the
    work that does not grow with that share.
    """

    ask: Callable[[], Answers]
    share: float = 1.0
    start: Callable[[], Any] | None = None


def by_cobench(tables: Tables) -> Question:
    """One sweep of the columnar scan."""

    def total(field: str, constant: int = 0) -> Linear:
        return Linear({place: table[field] for place, table in enumerate(tables.values())}, (), constant)

    rows = np.arange(len(tables["hotel"]["dates"]))
    every = np.broadcast_to(np.uint64(2**64 - 1), len(rows))
    choices = tuple(Choice(name, 1, 1, rows, every) for name in tables)
    dates = Link(1, (0, 1), (tables["hotel"]["dates"], tables["flight"]["dates"]))
    budget = Row(0, total("price", -BUDGET))
    model = Model(("budget", "dates"), choices, (budget,), (dates,), (), total("minutes"), False)
    wishes = total("wishes")

    def ask() -> Answers:
        found = scan.survey(model, Limits(), (VALUE,), wishes)
        return answers(found.count[0], found.outcome.value, *found.ranks[VALUE], dict(found.tally or {}))

    return Question(ask)


def by_papers(tables: Tables) -> Question:
    """Filters in SQL, pairs in Python."""
    database = sqlite3.connect(":memory:")
    for name, table in tables.items():
        database.execute(f"CREATE TABLE {name} ({', '.join(f'{field} INTEGER' for field in FIELDS)})")
        rows = zip(*(table[field].tolist() for field in FIELDS), strict=True)
        database.executemany(f"INSERT INTO {name} VALUES (?, ?, ?, ?)", rows)  # noqa: S608 - our own names
    offers = len(tables["hotel"]["dates"])
    some = offers if offers <= EXTRAPOLATED_ABOVE else max(1, EXTRAPOLATED_ABOVE**2 // offers)
    partners = np.bincount(tables["flight"]["dates"], minlength=GROUPS)[tables["hotel"]["dates"]]

    def loaded(table: str, most: int) -> list[Any]:
        """Rows that pass the filters, of the first so many. Offers are in no order, so these are as good as any."""
        filtered = f"SELECT dates, price, minutes, wishes FROM {table} WHERE price <= ? AND rowid <= ?"  # noqa: S608 - as above
        return database.execute(filtered, (BUDGET, most)).fetchall()

    def start() -> tuple[list[Any], dict[int, list[tuple[int, int, int]]]]:
        by_dates: dict[int, list[tuple[int, int, int]]] = {}
        for dates, *rest in loaded("flight", offers):
            by_dates.setdefault(dates, []).append((rest[0], rest[1], rest[2]))
        return loaded("hotel", some), by_dates

    def ask() -> Answers:
        hotels, by_dates = start()
        count = better = tied = 0
        optimum = None
        granted: dict[int, int] = {}
        for dates, price, minutes, wishes in hotels:
            for other_price, other_minutes, other_wishes in by_dates.get(dates, ()):
                if price + other_price <= BUDGET:
                    count += 1
                    value = minutes + other_minutes
                    if optimum is None or value < optimum:
                        optimum = value
                    if value < VALUE:
                        better += 1
                    elif value == VALUE:
                        tied += 1
                    both = wishes + other_wishes
                    granted[both] = granted.get(both, 0) + 1
        return answers(count, optimum, better, tied, granted)

    return Question(ask, float(partners[:some].sum() / partners.sum()), start)


def by_duckdb(tables: Tables) -> Question:
    """A join in SQL."""
    import duckdb  # noqa: PLC0415 - each method loads its own library
    import polars as pl  # noqa: PLC0415 - as there

    database = duckdb.connect()
    for name, table in tables.items():
        frame = pl.DataFrame(table).to_arrow()
        database.register("given", frame)
        database.execute(f"CREATE TABLE {name} AS SELECT * FROM given")  # noqa: S608 - our own names
        database.unregister("given")
    query = (
        "SELECT hotel.wishes + flight.wishes AS granted, count(*), min(hotel.minutes + flight.minutes), "
        "count(*) FILTER (WHERE hotel.minutes + flight.minutes < $value), "
        "count(*) FILTER (WHERE hotel.minutes + flight.minutes = $value) "
        "FROM hotel JOIN flight USING (dates) WHERE hotel.price + flight.price <= $budget GROUP BY granted"
    )
    given = {"value": VALUE, "budget": BUDGET}
    return Question(lambda: summed(database.execute(query, given).fetchall()))


def by_polars(tables: Tables) -> Question:
    """A join by the streaming engine."""
    import polars as pl  # noqa: PLC0415 - as there

    frames = [pl.DataFrame(table).lazy() for table in tables.values()]
    value = pl.col("minutes") + pl.col("minutes_right")
    query = (
        frames[0]
        .join(frames[1], on="dates")
        .filter(pl.col("price") + pl.col("price_right") <= BUDGET)
        .group_by(granted=pl.col("wishes") + pl.col("wishes_right"))
        .agg(pl.len(), value.min().alias("best"), (value < VALUE).sum().alias("less"), (value == VALUE).sum())
    )
    return Question(lambda: summed(query.collect(engine="streaming").rows()))


def summed(rows: list[tuple[int, ...]]) -> Answers:
    """The answers from those for each number of wishes."""
    count, better, tied = (sum(row[column] for row in rows) for column in (1, 3, 4))
    optimum = min((row[2] for row in rows), default=None)
    return answers(count, optimum, better, tied, {row[0]: row[1] for row in rows})


METHODS: dict[str, Callable[[Tables], Question]] = {
    "cobench": by_cobench,
    "papers": by_papers,
    "duckdb": by_duckdb,
    "polars": by_polars,
}


def runs_of(name: str, offers: int, wanted: int) -> int:
    """How often a method runs: once where it takes long."""
    slow_from = EXTRAPOLATED_ABOVE if name == "papers" else ONE_RUN_FROM
    return max(7, wanted) if name == "cobench" else 1 if offers >= slow_from else wanted


def timed(work: Callable[[], Any]) -> tuple[float, Any]:
    """Seconds that some work takes, and what it gives."""
    started = time.perf_counter()
    found = work()
    return time.perf_counter() - started, found


def child(name: str, offers: int, runs: int) -> dict[str, Any]:
    """What one method does in this process, warm: seconds of each run, answers, and the peak of memory."""
    method = METHODS[name]
    warming = min(offers, EXTRAPOLATED_ABOVE if name == "cobench" else 1_000)
    warm = method(tables_of(warming))
    for _ in range(10 if name == "cobench" else 1):  # compiles the kernels, once there is enough to do
        warm.ask()
    question = method(tables_of(offers))
    seconds: list[float] = []
    found: Answers = {}
    for _ in range(runs):
        needed, found = timed(question.ask)
        seconds.append(needed)
    result = {"method": name, "offers": offers, "runs": [round(one, 6) for one in seconds], "peak_mb": peak_mb()}
    if question.start is not None and question.share < 1:
        start, _ = timed(question.start)
        whole = start + (statistics.median(seconds) - start) / question.share
        return {
            **result,
            "seconds": round(whole, 3),
            "start": round(start, 3),
            "extrapolated": round(question.share, 5),
        }
    return {**result, "seconds": round(statistics.median(seconds), 6), "answers": found}


def in_child(name: str, offers: int, runs: int) -> dict[str, Any]:
    """The same in a process of its own."""
    command = [sys.executable, __file__, "--child", name, "--sizes", str(offers), "--repeat", str(runs)]
    done = subprocess.run(command, check=True, stdout=subprocess.PIPE, text=True)
    return dict(json.loads(done.stdout))


def bandwidth() -> float:
    """Bytes per second at which one core reads memory: the median of some sums over 256 MiB.

    In a child, too: on Linux the peak of a process begins with what its parent had.
    """
    values = np.ones(1 << 25, np.int64)
    seconds: list[float] = []
    for _ in range(7):
        started = time.perf_counter()
        values.sum()
        seconds.append(time.perf_counter() - started)
    return values.nbytes / statistics.median(seconds)


def measured(offers: int, names: list[str], repeat: int, read: float) -> Iterator[dict[str, Any]]:
    """The results for one size, each with its ratio to the first, which is ours."""
    floor = 2 * len(FIELDS) * 8 * offers / read
    ours = 0.0
    for name in names:
        result = in_child(name, offers, runs_of(name, offers, repeat))
        ours = ours or result["seconds"]
        result["times_cobench"] = round(result["seconds"] / ours, 1)
        result["times_floor"] = round(result["seconds"] / floor, 1)
        yield result


def line(result: dict[str, Any]) -> str:
    """A result for people."""
    name = result["method"] + (" *" if "extrapolated" in result else "")
    return (
        f"{result['offers']:>13,}  {name:10} {result['seconds']:>12.4f} {result['times_cobench']:>12,.1f} "
        f"{result['times_floor']:>12,.0f} {result['peak_mb']:>6.0f}"
    )


def main() -> int:
    """Measures, prints a table and writes the results."""
    parser = argparse.ArgumentParser(description=(__doc__ or "").partition("\n")[0])
    parser.add_argument("--sizes", default="1e4,1e5,1e6", help="offers in each of the two tables")
    parser.add_argument("--peers", default="papers,duckdb,polars", help="what is compared with cobench")
    parser.add_argument("--repeat", type=int, default=3, help="runs of each peer, where one takes less than minutes")
    parser.add_argument("--json", type=Path, metavar="FILE", help="where to write the results")
    parser.add_argument("--child", choices=[*METHODS, "bandwidth"], help=argparse.SUPPRESS)
    options = parser.parse_args()
    sizes = [int(float(size)) for size in options.sizes.split(",")]
    if options.child == "bandwidth":
        print(json.dumps({"read": bandwidth()}))
        return 0
    if options.child:
        print(json.dumps(child(options.child, sizes[0], options.repeat)))
        return 0
    names = ["cobench", *(name for name in options.peers.split(",") if name)]
    read = float(in_child("bandwidth", 0, 0)["read"])
    results: list[dict[str, Any]] = []
    print(f"{'offers a side':>13}  {'method':10} {'seconds':>12} {'x cobench':>12} {'x floor':>12} {'MB':>6}")
    for offers in sizes:
        found: list[dict[str, Any]] = []
        for result in measured(offers, names, options.repeat, read):
            print(line(result), flush=True)
            found.append(result)
        said = [result["answers"] for result in found if "answers" in result]
        if any(answer != said[0] for answer in said):
            print(f"the methods disagree: {said}", file=sys.stderr)
            return 4
        results += found
    print(f"* extrapolated from a share of the pairs; the floor reads all columns once, at {read / 1e9:.1f} GB/s")
    growth = {result["offers"]: result["seconds"] for result in results if result["method"] == "cobench"}
    for less, more in itertools.pairwise(sizes):
        print(f"cobench from {less:,} to {more:,} offers: {growth[more] / growth[less]:.1f} times the time")
    if options.json:
        options.json.parent.mkdir(parents=True, exist_ok=True)
        content = {
            "machine": {**machine(PACKAGES), "read_gb_per_s": round(read / 1e9, 2)},
            "groups": GROUPS,
            "budget": BUDGET,
            "value": VALUE,
            "results": results,
        }
        options.json.write_text(json.dumps(content, indent=1) + "\n", encoding="utf-8")
    return 0


if __name__ == "__main__":
    sys.exit(main())
