"""The README's speed table and figure, from the committed results.

    python benchmarks/readme.py

Rewrites what stands between the two `speed` comments of README.md, and docs/feasible_set.svg. Changes nothing else and
measures nothing. Needs `pip install 'cobench[report]'`.
"""

from __future__ import annotations

import json
from pathlib import Path
from typing import Any

import altair as alt
import vl_convert

ROOT = Path(__file__).resolve().parent.parent
RESULTS = ROOT / "benchmarks" / "results"
FIGURE = ROOT / "docs" / "feasible_set.svg"
BEGIN, END = "<!-- speed: written by benchmarks/readme.py -->\n", "<!-- /speed -->\n"
NAMES = {
    "papers": "the papers' method",
    "duckdb": "DuckDB",
    "polars": "polars, streaming",
    "cobench": "cobench",
    "floor": "reading the columns once",
}
COLOURS = ["#9d755d", "#f58518", "#72b7b2", "#4c78a8", "#bab0ac"]


def main() -> None:
    """Writes both."""
    found = json.loads((RESULTS / "feasible_set.json").read_text(encoding="utf-8"))
    FIGURE.write_text(figure(found), encoding="utf-8")
    readme = ROOT / "README.md"
    text = readme.read_text(encoding="utf-8")
    before, rest = text.split(BEGIN)
    _, after = rest.split(END)
    readme.write_text(before + BEGIN + table(found) + END + after, encoding="utf-8")


def figure(found: dict[str, Any]) -> str:
    """Seconds against offers, both logarithmic, as SVG."""
    rows = [
        {
            "offers": result["offers"],
            "seconds": result["seconds"],
            "method": NAMES[result["method"]],
            "kind": "extrapolated" if "extrapolated" in result else "measured",
        }
        for result in found["results"]
    ]
    rows += [
        {
            "offers": result["offers"],
            "seconds": result["seconds"] / result["times_floor"],
            "method": NAMES["floor"],
            "kind": "measured",
        }
        for result in found["results"]
        if result["method"] == "cobench"
    ]
    x = alt.X(
        "offers:Q", scale=alt.Scale(type="log"), title="offers in each of the two tables", axis=alt.Axis(format="~s")
    )
    y = alt.Y("seconds:Q", scale=alt.Scale(type="log"), title="seconds", axis=alt.Axis(format="~g"))
    colour = alt.Color(
        "method:N", title=None, sort=list(NAMES.values()), scale=alt.Scale(domain=list(NAMES.values()), range=COLOURS)
    )
    base = alt.Chart(alt.Data(values=rows)).encode(x=x, y=y, color=colour)
    shape = alt.Shape(
        "kind:N", title=None, scale=alt.Scale(domain=["measured", "extrapolated"], range=["circle", "cross"])
    )
    chart = (base.mark_line() + base.mark_point(size=70, filled=True).encode(shape=shape)).properties(
        width=460, height=280
    )
    return str(vl_convert.vegalite_to_svg(chart.configure(background="white").to_dict())) + "\n"


def table(found: dict[str, Any]) -> str:
    """A row for each size, with ratios to cobench, and what was measured on which machine."""
    by_size: dict[int, dict[str, dict[str, Any]]] = {}
    for result in found["results"]:
        by_size.setdefault(result["offers"], {})[result["method"]] = result
    lines = [
        "| offers a side | feasible plans | cobench | peak memory | the papers' method | DuckDB | polars, streaming |",
        "|---:|---:|---:|---:|---:|---:|---:|",
    ]
    for offers, methods in by_size.items():
        ours = methods["cobench"]
        cells = [f"{offers:,}", f"{ours['answers']['plans']:,}", duration(ours["seconds"]), f"{ours['peak_mb']:.0f} MB"]
        for name in ("papers", "duckdb", "polars"):
            other = methods.get(name)
            mark = "\\*" if other and "extrapolated" in other else ""
            cells.append(f"{rounded(other['times_cobench'])} ×{mark}" if other else "–")
        lines.append(f"| {' | '.join(cells)} |")
    facts = found["machine"]
    share = by_size[max(by_size)]["cobench"]["times_floor"]
    said = (
        f"Ratios of medians from one run on {facts['processors']} cores of an {facts['processor']}, Python "
        f"{facts['python']}; cobench uses one core. Only reading the columns, at the measured "
        f"{facts['read_gb_per_s']} GB/s, would take a {share:.0f}th of cobench's time at the largest size. "
        "\\* extrapolated from a share of the pairs."
    )
    lines += ["", said]
    return "\n".join(lines) + "\n"


def duration(seconds: float) -> str:
    """A time with three digits or so."""
    return f"{seconds * 1000:.1f} ms" if seconds < 0.1 else f"{seconds:.2f} s"


def rounded(ratio: float) -> str:
    """A ratio to two digits: more are noise."""
    digits = max(0, len(str(int(ratio))) - 2)
    return f"{round(ratio, -digits):,.0f}" if ratio >= 10 else f"{ratio:.1f}"


if __name__ == "__main__":
    main()
