"""What all baselines do alike: search when they are told something new, validate, recommend, and keep what stands."""

from __future__ import annotations

import json
from abc import ABC, abstractmethod
from collections.abc import Iterable, Iterator, Sequence
from itertools import zip_longest
from typing import TypeVar

from ...schemas.chance import drawn
from ..episode import View
from .frames import FIRST, LAST, Outing, days_since
from .picking import Picker, Picks
from .search import Search

Item = TypeVar("Item")
_VALIDATORS = {"stays": "recommend_hotel", "round_trips": "recommend_flight", "permits": "recommend_permit"}


class Baseline(ABC):
    """An agent without a model. `address` is where its chance is drawn from."""

    validates = True

    def __init__(self, address: Sequence[int | str]) -> None:
        self.address = tuple(address)
        self.search = Search()
        self._told: tuple[str, ...] | None = None
        self._standing: Picks | None = None

    def reply(self, view: View) -> str:
        """The reply to a message: what is best now if that was new, else what stood before."""
        self.search.attend(view)
        if view.revealed != self._told:
            self._told = view.revealed
            self._stand(view, self.plan(Picker(view.problem, view.dataset, self.search)))
        return reply_text(self._standing)

    @abstractmethod
    def plan(self, picker: Picker) -> Picks | None:
        """The plan to recommend now; None to stay with what stands."""

    def _stand(self, view: View, picks: Picks | None) -> None:
        if picks is None or picks == self._standing:
            return
        if self.validates:
            for choice, offer in picks.items():
                table = view.problem.world.tables[view.problem.choices[choice]].base
                view.call(_VALIDATORS[table], ids=[offer], reasoning="It fits what you told me.")
        self._standing = picks


def reply_text(picks: Picks | None) -> str:
    """A reply in the agreed form."""
    if picks is None:
        return json.dumps({"message": "I have found nothing that fits yet.", "recommendation": None})
    ids = {f"{choice}_id": offer for choice, offer in picks.items()}
    return json.dumps({"message": "This is the best that I have found.", "recommendation": ids})


def shuffled(items: Iterable[Item], *address: int | str) -> list[Item]:
    """The items in an order by chance; each has its place by what it is, so that others do not move it."""
    return sorted(items, key=lambda item: (drawn(2**32, *address, repr(item)), repr(item)))


def third(day: int) -> int:
    """0, 1 or 2: early, in the middle or late in the month."""
    first, last = days_since(FIRST.isoformat()), days_since(LAST.isoformat())
    return min(2, (day - first) * 3 // (last - first + 1))


def spread(outings: Iterable[Outing]) -> Iterator[Outing]:
    """The frames in turns from each park and each third of the month, within these in the order given."""
    found: dict[tuple[int, str], list[Outing]] = {}
    for outing in outings:
        found.setdefault((third(outing.check_in), outing.park), []).append(outing)
    for row in zip_longest(*(found[key] for key in sorted(found))):
        yield from (outing for outing in row if outing is not None)
