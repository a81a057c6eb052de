"""A candidate for a slot: drawn from what the world has, its budget and wishes fitted to the plans that there are."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass, replace
from typing import Any

from ...datasets.opening import Dataset
from ...schemas.problem import pose
from ...schemas.task import TaskFile, parse_task
from ...solver import scan
from ...solver.lowering.narrow import feasible
from ...solver.model import Model
from ...solver.outcome import Limits
from ..converted import yaml_text
from .dice import Dice
from .features import FEATURES, Feature
from .fundamental import (
    COSTS, Part, budget, constrained, dates, either, flights, hike, nights_of, permit, place, rooms,
)  # fmt: skip
from .objectives import Goal, goal, guard
from .slots import WISHES, Slot
from .stories import story
from .world import World

TABLES = {"hotel": "stays", "flight": "round_trips", "permit": "permits"}
WORK = 100_000_000  # elementary steps of one question about a candidate
LEAST = 20  # plans of a task
TARGETS = (30, 45, 70, 110, 170, 260, 400, 600, 900, 1400, 2200)  # about how many plans a budget leaves
WIDER = 8  # times as many where plans share values
LEFT = 45  # plans that the constraints but the budget should leave at least
MOST_PARKS = 5
STEP = 10  # dollars: budgets are round
PARKS = (1, 1, 1, 2, 2, 3)
MORE_PARKS = (2, 3, 3, 4)  # where the objective is about hotels, of which a park has but few
ROMAN = ("", "I", "II", "III")


class RejectedError(Exception):
    """Why a candidate is not let in."""


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
            "title": f"Level {ROMAN[self.slot.level]}: {self.goal.short} at {either(self.parks)}",
            "story": self.story,
            "dataset": dataset,
            "given": {"guests": self.guests},
            "choose": dict(list(TABLES.items())[: self.slot.level]),
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


def draft(slot: Slot, dice: Dice, world: World, data: Dataset) -> Candidate:
    """The candidate of an attempt; raises RejectedError where nothing fits together."""
    guests = dice.pick((1, 2, 2, 3, 3, 4, 4, 5, 6), "guests")
    sketch = _sketch(slot, dice, guests, world, data)
    wanted = _features(slot, dice, sketch, data)
    rest = [*sketch.rest, *(constrained(item, dice) for item in wanted)]
    fitted = _budget(slot, dice, guests, [*sketch.known, *rest], data)
    rest = dice.order([*rest, fitted], "order")
    later = rest[max(0, len(rest) - slot.later) :]
    parts = (*sketch.known, *(part for part in rest if part not in later), *later)
    start = Candidate(
        slot, guests, sketch.parks, parts, frozenset(part.name for part in later),
        goal("price", slot.level, (), dice), story(guests, slot.level, dice),
    )  # fmt: skip
    wishes = _wishes(start, wanted, dice, data) if slot.objective == WISHES else ()
    return replace(start, goal=goal(slot.objective, slot.level, wishes, dice))


@dataclass(frozen=True, slots=True)
class _Sketch:
    """The fundamental constraints but the budget: those told at the start, the rest, and how many plans there are."""

    guests: int
    parks: tuple[str, ...]
    known: tuple[Part, ...]
    rest: tuple[Part, ...]
    plans: int


def _sketch(slot: Slot, dice: Dice, guests: int, world: World, data: Dataset) -> _Sketch:
    """As few parks as leave enough plans, or as many as a list may have."""
    about_hotel = slot.objective in ("score", "reviews", "distance")
    number = dice.pick(MORE_PARKS if about_hotel else PARKS, "number of parks")
    most = min(MOST_PARKS, len(world.parks) - 1)
    order = dice.order(world.parks, "parks")
    enough = _goal(slot) * 3**slot.features // 2**slot.features
    found: _Sketch | None = None
    for size in range(min(number, most), most + 1):
        parks = tuple(sorted(order[:size]))
        known = _known(slot, dice, parks, world)
        if known is None:
            break
        rest = (rooms(guests, dice), *((hike(dice),) if slot.level == 3 and slot.form != "permit" else ()))
        found = _Sketch(guests, parks, known, rest, _count(slot, guests, (*known, *rest), data))
        if found.plans >= enough:
            break
    if found is None:
        raise RejectedError("no airport or permit in common")
    if found.plans < _goal(slot):
        raise RejectedError("too few plans to begin with")
    return found


def _goal(slot: Slot) -> int:
    """How many plans the constraints but the budget should leave."""
    return LEFT if slot.objective == "price" else LEFT * WIDER // 2


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


def _features(slot: Slot, dice: Dice, sketch: _Sketch, data: Dataset) -> list[Feature]:
    """What is constrained: the first of the slot's kind, no two about the same thing, and each so that some plans go
    but not too many, so that all of them together leave enough.
    """
    options = dice.order([item for item in FEATURES if item.level <= slot.level], "features")
    options.sort(key=lambda item: item.kind != slot.kind)
    parts = [*sketch.known, *sketch.rest]
    taken = {slot.objective, *(("bed",) if any("bed_type" in part.require for part in parts) else ())}
    found: list[Feature] = []
    plans, enough = sketch.plans, _goal(slot)
    for item in options:
        left = slot.features - len(found)
        if left == 0:
            return found
        if not found and item.kind != slot.kind:
            break
        if item.topic in taken or sum(item.kind == other.kind for other in found) == 2:
            continue
        part = constrained(item, dice)
        after = _count(slot, sketch.guests, (*parts, part), data)
        # As if each of those left took an equal share of the plans, or somewhat more.
        if enough <= after < plans and (5 * after) ** left >= enough * 3**left * plans ** (left - 1):
            found.append(item)
            parts.append(part)
            taken.add(item.topic)
            plans = after
    if len(found) == slot.features:
        return found
    raise RejectedError("too few constraints that leave enough plans")


def costs(slot: Slot, guests: int, parts: Sequence[Part], data: Dataset) -> Model:
    """The feasible plans of some constraints, with what they cost as the objective."""
    content = {
        "cobench": 1, "id": slot.id, "dataset": "parks", "given": {"guests": guests},
        "choose": dict(list(TABLES.items())[: slot.level]),
        "constraints": {part.name: part.require for part in parts}, "minimize": COSTS[slot.level],
    }  # fmt: skip
    return feasible(pose(parse_task(yaml_text(content)), data.manifest), data).model


def _budget(slot: Slot, dice: Dice, guests: int, parts: Sequence[Part], data: Dataset) -> Part:
    """The budget that leaves about as many plans as was drawn: it is a price in order, rounded up."""
    model = costs(slot, guests, parts, data)
    plans = scan.count(model, Limits(work=WORK))
    if plans is None:
        raise RejectedError("too much work")
    if plans < LEAST:
        raise RejectedError("no plan" if plans == 0 else "too few plans")
    target = dice.pick(TARGETS, "plans") * (1 if slot.objective == "price" else WIDER)
    cents = scan.value_at(model, min(target, plans * 9 // 10), Limits(work=WORK))
    if cents is None:
        raise RejectedError("too much work")
    dollars = -(-cents // (100 * STEP)) * STEP
    return budget(slot.level, dollars, dice)


def _wishes(start: Candidate, chosen: Sequence[Feature], dice: Dice, data: Dataset) -> list[Feature]:
    """Wishes in a drawn order, passing over what no plan or every plan would meet."""
    slot = start.slot
    every = _count(slot, start.guests, start.parts, data)
    taken = {feature.topic for feature in chosen}
    found: list[Feature] = []
    options = dice.order([item for item in FEATURES if item.wish and item.level <= slot.level], "wishes")
    if slot.level > 1:  # about as many of the flights as of the hotel
        own = [item for item in options if item.level > 1]
        options = [*own[: slot.wishes // 2], *(item for item in options if item not in own[: slot.wishes // 2])]
    for item in options:
        if len(found) < slot.wishes and item.topic not in taken:
            met = _count(slot, start.guests, (*start.parts, Part(item.name, (), item.require, "")), data)
            if 0 < met < every:
                found.append(item)
                taken.add(item.topic)
    if len(found) < slot.wishes:
        raise RejectedError("too few wishes that tell plans apart")
    return dice.order(found, "order of wishes")


def _count(slot: Slot, guests: int, parts: Sequence[Part], data: Dataset) -> int:
    found = scan.count(costs(slot, guests, parts, data), Limits(work=WORK))
    if found is None:
        raise RejectedError("too much work")
    return found
