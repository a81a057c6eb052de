"""Rates by what tasks, users and conversations are like."""

from __future__ import annotations

from collections import defaultdict
from collections.abc import Callable, Iterator, Sequence
from fractions import Fraction

from ...schemas.episode import Episode
from ..analysis import TOP, rate
from ..metrics import metric_words
from .collected import Collected
from .effort import bin_names, effort_bin
from .intervals import mean
from .rates import among_best, best_rate, feasible, feasible_rate, relative_gap
from .regret import exploration
from .stability import pass_all, stability
from .styles import consistency, trust
from .table import Kind, Table, columns
from .timing import delay, ks_test, speed_bin, speed_bins

_RATES: tuple[tuple[str, Kind], ...] = (("FR", "rate"), ("OR-5", "rate"), ("OR-10", "rate"), ("OR-20", "rate"))
_USERS = ("slow", "medium", "fast", "trusting", "questioning", "reliable", "unreliable")
MOST_TURNS = 40  # of the curves


def breakdowns(found: Collected) -> Iterator[Table]:
    """FR and OR by each respect; only groups that occur."""
    yield _grouped(found, "by_level", "By level", "level", lambda item: f"{item.traits.level}")
    yield _grouped(found, "by_objective", "By objective", "objective", _objective)
    yield _grouped(found, "by_metric", "By what is to be best", "metric", _metric)
    yield _grouped(
        found, "by_constraints", "By number of constraints", "constraints",
        lambda item: f"{item.traits.constraints}", sorted({item.traits.constraints for item in found.episodes}),
    )  # fmt: skip
    yield _grouped(found, "by_speed", "By how soon everything was told", "t*", speed_bin, speed_bins())
    yield _grouped(found, "by_effort", "By effort", "E", lambda item: effort_bin(item.effort), bin_names())
    yield _grouped(found, "by_user", "By kind of user", "user", _users, _USERS)


def _objective(episode: Episode) -> str:
    return "wishes" if episode.traits.objective == "feature_count" else "one metric"


def _metric(episode: Episode) -> str:
    traits = episode.traits
    return f"{traits.wishes} wishes" if traits.objective == "feature_count" else metric_words(traits.metric)


def _users(episode: Episode) -> tuple[str, ...]:
    persona = episode.persona
    return persona.revelation, persona.trust, persona.checking


def _grouped(
    found: Collected, name: str, title: str, what: str, key: Callable[[Episode], str | tuple[str, ...]],
    order: Sequence[object] | None = None,
) -> Table:  # fmt: skip
    """A row for each group and agent, groups in the order given, else by name."""
    groups: defaultdict[str, defaultdict[str, list[Episode]]] = defaultdict(lambda: defaultdict(list))
    for agent in found.agents:
        for episode in found.of(agent):
            keys = key(episode)
            for one in (keys,) if isinstance(keys, str) else keys:
                groups[one][agent].append(episode)
    names = sorted(groups) if order is None else [str(item) for item in order if str(item) in groups]
    rows = tuple(
        (agent, group, len(mine), feasible_rate(mine), *(best_rate(mine, percent) for percent in TOP))
        for group in names
        for agent, mine in groups[group].items()
    )
    return Table(name, title, columns("agent", what, ("conversations", "count"), *_RATES), rows)


def curves(found: Collected) -> Table:
    """How it stood after each turn, over all conversations; one that has ended stays as it ended."""
    rows: list[tuple[object, ...]] = []
    last = max((len(episode.turns) for episode in found.episodes), default=0)
    for agent in found.agents:
        mine = [episode for episode in found.of(agent) if episode.turns]
        for number in range(1, min(last, MOST_TURNS) + 1 if mine else 1):
            at = [(episode.task, episode.turns[min(number, len(episode.turns)) - 1]) for episode in mine]
            shown = [(task, part) for task, turn in at if (part := exploration(turn.regret)) is not None]
            gaps = [(task, gap) for task, turn in at if (gap := relative_gap(turn.verdict)) is not None]
            rows.append(
                (
                    agent, number, sum(len(episode.turns) >= number for episode in mine),
                    rate((task, feasible(turn.verdict)) for task, turn in at),
                    rate((task, among_best(turn.verdict, 5)) for task, turn in at),
                    Fraction(len(shown), len(at)), mean(shown), mean(gaps),
                )
            )  # fmt: skip
    head = columns(
        "agent", ("turn", "count"), ("going on", "count"), ("FR", "rate"), ("OR-5", "rate"),
        ("feasible plan shown", "share"), ("exploration regret", "mean share"), ("gap", "mean share"),
    )  # fmt: skip
    return Table("turns", "Turn by turn", head, tuple(rows))


def controls(found: Collected) -> Table:
    """Whether each agent met the same t* as the others together."""
    told = {agent: [item.told for item in found.of(agent) if item.told is not None] for agent in found.agents}
    rows: list[tuple[object, ...]] = []
    for agent in found.agents:
        others = [value for other, values in told.items() if other != agent for value in values]
        mine, test = found.of(agent), ks_test(told[agent], others)
        delays = [(item.task, value) for item in mine if (value := delay(item)) is not None]
        rows.append(
            (
                agent, mean((item.task, item.told) for item in mine if item.told is not None),
                sum(item.told is None for item in mine), mean(delays),
                mean((item.task, len(item.turns)) for item in mine),
                None if test is None else test.statistic, None if test is None else test.p,
            )
        )  # fmt: skip
    head = columns(
        "agent", ("t*", "mean"), ("not all told", "count"), ("Δt", "mean"), ("turns", "mean"),
        ("KS distance", "share"), ("p", "float"),
    )  # fmt: skip
    return Table("controls", "Controls: the same users for all", head, tuple(rows))


def users(found: Collected) -> Iterator[Table]:
    """OR-5 by style and by trust, with how consistent an agent is."""
    style_rows: list[tuple[object, ...]] = []
    rows: list[tuple[object, ...]] = []
    trust_rows: list[tuple[object, ...]] = []
    for agent in found.agents:
        by_style, by_trust = consistency(found.of(agent)), trust(found.of(agent))
        style_rows += ((agent, style, item) for style, item in by_style.rates.items())
        rows.append((agent, len(by_style.rates), by_style.variation, by_style.chance))
        trust_rows.append((agent, by_trust.first, by_trust.second, by_trust.z, by_trust.p))
    head = columns("agent", ("styles", "count"), ("CV", "float"), ("CV by chance", "float"))
    yield Table("styles", "OR-5 by style", columns("agent", ("style", "count"), ("OR-5", "rate")), tuple(style_rows))
    yield Table("consistency", "Consistency over styles", head, tuple(rows))
    head = columns("agent", ("questioning", "rate"), ("trusting", "rate"), ("z", "float"), ("p", "float"))
    yield Table("trust", "OR-5 by trust", head, tuple(trust_rows))


def repeated(found: Collected) -> Iterator[Table]:
    """Stability over epochs and pass^k; nothing without a second epoch."""
    spreads = {agent: stability(found.of(agent)) for agent in found.agents}
    known = [agent for agent in found.agents if spreads[agent]]
    if not known:
        return
    names = list(spreads[known[0]])
    rows = tuple((agent, len(spreads[agent]["FR"].values), *spreads[agent].values()) for agent in known)
    kinds: list[tuple[str, Kind]] = [(name, "spread") for name in names]
    yield Table("stability", "Stability over epochs", columns("agent", ("epochs", "count"), *kinds), rows)
    powers = [
        (agent, name, pass_all(found.of(agent), good))
        for agent in known
        for name, good in (("FR", _feasible), ("OR-5", _among_best))
    ]
    most = max(len(shares) for _, _, shares in powers)
    kinds = [(f"k = {k}", "share") for k in range(1, most + 1)]
    yield Table(
        "pass_k", "All of k conversations about a task", columns("agent", "rate", *kinds),
        tuple((agent, name, *shares, *(None,) * (most - len(shares))) for agent, name, shares in powers),
    )  # fmt: skip


def _feasible(episode: Episode) -> bool:
    return feasible(episode.verdict)


def _among_best(episode: Episode) -> bool:
    return among_best(episode.verdict, 5)
