"""A candidate for a slot: drawn from what the world has, its budget and wishes fitted to the plans that there are."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass, replace
from typing import Any

from ...schemas.task import TaskFile, parse_task
from ..converted import yaml_text
from .dice import Dice
from .features import FEATURES, Feature
from .fundamental import (
    Part,
    budget,
    constrained,
    dates,
    either,
    flights,
    hike,
    nights_of,
    permit,
    place,
    rooms,
)  # fmt: skip
from .objectives import Goal, goal, guard
from .plans import Data, Plans, RejectedError, tables
from .slots import WISHES, Slot
from .stories import story
from .world import World

LEAST = 20  # plans of a task
LEFT = 30  # plans that the constraints but the budget should leave at least; thrice as many for other objectives
TARGETS = (30, 45, 70, 110, 170, 260, 400, 600, 900, 1400, 2200)  # about how many plans a budget leaves
SPACES = (1, 1, 1, 2, 4)  # times as many
WIDER = 8  # times as many where plans share values
MOST_ALIKE = {"not": 1, "or": 1}  # constraints of these kinds in a task, and 2 of any other
STEP = 10  # dollars: budgets are round
PARKS = (1, 1, 1, 2, 2, 3)
MORE_PARKS = (2, 3, 3, 4)  # where the objective is about hotels, of which a park has but few
MOST_PARKS = 6
ROMAN = ("", "I", "II", "III")


@dataclass(frozen=True, slots=True)
class Candidate:
    """A task in the making. `parts` in the order of the file, of which `later` are told later."""

    slot: Slot
    guests: int
    parks: tuple[str, ...]
    parts: tuple[Part, ...]
    later: frozenset[str]
    goal: Goal
    story: str

    def content(self, dataset: str) -> dict[str, Any]:
        """What its file says."""
        return {
            "cobench": 1,
            "id": self.slot.id,
            "title": f"Level {ROMAN[self.slot.level]}: {self.goal.short}, {either(self.parks)}",
            "story": self.story,
            "dataset": dataset,
            "given": {"guests": self.guests},
            "choose": tables(self.slot.level),
            "constraints": {part.name: self._constraint(part) for part in self.parts},
            self.goal.sense: self.goal.text,
            "goal": self.goal.say,
        }

    def _constraint(self, part: Part) -> dict[str, str]:
        later = {"reveal": "later"} if part.name in self.later else {}
        return {"require": part.require, **later, "say": part.say}

    def file(self, dataset: str) -> TaskFile:
        """The task, as if read from its file."""
        return parse_task(yaml_text(self.content(dataset)), f"tasks/{self.slot.id}.yaml")

    def plans(self, data: Data, without: str = "") -> Plans:
        """Its plans, or those that satisfy all but one of its constraints."""
        parts = [part for part in self.parts if part.name != without]
        return Plans.of(data, self.slot.level, self.guests, {part.name: part.require for part in parts})


def draft(slot: Slot, dice: Dice, world: World, data: Data) -> Candidate:
    """The candidate of an attempt; raises RejectedError where nothing fits together."""
    sketch = _sketch(slot, dice, world, data)
    features, plans = _features(slot, dice, sketch)
    fitted = _budget(slot, dice, plans)
    rest = dice.order([*sketch.rest, *(constrained(item, dice) for item in features), fitted], "order")
    later = rest[max(0, len(rest) - slot.later) :]
    parts = (*sketch.known, *(part for part in rest if part not in later), *later)
    start = Candidate(
        slot, plans.guests, sketch.parks, parts, frozenset(part.name for part in later),
        goal("price", slot.level, (), dice), story(plans.guests, slot.level, dice),
    )  # fmt: skip
    wishes: Sequence[Feature] = ()
    if slot.objective == WISHES:
        wishes = _wishes(slot, dice, start.plans(data), {item.topic for item in features})
    return replace(start, goal=goal(slot.objective, slot.level, wishes, dice))


@dataclass(frozen=True, slots=True)
class _Sketch:
    """The fundamental constraints but the budget, those told at the start and the rest, and all plans."""

    parks: tuple[str, ...]
    known: tuple[Part, ...]
    rest: tuple[Part, ...]
    plans: Plans


def _sketch(slot: Slot, dice: Dice, world: World, data: Data) -> _Sketch:
    """As few parks as leave enough plans, or as many as a list may have."""
    guests = dice.pick((1, 2, 2, 3, 3, 4, 4, 5, 6), "guests")
    about_hotel = slot.objective in ("score", "reviews", "distance")
    number = dice.pick(MORE_PARKS if about_hotel else PARKS, "number of parks")
    most = min(MOST_PARKS, len(world.parks) - 1)
    order = dice.order(world.parks, "parks")
    rest = (rooms(guests, dice), *((hike(dice),) if slot.level == 3 and slot.form != "permit" else ()))
    # For so many features: sometimes few, so that one park will do, sometimes as if each took a third of the plans.
    times = dice.pick(((2 + slot.features) // 2, 3**slot.features // 2**slot.features), "times")
    enough = _enough(slot) * times
    found: _Sketch | None = None
    for size in range(min(number, most), most + 1):
        parks = tuple(sorted(order[:size]))
        known = _known(slot, dice, parks, world)
        if known is None:
            break
        require = {part.name: part.require for part in (*known, *rest)}
        found = _Sketch(parks, known, rest, Plans.of(data, slot.level, guests, require))
        if found.plans.count() >= enough:
            return found
    if found is None:
        raise RejectedError("no airport or permit in common")
    return found


def _enough(slot: Slot) -> int:
    """How many plans the constraints but the budget should leave."""
    return LEFT if slot.objective == "price" or slot.form == "explicit" else 3 * LEFT


def _known(slot: Slot, dice: Dice, parks: tuple[str, ...], world: World) -> tuple[Part, ...] | None:
    """What is told at the start; None where the parks have no airport of departure, or no permit, in common."""
    parts: list[Part | None] = [place(parks, slot.level, dice), dates(slot.form, slot.level, dice)]
    if slot.level >= 2:
        origins = world.from_all(parks)
        if not origins:
            return None
        several = dice.below(4, "several origins") == 0
        parts.append(flights(dice.order(origins, "origins")[: 1 + several], dice))
    if slot.level == 3:
        longest = 5 if slot.form == "permit" else nights_of(slot.form, slot.level, dice) - 1
        parts.append(permit(parks, world, dice, longest))
        if parts[-1] is None:
            return None
    return tuple(part for part in (*parts, guard(slot.objective, dice)) if part is not None)


def _features(slot: Slot, dice: Dice, sketch: _Sketch) -> tuple[list[Feature], Plans]:
    """What is constrained: the first of the slot's kind, no two about the same thing, and each so that some plans go
    but not too many, so that all of them together leave enough. And the plans that are left.
    """
    plans, enough = sketch.plans, _enough(slot) * dice.pick(SPACES, "space")
    number = plans.count()
    if number < enough:
        raise RejectedError("no plan" if number == 0 else "too few plans")
    taken = {slot.objective, *(("bed",) if any("bed_type" in part.require for part in sketch.rest) else ())}
    found: list[Feature] = []
    for item in _ordered(slot, dice):
        left = slot.features - len(found)
        if left == 0 or (not found and item.kind != slot.kind):
            break
        if item.topic in taken or sum(item.kind == other.kind for other in found) == MOST_ALIKE.get(item.kind, 2):
            continue
        fewer = plans.with_(item)
        after = fewer.count()
        # As if each of those left took an equal share of the plans, or somewhat more; the first may take twice that.
        more, than = (2, 1) if not found else (5, 4)
        if enough <= after < number and (more * after) ** left >= than**left * enough * number ** (left - 1):
            found.append(item)
            taken.add(item.topic)
            plans, number = fewer, after
    if len(found) < slot.features:
        raise RejectedError("too few constraints that leave enough plans")
    return found, plans


def _ordered(slot: Slot, dice: Dice) -> list[Feature]:
    """All features in some order, those of the slot's kind first."""
    options = dice.order([item for item in FEATURES if item.level <= slot.level], "features")
    return sorted(options, key=lambda item: item.kind != slot.kind)


def _budget(slot: Slot, dice: Dice, plans: Plans) -> Part:
    """The budget that leaves about as many plans as was drawn: the price of one of them, rounded up."""
    target = dice.pick(TARGETS, "plans") * (1 if slot.objective == "price" else WIDER)
    cents = plans.cost_at(min(target, plans.count() * 9 // 10))
    return budget(slot.level, -(-cents // (100 * STEP)) * STEP, dice)


def _wishes(slot: Slot, dice: Dice, plans: Plans, constrained: set[str]) -> list[Feature]:
    """Wishes in a drawn order, passing over what no plan or every plan would meet."""
    every = plans.count()
    taken = set(constrained)
    found: list[Feature] = []
    options = dice.order([item for item in FEATURES if item.wish and item.level <= slot.level], "wishes")
    if slot.level > 1:  # half of them not about the hotel, as far as there are so many
        other = [item for item in options if item.level > 1][: slot.wishes // 2]
        options = [*other, *(item for item in options if item not in other)]
    for item in options:
        if len(found) < slot.wishes and item.topic not in taken and 0 < plans.with_(item).count() < every:
            found.append(item)
            taken.add(item.topic)
    if len(found) < slot.wishes:
        raise RejectedError("too few wishes that tell plans apart")
    return dice.order(found, "order of wishes")
