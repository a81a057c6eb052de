"""Tables that show every character: where the room is too small text wraps, and a number is never broken or cut."""

from __future__ import annotations

from typing import TYPE_CHECKING

from rich.measure import Measurement

if TYPE_CHECKING:
    from rich.console import Console
    from rich.table import Column, Table

_WORD = 16  # longer words of text (ids, expressions) are folded where the room is too small; numbers never


def show(out: Console, table: Table) -> None:
    """Prints a table within the width of the console: the widest columns wrap first, between words.

    Where not even that is enough, lines are longer than the console is wide, and the terminal wraps them.
    """
    options = out.options.update(width=1_000_000)
    most, least = zip(*(_range(out, column) for column in table.columns), strict=True)
    widths = list(most)
    natural = Measurement.get(out, options, table).maximum
    excess = natural - out.width
    while excess > 0:
        wide = [number for number, width in enumerate(widths) if width > least[number]]
        if not wide:
            break
        widths[max(wide, key=lambda number: widths[number])] -= 1
        excess -= 1
    for column, width in zip(table.columns, widths, strict=True):
        column.width, column.overflow = width, "fold"
    table.width = natural - sum(most) + sum(widths)
    out.print(table, crop=False)


def _range(out: Console, column: Column) -> tuple[int, int]:
    """The widths that a column would like to have, and must have."""
    options = out.options.update(width=1_000_000)
    found = [Measurement.get(out, options, cell) for cell in (column.header, *column.cells)]
    most, least = max(item.maximum for item in found), max(item.minimum for item in found)
    return most, least if column.justify == "right" else min(least, _WORD)
