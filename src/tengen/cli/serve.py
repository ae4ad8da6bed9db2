"""`tengen serve`: serve the board in the browser."""

from __future__ import annotations

from pathlib import Path
from typing import Annotated

import typer

from tengen.cli.command import Group, command

_EXAMPLES = """
    tengen serve                        # on this machine, and open a browser
    tengen serve --port 9000 --no-open  # another port, no browser
    tengen serve --host 0.0.0.0 --allow-host lab.example
    tengen serve --agents mybot.py      # your own agents, too
"""
DEFAULT_PORT = 8080


def register(app: typer.Typer) -> None:
    """Add the subcommand."""

    @command(app, "serve", group=Group.PLAY, examples=_EXAMPLES)
    def serve(
        host: Annotated[
            str,
            typer.Option(
                metavar="ADDRESS",
                help="Address to listen on. Other machines can reach the server only if you change this.",
            ),
        ] = "127.0.0.1",
        port: Annotated[
            int, typer.Option(min=0, max=65535, help="Port to listen on; 0 for any free port.")
        ] = DEFAULT_PORT,
        open_browser: Annotated[bool, typer.Option("--open/--no-open", help="Open a browser.")] = True,
        data: Annotated[
            Path | None,
            typer.Option(metavar="FOLDER", help="Folder for stored games (default: ~/.tengen).", show_default=False),
        ] = None,
        runs: Annotated[
            list[Path] | None,
            typer.Option(
                metavar="FOLDER",
                help="Folder with training runs and tournaments; repeatable (default: ./runs).",
                show_default=False,
            ),
        ] = None,
        allow_host: Annotated[
            list[str] | None,
            typer.Option(
                metavar="NAME", help="Additional host name by which browsers may reach the server; repeatable."
            ),
        ] = None,
        trust_proxy: Annotated[
            list[str] | None,
            typer.Option(
                metavar="ADDRESS",
                help="Address of a reverse proxy whose X-Forwarded-For header names the client; repeatable.",
            ),
        ] = None,
        agents: Annotated[
            list[str] | None,
            typer.Option(
                metavar="FILE",
                help="Python file with agents that browsers may use, as FILE.py or FILE.py:NAME; repeatable."
                " The server runs the code in the file.",
            ),
        ] = None,
        read_only: Annotated[
            bool,
            typer.Option(
                "--read-only",
                help="Do not let the browser start training runs and tournaments. This is always the case if the server"
                " listens on a non-loopback address.",
            ),
        ] = False,
        workers: Annotated[int, typer.Option(min=0, help="Number of search processes; 0 for one per core.")] = 0,
    ) -> None:
        """Serve the board in the browser: games, analysis, review, puzzles and the laboratory. Ctrl-C stops the server.

        Games are saved in the data folder.
        """
        from tengen.core.extras import needs_extra

        with needs_extra("tengen serve", "web"):
            from tengen.web.serving import run_server

        run_server(
            host=host,
            port=port,
            open_browser=open_browser,
            data=data or Path.home() / ".tengen",
            runs=tuple(runs or ()),
            hosts=tuple(allow_host or ()),
            proxies=tuple(trust_proxy or ()),
            agents=tuple(agents or ()),
            workers=workers,
            read_only=read_only,
        )
