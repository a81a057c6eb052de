"""A plan held against every constraint of a task, with the values that decide: for the plan that an author expected.

Beside the checker, and like it from the task and the Parquet files alone.
"""

from __future__ import annotations

from collections.abc import Callable, Collection
from dataclasses import dataclass, replace

from ...schemas import expression as ex
from ...schemas.canonical import narrow
from ...schemas.expression import Expr, choices_of, split_and
from ...schemas.plan import Plan
from ...schemas.problem import Constraint, Problem, structure
from ...schemas.syntax import ExpressionText
from ...schemas.units import COUNT, WEEKDAYS, Type, format_value, weekday_index
from ...schemas.verdict import Violation
from .check import Data, Evaluation, Value, plans_of, walk_plan


@dataclass(frozen=True, slots=True)
class Fact:
    """A part of a constraint as it is written, and its value as people write it."""

    text: str
    value: str


@dataclass(frozen=True, slots=True)
class Traced:
    """One constraint: `holds`, or None when it is about a pick that is no offer; `detail` says what fails, and on what.

    `slack` is for a single comparison of numbers: by how much it holds, or below zero by how much it fails, in `unit`.
    """

    constraint: str
    text: str
    holds: bool | None
    detail: str
    slack: int | None
    unit: Type
    facts: tuple[Fact, ...]


@dataclass(frozen=True, slots=True)
class Trace:
    """Every constraint in file order, what is wrong with the picks themselves, and the objective's value if known."""

    value: int | None
    objective: Type
    unknown: tuple[str, ...]
    constraints: tuple[Traced, ...]

    @property
    def feasible(self) -> bool:
        """Whether the plan satisfies everything."""
        return not self.unknown and all(item.holds for item in self.constraints)

    @property
    def broken(self) -> tuple[Traced, ...]:
        """The constraints that fail, in file order."""
        return tuple(item for item in self.constraints if item.holds is False)


def trace(problem: Problem, data: Data, plan: Plan) -> Trace:
    """The plan's trace; TableError for division by zero. A pick that is no offer leaves its constraints open.

    What numbers and routes ask for comes after the constraints, as far as the plan breaks it.
    """
    plans = plans_of(problem, data)
    state, found = plans.read(plan).state, plans.evaluate(plan)

    def value(node: Expr) -> Value:
        return plans.function(node)(state)

    known = state.keys() & problem.choices.keys()
    traced = [_traced(item, found, known, value) for item in problem.constraints]
    names = {item.name for item in problem.constraints}
    traced += [_clause(item) for item in found.violations if item.constraint not in names]
    return Trace(found.value, replace(problem.objective.type, nullable=False), found.unknown, tuple(traced))


def _clause(broken: Violation) -> Traced:
    """What is wrong with the picks of a choice as such."""
    slack = None if broken.amount is None else -narrow(broken.amount)
    unit = Type("number", broken.unit, broken.scale)
    return Traced(broken.constraint, "", False, broken.detail, slack, unit, ())


def _traced(
    constraint: Constraint, found: Evaluation, known: Collection[str], value: Callable[[Expr], Value]
) -> Traced:
    node, text = constraint.condition, constraint.text
    holds = all(value(atom) is True for atom in split_and(node)) if choices_of(node) <= set(known) else None
    detail, slack, unit = "", None, COUNT
    broken = next((item for item in found.violations if item.constraint == constraint.name), None)
    if broken is not None:
        detail = broken.detail
        if broken.amount is not None:
            slack, unit = -narrow(broken.amount), Type("number", broken.unit, broken.scale)
    elif holds and isinstance(node, ex.Compare):
        slack, unit = _slack(node, value), replace(node.left.type, nullable=False)
    facts = {fact.text: fact for part in walk_plan(node) for fact in _facts(part, node, text, known, value)}
    return Traced(constraint.name, text.text, holds, detail, slack, unit, tuple(facts.values()))


def _slack(node: ex.Compare, value: Callable[[Expr], Value]) -> int | None:
    """By how much a comparison of numbers that holds could be tightened; None for any other."""
    left, right = value(node.left), value(node.right)
    if node.left.type.kind != "number" or left is None or right is None:
        return None
    over = int(right) - int(left)
    return {"<=": over, "<": over - 1, ">=": -over, ">": -over - 1}.get(node.op)


def _facts(
    part: Expr, whole: Expr, text: ExpressionText, known: Collection[str], value: Callable[[Expr], Value]
) -> list[Fact]:
    """The value of a part that is worth telling: a sum that is compared, a fact looked up, a column."""
    compared = [node for node in walk_plan(whole) if isinstance(node, ex.Compare)]
    sums = [side for node in compared for side in (node.left, node.right) if side.type.kind == "number"]
    telling = isinstance(part, ex.Column | ex.Relation | ex.Each | ex.Tour) or (
        part in sums and not isinstance(part, ex.Literal)
    )
    if not telling or not choices_of(part) <= set(known):
        return []
    found = value(part)
    shown = format_value(found, part.type)
    weekdays = {structure(node.arg) for node in walk_plan(whole) if isinstance(node, ex.Weekday)}
    if found is not None and structure(part) in weekdays:
        shown += f" ({WEEKDAYS[weekday_index(int(found))]})"
    return [Fact(text.text[part.span.start : part.span.end], shown)]
