"""The plan checker as one file about one task, for those who want to carry it along: pyarrow is all that it needs.

It is put together from the very modules that check plans here, their imports of each other taken out, and from the task
as it was posed. So there is one checker, and not a second one that has to be kept like the first.
"""

from __future__ import annotations

import ast
from collections.abc import Iterator, Mapping
from dataclasses import fields, is_dataclass, replace
from pathlib import Path
from typing import Any

from ...schemas.problem import Problem
from ...schemas.syntax import ExpressionText
from ...schemas.version import VERSION
from .check import Data

NAME = "check_plan.py"
ROOT = Path(__file__).resolve().parents[2]
# In the order in which they need each other; names where the rest of a module is about other things.
SOURCES: dict[str, tuple[str, ...]] = {
    "schemas/errors.py": ("Where", "CobenchError", "InputError", "TableError", "ExpressionError"),
    "schemas/units.py": (),
    "schemas/syntax.py": ("Span", "ExpressionText"),
    "schemas/expression.py": (),
    "schemas/offer_id.py": (),
    "schemas/canonical.py": ("_EXACT", "wide"),
    "schemas/world.py": ("Stored", "Derived", "Referenced", "TableField", "Table", "RelationTable", "World"),
    "schemas/problem.py": ("Constraint", "Objective", "Expected", "Problem", "structure"),
    "schemas/several.py": ("Route", "Several"),
    "solver/checker/several.py": (),
    "solver/checker/check.py": (),
}

_HEAD = '''"""Checks plans for the task {task}: python {name} DATA_FOLDER PLAN.json

DATA_FOLDER holds the Parquet files of the dataset, PLAN.json says {{"picks": {{"choice": "offer id"}}}}: a list of ids
for a set, in their order for a route, where {{"id": "offer id", "start": "09:30", "end": "10:00"}} says when. Prints
as JSON the plan's value, what it violates and by how much, and picks that are no offers; exit code 0 for a feasible
plan, 1 for any other, 2 when the tables are not those that the task was certified on. Needs Python 3.11 and pyarrow.
Written by cobench {version} (Apache-2.0) from its own checker; no solver takes part.
"""
'''

_PLAN = '''
@dataclass(frozen=True, slots=True)
class Pick:
    """One chosen offer."""

    id: str
    start: int | str | None = None
    end: int | str | None = None


@dataclass(frozen=True, slots=True)
class Plan:
    """The picks of each choice."""

    picks: Mapping[str, tuple[Pick, ...]]


@dataclass(frozen=True, slots=True)
class Violation:
    """A broken constraint. `amount / scale` in `unit` is by how much a threshold is missed, None if it is none."""

    constraint: str
    detail: str
    amount: int | str | None = None
    unit: str = ""
    scale: int = 1
'''

_MAIN = '''
def _pick(item):
    """One pick, written in full or as its id alone."""
    full = item if isinstance(item, dict) else {"id": item}
    return Pick(unicodedata.normalize("NFC", str(full["id"])), full.get("start"), full.get("end"))


def main() -> int:
    """Checks one plan."""
    if len(sys.argv) != 3:
        print(__doc__, file=sys.stderr)
        return 2
    try:
        written = json.loads(Path(sys.argv[2]).read_text(encoding="utf-8"))
        plan = Plan({str(name): tuple(_pick(item) for item in (picks if isinstance(picks, list) else [picks]))
                     for name, picks in written["picks"].items()})
    except (OSError, ValueError, KeyError, TypeError, AttributeError) as fault:
        print(f"not a plan: {fault!r}", file=sys.stderr)
        return 2
    try:
        data = open_data(Path(sys.argv[1]), PROBLEM)
        if (data.digests, data.relation_digests) != DIGESTS:
            print("these are not the tables that the task was certified on", file=sys.stderr)
            return 2
        found = evaluate(PROBLEM, data, plan)
    except TableError as fault:
        print(fault, file=sys.stderr)
        return 2
    kind = PROBLEM.objective.type
    print(json.dumps({
        "feasible": found.feasible,
        "value": found.value,
        "unit": kind.unit,
        "scale": kind.scale,
        "violations": [asdict(item) for item in found.violations],
        "unknown": found.unknown,
    }))
    return 0 if found.feasible else 1


if __name__ == "__main__":
    sys.exit(main())
'''


def plan_checker(problem: Problem, data: Data) -> str:
    """The text of a Python file that checks plans for this problem on these tables, and refuses others."""
    world = problem.world
    tables, relations = problem.tables(), problem.relations()
    reached = replace(
        world,
        tables={name: world.tables[name] for name in dict.fromkeys([*tables, *problem.choices.values()])},
        relations={name: world.relations[name] for name in relations},
    )
    imports = {"import json", "import sys", "import unicodedata", "from dataclasses import asdict"}
    bodies: list[str] = []
    for file, names in SOURCES.items():
        source = (ROOT / file).read_text(encoding="utf-8")
        tree = ast.parse(source)
        imports.update(_outside(tree))
        bodies.append(f"# {'-' * 40} from {file}\n\n\n" + "\n\n\n".join(_kept(source, tree, names)))
        if file == "schemas/expression.py":  # by this name other modules speak of it
            bodies.append("ex = SimpleNamespace(**globals())")
            imports.add("from types import SimpleNamespace")
    parts = [
        _HEAD.format(task=problem.id, version=VERSION, name=NAME),
        "from __future__ import annotations\n",
        "\n".join(sorted(imports)),
        _PLAN,
        *bodies,
        f"DIGESTS = {(data.digests, data.relation_digests)!r}",
        f"PROBLEM = {written(replace(problem, world=reached))}",
        _MAIN,
    ]
    return "\n\n".join(parts)


def _outside(tree: ast.Module) -> Iterator[str]:
    """The imports of other people's modules, one name each."""
    for node in tree.body:
        if isinstance(node, ast.Import):
            yield from (ast.unparse(ast.Import([name])) for name in node.names)
        elif isinstance(node, ast.ImportFrom) and not node.level and node.module != "__future__":
            yield from (ast.unparse(ast.ImportFrom(node.module, [name], 0)) for name in node.names)


def _kept(source: str, tree: ast.Module, names: tuple[str, ...]) -> Iterator[str]:
    """The statements of a module as they stand in it: all but its imports, or those that define some names."""
    lines = source.splitlines()
    for node in tree.body[1:]:  # without its docstring
        if isinstance(node, ast.Import | ast.ImportFrom) or (names and not set(_defined(node)) & set(names)):
            continue
        decorators = getattr(node, "decorator_list", [])
        first = min([node.lineno, *(item.lineno for item in decorators)])
        yield "\n".join(lines[first - 1 : node.end_lineno])


def _defined(node: ast.stmt) -> list[str]:
    if isinstance(node, ast.ClassDef | ast.FunctionDef):
        return [node.name]
    targets = node.targets if isinstance(node, ast.Assign) else [node.target] if isinstance(node, ast.AnnAssign) else []
    return [target.id for target in targets if isinstance(target, ast.Name)]


def written(value: Any) -> str:
    """A fact as the Python expression that makes it."""
    if isinstance(value, ExpressionText):
        return f"ExpressionText({value.text!r})"
    if is_dataclass(value) and not isinstance(value, type):
        parts = (f"{field.name}={written(getattr(value, field.name))}" for field in fields(value))
        return f"{type(value).__name__}({', '.join(parts)})"
    if isinstance(value, Mapping):
        return f"{{{', '.join(f'{key!r}: {written(item)}' for key, item in value.items())}}}"
    if isinstance(value, tuple):
        return f"({''.join(f'{written(item)}, ' for item in value)})"
    if value is None or isinstance(value, bool | int | str):
        return repr(value)
    raise TypeError(f"{type(value).__name__} cannot be written down")
