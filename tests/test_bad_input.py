"""Every way to hand in something wrong: a clear error with its place and a hint, exit code 2, and nothing is written."""

# ruff: noqa: E501  (a case is a row of a table)

from __future__ import annotations

import datetime
import shutil
import sys
from collections.abc import Callable, Iterator
from dataclasses import dataclass
from pathlib import Path
from typing import Any

import pyarrow as pa
import pyarrow.parquet as pq
import pytest
from cobench.cli import run

WORLD = Path(__file__).resolve().parent / "certificates" / "world"
TASK = """\
cobench: 1
id: bad
dataset: world
given:
  guests: 3
choose:
  room: rooms
  train: trains
constraints:
  sea: room.coast
  day: train.arrives_on == room.night
  way: near(train.station, room.town)
minimize: room.total + train.fares
"""
SEA, GOAL = "  sea: room.coast", "minimize: room.total + train.fares"
QUOTE = "hint: YAML reads this in its own way; put the whole value in quotes, or use block style"

Edit = Callable[[Path], Any]  # of the folder with task.yaml and world/


@dataclass(frozen=True)
class Case:
    """What is changed, and what the message says: its place, and parts of its text. `errors`: how many, if it matters."""

    id: str
    edit: Edit
    says: tuple[str, ...]
    errors: int | None = None


# What is put in place of what in the task file, then the message. Lines and columns count from 1.
TASKS: list[tuple[str, str, str, tuple[str, ...]]] = [
    ("trap: comma in braces", SEA, "  sea: {require: min(room.stars, 4) <= 3}", ("task.yaml:10:41: error: '4) <= 3' became a key", QUOTE)),
    ("trap: list in braces", SEA, "  sea: {require: room.beds in [2, 3], reveal: later}", ("task.yaml:10:31: error: not valid YAML", QUOTE)),
    ("trap: begins with a quote", SEA, '  sea: "inn" == room.kind', ("task.yaml:10:14: error: not valid YAML", QUOTE)),
    ("trap: begins with a single quote", SEA, "  sea: 'inn' == room.kind", ("task.yaml:10:14: error: not valid YAML", QUOTE)),
    ("trap: exclamation mark", SEA, "  sea: !room.pool", ("task.yaml:10:8: error: YAML tags (!room.pool)", "hint: write 'not' instead of '!'")),
    ("trap: exclamation mark in braces", SEA, "  sea: {require: !room.pool}", ("task.yaml:10:28: error: not valid YAML", QUOTE)),
    ("colon in a value", SEA, "  sea: room.kind == a: b", ("task.yaml:10:22: error: not valid YAML", QUOTE)),
    ("duplicate key", SEA, f"{SEA}\n  sea: room.pool", ("task.yaml:11:3: error: the key 'sea' stands here twice",)),
    ("duplicate top key", "id: bad", "id: bad\nid: good", ("task.yaml:3:1: error: the key 'id' stands here twice",)),
    ("alias", SEA, "  sea: *anchor", ("task.yaml:10:8: error: YAML aliases", QUOTE)),
    ("anchor", SEA, "  sea: &a room.coast", ("task.yaml:10:8: error: YAML anchors", QUOTE)),
    ("merge key", SEA, "  <<: room.coast", ("task.yaml:10:", "'<<' is not a name")),
    ("tag", SEA, "  sea: !!str room.coast", ("task.yaml:10:8: error: YAML tags (tag:yaml.org,2002:str)",)),
    ("tag that runs code", SEA, "  sea: !!python/object/apply:os.system [ls]", ("task.yaml:10:8: error: YAML tags",)),
    ("block scalar", SEA, "  sea: |\n    room.coast", ("task.yaml:10:8: error: a value must stand on one line", "hint: join the lines")),
    ("folded plain scalar", SEA, "  sea: room.coast and\n    room.pool", ("task.yaml:10:8: error: a value must stand on one line",)),
    ("tab", SEA, "\tsea: room.coast", ("task.yaml:10:1: error: not valid YAML",)),
    ("two documents", GOAL, f"---\n{GOAL}", ("task.yaml:13:1: error: the file holds more than one YAML document",)),
    ("nul", "sea", "s\0ea", ("task.yaml", "not valid YAML", "U+0000")),
    ("bell", "id: bad", "id: ba\a", ("task.yaml:2:7", "not valid YAML", "U+0007")),
    ("nested lists", SEA, f"  sea: {'[' * 5000}{']' * 5000}", ("task.yaml:10:22: error: nested deeper than 16 levels",)),
    ("nested braces", SEA, "  sea: " + "{a: " * 900, ("task.yaml:10:", "error: nested deeper than 16 levels")),
    ("list as key", SEA, "  ? [a, b]\n  : room.coast", ("task.yaml:10:5: error: a key must be a plain word",)),
    ("list for a mapping", TASK, "- a\n- b\n", ("task.yaml:1:1: error: the file does not hold a mapping",)),
    ("one word", TASK, "hello\n", ("task.yaml:1:1: error: the file does not hold a mapping",)),
    ("empty file", TASK, "", ("task.yaml: error: the file is empty",)),
    ("nothing but a comment", TASK, "# nothing\n", ("task.yaml: error: the file is empty",)),
    ("unknown key", "minimize:", "minimise:", ("task.yaml:13:1: error: unknown key 'minimise'", "hint: did you mean 'minimize'?")),
    ("unknown reveal", SEA, "  sea:\n    require: room.coast\n    reveal: maybe", ("task.yaml:12:13: error: this must be 'initial' or 'later'",)),
    ("both objectives", GOAL, f"{GOAL}\nmaximize: room.stars", ("task.yaml:1:1: error: a task has exactly one of minimize and maximize",)),
    ("no objective", GOAL, "title: x", ("task.yaml:1:1: error: a task has exactly one of minimize and maximize",)),
    ("no version", "cobench: 1\n", "", ("task.yaml:1:1: error: 'cobench' is missing",)),
    ("another version", "cobench: 1", "cobench: 2", ("task.yaml:1:10: error: ", "1")),
    ("version as text", "cobench: 1", 'cobench: "1"', ("task.yaml:1:11: error: ",)),
    ("id with a path", "id: bad", "id: ../../bad", ("task.yaml:2:5: error: ",)),
    ("id not in NFC", "id: bad", "id: cafe\u0301", ("task.yaml:2:5: error: ",)),
    ("id that turns text around", "id: bad", "id: ba\u202ed", ("task.yaml:2:5: error: ",)),
    ("id of 200 letters", "id: bad", "id: " + "x" * 200, ("task.yaml:2:5: error: ",)),
    ("id in braces", "id: bad", "id: '{0}{key}'", ("task.yaml:2:6: error: ",)),
    ("no id", "id: bad", "id:", ("task.yaml:2:", "error: text is needed here")),
    ("id that is a number", "id: bad", "id: 17", ("task.yaml:2:5: error: text is needed here", "17")),
    ("name in capitals", "  sea:", "  Sea-Side:", ("task.yaml:10:3: error: 'Sea-Side' is not a name",)),
    ("name in braces", "  sea:", "  '{sea}':", ("task.yaml:10:", "error: '{sea}' is not a name")),
    ("name that is a keyword", "  sea:", "  class:", ("task.yaml:10:3: error: 'class' is not a name",)),
    ("text that is a list", SEA, "  sea: [room.coast]", ("task.yaml:10:8: error: ", "needed here")),
    ("nothing to choose", "  room: rooms\n  train: trains\n", "", ("task.yaml:6:", "error: a mapping (key: value) is needed here")),
    ("unknown table", "room: rooms", "room: roms", ("task.yaml:7:9: error: the table 'roms' does not exist", "hint: did you mean 'rooms'?")),
    ("table without offers", "room: rooms", "room: towns", ("task.yaml:7:9: error: the table 'towns' has no offer ids", "hint: offer tables: rooms, trains, vaults")),
    ("sets are not there yet", "room: rooms", "room: {any: rooms}", ("error: unknown key 'any'", "hint: did you mean 'any_of'?")),
    ("choice named like a parameter", "  room: rooms", "  guests: rooms", ("task.yaml:7:3: error: 'guests' is both a parameter and a choice",)),
    ("unknown parameter", "guests: 3", "guest: 3", ("task.yaml:5:3: error: unknown parameter 'guest'", "hint: did you mean 'guests'?")),
    ("missing parameter", "given:\n  guests: 3\n", "", ("task.yaml:1:1: error: the dataset needs 'guests' under given", "hint: given:\n  guests: …")),
    ("parameter in words", "guests: 3", "guests: three", ("task.yaml:5:11: error: guests: 'three' is not a plain number",)),
    ("parameter too small", "guests: 3", "guests: 0", ("task.yaml:5:11: error: guests: 0 is below the minimum of 1",)),
    ("parameter too large", "guests: 3", "guests: 7", ("task.yaml:5:11: error: guests: 7 is above the maximum of 6",)),
    ("parameter with a fraction", "guests: 3", "guests: 2.5", ("task.yaml:5:11: error: guests: '2.5' is not a plain number",)),
    ("parameter in a list", "guests: 3", "guests: [3]", ("task.yaml:5:11: error: a whole number is needed here",)),
    ("parameter null", "guests: 3", "guests: null", ("task.yaml:5:11: error: a whole number is needed here",)),
    ("parameter true", "guests: 3", "guests: true", ("task.yaml:5:11: error: guests: a plain number is needed here",)),
    ("parameter beyond 2^63", "guests: 3", "guests: 99999999999999999999", ("task.yaml:5:11: error: guests: ",)),
    ("parameter of 41 digits", "guests: 3", "guests: " + "9" * 41, ("task.yaml:5:11: error: a number of more than 40 digits",)),
    ("expects a word", GOAL, f"expect: impossible\n{GOAL}", ("task.yaml:13:9: error: this must be 'unsolvable'",)),
    ("expects half a cent", GOAL, f"expect: {{optimum: 90.005}}\n{GOAL}", ("task.yaml:13:19: error: '90.005' is not a value of the objective", "hint: write it as in 1234.50")),
    ("expects no number", GOAL, f"expect: {{optimum: ninety}}\n{GOAL}", ("task.yaml:13:19: error: 'ninety' is not a value of the objective",)),
    ("no dataset", "dataset: world", "dataset: ''", ("task.yaml:3:11: error: ",)),
    ("unknown dataset", "dataset: world", "dataset: parsk", ("task.yaml:3:10: error: no dataset 'parsk'", "hint: did you mean 'parks'?")),
    ("65 constraints", SEA, "\n".join(f"  c{number}: room.coast" for number in range(63)), ("task.yaml:10:", "at most 64")),
    ("objective may be unknown", GOAL, "minimize: room.altitude", ("task.yaml:13:11: error: 'room.altitude' may be unknown", "hint: add a constraint: known(room.altitude)")),
    ("objective from a relation", GOAL, "minimize: walk(train.station, room.town)", ("task.yaml:13:11: error: 'walk(train.station, room.town)' may be unknown",)),
    ("objective true or false", GOAL, "minimize: room.pool", ("task.yaml:13:11: error: an objective is a number", "hint: count(condition, …) counts wishes")),
    ("objective text", GOAL, "minimize: room.kind", ("task.yaml:13:11: error: an objective is a number, this is text",)),
    ("objective in thirds", GOAL, "minimize: room.total / 3", ("task.yaml:13:11: error: an objective cannot be divided", "hint: leave the division out")),
    ("objective 3", GOAL, "minimize: 3", ("task.yaml:13:11: error: text is needed here",)),
    ("objective of two units", GOAL, "minimize: room.total + train.minutes", ("task.yaml:13:11: error: cannot add a number in USD and a number in min",)),
    ("objective beyond 2^63", GOAL, "minimize: room.total * 99999999999999", ("task.yaml:13:11: error: 'room.total * 99999999999999' ranges from", "beyond 64 bits")),
]  # fmt: skip

# One mistake in the long form of something that has a short one: one error, not also that the short form was possible.
SINGLE: list[tuple[str, str, str, tuple[str, ...]]] = [
    ("unknown key of a constraint", SEA, "  sea:\n    require: room.coast\n    revael: later", ("task.yaml:12:5: error: unknown key 'revael'", "hint: did you mean 'reveal'?")),
    ("unknown key of a choice", "room: rooms", "room: {one: rooms, two: rooms}", ("task.yaml:7:22: error: unknown key 'two'", "hint: keys: any_of")),
    ("unknown key of an expectation", GOAL, f"expect: {{cuont: 3}}\n{GOAL}", ("task.yaml:13:10: error: unknown key 'cuont'", "hint: did you mean 'count'?")),
    ("negative count expected", GOAL, f"expect: {{count: -1}}\n{GOAL}", ("task.yaml:13:17: error: ",)),
]  # fmt: skip

# An expression in place of `room.coast`, the column of its fault (the expression begins in column 8), and the message.
EXPRESSIONS: list[tuple[str, int, tuple[str, ...]]] = [
    ("room.costa", 13, ("'room' has no column 'costa'", "hint: did you mean 'coast'?")),
    ("rom.coast", 8, ("unknown choice 'rom'", "hint: did you mean 'room'?")),
    ("guest == 3", 8, ("unknown name 'guest'", "hint: did you mean 'guests'?")),
    ("room", 8, ("'room' is a choice; name one of its columns", "hint: write room.column")),
    ("mni(room.beds, 2) == 2", 8, ("unknown function 'mni'", "hint: did you mean 'min'?")),
    ("neer(train.station, room.town)", 8, ("unknown function 'neer'", "hint: did you mean 'near'?")),
    ("near(train.station)", 8, ("near takes 2 arguments, not 1",)),
    ("near(room.beds, room.town)", 13, ("text is needed here, this is a plain number",)),
    ("abs(room.beds, 1) <= 3", 8, ("abs takes 1 argument, not 2",)),
    ("min(room.beds) <= 3", 8, ("min takes at least 2 arguments",)),
    ("count() >= 1", 8, ("count takes at least 1 condition",)),
    ("known(3)", 8, ("a constant is always known",)),
    ("days_between(room.night, room.beds) <= 3", 33, ("a date is needed here",)),
    ("room.beds", 8, ("a condition is needed here, this is a plain number", "hint: compare it with something")),
    ("room.pool and room.beds", 22, ("a condition is needed here",)),
    ("not room.beds", 12, ("a condition is needed here",)),
    ("1 < 2", 8, ("this compares two constants",)),
    ("room.price + train.minutes <= 100", 8, ("cannot add a number in USD and a number in min", "hint: both sides must have the same unit")),
    ("room.price <= train.minutes", 8, ("cannot compare a number in USD and a number in min",)),
    ("room.price <= 99.995", 22, ("this number does not fit steps of 0.01 USD", "hint: use fewer digits")),
    ("room.stars >= 4.25", 22, ("this number does not fit steps of 0.1",)),
    ("room.beds >= 1.5", 21, ("this number does not fit steps of 1",)),
    ('room.kind != "vila"', 21, ("'vila' is not one of the values", "hint: did you mean 'villa'?")),
    ('room.kind in ["inn", "huts"]', 29, ("'huts' is not one of the values", "hint: did you mean 'hut'?")),
    ('weekday(room.night) == "friday"', 31, ("'friday' is not one of the values", "hint: did you mean 'fri'?")),
    ("room.night == 2025-08-01", 22, ("a date stands in quotes", 'hint: write "2025-08-01"')),
    ('room.night == "2025-08-32"', 22, ("'2025-08-32' is not a date", "hint: a date is written YYYY-MM-DD")),
    ('room.night == "2025-08-01T00:00"', 22, ("is not a date",)),
    ('train.arrives_at <= "25:00"', 28, ("'25:00' is not a time of day", "hint: a time of day is written HH:MM")),
    ("room.night == 5", 8, ("cannot compare", "date", "a number")),
    ('room.kind < "inn"', 8, ("text has no order", "hint: compare with == or !=")),
    ('room.beds == "2"', 21, ("cannot compare a plain number and a quoted text", "hint: write the number without quotes")),
    ('room.pool == "true"', 21, ("cannot compare true/false and a quoted text",)),
    ("room.beds * train.minutes <= 100", 8, ("a product of two choices is not supported, because it is not linear",)),
    ("room.price * train.fare <= 100", 8, ("cannot multiply a number in USD and a number in USD",)),
    ("ceil(room.price / train.minutes) <= 100", 8, ("a quotient of two choices is not supported",)),
    ("ceil((room.total + train.fares) / 2) + room.total <= 300", 8, ("not supported, because",)),
    ("room.price / 0 <= 100", 21, ("division by zero",)),
    ("room.price / (1 - 1) <= 100", 22, ("division by zero",)),
    ("ceil(room.beds / (room.free - 1)) <= 100", 8, ("division by zero in 'ceil(room.beds / (room.free - 1))' for 5 rows",)),
    ("room.price / room.beds <= 100", 8, ("division by something that varies", "hint: divide by a constant, or inside ceil(...) or floor(...)")),
    ("room.beds ** 2 <= 100", 18, ("'**' is not part of the language", "hint: powers")),
    ("room.beds % 2 == 0", 18, ("'%' is not part of the language", "hint: remainders")),
    ("room.beds // 2 == 0", 18, ("'//' is not part of the language", "hint: write floor(a / b)")),
    ("room.beds = 2", 18, ("'=' is not part of the language", "hint: write == to compare")),
    ("room.pool && room.coast", 18, ("'&' is not part of the language", "hint: write and")),
    ("room.pool || room.coast", 18, ("'|' is not part of the language", "hint: write or")),
    ("room.pool and !room.coast", 22, ("'!' is not part of the language", "hint: write not")),
    ("room.beds == 0x10", 21, ("the number '0x10' is not a plain decimal", "hint: write digits and at most one point")),
    ("room.beds <= 1e3", 21, ("the number '1e3' is not a plain decimal",)),
    ("room.beds <= 1_000", 21, ("the number '1_000' is not a plain decimal",)),
    ("room.beds <= 1j", 21, ("the number '1j' is not a plain decimal",)),
    ("room.altitude is None", 22, ("'is' is not part of the language",)),
    ("room.altitude == None", 25, ("'None' is not part of the language", "hint: ask known(x)")),
    ("room.pool == True", 21, ("'True' is not part of the language", "hint: write true")),
    ('room.kind == f"inn"', 21, ("is not part of the language" if sys.version_info >= (3, 12) else "only plain quoted text",)),
    ('room.kind == b"inn"', 21, ("only plain quoted text, without prefix and backslash",)),
    ("room.pool if room.coast else room.coast", 32, ("'else' is not part of the language", "hint: there is no if")),
    ("room.__class__ == 1", 13, ("'__class__' is not a name",)),
    ("__import__('os').system('true')", 8, ("'__import__' is not a name",)),
    ('room.kind.upper() == "INN"', 8, ("only named functions can be called",)),
    ("room[0] == 1", 8, ("this form is not part of the language",)),
    ("near(*train)", 13, ("this form is not part of the language",)),
    ("near(station=train.station, town=room.town)", 20, ("'=' is not part of the language",)),
    ("sum(r.beds for r in room) <= 3", 8, ("is not possible, because 'room' is exactly one row", "hint: write room.column")),
    ("1 < room.beds > 2", 8, ("a chain compares in one direction", "hint: split it with and")),
    ("room.beds in []", 8, ("the list is empty",)),
    ("room.beds in (1, 2)", 8, ("in is followed by one list", "hint: write x in [a, b]")),
    ("(x := 3) == 3", 11, ("':=' is not part of the language",)),
    ("room.pool; room.coast", 17, ("';' is not part of the language",)),
    ("room.pool#x", 17, ("an expression has no comments",)),
    ("(room.beds <= 3", 8, ("not an expression",)),
    ("room.beds <= 3)", 8, ("not an expression",)),
    ("room.beds <=", 8, ("not an expression",)),
    ('""', 9, ("the expression is empty",)),
    ("room.béds <= 3", 13, ("'béds' is not a name",)),
    ("rооm.beds <= 3", 8, ("'rооm' is not a name",)),  # Cyrillic о
    ("room．beds <= 3", 12, ("is not part of the language",)),  # a full stop of full width
    ("room.beds <= ٣", 21, ("",)),  # an Arabic digit
    ("room.beds ≤ 3", 18, ("'≤' is not part of the language",)),
    ("room.beds\u00a0<= 3", 17, ("",)),  # a space that does not break
    ("room.beds\u200b <= 3", 17, ("",)),  # a space of no width
    ("room.kind == “inn”", 21, ("'“' is not part of the language",)),
    ('room.kind == "🏨"', 21, ("'🏨' is not one of the values", "hint: values: hut, inn, villa")),
    ("Room.beds <= 3", 8, ("'Room' is not a name",)),
    ("room.coast" + " and room.coast" * 400, 8, ("the expression is longer than 4096 bytes",)),
    ("room.coast" + " or 1<2" * 150, 890, ("the expression has more than 500 tokens",)),
    ("(" * 100 + "room.coast" + ")" * 100, 72, ("parentheses nest deeper than 64",)),
    ("not " * 200 + "room.coast", 268, ("the expression nests deeper than 64",)),
    ("-" * 200 + "1 <= room.beds", 72, ("the expression nests deeper than 64",)),
    ("room.beds <= 99999999999999999999", 21, ("beyond 64 bits", "hint: ")),
    ("room.beds * 9223372036854775807 <= 5", 8, ("'room.beds * 9223372036854775807' ranges from", "beyond 64 bits")),
    ("room.price * room.beds * room.free * 4000000000000000 <= 5", 8, ("ranges from", "beyond 64 bits")),
    ("room.beds <= " + "9" * 3900, 21, ("is not a plain decimal",)),
]  # fmt: skip


def put(table: str, column: str, first: Any, kind: Any = None) -> Edit:
    """The first value of a column is another one; `kind`: of the whole column."""

    def edit(folder: Path) -> None:
        path = folder / "world" / f"{table}.parquet"
        found = pq.read_table(path)
        number, rest = found.column_names.index(column), found.column(column).to_pylist()[1:]
        rest = list(map(float, rest)) if isinstance(first, float) else rest
        values = pa.array(
            [first, *rest], kind or (None if isinstance(first, float) else found.schema.field(column).type)
        )
        pq.write_table(found.set_column(number, column, values), path)

    return edit


def column(table: str, name: str, make: Callable[[list[Any]], Any]) -> Edit:
    """A column made anew from its values."""

    def edit(folder: Path) -> None:
        path = folder / "world" / f"{table}.parquet"
        found = pq.read_table(path)
        values = make(found.column(name).to_pylist())
        pq.write_table(found.set_column(found.column_names.index(name), name, values), path)

    return edit


def table(name: str, make: Callable[[Any], Any]) -> Edit:
    """A table made anew."""

    def edit(folder: Path) -> None:
        path = folder / "world" / f"{name}.parquet"
        pq.write_table(make(pq.read_table(path)), path)

    return edit


def content(make: Callable[[bytes], bytes], name: str = "world/rooms.parquet") -> Edit:
    """A file with other bytes."""
    return lambda folder: (folder / name).write_bytes(make((folder / name).read_bytes()))


def text(old: str, new: str, name: str) -> Edit:
    """A file in which one text stands for another."""

    def edit(folder: Path) -> None:
        before = (folder / name).read_text(encoding="utf-8")
        assert old in before
        (folder / name).write_text(before.replace(old, new, 1), encoding="utf-8")

    return edit


def all_of(*edits: Edit) -> Edit:
    return lambda folder: [edit(folder) for edit in edits]


def large(name: str, size: int) -> Edit:
    def edit(folder: Path) -> None:
        with (folder / name).open("r+b") as stream:
            stream.truncate(size)

    return edit


def not_utf_8(values: list[str]) -> Any:
    words = pa.array([b"\xff\xfe", *(value.encode() for value in values[1:])], pa.binary())
    return pa.Array.from_buffers(pa.string(), len(values), words.buffers())


ROOMS, PRICE, TEXT_FOR_IDS = "world/rooms.parquet: error: ", "rooms.price: ", "is no text for an offer id"
CENTS = "hint: store whole steps as int64: value * 10^digits, such as cents"
TABLES: list[tuple[str, Edit, tuple[str, ...]]] = [
    ("file missing", lambda folder: (folder / "world/rooms.parquet").unlink(), (f"{ROOMS}rooms: the file is missing",)),
    ("file empty", content(lambda _: b""), (f"{ROOMS}rooms: the file is empty",)),
    ("a folder", all_of(lambda f: (f / "world/rooms.parquet").unlink(), lambda f: (f / "world/rooms.parquet").mkdir()), (f"{ROOMS}rooms: this is a folder",)),
    ("no Parquet", content(lambda _: b"room,town\na1,Abo\n"), (f"{ROOMS}rooms: this is not a Parquet file",)),
    ("cut short", content(lambda old: old[: len(old) // 2]), (f"{ROOMS}rooms: the Parquet file is cut short",)),
    ("cut short by four bytes", content(lambda old: old[:-4]), (f"{ROOMS}rooms: the Parquet file is cut short",)),
    ("bytes missing inside", content(lambda old: old[:60] + old[160:]), (f"{ROOMS}rooms: the Parquet file is damaged",)),
    ("footer too long", content(lambda old: old[:-8] + b"\xff\xff\xff\x7f" + old[-4:]), (f"{ROOMS}rooms: the Parquet file is damaged",)),
    ("zeros inside", content(lambda old: old[:200] + bytes(200) + old[400:]), (f"{ROOMS}rooms: the Parquet file is damaged",)),
    ("only magic", content(lambda _: b"PAR1PAR1"), (f"{ROOMS}rooms: the Parquet file is cut short",)),
    ("column missing", table("rooms", lambda t: t.drop_columns(["price"])), (f"{ROOMS}{PRICE}the column is missing",)),
    ("column too many", table("rooms", lambda t: t.append_column("colour", pa.array(["x"] * 10))), (f"{ROOMS}rooms.colour: the manifest has no such column",)),
    ("column misspelt", table("rooms", lambda t: t.rename_columns([{"price": "pirce"}.get(name, name) for name in t.column_names])), (f"{ROOMS}rooms.pirce: ", "hint: did you mean 'price'?")),
    ("column twice", table("rooms", lambda t: t.append_column("price", t.column("price"))), (f"{ROOMS}{PRICE}2 columns have this name",)),
    ("prices in floats", put("rooms", "price", 99.5), (f"{ROOMS}{PRICE}the file holds double", CENTS)),
    ("price NaN", put("rooms", "price", float("nan")), (f"{ROOMS}{PRICE}the file holds double (1 of its values NaN or infinite)", CENTS)),
    ("price infinite", put("rooms", "price", float("inf")), (f"{ROOMS}{PRICE}the file holds double (1 of its values NaN or infinite)", CENTS)),
    ("price null", put("rooms", "price", None), (f"{ROOMS}{PRICE}1 of 10 values are null, first at room 'a1', night 2025-08-01", "hint: leave such rows out")),
    ("key null", put("rooms", "room", None), (f"{ROOMS}rooms.room: 1 of 10 values are null",)),
    ("prices in 32 bits", column("rooms", "price", lambda old: pa.array(old, pa.int32())), (f"{ROOMS}{PRICE}the file holds int32", CENTS)),
    ("price 2^63", put("rooms", "price", 2**63, pa.uint64()), (f"{ROOMS}{PRICE}the file holds uint64",)),
    ("prices decimal", column("rooms", "price", lambda old: pa.array(old).cast(pa.decimal128(30, 2))), (f"{ROOMS}{PRICE}the file holds decimal128(30, 2)",)),
    ("prices in words", column("rooms", "price", lambda old: pa.array(list(map(str, old)))), (f"{ROOMS}{PRICE}the file holds string",)),
    ("prices in lists", column("rooms", "price", lambda old: pa.array([[value] for value in old])), (f"{ROOMS}{PRICE}the file holds list<",)),
    ("prices without type", column("rooms", "price", lambda old: pa.nulls(len(old))), (f"{ROOMS}{PRICE}the file holds null",)),
    ("bytes for text", column("rooms", "town", lambda old: pa.array([value.encode() for value in old])), (f"{ROOMS}rooms.town: the file holds binary",)),
    ("text not UTF-8", column("rooms", "town", not_utf_8), (f"{ROOMS}rooms.town: some text is not UTF-8",)),
    ("timestamps for dates", column("rooms", "night", lambda old: pa.array([datetime.datetime.combine(day, datetime.time()) for day in old])), (f"{ROOMS}rooms.night: the file holds timestamp[us]",)),
    ("far future", column("rooms", "night", lambda old: pa.array([10**7] * len(old), pa.int32()).cast(pa.date32())), (f"{ROOMS}rooms.night: 10 values are not days of the years 1 to 9999",)),
    ("24:00", put("trains", "arrives_at", 1440), ("world/trains.parquet: error: trains.arrives_at: 1 values are not minutes 0 to 1439",)),
    ("a minute to nothing", put("trains", "arrives_at", -1), ("world/trains.parquet: error: trains.arrives_at: 1 values are not minutes 0 to 1439",)),
    ("1 for true", column("rooms", "pool", lambda old: pa.array(list(map(int, old)))), (f"{ROOMS}rooms.pool: the file holds int64", "hint: cast the column to bool")),
    ("category misspelt", put("rooms", "kind", "vila"), (f"{ROOMS}rooms.kind: 'vila' is not among the declared values", "hint: did you mean 'villa'?")),
    ("key twice", table("rooms", lambda t: pa.concat_tables([t, t.slice(2, 1)])), (f"{ROOMS}rooms: 1 rows repeat the key of another row, first room 'a2', night 2025-08-01",)),
    ("fact twice", table("near", lambda t: pa.concat_tables([t, t.slice(0, 1)])), ("world/near.parquet: error: near: 1 rows repeat the key of another row",)),
    ("reference leads nowhere", put("rooms", "town", "Atlantis"), (f"{ROOMS}rooms.town: 1 rows refer to no row of towns, first 'Atlantis'", "hint: every town must be a town in towns.parquet")),
    ("nothing to refer to", table("towns", lambda t: t.slice(0, 0)), (f"{ROOMS}rooms.town: 10 rows refer to no row of towns",)),
    ("id not in NFC", put("rooms", "room", "cafe\u0301"), (f"{ROOMS}rooms.room: ", TEXT_FOR_IDS, "(NFC)")),
    ("id with a space", put("rooms", "room", "a 1"), (f"{ROOMS}rooms.room: 'a 1' {TEXT_FOR_IDS}",)),
    ("id with a separator", put("rooms", "room", "a_1"), (f"{ROOMS}rooms.room: 'a_1' {TEXT_FOR_IDS}",)),
    ("id empty", put("rooms", "room", ""), (f"{ROOMS}rooms.room: '' {TEXT_FOR_IDS}",)),
    ("id with a path", put("trains", "train", "../t1"), (f"trains.train: '../t1' {TEXT_FOR_IDS}",)),
    ("id with a line end", put("trains", "train", "t\n1"), (f"trains.train: 't\\n1' {TEXT_FOR_IDS}",)),
    ("id that turns text around", put("trains", "train", "t\u202e1"), (f"trains.train: 't\\u202e1' {TEXT_FOR_IDS}",)),
    ("division by zero in a row", put("rooms", "beds", 0), ("world/dataset.yaml:33:15: error: division by zero in 'ceil(guests / beds)' for 1 rows",)),
    ("price 2^63 - 1", put("rooms", "price", 2**63 - 1), ("world/dataset.yaml:34:14: error: 'needed * price' ranges from", "beyond 64 bits", "hint: ")),
    ("price -2^63", put("rooms", "price", -(2**63)), ("world/dataset.yaml:34:14: error: 'needed * price' ranges from", "beyond 64 bits")),
    ("prices whose sum is too large", all_of(put("rooms", "price", 2**61), put("trains", "fare", 2**61 - 1)), ("task.yaml:13:11: error: ", "ranges from")),
]  # fmt: skip

MANIFESTS: list[tuple[str, str, str, tuple[str, ...]]] = [
    ("another version", "cobench_dataset: 1", "cobench_dataset: 7", ("2:18: error: ",)),
    ("anchor", "cobench_dataset: 1", "cobench_dataset: &x 1", ("2:18: error: YAML anchors",)),
    ("name in capitals", "name: tiny", "name: Tiny World", ("3:7: error: ",)),
    ("bound in words", "min: 1, max: 6", "min: one, max: 6", ("7:31: error: 'one' is not a plain number",)),
    ("unknown key", "tables:", "tabels:", ("8:1: error: unknown key 'tabels'", "hint: did you mean 'tables'?")),
    ("unknown key of a column", "digits: 2", "digit: 2", ("27:40: error: unknown key 'digit'", "hint: did you mean 'digits'?")),
    ("unknown type", "beds: {type: number}", "beds: {type: int}", ("28:20: error: ", "'number'")),
    ("too many digits", "digits: 1}", "digits: 10}", ("26:37: error: ", "9")),
    ("unit of a truth", "pool: {type: bool}", "pool: {type: bool, unit: USD}", ("30:13: error: only numbers have a unit or digits",)),
    ("key that is no column", "key: [room, night]", "key: [room, nite]", ("18:17: error: no column 'nite'", "hint: did you mean 'night'?")),
    ("key twice", "key: [room, night]", "key: [room, room]", ("18:17: error: the column 'room' stands in the key twice",)),
    ("no key", "key: [room, night]", "key: []", ("18:10: error: ",)),
    ("nullable key", "town: {type: string}", "town: {type: string, nullable: true}", ("11:11: error: the key column 'town' is nullable",)),
    ("unknown table", "references: {town: towns}", "references: {town: tawns}", ("20:24: error: no table 'tawns'", "hint: did you mean 'towns'?")),
    ("unknown column", "references: {town: towns}", "references: {twon: towns}", ("20:18: error: 'rooms' has no column 'twon'", "hint: did you mean 'town'?")),
    ("prefix that is no name", "{town: towns}", "{town: {table: towns, prefix: A-}}", ("20:24: error: a prefix is a name",)),
    ("circle of references", "    key: [town]\n", "    key: [town]\n    references: {town: towns}\n", ("9:3: error: the references of 'towns' lead back to it",)),
    ("column visible twice", "      pool: {type: bool}", "      coast: {type: bool}", ("20:24: error: the column 'coast' would be visible twice in 'rooms'", "hint: rename one of them")),
    ("file elsewhere", "file: rooms.parquet", "file: ../rooms.parquet", ("17:11: error: ",)),
    ("absolute file", "file: rooms.parquet", "file: /rooms.parquet", ("17:11: error: ",)),
    ("one file twice", "file: trains.parquet", "file: rooms.parquet", ("37:11: error: 'rooms' has the same file",)),
    ("ambiguous ids", "room_{room}_{start_day}", "room_{room}{start_day}", ("19:9: error: the part {start_day} must begin with a separator",)),
    ("id of an unknown column", "room_{room}_{start_day}", "room_{rom}_{start_day}", ("19:9: error: no column 'rom'", "hint: did you mean 'room'?")),
    ("id without column", "id: room_{room}_{start_day}", "id: room", ("19:9: error: an id template ends with a {column}",)),
    ("id of money", "room_{room}_{start_day}", "room_{room}_{price}", ("19:9: error: the column 'price' cannot stand in an id",)),
    ("id that may be unknown", "train_{train}[_{coach}]", "train_{train}_{coach}", ("39:9: error: the column 'coach' may be unknown",)),
    ("id that two rows share", "room_{room}_{start_day}", "room_{room}_{needed}", ("world/", "'room_a1_2'")),
    ("unknown name", "ceil(guests / beds)", "ceil(guest / beds)", ("33:20: error: unknown name 'guest'", "hint: did you mean 'guests'?")),
    ("division", "ceil(guests / beds)", "guests / beds", ("33:15: error: division by something that varies",)),
    ("derived again", "total: needed * price", "price: needed * price", ("34:7: error: 'price' is already a column",)),
    ("not yet derived", "needed: ceil(guests / beds)\n      total", "total", ("33:14: error: unknown name 'needed'",)),
    ("require of a number", "require: free >= needed", "require: free", ("35:14: error: a condition is needed here",)),
    ("require of two units", "require: free >= needed", "require: free >= price", ("35:14: error: cannot compare a plain number and a number in USD",)),
    ("value twice", "[hut, inn, villa]", "[hut, hut, villa]", ("25:36: error: values are distinct texts",)),
    ("value that is used", "[hut, inn, villa]", "[hut, inn]", ("world/rooms.parquet: error: rooms.kind: 'villa' is not among the declared values",)),
    ("relation named like a function", "  near:", "  weekday:", ("58:3: error: 'weekday' is already a function",)),
    ("unknown value of a relation", "value: minutes", "value: minute", ("67:12: error: the value of a relation is one of its number columns",)),
]  # fmt: skip

FILES: list[tuple[str, Edit, tuple[str, ...]]] = [
    ("task missing", lambda folder: (folder / "task.yaml").unlink(), ("task.yaml: error: cannot read the file: No such file",)),
    ("task of 50 MB", large("task.yaml", 50 << 20), ("task.yaml: error: the file is larger than 1 MiB",)),
    ("task of 50 MB of YAML", content(lambda old: old + b"# and so on\n" * 4_400_000, "task.yaml"), ("task.yaml: error: the file is larger than 1 MiB",)),
    ("task in Latin-1", content(lambda old: old.replace(b"id: bad", b"id: bad\ntitle: caf\xe9"), "task.yaml"), ("task.yaml:3:1: error: not UTF-8 text: byte 0xe9",)),
    ("task in UTF-16", content(lambda old: old.decode().encode("utf-16"), "task.yaml"), ("task.yaml:1:1: error: not UTF-8 text: byte 0xff at offset 0",)),
    ("task is a picture", content(lambda _: b"\x89PNG\r\n\x1a\n" + bytes(range(256)), "task.yaml"), ("task.yaml:1:1: error: not UTF-8 text: byte 0x89 at offset 0",)),
    ("manifest missing", lambda folder: (folder / "world/dataset.yaml").unlink(), ("world: error: this folder has no dataset.yaml",)),
    ("manifest of 50 MB", large("world/dataset.yaml", 50 << 20), ("world/dataset.yaml: error: the file is larger than 1 MiB",)),
    ("manifest is a picture", content(lambda _: b"\x89PNG\r\n\x1a\n", "world/dataset.yaml"), ("world/dataset.yaml:1:1: error: not UTF-8 text",)),
    ("manifest empty", content(lambda _: b"", "world/dataset.yaml"), ("world/dataset.yaml: error: the file is empty",)),
]  # fmt: skip


def cases() -> Iterator[Case]:
    for name, old, new, says in TASKS:
        yield Case(f"task: {name}", text(old, new, "task.yaml"), says)
    for name, old, new, says in SINGLE:
        yield Case(f"task: {name}", text(old, new, "task.yaml"), says, errors=1)
    for expression, place, says in EXPRESSIONS:
        edit = text(SEA, f"  sea: {expression}", "task.yaml")
        yield Case(f"expression: {expression[:60]}", edit, (f"task.yaml:10:{place}: error: ", *says), errors=1)
    for name, edit, says in TABLES:
        yield Case(f"table: {name}", edit, says)
    for name, old, new, says in MANIFESTS:
        place, *rest = says
        first = place if place.startswith("world/") else f"world/dataset.yaml:{place}"
        yield Case(f"manifest: {name}", text(old, new, "world/dataset.yaml"), (first, *rest))
    for name, edit, says in FILES:
        yield Case(f"file: {name}", edit, says, errors=1)


CASES = list(cases())


@pytest.fixture
def folder(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> Path:
    """A folder with a good task and its dataset, the current one."""
    shutil.copytree(WORLD, tmp_path / "world")
    (tmp_path / "task.yaml").write_text(TASK, encoding="utf-8")
    monkeypatch.chdir(tmp_path)
    return tmp_path


def test_the_task_is_good_before_it_is_changed(folder: Path, capsys: pytest.CaptureFixture[str]) -> None:
    assert run(["verify", "task.yaml", "--out", "out", "--engines", "scan"]) == 0
    assert capsys.readouterr().err == ""
    assert sorted(path.name for path in (folder / "out").iterdir()) == ["bad.cert.json", "bad.run.json"]


@pytest.mark.parametrize("case", CASES, ids=[case.id for case in CASES])
def test_bad_input(case: Case, folder: Path, capsys: pytest.CaptureFixture[str]) -> None:
    case.edit(folder)
    code = run(["verify", "task.yaml", "--out", "out"])
    shown = capsys.readouterr()
    for part in case.says:
        assert part in shown.err
    assert code == 2
    assert shown.out == ""
    assert case.errors is None or shown.err.count("error: ") == case.errors
    assert "Traceback" not in shown.err
    assert all(len(line) < 5000 for line in shown.err.splitlines())
    assert not (folder / "out").exists()


def test_every_fault_of_a_task_is_told_at_once(folder: Path, capsys: pytest.CaptureFixture[str]) -> None:
    text(SEA, "  sea: room.costa", "task.yaml")(folder)
    text("room.night", "room.nihgt", "task.yaml")(folder)
    text("room.total + train.fares", "room.total + train.minutes", "task.yaml")(folder)
    assert run(["verify", "task.yaml"]) == 2
    shown = capsys.readouterr().err
    assert [line.split(" ")[0] for line in shown.splitlines() if "error: " in line] == [
        "task.yaml:10:13:",
        "task.yaml:11:33:",
        "task.yaml:13:11:",
    ]


EMPTY = {
    "the offers": ("rooms", "trains"),
    "one of two": ("trains",),
    "a relation": ("near",),
    "everything": ("rooms", "trains", "towns", "near", "walk", "vaults"),
}


@pytest.mark.parametrize("names", EMPTY.values(), ids=EMPTY.keys())
def test_empty_tables_make_a_task_unsolvable(
    names: tuple[str, ...], folder: Path, capsys: pytest.CaptureFixture[str]
) -> None:
    for name in names:
        table(name, lambda found: found.slice(0, 0))(folder)
    assert run(["verify", "task.yaml", "--out", "out", "--engines", "scan", "-q"]) == 1
    shown = capsys.readouterr()
    assert shown.err == ""
    assert "not as expected: the task has no plan" in shown.out
    text(GOAL, f"{GOAL}\nexpect: unsolvable", "task.yaml")(folder)
    assert run(["verify", "task.yaml", "--out", "out", "--engines", "scan", "-q"]) == 0


COMMANDS = {
    "verify": ["verify", "task.yaml", "--out", "out"],
    "solve": ["solve", "task.yaml"],
    "score": ["score", "task.yaml", "plan.yaml"],
    "rank": ["rank", "task.yaml", "plan.yaml"],
    "best": ["best", "task.yaml"],
    "explain": ["explain", "task.yaml"],
    "check": ["check", "cheapest.cert.json", "--task", "task.yaml"],
    "describe": ["data", "describe", "world"],
}


@pytest.fixture
def damaged(folder: Path) -> Path:
    """The folder with a plan and a certificate, and a price that is null."""
    shutil.copy(WORLD.parent / "valid" / "cheapest.cert.json", folder)
    (folder / "plan.yaml").write_text("picks: {room: room_a1_1, train: train_t1}\n", encoding="utf-8")
    put("rooms", "price", None)(folder)
    return folder


@pytest.mark.parametrize("args", COMMANDS.values(), ids=COMMANDS.keys())
def test_every_command_tells_it_alike(args: list[str], damaged: Path, capsys: pytest.CaptureFixture[str]) -> None:
    assert run(args) == 2
    shown = capsys.readouterr()
    assert shown.out == ""
    assert "rooms.parquet: error: " in shown.err
    assert not (damaged / "out").exists()


@pytest.mark.parametrize("command", ["verify", "score"])
def test_a_process_of_its_own_tells_it(command: str, damaged: Path, run_cobench: Any) -> None:
    done = run_cobench(*COMMANDS[command], cwd=damaged)
    assert done.returncode == 2
    assert done.stdout == ""
    assert "rooms.parquet: error: " in done.stderr
    assert "Traceback" not in done.stderr
    assert not (damaged / "out").exists()


USAGE = [
    [],
    ["verfy"],
    ["verify"],
    ["verify", "task.yaml", "--time-limit", "-1"],
    ["verify", "task.yaml", "--time-limit", "soon"],
    ["verify", "task.yaml", "--time-limit", "nan"],
    ["verify", "task.yaml", "--time-limit", "inf"],
    ["verify", "task.yaml", "--work-limit", "0"],
    ["verify", "task.yaml", "--memory-limit", "1"],
    ["verify", "task.yaml", "--colour"],
    ["verify", "task.yaml", "--data"],
    ["verify", "none/*.yaml"],
    ["verify", "empty"],
    ["check"],
    ["check", "empty"],
    ["score", "task.yaml"],
    ["solve", "task.yaml", "other.yaml"],
    ["rank", "task.yaml"],
    ["best", "task.yaml", "-k", "0"],
    ["explain", "task.yaml", "--price", "budget"],
    ["explain", "task.yaml", "--plan", "plan.yaml", "--threshold", "budget"],
    ["schema", "poem"],
    ["completion", "tcsh"],
    ["data"],
    ["data", "build", "parks"],
    ["data", "build", "moon", "--out", "new"],
    ["data", "build", "parks", "--scale", "huge", "--out", "new"],
    ["data", "build", "parks", "--seed", "x", "--out", "new"],
]


@pytest.mark.parametrize("args", USAGE, ids=" ".join)
def test_wrong_usage(args: list[str], folder: Path, capsys: pytest.CaptureFixture[str]) -> None:
    (folder / "empty").mkdir()
    before = sorted(path.name for path in folder.iterdir())
    try:
        code: int | str | None = run(args)
    except SystemExit as stop:  # how rich-click shows the help where a command is missing
        code = stop.code
    shown = capsys.readouterr()
    assert code == 2
    assert "Traceback" not in shown.err
    assert shown.err + shown.out
    assert sorted(path.name for path in folder.iterdir()) == before
