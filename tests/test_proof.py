"""Proofs for outsiders: what is accepted is true, whatever is done to the files; and what is true gets a proof."""

from __future__ import annotations

import itertools
import json
import random
import re
import subprocess
import sys
from collections.abc import Iterator
from dataclasses import replace
from pathlib import Path
from typing import Any

import numpy as np
import pytest
from cobench.cli import run
from cobench.solver import scan
from cobench.solver.model import Linear, Link, Model, Row
from cobench.solver.outcome import Limits
from cobench.solver.proofs import proof as proving
from cobench.solver.proofs import proof_check, proof_files
from cobench.solver.proofs.proof import NoProofError, Proof, prove
from cobench.solver.proofs.proof_check import Database, RefusedError, check
from cobench.solver.proofs.removals import Removal, Removals, fault
from cobench.solver.reduce import reduced
from hypothesis import assume, event, given
from hypothesis import strategies as st

from .models import best_value, everything
from .test_model import RandomModel, choice, ints

ROOT = Path(__file__).resolve().parent.parent
SEEDS = st.integers(0, 2**32)
LINE = re.compile(r"(.*?) ?(>=|=) (-?\d+) ;")

# ----------------------------------------------------------------------------------------------------- the truth


def read_opb(text: str) -> tuple[dict[int, int] | None, list[tuple[dict[int, int], bool, int]]]:
    """The objective and the constraints (coefficients, whether equal, right side) of an OPB file, read naively."""

    def terms(part: str) -> tuple[dict[int, int], int]:
        words, total, constant = part.split(), dict[int, int](), 0
        for amount, name in zip(words[::2], words[1::2], strict=True):
            sign = -1 if name[0] == "~" else 1  # not x is 1 - x
            constant += int(amount) if sign < 0 else 0
            variable = int(name.removeprefix("~").removeprefix("x"))
            total[variable] = total.get(variable, 0) + sign * int(amount)
        return total, constant

    objective, constraints = None, list[tuple[dict[int, int], bool, int]]()
    for line in text.splitlines():
        if line.startswith("min:"):
            objective, _ = terms(line.removeprefix("min:").removesuffix(";"))
        elif not line.startswith("*"):
            found = LINE.fullmatch(line)
            assert found is not None
            total, constant = terms(found[1])
            constraints.append((total, found[2] == "=", int(found[3]) - constant))
    return objective, constraints


def truth(text: str, groups: bool = False) -> str:
    """What is true of an OPB file, by trying every assignment; or with `groups`, one variable of each group that the
    file says has exactly one.
    """
    objective, constraints = read_opb(text)
    variables = sorted({*(objective or {}), *(variable for part, _, _ in constraints for variable in part)})
    whole = [list(part) for part, equal, right in constraints if equal and right == 1 and set(part.values()) <= {1}]
    if groups:
        assert sorted(itertools.chain(*whole)) == variables
        tried: Iterator[tuple[int, ...]] = itertools.product(*whole)
    else:
        tried = (
            tuple(itertools.compress(variables, bits)) for bits in itertools.product((0, 1), repeat=len(variables))
        )
    best: int | None = None
    for ones in tried:
        sums = [(sum(part.get(one, 0) for one in ones), equal, right) for part, equal, right in constraints]
        if all(total == right if equal else total >= right for total, equal, right in sums):
            value = sum((objective or {}).get(one, 0) for one in ones)
            best = value if best is None else min(best, value)
    return "unsatisfiable" if best is None else f"optimum {best}"


def proved(model: Model) -> Proof:
    return prove(model, scan.survey(model, Limits()).outcome.picked, Limits())


def small_model(seed: int) -> Model:
    return everything(RandomModel(random.Random(seed)).model())  # noqa: S311


# ------------------------------------------------------------------------------------------------- what is true


@given(SEEDS, st.booleans())
def test_every_optimum_and_every_absence_of_plans_gets_a_proof(seed: int, less: bool) -> None:
    model = small_model(seed)
    best = best_value(model)
    made = proved(reduced(model) if less else model)
    said = "unsatisfiable" if best is None else f"optimum {best}"
    event("solvable" if best is not None else "unsolvable")
    event(f"the longest lemma has {max(line.count('~') for line in made.pbp.splitlines())} rows")
    assert (made.optimum, check(made.opb, made.pbp)) == (best, said)
    assert truth(made.opb, groups=True) == said


def test_rows_that_only_fall_in_pairs_get_a_lemma_per_pair() -> None:
    """Three choices of cheap and dear rows: two dear ones fit any third row only one at a time."""
    price = {place: ints(0, 5, 9) for place in range(3)}
    worth = {0: ints(0, -5, -9), 1: ints(0, -5, -9), 2: ints(0, -5, -9)}
    choices = tuple(choice(f"c{place}", 3) for place in range(3))
    model = Model(("k",), choices, (Row(0, Linear(price, (), -17)),), (), (), Linear(worth, (), 0), False)
    made = proved(model)
    assert check(made.opb, made.pbp) == f"optimum {best_value(model)}"
    assert re.search(r"^rup 1 ~x\d+ 1 ~x\d+ >= 1 ;$", made.pbp, re.MULTILINE)


def test_there_is_no_part_of_a_proof(monkeypatch: pytest.MonkeyPatch) -> None:
    model = small_model(1)
    found = scan.survey(model, Limits()).outcome
    with pytest.raises(NoProofError, match="time limit"):
        prove(model, found.picked, Limits(0))
    monkeypatch.setattr(proving, "MAX_LINES", 1)
    with pytest.raises(NoProofError, match="more than 1 lines"):
        prove(model, found.picked, Limits())


@given(SEEDS)
def test_a_plan_that_is_not_best_is_never_proved_best(seed: int) -> None:
    model = small_model(seed)
    best = best_value(model)
    plans = [
        plan
        for plan in itertools.product(*(range(len(item)) for item in model.choices))
        if model.feasible(plan, range(len(model.names))) and model.objective.value(plan) != best
    ]
    assume(plans)
    with pytest.raises(NoProofError, match="a better plan"):
        prove(model, plans[seed % len(plans)], Limits())
    with pytest.raises(NoProofError, match="a better plan"):
        prove(model, None, Limits())


# --------------------------------------------------------------------------------------- what is done to the files


def accepted(opb: str, pbp: str) -> str | None:
    try:
        return check(opb, pbp)
    except (RefusedError, ValueError):
        return None


def mutations(text: str) -> Iterator[str]:
    """The text with one number, sign, relation or line changed, left out, doubled or moved, or cut off somewhere."""
    for found in re.finditer(r"-?\d+", text):
        number = int(found[0])
        for other in {number + 1, number - 1, -number, 0, number * 10} - {number}:
            yield text[: found.start()] + str(other) + text[found.end() :]
    for old, new in ((">=", "="), (" = ", " >= "), ("~", ""), (" x", " ~x"), ("min:", "max:"), ("soli", "sol")):
        for found in re.finditer(re.escape(old), text):
            yield text[: found.start()] + new + text[found.end() :]
    lines = text.splitlines(keepends=True)
    for number, line in enumerate(lines):
        rest = lines[:number], lines[number + 1 :]
        yield "".join([*rest[0], *rest[1]])
        yield "".join([*rest[0], line, line, *rest[1]])
        yield "".join([*rest[0], *rest[1][:1], line, *rest[1][1:]])
        yield "".join(rest[0])
        yield "".join([*rest[0], line[: len(line) // 2]])


def counted(opb: str) -> str:
    """The problem with a header that fits it, so that it is not that which gives a change away."""
    lines = opb.splitlines(keepends=True)[1:]
    variables = max((int(name) for name in re.findall(r"x(\d+)", "".join(lines))), default=0)
    number = sum(not line.startswith(("*", "min:")) for line in lines)
    return "".join([f"* #variable= {variables} #constraint= {number}\n", *lines])


def tiny(seed: int, most: int) -> Proof:
    """The proof of a random model whose problem has at most so many variables."""
    rng = random.Random(seed)  # noqa: S311
    while True:
        made = proved(everything(RandomModel(rng).model()))
        if 3 <= made.problem.variables <= most and made.steps > 2:
            return made


@pytest.mark.parametrize("seed", range(4))
def test_a_mutation_that_changes_the_truth_is_rejected(seed: int) -> None:
    made = tiny(seed, 7)
    said, refused = check(made.opb, made.pbp), 0
    for pbp in mutations(made.pbp):
        now = accepted(made.opb, pbp)
        assert now in (said, None), pbp
        refused += now is None
    assert refused > 20
    changed = 0
    for opb in mutations(made.opb):
        for text in {opb, counted(opb)}:
            now = accepted(text, made.pbp)
            if now is not None:
                assert now == truth(text), text
            changed += now is None
    assert changed > 20


@given(SEEDS, st.data())
def test_what_is_accepted_after_several_mutations_is_true(seed: int, data: st.DataObject) -> None:
    made = tiny(seed, 8)
    opb, pbp = made.opb, made.pbp
    for _ in range(data.draw(st.integers(1, 3))):
        if data.draw(st.booleans()):
            opb = data.draw(st.sampled_from(list(mutations(opb))))
        else:
            pbp = data.draw(st.sampled_from(list(mutations(pbp))))
    opb = counted(opb)
    now = accepted(opb, pbp)
    event("accepted" if now else "refused")
    if now is not None:
        assert now == truth(opb)


def test_a_proof_is_about_its_own_problem() -> None:
    made = [tiny(seed, 9) for seed in range(8)]
    for one, other in itertools.permutations(made, 2):
        assert accepted(one.opb, other.pbp) in (None, truth(one.opb))


# -------------------------------------------------------------------------------------------- unit propagation

LINEARS = st.tuples(st.dictionaries(st.integers(1, 5), st.integers(-4, 4), max_size=5), st.integers(-6, 6))


def naive(linears: list[proof_check.Linear]) -> bool:
    """Whether unit propagation, done again and again from the start, finds a contradiction."""
    value: dict[int, int] = {}
    while True:
        size = len(value)
        for coefficients, right in linears:
            most = sum(max(a * value[v], a * value[v]) if v in value else max(a, 0) for v, a in coefficients.items())
            if most < right:
                return True
            for variable, amount in coefficients.items():
                if variable not in value and most - abs(amount) < right:
                    value[variable] = 1 if amount > 0 else 0
        if len(value) == size:
            return False


@given(st.lists(LINEARS, max_size=6), st.lists(LINEARS, max_size=4), st.sampled_from([0, 300]))
def test_propagation_finds_what_doing_it_naively_finds_and_nothing_else(
    given_: list[proof_check.Linear], asked: list[proof_check.Linear], short: int
) -> None:
    database = Database(5)
    with pytest.MonkeyPatch.context() as patch:
        patch.setattr(proof_check, "SHORT", short)
        for linear in given_:
            database.add(linear)
        for coefficients, right in asked:
            found = database.assume_not((coefficients, right))
            database.retract()
            opposite = {variable: -amount for variable, amount in coefficients.items()}, 1 - right
            assert found == naive([*given_, opposite])
            if database.failed:
                continue
            for linear, terms, slack in zip(database.linear, database.terms, database.slack, strict=True):
                degree = linear[1] - sum(amount for amount in linear[0].values() if amount < 0)
                assert slack == sum(amount for amount, literal in terms if not database.true[-literal]) - degree


def test_what_follows_without_an_assumption_outlives_it() -> None:
    database = Database(4)
    for linear in (({1: 1}, 1), ({1: -1, 2: -1, 3: -1}, -1)):
        database.add(linear)
    for _ in range(2):
        assert database.assume_not(({2: -1, 3: -1}, 0))  # x1 is 1, so neither of the others is
        database.retract()
        assert not database.assume_not(({4: -1}, 0))
        database.retract()


# ---------------------------------------------------------------------------------------------- strict reading

OPB = (
    "* #variable= 4 #constraint= 3\nmin: 2 x1 3 x2 1 x3 5 x4 ;\n1 x1 1 x2 = 1 ;\n1 x3 1 x4 = 1 ;\n-1 x1 -1 x3 >= -1 ;\n"
)
PBP = (
    "pseudo-Boolean proof version 2.0\nf 5\n* the best\nsoli x2 x3\npol 6 1 2 * + 3 +\nrup 1 ~x1 >= 1 ;\nrup >= 1 ;\n"
    "output NONE\nconclusion BOUNDS 4 : 9 4\nend pseudo-Boolean proof\n"
)


def test_a_proof_written_by_hand_is_accepted() -> None:
    assert check(OPB, PBP) == truth(OPB) == "optimum 4"


@pytest.mark.parametrize(
    ("old", "new"),
    [
        ("version 2.0", "version 3.0"),
        ("f 5\n", "f 4\n"),
        ("f 5\n", "f\n"),
        ("f 5\n", "f 5\na >= 1 ;\n"),  # an assumption
        ("f 5\n", "f 5\nred 1 x1 >= 1 ; x1 -> 1\n"),
        ("f 5\n", "f 5\ndel id 1\n"),
        ("f 5\n", "f 5\n\n"),
        ("soli x2 x3", "soli x1 x3"),  # no solution
        ("soli x2 x3", "soli x2 x4"),  # a worse one
        ("soli x2 x3", "soli x2 x3 x9"),
        ("soli x2 x3", "soli x2 ~x3"),
        ("soli x2 x3\n", ""),
        ("soli x2 x3\n", "soli x2 x3\nsoli x2 x3\n"),  # no better than itself
        ("pol 6 1 2 * + 3 +", "pol 6 1 -2 * + 3 +"),
        ("pol 6 1 2 * + 3 +", "pol 6 1 0 * + 3 +"),
        ("pol 6 1 2 * + 3 +", "pol 6 7 2 * + 3 +"),  # itself
        ("pol 6 1 2 * + 3 +", "pol 6 1 2 * +  3 +"),
        ("pol 6 1 2 * + 3 +", "pol 6 1 2 * 3 +"),
        ("pol 6 1 2 * + 3 +", "pol 6 +"),
        ("pol 6 1 2 * + 3 +", "pol 2 *"),
        ("pol 6 1 2 * + 3 +", "pol 6 1 2 d +"),
        ("pol 6 1 2 * + 3 +", "pol 6 1 2 * + 3 + s"),
        ("f 5\n", "f 5\nrup 1 x1 >= 1 ;\n"),  # does not follow
        ("rup 1 ~x1 >= 1 ;", "rup 1 ~x1 = 1 ;"),
        ("rup 1 ~x1 >= 1 ;", "rup 1 ~x1 >= 1"),
        ("rup 1 ~x1 >= 1 ;", "rup 1 ~x1 >= 1 ; 1"),
        ("rup 1 ~x1 >= 1 ;", "rup 1 ~x5 >= 0 ;"),
        ("rup 1 ~x1 >= 1 ;", "rup 1_0 ~x1 >= 1 ;"),
        ("rup 1 ~x1 >= 1 ;", "rup \u0661 ~x1 >= 1 ;"),  # a digit, but not of ours
        ("rup 1 ~x1 >= 1 ;", f"rup {'9' * 5000} ~x1 >= 1 ;"),
        ("rup >= 1 ;\n", ""),
        ("rup >= 1 ;", "rup >= 0 ;"),
        ("output NONE\n", ""),
        ("BOUNDS 4 : 9 4", "BOUNDS 3 : 9 4"),
        ("BOUNDS 4 : 9 4", "BOUNDS 5 : 9 5"),
        ("BOUNDS 4 : 9 4", "BOUNDS 4 : 9 5"),
        ("BOUNDS 4 : 9 4", "BOUNDS 4 : 8 4"),
        ("BOUNDS 4 : 9 4", "BOUNDS 4 : 10 4"),
        ("BOUNDS 4 : 9 4", "BOUNDS 4 4"),
        ("conclusion BOUNDS 4 : 9 4", "conclusion UNSAT : 9"),  # only because better plans were asked for
        ("conclusion BOUNDS 4 : 9 4", "conclusion NONE"),
        ("end pseudo-Boolean proof\n", "end pseudo-Boolean proof"),
        ("end pseudo-Boolean proof\n", "end pseudo-Boolean proof\nrup >= 1 ;\n"),
        ("\n", "\r\n"),
    ],
)
def test_anything_else_in_a_proof_is_refused(old: str, new: str) -> None:
    assert old in PBP
    assert accepted(OPB, PBP.replace(old, new)) is None


@pytest.mark.parametrize(
    ("old", "new"),
    [
        ("#variable= 4", "#variable= 5"),
        ("#constraint= 3", "#constraint= 4"),
        ("* #variable= 4 #constraint= 3\n", ""),
        ("min: 2 x1 3 x2 1 x3 5 x4 ;\n", ""),
        ("min:", "max:"),
        ("2 x1 3 x2", "2 ~x1 3 x2"),
        ("-1 x1 -1 x3 >= -1 ;", "1 x1 1 x3 <= 1 ;"),
        ("-1 x1 -1 x3 >= -1 ;", "-1 x1 -1 x3 >= -1"),
        ("-1 x1 -1 x3 >= -1 ;", "-1 x1 x3 >= -1 ;"),
        ("-1 x1 -1 x3 >= -1 ;", "-1.0 x1 -1 x3 >= -1 ;"),
        ("-1 x1 -1 x3 >= -1 ;", "-1 y1 -1 x3 >= -1 ;"),
        ("-1 x1 -1 x3 >= -1 ;\n", "-1 x1 -1 x3 >= -1 ;\nmin: 1 x1 ;\n"),
    ],
)
def test_anything_else_in_a_problem_is_refused(old: str, new: str) -> None:
    assert old in OPB
    assert accepted(OPB.replace(old, new), PBP) is None


def test_the_checker_is_one_file_that_needs_only_python(tmp_path: Path) -> None:
    (tmp_path / "c.py").write_bytes((ROOT / "solver" / "proofs" / "proof_check.py").read_bytes())
    (tmp_path / "a.opb").write_text(OPB)
    (tmp_path / "a.pbp").write_text(PBP)
    (tmp_path / "b.pbp").write_text(PBP.replace("soli x2 x3", "soli x2 x4"))
    (tmp_path / "c.pbp").write_bytes(b"\xff")
    expected = [
        (["a.opb", "a.pbp"], 0, "optimum 4: verified\n"),
        (["a.opb", "b.pbp"], 1, "refused: proof, line 6: unit propagation finds no contradiction\n"),
        (["a.opb", "c.pbp"], 1, "refused: "),
        (["a.opb", "none"], 1, "refused: "),
        (["a.opb"], 1, ""),
    ]
    for names, code, said in expected:
        command = [sys.executable, "-I", "-S", "c.py", *names]
        done = subprocess.run(command, cwd=tmp_path, capture_output=True, encoding="utf-8", timeout=60, check=False)
        assert (done.returncode, done.stdout[: len(said) or None]) == (code, said), done


# --------------------------------------------------------------------------------------------------- reductions


@given(SEEDS)
def test_every_row_that_reduction_removes_has_a_reason(seed: int) -> None:
    model = small_model(seed)
    noted = Removals()
    less = reduced(model, watch=noted)
    for reason in {item.reason for item in noted.found}:
        event(reason)
    assert all(
        np.array_equal(one.rows, other.rows) for one, other in zip(less.choices, reduced(model).choices, strict=True)
    )
    assert fault(model, noted.found, [item.rows for item in less.choices]) == ""


@given(SEEDS, st.data())
def test_reasons_that_hold_keep_the_best_value_whoever_gives_them(seed: int, data: st.DataObject) -> None:
    model = small_model(seed)
    assume(all(len(item) for item in model.choices))
    removals: list[Removal] = []
    left = [item.rows for item in model.choices]
    for _ in range(data.draw(st.integers(1, 4))):
        number = data.draw(st.integers(0, len(left) - 1))
        if len(left[number]) < 2:
            continue
        row, by = data.draw(st.permutations(left[number].tolist()))[:2]
        reason: Any = data.draw(st.sampled_from(["no partner", "cannot be afforded", "dominated", "dominated"]))
        if reason == "dominated":
            item = Removal(number, reason, ints(row), by=ints(by))
        else:
            item = Removal(number, reason, ints(row), data.draw(st.integers(0, max(0, len(model.names) - 1))))
        after = [rows[rows != row] if place == number else rows for place, rows in enumerate(left)]
        if not fault(model, [*removals, item], after):
            removals, left = [*removals, item], after
    event(f"{len(removals)} removed")
    places = {
        number: np.searchsorted(item.rows, rows)
        for number, (item, rows) in enumerate(zip(model.choices, left, strict=True))
    }
    assert best_value(model.narrowed(places)) == best_value(model)


def reasons() -> tuple[Model, list[Removal], list[Any]]:
    """Rows 1 (dear), 2 (no partner) and 3 (dominated by 0) go."""
    link = Link(0, (0, 1), (ints(0, 0, 1, 0), ints(0, 2)))
    price = Row(1, Linear({0: ints(1, 9, 1, 2), 1: ints(1, 1)}, (), -5))
    worth = Linear({0: ints(3, 1, 1, 3)}, (), 0)
    model = Model(("same", "price"), (choice("a", 4), choice("b", 2)), (price,), (link,), (), worth, False)
    steps = [
        Removal(0, "no partner", ints(2), 0),
        Removal(0, "cannot be afforded", ints(1), 1),
        Removal(1, "no partner", ints(1), 0),
        Removal(0, "dominated", ints(3), by=ints(0)),
    ]
    return model, steps, [ints(0), ints(0)]


def test_a_reason_that_does_not_hold_is_found() -> None:
    model, steps, left = reasons()
    assert fault(model, steps, left) == ""
    wrong: list[tuple[int, dict[str, Any]]] = [
        (0, {"constraint": 1}),
        (0, {"constraint": 7}),
        (0, {"constraint": None}),
        (0, {"rows": ints(0)}),
        (0, {"rows": ints(2, 2)}),
        (0, {"rows": ints(9)}),
        (0, {"rows": ints()}),
        (0, {"reason": "cannot be afforded"}),
        (1, {"rows": ints(3)}),
        (1, {"reason": "no partner", "constraint": 0}),
        (3, {"by": ints(1)}),
        (3, {"by": ints(3)}),
        (3, {"by": ints(9)}),
        (3, {"by": None}),
        (3, {"rows": ints(0), "by": ints(3)}),
    ]
    for place, change in wrong:
        changed = [*steps[:place], replace(steps[place], **change), *steps[place + 1 :]]
        assert fault(model, changed, left).startswith(f"step {place + 1}"), change
    for place in range(len(steps)):
        assert fault(model, [*steps[:place], *steps[place + 1 :]], left) != ""
    other_code = [Removal(0, "dominated", ints(3), by=ints(2))]
    assert fault(model, other_code, [ints(0, 1, 2), ints(0, 1)]).startswith("step 1")
    alike = replace(model, rows=(Row(1, Linear({0: ints(1, 9, 1, 1), 1: ints(1, 1)}, (), -5)),))
    each_other = [Removal(0, "dominated", ints(3), by=ints(0)), Removal(0, "dominated", ints(0), by=ints(3))]
    assert fault(alike, each_other, [ints(1, 2), ints(0, 1)]).startswith("step 2")
    assert fault(model, steps, [ints(0), ints(0, 1)]) == "the steps leave other rows of b than the problem has"


# --------------------------------------------------------------------------------------------------- the command

SUITE = ROOT / "tasks" / "parks"
FILES = ["check_plan.py", "claim.json", "dominated.json", "problem.opb", "proof.pbp", "variables.json"]


@pytest.mark.parametrize(
    ("name", "said"),
    [
        ("parks-2-01-zion-weekend", "the optimum $1,020.97 is proved and checked"),
        ("parks-1-08-weekend-pool-in-the-desert", "that there is no plan is proved and checked"),
        ("parks-3-09-no-tour-on-thursday", "that there is no plan is proved and checked"),
        ("parks-2-03-everglades-eight-wishes", "the optimum 5 is proved and checked"),
    ],
)
def test_prove_writes_what_an_outsider_needs(
    name: str, said: str, tmp_path: Path, capsys: pytest.CaptureFixture[str]
) -> None:
    for folder in ("one", "two"):
        assert run(["prove", str(SUITE / f"{name}.yaml"), "--out", str(tmp_path / folder), "-q"]) == 0
        assert capsys.readouterr().out.startswith(f"{name}: {said}\n")
    files = {path.name: path.read_bytes() for path in (tmp_path / "one").iterdir()}
    assert sorted(files) == FILES
    assert files == {path.name: path.read_bytes() for path in (tmp_path / "two").iterdir()}
    claim = json.loads(files["claim.json"])
    now = check(files["problem.opb"].decode(), files["proof.pbp"].decode())
    if claim["claim"]["status"] == "unsolvable":
        assert now == "unsatisfiable"
        return
    assert now == f"optimum {claim['claim']['minimum']}"
    variables = json.loads(files["variables.json"])
    ones = re.findall(r"x\d+", re.findall(r"^soli .*$", files["proof.pbp"].decode(), re.MULTILINE)[0])
    assert {variables[one]["choice"]: variables[one]["offer"] for one in ones} == claim["claim"]["plan"]
    listed = {(item["choice"], offer) for item in json.loads(files["dominated.json"])
              for offer in [*item.get("offers", []), *itertools.chain(*item.get("by", {}).values())]}  # fmt: skip
    kept = {(item["choice"], item["offer"]) for item in variables.values()}
    passing = sum(item["passing"] for item in claim["choices"].values())
    assert len(listed) + len(kept) == len(listed | kept) == passing


def test_prove_in_json(tmp_path: Path, capsys: pytest.CaptureFixture[str]) -> None:
    task = SUITE / "parks-2-01-zion-weekend.yaml"
    assert run(["prove", str(task), "--out", str(tmp_path), "--json", "-q"]) == 0
    found = json.loads(capsys.readouterr().out)
    assert (found["status"], found["optimum"], found["objective"]) == (
        "solvable", 102097, {"unit": "USD", "scale": 100})  # fmt: skip
    assert sorted(Path(name).name for name in found["files"]) == FILES


def test_prove_writes_nothing_when_a_limit_stops_it(tmp_path: Path, capsys: pytest.CaptureFixture[str]) -> None:
    task, out = SUITE / "parks-2-01-zion-weekend.yaml", tmp_path / "out"
    assert run(["prove", str(task), "--out", str(out), "--time-limit", "0", "-q"]) == 3
    assert "undecided: " in capsys.readouterr().err
    assert not out.exists()


@pytest.mark.parametrize("wrong", ["dominator", "proof"])
def test_prove_claims_nothing_that_its_checks_refuse(
    wrong: str, tmp_path: Path, monkeypatch: pytest.MonkeyPatch, capsys: pytest.CaptureFixture[str]
) -> None:
    task = SUITE / "parks-2-01-zion-weekend.yaml"
    assert run(["prove", str(task), "--out", str(tmp_path), "-q"]) == 0
    if wrong == "dominator":
        original = Removals.__call__

        def reversed_(self: Removals, *args: Any) -> None:
            original(self, *args)
            self.found[:] = [replace(item, by=item.rows) if item.by is not None else item for item in self.found]

        monkeypatch.setattr(Removals, "__call__", reversed_)
    else:
        monkeypatch.setattr(
            proof_files, "prove", lambda *args: replace(prove(*args), pbp=prove(*args).pbp.replace("rup", "pol"))
        )
    assert run(["prove", str(task), "--out", str(tmp_path), "-q"]) == 4
    assert "is not accepted" in capsys.readouterr().err
    assert not (tmp_path / "claim.json").exists()
    assert not (tmp_path / "proof.pbp").exists()


def test_prove_says_what_cannot_be_written(tmp_path: Path, capsys: pytest.CaptureFixture[str]) -> None:
    (tmp_path / "file").write_text("")
    task = SUITE / "parks-2-01-zion-weekend.yaml"
    assert run(["prove", str(task), "--out", str(tmp_path / "file"), "-q"]) == 2
    assert "error: cannot " in capsys.readouterr().err


def test_a_variable_of_no_size_is_refused() -> None:
    problem = "* #variable= 99999999999 #constraint= 1\n1 x99999999999 >= 1 ;\n"
    with pytest.raises(RefusedError, match="more variables than characters"):
        check(problem, "pseudo-Boolean proof version 2.0\n")
