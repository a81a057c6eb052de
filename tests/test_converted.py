"""A folder of converted tasks: what is written as YAML and Parquet is read back as the same."""

from __future__ import annotations

from pathlib import Path
from typing import Any

import pytest
from cobench.datasets.opening import open_dataset
from cobench.schemas.errors import InputError
from cobench.schemas.source import parse_source
from cobench.tasks.converted import Draft, yaml_text
from hypothesis import given
from hypothesis import strategies as st

WORDS = st.sampled_from(
    ["true", "null", "~", "-5", "0x1", "a: b", "a #b", "x != 'y'", 'n == "z"', "../data/a", "{a}", ""]
)
TEXT = WORDS | st.text(st.characters(exclude_categories=["Cs", "Cc", "Zl", "Zp", "Cn"]), max_size=90)
SCALAR = TEXT | st.integers(-(10**30), 10**30) | st.booleans() | st.none()
KEY = st.from_regex(r"[a-z][a-z0-9_]{0,8}", fullmatch=True)
DATA = st.recursive(
    SCALAR | st.lists(SCALAR, max_size=4), lambda inner: st.dictionaries(KEY, inner, max_size=4), max_leaves=12
)


@given(st.dictionaries(KEY, DATA, min_size=1, max_size=4))
def test_yaml_says_what_it_was_given(data: dict[str, Any]) -> None:
    assert parse_source(yaml_text(data), "made").data == data


MANIFEST = {
    "cobench_dataset": 1,
    "name": "made",
    "tables": {
        "things": {
            "key": ["name", "day"],
            "id": "{name}_{day}",
            "columns": {"day": {"type": "date"}, "name": {"type": "string"}, "at": {"type": "time", "nullable": True}},
        }
    },
}


def test_rows_are_sorted_by_key_and_keep_their_values(tmp_path: Path) -> None:
    rows = [(2, "b", None), (1, "é", 5), (1, "b", 1439)]
    Draft(tmp_path).dataset("made", MANIFEST, {"things": rows})
    made = open_dataset(str(tmp_path / "data" / "made"))
    things = made.table(made.manifest.bind({}), "things")
    read = [tuple(things.columns[name].value(row) for name in ("day", "name", "at")) for row in range(things.rows)]
    assert read == [(1, "b", 1439), (2, "b", None), (1, "é", 5)]


@pytest.mark.parametrize("value", [2**63, True, "5", 1.5])
def test_what_does_not_fit_its_column_is_refused(tmp_path: Path, value: Any) -> None:
    with pytest.raises(InputError, match="does not fit the column 'at'"):
        Draft(tmp_path).dataset("made", MANIFEST, {"things": [(1, "b", value)]})
