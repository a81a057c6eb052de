"""A dataset as expressions see it: tables with every column that is visible in them, and relations."""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass

from .binding import Signature
from .expression import Expr, Literal
from .offer_id import IdTemplate
from .syntax import ExpressionText
from .units import Type


@dataclass(frozen=True, slots=True)
class Stored:
    """A column in the table's own file."""

    type: Type


@dataclass(frozen=True, slots=True)
class Derived:
    """A column computed from the row by an expression over its other columns."""

    expr: Expr
    text: ExpressionText

    @property
    def type(self) -> Type:
        """The type of the expression."""
        return self.expr.type


@dataclass(frozen=True, slots=True)
class Referenced:
    """`column` of the row of `table` whose key equals this row's column `via`."""

    via: str
    table: str
    column: str
    type: Type


TableField = Stored | Derived | Referenced


@dataclass(frozen=True, slots=True)
class Table:
    """A table with all columns visible in it, parameters bound.

    `base` is its name in the manifest. A choice with `where` has a table of its own, whose `require` asks that, too.
    """

    name: str
    base: str
    file: str
    key: tuple[str, ...]
    fields: Mapping[str, TableField]
    references: Mapping[str, str]
    id: IdTemplate | None
    require: Expr | None
    require_text: ExpressionText | None

    @property
    def stored(self) -> dict[str, Type]:
        """The columns in the file, in the order of the manifest."""
        return {name: field.type for name, field in self.fields.items() if isinstance(field, Stored)}

    @property
    def types(self) -> dict[str, Type]:
        """The type of every visible column."""
        return {name: field.type for name, field in self.fields.items()}


@dataclass(frozen=True, slots=True)
class RelationTable:
    """A relation's file: argument columns in order, and the column of its number, if it has one."""

    name: str
    file: str
    columns: Mapping[str, Type]
    args: tuple[str, ...]
    value: str | None

    @property
    def signature(self) -> Signature:
        """What an expression gives to the relation and gets from it."""
        result = self.columns[self.value] if self.value else Type("bool")
        return Signature(tuple(self.columns[arg] for arg in self.args), result)


@dataclass(frozen=True, slots=True, eq=False)
class World:
    """A manifest with its parameters bound: what expressions of one task may refer to. Equal only to itself."""

    tables: Mapping[str, Table]
    relations: Mapping[str, RelationTable]
    parameters: Mapping[str, Literal]

    def signatures(self) -> dict[str, Signature]:
        """The signature of every relation."""
        return {name: relation.signature for name, relation in self.relations.items()}

    def reach(self, tables: list[str]) -> list[str]:
        """The given tables and all that they refer to, each once, sorted by name."""
        seen: set[str] = set()
        waiting = list(tables)
        while waiting:
            name = waiting.pop()
            if name not in seen:
                seen.add(name)
                waiting.extend(self.tables[name].references.values())
        return sorted(seen)
