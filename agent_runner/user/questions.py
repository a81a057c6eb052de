"""What an agent asks: understood by words, answered from the script alone."""

from __future__ import annotations

import re
from collections.abc import Iterator, Sequence
from dataclasses import dataclass

from .concepts import broad, concepts, specific
from .decision import Script

MOST_TEXT = 20_000  # characters that a user reads of a reply: half of them from its end, where questions stand
MOST_QUESTIONS = 20

_ENDS = re.compile(r"(?<=[.!?])\s+|\n+")
_REQUEST = re.compile(
    r"\b(?:tell me|let me know|remind me|repeat|restate|recap|confirm|clarify|specify|(?:list|name|share|provide) "
    r"(?:me |all |the |your )+)",
    re.IGNORECASE,
)
# What closes a reply out of courtesy, or asks for leave: the answer is to go on.
_COURTESY = re.compile(
    r"\b(?:(?:shall|should|may|can|could) (?:i|we)|(?:would|do) you (?:like|want) (?:me|us) to"
    r"|(?:sound|look|work|seem)s? (?:good|right|okay|ok|fine|great|for you)|is (?:this|that|it) (?:ok|okay|fine|right)"
    r"|how can i help|how are you)\b",
    re.IGNORECASE,
)
_NEW = re.compile(r"\b(?:else|other|others|more|additional|further|new|hidden|secret|later|remaining)\b", re.IGNORECASE)
_ALL = re.compile(
    r"\b(?:requirements?|constraints?|must-haves?|criteria|conditions?|everything|needs|restrictions?)\b", re.IGNORECASE
)
_GOAL = re.compile(
    r"\b(?:goals?|objectives?|optimi[sz]e|priorit(?:y|ies|i[sz]e)|matters? most|(?:most|more) important|prefer"
    r"|preferences?|minimi[sz]e|maximi[sz]e|wish(?:es)?)\b",
    re.IGNORECASE,
)
# Questions whose subject is in how they ask.
_SUBJECTS = (
    (re.compile(r"\bhow much\b", re.IGNORECASE), "#money"),
    (re.compile(r"\bhow (?:long|many (?:nights|days))\b", re.IGNORECASE), "#night"),
    (re.compile(r"\bhow (?:far|close)\b", re.IGNORECASE), "#distance"),
    (re.compile(r"\b(?:(?:where|which city|what city)\b.{0,60}\bfrom|from where)\b", re.IGNORECASE), "#origin"),
)


@dataclass(frozen=True, slots=True)
class Asked:
    """What of a reply's questions the script answers. `unanswered`: there is a question that it does not answer."""

    names: tuple[str, ...] = ()
    goal: bool = False
    unanswered: bool = False


def asked_about(text: str, script: Script, revealed: Sequence[str]) -> Asked:
    """The revealed constraints that a reply asks about, in the order in which they were revealed.

    A question about what has not been revealed is as unanswered as one about nothing in the script. Reads at most
    MOST_TEXT characters and MOST_QUESTIONS questions, the last ones.
    """
    names: set[str] = set()
    goal = unanswered = False
    for question in _questions(text):
        found, about_goal = _answers(question, script, revealed)
        names |= found
        goal |= about_goal
        unanswered |= not found and not about_goal
    return Asked(tuple(name for name in revealed if name in names), goal, unanswered)


def _questions(text: str) -> Iterator[str]:
    half = MOST_TEXT // 2
    read = text if len(text) <= MOST_TEXT else f"{text[:half]}\n{text[-half:]}"
    asked = [part for part in _ENDS.split(read) if "?" in part or _REQUEST.search(part)]
    return (part for part in asked[-MOST_QUESTIONS:] if not _COURTESY.search(part))


def _answers(question: str, script: Script, revealed: Sequence[str]) -> tuple[set[str], bool]:
    """The constraints that answer one question, and whether the goal does."""
    if _NEW.search(question):
        return set(), False
    if _ALL.search(question):
        return set(revealed), True
    about = concepts(question) | {group for pattern, group in _SUBJECTS if pattern.search(question)}
    # A question about the score of a hotel is not one about hotels.
    wanted = specific(about) or broad(about)
    # A name often says what its line takes for granted: "location" that of "We go to Zion".
    lines = {name: concepts(f"{name.replace('_', ' ')} {script.lines[name]}") for name in revealed}
    found = {name for name, line in lines.items() if wanted & line}
    if not found and not wanted:
        found = {name for name, line in lines.items() if len(about & line) >= 2}
    goal = _GOAL.search(question) is not None
    return found, goal or (not found and bool(specific(about) & concepts(script.goal)))
