"""Random tasks on a world of `worlds.py`, as the YAML text that a person would write, so that parsing is tested."""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import dataclass, field
from typing import Any

from hypothesis import strategies as st

from .worlds import DAYS, Column, Draw, Relation, World, worlds

NAMES = ("a", "b", "c", "d")
COMPARE = ("<", "<=", "==", ">=", ">")


@dataclass(frozen=True)
class Case:
    """A dataset and a task on it."""

    world: World
    task: str
    choices: tuple[str, ...]
    constraints: tuple[str, ...]


@dataclass(frozen=True)
class Number:
    """The text of a number, its unit, how many digits a constant beside it may have, and what in it may be unknown."""

    text: str
    unit: str
    digits: int
    unknown: tuple[str, ...] = ()


@dataclass
class Words:
    """Writes expressions over the columns of the choices."""

    draw: Draw
    world: World
    columns: dict[str, list[Column]]
    names: list[str] = field(default_factory=list)

    def pick(self, options: Any) -> Any:
        return self.draw(st.sampled_from(list(options)))

    def chance(self, one_in: int) -> bool:
        return bool(self.draw(st.integers(1, one_in)) == one_in)

    def of(self, choice: str, *types: str, unit: str | None = None) -> list[Column]:
        return [c for c in self.columns[choice] if c.type in types and (unit is None or c.unit == unit)]

    def constant(self, digits: int, column: Column | None = None) -> str:
        if column is not None and column.name == "big":
            return str(self.pick(column.pool))
        text = str(self.draw(st.integers(-3, 6)))
        return text + self.pick(["", ".5", ".0"]) if digits and text != "0" else text

    # numbers of one choice

    def number(self, choice: str, unit: str, *, decimal: bool = False) -> Number | None:
        """A number of one choice in a unit; with `decimal` one whose steps are decimals, as an objective needs."""
        columns = self.of(choice, "number", unit=unit)
        if not columns:
            return None
        column, other = self.pick(columns), self.pick(columns)
        x, y = f"{choice}.{column.name}", f"{choice}.{other.name}"
        unknown = (x,) if column.nullable else ()
        both = tuple(sorted({*unknown, *((y,) if other.nullable else ())}))
        digits = max(column.digits, other.digits)
        forms: list[Callable[[], Number]] = [
            lambda: Number(x, unit, column.digits, unknown),
            lambda: Number(x, unit, column.digits, unknown),
            lambda: Number(f"{self.pick([-2, -1, 0, 2, 3])} * {x}", unit, column.digits, unknown),
            lambda: Number(f"({x} - {y})", unit, digits, both),
            lambda: Number(f"{self.pick(['min', 'max'])}({x}, {y})", unit, digits, both),
            lambda: Number(f"max({x}, {self.constant(column.digits)})", unit, column.digits, unknown),
            lambda: Number(f"abs({x} - {self.constant(column.digits)})", unit, column.digits, unknown),
            lambda: Number(f"-{x}", unit, column.digits, unknown),
            lambda: Number(f"{x} * 0.1", unit, column.digits, unknown),
            lambda: Number(f"{self.pick(['ceil', 'floor'])}({x} / {self.pick(['2', '0.3', '-4'])})", unit, 0, unknown),
        ]
        if not decimal:
            forms.append(lambda: Number(f"{x} / {self.pick([2, 3])}", unit, 0, unknown))
        if any(found.name == "capacity" for found in self.columns[choice]):
            forms.append(lambda: Number(f"{self.pick(['ceil', 'floor'])}({x} / {choice}.capacity)", unit, 0, unknown))
        if self.world.guests:
            forms.append(lambda: Number(f"guests * {x}", unit, column.digits, unknown))
        plain = self.of(choice, "number", unit="")
        if unit and plain:
            factor = self.pick(plain)
            more = (f"{choice}.{factor.name}",) if factor.nullable else ()
            forms.append(
                lambda: Number(f"{choice}.{factor.name} * {x}", unit, column.digits, tuple(sorted({*unknown, *more})))
            )
        days = self.of(choice, "date")
        if not unit and days and not decimal:
            forms.append(lambda: Number(f"day({choice}.{self.pick(days).name})", "", 0))
            forms.append(lambda: Number(f'days_between("{self.pick(DAYS)}", {choice}.{self.pick(days).name})', "", 0))
        if not unit:
            forms.append(lambda: Number(f"count({self.condition(choice, 1)}, {self.condition(choice, 0)})", "", 0))
        found: Number = self.pick(forms)()
        return found

    # conditions of one choice

    def condition(self, choice: str, depth: int) -> str:
        if depth and self.chance(3):
            parts = [self.condition(choice, depth - 1) for _ in range(2)]
            return self.pick(["({} and {})", "({} or {})", "not ({} or {})", "not ({} and not {})"]).format(*parts)
        column = self.pick(self.columns[choice])
        x = f"{choice}.{column.name}"
        if self.chance(6):
            return f"known({x})"
        if column.type == "number":
            return self._of_number(choice, column, x)
        if column.type == "bool":
            return self.pick([x, f"not {x}", f"{x} == true", f"{x} != false"])
        text = self._of_relation(choice, column, x) if self.chance(3) else None
        return text or self._of_text(column, x)

    def _of_number(self, choice: str, column: Column, x: str) -> str:
        low = self.constant(column.digits, column)
        forms = [
            f"{x} {self.pick(COMPARE)} {low}",
            f"{low} {self.pick(COMPARE)} {x}",
            f"{x} != {low}",
            f"{low} <= {x} < {self.constant(column.digits, column)}",
            f"{x} in [{low}, {self.constant(0, column)}]",
            f"{x} not in [{low}]",
        ]
        number = self.number(choice, column.unit) if self.chance(3) and column.name != "big" else None
        if number:
            forms = [f"{number.text} {self.pick(COMPARE)} {self.constant(number.digits)}"]
        if self.world.guests and not column.unit:
            forms.append(f"{x} <= guests")
        return str(self.pick(forms))

    def _of_text(self, column: Column, x: str) -> str:
        literal = self.literal(column)
        forms = [
            f"{x} == {literal}",
            f"{x} != {literal}",
            f"{x} in [{literal}, {self.literal(column)}]",
            f"{x} not in [{literal}]",
        ]
        if column.type in ("date", "time"):
            forms = [f"{x} {self.pick(COMPARE)} {literal}", f"{literal} <= {x} <= {self.literal(column)}", forms[2]]
        if column.type == "date":
            forms.append(f'weekday({x}) {self.pick(["==", "!="])} "{self.pick(["tue", "wed", "thu"])}"')
            forms.append(f"day({x}) in [27, 1, 2]")
        return str(self.pick(forms))

    def literal(self, column: Column) -> str:
        cell: Any = self.pick(column.pool) if column.pool else "x"
        return f'"{cell // 60:02d}:{cell % 60:02d}"' if column.type == "time" else f'"{cell}"'

    def _of_relation(self, choice: str, column: Column, x: str) -> str | None:
        return self.relation({choice: [column.renamed(x)]}, literals=True)

    def relation(self, known: dict[str, list[Column]], *, literals: bool = False) -> str | None:
        """A condition on a relation; its arguments are the given columns (under their full names), or constants."""
        relation: Relation = self.pick(self.world.relations)
        words: list[str] = []
        choices = list(known)
        for place, arg in enumerate(relation.args):
            columns = [
                column.name
                for column in known[choices[place % len(choices)]]
                if (column.type, column.unit, column.digits) == (arg.type, arg.unit, arg.digits)
            ]
            if literals and (not columns or (place and self.chance(2))):
                columns = [str(self.pick(arg.pool)) if arg.type == "number" else self.literal(arg)]
            if not columns:
                return None
            words.append(self.pick(columns))
        text = f"{relation.name}({', '.join(words)})"
        if not any("." in word and '"' not in word for word in words):
            return None
        if relation.unit is None:
            return str(self.pick([text, f"not {text}"]))
        return str(
            self.pick([f"{text} {self.pick(COMPARE)} 30", f"known({text})", f"not ({text} <= 10)", f"{text} != 10"])
        )

    # conditions of several choices

    def full(self, choice: str) -> list[Column]:
        return [column.renamed(f"{choice}.{column.name}") for column in self.columns[choice]]

    def joint(self, depth: int = 1, *, linear: bool = True) -> str:
        """A condition across choices; a comparison of sums only where `linear` allows it."""
        choices = self.draw(st.permutations(self.names))[:3]
        first, second, *_ = choices
        forms: list[Callable[[], str | None]] = [
            lambda: self._equal(first, second, linear=linear),
            lambda: self._equal(first, second, linear=linear),
            lambda: self.relation({first: self.full(first), second: self.full(second)}),
            lambda: self._dates(choices),
            lambda: self._wishes(first, second, depth),
        ]
        if depth:
            forms.append(lambda: self._mixed(first, second))
        if linear:
            forms += [lambda: self.linear(choices), lambda: self.linear(choices), lambda: self._unequal(first, second)]
        found = self.pick(forms)()
        if found is None:
            return f"({self.condition(first, 1)} or {self.condition(second, 0)})"
        return str(found)

    def _equal(self, first: str, second: str, *, linear: bool) -> str | None:
        types = ("date", "time", "string", "bool", *(("number",) if linear else ()))
        pairs = [
            (x, y)
            for x in self.of(first, *types)
            for y in self.of(second, *types)
            if (x.type, x.unit) == (y.type, y.unit)
        ]
        if not pairs:
            return None
        x, y = self.pick(pairs)
        left, right = f"{first}.{x.name}", f"{second}.{y.name}"
        if x.type == "date" and self.chance(3):
            return f"weekday({left}) == weekday({right})"
        if x.type == "number" and self.chance(3):
            return f"{left} == 2 * {right}"
        return f"{left} {self.pick(['==', '==', '!=']) if linear or x.type != 'number' else '=='} {right}"

    def _unequal(self, first: str, second: str) -> str | None:
        unit = self.pick(["", "USD", "km"])
        left, right = self.number(first, unit), self.number(second, unit)
        return f"{left.text} != {right.text}" if left and right else None

    def _dates(self, choices: list[str]) -> str | None:
        days = [f"{choice}.{self.pick(self.of(choice, 'date')).name}" for choice in choices if self.of(choice, "date")]
        if len(days) < 2:
            return None
        between = f"days_between({days[0]}, {days[1]})"
        forms = [f" {op} ".join(days) for op in ("<", "<=", "==")]
        forms += [f"{days[0]} >= {days[1]}", f"{between} in [0, 1]", f"{between} >= 1", f"abs({between}) <= 1"]
        return str(self.pick(forms))

    def _wishes(self, first: str, second: str, depth: int) -> str:
        parts = [self.condition(first, 0), self.condition(second, 0)]
        if depth:
            parts.append(self.joint(0, linear=False))
        return f"count({', '.join(parts)}) {self.pick(['>=', '==', '<='])} {self.pick([1, 2])}"

    def _mixed(self, first: str, second: str) -> str:
        inner = self.joint(0, linear=False)
        parts = [self.condition(first, 1), inner if self.chance(2) else self.condition(second, 1)]
        return str(self.pick(["{} or {}", "not ({} and {})", "not {} or not ({})", "({} and {}) or {}"])).format(
            f"({parts[0]})", f"({parts[1]})", f"({self.condition(second, 0)})"
        )

    def linear(self, choices: list[str]) -> str | None:
        """A comparison of sums of several choices."""
        unit = self.pick(["USD", "", "km", "min"])
        numbers = [found for choice in choices if (found := self.number(choice, unit))]
        words = [found.text for found in numbers]
        if unit == "min" and (fact := self.drive()):
            words.append(fact)
        if not words:
            return None
        digits = min((found.digits for found in numbers), default=0)
        if len(words) > 1 and self.chance(3):
            return f"{words[0]} {self.pick(COMPARE)} {' + '.join(words[1:])}"
        return f"{' + '.join(words)} {self.pick(COMPARE)} {self.constant(digits)}"

    def drive(self) -> str | None:
        kinds = [f"{choice}.{c.name}" for choice in self.names for c in self.of(choice, "string") if c.name == "kind"]
        return f"drive({kinds[0]}, {kinds[-1]})" if kinds else None

    # objectives

    def objective(self) -> tuple[str, tuple[str, ...]]:
        """The text, and what has to be known for it."""
        if self.chance(3):
            wishes = [self.condition(self.pick(self.names), 1) for _ in range(self.draw(st.integers(1, 3)))]
            if len(self.names) > 1:
                wishes.append(self.joint(1, linear=False))
            return f"count({', '.join(wishes)})", ()
        unit = self.pick(["USD", "", "km", "min"])
        numbers = [found for choice in self.names if (found := self.number(choice, unit, decimal=True))]
        words = [found.text for found in numbers]
        unknown = {name for found in numbers for name in found.unknown}
        if unit == "min" and (fact := self.drive()):
            words.append(fact)
            unknown.add(fact)
        if not words:
            return f"count({self.condition(self.names[0], 1)})", ()
        return " + ".join(words), tuple(sorted(unknown))


@st.composite
def cases(draw: Draw, most_choices: int = 4, most_rows: int = 5, extreme: bool | None = None) -> Case:
    """A world and a task on it; the number of rows falls with the number of choices."""
    number = min(most_choices, draw(st.sampled_from([1, 2, 2, 2, 2, 3, 3, 4])))
    world = draw(worlds(most_rows=min(most_rows, {1: 6, 2: 6, 3: 5, 4: 4}[number]), extreme=extreme))
    names: list[str] = list(NAMES[:number])
    tables = {name: draw(st.sampled_from(list(world.tables))) for name in names}
    words = Words(draw, world, {name: world.tables[table] for name, table in tables.items()}, names)
    objective, unknown = words.objective()
    constraints = {f"k{place}": f"known({name})" for place, name in enumerate(unknown)}
    for place in range(draw(st.sampled_from([0, 1, 1, 2, 2, 3, 4]))):
        single = number == 1 or draw(st.integers(0, 2)) == 0
        text = words.condition(words.pick(names), 2) if single else words.joint()
        if draw(st.integers(0, 5)) == 0:
            text = f"{text if ' or ' not in text else f'({text})'} and {words.condition(words.pick(names), 0)}"
        constraints[f"c{place}"] = text
    lines = ["cobench: 1", "id: t", "dataset: .", *(["given:", f"  guests: {world.guests}"] if world.guests else [])]
    lines += ["choose:", *(f"  {name}: {table}" for name, table in tables.items())]
    if constraints:
        lines.append("constraints:")
    for name, text in draw(st.permutations(list(constraints.items()))):
        quoted = "'" + text.replace("'", "''") + "'" if text[0] in '"-' or "'" in text else text
        lines += [f"  {name}: {quoted}"] if draw(st.booleans()) else [f"  {name}:", f"    require: {quoted}"]
    lines.append(f"{draw(st.sampled_from(['minimize', 'maximize']))}: '{objective.replace(chr(39), chr(39) * 2)}'")
    return Case(world, "\n".join(lines) + "\n", tuple(names), tuple(constraints))
