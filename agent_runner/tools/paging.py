"""Long results, a page at a time."""

from __future__ import annotations

from collections.abc import Callable, Sequence
from typing import Any, TypeVar

from .fault import nothing_such

Item = TypeVar("Item")
MOST_PARTS = 120  # of the items of a page together, which keeps every result below 30,000 characters


def page_of(
    items: Sequence[Item], page: int, size: int, parts: Callable[[Item], int] = lambda _: 1
) -> tuple[Sequence[Item], dict[str, Any]]:
    """The items of a page, numbered from 1, and which page of how many it is; raises WrongCall for one beyond the last.

    Pages are disjoint and complete, and their order is that of `items`. A page holds `size` items; fewer when these
    would have more than 120 parts, but never less than one. No items make one empty page.
    """
    starts, held, weight = [0], 0, 0
    for number, item in enumerate(items):
        if held and (held == size or weight + parts(item) > MOST_PARTS):
            starts.append(number)
            held, weight = 0, 0
        held, weight = held + 1, weight + parts(item)
    if page > len(starts):
        raise nothing_such(f"there is no page {page}", f"the last page is {len(starts)}")
    end = starts[page] if page < len(starts) else len(items)
    return items[starts[page - 1] : end], {"page": page, "pages": len(starts), "total": len(items)}
