"""What an agent knows of the world before it searches for offers, and the frames that it searches in."""

from __future__ import annotations

from collections.abc import Iterator, Mapping, Sequence
from dataclasses import dataclass, field
from datetime import date, timedelta

FIRST, LAST = date(2025, 8, 1), date(2025, 8, 31)  # the days on which trips of the world begin, as the tools say
MOST_NIGHTS = 7
EPOCH = date(1970, 1, 1)


@dataclass(frozen=True, slots=True)
class Outing:
    """A frame for a trip: park and nights of the hotel, and airports and dates of the flights where there are any.

    Dates are days since 1970-01-01, as expressions have them. `permit_park` is "" without a permit.
    """

    park: str
    check_in: int
    check_out: int
    permit_park: str = ""
    origin: str = ""
    destination: str = ""
    departs_on: int = 0
    returns_on: int = 0

    @property
    def stay(self) -> tuple[str, int, int]:
        """What a search for hotels asks."""
        return self.park, self.check_in, self.check_out

    @property
    def flight(self) -> tuple[str, str, int, int]:
        """What a search for flights asks."""
        return self.origin, self.destination, self.departs_on, self.returns_on


@dataclass(frozen=True, slots=True)
class Airport:
    """An airport that serves a park, `minutes` by car from there (None: too far to say)."""

    code: str
    kind: str
    minutes: int | None


@dataclass(frozen=True, slots=True)
class Permit:
    """A permit as a search shows it; dates are days since 1970-01-01."""

    id: str
    park: str
    template: str
    kind: str
    starts_on: int
    ends_on: int
    days: int | None


@dataclass(frozen=True, slots=True)
class Known:
    """What searches need to know before: nothing is open that needs more than that.

    `origins`: the airports from which one may start. Per park: `serving`, the airports that one flies to, and
    `templates`, its permits as (name, type); None while nobody has asked, so that any park may have one.
    """

    origins: Sequence[str] = ()
    serving: Mapping[str, Sequence[Airport]] = field(default_factory=dict[str, Sequence[Airport]])
    templates: Mapping[str, Sequence[tuple[str, str]]] | None = None
    permits: Sequence[Permit] = ()


def iso(day: int) -> str:
    """A day since 1970-01-01 as tools take it."""
    return (EPOCH + timedelta(days=day)).isoformat()


def days_since(text: str) -> int:
    """The inverse of `iso`."""
    return (date.fromisoformat(text) - EPOCH).days


def spans() -> Iterator[tuple[int, int]]:
    """The first and last day of every stay that may be on offer, earliest and shortest first."""
    first, last = (FIRST - EPOCH).days, (LAST - EPOCH).days
    for start in range(first, last + 1):
        for nights in range(1, MOST_NIGHTS + 1):
            if start + nights <= last + 1:
                yield start, start + nights
