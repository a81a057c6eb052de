"""A verdict among many: who submitted what to which task, and what came of it. A row of a file of verdicts."""

from __future__ import annotations

from fractions import Fraction
from typing import Literal

from pydantic import Field

from .verdict import Verdict, VerdictKind

MAX_NAME = 4096  # characters of the name of an agent


class Scored(Verdict):
    """A verdict, and what it is about.

    `line`: where the submission stands in its file. `status`: what the certificate says of the task. `published`: what
    others said of this submission. `submitted` and `best`: the plan that was submitted, if it was one, and the
    canonical best one, as JSON. `data_digest` is that of the certificate's `dataset`.
    """

    agent: str = Field(min_length=1, max_length=MAX_NAME)
    line: int = Field(ge=1)
    status: Literal["solvable", "unsolvable", "unknown"]
    published: str | None = None
    submitted: str | None = None
    best: str | None = None
    task_digest: str
    data_digest: str
    certificate_digest: str

    @property
    def feasible(self) -> bool:
        """Whether the plan satisfies everything that is not ignored."""
        return self.kind in (VerdictKind.OPTIMAL, VerdictKind.FEASIBLE)

    @property
    def ratio(self) -> Fraction | None:
        """The relative gap; None where it is not known, or the optimum is 0 and the gap is not."""
        if self.relative_gap is not None:
            return Fraction(self.relative_gap)
        return Fraction(0) if self.kind == VerdictKind.OPTIMAL else None
