"""From pydantic's complaints to errors with a place: shared by every file format that people write."""

from __future__ import annotations

from typing import Annotated, Any, TypeVar

from pydantic import BaseModel, ConfigDict, Field, ValidationError

from .canonical import LARGEST
from .errors import InputError, did_you_mean, raise_all
from .source import Source

Model = TypeVar("Model", bound=BaseModel)
# Integers of files: what is written as a number is read as one, and a larger one is never written.
Whole = Annotated[int, Field(ge=-LARGEST, le=LARGEST)]
Count = Annotated[int, Field(ge=0, le=LARGEST)]
Positive = Annotated[int, Field(ge=1, le=LARGEST)]

_MESSAGES = {
    "missing": "'{key}' is missing",
    "extra_forbidden": "unknown key '{key}'",
    "string_type": "text is needed here",
    "int_type": "a whole number is needed here",
    "bool_type": "true or false is needed here",
    "dict_type": "a mapping (key: value) is needed here",
    "model_type": "a mapping (key: value) is needed here",
    "list_type": "a list is needed here",
    "tuple_type": "a list is needed here",
    "string_pattern_mismatch": "'{input}' does not have the form {pattern}",
    "string_too_short": "this must not be empty",
    "literal_error": "this must be {expected}",
    "greater_than_equal": "this must be at least {ge}",
    "less_than_equal": "this must be at most {le}",
    "too_short": "at least {min_length} must be given here",
    "too_long": "at most {max_length} can be given here",
}
# A key that only one kind of file has at its top level, and what such a file is.
_KINDS = {
    "choose": "a task",
    "picks": "a plan",
    "cobench_certificate": "a certificate",
    "cobench_dataset": "a dataset's manifest",
}
_SHORT = ("string_type", "literal_error")  # complaints about the short form of something that may have a long one
_LONG = ("model_type", "dict_type", "model_attributes_type")


class Written(BaseModel):
    """Base of everything written to files: frozen, strict, no unknown keys."""

    model_config = ConfigDict(frozen=True, strict=True, extra="forbid", defer_build=True)


def validate(model: type[Model], source: Source, error: type[InputError]) -> Model:
    """The source as `model`; raises `error` (or InputErrors) with file, line and column for each complaint."""
    if not isinstance(source.data, dict):
        what = "is empty" if source.data is None else "does not hold a mapping (key: value)"
        raise error(f"the file {what}", where=source.where())
    own = next((key for key in _KINDS if key in model.model_fields), None)
    other = next((key for key in _KINDS if key in source.data), None)
    if own is not None and other is not None and own not in source.data:
        raise error(f"this is {_KINDS[other]}, not {_KINDS[own]}", where=source.where((other,), key=True))
    try:
        return model.model_validate(source.data)
    except ValidationError as fault:
        found = [
            _translate(complaint, source, model, error)
            for complaint in _relevant(fault.errors(include_url=False), source.data)
        ]
        raise_all(_sorted(found))
        raise  # not reached: a ValidationError has at least one complaint


def _relevant(complaints: list[Any], data: Any) -> list[Any]:
    """The complaints about the form that was meant: no mapping was meant as the short text, no text as a mapping."""
    placed = [(complaint, _path_in(data, complaint["loc"])) for complaint in complaints]
    kept: list[Any] = []
    for complaint, path in placed:
        others = [other for item, other in placed if item is not complaint and other[: len(path)] == path]
        written = _at(data, path)
        wrong_form = complaint["type"] in (_SHORT if isinstance(written, dict | list) else _LONG)
        if not (wrong_form and others):
            kept.append(complaint)
    return kept or complaints


def _at(data: Any, path: tuple[int | str, ...]) -> Any:
    for step in path:
        data = data[step]
    return data


def _sorted(found: list[InputError]) -> list[InputError]:
    return sorted(found, key=lambda item: (item.where.line, item.where.column) if item.where else (0, 0))


def _translate(complaint: Any, source: Source, model: type[BaseModel], error: type[InputError]) -> InputError:
    loc, kind = complaint["loc"], complaint["type"]
    about_key = bool(loc) and loc[-1] == "[key]"
    loc = loc[:-1] if about_key else loc
    path = _path_in(source.data, loc)
    key = str(loc[-1]) if loc else ""
    message, hint = str(complaint["msg"]).removeprefix("Value error, "), ""
    if kind in _MESSAGES:
        words = {"key": key, "input": complaint.get("input"), **complaint.get("ctx", {})}
        message = _MESSAGES[kind].format_map({name: str(word)[:80] for name, word in words.items()})
    if kind == "extra_forbidden":
        hint = did_you_mean(key, _fields_at(model, loc[:-1]), "keys")
    elif kind == "missing":
        path = path[:-1] if path and path[-1] == key else path
    where = source.where(path, key=about_key or kind == "extra_forbidden")
    return error(message, where=where, hint=hint)


def _path_in(data: Any, loc: tuple[int | str, ...]) -> tuple[int | str, ...]:
    """The part of a pydantic location that exists in the data: union and alias tags are left out."""
    path: list[int | str] = []
    for step in loc:
        if (isinstance(data, dict) and step in data) or (isinstance(data, list) and isinstance(step, int)):
            path.append(step)
            data = data[step]  # pyright: ignore[reportCallIssue, reportArgumentType] - the step fits, see above
    return tuple(path)


def _fields_at(model: type[BaseModel], loc: tuple[int | str, ...]) -> list[str]:
    """The keys allowed where an unknown one was found, found by walking the JSON schema of the model."""
    schema = model.model_json_schema(mode="validation")
    definitions = schema.get("$defs", {})
    node: Any = schema
    for step in loc:
        node = _resolve(node, definitions)
        node = node.get("properties", {}).get(step) or node.get("additionalProperties") or node.get("items") or node
    return list(_resolve(node, definitions).get("properties", {}))


def _resolve(node: Any, definitions: dict[str, Any]) -> dict[str, Any]:
    if not isinstance(node, dict):
        return {}
    if "$ref" in node:
        return _resolve(definitions[str(node["$ref"]).rsplit("/", 1)[1]], definitions)
    for option in node.get("anyOf", []):
        resolved = _resolve(option, definitions)
        if "properties" in resolved:
            return resolved
    return node
