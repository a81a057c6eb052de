"""A task posed on a dataset: typed constraints and objective, ready for lowering and for the checker."""

from __future__ import annotations

from collections.abc import Callable, Iterator, Mapping, Sequence
from contextlib import suppress
from dataclasses import dataclass, fields, replace
from functools import lru_cache
from typing import Any, TypeVar

from . import expression as ex
from .binding import Scope, bind, bind_condition
from .errors import ExpressionError, Faults, InputError, TaskError, did_you_mean, raise_all
from .expression import Expr, children, split_and
from .manifest import ManifestFile
from .several import Several, scope_of, several, where_of
from .syntax import ExpressionText, Syntax, parse
from .task import TaskFile
from .units import Type, parse_decimal
from .world import Derived, Table, World

Result = TypeVar("Result")


@dataclass(frozen=True, slots=True)
class Constraint:
    """A named condition that a plan must satisfy."""

    name: str
    condition: Expr
    text: ExpressionText


@dataclass(frozen=True, slots=True)
class Objective:
    """What to make small or large. Values are integers in the scale of `expr.type`."""

    expr: Expr
    maximize: bool
    text: ExpressionText

    @property
    def type(self) -> Type:
        """Unit and scale of objective values."""
        return self.expr.type


@dataclass(frozen=True, slots=True)
class Expected:
    """What the author expects, the optimum in the scale of the objective."""

    unsolvable: bool
    optimum: int | None
    count: int | None


@dataclass(frozen=True, slots=True)
class Problem:
    """Choices with their tables, constraints in file order, one objective.

    `sets` are the choices of several rows; without any of them a plan is one row for each choice.
    """

    id: str
    digest: str
    world: World
    choices: Mapping[str, str]
    sets: Mapping[str, Several]
    constraints: tuple[Constraint, ...]
    objective: Objective
    expected: Expected | None

    def restrict(self, names: Sequence[str]) -> Problem:
        """The same problem with only the named constraints, in file order; raises TaskError for an unknown name."""
        known = [constraint.name for constraint in self.constraints]
        for name in names:
            if name not in known:
                raise TaskError(f"no constraint '{name}'", hint=did_you_mean(name, known, "constraints"))
        kept = replace(self, constraints=tuple(item for item in self.constraints if item.name in set(names)))
        raise_all(list(_unguarded(kept)))
        return kept

    @property
    def timed(self) -> bool:
        """Whether the objective reads when a route is over: a plan with times of its own may then be worth less than
        its order is, which counts and ranks go by.
        """
        return any(isinstance(part, ex.Tour) and part.quantity != "travel" for part in ex.walk(self.objective.expr))

    def tables(self) -> list[str]:
        """Every table that the choices reach, by its name in the manifest, sorted."""
        reached = self.world.reach(list(self.choices.values()))
        return sorted({self.world.tables[name].base for name in reached})

    def relations(self) -> list[str]:
        """Every relation that a constraint, the objective, a route or a reached table uses, sorted by name."""
        used = {
            part.relation for expr in self._expressions() for part in ex.walk(expr) if isinstance(part, ex.Relation)
        }
        routes = [found.route for found in self.sets.values() if found.route is not None]
        return sorted(used | {route.travel for route in routes if route.travel is not None})

    def _expressions(self) -> Iterator[Expr]:
        yield self.objective.expr
        for constraint in self.constraints:
            yield constraint.condition
        for found in self.sets.values():
            if found.route is not None:
                yield from found.route.expressions()
        for name in self.world.reach(list(self.choices.values())):
            table = self.world.tables[name]
            if table.require is not None:
                yield table.require
            yield from (field.expr for field in table.fields.values() if isinstance(field, Derived))


def pose(file: TaskFile, manifest: ManifestFile) -> Problem:
    """The task on the dataset; raises one error, or InputErrors with every fault of names, types, units and values."""
    faults = Faults()
    parameters = faults.attempt(lambda: _parameters(file, manifest), None)
    choices = faults.attempt(lambda: _choices(file, manifest), None)
    faults.raise_all()
    if parameters is None or choices is None:
        raise TaskError("the task cannot be posed")  # not reached: a fault was raised
    world = _world(manifest, tuple(sorted(parameters.items(), key=lambda item: item[0])))
    tables = dict(choices)
    conditions = [
        faults.attempt(lambda name=name: _where(file, name, world.tables[tables[name]], world), None) for name in tables
    ]
    faults.raise_all()
    if any(conditions):
        world = _narrowed(world, tuple(item for item in conditions if item is not None))
        named = zip(tables, conditions, strict=True)
        tables = {name: _named(*item) if item else tables[name] for name, item in named}
    typed = {
        name: faults.attempt(lambda name=name: several(file, name, world.tables[tables[name]], world), None)
        for name in tables
    }
    faults.raise_all()
    sets = {name: found for name, found in typed.items() if found is not None}
    scope = scope_of(world, tables, sets) if sets else _scope(world, tuple(tables.items()))
    constraints = [
        faults.attempt(lambda name=name: _constraint(file, name, scope), None) for name in file.task.constraints
    ]
    objective = faults.attempt(lambda: _objective(file, scope), None)
    faults.raise_all()
    if objective is None:
        raise TaskError("the task cannot be posed")  # not reached: a fault was raised
    problem = Problem(
        file.task.id, file.digest(), world, tables, sets, tuple(item for item in constraints if item), objective, None
    )
    problem = replace(problem, expected=_expected(file, objective))
    raise_all(list(_unguarded(problem)))
    return problem


def _parameters(file: TaskFile, manifest: ManifestFile) -> dict[str, ex.Literal]:
    specs, given, source = manifest.manifest.parameters, file.task.given, file.source
    faults: list[InputError] = []
    values: dict[str, ex.Literal] = {}
    for name, value in given.items():
        if name not in specs:
            hint = did_you_mean(name, specs, "parameters")
            faults.append(
                TaskError(f"unknown parameter '{name}'", where=source.where(("given", name), key=True), hint=hint)
            )
            continue
        try:
            values[name] = manifest.parameter(name, value)
        except ValueError as fault:
            faults.append(TaskError(f"{name}: {fault}", where=source.where(("given", name))))
    for name in specs:
        if name not in given:
            where = source.where(("given",), key=True) if "given" in source.data else source.where()
            faults.append(
                TaskError(f"the dataset needs '{name}' under given", where=where, hint=f"given:\n  {name}: …")
            )
    raise_all(faults)
    return values


def _choices(file: TaskFile, manifest: ManifestFile) -> dict[str, str]:
    faults: list[InputError] = []
    choices: dict[str, str] = {}
    offers = [name for name, table in manifest.manifest.tables.items() if table.id is not None]
    for name in file.task.choose:
        table = file.task.choice(name).table
        if table not in offers:
            what = (
                "has no offer ids, so nothing can be chosen from it"
                if table in manifest.manifest.tables
                else "does not exist"
            )
            hint = did_you_mean(table, offers, "offer tables")
            spec = file.source.data["choose"][name]
            kind = next((key for key in ("one", "any_of", "route") if isinstance(spec, dict) and key in spec), None)
            where = file.source.where(("choose", name, kind) if kind else ("choose", name))
            faults.append(TaskError(f"the table '{table}' {what}", where=where, hint=hint))
        if name in manifest.manifest.parameters:
            where = file.source.where(("choose", name), key=True)
            faults.append(
                TaskError(f"'{name}' is a parameter of the dataset; call the choice differently", where=where)
            )
        choices[name] = table
    raise_all(faults)
    return choices


def _constraint(file: TaskFile, name: str, scope: Scope) -> Constraint:
    text = file.text("constraints", name)
    return Constraint(name, _typed(text, scope, bind_condition), text)


def _where(file: TaskFile, name: str, table: Table, world: World) -> tuple[str, str] | None:
    """The table of a choice and the text of its `where`; None without one."""
    found = where_of(file, name, table, world)
    return None if found is None else (table.name, found.text)


@lru_cache(64)
def _world(manifest: ManifestFile, parameters: tuple[tuple[str, ex.Literal], ...]) -> World:
    return manifest.bind(dict(parameters))


@lru_cache(64)
def _narrowed(world: World, found: tuple[tuple[str, str], ...]) -> World:
    """The world with a table of its own, by name `table where condition`, for each choice that has a `where`."""
    tables = dict(world.tables)
    for name, condition in found:
        table = world.tables[name]
        both = condition if table.require_text is None else f"({table.require_text.text}) and ({condition})"
        text = ExpressionText(both)
        scope = Scope({"": table.types}, world.parameters, world.signatures())
        narrow = replace(
            table, name=_named(name, condition), require=bind_condition(parse(text), text, scope), require_text=text
        )
        tables[narrow.name] = narrow
    return World(tables, world.relations, world.parameters)


def _named(table: str, condition: str) -> str:
    return f"{table} where {condition}"


@lru_cache(256)
def _scope(world: World, choices: tuple[tuple[str, str], ...]) -> Scope:
    return scope_of(world, dict(choices), {})


def _typed(text: ExpressionText, scope: Scope, binder: Callable[[Syntax, ExpressionText, Scope], Expr]) -> Expr:
    """The typed expression: the same object as long as text and scope are among the last few."""
    with suppress(ExpressionError):
        return _lately_typed(text.text, scope, binder)
    return binder(parse(text), text, scope)  # again, for an error that knows the place


@lru_cache(4096)
def _lately_typed(text: str, scope: Scope, binder: Callable[[Syntax, ExpressionText, Scope], Expr]) -> Expr:
    source = ExpressionText(text)
    return binder(parse(source), source, scope)


def _objective(file: TaskFile, scope: Scope) -> Objective:
    sense, _ = file.task.objective
    text = file.text(sense)
    expr = _typed(text, scope, bind)
    if expr.type.kind != "number":
        hint = "count(condition, …) counts wishes" if expr.type.kind == "bool" else ""
        raise text.error(f"an objective is a number, this is {expr.type}", expr.span, hint)
    digits = len(str(expr.type.scale)) - 1
    if expr.type.scale != 10**digits:
        hint = "leave the division out: the same plans are best"
        raise text.error("an objective cannot be divided into steps that are no decimals", expr.span, hint)
    return Objective(expr, sense == "maximize", text)


def _expected(file: TaskFile, objective: Objective) -> Expected | None:
    expect = file.task.expect
    if expect is None:
        return None
    if expect == "unsolvable":
        return Expected(True, None, None)
    optimum = None
    if expect.optimum is not None:
        exact = parse_decimal(str(expect.optimum))
        scaled = exact * objective.type.scale if exact is not None else None
        if scaled is None or scaled.denominator != 1:
            where = file.source.where(("expect", "optimum"))
            raise TaskError(
                f"'{expect.optimum}' is not a value of the objective", where=where, hint="write it as in 1234.50"
            )
        optimum = int(scaled)
    return Expected(False, optimum, expect.count)


def structure(node: Expr) -> tuple[Any, ...]:
    """The node without places in the text: equal for equal sub-expressions."""
    parts: list[Any] = [type(node).__name__]
    for field in fields(node):
        value = getattr(node, field.name)
        if isinstance(value, tuple):
            parts.append(tuple(structure(item) if isinstance(item, Expr) else item for item in value))
        elif isinstance(value, Expr):
            parts.append(structure(value))
        elif field.name not in ("span", "type"):
            parts.append(value)
    return tuple(parts)


def _unguarded(problem: Problem) -> Iterator[InputError]:
    """Nullable parts of the objective that no constraint forces to be known."""
    loose = [
        part
        for part in _strict(problem.objective.expr)
        if isinstance(part, ex.Column | ex.Relation | ex.Each) and part.type.nullable
    ]
    if not loose:
        return
    atoms = [atom for item in problem.constraints for atom in split_and(item.condition)]
    # A conjunct must be true. Then `known(x)` says that x is known, and any other is known with its parts.
    surely = [part for atom in atoms for part in _strict(atom.arg if isinstance(atom, ex.Known) else atom)]
    guarded = {structure(part) for part in surely}
    text = problem.objective.text
    for part in loose:
        if structure(part) not in guarded:
            shown = text.text[part.span.start : part.span.end]
            hint = f"add a constraint: known({shown})"
            yield text.error(f"'{shown}' may be unknown, so the objective might have no value", part.span, hint)


def _strict(node: Expr) -> Iterator[Expr]:
    """The sub-expressions that are known whenever the node is: not those below `and`, `or`, `count` and `known`, and of
    an aggregate only itself.
    """
    yield node
    if not isinstance(node, ex.And | ex.Or | ex.Count | ex.Known | ex.Each):
        for child in children(node):
            yield from _strict(child)
