"""One conversation in a file, as `--out` and loops of one's own write it, read as a run of that one alone."""

from __future__ import annotations

import os
from pathlib import Path

from pydantic import ValidationError

from ..schemas.canonical import read_canonical
from ..schemas.episode import Episode
from ..schemas.errors import CobenchError, InputError, Where
from ..schemas.run import RunFile
from ..schemas.version import VERSION
from .runs import Run, read_run

_MARK = b'"cobench_episode":'


def is_episode(path: Path) -> bool:
    """Whether a file says that it is the record of a conversation; False for what cannot be read."""
    try:
        with path.open("rb") as stream:
            first = next((line for line in stream if line.strip()), b"")
    except OSError:
        return False
    return first.lstrip().startswith(b"{") and _MARK in first


def read_run_or_episode(path: Path) -> Run:
    """The run in a folder, or the conversation in a file as a run of that one alone.

    Raises InputError where a file is damaged, missing, or something else.
    """
    return _one(path) if path.is_file() else read_run(path)


def _one(path: Path) -> Run:
    where = Where(str(path))
    try:
        content = path.read_bytes()
        read_canonical(content, str(path))
        found = Episode.model_validate_json(content)
    except OSError as fault:
        raise InputError(f"cannot read the file: {os.strerror(fault.errno or 0)}", where=where) from None
    except (ValidationError, CobenchError):
        hint = "a run is a folder that `cobench run` wrote; --out of `cobench play` and `cobench mcp` writes a record"
        raise InputError("this is neither a run nor the record of a conversation", where=where, hint=hint) from None
    facts = RunFile(
        version=VERSION, suite="one conversation", suite_digest="none", tasks=(found.task,), agents=(found.agent,),
        mode=found.mode, seed=found.seed,
    )  # fmt: skip
    return Run(path, facts, (found,), ())
