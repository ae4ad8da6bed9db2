"""The interactive game of `tengen play`: prompts, commands, and the board after every move.

This module contains no rules. Positions and opening states check the moves, and their errors are shown to the user.
"""

from __future__ import annotations

import datetime
import random
from collections.abc import Callable, Mapping
from contextlib import AbstractContextManager, nullcontext, suppress
from dataclasses import dataclass
from pathlib import Path
from typing import TypeVar

from rich.console import Console

from tengen import records
from tengen.agents.opening_choices import choose_action
from tengen.agents.registry import make_agent
from tengen.cli.drawing import can_show_colour, draw_board
from tengen.cli.interruptible import BackgroundCall, run_interruptibly
from tengen.cli.running import is_terminated
from tengen.core.contracts import Agent, Colour, Decision, Limits, Outcome
from tengen.core.geometry import Point
from tengen.core.opening_procedure import OpeningState, Option, Seat
from tengen.core.plugins import describe_exception
from tengen.core.stop_signal import StopSignal
from tengen.errors import AgentError, TengenError

T = TypeVar("T")

_MAX_LINE = 500
"""Maximum number of characters on a line; longer lines are rejected and not quoted in the message."""
_HINT_AGENT = "rule-based"
"""Agent that gives hints if both players are people."""


@dataclass(frozen=True)
class Player:
    """A player: an agent, or a person at the keyboard if `agent` is None."""

    name: str
    agent: Agent | None = None


@dataclass(frozen=True)
class _Command:
    run: Callable[[str], None]
    usage: str
    help: str


class TerminalGame:
    """One game between two players, each a person or an agent.

    At the prompt, a person types a move, an opening option, or a command (`help` lists them). After the game, a
    person can still undo moves or save, and leaves with `quit` or by closing the input. A game between two agents
    returns when it is over.
    """

    def __init__(
        self, console: Console, opening: OpeningState, seats: Mapping[Seat, Player], limits: Limits, rng: random.Random
    ) -> None:
        self._console = console
        self._in_colour = can_show_colour(console)
        self._seats = seats
        self._limits = limits
        self._rng = rng
        self._openings = [opening]  # every state of the opening so far, for undo
        self._position = opening.position
        self._resigned: Colour | None = None
        self._failed: tuple[Colour, str] | None = None
        """Colour of the agent that failed, and its exception."""
        self._announced_end = False
        self._leaving = False
        self._commands = {
            "undo": _Command(self._undo, "undo", "take back your last move"),
            "hint": _Command(self._hint, "hint [AGENT]", "ask your opponent, or the agent you name, for a move"),
            "resign": _Command(self._resign, "resign", "give up the game"),
            "save": _Command(self._save, "save FILE", "save the game; the file extension selects the format"),
            "board": _Command(lambda _: self._show_board(), "board", "draw the board again"),
            "moves": _Command(self._show_moves, "moves", "list the moves so far"),
            "help": _Command(self._help, "help", "show this list"),
            "quit": _Command(self._quit, "quit", "leave the game"),
        }

    @property
    def has_failed_agent(self) -> bool:
        """Whether an agent failed and therefore lost the game."""
        return self._failed is not None

    # -- game loop -------------------------------------------------------------------------------------------------

    def run(self) -> None:
        """Play until the person leaves, or until the game is over if both players are agents."""
        self._show_board()
        while not self._leaving and (self._has_person or not self._is_over):
            self._advance()
        self._announce_end()

    def save(self, path: str | Path) -> None:
        """Save the game so far; the file extension selects the format."""
        records.save(path, [self._record()])

    def _record(self) -> records.GameRecord:
        start = self._position.undo(len(self._position.moves))
        names = [player.name for player in self._seats.values()]
        if self._opening.is_done:
            names = [self._player(colour).name for colour in (Colour.BLACK, Colour.WHITE)]
        record = records.GameRecord(
            ruleset=start.ruleset,
            black=names[0],
            white=names[1],
            result=self._outcome,
            result_reason=self._short_reason(),
            date=datetime.date.today().isoformat(),
        )
        node = record.root
        if start.stones:
            black, white = (tuple(start.points_of(colour)) for colour in (Colour.BLACK, Colour.WHITE))
            node.setup = records.Setup(black, white, to_move=start.to_move)
        for move in self._position.moves:
            node = node.play(move)
        return record

    def _short_reason(self) -> str:
        """Return the reason for the result, as used in game records; empty while the game is in progress."""
        if self._failed is not None:
            return "error"
        if self._resigned is not None:
            return "resignation"
        if self._position.winning_line:
            return "five"
        return "" if not self._is_over else "full board" if self._outcome is Outcome.DRAW else "foul"

    @property
    def _opening(self) -> OpeningState:
        return self._openings[-1]

    @property
    def _is_over(self) -> bool:
        return self._outcome is not Outcome.ONGOING

    @property
    def _outcome(self) -> Outcome:
        if self._failed is not None:
            return Outcome.win_for(self._failed[0].opponent)
        if self._resigned is not None:
            return Outcome.win_for(self._resigned.opponent)
        return self._position.outcome

    @property
    def _has_person(self) -> bool:
        return any(player.agent is None for player in self._seats.values())

    def _player(self, colour: Colour) -> Player:
        return self._seats[next(seat for seat in Seat if self._opening.colour_of(seat) is colour)]

    def _advance(self) -> None:
        """Run one action: a move, an opening action, or a command typed by the person."""
        if self._is_over:
            self._announce_end()
            self._run_line(self._read("game over> "))
        elif self._opening.seat is not None:
            self._advance_opening(self._opening.seat)
        else:
            player = self._player(self._position.to_move)
            if player.agent is None:
                self._run_line(self._read(f"{self._position.to_move}> "))
            else:
                self._play_agent_move(player, player.agent)

    def _advance_opening(self, seat: Seat) -> None:
        player = self._seats[seat]
        if player.agent is not None:
            agent, stop = player.agent, StopSignal()
            action = self._think(
                player, lambda: choose_action(agent, self._opening, self._limits, self._rng, stop), stop.set
            )
            if action is not None:
                self._apply_action(action)
            return
        self._say(str(self._opening))
        self._run_line(self._read(f"{seat}> "))

    def _apply_action(self, action: Point | Option | str) -> None:
        """Apply one opening action."""
        state = self._opening
        after = state.apply(action)
        self._openings.append(after)
        self._position = after.position
        assert state.seat is not None
        self._say(f"{self._seats[state.seat].name}: {after.taken[-1]}")
        if after.position.stones > state.position.stones:
            self._show_board()
        if after.is_done:
            black, white = self._player(Colour.BLACK).name, self._player(Colour.WHITE).name
            self._say(f"{black} plays black, {white} white")

    def _play_agent_move(self, player: Player, agent: Agent) -> None:
        mover = self._position.to_move
        try:
            search = agent.start(self._position, self._limits)
            decision = self._think(player, search.result, search.stop)
            if decision is None:
                return
            position = self._position.play(decision.move)
        except TengenError as error:
            self._failed = mover, str(error).partition("\n")[0]
            return
        self._say(f"{mover} ({player.name}) plays {_describe(decision)}")
        self._position = position
        if self._has_person or self._console.is_terminal:
            self._show_board()

    # -- waiting for an agent --------------------------------------------------------------------------------------

    def _think(self, player: Player, work: Callable[[], T], stop: Callable[[], None]) -> T | None:
        """Return the result of an agent's work; None if the person resigned or left in the meantime.

        Raises `AgentError` if the agent raises an exception.
        """
        call = BackgroundCall(work)
        while True:
            try:
                with self._thinking(player.name):
                    return call.wait()
            except KeyboardInterrupt:
                answer = self._ask_what_next()
            except TengenError:
                raise
            except Exception as error:
                raise AgentError(describe_exception(error)) from error
            if answer != "wait":
                stop()
            if answer == "resign":
                self._resigned = self._resigning_colour()
            if answer == "leave":
                self._leaving = True
            if answer in ("resign", "leave"):
                with suppress(Exception, KeyboardInterrupt):
                    call.wait()
                return None

    def _thinking(self, name: str) -> AbstractContextManager[object]:
        """Show that a player is thinking until the block ends, if the console is a terminal."""
        if not self._console.is_terminal:
            return nullcontext()
        return self._console.status(f"{name} is thinking (Ctrl-C to interrupt)", spinner="line")

    def _ask_what_next(self) -> str:
        """Ask the person how to proceed while an agent is thinking.

        Return "now" (stop thinking), "resign", "leave" or "wait".
        """
        if is_terminated():
            return "leave"
        words = {"n": "now", "r": "resign", "l": "leave", "w": "wait"}
        try:
            answer = input("\nplay [n]ow, [r]esign, [l]eave or [w]ait? ").strip().lower()
        except (EOFError, KeyboardInterrupt):
            return "leave"
        return words.get(answer[:1], "wait")

    def _resigning_colour(self) -> Colour | None:
        """Return the colour of the person, or the side to move if both or neither of the players are people."""
        if not self._opening.is_done:
            self._leaving = True  # neither player has a colour yet
            return None
        people = [colour for colour in Colour if self._player(colour).agent is None]
        return people[0] if len(people) == 1 else self._position.to_move

    # -- input -----------------------------------------------------------------------------------------------------

    def _read(self, prompt: str) -> str:
        """Read a line of input; the end of input and Ctrl-C count as `quit`."""
        try:
            return input(prompt).strip()
        except (EOFError, KeyboardInterrupt):
            self._say("")
            return "quit"

    def _run_line(self, line: str) -> None:
        """Run a command or play a move; on an error, print it and change nothing."""
        if not line:
            return
        if len(line) > _MAX_LINE:
            self._print_error(f"the line has {len(line)} characters; a move such as h8 has two or three")
            return
        word, _, rest = line.partition(" ")
        command = self._commands.get({"?": "help", "exit": "quit"}.get(word.lower(), word.lower()))
        try:
            if command is not None:
                command.run(rest.strip())
            elif self._is_over:
                self._print_error(f"the game is over; {line!r} is not a command (undo, save FILE, moves, board, quit)")
            elif self._opening.is_done:
                self._position = self._position.play(line)
                self._show_board()
            else:
                self._apply_action(line.lower())
        except TengenError as error:
            # The rest of the message is a drawing of the position, which is already on the screen.
            self._print_error(f"{str(error).partition(chr(10))[0]} (help lists the commands)")

    def _undo(self, _: str) -> None:
        if self._failed is not None:
            self._failed = None  # the agent tries again after the person's next move
        elif self._resigned is not None:
            self._resigned = None
            self._announced_end = False
            self._say("the game continues")
            return
        if not (self._undo_moves() or self._undo_opening()):
            self._print_error("you have no move to take back")
            return
        self._announced_end = False
        self._show_board()

    def _undo_moves(self) -> bool:
        """Go back to the last position in which a person was to move; return False if there is no such position."""
        if not self._opening.is_done:
            return False
        first = len(self._opening.position.moves) if len(self._openings) > 1 else 0
        for count in range(1, len(self._position.moves) - first + 1):
            before = self._position.undo(count)
            if self._player(before.to_move).agent is None:
                self._position = before
                return True
        return False

    def _undo_opening(self) -> bool:
        """Go back to just before a person's last opening action; return False if there is no such action."""
        for index in range(len(self._openings) - 2, -1, -1):
            seat = self._openings[index].seat
            if seat is not None and self._seats[seat].agent is None:
                del self._openings[index + 1 :]
                self._position = self._opening.position
                return True
        return False

    def _hint(self, agent_text: str) -> None:
        if self._is_over or not self._opening.is_done:
            self._print_error("no hint available: the game is over or in its opening procedure")
            return
        if agent_text:
            with make_agent(agent_text) as helper:
                self._suggest(helper)
            return
        other = next((player.agent for player in self._seats.values() if player.agent is not None), None)
        self._suggest(other or make_agent(_HINT_AGENT))

    def _suggest(self, helper: Agent) -> None:
        search = helper.start(self._position, self._limits)
        try:
            with self._thinking(helper.name):
                decision = run_interruptibly(search.result, search.stop)
        except TengenError:
            raise
        except Exception as error:
            raise AgentError(f"{helper.name} failed: {describe_exception(error)}") from error
        self._say(f"{helper.name} would play {_describe(decision)}")

    def _resign(self, _: str) -> None:
        if self._is_over or not self._opening.is_done:
            self._print_error("there is no game in progress to resign")
            return
        self._resigned = self._position.to_move

    def _save(self, path: str) -> None:
        if not path:
            self._print_error("save needs a file name, such as: save game.sgf")
            return
        self.save(path)
        self._say(f"saved {path}")

    def _show_moves(self, _: str) -> None:
        moves = self._position.moves
        self._say(" ".join(f"{number}.{move}" for number, move in enumerate(moves, 1)) or "no moves yet")

    def _help(self, _: str) -> None:
        self._say("A move is a column letter and a row number, such as h8. Commands:")
        for command in self._commands.values():
            self._say(f"  {command.usage:<14}{command.help}")

    def _quit(self, _: str) -> None:
        self._leaving = True

    # -- output ----------------------------------------------------------------------------------------------------

    def _show_board(self) -> None:
        self._console.print(draw_board(self._position, in_colour=self._in_colour))

    def _announce_end(self) -> None:
        if self._announced_end or not self._is_over:
            return
        self._announced_end = True
        if not self._has_person and not self._console.is_terminal:
            self._show_board()
        winner = self._outcome.winner
        if winner is None:
            self._say("draw: the board is full")
        else:
            self._say(f"{winner} ({self._player(winner).name}) wins: {self._end_reason(winner)}")

    def _end_reason(self, winner: Colour) -> str:
        if self._failed is not None:
            return f"{winner.opponent} ({self._player(winner.opponent).name}) failed: {self._failed[1]}"
        if self._resigned is not None:
            return f"{winner.opponent} resigned"
        if self._position.winning_line:
            return " ".join(self._position.winning_line)
        return f"only forbidden points are left for {winner.opponent}"

    def _say(self, text: str) -> None:
        self._console.print(text, markup=False, highlight=False, soft_wrap=True)

    def _print_error(self, text: str) -> None:
        self._console.print(text, markup=False, highlight=False, soft_wrap=True, style="red")


def _describe(decision: Decision) -> str:
    """Return the move and, in parentheses, the agent's value and expected line if it has them."""
    details = []
    if decision.proof is not None:
        details.append(str(decision.proof))
    elif decision.value_to_move is not None:
        details.append(f"value {decision.value_to_move:+.2f}")
    if len(decision.line) > 1:
        details.append("line " + " ".join(decision.line[:8]))
    return f"{decision.move} ({', '.join(details)})" if details else str(decision.move)
