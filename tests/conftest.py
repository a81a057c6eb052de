"""What all tests share: UTC, hypothesis profiles, the command line, and inputs that lie beside the repository."""

from __future__ import annotations

import os
import shutil
import subprocess
import sys
import time
from collections.abc import Callable
from pathlib import Path

import pytest
from hypothesis import HealthCheck, settings

ROOT = Path(__file__).resolve().parent.parent

os.environ["TZ"] = "UTC"
if hasattr(time, "tzset"):
    time.tzset()

settings.register_profile("default", derandomize=True, deadline=None, print_blob=True)
settings.register_profile(
    "thorough",
    max_examples=2000,
    deadline=None,
    print_blob=True,
    suppress_health_check=[HealthCheck.too_slow],
)
settings.load_profile(os.environ.get("COBENCH_HYPOTHESIS", "default"))

RunCobench = Callable[..., "subprocess.CompletedProcess[str]"]


class RootIsNoTestPackage:
    """Collects the root as a plain folder: its __init__.py is cobench's, not one that pytest should import again."""

    @pytest.hookimpl(tryfirst=True)
    def pytest_collect_directory(self, path: Path, parent: pytest.Collector) -> pytest.Collector | None:
        return pytest.Dir.from_parent(parent, path=path) if path == ROOT else None


def pytest_configure(config: pytest.Config) -> None:
    config.pluginmanager.register(RootIsNoTestPackage(), "cobench-root")


@pytest.fixture(scope="session")
def project_files() -> list[Path]:
    """The files of the project as paths from its root: what git tracks, and what is new and not ignored."""
    git = shutil.which("git")
    if git is None or not (ROOT / ".git").exists():
        pytest.skip("needs a git clone, to tell files of the project from others")
    listed = subprocess.run(
        [git, "ls-files", "-z", "--cached", "--others", "--exclude-standard"], cwd=ROOT, check=True, capture_output=True
    )
    paths = {Path(os.fsdecode(name)) for name in listed.stdout.split(b"\0") if name}
    return sorted(path for path in paths if (ROOT / path).exists())


@pytest.fixture(scope="session")
def shared() -> Path:
    """The folder of shared inputs beside the repository; the test is skipped where there is none."""
    folder = ROOT.parent / "shared"
    if not folder.is_dir():
        pytest.skip("needs the folder ../shared beside the repository")
    return folder


@pytest.fixture(scope="session")
def small_suite(tmp_path_factory: pytest.TempPathFactory) -> Path:
    """The folder of a suite of three certified tasks, one of each level; not to be changed."""
    from .small_suite import write_suite  # noqa: PLC0415 - loads the solver

    return write_suite(tmp_path_factory.mktemp("suites") / "small")


@pytest.fixture
def run_cobench(tmp_path: Path) -> RunCobench:
    """`run_cobench(*args)` runs the command in a process of its own, in an empty folder; a failure is not raised."""

    def run(
        *args: str | Path, cwd: Path | None = None, timeout: float = 120, env: dict[str, str] | None = None
    ) -> subprocess.CompletedProcess[str]:
        return subprocess.run(
            [sys.executable, "-c", "from cobench.cli import main; main()", *map(str, args)],
            cwd=cwd or tmp_path,
            env={**os.environ, "NO_COLOR": "1", "COLUMNS": "120", "PYTHONUTF8": "1", **(env or {})},
            stdin=subprocess.DEVNULL,
            capture_output=True,
            encoding="utf-8",
            timeout=timeout,
            check=False,
        )

    return run
