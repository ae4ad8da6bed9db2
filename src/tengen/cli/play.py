"""`tengen play`: a person against an agent, or two agents, in the terminal."""

from __future__ import annotations

import contextlib
import random
import secrets
from dataclasses import replace
from enum import StrEnum
from pathlib import Path
from typing import TYPE_CHECKING, Annotated

import typer

from tengen.errors import InputError, RecordError

if TYPE_CHECKING:
    from tengen.cli.terminal import Player
    from tengen.core.contracts import Ruleset
    from tengen.core.opening_procedure import OpeningState

PERSON = "person"
DEFAULT_AGENT = "rule-based"
DEFAULT_RULES = "15x15:5:freestyle"


class Side(StrEnum):
    """Where the person sits."""

    BLACK = "black"
    WHITE = "white"
    RANDOM = "random"


def register(app: typer.Typer) -> None:
    """Add the subcommand."""

    @app.command("play")
    def play(
        agent: Annotated[
            str | None, typer.Argument(help=f"Your opponent (see `tengen agents`); {DEFAULT_AGENT} unless told.")
        ] = None,
        rules: Annotated[
            str | None, typer.Option(help=f"What is played, such as 15x15:5:renju; {DEFAULT_RULES} unless told.")
        ] = None,
        side: Annotated[
            Side | None, typer.Option(help="Your colour; under an opening procedure, black puts the first stones.")
        ] = None,
        black: Annotated[str | None, typer.Option(help=f"Who plays black: an agent, or `{PERSON}`.")] = None,
        white: Annotated[str | None, typer.Option(help=f"Who plays white: an agent, or `{PERSON}`.")] = None,
        time_ms: Annotated[int, typer.Option(min=1, help="Milliseconds an agent may think about a move.")] = 2000,
        load: Annotated[Path | None, typer.Option(help="Go on with the first game of this file.")] = None,
        save: Annotated[Path | None, typer.Option(help="Write the game to this file at its end.")] = None,
        seed: Annotated[int | None, typer.Option(help="Makes random choices repeatable.")] = None,
        terminal: Annotated[bool, typer.Option("--terminal", help="Play here in the terminal (always so).")] = False,
    ) -> None:
        """Play against an agent, or watch two agents play (--black … --white …). `help` at the prompt says more."""
        from rich.console import Console

        from tengen.cli.terminal import TerminalGame
        from tengen.core.contracts import Limits
        from tengen.core.opening_procedure import Seat

        _check_save(save)
        rng = random.Random(secrets.randbits(64) if seed is None else seed)
        texts = _player_texts(agent, side, black, white, rng)
        opening = _load(load, rules) if load is not None else _start(rules)
        with contextlib.ExitStack() as closing:
            players = [_make_player(text, opening.position.ruleset, rng, closing) for text in texts]
            seats = dict(zip((Seat.PROPOSER, Seat.CHOOSER), players, strict=True))
            game = TerminalGame(Console(), opening, seats, Limits(time_ms=time_ms), rng)
            try:
                game.run()
            finally:
                if save is not None:
                    game.save(save)


def _player_texts(
    agent: str | None, side: Side | None, black: str | None, white: str | None, rng: random.Random
) -> tuple[str, str]:
    """Who plays black and who white, as agent texts or PERSON."""
    if black is not None or white is not None:
        if agent is not None or side is not None:
            raise InputError("say who plays either by AGENT and --side or by --black and --white, not by both")
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
    """An error for a file that cannot hold the game, before it is played; None is no file."""
    from tengen.cli.output import check_writable
    from tengen.records import format_of

    if path is not None:
        entry = format_of(path)
        if entry.write is None:
            raise RecordError(f"{path}: {entry.title} ({entry.name}) can be read but not written")
        check_writable(path)


def _start(rules: str | None) -> OpeningState:
    from tengen.core.contracts import Ruleset
    from tengen.core.opening_procedure import OpeningState

    return OpeningState.start(Ruleset.parse(rules or DEFAULT_RULES))


def _load(path: Path, rules: str | None) -> OpeningState:
    """The first game of a file, its opening taken as done; `rules` fills in what the file does not say."""
    from tengen import records
    from tengen.core.contracts import Ruleset
    from tengen.core.opening_procedure import Done, OpeningState, Seat

    ruleset = None if rules is None else Ruleset.parse(rules)
    record = next(iter(records.iterate(path, ruleset=ruleset)), None)
    if record is None:
        raise RecordError(f"{path}: no game in it")
    if ruleset is not None and replace(record.ruleset, opening=ruleset.opening) != ruleset:
        raise InputError(f"{path} is a game of {record.ruleset}, not of {ruleset}: leave out --rules")
    return OpeningState(record.position(), Done(Seat.PROPOSER))
