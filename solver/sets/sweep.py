"""One pass over the steps of a model, for all plans at once: equal states are merged, hopeless ones are dropped.

After every step a state forgets what cannot matter any more. A quantity that only conditions read is compared with
numbers in the end: states whose values lie on the same side of all of them, whatever remains to be added, get the
same value. So a decided condition is a bit, and a condition that holds anyway is nothing.
"""

from __future__ import annotations

from collections.abc import Iterator
from dataclasses import replace
from enum import Enum

import numpy as np

from ..model import LIMIT, Bools, Ints
from .model import Formula
from .outlook import Cut, Outlook, by_entry
from .shapes import Packing, words
from .stages import Stages, Step, added_sums, clamped, leaves
from .states import Meter, States, counting, groups, joined, merged

_CHUNK = 2**16  # states that are made before hopeless ones among them are dropped
_PACKED_CHUNK = 2**12  # the same where counts are shapes
_LAZY = 256  # states that need no merging
_NEAR = 2**60  # values that may be moved to the other end of their range


class Keep(Enum):
    """What becomes of states that are equal but for their plans."""

    COUNTS = "counts"  # their plans are counted; what they cost is part of the state
    BEST = "best"  # the cheapest plan, and of these the canonical one
    MASKS = "masks"  # all constraints may fail; a state knows which hold, and goes when another holds more


class Sweep:
    """A pass; `bound`: plans that cost more, without the constant of the objective, do not matter.

    With a `packing` counts are shapes: these know what plans cost, so that no state does. In them plans that cost more
    than the bound may be left.
    """

    def __init__(
        self, stages: Stages, keep: Keep, meter: Meter, bound: int | None = None, packing: Packing | None = None
    ) -> None:
        self.stages, self.keep, self.meter, self.bound, self.packing = stages, keep, meter, bound, packing
        self.ready = [stages.ready(formula) for formula in stages.formulas] if stages.possible else []
        self.left: dict[int, int] = {}  # for constraints that end as entries that are left: the step of these
        if stages.possible and keep is not Keep.MASKS:
            for number, formula in enumerate(stages.formulas):
                if (found := stages.last_step(formula)) is not None:
                    self.ready[number], self.left[number] = found

    def run(self) -> States | None:
        """The states at the end, None when there are none. Raises Stopped."""
        if not self.stages.possible:
            return None
        states = self._settled(-1, self._start())
        merged_size = 1
        if not states.size:
            return None
        for place, step in enumerate(self.stages.steps):
            some: list[States] = []
            held = heavy = 0
            for more in self._joined(place, step, states):
                some.append(self._settled(place, more))
                held += some[-1].size
                heavy += self._weighed(some[-1])
                self.meter.hold(held, some[-1].width, heavy)
            states = joined(some)
            if not states.size:
                return None
            if step.ends or self.packing is not None or states.size > _LAZY + merged_size + merged_size // 2:
                states = self._merged(states)
                merged_size = states.size
        return self._merged(states)

    def _start(self) -> States:
        zero = np.zeros(1, np.int64)
        keys = {self.stages.mask: zero} if self.keep is Keep.MASKS else {}
        if self.keep is Keep.BEST:
            return States(1, keys, None, zero, {})
        if self.packing is not None:
            return States(1, keys, np.ones(1, np.int64).astype(object))
        if self.keep is Keep.COUNTS:
            return States(1, {self.stages.cost: zero}, np.ones(1, np.int64))
        return States(1, keys)

    def _weighed(self, states: States) -> int:
        """The words of shapes, which are work, too."""
        if self.packing is None or states.counts is None:
            return 0
        found = words(states.counts)
        self.meter.spend(0, 0, found)
        return found

    def _merged(self, states: States) -> States:
        states = merged(states)
        if self.keep is not Keep.MASKS or states.size < 2:
            return states
        mask = states.keys[self.stages.mask]
        others = {name: key for name, key in states.keys.items() if name != self.stages.mask}
        return states.taken(undominated(list(others.values()), mask))

    # ------------------------------------------------------------------------------------------ one step

    def _joined(self, place: int, step: Step, states: States) -> Iterator[States]:
        """Every state with every entry, some at a time."""
        adds = dict(step.adds)
        live = self._live(place - 1)
        if states.counts is not None and self.packing is None:
            growth = step.size if step.counts is None else sum(step.counts.tolist())
            states = replace(states, counts=counting(states.counts, growth))
        self.meter.need(states.size * step.size, states.width)
        each = max(1, (_CHUNK if self.packing is None else _PACKED_CHUNK) // step.size)
        for start in range(0, states.size, each):
            chunk = states.taken(np.arange(start, min(start + each, states.size)))
            total = chunk.size * step.size
            self.meter.spend(total, chunk.width)
            keys: dict[int, Ints] = {}
            for name in {*chunk.keys, *(name for name in adds if name in live)}:
                before = chunk.keys.get(name)
                keys[name] = self._added(before, adds.get(name), chunk.size, step.size, self._is_flag(name))
            cost = None
            if chunk.cost is not None:
                cost = self._added(chunk.cost, adds.get(self.stages.cost), chunk.size, step.size, flag=False)
            counts = None
            if chunk.counts is not None:
                counts = np.repeat(chunk.counts, step.size)
                if step.counts is not None:
                    counts = counts * np.tile(step.counts, chunk.size)
                if self.packing is not None:
                    counts = self.packing.shifted(counts, step)
            made = States(total, keys, counts, cost, self._codes(step, chunk))
            left = chunk.keys.get(self._entries(place))
            if left is not None:
                made = made.taken((left[:, None] >> np.arange(step.size) & 1).ravel() == 1)
            yield self._numbered(step, made)

    def _entries(self, place: int) -> int:
        """The column of the entries of a step that are left, as bits; without it, all are."""
        return self.stages.mask + 1 + place

    def _is_flag(self, name: int) -> bool:
        return self.stages.flags <= name < self.stages.picked

    @staticmethod
    def _added(before: Ints | None, added: Ints | None, size: int, entries: int, flag: bool) -> Ints:
        if before is None:
            before = np.zeros(size, np.int64)
        if added is None:
            return np.repeat(before, entries)
        join = np.bitwise_or if flag else np.add
        return join.outer(before, added).ravel()

    def _codes(self, step: Step, states: States) -> dict[int, list[Ints]] | None:
        if states.codes is None:
            return None
        codes = {part: [np.repeat(word, step.size) for word in words] for part, words in states.codes.items()}
        if step.codes is not None:
            codes[step.part] = [np.tile(word, states.size) for word in step.codes]
            return codes
        coding = self.stages.codings[step.part]
        before = states.codes.get(step.part, coding.empty(states.size))
        after = coding.before(step.row, before)
        codes[step.part] = [
            np.stack([without, within], axis=1).ravel() for without, within in zip(before, after, strict=True)
        ]
        return codes

    def _numbered(self, step: Step, states: States) -> States:
        """Those whose number of rows can still be right."""
        name = self.stages.picked
        if name not in states.keys:
            return states
        part, picked = self.stages.model.parts[step.part], states.keys[name]
        keep = (picked <= part.at_most) & (picked + step.row >= part.at_least)
        states = states.taken(keep)
        keys = dict(states.keys)
        picked = keys.pop(name)
        if not step.ends:
            # From the least number on up to where too many are possible, all are alike.
            alike = (picked >= part.at_least) & (picked + step.row <= part.at_most)
            keys[name] = np.where(alike, part.at_least, picked)
        return replace(states, keys=keys)

    # ------------------------------------------------------------------------------------------ what is settled

    def _settled(self, place: int, states: States) -> States:
        """The states after a step, those that cannot end well dropped, and what no longer matters forgotten."""
        stages, keys = self.stages, dict(states.keys)
        cost = states.cost
        for track in stages.tracks:
            more = self._completed(place, track, States(states.size, keys))
            if more is None:
                continue
            if track == stages.cost and cost is not None:
                cost = cost + more
            elif track != stages.cost or (self.keep is Keep.COUNTS and self.packing is None):
                keys[track] = keys.get(track, np.zeros(states.size, np.int64)) + more
        states = replace(states, keys=keys, cost=cost)
        states = self._possible(place, states)
        return self._forgotten(place, states)

    def _completed(self, place: int, track: int, states: States) -> Ints | None:
        """What flags and truths that are decided by this step add to a track."""
        found: Ints | None = None
        for flag, factor in self.stages.flagged(track):
            bits = states.keys.get(self.stages.flags + flag)
            if self.stages.flag_ready[flag] == place and bits is not None:
                found = bits * factor + (0 if found is None else found)
        for formula, factor in self.stages.truths(track):
            if self.stages.ready(formula) == place:
                bits = Outlook(self.stages, place, states).bounds(formula)[0]
                found = bits * np.int64(factor) + (0 if found is None else found)
        return found

    def _possible(self, place: int, states: States) -> States:
        """Without states of which a constraint must fail; constraints that hold by this step are noted or done."""
        stages = self.stages
        if self.bound is not None and (place >= 0 or not stages.steps):
            states = self._bounded(place, states, self.bound)
        for number, formula in enumerate(stages.formulas):
            if self.ready[number] == place or (self.ready[number] > place and self._touched(place, formula)):
                view = Outlook(self.stages, place, states)
                if self.ready[number] == place and number in self.left:
                    states = self._narrowed(self.left[number], formula, states)
                elif self.keep is not Keep.MASKS:
                    states = states.taken(view.bounds(formula)[1])
                elif self.ready[number] == place:
                    bits = view.bounds(formula)[1].astype(np.int64) << number
                    states = replace(states, keys={**states.keys, stages.mask: states.keys[stages.mask] | bits})
        return states

    def _bounded(self, place: int, states: States, bound: int) -> States:
        """Without states, or parts of shapes, that cost too much."""
        low = Outlook(self.stages, place, states).range(self.stages.cost)[0]
        if self.packing is None or states.counts is None:
            return states.taken(low <= bound)
        shapes = self.packing.cut(states.counts, place, bound - low)
        return replace(states, counts=shapes).taken(shapes != 0)

    def _narrowed(self, place: int, formula: Formula, states: States) -> States:
        """The states with the entries of a later step that a formula leaves, which nothing else can change."""
        size, name = self.stages.steps[place].size, self._entries(place)
        self.meter.spend(states.size, size // 8 + 1)
        left = by_entry(formula, states, self.stages.steps[place]) @ (np.int64(1) << np.arange(size))
        if name in states.keys:
            left &= states.keys[name]
        return replace(states, keys={**states.keys, name: left}).taken(left != 0)

    def _touched(self, place: int, formula: Formula) -> bool:
        """Whether a step may change what is known about a formula."""
        if place < 0:
            return False
        adds = self.stages.steps[place].adds
        for leaf in leaves(formula):
            track = leaf.quantity
            if track in adds or self.stages.truths(track):
                return True
            if any(self.stages.flags + flag in adds for flag, _ in self.stages.flagged(track)):
                return True
        return False

    def _live(self, place: int) -> set[int]:
        """The columns that something reads after a step."""
        stages = self.stages
        open_ = [formula for formula, ready in zip(stages.formulas, self.ready, strict=True) if ready > place]
        found = {leaf.quantity for formula in open_ for leaf in leaves(formula)}
        if stages.objective:
            found.add(stages.cost)
        for track in reversed(stages.tracks):
            if track not in found:
                continue
            for formula, _ in stages.truths(track):
                if stages.ready(formula) > place:
                    found |= {leaf.quantity for leaf in leaves(formula)}
        for track in list(found):
            found |= {stages.flags + flag for flag, _ in stages.flagged(track) if stages.flag_ready[flag] > place}
        if self.keep is not Keep.COUNTS or self.packing is not None:
            found.discard(stages.cost)
        found |= {self._entries(step) for step in self.left.values() if step > place}
        return found | {stages.picked, stages.mask}

    def _forgotten(self, place: int, states: States) -> States:
        """The states with nothing in them that no longer matters."""
        live, stages = self._live(place), self.stages
        keys = {name: key for name, key in states.keys.items() if name in live}
        states = replace(states, keys=keys)
        if place < 0:
            return states
        keys.update(self._moved(place, states))
        for track in list(keys):
            if track < stages.cost and (cut := self._cut(place, track)) is not None:
                keys[track] = cut.nearest(keys[track])
        return replace(states, keys=keys)

    def _moved(self, place: int, states: States) -> dict[int, Ints]:
        """Tracks of constraints that hold, or fail, whatever is added: their values where they hold, or fail, most."""
        stages, found = self.stages, dict[int, Ints]()
        known: dict[int, tuple[Bools, Bools]] = {}
        readers: dict[int, list[tuple[int, int]]] = {}
        in_truths = {
            leaf.quantity for track in stages.tracks for one, _ in stages.truths(track) for leaf in leaves(one)
        }
        for number, formula in enumerate(stages.formulas):
            for leaf in leaves(formula) if self.ready[number] > place else ():
                readers.setdefault(leaf.quantity, []).append((number, leaf.sign))
        for track, some in readers.items():
            values = states.keys.get(track)
            signs = {sign for _, sign in some}
            cut = self._cut(place, track)
            if values is None or track in in_truths or signs not in ({1}, {-1}) or cut is None:
                continue
            if np.abs(cut.bounds).max() >= _NEAR:
                continue
            for number, _ in some:
                if number not in known:
                    known[number] = Outlook(self.stages, place, states).bounds(stages.formulas[number])
            low, high = min(0, int(cut.bounds[0])), max(0, int(cut.bounds[-1]) + 1)
            good, bad = (low, high) if signs == {1} else (high, low)
            numbers = {number for number, _ in some}
            holds = np.logical_and.reduce([known[number][0] for number in numbers])
            found[track] = np.where(holds, good, values)
            if self.keep is Keep.MASKS and len(numbers) == 1:
                found[track] = np.where(known[min(numbers)][1], found[track], bad)
        return found

    def _cut(self, place: int, track: int) -> Cut | None:
        """What may still be told apart of a track after a step."""
        stages = self.stages
        some = [formula for formula, ready in zip(stages.formulas, self.ready, strict=True) if ready > place]
        for owner in stages.tracks:
            some += [formula for formula, _ in stages.truths(owner) if stages.ready(formula) > place]
        limits = {
            clamped(-leaf.constant if leaf.sign > 0 else leaf.constant - 1)
            for formula in some
            for leaf in leaves(formula)
            if leaf.quantity == track
        }
        if not limits:
            return None
        bounds = np.array(sorted(limits), np.int64)
        sums = stages.sums[place][track]
        low, high = self._open(place, track)
        for factor in self._pending(place, track):
            sums = added_sums(sums, np.array([0, factor]))
        if sums is not None:
            bounds = np.unique(np.clip(np.subtract.outer(bounds, sums), -LIMIT, LIMIT))
            return Cut(bounds, exact=False)
        rest = stages.ranges[place][track]
        low, high = low + int(rest.low.min()), high + int(rest.high.max())
        return Cut(np.array([clamped(int(bounds[0]) - high), clamped(int(bounds[-1]) - low)]), exact=True)

    def _pending(self, place: int, track: int) -> list[int]:
        """The factors of flags and truths of a track that are open after a step."""
        stages = self.stages
        found = [factor for flag, factor in stages.flagged(track) if stages.flag_ready[flag] > place]
        return found + [factor for formula, factor in stages.truths(track) if stages.ready(formula) > place]

    def _open(self, place: int, track: int) -> tuple[int, int]:
        """What open flags and truths add to a track, at least and at most."""
        factors = self._pending(place, track)
        return sum(min(0, factor) for factor in factors), sum(max(0, factor) for factor in factors)


def undominated(keys: list[Ints], mask: Ints) -> Ints:
    """Indices of states; a state goes if the fullest one of those with equal keys holds all that it holds, and more."""
    full = -np.array([int(bits).bit_count() for bits in mask.tolist()], np.int64)
    order, starts = groups(keys, [full, mask], len(mask))
    first = np.repeat(mask[order[starts]], np.diff(np.append(starts, len(mask))))
    own = mask[order]
    return order[(own == first) | ((own & ~first) != 0)]
