"""The constraints that every task has: where, when, in which rooms, from where, with which permit, at what price."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass

from .dice import Dice
from .features import Feature
from .world import World

LAST = 31  # of August 2025, in which the whole world lies
COSTS = {
    1: "hotel.total_price",
    2: "hotel.total_price + flight.total_price",
    3: "hotel.total_price + flight.total_price + permit.total_price",
}
SCOPES = {1: "the hotel", 2: "hotel and flights together", 3: "hotel, flights and permit together"}
_DAYS = {"mon": "Monday", "tue": "Tuesday", "wed": "Wednesday", "thu": "Thursday", "fri": "Friday"}
_PERMITS = {"day_hikes": "a day hike", "guided_tours": "a guided tour", "backpacking": "a backpacking trip"}


@dataclass(frozen=True, slots=True)
class Part:
    """A constraint: its name, of which kinds it is, the condition, and the words that say exactly that."""

    name: str
    kinds: tuple[str, ...]
    require: str
    say: str


@dataclass(frozen=True, slots=True)
class Nights:
    """One number of nights, or two to choose from."""

    least: int
    most: int

    @property
    def require(self) -> str:
        """As a condition on the hotel."""
        if self.least == self.most:
            return f"hotel.nights == {self.least}"
        return f"hotel.nights in [{self.least}, {self.most}]"

    def __str__(self) -> str:
        return f"{self.least} nights" if self.least == self.most else f"{self.least} or {self.most} nights"


def either(items: Sequence[str]) -> str:
    """`a`, `a or b`, `a, b or c`."""
    return items[0] if len(items) == 1 else f"{', '.join(items[:-1])} or {items[-1]}"


def listed(items: Sequence[str]) -> str:
    """As a list in an expression."""
    return "[" + ", ".join(f'"{item}"' for item in items) + "]"


def _day(number: int) -> str:
    return f"2025-08-{number:02d}"


def place(parks: tuple[str, ...], level: int, dice: Dice) -> Part:
    """Where it goes."""
    require = f'hotel.park == "{parks[0]}"' if len(parks) == 1 else f"hotel.park in {listed(parks)}"
    it = either(parks)
    if level == 3:
        require += " and permit.permit_park == hotel.park"
        says = (
            "The trip goes to {it}; the hotel and the permit are for the same park.",
            "The destination is {it}, with hotel and permit at the same park.",
        )
    elif len(parks) == 1:
        says = ("The trip goes to {it}.", "The destination is {it}.", "The hotel has to be at {it}.")
    else:
        says = ("The trip goes to {it}.", "The destination can be {it}.", "The hotel has to be at {it}.")
    kinds = ("location", *(("location list",) if len(parks) > 1 else ()))
    return Part("location", kinds, require, dice.pick(says, "say location").format(it=it))


def dates(form: str, level: int, dice: Dice) -> Part:
    """When it is, in one of the forms that dates are told in."""
    nights = _nights(dice, level)
    require, say = _dated(form, nights, dice)
    return Part("dates", (f"dates: {form}",), require, say)


def nights_of(form: str, level: int, dice: Dice) -> int:
    """The least number of nights of the dates that `dates` gives."""
    least = _nights(dice, level).least
    return {"weekend": 2, "weekdays": min(least, 4)}.get(form, least)


def _nights(dice: Dice, level: int) -> Nights:
    least = dice.pick((2, 2, 3, 3, 4, 5) if level == 1 else (2, 3, 3, 4, 4, 5), "nights")
    return Nights(least, least + (dice.below(5, "more nights") == 0))


def _dated(form: str, nights: Nights, dice: Dice) -> tuple[str, str]:
    """The condition and the words."""
    if form == "weekend":
        say = dice.pick(
            (
                "Any weekend in August 2025 will do, from Friday to Sunday.",
                "It can be any weekend in August 2025: check-in on a Friday, 2 nights, check-out on the Sunday.",
            ),
            "say dates",
        )
        return 'weekday(hotel.check_in) == "fri" and hotel.nights == 2', say
    if form == "flight":
        day = dice.pick(tuple(_DAYS), "day")
        say = dice.pick(
            (
                "The outbound flight is on a {day} in August 2025 and the return flight {n} nights later.",
                "The flights fix the dates: out on a {day} in August 2025, back {n} nights later.",
            ),
            "say dates",
        )
        require = f'weekday(flight.departs_on) == "{day}" and flight.nights_away == {nights.least}'
        return require, say.format(day=_DAYS[day], n=nights.least)
    if form == "permit":
        first = dice.between(2, 18, "first")
        last = first + dice.between(6, 10, "last")
        say = dice.pick(
            (
                "Check-in is the day before the permit starts, check-out the day after it ends, and {when}.",
                "The permit fixes the dates: check-in the day before it, check-out the day after it, and {when}.",
            ),
            "say dates",
        )
        require = (
            "days_between(hotel.check_in, permit.starts_on) == 1 and days_between(permit.ends_on, hotel.check_out) == 1"
            f' and permit.starts_on >= "{_day(first)}" and permit.starts_on <= "{_day(last)}"'
        )
        return require, say.format(when=f"it starts on any day from {first} to {last} August 2025")
    return _stay(form, nights, dice)


def _stay(form: str, nights: Nights, dice: Dice) -> tuple[str, str]:
    """The forms that are about the stay itself."""
    if form == "explicit":
        start = dice.between(1, LAST - nights.least, "start")
        end = start + nights.least
        says = (
            "Check-in is on {a} August 2025 and check-out on {b} August 2025.",
            "The stay is from {a} August 2025 to {b} August 2025, {n} nights.",
        )
        require = f'hotel.check_in == "{_day(start)}" and hotel.check_out == "{_day(end)}"'
        return require, dice.pick(says, "say dates").format(a=start, b=end, n=nights.least)
    if form == "window":
        length = nights.most + dice.between(4, 10, "length")
        start = dice.between(1, LAST - length, "start")
        says = (
            "It is for {n} between {a} and {b} August 2025: no check-in before, no check-out after.",
            "{n} it is, with check-in on {a} August 2025 or later and check-out on {b} August 2025 or earlier.",
        )
        require = (
            f'{nights.require} and hotel.check_in >= "{_day(start)}" and hotel.check_out <= "{_day(start + length)}"'
        )
        return require, dice.pick(says, "say dates").format(n=nights, a=start, b=start + length)
    if form == "weekdays":
        length = min(nights.least, 4)
        days = tuple(_DAYS)[: 5 - length]
        says = (
            "Weekdays only, no weekend: {n} nights with check-in on a {days} in August 2025.",
            "It is for {n} nights on weekdays in August 2025, with check-in on a {days}.",
        )
        require = f"hotel.nights == {length} and weekday(hotel.check_in) in {listed(days)}"
        return require, dice.pick(says, "say dates").format(n=length, days=either([_DAYS[day] for day in days]))
    if form == "half":
        return _half(nights, dice)
    if form == "around":
        around, margin = dice.between(6, 24, "around"), dice.between(1, 3, "margin")
        says = (
            "It is for {n} around {a} August 2025: check-in on that day, or up to {k} days before or after it.",
            "{n} it is, with check-in on {a} August 2025, give or take {k} days.",
        )
        if margin == 1:
            says = ("It is for {n}, with check-in on {a} August 2025 or one day before or after it.",)
        require = f'{nights.require} and abs(days_between("{_day(around)}", hotel.check_in)) <= {margin}'
        return require, dice.pick(says, "say dates").format(n=nights, a=around, k=margin)
    starts = sorted(dice.order(range(1, LAST + 1 - nights.most), "starts")[:3])
    says = (
        "Check-in can be on {days} August 2025, for {n}.",
        "There are three dates to choose from for {n}: check-in on {days} August 2025.",
    )
    require = f"hotel.check_in in {listed([_day(start) for start in starts])} and {nights.require}"
    return require, dice.pick(says, "say dates").format(n=nights, days=either([str(start) for start in starts]))


def _half(nights: Nights, dice: Dice) -> tuple[str, str]:
    if dice.below(2, "half") == 0:
        says = (
            "It is for {n} in the first half of August 2025: check-out is on the 15th or earlier.",
            "{n} it is, in the first half of August 2025, with check-out by 15 August.",
        )
        require = f'{nights.require} and hotel.check_out <= "{_day(15)}"'
    else:
        says = (
            "It is for {n} in the second half of August 2025: check-in on the 16th or later, check-out by the 31st.",
            "{n} it is, in the second half of August 2025: check-in on 16 August or later, check-out by 31 August.",
        )
        require = f'{nights.require} and hotel.check_in >= "{_day(16)}" and hotel.check_out <= "{_day(LAST)}"'
    return require, dice.pick(says, "say dates").format(n=nights)


def rooms(guests: int, dice: Dice) -> Part:
    """In which rooms."""
    options: list[tuple[str, str, tuple[str, ...]]] = []
    if guests >= 3:
        options += [
            (
                "room capacity", "hotel.rooms == 1",
                ("All {g} guests sleep in 1 room.", "It has to be 1 room for all {g}."),
            ),
            (
                "room capacity", "hotel.rooms <= 2",
                ("At most 2 rooms for the {g} guests.", "The {g} guests need 1 room or 2, not more."),
            ),
            (
                "room capacity", "hotel.rooms == 1 and hotel.bed_count >= 2",
                ("All {g} guests sleep in 1 room with at least 2 beds.",),
            ),
            ("room capacity", "hotel.rooms == 2", ("The {g} guests need exactly 2 rooms.",)),
        ]  # fmt: skip
    if guests <= 3:
        more = guests + 1
        options += [
            (
                "room capacity", f"hotel.capacity >= {more}",
                (f"The room must sleep at least {more}.", f"A room that sleeps {more} or more is needed."),
            ),
            (
                "room beds", "hotel.bed_count >= 2",
                ("Every room must have at least 2 beds.", "Each room needs 2 beds or more."),
            ),
            (
                "room beds", 'hotel.bed_type in ["king", "queen", "double"]',
                ("The bed type must be king, queen or double.", "It has to be a king, queen or double bed."),
            ),
        ]  # fmt: skip
    kind, require, says = dice.pick(options, "rooms")
    return Part("rooms", (kind,), require, dice.pick(says, "say rooms").format(g=guests))


def flights(origins: Sequence[tuple[str, str]], dice: Dice) -> Part:
    """From where one flies, and that flights and nights fit together."""
    codes = [code for code, _ in origins]
    origin = f'flight.origin == "{codes[0]}"' if len(codes) == 1 else f"flight.origin in {listed(codes)}"
    require = (
        f"{origin} and serves(flight.destination, hotel.park)"
        " and flight.departs_on == hotel.check_in and flight.returns_on == hotel.check_out"
    )
    says = (
        "The flights start from {it} and go to an airport that serves the park, {when}.",
        "Departure is from {it} to an airport that serves the park, {when}.",
    )
    when = dice.pick(
        (
            "out on the day of check-in and back on the day of check-out",
            "with the outbound flight on the check-in date and the return flight on the check-out date",
        ),
        "say when",
    )
    it = either([f"{city} ({code})" for code, city in origins])
    kinds = ("flights on the dates of the stay", *(("origin list",) if len(codes) > 1 else ()))
    return Part("flights", kinds, require, dice.pick(says, "say flights").format(it=it, when=when))


def permit(parks: tuple[str, ...], world: World, dice: Dice, most_days: int) -> Part | None:
    """Which permit; None when the parks have none in common. Backpacking takes at most so many days."""
    fitting = [item for item in world.permits[parks[0]] if not item.days or item.days[0] <= most_days]
    if len(parks) == 1 and fitting and dice.below(3, "named") > 0:
        found = dice.pick(fitting, "permit")
        length = dice.pick([days for days in found.days if days <= most_days], "days") if found.days else 0
        require = f'permit.template_name == "{found.name}"' + (f" and permit.days == {length}" if length else "")
        says = ("The permit is for {it}.", "It has to be a permit for {it}.")
        it = found.name + (f", for {length} days" if length else "")
        return Part("permit", ("permit template",), require, dice.pick(says, "say permit").format(it=it))
    types = [kind for kind in world.types(parks) if kind != "backpacking" or most_days >= 2]
    if not types:
        return None
    kind = dice.pick(types, "type")
    length = dice.between(2, most_days, "days") if kind == "backpacking" else 0
    require = f'permit.permit_type == "{kind}"' + (f" and permit.days == {length}" if length else "")
    it = _PERMITS[kind] + (f" of {length} days" if length else "")
    says = ("The permit is for {it}; which one does not matter.", "Any permit for {it} will do.")
    return Part("permit", ("permit type",), require, dice.pick(says, "say permit").format(it=it))


def hike(dice: Dice) -> Part:
    """On which days of the stay the permit is."""
    require, says = dice.pick(
        (
            (
                "permit.starts_on > hotel.check_in and permit.ends_on < hotel.check_out",
                (
                    "The permit starts after the day of check-in and ends before the day of check-out.",
                    "Nothing on the days of check-in and check-out: the permit starts later and ends earlier.",
                ),
            ),
            (
                "permit.starts_on >= hotel.check_in and permit.ends_on <= hotel.check_out",
                (
                    "The permit lies within the stay; the days of check-in and check-out count.",
                    "The permit starts on the day of check-in or later and ends on the day of check-out or earlier.",
                ),
            ),
            (
                "permit.starts_on > hotel.check_in and permit.ends_on <= hotel.check_out",
                ("The permit starts after the day of check-in and ends on the day of check-out or earlier.",),
            ),
        ),
        "hike",
    )
    return Part("permit_days", ("permit within the stay",), require, dice.pick(says, "say hike"))


def budget(level: int, dollars: int, dice: Dice) -> Part:
    """What it may cost."""
    says = (
        "The budget is {it} in total for {scope}.",
        "The total for {scope} must not be more than {it}.",
        "At most {it} can be spent in total on {scope}.",
    )
    kind = "budget" if level == 1 else "joint budget"
    say = dice.pick(says, "say budget").format(it=f"${dollars:,}", scope=SCOPES[level])
    return Part("budget", (kind,), f"{COSTS[level]} <= {dollars}", say)


def constrained(feature: Feature, dice: Dice) -> Part:
    """A feature as a constraint."""
    say = dice.pick(feature.says, "say", feature.name).format(it=feature.it, It=feature.it[:1].upper() + feature.it[1:])
    return Part(feature.name, (feature.kind,), feature.require, say)
