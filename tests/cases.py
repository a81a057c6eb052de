"""Cases of the tasks on the parks world that come with cobench, each made once, for tests of conversations."""

from __future__ import annotations

from functools import cache
from pathlib import Path

import cobench
from cobench.agent_runner.suites import Case
from cobench.agent_runner.tools.catalogue import Catalogue, catalogue_of
from cobench.datasets.opening import Dataset, open_dataset
from cobench.schemas.canonical import narrow
from cobench.schemas.episode import Persona
from cobench.schemas.problem import pose
from cobench.schemas.task import load_task
from cobench.solver.certify import certify
from cobench.solver.checker.opened import Opened

ROOT = Path(cobench.__file__).parent
FILES = sorted((ROOT / "tasks" / "parks").glob("*.yaml"))
PERSONA = Persona(revelation="slow", trust="questioning", checking="reliable", style=1, permille=400)
OPENED = Opened()


@cache
def world() -> Dataset:
    """The parks world that comes with cobench."""
    return open_dataset("parks")


@cache
def catalogue() -> Catalogue:
    """What tools know of it."""
    return catalogue_of(world())


@cache
def case_of(path: Path) -> Case | None:
    """The case of a task; None of one without a solution."""
    file, dataset = load_task(path), world()
    problem = pose(file, dataset.manifest)
    certificate = certify(file, dataset)
    if certificate.claims.optimum is None:
        return None
    data = OPENED(dataset.folder, problem)
    return Case(file, problem, dataset, data, certificate, narrow(certificate.claims.optimum.value))
