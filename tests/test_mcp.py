"""The MCP server with the client of the official SDK: eighteen tools, one task, and a record at the end."""

from __future__ import annotations

import json
import subprocess
import sys
from collections.abc import Awaitable, Callable
from pathlib import Path
from typing import Any

import anyio
import pytest
from cobench.agent_runner.mcp.server import server_of
from cobench.agent_runner.mcp.session import Session
from cobench.agent_runner.tools.catalogue import catalogue_of
from cobench.agent_runner.tools.toolbox import TOOLS, Toolbox
from cobench.schemas.episode import Episode, Fault
from cobench.schemas.verdict import VerdictKind
from mcp import Client, StdioServerParameters
from mcp.client.stdio import stdio_client
from mcp_types import TextContent

from .small_suite import FLIGHT, HOTEL, Cases, write_suite

Act = Callable[[Client], Awaitable[Any]]


@pytest.fixture(scope="module")
def folder(tmp_path_factory: pytest.TempPathFactory) -> Path:
    return write_suite(tmp_path_factory.mktemp("suite") / "small")


@pytest.fixture(scope="module")
def cases(folder: Path) -> Cases:
    return Cases(folder)


def session_about(cases: Cases, task: str) -> Session:
    case = cases.cases[task]
    return Session(case, Toolbox(catalogue_of(case.dataset)), "tested", 0)


def done(session: Session, act: Act) -> Episode:
    """The record after a client, in this process, has acted."""

    async def run() -> None:
        async with Client(server_of(session)) as client:
            await act(client)

    anyio.run(run)
    return session.finish()


async def recommend(client: Client, cases: Cases, task: str) -> None:
    for choice, offer in cases.best(task).items():
        await client.call_tool(f"recommend_{choice}", {"ids": [offer], "reasoning": "It is the best."})


@pytest.mark.row(9)
def test_a_client_in_another_process_lists_eighteen_tools_and_completes_a_task_with_the_optimum(
    folder: Path, cases: Cases, tmp_path: Path
) -> None:
    out = tmp_path / "record.json"
    server = StdioServerParameters(
        command=sys.executable,
        args=["-c", "from cobench.cli import main; main()", "mcp", f"{folder}:{FLIGHT}", "--out", str(out), "-q"],
        env={"PYTHONPATH": ":".join(entry for entry in sys.path if entry)},
    )
    listed: list[Any] = []

    async def run() -> None:
        async with Client(stdio_client(server)) as client:
            listed.extend((await client.list_tools()).tools)
            await recommend(client, cases, FLIGHT)

    anyio.run(run)
    assert len(listed) == 18
    schemas = [tool.schema()["function"] for tool in TOOLS.values()]
    assert [(tool.name, tool.description, tool.input_schema) for tool in listed] == [
        (schema["name"], schema["description"], schema["parameters"]) for schema in schemas
    ]
    episode = Episode.model_validate_json(out.read_bytes())
    assert episode.verdict.kind is VerdictKind.OPTIMAL
    assert episode.turns[0].validated
    assert len(episode.calls) == 2


def test_the_prompt_tells_all_constraints_and_the_server_offers_nothing_else(cases: Cases) -> None:
    session, seen = session_about(cases, FLIGHT), {}

    async def look(client: Client) -> None:
        prompts = (await client.list_prompts()).prompts
        content = (await client.get_prompt(prompts[0].name)).messages[0].content
        assert isinstance(content, TextContent)
        seen["prompts"], seen["text"] = [prompt.name for prompt in prompts], content.text
        seen["can"] = client.server_capabilities.model_dump(exclude_none=True)

    episode = done(session, look)
    assert seen["prompts"] == ["task"]
    assert set(seen["can"]) == {"tools", "prompts"}
    script = cases.env(FLIGHT).script
    assert all(line in seen["text"] for line in script.lines.values())
    assert script.goal in seen["text"]
    assert "recommend_hotel and recommend_flight" in seen["text"]
    assert (episode.traits.later, episode.told) == (0, 1)
    assert episode.task_digest == cases.cases[FLIGHT].problem.digest
    assert episode.verdict.kind is VerdictKind.NO_ANSWER


def test_wrong_calls_are_answered_as_errors_and_counted_by_kind(cases: Cases) -> None:
    answers: list[Any] = []

    async def err(client: Client) -> None:
        for name, arguments in (("book", {}), ("calendar", {}), ("recommend_hotel", {"ids": ["x"], "reasoning": ""})):
            found = await client.call_tool(name, arguments)
            answers.append((found.is_error, json.loads(found.content[0].text)))  # pyright: ignore[reportAttributeAccessIssue]

    episode = done(session_about(cases, HOTEL), err)
    assert [wrong for wrong, _ in answers] == [True] * 3
    assert [call.fault for call in episode.calls] == [Fault.NAME, Fault.PARAMETER, Fault.CONTENT]


@pytest.mark.row(43)
def test_the_last_recommendation_of_each_part_counts_and_several_hotels_are_alternatives(cases: Cases) -> None:
    best = cases.best(HOTEL)["hotel"]

    async def act(client: Client) -> None:
        found = await client.call_tool("search_hotel", {
            "location": "Zion", "start_date": "2025-08-05", "end_date": "2025-08-08", "num_guests": 2,
        })  # fmt: skip
        other = json.loads(found.content[0].text)["results"][0]["packages"][0]["package_id"]  # pyright: ignore[reportAttributeAccessIssue]
        for ids in ([best], [other, best], ["nothing"]):
            await client.call_tool("recommend_hotel", {"ids": ids, "reasoning": "It may do."})

    episode = done(session_about(cases, HOTEL), act)
    assert len(episode.turns[0].options) == 2
    assert episode.verdict.kind is VerdictKind.OPTIMAL


@pytest.mark.row(43)
def test_two_ids_for_a_part_of_a_trip_are_refused_and_leave_the_last_single_one_standing(cases: Cases) -> None:
    best = cases.best(FLIGHT)
    session = session_about(cases, FLIGHT)
    assert "Exactly one id counts for each part" in session.text
    assert "later" not in session.text.partition("Find offers")[0]
    assert "One to 3 ids" in session_about(cases, HOTEL).text
    found = session.call("search_hotel", {
        "location": "Zion", "start_date": "2025-08-15", "end_date": "2025-08-17", "num_guests": 3,
    })  # fmt: skip
    other = next(offer for offer in found.offers["stays"] if offer != best["hotel"])
    for choice, offer in best.items():
        taken = session.call(f"recommend_{choice}", {"ids": [offer], "reasoning": "It is the best."})
        assert taken.content["message"].startswith("This is your recommendation now")
    refused = session.call("recommend_hotel", {"ids": [other, best["hotel"]], "reasoning": "Either."})
    assert refused.fault is Fault.CONTENT
    assert "exactly one id" in refused.content["error"]["message"]
    assert session.finish().verdict.kind is VerdictKind.OPTIMAL


HELLO: dict[str, Any] = {
    "id": 0,
    "method": "initialize",
    "params": {
        "protocolVersion": "2025-06-18", "capabilities": {}, "clientInfo": {"name": "piped", "version": "1"},
    },
}  # fmt: skip


def test_a_client_that_reads_no_more_leaves_a_record(folder: Path, tmp_path: Path) -> None:
    out = tmp_path / "record.json"
    command = [sys.executable, "-c", "from cobench.cli import main; main()", "mcp", f"{folder}:{FLIGHT}", "-q"]
    pipe = subprocess.PIPE
    with subprocess.Popen([*command, "--out", str(out)], stdin=pipe, stdout=pipe, stderr=pipe, text=True) as server:
        assert server.stdin is not None
        assert server.stdout is not None
        server.stdin.write(json.dumps({"jsonrpc": "2.0", **HELLO}) + "\n")
        server.stdin.flush()
        server.stdout.readline()
        server.stdout.close()
        for number in range(1, 9):
            params = {"name": "calendar", "arguments": {"date": "2025-08-12"}}
            line = {"jsonrpc": "2.0", "id": number, "method": "tools/call", "params": params}
            server.stdin.write(json.dumps(line) + "\n")
        server.stdin.close()
        assert server.wait(60) == 0
    assert Episode.model_validate_json(out.read_bytes()).verdict.kind is VerdictKind.NO_ANSWER


def test_a_client_that_writes_all_and_leaves_gets_all_answers_also_to_half_a_character(
    folder: Path, cases: Cases, tmp_path: Path
) -> None:
    out, best = tmp_path / "record.json", cases.best(FLIGHT)
    calls = [("search_location_name", {"query": "\ud800"})] * 8
    calls += [(f"recommend_{choice}", {"ids": [offer], "reasoning": "Best."}) for choice, offer in best.items()]
    lines: list[dict[str, Any]] = [
        HELLO,
        {"method": "notifications/initialized"},
        *({"id": number, "method": "tools/call", "params": {"name": name, "arguments": arguments}}
          for number, (name, arguments) in enumerate(calls, 1)),
    ]  # fmt: skip
    text = "".join(json.dumps({"jsonrpc": "2.0", **line}) + "\n" for line in lines)
    command = [sys.executable, "-c", "from cobench.cli import main; main()", "mcp", f"{folder}:{FLIGHT}", "-q"]
    command += ["--out", str(out)]
    done = subprocess.run(command, input=text, capture_output=True, text=True, timeout=60, check=True)
    answers = [json.loads(line) for line in done.stdout.splitlines()]
    assert sorted(answer["id"] for answer in answers) == list(range(len(calls) + 1)), done.stderr
    assert all("result" in answer for answer in answers)
    assert Episode.model_validate_json(out.read_bytes()).verdict.kind is VerdictKind.OPTIMAL
