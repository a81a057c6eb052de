"""The facts in a text that a paraphrase must keep to: numbers, names, and which way a bound goes."""

from __future__ import annotations

import re
from collections.abc import Iterator
from dataclasses import dataclass
from fractions import Fraction
from functools import lru_cache


def _set(text: str) -> frozenset[str]:
    return frozenset(text.split())


_UNITS = (
    "two three four five six seven eight nine ten eleven twelve thirteen fourteen fifteen sixteen seventeen eighteen "
    "nineteen"
)
_TENS = "twenty thirty forty fifty sixty seventy eighty ninety"
_ORDINALS = (
    "third fourth fifth sixth seventh eighth ninth tenth eleventh twelfth thirteenth fourteenth fifteenth sixteenth "
    "seventeenth eighteenth nineteenth twentieth"
)
# "one" and "second" are seldom numbers, and so count for nothing anywhere.
_VALUE = {
    "dozen": 12,
    "thirtieth": 30,
    **{word: value for value, word in enumerate(_UNITS.split(), 2)},
    **{word: 10 * value for value, word in enumerate(_TENS.split(), 2)},
    **{word: value for value, word in enumerate(_ORDINALS.split(), 3)},
}
_FACTORS = {"hundred": 100, "thousand": 1000}
_MONTHS = (
    *("january", "february", "march", "april", "may", "june"),
    *("july", "august", "september", "october", "november", "december"),
)
_MARKER = re.compile(r"^[ \t]*(?:\d{1,2}[.)]|[-*•–])[ \t]+", re.MULTILINE)
_ISO = re.compile(r"\b(\d{4})-(\d{2})-(\d{2})\b")
_CLOCK = re.compile(r"\b(\d{1,2}):00\b")
_YEAR = re.compile(rf"\b({'|'.join(_MONTHS)}),?[ ]+20\d\d\b", re.IGNORECASE)
_TOKEN = re.compile(r"\d[\d,]*(?:\.\d+)?|[^\W\d_]+(?:['’][^\W\d_]+)*")
MOST_DIGITS = 20  # of a number; what comes after them is passed over
_DIALOGUE = _set(
    """thing things point points request requests requirement requirements must musts condition conditions question
    questions item items time times date dates cent cents reason reasons"""
)
_DAYS = ("monday", "tuesday", "wednesday", "thursday", "friday", "saturday", "sunday")
_DATED = frozenset((*_DAYS, *_MONTHS)) - {"may", "march"}  # not so at the start of a sentence
_SHORT = {name[:3]: name for name in (*_DAYS, *_MONTHS)} | {"tues": "tuesday", "thurs": "thursday", "sept": "september"}
_NO_NAMES = _set(
    """i i'm i've i'd i'll ok okay wifi wi fi tv ac a/c usd id ids ps mr mrs ms dr dear sir madam god lord heaven
    heavens hello hi thanks thank please national park parks airport hotel state us u.s asap vip faq am pm"""
)
_LOWER = re.compile(
    r"at least|(?:no|not|never|nothing|none|hotel|house)\b[^.;,]{0,30}\b(?:less|fewer|lower|below|under)\b|minimum"
    r"|\bmin\b|or (?:more|better|higher|above|longer)|[≥>]|and up\b|cannot[^.;,]{0,20}before|not before|no earlier"
    r"|or later|under [\d$.]+ is|avoid[^.;,]{0,30}(?:under|below)|from [\d.]+ up",
    re.IGNORECASE,
)
_UPPER = re.compile(
    r"at most|up to|\b(?:no|not|never|nothing|cannot|can't|without|mustn't|n't)\b[^.;,]{0,40}"
    r"\b(?:more|over|above|exceed\w*|beyond|longer|further|farther|higher|later)\b|maximum|\bmax\b|within"
    r"|or (?:less|fewer|under)|[≤<]|\blimit|\bcap\b|ceiling|stay (?:below|under)"
    r"|(?:more|anything (?:over|beyond|above))[^.;,]{0,40}(?:too far|too much|out of the question)"
    r"|at the latest|less than",
    re.IGNORECASE,
)
_SENTENCES = re.compile(r"(?<=[.!?])\s+|\n+")


@dataclass(frozen=True, slots=True)
class Facts:
    """What in a text cannot be said otherwise: its numbers, by value, and its names, in lower case."""

    numbers: frozenset[Fraction]
    names: frozenset[str]

    def __sub__(self, other: Facts) -> Facts:
        return Facts(self.numbers - other.numbers, self.names - other.names)

    def __bool__(self) -> bool:
        return bool(self.numbers or self.names)


def sentences(text: str) -> list[str]:
    """The sentences of a text, which end with a mark before a space or with the line."""
    return [part for part in _SENTENCES.split(_MARKER.sub("", text)) if part.strip()]


@lru_cache(512)
def facts(text: str) -> Facts:
    """The numbers and names in a text; a capital at the start of a sentence makes no name of a word by itself."""
    plain = _CLOCK.sub(r"\1", _ISO.sub(lambda date: f"{int(date[3])} {_month(int(date[2]))}", _MARKER.sub("", text)))
    return Facts(frozenset(_numbers(plain)), frozenset(_names(plain)))


def without_year(text: str) -> str:
    """A text without the years after its months, which go without saying."""
    return _YEAR.sub(r"\1", text)


def tokens(text: str) -> frozenset[str]:
    """All words of a text in lower case, days and months in full: among them are its names, however written."""
    return frozenset(_plain(token[0]) for token in _TOKEN.finditer(text))


def lasting(text: str) -> Iterator[Fraction]:
    """The numbers that say the same as those of a text in another unit: minutes for hours, the 24-hour clock."""
    hours, clock = re.search(r"\bhours?\b", text), re.search(r"\b(?:afternoon|evening|p\.?m)\b", text)
    for number in facts(text).numbers:
        if hours:
            yield number * 60
        if clock and number < 12:
            yield number + 12


def bound(text: str) -> str:
    """Which way the only bound in a text goes, "most" or "least"; empty for none and for several."""
    rest, lower = _LOWER.subn(" ", text)
    upper = _UPPER.search(rest)
    return "" if bool(upper) == bool(lower) else "most" if upper else "least"


def _month(number: int) -> str:
    return _MONTHS[number - 1].title() if 1 <= number <= 12 else ""


def _plain(word: str) -> str:
    short = _SHORT.get(word.lower()) if word[0].isupper() else None
    word = word.lower().replace("’", "'").removesuffix("'s")
    return short or (word.removesuffix("s") if word.removesuffix("s") in _DAYS else word)


def _numbers(text: str) -> Iterator[Fraction]:
    """Digits and words by value, without 0 and 1, and without those that count what is said ("two more things")."""
    found = [token[0].lower() for token in _TOKEN.finditer(text.replace("-", " "))]
    at = 0
    while at < len(found):
        value, after = _number(found, at)
        if value is None:
            at += 1
            continue
        of_the = found[max(0, at - 2) : at] == ["of", "the"]  # "one of the two"
        if value not in {0, 1} and not of_the and not _DIALOGUE & {*found[after : after + 2]}:
            yield value
        at = after


def _number(found: list[str], at: int) -> tuple[Fraction | None, int]:
    """The number that starts at a token, and the place after it."""
    word = found[at]
    if word[0].isdecimal():
        value, at = Fraction(word.replace(",", "")[:MOST_DIGITS]), at + 1
    elif word in _VALUE:
        value, at = _counted(found, at)
    elif word in {"a", "one"} and at + 1 < len(found) and found[at + 1] in _FACTORS:
        value, at = Fraction(1), at + 1
    else:
        return None, at + 1
    for _ in range(2):  # "two hundred thousand"
        if at < len(found) and found[at] in _FACTORS:
            value, at = value * _FACTORS[found[at]], at + 1
            if found[at : at + 1] == ["and"] and at + 1 < len(found) and found[at + 1] in _VALUE:
                more, at = _counted(found, at + 1)
                value += more
    if found[at : at + 3] == ["and", "a", "half"]:
        value, at = value + Fraction(1, 2), at + 3
    return value, at


def _counted(found: list[str], at: int) -> tuple[Fraction, int]:
    """The number below 100 that one or two words make, and the place after them."""
    value, at = Fraction(_VALUE[found[at]]), at + 1
    if value >= 20 and value % 10 == 0 and at < len(found):
        more = 1 if found[at] == "one" else _VALUE.get(found[at], 0)
        if 0 < more < 10:
            return value + more, at + 1
    return value, at


def _names(text: str) -> Iterator[str]:
    """Words with a capital where none is due, and days and months."""
    for sentence in sentences(re.sub(r"([:;\"“(—])\s*", r"\1\n", text)):
        parts = list(_TOKEN.finditer(sentence))
        for place, part in enumerate(parts):
            word, plain = part[0], _plain(part[0])
            if plain in _NO_NAMES or not word[0].isupper() or (word.isupper() and not _is_code(word)):
                continue
            if place == 0 and plain not in _DATED and not _leads_names(sentence, parts):
                continue
            yield plain


def _is_code(word: str) -> bool:
    """Whether capitals alone make an airport's code, rather than a shout."""
    return len(word) == 3 and word.lower() not in _SHOUTED


_SHOUTED = _set(
    """all and any are bad big but buy can did end for get god got had has her him his how ids its let lie lot may
    me new no nor not now off oh old one our out own pay put say see set she sir so ten the too top try two
    usa use usd was way who why yes yet you"""
)


def _leads_names(sentence: str, parts: list[re.Match[str]]) -> bool:
    """Whether a sentence begins with a name: another follows at once, or after a comma or a conjunction."""
    if len(parts) < 2 or parts[0][0].lower() in _STARTS:
        return False
    between = sentence[parts[0].end() : parts[1].start()]
    follows = parts[1][0] if between in {" ", ", "} else ""
    if follows.lower() in {"and", "or"} and len(parts) > 2:
        follows = parts[2][0]
    return follows[:1].isupper() and _plain(follows) not in _NO_NAMES and not follows.isupper()


_STARTS = _set(
    """a after all also an and any as at before but by dear either for from good hello hi how if in it let make my
    no not oh of on only or our please since so sorry thank thanks that the then there this to we well what
    when where which while why with yes you your"""
)
