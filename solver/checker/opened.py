"""The checker's tables, kept open from one task to the next."""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass
from pathlib import Path

from ...schemas.problem import Problem
from ...schemas.world import RelationTable, Table
from .check import Data, open_data

MOST_OPEN = 2  # datasets that are kept; tasks that need the same one come one after another


class Opened:
    """The checker's tables, opened when they are first needed, and kept while tasks need the same ones.

    What `open_data` returns depends on the folder, the tables and relations that a problem reaches, and their columns,
    which parameters may change: those have to be equal, else the files are read anew.
    """

    def __init__(self) -> None:
        self._open: list[tuple[_Needed, Data]] = []

    def __call__(self, folder: Path, problem: Problem) -> Data:
        """The tables and relations that a problem needs; raises as `open_data` does."""
        world = problem.world
        needed = _Needed(
            folder,
            {name: world.tables[name] for name in {*problem.tables(), *problem.choices.values()}},
            {name: world.relations[name] for name in problem.relations()},
        )
        for number, (known, data) in enumerate(self._open):
            if known == needed:
                self._open.append(self._open.pop(number))
                return data
        del self._open[: len(self._open) - MOST_OPEN + 1]
        data = open_data(folder, problem)
        self._open.append((needed, data))
        return data


@dataclass(frozen=True, slots=True)
class _Needed:
    folder: Path
    tables: Mapping[str, Table]
    relations: Mapping[str, RelationTable]
