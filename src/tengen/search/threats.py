"""Wins by continuous threats: fours only (VCF), or fours and open threes (VCT), solved by native code.

A win is proved against every defence. "No win" only means that threats of that kind do not force one.
"""

from __future__ import annotations

import math
import time
from dataclasses import dataclass
from enum import StrEnum

from tengen import _native
from tengen.core.contracts import Colour, Limits
from tengen.core.geometry import Point
from tengen.core.position import Position
from tengen.core.stop_signal import StopSignal
from tengen.errors import InputError, NotationError, RulesetError

DEFAULT_TIME_MS = 5000
"""Default time limit in milliseconds."""

_MAX_NODES = 1 << 40
_LOG2_TABLE = 20
"""Logarithm of the solvers' table size; smaller for low node limits, because clearing a table takes time."""


class ThreatKind(StrEnum):
    """Kind of moves that the attacker may play."""

    VCF = "vcf"
    """Victory by continuous fours."""
    VCT = "vct"
    """Victory by continuous threats: fours, open threes and moves that prepare continuous fours."""


class Verdict(StrEnum):
    """Result of a solver."""

    WIN = "win"
    NO_WIN = "no win"
    """Threats of this kind do not force a win."""
    UNKNOWN = "unknown"
    """A limit or the stop signal ended the search."""


@dataclass(frozen=True, slots=True, kw_only=True)
class ThreatResult:
    """Result of `solve_threats`."""

    kind: ThreatKind
    attacker: Colour
    verdict: Verdict
    line: tuple[Point, ...] = ()
    """The attacker's and defender's moves in turn, up to the five or a threat that cannot be answered."""
    nodes: int = 0
    elapsed_ms: float = 0.0

    def __str__(self) -> str:
        kind = self.kind.upper()
        if self.verdict is Verdict.WIN:
            return f"{self.attacker} wins by {kind}: {' '.join(self.line)}"
        if self.verdict is Verdict.NO_WIN:
            return f"{self.attacker} has no win by {kind}"
        return f"{self.attacker}: no win by {kind} found within the limits"


def solve_threats(
    position: Position,
    kind: ThreatKind | str = ThreatKind.VCF,
    limits: Limits | None = None,
    *,
    for_side: Colour | None = None,
    stop: StopSignal | None = None,
) -> ThreatResult:
    """Search for a win by continuous threats for `for_side` (default: the side to move), as if it were to move.

    VCT looks for a win by fours alone first, so it also finds every VCF win. Uses the limits `time_ms` (default: 5
    seconds, or no limit if `nodes` is given) and `nodes`, which VCT applies to both of its searches separately. The
    verdict is unknown if a limit or `stop` ends the search early.

    >>> from tengen.core.contracts import Ruleset
    >>> stones = {"black": ["i8", "j8", "k8", "h9", "h10"], "white": ["l8", "a1", "a3", "c1", "o1"]}
    >>> print(solve_threats(Position.from_stones(Ruleset(15, 15), **stones)))
    black wins by VCF: h8 g8 h7 h6 h11
    """
    try:
        kind = ThreatKind(kind)
    except ValueError:
        raise NotationError(f"unknown kind of threat {kind!r} (known: vcf, vct)") from None
    if position.ruleset.win_length not in (4, 5):
        raise RulesetError(f"cannot solve threats for {position.ruleset}: the win length must be 4 or 5")
    if position.is_over:
        raise InputError(f"cannot solve: the game is over\n{position}")
    attacker = for_side or position.to_move
    board = with_turn(position, attacker).native
    limits, stop = limits or Limits(), stop or StopSignal()
    started = time.perf_counter()
    deadline = started + _time_ms(limits) / 1000
    max_nodes = limits.nodes or _MAX_NODES
    log2_table = min(_LOG2_TABLE, max_nodes.bit_length() + 2)
    solver = _FourSlices(log2_table) if kind is ThreatKind.VCF else _ThreatSlices(log2_table, max_nodes)
    verdict, nodes, slice_nodes = Verdict.UNKNOWN, 0, solver.first_slice
    # The solver runs in slices, and the clock is checked between them. Its tables are kept, so a slice continues where
    # the last one ended. The slices do not depend on time: without a time limit, the same position always takes the
    # same number of nodes.
    while verdict is Verdict.UNKNOWN and nodes < max_nodes and not stop.is_set():
        left = deadline - time.perf_counter()
        if left <= 0:
            break
        verdict = solver.run(board, min(slice_nodes, max_nodes - nodes), left, stop)
        nodes += solver.nodes
        slice_nodes = min(2 * slice_nodes, solver.last_slice)
    width = position.ruleset.width
    return ThreatResult(
        kind=kind,
        attacker=attacker,
        verdict=verdict,
        line=tuple(Point.from_index(move, width) for move in solver.line) if verdict is Verdict.WIN else (),
        nodes=nodes,
        elapsed_ms=1000 * (time.perf_counter() - started),
    )


def with_turn(position: Position, to_move: Colour) -> Position:
    """Return the same stones with `to_move` to move; the position itself if it is already that side's turn."""
    if position.to_move is to_move:
        return position
    return Position.from_stones(
        position.ruleset,
        black=position.points_of(Colour.BLACK),
        white=position.points_of(Colour.WHITE),
        to_move=to_move,
    )


def _time_ms(limits: Limits) -> float:
    if limits.time_ms is not None:
        return limits.time_ms
    return math.inf if limits.nodes else DEFAULT_TIME_MS


class _FourSlices:
    """Solver for continuous fours, run in slices."""

    first_slice = 1024
    last_slice = 1 << 15

    def __init__(self, log2_table: int) -> None:
        self._solver = _native.FourSolver(log2_table)

    @property
    def nodes(self) -> int:
        return self._solver.nodes

    def run(self, board: _native.Board, nodes: int, seconds: float, stop: StopSignal) -> Verdict:
        return Verdict[self._solver.solve(board, nodes, stop.native).name]

    @property
    def line(self) -> list[int]:
        return list(self._solver.line)


class _ThreatSlices:
    """Solver for fours and threes, run in slices. Its nodes are expensive: each one searches for continuous fours.

    Until a search for fours alone is complete, one slice of it runs before every slice of this solver. Most wins by
    fours alone are found sooner that way. Both searches share a table of the positions that fours alone do not win.
    """

    first_slice = 8
    last_slice = 256

    def __init__(self, log2_table: int, max_four_nodes: int) -> None:
        self._solver = _native.ThreatSolver(log2_table)
        self._four_slice = _FourSlices.first_slice
        self._four_nodes_left = max_four_nodes
        self._fours = Verdict.UNKNOWN

    @property
    def nodes(self) -> int:
        return self._solver.nodes

    def run(self, board: _native.Board, nodes: int, seconds: float, stop: StopSignal) -> Verdict:
        if self._fours is Verdict.UNKNOWN and self._four_nodes_left > 0:
            four_nodes = min(self._four_slice, self._four_nodes_left)
            self._fours = Verdict[self._solver.solve_fours(board, four_nodes, stop.native).name]
            self._four_nodes_left -= self._solver.nodes
            self._four_slice = min(2 * self._four_slice, _FourSlices.last_slice)
            if self._fours is Verdict.WIN:
                return self._fours
        time_ms = -1 if math.isinf(seconds) else int(1000 * seconds)
        return Verdict[self._solver.solve(board, nodes, time_ms, stop.native).name]

    @property
    def line(self) -> list[int]:
        return list(self._solver.line)
