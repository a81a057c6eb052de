"""`cobench explain`: why a task has no plan and the cheapest way out, what binds when it has, or what a plan breaks."""

from __future__ import annotations

import time
from collections.abc import Mapping
from dataclasses import dataclass, replace
from fractions import Fraction
from pathlib import Path
from typing import TYPE_CHECKING

import rich_click as click

from ..schemas.errors import TaskError, did_you_mean
from .common import DATA, print_json, progress
from .plans import picked_plan
from .verification import UNDECIDED, Seconds

if TYPE_CHECKING:
    from ..datasets.opening import Dataset
    from ..schemas.plan import Plan
    from ..schemas.problem import Constraint, Problem
    from ..solver.lower import Lowered
    from ..solver.outcome import Limits
    from .common import Progress

_PATH = click.Path(path_type=Path)


@dataclass(frozen=True, slots=True)
class Asked:
    """What the author wants to know: the threshold to move and in how many steps, what constraints are worth, and
    where a page about it is written.
    """

    threshold: str | None
    steps: int
    prices: Mapping[str, Fraction]
    html: Path | None


@click.command()
@click.argument("task", type=_PATH)
@click.option(
    "--plan", metavar="PLAN", help="Hold this plan (a file, or - for stdin) against every constraint instead."
)
@click.option("--threshold", metavar="NAME", help="The constraint whose threshold is moved; by default the tightest.")
@click.option(
    "--steps",
    "most",
    type=click.IntRange(1, 100_000),
    default=200,
    show_default=True,
    help="Of the optimum, on either side of the threshold.",
)
@click.option(
    "--price",
    "prices",
    multiple=True,
    metavar="NAME=PRICE",
    help="What a unit of a threshold costs, or dropping another constraint; drop:NAME=PRICE for dropping a threshold. "
    "Orders the ways out. Repeatable.",
)
@DATA
@click.option(
    "--time-limit", type=Seconds(min=0, max=10**9), metavar="SECONDS", help="What is open then is called unknown."
)
@click.option(
    "--html", type=_PATH, metavar="FILE", help="A page with figures, too: one file, nothing from the network."
)
@click.option("--json", "as_json", is_flag=True, help="Everything as JSON.")
@click.option("-q", "--quiet", is_flag=True, help="No progress.")
def explain(
    task: Path, plan: str | None, threshold: str | None, most: int, prices: tuple[str, ...], data: str | None,
    time_limit: float | None, html: Path | None, as_json: bool, quiet: bool,
) -> int:  # fmt: skip
    """Explain TASK: why it has no plan and what would help, or what binds when it has one.

    Without a plan: the constraints that cannot hold together, and the least changes that make the task possible, each
    with a plan as witness: every smallest set of constraints to drop, and for each threshold in it the least amount
    that it has to move instead. Changes that move two thresholds at once are not looked for.

    With a plan: the optimum without each constraint, and the optimum as a function of one threshold.

    \b
    cobench explain task.yaml --threshold budget
    cobench explain task.yaml --price budget=1 --price pool=40 --price drop:budget=300
    cobench explain task.yaml --plan expected.yaml
    """
    from ..schemas.problem import pose
    from ..schemas.task import load_task
    from ..solver.outcome import Limits
    from ..verification import data_of

    if plan is not None and (threshold is not None or prices or html is not None):
        raise click.UsageError("--plan goes without --threshold, --price and --html.")
    if html is not None:
        from ..report.page import require

        require()
    picked = None if plan is None else picked_plan(plan)
    file = load_task(task)
    dataset = data_of(file, data)
    if html is not None:
        from ..schemas.files import require_writable

        require_writable(html, [task, *dataset.files()])
    problem = pose(file, dataset.manifest)
    priced = _prices(prices, problem)
    _check_threshold(threshold, problem)
    with progress(quiet=quiet) as shown:
        shown.begin("reading tables")
        from ..solver.lower import lower

        lowered = lower(problem, dataset)
        if picked is not None:
            return _plan(file.task.title, problem, dataset, lowered, picked, as_json, shown)
        asked = Asked(threshold, most, priced, html)
        return _task(file.task.title, problem, dataset, lowered, asked, Limits(time_limit), as_json, shown)


def _plan(
    title: str, problem: Problem, dataset: Dataset, lowered: Lowered, plan: Plan, as_json: bool, shown: Progress
) -> int:
    from ..solver.certify import survivors_of
    from ..solver.checker.check import open_data
    from ..solver.checker.trace import trace
    from ..solver.questions.lost import where_lost

    found = trace(problem, open_data(dataset.folder, problem), plan)
    survivors = survivors_of(lowered)
    lost = where_lost(lowered, survivors, plan)
    shown.stop()
    if as_json:
        from ..schemas.plain import as_data

        first = next((item.constraint for item in found.broken), None)
        facts = {"feasible": found.feasible, "first": first, "survivors": survivors, "lost": lost}
        print_json({"task": problem.id, **as_data(found), **as_data(facts)})
    else:
        from .answers import print_trace

        print_trace(title, problem, found, survivors, lost)
    return 0


def _task(
    title: str, problem: Problem, dataset: Dataset, lowered: Lowered, asked: Asked, limits: Limits, as_json: bool,
    shown: Progress,
) -> int:  # fmt: skip
    from ..solver.questions.sensitivity import curve, is_threshold, sensitivity

    started = time.monotonic()
    shown.begin("leaving constraints out")
    found = sensitivity(problem, lowered, limits)
    moved = asked.threshold or found.tightest(problem)
    if moved is not None and found.status != "unknown":
        shown.begin(f"moving {moved}")
        found = replace(found, curve=curve(problem, lowered, moved, limits.left(started), asked.steps))
    claim, survivors, certificate = None, (), None
    if found.status == "unsolvable" or asked.html is not None:
        from ..schemas.certificate import Scope
        from ..solver.certify import certify_problem

        shown.begin("certifying")
        certified = certify_problem(problem, dataset, Scope(), limits.left(started), "scan", survivors=True)
        certificate, survivors = certified.certificate, certified.survivors
        claim = certificate.claims.conflicts
    shown.stop()
    ways = None
    if claim is not None and asked.prices:
        from ..solver.questions.prices import priced

        ways = priced(claim, problem, asked.prices)
        claim = claim.model_copy(update={"corrections": tuple(item.correction for item in ways)})
    if asked.html is not None and certificate is not None:
        from .pages import write_explanation

        write_explanation(asked.html, title, problem, certificate, found, survivors, ways)
        if not as_json:
            click.echo(f"page written: {asked.html}", err=True)
    if as_json:
        from ..schemas.expression import children
        from ..schemas.plain import as_data

        thresholds = {item.name: item.condition for item in problem.constraints if is_threshold(item)}
        facts = {
            "conflicts": claim,
            "prices": ways and [item.price for item in ways],
            "units": {name: next(children(node)).type for name, node in thresholds.items()},
            "survivors": survivors,
        }
        print_json({"task": problem.id, **as_data(found), **as_data(facts)})
    elif claim is not None:
        from .answers import print_unsolvable

        print_unsolvable(title, problem, claim, ways, survivors, found)
    else:
        from .answers import print_sensitivity

        print_sensitivity(title, problem, found)
    unfinished = found.open or (found.status == "unsolvable" and (claim is None or not claim.complete))
    return UNDECIDED if unfinished else 0


def _prices(texts: tuple[str, ...], problem: Problem) -> dict[str, Fraction]:
    """The prices by constraint; a usage error for what is none."""
    from ..schemas.units import parse_decimal
    from ..solver.questions.prices import DROP
    from ..solver.questions.sensitivity import is_threshold

    found: dict[str, Fraction] = {}
    for text in texts:
        name, equals, number = text.partition("=")
        price = parse_decimal(number)
        if not equals or price is None or price < 0:
            raise click.BadParameter(
                f"'{text}' is not like budget=1, pool=39.50 or drop:budget=300", param_hint="'--price'"
            )
        constraint = _constraint(name.removeprefix(DROP), problem)
        same = {name} if is_threshold(constraint) else {constraint.name, DROP + constraint.name}
        if same & found.keys():
            raise click.BadParameter(f"'{constraint.name}' has two prices", param_hint="'--price'")
        found[name] = price
    return found


def _constraint(name: str, problem: Problem) -> Constraint:
    names = [item.name for item in problem.constraints]
    if name not in names:
        raise TaskError(f"no constraint '{name}'", hint=did_you_mean(name, names, "constraints"))
    return problem.constraints[names.index(name)]


def _check_threshold(name: str | None, problem: Problem) -> None:
    """Refuses a constraint that is not one comparison of numbers by size: it cannot be moved by an amount."""
    from ..solver.questions.sensitivity import is_threshold

    if name is None:
        return
    constraint = _constraint(name, problem)
    if not is_threshold(constraint):
        others = [item.name for item in problem.constraints if is_threshold(item)]
        hint = f"thresholds of this task: {', '.join(others)}" if others else "this task has no threshold"
        raise TaskError(
            f"'{name}' is not one comparison of numbers, so it has no threshold",
            where=constraint.text.place(),
            hint=hint,
        )
