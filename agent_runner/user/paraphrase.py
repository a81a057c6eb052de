"""Whether a message that a model wrote for the simulated user says what it was told to say, no more and no less.

There is no model in here either. A line counts as said when some sentences in a row hold all its numbers and names and
enough of what it is about; what stands in the message letter by letter as in the script is taken out before the rest is
searched for what must not be said.
"""

from __future__ import annotations

from collections.abc import Iterable, Iterator, Sequence
from fractions import Fraction
from functools import lru_cache

from ...schemas.episode import UserFault
from .concepts import AMENITIES, SURE, TELLING, broad, concepts, kinds, specific
from .decision import Decision, Script
from .facts import Facts, bound, facts, lasting, sentences, tokens, without_year
from .tells import (
    ACCEPTS,
    ASKS,
    CLAIMS,
    CLAIMS_LOOSELY,
    EXCLUDES,
    MODAL,
    NEGATES,
    NO_MUST,
    OUT_OF_ROLE,
    RECHECKS,
    SOFT,
    SUBJECT,
    UNKNOWN,
)

MOST_READ = 6000
ENOUGH = Fraction(1, 3)  # of the concepts of a line
_BEDS, _SEATS = frozenset({"#stay", "#room", "#sleep"}), frozenset({"#fly"})
SIDES = ((_BEDS, _SEATS), (_SEATS, _BEDS))  # wifi in the hotel is something else than wifi on the flights


def faults_in(text: str, script: Script, decision: Decision, revealed: Sequence[str]) -> tuple[UserFault, ...]:
    """The kinds of faults in a message that should say `decision`, each at most once; empty for a good one.

    `revealed`: the constraints told so far, with or without those of this message. A message is too long, and read no
    further, after MOST_READ characters.
    """
    found = set(_Message(text[:MOST_READ], script, decision, revealed).faults())
    if len(text) > MOST_READ:
        found.add(UserFault.OTHER)
    return tuple(fault for fault in UserFault if fault in found)


def said(line: str, text: str) -> bool:
    """Whether sentences that follow each other in a text say what a line says."""
    return any(_says(window, line) for window in _windows(text, len(sentences(line)) + 1))


class _Message:
    def __init__(self, text: str, script: Script, decision: Decision, revealed: Sequence[str]) -> None:
        self._text, self._script, self._decision = text, script, decision
        named = (*decision.reveal, *decision.flag, *decision.restate)
        known = dict.fromkeys((*revealed, *named))
        self._named = tuple(dict.fromkeys(named))
        self._known = {name: script.lines[name] for name in known}
        self._hidden = [line for name, line in script.lines.items() if name not in known]
        self._told = "\n".join([script.story, script.goal, *self._known.values()])
        self._rest = _without(text, [script.story, script.goal, *self._known.values()])

    def faults(self) -> Iterator[UserFault]:
        yield from self._missing()
        yield from self._softened()
        yield from self._added()
        yield from self._claims()
        yield from self._out_of_place()

    def _missing(self) -> Iterator[UserFault]:
        """What was to be said, and is not."""
        decision, lines = self._decision, self._script.lines
        if not all(self._has(lines[name]) for name in decision.reveal):
            yield UserFault.NOT_REVEALED
        if decision.opening and not self._has(self._script.goal):
            yield UserFault.NOT_REVEALED
        again = [lines[name] for name in (*decision.restate, *decision.flag)]
        again += [self._script.goal] if decision.restate_goal else []
        if not all(self._has(line) for line in again):
            yield UserFault.NOT_REPEATED
        due = ((decision.recheck, RECHECKS), (decision.ask, ASKS), (decision.unknown, UNKNOWN))
        if any(told and not pattern.search(self._rest) for told, pattern in due):
            yield UserFault.OTHER

    def _has(self, line: str) -> bool:
        # What another line says in so many words does not count for this one.
        return line in self._text or said(line, self._rest)

    def _softened(self) -> Iterator[UserFault]:
        """Musts that are made to sound like wishes."""
        musts = [self._script.lines[name] for name in self._named]
        if not musts:
            return
        for sentence in sentences(self._rest):
            about = concepts(sentence)
            shares = [_share(about, line) for line in musts if not SOFT.search(line)]
            best, goal = max(shares, default=Fraction(0)), _share(about, self._script.goal)
            if (NO_MUST.search(sentence) and best >= goal) or (
                SOFT.search(sentence) and best >= ENOUGH and best > goal
            ):
                yield UserFault.OPTIONAL

    def _added(self) -> Iterator[UserFault]:
        """What is in no line that has been told: an invention, or what another message is to tell."""
        told, about_told = facts(self._told), concepts(self._told)
        here, about_here = facts(self._rest), concepts(self._rest)
        same, present = frozenset(lasting(self._told)), tokens(self._rest)
        new = Facts(here.numbers - told.numbers - same, here.names - tokens(self._told))
        leaked, parts = Facts(frozenset(), frozenset()), [concepts(part) for part in sentences(self._rest)]
        for line in self._hidden:
            own = facts(line) - told
            hit = Facts(own.numbers & here.numbers, own.names & present)
            leaked = Facts(leaked.numbers | hit.numbers, leaked.names | hit.names)
            about = concepts(line) - about_told
            close = any(len(about & part) * 2 >= max(4, len(about)) for part in parts)
            if hit or about & about_here & TELLING or close or self._tells(line):
                yield UserFault.OTHER
        hidden = frozenset[str]().union(*map(concepts, self._hidden))
        if new - leaked or (about_here & AMENITIES) - about_told - hidden or self._turned():
            yield UserFault.HALLUCINATION

    def _tells(self, hidden: str) -> bool:
        """Whether sentences say a hidden line, and nothing that has been told."""
        known = [*self._known.values(), self._script.goal]
        size = len(sentences(hidden)) + 1
        return any(
            _says(window, hidden)
            and 2 * _share(concepts(window), hidden) >= 1
            and not any(_says(window, line) for line in known)
            for window in _windows(self._rest, size)
        )

    def _turned(self) -> bool:
        """Whether a bound goes the other way than in its line: at least where at most was said."""
        return any(
            ways and bound(line) and bound(line) not in ways
            for line in (self._script.lines[name] for name in (*self._decision.reveal, *self._decision.restate))
            for numbers in [facts(line).numbers]
            for ways in [
                {bound(part) for part in sentences(self._rest) if numbers & facts(part).numbers and bound(part)}
            ]
            if line not in self._text
        )

    def _claims(self) -> Iterator[UserFault]:
        """What the message says about the recommendation, against what there is to say."""
        flagged = [self._script.lines[name] for name in self._decision.flag]
        claims = [part for part in sentences(self._rest) if CLAIMS.search(part) and SUBJECT.search(part)]
        claims = [part for part in claims if not MODAL.search(part) and not UNKNOWN.search(part)]
        if claims and not flagged:
            yield UserFault.WRONG_CLAIM
        if flagged and not CLAIMS_LOOSELY.search(self._rest):
            yield UserFault.NOT_REPEATED
        others = [line for name, line in self._known.items() if name not in self._decision.flag]
        for claim in claims:
            about = concepts(claim)
            right = max((_share(about, line) for line in flagged), default=Fraction(0))
            if any(_share(about, line) > max(right, ENOUGH) and specific(about & concepts(line)) for line in others):
                yield UserFault.WRONG_CLAIM
        if UNKNOWN.search(self._rest) and not self._decision.unknown:
            yield UserFault.WRONG_CLAIM

    def _out_of_place(self) -> Iterator[UserFault]:
        """What no user says at this point: nothing, yes, words of a machine, or a request to check when none is due."""
        due = self._decision.recheck or self._decision.flag or self._decision.unknown
        if (
            not self._text.strip()
            or OUT_OF_ROLE.search(self._rest)
            or ACCEPTS.search(self._rest)
            or (RECHECKS.search(self._rest) and not due)
        ):
            yield UserFault.OTHER


def _without(text: str, lines: Iterable[str]) -> str:
    """A text without what stands in it letter by letter, the longest first."""
    for line in sorted({line for line in lines if line}, key=len, reverse=True):
        text = text.replace(line, "\n")
    return text


def _windows(text: str, size: int) -> Iterator[str]:
    parts = sentences(text)
    return (" ".join(parts[at : at + size]) for at in range(max(1, len(parts))))


@lru_cache(1024)
def _about(line: str) -> tuple[frozenset[str], Facts]:
    """What a line is about beside its numbers and names, and these."""
    own = facts(without_year(line))
    return frozenset(word for word in concepts(line) if word not in own.names and not word[0].isdigit()), own


def _share(about: frozenset[str], line: str) -> Fraction:
    """How much of what a line is about is among these concepts."""
    concepts_of_line, _ = _about(line)
    return Fraction(len(concepts_of_line & about), max(1, len(concepts_of_line)))


def _says(text: str, line: str) -> bool:
    _, own = _about(line)
    about, present = concepts(text), facts(text).numbers | frozenset(lasting(text))
    numbers = all(
        number in present or {number * 60, number + 12} & present & frozenset(lasting(line)) for number in own.numbers
    )
    if not numbers or not own.names <= tokens(text) or not kinds(line) <= kinds(text):
        return False
    if EXCLUDES.search(line) and not NEGATES.search(text):
        return False
    of_line = _about(line)[0]
    if any(of_line & one and not of_line & two and about & two and not about & one for one, two in SIDES):
        return False
    marks = specific(of_line)
    if not marks & SURE <= about:
        return False
    if marks:
        return _share(about, line) >= ENOUGH and 2 * len(marks & about) >= len(marks)
    others = of_line - broad(of_line)
    return bool(own) or (2 * len(others & about) >= len(others) and _share(about, line) >= ENOUGH)
