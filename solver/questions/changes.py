"""What changed between two sets of certificates, and between verdicts on the same submissions before and after."""

from __future__ import annotations

from collections.abc import Iterator, Mapping, Sequence
from dataclasses import dataclass
from typing import Literal

from ...schemas.canonical import narrow
from ...schemas.certificate import Certificate, Claims, ObjectiveFacts
from ...schemas.errors import InputError
from ...schemas.verdict import Verdict, VerdictKind
from ..rank import in_top
from .place import order_of

CUT = 5
KEPT = (VerdictKind.OPTIMAL, VerdictKind.FEASIBLE)


@dataclass(frozen=True, slots=True)
class Amounts:
    """What a certificate says in numbers; None for what it does not claim.

    `count`: least and greatest number of plans. `cut`: the worst value among the best 5 %, from the distribution.
    """

    objective: ObjectiveFacts
    status: str
    optimum: int | None
    count: tuple[int, int] | None
    cut: int | None


@dataclass(frozen=True, slots=True)
class Change:
    """One task: whether it is in one set only, which of its inputs differ, and which of its claims do."""

    task: str
    kind: Literal["added", "removed", "changed"]
    inputs: tuple[str, ...]
    claims: tuple[str, ...]
    old: Amounts | None
    new: Amounts | None


@dataclass(frozen=True, slots=True)
class Flip:
    """A submission, by its task and place among the submissions to it, whose verdict changed in one of three ways."""

    task: str
    number: int
    what: tuple[str, ...]
    old: Verdict
    new: Verdict


def changes(old: Mapping[str, Certificate], new: Mapping[str, Certificate]) -> list[Change]:
    """Every task that is in one set only, or whose certificates differ in inputs or claims, by id."""
    return [change for task in sorted({*old, *new}) for change in _change(task, old.get(task), new.get(task))]


def _change(task: str, old: Certificate | None, new: Certificate | None) -> Iterator[Change]:
    if old is None or new is None:
        only = old or new
        if only is not None:
            amounts = _amounts(only)
            kind = "added" if old is None else "removed"
            yield Change(task, kind, (), (), amounts if new is None else None, amounts if old is None else None)
        return
    inputs, claims = tuple(_inputs(old, new)), tuple(_claims(old, new))
    if inputs or claims:
        yield Change(task, "changed", inputs, claims, _amounts(old), _amounts(new))


def _amounts(certificate: Certificate) -> Amounts:
    claims = certificate.claims
    optimum = claims.optimum or (claims.incumbent if claims.incumbent and claims.incumbent.optimal else None)
    count = (narrow(claims.count.at_least), narrow(claims.count.at_most)) if claims.count is not None else None
    return Amounts(
        certificate.objective,
        claims.status.value,
        narrow(optimum.value) if optimum is not None else None,
        count,
        cut(certificate, CUT),
    )


def cut(certificate: Certificate, percent: int) -> int | None:
    """The worst value that is still among the best `percent` of the plans; None without a distribution."""
    order = order_of(certificate)
    if order is None or not order.total:
        return None
    sign = -1 if certificate.objective.sense == "maximize" else 1
    (last,) = order.at([-(-percent * order.total // 100)])
    return sign * last


def _inputs(old: Certificate, new: Certificate) -> Iterator[str]:
    """What the certificates are about, where that differs."""
    if old.task.digest != new.task.digest:
        yield "task"
    if old.dataset.manifest != new.dataset.manifest:
        yield "manifest"
    for kind, before, after in (
        ("table", old.dataset.tables, new.dataset.tables),
        ("relation", old.dataset.relations, new.dataset.relations),
    ):
        yield from (f"{kind} {name}" for name in sorted({*before, *after}) if before.get(name) != after.get(name))
    if old.scope != new.scope:
        yield "scope"


def _claims(old: Certificate, new: Certificate) -> Iterator[str]:
    """What the certificates say, where that differs; grades apart, which tell how it is known."""
    if old.objective != new.objective:
        yield "objective"
    before, after = _amounts(old), _amounts(new)
    for name in ("status", "optimum", "count", "cut"):
        if getattr(before, name) != getattr(after, name):
            yield name
    if _best_plan(old.claims) != _best_plan(new.claims):
        yield "best plan"
    if _said(old.claims, "distribution") != _said(new.claims, "distribution"):
        yield "distribution"
    if _said(old.claims, "conflicts") != _said(new.claims, "conflicts"):
        yield "conflicts"


def _best_plan(claims: Claims) -> object:
    best = claims.optimum or claims.incumbent
    return best.plan if best is not None else None


def _said(claims: Claims, name: str) -> object:
    claim = getattr(claims, name)
    return claim.model_dump(exclude={"grade"}) if claim is not None else None


def flips(old: Sequence[Verdict], new: Sequence[Verdict]) -> list[Flip]:
    """The submissions that became feasible or ceased to be, became optimal or ceased to be, or crossed the 5 % cut.

    The k-th verdict on a task before is compared with the k-th one after; InputError when one side has more.
    """
    before, after = _by_task(old), _by_task(new)
    found: list[Flip] = []
    for task in sorted({*before, *after}):
        ours, theirs = before.get(task, []), after.get(task, [])
        if len(ours) != len(theirs):
            message = f"the task '{task}' has {len(ours)} verdicts before and {len(theirs)} after"
            raise InputError(message, hint="score the same submissions, in the same order")
        for number, (was, now) in enumerate(zip(ours, theirs, strict=True), 1):
            what = tuple(_flipped(was, now))
            if what:
                found.append(Flip(task, number, what, was, now))
    return found


def _by_task(verdicts: Sequence[Verdict]) -> dict[str, list[Verdict]]:
    found: dict[str, list[Verdict]] = {}
    for verdict in verdicts:
        found.setdefault(verdict.task, []).append(verdict)
    return found


def _flipped(old: Verdict, new: Verdict) -> Iterator[str]:
    if (old.kind in KEPT) != (new.kind in KEPT):
        yield "feasible" if new.kind in KEPT else "no longer feasible"
    elif old.kind not in KEPT and old.kind is not new.kind:
        yield f"{old.kind.value} became {new.kind.value}"
    if (old.kind is VerdictKind.OPTIMAL) != (new.kind is VerdictKind.OPTIMAL):
        yield "optimal" if new.kind is VerdictKind.OPTIMAL else "no longer optimal"
    tops = [verdict.standing is not None and in_top(verdict.standing, CUT) for verdict in (old, new)]
    if tops[0] != tops[1] and all(verdict.standing is not None or verdict.kind not in KEPT for verdict in (old, new)):
        yield f"in the best {CUT} %" if tops[1] else f"no longer in the best {CUT} %"
