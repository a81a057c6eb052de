"""All tables of a report, in its order."""

from __future__ import annotations

from collections import Counter
from collections.abc import Callable, Iterator

from ...schemas.canonical import digest
from ...schemas.episode import Ended, Episode, Fault, UserFault
from ...schemas.run import RunFile
from ...schemas.task import load_task
from ...schemas.verdict import VerdictKind
from ..analysis import TOP
from ..suites import is_suite, open_suite
from .breakdowns import breakdowns, controls, curves, repeated, users
from .collected import Collected
from .rates import feasible
from .reference import REFERENCES
from .regret import FATES, fate
from .table import Kind, Table, columns
from .timing import box, delay


def tables(found: Collected) -> list[Table]:
    """Every table by what was found; empty ones are left out."""
    every = [
        _headline(found),
        _gaps(found),
        _conduct(found),
        _fates(found),
        _validity(found),
        _endings(found),
        *breakdowns(found),
        *_boxes(found),
        controls(found),
        curves(found),
        *users(found),
        *repeated(found),
        _violations(found),
        _calls(found),
        _errors(found),
        _kinds(found),
        _user_faults(found),
        _provenance(found),
        *references(),
    ]
    return [table for table in every if table.rows]


def _headline(found: Collected) -> Table:
    names = ("FR", *(f"OR-{percent}" for percent in TOP), "optimal")
    kinds: list[tuple[str, Kind]] = [(name, "rate") for name in names]
    rows = tuple((row.agent, row.episodes, row.tasks, *(row.rates[name] for name in names)) for row in found.summaries)
    head = columns("agent", ("conversations", "count"), ("tasks", "count"), *kinds)
    return Table("headline", "Feasible and optimal", head, rows)


def _gaps(found: Collected) -> Table:
    rows = tuple((row.agent, row.gap, row.median_gap, row.exploration, row.reasoning) for row in found.summaries)
    head = columns(
        "agent", ("mean gap", "mean share"), ("median gap", "share"), ("exploration", "mean share"),
        ("reasoning", "mean share"),
    )  # fmt: skip
    return Table("gaps", "Gaps of feasible plans", head, rows)


def _conduct(found: Collected) -> Table:
    rows = tuple(
        (row.agent, row.effort, row.found, row.errors.calls, row.errors.total, row.format_errors, row.turns)
        for row in found.summaries
    )
    head = columns(
        "agent", ("E", "mean"), ("Y", "mean"), ("calls", "count"), ("wrong, of calls", "part"),
        ("format errors, of replies", "part"), ("turns", "mean"),
    )  # fmt: skip
    return Table("conduct", "Effort, yield and errors", head, rows)


def _fates(found: Collected) -> Table:
    rows: list[tuple[object, ...]] = []
    for agent in found.agents:
        count = Counter(fate(item.verdict, item.regret) for item in found.of(agent))
        rows.append((agent, *(count[name] for name in FATES)))
    kinds: list[tuple[str, Kind]] = [(name, "count") for name in FATES]
    return Table("fates", "Where it is lost", columns("agent", *kinds), tuple(rows))


def _validity(found: Collected) -> Table:
    rows: list[tuple[object, ...]] = []
    for agent in (*found.agents, *sorted(set(found.asked) - set(found.agents))):
        mine, unscored = found.of(agent), found.unscored.get(agent, 0)
        asked = found.asked.get(agent, len(mine) + unscored)
        rows.append(
            (
                agent, asked, len(mine), unscored, asked - len(mine) - unscored,
                sum(feasible(item.verdict) and item.verdict.standing is None for item in mine),
                sum(item.regret is None for item in mine),
                sum(bool(turn.user_faults) for item in mine for turn in item.turns),
            )
        )  # fmt: skip
    head = columns(
        "agent", ("asked for", "count"), ("scored", "count"), ("unscored", "count"), ("missing", "count"),
        ("feasible without rank", "count"), ("regret not known", "count"), ("turns with user faults", "count"),
    )  # fmt: skip
    return Table("validity", "What counts, and what does not", head, tuple(rows))


def _endings(found: Collected) -> Table:
    count = Counter((item.agent, item.ended) for item in found.episodes)
    seen = [reason for reason in Ended if any(count[agent, reason] for agent in found.agents)]
    rows = tuple((agent, *(count[agent, reason] for reason in seen)) for agent in found.agents)
    kinds: list[tuple[str, Kind]] = [(reason.value, "count") for reason in seen]
    return Table("endings", "Why conversations ended", columns("agent", *kinds), rows)


def _boxes(found: Collected) -> Iterator[Table]:
    kinds: tuple[tuple[str, str, str, Callable[[Episode], int | None]], ...] = (
        ("effort", "Effort E", "E", lambda item: item.effort),
        ("yield", "Yield Y", "Y", lambda item: item.found),
        ("told", "t*: the turn at which everything is told", "t*", lambda item: item.told),
        ("delay", "Δt: turns from there to the last recommendation", "Δt", delay),
        ("length", "Length of conversations", "turns", lambda item: len(item.turns)),
    )
    head = columns(
        "agent", ("conversations", "count"), ("least", "count"), ("quarter", "count"), ("median", "count"),
        ("three quarters", "count"), ("most", "count"), ("mean", "number"),
    )  # fmt: skip
    for name, title, what, value in kinds:
        rows: list[tuple[object, ...]] = []
        for agent in found.agents:
            five = box([number for item in found.of(agent) if (number := value(item)) is not None])
            if five is not None:
                rows.append((agent, five.of, five.least, five.low, five.median, five.high, five.most, five.mean))
        yield Table(f"box_{name}", title, head, tuple(rows), what)


def _violations(found: Collected) -> Table:
    """By constraint and agent: final plans that break it, and how many of these conversations had told it."""
    broken, told = Counter[tuple[str, str]](), Counter[tuple[str, str]]()
    for item in found.episodes:
        revealed = {name for turn in item.turns for name in turn.revealed}
        for name in {violation.constraint for violation in item.verdict.violations}:
            broken[name, item.agent] += 1
            told[name, item.agent] += name in revealed
    total = Counter[str]()
    for (name, _), number in broken.items():
        total[name] += number
    place = {agent: number for number, agent in enumerate(found.agents)}
    ordered = sorted(broken, key=lambda key: (-total[key[0]], key[0], place[key[1]]))
    rows = tuple((name, agent, broken[name, agent], told[name, agent]) for name, agent in ordered)
    head = columns("constraint", "agent", ("plans that break it", "count"), ("told before", "count"))
    return Table("violations", "Violations by constraint", head, rows)


def _calls(found: Collected) -> Table:
    rows: list[tuple[object, ...]] = []
    for agent in found.agents:
        calls = [call for item in found.of(agent) for call in item.calls]
        every, wrong = Counter(call.tool for call in calls), Counter(call.tool for call in calls if call.fault)
        inner = Counter(call.tool for call in calls if call.inner)
        rows += ((tool, agent, every[tool], wrong[tool], inner[tool]) for tool in sorted(every))
    head = columns("tool", "agent", ("calls", "count"), ("wrong", "count"), ("from programs", "count"))
    return Table("calls", "Calls by tool", head, tuple(rows))


def _errors(found: Collected) -> Table:
    rows = tuple(
        (row.agent, row.errors.calls, *(row.errors.kinds[fault] for fault in Fault), row.errors.total)
        for row in found.summaries
    )
    kinds: list[tuple[str, Kind]] = [(fault.value, "count") for fault in Fault]
    return Table(
        "errors", "Wrong calls by kind", columns("agent", ("calls", "count"), *kinds, ("all, of calls", "part")), rows
    )


def _kinds(found: Collected) -> Table:
    count = Counter((item.agent, item.verdict.kind) for item in found.episodes)
    seen = [kind for kind in VerdictKind if any(count[agent, kind] for agent in found.agents)]
    rows = tuple((agent, *(count[agent, kind] for kind in seen)) for agent in found.agents)
    kinds: list[tuple[str, Kind]] = [(kind.value, "count") for kind in seen]
    return Table("verdicts", "Verdicts", columns("agent", *kinds), rows)


def _user_faults(found: Collected) -> Table:
    count = Counter(fault for item in found.episodes for turn in item.turns for fault in turn.user_faults)
    rows = tuple((fault.value, count[fault]) for fault in UserFault if count[fault])
    return Table("user_faults", "Faults of the simulated user", columns("fault", ("turns", "count")), rows)


def _provenance(found: Collected) -> Table:
    rows: list[tuple[object, ...]] = []
    for name, facts in found.runs:
        limits = {"turns": facts.turns, "calls": facts.max_calls, "tokens": facts.max_tokens, "USD": facts.cost_limit}
        told = [f"{value} {what}" for what, value in limits.items() if value is not None]
        said = {
            "suite": facts.suite, "suite digest": facts.suite_digest, **_dataset(facts),
            "tasks": f"{len(facts.tasks):,}",
            "agents": ", ".join(facts.agents), "epochs": f"{facts.epochs}", "seed": f"{facts.seed}",
            "mode": facts.mode, "limits": ", ".join(told), "cobench": facts.version, **facts.settings,
        }  # fmt: skip
        rows += ((name, key, value) for key, value in said.items())
    return Table("provenance", "Where this comes from", columns("run", "what", "value"), tuple(rows))


def _dataset(facts: RunFile) -> dict[str, str]:
    """The dataset of a run's tasks, where their suite is at hand and the same as then."""
    if not is_suite(facts.suite):
        return {}
    suite = open_suite(facts.suite)
    if digest(suite.facts.model_dump(mode="json")) != facts.suite_digest:
        return {}
    return {"dataset": load_task(suite.folder / "tasks" / f"{facts.tasks[0]}.yaml").task.dataset}


def references() -> Iterator[Table]:
    """What the paper reports; its own numbers, as text."""
    for item in REFERENCES:
        rows = tuple((item.era, *row) for row in item.rows)
        yield Table(f"paper_{item.name.replace('-', '_')}", item.title, columns("era", *item.head), rows)
