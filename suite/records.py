"""Records of tasks as they are read back from a file, which may have been edited: everything is looked at first."""

from __future__ import annotations

from typing import Any, Literal

from pydantic import ValidationError

from ..schemas.canonical import canonical_bytes, read_canonical
from ..schemas.certificate import read_certificate
from ..schemas.errors import CertificateError, InputError, Where
from ..schemas.validation import Written

REMOVE = "remove it, and `cobench certify … --resume` makes anew what is missing"


class Stored(Written):
    """What a part says about one task; `certificate` is plain data, not yet checked."""

    place: str
    id: str | None
    digest: str
    exit: Literal[0, 1, 2, 3, 4, 70]
    data: str | None = None
    errors: list[str] = []
    surprise: str = ""
    undecided: str = ""
    refuted: list[str] = []
    certificate: dict[str, Any] | None = None

    def problem(self) -> bytes:
        """The record without data and certificate, as one line."""
        known = {"place": self.place, "id": self.id, "exit": self.exit}
        said = {name: getattr(self, name) for name in ("errors", "surprise", "undecided", "refuted")}
        return canonical_bytes({**known, **{name: value for name, value in said.items() if value}})


def read_record(line: bytes, where: Where) -> Stored:
    """The record in a line; raises InputError when it is none."""
    try:
        return Stored.model_validate(read_canonical(line, str(where)))
    except (CertificateError, ValidationError):
        raise InputError("this is no record of `cobench certify`", where=where, hint=REMOVE) from None


def check_certificate(record: Stored, where: Where) -> None:
    """Raises InputError when the certificate of a record, if it has one, is malformed, altered, or another task's."""
    if record.certificate is None:
        return
    try:
        certificate = read_certificate(canonical_bytes(record.certificate), str(where))
    except CertificateError as fault:
        raise CertificateError(fault.message, where=where, hint=REMOVE) from None
    if certificate.task.id != record.id:
        raise CertificateError(f"the certificate of {record.place} is that of another task", where=where, hint=REMOVE)
