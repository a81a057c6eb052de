"""Conversations at length on a page: the worst of each agent, and two agents side by side."""

from __future__ import annotations

import json
from collections.abc import Iterator, Sequence
from fractions import Fraction
from typing import TYPE_CHECKING, cast

from ..agent_runner.measures.cases import farthest, most_broken, study
from ..agent_runner.measures.rates import feasible, rank, relative_gap
from ..agent_runner.measures.trace import trace
from ..report.page import Entry, Figure, Grid, Section, Transcript
from ..report.runs import trace_chart
from ..schemas.canonical import narrow
from ..schemas.episode import Answered
from ..schemas.units import Type, format_value
from .common import visible
from .run_cells import NONE, share_text
from .words import beginning, count, short

if TYPE_CHECKING:
    from ..agent_runner.measures.collected import Collected
    from ..agent_runner.measures.trace import Trace
    from ..schemas.episode import CallRecord, Episode, TurnRecord
    from ..schemas.verdict import Verdict

_SAID = 1500  # characters of a message
_TURNS = 12  # of a transcript
_CALLS = 8  # of a turn
_ARGUMENTS = 200  # characters of a call's arguments
_AGENTS = 8  # of which cases are shown
_PHASES = {
    "dates": ("date check",), "places": ("place lookup",), "search": ("search", "searches"),
    "details": ("detail lookup",), "notes": ("note",), "recommend": ("recommendation",), "other": ("other call",),
}  # fmt: skip
_CUT = (
    f"Transcripts have at most {_TURNS} turns, {_CALLS} calls of each and {_SAID:,} characters of a message; the files "
    "of the run have everything."
)


def case_sections(found: Collected) -> Iterator[Section]:
    """The worst conversations of each agent: the farthest feasible plan, and the most broken one."""
    agents = found.agents[:_AGENTS]
    most = 1 if len(agents) > 3 else 3
    kinds = (
        ("Farthest from the optimum", "Feasible plans with the greatest relative gap.", farthest),
        ("Most constraints broken", "Answers that are not feasible.", most_broken),
    )
    if not any(pick(found.of(agent), 1) for _, _, pick in kinds for agent in agents):
        return
    yield Section("Worst cases", _CUT)
    for heading, text, pick in kinds:
        cases = [item for agent in agents for item in pick(found.of(agent), most)]
        if cases:
            yield Section(heading, text, level=3, transcripts=tuple(transcript(item) for item in cases))


def study_sections(found: Collected) -> Iterator[Section]:
    """Two agents about the task in which they differ most."""
    pair = study(found)
    if pair is None:
        return
    both = (pair.strong, pair.weak)
    names = tuple(short(item.agent) for item in both)
    traces = [trace(item) for item in both]
    points = [
        (name, what, step.turn, float(gap), share_text(gap))
        for name, told in zip(names, traces, strict=True)
        for step in told.steps
        for what, gap in (("recommended", step.own), ("shown", step.shown))
        if gap is not None
    ]
    alt = (
        f"Per turn, how far from the optimum the best plan that was shown and the plan recommended are, for {names[0]} "
        f"and {names[1]}"
    )
    figure = Figure(trace_chart(points, names), alt) if points else None
    text = (
        f"{names[0]} and {names[1]} about {short(pair.strong.task)}, where they differ most, with the same user. "
        "Searched dates are those of searches for stays."
    )
    rows = tuple(
        zip(
            ("", *_FACTS),
            *([name, *_facts(item, told)] for name, item, told in zip(names, both, traces, strict=True)),
            strict=True,
        )
    )
    yield Section("Two agents, one task", text, grid=Grid(rows[0], rows[1:]))
    yield Section("Turn by turn, side by side", "", figure, _steps(names, traces), level=3)
    yield Section("What they said", _CUT, level=3, transcripts=tuple(transcript(item) for item in both))


_FACTS = (
    "verdict", "effort E", "yield Y", "turns", "calendar asked", "different dates searched", "from Tuesday to Friday",
    "parts of the month", "dates of flights without a stay searched", "times the plan improved",
)  # fmt: skip


def _facts(item: Episode, told: Trace) -> tuple[str, ...]:
    return (
        _brief(item.verdict), f"{item.effort:,}", f"{item.found:,}", f"{len(item.turns):,}",
        "yes" if told.calendar else "no", f"{told.windows:,}", f"{told.midweek:,}", ", ".join(told.thirds) or NONE,
        f"{told.astray:,} of {told.flights:,}", f"{told.improvements:,}",
    )  # fmt: skip


def _steps(names: Sequence[str], traces: Sequence[Trace]) -> Grid:
    """A row for each turn, both agents side by side."""
    rows: list[tuple[str, ...]] = []
    for number in range(max(len(told.steps) for told in traces)):
        row = [f"{number + 1}"]
        for told in traces:
            if number >= len(told.steps):
                row += [NONE, NONE]
                continue
            step = told.steps[number]
            calls = ", ".join(count(number, *_PHASES[phase]) for phase, number in step.calls.items()) or "no calls"
            if step.windows:
                first = ", ".join(f"{start:%a %d %b}" for start, _ in step.windows[:3])
                calls += f"; new dates: {first}" + (" …" if len(step.windows) > 3 else "")
            own = NONE if step.own is None else share_text(step.own) + (" (better)" if step.improved else "")
            row += [calls, own]
        rows.append(tuple(row))
    return Grid(("turn", f"{names[0]}: calls", "gap", f"{names[1]}: calls", "gap"), tuple(rows), frozenset((2, 4)))


def verdict_text(verdict: Verdict) -> str:
    """A verdict in words, with what is broken."""
    said = [_brief(verdict)]
    said += [f"breaks {short(item.constraint)} ({short(item.detail, 120)})" for item in verdict.violations[:8]]
    if len(verdict.violations) > 8:
        said.append(f"… and {len(verdict.violations) - 8} more")
    if verdict.reason:
        said.append(short(verdict.reason, 200))
    return "; ".join(said)


def _brief(verdict: Verdict) -> str:
    """Kind, value, gap and rank, or how much is broken."""
    said = [verdict.kind.value]
    gap, place = relative_gap(verdict), rank(verdict)
    kind = Type("number", verdict.unit, verdict.scale)
    if feasible(verdict) and verdict.value is not None:
        said.append(f"value {format_value(narrow(verdict.value), kind)}")
    if gap:
        said.append(f"{share_text(gap)} from the optimum")
    if place is not None:
        said.append(f"rank {place[0]:,} of {place[1]:,}")
    if verdict.violations:
        said.append(count(len(verdict.violations), "constraint"))
    return "; ".join(said)


def transcript(item: Episode) -> Transcript:
    """The conversation as it was, within limits; what cannot be seen is escaped."""
    entries: list[Entry] = []
    stood = ""
    for turn in item.turns[:_TURNS]:
        calls = [call for call in item.calls if call.turn == turn.number]
        entries.append(Entry(f"user, turn {turn.number}", _message(turn.user), "user"))
        if calls:
            entries.append(Entry(count(len(calls), "call"), _calls(calls)))
        entries.append(Entry(_answered(turn), _message(turn.agent), "agent"))
        stands = _stands(turn)
        entries.append(Entry("verdict", "as before" if stands == stood else stands))
        stood = stands
    if len(item.turns) > _TURNS:
        entries.append(Entry("cut", f"… and {count(len(item.turns) - _TURNS, 'more turn')}"))
    entries.append(Entry("end", item.ended.value))
    title = f"{short(item.task)}: {short(item.agent)}, epoch {item.epoch}: {_brief(item.verdict)}"
    return Transcript(title, tuple(entries))


def _message(text: str) -> str:
    shown = beginning(text, _SAID)
    return visible(shown) + (f" … ({len(text) - len(shown):,} more characters)" if len(shown) < len(text) else "")


def _answered(turn: TurnRecord) -> str:
    said = "agent" if turn.answered is not Answered.FORMAT_ERROR else f"agent, format error: {short(turn.reason, 120)}"
    return said + (", repaired" if turn.repaired else "")


def _calls(calls: Sequence[CallRecord]) -> str:
    lines = [
        f"{short(call.tool)} {short(_given(call.arguments), _ARGUMENTS)}"
        + (f" — wrong {call.fault.value}" if call.fault else "")
        for call in calls[:_CALLS]
    ]
    if len(calls) > _CALLS:
        lines.append(f"… and {len(calls) - _CALLS:,} more")
    return "\n".join(lines)


def _given(arguments: str) -> str:
    """The arguments of a call, without those that ask for nothing."""
    try:
        found = json.loads(arguments)
    except (ValueError, RecursionError):
        return arguments
    if not isinstance(found, dict):
        return arguments
    kept = {name: value for name, value in found.items() if value is not False and value is not None}
    return ", ".join(f"{name}={_plain(value)}" for name, value in kept.items())


def _plain(value: object) -> str:
    """A value as it is read: lists without brackets."""
    return " ".join(map(str, cast("list[object]", value))) if isinstance(value, list) else str(value)


def _stands(turn: TurnRecord) -> str:
    said = verdict_text(turn.verdict)
    if turn.regret is not None and turn.regret.optimum is not None and turn.regret.exploration is not None:
        optimum = abs(narrow(turn.regret.optimum))
        if optimum:
            said += f"; the best plan shown is {share_text(Fraction(narrow(turn.regret.exploration), optimum))} from it"
    elif turn.regret is not None and turn.regret.exploration is None:
        said += "; no feasible plan was shown yet"
    return said
