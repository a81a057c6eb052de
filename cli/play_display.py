"""What a person sees who talks with the simulated user: messages, results of tools as tables, and the end."""

from __future__ import annotations

import textwrap
from collections.abc import Mapping, Sequence
from typing import TYPE_CHECKING, Any

from rich import box
from rich.table import Table
from rich.text import Text

from ..schemas.canonical import narrow
from ..schemas.episode import Ended
from ..schemas.units import format_value
from .common import console, say, visible
from .display import print_verdict
from .tables import show
from .words import count

if TYPE_CHECKING:
    from ..agent_runner.env import Env
    from ..agent_runner.play import Commands
    from ..agent_runner.tools.result import Result

_FLIGHT = ("flight", "departs_at", "arrives_at")
_WIDTH = 100  # characters of a message's line


def print_user(turn: int, message: str) -> None:
    """What the user says."""
    say(f"\nuser, message {turn}")
    for line in message.splitlines():
        say(textwrap.fill(line, _WIDTH, initial_indent="  ", subsequent_indent="  ", break_on_hyphens=False))
    say("")


def print_help(commands: Commands, name: str) -> None:
    """All commands and tools, or what one tool needs."""
    from ..agent_runner.play import COMMANDS

    table = Table(box=None, show_header=False, padding=(0, 2, 0, 2))
    tool = commands.tools.get(name)
    if tool is None:
        needed = " ".join(f"{choice}=ID" for choice in commands.choices)
        for command, text in COMMANDS.items():
            table.add_row(Text(command, style="bold"), Text(text.format(choices=needed)))
        for known in commands.tools.values():
            table.add_row(Text(known["name"], style="bold"), Text(str(known["description"]).split(". ")[0]))
        show(console(), table)
        say('tools are called with name=value, such as: search_hotel location="Grand Canyon" num_guests=2 …')
        return
    say(str(tool["description"]))
    required = tool["parameters"].get("required", ())
    for key, schema in tool["parameters"]["properties"].items():
        kind = "needed" if key in required else "optional"
        table.add_row(
            Text(key, style="bold"), str(schema.get("type", "")), kind, Text(str(schema.get("description", "")))
        )
    if table.row_count:
        show(console(), table)


def print_result(result: Result) -> None:
    """What a tool answers: facts on a line, lists as tables, and why a call was wrong."""
    content = result.content
    if not isinstance(content, dict):
        say(str(content))
    elif result.fault is not None:
        found = content.get("error", content)
        parts = [found.get(part) for part in ("message", "hint")] if isinstance(found, dict) else [found]
        say("; ".join(str(part) for part in parts if part))
    else:
        _print_facts(content)
        for value in content.values():
            if _is_rows(value):
                _print_rows(value)


def print_end(env: Env) -> None:
    """Why the conversation ended, and the verdict with rank, gap and the split of the regret."""
    problem, episode = env.case.problem, env.episode()
    why = {Ended.ACCEPTED: "the user is content", Ended.LEFT: "you left"}.get(episode.ended, episode.ended.value)
    say(f"\nThe conversation is over: {why}.")
    print_verdict(episode.verdict, problem)
    say(f"  the best plan that there is: {_amount(env, env.case.optimum)}")
    if (regret := episode.regret) is not None:
        parts = {
            "the best of what you were shown": regret.shown_best,
            "lost by not looking further": regret.exploration,
            "lost by not picking that": regret.reasoning,
        }
        if regret.shown_best is None:
            say("  you were shown no plan that satisfies everything")
        for name, amount in parts.items():
            if amount is not None:
                say(f"  {name}: {_amount(env, narrow(amount))}")
    turns, calls = count(len(episode.turns), "turn"), count(episode.effort, "different call")
    say(f"  {turns}, {calls} that succeeded (effort), {count(episode.found, 'different offer')} shown (yield)")


def _amount(env: Env, amount: int) -> str:
    """An amount of what is to be best with its unit; of wishes, so many of all."""
    wishes = env.case.traits.wishes
    return count(amount, "wish", "wishes") if wishes else format_value(amount, env.case.problem.objective.type)


def _print_facts(content: Mapping[str, Any]) -> None:
    """Everything that is no list of rows."""
    found = [f"{_name(key)} {_cell(key, value)}" for key, value in content.items() if not _is_rows(value)]
    if found:
        say(", ".join(found))


def _print_rows(rows: Sequence[Mapping[str, Any]]) -> None:
    """A table; rows that have rows themselves are headings of tables."""
    if not any(_is_rows(value) for row in rows for value in row.values()):
        _print_table(rows)
        return
    for row in rows:
        _print_facts(row)
        for value in row.values():
            if _is_rows(value):
                _print_rows(value)


def _print_table(rows: Sequence[Mapping[str, Any]]) -> None:
    names = list(dict.fromkeys(key for row in rows for key in row))
    table = Table(box=box.SIMPLE, pad_edge=True)
    for name in names:
        # What stands on the right is never broken: numbers, and ids, which are to be copied.
        whole = name.endswith("_id") or all(type(row.get(name)) in (int, float) for row in rows)
        table.add_column(Text(visible(_name(name))), justify="right" if whole else "left")
    for row in rows:
        table.add_row(*(Text(visible(_cell(name, row[name]) if name in row else "")) for name in names))
    show(console(), table)


def _is_rows(value: Any) -> bool:
    return isinstance(value, list) and bool(value) and all(isinstance(item, dict) for item in value)


def _name(key: str) -> str:
    return key.removeprefix("has_").replace("_", " ")


def _cell(name: str, value: Any) -> str:
    """A value on one line; prices, which are dollars, with their cents."""
    if value is None:
        return "–"
    if isinstance(value, bool):
        return "yes" if value else "no"
    if isinstance(value, int | float) and "price" in name:
        return f"{value:,.2f}"
    if isinstance(value, dict):
        if all(part in value for part in _FLIGHT):
            return f"{value['flight']} {value['departs_at']}–{value['arrives_at']}"
        return "(" + ", ".join(f"{_name(str(key))} {_cell(str(key), item)}" for key, item in value.items()) + ")"
    if isinstance(value, list):
        return " ".join(_cell(name, item) for item in value) if value else "–"
    return str(value)
