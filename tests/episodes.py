"""Episodes that nobody had: made from a seed, and coherent in themselves, for tests of measures and of their report."""

from __future__ import annotations

from collections.abc import Sequence
from fractions import Fraction
from typing import Any

from cobench.schemas.chance import drawn
from cobench.schemas.episode import (
    Answered,
    CallRecord,
    Ended,
    Episode,
    Fault,
    Persona,
    Regret,
    Traits,
    TurnRecord,
)
from cobench.schemas.plan import Plan
from cobench.schemas.verdict import Standing, Verdict, VerdictKind, Violation

NAMES = ("budget", "beds", "pool", "dates", "room-kitchen", "permit-day", "reviews", "stars")
TOOLS = ("search_hotel", "search_flights", "get_room_details", "calendar", "calculator", "notebook")
OPTIMUM = 1000


def verdict(task: str, kind: VerdictKind, gap: int = 0, better: int = 0, total: int = 400, **more: Any) -> Verdict:
    """A verdict about a task whose optimum is 10.00 USD, to be minimised."""
    if kind in (VerdictKind.OPTIMAL, VerdictKind.FEASIBLE):
        place = Standing(better=better, tied=1, worse=total - better - 1, total=total)
        known: dict[str, Any] = {
            "value": OPTIMUM + gap, "optimum": OPTIMUM, "gap": gap, "relative_gap": str(Fraction(gap, OPTIMUM)),
            "standing": place,
        }  # fmt: skip
        more = {**known, **more}
    return Verdict(task=task, kind=kind, unit="USD", scale=100, **more)


def violates(task: str, *names: str, detail: str = "does not hold") -> Verdict:
    """A verdict on a plan that breaks these constraints."""
    broken = tuple(Violation(constraint=name, detail=detail) for name in names)
    return verdict(task, VerdictKind.VIOLATES, value=900, violations=broken)


def regret(found: Verdict, seen: int | None) -> Regret:
    """The regret when the best plan among the offers shown is so far from the optimum; None: there was none."""
    if seen is None:
        return Regret(optimum=OPTIMUM)
    own = int(found.gap) - seen if found.gap is not None else None
    return Regret(optimum=OPTIMUM, shown_best=OPTIMUM + seen, exploration=seen, reasoning=own)


def turn(number: int, found: Verdict, **more: Any) -> TurnRecord:
    """A turn with a verdict."""
    known: dict[str, Any] = {
        "user": f"user says {number}", "agent": f"agent says {number}", "answered": Answered.RECOMMENDATION,
    }  # fmt: skip
    return TurnRecord(number=number, verdict=found, **{**known, **more})


def episode(found: Verdict, **more: Any) -> Episode:
    """An episode of one turn that came to a verdict."""
    known: dict[str, Any] = {
        "task": found.task, "task_digest": "sha256:1", "certificate_digest": "sha256:2",
        "wording": "sha256:3", "agent": "a", "seed": 1,
        "persona": Persona(revelation="fast", trust="trusting", checking="reliable", style=1, permille=900),
        "traits": Traits(level=1, objective="metric", metric="price", constraints=7, later=3),
        "turns": (turn(1, found, regret=more.get("regret")),), "calls": (), "told": 1, "ended": Ended.ACCEPTED,
    }  # fmt: skip
    return Episode(verdict=found, **{**known, **more})


def drawn_episode(task: int, agent: str, skill: int, epoch: int = 1, seed: int = 1) -> Episode:
    """An episode from a seed; an agent with more skill (0 to 10) calls more, sees more and picks better."""

    def draw(below: int, *what: int | str) -> int:
        return drawn(below, seed, task, agent, epoch, *what)

    def common(below: int, what: str) -> int:
        return drawn(below, seed, task, epoch, what)

    name, level = f"task-{task:03}", 1 + (task % 4 > 1) + (task % 4 > 2)
    choices = ("hotel", "flight", "permit")[:level]
    persona = Persona(
        revelation=("slow", "medium", "fast")[common(3, "speed")], style=1 + common(9, "style"),
        trust="questioning" if common(5, "trust") == 0 else "trusting", permille=400 + common(601, "p"),
        checking=("reliable", "unreliable")[common(2, "check")],
    )  # fmt: skip
    constraints = 5 + drawn(6, seed, task, "constraints")
    wishes = 8 if task % 2 else 0
    traits = Traits(
        level=level, objective="feature_count" if wishes else "metric", metric="" if wishes else "stay.price",
        wishes=wishes, constraints=constraints, later=constraints // 2,
    )  # fmt: skip
    told = 2 + common(6, "told")
    turns: list[TurnRecord] = []
    calls: list[CallRecord] = []
    seen: int | None = None
    for number in range(1, told + 1 + draw(3, "more")):
        for place in range(1 + draw(4 + skill, "calls", number)):
            fault = (Fault.NAME, Fault.PARAMETER, Fault.CONTENT)[draw(3, number, place)]
            offers = {choice: (f"pkg_{draw(90, choice, number, place)}",) for choice in choices}
            calls.append(
                CallRecord(
                    turn=number, tool=TOOLS[draw(len(TOOLS), "tool", number, place)],
                    arguments=f'{{"page":{draw(9, "page", number, place)}}}', offers=offers,
                    fault=fault if draw(40, "fault", number, place) > 30 + skill else None,
                )
            )  # fmt: skip
        closer = max(0, 60 * (10 - skill) - 40 * number - draw(200, "seen", number))
        seen = closer if seen is None else min(seen, closer)
        good = draw(12, "good", number) < 3 + skill
        gap = seen + draw(3, "worse", number) * draw(120, "gap", number)
        answered = Answered.FORMAT_ERROR if draw(30, "form", number) > 22 + skill else Answered.RECOMMENDATION
        if good:
            kind = VerdictKind.FEASIBLE if gap else VerdictKind.OPTIMAL
            found = verdict(name, kind, gap, better=gap // 3)
        elif number == 1:
            found, seen = verdict(name, VerdictKind.NO_ANSWER), None
        else:
            found = violates(name, *sorted({NAMES[draw(8, "broken", number, place)] for place in range(2)}))
        turns.append(
            turn(
                number, found, answered=answered, regret=regret(found, seen), validated=True,
                options=(Plan.of(dict.fromkeys(choices, "pkg_1")),),
                revealed=(NAMES[number % 8],) if number <= told else (),
                calls=sum(call.turn == number for call in calls),
            )
        )  # fmt: skip
    last = turns[-1]
    return episode(
        last.verdict, agent=agent, epoch=epoch, seed=seed, persona=persona, traits=traits, turns=tuple(turns),
        calls=tuple(calls), told=told, regret=last.regret, ended=Ended.ACCEPTED if draw(9, "end") else Ended.TURNS,
    )  # fmt: skip


def drawn_episodes(tasks: int, agents: Sequence[str], epochs: int = 1, seed: int = 1) -> list[Episode]:
    """Episodes of all agents, each better than the one before, about all tasks."""
    step = 10 // max(1, len(agents) - 1)
    return [
        drawn_episode(task, agent, place * step, epoch, seed)
        for place, agent in enumerate(agents)
        for task in range(tasks)
        for epoch in range(1, epochs + 1)
    ]
