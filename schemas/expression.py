"""Typed expressions: what lowering and the checker interpret, each by its own code.

Every node knows its `type` and the `span` of text it came from. Numbers carry a scale (`value = integer / scale`);
where two scales meet, `Scaled` multiplies one side up, so interpreters only ever add, multiply and compare integers.
Values are three-valued (Kleene): a null is unknown, whatever is computed or compared with it is unknown, `and`/`or`
decide as far as the known side allows, and only `known` asks.
"""

from __future__ import annotations

from collections.abc import Iterator
from dataclasses import dataclass, fields
from typing import get_args

from .syntax import Span
from .units import Type


@dataclass(frozen=True, slots=True)
class Literal:
    """A constant: bool, text, or an integer in the scale of its type (days for dates, minutes for times)."""

    value: bool | int | str
    type: Type
    span: Span


@dataclass(frozen=True, slots=True)
class Column:
    """The value of `column` in the chosen row of `choice`; in a manifest the choice is empty: the row itself."""

    choice: str
    column: str
    type: Type
    span: Span


@dataclass(frozen=True, slots=True)
class Relation:
    """A fact looked up by its arguments. Absent: false, or as a number unknown. With unknown arguments: unknown."""

    relation: str
    args: tuple[Expr, ...]
    type: Type
    span: Span


@dataclass(frozen=True, slots=True)
class Sum:
    """The sum of terms of one unit and scale."""

    terms: tuple[Expr, ...]
    type: Type
    span: Span


@dataclass(frozen=True, slots=True)
class Scaled:
    """`factor` times the term; the factor is a non-zero integer."""

    term: Expr
    factor: int
    type: Type
    span: Span


@dataclass(frozen=True, slots=True)
class Product:
    """The product of two numbers of one choice; the scales multiply."""

    left: Expr
    right: Expr
    type: Type
    span: Span


@dataclass(frozen=True, slots=True)
class Quotient:
    """`numerator / denominator` rounded up (`up`) or down to a whole number. A denominator of zero is a data error."""

    numerator: Expr
    denominator: Expr
    up: bool
    type: Type
    span: Span


@dataclass(frozen=True, slots=True)
class Extreme:
    """The largest or smallest of the arguments, unknown if any is unknown."""

    args: tuple[Expr, ...]
    largest: bool
    type: Type
    span: Span


@dataclass(frozen=True, slots=True)
class Absolute:
    """The absolute value."""

    arg: Expr
    type: Type
    span: Span


@dataclass(frozen=True, slots=True)
class DaysBetween:
    """Days from `start` to `end`, negative when end is earlier."""

    start: Expr
    end: Expr
    type: Type
    span: Span


@dataclass(frozen=True, slots=True)
class Weekday:
    """`mon` … `sun` of a date."""

    arg: Expr
    type: Type
    span: Span


@dataclass(frozen=True, slots=True)
class Day:
    """The day of the month, 1 to 31, of a date."""

    arg: Expr
    type: Type
    span: Span


@dataclass(frozen=True, slots=True)
class Compare:
    """`left op right` with op one of < <= == != > >=; both sides of one kind, unit and scale."""

    op: str
    left: Expr
    right: Expr
    type: Type
    span: Span


@dataclass(frozen=True, slots=True)
class Member:
    """Whether the argument equals one of the values (text or integers in the argument's scale)."""

    arg: Expr
    values: tuple[int | str, ...]
    type: Type
    span: Span


@dataclass(frozen=True, slots=True)
class And:
    """False if any argument is false, else unknown if any is unknown, else true."""

    args: tuple[Expr, ...]
    type: Type
    span: Span


@dataclass(frozen=True, slots=True)
class Or:
    """True if any argument is true, else unknown if any is unknown, else false."""

    args: tuple[Expr, ...]
    type: Type
    span: Span


@dataclass(frozen=True, slots=True)
class Not:
    """True for false, false for true, unknown for unknown."""

    arg: Expr
    type: Type
    span: Span


@dataclass(frozen=True, slots=True)
class Known:
    """Whether the argument has a value. Never unknown itself."""

    arg: Expr
    type: Type
    span: Span


@dataclass(frozen=True, slots=True)
class Count:
    """How many of the arguments are true; an unknown one does not count."""

    args: tuple[Expr, ...]
    type: Type
    span: Span


@dataclass(frozen=True, slots=True)
class Each:
    """`function` of the body over the chosen rows of the set or route `choice` in which the condition is true.

    `function` is one of all, any, count, distinct, max, min, sum. Inside, a Column of `choice` is the row at hand.
    Over no row `sum`, `count` and `distinct` are 0, `all` is true, `any` is false, `min` and `max` are unknown. `count`
    counts the rows in which the body is true, `distinct` the different values; `all` and `any` decide like `and` and
    `or`; the others are unknown if the body is unknown in any row.
    """

    function: str
    choice: str
    body: Expr
    condition: Expr
    type: Type
    span: Span


@dataclass(frozen=True, slots=True)
class Tour:
    """What a route as a whole has: when it `ends`, the time it `takes` until then, or its `travel` between places."""

    choice: str
    quantity: str
    type: Type
    span: Span


Expr = (
    Literal | Column | Relation | Sum | Scaled | Product | Quotient | Extreme | Absolute | DaysBetween
    | Weekday | Day | Compare | Member | And | Or | Not | Known | Count | Each | Tour
)  # fmt: skip


# Per class the fields that hold sub-expressions, one or several.
_NESTED: dict[type, tuple[str, ...]] = {
    kind: tuple(field.name for field in fields(kind) if field.type in ("Expr", "tuple[Expr, ...]"))
    for kind in get_args(Expr)
}


def children(node: Expr) -> Iterator[Expr]:
    """The direct sub-expressions of a node, in the order of the text."""
    for name in _NESTED[type(node)]:
        value = getattr(node, name)
        if isinstance(value, tuple):
            yield from value
        else:
            yield value


def walk(node: Expr) -> Iterator[Expr]:
    """The node and everything below it, outermost first."""
    yield node
    for child in children(node):
        yield from walk(child)


def choices_of(node: Expr) -> frozenset[str]:
    """The names of the choices that the expression reads."""
    found: set[str] = set()
    waiting = [node]
    while waiting:
        part = waiting.pop()
        if isinstance(part, Column | Each | Tour):
            found.add(part.choice)
        waiting.extend(children(part))
    return frozenset(found)


def split_and(node: Expr) -> Iterator[Expr]:
    """The conjuncts of a condition; they must all be true, each on its own."""
    if isinstance(node, And):
        for arg in node.args:
            yield from split_and(arg)
    else:
        yield node
