"""Replays forced wins against every defence, using only the oracle.

The oracle's own checkers try every legal reply everywhere, which takes minutes if the attack contains quiet threats.
Here only the replies that stop it are tried after a threat to win immediately (the oracle finds them all); after any
other move every legal reply is tried.
"""

from __future__ import annotations

import json
from collections.abc import Callable
from typing import Any

from tengen.core.position import Position
from tests.conftest import ROOT
from tests.oracle.rules import (
    Point,
    Rules,
    Stones,
    empty_points,
    is_legal,
    legal_points,
    opponent,
    winning_lines,
)
from tests.oracle.vcf import defences, winning_points

Attack = Callable[[Stones], Point | None]
"""Returns the attacker's move in a position with the attacker to move; None if the attack has failed."""


def rules_of(position: Position) -> Rules:
    """Convert a position's ruleset to the oracle's type."""
    return Rules.parse(position.ruleset.name)


def load_forced_wins() -> list[dict[str, Any]]:
    """Load positions from self-play games of the engine, each a proved win by fours (vcf) or threats (vct)."""
    lines = (ROOT / "tests" / "data" / "forced_wins.jsonl").read_text(encoding="utf-8").splitlines()
    return [json.loads(line) for line in lines]


def puzzle_name(puzzle: dict[str, Any]) -> str:
    """Return the test id of a puzzle."""
    return f"{puzzle['kind']} {puzzle['ruleset']} in {puzzle['moves']}"


def find_escape(rules: Rules, stones: Stones, attacker: str, attack: Attack, max_moves: int) -> list[Point] | None:
    """Return moves by which the defender escapes, or None if the attack wins against every reply in `max_moves`."""
    return _Replay(rules, attacker, attack).escape(dict(stones), max_moves)


class _Replay:
    def __init__(self, rules: Rules, attacker: str, attack: Attack) -> None:
        self._rules = rules
        self._attacker = attacker
        self._defender = opponent(attacker)
        self._attack = attack
        self._won: set[frozenset[tuple[Point, str]]] = set()

    def escape(self, stones: Stones, moves_left: int) -> list[Point] | None:
        """Return the defender's escape in a position with the attacker to move."""
        key = frozenset(stones.items())
        if key in self._won:
            return None
        wins = winning_points(self._rules, stones, self._attacker)
        move = wins[0] if wins else self._attack(stones)
        if move is None or moves_left == 0 or not is_legal(self._rules, stones, self._attacker, move):
            return [] if move is None else [move]
        after = {**stones, move: self._attacker}
        if not winning_lines(self._rules, after, move):
            escape = self._escape_from(after, moves_left - 1)
            if escape is not None:
                return [move, *escape]
        self._won.add(key)
        return None

    def _escape_from(self, stones: Stones, moves_left: int) -> list[Point] | None:
        """Return the defender's escape in a position with the defender to move."""
        wins = winning_points(self._rules, stones, self._defender)
        if wins:
            return wins[:1]
        if winning_points(self._rules, stones, self._attacker):
            replies = defences(self._rules, stones, self._defender)
        else:
            replies = sorted(legal_points(self._rules, stones, self._defender))
            if not replies:
                # A full board is a draw; a defender who can only play fouls has lost.
                return None if empty_points(self._rules, stones) else []
        for reply in replies:
            escape = self.escape({**stones, reply: self._defender}, moves_left)
            if escape is not None:
                return [reply, *escape]
        return None
