"""Users in whole conversations with the environment: how they end, and what an audit of their messages finds."""

from __future__ import annotations

import json
from collections import Counter
from collections.abc import Callable, Mapping
from fractions import Fraction
from pathlib import Path

import cobench
import pytest
from cobench.agent_runner.env import Env, EnvLimits
from cobench.agent_runner.suites import Case
from cobench.agent_runner.tools.catalogue import catalogue_of
from cobench.agent_runner.tools.toolbox import Toolbox
from cobench.agent_runner.user.audit import Response, audit, clarity, fit, rate, responses_of, sample
from cobench.agent_runner.user.decision import script_of
from cobench.agent_runner.user.persona import persona_for, personas
from cobench.datasets.opening import open_dataset
from cobench.schemas.canonical import narrow
from cobench.schemas.episode import Ended, Episode, Persona, UserFault
from cobench.schemas.problem import pose
from cobench.schemas.task import load_task
from cobench.solver.certify import certify
from cobench.solver.checker.opened import Opened

TASK = Path(cobench.__file__).parent / "tasks" / "parks" / "parks-1-11-five-of-seven-comforts.yaml"
PERSONA = Persona(revelation="medium", trust="trusting", checking="reliable", style=4, permille=700)


@pytest.fixture(scope="module")
def case() -> Case:
    file, dataset = load_task(TASK), open_dataset("parks")
    problem, certificate = pose(file, dataset.manifest), certify(file, dataset)
    assert certificate.claims.optimum is not None
    return Case(
        file, problem, dataset, Opened()(dataset.folder, problem), certificate, narrow(certificate.claims.optimum.value)
    )


def picked(case: Case) -> str:
    """The reply that recommends the best offer."""
    optimum = case.certificate.claims.optimum
    assert optimum is not None
    return reply("This one.", optimum.plan.picks["hotel"][0].id)


def reply(message: str, *ids: str) -> str:
    return json.dumps({"message": message, "recommendation": {"hotel_ids": ids} if ids else None})


def talk(case: Case, answer: Callable[[int], str], who: Persona = PERSONA, **limits: int) -> Episode:
    env = Env(case, Toolbox(catalogue_of(case.dataset)), who, agent="scripted", seed=1, limits=EnvLimits(**limits))
    while env.ended is None:
        env.submit(answer(env.turn))
        env.user_reply()
    return env.episode()


# how conversations end


@pytest.mark.row(40)
@pytest.mark.parametrize("who", personas()[::9], ids=lambda who: f"{who.revelation}-{who.trust}-{who.checking}")
def test_every_conversation_ends_and_says_why(case: Case, who: Persona) -> None:
    best = picked(case)
    good = talk(case, lambda _: best, who)
    assert good.ended is Ended.ACCEPTED
    assert good.told is not None
    assert sum(turn.recheck for turn in good.turns) == (who.trust == "questioning")
    assert not any(turn.flagged for turn in good.turns)

    silent = talk(case, lambda _: reply("Let me see."), who, turns=12)
    assert silent.ended is Ended.TURNS
    assert len(silent.turns) == 12
    assert all(turn.asked for turn in silent.turns[1:])

    unknown = talk(case, lambda _: reply("This.", "pkg_1_1_2_1"), who, turns=12)
    assert unknown.ended is (Ended.TURNS if who.checking == "reliable" else Ended.ACCEPTED)


def test_a_user_waits_for_an_answer_to_its_last_constraint(case: Case) -> None:
    best = picked(case)
    for seed in range(20):
        ended = talk(case, lambda _: best, persona_for(seed, case.problem.id, 1))
        assert ended.told is not None
        assert len(ended.turns) >= ended.told


def test_objections_are_to_what_has_been_told_before(case: Case) -> None:
    rows = catalogue_of(case.dataset)
    search = Toolbox(rows).call(
        "search_hotel",
        {"location": "Yellowstone", "start_date": "2025-08-04", "end_date": "2025-08-05", "num_guests": 4},
    )
    (offers,) = search.offers.values()
    told = talk(case, lambda _: reply("This.", offers[0]), turns=15)
    assert told.ended is Ended.TURNS
    flagged = Counter(name for turn in told.turns for name in turn.flagged)
    assert flagged
    known: set[str] = set()
    for turn in told.turns:
        assert {*turn.flagged} <= known
        known |= {*turn.revealed}


# the audit


@pytest.fixture(scope="module")
def episodes(case: Case) -> list[Episode]:
    """Conversations with sixty users, with an agent that asks, hesitates and then recommends."""
    best, shy = picked(case), reply("What is your budget? And do you like jazz?")
    people = [persona_for(3, case.problem.id, number) for number in range(60)]
    return [
        talk(case, lambda turn: shy if turn < 4 else best, who).model_copy(update={"epoch": number + 1})
        for number, who in enumerate(people)
    ]


@pytest.fixture(scope="module")
def scripts(case: Case) -> Mapping[str, object]:
    return {case.problem.id: script_of(case.file.task)}


@pytest.mark.row(38)
def test_a_sample_is_198_responses_of_45_conversations(episodes: list[Episode]) -> None:
    some = sample(episodes, 1)
    assert len(some) == 198
    assert len({it.episode.epoch for it in some}) <= 45
    assert some == sample(episodes, 1)
    assert some != sample(episodes, 2)
    assert len({(it.episode.epoch, it.place) for it in some}) == 198
    few = sample(episodes[:2], 1)
    assert few == responses_of(episodes[:2])


@pytest.mark.row(38)
def test_the_rule_based_user_is_without_fault(episodes: list[Episode], scripts: dict) -> None:
    found = audit(sample(episodes, 1), scripts)
    assert found.responses == 198
    assert found.flawed == 0
    assert {*found.faults} == {*UserFault}
    assert not any(found.faults.values())
    assert found.clarity > Fraction(9, 2)
    assert found.fit > Fraction(9, 2)


def edited(episode: Episode, place: int, **changes: object) -> Response:
    turns = [*episode.turns]
    turns[place] = turns[place].model_copy(update=changes)
    return Response(episode.model_copy(update={"turns": tuple(turns)}), place)


@pytest.mark.row(38)
def test_each_of_the_six_faults_is_counted_and_costs_points(episodes: list[Episode], scripts: dict) -> None:
    episode = next(it for it in episodes if it.turns[1].revealed and it.turns[1].restated == ())
    script = scripts[episode.task]
    text = episode.turns[1].user
    line = script.lines[episode.turns[1].revealed[0]]
    again = edited(episode, 1, restated=(script.initial[0],), user=text)
    for response, fault, lost in (
        (edited(episode, 1, user=f"{text} And a sauna."), UserFault.HALLUCINATION, (0, 2)),
        (edited(episode, 1, user=text.replace(line, "")), UserFault.NOT_REVEALED, (2, 0)),
        (edited(episode, 1, user=f"{text} All of that is optional."), UserFault.OPTIONAL, (1, 0)),
        (edited(episode, 1, user=f"{text} You ignored what I said."), UserFault.WRONG_CLAIM, (0, 2)),
        (again, UserFault.NOT_REPEATED, (2, 0)),
        (edited(episode, 1, user=f"{text} I accept it."), UserFault.OTHER, (0, 1)),
        (edited(episode, 1, user_faults=(UserFault.HALLUCINATION,)), UserFault.HALLUCINATION, (0, 2)),
    ):
        rated = rate(response, script)
        assert rated.faults == (fault,), response.turn.user
        assert (5 - rated.clarity, 5 - rated.fit) == lost
        found = audit([response, Response(episode, 0)], scripts)
        assert (found.flawed, found.faults[fault], found.responses) == (1, 1, 2)


def test_ratings_follow_their_rules() -> None:
    assert clarity("Go on.", "", ()) == 5
    assert clarity("word " * 40 + ".", "", ()) == 4
    assert clarity("So it is. " * 40, "", ()) == 4
    assert clarity("So it is. " * 40, "word " * 40, ()) == 5
    assert clarity("word " * 200, "", [*UserFault]) == 1
    assert fit((), repeated=False) == 5
    assert fit((), repeated=True) == 4
    assert fit([*UserFault], repeated=True) == 1


def test_an_audit_of_nothing_is_refused() -> None:
    with pytest.raises(ValueError, match="no responses"):
        audit([], {})
