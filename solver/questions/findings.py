"""What an audit means for the author of a benchmark: findings, each with a severity, a sentence and a hint."""

from __future__ import annotations

from collections.abc import Iterator
from dataclasses import dataclass
from typing import Literal

from .audit import Audit, Naive, Step
from .naive import leaves_out
from .sensitivity import is_threshold
from .thresholds import dial_of

NO_THRESHOLD = "change a constraint or the objective: there is no threshold that cobench harden could move"


@dataclass(frozen=True, slots=True)
class Finding:
    """`kind` is a word for programs; `about`, the names of constraints, choices' strategies or wishes concerned."""

    severity: Literal["warning", "note"]
    kind: str
    about: tuple[str, ...]
    sentence: str
    hint: str


def findings(audit: Audit) -> tuple[Finding, ...]:
    """The findings about an audited task, warnings first. Only what is known for certain becomes one."""
    found = [*_constraints(audit), *_reveals(audit), *_plans(audit), *_wishes(audit), *_unsolvable(audit)]
    if audit.open_facts:
        told = "; ".join(dict.fromkeys(fact for fact in audit.open_facts if fact))
        found.append(Finding("note", "unknown", (), f"a limit left open: {told}", "raise --work-limit or --time-limit"))
    return tuple(sorted(found, key=lambda item: item.severity != "warning"))


def shortcuts(audit: Audit) -> tuple[Naive, ...]:
    """What the strategies found that are less than a search."""
    return tuple(item for item in audit.strategies if leaves_out(item.strategy, len(audit.problem.choices)))


def _harden(audit: Audit, goal: str, otherwise: str) -> str:
    """The hint to try `harden`, where the task has a threshold that it could move."""
    constraints = audit.problem.constraints
    movable = any(is_threshold(item) and dial_of(item, number) is not None for number, item in enumerate(constraints))
    return f"cobench harden TASK {goal} may find a threshold {otherwise}" if movable else NO_THRESHOLD


def _constraints(audit: Audit) -> Iterator[Finding]:
    twins = {name for pair in audit.duplicates for name in pair}
    for first, second in audit.duplicates:
        yield Finding(
            "warning", "duplicate", (first, second),
            f"{first} and {second} hold for exactly the same combinations of offers", f"drop {second}, or tighten it",
        )  # fmt: skip
    for facts in audit.constraints:
        if facts.alone == 0:
            sentence = f"{facts.name} removes nothing: every combination of offers satisfies it"
            yield Finding("warning", "vacuous", (facts.name,), sentence, "drop it, or tighten it")
        elif facts.redundant and facts.name not in twins:
            others = facts.implied_by
            why = "the others imply it" if not others else f"{_all(others)} {'imply' if others[1:] else 'implies'} it"
            sentence = f"{facts.name} removes no plan: on this data {why}"
            yield Finding("warning", "redundant", (facts.name, *(others or ())), sentence, "drop it, or tighten it")


def _reveals(audit: Audit) -> Iterator[Finding]:
    pairs = list(zip(audit.steps, audit.steps[1:], strict=False))
    if audit.status != "solvable" or not pairs:
        return
    idle = tuple(after.revealed[0] for before, after in pairs if _same_best(before, after))
    if _same_best(audit.steps[0], audit.steps[-1]):
        sentence = "what is revealed later never changes the best plans: who heard only the start already has them"
        hint = "tighten a later constraint until it excludes the best plan of the start"
        yield Finding("warning", "nothing to learn", idle, sentence, hint)
        return
    last = audit.steps[-1].revealed[0]
    if last in idle:
        sentence = f"the last reveal, {last}, changes nothing: who heard all before it already has the best plans"
        yield Finding("warning", "idle last reveal", (last,), sentence, f"tighten {last}, or reveal it earlier")
    between = tuple(name for name in idle if name != last)
    if between:
        sentence = f"revealing {_all(between)} changes nothing about the best plans known by then"
        yield Finding("note", "idle reveal", between, sentence, "fine between others; the last one should matter")


def _same_best(before: Step, after: Step) -> bool:
    """Whether the best plans are the same ones: fewer constraints have more plans, so value and number decide."""
    best = before.optimum, before.tied
    return None not in best and best == (after.optimum, after.tied)


def _plans(audit: Audit) -> Iterator[Finding]:
    low, high = audit.plans
    if audit.tied is not None and low == high:
        if low == 1:
            sentence = "there is only one plan: to find any is to find the best"
            yield Finding("note", "only plan", (), sentence, _harden(audit, "--plans 100", "that lets in more"))
        elif audit.tied == low:
            sentence = f"all {low:,} plans are equally good: there is nothing to optimise"
            yield Finding("warning", "all equal", (), sentence, "choose an objective that tells plans apart")
        elif audit.tied > 1:
            sentence = f"{audit.tied:,} of {low:,} plans reach the optimum"
            yield Finding("note", "ties", (), sentence, _harden(audit, "--unique", "with one best plan"))
    winners = tuple(item.strategy for item in shortcuts(audit) if item.gap == 0)
    if winners and low > 1 and audit.tied != low:
        sentence = f"a best plan is found without any search: {', '.join(winners)}"
        hint = _harden(audit, "--margin 5%", "with which they fail")
        yield Finding("warning", "naive wins", winners, sentence, hint)


def _wishes(audit: Audit) -> Iterator[Finding]:
    low, high = audit.plans
    granted = low if low == high else None
    hopeless = tuple(wish.text for wish in audit.wishes if wish.met_by == 0)
    idle = tuple(wish.text for wish in audit.wishes if wish.met_by and wish.met_by == granted)
    if hopeless:
        sentence = f"no plan meets {_wishes_told(hopeless)}, so nothing is told apart by it"
        yield Finding("warning", "hopeless wish", hopeless, sentence, "drop the wish, or loosen what excludes it")
    if idle:
        sentence = f"every plan meets {_wishes_told(idle)}, so nothing is told apart by it"
        yield Finding("warning", "idle wish", idle, sentence, "drop the wish, or the constraint that grants it")
    if audit.clashing:
        pairs = [f"{audit.wishes[first].text} with {audit.wishes[second].text}" for first, second in audit.clashing]
        about = tuple(
            audit.wishes[place].text for place in sorted({place for pair in audit.clashing for place in pair})
        )
        sentence = (
            f"no plan meets both wishes of {'this pair' if len(pairs) == 1 else 'these pairs'}: {'; '.join(pairs)}"
        )
        yield Finding("note", "clashing wishes", about, sentence, "fine as a trade-off; drop one if it was not meant")


def _unsolvable(audit: Audit) -> Iterator[Finding]:
    if audit.status != "unsolvable":
        return
    meant = audit.problem.expected is not None and audit.problem.expected.unsolvable
    hint = "cobench explain TASK says why, and what would help"
    if meant:
        yield Finding("note", "unsolvable", (), "no plan exists, as the task expects", hint)
    else:
        yield Finding("warning", "unsolvable", (), "no plan exists, and the task does not say so", hint)
    blocked = next((step for step in audit.steps if step.plans == 0), None)
    if blocked is not None and len(audit.steps) > 1:
        first = blocked is audit.steps[0]
        when = "from the start" if first else f"once {blocked.revealed[0]} is revealed"
        sentence = f"there is no plan {when}"
        yield Finding("note", "no plan since", () if first else blocked.revealed, sentence, "an agent can know it then")
    if audit.idle:
        part = "take part" if audit.idle[1:] else "takes part"
        sentence = f"{_all(audit.idle)} {part} in no conflict: without that the task is just as unsolvable"
        yield Finding("note", "in no conflict", audit.idle, sentence, "fine as a distraction; drop what was not meant")


def _wishes_told(texts: tuple[str, ...]) -> str:
    return f"the wish {texts[0]}" if len(texts) == 1 else f"the wishes {'; '.join(texts)}"


def _all(names: tuple[str, ...]) -> str:
    return names[0] if len(names) == 1 else f"{', '.join(names[:-1])} and {names[-1]}"
