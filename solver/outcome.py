"""What an engine answered. Combinations that would lie cannot be built."""

from __future__ import annotations

import time
from dataclasses import dataclass
from enum import StrEnum
from typing import Any


class Status(StrEnum):
    """How an engine ended."""

    OPTIMAL = "optimal"  # the plan is feasible, and no plan is better
    FEASIBLE = "feasible"  # the plan is feasible; a limit stopped the proof that no plan is better
    INFEASIBLE = "infeasible"  # proved: there is no plan
    UNKNOWN = "unknown"  # a limit stopped the engine, or it declined, before anything was known


class Reason(StrEnum):
    """Why an engine stopped short of an answer."""

    TIME = "time limit"
    WORK = "work limit"
    MEMORY = "memory limit"
    RANGE = "coefficient range"  # the numbers are too large for the engine to be trusted
    WRONG = "wrong plan"  # the engine's plan does not satisfy the model
    DIED = "engine died"


class Undecided(Exception):
    """A limit left a question open: no answer, and none is guessed. Says which limit, where that is known."""


class NoPlanError(ValueError):
    """Somebody asked an outcome for a plan that it does not have."""


@dataclass(frozen=True, slots=True)
class Limits:
    """What an engine may spend: wall-clock seconds, and elementary steps (deterministic). None is no limit."""

    seconds: float | None = None
    work: int = 20_000_000_000

    def left(self, started: float) -> Limits:
        """The limits of a step that begins now, when the whole began at `started` (of time.monotonic)."""
        if self.seconds is None:
            return self
        return Limits(max(0.0, self.seconds - (time.monotonic() - started)), self.work)


@dataclass(frozen=True, slots=True)
class Outcome:
    """A status with exactly what it entails. `picked` is one row index per choice, in the model's order;
    of a model with sets, a tuple of row indices per part.

    Values are those of the model's objective, which is minimised. `bound`: no plan is below it.
    """

    status: Status
    picked: tuple[Any, ...] | None = None
    value: int | None = None
    bound: int | None = None
    reason: Reason | None = None

    def __post_init__(self) -> None:
        has_plan = self.picked is not None and self.value is not None
        if has_plan != (self.picked is not None or self.value is not None):
            raise ValueError("a plan comes with its value")
        if has_plan != (self.status in (Status.OPTIMAL, Status.FEASIBLE)):
            raise ValueError(f"status {self.status} and plan do not fit")
        if (self.reason is None) != (self.status in (Status.OPTIMAL, Status.INFEASIBLE)):
            raise ValueError(f"status {self.status} and reason do not fit")
        if self.status is Status.OPTIMAL and self.bound != self.value:
            raise ValueError("an optimum is its own bound")

    @property
    def plan(self) -> tuple[Any, ...]:
        """The picked rows; raises NoPlanError when there are none."""
        if self.picked is None:
            raise NoPlanError(f"an outcome with status {self.status} has no plan")
        return self.picked

    @property
    def best(self) -> int:
        """The value of the plan; raises NoPlanError when there is none."""
        if self.value is None:
            raise NoPlanError(f"an outcome with status {self.status} has no value")
        return self.value
