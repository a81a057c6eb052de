"""What the commands share: finding files, JSON lines, progress on stderr, exit codes of many tasks."""

from __future__ import annotations

import glob
import json
import os
import re
import sys
import threading
import time
import traceback
from collections.abc import Callable, Generator, Iterable, Sequence
from contextlib import contextmanager
from importlib.util import find_spec
from pathlib import Path
from typing import TYPE_CHECKING, Any

import rich_click as click

from ..schemas.canonical import LARGEST
from ..schemas.errors import CobenchError, InputError, InputErrors

if TYPE_CHECKING:
    from rich.console import Console

# C0 and C1 controls but line end and tab, what turns the direction of writing, other line ends, and half characters.
_COMMANDS = r"[\x00-\x08\x0b-\x1f\x7f-\x9f\u061c\u200e\u200f\u2028-\u202e\u2066-\u2069\ud800-\udfff]"
_UNBOUNDED = 1_000_000  # characters in a line

DATA = click.option(
    "--data", metavar="DATASET", help="A bundled name or a folder, instead of the dataset that the task names."
)
SEED = click.IntRange(-LARGEST, LARGEST)  # what files hold as a number
COUNT = click.IntRange(1, LARGEST)
SEVERITY = (0, 3, 1, 4, 2, 70)  # of exit codes, worst last


def require_agents(command: str, *modules: str) -> None:
    """Raises InputError when one of these modules, which the extra `agents` brings, is not installed."""
    if not all(map(find_spec, modules)):
        raise InputError(
            f"{command} needs the extra: pip install 'cobench[agents]'", hint="from a clone: pip install '.[agents]'"
        )  # fmt: skip


def worst(codes: Iterable[int]) -> int:
    """The exit code of many tasks."""
    return max(codes, key=SEVERITY.index, default=0)


def find_files(patterns: Sequence[str], suffixes: tuple[str, ...], what: str) -> list[Path]:
    """Files, the files with such suffixes below folders, and what globs match: each once, in a stable order.

    A dataset.yaml below a folder is what tasks are about, and none itself.
    """
    found: dict[Path, None] = {}
    for pattern in patterns:
        path = Path(pattern)
        if path.is_dir():
            inside = sorted(
                item
                for item in path.rglob("*")
                if item.name.endswith(suffixes) and item.name != "dataset.yaml" and item.is_file()
            )
            if not inside:
                raise click.UsageError(f"the folder '{pattern}' holds no {what}")
            found.update(dict.fromkeys(inside))
        elif any(char in pattern for char in "*?[") and not path.exists():
            matches = sorted(Path(match) for match in glob.glob(pattern, recursive=True))  # noqa: PTH207 - may be absolute
            if not matches:
                raise click.UsageError(f"nothing matches '{pattern}'")
            found.update(dict.fromkeys(matches))
        else:
            found[path] = None
    return list(found)


def visible(text: str) -> str:
    """The text with what would command a terminal escaped as in Python: `\\x1b`, `\\u202e`."""
    return re.sub(_COMMANDS, lambda found: found[0].encode("unicode_escape").decode(), text)


def say(text: str, *, err: bool = False, end: str = "\n") -> None:
    """A text on stdout or stderr, nothing in it taken for a command to the terminal."""
    click.echo(visible(text) + end, err=err, nl=False)


def json_text(value: Any) -> str:
    """The JSON of a value, in letters; what would command a terminal is escaped as JSON does, so it reads the same."""
    text = json.dumps(value, ensure_ascii=False, sort_keys=True)
    return re.sub(_COMMANDS, lambda found: f"\\u{ord(found[0]):04x}", text)


def print_json(value: dict[str, Any]) -> None:
    """One line of JSON on stdout."""
    print(json_text(value), flush=True)


def error_texts(fault: CobenchError) -> list[str]:
    """The messages of an error, one per single error."""
    return [str(error) for error in fault.errors] if isinstance(fault, InputErrors) else [str(fault)]


def console(stderr: bool = False) -> Console:
    """A console that leaves colours out when nobody is looking, and gives a file or a pipe as much width as it needs.

    rich itself respects NO_COLOR and COLUMNS.
    """
    from .terminal import Terminal

    looking = (sys.stderr if stderr else sys.stdout).isatty()
    width = None if looking or os.environ.get("COLUMNS") else _UNBOUNDED
    return Terminal(stderr=stderr, soft_wrap=not looking, width=width)


class Telling:
    """Prints what is known of one task after the other, until that fails: nothing of it is the fault of a task.

    With `go_on` the fault is raised only by `end`, so that what else is to be written is; otherwise at once.
    """

    def __init__(self, go_on: bool = False) -> None:
        self._go_on = go_on
        self._fault: OSError | None = None

    def __call__(self, show: Callable[[], object]) -> int:
        """Calls what prints: 0, or 70 when that is not able to; OSError when the output is full or closed."""
        if self._fault is not None:
            return 0
        try:
            show()
            sys.stdout.flush()
        except OSError as fault:
            if not self._go_on:
                raise
            self._fault = fault
        except Exception as fault:  # noqa: BLE001 - one task must not take the others down
            return internal_error(fault)
        return 0

    def end(self) -> None:
        """Raises the fault, if there was one."""
        if self._fault is not None:
            raise self._fault


class Progress:
    """Tells on stderr what is going on, once it takes more than a second: a spinner, or a line now and then.

    Nothing may be printed while it runs; it leaves nothing behind.
    """

    def __init__(self, quiet: bool) -> None:
        self._quiet = quiet
        self._text, self._end = "", threading.Event()
        self._thread = threading.Thread(target=self._show, daemon=True)

    def begin(self, what: str) -> None:
        """A new step begins."""
        self._text = what

    def _show(self) -> None:
        if self._end.wait(1.0):
            return
        if not sys.stderr.isatty():
            started = time.monotonic()
            while not self._end.wait(10.0):
                print(f"{visible(self._text)} ({time.monotonic() - started:.0f} s)", file=sys.stderr, flush=True)
            return
        from rich.text import Text  # a spinner takes a str for markup, whatever its console does

        with console(stderr=True).status(Text(self._text)) as status:
            while not self._end.wait(0.2):
                status.update(Text(self._text))

    def start(self) -> None:
        """Begins to watch the clock."""
        if not self._quiet:
            self._thread.start()

    def stop(self) -> None:
        """Takes the spinner away."""
        self._end.set()
        if self._thread.is_alive():
            self._thread.join()


@contextmanager
def progress(quiet: bool = False) -> Generator[Progress]:
    """Progress that ends with the block."""
    shown = Progress(quiet)
    shown.start()
    try:
        yield shown
    finally:
        shown.stop()


def internal_error(fault: Exception) -> int:
    """Says that cobench is at fault, with the traceback that a report needs if COBENCH_DEBUG is set; the exit code."""
    if os.environ.get("COBENCH_DEBUG"):
        traceback.print_exception(fault)
    print(visible(f"internal error: {type(fault).__name__}: {fault}"), file=sys.stderr)
    print("hint: this is a fault of cobench; COBENCH_DEBUG=1 shows where", file=sys.stderr)
    return 70


def limit_memory(megabytes: int | None) -> None:
    """Makes allocations beyond the limit fail, so that they end as `unknown (memory limit)`."""
    if megabytes is not None:
        import resource

        size = megabytes << 20
        resource.setrlimit(resource.RLIMIT_AS, (size, resource.getrlimit(resource.RLIMIT_AS)[1]))
