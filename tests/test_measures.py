"""What episodes come to: rates, gaps, regret, effort, errors, timing, consistency and stability."""

from __future__ import annotations

import math
from collections import Counter
from collections.abc import Sequence
from fractions import Fraction

import pytest
from cobench.agent_runner.analysis import rate
from cobench.agent_runner.measures.effort import bin_names, effort_bin, tool_errors
from cobench.agent_runner.measures.intervals import mean
from cobench.agent_runner.measures.rates import all_rates, among_best, feasible, rank, relative_gap
from cobench.agent_runner.measures.reference import REFERENCES, STABILITY, STABILITY_RUNS, TRUST, V1
from cobench.agent_runner.measures.regret import FATES, fate, split
from cobench.agent_runner.measures.stability import pass_all, spread, stability
from cobench.agent_runner.measures.styles import consistency, pooled_z, trust
from cobench.agent_runner.measures.summary import summary
from cobench.agent_runner.measures.timing import NEVER, answered_at, box, delay, ks_test, speed_bin, speed_bins
from cobench.schemas.episode import Answered, CallRecord, Episode, Fault, Persona, UserFault
from cobench.schemas.verdict import Verdict, VerdictKind
from hypothesis import given
from hypothesis import strategies as st

from .episodes import NAMES, OPTIMUM, drawn_episodes, episode, regret, turn, verdict, violates

OK, BEST = VerdictKind.FEASIBLE, VerdictKind.OPTIMAL

# ---------------------------------------------------------------------------------------------------------------- rates


@pytest.mark.row(41)
def test_a_plan_is_feasible_unless_it_breaks_a_constraint() -> None:
    answers = [verdict("t", OK, 5, better=3), *(violates("t", name) for name in NAMES)]
    assert [feasible(answer) for answer in answers] == [True] + [False] * len(NAMES)
    others = (VerdictKind.NO_ANSWER, VerdictKind.UNPARSABLE, VerdictKind.UNKNOWN_OFFER)
    answers += [verdict("t", kind) for kind in others]
    found = all_rates([episode(answer) for answer in answers])["FR"]
    assert (found.hits, found.of) == (1, len(NAMES) + 4)


@pytest.mark.row(42)
@pytest.mark.parametrize(
    ("values", "value", "place", "tops"),
    [  # all feasible values, the best first; the value of the plan; its rank; whether it is in the top 5, 10, 20 %
        ([1], 1, 1, (True, True, True)),  # a single plan is the best of all
        ([1, 2], 2, 2, (False, False, False)),  # one of two is better: 50 %
        ([1, 1, 1], 1, 1, (True, True, True)),  # all equal: nothing is better
        ([1, 1, 2], 2, 3, (False, False, False)),
        ([1] * 6 + [2] * 94, 1, 1, (True, True, True)),  # more share the best rank than 5 % are
        ([1] * 4 + [2] * 96, 2, 5, (True, True, True)),  # 4 better of 100 is below 5 %, and 96 share the rank
        ([1] * 5 + [2] * 95, 2, 6, (False, True, True)),  # 5 of 100 is not
        ([1] * 10 + [2] * 90, 2, 11, (False, False, True)),
        ([1] * 20 + [2] * 80, 2, 21, (False, False, False)),
        (list(range(19)), 1, 2, (False, True, True)),  # 1 of 19 is 5.3 %
        (list(range(20)), 1, 2, (False, True, True)),  # 1 of 20 is exactly 5 %
        (list(range(21)), 1, 2, (True, True, True)),
    ],
)  # fmt: skip
def test_ranks_and_the_best_shares(values: list[int], value: int, place: int, tops: tuple[bool, bool, bool]) -> None:
    better, total = sum(other < value for other in values), len(values)
    found = verdict("t", OK if better else BEST, 10 * better, better=better, total=total)
    assert rank(found) == (place, total)
    assert tuple(among_best(found, percent) for percent in (5, 10, 20)) == tops
    rates = all_rates([episode(found)])
    assert tuple(rates[f"OR-{percent}"].hits for percent in (5, 10, 20)) == tops


def test_what_is_not_feasible_has_no_rank_and_is_among_no_best() -> None:
    for found in (violates("t", "beds"), verdict("t", VerdictKind.NO_ANSWER)):
        assert rank(found) is None
        assert not among_best(found, 20)
        assert relative_gap(found) is None


@pytest.mark.row(44)
def test_the_gap_of_the_optimum_is_zero_and_others_are_exact() -> None:
    assert relative_gap(verdict("t", BEST)) == 0
    assert relative_gap(verdict("t", OK, 7)) == Fraction(7, 1000)
    zero = Verdict(task="t", kind=OK, value=3, optimum=0, gap=3)  # nothing is relative to an optimum of 0
    assert relative_gap(zero) is None
    assert relative_gap(Verdict(task="t", kind=BEST, value=0, optimum=0, gap=0)) == 0
    (row,) = summary([episode(verdict("t", BEST)), episode(verdict("u", OK, 100)), episode(violates("v", "beds"))])
    assert row.gap is not None
    assert (row.gap.value, row.gap.of, row.median_gap) == (Fraction(1, 20), 2, Fraction(1, 20))


# --------------------------------------------------------------------------------------------------------------- regret


@given(st.integers(0, 500), st.integers(0, 500))
def test_the_parts_of_the_regret_of_a_feasible_plan_add_up_to_its_gap(seen: int, worse: int) -> None:
    found = verdict("t", OK if seen + worse else BEST, seen + worse)
    parts = split(regret(found, seen))
    assert parts is not None
    assert parts.exploration + parts.reasoning == relative_gap(found)
    assert parts.exploration == Fraction(seen, OPTIMUM)


def test_every_episode_has_one_fate() -> None:
    wrong, nothing = violates("t", "beds"), verdict("t", VerdictKind.NO_ANSWER)
    cases = [
        (verdict("t", BEST), 0), (verdict("t", OK, 9), 9), (verdict("t", OK, 9), 0), (verdict("t", OK, 9), 4),
        (wrong, 50), (nothing, None),
    ]  # fmt: skip
    assert [fate(found, regret(found, seen)) for found, seen in cases] == list(FATES[:6])
    assert fate(wrong, None) == fate(verdict("t", OK, 9), None) == FATES[6]


def test_regret_that_is_not_known_is_no_number() -> None:
    for found, seen in [(violates("t", "beds"), 5), (verdict("t", VerdictKind.NO_ANSWER), None)]:
        assert split(regret(found, seen)) is None
    assert split(None) is None


# --------------------------------------------------------------------------------------------------------------- effort


@pytest.mark.row(46)
def test_effort_and_yield_count_neither_repetitions_nor_failures() -> None:
    def call(tool: str, arguments: str, fault: Fault | None = None, *ids: str, choice: str = "stay") -> CallRecord:
        offers = {choice: ids} if ids else {}
        return CallRecord(turn=1, tool=tool, arguments=arguments, fault=fault, offers=offers)

    calls = (
        call("search_hotel", '{"page":1}', None, "a", "b"), call("search_hotel", '{"page":1}', None, "a", "b"),
        call("search_hotel", '{"page":2}', None, "b", "c"), call("calendar", '{"page":1}'),
        call("search_hotel", '{"page":3}', Fault.CONTENT), call("nonsense", "{}", Fault.NAME),
        call("search_flights", "{}", None, "a", choice="flight"),
    )  # fmt: skip
    found = episode(verdict("t", BEST), calls=calls)
    assert (found.effort, found.found) == (4, 4)  # the flight `a` is another offer than the stay `a`
    (row,) = summary([found])
    assert row.effort is not None
    assert row.effort.value == 4
    errors = tool_errors([found])
    assert errors.calls == 7
    assert errors.kinds == {Fault.NAME: 1, Fault.PARAMETER: 0, Fault.CONTENT: 1}
    assert (errors.total.hits, errors.total.of) == (2, 7)


@pytest.mark.row(47)
def test_bins_of_effort_part_at_thirty() -> None:
    assert effort_bin(30) != effort_bin(31)
    names = bin_names()
    assert [names.index(effort_bin(value)) for value in range(500)] == sorted(
        names.index(effort_bin(value)) for value in range(500)
    )
    assert {effort_bin(value) for value in range(500)} == set(names)


# --------------------------------------------------------------------------------------------------------------- timing


@pytest.mark.row(48)
def test_when_all_was_told_and_how_long_the_answer_took() -> None:
    good, talk = verdict("t", BEST), Answered.MESSAGE
    turns = (turn(1, good), turn(2, good, answered=talk), turn(3, good), turn(4, good, answered=talk))
    found = episode(good, turns=turns, told=2)
    assert (answered_at(found), delay(found), speed_bin(found)) == (3, 1, "1–2")
    assert delay(episode(good, turns=turns, told=4)) == -1
    never = episode(good, turns=turns[:2], told=None)
    assert (delay(never), speed_bin(never)) == (None, NEVER)
    never = episode(good, turns=(turns[1].model_copy(update={"number": 1}),))
    assert (answered_at(never), delay(never)) == (None, None)
    every = (found.model_copy(update={"told": number}) for number in (*range(1, 40), None))
    assert set(map(speed_bin, every)) == set(speed_bins())


@pytest.mark.row(48)
@pytest.mark.parametrize(
    ("first", "second", "statistic", "p"),
    [  # exact probabilities, by scipy.stats.ks_2samp
        (range(100), range(100), Fraction(0), 1.0), (range(100), range(20, 120), Fraction(1, 5), 0.03638),
        (range(50), range(0, 100, 2), Fraction(1, 2), 4.81e-6), ([1, 2, 3] * 60, [1, 2, 3] * 20, Fraction(0), 1.0),
        ([1, 2] * 40, [2, 3] * 40, Fraction(1, 2), 1.88e-9), (range(200), range(10, 230), Fraction(3, 22), 0.03629),
    ],
)  # fmt: skip
def test_the_distance_of_two_distributions(
    first: Sequence[int], second: Sequence[int], statistic: Fraction, p: float
) -> None:
    found = ks_test(first, second)
    assert found is not None
    assert found == ks_test(list(second)[::-1], first)
    brute = max(
        abs(Fraction(sum(a <= x for a in first), len(first)) - Fraction(sum(b <= x for b in second), len(second)))
        for x in (*first, *second)
    )
    assert found.statistic == brute == statistic
    assert found.p == pytest.approx(p, rel=0.3)


def test_users_who_tell_at_the_same_turns_whoever_answers_pass_the_control() -> None:
    found = drawn_episodes(60, ["a", "b"])
    a, b = ([item.told for item in found if item.agent == name and item.told] for name in ("a", "b"))
    same = ks_test(a, b)
    assert same is not None
    assert (same.statistic, same.p) == (0, 1.0)
    later = ks_test(a, [told + 2 for told in b])
    assert later is not None
    assert later.p < 0.001
    assert ks_test([], a) is None


def test_five_numbers() -> None:
    assert box([]) is None
    found = box([5, 1, 4, 2, 3])
    assert found is not None
    assert (found.least, found.low, found.median, found.high, found.most, found.mean) == (1, 2, 3, 4, 5, 3)
    one = box([7])
    assert one is not None
    assert {one.least, one.low, one.median, one.high, one.most} == {7}


# ---------------------------------------------------------------------------------------------------- styles and trust


def with_style(style: int, hits: int, of: int, trusting: bool = True) -> list[Episode]:
    persona = Persona(
        revelation="slow",
        trust="trusting" if trusting else "questioning",
        checking="reliable",
        style=style,
        permille=500,
    )
    return [
        episode(verdict(f"t{place}", BEST) if place < hits else violates(f"t{place}", "beds"), persona=persona)
        for place in range(of)
    ]


@pytest.mark.row(52)
def test_variation_over_styles_is_the_deviation_over_the_mean() -> None:
    shares = [(1, 4), (2, 4), (3, 4), (4, 4), (2, 4), (2, 4), (2, 4), (1, 4), (1, 4)]
    found = consistency([item for style, (hits, of) in enumerate(shares, 1) for item in with_style(style, hits, of)])
    assert [(item.hits, item.of) for item in found.rates.values()] == shares
    assert found.variation == pytest.approx(0.4714045, abs=1e-6)  # statistics.pstdev(x) / statistics.mean(x)
    assert found.chance is not None
    assert 0.3 < found.chance < 0.6
    assert consistency(with_style(3, 2, 4)).variation is None
    assert consistency(with_style(3, 0, 4) + with_style(4, 0, 4)).variation is None
    assert consistency([]).rates == {}


@pytest.mark.row(52)
@pytest.mark.parametrize("model", TRUST)
def test_published_probabilities_of_trust_come_out(model: str) -> None:
    suspicious, trusting, p = map(Fraction, TRUST[model])
    found = pooled_z(suspicious * 56 / 100, 56, trusting * 225 / 100, 225)  # 20 and 80 % of 281 tasks
    assert found is not None
    assert abs(found[1] - float(p)) < 0.05


@pytest.mark.row(52)
@pytest.mark.parametrize(
    ("one", "other", "z", "p"),
    [  # by statsmodels' proportions_ztest
        ((10, 40), (60, 160), -1.483, 0.1380), ((30, 50), (10, 50), 4.0825, 4.455e-05), ((5, 10), (5, 10), 0, 1),
    ],
)  # fmt: skip
def test_the_test_of_two_proportions(one: tuple[int, int], other: tuple[int, int], z: float, p: float) -> None:
    found = pooled_z(*one, *other)
    assert found is not None
    assert found == (pytest.approx(z, abs=1e-3), pytest.approx(p, rel=1e-2))


def test_trust_is_compared_where_both_kinds_occur() -> None:
    found = trust(with_style(1, 12, 40) + with_style(1, 9, 10, trusting=False))
    assert (found.first.hits, found.first.of, found.second.hits, found.second.of) == (9, 10, 12, 40)
    assert found.significant
    for one in (with_style(1, 3, 9), with_style(1, 9, 9) + with_style(1, 3, 3, trusting=False)):
        none = trust(one)
        assert (none.z, none.p, none.significant) == (None, None, False)


# ------------------------------------------------------------------------------------------------------------ stability


@pytest.mark.row(53)
@pytest.mark.parametrize("name", STABILITY)
def test_published_deviations_come_out_over_n(name: str) -> None:
    found = spread([Fraction(value) for value in STABILITY_RUNS[name]])
    assert found is not None
    assert (f"{float(found.mean):.2f}", f"{found.deviation:.2f}") == STABILITY[name]


@pytest.mark.row(53)
def test_stability_is_over_epochs() -> None:
    found = drawn_episodes(20, ["a", "b"], epochs=3)
    mine = [item for item in found if item.agent == "b"]
    rows = stability(mine)
    by_hand = [sum(feasible(item.verdict) for item in mine if item.epoch == epoch) for epoch in (1, 2, 3)]
    assert rows["FR"].values == tuple(Fraction(hits, 20) for hits in by_hand)
    assert set(rows) == {"FR", "OR-5", "OR-10", "OR-20", "optimal"}
    assert stability(mine[::3]) == {}
    assert stability([]) == {}


def test_all_of_k_conversations_come_out_well() -> None:
    outcomes = {"t": [True, True, False], "u": [True, True, True], "v": [False, False, False]}
    items = [
        episode(verdict(task, BEST) if hit else violates(task, "beds"), epoch=epoch)
        for task, hits in outcomes.items()
        for epoch, hit in enumerate(hits, 1)
    ]
    assert pass_all(items, lambda item: feasible(item.verdict)) == [
        Fraction(5, 9), (Fraction(1, 3) + 1) / 3, Fraction(1, 3),
    ]  # fmt: skip
    assert pass_all([], lambda _: True) == []


# ------------------------------------------------------------------------------------------------ intervals and summary


def test_an_interval_of_a_mean_is_by_task() -> None:
    assert mean([]) is None
    one = mean([("t", 3), ("t", 5)])
    assert one is not None
    assert (one.value, one.of, one.tasks, one.interval) == (4, 2, 1, None)
    single = mean((f"t{value}", value) for value in range(100))
    double = mean((f"t{value}", value) for value in range(100) for _ in range(5))
    assert single is not None
    assert double is not None
    assert single.interval == pytest.approx((49.5 - 5.686, 49.5 + 5.686), abs=0.01)  # 1.96 * 29.01 / 10
    assert double.interval == pytest.approx(single.interval)


def test_no_episodes_and_one_agent_are_no_special_cases() -> None:
    assert summary([]) == []
    (row,) = summary([episode(violates("t", "beds"))])
    assert (row.gap, row.median_gap, row.exploration) == (None, None, None)
    assert row.content()["gap"] is None
    assert row.errors.total == rate([])


def test_a_summary_ranks_agents_and_counts_what_was_not_theirs() -> None:
    found = drawn_episodes(40, ["weak", "mid", "good"], epochs=2)
    rows = summary(found)
    assert [row.agent for row in rows] == ["good", "mid", "weak"]
    assert all((row.episodes, row.tasks) == (80, 40) for row in rows)
    for row in rows:
        assert row.gap is not None
        assert row.exploration is not None
        assert row.reasoning is not None
        assert row.exploration.value + row.reasoning.value == row.gap.value
        assert row.rates["optimal"].hits <= row.rates["OR-5"].hits <= row.rates["OR-20"].hits <= row.rates["FR"].hits
    fates = Counter(fate(item.verdict, item.regret) for item in found)
    assert fates.total() == 240
    good = verdict("t", BEST)
    turns = (turn(1, good, user_faults=(UserFault.OTHER,)), turn(2, good, answered=Answered.FORMAT_ERROR))
    (row,) = summary([episode(good, turns=turns)])
    assert (row.user_faults, row.format_errors.hits, row.format_errors.of) == (1, 1, 2)
    assert row.turns is not None
    assert math.isclose(row.turns.value, 2)


@pytest.mark.row(99)
def test_what_the_paper_reports_is_labelled_by_its_era() -> None:
    assert {item.name for item in REFERENCES if item.era == V1} == {"stability", "styles", "trust"}
    assert all(len(row) == len(item.head) for item in REFERENCES for row in item.rows)
