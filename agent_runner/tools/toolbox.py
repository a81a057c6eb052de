"""The eighteen tools: their schemas, and a call by name with whatever arguments an agent gives."""

from __future__ import annotations

from collections.abc import Mapping
from typing import Any

from ...schemas.episode import Fault
from ...schemas.errors import did_you_mean
from . import flights, hotels, permits, places, recommend, utilities
from .arguments import as_given, checked, mapping_of
from .catalogue import Catalogue
from .fault import WrongCall, quoted
from .notebook import Notebook
from .result import Result
from .tool import Desk, Tool

ALL = (*places.TOOLS, *flights.TOOLS, *permits.TOOLS, *hotels.TOOLS, *utilities.TOOLS, *recommend.TOOLS)
TOOLS: Mapping[str, Tool] = {tool.name: tool for tool in ALL}
ALIASES: Mapping[str, str] = {alias: tool.name for tool in ALL for alias in tool.aliases}
MAX_NAME = 100


class Toolbox:
    """The tools of one conversation, made from the world alone: no task, constraint or certificate is within reach."""

    def __init__(self, catalogue: Catalogue) -> None:
        self._desk = Desk(catalogue, Notebook())

    def schemas(self) -> list[dict[str, Any]]:
        """The tools as OpenAI-style function definitions, under their canonical names."""
        return [tool.schema() for tool in ALL]

    def call(self, name: str, arguments: Any) -> Result:
        """What a call comes to, also a wrong one; never raises.

        `name`: canonical or an alias, and there is no tool for what is no text; `arguments`: an object of values, or
        one as JSON text.
        """
        called = name_of(name)
        tool = TOOLS.get(ALIASES.get(called, called)) if called is name else None
        try:
            if tool is None:
                hint = did_you_mean(called[:MAX_NAME], [*TOOLS, *ALIASES], "tools")
                raise WrongCall(Fault.NAME, f"there is no tool {quoted(name)}", hint)
            arguments = mapping_of(arguments)
            values = checked(tool, arguments, self._desk.catalogue)
            answer = tool.run(self._desk, values)
        except WrongCall as wrong:
            known = called[:MAX_NAME] if tool is None else tool.name
            confirmed = tuple(wrong.more.get("confirmed", ()))
            return Result(known, as_given(arguments), wrong.content(), wrong.fault, confirmed=confirmed)
        asked = {key: value for key, value in {**values, **answer.asked}.items() if value is not None}
        return Result(tool.name, asked, answer.content, None, answer.offers, answer.confirmed)


def name_of(given: Any) -> str:
    """What an agent called as a tool, as a text: of anything else what kind of thing it is."""
    return given if isinstance(given, str) else type(given).__name__
