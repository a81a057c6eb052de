"""Conditions as formulas without negation, by two translations that mirror each other: "known and true" and "known
and false". Nothing is lost: where neither is true, the condition is unknown.
"""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import replace

import numpy as np

from ...schemas import expression as ex
from ...schemas.expression import Expr
from ...schemas.syntax import ExpressionText
from ...schemas.units import BOOL
from ..lowering.values import Bools, Values
from .cases import MAX_CASES, Codes, allowed_together, cases, combinations, not_case
from .model import Formula, Leaf
from .numbers import Atoms, Numbers
from .pool import FALSE, TRUE, both, either, negated
from .setting import Setting

_OPPOSITE = {"<": ">=", "<=": ">", ">": "<=", ">=": "<", "==": "!=", "!=": "=="}
# `left op right` as `sign * (left - right) + constant <= 0`
_AT_MOST = {"<": (1, 1), "<=": (1, 0), ">": (-1, 1), ">=": (-1, 0)}


class Translation:
    """Translates the conditions of one text; `fixed`: what is known of choices inside aggregates, by identity."""

    def __init__(self, setting: Setting, text: ExpressionText, fixed: Mapping[int, Values] | None = None) -> None:
        self.setting, self.text, self.fixed = setting, text, fixed or {}
        self.numbers = Numbers(setting, text, self.fixed, self.true)

    def true(self, node: Expr) -> Formula:
        """The condition is known and true. Raises ExpressionError for what no model can hold."""
        return self.holds(node, True)

    def objective(self, node: Expr, sign: int) -> Leaf:
        """`sign` times a number, to be made small; what is unknown in it counts as zero."""
        atoms = [(part, sign * factor) for part, factor in self.numbers.atoms(node)]
        form = self.numbers.form(atoms, 0, node)
        return Leaf(*self.setting.pool.quantity(form), form.constant)

    def holds(self, node: Expr, wanted: bool) -> Formula:
        """The condition is known, and is what is wanted."""
        choice, alone = self.setting.single(node), self.numbers.alone(node)
        if alone is not None:
            return TRUE if bool(_where(alone, wanted)[0]) else FALSE
        if choice is not None:
            return self.setting.pool.some(choice, _where(self.setting.evaluate(node, choice, self.text), wanted))
        if isinstance(node, ex.And | ex.Or):
            join = both if isinstance(node, ex.And) == wanted else either
            return join([self.holds(arg, wanted) for arg in node.args])
        if isinstance(node, ex.Not):
            return self.holds(node.arg, not wanted)
        if self.numbers.mixed(node):
            return self._by_case(node, wanted)
        match node:
            case ex.Each():
                return self._each(node, wanted)
            case ex.Known():
                return self._known(node, wanted)
            case ex.Compare():
                return self._compare(node, wanted)
            case ex.Member():
                literals = [ex.Literal(value, node.arg.type, node.span) for value in node.values]
                equal = [ex.Compare("==", node.arg, literal, BOOL, node.span) for literal in literals]
                return self.holds(ex.Or(tuple(equal), BOOL, node.span), wanted)
            case _:
                return self._over_codes(node, wanted)

    def _over_codes(self, node: Expr, wanted: bool) -> Formula:
        """By the few distinct values that it depends on."""
        parts, values = self.numbers.over_codes(node)
        allowed = _where(values, wanted).reshape([part.number for part in parts])
        return allowed_together(self.setting.pool, parts, allowed)

    def _by_case(self, node: Expr, wanted: bool) -> Formula:
        """An atom with aggregates that read choices of one row: once for each case of what they read."""
        leaves: dict[int, list[Expr]] = {}
        for part in ex.walk(node):
            for leaf in self.numbers.outer(part) if isinstance(part, ex.Each) else ():
                leaves.setdefault(self.setting.single(leaf) or 0, []).append(leaf)
        known = {
            choice: [self.setting.evaluate(leaf, choice, self.text) for leaf in leaves[choice]]
            for choice in sorted(leaves)
        }
        parts = [Codes.of(choice, values, self.setting.size(choice)) for choice, values in known.items()]
        if (most := combinations(parts)) > MAX_CASES:
            raise self.numbers.refused(node, f"it depends on {most} combinations of values")
        found: dict[Formula, list[tuple[int, ...]]] = {}
        for case in cases(parts):
            fixed = dict(self.fixed)
            for part, code in zip(parts, case, strict=True):
                row = part.rows()[code : code + 1]
                pairs = zip(leaves[part.choice], known[part.choice], strict=True)
                fixed.update((id(leaf), values.take(row)) for leaf, values in pairs)
            found.setdefault(Translation(self.setting, self.text, fixed).holds(node, wanted), []).append(case)
        pool = self.setting.pool
        rules: list[Formula] = []
        for formula, alike in found.items():
            if formula == TRUE:
                continue
            if len(parts) == 1:
                members = np.isin(parts[0].codes, [code for (code,) in alike])
                rules.append(either([pool.none(parts[0].choice, members), formula]))
            else:
                rules.extend(either([not_case(pool, parts, case), formula]) for case in alike)
        return both(rules)

    def _each(self, node: ex.Each, wanted: bool) -> Formula:
        choice, counted, body = self.numbers.inner(node)
        pool = self.setting.pool
        if (node.function == "any") == wanted:  # some row decides: a true one for any, a false one against all
            return pool.some(choice, counted & _where(body, wanted))
        return pool.none(choice, counted & ~_where(body, wanted))

    def _known(self, node: ex.Known, wanted: bool) -> Formula:
        arg = node.arg
        if arg.type.kind == "bool":
            found = either([self.holds(arg, True), self.holds(arg, False)])
        else:
            found = both(self.numbers.known(arg))
        return found if wanted else negated(found)

    # comparisons

    def _compare(self, node: ex.Compare, wanted: bool) -> Formula:
        op = node.op if wanted else _OPPOSITE[node.op]
        kind = node.left.type.kind
        if kind == "string":
            return self._over_codes(node, wanted)
        if kind == "bool":
            signs = (True, False) if op == "==" else (False, True)
            return either(
                both([self.holds(node.left, value), self.holds(node.right, other)])
                for value, other in zip((True, False), signs, strict=True)
            )
        known = both([*self.numbers.known(node.left), *self.numbers.known(node.right)])
        return both([known, self._relation(op, node)])

    def _relation(self, op: str, node: ex.Compare) -> Formula:
        """How two known numbers compare."""
        if op == "==":
            return both([self._relation("<=", node), self._relation(">=", node)])
        if op == "!=":
            return either([self._relation("<", node), self._relation(">", node)])
        sign, constant = _AT_MOST[op]
        left, right = self.numbers.atoms(node.left, sign), self.numbers.atoms(node.right, -sign)
        return self._at_most([*left, *right], constant, node)

    def _at_most(self, atoms: Atoms, constant: int, whole: ex.Compare) -> Formula:
        """The sum of the atoms and the constant is at most zero, if they are known."""
        for number, (node, factor) in enumerate(atoms):
            if self.setting.single(node) is not None or not factor:
                continue
            rest = [*atoms[:number], *atoms[number + 1 :]]
            if isinstance(node, ex.Extreme):
                branches = [list(self.numbers.atoms(arg, factor)) for arg in node.args]
                every = node.largest == (factor > 0)
            elif isinstance(node, ex.Absolute):
                branches = [list(self.numbers.atoms(node.arg, side * factor)) for side in (1, -1)]
                every = factor > 0
            elif isinstance(node, ex.Each) and node.function in ("max", "min") and not _others(rest):
                return self._extreme_row(node, factor, constant + _constant(rest))
            elif isinstance(node, ex.Quotient) and isinstance(node.denominator, ex.Literal) and not _others(rest):
                return self._quotient(node, factor, constant + _constant(rest), whole)
            else:
                continue
            join = both if every else either
            return join([self._at_most([*rest, *branch], constant, whole) for branch in branches])
        return self.setting.pool.at_most_zero(self.numbers.form(atoms, constant, whole))

    def _extreme_row(self, node: ex.Each, factor: int, constant: int) -> Formula:
        """`factor * max(…) + constant <= 0` and the like: about rows that are too large, or large enough."""
        choice, counted, body = self.numbers.inner(node)
        counted = counted if body.null is None else counted & ~body.null
        bound = -constant // factor if factor > 0 else -(-constant // -factor)
        good: Bools = body.data <= bound if factor > 0 else body.data >= bound
        if (node.function == "max") == (factor > 0):
            return self.setting.pool.none(choice, counted & ~good)
        return self.setting.pool.some(choice, counted & good)

    def _quotient(self, node: ex.Quotient, factor: int, constant: int, whole: ex.Compare) -> Formula:
        """`factor * quotient + constant <= 0` for a quotient by a constant, as a comparison of its numerator."""
        divisor = int(node.denominator.value) if isinstance(node.denominator, ex.Literal) else 1
        if divisor < 0:
            raise self.numbers.refused(node, f"'{self.numbers.shown(node)}' divides by less than zero")
        if factor > 0:
            bound = -constant // factor  # the quotient is at most this
            limit = bound * divisor if node.up else (bound + 1) * divisor - 1
            return self._at_most(list(self.numbers.atoms(node.numerator)), -limit, whole)
        bound = -(-constant // -factor)  # the quotient is at least this
        limit = (bound - 1) * divisor + 1 if node.up else bound * divisor
        return self._at_most(list(self.numbers.atoms(node.numerator, -1)), limit, whole)


def _where(values: Values, wanted: bool) -> Bools:
    return values.true() if wanted else replace(values, data=~values.data).true()


def _others(atoms: Atoms) -> bool:
    return any(not isinstance(node, ex.Literal) for node, _ in atoms)


def _constant(atoms: Atoms) -> int:
    return sum(factor * int(node.value) for node, factor in atoms if isinstance(node, ex.Literal))
