"""From a problem on a dataset to a model of plain integers.

Each constraint is split at its top-level `and`. A conjunct about one choice becomes a bit of that choice's rows. Across
choices, an equation of two choices becomes a link of codes, a comparison of sums of numbers becomes an integer row, and
anything over dates, texts, relations and single-choice conditions becomes a table over the few distinct values
involved. What fits none of these is refused with the reason; nothing is approximated.
"""

from __future__ import annotations

import math
from collections.abc import Mapping, Sequence
from dataclasses import dataclass, field, replace

import numpy as np

from ..datasets.opening import Dataset
from ..schemas import expression as ex
from ..schemas.errors import ExpressionError, OverflowRisk
from ..schemas.expression import Expr, children, choices_of, split_and
from ..schemas.problem import Constraint, Problem
from ..schemas.syntax import ExpressionText
from .coding import coded, first_rows
from .lowering.choices import offered, refuse_sets
from .lowering.levels import recent
from .lowering.offers import Offers
from .lowering.values import Evaluator, Values, codes_of_tuples, integers
from .model import LIMIT, Bools, Choice, Ints, Linear, Link, Model, Row, Table, Term, Threshold

MAX_TABLE = 2**22
Cells = tuple[tuple[int, ...], list[tuple[Ints, int]], Values]  # choices, codes and their numbers, a value per cell
# `left op right` as rows `sign * (left - right) + strict <= 0`
_AT_MOST_ZERO = {"<": ((1, 1),), "<=": ((1, 0),), ">": ((-1, 1),), ">=": ((-1, 0),), "==": ((1, 0), (-1, 0))}


@dataclass(frozen=True, slots=True)
class Lowered:
    """The model, and the offers behind its row indices, per choice in file order."""

    model: Model
    offers: tuple[Offers, ...]

    def ids(self, model: Model, picked: Sequence[int]) -> dict[str, str]:
        """The offer ids of a plan given by row indices of `model`, which is this model or a part of it."""
        named = zip(model.choices, self.offers, picked, strict=True)
        return {choice.name: self.names(offers, choice, [index])[0] for choice, offers, index in named}

    def ranks(self, model: Model, choice: int) -> Ints:
        """The rank of each row of a choice by offer id: int64[n], the least id is 0."""
        part = model.choices[choice]
        names = [name.encode() for name in self.names(self.offers[choice], part, range(len(part)))]
        ranks = np.empty(len(names), np.int64)
        ranks[sorted(range(len(names)), key=names.__getitem__)] = np.arange(len(names))
        return ranks

    @staticmethod
    def names(offers: Offers, choice: Choice, indices: Sequence[int]) -> list[str]:
        """The ids of rows of one choice."""
        return offers.ids(np.searchsorted(offers.rows, choice.rows[np.asarray(indices, np.int64)]).tolist())


def lower(problem: Problem, dataset: Dataset, within: Mapping[str, Sequence[str]] | None = None) -> Lowered:
    """The model of a problem. `within` keeps only the offers with the given ids, per choice.

    Raises TableError for data that does not fit, ExpressionError for what no model can hold, OverflowRisk for ranges.
    """
    refuse_sets(problem)
    return Lowering(problem, dataset, offered(problem, dataset, within)).run()


class Lowering:
    """A problem on its way to a model: each row of `offers` gets a bit for each constraint."""

    evaluator: type[Evaluator] = Evaluator

    def __init__(self, problem: Problem, dataset: Dataset, offers: list[Offers]) -> None:
        self.problem, self.dataset, self.offers = problem, dataset, offers
        self.number = {offer.choice: number for number, offer in enumerate(offers)}
        self.satisfied = [np.full(len(offer.rows), 2**64 - 1, np.uint64) for offer in offers]
        self.rows: list[Row] = []
        self.links: list[Link] = []
        self.tables: list[Table] = []
        self.thresholds: dict[int, Threshold] = {}
        self._columns: dict[tuple[int, str], Values] = {}

    def run(self) -> Lowered:
        """The whole model."""
        for number, constraint in enumerate(self.problem.constraints):
            for conjunct in split_and(constraint.condition):
                Conjunct(self, number, constraint.text).lower(conjunct)
            self._threshold(number, constraint)
        objective = self.problem.objective
        linear = Conjunct(self, None, objective.text).linear(objective.expr, -1 if objective.maximize else 1)
        choices = tuple(
            Choice(offer.choice, 1, 1, offer.rows, self.satisfied[number]) for number, offer in enumerate(self.offers)
        )
        names = tuple(constraint.name for constraint in self.problem.constraints)
        model = Model(
            names,
            choices,
            tuple(self.rows),
            tuple(self.links),
            tuple(self.tables),
            linear,
            objective.maximize,
            self.thresholds,
        )
        return Lowered(model, tuple(self.offers))

    def _threshold(self, number: int, constraint: Constraint) -> None:
        """Notes a constraint that is one comparison of numbers, and where its parts are known."""
        node = constraint.condition
        if not isinstance(node, ex.Compare) or node.op in ("==", "!=") or node.left.type.kind != "number":
            return
        known = _Known({choice: np.ones(len(offer.rows), np.bool_) for choice, offer in enumerate(self.offers)})
        sign, strict = _AT_MOST_ZERO[node.op][0]
        linear = Conjunct(self, None, constraint.text, known).linear(node.left, sign, strict, node.right)
        self.thresholds[number] = Threshold(linear, known.rows, tuple(known.tables))

    def evaluate(self, node: Expr, choice: int, text: ExpressionText) -> Values:
        """A single-choice expression over the offers of that choice."""
        evaluator = Evaluator(
            len(self.offers[choice].rows),
            lambda column: self._column(choice, column.column),
            self.dataset,
            self.problem.world,
            text,
        )
        return evaluator.values(node)

    def _column(self, choice: int, name: str) -> Values:
        """A column over the offers of a choice."""
        if (choice, name) not in self._columns:
            offer = self.offers[choice]
            self._columns[choice, name] = offer.table.column(name).take(offer.rows)
        return self._columns[choice, name]

    def forbid(self, choice: int, constraint: int, rows: Bools) -> None:
        """Marks rows that can satisfy the constraint in no plan."""
        self.satisfied[choice][rows] &= np.uint64(~(1 << constraint) & (2**64 - 1))

    def size(self, choice: int) -> int:
        """The number of rows that expressions about a choice are evaluated over."""
        return len(self.offers[choice].rows)

    def cells(self, node: Expr, text: ExpressionText) -> Cells | None:  # noqa: ARG002
        """What `Conjunct.over_codes` gives, if that is known already."""
        return None

    def reach(self, linear: Linear, most: int) -> int:
        """What no sum of parts exceeds; `most` is that for all rows of the tables, by the bounds of their values."""
        return min(linear.reach(), abs(linear.constant) + most)

    def combinations(self, values: Mapping[int, Sequence[Values]], codes: Mapping[int, int]) -> int:
        """How many combinations a table has of the values of some choices; `codes`: how many each has in the rows."""
        return math.prod(codes[choice] for choice in values)


@dataclass(slots=True)
class _Known:
    """Where the parts of a sum are known: rows of each choice, and combinations of several."""

    rows: dict[int, Bools]
    tables: list[Table] = field(default_factory=list[Table])


@dataclass(slots=True)
class _Sums:
    """A linear form while it is put together: parts per choice with factors, terms over several choices, a constant."""

    parts: dict[int, list[tuple[Expr, int]]] = field(default_factory=dict[int, list[tuple[Expr, int]]])
    terms: list[Term] = field(default_factory=list[Term])
    constant: int = 0
    reach: int = 0  # no sum of the parts exceeds it, whichever rows of the tables are picked


class Conjunct:
    """Lowers a conjunct of constraint number `constraint`; or a sum on its own (None), `known` says where it is."""

    def __init__(
        self, lowering: Lowering, constraint: int | None, text: ExpressionText, known: _Known | None = None
    ) -> None:
        self.lowering, self.constraint, self.text, self.known = lowering, constraint, text, known

    def lower(self, node: Expr) -> None:
        """Adds what the conjunct becomes to the model."""
        choices = sorted(self.lowering.number[name] for name in choices_of(node))
        if len(choices) <= 1:  # a conjunct without any choice is a constant; it bears on the first
            choice = choices[0] if choices else 0
            self._forbid(choice, ~self.lowering.evaluate(node, choice, self.text).true())
        elif isinstance(node, ex.Compare) and self.is_sum(node):
            self._comparison(node)
        elif isinstance(node, ex.Compare) and node.op == "==" and self._sides(node):
            self._equation(node)
        else:
            self._table(node)

    def _forbid(self, choice: int, rows: Bools) -> None:
        if self.constraint is not None:
            self.lowering.forbid(choice, self.constraint, rows)
        if self.known is not None:
            self.known.rows[choice] &= ~rows

    def _evaluate(self, node: Expr, choice: int) -> Values:
        return self.lowering.evaluate(node, choice, self.text)

    def _choice(self, node: Expr) -> int:
        return self.lowering.number[next(iter(choices_of(node)))]

    def _sides(self, node: ex.Compare) -> bool:
        """Whether each side is about exactly one choice, and not the same."""
        left, right = choices_of(node.left), choices_of(node.right)
        return len(left) == len(right) == 1 and left != right

    def _leaves(self, node: Expr) -> list[Expr]:
        """The largest sub-expressions about a single choice."""
        if len(choices_of(node)) == 1:
            return [node]
        return [leaf for child in children(node) for leaf in self._leaves(child)]

    def is_sum(self, node: ex.Compare) -> bool:
        """Whether the comparison becomes integer rows: it adds up numbers, and is no equation of two choices."""
        if node.left.type.kind != "number" or node.op == "!=" or (node.op == "==" and self._sides(node)):
            return False
        return any(self._adds(part) for part in (node.left, node.right))

    def _adds(self, node: Expr) -> bool:
        if len(choices_of(node)) == 1:
            return node.type.kind == "number"
        return not isinstance(node, ex.Relation | ex.Count | ex.DaysBetween) and any(
            self._adds(child) for child in children(node)
        )

    # comparisons of numbers

    def _comparison(self, node: ex.Compare) -> None:
        for sign, strict in _AT_MOST_ZERO[node.op]:
            linear = self.linear(node.left, sign, strict, node.right)
            if self.constraint is not None:
                self.lowering.rows.append(Row(self.constraint, linear))

    def linear(self, left: Expr, sign: int, constant: int = 0, right: Expr | None = None) -> Linear:
        """`sign * (left - right) + constant` as a linear form; rows whose part is unknown are forbidden."""
        sums = _Sums(constant=constant)
        self._collect(left, sign, sums)
        if right is not None:
            self._collect(right, -sign, sums)
        columns: dict[int, Ints] = {}
        for choice, parts in sums.parts.items():
            total = self._total(parts, choice)
            if total.null is not None:
                self._forbid(choice, total.null)
                total = replace(total, data=np.where(total.null, 0, total.data))
            columns[choice] = total.data
            sums.reach += max(abs(total.low), abs(total.high))
        linear = Linear(columns, tuple(sums.terms), sums.constant)
        if self.lowering.reach(linear, sums.reach) >= LIMIT:
            low, high = linear.bounds()
            constraints = self.lowering.problem.constraints
            name = constraints[self.constraint].name if self.constraint is not None else "the objective"
            raise OverflowRisk(
                f"{name} ranges from {low} to {high} in parts that add up to {linear.reach()}, beyond 2^62",
                where=self.text.place(),
                hint="use smaller factors, or a coarser unit",
            )
        return linear

    def _total(self, parts: Sequence[tuple[Expr, int]], choice: int) -> Values:
        """The sum of parts about a choice, each times its factor."""
        if len(parts) == 1 and parts[0][1] == 1:
            return self._evaluate(parts[0][0], choice)
        known = {id(part): self._evaluate(part, choice) for part, _ in parts}
        terms = tuple(ex.Scaled(part, factor, part.type, part.span) for part, factor in parts)
        return self._over(self.lowering.size(choice), known).values(ex.Sum(terms, terms[0].type, terms[0].span))

    def _over(self, size: int, known: Mapping[int, Values]) -> Evaluator:
        """Evaluates what consists of sub-expressions whose values are known, by identity."""
        lowering = self.lowering
        return lowering.evaluator(
            size, lambda column: known[id(column)], lowering.dataset, lowering.problem.world, self.text, known
        )

    def _collect(self, node: Expr, factor: int, sums: _Sums) -> None:
        """Adds `factor * node` to the sums, splitting it until every part is about one choice."""
        choices = choices_of(node)
        if isinstance(node, ex.Literal):
            sums.constant += factor * int(node.value)
        elif len(choices) <= 1:
            choice = self._choice(node) if choices else 0
            sums.parts.setdefault(choice, []).append((node, factor))
        elif isinstance(node, ex.Sum):
            for term in node.terms:
                self._collect(term, factor, sums)
        elif isinstance(node, ex.Scaled):
            self._collect(node.term, factor * node.factor, sums)
        elif isinstance(node, ex.Product) and isinstance(node.right, ex.Literal):
            self._collect(node.left, factor * int(node.right.value), sums)
        elif isinstance(node, ex.Product) and isinstance(node.left, ex.Literal):
            self._collect(node.right, factor * int(node.left.value), sums)
        elif isinstance(node, ex.Count):
            counts = recent(self.lowering.dataset).get(  # the same ones again, so that what is known of them is found
                "counts", node, None, lambda: tuple(ex.Count((arg,), node.type, arg.span) for arg in node.args)
            )
            for single in counts:
                if len(choices_of(single)) <= 1:
                    self._collect(single, factor, sums)
                else:
                    sums.terms.append(self._term(single, factor, sums))
        elif isinstance(node, ex.DaysBetween):
            self._collect(node.end, factor, sums)
            self._collect(node.start, -factor, sums)
        elif isinstance(node, ex.Relation) or not self._adds(node):
            sums.terms.append(self._term(node, factor, sums))
        else:
            shown = self.text.text[node.span.start : node.span.end]
            raise self._refused(node, f"'{shown}' mixes choices in a way that is not linear")

    def _refused(self, node: Expr, reason: str) -> ExpressionError:
        return self.text.error(f"not supported, because {reason}", node.span)

    def _term(self, node: Expr, factor: int, sums: _Sums) -> Term:
        """A number that depends on few distinct values of several choices; combinations without one are forbidden."""
        choices, codes, values = self.lowering.cells(node, self.text) or self.over_codes(node)
        sums.reach += max(abs(values.low), abs(values.high)) * abs(factor)
        if values.null is not None:
            allowed = ~values.null.reshape([number for _, number in codes])
            number = -1 if self.constraint is None else self.constraint
            table = Table(number, choices, tuple(code for code, _ in codes), allowed)
            if self.known is not None:
                self.known.tables.append(table)
            elif self.constraint is not None:
                self.lowering.tables.append(table)
            values = integers(np.where(values.null, 0, values.data))
        wide = max(abs(values.low), abs(values.high)) * abs(factor)
        scaled = values.data * factor if wide < 2**62 else None
        if scaled is None:
            raise self._refused(node, f"its values reach {wide}")
        return Term(choices, tuple(code for code, _ in codes), scaled.reshape([number for _, number in codes]))

    # equations and tables

    def _equation(self, node: ex.Compare) -> None:
        """Codes that are equal exactly where the two sides are equal and known."""
        left, right = self._choice(node.left), self._choice(node.right)
        first, second = self._evaluate(node.left, left), self._evaluate(node.right, right)
        if first.words is not None and second.words is not None and first.words is not second.words:
            known = {word: code for code, word in enumerate(first.words)}
            mapped = np.array([known.get(word, len(known) + code) for code, word in enumerate(second.words)], np.int64)
            second = Values(mapped[second.data] if len(mapped) else second.data, second.null)
        nulls = [np.zeros(len(side.data), np.bool_) if side.null is None else side.null for side in (first, second)]
        codes, _ = coded(np.concatenate([first.data, second.data]).astype(np.int64))
        codes = np.where(np.concatenate(nulls), -1, codes)
        if self.constraint is not None:
            parts = (codes[: len(first.data)], codes[len(first.data) :])
            self.lowering.links.append(Link(self.constraint, (left, right), parts))

    def _table(self, node: Expr) -> None:
        """The condition, evaluated once for every combination of the distinct values that it depends on."""
        numbers = [
            leaf for leaf in self._leaves(node) if leaf.type.kind == "number" and not self._is_argument(node, leaf)
        ]
        unequal = isinstance(node, ex.Compare) and node.op == "!="
        if numbers and not unequal:
            raise self._refused(node, "a comparison of sums stands under or, not or another function")
        choices, codes, values = self.lowering.cells(node, self.text) or self.over_codes(node)
        allowed = values.true().reshape([number for _, number in codes])
        if self.constraint is not None:
            self.lowering.tables.append(Table(self.constraint, choices, tuple(code for code, _ in codes), allowed))

    def _is_argument(self, node: Expr, leaf: Expr) -> bool:
        return any(leaf in part.args for part in ex.walk(node) if isinstance(part, ex.Relation))

    def over_codes(self, node: Expr) -> Cells:
        """Choices, their codes and code numbers, and the node's value for every combination of codes (row-major)."""
        leaves: dict[int, list[Expr]] = {}
        for leaf in self._leaves(node):
            leaves.setdefault(self._choice(leaf), []).append(leaf)
        choices = tuple(sorted(leaves))
        known = {choice: [self._evaluate(leaf, choice) for leaf in leaves[choice]] for choice in choices}
        codes = [codes_of_tuples(known[choice], self.lowering.size(choice)) for choice in choices]
        size = int(np.prod([number for _, number in codes], dtype=object))
        numbers = {choice: number for choice, (_, number) in zip(choices, codes, strict=True)}
        if (most := self.lowering.combinations(known, numbers)) > MAX_TABLE:
            raise self._refused(node, f"it depends on {most} combinations of values")
        grids = np.meshgrid(*(np.arange(number) for _, number in codes), indexing="ij")
        at: dict[int, Values] = {}
        for choice, (code, number), grid in zip(choices, codes, grids, strict=True):
            rows = first_rows(code, number)[grid.ravel()]
            at.update((id(leaf), values.take(rows)) for leaf, values in zip(leaves[choice], known[choice], strict=True))
        return choices, codes, self._over(size, at).values(node)
