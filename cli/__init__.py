"""The `cobench` command. What a command needs is imported inside it, so that help and completion stay quick."""

from __future__ import annotations

import gc
import io
import os
import re
import signal
import sys
from collections.abc import Sequence
from importlib import import_module

import rich_click as click
from click.exceptions import Exit

from ..schemas.errors import CobenchError
from ..schemas.version import VERSION
from .common import internal_error, say, visible

INTERRUPTED = 130

click.rich_click.COMMAND_GROUPS = {
    "cobench": [
        {"name": "Certify and score", "commands": ["verify", "check", "score", "report", "solve", "prove"]},
        {"name": "Ask about all plans", "commands": ["rank", "best", "explain", "diff"]},
        {"name": "Agents", "commands": ["run", "play", "compare", "mcp"]},
        {"name": "Judge tasks", "commands": ["audit", "harden"]},
        {"name": "Thousands of tasks", "commands": ["certify", "merge"]},
        {"name": "Write tasks and data", "commands": ["init", "convert", "tasks", "schema", "data", "completion"]},
    ]
}


# The module in which each command is: importing all of them takes longer than some of them run.
_HOMES = {
    "verify": "verification", "check": "certificates", "score": "plans", "solve": "plans", "prove": "proving",
    "rank": "ranking", "best": "ranking", "explain": "explaining", "diff": "comparing", "report": "reporting",
    "compare": "comparing_runs", "audit": "auditing",
    "harden": "auditing", "certify": "suite", "merge": "suite", "init": "files", "schema": "files", "data": "data",
    "completion": "files", "convert": "converting", "run": "running", "play": "playing", "mcp": "mcp", "tasks": "tasks",
}  # fmt: skip


class _Commands(click.RichGroup):
    """Imports a command when somebody asks for it, or for the list of all."""

    def parse_args(self, ctx: click.Context, args: list[str]) -> list[str]:
        """The arguments; a usage error for an empty one, which as a path would be the current folder."""
        empty = next((arg for arg in args if not arg or re.fullmatch("--[a-z-]+=", arg)), None)
        if empty is not None and not ctx.resilient_parsing:
            raise click.UsageError(f"{empty.rstrip('=') or 'an argument'} is empty", ctx)
        return super().parse_args(ctx, args)

    def list_commands(self, ctx: click.Context) -> list[str]:
        """All names."""
        for name in _HOMES:
            self.get_command(ctx, name)
        return super().list_commands(ctx)

    def get_command(self, ctx: click.Context, cmd_name: str) -> click.Command | None:
        """The command with a name."""
        if cmd_name in _HOMES and cmd_name not in self.commands:
            self.add_command(getattr(import_module(f".{_HOMES[cmd_name]}", __name__), cmd_name))
        return super().get_command(ctx, cmd_name)


@click.group(cls=_Commands, context_settings={"help_option_names": ["-h", "--help"]})
@click.version_option(VERSION, prog_name="cobench")
def cobench() -> None:
    """Exact optima, counts and solvability certificates for planning tasks.

    \b
    cobench verify tasks/parks              certify every task in a folder
    cobench score task.yaml plan.yaml       how good is this plan, exactly
    cobench explain task.yaml               what binds, or why there is no plan

    Exit codes: 0 as expected; 1 verified, but not as expected; 2 usage or invalid file; 3 undecided;
    4 engines or checker disagree; 70 a fault of cobench itself; 130 interrupted.
    """


def main(args: Sequence[str] | None = None) -> None:
    """Runs the command line and exits with its code; a fault of the input never shows a traceback."""
    # What a command makes mostly lives until it ends: looking for cycles every 700 objects is a tenth of a short one,
    # and every 50,000 still a thirtieth.
    gc.set_threshold(250_000, 20, 20)
    # No plugin of pydantic that happens to be installed takes part in reading a file; looking for them takes time, too.
    os.environ.setdefault("PYDANTIC_DISABLE_PLUGINS", "__all__")
    # Nothing here multiplies matrices, so that numpy need not start threads for it.
    os.environ.setdefault("OPENBLAS_NUM_THREADS", "1")
    code = run(args)
    gc.freeze()  # nor is anything searched while the interpreter ends
    sys.exit(code)


def run(args: Sequence[str] | None = None) -> int:
    """Runs the command line and returns its exit code."""
    _prepare_streams()
    try:
        result = cobench.main(args=list(args) if args is not None else None, prog_name="cobench", standalone_mode=False)
        sys.stdout.flush()
    except Exit as stop:
        return stop.exit_code
    except click.ClickException as fault:
        vars(fault)["message"] = visible(fault.message)
        fault.show()
        return 2
    except CobenchError as fault:
        say(str(fault), err=True)
        return fault.exit_code
    except SystemExit as stop:  # rich-click ends so after usage without a command, and when stdout is closed
        return _broken_pipe() if isinstance(stop.__context__, BrokenPipeError) else int(stop.code or 0)
    except (KeyboardInterrupt, click.Abort):
        print("interrupted", file=sys.stderr)
        return INTERRUPTED
    except BrokenPipeError:
        return _broken_pipe()
    except OSError as fault:
        print(f"error: {os.strerror(fault.errno) if fault.errno else fault}", file=sys.stderr)
        return 2
    except MemoryError:
        print("error: out of memory", file=sys.stderr)
        return 3
    except Exception as fault:  # noqa: BLE001 - a fault of cobench itself must not look like a verdict
        return internal_error(fault)
    return int(result or 0)


def _prepare_streams() -> None:
    """Output may be closed, or not know our characters; neither is a reason to fail."""
    if sys.stdout is None:
        sys.stdout = open(os.devnull, "w", encoding="utf-8")  # noqa: SIM115, PTH123 - stays open as long as we run
    if sys.stderr is None:
        sys.stderr = open(os.devnull, "w", encoding="utf-8")  # noqa: SIM115, PTH123
    for stream in (sys.stdout, sys.stderr):
        if isinstance(stream, io.TextIOWrapper):
            stream.reconfigure(errors="replace")


def _broken_pipe() -> int:
    """The reader of our output went away, as `head` does: nothing more can be said to it."""
    os.dup2(os.open(os.devnull, os.O_WRONLY), sys.stdout.fileno())
    return 128 + signal.SIGPIPE
