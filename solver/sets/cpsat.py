"""CP-SAT as an engine for set models: the same caution as in its namesake, which says why.

What an enforced row adds up to counts twice: where its literal is false CP-SAT moves the bound by as much.
"""

from __future__ import annotations

from collections.abc import Mapping
from typing import Any

from ..cpsat import MAX_TOTAL, NAME, PARAMETERS, engine_version, run
from ..outcome import Limits, Outcome, Reason, Status
from .model import SetModel
from .program import Declined, SetProgram, set_program
from .tour import Tour

__all__ = ["NAME", "PARAMETERS", "engine_version", "solve"]


def solve(model: SetModel, limits: Limits) -> Outcome:
    """The best plan of a model: OPTIMAL, INFEASIBLE, or how far the limits let it come."""
    try:
        built = set_program(model)
    except Declined as declined:
        return Outcome(Status.UNKNOWN, reason=declined.reason)
    totals = [(1 if row.under is None else 2) * (_total(built, row.terms) + abs(row.high)) for row in built.rows]
    if max([_total(built, built.objective), *totals]) > MAX_TOTAL:
        return Outcome(Status.UNKNOWN, reason=Reason.RANGE)
    return _solved(model, built, limits)


def _total(built: SetProgram, terms: Mapping[int, int]) -> int:
    """What a sum never exceeds in absolute value, whatever signs its parts have."""
    domains = built.domains
    return sum(abs(factor) * max(map(abs, domains[variable])) for variable, factor in terms.items())


def _solved(model: SetModel, built: SetProgram, limits: Limits) -> Outcome:
    # The helper alone: the modelling layer above it imports pandas, which costs more than most solves.
    from ortools.sat.python import cp_model_helper as helper

    proto = helper.CpModelProto()
    for domain in built.domains:
        proto.variables.add().domain.extend(domain)
    for row in built.rows:
        constraint = proto.constraints.add()
        if row.under is not None:
            constraint.enforcement_literal.append(row.under)
        constraint.linear.vars.extend(row.terms.keys())
        constraint.linear.coeffs.extend(row.terms.values())
        constraint.linear.domain.extend([min(-_total(built, row.terms), row.high), row.high])
    for tour in built.tours.values():
        _circuit(proto.constraints.add().circuit, tour)
    proto.objective.vars.extend(built.objective.keys())
    proto.objective.coeffs.extend(built.objective.values())
    status, values, reason, least = run(proto, limits)
    if status is Status.INFEASIBLE:
        return Outcome(Status.INFEASIBLE)
    if status is Status.UNKNOWN:
        return Outcome(Status.UNKNOWN, reason=reason)
    picked = built.picked(values)
    if picked is None or not model.feasible(picked):
        return Outcome(Status.UNKNOWN, reason=Reason.WRONG)
    value = model.cost(picked)
    if status is Status.FEASIBLE:
        bound = built.bound() if least is None else max(built.bound(), built.base + built.unit * least)
        if bound > value:
            return Outcome(Status.UNKNOWN, reason=Reason.WRONG)
        return Outcome(Status.FEASIBLE, picked, value, bound, reason)
    if built.value(values) != value:
        return Outcome(Status.UNKNOWN, reason=Reason.WRONG)
    return Outcome(Status.OPTIMAL, picked, value, value)


def _circuit(circuit: Any, tour: Tour) -> None:
    """Every node has one arc in and one out, and those that are no loops form one circuit: rows not visited loop."""
    arcs = dict(tour.literals)
    arcs |= {(row, row): -variable - 1 for row, variable in enumerate(tour.rows)}
    arcs[len(tour.rows) + 1, len(tour.rows)] = 0  # from end to start; variable 0 is always 1
    circuit.tails.extend(tail for tail, _ in arcs)
    circuit.heads.extend(head for _, head in arcs)
    circuit.literals.extend(arcs.values())
