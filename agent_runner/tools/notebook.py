"""The agent's scratch pad: short numbered notes that last as long as the conversation."""

from __future__ import annotations

from typing import Any

from ...schemas.episode import Fault
from .fault import WrongCall, nothing_such

MOST_NOTES, MOST_TEXT, PREVIEW = 100, 4000, 40
ACTIONS = ("write", "read", "delete", "list_all")


class Notebook:
    """At most a hundred notes of at most 4,000 characters, numbered from 1; numbers are not used again."""

    def __init__(self) -> None:
        self._notes: dict[int, str] = {}
        self._last = 0

    def do(self, action: str, text: str | None, index: int | None) -> dict[str, Any]:
        """What an action comes to; raises WrongCall for a note that is not there and for one that is too long."""
        if action == "write":
            return self._write(text, index)
        if action == "list_all":
            notes = [
                {"index": number, "characters": len(note), "begins": note[:PREVIEW]}
                for number, note in sorted(self._notes.items())
            ]
            return {"action": action, "notes": notes, "total": len(notes)}
        if index is None:
            raise WrongCall(Fault.PARAMETER, f"{action} needs the index of a note", "list_all shows them")
        if index not in self._notes:
            raise nothing_such(f"there is no note {index}", self._known())
        text = self._notes[index]
        if action == "delete":
            del self._notes[index]
        return {"action": action, "index": index, "content": text}

    def _write(self, text: str | None, index: int | None) -> dict[str, Any]:
        if text is None:
            raise WrongCall(Fault.PARAMETER, "write needs input_data", "give the text of the note")
        if len(text) > MOST_TEXT:
            raise nothing_such(f"a note has at most {MOST_TEXT} characters, and this one has {len(text)}")
        if index is not None and index not in self._notes:
            hint = f"leave index out for a new one; {self._known()}"
            raise nothing_such(f"there is no note {index} to replace", hint)
        if index is None and len(self._notes) >= MOST_NOTES:
            raise nothing_such(f"the notebook is full: it holds {MOST_NOTES} notes", "delete one first")
        if index is None:
            index = self._last = self._last + 1
        self._notes[index] = text
        return {"action": "write", "index": index, "content": text}

    def _known(self) -> str:
        shown = ", ".join(map(str, sorted(self._notes)[:20]))
        return f"notes: {shown}" if shown else "the notebook is empty"
