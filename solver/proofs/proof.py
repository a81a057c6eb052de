"""From a model to a proof that its best plan is best, or that it has none: VeriPB's format, and no solver in it.

The proof logs the best plan, after which only better ones count. Then it shows row after row of one choice to be in no
better plan: unit propagation alone sees it (`rup`), or does so once the same is shown for the row with each row of
another choice, and so on. In the end no row is left. Propagation is that of the checker of proofs, which then need not
search; what it accepts does not depend on anything here.
"""

from __future__ import annotations

import time
from dataclasses import dataclass, field

from ..model import Model
from ..outcome import Limits, Reason
from .opb import Problem, problem_of
from .proof_check import Database, Linear

MAX_LINES = 200_000  # of a proof: beyond this it is refused


class NoProofError(Exception):
    """A proof would take more than the limits allow."""


@dataclass(frozen=True, slots=True)
class Proof:
    """The problem and the proof as texts, and what they prove: the optimum of the model's objective, None if there is
    no plan. `steps` is how many constraints the proof derives.
    """

    problem: Problem
    opb: str
    pbp: str
    optimum: int | None
    steps: int


def prove(model: Model, picked: tuple[int, ...] | None, limits: Limits) -> Proof:
    """The proof that the plan `picked` is a best one of the model; or, for None, that the model has no plan.

    Raises NoProofError when a limit stops it, and TooLargeError when the problem has too many terms; there is never a
    part of a proof. If the plan is not best, or there is one, every branch is tried, and NoProofError raised as well.
    Time: per line that of propagating one assumption; lines are the rows of the smallest choice where that is enough.
    """
    problem = problem_of(model)
    return _Proving(problem, limits).run(picked)


@dataclass(slots=True)
class _Proving:
    problem: Problem
    limits: Limits
    lines: list[str] = field(default_factory=list[str])
    database: Database = field(init=False)
    started: float = field(default_factory=time.monotonic)

    def __post_init__(self) -> None:
        self.database = Database(self.problem.variables)

    def run(self, picked: tuple[int, ...] | None) -> Proof:
        database = self.database
        for item in self.problem.all():
            terms = {variable: amount for amount, variable in item.terms}
            database.add((terms, item.right))
            if item.equal:
                database.add(({variable: -amount for variable, amount in terms.items()}, -item.right))
        size = len(database.linear)
        optimum = self._better(picked) if picked is not None else None
        for number in [*self.problem.rows, *range(size + 1, len(database.linear) + 1)]:
            self._shrink(number)
        if not database.failed:
            self._refute(())
        self._step("rup >= 1 ;", ({}, 1))
        last = len(database.linear)
        conclusion = "UNSAT" if optimum is None else f"BOUNDS {optimum}"
        tail = f" : {last}" + (f" {optimum}" if optimum is not None else "")
        head = ["pseudo-Boolean proof version 2.0", f"f {size}"]
        end = ["output NONE", f"conclusion {conclusion}{tail}", "end pseudo-Boolean proof"]
        pbp = "\n".join([*head, *self.lines, *end]) + "\n"
        return Proof(self.problem, self.problem.text(picked is not None), pbp, optimum, last - size)

    def _better(self, picked: tuple[int, ...]) -> int:
        """Logs the plan; its value."""
        ones = self.problem.ones(picked)
        objective = self.problem.objective
        value = sum(objective.get(variable, 0) for variable in ones)
        line = "soli " + " ".join(f"x{variable}" for variable in ones)
        self._step(line, ({variable: -amount for variable, amount in objective.items()}, 1 - value))
        return value

    def _shrink(self, number: int) -> None:
        """Derives a constraint in which each group's greatest coefficient is 0: exactly one of the group is 1.

        Only so does propagation see what is too dear together with the cheapest of the others.
        """
        coefficients, right = self.database.linear[number - 1]
        line, total = f"pol {number}", dict(coefficients)
        for index, group in enumerate(self.problem.groups):
            most = max((coefficients.get(variable, 0) for variable in group), default=0)
            if not most:
                continue
            # most > 0: add `-sum >= -1` so often; most < 0: add `sum >= 1`
            line += f" {2 * index + (2 if most > 0 else 1)} {abs(most)} * +"
            right -= most
            for variable in group:
                total[variable] = total.get(variable, 0) - most
        if right != self.database.linear[number - 1][1] or line.endswith("+"):
            self._step(line, (total, right))

    def _refute(self, prefix: tuple[int, ...]) -> None:
        """Derives that the rows of the prefix are in no plan together; for none, that there is no plan."""
        clause = dict.fromkeys(prefix, -1), 1 - len(prefix)
        done = self.database.assume_not(clause)
        rows = [] if done else self._open(prefix)
        self.database.retract()
        if not done:
            for row in rows:
                self._refute((*prefix, row))
        if prefix:
            terms = " ".join(f"1 ~x{variable}" for variable in prefix)
            self._step(f"rup {terms} >= 1 ;", clause)

    def _open(self, prefix: tuple[int, ...]) -> list[int]:
        """The rows that propagation leaves open, of the choice where they are fewest."""
        true = self.database.true
        choices = self.problem.groups[: self.problem.choices]
        left = [
            [row for row in group if not true[-row]] for group in choices if not any(row in group for row in prefix)
        ]
        if not left:
            raise NoProofError("there is a better plan than the one to be proved best")
        return min(left, key=len)

    def _step(self, line: str, linear: Linear) -> None:
        if len(self.lines) >= MAX_LINES:
            raise NoProofError(f"it would take more than {MAX_LINES:,} lines")
        if self.limits.left(self.started).seconds == 0:
            raise NoProofError(Reason.TIME)
        self.lines.append(line)
        self.database.add(linear)
