"""A verdict on a submission: one of a closed set of outcomes, with exact amounts, rank and gap. Never NaN."""

from __future__ import annotations

import re
from enum import StrEnum
from fractions import Fraction

from pydantic import field_validator, model_validator

from .canonical import narrow
from .certificate import Integer
from .validation import Written

_RATIO = re.compile(r"(0|[1-9][0-9]{0,199})(?:/([1-9][0-9]{0,199}))?")


class VerdictKind(StrEnum):
    """What a submission turned out to be."""

    OPTIMAL = "optimal"  # feasible, and no plan has a better value
    FEASIBLE = "feasible"  # satisfies every constraint
    VIOLATES = "violates"  # breaks at least one constraint
    UNKNOWN_OFFER = "unknown offer"  # an id that is no offer of this task, or picks that are not one per choice
    UNPARSABLE = "unparsable"  # not a plan at all
    NO_ANSWER = "no answer"  # nothing was submitted
    CORRECT_REFUSAL = "correct refusal"  # says that there is no plan, and there is none
    WRONG_REFUSAL = "wrong refusal"  # says that there is no plan, but there is one
    UNDECIDED = "undecided"  # says that there is no plan, and the certificate does not know


# What a plan may do wrong with a set or route as a whole; such a violation is named `choice.clause`.
SET_CLAUSES = ("number", "twice")
ROUTE_CLAUSES = (
    *SET_CLAUSES, "travel", "opens", "closes", "lasts", "wait", "start", "end", "first", "last", "times",
)  # fmt: skip


class Violation(Written):
    """A broken constraint. `amount / scale` in `unit` is by how much a threshold is missed, None if it is none."""

    constraint: str
    detail: str
    amount: Integer | None = None
    unit: str = ""
    scale: int = 1


class Standing(Written):
    """Where a value stands among all feasible plans: better + tied + worse = total; itself counts as tied."""

    better: Integer
    tied: Integer
    worse: Integer
    total: Integer


class Verdict(Written):
    """The outcome for one task. `gap` is the distance to the optimum, `relative_gap` the same over |optimum| as p/q.

    `ignored`: names among the violations that whoever asked did not want to count. A plan that breaks nothing else is
    called feasible, but it is none of the plans that the certificate speaks of: no optimum, gap or standing then.
    """

    task: str
    kind: VerdictKind
    reason: str = ""
    value: Integer | None = None
    optimum: Integer | None = None
    gap: Integer | None = None
    relative_gap: str | None = None
    unit: str = ""
    scale: int = 1
    violations: tuple[Violation, ...] = ()
    ignored: tuple[str, ...] = ()
    standing: Standing | None = None

    @field_validator("relative_gap")
    @classmethod
    def _is_ratio(cls, text: str | None) -> str | None:
        if text is not None and (not _RATIO.fullmatch(text) or str(Fraction(text)) != text):
            raise ValueError("this is no fraction p/q in lowest terms")
        return text

    @model_validator(mode="after")
    def _fits(self) -> Verdict:
        if self.standing is not None:
            numbers = [narrow(getattr(self.standing, name)) for name in ("better", "tied", "worse", "total")]
            if min(numbers) < 0 or not numbers[1] or sum(numbers[:3]) != numbers[3]:
                raise ValueError("better, tied and worse do not add up to the total")
        if self.gap is not None and narrow(self.gap) < 0:
            raise ValueError("a gap is not negative")
        if any(found.scale < 1 for found in (self, *self.violations)):
            raise ValueError("a scale is at least 1")
        return self
