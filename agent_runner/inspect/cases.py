"""The conversations of an evaluation, each opened when its sample begins."""

from __future__ import annotations

from dataclasses import dataclass
from functools import lru_cache
from pathlib import Path
from threading import Lock

from ..env import Env, EnvLimits, Mode
from ..suites import Case, open_suite
from ..tools.catalogue import Catalogue, catalogue_of
from ..tools.toolbox import Toolbox
from ..user.persona import persona_for


class World:
    """A suite and the catalogues of its datasets, which stay open from one task to the next; used from any thread."""

    def __init__(self, suite: str) -> None:
        self._suite = open_suite(suite)
        self._catalogues: dict[Path, Catalogue] = {}
        self._lock = Lock()

    def opened(self, task: str) -> tuple[Case, Toolbox]:
        """A case, and tools for a conversation about it. Raises InputError for what is missing or does not fit."""
        with self._lock:
            case = self._suite.case(task)
            folder = case.dataset.folder
            if folder not in self._catalogues:
                self._catalogues[folder] = catalogue_of(case.dataset)
            return case, Toolbox(self._catalogues[folder])


world = lru_cache(maxsize=1)(World)  # evaluations of several models have the same one


@dataclass(frozen=True, slots=True)
class Cases:
    """New conversations about the tasks of a suite."""

    suite: str
    seed: int
    mode: Mode
    limits: EnvLimits

    def env(self, task: str, agent: str, epoch: int) -> Env:
        """A conversation that begins. Raises InputError for a task, data or certificate that is missing or wrong."""
        case, tools = world(self.suite).opened(task)
        persona = persona_for(self.seed, task, epoch)
        return Env(
            case, tools, persona, agent=agent, seed=self.seed, epoch=epoch, mode=self.mode, limits=self.limits
        )  # fmt: skip
