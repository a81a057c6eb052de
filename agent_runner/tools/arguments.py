"""Arguments of a call, checked by the tool's parameters and brought into the one form that equal questions share.

Strict on types: `"3"` and `true` are no integers, and a number is finite; `3.0` is the integer 3, as in JSON Schema.
`null` for an optional parameter is the same as leaving it out. A value of the right type that names nothing, or lies
outside its range, is a fault of content and not of the parameter.
"""

from __future__ import annotations

import json
import math
from collections.abc import Callable, Mapping
from typing import Any

from ...schemas.episode import Fault
from ...schemas.errors import did_you_mean
from ...schemas.source import MAX_BYTES, repeated_key
from ...schemas.units import parse_date
from .catalogue import Catalogue
from .fault import WrongCall, nothing_such, quoted
from .places import airport_named, park_named
from .tool import Kind, Parameter, Tool

MAX_WORDS = 200  # characters of a text that names something
_LARGEST = 10**9


def mapping_of(given: Any) -> Mapping[Any, Any]:
    """The arguments as an object, from JSON text too; None and empty text stand for none. Raises WrongCall."""
    if isinstance(given, str | bytes):
        given = _parsed(given)
    if given is None:
        return {}
    if not isinstance(given, Mapping):
        raise WrongCall(Fault.PARAMETER, "arguments must be an object of parameter names and values", '{"name": value}')
    return given


def _parsed(text: str | bytes) -> Any:
    if len(text) > MAX_BYTES:
        raise WrongCall(Fault.PARAMETER, "the arguments are larger than 1 MiB")
    if not text.strip():
        return None
    try:
        return json.loads(text, object_pairs_hook=_unrepeated, parse_constant=_no_constant)
    except (ValueError, RecursionError):
        raise WrongCall(Fault.PARAMETER, "the arguments are not valid JSON", "send one JSON object") from None


def _unrepeated(pairs: list[tuple[str, Any]]) -> dict[str, Any]:
    if repeated_key(pairs) is not None:
        raise ValueError("a key comes twice")
    return dict(pairs)


def _no_constant(word: str) -> Any:
    raise ValueError(f"{word} is no JSON")


def checked(tool: Tool, given: Mapping[Any, Any], catalogue: Catalogue) -> dict[str, Any]:
    """Every parameter of the tool with its value in the one form, defaults filled in; raises WrongCall.

    Faults of parameters come before those of content, each in the order of the parameters.
    """
    known = {item.name: item for item in tool.parameters}
    for name in given:
        if name not in known:
            hint = did_you_mean(name[:MAX_WORDS] if isinstance(name, str) else "", known, "parameters")
            raise WrongCall(Fault.PARAMETER, f"{tool.name} has no parameter {quoted(name)}", hint)
    missing = [item.name for item in tool.parameters if item.required and given.get(item.name) is None]
    if missing:
        hint = "required: " + ", ".join(item.name for item in tool.parameters if item.required)
        raise WrongCall(Fault.PARAMETER, f"{tool.name} needs {', '.join(missing)}", hint)
    typed = {name: _typed(item, given.get(name)) for name, item in known.items()}
    return {
        name: item.default if typed[name] is None else _resolved(item, typed[name], catalogue)
        for name, item in known.items()
    }


def _typed(item: Parameter, value: Any) -> Any:
    """The value if it is of the parameter's type, None for none."""
    if value is None:
        return None
    kind = item.kind.schema["type"]
    if kind == "integer" and isinstance(value, float) and value.is_integer():
        value = int(value)
    if not _IS[kind](value):
        message = f"{item.name} must be {_NOUN[kind]}, and not {_described(value)}"
        raise WrongCall(Fault.PARAMETER, message, f"{item.name}: {item.description}")
    return value


def _whole(value: Any) -> bool:
    return isinstance(value, int) and not isinstance(value, bool)


_IS: dict[str, Callable[[Any], bool]] = {
    "string": lambda value: isinstance(value, str),
    "boolean": lambda value: isinstance(value, bool),
    "integer": _whole,
    "number": lambda value: _whole(value) or (isinstance(value, float) and math.isfinite(value)),
    "array": lambda value: isinstance(value, list | tuple) and all(isinstance(item, str) for item in value),
}
_NOUN = {
    "string": "a text",
    "boolean": "true or false",
    "integer": "a whole number",
    "number": "a number",
    "array": "a list of texts",
}


def _resolved(item: Parameter, value: Any, catalogue: Catalogue) -> Any:
    """The one form of a value of the right type; raises WrongCall for one that names nothing."""
    if isinstance(value, str):
        return _text(item, _writable(value), catalogue)
    if isinstance(value, list | tuple):
        return [_writable(text) for text in value]
    if isinstance(value, int | float) and not isinstance(value, bool):
        return _number(item, value)
    return value


def _writable(text: str) -> str:
    """A text as UTF-8 can hold it, so that what repeats it can be sent: half a surrogate pair becomes `?`."""
    return text.encode("utf-8", "replace").decode()


def _text(item: Parameter, value: str, catalogue: Catalogue) -> str:
    if item.kind is Kind.FREE:
        return value
    if item.kind is not Kind.ID:
        value = value.strip()
    if not value or len(value) > MAX_WORDS:
        reason = "is empty" if not value else f"is longer than {MAX_WORDS} characters"
        raise nothing_such(f"{item.name} {reason}", item.description)
    if item.values and value not in item.values:
        raise nothing_such(f"{item.name} cannot be {quoted(value)}", f"it is one of {', '.join(item.values)}")
    if item.kind is Kind.PARK:
        return park_named(catalogue, value)
    if item.kind is Kind.AIRPORT:
        return airport_named(catalogue, value)
    if item.kind is Kind.DATE:
        return iso_date(item.name, value)
    if item.kind is Kind.DATES:
        return _iso_dates(item.name, value)
    return value


def iso_date(name: str, text: str) -> str:
    """An ISO date as it is; raises WrongCall for anything else."""
    if parse_date(text) is None:
        raise nothing_such(f"{name} is no date: {quoted(text)}", "write a date that exists as YYYY-MM-DD, 2025-08-09")
    return text


def _iso_dates(name: str, text: str) -> str:
    """`YYYY-MM-DD to YYYY-MM-DD`, the first not after the last."""
    first, to, last = (part.strip() for part in text.partition(" to "))
    if not to:
        raise nothing_such(f"{name} is no range of dates: {quoted(text)}", "write YYYY-MM-DD to YYYY-MM-DD")
    if iso_date(name, last) < iso_date(name, first):
        raise nothing_such(f"{name} ends before it starts: {quoted(text)}", "the earlier date comes first")
    return f"{first} to {last}"


def _number(item: Parameter, value: float) -> int | float:
    low = -_LARGEST if item.minimum is None else item.minimum
    high = _LARGEST if item.maximum is None else item.maximum
    if not low <= value <= high:
        raise nothing_such(f"{item.name} lies outside its range", f"it is from {low} to {high}")
    return int(value) if isinstance(value, int) or value.is_integer() else value


def as_given(given: Any) -> dict[str, Any]:
    """The arguments of a call that went wrong, small and plain, for a record of it."""
    if not isinstance(given, Mapping):
        return {} if given is None else {"arguments": _small(given)}
    return {
        _writable(name[:60]) if isinstance(name, str) else _described(name): _small(given[name])
        for name in list(given)[:20]
    }


def _small(value: Any) -> Any:
    if isinstance(value, str):
        return _writable(value[:500])
    if isinstance(value, list) and len(value) <= 10 and all(isinstance(item, str) for item in value):
        return [_writable(item[:100]) for item in value]
    if value is None or isinstance(value, bool):
        return value
    if isinstance(value, int | float) and -(2**53) <= value <= 2**53:
        return value
    return _described(value)


def _described(value: Any) -> str:
    """A value in a few words, whatever it is."""
    if isinstance(value, str):
        return quoted(value)
    if isinstance(value, bool):
        return str(value).lower()
    if isinstance(value, float) or (isinstance(value, int) and -(2**53) <= value <= 2**53):
        return str(value)
    nouns = {list: "a list", tuple: "a list", dict: "an object", int: "a huge number", type(None): "null"}
    return nouns.get(type(value), type(value).__name__[:60])
