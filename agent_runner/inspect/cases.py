"""The conversations of an evaluation, each opened when its sample begins."""

from __future__ import annotations

from pathlib import Path
from threading import Lock
from typing import Any

from ..env import Env, EnvLimits, Mode
from ..suites import open_suite
from ..tools.catalogue import Catalogue, catalogue_of
from ..tools.toolbox import Toolbox
from ..user.persona import persona_for


class Cases:
    """Opens conversations about the tasks of a suite, from any thread; tables stay open from one to the next."""

    def __init__(self, suite: str, *, seed: int, mode: Mode, limits: EnvLimits) -> None:
        self._suite = open_suite(suite)
        self._seed, self._mode, self._limits = seed, mode, limits
        self._catalogues: dict[Path, Catalogue] = {}
        self._lock = Lock()

    def env(self, task: str, agent: str, epoch: int) -> Env:
        """A new conversation. Raises InputError for a task, data or certificate that is missing or does not fit."""
        with self._lock:
            case = self._suite.case(task)
            folder = case.dataset.folder
            if folder not in self._catalogues:
                self._catalogues[folder] = catalogue_of(case.dataset)
            toolbox = Toolbox(self._catalogues[folder])
        named: dict[str, Any] = {"agent": agent, "seed": self._seed, "epoch": epoch, "mode": self._mode}
        return Env(case, toolbox, persona_for(self._seed, task, epoch), limits=self._limits, **named)
