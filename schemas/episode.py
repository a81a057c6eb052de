"""The record of one conversation between an agent and a simulated user about one task, and of what came of it.

Everything in it is a function of the task, the certificate, the seed and what the agent wrote; seconds are not in it.
"""

from __future__ import annotations

from enum import StrEnum
from fractions import Fraction
from typing import Annotated, Literal

from pydantic import AfterValidator, Field, model_validator

from .canonical import canonical_bytes, narrow
from .certificate import Integer
from .plan import Plan
from .units import INT64_MAX
from .validation import Count, Positive, Whole, Written
from .verdict import Verdict, VerdictKind

MAX_TEXT = 20_000  # characters of a message that are kept


def _of_objective(value: int | str) -> int | str:
    if abs(narrow(value)) > INT64_MAX:
        raise ValueError("no objective has so large a value")
    return value


Amount = Annotated[Integer, AfterValidator(_of_objective)]  # what engines count in 64 bits


class Fault(StrEnum):
    """What is wrong with a call of a tool."""

    NAME = "name"  # there is no such tool
    PARAMETER = "parameter"  # an argument is missing, unknown, or of the wrong type
    CONTENT = "content"  # the arguments are well-formed, but name nothing that there is


class Answered(StrEnum):
    """What an agent's reply was."""

    RECOMMENDATION = "recommendation"  # a message with a formal recommendation
    MESSAGE = "message"  # a message only
    FORMAT_ERROR = "format error"  # not in the agreed form, not even after the one repair


class Ended(StrEnum):
    """Why a conversation ended."""

    ACCEPTED = "accepted"  # everything was said, and the user had nothing to object
    TURNS = "turn limit"
    CALLS = "call limit"
    TOKENS = "token limit"
    COST = "cost limit"
    LEFT = "left"  # the agent ended it


class UserFault(StrEnum):
    """What a simulated user did wrong; never charged to the agent."""

    HALLUCINATION = "factual hallucination"
    NOT_REVEALED = "told to reveal but did not"
    OPTIONAL = "revealed as optional"
    WRONG_CLAIM = "wrong violation claim"
    NOT_REPEATED = "told to repeat but did not"
    OTHER = "other critical"


class Persona(Written):
    """Who the simulated user is: one of 3 x 2 x 2 x 9 kinds, and in thousandths the chance that a turn reveals."""

    revelation: Literal["slow", "medium", "fast"]
    trust: Literal["trusting", "questioning"]
    checking: Literal["reliable", "unreliable"]
    style: int = Field(ge=1, le=9)
    permille: int = Field(ge=400, le=1000)


class Traits(Written):
    """What analyses group tasks by. `metric`: the objective as written, empty for a feature count."""

    level: int = Field(ge=1, le=3)  # the number of choices
    objective: Literal["metric", "feature_count"]
    metric: str = ""
    wishes: Count = 0
    constraints: Count
    later: Count  # how many of the constraints are told in the course of the conversation


class Usage(Written):
    """Tokens that a model read and wrote; zero where there was no model."""

    read: Count = 0
    written: Count = 0


class CallRecord(Written):
    """One call of a tool, also from inside of a program that the agent wrote (`inner`).

    `tool` is the canonical name where there is such a tool; `arguments` the normalised ones as JSON text, cut and
    with a digest where they are very long. `offers`: the bookable offers for this task that the result showed, as
    choice -> ids.
    """

    turn: Positive
    tool: str
    arguments: str
    fault: Fault | None = None
    inner: bool = False
    offers: dict[str, tuple[str, ...]] = {}


class Regret(Written):
    """How far a plan is from the optimum, in two exact parts, in the scale of the objective: both are at least 0.

    `optimum`: the certified one, which verdicts on infeasible plans do not tell. `exploration`: from the best
    feasible plan among the offers that the agent was shown to the optimum; None when no feasible plan was among them.
    `reasoning`: from the plan to that best one; None when the plan is not feasible, too.
    """

    optimum: Amount | None = None
    shown_best: Amount | None = None
    exploration: Amount | None = None
    reasoning: Amount | None = None

    @model_validator(mode="after")
    def _adds_up(self) -> Regret:
        if any(narrow(part) < 0 for part in (self.exploration, self.reasoning) if part is not None):
            raise ValueError("neither part of a regret is negative")
        if None not in (self.optimum, self.shown_best, self.exploration):
            optimum, shown, lost = (narrow(part or 0) for part in (self.optimum, self.shown_best, self.exploration))
            if abs(shown - optimum) != lost:
                raise ValueError("the exploration is not the distance of the best one shown to the optimum")
        return self


class TurnRecord(Written):
    """What the user said, what the agent answered, and how it stands then.

    `revealed`: constraints first told in this message; `flagged`: constraints that the user called broken; `restated`:
    constraints that the user repeated. `asked`: for a formal recommendation; `recheck`: to check everything once more.
    `options`: the plans of the recommendation that stands, which is the last formal one; `validated`: all its ids
    passed through a recommend tool. `verdict`: on the best of them, by all constraints, also those not told yet.
    """

    number: Positive
    user: str
    revealed: tuple[str, ...] = ()
    flagged: tuple[str, ...] = ()
    restated: tuple[str, ...] = ()
    asked: bool = False
    recheck: bool = False
    user_faults: tuple[UserFault, ...] = ()
    agent: str
    answered: Answered
    repaired: bool = False
    reason: str = ""  # of a format error
    options: tuple[Plan, ...] = ()
    validated: bool = False
    verdict: Verdict
    regret: Regret | None = None
    calls: Count = 0
    usage: Usage = Usage()
    user_usage: Usage = Usage()


class Episode(Written):
    """The whole conversation. `verdict` and `regret` are those of the last turn.

    `wording`: the digest of all that the user may say of the task, which `task_digest` is not about. `told`: the turn,
    from 1, whose message completed what there was to reveal; None if the conversation ended before.
    """

    cobench_episode: Literal[1] = 1
    task: str
    task_digest: str
    certificate_digest: str
    wording: str
    agent: str
    mode: Literal["tools", "code", "human"] = "tools"
    seed: Whole
    epoch: Positive = 1
    persona: Persona
    traits: Traits
    turns: tuple[TurnRecord, ...]
    calls: tuple[CallRecord, ...]
    told: Positive | None = None
    ended: Ended
    verdict: Verdict
    regret: Regret | None = None

    @model_validator(mode="after")
    def _holds_together(self) -> Episode:
        last, turns = self.turns[-1] if self.turns else None, len(self.turns)
        if last is not None and (last.verdict, last.regret) != (self.verdict, self.regret):
            raise ValueError("the last turn has another verdict or regret than the conversation")
        if [turn.number for turn in self.turns] != list(range(1, turns + 1)):
            raise ValueError("the turns are not numbered from 1")
        if any(number > turns + 1 for number in [self.told or 1, *(call.turn for call in self.calls)]):
            raise ValueError("there is no such turn")
        for found in (self.verdict, *(turn.verdict for turn in self.turns)):
            _require_exact(found)
            if found.task != self.task:
                raise ValueError("a verdict is about another task")
        return self

    @property
    def effort(self) -> int:
        """How many different things were asked of tools with success: the paper's search effort E.

        A call that fails, or that repeats another's tool and normalised arguments, adds nothing.
        """
        return len({(call.tool, call.arguments) for call in self.calls if call.fault is None})

    @property
    def found(self) -> int:
        """How many different offers for this task tools have returned: the paper's search yield Y."""
        return len({(choice, offer) for call in self.calls for choice, ids in call.offers.items() for offer in ids})

    def to_bytes(self) -> bytes:
        """The file's bytes: canonical JSON."""
        return canonical_bytes(self.model_dump(mode="json", exclude_none=True))


def _require_exact(found: Verdict) -> None:
    """Raises ValueError for a verdict whose amounts contradict each other, or what it says was found."""
    known = found.value, found.optimum, found.gap
    if (None in known) != (found.gap is None):
        raise ValueError("a gap needs a value and an optimum")
    if found.kind is VerdictKind.OPTIMAL and (found.gap is None or narrow(found.gap)):
        raise ValueError("the optimum has no gap")
    if found.gap is None:
        if found.relative_gap is not None:
            raise ValueError("a relative gap needs a gap")
        return
    value, optimum, gap = (narrow(_of_objective(amount or 0)) for amount in known)
    if abs(value - optimum) != gap:
        raise ValueError("the gap is not the distance of the value to the optimum")
    if found.relative_gap != (str(Fraction(gap, abs(optimum))) if optimum else None):
        raise ValueError("the relative gap is not the gap over the optimum")
