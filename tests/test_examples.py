"""The examples: their tables are what their CSV files say, and their answers what their authors expect."""

from __future__ import annotations

import csv
from importlib.util import find_spec
from pathlib import Path

import polars as pl
import pytest
from cobench import verification
from cobench.datasets.opening import open_dataset
from cobench.schemas.problem import pose
from cobench.schemas.task import load_task

EXAMPLES = Path(__file__).resolve().parent.parent / "examples"
TASKS = sorted(path for path in EXAMPLES.glob("*/*.yaml") if path.name != "dataset.yaml")
ENGINES = find_spec("cobench.solver.sets.lower") is not None


def test_there_are_three() -> None:
    assert [path.stem for path in TASKS] == ["day", "shop", "picnic"]


@pytest.mark.parametrize("path", sorted(EXAMPLES.glob("*/*.csv")), ids=lambda path: path.stem)
def test_a_table_is_what_its_csv_file_says(path: Path) -> None:
    with path.open(encoding="utf-8", newline="") as stream:
        written = list(csv.DictReader(stream))
    stored = pl.read_parquet(path.with_suffix(".parquet")).rows(named=True)
    assert [{name: str(value) for name, value in row.items()} for row in stored] == written


@pytest.mark.parametrize("path", TASKS, ids=lambda path: path.stem)
def test_an_example_has_tables_that_fit_it(path: Path) -> None:
    file = load_task(path)
    data = open_dataset(file.task.dataset, path.parent)
    problem = pose(file, data.manifest)
    for name in problem.tables():
        data.table(problem.world, name)
    for name in problem.relations():
        data.relation(problem.world, name)


@pytest.mark.skipif(not ENGINES, reason="needs the engines of sets and routes")
@pytest.mark.parametrize("path", TASKS, ids=lambda path: path.stem)
def test_an_example_has_the_answer_that_its_author_expects(path: Path) -> None:
    found = verification.verify(path, engines="scan")
    assert found.surprise == ""
    assert found.exit_code == 0
    assert {found.certificate.claims.status.grade.value} == {"proved"}
