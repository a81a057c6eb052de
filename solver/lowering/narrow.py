"""Lowering for the feasible plans alone, in time that grows with the rows that matter and not with the tables.

A condition about one choice is decided per row of the table that its columns come from, or per distinct value of a
column; so are equations and relations between two choices. What is left of these few rows says which offers are looked
at. Then the offers' own conditions, and everything else, are lowered as usual. Semi-joins as
of Bernstein and Chiu (1981).
"""

from __future__ import annotations

import math
from collections.abc import Mapping, Sequence
from dataclasses import dataclass, field

import numpy as np
from numpy.typing import NDArray

from ...datasets.opening import Dataset
from ...schemas import expression as ex
from ...schemas.errors import InputError
from ...schemas.expression import Expr, choices_of, split_and, walk
from ...schemas.problem import Problem
from ...schemas.syntax import ExpressionText
from ..lower import Cells, Conjunct, Lowered, Lowering, lower
from ..model import Bools, Choice, Ints, Linear, Link, Model, Table
from .choices import refuse_sets
from .levels import CarefulEvaluator, Levels, Path, common, levels_of, recent, size_of
from .offers import Offers, check_unique
from .values import Values

UInts = NDArray[np.uint64]

_MARKS = 2**16  # combinations of codes up to which a table serves as a semi-join
_ROUNDS = 3
_SCATTERED = 8  # how much longer it takes to fetch and sort a row than one of a range


def feasible(problem: Problem, dataset: Dataset, within: Mapping[str, Sequence[str]] | None = None) -> Lowered:
    """A model with the same feasible plans as `lower(…).model`, and the offers behind its rows.

    Its rows satisfy every condition about one choice, and it lacks rows that can be seen to be in no plan; it has no
    thresholds. Accepts and refuses exactly what `lower` does.
    """
    refuse_sets(problem)
    if within is None:
        try:
            return _Narrowing(problem, dataset).run()
        except InputError:
            pass  # bounds of whole tables were too wide, or there is a fault: the exact way decides, and says which
    lowered = lower(problem, dataset, within)
    return Lowered(lowered.model.kept(range(len(lowered.model.names))), lowered.offers)


def marked(problem: Problem, dataset: Dataset) -> tuple[tuple[Offers, UInts], ...]:
    """For each choice its offers, and the bits of the constraints that each can satisfy, as in `lower(…).model`.

    For a problem that `feasible` accepts. Takes time linear in the tables, but little where levels decide.
    """
    try:
        every = levels_of(problem.world, dataset)
        offers = [Offers(name, every[table].columns, every[table].offers()) for name, table in problem.choices.items()]
        ground = _AtRows(problem, dataset, offers, every)
        for number, constraint in enumerate(problem.constraints):
            for node in split_and(constraint.condition):
                conjunct = Conjunct(ground, number, constraint.text)
                if len(choices_of(node)) <= 1 or (isinstance(node, ex.Compare) and conjunct.is_sum(node)):
                    conjunct.lower(node)  # others forbid combinations of rows, and no row alone
        return tuple(zip(offers, ground.satisfied, strict=True))
    except InputError:
        whole = lower(problem, dataset)
        return tuple(zip(whole.offers, (choice.satisfied for choice in whole.model.choices), strict=True))


@dataclass(frozen=True, slots=True)
class _Joint:
    """A condition on several choices, decided at a level of each: codes of level rows, and which of them fit.

    `codes[k]: int64[level rows]` from 0 to `numbers[k] - 1`. `allowed` is as in a Table; None for a link, in which
    equal codes above 0 fit.
    """

    choices: tuple[int, ...]
    paths: tuple[Path, ...]
    codes: tuple[Ints, ...]
    numbers: tuple[int, ...]
    allowed: Bools | None

    @property
    def joins(self) -> bool:
        """Whether it serves as a semi-join."""
        return len(self.choices) == 2 and (self.allowed is None or self.allowed.size <= _MARKS)

    def partners(self, side: int, present: Bools) -> Bools:
        """Of a condition on two choices: which codes of the other side fit some of the present codes of one side."""
        if self.allowed is None:
            return present
        return np.logical_or.reduce((self.allowed if side == 0 else self.allowed.T)[present], axis=0)

    def size(self) -> int:
        """About how many bytes it takes."""
        return sum(codes.nbytes for codes in self.codes) + (0 if self.allowed is None else self.allowed.nbytes)


@dataclass(frozen=True, slots=True)
class _Filter:
    """A condition on one choice: which rows of a level satisfy it. The path () leaves it to be asked of the offers."""

    choice: int
    path: Path
    good: Bools


@dataclass(slots=True)
class _Sieve:
    """What is known about the rows of one choice: per level the rows that may be in a plan."""

    levels: Levels
    good: dict[Path, Bools] = field(default_factory=dict[Path, Bools])
    later: list[tuple[Expr, ExpressionText]] = field(default_factory=list[tuple[Expr, ExpressionText]])

    def narrow(self, path: Path, good: Bools) -> bool:
        """Keeps only the good rows of a level; whether that removed any."""
        before = self.good.get(path)
        after = good if before is None else before & good
        self.good[path] = after
        return int(np.count_nonzero(after)) < (len(good) if before is None else int(np.count_nonzero(before)))

    def sizes(self) -> list[tuple[int, Path]]:
        """Per level that something is known of how many rows of the table lead to its good ones, fewest first."""
        return sorted((int(self.levels.sizes(path)[good].sum()), path) for path, good in self.good.items())

    def estimate(self) -> int:
        """At most how many rows are left."""
        return min((size for size, _ in self.sizes()), default=self.levels.columns.length)

    def rows(self) -> Ints:
        """The rows that may be in a plan, ascending."""
        sizes, start = self.sizes(), ()
        least = self.levels.columns.length
        for size, path in sizes:
            cost = size if self.levels.is_ascending(path) else _SCATTERED * size
            if cost < least:
                least, start = cost, path
        rows = self.levels.below(start, self.good[start]) if start else np.arange(self.levels.columns.length)
        for _, path in sizes:
            if not start or path[: len(start)] != start:  # what is beyond the start is settled there
                rows = rows[self.good[path][self.levels.places(path)[rows]]]
        return rows

    def settle(self) -> None:
        """What is known of a level of references holds for the levels on the way there."""
        for path in sorted(self.good, key=len, reverse=True):
            for end in range(len(path) - 1, 0, -1):
                self.narrow(path[:end], self.good[path][self.levels.between(path[:end], path)])


class _Narrowing:
    def __init__(self, problem: Problem, dataset: Dataset) -> None:
        self.problem, self.dataset = problem, dataset
        self.every = levels_of(problem.world, dataset)
        self.sieves = [_Sieve(self.every[table]) for table in problem.choices.values()]
        self.number = {name: number for number, name in enumerate(problem.choices)}
        self.joints: list[tuple[int, _Joint]] = []
        self.rest: list[tuple[int, ExpressionText, Expr]] = []
        self.rows: list[Ints] = []
        self.possible = True

    def run(self) -> Lowered:
        for name, table in self.problem.choices.items():
            check_unique(name, self.every[table])
        for number, constraint in enumerate(self.problem.constraints):
            for node in split_and(constraint.condition):
                self._sort(number, constraint.text, node)
        self._join()
        nothing = np.zeros(0, np.int64)
        found: list[Ints] = [nothing] * len(self.sieves)
        for number in sorted(range(len(self.sieves)), key=lambda number: self.sieves[number].estimate()):
            found[number] = self._settled(number)
            self.possible = self.possible and len(found[number]) > 0
        if not self.possible:
            found = [nothing] * len(self.sieves)
        return self._lowered(found)

    def _sort(self, number: int, text: ExpressionText, node: Expr) -> None:
        """Takes note of a conjunct of a constraint where it can be used."""
        key = _numbered("part", self.problem)
        part = recent(self.dataset).get(key, self.every, node, lambda: self._part(text, node), _size)
        if isinstance(part, _Joint):
            self.joints.append((number, part))
        elif part is None:
            self.rest.append((number, text, node))
        elif not part.path:
            self.sieves[part.choice].later.append((node, text))
        else:
            self.sieves[part.choice].narrow(part.path, part.good)

    def _part(self, text: ExpressionText, node: Expr) -> _Filter | _Joint | None:
        """The conjunct as it can be used before rows are looked at; None when it has to wait for them."""
        choices = sorted(self.number[name] for name in choices_of(node))
        if len(choices) <= 1:
            choice = choices[0] if choices else 0
            path = self.sieves[choice].levels.path(node) or ()
            good = self.sieves[choice].levels.whole(node, path, text).true() if path else np.zeros(0, np.bool_)
            return _Filter(choice, path, good)
        levels = [sieve.levels for sieve in self.sieves]
        paths = _paths(node, self.number, levels)
        ground = _AtLevels(self.problem, self.dataset, levels, paths)
        conjunct = Conjunct(ground, 0, text)
        if not all(paths.values()) or (isinstance(node, ex.Compare) and conjunct.is_sum(node)):
            return None
        conjunct.lower(node)
        if ground.links:
            (link,) = ground.links
            codes = tuple(codes + 1 for codes in link.codes)
            number = 1 + max(int(side.max(initial=0)) for side in codes)
            return _Joint(link.choices, tuple(paths[choice] for choice in link.choices), codes, (number, number), None)
        (table,) = ground.tables
        where = tuple(paths[choice] for choice in table.choices)
        return _Joint(table.choices, where, table.codes, table.allowed.shape, table.allowed)

    def _join(self) -> None:
        """Semi-joins between levels, until nothing more is learnt or it has been tried often enough."""
        for _ in range(_ROUNDS):
            learnt = False
            for _, joint in self.joints:
                if joint.joins:
                    for side in (0, 1):
                        good = self.sieves[joint.choices[side]].good.get(joint.paths[side])
                        if good is not None:
                            learnt |= self._restrict(joint, side, joint.codes[side][good])
            if not learnt:
                return

    def _restrict(self, joint: _Joint, side: int, codes: Ints) -> bool:
        """Keeps what fits these codes of one side on the other; whether that removed anything."""
        present = np.zeros(joint.numbers[side], np.bool_)
        present[codes] = True
        if joint.allowed is None:
            present[0] = False
        partners = joint.partners(side, present)
        other = 1 - side
        return self.sieves[joint.choices[other]].narrow(joint.paths[other], partners[joint.codes[other]])

    def _settled(self, number: int) -> Ints:
        """The rows of a choice, of which the choices that come later learn."""
        sieve = self.sieves[number]
        table = self.problem.world.tables[sieve.levels.columns.table]
        if table.require is not None and table.require_text is not None:
            sieve.later.append((table.require, table.require_text))
        sieve.settle()
        rows = sieve.rows() if self.possible else np.zeros(0, np.int64)
        for node, text in sieve.later:  # also of no rows: what cannot be evaluated is refused
            rows = rows[sieve.levels.at(node, (), rows, text).true()]
        for _, joint in self.joints:
            if number in joint.choices and joint.joins:
                side = joint.choices.index(number)
                self._restrict(joint, side, joint.codes[side][sieve.levels.places(joint.paths[side])[rows]])
        return rows

    def _lowered(self, found: list[Ints]) -> Lowered:
        columns = [sieve.levels.columns for sieve in self.sieves]
        names = zip(self.problem.choices, columns, found, strict=True)
        offers = [Offers(name, table, rows) for name, table, rows in names]
        ground = _AtRows(self.problem, self.dataset, offers, self.every)
        for number, joint in self.joints:
            places = (
                self.sieves[choice].levels.places(path)[found[choice]]
                for choice, path in zip(joint.choices, joint.paths, strict=True)
            )
            codes = tuple(codes[at] for codes, at in zip(joint.codes, places, strict=True))
            if joint.allowed is not None:
                ground.tables.append(Table(number, joint.choices, codes, joint.allowed))
            elif len(joint.choices) == 2:
                ground.links.append(Link(number, (joint.choices[0], joint.choices[1]), (codes[0] - 1, codes[1] - 1)))
        for number, text, node in self.rest:
            Conjunct(ground, number, text).lower(node)
        return ground.finish()


def _numbered(what: str, problem: Problem) -> str:
    """A name for what says of choices by their numbers: another problem may have the same condition, but not these."""
    return " ".join((what, *problem.choices))


def _paths(node: Expr, number: Mapping[str, int], levels: Sequence[Levels]) -> dict[int, Path]:
    """For each choice that an expression is about the level that decides its part."""
    paths: dict[int, Path] = {}
    for part in walk(node):
        if isinstance(part, ex.Column):
            choice = number[part.choice]
            path = levels[choice].column_path(part.column)
            paths[choice] = common(paths[choice], path) if choice in paths else path
    return paths


class _AtLevels(Lowering):
    """Lowers a condition over all rows of a level of each choice."""

    evaluator = CarefulEvaluator

    def __init__(self, problem: Problem, dataset: Dataset, levels: Sequence[Levels], paths: Mapping[int, Path]) -> None:
        super().__init__(problem, dataset, [])
        self.number = {name: number for number, name in enumerate(problem.choices)}
        self.levels, self.paths = levels, paths

    def evaluate(self, node: Expr, choice: int, text: ExpressionText) -> Values:
        return self.levels[choice].at(node, self.paths[choice], None, text)

    def size(self, choice: int) -> int:
        return self.levels[choice].number(self.paths[choice])


class _AtRows(Lowering):
    """Lowers what is left over the rows that are left, as if there were all rows of the tables."""

    evaluator = CarefulEvaluator

    def __init__(self, problem: Problem, dataset: Dataset, offers: list[Offers], every: Mapping[str, Levels]) -> None:
        super().__init__(problem, dataset, offers)
        self.every, self.levels = every, [every[table] for table in problem.choices.values()]

    def evaluate(self, node: Expr, choice: int, text: ExpressionText) -> Values:
        return self.levels[choice].at(node, (), self.offers[choice].rows, text)

    def cells(self, node: Expr, text: ExpressionText) -> Cells | None:
        def make() -> tuple[dict[int, Path], Cells] | None:
            paths = _paths(node, self.number, self.levels)
            if not all(paths.values()):
                return None
            ground = _AtLevels(self.problem, self.dataset, self.levels, paths)
            return paths, Conjunct(ground, None, text).over_codes(node)

        found = recent(self.dataset).get(_numbered("cells", self.problem), self.every, node, make, _cells_size)
        if found is None:
            return None
        paths, (choices, codes, values) = found
        rows = (self.levels[choice].places(paths[choice])[self.offers[choice].rows] for choice in choices)
        return choices, [(code[at], number) for (code, number), at in zip(codes, rows, strict=True)], values

    def reach(self, linear: Linear, most: int) -> int:
        return abs(linear.constant) + most

    def combinations(self, values: Mapping[int, Sequence[Values]], codes: Mapping[int, int]) -> int:
        return math.prod(
            max(codes[choice], min(math.prod(map(_spread, parts)), self.offers[choice].table.length))
            for choice, parts in values.items()
        )

    def finish(self) -> Lowered:
        """The model without rows whose sums are unknown."""
        objective = self.problem.objective
        linear = Conjunct(self, None, objective.text).linear(objective.expr, -1 if objective.maximize else 1)
        choices = tuple(
            Choice(offer.choice, 1, 1, offer.rows, flags)
            for offer, flags in zip(self.offers, self.satisfied, strict=True)
        )
        names = tuple(constraint.name for constraint in self.problem.constraints)
        rows, links, tables = tuple(self.rows), tuple(self.links), tuple(self.tables)
        model = Model(names, choices, rows, links, tables, linear, objective.maximize)
        return Lowered(model.kept(range(len(names))), tuple(self.offers))


def _spread(values: Values) -> int:
    """At most how many distinct values there are in the whole table, unknown included."""
    if values.words is not None:
        return len(values.words) + 1
    return 3 if values.data.dtype == np.bool_ else values.high - values.low + 2


def _cells_size(found: tuple[dict[int, Path], Cells] | None) -> int:
    if found is None:
        return 0
    _, (_, codes, values) = found
    return size_of(values) + sum(code.nbytes for code, _ in codes)


def _size(part: _Filter | _Joint | None) -> int:
    if isinstance(part, _Joint):
        return part.size()
    return 0 if part is None else part.good.nbytes
