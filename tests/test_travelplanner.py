"""TravelPlanner in our formats: on a source made by hand, and on a sample of the real one where it is at hand."""

from __future__ import annotations

import json
from collections.abc import Callable
from pathlib import Path
from typing import Any

import pyarrow.parquet as pq
import pytest
from cobench.cli import run
from cobench.datasets.opening import open_dataset
from cobench.schemas.errors import InputError, TaskError, Where
from cobench.schemas.plan import Plan
from cobench.schemas.problem import pose
from cobench.schemas.task import load_task
from cobench.solver.checker.check import evaluate, open_data
from cobench.tasks.travel_queries import read_query
from cobench.tasks.travelplanner import PLANS, convert
from cobench.verification import verify

CUISINES = ("American", "Chinese", "Fast Food", "French")
HERE = Where("here")

FILES = {
    "clean_accommodations_2022.csv": (
        ",NAME,room type,price,minimum nights,review rate number,house_rules,maximum occupancy,city\n"
        "0,Attic,Private room,30.0,1.0,4.0,No pets & No smoking,2,Ulm\n"
        '1,"Loft, bright ",Entire home/apt,50.0,2.0,,,3,Ulm\n'
        "2,Attic,Private room,10.0,1.0,4.0,,2,Ulm\n"
        "3,Cellar,Shared room,,1.0,4.0,,2,Ulm\n"
        "4,,Private room,1.0,1.0,4.0,,2,Ulm\n"
        "5,Barn,Entire home/apt,20.0,,3.0,No parties,4,Kiel\n"
        "6,Hut,Private room,40.0,1.0,3.0,No visitors & No children under 10,1,Kiel\n"
    ),
    "clean_restaurant_2022.csv": ",Name,City,Cuisines,Average Cost,Aggregate Rating\n"
    + "".join(
        f'{number},{name},{city},"{cuisines}",{price},4.0\n'
        for number, (name, city, cuisines, price) in enumerate(
            [
                ("Subway", "Ulm", "American, Fast Food", 9),
                ("Subway", "Ulm", "French", 1),
                *((f"U{price}", "Ulm", "French", price) for price in (10, 11, 12, 13)),
                *((f"K{price}", "Kiel", "Chinese", price) for price in (20, 21, 22, 23)),
            ]
        )
    ),
    "attractions.csv": "Name,Latitude,Longitude,Address,Phone,Website,City\n"
    + "".join(f"{name},1,2,,,,{city}\n" for name, city in [("Minster", "Ulm"), ("Canal", "Kiel"), ("Port", "Kiel")]),
    "distance.csv": (
        "origin,destination,cost,duration,distance\n"
        'Bonn,Ulm,,10 hours 1 min,"1,039.9 km"\n'
        'Bonn,Ulm,,1 hour 0 mins,"1 km"\n'
        "Ulm,Kiel,,9 hours,800 km\n"
        "Kiel,Bonn,,26 mins,31.9 km\n"
        "Ulm,Bonn,,1 day 2 hours,400 km\n"
        "Kiel,Ulm,,,\n"
    ),
    "flights_from_ref_info.csv": (
        "Flight Number,Price,DepTime,ArrTime,ActualElapsedTime,FlightDate,OriginCityName,DestCityName,Distance\r\n"
        "F1,100,10:00,11:00,1 hours 0 minutes,2022-03-01,Bonn,Ulm,100.0\r\n"
        "F2,90,12:00,13:00,1 hours 0 minutes,2022-03-02,Bonn,Ulm,100.0\r\n"
        "F3,80,12:00,13:00,1 hours 0 minutes,2022-03-03,Ulm,Bonn,100.0\r\n"
    ),
}


def _day(number: int, city: str, way: str, meals: str, sights: str, bed: str) -> dict[str, Any]:
    breakfast, lunch, dinner = meals.split("|")
    texts = {"breakfast": breakfast, "lunch": lunch, "dinner": dinner, "attraction": sights, "accommodation": bed}
    return {"days": number, "current_city": city, "transportation": way, **texts}


TOWN = [
    _day(1, "from Bonn to Ulm", "Flight Number: F1, from Bonn to Ulm", "-|-|Subway, Ulm", "-", "Loft, bright , Ulm"),
    _day(2, "Ulm", "-", "U10, Ulm|U11, Ulm|U12, Ulm", "Minster, Ulm;", "Loft, bright , Ulm"),
    _day(3, "from Ulm to Bonn", "Flight Number: F3, from Ulm to Bonn, Departure Time: 12:00", "-|-|-", "-", "-"),
    {},
]
STATE = [
    _day(1, "from Bonn to Ulm(Ohio)", "Taxi, from Bonn to Ulm(Ohio), cost: 1", "-|-|-", "-", "Attic, Ulm(Ohio)"),
    _day(2, "Ulm(Ohio)", "-", "U10, Ulm(Ohio)|U11, Ulm(Ohio)|U12, Ulm(Ohio)", "Canal, Kiel(Ohio);", "Attic, Ulm(Ohio)"),
    _day(
        3,
        "from Ulm(Ohio) to Kiel(Ohio)",
        "Taxi, from Ulm(Ohio) to Kiel(Ohio)",
        "U13, Ulm(Ohio)|-|K20, Kiel(Ohio)",
        "Minster, Ulm(Ohio);",
        "Barn, Kiel(Ohio)",
    ),
    _day(
        4, "Kiel(Ohio)", "-", "K21, Kiel(Ohio)|K22, Kiel(Ohio)|K23, Kiel(Ohio)", "Port, Kiel(Ohio)", "Hut, Kiel(Ohio)"
    ),
    _day(5, "from Kiel(Ohio) to Bonn", "Taxi, from Kiel(Ohio) to Bonn", "-|-|-", "-", "-"),
]
TOWN_QUERY = (
    "Please plan a 3-day trip from Bonn to Ulm for two people from March 1st to March 3rd, 2022, with a budget of "
    "$1,700. We require accommodations where parties are allowed. We'd love to try French and American cuisines."
)
STATE_QUERY = (
    "Could you plan a trip for a group of 6, departing from Bonn and visiting 2 cities in Ohio "
    "from the 1st to the 5th of March, 2022? Our budget is $9000. We do not plan on self-driving."
)


def _source(folder: Path, files: dict[str, str] | None = None, plans: list[Any] | None = None) -> Path:
    folder.mkdir()
    for name, text in {**FILES, **(files or {})}.items():
        (folder / name).write_bytes(text.encode())
    pairs = ((TOWN_QUERY, TOWN), (STATE_QUERY, STATE))
    entries = [{"idx": idx, "query": query, "annotated_plan": repr(plan)} for idx, (query, plan) in enumerate(pairs)]
    (folder / PLANS).write_text(json.dumps(entries if plans is None else plans), encoding="utf-8")
    return folder


def _submissions(out: Path) -> dict[tuple[str, str], dict[str, Any]]:
    lines = [json.loads(line) for line in (out / "submissions.jsonl").read_text(encoding="utf-8").splitlines()]
    return {(line["task"], line["agent"]): line["answer"]["picks"] for line in lines}


@pytest.fixture(scope="module")
def converted(tmp_path_factory: pytest.TempPathFactory) -> Path:
    folder = tmp_path_factory.mktemp("travel")
    counts = convert(_source(folder / "source"), folder / "out")
    assert (counts.tasks, counts.submissions, counts.datasets) == (2, 3, 1)
    return folder / "out"


def _table(out: Path, name: str) -> dict[str, dict[str, Any]]:
    rows = pq.read_table(out / "data" / "travelplanner" / f"{name}.parquet").to_pylist()
    return {row[name[:-1]]: row for row in rows}


def test_of_rows_with_the_same_name_and_city_only_the_first_is_an_offer(converted: Path) -> None:
    assert [row["price"] for row in _table(converted, "restaurants").values() if row["name"] == "Subway"] == [9]
    stays = _table(converted, "accommodations")
    assert sorted((row["name"], row["price"]) for row in stays.values()) == [
        ("Attic", 30),
        ("Barn", 20),
        ("Hut", 40),
        ("Loft, bright", 50),
    ]
    assert stays["Barn-5"]["minimum_nights"] is None
    assert not stays["Hut-6"]["allows_children"]
    assert stays["Hut-6"]["allows_pets"]


def test_roads_cost_what_upstream_reckons_and_those_without_a_distance_do_not_exist(converted: Path) -> None:
    roads = _table(converted, "transports")
    assert (roads["self-driving.Bonn.Ulm"]["price"], roads["taxi.Bonn.Ulm"]["price"]) == (51, 1039)
    assert (roads["self-driving.Kiel.Bonn"]["price"], roads["taxi.Kiel.Bonn"]["price"]) == (1, 31)
    assert "taxi.Kiel.Ulm" not in roads
    assert roads["taxi.Ulm.Bonn"]["duration"] == 26 * 60


def test_every_task_can_be_posed_and_holds_what_the_query_says(converted: Path) -> None:
    task = load_task(converted / "tasks" / "travelplanner-000.yaml")
    problem = pose(task, open_dataset(str(converted / "data" / "travelplanner")).manifest)
    assert list(problem.sets) == ["stay1", "meals1", "sights1"]
    names = ["nights1", "one_way_of_driving", "parties", "american", "french", "budget"]
    assert [constraint.name for constraint in problem.constraints] == names
    assert task.task.given == {"people": 2}
    state = load_task(converted / "tasks" / "travelplanner-001.yaml").task
    assert "annotated plan" in state.title
    assert state.constraint("no_self_driving").require.count("self-driving") == 3
    assert state.constraint("meals1_to_2").require.endswith("<= 15")
    assert (state.choice("meals2").at_least, state.choice("meals2").at_most) == (3, 9)


def test_an_annotated_plan_becomes_picks(converted: Path) -> None:
    picks = _submissions(converted)["travelplanner-000", "annotated"]
    assert picks == {
        "leg1": "F1",
        "leg2": "F3",
        "stay1": ["Loft-bright-1_2"],
        "meals1": ["Subway-0", "U10-2", "U11-3", "U12-4"],
        "sights1": ["Minster-2"],
    }


def test_what_lies_in_another_city_than_the_day_s_is_told_apart(converted: Path) -> None:
    found = _submissions(converted)
    whole, within = (found["travelplanner-001", agent] for agent in ("annotated", "annotated/in-town"))
    assert whole["sights1"] == ["Minster-2", "Canal-3"]
    assert within["sights1"] == ["Minster-2"]
    assert within["stay2"] == ["Barn-5_1", "Hut-6_1"]
    assert whole == {**within, "sights1": whole["sights1"]}


def test_the_same_source_gives_the_same_bytes(tmp_path: Path, converted: Path) -> None:
    convert(_source(tmp_path / "source"), tmp_path / "out")
    files = [path for path in sorted(converted.rglob("*")) if path.is_file()]
    assert len(files) == 9
    for path in files:
        assert (tmp_path / "out" / path.relative_to(converted)).read_bytes() == path.read_bytes()


def _csv(name: str, old: str, new: str) -> Callable[[Path], None]:
    def change(folder: Path) -> None:
        text = (folder / name).read_bytes().decode()
        assert old in text
        (folder / name).write_bytes(text.replace(old, new, 1).encode())

    return change


def _plan(old: str, new: str) -> Callable[[Path], None]:
    return _csv(PLANS, old, new)


BROKEN = {
    "a missing file": (lambda folder: (folder / "attractions.csv").unlink(), "attractions.csv"),
    "other columns": (_csv("distance.csv", "origin,", "start,"), "distance.csv:1:1: error: this is not the table"),
    "a short row": (_csv("attractions.csv", "Minster,1,", "Minster,"), "attractions.csv:2:1: error: 6 values for 7"),
    "an open quote": (_csv("clean_restaurant_2022.csv", '"French",13', '"French,13'), "not CSV"),
    "a broken price": (_csv("clean_accommodations_2022.csv", "30.0", "30.5"), "price '30.5' is not a whole number"),
    "no room for anybody": (_csv("clean_accommodations_2022.csv", ",2,Ulm", ",0,Ulm"), "is no number of people"),
    "a new house rule": (_csv("clean_accommodations_2022.csv", "No pets", "No fun"), "unknown rule 'No fun'"),
    "a new room type": (_csv("clean_accommodations_2022.csv", "Shared room", "Tent"), "room type 'Tent' is unknown"),
    "a broken distance": (_csv("distance.csv", "800 km", "800 miles"), "distance '800 miles' is not a number of km"),
    "a broken duration": (_csv("distance.csv", "9 hours", "soon"), "duration 'soon' is not a duration"),
    "a flight twice": (_csv("flights_from_ref_info.csv", "F2", "F1"), "comes twice"),
    "a broken date": (_csv("flights_from_ref_info.csv", "2022-03-02", "2022-02-30"), "'2022-02-30' is no date"),
    "a broken time": (_csv("flights_from_ref_info.csv", "13:00", "25:00"), "'25:00' is no time"),
    "not JSON": (_plan("[", "<"), "not JSON"),
    "no idx": (_plan('"idx": 0', '"idy": 0'), "has no idx"),
    "an idx twice": (_plan('"idx": 1', '"idx": 0'), "'travelplanner-000' comes twice"),
    "a plan that is no literal": (
        _plan("[{'days': 1", "[open('x')] + [{'days': 1"),
        "the annotated plan is no list",
    ),
    "an unknown restaurant": (_plan("U10, Ulm", "U19, Ulm"), "idx 0): error: day 2 of the plan has 'U19, Ulm'"),
    "an unknown sight": (_plan("Minster, Ulm;", "Minstrel, Ulm;"), "did you mean 'Minster'?"),
    "an unknown flight": (_plan("Number: F1", "Number: F9"), "which is none of the flights"),
    "a way elsewhere": (_plan("F1, from Bonn to Ulm", "F1, from Bonn to Kiel"), "but leads from Bonn to Ulm"),
    "an unknown way": (_plan("Flight Number: F1,", "Balloon,"), "which is no flight, self-driving or taxi"),
    "a road without distance": (
        _csv("distance.csv", "Ulm,Kiel,,9 hours,800 km", "Ulm,Kiel,,,"),
        "idx 1): error: day 3 of the plan has 'Taxi, from Ulm(Ohio) to Kiel(Ohio)', where no distance is known",
    ),
    "a bed elsewhere": (_plan("Barn, Kiel(Ohio)", "Attic, Ulm(Ohio)"), "ends in Kiel, not Ulm"),
    "a night outside": (_plan("Barn, Kiel(Ohio)", "-"), "day 3 of the plan has a night too many or too few"),
    "another state": (_plan("cities in Ohio", "cities in Utah"), "the plan is in Ohio, the query about Utah"),
    "another town": (_plan("to Ulm for", "to Kiel for"), "the plan visits Ulm, not what the query asks for"),
    "other numbers of days": (_plan("March 3rd", "March 4th"), "speaks of 3 days, its dates of 4"),
    "a query with a surprise": (_plan("We do not plan", "We do not always plan"), "is not understood"),
}


@pytest.mark.parametrize("case", BROKEN)
def test_what_cannot_be_read_is_refused_with_its_place_and_leaves_nothing_behind(tmp_path: Path, case: str) -> None:
    damage, message = BROKEN[case]
    source = _source(tmp_path / "source")
    damage(source)
    with pytest.raises(InputError) as caught:
        convert(source, tmp_path / "out")
    assert message in str(caught.value)
    assert [path.name for path in tmp_path.iterdir()] == ["source"]


def test_a_refusal_names_the_sentence() -> None:
    text = f"{STATE_QUERY} We eat only lunch. Thank you."
    with pytest.raises(TaskError, match="'eat' is not understood") as caught:
        read_query(text, CUISINES, HERE)
    assert caught.value.hint == "the sentence is: We eat only lunch."


@pytest.mark.parametrize(
    ("change", "message"),
    [
        (("budget is $9000", "budget is not $9000"), "has no budget"),
        (("$9000", "$9000.50"), "has no budget"),
        (("a group of 6", "some"), "does not say how many people"),
        (("a group of 6", "a group of 0"), "is 0"),
        (("from the 1st to the 5th of March", "from the 5th to the 1st of March"), "not a first and a last day"),
        (("the 5th of March", "the 32nd of March"), "are no dates"),
        (("from Bonn", "from Bonn or Rome"), "'or' is not understood"),
        (("Our budget", "We like private rooms and entire rooms. Our budget"), "several types of room"),
    ],
)
def test_a_query_that_is_not_clear_is_refused(change: tuple[str, str], message: str) -> None:
    assert change[0] in STATE_QUERY
    with pytest.raises(TaskError, match=message):
        read_query(STATE_QUERY.replace(*change), CUISINES, HERE)


def test_one_person_travels_where_nobody_else_is_spoken_of() -> None:
    text = "Can you devise a plan from Bonn to Ulm between March 9th and 13th, 2022, with a budget of $1,400?"
    with pytest.raises(TaskError, match="has no origin"):
        read_query(text, CUISINES, HERE)
    query = read_query(text.replace("from Bonn", "departing from Bonn"), CUISINES, HERE)
    assert (query.people, query.days, query.budget, query.cities) == (1, 5, 1400, None)


def test_the_command_writes_the_folder(tmp_path: Path, capsys: pytest.CaptureFixture[str]) -> None:
    arguments = [
        "convert",
        "travelplanner",
        str(_source(tmp_path / "source")),
        "--out",
        str(tmp_path / "out"),
        "--json",
    ]
    assert run(arguments) == 0
    assert json.loads(capsys.readouterr().out)["tasks"] == 2


def test_all_real_queries_are_understood_and_all_annotated_plans_resolve(shared: Path, tmp_path: Path) -> None:
    source = shared / "external" / "travelplanner"
    if not source.is_dir():
        pytest.skip("needs TravelPlanner's files in ../shared/external/travelplanner")
    converted = convert(source, tmp_path / "out")
    assert (converted.tasks, converted.submissions) == (38, 39)
    found = _submissions(tmp_path / "out")
    # In one plan the sights of two days lie in cities where the traveller is not.
    assert [task for task, agent in found if agent == "annotated/in-town"] == ["travelplanner-041"]
    manifest = open_dataset(str(tmp_path / "out" / "data" / "travelplanner")).manifest
    for idx in (0, 10, 30, 41):
        pose(load_task(tmp_path / "out" / "tasks" / f"travelplanner-{idx:03}.yaml"), manifest)
    for idx, least, spent in ((0, 1305, 1608), (30, 1170, 1472)):
        task = f"travelplanner-{idx:03}"
        made = verify(tmp_path / "out" / "tasks" / f"{task}.yaml", engines="scan")
        assert made.certificate.claims.optimum is not None
        assert (made.certificate.claims.optimum.value, made.refuted) == (least, ())
        problem = made.problem
        tables = open_data(tmp_path / "out" / "data" / "travelplanner", problem)
        annotated = evaluate(problem, tables, Plan(picks=found[task, "annotated"]))
        assert (annotated.feasible, annotated.value) == (True, spent)
