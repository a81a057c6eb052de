"""The plans of a task in the making, and what is left of them with one more feature; thousands are tried."""

from __future__ import annotations

import json
from collections.abc import Mapping
from dataclasses import dataclass, field, replace

import numpy as np
from numpy.typing import NDArray

from ...datasets.opening import Dataset
from ...schemas.errors import TaskError
from ...schemas.expression import choices_of
from ...schemas.problem import Problem, pose
from ...schemas.source import json_source
from ...schemas.task import MAX_CONSTRAINTS, read_task
from ...solver import scan
from ...solver.lowering.narrow import feasible, marked
from ...solver.model import Model
from ...solver.outcome import Limits
from .features import FEATURES, Feature
from .fundamental import COSTS

TABLES = {"hotel": "stays", "flight": "round_trips", "permit": "permits"}
WORK = 100_000_000  # elementary steps of one question about a candidate


class RejectedError(Exception):
    """Why a candidate is not let in."""


@dataclass(frozen=True, slots=True)
class Offered:
    """The rows of the offers of a table, `rows: int64[n]` ascending, and by name which have a feature: `bool[n]`."""

    rows: NDArray[np.int64]
    having: Mapping[str, NDArray[np.bool_]]


@dataclass(frozen=True, slots=True)
class Data:
    """A dataset, and for each number of guests the offers that there are for them, looked at once."""

    dataset: Dataset
    _offered: dict[int, Mapping[str, Offered]] = field(default_factory=dict[int, Mapping[str, Offered]])

    def offered(self, guests: int) -> Mapping[str, Offered]:
        """The offers by choice. Features that are about several choices are in none of them."""
        if guests not in self._offered:
            found: dict[str, Offered] = {}
            for start in range(0, len(FEATURES), MAX_CONSTRAINTS):
                some = {item.name: item.require for item in FEATURES[start : start + MAX_CONSTRAINTS]}
                problem = _posed(3, guests, some, self.dataset)
                for offers, bits in marked(problem, self.dataset):
                    having = dict(found[offers.choice].having) if offers.choice in found else {}
                    for number, constraint in enumerate(problem.constraints):
                        if choices_of(constraint.condition) == frozenset((offers.choice,)):
                            having[constraint.name] = bits & np.uint64(1 << number) != 0
                    found[offers.choice] = Offered(offers.rows, having)
            self._offered[guests] = found
        return self._offered[guests]


@dataclass(frozen=True, slots=True)
class Plans:
    """All plans for some guests that satisfy some conditions, by name; what they cost is the model's objective."""

    data: Data
    level: int
    guests: int
    require: Mapping[str, str]
    model: Model

    @classmethod
    def of(cls, data: Data, level: int, guests: int, require: Mapping[str, str]) -> Plans:
        """The plans that satisfy the conditions."""
        problem = _posed(level, guests, require, data.dataset)
        return cls(data, level, guests, require, feasible(problem, data.dataset).model)

    def with_(self, feature: Feature) -> Plans:
        """Those of the plans that have a feature, too."""
        require = {**self.require, feature.name: feature.require}
        offered = self.data.offered(self.guests)
        for number, choice in enumerate(self.model.choices):
            offers = offered[choice.name]
            if feature.name in offers.having:
                good = offers.having[feature.name][np.searchsorted(offers.rows, choice.rows)]
                return replace(self, require=require, model=self.model.narrowed({number: np.flatnonzero(good)}))
        return Plans.of(self.data, self.level, self.guests, require)

    def count(self) -> int:
        """How many there are; raises RejectedError when that is too much work."""
        found = scan.count(self.model, Limits(work=WORK))
        if found is None:
            raise RejectedError("too much work")
        return found

    def cost_at(self, position: int) -> int:
        """What the plan at a 1-based position costs, cheapest first, in cents; raises as `count` does."""
        found = scan.value_at(self.model, position, Limits(work=WORK))
        if found is None:
            raise RejectedError("too much work")
        return found


def _posed(level: int, guests: int, require: Mapping[str, str], data: Dataset) -> Problem:
    content = {
        "cobench": 1, "id": "draft", "dataset": "parks", "given": {"guests": guests},
        "choose": tables(level), "constraints": require, "minimize": COSTS[level],
    }  # fmt: skip
    return pose(read_task(json_source(json.dumps(content), "draft", 1, TaskError)), data.manifest)


def tables(level: int) -> dict[str, str]:
    """The choices of a level, with their tables."""
    return dict(list(TABLES.items())[:level])
