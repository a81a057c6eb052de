"""As weak agents search: two dates, and a hotel whose nights are not those of the flights."""

from __future__ import annotations

from datetime import date

from .agent import Baseline
from .frames import Outing, days_since
from .picking import Picker, Picks

DAYS = (date(2025, 8, 5), date(2025, 8, 12))
NIGHTS = 3


class Weak(Baseline):
    """Tries 5 and 12 August only, flies a day late, takes what is shown first, and validates nothing."""

    validates = False

    def plan(self, picker: Picker) -> Picks | None:
        """The first offers on the first of two dates that has any."""
        windows = self.search.windows(picker.problem, 1)
        for day in (days_since(day.isoformat()) for day in DAYS):
            for park, permit_park, origin, destination in windows.places()[:1]:
                late = (day + 1, day + 1 + NIGHTS) if origin else (0, 0)
                outing = Outing(park, day, day + NIGHTS, permit_park, origin, destination, *late)
                found = {"stays": self.search.stays(*outing.stay)}
                if origin:
                    found["round_trips"] = self.search.flights(*outing.flight)
                if permit_park:
                    found["permits"] = tuple(permit.id for permit in windows.allowed(permit_park))
                if all(found.values()):
                    return {windows.choice[table]: offers[0] for table, offers in found.items()}
        return None
