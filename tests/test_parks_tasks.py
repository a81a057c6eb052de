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
from cobench.schemas.certificate import Certificate
from cobench.schemas.problem import Problem, pose
from cobench.schemas.task import TaskFile, load_task
from cobench.solver import scan
from cobench.solver.certify import certify
from cobench.solver.lower import lower
from cobench.solver.model import Model
from cobench.solver.outcome import Limits

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
    assert sorted(task.choice(choice).one for choice in task.choose) == SERVICES[SUITE[name].level]


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
    """Giving up one constraint helps; there are several to choose from, and the others still bear on what is left."""
    task = SUITE[name]
    helps = {dropped: plans for dropped in task.conditions if (plans := task.plans(dropped))}
    assert len(helps) >= 2
    for constraint in task.conditions.keys() - helps:
        assert any(task.plans(dropped, constraint) > plans for dropped, plans in helps.items()), constraint


@pytest.fixture(scope="session")
def full(tmp_path_factory: pytest.TempPathFactory) -> Dataset:
    folder = tmp_path_factory.mktemp("parks") / "full"
    build(folder, "full")
    return open_dataset(str(folder))


@unsolvable_tasks
def test_more_offers_do_not_solve_an_unsolvable_task(name: str, full: Dataset) -> None:
    model = lower(pose(SUITE[name].file, full.manifest), full).model
    assert scan.count(model.kept(range(len(model.names))), Limits()) == 0


# --- the suite ----------------------------------------------------------------------------------------------------


def test_levels_and_objectives() -> None:
    assert len(SUITE) >= 14
    assert set(Counter(task.level for task in SUITE.values())) == {"1", "2", "3"}
    assert sum(not task.solvable for task in SUITE.values()) >= 3
    objectives = {(task.level, *task.file.task.objective) for task in SUITE.values()}
    total = "hotel.total_price + flight.total_price"
    assert {
        ("1", "minimize", "hotel.total_price"),
        ("2", "minimize", total),
        ("3", "minimize", f"{total} + permit.total_price"),
        ("1", "maximize", "hotel.review_score"),
        ("1", "maximize", "hotel.review_count"),
        ("1", "minimize", "hotel.distance"),
        ("2", "minimize", "drive_minutes(flight.destination, hotel.park)"),
    } <= objectives


def test_wish_lists() -> None:
    wishes: dict[str, set[int]] = {level: set() for level in SERVICES}
    for task in SUITE.values():
        objective = task.problem.objective
        if isinstance(objective.expr, ex.Count):
            assert objective.maximize
            wishes[task.level].add(len(objective.expr.args))
    assert wishes == {"1": {8, 10}, "2": {8}, "3": {8, 10}}


DATES = {
    "fixed dates": 'hotel.check_in == "2025-08-12" and hotel.check_out == "2025-08-15"',
    "any weekend": 'weekday(hotel.check_in) == "fri" and hotel.nights == 2',
    "nights in a window": 'hotel.nights == 5 and hotel.check_in >= "2025-08-04" and hotel.check_out <= "2025-08-28"',
    "weekdays only": 'weekday(hotel.check_out) in ["wed", "thu", "fri"]',
    "first half of the month": "day(hotel.check_in) <= 15",
    "around a day": 'abs(days_between("2025-08-16", hotel.check_in)) <= 2',
    "alternatives": 'hotel.check_in in ["2025-08-05", "2025-08-12", "2025-08-19"]',
    "flights on the days of the stay": "flight.departs_on == hotel.check_in and flight.returns_on == hotel.check_out",
    "permit inside the stay": "permit.starts_on > hotel.check_in and permit.ends_on < hotel.check_out",
    "stay after the permit": "hotel.check_in == permit.ends_on",
}


@pytest.mark.parametrize("form", DATES)
def test_date_forms(form: str) -> None:
    assert any(DATES[form] in condition for task in SUITE.values() for condition in task.conditions.values())


def test_parties_parks_and_nulls() -> None:
    assert {task.file.task.given["guests"] for task in SUITE.values()} == {1, 2, 3, 4, 5, 6}
    conditions = [condition for task in SUITE.values() for condition in task.conditions.values()]
    assert sum("hotel.park in [" in condition for condition in conditions) >= 3
    assert sum("hotel.total_price + flight.total_price" in condition for condition in conditions) >= 3
    for part in ("known(hotel.review_score)", "hotel.rooms <=", "serves(", "drive_minutes(", "ceil(", "not "):
        assert any(part in condition for condition in conditions), part


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
