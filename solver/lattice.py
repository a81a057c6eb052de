"""The least value of a sum over all plans that satisfy a set of names, for every set of names at once.

A row matters to such questions by little: the names that it fails, the codes that links, tables and terms see of it,
and its part of the sum. So each choice becomes a table with the least part per group of codes and set of names, filled
in one pass over the rows. Its superset minima answer for rows that satisfy *at least* a set. Two choices are joined
group by group, by adding their tables. Links and tables are names themselves, so that is done for each set of these.
"""

from __future__ import annotations

import math
import time
from collections.abc import Callable, Iterable, Iterator, Mapping, Sequence
from dataclasses import dataclass, field
from typing import Any

import numpy as np
from numpy.typing import NDArray

from .coding import equal_pairs, first_rows, tuple_codes
from .model import Bools, Ints, Linear, Link, Model, Table, Term
from .outcome import Limits
from .signatures import failing, least_values

MAX_CELLS = 2**24  # of the table of one choice
MAX_PAIRS = 2**22  # of groups, when two choices are joined
MAX_STEPS = 2**31  # for the values of all sets
_ROWS = 2**15  # rows, and numbers, that are worked on together: they stay in the cache

_Part = Link | Table | Term
_Seen = tuple[int, int]  # the number of a part, and a choice
_Values = NDArray[np.signedinteger[Any]]


class TooLargeError(Exception):
    """Tables, or the work on them, would be larger than they may be."""


@dataclass(frozen=True, slots=True)
class _Side:
    """The table of a choice, or of several that are joined; G groups.

    `codes[part, choice]: int64[G]` is what a part sees of each group. `values: [G, …]`, the least value of the rows of
    a group for each set of names; of one choice, `values[g, s]` with bit k of s standing for `names[k]`.
    """

    choices: frozenset[int]
    names: tuple[int, ...]
    codes: Mapping[_Seen, Ints]
    values: _Values


class _Meter:
    """What may still be spent."""

    def __init__(self, steps: int, deadline: float | None) -> None:
        self.steps, self.deadline = steps, deadline

    def spend(self, steps: int) -> None:
        """Counts steps before they are done; raises TooLargeError when there are not as many left."""
        self.steps -= steps
        if self.steps < 0 or (self.deadline is not None and time.monotonic() > self.deadline):
            raise TooLargeError


@dataclass(frozen=True, slots=True)
class Aim:
    """The sum to minimise, over which plans: rows in `known[c]: bool[n]`, and combinations that `tables` allow."""

    linear: Linear = field(default_factory=lambda: Linear({}, (), 0))
    known: Mapping[int, Bools] = field(default_factory=dict[int, Bools])
    tables: tuple[Table, ...] = ()


class Lattice:
    """Answers for a model without its integer rows, and for one sum: its constant is not part of any value.

    `names`: the constraints that some plan may fail for another reason than an integer row, and `also`; bit k of a set
    stands for `names[k]`. Names that are not among them change no answer. Building it takes a pass over the rows of
    every choice. Raises TooLargeError.
    """

    def __init__(self, model: Model, aim: Aim, limits: Limits, without: int | None = None, also: Iterable[int] = ()):
        self.model, self.aim = model, aim
        self.limits, self.started = limits, time.monotonic()
        joins = [part for part in (*model.links, *model.tables) if part.constraint != without]
        self.parts: tuple[_Part, ...] = (*joins, *aim.tables, *aim.linear.terms)
        reach = aim.linear.reach()
        self.infinite = 2 * reach + 1  # still above `reach` after everything else is added
        kinds = (np.int8, np.int16, np.int32, np.int64)
        kind = next((kind for kind in kinds if 2 * self.infinite <= np.iinfo(kind).max), None)
        if kind is None:
            raise TooLargeError
        self.kind = kind
        self.finite = reach
        self.of_part = {number: part.constraint for number, part in enumerate(joins)}
        self.joins = tuple(sorted({*self.of_part.values()}))
        fails = [failing(choice, len(model.names)) for choice in model.choices]
        either = {name for each in fails for name in each}
        free = sorted(
            ({*also} | either) - {*self.joins, without}, key=lambda name: ([name in each for each in fails], name)
        )
        self.names = (*free, *self.joins)
        self.free = len(free)
        meter = self._meter(limits.work)
        self.sides = [
            self._side(number, tuple(name for name in self.names if name in each), meter)
            for number, each in enumerate(fails)
        ]

    def table(self) -> _Values:
        """The values of all sets: `values[s]`; above `finite`, there is no plan. Raises TooLargeError.

        Time: O(2^names * groups), for each set of the names with links and tables.
        """
        meter = self._meter(min(self.limits.work, MAX_STEPS))
        meter.spend(2 ** len(self.names))
        runs = [[]] if self.free else []
        for name in self.names[: self.free]:  # neighbours that occur in the same choices are one axis
            if runs[-1] and self._where(name) != self._where(runs[-1][-1]):
                runs.append([])
            runs[-1].append(name)
        runs.reverse()
        result = np.empty((2 ** len(self.joins), 2**self.free), self.kind)
        for chosen in range(len(result)):

            def view(side: _Side, chosen: int = chosen) -> _Values:
                inside, own = self._half(side, chosen)
                return inside.reshape(len(inside), *(2 ** len(run) if run[0] in own else 1 for run in runs))

            found = self._joined(self.sides, chosen, view, meter).values
            shape = tuple(2 ** len(run) for run in runs)
            result[chosen] = np.broadcast_to(found[0], shape).reshape(-1) if len(found) else self.infinite
        return result.reshape(-1)

    def values(self, sets: Sequence[frozenset[int]]) -> list[int]:
        """The values of some sets of names; above `finite`, there is no plan. Raises TooLargeError."""
        together: dict[int, list[int]] = {}
        for place, names in enumerate(sets):
            together.setdefault(self._chosen(names), []).append(place)
        result = [self.infinite] * len(sets)
        meter = self._meter(self.limits.work)
        for chosen, places in together.items():
            view = self._columns([sets[place] for place in places], chosen)
            found = self._joined(self.sides, chosen, view, meter).values
            for place, value in zip(places, found[0].tolist() if len(found) else (), strict=False):
                result[place] = value
        return result

    def rows(self, names: frozenset[int], choice: int, at_most: int, known: Bools) -> Ints:
        """The row indices of a choice, among `known: bool[n]`, that are in a plan with a value of at most `at_most`
        that satisfies the names; at most `finite` for any value. Raises TooLargeError.
        """
        chosen, meter = self._chosen(names), self._meter(self.limits.work)
        bits = np.uint64(sum(1 << name for name in names))
        meter.spend(len(known))
        good = known & ((self.model.choices[choice].satisfied & bits) == bits)
        if choice in self.aim.known:
            good &= self.aim.known[choice]
        rows = np.flatnonzero(good)
        column = self.aim.linear.columns.get(choice)
        values = np.zeros(len(rows), self.kind) if column is None else column[rows].astype(self.kind)
        codes = {seen: code[rows] for seen, code in self._codes(choice).items()}
        every = _Side(frozenset({choice}), (), {**codes, _EACH: np.arange(len(rows))}, values.reshape(-1, 1))
        others = [side for side in self.sides if choice not in side.choices]
        column_of = self._columns([names], chosen)

        def view(side: _Side) -> _Values:
            return side.values if side is every else column_of(side)

        found = self._joined([*others, every], chosen, view, meter)
        return np.sort(rows[found.codes[_EACH][found.values[:, 0] <= at_most]])

    # the tables of choices

    def _meter(self, steps: int) -> _Meter:
        seconds = self.limits.seconds
        return _Meter(steps, None if seconds is None else self.started + seconds)

    def _codes(self, choice: int) -> dict[_Seen, Ints]:
        """What each part sees of the rows of a choice."""
        return {
            (number, choice): part.codes[part.choices.index(choice)]
            for number, part in enumerate(self.parts)
            if choice in part.choices
        }

    def _side(self, number: int, names: tuple[int, ...], meter: _Meter) -> _Side:
        """The table of a choice: least values of rows that satisfy at least the names of a set."""
        choice = self.model.choices[number]
        masks, codes, column = choice.satisfied, self._codes(number), self.aim.linear.columns.get(number)
        known = self.aim.known.get(number)
        if known is not None and not known.all():
            masks, codes = masks[known], {seen: code[known] for seen, code in codes.items()}
            column = column[known] if column is not None else None
        meter.spend(len(choice))
        found = least_values(masks, names, codes, column, self.infinite, MAX_CELLS)
        if found is None:
            raise TooLargeError
        values, seen = found
        meter.spend(values.size * len(names))
        alive = np.flatnonzero(values[:, 0] <= self.finite)
        return _Side(
            frozenset({number}),
            names,
            {key: code[alive] for key, code in seen.items()},
            values[alive].astype(self.kind),
        )

    # sets of names

    def _where(self, name: int) -> list[bool]:
        return [name in side.names for side in self.sides]

    def _chosen(self, names: frozenset[int]) -> int:
        """The bits of those of the names that have links and tables."""
        return sum(1 << bit for bit, name in enumerate(self.joins) if name in names)

    def _half(self, side: _Side, chosen: int) -> tuple[_Values, tuple[int, ...]]:
        """The values of a side that satisfies the chosen joins, for all sets of its other names; and these."""
        joins = [name for name in self.joins if name in side.names]
        place = sum(1 << bit for bit, name in enumerate(joins) if chosen >> self.joins.index(name) & 1)
        own = side.names[: len(side.names) - len(joins)]
        return side.values.reshape(len(side.values), 1 << len(joins), 1 << len(own))[:, place], own

    def _columns(self, sets: Sequence[frozenset[int]], chosen: int) -> Callable[[_Side], _Values]:
        """What a side's values are for some sets of names with the same joins: `[G, sets]`."""

        def view(side: _Side) -> _Values:
            inside, own = self._half(side, chosen)
            return inside[:, [sum(1 << bit for bit, name in enumerate(own) if name in names) for names in sets]]

        return view

    # joining

    def _joined(
        self,
        sides: Sequence[_Side],
        chosen: int,
        view: Callable[[_Side], _Values],
        meter: _Meter,
    ) -> _Side:
        """All sides together, of which the chosen parts hold: one group, or one for each code _EACH; or none."""
        active = [
            number
            for number in range(len(self.parts))
            if number not in self.of_part or chosen >> self.joins.index(self.of_part[number]) & 1
        ]
        whole = _Side(frozenset(), (), {}, np.zeros((1,) * view(sides[0]).ndim, self.kind))
        for side in self._ordered(sides, active):
            whole = self._pair(whole, side, view(side), active, meter)
        return whole

    def _ordered(self, sides: Sequence[_Side], active: list[int]) -> Iterator[_Side]:
        """The sides, each time the one that most parts tie to those before."""
        left, joined = list(sides), frozenset[int]()
        while left:

            def ties(side: _Side, joined: frozenset[int] = joined) -> int:
                return sum(bool(joined & {*self.parts[part].choices}) for part, _ in side.codes if part in active)

            side = max(left, key=ties)
            left.remove(side)
            joined |= side.choices
            yield side

    def _pair(self, x: _Side, y: _Side, y_values: _Values, active: list[int], meter: _Meter) -> _Side:
        """Both sides joined; of the codes only those stay that a later part sees."""
        choices = x.choices | y.choices
        done = [part for part in active if {*self.parts[part].choices} <= choices]
        later = {*active, _EACH[0]} - {*done}
        now = [seen for seen in y.codes if seen[0] in done]
        x_later, y_later = ([seen for seen in side.codes if seen[0] in later] for side in (x, y))
        # First what x comes to for each of the code tuples of y: these are fewer than the groups of y.
        kind, kinds = tuple_codes([y.codes[seen] for seen in now], len(y_values))
        sample = first_rows(kind, kinds)
        left, right, added = self._fitting(x, {seen: y.codes[seen][sample] for seen in now}, kinds)
        target, number = tuple_codes([right, *(x.codes[seen][left] for seen in x_later)], len(left))
        some = first_rows(target, number)
        x_kind, x_codes = right[some], {seen: x.codes[seen][left[some]] for seen in x_later}
        values = self._least(target, number, [(x.values, left)], added, meter)
        # Then these with the groups of y that have the tuple.
        left, right = _equal(x_kind, kind)
        tails = [*(x_codes[seen][left] for seen in x_later), *(y.codes[seen][right] for seen in y_later)]
        target, number = tuple_codes(tails, len(left))
        some = first_rows(target, number)
        codes = {seen: x_codes[seen][left[some]] for seen in x_later}
        codes |= {seen: y.codes[seen][right[some]] for seen in y_later}
        values = self._least(target, number, [(values, left), (y_values, right)], None, meter)
        return _Side(choices, (), codes, values)

    def _fitting(self, x: _Side, kinds: Mapping[_Seen, Ints], size: int) -> tuple[Ints, Ints, Ints]:
        """The groups of x with the code tuples of y that the parts allow, and what the terms add: `int64[pairs]`."""
        now = sorted({part for part, _ in kinds})
        joint: list[Ints] = []
        for part, choice in kinds:
            if isinstance(self.parts[part], Link):
                (other,) = {*self.parts[part].choices} - {choice}
                joint.append(np.concatenate([x.codes[part, other], kinds[part, choice]]))
        if joint:
            key, _ = tuple_codes(joint, len(joint[0]))
            key = np.where(np.min(joint, axis=0) < 0, -1, key)
            x_key, y_key = key[: len(x.values)], key[len(x.values) :]
            fit = np.flatnonzero(x_key >= 0)  # then the code of y is that of x
            left, right = _equal(x_key[fit], y_key)
            left = fit[left]
        else:
            left, right = _equal(np.zeros(len(x.values), np.int64), np.zeros(size, np.int64))
        added = np.zeros(len(left), np.int64)
        for number in now:
            part = self.parts[number]
            if isinstance(part, Link):
                continue
            cell = tuple(
                kinds[number, choice][right] if (number, choice) in kinds else x.codes[number, choice][left]
                for choice in part.choices
            )
            if isinstance(part, Term):
                added += part.values[cell]
            else:
                good = part.allowed[cell]
                left, right, added = left[good], right[good], added[good]
        return left, right, added

    def _least(
        self,
        target: Ints,
        number: int,
        pieces: Sequence[tuple[_Values, Ints]],
        added: Ints | None,
        meter: _Meter,
    ) -> _Values:
        """`result[t] = min(sum of values[row[p]] + added[p] for p with target[p] == t)`, at most `infinite`."""
        shape = np.broadcast_shapes(*(values.shape[1:] for values, _ in pieces))
        meter.spend(max(number, len(target)) * math.prod(shape))
        if number > 1 and (np.diff(target) < 0).any():
            order = np.argsort(target, kind="stable")
            target, pieces = target[order], [(values, rows[order]) for values, rows in pieces]
            added = added[order] if added is not None else None
        if number * math.prod(shape) > 4 * MAX_CELLS:
            raise TooLargeError
        result = np.full((number, *shape), self.infinite, self.kind)
        if len(target):
            plus = added.astype(self.kind) if added is not None and added.any() else None
            self._lower(result, target, pieces, plus, meter)
        return result

    def _lower(
        self,
        result: _Values,
        target: Ints,
        pieces: Sequence[tuple[_Values, Ints]],
        added: _Values | None,
        meter: _Meter,
    ) -> None:
        """Lowers `result` to the sums, in parts that fit into the cache; `target` ascends."""
        size = math.prod(result.shape[1:])
        if size > _ROWS:
            axis = next(axis for axis in range(1, result.ndim) if result.shape[axis] > 1)
            half = result.shape[axis] // 2
            for part in (slice(None, half), slice(half, None)):
                cut = (slice(None),) * axis + (part,)
                inside = [(values[cut] if values.shape[axis] > 1 else values, rows) for values, rows in pieces]
                self._lower(result[cut], target, inside, added, meter)
            return
        step = max(1, _ROWS // size)
        for low in range(0, len(target), step):
            meter.spend(0)
            part = slice(low, low + step)
            (first, rows), *others = pieces
            total = first[rows[part]]
            for values, more in others:
                total = total + values[more[part]]
            if added is not None:
                total = total + added[part].reshape(-1, *(1,) * (total.ndim - 1))
            here = target[part]
            if here[0] == here[-1]:
                only = result[here[0] : here[0] + 1]
                np.minimum(only, total.min(axis=0, keepdims=True), out=only)
                continue
            starts = np.flatnonzero(np.diff(here, prepend=-1))
            least = np.minimum.reduceat(total, starts, axis=0) if len(starts) < len(here) else total
            result[here[starts]] = np.minimum(result[here[starts]], least)


_EACH = (-1, -1)  # in place of a part and choice: what tells the rows of a choice apart


def _equal(left: Ints, right: Ints) -> tuple[Ints, Ints]:
    """All pairs of places with equal numbers. Raises TooLargeError above MAX_PAIRS."""
    pairs = equal_pairs(left, right, MAX_PAIRS)
    if pairs is None:
        raise TooLargeError
    return pairs
