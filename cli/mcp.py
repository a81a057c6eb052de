"""`cobench mcp`: the tools of one task for any client of the Model Context Protocol."""

from __future__ import annotations

from pathlib import Path

import rich_click as click

from .cases import opened_case
from .common import SEED, require_agents, say

_PATH = click.Path(path_type=Path)


@click.command()
@click.argument("what", metavar="TASK|SUITE[:ID]")
@click.option("--out", type=_PATH, metavar="FILE", help="Write the record there when the client is gone, as JSON.")
@click.option(
    "--agent", default="mcp", show_default=True, metavar="NAME", help="What the agent is called in the record."
)
@click.option("--seed", type=SEED, default=0, show_default=True, help="Of the task, if none is named.")
@click.option("-q", "--quiet", is_flag=True, help="No progress.")
def mcp(what: str, out: Path | None, agent: str, seed: int, quiet: bool) -> int:
    """Serve the tools of a task on stdin and stdout, for a client of the Model Context Protocol (MCP).

    TASK is a file, which is certified first; SUITE a name or a folder with a tasks.json. The client gets the eighteen
    tools and a prompt `task` with all that the user wants; what it last passes through the recommend tools is its
    recommendation. When it disconnects, that is scored.

    \b
    cobench mcp compass:ID --out record.json
    claude mcp add trip -- cobench mcp compass:ID --out record.json
    """
    require_agents("cobench mcp", "anyio", "mcp")
    from ..agent_runner.mcp.server import serve
    from ..agent_runner.mcp.session import Session
    from ..agent_runner.tools.catalogue import catalogue_of
    from ..agent_runner.tools.toolbox import Toolbox
    from ..schemas.files import write_atomically

    case = opened_case(what, seed, out, quiet)
    session = Session(case, Toolbox(catalogue_of(case.dataset)), agent, seed)
    serve(session)
    episode = session.finish()
    if out is not None:
        write_atomically(out, episode.to_bytes())
    say(f"{episode.verdict.kind}: {len(episode.calls)} calls" + (f", record written: {out}" if out else ""), err=True)
    return 0
