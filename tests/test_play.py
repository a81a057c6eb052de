"""A person in the agent's place: what can be typed, what is shown, and that no input shows a traceback."""

from __future__ import annotations

import io
import random
import sys
from collections.abc import Callable
from pathlib import Path
from typing import Any

import pytest
from cobench.agent_runner.play import COMMANDS, Again, Call, Commands, Help, Quit, Recommend, Say, Wrong
from cobench.cli import run
from cobench.schemas.episode import Answered, Ended, Episode
from cobench.schemas.verdict import VerdictKind
from hypothesis import given
from hypothesis import strategies as st

from .small_suite import FLIGHT, HOTEL, NAMES, TASKS, Cases

SEARCH = "search_hotel location=Zion start_date=2025-08-15 end_date=2025-08-17 num_guests=3"

Play = Callable[..., "tuple[int, str, str]"]


@pytest.fixture(scope="module")
def cases(small_suite: Path) -> Cases:
    return Cases(small_suite)


@pytest.fixture(scope="module")
def commands(cases: Cases) -> Commands:
    return Commands(cases.env(FLIGHT).tools(), ("hotel", "flight"))


@pytest.fixture
def play(monkeypatch: pytest.MonkeyPatch, capsys: pytest.CaptureFixture[str]) -> Play:
    """`play(what, lines, *args)` pipes lines in; exit code, stdout and stderr."""

    def played(what: str, typed: str | bytes, *args: str) -> tuple[int, str, str]:
        content = typed if isinstance(typed, bytes) else typed.encode()
        monkeypatch.setattr(sys, "stdin", io.TextIOWrapper(io.BytesIO(content), encoding="utf-8"))
        code = run(["play", what, "-q", *args])
        captured = capsys.readouterr()
        return code, captured.out, captured.err

    return played


# ------------------------------------------------------------------------------------------------ what is typed


@pytest.mark.parametrize(
    ("line", "action"),
    [
        ("", None),
        ("   ", None),
        ("help", Help()),
        ("help search_hotel", Help("search_hotel")),
        ("help AccommodationSearch", Help("search_hotel")),
        ("say Which dates, and 'whose'?", Say("Which dates, and 'whose'?")),
        ("again", Again()),
        (" quit ", Quit()),
        ("notes", Call("notebook", {"action": "list_all"})),
        ("notes hotel=1 is fine", Call("notebook", {"action": "write", "input_data": "hotel=1 is fine"})),
        ("recommend hotel=a flight=b", Recommend({"hotel": ("a",), "flight": ("b",)}, "This is what I recommend.")),
        ('recommend hotel=a,c flight=b "It is" near', Recommend({"hotel": ("a", "c"), "flight": ("b",)}, "It is near")),
        ("get_weekday date=2025-08-12", Call("calendar", {"date": "2025-08-12"})),
        ('list_permits park="Grand Canyon"', Call("list_permits", {"park": "Grand Canyon"})),
        ("recommend_hotel ids=a,b reasoning=x=y", Call("recommend_hotel", {"ids": ["a", "b"], "reasoning": "x=y"})),
        (
            "search_hotel num_guests=3 max_price_nightly=99.5 has_parking=yes min_review_score=high",
            Call(
                "search_hotel",
                {"num_guests": 3, "max_price_nightly": 99.5, "has_parking": True, "min_review_score": "high"},
            ),
        ),
    ],
)
def test_lines_are_read(line: str, action: Any, commands: Commands) -> None:
    assert commands.read(line) == action


@pytest.mark.parametrize(
    ("line", "said"),
    [
        ("say", "say what?"),
        ("help flights", "there is no tool 'flights'"),
        ("serch_hotel location=Zion", "did you mean 'search_hotel'?"),
        ("$$$ now", "help shows all"),
        ("search_hotel Zion", "'Zion' is no name=value"),
        ('search_hotel location="Zion', "a quotation mark is not closed"),
        ("search_hotel location=a location=b", "'location' is given twice"),
        ("recommend hotel=a", "the flight is missing"),
        ("recommend", "the hotel and the flight is missing"),
        ("recommend hotel=, flight=b", "the hotel is missing"),
        ("recommend hotel=a flight=b permit=c", "there is no 'permit' to recommend"),
    ],
)
def test_what_is_wrong_with_a_line_is_said(line: str, said: str, commands: Commands) -> None:
    action = commands.read(line)
    assert isinstance(action, Wrong)
    assert said in f"{action.reason}; {action.hint}"


@given(st.text())
def test_every_line_is_something(commands: Commands, line: str) -> None:
    action = commands.read(line)
    assert action is None or isinstance(action, Call | Recommend | Say | Help | Again | Quit | Wrong)
    commands.completions(line)


@pytest.mark.parametrize(
    ("line", "found"),
    [
        ("search_h", ["search_hotel"]),
        ("get_air", ["get_airport_location", "get_airport_coordinates"]),
        ("help cale", ["calendar"]),
        ("recommend ", ["hotel=", "flight="]),
        ("recommend hotel=a ", ["flight="]),
        ("search_hotel num", ["num_guests="]),
        ("get_weekday ", ["date="]),
        ("nothing ", []),
        ("say hel", []),
    ],
)
def test_names_of_commands_tools_and_parameters_complete(line: str, found: list[str], commands: Commands) -> None:
    assert sorted(commands.completions(line)) == sorted(found)


# ------------------------------------------------------------------------------------------------ what is shown


def test_a_whole_conversation(cases: Cases, small_suite: Path, tmp_path: Path, play: Play) -> None:
    best, out = cases.best(FLIGHT), tmp_path / "me.json"
    lines = [SEARCH, f"recommend hotel={best['hotel']} flight={best['flight']} It fits.", *["say Anything else?"] * 40]
    code, shown, _ = play(f"{small_suite}:{FLIGHT}", "\n".join(lines), "--out", str(out))
    assert code == 0
    assert all(word in shown for word in (best["hotel"], "total price", "user, message 2", "The conversation is over"))
    assert "optimal" in shown
    assert "1 of 215" in shown
    assert "lost by not looking further" in shown
    episode = Episode.model_validate_json(out.read_bytes())
    assert (episode.agent, episode.mode, episode.ended) == ("human", "human", Ended.ACCEPTED)
    assert (episode.verdict.kind, episode.turns[0].validated) == (VerdictKind.OPTIMAL, True)


def test_help_names_every_command_and_tool(small_suite: Path, play: Play, commands: Commands) -> None:
    _, shown, _ = play(f"{small_suite}:{FLIGHT}", "help\nhelp search_flights\nagain\n")
    assert all(name in shown for name in (*COMMANDS, *commands.tools))
    assert "recommend hotel=ID flight=ID" in shown
    assert "direct_flights_only" in shown
    assert shown.count("user, message 1") == 2


def test_what_there_is_not_is_not_recommended(small_suite: Path, tmp_path: Path, play: Play) -> None:
    out = tmp_path / "me.json"
    lines = "recommend hotel=pkg_00000000_12_15_1\nrecommend hotel=a,b,c,d\nsearch_hotel location=Atlantis\n"
    _, shown, _ = play(f"{small_suite}:{HOTEL}", lines, "--out", str(out))
    assert "pkg_00000000_12_15_1" in shown
    assert "at most 3 ids" in shown
    episode = Episode.model_validate_json(out.read_bytes())
    assert (episode.turns, episode.ended, len(episode.calls)) == ((), Ended.LEFT, 2)


def test_a_task_file_is_certified_first(play: Play) -> None:
    code, shown, _ = play(str(TASKS / f"{HOTEL}.yaml"), "say hello\nquit\nsay never read\n")
    assert code == 0
    assert "you left" in shown
    assert "no answer" in shown
    assert "the best plan that there is: $" in shown
    assert "you were shown no plan that satisfies everything" in shown
    assert "never read" not in shown


def test_the_seed_picks_a_task_of_a_suite(small_suite: Path, tmp_path: Path, play: Play) -> None:
    picked: list[str] = []
    for seed in (1, 2, 3, 1):
        play(str(small_suite), "", "--seed", str(seed), "--out", str(tmp_path / "me.json"))
        picked.append(Episode.model_validate_json((tmp_path / "me.json").read_bytes()).task)
    assert picked[0] == picked[-1]
    assert 1 < len(set(picked)) <= len(NAMES)


def test_turns_are_limited(small_suite: Path, tmp_path: Path, play: Play) -> None:
    out = tmp_path / "me.json"
    _, shown, _ = play(f"{small_suite}:{HOTEL}", "say a\nsay b\nsay c\n", "--turns", "2", "--out", str(out))
    assert "turn limit" in shown
    episode = Episode.model_validate_json(out.read_bytes())
    assert [turn.answered for turn in episode.turns] == [Answered.MESSAGE] * 2


def test_an_id_alone_is_a_task_of_a_bundled_suite(play: Play) -> None:
    code, shown, _ = play("compass-1-003", "quit\n")
    assert code == 0
    assert "We are a couple" in shown.replace("\n ", "")


@pytest.mark.parametrize(
    "content",
    [
        b"",
        b"\n\n\n",
        b"\0\xff\xfe\x1b[2Jsay \x1b]0;title\x07\n",
        b"say " + b"x" * (1 << 21) + b"\nsay short\n",
        b'recommend hotel="\xed\xa0\x80"\n',
        b"search_hotel location=" + b"[" * 10_000 + b"\n",
        b"calculator expression=1/0\ncalculate expression=9**9**9\ncalendar date=2025-02-30\n",
        b"notebook action=delete index=99999999999999999999\nnotebook action=read index=-1\n",
        b"get_hotel_details hotel_identifier=\nrecommend_hotel ids= reasoning=\n",
        random.Random(3).randbytes(5000),  # noqa: S311 - any bytes
    ],
)
def test_no_input_shows_a_traceback_or_commands_the_terminal(content: bytes, small_suite: Path, play: Play) -> None:
    code, shown, errors = play(f"{small_suite}:{HOTEL}", content)
    assert code == 0
    assert "Traceback" not in shown + errors
    assert "internal error" not in errors
    assert "\x1b" not in shown
    assert "The conversation is over" in shown


@pytest.mark.parametrize(
    ("what", "said"),
    [
        ("nowhere", "no suite, task or file 'nowhere'"),
        ("nowhere", "SUITE:ID"),
        ("nowhere:parks-9", "no suite 'nowhere'"),
        ("tasks/x.yaml", "no such file: tasks/x.yaml"),
        ("{suite}:parks-9", "no task 'parks-9'"),
        ("{suite}/tasks.json", "error"),
        ("{examples}/day_trip/day.yaml", "conversations are about tasks that pick one offer a choice"),
    ],
)
def test_what_cannot_be_played_is_refused(what: str, said: str, small_suite: Path, play: Play) -> None:
    examples = Path(__file__).resolve().parent.parent / "examples"
    code, _, errors = play(what.format(suite=small_suite, examples=examples), "quit\n")
    assert code == 2
    assert said in errors
