"""What each command loads: a score needs no engine, a check neither engine nor lowering, and nothing needs pandas."""

from __future__ import annotations

import json
import os
import subprocess
import sys
from pathlib import Path

import pytest

ROOT = Path(__file__).resolve().parent.parent
TASK = "tasks/parks/parks-2-01-zion-weekend.yaml"
ENGINES = {"numba", "llvmlite", "ortools", "pulp", "highspy"}
WATCHED = {
    *ENGINES,
    *(f"cobench.solver.{name}" for name in ("certify", "lower", "scan", "conflicts", "isolate", "cpsat", "mip")),
    *("polars", "pyarrow.compute", "pyarrow.dataset", "numpy", "pyarrow", "pydantic", "rich"),
}
CLAIMING = {f"cobench.solver.{name}" for name in ("certify", "lower", "scan", "isolate")}


@pytest.fixture(scope="module")
def folder(tmp_path_factory: pytest.TempPathFactory) -> Path:
    """A folder with a certificate, its plan, and a package `pandas` that ends every process that imports it."""
    folder = tmp_path_factory.mktemp("startup")
    (folder / "pandas").mkdir()
    (folder / "pandas" / "__init__.py").write_text('raise SystemExit("pandas was imported")\n', encoding="utf-8")
    loaded_by(folder, "verify", TASK, "--engines", "scan", "--out", str(folder))
    certificate = json.loads((folder / f"{Path(TASK).stem}.cert.json").read_bytes())
    plan = {"picks": certificate["claims"]["optimum"]["plan"]["picks"]}
    (folder / "plan.json").write_text(json.dumps(plan), encoding="utf-8")
    return folder


def loaded_by(folder: Path, *command: str) -> set[str]:
    """The watched modules that a command has loaded when it ends, where importing pandas would end it at once."""
    report = f"sys.stderr.write('\\n' + ' '.join({WATCHED!r} & set(sys.modules)))"
    code = f"import sys\nfrom cobench.cli import run\ncode = run(sys.argv[1:])\n{report}\nsys.exit(code)"
    path = os.pathsep.join(filter(None, (str(folder), os.environ.get("PYTHONPATH"))))
    environment = {**os.environ, "PYTHONPATH": path}
    done = subprocess.run(
        [sys.executable, "-c", code, *command],
        capture_output=True, encoding="utf-8", timeout=60, check=False, env=environment, cwd=ROOT,
    )  # fmt: skip
    assert done.returncode == 0, done.stderr
    return set(done.stderr.splitlines()[-1].split())


@pytest.mark.parametrize("option", ["--version", "--help"])
def test_what_is_said_of_the_program_loads_no_library(folder: Path, option: str) -> None:
    assert loaded_by(folder, option) <= {"rich"}


@pytest.mark.parametrize("form", [[], ["--json"]])
def test_a_score_from_a_certificate_loads_no_engine(folder: Path, form: list[str]) -> None:
    certificate = folder / f"{Path(TASK).stem}.cert.json"
    loaded = loaded_by(folder, "score", TASK, str(folder / "plan.json"), "--certificate", str(certificate), *form)
    assert loaded == {"numpy", "pyarrow", "pydantic", *(() if form else ("rich",))}


def test_a_check_loads_neither_engine_nor_lowering(folder: Path) -> None:
    loaded = loaded_by(folder, "check", str(folder / f"{Path(TASK).stem}.cert.json"))
    assert loaded == {"numpy", "pyarrow", "pydantic"}


def test_verifying_by_the_scan_of_a_small_task_loads_no_solver(folder: Path) -> None:
    loaded = loaded_by(folder, "verify", TASK, "--engines", "scan", "--out", str(folder), "--json")
    assert loaded == {"numpy", "pyarrow", "pydantic", *CLAIMING}


def test_importing_pandas_would_be_noticed(folder: Path) -> None:
    environment = {**os.environ, "PYTHONPATH": str(folder)}
    done = subprocess.run([sys.executable, "-c", "import pandas"], capture_output=True, check=False, env=environment)
    assert b"pandas was imported" in done.stderr
