"""Tools that need no world: the weekday of a date, arithmetic, and notes."""

from __future__ import annotations

from datetime import date

from . import notebook
from .calculator import calculate, decimal
from .tool import Answer, Arguments, Desk, Kind, Parameter, Tool

_WEEKDAYS = ("Monday", "Tuesday", "Wednesday", "Thursday", "Friday", "Saturday", "Sunday")


def _calendar(_: Desk, given: Arguments) -> Answer:
    return Answer({"date": given["date"], "weekday": _WEEKDAYS[date.fromisoformat(given["date"]).weekday()]})


def _calculator(_: Desk, given: Arguments) -> Answer:
    value = calculate(given["expression"])
    text, exact = decimal(value)
    result = value.numerator if value.denominator == 1 else float(value)
    content = {"expression": given["expression"], "result": result, "decimal": text, "exact": exact}
    if not exact:
        content["message"] = "The decimal is rounded to 10 places."
    return Answer(content, asked={"expression": "".join(given["expression"].split())})


def _notebook(desk: Desk, given: Arguments) -> Answer:
    return Answer(desk.notebook.do(given["action"], given["input_data"], given["index"]))


TOOLS = (
    Tool(
        "calendar",
        "Tells on which day of the week a date falls.",
        (Parameter("date", Kind.DATE, "The date, YYYY-MM-DD.", required=True),),
        _calendar,
        ("get_weekday",),
    ),
    Tool(
        "calculator",
        "Calculates exactly with decimals, + - * / and parentheses; at most 200 characters.",
        (Parameter("expression", Kind.TEXT, "Such as (3 * 129.50 + 80) / 2.", required=True),),
        _calculator,
        ("calculate",),
    ),
    Tool(
        "notebook",
        "Your scratch pad in this conversation: at most 100 notes of at most 4,000 characters, numbered from 1.",
        (
            Parameter(
                "action",
                Kind.TEXT,
                "write adds a note, or with an index replaces that one; read and delete need an index; list_all shows "
                "how the notes begin.",
                required=True,
                values=notebook.ACTIONS,
            ),
            Parameter("input_data", Kind.FREE, "The text to write."),
            Parameter("index", Kind.COUNT, "The number of a note.", minimum=1),
        ),
        _notebook,
    ),
)
