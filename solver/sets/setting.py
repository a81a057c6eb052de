"""What translating expressions of one task needs to know: its offers, and the parts and quantities made so far."""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass, field

import numpy as np

from ...datasets.opening import Dataset
from ...schemas.expression import Expr, choices_of
from ...schemas.problem import Problem
from ...schemas.syntax import ExpressionText
from ..lowering.offers import Offers
from ..lowering.values import Evaluator, Values
from .pool import Pool


@dataclass(slots=True)
class Setting:
    """A task on its way to a model; `tours`: the part of each route."""

    problem: Problem
    dataset: Dataset
    offers: list[Offers]
    pool: Pool
    tours: Mapping[str, int]
    _columns: dict[tuple[int, str], Values] = field(default_factory=dict[tuple[int, str], Values])

    def number(self, choice: str) -> int:
        """The number of a choice."""
        return next(number for number, offer in enumerate(self.offers) if offer.choice == choice)

    def size(self, choice: int) -> int:
        """How many offers a choice has."""
        return len(self.offers[choice].rows)

    def single(self, node: Expr) -> int | None:
        """The one choice of exactly one row that the expression reads; None if it reads others, or nothing."""
        choices = choices_of(node)
        if len(choices) != 1 or not choices.isdisjoint(self.problem.sets):
            return None
        return self.number(next(iter(choices)))

    def evaluate(
        self, node: Expr, choice: int, text: ExpressionText, fixed: Mapping[int, Values] | None = None
    ) -> Values:
        """An expression over the offers of a choice; `fixed`: one value each for sub-expressions, by identity."""
        size = self.size(choice)
        leaves = {key: values.take(np.zeros(size, np.int64)) for key, values in (fixed or {}).items()}
        evaluator = Evaluator(
            size, lambda column: self.column(choice, column.column), self.dataset, self.problem.world, text, leaves
        )
        return evaluator.values(node)

    def over(self, size: int, node: Expr, text: ExpressionText, leaves: Mapping[int, Values]) -> Values:
        """An expression of sub-expressions whose `size` values are known, by identity."""
        world = self.problem.world
        return Evaluator(size, lambda column: leaves[id(column)], self.dataset, world, text, leaves).values(node)

    def column(self, choice: int, name: str) -> Values:
        """A column over the offers of a choice."""
        if (choice, name) not in self._columns:
            offer = self.offers[choice]
            self._columns[choice, name] = offer.table.column(name).take(offer.rows)
        return self._columns[choice, name]
