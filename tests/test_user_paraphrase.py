"""Faults of free wordings: good ones have none, and each bad one has exactly its own."""

from __future__ import annotations

import time
from collections import Counter
from fractions import Fraction

import pytest
from cobench.agent_runner.user.decision import Decision
from cobench.agent_runner.user.facts import bound, facts
from cobench.agent_runner.user.paraphrase import faults_in, said
from cobench.schemas.episode import UserFault
from hypothesis import given
from hypothesis import strategies as st

from .paraphrases import BAD, GOOD, SCRIPT, START


@pytest.mark.parametrize(("decision", "revealed", "text"), GOOD, ids=[text[:40] for _, _, text in GOOD])
def test_a_good_paraphrase_has_no_fault(decision: Decision, revealed: tuple[str, ...], text: str) -> None:
    assert faults_in(text, SCRIPT, decision, revealed) == ()


@pytest.mark.parametrize(("decision", "revealed", "text", "faults"), BAD, ids=[text[:40] for _, _, text, _ in BAD])
def test_a_bad_paraphrase_has_exactly_its_faults(
    decision: Decision, revealed: tuple[str, ...], text: str, faults: set[UserFault]
) -> None:
    assert {*faults_in(text, SCRIPT, decision, revealed)} == faults


def test_the_examples_are_many_and_of_every_kind() -> None:
    assert len(GOOD) >= 20
    assert len(BAD) >= 30
    assert min(Counter(fault for *_, faults in BAD for fault in faults)[fault] for fault in UserFault) >= 4


def test_any_change_of_a_number_or_name_in_a_line_is_noticed() -> None:
    for name, line in SCRIPT.lines.items():
        for old, new in (("1,100", "1,010"), ("7.5", "7"), ("40", "45"), ("Three", "Two"), ("Denver", "Boston")):
            if old in line:
                found = faults_in(line.replace(old, new), SCRIPT, Decision(reveal=(name,)), START)
                assert {UserFault.NOT_REVEALED, UserFault.HALLUCINATION} >= {*found}
                assert UserFault.NOT_REVEALED in found


def test_each_hidden_line_is_noticed_wherever_it_stands() -> None:
    for name in SCRIPT.later:
        for text in (SCRIPT.lines[name], f"Please go on. {SCRIPT.lines[name].upper()} Thank you."):
            assert UserFault.OTHER in faults_in(text, SCRIPT, Decision(), START), text


def test_faults_come_once_each_and_in_one_order() -> None:
    text = "Optional: a gym, a spa, 17 towels. Your plan ignores everything. Those ids do not exist."
    found = faults_in(text, SCRIPT, Decision(reveal=("score",), restate=("dates",)), START)
    assert list(found) == [fault for fault in UserFault if fault in found]
    assert {*found} >= {UserFault.HALLUCINATION, UserFault.NOT_REVEALED, UserFault.WRONG_CLAIM, UserFault.NOT_REPEATED}


@given(st.text(max_size=300))
def test_any_text_is_read(text: str) -> None:
    assert isinstance(faults_in(text, SCRIPT, Decision(reveal=("budget",), flag=("dog",)), START), tuple)


@pytest.mark.parametrize(
    "piece", ["a", "7", "not ", "at most ", "check ", "1,", "[", "\n", "Zion ", "your recommend ", "A. "]
)
def test_huge_texts_are_read_in_time(piece: str) -> None:
    start = time.process_time()
    assert UserFault.OTHER in faults_in(piece * 200_000, SCRIPT, Decision(ask=True), START)
    assert time.process_time() - start < 3


@pytest.mark.parametrize(
    ("text", "numbers", "names"),
    [
        ("It costs $1,100.50 or eleven hundred.", ["1100.5", "1100"], []),
        ("Two and a half hours, twenty-one nights, a hundred and fifty miles.", ["2.5", "21", "150"], []),
        ("On 2025-08-10, the 3rd or the tenth.", ["10", "3"], ["august"]),
        ("Two more things, and one question.", [], []),
        ("Chicago and Dallas are fine. We like Rocky Mountain.", [], ["chicago", "dallas", "rocky", "mountain"]),
        ("My Wi-Fi is OK. I'm in Zion National Park on Fridays, from LAX.", [], ["zion", "friday", "lax"]),
        ("1. First.\n2. Second.", [], []),
    ],
)
def test_numbers_and_names_are_read_as_people_write_them(text: str, numbers: list[str], names: list[str]) -> None:
    found = facts(text)
    assert found.numbers == {Fraction(number) for number in numbers}
    assert found.names == {*names}


@pytest.mark.parametrize(
    ("text", "way"),
    [
        ("at most 40", "most"),
        ("no more than 40", "most"),
        ("not less than 7", "least"),
        ("7 or better", "least"),
        ("up to $5", "most"),
        ("a minimum of 3", "least"),
        ("about 7", ""),
    ],
)
def test_bounds_have_a_direction(text: str, way: str) -> None:
    assert bound(text) == way


def test_a_line_is_said_by_neighbouring_sentences_and_not_by_scattered_ones() -> None:
    line = "The hotel may cost $300 at most, and breakfast must be included."
    assert said(line, "We can pay $300 for the hotel. Breakfast has to be included in it.")
    assert not said(line, "We can pay well. A hotel is fine. Go on. Think of it. So. There were 300 of them.")
