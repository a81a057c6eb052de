"""The COMPASS suite: its shape, what its tasks say and require, how candidates are turned away, and how it is made."""

from __future__ import annotations

import json
import os
import re
import shutil
from collections import Counter
from collections.abc import Callable, Iterator, Sequence
from dataclasses import replace
from fractions import Fraction
from pathlib import Path

import cobench
import pyarrow.parquet as pq
import pytest
from cobench.agent_runner.suites import Case, open_suite
from cobench.agent_runner.user.decision import script_of
from cobench.cli import run
from cobench.datasets.opening import open_dataset
from cobench.schemas.canonical import narrow
from cobench.schemas.errors import CobenchError, InputError, OutputError
from cobench.schemas.problem import pose
from cobench.schemas.task import load_task
from cobench.solver.certify import certify
from cobench.solver.lowering.narrow import feasible
from cobench.tasks.compass.accepting import LEAST, MOST_TIED, TIED, judge
from cobench.tasks.compass.building import Builder, Built, Work
from cobench.tasks.compass.dice import Dice
from cobench.tasks.compass.drafting import Candidate, draft
from cobench.tasks.compass.features import FEATURES
from cobench.tasks.compass.fundamental import Part, dates
from cobench.tasks.compass.making import make
from cobench.tasks.compass.plans import Data, Plans, RejectedError
from cobench.tasks.compass.slots import FORMS, WISHES, Slot, sample, slots
from cobench.tasks.compass.world import world_of
from cobench.verification import replay

from .oracle import truth

FOLDER = Path(cobench.__file__).parent / "tasks" / "compass"
SUITE = open_suite("compass")
MINI = open_dataset("parks")
BY_ID = {slot.id: slot for slot in slots()}
THOROUGH = os.environ.get("COBENCH_HYPOTHESIS") == "thorough"


@pytest.fixture(scope="module")
def cases() -> list[Case]:
    return list(SUITE.cases(SUITE.facts.tasks))


@pytest.fixture(scope="module")
def data() -> Data:
    return Data(MINI)


# ------------------------------------------------------------------------------------------------------------ shape


@pytest.mark.row(18)
def test_there_are_281_tasks_of_three_levels_and_two_kinds_of_objective() -> None:
    assert len(slots()) == len(BY_ID) == 281
    assert Counter(slot.level for slot in slots()) == {1: 142, 2: 69, 3: 70}
    assert Counter(slot.objective == WISHES for slot in slots()) == {False: 154, True: 127}
    for level in (1, 2, 3):
        assert {slot.objective == WISHES for slot in slots() if slot.level == level} == {True, False}


@pytest.mark.row(18)
def test_most_tasks_have_seven_or_eight_constraints_and_wish_lists_eight_then_ten() -> None:
    constraints = Counter(slot.constraints for slot in slots())
    assert min(constraints) >= 5
    assert {size for size, _ in constraints.most_common(2)} == {7, 8}
    assert 2 * (constraints[7] + constraints[8]) > 281
    wishes = Counter(slot.wishes for slot in slots() if slot.objective == WISHES)
    assert [size for size, _ in wishes.most_common(2)] == [8, 10]


@pytest.mark.row(18)
def test_the_sample_stands_for_all() -> None:
    chosen = sample()
    assert len(chosen) == 40
    assert Counter(slot.level for slot in chosen) == {1: 20, 2: 10, 3: 10}
    assert sum(slot.objective == WISHES for slot in chosen) == 18  # as 127 of 281
    for trait in ("objective", "form", "kind", "constraints", "wishes", "level"):
        assert {getattr(slot, trait) for slot in chosen} == {getattr(slot, trait) for slot in slots()}, trait


def test_every_kind_of_feature_has_tasks_that_must_constrain_it() -> None:
    assert {slot.kind for slot in slots()} - {""} == {item.kind for item in FEATURES}


@pytest.mark.row(18)
def test_the_bundled_suite_is_the_sample(cases: Sequence[Case]) -> None:
    assert SUITE.facts.tasks == SUITE.facts.sample == tuple(slot.id for slot in sample())
    for case in cases:
        slot, traits = BY_ID[case.problem.id], case.traits
        assert (traits.level, traits.constraints, traits.wishes) == (slot.level, slot.constraints, slot.wishes)
        assert list(case.file.task.choose.items()) == list(
            {"hotel": "stays", "flight": "round_trips", "permit": "permits"}.items()
        )[: slot.level]  # fmt: skip


# ------------------------------------------------------------------------------------------------------- what is said


@pytest.mark.row(20)
def test_the_first_message_has_the_initial_constraints_only(cases: Sequence[Case]) -> None:
    for case in cases:
        script = script_of(case.file.task)
        assert {"location", "dates"} <= set(script.initial)
        assert not set(script.initial) & set(script.later)
        assert 2 <= len(script.later) <= 6
        assert script.story.split()[0] in ("I", "We")
        assert script.goal
        said = f"{script.story} {script.goal} {' '.join(script.lines[name] for name in script.initial)}"
        for name in script.later:
            assert script.lines[name] not in said


def test_the_objective_is_known_whatever_has_been_told_so_far(cases: Sequence[Case]) -> None:
    for case in cases:
        script = script_of(case.file.task)
        for told in range(len(script.later) + 1):
            case.problem.restrict([*script.initial, *script.later[:told]])


def test_the_story_says_how_many_travel_and_what_they_need(cases: Sequence[Case]) -> None:
    for case in cases:
        guests = case.file.task.given["guests"]
        assert f"for {guests} guest" in case.file.task.story
        for choice, word in (("hotel", "hotel"), ("flight", "flights"), ("permit", "permit")):
            assert (word in case.file.task.story) == (choice in case.problem.choices)


def test_names_and_numbers_of_a_condition_are_said(cases: Sequence[Case]) -> None:
    """Not those of the world's own vocabulary, which is said in words: the parts of dates, kinds, types."""
    for case in cases:
        for name in case.file.task.constraints:
            spec = case.file.task.constraint(name)
            for quoted in re.findall(r'"([A-Z][^"]*)"', spec.require):
                assert quoted in spec.say, (case.problem.id, name)
            if name == "dates":
                continue
            for number in re.findall(r"(?:<=|>=|==) (\d[\d.]*)", spec.require):
                assert f"{float(number):,g}" in spec.say or number in spec.say, (case.problem.id, name)


def test_every_feature_says_its_number_and_name() -> None:
    for item in FEATURES:
        for words in (item.it, *(say.format(it=item.it, It=item.it) for say in item.says)):
            for number in re.findall(r"(?:<=|>=) (\d[\d.]*)", item.require):
                assert number in words, item.name
            for quoted in re.findall(r'"([A-Z][^"]*)"', item.require):
                assert quoted in words, item.name


# ------------------------------------------------------------------------------------------------------------- dates


def _numbers(say: str) -> list[int]:
    return [int(number) for number in re.findall(r"\d+", say.replace("2025", ""))]


def _days(say: str) -> set[int]:
    """Weekdays that are named, Monday as 0."""
    names = ("Monday", "Tuesday", "Wednesday", "Thursday", "Friday")
    return {number for number, name in enumerate(names) if name in say}


def _length(say: str) -> set[int]:
    found = re.search(r"(\d+)(?: or (\d+))? nights", say)
    assert found is not None, say
    return {int(number) for number in found.groups() if number}


def _expected(form: str, say: str) -> Callable[[int, int], bool]:
    """Which (first day, nights) a reader of the words would take, read anew here."""
    if form == "weekend":
        return lambda start, nights: (start + 3) % 7 == 4 and nights == 2
    if form == "explicit":
        first, last = _numbers(say)[:2]
        return lambda start, nights: start == first and start + nights == last
    if form == "weekdays":
        return lambda start, nights: nights in _length(say) and (start + 3) % 7 in _days(say)
    length = _length(say)
    rest = _numbers(re.sub(r"(\d+)( or (\d+))? nights", "", say, count=1))
    if form == "window":
        return lambda start, nights: nights in length and start >= rest[0] and start + nights <= rest[1]
    if form == "half":
        if "first half" in say:
            return lambda start, nights: nights in length and start + nights <= 15
        return lambda start, nights: nights in length and start >= 16 and start + nights <= 31
    if form == "around":
        margin = rest[1] if len(rest) > 1 else 1
        return lambda start, nights: nights in length and abs(start - rest[0]) <= margin
    assert form == "alternatives"
    return lambda start, nights: nights in length and start in rest


def _ranges(plans: Plans) -> set[tuple[int, int]]:
    stays = pq.read_table(MINI.folder / "stays.parquet", columns=["check_in", "nights"])
    rows = stays.take(plans.model.choices[0].rows.tolist()).to_pydict()
    return {(day.day, nights) for day, nights in zip(rows["check_in"], rows["nights"], strict=True)}


@pytest.mark.row(21)
def test_any_weekend_in_august_is_five_ranges_from_friday_to_sunday(data: Data) -> None:
    part = dates("weekend", 1, Dice(1, "x", 1))
    assert _ranges(Plans.of(data, 1, 2, {"dates": part.require})) == {(day, 2) for day in (1, 8, 15, 22, 29)}


@pytest.mark.row(21)
@pytest.mark.parametrize("form", FORMS[1])
def test_dates_are_those_that_are_said(data: Data, form: str) -> None:
    offered = _ranges(Plans.of(data, 1, 2, {"all": "hotel.nights >= 1"}))
    said: set[str] = set()
    for attempt in range(12):
        part = dates(form, 1, Dice(3, form, attempt))
        said.add(re.sub(r"\d+", "", part.say))
        expected = _expected(form, part.say)
        found = _ranges(Plans.of(data, 1, 2, {"dates": part.require}))
        assert found == {item for item in offered if expected(*item)}, part.say
        assert found
    assert len(said) > 1  # in several wordings


@pytest.mark.row(21)
def test_dates_may_follow_from_flight_or_permit(cases: Sequence[Case]) -> None:
    for form, choice in (("flight", "flight"), ("permit", "permit")):
        found = [case for case in cases if BY_ID[case.problem.id].form == form]
        assert found
        for case in found:
            claim = case.certificate.claims.optimum
            assert claim is not None
            (hotel,), (other,) = claim.plan.picks["hotel"], claim.plan.picks[choice]
            first, last = (int(day) for day in hotel.id.split("_")[2:4])
            if form == "flight":
                assert [int(day) for day in other.id.split("_")[-2:]] == [first, last]
            else:
                start, *days = (int(part) for part in other.id.split("_")[2:])
                assert (first, last) == (start - 1, start + (days[0] if days else 1))


# ------------------------------------------------------------------------------------------------- kinds, objectives


@pytest.mark.row(19)
def test_there_is_a_task_for_each_kind_of_constraint_and_it_removes_plans() -> None:
    required = {item.name: item for item in FEATURES}
    seen: set[str] = set()
    for slot in sample():
        task = load_task(FOLDER / "tasks" / f"{slot.id}.yaml").task
        found = [required[name] for name in task.constraints if name in required]
        assert not slot.kind or slot.kind in {item.kind for item in found}
        for item in found:
            assert task.constraint(item.name).require == item.require
        seen |= {item.kind for item in found}
    assert seen == {item.kind for item in FEATURES}
    told = json.loads((FOLDER / "quality.json").read_text())["kinds"]
    assert seen <= told.keys()
    assert {
        "location", "location list", "budget", "joint budget", "permit type", "permit template", "room capacity",
        "permit within the stay", "flights on the dates of the stay", "origin list",
    } <= told.keys()  # fmt: skip


@pytest.mark.row(22)
@pytest.mark.parametrize(
    ("level", "metric"),
    [
        (1, "hotel.total_price"), (2, "hotel.total_price + flight.total_price"),
        (3, "hotel.total_price + flight.total_price + permit.total_price"), (1, "hotel.review_score"),
        (1, "hotel.review_count"), (1, "hotel.distance"), (2, "drive_minutes(flight.destination, hotel.park)"),
    ],
)  # fmt: skip
def test_there_is_a_solved_task_for_each_metric(cases: Sequence[Case], level: int, metric: str) -> None:
    found = [case for case in cases if (case.traits.level, case.traits.metric) == (level, metric)]
    assert found
    for case in found:
        pairs = case.certificate.claims.distribution
        assert pairs is not None
        values = [narrow(value) for value, _ in pairs.values]
        assert case.optimum == (max(values) if case.problem.objective.maximize else min(values))


@pytest.mark.row(23)
@pytest.mark.parametrize("wishes", [8, 10])
def test_a_feature_count_has_eight_or_ten_wishes_and_meets_a_fraction(cases: Sequence[Case], wishes: int) -> None:
    found = [case for case in cases if case.traits.wishes == wishes]
    assert found
    for case in found:
        assert 0 < Fraction(case.optimum, wishes) <= 1
        goals = case.file.task.goal.split(": ", 1)[1]
        assert len(goals.split(";")) == wishes


# ---------------------------------------------------------------------------------------------------- ground truth


@pytest.mark.row(24)
@pytest.mark.row(25)
@pytest.mark.row(26)
@pytest.mark.parametrize("level", [1, 2, 3])
def test_the_answer_is_that_of_brute_force_on_a_tiny_database(level: int, tmp_path: Path) -> None:
    """Some rows that are in plans of a bundled task and some that are not, every combination of them tried."""
    most = {1: 60, 2: 24, 3: 9}[level]
    for slot in [slot for slot in sample() if slot.level == level][:2]:
        file = load_task(FOLDER / "tasks" / f"{slot.id}.yaml")
        model = feasible(pose(file, MINI.manifest), MINI).model
        folder = tmp_path / slot.id
        shutil.copytree(MINI.folder, folder)
        for number, table in enumerate(("stays", "round_trips", "permits", "nights", "fares")):
            whole = pq.read_table(MINI.folder / f"{table}.parquet")
            rows = {*range(0, whole.num_rows, whole.num_rows // most)}
            if number < level:
                planned = model.choices[number].rows.tolist()
                rows |= {*planned[:: max(1, len(planned) // most)][:most]}
            pq.write_table(whole.take(sorted(rows)), folder / f"{table}.parquet")
        claims = certify(file, open_dataset(str(folder))).claims
        expected = truth(file, folder)
        assert claims.count is not None
        assert narrow(claims.count.at_least) == narrow(claims.count.at_most) == expected.count
        if expected.count:
            assert claims.optimum is not None
            scale = pose(file, MINI.manifest).objective.type.scale
            assert Fraction(narrow(claims.optimum.value), scale) == expected.optimum
            assert narrow(claims.optimum.tied) == len(expected.best)


@pytest.mark.row(27)
def test_stored_ground_truth_is_what_the_checker_recomputes() -> None:
    chosen = {slot.level: slot for slot in sample()}
    for case in SUITE.cases([slot.id for slot in chosen.values()]):
        report = replay(case.problem, case.dataset, case.certificate)
        assert not report.refuted
        claims = case.certificate.claims
        for claim in (claims.status, claims.optimum, claims.count, claims.distribution):
            assert claim is not None
            assert claim.grade.value == "proved"


@pytest.mark.row(28)
def test_no_task_is_empty_or_trivial(cases: Sequence[Case]) -> None:
    for case in cases:
        claims = case.certificate.claims
        assert claims.status.value == "solvable"
        assert claims.count is not None
        assert claims.optimum is not None
        assert claims.distribution is not None
        plans, tied = narrow(claims.count.at_least), narrow(claims.optimum.tied)
        assert plans >= LEAST
        assert tied * TIED <= plans
        assert tied <= MOST_TIED or case.traits.objective == "feature_count"
        better = top = 0
        ordered = sorted(
            ((narrow(value), narrow(times)) for value, times in claims.distribution.values),
            reverse=case.problem.objective.maximize,
        )
        for _, times in ordered:
            top += times if 20 * better < plans else 0
            better += times
        assert 0 < top < plans == better


# ---------------------------------------------------------------------------------------------------------- judging


@pytest.fixture(scope="module")
def fair(data: Data) -> Candidate:
    """A candidate that is let in."""
    slot = Slot("fair", 2, "price", "flight", 6, 3, 0, "stars")
    world = world_of(MINI)
    for attempt in range(100):
        try:
            candidate = draft(slot, Dice(5, slot.id, attempt), world, data)
            judge(candidate, candidate.file("parks"), data)
        except RejectedError:
            continue
        return candidate
    raise AssertionError


def _verdict(candidate: Candidate, data: Data) -> str:
    with pytest.raises(RejectedError) as reason:
        judge(candidate, candidate.file("parks"), data)
    return str(reason.value)


def _with(candidate: Candidate, name: str, require: str) -> Candidate:
    part = Part(name, (), require, "It has to be so.")
    kept = [other for other in candidate.parts if other.name != name]
    return replace(candidate, parts=(*kept, part))


@pytest.mark.row(28)
def test_what_cannot_be_planned_is_turned_away(fair: Candidate, data: Data) -> None:
    assert _verdict(_with(fair, "budget", "hotel.total_price + flight.total_price <= 1"), data) == "no plan"
    cheapest = certify(fair.file("parks"), MINI).claims.optimum
    assert cheapest is not None
    dollars = -(-narrow(cheapest.value) // 100)
    few = _with(fair, "budget", f"hotel.total_price + flight.total_price <= {dollars}")
    assert _verdict(few, data) == "too few plans"


def test_a_constraint_that_removes_nothing_is_turned_away(fair: Candidate, data: Data) -> None:
    assert _verdict(_with(fair, "idle", "hotel.nights >= 1"), data) == "a constraint removes nothing"


def test_a_conversation_without_news_is_turned_away(fair: Candidate, data: Data) -> None:
    assert _verdict(replace(fair, later=frozenset({"budget"})), data) == "what is told later changes nothing"


@pytest.mark.parametrize("plans", [25, 2000])  # too many of all plans; too many at all
def test_an_optimum_that_too_many_plans_share_is_turned_away(fair: Candidate, data: Data, plans: int) -> None:
    without = fair.plans(data, without="budget")
    dollars = without.cost_at(min(plans, without.count())) // 100 + 1
    some = _with(fair, "budget", f"hotel.total_price + flight.total_price <= {dollars}")
    tied = replace(some, goal=replace(fair.goal, text="flight.nights_away"))
    assert _verdict(tied, data) == "too many plans share the optimum"


def test_an_optimum_that_nobody_has_to_search_for_is_turned_away(fair: Candidate, data: Data) -> None:
    """On fixed dates the cheapest hotel goes with the cheapest flights."""
    best = certify(fair.file("parks"), MINI).claims.optimum
    assert best is not None
    first, last = best.plan.picks["hotel"][0].id.split("_")[2:4]
    fixed = _with(fair, "dates", f"day(hotel.check_in) == {first} and day(hotel.check_out) == {last}")
    loose = _with(fixed, "budget", "hotel.total_price + flight.total_price <= 9000")
    assert _verdict(loose, data) == "a naive strategy finds the optimum"


# ----------------------------------------------------------------------------------------------------------- making


def _bundled(slot: Slot) -> Built:
    """What the bundled suite says became of a slot."""
    return Built(
        slot,
        (FOLDER / "tasks" / f"{slot.id}.yaml").read_bytes(),
        (FOLDER / "certificates" / f"{slot.id}.cert.json").read_bytes(),
    )


class Replayed:
    """A run that knows all answers, and tells them in the wrong order; one of them may be a fault."""

    def __init__(self, fault: str = "") -> None:
        self.fault = fault

    def __call__(self, job: Work, chunks: Sequence[Sequence[Slot]]) -> Iterator[Built]:  # closed as a generator is
        self.job = job
        for (slot,) in reversed(chunks):
            yield Built(slot, fault=self.fault) if self.fault else _bundled(slot)


def _make(out: Path, run_: Replayed, data: str | None = "parks") -> None:
    make(out, 1, data, run_, lambda *_: None, sampled=True)  # pyright: ignore[reportArgumentType]


def test_a_suite_does_not_depend_on_the_order_in_which_its_tasks_come(tmp_path: Path) -> None:
    _make(tmp_path / "out", Replayed())
    assert (tmp_path / "out" / "tasks.json").read_bytes() == (FOLDER / "tasks.json").read_bytes()
    for folder in ("tasks", "certificates"):
        mine = {path.name: path.read_bytes() for path in (tmp_path / "out" / folder).iterdir()}
        assert mine == {path.name: path.read_bytes() for path in (FOLDER / folder).iterdir()}


def test_a_folder_of_data_is_copied_and_named(tmp_path: Path) -> None:
    answers = Replayed()
    _make(tmp_path / "out", answers, str(MINI.folder))
    assert answers.job.dataset == "../data"
    for path in MINI.files():
        assert (tmp_path / "out" / "data" / path.name).read_bytes() == path.read_bytes()


def test_a_suite_that_fails_leaves_nothing(tmp_path: Path) -> None:
    with pytest.raises(CobenchError, match=r"compass-3-.*: no task in 7 attempts"):
        _make(tmp_path / "out", Replayed("no task in 7 attempts"))
    assert not list(tmp_path.iterdir())


def test_a_folder_with_something_in_it_is_refused(tmp_path: Path) -> None:
    (tmp_path / "out").mkdir()
    (tmp_path / "out" / "mine").write_text("")
    with pytest.raises(OutputError, match="not an empty folder"):
        _make(tmp_path / "out", Replayed())
    assert [path.name for path in (tmp_path / "out").iterdir()] == ["mine"]


def test_data_that_is_no_parks_world_is_refused(tmp_path: Path) -> None:
    with pytest.raises(InputError, match="no parks world"):
        world_of(open_dataset(str(Path(cobench.__file__).parent / "examples" / "shopping")))


def test_the_command_says_what_is_wrong(tmp_path: Path, capsys: pytest.CaptureFixture[str]) -> None:
    assert run(["tasks", "make", "compass", "--out", str(tmp_path / "out"), "--data", str(tmp_path / "none")]) == 2
    assert "none" in capsys.readouterr().err
    assert run(["tasks", "make", "atlas", "--out", str(tmp_path / "out")]) == 2
    assert not (tmp_path / "out").exists()


QUICK = ("compass-1-008", "compass-2-034", "compass-3-005")


def test_slots_are_built_to_the_same_bytes_each_on_its_own() -> None:
    build = Builder(Work(1, "parks", "parks")).build
    for name in reversed(QUICK):
        built, bundled = build(BY_ID[name]), _bundled(BY_ID[name])
        assert (built.task, built.certificate, built.fault) == (bundled.task, bundled.certificate, "")
        count = SUITE.case(name).certificate.claims.count
        assert count is not None
        assert narrow(count.at_least) == built.facts.plans


@pytest.mark.skipif(not THOROUGH, reason="takes minutes: COBENCH_HYPOTHESIS=thorough")
def test_the_bundled_suite_is_what_the_command_makes(tmp_path: Path) -> None:
    assert (
        run(["tasks", "make", "compass", "--sample", "--data", "parks", "--seed", "1", "--out", str(tmp_path / "a")])
        == 0
    )
    for path in sorted((tmp_path / "a").rglob("*")):
        if path.is_file():
            assert path.read_bytes() == (FOLDER / path.relative_to(tmp_path / "a")).read_bytes(), path.name
