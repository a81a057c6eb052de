"""Many certificates or verdicts at once: files, folders, and files with one document on each line."""

from __future__ import annotations

import json
from collections.abc import Iterator
from pathlib import Path

from pydantic import ValidationError

from .certificate import MAX_BYTES, Certificate, read_certificate
from .errors import CertificateError, InputError, Where
from .verdict import Verdict

LINES = ".jsonl"
ONE = ".cert.json"


def read_certificates(path: Path) -> dict[str, Certificate]:
    """Certificates by task id: of one file, of a file with one on each line, or of all such files below a folder.

    Raises CertificateError, with file and line, for what is no certificate, for a task that occurs twice, and when
    there is none at all.
    """
    found: dict[str, tuple[str, Certificate]] = {}
    for name, content in documents(path):
        certificate = read_certificate(content, name)
        task = certificate.task.id
        if task in found:
            raise CertificateError(
                f"the task '{task}' has another certificate in {found[task][0]}",
                where=Where(name),
                hint="compare suites that hold every task once",
            )
        found[task] = name, certificate
    if not found:
        raise CertificateError(
            f"this {'folder' if path.is_dir() else 'file'} holds no certificates", where=Where(str(path))
        )
    return {task: certificate for task, (_, certificate) in found.items()}


def read_verdicts(path: Path) -> list[Verdict]:
    """The verdicts of a file with one on each line, as `score --json` prints them; InputError, with file and line."""
    found: list[Verdict] = []
    for name, content in _lines(path):
        try:
            found.append(Verdict.model_validate_json(content))
        except ValidationError as fault:
            first = fault.errors(include_url=False)[0]
            place = ".".join(map(str, first["loc"]))
            hint = "a line of this file is what `cobench score --json` prints"
            raise InputError(
                f"this is no verdict: {place}: {first['msg']}" if place else f"this is no verdict: {first['msg']}",
                where=Where(name),
                hint=hint,
            ) from None
    return found


def documents(path: Path) -> Iterator[tuple[str, bytes]]:
    """What should be certificates, with a name for each: a file, the lines of a file, or all such files in a folder."""
    if not path.is_dir():
        yield from _lines(path) if path.suffix == LINES else [(str(path), _read(path))]
        return
    inside = sorted(item for item in path.rglob("*") if item.name.endswith(ONE) and item.is_file())
    inside += sorted(item for item in path.rglob(f"*{LINES}") if item.is_file() and _holds_certificates(item))
    for item in inside:
        yield from documents(item)


def _holds_certificates(path: Path) -> bool:
    """Whether a file of lines begins with a certificate: other files of lines may lie beside them."""
    first = next(_lines(path), None)
    try:
        value = json.loads(first[1]) if first is not None else None
    except (ValueError, RecursionError):
        return False
    return isinstance(value, dict) and "cobench_certificate" in value


def _lines(path: Path) -> Iterator[tuple[str, bytes]]:
    """The lines that are not empty, each with its place as a name."""
    try:
        with path.open("rb") as stream:
            for number, line in enumerate(iter(lambda: stream.readline(MAX_BYTES + 2), b""), 1):
                if line.strip():
                    yield f"{path}:{number}", line
    except OSError as fault:
        raise _unreadable(path, fault) from None


def _read(path: Path) -> bytes:
    try:
        with path.open("rb") as stream:
            return stream.read(MAX_BYTES + 1)
    except OSError as fault:
        raise _unreadable(path, fault) from None


def _unreadable(path: Path, fault: OSError) -> CertificateError:
    return CertificateError(f"cannot read the certificate: {fault.strerror}", where=Where(str(path)))
