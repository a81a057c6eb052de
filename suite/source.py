"""The tasks of a suite: YAML files in folders, JSON Lines, and Parquet files with one task a row."""

from __future__ import annotations

import hashlib
import json
import os
import re
from collections.abc import Iterator
from dataclasses import dataclass, replace
from pathlib import Path
from typing import Any

import pyarrow as pa
from pyarrow.parquet import ParquetFile

from ..schemas.errors import CobenchError, InputError, TaskError, Where
from ..schemas.source import Source, json_source, parse_source, read_text
from ..schemas.task import parse_task

SUFFIXES = (".yaml", ".yml", ".jsonl", ".parquet")
NO_SUITES = ("dataset.yaml", "suite.json")  # folders that hold one of them are data, or results of `certify`
COLUMN = "task"
NOT_UTF8 = " (not UTF-8)"

_ID = re.compile(r"^id:[ ]+([\"']?)([A-Za-z0-9][A-Za-z0-9._-]{0,127})\1[ ]*(?:#.*)?$", re.MULTILINE)
_WORLD = re.compile(r"^(?:dataset|given|choose):.*(?:\n(?:[ ].*)?)*", re.MULTILINE)


@dataclass(frozen=True, slots=True)
class Entry:
    """One task as it was found, not yet validated.

    `name` stands for its file in messages, below the folder of the suite; `line` is there in JSON Lines only. `id`:
    None where it could not be read. `digest` of the text. `world`: equal for tasks that read the same tables in the
    same way, most likely. `fault`: why it cannot be certified, whatever the text says.
    """

    name: str
    line: int
    id: str | None
    text: str
    digest: str
    world: str = ""
    fault: str = ""

    @property
    def place(self) -> str:
        """Where it stands; unique in a suite."""
        return f"{self.name}:{self.line}" if self.line else self.name

    @property
    def key(self) -> str:
        """What decides its shard: the id, if it has one."""
        return self.place if self.id is None else self.id

    def shard(self, number: int) -> int:
        """Its shard, from 1 to `number`: the same on every machine."""
        return int.from_bytes(hashlib.sha256(self.key.encode()).digest()[:8]) % number + 1

    def source(self) -> Source:
        """The parsed text; raises TaskError. JSON takes a third of the time of YAML, but its places have no columns."""
        if self.fault:
            raise TaskError(self.fault, where=self.where())
        if self._is_json:
            return json_source(self.text, self.name, self.line or 1, TaskError)
        return parse_source(self.text, self.name, TaskError)

    def exact_source(self) -> Source | None:
        """JSON with columns: read as YAML, which it nearly always is too; None for what is no JSON, or not both."""
        if not self._is_json:
            return None
        try:
            return parse_source("\n" * (self.line - 1) + self.text, self.name, TaskError)
        except TaskError:
            return None

    def has_its_id(self) -> bool:
        """Whether the text, read properly, has the id that was found by looking it up; takes time."""
        try:
            data = self.source().data
        except TaskError:
            return False
        return isinstance(data, dict) and data.get("id") == self.id

    @property
    def _is_json(self) -> bool:
        return not self.name.endswith((".yaml", ".yml")) and self.text.lstrip()[:1] == "{"

    def where(self) -> Where:
        """Its place in messages."""
        return Where(self.name, self.line, 1 if self.line else 0)


@dataclass(frozen=True, slots=True)
class Suite:
    """All tasks of a suite in the order of their places, and the folder that the names of their files start from."""

    root: Path
    entries: tuple[Entry, ...]


def find_suite(path: Path) -> Suite:
    """The tasks in a folder, its subfolders, or one file of tasks. Invalid tasks are among them, to be told of later.

    Left out are folders that hold a dataset or results. A task whose id another has before it gets a fault. Memory and
    time are linear in the texts. Raises TaskError when there is no task at all, or a folder that cannot be read.
    """
    root = path if path.is_dir() else path.parent
    files = list(_files(path)) if path.is_dir() else [path]
    named = sorted((_shown(file.relative_to(root)), file) for file in files)
    found = _Found()
    for name, file in named:
        for entry in _entries(name, file):
            found.add(entry)
    if not found.entries:
        hint = f"tasks are in files that end in {', '.join(SUFFIXES)}"
        raise TaskError("no tasks are here", where=Where(str(path)), hint=hint)
    return Suite(root, tuple(found.entries))


class _Found:
    """Entries, of which no two have one id without a fault; an id of which two make use is looked at more closely."""

    def __init__(self) -> None:
        self.entries: list[Entry] = []
        self._first: dict[str, int] = {}
        self._sure: set[str] = set()

    def add(self, entry: Entry) -> None:
        """Takes one more entry."""
        if entry.id is not None and entry.id in self._first:
            entry = self._distinct(entry, entry.id)
        if entry.id is not None:
            self._first.setdefault(entry.id, len(self.entries))
        self.entries.append(entry)

    def _distinct(self, entry: Entry, name: str) -> Entry:
        """The entry with a fault if another really has its id, without the id if it has not; or that is the other."""
        number = self._first[name]
        if name not in self._sure:
            if not self.entries[number].has_its_id():
                self.entries[number] = replace(self.entries[number], id=None)
                del self._first[name]
                return entry
            self._sure.add(name)
        if not entry.has_its_id():
            return replace(entry, id=None)
        return replace(entry, fault=f"the id '{name}' is also that of {self.entries[number].place}")


def _shown(path: Path) -> str:
    """The path as text: one that is not UTF-8 with escapes, so that no other looks like it, and an end of its own."""
    name = path.as_posix()
    try:
        name.encode()
    except UnicodeEncodeError:
        return os.fsencode(name).replace(b"\\", b"\\\\").decode("utf-8", "backslashreplace") + NOT_UTF8
    return name


def _files(folder: Path) -> Iterator[Path]:
    def refuse(fault: OSError) -> None:
        where = Where(str(fault.filename))
        raise TaskError(f"cannot read the folder: {os.strerror(fault.errno or 0)}", where=where)

    for place, folders, names in os.walk(folder, onerror=refuse):
        if any(name in NO_SUITES for name in names):
            folders.clear()
        else:
            yield from (Path(place) / name for name in names if name.endswith(SUFFIXES))


def _entries(name: str, file: Path) -> Iterator[Entry]:
    if name.endswith(NOT_UTF8):
        yield _unreadable(name, 0, "the name of the file is not UTF-8 text")
        return
    try:
        if name.endswith(".jsonl"):
            yield from _lines(name, file)
        elif name.endswith(".parquet"):
            yield from _rows(name, file)
        else:
            yield _entry(name, 0, read_text(file, TaskError))
    except OSError as fault:
        yield _unreadable(name, 0, f"cannot read the file: {os.strerror(fault.errno or 0)}")
    except InputError as fault:
        line = fault.where.line if fault.where else 0
        yield _unreadable(name, 0, f"line {line}: {fault.message}" if line else fault.message)


def _lines(name: str, file: Path) -> Iterator[Entry]:
    """One task a line; blank lines count, but are none."""
    with file.open("rb") as stream:
        for number, line in enumerate(stream, 1):
            content = line.removeprefix(b"\xef\xbb\xbf") if number == 1 else line
            try:
                text = content.decode("utf-8").strip()
            except UnicodeDecodeError as fault:
                yield _unreadable(name, number, f"not UTF-8 text: byte 0x{content[fault.start]:02x}")
                continue
            if not text:
                continue
            if text[0] == "{":
                yield _entry(name, number, text)
            else:
                yield _unreadable(name, number, "a line of JSON Lines holds one task as a JSON object: {…}")


def _rows(name: str, file: Path) -> Iterator[Entry]:
    try:
        with ParquetFile(file) as content:
            if content.schema_arrow.names.count(COLUMN) != 1:
                raise TaskError(
                    f"a Parquet file of tasks has one column '{COLUMN}' with the text of a task in each row"
                )
            number = 0
            for batch in content.iter_batches(columns=[COLUMN], use_threads=False):
                for text in batch.column(COLUMN).to_pylist():
                    number += 1
                    place = f"{name} row {number}"
                    if isinstance(text, str):
                        yield _entry(place, 0, text)
                    else:
                        yield _unreadable(place, 0, "this is no text of a task")
    except (pa.ArrowException, UnicodeDecodeError) as fault:
        raise TaskError(f"not a readable Parquet file: {fault}") from None


def _unreadable(name: str, line: int, fault: str) -> Entry:
    return Entry(name, line, None, "", _digest(fault), fault=fault)


def _digest(text: str) -> str:
    return "sha256:" + hashlib.sha256(text.encode("utf-8", "surrogatepass")).hexdigest()


def _entry(name: str, line: int, text: str) -> Entry:
    """The entry of a text. Its id is looked up without reading all of it as YAML; who certifies it compares."""
    if text.lstrip()[:1] == "{":
        found, world = _json_facts(text)
    else:
        ids = _ID.findall(text)
        found = ids[0][1] if len(ids) == 1 else None
        world = "\n".join(sorted(" ".join(block.split()) for block in _WORLD.findall(text)))
    if found is None and not line:
        try:
            found = parse_task(text, name).task.id  # written in another way than most
        except CobenchError:
            found = None
    return Entry(name, line, found, text, _digest(text), world)


def _json_facts(text: str) -> tuple[str | None, str]:
    try:
        value: Any = json.loads(text)
    except (ValueError, RecursionError):
        return None, ""
    found, parts = value.get("id"), [value.get(name) for name in ("dataset", "given", "choose")]
    known = isinstance(found, str) and _ID.fullmatch(f"id: {found}") is not None
    return (found if known else None), json.dumps(parts)
