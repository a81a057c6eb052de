"""The worker's end of `executor.py`."""

from __future__ import annotations

from ..workers import serve as answer_all
from .work import certifier


def serve() -> None:
    """Certifies task by task what comes from the process that started this one."""
    answer_all(lambda job: certifier(job).certify)
