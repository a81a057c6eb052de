"""Random models of sets, routes and formulas, and the truth about them by trying every plan in every order."""

from __future__ import annotations

import itertools
import math
import random
from collections.abc import Iterator

import numpy as np
from cobench.schemas.errors import OverflowRisk
from cobench.solver.model import Bools, Ints
from cobench.solver.sets.model import (
    EARLY,
    LATE,
    NEVER,
    All,
    Any,
    Course,
    Flag,
    Formula,
    Leaf,
    Part,
    Picked,
    Quantity,
    SetModel,
)
from hypothesis import strategies as st

MOST_PLANS = 1200


# ----------------------------------------------------------------------------------------------------- the truth


def picks(part: Part) -> list[tuple[int, ...]]:
    """All lists of rows of a part with a right number of them, in canonical order; on a route in every order."""
    choose = itertools.combinations if part.course is None else itertools.permutations
    numbers = range(part.at_least, min(part.at_most, len(part)) + 1)
    return sorted(some for number in numbers for some in choose(range(len(part)), number))


def every_pick(model: SetModel) -> Iterator[Picked]:
    """All plans with right numbers of rows, in canonical order; routes may be impossible."""
    return itertools.product(*(picks(part) for part in model.parts))


def number_of_picks(model: SetModel) -> int:
    """How many `every_pick` gives."""
    total = 1
    for part in model.parts:
        ways = math.comb if part.course is None else math.perm
        total *= sum(ways(len(part), number) for number in range(part.at_least, min(part.at_most, len(part)) + 1))
    return total


def feasible_plans(model: SetModel) -> list[tuple[int, Picked]]:
    """Cost and rows of all plans, the canonical one of the best first."""
    return sorted((model.cost(picked), picked) for picked in every_pick(model) if model.feasible(picked))


# ------------------------------------------------------------------------------------------------- random models


class RandomSetModel:
    """Draws a model of up to four parts, with few enough plans to try them all."""

    def __init__(self, rng: random.Random) -> None:
        self.rng = rng
        self.scale = rng.choice([1, 3, 3, 10, 10, 10**6, 2**55])
        self.parts: list[Part] = []
        self.flags: list[Flag] = []
        self.quantities: list[Quantity] = []
        self.downwards: dict[int, int] = {}  # the sign with which a quantity that has ends may be read

    def chance(self, probability: float) -> bool:
        return self.rng.random() < probability

    def ints(self, size: int, low: int, high: int) -> Ints:
        return np.array([self.rng.randint(low, high) for _ in range(size)], np.int64)

    def bools(self, size: int, probability: float) -> Bools:
        return np.array([self.chance(probability) for _ in range(size)], np.bool_)

    def ways(self, *shape: int) -> Ints:
        found = self.ints(math.prod(shape), 0, 4).reshape(shape)
        return np.where(self.bools(math.prod(shape), 0.15).reshape(shape), np.int64(NEVER), found)

    def course(self, size: int) -> Course:
        rng, tight = self.rng, self.chance(0.5)
        opens = self.ints(size, 0, 12) if self.chance(0.7) else np.full(size, EARLY, np.int64)
        lasts = self.ints(size, 0, 3)
        closes = opens + lasts + self.ints(size, -1, 4 if tight else 15)
        if self.chance(0.3) or opens.min(initial=0) == EARLY:
            closes = np.full(size, LATE, np.int64) if self.chance(0.5) else self.ints(size, 3, 20)
        begins = rng.randint(-2, 5) if self.chance(0.6) else None
        return Course(
            opens=opens,
            closes=closes,
            lasts=lasts,
            longer=self.chance(0.3),
            travel=self.ways(size, size),
            leave=self.ways(size) if self.chance(0.6) else np.zeros(size, np.int64),
            back=self.ways(size) if self.chance(0.6) else np.zeros(size, np.int64),
            direct=rng.choice([NEVER, 0, 3]),
            begins=begins,
            earliest=rng.randint(0, 15) if self.chance(0.3) else EARLY,
            latest=rng.randint(5, 25) if self.chance(0.3) else LATE,
            wait=rng.randint(0, 3) if self.chance(0.4) else None,
            first=self.bools(size, 0.7 if self.chance(0.2) else 1),
            last=self.bools(size, 0.7 if self.chance(0.2) else 1),
        )

    def part(self, choice: int) -> Part:
        size = self.rng.choice([0, 1, 2, 3, 3, 4, 4, 5, 5])
        rows = np.array(sorted(self.rng.sample(range(20), size)), np.int64)
        kind = self.rng.choice(["one", "set", "set", "route"])
        if kind == "one":
            return Part(choice, rows, 1, 1)
        least = self.rng.choice([0, 0, 1, 2, size])
        most = max(self.rng.choice([size, size, size + 1, 2, 3]), least if self.chance(0.95) else 0)
        return Part(choice, rows, least, most, self.course(size) if kind == "route" else None)

    def flag(self) -> Flag:
        some = self.rng.sample(range(len(self.parts)), self.rng.randint(1, len(self.parts)))
        return Flag({part: self.bools(len(self.parts[part]), 0.4) for part in some})

    def number(self) -> int:
        return self.rng.randint(-self.scale, self.scale)

    def quantity(self) -> Quantity:
        number, routes = len(self.quantities), [p for p, part in enumerate(self.parts) if part.course is not None]
        columns = {
            part: self.ints(len(item), -self.scale if self.chance(0.4) else 0, self.scale)
            for part, item in enumerate(self.parts)
            if self.chance(0.6)
        }
        flags = tuple((flag, self.number()) for flag in range(len(self.flags)) if self.chance(0.3))
        truths = ((self.formula(1), self.number()),) if number and self.chance(0.2) else ()
        travel = tuple((part, self.rng.randint(-2, 2)) for part in routes if self.chance(0.2))
        sign = self.rng.choice([1, -1])
        ends = tuple((part, sign * self.rng.randint(1, 2)) for part in routes if self.chance(0.3))
        if ends:
            self.downwards[number] = sign
        if self.chance(0.2) and routes:
            columns, flags, truths = {}, (), ()
        return Quantity(columns, flags, truths, ends, travel)

    def leaf(self) -> Leaf:
        """A leaf whose constant is near to what some plan has."""
        number = self.rng.randrange(len(self.quantities))
        sign = self.downwards.get(number, self.rng.choice([1, -1]))
        reach = self.scale * 3 + (12 if self.quantities[number].ends else 0)
        return Leaf(number, sign, self.rng.randint(-reach, reach // 2) if self.chance(0.95) else 2**61)

    def formula(self, depth: int) -> Formula:
        if depth == 0 or self.chance(0.4):
            return self.leaf()
        parts = tuple(self.formula(depth - 1) for _ in range(self.rng.choice([0, 1, 2, 2, 2, 3, 3])))
        return (All if self.chance(0.4) else Any)(parts)

    def model(self) -> SetModel:
        self.parts = [self.part(number) for number in range(self.rng.choice([1, 1, 2, 2, 3, 3, 4]))]
        if self.parts and self.chance(0.5):
            self.flags = [self.flag() for _ in range(self.rng.randint(1, 3))]
        for _ in range(self.rng.randint(1, 4)):
            self.quantities.append(self.quantity())
        number = self.rng.choice([0, 1, 1, 2, 2, 3])
        best = self.rng.randrange(len(self.quantities))
        sign = self.downwards.get(best, self.rng.choice([1, -1]))
        return SetModel(
            names=tuple(f"c{index}" for index in range(number)),
            choices=tuple(f"x{index}" for index in range(len(self.parts))),
            parts=tuple(self.parts),
            quantities=tuple(self.quantities),
            flags=tuple(self.flags),
            formulas=tuple(self.formula(self.rng.choice([0, 1, 2])) for _ in range(number)),
            objective=Leaf(best, sign, self.number()),
            maximize=sign < 0,
        )


def random_set_model(seed: int, most_plans: int = MOST_PLANS) -> SetModel:
    """A model by its seed: the first of a series whose sums are in range and that has few enough plans to try."""
    for attempt in itertools.count():
        try:
            model = RandomSetModel(random.Random(f"{seed}/{attempt}")).model()  # noqa: S311
        except OverflowRisk:
            continue
        if number_of_picks(model) <= most_plans:
            return model
    raise AssertionError


def set_models(most_plans: int = MOST_PLANS) -> st.SearchStrategy[SetModel]:
    """Models to try in full."""
    return st.integers(0, 2**32 - 1).map(lambda seed: random_set_model(seed, most_plans))
