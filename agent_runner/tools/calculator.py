"""Exact arithmetic on decimals with + - * / and parentheses; nothing is ever evaluated as code."""

from __future__ import annotations

import re
from fractions import Fraction

from .fault import nothing_such, quoted

MAX_LENGTH, MAX_DEPTH, MAX_DECIMALS = 200, 30, 20
ROUNDED_TO = 10
_SIGN = re.compile(r"\s*(?:([0-9]+(?:\.[0-9]*)?|\.[0-9]+)|([-+*/()]))")
_HINT = "it takes decimals, + - * / and parentheses, such as (3 * 129.50 + 80) / 2"


def calculate(expression: str) -> Fraction:
    """The exact value; raises WrongCall for anything but arithmetic, and for a division by zero."""
    if len(expression) > MAX_LENGTH:
        raise nothing_such(f"the expression is longer than {MAX_LENGTH} characters", _HINT)
    parser = _Parser(_signs(expression))
    value = parser.sum(0)
    if parser.next():
        raise nothing_such(f"the expression goes on after its end, at {quoted(parser.next())}", _HINT)
    return value


def _signs(text: str) -> list[str]:
    signs: list[str] = []
    position, end = 0, len(text.rstrip())
    while position < end:
        match = _SIGN.match(text, position)
        if match is None:
            raise nothing_such(f"this is no arithmetic: {quoted(text[position:].strip(), 20)}", _HINT)
        signs.append(match[1] or match[2])
        position = match.end()
    return signs


class _Parser:
    """Recursive descent over signs; the bound on length bounds the numbers, the one on depth the recursion."""

    def __init__(self, signs: list[str]) -> None:
        self._signs, self._at = signs, 0

    def next(self) -> str:
        """The next sign; empty at the end."""
        return self._signs[self._at] if self._at < len(self._signs) else ""

    def _take(self) -> str:
        sign = self.next()
        self._at += 1
        return sign

    def sum(self, depth: int) -> Fraction:
        """A sum of products."""
        value = self._product(depth)
        while self.next() in ("+", "-"):
            value = value + self._product(depth) if self._take() == "+" else value - self._product(depth)
        return value

    def _product(self, depth: int) -> Fraction:
        value = self._factor(depth)
        while self.next() in ("*", "/"):
            if self._take() == "*":
                value *= self._factor(depth)
                continue
            divisor = self._factor(depth)
            if not divisor:
                raise nothing_such("division by zero")
            value /= divisor
        return value

    def _factor(self, depth: int) -> Fraction:
        if depth > MAX_DEPTH:
            raise nothing_such(f"the expression is nested deeper than {MAX_DEPTH}", _HINT)
        sign = self._take()
        if sign in ("-", "+"):
            value = self._factor(depth + 1)
            return -value if sign == "-" else value
        if sign == "(":
            value = self.sum(depth + 1)
            if self._take() != ")":
                raise nothing_such("a parenthesis is not closed", _HINT)
            return value
        if not sign or sign in "*/)":
            raise nothing_such(f"a number is missing {f'before {quoted(sign)}' if sign else 'at the end'}", _HINT)
        return Fraction(sign)


def decimal(value: Fraction) -> tuple[str, bool]:
    """A value as decimal text, and whether that is exact; else it is rounded to ten decimals, halves to even."""
    for digits in range(MAX_DECIMALS + 1):
        if (value * 10**digits).denominator == 1:
            return _written(int(value * 10**digits), digits), True
    return _written(round(value * 10**ROUNDED_TO), ROUNDED_TO), False


def _written(units: int, digits: int) -> str:
    text = str(abs(units)).rjust(digits + 1, "0")
    text = f"{text[: len(text) - digits]}.{text[len(text) - digits :]}" if digits else text
    return "-" + text if units < 0 else text
