"""What Natural Plan's own checker says of submitted plans, told from our violations; and where the prompt says else.

    cobench convert natural-plan SRC --out CONVERTED --patch benchmarks/external/natural_plan_patch.yaml
    python benchmarks/external/natural_plan.py CONVERTED

The checker behind the published verdicts is lenient. Told from the verdicts themselves, it

- does not check how long a stay or a meeting is, whether a city or a person comes twice, nor whether all cities are
  visited: `LENIENT` names these clauses (`cobench score --ignore` takes them);
- knows friends by name only: it does not read where a meeting is said to be, and passes over whoever is no friend;
- calls a meeting plan correct when it lists at least as many meetings, whoever is met, as the golden plan does.

What cannot be told from violations, and is therefore not reproduced, has its cause by `cause`.
"""

from __future__ import annotations

import argparse
import json
from collections import Counter
from collections.abc import Iterator, Mapping
from dataclasses import dataclass
from pathlib import Path
from typing import Any

from cobench.datasets.opening import open_dataset
from cobench.schemas.plan import Plan
from cobench.schemas.problem import Problem, pose
from cobench.schemas.task import load_task
from cobench.solver.checker.check import Data, Evaluation, evaluate, open_data

LENIENT = frozenset({"trip.lasts", "trip.twice", "trip.number", "day.lasts", "day.twice"})
GOLDEN = "golden"
JUDGED = ("Correct", "Wrong plan")  # the published verdicts on a plan; the others say that there was none

# Why a published verdict is not reproduced, by its first word and what we find broken.
_COVERED = (
    "it asks that a stay covers the days of an event; the task, that it lies within them: the same for stays of the "
    "right length, which it does not ask for"
)
_CAUSES = {
    "Wrong plan: event_range": _COVERED,
    "Wrong plan: flight": "the flight is one that the source lost and the patch puts back",
    "Wrong plan: meeting_duration": "it subtracts hours as floats: 16:31 - 15:31 is 0.9999999999999982",
}


@dataclass(frozen=True, slots=True)
class Judged:
    """A submission, what was published of it, and the same twice from our evaluation (None: no plan to be read).

    `lenient`: whether the published checker should call it correct. `strict`: what is wrong with it by the prompt.
    """

    task: str
    agent: str
    published: str
    lenient: bool | None
    strict: tuple[str, ...] | None

    @property
    def correct(self) -> bool:
        """Whether it was published as correct."""
        return self.published == JUDGED[0]


def judged(folder: Path) -> Iterator[Judged]:
    """The submitted plans in a converted folder that others have judged, in the order of the file."""
    lines = [json.loads(line) for line in (folder / "submissions.jsonl").read_text("utf-8").splitlines()]
    golden = {line["task"]: line["answer"]["picks"] for line in lines if line["agent"] == GOLDEN}
    opened: dict[str, tuple[Problem, Data]] = {}
    for line in lines:
        task, picks = line["task"], line["answer"].get("picks") if isinstance(line["answer"], dict) else None
        if line["published"].partition(":")[0] not in JUDGED:
            continue
        if task not in opened:
            opened[task] = opened_task(folder / "tasks" / f"{task}.yaml")
        problem, data = opened[task]
        about = task, line["agent"], line["published"]
        if picks is None:
            yield Judged(*about, None, None)
            continue
        enough = "day" not in picks or len(picks["day"]) >= len(golden[task]["day"])
        lenient = evaluate(problem, data, Plan(picks=as_read(picks, problem, data)))
        kept = [found for found in lenient.violations if found.constraint not in LENIENT]
        yield Judged(
            *about, enough and not kept and not lenient.unknown, broken(evaluate(problem, data, Plan(picks=picks)))
        )


def opened_task(path: Path) -> tuple[Problem, Data]:
    """A task and the data for the checker."""
    file = load_task(path)
    dataset = open_dataset(file.task.dataset, path.parent)
    problem = pose(file, dataset.manifest)
    return problem, open_data(dataset.folder, problem)


def as_read(picks: Mapping[str, Any], problem: Problem, data: Data) -> dict[str, Any]:
    """The picks as the published checker reads them: friends by name alone, and nobody else."""
    if "day" not in picks:
        return dict(picks)
    named = [{**pick, "id": pick["id"].partition(" at ")[0]} for pick in picks["day"]]
    friends = {pick["id"] for pick in named if pick["id"] and not evaluate(problem, data, _one(pick["id"])).unknown}
    return {"day": [pick for pick in named if pick["id"] in friends]}


def _one(person: str) -> Plan:
    return Plan.of({"day": person})


def broken(found: Evaluation) -> tuple[str, ...]:
    """The names of what a plan violates; `unknown offer` for what is none."""
    unknown = ("unknown offer",) if found.unknown else ()
    return (*unknown, *dict.fromkeys(violation.constraint for violation in found.violations))


def by_clauses(item: Judged) -> bool:
    """Whether a plan is correct when only the clauses in `LENIENT` are left out, as by `cobench score --ignore`."""
    return item.strict is not None and set(item.strict) <= LENIENT


def cause(item: Judged) -> str | None:
    """Why a published verdict is not reproduced, as far as what is published and what is broken tell; None if not."""
    if item.correct:
        return _COVERED if {"trip.opens", "trip.closes"} & {*(item.strict or ())} else None
    return _CAUSES.get(item.published)


def main() -> None:
    """Prints how many published verdicts are reproduced, each that is not, and each that the prompt says else of."""
    parser = argparse.ArgumentParser(description=(__doc__ or "").partition("\n")[0])
    parser.add_argument("folder", type=Path, help="what `cobench convert natural-plan` wrote")
    found = list(judged(parser.parse_args().folder))
    same, of = Counter[str](), Counter[str]()
    for item in found:
        kind = item.task.partition("_")[0]
        of[kind] += 1
        same[kind] += item.correct == bool(item.lenient)
    for kind in of:
        print(f"{kind}: {same[kind]} of {of[kind]} verdicts reproduced")
    print(f"all: {same.total()} of {of.total()}, {same.total() / of.total():.2%}")
    missed = [item for item in found if item.correct != bool(item.lenient)]
    causes = [cause(item) or "unknown" for item in missed]
    for said, number in Counter(causes).most_common():
        print(f"\nNot reproduced, {number}: {said}")
        for item in (item for item, because in zip(missed, causes, strict=True) if because == said):
            print(f"  {item.task} {item.agent}: {item.published}; {', '.join(item.strict or ()) or 'feasible'}")
    print("\nCorrect as published, not by the prompt:")
    for item in found:
        if item.correct and item.strict != ():
            print(f"  {item.task} {item.agent}: {', '.join(item.strict or ('no plan',))}")


if __name__ == "__main__":
    main()
