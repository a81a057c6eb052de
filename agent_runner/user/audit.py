"""How well simulated users did what they were told, over the conversations of a run.

Each message is searched again for the six kinds of faults, and rated 1 to 5 twice, by rules: for clarity, and for how
it fits its place in the conversation. The rules stand at `clarity` and `fit`; they are no opinion of a person.
"""

from __future__ import annotations

from collections.abc import Collection, Mapping, Sequence
from dataclasses import dataclass
from fractions import Fraction

from ...schemas.chance import drawn
from ...schemas.episode import Episode, TurnRecord, UserFault
from ...schemas.verdict import VerdictKind
from .concepts import words
from .decision import Decision, Script
from .facts import sentences
from .paraphrase import faults_in

CONVERSATIONS, RESPONSES = 45, 198  # of the human study that this stands in for
LONG_SENTENCE = 25  # words, on average
SMALL_TALK = 60  # words that a message may have beside three times what it was told to say


@dataclass(frozen=True, slots=True)
class Response:
    """A message of a user: the record it is in, and the index of its turn there."""

    episode: Episode
    place: int

    @property
    def turn(self) -> TurnRecord:
        """The turn that the message begins."""
        return self.episode.turns[self.place]


@dataclass(frozen=True, slots=True)
class Rated:
    """What one response came to: faults, and 1 to 5 for clarity and for contextual fit."""

    response: Response
    faults: tuple[UserFault, ...]
    clarity: int
    fit: int


@dataclass(frozen=True, slots=True)
class Audit:
    """The sum over responses. `faults`: in how many responses each kind is; `flawed`: how many have any."""

    responses: int
    flawed: int
    faults: Mapping[UserFault, int]
    clarity: Fraction
    fit: Fraction


def responses_of(episodes: Sequence[Episode]) -> list[Response]:
    """All messages of the users, in order."""
    return [Response(episode, place) for episode in episodes for place in range(len(episode.turns))]


def sample(episodes: Sequence[Episode], seed: int) -> list[Response]:
    """198 responses from 45 conversations as in the human study, or all where there are fewer; in order."""
    keys = {id(episode): (episode.task, episode.agent, episode.epoch) for episode in episodes}
    some = sorted(episodes, key=lambda episode: drawn(2**32, seed, "conversation", *keys[id(episode)]))
    found = responses_of(some[:CONVERSATIONS])
    order = sorted(found, key=lambda it: drawn(2**32, seed, "response", *keys[id(it.episode)], it.place))
    chosen = {(id(it.episode), it.place) for it in order[:RESPONSES]}
    return [it for it in found if (id(it.episode), it.place) in chosen]


def rate(response: Response, script: Script) -> Rated:
    """The faults of a response and its two ratings; faults that were recorded with it count, too."""
    turn, decision = response.turn, decision_of(response)
    revealed = tuple(name for earlier in response.episode.turns[: response.place] for name in earlier.revealed)
    found = {*faults_in(turn.user, script, decision, revealed), *turn.user_faults}
    repeated = turn.user in {earlier.user for earlier in response.episode.turns[: response.place]}
    told = _told(script, decision)
    return Rated(
        response,
        tuple(f for f in UserFault if f in found),
        clarity(turn.user, told, found),
        fit(found, repeated=repeated),
    )


def audit(responses: Sequence[Response], scripts: Mapping[str, Script]) -> Audit:
    """The audit of some responses; `scripts` by task. Raises ValueError for none."""
    if not responses:
        raise ValueError("there are no responses to audit")
    rated = [rate(response, scripts[response.episode.task]) for response in responses]
    return Audit(
        responses=len(rated),
        flawed=sum(bool(it.faults) for it in rated),
        faults={fault: sum(fault in it.faults for it in rated) for fault in UserFault},
        clarity=Fraction(sum(it.clarity for it in rated), len(rated)),
        fit=Fraction(sum(it.fit for it in rated), len(rated)),
    )


def decision_of(response: Response) -> Decision:
    """What the user had decided to say, as far as the record shows it."""
    turn, place = response.turn, response.place
    before = response.episode.turns[place - 1].verdict.kind if place else None
    reliable = response.episode.persona.checking == "reliable"
    return Decision(
        reveal=turn.revealed,
        flag=turn.flagged,
        restate=turn.restated,
        opening=place == 0,
        ask=turn.asked,
        unknown=reliable and before is VerdictKind.UNKNOWN_OFFER,
        recheck=turn.recheck,
    )


def clarity(text: str, told: str, faults: Collection[UserFault]) -> int:
    """5, less 2 for something that was to be said and cannot be found, and less 1 for each of: a must that sounds like
    a wish; over 25 words a sentence on average; over 60 words beside three times what it was told. At least 1.
    """
    length, parts = len(words(text)), max(1, len(sentences(text)))
    lost = UserFault.NOT_REVEALED in faults or UserFault.NOT_REPEATED in faults
    loss = 2 * lost + (UserFault.OPTIONAL in faults)
    loss += (length > LONG_SENTENCE * parts) + (length > SMALL_TALK + 3 * len(words(told)))
    return max(1, 5 - loss)


def fit(faults: Collection[UserFault], *, repeated: bool) -> int:
    """5, less 2 each for an invention and for a claim that is not so, and less 1 each for another critical fault and
    for a message that came word for word before in the conversation. At least 1.
    """
    loss = 2 * (UserFault.HALLUCINATION in faults) + 2 * (UserFault.WRONG_CLAIM in faults)
    return max(1, 5 - loss - (UserFault.OTHER in faults) - repeated)


def _told(script: Script, decision: Decision) -> str:
    """All that a message has to say, in the words of the script."""
    frame = [script.story, script.goal] if decision.opening else []
    names = (*decision.reveal, *decision.flag, *decision.restate)
    return "\n".join([*frame, *(script.lines[name] for name in names)])
