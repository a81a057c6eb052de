"""How many plans cost how much, as one integer: the counts side by side in its bits, a slot for each possible cost.

Adding a row shifts all costs of a state at once, and merging states adds their shapes, both exactly and at the speed of
memory: so costs need no states of their own where they are many, but dense.
"""

from __future__ import annotations

import math
from collections.abc import Iterable
from dataclasses import dataclass
from typing import Any

import numpy as np
from numpy.typing import NDArray

from ..model import Ints
from .stages import Stages, Step

MOST_BITS = 2**23  # of a shape
_WORD = 64


@dataclass(frozen=True, slots=True)
class Packing:
    """Slot k of `slots` has the plans that cost `sign * (base + k * unit)`, in `width` bits each (a multiple of 8).

    `bases[p]`: the base after so many steps; `bases[-1]` is that of whole plans.
    """

    cost: int
    sign: int
    unit: int
    width: int
    slots: int
    bases: tuple[int, ...]

    def shifted(self, shapes: NDArray[Any], step: Step) -> NDArray[Any]:
        """Shapes `object[N * E]` of N states with each of E entries, after each entry added what it costs."""
        added = step.adds.get(self.cost)
        if added is None:
            return shapes
        rises = np.tile(_rises(self.sign * added) // self.unit, len(shapes) // step.size)
        found = shapes.copy()
        some = np.flatnonzero((rises > 0) & (rises < self.slots))
        found[some] = shapes[some] << (rises[some] * self.width).astype(object)
        found[rises >= self.slots] = 0  # beyond the bound, and perhaps beyond memory
        return found

    def cut(self, shapes: NDArray[Any], place: int, most: Ints) -> NDArray[Any]:
        """Shapes after a step without the plans of a state that cost more by then than `most: int64[N]`."""
        if self.sign < 0:
            return shapes  # these are the lower slots, which save nothing
        slots = np.clip((most - self.bases[place + 1]) // self.unit + 1, 0, self.slots)
        masks = {slot: (1 << slot * self.width) - 1 for slot in set(slots.tolist())}
        found = np.empty(len(shapes), object)
        found[:] = [shape & masks[slot] for shape, slot in zip(shapes.tolist(), slots.tolist(), strict=True)]
        return found

    def unpacked(self, shape: int) -> tuple[list[int], list[int]]:
        """The costs that some plan has, ascending, and how many plans have each."""
        size = self.width // 8
        data = shape.to_bytes(-(-shape.bit_length() // self.width) * size, "little")
        found = [
            (self.sign * (self.bases[-1] + slot * self.unit), number)
            for slot in range(len(data) // size)
            if (number := int.from_bytes(data[slot * size : (slot + 1) * size], "little"))
        ]
        found.sort()
        return [cost for cost, _ in found], [number for _, number in found]


def packing(stages: Stages, plans: int, bound: int | None) -> Packing | None:
    """How to pack the costs, up to the bound if any, of at most so many plans.

    None where costs are not sums of rows alone, or not dense.
    """
    if not stages.possible or stages.flagged(stages.cost) or stages.truths(stages.cost):
        return None
    columns = [step.adds.get(stages.cost) for step in stages.steps]
    given = [column for column in columns if column is not None]
    above, below = (sum(max(0, int((sign * column).max())) for column in given) for sign in (1, -1))
    sign = 1 if above >= below else -1
    unit = math.gcd(*(int(np.gcd.reduce(_rises(column))) for column in given)) or 1
    width = -(-(plans.bit_length() + 1) // 8) * 8
    bases = [0]
    for column in columns:
        bases.append(bases[-1] + (0 if column is None else int((sign * column).min())))
    reach = _reach(stages, sign)
    if bound is not None and sign > 0:
        reach = min(reach, max(0, bound - bases[-1]))
    slots = reach // unit + 1
    if slots * width > MOST_BITS:
        return None
    return Packing(stages.cost, sign, unit, width, slots, tuple(bases))


def _rises(column: Ints) -> Ints:
    """How far each entry is above the least one."""
    return column - column.min()


def _reach(stages: Stages, sign: int) -> int:
    """What all steps together rise by, at most: of a part no more rows than it may have."""
    rises: dict[int, list[int]] = {}
    for step in stages.steps:
        if (column := step.adds.get(stages.cost)) is not None:
            rises.setdefault(step.part, []).append(int(_rises(sign * column).max()))
    total = 0
    for part, some in rises.items():
        # A row of negative cost rises where it is left out.
        rows = stages.model.parts[part].at_most if min(_lows(stages, part, sign), default=0) >= 0 else len(some)
        total += sum(sorted(some, reverse=True)[: max(1, rows)])
    return total


def _lows(stages: Stages, part: int, sign: int) -> Iterable[int]:
    for step in stages.steps:
        if step.part == part and step.row >= 0 and (column := step.adds.get(stages.cost)) is not None:
            yield int((sign * column).min())


def words(shapes: NDArray[Any]) -> int:
    """How many words of memory shapes take, those that are the same object counted once."""
    return sum(shape.bit_length() for shape in {id(shape): shape for shape in shapes.tolist()}.values()) // _WORD
