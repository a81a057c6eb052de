"""Reading files with one JSON object on each line, as programs write them."""

from __future__ import annotations

import json
import os
from collections.abc import Iterator
from pathlib import Path
from typing import Any

from .errors import InputError, Where
from .source import MAX_DIGITS, repeated_key

MAX_LINE = 8 << 20  # bytes


def json_lines(path: Path, what: str) -> Iterator[tuple[Where, dict[str, Any]]]:
    """The objects in a file and their places; `what` one of them is, for messages.

    UTF-8, with or without a byte order mark, lines that end in LF or CRLF; empty lines count, but are none. Numbers
    that are not whole, or have more than 40 digits, stay text. Raises InputError with file and line for anything else:
    other JSON, a repeated key, NaN, half of a surrogate pair, a line of more than 8 MiB, a compressed file.
    """
    try:
        if path.is_dir():
            raise InputError("this is a folder, not a file", where=Where(str(path)))
        with path.open("rb") as stream:
            for number, line in enumerate(iter(lambda: stream.readline(MAX_LINE + 2), b""), 1):
                where = Where(str(path), number, 1)
                text = _text(line, where, first=number == 1)
                if text:
                    yield where, _object(text, where, what)
    except OSError as fault:
        raise InputError(f"cannot read the file: {os.strerror(fault.errno or 0)}", where=Where(str(path))) from None


def _text(line: bytes, where: Where, *, first: bool) -> str:
    if first and line.startswith(b"\x1f\x8b"):
        raise InputError("this file is compressed", where=Where(where.file), hint="unpack it first: gunzip --keep FILE")
    if len(line) > MAX_LINE:
        raise InputError("a line has at most 8 MiB", where=where)
    try:
        return line.decode("utf-8-sig" if first else "utf-8").strip()
    except UnicodeDecodeError as fault:
        raise InputError(f"not UTF-8 text: byte 0x{line[fault.start]:02x}", where=where) from None


def _object(text: str, where: Where, what: str) -> dict[str, Any]:
    def refuse(message: str) -> InputError:
        return InputError(message, where=where)

    def distinct(pairs: list[tuple[str, Any]]) -> dict[str, Any]:
        if (twice := repeated_key(pairs)) is not None:
            raise refuse(f"the key '{twice[:80]}' stands here twice")
        return dict(pairs)

    def whole(digits: str) -> int | str:
        return int(digits) if len(digits) <= MAX_DIGITS else digits

    def constant(name: str) -> Any:
        raise refuse(f"{name} is no JSON")

    try:
        value = json.loads(text, object_pairs_hook=distinct, parse_int=whole, parse_float=str, parse_constant=constant)
        json.dumps(value, ensure_ascii=False).encode()
    except json.JSONDecodeError as fault:
        raise InputError(
            f"not valid JSON: {fault.msg}",
            where=Where(where.file, where.line, fault.colno, text),
            hint=f"each line is {what}, as a JSON object: {{…}}",
        ) from None
    except UnicodeEncodeError:
        raise refuse("half of a surrogate pair is no character") from None
    except RecursionError:
        raise refuse("this is nested too deeply") from None
    if not isinstance(value, dict):
        raise InputError("a JSON object is needed here: {…}", where=where, hint=f"each line is {what}")
    return value
