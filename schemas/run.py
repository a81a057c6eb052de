"""What a folder of conversations says of itself: what was asked for, and which conversations have no outcome."""

from __future__ import annotations

from typing import Literal

from pydantic import Field, model_validator

from .canonical import canonical_bytes
from .suite import repeated
from .validation import Positive, Whole, Written

MOST = 1_000_000  # conversations of a run
MAX_REASON = 2000  # characters of why a conversation has no outcome that are kept


class RunFile(Written):
    """Everything that decides what the conversations of a run are, and nothing else: `run.json`.

    Each of `agents` has `epochs` conversations about each of `tasks`. `suite_digest` is that of the bytes of its
    tasks.json, `version` that of cobench. `settings`: of models, as text, such as `model`, `user model`, `temperature`.
    Limits are per conversation: user messages, calls of tools, tokens read and written, dollars; None is none.
    """

    cobench_run: Literal[1] = 1
    version: str
    suite: str
    suite_digest: str
    tasks: tuple[str, ...] = Field(min_length=1)
    agents: tuple[str, ...] = Field(min_length=1)
    mode: Literal["tools", "code", "human"] = "tools"
    settings: dict[str, str] = {}
    seed: Whole = 0
    epochs: Positive = 1
    turns: Positive = 30
    max_calls: Positive | None = None
    max_tokens: Positive | None = None
    cost_limit: str | None = None

    @model_validator(mode="after")
    def _countable(self) -> RunFile:
        twice = repeated(self.tasks) or repeated(self.agents)
        if twice is not None:
            raise ValueError(f"'{twice[:80]}' is there twice")
        if (number := len(self.tasks) * len(self.agents) * self.epochs) > MOST:
            raise ValueError(f"{number:,} conversations are more than {MOST:,}")
        return self

    def difference(self, other: RunFile) -> str:
        """In what another run's conversations would not belong to this one's; nothing when they would."""
        for name in type(self).model_fields:
            mine, theirs = getattr(self, name), getattr(other, name)
            if mine != theirs:
                return _told(name, mine, theirs)
        return ""

    def to_bytes(self) -> bytes:
        """The file's bytes: canonical JSON."""
        return canonical_bytes(self.model_dump(mode="json", exclude_none=True))


class Unscored(Written):
    """A conversation without an outcome, for a reason that is not the agent's. It counts nowhere and is tried again."""

    cobench_unscored: Literal[1] = 1
    task: str
    agent: str
    epoch: Positive
    reason: str = Field(max_length=MAX_REASON)

    def to_bytes(self) -> bytes:
        """The file's bytes: canonical JSON."""
        return canonical_bytes(self.model_dump(mode="json"))


def _told(name: str, mine: object, theirs: object) -> str:
    """A difference in words, with only what differs of long lists."""
    label = name.replace("_", " ")
    if isinstance(mine, tuple) and isinstance(theirs, tuple):
        gone, new = ([item for item in some if item not in others] for some, others in ((mine, theirs), (theirs, mine)))
        parts = [f"without {_few(gone)}"] * bool(gone) + [f"with {_few(new)}"] * bool(new)
        return f"other {label}: {' and '.join(parts)}" if parts else f"the same {label} in another order"
    if isinstance(mine, dict) and isinstance(theirs, dict):
        key = min(key for key in mine.keys() | theirs.keys() if mine.get(key) != theirs.get(key))
        label, mine, theirs = key, mine.get(key), theirs.get(key)
    return f"{label} {_value(mine)}, and now {_value(theirs)}"


def _few(items: list[str]) -> str:
    return ", ".join(items[:3]) + (f" and {len(items) - 3} more" if len(items) > 3 else "")


def _value(value: object) -> str:
    return "not given" if value is None else str(value)
