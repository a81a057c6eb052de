"""The page about conversations: how often agents find a good plan, where they lose it, and what each of them did."""

from __future__ import annotations

from collections.abc import Iterator, Mapping, Sequence
from fractions import Fraction
from typing import TYPE_CHECKING, Any

from ..agent_runner.analysis import Rate
from ..agent_runner.measures.breakdowns import MOST_TURNS
from ..agent_runner.measures.collected import collected
from ..agent_runner.measures.effort import HIGH
from ..agent_runner.measures.intervals import Mean
from ..agent_runner.measures.regret import FATES
from ..agent_runner.measures.tables import tables
from ..report.charts import bars_chart
from ..report.page import Figure, Section, page
from ..report.rates import intervals_chart, matrix_chart, shares_chart
from ..report.runs import boxes_chart, lines_chart, scatter_chart
from ..schemas.files import write_atomically
from .run_cases import case_sections, study_sections
from .run_cells import LISTED, grid, mean_text, rate_text, share_text
from .run_words import ROUNDED, few_tasks, listed, reading
from .words import count, short

if TYPE_CHECKING:
    from pathlib import Path

    from ..agent_runner.measures.collected import Collected
    from ..agent_runner.measures.summary import Summary
    from ..agent_runner.measures.table import Table
    from ..agent_runner.runs import Run

_DRAWN = 10  # agents in a figure
_BARS = 24  # constraints or tools in a figure
_PARTS = ("exploration", "reasoning")
_PART_COLOURS = ("#4c78a8", "#f58518")
_FATE_COLOURS = ("#00682e", "#4c78a8", "#f58518", "#b279a2", "#eeca3b", "#e45756", "#b8bec5")


def write_run_page(path: Path, title: str, runs: Sequence[Run]) -> None:
    """Writes the page about runs."""
    found = collected(runs)
    write_atomically(path, run_page(title, found, tables(found)).encode())


def run_page(title: str, found: Collected, measured: Sequence[Table]) -> str:
    """The page about conversations and their tables; equal ones give equal bytes."""
    every = {table.name: table for table in measured}
    drawn = found.agents[:_DRAWN]
    sections = [
        reading(),
        *_headline(every, found, drawn),
        *_lost(every, drawn),
        *_validity(every, found),
        *_breakdowns(every, drawn),
        *_effort(every, drawn),
        *_turns(every, drawn),
        *_controls(every, drawn),
        *_users(every, drawn),
        *_plain(every, ("stability", "pass_k"), "Again and again", _AGAIN),
        *_violations(every),
        *_calls(every, drawn),
        *case_sections(found),
        *study_sections(found),
        *_paper(every),
        *_plain(every, ("provenance",), "Where this comes from", ""),
    ]
    tasks = len({item.task for item in found.episodes})
    agents = count(len(found.agents), "agent")
    lead = f"{count(len(found.episodes), 'conversation')} of {agents} about {count(tasks, 'task')}"
    if len(found.runs) > 1:
        lead += f", from {len(found.runs)} runs"
    return page(short(title, 200), f"{lead}.{few_tasks(tasks)}", sections, contents=True)


_AGAIN = (
    "Mean and population standard deviation of the rates of whole epochs, and how likely all of k conversations about "
    "a task come out well (C(c, k) / C(n, k) for c of n, averaged over tasks)."
)


def _rows(table: Table, drawn: Sequence[str]) -> list[dict[str, Any]]:
    """The rows about agents that are drawn, by the names of their columns."""
    names = [column.name for column in table.columns]
    rows = [dict(zip(names, row, strict=True)) for row in table.rows]
    return [{**row, "agent": short(row["agent"])} for row in rows if row["agent"] in drawn]


def _section(
    table: Table, heading: str = "", text: str = "", figures: Sequence[Figure] = (), level: int = 3,
    folded: bool = False,
) -> Section:  # fmt: skip
    if len(table.rows) > LISTED:
        text += f" The first {LISTED} of {len(table.rows):,} rows; --out-tables writes them all."
    first = figures[0] if figures else None
    return Section(heading or table.title, text.strip(), first, grid(table), level, tuple(figures[1:]), folded=folded)


def _plain(every: Mapping[str, Table], names: Sequence[str], heading: str, text: str) -> Iterator[Section]:
    """Tables without figures under one heading, those that there are."""
    known = [every[name] for name in names if name in every]
    if known:
        yield Section(heading, text)
        yield from (_section(table) for table in known)


def _headline(every: Mapping[str, Table], found: Collected, drawn: Sequence[str]) -> Iterator[Section]:
    if "headline" not in every:
        yield Section("Feasible and optimal", "There is no conversation with an outcome yet.")
        return
    names = ("FR", "OR-5", "OR-10", "OR-20")
    rates = [
        (row["agent"], name, _share(row[name]), row[name].low, row[name].high, rate_text(row[name]))
        for row in _rows(every["headline"], drawn)
        for name in names
    ]
    best = found.summaries[0]
    tied = [short(row.agent) for row in found.summaries[:_DRAWN] if _order(row) == _order(best)]
    alt = (
        "Shares of conversations whose plan is feasible (FR) and among the best 5, 10 and 20 % of all feasible plans "
        f"(OR), with 95 % intervals. Best: {listed(tied)}, FR {rate_text(best.rates['FR'])}, OR-5 "
        f"{rate_text(best.rates['OR-5'])}"
    )
    text = alt + ". The distance between FR and OR is the feasible–optimal gap."
    if len(found.agents) > len(drawn):
        text += f" Figures show the first {len(drawn)} of {len(found.agents):,} agents; tables have them all."
    if len({frozenset(item.task for item in found.of(agent)) for agent in found.agents}) > 1:
        text += " Agents had different tasks: rates of different agents are not about the same."
    yield Section(every["headline"].title, text, Figure(intervals_chart(rates, "share of conversations"), alt))
    yield _section(every["headline"], "By agent")
    for name in ("gaps", "conduct", "verdicts"):
        if name in every:
            yield _section(every[name], text=ROUNDED if name == "gaps" else "")


def _order(row: Summary) -> tuple[Fraction, ...]:
    """What agents are put in order by."""
    rates = (row.rates["OR-5"], row.rates["FR"])
    return tuple(Fraction(rate.hits, rate.of) if rate.of else Fraction(0) for rate in rates)


def _lost(every: Mapping[str, Table], drawn: Sequence[str]) -> Iterator[Section]:
    if "fates" not in every:
        return
    rows = [
        (row["agent"], name, row[name] / total, f"{row[name]:,} of {total:,}")
        for row in _rows(every["fates"], drawn)
        if (total := sum(row[fate] for fate in FATES))
        for name in FATES
        if row[name]
    ]
    alt = "What became of each agent's conversations: found, not searched well enough, picked badly, or broken"
    figures = [Figure(shares_chart(rows, FATES, "share of conversations", _FATE_COLOURS), alt)]
    parts = [
        (row["agent"], part, max(0.0, float(row[part].value)), mean_text(row[part], share=True))
        for row in _rows(every["gaps"], drawn)
        for part in _PARTS
        if row[part] is not None
    ]
    if parts:
        split = "Mean regret of feasible plans relative to the optimum: the part of exploration and that of reasoning"
        chart = shares_chart(parts, _PARTS, "mean regret", _PART_COLOURS, whole=False)
        figures.append(Figure(chart, split))
    text = (
        "Exploration regret: from the best feasible plan among the offers that the agent was shown to the optimum. "
        "Reasoning regret: from its own plan to that best one. They add up to the gap, exactly. An agent whose plan is "
        "not feasible has either been shown a feasible one, or not."
    )
    yield _section(every["fates"], "", text, figures, level=2)


def _validity(every: Mapping[str, Table], found: Collected) -> Iterator[Section]:
    if "validity" not in every:
        return
    unscored, faults = sum(found.unscored.values()), sum(row.user_faults for row in found.summaries)
    text = (
        f"{count(unscored, 'conversation')} without an outcome, for a reason that is not the agent's: these count "
        f"nowhere. The simulated user was at fault in {count(faults, 'turn')}, which is not charged to agents."
    )
    for reason, number in found.reasons[:3]:
        text += f" {count(number, 'conversation')}: {short(reason, 200)}."
    table = every["validity"]
    yield Section(table.title, text, grid=grid(table), boxed=True)
    yield from (_section(every[name]) for name in ("endings", "user_faults") if name in every)


def _breakdowns(every: Mapping[str, Table], drawn: Sequence[str]) -> Iterator[Section]:
    if "by_level" not in every:
        return
    yield Section(
        "What tasks are like", "FR and OR-5 with 95 % intervals, clustered by task; tables have OR-10 and OR-20."
    )
    for name, what, joined in (
        ("by_level", "level", True), ("by_objective", "objective", False),
        ("by_constraints", "constraints", True), ("by_speed", "t*", True),
        ("by_user", "user", False),
    ):  # fmt: skip
        table = every[name]
        yield _section(table, figures=[_lines(table, what, rate, drawn, joined) for rate in ("FR", "OR-5")])
        if name == "by_objective":
            yield _section(every["by_metric"], folded=True)


def _lines(table: Table, what: str, rate: str, drawn: Sequence[str], joined: bool = True) -> Figure:
    """A figure of a rate over the groups of a table."""
    rows = _rows(table, drawn)
    order = list(dict.fromkeys(row[what] for row in rows))
    points = [
        (row["agent"], row[what], _share(row[rate]), row[rate].low, row[rate].high,
         f"{rate_text(row[rate])}, {row['conversations']:,} conversations")
        for row in rows
    ]  # fmt: skip
    alt = f"{rate} by {what}, a line for each agent: " + _said(rows, what, rate)
    return Figure(lines_chart(points, [short(agent) for agent in drawn], order, what, rate, joined=joined), alt)


def _said(rows: Sequence[Mapping[str, Any]], what: str, rate: str) -> str:
    """The line of the first agent in words."""
    first = [row for row in rows if row["agent"] == rows[0]["agent"]] if rows else []
    told = ", ".join(f"{row[what]}: {share_text(_share(row[rate]))}" for row in first[:12])
    return f"{rows[0]['agent']} has {told}" if rows else "nothing"


def _share(rate: Rate) -> float:
    return rate.hits / rate.of if rate.of else 0.0


def _effort(every: Mapping[str, Table], drawn: Sequence[str]) -> Iterator[Section]:
    if "by_effort" not in every:
        return
    text = (
        "E: different calls of tools that were answered without a fault, in a conversation; calls that ask the same "
        "count once. Y: different bookable offers that they showed."
    )
    yield Section("Effort and yield", text)
    for name, what in (("box_effort", "E"), ("box_yield", "Y")):
        yield _box(every[name], what, drawn)
    table = every["by_effort"]
    figures = [_lines(table, "E", "OR-5", drawn)]
    points = [
        (row["agent"], float(effort.value), _share(rate), f"E {mean_text(effort, share=False)}, OR-5 {rate_text(rate)}")
        for (row, rate, effort) in _bought(every, drawn)
    ]
    alt = "What effort buys: mean E of each agent against its OR-5"
    figures.append(Figure(scatter_chart(points, [short(agent) for agent in drawn], "mean E", "OR-5"), alt))
    yield _section(table, text=f"High effort is E > {HIGH}.", figures=figures)


def _bought(every: Mapping[str, Table], drawn: Sequence[str]) -> Iterator[tuple[dict[str, Any], Rate, Mean]]:
    efforts = {row["agent"]: row["E"] for row in _rows(every["conduct"], drawn)}
    for row in _rows(every["headline"], drawn):
        if efforts.get(row["agent"]) is not None:
            yield row, row["OR-5"], efforts[row["agent"]]


def _box(table: Table, what: str, drawn: Sequence[str]) -> Section:
    names = ("least", "quarter", "median", "three quarters", "most")
    rows = [
        (row["agent"], *(row[name] for name in names),
         ", ".join(f"{name} {row[name]:,}" for name in names) + f", mean {float(row['mean']):.1f}")
        for row in _rows(table, drawn)
    ]  # fmt: skip
    alt = f"{table.title} by agent: least, quartiles and most"
    if rows:
        alt += f"; {rows[0][0]} has {rows[0][-1]}"
    return _section(table, figures=[Figure(boxes_chart(rows, [short(agent) for agent in drawn], what), alt)])


def _turns(every: Mapping[str, Table], drawn: Sequence[str]) -> Iterator[Section]:
    if "turns" not in every:
        return
    table, names = every["turns"], [short(agent) for agent in drawn]
    rows = _rows(table, drawn)
    order = [str(number) for number in range(1, MOST_TURNS + 1) if any(row["turn"] == number for row in rows)]
    figures: list[Figure] = []
    for what in ("FR", "OR-5"):
        points = [
            (row["agent"], str(row["turn"]), _share(row[what]), row[what].low, row[what].high, rate_text(row[what]))
            for row in rows
        ]
        figures.append(
            Figure(lines_chart(points, names, order, "turn", what, ends=False), f"{what} after each turn, by agent")
        )
    for what in ("exploration regret", "gap"):
        means: list[tuple[str, str, float, float, float, str]] = []
        for row in rows:
            if (mean := row[what]) is not None:
                value = float(mean.value)
                low, high = mean.interval or (value, value)
                means.append((row["agent"], str(row["turn"]), value, low, high, mean_text(mean, share=True)))
        if means:
            chart = lines_chart(means, names, order, "turn", f"mean {what}", share=False, ends=False)
            figures.append(Figure(chart, f"Mean {what} after each turn, relative to the optimum, by agent"))
    text = (
        "How the recommendation stands after each turn, by all constraints, also those not told yet. A conversation "
        "that has ended stays as it ended. Exploration regret is over conversations in which a feasible plan was "
        "shown, the gap over those whose plan is feasible."
    )
    yield _section(table, "", text, figures, level=2)


def _controls(every: Mapping[str, Table], drawn: Sequence[str]) -> Iterator[Section]:
    if "controls" not in every:
        return
    text = (
        "t* is the turn at which everything was told; Δt, how much later the last formal recommendation came. If p is "
        "small, an agent met other users than the rest, and rates should not be compared: Kolmogorov and Smirnov's "
        "test of its t* against those of all others."
    )
    yield _section(every["controls"], "", text, level=2)
    for name, what in (("box_told", "t*"), ("box_delay", "Δt"), ("box_length", "turns")):
        if name in every:
            yield _box(every[name], what, drawn)


def _users(every: Mapping[str, Table], drawn: Sequence[str]) -> Iterator[Section]:
    if "styles" not in every:
        return
    rows = _rows(every["styles"], drawn)
    styles = [str(number) for number in range(1, 10) if any(row["style"] == number for row in rows)]
    cells = [(row["agent"], str(row["style"]), _share(row["OR-5"]), f"{100 * _share(row['OR-5']):.0f}") for row in rows]
    alt = "OR-5 in percent by agent and style of the user"
    text = (
        "Styles change the tone and never what is asked for, so a consistent agent has a low coefficient of variation "
        "(population standard deviation over mean of the nine rates). “CV by chance” is what would be expected if "
        "styles made no difference, with as many conversations."
    )
    yield Section("Whether users matter", text)
    yield _section(every["styles"], figures=[Figure(matrix_chart(cells, styles, "style"), alt)])
    yield _section(every["consistency"])
    trust = "Questioning against trusting users: two proportions, pooled variance, two-sided; significant below 0.05."
    yield _section(every["trust"], text=trust)


def _violations(every: Mapping[str, Table]) -> Iterator[Section]:
    if "violations" not in every:
        return
    table = every["violations"]
    names = list(dict.fromkeys(row[0] for row in table.rows))
    sums = {name: sum(row[2] for row in table.rows if row[0] == name) for name in names}
    bars = [(short(name), float(sums[name]), f"{sums[name]:,}") for name in names[:_BARS]]
    alt = f"Final plans that break each constraint; most often {short(names[0])}, {sums[names[0]]:,} times"
    text = alt + ". A plan that breaks several counts for each. “told before”: the user had said so."
    if len(names) > _BARS:
        text += f" The figure shows the first {_BARS} of {len(names):,} constraints."
    yield _section(table, "", text, [Figure(bars_chart(bars, "plans"), alt)], level=2)


def _calls(every: Mapping[str, Table], drawn: Sequence[str]) -> Iterator[Section]:
    if "calls" not in every:
        return
    table = every["calls"]
    rows = _rows(table, drawn)
    total = {agent: sum(row["calls"] for row in rows if row["agent"] == agent) for agent in map(short, drawn)}
    often = sorted({row["tool"] for row in rows}, key=lambda tool: -sum(r["calls"] for r in rows if r["tool"] == tool))
    cells = [
        (short(row["tool"]), row["agent"], row["calls"] / total[row["agent"]], f"{row['calls']:,}")
        for tool in often[:_BARS]
        for row in rows
        if row["tool"] == tool
    ]
    alt = "Calls by tool and agent; darker is a greater share of the agent's calls"
    text = alt + ". Wrong calls name no tool, have wrong parameters, or ask for what does not exist."
    yield _section(
        table, "", text, [Figure(matrix_chart(cells, [short(agent) for agent in drawn], "agent"), alt)], level=2
    )
    yield _section(every["errors"])


def _paper(every: Mapping[str, Table]) -> Iterator[Section]:
    text = (
        "What the COMPASS paper reports of its own agents, tasks and data, which are not public. Nothing in these "
        "tables was measured here, and nothing above is theirs. v2: the main tables; v1: studies of the appendix, with "
        "older models. The paper also writes solve rate or acceptable rate for FR."
    )
    yield Section("For reference: the paper's own numbers", text)
    yield from (_section(table) for name, table in every.items() if name.startswith("paper_"))
