"""Quantities and flags while a model is put together: equal ones are kept once, so that engines see few."""

from __future__ import annotations

from collections.abc import Iterable, Mapping, Sequence
from dataclasses import dataclass, field

import numpy as np

from ...schemas.errors import OverflowRisk
from ...schemas.syntax import ExpressionText, Span
from ..model import LIMIT, Bools, Ints
from .model import All, Any, Flag, Formula, Leaf, Part, Quantity

FALSE, TRUE = Any(), All()


@dataclass(slots=True)
class Form:
    """A sum while it grows: a constant, columns over parts, and factors of flags, truths and routes."""

    constant: int = 0
    columns: dict[int, Ints] = field(default_factory=dict[int, Ints])
    flags: dict[int, int] = field(default_factory=dict[int, int])
    truths: dict[Formula, int] = field(default_factory=dict[Formula, int])
    ends: dict[int, int] = field(default_factory=dict[int, int])
    travel: dict[int, int] = field(default_factory=dict[int, int])

    def add(self, other: Form, factor: int, text: ExpressionText, span: Span) -> None:
        """Adds `factor` times another sum; raises OverflowRisk where a column could leave 2^62."""
        self.constant += factor * other.constant
        for part, column in other.columns.items():
            before = self.columns.get(part)
            reach = _reach(column) * abs(factor) + (_reach(before) if before is not None else 0)
            if max(reach, abs(factor)) >= LIMIT:
                shown = text.text[span.start : span.end]
                hint = "use smaller factors, or a coarser unit"
                raise OverflowRisk(f"'{shown}' reaches {reach}, beyond 2^62", where=text.place(span), hint=hint)
            scaled = column * np.int64(factor)
            self.columns[part] = scaled if before is None else before + scaled
        for mine, theirs in ((self.flags, other.flags), (self.ends, other.ends), (self.travel, other.travel)):
            for key, times in theirs.items():
                mine[key] = mine.get(key, 0) + factor * times
        for formula, times in other.truths.items():
            self.truths[formula] = self.truths.get(formula, 0) + factor * times


def _reach(column: Ints) -> int:
    return max(abs(int(column.min())), abs(int(column.max()))) if len(column) else 0


def both(parts: Iterable[Formula]) -> Formula:
    """All of the parts, flat; FALSE if one is."""
    found: dict[Formula, None] = {}
    for part in parts:
        if part == FALSE:
            return FALSE
        found.update(dict.fromkeys(part.parts if isinstance(part, All) else (part,)))
    return next(iter(found)) if len(found) == 1 else All(tuple(found))


def either(parts: Iterable[Formula]) -> Formula:
    """Some of the parts, flat; TRUE if one is."""
    found: dict[Formula, None] = {}
    for part in parts:
        if part == TRUE:
            return TRUE
        found.update(dict.fromkeys(part.parts if isinstance(part, Any) else (part,)))
    return next(iter(found)) if len(found) == 1 else Any(tuple(found))


def negated(formula: Formula) -> Formula:
    """True where the formula is not."""
    if isinstance(formula, All):
        return either(negated(part) for part in formula.parts)
    if isinstance(formula, Any):
        return both(negated(part) for part in formula.parts)
    return Leaf(formula.quantity, -formula.sign, 1 - formula.constant)


class Pool:
    """The quantities and flags of a model; `places[c]`: the parts of choice c, and which of its offers each has."""

    def __init__(self, parts: Sequence[Part], places: Sequence[Sequence[tuple[int, Ints]]]) -> None:
        self.parts, self.places = tuple(parts), places
        self.quantities: list[Quantity] = []
        self.flags: list[Flag] = []
        self._known: dict[object, int] = {}

    def column(self, choice: int, data: Ints) -> Form:
        """The sum of numbers `int64[n]` of a choice's offers over those that are picked."""
        return Form(columns={part: data[places] for part, places in self.places[choice]})

    def flag(self, choice: int, members: Bools) -> Form:
        """1 if an offer of `members: bool[n]` is picked."""
        found = {part: members[places] for part, places in self.places[choice] if members[places].any()}
        if not found:
            return Form()
        key = ("flag", tuple((part, good.tobytes()) for part, good in found.items()))
        if key not in self._known:
            self._known[key] = len(self.flags)
            self.flags.append(Flag(found))
        return Form(flags={self._known[key]: 1})

    def none(self, choice: int, members: Bools) -> Formula:
        """No offer of `members` is picked."""
        return self.at_most_zero(self.column(choice, members.astype(np.int64)))

    def some(self, choice: int, members: Bools) -> Formula:
        """An offer of `members` is picked."""
        form = self.column(choice, -members.astype(np.int64))
        form.constant = 1
        return self.at_most_zero(form)

    def at_most_zero(self, form: Form) -> Formula:
        """`form <= 0`; a constant where the numbers of the parts decide that already."""
        low, high = self._bounds(form)
        if high <= 0 or low > 0:
            return TRUE if high <= 0 else FALSE
        quantity, sign = self.quantity(form)
        return Leaf(quantity, sign, form.constant)

    def quantity(self, form: Form) -> tuple[int, int]:
        """The number of a quantity, and the sign with which it is the sum, its constant left out."""
        columns = {part: column for part, column in sorted(form.columns.items()) if column.any()}
        flags, ends, travel = (_sorted(found) for found in (form.flags, form.ends, form.travel))
        truths = tuple((formula, factor) for formula, factor in form.truths.items() if factor)
        first = [int(column[np.flatnonzero(column)[0]]) for column in columns.values()]
        first += [factor for _, factor in (*flags, *truths, *travel)]
        sign = 1 if ends or not first or first[0] > 0 else -1
        if sign < 0:
            columns = {part: -column for part, column in columns.items()}
            flags, travel = (tuple((key, -factor) for key, factor in found) for found in (flags, travel))
            truths = tuple((formula, -factor) for formula, factor in truths)
        key = (tuple((part, column.tobytes()) for part, column in columns.items()), flags, truths, ends, travel)
        if key not in self._known:
            self._known[key] = len(self.quantities)
            self.quantities.append(Quantity(columns, flags, truths, ends, travel))
        return self._known[key], sign

    def late(self, formula: Formula) -> bool:
        """Whether the end of a route decides in the formula."""
        if isinstance(formula, Leaf):
            found = self.quantities[formula.quantity]
            return bool(found.ends) or any(self.late(inner) for inner, _ in found.truths)
        return any(self.late(part) for part in formula.parts)

    def _bounds(self, form: Form) -> tuple[int, int]:
        """What the sum cannot be below and above; without the ends and the travel of routes, which are any number."""
        if any(form.ends.values()) or any(form.travel.values()):
            return -1, 1
        low = high = form.constant
        for factor in (*form.flags.values(), *form.truths.values()):
            low, high = low + min(factor, 0), high + max(factor, 0)
        for number, column in form.columns.items():
            part = self.parts[number]
            least, most = min(part.at_least, len(column)), min(part.at_most, len(column))
            if not most:
                continue
            if least == most == 1:
                low, high = low + int(column.min()), high + int(column.max())
                continue
            ascending = np.sort(column)
            small, large = ascending[:most].tolist(), ascending[::-1][:most].tolist()
            low += sum(small[:least]) + sum(value for value in small[least:] if value < 0)
            high += sum(large[:least]) + sum(value for value in large[least:] if value > 0)
        return low, high


def _sorted(factors: Mapping[int, int]) -> tuple[tuple[int, int], ...]:
    return tuple(sorted((key, factor) for key, factor in factors.items() if factor))
