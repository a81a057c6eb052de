"""What a user gets: the wheel, built from a clean copy and installed, works from any folder. No network is used."""

from __future__ import annotations

import os
import shutil
import subprocess
import sys
import sysconfig
import venv
import zipfile
from pathlib import Path

import pytest

ROOT = Path(__file__).resolve().parent.parent
SHIPPED = (
    "__init__.py",
    "py.typed",
    "datasets/parks/dataset.yaml",
    "datasets/parks/facts/parks.csv",
    "datasets/parks/mini/dataset.yaml",
    "datasets/parks/mini/stays.parquet",
)


def run(*command: str | Path, cwd: Path) -> subprocess.CompletedProcess[str]:
    """A finished process; no variable set for the tests decides what it imports."""
    env = {name: value for name, value in os.environ.items() if not name.startswith(("PYTHON", "PYTEST", "COV"))}
    return subprocess.run(
        list(map(str, command)),
        cwd=cwd,
        env={**env, "PYTHONUTF8": "1", "PIP_NO_INDEX": "1", "PIP_DISABLE_PIP_VERSION_CHECK": "1"},
        stdin=subprocess.DEVNULL,
        capture_output=True,
        encoding="utf-8",
        timeout=300,
        check=False,
    )


@pytest.fixture(scope="module")
def wheel(tmp_path_factory: pytest.TempPathFactory, project_files: list[Path]) -> Path:
    """The wheel, built by way of the source archive from the files of the project alone."""
    copy = tmp_path_factory.mktemp("clone") / "not.a-package name"
    for path in project_files:
        (copy / path).parent.mkdir(parents=True, exist_ok=True)
        shutil.copy2(ROOT / path, copy / path, follow_symlinks=False)
    done = run(sys.executable, "-m", "build", "--no-isolation", cwd=copy)
    assert done.returncode == 0, done.stdout + done.stderr
    [built] = (copy / "dist").glob("*.whl")
    return built


@pytest.fixture(scope="module")
def installed(wheel: Path, tmp_path_factory: pytest.TempPathFactory) -> Path:
    """The programs folder of a new environment with the wheel in it; other libraries are borrowed from this one."""
    home = tmp_path_factory.mktemp("user") / "env"
    venv.create(home, with_pip=False, symlinks=os.name != "nt")
    programs = home / ("Scripts" if os.name == "nt" else "bin")
    python = programs / "python"
    done = run(sys.executable, "-m", "pip", "--python", python, "install", "--no-deps", wheel, cwd=home)
    assert done.returncode == 0, done.stdout + done.stderr
    found = run(python, "-c", "import sysconfig; print(sysconfig.get_path('purelib'))", cwd=home)
    libraries = {sysconfig.get_path("purelib"), sysconfig.get_path("platlib")}
    Path(found.stdout.strip(), "borrowed.pth").write_text("\n".join(sorted(libraries)), encoding="utf-8")
    return programs


def test_the_wheel_holds_the_package_and_nothing_else(wheel: Path, project_files: list[Path]) -> None:
    names = {name for name in zipfile.ZipFile(wheel).namelist() if ".dist-info/" not in name}
    assert all(name.startswith("cobench/") for name in names)
    inside = {name.removeprefix("cobench/") for name in names}
    assert set(SHIPPED) <= inside
    project = {path.as_posix() for path in project_files}
    assert inside <= project
    code = {
        name for name in project if name.endswith(".py") and not name.startswith(("tests/", "benchmarks/", "docs/"))
    }
    assert code <= inside
    data = {
        name for name in project if name.startswith(("tasks/parks/", "schemas/")) and name.endswith((".yaml", ".json"))
    }
    assert data <= inside


def test_it_is_imported_from_where_it_was_installed(installed: Path, tmp_path: Path) -> None:
    done = run(installed / "python", "-W", "error", "-c", "import cobench; print(cobench.__file__)", cwd=tmp_path)
    assert done.returncode == 0, done.stderr
    assert installed.parent in Path(done.stdout.strip()).parents


def test_its_command_verifies_a_shipped_task(installed: Path, tmp_path: Path) -> None:
    if not (ROOT / "cli" / "__init__.py").exists():
        pytest.skip("there is no command line yet")
    tasks = sorted(installed.parent.rglob("cobench/tasks/parks/*.yaml"))
    if not tasks:
        pytest.skip("there are no shipped tasks yet")
    helped = run(installed / "cobench", "--help", cwd=tmp_path)
    assert helped.returncode == 0, helped.stderr
    done = run(installed / "cobench", "verify", tasks[0], cwd=tmp_path)
    assert done.returncode == 0, done.stdout + done.stderr
    written = [path for path in installed.parent.rglob("*.cert.json") if "compass" not in path.parts]
    assert not written, "it wrote into the installed package"
