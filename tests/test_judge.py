"""Verdicts on recommendations in conversations, and the exact division of regret, against the truth."""

from __future__ import annotations

import json
import os
from collections.abc import Iterator, Sequence
from dataclasses import replace
from fractions import Fraction

import pytest
from cobench.agent_runner import suites
from cobench.agent_runner.env import Env
from cobench.agent_runner.episode import converse
from cobench.agent_runner.judge import FEASIBLE, Judge
from cobench.schemas import expression as ex
from cobench.schemas.canonical import narrow, wide
from cobench.schemas.certificate import Scope
from cobench.schemas.episode import Answered, Fault
from cobench.schemas.plan import Plan
from cobench.schemas.problem import Constraint, Problem
from cobench.schemas.verdict import Standing, VerdictKind
from cobench.solver.certify import certify, certify_problem
from cobench.solver.outcome import Limits
from cobench.solver.questions.shown import ShownOffers
from cobench.solver.rank import in_top
from hypothesis import event, given, settings
from hypothesis import strategies as st

from .oracle import Truth, read_data
from .phrases import Case, cases
from .played import Scripted, env_of, suite_of
from .test_semantics import Posed, posed, slow

THOROUGH = os.environ.get("COBENCH_HYPOTHESIS") == "thorough"
few = settings(slow, max_examples=500 if THOROUGH else 15)
HOTEL, WISHES = "parks-1-01-southwest-fixed-dates", "parks-1-06-workation-eight-wishes"
WEEKEND, TRAIL = "parks-2-01-zion-weekend", "parks-3-01-angels-landing"


@pytest.fixture(scope="module")
def suite(tmp_path_factory: pytest.TempPathFactory) -> suites.Suite:
    """A task of each level, and one that counts wishes."""
    return suite_of((HOTEL, WISHES, WEEKEND, TRAIL), tmp_path_factory.mktemp("suite"))


def answer(**ids: str | list[str]) -> str:
    return json.dumps({"message": "Here you are.", "recommendation": ids})


def plan_for(case: suites.Case, problem: Problem) -> Plan:
    """The best plan of a problem that is a changed form of the task."""
    found = certify_problem(problem, case.dataset, Scope(), Limits(), "scan").certificate.claims.optimum
    assert found is not None
    return found.plan


def ids_of(plan: Plan) -> dict[str, str]:
    return {choice: picks[0].id for choice, picks in plan.picks.items()}


def formal(plan: Plan) -> str:
    return answer(**{f"{choice}_id": offer for choice, offer in ids_of(plan).items()})


def breaking(case: suites.Case) -> Iterator[tuple[str, Plan]]:
    """For each constraint that can be broken alone a plan that breaks it and keeps all others."""
    problem = case.problem
    for constraint in problem.constraints:
        wrong = ex.Not(constraint.condition, constraint.condition.type, constraint.condition.span)
        others = tuple(item for item in problem.constraints if item is not constraint)
        broken = replace(problem, constraints=(*others, Constraint("broken", wrong, constraint.text)))
        found = certify_problem(broken, case.dataset, Scope(), Limits(), "scan").certificate.claims.optimum
        if found is not None:
            yield constraint.name, found.plan


def settled(env: Env, text: str) -> Env:
    """The conversation with an agent that gives one answer throughout."""
    converse(env, Scripted(text))
    return env


@pytest.mark.row(41)
@pytest.mark.parametrize("task", [HOTEL, WEEKEND, TRAIL])
def test_an_answer_is_feasible_or_breaks_exactly_what_was_broken(suite: suites.Suite, task: str) -> None:
    case = suite.case(task)
    optimum = case.certificate.claims.optimum
    assert optimum is not None
    best = settled(env_of(case), formal(optimum.plan)).episode()
    assert best.verdict.kind is VerdictKind.OPTIMAL
    broken = dict(breaking(case))
    for name, plan in broken.items():
        found = settled(env_of(case), formal(plan)).episode()
        assert found.verdict.kind is VerdictKind.VIOLATES
        assert [item.constraint for item in found.verdict.violations] == [name]
    assert len(broken) >= len(case.problem.constraints) - 1
    nothing = settled(env_of(case), json.dumps({"message": "I do not know."})).episode()
    assert nothing.verdict.kind is VerdictKind.NO_ANSWER
    assert nothing.ended == "turn limit"


@pytest.mark.row(42)
@pytest.mark.parametrize(
    ("better", "tied", "total", "tops"),
    [
        (0, 1, 1, (True, True, True)),  # the optimum of one counts
        (0, 7, 7, (True, True, True)),  # all tie
        (0, 3, 1000, (True, True, True)),
        (1, 1, 19, (False, True, True)),  # one of 19 is more than 5 %: in small sets only the optimum is among the best
        (1, 1, 20, (False, True, True)),  # exactly 5 % are better: not among the best 5 %
        (1, 1, 21, (True, True, True)),
        (49, 2, 1000, (True, True, True)),  # ties share the better rank
        (50, 950, 1000, (False, True, True)),
        (99, 1, 1000, (False, True, True)),
        (100, 1, 1000, (False, False, True)),
        (199, 1, 1000, (False, False, True)),
        (200, 1, 1000, (False, False, False)),
        (1, 1, 2, (False, False, False)),
        (5 * 10**30 - 1, 1, 10**32, (True, True, True)),  # no rounding
        (5 * 10**30, 1, 10**32, (False, True, True)),
    ],
)
def test_the_best_percent_are_those_with_fewer_better_ones(
    better: int, tied: int, total: int, tops: tuple[bool, ...]
) -> None:
    place = Standing(better=wide(better), tied=wide(tied), worse=wide(total - better - tied), total=wide(total))
    assert tuple(in_top(place, percent) for percent in (5, 10, 20)) == tops


@pytest.mark.row(43)
@pytest.mark.parametrize("task", [HOTEL, WISHES])
def test_at_level_one_the_best_of_three_counts_and_a_fourth_is_refused(suite: suites.Suite, task: str) -> None:
    case = suite.case(task)
    optimum = case.certificate.claims.optimum
    assert optimum is not None
    best, wrong = ids_of(optimum.plan)["hotel"], dict(breaking(case))
    infeasible = [ids_of(plan)["hotel"] for plan in wrong.values()]
    second = ids_of(plan_for(case, _without(case, best)))["hotel"]
    three = settled(env_of(case), answer(hotel_ids=[infeasible[0], second, best])).episode()
    assert three.verdict.kind is VerdictKind.OPTIMAL
    assert len(three.turns[-1].options) == 3
    two = settled(env_of(case), answer(hotel_ids=[infeasible[0], second, "pkg_none_1_2_1"])).episode()
    assert (two.verdict.kind, two.verdict.gap) == (VerdictKind.FEASIBLE, two.regret and two.regret.exploration)
    unknown = settled(env_of(case), answer(hotel_ids=["pkg_none_1_2_1", infeasible[0]])).episode()
    assert unknown.verdict.kind is VerdictKind.UNKNOWN_OFFER  # neither is feasible: the first
    four = env_of(case)
    assert four.submit(answer(hotel_ids=[*infeasible[:2], second, best])) is Answered.FORMAT_ERROR
    assert four.episode().verdict.kind is VerdictKind.NO_ANSWER


def _without(case: suites.Case, offer: str) -> Problem:
    """The task without the value of its optimum."""
    objective = case.problem.objective
    limit = ex.Literal(case.optimum, objective.type, objective.expr.span)
    op = "<" if objective.maximize else ">"
    worse = ex.Compare(op, objective.expr, limit, case.problem.constraints[0].condition.type, objective.expr.span)
    return replace(case.problem, constraints=(*case.problem.constraints, Constraint(offer, worse, objective.text)))


@pytest.mark.row(43)
def test_at_higher_levels_exactly_one_plan_is_taken(suite: suites.Suite) -> None:
    case = suite.case(WEEKEND)
    optimum = case.certificate.claims.optimum
    assert optimum is not None
    ids = ids_of(optimum.plan)
    env = env_of(case)
    assert env.submit(answer(hotel_ids=[ids["hotel"]], flight_ids=[ids["flight"]])) is Answered.RECOMMENDATION
    assert env.score_turn().verdict.kind is VerdictKind.OPTIMAL
    two = answer(hotel_ids=[ids["hotel"], "pkg_none_1_2_1"], flight_id=ids["flight"])
    assert "exactly one" in (env.fault_of(two) or "")
    assert "lacks flight_id" in (env.fault_of(answer(hotel_id=ids["hotel"])) or "")


@pytest.mark.row(44)
def test_the_gap_is_zero_for_the_optimum_and_exact_for_others(suite: suites.Suite) -> None:
    case = suite.case(WEEKEND)
    optimum = case.certificate.claims.optimum
    assert optimum is not None
    assert optimum.runner_up is not None
    best = settled(env_of(case), formal(optimum.plan)).episode()
    assert (best.verdict.gap, best.verdict.relative_gap) == (0, "0")
    next_best = settled(env_of(case), formal(plan_for(case, _without(case, "next")))).episode()
    gap = narrow(optimum.runner_up) - case.optimum
    assert gap > 0
    assert next_best.verdict.gap == gap
    assert next_best.verdict.relative_gap == str(Fraction(gap, case.optimum))


@pytest.mark.row(46)
def test_calls_are_recorded_so_that_the_same_question_is_the_same_text(suite: suites.Suite) -> None:
    env = env_of(suite.case(WEEKEND))
    asked = {"location": "Zion", "start_date": "2025-08-15", "end_date": "2025-08-17", "num_guests": 3}
    first = env.call("search_hotel", asked)
    env.call("AccommodationSearch", {**dict(reversed(asked.items())), "location": "zion national park", "page": 1.0})
    env.call("search_hotel", {**asked, "location": "Narnia"})
    env.call("search_hotel", {**asked, "num_guests": "three"})
    env.call("find_hotel", asked)
    env.call("search_hotel", {**asked, "page": 2})
    calls = env.episode().calls
    faults = [None, None, Fault.CONTENT, Fault.PARAMETER, Fault.NAME, Fault.CONTENT]
    assert [call.fault for call in calls] == faults
    good = [call for call in calls if call.fault is None]
    assert len({(call.tool, call.arguments) for call in good}) == 1
    assert {offer for call in calls for offer in call.offers.get("hotel", ())} == set(first.offers["stays"])
    assert env.shown["hotel"] == set(first.offers["stays"])


def test_what_an_agent_recommends_counts_as_shown_to_it(suite: suites.Suite) -> None:
    case = suite.case(TRAIL)
    optimum = case.certificate.claims.optimum
    assert optimum is not None
    env = env_of(case)
    before = env.score_turn().regret
    assert before is not None
    assert before.shown_best is before.exploration is before.reasoning is None
    env.submit(formal(optimum.plan))
    after = env.score_turn().regret
    assert after is not None
    assert (after.exploration, after.reasoning) == (0, 0)
    assert all(env.shown[choice] == {offer} for choice, offer in ids_of(optimum.plan).items())


def test_a_verdict_goes_by_constraints_that_have_not_been_told_yet(suite: suites.Suite) -> None:
    case = suite.case(HOTEL)
    later = {name for name in case.file.task.constraints if case.file.task.constraint(name).reveal == "later"}
    plan = next(plan for name, plan in breaking(case) if name in later)
    env = env_of(case)
    env.submit(formal(plan))
    first = env.episode().turns[0]
    assert {item.constraint for item in first.verdict.violations} <= later - set(first.revealed)
    assert first.verdict.kind is VerdictKind.VIOLATES
    assert first.regret is not None
    assert first.regret.reasoning is None  # what was shown holds no feasible plan


# ------------------------------------------------------------------------------------------ against brute force


def _case(at: Posed) -> suites.Case | None:
    """The posed task with its certificate; None if it has no plan."""
    certificate = certify(at.file, at.data)
    optimum = certificate.claims.optimum
    if optimum is None:
        return None
    return suites.Case(at.file, at.problem, at.data, at.opened(), certificate, narrow(optimum.value))


def _drawn(at: Posed, wanted: Truth, data: st.DataObject) -> tuple[dict[str, list[str]], list[Plan]]:
    """Some offers of each choice, a few that do not exist among them, and up to three plans; feasible ones often."""
    known = read_data(at.folder, at.file.task.given, at.data.manifest.manifest).offers
    offers = {name: [offer for offer, _ in known[table]] for name, table in at.problem.choices.items()}
    part = {name: data.draw(st.lists(st.sampled_from([*found, "x"]), max_size=5)) for name, found in offers.items()}
    any_ = st.fixed_dictionaries({name: st.sampled_from([*found, "x"]) for name, found in offers.items()})
    good = st.sampled_from([dict(zip(wanted.choices, ids, strict=True)) for ids, _ in wanted.plans] or [None])
    plans = [ids for ids in data.draw(st.lists(good | good | any_, max_size=4)) if ids is not None]
    for ids in plans[:1]:
        part = {name: [*found, ids[name]] for name, found in part.items()}
    return part, [Plan.of(ids) for ids in plans[1:]]


def _worth(wanted: Truth, plan: Plan) -> Fraction | None:
    ids = tuple(ids_of(plan)[choice] for choice in wanted.choices)
    return next((value for known, value in wanted.plans if known == ids), None)


def _best(wanted: Truth, plans: Sequence[Plan]) -> Fraction | None:
    values = [value for plan in plans if (value := _worth(wanted, plan)) is not None]
    return (max if wanted.maximize else min)(values, default=None)


@few
@given(cases(most_choices=3, extreme=False), st.data())
def test_the_two_parts_of_regret_are_what_brute_force_says_and_add_up(case: Case, data: st.DataObject) -> None:
    with posed(case) as at:
        judged, wanted = _case(at), at.truth()
        if judged is None:
            event("no plan")
            return
        shown, plans = _drawn(at, wanted, data)
        within = {name: {*ids, *(ids_of(plan)[name] for plan in plans)} for name, ids in shown.items()}
        judge = Judge(judged)
        verdict = judge.verdict(plans)
        own = _best(wanted, plans)
        assert (verdict.kind in FEASIBLE) == (own is not None)
        if not plans:
            assert verdict.kind is VerdictKind.NO_ANSWER
        if own is not None:
            assert verdict.value == wide(at.steps(own))
        regret = judge.regret(verdict, within)
        assert regret is not None
        part = at.truth(within=within)
        event(f"{'feasible' if own is not None else 'not feasible'}, {min(part.count, 2)} shown")
        restricted = certify(at.file, at.data, within={name: sorted(ids) for name, ids in within.items()}).claims
        if not part.count:
            assert restricted.optimum is regret.shown_best is regret.exploration is regret.reasoning is None
            return
        assert restricted.optimum is not None
        best = at.steps(part.optimum)
        assert regret.shown_best == restricted.optimum.value == wide(best)
        assert narrow(regret.exploration or 0) == abs(best - judged.optimum)
        if own is None:
            assert regret.reasoning is None
        else:
            assert regret.reasoning is not None
            assert verdict.gap is not None
            assert narrow(regret.exploration or 0) + narrow(regret.reasoning) == narrow(verdict.gap)
            assert narrow(regret.reasoning) >= 0


@few
@given(cases(most_choices=3, extreme=False), st.data())
def test_offers_shown_are_searched_as_if_there_were_no_others(case: Case, data: st.DataObject) -> None:
    with posed(case) as at:
        offers, every = ShownOffers(at.problem, at.data), at.truth()
        for _ in range(2):  # one object answers for many sets
            shown, _ = _drawn(at, every, data)
            wanted, found = at.truth(within=shown), offers.best(shown)
            assert (found is None) == (not wanted.count)
            if found is not None:
                assert found[0] == at.steps(wanted.optimum)
                assert tuple(found[1].values()) in wanted.best
            fitting = offers.fitting(shown)
            assert all(set(fitting[name]) <= set(shown[name]) for name in fitting)
            for ids, _ in wanted.plans:
                assert all(offer in fitting[name] for name, offer in zip(wanted.choices, ids, strict=True))
