"""A checker for claimed wins, written from the rule text (`rules`) alone.

It plays the attacker with moves that a `hint` suggests and the defender with every legal move, far from all stones or
not. Hints are not trusted: a bad one costs time or leaves a claim unverified, but cannot make a false claim pass.

Almost all of the time goes into finding the points that complete a line. The checker finds the candidates with one
integer per colour, a bit for each stone, and applies the rule text to these few points only.
"""

from __future__ import annotations

from collections.abc import Callable

from tests.oracle.rules import (
    DIRECTIONS,
    Point,
    Rules,
    Stones,
    all_points,
    empty_points,
    is_legal,
    opponent,
    run_through,
    shift,
    winning_lines,
)

Hint = Callable[[Stones, str], Point | None]
"""Suggests a move for the colour to move."""

_RECENT = 8
"""Number of recent attacking moves that are tried against a new defence before the hint is asked."""
_REPLAY_NODES = 60
"""Positions that a replay of recent fours may visit."""


class OutOfNodesError(Exception):
    """The limit on positions was reached before a verdict."""


class BitBoard:
    """Stones that can be placed and removed, as a dict and as one integer for each colour.

    Bit x + 1 + y · (width + 1) belongs to the point (x, y). The column before the first one is always empty, so no line
    continues from one edge of the board on the other.
    """

    def __init__(self, rules: Rules, stones: Stones) -> None:
        self.rules = rules
        self.stones: Stones = {}
        self.bits = {"black": 0, "white": 0}
        self._row = rules.width + 1
        self._bit_of = {point: 1 << self._index(point) for point in all_points(rules)}
        self._point_of = {bit.bit_length(): point for point, bit in self._bit_of.items()}
        self._everywhere = sum(self._bit_of.values())
        self._steps = [abs(x + y * self._row) for x, y in DIRECTIONS]
        for point, colour in stones.items():
            self.place(point, colour)

    def place(self, point: Point, colour: str) -> None:
        """Place a stone on an empty point."""
        self.stones[point] = colour
        self.bits[colour] |= self._bit_of[point]

    def remove(self, point: Point) -> None:
        """Remove a stone."""
        self.bits[self.stones.pop(point)] ^= self._bit_of[point]

    def winning_points(self, colour: str) -> list[Point]:
        """Return the empty points where a stone of this colour wins at once, under the rule of the board."""
        return [point for point in self._long_runs(colour) if self.wins_at(colour, point)]

    def wins_at(self, colour: str, point: Point) -> bool:
        """Return whether a stone of this colour on this empty point wins at once."""
        self.stones[point] = colour
        found = bool(winning_lines(self.rules, self.stones, point))
        del self.stones[point]
        return found

    def _index(self, point: Point) -> int:
        return point[0] + 1 + point[1] * self._row

    def _long_runs(self, colour: str) -> list[Point]:
        """Return the empty points at which a stone completes a run that is long enough to win."""
        own, length = self.bits[colour], self.rules.win_length
        found = 0
        for step in self._steps:
            behind, ahead = [-1], [-1]  # element n: the points with n stones in a row on this side
            for n in range(1, length):
                behind.append(behind[-1] & own << n * step)
                ahead.append(ahead[-1] & own >> n * step)
            for n in range(length):
                found |= behind[n] & ahead[length - 1 - n]
        found &= self._everywhere & ~(self.bits["black"] | self.bits["white"])
        points = []
        while found:
            lowest = found & -found
            points.append(self._point_of[lowest.bit_length()])
            found ^= lowest
        return points


class ProofChecker:
    """Verifies that `attacker` wins whatever the other side does.

    A checker remembers the positions that it has verified, so use one for all claims about the same winner in a game.
    """

    def __init__(self, rules: Rules, attacker: str, hint: Hint) -> None:
        self._rules = rules
        self._attacker = attacker
        self._defender = opponent(attacker)
        self._hint = hint
        self._nodes_left = 0
        self._replay_left = 0
        self._recent: list[Point] = []
        self._known: dict[tuple[int, int, str], bool] = {}
        self._board = BitBoard(rules, {})

    def verify(self, stones: Stones, to_move: str, max_nodes: int) -> bool:
        """Return whether the claim holds with these moves; raises `OutOfNodesError` if the limit comes first."""
        self._board = BitBoard(self._rules, stones)
        self._nodes_left = max_nodes
        self._recent.clear()
        # A position that could not be verified may be with other hints.
        self._known = {key: True for key, holds in self._known.items() if holds}
        return self._attack() if to_move == self._attacker else self._defend()

    # -- the attacker moves: one good move is enough -------------------------------------------------------------------

    def _attack(self) -> bool:
        self._count()
        key = self._key(self._attacker)
        if key not in self._known:
            self._known[key] = bool(self._board.winning_points(self._attacker)) or self._attack_anew()
        return self._known[key]

    def _attack_anew(self) -> bool:
        self._replay_left = _REPLAY_NODES
        if self._replay_recent():
            return True
        move = self._hint(self._board.stones, self._attacker)
        if move is None or not self._is_legal(self._attacker, move):
            return False
        if move in self._recent:
            self._recent.remove(move)
        self._recent.insert(0, move)
        del self._recent[_RECENT:]
        return self._after(self._attacker, move, self._defend)

    def _replay(self) -> bool:
        """Try recent attacking moves, as far as each of them makes a four."""
        return bool(self._board.winning_points(self._attacker)) or self._replay_recent()

    def _replay_recent(self) -> bool:
        self._replay_left -= 1
        for move in list(self._recent) if self._replay_left > 0 else ():
            if self._is_legal(self._attacker, move) and self._after(self._attacker, move, self._replay_defence):
                return True
        return False

    def _replay_defence(self) -> bool:
        fives = self._board.winning_points(self._attacker)
        return bool(fives) and self._defend_against_fives(fives, self._replay)

    # -- the defender moves: every legal move must lose ----------------------------------------------------------------

    def _defend(self) -> bool:
        self._count()
        key = self._key(self._defender)
        if key not in self._known:
            self._known[key] = self._defend_anew()
        return self._known[key]

    def _defend_anew(self) -> bool:
        fives = self._board.winning_points(self._attacker)
        if fives:
            return self._defend_against_fives(fives, self._attack)
        if self._board.winning_points(self._defender):
            return False
        empty = empty_points(self._rules, self._board.stones)
        moves = [move for move in empty if self._is_legal(self._defender, move)]
        if not moves:
            # Only black in renju loses without a legal move; otherwise a full board is a draw.
            return self._rules.rule == "renju" and self._defender == "black" and bool(empty)
        return all(self._after(self._defender, move, self._attack) for move in moves)

    def _defend_against_fives(self, fives: list[Point], attack: Callable[[], bool]) -> bool:
        if self._board.winning_points(self._defender):
            return False
        if len(fives) > 1 and not self._has_closed_fives:
            return True

        def holds() -> bool:
            is_stopped = not any(
                five not in self._board.stones and self._board.wins_at(self._attacker, five) for five in fives
            )
            return not is_stopped or attack()

        return all(
            self._after(self._defender, move, holds)
            for move in self._stops_of(fives[0])
            if self._is_legal(self._defender, move)
        )

    def _stops_of(self, five: Point) -> set[Point]:
        """Return the points where a stone may stop this five: the five itself and, for caro, the ends of its lines."""
        stops = {five}
        if self._has_closed_fives:
            after = {**self._board.stones, five: self._attacker}
            for step in DIRECTIONS:
                run = run_through(after, five, step)
                stops |= {shift(run[0], step, -1), shift(run[-1], step)}
        return stops

    @property
    def _has_closed_fives(self) -> bool:
        return self._rules.rule.startswith("caro")

    # -- the board -----------------------------------------------------------------------------------------------------

    def _after(self, colour: str, move: Point, then: Callable[[], bool]) -> bool:
        self._board.place(move, colour)
        try:
            return then()
        finally:
            self._board.remove(move)

    def _is_legal(self, colour: str, move: Point) -> bool:
        return is_legal(self._rules, self._board.stones, colour, move)

    def _key(self, to_move: str) -> tuple[int, int, str]:
        return self._board.bits["black"], self._board.bits["white"], to_move

    def _count(self) -> None:
        self._nodes_left -= 1
        if self._nodes_left < 0:
            raise OutOfNodesError
