"""Figures as Vega-Lite specifications. Positions on paper are floats; the exact numbers stand in the tables beside."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from textwrap import wrap
from typing import Any

BINS = 60
WIDTH = 680
LETTERS = 95  # of an axis title in a line
NEAR = 50  # marks nearer than this part of the axis share one label
BESIDE = {"expr": "width < 480 ? 1 : 3"}  # entries of a legend beside each other; on narrow screens none is cut
INK, MARK = "#4c78a8", "#e45756"

Rows = list[dict[str, Any]]


def distribution_chart(
    pairs: Sequence[tuple[int, int]], scale: int, label: str, marks: Mapping[str, int], counted: str = "plans"
) -> dict[str, Any]:
    """How many plans there are by value; `pairs` (value, plans), in whole bins where values are many, else a bar around
    each value.

    `marks` names values that a line is drawn at, `counted` what the bars count.
    """
    import altair as alt

    low, high = min(value for value, _ in pairs), max(value for value, _ in pairs)
    width = max(1, -(-(high - low + 1) // BINS))
    around = 0 if width > 1 else 0.4
    plans: dict[int, int] = {}
    for value, number in pairs:
        place = (value - low) // width
        plans[place] = plans.get(place, 0) + number
    rows: Rows = [
        {
            "value": (low + place * width) / scale,
            "from": (low + place * width - around) / scale,
            "to": (low + place * width + (width if width > 1 else around)) / scale,
            "plans": number,
            "shown": f"{number:,}",
        }
        for place, number in sorted(plans.items())
    ]
    bars = alt.Chart(alt.Data(values=rows)).mark_bar(color=INK).encode(
        x=alt.X(
            "from:Q", title=wrap(label, LETTERS), scale=alt.Scale(zero=False), axis=alt.Axis(tickMinStep=1 / scale)
        ),
        x2="to:Q",
        y=alt.Y("plans:Q", title=counted),
        y2=alt.datum(0),  # else a bar between two places lies flat
        tooltip=[*(["from:Q", "to:Q"] if width > 1 else ["value:Q"]), alt.Tooltip("shown:N", title=counted)],
    )  # fmt: skip
    lines: Rows = [{"value": value / scale, "name": name} for name, value in marks.items()]
    rules = alt.Chart(alt.Data(values=lines)).mark_rule(color=MARK, strokeDash=[4, 3]).encode(
        x="value:Q", tooltip=["name:N", "value:Q"]
    )  # fmt: skip
    labels: Rows = [{"value": value / scale, "name": name} for name, value in _labels(marks, high - low)]
    names = (
        alt.Chart(alt.Data(values=labels))
        .encode(x="value:Q")
        .mark_text(angle=270, align="right", dx=-4, dy=-7, color=MARK, fontSize=10)
        .encode(y=alt.value(0), text="name:N")
    )
    return finished(alt.layer(bars, rules, names), height=240)


def _labels(marks: Mapping[str, int], span: int) -> list[tuple[str, int]]:
    """The names of marks, one label where they lie so near that labels would cover each other."""
    found: list[tuple[str, int]] = []
    for name, value in sorted(marks.items(), key=lambda item: item[1]):
        if found and NEAR * (value - found[-1][1]) <= span:
            found[-1] = f"{found[-1][0]}, {name}", found[-1][1]
        else:
            found.append((name, value))
    return found


def steps_chart(
    points: Sequence[tuple[float, float]], now: float, across: str, up: str, loosens: str
) -> dict[str, Any]:
    """The optimum against a threshold: it holds from each point on, in the direction in which the threshold loosens.

    `loosens` is `right` when a larger threshold allows more, else `left`.
    """
    import altair as alt

    ordered = sorted(points)
    rows: Rows = [{"threshold": place, "optimum": value} for place, value in ordered]
    if now > ordered[-1][0] and loosens == "right":
        rows.append({"threshold": now, "optimum": ordered[-1][1]})
    if now < ordered[0][0] and loosens == "left":
        rows.insert(0, {"threshold": now, "optimum": ordered[0][1]})
    line = alt.Chart(alt.Data(values=rows)).mark_line(
        interpolate="step-after" if loosens == "right" else "step-before", color=INK, point=len(rows) <= BINS
    ).encode(
        x=alt.X("threshold:Q", title=wrap(across, LETTERS), scale=alt.Scale(zero=False)),
        y=alt.Y("optimum:Q", title=up, scale=alt.Scale(zero=False)),
        tooltip=["threshold:Q", "optimum:Q"],
    )  # fmt: skip
    rule = alt.Chart(alt.Data(values=[{"now": now}])).mark_rule(color=MARK, strokeDash=[4, 3]).encode(x="now:Q")
    return finished(alt.layer(line, rule), height=240)


def bars_chart(bars: Sequence[tuple[str, float, str]], title: str) -> dict[str, Any]:
    """A bar for each name, in the order given: (name, length, what is written beside it)."""
    import altair as alt

    rows: Rows = [{"name": name, "length": length, "said": said} for name, length, said in bars]
    base = alt.Chart(alt.Data(values=rows)).encode(y=alt.Y("name:N", sort=None, title=None))
    drawn = base.mark_bar(color=INK).encode(
        x=alt.X("length:Q", title=wrap(title, LETTERS)), tooltip=["name:N", "said:N"]
    )
    said = base.mark_text(align="left", dx=4, fontSize=11).encode(x="length:Q", text="said:N")
    return finished(alt.layer(drawn, said), height=max(40, 22 * len(rows)))


def funnel_chart(choices: Mapping[str, Sequence[tuple[str, int]]]) -> dict[str, Any]:
    """The rows of each choice that are left after each filter, on a logarithmic scale, one panel a choice."""
    import altair as alt

    return finished(alt.hconcat(*(_funnel(left, choice) for choice, left in choices.items())), height=None)


def _funnel(left: Sequence[tuple[str, int]], title: str) -> Any:
    """One panel of the funnel."""
    import altair as alt

    rows: Rows = [{"name": name, "drawn": max(number, 0.8), "said": f"{number:,}"} for name, number in left]
    base = alt.Chart(alt.Data(values=rows)).encode(y=alt.Y("name:N", sort=None, title=None))
    drawn = base.mark_bar(color=INK).encode(
        x=alt.X("drawn:Q", title="rows left", scale=alt.Scale(type="log", domainMin=0.8, nice=False)), x2=alt.datum(0.8)
    )
    said = base.mark_text(align="left", dx=4, fontSize=11).encode(x="drawn:Q", text="said:N")
    return alt.layer(drawn, said).properties(title=title, width=220, height=max(40, 20 * len(rows)))


def sets_chart(names: Sequence[str], sets: Sequence[Sequence[str]], what: str) -> dict[str, Any]:
    """A row for each set, a column for each name, a square where the set has the name."""
    import altair as alt

    rows: Rows = [{"set": f"{number}", "name": name} for number, members in enumerate(sets, 1) for name in members]
    numbers = [f"{number}" for number in range(1, len(sets) + 1)]
    chart = alt.Chart(alt.Data(values=rows)).mark_square(size=140, color=MARK, opacity=1).encode(
        x=alt.X("name:N", scale=alt.Scale(domain=list(names)), title=None, axis=alt.Axis(labelAngle=-40, grid=True)),
        y=alt.Y("set:N", scale=alt.Scale(domain=numbers), title=what, axis=alt.Axis(grid=True)),
        tooltip=["set:N", "name:N"],
    )  # fmt: skip
    return finished(chart, height=max(40, 20 * len(sets)), width=min(WIDTH, 60 * len(names)))


def finished(chart: Any, height: int | None, width: int | str = "container") -> dict[str, Any]:
    """The specification, as wide as the page unless said otherwise; without a height the chart has sizes of its own."""
    if height is not None:
        chart = chart.properties(width=width, height=height)
    spec: dict[str, Any] = chart.configure_view(stroke=None).to_dict(validate=True)
    return spec
