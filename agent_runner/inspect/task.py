"""The task `cobench/compass` of Inspect: conversations about the tasks of a suite."""

from __future__ import annotations

from collections.abc import Awaitable, Callable, Mapping, Sequence
from typing import Any, Literal

from inspect_ai import Task, task
from inspect_ai.dataset import MemoryDataset, Sample
from inspect_ai.solver import TaskState

from ...schemas.task import load_task
from ...schemas.version import VERSION
from ..suites import Suite, open_suite
from .conversation import AGENT, EPOCH, TASK, UserKind, Voice, conversation
from .scorer import exploration, gap, outcome, rank, reasoning


@task
def compass(
    suite: str = "compass", sample: bool = False, seed: int = 0, epochs: int = 1, turns: int = 30,
    calls: int | None = None, tokens: int | None = None, steps: int = 100, mode: Literal["tools", "code"] = "tools",
    user: UserKind = "rules", voice: Voice = "native",
) -> Task:  # fmt: skip
    """Conversations about all tasks of a suite, or about its sample.

    `suite`: a bundled name or a folder. `seed`: of users and built-in agents. `turns`, `calls` and `tokens` cap a
    conversation, `steps` the rounds of calls before one reply. `mode`: call tools, or write programs that do. `user`:
    in whose words the user speaks, `model` is the role `user`. `voice`: how a model calls tools, `json` needs no more
    than a server that keeps output to a schema.
    """
    opened = open_suite(suite)
    settings = {
        "seed": seed, "turns": turns, "calls": calls, "tokens": tokens, "steps": steps, "mode": mode, "user": user,
        "voice": voice,
    }  # fmt: skip
    names = opened.facts.sample if sample else opened.facts.tasks
    return conversations(opened, samples(opened, [(name, None) for name in names]), settings, epochs=epochs)


def conversations(
    suite: Suite, wanted: MemoryDataset, settings: Mapping[str, Any], *, epochs: int = 1,
    cleanup: Callable[[TaskState], Awaitable[None]] | None = None,
) -> Task:  # fmt: skip
    """The conversations of some samples, by `settings` of the solver; `cleanup` is called as each of them ends."""
    return Task(
        dataset=wanted,
        solver=conversation(suite=str(suite.folder), **settings),
        scorer=[outcome(), gap(), rank(), exploration(), reasoning()],
        epochs=epochs,
        cleanup=cleanup,
        fail_on_error=False,  # a conversation that breaks off has no outcome; the others have
        name="compass",
        version=VERSION,
        metadata={"suite": suite.facts.name, "suite_version": suite.facts.version},
    )


def samples(suite: Suite, wanted: Sequence[tuple[str, int | None]], agent: str | None = None) -> MemoryDataset:
    """A sample for each task, or for each task and epoch where epochs are given. `agent`: its name in the record."""
    return MemoryDataset([_sample(suite, name, epoch, agent) for name, epoch in wanted], name=suite.facts.name)


def _sample(suite: Suite, name: str, epoch: int | None, agent: str | None) -> Sample:
    task_file = load_task(suite.folder / "tasks" / f"{name}.yaml").task
    about = {TASK: name, EPOCH: epoch, AGENT: agent}
    return Sample(
        id=name if epoch is None else f"{name}--{epoch}",
        input=task_file.story or task_file.title or name,
        metadata={key: value for key, value in about.items() if value is not None},
    )
