"""The shipped tasks on the parks world: each is what its file says, and together they cover the axes of the papers."""

from __future__ import annotations

import re
from collections import Counter
from collections.abc import Iterator
from dataclasses import dataclass
from functools import cached_property
from pathlib import Path

import cobench
import pytest
from cobench.datasets.opening import Dataset, open_dataset
from cobench.datasets.parks.build import build
from cobench.schemas import expression as ex
from cobench.schemas.canonical import narrow
from cobench.schemas.certificate import Certificate, ConflictsClaim, CorrectionClaim
from cobench.schemas.problem import Problem, pose
from cobench.schemas.task import TaskFile, load_task
from cobench.solver import scan
from cobench.solver.certify import certify
from cobench.solver.lower import lower
from cobench.solver.model import Model
from cobench.solver.outcome import Limits, Status

FILES = sorted((Path(cobench.__file__).parent / "tasks" / "parks").glob("*.yaml"))
MINI = open_dataset("parks")
SERVICES = {"1": ["stays"], "2": ["round_trips", "stays"], "3": ["permits", "round_trips", "stays"]}


@dataclass(frozen=True)
class Shipped:
    """A task file with all that is computed of it, each once."""

    file: TaskFile

    @cached_property
    def problem(self) -> Problem:
        return pose(self.file, MINI.manifest)

    @cached_property
    def certificate(self) -> Certificate:
        return certify(self.file, MINI)

    @cached_property
    def model(self) -> Model:
        return lower(self.problem, MINI).model

    @property
    def solvable(self) -> bool:
        return self.file.task.expect != "unsolvable"

    @property
    def level(self) -> str:
        return self.file.task.id.split("-")[1]

    @property
    def conditions(self) -> dict[str, str]:
        task = self.file.task
        return {name: task.constraint(name).require for name in task.constraints}

    def columns(self) -> Iterator[tuple[str, str]]:
        """Choice and column of everything that the constraints and the objective read."""
        for expr in [self.problem.objective.expr, *(item.condition for item in self.problem.constraints)]:
            yield from ((part.choice, part.column) for part in ex.walk(expr) if isinstance(part, ex.Column))

    def plans(self, *without: str) -> int:
        """How many plans there are without the named constraints."""
        names = self.model.names
        count = scan.count(self.model.kept(i for i, name in enumerate(names) if name not in without), Limits())
        assert count is not None
        return count

    @property
    def conflicts(self) -> ConflictsClaim:
        claim = self.certificate.claims.conflicts
        assert claim is not None
        return claim

    def reads(self, constraint: str) -> set[tuple[str, str]]:
        """Choice and column of everything that a constraint reads."""
        condition = next(item.condition for item in self.problem.constraints if item.name == constraint)
        return {(part.choice, part.column) for part in ex.walk(condition) if isinstance(part, ex.Column)}

    def is_about_dates(self, conflict: tuple[str, ...]) -> bool:
        """Whether all its constraints are about days, but for the one that picks a permit."""
        return all(
            {column for _, column in self.reads(constraint)} <= DAYS | {"template_name"} for constraint in conflict
        )


DAYS = {"check_in", "check_out", "nights", "departs_on", "returns_on", "nights_away", "starts_on", "ends_on", "days"}


def given_up_by(correction: CorrectionClaim) -> tuple[str, ...]:
    return (*correction.drop, *([correction.move.constraint] if correction.move is not None else []))


def choices_of(columns: set[tuple[str, str]]) -> set[str]:
    return {choice for choice, _ in columns}


SUITE = {path.stem: Shipped(load_task(path)) for path in FILES}
every_task = pytest.mark.parametrize("name", SUITE)
solvable_tasks = pytest.mark.parametrize("name", [name for name, task in SUITE.items() if task.solvable])
unsolvable_tasks = pytest.mark.parametrize("name", [name for name, task in SUITE.items() if not task.solvable])


# --- each file ----------------------------------------------------------------------------------------------------


@every_task
def test_the_id_is_the_file_name_and_the_level_is_what_is_booked(name: str) -> None:
    task = SUITE[name].file.task
    assert task.id == name
    assert task.dataset == "parks"
    assert sorted(task.choice(choice).table for choice in task.choose) == SERVICES[SUITE[name].level]


@every_task
def test_editors_find_the_schema_and_people_a_title(name: str) -> None:
    task = SUITE[name].file.task
    first, *_ = next(path for path in FILES if path.stem == name).read_text("utf-8").splitlines()
    assert first == "# yaml-language-server: $schema=../../schemas/task.schema.json"
    assert 10 < len(task.title) < 80


def test_titles_differ() -> None:
    assert len({task.file.task.title for task in SUITE.values()}) == len(SUITE)


@every_task
def test_a_traveller_can_say_every_constraint(name: str) -> None:
    task = SUITE[name].file.task
    specs = [task.constraint(constraint) for constraint in task.constraints]
    assert 5 <= len(specs) <= 9
    assert {spec.reveal for spec in specs} == {"initial", "later"}
    assert sorted(specs, key=lambda spec: spec.reveal == "later") == specs, "what is said later stands later"
    for spec in specs:
        assert spec.say[:1].isupper()
        assert spec.say.endswith((".", "!", "?"))
        assert not re.search(r"[_=<>]|\b(hotel|flight|permit)\.\w", spec.say), "a sentence, not an expression"


@every_task
def test_a_task_constrains_park_dates_and_more(name: str) -> None:
    used = set(SUITE[name].columns())
    columns = {column for _, column in used}
    assert columns & {"park", "permit_park"}
    assert columns & {"check_in", "check_out"}
    assert "nights" in columns or "check_out" in columns
    assert {choice for choice, _ in used} == set(SUITE[name].file.task.choose)


@every_task
def test_it_is_solvable_or_not_as_it_says(name: str) -> None:
    claims = SUITE[name].certificate.claims
    assert claims.status.value == ("solvable" if SUITE[name].solvable else "unsolvable")
    if SUITE[name].solvable:
        assert SUITE[name].file.task.expect is None, "the mini and the full world have different optima"


@solvable_tasks
def test_a_solvable_task_leaves_a_choice(name: str) -> None:
    claims = SUITE[name].certificate.claims
    assert claims.count is not None
    assert claims.optimum is not None
    plans, tied = narrow(claims.count.at_least), narrow(claims.optimum.tied)
    assert plans == SUITE[name].plans()
    assert plans >= 10
    assert tied < plans, "not every plan is best"


@solvable_tasks
def test_every_constraint_of_a_solvable_task_removes_plans(name: str) -> None:
    task = SUITE[name]
    plans = task.plans()
    assert not [constraint for constraint in task.conditions if task.plans(constraint) == plans]


@unsolvable_tasks
def test_an_unsolvable_task_has_an_instructive_conflict(name: str) -> None:
    """There are several corrections to choose from, and what is in none of them still bears on the plans they make."""
    task = SUITE[name]
    assert task.conflicts.complete
    assert len(task.conflicts.corrections) >= 2
    assert all(len(conflict) >= 2 for conflict in task.conflicts.conflicts), "the tables alone satisfy each wish"
    helps = {given_up: task.plans(*given_up) for given_up in map(given_up_by, task.conflicts.corrections)}
    assert all(helps.values())
    for constraint in task.conditions.keys() - {name for given_up in helps for name in given_up}:
        assert any(task.plans(*given_up, constraint) > plans for given_up, plans in helps.items()), constraint


@pytest.fixture(scope="session")
def full(tmp_path_factory: pytest.TempPathFactory) -> Dataset:
    folder = tmp_path_factory.mktemp("parks") / "full"
    build(folder, "full")
    return open_dataset(str(folder))


@every_task
def test_more_offers_do_not_change_whether_there_is_a_plan(name: str, full: Dataset) -> None:
    model = lower(pose(SUITE[name].file, full.manifest), full).model
    outcome = scan.solve(model.kept(range(len(model.names))), Limits())
    assert outcome.status is (Status.OPTIMAL if SUITE[name].solvable else Status.INFEASIBLE)


# --- the suite ----------------------------------------------------------------------------------------------------


def test_levels() -> None:
    assert len(SUITE) >= 25
    assert set(Counter(task.level for task in SUITE.values())) == set(SERVICES)
    assert {task.level for task in SUITE.values() if not task.solvable} == set(SERVICES)
    assert sum(not task.solvable for task in SUITE.values()) >= 6


TOTAL = "hotel.total_price + flight.total_price"
OBJECTIVES = {
    "price of a stay": ("1", "minimize", "hotel.total_price"),
    "total cost of two": ("2", "minimize", TOTAL),
    "total cost of three": ("3", "minimize", f"{TOTAL} + permit.total_price"),
    "review score": ("1", "maximize", "hotel.review_score"),
    "review score with a flight": ("2", "maximize", "hotel.review_score"),
    "review count": ("1", "maximize", "hotel.review_count"),
    "review count with a permit": ("3", "maximize", "hotel.review_count"),
    "distance": ("1", "minimize", "hotel.distance"),
    "distance with a permit": ("3", "minimize", "hotel.distance"),
    "drive time": ("2", "minimize", "drive_minutes(flight.destination, hotel.park)"),
    "flight duration": ("2", "minimize", "flight.outbound_duration + flight.return_duration"),
}


@pytest.mark.parametrize("objective", OBJECTIVES)
def test_objectives(objective: str) -> None:
    assert OBJECTIVES[objective] in {(task.level, *task.file.task.objective) for task in SUITE.values()}


def test_wish_lists() -> None:
    wishes: dict[str, set[int]] = {level: set() for level in SERVICES}
    for task in SUITE.values():
        objective = task.problem.objective
        if isinstance(objective.expr, ex.Count):
            assert objective.maximize
            wishes[task.level].add(len(objective.expr.args))
    assert wishes == {level: {8, 10} for level in SERVICES}


NIGHTS = r"hotel\.nights (==|in|<=|>=) "
DATES = {
    "fixed dates": r'hotel\.check_in == "2025-08-12" and hotel\.check_out == "2025-08-15"',
    "any weekend": r'^weekday\(hotel\.check_in\) == "fri" and hotel\.nights == 2$',
    "nights in a window": NIGHTS + r'.* and hotel\.check_in >= "2025-.*" and hotel\.check_out <= "2025-',
    "weekdays only": r'weekday\(hotel\.check_in\) in \["mon", .* and weekday\(hotel\.check_out\) in \[.*"fri"\]',
    "first half of the month": r"day\(hotel\.check_in\) <= 15",
    "second half of the month": r"day\(hotel\.check_in\) >= 16",
    "around a day": r'abs\(days_between\("2025-.*", hotel\.check_in\)\) <= \d',
    "permit around a day": r'abs\(days_between\(permit\.starts_on, "2025-.*"\)\) <= \d',
    "alternative days": r'hotel\.check_in in \["2025-.*", "2025-.*", "2025-.*"\]',
    "alternative ranges": r'hotel\.check_in == "2025-.*" and hotel\.nights == \d or hotel\.check_in == ',
    "days to a day": r'days_between\(hotel\.check_out, "2025-',
    "the days of the flights": r"flight\.departs_on == hotel\.check_in and flight\.returns_on == hotel\.check_out",
    "the day after the flight": r"days_between\(flight\.departs_on, hotel\.check_in\) == 1",
    "weekdays of the flights": r"weekday\(flight\.departs_on\) == ",
    "permit inside the stay": r"permit\.starts_on > hotel\.check_in and permit\.ends_on < hotel\.check_out",
    "stay after the permit": r"hotel\.check_in == permit\.ends_on",
    "stay around the permit": r"days_between\(hotel\.check_in, permit\.starts_on\) == 1 and days_between\(permit\.ends",
    "flight before the permit": r"days_between\(flight\.departs_on, permit\.starts_on\) in ",
}
KINDS = {
    # filters
    "amenity": r"hotel\.has_pool",
    "accessible": r"hotel\.is_accessible",
    "free cancellation": r"hotel\.free_cancellation",
    "no prepayment": r"hotel\.no_prepayment",
    "meal plan": r"hotel\.meal_plan ",
    "room capacity": r"hotel\.capacity >= ",
    "rooms": r"hotel\.rooms (<=|==) ",
    "bed": r"hotel\.bed_type ",
    "score": r"hotel\.review_score >= ",
    "stars": r"hotel\.stars >= ",
    "distance": r"hotel\.distance <= ",
    "wifi in the hotel": r"hotel\.has_wifi",
    "wifi on board": r"flight\.has_wifi",
    "pets in the hotel": r"hotel\.pet_policy ",
    "pets on board": r"flight\.pets_allowed",
    "class": r"flight\.booking_class ",
    "airline": r"flight\.airline ",
    "direct flights": r"^flight\.is_direct$",
    "bags": r"flight\.bags_included >= ",
    "time of day": r'flight\.outbound_\w+_at [<>]= "\d\d:\d\d"',
    "kind of permit": r"permit\.permit_type == ",
    "name of a permit": r"permit\.template_name ",
    "length of a permit": r"permit\.days ",
    # enumerable
    "one park": r"hotel\.park == ",
    "a list of parks": r"hotel\.park in \[",
    "origins": r"flight\.origin in \[",
    "budget": r"^hotel\.total_price <= ",
    "budget for a night": r"ceil\(hotel\.room_price / hotel\.nights\) <= ",
    # across choices
    "joint budget of two": r"^hotel\.total_price \+ flight\.total_price <= ",
    "joint budget of three": r"^hotel\.total_price \+ flight\.total_price \+ permit\.total_price <= ",
    "airport serves the park": r"serves\(flight\.destination, hotel\.park\)",
    "drive time": r"^drive_minutes\(flight\.destination, hotel\.park\) <= ",
    "permit at the park": r"hotel\.park == permit\.permit_park",
    "one choice or another": r"flight\.\w+ or hotel\.|hotel\.\w+ or flight\.",
    # operators
    "not": r"\bnot (flight|hotel)\.",
    "not in": r" not in \[",
    "unequal": r" != ",
    "or": r"hotel\.\w+ or hotel\.",
    "count": r"^count\(hotel\..*\) >= \d",
    "count across choices": r"^count\(flight\..* hotel\..*\) >= \d",
    "max": r"max\(flight\.",
    "min": r"min\(flight\.",
    "known": r"known\(hotel\.review_score\) and ",
    "unknown or": r"not known\(hotel\.eco_rating\) or ",
}


@pytest.mark.parametrize("form", DATES)
def test_date_forms(form: str) -> None:
    assert any(re.search(DATES[form], condition) for task in SUITE.values() for condition in task.conditions.values())


@pytest.mark.parametrize("kind", KINDS)
def test_constraint_kinds(kind: str) -> None:
    assert any(re.search(KINDS[kind], condition) for task in SUITE.values() for condition in task.conditions.values())


def test_parties_parks_and_nulls() -> None:
    assert {task.file.task.given["guests"] for task in SUITE.values()} == {1, 2, 3, 4, 5, 6}
    conditions = [condition for task in SUITE.values() for condition in task.conditions.values()]
    assert sum("hotel.park in [" in condition for condition in conditions) >= 3
    assert sum(TOTAL in condition for condition in conditions) >= 3


def test_conflicts() -> None:
    """What can be learnt from the unsolvable tasks: each item is shown by at least one."""
    unsolvable = [task for task in SUITE.values() if not task.solvable]
    corrections = [(task, item) for task in unsolvable for item in task.conflicts.corrections]
    moved = [(task.reads(item.move.constraint), item.drop) for task, item in corrections if item.move is not None]
    assert any(len(task.conflicts.conflicts) >= 2 and len(task.conflicts.corrections) >= 3 for task in unsolvable)
    assert any(len(choices_of(read)) == 1 and not drop for read, drop in moved), "a threshold of one choice moves"
    assert any(len(choices_of(read)) > 1 and drop for read, drop in moved), "more money, and something less"
    dates = [task.level for task in unsolvable if any(map(task.is_about_dates, task.conflicts.conflicts))]
    assert {"1", "3"} <= set(dates), "dates contradict each other"
    assert len({conflict for task in unsolvable for conflict in task.conflicts.conflicts}) >= len(unsolvable)


def test_ties() -> None:
    tied = {
        name: narrow(task.certificate.claims.optimum.tied)
        for name, task in SUITE.items()
        if task.certificate.claims.optimum is not None
    }
    assert max(tied.values()) >= 50
    assert min(tied.values()) == 1


def test_the_first_example_of_the_readme_is_no_toy() -> None:
    task = SUITE["parks-2-01-zion-weekend"]
    assert 200 <= task.plans() <= 1000
    cheapest_hotel_first = 115_412  # the cheapest stay that fits, then the cheapest flight for its dates: cents
    assert task.certificate.claims.optimum is not None
    assert narrow(task.certificate.claims.optimum.value) < cheapest_hotel_first
