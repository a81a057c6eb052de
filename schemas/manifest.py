"""dataset.yaml: the one source of types, units, keys, nullability and categories of tables and relations."""

from __future__ import annotations

import keyword
import re
from collections.abc import Iterator, Mapping
from dataclasses import dataclass
from pathlib import Path
from typing import Annotated, Any, Literal

from pydantic import AfterValidator, Field

from . import expression as ex
from .binding import FUNCTIONS, Scope, bind, bind_condition
from .canonical import digest
from .errors import ExpressionError, InputError, ManifestError, did_you_mean, raise_all
from .offer_id import IdTemplate, parse_template
from .source import Path_, Source, load_source
from .syntax import ExpressionText, Span, parse
from .units import INT64_MAX, Type, parse_date, parse_decimal, parse_time
from .validation import Written, validate
from .world import Derived, Referenced, RelationTable, Stored, Table, TableField, World

_NAME = re.compile(r"[a-z][a-z0-9_]*\Z")


def _name(text: str) -> str:
    if not _NAME.match(text) or keyword.iskeyword(text) or text in ("true", "false"):
        raise ValueError(f"'{text}' is not a name: names are a-z, 0-9 and _, begin with a letter, and are no keyword")
    return text


Name = Annotated[str, AfterValidator(_name)]
FileName = Annotated[str, Field(pattern=r"^[A-Za-z0-9][A-Za-z0-9._-]*\.parquet$")]
_NOTES: dict[str, Any] = {"file": True, "note": True, "columns": {"__all__": {"note"}}}
_WORDING: dict[str, Any] = {
    "title": True, "license": True, "source": True,
    "parameters": {"__all__": {"note"}}, "tables": {"__all__": _NOTES}, "relations": {"__all__": _NOTES},
}  # fmt: skip


class ColumnSpec(Written):
    """A stored column. A number is stored as int64 = value * 10^digits."""

    type: Literal["bool", "string", "date", "time", "number"]
    unit: str = ""
    digits: int = Field(0, ge=0, le=9)
    values: list[str] | None = None
    nullable: bool = False
    note: str = ""

    def value_type(self) -> Type:
        """The type of the column's values in expressions."""
        values = tuple(self.values) if self.values is not None else None
        return Type(self.type, self.unit, 10**self.digits, values, self.nullable)


class ParameterSpec(Written):
    """A value that every task on the dataset gives, such as the number of guests."""

    type: Literal["bool", "string", "date", "time", "number"]
    unit: str = ""
    digits: int = Field(0, ge=0, le=9)
    values: list[str] | None = None
    min: int | str | None = None
    max: int | str | None = None
    note: str = ""

    def value_type(self) -> Type:
        """The type of the parameter in expressions."""
        return Type(self.type, self.unit, 10**self.digits, tuple(self.values) if self.values is not None else None)


class ReferenceSpec(Written):
    """A total foreign key whose table's columns become visible, with an optional prefix."""

    table: Name
    prefix: str = ""


class TableSpec(Written):
    """An offer table, or a table that offer tables refer to."""

    file: FileName
    key: list[Name] = Field(min_length=1)
    columns: dict[Name, ColumnSpec]
    id: str | None = None
    references: dict[Name, Name | ReferenceSpec] = {}
    derive: dict[Name, str] = {}
    require: str | None = None
    note: str = ""

    def reference(self, column: str) -> ReferenceSpec:
        """The reference of a column, the short form expanded."""
        spec = self.references[column]
        return ReferenceSpec(table=spec) if isinstance(spec, str) else spec


class RelationSpec(Written):
    """A fact about its arguments: boolean (rows present are true), or a number in the column `value`."""

    file: FileName
    args: list[Name] = Field(min_length=1)
    columns: dict[Name, ColumnSpec]
    value: Name | None = None
    note: str = ""


class Manifest(Written):
    """A dataset.yaml as written."""

    cobench_dataset: Literal[1]
    name: str = Field(pattern=r"^[a-z][a-z0-9_-]*$")
    title: str = ""
    license: str = ""
    source: str = ""
    parameters: dict[Name, ParameterSpec] = {}
    tables: dict[Name, TableSpec] = Field(min_length=1)
    relations: dict[Name, RelationSpec] = {}


@dataclass(frozen=True, slots=True, eq=False)
class ManifestFile:
    """A manifest with the source that gives its errors a place. Equal only to itself."""

    manifest: Manifest
    source: Source

    def digest(self) -> str:
        """The digest of what the manifest means: everything but titles, notes, sources and file names."""
        return digest(self.manifest.model_dump(mode="json", exclude=_WORDING))

    def bind(self, parameters: Mapping[str, ex.Literal]) -> World:
        """The tables and relations with `parameters` in their expressions; raises ManifestError or ExpressionError."""
        return _Binder(self, parameters).world()

    def sample(self) -> World:
        """The world with some value for every parameter: for what does not depend on them."""
        candidates = [
            {name: _sample(spec, attempt) for name, spec in self.manifest.parameters.items()} for attempt in range(3)
        ]
        for parameters in candidates[:-1]:
            try:
                return self.bind(parameters)
            except ExpressionError:  # perhaps only with these values, as where one is divided by `guests - 1`
                continue
        return self.bind(candidates[-1])

    def parameter(self, name: str, value: int | str | bool) -> ex.Literal:
        """The value of a parameter as a typed literal; ValueError with a sentence when it does not fit."""
        return _parameter(self.manifest.parameters[name], value)


def load_manifest(path: Path) -> ManifestFile:
    """The manifest at `path`, every name, key, reference and expression in it checked."""
    source = load_source(path, ManifestError)
    found = ManifestFile(validate(Manifest, source, ManifestError), source)
    raise_all(list(_faults(found)))
    found.sample()
    return found


def _faults(file: ManifestFile) -> Iterator[InputError]:
    """What a single field cannot see: keys, references, categories and file names that do not fit each other."""
    manifest, source = file.manifest, file.source
    files: dict[str, str] = {}
    rooms: list[tuple[str, str, TableSpec | RelationSpec]] = [
        *(("tables", name, table) for name, table in manifest.tables.items()),
        *(("relations", name, relation) for name, relation in manifest.relations.items()),
    ]
    for room, name, spec in rooms:
        if spec.file in files:
            yield ManifestError(f"'{files[spec.file]}' has the same file", where=source.where((room, name, "file")))
        files[spec.file] = name
        for column, found in spec.columns.items():
            yield from _column_faults(found, source, (room, name, "columns", column))
        key = spec.key if isinstance(spec, TableSpec) else spec.args
        yield from _key_faults(
            key, spec.columns, source, (room, name, "key" if isinstance(spec, TableSpec) else "args")
        )
    for name, table in manifest.tables.items():
        for column in table.references:
            yield from _reference_faults(file, name, column)
    for name, relation in manifest.relations.items():
        place: Path_ = ("relations", name)
        if name in FUNCTIONS:
            yield ManifestError(f"'{name}' is already a function of the language", where=source.where(place, key=True))
        allowed = {*relation.args, *([relation.value] if relation.value else [])}
        value = relation.columns.get(relation.value) if relation.value else None
        if relation.value and (value is None or value.type != "number" or relation.value in relation.args):
            yield ManifestError(
                "the value of a relation is one of its number columns, not an argument",
                where=source.where((*place, "value")),
            )
        extra = next((column for column in relation.columns if column not in allowed), None)
        if extra:
            yield ManifestError(
                f"'{extra}' is neither an argument nor the value",
                where=source.where((*place, "columns", extra), key=True),
            )
    for name, parameter in manifest.parameters.items():
        for bound in ("min", "max"):
            value = getattr(parameter, bound)
            if value is None:
                continue
            try:
                _parameter(parameter, value, bounded=False)
            except ValueError as fault:
                yield ManifestError(str(fault), where=source.where(("parameters", name, bound)))


def _column_faults(spec: ColumnSpec, source: Source, place: Path_) -> Iterator[InputError]:
    if spec.type != "number" and (spec.unit or spec.digits):
        yield ManifestError("only numbers have a unit or digits", where=source.where(place))
    if spec.values is not None and (spec.type != "string" or len(set(spec.values)) != len(spec.values)):
        yield ManifestError("values are distinct texts of a string column", where=source.where((*place, "values")))


def _key_faults(
    key: list[str], columns: Mapping[str, ColumnSpec], source: Source, place: Path_
) -> Iterator[InputError]:
    for position, column in enumerate(key):
        where = source.where((*place, position))
        if column not in columns:
            yield ManifestError(f"no column '{column}'", where=where, hint=did_you_mean(column, columns, "columns"))
        elif columns[column].nullable:
            yield ManifestError(f"the key column '{column}' is nullable", where=where)
        elif column in key[:position]:
            yield ManifestError(f"the column '{column}' stands in the key twice", where=where)


def _reference_faults(file: ManifestFile, name: str, column: str) -> Iterator[InputError]:
    manifest, place = file.manifest, ("tables", name, "references", column)
    table, reference = manifest.tables[name], manifest.tables[name].reference(column)
    where = file.source.where(place)
    target = manifest.tables.get(reference.table)
    if target is None:
        yield ManifestError(
            f"no table '{reference.table}'", where=where, hint=did_you_mean(reference.table, manifest.tables)
        )
    elif len(target.key) != 1:
        yield ManifestError(f"'{reference.table}' has a key of several columns; a reference needs one", where=where)
    elif column not in table.columns:
        hint = did_you_mean(column, table.columns, "columns")
        yield ManifestError(f"'{name}' has no column '{column}'", where=file.source.where(place, key=True), hint=hint)
    elif table.columns[column].nullable:
        yield ManifestError(f"the reference '{column}' is nullable", where=where)
    elif target.key[0] in target.columns and not _comparable(table.columns[column], target.columns[target.key[0]]):
        yield ManifestError(f"'{column}' and the key of '{reference.table}' have different types", where=where)
    if reference.prefix and not _NAME.match(reference.prefix):
        yield ManifestError("a prefix is a name such as outbound_", where=where)


def _comparable(reference: ColumnSpec, key: ColumnSpec) -> bool:
    """Whether the stored values of both columns mean the same."""
    return (reference.type, reference.unit, reference.digits) == (key.type, key.unit, key.digits)


def _sample(spec: ParameterSpec, attempt: int) -> ex.Literal:
    """Some value of a parameter, to check the types of a manifest before any task gives one; others by `attempt`."""
    if spec.type == "number" and attempt:
        least = _parameter(spec, spec.min, bounded=False).value if spec.min is not None else 0
        return ex.Literal(int(least) + 10 * attempt + 7, spec.value_type(), Span(0, 0))
    choices: list[int | str | bool] = [value for value in (spec.min, spec.max) if value is not None]
    fallback: dict[str, int | str | bool] = {
        "bool": True,
        "date": "2025-01-01",
        "time": "00:00",
        "number": 1,
        "string": "x",
    }
    return _parameter(spec, (choices or list(spec.values or []) or [fallback[spec.type]])[0])


def _parameter(spec: ParameterSpec, value: int | str | bool, bounded: bool = True) -> ex.Literal:
    kind, nowhere = spec.value_type(), Span(0, 0)
    if kind.kind == "bool" or isinstance(value, bool):
        if kind.kind != "bool" or not isinstance(value, bool):
            raise ValueError(f"{kind} is needed here")
        return ex.Literal(value, kind, nowhere)
    if kind.kind == "number":
        exact = parse_decimal(str(value))
        scaled = exact * kind.scale if exact is not None else None
        if scaled is not None and abs(scaled) > INT64_MAX:
            raise ValueError(f"{value} is too large")
        if scaled is None or scaled.denominator != 1:
            raise ValueError(f"'{value}' is not {kind} with at most {spec.digits} digits after the point")
        literal = ex.Literal(int(scaled), kind, nowhere)
    else:
        literal = _text_parameter(kind, str(value))
    for bound, sign in ((spec.min, 1), (spec.max, -1)):
        if bounded and bound is not None and not isinstance(literal.value, str):
            limit = _parameter(spec, bound, bounded=False).value
            if sign * int(literal.value) < sign * int(limit):
                raise ValueError(f"{value} is {'below the minimum' if sign > 0 else 'above the maximum'} of {bound}")
    return literal


def _text_parameter(kind: Type, value: str) -> ex.Literal:
    if kind.kind == "string":
        if kind.values is not None and value not in kind.values:
            raise ValueError(f"'{value}' is not one of {', '.join(kind.values)}")
        return ex.Literal(value, kind, Span(0, 0))
    number = parse_date(value) if kind.kind == "date" else parse_time(value)
    if number is None:
        raise ValueError(f"'{value}' is not {kind}, written {'YYYY-MM-DD' if kind.kind == 'date' else 'HH:MM'}")
    return ex.Literal(number, kind, Span(0, 0))


class _Binder:
    """Makes every column visible where it can be named, following references, depth first."""

    def __init__(self, file: ManifestFile, parameters: Mapping[str, ex.Literal]) -> None:
        self.file, self.parameters = file, parameters
        self._done: dict[str, Table] = {}
        self._open: list[str] = []
        self._relations = {
            name: RelationTable(
                name,
                spec.file,
                {key: column.value_type() for key, column in spec.columns.items()},
                tuple(spec.args),
                spec.value,
            )
            for name, spec in file.manifest.relations.items()
        }
        self._signatures = {name: relation.signature for name, relation in self._relations.items()}

    def world(self) -> World:
        for name in self.file.manifest.tables:
            self._table(name)
        return World(self._done, self._relations, self.parameters)

    def _table(self, name: str) -> Table:
        if name in self._done:
            return self._done[name]
        source = self.file.source
        if name in self._open:
            raise ManifestError(
                f"the references of '{name}' lead back to it", where=source.where(("tables", name), key=True)
            )
        self._open.append(name)
        spec = self.file.manifest.tables[name]
        fields: dict[str, TableField] = {column: Stored(found.value_type()) for column, found in spec.columns.items()}
        for column in spec.references:
            self._refer(name, column, fields)
        for column, text in spec.derive.items():
            place: Path_ = ("tables", name, "derive", column)
            if column in fields:
                raise ManifestError(f"'{column}' is already a column of '{name}'", where=source.where(place, key=True))
            expression = ExpressionText(text, source.where(place))
            fields[column] = Derived(bind(parse(expression), expression, self._scope(fields)), expression)
        require, require_text = None, None
        if spec.require is not None:
            require_text = ExpressionText(spec.require, source.where(("tables", name, "require")))
            require = bind_condition(parse(require_text), require_text, self._scope(fields))
        references = {column: spec.reference(column).table for column in spec.references}
        template = self._template(name, spec, fields)
        table = Table(name, name, spec.file, tuple(spec.key), fields, references, template, require, require_text)
        self._open.pop()
        self._done[name] = table
        return table

    def _scope(self, fields: Mapping[str, TableField]) -> Scope:
        return Scope({"": {name: field.type for name, field in fields.items()}}, self.parameters, self._signatures)

    def _refer(self, name: str, column: str, fields: dict[str, TableField]) -> None:
        reference = self.file.manifest.tables[name].reference(column)
        target = self._table(reference.table)
        for visible, field in target.fields.items():
            if visible == target.key[0]:
                continue
            shown = reference.prefix + visible
            if shown in fields:
                where = self.file.source.where(("tables", name, "references", column))
                hint = "rename one of them, or give the reference a prefix"
                raise ManifestError(f"the column '{shown}' would be visible twice in '{name}'", where=where, hint=hint)
            fields[shown] = Referenced(column, target.name, visible, field.type)

    def _template(self, name: str, spec: TableSpec, fields: Mapping[str, TableField]) -> IdTemplate | None:
        if spec.id is None:
            return None
        where = self.file.source.where(("tables", name, "id"))
        template = parse_template(spec.id)
        if isinstance(template, str):
            raise ManifestError(template, where=where)
        for part in template.parts:
            if part.column not in fields:
                raise ManifestError(f"no column '{part.column}'", where=where, hint=did_you_mean(part.column, fields))
            kind = fields[part.column].type
            if kind.kind in ("bool", "time") or kind.scale != 1:
                raise ManifestError(f"the column '{part.column}' cannot stand in an id: it is {kind}", where=where)
            if kind.nullable and not part.optional:
                raise ManifestError(f"the column '{part.column}' may be unknown; put its part in [ ]", where=where)
        return template
