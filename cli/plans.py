"""`cobench solve` and `cobench score`: the best plan of a task, and how good another one is."""

from __future__ import annotations

import sys
from pathlib import Path
from typing import TYPE_CHECKING, Any

import rich_click as click

from ..schemas.errors import CertificateError, Disagreement, PlanError, Where
from ..schemas.source import MAX_BYTES
from .common import DATA, json_text, print_json, progress, say

if TYPE_CHECKING:
    from collections.abc import Sequence

    from ..datasets.opening import Dataset
    from ..schemas.certificate import Certificate
    from ..schemas.plan import Pick, Plan
    from ..schemas.problem import Problem
    from ..schemas.task import TaskFile
    from ..verification import Verification

_TASK = click.Path(path_type=Path)


@click.command()
@click.argument("task", type=_TASK)
@DATA
@click.option("--json", "as_json", is_flag=True, help="The plan as JSON.")
@click.option("-q", "--quiet", is_flag=True, help="No progress.")
def solve(task: Path, data: str | None, as_json: bool, quiet: bool) -> int:
    """Print the best plan of TASK as a plan file: the one with the least ids among equals, checked on the tables.

    \b
    cobench solve task.yaml > plan.yaml
    """
    from ..schemas.units import format_value
    from ..verification import verify

    with progress(quiet=quiet) as shown:
        result = verify(task, data, step=shown.begin)
    if result.refuted:
        raise _refuted(result)
    claims = result.certificate.claims
    if claims.optimum is None:
        say(f"no optimum: {result.undecided or 'the task has no plan'}", err=True)
        return 3 if result.undecided else 1
    if as_json:
        print_json({"picks": claims.optimum.plan.written()})
        return 0
    kind = result.problem.objective.type
    text = " ".join(result.problem.objective.text.text.split())  # a comment ends with its line
    say(f"# {text} is {format_value(int(claims.optimum.value), kind)}")
    say("picks:")
    for choice, picks in claims.optimum.plan.picks.items():
        say(f"  {choice}: {_written(picks, choice in result.problem.sets)}")
    return 0


def _written(picks: Sequence[Pick], several: bool) -> str:
    """The picks of a choice on a line of a plan file, which is YAML."""
    if not several:
        return json_text(picks[0].id)
    timed = any(pick.start is not None for pick in picks)
    return json_text([pick.model_dump(exclude_none=True) if timed else pick.id for pick in picks])


@click.command()
@click.argument("task", type=_TASK, required=False)
@click.argument("plan", metavar="PLAN", required=False)
@DATA
@click.option(
    "--certificate",
    type=_TASK,
    help="The task's certificate; without it the task is certified first. With --submissions: a folder of them.",
)
@click.option("--submissions", type=_TASK, metavar="FILE", help="Score many: a line of JSON for each submission.")
@click.option("--task", "tasks", type=_TASK, metavar="TASKS", help="With --submissions: a folder or file of tasks.")
@click.option("--out", type=_TASK, metavar="FILE", help="With --submissions: the verdicts, as .parquet or .jsonl.")
@click.option(
    "--ignore",
    multiple=True,
    metavar="CLAUSE",
    help="Do not count violations of this constraint or clause: budget, trip.lasts, '*.twice'. Repeatable.",
)
@click.option("--json", "as_json", is_flag=True, help="The verdict as JSON; with --submissions, the table.")
@click.option("-q", "--quiet", is_flag=True, help="No progress.")
def score(
    task: Path | None, plan: str | None, data: str | None, certificate: Path | None, submissions: Path | None,
    tasks: Path | None, out: Path | None, ignore: tuple[str, ...], as_json: bool, quiet: bool,
) -> int:  # fmt: skip
    """Give the exact verdict on PLAN (a YAML or JSON file, or - for stdin): violations, rank and gap to the optimum.

    A plan is `picks: {choice: offer id}`; `refusal: text` says that the task has no plan. Exit code 0 whenever there is
    a verdict, whatever it is.

    With --submissions, score thousands of answers of many agents to many tasks, from certificates alone. Each line is
    {"task": id, "agent": name, "answer": a plan, a refusal, text or null}; "published" may say what others said of it.

    A plan that breaks nothing but what --ignore names is called feasible, without an optimum or a rank.

    \b
    cobench score task.yaml plan.yaml --certificate certificates/task.cert.json
    cobench score --submissions runs.jsonl --task tasks/ --certificate certificates/ --out verdicts.parquet
    """
    if submissions is not None:
        if task is not None:
            raise click.UsageError("--submissions goes without TASK and PLAN; say --task TASKS")
        if tasks is None or certificate is None:
            raise click.UsageError("--submissions needs --task and --certificate")
        from .scoring import score_submissions

        return score_submissions(submissions, tasks, data, certificate, ignore, out, as_json, quiet)
    if tasks is not None or out is not None:
        raise click.UsageError("--task and --out go with --submissions")
    if task is None or plan is None:
        raise click.UsageError(f"Missing argument '{'TASK' if task is None else 'PLAN'}'.")
    return _score_one(task, plan, data, certificate, ignore, as_json, quiet)


def _score_one(
    task: Path, plan: str, data: str | None, certificate: Path | None, ignore: tuple[str, ...], as_json: bool,
    quiet: bool,
) -> int:  # fmt: skip
    from ..agent_runner.scoring import ignorable, score_text
    from ..schemas.problem import pose
    from ..schemas.task import load_task
    from ..solver.checker.check import open_data
    from ..verification import data_of
    from .scoring import require_ignorable

    text = read_plan(plan)
    file = load_task(task)
    dataset = data_of(file, data)
    problem = pose(file, dataset.manifest)
    require_ignorable(ignore, set(ignorable(problem)))
    with progress(quiet=quiet) as shown:
        shown.begin("reading tables")
        opened = open_data(dataset.folder, problem)
        if certificate is not None:
            known = certificate_of(certificate, problem, dataset, opened)
        else:
            known = _certified(file, dataset, shown.begin)
        shown.begin("scoring")
        verdict = score_text(text, plan, problem, opened, known, _ranker(problem, dataset, known), ignore)
    if as_json:
        print_json(verdict.model_dump(mode="json", exclude_none=True))
        return 0
    from .display import print_verdict

    print_verdict(verdict, problem)
    return 0


def _refuted(result: Verification) -> Disagreement:
    said = "; ".join(finding.detail for finding in result.refuted)
    return Disagreement(f"error: the checker refutes the engine: {said}")


def read_plan(plan: str) -> str:
    """The text of a plan file, or of standard input for `-`."""
    if plan == "-" and sys.stdin is None:
        raise PlanError("standard input is closed", where=Where(plan))
    try:
        with sys.stdin.buffer if plan == "-" else Path(plan).open("rb") as stream:
            content = stream.read(MAX_BYTES + 1)  # more than a submission may have, so that a larger one shows
    except OSError as fault:
        raise PlanError(f"cannot read the plan: {fault.strerror}", where=Where(plan)) from None
    # A submission that is not text is a submission all the same: what cannot be read becomes unparsable, not an error.
    return content.decode("utf-8-sig", errors="replace")


def picked_plan(name: str) -> Plan:
    """The plan in a file; PlanError when the file holds none."""
    from ..schemas.plan import Plan, parse_plan

    submission = parse_plan(read_plan(name), name)
    if not isinstance(submission, Plan):
        what = "the file is empty" if submission is None else "a refusal is no plan"
        raise PlanError(what, where=Where(name), hint="picks: {choice: offer id}")
    return submission


def _certified(file: TaskFile, dataset: Dataset, step: Any) -> Certificate:
    from ..verification import verify

    result = verify(file, dataset, step=step, survivors=False)
    if result.refuted:
        raise _refuted(result)
    return result.certificate


def certificate_of(path: Path, problem: Problem, dataset: Dataset, opened: Any) -> Certificate:
    """The certificate in a file, if it is about this task and these tables."""
    from ..agent_runner.matching import require_about
    from ..schemas.certificate import read_certificate

    try:
        content = path.read_bytes()
    except OSError as fault:
        raise CertificateError(f"cannot read the certificate: {fault.strerror}", where=Where(str(path))) from None
    found = read_certificate(content, str(path))
    require_about(found, str(path), problem, dataset, opened)
    return found


def _ranker(problem: Problem, dataset: Dataset, certificate: Certificate) -> Any:
    from ..solver.rank import scan_standing

    return lambda value: scan_standing(problem, dataset, certificate, value)
