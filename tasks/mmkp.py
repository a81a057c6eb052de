"""The multiple-choice multi-dimensional knapsack: pick one item of every group, keep every capacity, gain the most.

Reads a folder of instances in the OR-Library form and of sets of instances in the form of Hiremath and Hill:

    I01                              TestSet1.5GP10IT5KP.txt
     5  5 5     groups items resources    1 5 10 5         number groups items resources
     25 25 …    capacities                331 318 …        capacities
     1          group                     1                group
     7.00 1 3 … value and weights         7 74 19 …        value and weights
     …                                    …                and the next instance

Every instance becomes a dataset of one table and a task of one choice for each group. A single instance may end with
solutions (`Solutions by NAME`, then for each group the number of its item, from 0 on, and the value), which become
submitted plans, and with an `Upper bound`, which is passed over. Beside the instances, values found exactly and by
heuristics are published in `published_values.json`; a value is no plan, so these go to `published.json`, by task.
"""

from __future__ import annotations

import json
import re
from collections.abc import Iterator, Mapping, Sequence
from dataclasses import dataclass, replace
from fractions import Fraction
from pathlib import Path
from typing import Any

from ..schemas.canonical import canonical_bytes
from ..schemas.errors import TaskError, Where
from ..schemas.source import read_text
from ..schemas.task import MAX_CHOICES, MAX_CONSTRAINTS
from ..schemas.units import parse_decimal
from .converted import Converted, drafting

PUBLISHED = "published_values.json"
_SINGLE = re.compile(r"I([0-9]{2})\Z")
_SET = re.compile(r"TestSet([0-9]+)\.[0-9]+GP[0-9]+IT[0-9]+KP\.txt\Z")
_SINGLES = "orlib"  # under this name the values of all single instances are published, in order
_SOLUTION = "Solutions by "
_WHOLE = re.compile(r"[0-9]{1,12}\Z")
_LARGEST = 10**12  # of a number in a source: so that no sum of 64 of them leaves 64 bits, in steps of 10^-3
_DIGITS = 3
_NONE = -1  # published where a heuristic found no plan


@dataclass(frozen=True, slots=True)
class Solution:
    """A plan that stands beside an instance: `items[g]`, counted from 1, and its value as it is written."""

    author: str
    items: tuple[int, ...]
    value: str


@dataclass(frozen=True, slots=True)
class Instance:
    """`capacities[r]`; `groups[g][i]`: the value of an item, in steps of 10^-digits, then its weights[r]."""

    id: str
    digits: int
    capacities: tuple[int, ...]
    groups: tuple[tuple[tuple[int, ...], ...], ...]
    solutions: tuple[Solution, ...] = ()


def convert(source: Path, out: Path) -> Converted:
    """Writes the instances in the folder `source`; raises TaskError at the file and line of what is malformed."""
    with drafting(source, out) as draft:
        instances = read_instances(source)
        every = [item for several in instances.values() for item in several]
        found = {item.id: item for item in every}
        if len(found) < len(every):
            twice = next(item.id for at, item in enumerate(every) if item.id in {other.id for other in every[:at]})
            raise TaskError(f"two files have instances of one set: '{twice}' comes twice", where=Where(str(source)))
        for item in found.values():
            draft.dataset(item.id, _manifest(item), {"items": _rows(item)})
            draft.task(_task(item))
            for solution in item.solutions:
                picks = {f"g{group}": f"g{group}_i{number}" for group, number in enumerate(solution.items, 1)}
                draft.submit(item.id, solution.author, {"picks": picks}, published=solution.value)
        published = source / PUBLISHED
        if published.exists():
            values = read_published(published, instances)
            (draft.folder / "published.json").write_bytes(canonical_bytes(values))
        return draft.converted()


def read_instances(source: Path) -> dict[str, list[Instance]]:
    """The instances by the name under which their values are published, each list in the order of the source."""
    if not source.is_dir():
        raise TaskError("this is not a folder of instances", where=Where(str(source)))
    found: dict[str, list[Instance]] = {}
    for path in sorted(source.iterdir()):
        if single := _SINGLE.match(path.name):
            found.setdefault(_SINGLES, []).append(_single(_Lines(path), f"mmkp-i{single[1]}"))
        elif several := _SET.match(path.name):
            found[path.name] = list(_several(_Lines(path), f"mmkp-set{several[1]}"))
    if not any(found.values()):
        hint = "files such as I01 and TestSet1.5GP10IT5KP.txt"
        raise TaskError("there is no instance in this folder", where=Where(str(source)), hint=hint)
    return found


def read_published(path: Path, instances: Mapping[str, Sequence[Instance]]) -> dict[str, dict[str, str | None]]:
    """The published values of each task by method, as they are written; None where the method found no plan."""

    def fault(message: str) -> TaskError:
        return TaskError(message, where=Where(str(path)))

    try:
        content = json.loads(read_text(path, TaskError), parse_float=_Decimal, parse_int=_Decimal)
    except ValueError as problem:
        raise fault(f"not JSON: {problem}") from None
    if not isinstance(content, dict):
        raise fault("a JSON object of instances is needed here")
    found: dict[str, dict[str, str | None]] = {}
    for name, several in instances.items():
        table = content.get(name)
        if table is None:
            continue
        columns, rows = (table.get("columns"), table.get("rows")) if isinstance(table, dict) else (None, None)
        named = isinstance(columns, list) and all(isinstance(item, str) for item in columns)
        if not named or not isinstance(columns, list) or not isinstance(rows, list):
            raise fault(f"'{name}' has no columns and rows")
        if len(rows) != len(several):
            raise fault(f"'{name}' has values of {len(rows)} instances, there are {len(several)}")
        for item, row in zip(several, rows, strict=True):
            if not isinstance(row, list) or len(row) != len(columns):
                raise fault(f"a row of '{name}' has not one value for each of {', '.join(columns)}")
            pairs = zip(columns, row, strict=True)
            try:
                found[item.id] = {method: _published(value) for method, value in pairs}
            except ValueError as problem:
                raise fault(f"'{name}': {problem}") from None
    return found


class _Decimal(str):
    """A number of a JSON file, as it is written."""

    __slots__ = ()


def _published(value: Any) -> str | None:
    exact = parse_decimal(value) if isinstance(value, _Decimal) else None
    if exact is None:
        raise ValueError(f"{value!r} is not a decimal number")
    return None if exact == _NONE else str(value)


class _Lines:
    """The lines of a file that are not blank, in order, read as numbers."""

    def __init__(self, path: Path) -> None:
        self.name = str(path)
        self.text = read_text(path, TaskError).splitlines()
        self.filled = [number for number, line in enumerate(self.text, 1) if line.strip()]
        self.place = 0

    def more(self) -> bool:
        """Whether there is another line."""
        return self.place < len(self.filled)

    def fault(self, message: str, word: re.Match[str] | None = None) -> TaskError:
        """An error at a word of the line that was read last, or at the whole of it."""
        if not self.place:
            return TaskError(message, where=Where(self.name))
        line = self.filled[self.place - 1]
        column, length = (word.start() + 1, len(word[0])) if word else (1, 1)
        return TaskError(message, where=Where(self.name, line, column, self.text[line - 1], length))

    def line(self) -> str:
        """The next line."""
        self.place += 1
        return self.text[self.filled[self.place - 1] - 1].strip()

    def words(self, number: int, what: str) -> list[re.Match[str]]:
        """The so many words of the next line."""
        if not self.more():
            raise self.fault(f"the file ends where {what} should follow")
        self.place += 1
        found = list(re.finditer(r"[^ \t]+", self.text[self.filled[self.place - 1] - 1]))
        if len(found) != number:
            raise self.fault(f"{what}: {number} numbers are needed here, there are {len(found)}")
        return found

    def wholes(self, number: int, what: str) -> list[int]:
        """The next line as so many whole numbers that are not negative."""
        return [self.whole(word) for word in self.words(number, what)]

    def whole(self, word: re.Match[str]) -> int:
        """A whole number that is not negative."""
        if not _WHOLE.match(word[0]):
            raise self.fault(f"'{word[0]}' is not a whole number of at most 12 digits, 0 or more", word)
        return int(word[0])

    def decimal(self, word: re.Match[str]) -> Fraction:
        """The exact value of a decimal."""
        exact = parse_decimal(word[0])
        if exact is None or abs(exact) >= _LARGEST or (exact * 10**_DIGITS).denominator != 1:
            limit = f"below 10^12 with at most {_DIGITS} digits after the point"
            raise self.fault(f"'{word[0]}' is not a number {limit}", word)
        return exact


def _single(lines: _Lines, name: str) -> Instance:
    """The one instance of a file, with the solutions behind it."""
    found = _instance(lines, name, lines.wholes(3, "numbers of groups, items and resources"))
    groups, items = len(found.groups), len(found.groups[0])
    solutions: list[Solution] = []
    while lines.more():
        title = lines.line()
        if title == "Upper bound":
            lines.words(1, "an upper bound")
        elif title.startswith(_SOLUTION) and (author := title.removeprefix(_SOLUTION).strip()):
            *picked, value = lines.words(groups + 1, "an item of each group and the value")
            numbers = [lines.whole(word) for word in picked]
            for word, number in zip(picked, numbers, strict=True):
                if number >= items:
                    raise lines.fault(f"there is no item {number}; they are counted from 0 to {items - 1}", word)
            lines.decimal(value)
            solutions.append(Solution(author, tuple(number + 1 for number in numbers), value[0]))
        else:
            raise lines.fault("this is neither a solution nor an upper bound")
    return replace(found, solutions=tuple(solutions))


def _several(lines: _Lines, prefix: str) -> Iterator[Instance]:
    last = 0
    while lines.more():
        number, *sizes = lines.wholes(4, "an instance's number and its numbers of groups, items and resources")
        if number != last + 1:
            raise lines.fault(f"this is instance {number}, where {last + 1} should follow")
        last = number
        yield _instance(lines, f"{prefix}-{number:02d}", sizes)


def _instance(lines: _Lines, name: str, sizes: Sequence[int]) -> Instance:
    """The instance whose line of sizes was just read."""
    groups, items, resources = sizes
    for size, what, most in ((groups, "groups", MAX_CHOICES), (resources, "resources", MAX_CONSTRAINTS)):
        if size > most:
            raise lines.fault(f"there are {size} {what}; a task has at most {most}")
    if not (groups and items):
        raise lines.fault("an instance has at least one group and one item in each")
    capacities = tuple(lines.wholes(resources, "capacities"))
    read: list[list[tuple[Fraction, tuple[int, ...]]]] = []
    for group in range(1, groups + 1):
        (number,) = lines.wholes(1, f"the number of group {group}")
        if number != group:
            raise lines.fault(f"this is group {number}, where {group} should follow")
        rows: list[tuple[Fraction, tuple[int, ...]]] = []
        for _ in range(items):
            value, *weights = lines.words(1 + resources, f"value and weights of an item of group {group}")
            rows.append((lines.decimal(value), tuple(map(lines.whole, weights))))
        read.append(rows)
    values = [value for rows in read for value, _ in rows]
    digits = next(digits for digits in range(_DIGITS + 1) if all((v * 10**digits).denominator == 1 for v in values))
    scaled = tuple(tuple((int(value * 10**digits), *weights) for value, weights in rows) for rows in read)
    return Instance(name, digits, capacities, scaled)


def _resources(instance: Instance) -> list[str]:
    return [f"r{number}" for number in range(1, len(instance.capacities) + 1)]


def _manifest(instance: Instance) -> dict[str, Any]:
    whole = {"type": "number"}
    value = {"type": "number", "digits": instance.digits} if instance.digits else whole
    columns = {"group": whole, "item": whole, "value": value, **dict.fromkeys(_resources(instance), whole)}
    return {
        "cobench_dataset": 1,
        "name": instance.id,
        "tables": {"items": {"key": ["group", "item"], "id": "g{group}_i{item}", "columns": columns}},
    }


def _rows(instance: Instance) -> Iterator[tuple[int, ...]]:
    for group, items in enumerate(instance.groups, 1):
        for number, item in enumerate(items, 1):
            yield group, number, *item


def _task(instance: Instance) -> dict[str, Any]:
    names = [f"g{number}" for number in range(1, len(instance.groups) + 1)]
    limits = dict(zip(_resources(instance), instance.capacities, strict=True))
    sizes = f"{len(names)} groups of {len(instance.groups[0])} items, {len(limits)} resources"
    return {
        "cobench": 1,
        "id": instance.id,
        "title": f"Knapsack of {sizes}",
        "dataset": f"../data/{instance.id}",
        "choose": {name: {"one": "items", "where": f"group == {number}"} for number, name in enumerate(names, 1)},
        "constraints": {name: f"{_sum(names, name)} <= {limit}" for name, limit in limits.items()},
        "maximize": _sum(names, "value"),
    }


def _sum(names: Sequence[str], column: str) -> str:
    return " + ".join(f"{name}.{column}" for name in names)
