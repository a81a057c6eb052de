"""What people read when they ask about all plans: a place, the best plans, what binds, a plan held against a task."""

from __future__ import annotations

from collections.abc import Sequence
from fractions import Fraction
from typing import TYPE_CHECKING

from rich import box
from rich.table import Table
from rich.text import Text

from ..schemas.canonical import narrow
from ..schemas.units import Type, format_value
from .chart import MARK, step_chart
from .common import console
from .display import exact, percent, print_conflicts, survivors_table
from .tables import show

if TYPE_CHECKING:
    from rich.console import Console

    from ..schemas.certificate import ConflictsClaim
    from ..schemas.problem import Problem
    from ..solver.certify import Survivors
    from ..solver.checker.check import Evaluation
    from ..solver.checker.trace import Trace, Traced
    from ..solver.questions.best import Best
    from ..solver.questions.lost import Lost
    from ..solver.questions.place import Level, Place
    from ..solver.questions.prices import Priced
    from ..solver.questions.sensitivity import Curve, Influence, Sensitivity

_STEPS = 24  # on a terminal; the JSON has them all
_NOW = {True: "bold", False: None}


def print_place(task: str, place: Place) -> None:
    """Where a value stands."""
    out = console()
    kind, standing = place.objective, place.standing
    better, tied, worse, total = (
        narrow(number) for number in (standing.better, standing.tied, standing.worse, standing.total)
    )
    out.print(Text.assemble((task, "bold"), f"  {format_value(place.value, kind)} among {_plans(total)}"))
    table = _facts()
    if tied:
        shared = f", shared by {_plans(tied)}" if tied > 1 else ""
        table.add_row("rank", f"{better + 1:,} of {total:,}{shared}")
    else:
        table.add_row("rank", f"would be {better + 1:,}: no plan has this value")
    table.add_row("better", f"{_plans(better)} ({percent(Fraction(better, total))})")
    table.add_row("worse", f"{_plans(worse)} (percentile {_floor(place.percentile)})")
    table.add_row("optimum", format_value(place.optimum, kind))
    if place.gap >= 0:
        share = f" ({percent(Fraction(place.gap, abs(place.optimum)))})" if place.optimum else ""
        table.add_row("gap", format_value(place.gap, kind) + share)
    else:
        table.add_row("gap", f"none: {format_value(-place.gap, kind)} better than the optimum")
    table.add_row("next better", _level(place.better, kind))
    table.add_row("next worse", _level(place.worse, kind))
    sign = -1 if place.maximize else 1
    for cut in place.cuts:
        inside = sign * place.value <= sign * cut.value
        mark = Text("in", style="green") if inside else Text("not in")
        reach = f"{format_value(cut.value, kind)} or better, {_plans(cut.plans)}"
        table.add_row(f"top {cut.percent} %", Text.assemble(mark, f": {reach}"))
    told = "read from the certificate's distribution" if place.source == "certificate" else "counted by the scan"
    table.add_row("source", told)
    show(out, table)


def print_unranked(found: Evaluation) -> None:
    """Why a plan has no rank."""
    out = console()
    if found.unknown:
        out.print(Text("no rank: " + "; ".join(found.unknown), style="bold red"))
        return
    names = ", ".join(item.constraint for item in found.violations)
    out.print(Text(f"no rank: violates {names}", style="bold red"))
    table = _facts()
    for item in found.violations:
        table.add_row(Text(item.constraint, style="red"), Text(item.detail))
    show(out, table)


def print_best(task: str, best: Best) -> None:
    """The best plans, one a line."""
    out = console()
    kind, shown = best.objective, len(best.plans)
    head = f"the best {shown:,} of {_plans(best.total)}" if shown else "no plan"
    out.print(Text.assemble((task, "bold"), f"  {head}"))
    table = Table(box=box.SIMPLE)
    table.add_column("rank", justify="right")
    table.add_column("value", justify="right")
    for choice in best.plans[0].ids:
        table.add_column(choice, overflow="fold")
    first = 0
    for number, plan in enumerate(best.plans):
        if plan.value != best.plans[first].value:
            first = number
        table.add_row(f"{first + 1:,}", format_value(plan.value, kind), *map(Text, plan.ids.values()))
    show(out, table)
    if best.cut is not None:
        out.print(f"The best value is shared by {_plans(best.cut.plans)}; these are the first {shown:,} by their ids.")
    elif best.next is None:
        out.print("These are all plans.")
    else:
        value, number = format_value(best.next.value, kind), best.next.plans
        room = best.asked - shown
        why = f"not {number:,} more, so the list stops here" if 0 < room < number else ""
        said = f"The next value is {value}, with {_plans(number)}"
        out.print(f"{said}: there is room for {room:,}, {why}." if why else f"{said}.")


def print_sensitivity(title: str, problem: Problem, found: Sensitivity) -> None:
    """What binds in a solvable task, and the curve if there is one."""
    out = console()
    kind = found.objective
    out.print(Text.assemble((problem.id, "bold"), f"  {title}"))
    if found.status != "solvable":
        said = {
            "unsolvable": "unsolvable, but a limit ended the search for why",
            "unknown": "undecided: a limit ended the scan",
        }[found.status]
        out.print(Text(said, style="bold yellow"))
        return
    best = "unknown" if found.optimum is None else format_value(found.optimum, kind)
    number = "an unknown number of plans" if found.plans is None else _plans(found.plans)
    out.print(f"solvable: {number}, optimum {best}")
    if found.influences:
        out.print()
        show(out, _influences(found))
    redundant = [item.constraint for item in found.influences if item.redundant]
    if redundant:
        each = ", each on its own" if len(redundant) > 1 else ""
        out.print(f"Redundant{each}: {', '.join(redundant)} (the others imply it: no plan more without it).")
    free = [item.constraint for item in found.influences if item.gain == 0 and not item.redundant]
    if free:
        out.print(f"Keep{'s' if len(free) == 1 else ''} plans out, but none that is better: {', '.join(free)}.")
    out.print()
    if found.curve is None:
        out.print(f"No threshold binds. {_others(problem)}".rstrip())
    else:
        print_curve(out, problem, found.curve, kind)


def _influences(found: Sensitivity) -> Table:
    """A row per constraint."""
    table = Table(box=box.SIMPLE, title="each constraint alone left out, all others kept", title_justify="left")
    table.add_column("without")
    for name in ("optimum", "gain", "plans more"):
        table.add_column(name, justify="right")
    if any(item.reason for item in found.influences):
        table.add_column("")
    for item in found.influences:
        table.add_row(*_influence(item, found.objective), item.reason)
    return table


def _influence(item: Influence, kind: Type) -> list[Text | str]:
    gain = Text("unknown" if item.gain is None else "–" if item.gain == 0 else format_value(item.gain, kind))
    if item.gain:
        gain.stylize("bold")
    removed = "unknown" if item.removed is None else f"{item.removed:,}" if item.removed else "–"
    return [item.constraint, "unknown" if item.value is None else format_value(item.value, kind), gain, removed]


def print_curve(out: Console, problem: Problem, curve: Curve, kind: Type) -> None:
    """The optimum against one threshold: a chart, and the steps nearest to the threshold as it is."""
    (constraint,) = (item for item in problem.constraints if item.name == curve.constraint)
    found = curve.steps
    out.print(Text.assemble("optimum against ", (curve.constraint, "bold"), f"  ({constraint.text.text})"))
    if not found.steps:
        why = f"unknown ({found.stopped})" if found.stopped else "no value of it makes the task possible"
        out.print(f"  {why}")
        return
    for line in _chart(curve, kind, out.width):
        out.print(Text(line))
    show(out, _steps_table(curve, kind))
    count = len(found.steps)
    sides = [side for side, ended in (("tighter", found.from_first), ("looser", found.to_last)) if not ended]
    if found.stopped or sides:
        why = f"a limit ended the search ({found.stopped})" if found.stopped else "more than were asked for"
        computed = f"{count:,} step{'s' if count > 1 else ''} computed"
        out.print(f"{computed}; it goes on where the threshold is {' and '.join(sides)}: {why}.")
        return
    first, last = (_at(curve, found.steps[place].loosened) for place in (0, -1))
    if count == 1:
        out.print(f"One step: the task is possible from {first} on, and loosening it further changes nothing.")
    else:
        out.print(f"{count:,} steps: the task is possible from {first} on; beyond {last} loosening helps no more.")


def _chart(curve: Curve, kind: Type, width: int) -> list[str]:
    """The chart with its axis: the threshold loosens to the right, also where loosening lowers it."""
    points = [(step.loosened, step.value) for step in curve.steps.steps]
    lines = step_chart(points, 0, lambda value: format_value(value, kind), min(width, 100) - 2)
    if not lines:
        return []
    margin = lines[0].index("┤")
    axis = " " * margin + "└" + "─" * (max(map(len, lines)) - margin - 1)
    first, last = min(points[0][0], 0), max(points[-1][0], 0)
    now = "as it is" if curve.limit is None else f"at {_at(curve, 0)}, as it is"
    said = f"{' ' * margin} {_name(curve)} {_at(curve, first)} … {_at(curve, last)}, looser to the right; {MARK} {now}"
    return ["", *lines, axis, said]


def _steps_table(curve: Curve, kind: Type) -> Table:
    """The steps, or where there are many the first, the last, and those around the threshold as it is."""
    steps = curve.steps.steps
    table = Table(box=box.SIMPLE)
    if curve.limit is not None:
        table.add_column(_name(curve), justify="right")
    table.add_column("change" if curve.limit is not None else "loosened by", justify="right")
    table.add_column("optimum", justify="right")

    def row(loosened: int, optimum: str) -> None:
        change = format_value(loosened if curve.upper else -loosened, curve.unit)
        cells = [change, optimum + ("" if loosened else " (now)")]
        table.add_row(*([_at(curve, loosened)] if curve.limit is not None else []), *cells, style=_NOW[loosened == 0])

    before = [place for place, step in enumerate(steps) if step.loosened <= 0]
    now = before[-1] if before else -1
    between = steps[now].loosened < 0 if before else curve.steps.from_first  # else a step is there, or nothing is known
    if between and not before:
        row(0, "no plan")
    previous = -1
    for place in _nearest(len(steps), max(now, 0)):
        if place != previous + 1:
            table.add_row(*["…"] * len(table.columns))
        previous, step = place, steps[place]
        row(step.loosened, format_value(step.value, kind))
        if between and place == now:
            row(0, format_value(step.value, kind))
    return table


def _name(curve: Curve) -> str:
    """The threshold as the constraint has it: `rating >=`; what it is loosened by where there is no constant."""
    return f"{curve.constraint} {curve.comparison or 'loosened by'}"


def _nearest(count: int, place: int) -> list[int]:
    """The first and the last of `count` places, and those around `place`, so many that a terminal holds them."""
    if count <= _STEPS:
        return list(range(count))
    start = min(max(place - _STEPS // 2, 1), count - _STEPS + 1)
    return sorted({0, count - 1, *range(start, start + _STEPS - 2)})


def _at(curve: Curve, loosened: int) -> str:
    """The threshold when loosened so far; the amount itself where it is no constant."""
    value = curve.threshold(loosened)
    return format_value(loosened if value is None else value, curve.unit)


def _others(problem: Problem) -> str:
    """Which thresholds one could ask for."""
    from ..solver.questions.sensitivity import is_threshold

    names = [item.name for item in problem.constraints if is_threshold(item)]
    return f"--threshold shows the steps of {' or '.join(names)}." if names else ""


def print_unsolvable(
    title: str, problem: Problem, claim: ConflictsClaim, ways: Sequence[Priced] | None,
    survivors: tuple[Survivors, ...], found: Sensitivity,
) -> None:  # fmt: skip
    """Why there is no plan, the ways out, with prices where they have some, and where the rows go."""
    out = console()
    out.print(Text.assemble((problem.id, "bold"), f"  {title}"))
    notes = ["no price" if way.price is None else f"price {exact(way.price)}" for way in ways or ()]
    print_conflicts(out, claim, problem, notes)
    if survivors:
        show(out, survivors_table(survivors))
    if found.curve is not None:
        print_curve(out, problem, found.curve, found.objective)


def print_trace(
    title: str, problem: Problem, trace: Trace, survivors: tuple[Survivors, ...], lost: Sequence[Lost]
) -> None:
    """Every constraint with what the plan has there, the first broken one marked; and where its rows drop out."""
    out = console()
    out.print(Text.assemble((problem.id, "bold"), f"  {title}"))
    for reason in trace.unknown:
        out.print(Text(f"no offer  {reason}", style="bold red"))
    broken = len(trace.broken)
    still = sum(item.holds is None for item in trace.constraints)
    if trace.feasible:
        value = "unknown" if trace.value is None else format_value(trace.value, trace.objective)
        out.print(Text(f"satisfies every constraint, value {value}", style="bold green"))
    else:
        said = [f"breaks {broken} of {len(trace.constraints)} constraints"] if broken or not still else []
        said += [f"{still} cannot be told without that offer"] if still else []
        out.print(Text("; ".join(said), style="bold red"))
    out.print()
    table = Table(box=None, show_header=False, padding=(0, 2, 0, 2))
    first = next((item for item in trace.constraints if item.holds is False), None)
    for item in trace.constraints:
        mark = {True: Text("ok", style="green"), None: Text("?", style="yellow"), False: Text("broken", style="red")}
        place = Text("first", style="bold red") if item is first and broken > 1 else Text("")
        table.add_row(mark[item.holds], Text(item.constraint), Text(_said(item)), place)
    show(out, table)
    if survivors:
        show(out, survivors_table(survivors))
    for item in lost:
        if item.constraint is None:
            out.print(Text(f"{item.choice} {item.offer} passes everything that is about {item.choice} alone."))
        else:
            out.print(
                Text(
                    f"{item.choice} {item.offer} drops out at {item.constraint}: {item.before:,} were left before it, "
                )
                + Text(f"{item.after:,} are after it.")
            )


def _said(item: Traced) -> str:
    """What a constraint saw in the plan."""
    if item.holds is False and item.detail:
        return item.detail
    values = ", ".join(f"{fact.text} is {fact.value}" for fact in item.facts) or item.text
    if not item.holds or item.slack is None:
        return values
    return f"{values}: {format_value(item.slack, item.unit)} to spare" if item.slack else f"{values}: just enough"


def _facts() -> Table:
    return Table(box=None, show_header=False, padding=(0, 2, 0, 2))


def _plans(number: int) -> str:
    return "1 plan" if number == 1 else f"{number:,} plans"


def _level(level: Level | None, kind: Type) -> str:
    return "none" if level is None else f"{format_value(level.value, kind)} ({_plans(level.plans)})"


def _floor(share: Fraction) -> str:
    hundredths = int(share * 100 // 1)
    return f"{hundredths // 100}.{hundredths % 100:02d}"
