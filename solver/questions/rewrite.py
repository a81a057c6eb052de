"""Writing another number into a task's text: one literal changes, and nothing else, not even a space."""

from __future__ import annotations

import difflib
import re
from fractions import Fraction

from ...schemas.errors import InputError, InputErrors, TaskError
from ...schemas.syntax import ExpressionText, Span
from ...schemas.task import TaskFile, parse_task
from ...schemas.units import Type


def spelled(value: Fraction, digits: int, kind: Type) -> str:
    """The exact decimal, with `digits` after the point if they do, else with all that its type has (1440.40).

    ValueError when no decimal is exact.
    """
    places = digits
    if (value * 10**places).denominator != 1:
        places = max(digits, len(str(kind.scale)) - 1)
    while (value * 10**places).denominator != 1:
        places += 1
        if places > digits + 64:
            raise ValueError(f"{value} has no exact decimal")
    whole, part = divmod(abs(int(value * 10**places)), 10**places)
    return ("-" if value < 0 else "") + (f"{whole}.{part:0{places}d}" if places else str(whole))


def replaced(file: TaskFile, text: str, constraint: str, span: Span, literal: str) -> str:
    """`text`, of which `file` was read, with another literal at a span of a constraint's expression.

    What comes out is read again: only that expression differs, and only in the literal. Raises TaskError when the
    literal cannot be told apart in the text.
    """
    where = file.text("constraints", constraint)
    place, old = where.place(span), where.text[span.start : span.end]
    wanted = where.text[: span.start] + literal + where.text[span.end :]
    lines = text.splitlines(keepends=True)
    line = lines[place.line - 1]
    starts = [start for start in range(len(line)) if line.startswith(old, start)]
    for start in sorted(starts, key=lambda start: start != place.column - 1):  # where it should be comes first
        lines[place.line - 1] = line[:start] + literal + line[start + len(old) :]
        changed = "".join(lines)
        if _only_change(file, changed, constraint, wanted):
            return changed
    raise TaskError(f"the number in {constraint} cannot be told apart in the file", where=place, hint="change it there")


def _only_change(file: TaskFile, changed: str, constraint: str, wanted: str) -> bool:
    try:
        other = parse_task(changed, file.source.name)
    except (InputError, InputErrors):
        return False
    said: ExpressionText = other.text("constraints", constraint)
    spec = other.task.constraint(constraint).model_copy(update={"require": file.task.constraint(constraint).require})
    short = isinstance(file.task.constraints[constraint], str)
    restored = {**other.task.constraints, constraint: spec.require if short else spec}
    return said.text == wanted and other.task.model_copy(update={"constraints": restored}) == file.task


def unified(name: str, before: str, after: str) -> str:
    """The change as a unified diff that `patch` can apply; empty when there is none."""
    # Lines end where `patch` thinks they do; a tab ends the name, which may hold spaces.
    old, new = (re.findall(r"[^\n]*\n|[^\n]+", text) for text in (before, after))
    shown = f"{name}\t" if " " in name else name
    lines = difflib.unified_diff(old, new, shown, shown)
    return "".join(line if line.endswith("\n") else line + "\n\\ No newline at end of file\n" for line in lines)
