"""`cobench run`: agents talk with a simulated user about the tasks of a suite."""

from __future__ import annotations

import time
from decimal import Decimal
from pathlib import Path
from typing import TYPE_CHECKING, Literal

import rich_click as click

from ..schemas.errors import InputError, did_you_mean
from .common import COUNT, SEED, print_json, progress, require_agents, say

if TYPE_CHECKING:
    from collections.abc import Sequence

    from ..agent_runner.runs import Run
    from ..agent_runner.suites import Suite
    from ..schemas.run import RunFile

ALL = "all"
_PATH = click.Path(path_type=Path)


@click.command()
@click.argument("suite", metavar="SUITE")
@click.option("--agent", "agents", multiple=True, metavar="NAME", help="A built-in agent, or `all`. Repeatable.")
@click.option("--model", metavar="NAME", help="A model, as Inspect names it: openai/gpt-5, vllm/…")
@click.option("--user-model", metavar="NAME", help="A model that puts what the user decides into words.")
@click.option("--out", required=True, type=_PATH, metavar="DIR", help="The run; if it is there, it goes on.")
@click.option("--sample", is_flag=True, help="Only the tasks that stand for all of the suite.")
@click.option("--task", "tasks", multiple=True, metavar="ID", help="Only this task. Repeatable.")
@click.option("--limit", type=COUNT, metavar="N", help="Only the first N tasks of those.")
@click.option("--epochs", type=COUNT, default=1, show_default=True, help="Conversations about each task.")
@click.option("--seed", type=SEED, default=0, show_default=True, help="Of users and agents.")
@click.option("--turns", type=COUNT, default=30, show_default=True, help="Most messages of the user.")
@click.option("--max-calls", type=COUNT, metavar="N", help="Most calls of tools in a conversation.")
@click.option("--max-tokens", type=COUNT, metavar="N", help="Most tokens that a model reads and writes in one.")
@click.option("--cost-limit", metavar="USD", help="Most dollars that a model may cost in one.")
@click.option("--mode", type=click.Choice(["tools", "code"]), default="tools", show_default=True, help="Of a model.")
@click.option("--workers", type=COUNT, metavar="N", help="Worker processes.  [default: one a processor]")
@click.option("--report", "page", type=_PATH, metavar="FILE", help="Write the page about the run there.")
@click.option("--json", "as_json", is_flag=True, help="The summary as one line of JSON on stdout.")
@click.option("-q", "--quiet", is_flag=True, help="No progress.")
def run(
    suite: str, agents: tuple[str, ...], model: str | None, user_model: str | None, out: Path, sample: bool,
    tasks: tuple[str, ...], limit: int | None, epochs: int, seed: int, turns: int, max_calls: int | None,
    max_tokens: int | None, cost_limit: str | None, mode: Literal["tools", "code"], workers: int | None,
    page: Path | None, as_json: bool, quiet: bool,
) -> int:  # fmt: skip
    """Have agents talk with a simulated user about the tasks of SUITE, and score every turn exactly.

    SUITE is a name (`compass`) or a folder with a tasks.json. Built-in agents need no model and no network; --agent all
    runs all of them. What is finished is on the disk at once: the same command again goes on where it stopped, and
    refuses to mix in anything that was asked for otherwise.

    Exit code 0 when every conversation has an outcome, whatever it is; 3 when some have none, for a reason that is not
    the agent's (in DIR/unscored; they are tried again the next time).

    \b
    cobench run compass --agent all --sample --out runs/sample --report report.html
    cobench run compass --model openai/gpt-5 --epochs 5 --out runs/gpt-5
    """
    from ..agent_runner.runs import RUN, taken_by_runs
    from ..agent_runner.suites import open_suite
    from ..schemas.canonical import digest
    from ..schemas.files import require_writable
    from ..schemas.run import RunFile
    from ..schemas.version import VERSION

    if bool(agents) == (model is not None):
        raise click.UsageError("say either --agent NAME, or --model NAME")
    if model is not None:
        require_agents("cobench run --model", "anyio", "inspect_ai")
    opened = open_suite(suite)
    require_writable(out / RUN, taken=[*taken_by_runs(out), *opened.places()])
    if page is not None:
        from ..report.page import require

        require()
        _require_page(page, opened, out)
    some = _tasks(opened, tasks, sample, limit)
    named = _agents(agents) if model is None else (model,)
    _require_countable(len(some), len(named), epochs)
    facts = RunFile(
        version=VERSION,
        suite=opened.facts.name,
        suite_digest=digest(opened.facts.model_dump(mode="json")),
        tasks=some,
        agents=named,
        mode=mode,
        settings=_settings(model, user_model, mode),
        seed=seed,
        epochs=epochs,
        turns=turns,
        max_calls=max_calls,
        max_tokens=max_tokens,
        cost_limit=_dollars(cost_limit, model),
    )
    finished = _have_all(opened, facts, out, page, workers, quiet)
    if page is not None:
        from .run_pages import write_run_page

        write_run_page(page, f"{opened.facts.name}: {', '.join(facts.agents)}", [finished])
        say(f"page written: {page}", err=True)
    return _tell(finished, as_json)


def _require_page(page: Path, suite: Suite, out: Path) -> None:
    """Raises OutputError unless a page can be written there, which is nothing of the suite or of a run."""
    from ..agent_runner.runs import taken_by_runs
    from ..schemas.files import require_writable

    places = suite.places()
    require_writable(page, places, [*taken_by_runs(page, [out]), *places])


def _require_countable(tasks: int, agents: int, epochs: int) -> None:
    """Raises UsageError for more conversations than a run may have."""
    from ..schemas.run import MOST

    if (number := tasks * agents * epochs) > MOST:
        raise click.UsageError(f"--epochs {epochs}: {number:,} conversations, and a run has at most {MOST:,}")


def _tasks(suite: Suite, named: Sequence[str], sample: bool, limit: int | None) -> tuple[str, ...]:
    """The tasks that were asked for, in the order of the suite."""
    if named and sample:
        raise click.UsageError("--task and --sample exclude each other")
    for name in named:
        if name not in suite.facts.tasks:
            hint = did_you_mean(name, suite.facts.tasks, "tasks")
            raise InputError(f"no task '{name}' is in {suite.folder}", hint=hint)
    wanted = set(named or (suite.facts.sample if sample else suite.facts.tasks))
    found = tuple(task for task in suite.facts.tasks if task in wanted)[:limit]
    if not found:
        raise InputError(f"no task is left of {suite.folder}")
    return found


def _agents(named: Sequence[str]) -> tuple[str, ...]:
    """The built-in agents that were asked for, each once."""
    from ..agent_runner.baselines import BASELINES, SEARCHES, baseline, mode_of
    from ..agent_runner.coding.sandbox import SandboxError, sandbox

    found = dict.fromkeys(name for given in named for name in (BASELINES if given == ALL else [given]))
    for name in found:
        baseline(name, ())
    if {"budgeted", f"budgeted:{SEARCHES}"} <= found.keys():
        raise click.UsageError(f"budgeted and budgeted:{SEARCHES} are one agent")
    coding = [name for name in found if mode_of(name) == "code"]
    try:
        if coding:
            sandbox()
    except SandboxError as fault:
        if any(name in named for name in coding):
            raise
        say(f"without {', '.join(coding)}, which needs a sandbox: {fault}", err=True)
        found = {name: None for name in found if name not in coding}
    return tuple(found)


def _settings(model: str | None, user_model: str | None, mode: str) -> dict[str, str]:
    """What of the models decides what a conversation is."""
    if model is None:
        wrong = "--user-model" if user_model is not None else "--mode code" if mode != "tools" else ""
        if wrong:
            raise click.UsageError(f"{wrong} goes with --model")
        return {}
    return {"model": model} | ({} if user_model is None else {"user model": user_model})


def _dollars(text: str | None, model: str | None) -> str | None:
    """An amount of money in its one spelling."""
    if text is None:
        return None
    if model is None:
        raise click.UsageError("--cost-limit goes with --model")
    try:
        amount = Decimal(text)
    except ArithmeticError:
        amount = Decimal(0)
    if not (amount.is_finite() and 0 < amount <= 10**9):
        raise click.UsageError(f"--cost-limit {text}: an amount of dollars above 0 is needed")
    return f"{amount.normalize():f}"


def _have_all(
    suite: Suite, facts: RunFile, out: Path, page: Path | None, workers: int | None, quiet: bool
) -> Run:  # fmt: skip
    """Has all conversations that are left to be had, and returns the run with its tables written."""
    from ..agent_runner.batch import Job, grouped, require_cases, talk
    from ..agent_runner.runs import RUN, open_run

    if "model" in facts.settings and not (out / RUN).exists():
        from ..agent_runner.inspect.run import require_models

        require_models(facts)
    with open_run(out, facts) as folder, progress(quiet) as shown:
        shown.begin("reading tasks")
        order = grouped(suite, facts.tasks)
        require_cases(suite, order, folder, lambda done: shown.begin(f"{done:,} of {len(order):,} tasks looked at"))
        if page is not None:
            _require_page(page, suite, out)  # again: now the tables are known, too
        started = time.monotonic()

        def tick(done: int, total: int) -> None:
            rate = done / max(time.monotonic() - started, 1e-9)
            shown.begin(f"{done:,} of {total:,} conversations, {rate:,.1f} a second")

        if "model" in facts.settings:
            from ..agent_runner.inspect.run import run_model

            run_model(suite, folder, tick)
        else:
            talk(Job(str(suite.folder.resolve()), facts), order, folder, workers, tick)
        shown.begin("writing tables")
        return folder.finish()


def _tell(run: Run, as_json: bool) -> int:
    """Shows what came of the run; its exit code."""
    from .run_display import print_run, run_content

    if as_json:
        print_json(run_content(run))
    else:
        print_run(run)
    if run.unscored:
        first = run.unscored[0]
        say(
            f"{len(run.unscored):,} conversations have no outcome, first {first.agent} on {first.task}: {first.reason}",
            err=True,
        )
        return 3
    return 0
