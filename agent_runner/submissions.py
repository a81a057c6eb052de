"""Files of submissions: what many agents answered to many tasks, one answer a line."""

from __future__ import annotations

import json
from dataclasses import dataclass
from pathlib import Path
from typing import Any

from ..schemas.errors import InputError, PlanError, Where, did_you_mean
from ..schemas.lines import json_lines
from ..schemas.plan import Plan, Refusal, parse_plan, read_plan
from ..schemas.scored import MAX_NAME
from ..schemas.source import MAX_BYTES, json_source

NAME = "answer"  # what reasons call an answer, wherever its file is
_KEYS = ("task", "agent", "answer", "published")


@dataclass(frozen=True, slots=True)
class Submission:
    """What an agent answered to a task: a plan or refusal as plain data, the text that it wrote, or nothing (None).

    `where` it stands. `published`: what others said of it, carried along.
    """

    where: Where
    task: str
    agent: str
    answer: Any
    published: str | None

    def parsed(self) -> Plan | Refusal | None:
        """The answer read as a plan; PlanError (or InputErrors) when it is none, None when there is no answer."""
        if self.answer is None:
            return None
        text = self.answer if isinstance(self.answer, str) else json.dumps(self.answer, ensure_ascii=False)
        if len(text) > MAX_BYTES:
            raise PlanError("the submission is larger than 1 MiB")
        if isinstance(self.answer, str):
            return parse_plan(text, NAME)
        if not isinstance(self.answer, dict):
            raise PlanError("the answer is neither a plan, nor a refusal, nor text")
        try:
            return read_plan(json_source(text, NAME, 1, PlanError))
        except RecursionError:
            raise PlanError("the answer is nested too deeply") from None


def read_submissions(path: Path) -> list[Submission]:
    """The submissions in a file, in its order; a task and an agent may be there several times.

    Each line is `{"task": id, "agent": name, "answer": plan, refusal, text or null}`, with `"published"` if others
    judged it. Raises InputError with file and line for a line that is none, and for a file without any.
    """
    found = [_submission(where, value) for where, value in json_lines(path, "a submission")]
    if not found:
        raise InputError("this file holds no submissions", where=Where(str(path)))
    return found


def _submission(where: Where, value: dict[str, Any]) -> Submission:
    for key in value:
        if key not in _KEYS:
            raise InputError(f"unknown key '{key[:80]}'", where=where, hint=did_you_mean(key[:80], _KEYS, "keys"))
    for key in _KEYS[:3]:
        if key not in value:
            hint = "null says that there was none" if key == "answer" else ""
            raise InputError(f"'{key}' is missing", where=where, hint=hint)
    for key in ("task", "agent"):
        if not isinstance(value[key], str) or not 0 < len(value[key]) <= MAX_NAME:
            raise InputError(f"'{key}' is text of 1 to {MAX_NAME:,} characters", where=where)
    if not isinstance(published := value.get("published"), str | None):
        raise InputError("'published' is text", where=where)
    return Submission(where, value["task"], value["agent"], value["answer"], published)
