"""One slot after the other from its first attempt to the task that is let in, in a worker process."""

from __future__ import annotations

from collections import Counter
from collections.abc import Mapping
from dataclasses import dataclass, field

from ...datasets.opening import open_dataset
from ...schemas.errors import CobenchError
from ...solver.checker.opened import Opened
from ..converted import yaml_text
from .accepting import Facts, certified, judge
from .dice import Dice
from .drafting import draft
from .plans import Data, RejectedError
from .slots import Slot
from .world import world_of

MOST_ATTEMPTS = 2_000
NONE = Facts(0, 0, 0)


@dataclass(frozen=True, slots=True)
class Built:
    """What became of a slot: its task and certificate as bytes, and how many candidates were turned away for what.

    `kinds` of its constraints, and how many of them are told later. `fault`: why there is no task, else empty.
    """

    slot: Slot
    task: bytes = b""
    certificate: bytes = b""
    facts: Facts = NONE
    kinds: tuple[str, ...] = ()
    later: int = 0
    rejected: Mapping[str, int] = field(default_factory=dict[str, int])
    fault: str = ""


@dataclass(frozen=True, slots=True)
class Work:
    """What a worker has to know: the seed, the data to draw from, and how tasks name it."""

    seed: int
    data: str
    dataset: str


class Builder:
    """Builds slots; tables stay open from one to the next."""

    def __init__(self, work: Work) -> None:
        self._work = work
        self._data = Data(open_dataset(work.data))
        self._world = world_of(self._data.dataset)
        self._opened = Opened()

    def build(self, slot: Slot) -> Built:
        """The first candidate that is let in: the same whatever was built before."""
        rejected: Counter[str] = Counter()
        try:
            for attempt in range(1, MOST_ATTEMPTS + 1):
                try:
                    return self._attempt(slot, Dice(self._work.seed, slot.id, attempt), rejected)
                except RejectedError as reason:
                    rejected[str(reason)] += 1
        except CobenchError as fault:
            return Built(slot, rejected=rejected, fault=str(fault))
        return Built(slot, rejected=rejected, fault=f"no task in {MOST_ATTEMPTS} attempts")

    def _attempt(self, slot: Slot, dice: Dice, rejected: Counter[str]) -> Built:
        candidate = draft(slot, dice, self._world, self._data)
        file = candidate.file(self._work.dataset)
        facts = judge(candidate, file, self._data)
        certificate = certified(file, self._data.dataset, self._opened)
        return Built(
            slot=slot,
            task=yaml_text(candidate.content(self._work.dataset)).encode(),
            certificate=certificate.to_bytes(),
            facts=facts,
            kinds=tuple(kind for part in candidate.parts for kind in part.kinds),
            later=len(candidate.later),
            rejected=dict(rejected),
        )
