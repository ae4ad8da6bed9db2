"""A game at the keyboard: prompts, commands, the board after every move. What `tengen play` runs.

No rules here: positions and opening states say what may be played, and their errors are shown as they are.
"""

from __future__ import annotations

import datetime
import random
from collections.abc import Callable, Mapping
from dataclasses import dataclass
from pathlib import Path

from rich.console import Console

from tengen import records
from tengen.agents.opening_choices import choose_action
from tengen.agents.registry import make_agent
from tengen.cli.drawing import can_show_colour, draw_board
from tengen.core.contracts import Agent, Colour, Decision, Limits, Outcome
from tengen.core.geometry import Point
from tengen.core.opening_procedure import OpeningState, Option, Seat
from tengen.errors import TengenError

_MAX_LINE = 500
"""Longer lines were not typed by a person; they are refused before their text is repeated in a message."""
_HINT_AGENT = "rule-based"
"""Who is asked for a hint when no agent plays."""


@dataclass(frozen=True)
class Player:
    """Who sits in a seat: an agent, or a person at the keyboard when there is none."""

    name: str
    agent: Agent | None = None


@dataclass(frozen=True)
class _Command:
    run: Callable[[str], None]
    usage: str
    help: str


class TerminalGame:
    """One game between two players, at least one of whom may be a person.

    A person who is asked types a move, an option of the opening, or a command (`help` lists them). Ends by itself when
    no person plays; otherwise the person may still take back or save after the end, and leaves with `quit` or the end
    of the input.
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
        self._announced_end = False
        self._leaving = False
        self._commands = {
            "undo": _Command(self._undo, "undo", "take back to your last move"),
            "hint": _Command(self._hint, "hint [AGENT]", "ask the other player, or the agent you name, for a move"),
            "resign": _Command(self._resign, "resign", "give up"),
            "save": _Command(self._save, "save FILE", "write the game; the ending says the format"),
            "board": _Command(lambda _: self._show_board(), "board", "draw the board again"),
            "moves": _Command(self._show_moves, "moves", "list the moves so far"),
            "help": _Command(self._help, "help", "show this"),
            "quit": _Command(self._quit, "quit", "leave the game"),
        }

    # -- the course of the game ------------------------------------------------------------------------------------

    def run(self) -> None:
        """Play until the game is over and nobody wants to go on, or the person leaves."""
        self._show_board()
        while not self._leaving and (self._has_person or not self._is_over):
            self._advance()
        self._announce_end()

    def save(self, path: str | Path) -> None:
        """Write the game so far; the file's ending says the format."""
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
        """Why the game ended, in the words of game records; empty while it goes on."""
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
        if self._resigned is not None:
            return Outcome.win_for(self._resigned.opponent)
        return self._position.outcome

    @property
    def _has_person(self) -> bool:
        return any(player.agent is None for player in self._seats.values())

    def _player(self, colour: Colour) -> Player:
        return self._seats[next(seat for seat in Seat if self._opening.colour_of(seat) is colour)]

    def _advance(self) -> None:
        """Let whoever is due do one thing."""
        if self._is_over:
            self._announce_end()
            self._obey(self._read("game over> "))
        elif self._opening.seat is not None:
            self._advance_opening(self._opening.seat)
        else:
            player = self._player(self._position.to_move)
            if player.agent is None:
                self._obey(self._read(f"{self._position.to_move}> "))
            else:
                self._let_play(player, player.agent)

    def _advance_opening(self, seat: Seat) -> None:
        player = self._seats[seat]
        if player.agent is not None:
            self._act(choose_action(player.agent, self._opening, self._limits, self._rng))
            return
        self._say(str(self._opening))
        self._obey(self._read(f"{seat}> "))

    def _act(self, action: Point | Option | str) -> None:
        """One action of the opening."""
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

    def _let_play(self, player: Player, agent: Agent) -> None:
        decision = agent.choose(self._position, self._limits)
        self._say(f"{self._position.to_move} ({player.name}) plays {_describe(decision)}")
        self._position = self._position.play(decision.move)
        if self._has_person or self._console.is_terminal:
            self._show_board()

    # -- what the person types -------------------------------------------------------------------------------------

    def _read(self, prompt: str) -> str:
        """A line of input; its end and Ctrl-C are as good as `quit`."""
        try:
            return input(prompt).strip()
        except (EOFError, KeyboardInterrupt):
            self._say("")
            return "quit"

    def _obey(self, line: str) -> None:
        """Run a command or play a move; what cannot be done is explained and nothing has changed."""
        if not line:
            return
        if len(line) > _MAX_LINE:
            self._complain(f"that line has {len(line)} characters; a move such as h8 has two or three")
            return
        word, _, rest = line.partition(" ")
        command = self._commands.get({"?": "help", "exit": "quit"}.get(word.lower(), word.lower()))
        try:
            if command is not None:
                command.run(rest.strip())
            elif self._is_over:
                self._complain(f"the game is over; {line!r} is no command (undo, save FILE, moves, board, quit)")
            elif self._opening.is_done:
                self._position = self._position.play(line)
                self._show_board()
            else:
                self._act(line.lower())
        except TengenError as error:
            # The rest of the message draws the position, which the person has before them.
            self._complain(f"{str(error).partition(chr(10))[0]} (help lists the commands)")

    def _undo(self, _: str) -> None:
        if self._resigned is not None:
            self._resigned = None
            self._announced_end = False
            self._say("you play on")
            return
        if not (self._undo_moves() or self._undo_opening()):
            self._complain("there is no move of yours to take back")
            return
        self._announced_end = False
        self._show_board()

    def _undo_moves(self) -> bool:
        """Back to the last position of the game in which a person was to move, if there is one."""
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
        """Back to the last action of a person in the opening."""
        for place in range(len(self._openings) - 2, -1, -1):
            seat = self._openings[place].seat
            if seat is not None and self._seats[seat].agent is None:
                del self._openings[place + 1 :]
                self._position = self._opening.position
                return True
        return False

    def _hint(self, agent_text: str) -> None:
        if self._is_over or not self._opening.is_done:
            self._complain("hints are for moves, and none is due")
            return
        if agent_text:
            with make_agent(agent_text) as helper:
                self._suggest(helper)
            return
        other = next((player.agent for player in self._seats.values() if player.agent is not None), None)
        self._suggest(other or make_agent(_HINT_AGENT))

    def _suggest(self, helper: Agent) -> None:
        decision = helper.choose(self._position, self._limits)
        self._say(f"{helper.name} would play {_describe(decision)}")

    def _resign(self, _: str) -> None:
        if self._is_over or not self._opening.is_done:
            self._complain("there is no game to resign")
            return
        self._resigned = self._position.to_move

    def _save(self, path: str) -> None:
        if not path:
            self._complain("save where? (save FILE, such as save game.sgf)")
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

    # -- what the person sees --------------------------------------------------------------------------------------

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
        if self._resigned is not None:
            return f"{winner.opponent} resigned"
        if self._position.winning_line:
            return " ".join(self._position.winning_line)
        return f"every point left is forbidden for {winner.opponent}"

    def _say(self, text: str) -> None:
        self._console.print(text, markup=False, highlight=False, soft_wrap=True)

    def _complain(self, text: str) -> None:
        self._console.print(text, markup=False, highlight=False, soft_wrap=True, style="red")


def _describe(decision: Decision) -> str:
    """The move with what the agent thinks of it, if it thinks anything."""
    thoughts = []
    if decision.proof is not None:
        thoughts.append(str(decision.proof))
    elif decision.value_to_move is not None:
        thoughts.append(f"value {decision.value_to_move:+.2f}")
    if len(decision.line) > 1:
        thoughts.append("line " + " ".join(decision.line[:8]))
    return f"{decision.move} ({', '.join(thoughts)})" if thoughts else str(decision.move)
