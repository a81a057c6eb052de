"""What a call of a tool comes to."""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass, field
from typing import Any

from ...schemas.episode import Fault


@dataclass(frozen=True, slots=True)
class Result:
    """The answer to a call, also to a wrong one.

    `tool`: the canonical name, or what was called where there is no such tool. `arguments`: the normalised ones, equal
    for calls that ask the same. `content`: what the agent is given, plain JSON values. `offers`: the ids of bookable
    offers in it, by table. `confirmed`: ids that a recommend tool found to exist.
    """

    tool: str
    arguments: Mapping[str, Any]
    content: Any
    fault: Fault | None = None
    offers: Mapping[str, tuple[str, ...]] = field(default_factory=dict[str, tuple[str, ...]])
    confirmed: tuple[str, ...] = ()
