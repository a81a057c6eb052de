"""Numbers of a plan as sums: over the offers of one choice, over the rows of a set, of what a route takes."""

from __future__ import annotations

from collections.abc import Callable, Iterator, Mapping
from dataclasses import dataclass
from itertools import pairwise

import numpy as np

from ...schemas import expression as ex
from ...schemas.errors import ExpressionError
from ...schemas.expression import Expr, children, choices_of
from ...schemas.syntax import ExpressionText
from ..lowering.values import Values
from ..model import Bools, Ints
from .cases import MAX_CASES, Codes, allowed_together, combinations
from .model import Formula
from .pool import FALSE, TRUE, Form
from .setting import Setting

Cells = tuple[list[Codes], Values]  # codes of several choices, and a value for each combination (row-major)
Atoms = list[tuple[Expr, int]]


@dataclass(slots=True)
class Numbers:
    """Reads numbers out of one text. `fixed`: what is known of choices inside aggregates; `holds`: when one is true."""

    setting: Setting
    text: ExpressionText
    fixed: Mapping[int, Values]
    holds: Callable[[Expr], Formula]

    def refused(self, node: Expr, reason: str) -> ExpressionError:
        """The error for an expression that no model can hold."""
        return self.text.error(f"not supported, because {reason}", node.span)

    def shown(self, node: Expr) -> str:
        """The expression as it is written."""
        return self.text.text[node.span.start : node.span.end]

    def alone(self, node: Expr) -> Values | None:
        """The value of an expression about no choice; None if there is one."""
        return self.setting.over(1, node, self.text, {}) if not choices_of(node) else None

    # sums

    def atoms(self, node: Expr, factor: int = 1) -> Iterator[tuple[Expr, int]]:
        """The parts of a sum and their factors."""
        if self.setting.single(node) is not None or not choices_of(node):
            yield node, factor
        elif isinstance(node, ex.Sum):
            for term in node.terms:
                yield from self.atoms(term, factor)
        elif isinstance(node, ex.Scaled):
            yield from self.atoms(node.term, factor * node.factor)
        elif isinstance(node, ex.Product) and isinstance(node.right, ex.Literal):
            yield from self.atoms(node.left, factor * int(node.right.value))
        elif isinstance(node, ex.Product) and isinstance(node.left, ex.Literal):
            yield from self.atoms(node.right, factor * int(node.left.value))
        elif isinstance(node, ex.DaysBetween):
            yield from self.atoms(node.end, factor)
            yield from self.atoms(node.start, -factor)
        else:
            yield node, factor

    def form(self, atoms: Atoms, constant: int, whole: Expr) -> Form:
        """The sum of atoms and a constant, as it stands where less is never worse: in `<= 0`, and to be made small."""
        form = Form(constant)
        for node, factor in atoms:
            if factor:
                form.add(self._number(node), factor, self.text, whole.span)
        self._never_worse(form, whole)
        return form

    def _never_worse(self, form: Form, whole: Expr) -> None:
        pool = self.setting.pool
        wrong = next((part for part, factor in form.ends.items() if factor < 0), None)
        if wrong is not None or any(factor > 0 and pool.late(formula) for formula, factor in form.truths.items()):
            raise self.refused(whole, "a later end of a route would be better here than an earlier one")

    def _number(self, node: Expr) -> Form:
        choice, alone = self.setting.single(node), self.alone(node)
        if alone is not None:
            return Form(int(alone.data[0]) if alone.null is None or not alone.null[0] else 0)
        if choice is not None:
            return self.setting.pool.column(choice, known_data(self.setting.evaluate(node, choice, self.text)))
        match node:
            case ex.Each():
                return self._each(node)
            case ex.Tour():
                return self._tour(node)
            case ex.Count():
                return self._count(node)
            case ex.Relation():
                return self._looked_up(node)
            case _:
                raise self.refused(node, f"'{self.shown(node)}' is not linear, and stands where numbers are added up")

    def _tour(self, node: ex.Tour) -> Form:
        part = self.setting.tours[node.choice]
        if node.quantity == "travel":
            return Form(travel={part: 1})
        several = self.setting.problem.sets[node.choice]
        route = several.route
        if route is None or (
            route.start_time is None and route.end_from is None and (route.opens is None or not several.at_least)
        ):
            raise self.refused(node, f"nothing says when '{node.choice}' begins, so it has no least end")
        start = route.start_time or 0
        return Form(-start if node.quantity == "takes" else 0, ends={part: 1})

    def _count(self, node: ex.Count) -> Form:
        total = Form()
        for arg in node.args:
            choice, alone = self.setting.single(arg), self.alone(arg)
            if alone is not None:
                wish = Form(int(alone.true()[0]))
            elif choice is not None:
                true = self.setting.evaluate(arg, choice, self.text).true()
                wish = self.setting.pool.column(choice, true.astype(np.int64))
            elif isinstance(arg, ex.Each) and arg.function == "any" and not self.mixed(arg):
                number, counted, body = self.inner(arg)
                wish = self.setting.pool.flag(number, counted & body.true())
            else:
                formula = self.holds(arg)
                wish = Form(1) if formula == TRUE else Form(truths={formula: 1})
            total.add(wish, 1, self.text, node.span)
        return total

    def _looked_up(self, node: ex.Relation) -> Form:
        """A number by the codes of several choices: one truth for each value but the least."""
        parts, values = self.over_codes(node)
        data = known_data(values).reshape([part.number for part in parts])
        distinct = np.unique(data).tolist()
        form = Form(distinct[0] if distinct else 0)
        for value in distinct[1:]:
            formula = allowed_together(self.setting.pool, parts, data == value)
            form.truths[formula] = form.truths.get(formula, 0) + value - distinct[0]
        return form

    def over_codes(self, node: Expr) -> Cells:
        """What the expression is for each combination of what it reads of choices of one row."""
        leaves: dict[int, list[Expr]] = {}
        for leaf in self._leaves(node):
            choice = self.setting.single(leaf)
            if choice is None:
                raise self.refused(node, f"'{self.shown(node)}' mixes choices in a way that is not linear")
            leaves.setdefault(choice, []).append(leaf)
        known = {
            choice: [self.setting.evaluate(leaf, choice, self.text) for leaf in leaves[choice]]
            for choice in sorted(leaves)
        }
        parts = [Codes.of(choice, values, self.setting.size(choice)) for choice, values in known.items()]
        if (most := combinations(parts)) > MAX_CASES:
            raise self.refused(node, f"it depends on {most} combinations of values")
        grids = np.meshgrid(*(np.arange(part.number) for part in parts), indexing="ij")
        at: dict[int, Values] = {}
        for part, grid in zip(parts, grids, strict=True):
            rows = part.rows()[grid.ravel()]
            pairs = zip(leaves[part.choice], known[part.choice], strict=True)
            at.update((id(leaf), values.take(rows)) for leaf, values in pairs)
        return parts, self.setting.over(most, node, self.text, at)

    def _leaves(self, node: Expr) -> Iterator[Expr]:
        if len(choices_of(node)) == 1:
            yield node
        else:
            for child in children(node):
                yield from self._leaves(child)

    # aggregates

    def outer(self, node: ex.Each) -> list[Expr]:
        """The largest sub-expressions of an aggregate about other choices, except those that are fixed."""

        def found(part: Expr) -> Iterator[Expr]:
            choices = choices_of(part)
            if not choices or choices == frozenset((node.choice,)) or id(part) in self.fixed:
                return
            if len(choices) == 1:
                if self.setting.single(part) is None:
                    raise self.refused(part, "an aggregate over one set reads another")
                yield part
                return
            for child in children(part):
                yield from found(child)

        return [*found(node.body), *found(node.condition)]

    def mixed(self, node: Expr) -> bool:
        """Whether an aggregate in the expression reads other choices."""
        return any(isinstance(part, ex.Each) and self.outer(part) for part in ex.walk(node))

    def inner(self, node: ex.Each) -> tuple[int, Bools, Values]:
        """The number of the choice, its offers that count, and the body for each offer."""
        if self.outer(node):
            raise self.refused(node, f"'{self.shown(node)}' reads two choices where a number is added up")
        choice = self.setting.number(node.choice)
        counted = self.setting.evaluate(node.condition, choice, self.text, self.fixed).true()
        return choice, counted, self.setting.evaluate(node.body, choice, self.text, self.fixed)

    def _each(self, node: ex.Each) -> Form:
        choice, counted, body = self.inner(node)
        pool = self.setting.pool
        if node.function == "count":
            return pool.column(choice, (counted & body.true()).astype(np.int64))
        counted = counted if body.null is None else counted & ~body.null
        if node.function == "sum":
            return pool.column(choice, np.where(counted, body.data, 0))
        values: list[int] = np.unique(body.data[counted]).tolist()
        if len(values) > MAX_CASES:
            raise self.refused(node, f"it depends on {len(values)} values")
        total = Form()
        if node.function == "distinct":
            for value in values:
                total.add(pool.flag(choice, counted & (body.data == value)), 1, self.text, node.span)
            return total
        if node.function == "min":
            values.reverse()
        total.constant = values[0] if values else 0
        for before, value in pairwise(values):
            beyond = body.data >= value if node.function == "max" else body.data <= value
            total.add(pool.flag(choice, counted & beyond), value - before, self.text, node.span)
        return total

    # what is known

    def known(self, node: Expr) -> Iterator[Formula]:
        """Conditions that hold together exactly where a number is known."""
        pool, choice, alone = self.setting.pool, self.setting.single(node), self.alone(node)
        if alone is not None or choice is not None:
            values = alone if alone is not None else self.setting.evaluate(node, choice or 0, self.text)
            if values.null is not None and values.null.any():
                yield pool.none(choice, values.null) if choice is not None else FALSE
        elif isinstance(node, ex.Each):
            number, counted, body = self.inner(node)
            if node.function != "count" and body.null is not None:
                yield pool.none(number, counted & body.null)
            if node.function in ("max", "min"):
                yield pool.some(number, counted)
        elif isinstance(node, ex.Relation):
            parts, values = self.over_codes(node)
            if values.null is not None:
                yield allowed_together(pool, parts, ~values.null.reshape([part.number for part in parts]))
        elif not isinstance(node, ex.Count | ex.Tour):
            for child in children(node):
                yield from self.known(child)


def known_data(values: Values) -> Ints:
    """The integers, zero where unknown."""
    return values.data.astype(np.int64) if values.null is None else np.where(values.null, 0, values.data)
