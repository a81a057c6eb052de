"""Tables on terminals of any width, in pipes and files: text may wrap, but nothing is cut."""

from __future__ import annotations

import io
import re
from pathlib import Path

import pytest
from cobench.cli.tables import show
from rich import box
from rich.console import Console
from rich.table import Table

from .test_cli import PARKS, Shell, shell

FIXTURES = (shell,)  # pytest finds it in this module by its name
TASK = PARKS / "parks-2-01-zion-weekend.yaml"
AUDIT = ("hotel rows: 22,798", "optimum without it", "929,600,804", "$1,020.97")


def drawn(width: int, terminal: bool) -> str:
    table = Table(box=box.SIMPLE)
    table.add_column("constraint")
    table.add_column("removed alone", justify="right")
    table.add_column("implied by")
    table.add_row("redundant-name-of-a-constraint", "931,731,000,123", "one, another and a third one")
    table.add_row("park", "7", "pkg_92d273b9_15_17_1")
    out = Console(file=io.StringIO(), width=width, force_terminal=terminal, color_system=None)
    show(out, table)
    assert isinstance(out.file, io.StringIO)
    return out.file.getvalue()


@pytest.mark.parametrize("terminal", [False, True])
@pytest.mark.parametrize("width", [20, 40, 60, 80, 200])
def test_a_table_keeps_every_number_whole_and_every_letter(width: int, terminal: bool) -> None:
    said = drawn(width, terminal)
    assert "931,731,000,123" in said
    assert "…" not in said
    letters = re.sub(r"[\s─]", "", said)
    cells = ("constraint removed alone implied by", "redundant-name-of-a-constraint", "931,731,000,123", "park", "7",
             "one, another and a third one", "pkg_92d273b9_15_17_1")  # fmt: skip
    assert sorted(letters) == sorted(re.sub(r"\s", "", "".join(cells)))
    if width >= 60:
        assert max(map(len, said.splitlines())) <= width


def test_a_pipe_has_as_much_width_as_a_table_needs(shell: Shell, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.delenv("COLUMNS", raising=False)
    assert shell("audit", TASK, "-q") == 0
    for part in AUDIT:
        assert part in shell.out
    assert "…" not in shell.out


@pytest.mark.parametrize("columns", ["40", "80"])
def test_a_narrow_terminal_wraps_and_cuts_nothing(columns: str, shell: Shell, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setenv("COLUMNS", columns)
    for command in (("audit", TASK), ("explain", TASK), ("best", TASK, "-k", "3"), ("rank", TASK, "--value", "1100")):
        assert shell(*command, "-q") == 0
        assert "…" not in re.sub(r"^ *…( +…)*$|\S+ … \S+, looser", "", shell.out, flags=re.MULTILINE)
        if command[0] == "audit":
            assert {"792,977,780", "40,004", "$1,020.97", "$1,154.12"} <= set(shell.out.split())


def test_no_table_is_printed_past_the_one_function_that_cuts_nothing() -> None:
    for path in (Path(__file__).parent.parent / "cli").glob("*.py"):
        text = path.read_text(encoding="utf-8")
        if path.name != "tables.py":
            assert not re.search(r"print\(\w*(table|columns|lines)(\(.*\))?\)$", text, re.MULTILINE), path
