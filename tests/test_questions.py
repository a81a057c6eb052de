"""docs/questions.md holds: every command in it prints what stands below it."""

from __future__ import annotations

import re
import shlex
from pathlib import Path

import pytest
from cobench.cli import run

ROOT = Path(__file__).resolve().parent.parent
PAGE = ROOT / "docs" / "questions.md"
BLOCKS = re.findall(r"^```(console|yaml)\n(.*?)^```", PAGE.read_text(encoding="utf-8"), re.MULTILINE | re.DOTALL)


def printed(command: str, capsys: pytest.CaptureFixture[str]) -> str:
    """What a command of the page prints, without the spaces at the ends of lines that tables have."""
    program, *args = shlex.split(command)
    assert program == "cobench"
    capsys.readouterr()
    run([*args, "-q"])
    return "\n".join(line.rstrip() for line in capsys.readouterr().out.rstrip().splitlines())


def test_the_page_shows_what_the_commands_print(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch, capsys: pytest.CaptureFixture[str]
) -> None:
    monkeypatch.chdir(tmp_path)
    monkeypatch.setenv("COLUMNS", "110")
    (tmp_path / "tasks").symlink_to(ROOT / "tasks")
    for kind, text in BLOCKS:
        first, _, rest = text.partition("\n")
        if kind == "yaml":
            Path(first.removeprefix("# ")).write_text(rest, encoding="utf-8")
        else:
            assert printed(first.removeprefix("$ "), capsys) == rest.rstrip(), first
    assert {"rank", "best", "explain"} <= {text.split()[2] for kind, text in BLOCKS if kind == "console"}
