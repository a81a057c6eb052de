"""`cobench report RUN` and `cobench compare`: a page that holds hostile text as text and draws offline."""

from __future__ import annotations

import json
import re
import shutil
import subprocess
from collections.abc import Sequence
from pathlib import Path

import pytest
from cobench.agent_runner.measures.collected import collected
from cobench.agent_runner.measures.tables import tables
from cobench.agent_runner.metrics import metric_words
from cobench.agent_runner.runs import Run, open_run, read_run
from cobench.cli import run
from cobench.cli.run_display import print_run
from cobench.cli.run_pages import run_page
from cobench.schemas.episode import MAX_TEXT, Answered, CallRecord, Episode, UserFault
from cobench.schemas.run import Unscored
from cobench.schemas.verdict import VerdictKind

from .episodes import drawn_episodes, episode, turn, verdict, violates
from .test_measures_paired import as_run
from .test_report_verdicts import EVIL, scripts

CHROMIUM = next(filter(None, map(shutil.which, ("chromium", "chromium-browser", "google-chrome"))), None)
RIGHT_TO_LEFT = "\u202eevil\u2066 מלון"


def hostile(number: int) -> Episode:
    """A conversation in which whatever comes from outside is meant to break a page."""
    bad = violates(f"task-{number:03}", *(f"{EVIL}{place}" for place in range(30)), detail=EVIL * 20)
    call = CallRecord(turn=1, tool=EVIL[:100], arguments=EVIL * 30)
    said = turn(1, bad, user=EVIL + RIGHT_TO_LEFT, agent="x" * (MAX_TEXT - 99) + EVIL, user_faults=(UserFault.OTHER,))
    shouted = turn(2, bad, user="\x00" * 50, agent=EVIL * 40, reason=EVIL, answered=Answered.FORMAT_ERROR)
    return episode(bad, agent=EVIL, turns=(said, shouted), calls=(call,) * 40)


def page(runs: Sequence[Run], title: str = "title") -> str:
    found = collected(runs)
    return run_page(title, found, tables(found))


@pytest.fixture(scope="module")
def full() -> str:
    """A page about three agents, one of them hostile, with everything on it."""
    items = [*drawn_episodes(12, ["weak", "good"], epochs=2), *map(hostile, range(3))]
    gone = Unscored(task="task-001", agent="weak", epoch=1, reason=EVIL)
    return page([as_run(items, f"runs/{EVIL}", [gone])], EVIL)


@pytest.mark.row(99)
def test_a_page_holds_hostile_text_as_text_and_asks_for_nothing(full: str) -> None:
    outside, specs = scripts(full)
    assert full.count("<script>") == full.count("</script>") == 2
    assert "<img" not in outside
    assert not re.search(
        r"[\x00-\x08\x0b-\x1f\x7f-\x9f\u202a-\u202e\u2066-\u2069]", outside + json.dumps(specs, ensure_ascii=False)
    )
    assert not re.search(r"<[^>]*\s(?:src\s*=|href\s*=\s*\"[^#])|url\(|@import|https?:", outside)
    assert len(specs) == outside.count('<div id="figure-') >= 20
    assert all(label for label in re.findall(r'role="img" aria-label="([^"]*)"', outside))
    assert outside.count("<noscript>") == len(specs)
    assert not re.search(r"\b(?:NaN|inf(?:inity)?)\b", outside + json.dumps(specs), re.IGNORECASE)
    assert "\\u202eevil" in outside


@pytest.mark.row(99)
def test_a_page_has_intervals_provenance_and_the_papers_rows_apart(full: str) -> None:
    headings = re.findall(r"<h2>(.*?)</h2>", scripts(full)[0])
    place = {name: number for number, name in enumerate(headings)}
    paper = place["For reference: the paper&#39;s own numbers"]
    assert paper > place["Worst cases"] > place["Feasible and optimal"]
    body = full[: full.index("<h2>For reference")]
    assert "GPT-5" not in body
    after = full[full.index("<h2>For reference") : full.index("<h2>Where this comes from")]
    assert all(name in after for name in ("GPT-5", "v1", "v2", "was measured here"))
    assert re.search(r"\d+\.\d % \(\d+–\d+\)", body)
    assert "sha256:0" in full
    links = re.findall(r'<a href="#([^"]*)"', full)
    assert len(links) == len(headings)


@pytest.mark.skipif(CHROMIUM is None, reason="no Chromium here")
def test_a_browser_without_a_network_draws_every_figure(full: str, tmp_path: Path) -> None:
    watch = (
        "<script>const faults = []; for (const kind of ['error', 'unhandledrejection', 'securitypolicyviolation'])"
        " addEventListener(kind, fault => faults.push(fault.message || kind), true);</script>"
    )
    tell = (
        "<script>setTimeout(() => { const wide = document.documentElement.scrollWidth > innerWidth + 1;"
        " document.body.dataset.asked = performance.getEntriesByType('resource').length;"
        " document.body.dataset.faults = faults.join(); document.body.dataset.wide = wide; }, 8000)</script>"
    )
    path = tmp_path / "page.html"
    head, _, rest = full.replace("<title>", f"{watch}<title>", 1).rpartition("</body>")  # the scripts hold one, too
    path.write_text(f"{head}{tell}</body>{rest}", encoding="utf-8")
    done = subprocess.run(
        [
            str(CHROMIUM), "--headless=new", "--no-sandbox", "--disable-gpu", "--disable-background-networking",
            "--disable-component-update", "--proxy-server=127.0.0.1:9", "--virtual-time-budget=10000",
            "--window-size=500,900", f"--user-data-dir={tmp_path / 'profile'}", "--dump-dom", path.as_uri(),
        ],
        capture_output=True, encoding="utf-8", timeout=120, check=True,
    )  # fmt: skip
    body = re.search(r"<body[^>]*>", done.stdout)
    assert body is not None
    assert 'data-asked="0"' in body[0]
    assert 'data-faults=""' in body[0]
    assert 'data-wide="false"' in body[0]  # nothing makes the page wider than a small window
    _, specs = scripts(full)
    drawn = re.findall(r'<div id="figure-\d+"[^>]*>(.*?)</figure>', done.stdout, re.DOTALL)
    assert len(drawn) == len(specs)
    for figure in drawn:
        assert re.search(r"<svg[^>]*>.*<(?:path|line|rect|text)", figure, re.DOTALL)
    assert "NaN" not in "".join(drawn)


def test_pages_about_next_to_nothing_are_pages() -> None:
    nothing = as_run([])
    assert "no conversation with an outcome" in page([nothing])
    one = page([as_run([episode(violates("t", "beds"))])])
    assert one == page([as_run([episode(violates("t", "beds"))])])
    assert "Two agents, one task" not in one
    silent = episode(verdict("t", VerdictKind.NO_ANSWER), turns=(), told=None)
    assert page([as_run([silent])])


def test_transcripts_are_cut_and_say_so(full: str) -> None:
    assert "more characters)" in full
    assert "… and 32 more" in full
    assert len(full.encode()) < 2_000_000


# ------------------------------------------------------------------------------------------------------------ commands


def saved(folder: Path, items: Sequence[Episode]) -> Path:
    """A folder as `cobench run` leaves it."""
    facts = as_run(items).facts
    with open_run(folder, facts) as opened:
        for item in items:
            opened.add(item)
    return folder


def test_the_command_writes_a_page_tables_and_numbers(tmp_path: Path, capsys: pytest.CaptureFixture[str]) -> None:
    folder = saved(tmp_path / "run", drawn_episodes(4, ["a", "b"]))
    assert run(["report", str(folder), "--out-tables", str(tmp_path / "tables"), "--json", "-q"]) == 0
    found = json.loads(capsys.readouterr().out)
    assert found["conversations"] == 8
    assert {path.stem for path in (tmp_path / "tables").iterdir()} == set(found["tables"])
    assert run(["report", str(folder), "-o", str(tmp_path / "r.html"), "-q"]) == 0
    text = (tmp_path / "r.html").read_text(encoding="utf-8")
    for row in found["tables"]["headline"]["rows"]:
        assert f"{100 * row['FR']['hits'] / row['FR']['of']:.1f} %" in text
    assert not list(tmp_path.rglob("*.tmp"))


@pytest.mark.parametrize(
    "args", [["run", "run"], ["run", "v.jsonl"], ["v.jsonl", "--out-tables", "t"], ["empty"], ["run", "-o", "run"]]
)
def test_what_is_no_run_writes_nothing(args: list[str], tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.chdir(tmp_path)
    saved(Path("run"), [episode(verdict("t", VerdictKind.OPTIMAL))])
    Path("empty").mkdir()
    Path("v.jsonl").write_text("{}\n", encoding="utf-8")
    assert run(["report", *args]) == 2
    assert sorted(path.name for path in tmp_path.iterdir()) == ["empty", "run", "v.jsonl"]


def test_two_agents_are_compared(tmp_path: Path, capsys: pytest.CaptureFixture[str]) -> None:
    one = saved(tmp_path / "one", drawn_episodes(12, ["weak", "budgeted:20"]))
    two = saved(tmp_path / "two", drawn_episodes(13, ["weak"]))
    assert run(["compare", f"{one}:weak", f"{one}:budgeted:20", "--json", "-q"]) == 0
    found = json.loads(capsys.readouterr().out)
    assert (found["pairs"], found["unpaired"], found["other_users"]) == (12, [0, 0], 0)
    assert {row["name"] for row in found["measures"]} >= {"FR", "OR-5", "relative gap", "E", "Y"}
    assert run(["compare", f"{one}:weak", str(two), "-q"]) == 0
    out = capsys.readouterr().out
    assert "12 pairs about 12 tasks; 1 conversation without a partner" in out
    assert re.search(r"FR .* 0/0/12", out)
    assert out.startswith(f"first   {one}:weak\nsecond  ")
    assert run(["compare", "--help"]) == 0
    assert "\\" not in out + capsys.readouterr().out


def test_what_cannot_be_compared_is_refused(tmp_path: Path, capsys: pytest.CaptureFixture[str]) -> None:
    one = saved(tmp_path / "one", drawn_episodes(2, ["weak", "good"]))
    other = saved(tmp_path / "other", [episode(verdict("u", VerdictKind.OPTIMAL))])
    moved = [item.model_copy(update={"task_digest": "sha256:9"}) for item in drawn_episodes(2, ["weak"])]
    changed = saved(tmp_path / "changed", moved)
    for args, said in [
        ([str(one), str(other)], "this run has 2 agents"), ([f"{one}:wek", str(other)], "weak"),
        ([f"{one}:weak", str(other)], "no conversation about the same task"),
        ([str(tmp_path / "no"), str(other)], "no run"),
        ([f"{one}:weak", str(changed)], "not the same task"),
    ]:  # fmt: skip
        assert run(["compare", *args, "-q"]) == 2
        assert said in capsys.readouterr().err


def test_the_file_of_one_conversation_is_a_run_of_its_own(tmp_path: Path, capsys: pytest.CaptureFixture[str]) -> None:
    one = saved(tmp_path / "one", drawn_episodes(2, ["weak"]))
    path = tmp_path / "me.json"
    path.write_bytes(episode(verdict("task-001", VerdictKind.OPTIMAL), agent="me").to_bytes())
    assert run(["report", str(path), "--json", "-q"]) == 0
    assert json.loads(capsys.readouterr().out)["agents"] == ["me"]
    assert run(["report", str(path), str(one), "--json", "-q"]) == 0
    assert len(json.loads(capsys.readouterr().out)["agents"]) == 2
    path.write_text("{}", encoding="utf-8")
    assert run(["compare", str(path), str(one), "-q"]) == 2
    assert "neither a run nor the record of a conversation" in capsys.readouterr().err


def test_tables_of_compare_and_run_fit_a_small_terminal(
    tmp_path: Path, capsys: pytest.CaptureFixture[str], monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setenv("COLUMNS", "80")
    one = saved(tmp_path / "one", drawn_episodes(12, ["weak", "good"]))
    monkeypatch.chdir(tmp_path)
    assert run(["compare", "one:weak", "one:good", "-q"]) == 0
    print_run(read_run(one))
    lines = capsys.readouterr().out.splitlines()
    assert max(map(len, lines)) <= 80
    rows = [line.split() for line in lines if line.startswith((" exploration", " reasoning", " weak", " good"))]
    assert [len(row) > 8 for row in rows] == [True] * 4
    assert any("FR: feasible" in line for line in lines)


def test_a_page_tells_the_names_of_runs_and_not_where_they_lie(tmp_path: Path) -> None:
    items = drawn_episodes(3, ["a", "b"])
    one, other = (page([as_run(items, str(tmp_path / place / "mine"))]) for place in ("here", "there"))
    assert one == other
    assert str(tmp_path) not in one
    both = [as_run(items, str(tmp_path / place / "mine")) for place in ("here", "there")]
    assert set(collected(both).agents) >= {"a (here/mine)", "a (there/mine)"}


def test_a_page_explains_itself_at_the_top_and_names_all_that_are_best() -> None:
    best = [episode(verdict(f"t{number}", VerdictKind.OPTIMAL), agent=name) for number in range(3) for name in "ab"]
    outside, _ = scripts(page([as_run([*best, episode(violates("t0", "beds"), agent="c")])]))
    assert "Best: a and b, FR" in outside
    assert "With fewer than 10 tasks" in outside
    assert outside.index("<h2>How to read this") < outside.index("<h2>Feasible and optimal")
    reading = outside[outside.index("<h2>How to read this") : outside.index("<h2>Feasible and optimal")]
    assert all(f"<td>{word}</td>" in reading for word in ("E", "Y", "t*", "Δt", "CV"))
    assert "<th></th><th></th>" not in outside
    assert "rounded for themselves" in outside


def test_a_transcript_says_a_standing_verdict_once_and_lists_ids_plainly() -> None:
    bad = violates("t", "beds", detail="two beds are needed")
    call = CallRecord(turn=1, tool="recommend_hotel", arguments='{"ids": ["pkg_1", "pkg_2"]}')
    said = [turn(number, bad, user="word " * 400) for number in (1, 2, 3)]
    outside, _ = scripts(page([as_run([episode(bad, turns=tuple(said), calls=(call,))])]))
    assert outside.count("two beds are needed") == 1
    assert outside.count("as before") == 2
    assert "ids=pkg_1 pkg_2" in outside
    assert "wor …" not in outside
    assert "word … (5" in outside


@pytest.mark.parametrize(
    ("text", "words"),
    [
        ("hotel.total_price", "total price of the hotel"),
        ("hotel.total_price + flight.total_price", "total price of hotel and flight"),
        ("hotel.distance", "distance from the hotel to the park"),
        ("flight.duration_minutes", "duration minutes of the flight"),
        ("drive_minutes(flight.destination, hotel.park)", "drive from the airport to the park"),
        ("2 * hotel.total_price + 1", "2 * hotel.total_price + 1"),
    ],
)
def test_metrics_are_in_words_where_there_are_some(text: str, words: str) -> None:
    assert metric_words(text) == words
