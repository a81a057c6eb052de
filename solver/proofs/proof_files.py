"""The files of a proof for outsiders: problem, proof, what variables stand for, what was left out, and the claim."""

from __future__ import annotations

import hashlib
import json
from collections.abc import Callable, Sequence
from dataclasses import dataclass
from pathlib import Path
from typing import Any

import numpy as np

from ...datasets.opening import Dataset
from ...schemas.canonical import canonical_bytes
from ...schemas.errors import Disagreement, OutputError
from ...schemas.files import write_atomically
from ...schemas.problem import Problem
from ...schemas.version import VERSION
from .. import scan
from ..lower import Lowered, lower
from ..model import Ints, Model
from ..outcome import Limits, Status, Undecided
from ..reduce import reduced
from .opb import TooLargeError
from .proof import NoProofError, Proof, prove
from .proof_check import RefusedError, check
from .removals import Removal, Removals, fault

FORMAT = 1
PROBLEM, PROOF, VARIABLES, DOMINATED, CLAIM = (
    "problem.opb",
    "proof.pbp",
    "variables.json",
    "dominated.json",
    "claim.json",
)


@dataclass(frozen=True, slots=True)
class Proved:
    """What was proved and written. `optimum` is in the unit and scale of the objective; None says that no plan exists.

    `plan`: the offer of each choice in the plan that the proof logs. `choices`: per choice how many offers pass the
    constraints on it alone, and how many of them the problem has as variables. `size`: bytes of the proof.
    """

    optimum: int | None
    plan: dict[str, str] | None
    choices: dict[str, tuple[int, int]]
    steps: int
    size: int
    files: tuple[Path, ...]


def write_proof(problem: Problem, dataset: Dataset, out: Path, limits: Limits, step: Callable[[str], None]) -> Proved:
    """Proves the optimum of a problem, or that it has no plan, and writes the proof into the folder `out`.

    The files are then read again: the proof is checked by proof_check.py, and every row that is in none of its
    constraints by the reason that is written for it; only then the claim is written. Raises Undecided for limits,
    and writes nothing then; Disagreement if a check fails, and InputError and OutputError as lowering and writing do.
    """
    lowered = lower(problem, dataset)
    model = lowered.model.kept(range(len(lowered.model.names)))
    step("looking for the optimum")
    removals = Removals()
    if all(len(choice) for choice in model.choices):
        small = reduced(model, lowered.ranks, removals)
    else:  # nothing can be picked for some choice, so it does not matter what there is for the others
        small = model.narrowed({number: np.zeros(0, np.int64) for number in range(len(model.choices))})
    found = scan.survey(small, limits).outcome
    if found.status not in (Status.OPTIMAL, Status.INFEASIBLE):
        raise Undecided(f"the optimum is not known ({found.reason})")
    step("proving it")
    try:
        proof = prove(small, found.picked, limits)
    except NoProofError as stopped:
        raise Undecided(f"no proof was found ({stopped})") from None
    except TooLargeError:
        raise Undecided("the problem would have too many terms") from None
    step("writing and checking")
    return _Writing(problem, dataset, lowered, model, small, found.picked or (), proof).write(out, removals.found)


@dataclass(frozen=True, slots=True)
class _Writing:
    problem: Problem
    dataset: Dataset
    lowered: Lowered
    model: Model
    small: Model
    picked: tuple[int, ...]
    proof: Proof

    def write(self, out: Path, removals: Sequence[Removal]) -> Proved:
        names = [
            dict(zip(choice.rows.tolist(), self.lowered.names(offers, choice, range(len(choice))), strict=True))
            for choice, offers in zip(self.model.choices, self.lowered.offers, strict=True)
        ]
        contents = {
            PROBLEM: self.proof.opb.encode("ascii"),
            PROOF: self.proof.pbp.encode("ascii"),
            VARIABLES: canonical_bytes(self._variables(names)),
            DOMINATED: canonical_bytes([self._written(item, names[item.choice]) for item in removals]),
        }
        claim = self._claim(contents)
        try:
            (out / CLAIM).unlink(missing_ok=True)  # an old claim must not stand beside a new proof
        except OSError as reason:
            raise OutputError(f"error: cannot replace {out / CLAIM}: {reason.strerror}") from None
        for name, content in contents.items():
            write_atomically(out / name, content)
        wrong = self._fault(out, names)
        if wrong:
            (out / PROOF).unlink(missing_ok=True)
            raise Disagreement(f"error: the proof of {self.problem.id} is not accepted: {wrong}")
        write_atomically(out / CLAIM, canonical_bytes(claim))
        plan = claim["claim"].get("plan")
        choices = {
            choice.name: (len(choice), len(left))
            for choice, left in zip(self.model.choices, self.small.choices, strict=True)
        }
        files = tuple(out / name for name in (*contents, CLAIM))
        return Proved(self._optimum(), plan, choices, self.proof.steps, len(contents[PROOF]), files)

    def _optimum(self) -> int | None:
        sign = -1 if self.model.maximize else 1
        return None if self.proof.optimum is None else sign * self.proof.optimum

    def _variables(self, names: Sequence[dict[int, str]]) -> dict[str, Any]:
        """For each variable that stands for an offer, which one. The others stand for combinations of codes."""
        return {
            f"x{variable}": {"choice": choice.name, "offer": names[number][row]}
            for number, choice in enumerate(self.small.choices)
            for variable, row in zip(self.proof.problem.groups[number], choice.rows.tolist(), strict=True)
        }

    def _written(self, item: Removal, names: dict[int, str]) -> dict[str, Any]:
        """A step of the reduction, offers by their ids; dominated ones under the one that dominates them."""
        written: dict[str, Any] = {"choice": self.model.choices[item.choice].name, "reason": item.reason}
        offers = [names[row] for row in item.rows.tolist()]
        if item.by is None:
            constraint = self.model.names[item.constraint] if item.constraint is not None else ""
            return {**written, "constraint": constraint, "offers": offers}
        by: dict[str, list[str]] = {}
        for row, offer in zip(item.by.tolist(), offers, strict=True):
            by.setdefault(names[row], []).append(offer)
        return {**written, "by": by}

    def _claim(self, contents: dict[str, bytes]) -> dict[str, Any]:
        objective, manifest = self.problem.objective, self.dataset.manifest
        claim: dict[str, Any] = {"status": "unsolvable"}
        if self.proof.optimum is not None:
            plan = self.lowered.ids(self.small, self.picked)
            claim = {"status": "solvable", "optimum": self._optimum(), "minimum": self.proof.optimum, "plan": plan}
        return {
            "cobench_proof": FORMAT,
            "version": VERSION,
            "task": {"id": self.problem.id, "digest": self.problem.digest},
            "dataset": {
                "name": manifest.manifest.name,
                "manifest": manifest.digest(),
                "tables": {name: self.dataset.table(self.problem.world, name).digest for name in self.problem.tables()},
                "relations": {
                    name: self.dataset.relation(self.problem.world, name).digest for name in self.problem.relations()
                },
            },
            "objective": {
                "sense": "maximize" if objective.maximize else "minimize",
                "unit": objective.type.unit,
                "scale": objective.type.scale,
            },
            "claim": claim,
            "choices": {
                choice.name: {"offers": len(offers.rows), "passing": len(choice), "variables": len(left)}
                for choice, offers, left in zip(
                    self.model.choices, self.lowered.offers, self.small.choices, strict=True
                )
            },
            "files": {name: f"sha256:{hashlib.sha256(content).hexdigest()}" for name, content in contents.items()},
        }

    def _fault(self, out: Path, names: Sequence[dict[int, str]]) -> str:
        """What is wrong with the files as they were written; empty if nothing is."""
        problem, proof = ((out / name).read_bytes().decode("ascii") for name in (PROBLEM, PROOF))
        said = "unsatisfiable" if self.proof.optimum is None else f"optimum {self.proof.optimum}"
        try:
            proved = check(problem, proof)
        except RefusedError as refused:
            return str(refused)
        if proved != said:
            return f"it proves '{proved}' and not '{said}'"
        if not all(len(choice) for choice in self.model.choices):
            return ""
        rows = [{offer: row for row, offer in offers.items()} for offers in names]
        number = {choice.name: place for place, choice in enumerate(self.model.choices)}
        removals: list[Removal] = []
        for item in json.loads((out / DOMINATED).read_bytes()):
            of = rows[number[item["choice"]]]
            pairs = [(offer, by) for by, offers in item.get("by", {}).items() for offer in offers]
            offers = [offer for offer, _ in pairs] or item["offers"]
            constraint = self.model.names.index(item["constraint"]) if "constraint" in item else None
            by = _numbers([by for _, by in pairs], of) if pairs else None
            removals.append(Removal(number[item["choice"]], item["reason"], _numbers(offers, of), constraint, by))
        survivors: list[list[str]] = [[] for _ in rows]
        for item in json.loads((out / VARIABLES).read_bytes()).values():
            survivors[number[item["choice"]]].append(item["offer"])
        left = [np.sort(_numbers(offers, of)) for offers, of in zip(survivors, rows, strict=True)]
        return fault(self.model, removals, left)


def _numbers(offers: Sequence[str], rows: dict[str, int]) -> Ints:
    return np.array([rows[offer] for offer in offers], np.int64)
