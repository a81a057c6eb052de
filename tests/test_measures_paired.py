"""Two agents on the same tasks, traces of what an agent did, and tables that hold the same everywhere."""

from __future__ import annotations

import io
import json
from collections.abc import Sequence
from fractions import Fraction
from itertools import product
from pathlib import Path

import pyarrow.parquet as pq
import pytest
from cobench.agent_runner.measures.cases import farthest, most_broken, study
from cobench.agent_runner.measures.collected import Collected, collected
from cobench.agent_runner.measures.paired import RESAMPLES, bootstrap, compared, pairs, signed_ranks
from cobench.agent_runner.measures.table import content
from cobench.agent_runner.measures.tables import tables
from cobench.agent_runner.measures.trace import trace
from cobench.agent_runner.runs import Run
from cobench.schemas.episode import CallRecord, Episode, Fault
from cobench.schemas.run import RunFile, Unscored
from cobench.schemas.verdict import VerdictKind
from hypothesis import given
from hypothesis import strategies as st

from .episodes import drawn_episodes, episode, regret, turn, verdict, violates


def as_run(episodes: Sequence[Episode], folder: str = "run", unscored: Sequence[Unscored] = ()) -> Run:
    """A run that asked for exactly these conversations."""
    facts = RunFile(
        version="1", suite="s", suite_digest="sha256:0",
        tasks=tuple(dict.fromkeys(item.task for item in episodes)) or ("t",),
        agents=tuple(dict.fromkeys(item.agent for item in episodes)) or ("a",),
        epochs=max((item.epoch for item in episodes), default=1),
    )  # fmt: skip
    return Run(Path(folder), facts, tuple(episodes), tuple(unscored))


def whole(tasks: int, agents: Sequence[str], epochs: int) -> Collected:
    return collected([as_run(drawn_episodes(tasks, agents, epochs))])


# --------------------------------------------------------------------------------------------------------------- paired


@given(st.lists(st.integers(-6, 6), min_size=1, max_size=9))
def test_signed_ranks_are_exact_for_few(values: list[int]) -> None:
    kept = [value for value in values if value]
    found = signed_ranks([Fraction(value) for value in values])
    if not kept:
        assert found is None
        return
    sizes = sorted(abs(value) for value in kept)
    rank = {size: sizes.index(size) + 1 + (sizes.count(size) - 1) / 2 for size in sizes}
    sums = [
        sum(rank[abs(value)] for value, sign in zip(kept, signs, strict=True) if sign)
        for signs in product((False, True), repeat=len(kept))
    ]
    own = sum(rank[abs(value)] for value in kept if value > 0)
    far = max(own, sum(rank[abs(value)] for value in kept) - own)
    assert found == pytest.approx(min(1.0, 2 * sum(total >= far for total in sums) / len(sums)))


def test_signed_ranks_of_many_are_near_the_exact_ones() -> None:
    values = [Fraction(number if number % 3 else -number) for number in range(1, 81)]
    assert signed_ranks(values[:50]) == pytest.approx(0.026167, rel=1e-4)  # scipy.stats.wilcoxon(method="exact")
    assert signed_ranks(values) == pytest.approx(0.006134, rel=0.1)


def test_the_bootstrap_is_over_tasks_and_the_same_again() -> None:
    by_task = {f"t{number}": [Fraction(number)] * 3 for number in range(40)}
    found = bootstrap(by_task, 0)
    assert found is not None
    assert found == bootstrap(by_task, 0)
    assert found != bootstrap(by_task, 1)
    assert found == pytest.approx((19.5 - 3.58, 19.5 + 3.58), abs=0.4)  # 1.96 * 11.54 / sqrt(40)
    assert bootstrap({"t": [Fraction(1)] * 9}, 0) is None
    assert RESAMPLES >= 1000


def test_agents_are_compared_by_task_and_epoch() -> None:
    found = drawn_episodes(30, ["a", "b"], epochs=2)
    a, b = ([item for item in found[::-1] if item.agent == name] for name in ("a", "b"))
    both = pairs(a, b[1:])
    assert len(both) == 59
    assert all((one.task, one.epoch) == (two.task, two.epoch) for one, two in both)
    rows = {row.name: row for row in compared(pairs(a, b))}
    assert rows["FR"].first == Fraction(sum(item.verdict.kind in ("optimal", "feasible") for item in a), 60)
    assert rows["FR"].difference > 0
    assert rows["FR"].interval is not None
    assert rows["FR"].interval[0] > 0
    assert rows["FR"].p is not None
    assert rows["FR"].p < 0.001
    assert all(row.more + row.fewer + row.same == row.tasks for row in rows.values())
    assert rows["relative gap"].pairs < 60  # only where both plans are feasible
    same = {row.name: row for row in compared(pairs(a, a))}
    assert all((row.difference, row.p) == (0, None) for row in same.values())
    assert compared([]) == []


# ---------------------------------------------------------------------------------------------------------------- trace


@pytest.mark.row(55)
def test_a_trace_tells_a_plan_of_search_from_a_careless_one() -> None:
    def call(number: int, tool: str, fault: Fault | None = None, /, **given: str) -> CallRecord:
        return CallRecord(turn=number, tool=tool, arguments=json.dumps(given), fault=fault)

    stay = {"start_date": "2025-08-05", "end_date": "2025-08-07"}
    calls = (
        call(1, "calendar", date="2025-08-05"), call(1, "search_hotel", **stay),
        call(1, "search_hotel", page="2", **stay),
        call(2, "search_hotel", start_date="2025-08-23", end_date="2025-08-25"),
        call(2, "search_hotel", Fault.CONTENT, start_date="2025-08-15", end_date="2025-08-17"),
        call(2, "search_flights", departure_date="2025-08-05", return_date="2025-08-07"),
        call(2, "search_flights", departure_date="2025-08-06", return_date="2025-08-07"),
        call(2, "search_hotel", start_date="soon", end_date="later"), CallRecord(turn=2, tool="odd", arguments="[" * 9),
    )  # fmt: skip
    bad, good, better = violates("t", "beds"), verdict("t", VerdictKind.FEASIBLE, 50), verdict("t", VerdictKind.OPTIMAL)
    turns = (
        turn(1, bad, regret=regret(bad, 80)), turn(2, good, regret=regret(good, 0)), turn(3, better), turn(4, good),
    )  # fmt: skip
    found = trace(episode(good, turns=turns, calls=calls))
    assert found.calendar
    assert (found.windows, found.midweek, found.thirds) == (2, 1, ("early", "late"))
    assert (found.flights, found.astray) == (2, 1)
    assert [step.improved for step in found.steps] == [False, True, True, False]
    assert [len(step.windows) for step in found.steps] == [1, 2, 0, 0]
    assert found.steps[0].calls == {"dates": 1, "search": 2}
    assert found.steps[1].calls == {"search": 5, "other": 1}
    assert [step.shown for step in found.steps] == [Fraction(80, 1000), 0, None, None]
    assert found.improvements == 2


@pytest.mark.row(55)
def test_a_study_is_where_the_best_and_the_worst_agent_differ_most() -> None:
    good, near, far = (verdict(task, VerdictKind.FEASIBLE, gap) for task, gap in (("u", 1), ("v", 1), ("v", 900)))
    found = collected(
        [
            as_run(
                [
                    *(episode(verdict(task, VerdictKind.OPTIMAL), agent="strong") for task in "tv"),
                    episode(good, agent="strong"), episode(violates("u", "beds"), agent="weak"),
                    episode(verdict("t", VerdictKind.FEASIBLE, 20), agent="weak"), episode(far, agent="weak"),
                ]
            )
        ]
    )  # fmt: skip
    pair = study(found)
    assert pair is not None
    assert (pair.strong.agent, pair.weak.agent, pair.strong.task) == ("strong", "weak", "v")
    better = [episode(verdict("v", VerdictKind.FEASIBLE, 5, better=1), agent="middle")]
    better += [episode(verdict(task, VerdictKind.OPTIMAL), agent="middle") for task in "tu"]
    pair = study(collected([as_run([*found.episodes, *better])]))
    assert pair is not None
    assert {pair.strong.agent, pair.weak.agent} == {"strong", "middle"}  # two good ones, not the best and the worst
    assert study(collected([as_run([episode(near)])])) is None
    assert study(collected([])) is None


def test_the_worst_cases_are_one_for_each_task() -> None:
    items = [
        episode(verdict(task, VerdictKind.FEASIBLE, gap), epoch=epoch)
        for task, gap, epoch in (("t", 5, 1), ("t", 9, 2), ("u", 7, 1), ("v", 0, 1))
    ]
    items += [
        episode(violates("w", "a")),
        episode(violates("x", "a", "b")),
        episode(verdict("y", VerdictKind.NO_ANSWER)),
    ]
    assert [(item.task, item.epoch) for item in farthest(items, 9)] == [("t", 2), ("u", 1)]
    assert [item.task for item in most_broken(items, 9)] == ["x", "w", "y"]
    assert [item.task for item in most_broken(items, 2)] == ["x", "w"]


# --------------------------------------------------------------------------------------------------------------- tables


@pytest.mark.row(49)
@pytest.mark.row(50)
@pytest.mark.row(51)
def test_every_group_holds_each_conversation_once() -> None:
    found = whole(40, ["a", "b", "c"], 2)
    every = {table.name: table for table in tables(found)}
    for name in ("by_level", "by_objective", "by_metric", "by_constraints", "by_speed", "by_effort"):
        for agent in found.agents:
            rows = [row for row in every[name].rows if row[0] == agent]
            assert sum(row[2] for row in rows) == 80
            assert (
                sum(row[3].hits for row in rows)
                == next(r for r in found.summaries if r.agent == agent).rates["FR"].hits
            )
            assert len({row[1] for row in rows}) == len(rows) > 1
    assert sum(row[2] for row in every["by_user"].rows) == 3 * 240
    assert [row[1] for row in every["by_constraints"].rows if row[0] == "a"] == sorted(
        {str(item.traits.constraints) for item in found.episodes}, key=int
    )


def test_all_tables_are_the_same_in_json_and_parquet_and_hold_no_nan() -> None:
    every = tables(whole(12, ["a", "b"], 3))
    written = content(every)
    assert "NaN" not in json.dumps(written, allow_nan=False)
    for table in every:
        rows = pq.read_table(io.BytesIO(table.parquet())).to_pylist()
        assert len(rows) == len(written[table.name]["rows"]) == len(table.rows) > 0
        for row, plain in zip(rows, written[table.name]["rows"], strict=True):
            for name, cell in row.items():
                if isinstance(cell, dict) and "hits" in cell:
                    assert (cell["hits"], cell["of"]) == (plain[name]["hits"], plain[name]["of"])
                elif isinstance(cell, dict) and "deviation" in cell:
                    assert cell["mean"] == plain[name]["mean"]
                elif isinstance(cell, dict) and "of" in cell:
                    assert cell["exact"] == plain[name]["mean"]
                elif isinstance(cell, dict):
                    assert cell["exact"] == plain[name]
                elif isinstance(cell, float):
                    assert plain[name] == f"{cell:.6g}"
                else:
                    assert cell == plain[name]


def test_the_curves_end_where_the_headline_stands() -> None:
    found = whole(30, ["a", "b"], 1)
    every = {table.name: table for table in tables(found)}
    for summary in found.summaries:
        last = [row for row in every["turns"].rows if row[0] == summary.agent][-1]
        assert last[3] == summary.rates["FR"]
        assert last[4] == summary.rates["OR-5"]


def test_violations_are_counted_by_plan_and_by_what_had_been_told() -> None:
    told = episode(violates("t", "beds", "pool"), turns=(turn(1, violates("t", "beds", "pool"), revealed=("beds",)),))
    found = collected([as_run([told, episode(violates("u", "beds"))])])
    every = {table.name: table for table in tables(found)}
    assert every["violations"].rows == (("beds", "a", 2, 1), ("pool", "a", 1, 0))


def test_what_has_no_outcome_is_counted_apart() -> None:
    items = drawn_episodes(5, ["a", "b"])
    run = as_run(items)
    gone = Unscored(task="task-004", agent="b", epoch=1, reason="the server died")
    found = collected([Run(run.folder, run.facts, tuple(items[:-1]), (gone,))])
    rows = {row[0]: row[1:5] for table in tables(found) if table.name == "validity" for row in table.rows}
    assert rows == {"a": (5, 5, 0, 0), "b": (5, 4, 1, 0)}
    assert found.reasons == (("the server died", 1),)
    nothing = collected([Run(run.folder, run.facts, (), ())])
    assert {row[0]: row[1:5] for table in tables(nothing) if table.name == "validity" for row in table.rows} == {
        "a": (5, 0, 0, 5), "b": (5, 0, 0, 5),
    }  # fmt: skip


def test_agents_of_several_runs_keep_apart() -> None:
    found = collected([as_run(drawn_episodes(3, ["a"], epochs=2), folder) for folder in ("one", "two")])
    assert found.agents == ["a (one)", "a (two)"]
    assert found.asked == {"a (one)": 6, "a (two)": 6}


@pytest.mark.row(99)
def test_tables_of_the_paper_are_apart_and_every_row_of_them_has_an_era() -> None:
    for table in tables(whole(4, ["a"], 1)):
        theirs = table.name.startswith("paper_")
        assert theirs == (table.columns[0].name == "era")
        assert not theirs or {row[0] for row in table.rows} <= {"v1", "v2"}
