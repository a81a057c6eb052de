"""What the scan says about the whole feasible set, and how two parts of it are put together."""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass, field

from ..outcome import Outcome, Status


@dataclass(frozen=True, slots=True)
class Survey:
    """What the scan knows of all feasible plans. The plan in `outcome` is a best one, not yet the canonical one.

    `count`: least and greatest number of feasible plans, equal when exact. `tied`, the number of best plans, and
    `runner_up`, the next best value, are there with status OPTIMAL only. `ranks`: for each value that was asked for,
    how many plans are better and how many have it; empty when a limit stopped the scan. `tally`: value of the sum that
    was asked for -> plans; None when a limit stopped the scan, or when the sum has too many values.
    """

    outcome: Outcome
    count: tuple[int, int]
    tied: int = 0
    runner_up: int | None = None
    ranks: Mapping[int, tuple[int, int]] = field(default_factory=dict[int, tuple[int, int]])
    tally: Mapping[int, int] | None = None

    def merge(self, other: Survey) -> Survey:
        """The survey of both sets of plans, from surveys of two disjoint sets that were asked the same.

        Associative. Equal to the survey of the whole, except that it may hold another of the best plans; a part that a
        limit stopped makes the whole stopped. Two empty sets make an empty one.
        """
        first, second = self.outcome, other.outcome
        low, high = (mine + others for mine, others in zip(self.count, other.count, strict=True))
        ranks = {
            value: (better + other.ranks[value][0], tied + other.ranks[value][1])
            for value, (better, tied) in self.ranks.items()
            if value in other.ranks
        }
        tally = None
        if self.tally is not None and other.tally is not None:
            tally = dict(self.tally)
            for value, number in other.tally.items():
                tally[value] = tally.get(value, 0) + number
        reason = first.reason or second.reason
        best = min(
            (part for part in (first, second) if part.value is not None), key=lambda part: part.best, default=None
        )
        if reason is not None:
            return Survey(_stopped(best, first, second), (low, high), ranks=ranks, tally=tally)
        if best is None:
            return Survey(first, (low, high), ranks=ranks, tally=tally)
        values = sorted(
            {value for part in (self, other) for value in (part.outcome.value, part.runner_up) if value is not None}
        )
        tied = sum(part.tied for part in (self, other) if part.outcome.value == best.value)
        return Survey(best, (low, high), tied, values[1] if len(values) > 1 else None, ranks, tally)


def _stopped(best: Outcome | None, first: Outcome, second: Outcome) -> Outcome:
    """The outcome when a limit stopped at least one of two."""
    reason = first.reason or second.reason
    if best is None:
        return Outcome(Status.UNKNOWN, reason=reason)
    bounds = [part.bound for part in (first, second) if part.status is not Status.INFEASIBLE]
    known = [bound for bound in bounds if bound is not None]
    bound = min(known) if len(known) == len(bounds) else None
    return Outcome(Status.FEASIBLE, best.picked, best.value, bound, reason)
