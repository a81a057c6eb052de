"""What is to be best, in words: the metrics that tasks use, and any single column by its name."""

from __future__ import annotations

import re

_TOTAL = re.compile(r"(\w+)\.total_price")
_COLUMN = re.compile(r"(\w+)\.(\w+)")
_DRIVE = re.compile(r"drive_minutes\(\w+\.destination, \w+\.park\)")


def metric_words(text: str) -> str:
    """What an expression stands for, such as `total price of hotel and flight`; itself where there are no words."""
    terms = [term.strip() for term in text.split("+")]
    totals = [_TOTAL.fullmatch(term) for term in terms]
    if all(totals):
        *first, last = (found[1] for found in totals if found is not None)
        return f"total price of {', '.join(first)} and {last}" if first else f"total price of the {last}"
    if _DRIVE.fullmatch(text.strip()):
        return "drive from the airport to the park"
    if (found := _COLUMN.fullmatch(text.strip())) is None:
        return text
    owner, name = found.groups()
    if (owner, name) == ("hotel", "distance"):
        return "distance from the hotel to the park"
    if name == "review_count":
        return f"number of reviews of the {owner}"
    return f"{name.removeprefix('has_').replace('_', ' ')} of the {owner}"


def goal_words(sense: str, text: str) -> str:
    """The goal of a task that has no line for it: in words where there are some, else as it is written."""
    words = metric_words(text)
    if words == text:
        return f"Please {sense} {text}."
    return f"The {words} should be as {'low' if sense == 'minimize' else 'high'} as possible."
