"""Where a value stands among all feasible plans of a task."""

from __future__ import annotations

from ..datasets.opening import Dataset
from ..schemas.canonical import narrow, wide
from ..schemas.certificate import Certificate
from ..schemas.problem import Problem
from ..schemas.verdict import Standing
from .questions.place import Order, order_of


def standing(certificate: Certificate, value: int) -> Standing | None:
    """Read from the certificate's distribution, without any engine; None when it has none."""
    order = order_of(certificate)
    return None if order is None else standing_in(order, value, maximize=certificate.objective.sense == "maximize")


def standing_in(order: Order, value: int, *, maximize: bool) -> Standing:
    """The same from an order that is at hand, for many values."""
    own = -value if maximize else value
    better, tied = order.ranks([own])[own]
    return _standing(better, tied, order.total - better - tied)


def scan_standing(problem: Problem, data: Dataset, certificate: Certificate, value: int) -> Standing | None:
    """Counted by the scan, for tasks with too many values to list; None when the total or the rank is out of reach."""
    from .lowering.narrow import feasible  # on first use: most certificates have a distribution
    from .outcome import Limits
    from .scan import survey

    claim = certificate.claims.count
    if claim is None or claim.at_least != claim.at_most or problem.sets:
        return None
    total = narrow(claim.at_least)
    kept = certificate.scope.constraints
    model = feasible(problem if kept is None else problem.restrict(kept), data, certificate.scope.within).model
    own = -value if model.maximize else value
    ranks = survey(model, Limits(), (own,)).ranks
    if own not in ranks:
        return None
    better, tied = ranks[own]
    return _standing(better, tied, total - better - tied)


def in_top(standing: Standing, percent: int) -> bool:
    """Whether the value is in the top `percent` of the feasible plans: fewer than that share are better."""
    return 100 * narrow(standing.better) < percent * narrow(standing.total)


def _standing(better: int, tied: int, worse: int) -> Standing:
    return Standing(better=wide(better), tied=wide(tied), worse=wide(worse), total=wide(better + tied + worse))
