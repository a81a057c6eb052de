"""Who a simulated user is: three ways to reveal, two of trusting, two of checking, nine of speaking."""

from __future__ import annotations

from itertools import product

from ...schemas.chance import drawn
from ...schemas.episode import Persona

BANDS = {"slow": (400, 600), "medium": (600, 800), "fast": (800, 1000)}  # thousandths, both ends included
STYLES = 9
TRUSTING = 80  # percent
RELIABLE = 50  # percent


def personas() -> tuple[Persona, ...]:
    """The 108 kinds of users, each with the middle of its band as the chance that a turn reveals."""
    kinds = product(BANDS, ("trusting", "questioning"), ("reliable", "unreliable"), range(1, STYLES + 1))
    return tuple(
        Persona.model_validate(
            {
                "revelation": revelation,
                "trust": trust,
                "checking": checking,
                "style": style,
                "permille": sum(BANDS[revelation]) // 2,
            }
        )
        for revelation, trust, checking, style in kinds
    )


def persona_for(seed: int, task: str, epoch: int) -> Persona:
    """The user that every agent meets in this epoch of a task; each axis is drawn for itself."""

    def draw(below: int, axis: str) -> int:
        return drawn(below, seed, task, epoch, axis)

    revelation = tuple(BANDS)[draw(len(BANDS), "revelation")]
    low, high = BANDS[revelation]
    return Persona.model_validate(
        {
            "revelation": revelation,
            "trust": "trusting" if draw(100, "trust") < TRUSTING else "questioning",
            "checking": "reliable" if draw(100, "checking") < RELIABLE else "unreliable",
            "style": 1 + draw(STYLES, "style"),
            "permille": low + draw(high - low + 1, "permille"),
        }
    )
