"""Canonical JSON and digests: one spelling per value, so that equal content has equal bytes.

Keys sorted by code point, no spaces, UTF-8 without escapes beyond JSON's own, no floats, integers of 2^53 and more in
absolute value as decimal strings (JavaScript and many readers round them), one newline at the end. A text that is not
in this form is refused on reading, so bytes and digest always speak of the same thing.
"""

from __future__ import annotations

import hashlib
import json
from typing import Any

from .errors import CertificateError, Where

_EXACT = 2**53
LARGEST = _EXACT - 1  # the largest integer that canonical JSON holds as a number


def canonical_bytes(value: Any) -> bytes:
    """The canonical JSON of dicts with text keys, lists, str, int, bool and None; TypeError for anything else."""
    text = json.dumps(_plain(value), ensure_ascii=False, sort_keys=True, separators=(",", ":"), allow_nan=False)
    return text.encode("utf-8") + b"\n"


def digest(value: Any) -> str:
    """`sha256:` and the hex digest of the canonical JSON of `value`."""
    return "sha256:" + hashlib.sha256(canonical_bytes(value)).hexdigest()


def read_canonical(content: bytes, name: str) -> Any:
    """The value of canonical JSON; raises CertificateError when the bytes are anything else."""
    where = Where(name)
    try:
        value = json.loads(content.decode("utf-8"), parse_float=_no_float, parse_constant=_no_float)
        canonical = canonical_bytes(value)
    except (UnicodeError, ValueError, TypeError, RecursionError) as fault:
        looks = content.lstrip().startswith(b"{")
        hint = "" if looks else "a certificate is needed here: `cobench verify` writes one for a task"
        raise CertificateError(f"not canonical JSON: {fault}", where=where, hint=hint) from None
    if canonical != content:
        hint = "certificates are compared byte by byte; do not reformat them"
        raise CertificateError("the JSON is not in canonical form", where=where, hint=hint)
    return value


def wide(value: int) -> int | str:
    """An integer as canonical JSON holds it: itself, or a decimal string from 2^53 on."""
    return value if abs(value) < _EXACT else str(value)


def narrow(value: int | str) -> int:
    """The integer behind `wide`; ValueError for a string that should have been a number, or is none."""
    if isinstance(value, str):
        number = int(value)
        if abs(number) < _EXACT or str(number) != value:
            raise ValueError(f"'{value}' is not the canonical spelling of an integer")
        return number
    return value


def _plain(value: Any) -> Any:
    if isinstance(value, list | tuple):  # long ones hold integers, mostly, or pairs of them
        return [item if type(item) is int and -_EXACT < item < _EXACT else _plain(item) for item in value]
    if isinstance(value, bool | str) or value is None:
        return value
    if isinstance(value, int):
        return wide(value)
    if isinstance(value, dict):
        if not all(isinstance(key, str) for key in value):
            raise TypeError("keys of canonical JSON are text")
        return {key: _plain(item) for key, item in value.items()}
    raise TypeError(f"canonical JSON holds no {type(value).__name__}")


def _no_float(text: str) -> Any:
    raise ValueError(f"{text[:40]} is not an integer")
