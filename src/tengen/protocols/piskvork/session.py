"""One manager's session with the brain: the board, the settings, the player, and how a question becomes an answer.

The commands themselves are in `piskvork_brain` and `yixin_commands`; they work on a `Session`.
"""

from __future__ import annotations

import threading
import time
from collections.abc import Callable, Iterable

from tengen.core.contracts import Agent, Analysis, Decision, Rule
from tengen.core.geometry import Point
from tengen.core.position import Position
from tengen.protocols.pipe import PipeLog
from tengen.protocols.piskvork.board import BrainBoard
from tengen.protocols.piskvork.commands import Command
from tengen.protocols.piskvork.fallback import choose_fallback, nearest_point
from tengen.protocols.piskvork.notation import About, Field, parse_squares, square_of_point
from tengen.protocols.piskvork.report import describe_decision, describe_line, info_blocks, realtime_marks
from tengen.protocols.piskvork.settings import Budget, Settings
from tengen.protocols.piskvork.thinking import Order, Thinker, Thought, analyse_moves, choose_move

_SNAPSHOT_EVERY_S = 0.1
"""Snapshots of one depth are shown no faster than this."""
_REALTIME, _INFO = 1, 2


class Output:
    """The lines to the manager, flushed one by one; nothing is written any more once it is muted."""

    def __init__(self, write: Callable[[bytes], None], log: PipeLog | None = None) -> None:
        self._write = write
        self._log = log
        self.lock = threading.RLock()
        self.is_muted = False

    def say(self, line: str) -> None:
        """Write one line. A manager that is gone is told nothing; the reader notices its end."""
        text = "".join(letter if letter.isprintable() else " " for letter in line)
        with self.lock:
            if self.is_muted:
                return
            if self._log is not None:
                self._log.write("<-", text)
            try:
                self._write(text.encode("utf-8", "replace") + b"\n")
            except OSError:
                self.is_muted = True


class Session:
    """What the commands work on."""

    def __init__(self, make_agent: Callable[[], Agent], output: Output, about: About) -> None:
        self.about = about
        self.output = output
        self.settings = Settings()
        self.thinker = Thinker(make_agent)
        self.board: BrainBoard | None = None
        self.excluded: set[Point] = set()
        """Root moves that the user does not want to see."""
        self.games = 0
        self._last_answer = 0.0

    def say(self, line: str) -> None:
        """Write one line to the manager."""
        self.output.say(line)

    # -- the board -----------------------------------------------------------------------------------------------------

    def new_game(self, width: int, height: int) -> None:
        """An empty board of this size, and a player that has forgotten the last game."""
        self.board = BrainBoard(width, height)
        self.excluded.clear()
        self.games += 1

    def known_board(self) -> BrainBoard | None:
        """The board; without one the manager is told so."""
        if self.board is None:
            self.say("ERROR there is no board yet: send START first")
        return self.board

    def known_rule(self) -> Rule | None:
        """The rule in force; when the manager asked for one that Tengen does not know, it is told so."""
        if self.settings.rule is None:
            self.say(f"ERROR rule {self.settings.rule_number} is not supported (known: 0, 1, 2, 4, 8, 9)")
        return self.settings.rule

    def free_point(self, board: BrainBoard, text: str) -> Point | None:
        """The free point that `X,Y` names; otherwise the manager is told what is wrong."""
        point = self.named_point(board, text)
        if point is not None and not board.is_free(point):
            self.say(f"ERROR square {text} is taken")
            return None
        return point

    def named_point(self, board: BrainBoard, text: str) -> Point | None:
        """The point that `X,Y` names; otherwise the manager is told what is wrong."""
        squares = parse_squares(text)
        if squares is None or len(squares) != 1:
            self.say(f"ERROR X,Y expected, not {text[:40]!r}")
            return None
        point = board.point(*squares[0])
        if point is None:
            self.say(f"ERROR square {text[:40]} is off the {board.width}x{board.height} board")
        return point

    def set_up(self, board: BrainBoard, rows: tuple[str, ...]) -> None:
        """Put the rows of a BOARD block on the board; rows that cannot be used are passed over and named."""
        unused = board.set_up(rows)
        if unused:
            self.say(f"DEBUG {len(unused)} rows of the board passed over, the first is {unused[0][:40]!r}")

    # -- thinking ------------------------------------------------------------------------------------------------------

    def answer_with_move(self, command: Command, *, lines: int = 1, is_analysis: bool = False) -> None:
        """Think about the board, play the move on it and answer with its square."""
        board = self.known_board()
        if board is None:
            return
        rule = self.known_rule()
        if rule is None:
            return
        board.is_own_turn = True
        move = self._find_move(command, board, rule, lines, is_analysis=is_analysis)
        if move is not None:
            board.add(move, Field.OWN)
            self.answer(square_of_point(move, board.height))

    def answer(self, text: str) -> None:
        """Answer a question that took thinking time."""
        self.say(text)
        self._last_answer = time.monotonic()

    def budget(self, command: Command) -> Budget:
        """The time for a command's answer.

        It runs from when the command was read; from the last answer if the manager did not wait for that.
        """
        return self.settings.budget(max(command.received, self._last_answer))

    def order(self, command: Command, position: Position) -> Order:
        """Position, bounds and time for a thought."""
        return Order(
            position=position,
            budget=self.budget(command),
            game=self.games,
            number=command.number,
            nodes=self.settings.max_nodes,
            depth=self.settings.max_depth,
            threads=self.settings.threads,
            memory_bytes=self.settings.memory_bytes,
            table_bytes=self.settings.table_bytes,
            excluded=frozenset(self.excluded | (self.board.blocked if self.board else set())),
        )

    def consider(self, work: Callable[[Agent, Thought], None], order: Order) -> Thought:
        """Let the player work on an order under the watch; what goes wrong is told in DEBUG lines."""
        thought = self.thinker.think(work, order)
        if self.thinker.is_closing:
            self.output.is_muted = True
        with self.output.lock:
            is_late = not thought.is_over
            thought.is_dropped = True
        if thought.error is not None:
            self.say(f"DEBUG the player failed: {type(thought.error).__name__}: {str(thought.error)[:300]}")
        elif is_late:
            self.say("DEBUG the player did not answer in time")
        return thought

    def _find_move(
        self, command: Command, board: BrainBoard, rule: Rule, lines: int, *, is_analysis: bool
    ) -> Point | None:
        position = board.position(rule)
        if position is None or position.is_over:
            return self._move_after_end(board, position)
        spare = choose_fallback(position, board.blocked)
        if spare is None:
            self.say("ERROR there is no legal move")
            return None
        began = time.monotonic()
        detail = self.settings.detail if self.settings.detail is not None else (_INFO if is_analysis else 0)
        monitor = _Monitor(self.output, board.height, detail, describes_lines=is_analysis)
        work = analyse_moves(lines, monitor.show) if is_analysis or detail else choose_move
        thought = self.consider(monitor.attached(work), self.order(command, position))
        if not thought.is_supported:
            self.say(f"ERROR this player does not play {position.ruleset}")
            return None
        return self._checked_move(thought.best, position, board, spare, 1000 * (time.monotonic() - began), detail)

    def _checked_move(
        self,
        decision: Decision | None,
        position: Position,
        board: BrainBoard,
        spare: Point,
        elapsed_ms: float,
        detail: int,
    ) -> Point:
        if decision is None:
            return spare
        if not position.is_legal(decision.move) or decision.move in board.blocked:
            self.say(f"DEBUG the player chose {decision.move}, which is no legal move")
            return spare
        text = "" if detail else describe_decision(decision, board.height, elapsed_ms)
        if text:
            self.say(f"MESSAGE {text}")
        return decision.move

    def _move_after_end(self, board: BrainBoard, position: Position | None) -> Point | None:
        """The manager goes on where this brain sees a finished game, say because it never told its rule: so do we."""
        free = board.free_points()
        if not free:
            self.say("ERROR the board is full")
            return None
        self.say("DEBUG the game is over on this board by the rule in force")
        return nearest_point(free, (position.last_move if position else None) or free[len(free) // 2])


class _Monitor:
    """Shows an analysis to the manager while it runs, as much as `show_detail` asks for."""

    def __init__(self, output: Output, height: int, detail: int, *, describes_lines: bool) -> None:
        self._output = output
        self._height = height
        self._detail = detail
        self._describes_lines = describes_lines and not detail & _INFO
        self._shown_depth = -1
        self._shown_at = 0.0
        self._waiting: Analysis | None = None
        self._thought: Thought | None = None

    def attached(self, work: Callable[[Agent, Thought], None]) -> Callable[[Agent, Thought], None]:
        """The work with this monitor: it falls silent when the thought is dropped, and shows the last snapshot."""

        def watched(agent: Agent, thought: Thought) -> None:
            self._thought = thought
            work(agent, thought)
            if self._waiting is not None:
                self._print(self._waiting)

        return watched

    def show(self, analysis: Analysis) -> None:
        """Print the snapshot, or keep it for later when the last one was just printed."""
        now = time.monotonic()
        if analysis.depth == self._shown_depth and now - self._shown_at < _SNAPSHOT_EVERY_S:
            self._waiting = analysis
            return
        self._shown_depth, self._shown_at = analysis.depth, now
        self._print(analysis)

    def _print(self, analysis: Analysis) -> None:
        self._waiting = None
        with self._output.lock:
            if self._thought is None or self._thought.is_dropped:
                return
            if self._detail & _INFO:
                self._say_all(info_blocks(analysis, self._height))
            if self._detail & _REALTIME:
                self._say_all(realtime_marks(analysis, self._height))
            if self._describes_lines:
                for index, line in enumerate(analysis.lines):
                    self._output.say(f"MESSAGE {describe_line(index, line, analysis, self._height)}")

    def _say_all(self, lines: Iterable[str]) -> None:
        for line in lines:
            self._output.say(line)
