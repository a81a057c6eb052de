"""Why each row that reduction leaves out is in no plan, or in none that is needed: found and checked apart from it.

What a step removes is noted with one of three reasons, each of which anybody can check on the tables:

- `no partner`: in a constraint that compares choices, no row left in another choice goes with it
- `cannot be afforded`: it breaks a constraint even with the cheapest rows left in the other choices
- `dominated`: another row has the same values in all that ties it to other choices, and is nowhere worse
"""

from __future__ import annotations

from collections.abc import Iterator, Sequence
from dataclasses import dataclass, field
from typing import Literal

import numpy as np

from ..coding import tuple_codes
from ..model import LIMIT, Bools, Ints, Linear, Link, Model, Row, Table

Reason = Literal["no partner", "cannot be afforded", "dominated"]
_AT_ONCE = 4_000_000  # pairs of rows that are compared at once


@dataclass(frozen=True, slots=True)
class Removal:
    """Rows of choice number `choice` that one step removes, as row numbers of the offer table: `rows: int64[n]`.

    `constraint` is the number of the one that rules them out. `by: int64[n]` are the rows that dominate them.
    """

    choice: int
    reason: Reason
    rows: Ints
    constraint: int | None = None
    by: Ints | None = None


@dataclass(slots=True)
class Removals:
    """Notes what reduction removes, step by step, when given to it as `watch`."""

    found: list[Removal] = field(default_factory=list[Removal])

    def __call__(self, model: Model, kept: list[Bools]) -> None:
        """Notes a step, with the reason for each row; raises ValueError if there is none."""
        every = [np.ones(len(choice), np.bool_) for choice in model.choices]
        for number, good in enumerate(kept):
            left, rows = ~good, model.choices[number].rows
            for reason, part in _parts(model, number):
                if not left.any():
                    break
                out = left & _ruled_out(model, part, number, every)
                if out.any():
                    self.found.append(Removal(number, reason, rows[out], part.constraint))
                left &= ~out
            if left.any():
                by = _dominators(model, number, np.flatnonzero(left), np.flatnonzero(good))
                self.found.append(Removal(number, "dominated", rows[left], by=rows[by]))


def fault(model: Model, removals: Sequence[Removal], survivors: Sequence[Ints]) -> str:
    """What is wrong with the reasons why these rows of the model are left out; empty if each one holds.

    Every step is checked against what the steps before it leave. `survivors[c]: int64[n]` must be what is left in the
    end, row numbers of the offer table. Time: O(rows) per removal.
    """
    alive = [np.ones(len(choice), np.bool_) for choice in model.choices]
    for step, item in enumerate(removals, 1):
        rows = _places(model, item.choice, item.rows)
        if (
            not len(rows)
            or not np.array_equal(model.choices[item.choice].rows[rows], item.rows)
            or not alive[item.choice][rows].all()
            or len(np.unique(rows)) < len(rows)
        ):
            return f"step {step} removes what is not there"
        if item.reason == "dominated":
            by = _places(model, item.choice, item.by if item.by is not None else rows[:0])
            if len(by) != len(rows):
                return f"step {step} does not name a dominator for each row"
            good = alive[item.choice][by] & ~np.isin(by, rows) & _dominates(model, item.choice, by, rows)
        else:
            parts = [part for reason, part in _parts(model, item.choice) if reason == item.reason]
            ruled = [
                _ruled_out(model, part, item.choice, alive)[rows]
                for part in parts
                if part.constraint == item.constraint
            ]
            good = np.logical_or.reduce(ruled) if ruled else np.zeros(len(rows), np.bool_)
        if not good.all():
            offer = int(item.rows[np.flatnonzero(~good)[0]])
            return f"step {step}: the reason '{item.reason}' does not hold for row {offer} of the table"
        alive[item.choice][rows] = False
    for choice, flags, left in zip(model.choices, alive, survivors, strict=True):
        if not np.array_equal(choice.rows[flags], left):
            return f"the steps leave other rows of {choice.name} than the problem has"
    return ""


def _parts(model: Model, choice: int) -> Iterator[tuple[Reason, Link | Table | Row]]:
    """The parts of constraints that can rule out a row of a choice on its own."""
    for part in (*model.links, *model.tables):
        if choice in part.choices:
            yield "no partner", part
    for row in model.rows:
        yield "cannot be afforded", row


def _ruled_out(model: Model, part: Link | Table | Row, choice: int, alive: Sequence[Bools]) -> Bools:
    """Which rows of a choice the part rules out, given the living rows of the other choices."""
    if isinstance(part, Row):
        least = part.linear.constant + sum(int(term.values.min()) for term in part.linear.terms)
        for other, column in part.linear.columns.items():
            if other != choice:
                least += int(column[alive[other]].min()) if alive[other].any() else LIMIT
        return _column(part.linear, choice, len(model.choices[choice])) > min(max(-least, -LIMIT), LIMIT)
    axis = part.choices.index(choice)
    own = part.codes[axis]
    present = [np.unique(codes[alive[other]]) for other, codes in zip(part.choices, part.codes, strict=True)]
    if isinstance(part, Link):
        return (own < 0) | ~np.isin(own, present[1 - axis])
    present[axis] = np.arange(part.allowed.shape[axis])
    others = tuple(place for place in range(len(present)) if place != axis)
    usable: Bools = np.asarray(part.allowed[np.ix_(*present)].any(axis=others), np.bool_)
    return ~usable[own]


def _dominates(model: Model, choice: int, better: Ints, worse: Ints) -> Bools:
    """Whether each row of `better` can stand in every plan for the row of `worse` at the same place."""
    good = np.ones(len(worse), np.bool_)
    for codes in _codes(model, choice):
        good &= codes[better] == codes[worse]
    for linear in (model.objective, *(row.linear for row in model.rows)):
        column = _column(linear, choice, len(model.choices[choice]))
        good &= column[better] <= column[worse]
    return good


def _dominators(model: Model, choice: int, worse: Ints, kept: Ints) -> Ints:
    """For each row of `worse` a kept one that dominates it; raises ValueError if there is none."""
    group, _ = tuple_codes(_codes(model, choice), len(model.choices[choice]))
    found = np.full(len(worse), -1)
    kept = kept[np.argsort(group[kept], kind="stable")]
    places = np.argsort(group[worse], kind="stable")
    for part in np.split(places, np.flatnonzero(np.diff(group[worse][places])) + 1):
        own = group[worse[part[0]]]
        those = kept[np.searchsorted(group[kept], own) : np.searchsorted(group[kept], own, side="right")]
        size = max(1, _AT_ONCE // max(1, len(those)))
        for some in (part[start : start + size] for start in range(0, len(part), size)):
            pairs = _dominates(model, choice, np.tile(those, len(some)), np.repeat(worse[some], len(those)))
            table = pairs.reshape(len(some), len(those))
            if not len(those) or not table.any(axis=1).all():
                raise ValueError("reduction removes a row for no reason")
            found[some] = those[table.argmax(axis=1)]
    return found


def _codes(model: Model, choice: int) -> list[Ints]:
    """The codes that tie rows of a choice to other choices."""
    terms = [term for linear in (model.objective, *(row.linear for row in model.rows)) for term in linear.terms]
    parts = [part for part in (*model.links, *model.tables, *terms) if choice in part.choices]
    return [part.codes[part.choices.index(choice)] for part in parts]


def _column(linear: Linear, choice: int, size: int) -> Ints:
    return linear.columns.get(choice, np.zeros(size, np.int64))


def _places(model: Model, choice: int, rows: Ints) -> Ints:
    """The row indices of the model for row numbers of the offer table."""
    every = model.choices[choice].rows
    return np.searchsorted(every, rows).clip(max=len(every) - 1)
