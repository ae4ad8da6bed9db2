"""`tengen brain`, also installed as `pbrain-tengen`: serve a player to Piskvork, Yixin-Board or a Gomocup manager."""

from __future__ import annotations

import contextlib
import io
import os
import warnings
from collections.abc import Callable
from typing import Annotated

import typer

from tengen.cli.command import Group, command
from tengen.cli.running import run_app

_EXAMPLES = """
    tengen brain                        # alphabeta for Piskvork and Yixin-Board
    tengen brain --agent naive:level=3  # a weaker player
    tengen brain --agent fudan --log traffic.txt
"""

AgentOption = Annotated[
    str, typer.Option("--agent", metavar="AGENT", help="Agent that plays, such as 'alphabeta' or 'naive:level=3'.")
]
LogOption = Annotated[str, typer.Option("--log", metavar="FILE", help="Append all traffic on the pipe to this file.")]

# Yixin-Board on Windows passes this option to every engine.
Utf8Option = Annotated[bool, typer.Option("--force-utf8", hidden=True)]


def register(app: typer.Typer) -> None:
    """Add the subcommand."""
    command(app, "brain", group=Group.PLAY, examples=_EXAMPLES)(serve)


def main() -> None:
    """Run `pbrain-tengen`."""
    app = typer.Typer(add_completion=False, pretty_exceptions_enable=False)
    command(app, "pbrain-tengen", examples=_EXAMPLES.replace("tengen brain", "pbrain-tengen"))(serve)
    run_app(app, "pbrain-tengen")


def serve(agent: AgentOption = "alphabeta", log: LogOption = "", force_utf8: Utf8Option = False) -> None:
    """Run as an engine on stdin and stdout: the Piskvork (Gomocup) protocol with Yixin-Board's extensions."""
    from tengen import __version__
    from tengen.agents.registry import make_agent, parse_agent
    from tengen.protocols.pipe import PipeLog
    from tengen.protocols.piskvork.brain import BrainServer
    from tengen.protocols.piskvork.notation import About

    # Report an invalid agent specification now; START creates the player later. Importing a third-party file may print
    # text, which must not reach the manager.
    with contextlib.redirect_stdout(io.StringIO()):
        parse_agent(agent)
    pipe_log = PipeLog(log) if log else None
    write = _claim_stdout(log)
    server = BrainServer(
        lambda: make_agent(agent),
        lambda: os.read(0, 65_536),
        write,
        about=About("Tengen", __version__, "The Tengen authors", "International"),
        log=pipe_log,
    )
    try:
        server.run()
    except KeyboardInterrupt:
        pass
    finally:
        # Exit now, even if a player is still searching: managers kill a brain that does not exit in time.
        os._exit(0)


def _claim_stdout(log: str) -> Callable[[bytes], None]:
    """Reserve stdout for the protocol and return a function that writes to it.

    Piskvork also reads answers from stderr, so all output of libraries and native code goes to the log file, or is
    discarded if there is no log file.
    """
    warnings.simplefilter("ignore")
    channel = os.dup(1)
    sink = os.open(log or os.devnull, os.O_WRONLY | (os.O_APPEND | os.O_CREAT if log else 0), 0o644)
    for stream in (1, 2):
        os.dup2(sink, stream)
    os.close(sink)

    def write(data: bytes) -> None:
        while data:
            data = data[os.write(channel, data) :]

    return write
