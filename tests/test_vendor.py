"""The plan checker as one file: it says what the checker here says, and needs nothing of ours."""

from __future__ import annotations

import json
import random
import subprocess
import sys
from pathlib import Path
from types import ModuleType
from typing import Any

import pytest
from cobench.cli import run
from cobench.datasets.opening import Dataset, open_dataset
from cobench.schemas.plan import Plan
from cobench.schemas.problem import Problem, pose
from cobench.schemas.task import load_task
from cobench.solver.checker.check import evaluate, open_data
from cobench.solver.checker.vendor import NAME, plan_checker, written

TASKS = Path(__file__).resolve().parent.parent / "tasks" / "parks"
WEEKEND = TASKS / "parks-2-01-zion-weekend.yaml"
BEST = {"hotel": "pkg_92d273b9_15_17_1", "flight": "flight_T0486_15_17"}
PLANS = [
    BEST,
    {**BEST, "hotel": "pkg_92d273b9_14_17_1"},
    {**BEST, "hotel": "pkg_92d273b9_15_17_2"},
    {**BEST, "flight": "flight_T0486"},
    {**BEST, "permit": "x"},
    {},
]


@pytest.fixture(scope="module")
def parks() -> Dataset:
    return open_dataset("parks")


def posed(path: Path, parks: Dataset) -> Problem:
    return pose(load_task(path), parks.manifest)


def carried(text: str, monkeypatch: pytest.MonkeyPatch) -> Any:
    """The file as a module."""
    module = ModuleType("carried")
    monkeypatch.setitem(sys.modules, "carried", module)
    exec(compile(text, NAME, "exec"), module.__dict__)  # noqa: S102 - we wrote it
    return module


@pytest.mark.parametrize("task", sorted(path.stem for path in TASKS.glob("*.yaml"))[::7])
def test_it_says_what_the_checker_says(task: str, parks: Dataset, monkeypatch: pytest.MonkeyPatch) -> None:
    problem = posed(TASKS / f"{task}.yaml", parks)
    data = open_data(parks.folder, problem)
    module = carried(plan_checker(problem, data), monkeypatch)
    assert (data.digests, data.relation_digests) == module.DIGESTS
    its = module.open_data(parks.folder, module.PROBLEM)
    rng = random.Random(task)  # noqa: S311
    for _ in range(30):
        ids = {
            choice: data.id(table, rng.choice(data.offered(table))) + rng.choice(["", "", "", "_1"])
            for choice, table in problem.choices.items()
        }
        ours = evaluate(problem, data, Plan.of(ids))
        plan = module.Plan({choice: (module.Pick(offer),) for choice, offer in ids.items()})
        theirs = module.evaluate(module.PROBLEM, its, plan)
        assert (theirs.value, theirs.unknown) == (ours.value, ours.unknown)
        assert [module.asdict(item) for item in theirs.violations] == [item.model_dump() for item in ours.violations]


def test_it_runs_alone(tmp_path: Path, parks: Dataset) -> None:
    assert run(["prove", str(WEEKEND), "--out", str(tmp_path), "-q"]) == 0
    problem = posed(WEEKEND, parks)
    data = open_data(parks.folder, problem)
    watched = (
        "import runpy, sys\nsys.argv = sys.argv[1:]\ntry:\n    runpy.run_path(sys.argv[0], run_name='__main__')\n"
        "finally:\n    assert not {'cobench', 'pydantic', 'ruamel', 'polars', 'numba'} & set(sys.modules)\n"
    )
    for ids in PLANS:
        (tmp_path / "plan.json").write_text(json.dumps({"picks": ids}), encoding="utf-8")
        command = [sys.executable, "-I", "-c", watched, str(tmp_path / NAME), str(parks.folder)]
        done = subprocess.run(
            [*command, str(tmp_path / "plan.json")], capture_output=True, encoding="utf-8", check=False, timeout=60
        )
        ours = evaluate(problem, data, Plan.of(ids))
        assert done.stderr == ""
        said = json.loads(done.stdout)
        assert (said["value"], said["unknown"]) == (ours.value, list(ours.unknown))
        assert said["violations"] == [item.model_dump() for item in ours.violations]
        assert done.returncode == (0 if ours.feasible else 1)


def test_it_refuses_other_tables_and_what_is_no_plan(tmp_path: Path, parks: Dataset) -> None:
    problem = posed(WEEKEND, parks)
    data = open_data(parks.folder, problem)
    text = plan_checker(problem, data)
    digest = data.digests["stays"]
    (tmp_path / "other.py").write_text(text.replace(digest, "sha256:" + "0" * 64), encoding="utf-8")
    (tmp_path / NAME).write_text(text, encoding="utf-8")
    good, bad = tmp_path / "plan.json", tmp_path / "bad.json"
    good.write_text(json.dumps({"picks": BEST}), encoding="utf-8")
    bad.write_text("[1]", encoding="utf-8")
    for arguments, said in [
        ((tmp_path / "other.py", parks.folder, good), "not the tables"),
        ((tmp_path / NAME, tmp_path, good), "the file is missing"),
        ((tmp_path / NAME, parks.folder, bad), "not a plan"),
        ((tmp_path / NAME, parks.folder), "PLAN.json"),
    ]:
        done = subprocess.run(
            [sys.executable, *map(str, arguments)], capture_output=True, encoding="utf-8", check=False, timeout=60
        )
        assert done.returncode == 2
        assert said in done.stderr
        assert "Traceback" not in done.stderr


def test_only_facts_are_written_down() -> None:
    assert written({"a": (1, None, True, "x'\n")}) == "{'a': (1, None, True, \"x'\\n\", )}"
    with pytest.raises(TypeError, match="float cannot be written"):
        written(1.5)
