"""The columnar engine: count, optimum, ties, runner-up and distribution of all plans, without a list of plans.

The rows of a choice fall into groups by what links, tables and terms see of them. Inside a pair of groups that fit, two
choices are independent except for the integer rows, and one sweep answers for all pairs of rows (`kernels.sweep`). More
than two choices loop over the rows of the smaller ones; more than one binding row falls back on pairs. Work is counted
before it is done, so a work limit stops at the same point on every machine.
"""

from __future__ import annotations

import math
import time
from collections.abc import Iterator
from dataclasses import dataclass, replace

import numpy as np

from .grouping import Batch, Side, batches, sides
from .kernels import NONE, count_two, enumerate_pairs, run, sweep, tally
from .model import LIMIT, Ints, Model, Row
from .outcome import Limits, Outcome, Reason, Status

MAX_TALLY = 200_000_000
_CHUNK = 100_000_000  # steps between two looks at the clock


@dataclass(frozen=True, slots=True)
class Survey:
    """What the scan knows of the whole feasible set. The plan in `outcome` is a best one, not yet the canonical one.

    `count`: least and greatest number of feasible plans, equal when exact. `tied`, the number of best plans, and
    `runner_up`, the next best value, are there with status OPTIMAL only.
    """

    outcome: Outcome
    count: tuple[int, int]
    tied: int = 0
    runner_up: int | None = None


def solve(model: Model, limits: Limits) -> Outcome:
    """Some best plan: the function that every engine has."""
    return survey(model, limits).outcome


def survey(model: Model, limits: Limits) -> Survey:
    """Count, optimum, ties and runner-up of all plans of the model, every constraint in it holding."""
    scan = _Scan(model, limits)
    return scan.survey()


def best_rows(model: Model, choice: int, value: int, limits: Limits) -> Ints | None:
    """The row indices of a choice that occur in some plan of the given best value; None when a limit stops it."""
    scan = _Scan(model, limits, tracked=choice)
    return None if scan.survey().outcome.reason else np.flatnonzero(scan.best_of_tracked() == value)


def count(model: Model, limits: Limits) -> int | None:
    """The number of plans; None when a limit stops the count."""
    scan = _Scan(model, limits)
    low, high = scan.count()
    return low if low == high else None


def count_up_to(model: Model, value: int, limits: Limits) -> int | None:
    """The number of plans whose objective is at most `value`: the objective becomes one more row."""
    bound = Row(-1, replace(model.objective, constant=model.objective.constant - value))
    return count(replace(model, names=(*model.names, "the objective"), rows=(*model.rows, bound)), limits)


def distribution(model: Model, most: int, limits: Limits, plans: int | None = None) -> list[tuple[int, int]] | None:
    """Objective values with their numbers of plans, ascending; None above `most` values or beyond the work limits.

    `plans`, the number of plans if it is known, keeps the table of values small.
    """
    return _Scan(model, limits).distribution(most, most + 1 if plans is None else min(plans, most + 1))


class _Stopped(Exception):
    """A limit ended the scan."""

    def __init__(self, reason: Reason) -> None:
        self.reason = reason


class _Scan:
    def __init__(self, model: Model, limits: Limits, tracked: int | None = None) -> None:
        self.model, self.limits = model, limits
        self.deadline = None if limits.seconds is None else time.monotonic() + limits.seconds
        self.work = 0
        self.tracked = tracked
        self.rows, self.possible = _binding(model)
        self.possible = self.possible and all(len(choice) for choice in model.choices)
        if self.possible:
            self.sides = sides(model, self.rows)
            self.best = np.full(len(self.sides[tracked].obj), NONE, np.int64) if tracked is not None else _NOTHING

    def best_of_tracked(self) -> Ints:
        """The best objective of a plan with each row of the tracked choice."""
        if not self.possible:
            return np.full(len(self.model.choices[self.tracked or 0]), NONE, np.int64)
        return self.best[self.sides[self.tracked or 0].merged]

    def survey(self) -> Survey:
        if not self.possible:
            return Survey(Outcome(Status.INFEASIBLE), (0, 0))
        total, best, tied, runner_up = 0, NONE, 0, NONE
        picked: tuple[int, ...] = ()
        reason = None
        try:
            for batch in self._batches():
                found = self._pairs(batch)
                total += int(found[0]) * batch.times
                value, second = int(found[1]), int(found[3])
                if value < best:
                    best, tied, runner_up = value, int(found[2]) * batch.times, min(best, second)
                    picked = batch.picked(int(found[4]), int(found[5]))
                elif value == best and value != NONE:
                    tied, runner_up = tied + int(found[2]) * batch.times, min(runner_up, second)
                else:
                    runner_up = min(runner_up, value)
        except _Stopped as stop:
            reason = stop.reason
        if reason is not None:
            return self._partial(total, best, picked, reason)
        if not total:
            return Survey(Outcome(Status.INFEASIBLE), (0, 0))
        outcome = Outcome(Status.OPTIMAL, picked, best, best)
        return Survey(outcome, (total, total), tied, None if runner_up == NONE else runner_up)

    def _partial(self, total: int, best: int, picked: tuple[int, ...], reason: Reason) -> Survey:
        """What a stopped scan may say: plans that it saw, and bounds that hold whatever it did not see."""
        every = 1
        for choice in self.model.choices:
            every *= len(choice)
        if best == NONE:
            return Survey(Outcome(Status.UNKNOWN, reason=reason), (0, every))
        bound = self.model.objective.bounds()[0]
        return Survey(Outcome(Status.FEASIBLE, picked, best, bound, reason), (total, every))

    def count(self) -> tuple[int, int]:
        """The number of plans as an interval; exact with up to two binding rows in O(rows log rows)."""
        if len(self.rows) != 2 or not self.possible:
            return self.survey().count
        total = 0
        try:
            for batch in self._batches():
                total += self._pairs_of_two_rows(batch) * batch.times
        except _Stopped:
            return total, total + 1
        return total, total

    def distribution(self, most: int, values: int) -> list[tuple[int, int]] | None:
        """See above; there are at most `values` values that matter."""
        if not self.possible:
            return []
        keys, counts = (np.zeros(4 * values + 3, np.int64) for _ in range(2))
        found: dict[int, int] = {}
        beyond = math.prod(len(choice) for choice in self.model.choices) >= LIMIT  # counts may leave int64
        used = np.zeros(1, np.int64)
        spent = 0
        try:
            for batch in self._batches():
                pairs = batch.pairs()
                spent += pairs
                if spent > MAX_TALLY:
                    return None
                self._spend(pairs)
                times = 1 if beyond else batch.times
                sides = (*batch.a.arrays(), *batch.b.arrays())
                inputs = (batch.blocks, batch.offsets, batch.base, *sides, times, most)
                run(tally, pairs, inputs, (keys, counts, used))
                if used[0] > most:
                    return None
                if beyond:
                    _drain(keys, counts, used, batch.times, found)
        except _Stopped:
            return None
        _drain(keys, counts, used, 1, found)
        return sorted(found.items()) if len(found) <= most else None

    def _batches(self) -> Iterator[Batch]:
        for batch in batches(self.model, self.rows, self.sides, self.tracked):
            if batch is None:
                raise _Stopped(Reason.WORK)
            yield batch

    def _pairs(self, batch: Batch) -> Ints:
        """Runs the kernel that fits the number of rows; returns its `found`."""
        found = np.array([0, NONE, 0, NONE, 0, 0], np.int64)
        inner = self.tracked is not None and batch.a.choice == self.tracked
        best = self.best if inner else _NOTHING
        simple = len(self.rows) <= 1
        for part in [batch] if simple else batch.split(_CHUNK):
            steps = part.rows() if simple else part.pairs()
            self._spend(steps)
            inputs = (part.blocks, part.offsets, part.base, *part.a.arrays(), *part.b.arrays())
            run(sweep if simple else enumerate_pairs, steps, inputs, (found, best))
        if self.tracked is not None and not inner:
            for choice, row in batch.outer:
                if choice == self.tracked:
                    self.best[row] = min(int(self.best[row]), int(found[1]))
        return found

    def _pairs_of_two_rows(self, batch: Batch) -> int:
        found = np.zeros(1, np.int64)
        ordered, place = batch.b.second_costs()
        tree = np.zeros(int(np.diff(batch.b.start).max(initial=0)) + 1, np.int64)
        steps = batch.rows() * 8
        self._spend(steps)
        a_costs, _, a_mult = batch.a.arrays()
        b_costs, _, b_mult = batch.b.arrays()
        run(
            count_two,
            steps,
            (batch.blocks, batch.offsets, a_costs, a_mult, b_costs, b_mult, ordered, place),
            (tree, found),
        )
        return int(found[0])

    def _spend(self, steps: int) -> None:
        """Counts work before it is done; raises _Stopped when a limit would be passed."""
        self.work += steps
        if self.work > self.limits.work:
            raise _Stopped(Reason.WORK)
        if self.deadline is not None and time.monotonic() > self.deadline:
            raise _Stopped(Reason.TIME)


_NOTHING = np.zeros(0, np.int64)


def _drain(keys: Ints, counts: Ints, used: Ints, times: int, found: dict[int, int]) -> None:
    """Adds a table of counts, `times` over, to `found` in Python integers, and empties it."""
    filled = np.flatnonzero(counts)
    for value, number in zip(keys[filled].tolist(), counts[filled].tolist(), strict=True):
        found[value] = found.get(value, 0) + number * times
    counts[:] = 0
    used[:] = 0


def _binding(model: Model) -> tuple[list[Row], bool]:
    """The rows that can fail, each sum once with its tightest limit; and whether each row can hold at all."""
    kept: list[Row] = []
    for row in model.rows:
        low, high = row.linear.bounds()
        if low > 0:
            return [], False
        if high <= 0:
            continue
        same = next((number for number, other in enumerate(kept) if _same_sum(row, other)), None)
        if same is None:
            kept.append(row)
        elif row.linear.constant > kept[same].linear.constant:
            kept[same] = row
    return kept, True


def _same_sum(row: Row, other: Row) -> bool:
    first, second = row.linear, other.linear
    if first.terms or second.terms or first.columns.keys() != second.columns.keys():
        return False
    return all(np.array_equal(column, second.columns[choice]) for choice, column in first.columns.items())


__all__ = ["Side", "Survey", "best_rows", "count", "count_up_to", "distribution", "solve", "survey"]
