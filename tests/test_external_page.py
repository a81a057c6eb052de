"""docs/external.md and the README's table say what the committed results say."""

from __future__ import annotations

import importlib.util
import sys
from pathlib import Path
from types import ModuleType

import pytest

ROOT = Path(__file__).resolve().parent.parent
SCRIPT = ROOT / "benchmarks" / "external" / "page.py"


@pytest.fixture(scope="module")
def pages() -> ModuleType:
    pytest.importorskip("altair")
    pytest.importorskip("vl_convert")
    spec = importlib.util.spec_from_file_location("external_page", SCRIPT)
    assert spec is not None
    assert spec.loader is not None
    module = importlib.util.module_from_spec(spec)
    before = list(sys.path)
    spec.loader.exec_module(module)
    sys.path[:] = before
    return module


def test_the_page_is_what_its_script_makes_of_the_results(pages: ModuleType) -> None:
    assert (ROOT / "docs" / "external.md").read_text(encoding="utf-8") == pages.page(pages.committed())


def test_the_table_of_the_readme_is_that_of_the_page(pages: ModuleType) -> None:
    text = (ROOT / "README.md").read_text(encoding="utf-8")
    assert pages.in_readme(text, pages.committed()) == text
