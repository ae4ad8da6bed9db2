"""A checker for claimed wins, written from the rule text (`rules`) alone.

It plays the attacker with moves that a `hint` suggests and the defender with every legal move, far from all stones or
not. Hints are not trusted: a bad one costs time or leaves a claim unverified, but cannot make a false claim pass.
"""

from __future__ import annotations

from collections.abc import Callable, Iterator

from tests.oracle.rules import (
    DIRECTIONS,
    Point,
    Rules,
    Stones,
    empty_points,
    foul,
    is_empty,
    opponent,
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


class ProofChecker:
    """Verifies that `attacker` wins whatever the other side does. Use one checker for each claim."""

    def __init__(self, rules: Rules, attacker: str, hint: Hint, max_nodes: int = 100_000) -> None:
        self._rules = rules
        self._attacker = attacker
        self._defender = opponent(attacker)
        self._hint = hint
        self._nodes_left = max_nodes
        self._replay_left = 0
        self._recent: list[Point] = []
        self._known: dict[tuple[frozenset[Point], frozenset[Point], str], bool] = {}

    def verify(self, stones: Stones, to_move: str) -> bool:
        """Return whether the claim holds with these moves; raises `OutOfNodesError` if the limit comes first."""
        stones = dict(stones)
        return self._attack(stones) if to_move == self._attacker else self._defend(stones)

    # -- the attacker moves: one good move is enough -------------------------------------------------------------------

    def _attack(self, stones: Stones) -> bool:
        self._count()
        if self._wins_now(stones, self._attacker):
            return True
        key = self._key(stones, self._attacker)
        if key not in self._known:
            self._known[key] = self._attack_anew(stones)
        return self._known[key]

    def _attack_anew(self, stones: Stones) -> bool:
        self._replay_left = _REPLAY_NODES
        if self._replay(stones):
            return True
        move = self._hint(stones, self._attacker)
        if move is None or move in stones or not self._is_legal(stones, self._attacker, move):
            return False
        if move in self._recent:
            self._recent.remove(move)
        self._recent.insert(0, move)
        del self._recent[_RECENT:]
        return self._after(stones, self._attacker, move, self._defend)

    def _replay(self, stones: Stones) -> bool:
        """Try recent attacking moves, as far as each of them makes a four."""
        if self._wins_now(stones, self._attacker):
            return True
        self._replay_left -= 1
        for move in list(self._recent) if self._replay_left > 0 else ():
            if move in stones or not self._is_legal(stones, self._attacker, move):
                continue
            if self._after(stones, self._attacker, move, self._replay_defence):
                return True
        return False

    def _replay_defence(self, stones: Stones) -> bool:
        fives = list(self._winning_points(stones, self._attacker))
        return bool(fives) and self._defend_against_fives(stones, fives, self._replay)

    # -- the defender moves: every legal move must lose ----------------------------------------------------------------

    def _defend(self, stones: Stones) -> bool:
        self._count()
        key = self._key(stones, self._defender)
        if key not in self._known:
            self._known[key] = self._defend_anew(stones)
        return self._known[key]

    def _defend_anew(self, stones: Stones) -> bool:
        fives = list(self._winning_points(stones, self._attacker))
        if fives:
            return self._defend_against_fives(stones, fives, self._attack)
        if self._wins_now(stones, self._defender):
            return False
        moves = [move for move in empty_points(self._rules, stones) if self._is_legal(stones, self._defender, move)]
        if not moves:
            # Only black in renju loses without a legal move; otherwise a full board is a draw.
            return self._rules.rule == "renju" and self._defender == "black" and len(stones) < self._area
        return all(self._after(stones, self._defender, move, self._attack) for move in moves)

    def _defend_against_fives(self, stones: Stones, fives: list[Point], attack: Callable[[Stones], bool]) -> bool:
        if self._wins_now(stones, self._defender):
            return False
        # In caro, a stone beyond the five may stop it as well; elsewhere, only a stone on the point does.
        moves = empty_points(self._rules, stones) if self._rules.rule.startswith("caro") else fives
        if len(fives) > 1 and moves is fives:
            return True
        for move in moves:
            if not self._is_legal(stones, self._defender, move):
                continue
            stones[move] = self._defender
            is_stopped = not any(five != move and self._wins_at(stones, self._attacker, five) for five in fives)
            holds = not is_stopped or attack(stones)
            del stones[move]
            if not holds:
                return False
        return True

    # -- the rules -----------------------------------------------------------------------------------------------------

    @property
    def _area(self) -> int:
        return self._rules.width * self._rules.height

    def _after(self, stones: Stones, colour: str, move: Point, then: Callable[[Stones], bool]) -> bool:
        stones[move] = colour
        try:
            return then(stones)
        finally:
            del stones[move]

    def _is_legal(self, stones: Stones, colour: str, move: Point) -> bool:
        return colour == "white" or foul(self._rules, stones, move) is None

    def _wins_now(self, stones: Stones, colour: str) -> bool:
        return any(True for _ in self._winning_points(stones, colour))

    def _winning_points(self, stones: Stones, colour: str) -> Iterator[Point]:
        found = set()
        for (x, y), owner in list(stones.items()):
            if owner != colour:
                continue
            for step_x, step_y in DIRECTIONS:
                if stones.get((x - step_x, y - step_y)) == colour:
                    continue  # not the first stone of its run
                ahead = x, y
                while stones.get(ahead) == colour:
                    ahead = ahead[0] + step_x, ahead[1] + step_y
                for point in ((x - step_x, y - step_y), ahead):
                    if point in found or not is_empty(self._rules, stones, point):
                        continue
                    if self._run_length(stones, colour, point, step_x, step_y) < self._rules.win_length:
                        continue
                    if self._wins_at(stones, colour, point):
                        found.add(point)
                        yield point

    def _run_length(self, stones: Stones, colour: str, point: Point, step_x: int, step_y: int) -> int:
        length = 1
        for sign in (-1, 1):
            x, y = point[0] + sign * step_x, point[1] + sign * step_y
            while stones.get((x, y)) == colour:
                length += 1
                x, y = x + sign * step_x, y + sign * step_y
        return length

    def _wins_at(self, stones: Stones, colour: str, point: Point) -> bool:
        return self._after(stones, colour, point, lambda after: bool(winning_lines(self._rules, after, point)))

    def _key(self, stones: Stones, to_move: str) -> tuple[frozenset[Point], frozenset[Point], str]:
        black = frozenset(point for point, colour in stones.items() if colour == "black")
        return black, frozenset(stones) - black, to_move

    def _count(self) -> None:
        self._nodes_left -= 1
        if self._nodes_left < 0:
            raise OutOfNodesError
