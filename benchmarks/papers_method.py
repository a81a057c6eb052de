"""What papers on planning benchmarks do to find a task's optimum: filter offers in SQLite, then loop over all plans.

The same question as cobench is asked: number of plans, best value, and how many plans are better than a given one.
Everything that can be done once is done once, before any clock runs: tables are loaded with indexes on keys, references
and the columns that tasks filter by; SQL and loops are written from the typed task and compiled. Choices are joined by
dictionaries on the equations between them, such as dates, and not pair by pair. Numbers are not negative where they are
divided; `not` of something unknown is refused.
"""

from __future__ import annotations

import sqlite3
from collections.abc import Callable, Iterator
from dataclasses import dataclass
from pathlib import Path
from typing import Any

import pyarrow.parquet as pq
from cobench.datasets.opening import Dataset
from cobench.schemas import expression as ex
from cobench.schemas.expression import Expr, children, choices_of, split_and, walk
from cobench.schemas.problem import Problem
from cobench.schemas.units import WEEKDAYS, day_of_month
from cobench.schemas.world import Derived, Referenced, Stored, World

FILTERED = ("park", "origin", "destination", "permit_park", "template_name", "permit_type", "check_in", "departs_on")
Answer = tuple[int, int | None, int]  # plans, best value (to be minimised), plans better than the given value


def load(dataset: Dataset, world: World) -> sqlite3.Connection:
    """All tables and relations of a dataset in memory, indexed; dates are days, money is cents."""
    database = sqlite3.connect(":memory:")
    for name, table in world.tables.items():
        _copy(database, name, dataset.folder / table.file, list(table.stored))
        database.execute(f"CREATE UNIQUE INDEX {name}_key ON {name} ({', '.join(table.key)})")
        for column in table.stored:
            if column in FILTERED or column in table.references:
                database.execute(f"CREATE INDEX {name}_{column} ON {name} ({column})")
    for name, relation in world.relations.items():
        _copy(database, name, dataset.folder / relation.file, list(relation.columns))
        database.execute(f"CREATE UNIQUE INDEX {name}_key ON {name} ({', '.join(relation.args)})")
    database.execute("ANALYZE")
    return database


def _copy(database: sqlite3.Connection, name: str, path: Path, columns: list[str]) -> None:
    data = pq.ParquetFile(path).read(columns=columns)
    database.execute(f"CREATE TABLE {name} ({', '.join(columns)})")
    cells = [
        [None if value is None else _number(value) for value in data.column(column).to_pylist()] for column in columns
    ]
    marks = ", ".join("?" * len(columns))
    database.executemany(f"INSERT INTO {name} VALUES ({marks})", zip(*cells, strict=True))


def _number(value: Any) -> Any:
    return value.toordinal() - 719_163 if hasattr(value, "toordinal") else value


@dataclass(frozen=True)
class Script:
    """One task, ready to run: a query for each choice, and compiled loops over the rows that they give."""

    database: sqlite3.Connection
    queries: tuple[str, ...]
    solve: Callable[[list[list[Any]], int], Answer]

    def run(self, value: int) -> Answer:
        """Number of plans, best value, and plans better than `value`; values are minimised."""
        return self.solve([self.database.execute(query).fetchall() for query in self.queries], value)


def script(problem: Problem, database: sqlite3.Connection, nightly: bool) -> Script:
    """The task as a benchmark's author would have written it down.

    `nightly`: stays are put together from nightly offers, as the papers do; else they are looked up in a table that has
    every stay ready, which the papers do not have.
    """
    return _Writer(problem, database, nightly).script()


class _Writer:
    def __init__(self, problem: Problem, database: sqlite3.Connection, nightly: bool) -> None:
        self.problem, self.database, self.world, self.nightly = problem, database, problem.world, nightly
        self.names = list(problem.choices)
        self.cells: dict[str, list[str]] = {name: [] for name in self.names}  # SQL of what each query gives
        self.joins: dict[str, dict[str, str]] = {name: {} for name in self.names}
        self.offers: dict[str, list[str]] = {name: [] for name in self.names}  # Python of what a stay has
        self.relations: set[str] = set()

    def script(self) -> Script:
        single: dict[str, list[Expr]] = {name: [] for name in self.names}
        joint: list[Expr] = []
        for constraint in self.problem.constraints:
            for node in split_and(constraint.condition):
                choices = choices_of(node)
                if len(choices) > 1:
                    joint.append(node)
                else:
                    name = next(iter(choices), self.names[0])
                    single[name].append(node)
        for name, table in self.problem.choices.items():
            require = self.world.tables[table].require
            if require is not None:
                single[name].append(require)
        loops = self.loops(joint)
        loops += "".join(self.stays(name, single[name]) for name in self.names if self.windowed(name))
        queries = tuple(self.query(name, single[name]) for name in self.names)
        names: dict[str, Any] = {"facts": {name: self.table_of_facts(name) for name in self.relations}}
        names |= {"WEEKDAYS": WEEKDAYS, "day_of_month": day_of_month}
        exec(compile(loops, "papers_method", "exec"), names)
        return Script(self.database, queries, names["solve"])

    def query(self, choice: str, conditions: list[Expr]) -> str:
        windowed = self.windowed(choice)
        where = [self.sql(node, choice) for node in conditions if not (windowed and self.is_of_stay(node))]
        table = "nights" if windowed else self.problem.choices[choice]
        tables = [f"{table} AS t", *(f"JOIN {join}" for join in self.joins[choice].values())]
        cells = ["t.config", "t.night", "t.night_price", "t.night_available"] if windowed else []
        order = " ORDER BY t.config, t.night" if windowed else ""
        chosen = ", ".join([*cells, *self.cells[choice]]) or "1"
        return f"SELECT {chosen} FROM {' '.join(tables)} WHERE {' AND '.join(where) or '1'}{order}"

    def windowed(self, choice: str) -> bool:
        """Whether the rows of a choice are put together from nightly offers."""
        return self.nightly and self.problem.choices[choice] == "stays"

    def is_of_stay(self, node: Expr) -> bool:
        """Whether a condition depends on dates and nights of a stay, and not on the room alone."""
        return any(self.stored(part.column) for part in self.expanded(node) if isinstance(part, ex.Column))

    def expanded(self, node: Expr) -> Iterator[Expr]:
        """The node and all below it, columns that a stay computes opened up."""
        for part in walk(node):
            yield part
            if isinstance(part, ex.Column):
                found = self.world.tables["stays"].fields[part.column]
                if isinstance(found, Derived):
                    yield from self.expanded(found.expr)

    def stored(self, column: str) -> bool:
        return column != "config" and isinstance(self.world.tables["stays"].fields[column], Stored)

    def stays(self, choice: str, conditions: list[Expr]) -> str:
        """A function from nightly offers to stays of one to seven nights that satisfy the conditions."""
        checks = [self.of_stay(node, choice) for node in conditions if self.is_of_stay(node)]
        lines = [
            f"def stays_of_{choice}(rows):",
            " found = []",
            " for first, night in enumerate(rows):",
            "  config, check_in = night[0], night[1]",
            "  room_price, available = 0, 10**9",
            "  for nights in range(1, 8):",
            "   if first + nights > len(rows): break",
            "   last = rows[first + nights - 1]",
            "   if last[0] != config or last[1] != check_in + nights - 1 or last[3] < 1: break",
            "   room_price += last[2]",
            "   if last[3] < available: available = last[3]",
            "   check_out = check_in + nights",
            *(f"   if not {check}: continue" for check in checks),
            f"   found.append(({''.join(f'{cell}, ' for cell in self.offers[choice])}))",
            " return found",
        ]
        return "\n".join(lines) + "\n"

    def of_stay(self, node: Expr, choice: str) -> str:
        """Python for an expression about one stay."""
        if not self.is_of_stay(node):
            if isinstance(node, ex.Literal):
                return repr(node.value)
            cell = self.sql(node, choice)
            if cell not in self.cells[choice]:
                self.cells[choice].append(cell)
            return f"night[{4 + self.cells[choice].index(cell)}]"

        def of(part: Expr) -> str:
            return self.of_stay(part, choice)

        match node:
            case ex.Column():
                found = self.world.tables["stays"].fields[node.column]
                return of(found.expr) if isinstance(found, Derived) else node.column
            case ex.Member():
                return f"({of(node.arg)} in {node.values})"
            case ex.Weekday():
                return f"WEEKDAYS[({of(node.arg)} + 3) % 7]"
            case ex.Day():
                return f"day_of_month({of(node.arg)})"
            case ex.Count():
                return "(" + " + ".join(f"bool({of(arg)})" for arg in node.args) + ")"
            case _:
                return _plain(node, of, {}, "//")

    def table_of_facts(self, name: str) -> dict[tuple[Any, ...], int]:
        relation = self.world.relations[name]
        value = relation.value or "1"
        rows = self.database.execute(f"SELECT {value}, {', '.join(relation.args)} FROM {name}")
        return {tuple(args): number for number, *args in rows}

    # SQL: one choice

    def column(self, choice: str, table: str, name: str, alias: str) -> str:
        found = self.world.tables["stays" if table == "nights" else table].fields[name]
        if isinstance(found, Derived):
            return self.sql(found.expr, choice, table, alias)
        if isinstance(found, Referenced):
            other = f"{alias}_{found.via}"
            key = self.world.tables[found.table].key[0]
            self.joins[choice][other] = f"{found.table} AS {other} ON {other}.{key} = {alias}.{found.via}"
            return self.column(choice, found.table, found.column, other)
        return f"{alias}.{name}"

    def sql(self, node: Expr, choice: str, table: str = "", alias: str = "t") -> str:
        table = table or ("nights" if self.windowed(choice) else self.problem.choices[choice])

        def of(part: Expr) -> str:
            return self.sql(part, choice, table, alias)

        match node:
            case ex.Literal():
                return (
                    "'" + node.value.replace("'", "''") + "'" if isinstance(node.value, str) else str(int(node.value))
                )
            case ex.Column():
                return self.column(choice, table, node.column, alias)
            case ex.Member():
                values = ", ".join(f"'{item}'" if isinstance(item, str) else str(item) for item in node.values)
                return f"({of(node.arg)} IN ({values}))"
            case ex.Weekday():
                names = " ".join(f"WHEN {number} THEN '{name}'" for number, name in enumerate(WEEKDAYS))
                return f"(CASE ({of(node.arg)} + 3) % 7 {names} END)"
            case ex.Day():
                return f"CAST(strftime('%d', {of(node.arg)} * 86400, 'unixepoch') AS INTEGER)"
            case ex.Known():
                return f"({of(node.arg)} IS NOT NULL)"
            case ex.Relation():
                relation = self.world.relations[node.relation]
                args = " AND ".join(f"{arg} = {of(part)}" for arg, part in zip(relation.args, node.args, strict=True))
                if relation.value:
                    return f"(SELECT {relation.value} FROM {node.relation} WHERE {args})"
                return f"EXISTS (SELECT 1 FROM {node.relation} WHERE {args})"
            case ex.Count():
                return "(" + " + ".join(f"coalesce({of(arg)}, 0)" for arg in node.args) + ")"
            case _:
                return _plain(node, of, {"==": "=", "and": "AND", "or": "OR", "not": "NOT"}, "/")

    # Python: several choices

    def loops(self, joint: list[Expr]) -> str:
        sign = "-" if self.problem.objective.maximize else ""
        lines = ["def solve(rows, value):", " count = better = 0", " best = None"]
        for number, name in enumerate(self.names):
            lines += [f" rows[{number}] = stays_of_{name}(rows[{number}])"] if self.windowed(name) else []
        checks = {name: [node for node in joint if self.last(node) == name] for name in self.names}
        keys = {name: [node for node in checks[name] if self.is_key(node)] for name in self.names[1:]}
        for number, name in enumerate(self.names[1:], 1):
            if keys[name]:
                key = ", ".join(self.python(self.side(node, name, True)) for node in keys[name])
                lines += [f" by{number} = {{}}", f" for {name} in rows[{number}]:"]
                lines += [f"  by{number}.setdefault(({key},), []).append({name})"]
        indent = " "
        for number, name in enumerate(self.names):
            source = f"rows[{number}]"
            if number and keys[name]:
                key = ", ".join(self.python(self.side(node, name, False)) for node in keys[name])
                source = f"by{number}.get(({key},), ())"
            lines.append(f"{indent}for {name} in {source}:")
            indent += " "
            for node in checks[name]:
                if not (number and node in keys[name]):
                    lines += [f"{indent}if not {self.python(node)}: continue"]
        lines += [
            f"{indent}found = {sign}({self.python(self.problem.objective.expr)})",
            f"{indent}count += 1",
            f"{indent}if best is None or found < best: best = found",
            f"{indent}if found < value: better += 1",
            " return count, best, better",
        ]
        return "\n".join(lines) + "\n"

    def last(self, node: Expr) -> str:
        return max(choices_of(node), key=self.names.index)

    def is_key(self, node: Expr) -> bool:
        """An equation of one choice with earlier ones, nothing in it unknown."""
        if not isinstance(node, ex.Compare) or node.op != "==" or node.type.nullable:
            return False
        return len(choices_of(node.left)) == len(choices_of(node.right)) == 1

    def side(self, node: Expr, name: str, own: bool) -> Expr:
        left, right = children(node)
        return left if (name in choices_of(left)) == own else right

    def python(self, node: Expr) -> str:
        choices = choices_of(node)
        if len(choices) == 1:  # computed by the query
            (choice,) = choices
            windowed = self.windowed(choice)
            cell = self.of_stay(node, choice) if windowed else self.sql(node, choice)
            cells = (self.offers if windowed else self.cells)[choice]
            if cell not in cells:
                cells.append(cell)
            return f"{choice}[{cells.index(cell)}]"
        match node:
            case ex.Literal():
                return repr(node.value)
            case ex.Member():
                return f"({self.python(node.arg)} in {node.values})"
            case ex.Relation():
                self.relations.add(node.relation)
                args = ", ".join(self.python(arg) for arg in node.args)
                look = f"facts['{node.relation}'].get(({args},))"
                return look if self.world.relations[node.relation].value else f"({look} is not None)"
            case ex.Count():
                return "(" + " + ".join(f"bool({self.python(arg)})" for arg in node.args) + ")"
            case ex.Known():
                return f"({self.python(node.arg)} is not None)"
            case ex.Compare() if node.type.nullable:
                sides = (self.python(node.left), self.python(node.right))
                known = " and ".join(f"{side} is not None" for side in sides if not side.isdigit())
                return f"({known} and {sides[0]} {node.op} {sides[1]})"
            case ex.Not() if node.type.nullable:
                raise NotImplementedError("not of something unknown")
            case _:
                return _plain(node, self.python, {}, "//")


def _plain(node: Expr, of: Callable[[Expr], str], words: dict[str, str], divide: str) -> str:
    """What SQL and Python write alike."""
    match node:
        case ex.Sum():
            return "(" + " + ".join(of(term) for term in node.terms) + ")"
        case ex.Scaled():
            return f"({node.factor} * {of(node.term)})"
        case ex.Product():
            return f"({of(node.left)} * {of(node.right)})"
        case ex.Quotient():
            top, bottom = of(node.numerator), of(node.denominator)
            return f"(({top} + {bottom} - 1) {divide} {bottom})" if node.up else f"({top} {divide} {bottom})"
        case ex.Extreme():
            return f"{'max' if node.largest else 'min'}({', '.join(of(arg) for arg in node.args)})"
        case ex.Absolute():
            return f"abs({of(node.arg)})"
        case ex.DaysBetween():
            return f"({of(node.end)} - {of(node.start)})"
        case ex.Compare():
            return f"({of(node.left)} {words.get(node.op, node.op)} {of(node.right)})"
        case ex.And() | ex.Or():
            word = "and" if isinstance(node, ex.And) else "or"
            return "(" + f" {words.get(word, word)} ".join(of(arg) for arg in node.args) + ")"
        case ex.Not():
            return f"({words.get('not', 'not')} {of(node.arg)})"
        case _:
            raise NotImplementedError(type(node).__name__)
