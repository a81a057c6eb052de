"""The independent checker of certificates: recomputes from the task and the Parquet files alone what one claims.

It stands on `check.py` and `schemas/`, shares no code with lowering and engines, and computes with Python integers.
Read it in this order:

1. the whole    `recompute`: rows of one choice are filtered, rows that look alike to the rest of the task are counted
                together, and choices are joined one after the other
2. conflicts    `_Questions`: the same for any set of constraints and no objective, on rows that are looked at once
3. claims       `replay`, `grades`, `wrong_grades`
"""

from __future__ import annotations

import operator
from collections.abc import Collection, Iterable, Iterator, Mapping, Sequence
from dataclasses import dataclass, fields, replace
from itertools import pairwise, repeat
from typing import Any, Literal

from ..schemas import expression as ex
from ..schemas.canonical import narrow
from ..schemas.certificate import (
    Certificate,
    Claims,
    ConflictsClaim,
    CorrectionClaim,
    Evidence,
    Grade,
    IncumbentClaim,
    OptimumClaim,
    distribution_pairs,
)
from ..schemas.errors import InputError, InputErrors, TableError
from ..schemas.expression import Expr, choices_of, split_and, walk
from ..schemas.plan import Plan
from ..schemas.problem import Problem, structure
from ..schemas.syntax import Span
from ..schemas.units import Type
from .check import Data, Evaluation, Function, Value, compiled, evaluate

WORK_LIMIT = 20_000_000
MAX_NAMES = 16  # of a task whose conflicts are compared with all sets of names

Within = Mapping[str, Collection[str]]

# ------------------------------------------------------------------------------------------------ 1. the whole


@dataclass(frozen=True, slots=True)
class Feasible:
    """All feasible plans: for each objective value, best first, their number; and the canonical best plan."""

    values: tuple[tuple[int, int], ...]
    plan: Plan | None

    @property
    def count(self) -> int:
        """The number of feasible plans."""
        return sum(number for _, number in self.values)


class _WorkLimitError(Exception):
    """More combinations had to be tried than allowed; says so."""


class _Work:
    """Counts combinations down."""

    def __init__(self, limit: int) -> None:
        self.limit = self.left = limit

    def take(self, steps: int) -> None:
        self.left -= steps
        if self.left < 0:
            raise _WorkLimitError(f"it takes more than {self.limit:,} steps")


_Slots = dict[Any, tuple[int, Expr]]  # by the structure of an expression: where its value stands in a state, and itself
_Weight = tuple[int, tuple[str, ...]]  # number of partial plans, and the least ids among them
_States = dict[tuple[Value, ...], _Weight]


@dataclass(frozen=True, slots=True)
class _Block:
    """The partial plans over some choices. Those that give equal values to all that the rest of the task reads of them
    (`slots`) are one state. Ids are compared as text, which Python orders by code points, the order of UTF-8 bytes.
    """

    choices: frozenset[str]
    slots: _Slots
    states: _States


def recompute(
    problem: Problem, data: Data, within: Within | None = None, work_limit: int = WORK_LIMIT
) -> Feasible | None:
    """All feasible plans that pick offers `within` only; None when more than `work_limit` combinations had to be tried.

    Takes time linear in the rows of the tables, and in the number of combinations of states that joins leave. Raises
    TableError for two offers with one id, division by zero, and a feasible plan whose objective is unknown.
    """
    atoms = [atom for constraint in problem.constraints for atom in split_and(constraint.condition)]
    objective = problem.objective.expr
    if any(_constant(atom, data)(()) is not True for atom in atoms if not choices_of(atom)):
        return Feasible((), None)
    joint = [atom for atom in atoms if len(choices_of(atom)) > 1]
    blocks: dict[str, _Block] = {}
    for choice, table in problem.choices.items():
        rows = _rows(data, table, (within or {}).get(choice))
        own = [atom for atom in atoms if choices_of(atom) == frozenset({choice})]
        for atom in sorted(own, key=lambda atom: len(data.bases(table, atom))):  # those of one column are looked up
            holds = data.function(table, atom)
            rows = [row for row in rows if holds(row) is True]
        slots = _slots([*joint, objective], frozenset({choice}))
        reads = [data.function(table, part) for _, part in slots.values()]
        states: _States = {}
        for row in rows:
            state, ids = tuple([read(row) for read in reads]), (data.id(table, row),)
            number, least = states.get(state, (0, ids))
            states[state] = number + 1, min(ids, least)
        blocks[choice] = _Block(frozenset({choice}), slots, states)
    try:
        whole = _joined(blocks, joint, objective, data, _Work(work_limit))
    except _WorkLimitError:
        return None
    value = _constant(_lifted(objective, whole.choices, whole.slots, 0), data)
    found: dict[int, _Weight] = {}
    for state, weight in whole.states.items():
        result = value(state)
        if result is None:
            raise TableError("the objective of a feasible plan is unknown")
        found[int(result)] = weight  # the objective is all that the last states tell apart
    values = sorted(found, reverse=problem.objective.maximize)
    plan = Plan.of(dict(zip(problem.choices, found[values[0]][1], strict=True))) if values else None
    return Feasible(tuple((value, found[value][0]) for value in values), plan)


def _rows(data: Data, table: str, ids: Collection[str] | None) -> Sequence[int]:
    """The rows of all offers of the table, or of those with the ids."""
    if ids is None:
        return list(data.offers(table).values())
    return [row for offer in dict.fromkeys(ids) if (row := data.find(table, offer)) is not None]


def _constant(node: Expr, data: Data) -> Function:
    """The value of an expression by state: its columns are places in it."""
    return compiled(node, lambda part: operator.itemgetter(int(part.column)), data.facts)


def _slots(expressions: Iterable[Expr], choices: frozenset[str]) -> _Slots:
    """What has to be known of the picks of `choices` to evaluate the expressions."""
    slots: _Slots = {}
    for expression in expressions:
        _lifted(expression, choices, slots, 0)
    return slots


def _lifted(node: Expr, choices: frozenset[str], slots: _Slots, offset: int) -> Expr:
    """The node with every largest part that reads only `choices` made a column: the place of its value in a state.

    The terms of a sum that read these choices are one part, their sum; likewise for `and`, `or`, `min`, `max` and
    `count`. So wishes that are met equally often, and prices with equal sums, become one state.
    """
    reads = choices_of(node)
    if reads and reads <= choices:
        place = slots.setdefault(structure(node), (len(slots), node))[0]
        return ex.Column("", str(offset + place), node.type, node.span)
    if not reads & choices:
        return node
    if isinstance(node, ex.Count) and len(node.args) > 1:
        node = ex.Sum(tuple(ex.Count((arg,), node.type, node.span) for arg in node.args), node.type, node.span)
    if isinstance(node, ex.Sum | ex.And | ex.Or | ex.Extreme):
        parts = list(ex.children(node))
        inside = tuple(part for part in parts if (own := choices_of(part)) and own <= choices)
        outside = tuple(part for part in parts if part not in inside)
        name = "terms" if isinstance(node, ex.Sum) else "args"
        if len(inside) > 1:
            return _lifted(replace(node, **{name: (replace(node, **{name: inside}), *outside)}), choices, slots, offset)
    changed: dict[str, Any] = {}
    for field in fields(node):
        value = getattr(node, field.name)
        if isinstance(value, Expr):
            changed[field.name] = _lifted(value, choices, slots, offset)
        elif isinstance(value, tuple):
            changed[field.name] = tuple(
                _lifted(item, choices, slots, offset) if isinstance(item, Expr) else item for item in value
            )
    return replace(node, **changed)


def _joined(
    blocks: Mapping[str, _Block], joint: list[Expr], objective: Expr, data: Data, work: _Work, lean: bool = False
) -> _Block:
    """The block of all choices. Begins with the smallest, then takes one that an equality links, else the smallest.

    If `lean`, no states are kept that others make needless for a least objective (`_lean`).
    """
    order = list(blocks)
    left = min(blocks.values(), key=lambda block: len(block.states))
    while len(left.choices) < len(order):

        def rank(choice: str, left: _Block = left, joint: list[Expr] = joint) -> tuple[bool, bool, int]:
            linked = [atom for atom in joint if choice in choices_of(atom) <= left.choices | {choice}]
            equal = any(isinstance(atom, ex.Compare) and atom.op == "==" for atom in linked)
            return not equal, not linked, len(blocks[choice].states)

        choice = min((name for name in order if name not in left.choices), key=rank)
        choices = left.choices | {choice}
        due = [atom for atom in joint if choices_of(atom) <= choices]
        joint = [atom for atom in joint if not choices_of(atom) <= choices]
        place = sum(name in left.choices for name in order[: order.index(choice)])
        slots = _slots([*joint, objective], choices)
        left = _Block(choices, slots, _pairs(left, blocks[choice], due, slots, place, data, work))
        left = _lean(left, [*joint, objective]) if lean else left
    return left


def _pairs(left: _Block, right: _Block, due: list[Expr], slots: _Slots, place: int, data: Data, work: _Work) -> _States:
    """The states of both blocks together that satisfy what is `due`; the ids of `right` go to `place` in file order.

    Equalities between the sides are looked up. Conditions over few distinct values are tried once for each pair of
    values, all others for each pair of states.
    """
    width = len(left.slots)

    def lift(node: Expr) -> Expr:
        return _lifted(_lifted(node, left.choices, left.slots, 0), right.choices, right.slots, width)

    keys: list[tuple[int, int]] = []  # places of values that must be equal, left and right
    coarse: list[tuple[Function, list[int], list[int]]] = []
    fine: list[Function] = []
    for atom in map(lift, due):
        ends = [int(side.column) for side in ex.children(atom) if isinstance(side, ex.Column)]
        if isinstance(atom, ex.Compare) and atom.op == "==" and len(ends) == 2:
            first, second = sorted(ends)
            keys.append((first, second - width))
            continue
        places = {int(part.column) for part in walk(atom) if isinstance(part, ex.Column)}
        sides = [at for at in places if at < width], [at - width for at in places if at >= width]
        distinct = [
            len({tuple(state[at] for at in side) for state in block.states})
            for side, block in zip(sides, (left, right), strict=True)
        ]
        if distinct[0] * distinct[1] <= len(left.states) + len(right.states):
            coarse.append((_constant(atom, data), *sides))
        else:
            fine.append(_constant(atom, data))
    near = _buckets(left, [first for first, _ in keys], [at for _, side, _ in coarse for at in side])
    far = _buckets(right, [second for _, second in keys], [at for _, _, side in coarse for at in side])
    results = [_constant(lift(part), data) for _, part in slots.values()]
    states: _States = {}
    for shared, groups in near.items():
        partners = far.get(shared, {}).values()
        for mine in groups.values():
            for theirs in partners:
                work.take(1)
                if any(holds(mine[0][0] + theirs[0][0]) is not True for holds, _, _ in coarse):
                    continue
                work.take(len(mine) * len(theirs))
                for state, (number, ids) in mine:
                    for other, (times, id_) in theirs:
                        pair = state + other
                        for holds in fine:
                            if holds(pair) is not True:
                                break
                        else:
                            key = tuple([result(pair) for result in results])
                            before, least = states.get(key, (0, ()))
                            if not least or (ids if place else id_)[0] <= least[0]:  # mostly the first id decides
                                merged = ids[:place] + id_ + ids[place:]
                                least = min(least, merged) if least else merged
                            states[key] = before + number * times, least
    return states


_Bucket = list[tuple[tuple[Value, ...], _Weight]]


def _buckets(
    block: _Block, keys: list[int], others: list[int]
) -> dict[tuple[Value, ...], dict[tuple[Value, ...], _Bucket]]:
    """The states by their values at `keys`, then at `others`; without those unknown at a key, which equals nothing."""
    found: dict[tuple[Value, ...], dict[tuple[Value, ...], _Bucket]] = {}
    for state, weight in block.states.items():
        key = tuple(state[at] for at in keys)
        if None not in key:
            found.setdefault(key, {}).setdefault(tuple(state[at] for at in others), []).append((state, weight))
    return found


# ------------------------------------------------------------------------------------------------ 2. conflicts

_NOTHING = ex.Literal(0, Type("number"), Span(0, 0))  # in place of an objective
_SOME: _Weight = (1, ())  # in place of how many partial plans there are, and which


class _Questions:
    """Whether some plan satisfies a set of constraints, and by how little one can miss another: no objective is read.

    A set is a bit mask, the first constraint its lowest bit. Each offer is looked at once: those that meet the same
    constraints alone, and look alike to conditions on several choices and to thresholds, are one state of a block.
    Questions are asked of these states; a set that some plan satisfies answers for its subsets, another for supersets.
    """

    def __init__(self, problem: Problem, data: Data, within: Within, work: _Work) -> None:
        self.bits = {item.name: 1 << at for at, item in enumerate(problem.constraints)}
        self.everything = (1 << len(self.bits)) - 1
        self.misses = {item.name: miss for item in problem.constraints if (miss := _miss(item.condition)) is not None}
        self._data, self._work = data, work
        atoms = [(self.bits[item.name], atom) for item in problem.constraints for atom in split_and(item.condition)]
        never = [bit for bit, atom in atoms if not choices_of(atom) and _constant(atom, data)(()) is not True]
        self.possible, self._impossible = list[int](), never  # sets that some plan, or none, satisfies
        self._joint = [(bit, atom) for bit, atom in atoms if len(choices_of(atom)) > 1]
        readers = [*(atom for _, atom in self._joint), *self.misses.values()]
        self._blocks: dict[str, list[tuple[int, _Block]]] = {}  # by choice; each with the constraints that it meets
        for choice, table in problem.choices.items():
            only, rows = frozenset({choice}), _rows(data, table, within.get(choice))
            own, slots = [(bit, atom) for bit, atom in atoms if choices_of(atom) == only], _slots(readers, only)
            truths = _values([data.function(table, atom) for _, atom in own], rows)
            states = _values([data.function(table, part) for _, part in slots.values()], rows)
            groups: dict[tuple[Value, ...], _States] = {}
            for truth, state in zip(truths, states, strict=True):
                groups.setdefault(truth, {})[state] = _SOME
            self._blocks[choice] = []
            for truth, found in groups.items():
                unmet = {bit for (bit, _), value in zip(own, truth, strict=True) if value is not True}
                self._blocks[choice].append((self.everything - sum(unmet), _lean(_Block(only, slots, found), readers)))

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
        blocks: dict[str, _Block] = {}
        for choice, groups in self._blocks.items():
            only, states = frozenset({choice}), _States()
            slots = _slots([*joint, goal], only)
            for block in [block for met, block in groups if names & met == names]:
                self._work.take(len(block.states))
                places = [block.slots[part][0] for part in slots]
                states.update((tuple([state[at] for at in places]), _SOME) for state in block.states)
            blocks[choice] = _lean(_Block(only, slots, states), [*joint, goal])
        whole = _joined(blocks, joint, goal, self._data, self._work, lean=True)
        value = _constant(_lifted(goal, whole.choices, whole.slots, 0), self._data)
        return min((int(found) for state in whole.states if (found := value(state)) is not None), default=None)


def _values(functions: Sequence[Function], rows: Sequence[int]) -> Iterable[tuple[Value, ...]]:
    """What the functions make of every row."""
    return zip(*(map(function, rows) for function in functions), strict=True) if functions else repeat((), len(rows))


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


def _lean(block: _Block, readers: Iterable[Expr]) -> _Block:
    """The block without states that another makes needless: one that differs in one value only, which all readers (what
    must hold, and a goal to be made small) want to be small, or all large, and that is better there. Unknown is worst.
    """
    signs: dict[str, int] = {}
    for reader in readers:
        _note_signs(_lifted(reader, block.choices, block.slots, 0), 1, signs)
    states: Iterable[tuple[Value, ...]] = block.states
    for place, better in [(int(at), operator.lt if sign > 0 else operator.gt) for at, sign in signs.items() if sign]:
        best: dict[tuple[Value, ...], tuple[Value, ...]] = {}
        for state in states:
            rest, value = state[:place] + state[place + 1 :], state[place]
            other = best.setdefault(rest, state)[place]
            if value is not None and (other is None or better(value, other)):
                best[rest] = state
        states = best.values()
    return replace(block, states=dict.fromkeys(states, _SOME))


def _note_signs(node: Expr, sign: int, signs: dict[str, int]) -> None:
    """Notes for each place in a lifted expression whether a smaller (1) or larger (-1) value can only help to make the
    expression true, or small; 0 for neither.
    """
    if isinstance(node, ex.Column) and not node.choice:
        signs[node.column] = sign if signs.get(node.column, sign) == sign else 0
    elif isinstance(node, ex.Scaled):
        _note_signs(node.term, sign if node.factor > 0 else -sign, signs)
    elif isinstance(node, ex.Compare) and node.op not in ("==", "!="):
        sign = sign if node.op.startswith("<") else -sign
        _note_signs(node.left, sign, signs)
        _note_signs(node.right, -sign, signs)
    else:
        for part in ex.children(node):
            _note_signs(part, sign if isinstance(node, ex.Sum | ex.Extreme) else 0, signs)


def _conflict_faults(problem: Problem, data: Data, claim: ConflictsClaim, within: Within, work: _Work) -> Iterator[str]:
    """What is wrong with conflicts and corrections; _WorkLimitError when the rest would take too much work."""
    place = {item.name: at for at, item in enumerate(problem.constraints)}
    if sentence := next(_misspelt(claim, place), ""):
        yield sentence
        return
    problem = replace(problem, objective=replace(problem.objective, expr=_NOTHING))
    ask = _Questions(problem, data, within, work)
    judged = [(item, _given_up(item), evaluate(problem, data, item.plan)) for item in claim.corrections]
    for item, names, found in judged:
        faults = _faults(found, item.plan, within, names)
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
            raise _WorkLimitError(f"whether there are others is found out for at most {MAX_NAMES} constraints")
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
    moves = [(item.move.constraint, narrow(item.move.amount)) if item.move else ("", 0) for item in claim.corrections]
    ranks = [(len(names), names, amount) for names, (_, amount) in zip(given_up, moves, strict=True)]
    once = {(*names, moved) for names, (moved, _) in zip(given_up, moves, strict=True)}
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


# ------------------------------------------------------------------------------------------------ 3. claims

_CHECKED = ("status", "optimum", "incumbent", "count", "distribution", "conflicts")

State = Literal["confirmed", "refuted", "not recomputed"]


@dataclass(frozen=True, slots=True)
class Finding:
    """What the checker found out about one claim, or about what the claims are bound to."""

    claim: str
    state: State
    detail: str


@dataclass(frozen=True, slots=True)
class Report:
    """All findings: what the certificate is about, then its witness plan, then its claims and its evidence."""

    findings: tuple[Finding, ...]

    @property
    def refuted(self) -> tuple[Finding, ...]:
        """The findings that speak against the certificate."""
        return tuple(finding for finding in self.findings if finding.state == "refuted")

    def confirmed(self, claim: str) -> bool:
        """Whether the claim was recomputed and is true."""
        return any(finding.claim == claim and finding.state == "confirmed" for finding in self.findings)


def replay(
    problem: Problem,
    data: Data,
    certificate: Certificate,
    *,
    dataset: str,
    manifest_digest: str,
    work_limit: int = WORK_LIMIT,
) -> Report:
    """What holds of a certificate for this problem and data: nothing in it is trusted, everything is computed anew.

    `dataset` and `manifest_digest` are name and digest of the manifest that the problem was posed on. `work_limit`
    counts combinations, not seconds, so that equal inputs give equal reports. Raises TableError as `recompute` does;
    the certificate's own digest and spelling are checked where it is read (`read_certificate`).
    """
    posed, findings = _binding(problem, data, certificate, {"name": dataset, "manifest": manifest_digest})
    claims, within, maximize = certificate.claims, certificate.scope.within or {}, problem.objective.maximize
    if any(finding.state == "refuted" for finding in findings):
        about = "the certificate is about something else"
        return Report((*findings, *(Finding(name, "not recomputed", about) for name in claims.graded())))
    witness = claims.optimum or claims.incumbent
    doubts = _doubts(posed, data, witness, within) if witness is not None else []
    if witness is not None:
        findings.append(_finding("witness", doubts))
    truth = recompute(posed, data, within, work_limit)
    wrong: dict[str, list[str]] = {name: [] for name in claims.graded()}
    unchecked = {name: "this checker does not know how" for name in wrong if name not in _CHECKED}
    if claims.conflicts is not None and claims.status.value == "unsolvable":
        try:
            for sentence in _conflict_faults(posed, data, claims.conflicts, within, _Work(work_limit)):
                wrong["conflicts"].append(sentence)
            if truth is None and not wrong["conflicts"]:
                truth = Feasible((), None)  # no plan satisfies all constraints, or the conflicts would not hold
        except _WorkLimitError as fault:
            unchecked["conflicts"] = str(fault)
    if truth is None:
        open_ = wrong if witness is None or doubts else wrong.keys() - {"status"}
        unchecked = {**dict.fromkeys(open_, f"it takes more than {work_limit:,} steps"), **unchecked}
    if claims.status.value == "unknown":
        unchecked["status"] = "unknown claims nothing"
    mistakes = _mistakes(claims, truth, maximize) if truth is not None else ()
    for name, sentence in (*_contradictions(certificate, maximize), *mistakes):
        wrong[name].append(sentence)
    for name, faults in wrong.items():
        faults.extend(doubts if name in ("optimum", "incumbent") else ())
        known = faults or name not in unchecked
        findings.append(_finding(name, faults) if known else Finding(name, "not recomputed", unchecked[name]))
    odd = [sentence for entry in certificate.evidence for sentence in _odd(entry, claims, maximize)]
    return Report((*findings, _finding("evidence", odd)))


def _binding(
    problem: Problem, data: Data, certificate: Certificate, named: Mapping[str, str]
) -> tuple[Problem, list[Finding]]:
    """The problem within the certificate's scope, and whether the certificate is about that, a dataset so named, and
    these data.
    """
    scope, kind, facts = certificate.scope, problem.objective.type, certificate.dataset
    posed, limits = problem, list[str]()
    try:
        posed = problem if scope.constraints is None else problem.restrict(scope.constraints)
        limits += [f"no choice '{name}'" for name in scope.within or {} if name not in problem.choices]
        picks = [(name, offer) for name, ids in (scope.within or {}).items() for offer in ids]
        lost = [offer for name, offer in picks if not limits and data.find(problem.choices[name], offer) is None]
        limits += [f"no offer '{offer}'" for offer in lost]
    except (InputError, InputErrors) as fault:
        limits.append(str(fault))
    if not limits and scope.constraints not in (None, tuple(item.name for item in posed.constraints)):
        limits.append("the constraints are not in file order, each once")
    if any(list(ids) != sorted(set(ids)) for ids in (scope.within or {}).values()):
        limits.append("the ids of a choice are not in the order of their bytes, each once")
    relations = {name: data.relation_digests[name] for name in posed.relations()}
    world = _differences(named, {"name": facts.name, "manifest": facts.manifest})
    world += _differences(data.digests, facts.tables) + _differences(relations, facts.relations)
    goal = {"sense": "maximize" if problem.objective.maximize else "minimize", "unit": kind.unit, "scale": kind.scale}
    groups = {
        "task": _differences({"id": problem.id, "digest": problem.digest}, certificate.task.model_dump()),
        "dataset": world,
        "objective": _differences(goal, certificate.objective.model_dump()),
        "scope": limits,
    }
    return posed, [_finding(claim, faults) for claim, faults in groups.items()]


def _finding(claim: str, faults: Sequence[str]) -> Finding:
    return Finding(claim, "refuted", "; ".join(faults)) if faults else Finding(claim, "confirmed", "as it says")


def _differences(found: Mapping[str, Any], claimed: Mapping[str, Any]) -> list[str]:
    """A sentence for every entry that the certificate has otherwise, lacks, or has in excess."""
    names = sorted({*found, *claimed})
    pairs = ((name, found.get(name), claimed.get(name)) for name in names)
    return [f"{name} is {here}, the certificate says {there}" for name, here, there in pairs if here != there]


def _numbers(claim: OptimumClaim) -> dict[str, Any]:
    """The claim's content with plain integers."""
    runner_up = None if claim.runner_up is None else narrow(claim.runner_up)
    return {
        "value": narrow(claim.value),
        "plan": claim.plan.written(),
        "tied": narrow(claim.tied),
        "runner_up": runner_up,
    }


def _doubts(problem: Problem, data: Data, claim: OptimumClaim | IncumbentClaim, within: Within) -> list[str]:
    """Why a claimed plan is not feasible, or has another value."""
    found = evaluate(problem, data, claim.plan)
    faults = _faults(found, claim.plan, within)
    if found.feasible and found.value != narrow(claim.value):
        faults.append(f"its plan has the value {found.value}, the certificate says {claim.value}")
    return faults


def _faults(found: Evaluation, plan: Plan, within: Within, given_up: Collection[str] = ()) -> list[str]:
    """Why a plan is not feasible, if some constraints are given up."""
    faults = [
        *found.unknown,
        *(f"{item.constraint}: {item.detail}" for item in found.violations if item.constraint not in given_up),
    ]
    outside = [] if found.unknown else [name for name, ids in within.items() if plan.picks[name][0].id not in ids]
    return faults + [f"the pick for {name} is not within the scope" for name in outside]


def _mistakes(claims: Claims, truth: Feasible, maximize: bool) -> Iterator[tuple[str, str]]:
    """The claims that the recomputed truth refutes, and how."""
    solvable = "solvable" if truth.values else "unsolvable"
    if claims.status.value not in (solvable, "unknown"):
        yield "status", f"the task is {solvable}"
    (best, tied), runner_up = truth.values[0] if truth.values else (None, 0), [value for value, _ in truth.values[1:2]]
    if claims.optimum is not None:
        found = {"value": best, "plan": truth.plan and truth.plan.written(), "tied": tied}
        found["runner_up"] = runner_up[0] if runner_up else None
        yield from (("optimum", sentence) for sentence in _differences(found, _numbers(claims.optimum)))
    if claims.incumbent is not None and best is not None and _better(best, narrow(claims.incumbent.bound), maximize):
        yield "incumbent", f"the optimum {best} is better than the bound"
    if claims.count is not None and not narrow(claims.count.at_least) <= truth.count <= narrow(claims.count.at_most):
        yield "count", f"{truth.count} plans are feasible"
    if claims.distribution is not None and distribution_pairs(claims.distribution) != list(truth.values):
        yield "distribution", "the feasible plans have other values or counts"


def _better(first: int, second: int, maximize: bool) -> bool:
    return first > second if maximize else first < second


def _contradictions(certificate: Certificate, maximize: bool) -> Iterator[tuple[str, str]]:
    """Claims that cannot all be true, or do not come together, whatever the data are."""
    claims = certificate.claims
    status, optimum, incumbent = claims.status.value, claims.optimum, claims.incumbent
    if (status == "unknown") != (claims.status.reason is not None):
        yield "status", "a reason comes with an unknown status, and with no other"
    elif status == "unknown" and claims.status.reason not in {entry.reason for entry in certificate.evidence}:
        yield "status", "no engine gives this reason"
    alien = () if status == "solvable" else ("optimum", "incumbent", "distribution")
    alien = alien if status == "unsolvable" else (*alien, "conflicts")
    made = [name for name in alien if getattr(claims, name) is not None]
    yield from ((name, f"a task of status {status} has none") for name in made)
    if status == "solvable" and (optimum is None) == (incumbent is None):
        yield "status", "a solvable task has either an optimum or an incumbent"
    low, high = (narrow(claims.count.at_least), narrow(claims.count.at_most)) if claims.count else (0, None)
    if low < 0 or (high is not None and high < low):
        yield "count", "the interval is empty or negative"
    if claims.count and {"solvable": high == 0, "unsolvable": high != 0, "unknown": low > 0 or high == 0}[status]:
        yield "count", f"it does not fit the status {status}"
    if optimum is not None:
        value, tied = narrow(optimum.value), narrow(optimum.tied)
        if tied < 1 or (high is not None and tied > high):
            yield "optimum", "as many plans cannot be tied"
        if optimum.runner_up is not None and not _better(value, narrow(optimum.runner_up), maximize):
            yield "optimum", "the runner-up is not worse"
        if (tied < low and optimum.runner_up is None) or (tied == high and optimum.runner_up is not None):
            yield "optimum", "the number of feasible plans does not fit the runner-up"
    if incumbent is not None and _better(narrow(incumbent.value), narrow(incumbent.bound), maximize):
        yield "incumbent", "the value is better than the bound"
    if claims.distribution is not None:
        pairs = distribution_pairs(claims.distribution)
        values = [value for value, _ in pairs]
        if any(not _better(*both, maximize) for both in pairwise(values)) or any(number < 1 for _, number in pairs):
            yield "distribution", "the values are not in order, best first, each with at least one plan"
        if low != high or sum(number for _, number in pairs) != low:
            yield "distribution", "it does not add up to an exact count"
        start = [_numbers(optimum)[name] for name in ("value", "tied", "runner_up")] if optimum else []
        if [*pairs[:1], *values[1:2]] != [tuple(start[:2]), *(item for item in start[2:] if item is not None)]:
            yield "distribution", "it does not begin with the optimum and the runner-up"


_MEANING = {"optimal": "solvable", "feasible": "solvable", "infeasible": "unsolvable"}  # an unknown one means nothing


def _odd(entry: Evidence, claims: Claims, maximize: bool) -> Iterator[str]:
    """What an engine answered against the claims."""
    if claims.status.value not in (_MEANING.get(entry.status, claims.status.value), "unknown"):
        yield f"{entry.engine} answered {entry.status}"
    known = claims.optimum or claims.incumbent
    if known is not None and entry.value is not None:
        value, least = narrow(entry.value), narrow(known.value)  # an optimal value lies between least and most
        most = least if isinstance(known, OptimumClaim) else narrow(known.bound)
        if _better(value, most, maximize) or (entry.status == "optimal" and _better(least, value, maximize)):
            yield f"{entry.engine} answered the value {value}"
    if claims.count is not None and entry.count is not None and entry.status in ("optimal", "infeasible"):
        low, high = narrow(claims.count.at_least), narrow(claims.count.at_most)
        if not low <= narrow(entry.count) <= high:
            yield f"{entry.engine} answered the count {entry.count}"


def grades(certificate: Certificate, report: Report) -> dict[str, Grade]:
    """What the grade of each claim must be after a replay: proved where the checker confirmed the claim; else agreed
    where two engines answered it alike, and nothing was refuted; else claimed. An unknown status is always claimed.
    """
    claims, result = certificate.claims, dict[str, Grade]()
    for name in claims.graded():
        engines = {entry.engine for entry in certificate.evidence if _answers(entry, name, claims)}
        witnessed = report.confirmed("witness") or claims.status.value != "solvable"
        agreed = len(engines) > 1 and witnessed and not report.refuted
        result[name] = Grade.PROVED if report.confirmed(name) else Grade.AGREED if agreed else Grade.CLAIMED
    return result


def _answers(entry: Evidence, name: str, claims: Claims) -> bool:
    """Whether an engine answered the claim as it stands. No evidence speaks of a bound beyond a value, of a
    distribution or of conflicts.
    """
    if name == "status":
        return _MEANING.get(entry.status) == claims.status.value
    if name == "optimum" and claims.optimum is not None:
        return entry.status == "optimal" and entry.value == claims.optimum.value
    if name == "incumbent" and claims.incumbent is not None:
        return entry.status == "optimal" and entry.value == claims.incumbent.value == claims.incumbent.bound
    if name == "count" and claims.count is not None and claims.count.at_least == claims.count.at_most:
        return claims.count.at_least == (0 if entry.status == "infeasible" else entry.count)
    return False


def wrong_grades(certificate: Certificate, report: Report) -> tuple[Finding, ...]:
    """A refuted finding for every claim whose grade in the certificate is not what `grades` says."""
    given = certificate.claims.graded()
    return tuple(
        Finding(name, "refuted", f"the grade must be {grade}, the certificate says {given[name]}")
        for name, grade in grades(certificate, report).items()
        if grade != given[name]
    )
