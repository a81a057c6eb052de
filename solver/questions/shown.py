"""The best plan among some of the offers: what an agent could have recommended that was shown no others."""

from __future__ import annotations

from collections.abc import Collection, Mapping
from functools import cached_property

import numpy as np

from ...datasets.opening import Dataset
from ...schemas.problem import Problem
from .. import scan
from ..lower import Lowered
from ..lowering.narrow import feasible
from ..outcome import Limits, Status, Undecided


class ShownOffers:
    """Answers for one problem and many sets of offers; the tables are looked through once, when first asked."""

    def __init__(self, problem: Problem, data: Dataset, limits: Limits | None = None) -> None:
        self._problem, self._data, self._limits = problem, data, limits or Limits()

    @cached_property
    def _lowered(self) -> Lowered:
        return feasible(self._problem, self._data)

    @cached_property
    def _row_of(self) -> tuple[dict[str, int], ...]:
        """Per choice the row of each offer that satisfies what is said about its choice alone, by id."""
        lowered = self._lowered
        return tuple(
            {name: row for row, name in enumerate(lowered.names(offers, choice, range(len(choice))))}
            for offers, choice in zip(lowered.offers, lowered.model.choices, strict=True)
        )

    def fitting(self, within: Mapping[str, Collection[str]]) -> dict[str, tuple[str, ...]]:
        """Per choice those of the offers that satisfy what is said about their choice alone, sorted.

        With several choices an offer may be missing that can be seen to be in no plan, whatever the others are.
        """
        choices = self._lowered.model.choices
        return {
            choice.name: tuple(sorted(name for name in within.get(choice.name, ()) if name in known))
            for choice, known in zip(choices, self._row_of, strict=True)
        }

    def best(self, within: Mapping[str, Collection[str]]) -> tuple[int, dict[str, str]] | None:
        """The best value in the task's own sense, and a plan that has it as ids per choice; None without any plan.

        `within`: ids per choice; a choice that is missing has none, ids that are no offers are passed over. The same as
        certifying with this `within`. Raises Undecided when a limit came first.
        """
        model, rows = self._lowered.model, {}
        for number, choice in enumerate(model.choices):
            known = self._row_of[number]
            found = sorted({known[name] for name in within.get(choice.name, ()) if name in known})
            if not found:
                return None
            rows[number] = np.array(found, np.int64)
        narrowed = model.narrowed(rows)
        outcome = scan.solve(narrowed, self._limits)
        if outcome.status is Status.INFEASIBLE:
            return None
        if outcome.status is not Status.OPTIMAL or outcome.picked is None:
            raise Undecided(str(outcome.reason))
        return (-outcome.best if model.maximize else outcome.best), self._lowered.ids(narrowed, outcome.picked)
