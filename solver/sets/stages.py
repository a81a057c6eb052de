"""A model taken apart into steps that each add one row or one whole part, and what is still open after each of them."""

from __future__ import annotations

import math
from collections.abc import Iterable, Iterator, Mapping
from dataclasses import dataclass

import numpy as np

from ..model import LIMIT, Ints
from .model import All, Formula, Leaf, Part, SetModel
from .route import orders
from .states import Coding, Counts, Meter, number_of_lists

MOST_SUMS = 1024  # sums of the remaining rows that are told apart, per quantity
MOST_ENTRIES = 62  # of a step, that are bits of one integer
_MOST_TRIED = 2**16


@dataclass(frozen=True, slots=True)
class Step:
    """One of E entries is added to a state; `adds[column]: int64[E]`, 0 where it is absent, flags are joined by or.

    Either each entry is a list of rows of the part, `codes` and `counts` say which first and how many, or entry 1 puts
    `row` before the rows that were picked, and entry 0 does not. `ends` when nothing of the part is left.
    """

    part: int
    size: int
    adds: Mapping[int, Ints]
    counts: Counts | None
    codes: list[Ints] | None
    row: int
    ends: bool


@dataclass(frozen=True, slots=True)
class Range:
    """What remaining rows add, at least and at most, by how many of the part are picked already (or one number)."""

    low: Ints
    high: Ints


class Stages:
    """The steps for some formulas of a model and its objective.

    Columns: number q is quantity q, `cost` the objective without its constant, then flags, `picked` and `mask`.
    `free`: for the parts without a step, because nothing reads their rows, the first list of these; any goes with any
    plan of the others, so `factor` counts them all.
    """

    def __init__(self, model: SetModel, formulas: tuple[Formula, ...], meter: Meter, objective: bool = True) -> None:
        self.model, self.formulas, self.objective = model, formulas, objective
        number = len(model.quantities)
        self.cost, self.flags = number, number + 1
        self.picked = self.flags + len(model.flags)
        self.mask = self.picked + 1
        self.tracks = self._read()
        self.codings = [Coding.of(len(part), part.at_most) for part in model.parts]
        self.steps: list[Step] = []
        self.free: dict[int, tuple[int, ...]] = {}
        self.factor = 1
        for number, part in enumerate(model.parts):
            ways = number_of_lists(len(part), part.at_least, part.at_most, ordered=False)
            if part.course is None and ways and not self._columns(number):
                self.free[number] = tuple(range(part.at_least))
                self.factor *= ways
        entries = {part: self._entries(part, meter) for part in range(len(model.parts)) if part not in self.free}
        self.possible = all(steps and all(step.size for step in steps) for steps in entries.values())
        if self.possible:
            self.order = self._order(entries)
            self.steps = [step for part in self.order for step in entries[part]]
            self._look_ahead()

    # ------------------------------------------------------------------------------------------ what is read

    def quantity(self, track: int) -> int:
        """The quantity of a track."""
        return self.model.objective.quantity if track == self.cost else track

    def sign(self, track: int) -> int:
        """By what the quantity is multiplied in the track."""
        return self.model.objective.sign if track == self.cost else 1

    def truths(self, track: int) -> list[tuple[Formula, int]]:
        """The formulas that a track counts, with their factors."""
        sign = self.sign(track)
        return [(formula, sign * factor) for formula, factor in self.model.quantities[self.quantity(track)].truths]

    def flagged(self, track: int) -> list[tuple[int, int]]:
        """The flags that a track counts, with their factors."""
        sign = self.sign(track)
        return [(flag, sign * factor) for flag, factor in self.model.quantities[self.quantity(track)].flags]

    def _read(self) -> list[int]:
        """The tracks that formulas or the objective read, ascending by quantity; those of truths come before."""
        found = {leaf.quantity for formula in self.formulas for leaf in leaves(formula)}
        if self.objective:
            found.add(self.cost)
        for track in range(self.cost, -1, -1):
            if track in found:
                found |= {leaf.quantity for formula, _ in self.truths(track) for leaf in leaves(formula)}
        return sorted(found)

    # ------------------------------------------------------------------------------------------ the steps

    def _columns(self, part: int) -> dict[int, Ints]:
        """What each row of a part adds to tracks and flags, without those it never changes."""
        found: dict[int, Ints] = {}
        for track in self.tracks:
            column = self.model.quantities[self.quantity(track)].columns.get(part)
            if column is not None and column.any():
                found[track] = np.multiply(column, self.sign(track), dtype=np.int64)
        for flag in {flag for track in self.tracks for flag, _ in self.flagged(track)}:
            members = self.model.flags[flag].members.get(part)
            if members is not None and members.any():
                found[self.flags + flag] = members.astype(np.int64)
        return found

    def _entries(self, number: int, meter: Meter) -> list[Step]:
        """The steps of a part: its rows from last to first, or a single one."""
        part, columns, size = self.model.parts[number], self._columns(number), len(self.model.parts[number])
        if part.at_least > min(part.at_most, size):
            return []
        if part.course is not None:
            return [self._route(number, part, columns, meter)]
        coding = self.codings[number]
        if size == 0 or part.at_most <= 1:
            some = np.arange(-1 if part.at_least == 0 else 0, size if part.at_most else 0)
            codes = coding.empty(len(some))
            codes[0] = coding.placed(some, 0)[1]
            taken = np.append(np.arange(size), size)[some]  # -1 takes the zero at the end
            adds = {name: np.append(column, 0)[taken] for name, column in columns.items()}
            return [Step(number, len(some), adds, None, codes, -1, ends=True)]
        limited = part.at_least > 0 or part.at_most < size
        steps: list[Step] = []
        for row in range(size - 1, -1, -1):
            adds = {name: np.array([0, column[row]]) for name, column in columns.items() if column[row]}
            if limited:
                adds[self.picked] = np.array([0, 1])
            steps.append(Step(number, 2, adds, None, None, row, ends=row == 0))
        return steps

    def _route(self, number: int, part: Part, columns: Mapping[int, Ints], meter: Meter) -> Step:
        read = [(track, self.model.quantities[self.quantity(track)]) for track in self.tracks]
        ends = any(route == number for _, quantity in read for route, _ in quantity.ends)
        travel = any(route == number for _, quantity in read for route, _ in quantity.travel)
        found = orders(part, ends, travel, meter)
        adds: dict[int, Ints] = {}
        meter.spend(len(found.ends), len(columns) + 1)
        meter.hold(len(found.ends), len(columns) + len(part))
        for name, column in columns.items():
            visited = found.visited.astype(np.int64)
            added = (visited[:, column > 0] if name >= self.flags else visited * column).sum(axis=1, dtype=np.int64)
            adds[name] = np.minimum(added, 1, dtype=np.int64) if name >= self.flags else added
        for track, quantity in read:
            timed = np.zeros(len(found.ends), np.int64)
            for factors, values in ((quantity.ends, found.ends), (quantity.travel, found.travel)):
                timed += values * (self.sign(track) * sum(factor for route, factor in factors if route == number))
            if timed.any():
                adds[track] = np.add(adds.get(track, np.zeros_like(timed)), timed, dtype=np.int64)
        return Step(number, len(found.ends), adds, found.counts, found.codes, -1, ends=True)

    def _order(self, entries: Mapping[int, list[Step]]) -> list[int]:
        """Parts in an order that leaves few quantities open at a time: greedily, ties by size, then by number."""
        touched = {part: {name for step in steps for name in step.adds} for part, steps in entries.items()}
        number = {name: sum(name in some for some in touched.values()) for name in range(self.picked)}
        found: list[int] = []
        seen = dict.fromkeys(number, 0)
        while len(found) < len(entries):

            def price(part: int) -> tuple[int, float, int]:
                some = touched[part] - {self.cost, self.picked}
                opened = sum(seen[name] == 0 and number[name] > 1 for name in some)
                closed = sum(seen[name] > 0 and seen[name] + 1 == number[name] for name in some)
                return opened - closed, sum(math.log(step.size) for step in entries[part]), part

            part = min((part for part in entries if part not in found), key=price)
            found.append(part)
            for name in touched[part]:
                if name in seen:
                    seen[name] += 1
        return found

    # ------------------------------------------------------------------------------------------ what comes later

    def _look_ahead(self) -> None:
        """When each track and flag is complete, and what the remaining steps add to each track."""
        last = {name: place for place, step in enumerate(self.steps) for name in step.adds}
        self.flag_ready = {flag: last.get(self.flags + flag, -1) for flag in range(len(self.model.flags))}
        self.track_ready: dict[int, int] = {}
        for track in self.tracks:
            some = [last.get(track, -1)]
            some += [self.flag_ready[flag] for flag, _ in self.flagged(track)]
            some += [self.ready(formula) for formula, _ in self.truths(track)]
            self.track_ready[track] = max(some)
        self.ranges: list[dict[int, Range]] = [{} for _ in self.steps]
        self.sums: list[dict[int, Ints | None]] = [{} for _ in self.steps]
        for track in self.tracks:
            self._ranges(track)
            self._sums(track)

    def ready(self, formula: Formula) -> int:
        """The step after which a formula is decided, -1 before all."""
        return max((self.track_ready[leaf.quantity] for leaf in leaves(formula)), default=-1)

    def last_step(self, formula: Formula) -> tuple[int, int] | None:
        """The last step that changes a formula, behind the one before it; None unless it is a choice of few entries."""
        tracks = {leaf.quantity for leaf in leaves(formula)}
        if any(self.flagged(track) or self.truths(track) for track in tracks):
            return None
        found = [place for place, step in enumerate(self.steps) if tracks & step.adds.keys()]
        if not found or self.steps[found[-1]].row >= 0 or self.steps[found[-1]].size > MOST_ENTRIES:
            return None
        return found[-2] if len(found) > 1 else -1, found[-1]

    def _ranges(self, track: int) -> None:
        low = high = 0
        place = len(self.steps) - 1
        while place >= 0:
            step, part = self.steps[place], self.model.parts[self.steps[place].part]
            if step.row < 0:
                self.ranges[place][track] = Range(np.array([low]), np.array([high]))
                added = step.adds.get(track, np.zeros(1, np.int64))
                low, high, place = low + int(added.min()), high + int(added.max()), place - 1
                continue
            column = self._columns(step.part).get(track, np.zeros(len(part), np.int64))
            for row in range(len(part)):
                self.ranges[place - row][track] = _some_rows(column[:row], part, low, high)
            whole = _some_rows(column, part, low, high)
            low, high, place = int(whole.low[0]), int(whole.high[0]), place - len(part)

    def _sums(self, track: int) -> None:
        sums: Ints | None = np.zeros(1, np.int64)
        for place in range(len(self.steps) - 1, -1, -1):
            self.sums[place][track] = sums
            if sums is not None and (added := self.steps[place].adds.get(track)) is not None:
                sums = added_sums(sums, added)


def added_sums(sums: Ints | None, added: Ints) -> Ints | None:
    """All sums of one of each, ascending; None when they are too many."""
    if sums is None:
        return None
    added = np.unique(added)
    if len(added) * len(sums) > _MOST_TRIED:
        return None
    found = np.unique(np.add.outer(sums, added))
    found = found[np.abs(found) < LIMIT]  # no plan has a sum beyond, at no step
    return found if len(found) <= MOST_SUMS else None


def _some_rows(column: Ints, part: Part, low: int, high: int) -> Range:
    """What a right number of these rows and what is behind them add, by how many of the part's rows are picked."""
    picked = np.arange(min(part.at_most, len(part)) + 1)
    least, most = np.maximum(part.at_least - picked, 0), np.minimum(part.at_most - picked, len(column))
    up = np.sort(column)
    lows, highs = (np.concatenate([[0], np.cumsum(some)]) for some in (up, up[::-1]))
    fewest, greatest = int((column < 0).sum()), int((column > 0).sum())
    # Adding them from the smallest on, the sum falls and then rises: its least value is at the nearest number to that.
    least = np.minimum(least, most)
    return Range(lows[np.clip(fewest, least, most)] + low, highs[np.clip(greatest, least, most)] + high)


def leaves(formula: Formula) -> Iterator[Leaf]:
    """All leaves of a formula."""
    if isinstance(formula, Leaf):
        yield formula
    else:
        for part in formula.parts:
            yield from leaves(part)


def bounded(model: SetModel, formulas: Iterable[Formula]) -> tuple[tuple[Formula, ...], int | None]:
    """Formulas without those that only bound the cost from above, and that bound, without the objective's constant."""
    rest: list[Formula] = []
    bounds: list[int] = []
    for formula in formulas:
        objective = model.objective
        if isinstance(formula, Leaf) and (formula.quantity, formula.sign) == (objective.quantity, objective.sign):
            bounds.append(-formula.constant)
        else:
            rest.append(formula)
    return tuple(rest), min(bounds, default=None)


def conjuncts(formulas: Iterable[Formula]) -> tuple[Formula, ...]:
    """Formulas that are all true where these are: none of them is an All."""
    found: list[Formula] = []
    for formula in formulas:
        found.extend(conjuncts(formula.parts) if isinstance(formula, All) else (formula,))
    return tuple(dict.fromkeys(found))


def clamped(number: int) -> int:
    """The number, or the nearest to it that sums can be compared with; they are below LIMIT."""
    return max(-LIMIT, min(LIMIT, number))
