"""A folder of conversations: written one by one, so that it can be stopped at any moment and gone on with.

    DIR/run.json                            what was asked for; the same again goes on with it
    DIR/lock                                held by the process at work
    DIR/episodes/TASK--AGENT--EPOCH.json    a finished conversation, complete or not there
    DIR/unscored/TASK--AGENT--EPOCH.json    one that failed for a reason that is not the agent's
    DIR/samples.parquet, turns.parquet, calls.parquet    the same as tables, once a command has ended
    DIR/logs/                               Inspect's, where it was used

All but the logs is a function of what was asked for and, where there are models, of what they wrote.
"""

from __future__ import annotations

import os
import re
from collections.abc import Generator, Iterable, Iterator
from contextlib import contextmanager
from dataclasses import dataclass
from pathlib import Path
from typing import TypeVar
from urllib.parse import quote

from pydantic import ValidationError

from ..schemas.canonical import narrow, read_canonical
from ..schemas.episode import Episode
from ..schemas.errors import CobenchError, InputError, Where
from ..schemas.files import locked, write_atomically
from ..schemas.run import MAX_REASON, RunFile, Unscored
from ..schemas.validation import Written
from .tables import TABLES, table_bytes

RUN, LOCK, EPISODES, UNSCORED, LOGS = "run.json", "lock", "episodes", "unscored", "logs"
_OURS = (RUN, LOCK, EPISODES, UNSCORED, LOGS)
DAMAGED = "remove it, and the same command does that conversation again"
LONGEST = 100  # characters of an agent's name as part of a file's

Model = TypeVar("Model", bound=Written)
Record = TypeVar("Record", Episode, Unscored)
Key = tuple[str, str, int]  # task, agent, epoch


@dataclass(frozen=True, slots=True)
class About:
    """What of the task a record holds: digests, and every optimum and number of feasible plans that it says."""

    task: str
    certificate: str
    wording: str
    optima: frozenset[int]
    totals: frozenset[int]


@dataclass(frozen=True, slots=True)
class Run:
    """A run as it was read: by task, agent and epoch in the order that was asked for."""

    folder: Path
    facts: RunFile
    episodes: tuple[Episode, ...]
    unscored: tuple[Unscored, ...]

    @property
    def missing(self) -> int:
        """How many of the conversations that were asked for have neither an outcome nor a reason why not."""
        return len(keys_of(self.facts)) - len(self.episodes) - len(self.unscored)


class RunFolder:
    """A folder of conversations that this process alone may write to; `open_run` gives it."""

    def __init__(self, folder: Path, facts: RunFile, finished: Iterable[Episode]) -> None:
        self.folder, self.facts = folder, facts
        self._asked = frozenset(keys_of(facts))
        self._finished = {_key(episode): _about(episode) for episode in finished}
        self.failed: dict[Key, str] = {}

    def has(self, task: str, agent: str, epoch: int) -> bool:
        """Whether that conversation has an outcome."""
        return (task, agent, epoch) in self._finished

    def about(self, task: str) -> Iterator[tuple[Path, About]]:
        """The files about a task that are there, and what each holds of it."""
        return (
            (self.folder / EPISODES / file_name(*key), found) for key, found in self._finished.items() if key[0] == task
        )

    def left(self) -> list[Key]:
        """The conversations without an outcome, in the order that was asked for: by task, agent, epoch."""
        return [key for key in keys_of(self.facts) if key not in self._finished]

    def add(self, episode: Episode) -> None:
        """Keeps an outcome, on the disk when this returns. Raises OutputError when that fails."""
        key = self._require_asked(_key(episode))
        write_atomically(self.folder / EPISODES / file_name(*key), episode.to_bytes())
        (self.folder / UNSCORED / file_name(*key)).unlink(missing_ok=True)
        self._finished[key] = _about(episode)
        self.failed.pop(key, None)

    def fail(self, task: str, agent: str, epoch: int, reason: str) -> None:
        """Keeps why a conversation has no outcome; the next time it is tried again."""
        found = Unscored(task=task, agent=agent, epoch=epoch, reason=_text(reason)[:MAX_REASON])
        key = self._require_asked(_key(found))
        write_atomically(self.folder / UNSCORED / file_name(*key), found.to_bytes())
        self.failed[key] = found.reason

    def finish(self) -> Run:
        """Writes the tables from the files that are there now, and returns what these hold."""
        run = read_run(self.folder)
        for name in TABLES:
            write_atomically(self.folder / f"{name}.parquet", table_bytes(name, run.episodes))
        return run

    def _require_asked(self, key: Key) -> Key:
        if key not in self._asked:
            raise ValueError(f"this run has no conversation {key}")
        return key


def taken_by_runs(path: Path, begun: Iterable[Path] = ()) -> list[Path]:
    """The places where nothing but a run may write, of every run below whose folder `path` is; see `require_writable`.

    `begun`: folders that are to hold a run.
    """
    real = Path(os.path.realpath(path))
    folders = [Path(os.path.realpath(folder)) for folder in begun]
    folders += [folder for folder in real.parents if (folder / RUN).is_file()]
    return [folder / name for folder in folders for name in (*_OURS, *(f"{name}.parquet" for name in TABLES))]


def _key(found: Episode | Unscored) -> Key:
    return found.task, found.agent, found.epoch


def _about(episode: Episode) -> About:
    verdicts = [turn.verdict for turn in episode.turns] + [episode.verdict]
    regrets = [turn.regret for turn in episode.turns] + [episode.regret]
    optima = [verdict.optimum for verdict in verdicts] + [regret.optimum for regret in regrets if regret is not None]
    totals = (verdict.standing.total for verdict in verdicts if verdict.standing is not None)
    return About(
        episode.task_digest, episode.certificate_digest, episode.wording,
        frozenset(narrow(value) for value in optima if value is not None), frozenset(map(narrow, totals)),
    )  # fmt: skip


def keys_of(facts: RunFile) -> list[Key]:
    """Every conversation of a run as task, agent, epoch; in the order in which they are told."""
    epochs = range(1, facts.epochs + 1)
    return [(task, agent, epoch) for task in facts.tasks for agent in facts.agents for epoch in epochs]


def file_name(task: str, agent: str, epoch: int) -> str:
    """The name of a conversation's file, another for each: the agent's name as in a URL, without two hyphens at once.

    Raises InputError for a name of an agent that is too long for a file.
    """
    named = re.sub("^-|-$|(?<=-)-", "%2D", quote(agent, safe=""))
    if not 0 < len(named) <= LONGEST:
        raise InputError(f"the name of an agent needs 1 to {LONGEST} characters as part of a file's: '{agent[:80]}'")
    return f"{task}--{named}--{epoch}.json"


@contextmanager
def open_run(folder: Path, facts: RunFile) -> Generator[RunFolder]:
    """The folder of a run, new or gone on with, locked against other processes until the block ends.

    Raises InputError when another process is at work there, when the folder holds something else or a run that asked
    for something else, for a damaged file in it, and OutputError when it cannot be written to.
    """
    for agent in facts.agents:
        file_name("", agent, 1)
    _claim(folder, facts)
    with locked(folder / LOCK, "wait for it, or give another folder"):
        _claim(folder, facts)  # again: it may have been another's in the meantime
        for rest in (*folder.glob(".*.tmp"), *folder.glob("*/.*.tmp")):
            rest.unlink(missing_ok=True)  # of a process that was killed
        if not _begun(folder):
            write_atomically(folder / RUN, facts.to_bytes())
        yield RunFolder(folder, facts, [episode for _, episode in _read(folder, facts, EPISODES, Episode)])


def read_run(folder: Path) -> Run:
    """The run in a folder, also one that is not finished. Raises InputError where a file is damaged or missing."""
    facts = _facts(folder)
    episodes = dict(_read(folder, facts, EPISODES, Episode))
    unscored = dict(_read(folder, facts, UNSCORED, Unscored))
    return Run(
        folder,
        facts,
        tuple(episodes[key] for key in keys_of(facts) if key in episodes),
        tuple(unscored[key] for key in keys_of(facts) if key in unscored and key not in episodes),
    )


def _facts(folder: Path) -> RunFile:
    path = folder / RUN
    if not path.is_file():
        hint = "cobench run SUITE --agent all --out DIR makes one"
        raise InputError("here is no run: it has no run.json", where=Where(str(folder)), hint=hint)
    return _document(path, RunFile, "put it back as it was, or have the run again in another folder")


def _read(folder: Path, facts: RunFile, inside: str, model: type[Record]) -> Iterator[tuple[Key, Record]]:
    """The files of one kind that the run asked for. What else lies there is told of: it would count nowhere."""
    names = {file_name(*key): key for key in keys_of(facts)}
    for path in sorted((folder / inside).glob("*.json")):
        where = Where(str(path))
        if path.name not in names:
            raise InputError("this is no conversation that the run asked for", where=where, hint="remove it")
        if not path.is_file():
            raise InputError("this is no file", where=where, hint="remove it")  # a pipe would be waited for
        found = _document(path, model, DAMAGED)
        if _key(found) != names[path.name]:
            raise InputError("this file is about another conversation than its name says", where=where)
        yield names[path.name], found


def _document(path: Path, model: type[Model], hint: str) -> Model:
    where = Where(str(path))
    try:
        content = path.read_bytes()
        read_canonical(content, str(path))
        return model.model_validate_json(content)
    except OSError as fault:
        raise InputError(f"cannot read the file: {os.strerror(fault.errno or 0)}", where=where) from None
    except ValidationError as fault:
        first = fault.errors(include_url=False)[0]
        said = ": ".join(filter(None, (".".join(map(str, first["loc"])), first["msg"].removeprefix("Value error, "))))
        raise InputError(f"this file is damaged: {said}", where=where, hint=hint) from None
    except CobenchError:
        raise InputError("this file is damaged: it is no canonical JSON", where=where, hint=hint) from None


def _begun(folder: Path) -> bool:
    """Whether any conversation was had; before that a run may still ask for something else."""
    return any(any((folder / inside).glob("*.json")) for inside in (EPISODES, UNSCORED))


def _claim(folder: Path, facts: RunFile) -> None:
    where = Where(str(folder))
    if _begun(folder):
        different = _facts(folder).difference(facts)
        if different:
            hint = "give another folder, or ask for the same as before"
            raise InputError(f"the run in this folder asked for something else: {different}", where=where, hint=hint)
    elif folder.is_dir() and any(path.name not in _OURS and path.suffix != ".tmp" for path in folder.iterdir()):
        raise InputError("the folder holds something else", where=where, hint="give a new folder, or an empty one")


def _text(reason: str) -> str:
    """A text as any file can hold it."""
    return reason.encode("utf-8", "backslashreplace").decode()
