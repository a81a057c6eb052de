"""What is wrong with a call, as it is told to the agent."""

from __future__ import annotations

from collections.abc import Mapping
from typing import Any

from ...schemas.episode import Fault


class WrongCall(ValueError):
    """A call that cannot be answered: the kind of fault, and in words for the agent what is wrong and what would do.

    `more`: further facts that stand beside the error in the answer.
    """

    def __init__(self, fault: Fault, message: str, hint: str = "", more: Mapping[str, Any] | None = None) -> None:
        super().__init__(message)
        self.fault, self.message, self.hint, self.more = fault, message, hint, more or {}

    def content(self) -> dict[str, Any]:
        """The answer to the call."""
        return {"error": {"kind": self.fault.value, "message": self.message, "hint": self.hint}, **self.more}


def nothing_such(message: str, hint: str = "") -> WrongCall:
    """The fault of well-formed arguments that name nothing that there is."""
    return WrongCall(Fault.CONTENT, message, hint)


def quoted(text: object, most: int = 60) -> str:
    """A text from outside in quotes, shortened and without what does not print."""
    shown = str(text[: most + 1]) if isinstance(text, str) else type(text).__name__
    shown = "".join(char if char.isprintable() else "?" for char in shown)
    return f"'{shown}'" if len(shown) <= most else f"'{shown[:most]}…'"
