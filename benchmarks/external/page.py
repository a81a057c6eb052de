# ruff: noqa: E501  (a line of the page is a line here)
"""docs/external.md and its figures, from the committed results of `run.py`.

    python benchmarks/external/page.py

Measures nothing, and types nothing by hand. Needs `pip install 'cobench[report]'`.
"""

from __future__ import annotations

import json
import sys
from collections.abc import Iterable, Iterator, Sequence
from pathlib import Path
from typing import Any

import altair as alt
import vl_convert

HERE = Path(__file__).resolve().parent
sys.path[:0] = [str(HERE)]  # a module beside this one, which is no package

from natural_plan import LENIENT  # noqa: E402 - found only after the line above

ROOT = HERE.parent.parent
RESULTS, DOCS, README = HERE.parent / "results", ROOT / "docs", ROOT / "README.md"
BEGIN, END = "<!-- external: written by benchmarks/external/page.py -->\n", "<!-- /external -->\n"
HEURISTICS = ("MOSER", "HEU", "CPCCP", "FLTS", "RLS")

GRADES = ("proved", "agreed", "claimed")
FEASIBLE = ("feasible", "optimal")

Found = dict[str, Any]


def main() -> None:
    """Writes the page, its two figures, and the table in the README."""
    families = committed()
    DOCS.joinpath("external_gaps.svg").write_text(drawn(heuristic_gaps(families["mmkp"])), encoding="utf-8")
    DOCS.joinpath("external_costs.svg").write_text(drawn(annotated_costs(families["travelplanner"])), encoding="utf-8")
    DOCS.joinpath("external.md").write_text(page(families), encoding="utf-8")
    README.write_text(in_readme(README.read_text(encoding="utf-8"), families), encoding="utf-8")


def committed() -> Found:
    """The results of every family."""
    return {
        name: json.loads((RESULTS / f"external_{name}.json").read_text(encoding="utf-8"))
        for name in ("natural_plan", "mmkp", "tau_airline", "travelplanner")
    }


def page(families: Found) -> str:
    """docs/external.md."""
    sections = (
        head(families),
        of_natural_plan(families["natural_plan"]),
        of_mmkp(families["mmkp"]),
        of_tau(families["tau_airline"]),
        of_travelplanner(families["travelplanner"]),
        tail(families),
    )
    return "\n".join(line for section in sections for line in section) + "\n"


def in_readme(text: str, families: Found) -> str:
    """The README with the agreement between its two comments."""
    before, rest = text.split(BEGIN)
    _, after = rest.split(END)
    return before + BEGIN + "\n".join(agreement(families)) + END + after


def table(titles: Sequence[str], rows: Iterable[Sequence[Any]], numbers: Iterable[int] = ()) -> Iterator[str]:
    """The lines of a Markdown table; the columns in `numbers` are set flush right."""
    right = set(numbers)
    yield f"| {' | '.join(titles)} |"
    yield "|" + "".join("---:|" if at in right else "---|" for at in range(len(titles)))
    for row in rows:
        yield f"| {' | '.join(str(cell).replace('|', '/') for cell in row)} |"
    yield ""


def head(families: Found) -> Iterator[str]:
    """What this is, and the agreement in one table."""
    yield "# Other people's benchmarks"
    yield ""
    yield "Tasks, optima and submitted plans that were not made by us, in their original formats, converted by `cobench convert`,"
    yield "certified by every engine, recomputed by the checker, and compared with what was published. This page is written by"
    yield "`benchmarks/external/page.py` from the committed results; nothing in it is typed by hand."
    yield ""
    yield from agreement(families)
    yield "*Proved*: the checker recomputed the optimum from task and tables alone. *Agreed*: engines of two kinds gave it alike."
    summaries = (
        *families["natural_plan"]["kinds"].values(),
        *families["mmkp"]["sets"].values(),
        families["tau_airline"],
        families["travelplanner"],
    )
    refuted = [task for found in summaries for task in found["refuted"]]
    yield "Engines share the lowering of a task; the checker shares nothing with them but the reading of its text."
    yield f"The checker refuted {', '.join(refuted) or 'nothing'}; engines that contradict each other would have stopped the run."
    yield ""


def agreement(families: Found) -> Iterator[str]:
    """What was published and what is certified, a row for each kind of task."""
    knapsacks, tau, trips = (families[name] for name in ("mmkp", "tau_airline", "travelplanner"))
    rows: list[Sequence[Any]] = []
    for kind, claim in (
        ("trip", "the golden plan is the only feasible order"),
        ("meeting", "the golden plan meets as many friends as can be met"),
        ("calendar", "the golden time is feasible, and the earliest where that is asked"),
    ):
        found = families["natural_plan"]["kinds"][kind]
        agree = found["golden"].get("optimal", 0)
        if kind == "trip":
            agree = min(agree, found["counts"].get("1", 0))
        rows.append((f"Natural Plan, {kind}", found["tasks"], claim, f"{agree} of {found['tasks']}", grades(found)))
    closed = [item for item in knapsacks["instances"] if item["optimum"] is not None]
    agree = sum(item_value(item) == float(item["exact"]) for item in closed)
    total = {name: sum(item["grade"] == name for item in closed) for name in GRADES}
    claim = "the optimum is the published exact value"
    rows.append(
        ("Knapsacks (MMKP)", len(knapsacks["instances"]), claim, f"{agree} of {len(closed)} closed", said(total))
    )
    good = sum(f"${row['value']}" in row["published"] and row["rank"] == wanted(row) for row in tau["answers"])
    claim = "price and rank of the itinerary are as said"
    rows.append(("tau-bench, airline", tau["tasks"], claim, f"{good} of {tau['tasks']}", grades(tau)))
    good = sum(row["kind"] in FEASIBLE for row in annotated(trips).values())
    as_it_is = sum(row["kind"] in FEASIBLE and row["agent"] == "annotated" for row in trips["plans"])
    claim = "the annotated plan is feasible and within budget"
    alike = f"{as_it_is} of {trips['tasks']}, {good - as_it_is} more without sights of other cities"
    rows.append(("TravelPlanner", trips["tasks"], claim, alike, grades(trips)))
    yield from table(("benchmark", "tasks", "published", "certified alike", "optima"), rows, numbers=(1,))


def wanted(row: Found) -> int:
    """The rank that is said of an answer."""
    return 2 if row["published"].startswith("second") else 1


def said(counts: Found) -> str:
    """Counts in words, those of zero left out."""
    return ", ".join(f"{number} {name}" for name, number in counts.items() if number)


def grades(found: Found) -> str:
    """How the optima of a family are known."""
    return said({name: found["grades"].get(name, 0) for name in GRADES})


def item_value(item: Found) -> float:
    """The optimum of an instance in its unit."""
    return float(item["optimum"]) / float(item["scale"])


def of_natural_plan(found: Found) -> Iterator[str]:
    """Golden plans, published verdicts, and each disagreement."""
    yield "## Natural Plan"
    yield ""
    lost = ", ".join(f"`{item['task']}` ({item['status']}, {item['grade']})" for item in found["unpatched"])
    yield f"Two trips lack a direct flight that their own golden plan takes. As published they have no plan: {lost}."
    yield "The file `benchmarks/external/natural_plan_patch.yaml` puts the two flights back, one by one, with its reason; the figures"
    yield "here are with it."
    yield ""
    rows = [
        (
            kind,
            item["tasks"],
            item["counted"],
            " to ".join(f"{number:,}" for number in item["least_and_most_plans"]),
            f"{item['median_seconds']:.2f} s",
        )
        for kind, item in found["kinds"].items()
    ]
    yield from table(
        ("kind", "tasks", "counted exactly", "feasible plans", "median, engines and checker"),
        rows,
        numbers=(1, 2, 3, 4),
    )
    yield "Plans of a trip or a day of meetings are orders; those of a calendar are starts by the minute."
    yield ""
    yield "### The published verdicts"
    yield ""
    same, of = (sum(pair[at] for pair in found["verdicts"].values()) for at in (0, 1))
    by_kind = ", ".join(f"{kind} {pair[0]:,} of {pair[1]:,}" for kind, pair in found["verdicts"].items())
    clauses = ", ".join(f"`{name}`" for name in sorted(LENIENT))
    few = found["by_clauses"]
    yield f"Eight models' plans were published with a verdict each. With the clauses left out that the published checker does not look at ({clauses}),"
    yield f"{few:,} of {of:,} verdicts are reproduced ({few / of:.2%}); this much `cobench score --ignore` gives. The published checker also knows friends by"
    yield "name alone, passes over whoever is no friend, and takes as many meetings as the golden plan has for enough, whoever is met. Read so by"
    yield f"`benchmarks/external/natural_plan.py`, {same:,} are reproduced ({same / of:.2%}): {by_kind}. The others, by cause:"
    yield ""
    causes = list(dict.fromkeys(item["cause"] for item in found["not_reproduced"]))
    for cause in causes:
        listed = [item for item in found["not_reproduced"] if item["cause"] == cause]
        yield f"* {len(listed)}: {cause}."
        shown = [f"`{item['task']}` {item['agent']}" for item in listed]
        yield f"  {'; '.join(shown)}."
    yield ""
    odd = found["correct_as_published_only"]
    yield "### Correct as published, not by the prompt"
    yield ""
    yield f"{len(odd)} plans were published as correct and break what the prompt asks. *unknown offer*: a visit to somebody who is no"
    yield 'friend (some write waiting as a meeting with "Free Time"), or at a place where the friend is not; what else is broken then is not told.'
    yield ""
    rows = [(f"`{item['task']}`", item["agent"], ", ".join(item["broken"])) for item in odd]
    yield from table(("task", "plan of", "broken"), rows)


def of_mmkp(found: Found) -> Iterator[str]:
    """Knapsacks by set, values that cannot be, and the heuristics."""
    yield "## Multiple-choice knapsacks"
    yield ""
    yield "Choose one item of every group under several budgets, at the greatest value. CP-SAT and HiGHS answer each instance alone."
    yield ""
    rows = [
        (
            name,
            item["tasks"],
            item["closed"],
            item["agree"],
            engines(item),
            f"{item['median_certify_seconds']:.2f} s",
            f"{item['seconds']:,.0f} s",
        )
        for name, item in sorted(found["sets"].items())
    ]
    titles = (
        "set",
        "instances",
        "closed in 60 s",
        "as published",
        "optimal by",
        "median to certify",
        "all, with checker",
    )
    yield from table(titles, rows, numbers=(1, 2, 3, 5, 6))
    open_ = [item for item in found["instances"] if item["optimum"] is None]
    for item in open_:
        yield f"`{item['task']}` does not close within a minute; no optimum is claimed (best plan found: {item['best']}, published: {item['exact']})."
    above = [(item, name, text) for item in found["instances"] for name, text in item["above"].items()]
    yield ""
    if above:
        listed = "; ".join(
            f"`{item['task']}`: {name} is published with {text}, the optimum is {item_value(item):g} ({item['grade']}; published exact value: {item['exact']})"
            for item, name, text in above
        )
        yield f"A published heuristic value lies above the optimum in {len(above)} case{'s' if len(above) > 1 else ''}, which no plan can reach: {listed}. Everywhere else the heuristics' values are at most ours."
    else:
        yield "No published heuristic value is above the optimum."
    yield ""
    yield "![How far the published heuristics are from the optimum, by set](external_gaps.svg)"
    yield ""


def engines(item: Found) -> str:
    """How many instances each cross-checking engine solved."""
    return ", ".join(f"{name} {counts.get('optimal', 0)}" for name, counts in item["engines"].items() if name != "scan")


def of_tau(found: Found) -> Iterator[str]:
    """The three answers."""
    yield "## tau-bench, airline"
    yield ""
    rows = [
        (
            f"`{row['task']}`",
            row["published"],
            f"${row['value']}",
            f"${row['optimum']}",
            f"{row['rank']} of {row['plans']}",
            row["grade"],
        )
        for row in found["answers"]
    ]
    yield from table(
        ("request", "said of the itinerary", "its price here", "least price", "exact rank", "known"),
        rows,
        numbers=(2, 3, 4),
    )


def annotated(found: Found) -> dict[str, Found]:
    """For each task the annotated plan: as it is, or, where that names what is not in the city, without that."""
    plans: dict[str, Found] = {}
    for row in found["plans"]:
        if row["task"] not in plans or plans[row["task"]]["kind"] not in FEASIBLE:
            plans[row["task"]] = row
    return plans


def of_travelplanner(found: Found) -> Iterator[str]:
    """The least cost, and where the annotated plan stands."""
    yield "## TravelPlanner"
    yield ""
    yield "The 38 training queries with a plan that people annotated. Where a query leaves the cities open, the task is the cheapest trip"
    yield "through the annotated cities in their order. Three meals a day are asked for on days spent wholly in a city, and a sight; no"
    yield "restaurant or sight comes twice."
    yield ""
    counts = {record["task"]: record["count_grade"] for record in found["records"]}
    rows = [
        (number_of(task), *standing(row), counts[task])
        for task, row in sorted(annotated(found).items(), key=lambda item: int(number_of(item[0])))
    ]
    yield from table(
        ("query", "annotated", "least cost", "known", "gap", "better plans", "of", "count"),
        rows,
        numbers=(1, 2, 4, 5, 6),
    )
    yield "*Claimed* counts, and ranks by them, come from one engine, the dynamic program; the checker ended before it had them."
    yield ""
    odd = [row for row in found["plans"] if row["kind"] not in FEASIBLE]
    for row in odd:
        words = row["reason"] or "; ".join(row["violations"])
        yield f"Query {number_of(row['task'])}, {row['agent']}: {row['kind']}. {words}"
    yield ""
    yield "![What the annotated plans cost against the least cost](external_costs.svg)"
    yield ""


def number_of(task: str) -> str:
    """The number at the end of an id."""
    return str(int(task.rpartition("-")[2]))


def standing(row: Found) -> tuple[str, ...]:
    """Cost, optimum, gap and rank in words."""
    least, value = row["optimum"], int(row["value"]) if row["value"] is not None else None
    gap = f"{value / least - 1:.0%}" if least and value is not None else "–"
    cells = (
        f"${value:,}" if value is not None else "–",
        f"${least:,}" if least is not None else "not proven",
        row["grade"],
        gap,
    )
    if row["total"] is None:
        low, high = row["count"] or ("0", "?")
        return (*cells, "not counted", f"{short(low)} to {short(high)}")
    return (*cells, short(row["better"]), short(row["total"]))


def short(digits: str) -> str:
    """A count, rounded where it is long; the exact one is in the results."""
    return f"{int(digits):,}" if len(digits) < 10 or not digits.isdigit() else f"{float(digits):.1e}".replace("e+", "e")


def tail(families: Found) -> Iterator[str]:
    """How to do it again."""
    facts = families["mmkp"]["machine"]
    spent = "; ".join(f"{name.replace('_', ' ')} {item['wall_seconds']:,.0f} s" for name, item in families.items())
    yield "## Again"
    yield ""
    yield "    pip install -e '.[dev,report]'"
    yield "    python benchmarks/external/run.py SOURCE --out DIR"
    yield "    python benchmarks/external/page.py"
    yield ""
    yield "SOURCE holds `natural_plan` (Google DeepMind, CC-BY 4.0, as a public down-sample with constraints, MIT), `mmkp` (OR-Library and the"
    yield "Hiremath–Hill sets, public academic instances), `tau_airline` (Sierra, MIT) and `travelplanner` (OSU NLP, MIT). No row of theirs is in"
    yield f"this repository. The run took {spent}, on {facts['processors']} cores of an {facts['processor']}, OR-Tools {facts['ortools']}, HiGHS {facts['highspy']}. Tests"
    yield "certify a fixed sample of every family where these sources are at hand."


def drawn(chart: Any) -> str:
    """A chart as SVG on white, so that it can be read on any page."""
    return str(vl_convert.vegalite_to_svg(chart.configure(background="white").to_dict())) + "\n"


def heuristic_gaps(found: Found) -> Any:
    """Per set and heuristic the median gap to the optimum."""
    rows = [
        {"set": name, "method": method, "gap": gap}
        for name, item in sorted(found["sets"].items())
        for method, gap in item["median_gaps"].items()
        if method in HEURISTICS and name.startswith("set")
    ]
    x = alt.X("set:N", title="set of 20 instances")
    y = alt.Y("gap:Q", title="median gap to the optimum", axis=alt.Axis(format="%"))
    colour = alt.Color("method:N", title="published heuristic", sort=list(HEURISTICS))
    return (
        alt.Chart(alt.Data(values=rows))
        .mark_line(point=True)
        .encode(x=x, y=y, color=colour)
        .properties(width=460, height=240)
    )


def annotated_costs(found: Found) -> Any:
    """The cost of each annotated plan against the least cost, both in dollars."""
    plans = [
        (task, row) for task, row in annotated(found).items() if row["optimum"] is not None and row["value"] is not None
    ]
    rows = [{"query": number_of(task), "least": row["optimum"], "annotated": int(row["value"])} for task, row in plans]
    top = max(int(row["value"]) for _, row in plans)
    scale = alt.Scale(type="log", domain=[400, top * 1.1])
    x = alt.X("least:Q", title="least cost, dollars", scale=scale, axis=alt.Axis(format="~s"))
    y = alt.Y("annotated:Q", title="annotated plan, dollars", scale=scale, axis=alt.Axis(format="~s"))
    points = alt.Chart(alt.Data(values=rows)).mark_point(filled=True, size=60).encode(x=x, y=y)
    line = alt.Chart(alt.Data(values=[{"at": 400}, {"at": top}])).mark_line(color="#bab0ac", strokeDash=[4, 3])
    return (line.encode(x=alt.X("at:Q", scale=scale), y=alt.Y("at:Q", scale=scale)) + points).properties(
        width=360, height=320
    )


if __name__ == "__main__":
    main()
