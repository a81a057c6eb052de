"""What verdicts say of agents: rates with intervals, gaps, places, violations, agreement. Counts and gaps are exact.

Intervals are for people: floats, 95 %. Where each submission is to a task of its own, Wilson's (Wilson 1927). Where an
agent has several to one task these are not independent: then the variance between tasks (sums by task, times
G / (G - 1)) gives an effective number of submissions, at most the true one, which takes the place of n in Wilson's
formula (Dean and Pagano 2015). If all are alike, or there is one task, that number is the number of tasks.
"""

from __future__ import annotations

import math
from collections import Counter, defaultdict
from collections.abc import Iterable, Mapping, Sequence
from dataclasses import dataclass
from fractions import Fraction
from statistics import median
from typing import Any

from ..schemas.canonical import narrow, wide
from ..schemas.scored import Scored
from ..schemas.verdict import VerdictKind
from ..solver.rank import in_top

Z = 1.959963984540054  # of the normal distribution, two sides, 95 %
TOP = (5, 10, 20)  # percent
PLACES = ("optimal", "best 5 %", "best 10 %", "best 20 %", "beyond 20 %", "feasible, no rank", "not feasible")
GAPS: tuple[tuple[str, Fraction | None], ...] = (
    ("0", Fraction(0)), ("≤ 1 %", Fraction(1, 100)), ("≤ 5 %", Fraction(5, 100)), ("≤ 10 %", Fraction(10, 100)),
    ("≤ 20 %", Fraction(20, 100)), ("≤ 50 %", Fraction(50, 100)), ("≤ 100 %", Fraction(1)), ("> 100 %", None),
)  # fmt: skip


@dataclass(frozen=True, slots=True)
class Rate:
    """So many of so many, and a 95 % interval; `clustered`: by task, see above. Without any, 0 to 1."""

    hits: int
    of: int
    low: float
    high: float
    clustered: bool

    def content(self) -> dict[str, Any]:
        """As plain data; the interval as text, since it is not exact."""
        return {
            "hits": self.hits,
            "of": self.of,
            "interval": [f"{self.low:.4f}", f"{self.high:.4f}"],
            "clustered": self.clustered,
        }


@dataclass(frozen=True, slots=True)
class Summary:
    """What the verdicts on one agent's submissions come to.

    `feasible` and `optimal` are of the submissions to tasks that are not certified to have no plan, `refused` (rightly)
    of those to tasks that are. `gaps` are the relative gaps that are known, ascending; `median_gap` theirs. `places`
    by name as in PLACES, disjoint. `top`: how many of the `ranked` are among the best 5, 10, 20 %. `lenient`: feasible
    only because violations were ignored.
    """

    name: str
    submissions: int
    tasks: int
    kinds: Mapping[str, int]
    feasible: Rate
    optimal: Rate
    refused: Rate
    gaps: tuple[Fraction, ...]
    places: Mapping[str, int]
    top: Mapping[int, int]
    ranked: int
    lenient: int

    @property
    def median_gap(self) -> Fraction | None:
        """Half of the known relative gaps are at most this; the mean of the two in the middle of an even number."""
        return Fraction(median(self.gaps)) if self.gaps else None

    @property
    def gap_classes(self) -> dict[str, int]:
        """How many of the gaps are in each of GAPS."""
        found = dict.fromkeys((name for name, _ in GAPS), 0)
        for gap in self.gaps:
            found[next(name for name, most in GAPS if most is None or gap <= most)] += 1
        return found

    def content(self) -> dict[str, Any]:
        """As plain data."""
        return {
            "agent": self.name,
            "submissions": self.submissions,
            "tasks": self.tasks,
            "kinds": dict(self.kinds),
            "feasible": self.feasible.content(),
            "optimal": self.optimal.content(),
            "refused": self.refused.content(),
            "median_gap": None if self.median_gap is None else str(self.median_gap),
            "gaps": self.gap_classes,
            "places": dict(self.places),
            "top": {str(share): number for share, number in self.top.items()},
            "ranked": self.ranked,
            "lenient": self.lenient,
        }


@dataclass(frozen=True, slots=True)
class Broken:
    """A constraint or clause: how many submissions violate it, to how many tasks, and how many of them ignoring it."""

    name: str
    submissions: int
    tasks: int
    ignored: int


@dataclass(frozen=True, slots=True)
class Case:
    """A submission to look at, and where it comes from."""

    run: str
    row: Scored


def rate(outcomes: Iterable[tuple[str, bool]]) -> Rate:
    """The share of outcomes (task, hit) that are hits."""
    clusters: defaultdict[str, list[int]] = defaultdict(lambda: [0, 0])
    for task, hit in outcomes:
        clusters[task][0] += hit
        clusters[task][1] += 1
    hits, of = (sum(cluster[part] for cluster in clusters.values()) for part in (0, 1))
    if not of:
        return Rate(0, 0, 0.0, 1.0, clustered=False)
    clustered = len(clusters) < of
    size = Fraction(of)
    if clustered:
        size = _effective(list(clusters.values()), Fraction(hits, of), of)
    low, high = _wilson(hits / of, float(size))
    return Rate(hits, of, low, high, clustered)


def _effective(clusters: Sequence[Sequence[int]], share: Fraction, of: int) -> Fraction:
    """The number of independent outcomes that would leave as much open."""
    number = len(clusters)
    if number == 1 or share in (0, 1):
        return Fraction(number)
    spread = sum((hits - share * size) ** 2 for hits, size in clusters)
    variance = Fraction(number, number - 1) * spread / of**2
    return Fraction(of) if variance == 0 else min(Fraction(of), share * (1 - share) / variance)


def _wilson(share: float, size: float) -> tuple[float, float]:
    middle = (share + Z * Z / (2 * size)) / (1 + Z * Z / size)
    half = Z / (1 + Z * Z / size) * math.sqrt(share * (1 - share) / size + Z * Z / (4 * size * size))
    return (0.0 if share == 0 else max(0.0, middle - half)), (1.0 if share == 1 else min(1.0, middle + half))


def summaries(runs: Mapping[str, Sequence[Scored]]) -> list[Summary]:
    """A summary for each agent of each run, best first: by feasible, then optimal shares, then name.

    The name of a run that is not empty stands behind that of its agents.
    """
    groups: defaultdict[str, list[Scored]] = defaultdict(list)
    for run, rows in runs.items():
        for row in rows:
            groups[f"{row.agent} ({run})" if run else row.agent].append(row)
    found = [_summary(name, rows) for name, rows in groups.items()]
    return sorted(found, key=lambda item: (-_share(item.feasible), -_share(item.optimal), item.name))


def _share(found: Rate) -> Fraction:
    return Fraction(found.hits, found.of) if found.of else Fraction(0)


def _summary(name: str, rows: Sequence[Scored]) -> Summary:
    possible = [row for row in rows if row.status != "unsolvable"]
    kinds = Counter(row.kind.value for row in rows)
    places = Counter(place_of(row) for row in rows)
    ranked = [row.standing for row in rows if row.standing is not None]
    gaps = (row.ratio for row in rows)
    return Summary(
        name,
        len(rows),
        len({row.task for row in rows}),
        {kind.value: kinds[kind.value] for kind in VerdictKind if kinds[kind.value]},
        rate((row.task, row.feasible) for row in possible),
        rate((row.task, row.kind == VerdictKind.OPTIMAL) for row in possible),
        rate((row.task, row.kind == VerdictKind.CORRECT_REFUSAL) for row in rows if row.status == "unsolvable"),
        tuple(sorted(gap for gap in gaps if gap is not None)),
        {place: places[place] for place in PLACES},
        {share: sum(in_top(item, share) for item in ranked) for share in TOP},
        len(ranked),
        sum(row.feasible and bool(row.ignored) for row in rows),
    )


def place_of(row: Scored) -> str:
    """Which of PLACES a submission has."""
    if row.kind == VerdictKind.OPTIMAL:
        return PLACES[0]
    if not row.feasible:
        return PLACES[-1]
    if row.standing is None:
        return PLACES[-2]
    return next((f"best {share} %" for share in TOP if in_top(row.standing, share)), PLACES[4])


def broken(rows: Iterable[Scored]) -> list[Broken]:
    """The constraints and clauses that submissions violate, most often violated first."""
    count, ignored, tasks = Counter[str](), Counter[str](), defaultdict[str, set[str]](set)
    for row in rows:
        for name in {item.constraint for item in row.violations}:
            count[name] += 1
            ignored[name] += name in row.ignored
            tasks[name].add(row.task)
    return [
        Broken(name, number, len(tasks[name]), ignored[name])
        for name, number in sorted(count.items(), key=lambda item: (-item[1], item[0]))
    ]


def agreement(rows: Iterable[Scored]) -> dict[str, tuple[int, int, int]]:
    """By what others published of submissions: how many are optimal, feasible but not optimal, and not feasible."""
    found: defaultdict[str, list[int]] = defaultdict(lambda: [0, 0, 0])
    for row in rows:
        if row.published is not None:
            found[row.published][0 if row.kind == VerdictKind.OPTIMAL else 1 if row.feasible else 2] += 1
    return {
        name: (numbers[0], numbers[1], numbers[2])
        for name, numbers in sorted(found.items(), key=lambda item: (-sum(item[1]), item[0]))
    }


def gaps_by_unit(rows: Iterable[Scored]) -> dict[str, tuple[int, dict[int, int]]]:
    """By unit, the scale of the absolute gaps that are known, and how many submissions have each gap."""
    found: defaultdict[str, list[tuple[int, int]]] = defaultdict(list)
    for row in rows:
        if row.gap is not None:
            found[row.unit].append((narrow(row.gap), row.scale))
    scales = {unit: math.lcm(*(scale for _, scale in gaps)) for unit, gaps in found.items()}
    return {
        unit: (scales[unit], dict(sorted(Counter(gap * (scales[unit] // scale) for gap, scale in gaps).items())))
        for unit, gaps in sorted(found.items(), key=lambda item: (-len(item[1]), item[0]))
    }


def farthest(cases: Iterable[Case], most: int) -> list[Case]:
    """The feasible submissions with the greatest relative gaps that are not 0, greatest first; see `_distinct`."""
    worse = [(case.row.ratio or Fraction(0), case) for case in cases]
    ordered = sorted(((gap, case) for gap, case in worse if gap), key=lambda item: (-item[0], *_place(item[1])))
    return _distinct((case for _, case in ordered), most)


def most_broken(cases: Iterable[Case], most: int) -> list[Case]:
    """The plans that violate most constraints, most first; see `_distinct`."""
    wrong = (case for case in cases if case.row.kind == VerdictKind.VIOLATES)
    return _distinct(sorted(wrong, key=lambda case: (-len(case.row.violations), *_place(case))), most)


def _distinct(cases: Iterable[Case], most: int) -> list[Case]:
    """The first `most` cases, one for each task and agent."""
    found: dict[tuple[str, str, str], Case] = {}
    for case in cases:
        found.setdefault((case.run, case.row.agent, case.row.task), case)
    return list(found.values())[:most]


def _place(case: Case) -> tuple[str, str, str, int]:
    return case.row.task, case.row.agent, case.run, case.row.line


def case_content(case: Case) -> dict[str, Any]:
    """A case as plain data."""
    found = case.row.model_dump(mode="json", exclude_none=True)
    return {"run": case.run, **{name: wide(value) if type(value) is int else value for name, value in found.items()}}
