"""The conversations of a run with a model, had under Inspect and kept in the run's folder one by one."""

from __future__ import annotations

import os
import re
from collections.abc import Callable, Generator
from contextlib import contextmanager
from typing import Any

from inspect_ai import eval as evaluate
from inspect_ai.log import EvalError, EvalLog
from inspect_ai.model import GenerateConfig, GenerateConfigArgs, Model, get_model
from inspect_ai.solver import TaskState
from rich.text import Text

from ...schemas.errors import CobenchError, InputError
from ...schemas.run import RunFile
from ..runs import LOGS, Key, RunFolder
from ..suites import Suite
from .conversation import EPOCH, TASK, USER
from .scorer import episode_in
from .task import conversations, samples

RETRIES = 6  # of a request that failed for a reason that may pass: with the waits between them, some five minutes
SECONDS = 1800  # for an answer of a model, retries included
ATTEMPT = 600  # … and without
PRICES = "INSPECT_EVAL_MODEL_COST_CONFIG"  # a file with prices of models, as for `inspect eval`
Tick = Callable[[int, int], None]


def run_model(suite: Suite, folder: RunFolder, tick: Tick, *, connections: int | None = None) -> None:
    """Has every conversation of a model's run that has no record yet.

    Each is on the disk before `tick` is told of it: how many are done, and of how many. What breaks off for a reason
    that is not the agent's is kept as unscored. `connections`: most requests to the model at once. Raises InputError
    for a model that cannot be had, and KeyboardInterrupt when it was interrupted.
    """
    facts, left = folder.facts, folder.left()
    if not left:
        return
    kept: set[Key] = set()
    faults: list[Exception] = []

    async def keep(state: TaskState) -> None:
        try:
            found = episode_in(state.store)
            if found is not None:
                folder.add(found)
                kept.add((found.task, found.agent, found.epoch))
        except Exception as fault:  # noqa: BLE001 - raised below: Inspect would only log it
            faults.append(fault)
        tick(len(kept), len(left))

    wanted = samples(suite, [(task, epoch) for task, _, epoch in left], facts.agents[0])
    log = _evaluated(conversations(suite, wanted, _settings(facts), cleanup=keep), folder, connections)
    if faults:
        raise faults[0]
    if log.status == "cancelled":
        raise KeyboardInterrupt
    reasons = _reasons(log)
    for key in left:
        if key not in kept:
            task, _, epoch = key
            folder.fail(*key, reasons.get((task, epoch), log.error.message if log.error else "no outcome"))


def _settings(facts: RunFile) -> dict[str, Any]:
    return {
        "seed": facts.seed,
        "turns": facts.turns,
        "calls": facts.max_calls,
        "tokens": facts.max_tokens,
        "mode": facts.mode,
        "user": "model" if "user model" in facts.settings else "rules",
    }


def _evaluated(task: Any, folder: RunFolder, connections: int | None) -> EvalLog:
    facts, config = folder.facts, _config(connections)
    limit = facts.cost_limit
    model, user = _models(facts, config)
    with _told(str(model)):
        logs = evaluate(
            task,
            model=model,
            model_roles={} if user is None else {USER: user},
            log_dir=str(folder.folder / LOGS),
            log_level="error",
            display="none",
            fail_on_error=False,
            retry_on_error=1,  # of what no request is tried again for, such as an answer that is no JSON
            cost_limit=None if limit is None else float(limit),
            model_cost_config=os.environ.get(PRICES),
            **config,
        )
    return logs[0]


def require_models(facts: RunFile) -> None:
    """Raises InputError when a model of a run cannot be had, such as for want of a key; asks it nothing."""
    _models(facts, _config(None))


def _config(connections: int | None) -> GenerateConfigArgs:
    return GenerateConfigArgs(
        max_retries=RETRIES, timeout=SECONDS, attempt_timeout=ATTEMPT, max_connections=connections
    )  # fmt: skip


def _models(facts: RunFile, config: GenerateConfigArgs) -> tuple[Model, Model | None]:
    """The agent's model of a run and the user's, if any; Inspect gives the same ones when it is asked again."""
    user = facts.settings.get("user model")
    return _model(facts.settings["model"], config), None if user is None else _model(user, config)


def _model(name: str, config: GenerateConfigArgs) -> Model:
    with _told(name):
        # given here, too: what an evaluation is told does not hold for the models of roles
        return get_model(name, config=GenerateConfig(**config))


@contextmanager
def _told(name: str) -> Generator[None]:
    """Says which model could not be had."""
    try:
        yield
    except CobenchError:
        raise
    except Exception as fault:
        raise InputError(f"the model {name} cannot be had: {_plain(fault)}") from fault


def _plain(fault: Exception) -> str:
    """An error of Inspect without its markup, on one line."""
    text = " ".join(Text.from_markup(str(fault)).plain.removeprefix("ERROR: ").split())
    return f"{text} The environment variable {PRICES} names a file of prices." if "cost data" in text else text


def _reason(error: EvalError) -> str:
    """What happened, also where Inspect says no more than how often it tried."""
    tried = re.fullmatch(r"RetryError\(<Future .* raised (\w+)>\)", error.message)
    if tried is None:
        return error.message
    lines = [line.strip() for line in error.traceback.splitlines()]
    told = [line for line in lines if re.match(rf"(?:[\w.]+\.)?{tried[1]}: ", line)]
    return f"after retries: {told[-1] if told else tried[1]}"


def _reasons(log: EvalLog) -> dict[tuple[str, int], str]:
    """Why conversations have no outcome, by task and epoch."""
    found: dict[tuple[str, int], str] = {}
    for sample in log.samples or ():
        key = sample.metadata[TASK], sample.metadata[EPOCH]
        if sample.error is not None:
            found[key] = _reason(sample.error)
        elif sample.limit is not None:
            found[key] = f"{sample.limit.type} limit: {sample.limit.reason or sample.limit.limit}"
    return found
