"""What follows from what among the constraints of a model, exactly: by numbers of plans.

S implies C when no plan satisfies S and not C, which is when `S` and `S and C` have the same number of plans. The
smallest set that implies C is found by implicit hitting sets (Ignatiev, Previti, Liffiton and Marques-Silva, "Smallest
MUS extraction with minimal hitting set dualization", 2015): a set that does not imply C is grown as far as that stays
so, and whatever implies C must then hold one of the names left out.
"""

from __future__ import annotations

import itertools
import time
from collections.abc import Collection
from dataclasses import replace

from .. import scan
from ..model import Linear, Model
from ..outcome import Limits, Undecided

MAX_QUESTIONS = 10_000
MAX_GUESSES = 500_000


class Entailment:
    """Answers about one model; each set of constraints is counted once. `limits.work` is meant for each count."""

    def __init__(self, model: Model, limits: Limits) -> None:
        # Which plans there are does not depend on the objective; without it more rows are alike.
        self._model = replace(model, objective=Linear({}, (), 0), thresholds={})
        self._limits, self._started = limits, time.monotonic()
        self._counts: dict[frozenset[int], int | None] = {}
        self._every = range(len(model.names))

    def count(self, names: Collection[int]) -> int:
        """The number of plans that satisfy the named constraints; raises Undecided."""
        wanted = frozenset(names)
        if wanted not in self._counts:
            if len(self._counts) >= MAX_QUESTIONS:
                raise Undecided
            limits = self._limits.left(self._started)
            late = limits.seconds is not None and limits.seconds <= 0
            self._counts[wanted] = None if late else scan.count(self._model.kept(wanted), limits)
        found = self._counts[wanted]
        if found is None:
            raise Undecided
        return found

    def implies(self, names: Collection[int], other: int) -> bool:
        """Whether every plan that satisfies the named constraints satisfies the other one; raises Undecided."""
        wanted = frozenset(names)
        plans = self.count(wanted)
        return plans == 0 or self.count(wanted | {other}) == plans

    def implied_by(self, one: int) -> tuple[int, ...] | None:
        """The smallest set of other constraints that implies one, the first in file order; None if all do not.

        Raises Undecided. In the worst case exponential in the number of constraints; each set that fails rules out all
        that leave out the same names.
        """
        others = [name for name in self._every if name != one]
        if not self.implies(others, one):
            return None
        needed: list[int] = []  # as bits: a set that implies `one` has a name of each
        guesses = 0
        for size in range(len(others) + 1):
            for names in itertools.combinations(others, size):
                guesses += 1
                if guesses > MAX_GUESSES:
                    raise Undecided
                bits = sum(1 << name for name in names)
                if not all(bits & need for need in needed):
                    continue
                if self.implies(names, one):
                    return names
                needed.append(self._missing(set(names), others, one))
        return tuple(others)  # not reached: all others imply it

    def _missing(self, names: set[int], others: list[int], one: int) -> int:
        """What a largest set around `names` that does not imply `one` leaves out, as bits."""
        missing = 0
        for name in others:
            if name not in names:
                if self.implies(names | {name}, one):
                    missing |= 1 << name
                else:
                    names = names | {name}
        return missing
