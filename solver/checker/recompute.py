"""All feasible plans of a task, computed anew from the Parquet files: what the checker holds claims against.

Rows of one choice are filtered, rows that look alike to the rest of the task are counted together, and choices are
joined one after the other. Shares no code with lowering and engines; Python integers throughout.
"""

from __future__ import annotations

import math
import operator
from collections.abc import Callable, Collection, Iterable, Mapping, Sequence
from dataclasses import dataclass, fields, replace
from itertools import repeat
from typing import Any

from ...schemas import expression as ex
from ...schemas.errors import TableError
from ...schemas.expression import Expr, choices_of, split_and, walk
from ...schemas.plan import Pick, Plan
from ...schemas.problem import Problem, structure
from .check import Data, Function, Value, compiled
from .recompute_cases import Case, cases
from .recompute_sets import kinds, several_rows, timed_picks

WORK_LIMIT = 20_000_000
_FAR = 100  # times the limit

Within = Mapping[str, Collection[str]]


@dataclass(frozen=True, slots=True)
class Feasible:
    """All feasible plans: for each objective value, best first, their number; and the canonical best plan."""

    values: tuple[tuple[int, int], ...]
    plan: Plan | None

    @property
    def count(self) -> int:
        """The number of feasible plans."""
        return sum(number for _, number in self.values)


class WorkLimitError(Exception):
    """More combinations had to be tried than allowed, or in a way that nobody has written; says so."""


class Work:
    """Counts combinations down; `pair`: how many steps it takes to try two partial plans together."""

    def __init__(self, limit: int, pair: int = 1) -> None:
        self.limit = self.left = limit
        self.pair = pair

    @classmethod
    def on(cls, problem: Problem, limit: int) -> Work:
        """Counts for a problem: with sets, numbers of plans are large and plans are long, so a pair takes longer."""
        return cls(limit, 3 if problem.sets else 1)

    def take(self, steps: int) -> None:
        """Counts steps before they are done; raises WorkLimitError when there are too many."""
        self.left -= steps
        if self.left < 0:
            raise WorkLimitError(f"it takes more than {self.limit:,} steps")


_Slots = dict[Any, tuple[int, Expr]]  # by the structure of an expression: where its value stands in a state, and itself
Chosen = tuple[Any, ...]  # of each choice in file order the id, or the places of several rows
Weight = tuple[int, Chosen]  # number of partial plans, and the least among them
States = dict[tuple[Value, ...], Weight]


SOME: Weight = (1, ())  # in place of how many partial plans there are, and which


@dataclass(frozen=True, slots=True)
class Block:
    """The partial plans over some choices. Those that give equal values to all that the rest of the task reads of them
    (`slots`) are one state. Ids are compared as text, which Python orders by code points, the order of UTF-8 bytes.
    """

    choices: frozenset[str]
    slots: _Slots
    states: States


def recompute(problem: Problem, data: Data, within: Within | None = None, work_limit: int = WORK_LIMIT) -> Feasible:
    """All feasible plans that pick offers `within` only.

    Takes time linear in the rows of the tables, and in the number of combinations of states that joins leave. Raises
    WorkLimitError when more than `work_limit` combinations had to be tried, or for what is not done here; TableError
    for two offers with one id, division by zero, and a feasible plan whose objective is unknown.
    """
    atoms = [atom for constraint in problem.constraints for atom in split_and(constraint.condition)]
    rows = {choice: picked_rows(data, table, (within or {}).get(choice)) for choice, table in problem.choices.items()}
    listed = {choice: several_rows(problem, data, choice, rows[choice]) for choice in problem.sets}
    found, work = dict[int, Weight](), Work.on(problem, work_limit)
    for case in cases(problem, data, atoms, problem.objective.expr, {**rows, **listed}):
        for value, (number, chosen) in _values(problem, data, case, work).items():
            before, least = found.get(value, (0, chosen))
            found[value] = before + number, min(least, chosen)
    values = sorted(found, reverse=problem.objective.maximize)
    plan = _plan(problem, data, listed, found[values[0]][1]) if values else None
    return Feasible(tuple((value, found[value][0]) for value in values), plan)


def _values(problem: Problem, data: Data, case: Case, work: Work) -> dict[int, Weight]:
    """The objective's values in a case, with how many plans have them and the first of these."""
    if any(of_state(atom, data)(()) is not True for atom in case.atoms if not choices_of(atom)):
        return {}
    joint = [atom for atom in case.atoms if len(choices_of(atom)) > 1]
    blocks: dict[str, Block] = {}
    for choice, table in problem.choices.items():
        only, rows = frozenset({choice}), case.rows[choice]
        own = [atom for atom in case.atoms if choices_of(atom) == only]
        slots = slots_of([*joint, case.objective], only)
        if choice in problem.sets:
            states = _sets(problem, data, choice, rows, own, slots, work)
        else:
            states = _rows(data, table, rows, own, slots)
        blocks[choice] = Block(only, slots, states)
    whole = joined(blocks, joint, case.objective, data, work)
    value = of_state(lifted(case.objective, whole.choices, whole.slots, 0), data)
    found: dict[int, Weight] = {}
    for state, weight in whole.states.items():
        result = value(state)
        if result is None:
            raise TableError("the objective of a feasible plan is unknown")
        found[int(result)] = weight  # the objective is all that the last states tell apart
    return found


def _rows(data: Data, table: str, rows: Sequence[int], own: list[Expr], slots: _Slots) -> States:
    """The rows that satisfy the conditions `own`, by what the rest of the task reads of them."""
    for atom in sorted(own, key=lambda atom: len(data.bases(table, atom))):  # those of one column are looked up
        rows = data.satisfying(table, atom, rows)
    reads = [data.values(table, part, rows) for _, part in slots.values()]
    states: States = {}
    for state, id_ in zip(row_by_row(reads, rows), data.ids(table, rows), strict=True):
        ids = (id_,)
        number, least = states.get(state, (0, ids))
        states[state] = number + 1, min(ids, least)
    return states


def _sets(
    problem: Problem, data: Data, choice: str, rows: Sequence[int], own: list[Expr], slots: _Slots, work: Work
) -> States:
    """The picks of several rows that satisfy the conditions `own`, by what the rest of the task reads of them."""
    reads, states = [*own, *(part for _, part in slots.values())], States()
    for values, (number, order) in kinds(problem, data, choice, rows, reads, work, own).items():
        if all(value is True for value in values[: len(own)]):
            state = values[len(own) :]
            before, least = states.get(state, (0, (order,)))
            states[state] = before + number, min((order,), least)
    return states


def _plan(problem: Problem, data: Data, listed: Mapping[str, Sequence[int]], chosen: Chosen) -> Plan:
    """The plan that picks by id, or several rows by their places, with the times of routes."""
    picks: dict[str, tuple[Pick, ...]] = {}
    for (choice, table), what in zip(problem.choices.items(), chosen, strict=True):
        if isinstance(what, str):
            picks[choice] = (Pick(id=what),)
        else:
            rows = [listed[choice][at] for at in what]
            picks[choice] = timed_picks(problem, data, choice, data.ids(table, rows), rows)
    return Plan(picks=picks)


def picked_rows(data: Data, table: str, ids: Collection[str] | None) -> Sequence[int]:
    """The rows of all offers of the table, or of those with the ids."""
    if ids is None:
        return data.offered(table)
    return [row for offer in dict.fromkeys(ids) if (row := data.find(table, offer)) is not None]


def row_by_row(columns: Sequence[Sequence[Value]], rows: Sequence[int]) -> Iterable[tuple[Value, ...]]:
    """The values of each of the rows, from columns of their values."""
    return zip(*columns, strict=True) if columns else repeat((), len(rows))


def of_state(node: Expr, data: Data) -> Function:
    """The value of an expression by state: its columns are places in it."""
    return compiled(node, lambda part: operator.itemgetter(int(part.column)), data.facts)


def slots_of(expressions: Iterable[Expr], choices: frozenset[str]) -> _Slots:
    """What has to be known of the picks of `choices` to evaluate the expressions."""
    slots: _Slots = {}
    for expression in expressions:
        lifted(expression, choices, slots, 0)
    return slots


def lifted(node: Expr, choices: frozenset[str], slots: _Slots, offset: int) -> Expr:
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
    if isinstance(node, ex.Each):
        raise WorkLimitError("an aggregate over one choice reads another, which is not recomputed here")
    if isinstance(node, ex.Count) and len(node.args) > 1:
        node = ex.Sum(tuple(ex.Count((arg,), node.type, node.span) for arg in node.args), node.type, node.span)
    if isinstance(node, ex.Sum | ex.And | ex.Or | ex.Extreme):
        parts = list(ex.children(node))
        inside = tuple(part for part in parts if (own := choices_of(part)) and own <= choices)
        outside = tuple(part for part in parts if part not in inside)
        name = "terms" if isinstance(node, ex.Sum) else "args"
        if len(inside) > 1:
            return lifted(replace(node, **{name: (replace(node, **{name: inside}), *outside)}), choices, slots, offset)
    changed: dict[str, Any] = {}
    for field in fields(node):
        value = getattr(node, field.name)
        if isinstance(value, Expr):
            changed[field.name] = lifted(value, choices, slots, offset)
        elif isinstance(value, tuple):
            changed[field.name] = tuple(
                lifted(item, choices, slots, offset) if isinstance(item, Expr) else item for item in value
            )
    return replace(node, **changed)


def joined(
    blocks: Mapping[str, Block], joint: list[Expr], objective: Expr, data: Data, work: Work, lean: bool = False
) -> Block:
    """The block of all choices. Begins with the smallest, then takes one that an equality links, else the smallest.

    If `lean`, no states are kept that others make needless for a least objective (`leaned`). Raises WorkLimitError; at
    once where several sums over all choices keep far more combinations apart than can be tried.
    """
    combinations = math.prod(len(block.states) for block in blocks.values())
    late = len(joint) > 2 and all(choices_of(atom) >= blocks.keys() for atom in joint)
    if late and not lean and combinations > _FAR * work.limit:
        # Nothing is left out before the last choice, and states that agree in several sums are rare: time and memory
        # would go into states that end at the limit.
        raise WorkLimitError(f"it takes more than {work.limit:,} steps")
    order = list(blocks)
    left = min(blocks.values(), key=lambda block: len(block.states))
    while len(left.choices) < len(order):

        def rank(choice: str, left: Block = left, joint: list[Expr] = joint) -> tuple[bool, bool, int]:
            linked = [atom for atom in joint if choice in choices_of(atom) <= left.choices | {choice}]
            equal = any(isinstance(atom, ex.Compare) and atom.op == "==" for atom in linked)
            return not equal, not linked, len(blocks[choice].states)

        choice = min((name for name in order if name not in left.choices), key=rank)
        choices = left.choices | {choice}
        due = [atom for atom in joint if choices_of(atom) <= choices]
        joint = [atom for atom in joint if not choices_of(atom) <= choices]
        place = sum(name in left.choices for name in order[: order.index(choice)])
        slots = slots_of([*joint, objective], choices)
        left = Block(choices, slots, _pairs(left, blocks[choice], due, slots, place, data, work))
        left = leaned(left, [*joint, objective]) if lean else left
    return left


def _pairs(left: Block, right: Block, due: list[Expr], slots: _Slots, place: int, data: Data, work: Work) -> States:
    """The states of both blocks together that satisfy what is `due`; the ids of `right` go to `place` in file order.

    Equalities between the sides are looked up. Conditions over few distinct values are tried once for each pair of
    values, all others for each pair of states.
    """
    width = len(left.slots)

    def lift(node: Expr) -> Expr:
        return lifted(lifted(node, left.choices, left.slots, 0), right.choices, right.slots, width)

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
            len(set(map(_chooser(side), block.states))) for side, block in zip(sides, (left, right), strict=True)
        ]
        if distinct[0] * distinct[1] <= len(left.states) + len(right.states):
            coarse.append((of_state(atom, data), *sides))
        else:
            fine.append(of_state(atom, data))
    near = _buckets(left, [first for first, _ in keys], [at for _, side, _ in coarse for at in side])
    far = _buckets(right, [second for _, second in keys], [at for _, _, side in coarse for at in side])
    results = [of_state(lift(part), data) for _, part in slots.values()]
    states: States = {}
    for shared, groups in near.items():
        partners = far.get(shared, {}).values()
        for mine in groups.values():
            for theirs in partners:
                work.take(1)
                if any(holds(mine[0][0] + theirs[0][0]) is not True for holds, _, _ in coarse):
                    continue
                work.take(len(mine) * len(theirs) * work.pair)
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


_Bucket = list[tuple[tuple[Value, ...], Weight]]


def _buckets(
    block: Block, keys: list[int], others: list[int]
) -> dict[tuple[Value, ...], dict[tuple[Value, ...], _Bucket]]:
    """The states by their values at `keys`, then at `others`; without those unknown at a key, which equals nothing."""
    found: dict[tuple[Value, ...], dict[tuple[Value, ...], _Bucket]] = {}
    key_of, rest_of = _chooser(keys), _chooser(others)
    for state, weight in block.states.items():
        key = key_of(state)
        if None not in key:
            found.setdefault(key, {}).setdefault(rest_of(state), []).append((state, weight))
    return found


def _chooser(places: Sequence[int]) -> Callable[[tuple[Value, ...]], tuple[Value, ...]]:
    """A function that gives the values of a state at these places."""
    if len(places) > 1:
        return operator.itemgetter(*places)
    start, stop = (places[0], places[0] + 1) if places else (0, 0)
    return operator.itemgetter(slice(start, stop))


def leaned(block: Block, readers: Iterable[Expr]) -> Block:
    """The block without states that another makes needless: one that differs in one value only, which all readers (what
    must hold, and a goal to be made small) want to be small, or all large, and that is better there. Unknown is worst.
    """
    signs: dict[str, int] = {}
    for reader in readers:
        _note_signs(lifted(reader, block.choices, block.slots, 0), 1, signs)
    states: Iterable[tuple[Value, ...]] = block.states
    for place, better in [(int(at), operator.lt if sign > 0 else operator.gt) for at, sign in signs.items() if sign]:
        best: dict[tuple[Value, ...], tuple[Value, ...]] = {}
        for state in states:
            rest, value = state[:place] + state[place + 1 :], state[place]
            other = best.setdefault(rest, state)[place]
            if value is not None and (other is None or better(value, other)):
                best[rest] = state
        states = best.values()
    return replace(block, states=dict.fromkeys(states, SOME))


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
