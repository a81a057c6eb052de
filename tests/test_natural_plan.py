"""Natural Plan in our formats: on sources made by hand, and on a sample of the real one where it is at hand."""

from __future__ import annotations

import copy
import errno
import gzip
import json
import os
import sys
from collections.abc import Callable
from importlib.util import module_from_spec, spec_from_file_location
from itertools import islice
from pathlib import Path
from types import ModuleType
from typing import Any

import pyarrow.parquet as pq
import pytest
from cobench.cli import run
from cobench.schemas.errors import InputError, InputErrors, OutputError
from cobench.schemas.task import load_task
from cobench.tasks.natural_plan import convert

ROOT = Path(__file__).resolve().parent.parent
SAMPLE = 4  # tasks of each kind

TRIP: dict[str, Any] = {
    "prompt": "Three towns in six days.",
    "golden_plan": "A plan:\n\n**Day 1-2:** Arriving in Ulm and visit Ulm for 2 days.\n"
    "**Day 2:** Fly from Ulm to Bonn.\n**Day 2-4:** Visit Bonn for 3 days.\n"
    "**Day 4:** Fly from Bonn to Kiel.\n**Day 4-6:** Visit Kiel for 3 days.",
    "constraints": {
        "trip_length": 6,
        "city_length": [{"city": "Kiel", "days": 3}, {"city": "Ulm", "days": 2}, {"city": "Bonn", "days": 3}],
        "city_day_ranges": [{"city": "Kiel", "start": 4, "end": 6}],
        "direct_flights": [
            {"from": "Ulm", "to": "Bonn"},
            {"from": "Bonn", "to": "Kiel"},
            {"from": "Ulm", "to": "Bonn"},
        ],
    },
}
MEETING: dict[str, Any] = {
    "prompt": "Meet many.",
    "golden_plan": [
        "You start at the Mill at 11:30AM.",
        "You meet Ada for 20 minutes from 12:00PM to 12:20PM.",
        "You meet Bob for 30 minutes from 12:45PM to 1:15PM.",
    ],
    "constraints": {
        "travel_distances": [
            {"place": {"from": here, "to": there}, "walking_time": minutes}
            for here, there, minutes in (
                ("Mill", "Fox's Den", 30),
                ("Fox's Den", "Quay", 25),
                ("Quay", "Fox's Den", 15),
            )
        ],
        "start": {"location": "Mill", "time_of_day": "11:30AM"},
        "people_to_meet": [
            {
                "name": name,
                "location": place,
                "time_of_day": {"from": opens, "to": closes},
                "min_meeting_duration": least,
            }
            for name, place, opens, closes, least in (
                ("Bob", "Quay", "12:30PM", "1:15PM", 30),
                ("Ada", "Fox's Den", "12:00PM", "12:45PM", 20),
                ("Cleo", "Quay", "11:00AM", "12:15PM", 10),
            )
        ],
    },
}
CALENDAR: dict[str, Any] = {
    "prompt": "TASK: The group would like to meet at their earliest availability. TASK: Schedule a meeting.",
    "golden_plan": "Here is the proposed time: Tuesday, 9:00 - 9:30 ",
    "constraints": {
        "meeting_duration": 0.5,
        "disallowed_ranges": [
            {"day": "Tuesday", "start": 0, "end": 9},
            {"day": "Monday", "start": 0, "end": 24},
            {"day": "Tuesday", "start": 9.55, "end": 24},
            {"day": "Tuesday", "start": 9.55, "end": 24},
        ],
    },
}
KINDS = {
    "trip_planning": ("trip-1", TRIP),
    "meeting_planning": ("meeting-1", MEETING),
    "calendar_scheduling": ("calendar-1", CALENDAR),
}


def stay(days: str, place: str) -> dict[str, str]:
    return {"day_range": days, "place": place}


def meeting(person: str, start: str, end: str, place: str | None = None) -> dict[str, str]:
    told = {"action": "meet", "person": person, "start_time": start, "end_time": end}
    return told if place is None else {**told, "location": place}


def write_source(folder: Path, tasks: dict[str, Any], plans: dict[str, list[Any]] | None = None) -> Path:
    """A source with one file for each kind, and submitted plans by a task's stem."""
    folder.mkdir(parents=True, exist_ok=True)
    for stem, (name, _) in KINDS.items():
        if name in tasks:
            (folder / f"{stem}.json").write_text(json.dumps({name: tasks[name]}), encoding="utf-8")
        lines = [
            {
                "task": name,
                "model": f"m{at}",
                "method": "Plan",
                "status": "Wrong plan",
                "violated": {"x": 1},
                "plan": plan,
            }
            for at, plan in enumerate((plans or {}).get(name, []))
        ]
        if lines:
            text = "".join(json.dumps(line) + "\n" for line in lines)
            (folder / f"{stem}_submissions.jsonl.gz").write_bytes(gzip.compress(text.encode(), mtime=0))
    return folder


@pytest.fixture
def source(tmp_path: Path) -> Path:
    return write_source(tmp_path / "source", {name: copy.deepcopy(task) for name, task in KINDS.values()})


def answers(out: Path, task: str) -> list[Any]:
    lines = [json.loads(line) for line in (out / "submissions.jsonl").read_text(encoding="utf-8").splitlines()]
    return [line["answer"] for line in lines if line["task"] == task and line["agent"] != "golden"]


def verified(out: Path, capsys: pytest.CaptureFixture[str]) -> dict[str, Any]:
    """What verify says of each converted task, all of it proved."""
    capsys.readouterr()
    command = ["verify", str(out / "tasks"), "--out", str(out.parent / "certificates"), "--engines", "scan", "--json"]
    assert run(command) == 0
    found = {line["id"]: line for line in map(json.loads, capsys.readouterr().out.splitlines())}
    assert {line["headline"] for line in found.values()} == {"proved"}
    return found


def benchmark() -> ModuleType:
    """The module that tells published verdicts from our violations."""
    spec = spec_from_file_location("natural_plan", ROOT / "benchmarks" / "external" / "natural_plan.py")
    assert spec is not None
    assert spec.loader is not None
    made = module_from_spec(spec)
    sys.modules["natural_plan"] = made  # where dataclasses look their module up
    spec.loader.exec_module(made)
    return made


# ----------------------------------------------------------------------------------------------------- by hand


def test_each_kind_is_solved_as_its_golden_plan_says(
    source: Path, tmp_path: Path, capsys: pytest.CaptureFixture[str]
) -> None:
    converted = convert(source, out := tmp_path / "out")
    assert (converted.tasks, converted.submissions, converted.datasets) == (3, 3, 3)
    found = verified(out, capsys)
    golden = {
        line["task"]: line["answer"]["picks"]
        for line in map(json.loads, (out / "submissions.jsonl").read_text(encoding="utf-8").splitlines())
    }
    trip = found["trip-1"]["claims"]
    assert (trip["count"]["at_least"], trip["optimum"]["plan"]["picks"]) == (1, golden["trip-1"])
    assert found["meeting-1"]["claims"]["optimum"]["value"] == len(golden["meeting-1"]["day"]) == 2
    times = [(pick["start"], pick["end"]) for pick in golden["meeting-1"]["day"]]
    assert times == [("12:00", "12:20"), ("12:45", "13:15")]  # noon is 12:00PM
    calendar = found["calendar-1"]["claims"]
    assert calendar["count"]["at_least"] == calendar["optimum"]["tied"] == 4  # 9:00 to 9:03, as 9.55 hours are 9:33
    assert golden["calendar-1"] == {"start": [{"id": "Tuesday_09.00"}], "end": [{"id": "Tuesday_09.30"}]}
    assert {item.lenient for item in benchmark().judged(out)} == set()  # golden plans were not judged by others


def test_only_the_last_task_of_a_prompt_says_that_the_earliest_time_is_wanted(source: Path, tmp_path: Path) -> None:
    convert(source, tmp_path / "out")
    assert load_task(tmp_path / "out" / "tasks" / "calendar-1.yaml").task.minimize == "0"
    wanted = {**CALENDAR, "prompt": "TASK: x TASK: The group would like to meet at their earlist availability."}
    convert(write_source(tmp_path / "s", {"calendar-1": wanted}), tmp_path / "new")
    assert load_task(tmp_path / "new" / "tasks" / "calendar-1.yaml").task.minimize == "start.since"


def test_submitted_plans_are_carried_over_as_they_are(tmp_path: Path) -> None:
    trips = [
        {"itinerary": [stay("Day 1-9", "Kiel (wedding)"), stay("Day 9", "Ulm"), stay("Day 9 - 2", "Ulm")]},
        {"itinerary": [stay("1-2", "Ulm")]},
        {"itinerary": ["None"]},
        {"itinerary": [stay("Day 1-2", "")]},
        {"itinerary": []},
        {},
    ]
    meetings = [
        {"itinerary": [meeting("Ada", "13:5", "9:00", "Fox's Den"), meeting("Bob", "9:15", "9:30")]},
        {"itinerary": [meeting("Ada", "13:05", "13:10", "Quay"), meeting("You", "14:00", "15:00", "Mill")]},
        {"itinerary": [meeting("Ada", "23:50", "24:10", "Fox's Den")]},
    ]
    times = [("Tuesday", "9:01", "09:31"), ("Monday", None, None), ("", "", "")]
    calendars = [{"day": day, "start_time": start, "end_time": end} for day, start, end in times]
    plans = {"trip-1": trips, "meeting-1": meetings, "calendar-1": calendars}
    convert(write_source(tmp_path / "source", dict(KINDS.values()), plans), out := tmp_path / "out")
    assert answers(out, "trip-1") == [
        {
            "picks": {
                "trip": [
                    {"id": "Kiel (wedding)", "start": 1, "end": 9},
                    {"id": "Ulm", "start": 9, "end": 9},
                    {"id": "Ulm", "start": 9, "end": 2},
                ]
            }
        },
        *(json.dumps(trips[at]) for at in (1, 2, 3)),
        None,
        None,
    ]
    by_time = [{"id": "Bob", "start": "09:15", "end": "09:30"}, {"id": "Ada", "start": "13:05", "end": "09:00"}]
    elsewhere = [
        {"id": "Ada at Quay", "start": "13:05", "end": "13:10"},
        {"id": "You", "start": "14:00", "end": "15:00"},
    ]
    unread = json.dumps(meetings[2])
    assert answers(out, "meeting-1") == [{"picks": {"day": by_time}}, {"picks": {"day": elsewhere}}, unread]
    moments = {"start": [{"id": "Tuesday_09.01"}], "end": [{"id": "Tuesday_09.31"}]}
    assert answers(out, "calendar-1") == [{"picks": moments}, None, json.dumps(calendars[2])]
    assert '"published": "Wrong plan: x"' in (out / "submissions.jsonl").read_text(encoding="utf-8")


def test_the_lenient_clauses_are_the_only_difference_to_the_prompt(tmp_path: Path) -> None:
    plans = {
        "trip-1": [
            {"itinerary": [stay("Day 1-3", "Ulm"), stay("Day 3-4", "Bonn"), stay("Day 4-6", "Kiel")]},  # lengths
            {"itinerary": [stay("Day 1-2", "Ulm"), stay("Day 2-3", "Bonn"), stay("Day 4-6", "Kiel")]},  # a gap
            {"itinerary": [stay("Day 1-2", "Bonn"), stay("Day 2-4", "Ulm"), stay("Day 4-6", "Kiel")]},  # no flight
        ],
        "meeting-1": [
            {"itinerary": [meeting("Ada", "12:00", "12:10"), meeting("You", "12:20", "12:21")]},  # too short, nobody
            {"itinerary": [meeting("Ada", "12:00", "12:20")]},  # one too few
            {"itinerary": [meeting("Ada", "12:00", "12:25"), meeting("Bob", "12:45", "13:15")]},  # no time for the way
        ],
        "calendar-1": [{"day": "Tuesday", "start_time": "9:00", "end_time": "10:00"}],
    }
    convert(write_source(tmp_path / "source", dict(KINDS.values()), plans), tmp_path / "out")
    found = [(item.lenient, item.strict) for item in benchmark().judged(tmp_path / "out")]
    assert found[0] == (True, ("trip.lasts",))
    assert [lenient for lenient, _ in found[1:3]] == [False, False]
    assert "trip.wait" in (found[1][1] or ())
    assert "trip.travel" in (found[2][1] or ())
    assert found[3][0] is True
    assert "unknown offer" in (found[3][1] or ())
    assert found[4] == (False, ())
    assert found[5] == (False, ("day.travel",))
    assert found[6] == (False, ("length",))


def test_the_same_source_gives_the_same_bytes(source: Path, tmp_path: Path) -> None:
    for name in ("one", "two"):
        convert(source, tmp_path / name)
    files = [path.relative_to(tmp_path / "one") for path in (tmp_path / "one").rglob("*") if path.is_file()]
    assert len(files) == 3 + 3 + 5 + 1
    for path in files:
        assert (tmp_path / "one" / path).read_bytes() == (tmp_path / "two" / path).read_bytes()


def test_one_file_can_be_converted_alone(source: Path, tmp_path: Path, capsys: pytest.CaptureFixture[str]) -> None:
    assert run(["convert", "natural-plan", str(source / "trip_planning.json"), "--out", str(tmp_path / "out")]) == 0
    assert "1 tasks and 1 submitted plans" in capsys.readouterr().out


# ------------------------------------------------------------------------------------------------------- patch


PATCH = """natural_plan_patch: 1
tasks:
  trip-1:
    direct_flights:
      - {from: FROM, to: TO, reason: The plan takes it.}
"""


def patched(source: Path, tmp_path: Path, text: str) -> Path:
    (tmp_path / "patch.yaml").write_text(text, encoding="utf-8")
    convert(source, out := tmp_path / "out", tmp_path / "patch.yaml")
    return out


def test_a_patch_puts_a_flight_back(source: Path, tmp_path: Path) -> None:
    out = patched(source, tmp_path, PATCH.replace("FROM", "Kiel").replace("TO", "Ulm"))
    flights = pq.read_table(out / "data" / "trip-1" / "direct_flight.parquet").to_pylist()
    assert [(row["origin"], row["destination"]) for row in flights] == [
        ("Bonn", "Kiel"),
        ("Kiel", "Ulm"),
        ("Ulm", "Bonn"),
    ]


@pytest.mark.parametrize(
    ("text", "said"),
    [
        (PATCH.replace("FROM", "Ulm").replace("TO", "Bonn"), "Ulm -> Bonn of the patch is there already"),
        (PATCH.replace("FROM", "Rome").replace("TO", "Ulm"), "'Rome', which is not to be visited"),
        (PATCH.replace("trip-1", "trip-2"), "no task 'trip-2' to be patched"),
        (PATCH.replace("trip-1", "meeting-1"), "flights for a task without any"),
        (PATCH.replace(", reason: The plan takes it.", ""), "reason"),
        ("natural_plan_patch: 2\ntasks: {}\n", "natural_plan_patch"),
        ("tasks: [", "not valid YAML"),
    ],
)
def test_a_patch_of_what_was_never_lost_is_refused(source: Path, tmp_path: Path, text: str, said: str) -> None:
    with pytest.raises((InputError, InputErrors), match=said):
        patched(source, tmp_path, text)
    assert not (tmp_path / "out").exists()


def test_the_shipped_patch_gives_a_reason_for_each_flight() -> None:
    text = (ROOT / "benchmarks" / "external" / "natural_plan_patch.yaml").read_text(encoding="utf-8")
    assert text.count("from: ") == text.count("reason: ") == 2


# --------------------------------------------------------------------------------------------------- bad input


Change = Callable[[dict[str, Any]], Any]


@pytest.mark.parametrize(
    ("stem", "change", "said"),
    [
        ("trip_planning", lambda it: it["constraints"].pop("trip_length"), "#/trip-1/constraints: .*is needed"),
        ("trip_planning", lambda it: it["constraints"].update(trip_length=2.5), "/trip_length: .*whole number.* 5/2"),
        ("trip_planning", lambda it: it["constraints"].update(trip_length=True), "/trip_length: .*this is true"),
        ("trip_planning", lambda it: it["constraints"].update(city_length={}), "/city_length: .*a list is needed"),
        ("trip_planning", lambda it: it["constraints"]["city_length"][1].pop("days"), "/city_length/1: .*'days' is"),
        ("trip_planning", lambda it: it["constraints"]["city_length"][1].update(city="Kiel"), "stands here twice"),
        ("trip_planning", lambda it: it["constraints"]["city_length"][1].update(city="a b"), "cannot be an id"),
        ("trip_planning", lambda it: it["constraints"]["city_day_ranges"][0].update(city="Rome"), "/0/city: .*'Rome'"),
        ("trip_planning", lambda it: it.update(golden_plan="Stay at home."), "/golden_plan: .*one stay for each city"),
        ("meeting_planning", lambda it: it["constraints"]["start"].update(time_of_day="13:00PM"), "/start/time_of_day"),
        (
            "meeting_planning",
            lambda it: it["constraints"]["people_to_meet"][0].update(name="Ada"),
            "'Ada' stands here tw",
        ),
        (
            "meeting_planning",
            lambda it: it["constraints"]["travel_distances"].append(it["constraints"]["travel_distances"][0]),
            "/travel_distances/3/place: .*stands here twice",
        ),
        (
            "meeting_planning",
            lambda it: it.update(golden_plan=["You meet Ada at noon."]),
            "/golden_plan/0: .*cannot be",
        ),
        ("calendar_scheduling", lambda it: it["constraints"].update(meeting_duration=0.501), "no whole minutes"),
        ("calendar_scheduling", lambda it: it["constraints"]["disallowed_ranges"][0].update(day="Mon"), "no day of"),
        ("calendar_scheduling", lambda it: it["constraints"]["disallowed_ranges"][0].update(end=0), "ends before it"),
        ("calendar_scheduling", lambda it: it.update(golden_plan="Tuesday"), "/golden_plan: .*a day and two times"),
        ("calendar_scheduling", lambda it: it.pop("prompt"), "'prompt' is missing"),
    ],
)
def test_what_cannot_be_read_is_refused_with_its_place(
    tmp_path: Path, stem: str, change: Change, said: str, capsys: pytest.CaptureFixture[str]
) -> None:
    name, task = KINDS[stem]
    changed = copy.deepcopy(task)
    change(changed)
    folder = write_source(tmp_path / "source", {name: changed})
    with pytest.raises(InputError, match=said):
        convert(folder, tmp_path / "out")
    assert run(["convert", "natural-plan", str(folder), "--out", str(tmp_path / "out")]) == 2
    assert f"{stem}.json#/{name}" in capsys.readouterr().err
    assert [path.name for path in tmp_path.iterdir()] == ["source"]  # nothing was left behind


@pytest.mark.parametrize(
    ("content", "said"),
    [
        (b'{"trip-1": {', "not valid JSON"),
        (b"[]", "an object is needed"),
        (b'{"a": {}, "a": {}}', "the key 'a' stands here twice"),
        (b'{"a": NaN}', "NaN is no number"),
        (b'{"a": "\xff"}', "not UTF-8"),
        (b'{"a": "\\ud800"}', "surrogate"),
        (b"[" * 100_000, "nested too deep"),
        (b'{"a": ' + b"9" * 5_000 + b"}", "not readable"),
        (json.dumps({"../x": TRIP}).encode(), "'../x' cannot name a"),
        (json.dumps({"x" * 129: TRIP}).encode(), "cannot name a"),
    ],
)
def test_files_that_are_no_source_are_refused(tmp_path: Path, content: bytes, said: str) -> None:
    (file := tmp_path / "trip_planning.json").write_bytes(content)
    with pytest.raises(InputError, match=said):
        convert(file, tmp_path / "out")
    assert [path.name for path in tmp_path.iterdir()] == [file.name]


def test_a_source_that_is_not_there_is_refused(tmp_path: Path) -> None:
    with pytest.raises(InputError, match="No such file"):
        convert(tmp_path / "nowhere", tmp_path / "out")
    with pytest.raises(InputError, match="none of the files"):
        convert(tmp_path, tmp_path / "out")


LINE = {"task": "trip-1", "model": "m", "method": "p", "status": "Correct", "violated": {}, "plan": {}}


@pytest.mark.parametrize(
    ("content", "said"),
    [
        (b"plain", "not a whole gzip file"),
        (gzip.compress(b"{}", mtime=0)[:-4], "not a whole gzip file"),
        (gzip.compress(b"\n{", mtime=0), "gz:2:2: error: not valid JSON"),
        (gzip.compress(b"{}", mtime=0), "gz:1:1: error: the key 'task' is missing"),
        (gzip.compress(json.dumps({**LINE, "task": "x"}).encode(), mtime=0), "/task: there is no task 'x'"),
        (
            gzip.compress(json.dumps({**LINE, "plan": 7}).encode(), mtime=0),
            "/plan: an object is needed here, this is 7",
        ),
        (
            gzip.compress((json.dumps(LINE) + "\n").encode() * 2, mtime=0),
            "gz:2:1: error: a second plan of m/p for 'trip-1'",
        ),
    ],
)
def test_submissions_that_cannot_be_read_are_refused(source: Path, tmp_path: Path, content: bytes, said: str) -> None:
    (source / "trip_planning_submissions.jsonl.gz").write_bytes(content)
    with pytest.raises(InputError) as refused:
        convert(source, tmp_path / "out")
    assert said in str(refused.value)
    assert not (tmp_path / "out").exists()


def test_a_task_that_comes_twice_is_refused(source: Path, tmp_path: Path) -> None:
    (source / "meeting_planning.json").write_text(json.dumps({"trip-1": MEETING}), encoding="utf-8")
    with pytest.raises(InputError, match="'trip-1' comes twice"):
        convert(source, tmp_path / "out")


# ---------------------------------------------------------------------------------------------------- all or nothing


def test_what_is_there_already_stays(source: Path, tmp_path: Path) -> None:
    (tmp_path / "file").write_text("mine", encoding="utf-8")
    (tmp_path / "full").mkdir()
    (tmp_path / "full" / "mine").write_text("mine", encoding="utf-8")
    (tmp_path / "link").symlink_to(source, target_is_directory=True)
    for out, said in (("file", "not an empty"), ("full", "not an empty"), ("source/out", "in the source"),
                      ("link/out", "in the source"), ("file/out", "cannot write")):  # fmt: skip
        with pytest.raises(OutputError, match=said):
            convert(source, tmp_path / out)
    assert sorted(path.name for path in tmp_path.iterdir()) == ["file", "full", "link", "source"]
    (tmp_path / "empty").mkdir()
    convert(source, tmp_path / "empty")
    assert (tmp_path / "empty" / "submissions.jsonl").exists()


def test_a_full_disk_leaves_nothing_behind(source: Path, tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    def full(*_: object, **__: object) -> None:
        raise OSError(errno.ENOSPC, os.strerror(errno.ENOSPC))

    monkeypatch.setattr("pyarrow.parquet.write_table", full)
    with pytest.raises(OutputError, match="No space left"):
        convert(source, tmp_path / "out")
    assert [path.name for path in tmp_path.iterdir()] == ["source"]


# ------------------------------------------------------------------------------------------------- the real source


@pytest.fixture(scope="module")
def sample(shared: Path, tmp_path_factory: pytest.TempPathFactory) -> Path:
    """The first tasks of each kind, converted with their submitted plans."""
    real = shared / "external" / "natural_plan"
    if not real.is_dir():
        pytest.skip("needs Natural Plan's files in ../shared/external/natural_plan")
    folder = tmp_path_factory.mktemp("natural-plan")
    for stem in KINDS:
        tasks = json.loads((real / f"{stem}.json").read_bytes())
        tasks = dict(islice(tasks.items(), SAMPLE))
        (folder / f"{stem}.json").write_text(json.dumps(tasks), encoding="utf-8")
        with gzip.open(real / f"{stem}_submissions.jsonl.gz", "rb") as stream:
            lines = [line for line in stream if json.loads(line)["task"] in tasks]
        (folder / f"{stem}_submissions.jsonl.gz").write_bytes(gzip.compress(b"".join(lines), mtime=0))
    patch = (ROOT / "benchmarks" / "external" / "natural_plan_patch.yaml").read_text(encoding="utf-8")
    (kept := folder / "patch.yaml").write_text(patch.partition("  trip_planning_example_1487")[0], encoding="utf-8")
    convert(folder, folder.with_name("converted"), kept)
    return folder.with_name("converted")


def test_real_tasks_have_the_known_answers(sample: Path, capsys: pytest.CaptureFixture[str]) -> None:
    found = verified(sample, capsys)
    assert len(found) == 3 * SAMPLE
    lines = map(json.loads, (sample / "submissions.jsonl").read_text(encoding="utf-8").splitlines())
    for line in (line for line in lines if line["agent"] == "golden"):
        claims, golden = found[line["task"]]["claims"], line["answer"]["picks"]
        if "trip" in golden:
            assert (claims["count"]["at_most"], claims["optimum"]["plan"]["picks"]) == (1, golden)
        elif "day" in golden:
            assert claims["optimum"]["value"] == len(golden["day"])


def test_published_verdicts_are_told_from_violations(sample: Path) -> None:
    made = benchmark()
    found = list(made.judged(sample))
    assert len(found) > 100
    missed = [item for item in found if item.correct != bool(item.lenient)]
    assert len(missed) * 100 <= len(found)
    assert all(made.cause(item) for item in missed)
