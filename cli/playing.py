"""`cobench play`: a person takes the agent's place in the terminal."""

from __future__ import annotations

import sys
from collections.abc import Iterator
from pathlib import Path
from typing import TYPE_CHECKING

import rich_click as click

from .cases import opened_case
from .common import COUNT, SEED, say, visible

if TYPE_CHECKING:
    from ..agent_runner.env import Env
    from ..agent_runner.play import Action, Commands, Recommend, Say

PROMPT = "> "
LONGEST = 1 << 20  # bytes of a line
_PATH = click.Path(path_type=Path)


@click.command()
@click.argument("what", metavar="TASK|SUITE[:ID]")
@click.option("--seed", type=SEED, default=0, show_default=True, help="Of the user, and of the task if none is named.")
@click.option("--turns", type=COUNT, default=30, show_default=True, help="Most messages of the user.")
@click.option("--out", type=_PATH, metavar="FILE", help="Write the record of the conversation there, as JSON.")
@click.option("-q", "--quiet", is_flag=True, help="No progress.")
def play(what: str, seed: int, turns: int, out: Path | None, quiet: bool) -> int:
    """Talk with the simulated user yourself: find offers with the tools, recommend some, and see how good they are.

    TASK is a file, which is certified first; SUITE a name or a folder with a tasks.json, of which the seed picks a task
    unless its ID is given. `help` says what can be typed; all is scored as an agent's conversation would be.

    \b
    cobench play compass
    cobench play tasks/parks/parks-1-01-southwest-fixed-dates.yaml --out me.json
    """
    from ..agent_runner.env import Env, EnvLimits
    from ..agent_runner.play import Commands
    from ..schemas.files import write_atomically

    case = opened_case(what, seed, out, quiet)
    env = Env.of(case, agent="human", seed=seed, mode="human", limits=EnvLimits(turns))
    commands = Commands(env.tools(), tuple(case.problem.choices))
    _talk(env, commands)
    if out is not None:
        write_atomically(out, env.episode().to_bytes())
        say(f"conversation written: {out}", err=True)
    return 0


def _talk(env: Env, commands: Commands) -> None:
    """The conversation, until it is over or no line is left to be read; then what came of it."""
    from ..agent_runner.play import Quit
    from ..schemas.episode import Ended
    from .play_display import print_end, print_user

    print_user(env.turn, env.message)
    say("help says what you can type")
    for line in _lines(commands):
        action = commands.read(line)
        if isinstance(action, Quit):
            break
        if action is not None and _done(env, commands, action):
            break
    env.stop(Ended.LEFT)
    print_end(env)


def _done(env: Env, commands: Commands, action: Action) -> bool:
    """Does what was asked for; whether the conversation is over then."""
    from ..agent_runner.play import Again, Call, Help, Recommend, Say, Wrong
    from .play_display import print_help, print_result, print_user

    match action:
        case Wrong(reason, hint):
            say(reason + (f"; {hint}" if hint else ""))
        case Help(tool):
            print_help(commands, tool)
        case Call(tool, arguments):
            print_result(env.call(tool, arguments))
        case Again():
            print_user(env.turn, env.message)
        case Recommend() | Say():
            return _submitted(env, action)
        case _:
            pass
    return False


def _submitted(env: Env, reply: Recommend | Say) -> bool:
    """Gives a reply to the user, unless it recommends what there is not; whether the conversation is over then."""
    from ..agent_runner.play import RECOMMENDING, Recommend
    from .play_display import print_result, print_user

    if fault := env.fault_of(reply.text()):
        say(fault)
        return False
    if isinstance(reply, Recommend):
        problem = env.case.problem
        for choice, ids in reply.ids.items():
            table = problem.world.tables[problem.choices[choice]].base
            result = env.call(RECOMMENDING[table], {"ids": list(ids), "reasoning": reply.message})
            if result.fault is not None:
                print_result(result)
                return False
    env.submit(reply.text())
    if env.user_reply() is None:
        return True
    print_user(env.turn, env.message)
    return False


def _lines(commands: Commands) -> Iterator[str]:
    """What is typed, with completion, or what is piped in, shown as it is read."""
    if sys.stdin is None:
        return
    if sys.stdin.isatty():
        _complete(commands)
        while True:
            try:
                yield input(PROMPT)
            except EOFError:
                return
            except UnicodeDecodeError:
                say("this is no text")
    while content := sys.stdin.buffer.readline(LONGEST):
        line = content.decode("utf-8", errors="replace").rstrip("\r\n")
        say(PROMPT + line)
        yield line


def _complete(commands: Commands) -> None:
    """Completion of names of commands, tools and parameters with the tab key, where Python has readline."""
    try:
        import readline
    except ImportError:
        return

    def complete(_text: str, number: int) -> str | None:
        line = readline.get_line_buffer()[: readline.get_endidx()]
        found = commands.completions(line)
        return visible(found[number]) if number < len(found) else None

    readline.set_completer(complete)
    readline.set_completer_delims(" ")
    readline.parse_and_bind("tab: complete")
