"""Programs in coding mode: what they can say, what comes back, and how they end."""

from __future__ import annotations

import threading
from collections.abc import Iterator, Mapping
from typing import Any, cast

import pytest
from cobench.agent_runner.baselines import baseline
from cobench.agent_runner.coding import sandbox as walls
from cobench.agent_runner.coding.channel import MOST_ANSWER, Kept, ProtocolError, read_request
from cobench.agent_runner.coding.program import CodeLimits, Output, Reason, run_code
from cobench.agent_runner.coding.sandbox import SandboxError, sandbox
from cobench.agent_runner.coding.syscalls import REFUSED, seccomp_filter
from cobench.agent_runner.env import Env
from cobench.agent_runner.episode import converse
from cobench.agent_runner.tools.result import Result
from cobench.agent_runner.tools.toolbox import Toolbox
from cobench.schemas.episode import Episode, Fault

from .cases import FILES, PERSONA, case_of, catalogue


class Desk:
    """Stands for a conversation: two tools that tell what they were asked, and remembers it."""

    def __init__(self) -> None:
        self.asked: list[tuple[str, Any, bool]] = []
        self.ended: str | None = None

    def tools(self) -> list[dict[str, Any]]:
        names = {"calendar": ("date",), "search_hotel": ("location", "start_date", "page")}
        return [
            {"type": "function", "function": {"name": name, "parameters": {"properties": {key: {} for key in given}}}}
            for name, given in names.items()
        ]

    def call(self, name: str, arguments: Any, *, inner: bool = False) -> Result:
        self.asked.append((name, arguments, inner))
        if name == "calendar" and arguments.get("date") == "never":
            return Result(
                name,
                arguments,
                {"error": {"kind": "parameter", "message": "'never' is no date", "hint": "2026-08-07"}},
                Fault.PARAMETER,
            )
        return Result(name, arguments, {"asked": arguments, "price": 12.5, "long": "x" * arguments.get("page", 0)})


@pytest.fixture(scope="module", autouse=True)
def _needs_walls() -> None:
    try:
        sandbox()
    except SandboxError as fault:
        pytest.skip(str(fault))


@pytest.fixture
def desk() -> Desk:
    return Desk()


def played(name: str) -> Episode:
    """The conversation of a baseline about the first shipped task."""
    case = case_of(FILES[0])
    assert case is not None
    env = Env(case, Toolbox(catalogue()), PERSONA, agent=name, seed=1, mode="code")
    return converse(env, baseline(name, (1, case.problem.id, 1)))


def ran(desk: Desk, source: str, **limits: Any) -> Output:
    return run_code(cast("Env", desk), source, CodeLimits(**limits))


@pytest.mark.row(17)
def test_a_program_calls_tools_and_each_call_is_counted_as_an_inner_one(desk: Desk) -> None:
    source = """
from tools import calendar, search_hotel

found = search_hotel("Zion", start_date="2026-08-07")
print(found["asked"]["location"], found["price"] * 2, calendar(date="2026-08-07")["asked"])
"""
    assert ran(desk, source) == Output("Zion 25.0 {'date': '2026-08-07'}\n", "", 2, Reason.FINISHED)
    assert desk.asked == [
        ("search_hotel", {"location": "Zion", "start_date": "2026-08-07"}, True),
        ("calendar", {"date": "2026-08-07"}, True),
    ]


def test_a_wrong_call_is_an_exception_with_its_kind_and_what_is_wrong(desk: Desk) -> None:
    source = """
from tools import ToolError, calendar
try:
    calendar("never")
except ToolError as fault:
    print(fault.kind, "|", fault.message)
calendar("never")
"""
    done = ran(desk, source)
    assert done.text == "parameter | 'never' is no date; 2026-08-07\n"
    assert (done.reason, done.calls) == (Reason.FAILED, 2)
    assert done.error.endswith("tools.ToolError: parameter: 'never' is no date; 2026-08-07\n")


def test_arguments_beyond_the_schema_reach_the_tools_to_be_counted_there(desk: Desk) -> None:
    ran(desk, "from tools import calendar\ncalendar('2026-08-07', 'more', odd=1)")
    assert desk.asked == [("calendar", {"date": "2026-08-07", "argument_2": "more", "odd": 1}, True)]


def test_an_argument_given_twice_is_refused_as_python_refuses_it(desk: Desk) -> None:
    done = ran(desk, "from tools import calendar\ncalendar('2026-08-07', date='2026-08-08')")
    assert "TypeError: calendar() got multiple values for argument 'date'" in done.error
    assert not desk.asked


def test_dates_are_given_as_text_and_what_is_no_json_is_refused(desk: Desk) -> None:
    source = """
import datetime
from tools import ToolError, calendar
calendar(datetime.date(2026, 8, 7))
for wrong in (float("nan"), "x" * 100_000):
    try:
        calendar(wrong)
    except ToolError as fault:
        print(fault.kind)
"""
    assert ran(desk, source).text == "parameter\nparameter\n"
    assert desk.asked == [("calendar", {"date": "2026-08-07"}, True)]


def test_an_exception_is_told_as_python_tells_it_without_our_own_frames(desk: Desk) -> None:
    done = ran(desk, "def halve(x):\n    return x / 0\n\nhalve(3)\n")
    assert done.reason is Reason.FAILED
    assert done.error.startswith('Traceback (most recent call last):\n  File "program.py", line 4, in <module>\n')
    assert done.error.endswith("ZeroDivisionError: division by zero\n")
    assert "client" not in done.error


@pytest.mark.parametrize(
    ("source", "reason", "error"),
    [
        ("def", Reason.FAILED, "SyntaxError"),
        ("exit(3)", Reason.FAILED, ""),
        ("import sys; sys.exit('over')", Reason.FAILED, "over"),
        ("exit()", Reason.FINISHED, ""),
        ("\0", Reason.FAILED, "SyntaxError"),
        ("print('\\ud800')", Reason.FAILED, "UnicodeEncodeError"),
        ("\ud800", Reason.FAILED, "UnicodeEncodeError"),
        ("#" * 300_000, Reason.FAILED, "longer than"),
        ("raise KeyboardInterrupt", Reason.FAILED, "KeyboardInterrupt"),
        ("import os; os.abort()", Reason.FAILED, ""),
        ("import numpy", Reason.FAILED, "ModuleNotFoundError"),
        ("from tools import everything", Reason.FAILED, "ImportError"),
        ("if __name__ == '__main__': print(1, __import__('sys').argv)", Reason.FINISHED, ""),
        ("", Reason.FINISHED, ""),
    ],
)
def test_a_program_ends_as_it_would_elsewhere(desk: Desk, source: str, reason: Reason, error: str) -> None:
    done = ran(desk, source)
    assert done.reason is reason
    assert error in done.error


def test_threads_of_a_program_get_their_own_answers(desk: Desk) -> None:
    source = """
from concurrent.futures import ThreadPoolExecutor
from tools import calendar
with ThreadPoolExecutor(8) as pool:
    print(all(pool.map(lambda n: calendar(n)["asked"] == {"date": n}, range(200))))
"""
    assert ran(desk, source) == Output("True\n", "", 200, Reason.FINISHED)


def test_output_beyond_the_limit_is_cut_and_the_program_goes_on(desk: Desk) -> None:
    source = "from tools import calendar\nprint('é' * 50_000)\ncalendar('2026-08-07')"
    done = ran(desk, source, output=1001)
    assert done.text == "é" * 500 + "\ufffd\n[cut: 1001 of 100001 bytes]"
    assert done.calls == 1


def test_output_that_is_no_text_comes_as_replacement_characters(desk: Desk) -> None:
    assert ran(desk, "import os; os.write(1, b'a\\xff\\xfeb')").text == "a\ufffd\ufffdb"


def test_what_was_printed_before_the_time_was_over_is_given(desk: Desk) -> None:
    done = ran(desk, "print('here', flush=True)\nwhile True: pass", seconds=0.5)
    assert done == Output("here\n", "", 0, Reason.TIME)


def test_processor_time_is_limited_too(desk: Desk) -> None:
    done = ran(desk, "while True: pass", cpu_seconds=1)
    assert done.reason is Reason.TIME


def test_time_does_not_run_while_a_tool_works(desk: Desk, monkeypatch: pytest.MonkeyPatch) -> None:
    clock = [0.0]
    monkeypatch.setattr("time.monotonic", lambda: clock[0])

    def slow(name: str, arguments: Any, *, inner: bool = False) -> Result:
        clock[0] += 1000
        return Result(name, arguments, inner)

    monkeypatch.setattr(desk, "call", slow)
    assert ran(desk, "from tools import calendar\nprint([calendar() for _ in range(3)])").text == "[True, True, True]\n"


def test_a_program_may_make_so_many_calls_and_no_more(desk: Desk) -> None:
    done = ran(desk, "from tools import calendar\nwhile True: print(calendar()['price'], flush=True)", calls=3)
    assert done.reason is Reason.CALLS
    assert done.calls == len(desk.asked) == 3


def test_a_program_is_stopped_when_the_conversation_is_over(desk: Desk, monkeypatch: pytest.MonkeyPatch) -> None:
    answer = desk.call

    def last(name: str, arguments: Any, *, inner: bool = False) -> Result:
        desk.ended = "call limit"
        return answer(name, arguments, inner=inner)

    monkeypatch.setattr(desk, "call", last)
    done = ran(desk, "from tools import calendar\nwhile True: calendar()")
    assert (done.reason, done.calls) == (Reason.CALLS, 1)


def test_an_answer_that_is_too_long_is_a_fault_and_a_long_one_arrives_whole(desk: Desk) -> None:
    source = f"""
from tools import ToolError, search_hotel
print(len(search_hotel(page={MOST_ANSWER - 1000})["long"]))
try:
    search_hotel(page={MOST_ANSWER})
except ToolError as fault:
    print(fault)
print(search_hotel(page=3)["long"])
"""
    assert ran(desk, source).text == (
        f"{MOST_ANSWER - 1000}\ncontent: the answer is longer than {MOST_ANSWER} bytes\nxxx\n"
    )


def test_nothing_is_kept_from_one_program_to_the_next(desk: Desk) -> None:
    source = "import os; print(os.listdir()); open('kept', 'w').write('x')"
    assert [ran(desk, source).text for _ in range(2)] == ["[]\n", "[]\n"]


def test_a_program_gives_the_same_output_each_time_also_of_sets(desk: Desk) -> None:
    source = "print({*'a quick brown fox'.split()}, hash('x'))"
    assert ran(desk, source) == ran(desk, source)


def test_a_program_runs_from_any_thread(desk: Desk) -> None:
    found: list[Output] = []
    threads = [threading.Thread(target=lambda: found.append(ran(desk, "print(1)"))) for _ in range(4)]
    for thread in threads:
        thread.start()
    for thread in threads:
        thread.join()
    assert found == [Output("1\n", "", 0, Reason.FINISHED)] * 4


def test_an_error_of_ours_within_a_tool_ends_the_program_and_is_raised(
    desk: Desk, monkeypatch: pytest.MonkeyPatch
) -> None:
    def broken(name: str, arguments: Any, *, inner: bool = False) -> Result:
        raise ZeroDivisionError(name)

    monkeypatch.setattr(desk, "call", broken)
    with pytest.raises(ZeroDivisionError):
        ran(desk, "from tools import calendar\ncalendar()\nwhile True: pass")


@pytest.mark.row(54)
def test_an_agent_that_writes_programs_closes_the_gap_that_a_naive_one_leaves() -> None:
    found = {name: played(name) for name in ("greedy", "code")}
    verdicts = {name: episode.verdict.kind.value for name, episode in found.items()}
    assert verdicts == {"greedy": "feasible", "code": "optimal"}
    calls = found["code"].calls
    assert len([call for call in calls if call.inner]) > 10 * len([call for call in calls if not call.inner])
    regret = found["code"].regret
    assert regret is not None
    assert (regret.exploration, regret.reasoning) == (0, 0)


def test_programs_find_what_as_many_calls_find() -> None:
    code, calls = played("code"), played("exhaustive")
    assert [turn.options for turn in code.turns] == [turn.options for turn in calls.turns]
    assert {offer for call in code.calls for ids in call.offers.values() for offer in ids} == {
        offer for call in calls.calls for ids in call.offers.values() for offer in ids
    }
    assert played("code").to_bytes() == code.to_bytes()


@pytest.mark.parametrize(
    "line",
    [
        b"", b"{", b"[]", b"null", b'"x"', b"1", b"\xff", b"{}", b'{"name": "x"}', b'{"name": 1, "arguments": {}}',
        b'{"name": "x", "arguments": []}', b'{"name": "x", "arguments": {}, "more": 1}', b"[" * 50_000,
        b'{"name": "x", "arguments": {"a": NaN}}', b'{"name": "x", "arguments": {"a": ' + b"9" * 5000 + b"}}",
    ],
)  # fmt: skip
def test_a_line_that_is_no_request_is_refused(line: bytes) -> None:
    with pytest.raises(ProtocolError):
        read_request(line)


def test_what_an_agent_is_shown_of_a_program() -> None:
    assert Output("a\n", "", 1, Reason.FINISHED).shown() == "a"
    assert Output("", "", 1, Reason.FINISHED).shown() == "[the program printed nothing]"
    failed = Output("a\n", "b\n", 1, Reason.FAILED).shown()
    assert failed == "a\n[stderr]\nb\n[the program ended: failed]"


def test_no_more_of_an_output_is_kept_than_its_limit() -> None:
    kept = Kept(5)
    for chunk in (b"abc", b"def", b"ghi"):
        kept.add(chunk)
    assert (bytes(kept.data), kept.size) == (b"abcde", 9)


@pytest.mark.parametrize("machine", [*REFUSED])
def test_the_filter_fits_what_a_kernel_takes(machine: str) -> None:
    filter_ = seccomp_filter(machine)
    assert filter_ is not None
    assert len(filter_) % 8 == 0
    assert len(filter_) < 4096
    assert seccomp_filter("vax") is None


@pytest.fixture
def _fresh() -> Iterator[None]:
    sandbox.cache_clear()
    yield
    sandbox.cache_clear()


@pytest.mark.usefixtures("_fresh")
@pytest.mark.parametrize(
    ("missing", "said"),
    [
        ({"bwrap": None}, "no sandbox: bubblewrap is not installed\nhint: install it: apt install bubblewrap"),
        ({"ldd": None}, "no sandbox: `ldd`, which comes with the C library, is not there"),
        ({"bwrap": "/bin/false"}, "no sandbox: it does not start\nhint: bubblewrap 0.8 or newer is needed"),
    ],
)
def test_where_there_can_be_no_sandbox_it_says_what_is_missing(
    missing: Mapping[str, str | None], said: str, monkeypatch: pytest.MonkeyPatch
) -> None:
    which = walls.shutil.which
    monkeypatch.setattr(walls.shutil, "which", lambda name: missing[name] if name in missing else which(name))
    with pytest.raises(SandboxError) as raised:
        sandbox()
    assert said in str(raised.value)
