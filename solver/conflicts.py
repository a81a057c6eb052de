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

import numpy as np

from . import scan
from .model import Linear, Model
from .outcome import Limits, Status
from .reduce import cheapest

MAX_FOUND = 1_000
MAX_QUESTIONS = 5_000
MAX_GUESSES = 200_000

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


class _Undecided(Exception):
    """A limit kept the scan from answering."""


def explain(model: Model, limits: Limits) -> Explanation:
    """The explanation of a model without a plan (of one with a plan: no conflict, no correction)."""
    search = _Search(model, limits)
    complete = True
    try:
        search.run()
    except _Undecided:
        complete = False
    corrections: list[Correction] = []
    try:
        for dropped in search.corrections:
            corrections.extend(search.loosened(dropped))
    except _Undecided:
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
        # What only decides whether there is a plan: the objective says nothing, so alike rows are one.
        self.small = cheapest(replace(model, objective=Linear({}, (), 0), thresholds={}))
        self.conflicts: list[Names] = []
        self.corrections: list[Names] = []
        self._known: dict[Names, bool] = {}
        self._guesses = iter(range(MAX_GUESSES))
        self._work = limits.work

    def solvable(self, names: Names) -> bool:
        """Whether some plan satisfies all the names."""
        if names not in self._known:
            self._work -= sum(len(choice) for choice in self.small.choices)
            if len(self._known) >= MAX_QUESTIONS or self._work < 0:
                raise _Undecided
            outcome = scan.solve(self.small.kept(names), self.limits.left(self.started))
            if outcome.status is Status.UNKNOWN:
                raise _Undecided
            self._known[names] = outcome.status is not Status.INFEASIBLE
        return self._known[names]

    def run(self) -> None:
        """Finds all conflicts and corrections."""
        while (seed := self._unexplained()) is not None:
            if len(self.conflicts) + len(self.corrections) >= MAX_FOUND:
                raise _Undecided
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

    def loosened(self, dropped: Names) -> Iterator[Correction]:
        """The correction that drops these names; with thresholds among them, one correction for moving each instead."""
        moved = False
        for name in sorted(dropped & self.model.thresholds.keys()):
            correction = Correction(tuple(sorted(dropped - {name})), name, 0)
            outcome = scan.solve(without(self.model, correction), self.limits.left(self.started))
            if outcome.status in (Status.UNKNOWN, Status.FEASIBLE):
                raise _Undecided
            if outcome.status is Status.OPTIMAL:
                moved = True
                yield replace(correction, amount=outcome.best)
        if not moved:
            yield Correction(tuple(sorted(dropped)), None, 0)


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
        raise _Undecided
    inside, outside = (true | {name}, false), (true, false | {name})
    for now_true, now_false in (inside, outside) if larger else (outside, inside):
        found = _model_of(clauses, every, now_true, now_false, guesses, larger)
        if found is not None:
            return found
    return None
