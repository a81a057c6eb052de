"""A folder of converted tasks: datasets, task files and submitted plans, the same source giving the same bytes.

    with drafting(source, out) as draft:
        draft.dataset("meeting-1", manifest, {"people": rows})      # data/meeting-1/dataset.yaml and Parquet files
        draft.task({"cobench": 1, "id": …, "dataset": "../data/meeting-1", …})               # tasks/ID.yaml
        draft.submit("meeting-1", "model/mode", {"picks": …}, published="Correct")           # submissions.jsonl
    return draft.converted()

The folder is made aside and appears complete when the block ends; when it fails, nothing is left behind.
"""

from __future__ import annotations

import json
import os
import re
import shutil
from collections.abc import Generator, Iterable, Mapping, Sequence
from contextlib import contextmanager
from dataclasses import dataclass, field
from pathlib import Path
from tempfile import mkdtemp
from typing import Any

import pyarrow as pa
import pyarrow.parquet as pq

from ..schemas.errors import InputError, OutputError
from ..schemas.manifest import ColumnSpec, RelationSpec, TableSpec, load_manifest
from ..schemas.source import parse_source
from ..schemas.task import parse_task
from ..schemas.units import INT64_MAX, INT64_MIN

_NAME = re.compile(r"[A-Za-z0-9][A-Za-z0-9._-]{0,127}\Z")
# What stands in YAML as it is: between commas, and at least after a key of its own line.
_PLAIN = re.compile(r"(?:[A-Za-z_]|\.\./)[A-Za-z0-9_ .()+*/=<>-]*\Z")
_BLOCK = re.compile(r"(?:[A-Za-z_]|\.\./)[A-Za-z0-9_ .,!()+*/=<>\[\]\"'-]*\Z")
_WORDS = ("true", "false", "null")
_WIDTH = 120
_ARROW = {"bool": pa.bool_(), "string": pa.string(), "date": pa.date32(), "time": pa.int64(), "number": pa.int64()}
_PYTHON: dict[str, type] = {"bool": bool, "string": str}  # and int for all others

Row = Sequence[int | str | bool | None]


@dataclass(frozen=True, slots=True)
class Converted:
    """How many tasks, submitted plans and datasets were written."""

    tasks: int
    submissions: int
    datasets: int


@dataclass(slots=True)
class Draft:
    """What has been converted so far, in a folder aside."""

    folder: Path
    _datasets: set[str] = field(default_factory=set[str])
    _tasks: dict[str, None] = field(default_factory=dict[str, None])
    _submissions: list[str] = field(default_factory=list[str])

    def dataset(self, folder: str, manifest: Mapping[str, Any], rows: Mapping[str, Iterable[Row]]) -> None:
        """Writes `data/FOLDER`: the manifest as `dataset.yaml` and one Parquet file per table and relation.

        `manifest` is the content of a dataset.yaml without the `file` entries, which are NAME.parquet. `rows` are those
        of each table or relation, with the values in the order of its `columns`: whole steps of numbers, minutes for
        times, days since 1970-01-01 for dates. They are sorted by key. Raises InputError for what is no dataset.
        """
        _require_name(folder, "dataset")
        if folder in self._datasets:
            raise InputError(f"the dataset '{folder}' comes twice")
        self._datasets.add(folder)
        target = self.folder / "data" / folder
        target.mkdir(parents=True)
        kinds = ("tables", "relations")
        filed = {
            kind: {name: {"file": f"{name}.parquet", **spec} for name, spec in manifest.get(kind, {}).items()}
            for kind in kinds
            if manifest.get(kind)
        }
        (target / "dataset.yaml").write_text(yaml_text({**manifest, **filed}), encoding="utf-8")
        written = load_manifest(target / "dataset.yaml").manifest
        specs: dict[str, TableSpec | RelationSpec] = {**written.tables, **written.relations}
        for name, spec in specs.items():
            key = spec.key if isinstance(spec, TableSpec) else spec.args
            _write_table(target / spec.file, spec.columns, key, rows[name])

    def task(self, task: Mapping[str, Any]) -> None:
        """Writes `tasks/ID.yaml` from the content of a task file; raises InputError (or InputErrors) if it is none."""
        name = str(task["id"])
        _require_name(name, "task")
        if name in self._tasks:
            raise InputError(f"the task '{name}' comes twice")
        text = yaml_text(task)
        parse_task(text, f"tasks/{name}.yaml")
        self._tasks[name] = None
        path = self.folder / "tasks" / f"{name}.yaml"
        path.parent.mkdir(exist_ok=True)
        path.write_text(text, encoding="utf-8")

    def submit(self, task: str, agent: str, answer: Any, published: str | None = None) -> None:
        """Adds a line to `submissions.jsonl`: a plan `{"picks": …}`, `{"refusal": …}`, raw text, or None.

        `published` is the verdict that others gave, carried along as it is.
        """
        line = {"task": task, "agent": agent, "answer": answer}
        if published is not None:
            line["published"] = published
        self._submissions.append(json.dumps(line, ensure_ascii=False) + "\n")

    def converted(self) -> Converted:
        """How much there is."""
        return Converted(len(self._tasks), len(self._submissions), len(self._datasets))

    def finish(self) -> None:
        """Writes the submitted plans, if there are any."""
        if self._submissions:
            (self.folder / "submissions.jsonl").write_text("".join(self._submissions), encoding="utf-8")


@contextmanager
def drafting(source: Path, out: Path) -> Generator[Draft]:
    """A draft that becomes the folder `out` when the block ends, complete or not at all.

    Raises OutputError when `out` is anything but an empty folder or absent, lies in the folder `source`, or cannot be
    written.
    """
    out = Path(os.path.realpath(out))
    try:
        if out.exists() and (not out.is_dir() or any(out.iterdir())):
            raise OutputError(f"error: cannot write {out}: it exists and is not an empty folder")
        if out.is_relative_to(os.path.realpath(source)):
            raise OutputError(f"error: cannot write {out}: it lies in the source")
        out.parent.mkdir(parents=True, exist_ok=True)
        # Beside `out`, because a rename is atomic only within one file system.
        aside = Path(mkdtemp(prefix=f".{out.name}-", dir=out.parent))
    except OSError as fault:
        raise _unwritable(out, fault) from None
    try:
        draft = Draft(aside)
        yield draft
        draft.finish()
        aside.chmod(0o755)  # mkdtemp makes private folders
        if out.exists():
            out.rmdir()
        aside.rename(out)
    except OSError as fault:
        raise _unwritable(out, fault) from None
    finally:
        shutil.rmtree(aside, ignore_errors=True)


def _unwritable(out: Path, fault: OSError) -> OutputError:
    reason = os.strerror(fault.errno) if fault.errno else str(fault)
    return OutputError(f"error: cannot write {out}: {reason}")


def _require_name(name: str, what: str) -> None:
    if not _NAME.match(name):
        raise InputError(
            f"'{name}' cannot name a {what}",
            hint="a name has at most 128 of A-Z, a-z, 0-9, '.', '_' and '-', and begins with a letter or digit",
        )


def _write_table(path: Path, columns: Mapping[str, ColumnSpec], key: Sequence[str], rows: Iterable[Row]) -> None:
    """Writes rows by key, strings by UTF-8 bytes."""
    places = [list(columns).index(column) for column in key]

    def rank(row: Row) -> tuple[Any, ...]:
        return tuple(value.encode() if isinstance(value := row[place], str) else value for place in places)

    ordered = sorted(rows, key=rank)
    arrays = [_array(name, spec, [row[at] for row in ordered]) for at, (name, spec) in enumerate(columns.items())]
    pq.write_table(pa.table(arrays, names=list(columns)), path, compression="zstd")


def _array(name: str, spec: ColumnSpec, values: Sequence[Any]) -> Any:
    """The column of exactly these values: Arrow would cut a float down to a whole number."""
    kind = _PYTHON.get(spec.type, int)
    for value in values:
        if value is not None and (type(value) is not kind or (kind is int and not INT64_MIN <= value <= INT64_MAX)):
            raise InputError(f"{value!r} does not fit the column '{name}', which holds a {spec.type}")
    return pa.array(values, _ARROW[spec.type])


def yaml_text(data: Mapping[str, Any]) -> str:
    """The block-style YAML of a mapping, which `schemas.source` reads back as the same data.

    Keys are plain words. A mapping or list of scalars deeper down stands on one line when it is short.
    """
    text = "".join(_entry(key, value, 0) for key, value in data.items())
    if parse_source(text, "made").data != _data(data):
        raise ValueError(f"not to be written as YAML: {data!r}")
    return text


def _data(value: Any) -> Any:
    if isinstance(value, Mapping):
        return {key: _data(item) for key, item in value.items()}
    return [_data(item) for item in value] if isinstance(value, list | tuple) else value


def _entry(key: str, value: Any, depth: int) -> str:
    margin = "  " * depth
    line = f"{margin}{key}: {_scalar(value, _BLOCK) if isinstance(value, str) else _flow(value)}"
    if isinstance(value, Mapping):
        flat = depth > 1 and not any(isinstance(item, Mapping) for item in value.values())
        if value and not (flat and len(line) <= _WIDTH):
            return f"{margin}{key}:\n" + "".join(_entry(name, item, depth + 1) for name, item in value.items())
    elif isinstance(value, list | tuple) and len(line) > _WIDTH:
        return f"{margin}{key}:\n" + "".join(f"{margin}  - {_flow(item)}\n" for item in value)
    return f"{line}\n"


def _flow(value: Any) -> str:
    if isinstance(value, Mapping):
        return "{" + ", ".join(f"{key}: {_flow(item)}" for key, item in value.items()) + "}"
    if isinstance(value, list | tuple):
        return "[" + ", ".join(map(_flow, value)) + "]"
    return _scalar(value, _PLAIN)


def _scalar(value: int | str | bool | None, plain: re.Pattern[str]) -> str:
    """A value; a text in quotes unless it can only be read as itself."""
    if not isinstance(value, str):
        return json.dumps(value)
    if plain.match(value) and value not in _WORDS and value == value.strip():
        return value
    return json.dumps(value, ensure_ascii=False)
