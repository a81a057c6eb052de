"""Reading other people's JSON: every value knows its place, with which it is refused if it is not as expected."""

from __future__ import annotations

import gzip
import json
import os
import zlib
from collections.abc import Iterator
from dataclasses import dataclass
from fractions import Fraction
from pathlib import Path
from typing import Any

from ..schemas.errors import InputError, Where
from ..schemas.source import repeated_key
from ..schemas.units import parse_decimal


@dataclass(frozen=True, slots=True)
class Node:
    """A value in a JSON file, and the JSON pointer to it (RFC 6901). Numbers that are not whole are exact fractions."""

    value: Any
    file: str
    pointer: str = ""
    line: int = 0

    def fault(self, message: str, hint: str = "") -> InputError:
        """An error about this value."""
        where = Where(f"{self.file}#{self.pointer}") if not self.line else Where(self.file, self.line, 1)
        return InputError(
            f"{self.pointer}: {message}" if self.line and self.pointer else message, where=where, hint=hint
        )

    def __getitem__(self, key: str) -> Node:
        """The value of a key that must be there."""
        fields = self._typed(dict, "an object")
        if key not in fields:
            raise self.fault(f"the key '{key}' is missing")
        return self._below(key, fields[key])

    def __contains__(self, key: str) -> bool:
        return key in self._typed(dict, "an object")

    def fields(self) -> dict[str, Node]:
        """The values of an object by key."""
        return {key: self._below(key, value) for key, value in self._typed(dict, "an object").items()}

    def items(self) -> list[Node]:
        """The values of a list."""
        return [self._below(str(at), value) for at, value in enumerate(self._typed(list, "a list"))]

    def text(self) -> str:
        """The value as text that is not empty."""
        if not (text := self._typed(str, "text")):
            raise self.fault("this is empty")
        return text

    def whole(self, least: int = 0, most: int = 2**31) -> int:
        """The value as a whole number between two bounds."""
        value = self._typed(int, "a whole number")
        if not least <= value <= most:
            raise self.fault(f"{value} is not between {least} and {most}")
        return value

    def number(self) -> Fraction:
        """The value as an exact number."""
        if isinstance(self.value, bool) or not isinstance(self.value, int | Fraction):
            raise self.fault(f"a number is needed here, this is {_shown(self.value)}")
        return Fraction(self.value)

    def _typed(self, kind: type, what: str) -> Any:
        if not isinstance(self.value, kind) or isinstance(self.value, bool):
            raise self.fault(f"{what} is needed here, this is {_shown(self.value)}")
        return self.value

    def _below(self, key: str, value: Any) -> Node:
        step = key.replace("~", "~0").replace("/", "~1")
        return Node(value, self.file, f"{self.pointer}/{step}", self.line)


def read_json(path: Path) -> Node:
    """The content of a JSON file; raises InputError for anything else, and for keys that stand somewhere twice."""
    return Node(_parsed(_bytes(path), str(path), 0), str(path))


def read_json_lines(path: Path) -> Iterator[Node]:
    """The lines of a file of JSON lines, compressed if its name ends in .gz; raises InputError for anything else."""
    content = _bytes(path)
    if path.suffix == ".gz":
        try:
            content = gzip.decompress(content)
        except (OSError, EOFError, zlib.error) as fault:
            raise InputError(f"not a whole gzip file: {fault}", where=Where(str(path))) from None
    for number, line in enumerate(content.split(b"\n"), 1):
        if line.strip():
            yield Node(_parsed(line, str(path), number), str(path), line=number)


def _bytes(path: Path) -> bytes:
    try:
        return path.read_bytes()
    except OSError as fault:
        reason = os.strerror(fault.errno or 0)
        raise InputError(f"cannot read the file: {reason}", where=Where(str(path))) from None


def _parsed(content: bytes, file: str, line: int) -> Any:
    def distinct(pairs: list[tuple[str, Any]]) -> dict[str, Any]:
        if (twice := repeated_key(pairs)) is not None:
            raise InputError(f"the key '{twice}' stands here twice", where=Where(file, line, 1 if line else 0))
        return dict(pairs)

    def refuse(constant: str) -> Any:
        raise InputError(f"{constant} is no number", where=Where(file, line, 1 if line else 0))

    def decimal(digits: str) -> Fraction:
        if (found := parse_decimal(digits)) is None:  # an exponent may stand for more digits than there is memory
            raise ValueError(f"{digits[:60]} is no plain decimal of at most 40 digits")
        return found

    try:
        text = content.decode("utf-8-sig")
        value = json.loads(text, object_pairs_hook=distinct, parse_float=decimal, parse_constant=refuse)
        json.dumps(value, ensure_ascii=False, default=str).encode()
    except json.JSONDecodeError as fault:
        where = Where(file, max(line, 1) + fault.lineno - 1, fault.colno)
        raise InputError(f"not valid JSON: {fault.msg}", where=where) from None
    except UnicodeDecodeError as fault:
        raise InputError(f"not UTF-8 text at byte {fault.start}", where=Where(file, line, 1 if line else 0)) from None
    except UnicodeEncodeError:
        where = Where(file, line, 1 if line else 0)
        raise InputError("half of a surrogate pair is no character", where=where) from None
    except (RecursionError, ValueError) as fault:
        reason = "nested too deep" if isinstance(fault, RecursionError) else str(fault)
        raise InputError(f"not readable JSON: {reason}", where=Where(file, line, 1 if line else 0)) from None
    return value


def _shown(value: Any) -> str:
    if isinstance(value, dict | list):
        return "an object" if isinstance(value, dict) else "a list"
    text = str(value) if isinstance(value, Fraction) else json.dumps(value, ensure_ascii=False)
    return text if len(text) <= 60 else f"{text[:60]}…"
