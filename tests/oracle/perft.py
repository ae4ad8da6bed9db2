"""Exact counts of move sequences per ply, without enumerating every sequence.

Two sequences that reach the same stones have the same continuations, so each ply is a table from position to the number
of sequences that reach it. Finished games are not continued. There are also closed forms for the first plies at which a
win is possible; they need no board.
"""

from __future__ import annotations

from collections import Counter
from functools import cache
from math import comb, factorial, perm
from typing import NamedTuple

from tests.oracle import rules as oracle
from tests.oracle.rules import BLACK, DIRECTIONS, WHITE, Point, Rules, Stones

Position = tuple[int, int]
"""The points of black and of white, each as a bit set: bit y·width + x."""


class Ply(NamedTuple):
    """Number of sequences with this many plies, and how many of them end here with a winner."""

    nodes: int
    wins: int


def perft(rules: Rules, depth: int, stones: Stones | None = None, to_move: str = BLACK) -> list[Ply]:
    """Count the nodes and wins of plies 1 … `depth` from the given stones (default: the empty board).

    Only legal points are played, so black never fouls in renju. A win is any decided game: a winning line, or in renju
    a white move after which black has no legal point although some points are empty.
    """
    frontier = Counter({_position_of(rules, stones or {}): 1})
    plies = []
    for ply in range(1, depth + 1):
        # The last table is needed only to find positions in which black has no legal point.
        keep = ply < depth or rules.rule == "renju"
        frontier, counts = _next_ply(rules, frontier, to_move, keep)
        plies.append(counts)
        to_move = oracle.opponent(to_move)
    return plies


def _next_ply(rules: Rules, frontier: Counter[Position], to_move: str, keep: bool) -> tuple[Counter[Position], Ply]:
    nodes = wins = 0
    unfinished: Counter[Position] = Counter()
    for position, sequences in frontier.items():
        moves = _moves(rules, position, to_move)
        nodes += sequences * len(moves)
        black, white = position
        for bit in moves:
            if _wins(rules, position, to_move, bit):
                wins += sequences
            elif keep and to_move == BLACK:
                unfinished[black | bit, white] += sequences
            elif keep:
                unfinished[black, white | bit] += sequences
    if rules.rule == "renju" and to_move == WHITE:
        for position in [position for position in unfinished if _black_is_stuck(rules, position)]:
            wins += unfinished.pop(position)
    return unfinished, Ply(nodes, wins)


def _moves(rules: Rules, position: Position, to_move: str) -> list[int]:
    occupied = position[0] | position[1]
    if rules.rule == "renju" and to_move == BLACK:
        return [_bit(rules, point) for point in oracle.legal_points(rules, _stones_of(rules, position), BLACK)]
    return [bit for bit in _bits(rules.width * rules.height) if not bit & occupied]


def _black_is_stuck(rules: Rules, position: Position) -> bool:
    return oracle.outcome_without_line(rules, _stones_of(rules, position), BLACK) == WHITE


def _wins(rules: Rules, position: Position, to_move: str, bit: int) -> bool:
    own = position[0] if to_move == BLACK else position[1]
    if not rules.rule.startswith("caro"):
        return _completes_line(rules, own, to_move, bit)
    # Only in caro can enemy stones prevent a win, by closing the line; elsewhere the result depends on fewer stones.
    return _completes_line(rules._replace(rule="freestyle"), own, to_move, bit) and oracle.wins_at(
        rules, _stones_of(rules, position), to_move, _points(rules, bit)[0]
    )


@cache
def _completes_line(rules: Rules, own: int, colour: str, bit: int) -> bool:
    return oracle.wins_at(rules, dict.fromkeys(_points(rules, own), colour), colour, _points(rules, bit)[0])


@cache
def _bits(area: int) -> tuple[int, ...]:
    return tuple(1 << index for index in range(area))


def _bit(rules: Rules, point: Point) -> int:
    return 1 << (point[1] * rules.width + point[0])


def _points(rules: Rules, bits: int) -> list[Point]:
    indices = [index for index in range(bits.bit_length()) if bits >> index & 1]
    return [(index % rules.width, index // rules.width) for index in indices]


def _position_of(rules: Rules, stones: Stones) -> Position:
    black = sum(_bit(rules, point) for point, colour in stones.items() if colour == BLACK)
    white = sum(_bit(rules, point) for point, colour in stones.items() if colour == WHITE)
    return black, white


def _stones_of(rules: Rules, position: Position) -> Stones:
    black, white = position
    return dict.fromkeys(_points(rules, black), BLACK) | dict.fromkeys(_points(rules, white), WHITE)


# --- closed forms ----------------------------------------------------------------------------------------------------


def lines(width: int, height: int, length: int) -> list[frozenset[Point]]:
    """Yield every straight line of `length` points on the board."""
    found = []
    for y in range(height):
        for x in range(width):
            for dx, dy in DIRECTIONS:
                line = [(x + times * dx, y + times * dy) for times in range(length)]
                if all(0 <= px < width and 0 <= py < height for px, py in line):
                    found.append(frozenset(line))
    return found


def count_lines(width: int, height: int, length: int) -> int:
    """Return the number of straight lines of `length` points: rows, columns and both diagonals."""
    across, up = max(width - length + 1, 0), max(height - length + 1, 0)
    return across * height + width * up + 2 * across * up


def wins_of_black_at_first_chance(width: int, height: int, length: int) -> int:
    """Count the wins at ply 2k − 1, the first possible one, for rules without closed lines and fouls.

    Black's k stones form a line, in any order; white's k − 1 stones are anywhere else, in any order.
    """
    area = width * height
    return count_lines(width, height, length) * factorial(length) * perm(area - length, length - 1)


def wins_of_white_at_first_chance(width: int, height: int, length: int) -> int:
    """Count the wins at ply 2k: white's k stones form a line, and black's k stones elsewhere do not."""
    beside = comb(width * height - length, length)
    all_lines = lines(width, height, length)
    pairs = sum(beside - sum(not line & other for other in all_lines) for line in all_lines)
    return pairs * factorial(length) ** 2


def closed_lines_of_black_at_first_chance(width: int, height: int, length: int) -> int:
    """Count black's lines at ply 2k − 1 that do not win in caro, because white occupies both ends of the line."""
    area = width * height
    inner = 0
    for y in range(height):
        for x in range(width):
            for dx, dy in DIRECTIONS:
                ends = (x - dx, y - dy), (x + length * dx, y + length * dy)
                inner += all(0 <= px < width and 0 <= py < height for px, py in ends)
    # Two of white's k − 1 moves are the two ends, in any of the k − 1 turns; the others are anywhere else.
    return inner * factorial(length) * perm(length - 1, 2) * perm(area - length - 2, length - 3)
