"""Choices of several rows as a task writes them: what is refused, where, and with what hint."""

# ruff: noqa: E501  (a case is a row of a table)

from __future__ import annotations

import shutil
from pathlib import Path

import pytest
from cobench.cli import run
from cobench.datasets.opening import open_dataset
from cobench.schemas.problem import Problem, pose
from cobench.schemas.task import parse_task

WORLD = Path(__file__).resolve().parent / "certificates" / "world"
TASK = """\
cobench: 1
id: several
dataset: world
given:
  guests: 3
choose:
  room: rooms
  ride: {CHOICE}
constraints:
  fine: {CONDITION}
minimize: room.total
"""
SET, TOUR = "{any_of: trains}", "{route: trains, lasts: minutes}"
FINE = "room.coast"

# A choice, a constraint, and what is said.
WRONG: list[tuple[str, str, tuple[str, ...]]] = [
    ("{one: trains, any_of: trains}", FINE, ("task.yaml:8:9: error: a choice has exactly one of one, any_of and route",)),
    ("{where: minutes > 3}", FINE, ("task.yaml:8:9: error: a choice has exactly one of one, any_of and route",)),
    ("{one: trains, at_most: 3}", FINE, ("task.yaml:8:9: error: 'at_most' does not go with one",)),
    ("{any_of: trains, lasts: minutes}", FINE, ("task.yaml:8:9: error: 'lasts' does not go with any_of",)),
    ("{route: trains, per: station}", FINE, ("task.yaml:8:9: error: 'per' does not go with route",)),
    ("{any_of: trains, at_least: 3, at_most: 2}", FINE, ("task.yaml:8:9: error: at_least 3 is more than at_most 2",)),
    ("{any_of: trains, at_least: -1}", FINE, ("task.yaml:8:36: error: this must be at least 0",)),
    ("{any_of: trians}", FINE, ("task.yaml:8:18: error: the table 'trians' does not exist", "hint: did you mean 'trains'?")),
    ("{any_of: trains, per: staton}", FINE, ("task.yaml:8:31: error: 'trains' has no column 'staton'", "hint: did you mean 'station'?")),
    ("{any_of: trains, where: minuts > 3}", FINE, ("task.yaml:8:33: error: unknown name 'minuts'", "hint: did you mean 'minutes'?")),
    ("{any_of: trains, where: minutes}", FINE, ("task.yaml:8:33: error: a condition is needed here",)),
    ("{any_of: trains, where: room.coast}", FINE, ("task.yaml:8:33: error: unknown choice 'room'",)),
    ("{route: trains, lasts: station}", FINE, ("task.yaml:8:32: error: ", "text")),
    ("{route: trains, lasts: -5}", FINE, ("task.yaml:8:32: error: a visit cannot take less than no time",)),
    ("{route: trains, opens: station}", FINE, ("task.yaml:8:32: error: a point in time is needed here, this is text",)),
    ("{route: trains, opens: arrives_on, closes: minutes}", FINE, ("task.yaml:8:52: error: 'closes' is a number in min, the other times are a date",)),
    ("{route: trains, travel: walk}", FINE, ("task.yaml:8:33: error: travel needs to know where a visit takes place", "hint: at:")),
    ("{route: trains, at: station, travel: wlak}", FINE, ("task.yaml:8:46: error: no relation 'wlak'", "hint: did you mean 'walk'?")),
    ("{route: trains, at: minutes, travel: walk}", FINE, ("task.yaml:8:46: error: 'walk' is not about two places such as 'at' gives",)),
    ("{route: trains, at: {from: station, to: minutes}}", FINE, ("task.yaml:8:29: error: a row leads from text to a number in min",)),
    ("{route: trains, lasts: minutes, start: {time: noon}}", FINE, ("task.yaml:8:55: error: 'noon' is not",)),
    ("{route: trains, lasts: minutes, start: {at: Foss}}", FINE, ("task.yaml:8:53: error: the route does not say where its visits take place",)),
    ("{route: trains, lasts: minutes, wait: {at_most: -1}}", FINE, ("task.yaml:8:57: error: this must be at least 0",)),
    ("{route: trains, lasts: minutes, wait: 3}", FINE, ("task.yaml:8:47: error: a mapping (key: value) is needed here",)),
    (SET, "ride.minutes <= 3", ("task.yaml:10:9: error: 'ride' is a set of rows, not one row", "hint: write for example sum(x.minutes for x in ride)")),
    (SET, "sum(r.minuts for r in ride) <= 3", ("error: 'ride' has no column 'minuts'", "hint: did you mean 'minutes'?")),
    (SET, "sum(r.minutes for r in rides) <= 3", ("error: unknown set 'rides'", "hint: did you mean 'ride'?")),
    (SET, "sum(r.beds for r in room) <= 3", ("error: sum(… for r in room) is not possible, because 'room' is exactly one row",)),
    (SET, "sum(room.minutes for room in ride) <= 3", ("error: 'room' means something else already",)),
    (SET, "sum(count(q for q in ride) for r in ride) <= 3", ("error: not supported, because an aggregate stands within another",)),
    (SET, "sum(r.station for r in ride) <= 3", ("error: a number is needed here, this is text",)),
    (SET, "max(r.station for r in ride) == 3", ("error: text has no order",)),
    (SET, "all(r.minutes for r in ride)", ("error: a condition is needed here, this is a number in min",)),
    (SET, "mean(r.minutes for r in ride) <= 3", ("error: 'mean' is not an aggregate",)),
    (SET, "sum(r for r in ride) <= 3", ("error: 'r' is a choice; name one of its columns",)),
    (SET, "sum(r.minutes for r in ride for q in ride) <= 3", ("error: an aggregate is written f(x.column for x in choice if condition)",)),
    (SET, "sum(r.minutes * room.beds for r in ride) <= 3", ("error: a product of two choices is not supported",)),
    (SET, "ride.ends <= 3", ("error: 'ride' is a set of rows, not one row",)),
    (TOUR, "ride.takes <= 3", ("error: 'ride' is a set of rows, not one row",)),  # it has no time of start
    (TOUR, "sum(r.minutes for r in ride if r.minutes) <= 3", ("error: a condition is needed here",)),
]  # fmt: skip


def written(choice: str, condition: str) -> str:
    return TASK.replace("{CHOICE}", choice).replace("{CONDITION}", condition)


def posed(choice: str, condition: str = FINE) -> Problem:
    return pose(parse_task(written(choice, condition)), open_dataset(str(WORLD)).manifest)


@pytest.mark.parametrize(("choice", "condition", "says"), WRONG, ids=[f"{choice} {fine}" for choice, fine, _ in WRONG])
def test_what_is_wrong_with_a_choice_is_told_with_its_place(
    choice: str,
    condition: str,
    says: tuple[str, ...],
    tmp_path: Path,
    monkeypatch: pytest.MonkeyPatch,
    capsys: pytest.CaptureFixture[str],
) -> None:
    shutil.copytree(WORLD, tmp_path / "world")
    (tmp_path / "task.yaml").write_text(written(choice, condition), encoding="utf-8")
    monkeypatch.chdir(tmp_path)
    assert run(["verify", "task.yaml", "--out", "out"]) == 2
    shown = capsys.readouterr()
    for part in says:
        assert part in shown.err
    assert shown.err.count("error: ") == 1
    assert shown.out == ""
    assert not (tmp_path / "out").exists()


def test_rows_that_where_excludes_belong_to_a_table_of_their_own() -> None:
    plain, narrow = posed("trains"), posed("{one: trains, where: minutes > 30}")
    assert plain.choices["ride"] == "trains"
    assert narrow.choices["ride"] == "trains where minutes > 30"
    assert narrow.world.tables["trains where minutes > 30"].base == "trains"
    assert narrow.tables() == plain.tables()  # digests are of files, and there is no other


def test_a_choice_of_one_row_has_the_digest_that_it_had_in_short() -> None:
    assert posed("trains").digest == posed("{one: trains}").digest
    assert posed("trains").digest != posed(SET).digest != posed(TOUR).digest


def test_a_route_knows_its_axis_and_its_relation() -> None:
    problem = posed("{route: trains, at: station, opens: 3, lasts: minutes, start: {time: 0}}", "ride.takes <= 90")
    route = problem.sets["ride"].route
    assert route is not None
    assert (route.axis.kind, route.axis.unit, route.start_time) == ("number", "min", 0)
