"""Suites of a few tasks made on the spot, and conversations that tests play on them."""

from __future__ import annotations

import shutil
from collections.abc import Callable, Sequence
from pathlib import Path

from cobench.agent_runner.env import Env
from cobench.agent_runner.episode import View
from cobench.agent_runner.suites import Case, Suite
from cobench.agent_runner.tools.catalogue import catalogue_of
from cobench.agent_runner.tools.toolbox import Toolbox
from cobench.agent_runner.user.persona import persona_for
from cobench.cli import run
from cobench.schemas.suite import SUITE, SuiteFile

from .test_house import ROOT

PARKS = ROOT / "tasks" / "parks"


def suite_of(names: Sequence[str], folder: Path) -> Suite:
    """Some of the tasks over the bundled parks, certified by the scan, as a suite in an empty folder."""
    (folder / "tasks").mkdir()
    for name in names:
        shutil.copy(PARKS / f"{name}.yaml", folder / "tasks")
    files = [str(folder / "tasks" / f"{name}.yaml") for name in names]
    assert run(["verify", *files, "--engines", "scan", "--out", str(folder / "certificates"), "-q", "--json"]) == 0
    facts = SuiteFile(name="few", version="1", seed=1, tasks=tuple(names), sample=tuple(names))
    (folder / SUITE).write_bytes(facts.to_bytes())
    return Suite(folder, facts)


def env_of(case: Case, *, agent: str = "scripted", seed: int = 1, epoch: int = 1) -> Env:
    """A conversation about a task with the user that the seed draws."""
    persona = persona_for(seed, case.problem.id, epoch)
    return Env(case, Toolbox(catalogue_of(case.dataset)), persona, agent=agent, seed=seed, epoch=epoch)


class Scripted:
    """An agent that does in each turn what a test wrote down; the last of it from then on."""

    def __init__(self, *turns: Callable[[View], str] | str) -> None:
        self.turns = list(turns)

    def reply(self, view: View) -> str:
        turn = self.turns[min(view.turn, len(self.turns)) - 1]
        return turn if isinstance(turn, str) else turn(view)
