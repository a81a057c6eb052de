"""`cobench prove`: a proof of the optimum, or that there is no plan, for those who do not want to trust cobench."""

from __future__ import annotations

from pathlib import Path

import rich_click as click

from .common import DATA, print_json, progress, say
from .verification import Seconds

UNDECIDED = 3


@click.command()
@click.argument("task", type=click.Path(path_type=Path))
@click.option("--out", required=True, metavar="DIR", type=click.Path(path_type=Path), help="Folder for the proof.")
@DATA
@click.option(
    "--time-limit", type=Seconds(min=0, max=10**9), metavar="SECONDS", help="What is open then stays undecided."
)
@click.option("--json", "as_json", is_flag=True, help="What was proved, as JSON.")
@click.option("-q", "--quiet", is_flag=True, help="No progress.")
def prove(task: Path, out: Path, data: str | None, time_limit: float | None, as_json: bool, quiet: bool) -> int:
    """Write a proof that the best plan of TASK is best, or that there is none, which anybody can check.

    DIR gets the problem (OPB) and the proof (VeriPB), what the variables stand for, every offer that was left out with
    the reason, and check_plan.py, which checks any plan on the tables and needs only pyarrow. Exit code 0: both were
    checked; 3: a limit was reached, and nothing was written.

    \b
    cobench prove task.yaml --out proof
    python -m cobench.solver.proofs.proof_check proof/problem.opb proof/proof.pbp
    """
    from ..schemas.canonical import wide
    from ..schemas.errors import Disagreement
    from ..schemas.files import write_atomically
    from ..schemas.plan import Plan
    from ..schemas.problem import pose
    from ..schemas.task import load_task
    from ..schemas.units import format_value
    from ..solver.checker.check import evaluate, open_data
    from ..solver.checker.vendor import NAME, plan_checker
    from ..solver.outcome import Limits, Undecided
    from ..solver.proofs.proof_files import write_proof
    from ..verification import data_of

    file = load_task(task)
    dataset = data_of(file, data)
    problem = pose(file, dataset.manifest)
    objective = problem.objective
    with progress(quiet) as shown:
        shown.begin("reading tables")
        try:
            proved = write_proof(problem, dataset, out, Limits(time_limit), shown.begin)
        except Undecided as open_question:
            say(f"undecided: {open_question}; nothing was written", err=True)
            return UNDECIDED
        shown.begin("looking the plan up in the tables")
        opened = open_data(dataset.folder, problem)
        if proved.plan is not None:
            worth = evaluate(problem, opened, Plan.of(proved.plan))
            if worth.violations or worth.value != proved.optimum:
                raise Disagreement("error: on the tables the plan is not what the proof says")
        write_atomically(out / NAME, plan_checker(problem, opened).encode())
    if as_json:
        found = {"id": problem.id, "accepted": True, "status": "unsolvable" if proved.plan is None else "solvable"}
        value = {} if proved.optimum is None else {"optimum": wide(proved.optimum), "plan": proved.plan}
        sizes = {name: {"passing": passing, "variables": left} for name, (passing, left) in proved.choices.items()}
        unit = {"unit": objective.type.unit, "scale": objective.type.scale}
        print_json({
            **found, **value, "objective": unit, "choices": sizes, "steps": proved.steps, "bytes": proved.size,
            "files": [*map(str, proved.files), str(out / NAME)],
        })  # fmt: skip
        return 0
    if proved.optimum is None:
        say(f"{problem.id}: that there is no plan is proved and checked")
    else:
        value = format_value(proved.optimum, objective.type)
        say(f"{problem.id}: the optimum {value} is proved and checked")
    for name, (passing, left) in proved.choices.items():
        say(f"  {name}: {left:,} of {passing:,} offers are left after reduction")
    say(f"  proof: {proved.steps:,} steps, {proved.size:,} bytes, in {out}")
    return 0
