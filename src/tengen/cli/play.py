"""`tengen play`: a game in the terminal, between a person and an agent or between two agents."""

from __future__ import annotations

import contextlib
import random
import secrets
import sys
from dataclasses import replace
from enum import StrEnum
from pathlib import Path
from typing import TYPE_CHECKING, Annotated, TextIO

import typer

from tengen.cli.command import Group, command
from tengen.cli.options import DEFAULT_RULES, DepthOption, NodesOption, SimulationsOption
from tengen.errors import InputError, RecordError

if TYPE_CHECKING:
    from tengen.cli.terminal import Player
    from tengen.core.contracts import Ruleset
    from tengen.core.opening_procedure import OpeningState

PERSON = "person"
DEFAULT_AGENT = "rule-based"
DEFAULT_TIME_MS = 2000
_EXAMPLES = """
    tengen play                                # you are black, against rule-based
    tengen play alphabeta --rules renju --side white --time-ms 5000
    tengen play --black alphabeta --white uct  # watch two agents
"""


class Side(StrEnum):
    """The person's colour."""

    BLACK = "black"
    WHITE = "white"
    RANDOM = "random"


def register(app: typer.Typer) -> None:
    """Add the subcommand."""

    @command(app, "play", group=Group.PLAY, examples=_EXAMPLES)
    def play(
        agent: Annotated[
            str | None, typer.Argument(help=f"Your opponent (see `tengen agents`; default: {DEFAULT_AGENT}).")
        ] = None,
        rules: Annotated[
            str | None,
            typer.Option(
                metavar="RULES",
                help=f"Rule (such as renju) or ruleset (such as 9x9:5:standard). Default: {DEFAULT_RULES}.",
            ),
        ] = None,
        side: Annotated[
            Side | None,
            typer.Option(help="Your colour (default: black); in an opening procedure, black places the first stones."),
        ] = None,
        black: Annotated[
            str | None, typer.Option(metavar="AGENT", help=f"Black player: an agent or `{PERSON}` (default: {PERSON}).")
        ] = None,
        white: Annotated[
            str | None, typer.Option(metavar="AGENT", help=f"White player: an agent or `{PERSON}` (default: {PERSON}).")
        ] = None,
        time_ms: Annotated[
            int | None,
            typer.Option(
                min=1, help=f"Milliseconds per move for agents (default: {DEFAULT_TIME_MS} if no other limit is set)."
            ),
        ] = None,
        depth: DepthOption = None,
        nodes: NodesOption = None,
        simulations: SimulationsOption = None,
        load: Annotated[Path | None, typer.Option(help="Continue the first game of this file.")] = None,
        save: Annotated[Path | None, typer.Option(help="Save the game to this file when it ends.")] = None,
        seed: Annotated[int | None, typer.Option(help="Seed for all random choices (default: a random seed).")] = None,
        terminal: Annotated[
            bool, typer.Option("--terminal", hidden=True)  # the default; kept for scripts
        ] = False,
    ) -> None:
        """Play against an agent, or watch two agents play (--black … --white …). Type `help` at the prompt."""
        from rich.console import Console

        from tengen.cli.terminal import TerminalGame
        from tengen.core.contracts import Limits
        from tengen.core.opening_procedure import Seat

        if time_ms is depth is nodes is simulations is None:
            time_ms = DEFAULT_TIME_MS
        _check_save(save)
        rng = random.Random(secrets.randbits(64) if seed is None else seed)
        texts = _player_texts(agent, side, black, white, rng)
        check_input(texts, sys.stdin)
        opening = _load(load, rules) if load is not None else _start(rules)
        with contextlib.ExitStack() as closing:
            players = [_make_player(text, opening.position.ruleset, rng, closing) for text in texts]
            seats = dict(zip((Seat.PROPOSER, Seat.CHOOSER), players, strict=True))
            limits = Limits(time_ms=time_ms, depth=depth, nodes=nodes, simulations=simulations)
            game = TerminalGame(Console(markup=False), opening, seats, limits, rng)
            try:
                game.run()
            finally:
                if save is not None:
                    game.save(save)
            if game.has_failed_agent:
                raise typer.Exit(1)


def check_input(texts: tuple[str, str], stream: TextIO | None) -> None:
    """Raise `InputError` if a person plays and standard input is closed (`stream` is None)."""
    if PERSON in texts and stream is None:
        raise InputError(
            "standard input is closed, so you cannot type moves: run the command in a terminal, or watch two agents"
            " with --black AGENT --white AGENT"
        )


def _player_texts(
    agent: str | None, side: Side | None, black: str | None, white: str | None, rng: random.Random
) -> tuple[str, str]:
    """Return the black and the white player, each as an agent specification or PERSON."""
    if black is not None or white is not None:
        if agent is not None or side is not None:
            raise InputError("choose the players either with AGENT and --side or with --black and --white, not both")
        return black or PERSON, white or PERSON
    opponent = agent or DEFAULT_AGENT
    chosen = rng.choice((Side.BLACK, Side.WHITE)) if side is Side.RANDOM else side
    return (opponent, PERSON) if chosen is Side.WHITE else (PERSON, opponent)


def _make_player(text: str, ruleset: Ruleset, rng: random.Random, closing: contextlib.ExitStack) -> Player:
    from tengen.agents.registry import check_plays, make_agent
    from tengen.cli.terminal import Player

    if text == PERSON:
        return Player(PERSON)
    agent = closing.enter_context(make_agent(text))
    check_plays(agent, ruleset)
    agent.new_game(ruleset, rng.getrandbits(63))
    return Player(text, agent)


def _check_save(path: Path | None) -> None:
    """Raise `InputError` if the game cannot be saved to this file; None is ignored."""
    from tengen.cli.output import check_writable
    from tengen.records import format_of

    if path is not None:
        format_of(path).writer(path)
        check_writable(path)


def _start(rules: str | None) -> OpeningState:
    from tengen.core.contracts import Ruleset
    from tengen.core.opening_procedure import OpeningState

    return OpeningState.start(Ruleset.parse(rules or DEFAULT_RULES))


def _load(path: Path, rules: str | None) -> OpeningState:
    """Load the first game in a file, treating its opening as finished; `rules` applies if the file has no ruleset."""
    from tengen import records
    from tengen.core.contracts import Ruleset
    from tengen.core.opening_procedure import Done, OpeningState, Seat

    ruleset = None if rules is None else Ruleset.parse(rules)
    record = next(iter(records.iterate(path, ruleset=ruleset)), None)
    if record is None:
        raise RecordError(f"{path} contains no games")
    if ruleset is not None and replace(record.ruleset, opening=ruleset.opening) != ruleset:
        raise InputError(f"{path} contains a game with ruleset {record.ruleset}, not {ruleset}: omit --rules")
    return OpeningState(record.position(), Done(Seat.PROPOSER))
