"""cobench: exact optima, rankings and solvability certificates for planning tasks.

from pathlib import Path
import cobench

result = cobench.verify(Path("task.yaml"))
result.certificate.claims.optimum

env = cobench.Env.of(cobench.open_suite("compass").case("compass-1-003"), agent="mine", seed=1)
env.message
"""

from __future__ import annotations

from importlib import import_module
from typing import TYPE_CHECKING, Any

if TYPE_CHECKING:
    from .agent_runner.env import Env
    from .agent_runner.episode import converse
    from .agent_runner.scoring import score
    from .agent_runner.suites import open_suite
    from .datasets.opening import Dataset, open_dataset
    from .schemas.certificate import Certificate, Grade, read_certificate
    from .schemas.episode import Episode
    from .schemas.errors import CobenchError, Disagreement, InputError, InputErrors, OutputError
    from .schemas.plan import Plan, Refusal, parse_plan
    from .schemas.task import Task, TaskFile, load_task
    from .schemas.verdict import Verdict, VerdictKind
    from .solver.certify import certify
    from .solver.outcome import Limits
    from .verification import Verification, verify

# Loaded when first asked for: importing cobench must stay quick, and must not load what is not used.
_HOMES = {
    "Env": "agent_runner.env",
    "converse": "agent_runner.episode",
    "score": "agent_runner.scoring",
    "open_suite": "agent_runner.suites",
    "Dataset": "datasets.opening",
    "open_dataset": "datasets.opening",
    "Certificate": "schemas.certificate",
    "Grade": "schemas.certificate",
    "read_certificate": "schemas.certificate",
    "Episode": "schemas.episode",
    "CobenchError": "schemas.errors",
    "Disagreement": "schemas.errors",
    "InputError": "schemas.errors",
    "InputErrors": "schemas.errors",
    "OutputError": "schemas.errors",
    "Plan": "schemas.plan",
    "Refusal": "schemas.plan",
    "parse_plan": "schemas.plan",
    "Task": "schemas.task",
    "TaskFile": "schemas.task",
    "load_task": "schemas.task",
    "Verdict": "schemas.verdict",
    "VerdictKind": "schemas.verdict",
    "certify": "solver.certify",
    "Limits": "solver.outcome",
    "Verification": "verification",
    "verify": "verification",
}

__all__ = [
    "Certificate",
    "CobenchError",
    "Dataset",
    "Disagreement",
    "Env",
    "Episode",
    "Grade",
    "InputError",
    "InputErrors",
    "Limits",
    "OutputError",
    "Plan",
    "Refusal",
    "Task",
    "TaskFile",
    "Verdict",
    "VerdictKind",
    "Verification",
    "certify",
    "converse",
    "load_task",
    "open_dataset",
    "open_suite",
    "parse_plan",
    "read_certificate",
    "score",
    "verify",
]


def __getattr__(name: str) -> Any:
    if name not in _HOMES:
        raise AttributeError(f"module 'cobench' has no attribute '{name}'")
    return getattr(import_module(f".{_HOMES[name]}", __name__), name)


def __dir__() -> list[str]:
    return list(__all__)
