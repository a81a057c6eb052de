"""The checklist is shown by tests, and its page is what the tests say."""

from __future__ import annotations

import runpy
from pathlib import Path
from typing import Any

import pytest

DOCS = Path(__file__).parents[1] / "docs"


@pytest.fixture(scope="module")
def checklist() -> dict[str, Any]:
    return runpy.run_path(str(DOCS / "checklist.py"))


def test_every_row_is_shown_by_a_test(checklist: dict[str, Any]) -> None:
    assert checklist["missing"]() == []


def test_the_page_is_current(checklist: dict[str, Any]) -> None:
    assert (DOCS / "checklist.md").read_text(encoding="utf-8") == checklist["page"]()
