"""What a tone of voice consists of."""

from __future__ import annotations

from dataclasses import dataclass


@dataclass(frozen=True, slots=True)
class Style:
    """Phrases of one tone, several for each occasion, of which one is drawn.

    `about`: the tone in words, for a model that is to speak in it. Those that end in a colon go before lines: `musts`
    the initial constraints, `more` a new one, `broken` what a recommendation breaks, `again` what was told before,
    `goal` what is to be best. `unknown`: the offers do not exist. `puzzled`: nothing to add. `go_on`: nothing else to
    say. `greet` begins and `close` ends a message; `numbered`: its lines have numbers.
    """

    about: str
    greet: tuple[str, ...]
    goal: tuple[str, ...]
    musts: tuple[str, ...]
    more: tuple[str, ...]
    broken: tuple[str, ...]
    again: tuple[str, ...]
    unknown: tuple[str, ...]
    ask: tuple[str, ...]
    recheck: tuple[str, ...]
    puzzled: tuple[str, ...]
    go_on: tuple[str, ...]
    close: tuple[str, ...]
    repeat: tuple[str, ...] = ()
    numbered: bool = False
