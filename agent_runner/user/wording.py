"""A decision of the simulated user in its own words: each constraint by its line, letter by letter, in any style."""

from __future__ import annotations

from collections.abc import Sequence

from ...schemas.chance import drawn
from ...schemas.episode import Persona
from .decision import Decision, Script
from .style import Style
from .styles import style_of


def word(script: Script, persona: Persona, decision: Decision, turn: int) -> str:
    """The message for a decision, the same for the same arguments; paragraphs are divided by line breaks.

    It says what the decision names and nothing else about the trip; style changes tone, order stays.
    """
    return _Speaker(script, style_of(persona.style, turn), (persona.style, persona.permille), turn).message(decision)


class _Speaker:
    """A script in a style; `address` of the draw that says which phrases come first, from then on they take turns."""

    def __init__(self, script: Script, style: Style, address: tuple[int, ...], turn: int) -> None:
        self._script, self._style, self._address, self._turn = script, style, address, turn

    def message(self, decision: Decision) -> str:
        said = [*self._opening(decision)] if decision.opening else [*self._reply(decision)]
        last = decision.opening or drawn(2, *self._address, self._script.goal, "to close", self._turn)
        return "\n".join([*said, self._phrase("close")] if last else said)

    def _opening(self, decision: Decision) -> list[str]:
        story, goal = _sentence(self._script.story), self._under("goal", [self._script.goal])
        return [f"{self._phrase('greet')} {story}", goal, *self._lines("musts", decision.reveal)]

    def _reply(self, decision: Decision) -> list[str]:
        said = [
            *([self._phrase("unknown")] if decision.unknown else []),
            *self._lines("broken", decision.flag),
            *self._lines("again", decision.restate),
            *([self._under("goal", [self._script.goal])] if decision.restate_goal else []),
            *([self._phrase("puzzled")] if decision.puzzled else []),
            *self._lines("more", decision.reveal),
            *([self._phrase("ask")] if decision.ask else []),
            *([self._phrase("recheck")] if decision.recheck else []),
        ]
        return said or [self._phrase("go_on")]

    def _lines(self, kind: str, names: Sequence[str]) -> list[str]:
        """A paragraph with the lines of constraints, if there are any; the scattered say the last of them twice."""
        if not names:
            return []
        lines = [self._script.lines[name] for name in names]
        said = self._under(kind, lines)
        return [f"{said} {self._phrase('repeat')} {_sentence(lines[-1])}" if self._style.repeat else said]

    def _under(self, kind: str, lines: Sequence[str]) -> str:
        lead = self._phrase(kind)
        if self._style.numbered:
            return "\n".join([lead, *(f"{number}. {line}" for number, line in enumerate(lines, 1))])
        return " ".join([lead, *map(_sentence, lines)])

    def _phrase(self, kind: str) -> str:
        phrases: tuple[str, ...] = getattr(self._style, kind)
        first = drawn(len(phrases), *self._address, self._script.goal, kind)
        return phrases[(first + self._turn) % len(phrases)]


def _sentence(line: str) -> str:
    """A line with an end, so that the next sentence can follow it."""
    return line if line.endswith((".", "!", "?")) else f"{line}."
