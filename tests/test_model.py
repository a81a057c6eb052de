"""The scan on random models of plain integers against `Model.feasible`; outcomes cannot lie; faults are planted."""

from __future__ import annotations

import itertools
import random
from collections import Counter
from collections.abc import Callable
from dataclasses import replace
from datetime import date
from typing import Any

import numpy as np
import pytest
from cobench.schemas.errors import OverflowRisk
from cobench.solver import certify as certifying
from cobench.solver import scan
from cobench.solver.columns import kernels
from cobench.solver.lower import Lowered, lower
from cobench.solver.model import Choice, Linear, Link, Model, Row, Table, Term
from cobench.solver.outcome import Limits, NoPlanError, Outcome, Reason, Status
from hypothesis import given
from hypothesis import strategies as st

from .phrases import Case, cases
from .test_semantics import NEVER, posed, slow
from .worlds import Sheet, World

EVERY = 2**64 - 1


def choice(name: str, rows: int, satisfied: list[int] | None = None) -> Choice:
    return Choice(name, 1, 1, np.arange(rows), np.array([EVERY] * rows if satisfied is None else satisfied, np.uint64))


def ints(*values: int) -> Any:
    return np.array(values, np.int64)


class RandomModel:
    """Draws a model of one to four choices with links, tables, terms and rows, small enough to try every plan."""

    def __init__(self, rng: random.Random) -> None:
        self.rng = rng
        self.sizes = [rng.randint(0 if rng.random() < 0.05 else 1, 6) for _ in range(rng.choice([1, 2, 2, 2, 3, 3, 4]))]
        self.big = rng.random() < 0.1

    def model(self) -> Model:
        rng, number = self.rng, self.rng.randint(0, 4)
        choices = tuple(
            choice(
                f"c{place}",
                size,
                [EVERY - sum(1 << bit for bit in range(number) if rng.random() < 0.15) for _ in range(size)],
            )
            for place, size in enumerate(self.sizes)
        )
        rows: list[Row] = []
        links: list[Link] = []
        tables: list[Table] = []
        for constraint in range(number):
            kind = rng.choice(["row", "row", "link", "table"]) if len(self.sizes) > 1 else "row"
            if kind == "row":
                rows.append(Row(constraint, self.linear()))
            elif kind == "link":
                first, second = rng.sample(range(len(self.sizes)), 2)
                links.append(Link(constraint, (first, second), (self.codes(first, -1, 2), self.codes(second, -1, 2))))
            else:
                among, codes, shape = self.grid()
                allowed = np.array([rng.random() < 0.6 for _ in range(int(np.prod(shape)))]).reshape(shape)
                tables.append(Table(constraint, among, codes, allowed))
        names = tuple(f"k{constraint}" for constraint in range(number))
        return Model(names, choices, tuple(rows), tuple(links), tuple(tables), self.linear(), rng.random() < 0.5)

    def codes(self, place: int, low: int, high: int) -> Any:
        return ints(*(self.rng.randint(low, high) for _ in range(self.sizes[place])))

    def grid(self) -> tuple[tuple[int, ...], tuple[Any, ...], list[int]]:
        """Two or three choices with the codes of their rows, and how many codes each has."""
        number = min(self.rng.choice([2, 3]), len(self.sizes))
        among = tuple(sorted(self.rng.sample(range(len(self.sizes)), number)))
        shape = [self.rng.randint(1, 3) for _ in among]
        return among, tuple(self.codes(place, 0, size - 1) for place, size in zip(among, shape, strict=True)), shape

    def linear(self) -> Linear:
        rng = self.rng
        columns = {
            place: ints(
                *(rng.randint(-5, 5) * (2**58 // 5 if self.big and rng.random() < 0.3 else 1) for _ in range(size))
            )
            for place, size in enumerate(self.sizes)
            if rng.random() < 0.8
        }
        terms: list[Term] = []
        if len(self.sizes) > 1 and rng.random() < 0.4:
            among, codes, shape = self.grid()
            values = ints(*(rng.randint(-3, 3) for _ in range(int(np.prod(shape))))).reshape(shape)
            terms.append(Term(among, codes, values))
        return Linear(columns, tuple(terms), rng.randint(-4, 4))


@given(st.integers(0, 2**32), st.booleans())
def test_scan_agrees_with_trying_every_plan(seed: int, compiled: bool) -> None:
    model = RandomModel(random.Random(seed)).model()  # noqa: S311
    every = range(len(model.names))
    plans = [
        plan for plan in itertools.product(*(range(len(item)) for item in model.choices)) if model.feasible(plan, every)
    ]
    values = sorted(model.objective.value(plan) for plan in plans)
    kept = model.kept(every)
    with pytest.MonkeyPatch.context() as patch:
        patch.setattr(kernels, "COMPILE_FROM", 0 if compiled else NEVER)
        found = scan.survey(kept, Limits())
        assert found.count == (len(plans), len(plans))
        assert scan.count(kept, Limits()) == len(plans)
        assert scan.distribution(kept, 65_536, Limits()) == sorted(Counter(values).items())
        if not plans:
            assert found.outcome == Outcome(Status.INFEASIBLE)
            return
        assert found.outcome.status is Status.OPTIMAL
        assert found.outcome.best == values[0] == kept.objective.value(found.outcome.plan)
        assert kept.feasible(found.outcome.plan, every)
        assert found.tied == values.count(values[0])
        assert found.runner_up == next((value for value in values if value > values[0]), None)
        best = [plan for plan in plans if model.objective.value(plan) == values[0]]
        for number, item in enumerate(kept.choices):
            rows = scan.best_rows(kept, number, values[0], Limits())
            assert rows is not None
            assert set(item.rows[rows].tolist()) == {plan[number] for plan in best}
        for value in (values[0], values[-1], values[len(values) // 2] + 1):
            assert scan.count_up_to(kept, value, Limits()) == sum(other <= value for other in values)


@given(st.integers(0, 2**32), st.integers(0, 60))
def test_a_stopped_scan_gives_an_interval_with_the_truth_in_it(seed: int, work: int) -> None:
    model = RandomModel(random.Random(seed)).model()  # noqa: S311
    kept = model.kept(range(len(model.names)))
    full, part = scan.survey(kept, Limits()), scan.survey(kept, Limits(work=work))
    assert part.count[0] <= full.count[0] <= part.count[1]
    if part.outcome.status in (Status.OPTIMAL, Status.INFEASIBLE):
        assert part == full
    else:
        assert part.outcome.reason is Reason.WORK
    if part.outcome.status is Status.FEASIBLE:
        assert part.outcome.bound is not None
        assert part.outcome.bound <= full.outcome.best <= part.outcome.best
        assert kept.objective.value(part.outcome.plan) == part.outcome.best
    counted = scan.count(kept, Limits(work=work))
    assert counted in (None, full.count[0])
    shape = scan.distribution(kept, 65_536, Limits(work=work))
    assert shape is None or sum(number for _, number in shape) == full.count[0]


MANY = 2**20


def alike(choices: int, rows: int = MANY) -> Model:
    """Choices whose rows are all alike: the scan merges them to one row of large multiplicity."""
    columns = {place: np.ones(rows, np.int64) for place in range(choices)}
    return Model(
        (), tuple(choice(f"c{place}", rows) for place in range(choices)), (), (), (), Linear(columns, (), 0), False
    )


@pytest.mark.parametrize("choices", [3, 4])
def test_counts_beyond_64_bits_are_exact(choices: int) -> None:
    model = alike(choices)
    found = scan.survey(model, Limits())
    assert found.count == (MANY**choices, MANY**choices)
    assert (found.tied, found.outcome.best, found.runner_up) == (MANY**choices, choices, None)
    assert scan.count(model, Limits()) == MANY**choices


@pytest.mark.parametrize("compiled", [False, True])
def test_a_distribution_beyond_64_bits_is_exact_or_absent(compiled: bool, monkeypatch: pytest.MonkeyPatch) -> None:
    """2^80 is 0 modulo 2^64, which the hash table of `tally` would read as a free place."""
    monkeypatch.setattr(kernels, "COMPILE_FROM", 0 if compiled else NEVER)
    assert scan.distribution(alike(4), 65_536, Limits()) in (None, [(4, MANY**4)])


def test_overflow_names_the_constraint() -> None:
    choices = (choice("a", 1), choice("b", 1))
    half = Linear({0: ints(2**61), 1: ints(2**61)}, (), 0)
    zero = Linear({}, (), 0)
    with pytest.raises(OverflowRisk, match=r"the parts of budget add up to 4611686018427387904, beyond 2\^62"):
        Model(("other", "budget"), choices, (Row(0, zero), Row(1, half)), (), (), zero, False)
    with pytest.raises(OverflowRisk, match="the objective"):
        Model((), choices, (), (), (), half, False)


def test_a_constant_beyond_64_bits_that_columns_cancel_is_refused_or_exact() -> None:
    """The sum is 0 or 1, so its bounds are fine, and only its constant does not fit an int64."""
    for constant, column in ((2**63, ints(-(2**63), 1 - 2**63)), (-(2**63) - 1, ints(2**63 - 1, 2**63 - 1))):
        linear = Linear({0: column}, (), constant)
        try:
            model = Model((), (choice("a", 2), choice("b", 1)), (), (), (), linear, False)
            found = scan.survey(model, Limits())
        except OverflowRisk:
            continue
        assert found.outcome.best == min(linear.value((row, 0)) for row in range(2))


def test_a_choice_without_rows_is_infeasible() -> None:
    model = Model((), (choice("a", 3), choice("b", 0)), (), (), (), Linear({0: ints(1, 2, 3)}, (), 0), False)
    assert scan.survey(model, Limits()).outcome == Outcome(Status.INFEASIBLE)
    assert scan.distribution(model, 10, Limits()) == []
    rows = scan.best_rows(model, 0, 1, Limits())
    assert rows is not None
    assert not len(rows)


def test_a_row_that_never_holds_is_infeasible() -> None:
    false = Row(0, Linear({}, (), 1))
    model = Model(("k",), (choice("a", 2),), (false,), (), (), Linear({0: ints(1, 2)}, (), 0), False)
    assert scan.survey(model, Limits()).outcome == Outcome(Status.INFEASIBLE)


@pytest.mark.parametrize("status", [Status.INFEASIBLE, Status.UNKNOWN])
def test_no_values_without_solution(status: Status) -> None:
    reason = Reason.TIME if status is Status.UNKNOWN else None
    outcome = Outcome(status, reason=reason)
    for ask in (lambda: outcome.plan, lambda: outcome.best):
        with pytest.raises(NoPlanError):
            ask()
    with pytest.raises(ValueError, match="do not fit"):
        Outcome(status, (0,), 1, 1, reason)
    with pytest.raises(ValueError, match="a plan comes with its value"):
        Outcome(status, value=1, reason=reason)


@pytest.mark.parametrize(
    ("status", "rest"),
    [
        (Status.OPTIMAL, {"picked": (0,), "value": 1, "bound": 0}),  # not its own bound
        (Status.OPTIMAL, {"picked": (0,), "value": 1, "bound": 1, "reason": Reason.TIME}),  # a limit proves nothing
        (Status.OPTIMAL, {}),
        (Status.FEASIBLE, {"picked": (0,), "value": 1, "bound": 0}),  # no reason why it is not optimal
        (Status.FEASIBLE, {"picked": (0,), "reason": Reason.WORK}),  # a plan without its value
        (Status.INFEASIBLE, {"reason": Reason.TIME}),  # a limit proves nothing
        (Status.UNKNOWN, {}),  # no reason
    ],
)
def test_outcomes_that_would_lie_cannot_be_built(status: Status, rest: dict[str, Any]) -> None:
    with pytest.raises(ValueError, match=r"fit|its own bound|comes with its value"):
        Outcome(status, **rest)


# Planted faults: lowering goes wrong, so the certificate says something else; the checker must notice.


def _rows_plus(model: Model, amount: int) -> Model:
    rows = [replace(row, linear=replace(row.linear, constant=row.linear.constant + amount)) for row in model.rows]
    return replace(model, rows=tuple(rows))


def _objective_plus(model: Model, amount: int) -> Model:
    return replace(model, objective=replace(model.objective, constant=model.objective.constant + amount))


def _wrong_bits(model: Model) -> Model:
    """The first row of the first choice fails what it satisfies, and satisfies what it fails."""
    first, *others = model.choices
    satisfied = first.satisfied.copy()
    satisfied[:1] ^= np.uint64(EVERY)
    return replace(model, choices=(replace(first, satisfied=satisfied), *others))


def _every_bit(model: Model) -> Model:
    full = [replace(item, satisfied=np.full(len(item), EVERY, np.uint64)) for item in model.choices]
    return replace(model, choices=tuple(full))


def _wrong_cell(model: Model) -> Model:
    def flipped(table: Table) -> Table:
        allowed = table.allowed.copy()
        allowed.flat[:1] ^= True
        return replace(table, allowed=allowed)

    return replace(model, tables=tuple(flipped(table) for table in model.tables))


def _wrong_price(model: Model) -> Model:
    columns = {place: column.copy() for place, column in model.objective.columns.items()}
    for column in columns.values():
        column[:1] += 1
    return replace(model, objective=replace(model.objective, columns=columns))


def _negated(linear: Linear) -> Linear:
    columns = {place: -column for place, column in linear.columns.items()}
    return Linear(columns, tuple(replace(term, values=-term.values) for term in linear.terms), -linear.constant)


FAULTS: dict[str, Callable[[Model], Model]] = {
    "a threshold is one too low": lambda model: _rows_plus(model, 1),
    "a threshold is one too high": lambda model: _rows_plus(model, -1),
    "rows are dropped": lambda model: replace(model, rows=()),
    "links are dropped": lambda model: replace(model, links=()),
    "tables are dropped": lambda model: replace(model, tables=()),
    "a cell of a table is wrong": _wrong_cell,
    "bits of a filter are wrong": _wrong_bits,
    "filters are dropped": _every_bit,
    "the last offer is lost": lambda model: model.narrowed({0: np.arange(max(0, len(model.choices[0]) - 1))}),
    "the objective is one too high": lambda model: _objective_plus(model, 1),
    "a price is wrong": _wrong_price,
    "the sense is wrong": lambda model: replace(model, objective=_negated(model.objective)),
}


def plant(fault: str, patch: pytest.MonkeyPatch) -> None:
    def wrong(*args: Any) -> Lowered:
        lowered = lower(*args)
        return replace(lowered, model=FAULTS[fault](lowered.model))

    def wrong_feasible(*args: Any) -> Lowered:
        lowered = wrong(*args)
        return replace(lowered, model=lowered.model.kept(range(len(lowered.model.names))))

    patch.setattr(certifying, "lower", wrong)
    patch.setattr(certifying, "feasible", wrong_feasible)


@slow
@given(st.sampled_from(list(FAULTS)), cases(most_choices=3, most_rows=4, extreme=False))
def test_a_fault_in_lowering_that_changes_an_answer_is_refuted(fault: str, case: Case) -> None:
    with posed(case) as at:
        right = at.certify()
        with pytest.MonkeyPatch.context() as patch:
            plant(fault, patch)
            wrong = at.certify()
        answers = [item.claims.model_copy(update={"conflicts": None}) for item in (right, wrong)]
        refuted = at.replay(wrong).refuted
        if answers[0] != answers[1]:
            assert refuted
        elif wrong.claims == right.claims:  # other conflicts may still be true, or not
            assert not refuted


# The first row and the last satisfy everything.
CELLS = [*itertools.product(("2025-08-08", "2025-08-09"), (0, 1), (True, False), (1, None, 1))]
EVERY_KIND = Case(
    World(
        "cobench_dataset: 1\nname: w\ntables:\n  t:\n    file: t.parquet\n    key: [code]\n    id: '{code}'\n"
        "    columns:\n      code: {type: number}\n      day: {type: date}\n      n: {type: number}\n"
        "      pool: {type: bool}\n      seen: {type: number, nullable: true}\n",
        {
            "t.parquet": Sheet(
                {"code": "number", "day": "date", "n": "number", "pool": "bool", "seen": "number"},
                [(code, date.fromisoformat(day), *rest) for code, (day, *rest) in enumerate(CELLS)],
            )
        },
    ),
    "cobench: 1\nid: t\ndataset: .\nchoose:\n  a: t\n  b: t\nconstraints:\n  same: a.day == b.day\n"
    "  fewer: a.n + b.n < 2\n  either: a.pool or b.pool\n  seen: a.seen >= 1\nminimize: a.code - b.code\n",
    ("a", "b"),
    ("same", "fewer", "either", "seen"),
)


@pytest.mark.parametrize("fault", FAULTS)
def test_every_planted_fault_changes_this_answer_and_is_refuted(fault: str, monkeypatch: pytest.MonkeyPatch) -> None:
    with posed(EVERY_KIND) as at:
        right = at.certify()
        assert not at.replay(right).refuted
        plant(fault, monkeypatch)
        wrong = at.certify()
        assert wrong.claims != right.claims
        assert at.replay(wrong).refuted
