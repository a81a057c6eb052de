"""`cobench report`: rates and their intervals, gaps, places, and a page that holds hostile text as text."""

from __future__ import annotations

import json
import math
import re
from collections.abc import Sequence
from fractions import Fraction
from pathlib import Path
from typing import Any

import pytest
from cobench.agent_runner.analysis import (
    GAPS,
    PLACES,
    Case,
    agreement,
    broken,
    farthest,
    gaps_by_unit,
    most_broken,
    place_of,
    rate,
    summaries,
)
from cobench.agent_runner.verdict_files import verdict_bytes
from cobench.cli import run
from cobench.cli.verdict_pages import verdict_page
from cobench.schemas.scored import Scored
from cobench.schemas.verdict import Standing, Violation
from hypothesis import given
from hypothesis import strategies as st

from .test_scoring_many import row

# ---------------------------------------------------------------------------------------------------------------- rates


@pytest.mark.parametrize(
    ("hits", "of", "low", "high"),
    [  # Wilson's interval as published tables have it
        (0, 10, 0.0, 0.2775), (10, 10, 0.7225, 1.0), (5, 10, 0.2366, 0.7634), (1, 20, 0.0089, 0.2361),
        (81, 263, 0.2553, 0.3662), (15, 148, 0.0624, 0.1605), (1, 1, 0.2065, 1.0),
    ],
)  # fmt: skip
def test_wilsons_interval_where_every_task_is_there_once(hits: int, of: int, low: float, high: float) -> None:
    found = rate((str(number), number < hits) for number in range(of))
    assert (found.hits, found.of, found.clustered) == (hits, of, False)
    assert (round(found.low, 4), round(found.high, 4)) == (low, high)


@given(st.lists(st.tuples(st.integers(0, 4), st.integers(0, 4)).filter(sum), min_size=2, max_size=12))
def test_a_clustered_interval_is_wilsons_with_the_variance_between_tasks(clusters: Sequence[tuple[int, int]]) -> None:
    outcomes = [(str(task), hit < good) for task, (good, bad) in enumerate(clusters) for hit in range(good + bad)]
    found, plain = rate(outcomes), rate((str(place), hit) for place, (_, hit) in enumerate(outcomes))
    assert (found.hits, found.of) == (plain.hits, plain.of)
    assert 0 <= found.low <= found.hits / found.of <= found.high <= 1
    assert found.high - found.low >= plain.high - plain.low - 1e-12  # never more certain than independent ones
    share, number = found.hits / found.of, len(clusters)
    spread = sum((good - share * (good + bad)) ** 2 for good, bad in clusters)
    variance = number / (number - 1) * spread / found.of**2
    if found.clustered and 1e-9 < share < 1 - 1e-9 and variance > 1e-12:
        size, z = min(found.of, share * (1 - share) / variance), 1.959963984540054
        for end in (found.low, found.high):  # an end of Wilson's interval is where the score is z
            assert math.isclose(abs(share - end), z * math.sqrt(end * (1 - end) / size), rel_tol=1e-6)


def test_repetitions_of_one_outcome_say_no_more_than_their_tasks() -> None:
    few = rate((str(task), task < 3) for task in range(10))
    many = rate((str(task), task < 3) for task in range(10) for _ in range(50))
    assert many.clustered
    assert many.of == 500
    assert 0.9 < (many.high - many.low) / (few.high - few.low) < 1.1
    assert rate([("t", True)] * 40).low == rate([("t", True)]).low
    assert rate([]) == rate(iter(()))
    assert (rate([]).low, rate([]).high) == (0.0, 1.0)


# ------------------------------------------------------------------------------------------------------------- counting


def good(better: int = 0, total: int = 100, gap: int = 0, **more: Any) -> Scored:
    """A feasible plan with a rank and a gap to an optimum of 1000."""
    known = {"kind": "feasible" if gap else "optimal", "value": 1000 + gap, "optimum": 1000, "gap": gap}
    ratio, place = str(Fraction(gap, 1000)), Standing(better=better, tied=1, worse=total - better - 1, total=total)
    return row(**{**known, "relative_gap": ratio, "standing": place, "unit": "USD", "scale": 100, **more})


@pytest.mark.parametrize(
    ("better", "total", "name"),
    [
        (4, 100, "best 5 %"), (5, 100, "best 10 %"), (9, 100, "best 10 %"), (10, 100, "best 20 %"),
        (19, 100, "best 20 %"), (20, 100, "beyond 20 %"), (1, 20, "best 10 %"), (1, 21, "best 5 %"), (0, 1, "best 5 %"),
    ],
)  # fmt: skip
def test_places_are_cut_in_integers(better: int, total: int, name: str) -> None:
    found = good(better, total, gap=1)
    assert place_of(found) == name
    (summary,) = summaries({"": [found]})
    assert summary.top == {share: int(100 * better < share * total) for share in (5, 10, 20)}


def test_a_summary_counts_every_submission_once() -> None:
    rows = [
        good(), good(3, gap=10), good(30, gap=500, task="u"), row(kind="feasible", ignored=["c"]),
        row(kind="no answer"), row(kind="correct refusal", status="unsolvable", task="n"),
        row(kind="violates", status="unsolvable", task="n"), row(kind="wrong refusal"),
        row(kind="unparsable", agent="b"),
    ]  # fmt: skip
    first, second = summaries({"": rows})
    assert (first.name, first.submissions, first.tasks, first.lenient, first.ranked) == ("a", 8, 3, 1, 3)
    assert (first.feasible.hits, first.feasible.of, first.optimal.hits) == (4, 6, 1)
    assert (first.refused.hits, first.refused.of) == (1, 2)
    assert sum(first.kinds.values()) == sum(first.places.values()) == 8
    assert first.places == dict(zip(PLACES, (1, 1, 0, 0, 1, 1, 4), strict=True))
    assert first.gaps == (0, Fraction(1, 100), Fraction(1, 2))
    assert first.median_gap == Fraction(1, 100)
    assert {name: number for name, number in first.gap_classes.items() if number} == {"0": 1, "≤ 1 %": 1, "≤ 50 %": 1}
    assert (second.median_gap, second.feasible.hits) == (None, 0)
    assert [item.name for item in summaries({"x": rows[:1], "y": rows[:1]})] == ["a (x)", "a (y)"]


def test_every_gap_has_a_class() -> None:
    for gap, name in [(0, "0"), (1, "≤ 1 %"), (10, "≤ 1 %"), (11, "≤ 5 %"), (1000, "≤ 100 %"), (1001, "> 100 %")]:
        (found,) = summaries({"": [good(gap=gap)]})
        assert [key for key, number in found.gap_classes.items() if number] == [name]
    assert [name for name, _ in GAPS] == list(found.gap_classes)


def test_violations_agreement_and_units_are_counted() -> None:
    twice = [Violation(constraint=name, detail="d") for name in ("x", "y", "x")]
    rows = [
        row(violations=twice, published="Wrong"), row(violations=twice[:1], task="u", ignored=["x"], kind="feasible"),
        good(gap=5, published="Correct"), good(published="Wrong"), good(gap=50, scale=1000), good(gap=7, unit=""),
    ]  # fmt: skip
    assert [(item.name, item.submissions, item.tasks, item.ignored) for item in broken(rows)] == [
        ("x", 2, 2, 1),
        ("y", 1, 1, 0),
    ]
    assert agreement(rows) == {"Wrong": (1, 0, 1), "Correct": (0, 1, 0)}
    assert gaps_by_unit(rows) == {"USD": (1000, {0: 1, 50: 2}), "": (100, {7: 1})}


def test_the_worst_cases_are_the_farthest_and_the_most_broken() -> None:
    def broke(number: int, **more: Any) -> Scored:
        return row(violations=[Violation(constraint=f"c{place}", detail="d") for place in range(number)], **more)

    rows = [good(gap=gap, task=f"t{place}") for place, gap in enumerate((5, 0, 90, 40, 91))]
    rows += [good(gap=89, task="t4"), broke(1), broke(3), broke(2, task="u"), broke(2, agent="b")]
    cases = [Case("", item) for item in rows]
    cases = cases[::3] + cases[1::3] + cases[2::3]
    assert [case.row.task for case in farthest(cases, 3)] == ["t4", "t2", "t3"]
    assert [(case.row.task, case.row.agent, len(case.row.violations)) for case in most_broken(cases, 9)] == [
        ("t", "a", 3),
        ("t", "b", 2),
        ("u", "a", 2),
    ]


# ------------------------------------------------------------------------------------------------------------ the page

EVIL = '</script><script>alert(1)</script><img src=x onerror=alert(2)>"\x00\x1b[31m\u202e'


def many(number: int) -> list[Scored]:
    """Verdicts of all kinds, some of them with hostile text."""
    plan = json.dumps({"picks": {EVIL: [{"id": EVIL, "start": "09:00", "end": 600}], "b": "odd", "c": [7]}})
    rows: list[Scored] = []
    for place in range(number):
        known: dict[str, Any] = {
            "line": place + 1,
            "task": f"t{place % 40}",
            "agent": f"{EVIL} {place % 3}" * (1 + 40 * (place % 2)),
        }
        known |= {"submitted": plan, "best": plan, "published": f"{EVIL}{place % 4}"}
        if place % 3:
            rows.append(good(place % 90, gap=place % 700, **known))
        else:
            names = [Violation(constraint=f"{EVIL}{number}", detail=EVIL * 20) for number in range(1 + place % 30)]
            rows.append(row(violations=names, value=3, reason=EVIL, **known))
    return rows


def scripts(text: str) -> tuple[str, list[Any]]:
    """A page without its scripts, and the figures in it."""
    specs = json.loads(re.findall(r"const specs = (.*);\n", text)[-1])
    return re.sub(r"<script>.*?</script>", "", text, flags=re.DOTALL), specs


def test_a_page_holds_hostile_text_as_text_and_asks_for_nothing() -> None:
    text = verdict_page(EVIL, {EVIL: many(300), "other": many(30)})
    outside, specs = scripts(text)
    assert text.count("<script>") == text.count("</script>") == 2
    assert "<img" not in outside
    assert not re.search(r"[\x00-\x08\x0b-\x1f\x7f-\x9f\u202a-\u202e]", outside + json.dumps(specs, ensure_ascii=False))
    assert not re.search(r"<[^>]*\s(?:src|href)\s*=|url\(|@import|https?:", outside)
    assert len(specs) == outside.count('<div id="figure-') >= 5
    assert all(label for label in re.findall(r'role="img" aria-label="([^"]*)"', outside))
    assert "\\x1b[31m" in outside


def test_a_page_about_thousands_stays_small_and_is_the_same_again() -> None:
    rows = [good(place % 90, gap=place * place, task=f"t{place}", agent=f"a{place % 900}") for place in range(5000)]
    text = verdict_page("title", {"": rows})
    assert text == verdict_page("title", {"": rows})
    assert len(text.encode()) < 2_000_000
    _, specs = scripts(text)
    assert max(len(json.dumps(spec)) for spec in specs) < 100_000


def test_a_page_about_one_bad_answer_has_no_empty_figures() -> None:
    text = verdict_page("title", {"": [row(kind="no answer")]})
    assert "Relative gap" not in text
    assert "Violations by constraint" not in text
    assert "0.0 % (0 of 1)" in text or "0.0 %" in text
    assert verdict_page("title", {"": [row(kind="correct refusal", status="unsolvable")]})


def test_lenient_and_open_verdicts_are_told(tmp_path: Path) -> None:
    violation = Violation(constraint="trip.twice", detail="Rome is visited twice")
    rows = [
        row(kind="feasible", violations=[violation], ignored=["trip.twice"], value=3),
        row(kind="feasible", value=4, line=2),
        row(violations=[violation], value=5, line=3, best='{"picks": {"trip": [{"id": "Rome"}]}}'),
    ]
    text = verdict_page("title", {"": rows})
    assert "1 plan called feasible although they break trip.twice" in text
    assert "1 feasible plan of tasks whose optimum is not certified" in text
    assert "Violates trip.twice: Rome is visited twice." in text


def test_the_command_writes_a_page_or_numbers(tmp_path: Path, capsys: pytest.CaptureFixture[str]) -> None:
    rows = [good(), good(3, gap=10, line=2), row(violations=[Violation(constraint="x", detail="d")], line=3)]
    for name in ("one.parquet", "two.jsonl"):
        (tmp_path / name).write_bytes(verdict_bytes(rows, Path(name).suffix))
    both = [str(tmp_path / "one.parquet"), str(tmp_path / "two.jsonl")]
    pages = [tmp_path / "a.html", tmp_path / "b.html"]
    for path in pages:
        assert run(["report", *both, "-o", str(path), "-q"]) == 0
    assert pages[0].read_bytes() == pages[1].read_bytes()
    capsys.readouterr()
    assert run(["report", *both, "--json"]) == 0
    found = json.loads(capsys.readouterr().out)
    assert (found["submissions"], found["tasks"]) == (6, 1)
    assert {item["agent"] for item in found["agents"]} == {f"a ({path})" for path in both}
    assert found["agents"][0]["feasible"]["hits"] == 2
    assert found["violations"] == [{"name": "x", "submissions": 2, "tasks": 1, "ignored": 0}]
    assert [case["gap"] for case in found["farthest"]] == [10, 10]
    assert sorted(path.name for path in tmp_path.iterdir()) == ["a.html", "b.html", "one.parquet", "two.jsonl"]


@pytest.mark.parametrize("args", [[], ["v.jsonl", "v.jsonl"], ["v.jsonl", "-o", "v.jsonl"], ["x.jsonl"], ["."]])
def test_what_cannot_be_reported_writes_nothing(
    args: list[str], tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.chdir(tmp_path)
    Path("v.jsonl").write_bytes(verdict_bytes([row()], ".jsonl"))
    assert run(["report", *args]) == 2
    assert [path.name for path in tmp_path.iterdir()] == ["v.jsonl"]


@pytest.mark.parametrize(
    ("content", "said"),
    [
        (b"", "holds no verdicts"),
        (b"{}\n", "v.jsonl:1:1: error: this is no verdict"),
        (b"[]\n", "a JSON object is needed"),
        (b'{"task": NaN}\n', "NaN is no JSON"),
        (b'{"task": "\xff"}\n', "not UTF-8"),
        (b'{"task": "a", "task": "b"}\n', "stands here twice"),
        (b'{"task": ' + b"[" * 100_000, "nested too deeply"),
        (verdict_bytes([row()], ".jsonl") + b'{"task": "t", "kind": "violates"}\n', "v.jsonl:2:1"),
        (verdict_bytes([row()], ".jsonl").replace(b'"line":1', b'"line":0'), "line"),
        (verdict_bytes([row()], ".parquet"), "v.jsonl:1:1: error: not"),
    ],
)
def test_bad_lines_of_verdicts(content: bytes, said: str, tmp_path: Path, capsys: pytest.CaptureFixture[str]) -> None:
    (tmp_path / "v.jsonl").write_bytes(content)
    assert run(["report", str(tmp_path / "v.jsonl"), "-o", str(tmp_path / "r.html")]) == 2
    assert said in capsys.readouterr().err
    assert not (tmp_path / "r.html").exists()
