"""Conversations of built-in agents about many tasks, in worker processes that open each table once."""

from __future__ import annotations

import os
import traceback
from collections.abc import Callable, Mapping, Sequence
from contextlib import closing
from dataclasses import dataclass
from pathlib import Path

from ..schemas.episode import Episode
from ..schemas.errors import Faults, InputError, Where
from ..schemas.run import RunFile
from ..schemas.task import TaskFile
from ..workers import answers
from .baselines import baseline, mode_of
from .env import Env, EnvLimits
from .episode import converse
from .judge import Judge
from .runs import DAMAGED, Key, RunFolder
from .suites import Case, Suite, open_suite
from .tools.catalogue import catalogue_of
from .tools.toolbox import Toolbox
from .user.decision import script_of
from .user.persona import persona_for

WORKER = __name__.rpartition(".")[0]  # the module that a worker runs
Tick = Callable[[int, int], None]


@dataclass(frozen=True, slots=True)
class Job:
    """What a worker has to know beside the keys of conversations: where the suite is, and what was asked for."""

    suite: str
    facts: RunFile


@dataclass(frozen=True, slots=True)
class Outcome:
    """A conversation's record, or why there is none."""

    key: Key
    episode: Episode | None = None
    reason: str = ""


class Talking:
    """A worker's memory: the suite, whose datasets stay open, and the case at work, which all agents share."""

    def __init__(self, job: Job) -> None:
        self._facts = job.facts
        self._suite = open_suite(job.suite)
        self._case: tuple[Case, Judge] | None = None

    def __call__(self, key: Key) -> Outcome:
        """The outcome of a conversation. An agent that raises is a fault of ours: then there is no record."""
        try:
            return Outcome(key, self._episode(*key))
        except Exception as fault:  # noqa: BLE001 - one conversation must not take the others down
            return Outcome(key, reason=_reason(fault))

    def _episode(self, task: str, agent: str, epoch: int) -> Episode:
        facts = self._facts
        case, judge = self._opened(task)
        env = Env(
            case, Toolbox(catalogue_of(case.dataset)), persona_for(facts.seed, task, epoch), agent=agent,
            seed=facts.seed, epoch=epoch, mode=mode_of(agent), limits=limits_of(facts), judge=judge,
        )  # fmt: skip
        return converse(env, baseline(agent, (facts.seed, task, epoch)))

    def _opened(self, task: str) -> tuple[Case, Judge]:
        if self._case is None or self._case[0].problem.id != task:
            self._case = None  # not two at once
            case = self._suite.case(task)
            self._case = case, Judge(case)
        return self._case


def limits_of(facts: RunFile) -> EnvLimits:
    """The limits of a conversation."""
    return EnvLimits(facts.turns, facts.max_calls, facts.max_tokens)


def grouped(suite: Suite, tasks: Sequence[str]) -> list[str]:
    """The tasks with those after one another that read the same tables in the same way, so that these stay open.

    Raises InputErrors for tasks that cannot be read.
    """
    faults, places = Faults(), dict[str, tuple[str, ...]]()
    for number, name in enumerate(tasks):
        file = faults.attempt(lambda name=name: suite.task(name), None)
        if file is not None:
            places[name] = *_world(file), f"{number:09d}"
    faults.raise_all()
    return sorted(places, key=lambda name: places[name])


def _world(file: TaskFile) -> tuple[str, ...]:
    task = file.task
    return task.dataset, str(sorted(task.given.items())), str(sorted(task.choose))


def require_cases(suite: Suite, tasks: Sequence[str], folder: RunFolder, tick: Callable[[int], None]) -> None:
    """Raises InputErrors, all at once, unless every task has data and a certificate that fit.

    So must the conversations that are there already: they were about the same tasks and certificates.
    """
    faults = Faults()
    for number, name in enumerate(tasks):
        tick(number)
        case = faults.attempt(lambda name=name: suite.case(name), None)
        if case is not None:
            faults.attempt(lambda case=case: _require_same(case, folder), None)
    faults.raise_all()


def _require_same(case: Case, folder: RunFolder) -> None:
    now = {
        "task": case.problem.digest,
        "certificate": case.certificate.digest,
        "wording": script_of(case.file.task).digest,
    }
    for path, then in folder.about(case.problem.id):
        where = Where(str(path))
        for what, digest in now.items():
            if getattr(then, what) != digest:
                hint = "the suite has changed since; give another folder"
                raise InputError(f"this conversation was about another {what}", where=where, hint=hint)
        if then.optima - {case.optimum} or then.totals - {case.total}:
            message = "this file is damaged: it says another optimum or number of plans than the certificate"
            raise InputError(message, where=where, hint=DAMAGED)


def talk(job: Job, tasks: Sequence[str], folder: RunFolder, workers: int | None, tick: Tick) -> None:
    """Has every conversation of the run that has no record yet, in an order that leaves tables open (`grouped`).

    Each is on the disk before `tick` is told of it: how many are done, and of how many. When this is interrupted, those
    are kept, and the workers have ended.
    """
    left: Mapping[str, list[Key]] = {task: [] for task in tasks}
    for key in folder.left():
        left[key[0]].append(key)
    chunks = [keys for keys in left.values() if keys]
    number, total = 0, sum(map(len, chunks))
    most = max(1, min(workers or os.cpu_count() or 1, len(chunks)))
    with closing(answers(WORKER, job, chunks, _lost, workers=most)) as outcomes:
        for outcome in outcomes:
            if outcome.episode is not None:
                folder.add(outcome.episode)
            else:
                folder.fail(*outcome.key, outcome.reason)
            number += 1
            tick(number, total)


def _lost(key: Key, reason: str) -> Outcome:
    return Outcome(key, reason=reason)


def _reason(fault: Exception) -> str:
    """What happened and where, without any path of this machine."""
    frames = traceback.extract_tb(fault.__traceback__)
    at = f" ({Path(frames[-1].filename).name}:{frames[-1].lineno})" if frames else ""
    return f"{type(fault).__name__}: {fault}{at}"
