"""The walls of the house: who may import whom, what importing costs, and what no file may hold."""

from __future__ import annotations

import ast
import re
import subprocess
import sys
import types
from collections.abc import Iterator
from dataclasses import dataclass
from fnmatch import fnmatchcase
from pathlib import Path

import pytest

ROOT = Path(__file__).resolve().parent.parent


@dataclass(frozen=True)
class Room:
    """Modules that belong together: they may use each other, the standard library, and what is listed here."""

    modules: tuple[str, ...]  # as seen from the root; "schemas.*" stands for everything below
    rooms: tuple[str, ...] = ()
    libraries: tuple[str, ...] = ()


ENGINES = ("scan", "cpsat", "mip")
PUBLIC_SOLVER = ("model", "answers", "check")  # types, certify/rank/conflicts, and the checker; no engine, no lowering

# Who may import whom. This is the only place where it is written down.
ROOMS = {
    "schemas": Room(("schemas", "schemas.*"), libraries=("pydantic", "ruamel")),
    "datasets": Room(("datasets", "datasets.*"), rooms=("schemas",), libraries=("polars", "pyarrow", "numpy")),
    # The package itself imports nothing: else the checker would load what it must not share.
    "solver": Room(("solver",)),
    # The model, and what is computed from a model alone: codes, reductions, the zero-one program, the lattice.
    "model": Room(
        (
            "solver.model",
            "solver.outcome",
            "solver.coding",
            "solver.reduce",
            "solver.program",
            "solver.lattice",
            "solver.signatures",
            "solver.sets",
            "solver.sets.model",
            "solver.sets.program",
            "solver.sets.tour",
        ),
        rooms=("schemas",),
        libraries=("numpy",),
    ),
    "lower": Room(
        (
            "solver.lower",
            "solver.lowering",
            "solver.lowering.*",
            *(
                f"solver.sets.{name}"
                for name in ("lower", "cases", "courses", "formulas", "numbers", "pool", "setting")
            ),
        ),
        rooms=("schemas", "datasets", "model", "fold"),
        libraries=("polars", "numpy"),
    ),
    "scan": Room(
        ("solver.scan", "solver.columns", "solver.columns.*"),
        rooms=("schemas", "model"),
        libraries=("numba", "numpy"),
    ),
    # The dynamic program for sets and routes.
    "fold": Room(
        tuple(f"solver.sets.{name}" for name in ("fold", "sweep", "outlook", "shapes", "stages", "states", "route")),
        rooms=("schemas", "model"),
        libraries=("numpy",),
    ),
    "cpsat": Room(("solver.cpsat", "solver.sets.cpsat"), rooms=("schemas", "model"), libraries=("ortools", "numpy")),
    "mip": Room(("solver.mip", "solver.sets.mip"), rooms=("schemas", "model"), libraries=("pulp", "highspy", "numpy")),
    # Runs the other engines in child processes; `__main__` is the child.
    "isolate": Room(("solver.isolate", "solver.__main__"), rooms=("schemas", "model", "cpsat", "mip")),
    "answers": Room(
        (
            "solver.asking",
            "solver.certify",
            "solver.sets.certify",
            "solver.rank",
            "solver.conflicts",
            "solver.questions",
            "solver.questions.*",
        ),
        rooms=("schemas", "datasets", "model", "lower", "isolate", "fold", *ENGINES),
        libraries=("numpy",),
    ),
    # What checks a proof is one file of plain Python, for those who trust nothing else of ours.
    "proof_check": Room(("solver.proofs.proof_check",)),
    "proof": Room(
        ("solver.proofs", "solver.proofs.*"),
        rooms=("schemas", "datasets", "model", "lower", "scan", "proof_check"),
        libraries=("numpy",),
    ),
    # The checker shares no code with lowering and engines, and counts in Python integers: no numpy.
    "check": Room(
        ("solver.checker", "solver.checker.*"),
        rooms=("schemas",),
        libraries=("pyarrow",),
    ),
    # Makes tasks and certifies them before it lets them in.
    "compass": Room(
        ("tasks.compass", "tasks.compass.*"),
        rooms=("schemas", "datasets", "workers", "tasks", "model", "lower", "scan", "answers", "check", "verification"),
        libraries=("pyarrow", "numpy"),
    ),
    "tasks": Room(
        ("tasks", "tasks.*"), rooms=("schemas", "datasets", *PUBLIC_SOLVER), libraries=("pyarrow", "pydantic")
    ),
    # What an agent reaches; it knows the data, and neither tasks nor certificates nor who is asking.
    "tools": Room(
        ("agent_runner.tools", "agent_runner.tools.*"),
        rooms=("schemas", "datasets"),
        libraries=("polars", "rapidfuzz"),
    ),
    # Adapters: each knows the conversation and one library.
    "inspect": Room(
        ("agent_runner.inspect", "agent_runner.inspect.*"),
        rooms=("schemas", "agent_runner", "tools", *PUBLIC_SOLVER),
        libraries=("anyio", "inspect_ai", "rich"),
    ),
    "mcp": Room(
        ("agent_runner.mcp", "agent_runner.mcp.*"),
        rooms=("schemas", "agent_runner", "tools"),
        libraries=("anyio", "mcp", "mcp_types"),
    ),
    "agent_runner": Room(
        ("agent_runner", "agent_runner.*"),
        rooms=("schemas", "datasets", "workers", "tools", *PUBLIC_SOLVER),
        libraries=("polars", "pyarrow", "pydantic", "rapidfuzz"),
    ),
    "report": Room(("report", "report.*"), rooms=("schemas",), libraries=("altair", "jinja2", "vl_convert")),
    # Worker processes, whatever they do.
    "workers": Room(("workers",), rooms=("schemas",)),
    # Runs `verification` on many tasks; nothing below it knows that there are many.
    "suite": Room(
        ("suite", "suite.*"),
        rooms=("schemas", "datasets", "answers", "check", "model", "verification", "workers"),
        libraries=("pydantic", "pyarrow", "dask", "distributed"),
    ),
    "verification": Room(("verification",), rooms=("*",), libraries=("*",)),
    "root": Room(("", "__main__", "cli", "cli.*"), rooms=("*",), libraries=("*",)),
}
NO_ROOMS = ("tests", "benchmarks", "docs")  # folders whose Python files are not part of the package

HEAVY = {
    "numba",
    "llvmlite",
    "ortools",
    "pulp",
    "highspy",
    "pandas",
    "inspect_ai",
    "mcp",
    "openai",
    "altair",
    "vl_convert",
}  # not loaded before a command needs it
MAX_LINES = 400
LONGER = {
    "schemas/binding.py",  # one method for each node of the language
    "solver/checker/check.py",  # one file, so that others can carry it along
}
MAX_PUBLIC_NAMES = 30


def module_name(path: Path) -> str:
    """The module of a file, seen from the root: "solver.model", and "" for the package itself."""
    parts = path.with_suffix("").parts
    return ".".join(parts[:-1] if parts[-1] == "__init__" else parts)


def room_of(module: str) -> str | None:
    """The name of the room in which a module is."""
    for name, room in ROOMS.items():
        if any(fnmatchcase(module, pattern) for pattern in room.modules):
            return name
    return None


def violations(root: Path, paths: list[Path]) -> Iterator[str]:
    """Every import that the table does not allow, as "file:line: what", and every module without a room."""
    sources = [
        path for path in paths if path.suffix == ".py" and path.parts[0] not in NO_ROOMS and path.parts[0][0] != "."
    ]
    modules = {module_name(path) for path in sources}
    for path in sources:
        room = room_of(module_name(path))
        if room is None:
            yield f"{path.as_posix()}:1: is in no room"
            continue
        for node in ast.walk(ast.parse((root / path).read_text(encoding="utf-8"))):
            for fault in faults_of(node, path, room, modules):
                yield f"{path.as_posix()}:{getattr(node, 'lineno', 0)}: {fault}"


def faults_of(node: ast.AST, path: Path, room: str, modules: set[str]) -> Iterator[str]:
    """What is wrong with one node, wherever it stands: in a function and under TYPE_CHECKING too."""
    if isinstance(node, ast.Import):
        for alias in node.names:
            yield from target_faults(room, alias.name.split("."), "", modules)
    elif isinstance(node, ast.ImportFrom):
        for alias in node.names:
            yield from from_faults(node, alias.name, path, room, modules)
    elif isinstance(node, ast.Call) and "*" not in ROOMS[room].rooms:
        called = node.func.attr if isinstance(node.func, ast.Attribute) else getattr(node.func, "id", "")
        if called in {"__import__", "import_module"}:
            yield f"{room} may not import by {called}()"


def from_faults(node: ast.ImportFrom, name: str, path: Path, room: str, modules: set[str]) -> Iterator[str]:
    """What is wrong with `from module import name`."""
    module = node.module.split(".") if node.module else []
    if node.level == 0:
        yield from target_faults(room, module, name, modules)
    elif node.level > len(path.parts):
        yield "a relative import leaves the package"
    else:
        package = path.parts[: len(path.parts) - node.level]
        yield from target_faults(room, ["cobench", *package, *module], name, modules)


def target_faults(room: str, module: list[str], name: str, modules: set[str]) -> Iterator[str]:
    """Why a room may not import a module, or the name from it; nothing when it may."""
    top, *inside = module
    if top != "cobench":
        allowed = ROOMS[room].libraries
        if top not in sys.stdlib_module_names and top not in allowed and "*" not in allowed:
            yield f"{room} may not use {top}"
        return
    target = ".".join([*inside, name])
    if target not in modules:  # the name is not a module but something in one
        target = ".".join(inside)
    other = room_of(target)
    if other is None:
        yield f"{target} is in no room"
    elif other != room and not {other, "*"} & {*ROOMS[room].rooms}:
        yield f"{room} may not use {target or 'the root'}"
    elif other != room and name.startswith("_"):
        yield f"{room} may not use the private {target}.{name}"


def test_imports_keep_to_the_table(project_files: list[Path]) -> None:
    assert not list(violations(ROOT, project_files))


def test_the_table_names_only_rooms_that_exist() -> None:
    used = {other for room in ROOMS.values() for other in room.rooms}
    assert used <= {*ROOMS, "*"}


def test_planted_violations_are_found(tmp_path: Path) -> None:
    tree = {
        "__init__.py": "from .solver.certify import certify\nimport numba\n",
        "verification.py": "from importlib import import_module\n\nengine = import_module('numba')\n",
        "schemas/__init__.py": "",
        "schemas/task.py": (
            "from typing import TYPE_CHECKING\n\nimport ruamel.yaml\n\nfrom . import units\n"
            "if TYPE_CHECKING:\n    from ..solver.lower import lower\n    from cobench.datasets import table\n"
        ),
        "schemas/units.py": "import numpy as np\nfrom ...elsewhere import x\nfrom .. import certify, solver\n",
        "solver/__init__.py": "from .certify import certify\n",
        "solver/lower.py": "import polars\nfrom ..schemas import units\nfrom ..schemas.units import _private\n",
        "solver/checker/check.py": (
            "import pyarrow.parquet as pq\n\ndef check():\n    import numpy\n    from ... import solver\n"
            "    from .. import lower\n    from importlib import import_module\n    return import_module('numba')\n"
        ),
        "solver/certify.py": "from .lower import lower\nfrom .checker import check\n",
        "solver/mystery.py": "",
        "tests/test_anything.py": "import pandas\n",
    }
    for name, text in tree.items():
        (tmp_path / name).parent.mkdir(exist_ok=True, parents=True)
        (tmp_path / name).write_text(text, encoding="utf-8")
    assert sorted(violations(tmp_path, [Path(name) for name in tree])) == [
        "schemas/task.py:7: schemas may not use solver.lower",
        "schemas/task.py:8: schemas may not use datasets",
        "schemas/units.py:1: schemas may not use numpy",
        "schemas/units.py:2: a relative import leaves the package",
        "schemas/units.py:3: schemas may not use solver",
        "schemas/units.py:3: schemas may not use the root",
        "solver/__init__.py:1: solver may not use solver.certify",
        "solver/certify.py:2: answers may not use solver.checker.check",
        "solver/checker/check.py:4: check may not use numpy",
        "solver/checker/check.py:5: check may not use solver",
        "solver/checker/check.py:6: check may not use solver.lower",
        "solver/checker/check.py:8: check may not import by import_module()",
        "solver/lower.py:3: lower may not use the private schemas.units._private",
        "solver/mystery.py:1: is in no room",
    ]


def loaded_by(code: str) -> set[str]:
    """The heavy libraries that a new interpreter has loaded after running the code."""
    report = f"import sys\n{code}\nprint('loaded:', *sorted({HEAVY!r} & set(sys.modules)))"
    done = subprocess.run(
        [sys.executable, "-c", report], capture_output=True, encoding="utf-8", timeout=60, check=False
    )
    assert done.returncode == 0, done.stderr
    last = done.stdout.splitlines()[-1]
    assert last.startswith("loaded:")
    return set(last.removeprefix("loaded:").split())


def test_import_loads_no_engine() -> None:
    assert loaded_by("import cobench") == set()


def test_help_loads_no_engine() -> None:
    if not (ROOT / "cli" / "__init__.py").exists():
        pytest.skip("there is no command line yet")
    code = """
sys.argv = ["cobench", "--help"]
from cobench.cli import main
try:
    main()
except SystemExit as done:
    assert not done.code, done.code
"""
    assert loaded_by(code) == set()


def test_what_loads_an_engine_is_noticed() -> None:
    assert "numba" in loaded_by("import numba")


def test_all_is_what_is_public() -> None:
    import cobench  # noqa: PLC0415  here, so that a fault in it fails this test and not the collection of the file

    exported = list(cobench.__all__)
    assert len(exported) == len(set(exported)) <= MAX_PUBLIC_NAMES
    for name in exported:
        assert getattr(cobench, name) is not None
    ours = {
        name
        for name, value in vars(cobench).items()
        if not name.startswith("_") and not isinstance(value, types.ModuleType) and name != "TYPE_CHECKING"
        if str(getattr(value, "__module__", "cobench")).startswith("cobench")
    }
    assert ours <= set(exported)


UNWANTED = {
    "a path of one machine": re.compile(r"(?<![\w.:/}-])/(?:home|root|tmp|work|farm|mnt|opt|srv|Users|private)/[\w.-]"),
    "the host of a package registry": re.compile(r"registry\.npm|npmjs\.(?:com|org)|pypi\.org|pythonhosted\.org"),
    "a marker of unfinished work": re.compile(r"(?<![\"'])\b(?:TO[D]O|FIX[M]E|XX[X]|HAC[K])\b"),
}


def test_no_file_holds_what_belongs_elsewhere(project_files: list[Path]) -> None:
    found: list[str] = []
    for path in project_files:
        try:
            lines = (ROOT / path).read_text(encoding="utf-8").splitlines() if (ROOT / path).is_file() else []
        except UnicodeDecodeError:
            continue  # Parquet and the like
        found += [
            f"{path.as_posix()}:{number}: {what}"
            for number, line in enumerate(lines, 1)
            for what, pattern in UNWANTED.items()
            if pattern.search(line)
        ]
    assert not found


@pytest.mark.parametrize(
    ("text", "what"),  # with a tilde, which is taken out, so that this file does not hold them itself
    [
        ("see /ho~me/someone/x", "a path of one machine"),
        ("see `/t~mp/x`", "a path of one machine"),
        ("# TO~DO: later", "a marker of unfinished work"),
        ("from https://py~pi.org/simple", "the host of a package registry"),
    ],
)
def test_what_belongs_elsewhere_is_recognised(text: str, what: str) -> None:
    assert [name for name, pattern in UNWANTED.items() if pattern.search(text.replace("~", ""))] == [what]


def test_files_are_short(project_files: list[Path]) -> None:
    lines = {
        path.as_posix(): len((ROOT / path).read_text(encoding="utf-8").splitlines())
        for path in project_files
        if path.suffix == ".py" and path.parts[0] not in NO_ROOMS
    }
    long = {name for name, count in lines.items() if count > MAX_LINES}
    assert not long - LONGER
    assert not LONGER - long, "no longer long: take it off the list"
