"""docs/expressions.md holds: every example is read, bound and computed by three interpretations, which agree."""

from __future__ import annotations

import datetime
import re
from collections.abc import Iterator
from dataclasses import dataclass, replace
from fractions import Fraction
from pathlib import Path
from typing import Any

import pyarrow as pa
import pyarrow.parquet as pq
import pytest
from cobench.datasets.opening import Dataset, open_dataset
from cobench.schemas import expression as ex
from cobench.schemas.binding import Scope, bind
from cobench.schemas.errors import CobenchError, ExpressionError
from cobench.schemas.manifest import World
from cobench.schemas.problem import pose
from cobench.schemas.syntax import MAX_BYTES, MAX_DEPTH, MAX_TOKENS, ExpressionText, Span, parse
from cobench.schemas.task import parse_task
from cobench.schemas.units import COUNT, format_value
from cobench.solver.certify import certify
from cobench.solver.checker.check import compiled
from cobench.solver.lowering.values import Evaluator, table_columns
from hypothesis import given
from hypothesis import strategies as st

from .oracle import Names, read_data, truth, value

PAGE = (Path(__file__).resolve().parent.parent / "docs" / "expressions.md").read_text(encoding="utf-8")
TASK = "cobench: 1\nid: t\ndataset: .\ngiven:\n  guests: 3\nchoose:\n  hotel: hotel\n  flight: flight\n"
ARROW = {"bool": pa.bool_(), "string": pa.string(), "date": pa.date32(), "time": pa.int64(), "number": pa.int64()}


def blocks(kind: str) -> Iterator[list[str]]:
    """The lines of every fenced block of one kind in the page."""
    for block in re.findall(rf"^```{kind}\n(.*?)^```", PAGE, re.MULTILINE | re.DOTALL):
        yield block.splitlines()


def examples() -> list[tuple[str, str]]:
    """Expressions with the values or errors that the page gives."""
    pairs = [line.rpartition(" | ") for lines in blocks("examples") for line in lines]
    return [(left.strip(), right.strip()) for left, _, right in pairs]


def stored(text: str, kind: str, digits: int) -> Any:
    """A value of the page as a Parquet file stores it."""
    if text == "unknown" or kind in ("bool", "string"):
        return {"unknown": None, "true": True, "false": False}.get(text, text)
    if kind == "date":
        return datetime.date.fromisoformat(text)
    if kind == "time":
        return int(text[:2]) * 60 + int(text[3:])
    return int(Fraction(text) * 10**digits)


@dataclass
class Described:
    """A column of the page: its manifest entry and its one value."""

    type: str
    spec: str
    value: Any


def described(words: list[str]) -> Described:
    kind = words[0].rstrip("?")
    parts, digits = [f"type: {kind}"], 0
    for word in words[1:-1]:
        if word[0] == ".":
            digits = int(word[1:])
            parts.append(f"digits: {digits}")
        else:
            parts.append(f"values: {word}" if word[0] == "[" else f"unit: {word}")
    parts += ["nullable: true"] if words[0].endswith("?") else []
    return Described(kind, "{" + ", ".join(parts) + "}", stored(words[-1], kind, digits))


@dataclass(frozen=True)
class Page:
    """The dataset that the page describes, as every interpretation sees it."""

    folder: Path
    data: Dataset
    world: World
    scope: Scope

    def bound(self, text: str) -> tuple[ex.Expr, ExpressionText]:
        source = ExpressionText(text)
        return bind(parse(source), source, self.scope), source

    def by_columns(self, text: str) -> str:
        """The value as lowering computes it: over columns."""
        node, source = self.bound(text)
        columns = table_columns(self.world, self.data)
        evaluator = Evaluator(1, lambda leaf: columns[leaf.choice].column(leaf.column), self.data, self.world, source)
        found = evaluator.values(node)
        if found.null is not None and found.null[0]:
            return "unknown"
        item = found.data[0].item()
        return format_value(item if found.words is None else found.words[item], node.type)

    def by_closure(self, text: str) -> str:
        """The value as the checker computes it."""
        node, _ = self.bound(text)

        def column(leaf: ex.Column) -> Any:
            found = self.data.table(self.world, leaf.choice).columns[leaf.column].value(0)
            return lambda _: found

        return format_value(compiled(node, column, self.facts())(0), node.type)

    def facts(self) -> dict[str, dict[tuple[Any, ...], Any]]:
        found: dict[str, dict[tuple[Any, ...], Any]] = {}
        for name, relation in self.world.relations.items():
            table = self.data.relation(self.world, name)
            found[name] = {
                tuple(table.columns[arg].value(row) for arg in relation.args): (
                    table.columns[relation.value].value(row) if relation.value else True
                )
                for row in range(table.rows)
            }
        return found

    def by_oracle(self, text: str) -> str:
        """The value of the untyped tree; shown in the type that binding gives."""
        node, source = self.bound(text)
        data = read_data(self.folder, {"guests": 3})
        rows = {name: data.tables[name][0] for name in ("hotel", "flight")}
        found = value(parse(source), Names(rows, data.parameters, data.relations))
        if isinstance(found, Fraction):
            scaled = found * node.type.scale
            assert scaled.denominator == 1, "the type's scale cannot hold the value"
            return format_value(int(scaled), node.type)
        if node.type.kind in ("date", "time") and found is not None:
            return str(found)
        return format_value(found, node.type)

    def refusal(self, text: str) -> CobenchError:
        """The error that an expression gives, as a constraint of a task if not before."""
        with pytest.raises(CobenchError) as caught:
            self.certified(text)
        return caught.value

    def certified(self, text: str) -> None:
        self.bound(text)
        quoted = "'" + text.replace("'", "''") + "'"
        task = parse_task(TASK + f"constraints:\n  c: {quoted}\nminimize: hotel.price\n")
        certify(task, self.data)


@pytest.fixture(scope="module")
def page(tmp_path_factory: pytest.TempPathFactory) -> Page:
    folder = tmp_path_factory.mktemp("page")
    lines = ["cobench_dataset: 1", "name: page", "parameters:", "  guests: {type: number}", "tables:"]
    tables: dict[str, dict[str, Described]] = {}
    for line in next(blocks("columns")):
        name, *words = line.split()
        choice, _, column = name.rpartition(".")
        if choice:
            tables.setdefault(choice, {"code": Described("string", "{type: string}", "x")})[column] = described(words)
    for name, columns in tables.items():
        lines += [f"  {name}:", f"    file: {name}.parquet", "    key: [code]", "    id: '{code}'", "    columns:"]
        lines += [f"      {column}: {found.spec}" for column, found in columns.items()]
        arrays = {column: pa.array([found.value], ARROW[found.type]) for column, found in columns.items()}
        pq.write_table(pa.table(arrays), folder / f"{name}.parquet")
    lines += ["relations:"]
    for line in next(blocks("relations")):
        found = re.fullmatch(r"(\w+)\((.*)\) (bool|number)(?: (\w+))? +(.*)", line)
        assert found, line
        args = found[2].split(", ")
        rows = [row.split() for row in found[5].split("; ")]
        lines += [f"  {found[1]}:", f"    file: {found[1]}.parquet", f"    args: [{', '.join(args)}]"]
        lines += ["    value: result"] if found[4] else []
        lines += ["    columns:", *(f"      {arg}: {{type: string}}" for arg in args)]
        lines += [f"      result: {{type: number, unit: {found[4]}}}"] if found[4] else []
        arrays = {arg: pa.array([row[place] for row in rows], pa.string()) for place, arg in enumerate(args)}
        arrays |= {"result": pa.array([int(row[-1]) for row in rows], pa.int64())} if found[4] else {}
        pq.write_table(pa.table(arrays), folder / f"{found[1]}.parquet")
    (folder / "dataset.yaml").write_text("\n".join(lines) + "\n", encoding="utf-8")
    data = open_dataset(str(folder))
    world = data.manifest.bind({"guests": ex.Literal(3, COUNT, Span(0, 0))})
    scope = Scope({name: world.tables[name].types for name in tables}, world.parameters, world.signatures())
    return Page(folder, data, world, scope)


@pytest.mark.parametrize(("text", "result"), [pair for pair in examples() if not pair[1].startswith("error: ")])
def test_an_example_has_the_value_that_the_page_says(page: Page, text: str, result: str) -> None:
    assert page.by_columns(text) == result
    assert page.by_closure(text) == result
    assert page.by_oracle(text) == result


@pytest.mark.parametrize(("text", "result"), [pair for pair in examples() if pair[1].startswith("error: ")])
def test_an_example_is_refused_as_the_page_says(page: Page, text: str, result: str) -> None:
    fault = page.refusal(text)
    assert result.removeprefix("error: ") in str(fault)
    where = getattr(fault, "where", None)
    assert where is not None
    assert "^" in where.picture() or not where.text


def test_the_page_has_examples_and_pitfalls() -> None:
    assert len(examples()) > 200, "a block that does not parse would pass unseen"
    assert len(list(blocks("yaml pitfall"))) == 6


@pytest.mark.parametrize("lines", list(blocks("yaml pitfall")), ids=lambda lines: lines[0].split(":")[0])
def test_a_pitfall_of_yaml_is_refused_as_the_page_says(lines: list[str]) -> None:
    *body, comment = lines
    with pytest.raises(CobenchError) as caught:
        parse_task(TASK + "constraints:\n" + "".join(f"  {line}\n" for line in body) + "minimize: hotel.price\n")
    assert comment.removeprefix("# error: ") in str(caught.value)


def test_what_the_page_recommends_for_yaml_is_read_as_meant() -> None:
    (body,) = blocks("yaml")
    task = parse_task(
        TASK + "constraints:\n" + "".join(f"  {line}\n" for line in body) + "minimize: hotel.price\n"
    ).task
    assert {name: task.constraint(name).require for name in task.constraints} == {
        "cheap": "min(hotel.price, hotel.fee) <= 3",
        "short": "hotel.nights in [2, 3]",
        "here": '"Zion" == hotel.park',
        "dry": "not hotel.pool",
        "airport": 'hotel.city != "O\'Hare"',
        "less": "-hotel.nights <= -2",
    }


@pytest.mark.parametrize(
    ("text", "message"),
    [
        ("", "the expression is empty"),
        (" hotel.pool", "without space around it"),
        ("hotel.pool\nor true", "must be one line"),
        ("hotel.city == '" + "é" * (MAX_BYTES // 2) + "'", f"longer than {MAX_BYTES} bytes"),
        (" + ".join(["1"] * MAX_TOKENS), f"more than {MAX_TOKENS} tokens"),
        ("(" * (MAX_DEPTH + 1) + "1" + ")" * (MAX_DEPTH + 1), f"parentheses nest deeper than {MAX_DEPTH}"),
        ("not " * (MAX_DEPTH + 2) + "true", f"nests deeper than {MAX_DEPTH}"),
        ("-" * (MAX_DEPTH + 2) + "1", f"nests deeper than {MAX_DEPTH}"),
        ("hotel.nights == 9" + "9" * 50, "not a plain decimal"),
        ("hotel.city == \ud800", "not"),
    ],
)
def test_text_that_is_too_much_is_refused(page: Page, text: str, message: str) -> None:
    with pytest.raises(ExpressionError, match=re.escape(message)):
        page.bound(text)


def test_a_long_sum_is_not_a_deep_one(page: Page) -> None:
    text = " + ".join(["hotel.nights"] * 120)
    assert page.by_columns(text) == page.by_closure(text) == page.by_oracle(text) == "360"


@pytest.mark.parametrize(
    ("text", "marked"),
    [
        ("hotel.prise <= 1", "prise"),
        ("hotel.city == 'Åre' and hotel.prise <= 1", "prise"),
        ("hotel.city != '東京 😀' and hotel.nights == 'x'", "'x'"),
        ("hotel.city == 'é' and hotl.nights == 1", "hotl.nights"),
        ("hotel.city == 'é' and hotel.price <= 1.005", "1.005"),
        ("hotel.city == 'éé' and hotel.nights is 3", "is"),
        ("hotel.view in ['sea', 'séa']", "'séa'"),
    ],
)
def test_the_caret_stands_below_the_right_characters(page: Page, text: str, marked: str) -> None:
    """Python counts UTF-8 bytes, people see characters."""
    with pytest.raises(ExpressionError) as caught:
        page.bound(text)
    where = caught.value.where
    assert where is not None
    assert text[where.column - 1 : where.column - 1 + where.length] == marked
    _, line, carets = where.picture().splitlines()
    assert line[carets.index("^") : carets.rindex("^") + 1] == marked


def test_the_caret_stands_in_the_line_of_the_file(page: Page) -> None:
    text = (
        TASK + "constraints:\n  ok: hotel.pool\n  bad: hotel.city == 'é' and hotel.prise <= 1\nminimize: hotel.price\n"
    )
    with pytest.raises(ExpressionError) as caught:
        pose(parse_task(text, "my.yaml"), page.data.manifest)
    where = caught.value.where
    assert where is not None
    line = text.splitlines()[where.line - 1]
    assert (where.file, line[where.column - 1 :]) == ("my.yaml", "prise <= 1")


@given(st.decimals(-10_000, 10_000, places=2), st.integers(-300, 300))
def test_decimals_are_exact(whole: Any, factor: int) -> None:
    """`4.35 * 100` is not 435 in floats; here it is."""
    source = ExpressionText(f"{whole} * {factor} + x")
    node = bind(parse(source), source, Scope({"": {"x": replace(COUNT, scale=100)}}))
    exact = Fraction(str(whole)) * factor
    assert isinstance(node, ex.Sum)
    constant = node.terms[0]
    assert isinstance(constant, ex.Literal)
    assert Fraction(int(constant.value), constant.type.scale) == exact


def test_spaces_parentheses_and_spelling_of_numbers_do_not_change_the_tree() -> None:
    def tree(text: str) -> Any:
        return parse(ExpressionText(text)).canonical()

    assert tree("a.x+1.50<=3") == tree("(a.x + 1.5) <= 3.0")
    assert tree("a.x - 1 <= 3") != tree("a.x + 1 <= 3")
    assert tree('a.x == "b"') == tree("a.x == 'b'")


@pytest.mark.parametrize("guard", ["known(hotel.deposit)", "hotel.deposit >= 0", "not hotel.deposit > 9"])
def test_an_objective_that_may_be_unknown_needs_a_guard(page: Page, guard: str) -> None:
    task = TASK + "{}minimize: hotel.deposit\n"
    with pytest.raises(ExpressionError, match="may be unknown"):
        pose(parse_task(task.format("")), page.data.manifest)
    pose(parse_task(task.format(f"constraints:\n  k: {guard}\n")), page.data.manifest)


@pytest.mark.parametrize(
    "no_guard",
    [
        "not known(hotel.deposit)",
        "known(hotel.deposit) == false",
        "known(hotel.deposit) != hotel.pool",
        "known(hotel.deposit) or hotel.pool",
        "count(hotel.deposit > 0) >= 0",
        "not (hotel.deposit > 0 and hotel.pool)",
    ],
)
def test_what_can_hold_of_an_unknown_value_guards_nothing(page: Page, no_guard: str) -> None:
    task = TASK + f"constraints:\n  k: '{no_guard}'\nminimize: hotel.deposit\n"
    with pytest.raises(ExpressionError, match="may be unknown"):
        pose(parse_task(task), page.data.manifest)


def test_the_oracle_knows_the_one_plan_of_the_page(page: Page) -> None:
    found = truth(TASK + "minimize: hotel.price + flight.price\n", page.folder)
    assert found.plans == ((("x", "x"), Fraction("449.50")),)
