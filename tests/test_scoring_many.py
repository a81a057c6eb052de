"""`cobench score --submissions`: many answers at once, what may be ignored, and files that are none."""

from __future__ import annotations

import gzip
import json
from collections.abc import Callable
from pathlib import Path
from typing import Any

import pyarrow as pa
import pyarrow.parquet as pq
import pytest
from cobench.agent_runner import scoring
from cobench.agent_runner.scoring import Scorer
from cobench.agent_runner.verdict_files import SCHEMA, read_verdict_rows, verdict_bytes
from cobench.cli import run
from cobench.schemas.canonical import narrow
from cobench.schemas.certificate import Certificate, Grade, IncumbentClaim
from cobench.schemas.errors import Disagreement, InputError
from cobench.schemas.plan import Plan
from cobench.schemas.problem import pose
from cobench.schemas.scored import Scored
from cobench.schemas.task import load_task
from cobench.schemas.verdict import Standing, Verdict, Violation
from cobench.solver.checker.check import Evaluation, open_data
from cobench.verification import data_of, verify

from .test_house import ROOT, loaded_by

TASKS = ROOT / "tasks" / "parks"
WEEKEND, FIXED, POOL = (
    "parks-2-01-zion-weekend",
    "parks-1-01-southwest-fixed-dates",
    "parks-1-08-weekend-pool-in-the-desert",  # without a plan
)
BEST = {"flight": "flight_T0486_15_17", "hotel": "pkg_92d273b9_15_17_1"}
SECOND = {"flight": "flight_T0486_15_17", "hotel": "pkg_5f52a5d3_15_17_1"}

Line = dict[str, Any]


@pytest.fixture(scope="module")
def certified(tmp_path_factory: pytest.TempPathFactory) -> Path:
    """A folder with three certificates."""
    out = tmp_path_factory.mktemp("certified")
    files = [str(TASKS / f"{name}.yaml") for name in (WEEKEND, FIXED, POOL)]
    assert run(["verify", *files, "--engines", "scan", "--out", str(out), "-q", "--json"]) == 0
    return out


@pytest.fixture
def scored(certified: Path, tmp_path: Path) -> Callable[..., list[Scored]]:
    """Scores lines, given as data or bytes, and reads the verdicts back."""

    def score(lines: list[Line] | bytes, *more: str, suffix: str = ".parquet", code: int = 0) -> list[Scored]:
        out = tmp_path / f"verdicts{suffix}"
        out.unlink(missing_ok=True)
        content = lines if isinstance(lines, bytes) else b"".join(json.dumps(line).encode() + b"\n" for line in lines)
        (tmp_path / "lines.jsonl").write_bytes(content)
        args = ["--submissions", str(tmp_path / "lines.jsonl"), "--task", str(TASKS), "--certificate", str(certified)]
        assert run(["score", *args, "--out", str(out), "-q", *more]) == code
        assert out.exists() == (code == 0)
        return read_verdict_rows(out) if code == 0 else []

    return score


def line(answer: Any, task: str = WEEKEND, agent: str = "a", **more: str) -> Line:
    return {"task": task, "agent": agent, "answer": answer, **more}


def plan(picks: dict[str, str]) -> Line:
    return {"picks": picks}


def test_every_answer_has_its_verdict_in_the_order_of_the_file(scored: Callable[..., list[Scored]]) -> None:
    other = "picks: {hotel: nonsense}"
    lines = [
        line(plan(SECOND), published="Correct"),
        line({"refusal": "no"}, POOL, "b"),
        line(plan(BEST), agent="b"),
        line(other, FIXED),
        line("{'picks': ", FIXED),
        line(None),
        line({"refusal": "no"}),
        line(7),
        line(plan(BEST), agent="b"),
        line(plan({**BEST, "hotel": "pkg_92d273b9_16_18_1"})),
        line(json.dumps(plan(BEST))),
        line({"picks": {"hotel": 1.5}}),
        line({"a": [[[[[[[[[[[[[[[[[[[[1]]]]]]]]]]]]]]]]]]]]}),
        line("\ud83d\ude00"),
    ]
    rows = scored(lines)
    assert [row.kind.value for row in rows] == [
        "feasible", "correct refusal", "optimal", "unknown offer", "unparsable", "no answer", "wrong refusal",
        "unparsable", "optimal", "violates", "optimal", "unknown offer", "unparsable", "unparsable",
    ]  # fmt: skip
    assert [row.line for row in rows] == list(range(1, len(lines) + 1))
    assert [(row.task, row.agent) for row in rows] == [(item["task"], item["agent"]) for item in lines]
    first = rows[0]
    assert (first.value, first.optimum, first.gap, first.relative_gap) == (107_207, 102_097, 5_110, "5110/102097")
    assert first.standing == Standing(better=1, tied=1, worse=213, total=215)
    assert (first.published, first.unit, first.scale, first.status) == ("Correct", "USD", 100, "solvable")
    assert json.loads(first.submitted or "")["picks"]["hotel"] == [{"id": SECOND["hotel"]}]
    assert json.loads(first.best or "")["picks"]["hotel"] == [{"id": BEST["hotel"]}]
    assert [item.constraint for item in rows[9].violations] == ["dates", "weekend"]
    assert rows[4].submitted is None
    assert not any(str(TASKS) in row.reason or "lines.jsonl" in row.reason for row in rows)


def test_many_at_once_say_what_each_alone_says(
    scored: Callable[..., list[Scored]], certified: Path, tmp_path: Path, capsys: pytest.CaptureFixture[str]
) -> None:
    answers = [plan(BEST), plan(SECOND), plan({**BEST, "hotel": "pkg_92d273b9_16_18_1"}), {"refusal": "no"}, plan({})]
    for row, answer in zip(scored([line(answer) for answer in answers]), answers, strict=True):
        (tmp_path / "plan.json").write_text(json.dumps(answer), encoding="utf-8")
        capsys.readouterr()
        one = ["score", str(TASKS / f"{WEEKEND}.yaml"), str(tmp_path / "plan.json"), "--json", "-q"]
        assert run([*one, "--certificate", str(certified / f"{WEEKEND}.cert.json")]) == 0
        alone = Verdict.model_validate_json(capsys.readouterr().out)
        assert alone == Verdict(**{name: getattr(row, name) for name in Verdict.model_fields})


@pytest.mark.parametrize("suffix", [".parquet", ".jsonl"])
def test_equal_input_gives_equal_bytes_and_the_same_rows_in_either_form(
    suffix: str, scored: Callable[..., list[Scored]], tmp_path: Path
) -> None:
    lines = [line(plan(SECOND)), line("?", POOL, "b", published="x"), line(plan(BEST))]
    rows = scored(lines, suffix=suffix)
    before = (tmp_path / f"verdicts{suffix}").read_bytes()
    assert scored(lines, suffix=suffix) == rows
    assert (tmp_path / f"verdicts{suffix}").read_bytes() == before == verdict_bytes(rows, suffix)
    other = ".jsonl" if suffix == ".parquet" else ".parquet"
    assert scored(lines, suffix=other) == rows


def test_a_table_for_people_and_numbers_for_programs(
    scored: Callable[..., list[Scored]], capsys: pytest.CaptureFixture[str], monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setenv("COLUMNS", "200")
    lines = [line(plan(BEST)), line(plan(SECOND)), line(plan(BEST), agent="[red]b\x1b[1m")]
    scored(lines)
    shown = capsys.readouterr().out
    assert "[red]b\\x1b[1m" in shown
    assert "2.51 %" in shown  # the mean of 0 and 5110/102097, rounded up
    scored(lines, "--json")
    found = json.loads(capsys.readouterr().out)
    assert (found["submissions"], found["tasks"], len(found["agents"])) == (3, 1, 2)
    assert found["agents"][1]["median_gap"] == "2555/102097"


def test_scoring_many_loads_no_engine(certified: Path, tmp_path: Path) -> None:
    (tmp_path / "lines.jsonl").write_text(json.dumps(line(plan(SECOND))) + "\n", encoding="utf-8")
    args = ["score", "--submissions", str(tmp_path / "lines.jsonl"), "--task", str(TASKS), "-q"]
    code = f"""
from cobench.cli import run
assert run({[*args, "--certificate", str(certified), "--out", str(tmp_path / "v.parquet")]!r}) == 0
engines = ("scan", "cpsat", "mip", "isolate", "certify", "lower", "sets", "model")
assert not [name for name in sys.modules if name.startswith("cobench.solver.") and name.split(".")[2] in engines]
"""
    assert loaded_by(code) <= {"pandas"}  # which pyarrow looks for when it makes a table


# ------------------------------------------------------------------------------------------------------------- ignoring


def scorer(*ignore: str) -> Scorer:
    """A scorer of the weekend, and what it needs."""
    file = load_task(TASKS / f"{WEEKEND}.yaml")
    dataset = data_of(file, None)
    problem = pose(file, dataset.manifest)
    certificate = verify(file, engines="scan", survivors=False, check=False).certificate
    return Scorer(problem, open_data(dataset.folder, problem), certificate, ignore=ignore)


def test_what_is_ignored_is_listed_and_leaves_a_plan_feasible_without_a_rank(
    scored: Callable[..., list[Scored]],
) -> None:
    lines = [line(plan({**BEST, "hotel": "pkg_92d273b9_16_18_1"})), line(plan(SECOND)), line(plan(BEST))]
    strict, *_ = scored(lines)
    for patterns in (("dates", "weekend"), ("[dw]*",), ("*",)):
        args = [part for pattern in patterns for part in ("--ignore", pattern)]
        lenient, second, best = scored(lines, *args)
        assert (lenient.kind.value, lenient.ignored) == ("feasible", ("dates", "weekend"))
        assert (lenient.violations, lenient.value) == (strict.violations, strict.value)
        assert (lenient.optimum, lenient.gap, lenient.relative_gap, lenient.standing) == (None,) * 4
        assert (second.kind.value, second.ignored, best.kind.value) == ("feasible", (), "optimal")
        assert second.standing is not None
    partly, *_ = scored(lines, "--ignore", "dates")
    assert (partly.kind.value, partly.ignored) == ("violates", ("dates",))


def test_a_plan_that_breaks_what_is_ignored_may_be_better_than_the_optimum(monkeypatch: pytest.MonkeyPatch) -> None:
    clauses = tuple(Violation(constraint=name, detail="x") for name in ("trip.lasts", "trip.twice", "day.twice"))
    for broken, ignore, kind in [
        (clauses, ("*.twice", "trip.lasts"), "feasible"),
        (clauses, ("*.twice",), "violates"),
        (clauses[1:], ("*.twice",), "feasible"),
        (clauses, (), "violates"),
    ]:
        judge = scorer(*ignore)
        monkeypatch.setattr(scoring, "evaluate", lambda *_, broken=broken: Evaluation(1, broken, ()))
        verdict = judge.score(Plan.of(BEST))
        assert (verdict.kind.value, verdict.value, verdict.standing) == (kind, 1, None)
    monkeypatch.setattr(scoring, "evaluate", lambda *_: Evaluation(1, (), ()))
    with pytest.raises(Disagreement, match="best value"):  # without any violation it would be a contradiction
        scorer("*").score(Plan.of(BEST))


def test_a_plan_better_than_a_bound_or_of_a_value_that_none_has_contradicts(monkeypatch: pytest.MonkeyPatch) -> None:
    judge = scorer()
    claims, problem, data = judge.certificate.claims, judge.problem, judge.data
    assert claims.optimum is not None
    best = narrow(claims.optimum.value)
    for value, bound in [(best, best), (best + 5, best)]:
        known = IncumbentClaim(value=value, plan=claims.optimum.plan, bound=bound, grade=Grade.CLAIMED)
        only = claims.model_copy(update={"optimum": None, "distribution": None, "incumbent": known})
        open_ = Scorer(problem, data, judge.certificate.model_copy(update={"claims": only}))
        monkeypatch.setattr(scoring, "evaluate", lambda *_: Evaluation(best + 7, (), ()))
        found = open_.score(Plan.of(BEST))
        assert (found.kind.value, found.optimum) == ("feasible", best if value == bound else None)
        monkeypatch.setattr(scoring, "evaluate", lambda *_: Evaluation(best - 1, (), ()))
        with pytest.raises(Disagreement, match="no value is better"):
            open_.score(Plan.of(BEST))
    monkeypatch.setattr(scoring, "evaluate", lambda *_: Evaluation(best + 1, (), ()))
    with pytest.raises(Disagreement, match="no plan has the value"):
        judge.score(Plan.of(BEST))


def test_ignoring_what_no_task_has_is_an_error(
    scored: Callable[..., list[Scored]], capsys: pytest.CaptureFixture[str]
) -> None:
    scored([line(plan(BEST))], "--ignore", "budgte", code=2)
    assert "did you mean 'budget'?" in " ".join(capsys.readouterr().err.split())
    scored([line(plan(BEST))], "--ignore", "hotel.twice", code=2)


def test_one_plan_may_be_judged_leniently_too(
    certified: Path, tmp_path: Path, capsys: pytest.CaptureFixture[str]
) -> None:
    (tmp_path / "plan.json").write_text(json.dumps(plan({**BEST, "hotel": "pkg_92d273b9_16_18_1"})), encoding="utf-8")
    one = ["score", str(TASKS / f"{WEEKEND}.yaml"), str(tmp_path / "plan.json"), "--json", "-q"]
    one += ["--certificate", str(certified / f"{WEEKEND}.cert.json")]
    assert run([*one, "--ignore", "dates", "--ignore", "weekend"]) == 0
    assert json.loads(capsys.readouterr().out)["kind"] == "feasible"
    assert run([*one, "--ignore", "nothing"]) == 2


# ------------------------------------------------------------------------------------------------------------ bad input

GOOD = json.dumps(line(plan(BEST))).encode()
DEEP = b"[" * 100_000


@pytest.mark.parametrize(
    ("content", "said"),
    [
        (b"", "holds no submissions"),
        (b"\n \r\n", "holds no submissions"),
        (GOOD + b"\nnot json\n", "lines.jsonl:2:1: error: not valid JSON"),
        (GOOD + b"\n\n[1]\n", "lines.jsonl:3:1: error: a JSON object is needed"),
        (b'{"task": "x", "agent": "\xff", "answer": null}', "lines.jsonl:1:1: error: not UTF-8 text: byte 0xff"),
        (b'{"task": "x", "task": "x", "agent": "a", "answer": null}', "the key 'task' stands here twice"),
        (b'{"task": "x", "agent": "a", "answer": NaN}', "NaN is no JSON"),
        (b'{"task": "x", "agent": "a", "answer": ' + DEEP, "nested too deeply"),
        (b'{"task": "x", "agent": "a", "answer": "' + b"x" * (9 << 20) + b'"}', "at most 8 MiB"),
        (gzip.compress(GOOD, mtime=0), "this file is compressed"),
        (b'{"agent": "a", "answer": null}', "'task' is missing"),
        (b'{"task": "x", "agent": "a"}', "'answer' is missing"),
        (b'{"task": "x", "agent": 3, "answer": null}', "'agent' is text"),
        (b'{"task": "x", "agent": "", "answer": null}', "'agent' is text"),
        (b'{"task": "x", "agent": "\\ud800", "answer": null}', "half of a surrogate pair"),
        (b'{"task": "x", "agent": "a", "answer": null, "published": 1}', "'published' is text"),
        (b'{"task": "x", "agent": "a", "answer": null, "publishd": "1"}', "did you mean 'published'?"),
        (GOOD + b"\n" + GOOD.replace(b"2-01-zion", b"2-01-zoin"), "lines.jsonl:2:1: error: no task"),
        (GOOD.replace(WEEKEND.encode(), b"parks-2-02-shortest-drive"), "no certificate of 'parks-2-02-shortest-drive'"),
    ],
)
def test_a_bad_line_is_an_error_with_its_place_and_nothing_is_written(
    content: bytes, said: str, scored: Callable[..., list[Scored]], capsys: pytest.CaptureFixture[str]
) -> None:
    scored(content, code=2)
    assert said in capsys.readouterr().err


def test_a_byte_order_mark_other_line_ends_and_a_huge_answer_are_read(scored: Callable[..., list[Scored]]) -> None:
    huge = json.dumps(line("x" * (2 << 20))).encode()
    rows = scored(b"\xef\xbb\xbf" + GOOD + b"\r\n\r\n" + huge + b"\r\n" + GOOD)
    assert [(row.line, row.kind.value) for row in rows] == [(1, "optimal"), (3, "unparsable"), (4, "optimal")]


@pytest.mark.parametrize(
    "args",
    [
        ["--submissions", "lines.jsonl"],
        ["--submissions", "lines.jsonl", "--task", "t"],
        ["--submissions", "lines.jsonl", "--task", "t", "--certificate", "c", "task.yaml"],
        ["--task", "t", "task.yaml", "plan.yaml"],
        ["--out", "v.parquet", "task.yaml", "plan.yaml"],
        ["task.yaml"],
        ["--submissions", ".", "--task", ".", "--certificate", "."],
        ["--submissions", "lines.jsonl", "--task", ".", "--certificate", ".", "--out", "v.csv"],
        ["--submissions", "lines.jsonl", "--task", ".", "--certificate", ".", "--out", "lines.jsonl"],
    ],
)
def test_options_that_do_not_fit(args: list[str], tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.chdir(tmp_path)
    (tmp_path / "lines.jsonl").write_bytes(GOOD)
    assert run(["score", *args]) == 2
    assert [path.name for path in tmp_path.iterdir()] == ["lines.jsonl"]
    assert (tmp_path / "lines.jsonl").read_bytes() == GOOD


def test_certificates_of_other_tasks_and_data_are_refused(
    certified: Path, tmp_path: Path, capsys: pytest.CaptureFixture[str]
) -> None:
    from cobench.schemas.certificate import read_certificate  # noqa: PLC0415 - used here only

    path = certified / f"{WEEKEND}.cert.json"
    found = read_certificate(path.read_bytes(), "x")
    (tmp_path / "lines.jsonl").write_bytes(GOOD)

    def refused(changed: Certificate, said: str, code: int = 2) -> None:
        (tmp_path / "c.cert.json").write_bytes(changed.sealed().to_bytes())
        args = ["score", "--submissions", str(tmp_path / "lines.jsonl"), "--task", str(TASKS)]
        out = tmp_path / "v.jsonl"
        assert run([*args, "--certificate", str(tmp_path / "c.cert.json"), "--out", str(out)]) == code
        assert said in capsys.readouterr().err
        assert not out.exists()

    task = found.task.model_copy(update={"digest": "sha256:1"})
    refused(found.model_copy(update={"task": task}), "about another task")
    data = found.dataset.model_copy(update={"manifest": "sha256:1"})
    refused(found.model_copy(update={"dataset": data}), "about other data")
    assert found.claims.optimum is not None
    worse = found.claims.optimum.model_copy(update={"plan": Plan.of(SECOND), "value": 107_207, "runner_up": 109_657})
    claims = found.claims.model_copy(update={"optimum": worse, "distribution": None, "count": None})
    refused(found.model_copy(update={"claims": claims}), "lines.jsonl:1:1: error: a feasible plan contradicts", 4)


# -------------------------------------------------------------------------------------------------- files of verdicts


def row(**more: Any) -> Scored:
    known = {"task": "t", "kind": "violates", "agent": "a", "line": 1, "status": "solvable"}
    digests = dict.fromkeys(("task_digest", "data_digest", "certificate_digest"), "sha256:0")
    return Scored.model_validate({**known, **digests, **more}, strict=False)


@pytest.mark.parametrize("suffix", [".parquet", ".jsonl"])
def test_amounts_beyond_64_bits_survive(suffix: str, tmp_path: Path) -> None:
    huge = 10**60
    violation = Violation(constraint="c", detail="d", amount=str(huge), unit="USD", scale=100)
    rows = [
        row(kind="feasible", value=str(-huge), optimum=str(huge), gap=str(2 * huge), relative_gap="2",
            violations=[violation], ignored=["c"],
            standing=Standing(better=str(huge), tied=1, worse=0, total=str(huge + 1))),
        row(line=2, relative_gap=f"{10**150}/7", reason="\x00\u202e"),
    ]  # fmt: skip
    path = tmp_path / f"v{suffix}"
    path.write_bytes(verdict_bytes(rows, suffix))
    assert read_verdict_rows(path) == rows


def table(**columns: Any) -> pa.Table:
    """One verdict as a table, with other columns."""
    stream = verdict_bytes([row()], ".parquet")
    found = pq.read_table(pa.BufferReader(stream))
    for name, column in columns.items():
        place = found.schema.get_field_index(name)
        found = found.append_column(name, [column]) if place < 0 else found.set_column(place, name, [column])
    return found


@pytest.mark.parametrize(
    ("made", "said"),
    [
        (lambda: table().drop_columns(["gap"]), "the column 'gap' is missing"),
        (lambda: table(more=["x"]), "unknown column 'more'"),
        (lambda: table(line=["1"]), "the column 'line' holds string"),
        (lambda: table(kind=["splendid"]), "row 1: error: this is no verdict: kind"),
        (lambda: table(relative_gap=["1/0"]), "no fraction"),
        (lambda: table(relative_gap=["2/4"]), "no fraction"),
        (lambda: table(value=["1e3"]), "this is no verdict"),
        (lambda: table(value=["007"]), "not the one spelling"),
        (lambda: table(better=["5"], tied=["1"], worse=["1"], total=["1"]), "do not add up"),
        (lambda: table(better=["5"]), "this is no verdict"),
        (lambda: table(scale=[0]), "a scale is at least 1"),
        (lambda: table().slice(0, 0), "holds no verdicts"),
    ],
)
def test_altered_tables_are_refused(made: Callable[[], pa.Table], said: str, tmp_path: Path) -> None:
    pq.write_table(made(), tmp_path / "v.parquet")
    with pytest.raises(InputError) as fault:
        read_verdict_rows(tmp_path / "v.parquet")
    assert said in str(fault.value)


@pytest.mark.parametrize("content", [b"", b"PAR1", b"PAR1" + bytes(100) + b"PAR1", GOOD])
def test_what_is_no_parquet_is_refused(content: bytes, tmp_path: Path) -> None:
    for name in ("v.parquet", "v.jsonl"):
        (tmp_path / name).write_bytes(content)
        with pytest.raises(InputError):
            read_verdict_rows(tmp_path / name)
    (tmp_path / "folder.parquet").mkdir()
    for name in ("folder.parquet", "missing.parquet", "missing.jsonl", "v.csv"):
        with pytest.raises(InputError):
            read_verdict_rows(tmp_path / name)


def test_columns_stand_as_documented() -> None:
    assert {field.name for field in SCHEMA} >= {*Scored.model_fields} - {"standing"}
