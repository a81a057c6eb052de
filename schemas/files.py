"""Writing files so that a reader never sees half of one."""

from __future__ import annotations

import errno
import fcntl
import os
import stat
import tempfile
from collections.abc import Generator, Iterable
from contextlib import contextmanager
from pathlib import Path

from .errors import InputError, OutputError, Where

_KINDS = (
    (stat.S_ISDIR, "a folder"),
    (stat.S_ISCHR, "a device"),
    (stat.S_ISBLK, "a device"),
    (stat.S_ISFIFO, "a pipe"),
    (stat.S_ISSOCK, "a socket"),
)


def write_atomically(path: Path, content: bytes | Iterable[bytes]) -> None:
    """The content at `path`, complete or not at all: a temporary file beside it is flushed to disk, then renamed.

    A file that is replaced keeps its permissions, and a link stays: the file that it leads to is replaced.
    Content in pieces is written as it comes, so that all of it need never be in memory.
    Raises OutputError when that fails, and for what is no file; what stood at `path` before is then untouched.
    """
    temporary: str | None = None
    try:
        target, mode = _target(path)
        target.parent.mkdir(parents=True, exist_ok=True)
        descriptor, temporary = tempfile.mkstemp(prefix=f".{target.name}.", suffix=".tmp", dir=target.parent)
        with os.fdopen(descriptor, "wb") as stream:
            stream.writelines([content] if isinstance(content, bytes) else content)
            stream.flush()
            os.fsync(stream.fileno())
        Path(temporary).chmod(0o644 if mode is None else mode)
        Path(temporary).replace(target)
        temporary = None
    except OSError as fault:
        reason = os.strerror(fault.errno) if fault.errno else str(fault)
        raise OutputError(f"error: cannot write {path}: {reason}") from None
    finally:
        if temporary is not None:
            Path(temporary).unlink(missing_ok=True)


def require_writable(path: Path, inputs: Iterable[Path] = (), taken: Iterable[Path] = ()) -> None:
    """Raises OutputError when `path` is a device, a pipe or a folder, or one of the `inputs` by whatever name.

    So it does for one of the places that are `taken`, which need not be there yet, or anything below them, and where
    no file can be made. For a command to say so before it begins, not after an hour.
    """
    try:
        target, mode = _target(path)
        if mode is not None and any(item.exists() and item.samefile(target) for item in inputs):
            raise OutputError(f"error: cannot write {path}: it is an input")
        real = Path(os.path.realpath(target))
        if any(real.is_relative_to(os.path.realpath(item)) for item in taken):
            raise OutputError(f"error: cannot write {path}: it is an input, or belongs to a run or a suite")
        _require_folder(path, real.parent)
    except OSError as fault:
        reason = os.strerror(fault.errno) if fault.errno else str(fault)
        raise OutputError(f"error: cannot write {path}: {reason}") from None


@contextmanager
def locked(path: Path, hint: str) -> Generator[None]:
    """The lock of the folder in which `path` is, which ends with the process that holds it, however that ends.

    Makes the folder. Raises InputError, with the hint, when another process holds it, and OutputError when the folder
    cannot be written to.
    """
    try:
        path.parent.mkdir(parents=True, exist_ok=True)
        descriptor = os.open(path, os.O_RDWR | os.O_CREAT, 0o644)  # never replaced: locked is the file, not its name
    except OSError as fault:
        raise OutputError(f"error: cannot write {path}: {os.strerror(fault.errno or 0)}") from None
    with os.fdopen(descriptor, "wb") as stream:
        try:
            fcntl.flock(stream, fcntl.LOCK_EX | fcntl.LOCK_NB)
        except BlockingIOError:
            where = Where(str(path.parent))
            raise InputError("another process is at work in this folder", where=where, hint=hint) from None
        yield


def _require_folder(path: Path, folder: Path) -> None:
    """Raises OutputError unless a file at `path` could be made in a folder that is there, or may be."""
    there = next(item for item in (folder, *folder.parents) if item.exists())
    reason = 0 if there.is_dir() else errno.ENOTDIR
    if not reason and not os.access(there, os.W_OK | os.X_OK):
        reason = errno.EACCES
    if reason:
        raise OutputError(f"error: cannot write {path}: {os.strerror(reason)}")


def _target(path: Path) -> tuple[Path, int | None]:
    """The file behind all links, and its permissions if it exists; OutputError when it is no file."""
    target = Path(os.path.realpath(path)) if path.is_symlink() else path
    try:
        mode = target.stat().st_mode
    except (FileNotFoundError, NotADirectoryError):
        return target, None
    if not stat.S_ISREG(mode):
        what = next((name for is_kind, name in _KINDS if is_kind(mode)), "no file")
        raise OutputError(f"error: cannot write {path}: it is {what}")
    return target, stat.S_IMODE(mode) & 0o777
