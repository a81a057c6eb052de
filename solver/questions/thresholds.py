"""Moving one threshold: what every place at which it can stand makes of a task.

A threshold is a constraint that compares a number with a literal. Moved by `slack` (positive loosens it), it lets
through the plans whose linear form is at most `slack`: their number only grows, and the optimum is a step function of
it. So counts are found by bisection and unique optima by walking the steps; nothing is sampled.
"""

from __future__ import annotations

from collections.abc import Callable, Iterator
from dataclasses import dataclass, replace
from fractions import Fraction

import numpy as np

from ...schemas import expression as ex
from ...schemas.certificate import MAX_DISTRIBUTION
from ...schemas.problem import Constraint, Problem
from ...schemas.units import parse_decimal
from .. import scan
from ..conflicts import Correction, without
from ..lower import Lowered
from ..model import Ints, Model, Row
from ..outcome import Limits, Status, Undecided
from ..scan import Survey
from . import naive

MAX_STEPS = 1_000  # of the optimum, or thresholds tried for a margin
TRIED = f"{MAX_STEPS:,} places of the threshold were tried"
LISTED = f"more than {MAX_DISTRIBUTION:,} places of the threshold to try, or too much work to list them"


@dataclass(frozen=True, slots=True)
class Unique:
    """One plan alone reaches the optimum."""


@dataclass(frozen=True, slots=True)
class Plans:
    """So many plans are feasible; at least one."""

    number: int


@dataclass(frozen=True, slots=True)
class Margin:
    """Every naive plan is infeasible, or worse than the optimum by `amount` steps or by `percent` of it."""

    amount: int = 0
    percent: Fraction = Fraction(0)

    def reached(self, gap: int | None, optimum: int) -> bool:
        """Whether the smallest gap (None: no naive plan is feasible) is wide enough."""
        return gap is None or (gap > 0 and gap >= self.amount and 100 * gap >= self.percent * abs(optimum))


Goal = Unique | Plans | Margin


@dataclass(frozen=True, slots=True)
class Dial:
    """A threshold of constraint `number`; adding `sign * slack` to its literal loosens it by slack."""

    number: int
    literal: ex.Literal
    sign: int
    step: int  # literals that are decimals are so many integers apart
    digits: int

    def literal_in(self, low: int, high: int | None) -> int | None:
        """The slack from `low` to `high` whose literal is round and near the present one; None without a decimal."""
        value = int(self.literal.value)
        wide = max(self.literal.type.scale, abs(value) // 100, self.step)
        if low > 0:
            high = low + wide if high is None else min(high, low + wide)
        elif high is not None and high < 0:
            low = max(low, high - wide)
        else:
            return 0
        first, last = sorted((value + self.sign * low, value + self.sign * high))
        size = self.step * 10 ** len(str(max(abs(first), abs(last))))
        while size >= self.step:
            least, most = -(-first // size) * size, last // size * size
            if least <= most:
                literal = least if abs(least - value) <= abs(most - value) else most
                return self.sign * (literal - value)
            size = size // 10 if size > self.step else 0
        return None


def dial_of(constraint: Constraint, number: int) -> Dial | None:
    """The dial of a threshold; None when it is no comparison with a number written as one."""
    node = constraint.condition
    if not isinstance(node, ex.Compare):
        return None
    right = isinstance(node.right, ex.Literal)
    literal = node.right if right else node.left
    if not isinstance(literal, ex.Literal):
        return None
    written = constraint.text.text[literal.span.start : literal.span.end]
    if parse_decimal(written) is None:  # a parameter, or a sum of numbers
        return None
    step = literal.type.scale
    for factor in (2, 5):
        while step % factor == 0:
            step //= factor
    upward = (node.op in ("<", "<=")) == right
    return Dial(number, literal, 1 if upward else -1, step, len(written.partition(".")[2]))


class Turning:
    """What moving one threshold does: `base` has every plan that satisfies all other constraints."""

    def __init__(self, problem: Problem, lowered: Lowered, dial: Dial, left: Callable[[], Limits]) -> None:
        self.problem, self.lowered, self.dial, self.left = problem, lowered, dial, left
        model = lowered.model
        moved = without(model, Correction((), dial.number, 0))
        self.linear = moved.objective  # of the rows where all its parts are known
        rest = [number for number in range(len(model.names)) if number != dial.number]
        known = {choice: np.flatnonzero(flags) for choice, flags in model.thresholds[dial.number].known.items()}
        self.base = replace(moved, objective=model.kept(rest, known).objective, maximize=model.maximize)
        self.steps = 0

    def slacks(self, goal: Goal) -> Iterator[tuple[int, bool]]:
        """Slacks that reach the goal (True), or come nearest (False): at most one tighter and one looser than now."""
        if not all(len(choice) for choice in self.base.choices):
            return
        if isinstance(goal, Plans):
            found = self._counts(goal.number)
        else:
            found = self._unique() if isinstance(goal, Unique) else self._margins(goal)
        for low, high, promised in found:
            slack = self.dial.literal_in(low, high)
            if slack is not None:
                yield slack, promised

    # models

    def at_most(self, slack: int) -> Model:
        """The base with the threshold at a slack."""
        linear = replace(self.linear, constant=self.linear.constant - slack)
        if linear.terms or len(linear.columns) > 1:
            return replace(self.base, rows=(*self.base.rows, Row(self.dial.number, linear)))
        rows = {choice: np.flatnonzero(column + linear.constant <= 0) for choice, column in linear.columns.items()}
        return self.base.narrowed(rows)

    def _survey(self, model: Model) -> Survey:
        found = scan.survey(model, self.left())
        if found.outcome.reason is not None:
            raise Undecided(found.outcome.reason)
        return found

    def _try(self) -> None:
        """Counts one more place of the threshold; raises Undecided when there were enough."""
        self.steps += 1
        if self.steps > MAX_STEPS:
            raise Undecided(TRIED)

    # a number of plans

    def _counts(self, number: int) -> Iterator[tuple[int, int | None, bool]]:
        step = self.dial.step
        low, high = self.linear.bounds()
        first, last = low // step - 1, -(-high // step)  # in steps: nothing passes, everything passes

        def least(plans: int) -> int | None:
            """The least slack, in steps, with so many plans."""
            bottom, top = first, last
            if self._count(top * step) < plans:
                return None
            while top - bottom > 1:
                middle = (bottom + top) // 2
                bottom, top = (bottom, middle) if self._count(middle * step) >= plans else (middle, top)
            return top

        reached = least(number)
        below = self._count((reached - 1) * step if reached is not None else last * step)
        if reached is not None and self._count(reached * step) == number:
            beyond = least(number + 1)
            yield reached * step, None if beyond is None else (beyond - 1) * step, True
            return
        if below:
            start = least(below)
            if start is not None:
                yield start * step, None if reached is None else (reached - 1) * step, False
        if reached is not None:
            beyond = least(self._count(reached * step) + 1)
            yield reached * step, None if beyond is None else (beyond - 1) * step, False

    def _count(self, slack: int) -> int:
        return self._survey(self.at_most(slack)).count[0]

    # a unique optimum

    def _unique(self) -> Iterator[tuple[int, int | None, bool]]:
        """The nearest steps of the optimum, tighter and looser, that one plan alone begins."""
        now = self._survey(self.at_most(0)).outcome
        if now.status is Status.OPTIMAL:
            value = now.best
            while True:
                low, high, alone = self._step(value)
                if alone and self.dial.literal_in(low, high) is not None:
                    yield low, high, True
                    break
                tighter = self._survey(self.at_most(low - 1)).outcome
                if tighter.status is Status.INFEASIBLE:
                    break
                value = tighter.best
        bound = now.best - 1 if now.status is Status.OPTIMAL else None
        while (start := self._least_slack(bound)) is not None:
            value = self._survey(self.at_most(start)).outcome.best
            low, high, alone = self._step(value)
            if alone and self.dial.literal_in(low, high) is not None:
                yield low, high, True
                break
            bound = value - 1

    def _step(self, value: int) -> tuple[int, int | None, bool]:
        """The slacks at which the optimum is `value`, as far as no other plan of that value or a better one comes in;
        and whether it is one plan.
        """
        self._try()
        found = self._survey(self._no_worse(value))
        high = found.runner_up - 1 if found.runner_up is not None else None
        return found.outcome.best, high, found.tied == 1

    def _least_slack(self, value: int | None) -> int | None:
        """The least slack with a plan of at most that value."""
        found = self._survey(self._no_worse(value)).outcome
        return found.best if found.status is Status.OPTIMAL else None

    def _no_worse(self, value: int | None) -> Model:
        """Plans of at most that value, least slack first."""
        rows = self.base.rows
        if value is not None:
            worth = self.base.objective
            rows = (*rows, Row(self.dial.number, replace(worth, constant=worth.constant - value)))
        return replace(self.base, rows=rows, objective=self.linear, maximize=False)

    # a margin over naive plans

    def _margins(self, goal: Margin) -> Iterator[tuple[int, int | None, bool]]:
        """The nearest thresholds with the margin, tighter and looser; else the one with the widest."""
        slacks = self._changing()
        place = sum(slack <= 0 for slack in slacks)
        best: tuple[Fraction, int] | None = None
        found = False

        def widest() -> Iterator[tuple[int, int | None, bool]]:
            if not found and best is not None:
                number = best[1]
                yield slacks[number], slacks[number + 1] - 1 if number + 1 < len(slacks) else None, False

        for order in (range(place - 1, -1, -1), range(place, len(slacks))):
            for number in order:
                if self.steps == MAX_STEPS:
                    yield from widest()
                self._try()
                slack, beyond = slacks[number], slacks[number + 1] - 1 if number + 1 < len(slacks) else None
                model = self.at_most(slack)
                outcome = self._survey(model).outcome
                if outcome.status is Status.INFEASIBLE:
                    continue
                gap = naive.gap(self.problem, self.lowered, model, outcome.best)
                if goal.reached(gap, outcome.best):
                    found = True
                    yield slack, beyond, True
                    break
                share = Fraction(gap or 0, max(1, abs(outcome.best))) if goal.percent else Fraction(gap or 0)
                if best is None or share > best[0]:
                    best = share, number
        yield from widest()

    def _changing(self) -> list[int]:
        """The slacks, ascending, at which the feasible plans or what a naive strategy picks can change."""
        last = max({*self.linear.columns, *(c for term in self.linear.terms for c in term.choices)}, default=0)
        every = replace(self.base, objective=self.linear, maximize=False)
        pairs = scan.distribution(every, MAX_DISTRIBUTION, self.left())
        if pairs is None:
            self.left()  # says so when it was the time
            raise Undecided(LISTED)
        values = {value for value, _ in pairs}
        for item in naive.shortcuts(self.problem, self.lowered, self.base):
            if len(item.rows) >= last:  # else stuck before the threshold counts
                values.update(self._along(item.rows, last).tolist())
        step = self.dial.step
        return sorted({-(-value // step) * step for value in values})

    def _along(self, rows: tuple[int, ...], last: int) -> Ints:
        """The linear form for each row of its last choice, the choices before it picked: distinct values."""
        total = np.full(len(self.base.choices[last]), self.linear.constant, np.int64)
        for choice, column in self.linear.columns.items():
            total += column if choice == last else column[rows[choice]]
        for term in self.linear.terms:
            cells = (
                codes if choice == last else codes[[rows[choice]]]
                for choice, codes in zip(term.choices, term.codes, strict=True)
            )
            total += term.values[tuple(cells)]
        return np.unique(total)
