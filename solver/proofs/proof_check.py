"""Checks a proof about a pseudo-Boolean problem; needs Python 3.11 and nothing else.

    python proof_check.py problem.opb proof.pbp

A problem (OPB) asks for 0-1 values of x1, x2, … that satisfy linear constraints and minimise a sum. A proof (VeriPB's
format, version 2.0, four of its rules) derives constraints one by one; each gets the next number, after those of the
problem, where an equation counts twice (`>=`, then `<=` as its negative):

    soli x3 x8          these are 1, all others 0: satisfies everything so far; from now on only better ones count
    pol 4 1 250 * +     250 times constraint 1, added to constraint 4
    rup 1 ~x3 >= 1 ;    holds, since its opposite leads to a contradiction by unit propagation alone
    rup >= 1 ;          the contradiction 0 >= 1: nothing is left, so the last solution was best

Everything is computed in integers, and anything else in either file is refused. Unit propagation is all there is to
trust: a constraint `sum of a*l >= d` with positive a has a slack, the sum of the a whose literal l is not false, less
d. Below zero nothing satisfies it; and a literal with a > slack has to be true, or it would be.
"""

from __future__ import annotations

import re
import sys
from pathlib import Path

Linear = tuple[dict[int, int], int]  # ({variable: coefficient}, right): the sum is at least `right`

HEADER = re.compile(r"\* #variable= (0|[1-9][0-9]*) #constraint= (0|[1-9][0-9]*)")
TERMS = r"((?:[+-]?[0-9]+ ~?x[1-9][0-9]* )*)"
CONSTRAINT = re.compile(TERMS + r"(>=|=) ([+-]?[0-9]+) ;")
OBJECTIVE = re.compile(r"min: " + TERMS + ";")
SOLUTION = re.compile(r"soli((?: x[1-9][0-9]*)*)")
BOUNDS = re.compile(r"conclusion BOUNDS (-?[0-9]+) : ([1-9][0-9]*) (-?[0-9]+)")
UNSAT = re.compile(r"conclusion UNSAT : ([1-9][0-9]*)")
SUM = re.compile(r"pol((?: [1-9][0-9]*(?: \*)?| \+)+)")
STEP = re.compile(r" (?:([1-9][0-9]*)\b(?! \*)|([1-9][0-9]*) \*|\+)")
NOTHING: Linear = ({}, 0)
SHORT = 300  # terms of a constraint at which it pays to look ahead


class RefusedError(Exception):
    """The problem or the proof is not accepted."""


class Database:
    """Constraints, and what unit propagation derives from them. Literals are v and -v, for variable v and not v.

    `true[l]` and `where[l]` are lists over literals: -v as an index counts from the end, so both signs have a place.
    """

    def __init__(self, variables: int) -> None:
        self.linear: list[Linear] = []  # constraint n is linear[n - 1]
        self.terms: list[list[tuple[int, int]]] = []  # the same as (a, literal), a positive, the greatest first
        self.slack: list[int] = []
        self.where: list[list[tuple[int, int]]] = [[] for _ in range(2 * variables + 1)]  # l: whose slack falls by what
        self.true = bytearray(2 * variables + 1)
        self.trail: list[int] = []  # true literals, in the order in which they became so
        self.queue: dict[int, None] = {}  # constraints whose slack may ask for a literal
        self.mark = 0  # the first `mark` literals of the trail follow from the constraints alone
        self.failed = False  # the constraints contradict each other

    def add(self, linear: Linear) -> None:
        """Adds a constraint, and what follows from all of them."""
        self._insert(linear)
        self.failed = self.failed or not self._propagate()
        self.mark = len(self.trail)

    def assume_not(self, linear: Linear) -> bool:
        """Assumes the opposite of a constraint; whether unit propagation finds a contradiction. Ends by `retract`."""
        coefficients, right = linear
        self._insert(({variable: -amount for variable, amount in coefficients.items()}, 1 - right))
        return self.failed or not self._propagate(ahead=True)

    def retract(self) -> None:
        """Takes the assumption back, and all that followed from it."""
        while len(self.trail) > self.mark:
            literal = self.trail.pop()
            self.true[literal] = 0
            for index, amount in self.where[literal]:
                self.slack[index] += amount
        for _, literal in self.terms.pop():
            self.where[-literal].pop()
        self.linear.pop()
        self.slack.pop()

    def _insert(self, linear: Linear) -> None:
        coefficients, right = linear
        degree = right - sum(amount for amount in coefficients.values() if amount < 0)  # -a*x is a*(not x) - a
        terms = [(abs(amount), v if amount > 0 else -v) for v, amount in coefficients.items() if amount]
        for amount, literal in terms:
            self.where[-literal].append((len(self.linear), amount))
        self.queue[len(self.linear)] = None
        self.linear.append(linear)
        self.terms.append(sorted(terms, reverse=True))
        self.slack.append(sum(amount for amount, literal in terms if not self.true[-literal]) - degree)

    def _propagate(self, ahead: bool = False) -> bool:
        """Makes every literal true that has to be; False as soon as a slack is below zero, or `ahead` will be."""
        true, slack, good = self.true, self.slack, True
        while self.queue and good:
            current, _ = self.queue.popitem()
            good = slack[current] >= 0
            for most, literal in self.terms[current]:
                if most <= slack[current] or not good:
                    break
                if true[literal] or true[-literal]:  # a false literal is out of the slack already
                    continue
                true[literal] = 1
                self.trail.append(literal)
                for index, amount in self.where[literal]:
                    slack[index] -= amount
                    good = good and slack[index] >= 0
                    if slack[index] < self.terms[index][0][0]:
                        self.queue[index] = None
            if ahead and good:  # only for the assumption itself, which was alone in the queue
                good, ahead = not any(map(self._doomed, self.trail[self.mark :])), False
        self.queue.clear()
        return good

    def _doomed(self, literal: int) -> bool:
        """Whether a short constraint that a true literal touches will fail, once slacks have ruled literals of it out.

        Propagation would find that, too, but after many steps that do not matter.
        """
        true, slack, where = self.true, self.slack, self.where
        for index, _ in where[literal]:
            if len(self.terms[index]) <= SHORT:
                spare = slack[index]
                for amount, other in self.terms[index]:
                    if not true[other] and not true[-other] and any(more > slack[it] for it, more in where[other]):
                        spare -= amount
                if spare < 0:
                    return True
        return False


def linear_of(terms: str, right: str = "0") -> Linear:
    """The sum that is written as `2 x1 -3 ~x2 `, at least `right`."""
    total, least, words = dict[int, int](), int(right), terms.split()
    for amount, literal in zip(map(int, words[::2]), words[1::2], strict=True):
        negated, variable = literal[0] == "~", int(literal.lstrip("~x"))
        total[variable] = total.get(variable, 0) + (-amount if negated else amount)
        least -= amount if negated else 0
    return total, least


def added(one: Linear, other: Linear, times: int = 1) -> Linear:
    """`one + times * other`; sound for constraints when `times` is not negative."""
    total = dict(one[0])
    for variable, amount in other[0].items():
        total[variable] = total.get(variable, 0) + times * amount
    return total, one[1] + times * other[1]


def problem_of(text: str) -> tuple[Database, dict[int, int] | None]:
    """The constraints and the objective of an OPB file."""
    header, *lines = text.removesuffix("\n").split("\n")
    declared, objective, constraints, equations = HEADER.fullmatch(header), None, list[Linear](), 0
    for number, line in enumerate(lines, 2):
        if line.startswith("*"):
            continue
        if found := CONSTRAINT.fullmatch(line):
            constraints.append(linear := linear_of(found[1], found[3]))
            if found[2] == "=":
                constraints.append(added(NOTHING, linear, -1))
                equations += 1
        elif (found := OBJECTIVE.fullmatch(line)) and objective is None and not constraints:
            objective, constant = linear_of(found[1])
            if constant:
                raise RefusedError(f"problem, line {number}: a negated literal in the objective")
        else:
            raise RefusedError(f"problem, line {number}: '{line[:60]}' is no constraint")
    variables = max((v for part in (*(c for c, _ in constraints), objective or {}) for v in part), default=0)
    if not declared or (int(declared[1]), int(declared[2])) != (variables, len(constraints) - equations):
        raise RefusedError("problem, line 1: does not give the number of variables and constraints below")
    if variables > len(text):
        raise RefusedError("problem: more variables than characters")
    database = Database(variables)
    for linear in constraints:
        database.add(linear)
    return database, objective


def derived(line: str, database: Database) -> Linear:
    """The constraint that a line `rup` or `pol` of a proof derives, if it does."""
    if (found := CONSTRAINT.fullmatch(line, 4)) and line.startswith("rup ") and found[2] == ">=":
        linear = linear_of(found[1], found[3])
        if any(2 * variable >= len(database.true) for variable in linear[0]):
            raise RefusedError("a variable that the problem does not have")
        implied = database.assume_not(linear)
        database.retract()
        if not implied:
            raise RefusedError("unit propagation finds no contradiction")
        return linear
    if not (found := SUM.fullmatch(line)):
        raise RefusedError(f"'{line[:60]}' is no step of a proof")
    stack = list[Linear]()
    for number, factor in STEP.findall(found[1]):
        if factor and stack:
            stack.append(added(NOTHING, stack.pop(), int(factor)))
        elif number and int(number) <= len(database.linear):
            stack.append(database.linear[int(number) - 1])
        elif not number and not factor and len(stack) > 1:
            stack.append(added(stack.pop(), stack.pop()))
        else:
            raise RefusedError("a constraint that is not there")
    if len(stack) != 1:
        raise RefusedError("a sum of constraints has to end in one")
    return stack[0]


def improving(line: str, database: Database, objective: dict[int, int] | None) -> tuple[int, Linear]:
    """The value of the solution in a line `soli`, if it satisfies every constraint, and the constraint to be better."""
    found = SOLUTION.fullmatch(line)
    if not found or objective is None:
        raise RefusedError("a solution has to be variables that are 1, of a problem with an objective")
    ones = {int(variable[1:]) for variable in found[1].split()}
    if any(2 * variable >= len(database.true) for variable in ones):
        raise RefusedError("a variable that the problem does not have")
    for number, (coefficients, right) in enumerate(database.linear, 1):
        if sum(coefficients.get(variable, 0) for variable in ones) < right:
            raise RefusedError(f"the solution does not satisfy constraint {number}")
    value = sum(objective.get(variable, 0) for variable in ones)
    return value, added(({}, 1 - value), (objective, 0), -1)


def check(problem: str, proof: str) -> str:
    """What the proof proves: `optimum N` or `unsatisfiable`. Raises RefusedError with the reason if it does not."""
    database, objective = problem_of(problem)
    lines = proof.split("\n")
    if lines[:2] != ["pseudo-Boolean proof version 2.0", f"f {len(database.linear)}"]:
        raise RefusedError("proof, line 1: not a proof in version 2.0 about as many constraints as the problem has")
    if len(lines) < 6 or lines[-4] != "output NONE" or lines[-2:] != ["end pseudo-Boolean proof", ""]:
        raise RefusedError("proof: does not end as a complete proof does")
    best = None
    for number, line in enumerate(lines[2:-4], 3):
        try:
            if line.startswith("soli"):
                best, linear = improving(line, database, objective)
            elif line.startswith("*"):
                continue
            else:
                linear = derived(line, database)
        except RefusedError as fault:
            raise RefusedError(f"proof, line {number}: {fault}") from None
        database.add(linear)
    bounds, unsat = BOUNDS.fullmatch(lines[-3]), UNSAT.fullmatch(lines[-3])
    last = int(bounds[2] if bounds else unsat[1] if unsat else 0)
    if not 0 < last <= len(database.linear):
        raise RefusedError("proof: the conclusion names no constraint")
    coefficients, right = database.linear[last - 1]
    if sum(amount for amount in coefficients.values() if amount > 0) >= right:
        raise RefusedError(f"proof: constraint {last} is no contradiction")
    if bounds and best is not None and int(bounds[1]) == int(bounds[3]) == best:
        return f"optimum {best}"
    if unsat and best is None and objective is None:
        return "unsatisfiable"
    raise RefusedError("proof: what it concludes is not what it shows")


def main(names: list[str]) -> int:
    """Checks the two named files, says what is proved, and returns the exit code: 0 verified, 1 not."""
    if len(names) != 2:
        print("usage: python proof_check.py problem.opb proof.pbp", file=sys.stderr)
        return 1
    try:
        problem, proof = (Path(name).read_bytes().decode("ascii") for name in names)
        print(f"{check(problem, proof)}: verified")
    except (RefusedError, ValueError, OSError) as fault:  # ValueError: not ASCII, or a number of thousands of digits
        print(f"refused: {fault}")
        return 1
    return 0


if __name__ == "__main__":
    sys.exit(main(sys.argv[1:]))
