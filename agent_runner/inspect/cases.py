"""The conversations of an evaluation, each opened when its sample begins."""

from __future__ import annotations

from dataclasses import dataclass
from functools import lru_cache
from threading import Lock

from ..env import Env, EnvLimits, Mode
from ..suites import Case, open_suite
from ..tools.catalogue import catalogue_of


class World:
    """A suite, whose datasets stay open from one task to the next; used from any thread."""

    def __init__(self, suite: str) -> None:
        self._suite = open_suite(suite)
        self._lock = Lock()

    def opened(self, task: str) -> Case:
        """A case, its tables read for the tools. Raises InputError for what is missing or does not fit."""
        with self._lock:
            case = self._suite.case(task)
            catalogue_of(case.dataset)  # made here, so that no two threads make it
            return case


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
        case = world(self.suite).opened(task)
        return Env.of(case, agent=agent, seed=self.seed, epoch=epoch, mode=self.mode, limits=self.limits)
