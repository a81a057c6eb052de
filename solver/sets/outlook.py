"""What is known about quantities and formulas of states to which something may still be added."""

from __future__ import annotations

from dataclasses import dataclass

import numpy as np

from ..model import LIMIT, Bools, Ints
from .model import All, Formula, Leaf
from .stages import Range, Stages, Step, clamped
from .states import States

_NOTHING = Range(np.zeros(1, np.int64), np.zeros(1, np.int64))


@dataclass(frozen=True, slots=True)
class Cut:
    """What can be told apart of a track: `values <= bounds[k]` for each k; `exact`: and its values between two."""

    bounds: Ints
    exact: bool

    def nearest(self, values: Ints) -> Ints:
        """For each value the one nearest to zero that is as good."""
        bounds = self.bounds
        if self.exact:
            low, high = min(0, int(bounds[0])), max(0, int(bounds[-1]) + 1)
            return np.where(values <= bounds[0], low, np.where(values > bounds[-1], high, values))
        starts = np.concatenate([[-LIMIT], bounds + 1])
        nearest = np.clip(0, starts, np.concatenate([bounds, [LIMIT]]))
        return nearest[np.searchsorted(bounds, values)]


class Outlook:
    """What is known, after a step, about the values that tracks and formulas of some states will have."""

    def __init__(self, stages: Stages, place: int, states: States) -> None:
        self.stages, self.place, self.states = stages, place, states
        self.ranges: dict[int, tuple[Ints, Ints]] = {}

    def range(self, track: int) -> tuple[Ints, Ints]:
        """The least and greatest value of a track."""
        if track not in self.ranges:
            self.ranges[track] = self._range(track)
        return self.ranges[track]

    def _range(self, track: int) -> tuple[Ints, Ints]:
        stages, states = self.stages, self.states
        values = states.cost if track == stages.cost and states.cost is not None else states.keys.get(track)
        low = high = np.zeros(states.size, np.int64) if values is None else values
        rest = (
            stages.ranges[self.place][track] if self.place >= 0 else Range(np.zeros(1, np.int64), np.zeros(1, np.int64))
        )
        picked = states.keys.get(stages.picked)
        if picked is not None and len(rest.low) > 1:
            low, high = low + rest.low[picked], high + rest.high[picked]
        else:
            low, high = low + rest.low.min(), high + rest.high.max()
        for flag, factor in stages.flagged(track):
            if stages.flag_ready[flag] > self.place:
                bits = states.keys.get(stages.flags + flag, np.zeros(states.size, np.int64))
                low = low + np.where(bits == 1, factor, min(0, factor))
                high = high + np.where(bits == 1, factor, max(0, factor))
        for formula, factor in stages.truths(track):
            if stages.ready(formula) > self.place:
                must, may = self.bounds(formula)
                low = low + factor * (must if factor > 0 else may)
                high = high + factor * (may if factor > 0 else must)
        return low, high

    def bounds(self, formula: Formula) -> tuple[Bools, Bools]:
        """Whether a formula is true whatever is added, and whether it may become true."""
        if isinstance(formula, Leaf):
            low, high = self.range(formula.quantity)
            if formula.sign > 0:
                limit = clamped(-formula.constant)
                return high <= limit, low <= limit
            limit = clamped(formula.constant)
            return low >= limit, high >= limit
        every = isinstance(formula, All)
        must = may = np.full(self.states.size, every)
        for part in formula.parts:
            some = self.bounds(part)
            must, may = (must & some[0], may & some[1]) if every else (must | some[0], may | some[1])
        return must, may


def by_entry(formula: Formula, states: States, step: Step) -> Bools:
    """Whether a formula is true of each state with each entry of a step: `bool[states, entries]`."""
    if isinstance(formula, Leaf):
        values = states.keys.get(formula.quantity, np.zeros(states.size, np.int64))
        after = np.add.outer(values, step.adds.get(formula.quantity, np.zeros(step.size, np.int64)))
        return after <= clamped(-formula.constant) if formula.sign > 0 else after >= clamped(formula.constant)
    every = isinstance(formula, All)
    found = np.full((states.size, step.size), every)
    for part in formula.parts:
        found = found & by_entry(part, states, step) if every else found | by_entry(part, states, step)
    return found
