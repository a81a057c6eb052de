"""Knapsacks in the formats of OR-Library and of Hiremath and Hill, converted and certified."""

from __future__ import annotations

import json
from fractions import Fraction
from pathlib import Path

import pytest
from cobench import verification
from cobench.datasets.opening import open_dataset
from cobench.schemas.errors import CobenchError, OutputError, TaskError
from cobench.schemas.task import load_task
from cobench.solver.certify import LOOPED
from cobench.solver.outcome import Limits
from cobench.tasks.converted import Converted
from cobench.tasks.mmkp import convert, read_instances

SINGLE = """
 2  2 1
 10
 1
 7.50  6
 3.00  1
 2
 4.0  4
 9.0  10
 Solutions by  Exact Solution
 0  0  11.50
 Upper bound
 12.71
"""
SET = """1 2 2 1
10
1
7 6
3 1
2
4 4
9 10
2 1 1 2
5 5
1
2 5 5
"""
PUBLISHED = '{"orlib": {"columns": ["Exact", "HEU"], "rows": [[11.5, -1.0]]}}'
SET_NAME = "TestSet3.2GP2IT1KP.txt"


def folder(tmp_path: Path, **files: str) -> Path:
    source = tmp_path / "source"
    source.mkdir(exist_ok=True)
    for name, text in files.items():
        (source / name).write_text(text, encoding="utf-8")
    return source


def test_an_instance_becomes_a_dataset_a_task_and_the_plans_beside_it(tmp_path: Path) -> None:
    source = folder(tmp_path, I07=SINGLE, **{SET_NAME: SET, "published_values.json": PUBLISHED, "notes": "unread"})
    assert convert(source, tmp_path / "out") == Converted(tasks=3, submissions=1, datasets=3)
    task = load_task(tmp_path / "out" / "tasks" / "mmkp-i07.yaml").task
    assert task.constraints == {"r1": "g1.r1 + g2.r1 <= 10"}
    assert task.maximize == "g1.value + g2.value"
    found = open_dataset(task.dataset, tmp_path / "out" / "tasks")
    table = found.table(found.manifest.sample(), "items")
    assert table.columns["value"].values.tolist() == [75, 30, 40, 90]  # tenths: nothing was a float
    line = json.loads((tmp_path / "out" / "submissions.jsonl").read_text())
    assert line["answer"] == {"picks": {"g1": "g1_i1", "g2": "g2_i1"}}
    assert (line["agent"], line["published"]) == ("Exact Solution", "11.50")
    published = json.loads((tmp_path / "out" / "published.json").read_text())
    assert published == {"mmkp-i07": {"Exact": "11.5", "HEU": None}}
    assert {path.stem for path in (tmp_path / "out" / "tasks").iterdir()} == {
        "mmkp-i07",
        "mmkp-set3-01",
        "mmkp-set3-02",
    }


def test_the_optimum_of_a_converted_instance_is_its_own(tmp_path: Path) -> None:
    convert(folder(tmp_path, I07=SINGLE), tmp_path / "out")
    found = verification.verify(tmp_path / "out" / "tasks" / "mmkp-i07.yaml", engines="scan")
    optimum = found.certificate.claims.optimum
    assert optimum is not None
    assert optimum.value == 115
    assert found.exit_code == 0


def test_the_same_source_gives_the_same_bytes(tmp_path: Path) -> None:
    source = folder(tmp_path, I07=SINGLE, **{"published_values.json": PUBLISHED})
    for name in ("one", "two"):
        convert(source, tmp_path / name)
    first, second = (
        {path.relative_to(tmp_path / name): path.read_bytes() for path in (tmp_path / name).rglob("*.*")}
        for name in ("one", "two")
    )
    assert first == second


@pytest.mark.parametrize(
    ("old", "new", "line", "words"),
    [
        (" 2  2 1\n", " 2  2\n", 2, "3 numbers are needed here, there are 2"),
        (" 2  2 1\n", " 2  two 1\n", 2, "'two' is not a whole number"),
        (" 2  2 1\n", " 0  2 1\n", 2, "at least one group"),
        (" 2  2 1\n", " 65 2 1\n", 2, "65 groups; a task has at most 64"),
        (" 2  2 1\n", " 2 2 65\n", 2, "65 resources; a task has at most 64"),
        (" 10\n", " 10 11\n", 3, "capacities: 1 numbers"),
        (" 10\n", " -10\n", 3, "'-10' is not a whole number"),
        (" 1\n 7", " 2\n 7", 4, "this is group 2, where 1 should follow"),
        (" 7.50  6", " 7.50", 5, "value and weights of an item of group 1: 2 numbers"),
        (" 7.50  6", " 7.50  6.5", 5, "'6.5' is not a whole number"),
        (" 7.50  6", " nan  6", 5, "'nan' is not a number"),
        (" 7.50  6", " 7.50e2  6", 5, "'7.50e2' is not a number"),
        (" 7.50  6", " 7.5001  6", 5, "at most 3 digits after the point"),
        (" 9.0  10\n", "", 9, "value and weights of an item of group 2: 2 numbers"),
        (" Solutions by  Exact Solution", " Found by", 10, "neither a solution nor an upper bound"),
        (" 0  0  11.50", " 0  2  11.50", 11, "there is no item 2"),
        (" 0  0  11.50", " 0  11.50", 11, "an item of each group and the value"),
        (" 12.71\n", "", 12, "the file ends where an upper bound should follow"),
    ],
)
def test_what_is_malformed_is_refused_with_its_line(tmp_path: Path, old: str, new: str, line: int, words: str) -> None:
    assert old in SINGLE
    with pytest.raises(TaskError, match=r"I07") as refused:
        convert(folder(tmp_path, I07=SINGLE.replace(old, new, 1)), tmp_path / "out")
    assert words in refused.value.message
    assert refused.value.where is not None
    assert refused.value.where.line == line
    assert not (tmp_path / "out").exists()


def test_instances_of_a_set_come_in_order(tmp_path: Path) -> None:
    with pytest.raises(TaskError, match=r":9:1: error: this is instance 3, where 2 should follow"):
        convert(folder(tmp_path, **{SET_NAME: SET.replace("2 1 1 2", "3 1 1 2")}), tmp_path / "out")


@pytest.mark.parametrize(
    ("published", "words"),
    [
        ("[]", "a JSON object"),
        ("{", "not JSON"),
        ('{"orlib": 3}', "has no columns and rows"),
        ('{"orlib": {"columns": ["Exact"], "rows": []}}', "values of 0 instances, there are 1"),
        ('{"orlib": {"columns": ["Exact"], "rows": 1}}', "has no columns and rows"),
        ('{"orlib": {"columns": ["Exact"], "rows": [[1, 2]]}}', "not one value for each of Exact"),
        ('{"orlib": {"columns": ["Exact"], "rows": [["1"]]}}', "is not a decimal number"),
        ('{"orlib": {"columns": ["Exact"], "rows": [[1e3]]}}', "is not a decimal number"),
    ],
)
def test_published_values_that_do_not_fit_are_refused(tmp_path: Path, published: str, words: str) -> None:
    with pytest.raises(TaskError) as refused:
        convert(folder(tmp_path, I07=SINGLE, **{"published_values.json": published}), tmp_path / "out")
    assert words in str(refused.value)
    assert not (tmp_path / "out").exists()


def test_a_folder_without_instances_a_file_and_a_taken_folder_are_refused(tmp_path: Path) -> None:
    source = folder(tmp_path, notes="")
    for wrong in (source, source / "notes", tmp_path / "nowhere"):
        with pytest.raises(TaskError):
            convert(wrong, tmp_path / "out")
    folder(tmp_path, I07=SINGLE)
    (tmp_path / "out").mkdir()
    (tmp_path / "out" / "mine").touch()
    with pytest.raises(OutputError):
        convert(source, tmp_path / "out")


def test_a_scan_beyond_its_limit_says_so_at_once_and_two_engines_agree(tmp_path: Path) -> None:
    items = "\n".join(f"{7 * item % 11} {item}" for item in range(10))
    text = "1 20 10 1\n90\n" + "".join(f"{group}\n{items}\n" for group in range(1, 21))
    rows = text.replace("20 10 1", "20 10 3").replace("90\n", "90 91 92\n")
    rows = "\n".join(f"{line} {line[-1]} {len(line)}" if line.count(" ") == 1 else line for line in rows.splitlines())
    convert(folder(tmp_path, **{"TestSet1.20GP10IT3KP.txt": rows}), tmp_path / "out")
    found = verification.verify(tmp_path / "out" / "tasks" / "mmkp-set1-01.yaml", limits=Limits(seconds=30))
    assert {answer.engine: answer.outcome.status.value for answer in found.answers} == {
        "scan": "unknown",
        "cp-sat": "optimal",
        "highs": "optimal",
    }
    assert found.seconds["certify"] < 20
    assert found.certificate.claims.incumbent is not None or found.certificate.claims.optimum is not None


def test_by_default_a_scan_of_many_choices_ends_soon(tmp_path: Path) -> None:
    items = "\n".join(f"{7 * item % 11} {item} {item * item % 7}" for item in range(10))
    text = "1 10 10 2\n44 33\n" + "".join(f"{group}\n{items}\n" for group in range(1, 11))
    convert(folder(tmp_path, **{"TestSet1.10GP10IT2KP.txt": text}), tmp_path / "out")
    task = tmp_path / "out" / "tasks" / "mmkp-set1-01.yaml"
    for limits, work in ((None, LOOPED), (Limits(work=7), 7)):
        found = verification.verify(task, limits=limits)
        (scanned, *others) = found.certificate.evidence
        assert (scanned.status, scanned.parameters["work_limit"]) == ("unknown", work)
        assert {item.status for item in others} == {"optimal"}
        assert found.certificate.claims.incumbent is not None
        assert found.certificate.claims.incumbent.optimal


def test_a_sample_of_the_public_instances_has_the_published_optimum(shared: Path, tmp_path: Path) -> None:
    source = shared / "external" / "mmkp"
    if not source.is_dir():
        pytest.skip("needs ../shared/external/mmkp")
    instances = read_instances(source)
    assert sum(map(len, instances.values())) == 186
    names = ("I01", "I05", "TestSet1.5GP10IT5KP.txt", "TestSet4.5GP10IT10KP.txt", "published_values.json")
    part = tmp_path / "part"
    part.mkdir()
    for name in names:
        (part / name).symlink_to(source / name)
    with pytest.raises(CobenchError, match="values of 6 instances, there are 2"):
        convert(part, tmp_path / "out")
    content = json.loads((source / "published_values.json").read_text())
    content["orlib"]["rows"] = [content["orlib"]["rows"][place] for place in (0, 4)]
    (part / "published_values.json").unlink()
    (part / "published_values.json").write_text(json.dumps(content))
    assert convert(part, tmp_path / "out") == Converted(tasks=42, submissions=6, datasets=42)
    published = json.loads((tmp_path / "out" / "published.json").read_text())
    for name in ("mmkp-i01", "mmkp-i05", "mmkp-set1-05", "mmkp-set4-19"):
        found = verification.verify(
            tmp_path / "out" / "tasks" / f"{name}.yaml", engines="scan" if "set" in name else "all"
        )
        claims = found.certificate.claims
        best = claims.optimum or claims.incumbent
        assert best is not None
        value = Fraction(int(best.value), found.problem.objective.type.scale)
        assert value == Fraction(published[name]["Exact"])
        assert found.undecided == ("" if claims.optimum else "the number of plans")
