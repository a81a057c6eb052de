"""Pages with figures: what `explain` says of a task, for people who would rather look than read."""

from __future__ import annotations

from collections.abc import Iterator, Sequence
from pathlib import Path
from typing import TYPE_CHECKING

from ..report.charts import bars_chart, distribution_chart, funnel_chart, sets_chart, steps_chart
from ..report.page import Figure, Grid, Section, page
from ..schemas.canonical import narrow
from ..schemas.certificate import Certificate, ConflictsClaim, distribution_pairs
from ..schemas.files import write_atomically
from ..schemas.units import Type, format_value
from ..solver.questions.place import TOP, order_of
from .display import correction_text, exact

if TYPE_CHECKING:
    from ..schemas.problem import Problem
    from ..solver.certify import Survivors
    from ..solver.questions.place import Order
    from ..solver.questions.prices import Priced
    from ..solver.questions.sensitivity import Curve, Sensitivity

_MOST_SETS = 60  # rows of a figure; its table has them all
_MOST_BARS = 500  # values in the table of a distribution


def write_explanation(
    path: Path, title: str, problem: Problem, certificate: Certificate, found: Sensitivity,
    survivors: tuple[Survivors, ...], ways: Sequence[Priced] | None = None,
) -> None:  # fmt: skip
    """Writes the page about one task; `ways`: the ways out of one without a plan in the order of their prices."""
    claims, order = certificate.claims, order_of(certificate)
    sections = [
        *_headline(problem, certificate, order),
        *_distribution(problem, certificate, order),
        *_influences(found),
        *(_curve(problem, found.curve, found.objective) if found.curve is not None else ()),
        *(_conflicts(problem, claims.conflicts, ways) if claims.conflicts is not None else ()),
        *_survivors(survivors),
    ]
    write_atomically(path, page(problem.id, title, sections).encode())


def _headline(problem: Problem, certificate: Certificate, order: Order | None) -> Iterator[Section]:
    claims, kind = certificate.claims, problem.objective.type
    rows = [("status", claims.status.value)]
    best = claims.optimum or claims.incumbent
    if claims.optimum is not None:
        rows.append(("optimum", format_value(narrow(claims.optimum.value), kind)))
        rows.append(("plans that reach it", f"{narrow(claims.optimum.tied):,}"))
        if claims.optimum.runner_up is not None:
            rows.append(("next best", format_value(narrow(claims.optimum.runner_up), kind)))
    for choice, picks in best.plan.picks.items() if best is not None else ():
        rows.append((f"best {choice}", " ".join(pick.id for pick in picks)))
    if claims.count is not None:
        low, high = narrow(claims.count.at_least), narrow(claims.count.at_most)
        rows.append(("feasible plans", f"{low:,}" if low == high else f"{low:,} to {high:,}"))
    if order is not None and order.total:
        rows.extend(
            (f"the best {percent} % reach", format_value(value, kind)) for percent, value in _cuts(problem, order)
        )
    constraints = tuple((item.name, item.text.text) for item in problem.constraints)
    yield Section("In short", grid=Grid(("", ""), tuple(rows)))
    goal = f"{'maximize' if problem.objective.maximize else 'minimize'} {problem.objective.text.text}"
    yield Section("The task", goal, grid=Grid(("constraint", "requires"), constraints))


def _cuts(problem: Problem, order: Order) -> list[tuple[int, int]]:
    sign = -1 if problem.objective.maximize else 1
    places = order.at([-(-percent * order.total // 100) for percent in TOP])
    return [(percent, sign * value) for percent, value in zip(TOP, places, strict=True)]


def _distribution(problem: Problem, certificate: Certificate, order: Order | None) -> Iterator[Section]:
    claim, kind = certificate.claims.distribution, problem.objective.type
    pairs = distribution_pairs(claim) if claim is not None else []
    if not pairs or order is None:
        return
    marks = {"optimum": pairs[0][0]} | {f"best {percent} %": value for percent, value in _cuts(problem, order)}
    alt = (
        f"{order.total:,} plans by value, from {format_value(pairs[0][0], kind)} (the optimum) to "
        f"{format_value(pairs[-1][0], kind)}"
    )
    spec = distribution_chart(pairs, kind.scale, _axis(problem.objective.text.text, kind), marks)
    rows = tuple((format_value(value, kind), f"{number:,}") for value, number in pairs[:_MOST_BARS])
    more = "" if len(pairs) <= _MOST_BARS else f" The table has the best {_MOST_BARS:,} of {len(pairs):,} values."
    grid = Grid(("value", "plans"), rows, frozenset((0, 1)))
    yield Section("All feasible plans by value", alt + "." + more, Figure(spec, alt), grid)


def _influences(found: Sensitivity) -> Iterator[Section]:
    if not found.influences:
        return
    kind = found.objective
    bars = [
        (item.constraint, item.gain / kind.scale, format_value(item.gain, kind))
        for item in found.influences
        if item.gain is not None
    ]
    rows = tuple(
        (
            item.constraint,
            "unknown" if item.value is None else format_value(item.value, kind),
            "unknown" if item.gain is None else format_value(item.gain, kind),
            "unknown" if item.removed is None else f"{item.removed:,}",
            item.reason or ("the others imply it" if item.redundant else ""),
        )
        for item in found.influences
    )
    alt = "How much better the optimum is without each constraint, all others holding"
    grid = Grid(("constraint", "optimum without", "gain", "plans it keeps out", ""), rows, frozenset((1, 2, 3)))
    figure = Figure(bars_chart(bars, _axis("gain", kind)), alt) if bars else None
    yield Section("What binds", alt + ".", figure, grid)


def _curve(problem: Problem, curve: Curve, kind: Type) -> Iterator[Section]:
    steps = curve.steps.steps
    if not steps:
        return
    unit = curve.unit

    def across(loosened: int) -> int:
        threshold = curve.threshold(loosened)
        return loosened if threshold is None else threshold

    points = [(across(step.loosened) / unit.scale, step.value / kind.scale) for step in steps]
    label = f"{curve.constraint} {curve.comparison or 'loosened by'}"
    spec = steps_chart(
        points, across(0) / unit.scale, _axis(label, unit), _axis("optimum", kind), "right" if curve.upper else "left"
    )
    (constraint,) = (item for item in problem.constraints if item.name == curve.constraint)
    alt = (
        f"The optimum as a step function of {curve.constraint} ({constraint.text.text}): {_count(len(steps), 'step')}, "
        f"possible from {format_value(across(steps[0].loosened), unit)} on"
    )
    goes_on = "" if curve.steps.from_first and curve.steps.to_last else " It goes on beyond what is drawn."
    rows = tuple((format_value(across(step.loosened), unit), format_value(step.value, kind)) for step in steps)
    grid = Grid((label, "optimum"), rows, frozenset((0, 1)))
    yield Section(f"The optimum against {curve.constraint}", f"{alt}.{goes_on}", Figure(spec, alt), grid)


def _conflicts(problem: Problem, claim: ConflictsClaim, ways: Sequence[Priced] | None) -> Iterator[Section]:
    corrections = claim.corrections if ways is None else [way.correction for way in ways]
    prices = [("none" if way.price is None else exact(way.price),) for way in ways or ()]
    choices = list(corrections[0].plan.picks) if corrections else []
    lines: list[tuple[str, ...]] = []
    before: dict[str, str] = {}
    for number, item in enumerate(corrections):
        ids = {choice: " ".join(pick.id for pick in picks) for choice, picks in item.plan.picks.items()}
        said = ("″" if ids[choice] == before.get(choice) else ids[choice] for choice in choices)
        lines.append((*(prices[number] if prices else ()), correction_text(item, problem), *said))
        before = ids
    more = "" if claim.complete else " There may be others: a limit ended the search."
    head = (*(("price",) if prices else ()), "change", *(f"a plan then: {choice}" for choice in choices))
    yield Section("Any one of these makes it possible", more.strip(), grid=Grid(head, tuple(lines)))
    sets = [names for names in claim.conflicts if names]
    names = [item.name for item in problem.constraints if any(item.name in conflict for conflict in sets)]
    number = len(claim.conflicts)
    alt = f"{number:,} minimal set{'s' if number != 1 else ''} of constraints that cannot hold together"
    figure = Figure(sets_chart(names, sets[:_MOST_SETS], "conflict"), alt) if sets else None
    listed = tuple(
        (f"{number}", ", ".join(conflict) or "no offers at all") for number, conflict in enumerate(claim.conflicts, 1)
    )
    yield Section("What cannot hold together", f"{alt}.{more}", figure, Grid(("", "constraints"), listed))


def _survivors(survivors: tuple[Survivors, ...]) -> Iterator[Section]:
    if not survivors:
        return
    panels = {
        item.choice: [
            ("offers", item.offers),
            *((name, item.together[name]) for name in item.alone if item.alone[name] < item.offers),
        ]
        for item in survivors
    }
    names = list(survivors[0].alone)
    rows = tuple((name, *(f"{item.alone[name]:,} / {item.together[name]:,}" for item in survivors)) for name in names)
    alt = "Rows of each choice that are left, filter by filter"
    head = ("constraint", *(item.choice for item in survivors))
    grid = Grid(head, rows, frozenset(range(1, len(head))))
    text = "Rows that are left, filter by filter; in the table: rows that pass it alone / with those above."
    yield Section("Where the offers go", text, Figure(funnel_chart(panels), alt), grid)


def _count(number: int, noun: str) -> str:
    return f"{number:,} {noun}{'s' if number != 1 else ''}"


def _axis(label: str, kind: Type) -> str:
    return f"{label} ({kind.unit})" if kind.unit else label
