"""A step function as lines of text, for terminals."""

from __future__ import annotations

from collections.abc import Callable, Sequence
from fractions import Fraction

MARK = "┊"


def step_chart(
    points: Sequence[tuple[int, int]], mark: int | None, label: Callable[[int], str], width: int, height: int = 9
) -> list[str]:
    """At most `height` lines of at most `width` characters: the value of a step function over its whole range.

    `points`: where each step begins, ascending, and the value from there on. `label` writes the values at the edge.
    `mark` is a place on the axis to be marked. The last step goes on forever; it is drawn as an eighth of the range.
    Empty when there is no room, or less than two steps to tell apart.
    """
    values = [value for _, value in points]
    if len(points) < 2:
        return []
    low, high = min(values), max(values)
    margin = max(len(label(low)), len(label(high))) + 2
    columns = width - margin
    if columns < 8 or height < 2:
        return []
    first, last = points[0][0], points[-1][0]
    if mark is not None:
        first, last = min(first, mark), max(last, mark)
    last += max((last - first) // 8, 1)
    levels = [_level(points, first + Fraction((last - first) * column, columns - 1)) for column in range(columns)]
    rows = [None if value is None else _row(value, low, high, height) for value in levels]
    grid = [[" "] * columns for _ in range(height)]
    if mark is not None:
        at = round(Fraction((mark - first) * (columns - 1), last - first))
        for line in grid:
            line[at] = MARK
    for column, row in enumerate(rows):
        before = rows[column - 1] if column else None
        if row is None:
            continue
        if before is None or before == row:
            grid[row][column] = "─"
            continue
        top, bottom = min(before, row), max(before, row)
        for between in range(top + 1, bottom):
            grid[between][column] = "│"
        grid[before][column] = "╮" if before < row else "╯"
        grid[row][column] = "╰" if before < row else "╭"
    edge = {0: label(high), height - 1: label(low)}
    return [f"{edge.get(number, ''):>{margin - 2}} ┤" + "".join(line).rstrip() for number, line in enumerate(grid)]


def _level(points: Sequence[tuple[int, int]], place: Fraction) -> int | None:
    return next((value for start, value in reversed(points) if start <= place), None)


def _row(value: int, low: int, high: int, height: int) -> int:
    return round(Fraction((high - value) * (height - 1), high - low))
