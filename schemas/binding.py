"""From the bare tree of an expression to a typed one: names, units, dates and categories get their meaning here."""

from __future__ import annotations

import math
from collections.abc import Callable, Mapping
from dataclasses import dataclass, field, replace
from fractions import Fraction

from . import expression as ex
from .errors import ExpressionError, did_you_mean
from .expression import Expr, choices_of
from .syntax import ExpressionText, Span, Syntax
from .units import BOOL, COUNT, DATE, WEEKDAY, Type, format_decimal, parse_date, parse_time

FUNCTIONS = ("abs", "ceil", "count", "day", "days_between", "floor", "known", "max", "min", "weekday")
AGGREGATES = ("all", "any", "count", "distinct", "max", "min", "sum")


@dataclass(frozen=True, slots=True)
class Signature:
    """What a relation takes and gives: boolean, or a number that is unknown where the table has no row."""

    args: tuple[Type, ...]
    result: Type


@dataclass(frozen=True, slots=True, eq=False)
class Scope:
    """The names an expression may use: columns per choice (bare columns under ""), parameter values, relations.

    `sets` are the choices of several rows: aggregates alone read their columns; whether they are never empty. `tours`
    are the routes among them, with the types of their ends and of their travel.
    """

    columns: Mapping[str, Mapping[str, Type]]
    parameters: Mapping[str, ex.Literal] = field(default_factory=dict[str, ex.Literal])
    relations: Mapping[str, Signature] = field(default_factory=dict[str, Signature])
    sets: Mapping[str, bool] = field(default_factory=dict[str, bool])
    tours: Mapping[str, Mapping[str, Type]] = field(default_factory=dict[str, Mapping[str, Type]])


def bind(tree: Syntax, source: ExpressionText, scope: Scope) -> Expr:
    """The typed expression; raises ExpressionError for unknown names, and for types and units that do not fit."""
    binder = _Binder(source, scope)
    result = binder.read(tree)
    if isinstance(result, _Bare):
        return binder.number(result, Type("number", "", result.value.denominator))
    if isinstance(result, _Text):
        raise source.error("a quoted text stands alone", result.span, "compare it with a column")
    return result


def bind_condition(tree: Syntax, source: ExpressionText, scope: Scope) -> Expr:
    """The typed expression, which must be true or false."""
    result = bind(tree, source, scope)
    if result.type.kind != "bool":
        hint = "compare it with something"
        raise source.error(f"a condition is needed here, this is {result.type}", result.span, hint)
    return result


@dataclass(frozen=True, slots=True)
class _Bare:
    """A number as written, before the other operand gives it a unit."""

    value: Fraction
    span: Span


@dataclass(frozen=True, slots=True)
class _Text:
    """A quoted text as written, before the other operand says whether it is a date, a time or text."""

    value: str
    span: Span


_Part = Expr | _Bare | _Text


class _Binder:
    def __init__(self, source: ExpressionText, scope: Scope) -> None:
        self.source, self.scope = source, scope
        self._loop: tuple[str, str] | None = None  # the variable of the aggregate at hand, and its choice
        self._readers: dict[str, Callable[[Syntax], _Part]] = {
            "number": lambda tree: _Bare(tree.args[0], tree.span),
            "text": lambda tree: _Text(tree.args[0], tree.span),
            "truth": lambda tree: ex.Literal(tree.args[0], BOOL, tree.span),
            "name": self._name,
            "column": self._column,
            "+": self._sum,
            "neg": self._negate,
            "*": self._product,
            "/": self._quotient,
            "in": self._member,
            "and": self._connect,
            "or": self._connect,
            "not": self._not,
            "call": self._call,
            "each": self._aggregate,
        }

    def read(self, tree: Syntax) -> _Part:
        return self._readers.get(tree.op, self._compare)(tree)

    def fail(self, message: str, span: Span, hint: str = "") -> ExpressionError:
        return self.source.error(message, span, hint)

    # names

    def _name(self, tree: Syntax) -> _Part:
        word = tree.args[0]
        bare = self.scope.columns.get("", {})
        if word in bare:
            return ex.Column("", word, bare[word], tree.span)
        if word in self.scope.parameters:
            return replace(self.scope.parameters[word], span=tree.span)
        known = [*bare, *self.scope.parameters]
        if word in self.scope.columns or (self._loop is not None and word == self._loop[0]):
            raise self.fail(f"'{word}' is a choice; name one of its columns", tree.span, f"write {word}.column")
        raise self.fail(f"unknown name '{word}'", tree.span, did_you_mean(word, known, "known names"))

    def _column(self, tree: Syntax) -> _Part:
        choice, column = tree.args
        if self._loop is not None and choice == self._loop[0]:
            choice = self._loop[1]
        elif choice not in self.scope.columns or not choice:
            known = [name for name in self.scope.columns if name]
            raise self.fail(f"unknown choice '{choice}'", tree.span, did_you_mean(choice, known, "choices"))
        elif column in self.scope.tours.get(choice, {}):
            if self._loop is not None and choice == self._loop[1]:
                reason = f"an aggregate reads what the route '{choice}' has as a whole"
                raise self.fail(f"not supported, because {reason}", tree.span, "compare it outside of the aggregate")
            return ex.Tour(choice, column, self.scope.tours[choice][column], tree.span)
        elif choice in self.scope.sets:
            hint = f"write for example sum(x.{column} for x in {choice})"
            raise self.fail(f"'{choice}' is a set of rows, not one row", tree.span, hint)
        columns = self.scope.columns[choice]
        if column not in columns:
            span = Span(tree.span.end - len(column), tree.span.end)
            raise self.fail(f"'{choice}' has no column '{column}'", span, did_you_mean(column, columns, "columns"))
        return ex.Column(choice, column, columns[column], tree.span)

    # numbers

    def number(self, part: _Part, like: Type | None = None) -> Expr:
        """The part as a typed number; a bare one takes the unit and scale of `like`, and must fit its steps."""
        if isinstance(part, _Bare):
            kind = like or COUNT
            scaled = part.value * kind.scale
            if scaled.denominator != 1:
                step = format_decimal(1, kind.scale)
                unit = f" {kind.unit}" if kind.unit else ""
                raise self.fail(f"this number does not fit steps of {step}{unit}", part.span, "use fewer digits")
            return ex.Literal(int(scaled), replace(kind, nullable=False), part.span)
        if isinstance(part, _Text) or part.type.kind != "number":
            what = "a quoted text" if isinstance(part, _Text) else str(part.type)
            hint = "days_between(a, b) counts days" if what == "a date" else ""
            raise self.fail(f"a number is needed here, this is {what}", part.span, hint)
        return part

    def _align(self, parts: list[_Part], span: Span, doing: str) -> list[Expr]:
        """The parts as numbers of one unit and one scale; raises when their units differ."""
        typed = [part.type for part in parts if not isinstance(part, _Bare | _Text)]
        like = next((kind for kind in typed if kind.kind == "number"), COUNT)
        scale = math.lcm(*(kind.scale for kind in typed if kind.kind == "number")) if typed else 1
        if not typed:
            scale = math.lcm(*(part.value.denominator for part in parts if isinstance(part, _Bare)))
        target = Type("number", like.unit, scale)
        numbers = [self.number(part, target) for part in parts]
        for number in numbers:
            if number.type.unit != like.unit:
                raise self.fail(f"cannot {doing} {like} and {number.type}", span, "both sides must have the same unit")
        return [self._scaled(number, scale // number.type.scale, scale) for number in numbers]

    def _scaled(self, number: Expr, factor: int, scale: int) -> Expr:
        """`factor` times the integer of `number`, read in `scale`."""
        kind = replace(number.type, scale=scale)
        if isinstance(number, ex.Literal) and isinstance(number.value, int):
            return ex.Literal(number.value * factor, kind, number.span)
        if factor == 1:
            return replace(number, type=kind)
        return ex.Scaled(number, factor, kind, number.span)

    def _sum(self, tree: Syntax) -> _Part:
        parts = [self.read(term) for term in tree.args]
        if all(isinstance(part, _Bare) for part in parts):
            return _Bare(sum((part.value for part in parts if isinstance(part, _Bare)), Fraction(0)), tree.span)
        terms = self._align(parts, tree.span, "add")
        constants = [term.value for term in terms if isinstance(term, ex.Literal)]
        if len(constants) == len(terms):
            return ex.Literal(sum(int(value) for value in constants), terms[0].type, tree.span)
        return ex.Sum(tuple(terms), _joined(terms), tree.span)

    def _negate(self, tree: Syntax) -> _Part:
        part = self.read(tree.args[0])
        if isinstance(part, _Bare):
            return _Bare(-part.value, tree.span)
        number = self.number(part)
        return replace(self._scaled(number, -1, number.type.scale), span=tree.span)

    def _product(self, tree: Syntax) -> _Part:
        left, right = (self.read(arg) for arg in tree.args)
        if isinstance(left, _Bare) and isinstance(right, _Bare):
            return _Bare(left.value * right.value, tree.span)
        for constant, other in ((left, right), (right, left)):
            if isinstance(constant, _Bare):
                return self._times(self.number(other), constant.value, tree.span)
        first, second = self.number(left), self.number(right)
        if first.type.unit and second.type.unit:
            raise self.fail(f"cannot multiply {first.type} and {second.type}", tree.span)
        if len(choices_of(first) | choices_of(second)) > 1 and choices_of(first) and choices_of(second):
            raise self.fail("a product of two choices is not supported, because it is not linear", tree.span)
        nullable = first.type.nullable or second.type.nullable
        kind = Type("number", first.type.unit or second.type.unit, first.type.scale * second.type.scale, None, nullable)
        for constant, other in ((first, second), (second, first)):
            if isinstance(constant, ex.Literal) and isinstance(constant.value, int) and constant.value != 0:
                return replace(self._scaled(other, constant.value, kind.scale), type=kind, span=tree.span)
        return ex.Product(first, second, kind, tree.span)

    def _times(self, number: Expr, factor: Fraction, span: Span) -> Expr:
        """A number times an exact rational: the numerator goes into the integer, the denominator into the scale."""
        if factor == 0:
            zero = ex.Literal(0, Type("number"), span)
            return ex.Product(number, zero, number.type, span)
        scale = number.type.scale * factor.denominator
        return replace(self._scaled(number, factor.numerator, scale), span=span)

    def _quotient(self, tree: Syntax) -> _Part:
        top, bottom = (self.read(arg) for arg in tree.args)
        divisor = self._constant(bottom)
        if divisor is None:
            hint = "divide by a constant, or inside ceil(...) or floor(...)"
            raise self.fail("division by something that varies", tree.span, hint)
        if divisor == 0:
            raise self.fail("division by zero", bottom.span)
        if isinstance(top, _Bare):
            if isinstance(bottom, ex.Literal) and bottom.type.unit:
                raise self.fail(f"cannot divide a plain number by {bottom.type}", tree.span)
            return _Bare(top.value / divisor, tree.span)
        number = self.number(top)
        if not isinstance(bottom, _Bare) and not isinstance(bottom, _Text) and bottom.type.unit:
            if bottom.type.unit != number.type.unit:
                raise self.fail(f"cannot divide {number.type} by {bottom.type}", tree.span)
            number = replace(number, type=replace(number.type, unit=""))
        return self._times(number, 1 / divisor, tree.span)

    def _constant(self, part: _Part) -> Fraction | None:
        if isinstance(part, _Bare):
            return part.value
        if isinstance(part, ex.Literal) and isinstance(part.value, int) and part.type.kind == "number":
            return Fraction(part.value, part.type.scale)
        return None

    def _rounded(self, tree: Syntax, up: bool) -> _Part:
        """The nearest whole number above or below, of a number or of one quotient of two numbers of one choice."""
        (argument,) = self._arguments(tree, 1)
        if argument.op == "/":
            top, bottom = (self.read(arg) for arg in argument.args)
            if self._constant(bottom) is None:
                return self._rounded_quotient(self.number(top), self.number(bottom), up, tree.span)
        part = self.read(argument)
        if isinstance(part, _Bare):
            return _Bare(Fraction(math.ceil(part.value) if up else math.floor(part.value)), tree.span)
        number = self.number(part)
        one = ex.Literal(number.type.scale, Type("number"), number.span)
        return ex.Quotient(number, one, up, replace(number.type, scale=1), tree.span)

    def _rounded_quotient(self, top: Expr, bottom: Expr, up: bool, span: Span) -> Expr:
        if len(choices_of(top) | choices_of(bottom)) > 1:
            raise self.fail("a quotient of two choices is not supported, because it is not linear", span)
        if bottom.type.unit and bottom.type.unit != top.type.unit:
            raise self.fail(f"cannot divide {top.type} by {bottom.type}", span)
        common = math.gcd(top.type.scale, bottom.type.scale)
        numerator = self._scaled(top, bottom.type.scale // common, 1)
        denominator = self._scaled(bottom, top.type.scale // common, 1)
        nullable = top.type.nullable or bottom.type.nullable
        kind = Type("number", "" if bottom.type.unit else top.type.unit, 1, None, nullable)
        return ex.Quotient(numerator, denominator, up, kind, span)

    # conditions

    def _compare(self, tree: Syntax) -> _Part:
        left, right = self._pair(self.read(tree.args[0]), self.read(tree.args[1]), tree.span)
        ordered = tree.op not in ("==", "!=")
        if ordered and left.type.kind in ("string", "bool"):
            raise self.fail(f"{left.type} has no order", tree.span, "compare with == or !=")
        kind = replace(BOOL, nullable=left.type.nullable or right.type.nullable)
        return ex.Compare(tree.op, left, right, kind, tree.span)

    def _pair(self, left: _Part, right: _Part, span: Span) -> tuple[Expr, Expr]:
        """Both sides of a comparison as one kind."""
        if isinstance(left, _Bare | _Text | ex.Literal) and isinstance(right, _Bare | _Text | ex.Literal):
            raise self.fail("this compares two constants", span)
        if isinstance(left, _Text) or isinstance(right, _Text):
            return self._with_text(left, right)
        kinds = {part.type.kind for part in (left, right) if not isinstance(part, _Bare)}
        if kinds == {"number"}:
            first, second = self._align([left, right], span, "compare")
            return first, second
        if isinstance(left, _Bare) or isinstance(right, _Bare):
            other = right if isinstance(left, _Bare) else left
            kind = "a number" if isinstance(other, _Bare) else other.type
            raise self.fail(f"cannot compare {kind} and a number", span)
        if len(kinds) > 1:
            raise self.fail(f"cannot compare {left.type} and {right.type}", span)
        return left, right

    def _with_text(self, left: _Part, right: _Part) -> tuple[Expr, Expr]:
        if isinstance(left, _Text) and not isinstance(right, _Bare | _Text):
            return self.literal(left, right.type), right
        if isinstance(right, _Text) and not isinstance(left, _Bare | _Text):
            return left, self.literal(right, left.type)
        raise self.fail("this compares two constants", left.span)  # not reached: _pair has looked

    def literal(self, text: _Text, kind: Type) -> ex.Literal:
        """A quoted text read as `kind`: a date, a time, or one of a category's values."""
        kind = replace(kind, nullable=False)
        if kind.kind == "string":
            if kind.values is not None and text.value not in kind.values:
                hint = did_you_mean(text.value, kind.values, "values")
                raise self.fail(f"'{text.value}' is not one of the values of this column", text.span, hint)
            return ex.Literal(text.value, kind, text.span)
        readers = {"date": (parse_date, "YYYY-MM-DD"), "time": (parse_time, "HH:MM")}
        if kind.kind not in readers:
            hint = "write the number without quotes" if kind.kind == "number" else "write true or false without quotes"
            raise self.fail(f"cannot compare {kind} and a quoted text", text.span, hint)
        reader, form = readers[kind.kind]
        value = reader(text.value)
        if value is None:
            raise self.fail(f"'{text.value}' is not {kind}", text.span, f"{kind} is written {form}")
        return ex.Literal(value, kind, text.span)

    def _member(self, tree: Syntax) -> _Part:
        part = self.read(tree.args[0])
        if isinstance(part, _Bare | _Text | ex.Literal):
            raise self.fail("this compares two constants", tree.span)
        values: list[int | str] = []
        for item in tree.args[1:]:
            value = self.read(item)
            if isinstance(value, _Text):
                literal = self.literal(value, part.type)
            elif isinstance(value, _Bare) and part.type.kind == "number":
                literal = self.number(value, part.type)
            else:
                hint = "list numbers or quoted texts"
                raise self.fail(f"the list holds something that cannot equal {part.type}", item.span, hint)
            if isinstance(literal, ex.Literal):
                values.append(literal.value)
        return ex.Member(part, tuple(values), replace(BOOL, nullable=part.type.nullable), tree.span)

    def condition(self, tree: Syntax) -> Expr:
        part = self.read(tree)
        if isinstance(part, _Bare | _Text) or part.type.kind != "bool":
            what = "a constant" if isinstance(part, _Bare | _Text) else str(part.type)
            raise self.fail(f"a condition is needed here, this is {what}", part.span, "compare it with something")
        return part

    def _connect(self, tree: Syntax) -> _Part:
        args = tuple(self.condition(arg) for arg in tree.args)
        kind = replace(BOOL, nullable=any(arg.type.nullable for arg in args))
        return (ex.And if tree.op == "and" else ex.Or)(args, kind, tree.span)

    def _not(self, tree: Syntax) -> _Part:
        arg = self.condition(tree.args[0])
        return ex.Not(arg, arg.type, tree.span)

    # functions

    def _arguments(self, tree: Syntax, number: int) -> tuple[Syntax, ...]:
        arguments = tree.args[1:]
        if len(arguments) != number:
            plural = "" if number == 1 else "s"
            raise self.fail(f"{tree.args[0]} takes {number} argument{plural}, not {len(arguments)}", tree.span)
        return arguments

    def _call(self, tree: Syntax) -> _Part:
        name = tree.args[0]
        if name in self.scope.relations:
            return self._relation(tree, self.scope.relations[name])
        if name in ("ceil", "floor"):
            return self._rounded(tree, name == "ceil")
        if name in ("weekday", "day"):
            arg = self._date(self._arguments(tree, 1)[0])
            base = WEEKDAY if name == "weekday" else COUNT
            kind = replace(base, nullable=arg.type.nullable)
            return (ex.Weekday if name == "weekday" else ex.Day)(arg, kind, tree.span)
        reader = {
            "days_between": self._days_between, "abs": self._absolute, "min": self._extreme, "max": self._extreme,
            "count": self._count, "known": self._known,
        }.get(name)  # fmt: skip
        if reader is None:
            hint = did_you_mean(name, [*FUNCTIONS, *self.scope.relations], "functions")
            raise self.fail(f"unknown function '{name}'", tree.span, hint)
        return reader(tree)

    def _date(self, tree: Syntax) -> Expr:
        part = self.read(tree)
        if isinstance(part, _Text):
            return self.literal(part, DATE)
        if isinstance(part, _Bare) or part.type.kind != "date":
            raise self.fail("a date is needed here", part.span)
        return part

    def _days_between(self, tree: Syntax) -> _Part:
        start, end = (self._date(arg) for arg in self._arguments(tree, 2))
        kind = replace(COUNT, nullable=start.type.nullable or end.type.nullable)
        return ex.DaysBetween(start, end, kind, tree.span)

    def _absolute(self, tree: Syntax) -> _Part:
        part = self.read(self._arguments(tree, 1)[0])
        if isinstance(part, _Bare):
            return _Bare(abs(part.value), tree.span)
        number = self.number(part)
        return ex.Absolute(number, number.type, tree.span)

    def _extreme(self, tree: Syntax) -> _Part:
        name, *arguments = tree.args
        largest = name == "max"
        if len(arguments) < 2:
            raise self.fail(f"{name} takes at least 2 arguments", tree.span)
        parts = [self.read(argument) for argument in arguments]
        if all(isinstance(part, _Bare) for part in parts):
            values = [part.value for part in parts if isinstance(part, _Bare)]
            return _Bare(max(values) if largest else min(values), tree.span)
        args = self._align(parts, tree.span, "compare")
        return ex.Extreme(tuple(args), largest, _joined(args), tree.span)

    def _count(self, tree: Syntax) -> _Part:
        if len(tree.args) < 2:
            raise self.fail("count takes at least 1 condition", tree.span)
        return ex.Count(tuple(self.condition(arg) for arg in tree.args[1:]), COUNT, tree.span)

    def _known(self, tree: Syntax) -> _Part:
        part = self.read(self._arguments(tree, 1)[0])
        if isinstance(part, _Bare | _Text):
            raise self.fail("a constant is always known", tree.span)
        return ex.Known(part, BOOL, tree.span)

    def _relation(self, tree: Syntax, signature: Signature) -> _Part:
        arguments = self._arguments(tree, len(signature.args))
        args = tuple(self._relation_argument(arg, kind) for arg, kind in zip(arguments, signature.args, strict=True))
        nullable = signature.result.kind == "number" or any(arg.type.nullable for arg in args)
        return ex.Relation(tree.args[0], args, replace(signature.result, nullable=nullable), tree.span)

    def _relation_argument(self, tree: Syntax, kind: Type) -> Expr:
        part = self.read(tree)
        if isinstance(part, _Text):
            return self.literal(part, kind)
        if isinstance(part, _Bare):
            if kind.kind == "number":
                return self.number(part, kind)
            raise self.fail(f"{kind} is needed here, this is a number", part.span)
        same = (part.type.kind, part.type.unit, part.type.scale) == (kind.kind, kind.unit, kind.scale)
        if not same:
            raise self.fail(f"{kind} is needed here, this is {part.type}", part.span)
        return part

    def _aggregate(self, tree: Syntax) -> _Part:
        function, variable, choice, _, *conditions = tree.args
        if function not in AGGREGATES:
            raise self.fail(f"'{function}' is not an aggregate", tree.span, did_you_mean(function, AGGREGATES))
        shown = f"{function}(… for {variable} in {choice})"
        if choice not in self.scope.sets:
            if choice in self.scope.columns:
                reason = f"'{choice}' is exactly one row"
                raise self.fail(f"{shown} is not possible, because {reason}", tree.span, f"write {choice}.column")
            hint = did_you_mean(choice, self.scope.sets, "sets")
            raise self.fail(f"unknown set '{choice}'", tree.span, hint)
        if self._loop is not None:
            raise self.fail("not supported, because an aggregate stands within another", tree.span)
        if variable in self.scope.columns or variable in self.scope.parameters:
            raise self.fail(f"'{variable}' means something else already", tree.span, "give the row another name")
        self._loop = variable, choice
        condition = self.condition(conditions[0]) if conditions else ex.Literal(True, BOOL, tree.span)
        result = self._each(tree, condition, filled=self.scope.sets[choice] and not conditions)
        self._loop = None
        return result

    def _each(self, tree: Syntax, condition: Expr, filled: bool) -> ex.Each:
        """The aggregate with its body read and typed; `filled`: there is always a row that counts."""
        function, variable, choice, body = tree.args[:4]
        if function == "count" and body.op == "name" and body.args == (variable,):
            return ex.Each(function, choice, ex.Literal(True, BOOL, body.span), condition, COUNT, tree.span)
        if function in ("all", "any", "count"):
            part = self.condition(body)
            kind = COUNT if function == "count" else replace(BOOL, nullable=part.type.nullable)
            return ex.Each(function, choice, part, condition, kind, tree.span)
        read = self.read(body)
        if isinstance(read, _Text):
            raise self.fail("a column is needed here, this is a quoted text", body.span)
        part = self.number(read) if isinstance(read, _Bare) or function == "sum" else read
        if function == "distinct":
            kind = replace(COUNT, nullable=part.type.nullable)
        elif function == "sum":
            kind = replace(part.type, values=None)
        else:
            if part.type.kind not in ("number", "date", "time"):
                raise self.fail(f"{part.type} has no order", body.span)
            kind = replace(part.type, nullable=part.type.nullable or not filled)
        return ex.Each(function, choice, part, condition, kind, tree.span)


def _joined(args: list[Expr]) -> Type:
    """The type of aligned numbers taken together."""
    return replace(args[0].type, values=None, nullable=any(arg.type.nullable for arg in args))
