"""Where a plan's rows drop out, constraint by constraint."""

from __future__ import annotations

from dataclasses import dataclass

from ...schemas.plan import Plan
from ..certify import Survivors
from ..lower import Lowered


@dataclass(frozen=True, slots=True)
class Lost:
    """Where a plan's pick drops out of its choice: the first constraint that it fails alone, None if it passes all.

    `before` and `after`: the rows of the choice that pass the constraints up to there, without and with it.
    """

    choice: str
    offer: str
    constraint: str | None
    before: int
    after: int


def where_lost(lowered: Lowered, survivors: tuple[Survivors, ...], plan: Plan) -> tuple[Lost, ...]:
    """Where each pick of a plan that is an offer drops out; `survivors` are those of the same lowering."""
    found: list[Lost] = []
    for choice, offers, counted in zip(lowered.model.choices, lowered.offers, survivors, strict=True):
        picks = plan.picks.get(choice.name, ())
        rows = offers.find([picks[0].id] if len(picks) == 1 else [])
        if not len(rows):
            continue
        passed = int(choice.satisfied[rows[0]])
        failed, before = None, counted.offers
        for number, (name, after) in enumerate(counted.together.items()):
            if not passed >> number & 1:
                failed = name
                break
            before = after
        after = before if failed is None else counted.together[failed]
        found.append(Lost(choice.name, picks[0].id, failed, before, after))
    return tuple(found)
