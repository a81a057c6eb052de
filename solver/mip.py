"""MIP through PuLP and HiGHS as a cross-checking engine: floating point, so its word is corroboration only.

Gaps are zero and the primal tolerance is 1e-10: with the defaults plans broke a budget of $100,000 by a cent. For whole
numbers it is 1e-7: with 1e-10 HiGHS 1.16 proved worse plans optimal in 2 of 100 models with cents at that scale. A plan
is rounded and evaluated again in integers; one that fails is cut off and the program solved again, three times at most.
PuLP's `status` calls a time-out Optimal (https://github.com/coin-or/pulp/issues/649), so only `sol_status` is read.
"""

from __future__ import annotations

import time
from importlib.metadata import version
from typing import Any

from .model import Ints, Model
from .outcome import Limits, Outcome, Reason, Status
from .program import Program, TooLarge, program

NAME: str = "highs"
MAX_SPAN = 10**9
PRIMAL_TOLERANCE = 1e-10
INTEGER_TOLERANCE = 1e-7
TRIES = 4


PARAMETERS: dict[str, int | str | bool] = {
    "gap": 0,
    "threads": 1,
    "random_seed": 0,
    "primal_feasibility_tolerance": str(PRIMAL_TOLERANCE),
    "mip_feasibility_tolerance": str(INTEGER_TOLERANCE),
}


def engine_version() -> str:
    """The versions of HiGHS and PuLP."""
    return f"{version('highspy')} through pulp {version('pulp')}"


def solve(model: Model, limits: Limits) -> Outcome:
    """The best plan of a model: OPTIMAL, INFEASIBLE, or how far the limits let it come."""
    try:
        built = program(model)
    except TooLarge:
        return Outcome(Status.UNKNOWN, reason=Reason.RANGE)
    spans = [item.coefficients for item in (*built.sums, built.objective)]
    if any(int(abs(span).max(initial=0)) > MAX_SPAN for span in spans):
        return Outcome(Status.UNKNOWN, reason=Reason.RANGE)
    return _solved(model, built, limits)


def _solved(model: Model, built: Program, limits: Limits) -> Outcome:
    import pulp

    started = time.monotonic()
    problem = pulp.LpProblem("cobench", pulp.LpMinimize)
    # Variables are numbered: no name that a user wrote can reach a solver and collide there.
    variables = [pulp.LpVariable(f"x{number}", cat=pulp.LpBinary) for number in range(built.variables)]
    problem += pulp.LpAffineExpression(_terms(variables, built.objective.variables, built.objective.coefficients))
    for item in built.sums:
        expression = pulp.LpAffineExpression(_terms(variables, item.variables, item.coefficients))
        if item.low is not None and item.low == item.high:
            problem += expression == item.low
        elif item.high is not None:
            problem += expression <= item.high
    for _ in range(TRIES):
        left = limits.left(started).seconds
        if left is not None and left <= 0:
            return Outcome(Status.UNKNOWN, reason=Reason.TIME)
        run(problem, left)
        if problem.sol_status == pulp.LpSolutionInfeasible:
            return Outcome(Status.INFEASIBLE)
        picked = built.picked({number for number, item in enumerate(variables) if round(item.varValue or 0.0) == 1})
        proved = problem.sol_status == pulp.LpSolutionOptimal
        if picked is None:
            return Outcome(Status.UNKNOWN, reason=Reason.TIME if not proved else Reason.WRONG)
        if model.feasible(picked, range(len(model.names))):
            value = model.objective.value(picked)
            if proved:
                return Outcome(Status.OPTIMAL, picked, value, value)
            return Outcome(Status.FEASIBLE, picked, value, model.objective.bounds()[0], Reason.TIME)
        chosen = [span.start + row for span, row in zip(built.choices, picked, strict=True)]
        problem += pulp.lpSum(variables[number] for number in chosen) <= len(chosen) - 1
    return Outcome(Status.UNKNOWN, reason=Reason.WRONG)


def run(problem: Any, seconds: float | None) -> None:
    """Solves a problem of PuLP as exactly as HiGHS can."""
    import pulp

    problem.solve(
        pulp.HiGHS(
            msg=False, gapRel=0.0, gapAbs=0.0, threads=1, timeLimit=seconds, random_seed=0,
            mip_feasibility_tolerance=INTEGER_TOLERANCE, primal_feasibility_tolerance=PRIMAL_TOLERANCE,
        )
    )  # fmt: skip


def _terms(variables: list[Any], numbers: Ints, coefficients: Ints) -> list[tuple[Any, int]]:
    return [
        (variables[number], coefficient)
        for number, coefficient in zip(numbers.tolist(), coefficients.tolist(), strict=True)
    ]
