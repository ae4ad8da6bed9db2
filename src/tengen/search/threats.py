"""Wins by continuous threats: fours alone (VCF), or fours and open threes (VCT), solved by native code.

A win that is found is proved against every defence. That none is found says only that threats of that kind do not
force one.
"""

from __future__ import annotations

import math
import threading
import time
from dataclasses import dataclass
from enum import StrEnum

from tengen import _native
from tengen.core.contracts import Colour, Limits
from tengen.core.geometry import Point
from tengen.core.position import Position
from tengen.errors import InputError, NotationError, RulesetError

DEFAULT_TIME_MS = 5000
"""How long to try when nobody says."""

_MAX_NODES = 1 << 40
_LOG2_TABLE = 20
"""Entries of the solvers' tables; fewer when few nodes are allowed, which saves clearing them."""


class ThreatKind(StrEnum):
    """Which moves the attacker may play."""

    VCF = "vcf"
    """Victory by continuous fours."""
    VCT = "vct"
    """Victory by continuous threats: fours, open threes and moves that prepare continuous fours."""


class Verdict(StrEnum):
    """What a solver found."""

    WIN = "win"
    NO_WIN = "no win"
    """Threats of that kind do not force a win."""
    UNKNOWN = "unknown"
    """The limits came first."""


@dataclass(frozen=True, slots=True, kw_only=True)
class ThreatResult:
    """The answer of `solve_threats`."""

    kind: ThreatKind
    attacker: Colour
    verdict: Verdict
    line: tuple[Point, ...] = ()
    """The attacker's moves and one answer to each in turn, up to the five or to a threat that cannot be answered."""
    nodes: int = 0
    elapsed_ms: float = 0.0

    def __str__(self) -> str:
        kind = self.kind.upper()
        if self.verdict is Verdict.WIN:
            return f"{self.attacker} wins by {kind}: {' '.join(self.line)}"
        if self.verdict is Verdict.NO_WIN:
            return f"{self.attacker} has no win by {kind}"
        return f"{self.attacker}: no win by {kind} found within the limits"


class ThreatSearch:
    """A solver that can be stopped from another thread. One `solve` at a time."""

    def __init__(self, kind: ThreatKind | str = ThreatKind.VCF) -> None:
        try:
            self.kind = ThreatKind(kind)
        except ValueError:
            raise NotationError(f"unknown kind of threats {kind!r} (vcf or vct)") from None
        self._stopped = threading.Event()
        self._running: _FourSlices | _ThreatSlices | None = None

    def stop(self) -> None:
        """End a running `solve` within milliseconds; its verdict is then unknown. Also ends one not begun yet."""
        self._stopped.set()
        if self._running is not None:
            self._running.stop()

    def solve(
        self, position: Position, limits: Limits | None = None, *, for_side: Colour | None = None
    ) -> ThreatResult:
        """As `solve_threats`."""
        if position.ruleset.win_length not in (4, 5):
            raise RulesetError(f"threats are solved for win lengths 4 and 5, not for {position.ruleset}")
        if position.is_over:
            raise InputError(f"the game is over, there is nothing to solve\n{position}")
        attacker = for_side or position.to_move
        board = with_turn(position, attacker).native
        limits = limits or Limits()
        started = time.perf_counter()
        deadline = started + _time_ms(limits) / 1000
        max_nodes = limits.nodes or _MAX_NODES
        log2_table = min(_LOG2_TABLE, max_nodes.bit_length() + 2)
        solver = _FourSlices(log2_table) if self.kind is ThreatKind.VCF else _ThreatSlices(log2_table)
        self._running = solver
        verdict, nodes, slice_nodes = Verdict.UNKNOWN, 0, solver.first_slice
        # The solver works in slices, between which the clock and `stop` are looked at; its tables remember what was
        # found, so that a slice goes on where the last one ended. Slices do not depend on the time they take: without
        # a limit of time the same question has the same nodes.
        while verdict is Verdict.UNKNOWN and nodes < max_nodes and not self._stopped.is_set():
            left = deadline - time.perf_counter()
            if left <= 0:
                break
            verdict = solver.run(board, min(slice_nodes, max_nodes - nodes), left)
            nodes += solver.nodes
            slice_nodes = min(2 * slice_nodes, solver.last_slice)
        self._running = None
        self._stopped.clear()
        width = position.ruleset.width
        return ThreatResult(
            kind=self.kind,
            attacker=attacker,
            verdict=verdict,
            line=tuple(Point.from_index(move, width) for move in solver.line) if verdict is Verdict.WIN else (),
            nodes=nodes,
            elapsed_ms=1000 * (time.perf_counter() - started),
        )


def solve_threats(
    position: Position,
    kind: ThreatKind | str = ThreatKind.VCF,
    limits: Limits | None = None,
    *,
    for_side: Colour | None = None,
) -> ThreatResult:
    """Whether a side, were it to move, wins by continuous threats; the side to move unless `for_side` says.

    Of the limits `time_ms` (5 seconds unless told; no limit of time when only `nodes` is given) and `nodes` count.

    >>> from tengen.core.contracts import Ruleset
    >>> stones = {"black": ["i8", "j8", "k8", "h9", "h10"], "white": ["l8", "a1", "a3", "c1", "o1"]}
    >>> print(solve_threats(Position.from_stones(Ruleset(15, 15), **stones)))
    black wins by VCF: h8 g8 h7 h6 h11
    """
    return ThreatSearch(kind).solve(position, limits, for_side=for_side)


def with_turn(position: Position, to_move: Colour) -> Position:
    """The same stones with that side to move; the position itself if it is to move already."""
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
    """The solver of continuous fours."""

    first_slice = 1024
    last_slice = 1 << 15

    def __init__(self, log2_table: int) -> None:
        self._solver = _native.FourSolver(log2_table)

    @property
    def nodes(self) -> int:
        return self._solver.nodes

    def run(self, board: _native.Board, nodes: int, seconds: float) -> Verdict:
        return Verdict[self._solver.solve(board, nodes).name]

    def stop(self) -> None:
        """A slice of fours is short enough."""

    @property
    def line(self) -> list[int]:
        return list(self._solver.line)


class _ThreatSlices:
    """The solver of fours and threes. Its nodes are heavy: each looks for continuous fours."""

    first_slice = 8
    last_slice = 256

    def __init__(self, log2_table: int) -> None:
        self._solver = _native.ThreatSolver(log2_table)

    @property
    def nodes(self) -> int:
        return self._solver.nodes

    def run(self, board: _native.Board, nodes: int, seconds: float) -> Verdict:
        time_ms = -1 if math.isinf(seconds) else int(1000 * seconds)
        return Verdict[self._solver.solve(board, nodes, time_ms).name]

    def stop(self) -> None:
        self._solver.stop()

    @property
    def line(self) -> list[int]:
        return list(self._solver.line)
