"""CP-SAT as a cross-checking engine.

CP-SAT 9.15 can return a wrong OPTIMAL when the absolute coefficients of a row add up to more than 2^31
(https://github.com/google/or-tools/issues/5293). So it declines such programs, and the inclusion presolve in which the
fault was found is switched off. Its word is never taken alone: a plan is evaluated again on the model.
"""

from __future__ import annotations

import math
from importlib.metadata import version
from typing import Any

from .model import Model
from .outcome import Limits, Outcome, Reason, Status
from .program import Program, Sum, TooLarge, program

NAME: str = "cp-sat"
MAX_TOTAL = 2**31 - 1
PARAMETERS: dict[str, int | str | bool] = {
    "num_workers": 1,  # more workers change the answer from run to run, and are slower here
    "random_seed": 0,
    "presolve_inclusion_work_limit": 0,
    "max_deterministic_time": 60,  # CP-SAT's own measure of work, about a second each; the same on every machine
}


def engine_version() -> str:
    """The version of OR-Tools."""
    return version("ortools")


def solve(model: Model, limits: Limits) -> Outcome:
    """The best plan of a model: OPTIMAL, INFEASIBLE, or how far the limits let it come."""
    try:
        built = program(model)
    except TooLarge:
        return Outcome(Status.UNKNOWN, reason=Reason.RANGE)
    if any(_total(item) > MAX_TOTAL for item in (*built.sums, built.objective)):
        return Outcome(Status.UNKNOWN, reason=Reason.RANGE)
    return _solved(model, built, limits)


def _total(item: Sum) -> int:
    return sum(abs(coefficient) for coefficient in item.coefficients.tolist()) + abs(item.high or 0)


def _solved(model: Model, built: Program, limits: Limits) -> Outcome:
    # The helper alone: the modelling layer above it imports pandas, which costs more than most solves.
    from ortools.sat.python import cp_model_helper as helper

    proto = helper.CpModelProto()
    for _ in range(built.variables):
        proto.variables.add().domain.extend([0, 1])
    for item in built.sums:
        linear = proto.constraints.add().linear
        linear.vars.extend(item.variables.tolist())
        linear.coeffs.extend(item.coefficients.tolist())
        reach = _total(item)
        linear.domain.extend([-reach if item.low is None else item.low, reach if item.high is None else item.high])
    proto.objective.vars.extend(built.objective.variables.tolist())
    proto.objective.coeffs.extend(built.objective.coefficients.tolist())
    status, values, reason, least = run(proto, limits)
    if status is Status.INFEASIBLE:
        return Outcome(Status.INFEASIBLE)
    if status is Status.UNKNOWN:
        return Outcome(Status.UNKNOWN, reason=reason)
    picked = built.picked({variable for variable, value in enumerate(values) if value == 1})
    if picked is None or not model.feasible(picked, range(len(model.names))):
        return Outcome(Status.UNKNOWN, reason=Reason.WRONG)
    value = model.objective.value(picked)
    if status is Status.FEASIBLE:
        bound = model.objective.bounds()[0]
        if least is not None:
            bound = max(bound, built.base + built.unit * least)
        if bound > value:
            return Outcome(Status.UNKNOWN, reason=Reason.WRONG)
        return Outcome(Status.FEASIBLE, picked, value, bound, reason)
    claimed = built.base + built.unit * sum(
        coefficient * values[variable]
        for variable, coefficient in zip(
            built.objective.variables.tolist(), built.objective.coefficients.tolist(), strict=True
        )
    )
    if claimed != value:
        return Outcome(Status.UNKNOWN, reason=Reason.WRONG)
    return Outcome(Status.OPTIMAL, picked, value, value)


def run(proto: Any, limits: Limits) -> tuple[Status, list[int], Reason, int | None]:
    """What CP-SAT says of a program, the values of its variables (none without a plan), what stopped it if anything
    did, and what it proved the objective is never below: of integers, so the bound, a float, is rounded down.
    """
    from ortools.sat.python import cp_model_helper as helper

    parameters = helper.SatParameters()
    for name, value in PARAMETERS.items():
        setattr(parameters, name, value)
    if limits.seconds is not None:
        parameters.max_time_in_seconds = limits.seconds
    solver = helper.SolveWrapper()
    solver.set_parameters(parameters)
    response = solver.solve(proto)
    # It stops a moment before its time is over, so only its own measure of work tells the two limits apart.
    reason = Reason.WORK if response.deterministic_time >= parameters.max_deterministic_time else Reason.TIME
    bound = response.best_objective_bound
    least = math.floor(bound) if abs(bound) <= MAX_TOTAL else None
    if response.status == helper.CpSolverStatus.INFEASIBLE:
        return Status.INFEASIBLE, [], reason, None
    # Values after any other status are garbage, so they are read only here.
    if response.status == helper.CpSolverStatus.OPTIMAL:
        return Status.OPTIMAL, list(response.solution), reason, least
    if response.status == helper.CpSolverStatus.FEASIBLE:
        return Status.FEASIBLE, list(response.solution), reason, least
    return Status.UNKNOWN, [], reason, None
