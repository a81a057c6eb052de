"""Figures about conversations: rates along an axis, distributions, and what effort buys."""

from __future__ import annotations

from collections.abc import Sequence
from typing import Any

from .charts import BESIDE, INK, MARK, Rows, finished

# For agents, of which each keeps its colour in all figures; further ones share them.
COLOURS = (
    "#4c78a8", "#f58518", "#54a24b", "#e45756", "#72b7b2", "#b279a2", "#9d755d", "#eeca3b", "#ff9da6", "#79706e",
)  # fmt: skip
_ROOM = 160  # pixels that a name may take


def _by_agent(agents: Sequence[str]) -> Any:
    """The channel of colours."""
    import altair as alt

    colours = [COLOURS[place % len(COLOURS)] for place in range(len(agents))]
    return alt.Color(
        "agent:N", sort=list(agents), title=None, scale=alt.Scale(domain=list(agents), range=colours),
        legend=alt.Legend(orient="top", columns=BESIDE, labelLimit=_ROOM, symbolType="circle", symbolOpacity=1),
    )  # fmt: skip


def lines_chart(
    points: Sequence[tuple[str, str, float, float, float, str]], agents: Sequence[str], order: Sequence[str],
    across: str, up: str, *, share: bool = True, joined: bool = True, ends: bool = True,
) -> dict[str, Any]:  # fmt: skip
    """A line for each agent over places in the order given: (agent, place, value, low, high, what the tooltip says).

    `share`: the values are shares of a whole, and the axis shows all of it. `joined`: places have an order, so that
    lines mean something. `ends`: with intervals, side by side.
    """
    import altair as alt

    values: Rows = [
        {"agent": agent, "place": place, "value": value, "low": low, "high": high, "said": said}
        for agent, place, value, low, high, said in points
    ]
    axis = alt.Axis(labelAngle=0, labelOverlap=True, domain=True)
    base = alt.Chart(alt.Data(values=values)).encode(
        x=alt.X("place:N", sort=list(order), title=across, axis=axis),
        color=_by_agent(agents),
        tooltip=["agent:N", alt.Tooltip("place:N", title=across), "said:N"],
    )
    if ends:
        base = base.encode(xOffset=alt.XOffset("agent:N", sort=list(agents)))
    scale = alt.Scale(domain=[0, 1]) if share else alt.Scale(zero=True)
    height = alt.Y("value:Q", title=up, scale=scale, axis=alt.Axis(format="%"))
    layers = [base.mark_point(filled=True, size=45, opacity=1).encode(y=height)]
    if joined:
        layers.insert(0, base.mark_line(strokeWidth=1.2, opacity=0.8).encode(y=height))
    if ends:
        layers.insert(0, base.mark_rule(opacity=0.35, strokeWidth=2.5).encode(y=alt.Y("low:Q"), y2="high:Q"))
    return finished(alt.layer(*layers), height=230)


def boxes_chart(
    rows: Sequence[tuple[str, int, int, int, int, int, str]], agents: Sequence[str], across: str
) -> dict[str, Any]:
    """A box for each agent: (agent, least, quarter, median, three quarters, most, what the tooltip says)."""
    import altair as alt

    names = ("agent", "least", "low", "median", "high", "most", "said")
    values: Rows = [dict(zip(names, row, strict=True)) for row in rows]
    base = alt.Chart(alt.Data(values=values)).encode(
        y=alt.Y("agent:N", sort=list(agents), title=None, axis=alt.Axis(labelLimit=_ROOM)),
        tooltip=["agent:N", "said:N"],
    )
    whole = base.mark_rule(color=INK).encode(
        x=alt.X("least:Q", title=across, axis=alt.Axis(tickMinStep=1)), x2="most:Q"
    )
    middle = base.mark_bar(size=12, color=INK, opacity=0.55).encode(x="low:Q", x2="high:Q")
    tick = base.mark_tick(size=16, thickness=3, color=MARK).encode(x="median:Q")
    return finished(alt.layer(whole, middle, tick), height=max(60, 26 * len(rows)))


def scatter_chart(
    points: Sequence[tuple[str, float, float, str]], agents: Sequence[str], across: str, up: str
) -> dict[str, Any]:
    """A point with its name for each agent: (agent, place, share, what the tooltip says)."""
    import altair as alt

    values: Rows = [
        {"agent": agent, "place": place, "share": share, "said": said} for agent, place, share, said in points
    ]
    base = alt.Chart(alt.Data(values=values)).encode(
        x=alt.X("place:Q", title=across, scale=alt.Scale(zero=True)),
        y=alt.Y("share:Q", title=up, scale=alt.Scale(domain=[0, 1]), axis=alt.Axis(format="%")),
        tooltip=["agent:N", "said:N"],
    )
    marks = base.mark_point(filled=True, size=90, opacity=1).encode(color=_by_agent(agents))
    return finished(marks, height=260)


def trace_chart(points: Sequence[tuple[str, str, int, float, str]], agents: Sequence[str]) -> dict[str, Any]:
    """Per turn how far from the optimum the best plan shown and the plan recommended are.

    Points: (agent, `shown` or `recommended`, turn, relative gap, what the tooltip says).
    """
    import altair as alt

    values: Rows = [
        {"agent": agent, "what": what, "turn": turn, "gap": gap, "said": said}
        for agent, what, turn, gap, said in points
    ]
    chart = (
        alt.Chart(alt.Data(values=values))
        .mark_line(point=True)
        .encode(
            x=alt.X("turn:O", title="turn", axis=alt.Axis(labelAngle=0)),
            y=alt.Y(
                "gap:Q", title="gap to the optimum", axis=alt.Axis(format="%"),
                scale=alt.Scale(domain=[0, max((0.01, *(gap for _, _, _, gap, _ in points)))]),
            ),
            color=_by_agent(agents),
            strokeDash=alt.StrokeDash(
                "what:N", sort=["recommended", "shown"], title=None,
                legend=alt.Legend(orient="bottom", symbolType="stroke", symbolSize=300),
                scale=alt.Scale(domain=["recommended", "shown"], range=[[1, 0], [4, 3]]),
            ),
            tooltip=["agent:N", "what:N", "turn:O", "said:N"],
        )
    )  # fmt: skip
    return finished(chart, height=220)
