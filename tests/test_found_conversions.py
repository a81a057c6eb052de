"""What was found to be dropped in silence, or to take for ever, when other people's files are read."""

from __future__ import annotations

from pathlib import Path
from typing import Any

import pytest
from cobench.agent_runner.submissions import Submission
from cobench.schemas.errors import InputError, InputErrors, PlanError, Where
from cobench.tasks import natural_plan
from cobench.tasks.reading import read_json


def test_a_number_with_a_huge_exponent_is_refused_at_once(tmp_path: Path) -> None:
    file = tmp_path / "a.json"
    file.write_text('{"minutes": 1e999999999}', encoding="utf-8")
    with pytest.raises(InputError, match="is no plain decimal"):
        read_json(file)


def test_plans_for_tasks_that_are_not_there_are_not_passed_over(tmp_path: Path) -> None:
    (tmp_path / "trip_planning.json").write_text("{}", encoding="utf-8")
    (tmp_path / "meeting_planning_submissions.jsonl.gz").write_bytes(b"")
    with pytest.raises(InputError, match="submitted for tasks that are not there"):
        natural_plan.convert(tmp_path, tmp_path.parent / f"{tmp_path.name}-out", None)


def test_a_link_to_plans_that_leads_nowhere_is_a_fault(tmp_path: Path) -> None:
    (tmp_path / "trip_planning.json").write_text("{}", encoding="utf-8")
    (tmp_path / "trip_planning_submissions.jsonl.gz").symlink_to(tmp_path / "nowhere")
    with pytest.raises(InputError, match="cannot read the file"):
        natural_plan.convert(tmp_path, tmp_path.parent / f"{tmp_path.name}-out", None)


def test_an_answer_that_is_nested_too_deeply_is_no_plan() -> None:
    deep: Any = "x"
    for _ in range(900):
        deep = [deep]
    with pytest.raises((PlanError, InputErrors)):
        Submission(Where("s.jsonl", 1), "t", "a", {"picks": {"start": deep}}, None).parsed()
