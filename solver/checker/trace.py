"""A plan held against every constraint of a task, with the values that decide: for the plan that an author expected.

Beside the checker, and like it from the task and the Parquet files alone.
"""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import dataclass, replace

from ...schemas import expression as ex
from ...schemas.canonical import narrow
from ...schemas.expression import Expr, choices_of, split_and, walk
from ...schemas.plan import Plan
from ...schemas.problem import Constraint, Problem, structure
from ...schemas.syntax import ExpressionText
from ...schemas.units import COUNT, WEEKDAYS, Type, format_value, weekday_index
from .check import Data, Evaluation, Function, Value, compiled, evaluate


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
    """The plan's trace; TableError for division by zero. A pick that is no offer leaves its constraints open."""
    rows: dict[str, int] = {}
    for choice, table in problem.choices.items():
        picks = plan.picks.get(choice, ())
        row = data.find(table, picks[0].id) if len(picks) == 1 else None
        if row is not None:
            rows[choice] = row
    found = evaluate(problem, data, plan)

    def column(part: ex.Column) -> Function:
        look, row = data.column(problem.choices[part.choice], part.column), rows[part.choice]
        return lambda _: look(row)

    def value(node: Expr) -> Value:
        return compiled(node, column, data.facts)(None)

    traced = tuple(_traced(item, found, rows, value) for item in problem.constraints)
    return Trace(found.value, replace(problem.objective.type, nullable=False), found.unknown, traced)


def _traced(constraint: Constraint, found: Evaluation, rows: dict[str, int], value: Callable[[Expr], Value]) -> Traced:
    node, text = constraint.condition, constraint.text
    known = choices_of(node) <= rows.keys()
    holds = all(value(atom) is True for atom in split_and(node)) if known else None
    detail, slack, unit = "", None, COUNT
    broken = next((item for item in found.violations if item.constraint == constraint.name), None)
    if broken is not None:
        detail = broken.detail
        if broken.amount is not None:
            slack, unit = -narrow(broken.amount), Type("number", broken.unit, broken.scale)
    elif holds and isinstance(node, ex.Compare):
        slack, unit = _slack(node, value), replace(node.left.type, nullable=False)
    facts = {fact.text: fact for part in walk(node) for fact in _facts(part, node, text, rows, value)}
    return Traced(constraint.name, text.text, holds, detail, slack, unit, tuple(facts.values()))


def _slack(node: ex.Compare, value: Callable[[Expr], Value]) -> int | None:
    """By how much a comparison of numbers that holds could be tightened; None for any other."""
    left, right = value(node.left), value(node.right)
    if node.left.type.kind != "number" or left is None or right is None:
        return None
    over = int(right) - int(left)
    return {"<=": over, "<": over - 1, ">=": -over, ">": -over - 1}.get(node.op)


def _facts(
    part: Expr, whole: Expr, text: ExpressionText, rows: dict[str, int], value: Callable[[Expr], Value]
) -> list[Fact]:
    """The value of a part that is worth telling: a sum that is compared, a fact looked up, a column."""
    compared = [node for node in walk(whole) if isinstance(node, ex.Compare)]
    sums = [side for node in compared for side in (node.left, node.right) if side.type.kind == "number"]
    telling = isinstance(part, ex.Column | ex.Relation) or (part in sums and not isinstance(part, ex.Literal))
    if not telling or not choices_of(part) <= rows.keys():
        return []
    found = value(part)
    shown = format_value(found, part.type)
    weekdays = {structure(node.arg) for node in walk(whole) if isinstance(node, ex.Weekday)}
    if found is not None and structure(part) in weekdays:
        shown += f" ({WEEKDAYS[weekday_index(int(found))]})"
    return [Fact(text.text[part.span.start : part.span.end], shown)]
