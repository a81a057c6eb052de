"""The digest of a table and the order of its rows, as docs/formats.md specifies them byte by byte."""

from __future__ import annotations

import hashlib
from collections.abc import Mapping, Sequence
from typing import TYPE_CHECKING, Any

import numpy as np
from numpy.typing import NDArray

if TYPE_CHECKING:  # table.py computes a digest for every table it reads
    from .table import Column

_HEADER = b"cobench table 1\n"
_LETTERS = {"bool": b"b", "string": b"s", "date": b"d", "time": b"t", "number": b"n"}
_STORED = {"bool": "u1", "date": "<i4", "time": "<i8", "number": "<i8"}


def table_digest(rows: int, columns: Mapping[str, Column]) -> str:
    """`sha256:` and the hex digest of `rows` rows, which must be in the order of their key. Linear in the content."""
    state = hashlib.sha256(_HEADER)
    state.update(_int64(rows))
    for name in sorted(columns):  # code point order is the order of UTF-8 bytes
        column = columns[name]
        encoded = name.encode()
        state.update(_int64(len(encoded)) + encoded + _LETTERS[column.type.kind])
        if column.null is None:
            state.update(b"\0")
        else:
            state.update(b"\1" + column.null.tobytes())
        if column.type.kind == "string":
            lengths, content = _texts(column)
            state.update(lengths)
            state.update(content)
        else:
            state.update(np.ascontiguousarray(column.values, dtype=_STORED[column.type.kind]).data)
    return "sha256:" + state.hexdigest()


def _int64(value: int) -> bytes:
    return value.to_bytes(8, "little", signed=True)


def _texts(column: Column) -> tuple[memoryview, bytes]:
    """The lengths of all rows in UTF-8 bytes as int64[n], and the bytes of all rows joined; a null is empty."""
    entries: NDArray[Any] = np.empty(len(column.dictionary) + 1, dtype=object)
    entries[:-1] = [text.encode() for text in column.dictionary]
    entries[-1] = b""
    lengths = np.array([len(entry) for entry in entries], dtype="<i8")
    codes = column.values if column.null is None else np.where(column.null, len(column.dictionary), column.values)
    return lengths[codes].data, b"".join(entries[codes].tolist())


def key_order(keys: Sequence[NDArray[Any]]) -> tuple[NDArray[np.int64] | None, NDArray[np.bool_]]:
    """The permutation that sorts rows by their key columns, None when they are sorted already; and repeated keys.

    The second is bool[n-1]: whether a row, in sorted order, has the same key as the next one. Linear for sorted rows.
    """
    descends, repeats = _neighbours(keys)
    if not descends.any():
        return None, repeats
    order = np.lexsort(keys[::-1])
    return order, _neighbours([values[order] for values in keys])[1]


def _neighbours(keys: Sequence[NDArray[Any]]) -> tuple[NDArray[np.bool_], NDArray[np.bool_]]:
    """For each row but the last, whether its key is above that of the next row, and whether it is the same."""
    descends = np.zeros(max(len(keys[0]) - 1, 0), dtype=np.bool_)
    same = ~descends
    for values in keys:
        before, after = values[:-1], values[1:]
        descends |= same & (before > after)
        same &= before == after
    return descends, same
