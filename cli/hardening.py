"""What `cobench harden` says: the patch on stdout, everything about it on stderr."""

from __future__ import annotations

import codecs
import re
from dataclasses import asdict
from fractions import Fraction
from pathlib import Path
from typing import TYPE_CHECKING, Any

import rich_click as click

from ..schemas.canonical import wide
from ..schemas.units import Type, format_decimal, format_value, parse_decimal
from ..solver.outcome import Reason
from ..solver.questions.harden import Change, Hardened, State
from ..solver.questions.rewrite import unified
from ..solver.questions.thresholds import Goal, Margin, Plans, Unique
from .common import print_json
from .common import say as say_text

if TYPE_CHECKING:
    from ..schemas.task import TaskFile


def goal(unique: bool, plans: int | None, margin: str | None, kind: Type) -> Goal:
    """What is wanted; a margin in the unit of the objective, or in percent of the optimum."""
    if unique:
        return Unique()
    if plans is not None:
        return Plans(plans)
    written = margin or ""
    number = parse_decimal(written.removesuffix("%").removeprefix("$").strip())
    if number is None or number <= 0:
        raise click.UsageError(f"--margin: '{written}' is no amount and no percentage; write 25.00, or 5%")
    if written.endswith("%"):
        return Margin(percent=number)
    steps = number * kind.scale
    if steps.denominator != 1:
        step = format_decimal(1, kind.scale)
        raise click.UsageError(f"--margin: '{written}' does not fit the objective's steps of {step}")
    return Margin(amount=int(steps))


def write(path: Path, change: Change) -> None:
    """Puts the changed text into the task's file, which keeps its byte order mark if it has one."""
    from ..schemas.files import write_atomically

    target = path.resolve()
    mark = codecs.BOM_UTF8 if target.read_bytes().startswith(codecs.BOM_UTF8) else b""
    write_atomically(target, mark + change.text.encode())


def tell(file: TaskFile, text: str, found: Hardened, goal: Goal, as_json: bool) -> None:
    """The patch of the first change on stdout and the rest on stderr; or all of it as JSON on stdout."""
    patch = unified(file.source.name, text, found.changes[0].text) if found.changes else ""
    nearest = sorted(
        found.nearest, key=lambda item: abs(item.state.plans - goal.number) if isinstance(goal, Plans) else 0
    )
    if as_json:
        print_json(
            {
                "task": file.source.name,
                "id": file.task.id,
                "reached": found.reached,
                "complete": found.complete,
                "open": dict(found.left_open),
                "now": _state(found.now),
                "changes": [_change(change) for change in found.changes],
                "nearest": [{**_change(change), **_side(change, goal)} for change in nearest],
                "patch": patch,
            }
        )
        return
    kind = found.problem.objective.type
    say(f"now: {_told(found.now, kind)}")
    if found.reached:
        say("nothing needs to change")
    for number, change in enumerate(found.changes):
        step = f"{'or ' if number else ''}{change.constraint}: {change.old} becomes {change.new}"
        say(f"{step}: {_told(change.state, kind)}")
    if not found.changes and not found.reached:
        say("no threshold does it" if found.complete else "undecided: no threshold was found that does it, and")
    for name, limit in found.left_open.items():
        say(f"{name} was not tried to the end: {limit_told(limit)}")
    for change in nearest:
        side = "".join(f" from {side}" for side in _side(change, goal).values())
        where = f"{change.constraint} at {change.new} instead of {change.old}"
        say(f"nearest{side} with {where}: {_told(change.state, kind)}")
    if found.changes:
        for note in _stale(file, found.changes[0], found):
            say(f"note: {note}")
    click.echo(patch, nl=False)


def _side(change: Change, goal: Goal) -> dict[str, str]:
    """On which side of the number of plans that was wanted a change ends."""
    return {"side": "below" if change.state.plans < goal.number else "above"} if isinstance(goal, Plans) else {}


def limit_told(limit: str) -> str:
    """Which limit it was, and what can be done about it."""
    hints: dict[str, str] = {
        Reason.WORK: "--work-limit raises it",
        Reason.TIME: "--time-limit raises it",
        Reason.MEMORY: "it needs a machine with more",
    }
    return f"{limit} ({hints.get(limit, 'a bound of the search itself, which no option raises')})"


def say(text: str) -> None:
    """One line on stderr."""
    say_text(text, err=True)


def _told(state: State, kind: Type) -> str:
    if state.optimum is None:
        return "no plan"
    plans = "1 plan" if state.plans == 1 else f"{state.plans:,} plans"
    reached = "by 1" if state.tied == 1 else f"by {state.tied:,}"
    gap = "no naive plan feasible" if state.gap is None else f"best naive plan {format_value(state.gap, kind)} worse"
    return f"{plans}, optimum {format_value(state.optimum, kind)} reached {reached}, {gap}"


def _stale(file: TaskFile, change: Change, found: Hardened) -> list[str]:
    """What else in the file speaks of the old number, or expects what no longer holds."""
    notes: list[str] = []
    value = Fraction(change.old)
    words = {f"what {name} says": file.task.constraint(name).say for name in file.task.constraints}
    words["the title"] = file.task.title
    for what, text in words.items():
        numbers = re.findall(r"(?:(?<![\w.])-)?\d{1,40}(?:,\d{3}){0,20}(?:\.\d{1,40})?", text)
        if any(Fraction(number.replace(",", "")) == value for number in numbers):
            notes.append(f"{what} still speaks of {change.old}: {text}")
    expected = found.problem.expected
    if expected is not None:
        wrong = expected.unsolvable
        wrong |= expected.count is not None and expected.count != change.state.plans
        wrong |= expected.optimum is not None and expected.optimum != change.state.optimum
        if wrong:
            notes.append("what the task expects no longer holds: change expect, too")
    return notes


def _state(state: State) -> dict[str, Any]:
    return {name: wide(number) if number is not None else None for name, number in asdict(state).items()}


def _change(change: Change) -> dict[str, Any]:
    return {"constraint": change.constraint, "old": change.old, "new": change.new, "then": _state(change.state)}
