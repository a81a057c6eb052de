"""One offline HTML page from sections of text, figures and tables."""

from __future__ import annotations

import json
from collections.abc import Sequence
from dataclasses import dataclass
from functools import cache
from importlib.util import find_spec
from pathlib import Path
from typing import Any, Literal

from ..schemas.errors import OutputError
from ..schemas.version import VERSION

NEEDED = ("altair", "jinja2", "vl_convert")


@dataclass(frozen=True, slots=True)
class Figure:
    """A Vega-Lite specification, and what it shows in words."""

    spec: dict[str, Any]
    alt: str


@dataclass(frozen=True, slots=True)
class Grid:
    """A table as text; `right`: the columns with numbers."""

    head: tuple[str, ...]
    rows: tuple[tuple[str, ...], ...]
    right: frozenset[int] = frozenset()


@dataclass(frozen=True, slots=True)
class Entry:
    """A message or a note of a transcript: who speaks, the text as it is, and `kind`, which the style goes by."""

    who: str
    text: str
    kind: Literal["user", "agent", "note"] = "note"


@dataclass(frozen=True, slots=True)
class Transcript:
    """What was said, in order; folded away under its title."""

    title: str
    entries: tuple[Entry, ...]


@dataclass(frozen=True, slots=True)
class Section:
    """A heading (2: of the page, 3: below another), a sentence or two, figures and a table; beside a figure the table
    is folded away. Then transcripts, side by side where there is room. `boxed`: to be seen at once, as a warning is;
    `folded`: its table is folded away, though there is no figure.
    """

    heading: str
    text: str = ""
    figure: Figure | None = None
    grid: Grid | None = None
    level: int = 2
    more: tuple[Figure, ...] = ()
    transcripts: tuple[Transcript, ...] = ()
    boxed: bool = False
    folded: bool = False

    @property
    def figures(self) -> tuple[Figure, ...]:
        """All figures."""
        return (*((self.figure,) if self.figure is not None else ()), *self.more)


def require() -> None:
    """Raises OutputError when what draws pages is not installed."""
    missing = [name for name in NEEDED if find_spec(name) is None]
    if missing:
        raise OutputError(
            f"error: a page needs {', '.join(missing)}, not installed\nhint: pip install 'cobench[report]'"
        )


def page(title: str, lead: str, sections: Sequence[Section], *, contents: bool = False) -> str:
    """The page: scripts, style and data inside, so that it can be opened, printed and sent without a network.

    The scripts are only there when there is a figure. `contents`: with a list of the sections. The same sections give
    the same bytes.
    """
    import jinja2  # these two are an extra, and heavy

    figures = [figure for section in sections for figure in section.figures]
    script = _script() if figures else ""
    template = jinja2.Environment(autoescape=True, undefined=jinja2.StrictUndefined, trim_blocks=True).from_string(
        Path(__file__).with_name("page.html").read_text(encoding="utf-8")
    )
    # `<` is escaped inside the data, so that no text in it can end the script element.
    specs = json.dumps([figure.spec for figure in figures], ensure_ascii=False, sort_keys=True).replace("<", "\\u003c")
    return template.render(
        title=title, lead=lead, sections=sections, contents=contents, script=script, specs=specs, version=VERSION
    )


@cache
def _script() -> str:
    """What draws figures, as the content of a script element; making it takes seconds."""
    import vl_convert

    bundle = vl_convert.javascript_bundle()  # pyright: ignore[reportCallIssue] - the snippet is optional
    return bundle.replace("</script", "<\\/script")
