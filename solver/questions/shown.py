"""The best plan among some of the offers: what an agent could have recommended that was shown no others."""

from __future__ import annotations

from collections.abc import Collection, Iterable, Mapping
from functools import cached_property

import numpy as np

from ...datasets.opening import Dataset
from ...schemas.problem import Problem
from .. import scan
from ..lower import Lowered
from ..lowering.narrow import feasible
from ..lowering.offers import Offers
from ..outcome import Limits, Status, Undecided


class ShownOffers:
    """Answers for one problem and many sets of offers; the tables are looked through once, when first asked."""

    def __init__(self, problem: Problem, data: Dataset, limits: Limits | None = None) -> None:
        self._problem, self._data, self._limits = problem, data, limits or Limits()
        self._known: tuple[dict[str, int], ...] = tuple({} for _ in problem.choices)  # rows by id, -1 for no row

    @cached_property
    def _lowered(self) -> Lowered:
        return feasible(self._problem, self._data)

    def _rows(self, number: int, names: Iterable[str]) -> dict[str, int]:
        """The offers among these that satisfy what is said about their choice alone, and the row of each."""
        known, new = self._known[number], [name for name in names if name not in self._known[number]]
        if new:
            choice, table = self._lowered.model.choices[number], self._lowered.offers[number].table
            offers = Offers(choice.name, table, choice.rows)
            rows = offers.find(new).tolist()
            known.update(dict.fromkeys(new, -1))
            known.update(zip(offers.ids(rows), rows, strict=True))
        return {name: known[name] for name in names if known[name] >= 0}

    def fitting(self, within: Mapping[str, Collection[str]]) -> dict[str, tuple[str, ...]]:
        """Per choice those of the offers that satisfy what is said about their choice alone, sorted.

        With several choices an offer may be missing that can be seen to be in no plan, whatever the others are.
        """
        choices = self._lowered.model.choices
        return {
            choice.name: tuple(sorted(self._rows(number, within.get(choice.name, ()))))
            for number, choice in enumerate(choices)
        }

    def best(self, within: Mapping[str, Collection[str]]) -> tuple[int, dict[str, str]] | None:
        """The best value in the task's own sense, and a plan that has it as ids per choice; None without any plan.

        `within`: ids per choice; a choice that is missing has none, ids that are no offers are passed over. The same as
        certifying with this `within`. Raises Undecided when a limit came first.
        """
        model, rows = self._lowered.model, {}
        for number, choice in enumerate(model.choices):
            found = sorted(set(self._rows(number, within.get(choice.name, ())).values()))
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
