"""The documented ways to a conversation of one's own: what the docs say runs as it stands there."""

from __future__ import annotations

import re
from pathlib import Path
from textwrap import dedent
from typing import Any

import cobench
import pytest
from cobench.agent_runner import env as home

ROOT = Path(__file__).resolve().parent.parent


def test_the_example_of_a_conversation_runs() -> None:
    code = re.search(r"\n((?:    .*\n|\n)+)", home.__doc__ or "")
    assert code is not None
    made: dict[str, Any] = {}
    exec(dedent(code[1]), made)  # noqa: S102 - our own
    env = made["env"]
    assert [call.tool for call in env.episode().calls] == ["list_permits"]
    assert len(env.episode().turns) == 1


def test_the_loop_in_the_docs_runs_to_its_end(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    text = (ROOT / "docs" / "agents.md").read_text(encoding="utf-8")
    (code,) = re.findall(r"```python\n(.*?)```", text, re.DOTALL)
    monkeypatch.chdir(tmp_path)
    exec(code, {})  # noqa: S102 - our own
    episode = cobench.Episode.model_validate_json(Path("me.json").read_bytes())
    assert (episode.agent, episode.seed, episode.task) == ("mine", 1, "compass-1-003")


def test_one_seed_draws_one_user_and_another_another() -> None:
    case = cobench.open_suite("compass").case("compass-1-003")
    users = [cobench.Env.of(case, agent="a", seed=seed).persona for seed in (1, 1, 2, 3, 4)]
    assert users[0] == users[1]
    assert len(set(users)) > 1
