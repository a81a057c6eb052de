"""A model's server that fails in every way it can: no conversation is lost, and nothing of it is the agent's fault."""

from __future__ import annotations

import json
import socket
import time
from collections import Counter
from collections.abc import Callable, Iterator
from pathlib import Path

import pytest
from cobench.agent_runner.inspect import run as running
from cobench.agent_runner.inspect.run import run_model
from cobench.agent_runner.runs import Run, open_run
from cobench.agent_runner.suites import open_suite
from cobench.schemas.episode import Answered, Fault
from cobench.schemas.run import RunFile
from cobench.schemas.verdict import VerdictKind
from inspect_ai.model import ModelAPI
from pytest_httpserver import HTTPServer
from tenacity import wait_none
from werkzeug import Request, Response

from .mock_models import reply
from .small_suite import HOTEL, Cases, write_suite

pytestmark = [
    pytest.mark.filterwarnings("ignore:The 'initial' parameter is deprecated:DeprecationWarning"),  # Inspect's
    pytest.mark.filterwarnings("ignore::pytest.PytestUnraisableExceptionWarning"),  # streams that Inspect leaves open
]
RETRIES = 2
ATTEMPT, SLOW = 2, 2.2  # seconds
SEED = 10  # of users who all begin in other words


def chat(content: str | None = None, calls: list[tuple[str, str]] | None = None, stopped: str = "stop") -> Response:
    """An answer as the API of OpenAI gives it; calls are (tool, arguments as text), `stopped` why it ends."""
    asked = [
        {"id": f"call_{number}", "type": "function", "function": {"name": name, "arguments": arguments}}
        for number, (name, arguments) in enumerate(calls or ())
    ]
    message = {"role": "assistant", "content": content, **({"tool_calls": asked} if asked else {})}
    body = {
        "id": "x", "object": "chat.completion", "created": 0, "model": "agent",
        "choices": [{"index": 0, "message": message, "finish_reason": "tool_calls" if asked else stopped}],
        "usage": {"prompt_tokens": 7, "completion_tokens": 2, "total_tokens": 9},
    }  # fmt: skip
    return Response(json.dumps(body), content_type="application/json")


def _slow() -> Response:
    time.sleep(SLOW)
    return chat(reply("Too late."))


def _cut() -> Response:
    text = chat(reply()).get_data()
    return Response(iter([text[:40]]), content_type="application/json", headers={"Content-Length": str(len(text))})


def _text(text: str | bytes) -> Response:
    return Response(text, content_type="application/json")


# What the server does instead of answering, and for how many requests in a row.
PASSING: dict[str, tuple[Callable[[], Response], int]] = {
    "429 twice": (lambda: Response("slow down", 429), 2),
    "500 twice": (lambda: Response("oh no", 500), 2),
    "503 with a page": (lambda: Response("<html>busy</html>", 503, content_type="text/html"), 1),
    "slow once": (_slow, 1),
    "cut off once": (_cut, 1),
    "no JSON once": (lambda: _text("{'choices': ["), 1),
}
LASTING: dict[str, Callable[[], Response]] = {
    "429 for ever": lambda: Response("slow down", 429),
    "500 for ever": lambda: Response("oh no", 500),
    "cut off for ever": _cut,
    "no JSON": lambda: _text("{'choices': ["),
    "not even text": lambda: _text(b"\xff\xfe\x00{"),
    "no choices": lambda: _text('{"id": "x", "object": "chat.completion", "choices": []}'),
    "another document": lambda: _text('{"answer": 42}'),
    "nothing said": lambda: chat(""),
    "filtered": lambda: chat("I cannot", stopped="content_filter"),
    "broken off": lambda: chat('{"message": "Your', stopped="error"),
    "401": lambda: Response('{"error": {"message": "who are you?"}}', 401, content_type="application/json"),
}
# What a model may do wrong: that is the agent's, answered, counted, and no reason to stop.
WRONG_CALLS: dict[str, tuple[str, str, Fault]] = {
    "arguments that are no JSON": ("calendar", '{"date": ', Fault.PARAMETER),
    "arguments that are no object": ("calendar", "[1, 2]", Fault.PARAMETER),
    "a tool that there is not": ("book_everything", "{}", Fault.NAME),
}
KINDS = [*PASSING, *LASTING, *WRONG_CALLS, "none"]


class Endpoint:
    """The server: each conversation that it meets gets the next kind of fault, in its second request."""

    def __init__(self, ids: dict[str, str]) -> None:
        self._ids = ids
        self.kinds = iter(KINDS)
        self.kind_of: dict[str, str] = {}  # by the first message of the user
        self._count: Counter[str] = Counter()

    def __call__(self, request: Request) -> Response:
        messages = json.loads(request.get_data())["messages"]
        first = messages[1]["content"]
        if first not in self.kind_of:
            self.kind_of[first] = next(self.kinds, "none")
        self._count[first] += 1
        kind, number = self.kind_of[first], self._count[first] - 1
        if number == 0:
            return chat(None, [("recommend_hotel", json.dumps({"ids": list(self._ids.values()), "reasoning": "."}))])
        if kind in LASTING:
            return LASTING[kind]()
        if kind in PASSING and number <= PASSING[kind][1]:
            return PASSING[kind][0]()
        if kind in WRONG_CALLS and number == 1:
            return chat(None, [WRONG_CALLS[kind][:2]])
        return chat(reply(**self._ids))


@pytest.fixture(scope="module")
def folder(tmp_path_factory: pytest.TempPathFactory) -> Path:
    return write_suite(tmp_path_factory.mktemp("suite") / "small")


@pytest.fixture
def server(monkeypatch: pytest.MonkeyPatch) -> Iterator[HTTPServer]:
    monkeypatch.setattr(ModelAPI, "retry_wait", lambda _: wait_none())
    monkeypatch.setattr("openai._base_client.MAX_RETRY_DELAY", 0.0)  # it tries again by itself, too
    monkeypatch.setattr(running, "RETRIES", RETRIES)
    monkeypatch.setattr(running, "ATTEMPT", ATTEMPT)
    monkeypatch.setenv("LOCAL_API_KEY", "none")
    # Inspect colours a traceback for each fault, which takes longer than all the rest
    monkeypatch.setattr("inspect_ai._util.rich.rich_traceback", lambda *_, **__: "")
    with HTTPServer(port=0, threaded=True) as made:
        monkeypatch.setenv("LOCAL_BASE_URL", made.url_for("/v1"))
        yield made


def run(folder: Path, out: Path, epochs: int, name: str) -> Run:
    """The run, begun or gone on with; Inspect remembers the server of a model, so that each has its own `name`."""
    model = f"openai-api/local/{name}"
    facts = RunFile(
        version="1", suite="small", suite_digest="", tasks=(HOTEL,), agents=(model,), settings={"model": model},
        seed=SEED, epochs=epochs, turns=1,
    )  # fmt: skip
    with open_run(out, facts) as opened:
        run_model(open_suite(str(folder)), opened, lambda *_: None)
        return opened.finish()


@pytest.mark.row(40)
def test_faults_of_the_wire_lose_no_conversation_and_are_never_the_agents(
    folder: Path, server: HTTPServer, tmp_path: Path
) -> None:
    ids = Cases(folder).best(HOTEL)
    endpoint = Endpoint({f"{choice}_id": offer for choice, offer in ids.items()})
    server.expect_request("/v1/chat/completions").respond_with_handler(endpoint)
    epochs = len(KINDS)
    first = run(folder, tmp_path / "run", epochs, "failing")
    met = endpoint.kind_of
    assert set(met.values()) == set(KINDS)
    assert len(first.episodes) + len(first.unscored) == epochs
    for episode in first.episodes:
        kind = met[episode.turns[0].user]
        assert kind not in LASTING
        assert episode.verdict.kind is VerdictKind.OPTIMAL, kind
        assert all(turn.answered is Answered.RECOMMENDATION and not turn.repaired for turn in episode.turns), kind
        wrong = [call.fault for call in episode.calls if call.fault is not None]
        assert wrong == ([WRONG_CALLS[kind][2]] if kind in WRONG_CALLS else []), kind
    assert {met[episode.turns[0].user] for episode in first.episodes} == {*KINDS} - {*LASTING}
    assert all(failed.reason for failed in first.unscored)

    met.update(dict.fromkeys(met, "none"))  # the server is well again
    second = run(folder, tmp_path / "run", epochs, "failing")
    assert (len(second.episodes), second.unscored) == (epochs, ())
    again = {episode.epoch: episode.to_bytes() for episode in second.episodes}
    assert all(again[episode.epoch] == episode.to_bytes() for episode in first.episodes)
    assert all(episode.verdict.kind is VerdictKind.OPTIMAL for episode in second.episodes)


def test_a_server_that_dies_in_the_middle_leaves_what_was_finished_and_the_rest_to_be_done(
    folder: Path, server: HTTPServer, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    ids = Cases(folder).best(HOTEL)
    endpoint = Endpoint({f"{choice}_id": offer for choice, offer in ids.items()})
    endpoint.kinds = iter(())
    left = 6  # requests

    def dying(request: Request) -> Response:
        nonlocal left
        left -= 1
        if left < 0:
            request.environ["werkzeug.socket"].shutdown(socket.SHUT_RDWR)
        return endpoint(request)

    server.expect_request("/v1/chat/completions").respond_with_handler(dying)
    first = run(folder, tmp_path / "run", 4, "dying")
    assert len(first.episodes) + len(first.unscored) == 4
    assert first.unscored
    assert all(failed.reason for failed in first.unscored)
    left = 1000
    second = run(folder, tmp_path / "run", 4, "dying")
    assert (len(second.episodes), second.unscored) == (4, ())
    assert {episode.epoch for episode in second.episodes} == set(range(1, 5))
