"""The typed form of choices of several rows: sets, and routes through rows in order and in time."""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass, replace
from typing import TypeVar

from . import expression as ex
from .binding import Scope, bind, bind_condition
from .choice import ChoiceSpec, Least, Ways
from .errors import Faults, TaskError, did_you_mean
from .expression import Expr
from .source import Path_
from .syntax import ExpressionText, Span, parse
from .task import TaskFile
from .units import COUNT, Type, parse_decimal, parse_moment
from .world import Table, World

Result = TypeVar("Result")
_UNITS = {"time": "min", "date": ""}  # of lengths of time, where points in time have none
_NOWHERE = Span(0, 0)


@dataclass(frozen=True, slots=True)
class Route:
    """Visits to rows in an order: where each leads from and to, when, for how long, and what lies between.

    Expressions are over one row (bare columns). Points in time are integers of `axis`, lengths integers of `length`.
    From place to place it takes what the relation `travel` says; without an entry there is no way, but a place is where
    it is. A visit begins no earlier than `opens` and ends no later than `closes`; it takes `lasts`, or more if
    `longer`. The route sets out at `start_place` (None: anywhere) at `start_time` (None: when it likes), and arrives at
    `end_place` no earlier than `end_from` and no later than `end_by`. Between an arrival, or the time of start, and the
    visit there are at most `wait`. An order of visits is possible if some times fit.
    """

    axis: Type
    length: Type
    origin: Expr | None
    destination: Expr | None
    opens: Expr | None
    closes: Expr | None
    lasts: Expr
    longer: bool
    travel: str | None
    start_place: int | str | None
    start_time: int | None
    end_place: int | str | None
    end_from: int | None
    end_by: int | None
    wait: int | None
    first: Expr | None
    last: Expr | None

    @property
    def adrift(self) -> bool:
        """Whether nothing says when the route begins, so that canonical plans give its order without times."""
        return self.start_time is None and self.opens is None

    def expressions(self) -> list[Expr]:
        """All expressions over a row."""
        some = (self.origin, self.destination, self.opens, self.closes, self.lasts, self.first, self.last)
        return [expr for expr in some if expr is not None]


@dataclass(frozen=True, slots=True)
class Several:
    """A choice of at least `at_least` and at most `at_most` rows (None: all), for each value of the column `per`."""

    at_least: int
    at_most: int | None
    per: str | None
    route: Route | None


def several(file: TaskFile, name: str, table: Table, world: World) -> Several | None:
    """The typed form of a choice of the task; None for exactly one row. Raises TaskError or ExpressionError."""
    spec = file.task.choice(name)
    if spec.one is not None:
        return None
    if spec.per is not None and spec.per not in table.fields:
        where = file.source.where(("choose", name, "per"))
        hint = did_you_mean(spec.per, table.fields, "columns")
        raise TaskError(f"'{table.base}' has no column '{spec.per}'", where=where, hint=hint)
    route = _Reader(file, name, table, world).route() if spec.route is not None else None
    return Several(spec.at_least or 0, spec.at_most, spec.per, route)


def where_of(file: TaskFile, name: str, table: Table, world: World) -> ExpressionText | None:
    """The condition that a choice puts on its rows; None without one. Raises ExpressionError when it is none."""
    if file.task.choice(name).where is None:
        return None
    return _Reader(file, name, table, world).condition(("where",))[1]


class _Reader:
    """Reads the parts of one choice; each fault has its place."""

    def __init__(self, file: TaskFile, name: str, table: Table, world: World) -> None:
        self.file, self.name, self.table, self.world = file, name, table, world
        self.scope = Scope({"": table.types}, world.parameters, world.signatures())
        self.spec: ChoiceSpec = file.task.choice(name)

    def fault(self, message: str, path: Path_ = (), hint: str = "") -> TaskError:
        return TaskError(message, where=self.file.source.where(("choose", self.name, *path)), hint=hint)

    def text(self, path: Path_) -> ExpressionText:
        value = self.file.source.data["choose"][self.name]
        for step in path:
            value = value[step]
        return ExpressionText(str(value), self.file.source.where(("choose", self.name, *path)))

    def condition(self, path: Path_) -> tuple[Expr, ExpressionText]:
        text = self.text(path)
        return bind_condition(parse(text), text, self.scope), text

    def expression(self, path: Path_, number: Type | None = None) -> Expr:
        """The expression at a path; a number without a unit takes that of `number`."""
        text = self.text(path)
        found = bind(parse(text), text, self.scope)
        if number is not None and isinstance(found, ex.Literal) and found.type == COUNT:
            return replace(found, type=number)
        return found

    def route(self) -> Route:
        faults = Faults()
        attempt = faults.attempt
        spec = self.spec
        axis, length = attempt(self._axis, (COUNT, COUNT))
        faults.raise_all()
        places = attempt(self._places, (None, None))
        place = next((expr.type for expr in places if expr is not None), None)
        nothing = ex.Literal(0, length, _NOWHERE)
        start, end = spec.start, spec.end
        moment, at = self._moment, self._place
        longer = isinstance(spec.lasts, Least)
        lasts: Path_ = ("lasts", "at_least") if longer else ("lasts",)
        route = Route(
            axis,
            length,
            *places,
            attempt(lambda: self._on_axis("opens", axis), None),
            attempt(lambda: self._on_axis("closes", axis), None),
            attempt(lambda: self._length(lasts, length), nothing) if spec.lasts is not None else nothing,
            longer,
            attempt(lambda: self._travel(place, length), None),
            attempt(lambda: at(("start", "at"), start and start.at, place), None),
            attempt(lambda: moment(("start", "time"), start and start.time, axis), None),
            attempt(lambda: at(("end", "at"), end and end.at, place), None),
            attempt(lambda: moment(("end", "from"), end and end.earliest, axis), None),
            attempt(lambda: moment(("end", "by"), end and end.by, axis), None),
            spec.wait.at_most if spec.wait is not None else None,
            attempt(lambda: self.condition(("first",))[0], None) if spec.first is not None else None,
            attempt(lambda: self.condition(("last",))[0], None) if spec.last is not None else None,
        )
        faults.raise_all()
        return route

    def _axis(self) -> tuple[Type, Type]:
        """The type of points in time, by the first of opens, closes and lasts, and that of lengths of time."""
        for key in ("opens", "closes"):
            if getattr(self.spec, key) is not None and isinstance(getattr(self.spec, key), str):
                kind = self.expression((key,)).type
                if kind.kind not in ("time", "date", "number") or kind.scale != 1:
                    raise self.fault(f"a point in time is needed here, this is {kind}", (key,))
                axis = Type(kind.kind, kind.unit)
                return axis, Type("number", _UNITS.get(kind.kind, kind.unit))
        lasts: Path_ = ("lasts", "at_least") if isinstance(self.spec.lasts, Least) else ("lasts",)
        unit = self.expression(lasts).type.unit if self.spec.lasts is not None else ""
        clock = isinstance(self.spec.start and self.spec.start.time, str)
        return (Type("time") if clock else Type("number", unit)), Type("number", "min" if clock else unit)

    def _on_axis(self, key: str, axis: Type) -> Expr | None:
        if getattr(self.spec, key) is None:
            return None
        if axis.kind != "number" and not isinstance(getattr(self.spec, key), str):
            raise self.fault(f"{axis} is needed here", (key,))
        expr = self.expression((key,), axis)
        if (expr.type.kind, expr.type.unit, expr.type.scale) != (axis.kind, axis.unit, 1):
            raise self.fault(f"'{key}' is {expr.type}, the other times are {axis}", (key,))
        return expr

    def _length(self, path: Path_, length: Type) -> Expr:
        expr = self.expression(path, length)
        if (expr.type.kind, expr.type.unit, expr.type.scale) != ("number", length.unit, 1):
            raise self.fault(f"a length of time is {length}, this is {expr.type}", path)
        if isinstance(expr, ex.Literal) and int(expr.value) < 0:
            raise self.fault("a visit cannot take less than no time", path)
        return expr

    def _places(self) -> tuple[Expr | None, Expr | None]:
        if self.spec.at is None:
            return None, None
        both = isinstance(self.spec.at, Ways)
        first, second = (self.expression(("at", end) if both else ("at",)) for end in ("from", "to"))
        if _kind(first.type) != _kind(second.type):
            raise self.fault(f"a row leads from {first.type} to {second.type}", ("at",))
        return first, second

    def _travel(self, place: Type | None, length: Type) -> str | None:
        name = self.spec.travel
        if name is None:
            return None
        relation = self.world.relations.get(name)
        if relation is None:
            raise self.fault(
                f"no relation '{name}'", ("travel",), did_you_mean(name, self.world.relations, "relations")
            )
        if place is None:
            raise self.fault("travel needs to know where a visit takes place", ("travel",), "at: a column of the table")
        signature = relation.signature
        if len(signature.args) != 2 or any(_kind(arg) != _kind(place) for arg in signature.args):
            raise self.fault(f"'{name}' is not about two places such as 'at' gives", ("travel",))
        result = signature.result
        if result.kind != "bool" and (result.kind, result.unit, result.scale) != ("number", length.unit, 1):
            raise self.fault(f"'{name}' gives {result}, a length of time is {length}", ("travel",))
        return name

    def _place(self, path: Path_, value: int | str | None, place: Type | None) -> int | str | None:
        if value is None:
            return None
        if place is None:
            raise self.fault("the route does not say where its visits take place", path, "at: a column of the table")
        if place.kind == "string" and isinstance(value, str):
            if place.values is not None and value not in place.values:
                raise self.fault(f"'{value}' is none of the places", path, did_you_mean(value, place.values, "places"))
            return value
        exact = parse_decimal(str(value))
        scaled = exact * place.scale if exact is not None and place.kind == "number" else None
        if scaled is None or scaled.denominator != 1:
            raise self.fault(f"'{value}' is no place: a place is {place}", path)
        return int(scaled)

    def _moment(self, path: Path_, value: int | str | None, axis: Type) -> int | None:
        if value is None:
            return None
        found = parse_moment(value, axis) if axis.kind == "number" or isinstance(value, str) else None
        if found is None:
            form = {"time": '"HH:MM", in quotes', "date": '"YYYY-MM-DD", in quotes'}.get(axis.kind, "a whole number")
            raise self.fault(f"'{value}' is not {axis}", path, f"write {form}")
        return found


def _kind(kind: Type) -> tuple[str, str, int]:
    return kind.kind, kind.unit, kind.scale


def scope_of(world: World, choices: Mapping[str, str], sets: Mapping[str, Several]) -> Scope:
    """The names that constraints and objective may use."""
    tours = {name: _quantities(found.route) for name, found in sets.items() if found.route is not None}
    columns = {name: world.tables[table].types for name, table in choices.items()}
    filled = {name: found.at_least > 0 for name, found in sets.items()}
    return Scope(columns, world.parameters, world.signatures(), filled, tours)


def _quantities(route: Route) -> dict[str, Type]:
    """What a route as a whole has: when it `ends`, its `travel`, and what it `takes` from a time of start on."""
    found = {"ends": route.axis, "travel": route.length}
    return found if route.start_time is None else {**found, "takes": route.length}
