"""What may reach a terminal: texts of tasks, tables and paths say what they hold, and command nothing."""

from __future__ import annotations

import re
from collections.abc import Iterable
from typing import TYPE_CHECKING

from rich.console import Console
from rich.segment import Segment

from .common import visible

if TYPE_CHECKING:
    from rich.console import ConsoleOptions, RenderableType

_SURE = re.compile(r"[ -~]*")


class Terminal(Console):
    """A console on which brackets are brackets, `:smile:` is no picture, and control characters are shown escaped."""

    def __init__(self, *, stderr: bool, soft_wrap: bool, width: int | None = None) -> None:
        super().__init__(stderr=stderr, soft_wrap=soft_wrap, width=width, highlight=False, markup=False, emoji=False)

    def render(self, renderable: RenderableType, options: ConsoleOptions | None = None) -> Iterable[Segment]:
        """The segments of what is shown; those that move the cursor are rich's own."""
        for segment in super().render(renderable, options):
            if segment.control or _SURE.fullmatch(segment.text):
                yield segment
            else:
                yield Segment(visible(segment.text), segment.style)

    def on_broken_pipe(self) -> None:
        """Leaves it to the command to end as it does wherever else its reader goes away."""
        raise  # noqa: PLE0704 - called while the BrokenPipeError is handled
