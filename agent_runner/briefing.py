"""What an agent is told before the conversation: its role, its tools, and the form of its replies."""

from __future__ import annotations

from collections.abc import Mapping
from typing import Any

from .answer import MOST_OPTIONS
from .env import Mode
from .play import RECOMMENDING
from .suites import Case
from .tools.toolbox import TOOLS

_ROLE = """\
You are a travel agent. A customer tells you what trip they want{later}, and what is to be best \
about it. Whatever they say must hold has to hold exactly; among everything that keeps to it, find \
what is best by the customer's own measure. Prices are in US dollars, dates in August 2025 are written YYYY-MM-DD."""
_TOOLS = """\
Find offers with the tools; know nothing about offers but what tools have told you. Searches show a part of what \
there is to know and of what there is: details have tools of their own, and long lists have pages. Call them as often \
as needed before each of your replies."""
_CODE = """\
Find offers with programs: run_python runs a Python program of yours and returns what it prints. Programs import the \
tools as functions, as in `from tools import search_hotel`, call them by keyword, and get dicts and lists; a wrong \
call raises tools.ToolError. Only the notebook lasts from one program to the next. There is no network.

The functions:
{functions}"""
_FORM = """\
Each of your replies to the customer is one JSON object and nothing else:

{{"message": "what you say to the customer", "recommendation": null}}
{example}

Give a recommendation as soon as you have one, and again whenever something changes: the last one counts. Pass every \
id through {validators} first, and copy it letter by letter. {number}"""
_SEVERAL = """\
Up to {most} ids may be recommended as alternatives; the best of them counts."""
_ONE = """\
A recommendation is exactly one trip: one id for each part."""


def briefing(case: Case, mode: Mode = "tools") -> str:
    """The whole text for a conversation; nothing in it depends on the task but which parts a trip has."""
    return f"{role(mode)}\n\n{form_of(case)}"


def role(mode: Mode = "tools", *, at_once: bool = False) -> str:
    """What the agent is there for, and how it finds offers. `at_once`: nothing is told in the course of time."""
    later = "" if at_once else ", some of it at once and some of it only later"
    return f"{_ROLE.format(later=later)}\n\n{_CODE.format(functions=tools_text()) if mode == 'code' else _TOOLS}"


def form_of(case: Case) -> str:
    """The form of replies: up to three alternatives where a trip has one part, else exactly one trip."""
    choices = case.problem.choices
    validators = [RECOMMENDING[table] for table in choices.values() if table in RECOMMENDING]
    single = len(choices) == 1
    ids = ", ".join(f'"{choice}_ids": ["…", "…"]' if single else f'"{choice}_id": "…"' for choice in choices)
    return _FORM.format(
        example=f'{{"message": "…", "recommendation": {{{ids}}}}}',
        validators=" and ".join(validators),
        number=_SEVERAL.format(most=MOST_OPTIONS) if single else _ONE,
    )


def tools_text() -> str:
    """The tools as one line each."""
    return "\n".join(_signature(tool.schema()["function"]) for tool in TOOLS.values())


def _signature(function: Mapping[str, Any]) -> str:
    """Name, parameters with those that may be left out in brackets, and what it is for."""
    parameters = function["parameters"]
    required = parameters.get("required", ())
    names = [name if name in required else f"[{name}]" for name in parameters.get("properties", {})]
    return f"{function['name']}({', '.join(names)}): {function['description']}"
