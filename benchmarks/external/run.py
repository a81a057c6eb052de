"""The outside proof: four public benchmarks converted, certified, scored, and compared with what others published.

    python benchmarks/external/run.py SOURCE --out DIR [--families natural-plan mmkp tau-airline travelplanner]
    python benchmarks/external/page.py

SOURCE holds the folders natural_plan, mmkp, tau_airline and travelplanner; docs/external.md says what is in them. Every
task is certified by all engines and checked, every submitted plan is scored against the certificates. The comparison of
each family goes to results/external_FAMILY.json; DIR keeps tasks, certificates and verdicts.
"""

from __future__ import annotations

import argparse
import json
import subprocess
import sys
import time
from collections import Counter
from collections.abc import Callable, Iterable
from concurrent.futures import ProcessPoolExecutor
from fractions import Fraction
from pathlib import Path
from statistics import median
from typing import Any

from cobench.agent_runner.verdict_files import read_verdict_rows
from cobench.schemas.canonical import narrow
from cobench.schemas.errors import InputError
from cobench.schemas.scored import Scored
from cobench.schemas.source import load_source
from cobench.solver.outcome import Limits
from cobench.tasks import mmkp, natural_plan, tau_airline, travelplanner
from cobench.verification import verify

HERE = Path(__file__).resolve().parent
sys.path[:0] = [str(HERE), str(HERE.parent)]  # two modules beside this one, which is no package

from machine import machine  # noqa: E402 - found only after the line above
from natural_plan import by_clauses, cause, judged  # noqa: E402 - found only after the line above

RESULTS = HERE.parent / "results"
PATCH, REQUESTS = HERE / "natural_plan_patch.yaml", HERE / "tau_requests.yaml"
SECONDS = 60.0  # for a task
SCAN_WORK = 100_000_000  # elementary steps: a scan over ten choices or more cannot end, and the engines answer at once

Record = dict[str, Any]


def certified(path: Path, out: Path) -> Record:
    """What a task's certificate claims, how each claim is known, and the seconds; the certificate goes to `out`."""
    began = time.perf_counter()
    found = verify(path, limits=Limits(SECONDS, SCAN_WORK), engines="all")
    claims = found.certificate.claims
    best = claims.optimum or claims.incumbent
    proved = claims.optimum is not None or (claims.incumbent is not None and claims.incumbent.optimal)
    (out / f"{path.stem}.cert.json").write_bytes(found.certificate.to_bytes())
    return {
        "task": path.stem,
        "status": claims.status.value,
        "optimum": narrow(best.value) if best is not None and proved else None,
        "best": narrow(best.value) if best is not None else None,
        "scale": found.certificate.objective.scale,
        "count": [str(claims.count.at_least), str(claims.count.at_most)] if claims.count else None,
        "grade": (best.grade if best is not None else claims.status.grade).value,
        "count_grade": claims.count.grade.value if claims.count else None,
        "engines": {item.engine: item.outcome.status.value for item in found.answers},
        "refuted": [item.detail for item in found.refuted],
        "choices": len(found.problem.choices),
        "seconds": round(time.perf_counter() - began, 3),
        "certify_seconds": round(found.seconds["certify"], 3),
    }


def certify_all(folder: Path, workers: int, only: Callable[[str], bool] = lambda _: True) -> list[Record]:
    """The records of a converted folder's tasks, by id."""
    paths = [path for path in sorted((folder / "tasks").glob("*.yaml")) if only(path.stem)]
    out = folder / "certificates"
    out.mkdir(exist_ok=True)
    records: list[Record] = []
    with ProcessPoolExecutor(workers) as pool:
        for record in pool.map(certified, paths, [out] * len(paths)):
            records.append(record)
            print(f"\r{folder.name}: {len(records)} of {len(paths)} certified", end="", file=sys.stderr, flush=True)
    print(file=sys.stderr)
    return records


def scored(folder: Path) -> list[Scored]:
    """The verdicts on a folder's submitted plans, by the command that anybody would use."""
    verdicts = folder / "verdicts.parquet"
    verdicts.unlink(missing_ok=True)
    asked = ["--submissions", "submissions.jsonl", "--task", "tasks", "--certificate", "certificates"]
    command = [sys.executable, "-m", "cobench", "score", *asked, "--out", verdicts.name, "-q"]
    subprocess.run(command, cwd=folder, check=True, stdout=subprocess.DEVNULL)
    return read_verdict_rows(verdicts)


def summed(records: Iterable[Record]) -> Record:
    """Grades, engines and seconds of many tasks."""
    found = list(records)
    return {
        "tasks": len(found),
        "status": Counter(record["status"] for record in found),
        "grades": Counter(record["grade"] for record in found if record["optimum"] is not None),
        "counted": sum(record["count"] is not None and record["count"][0] == record["count"][1] for record in found),
        "engines": {
            name: Counter(record["engines"][name] for record in found if name in record["engines"])
            for name in sorted({name for record in found for name in record["engines"]})
        },
        "refuted": [record["task"] for record in found if record["refuted"]],
        "median_seconds": median(record["seconds"] for record in found),
        "median_certify_seconds": median(record["certify_seconds"] for record in found),
        "seconds": round(sum(record["seconds"] for record in found), 1),
    }


def of_natural_plan(source: Path, out: Path, workers: int) -> Record:
    """Trips, meetings and calendars: golden plans, counts, and published verdicts."""
    natural_plan.convert(source / "natural_plan", out / "natural-plan", PATCH)
    natural_plan.convert(source / "natural_plan", out / "natural-plan-unpatched", None)
    records = certify_all(out / "natural-plan", workers)
    lost = certify_all(out / "natural-plan-unpatched", workers, only=patched().__contains__)
    golden = {row.task: row.kind.value for row in scored(out / "natural-plan") if row.agent == "golden"}
    kinds: dict[str, Record] = {}
    for kind in ("trip", "meeting", "calendar"):
        mine = [record for record in records if record["task"].startswith(kind)]
        kinds[kind] = {
            **summed(mine),
            "golden": Counter(golden[record["task"]] for record in mine),
            "counts": Counter(record["count"][0] for record in mine) if kind == "trip" else None,
            "least_and_most_plans": [
                min(int(record["count"][0]) for record in mine),
                max(int(record["count"][1]) for record in mine),
            ],
        }
    verdicts = list(judged(out / "natural-plan"))
    by_kind = {kind: [item for item in verdicts if item.task.startswith(kind)] for kind in kinds}
    return {
        "kinds": kinds,
        "unpatched": [
            {"task": record["task"], "status": record["status"], "grade": record["grade"]} for record in lost
        ],
        "verdicts": {
            kind: [sum(item.correct == bool(item.lenient) for item in items), len(items)]
            for kind, items in by_kind.items()
        },
        "by_clauses": sum(item.correct == by_clauses(item) for item in verdicts),
        "not_reproduced": [
            {**about(item), "cause": cause(item) or "unknown"}
            for item in verdicts
            if item.correct != bool(item.lenient)
        ],
        "correct_as_published_only": [about(item) for item in verdicts if item.correct and item.strict != ()],
    }


def patched() -> set[str]:
    """The tasks that the patch mends, as the patch says."""
    return set(load_source(PATCH, InputError).data["tasks"])


def about(item: Any) -> Record:
    """A submission by task and agent, with what was published and what is broken."""
    broken = list(item.strict) if item.strict is not None else ["unparsable"]
    return {"task": item.task, "agent": item.agent, "published": item.published, "broken": broken}


def of_mmkp(source: Path, out: Path, workers: int) -> Record:
    """Knapsacks: the optimum against the published exact and heuristic values."""
    mmkp.convert(source / "mmkp", out / "mmkp")
    records = certify_all(out / "mmkp", workers)
    published = json.loads((out / "mmkp" / "published.json").read_text(encoding="utf-8"))
    sets: dict[str, list[Record]] = {}
    for record in records:
        values = {name: text for name, text in published[record["task"]].items() if text is not None}
        best = None if record["optimum"] is None else Fraction(record["optimum"], record["scale"])
        exact = Fraction(values["Exact"]) if "Exact" in values else None
        sets.setdefault(record["task"].removeprefix("mmkp-").partition("-")[0], []).append(
            record
            | {
                "exact": values.get("Exact"),
                "agrees": best is not None and best == exact,
                "above": {
                    name: text
                    for name, text in values.items()
                    if best is not None and name != "Exact" and Fraction(text) > best
                },
                "gaps": {
                    name: round(float(1 - Fraction(text) / best), 4)
                    for name, text in values.items()
                    if best is not None and name != "Exact"
                },
            }
        )
    return {
        "sets": {
            name: {
                **summed(found),
                "closed": sum(item["optimum"] is not None for item in found),
                "agree": sum(item["agrees"] for item in found),
                "median_gaps": medians([item["gaps"] for item in found]),
            }
            for name, found in sets.items()
        },
        "instances": [
            {
                name: item[name]
                for name in ("task", "optimum", "best", "scale", "exact", "grade", "above", "engines", "gaps")
            }
            for found in sets.values()
            for item in found
        ],
    }


def medians(gaps: list[dict[str, float]]) -> dict[str, float]:
    """The median gap of each method, where it found something."""
    names = sorted({name for item in gaps for name in item})
    return {name: median(item[name] for item in gaps if name in item) for name in names}


def of_tau(source: Path, out: Path, workers: int) -> Record:
    """Flights: the three known answers, with their exact ranks."""
    tau_airline.convert(source / "tau_airline", out / "tau-airline", REQUESTS)
    records = {record["task"]: record for record in certify_all(out / "tau-airline", workers)}
    rows = [
        {
            "task": row.task,
            "published": row.published,
            "value": row.value,
            "optimum": row.optimum,
            "rank": int(row.standing.better) + 1 if row.standing is not None else None,
            "plans": row.standing.total if row.standing is not None else None,
            "grade": records[row.task]["grade"],
        }
        for row in scored(out / "tau-airline")
    ]
    return {**summed(records.values()), "answers": rows}


def of_travelplanner(source: Path, out: Path, workers: int) -> Record:
    """Trips: the least cost, and the annotated plan's gap and rank."""
    travelplanner.convert(source / "travelplanner", out / "travelplanner")
    records = {record["task"]: record for record in certify_all(out / "travelplanner", workers)}
    rows = [
        {
            "task": row.task,
            "agent": row.agent,
            "kind": row.kind.value,
            "reason": row.reason,
            "value": row.value,
            "optimum": records[row.task]["optimum"],
            "grade": records[row.task]["grade"],
            "count": records[row.task]["count"],
            "better": row.standing and str(row.standing.better),
            "tied": row.standing and str(row.standing.tied),
            "total": row.standing and str(row.standing.total),
            "violations": [item.detail for item in row.violations],
        }
        for row in scored(out / "travelplanner")
    ]
    return {**summed(records.values()), "plans": rows, "records": list(records.values())}


FAMILIES = {
    "natural-plan": of_natural_plan,
    "mmkp": of_mmkp,
    "tau-airline": of_tau,
    "travelplanner": of_travelplanner,
}


def main() -> None:
    """Runs the families and writes what came out."""
    parser = argparse.ArgumentParser(description=(__doc__ or "").partition("\n")[0])
    parser.add_argument("source", type=Path)
    parser.add_argument("--out", type=Path, required=True, help="a new folder")
    parser.add_argument("--families", nargs="+", choices=list(FAMILIES), default=list(FAMILIES))
    parser.add_argument("--workers", type=int, default=2)
    asked = parser.parse_args()
    for family in asked.families:
        began = time.perf_counter()
        found = FAMILIES[family](asked.source, asked.out, asked.workers)
        found |= {"wall_seconds": round(time.perf_counter() - began, 1), "workers": asked.workers}
        found["machine"] = machine(["ortools", "highspy", "pulp"])
        path = RESULTS / f"external_{family.replace('-', '_')}.json"
        path.write_text(json.dumps(found, indent=1, sort_keys=True) + "\n", encoding="utf-8")
        print(f"{family}: {found['wall_seconds']} s, {path.name}", file=sys.stderr)


if __name__ == "__main__":
    main()
