"""Answers the questions about a model batch by batch: which loop fits, how much work it is, and what it adds up to."""

from __future__ import annotations

import math
import time
from collections.abc import Iterator, Sequence
from dataclasses import dataclass, replace
from dataclasses import field as default

import numpy as np

from ..model import LIMIT, Ints, Linear, Model, Row
from ..outcome import Limits, Outcome, Reason, Status
from .bits import MARKS, WORD, sweep_bits
from .blocks import Batch, batches
from .grouping import NOTHING, sides
from .kernels import FOUND, NONE, run, sweep, sweep_two
from .pairs import enumerate_pairs, hash_values, report
from .survey import Survey

MAX_TALLY = 200_000_000  # pairs that are looked at for a distribution whose values are many
MAX_CELLS = 1 << 20  # values of a sum that is tallied in a table
_CHUNK = 100_000_000  # steps between two looks at the clock
TREE_STEPS = 16  # for each row where a tree holds more than numbers
BIT_STEPS = 64  # for each row and linear row, beside the words, where rows are bits
_LANES = 8  # cells of a table that are added to in one step


class Stopped(Exception):
    """A limit ended the scan."""

    def __init__(self, reason: Reason) -> None:
        self.reason = reason


@dataclass(slots=True)
class _Sum:
    """What the scan has seen so far."""

    total: int = 0
    best: int = NONE
    tied: int = 0
    runner_up: int = NONE
    picked: tuple[int, ...] = ()
    below: list[int] = default(default_factory=list[int])
    equal: list[int] = default(default_factory=list[int])
    tally: dict[int, int] = default(default_factory=dict[int, int])

    def add(self, batch: Batch, found: Ints, below: Ints, equal: Ints) -> None:
        """Adds what a loop found in a batch, in Python integers."""
        number, value, tied, second, a_row, b_row, block = found.tolist()
        self.total += number * batch.scale
        if value < self.best:
            self.runner_up = min(self.best, second)
            self.best, self.tied = value, tied * batch.scale
            self.picked = batch.picked(block, a_row, b_row)
        elif value == self.best and value != NONE:
            self.tied += tied * batch.scale
            self.runner_up = min(self.runner_up, second)
        else:
            self.runner_up = min(self.runner_up, value)
        for place, more in enumerate(below.tolist()):
            self.below[place] += more * batch.scale
        for place, more in enumerate(equal.tolist()):
            self.equal[place] += more * batch.scale

    def drain(self, keys: Sequence[int], counts: Sequence[int], scale: int) -> None:
        """Adds numbers of plans to the tally."""
        for key, number in zip(keys, counts, strict=True):
            self.tally[key] = self.tally.get(key, 0) + number * scale


class Scan:
    """One pass over a model. `values`: those to be ranked; `by`: the sum to be tallied, as `unit[0] + unit[1] * by`;
    `tracked`: a choice for whose rows the best plans are kept.
    """

    def __init__(
        self,
        model: Model,
        limits: Limits,
        values: Sequence[int] = (),
        by: Linear | None = None,
        unit: tuple[int, int] = (0, 1),
        tracked: int | None = None,
    ) -> None:
        self.model, self.limits, self.tracked, self.unit = model, limits, tracked, unit
        self.deadline = None if limits.seconds is None else time.monotonic() + limits.seconds
        self.work = 0
        self.values = list(dict.fromkeys(values))
        if by is not None and any(len(column) != len(model.choices[place]) for place, column in by.columns.items()):
            raise ValueError("the sum that is tallied has a column for other rows than the model's")
        self.by_low, by_high = (0, -1) if by is None else by.bounds()
        self.cells = by_high - self.by_low + 1
        self.by = by if 0 < self.cells <= MAX_CELLS else None
        self.rows, possible = binding(model)
        self.possible = possible and all(len(choice) for choice in model.choices)
        if self.possible:
            self.low, self.high = model.objective.bounds()
            self.wanted = np.array([min(max(value, self.low), self.high) for value in self.values], np.int64)
            self.sides = sides(model, self.rows, self.by)
            self.best = np.full(len(self.sides[tracked]), NONE, np.int64) if tracked is not None else NOTHING
            self.tallied = np.zeros(self.cells if self.by else 0, np.int64)
            self.numbers: dict[int, tuple[Ints, Ints]] = {}
            self.bits: tuple[Ints, ...] = ()
            self.huge = math.prod(len(choice) for choice in model.choices) >= LIMIT  # counts may leave int64

    def best_of_tracked(self) -> Ints:
        """The best objective of a plan with each row of the tracked choice."""
        if not self.possible:
            return np.full(len(self.model.choices[self.tracked or 0]), NONE, np.int64)
        return self.sides[self.tracked or 0].spread(self.best)

    def survey(self, asked: Linear | None = None) -> Survey:
        """Everything at once; `asked` is the sum that was to be tallied, if any."""
        tally = {} if asked is not None else None
        if not self.possible:
            ranks = dict.fromkeys(self.values, (0, 0))
            return Survey(Outcome(Status.INFEASIBLE), (0, 0), ranks=ranks, tally=tally)
        seen = _Sum(below=[0] * len(self.values), equal=[0] * len(self.values))
        try:
            for batch in self._batches():
                self._answer(batch, seen)
        except Stopped as stop:
            return self._partial(seen, stop.reason)
        ranks = {
            value: (below, equal) if value == asked else (0, 0) if value < asked else (below + equal, 0)
            for value, asked, below, equal in zip(
                self.values, self.wanted.tolist(), seen.below, seen.equal, strict=True
            )
        }
        tally = None
        if self.by is not None:
            self._drain(seen, 1)
            tally = dict(sorted(seen.tally.items()))
        if not seen.total:
            return Survey(Outcome(Status.INFEASIBLE), (0, 0), ranks=ranks, tally=tally)
        outcome = Outcome(Status.OPTIMAL, seen.picked, seen.best, seen.best)
        runner_up = None if seen.runner_up == NONE else seen.runner_up
        return Survey(outcome, (seen.total, seen.total), seen.tied, runner_up, ranks, tally)

    def _partial(self, seen: _Sum, reason: Reason) -> Survey:
        """What a stopped scan may say: plans that it saw, and bounds that hold whatever it did not see."""
        every = math.prod(len(choice) for choice in self.model.choices)
        if seen.best == NONE:
            return Survey(Outcome(Status.UNKNOWN, reason=reason), (0, every))
        outcome = Outcome(Status.FEASIBLE, seen.picked, seen.best, self.low, reason)
        return Survey(outcome, (seen.total, every))

    def distribution(self, most: int, values: int) -> list[tuple[int, int]] | None:
        """Values of the objective, of which at most `values` matter, with their numbers of plans; None above `most`.

        In a sweep where the objective, which `by` has to be in its unit, has few values; else pair by pair.
        """
        if not self.possible:
            return []
        keys = counts = NOTHING
        used = np.zeros(1, np.int64)
        seen = _Sum()
        spent = 0
        try:
            for batch in self._batches():
                pairs = int(batch.pairs().sum())
                steps = int(batch.rows().sum()) * self._per_row(batch)
                if self.by is not None and len(self.rows) < 2 and steps < pairs:
                    self._answer(batch, seen)
                    continue
                spent += pairs
                if spent > MAX_TALLY:
                    return None
                if not len(keys):
                    keys, counts = (np.zeros(4 * values + 3, np.int64) for _ in range(2))
                smaller = batch.cut(_CHUNK)
                for part in self._parts(smaller, smaller.pairs()):
                    steps = int(part.pairs().sum())
                    run(hash_values, steps, (*part.inputs(), most), (keys, counts, used))
                    if used[0] > most:
                        return None
                if self.huge:
                    _empty(keys, counts, used, batch.scale, seen)
        except Stopped:
            return None
        _empty(keys, counts, used, 1, seen)
        self._drain(seen, 1)
        return sorted(seen.tally.items()) if len(seen.tally) <= most else None

    def plans_up_to(self, value: int, most: int) -> list[tuple[int, tuple[int, ...]]] | None:
        """Every plan with at most this value, in order; None when there are more than `most`."""
        if not self.possible or value < self.low:
            return []
        value = min(value, self.high)
        found: list[tuple[int, tuple[int, ...]]] = []
        tree, plans = NOTHING, np.zeros(3 * most, np.int64)
        for batch in self._batches():
            tree = tree if len(tree) else _least_tree(batch.b.obj)
            for part in self._parts(batch, batch.rows()):
                used = np.zeros(2, np.int64)
                allowed = self.limits.work - self.work
                run(report, 0, (*part.inputs(), value, allowed, tree), (used, plans))
                self._spend(int(used[1]))
                if used[0] > most:
                    return None
                for block, a_row, b_row in plans.reshape(-1, 3)[: used[0]].tolist():
                    for picked in part.plans(block, a_row, b_row):
                        found.append((self.model.objective.value(picked), picked))
                        if len(found) > most:
                            return None
        return sorted(found)

    def _least_work(self) -> int:
        """Steps that no loop does without: one for each row of the inner side A, with all rows of the outer choices.

        Links and tables may leave out any of them.
        """
        sizes = sorted(map(len, self.sides))
        return 0 if self.model.links or self.model.tables else math.prod(sizes[:-1])

    def _batches(self) -> Iterator[Batch]:
        if self._least_work() > self.limits.work:  # minutes of work that cannot be finished, for a plan by chance
            raise Stopped(Reason.WORK)
        for batch in batches(self.model, self.rows, self.by, self.sides, self.tracked):
            if batch is None:
                raise Stopped(Reason.WORK)
            yield batch

    def _per_row(self, batch: Batch) -> int:
        """About how many steps a sweep takes for each row."""
        width = int(batch.b.by.max()) if self.by is not None else 0
        return 1 + len(self.values) + width // _LANES

    def _fits_tree(self) -> bool:
        """Whether what is asked is what `sweep_two` answers."""
        return len(self.rows) == 2 and not self.values and self.by is None

    def _bit_steps(self, batch: Batch) -> Ints:
        """About how many steps each block takes where rows are bits."""
        shape = batch.bounds.reshape(-1, 4)
        words = (shape[:, 3] - shape[:, 2]) // WORD + 1
        return (shape[:, 1] - shape[:, 0]) * (3 * words + BIT_STEPS) * len(self.rows)

    def _answer(self, batch: Batch, seen: _Sum) -> None:
        """Runs the loop that fits a batch, and adds up what it finds."""
        rows, pairs = batch.rows(), batch.pairs()
        if len(self.rows) <= 1:
            kernel, weights = self._sweep, rows * self._per_row(batch)
        elif self._fits_tree() and int(rows.sum()) * TREE_STEPS < int(pairs.sum()):
            kernel, weights = self._sweep_two, rows * TREE_STEPS
        elif self.by is None and not len(batch.b.mult) and (weights := self._bit_steps(batch)).sum() < pairs.sum():
            kernel = self._sweep_bits
        else:
            kernel, batch = self._enumerate, batch.cut(_CHUNK)
            weights = batch.pairs()
        inner = self.tracked is not None and batch.a.choice == self.tracked
        for part in self._parts(batch, weights):
            found = np.array(FOUND, np.int64)
            below, equal = (np.zeros(len(self.wanted), np.int64) for _ in range(2))
            of_a = self.best if inner else NOTHING
            of_block = np.full(len(part), NONE, np.int64) if self.tracked is not None else NOTHING
            kernel(part, found, of_a, of_block, below, equal)
            if not inner:
                for side, merged in part.picks:
                    if side.choice == self.tracked:
                        np.minimum.at(self.best, merged, of_block)
            seen.add(part, found, below, equal)
        if self.huge:
            self._drain(seen, batch.scale)

    def _sweep(self, part: Batch, found: Ints, of_a: Ints, of_block: Ints, below: Ints, equal: Ints) -> None:
        place = distinct = tree = NOTHING
        low = 0
        if len(self.wanted):
            low, high = int(part.b.obj.min()), int(part.b.obj.max())
            size = part.b.largest()
            if (high - low) * len(part.base) <= 4 * int(part.rows().sum()) and high - low < MAX_CELLS:
                size = high - low + 1
            else:
                place, distinct = self._numbered(part, part.b.obj)
            tree = np.zeros(size + 1, np.int64)
        running = np.zeros(int(part.b.by.max()) + 1 if self.by is not None else 0, np.int64)
        outputs = (found, of_a, of_block, below, equal, tree, np.zeros_like(tree), running, self.tallied)
        run(sweep, int(part.rows().sum()), (*part.inputs(), self.wanted, place, distinct, low), outputs)

    def _sweep_two(self, part: Batch, found: Ints, of_a: Ints, of_block: Ints, below: Ints, equal: Ints) -> None:
        del below, equal
        place, distinct = self._numbered(part, part.b.costs[1::2])
        tree = np.tile(np.array([0, NONE, 0, NONE, 0], np.int64), part.b.largest() + 1)
        inputs = (*part.inputs(), place, distinct)
        run(sweep_two, int(part.rows().sum()) * TREE_STEPS, inputs, (found, of_a, of_block, tree))

    def _sweep_bits(self, part: Batch, found: Ints, of_a: Ints, of_block: Ints, below: Ints, equal: Ints) -> None:
        if not self.bits:
            self.bits = part.b.bits()
        size = part.b.largest()
        words = size // WORD + 1
        fits, every, together, ones = (np.zeros(words, np.int64) for _ in range(4))
        marks = np.zeros(max(1, len(self.rows) - 1) * (min(MARKS, size * words // 64) + 2 * words), np.int64)
        outputs = (found, of_a, of_block, below, equal, fits, every, together, ones, marks)
        steps = int(self._bit_steps(part).sum())
        run(sweep_bits, steps, (*part.inputs(), self.wanted, *self.bits), outputs)

    def _enumerate(self, part: Batch, found: Ints, of_a: Ints, of_block: Ints, below: Ints, equal: Ints) -> None:
        steps = int(part.pairs().sum())
        inputs = (*part.inputs(), self.wanted, 0 if self.by is None else 1)
        run(enumerate_pairs, steps, inputs, (found, of_a, of_block, below, equal, self.tallied))

    def _numbered(self, part: Batch, values: Ints) -> tuple[Ints, Ints]:
        """The numbers of the values of side B within their groups, computed once."""
        if part.b.choice not in self.numbers:
            self.numbers[part.b.choice] = part.b.numbered(values)
        return self.numbers[part.b.choice]

    def _drain(self, seen: _Sum, scale: int) -> None:
        """Takes the table of the tallied sum over into Python integers."""
        filled = np.flatnonzero(self.tallied)
        zero, unit = self.unit
        keys = [zero + unit * (self.by_low + cell) for cell in filled.tolist()]
        seen.drain(keys, self.tallied[filled].tolist(), scale)
        self.tallied[filled] = 0

    def _parts(self, batch: Batch, weights: Ints) -> Iterator[Batch]:
        """The batch in parts of about _CHUNK steps, `weights` for each of its blocks, as far as the limits allow."""
        ends = np.cumsum(weights)
        low = done = 0
        while low < len(ends):
            fit = min(_CHUNK, self.limits.work - self.work)
            high = max(low + 1, int(np.searchsorted(ends, done + fit, "right")))
            self._spend(int(ends[high - 1]) - done)
            yield batch if high - low == len(ends) else batch.taken(slice(low, high))
            low, done = high, int(ends[high - 1])

    def _spend(self, steps: int) -> None:
        """Counts work before it is done; raises Stopped when a limit would be passed."""
        self.work += steps
        if self.work > self.limits.work:
            raise Stopped(Reason.WORK)
        if self.deadline is not None and time.monotonic() > self.deadline:
            raise Stopped(Reason.TIME)


def _empty(keys: Ints, counts: Ints, used: Ints, scale: int, seen: _Sum) -> None:
    """Adds a hash table of counts, `scale` times over, to what was seen, and empties it."""
    filled = np.flatnonzero(counts)
    seen.drain(keys[filled].tolist(), counts[filled].tolist(), scale)
    counts[:] = 0
    used[:] = 0


def _least_tree(values: Ints) -> Ints:
    """A tree of minima: the values from place n on, n a power of two, and above places i and i + 1 their least."""
    leaves = 1 << max(0, len(values) - 1).bit_length()
    tree = np.full(2 * leaves, NONE, np.int64)
    tree[leaves : leaves + len(values)] = values
    while leaves > 1:
        tree[leaves // 2 : leaves] = tree[leaves : 2 * leaves].reshape(-1, 2).min(axis=1)
        leaves //= 2
    return tree


def in_steps(linear: Linear, step: int) -> Linear:
    """The sum of the whole steps by which each part of a sum is above its least value."""
    columns = {choice: (column - column.min()) // step for choice, column in linear.columns.items() if column.size}
    filled = (term for term in linear.terms if term.values.size)
    terms = (replace(term, values=(term.values - term.values.min()) // step) for term in filled)
    return Linear(columns, tuple(terms), 0)


def common_step(linear: Linear) -> int:
    """The greatest step of which all differences between values of the sum are multiples; at least 1."""
    parts = [*linear.columns.values(), *(term.values for term in linear.terms)]
    return math.gcd(*(int(np.gcd.reduce(part - part.min(), axis=None)) for part in parts if part.size)) or 1


def binding(model: Model) -> tuple[list[Row], bool]:
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
