"""`cobench rank` and `cobench best`: where a plan stands among all feasible ones, and which are the best."""

from __future__ import annotations

from pathlib import Path
from typing import TYPE_CHECKING, Any

import rich_click as click

from ..schemas.errors import Disagreement
from .common import DATA, print_json, progress
from .plans import certificate_of, picked_plan
from .verification import UNDECIDED, Seconds

if TYPE_CHECKING:
    from ..datasets.opening import Dataset
    from ..schemas.problem import Problem
    from ..schemas.units import Type
    from ..solver.questions.best import Best
    from ..solver.questions.place import Order

_PATH = click.Path(path_type=Path)
NO_PLAN = "the task has no plan"


@click.command()
@click.argument("task", type=_PATH)
@click.argument("plan", required=False)
@click.option("--value", metavar="NUMBER", help="A value of the objective, instead of a plan: where would it stand?")
@click.option(
    "--certificate", type=_PATH, help="The task's certificate; without it, or its distribution, plans are counted."
)
@DATA
@click.option("--time-limit", type=Seconds(min=0, max=10**9), metavar="SECONDS", help="For counting.")
@click.option("--json", "as_json", is_flag=True, help="The place as JSON.")
@click.option("-q", "--quiet", is_flag=True, help="No progress.")
def rank(
    task: Path, plan: str | None, value: str | None, certificate: Path | None, data: str | None,
    time_limit: float | None, as_json: bool, quiet: bool,
) -> int:  # fmt: skip
    """Say where PLAN (a YAML or JSON file, or - for stdin) stands among all feasible plans of TASK.

    How many plans are better, equal and worse, the neighbouring values, and the value that the best 1, 5, 10 and 20 %
    reach. Exit code 1 when the plan has no rank, because it violates something; 3 when a limit ends the count.

    \b
    cobench rank task.yaml plan.yaml --certificate certificates/task.cert.json
    cobench rank task.yaml --value 1462.31
    """
    from ..schemas.problem import pose
    from ..schemas.task import load_task
    from ..solver.checker.check import evaluate, open_data
    from ..solver.outcome import Undecided
    from ..solver.questions.place import place
    from ..verification import data_of
    from .answers import print_place, print_unranked

    if (plan is None) == (value is None):
        raise click.UsageError("Give a plan, or a value with --value.")
    picked = None if plan is None else picked_plan(plan)
    file = load_task(task)
    dataset = data_of(file, data)
    problem = pose(file, dataset.manifest)
    kind = problem.objective.type
    own = _value(value, kind) if value is not None else None
    with progress(quiet=quiet) as shown:
        shown.begin("reading tables")
        opened = open_data(dataset.folder, problem) if picked is not None or certificate is not None else None
        if picked is not None and opened is not None:
            found = evaluate(problem, opened, picked)
            if not found.feasible or found.value is None:
                shown.stop()
                if as_json:
                    wrong = [item.model_dump(mode="json", exclude_none=True) for item in found.violations]
                    print_json({"task": problem.id, "unknown": list(found.unknown), "violations": wrong})
                else:
                    print_unranked(found)
                return 1
            own = found.value
        try:
            order = _order(certificate, problem, dataset, opened, time_limit, shown.begin)
            there = place(order, kind, problem.objective.maximize, own or 0) if order.total else None
        except Undecided:
            click.echo("undecided: a limit ended the count", err=True)
            return UNDECIDED
    if picked is not None and (there is None or not (there.standing.tied or problem.timed)):
        raise Disagreement(f"error: a feasible plan of {problem.id} is not among those counted")
    if there is None:
        click.echo(f"no rank: {NO_PLAN}", err=True)
        return 1
    if as_json:
        from ..schemas.plain import as_data

        print_json({"task": problem.id, **as_data(there)})
    else:
        print_place(problem.id, there)
    return 0


@click.command()
@click.argument("task", type=_PATH)
@click.option("-k", "most", type=click.IntRange(1, 100_000), default=10, show_default=True, help="How many plans.")
@DATA
@click.option("--time-limit", type=Seconds(min=0, max=10**9), metavar="SECONDS", help="For finding them.")
@click.option("--json", "as_json", is_flag=True, help="The plans as JSON.")
@click.option("-q", "--quiet", is_flag=True, help="No progress.")
def best(task: Path, most: int, data: str | None, time_limit: float | None, as_json: bool, quiet: bool) -> int:
    """List the best plans of TASK, best first, equal ones by their ids.

    A value is listed with all its plans or not at all: the list stops before a value that has more plans than there is
    room for, and says so. Only if the best value alone has more than asked for, the first of its plans are listed.

    \b
    cobench best task.yaml -k 20
    """
    from ..schemas.problem import pose
    from ..schemas.task import load_task
    from ..solver.lower import lower
    from ..solver.outcome import Limits, Undecided
    from ..solver.questions.best import best_plans
    from ..verification import data_of

    file = load_task(task)
    dataset = data_of(file, data)
    problem = pose(file, dataset.manifest)
    with progress(quiet=quiet) as shown:
        shown.begin("reading tables")
        lowered = lower(problem, dataset)
        shown.begin("counting plans")
        try:
            found = best_plans(lowered, problem.objective.type, most, Limits(time_limit))
        except Undecided:
            click.echo("undecided: a limit ended the search", err=True)
            return UNDECIDED
        shown.begin("checking plans")
        _check(found, problem, dataset)
    if not found.total:
        click.echo(NO_PLAN, err=True)
        return 1
    if as_json:
        from ..schemas.plain import as_data

        print_json({"task": problem.id, **as_data(found)})
    else:
        from .answers import print_best

        print_best(problem.id, found)
    return 0


def _value(text: str, kind: Type) -> int:
    """A number in the unit of the objective, as an integer in its scale."""
    from ..schemas.units import parse_decimal

    exact = parse_decimal(text)
    scaled = None if exact is None else exact * kind.scale
    if scaled is None or scaled.denominator != 1:
        raise click.BadParameter(
            f"'{text}' is no value of the objective; write it as in 1234.50", param_hint="'--value'"
        )
    return int(scaled)


def _order(
    certificate: Path | None, problem: Problem, dataset: Dataset, opened: Any, time_limit: float | None, begin: Any
) -> Order:
    """The order of all plans: from the certificate's distribution, else counted."""
    from ..solver.questions.place import Listed, order_of

    if certificate is not None:
        known = certificate_of(certificate, problem, dataset, opened)
        found = Listed([], "certificate") if known.claims.status.value == "unsolvable" else order_of(known)
        if found is not None:
            return found
    from ..solver.lower import lower
    from ..solver.outcome import Limits, Undecided
    from ..solver.questions.best import scanned_order

    begin("counting plans")
    if problem.sets:  # nothing scans them, so what a certificate lists has to do
        from ..schemas.certificate import Scope
        from ..solver.certify import certify_problem

        known = certify_problem(problem, dataset, Scope(), Limits(time_limit), "scan").certificate
        found = Listed([], "certificate") if known.claims.status.value == "unsolvable" else order_of(known)
        if found is None:
            raise Undecided
        return found
    model = lower(problem, dataset).model
    return scanned_order(model.kept(range(len(model.names))), Limits(time_limit))


def _check(found: Best, problem: Problem, dataset: Dataset) -> None:
    """Raises Disagreement when the checker values a listed plan otherwise."""
    from ..schemas.plan import Plan
    from ..solver.checker.check import evaluate, open_data

    opened = open_data(dataset.folder, problem)
    for plan in found.plans:
        evaluation = evaluate(problem, opened, Plan.of(plan.ids))
        if not evaluation.feasible or evaluation.value != plan.value:
            raise Disagreement(f"error: the checker does not confirm the plan {plan.ids} of {problem.id}")
