"""Conversations under Inspect: the same as elsewhere, scored turn by turn, with a reason for each end."""

from __future__ import annotations

import json
import math
import os
import subprocess
import sys
from pathlib import Path
from typing import Any

import pytest
from cobench.agent_runner.baselines import baseline
from cobench.agent_runner.briefing import briefing
from cobench.agent_runner.coding.sandbox import SandboxError, sandbox
from cobench.agent_runner.env import Env
from cobench.agent_runner.episode import converse
from cobench.agent_runner.inspect.registry import compass
from cobench.agent_runner.inspect.run import run_model
from cobench.agent_runner.inspect.scorer import episode_in, standing
from cobench.agent_runner.inspect.task import conversations, samples
from cobench.agent_runner.measures.rates import all_rates
from cobench.agent_runner.runs import open_run, read_run
from cobench.agent_runner.suites import open_suite
from cobench.agent_runner.tools.catalogue import catalogue_of
from cobench.agent_runner.tools.toolbox import TOOLS, Toolbox
from cobench.agent_runner.user.persona import persona_for
from cobench.cli import run as command
from cobench.schemas.episode import Answered, Ended, Episode, Fault, UserFault
from cobench.schemas.errors import InputError
from cobench.schemas.run import RunFile
from cobench.schemas.verdict import VerdictKind
from inspect_ai import eval as evaluate
from inspect_ai.log import EvalLog, EvalSample
from inspect_ai.model import (
    ChatMessage,
    Model,
    ModelCost,
    ModelInfo,
    ModelOutput,
    ModelUsage,
    StopReason,
    set_model_info,
)
from inspect_ai.tool import ToolParams
from inspect_ai.util import Store

from . import episodes as made
from .mock_models import mock, reply
from .small_suite import FLIGHT, HOTEL, Cases, write_suite

ROOT = Path(__file__).resolve().parent.parent
pytestmark = [
    pytest.mark.filterwarnings("ignore:The 'initial' parameter is deprecated:DeprecationWarning"),  # Inspect's
    pytest.mark.filterwarnings("ignore::pytest.PytestUnraisableExceptionWarning"),  # streams that Inspect leaves open
]
SEED = 7


@pytest.fixture(scope="module")
def folder(tmp_path_factory: pytest.TempPathFactory) -> Path:
    return write_suite(tmp_path_factory.mktemp("suite") / "small")


@pytest.fixture(scope="module")
def cases(folder: Path) -> Cases:
    return Cases(folder)


@pytest.fixture
def had(folder: Path, tmp_path: Path) -> Any:
    """`had(model, task, …)` has one conversation under Inspect, and returns its sample and its record."""

    def have(
        model: Model | str, task: str = HOTEL, roles: dict[str, Any] | None = None, *,
        limits: dict[str, Any] | None = None, **settings: Any,
    ) -> tuple[EvalSample, Episode | None]:  # fmt: skip
        suite = open_suite(str(folder))
        wanted = samples(suite, [(task, None)])
        log = logged(conversations(suite, wanted, {"seed": SEED, **settings}), model, tmp_path, roles, **(limits or {}))
        assert log.status == "success"
        assert log.samples
        sample = log.samples[0]
        return sample, episode_in(Store(sample.store))

    return have


def logged(task: Any, model: Model | str, logs: Path, roles: dict[str, Any] | None = None, **limits: Any) -> EvalLog:
    return evaluate(
        task, model=model, model_roles=roles or {}, log_dir=str(logs), display="none", log_level="error",
        fail_on_error=False, **limits,
    )[0]  # fmt: skip


def scores(sample: EvalSample, name: str) -> list[Any]:
    """The scores of one kind in the course of a conversation, and the last one."""
    events = [event for event in sample.events if event.event == "score" and event.scorer == name]
    return [event.score.value for event in events]


def best(cases: Cases, task: str) -> dict[str, str]:
    return {f"{choice}_id": offer for choice, offer in cases.best(task).items()}


def test_a_built_in_agent_does_under_inspect_what_it_does_elsewhere(folder: Path, cases: Cases, tmp_path: Path) -> None:
    agent, name = "strategic", "cobench/strategic"
    facts = RunFile(
        version="1",
        suite="small",
        suite_digest="",
        tasks=(HOTEL,),
        agents=(name,),
        settings={"model": name},
        seed=SEED,
    )
    with open_run(tmp_path / "run", facts) as run:
        run_model(open_suite(str(folder)), run, lambda *_: None)
    found = read_run(tmp_path / "run").episodes
    case, persona = cases.cases[HOTEL], persona_for(SEED, HOTEL, 1)
    env = Env(case, Toolbox(catalogue_of(case.dataset)), persona, agent=name, seed=SEED)
    here = converse(env, baseline(agent, (SEED, HOTEL, 1)))
    assert [episode.to_bytes() for episode in found] == [here.to_bytes()]
    assert here.calls


@pytest.mark.row(44)
def test_every_turn_has_a_score_and_the_last_one_is_that_of_the_sample(had: Any, cases: Cases) -> None:
    ids = best(cases, HOTEL)
    sample, episode = had(mock(["No JSON.", "Still none.", reply(**ids)]))
    turns, found = len(episode.turns), scores(sample, "outcome")
    assert len(found) == turns + 1 > 2
    assert [score["feasible"] for score in found] == [0.0] + [1.0] * turns
    assert [score["optimal"] for score in found] == [0.0] + [1.0] * turns
    assert scores(sample, "gap") == [{"relative_gap": 0.0}] * turns  # none for what is not feasible
    assert scores(sample, "rank") == [{"rank": 1.0}] * turns
    assert sample.scores is not None
    assert sample.scores["outcome"].value == found[-1]
    assert episode.verdict.kind is VerdictKind.OPTIMAL
    assert episode.ended is Ended.ACCEPTED


NOTHING: dict[str, Any] = {"optimum": 0, "relative_gap": None}  # a gap is no share of an optimum of nothing


@pytest.mark.parametrize(
    ("known", "found"),
    [
        ({"kind": VerdictKind.OPTIMAL}, {"gap": 0, "rank": 1}),
        ({"kind": VerdictKind.OPTIMAL, **NOTHING, "value": 0}, {"gap": 0, "rank": 1}),
        ({"kind": VerdictKind.OPTIMAL, "standing": None}, {"gap": 0, "rank": None}),
        ({"kind": VerdictKind.FEASIBLE, **NOTHING, "value": 50, "gap": 50, "better": 9}, {"gap": None, "rank": 10}),
        ({"kind": VerdictKind.FEASIBLE, "gap": 50, "better": 30}, {"gap": 0.05, "rank": 31}),
        ({"kind": VerdictKind.VIOLATES, "value": 900}, {"gap": None, "rank": None}),
    ],
)
def test_scores_are_the_measures_of_reports(known: dict[str, Any], found: dict[str, float | None]) -> None:
    last = made.verdict("t", **known)
    seen = min(20, known.get("gap", 0))
    episode = made.episode(last, regret=made.regret(last, seen))
    said = standing(episode)
    rates = {name: float(rate.hits) for name, rate in all_rates([episode]).items()}
    assert [said["outcome"][name] for name in ("feasible", "optimal", "optimal_5", "optimal_10", "optimal_20")] == [
        rates[name] for name in ("FR", "optimal", "OR-5", "OR-10", "OR-20")
    ]
    assert said.get("gap") == (None if found["gap"] is None else {"relative_gap": found["gap"]})
    assert said.get("rank") == (None if found["rank"] is None else {"rank": found["rank"]})
    assert said["exploration"] == {"exploration": seen / made.OPTIMUM}


def test_what_has_no_value_has_no_score(had: Any) -> None:
    sample, episode = had(mock([reply("I know nothing.")]), turns=2)
    assert set(sample.scores) == {"outcome"}
    assert all(math.isfinite(value) for value in sample.scores["outcome"].value.values())
    assert (episode.ended, episode.verdict.kind) == (Ended.TURNS, VerdictKind.NO_ANSWER)


@pytest.mark.row(9)
def test_the_schemas_of_the_tools_reach_a_model_unchanged() -> None:
    for tool in TOOLS.values():
        parameters = tool.schema()["function"]["parameters"]
        assert ToolParams.model_validate(parameters).model_dump(exclude_none=True) == parameters


@pytest.mark.row(45)
def test_calls_that_inspect_itself_would_refuse_are_answered_and_counted_by_kind(had: Any) -> None:
    told: list[str] = []

    def act(messages: list[ChatMessage]) -> Any:
        told.append(messages[-1].text)
        calls = [
            ("search_hotels", {"location": "Zion"}),
            ("search_hotel", {"location": 5}),
            ("get_weekday", {"date": "2025-08-01"}),  # an alias
            ("calendar", {"date": "2025-08-41"}),
        ]
        return calls[len(told) - 1] if len(told) <= len(calls) else reply()

    sample, episode = had(mock(act), turns=1)
    assert [(call.tool, call.fault) for call in episode.calls] == [
        ("search_hotels", Fault.NAME),
        ("search_hotel", Fault.PARAMETER),
        ("calendar", None),
        ("calendar", Fault.CONTENT),
    ]
    assert "search_hotel" in told[1]
    assert json.loads(told[3])["weekday"] == "Friday"
    assert sample.error is None


@pytest.mark.row(39)
def test_a_reply_without_the_agreed_form_is_asked_for_once_more_and_then_counts_as_it_is(had: Any) -> None:
    said: list[str] = []

    def speak(messages: list[ChatMessage]) -> str:
        said.append(messages[-1].text)
        return ["Well!", reply("Better."), "Well!", "Well, well!"][len(said) - 1]

    _, episode = had(mock(speak), turns=2)
    assert [(turn.answered, turn.repaired) for turn in episode.turns] == [
        (Answered.MESSAGE, True),
        (Answered.FORMAT_ERROR, True),
    ]
    assert "agreed form" in said[1]
    assert episode.turns[0].usage.read == 20  # both attempts
    assert episode.turns[1].reason


def test_a_model_that_calls_tools_for_ever_is_made_to_speak(had: Any) -> None:
    _, episode = had(mock([("calendar", {"date": "2025-08-01"})]), steps=3, turns=1)
    assert len(episode.calls) == 3
    assert episode.turns[0].answered is Answered.FORMAT_ERROR


@pytest.mark.row(40)
@pytest.mark.parametrize(
    ("settings", "limits", "ended"),
    [
        ({"turns": 2}, {}, Ended.TURNS),
        ({"tokens": 25}, {}, Ended.TOKENS),
        ({"calls": 1}, {}, Ended.CALLS),
        ({}, {"token_limit": 60}, Ended.TOKENS),
        ({}, {"message_limit": 12}, Ended.CALLS),
        ({}, {"cost_limit": 0.000035}, Ended.COST),
    ],
)
def test_every_limit_ends_a_conversation_with_its_reason_and_what_was_recommended_counts(
    settings: dict[str, Any], limits: dict[str, Any], ended: Ended, had: Any, cases: Cases
) -> None:
    ids = best(cases, FLIGHT)
    lines = [("calendar", {"date": "2025-08-01"}), ("calendar", {"date": "2025-08-02"})]
    asking = reply("And the dates?", **ids)

    def act(messages: list[ChatMessage]) -> Any:
        return lines[min(1, len(messages) % 2)] if messages[-1].role == "user" else asking

    set_model_info("mockllm/model", ModelInfo(cost=PRICE))
    sample, episode = had(mock(act), FLIGHT, limits=limits, **settings)
    assert episode.ended is ended
    assert episode.verdict.kind is VerdictKind.OPTIMAL
    assert sample.scores["gap"].value["relative_gap"] == 0


PRICE = ModelCost(input=1, output=0, input_cache_write=0, input_cache_read=0)  # dollars for a million tokens


@pytest.mark.row(40)
@pytest.mark.parametrize(
    ("limits", "ended"),
    [
        ({"token_limit": 60, "cost_limit": 0.000035, "message_limit": 8, "turn_limit": 2}, Ended.TURNS),
        ({"cost_limit": 0.000015}, Ended.COST),
        ({"token_limit": 15}, Ended.TOKENS),
        ({"turn_limit": 1}, Ended.CALLS),
    ],
)
def test_only_what_the_agents_model_spends_ends_a_conversation(limits: dict[str, Any], ended: Ended, had: Any) -> None:
    set_model_info("mockllm/model", ModelInfo(cost=PRICE))
    agent, user = mock([reply("I look.")]), mock(["I want a castle."], tokens=10_000)  # twice what it is asked for
    sample, episode = had(agent, roles={"user": user}, user="model", turns=2, limits=limits)
    assert sample.error is None
    assert episode.ended is ended
    assert [turn.user_usage.read for turn in episode.turns] == [20_000] * (2 if ended is Ended.TURNS else 1)


def cut(text: str, reason: StopReason) -> ModelOutput:
    """An output that stops for a reason of its own."""
    output = ModelOutput.from_content("mock", text, stop_reason=reason)
    output.usage = ModelUsage(input_tokens=10, output_tokens=1, total_tokens=11)
    return output


@pytest.mark.row(40)
@pytest.mark.parametrize("voice", ["native", "json"])
@pytest.mark.parametrize("reason", ["max_tokens", "model_length"])
def test_a_reply_that_a_limit_on_tokens_cuts_ends_the_conversation_and_what_was_recommended_counts(
    reason: StopReason, voice: str, had: Any, cases: Cases
) -> None:
    sample, episode = had(mock([reply(**best(cases, FLIGHT)), cut('{"mess', reason)]), FLIGHT, voice=voice)
    assert (episode.ended, len(episode.turns)) == (Ended.TOKENS, 1)
    assert episode.verdict.kind is VerdictKind.OPTIMAL
    assert sample.scores["outcome"].value["optimal"] == 1


@pytest.mark.parametrize(
    ("text", "reason", "told"),
    [
        ('{"mess', "content_filter", "content_filter"),
        ('{"mess', "unknown", "unknown"),
        ("", "stop", "empty"),
        (" ", "tool_calls", "empty"),
    ],
)
def test_a_reply_that_the_provider_cut_is_not_the_agents_and_has_no_outcome(
    text: str, reason: StopReason, told: str, had: Any, cases: Cases
) -> None:
    sample, episode = had(mock([reply(**best(cases, HOTEL)), cut(text, reason)]))
    assert episode is None
    assert told in sample.error.message
    assert not sample.scores


def test_seconds_say_nothing_about_an_agent(had: Any) -> None:
    sample, episode = had(mock([reply()]), limits={"time_limit": 0})
    assert episode is None
    assert sample.scores["outcome"].reason == "no outcome"
    assert math.isnan(sample.scores["outcome"].value)  # how Inspect marks what is left out of all means


@pytest.mark.row(17)
def test_in_coding_mode_the_only_tool_runs_programs_whose_calls_are_inner_ones(had: Any, cases: Cases) -> None:
    try:
        sandbox()
    except SandboxError as fault:
        pytest.skip(str(fault))
    seen: list[ChatMessage] = []
    code = "from tools import calendar\nprint(calendar(date='2025-08-01')['weekday'])"

    def act(messages: list[ChatMessage]) -> Any:
        seen[:] = messages
        return reply() if messages[-1].role == "tool" else ("run_python", {"code": code})

    sample, episode = had(mock(act), mode="code", turns=1)
    assert seen[-1].text == "Friday"
    assert [(call.tool, call.inner) for call in episode.calls] == [("calendar", True)]
    assert (episode.mode, episode.turns[0].calls) == ("code", 1)
    asked = next(event for event in sample.events if event.event == "model")
    assert [tool.name for tool in asked.tools] == ["run_python"]
    assert "search_hotel(location, start_date" in seen[0].text


def test_a_user_in_the_words_of_a_model_says_what_was_decided(had: Any, cases: Cases) -> None:
    prompts: list[str] = []

    def word(messages: list[ChatMessage]) -> str:
        prompts.append(messages[-1].text)
        lines = [line for line in prompts[-1].splitlines() if line.startswith("- ")]
        told = [line.split(": ", 1)[1] for line in lines if line.startswith(("- New, it must hold", "- Again"))]
        goal = prompts[-1].split("[GOAL]\n- ")[1].split("\n")[0] if "the first message" in prompts[-1] else ""
        asking = "Please make a formal recommendation." if "Ask for a formal" in prompts[-1] else ""
        return " ".join(["So.", goal, *told, asking])

    agent = mock([reply("I look."), reply("And now.")])
    _, episode = had(agent, roles={"user": mock(word)}, user="model", turns=3)
    assert [turn.user.startswith("So.") for turn in episode.turns] == [True] * 3
    assert not any(turn.user_faults for turn in episode.turns)
    assert all(turn.user_usage.read == 10 for turn in episode.turns)
    assert len(prompts) == 3


def test_faults_of_a_model_that_words_the_user_are_the_users_and_the_rules_speak_instead(had: Any) -> None:
    agent = mock([reply("I look.")])
    _, episode = had(agent, roles={"user": mock(["I want a castle with 12 bathtubs."])}, user="model", turns=2)
    _, plain = had(agent, turns=2)
    assert [turn.user for turn in episode.turns] == [turn.user for turn in plain.turns]
    assert all(UserFault.HALLUCINATION in turn.user_faults for turn in episode.turns)
    assert all(turn.user_usage.read == 20 for turn in episode.turns)  # tried twice
    assert [turn.verdict for turn in episode.turns] == [turn.verdict for turn in plain.turns]


def test_a_model_without_tool_calling_acts_by_json_that_a_schema_constrains(had: Any, cases: Cases) -> None:
    seen: list[list[ChatMessage]] = []

    def act(messages: list[ChatMessage]) -> str:
        seen.append(list(messages))
        if len(seen) == 1:
            return json.dumps({"tool": "calendar", "arguments": {"date": "2025-08-01"}})
        return reply(**best(cases, HOTEL))

    sample, episode = had(mock(act), voice="json", turns=2)
    assert [call.tool for call in episode.calls] == ["calendar"]
    assert "Friday" in seen[1][-1].text
    assert episode.verdict.kind is VerdictKind.OPTIMAL
    asked = next(event for event in sample.events if event.event == "model")
    assert asked.config.response_schema is not None
    assert "search_hotel(location" in seen[0][0].text


def test_coding_mode_needs_tool_calling(folder: Path) -> None:
    with pytest.raises(InputError, match="voice=native"):
        compass(suite=str(folder), mode="code", voice="json")


@pytest.mark.row(43)
def test_the_briefing_says_how_many_may_be_recommended_and_what_to_call_before(cases: Cases) -> None:
    one, several = briefing(cases.cases[HOTEL]), briefing(cases.cases[FLIGHT])
    assert '"hotel_ids": [' in one
    assert "Up to 3 ids" in one
    assert '"hotel_id": "…", "flight_id": "…"' in several
    assert "exactly one trip" in several
    assert "recommend_hotel and recommend_flight first" in several


@pytest.mark.parametrize(
    ("models", "told"),
    [
        (["--model", "cobench/nobody"], "nobody"),
        (["--model", "nowhere/model"], "nowhere/model cannot be had"),
        (["--model", "openai/gpt-5"], "OPENAI_API_KEY"),
        (["--model", "cobench/greedy", "--user-model", "nowhere/user"], "nowhere/user cannot be had"),
    ],
)
def test_a_run_of_a_model_that_cannot_be_had_is_refused_and_leaves_nothing(
    models: list[str], told: str, folder: Path, tmp_path: Path, monkeypatch: pytest.MonkeyPatch,
    capsys: pytest.CaptureFixture[str],
) -> None:  # fmt: skip
    monkeypatch.delenv("OPENAI_API_KEY", raising=False)
    assert command(["run", str(folder), *models, "--out", str(tmp_path / "run")]) == 2
    assert told in capsys.readouterr().err
    assert not (tmp_path / "run").exists()


@pytest.mark.parametrize("module", ["anyio", "inspect_ai", "mcp"])
def test_a_command_whose_extra_is_missing_says_how_to_get_it(
    module: str, folder: Path, tmp_path: Path, monkeypatch: pytest.MonkeyPatch, capsys: pytest.CaptureFixture[str]
) -> None:
    monkeypatch.setitem(sys.modules, module, None)
    commands = {
        "cobench mcp": ["mcp", f"{folder}:{HOTEL}"],
        "cobench run --model": ["run", str(folder), "--model", "cobench/greedy", "--out", str(tmp_path / "run")],
    }
    needed = {"inspect_ai": ["cobench run --model"], "mcp": ["cobench mcp"]}.get(module, list(commands))
    for name in needed:
        assert command(commands[name]) == 2
        said = capsys.readouterr().err
        assert f"{name} needs the extra: pip install 'cobench[agents]'" in said
        assert "pip install '.[agents]'" in said
    assert not (tmp_path / "run").exists()


def test_inspect_finds_the_task_from_any_folder_and_needs_no_network_for_its_mock(folder: Path, tmp_path: Path) -> None:
    # as pip leaves an editable installation
    installed = tmp_path / "site" / "cobench-0.1.0.dist-info"
    installed.mkdir(parents=True)
    (installed / "METADATA").write_text("Metadata-Version: 2.1\nName: cobench\nVersion: 0.1.0\n", encoding="utf-8")
    entry = "[inspect_ai]\ncobench = cobench.agent_runner.inspect.registry\n"
    (installed / "entry_points.txt").write_text(entry, encoding="utf-8")
    (installed / "direct_url.json").write_text(
        f'{{"url": "{ROOT.as_uri()}", "dir_info": {{"editable": true}}}}', encoding="utf-8"
    )
    assert entry.splitlines()[1] in (ROOT / "setup.cfg").read_text(encoding="utf-8")
    elsewhere = tmp_path / "elsewhere"
    elsewhere.mkdir()
    path = os.pathsep.join([str(tmp_path / "site"), *(entry for entry in sys.path if entry)])
    options = ["-T", f"suite={folder}", "-T", "turns=2", "--limit", "1", "--display", "none", "--log-dir", "logs"]
    done = subprocess.run(
        [sys.executable, "-m", "inspect_ai", "eval", "cobench/compass", "--model", "mockllm/model", *options],
        cwd=elsewhere, env={**os.environ, "PYTHONPATH": path}, capture_output=True, encoding="utf-8", timeout=120,
        check=False,
    )  # fmt: skip
    assert done.returncode == 0, done.stdout + done.stderr
    assert len([*(elsewhere / "logs").glob("*.eval")]) == 1
