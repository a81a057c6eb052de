"""The simulated user: a rule-based function of the script, the persona, an address for chance, and what it hears."""

from __future__ import annotations

from ...schemas.chance import drawn
from ...schemas.episode import Persona
from .decision import Decision, Heard, Script
from .questions import asked_about


class User:
    """One conversation's user. Whatever an agent writes, only the draw of a turn decides whether that turn reveals.

    `address`: of the draws, such as (seed, task, epoch).
    """

    def __init__(self, script: Script, persona: Persona, address: tuple[int | str, ...]) -> None:
        self._script, self._persona, self._address = script, persona, address
        self._turn = 0
        self._revealed: tuple[str, ...] = ()
        self._pending = script.later
        self._rechecked = False

    @property
    def revealed(self) -> tuple[str, ...]:
        """The constraints that have been told, in the order of telling."""
        return self._revealed

    @property
    def told(self) -> bool:
        """Whether all constraints have been told."""
        return self._turn > 0 and not self._pending

    def open(self) -> Decision:
        """The first message: story, goal, and the initial constraints."""
        self._turn, self._revealed = 1, self._script.initial
        return Decision(reveal=self._script.initial, opening=True)

    def decide(self, heard: Heard) -> Decision | None:
        """What to say next; None when everything was told before, a recommendation stands, and nothing is amiss.

        A user that has just told something always waits for the reply to that.
        """
        self._turn += 1
        known, told = self._revealed, self.told
        reliable = self._persona.checking == "reliable"
        flag = tuple(name for name in known if name in heard.broken) if reliable else ()
        unknown = reliable and heard.unknown
        ask = heard.misformed or not heard.recommended
        if told and not (flag or unknown or ask):
            if self._persona.trust == "trusting" or self._rechecked:
                return None
            self._rechecked = True
            return Decision(recheck=True)
        asked = asked_about(heard.text, self._script, known)
        return Decision(
            reveal=self._reveal(),
            flag=flag,
            restate=tuple(name for name in asked.names if name not in flag),
            restate_goal=asked.goal,
            ask=ask,
            unknown=unknown,
            puzzled=asked.unanswered,
        )

    def _reveal(self) -> tuple[str, ...]:
        """The next constraint, when there is one and the draw of this turn says so."""
        if not self._pending or drawn(1000, *self._address, "reveal", self._turn) >= self._persona.permille:
            return ()
        name, *rest = self._pending
        self._pending = tuple(rest)
        self._revealed = (*self._revealed, name)
        return (name,)
