"""Flights of tau-bench's airline and requests for trips, converted; every trip held against plain brute force."""

from __future__ import annotations

import itertools
import json
from importlib.util import find_spec
from pathlib import Path
from typing import Any

import pytest
from cobench import verification
from cobench.datasets.opening import open_dataset
from cobench.schemas.errors import CobenchError, TaskError
from cobench.schemas.problem import pose
from cobench.schemas.task import load_task
from cobench.tasks.converted import Converted
from cobench.tasks.tau_airline import convert

ROOT = Path(__file__).resolve().parent.parent
REQUESTS = ROOT / "benchmarks" / "external" / "tau_requests.yaml"
ENGINES = find_spec("cobench.solver.sets.lower") is not None
ASKED = """requests:
  trip-1: {date: "2024-05-02", from: AAA, to: CCC, cabin: basic_economy, stops: 1, itinerary: [F1, F2], published: ok}
"""


def flights() -> dict[str, Any]:
    """F1 and F2 lead from AAA by BBB to CCC, F2 after midnight; F3 goes directly, but is sold out."""

    def flight(number: str, origin: str, destination: str, departs: str, arrives: str, price: int, seats: int) -> Any:
        offer = {
            "status": "available",
            "available_seats": {"basic_economy": seats, "business": 1},
            "prices": {"basic_economy": price, "business": 10 * price},
        }
        return {
            "flight_number": number,
            "origin": origin,
            "destination": destination,
            "scheduled_departure_time_est": departs,
            "scheduled_arrival_time_est": arrives,
            "dates": {"2024-05-01": {"status": "landed"}, "2024-05-02": offer},
        }

    found = [
        flight("F1", "AAA", "BBB", "18:00:00", "22:00:00", 50, 2),
        flight("F2", "BBB", "CCC", "22:00:00", "01:30:00+1", 60, 1),
        flight("F3", "AAA", "CCC", "08:00:00", "09:00:00", 10, 0),
        flight("F4", "BBB", "CCC", "21:59:00", "23:00:00", 20, 5),
    ]
    return {item["flight_number"]: item for item in found}


def converted(tmp_path: Path, content: Any, asked: str = ASKED) -> Converted:
    source = tmp_path / "source"
    source.mkdir(exist_ok=True)
    (source / "flights.json").write_text(content if isinstance(content, str) else json.dumps(content))
    (tmp_path / "requests.yaml").write_text(asked)
    return convert(source, tmp_path / "out", tmp_path / "requests.yaml")


def test_flights_become_offers_and_a_request_a_route(tmp_path: Path) -> None:
    assert converted(tmp_path, flights()) == Converted(tasks=1, submissions=1, datasets=1)
    path = tmp_path / "out" / "tasks" / "trip-1.yaml"
    task = load_task(path)
    data = open_dataset(task.task.dataset, path.parent)
    problem = pose(task, data.manifest)
    table = data.table(problem.world, "flights")
    rows = list(zip(table.columns["departs"].values.tolist(), table.columns["arrives"].values.tolist(), strict=True))
    assert rows == [(1080, 1320)] * 2 + [(1320, 1530)] * 2 + [(480, 540)] * 2 + [(1319, 1380)] * 2
    route = problem.sets["trip"].route
    assert route is not None
    assert (problem.sets["trip"].at_least, problem.sets["trip"].at_most) == (1, 2)
    assert (route.start_place, route.start_time, route.end_place) == ("AAA", None, "CCC")
    line = json.loads((tmp_path / "out" / "submissions.jsonl").read_text())
    ids = ["F1_2024-05-02_basic-economy", "F2_2024-05-02_basic-economy"]
    assert line == {
        "task": "trip-1",
        "agent": "published",
        "answer": {"picks": {"trip": [{"id": id_} for id_ in ids]}},
        "published": "ok",
    }


@pytest.mark.skipif(not ENGINES, reason="needs the engines of routes")
def test_a_trip_connects_in_place_and_in_time(tmp_path: Path) -> None:
    converted(tmp_path, flights())
    found = verification.verify(tmp_path / "out" / "tasks" / "trip-1.yaml")
    claims = found.certificate.claims
    assert claims.optimum is not None  # F3 has no seat, F4 leaves a minute too early, F2 as F1 arrives
    assert claims.optimum.value == 110
    assert claims.count is not None
    assert claims.count.at_most == 1


def changed(path: tuple[str, ...], value: Any) -> dict[str, Any]:
    """The flights with one value put elsewhere; None takes it away."""
    content = flights()
    place: Any = content
    for step in path[:-1]:
        place = place[step]
    if value is None:
        del place[path[-1]]
    else:
        place[path[-1]] = value
    return content


OFFER = ("F1", "dates", "2024-05-02")


@pytest.mark.parametrize(
    ("path", "value", "words"),
    [
        (("F1", "origin"), None, "F1: a flight has origin, destination"),
        (("F1", "origin"), "Aaa", "F1: 'Aaa' is not an airport"),
        (("F1", "flight_number"), "F9", "F1: its flight_number is 'F9'"),
        (("F1", "scheduled_departure_time_est"), "24:00:00", "are not times"),
        (("F1", "scheduled_departure_time_est"), "18:00:30", "are not times"),
        (("F1", "scheduled_departure_time_est"), "18:00:00+1", "are not times"),
        (("F1", "scheduled_arrival_time_est"), "17:00:00", "one after the other"),
        (("F1", "scheduled_arrival_time_est"), 22, "are not times"),
        (("F1", "dates"), [], "its dates are not by date"),
        (("F1", "dates", "2024-02-30"), {"status": "landed"}, "F1 on 2024-02-30: a date is written"),
        ((*OFFER, "status"), None, "F1 on 2024-05-02: there is no status"),
        ((*OFFER, "prices"), None, "has prices and available_seats"),
        ((*OFFER, "prices", "economy"), 5, "of the same cabins"),
        ((*OFFER, "prices", "business"), 5.5, "whole numbers, not 5.5"),
        ((*OFFER, "prices", "business"), True, "whole numbers, not True"),
        ((*OFFER, "available_seats", "business"), -1, "whole numbers, not -1"),
        (("f-1",), {}, "a flight's number"),
    ],
)
def test_malformed_flights_are_refused(tmp_path: Path, path: tuple[str, ...], value: Any, words: str) -> None:
    with pytest.raises(TaskError) as refused:
        converted(tmp_path, changed(path, value))
    assert words in refused.value.message
    assert "flights.json" in str(refused.value)
    assert not (tmp_path / "out").exists()


@pytest.mark.parametrize(
    ("text", "words"),
    [
        ("[]", "a JSON object of flights"),
        ("{", "flights.json:1:2: error: not JSON"),
        ('{"F1": {}, "F1": {}}', "the key 'F1' stands there twice"),
        ("[" * 100_000, "not JSON"),
    ],
)
def test_what_is_no_file_of_flights_is_refused(tmp_path: Path, text: str, words: str) -> None:
    with pytest.raises(TaskError) as refused:
        converted(tmp_path, text)
    assert words in str(refused.value)


@pytest.mark.parametrize(
    ("old", "new", "words"),
    [
        ("2024-05-02", "2024-5-2", "2:19: error: '2024-5-2' is not a date"),
        ("from: AAA", "from: AAB", "no flight goes from or to 'AAB'"),
        ("basic_economy", "basic-economy", "no flight has a cabin 'basic-economy'"),
        ("stops: 1", "stops: -1", "this must be at least 0"),
        ("stops: 1", "stops: 1, not_before: 11", "text is needed here"),
        ("stops: 1", 'stops: 1, not_before: "11"', "'11' is not a time of day"),
        ("[F1, F2]", "[F1, F9]", "there is no flight 'F9'"),
        ("[F1, F2]", "[]", "at least 1 must be given"),
        (" itinerary: [F1, F2],", "", "what is published is said of an itinerary"),
        ("stops: 1", "stop: 1", "unknown key 'stop'"),
        ("trip-1", "trip/1", "'trip/1' cannot name a task"),
    ],
)
def test_a_request_that_does_not_fit_is_refused(tmp_path: Path, old: str, new: str, words: str) -> None:
    assert old in ASKED
    with pytest.raises(CobenchError) as refused:
        converted(tmp_path, flights(), ASKED.replace(old, new))
    assert words in str(refused.value)
    assert not (tmp_path / "out").exists()


def trips(content: dict[str, Any], date: str, origin: str, destination: str, not_before: int) -> list[int]:
    """The prices of all trips in economy with at most one stop, by trying every flight and every pair."""

    def minutes(clock: str) -> int:
        return int(clock[:2]) * 60 + int(clock[3:5]) + 1440 * clock.endswith("+1")

    offers = [
        (flight["origin"], flight["destination"], minutes(flight["scheduled_departure_time_est"]),
         minutes(flight["scheduled_arrival_time_est"]), state["prices"]["economy"])
        for flight in content.values()
        if (state := flight["dates"].get(date, {})).get("status") == "available" and state["available_seats"]["economy"]
    ]  # fmt: skip
    first = [offer for offer in offers if offer[0] == origin and offer[2] >= not_before]
    last = [offer for offer in offers if offer[1] == destination]
    single = [offer[4] for offer in first if offer[1] == destination]
    pairs = [a[4] + b[4] for a, b in itertools.product(first, last) if a[1] == b[0] and a[3] <= b[2]]
    return sorted(single + pairs)


@pytest.mark.skipif(not ENGINES, reason="needs the engines of routes")
def test_the_answers_that_are_known_are_the_exact_ones(shared: Path, tmp_path: Path) -> None:
    source = shared / "external" / "tau_airline"
    if not source.is_dir():
        pytest.skip("needs ../shared/external/tau_airline")
    assert convert(source, tmp_path / "out", REQUESTS) == Converted(tasks=3, submissions=3, datasets=1)
    content = json.loads((source / "flights.json").read_text())
    for name, asked, known in (
        ("tau-atl-phl", ("2024-05-24", "ATL", "PHL", 0), {0: 207}),
        ("tau-jfk-sfo", ("2024-05-24", "JFK", "SFO", 0), {1: 290}),
        ("tau-jfk-sea", ("2024-05-20", "JFK", "SEA", 660), {0: 255}),
    ):
        prices = trips(content, *asked)
        assert {place: prices[place] for place in known} == known
        found = verification.verify(tmp_path / "out" / "tasks" / f"{name}.yaml", engines="scan")
        shape = found.certificate.claims.distribution
        assert shape is not None
        assert [value for value, number in shape.values for _ in range(int(number))] == prices
