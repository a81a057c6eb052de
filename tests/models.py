"""Models of plain integers for the tests of engines and conflicts, and the truth about them by trying every plan."""

from __future__ import annotations

import itertools
import json
import os
import random
from collections.abc import Iterable, Sequence
from pathlib import Path
from typing import Any

import numpy as np
from cobench.solver.model import Linear, Link, Model, Row, Table, Threshold

from .test_model import EVERY, RandomModel, choice, ints

THOROUGH = os.environ.get("COBENCH_HYPOTHESIS") == "thorough"
Plan = tuple[int, ...]


# ----------------------------------------------------------------------------------------------------- the truth


def every_plan(model: Model) -> list[Plan]:
    return list(itertools.product(*(range(len(item)) for item in model.choices)))


def feasible_plans(model: Model, names: Iterable[int] | None = None) -> list[Plan]:
    """The plans that satisfy the given constraints, by default all."""
    wanted = list(range(len(model.names)) if names is None else names)
    return [plan for plan in every_plan(model) if model.feasible(plan, wanted)]


def best_value(model: Model) -> int | None:
    return min((model.objective.value(plan) for plan in feasible_plans(model)), default=None)


def rows_of(model: Model, plan: Plan) -> Plan:
    """The offer rows that a plan picks: the same numbers however much the model was narrowed."""
    return tuple(int(item.rows[index]) for item, index in zip(model.choices, plan, strict=True))


def canonical_rows(model: Model, ranks: Sequence[Sequence[int]]) -> Plan | None:
    """Among the best plans the one with the least ranks, choice by choice; `ranks[c][row]` by offer row."""
    best = best_value(model)
    plans = [rows_of(model, plan) for plan in feasible_plans(model) if model.objective.value(plan) == best]
    return min(plans, key=lambda rows: [ranks[place][row] for place, row in enumerate(rows)], default=None)


def everything(model: Model) -> Model:
    """What engines are given: the rows that satisfy the single-choice parts of all constraints."""
    return model.kept(range(len(model.names)))


# ------------------------------------------------------------------------------------- models with many constraints


class Conflicting(RandomModel):
    """Draws models of up to seven constraints, one or two parts each, some of them thresholds with null parts."""

    def __init__(self, rng: random.Random) -> None:
        super().__init__(rng)
        self.sizes = [min(size, 4) for size in self.sizes]
        self.big = False
        self.satisfied = [[EVERY] * size for size in self.sizes]
        self.rows: list[Row] = []
        self.links: list[Link] = []
        self.tables: list[Table] = []
        self.thresholds: dict[int, Threshold] = {}

    def model(self) -> Model:
        number = self.rng.randint(1, 7)
        for constraint in range(number):
            if self.rng.random() < 0.5:
                self.threshold(constraint)
                continue
            for _ in range(self.rng.choice([1, 1, 2])):
                self.part(constraint)
        return Model(
            tuple(f"k{constraint}" for constraint in range(number)),
            tuple(choice(f"c{place}", size, self.satisfied[place]) for place, size in enumerate(self.sizes)),
            tuple(self.rows),
            tuple(self.links),
            tuple(self.tables),
            self.linear(),
            False,
            self.thresholds,
        )

    def forbid(self, constraint: int, place: int, rows: Iterable[int]) -> None:
        for row in rows:
            self.satisfied[place][row] &= ~(1 << constraint)

    def part(self, constraint: int) -> None:
        kind = self.rng.choice(["filter", "row", "link", "table"] if len(self.sizes) > 1 else ["filter", "row"])
        if kind == "filter":
            place = self.rng.randrange(len(self.sizes))
            self.forbid(constraint, place, [row for row in range(self.sizes[place]) if self.rng.random() < 0.6])
        elif kind == "row":
            self.rows.append(Row(constraint, self.tight()))
        elif kind == "link":
            first, second = self.rng.sample(range(len(self.sizes)), 2)
            self.links.append(Link(constraint, (first, second), (self.codes(first, -1, 2), self.codes(second, -1, 2))))
        else:
            among, codes, shape = self.grid()
            allowed = np.array([self.rng.random() < 0.4 for _ in range(int(np.prod(shape)))]).reshape(shape)
            self.tables.append(Table(constraint, among, codes, allowed))

    def tight(self) -> Linear:
        linear = self.linear()
        return Linear(linear.columns, linear.terms, linear.constant + self.rng.randint(0, 8))

    def threshold(self, constraint: int) -> None:
        """One comparison, as lowering writes it: over one choice a filter, over several a row; nulls are forbidden."""
        linear = self.tight()
        known: dict[int, Any] = {
            place: np.array([self.rng.random() < 0.85 for _ in range(size)], np.bool_)
            for place, size in enumerate(self.sizes)
        }
        if len(linear.columns) == 1 and not linear.terms:
            ((place, column),) = linear.columns.items()
            self.forbid(constraint, place, np.flatnonzero(column + linear.constant > 0).tolist())
        else:
            self.rows.append(Row(constraint, linear))
        for place, flags in known.items():
            self.forbid(constraint, place, np.flatnonzero(~flags).tolist())
        self.thresholds[constraint] = Threshold(linear, known)


# -------------------------------------------------------------------------------------------- knapsacks, large numbers


def knapsack(instance: dict[str, Any]) -> Model:
    """One of `cpsat_wrong_optimal`: ten Booleans, at-most-one groups (choices with a first row "none"), guarded rows.

    A guarded row holds only if `x[only_if]`: the guard has the exact coefficient that switches the row off.
    """
    groups = [*instance["at_most_one"]]
    groups += [[one] for one in range(len(instance["maximize"])) if not any(one in group for group in groups)]
    place = {one: (number, 1 + at) for number, group in enumerate(groups) for at, one in enumerate(group)}
    choices = tuple(choice(f"c{number}", 1 + len(group)) for number, group in enumerate(groups))

    def linear(terms: Iterable[tuple[int, int]], constant: int) -> Linear:
        columns = {number: np.zeros(len(item), np.int64) for number, item in enumerate(choices)}
        for one, coefficient in terms:
            number, at = place[one]
            columns[number][at] += coefficient
        return Linear({number: column for number, column in columns.items() if column.any()}, (), constant)

    rows: list[Row] = []
    for number, row in enumerate(instance["rows"]):
        terms, guard = [(one, coefficient) for one, coefficient in row["terms"]], 0
        if row.get("only_if") is not None:
            guard = max(0, sum(coefficient for _, coefficient in terms if coefficient > 0) - row["at_most"])
            terms.append((row["only_if"], guard))
        rows.append(Row(number, linear(terms, -row["at_most"] - guard)))
    objective = linear([(one, -weight) for one, weight in enumerate(instance["maximize"])], 0)
    return Model(tuple(f"k{number}" for number in range(len(rows))), choices, tuple(rows), (), (), objective, True)


def random_knapsack(rng: random.Random) -> dict[str, Any]:
    """A random instance like those: rows whose coefficients add up to more than 2^31; some have no solution."""
    top = rng.choice([2_700_000_000, 2_700_000_000, 2_700_000_000, 900_000_000, 500_000_000])
    scale = rng.choice([1, 1, 1, 1_000])  # multiples, whose divisor takes them below the limit again
    guarded, rows = rng.random() < 0.5, []
    while len(rows) < 4:
        among = rng.sample(range(10), rng.randint(5, 8))
        terms = [(one, rng.randint(top // 10 // scale, top // scale) * scale) for one in among]
        total = sum(coefficient for _, coefficient in terms)
        if total > 2**31:
            low = -0.2 if rng.random() < 0.03 else 0.3
            row: dict[str, Any] = {"terms": terms, "at_most": int(total * rng.uniform(low, 0.8))}
            rows.append({**row, "only_if": rng.randrange(10)} if guarded else row)
    weights = [rng.randint(1, 9) for _ in range(10)]
    return {"at_most_one": [[0, 1, 2], [3, 4, 5]], "maximize": weights, "rows": rows}


def corpus(shared: Path) -> list[dict[str, Any]]:
    file = shared / "external" / "cpsat_wrong_optimal" / "instances.json"
    return list(json.loads(file.read_text(encoding="utf-8"))["instances"])


def hard(rng: random.Random, choices: int = 60, rows: int = 30) -> Model:
    """Strongly correlated knapsacks with three budgets: far too hard to finish in the time that tests give."""
    prices = [[rng.randint(1_000, 9_999) for _ in range(rows)] for _ in range(choices)]

    def near(sign: int, most: int, constant: int) -> Linear:
        columns = {
            place: ints(*(sign * (price + rng.randint(-most, most)) for price in of)) for place, of in enumerate(prices)
        }
        return Linear(columns, (), constant)

    budgets = tuple(Row(number, near(1, 300, -4_500 * choices)) for number in range(3))
    items = tuple(choice(f"c{place}", rows) for place in range(choices))
    return Model(("a", "b", "c"), items, budgets, (), (), near(-1, 99, 0), True)


def cents(rng: random.Random) -> Model:
    """Two choices at a scale of $100,000: each row has a partner with which it costs one or two cents too much."""
    budget, step = 10_000_000, 50_000
    first = [4_000_000 + step * number + rng.choice([0, 0, 1, -1]) for number in range(30)]
    second = [budget - price + rng.choice([1, 1, 1, 1, 2]) for price in first]
    rng.shuffle(second)
    over = Row(0, Linear({0: ints(*first), 1: ints(*second)}, (), -budget))
    worth = {
        place: ints(*(price // step * -10 - rng.randint(0, 5) for price in prices))
        for place, prices in enumerate((first, second))
    }
    return Model(("budget",), (choice("a", 30), choice("b", 30)), (over,), (), (), Linear(worth, (), 0), True)


def one_budget(rng: random.Random) -> tuple[Model, int]:
    """Many choices under one small budget, with sums that differ in the fifth digit; and the best value, by dynamic
    programming over what is spent."""
    number, size, most = 14, 8, 40
    costs = [[rng.randint(0, most) for _ in range(size)] for _ in range(number)]
    worth = [[1_000 * (most - cost) + rng.randint(0, 9) for cost in of] for of in costs]
    budget = 207
    least: dict[int, int] = {0: 0}
    for cost, value in zip(costs, worth, strict=True):
        found: dict[int, int] = {}
        for (spent, total), (more, price) in itertools.product(least.items(), zip(cost, value, strict=True)):
            if spent + more <= budget:
                found[spent + more] = min(found.get(spent + more, total + price), total + price)
        least = found
    row = Row(0, Linear({place: ints(*of) for place, of in enumerate(costs)}, (), -budget))
    objective = Linear({place: ints(*of) for place, of in enumerate(worth)}, (), 0)
    choices = tuple(choice(f"c{place}", size) for place in range(number))
    return Model(("budget",), choices, (row,), (), (), objective, False), min(least.values())
