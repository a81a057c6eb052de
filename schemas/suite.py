"""What a suite of certified tasks consists of: `tasks.json` beside `tasks/` and `certificates/`."""

from __future__ import annotations

from typing import Literal

from .canonical import canonical_bytes
from .validation import Written

SUITE = "tasks.json"


class SuiteFile(Written):
    """The tasks of a suite by id, in order: `tasks/ID.yaml` and `certificates/ID.cert.json`.

    `sample`: some of them that stand for all in every respect that tasks are grouped by.
    """

    cobench_suite: Literal[1] = 1
    name: str
    version: str
    seed: int
    tasks: tuple[str, ...]
    sample: tuple[str, ...]

    def to_bytes(self) -> bytes:
        """The file's bytes: canonical JSON."""
        return canonical_bytes(self.model_dump(mode="json"))
