"""What a command costs from the shell: whole processes, beside Python itself, `import click`, and a script in SQL.

    python benchmarks/startup.py --json benchmarks/results/startup.json

Every round starts each command once, so that all see the same machine. `wall` is the median of the seconds until a
process has ended, `cpu` of the seconds that it computed, which others on the machine disturb less, and `ratio` of the
wall times to that of `import click` in the same round. Modules are compiled beforehand, as after an installation.

The task is the one in the README. The script is what papers on planning benchmarks do: it filters offers in SQLite and
loops over all pairs. Its database is made before, with indexes. All must find the same optimum and number of plans,
else the script ends with exit code 4 and writes nothing.
"""

from __future__ import annotations

import argparse
import json
import os
import sqlite3
import statistics
import subprocess
import sys
import tempfile
import time
from dataclasses import dataclass, field
from pathlib import Path
from typing import Any

import pyarrow.parquet as pq
from machine import machine

ROOT = Path(__file__).resolve().parent.parent
TASK = ROOT / "tasks" / "parks" / "parks-2-01-zion-weekend.yaml"
DATA = ROOT / "datasets" / "parks" / "mini"
BASE = "import click"
TABLES = {"hotels": "hotel_id", "rooms": "config", "stays": "config", "trips": "template", "round_trips": "template",
          "serves": "airport"}  # fmt: skip
LIBRARIES = ("numpy", "pyarrow", "pydantic", "rich", "polars", "pandas", "numba", "ortools", "pulp", "highspy")
PAPERS = """
import json, sqlite3, sys
base = sqlite3.connect(sys.argv[1])
hotels = base.execute('''
    SELECT check_in, check_out, (2 + capacity) / capacity * room_price FROM stays JOIN rooms USING (config)
    JOIN hotels USING (hotel_id) WHERE park = 'Zion' AND has_pool AND available >= (2 + capacity) / capacity
    AND strftime('%w', check_in * 86400, 'unixepoch') = '5' AND nights IN (2, 3)''').fetchall()
flights = base.execute('''
    SELECT departs_on, returns_on, 3 * fare FROM round_trips JOIN trips USING (template) WHERE origin = 'ORD'
    AND destination IN (SELECT airport FROM serves WHERE park = 'Zion') AND seats >= 3''').fetchall()
plans, best = 0, None
for check_in, check_out, price in hotels:
    for departs_on, returns_on, fare in flights:
        if departs_on == check_in and returns_on == check_out and price + fare <= 180000:
            plans += 1
            best = price + fare if best is None else min(best, price + fare)
print(json.dumps([plans, best]))
"""


@dataclass
class Command:
    """A command line, and what was measured of it in each round."""

    line: list[str]
    wall: list[float] = field(default_factory=list[float])
    cpu: list[float] = field(default_factory=list[float])

    def run(self, environment: dict[str, str], kept: bool) -> None:
        """Starts it once, and keeps the times if it is no rehearsal."""
        started = time.perf_counter()
        process = subprocess.Popen(self.line, stdout=subprocess.DEVNULL, env=environment, cwd=ROOT)
        _, status, used = os.wait4(process.pid, 0)
        wall = time.perf_counter() - started
        process.returncode = os.waitstatus_to_exitcode(status)
        if process.returncode:
            raise SystemExit(f"{' '.join(self.line)} ended with exit code {process.returncode}")
        if kept:
            self.wall.append(wall)
            self.cpu.append(used.ru_utime + used.ru_stime)


def commands(folder: Path) -> dict[str, Command]:
    """What is measured, by name. The certificate and the plan are in `folder` already."""
    certificate, task = folder / f"{TASK.stem}.cert.json", str(TASK)
    lines = {
        "python": ["-c", "pass"],
        BASE: ["-c", BASE],
        "cobench --version": ["-m", "cobench", "--version"],
        "cobench --help": ["-m", "cobench", "--help"],
        "cobench score": ["-m", "cobench", "score", task, str(folder / "plan.json"), "--certificate", str(certificate)],
        "cobench check": ["-m", "cobench", "check", str(certificate)],
        "cobench verify --engines scan": ["-m", "cobench", "verify", task, "--engines", "scan", "--out", str(folder)],
        "cobench verify --engines all": ["-m", "cobench", "verify", task, "--out", str(folder)],
        "script in SQL and Python": ["-c", PAPERS, str(folder / "parks.db")],
    }
    return {name: Command([sys.executable, *line]) for name, line in lines.items()}


def prepare(folder: Path, environment: dict[str, str]) -> bool:
    """Makes certificate, plan and database; returns whether the certificate and the script agree."""
    for name in ("verify --engines all", "verify --engines scan"):
        commands(folder)[f"cobench {name}"].run(environment, False)
    claims = json.loads((folder / f"{TASK.stem}.cert.json").read_bytes())["claims"]
    (folder / "plan.json").write_text(json.dumps({"picks": claims["optimum"]["plan"]["picks"]}), encoding="utf-8")
    with sqlite3.connect(folder / "parks.db") as base:
        for table, index in TABLES.items():
            _copy(base, table, index)
    base.close()
    line = commands(folder)["script in SQL and Python"].line
    said = json.loads(subprocess.run(line, capture_output=True, check=True).stdout)
    return said == [claims["count"]["at_least"], claims["optimum"]["value"]]


def _copy(base: sqlite3.Connection, table: str, index: str) -> None:
    """One table of the dataset, with an index; dates become days since 1970-01-01."""
    found = pq.ParquetFile(DATA / f"{table}.parquet").read()
    columns = [column.cast("int32") if str(column.type).startswith("date32") else column for column in found.columns]
    base.execute(f"CREATE TABLE {table} ({', '.join(found.column_names)})")
    marks = ", ".join("?" * len(columns))
    rows = zip(*(column.to_pylist() for column in columns), strict=True)
    base.executemany(f"INSERT INTO {table} VALUES ({marks})", rows)  # noqa: S608 - names of our own tables
    base.execute(f"CREATE INDEX {table}_{index} ON {table} ({index})")


def loaded(line: list[str], environment: dict[str, str]) -> list[str]:
    """Which of the large libraries a `cobench` command has loaded when it ends."""
    report = f"print(*sorted({set(LIBRARIES)!r} & set(sys.modules)), file=sys.stderr)"
    code = f"import sys\nfrom cobench.cli import run\nrun(sys.argv[1:])\n{report}"
    done = subprocess.run(
        [sys.executable, "-c", code, *line[3:]],
        capture_output=True,
        encoding="utf-8",
        check=True,
        env=environment,
        cwd=ROOT,
    )
    return done.stderr.splitlines()[-1].split()


def measured(name: str, command: Command, base: Command, environment: dict[str, str]) -> dict[str, Any]:
    """One line of the results."""
    ratios = [own / other for own, other in zip(command.wall, base.wall, strict=True)]
    return {
        "command": name,
        "wall_ms": round(1000 * statistics.median(command.wall)),
        "cpu_ms": round(1000 * statistics.median(command.cpu)),
        "ratio": round(statistics.median(ratios), 2),
        "cpu_ratio": round(statistics.median(command.cpu) / statistics.median(base.cpu), 2),
        **({"loads": loaded(command.line, environment)} if "cobench" in command.line else {}),
    }


def main() -> int:
    """Measures, prints a table and writes the results."""
    parser = argparse.ArgumentParser(description=(__doc__ or "").partition("\n")[0])
    parser.add_argument("--rounds", type=int, default=11)
    parser.add_argument("--json", type=Path, metavar="FILE", help="where to write the results")
    options = parser.parse_args()
    with tempfile.TemporaryDirectory() as name:
        folder = Path(name)
        environment = {**os.environ, "PYTHONPYCACHEPREFIX": str(folder / "compiled")}
        environment.pop("PYTHONDONTWRITEBYTECODE", None)
        if not prepare(folder, environment):
            print("cobench and the script disagree", file=sys.stderr)
            return 4
        measures = commands(folder)
        for number in range(options.rounds + 1):  # the first one compiles
            for command in measures.values():
                command.run(environment, number > 0)
        results = [measured(name, item, measures[BASE], environment) for name, item in measures.items()]
    for item in results:
        times = f"{item['wall_ms']:>6} ms {item['cpu_ms']:>6} ms {item['ratio']:>6.1f} {item['cpu_ratio']:>6.1f}"
        print(f"{item['command']:30} {times}  {' '.join(item.get('loads', []))}")
    if options.json:
        options.json.parent.mkdir(parents=True, exist_ok=True)
        content = {
            "machine": machine([*LIBRARIES, "click"]),
            "task": TASK.stem,
            "rounds": options.rounds,
            "processes_waiting": round(os.getloadavg()[0], 1),
            "results": results,
        }
        options.json.write_text(json.dumps(content, indent=1) + "\n", encoding="utf-8")
    return 0


if __name__ == "__main__":
    sys.exit(main())
