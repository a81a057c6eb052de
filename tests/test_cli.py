"""The command line, command by command: what it prints, what it writes, and its exit codes."""

from __future__ import annotations

import io
import itertools
import json
import shutil
import sys
from collections.abc import Callable
from dataclasses import replace
from pathlib import Path
from typing import Any

import cobench
import pytest
from cobench.cli import common, run
from cobench.schemas.version import VERSION
from cobench.solver import scan

HERE = Path(__file__).resolve().parent / "certificates"
ROOT = Path(cobench.__file__).resolve().parent
PARKS = ROOT / "tasks" / "parks"
NAMES = ("cheapest", "gold", "nowhere", "wishes")
BEST = "picks: {room: room_a2_2, train: train_t6}"
COMMANDS = [
    "verify", "check", "score", "solve", "rank", "best", "explain", "init", "schema", "completion", "data build",
    "data describe",
]  # fmt: skip

Run = Callable[..., Any]


class Shell:
    """Runs commands in this process and remembers what they print."""

    def __init__(self, capsys: pytest.CaptureFixture[str]) -> None:
        self._capsys = capsys
        self.out = self.err = ""

    def __call__(self, *args: str | Path) -> int:
        self._capsys.readouterr()
        code = run(list(map(str, args)))
        self.out, self.err = self._capsys.readouterr()
        assert "\x1b" not in self.out + self.err, "nobody is looking, so no colours"
        return code

    def lines(self) -> list[Any]:
        """The JSON on stdout, line by line."""
        return list(map(json.loads, self.out.splitlines()))


@pytest.fixture
def shell(capsys: pytest.CaptureFixture[str]) -> Shell:
    return Shell(capsys)


@pytest.fixture
def folder(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> Path:
    """A folder with four small tasks, their dataset and their certificates; the current one."""
    for name in ("world", "tasks", "valid"):
        shutil.copytree(HERE / name, tmp_path / name)
    monkeypatch.chdir(tmp_path)
    return tmp_path


def edit(path: str, old: str, new: str) -> None:
    text = Path(path).read_text(encoding="utf-8")
    assert old in text
    Path(path).write_text(text.replace(old, new, 1), encoding="utf-8")


def verify(shell: Shell, *args: str) -> int:
    return shell("verify", *args, "--engines", "scan", "-q")


# --------------------------------------------------------------------------------------------------- verify


def test_verify_tells_people(folder: Path, shell: Shell) -> None:
    assert verify(shell, "tasks/cheapest.yaml") == 0
    for part in ("tiny-cheapest", "solvable", "$90.00 (1 plan reaches it; next best $104.97)", "room_a2_2", "train_t6",
                 "plans", "10", "9 values, $90.00 to $284.00", "proved", "sea", "budget"):  # fmt: skip
        assert part in shell.out
    assert shell.err == ""
    assert sorted(path.name for path in (folder / "certificates").iterdir()) == [
        "tiny-cheapest.cert.json",
        "tiny-cheapest.run.json",
    ]


def test_verify_tells_programs(folder: Path, shell: Shell) -> None:
    assert verify(shell, "tasks/wishes.yaml", "--json", "--out", "out") == 0
    [said] = shell.lines()
    assert {"task", "id", "exit", "claims", "grades", "headline", "objective", "refuted", "certificate", "seconds",
            "survivors", "surprise", "undecided"} <= set(said)  # fmt: skip
    assert said["id"] == "tiny-wishes"
    assert said["exit"] == 0
    assert said["refuted"] == []
    assert said["surprise"] == said["undecided"] == ""
    assert said["objective"] == {"sense": "maximize", "unit": "", "scale": 1}
    assert said["claims"]["optimum"]["value"] == 4
    assert said["claims"]["count"]["at_least"] == said["claims"]["count"]["at_most"] == 28
    assert set(said["grades"].values()) == {said["headline"]} == {"proved"}
    written = Path(said["certificate"])
    assert written == Path("out/tiny-wishes.cert.json")
    cobench.read_certificate(written.read_bytes(), str(written))
    noted = json.loads((folder / "out" / "tiny-wishes.run.json").read_bytes())
    assert noted["task"] == str(folder / "tasks" / "wishes.yaml")
    assert noted["data"] == str(folder / "world")


def test_all_engines_agree(folder: Path, shell: Shell) -> None:
    assert shell("verify", "tasks/wishes.yaml", "--json") == 0
    [said] = shell.lines()
    content = (folder / "certificates" / "tiny-wishes.cert.json").read_bytes()
    evidence = cobench.read_certificate(content, "x").evidence
    assert len({entry.engine for entry in evidence}) == len(evidence) >= 2
    assert {entry.value for entry in evidence} == {said["claims"]["optimum"]["value"]}


def test_the_same_bytes_again(folder: Path, shell: Shell) -> None:
    """Wherever the files lie and whatever is printed: paths and seconds are in the run file only."""
    assert verify(shell, "tasks", "--out", "one") == 0
    shutil.copytree(folder / "world", folder / "elsewhere" / "world")
    shutil.copytree(folder / "tasks", folder / "elsewhere" / "tasks")
    assert verify(shell, "elsewhere/tasks/*.yaml", "--out", "two", "--json") == 0
    for name in NAMES:
        first, second = ((folder / out / f"tiny-{name}.cert.json").read_bytes() for out in ("one", "two"))
        assert first == second
        assert str(folder).encode() not in first


OUTCOMES = [
    ("as expected: solvable", "cheapest", "", 0, "solvable"),
    ("as expected: unsolvable", "nowhere", "expect: unsolvable", 0, "unsolvable"),
    ("as expected: optimum", "cheapest", "expect: {optimum: 90}", 0, ""),
    ("as expected: optimum in cents", "cheapest", "expect: {optimum: 90.00, count: 10}", 0, ""),
    ("as expected: optimum as text", "cheapest", 'expect: {optimum: "90.0"}', 0, ""),
    ("as expected: large optimum", "gold", "expect: {optimum: 585467951558164481}", 0, ""),
    ("as expected: count", "wishes", "expect: {count: 28}", 0, ""),
    ("as expected: nothing in particular", "wishes", "expect: {}", 0, ""),
    ("unsolvable", "nowhere", "", 1, "the task has no plan, and does not say expect: unsolvable"),
    ("unsolvable with a count", "nowhere", "expect: {count: 0}", 1, "the task has no plan"),
    ("solvable", "cheapest", "expect: unsolvable", 1, "the task has a plan, but says expect: unsolvable"),
    ("another optimum", "cheapest", "expect: {optimum: 89.99}", 1, "the optimum is not the expected one"),
    ("a large optimum but one", "gold", "expect: {optimum: 585467951558164480}", 1, "the optimum is not the expected"),
    ("another count", "cheapest", "expect: {optimum: 90, count: 11}", 1, "there are 10 plans, not 11"),
]  # fmt: skip


@pytest.mark.parametrize(
    ("task", "expect", "code", "says"), [case[1:] for case in OUTCOMES], ids=[case[0] for case in OUTCOMES]
)
def test_expectations(task: str, expect: str, code: int, says: str, folder: Path, shell: Shell) -> None:
    path = f"tasks/{task}.yaml"
    text = Path(path).read_text(encoding="utf-8").replace("expect: unsolvable\n", "")
    Path(path).write_text(f"{text}{expect}\n", encoding="utf-8")
    assert verify(shell, path) == code
    assert says in shell.out
    assert (folder / "certificates" / f"tiny-{task}.cert.json").exists()
    assert verify(shell, path, "--json") == code
    [said] = shell.lines()
    assert said["exit"] == code
    assert bool(said["surprise"]) is (code == 1)


def test_undecided(folder: Path, shell: Shell) -> None:
    assert verify(shell, "tasks/cheapest.yaml", "--work-limit", "1") == 3
    assert "undecided: " in shell.out
    assert shell("check", "certificates", "-q") == 0


# What a broken engine might say instead: one plan too many, a cent too little, no plan at all.
FAULTS: dict[str, Callable[[scan.Survey], scan.Survey]] = {
    "count": lambda found: replace(found, count=(found.count[0] + 1, found.count[1] + 1)),
    "optimum": lambda found: replace(
        found, outcome=replace(found.outcome, value=found.outcome.best - 1, bound=found.outcome.best - 1)
    ),
    "ties": lambda found: replace(found, tied=found.tied + 1),
    "runner-up": lambda found: replace(found, runner_up=None),
}


@pytest.fixture(params=FAULTS.values(), ids=list(FAULTS))
def fault(request: pytest.FixtureRequest, monkeypatch: pytest.MonkeyPatch) -> None:
    """The scan is wrong about every task with a plan."""
    right = scan.survey

    def wrong(model: Any, limits: Any) -> scan.Survey:
        found = right(model, limits)
        return request.param(found) if found.outcome.picked is not None else found

    monkeypatch.setattr(scan, "survey", wrong)


@pytest.mark.usefixtures("fault")
def test_what_the_checker_refutes_is_not_written(folder: Path, shell: Shell) -> None:
    """Exit code 4, and the certificate of an earlier run is left alone."""
    (folder / "out").mkdir()
    (folder / "out" / "tiny-cheapest.cert.json").write_bytes(b"before")
    assert verify(shell, "tasks/cheapest.yaml", "--out", "out") == 4
    assert "refuted by the checker: " in shell.out
    assert "not written" in shell.out
    assert [path.name for path in (folder / "out").iterdir()] == ["tiny-cheapest.cert.json"]
    assert (folder / "out" / "tiny-cheapest.cert.json").read_bytes() == b"before"
    assert verify(shell, "tasks/cheapest.yaml", "--out", "out", "--json") == 4
    [said] = shell.lines()
    assert said["exit"] == 4
    assert said["refuted"]
    assert said["certificate"] is None


@pytest.mark.usefixtures("fault")
@pytest.mark.parametrize("fault", [FAULTS["count"]], ids=["count"], indirect=True)
@pytest.mark.parametrize("command", ["solve", "score"])
def test_what_the_checker_refutes_is_not_used(command: str, folder: Path, shell: Shell) -> None:
    Path("plan.yaml").write_text(BEST, encoding="utf-8")
    assert shell(command, "tasks/cheapest.yaml", *(["plan.yaml"] if command == "score" else [])) == 4
    assert shell.out == ""
    assert "disagree" in shell.err or "refutes" in shell.err


def test_engines_that_disagree(folder: Path, shell: Shell, monkeypatch: pytest.MonkeyPatch) -> None:
    right = scan.survey
    monkeypatch.setattr(scan, "survey", lambda model, limits: FAULTS["optimum"](right(model, limits)))
    assert shell("verify", "tasks/cheapest.yaml", "--out", "out", "--json", "-q") == 4
    assert not list(folder.glob("out/*.cert.json"))


# ----------------------------------------------------------------------------------------------- many tasks


def test_the_worst_code_of_many() -> None:
    order = [2, 4, 1, 3, 0]
    for size in range(4):
        for codes in itertools.product(order, repeat=size):
            assert common.worst(codes) == (min(codes, key=order.index) if codes else 0)


@pytest.mark.parametrize("order", ["cheapest nowhere wishes gold", "gold wishes nowhere cheapest"])
def test_tasks_are_taken_in_the_order_given(order: str, folder: Path, shell: Shell) -> None:
    paths = [f"tasks/{name}.yaml" for name in order.split()]
    assert verify(shell, *paths, *paths, "--json") == 0
    assert [line["task"] for line in shell.lines()] == paths


@pytest.mark.parametrize("pattern", ["tasks", "tasks/*.yaml", "**/tasks/*.y?ml", "tasks/[a-z]*.yaml"])
def test_folders_and_globs(pattern: str, folder: Path, shell: Shell) -> None:
    assert verify(shell, pattern, "--json") == 0
    assert [Path(line["task"]).stem for line in shell.lines()] == list(NAMES)


def test_folders_in_folders(folder: Path, shell: Shell) -> None:
    Path("tasks/deep/er").mkdir(parents=True)
    shutil.move("tasks/wishes.yaml", "tasks/deep/er/wishes.yml")
    edit("tasks/deep/er/wishes.yml", "../world", "../../../world")
    Path("tasks/notes.txt").write_text("no task", encoding="utf-8")
    assert verify(shell, "tasks", "--json") == 0
    found = [Path(line["task"]).relative_to("tasks").as_posix() for line in shell.lines()]
    assert found == ["cheapest.yaml", "deep/er/wishes.yml", "gold.yaml", "nowhere.yaml"]


def test_one_bad_task_does_not_stop_the_others(folder: Path, shell: Shell) -> None:
    edit("tasks/gold.yaml", "vaults", "vault")
    edit("tasks/nowhere.yaml", "expect: unsolvable", "")
    assert verify(shell, "tasks") == 2
    assert "4 tasks: 2 as expected, 1 not as expected, 1 invalid" in shell.out
    assert "tasks/gold.yaml:8:10: error: the table 'vault' does not exist" in shell.err
    assert len(list(folder.glob("certificates/*.cert.json"))) == 3
    assert verify(shell, "tasks", "--json") == 2
    assert [line["exit"] for line in shell.lines()] == [0, 2, 1, 0]
    assert shell.err == ""
    [errors] = [line["errors"] for line in shell.lines() if line["exit"] == 2]
    assert "the table 'vault' does not exist" in errors[0]
    Path("tasks/gold.yaml").unlink()
    assert verify(shell, "tasks") == 1


def test_two_tasks_with_one_id(folder: Path, shell: Shell) -> None:
    shutil.copy("tasks/wishes.yaml", "tasks/zeal.yaml")
    edit("tasks/zeal.yaml", "cobench: 1", "# the same again\ncobench: 1")
    assert verify(shell, "tasks", "--json") == 2
    assert [line["exit"] for line in shell.lines()] == [0, 0, 0, 0, 2]
    assert "tasks/zeal.yaml:3:5: error: the id 'tiny-wishes' is also that of tasks/wishes.yaml" in shell.out


def test_data_from_elsewhere(folder: Path, shell: Shell) -> None:
    shutil.move("world", "moved")
    assert verify(shell, "tasks/gold.yaml") == 2
    assert verify(shell, "tasks/gold.yaml", "--data", "moved") == 0
    assert verify(shell, "tasks/gold.yaml", "--data", "moved/dataset.yaml") == 0
    assert shell("check", "certificates", "-q") == 0


# ---------------------------------------------------------------------------------------------------- check


def test_check(folder: Path, shell: Shell) -> None:
    verify(shell, "tasks", "--out", "out")
    assert shell("check", "out") == 0
    told = [line.split(": ") for line in shell.out.splitlines()]
    assert [name for name, _ in told] == [f"out/tiny-{name}.cert.json" for name in NAMES]
    for _, what in told:
        assert what.startswith("accepted (status proved, ")
        assert "count proved" in what
    assert shell.err == ""
    assert shell("check", "out/tiny-gold.cert.json", "--json") == 0
    [said] = shell.lines()
    assert said["accepted"] is True
    assert said["exit"] == 0
    assert said["grades"]["optimum"] == "proved"
    assert said["refuted"] == []


def test_check_needs_to_know_the_task(folder: Path, shell: Shell) -> None:
    assert shell("check", "valid/gold.cert.json") == 2
    assert "hint: give --task (and --data)" in shell.err
    Path("valid/gold.run.json").write_text("[not json", encoding="utf-8")
    assert shell("check", "valid/gold.cert.json") == 2
    assert shell("check", "valid/gold.cert.json", "--task", "tasks/gold.yaml") == 0
    assert shell("check", "valid/gold.cert.json", "--task", "tasks/gold.yaml", "--data", "world") == 0


def test_check_refuses(folder: Path, shell: Shell) -> None:
    verify(shell, "tasks/gold.yaml", "--out", "out")
    path = Path("out/tiny-gold.cert.json")
    assert shell("check", path, "--task", "tasks/wishes.yaml") == 2
    assert "refused" in shell.out
    path.write_bytes(path.read_bytes().replace(b'"tied":1', b'"tied":2'))
    assert shell("check", path) == 2
    assert "the digest does not fit the content" in shell.err
    assert shell("check", "out/absent.cert.json") == 2
    assert "cannot read the certificate" in shell.err
    assert shell("check", HERE / "invalid" / "optimum--a-cent-too-low.cert.json", "--task", "tasks/cheapest.yaml") == 4
    assert "optimum: value is 9000, the certificate says 8999" in shell.out


# ---------------------------------------------------------------------------------------- solve and score


def score(shell: Shell, plan: str | bytes, task: str = "cheapest", certificate: str = "") -> Any:
    """The verdict as JSON; the exit code is 0 whatever it is."""
    Path("plan.yaml").write_bytes(plan if isinstance(plan, bytes) else plan.encode())
    bound = f"valid/{certificate or task}.cert.json"
    assert shell("score", f"tasks/{task}.yaml", "plan.yaml", "--certificate", bound, "--json", "-q") == 0
    [said] = shell.lines()
    return said


def test_the_best_plan(folder: Path, shell: Shell) -> None:
    said = score(shell, BEST)
    assert said["kind"] == "optimal"
    assert (said["value"], said["optimum"], said["gap"], said["relative_gap"]) == (9000, 9000, 0, "0")
    assert (said["unit"], said["scale"]) == ("USD", 100)
    assert said["standing"] == {"better": 0, "tied": 1, "worse": 9, "total": 10}


def test_a_plan_in_the_middle(folder: Path, shell: Shell) -> None:
    said = score(shell, "picks: {room: room_a2_1, train: train_t5_1}")
    assert said["kind"] == "feasible"
    assert (said["value"], said["gap"], said["relative_gap"]) == (21900, 12900, "43/30")
    assert said["standing"] == {"better": 4, "tied": 2, "worse": 4, "total": 10}
    assert shell("score", "tasks/cheapest.yaml", "plan.yaml", "--certificate", "valid/cheapest.cert.json") == 0
    for part in ("feasible", "$219.00", "$129.00 (143.34 %)", "5 of 10, shared by 2 plans", "4 (40.00 % of all"):
        assert part in shell.out
    assert shell.err == ""


def test_one_of_many_best_plans(folder: Path, shell: Shell) -> None:
    said = score(shell, "picks: {room: room_b1_1, train: train_t1}", "wishes")
    assert said["kind"] == "optimal"
    assert said["standing"] == {"better": 0, "tied": 4, "worse": 24, "total": 28}


def test_a_cent_over_budget(folder: Path, shell: Shell) -> None:
    edit("tasks/cheapest.yaml", "<= 300", "<= 218.99")
    Path("plan.yaml").write_text("picks: {room: room_a2_1, train: train_t5_1}", encoding="utf-8")
    assert shell("score", "tasks/cheapest.yaml", "plan.yaml", "--json") == 0
    [said] = shell.lines()
    assert said["kind"] == "violates"
    assert said["value"] == 21900
    assert "standing" not in said
    assert said["violations"] == [
        {
            "constraint": "budget",
            "detail": "room.total + train.fares is $219.00, over by $0.01",
            "amount": 1,
            "unit": "USD",
            "scale": 100,
        }
    ]


def test_every_violation_is_named(folder: Path, shell: Shell) -> None:
    said = score(shell, "picks: {room: room_b2_1, train: train_t4}")
    assert [item["constraint"] for item in said["violations"]] == ["sea", "way", "day"]
    assert "'S'" in said["violations"][1]["detail"]
    assert said["kind"] == "violates"


UNKNOWN = {
    "too few rooms": ("room_c2_2", "train_t6", "free is 2 and needed is 3"),
    "no such room": ("room_x9_2", "train_t6", "no offer has room x9"),
    "no such day": ("room_a2_3", "train_t6", "3"),
    "another spelling": ("room_a2_02", "train_t6", "02"),
    "another case": ("room_A2_2", "train_t6", "A2"),
    "something after it": ("room_a2_2_1", "train_t6", "its ids have the form room_{room}_{start_day}"),
    "a part left out": ("room_a2_2", "train_t2", "coach"),
    "a part too many": ("room_a2_2", "train_t6_9", "coach"),
    "of another table": ("train_t6", "train_t6", "its ids have the form"),
    "letters that look alike": ("room_а2_2", "train_t6", "а2"),
}


@pytest.mark.parametrize(("room", "train", "reason"), UNKNOWN.values(), ids=UNKNOWN.keys())
def test_an_id_that_is_no_offer(room: str, train: str, reason: str, folder: Path, shell: Shell) -> None:
    said = score(shell, json.dumps({"picks": {"room": room, "train": train}}))
    assert said["kind"] == "unknown offer"
    assert reason in said["reason"]
    assert "value" not in said
    assert "standing" not in said


OTHERS: dict[str, tuple[str | bytes, str]] = {
    "empty": ("", "no answer"),
    "nothing but space": (" \n\t\n", "no answer"),
    "a sentence": ("I would take the hut.", "unparsable"),
    "braces": ("{{{{", "unparsable"),
    "bytes": (b"\x00\xff\xfe", "unparsable"),
    "a list": ("- room_a2_2\n- train_t6\n", "unparsable"),
    "cut JSON": ('{"picks": {"room": "room_a2_2", ', "unparsable"),
    "twice": ("picks: {room: room_a2_2, room: room_a2_1, train: train_t6}", "unparsable"),
    "twice in JSON": ('{"picks": {"room": "room_a2_2", "room": "room_a2_1"}}', "unparsable"),
    "no picks": ("{}", "unparsable"),
    "a number": ("picks: {room: 5, train: train_t6}", "unparsable"),
    "a huge answer": ("picks: {room: " + "x" * 6000 + "}", "unparsable"),
    "a deep answer": ("[" * 100_000, "unparsable"),
    "picks and a refusal": (f"{BEST}\nrefusal: none\n", "unparsable"),
    "one choice only": ("picks: {room: room_a2_2}", "unknown offer"),
    "a choice too many": ("picks: {room: room_a2_2, train: train_t6, boat: b}", "unknown offer"),
    "two rooms": ("picks: {room: [room_a2_2, room_a2_1], train: train_t6}", "unknown offer"),
    "no room": ("picks: {room: [], train: train_t6}", "unknown offer"),
    "a refusal": ("refusal: there is none", "wrong refusal"),
    "JSON": ('{"picks": {"room": [{"id": "room_a2_2"}], "train": "train_t6"}}', "optimal"),
    "with a byte order mark": ("\ufeff" + BEST, "optimal"),
}


@pytest.mark.parametrize(("plan", "kind"), OTHERS.values(), ids=OTHERS.keys())
def test_other_submissions(plan: str | bytes, kind: str, folder: Path, shell: Shell) -> None:
    said = score(shell, plan)
    assert said["kind"] == kind
    assert kind == "optimal" or said["reason"]
    assert len(shell.out) < 3000


def test_refusals(folder: Path, shell: Shell) -> None:
    assert score(shell, "refusal: too dear", "nowhere")["kind"] == "correct refusal"
    assert score(shell, '{"refusal": "too dear"}', "wishes")["kind"] == "wrong refusal"
    assert score(shell, "refusal: too hard", "wishes", "unknown")["kind"] == "undecided"


STATED = {
    "a total": f"{BEST}\ntotal: 1\n",
    "a value": f"{BEST}\nvalue: 9000\nkind: optimal\n",
    "a price of a pick": "picks: {room: [{id: room_a1_1, price: 1}], train: train_t1}",
    "totals among the picks": "picks: {room: room_a1_1, train: train_t1, total: 1}",
    "a price in an id": "picks: {room: 'room_a1_1 (10.00)', train: train_t1}",
}


@pytest.mark.parametrize("plan", STATED.values(), ids=STATED.keys())
def test_proposal_cannot_set_prices(plan: str, folder: Path, shell: Shell) -> None:
    said = score(shell, plan)
    assert said["kind"] in ("unparsable", "unknown offer")
    assert "value" not in said
    assert score(shell, "picks: {room: room_a1_1, train: train_t1}")["value"] == 2 * 9950 + 3 * 2500


def test_a_plan_from_stdin(folder: Path, shell: Shell, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(sys, "stdin", io.TextIOWrapper(io.BytesIO(BEST.encode())))
    assert shell("score", "tasks/cheapest.yaml", "-", "--certificate", "valid/cheapest.cert.json", "--json") == 0
    assert shell.lines()[0]["kind"] == "optimal"


def test_a_certificate_about_something_else(folder: Path, shell: Shell) -> None:
    Path("plan.yaml").write_text(BEST, encoding="utf-8")
    args = ("score", "tasks/cheapest.yaml", "plan.yaml", "--certificate")
    cases = {
        "valid/wishes.cert.json": "the certificate is about another task",
        "valid/scope.cert.json": "the certificate covers only a part of the task",
        "valid/absent.cert.json": "cannot read the certificate",
        "tasks/cheapest.yaml": "not canonical JSON",
    }
    for path, message in cases.items():
        assert shell(*args, path) == 2
        assert message in shell.err
        assert shell.out == ""
    shutil.copytree("world", "other")
    edit("other/dataset.yaml", "max: 6", "max: 5")
    assert shell(*args, "valid/cheapest.cert.json", "--data", "other") == 2
    assert "the certificate is about other data" in shell.err
    assert shell("score", "tasks/cheapest.yaml", "absent.yaml") == 2
    assert "cannot read the plan" in shell.err


def test_a_file_of_another_kind_is_called_by_its_name(folder: Path, shell: Shell) -> None:
    task, certificate, manifest = "tasks/cheapest.yaml", "valid/cheapest.cert.json", "world/dataset.yaml"
    Path("plan.yaml").write_text(BEST, encoding="utf-8")
    for command, message in (
        (("rank", task, task), "this is a task, not a plan"),
        (("explain", task, "--plan", certificate), "this is a certificate, not a plan"),
        (("explain", "plan.yaml"), "this is a plan, not a task"),
        (("verify", manifest), "this is a dataset's manifest, not a task"),
        (("diff", task, task), "hint: a certificate is needed here: `cobench verify` writes one for a task"),
        (("score", task, "plan.yaml", "--certificate", task), "hint: a certificate is needed here"),
    ):
        assert shell(*command) == 2, command
        assert message in shell.err
        assert shell.err.count("error:") == 1
    assert shell("score", task, task) == 0
    assert "this is a task, not a plan" in shell.out
    Path("broken.cert.json").write_text("{}x", encoding="utf-8")
    assert shell("diff", "broken.cert.json", certificate) == 2
    assert "hint" not in shell.err


@pytest.mark.parametrize(
    ("task", "form"), [("cheapest", []), ("gold", ["--json"]), ("wishes", []), ("wishes", ["--json"])]
)
def test_what_solve_prints_is_best(task: str, form: list[str], folder: Path, shell: Shell) -> None:
    assert shell("solve", f"tasks/{task}.yaml", *form) == 0
    assert shell.err == ""
    said = score(shell, shell.out, task)
    assert said["kind"] == "optimal"
    assert said["standing"]["better"] == 0


def test_what_solve_prints_of_a_real_task_is_best(folder: Path, shell: Shell) -> None:
    task = PARKS / "parks-2-01-zion-weekend.yaml"
    assert shell("solve", task) == 0
    Path("plan.yaml").write_text(shell.out, encoding="utf-8")
    assert shell("score", task, "plan.yaml", "--json") == 0
    [said] = shell.lines()
    assert said["kind"] == "optimal"
    assert said["standing"]["better"] == 0
    assert said["standing"]["total"] == said["standing"]["tied"] + said["standing"]["worse"] > 1


def test_solve_without_a_plan(folder: Path, shell: Shell) -> None:
    assert shell("solve", "tasks/nowhere.yaml") == 1
    assert shell.out == ""
    assert shell.err == "no optimum: the task has no plan\n"


# ------------------------------------------------------------------------------------------ data and files


def test_data_build_and_describe(tmp_path: Path, shell: Shell, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.chdir(tmp_path)
    assert shell("data", "build", "parks", "--scale", "mini", "--out", "new", "--json", "-q") == 0
    [built] = shell.lines()
    assert built["rows"]["stays"] > 1000
    assert shell("data", "describe", "new", "--json") == 0
    [new] = shell.lines()
    assert shell("data", "describe", "--json") == 0
    [bundled] = shell.lines()
    assert {**new, "folder": ""} == {**bundled, "folder": ""}
    assert new["tables"]["stays"]["rows"] == built["rows"]["stays"]
    assert shell("data", "build", "parks", "--scale", "mini", "--out", "new") == 2
    assert "error: cannot build parks at new" in shell.err


def test_describe_tells_people(folder: Path, shell: Shell) -> None:
    assert shell("data", "describe", "world") == 0
    for part in ("tiny", "given guests", "rooms", "offers room_{room}_{start_day}", "10 rows", "a number in USD",
                 "hut, inn, villa", "may be unknown", "relation walk(station, town): a number (minutes), 5 rows"):  # fmt: skip  # noqa: E501
        assert part in shell.out
    assert shell("data", "describe", "nowhere") == 2


@pytest.mark.parametrize("kind", ["task", "dataset", "plan", "certificate"])
def test_schema_is_the_committed_one(kind: str, shell: Shell) -> None:
    assert shell("schema", kind) == 0
    assert json.loads(shell.out)["$schema"].startswith("https://json-schema.org/")
    assert shell.out == (ROOT / "schemas" / f"{kind}.schema.json").read_text(encoding="utf-8")


def test_init_writes_a_task_that_verifies(tmp_path: Path, shell: Shell, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.chdir(tmp_path)
    assert shell("init", "new/my task.yaml") == 0
    assert sorted(path.name for path in Path("new").iterdir()) == ["my task.yaml", "task.schema.json"]
    assert verify(shell, "new/my task.yaml", "--json") == 0
    assert shell.lines()[0]["claims"]["status"]["value"] == "solvable"
    Path("new/my task.yaml").write_text("mine", encoding="utf-8")
    assert shell("init", "new/my task.yaml") == 2
    assert "is there already" in shell.err
    assert "hint: --force replaces it" in shell.err
    assert Path("new/my task.yaml").read_text(encoding="utf-8") == "mine"
    assert shell("init", "new/my task.yaml", "--force") == 0
    assert verify(shell, "new/my task.yaml") == 0
    for name in ("new/{0}.yaml", "new/é.yaml", "new/-x.yaml", "new/" + "x" * 200 + ".yaml"):
        assert shell("init", "--", name) == 0
        cobench.load_task(Path(name))


@pytest.mark.parametrize("shell_name", ["bash", "zsh", "fish"])
def test_completion(shell_name: str, shell: Shell) -> None:
    assert shell("completion", shell_name) == 0
    assert f"_COBENCH_COMPLETE={shell_name}_complete" in shell.out
    assert "cobench" in shell.out.replace("_cobench", "")


# ------------------------------------------------------------------------------------------- help and rest


@pytest.mark.parametrize("command", ["", *COMMANDS, "data"])
def test_help(command: str, shell: Shell) -> None:
    assert shell(*command.split(), "--help") == 0
    assert "Usage: " in shell.out
    assert shell.err == ""
    if command:
        assert command in shell.out


def test_help_names_every_command(shell: Shell) -> None:
    assert shell("-h") == 0
    assert all(name.split()[0] in shell.out for name in COMMANDS)
    assert "4 engines or checker disagree" in shell.out
    assert shell("--version") == 0
    assert VERSION in shell.out


def test_a_process_of_its_own(folder: Path, run_cobench: Run) -> None:
    """Exit codes and streams as a shell sees them; no escape codes where no terminal is."""
    for args, code in (
        (["verify", "tasks", "--engines", "scan", "--work-limit", "1"], 3),
        (["data", "describe", "world"], 0),
        (["verify", "tasks/absent.yaml"], 2),
    ):
        done = run_cobench(*args, cwd=folder, env={"NO_COLOR": "", "TERM": "xterm-256color"})
        assert done.returncode == code
        assert "\x1b" not in done.stdout + done.stderr
        assert bool(done.stdout) is (code != 2)
        assert bool(done.stderr) is (code == 2)


class Clock:
    """An event that does not happen before it was asked for twice."""

    def __init__(self) -> None:
        self.asked = 0

    def wait(self, seconds: float) -> bool:  # noqa: ARG002
        self.asked += 1
        return self.asked > 2


def test_progress_goes_to_stderr(capsys: pytest.CaptureFixture[str], monkeypatch: pytest.MonkeyPatch) -> None:
    shown = common.Progress(quiet=False)
    monkeypatch.setattr(shown, "_end", Clock())
    shown.begin("gold: checking")
    shown._show()
    out, err = capsys.readouterr()
    assert out == ""
    assert err.startswith("gold: checking")


def test_quiet_shows_no_progress() -> None:
    with common.progress(quiet=True) as shown:
        assert not shown._thread.is_alive()
    with common.progress() as shown:
        assert shown._thread.is_alive()
    assert not shown._thread.is_alive()


# ------------------------------------------------------------------------------------- what certify writes is checked


def test_check_reads_the_certificates_of_a_suite(tmp_path: Path, shell: Shell) -> None:
    tasks = tmp_path / "tasks"
    tasks.mkdir()
    world = HERE / "world"
    for name in ("cheapest", "nowhere"):
        text = (HERE / "tasks" / f"{name}.yaml").read_text(encoding="utf-8")
        (tasks / f"{name}.yaml").write_text(text.replace("dataset: ../world", f"dataset: {world}"), encoding="utf-8")
    out = tmp_path / "results"
    assert shell("certify", str(tasks), "--out", str(out), "--no-check", "--workers", "1", "-q") in (0, 1)
    lines = out / "certificates.jsonl"
    assert b'"grade":"claimed"' in lines.read_bytes()
    assert shell("check", str(lines), "--task", str(tasks), "--json", "-q") == 0
    found = shell.lines()
    assert [line["exit"] for line in found] == [0, 0]
    assert all(set(line["grades"].values()) == {"proved"} for line in found)  # what is claimed may be raised
    assert shell("check", str(out), "--task", str(tasks), "--json", "-q") == 0
    lines.write_bytes(lines.read_bytes().replace(b'"at_least":10', b'"at_least":11'))
    assert shell("check", str(lines), "--task", str(tasks), "--json", "-q") == 2
    assert "altered" in shell.lines()[0]["errors"][0]
    assert shell("check", str(out), "--task", str(HERE / "tasks" / "gold.yaml"), "-q") == 2
    assert shell("check", str(out), "-q") == 2
    assert "give --task" in shell.err


def test_a_folder_of_tasks_may_hold_its_data(folder: Path, shell: Shell) -> None:
    (folder / "tasks" / "world").mkdir()
    shutil.copy(folder / "world" / "dataset.yaml", folder / "tasks" / "world")
    shell("verify", "tasks", "--engines", "scan")
    assert "dataset.yaml" not in shell.err
