"""What a suite of certified tasks consists of: `tasks.json` beside `tasks/` and `certificates/`."""

from __future__ import annotations

from collections.abc import Sequence
from typing import Literal

from pydantic import Field, model_validator

from .canonical import canonical_bytes
from .validation import Whole, Written

SUITE = "tasks.json"


class SuiteFile(Written):
    """The tasks of a suite by id, in order: `tasks/ID.yaml` and `certificates/ID.cert.json`.

    `sample`: some of them that stand for all in every respect that tasks are grouped by.
    """

    cobench_suite: Literal[1] = 1
    name: str
    version: str
    seed: Whole
    tasks: tuple[str, ...] = Field(min_length=1)
    sample: tuple[str, ...]

    @model_validator(mode="after")
    def _once(self) -> SuiteFile:
        twice = repeated(self.tasks) or repeated(self.sample)
        if twice is not None:
            raise ValueError(f"'{twice[:80]}' is there twice")
        known = frozenset(self.tasks)
        other = next((name for name in self.sample if name not in known), None)
        if other is not None:
            raise ValueError(f"'{other[:80]}' of the sample is none of the tasks")
        return self

    def to_bytes(self) -> bytes:
        """The file's bytes: canonical JSON."""
        return canonical_bytes(self.model_dump(mode="json"))


def repeated(names: Sequence[str]) -> str | None:
    """The first name that stands there a second time; None when each stands there once."""
    seen = set[str]()
    return next((name for name in names if name in seen or seen.add(name)), None)
