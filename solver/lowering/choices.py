"""The choices of a problem: which offers each has, and whether columns can hold them."""

from __future__ import annotations

from collections.abc import Mapping, Sequence

from ...datasets.opening import Dataset
from ...schemas.errors import TaskError, did_you_mean
from ...schemas.problem import Problem
from .levels import levels_of
from .offers import Offers, check_unique
from .values import table_columns


def refuse_sets(problem: Problem) -> None:
    """Raises TaskError for a task with sets or routes: columns hold one row of each choice."""
    for name in problem.sets:
        raise TaskError(
            f"this is not answered for tasks with sets and routes, and '{name}' is one",
            hint="verify, solve, rank and score answer for such a task",
        )


def offered(problem: Problem, dataset: Dataset, within: Mapping[str, Sequence[str]] | None) -> list[Offers]:
    """The offers of each choice in file order, of those in `within` only the named ones.

    Raises TableError, and TaskError for a name in `within` that is no choice.
    """
    columns, levels = table_columns(problem.world, dataset), levels_of(problem.world, dataset)
    offers: list[Offers] = []
    for name, table in problem.choices.items():
        check_unique(name, levels[table])
        found = Offers.all(name, columns[table])
        if within is not None and name in within:
            found = Offers(name, found.table, found.rows[found.find(within[name])])
        offers.append(found)
    for name in within or {}:
        if name not in problem.choices:
            raise TaskError(f"no choice '{name}'", hint=did_you_mean(name, problem.choices, "choices"))
    return offers
