"""What a tool is: its name, its parameters as a JSON Schema, and what answers it."""

from __future__ import annotations

from collections.abc import Callable, Mapping
from dataclasses import dataclass, field
from enum import Enum, auto
from typing import Any

from .catalogue import Catalogue
from .notebook import Notebook


class Kind(Enum):
    """What an argument is: the name of it in a JSON Schema, and what values are checked against in `arguments`."""

    TEXT = auto()  # a name or an expression: of bounded length, space around it does not count
    FREE = auto()  # any text
    ID = auto()  # a text that must be spelt exactly
    PARK = auto()
    AIRPORT = auto()
    DATE = auto()
    DATES = auto()  # the first and the last day of a range
    COUNT = auto()
    NUMBER = auto()
    FLAG = auto()
    IDS = auto()

    @property
    def schema(self) -> dict[str, Any]:
        """The JSON Schema of the type."""
        if self is Kind.IDS:
            return {"type": "array", "items": {"type": "string"}}
        if self is Kind.DATE:
            return {"type": "string", "format": "date"}
        return {"type": {Kind.COUNT: "integer", Kind.NUMBER: "number", Kind.FLAG: "boolean"}.get(self, "string")}


@dataclass(frozen=True, slots=True)
class Parameter:
    """A parameter. `default` is what an optional one is when it is not given, None where that means no restriction."""

    name: str
    kind: Kind
    description: str
    required: bool = False
    default: Any = None
    values: tuple[str, ...] = ()
    minimum: int | None = None
    maximum: int | None = None

    def schema(self) -> dict[str, Any]:
        """The JSON Schema, of keys that all frameworks keep."""
        found: dict[str, Any] = {**self.kind.schema, "description": self.description}
        if self.values:
            found["enum"] = list(self.values)
        bounds = {"default": self.default, "minimum": self.minimum, "maximum": self.maximum}
        return found | {key: value for key, value in bounds.items() if value is not None}


@dataclass(frozen=True, slots=True)
class Desk:
    """What tools answer from: the world, and what the agent noted down in this conversation."""

    catalogue: Catalogue
    notebook: Notebook


@dataclass(frozen=True, slots=True)
class Answer:
    """What a tool found. `asked`: arguments that it resolved further, or None for those that ask nothing."""

    content: dict[str, Any]
    offers: Mapping[str, tuple[str, ...]] = field(default_factory=dict[str, tuple[str, ...]])
    confirmed: tuple[str, ...] = ()
    asked: Mapping[str, Any] = field(default_factory=dict[str, Any])


Arguments = Mapping[str, Any]


@dataclass(frozen=True, slots=True)
class Tool:
    """A tool under its canonical name. `run` is given checked arguments, defaults filled in; it raises WrongCall."""

    name: str
    description: str
    parameters: tuple[Parameter, ...]
    run: Callable[[Desk, Arguments], Answer]
    aliases: tuple[str, ...] = ()

    def schema(self) -> dict[str, Any]:
        """The OpenAI-style function definition."""
        parameters = {
            "type": "object",
            "properties": {item.name: item.schema() for item in self.parameters},
            "required": [item.name for item in self.parameters if item.required],
            "additionalProperties": False,
        }
        function = {"name": self.name, "description": self.description, "parameters": parameters}
        return {"type": "function", "function": function}
