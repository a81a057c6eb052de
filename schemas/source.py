"""Reading YAML that people write: plain data, with the place of every key and value.

Strict on purpose. Built on the parser events of ruamel.yaml (YAML 1.2), so that nothing is converted behind the
author's back: whole numbers, true, false and null are recognised, everything else stays the text that was written
(`NO` is not false, `12:30` is not 750, `4.35` never becomes a float). Anchors, aliases, tags, several documents,
duplicate keys and scalars over several lines are refused, with the place.
"""

from __future__ import annotations

import json
import os
import re
from collections import Counter
from collections.abc import Sequence
from dataclasses import dataclass, field
from pathlib import Path
from typing import Any

from .errors import InputError, Where

MAX_BYTES = 1 << 20
MAX_DEPTH = 16
MAX_DIGITS = 40
_WHOLE = re.compile(r"-?(0|[1-9][0-9]*)\Z")
_WORDS: dict[str, bool | None] = {"true": True, "false": False, "null": None, "~": None, "": None}
_QUOTE_IT = "YAML reads this in its own way; put the whole value in quotes, or use block style (one key per line)"

Path_ = tuple[str | int, ...]


@dataclass(frozen=True, slots=True)
class _Mark:
    line: int
    column: int
    length: int
    raw: str = ""
    exact: bool = True  # the text stands in the file character by character, so offsets into it are columns


@dataclass(frozen=True, slots=True)
class Source:
    """One parsed file: `data` as dicts, lists, str, int, bool and None; `where(path)` for each value in it."""

    name: str
    data: Any
    lines: tuple[str, ...] = ()
    _values: dict[Path_, _Mark] = field(default_factory=dict[Path_, _Mark])
    _keys: dict[Path_, _Mark] = field(default_factory=dict[Path_, _Mark])

    def where(self, path: Path_ = (), *, key: bool = False, offset: int = 0, length: int = 0) -> Where:
        """The place of the value (or key) at `path`, or of its nearest ancestor; `offset` moves into its text."""
        marks = self._keys if key else self._values
        mark = marks.get(path)
        while mark is None and path:
            path = path[:-1]
            mark, offset, length = self._values.get(path), 0, 0
        if mark is None:
            return Where(self.name)
        column = mark.column + (offset if mark.exact else 0)
        text = self.lines[mark.line - 1] if mark.line <= len(self.lines) else ""
        return Where(self.name, mark.line, column, text, length or mark.length)

    def raw(self, path: Path_) -> str | None:
        """The scalar at `path` as it was written, or None when it is no scalar."""
        mark = self._values.get(path)
        return mark.raw if mark is not None and not isinstance(self._at(path), dict | list) else None

    def _at(self, path: Path_) -> Any:
        value = self.data
        for step in path:
            value = value[step]
        return value


def read_text(path: Path, error: type[InputError] = InputError) -> str:
    """The UTF-8 text of a file of at most 1 MiB; anything else is an `error` that says why."""
    where = Where(str(path))
    try:
        if path.is_dir():
            raise error("this is a folder, not a file", where=where)
        with path.open("rb") as stream:
            content = stream.read(MAX_BYTES + 1)
    except OSError as fault:
        raise error(f"cannot read the file: {os.strerror(fault.errno or 0)}", where=where) from None
    if len(content) > MAX_BYTES:
        raise error("the file is larger than 1 MiB", where=where)
    try:
        return content.decode("utf-8-sig")
    except UnicodeDecodeError as fault:
        line = content.count(b"\n", 0, fault.start) + 1
        raise error(
            f"not UTF-8 text: byte 0x{content[fault.start]:02x} at offset {fault.start}",
            where=Where(str(path), line, 1),
        ) from None


def load_source(path: Path, error: type[InputError] = InputError) -> Source:
    """The parsed YAML file at `path`; raises `error` with line and column for anything refused."""
    return parse_source(read_text(path, error), str(path), error)


def parse_source(text: str, name: str, error: type[InputError] = InputError) -> Source:
    """The parsed YAML `text`; `name` stands for the file in messages."""
    from ruamel.yaml import YAML  # on first use: it costs 40 ms
    from ruamel.yaml.error import MarkedYAMLError, YAMLError
    from ruamel.yaml.reader import ReaderError

    lines = tuple(text.splitlines())
    builder = _Builder(name, lines, error)
    try:
        for event in YAML(typ="safe", pure=True).parse(text):
            builder.take(event)
    except MarkedYAMLError as fault:
        mark = fault.problem_mark or fault.context_mark
        problem = str(fault.problem or fault.context or "not YAML").replace("\n", " ")
        where = builder.place(mark) if mark is not None else Where(name)
        raise error(f"not valid YAML: {problem}", where=where, hint=_trap_hint(where.text)) from None
    except ReaderError as fault:
        before = text[: int(fault.position)]
        line, column = before.count("\n") + 1, len(before) - before.rfind("\n")
        where = Where(name, line, column, lines[line - 1] if line <= len(lines) else "")
        found = f"U+{ord(text[len(before)]):04X}" if len(before) < len(text) else "at the end"
        raise error(f"not valid YAML: the character {found} cannot stand here", where=where) from None
    except (YAMLError, ValueError, RecursionError) as fault:
        problem = (str(fault).splitlines() or ["unreadable"])[0]
        raise error(f"not valid YAML: {problem}", where=Where(name)) from None
    return Source(name, builder.data, lines, builder.values, builder.keys)


def repeated_key(pairs: Sequence[tuple[str, Any]]) -> str | None:
    """The first key of a JSON object that stands in it twice; None when each stands there once. Linear in the pairs."""
    times = Counter(key for key, _ in pairs)
    return next((key for key in times if times[key] > 1), None)


def json_source(text: str, name: str, line: int, error: type[InputError] = InputError) -> Source:
    """The parsed JSON object `text`, as YAML would read it: numbers that are not whole stay text.

    Every value has one place, the line of the file `name` on which the text begins. Raises `error` for what is refused.
    """

    def refuse(message: str) -> InputError:
        return error(message, where=Where(name, line, 1))

    def distinct(pairs: list[tuple[str, Any]]) -> dict[str, Any]:
        if (twice := repeated_key(pairs)) is not None:
            raise refuse(f"the key '{twice}' stands here twice")
        return dict(pairs)

    def whole(digits: str) -> int:
        if len(digits) > MAX_DIGITS:
            raise refuse(f"a number of more than {MAX_DIGITS} digits")
        return int(digits)

    if len(text) > MAX_BYTES:
        raise refuse("this is longer than 1 MiB")
    try:
        data = json.loads(text, object_pairs_hook=distinct, parse_int=whole, parse_float=str, parse_constant=str)
        json.dumps(data, ensure_ascii=False).encode()
    except json.JSONDecodeError as fault:
        where = Where(name, line + fault.lineno - 1, fault.colno, text.split("\n")[fault.lineno - 1])
        raise error(f"not valid JSON: {fault.msg}", where=where) from None
    except UnicodeEncodeError:
        raise refuse("half of a surrogate pair is no character") from None
    except RecursionError:
        raise refuse(f"nested deeper than {MAX_DEPTH} levels") from None
    if _depth(data) > MAX_DEPTH:
        raise refuse(f"nested deeper than {MAX_DEPTH} levels")
    return Source(name, data, (), {(): _Mark(line, 1, 1)})


def _depth(data: Any) -> int:
    if not isinstance(data, dict | list):
        return 0
    return 1 + max((_depth(item) for item in (data.values() if isinstance(data, dict) else data)), default=0)


def _trap_hint(line: str) -> str:
    """For the ways an expression collides with YAML, how to write it; else nothing."""
    value = line.partition(":")[2].strip()
    if value[:1] in "\"'{[%@`&*!|>" and value:
        return _QUOTE_IT
    return _QUOTE_IT if ": " in value else ""


class _Builder:
    """Folds parser events into plain data; keeps marks; refuses what the module docstring lists."""

    def __init__(self, name: str, lines: tuple[str, ...], error: type[InputError]) -> None:
        self.name, self.lines, self.error = name, lines, error
        self.data: Any = None
        self.values: dict[Path_, _Mark] = {}
        self.keys: dict[Path_, _Mark] = {}
        self._open: list[tuple[Any, Path_, bool]] = []  # container, its path, in flow style
        self._key: list[str | None] = []  # the key that waits for its value, per open container
        self._documents = 0

    def place(self, mark: Any, length: int = 1) -> Where:
        line = int(mark.line) + 1
        text = self.lines[line - 1] if line <= len(self.lines) else ""
        return Where(self.name, line, int(mark.column) + 1, text, length)

    def refuse(self, message: str, mark: Any, hint: str = "", length: int = 1) -> None:
        raise self.error(message, where=self.place(mark, length), hint=hint)

    def take(self, event: Any) -> None:
        kind = type(event).__name__
        if kind == "DocumentStartEvent":
            self._documents += 1
            if self._documents > 1:
                self.refuse("the file holds more than one YAML document", event.start_mark)
        elif kind == "AliasEvent":
            self.refuse("YAML aliases (*name) are not used here", event.start_mark, _QUOTE_IT)
        elif kind in ("MappingStartEvent", "SequenceStartEvent"):
            self._plain(event)
            self._begin({} if kind == "MappingStartEvent" else [], event)
        elif kind in ("MappingEndEvent", "SequenceEndEvent"):
            self._open.pop()
            self._key.pop()
        elif kind == "ScalarEvent":
            self._plain(event)
            self._scalar(event)

    def _plain(self, event: Any) -> None:
        if event.anchor is not None:
            self.refuse("YAML anchors (&name) are not used here", event.start_mark, _QUOTE_IT)
        if event.ctag is not None and str(event.ctag) not in ("None", "!"):
            hint = "write 'not' instead of '!'; " + _QUOTE_IT
            self.refuse(f"YAML tags ({event.ctag}) are not used here", event.start_mark, hint)

    def _begin(self, container: Any, event: Any) -> None:
        if len(self._open) >= MAX_DEPTH:
            self.refuse(f"nested deeper than {MAX_DEPTH} levels", event.start_mark)
        if self._awaits_key():
            self.refuse("a key must be a plain word", event.start_mark, _QUOTE_IT)
        mark = event.start_mark
        path = self._store(container, _Mark(int(mark.line) + 1, int(mark.column) + 1, 1))
        self._open.append((container, path, bool(event.flow_style)))
        self._key.append(None)

    def _awaits_key(self) -> bool:
        return bool(self._open) and isinstance(self._open[-1][0], dict) and self._key[-1] is None

    def _scalar(self, event: Any) -> None:
        start, end = event.start_mark, event.end_mark
        quoted = event.style in ("'", '"')
        if event.style in ("|", ">") or start.line != end.line:
            self.refuse("a value must stand on one line", start, "join the lines; an expression may be up to 4 KB long")
        raw = str(event.value)
        if not raw.isascii() and any("\ud800" <= char <= "\udfff" for char in raw):
            self.refuse("half of a surrogate pair is no character", start)
        length = max(1, int(end.column) - int(start.column))
        exact = not quoted or length == len(raw) + 2
        mark = _Mark(int(start.line) + 1, int(start.column) + 1 + quoted, len(raw) or 1, raw, exact)
        if not raw and not quoted and self._open and self._key[-1] is not None:
            key = self.keys[(*self._open[-1][1], self._key[-1])]  # the parser places what is absent at the next token
            mark = _Mark(key.line, key.column + key.length, 1)
        if self._awaits_key():
            container, path, _ = self._open[-1]
            if raw in container:
                self.refuse(f"the key '{raw}' stands here twice", start, length=length)
            self._key[-1] = raw
            self.keys[(*path, raw)] = mark
            return
        value = raw if quoted else _WORDS.get(raw, raw)
        if isinstance(value, str) and not quoted and _WHOLE.match(value):
            if len(value) > MAX_DIGITS:
                self.refuse(f"a number of more than {MAX_DIGITS} digits", start, length=length)
            value = int(value)
        if value is None and self._open and self._open[-1][2] and isinstance(self._open[-1][0], dict):
            key = str(self._key[-1])
            if not key.isidentifier():
                self.refuse(f"'{key}' became a key of its own, without a value", start, _QUOTE_IT)
        self._store(value, mark)

    def _store(self, value: Any, mark: _Mark) -> Path_:
        if not self._open:
            self.data = value
            self.values[()] = mark
            return ()
        container, path, _ = self._open[-1]
        if isinstance(container, dict):
            step: str | int = str(self._key[-1])
            self._key[-1] = None
            container[step] = value
        else:
            step = len(container)
            container.append(value)
        self.values[(*path, step)] = mark
        return (*path, step)
