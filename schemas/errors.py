"""Everything that cobench raises on purpose.

CobenchError
├── InputError           something a person wrote, or a file they gave, is wrong (exit 2)
│   ├── TaskError        a task file
│   ├── ExpressionError  an expression inside a task or a manifest
│   ├── ManifestError    a dataset.yaml
│   ├── TableError       a Parquet table, or a table that does not fit its manifest
│   ├── PlanError        a plan file that is not a plan
│   ├── CertificateError a certificate that is malformed, altered, or bound to other inputs
│   └── OverflowRisk     numbers that could leave 64 bits; names the expression and its range
├── InputErrors          several of them, found in one reading
├── OutputError          a file could not be written; nothing was left half-written (exit 2)
└── Disagreement         two engines, or an engine and the checker, contradict each other (exit 4)
"""

from __future__ import annotations

import difflib
from collections.abc import Callable, Iterable, Sequence
from dataclasses import dataclass, field
from typing import ClassVar, TypeVar

Made = TypeVar("Made")
Other = TypeVar("Other")


@dataclass(frozen=True, slots=True)
class Where:
    """A place in a file: 1-based line and column, the line itself, and how many characters to underline."""

    file: str
    line: int = 0
    column: int = 0
    text: str = ""
    length: int = 1

    def __str__(self) -> str:
        return f"{self.file}:{self.line}:{self.column}" if self.line else self.file

    def picture(self) -> str:
        """The source line with carets below the place; empty when there is no line to show."""
        if not self.text:
            return ""
        start = max(0, self.column - 1 - 80)
        shown = self.text[start : start + 160]
        shown = "".join(char if char.isprintable() else " " for char in shown)
        number = str(self.line)
        margin = " " * len(number)
        offset = self.column - 1 - start
        carets = "^" * max(1, min(self.length, len(shown) - offset))
        return f"{margin} |\n{number} | {shown}\n{margin} | {' ' * offset}{carets}"


class CobenchError(Exception):
    """Root of every error that cobench raises on purpose."""

    exit_code: ClassVar[int] = 2


class InputError(CobenchError):
    """Something given to cobench is wrong: what, where, and what to do about it."""

    def __init__(self, message: str, *, where: Where | None = None, hint: str = "") -> None:
        super().__init__(message)
        self.message = message
        self.where = where
        self.hint = hint

    def __str__(self) -> str:
        head = f"{self.where}: error: {self.message}" if self.where else f"error: {self.message}"
        parts = [head, self.where.picture() if self.where else "", f"hint: {self.hint}" if self.hint else ""]
        return "\n".join(part for part in parts if part)


class TaskError(InputError):
    """A task file says something that a task cannot say."""


class ExpressionError(InputError):
    """An expression does not parse, or its names, types or units do not fit."""


class ManifestError(InputError):
    """A dataset.yaml says something that a manifest cannot say."""


class TableError(InputError):
    """A Parquet file is missing, damaged, or holds what its manifest does not allow."""


class PlanError(InputError):
    """A plan file holds something other than a plan."""


class CertificateError(InputError):
    """A certificate is malformed, was altered, or belongs to another task or other tables."""


class OverflowRisk(InputError):
    """A sum or product could leave 64 bits; nothing was computed."""


class InputErrors(CobenchError):
    """Several input errors found in one reading, in the order of their places."""

    def __init__(self, errors: Iterable[InputError]) -> None:
        self.errors = tuple(errors)
        super().__init__(f"{len(self.errors)} errors")

    def __str__(self) -> str:
        return "\n".join(str(error) for error in self.errors)


class OutputError(CobenchError):
    """A result could not be written. The previous file, if any, is untouched."""


class Disagreement(CobenchError):
    """Two independent answers to one question differ: a fault in cobench or in a solver."""

    exit_code: ClassVar[int] = 4


@dataclass(slots=True)
class Faults:
    """Input errors that are told together: what was attempted goes on where one thing was wrong."""

    errors: list[InputError] = field(default_factory=list[InputError])

    def attempt(self, make: Callable[[], Made], otherwise: Other) -> Made | Other:
        """What `make` gives; `otherwise` when it raises input errors, which are kept."""
        try:
            return make()
        except InputError as fault:
            self.errors.append(fault)
        except InputErrors as several:
            self.errors.extend(several.errors)
        return otherwise

    def raise_all(self) -> None:
        """Raises what was kept, as `raise_all` does."""
        raise_all(self.errors)


def raise_all(errors: Sequence[InputError]) -> None:
    """Raise the only error as itself, several as InputErrors, none not at all."""
    if len(errors) == 1:
        raise errors[0]
    if errors:
        raise InputErrors(errors)


def did_you_mean(word: str, known: Iterable[str], what: str = "") -> str:
    """A hint that names the nearest of `known`, or lists them when nothing is near and they are few."""
    names = sorted(set(known))
    near = difflib.get_close_matches(word, names, n=1, cutoff=0.6)
    if near:
        return f"did you mean '{near[0]}'?"
    label = f"{what}: " if what else "known: "
    shown = ", ".join(names[:12]) + (", …" if len(names) > 12 else "")
    return f"{label}{shown}" if names else ""
