"""A simple search for wins by continuous fours, and checkers that replay a win against every reply.

The attacker plays only moves that win immediately or make a four: a threat to win with the next stone. The defender
wins with its own line if it can; otherwise it must stop every winning point of the attacker with one legal stone. In
renju black may only play legal points: a black defender that could stop a four only by a foul has lost.

`find_vcf` finds a win. The checkers below verify it independently: they try every legal reply of the defender and do
not use the concept of fours.
"""

from __future__ import annotations

from collections.abc import Callable, Mapping, Sequence
from functools import cache

from tests.oracle.rules import (
    DIRECTIONS,
    ONGOING,
    Point,
    Rules,
    all_points,
    empty_points,
    is_legal,
    legal_points,
    on_board,
    opponent,
    outcome_after,
    shift,
    winning_lines,
    wins_at,
)

Strategy = Callable[[Mapping[Point, str]], Point | None]
"""Returns the attacker's move in a position (a dict of stones) with the attacker to move; None for no move."""

_Lost = set[tuple[int, frozenset[tuple[Point, str]]]]
"""Cache of positions without a win by continuous fours: remaining moves and stones."""


def winning_points(rules: Rules, stones: Mapping[Point, str], colour: str) -> list[Point]:
    """Return the points where `colour` wins with one stone, row by row from the bottom."""
    found = {point for gaps in _gaps(rules, stones, colour, 1) for point in gaps}
    return sorted((point for point in found if wins_at(rules, stones, colour, point)), key=_reading_order)


def four_moves(rules: Rules, stones: Mapping[Point, str], colour: str) -> list[Point]:
    """Return the legal points where `colour` makes a four: one more stone on the line would win."""
    found = set()
    for gaps in _gaps(rules, stones, colour, 2):
        for four, five in (gaps, gaps[::-1]):
            if wins_at(rules, {**stones, four: colour}, colour, five) and is_legal(rules, stones, colour, four):
                found.add(four)
    return sorted(found, key=_reading_order)


def _gaps(rules: Rules, stones: Mapping[Point, str], colour: str, count: int) -> list[list[Point]]:
    """Return the empty points of every win-length window with `count` empty points and otherwise only `colour`.

    A winning line contains such a window around each of its stones, so no other points need to be checked.
    """
    found = []
    for row in _rows(rules):
        gaps = [point for point in row if point not in stones]
        if len(gaps) == count and sum(stones.get(point) == colour for point in row) == rules.win_length - count:
            found.append(gaps)
    return found


@cache
def _rows(rules: Rules) -> list[list[Point]]:
    rows = [
        [shift(point, step, times) for times in range(rules.win_length)]
        for point in all_points(rules)
        for step in DIRECTIONS
    ]
    return [row for row in rows if on_board(rules, row[-1])]


def defences(rules: Rules, stones: Mapping[Point, str], defender: str) -> list[Point]:
    """Return the legal points of `defender` after which the other side has no winning point.

    A stone can prevent a win only on the winning point or, in caro, at the end of the line made there.
    """
    attacker = opponent(defender)
    candidates: set[Point] = set()
    for point in winning_points(rules, stones, attacker):
        candidates.add(point)
        for line in winning_lines(rules, {**stones, point: attacker}, point):
            step = line[1][0] - line[0][0], line[1][1] - line[0][1]
            candidates |= {shift(line[0], step, -1), shift(line[-1], step)}
    return [
        point
        for point in sorted(candidates, key=_reading_order)
        if is_legal(rules, stones, defender, point) and not winning_points(rules, {**stones, point: defender}, attacker)
    ]


def find_vcf(rules: Rules, stones: Mapping[Point, str], attacker: str, max_moves: int) -> list[Point] | None:
    """Return a shortest winning line of continuous fours for `attacker`, to move, with at most `max_moves` attacks.

    The line alternates between attacker and defender and ends with the winning stone; None if there is no such win. If
    the defender has several answers (in caro), all of them lose, and the line contains one that lasts longest.
    """
    for moves in range(1, max_moves + 1):
        line = _search(rules, stones, attacker, moves, set())
        if line is not None:
            return line
    return None


def _search(rules: Rules, stones: Mapping[Point, str], attacker: str, moves: int, lost: _Lost) -> list[Point] | None:
    """Like `find_vcf`, without iterative deepening."""
    wins = winning_points(rules, stones, attacker)
    if wins:
        return wins[:1]
    key = moves, frozenset(stones.items())
    if moves < 2 or key in lost:
        return None
    defender = opponent(attacker)
    for four in four_moves(rules, stones, attacker):
        after = {**stones, four: attacker}
        if winning_points(rules, after, defender):
            continue
        line = _answer_all(rules, after, attacker, moves - 1, lost)
        if line is not None:
            return [four, *line]
    lost.add(key)
    return None


def _answer_all(
    rules: Rules, stones: Mapping[Point, str], attacker: str, moves: int, lost: _Lost
) -> list[Point] | None:
    """Return the defender's longest resistance to a four on the board; None if a defence holds."""
    defender = opponent(attacker)
    replies = defences(rules, stones, defender)
    if not replies:
        return _helpless_line(rules, stones, attacker)
    longest: list[Point] = []
    for reply in replies:
        line = _search(rules, {**stones, reply: defender}, attacker, moves, lost)
        if line is None:
            return None
        if len(line) + 1 > len(longest):
            longest = [reply, *line]
    return longest


def _helpless_line(rules: Rules, stones: Mapping[Point, str], attacker: str) -> list[Point]:
    """Return any reply (on a winning point if legal) and the five; nothing if no reply is legal."""
    defender = opponent(attacker)
    wins = winning_points(rules, stones, attacker)
    for reply in [*wins, *empty_points(rules, stones)]:
        if is_legal(rules, stones, defender, reply):
            return [reply, winning_points(rules, {**stones, reply: defender}, attacker)[0]]
    return []


def _reading_order(point: Point) -> tuple[int, int]:
    return point[1], point[0]


# --- checkers --------------------------------------------------------------------------------------------------------


def find_refutation(
    rules: Rules, stones: Mapping[Point, str], attacker: str, strategy: Strategy, max_moves: int
) -> list[Point] | None:
    """Return moves by which the defender escapes the attacker's strategy; None if it wins against every reply.

    The attacker is to move and has `max_moves` moves. A refutation ends with a five of the defender, with a missing or
    illegal move of the attacker, with a move that fills the board, or when the attacker has no moves left.
    """
    move = strategy(stones)
    if move is None or not is_legal(rules, stones, attacker, move):
        return [] if move is None else [move]
    after = {**stones, move: attacker}
    if winning_lines(rules, after, move):
        return None
    defender = opponent(attacker)
    replies = sorted(legal_points(rules, after, defender), key=_reading_order)
    if not replies:
        # A full board is a draw; if all empty points are forbidden, the defender has lost.
        return None if empty_points(rules, after) else [move]
    if max_moves <= 1:
        return [move]
    for reply in replies:
        if wins_at(rules, after, defender, reply):
            return [move, reply]
    for reply in replies:
        escape = find_refutation(rules, {**after, reply: defender}, attacker, strategy, max_moves - 1)
        if escape is not None:
            return [move, reply, *escape]
    return None


def verify_win_tree(
    rules: Rules, stones: Mapping[Point, str], attacker: str, strategy: Strategy, max_moves: int
) -> bool:
    """Whether the strategy wins against every legal reply within `max_moves` moves of the attacker."""
    return find_refutation(rules, stones, attacker, strategy, max_moves) is None


def strategy_of_line(
    rules: Rules, stones: Mapping[Point, str], attacker: str, line: Sequence[Point], fallback: Strategy | None = None
) -> Strategy:
    """Return a strategy: win immediately if possible, follow the line as long as the defender does, else `fallback`."""
    planned: dict[frozenset[tuple[Point, str]], Point] = {}
    board = dict(stones)
    for number, point in enumerate(line):
        if number % 2 == 0:
            planned[frozenset(board.items())] = point
        board[point] = attacker if number % 2 == 0 else opponent(attacker)

    def strategy(now: Mapping[Point, str]) -> Point | None:
        move = planned.get(frozenset(now.items()))
        if move is not None:
            return move
        wins = winning_points(rules, now, attacker)
        if wins:
            return wins[0]
        return fallback(now) if fallback is not None else None

    return strategy


def verify_line(
    rules: Rules, stones: Mapping[Point, str], attacker: str, line: Sequence[Point], fallback: Strategy | None = None
) -> bool:
    """Whether a line (attacker, defender, attacker, …) wins against every reply of the defender.

    The line must be legal and end the game. A reply outside the line must lose to an immediate five or to the strategy
    `fallback`.
    """
    return _ends_with_win(rules, stones, attacker, line) and verify_win_tree(
        rules, stones, attacker, strategy_of_line(rules, stones, attacker, line, fallback), rules.width * rules.height
    )


def verify_vcf(rules: Rules, stones: Mapping[Point, str], attacker: str, line: Sequence[Point]) -> bool:
    """Whether the line wins against every reply and each of the attacker's moves is a four or wins.

    If a four has several defences (in caro), `find_vcf` must beat the replies outside the line within its length.
    """
    if not _ends_with_win(rules, stones, attacker, line):
        return False
    attacks = (len(line) + 1) // 2
    board = dict(stones)
    for number, point in enumerate(line):
        if number % 2 == 0 and point not in winning_points(rules, board, attacker) + four_moves(rules, board, attacker):
            return False
        board[point] = attacker if number % 2 == 0 else opponent(attacker)

    def search_again(now: Mapping[Point, str]) -> Point | None:
        again = find_vcf(rules, now, attacker, attacks)
        return again[0] if again else None

    return verify_line(rules, stones, attacker, line, search_again)


def _ends_with_win(rules: Rules, stones: Mapping[Point, str], attacker: str, line: Sequence[Point]) -> bool:
    """Whether every stone of the line is legal and only the last one ends the game, with a win for the attacker."""
    board = dict(stones)
    for number, point in enumerate(line):
        colour = attacker if number % 2 == 0 else opponent(attacker)
        if not is_legal(rules, board, colour, point):
            return False
        outcome = outcome_after(rules, board, colour, point)
        if outcome != ONGOING:
            return outcome == attacker and number == len(line) - 1
        board[point] = colour
    return False
