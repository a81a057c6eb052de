"""Agents that need no model: what naive, lucky, limited, planned, complete and careless search come to.

They read what has been revealed as a problem, as if they understood every sentence, and find offers through the tools
only.
"""

from __future__ import annotations

from collections.abc import Callable, Mapping, Sequence
from typing import Literal

from ...schemas.errors import InputError, did_you_mean
from ..episode import Agent
from .budgeted import SEARCHES, Budgeted
from .code import Code
from .exhaustive import Exhaustive
from .greedy import Greedy
from .random import RandomFeasible
from .strategic import Strategic
from .weak import Weak

Address = Sequence[int | str]
CODE = "code"

BASELINES: Mapping[str, Callable[[Address], Agent]] = {
    "weak": Weak,
    "random": RandomFeasible,
    "greedy": Greedy,
    "budgeted": Budgeted,
    "strategic": Strategic,
    "exhaustive": Exhaustive,
    CODE: Code,
}
MOST_SEARCHES = 1_000_000


def mode_of(name: str) -> Literal["tools", "code"]:
    """How the agent of a name, as in `baseline`, looks for offers: by calls, or by programs in a sandbox."""
    return "code" if name == CODE else "tools"


def baseline(name: str, address: Address) -> Agent:
    """A new agent for one conversation; `budgeted:K` makes K searches instead of 20. All chance comes from `address`,
    such as (seed, task, epoch). Raises InputError for a name that is none.
    """
    kind, colon, knob = name.partition(":")
    if kind not in BASELINES:
        raise InputError(f"no baseline '{name}'", hint=did_you_mean(kind, BASELINES, "baselines"))
    if not colon:
        return BASELINES[kind](address)
    searches = int(knob) if knob.isascii() and knob.isdigit() and len(knob) <= 7 and knob[0] != "0" else 0
    if kind != "budgeted" or not 1 <= searches <= MOST_SEARCHES:
        hint = f"budgeted:K makes K searches, 1 to {MOST_SEARCHES}; {SEARCHES} without it"
        raise InputError(f"'{knob[:80]}' is no setting of the baseline {kind}", hint=hint)
    return Budgeted(address, searches)
