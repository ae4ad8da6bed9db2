"""The assessment of one position: its value, its best line, and the forced wins of both sides."""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass
from types import MappingProxyType

from tengen.core.contracts import Analysis, Colour, Limits, Outcome, Proof
from tengen.core.geometry import Point
from tengen.core.position import Position
from tengen.core.stop_signal import StopSignal
from tengen.patterns.explain import Kind, explain
from tengen.search.alphabeta import AlphaBeta, AlphaBetaConfig
from tengen.search.rollout import Uct, UctConfig
from tengen.search.threats import ThreatKind, Verdict, solve_threats, with_turn

_TABLE_MB = 8
"""Size of the engine's transposition table. Each position gets a new table, so that results are independent."""
_TREE_MB = 64
"""Memory limit for the rollout search."""
_MAX_LINE = 120
"""Maximum length of a forced win that is played out to its end."""


@dataclass(frozen=True, slots=True, kw_only=True)
class Effort:
    """Search effort per position. There is no time limit."""

    nodes: int = 300_000
    """Nodes searched by the engine."""
    vcf_nodes: int = 20_000
    """Nodes per search for a win by continuous fours."""
    vct_nodes: int = 2_000
    """Nodes per search for a win by continuous threats."""
    playouts: int = 10_000
    """Playouts in the rollout search, which assesses win lengths other than 4 and 5."""

    def solver_nodes(self, kind: ThreatKind) -> int:
        """Return the node limit for a search for threats of the given kind."""
        return self.vcf_nodes if kind is ThreatKind.VCF else self.vct_nodes


EFFORTS: Mapping[str, Effort] = MappingProxyType(
    {
        "quick": Effort(nodes=40_000, vcf_nodes=5_000, vct_nodes=300, playouts=2_000),
        "normal": Effort(),
        "deep": Effort(nodes=2_000_000, vcf_nodes=100_000, vct_nodes=10_000, playouts=60_000),
    }
)
"""Efforts by name."""


@dataclass(frozen=True, slots=True, kw_only=True)
class ForcedWin:
    """A win that a solver has proved against every defence."""

    kind: ThreatKind
    attacker: Colour
    line: tuple[Point, ...]
    """The attacker's moves, each followed by a defence; ends with the five if it could be played out."""

    @property
    def moves(self) -> int:
        """Number of moves by the attacker in the line."""
        return (len(self.line) + 1) // 2


@dataclass(frozen=True, slots=True, kw_only=True)
class Assessment:
    """The evaluation of a position at a fixed effort."""

    to_move: Colour
    value_to_move: float
    """Expected result in [-1, 1]; exactly -1 or 1 if it is proved."""
    proof: Proof | None = None
    """Proved result for the side to move, by a solver or the engine."""
    line: tuple[Point, ...] = ()
    """The best move and its expected continuation; empty if the game is over."""
    win: ForcedWin | None = None
    """The forced win of the side to move."""
    threat: ForcedWin | None = None
    """The forced win that the other side would have if it were its turn."""
    depth: int = 0
    nodes: int = 0

    @property
    def winrate(self) -> float:
        """Winrate of the side to move, from 0 to 1."""
        return min(1.0, max(0.0, (self.value_to_move + 1) / 2))

    @property
    def black_value(self) -> float:
        """Expected result for black, in [-1, 1]."""
        return self.value_to_move if self.to_move is Colour.BLACK else -self.value_to_move


def assess(position: Position, effort: Effort, stop: StopSignal | None = None) -> Assessment:
    """Assess a position. The result depends only on the position and the effort, unless `stop` is set."""
    stop = stop or StopSignal()
    mover = position.to_move
    if position.is_over:
        return _assess_final(position)
    if position.ruleset.win_length not in (4, 5):
        uct = Uct(UctConfig(memory_mb=_TREE_MB))
        return _from_analysis(mover, uct.search(position, Limits(simulations=effort.playouts), stop=stop))
    win = find_win(position, mover, effort, stop)
    threat = find_win(position, mover.opponent, effort, stop)
    if win is not None:
        return Assessment(
            to_move=mover,
            value_to_move=1.0,
            proof=Proof("win", len(win.line)),
            line=win.line,
            win=win,
            threat=threat,
            depth=len(win.line),
        )
    engine = AlphaBeta(AlphaBetaConfig(table_mb=_TABLE_MB))
    return _from_analysis(mover, engine.search(position, Limits(nodes=effort.nodes), stop=stop), threat)


def find_win(position: Position, attacker: Colour, effort: Effort, stop: StopSignal | None = None) -> ForcedWin | None:
    """Search for a win by continuous fours and then by continuous threats, as if it were the attacker's turn."""
    stop = stop or StopSignal()
    for kind in ThreatKind:
        found = solve_threats(position, kind, Limits(nodes=effort.solver_nodes(kind)), for_side=attacker, stop=stop)
        if found.verdict is Verdict.WIN:
            line = _play_out(with_turn(position, attacker), found.line, effort, stop)
            return ForcedWin(kind=kind, attacker=attacker, line=line)
    return None


def _assess_final(position: Position) -> Assessment:
    if position.outcome is Outcome.DRAW:
        return Assessment(to_move=position.to_move, value_to_move=0.0, proof=Proof("draw", 0))
    has_won = position.outcome.winner is position.to_move
    return Assessment(
        to_move=position.to_move,
        value_to_move=1.0 if has_won else -1.0,
        proof=Proof("win" if has_won else "loss", 0),
    )


def _from_analysis(mover: Colour, analysis: Analysis, threat: ForcedWin | None = None) -> Assessment:
    best = analysis.lines[0]
    return Assessment(
        to_move=mover,
        value_to_move=best.value_to_move,
        proof=best.proof,
        line=best.line,
        threat=threat,
        depth=analysis.depth,
        nodes=analysis.nodes,
    )


def _play_out(position: Position, line: tuple[Point, ...], effort: Effort, stop: StopSignal) -> tuple[Point, ...]:
    """Extend a solver's line, which may end with a threat that has no answer, up to the five."""
    attacker = position.to_move
    moves: list[Point] = []
    coming = list(line)
    while not position.is_over and len(moves) < _MAX_LINE:
        if not coming:
            coming = _continuation(position, attacker, effort, stop)
            if not coming:
                break
        move = coming.pop(0)
        if not position.is_legal(move):
            break
        position = position.play(move)
        moves.append(move)
    return tuple(moves)


def _continuation(position: Position, attacker: Colour, effort: Effort, stop: StopSignal) -> list[Point]:
    """Return the next moves after the end of a solver's line: a defence, or the rest of the attack."""
    if position.to_move is not attacker:
        return _defence(position, attacker)
    for kind in ThreatKind:
        found = solve_threats(position, kind, Limits(nodes=effort.solver_nodes(kind)), stop=stop)
        if found.verdict is Verdict.WIN:
            return list(found.line)
    return []


def _defence(position: Position, attacker: Colour) -> list[Point]:
    """Return a list with one point: where the attacker would win or make an open four, otherwise any legal point."""
    found = explain(position)
    wanted = [*found.chances[attacker].get(Kind.FIVE, ()), *found.chances[attacker].get(Kind.OPEN_FOUR, ())]
    legal = position.legal_points()
    return [next((point for point in wanted if position.is_legal(point)), legal[0])] if legal else []
