"""The text of an expression as a small tree of our own, before any name has a meaning.

Python's tokenizer and `ast` read the text; nothing is ever evaluated by Python. The text is scanned first, because
`ast` itself can die on hostile input, and numbers are taken from the text as exact decimals, never through a float.

A `Syntax` is (op, args, span). `op` is one of

    name "x"      column "choice" "x"      number Fraction      text "…"      truth True/False
    + (n terms)   neg   *   /              < <= == != > >=  (n operands, a chain)
    in (operand, item, …)                  and   or   not   call "function" (arguments)
    each "function" "variable" "choice" (body, condition?)      function(body for variable in choice if condition)
"""

from __future__ import annotations

import ast
import io
import re
import tokenize
from contextlib import suppress
from dataclasses import dataclass
from functools import lru_cache
from typing import Any, NoReturn

from .errors import ExpressionError, Where
from .units import parse_decimal

MAX_BYTES = 4096
MAX_TOKENS = 500
MAX_DEPTH = 64

_COMPARE: dict[type[ast.cmpop], str] = {
    ast.Lt: "<", ast.LtE: "<=", ast.Gt: ">", ast.GtE: ">=", ast.Eq: "==", ast.NotEq: "!="
}  # fmt: skip
_NAME = re.compile(r"[a-z][a-z0-9_]*\Z")
_OPERATORS = {"+", "-", "*", "/", "(", ")", "[", "]", ",", ".", "<", "<=", ">", ">=", "==", "!="}
_WORD_HINTS = {
    "None": "ask known(x) whether a value is there",
    "True": "write true",
    "False": "write false",
    "is": "write == to compare",
    "else": "there is no if … else; use and, or, not",
    "lambda": "there are no functions to define",
}
_OPERATOR_HINTS = {
    "=": "write == to compare",
    "&&": "write and",
    "||": "write or",
    "!": "write not",
    "**": "powers are not part of the language",
    "%": "remainders are not part of the language",
    "//": "write floor(a / b)",
    "&": "write and",
    "|": "write or",
    ":=": "there are no assignments",
    "{": "sets are written [a, b]",
}


@dataclass(frozen=True, slots=True)
class Span:
    """Where a part of an expression stands in its text: characters from `start` (0-based) up to `end`."""

    start: int
    end: int


@dataclass(frozen=True, slots=True)
class Syntax:
    """One node: see the module docstring for `op` and `args`."""

    op: str
    args: tuple[Any, ...]
    span: Span

    def canonical(self) -> list[Any]:
        """The node as nested lists of strings, blind to spaces, parentheses and number spelling; digests use it."""
        return [self.op, *(arg.canonical() if isinstance(arg, Syntax) else _plain(arg) for arg in self.args)]


def _plain(arg: object) -> str | bool:
    return arg if isinstance(arg, str | bool) else str(arg)


class ExpressionText:
    """An expression's text together with where it stands, for messages."""

    def __init__(self, text: str, where: Where | None = None) -> None:
        self.text = text
        self.where = where

    def place(self, span: Span | None = None) -> Where:
        """The file position of a span; without a file, the expression shows itself."""
        start, length = (span.start, max(1, span.end - span.start)) if span else (0, max(1, len(self.text)))
        if self.where is None:
            return Where("expression", 1, start + 1, self.text, length)
        shifted = self.where.text.find(self.text, max(0, self.where.column - 1)) == self.where.column - 1
        column = self.where.column + (start if shifted else 0)
        return Where(self.where.file, self.where.line, column, self.where.text, length)

    def error(self, message: str, span: Span | None = None, hint: str = "") -> ExpressionError:
        """An ExpressionError at a span of this text."""
        return ExpressionError(message, where=self.place(span), hint=hint)


def parse(source: ExpressionText) -> Syntax:
    """The tree of an expression; raises ExpressionError with the place and a hint. Texts read lately are known."""
    with suppress(ExpressionError):
        return _tree(source.text)
    return _read(source)  # again, for an error that knows the place


@lru_cache(1024)
def _tree(text: str) -> Syntax:
    return _read(ExpressionText(text))


def _read(source: ExpressionText) -> Syntax:
    _scan(source)
    try:
        body = ast.parse(source.text, mode="eval").body
    except (SyntaxError, ValueError, RecursionError, MemoryError) as fault:
        column = (getattr(fault, "offset", None) or 1) - 1
        reason = getattr(fault, "msg", "unreadable")
        span = Span(min(column, len(source.text)), min(column + 1, len(source.text) + 1))
        raise source.error(f"not an expression: {reason}", span) from None
    return _Reader(source).read(body, 0)


def _scan(source: ExpressionText) -> None:
    """Refuses text that is too long, too deep, or uses tokens outside the language, before `ast` sees it."""
    text = source.text
    if not text.strip():
        raise source.error("the expression is empty")
    if len(text.encode("utf-8", "surrogatepass")) > MAX_BYTES:
        raise source.error(f"the expression is longer than {MAX_BYTES} bytes")
    if text != text.strip() or "\n" in text or "\r" in text or "\f" in text:
        raise source.error("the expression must be one line without space around it")
    depth = count = 0
    previous = tokenize.ENCODING
    try:
        for token in tokenize.generate_tokens(io.StringIO(text).readline):
            count += 1
            span = Span(token.start[1], max(token.end[1], token.start[1] + 1))
            if count > MAX_TOKENS:
                raise source.error(f"the expression has more than {MAX_TOKENS} tokens", span)
            _scan_token(source, token, span, previous)
            depth += (token.string in ("(", "[")) - (token.string in (")", "]"))
            if depth > MAX_DEPTH:
                raise source.error(f"parentheses nest deeper than {MAX_DEPTH}", span)
            previous = token.type
    except tokenize.TokenError as fault:
        reason = "something is not closed" if "EOF" in str(fault.args[0]) else str(fault.args[0])
        cut = source.where is not None and " #" in source.where.text
        hint = "YAML takes what follows ' #' as a comment: put the whole value in quotes" if cut else ""
        raise source.error(f"not an expression: {reason}", hint=hint) from None
    except (SyntaxError, ValueError) as fault:
        raise source.error(f"not an expression: {fault}") from None


def _scan_token(source: ExpressionText, token: tokenize.TokenInfo, span: Span, previous: int) -> None:
    text = token.string
    if token.type == tokenize.NAME:
        if text in _WORD_HINTS:
            raise source.error(f"'{text}' is not part of the language", span, _WORD_HINTS[text])
        if not _NAME.match(text):
            hint = "names are a-z, 0-9 and _; text is quoted"
            raise source.error(f"'{text}' is not a name", span, hint)
        if previous == tokenize.NUMBER and source.text[span.start - 1 : span.start] != " ":
            raise source.error("put a space between a number and a word", span)
    elif token.type == tokenize.NUMBER:
        if parse_decimal(text) is None:
            raise source.error(
                f"the number '{text}' is not a plain decimal", span, "write digits and at most one point"
            )
        if re.match(r"0[0-9]", text):
            raise source.error("a number has no leading zeros", span)
        if re.match(r"[0-9]{4}-[0-9]{2}-[0-9]{2}", source.text[span.start :]):
            raise source.error("a date stands in quotes", span, f'write "{source.text[span.start : span.start + 10]}"')
    elif token.type == tokenize.STRING:
        if previous == tokenize.STRING:
            raise source.error("two texts side by side", span, "put a comma or an operator between them")
        if text[0] not in "\"'" or text[:3] in ('"""', "'''") or "\\" in text:
            raise source.error("only plain quoted text, without prefix and backslash", span)
    elif token.type == tokenize.OP:
        if text not in _OPERATORS:
            raise source.error(f"'{text}' is not part of the language", span, _OPERATOR_HINTS.get(text, ""))
    elif token.type == tokenize.COMMENT:
        raise source.error("an expression has no comments", span)
    elif (token.type == tokenize.ERRORTOKEN and not text.isspace()) or tokenize.tok_name[token.type].startswith(
        "FSTRING"
    ):
        raise source.error(f"'{text}' is not part of the language", span, _OPERATOR_HINTS.get(text, ""))


class _Reader:
    """Turns Python's tree into ours; every unexpected node is refused by name."""

    def __init__(self, source: ExpressionText) -> None:
        self.source = source
        self._bytes = source.text.encode("utf-8", "surrogatepass")

    def span(self, node: ast.expr) -> Span:
        """Character positions; `ast` counts UTF-8 bytes."""
        end = node.end_col_offset if node.end_col_offset is not None else node.col_offset + 1
        return Span(self._characters(node.col_offset), self._characters(end))

    def _characters(self, offset: int) -> int:
        return len(self._bytes[:offset].decode("utf-8", "replace"))

    def refuse(self, node: ast.expr, message: str, hint: str = "") -> NoReturn:
        raise self.source.error(message, self.span(node), hint)

    def read(self, node: ast.expr, depth: int) -> Syntax:
        if depth > MAX_DEPTH:
            self.refuse(node, f"the expression nests deeper than {MAX_DEPTH}")
        method = getattr(self, f"_{type(node).__name__.lower()}", None)
        if method is None:
            self.refuse(node, "this form is not part of the language")
        result: Syntax = method(node, depth + 1)
        return result

    def _constant(self, node: ast.Constant, _: int) -> Syntax:
        span = self.span(node)
        if isinstance(node.value, str):
            return Syntax("text", (node.value,), span)
        number = parse_decimal(self.source.text[span.start : span.end])
        if number is None:
            self.refuse(node, "this constant is not part of the language")
        return Syntax("number", (number,), span)

    def _name(self, node: ast.Name, _: int) -> Syntax:
        if node.id in ("true", "false"):
            return Syntax("truth", (node.id == "true",), self.span(node))
        return Syntax("name", (node.id,), self.span(node))

    def _attribute(self, node: ast.Attribute, _: int) -> Syntax:
        if not isinstance(node.value, ast.Name):
            self.refuse(node, "a column is written choice.column")
        return Syntax("column", (node.value.id, node.attr), self.span(node))

    def _unaryop(self, node: ast.UnaryOp, depth: int) -> Syntax:
        if not isinstance(node.op, ast.Not | ast.USub):
            self.refuse(node, "this operator is not part of the language")
        op = "not" if isinstance(node.op, ast.Not) else "neg"
        return Syntax(op, (self.read(node.operand, depth),), self.span(node))

    def _binop(self, node: ast.BinOp, depth: int) -> Syntax:
        if isinstance(node.op, ast.Add | ast.Sub):
            return self._sum(node, depth)
        if not isinstance(node.op, ast.Mult | ast.Div):
            self.refuse(node, "this operator is not part of the language")
        op = "*" if isinstance(node.op, ast.Mult) else "/"
        return Syntax(op, (self.read(node.left, depth), self.read(node.right, depth)), self.span(node))

    def _sum(self, node: ast.BinOp, depth: int) -> Syntax:
        """A chain of + and - as one node, so that a long sum is not a deep one."""
        terms: list[Syntax] = []
        left: ast.expr = node
        while isinstance(left, ast.BinOp) and isinstance(left.op, ast.Add | ast.Sub):
            term = self.read(left.right, depth)
            terms.append(Syntax("neg", (term,), term.span) if isinstance(left.op, ast.Sub) else term)
            left = left.left
        terms.append(self.read(left, depth))
        return Syntax("+", tuple(reversed(terms)), self.span(node))

    def _boolop(self, node: ast.BoolOp, depth: int) -> Syntax:
        op = "and" if isinstance(node.op, ast.And) else "or"
        return Syntax(op, tuple(self.read(value, depth) for value in node.values), self.span(node))

    def _compare(self, node: ast.Compare, depth: int) -> Syntax:
        left = self.read(node.left, depth)
        if isinstance(node.ops[0], ast.In | ast.NotIn):
            if len(node.ops) > 1 or not isinstance(node.comparators[0], ast.List):
                self.refuse(node, "in is followed by one list", "write x in [a, b]")
            items = node.comparators[0].elts
            if not items:
                self.refuse(node, "the list is empty")
            member = Syntax("in", (left, *(self.read(item, depth) for item in items)), self.span(node))
            return member if isinstance(node.ops[0], ast.In) else Syntax("not", (member,), self.span(node))
        ops = [_COMPARE.get(type(op), "") for op in node.ops]
        if "" in ops:
            self.refuse(node, "this comparison is not part of the language", "write x in [a, b] on its own")
        if (len(set(ops)) > 1 and not (set(ops) <= {"<", "<="} or set(ops) <= {">", ">="})) or ops.count("!=") > 1:
            self.refuse(node, "a chain compares in one direction", "split it with and")
        operands = [left, *(self.read(comparator, depth) for comparator in node.comparators)]
        if len(ops) == 1:  # the whole comparison has a place of its own, parentheses included
            return Syntax(ops[0], tuple(operands), self.span(node))
        links = [
            Syntax(op, (first, second), Span(first.span.start, second.span.end))
            for op, first, second in zip(ops, operands, operands[1:], strict=False)
        ]
        return Syntax("and", tuple(links), self.span(node))

    def _call(self, node: ast.Call, depth: int) -> Syntax:
        if not isinstance(node.func, ast.Name):
            self.refuse(node, "only named functions can be called")
        if node.keywords:
            self.refuse(node, "arguments have no names here")
        if len(node.args) == 1 and isinstance(node.args[0], ast.GeneratorExp):
            return self._aggregate(node, node.func.id, node.args[0], depth)
        arguments = tuple(self.read(argument, depth) for argument in node.args)
        return Syntax("call", (node.func.id, *arguments), self.span(node))

    def _aggregate(self, call: ast.Call, function: str, node: ast.GeneratorExp, depth: int) -> Syntax:
        loop = node.generators[0]
        simple = len(node.generators) == 1 and len(loop.ifs) <= 1 and not loop.is_async
        if not (simple and isinstance(loop.target, ast.Name) and isinstance(loop.iter, ast.Name)):
            self.refuse(node, "an aggregate is written f(x.column for x in choice if condition)")
        parts = (self.read(part, depth) for part in (node.elt, *loop.ifs))
        return Syntax("each", (function, loop.target.id, loop.iter.id, *parts), self.span(call))
