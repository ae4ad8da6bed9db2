"""The node signature of the alpha-beta engine: ten fixed positions, a fixed depth, one thread.

The total node count is a fingerprint of the search. It is the same on every machine and with every compiler, and it
changes whenever the search changes. The commit message for such a change ends with `Bench: N` (CONTRIBUTING.md).
"""

from __future__ import annotations

import time
from collections.abc import Callable, Sequence
from dataclasses import dataclass

from tengen.core.contracts import Limits, Ruleset
from tengen.core.position import Position
from tengen.search.alphabeta import AlphaBeta, AlphaBetaConfig

DEFAULT_DEPTH = 10
TABLE_MB = 16
"""Part of the signature: the table size determines which entries are overwritten."""


@dataclass(frozen=True, slots=True)
class BenchPosition:
    """A bench position, given by its moves from the empty board."""

    ruleset: str
    moves: str

    def position(self) -> Position:
        """Return the position to search."""
        return Position.from_moves(Ruleset.parse(self.ruleset), self.moves)


POSITIONS: tuple[BenchPosition, ...] = (
    BenchPosition("15x15:5:freestyle", "h8g6j10f8"),
    BenchPosition("15x15:5:freestyle", "g6f6i7g5h4h5i5j6i6i8g7j4g9g8j8f8"),
    BenchPosition("20x20:5:freestyle", "m9i9k9l9j10i11l10k10j12"),
    BenchPosition("15x15:5:standard", "f6j8i8i9k7h9k9"),
    BenchPosition("15x15:5:standard", "i9j10k9k8i10l9j7i7h9i8j11g8k12l13g9j9k10j8h8i11l10j5e9f9e11f10"),
    BenchPosition("15x15:5:renju", "g7j8h6k7g6i9"),
    BenchPosition("15x15:5:renju", "f6g10i10f8g7e8h8i9h9h11f9h7g5e5g6g8e7h4d8c9d7"),
    BenchPosition("15x15:5:caro", "h8g6f6g7g5e7f7f5h7h6e9"),
    BenchPosition("19x13:5:caro-exact", "i6l7l5l8h7l9l10j5k6j6j7i8"),
    BenchPosition("7x7:4:freestyle", "c1"),
)
"""Undecided openings and middle-game positions under all rules, from the engine's self-play games."""


@dataclass(frozen=True, slots=True)
class BenchRow:
    """Nodes and time for one position."""

    position: BenchPosition
    nodes: int
    seconds: float


@dataclass(frozen=True, slots=True)
class BenchResult:
    """Nodes and time for the whole bench."""

    rows: tuple[BenchRow, ...]
    depth: int

    @property
    def nodes(self) -> int:
        """Total node count: the signature."""
        return sum(row.nodes for row in self.rows)

    @property
    def seconds(self) -> float:
        """Total time of all searches."""
        return sum(row.seconds for row in self.rows)

    @property
    def nodes_per_second(self) -> float:
        """Search speed on this machine."""
        return self.nodes / max(self.seconds, 1e-9)


def run_bench(
    depth: int = DEFAULT_DEPTH,
    *,
    engine: AlphaBeta | None = None,
    positions: Sequence[BenchPosition] = POSITIONS,
    on_row: Callable[[BenchRow], None] | None = None,
) -> BenchResult:
    """Search the positions in order, each as a new game; `on_row` receives each row.

    By default, a new engine is used. An engine with a different table size has a different signature.
    """
    engine = engine or AlphaBeta(AlphaBetaConfig(table_mb=TABLE_MB))
    rows = []
    for bench_position in positions:
        position = bench_position.position()
        engine.new_game(position.ruleset)
        started = time.perf_counter()
        analysis = engine.search(position, Limits(depth=depth))
        rows.append(BenchRow(bench_position, analysis.nodes, time.perf_counter() - started))
        if on_row is not None:
            on_row(rows[-1])
    return BenchResult(tuple(rows), depth)
