"""The page about many verdicts: how often agents are right, how far off they are, and where they fail."""

from __future__ import annotations

import json
from collections.abc import Iterator, Mapping, Sequence
from fractions import Fraction
from typing import TYPE_CHECKING, Any

from ..agent_runner.analysis import (
    GAPS,
    PLACES,
    TOP,
    Case,
    Rate,
    Summary,
    agreement,
    broken,
    farthest,
    gaps_by_unit,
    most_broken,
    summaries,
)
from ..report.charts import bars_chart, distribution_chart
from ..report.page import Figure, Grid, Section, page
from ..report.rates import intervals_chart, matrix_chart, shares_chart
from ..schemas.canonical import narrow
from ..schemas.units import Type, format_value
from .display import percent
from .words import TEXT, count, short

if TYPE_CHECKING:
    from ..schemas.scored import Scored

CASES = 10  # of each kind
_DRAWN = 24  # agents or constraints in a figure
_LISTED = 300  # rows of a table
_UNITS = 3

_CLUSTERED = (
    "Agents with several submissions to a task have intervals that are clustered by task: the variance between tasks "
    "gives an effective number of submissions for Wilson's formula."
)


def verdict_page(title: str, runs: Mapping[str, Sequence[Scored]]) -> str:
    """The page about verdicts by run; equal verdicts give equal bytes."""
    found = summaries(runs)
    every = [row for rows in runs.values() for row in rows]
    cases = [Case(run, row) for run, rows in runs.items() for row in rows]
    tasks = len({row.task for row in every})
    lead = f"{count(len(every), 'submission')} of {count(len(found), 'agent')} to {count(tasks, 'task')}"
    if len(runs) > 1:
        lead += f", from {len(runs)} files"
    sections = [
        *_rates(found, every),
        *_places(found),
        *_gaps(found, every),
        *_broken(every),
        *_agreement(every),
        *_cases(
            "Farthest from the optimum", farthest(cases, CASES),
            "Feasible plans with the greatest relative gaps, one for each task and agent.",
        ),
        *_cases(
            "Most constraints violated", most_broken(cases, CASES),
            "Plans of known offers that break most constraints, one for each task and agent.",
        ),
        _reading(every),
    ]  # fmt: skip
    return page(short(title, 200), lead, sections)


def _rates(found: Sequence[Summary], every: Sequence[Scored]) -> Iterator[Section]:
    drawn = found[:_DRAWN]
    rows = [
        (short(item.name), what, rate.hits / rate.of, rate.low, rate.high, _rate(rate))
        for item in drawn
        for what, rate in (("feasible", item.feasible), ("optimal", item.optimal))
        if rate.of
    ]
    best = next((item for item in found if item.feasible.of), None)
    alt = "Shares of feasible and of optimal plans by agent, with 95 % intervals"
    if best is not None:
        alt += f"; most feasible: {short(best.name)} with {_rate(best.feasible)}, {_rate(best.optimal)} optimal"
    notes = [alt + "."]
    if len(found) > len(drawn):
        notes.append(f"The figures show the first {len(drawn)} of {len(found):,} agents.")
    clustered = any(item.feasible.clustered for item in found)
    notes.append(_CLUSTERED if clustered else "Intervals are Wilson's; every submission is to a task of its own.")
    figure = Figure(intervals_chart(rows, "share of submissions"), alt) if rows else None
    yield Section("Feasible and optimal", " ".join(notes), figure)
    refused = any(item.refused.of for item in found)
    head = ("agent", "submissions", "tasks", "feasible", "95 %", "optimal", "95 %", "median gap")
    head += ("rightly refused",) if refused else ()
    lines = [
        (
            short(item.name), f"{item.submissions:,}", f"{item.tasks:,}", _share(item.feasible),
            _interval(item.feasible), _share(item.optimal), _interval(item.optimal),
            "–" if item.median_gap is None else percent(item.median_gap),
            *((_rate(item.refused) if item.refused.of else "–",) if refused else ()),
        )
        for item in found[:_LISTED]
    ]  # fmt: skip
    yield Section("By agent", _cut(found), grid=Grid(head, tuple(lines), frozenset(range(1, len(head)))))
    kinds = list(
        dict.fromkeys(row.kind.value for row in sorted(every, key=lambda row: list(type(row.kind)).index(row.kind)))
    )
    counts = tuple((short(item.name), *(f"{item.kinds.get(kind, 0):,}" for kind in kinds)) for item in found[:_LISTED])
    yield Section("Verdicts", grid=Grid(("agent", *kinds), counts, frozenset(range(1, len(kinds) + 1))))


def _places(found: Sequence[Summary]) -> Iterator[Section]:
    rows = [
        (short(item.name), place, number / item.submissions, f"{number:,} of {item.submissions:,}")
        for item in found[:_DRAWN]
        for place, number in item.places.items()
        if number
    ]
    alt = "Where each agent's plans stand among all feasible plans of their tasks, as shares of its submissions"
    head = ("agent", *(f"best {share} %" for share in TOP), "with a rank", *PLACES)
    lines = tuple(
        (
            short(item.name), *(f"{item.top[share]:,}" for share in TOP), f"{item.ranked:,}",
            *(f"{item.places[place]:,}" for place in PLACES),
        )
        for item in found[:_LISTED]
    )  # fmt: skip
    text = (
        alt + ". A plan is among the best 5 % when fewer than 5 % of the feasible plans are better. In the table, the "
        "first columns count every plan that is so good, the others each submission once."
    )
    figure = Figure(shares_chart(rows, PLACES, "share of submissions"), alt)
    yield Section("Rank", text, figure, Grid(head, lines, frozenset(range(1, len(head)))))


def _gaps(found: Sequence[Summary], every: Sequence[Scored]) -> Iterator[Section]:
    known = [item for item in found if item.gaps]
    if known:
        names = [name for name, _ in GAPS]
        rows = [
            (short(item.name), name, number / len(item.gaps), f"{number:,}")
            for item in known[:_DRAWN]
            for name, number in item.gap_classes.items()
        ]
        alt = "How far feasible plans are from the optimum, relative to it: plans by agent and size of the gap"
        lines = tuple(
            (short(item.name), f"{len(item.gaps):,}", *(f"{number:,}" for number in item.gap_classes.values()))
            for item in known[:_LISTED]
        )
        head = ("agent", "plans", *names)
        text = alt + ". Each plan is in the first column that holds; darker is a greater share of the agent's plans."
        figure = Figure(matrix_chart(rows, names, "relative gap"), alt)
        yield Section("Relative gap", text, figure, Grid(head, lines, frozenset(range(1, len(head)))))
    units = gaps_by_unit(every)
    for unit, (scale, gaps) in list(units.items())[:_UNITS]:
        kind = Type("number", unit, scale)
        pairs = list(gaps.items())
        alt = (
            f"{count(sum(gaps.values()), 'feasible plan')} by absolute gap, from {format_value(pairs[0][0], kind)} to "
            f"{format_value(pairs[-1][0], kind)}"
        )
        label = f"gap to the optimum ({unit})" if unit else "gap to the optimum"
        spec = distribution_chart(pairs, scale, label, {}, "submitted plans")
        lines = tuple((format_value(gap, kind), f"{number:,}") for gap, number in pairs[:_LISTED])
        more = f" The table has the least {_LISTED} of {len(pairs):,} gaps." if len(pairs) > _LISTED else ""
        heading = f"Absolute gap in {unit}" if unit else "Absolute gap where values have no unit"
        yield Section(
            heading, f"{alt}.{more}", Figure(spec, alt), Grid(("gap", "plans"), lines, frozenset((0, 1)))
        )  # fmt: skip


def _broken(every: Sequence[Scored]) -> Iterator[Section]:
    found = broken(every)
    if not found:
        return
    bars = [(short(item.name), float(item.submissions), f"{item.submissions:,}") for item in found[:_DRAWN]]
    worst = found[0]
    alt = (
        f"Submissions that violate each constraint; most violated: {short(worst.name)}, by "
        f"{count(worst.submissions, 'submission')} to {count(worst.tasks, 'task')}"
    )
    ignored = any(item.ignored for item in found)
    head = ("constraint", "submissions", "tasks", *(("ignored",) if ignored else ()))
    lines = tuple(
        (
            short(item.name), f"{item.submissions:,}", f"{item.tasks:,}",
            *((f"{item.ignored:,}",) if ignored else ()),
        )
        for item in found[:_LISTED]
    )  # fmt: skip
    grid = Grid(head, lines, frozenset(range(1, len(head))))
    text = f"{alt}. A submission that violates several counts for each." + _more(len(found), _DRAWN, "constraints")
    yield Section("Violations by constraint", text, Figure(bars_chart(bars, "submissions"), alt), grid)


def _agreement(every: Sequence[Scored]) -> Iterator[Section]:
    found = agreement(every)
    if not found:
        return
    lines = tuple(
        (short(name), f"{optimal + feasible:,}", f"{optimal:,}", f"{wrong:,}", f"{optimal + feasible + wrong:,}")
        for name, (optimal, feasible, wrong) in list(found.items())[:_LISTED]
    )
    text = "What others published about the submissions, against the verdicts here."
    head = ("published", "feasible", "of them optimal", "not feasible", "all")
    yield Section("Agreement with published verdicts", text, grid=Grid(head, lines, frozenset((1, 2, 3, 4))))


def _cases(heading: str, cases: Sequence[Case], text: str) -> Iterator[Section]:
    if not cases:
        return
    yield Section(heading, text)
    for case in cases:
        row = case.row
        ours, best = _plan(row.submitted), _plan(row.best)
        choices = list(dict.fromkeys((*best, *ours)))
        lines = tuple((short(name), ours.get(name, "–"), best.get(name, "–")) for name in choices)
        kind = Type("number", row.unit, row.scale)
        if row.value is not None or row.optimum is not None:
            shown = ["–" if value is None else format_value(narrow(value), kind) for value in (row.value, row.optimum)]
            lines = (*lines, ("value", *shown))
        where = f"line {row.line}" + (f" of {short(case.run)}" if case.run else "")
        grid = Grid(("", "submitted", "best plan" if row.best else "no plan is known"), lines)
        yield Section(f"{short(row.task)}: {short(row.agent)} ({where})", _said(row), grid=grid, level=3)


def _said(row: Scored) -> str:
    """Gap, rank and violations in words."""
    said: list[str] = []
    if row.gap is not None and narrow(row.gap):
        kind = Type("number", row.unit, row.scale)
        share = f" ({percent(row.ratio)})" if row.ratio is not None else ""
        said.append(f"{format_value(narrow(row.gap), kind)}{share} from the optimum.")
    if row.standing is not None:
        better, total = narrow(row.standing.better), narrow(row.standing.total)
        said.append(
            f"Rank {better + 1:,} of {total:,}: {percent(Fraction(better, total))} of all feasible plans are better."
        )
    for item in row.violations[:20]:
        mark = " (ignored)" if item.constraint in row.ignored else ""
        said.append(f"Violates {short(item.constraint)}{mark}: {short(item.detail, TEXT)}.")
    if len(row.violations) > 20:
        said.append(f"… and {len(row.violations) - 20} more.")
    if row.published is not None:
        said.append(f"Published as “{short(row.published)}”.")
    return " ".join(said)


def _plan(text: str | None) -> dict[str, str]:
    """What a plan picks for each choice, in words; nothing for what is no plan."""
    try:
        found: Any = json.loads(text or "null")
    except (ValueError, RecursionError):
        return {}
    picks = found.get("picks") if isinstance(found, dict) else None
    if not isinstance(picks, dict):
        return {}
    return {str(name): short(", ".join(_pick(item) for item in picked), TEXT) for name, picked in picks.items()
            if isinstance(picked, list)}  # fmt: skip


def _pick(item: Any) -> str:
    if not isinstance(item, dict):
        return str(item)
    times = [str(item[name]) for name in ("start", "end") if item.get(name) is not None]
    return f"{item.get('id', '?')}" + (f" {'–'.join(times)}" if times else "")


def _reading(every: Sequence[Scored]) -> Section:
    """What the words on the page mean, and what is not known."""
    lines = [
        (
            "feasible",
            "Satisfies every constraint; shares are of the submissions to tasks not certified to have no plan.",
        ),
        ("optimal", "Feasible, and no plan has a better value."),
        ("gap", "The distance of a feasible plan's value to the certified optimum; relative: over its absolute value."),
        ("median gap", "Of the feasible plans whose relative gap is known, optimal ones among them."),
        ("rank", "One more than the number of feasible plans with a better value, counted by the certificate."),
    ]
    open_ = sum(row.feasible and row.optimum is None and not row.ignored for row in every)
    if open_:
        lines.append(("not known", f"{count(open_, 'feasible plan')} of tasks whose optimum is not certified: no gap."))
    lenient = sum(row.feasible and bool(row.ignored) for row in every)
    if lenient:
        names = ", ".join(sorted({name for row in every for name in row.ignored})[:20])
        what = f"{count(lenient, 'plan')} called feasible although they break {short(names, TEXT)}: neither ranked nor "
        lines.append(("ignored", what + "compared with the optimum."))
    return Section("How to read this", grid=Grid(("", ""), tuple(lines)))


def _rate(rate: Rate) -> str:
    return f"{_share(rate)} ({rate.hits:,} of {rate.of:,})"


def _share(rate: Rate) -> str:
    return f"{100 * rate.hits / rate.of:.1f} %" if rate.of else "–"


def _interval(rate: Rate) -> str:
    return f"{100 * rate.low:.1f}–{100 * rate.high:.1f} %" if rate.of else "–"


def _cut(found: Sequence[Summary]) -> str:
    return f"The first {_LISTED} of {len(found):,} agents." if len(found) > _LISTED else ""


def _more(number: int, most: int, what: str) -> str:
    return f" The figure shows the first {most} of {number:,} {what}." if number > most else ""
