"""MIP through PuLP and HiGHS as an engine for set models: as in its namesake, its word is corroboration only.

It answers where no big-M is needed: where literals guard conditions that zero-one sums say in themselves, and on routes
whose arcs alone decide the times and can form no circuit beside the route (as with flights at fixed times).
"""

from __future__ import annotations

import time
from collections.abc import Iterator, Mapping
from typing import Any

from ..mip import MAX_SPAN, NAME, PARAMETERS, TRIES, engine_version, run
from ..outcome import Limits, Outcome, Reason, Status
from .model import SetModel
from .program import Declined, Row, SetProgram, set_program

__all__ = ["NAME", "PARAMETERS", "engine_version", "solve"]


def solve(model: SetModel, limits: Limits) -> Outcome:
    """The best plan of a model: OPTIMAL, INFEASIBLE, or how far the limits let it come."""
    try:
        built = set_program(model)
        rows = [plain for row in built.rows for plain in _plain(row, built)]
    except Declined as declined:
        return Outcome(Status.UNKNOWN, reason=declined.reason)
    if any(high > 1 for _, high in built.domains) or not all(tour.acyclic() for tour in built.tours.values()):
        return Outcome(Status.UNKNOWN, reason=Reason.FORM)
    if any(
        abs(factor) > MAX_SPAN for terms in (*(row.terms for row in rows), built.objective) for factor in terms.values()
    ):
        return Outcome(Status.UNKNOWN, reason=Reason.RANGE)
    return _solved(model, built, rows, limits)


def _plain(row: Row, built: SetProgram) -> Iterator[Row]:
    """The same in rows without a literal and without big-M; raises Declined where there are none. Exact in each case.

    A guarded sum is read as: all its parts are at their least, or some part is not at its largest, or (of rows of which
    at most one is picked) those that are too large are not picked, or one of those that are small enough is.
    """
    if row.under is None:
        yield row
        return
    terms, high = row.terms, row.high
    least = sum(factor for factor in terms.values() if factor < 0)
    most = sum(factor for factor in terms.values() if factor > 0)
    step = min(abs(factor) for factor in terms.values())
    group = next((span for span in built.exclusive if all(variable in span for variable in terms)), None)
    if group is not None and high >= 0:
        yield _guarded({variable: 1 for variable, factor in terms.items() if factor > high}, 0, row.under)
    elif group is not None:
        yield _guarded({variable: -1 for variable, factor in terms.items() if factor <= high}, -1, row.under)
    elif high - least < step:
        for variable, factor in terms.items():
            yield _guarded({variable: 1 if factor > 0 else -1}, 0 if factor > 0 else -1, row.under)
    elif most - step <= high:
        signs = {variable: 1 if factor > 0 else -1 for variable, factor in terms.items()}
        yield _guarded(signs, sum(sign for sign in signs.values() if sign > 0) - 1, row.under)
    else:
        raise Declined(Reason.FORM)


def _guarded(terms: Mapping[int, int], high: int, under: int) -> Row:
    """The sum is at most `high` where the literal is true, else at most one more: which it never exceeds anyway."""
    variable, sign = (under, 1) if under >= 0 else (-under - 1, -1)
    return Row({**terms, variable: sign}, high + (1 if sign > 0 else 0))


def _solved(model: SetModel, built: SetProgram, rows: list[Row], limits: Limits) -> Outcome:
    import pulp

    started = time.monotonic()
    problem = pulp.LpProblem("cobench", pulp.LpMinimize)
    # Variables are numbered: no name that a user wrote can reach a solver and collide there.
    variables = [
        pulp.LpVariable(f"x{number}", low, high, pulp.LpInteger) for number, (low, high) in enumerate(built.domains)
    ]

    def expression(terms: Mapping[int, int]) -> Any:
        return pulp.LpAffineExpression([(variables[number], factor) for number, factor in terms.items()])

    problem += expression(built.objective)
    for row in rows:
        problem += expression(row.terms) <= row.high
    decisions = [*(number for span in built.parts for number in span)]
    decisions += [number for tour in built.tours.values() for number in tour.literals.values()]
    for _ in range(TRIES):
        left = limits.left(started).seconds
        if left is not None and left <= 0:
            return Outcome(Status.UNKNOWN, reason=Reason.TIME)
        run(problem, left)
        if problem.sol_status == pulp.LpSolutionInfeasible:
            return Outcome(Status.INFEASIBLE)
        proved = problem.sol_status == pulp.LpSolutionOptimal
        if not proved and any(item.varValue is None for item in variables):
            return Outcome(Status.UNKNOWN, reason=Reason.TIME)
        values = [round(item.varValue or 0.0) for item in variables]
        picked = built.picked(values)
        if picked is not None and model.feasible(picked):
            value = model.cost(picked)
            if proved:
                return Outcome(Status.OPTIMAL, picked, value, value)
            return Outcome(Status.FEASIBLE, picked, value, built.bound(), Reason.TIME)
        ones = [number for number in decisions if values[number]]
        others = [number for number in decisions if not values[number]]
        problem += expression({**dict.fromkeys(ones, 1), **dict.fromkeys(others, -1)}) <= len(ones) - 1
    return Outcome(Status.UNKNOWN, reason=Reason.WRONG)
