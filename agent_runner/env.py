"""One conversation about one task: tools, a simulated user, and the score after each turn. No language model in here.

    import cobench

    env = cobench.Env.of(cobench.open_suite("compass").case("compass-1-003"), agent="mine", seed=1)
    env.message                                 # what the user says first
    env.call("list_permits", {"park": "Zion"})  # any number of times, counted and remembered
    env.submit('{"message": "I am looking.", "recommendation": null}')
    env.score_turn()                            # verdict and regret now
    env.user_reply()                            # what the user says next; None when the conversation is over
    env.episode()                               # the record of it all

Whoever runs an agent, a loop of our own, Inspect, a program in a sandbox or a person, drives these. The agent is given
what `message`, `tools`, `call` and `fault_of` return, and nothing else. Each message has one reply and each reply one
answer: out of turn, `submit`, `decide` and `hear` raise RuntimeError, which is a fault of who drives.

A limit lets the agent finish its sentence. The call after the last one that is allowed is refused, and neither counted
nor recorded; the reply to the message that waits is still taken, and then the conversation is over. So is a token limit
noticed with the reply that reaches it.
"""

from __future__ import annotations

import json
from collections.abc import Collection, Mapping, Sequence
from dataclasses import dataclass, field
from typing import Any, Literal

from ..schemas.canonical import digest
from ..schemas.episode import (
    MAX_TEXT,
    Answered,
    CallRecord,
    Ended,
    Episode,
    Fault,
    Persona,
    Regret,
    TurnRecord,
    Usage,
    UserFault,
)
from ..schemas.plan import Plan
from ..schemas.verdict import Verdict
from .answer import Answer, AnswerError, parse_answer
from .judge import Judge
from .suites import Case
from .tools.catalogue import catalogue_of
from .tools.result import Result
from .tools.toolbox import Toolbox, name_of
from .user.decision import Decision, Heard, script_of
from .user.persona import persona_for
from .user.user import User
from .user.wording import word

Mode = Literal["tools", "code", "human"]
MAX_NAME = 100  # characters of the name of a tool, or of what was called for one, that are kept
MOST_ARGUMENTS = 2000  # characters of a call's arguments that are kept
NO_MORE_CALLS = "no more tools can be called; give your reply to the user now"


@dataclass(frozen=True, slots=True)
class EnvLimits:
    """Caps on a conversation: user messages, tool calls, and tokens that the agent may read and write (None: none)."""

    turns: int = 30
    calls: int | None = None
    tokens: int | None = None


@dataclass(frozen=True, slots=True)
class TurnScore:
    """The score as of now: the verdict by all constraints, also those not told yet, and where the regret comes from."""

    verdict: Verdict
    regret: Regret | None


@dataclass(slots=True)
class _Said:
    """A message of the user, and the facts of how it came about."""

    text: str
    decision: Decision
    faults: tuple[UserFault, ...] = ()
    usage: Usage = field(default_factory=Usage)


class Env:
    """The state of one conversation. Every method answers; none raises for anything that an agent says or calls."""

    def __init__(
        self, case: Case, toolbox: Toolbox, persona: Persona, *, agent: str, seed: int, epoch: int = 1,
        mode: Mode = "tools", limits: EnvLimits | None = None, judge: Judge | None = None,
    ) -> None:  # fmt: skip
        """`judge`: the one of this case where there is one already; it looks through the tables only once."""
        self.case, self.persona, self.limits = case, persona, limits or EnvLimits()
        self.script = script_of(case.file.task)
        self._named: dict[str, Any] = {"agent": agent, "seed": seed, "epoch": epoch, "mode": mode}
        self._tools, self._judge = toolbox, judge or Judge(case)
        tables = case.problem.world.tables
        self._table_of = {choice: tables[table].base for choice, table in case.problem.choices.items()}
        self.user = User(self.script, persona, (seed, case.problem.id, epoch))
        decision = self.user.open()
        self._said = _Said(word(self.script, persona, decision, 1), decision)
        self._turns: list[TurnRecord] = []
        self._calls: list[CallRecord] = []
        self._shown: dict[str, set[str]] = {choice: set() for choice in case.problem.choices}
        self._confirmed: set[str] = set()
        self._options: tuple[Plan, ...] = ()
        self._read: tuple[Any, Answer | AnswerError] | None = None  # the last text that was read, and what it says
        self._waits = True  # the last message has no reply yet
        self._heard: Heard | None = None  # the reply that the user has not answered yet
        self._next: Decision | None = None  # what the user decided to say, and nobody has put into words yet
        self._told: int | None = 1 if self.user.told else None
        self._tokens = 0
        self.ended: Ended | None = None

    @classmethod
    def of(
        cls, case: Case, *, agent: str, seed: int, epoch: int = 1, mode: Mode = "tools",
        limits: EnvLimits | None = None,
    ) -> Env:  # fmt: skip
        """A conversation with the user that the seed draws for this task and epoch, whoever the agent is."""
        persona = persona_for(seed, case.problem.id, epoch)
        toolbox = Toolbox(catalogue_of(case.dataset))
        return cls(case, toolbox, persona, agent=agent, seed=seed, epoch=epoch, mode=mode, limits=limits)

    # what an agent is given

    @property
    def message(self) -> str:
        """What the user said last."""
        return self._said.text

    @property
    def turn(self) -> int:
        """The number of the user's message that waits for an answer, from 1, or will be the next to do so."""
        return len(self._turns) + 1

    def tools(self) -> list[dict[str, Any]]:
        """The tools as OpenAI-style function definitions."""
        return self._tools.schemas()

    def call(self, name: str, arguments: Any, *, inner: bool = False) -> Result:
        """The result of a call, also of a wrong one; `inner`: it came from a program that the agent wrote."""
        if self.ended is None and self.limits.calls is not None and len(self._calls) >= self.limits.calls:
            self.ended = Ended.CALLS
        if self.ended is not None:
            refusal = {"error": {"kind": "limit", "message": NO_MORE_CALLS}}
            return Result(_kept(name_of(name), MAX_NAME), {}, refusal, Fault.CONTENT)
        result = self._tools.call(name, arguments)
        shown = {choice: result.offers.get(table, ()) for choice, table in self._table_of.items()}
        offers = {choice: ids for choice, ids in shown.items() if ids}
        for choice, ids in offers.items():
            self._shown[choice].update(ids)
        self._confirmed.update(result.confirmed)
        self._calls.append(
            CallRecord(
                turn=self.turn, tool=_kept(result.tool, MAX_NAME), arguments=_written(result.arguments),
                fault=result.fault, inner=inner, offers=offers,
            )
        )  # fmt: skip
        return result

    def fault_of(self, text: str) -> str | None:
        """Why a reply does not have the agreed form, in words for the agent, who may repair it once; else None."""
        answer = self._answer_in(text)
        return str(answer) if isinstance(answer, AnswerError) else None

    def _answer_in(self, text: Any) -> Answer | AnswerError:
        """What a reply says, or what is wrong with it; one that has just been asked about is not read again."""
        if self._read is not None and type(text) is str and self._read[0] == text:
            return self._read[1]
        try:
            answer = parse_answer(text, tuple(self.case.problem.choices))
        except AnswerError as fault:
            answer = fault
        self._read = text, answer
        return answer

    def submit(self, text: str, *, usage: Usage | None = None, repaired: bool = False) -> Answered:
        """Takes an agent's reply to `message`; a recommendation in it replaces the one that stood before.

        `repaired`: it was asked for once more, since the first had not the agreed form. What is no text at all has not
        that form either. RuntimeError when no message waits for a reply, which is so after each reply until `hear`;
        a reply that could not be taken for any reason leaves everything as it was.
        """
        if not self._waits:
            raise RuntimeError("the last message has its reply already")
        usage, said, turn, answer = usage or Usage(), self._said, self.turn, self._answer_in(text)
        written = text if isinstance(text, str) else ""  # pyright: ignore[reportUnnecessaryIsInstance]
        options, answered, reason, message = self._options, Answered.MESSAGE, "", written
        if isinstance(answer, AnswerError):
            answered, reason = Answered.FORMAT_ERROR, str(answer)
        else:
            message = answer.message
            if answer.options:
                options, answered = answer.options, Answered.RECOMMENDATION
        shown = {
            choice: ids | {pick.id for plan in options for pick in plan.picks.get(choice, ())}
            for choice, ids in self._shown.items()
        }
        score, objection = self._score(options, shown), self._judge.objection(options, self.user.revealed)
        record = TurnRecord(
            number=turn,
            user=_kept(said.text, MAX_TEXT),
            revealed=said.decision.reveal,
            flagged=said.decision.flag,
            restated=said.decision.restate,
            asked=said.decision.ask,
            recheck=said.decision.recheck,
            user_faults=said.faults,
            agent=_kept(written, MAX_TEXT),
            answered=answered,
            repaired=repaired,
            reason=reason,
            options=options,
            validated=bool(options) and self._confirmed >= _ids(options),
            verdict=score.verdict,
            regret=score.regret,
            calls=sum(call.turn == turn for call in self._calls),
            usage=usage,
            user_usage=said.usage,
        )
        # From here on nothing can fail: the reply is taken as a whole.
        self._waits, self._read = False, None
        self._options, self._shown = options, shown
        self._turns.append(record)
        self._heard = Heard(
            text=_kept(message, MAX_TEXT),
            recommended=bool(options),
            unknown=objection.unknown,
            broken=objection.broken,
            misformed=answered is Answered.FORMAT_ERROR,
        )
        self._tokens += usage.read + usage.written
        if self.limits.tokens is not None and self._tokens >= self.limits.tokens:
            self.ended = self.ended or Ended.TOKENS
        return answered

    # the user

    def user_reply(self) -> str | None:
        """What the user says to the reply that was submitted; None when the conversation is over (see `ended`).

        RuntimeError when there is no reply that the user has not answered.
        """
        decision = self.decide()
        return None if decision is None else self.hear(word(self.script, self.persona, decision, self.turn))

    def decide(self) -> Decision | None:
        """What the user decides to say next, to be put into words and given to `hear`; None when it is over."""
        if self.ended is not None:
            return None
        if self._heard is None:
            raise RuntimeError("there is no reply that the user could answer")
        self._next = self.user.decide(self._heard)
        self._heard = None
        if self._next is None:
            self.ended = Ended.ACCEPTED
        elif len(self._turns) >= self.limits.turns:
            self.ended, self._next = Ended.TURNS, None
        return self._next

    def hear(self, text: str, *, faults: Sequence[UserFault] = (), usage: Usage | None = None) -> str:
        """The user's next message, as somebody put the last decision into words; `faults` are of that wording."""
        if self._next is None:
            raise RuntimeError("the user has decided nothing that could be said")
        self._said = _Said(text, self._next, tuple(faults), usage or Usage())
        self._next, self._waits = None, True
        if self._told is None and self.user.told:
            self._told = self.turn
        return text

    @property
    def decision(self) -> Decision:
        """What the user's last message is to say."""
        return self._said.decision

    def reword(self, text: str, *, faults: Sequence[UserFault] = (), usage: Usage | None = None) -> str:
        """The user's last message in other words, as somebody put them; `faults` are of that wording.

        RuntimeError when it has its reply already.
        """
        if not self._waits:
            raise RuntimeError("the last message has its reply already")
        self._said = _Said(text, self._said.decision, tuple(faults), usage or Usage())
        return text

    def stop(self, ended: Ended) -> None:
        """Ends the conversation from outside: a limit of the runner, or the agent left."""
        self.ended = self.ended or ended

    # the score

    def score_turn(self) -> TurnScore:
        """The verdict on the recommendation that stands, and its regret by the offers shown so far."""
        return self._score(self._options, self._shown)

    def _score(self, options: Sequence[Plan], shown: Mapping[str, Collection[str]]) -> TurnScore:
        verdict = self._judge.verdict(options)
        return TurnScore(verdict, self._judge.regret(verdict, shown))

    @property
    def shown(self) -> Mapping[str, frozenset[str]]:
        """Per choice the ids of the offers that tools have shown so far, and of those recommended."""
        return {choice: frozenset(ids) for choice, ids in self._shown.items()}

    def episode(self) -> Episode:
        """The record; of a conversation that has not ended, as the agent having left it."""
        last = self._turns[-1] if self._turns else None
        score = self.score_turn() if last is None else TurnScore(last.verdict, last.regret)
        return Episode(
            task=self.case.problem.id,
            task_digest=self.case.problem.digest,
            certificate_digest=self.case.certificate.digest,
            wording=self.script.digest,
            persona=self.persona,
            traits=self.case.traits,
            turns=tuple(self._turns),
            calls=tuple(self._calls),
            told=self._told,
            ended=self.ended or Ended.LEFT,
            verdict=score.verdict,
            regret=score.regret,
            **self._named,
        )


def _written(arguments: Mapping[str, Any]) -> str:
    """The arguments of a call as JSON; of long ones a part and a digest, so that other ones stay other ones."""
    try:
        text = json.dumps(arguments, sort_keys=True, ensure_ascii=False, default=str)
    except (RecursionError, TypeError, ValueError):  # of a wrong call, which may hold anything
        text = "no JSON"
    text = _kept(text, len(text))
    return text if len(text) <= MOST_ARGUMENTS else f"{text[:MOST_ARGUMENTS]}… {digest(text)}"


def _kept(text: str, most: int) -> str:
    """At most so many characters of a text, as any file can hold them."""
    return text[:most].encode("utf-8", "backslashreplace").decode()


def _ids(options: Sequence[Plan]) -> set[str]:
    return {pick.id for plan in options for picks in plan.picks.values() for pick in picks}
