"""What a TravelPlanner query asks for, read from its words by a closed list of phrases.

Every phrase that says something is taken out of the query; what remains may hold only words that ask politely and frame
the phrases (`_FRAME`). A query with any other word, or one that says a thing twice and differently, is refused with the
sentence. So nothing that a query says is passed over.
"""

from __future__ import annotations

import re
from collections.abc import Collection
from dataclasses import dataclass
from datetime import date

from ..schemas.errors import TaskError, Where

_MONTHS = (
    *("January", "February", "March", "April", "May", "June"),
    *("July", "August", "September", "October", "November", "December"),
)
_NUMBERS = {"a single": 1, "one": 1, "two": 2, "three": 3, "a pair": 2}
_COUNT = r"([0-9]{1,3}|one|two|three)"
_PLACE = r"((?:St\. )?[A-Z][A-Za-z'-]+(?: [A-Z][A-Za-z'-]+)*)"
_MONTH = rf"(?:({'|'.join(_MONTHS)}) )?"
_DAY = rf"(?:the )?{_MONTH}([0-9]{{1,2}})(?:st|nd|rd|th)(?: of ({'|'.join(_MONTHS)}))?"
_DATES = re.compile(rf"\b(?:from|between|spanning) {_DAY} (?:to|and|through) {_DAY}, ([0-9]{{4}})\b")
_DAYS = re.compile(rf"\b{_COUNT}[ -]days?\b|\b(?:a|one)[ -](week)\b")
_CITIES = re.compile(rf"\b{_COUNT}(?: (?:different|distinct|separate|unique))? cities\b")
_ORIGIN = re.compile(
    r"\b(?:(?:trip|depart|departs|departing|starting|setting off|taking off|leaving|originating|traveling) from"
    rf"|departing|(?:starting|starts|beginning) in) {_PLACE}"
)
_PLACES = re.compile(rf"\b(?:to|visiting|ending in|in|across) {_PLACE}")
_PEOPLE = re.compile(
    r"\bgroup of ([0-9]{1,3})(?: people)?\b|\b([0-9]{1,3}|one|two|a single) (?:people|person|individuals)\b"
    r"|\bfor (two|a pair)\b(?: people| individuals)?|\b(solo)(?: traveler)?\b|\btravell?ing (alone)\b"
)
_BUDGET = re.compile(
    r"\bbudget(?: +(?:of|is|set|at|for|this|trip|up|to|approximately))* +\$([0-9]{1,3}(?:,[0-9]{3})*|[0-9]{1,9})"
    r"(?![0-9]|,[0-9]|\.[0-9])"
)
_INDIFFERENT = re.compile(
    r"\bno specific (?:preferences about house rules, cuisine, accommodations, or transportation"
    r"|accommodation restrictions)\b"
)
_RULES = {
    "children": r"(?:suitable for|accommodate|allow|permit) children under (?:the age of )?10"
    r"|traveling with (?:young children|kids)",
    "parties": r"parties are allowed|(?:allow|host) parties",
    "pets": r"pet-friendly(?: house rules)?|(?:bringing|accompanied by) our pets",
    "smoking": r"smoking is permissible|allow smoking",
    "visitors": r"allow visitors",
}
_ROOMS = {"Private room": r"private rooms?", "Entire home/apt": r"entire rooms?"}
_AVOIDED = {
    "self-driving": r"non-self-driving transportation|do not plan on self-driving|don't plan to self-drive"
    r"|do not plan to drive ourselves",
    "flight": r"(?:should|does) not involve any flights|will not be taking any flights|avoid any flights"
    r"|prefer not to take any flights so our travel plan should not include them",
}
# What may stand around the phrases. No word here turns what they say into something else: no "not", "or", "except".
_FRAME = frozenset(
    re.findall(
        r"\S+",
        """
        a accommodations additionally all along although and are around arrange as assist be blend both by can come
        concerned could cover covering craft crafting create creating cuisine cuisines culinary dates design devise
        dining draft during enjoy expect expenses experience exploring far flexibility fond food for formulate
        generate has have head heading help i i'll i'm ideally imperative important in include includes including
        intend intending into is it it's itinerary journey like local lodging lodgings love lovers me meals moving
        must my need note of on open options our ourselves outlined over particularly plan planned planning please
        prefer preferably preference preferences preferred prepare provide regarding regards rent require revised
        scheduled set should since so span spanning starting stay terms that the them they this to total
        transportation travel traveling travels trip trip's try up us variety venturing visit visiting visits vital we
        we'd we'll where which who will wish with would you
        """,
    )
)
_END = re.compile(r"(?<!\bSt)[.?!] ")
_MANY = re.compile(r"\b(?:we|our|us)\b", re.IGNORECASE)


@dataclass(frozen=True, slots=True)
class Query:
    """From `origin` to `place`, a city, or to as many `cities` of the state `place`; and back on the last day.

    `people` is 1 where the query gives no number and does not speak of "we". `rules` are guests and doings that the
    house allows, `avoided` are modes of transport. `budget`: dollars.
    """

    origin: str
    place: str
    cities: int | None
    first_day: date
    days: int
    people: int
    budget: int
    cuisines: tuple[str, ...]
    rules: tuple[str, ...]
    room_type: str | None
    avoided: tuple[str, ...]


def read_query(text: str, cuisines: Collection[str], where: Where) -> Query:
    """The meaning of a query; raises TaskError with the sentence that is not understood. `cuisines`: all there are."""
    reader = _Reader(text, where)
    first, last = reader.dates()
    reader.find(_INDIFFERENT)
    rules = tuple(rule for rule, phrase in _RULES.items() if reader.find(re.compile(rf"\b(?:{phrase})\b")))
    rooms = [room for room, phrase in _ROOMS.items() if reader.find(re.compile(rf"\b(?:{phrase})\b"))]
    avoided = tuple(mode for mode, phrase in _AVOIDED.items() if reader.find(re.compile(rf"\b(?:{phrase})\b")))
    if len(rooms) > 1:
        raise reader.fault("the query asks for several types of room")
    days = (last - first).days + 1
    if (said := reader.number(_DAYS, "days")) not in (None, days):
        raise reader.fault(f"the query speaks of {said} days, its dates of {days}")
    cities = reader.number(_CITIES, "cities")
    people = reader.number(_PEOPLE, "people")
    if people is None and _MANY.search(text):
        raise reader.fault("the query does not say how many people travel")
    budget = reader.number(_BUDGET, "dollars")
    origin, place = reader.one(_ORIGIN, "origin"), reader.one(_PLACES, "destination")
    if budget is None or origin is None or place is None:
        raise reader.fault(
            f"the query has no {'budget' if budget is None else 'origin' if origin is None else 'destination'}"
        )
    wanted = reader.find(re.compile(rf"\b({'|'.join(map(re.escape, sorted(cuisines)))})\b")) if cuisines else []
    reader.finish()
    return Query(
        origin,
        place,
        cities,
        first,
        days,
        1 if people is None else people,
        budget,
        tuple(sorted({match[0] for match in wanted})),
        rules,
        rooms[0] if rooms else None,
        avoided,
    )


class _Reader:
    """A query of which the phrases that were understood are blanked out."""

    def __init__(self, text: str, where: Where) -> None:
        self.text, self.left, self.where = text, text, where

    def fault(self, message: str, sentence: str = "") -> TaskError:
        return TaskError(message, where=self.where, hint=f"the sentence is: {sentence or self.text}")

    def find(self, phrase: re.Pattern[str]) -> list[re.Match[str]]:
        """All places of a phrase, taken out."""
        found = list(phrase.finditer(self.left))
        self.left = phrase.sub(lambda match: " " * len(match[0]), self.left)
        return found

    def one(self, phrase: re.Pattern[str], what: str) -> str | None:
        """What a phrase holds, the same wherever it stands."""
        said = {next(group for group in match.groups() if group) for match in self.find(phrase)}
        if len(said) > 1:
            raise self.fault(f"the query gives several values for its {what}: {', '.join(sorted(said))}")
        return said.pop() if said else None

    def number(self, phrase: re.Pattern[str], what: str) -> int | None:
        text = self.one(phrase, f"number of {what}")
        if text is None:
            return None
        words = {**_NUMBERS, "solo": 1, "alone": 1, "week": 7}
        number = words[text] if text in words else int(text.replace(",", ""))
        if number == 0:
            raise self.fault(f"the number of {what} is 0")
        return number

    def dates(self) -> tuple[date, date]:
        """The first and the last day."""
        found = self.find(_DATES)
        if len(found) != 1:
            raise self.fault("the query does not give the dates of one trip")
        before, first, after, month, last, behind, year = found[0].groups()
        second = month or behind or before or after
        initial = before or after or second
        try:
            if initial is None or second is None:
                raise ValueError
            days = [
                date(int(year), _MONTHS.index(name) + 1, int(at)) for name, at in ((initial, first), (second, last))
            ]
        except ValueError:
            raise self.fault(f"'{found[0][0]}' are no dates") from None
        if days[0] >= days[1]:
            raise self.fault(f"'{found[0][0]}' is not a first and a last day")
        return days[0], days[1]

    def finish(self) -> None:
        """Raises TaskError at a word that was not understood."""
        for match in re.finditer(r"[^\s.,?!:;]+", self.left):
            if match[0].lower() not in _FRAME:
                ends = [0, *(end.end() for end in _END.finditer(self.text)), len(self.text)]
                begin = max(place for place in ends if place <= match.start())
                end = min(place for place in ends if place > match.start())
                raise self.fault(f"'{match[0]}' is not understood", self.text[begin:end].strip())
