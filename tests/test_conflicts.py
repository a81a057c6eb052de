"""Why a task has no plan: conflicts and corrections against trying all plans, applied to the YAML, and checked."""

from __future__ import annotations

import itertools
import random
import re
from collections.abc import Iterator
from dataclasses import dataclass
from functools import cache, cached_property
from pathlib import Path
from typing import Any

import pytest
from cobench.cli import run
from cobench.datasets.opening import open_dataset
from cobench.schemas.canonical import narrow
from cobench.schemas.certificate import Certificate, ConflictsClaim, CorrectionClaim, Move
from cobench.schemas.plan import Plan
from cobench.schemas.problem import Problem, pose
from cobench.schemas.task import parse_task
from cobench.schemas.units import format_value
from cobench.solver import conflicts, scan
from cobench.solver.certify import certify
from cobench.solver.checker import check
from cobench.solver.checker import replay as checker
from cobench.solver.conflicts import Correction, Explanation, explain
from cobench.solver.model import Linear, Model
from cobench.solver.outcome import Limits, Outcome, Reason, Status
from cobench.verification import replay
from hypothesis import event, given
from hypothesis import strategies as st

from .models import THOROUGH, Conflicting, every_plan
from .oracle import UnknownObjectiveError
from .phrases import Case, cases
from .test_model import choice, ints
from .test_semantics import Posed, posed, slow

PARKS = Path(__file__).resolve().parent.parent / "tasks" / "parks"
MINI = open_dataset("parks")

Names = frozenset[Any]


# ------------------------------------------------------------------------------------------------ against all plans


@dataclass(frozen=True)
class Truth:
    """What every plan of a model violates, and what follows from it."""

    model: Model

    @cached_property
    def violated(self) -> dict[tuple[int, ...], Names]:
        names = range(len(self.model.names))
        return {
            plan: frozenset(name for name in names if not self.model.feasible(plan, [name]))
            for plan in every_plan(self.model)
        }

    def solvable(self, names: Names) -> bool:
        return any(not violated & names for violated in self.violated.values())

    @cached_property
    def every(self) -> Names:
        return frozenset(range(len(self.model.names)))

    def subsets(self) -> Iterator[Names]:
        for size in range(len(self.every) + 1):
            yield from map(frozenset, itertools.combinations(sorted(self.every), size))

    @cached_property
    def conflicts(self) -> set[Names]:
        """All minimal sets of names that no plan satisfies."""
        return least(names for names in self.subsets() if not self.solvable(names))

    @cached_property
    def drops(self) -> set[Names]:
        """All minimal sets of names without which there is a plan."""
        return least(names for names in self.subsets() if self.solvable(self.every - names))

    def moved(self, dropped: Names, name: int) -> int | None:
        """The least by which a threshold must move when the others are dropped, over the plans where it is known."""
        threshold = self.model.thresholds[name]
        return min(
            (
                threshold.linear.value(plan)
                for plan, violated in self.violated.items()
                if not violated & (self.every - dropped)
                and all(known[plan[place]] for place, known in threshold.known.items())
            ),
            default=None,
        )

    @cached_property
    def corrections(self) -> set[Correction]:
        found: set[Correction] = set()
        for dropped in self.drops:
            amounts = {name: self.moved(dropped, name) for name in dropped & self.model.thresholds.keys()}
            moves = {
                Correction(tuple(sorted(dropped - {name})), name, amount)
                for name, amount in amounts.items()
                if amount is not None
            }
            found |= moves or {Correction(tuple(sorted(dropped)), None, 0)}
        return found


def least(family: Any) -> set[Names]:
    sets = set(family)
    return {one for one in sets if not any(other < one for other in sets)}


def random_truth(seed: int) -> Truth:
    return Truth(Conflicting(random.Random(seed)).model())  # noqa: S311


def conflicts_of(found: Explanation) -> set[Names]:
    return {frozenset(names) for names in found.conflicts}


@given(st.integers(0, 2**32))
def test_all_minimal_conflicts_and_corrections_are_found(seed: int) -> None:
    truth = random_truth(seed)
    found = explain(truth.model, Limits())
    assert found.complete
    if truth.solvable(truth.every):
        event("solvable")
        assert (found.conflicts, set(found.corrections)) == ((), {Correction((), None, 0)})
        return
    event(f"{len(truth.conflicts)} conflicts, {len(truth.corrections)} corrections")
    event(f"moves: {any(item.move is not None for item in truth.corrections)}")
    assert conflicts_of(found) == truth.conflicts
    assert set(found.corrections) == truth.corrections
    assert len(set(found.conflicts)) == len(found.conflicts)
    assert len(set(found.corrections)) == len(found.corrections)


@given(st.integers(0, 2**32))
def test_mus_is_unsat_and_every_removal_is_sat(seed: int) -> None:
    truth = random_truth(seed)
    for names in conflicts_of(explain(truth.model, Limits())):
        assert not truth.solvable(names)
        assert all(truth.solvable(names - {name}) for name in names)


@given(st.integers(0, 2**32))
def test_a_correction_is_enough_and_nothing_less_is(seed: int) -> None:
    truth = random_truth(seed)
    for item in explain(truth.model, Limits()).corrections:
        dropped = frozenset(item.drop)
        if item.move is None:
            assert truth.solvable(truth.every - dropped)
        else:
            assert truth.moved(dropped | {item.move}, item.move) == item.amount > 0
            assert not truth.solvable(truth.every - dropped)
        assert not any(truth.solvable(truth.every - (dropped - {name})) for name in dropped)


def order_of(item: Correction) -> tuple[Any, ...]:
    given_up = sorted({*item.drop, *([] if item.move is None else [item.move])})
    return len(given_up), given_up, item.amount


@given(st.integers(0, 2**32))
def test_the_order_is_fewest_names_then_file_order_then_least_amount(seed: int) -> None:
    found = explain(random_truth(seed).model, Limits())
    assert list(found.corrections) == sorted(found.corrections, key=order_of)
    assert list(found.conflicts) == sorted(found.conflicts, key=lambda names: (len(names), names))


@given(st.integers(0, 2**32), st.floats(0.02, 0.6))
def test_unknown_probe_keeps_member(seed: int, often: float) -> None:
    """A scan that often does not know: fewer conflicts and corrections, each of them true, and not called complete."""
    truth, rng, silent = random_truth(seed), random.Random(seed), 0  # noqa: S311
    right = scan.solve

    def solve(model: Model, limits: Limits) -> Outcome:
        nonlocal silent
        if rng.random() < often:
            silent += 1
            return Outcome(Status.UNKNOWN, reason=Reason.TIME)
        return right(model, limits)

    with pytest.MonkeyPatch.context() as patch:
        patch.setattr(scan, "solve", solve)
        found = explain(truth.model, Limits())
    expect_part(found, truth)
    assert found.complete == (not silent)


@given(st.integers(0, 2**32), st.integers(0, 40))
def test_a_work_limit_leaves_true_parts(seed: int, work: int) -> None:
    truth = random_truth(seed)
    expect_part(explain(truth.model, Limits(work=work)), truth)


def expect_part(found: Explanation, truth: Truth) -> None:
    """True as far as it goes; complete only when all is there."""
    solvable = truth.solvable(truth.every)
    conflicts, corrections = (set(), {Correction((), None, 0)}) if solvable else (truth.conflicts, truth.corrections)
    assert conflicts_of(found) <= conflicts
    assert set(found.corrections) <= corrections
    if found.complete:
        assert (conflicts_of(found), set(found.corrections)) == (conflicts, corrections)


def test_an_empty_offer_table_is_the_empty_conflict() -> None:
    objective = Linear({0: ints(1, 2, 3)}, (), 0)
    model = Model(("a", "b"), (choice("x", 3, [0, 0, 0]), choice("y", 0)), (), (), (), objective, False)
    assert explain(model, Limits()) == Explanation(((),), (), True)


def test_more_explanations_than_anybody_reads_are_cut_off(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(conflicts, "MAX_FOUND", 2)
    truth = next(found for found in map(random_truth, range(1_000)) if len(found.conflicts) + len(found.drops) > 3)
    found = explain(truth.model, Limits())
    assert not found.complete
    expect_part(found, truth)


# -------------------------------------------------------------------------------------------------- in words, on data

THRESHOLDS = """
cobench: 1
id: thresholds
dataset: parks
given:
  guests: 2
choose:
  hotel: stays
  flight: round_trips
constraints:
  park: hotel.park == "Zion"
  origin: flight.origin == "DEN" and serves(flight.destination, hotel.park)
  dates: flight.departs_on == hotel.check_in and flight.returns_on == hotel.check_out
  nights: hotel.nights == 3
  rating: hotel.review_score >= 9
  close: hotel.distance < 10
  budget: hotel.total_price + flight.total_price <= 500
minimize: hotel.total_price + flight.total_price
"""
FILES = {path.stem: path for path in sorted(PARKS.glob("*.yaml")) if "expect: unsolvable" in path.read_text("utf-8")}
TEXTS = {"thresholds": THRESHOLDS, **{name: path.read_text("utf-8") for name, path in FILES.items()}}
every_text = pytest.mark.parametrize("name", TEXTS)


def certified(text: str) -> Certificate:
    return certify(parse_task(text), MINI)


def problem_of(text: str) -> Problem:
    return pose(parse_task(text), MINI.manifest)


def explained(certificate: Certificate) -> ConflictsClaim:
    assert certificate.claims.status.value == "unsolvable"
    assert certificate.claims.conflicts is not None
    return certificate.claims.conflicts


def without(text: str, name: str) -> str:
    """The task without a constraint: its key and the lines indented below it."""
    changed, times = re.subn(rf"^  {name}:.*\n(?:    .*\n)*", "", text, flags=re.MULTILINE)
    assert times == 1
    return changed


def moved(text: str, name: str, amount: int, scale: int) -> str:
    """The task with the number of a comparison moved by some steps, to where more rows satisfy it."""

    def rewritten(match: re.Match[str]) -> str:
        literal, digits = match[3], len(str(scale)) - 1
        steps = int(literal.replace(".", "").ljust(len(literal.partition(".")[0]) + digits, "0"))
        steps += amount if match[2].startswith("<") else -amount
        whole, part = divmod(abs(steps), scale)
        return f"{match[1]}{match[2]} {'-' if steps < 0 else ''}{whole}" + (f".{part:0{digits}}" if digits else "")

    changed, times = re.subn(
        rf"(^  {name}:(?:\n    require:)? .*)(<=|>=|<|>) (\d+(?:\.\d+)?)$", rewritten, text, flags=re.MULTILINE
    )
    assert times == 1
    assert changed != text
    return changed


def applied(text: str, item: CorrectionClaim, less: int = 0) -> str:
    """The task as a correction would have it; `less`: by how much the threshold moves less than it says."""
    if item.move is not None:
        condition: Any = next(c.condition for c in problem_of(text).constraints if c.name == item.move.constraint)
        scale = condition.left.type.scale
        amount = narrow(item.move.amount) - less
        text = moved(text, item.move.constraint, amount, scale) if amount else text
    for name in item.drop:
        text = without(text, name)
    return text


def given_up(item: CorrectionClaim) -> set[str]:
    return {*item.drop, *([item.move.constraint] if item.move else [])}


def in_words(item: CorrectionClaim) -> str:
    parts = [f"drop {name}" for name in item.drop]
    return ", ".join([*parts, *([f"move {item.move.constraint} by {item.move.amount}"] if item.move else [])])


@every_text
def test_a_correction_applied_to_the_file_makes_the_task_solvable(name: str) -> None:
    """Each one as written; and with one step less, or one name fewer, the task stays unsolvable."""
    text = TEXTS[name]
    claim = explained(certified(text))
    assert claim.complete
    assert claim.corrections
    lines: list[str] = []
    for item in claim.corrections:
        assert certified(applied(text, item)).claims.status.value == "solvable"
        fewer = [item.model_copy(update={"drop": tuple(n for n in item.drop if n != one)}) for one in item.drop]
        less = [applied(text, item, less=1)] if item.move else []
        short = [*less, *(applied(text, part) for part in fewer if part.drop or part.move)]
        assert all(certified(other).claims.status.value == "unsolvable" for other in short)
        lines.append(f"  {in_words(item):60} solvable; {len(short)} with less: unsolvable")
    print(f"{name}: {len(claim.conflicts)} conflicts\n" + "\n".join(lines))  # noqa: T201


@every_text
def test_a_witness_satisfies_what_is_kept(name: str) -> None:
    text = TEXTS[name]
    for item in explained(certified(text)).corrections:
        there = certify(
            parse_task(applied(text, item)),
            MINI,
            within={choice: [row.id for row in rows] for choice, rows in item.plan.picks.items()},
        )
        assert there.claims.status.value == "solvable"


def test_the_tasks_show_all_kinds_of_corrections() -> None:
    claims = [explained(certified(text)) for text in TEXTS.values()]
    items = [item for claim in claims for item in claim.corrections]
    assert sum(len(claim.conflicts) for claim in claims) > len(claims), "some task has more than one conflict"
    assert any(item.move and item.drop for item in items)
    assert any(item.move and not item.drop for item in items)
    assert any(item.drop and not item.move for item in items)
    assert {item.move.constraint for item in items if item.move} >= {"rating", "close", "budget"}


def test_explain_names_and_amounts(tmp_path: Path, capsys: pytest.CaptureFixture[str]) -> None:
    """The amount is what the cheapest plan costs without the budget, less the budget."""
    (file,) = (path for name, path in FILES.items() if name.startswith("parks-1-08"))
    text = file.read_text("utf-8")
    optimum = certify(parse_task(text), MINI, constraints=["park", "weekend", "pool", "rating", "near"]).claims.optimum
    assert optimum is not None
    amount = narrow(optimum.value) - 40_000
    claim = explained(certified(text))
    assert set(claim.conflicts) == {("park", "weekend", "pool", "budget")}
    raised = CorrectionClaim(drop=(), move=Move(constraint="budget", amount=amount), plan=optimum.plan)
    assert [item.model_copy(update={"plan": None}) for item in claim.corrections[:-1]] == [
        CorrectionClaim.model_construct(drop=(name,), move=None, plan=None) for name in ("park", "weekend", "pool")
    ]
    assert claim.corrections[-1] == raised, "the witness is the canonical cheapest plan"
    assert run(["verify", str(file), "--out", str(tmp_path), "-q", "--engines", "scan"]) == 0
    said = capsys.readouterr().out
    money = format_value(amount, problem_of(text).objective.type)
    assert f"raise budget by {money}" in said
    assert optimum.plan.picks["hotel"][0].id in said
    assert "park, weekend, pool, budget" in said


def test_nothing_helps_a_task_without_offers() -> None:
    made = certify(parse_task(THRESHOLDS), MINI, within={"hotel": []})
    claim = explained(made)
    assert (claim.conflicts, claim.corrections, claim.complete) == (((),), (), True)
    assert not replay(problem_of(THRESHOLDS), MINI, made).refuted


# ------------------------------------------------------------------------------------------------------- the checker


@dataclass(frozen=True)
class Checked:
    """A task with its certificate, and the data as the checker reads it, once."""

    problem: Problem
    certificate: Certificate
    data: check.Data

    @property
    def claim(self) -> ConflictsClaim:
        return explained(self.certificate)

    def report(self, claim: ConflictsClaim) -> checker.Report:
        claims = self.certificate.claims.model_copy(update={"conflicts": claim})
        certificate = self.certificate.model_copy(update={"claims": claims}).sealed()
        manifest = MINI.manifest
        return checker.replay(
            self.problem, self.data, certificate, dataset=manifest.manifest.name, manifest_digest=manifest.digest()
        )

    def refutes(self, claim: ConflictsClaim) -> bool:
        return "conflicts" in {item.claim for item in self.report(claim).refuted}


@cache
def checked(name: str) -> Checked:
    problem = problem_of(TEXTS[name])
    return Checked(problem, certified(TEXTS[name]), check.open_data(MINI.folder, problem))


@every_text
def test_the_checker_confirms_conflicts(name: str) -> None:
    report = checked(name).report(checked(name).claim)
    assert not report.refuted
    assert report.confirmed("conflicts")


@every_text
def test_a_claim_that_says_less_and_does_not_call_it_complete_holds(name: str) -> None:
    claim = checked(name).claim
    for less in (
        {}, {"conflicts": claim.conflicts[1:]}, {"corrections": claim.corrections[:-1]},
        {"conflicts": (), "corrections": ()},
    ):  # fmt: skip
        assert not checked(name).refutes(claim.model_copy(update={**less, "complete": False}))


def changes(claim: ConflictsClaim, names: list[str]) -> Iterator[tuple[str, ConflictsClaim]]:
    """Claims that are wrong, each with what is wrong."""

    def with_conflicts(*sets: tuple[str, ...]) -> ConflictsClaim:
        return claim.model_copy(update={"conflicts": sets})

    def with_corrections(*items: CorrectionClaim) -> ConflictsClaim:
        return claim.model_copy(update={"corrections": items})

    for place, names_of in enumerate(claim.conflicts):
        before, after = claim.conflicts[:place], claim.conflicts[place + 1 :]
        yield "a conflict is missing", with_conflicts(*before, *after)
        for member in names_of:
            less = tuple(name for name in names_of if name != member)
            yield f"{member} is no longer in the conflict", with_conflicts(*before, less, *after)
        for member in set(names) - set(names_of):
            more = tuple(name for name in names if name in {*names_of, member})
            yield f"{member} is in the conflict, too", with_conflicts(*before, more, *after)
    for place, item in enumerate(claim.corrections):
        before, after = claim.corrections[:place], claim.corrections[place + 1 :]
        yield f"left out: {in_words(item)}", with_corrections(*before, *after)
        for name in set(names) - given_up(item):
            more = item.model_copy(update={"drop": tuple(n for n in names if n in {*item.drop, name})})
            yield f"{name} is dropped, too: {in_words(item)}", with_corrections(*before, more, *after)
        for name in item.drop:
            less = item.model_copy(update={"drop": tuple(n for n in item.drop if n != name)})
            yield f"{name} is not dropped: {in_words(item)}", with_corrections(*before, less, *after)
        if item.move:
            for step in (-1, 1):
                other = item.move.model_copy(update={"amount": narrow(item.move.amount) + step})
                changed = item.model_copy(update={"move": other})
                yield f"{step:+} step: {in_words(item)}", with_corrections(*before, changed, *after)
        for other in claim.corrections:
            if given_up(other) != given_up(item):
                changed = item.model_copy(update={"plan": other.plan})
                yield f"the plan of {in_words(other)}: {in_words(item)}", with_corrections(*before, changed, *after)
        strange = Plan.of({name: f"{rows[0].id}x" for name, rows in item.plan.picks.items()})
        changed = item.model_copy(update={"plan": strange})
        yield f"an unknown offer: {in_words(item)}", with_corrections(*before, changed, *after)


@every_text
def test_the_checker_refutes_other_conflicts(name: str) -> None:
    names = [item.name for item in checked(name).problem.constraints]
    wrongs = list(changes(checked(name).claim, names))
    if not THOROUGH:
        wrongs = random.Random(0).sample(wrongs, min(25, len(wrongs)))  # noqa: S311
    passed = [what for what, wrong in wrongs if not checked(name).refutes(wrong)]
    print(f"{name}: {len(wrongs)} wrong claims")  # noqa: T201
    assert len(wrongs) > 20
    assert not passed


# ------------------------------------------------------------------------------------------------------ random tasks


def can_be_had(at: Posed, names: Names) -> bool:
    """Whether some plan satisfies the constraints, the value of the objective known or not."""
    try:
        return bool(at.truth(constraints=names).count)
    except UnknownObjectiveError:
        return True


@slow
@given(case=cases())
def test_conflicts_of_random_tasks(case: Case) -> None:
    """From the YAML text to the names, nulls and empty tables included; the checker confirms what `certify` claims."""
    with posed(case) as at:
        certificate = at.certify()
        if certificate.claims.status.value != "unsolvable":
            assert certificate.claims.conflicts is None
            return
        claim, names = explained(certificate), case.constraints
        subsets = [frozenset(s) for size in range(len(names) + 1) for s in itertools.combinations(names, size)]
        solvable = {subset: can_be_had(at, subset) for subset in subsets}
        event(f"{len(claim.conflicts)} conflicts, {len(claim.corrections)} corrections")
        assert claim.complete
        assert {frozenset(item) for item in claim.conflicts} == least(s for s in subsets if not solvable[s])
        assert {frozenset(given_up(item)) for item in claim.corrections} == least(
            s for s in subsets if solvable[frozenset(names) - s]
        )
        report = at.replay(certificate)
        assert not report.refuted
        assert report.confirmed("conflicts")


def test_a_number_looked_up_across_choices_can_be_moved(tmp_path: Path, capsys: pytest.CaptureFixture[str]) -> None:
    """The least amount counts only pairs for which the relation has a number; engine and checker once differed."""
    task = tmp_path / "far.yaml"
    task.write_text(
        "cobench: 1\nid: far\ndataset: parks\ngiven:\n  guests: 2\nchoose:\n  hotel: stays\n  flight: round_trips\n"
        'constraints:\n  park: hotel.park == "Death Valley"\n'
        "  drive: drive_minutes(flight.destination, hotel.park) <= 100\n"
        "minimize: hotel.total_price\nexpect: unsolvable\n",
        encoding="utf-8",
    )
    assert run(["verify", str(task), "--out", str(tmp_path / "out"), "--engines", "scan"]) == 0
    assert "raise drive by 28 min" in capsys.readouterr().out
