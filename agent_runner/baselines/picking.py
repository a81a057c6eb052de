"""The best plan of the offers that an agent was shown, with details looked up as far as they can matter.

Some columns stand in no search result: whoever wants to rely on them has to ask for the details of the hotel, the room
or the flight first. An offer whose details are unknown is taken at its best, as if it had everything that is asked for;
only when it would then be better than all that are known are its details looked up. So the plan that is returned uses
known offers only, and no other offer could have been better.
"""

from __future__ import annotations

from collections import defaultdict
from collections.abc import Callable, Collection, Iterator, Mapping, Sequence
from dataclasses import replace
from functools import cached_property
from itertools import product
from typing import Protocol

from ...datasets.opening import Dataset
from ...schemas import expression as ex
from ...schemas.expression import Expr, choices_of, split_and
from ...schemas.problem import Constraint, Objective, Problem
from ...schemas.syntax import Span
from ...schemas.units import Type
from ...solver.outcome import Limits, Undecided
from ...solver.questions.shown import ShownOffers
from ..judge import WORK
from .windows import columns_read

Picks = dict[str, str]
Levels = frozenset[str]  # of details: see `Details`
Shown = Mapping[str, Collection[str]]
NONE: Levels = frozenset()
_NOWHERE = Span(0, 0)


class Details(Protocol):
    """What an agent knows of offers beyond what searches show."""

    def level(self, table: str, column: str) -> str:
        """Which details tell a column of an offer table; "" for one that searches show."""
        ...

    def unknown(self, table: str, offer: str, levels: Levels) -> Sequence[str]:
        """Those of the levels that have not been looked up for an offer, in the order in which one does."""
        ...

    def look_up(self, offer: str, level: str) -> bool:
        """Asks for the details of an offer; whether there were any calls left for it."""
        ...


def cheapest(problem: Problem, choice: str) -> Problem:
    """The problem of one choice alone: what is said about it, and the lowest total price."""
    found = alone(problem, choice)
    price = problem.world.tables[problem.choices[choice]].types["total_price"]
    column = ex.Column(choice, "total_price", price, _NOWHERE)
    return replace(found, objective=Objective(column, False, problem.objective.text))


def alone(problem: Problem, choice: str) -> Problem:
    """What is said about one choice alone, with nothing to be preferred."""
    constraints = tuple(_kept(problem, lambda node: choices_of(node) == frozenset((choice,))))
    nothing = ex.Literal(0, Type("number"), _NOWHERE)
    return replace(
        problem,
        choices={choice: problem.choices[choice]},
        constraints=constraints,
        objective=Objective(nothing, False, problem.objective.text),
    )


def _kept(problem: Problem, wanted: Callable[[Expr], bool]) -> Iterator[Constraint]:
    """The constraints, of each the conjuncts that are wanted."""
    for constraint in problem.constraints:
        parts = tuple(node for node in split_and(constraint.condition) if wanted(node))
        if parts:
            whole = parts[0] if len(parts) == 1 else ex.And(parts, constraint.condition.type, constraint.condition.span)
            yield replace(constraint, condition=whole)


class Picker:
    """Picks plans for one problem out of offers that were shown."""

    def __init__(self, problem: Problem, dataset: Dataset, details: Details) -> None:
        self.problem, self._dataset, self._details = problem, dataset, details
        self._table = {name: problem.world.tables[table].base for name, table in problem.choices.items()}
        self._relaxed: dict[Levels, tuple[ShownOffers, int]] = {}
        self._alone: dict[tuple[str, Levels], ShownOffers] = {}

    @cached_property
    def _wanted(self) -> Mapping[str, Levels]:
        """Per choice the details that constraints and objective are about."""
        found: dict[str, set[str]] = {name: set() for name in self.problem.choices}
        for node in (self.problem.objective.expr, *(item.condition for item in self.problem.constraints)):
            for choice, column in columns_read(node):
                found[choice].add(self._level(choice, column))
        return {name: frozenset(levels - {""}) for name, levels in found.items()}

    def _level(self, choice: str, column: str) -> str:
        return self._details.level(self._table[choice], column)

    def best(self, within: Shown) -> tuple[int, Picks] | None:
        """The best value, in the task's own sense, and a plan that has it, its details known; None without any plan.

        It is the best of all that is within, unless the details ran out of calls: then of what is known.
        """
        while True:
            sure, hope, levels = self._compared(within)
            if hope is None or not self._look_up(hope, levels):
                return sure

    def outlook(self, within: Shown) -> int | None:
        """How good a plan may be, in the task's own sense, if what is unknown is as one wishes; None without any."""
        found = [part[0] for levels, ids in self._parts(within) if (part := self._solve(levels, ids)) is not None]
        return (max if self.problem.objective.maximize else min)(found, default=None)

    def _compared(self, within: Shown) -> tuple[tuple[int, Picks] | None, Picks | None, Levels]:
        """The best plan that is known, and one that may be better, with what is unknown of its offers."""
        sign = -1 if self.problem.objective.maximize else 1
        sure: tuple[int, Picks] | None = None
        hopes: list[tuple[int, int, Picks, Levels]] = []
        for number, (levels, part) in enumerate(self._parts(within)):
            found = self._solve(levels, part)
            if found is None:
                continue
            if not levels:
                sure = found
            else:
                hopes.append((sign * found[0], number, found[1], levels))
        if hopes:
            value, _, picks, levels = min(hopes, key=lambda item: item[:2])
            if sure is None or value < sign * sure[0] or self._unbounded(levels):
                return sure, picks, levels
        return sure, None, NONE

    def _parts(self, within: Shown) -> Iterator[tuple[Levels, Shown]]:
        """The offers divided by what is unknown of them, as unknown levels and ids per choice."""
        for parts in product(*(self._grouped(choice, within) for choice in self.problem.choices)):
            ids = dict(zip(self.problem.choices, (offers for _, offers in parts), strict=True))
            yield NONE.union(*(levels for levels, _ in parts)), ids

    def _grouped(self, choice: str, within: Shown) -> list[tuple[Levels, list[str]]]:
        wanted, offers = self._wanted[choice], list(within.get(choice, ()))
        if not wanted:
            return [(NONE, offers)]
        found: defaultdict[Levels, list[str]] = defaultdict(list)
        for offer in offers:
            found[frozenset(self._details.unknown(self._table[choice], offer, wanted))].append(offer)
        return [(levels, found[levels]) for levels in sorted(found, key=sorted)]

    def _solve(self, levels: Levels, within: Shown) -> tuple[int, Picks] | None:
        if levels not in self._relaxed:
            problem, bonus = self._hopeful(levels)
            self._relaxed[levels] = ShownOffers(problem, self._dataset, Limits(work=WORK)), bonus
        offers, bonus = self._relaxed[levels]
        try:
            found = offers.best(within)
        except Undecided:
            return None  # too much to compare: then none of these is picked
        return None if found is None else (found[0] + bonus, found[1])

    def _hopeful(self, levels: Levels) -> tuple[Problem, int]:
        """The problem as if all that is unknown were as one wishes, and what that adds to its values."""
        if not levels:
            return self.problem, 0
        objective, bonus = self.problem.objective, 0
        constraints = tuple(_kept(self.problem, lambda node: not self._reads(node, levels)))
        if self._reads(objective.expr, levels):
            expr: Expr = ex.Literal(0, objective.type, _NOWHERE)
            if isinstance(objective.expr, ex.Count):
                args = tuple(arg for arg in objective.expr.args if not self._reads(arg, levels))
                bonus = len(objective.expr.args) - len(args) if objective.maximize else 0
                expr = replace(objective.expr, args=args) if args else expr
            objective = replace(objective, expr=expr)
        return replace(self.problem, constraints=constraints, objective=objective), bonus

    def _unbounded(self, levels: Levels) -> bool:
        """Whether there is no telling how good an offer may be."""
        expr = self.problem.objective.expr
        return self._reads(expr, levels) and not isinstance(expr, ex.Count)

    def _reads(self, node: Expr, levels: Levels) -> bool:
        return any(self._level(choice, column) in levels for choice, column in columns_read(node))

    def _look_up(self, picks: Picks, levels: Levels) -> bool:
        """Looks up what is unknown of the offers of a plan, one level of each."""
        return all(
            self._details.look_up(offer, unknown[0])
            for choice, offer in picks.items()
            if (unknown := self._details.unknown(self._table[choice], offer, self._wanted[choice] & levels))
        )

    def look_up_all(self, within: Shown) -> None:
        """Looks up the details of every offer that what is known of it alone does not exclude."""
        for choice in self.problem.choices:
            while unknown := self._unsettled(choice, within):
                for offer, level in unknown:
                    if level in self._details.unknown(self._table[choice], offer, frozenset({level})) and not (
                        self._details.look_up(offer, level)
                    ):
                        return

    def _unsettled(self, choice: str, within: Shown) -> list[tuple[str, str]]:
        """The offers of a choice that may be in a plan, each with the details to be looked up next."""
        wanted = self._wanted[choice]
        if not wanted:
            return []
        return [
            (offer, self._details.unknown(self._table[choice], offer, wanted)[0])
            for levels, offers in self._grouped(choice, within)
            if levels
            for offer in self._fitting(choice, levels, offers)
        ]

    def fitting(self, choice: str, within: Shown) -> list[str]:
        """The offers of a choice that satisfy what is said about it alone, as far as it is known, sorted."""
        found = (self._fitting(choice, levels, offers) for levels, offers in self._grouped(choice, within))
        return sorted(offer for offers in found for offer in offers)

    def _fitting(self, choice: str, levels: Levels, offers: Sequence[str]) -> tuple[str, ...]:
        if (choice, levels) not in self._alone:
            single = alone(self.problem, choice)
            kept = tuple(_kept(single, lambda node: not self._reads(node, levels)))
            self._alone[choice, levels] = ShownOffers(replace(single, constraints=kept), self._dataset)
        return self._alone[choice, levels].fitting({choice: offers})[choice]
