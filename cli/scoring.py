"""`cobench score --submissions`: many answers to many tasks at once."""

from __future__ import annotations

from collections.abc import Iterator, Sequence
from dataclasses import replace
from fnmatch import fnmatchcase
from pathlib import Path
from typing import TYPE_CHECKING

import rich_click as click

from ..schemas.errors import InputError, TaskError, did_you_mean
from .common import console, print_json, progress, say, visible

if TYPE_CHECKING:
    from ..agent_runner.analysis import Summary
    from ..agent_runner.scoring import Scorer
    from ..agent_runner.submissions import Submission
    from ..datasets.opening import Dataset
    from ..schemas.certificate import Certificate
    from ..suite.source import Entry, Suite


def score_submissions(
    file: Path, tasks: Path, data: str | None, certificate: Path, ignore: Sequence[str], out: Path | None,
    as_json: bool, quiet: bool,
) -> int:  # fmt: skip
    """Scores a file of submissions, writes the verdicts, and shows a row for each agent. Loads no engine."""
    from ..agent_runner.analysis import summaries
    from ..agent_runner.many import score_many
    from ..agent_runner.submissions import read_submissions
    from ..agent_runner.verdict_files import require_suffix, verdict_bytes
    from ..schemas.collection import read_certificates
    from ..schemas.files import require_writable, write_atomically
    from ..suite.source import find_suite

    if out is not None:
        require_suffix(out)
        require_writable(out, [file, tasks, certificate])
    with progress(quiet=quiet) as shown:
        shown.begin("reading submissions")
        submissions = read_submissions(file)
        shown.begin("reading tasks")
        suite = find_suite(tasks)
        shown.begin("reading certificates")
        opening = _Opening(suite, data, read_certificates(certificate), tasks, certificate, ignore)
        entries = opening.entries(submissions)
        total = f"{len(submissions):,} submissions"
        rows = score_many(
            submissions, opening.scorers(entries), lambda done: shown.begin(f"scored {done:,} of {total}")
        )
        opening.require_used()
        if out is not None:
            shown.begin("writing verdicts")
            write_atomically(out, verdict_bytes(rows, out.suffix))
        found = summaries({"": rows})
    if as_json:
        print_json({"submissions": len(rows), "tasks": len(entries), "agents": [item.content() for item in found]})
    else:
        print_summaries(found)
    if out is not None:
        say(f"verdicts written: {out}", err=True)
    return 0


class _Opening:
    """Poses tasks, and opens each dataset once; tasks that read the same tables come one after another."""

    def __init__(
        self, suite: Suite, data: str | None, certificates: dict[str, Certificate], tasks: Path, certified: Path,
        ignore: Sequence[str],
    ) -> None:  # fmt: skip
        from ..solver.checker.opened import Opened

        self._suite, self._data, self._certificates = suite, data, certificates
        self._tasks, self._certified, self._ignore = tasks, certified, tuple(ignore)
        self._datasets: dict[tuple[str, Path], Dataset] = {}
        self._opened = Opened()
        self._names: set[str] = set()

    def entries(self, submissions: Sequence[Submission]) -> list[Entry]:
        """The tasks that submissions name; InputError, with the line, for one without a file or a certificate."""
        known = {entry.id: entry for entry in self._suite.entries if entry.id is not None and not entry.fault}
        found: dict[str, Entry] = {}
        for item in submissions:
            if item.task in found:
                continue
            if item.task not in known:
                hint = did_you_mean(item.task[:200], known, "tasks")
                raise InputError(f"no task '{item.task[:200]}' is in {self._tasks}", where=item.where, hint=hint)
            if item.task not in self._certificates:
                hint = "cobench certify makes the certificates of a folder of tasks"
                raise InputError(
                    f"no certificate of '{item.task[:200]}' is in {self._certified}", where=item.where, hint=hint
                )
            found[item.task] = known[item.task]
        return sorted(found.values(), key=lambda entry: (entry.world, entry.place))

    def scorers(self, entries: Sequence[Entry]) -> Iterator[tuple[str, Scorer]]:
        """A scorer for each task."""
        from ..agent_runner.matching import require_about
        from ..agent_runner.scoring import Scorer, ignorable
        from ..schemas.problem import pose
        from ..schemas.task import read_task
        from ..verification import data_of

        for entry in entries:
            root = self._suite.root
            source = entry.source()
            file = read_task(replace(source, name=str(root / source.name)))
            if file.task.id != entry.id:
                raise TaskError("write the id of the task on a line of its own: id: NAME", where=entry.where())
            key = file.task.dataset, Path(file.source.name).parent
            if key not in self._datasets:
                self._datasets[key] = data_of(file, self._data)
            dataset = self._datasets[key]
            problem = pose(file, dataset.manifest)
            opened = self._opened(dataset.folder, problem)
            certificate = self._certificates[problem.id]
            require_about(certificate, f"{self._certified} ({problem.id})", problem, dataset, opened)
            self._names.update(ignorable(problem))
            yield problem.id, Scorer(problem, opened, certificate, ignore=self._ignore)

    def require_used(self) -> None:
        """Raises UsageError when something is to be ignored that no violation of these tasks can be called."""
        require_ignorable(self._ignore, self._names)


def require_ignorable(ignore: Sequence[str], names: set[str]) -> None:
    """Raises UsageError for a pattern that fits none of the names that violations may have."""
    for pattern in ignore:
        if not any(fnmatchcase(name, pattern) for name in names):
            hint = did_you_mean(pattern, names, "constraints and clauses")
            raise click.UsageError(f"--ignore {pattern}: no constraint or clause is called so; {hint}")


def print_summaries(found: Sequence[Summary]) -> None:
    """A row for each agent."""
    from rich import box
    from rich.table import Table
    from rich.text import Text

    from .display import percent
    from .tables import show

    table = Table(box=box.SIMPLE, pad_edge=True)
    for name in ("agent", "submissions", "tasks", "feasible", "optimal", "median gap", "verdicts"):
        table.add_column(name, justify="left" if name in ("agent", "verdicts") else "right")
    for item in found:
        gap = "–" if item.median_gap is None else percent(item.median_gap)
        kinds = ", ".join(f"{number:,} {kind}" for kind, number in item.kinds.items())
        rates = (f"{100 * rate.hits / rate.of:.1f} %" if rate.of else "–" for rate in (item.feasible, item.optimal))
        cells = f"{item.submissions:,}", f"{item.tasks:,}", *rates, gap
        table.add_row(Text(visible(item.name)), *cells, Text(kinds))
    show(console(), table)
