"""A task file in an editor: the real YAML language server, with our schema, marks faults and offers keys."""

from __future__ import annotations

import json
import os
import queue
import shutil
import subprocess
import threading
import time
from collections.abc import Iterator
from pathlib import Path
from typing import Any

import pytest
from cobench.schemas.task import Task

ROOT = Path(__file__).resolve().parent.parent
SCHEMA = ROOT / "schemas" / "task.schema.json"
SECONDS = 30  # for one answer; the whole file takes about two

GOOD = """\
cobench: 1
id: editor-1
dataset: parks
choose:
  hotel: stays
constraints:
  park: hotel.park == "Zion"
minimize: hotel.total_price
"""


class LanguageServer:
    """A language server on the other end of a pipe: JSON-RPC messages, each after a Content-Length header."""

    def __init__(self, command: list[str]) -> None:
        self._process = subprocess.Popen(
            command, stdin=subprocess.PIPE, stdout=subprocess.PIPE, stderr=subprocess.DEVNULL
        )
        self._messages: queue.Queue[dict[str, Any] | None] = queue.Queue()
        self._reader = threading.Thread(target=self._read, daemon=True)
        self._reader.start()
        self._last_id = 0
        self._diagnostics: dict[str, list[dict[str, Any]]] = {}

    def _read(self) -> None:
        stream = self._process.stdout
        assert stream is not None
        length = 0
        while line := stream.readline():
            if line.lower().startswith(b"content-length:"):
                length = int(line.split(b":")[1])
            elif not line.strip():
                self._messages.put(json.loads(stream.read(length)))
        self._messages.put(None)

    def _send(self, message: dict[str, Any]) -> None:
        body = json.dumps({"jsonrpc": "2.0", **message}).encode()
        stream = self._process.stdin
        assert stream is not None
        stream.write(b"Content-Length: %d\r\n\r\n" % len(body) + body)
        stream.flush()

    def _next(self, deadline: float) -> dict[str, Any]:
        """The next message, once what the server asked or told on the way is dealt with."""
        try:
            message = self._messages.get(timeout=max(0.0, deadline - time.monotonic()))
        except queue.Empty:
            pytest.fail(f"the language server said nothing for {SECONDS} s")
        if message is None:
            pytest.fail("the language server ended")
        if "method" in message and "id" in message:
            asked = message["params"].get("items", []) if message["method"] == "workspace/configuration" else None
            self._send({"id": message["id"], "result": asked and [None] * len(asked)})
        elif message.get("method") == "textDocument/publishDiagnostics":
            self._diagnostics[message["params"]["uri"]] = message["params"]["diagnostics"]
        return message

    def notify(self, method: str, params: dict[str, Any]) -> None:
        """Tell the server something."""
        self._send({"method": method, "params": params})

    def ask(self, method: str, params: dict[str, Any]) -> Any:
        """The server's answer to a request."""
        self._last_id += 1
        self._send({"id": self._last_id, "method": method, "params": params})
        deadline = time.monotonic() + SECONDS
        while True:
            message = self._next(deadline)
            if message.get("id") == self._last_id and "method" not in message:
                assert "error" not in message, message["error"]
                return message["result"]

    def diagnostics(self, uri: str) -> list[dict[str, Any]]:
        """What the server has to say about a document that was just opened."""
        deadline = time.monotonic() + SECONDS
        while uri not in self._diagnostics:
            self._next(deadline)
        return self._diagnostics[uri]

    def close(self) -> None:
        """End the server, whatever state it is in."""
        self._process.kill()
        self._process.wait(timeout=SECONDS)
        self._reader.join(timeout=SECONDS)
        for stream in (self._process.stdin, self._process.stdout):
            assert stream is not None
            stream.close()


def server_command() -> list[str] | None:
    """How to start the server: as the environment says, else as .ci/run installed it, else not at all."""
    given = os.environ.get("COBENCH_YAML_LANGUAGE_SERVER")
    script = Path(given) if given else ROOT / ".ci/node_modules/yaml-language-server/bin/yaml-language-server"
    node = shutil.which("node")
    return [node, str(script), "--stdio"] if node and script.exists() else None


@pytest.fixture(scope="module")
def server(tmp_path_factory: pytest.TempPathFactory) -> Iterator[LanguageServer]:
    command = server_command()
    if command is None:
        pytest.skip("needs node and yaml-language-server: run `npm ci` in .ci, or set COBENCH_YAML_LANGUAGE_SERVER")
    server = LanguageServer(command)
    try:
        workspace = tmp_path_factory.mktemp("workspace").as_uri()
        server.ask("initialize", {"processId": os.getpid(), "rootUri": workspace, "capabilities": {}})
        server.notify("initialized", {})
        # No catalogue of schemas is fetched from anywhere: the file itself names its schema.
        settings = {"yaml": {"schemaStore": {"enable": False}, "validate": True, "completion": True}}
        server.notify("workspace/didChangeConfiguration", {"settings": settings})
        yield server
    finally:
        server.close()


@pytest.fixture
def schema(tmp_path: Path) -> Path:
    """The committed schema of task files, or one made from the same model."""
    if SCHEMA.exists():
        return SCHEMA
    path = tmp_path / "task.schema.json"
    path.write_text(json.dumps(Task.model_json_schema()), encoding="utf-8")
    return path


def open_task(server: LanguageServer, schema: Path, folder: Path, text: str) -> str:
    """The URI of a task file with this text, opened in the server; its first line (line 0) names the schema."""
    path = folder / "task.yaml"
    modeline = f"# yaml-language-server: $schema={os.path.relpath(schema, folder)}\n"
    path.write_text(modeline + text, encoding="utf-8")
    uri = path.as_uri()
    document = {"uri": uri, "languageId": "yaml", "version": 1, "text": modeline + text}
    server.notify("textDocument/didOpen", {"textDocument": document})
    return uri


def test_a_good_task_has_no_marks(server: LanguageServer, schema: Path, tmp_path: Path) -> None:
    assert server.diagnostics(open_task(server, schema, tmp_path, GOOD)) == []


@pytest.mark.parametrize(
    ("old", "new", "line", "says"),
    [
        ("id: editor-1", "id: [editor-1]", 2, "string"),
        ("dataset: parks", "dataset: parks\ndatset: parks", 4, "datset"),
        ("dataset: parks\n", "", 1, "dataset"),
        ('  park: hotel.park == "Zion"', "  park:\n    reveal: sometimes\n    require: hotel.has_pool", 8, "later"),
    ],
    ids=["wrong type", "unknown key", "missing key", "unknown value"],
)
def test_faults_are_marked_where_they_are(
    server: LanguageServer, schema: Path, tmp_path: Path, old: str, new: str, line: int, says: str
) -> None:
    assert old in GOOD
    marks = server.diagnostics(open_task(server, schema, tmp_path, GOOD.replace(old, new)))
    assert {mark["range"]["start"]["line"] for mark in marks} == {line}
    assert says in " ".join(mark["message"] for mark in marks)


def test_keys_are_offered(server: LanguageServer, schema: Path, tmp_path: Path) -> None:
    written = "cobench: 1\nid: editor-2\ndataset: parks\nchoose:\n  hotel: stays\n"
    uri = open_task(server, schema, tmp_path, written + "\n")
    server.diagnostics(uri)
    position = {"line": 1 + written.count("\n"), "character": 0}
    answer = server.ask("textDocument/completion", {"textDocument": {"uri": uri}, "position": position})
    items = answer["items"] if isinstance(answer, dict) else answer
    labels = {item["label"] for item in items}
    assert {"minimize", "maximize", "constraints", "title"} <= labels
    assert not {"id", "dataset", "choose"} & labels
