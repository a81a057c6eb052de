"""Whether a claim about conflicts holds: the questions of `recompute`, for any set of constraints and no objective.

Every offer is looked at once: which constraints it meets alone, and what the others read of it.
"""

from __future__ import annotations

from collections.abc import Collection, Iterable, Iterator, Mapping
from dataclasses import replace
from itertools import pairwise

from ...schemas import expression as ex
from ...schemas.canonical import narrow
from ...schemas.certificate import ConflictsClaim, CorrectionClaim
from ...schemas.expression import Expr, choices_of, split_and
from ...schemas.plan import Plan
from ...schemas.problem import Problem
from ...schemas.syntax import Span
from ...schemas.units import Type
from .check import Data, Evaluation, Value, evaluate
from .recompute import (
    SOME,
    Block,
    States,
    Within,
    Work,
    WorkLimitError,
    joined,
    leaned,
    lifted,
    of_state,
    picked_rows,
    row_by_row,
    slots_of,
)
from .recompute_sets import kinds, several_rows

MAX_NAMES = 16  # of a task whose conflicts are compared with all sets of names


_NOTHING = ex.Literal(0, Type("number"), Span(0, 0))  # in place of an objective


class _Questions:
    """Whether some plan satisfies a set of constraints, and by how little one can miss another: no objective is read.

    A set is a bit mask, the first constraint its lowest bit. Each offer is looked at once: those that meet the same
    constraints alone, and look alike to conditions on several choices and to thresholds, are one state of a block.
    Questions are asked of these states; a set that some plan satisfies answers for its subsets, another for supersets.
    """

    def __init__(self, problem: Problem, data: Data, within: Within, work: Work) -> None:
        self.bits = {item.name: 1 << at for at, item in enumerate(problem.constraints)}
        self.everything = (1 << len(self.bits)) - 1
        # A threshold over several rows is dropped, never moved: that is what corrections of such tasks mean.
        single = () if problem.sets else problem.constraints
        self.misses = {item.name: miss for item in single if (miss := _miss(item.condition)) is not None}
        self._data, self._work = data, work
        atoms = [(self.bits[item.name], atom) for item in problem.constraints for atom in split_and(item.condition)]
        never = [bit for bit, atom in atoms if not choices_of(atom) and of_state(atom, data)(()) is not True]
        self.possible, self._impossible = list[int](), never  # sets that some plan, or none, satisfies
        self._joint = [(bit, atom) for bit, atom in atoms if len(choices_of(atom)) > 1]
        readers = [*(atom for _, atom in self._joint), *self.misses.values()]
        self._blocks: dict[str, list[tuple[int, Block]]] = {}  # by choice; each with the constraints that it meets
        for choice, table in problem.choices.items():
            only, rows = frozenset({choice}), picked_rows(data, table, within.get(choice))
            own, slots = [(bit, atom) for bit, atom in atoms if choices_of(atom) == only], slots_of(readers, only)
            reads = [*(atom for _, atom in own), *(part for _, part in slots.values())]
            if choice in problem.sets:
                rows = several_rows(problem, data, choice, rows)
                found: Iterable[tuple[Value, ...]] = kinds(problem, data, choice, rows, reads, work)
            else:
                found = row_by_row([data.values(table, part, rows) for part in reads], rows)
            groups: dict[tuple[Value, ...], States] = {}
            for values in found:
                groups.setdefault(values[: len(own)], {})[values[len(own) :]] = SOME
            self._blocks[choice] = []
            for truth, states in groups.items():
                unmet = {bit for (bit, _), value in zip(own, truth, strict=True) if value is not True}
                self._blocks[choice].append((self.everything - sum(unmet), leaned(Block(only, slots, states), readers)))

    def mask(self, names: Iterable[str]) -> int:
        """The set of these constraints."""
        return sum(self.bits[name] for name in names)

    def exists(self, names: int) -> bool:
        """Whether some plan satisfies the constraints."""
        if any(names & known == names for known in self.possible):
            return True
        found = self.least(names, _NOTHING) is not None
        (self.possible if found else self._impossible).append(names)
        return found

    def least(self, names: int, goal: Expr) -> int | None:
        """The least known value of `goal` among the plans that satisfy the constraints; None if there is none."""
        if any(names & known == known for known in self._impossible):
            return None
        joint = [atom for bit, atom in self._joint if bit & names]
        blocks: dict[str, Block] = {}
        for choice, groups in self._blocks.items():
            only, states = frozenset({choice}), States()
            slots = slots_of([*joint, goal], only)
            for block in [block for met, block in groups if names & met == names]:
                self._work.take(len(block.states))
                places = [block.slots[part][0] for part in slots]
                states.update((tuple([state[at] for at in places]), SOME) for state in block.states)
            blocks[choice] = leaned(Block(only, slots, states), [*joint, goal])
        whole = joined(blocks, joint, goal, self._data, self._work, lean=True)
        value = of_state(lifted(goal, whole.choices, whole.slots, 0), self._data)
        return min((int(found) for state in whole.states if (found := value(state)) is not None), default=None)


def _miss(condition: Expr) -> Expr | None:
    """By how much a plan misses the threshold of a condition that is one comparison of numbers; None for all others."""
    if not isinstance(condition, ex.Compare) or condition.left.type.kind != "number" or condition.op in ("==", "!="):
        return None
    low, high = condition.left, condition.right
    if condition.op.startswith(">"):
        low, high = high, low
    kind, span = low.type, condition.span
    step = ex.Literal(0 if condition.op.endswith("=") else 1, kind, span)
    return ex.Sum((low, ex.Scaled(high, -1, kind, span), step), kind, span)


def conflict_faults(problem: Problem, data: Data, claim: ConflictsClaim, within: Within, work: Work) -> Iterator[str]:
    """What is wrong with conflicts and corrections; WorkLimitError when the rest would take too much work."""
    place = {item.name: at for at, item in enumerate(problem.constraints)}
    if sentence := next(_misspelt(claim, place), ""):
        yield sentence
        return
    problem = replace(problem, objective=replace(problem.objective, expr=_NOTHING))
    ask = _Questions(problem, data, within, work)
    judged = [(item, _given_up(item), evaluate(problem, data, item.plan)) for item in claim.corrections]
    for item, names, found in judged:
        faults = plan_faults(found, item.plan, within, names)
        yield from (f"{_listed(names)}: {fault}" for fault in faults)
        if not faults:
            ask.possible.append(ask.everything - ask.mask(violation.constraint for violation in found.violations))
    for names in claim.conflicts:
        if ask.exists(ask.mask(names)):
            yield f"{_listed(names)}: a plan satisfies them together"
        needless = [name for name in names if not ask.exists(ask.mask(names) - ask.bits[name])]
        yield from (f"{_listed(names)}: without {name} there is no plan either" for name in needless)
    moves: dict[int, dict[str, int]] = {}  # by set that is given up: how far its thresholds have to move
    for item, names, found in judged:
        given_up, rest = ask.mask(names), ask.everything - ask.mask(names)
        if given_up not in moves:
            needless = [name for name in names if ask.exists(rest | ask.bits[name])]
            yield from (f"{_listed(names)}: {name} need not be given up" for name in needless)
            least = ((name, ask.least(rest, ask.misses[name])) for name in names if name in ask.misses)
            moves[given_up] = {name: amount for name, amount in least if amount is not None}
        if item.move is not None:
            name, amount = item.move.constraint, narrow(item.move.amount)
            missed = [violation.amount for violation in found.violations if violation.constraint == name]
            if missed != [item.move.amount]:
                yield f"{_listed(names)}: its plan does not miss {name} by {amount}"
            if moves[given_up].get(name) != amount:
                yield f"{_listed(names)}: the least amount for {name} is {moves[given_up].get(name)}, not {amount}"
        else:
            yield from (f"{_listed(names)}: {name} can be moved" for name in moves[given_up])
    if ask.exists(ask.everything):
        yield "a plan satisfies all constraints"
    if claim.complete:
        made = {(ask.mask(names), item.move and item.move.constraint) for item, names, _ in judged}
        lacking = [name for given_up, least in moves.items() for name in least if (given_up, name) not in made]
        yield from (f"a correction that moves {name} lacks" for name in lacking)
        if len(place) > MAX_NAMES:
            raise WorkLimitError(f"whether there are others is found out for at most {MAX_NAMES} constraints")
        work.take(len(place) << len(place))
        if {ask.mask(names) for names in claim.conflicts} != _least_hitting(moves, len(place)):
            yield "there are other conflicts or corrections"


def _given_up(item: CorrectionClaim) -> tuple[str, ...]:
    """The names of the constraints that a correction drops or moves."""
    return item.drop if item.move is None else (*item.drop, item.move.constraint)


def _listed(names: Iterable[str]) -> str:
    return f"[{', '.join(names)}]"


def _misspelt(claim: ConflictsClaim, place: Mapping[str, int]) -> Iterator[str]:
    """Names that are none, and lists that are not in their order or hold something twice."""
    for names in (*claim.conflicts, *(item.drop for item in claim.corrections)):
        places = [place.get(name, -1) for name in names]
        if -1 in places or places != sorted(set(places)):
            yield f"{_listed(names)} are not names of constraints in file order, each once"
    for item in claim.corrections:
        if item.move is not None and (item.move.constraint not in place or item.move.constraint in item.drop):
            yield f"'{item.move.constraint}' is no constraint, or dropped already"
    sizes = [(len(names), [place[name] for name in names]) for names in claim.conflicts]
    if any(first >= second for first, second in pairwise(sizes)):
        yield "the conflicts are not in order, each once"
    given_up = [sorted(place[name] for name in _given_up(item)) for item in claim.corrections]
    moves = [
        (narrow(item.move.amount), place[item.move.constraint]) if item.move else (0, 0) for item in claim.corrections
    ]
    ranks = [(len(names), names, move) for names, move in zip(given_up, moves, strict=True)]
    once = {(*names, moved) for names, (_, moved) in zip(given_up, moves, strict=True)}
    if ranks != sorted(ranks) or len(once) < len(ranks):
        yield "the corrections are not in order, each once"


def _least_hitting(family: Collection[int], names: int) -> set[int]:
    """The minimal sets of that many names that have one in common with every set of the family. All sets are tried."""
    bits = [1 << at for at in range(names)]
    holds = bytearray(1 << names)  # whether the set contains one of the family
    for at in range(1 << names):
        holds[at] = at in family or any(holds[at & ~bit] for bit in bits)
    outside = (at for at in range(1 << names) if not holds[at] and all(at & bit or holds[at | bit] for bit in bits))
    return {(1 << names) - 1 - at for at in outside}


def plan_faults(found: Evaluation, plan: Plan, within: Within, given_up: Collection[str] = ()) -> list[str]:
    """Why a plan is not feasible, if some constraints are given up."""
    faults = [
        *found.unknown,
        *(f"{item.constraint}: {item.detail}" for item in found.violations if item.constraint not in given_up),
    ]
    picked = {name: {pick.id for pick in plan.picks.get(name, ())} for name in within}
    outside = [] if found.unknown else [name for name, ids in within.items() if picked[name] - set(ids)]
    return faults + [f"the pick for {name} is not within the scope" for name in outside]
