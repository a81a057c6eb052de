"""The 281 tasks of the suite before there is any: the level, objective, size and kind of dates of each.

Fixed once and for all, whatever the seed and the data, so that every suite has the same shape.
"""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from functools import cache
from typing import TypeVar

from ...schemas.chance import drawn
from .features import FEATURES

Value = TypeVar("Value", int, str)

WISHES = "wishes"
# How many tasks of each level have which objective: 142 + 69 + 70, with 154 metrics and 127 feature counts.
OBJECTIVES: Mapping[int, Mapping[str, int]] = {
    1: {"price": 54, "score": 8, "reviews": 8, "distance": 8, WISHES: 64},
    2: {"price": 26, "score": 3, "reviews": 3, "distance": 3, "drive": 3, WISHES: 31},
    3: {"price": 29, "score": 3, "reviews": 3, "distance": 3, WISHES: 32},
}
CONSTRAINTS: Mapping[int, Mapping[int, int]] = {
    1: {5: 8, 6: 20, 7: 46, 8: 46, 9: 16, 10: 6},
    2: {6: 10, 7: 24, 8: 24, 9: 8, 10: 3},
    3: {7: 26, 8: 30, 9: 10, 10: 4},
}
NUMBER_OF_WISHES = {6: 6, 7: 8, 8: 68, 9: 10, 10: 35}
FORMS: Mapping[int, tuple[str, ...]] = {
    1: ("weekend", "explicit", "window", "weekdays", "half", "around", "alternatives"),
    2: ("weekend", "explicit", "window", "weekdays", "half", "around", "alternatives", "flight"),
    3: ("weekend", "explicit", "window", "weekdays", "half", "around", "alternatives", "flight", "permit"),
}
LATER = (3, 4, 5, 2, 4, 6, 3, 4, 5)  # constraints told later, as far as there are so many
GUARDED = ("score", "drive")  # objectives that may be unknown, so that a constraint must force them to be known
# The same shape in small: 20, 10 and 10 tasks of 142, 69 and 70.
SAMPLE: Mapping[int, Mapping[str, int]] = {
    1: {"price": 8, "score": 1, "reviews": 1, "distance": 1, WISHES: 9},
    2: {"price": 3, "score": 1, "distance": 1, "drive": 1, WISHES: 4},
    3: {"price": 4, "reviews": 1, WISHES: 5},
}


@dataclass(frozen=True, slots=True)
class Slot:
    """What one task is to be like.

    `form`: how its dates are expressed. `constraints` of which `later` at most are told later. `kind`: the kind of one
    feature that it constrains; empty where the fundamental constraints leave no room for any.
    """

    id: str
    level: int
    objective: str
    form: str
    constraints: int
    later: int
    wishes: int
    kind: str

    @property
    def place(self) -> str:
        """What workers call it."""
        return self.id

    @property
    def features(self) -> int:
        """How many constraints are about features."""
        return self.constraints - fundamental(self.level, self.form, self.objective)


def fundamental(level: int, form: str, objective: str) -> int:
    """How many constraints every such task has: place, dates, rooms and budget; flights; permit and its days.

    Dates that follow from the permit say on which days of the stay it is; an objective may need to be known.
    """
    return {1: 4, 2: 5, 3: 7}[level] - (form == "permit") + (objective in GUARDED)


@cache
def slots() -> tuple[Slot, ...]:
    """All slots, by level."""
    counts = _spread(NUMBER_OF_WISHES, "wishes")
    found: list[Slot] = []
    for level, objectives in OBJECTIVES.items():
        drawn_objectives = _spread(objectives, "objective", level)
        sizes = _spread(CONSTRAINTS[level], "constraints", level)
        for place, (objective, size) in enumerate(zip(drawn_objectives, sizes, strict=True)):
            form = FORMS[level][place % len(FORMS[level])]
            least = fundamental(level, form, objective)
            kinds = _kinds(level, objective, own=place % 2 == 0)
            found.append(
                Slot(
                    id=f"compass-{level}-{place + 1:03d}",
                    level=level,
                    objective=objective,
                    form=form,
                    constraints=max(size, least),
                    later=LATER[len(found) % len(LATER)],
                    wishes=counts.pop() if objective == WISHES else 0,
                    kind=kinds[place // 2 % len(kinds)] if size > least else "",
                )
            )
    return tuple(found)


@cache
def sample() -> tuple[Slot, ...]:
    """Forty slots that stand for all: by level and objective in proportion, and with every form and kind."""
    chosen: set[Slot] = set()
    seen: set[str] = set()
    for level, quotas in SAMPLE.items():
        for objective, number in quotas.items():
            mine = [slot for slot in slots() if (slot.level, slot.objective) == (level, objective) and _modest(slot)]
            for _ in range(number):
                best = max((slot for slot in mine if slot not in chosen), key=lambda slot: len(_traits(slot) - seen))
                chosen.add(best)
                seen |= _traits(best)
    return tuple(slot for slot in slots() if slot in chosen)


def _modest(slot: Slot) -> bool:
    """Whether a world of a few dozen hotels has such tasks, too: few dates leave few plans for many features."""
    return slot.level > 1 or slot.features <= {"explicit": 2, "alternatives": 3}.get(slot.form, 5)


def _traits(slot: Slot) -> set[str]:
    """What a sample should not lack; of a kind, at whatever level, above all."""
    return {
        *(f"kind {slot.kind} {weight}" for weight in range(4)),
        f"form {slot.form}",
        f"{slot.level} form {slot.form}",
        f"{slot.level} constraints {slot.constraints}",
        f"wishes {slot.wishes}",
    }


def _kinds(level: int, objective: str, *, own: bool) -> list[str]:
    """The kinds of features of a level, but what the objective is about; `own`: those that level I has not."""
    about = {item.kind for item in FEATURES if item.topic == objective}
    found = [item for item in FEATURES if item.level <= level and item.kind not in about]
    return list(dict.fromkeys(item.kind for item in found if not own or level == 1 or item.level > 1))


def _spread(numbers: Mapping[Value, int], *address: int | str) -> list[Value]:
    """Each value so many times, in an order that mixes them."""
    values: Sequence[Value] = [value for value, times in numbers.items() for _ in range(times)]
    order = sorted(range(len(values)), key=lambda place: (drawn(2**32, "compass", *address, place), place))
    return [values[place] for place in order]
