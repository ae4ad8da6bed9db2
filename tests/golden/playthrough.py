"""One game per ruleset, told ply by ply: drawing, legal points, forbidden points, outcome, hash.

The moves come from a tiny generator written out here, so that they are the same everywhere and for ever: near the
stones that lie already, now and then a winning one.
"""

from __future__ import annotations

from pathlib import Path

from tengen.core.contracts import Ruleset
from tengen.core.geometry import Point
from tengen.core.position import Position

FOLDER = Path(__file__).resolve().parent

RULESETS = (
    "15x15:5:renju",
    "3x3:3:freestyle",
    "7x6:4:standard",
    "9x5:5:renju",
    "9x9:5:freestyle",
    "9x9:5:standard",
    "9x9:5:caro",
    "9x9:5:caro-exact",
    "22x22:6:freestyle",
)

MAX_PLIES = {"15x15:5:renju": 36, "22x22:6:freestyle": 12}
DEFAULT_MAX_PLIES = 40


def path_of(ruleset: str) -> Path:
    """The file that holds the game of a ruleset."""
    return FOLDER / f"{ruleset.replace(':', '_')}.txt"


def playthrough(text: str) -> str:
    """The whole story of the game of a ruleset."""
    ruleset = Ruleset.parse(text)
    position = Position.start(ruleset)
    parts = [describe(position)]
    state = sum(map(ord, text))
    for _ in range(MAX_PLIES.get(text, DEFAULT_MAX_PLIES)):
        if position.is_over:
            break
        # Knuth's MMIX constants; the high bits are the good ones.
        state = (state * 6364136223846793005 + 1442695040888963407) % 2**64
        position = position.play(choose(position, state >> 33))
        parts.append(describe(position))
    return "\n".join(parts)


def choose(position: Position, number: int) -> Point:
    """A legal point near the stones by the number given; every fourth number takes a win if there is one."""
    legal = position.legal_points()
    wins = [point for point in legal if position.is_win(point)]
    if wins and number % 4 == 0:
        return wins[0]
    stones = position.points_of("black") + position.points_of("white")
    near = [point for point in legal if any(max(abs(point.x - s.x), abs(point.y - s.y)) == 1 for s in stones)]
    candidates = near or ([position.ruleset.centre] if not stones else legal)
    return candidates[number // 4 % len(candidates)]


def describe(position: Position) -> str:
    """Everything the package says of a position."""
    forbidden = " ".join(f"{point}={kind}" for point, kind in position.forbidden_points().items())
    return "\n".join(
        [
            f"# ply {len(position.moves)}, {position.last_move or 'start'}",
            str(position),
            f"to move: {position.to_move}",
            f"outcome: {position.outcome}",
            f"winning line: {' '.join(position.winning_line) or '-'}",
            f"legal points: {len(position.legal_points())}",
            f"forbidden points: {forbidden or '-'}",
            f"hash: {position.hash:016x}",
            "",
        ]
    )
