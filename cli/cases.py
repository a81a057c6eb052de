"""Tasks that a conversation can be about, as they are named on the command line."""

from __future__ import annotations

from collections.abc import Callable
from pathlib import Path
from typing import TYPE_CHECKING

from ..schemas.errors import Disagreement, InputError, did_you_mean
from .common import progress

if TYPE_CHECKING:
    from ..agent_runner.suites import Case


_YAML = (".yaml", ".yml")


def opened_case(what: str, seed: int, out: Path | None, quiet: bool) -> Case:
    """As `case_for`, with progress, and the tools' tables read; OutputError first where `out` cannot hold a record."""
    from ..agent_runner.tools.catalogue import catalogue_of

    if out is not None:
        require_record(out, what)
    with progress(quiet) as shown:
        shown.begin("reading the task")
        case = case_for(what, seed, shown.begin)
        if out is not None:
            require_record(out, what, case)
        shown.begin("reading tables")
        catalogue_of(case.dataset)  # made once for an open dataset
    return case


def case_for(what: str, seed: int, step: Callable[[str], None]) -> Case:
    """What `TASK|SUITE[:ID]` on a command line stands for: the task of a file, certified now, or one of a suite.

    Of a suite without an ID the seed picks one; an ID alone is of a suite that comes with cobench. Raises InputError.
    """
    from ..agent_runner.suites import is_suite, open_suite
    from ..schemas.chance import drawn

    if Path(what).is_file():
        return _certified(Path(what), step)
    if what.endswith(_YAML):
        raise InputError(f"no such file: {what}", hint="SUITE:ID is a task of a suite, such as compass:compass-1-003")
    if is_suite(what):
        suite = open_suite(what)
        return suite.case(suite.facts.tasks[drawn(len(suite.facts.tasks), seed, "play")])
    name, _, task = what.rpartition(":")
    if name:
        return open_suite(name).case(task)
    return _bundled(what)


def _bundled(task: str) -> Case:
    """The task with an id in the suites that come with cobench."""
    from ..agent_runner.suites import BUNDLED, open_suite
    from ..schemas.suite import SUITE

    suites = [open_suite(path.parent.name) for path in sorted(BUNDLED.glob(f"*/{SUITE}"))]
    for suite in suites:
        if task in suite.facts.tasks:
            return suite.case(task)
    names = [suite.facts.name for suite in suites]
    near = did_you_mean(task, [*names, *(name for suite in suites for name in suite.facts.tasks)], "suites and tasks")
    example = f"{names[0]}:{suites[0].facts.tasks[0]}" if suites else "compass:compass-1-003"
    hint = f"SUITE:ID, such as {example}; or the path of a task's file" + (f"; {near}" if near else "")
    raise InputError(f"no suite, task or file '{task}'", hint=hint)


def require_record(out: Path, what: str, case: Case | None = None) -> None:
    """Raises OutputError unless the record of a conversation about `what`, as in `case_for`, can be written to `out`.

    That is neither the task, nor anything of the suite or of a run; of the tables, once they are known, neither.
    """
    from ..agent_runner.runs import taken_by_runs
    from ..agent_runner.suites import is_suite, open_suite
    from ..schemas.files import require_writable

    taken = taken_by_runs(out)
    if Path(what).is_file():
        taken.append(Path(what))
    else:
        name = what if is_suite(what) else what.rpartition(":")[0]
        taken += open_suite(name).places() if is_suite(name) else []
    require_writable(out, [*taken, *(case.dataset.files() if case is not None else ())], taken)


def _certified(path: Path, step: Callable[[str], None]) -> Case:
    from ..agent_runner.suites import case_of
    from ..schemas.task import load_task
    from ..solver.checker.check import open_data
    from ..verification import data_of, verify

    file = load_task(path)
    dataset = data_of(file, None)
    result = verify(file, dataset, engines="scan", step=step, survivors=False)
    if result.refuted:
        raise Disagreement(f"error: the checker refutes the engine: {result.refuted[0].detail}")
    if result.certificate.claims.optimum is None:
        raise InputError("the task has no plan that is known, so that nothing can be scored", where=file.source.where())
    data = open_data(dataset.folder, result.problem)
    return case_of(file, result.problem, dataset, data, result.certificate, str(path))
