"""Agents without a model: they see only what tools show, and what they are for shows in what they reach."""

from __future__ import annotations

import json
import os
from collections.abc import Iterator, Mapping, Sequence
from datetime import date

import pytest
from cobench.agent_runner.baselines import BASELINES, baseline
from cobench.agent_runner.baselines.agent import third
from cobench.agent_runner.baselines.frames import Known, days_since, iso
from cobench.agent_runner.baselines.picking import Levels, Picker, cheapest
from cobench.agent_runner.baselines.search import LEVELS, Search
from cobench.agent_runner.baselines.windows import Windows, columns_read
from cobench.agent_runner.episode import View, converse
from cobench.agent_runner.suites import Case, Suite, open_suite
from cobench.schemas.episode import Episode, TurnRecord
from cobench.schemas.errors import InputError
from cobench.schemas.offer_id import IdTemplate
from cobench.schemas.problem import pose
from cobench.schemas.task import load_task
from cobench.schemas.verdict import VerdictKind
from cobench.solver.lowering.narrow import feasible
from cobench.solver.outcome import Limits
from cobench.solver.questions.shown import ShownOffers
from cobench.solver.scan import best_rows

from .played import PARKS, env_of, suite_of

TASKS = (
    "parks-1-01-southwest-fixed-dates",
    "parks-1-06-workation-eight-wishes",
    "parks-2-03-everglades-eight-wishes",
    "parks-2-04-best-score-on-one-budget",  # its score may be unknown until a later constraint excludes that
    "parks-3-01-angels-landing",
)
THOROUGH = os.environ.get("COBENCH_HYPOTHESIS") == "thorough"
AGENTS = ("weak", "random", "greedy", "budgeted:6", "budgeted:60", "strategic", "exhaustive")
SEARCHES = ("search_hotel", "search_flights", "search_permit_availability", "search_airports", "list_permits")
SAMPLE = open_suite("compass").facts.sample[:: 1 if THOROUGH else 6]
FEASIBLE = (VerdictKind.OPTIMAL, VerdictKind.FEASIBLE)


@pytest.fixture(scope="module")
def suite(tmp_path_factory: pytest.TempPathFactory) -> Suite:
    return suite_of(TASKS, tmp_path_factory.mktemp("suite"))


@pytest.fixture(scope="module")
def bundled() -> Suite:
    return open_suite("compass")


@pytest.fixture(scope="module")
def cases(suite: Suite) -> dict[str, Case]:
    return {task: suite.case(task) for task in TASKS}


def played(case: Case, agent: str, seed: int = 1) -> Episode:
    return converse(env_of(case, agent=agent, seed=seed), baseline(agent, (seed, case.problem.id, 1)))


@pytest.fixture(scope="module")
def episodes(cases: dict[str, Case]) -> dict[tuple[str, str], Episode]:
    """A conversation of each agent about each task."""
    return {(task, agent): played(case, agent) for task, case in cases.items() for agent in AGENTS}


def of(episodes: Mapping[tuple[str, str], Episode], agent: str) -> list[Episode]:
    return [episode for (_, name), episode in episodes.items() if name == agent]


def picked(turn: TurnRecord) -> dict[str, str]:
    return {choice: picks[0].id for plan in turn.options for choice, picks in plan.picks.items()}


# ------------------------------------------------------------------------------------- what holds for all of them


def test_an_agent_recommends_only_what_tools_showed_it_and_checks_the_ids(
    episodes: dict[tuple[str, str], Episode],
) -> None:
    for (_, agent), episode in episodes.items():
        for turn in episode.turns:
            seen = {
                id_ for call in episode.calls if call.turn <= turn.number for ids in call.offers.values() for id_ in ids
            }
            assert set(picked(turn).values()) <= seen
            assert turn.validated == (agent != "weak" and bool(turn.options))


def test_no_agent_makes_a_wrong_call_or_an_answer_without_the_agreed_form(
    episodes: dict[tuple[str, str], Episode],
) -> None:
    for episode in episodes.values():
        assert all(call.fault is None for call in episode.calls)
        assert all(turn.answered != "format error" for turn in episode.turns)


def test_a_turn_that_tells_nothing_new_makes_no_calls_and_changes_nothing(
    episodes: dict[tuple[str, str], Episode],
) -> None:
    quiet = 0
    for episode in episodes.values():
        for before, turn in zip(episode.turns, episode.turns[1:], strict=False):
            if not turn.revealed:
                quiet += 1
                assert (turn.calls, turn.options, turn.agent) == (0, before.options, before.agent)
    assert quiet > 10


def test_all_chance_comes_from_the_address(cases: dict[str, Case]) -> None:
    case = cases["parks-2-03-everglades-eight-wishes"]
    for agent in ("random", "budgeted:6"):
        first = played(case, agent)
        assert played(case, agent).to_bytes() == first.to_bytes()
        others = [converse(env_of(case, agent=agent), baseline(agent, ("other", number))) for number in range(3)]
        assert any(other.calls != first.calls for other in others)


def test_nothing_that_is_still_to_come_reaches_an_agent(cases: dict[str, Case]) -> None:
    case = cases["parks-2-04-best-score-on-one-budget"]
    env = env_of(case)
    view = View(env)
    names = [item.name for item in view.problem.constraints]
    assert set(names) - {"known"} == set(view.revealed) == set(env.script.initial)
    assert len(names) < len(case.problem.constraints)


def test_an_agent_relies_on_details_only_after_asking_for_them(
    cases: dict[str, Case], episodes: dict[tuple[str, str], Episode]
) -> None:
    relied = 0
    for (task, agent), episode in episodes.items():
        if agent == "weak":
            continue
        asked = Asked(cases[task])
        revealed: list[str] = []
        standing: dict[str, str] = {}
        for turn in episode.turns:
            revealed += turn.revealed
            asked.hear(episode, turn.number)
            if picked(turn) == standing:
                continue  # it stands also where nothing else that fits was found
            standing = picked(turn)
            for choice, tool in asked.needed(revealed):
                relied += 1
                assert asked.about(tool, standing[choice]) in asked.known, (task, agent, turn.number, tool)
    assert relied > 50


class Asked:
    """Which details a conversation asked for, and which a problem is about."""

    def __init__(self, case: Case) -> None:
        self.case, self.search = case, Search()
        self.known: set[tuple[str, str]] = set()
        rooms = case.dataset.table(case.problem.world, "rooms").columns
        self.hotel = {
            str(rooms["config"].value(row)): str(rooms["hotel_id"].value(row))
            for row in range(len(rooms["config"].values))
        }

    def about(self, tool: str, offer: str) -> tuple[str, str]:
        config = offer.split("_")[1]
        return tool, self.hotel[config] if tool == "get_hotel_details" else config

    def hear(self, episode: Episode, turn: int) -> None:
        for call in episode.calls:
            arguments = json.loads(call.arguments)
            if call.turn == turn and call.tool == "get_hotel_details":
                self.known.add((call.tool, arguments["hotel_identifier"]))
            elif call.turn == turn and call.tool in ("get_room_details", "get_flight_details"):
                self.known.add(self.about(call.tool, arguments["package_id"]))

    def needed(self, revealed: Sequence[str]) -> Iterator[tuple[str, str]]:
        problem = self.case.problem
        read = {name for item in problem.constraints if item.name in revealed for name in columns_read(item.condition)}
        for choice, column in read:
            tool = self.search.level(problem.choices[choice], column)
            if tool:
                yield choice, tool


# ---------------------------------------------------------------------------------------- what each of them is for


@pytest.mark.row(54)
@pytest.mark.parametrize("task", SAMPLE)
def test_exhaustive_search_sees_and_recommends_an_optimum(bundled: Suite, task: str) -> None:
    case = bundled.case(task)
    episode = played(case, "exhaustive")
    assert episode.verdict.kind is VerdictKind.OPTIMAL
    assert episode.regret is not None
    assert (episode.regret.exploration, episode.regret.reasoning) == (0, 0)
    shown: dict[str, set[str]] = {choice: set() for choice in case.problem.choices}
    for call in episode.calls:
        for choice, ids in call.offers.items():
            shown[choice].update(ids)
    lowered = feasible(case.problem, case.dataset)
    for number, choice in enumerate(lowered.model.choices):  # no offer that is in a best plan was missed
        rows = best_rows(lowered.model, number, _least(case), Limits())
        assert rows is not None
        assert set(lowered.names(lowered.offers[number], choice, rows.tolist())) <= shown[choice.name]


def _least(case: Case) -> int:
    """The value of the optimum as engines have it."""
    return -case.optimum if case.problem.objective.maximize else case.optimum


@pytest.mark.row(54)
def test_the_gap_between_feasible_and_optimal_shows_and_effort_closes_it(
    episodes: dict[tuple[str, str], Episode],
) -> None:
    for agent in ("greedy", "random"):
        right, best = _found(of(episodes, agent))
        assert right == len(TASKS)
        assert best <= len(TASKS) // 2
    assert all(item.verdict.kind is VerdictKind.OPTIMAL for item in of(episodes, "exhaustive"))
    few, many = _found(of(episodes, "budgeted:6")), _found(of(episodes, "budgeted:60"))
    assert few < many
    assert sum(map(_effort, of(episodes, "greedy"))) < sum(map(_effort, of(episodes, "exhaustive")))


def _found(episodes: Sequence[Episode]) -> tuple[int, int]:
    """How many are feasible, and how many optimal."""
    kinds = [item.verdict.kind for item in episodes]
    return sum(kind in FEASIBLE for kind in kinds), kinds.count(VerdictKind.OPTIMAL)


def _effort(episode: Episode) -> int:
    return len({(call.tool, call.arguments) for call in episode.calls if call.fault is None})


@pytest.mark.row(54)
def test_a_budget_is_kept_to(episodes: dict[tuple[str, str], Episode], cases: dict[str, Case]) -> None:
    for most in (6, 60):
        for episode in of(episodes, f"budgeted:{most}"):
            assert sum(call.tool in SEARCHES for call in episode.calls) <= most
    one = played(cases[TASKS[0]], "budgeted:1")
    assert sum(call.tool in SEARCHES for call in one.calls) == 1


def test_greedy_takes_the_cheapest_hotel_of_its_window(
    episodes: dict[tuple[str, str], Episode], cases: dict[str, Case]
) -> None:
    task = "parks-1-06-workation-eight-wishes"
    episode, case = episodes[task, "greedy"], cases[task]
    offer = picked(episode.turns[-1])["hotel"]
    template = case.problem.world.tables["stays"].id
    assert template is not None
    same = {
        id_
        for call in episode.calls
        for id_ in call.offers.get("hotel", ())
        if _dates(template, id_) == _dates(template, offer)
    }
    fitting = Picker(case.problem, case.dataset, Everything()).fitting("hotel", {"hotel": same})
    assert _price(case, offer) == min(_price(case, other) for other in fitting)


def _dates(template: IdTemplate, offer: str) -> tuple[str | None, str | None]:
    parts = template.parse(offer)
    assert parts is not None
    return parts["start_day"], parts["end_day"]


def _price(case: Case, offer: str) -> int:
    found = ShownOffers(cheapest(case.problem.restrict(()), "hotel"), case.dataset).best({"hotel": [offer]})
    assert found is not None
    return found[0]


@pytest.mark.row(55)
def test_strategic_search_consults_the_calendar_samples_the_month_and_refines(
    episodes: dict[tuple[str, str], Episode],
) -> None:
    episode = episodes["parks-1-06-workation-eight-wishes", "strategic"]
    tools = [call.tool for call in episode.calls]
    assert tools[0] == "calendar"
    asked = [json.loads(call.arguments) for call in episode.calls if call.tool == "search_hotel"]
    starts = [days_since(item["start_date"]) for item in asked]
    places = {item["location"] for item in asked}
    samples = [(item["location"], third(day)) for item, day in zip(asked, starts, strict=True)]
    assert {third for _, third in samples[: 3 * len(places)]} == {0, 1, 2}
    for found in of(episodes, "strategic"):
        assert sum(call.tool in SEARCHES for call in found.calls) <= 60
        assert found.verdict.kind in FEASIBLE


@pytest.mark.row(55)
def test_weak_search_tries_two_dates_and_misaligns_hotel_and_flights(
    episodes: dict[tuple[str, str], Episode],
) -> None:
    for episode in of(episodes, "weak"):
        asked = [(call.tool, json.loads(call.arguments)) for call in episode.calls]
        starts = {item["start_date"] for tool, item in asked if tool == "search_hotel"}
        flights = {item["departure_date"] for tool, item in asked if tool == "search_flights"}
        assert starts <= {"2025-08-05", "2025-08-12"}
        assert {iso(days_since(day) + 1) for day in starts} >= flights
        assert flights or episode.traits.level == 1
    assert sum(item.verdict.kind in FEASIBLE for item in of(episodes, "weak")) <= 1


@pytest.mark.parametrize(
    "name", ["nobody", "greedy:3", "budgeted:0", "budgeted:x", "budgeted:", "budgeted:-1", "budgeted:99999999"]
)
def test_a_baseline_that_there_is_not_is_refused(name: str) -> None:
    with pytest.raises(InputError):
        baseline(name, (1,))


def test_every_baseline_is_made_by_its_name() -> None:
    assert list(BASELINES) == ["weak", "random", "greedy", "budgeted", "strategic", "exhaustive", "code"]
    assert all(type(baseline(name, (1,))).__name__ for name in BASELINES)


# ----------------------------------------------------------------------------------------------- windows and picks


@pytest.mark.row(21)
def test_any_weekend_in_august_is_five_windows_at_each_park(cases: dict[str, Case]) -> None:
    file = load_task(PARKS / "parks-1-02-august-weekend-with-dog.yaml")
    windows = Windows(pose(file, cases[TASKS[0]].dataset.manifest), Known())
    assert windows.parks() == ["Rocky Mountain", "Yellowstone", "Yosemite", "Zion"]
    stays = [(outing.park, iso(outing.check_in), iso(outing.check_out)) for outing in windows.outings()]
    fridays = [date(2025, 8, day) for day in (1, 8, 15, 22, 29)]
    wanted = [
        (park, day.isoformat(), day.replace(day=day.day + 2).isoformat()) for park in windows.parks() for day in fridays
    ]
    assert stays == wanted


def test_flights_lead_to_airports_that_serve_the_park_on_the_days_of_the_hotel(cases: dict[str, Case]) -> None:
    env = env_of(cases["parks-2-03-everglades-eight-wishes"])
    search = Search()
    search.attend(View(env))
    outings = list(search.windows(search.view.problem).outings())
    assert outings
    assert {(item.departs_on, item.returns_on) for item in outings} <= {
        (item.check_in, item.check_out) for item in outings
    }
    serving = {row["code"] for row in env.call("search_airports", {"park_name": "Everglades"}).content["results"]}
    assert {item.destination for item in outings} <= serving


class Everything:
    """Details that are all known."""

    def level(self, table: str, column: str) -> str:
        return Search().level(table, column)

    def unknown(self, table: str, offer: str, levels: Levels) -> Sequence[str]:
        return [level for level in LEVELS[table] if level in levels and not self.has(offer, level)]

    def has(self, *_: str) -> bool:
        return True

    def look_up(self, offer: str, level: str) -> bool:
        raise AssertionError(f"nothing is to be looked up, and not {level} of {offer}")


class Counting(Everything):
    """Details that are looked up one offer at a time, up to a number of them."""

    def __init__(self, most: int) -> None:
        self.left, self.known = most, set[tuple[str, ...]]()

    def has(self, *details: str) -> bool:
        return details in self.known

    def look_up(self, offer: str, level: str) -> bool:
        if not self.left:
            return False
        self.left -= 1
        self.known.add((offer, level))
        return True


@pytest.mark.parametrize(
    "task",
    ["parks-1-01-southwest-fixed-dates", "parks-1-06-workation-eight-wishes", "parks-2-03-everglades-eight-wishes"],
)
def test_the_best_of_what_was_shown_is_found_without_looking_everything_up(cases: dict[str, Case], task: str) -> None:
    case = cases[task]
    shown = {choice: _some(case, choice) for choice in case.problem.choices}
    known = ShownOffers(case.problem, case.dataset).best(shown)
    everything = Picker(case.problem, case.dataset, Everything()).best(shown)
    assert known is not None
    assert everything == known
    details = Counting(10**6)
    found = Picker(case.problem, case.dataset, details).best(shown)
    assert found is not None
    assert found[0] == known[0]
    looked = {offer for offer, _ in details.known}
    assert found[1]["hotel"] in looked
    assert len(looked) < sum(map(len, shown.values()))
    few = Counting(3)
    sparing = Picker(case.problem, case.dataset, few).best(shown)
    assert (
        sparing is None
        or {(sparing[1]["hotel"], "get_hotel_details"), (sparing[1]["hotel"], "get_room_details")} & few.known
    )


def _some(case: Case, choice: str) -> list[str]:
    """Every third offer that is in a plan, and as many of all offers on the way."""
    lowered = feasible(case.problem, case.dataset)
    number = list(case.problem.choices).index(choice)
    good = lowered.names(
        lowered.offers[number], lowered.model.choices[number], range(len(lowered.model.choices[number]))
    )
    bare = feasible(case.problem.restrict(()), case.dataset)
    every = bare.names(bare.offers[number], bare.model.choices[number], range(0, len(bare.model.choices[number]), 50))
    return sorted({*list(good)[::3], *every})
