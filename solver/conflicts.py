"""Why a task has no plan, in its own constraint names: every minimal conflict, every minimal correction, exact amounts.

A conflict is a set of names that no plan satisfies together, although without any one of them some plan does (a MUS). A
correction is a least set of names to give up (an MCS). Each is found by asking one question of the scan, `is there a
plan for these names?`, in the order of MARCO (Liffiton, Previti, Malik and Marques-Silva, 2016): any set not yet
explained is shrunk to a conflict or grown to the complement of a correction, until nothing is left unexplained.
"""

from __future__ import annotations

import time
from collections.abc import Iterator
from dataclasses import dataclass, replace
from functools import cached_property

import numpy as np

from . import scan
from .lattice import Aim, Lattice, TooLargeError
from .model import Ints, Linear, Model, Threshold
from .outcome import Limits, Status, Undecided
from .reduce import cheapest
from .signatures import frontier

MAX_FOUND = 20_000
MOST_NAMES = 22  # of which all sets are tried
MAX_QUESTIONS = 5_000
MAX_GUESSES = 200_000
_TOGETHER = 256  # sets that a lattice is asked for at once

Names = frozenset[int]


@dataclass(frozen=True, slots=True)
class Correction:
    """Names to drop, and at most one threshold to move by `amount`; with that, some plan satisfies everything else."""

    drop: tuple[int, ...]
    move: int | None
    amount: int


@dataclass(frozen=True, slots=True)
class Explanation:
    """Conflicts and corrections, each in order; `complete` when there are no others."""

    conflicts: tuple[tuple[int, ...], ...]
    corrections: tuple[Correction, ...]
    complete: bool


def explain(model: Model, limits: Limits) -> Explanation:
    """The explanation of a model without a plan (of one with a plan: no conflict, no correction)."""
    search = _Search(model, limits)
    complete = True
    try:
        search.run()
    except Undecided:
        complete = False
    corrections: list[Correction] = []
    try:
        for dropped in search.corrections:
            corrections.extend(search.loosened(dropped))
    except Undecided:
        complete = False
    conflicts = sorted(tuple(sorted(names)) for names in search.conflicts)
    conflicts.sort(key=len)
    corrections.sort(
        key=lambda item: (len(item.drop) + (item.move is not None), _file_order(item), item.amount, item.move or 0)
    )
    return Explanation(tuple(conflicts), tuple(corrections), complete)


def without(model: Model, correction: Correction) -> Model:
    """The model with the constraints that a correction keeps; a moved threshold becomes the objective to minimise."""
    given_up = {*correction.drop, *([correction.move] if correction.move is not None else [])}
    kept = [number for number in range(len(model.names)) if number not in given_up]
    if correction.move is None:
        return model.kept(kept)
    known = model.thresholds[correction.move].known
    rest = model.kept(kept, {choice: np.flatnonzero(flags) for choice, flags in known.items()})
    threshold = rest.thresholds[correction.move]
    return replace(rest, objective=threshold.linear, maximize=False, tables=(*rest.tables, *threshold.tables))


def _file_order(item: Correction) -> tuple[int, ...]:
    return tuple(sorted((*item.drop, *([item.move] if item.move is not None else []))))


class _Search:
    def __init__(self, model: Model, limits: Limits) -> None:
        self.model, self.limits = model, limits
        self.started = time.monotonic()
        self.every = frozenset(range(len(model.names)))
        self.conflicts: list[Names] = []
        self.corrections: list[Names] = []
        self.rows = [row for row in model.rows if row.linear.bounds()[1] > 0]  # the others hold in any case
        self._known: dict[Names, bool] = {}
        self._guesses = iter(range(MAX_GUESSES))
        self._work = limits.work
        self._lattices: dict[int | None, Lattice | None] = {}
        self._misses: dict[int, dict[Names, int] | None] = {}

    @cached_property
    def small(self) -> Model:
        """What only decides whether there is a plan: the objective says nothing, so alike rows are one."""
        return cheapest(replace(self.model, objective=Linear({}, (), 0), thresholds={}))

    def run(self) -> None:
        """Finds all conflicts and corrections."""
        if not self._by_table():
            self._by_map()

    # all sets at once

    def _by_table(self) -> bool:
        """Reads them off the table of all sets, if there is one: at most one integer row, and not too many names."""
        lattice = self._lattice(0 if self.rows else None) if len(self.rows) <= 1 else None
        if lattice is None or len(lattice.names) > MOST_NAMES:
            return False
        try:
            values = lattice.table()
        except TooLargeError:
            return False
        solvable = values <= lattice.finite
        for row in self.rows:
            bit = 1 << lattice.names.index(row.constraint)
            holds, least = (part.reshape(-1, 2, bit)[:, 1] for part in (solvable, values))
            np.less_equal(least, -row.linear.constant, out=holds)
        least_sets, greatest_sets = frontier(solvable)
        every = (1 << len(lattice.names)) - 1
        conflicts = _in_order(least_sets, lattice.names)
        corrections = _in_order(every - greatest_sets, lattice.names)
        self.corrections = corrections[: max(MAX_FOUND // 2, MAX_FOUND - len(conflicts))]
        self.conflicts = conflicts[: MAX_FOUND - len(self.corrections)]
        if len(conflicts) + len(corrections) > MAX_FOUND:
            raise Undecided
        return True

    def _lattice(self, row: int | None) -> Lattice | None:
        """The lattice for one of the integer rows, or for none; None when it would be too large."""
        if row not in self._lattices:
            aim = Aim() if row is None else Aim(self.rows[row].linear)
            also = [] if row is None else [self.rows[row].constraint]
            try:
                self._lattices[row] = Lattice(self.model, aim, self._left(), also=also)
            except TooLargeError:
                self._lattices[row] = None
        return self._lattices[row]

    def _left(self) -> Limits:
        return self.limits.left(self.started)

    # one set after the other

    def solvable(self, names: Names) -> bool:
        """Whether some plan satisfies all the names."""
        if names not in self._known:
            if len(self._known) >= MAX_QUESTIONS:
                raise Undecided
            known = self._looked_up(names)
            self._known[names] = self._scanned(names) if known is None else known
        return self._known[names]

    def _looked_up(self, names: Names) -> bool | None:
        """What lattices say: all with up to one integer row, and with several that there is no plan."""
        active = [number for number, row in enumerate(self.rows) if row.constraint in names]
        try:
            for number in active or [0 if self.rows else None]:
                lattice = self._lattice(number)
                if lattice is None:
                    return None
                (least,) = lattice.values([names])
                limit = -self.rows[number].linear.constant if number in active else lattice.finite
                if least > limit:
                    return False
        except TooLargeError:
            return None
        return None if len(active) > 1 else True

    def _scanned(self, names: Names) -> bool:
        self._work -= sum(len(choice) for choice in self.small.choices)
        if self._work < 0:
            raise Undecided
        outcome = scan.solve(self.small.kept(names), self._left())
        if outcome.status is Status.UNKNOWN:
            raise Undecided
        return outcome.status is not Status.INFEASIBLE

    def _by_map(self) -> None:
        """MARCO."""
        while (seed := self._unexplained()) is not None:
            if len(self.conflicts) + len(self.corrections) >= MAX_FOUND:
                raise Undecided
            if self.solvable(seed):
                for name in sorted(self.every - seed):
                    if self.solvable(seed | {name}):
                        seed |= {name}
                self.corrections.append(self.every - seed)
                if seed == self.every:
                    return
            else:
                for name in sorted(seed, reverse=True):
                    if not self.solvable(seed - {name}):
                        seed -= {name}
                self.conflicts.append(seed)
                if not seed:
                    return

    def _unexplained(self) -> Names | None:
        """A set of names that holds no known conflict and drops something of every known correction, or None."""
        clauses = [*((names, False) for names in self.conflicts), *((names, True) for names in self.corrections)]
        larger = len(self.conflicts) <= len(self.corrections)  # large sets end as conflicts, small ones as corrections
        return _model_of(clauses, self.every, frozenset(), frozenset(), self._guesses, larger)

    # amounts

    def loosened(self, dropped: Names) -> Iterator[Correction]:
        """The correction that drops these names; with thresholds among them, one correction for moving each instead."""
        moved = False
        for name in sorted(dropped & self.model.thresholds.keys()):
            amount = self._amount(dropped, name)
            if amount is not None:
                moved = True
                yield Correction(tuple(sorted(dropped - {name})), name, amount)
        if not moved:
            yield Correction(tuple(sorted(dropped)), None, 0)

    def _amount(self, dropped: Names, name: int) -> int | None:
        """The least by which a threshold is missed when only the dropped names may be failed; None: never known."""
        kept = self.every - dropped
        active = [number for number, row in enumerate(self.rows) if row.constraint in kept]
        try:
            if not active and not _alone(self.model.thresholds[name]):
                if name not in self._misses:
                    self._misses[name] = None
                    self._misses[name] = self._all_misses(name)
                misses = self._misses[name]
                if misses is not None:
                    return misses.get(dropped)
            elif len(active) <= 1 and _alone(self.model.thresholds[name]):
                return self._miss_alone(kept, name, active)
        except TooLargeError:
            pass
        outcome = scan.solve(without(self.model, Correction(tuple(dropped - {name}), name, 0)), self._left())
        if outcome.status in (Status.UNKNOWN, Status.FEASIBLE):
            raise Undecided
        return outcome.best if outcome.status is Status.OPTIMAL else None

    def _miss_alone(self, kept: Names, name: int, active: list[int]) -> int | None:
        """The same where only the rows of one choice matter: the best of those that are in a plan."""
        threshold = self.model.thresholds[name]
        ((choice, column),) = threshold.linear.columns.items()
        number = active[0] if active else 0 if self.rows else None
        lattice = self._lattice(number)
        if lattice is None:
            raise TooLargeError
        at_most = -self.rows[active[0]].linear.constant if active else lattice.finite
        rows = lattice.rows(kept, choice, at_most, threshold.known.get(choice, np.ones(len(column), np.bool_)))
        return int(column[rows].min()) + threshold.linear.constant if len(rows) else None

    def _all_misses(self, name: int) -> dict[Names, int]:
        """The same for all corrections with the threshold that keep no integer row; those that have none are left out.

        Raises TooLargeError.
        """
        threshold, held = self.model.thresholds[name], {row.constraint for row in self.rows}
        asked = [dropped for dropped in self.corrections if name in dropped and held <= dropped]
        aim = Aim(threshold.linear, threshold.known, threshold.tables)
        lattice = Lattice(self.model, aim, self._left(), without=name)
        found: dict[Names, int] = {}
        for low in range(0, len(asked), _TOGETHER):
            part = asked[low : low + _TOGETHER]
            for dropped, least in zip(part, lattice.values([self.every - one for one in part]), strict=True):
                if least <= lattice.finite:
                    found[dropped] = least + threshold.linear.constant
        return found


def _alone(threshold: Threshold) -> bool:
    """Whether only the rows of one choice decide by how much it is missed, and whether that is known."""
    linear = threshold.linear
    others = (flags for choice, flags in threshold.known.items() if choice not in linear.columns)
    return len(linear.columns) == 1 and not linear.terms and not threshold.tables and all(map(np.all, others))


def _in_order(sets: Ints, names: tuple[int, ...]) -> list[Names]:
    """Sets of places as sets of the names there, the smallest first, then in file order."""
    order = np.argsort(names)
    inside = (sets[:, None] >> order & 1).astype(np.bool_)
    members = np.asarray(names)[order][np.nonzero(inside)[1]].tolist()
    ends = np.cumsum(inside.sum(axis=1)).tolist()
    found = [members[low:high] for low, high in zip([0, *ends], ends, strict=False)]
    return [frozenset(item) for item in sorted(found, key=lambda item: (len(item), item))]


_Clause = tuple[Names, bool]


def _model_of(
    clauses: list[_Clause], every: Names, true: Names, false: Names, guesses: Iterator[int], larger: bool
) -> Names | None:
    """An assignment in which of every positive clause one name is in, and of every negative one is out: small DPLL.

    Undecided names are tried as in before out if the set should be `larger`, else the other way round. Each guess is
    taken from `guesses`; when there is none left, the search ends undecided.
    """
    while True:
        open_clauses: list[_Clause] = []
        unit: tuple[int, bool] | None = None
        for names, positive in clauses:
            good, bad = (true, false) if positive else (false, true)
            if names & good:
                continue
            left = names - bad
            if not left:
                return None
            open_clauses.append((left, positive))
            if len(left) == 1:
                unit = next(iter(left)), positive
        clauses = open_clauses
        if unit is None:
            break
        true, false = (true | {unit[0]}, false) if unit[1] else (true, false | {unit[0]})
    undecided = sorted({name for names, _ in clauses for name in names} - true - false)
    if not undecided:
        return every - false if larger else true
    name = undecided[0]
    if next(guesses, None) is None:
        raise Undecided
    inside, outside = (true | {name}, false), (true, false | {name})
    for now_true, now_false in (inside, outside) if larger else (outside, inside):
        found = _model_of(clauses, every, now_true, now_false, guesses, larger)
        if found is not None:
            return found
    return None
