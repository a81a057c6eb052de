"""What the user says and does before a constraint is told depends on nothing that this constraint says."""

from __future__ import annotations

import json
from itertools import product
from pathlib import Path
from typing import Any

import pytest
from cobench.agent_runner.env import Env
from cobench.agent_runner.judge import Judge, Objection
from cobench.agent_runner.suites import Case, case_of
from cobench.agent_runner.tools.toolbox import Toolbox
from cobench.schemas.episode import Persona
from cobench.schemas.plan import Plan
from cobench.schemas.problem import pose
from cobench.schemas.task import load_task
from cobench.solver.certify import certify
from cobench.solver.checker.opened import Opened
from hypothesis import given, settings
from hypothesis import strategies as st

from .small_suite import HOTEL, TASKS, Cases

SEARCH = {"location": "Zion", "start_date": "2025-08-12", "end_date": "2025-08-15", "num_guests": 2}
NOWHERE = "pkg_00000000_12_15_1"
# The last constraint of the task, which is told last, and what might stand there instead.
BUDGET = ("require: hotel.total_price <= 700", "say: Three nights must not cost more than $700.")
OTHERS = (
    ("require: hotel.has_parking", "say: We come by car, so we need parking."),
    ("require: hotel.total_price >= 600", "say: Nothing below $600, we want some luxury."),
)
OBJECTING = Persona(revelation="slow", trust="trusting", checking="reliable", style=9, permille=400)


@pytest.fixture(scope="module")
def cases(small_suite: Path) -> Cases:
    return Cases(small_suite)


@pytest.fixture(scope="module")
def twins(cases: Cases, tmp_path_factory: pytest.TempPathFactory) -> tuple[Case, ...]:
    """The task, and the same with another constraint at the end, each with its own certificate."""
    folder, text = tmp_path_factory.mktemp("twins"), (TASKS / f"{HOTEL}.yaml").read_text("utf-8")
    found, opened, first = [cases.cases[HOTEL]], Opened(), cases.cases[HOTEL]
    for number, other in enumerate(OTHERS):
        path, changed = folder / f"{number}.yaml", text
        for old, new in zip(BUDGET, other, strict=True):
            assert old in changed
            changed = changed.replace(old, new)
        path.write_text(changed, "utf-8")
        file = load_task(path)
        problem = pose(file, first.dataset.manifest)
        certificate, data = certify(file, first.dataset), opened(first.dataset.folder, problem)
        found.append(case_of(file, problem, first.dataset, data, certificate, "twin"))
    return tuple(found)


@pytest.fixture(scope="module")
def known(cases: Cases) -> tuple[str, ...]:
    """Offers of a search, which differ in what they keep to, and one that does not exist."""
    return (*Toolbox(cases.catalogue).call("search_hotel", SEARCH).offers["stays"][:10], NOWHERE)


def answer(ids: list[str], message: str) -> str:
    return json.dumps({"message": message, "recommendation": {"hotel_ids": list(ids)} if ids else None})


def env_of(case: Case, cases: Cases, persona: Persona, seed: int) -> Env:
    return Env(case, Toolbox(cases.catalogue), persona, agent="tested", seed=seed)


SAID = st.sampled_from(["Here you are.", "What is your budget?", "Do you need parking?", "Anything else? All musts?"])


@settings(max_examples=30, deadline=None)
@given(data=st.data(), permille=st.integers(400, 1000), seed=st.integers(0, 50), reliable=st.booleans())
def test_tasks_that_differ_in_what_is_not_told_yet_have_the_same_user(
    cases: Cases,
    twins: tuple[Case, ...],
    known: tuple[str, ...],
    data: st.DataObject,
    permille: int,
    seed: int,
    reliable: bool,
) -> None:
    changed: dict[str, Any] = {"permille": permille, "checking": "reliable" if reliable else "unreliable"}
    persona = OBJECTING.model_copy(update=changed)
    envs = [env_of(case, cases, persona, seed) for case in twins]
    for _ in range(8):
        assert len({env.message for env in envs}) == 1
        ids = data.draw(st.lists(st.sampled_from(known), max_size=3, unique=True))
        text = answer(ids, data.draw(SAID))
        assert len({env.submit(text) for env in envs}) == 1
        decisions = [env.decide() for env in envs]
        assert len({env.ended for env in envs}) == 1
        assert all(decision == decisions[0] for decision in decisions)
        if decisions[0] is None or "budget" in envs[0].user.revealed:
            return
        for env in envs:
            env.hear("Said in some words.")


def test_alternatives_do_not_tell_which_of_them_keeps_to_what_is_hidden(
    twins: tuple[Case, ...], known: tuple[str, ...]
) -> None:
    """All pairs: the score goes by another option for one task than for the other, the objection by the same."""
    judges = [Judge(case) for case in twins]
    told = tuple(name for name in twins[0].file.task.constraints if name != "budget")
    apart = 0
    for ids in product(known, known):
        options = [Plan.of({"hotel": offer}) for offer in ids]
        assert len({judge.objection(options, told) for judge in judges}) == 1, ids
        kept = [[not judge.verdict([plan]).violations for judge in judges] for plan in options]
        apart += kept[0] != kept[1]
    assert apart > 10


def test_an_option_that_meets_all_that_was_told_leaves_nothing_to_object_to(
    cases: Cases, known: tuple[str, ...]
) -> None:
    judge = Judge(cases.cases[HOTEL])
    task = cases.cases[HOTEL].file.task
    singles = {offer: judge.objection([Plan.of({"hotel": offer})], tuple(task.constraints)) for offer in known}
    assert singles[NOWHERE] == Objection(unknown=True)
    by_number = sorted((offer for offer in known if offer != NOWHERE), key=lambda offer: len(singles[offer].broken))
    fewest, most = by_number[0], by_number[-1]
    assert len(singles[fewest].broken) < len(singles[most].broken)
    for ids in ((NOWHERE, most, fewest), (fewest, NOWHERE, most)):
        options = [Plan.of({"hotel": offer}) for offer in ids]
        assert judge.objection(options, tuple(task.constraints)) == singles[fewest]
        assert judge.objection(options, ()) == Objection()
    best = Plan.of(cases.best(HOTEL))
    assert judge.objection([Plan.of({"hotel": most}), best], tuple(task.constraints)) == Objection()
    assert judge.objection([], tuple(task.constraints)) == Objection()
