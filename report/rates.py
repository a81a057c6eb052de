"""Figures that compare agents: rates with intervals, stacked shares, and counts in a matrix."""

from __future__ import annotations

from collections.abc import Sequence
from typing import Any

from .charts import BESIDE, INK, Rows, finished

_OPTIMAL = "#f58518"
# From the best place to the worst: greens, then grey for what has no rank, and the colour of marks for what fails.
_SHADES = ("#00682e", "#2c9c55", "#74c17f", "#b5dfb2", "#e3e7c4", "#b8bec5", "#e45756")
_ROOM = 160  # pixels that a name may take
_KINDS = (INK, _OPTIMAL, "#54a24b", "#b279a2", "#9d755d")


def intervals_chart(rows: Sequence[tuple[str, str, float, float, float, str]], title: str) -> dict[str, Any]:
    """For each name a point and an interval of each kind: (name, kind, share, low, high, what the tooltip says)."""
    import altair as alt

    values: Rows = [
        {"name": name, "kind": kind, "share": share, "low": low, "high": high, "said": said}
        for name, kind, share, low, high, said in rows
    ]
    kinds = list(dict.fromkeys(kind for _, kind, *_ in rows))
    base = alt.Chart(alt.Data(values=values)).encode(
        y=alt.Y("name:N", sort=None, title=None, axis=alt.Axis(labelLimit=_ROOM)),
        yOffset=alt.YOffset("kind:N", sort=kinds),
        color=alt.Color(
            "kind:N", sort=kinds, title=None, scale=alt.Scale(domain=kinds, range=list(_KINDS[: len(kinds)])),
            legend=alt.Legend(orient="top", columns=BESIDE),
        ),
        tooltip=["name:N", "kind:N", "said:N"],
    )  # fmt: skip
    axis = alt.X("low:Q", title=title, scale=alt.Scale(domain=[0, 1]), axis=alt.Axis(format="%"))
    lines = base.mark_rule(strokeWidth=2).encode(x=axis, x2="high:Q")
    points = base.mark_point(filled=True, size=60, opacity=1).encode(x="share:Q")
    return finished(alt.layer(lines, points), height=_height(rows))


def shares_chart(
    rows: Sequence[tuple[str, str, float, str]], order: Sequence[str], title: str,
    shades: Sequence[str] = _SHADES, *, whole: bool = True,
) -> dict[str, Any]:  # fmt: skip
    """A bar for each name, of parts in the order given: (name, part, share, what the tooltip says).

    `whole`: the parts of each name add up to 1.
    """
    import altair as alt

    values: Rows = [
        {"name": name, "part": part, "share": share, "said": said, "place": order.index(part)}
        for name, part, share, said in rows
    ]
    chart = (
        alt.Chart(alt.Data(values=values))
        .mark_bar(stroke="#fff", strokeWidth=0.5)
        .encode(
            y=alt.Y("name:N", sort=None, title=None, axis=alt.Axis(labelLimit=_ROOM)),
            x=alt.X(
                "share:Q", stack="zero", title=title, scale=alt.Scale(domain=[0, 1]) if whole else alt.Scale(),
                axis=alt.Axis(format="%"),
            ),
            color=alt.Color(
                "part:N", title=None, scale=alt.Scale(domain=list(order), range=list(shades[: len(order)])),
                legend=alt.Legend(orient="top", columns=BESIDE, labelLimit=_ROOM),
            ),
            order=alt.Order("place:Q"),
            tooltip=["name:N", "part:N", "said:N"],
        )
    )  # fmt: skip
    return finished(chart, height=_height(rows))


def matrix_chart(rows: Sequence[tuple[str, str, float, str]], columns: Sequence[str], title: str) -> dict[str, Any]:
    """A cell for each name and column, darker for a greater share, with a text: (name, column, share, text)."""
    import altair as alt

    values: Rows = [
        {"name": name, "column": column, "share": share, "said": said} for name, column, share, said in rows
    ]
    base = alt.Chart(alt.Data(values=values)).encode(
        y=alt.Y("name:N", sort=None, title=None, axis=alt.Axis(labelLimit=_ROOM)),
        x=alt.X("column:N", sort=list(columns), title=title, axis=alt.Axis(labelAngle=0)),
    )
    cells = base.mark_rect(stroke="#fff").encode(
        color=alt.Color("share:Q", legend=None, scale=alt.Scale(scheme="blues", domain=[0, 1])),
        tooltip=["name:N", "column:N", "said:N"],
    )
    texts = base.mark_text(fontSize=11).encode(
        text="said:N", color=alt.condition("datum.share > 0.5", alt.value("#fff"), alt.value("#222"))
    )
    return finished(alt.layer(cells, texts), height=_height(rows))


def _height(rows: Sequence[tuple[str, *tuple[Any, ...]]]) -> int:
    return max(60, 34 * len({name for name, *_ in rows}))
