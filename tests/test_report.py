"""Pages, JUnit XML and what changed between certificates."""

from __future__ import annotations

import json
import re
from importlib.util import module_from_spec, spec_from_file_location
from pathlib import Path
from typing import Any
from xml.etree import ElementTree

import pytest
from cobench.cli import run
from cobench.cli.junit import Case, junit_xml
from cobench.report import page as pages
from cobench.report.charts import distribution_chart
from cobench.report.page import Figure, Grid, Section, page
from cobench.schemas.certificate import Certificate, DistributionClaim, Grade, read_certificate, wide_pairs
from cobench.schemas.collection import read_certificates
from cobench.schemas.errors import CertificateError, InputError, OutputError
from cobench.schemas.verdict import Standing, Verdict, VerdictKind
from cobench.solver.questions.changes import changes, cut, flips
from cobench.solver.rank import standing

ROOT = Path(__file__).resolve().parent.parent
TASKS = ROOT / "tasks" / "parks"
WEEKEND = TASKS / "parks-2-01-zion-weekend.yaml"


@pytest.fixture(scope="module")
def certificates(tmp_path_factory: pytest.TempPathFactory) -> Path:
    """Three certificates, one of them of a task without a plan."""
    out = tmp_path_factory.mktemp("certificates")
    tasks = [
        WEEKEND,
        TASKS / "parks-1-01-southwest-fixed-dates.yaml",
        TASKS / "parks-1-08-weekend-pool-in-the-desert.yaml",
    ]
    assert run(["verify", *map(str, tasks), "--engines", "scan", "--out", str(out), "-q", "--json"]) == 0
    return out


# -------------------------------------------------------------------------------------------------------------- pages


@pytest.mark.parametrize("task", ["parks-2-01-zion-weekend", "parks-1-08-weekend-pool-in-the-desert"])
def test_a_page_is_one_file_that_asks_for_nothing(task: str, tmp_path: Path) -> None:
    written = [tmp_path / name for name in ("one.html", "two.html")]
    for path in written:
        assert run(["explain", str(TASKS / f"{task}.yaml"), "--html", str(path), "-q"]) == 0
    text = written[0].read_text(encoding="utf-8")
    assert written[1].read_bytes() == written[0].read_bytes()
    outside = re.sub(r"<script>.*?</script>", "", text, flags=re.DOTALL)
    assert not re.search(r"(?:src|href)\s*=|url\(|@import|https?:", outside)
    specs = json.loads(re.findall(r"const specs = (.*);\n", text)[-1])
    assert len(specs) == outside.count('<div id="figure-') >= 2
    assert all(label for label in re.findall(r'role="img" aria-label="([^"]*)"', outside))
    assert "default-src 'none'" in outside


def test_text_in_a_page_stays_text() -> None:
    evil = "</script><script>alert(1)</script>"
    spec = {"title": evil}
    section = Section(evil, evil, Figure(spec, evil + '"'), Grid((evil,), ((evil,),)))
    text = page(evil, evil, [section])
    assert "<script>alert" not in text
    assert json.loads(re.findall(r"const specs = (.*);\n", text)[-1]) == [spec]
    assert text.count("<script>") == text.count("</script>") == 2


def test_a_page_without_figures_has_no_scripts() -> None:
    assert "<script" not in page("title", "lead", [Section("heading", "text")])


def test_a_page_says_what_is_not_installed(monkeypatch: pytest.MonkeyPatch, tmp_path: Path) -> None:
    monkeypatch.setattr(pages, "find_spec", lambda name: None if name == "altair" else True)
    with pytest.raises(OutputError, match=r"needs altair, .*\n.*cobench\[report\]"):
        pages.require()
    assert run(["explain", str(WEEKEND), "--html", str(tmp_path / "x.html")]) == 2
    assert not list(tmp_path.iterdir())


@pytest.mark.parametrize("values", [1, 7, 61, 5000])
def test_bars_hold_every_plan_once(values: int) -> None:
    pairs = [(3 * number - 40, number % 5 + 1) for number in range(values)]
    spec = distribution_chart(pairs, 100, "cost", {"optimum": -40})
    bars = spec["layer"][0]["data"]["values"]
    assert sum(bar["plans"] for bar in bars) == sum(number for _, number in pairs)
    assert len(bars) <= 60
    for bar in bars:
        inside = [number for value, number in pairs if bar["from"] <= value / 100 < bar["to"]]
        assert sum(inside) == bar["plans"]


def test_few_values_have_bars_around_them_and_marks_that_lie_together_one_label() -> None:
    spec = distribution_chart([(5, 3), (4, 10), (2, 7)], 1, "wish " * 40, {"optimum": 5, "best 1 %": 5, "best 50 %": 2})
    bars, _, labels = (layer["data"]["values"] for layer in spec["layer"])
    for bar in bars:
        assert (round(bar["value"] - bar["from"], 6), round(bar["to"] - bar["value"], 6)) == (0.4, 0.4)
    assert {bar["value"]: bar["plans"] for bar in bars} == {2: 7, 4: 10, 5: 3}
    assert [(label["name"], label["value"]) for label in labels] == [("best 50 %", 2), ("optimum, best 1 %", 5)]
    title = spec["layer"][0]["encoding"]["x"]["title"]
    assert " ".join(title) == ("wish " * 40).strip()
    assert max(map(len, title)) < 100


def test_a_page_has_prices_and_says_where_it_is(tmp_path: Path, capsys: pytest.CaptureFixture[str]) -> None:
    path = tmp_path / "out.html"
    task = str(TASKS / "parks-1-08-weekend-pool-in-the-desert.yaml")
    arguments = ["explain", task, "--price", "pool=40", "--price", "budget=1", "--html", str(path), "-q"]
    assert run(arguments) == 0
    assert f"page written: {path}" in capsys.readouterr().err
    text = path.read_text(encoding="utf-8")
    rows = re.findall(r"<tr><td>(.*?)</td><td>(.*?)</td>", text)
    assert rows[[row[0] for row in rows].index("40") :][:2] == [
        ("40", "drop pool"),
        ("92.68", "raise budget by $92.68"),
    ]
    assert run([*arguments, "--json"]) == 0
    assert "page written" not in "".join(capsys.readouterr())
    assert '"nice": false' in text


# -------------------------------------------------------------------------------------------------------------- junit


def test_junit_says_what_became_of_every_task(tmp_path: Path) -> None:
    surprising = WEEKEND.read_text(encoding="utf-8") + "expect: unsolvable\n"
    (tmp_path / "a.yaml").write_text(surprising, encoding="utf-8")
    (tmp_path / "b.yaml").write_text("cobench: 1\nid: \x0bbad\n", encoding="utf-8")
    fine = WEEKEND.read_text(encoding="utf-8").replace("id: parks", "id: fine")
    (tmp_path / "c.yaml").write_text(fine, encoding="utf-8")
    out = tmp_path / "junit.xml"
    arguments = ["verify", str(tmp_path), "--engines", "scan", "--out", str(tmp_path / "out"), "-q", "--json"]
    assert run([*arguments, "--junit", str(out)]) == 2
    root = ElementTree.fromstring(out.read_bytes())  # noqa: S314 - our own
    assert {key: root.get(key) for key in ("tests", "failures", "errors", "skipped")} == {
        "tests": "3", "failures": "1", "errors": "1", "skipped": "0",
    }  # fmt: skip
    said = {case.get("name"): [item.tag for item in case] for case in root.iter("testcase")}
    assert said == {"a": ["failure"], "b": ["error"], "c": []}


def test_junit_holds_any_text() -> None:
    content = junit_xml("s", [Case("a\x00.yaml", "<&\ud800>", 0.5, 3, "undecided \x1b[31m]]>\nmore")])
    (case,) = ElementTree.fromstring(content).iter("testcase")  # noqa: S314
    assert case.get("name") == "<&\ufffd>"
    (skipped,) = case
    assert skipped.tag == "skipped"
    assert skipped.text == "undecided \ufffd[31m]]>\nmore"


# --------------------------------------------------------------------------------------------------------------- diff


def one(folder: Path, task: str) -> Certificate:
    return read_certificates(folder)[task]


def changed(certificate: Certificate, **claims: Any) -> Certificate:
    return certificate.model_copy(update={"claims": certificate.claims.model_copy(update=claims)}).sealed()


def test_nothing_changed_is_nothing(certificates: Path, capsys: pytest.CaptureFixture[str]) -> None:
    assert run(["diff", str(certificates), str(certificates)]) == 0
    assert capsys.readouterr().out == "3 tasks: nothing changed\n"


def test_every_changed_claim_is_told(certificates: Path) -> None:
    found = one(certificates, "parks-2-01-zion-weekend")
    claims = found.claims
    assert claims.optimum is not None
    assert claims.count is not None
    assert claims.distribution is not None
    cheaper = claims.optimum.model_copy(update={"value": 102_096})
    more = claims.count.model_copy(update={"at_least": 216, "at_most": 216})
    values = claims.distribution.model_copy(update={"values": claims.distribution.values[20:]})
    other_plan = claims.optimum.model_copy(update={"plan": claims.optimum.plan.model_copy(update={"picks": {}})})
    for new, told in [
        (changed(found, optimum=cheaper), ("optimum",)),
        (changed(found, count=more), ("count",)),
        (changed(found, distribution=values), ("cut", "distribution")),
        (changed(found, distribution=None), ("cut", "distribution")),
        (changed(found, optimum=other_plan), ("best plan",)),
        (found.model_copy(update={"objective": found.objective.model_copy(update={"scale": 1})}), ("objective",)),
        (changed(found, count=claims.count.model_copy(update={"grade": Grade.CLAIMED})), None),
    ]:
        (change,) = changes({"t": found}, {"t": new}) or [None]
        assert (change and change.claims) == told
    (added,) = changes({}, {"t": found})
    assert (added.kind, added.old, added.new and added.new.optimum) == ("added", None, 102_097)
    (removed,) = changes({"t": found}, {})
    assert (removed.kind, removed.new) == ("removed", None)


def test_changed_inputs_are_told_apart_from_claims(
    certificates: Path, tmp_path: Path, capsys: pytest.CaptureFixture[str]
) -> None:
    found = one(certificates, "parks-2-01-zion-weekend")
    tables = {**found.dataset.tables, "stays": "sha256:0"}
    other = found.model_copy(
        update={
            "dataset": found.dataset.model_copy(update={"tables": tables}),
            "task": found.task.model_copy(update={"digest": "sha256:1"}),
        }
    ).sealed()
    path = tmp_path / "other.cert.json"
    path.write_bytes(other.to_bytes())
    old = certificates / "parks-2-01-zion-weekend.cert.json"
    assert run(["diff", str(old), str(path)]) == 0
    assert "(other task, table stays)" in capsys.readouterr().out
    assert run(["diff", str(certificates), str(path), "--json"]) == 1
    lines = [json.loads(line) for line in capsys.readouterr().out.splitlines()]
    assert [line["kind"] for line in lines] == ["removed", "removed", "changed"]


def test_the_cut_is_the_worst_value_among_the_best_five_percent(certificates: Path) -> None:
    found = one(certificates, "parks-2-01-zion-weekend")
    for pairs, percent, expected in [
        ([(1, 1), (2, 99)], 5, 2),
        ([(1, 5), (2, 95)], 5, 1),
        ([(1, 4), (2, 1), (3, 95)], 5, 2),
        ([(7, 1)], 5, 7),
        ([(1, 10**20), (2, 10**20)], 20, 1),
    ]:
        claim = DistributionClaim(values=wide_pairs(pairs), grade=Grade.CLAIMED)
        assert cut(changed(found, distribution=claim), percent) == expected
        total = sum(number for _, number in pairs)
        best = [
            value for place, (value, _) in enumerate(pairs) if 100 * sum(n for _, n in pairs[:place]) < percent * total
        ]
        assert best[-1] == expected


@pytest.mark.parametrize("pairs", [[(2, 1), (1, 1)], [(1, 1), (1, 1)], [(1, 0), (2, 3)], [(1, -1)]])
def test_a_distribution_in_no_order_ranks_nothing(pairs: list[tuple[int, int]], certificates: Path) -> None:
    claim = DistributionClaim(values=wide_pairs(pairs), grade=Grade.CLAIMED)
    with pytest.raises(CertificateError, match="best first"):
        standing(changed(one(certificates, "parks-2-01-zion-weekend"), distribution=claim), 1)


def test_certificates_are_read_from_files_folders_and_lines(certificates: Path, tmp_path: Path) -> None:
    every = read_certificates(certificates)
    lines = tmp_path / "all.jsonl"
    lines.write_bytes(b"".join(certificate.to_bytes() for certificate in every.values()))
    (tmp_path / "verdicts.jsonl").write_text('{"task": "t"}\n', encoding="utf-8")
    assert read_certificates(lines) == read_certificates(tmp_path) == every
    lines.write_bytes(lines.read_bytes() + b"{}\n")
    with pytest.raises(CertificateError, match=r"all\.jsonl:4"):
        read_certificates(lines)
    (tmp_path / "again.cert.json").write_bytes(every["parks-2-01-zion-weekend"].to_bytes())
    lines.write_bytes(every["parks-2-01-zion-weekend"].to_bytes())
    with pytest.raises(CertificateError, match="has another certificate in"):
        read_certificates(tmp_path)
    with pytest.raises(CertificateError, match="holds no certificates"):
        read_certificates(
            tmp_path / ".." / tmp_path.name / "nothing" if (tmp_path / "nothing").mkdir() else tmp_path / "nothing"
        )
    assert read_certificate(every["parks-2-01-zion-weekend"].to_bytes(), "x") == every["parks-2-01-zion-weekend"]


# -------------------------------------------------------------------------------------------------------------- flips


def verdict(kind: VerdictKind, better: int | None = None, task: str = "t") -> Verdict:
    standing = None if better is None else Standing(better=better, tied=1, worse=99 - better, total=100)
    return Verdict(task=task, kind=kind, standing=standing)


@pytest.mark.parametrize(
    ("old", "new", "told"),
    [
        (verdict(VerdictKind.OPTIMAL, 0), verdict(VerdictKind.OPTIMAL, 0), None),
        (verdict(VerdictKind.OPTIMAL, 0), verdict(VerdictKind.FEASIBLE, 4), ("no longer optimal",)),
        (verdict(VerdictKind.FEASIBLE, 4), verdict(VerdictKind.FEASIBLE, 5), ("no longer in the best 5 %",)),
        (verdict(VerdictKind.FEASIBLE, 50), verdict(VerdictKind.VIOLATES), ("no longer feasible",)),
        (verdict(VerdictKind.VIOLATES), verdict(VerdictKind.OPTIMAL, 0), ("feasible", "optimal", "in the best 5 %")),
        (verdict(VerdictKind.VIOLATES), verdict(VerdictKind.UNKNOWN_OFFER), ("violates became unknown offer",)),
        (verdict(VerdictKind.FEASIBLE), verdict(VerdictKind.FEASIBLE, 1), None),  # no standing before: nothing is known
    ],
)
def test_flips(old: Verdict, new: Verdict, told: tuple[str, ...] | None) -> None:
    found = flips([old], [new])
    assert [flip.what for flip in found] == ([told] if told else [])


def test_flips_need_the_same_submissions(
    tmp_path: Path, certificates: Path, capsys: pytest.CaptureFixture[str]
) -> None:
    good = verdict(VerdictKind.OPTIMAL, 0)
    with pytest.raises(InputError, match="has 1 verdicts before and 2 after"):
        flips([good], [good, good])
    for name, item in [("old", good), ("new", verdict(VerdictKind.VIOLATES))]:
        (tmp_path / f"{name}.jsonl").write_text(item.model_dump_json(exclude_none=True) + "\n", encoding="utf-8")
    both = [str(tmp_path / "old.jsonl"), str(tmp_path / "new.jsonl")]
    assert run(["diff", str(certificates), str(certificates), "--verdicts", *both]) == 1
    assert "t  submission 1: no longer feasible" in capsys.readouterr().out
    (tmp_path / "new.jsonl").write_text('{"task": 3}\n', encoding="utf-8")
    assert run(["diff", str(certificates), str(certificates), "--verdicts", *both]) == 2
    assert "new.jsonl:1" in capsys.readouterr().err


# ------------------------------------------------------------------------------------------------------- what is shown


def test_the_readme_shows_what_was_measured() -> None:
    spec = spec_from_file_location("readme", ROOT / "benchmarks" / "readme.py")
    assert spec is not None
    assert spec.loader is not None
    made = module_from_spec(spec)
    spec.loader.exec_module(made)
    found = json.loads((ROOT / "benchmarks" / "results" / "feasible_set.json").read_text(encoding="utf-8"))
    assert made.table(found) in (ROOT / "README.md").read_text(encoding="utf-8")


@pytest.mark.parametrize(
    "page", ["README.md", "CONTRIBUTING.md", *(f"docs/{p.name}" for p in sorted((ROOT / "docs").glob("*.md")))]
)
def test_links_lead_somewhere(page: str) -> None:
    text = (ROOT / page).read_text(encoding="utf-8")
    for link in re.findall(r"\]\(([^)#\s]+)(?:#[^)]*)?\)", text):
        assert link.startswith("https://") or ((ROOT / page).parent / link).exists(), link
