"""Long results, a page at a time."""

from __future__ import annotations

from collections.abc import Sequence
from typing import Any, TypeVar

from .fault import nothing_such

Item = TypeVar("Item")


def page_of(items: Sequence[Item], page: int, size: int) -> tuple[Sequence[Item], dict[str, Any]]:
    """The items of a page, numbered from 1, and which page of how many it is; raises WrongCall for one beyond the last.

    Pages are disjoint and complete, and their order is that of `items`. No items make one empty page.
    """
    pages = max(1, -(-len(items) // size))
    if page > pages:
        raise nothing_such(f"there is no page {page}", f"the last page is {pages}")
    return items[(page - 1) * size : page * size], {"page": page, "pages": pages, "total": len(items)}
