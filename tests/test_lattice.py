"""The least values of all sets of names against trying every plan; and that every path explains a model alike."""

from __future__ import annotations

import itertools
import random
from dataclasses import replace
from typing import Any

import numpy as np
import pytest
from cobench.solver import conflicts, lattice, scan
from cobench.solver.conflicts import Correction, Explanation, explain
from cobench.solver.lattice import Aim, Lattice, TooLargeError
from cobench.solver.model import Linear, Link, Model, Row, Table, Threshold
from cobench.solver.outcome import Limits
from cobench.solver.signatures import frontier
from hypothesis import event, given
from hypothesis import strategies as st

from .models import Conflicting, every_plan
from .test_model import EVERY, RandomModel, choice, ints

Names = frozenset[int]
NEVER = -1


def subsets(names: Any) -> list[Names]:
    return [frozenset(some) for size in range(len(names) + 1) for some in itertools.combinations(names, size)]


class Aimed(RandomModel):
    """A model, and a sum to minimise over the plans whose rows and combinations are known."""

    def aim(self) -> Aim:
        tables: list[Table] = []
        if len(self.sizes) > 1 and self.rng.random() < 0.3:
            among, codes, shape = self.grid()
            allowed = np.array([self.rng.random() < 0.7 for _ in range(int(np.prod(shape)))]).reshape(shape)
            tables.append(Table(-1, among, codes, allowed))
        known = {
            place: np.array([self.rng.random() < 0.9 for _ in range(size)], np.bool_)
            for place, size in enumerate(self.sizes)
            if self.rng.random() < 0.5
        }
        return Aim(self.linear(), known, tuple(tables))


def aimed(seed: int) -> tuple[Model, Aim, dict[tuple[int, ...], int]]:
    """A model without integer rows, an aim, and the values of the plans that it looks at."""
    drawn = Aimed(random.Random(seed))  # noqa: S311
    model, aim = replace(drawn.model(), rows=()), drawn.aim()
    guarded = replace(model, names=("known",), tables=tuple(replace(table, constraint=0) for table in aim.tables))
    values = {
        plan: aim.linear.value(plan) - aim.linear.constant
        for plan in every_plan(model)
        if all(flags[plan[place]] for place, flags in aim.known.items())
        and replace(guarded, links=(), choices=tuple(choice("", len(item)) for item in model.choices)).feasible(
            plan, [0]
        )
    }
    return model, aim, values


def built(model: Model, aim: Aim, **more: Any) -> Lattice | None:
    """None for sums beyond what a lattice takes."""
    if aim.linear.reach() >= 2**61 - 1:
        with pytest.raises(TooLargeError):
            Lattice(model, aim, Limits(), **more)
        return None
    return Lattice(model, aim, Limits(), **more)


@given(st.integers(0, 2**32))
def test_the_least_value_of_every_set_of_names(seed: int) -> None:
    model, aim, values = aimed(seed)
    found = built(model, aim, also=[0] if model.names else [])
    if found is None:
        return
    table = found.table()
    assert len(table) == 2 ** len(found.names)
    every = subsets(range(len(model.names)))
    for names, value in zip(every, found.values(every), strict=True):
        least = min((values[plan] for plan in values if model.feasible(plan, names)), default=None)
        place = sum(1 << bit for bit, name in enumerate(found.names) if name in names)
        assert table[place] == value or (table[place] > found.finite and value > found.finite)
        assert (value if value <= found.finite else None) == least


@given(st.integers(0, 2**32), st.integers(-12, 12))
def test_the_rows_of_a_choice_that_are_in_a_plan(seed: int, at_most: int) -> None:
    model, aim, values = aimed(seed)
    found = built(model, aim)
    if found is None:
        return
    rng = random.Random(seed)  # noqa: S311
    chosen = [frozenset(), *rng.sample(subsets(range(len(model.names))), min(4, 2 ** len(model.names)))]
    for number, item in enumerate(model.choices):
        known = np.array([rng.random() < 0.8 for _ in range(len(item))], np.bool_)
        for names in chosen:
            plans = [plan for plan in values if model.feasible(plan, names) and known[plan[number]]]
            for limit in (min(at_most, found.finite), found.finite):
                right = sorted({plan[number] for plan in plans if values[plan] <= limit})
                assert found.rows(names, number, limit, known).tolist() == right


@given(st.integers(0, 2**32))
def test_a_lattice_without_a_name_does_not_see_it(seed: int) -> None:
    model, aim, values = aimed(seed)
    for name in range(len(model.names)):
        found = built(model, aim, without=name)
        if found is None:
            return
        assert name not in found.names
        for names in subsets([other for other in range(len(model.names)) if other != name]):
            least = min((values[plan] for plan in values if model.feasible(plan, names)), default=None)
            (value,) = found.values([names])
            assert (value if value <= found.finite else None) == least


@given(st.sets(st.frozensets(st.integers(0, 4), max_size=5), max_size=6))
def test_the_frontier_of_what_is_solvable(plans: set[Names]) -> None:
    """Each plan by the names that it satisfies."""
    every = subsets(range(5))
    solvable = {names: any(names <= plan for plan in plans) for names in every}
    flags = np.zeros(32, np.bool_)
    for names in every:
        flags[sum(1 << name for name in names)] = solvable[names]
    least, greatest = frontier(flags)
    expected = {names for names in every if not solvable[names] and all(solvable[names - {one}] for one in names)}
    assert {frozenset(one for one in range(5) if place >> one & 1) for place in least.tolist()} == expected
    expected = {names for names in every if solvable[names] and not any(solvable[o] for o in every if o > names)}
    assert {frozenset(one for one in range(5) if place >> one & 1) for place in greatest.tolist()} == expected


# ------------------------------------------------------------------------------------------------------- every path


def by_map(model: Model) -> Explanation:
    """MARCO, asking lattices."""
    with pytest.MonkeyPatch.context() as patch:
        patch.setattr(conflicts, "MOST_NAMES", NEVER)
        return explain(model, Limits())


def by_scan(model: Model) -> Explanation:
    """MARCO, asking the scan alone."""
    with pytest.MonkeyPatch.context() as patch:
        patch.setattr(lattice, "MAX_CELLS", 0)
        return explain(model, Limits())


@given(st.integers(0, 2**32))
def test_every_path_explains_a_model_alike(seed: int) -> None:
    model = Conflicting(random.Random(seed)).model()  # noqa: S311
    found = explain(model, Limits())
    assert found.complete
    assert found == by_map(model) == by_scan(model)
    event(f"{len(model.choices)} choices, {sum(row.linear.bounds()[1] > 0 for row in model.rows)} rows")


def without_scan(model: Model) -> Explanation:
    """What lattices alone find; the scan is not there."""

    def solve(*_: Any) -> Any:
        raise AssertionError("the scan was asked")

    with pytest.MonkeyPatch.context() as patch:
        patch.setattr(scan, "solve", solve)
        return explain(model, Limits())


def trip(budget: int, seed: int = 5, names: int = 9, sizes: tuple[int, ...] = (60, 50)) -> Model:
    """Choices with the same date, under one budget and with many filters, of which one is a threshold."""
    rng = random.Random(seed)  # noqa: S311
    masks = [
        [EVERY - sum(1 << name for name in range(3, names) if name % len(sizes) == place and rng.random() < 0.6)
         for _ in range(size)]
        for place, size in enumerate(sizes)
    ]  # fmt: skip
    dates = [ints(*(rng.randint(0, 5) for _ in range(size))) for size in sizes]
    prices = {place: ints(*(rng.randint(50, 400) for _ in range(size))) for place, size in enumerate(sizes)}
    stars = ints(*(rng.randint(1, 9) for _ in range(sizes[0])))
    for row, found in enumerate(stars.tolist()):
        masks[0][row] = masks[0][row] & ~4 | (4 if found >= 7 else 0)
    known: dict[int, Any] = {place: np.ones(size, np.bool_) for place, size in enumerate(sizes)}
    total = Linear(prices, (), -budget)
    return Model(
        tuple(f"k{name}" for name in range(names)),
        tuple(choice(f"c{place}", size, masks[place]) for place, size in enumerate(sizes)),
        (Row(1, total),),
        tuple(Link(0, (place, place + 1), (dates[place], dates[place + 1])) for place in range(len(sizes) - 1)),
        (),
        total,
        False,
        {1: Threshold(total, known), 2: Threshold(Linear({0: -stars}, (), 7), known)},
    )


@pytest.mark.parametrize(("budget", "sizes"), [(190, (60, 50)), (240, (25, 30, 35)), (380, (12, 14, 16, 18))])
def test_one_budget_needs_no_scan(budget: int, sizes: tuple[int, ...]) -> None:
    model = trip(budget, sizes=sizes)
    found = without_scan(model)
    assert len(found.conflicts) > 2
    assert len({item.move for item in found.corrections}) > 1
    assert found == by_scan(model)


def test_more_names_than_a_table_can_hold() -> None:
    """Thirty names, of which every hotel fails at most six."""
    model = trip(300, names=30, seed=3)
    rng = random.Random(7)  # noqa: S311
    fails = [[sum(1 << name for name in rng.sample(range(3, 30), 2)) for _ in range(40)] for _ in range(2)]
    sides = [sum(1 << name for name in range(place, 30, 2)) for place in range(2)]
    few = [
        np.array([EVERY - (some & side) for some in each], np.uint64) for each, side in zip(fails, sides, strict=True)
    ]
    choices = tuple(
        replace(item, rows=item.rows[:40], satisfied=masks) for item, masks in zip(model.choices, few, strict=True)
    )
    dates = tuple(code[:40] for code in model.links[0].codes)
    total = Linear({place: column[:40] for place, column in model.objective.columns.items()}, (), -170)
    model = replace(
        model, choices=choices, links=(Link(0, (0, 1), (dates[0], dates[1])),), rows=(Row(1, total),),
        objective=total, thresholds={},
    )  # fmt: skip
    found = explain(model, Limits())
    assert found.complete
    assert len(found.corrections) > 3
    assert found == by_scan(model)


def test_the_last_of_64_names() -> None:
    """Masks are read 16 bits at a time; no word is forgotten."""
    masks = [EVERY - (1 << 0 | 1 << 17), EVERY - (1 << 40), EVERY - (1 << 63)]
    names = tuple(f"k{name}" for name in range(64))
    model = Model(names, (choice("x", 3, masks),), (), (), (), Linear({}, (), 0), False)
    drops = [(40,), (63,), (0, 17)]
    assert without_scan(model) == Explanation(
        ((0, 40, 63), (17, 40, 63)), tuple(Correction(names, None, 0) for names in drops), True
    )


def test_sums_beyond_what_a_lattice_adds_go_to_the_scan() -> None:
    large = 2**61
    price = Linear({0: ints(large, 0, large)}, (), 1 - large)
    known: dict[int, Any] = {0: np.ones(3, np.bool_)}
    masks = [EVERY, EVERY - 2, EVERY]
    model = Model(
        ("price", "pool"),
        (choice("x", 3, masks),),
        (Row(0, price),),
        (),
        (),
        price,
        False,
        {0: Threshold(price, known)},
    )
    found = explain(model, Limits())
    assert found == Explanation(((0, 1),), (Correction((), 0, 1), Correction((1,), None, 0)), True)


def test_a_thousand_conflicts_are_all_told() -> None:
    """14 names of which every row satisfies half, each half once: 3,003 conflicts."""
    masks = [EVERY - sum(1 << name for name in some) for some in itertools.combinations(range(14), 9)]
    model = Model(tuple(map(str, range(14))), (choice("x", len(masks), masks),), (), (), (), Linear({}, (), 0), False)
    found = explain(model, Limits())
    assert (len(found.conflicts), len(found.corrections), found.complete) == (3003, 2002, True)
