"""State of a session with one manager (board, settings, player), and the search for the brain's answers.

The commands, in `brain` and `yixin`, operate on a `Session`.
"""

from __future__ import annotations

import math
import threading
import time
from collections.abc import Callable, Iterable
from dataclasses import replace

from tengen.core.contracts import Agent, Analysis, Decision, Rule, Ruleset
from tengen.core.geometry import Point
from tengen.core.plugins import describe_exception
from tengen.core.position import Position
from tengen.protocols.pipe import PipeLog
from tengen.protocols.piskvork.board import BrainBoard
from tengen.protocols.piskvork.commands import Command
from tengen.protocols.piskvork.fallback import choose_fallback, nearest_point
from tengen.protocols.piskvork.notation import About, Field, parse_squares, square_of_point
from tengen.protocols.piskvork.report import (
    describe_decision,
    describe_defences,
    describe_line,
    info_blocks,
    realtime_marks,
)
from tengen.protocols.piskvork.settings import Budget, Settings
from tengen.protocols.piskvork.thinking import Order, Thinker, Thought, analyse_moves, choose_move

_PONDER_S = 86_400.0
"""Time limit for pondering in seconds. Without any limit, some players would choose their own, shorter one."""
_SNAPSHOT_EVERY_S = 0.1
"""Minimum time in seconds between two snapshots at the same depth."""
_REALTIME, _INFO = 1, 2


class Output:
    """Sends lines to the manager and flushes each of them; sends nothing once it is muted."""

    def __init__(self, write: Callable[[bytes], None], log: PipeLog | None = None) -> None:
        self._write = write
        self._log = log
        self.lock = threading.RLock()
        self.is_muted = False

    def send(self, line: str) -> None:
        """Send one line. A write error mutes the output; the reader thread notices that the manager has exited."""
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
    """The state that the commands operate on."""

    def __init__(self, make_agent: Callable[[], Agent], output: Output, about: About) -> None:
        self.about = about
        self.output = output
        self.settings = Settings()
        self.thinker = Thinker(make_agent)
        self.board: BrainBoard | None = None
        self.excluded: set[Point] = set()
        """Root moves that the user has excluded."""
        self.games = 0
        self._started = time.monotonic()
        self._last_answer = 0.0
        self._thinking_since: float | None = None
        """Time from which the search for the next answer counts on the clock; None while the opponent thinks."""
        self._table_for: tuple[int, int | None, int | None] | None = None
        self._table_bytes: int | None = None

    def send(self, line: str) -> None:
        """Send one line to the manager."""
        self.output.send(line)

    # -- the board -----------------------------------------------------------------------------------------------------

    def new_game(self, width: int, height: int) -> None:
        """Start a game on an empty board and reset the player."""
        self.board = BrainBoard(width, height)
        self.excluded.clear()
        self.games += 1
        # The clock of the first game includes the start of the program.
        self.settings.start_clock(1000 * (time.monotonic() - self._started) if self.games == 1 else 0.0)

    def require_board(self) -> BrainBoard | None:
        """Return the board; before START, send an error and return None."""
        if self.board is None:
            self.send("ERROR there is no board yet: send START first")
        return self.board

    def require_rule(self) -> Rule | None:
        """Return the current rule; if it is unsupported, send an error and return None."""
        if self.settings.rule is None:
            self.send(f"ERROR rule {self.settings.rule_number} is not supported (known: 0, 1, 2, 4, 8, 9)")
        return self.settings.rule

    def free_point(self, board: BrainBoard, text: str) -> Point | None:
        """Parse `X,Y` as a free point; on failure, send an error and return None."""
        point = self.named_point(board, text)
        if point is not None and not board.is_free(point):
            self.send(f"ERROR square {text} is occupied")
            return None
        return point

    def named_point(self, board: BrainBoard, text: str) -> Point | None:
        """Parse `X,Y` as a point; on failure, send an error and return None."""
        squares = parse_squares(text)
        if squares is None or len(squares) != 1:
            self.send(f"ERROR expected a square X,Y, not {text[:40]!r}")
            return None
        point = board.point(*squares[0])
        if point is None:
            self.send(f"ERROR square {text[:40]} is off the {board.width}x{board.height} board")
        return point

    def set_up(self, board: BrainBoard, rows: tuple[str, ...]) -> None:
        """Set up the board from the rows of a BOARD block; invalid rows are skipped and reported."""
        invalid = board.set_up(rows)
        if invalid:
            self.send(f"DEBUG {len(invalid)} rows of the board are invalid; the first is {invalid[0][:40]!r}")

    # -- thinking ------------------------------------------------------------------------------------------------------

    def answer_with_move(
        self, command: Command, *, lines: int = 1, is_analysis: bool = False, names_defences: bool = False
    ) -> None:
        """Find a move, play it on the board and answer with its square.

        An analysis reports the best `lines`. With `names_defences`, it also names the moves that do not lose.
        """
        board = self.require_board()
        if board is None:
            return
        rule = self.require_rule()
        if rule is None:
            return
        board.is_own_turn = True
        move = self._find_move(command, board, rule, lines, is_analysis=is_analysis, names_defences=names_defences)
        if move is not None:
            board.add(move, Field.OWN)
            self.answer(square_of_point(move, board.height), is_on_clock=not is_analysis)
            if self.settings.is_pondering and not is_analysis:
                self._ponder(command, board, rule)

    def answer(self, text: str, *, is_on_clock: bool = True) -> None:
        """Send the answer to a command that needed a search. `is_on_clock` is False for an analysis."""
        if is_on_clock and self._thinking_since is not None:
            self.settings.count_move(1000 * (time.monotonic() - self._thinking_since))
        self._thinking_since = None
        self.send(text)
        self._last_answer = time.monotonic()

    def budget(self, command: Command) -> Budget:
        """Return the deadlines for answering a command.

        The clock starts when the command is read, or at the previous answer if the manager did not wait for it.
        """
        since = self._thinking_since = max(command.received, self._last_answer)
        return self.settings.budget(since)

    def order(self, command: Command, position: Position) -> Order:
        """Return the order for a search: position, limits and deadlines."""
        table_for = (self.games, self.settings.hash_bytes, self.settings.memory_bytes)
        if self._table_for != table_for:
            # Changing the time limits during a game must not resize the table, because resizing clears it.
            self._table_for = table_for
            self._table_bytes = self.settings.table_bytes
        return self._order(position, self.budget(command), self._table_bytes, command.number)

    def _order(self, position: Position, budget: Budget, table_bytes: int | None, number: int = 0) -> Order:
        return Order(
            position=position,
            budget=budget,
            game=self.games,
            number=number,
            nodes=self.settings.max_nodes,
            depth=self.settings.max_depth,
            threads=self.settings.threads,
            memory_bytes=self.settings.memory_bytes,
            table_bytes=table_bytes,
            excluded=frozenset(self.excluded | (self.board.blocked if self.board else set())),
        )

    def warm_up(self, *, wait_s: float = 0.0) -> None:
        """Prepare the player for the current board and settings; `wait_s` limits the time to wait until it is ready."""
        board, rule = self.board, self.settings.rule
        if board is None or rule is None:
            return
        rulesets = [Ruleset(board.width, board.height, 5, known) for known in Rule]
        position = Position.start(Ruleset(board.width, board.height, 5, rule))
        # The first search sets the size of the table: the manager may still send settings that determine it.
        order = self._order(position, self.settings.budget(time.monotonic()), self._table_bytes)
        self.thinker.warm_up(order, rulesets, wait_s=wait_s)

    def think(self, work: Callable[[Agent, Thought], None], order: Order) -> Thought:
        """Run `work` with the player within the deadlines of the order; report failures in DEBUG lines."""
        thought = self.thinker.think(work, order)
        if self.thinker.is_closing:
            self.output.is_muted = True
        with self.output.lock:
            is_late = not thought.is_over
            thought.is_dropped = True
        if thought.error is not None:
            self.send(f"DEBUG the player failed: {describe_exception(thought.error)[:300]}")
        elif is_late:
            self.send("DEBUG the player did not answer in time")
        return thought

    def _ponder(self, command: Command, board: BrainBoard, rule: Rule) -> None:
        """Search the position after the brain's move while the opponent thinks."""
        position = board.position(rule)
        if position is None or position.is_over:
            return
        budget = Budget(time.monotonic() + _PONDER_S, math.inf, math.inf)
        order = self._order(position, budget, self._table_bytes, command.number)
        # Points that the user has excluded for the brain are still available to the opponent.
        self.thinker.ponder(replace(order, excluded=frozenset(board.blocked)))

    def _find_move(
        self,
        command: Command,
        board: BrainBoard,
        rule: Rule,
        lines: int,
        *,
        is_analysis: bool,
        names_defences: bool,
    ) -> Point | None:
        position = board.position(rule)
        if position is None or position.is_over:
            return self._move_after_end(board, position)
        fallback = choose_fallback(position, board.blocked)
        if fallback is None:
            self.send("ERROR there is no legal move")
            return None
        started = time.monotonic()
        detail = self.settings.detail if self.settings.detail is not None else (_INFO if is_analysis else 0)
        monitor = _Monitor(self.output, board.height, detail, describes_lines=is_analysis)
        work = analyse_moves(lines, monitor.show) if is_analysis or detail else choose_move
        thought = self.think(monitor.attached(work), self.order(command, position))
        if not thought.is_supported:
            self.send(f"ERROR this player does not play {position.ruleset}")
            return None
        if names_defences and monitor.latest is not None:
            self.send(f"MESSAGE {describe_defences(monitor.latest, board.height)}")
        return self._checked_move(thought.best, position, board, fallback, 1000 * (time.monotonic() - started), detail)

    def _checked_move(
        self,
        decision: Decision | None,
        position: Position,
        board: BrainBoard,
        fallback: Point,
        elapsed_ms: float,
        detail: int,
    ) -> Point:
        if decision is None:
            return fallback
        if not position.is_legal(decision.move) or decision.move in board.blocked:
            self.send(f"DEBUG the player chose {decision.move}, which is not a legal move")
            return fallback
        text = "" if detail else describe_decision(decision, board.height, elapsed_ms)
        if text:
            self.send(f"MESSAGE {text}")
        return decision.move

    def _move_after_end(self, board: BrainBoard, position: Position | None) -> Point | None:
        """Return a free point if the manager continues a game that is over under the current rule."""
        free = board.free_points()
        if not free:
            self.send("ERROR the board is full")
            return None
        self.send("DEBUG the game is already over under the current rule")
        return nearest_point(free, (position.last_move if position else None) or free[len(free) // 2])


class _Monitor:
    """Sends the snapshots of a running analysis to the manager, with the level of detail set by `show_detail`."""

    def __init__(self, output: Output, height: int, detail: int, *, describes_lines: bool) -> None:
        self._output = output
        self._height = height
        self._detail = detail
        self._describes_lines = describes_lines and not detail & _INFO
        self._shown_depth = -1
        self._shown_at = 0.0
        self.latest: Analysis | None = None
        """The last snapshot, whether it was sent or not."""
        self._pending: Analysis | None = None
        self._thought: Thought | None = None

    def attached(self, work: Callable[[Agent, Thought], None]) -> Callable[[Agent, Thought], None]:
        """Wrap `work` so that the monitor prints all its snapshots, including the last one, until it is dropped."""

        def watched(agent: Agent, thought: Thought) -> None:
            self._thought = thought
            work(agent, thought)
            if self._pending is not None:
                self._print(self._pending)

        return watched

    def show(self, analysis: Analysis) -> None:
        """Send the snapshot, or keep it for later if another one was sent very recently."""
        self.latest = analysis
        now = time.monotonic()
        if analysis.depth == self._shown_depth and now - self._shown_at < _SNAPSHOT_EVERY_S:
            self._pending = analysis
            return
        self._shown_depth, self._shown_at = analysis.depth, now
        self._print(analysis)

    def _print(self, analysis: Analysis) -> None:
        self._pending = None
        with self._output.lock:
            if self._thought is None or self._thought.is_dropped:
                return
            if self._detail & _INFO:
                self._send_all(info_blocks(analysis, self._height))
            if self._detail & _REALTIME:
                self._send_all(realtime_marks(analysis, self._height))
            if self._describes_lines:
                for index, line in enumerate(analysis.lines):
                    self._output.send(f"MESSAGE {describe_line(index, line, analysis, self._height)}")

    def _send_all(self, lines: Iterable[str]) -> None:
        for line in lines:
            self._output.send(line)
