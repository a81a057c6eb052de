"""What a person types who takes the agent's place: commands of one line, read into what is to be done.

search_hotel location="Grand Canyon" start_date=2025-08-12 end_date=2025-08-15 num_guests=2
recommend hotel=pkg_1a2b_12_15_1 "It is the nearest."
say Which dates suit you?
"""

from __future__ import annotations

import json
import re
import shlex
from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from difflib import get_close_matches
from typing import Any

from .tools.toolbox import ALIASES

COMMANDS: Mapping[str, str] = {
    "help": "help, or help TOOL: what a tool needs",
    "say": "say TEXT: a message to the user without a recommendation",
    "recommend": "recommend {choices} [TEXT]: a formal recommendation",
    "again": "the user's last message once more",
    "notes": "your notes; notes TEXT writes one",
    "quit": "leave the conversation",
}
MESSAGE = "This is what I recommend."
RECOMMENDING = {"stays": "recommend_hotel", "round_trips": "recommend_flight", "permits": "recommend_permit"}
_LONGEST = 80  # characters of what was typed that are shown again
_YES, _NO = ("true", "yes", "y"), ("false", "no", "n")
_PAIR = re.compile(r"([A-Za-z_][A-Za-z0-9_]*)=(.*)", re.DOTALL)


@dataclass(frozen=True, slots=True)
class Call:
    """A call of a tool."""

    tool: str
    arguments: Mapping[str, Any]


@dataclass(frozen=True, slots=True)
class Recommend:
    """A formal recommendation: the ids of each choice, at least one."""

    ids: Mapping[str, tuple[str, ...]]
    message: str

    def text(self) -> str:
        """The reply in the agreed form."""
        recommendation = {f"{choice}_ids": list(ids) for choice, ids in self.ids.items()}
        return json.dumps({"message": self.message, "recommendation": recommendation})


@dataclass(frozen=True, slots=True)
class Say:
    """A message without a recommendation."""

    message: str

    def text(self) -> str:
        """The reply in the agreed form."""
        return json.dumps({"message": self.message, "recommendation": None})


@dataclass(frozen=True, slots=True)
class Help:
    """What there is, or what a tool needs."""

    tool: str = ""


@dataclass(frozen=True, slots=True)
class Again:
    """The user's last message once more."""


@dataclass(frozen=True, slots=True)
class Quit:
    """The end."""


@dataclass(frozen=True, slots=True)
class Wrong:
    """A line that is no command, and why."""

    reason: str
    hint: str = ""


Action = Call | Recommend | Say | Help | Again | Quit | Wrong


class Commands:
    """The commands of one conversation: those of COMMANDS, and the tools under all of their names."""

    def __init__(self, schemas: Sequence[dict[str, Any]], choices: Sequence[str]) -> None:
        """`schemas`: the tools as OpenAI-style function definitions."""
        functions = [schema["function"] for schema in schemas]
        self.tools: Mapping[str, dict[str, Any]] = {function["name"]: function for function in functions}
        self.choices = tuple(choices)
        self._names = [*COMMANDS, *self.tools, *(alias for alias in ALIASES if ALIASES[alias] in self.tools)]

    def read(self, line: str) -> Action | None:
        """What a line asks for; None when it is empty."""
        name, _, rest = line.strip().partition(" ")
        rest = rest.strip()
        match name:
            case "":
                return None
            case "help":
                return self._help(rest)
            case "say":
                return Say(rest) if rest else Wrong("say what?", "say TEXT")
            case "notes":
                wanted = {"action": "write", "input_data": rest} if rest else {"action": "list_all"}
                return Call("notebook", wanted)
            case "again":
                return Again()
            case "quit":
                return Quit()
            case _:
                return self._with_values(name, rest)

    def tool(self, name: str) -> dict[str, Any] | None:
        """The definition of a tool by any of its names."""
        return self.tools.get(ALIASES.get(name, name))

    def completions(self, line: str) -> list[str]:
        """What the last word of a line may become."""
        head, _, word = line.lstrip().rpartition(" ")
        if not head or head.split()[0] == "help":
            return [name for name in self._names if name.startswith(word)]
        tool = self.tool(head.split()[0])
        keys = self.choices if head.split()[0] == "recommend" else () if tool is None else _properties(tool)
        return [f"{key}=" for key in keys if key.startswith(word) and f" {key}=" not in head]

    def _help(self, name: str) -> Action:
        if not name or self.tool(name) is not None:
            return Help(ALIASES.get(name, name))
        return Wrong(f"there is no tool '{name[:_LONGEST]}'", _near(name, self._names))

    def _with_values(self, name: str, rest: str) -> Action:
        tool = self.tool(name)
        if tool is None and name != "recommend":
            return Wrong(f"there is no command or tool '{name[:_LONGEST]}'", _near(name, self._names))
        try:
            words = shlex.split(rest)
        except ValueError:
            return Wrong("a quotation mark is not closed")
        pairs = [found.groups() if (found := _PAIR.fullmatch(word)) else ("", word) for word in words]
        named = [key for key, _ in pairs if key]
        twice = next((key for key in named if named.count(key) > 1), None)
        if twice is not None:
            return Wrong(f"'{twice}' is given twice")
        values, other = {key: value for key, value in pairs if key}, [value for key, value in pairs if not key]
        if tool is None:
            return self._recommend(values, " ".join(other))
        if other:
            return Wrong(f"'{other[0][:_LONGEST]}' is no name=value", f"help {tool['name']}")
        known = _properties(tool)
        return Call(tool["name"], {key: _value(text, known.get(key, {})) for key, text in values.items()})

    def _recommend(self, values: Mapping[str, str], message: str) -> Action:
        needed = " ".join(f"{choice}=ID" for choice in self.choices)
        wrong = next((key for key in values if key not in self.choices), None)
        if wrong is not None:
            return Wrong(f"there is no '{wrong[:_LONGEST]}' to recommend", f"recommend {needed}")
        ids = {choice: tuple(filter(None, values.get(choice, "").split(","))) for choice in self.choices}
        missing = [choice for choice in self.choices if not ids[choice]]
        if missing:
            return Wrong(f"the {' and the '.join(missing)} is missing", f"recommend {needed}")
        return Recommend(ids, message or MESSAGE)


def _near(name: str, known: Sequence[str]) -> str:
    near = get_close_matches(name[:_LONGEST], known, n=1, cutoff=0.6)
    return f"did you mean '{near[0]}'?" if near else "help shows all"


def _properties(tool: Mapping[str, Any]) -> Mapping[str, Mapping[str, Any]]:
    return tool["parameters"]["properties"]


def _value(text: str, schema: Mapping[str, Any]) -> Any:
    """A value as its tool wants it; what does not look like one stays text, and the tool says what is wrong."""
    kind = schema.get("type")
    if kind == "boolean" and text.lower() in (*_YES, *_NO):
        return text.lower() in _YES
    if kind == "array":
        return text.split(",")
    if kind in ("integer", "number") and re.fullmatch(r"-?[0-9]{1,15}(\.[0-9]{1,15})?", text):
        return int(text) if "." not in text else float(text)
    return text
