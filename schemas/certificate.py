"""A certificate: claims about the whole feasible set of one task on one dataset, each graded by how it is known."""

from __future__ import annotations

from collections.abc import Iterable
from enum import StrEnum
from typing import Annotated, Any, Literal

from pydantic import AfterValidator, Field, ValidationError, field_validator

from .canonical import canonical_bytes, digest, narrow, read_canonical, wide
from .errors import CertificateError, Where
from .plan import Plan
from .validation import Written

FORMAT = 1
MAX_DISTRIBUTION = 65_536
MAX_BYTES = 64 << 20


def _spelled(value: int | str) -> int | str:
    narrow(value)
    return value


Integer = Annotated[int | str, AfterValidator(_spelled)]  # from 2^53 on a decimal string (see canonical.py)


class Grade(StrEnum):
    """How a claim is known, best first."""

    PROVED = "proved"  # the checker recomputed it
    AGREED = "agreed"  # two kinds of engine answered it alike, and the checker evaluated the witness
    CLAIMED = "claimed"  # one engine said so

    def above(self, other: Grade) -> bool:
        """Whether this says more than another grade."""
        return _ORDER.index(self) < _ORDER.index(other)


_ORDER = (Grade.PROVED, Grade.AGREED, Grade.CLAIMED)


class StatusClaim(Written):
    """Whether the task has a feasible plan. Unknown comes with the reason and is never upgraded."""

    value: Literal["solvable", "unsolvable", "unknown"]
    grade: Grade
    reason: str | None = None


class OptimumClaim(Written):
    """The best value, how many plans reach it, the canonical one of them, and the next best value if there is one."""

    value: Integer
    plan: Plan
    tied: Integer
    runner_up: Integer | None = None
    grade: Grade


class IncumbentClaim(Written):
    """The best plan found when no optimum is proved; no plan is better than `bound`."""

    value: Integer
    plan: Plan
    bound: Integer
    grade: Grade

    @property
    def optimal(self) -> bool:
        """Whether the plan is its own bound, so that none is better: an optimum without the number of ties."""
        return self.value == self.bound


class CountClaim(Written):
    """The number of feasible plans, between the two; equal when it is exact."""

    at_least: Integer
    at_most: Integer
    grade: Grade


class DistributionClaim(Written):
    """For each objective value, best first, how many feasible plans have it."""

    values: tuple[tuple[Integer, Integer], ...]
    grade: Grade


class Move(Written):
    """A threshold moved by the least amount that helps, in the unit and scale of its comparison."""

    constraint: str
    amount: Integer


class CorrectionClaim(Written):
    """Constraints to drop, and at most one threshold to move; `plan` satisfies what is left, and less is not enough."""

    drop: tuple[str, ...]
    move: Move | None = None
    plan: Plan


class ConflictsClaim(Written):
    """Why there is no plan: minimal sets of constraints that cannot hold together, and minimal corrections.

    `complete`: there are no others.
    """

    conflicts: tuple[tuple[str, ...], ...]
    corrections: tuple[CorrectionClaim, ...]
    complete: bool
    grade: Grade


class Claims(Written):
    """What is claimed. Optimum or incumbent come with solvable tasks only, a distribution with exact counts, conflicts
    with unsolvable tasks.
    """

    status: StatusClaim
    optimum: OptimumClaim | None = None
    incumbent: IncumbentClaim | None = None
    count: CountClaim | None = None
    distribution: DistributionClaim | None = None
    conflicts: ConflictsClaim | None = None

    def graded(self) -> dict[str, Grade]:
        """The grade of every claim that is made."""
        return {name: claim.grade for name in type(self).model_fields if (claim := getattr(self, name)) is not None}

    def headline(self) -> Grade:
        """The lowest grade."""
        return max(self.graded().values(), key=_ORDER.index)

    def with_grades(self, grades: dict[str, Grade]) -> Claims:
        """The same claims with other grades."""
        changed = {name: getattr(self, name).model_copy(update={"grade": grade}) for name, grade in grades.items()}
        return self.model_copy(update=changed)


class Evidence(Written):
    """What one engine answered, and how it was asked."""

    engine: str
    version: str
    parameters: dict[str, int | str | bool]
    status: Literal["optimal", "feasible", "infeasible", "unknown"]
    value: Integer | None = None
    count: Integer | None = None
    reason: str | None = None


class ObjectiveFacts(Written):
    """How to read objective values: `value / scale` in `unit`."""

    sense: Literal["minimize", "maximize"]
    unit: str
    scale: int = Field(json_schema_extra={"minimum": 1})

    @field_validator("scale")
    @classmethod
    def _power_of_ten(cls, value: int) -> int:
        if value < 1 or value != 10 ** (len(str(value)) - 1):
            raise ValueError(f"{value} is not 1, 10, 100 or another power of ten")
        return value


class DatasetFacts(Written):
    """Which data the claims are about, by digest."""

    name: str
    manifest: str
    tables: dict[str, str]
    relations: dict[str, str]


class TaskFacts(Written):
    """Which task the claims are about."""

    id: str
    digest: str


class Scope(Written):
    """Restrictions under which the claims hold: some constraints only, some offers only."""

    constraints: tuple[str, ...] | None = None
    within: dict[str, tuple[str, ...]] | None = None


class Certificate(Written):
    """The document. `digest` covers everything else in it."""

    cobench_certificate: Literal[1]
    version: str
    task: TaskFacts
    dataset: DatasetFacts
    scope: Scope
    objective: ObjectiveFacts
    claims: Claims
    evidence: tuple[Evidence, ...]
    digest: str

    def content(self) -> dict[str, Any]:
        """Everything but the digest, as plain data."""
        return self.model_dump(mode="json", exclude_none=True, exclude={"digest"})

    def to_bytes(self) -> bytes:
        """The file's bytes: canonical JSON."""
        return canonical_bytes({**self.content(), "digest": self.digest})

    def sealed(self) -> Certificate:
        """The same certificate with the digest of its content."""
        return self.model_copy(update={"digest": digest(self.content())})


def read_certificate(content: bytes, name: str) -> Certificate:
    """The certificate in a file's bytes; CertificateError when it is malformed, altered, or of another format."""
    where = Where(name)
    if len(content) > MAX_BYTES:
        raise CertificateError("a certificate is not larger than 64 MiB", where=where)
    value = read_canonical(content, name)
    if not isinstance(value, dict) or "cobench_certificate" not in value:
        raise CertificateError("this is not a cobench certificate", where=where)
    if value["cobench_certificate"] != FORMAT:
        hint = "certify the task again with this version"
        raise CertificateError(
            f"certificate format {value['cobench_certificate']}, this version reads {FORMAT}", where=where, hint=hint
        )
    try:
        certificate = Certificate.model_validate_json(content)
    except ValidationError as fault:
        first = fault.errors(include_url=False)[0]
        place = ".".join(map(str, first["loc"]))
        raise CertificateError(f"malformed certificate: {place}: {first['msg']}", where=where) from None
    if digest(certificate.content()) != certificate.digest:
        raise CertificateError("the digest does not fit the content: the certificate was altered", where=where)
    if certificate.to_bytes() != content:
        raise CertificateError("malformed certificate: it holds values that mean nothing", where=where)
    return certificate


def distribution_pairs(claim: DistributionClaim) -> list[tuple[int, int]]:
    """The pairs (value, count) as integers, best first."""
    return [(narrow(value), narrow(count)) for value, count in claim.values]


def wide_pairs(pairs: Iterable[tuple[int, int]]) -> tuple[tuple[Integer, Integer], ...]:
    """Pairs as a distribution claim holds them."""
    return tuple((wide(value), wide(count)) for value, count in pairs)
