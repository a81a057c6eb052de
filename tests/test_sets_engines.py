"""The engines of set models say what trying every plan says, or decline with a reason."""

from __future__ import annotations

from cobench.solver.isolate import Engine
from cobench.solver.outcome import Limits, Outcome, Reason, Status
from cobench.solver.sets import cpsat, mip
from cobench.solver.sets.model import SetModel
from hypothesis import given

from .set_models import feasible_plans, random_set_model, set_models

LIMITS = Limits(20)
DECLINES = (Reason.RANGE, Reason.FORM)


def agrees(model: SetModel, engine: Engine) -> Outcome:
    """What the engine said, after it was compared with every plan."""
    outcome, plans = engine.solve(model, LIMITS), feasible_plans(model)
    if outcome.status is Status.UNKNOWN:
        assert outcome.reason in DECLINES
    elif outcome.status is Status.INFEASIBLE:
        assert not plans
    else:
        assert outcome.status is Status.OPTIMAL
        assert outcome.best == plans[0][0]
        assert (outcome.best, outcome.plan) in plans
    return outcome


@given(model=set_models())
def test_cp_sat_finds_the_optimum_of_every_plan(model: SetModel) -> None:
    agrees(model, cpsat)


@given(model=set_models())
def test_the_mip_finds_the_optimum_of_every_plan(model: SetModel) -> None:
    agrees(model, mip)


def test_most_models_are_answered_not_declined() -> None:
    outcomes = [(cpsat.solve(model, LIMITS), mip.solve(model, LIMITS)) for model in map(random_set_model, range(100))]
    by_cpsat, by_mip = (
        sum(said.status is not Status.UNKNOWN for said in column) for column in zip(*outcomes, strict=True)
    )
    assert by_cpsat >= 50
    assert by_mip >= 40
