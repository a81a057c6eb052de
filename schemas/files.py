"""Writing files so that a reader never sees half of one."""

from __future__ import annotations

import os
import tempfile
from collections.abc import Iterable
from pathlib import Path

from .errors import OutputError


def write_atomically(path: Path, content: bytes | Iterable[bytes]) -> None:
    """The content at `path`, complete or not at all: a temporary file beside it is flushed to disk, then renamed.

    Content in pieces is written as it comes, so that all of it need never be in memory.
    Raises OutputError when that fails; what stood at `path` before is then untouched.
    """
    temporary: str | None = None
    try:
        path.parent.mkdir(parents=True, exist_ok=True)
        descriptor, temporary = tempfile.mkstemp(prefix=f".{path.name}.", suffix=".tmp", dir=path.parent)
        with os.fdopen(descriptor, "wb") as stream:
            stream.writelines([content] if isinstance(content, bytes) else content)
            stream.flush()
            os.fsync(stream.fileno())
        Path(temporary).chmod(0o644)
        Path(temporary).replace(path)
        temporary = None
    except OSError as fault:
        reason = os.strerror(fault.errno) if fault.errno else str(fault)
        raise OutputError(f"error: cannot write {path}: {reason}") from None
    finally:
        if temporary is not None:
            Path(temporary).unlink(missing_ok=True)
