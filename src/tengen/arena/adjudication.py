"""Rules that end a game before it is played out: proved results, resignation, even scores."""

from __future__ import annotations

from dataclasses import dataclass
from enum import StrEnum

from tengen.arena.claims import ClaimCheck, is_own_code
from tengen.core.contracts import Agent, Decision, Outcome
from tengen.core.position import Position
from tengen.errors import NotationError


class ProofTrust(StrEnum):
    """Policy for ending a game on a proved result.

    Proofs by Tengen's own searches are trusted. A proof by any other code counts only if Tengen's engine can also prove
    the result (`tengen.arena.claims`).
    """

    NONE = "none"
    ONE = "one"
    """Either player reports a proved win, loss or draw."""
    BOTH = "both"
    """Both players report the same proved result on consecutive moves."""


@dataclass(frozen=True, slots=True, kw_only=True)
class ResignRule:
    """A player resigns once it has valued its own position at -`value` or less for `moves` moves in a row.

    Only the player's own values count, so a wrong value harms only that player. Players that report no values never
    resign.
    """

    value: float = 0.95
    moves: int = 4

    def __post_init__(self) -> None:
        _check_rule("resign", self.value, self.moves)

    @classmethod
    def parse(cls, text: str) -> ResignRule:
        """Parse `VALUE[,MOVES]`, such as `0.95,4`."""
        value, moves = _parse_rule("resign", text, (str(cls().value), str(cls().moves)))
        return cls(value=float(value), moves=int(moves))


@dataclass(frozen=True, slots=True, kw_only=True)
class DrawRule:
    """The game is drawn once each player has valued it within `value` of 0 for `moves` of its moves in a row."""

    value: float = 0.02
    moves: int = 10
    after: int = 60
    """Minimum number of stones before a game can be drawn."""

    def __post_init__(self) -> None:
        _check_rule("draw", self.value, self.moves)
        if self.after < 0:
            raise NotationError(f"the number of stones in the draw rule must be at least 0, not {self.after}")

    @classmethod
    def parse(cls, text: str) -> DrawRule:
        """Parse `VALUE[,MOVES[,AFTER]]`, such as `0.02,10,60`."""
        default = cls()
        value, moves, after = _parse_rule("draw", text, (str(default.value), str(default.moves), str(default.after)))
        return cls(value=float(value), moves=int(moves), after=int(after))


def _check_rule(name: str, value: float, moves: int) -> None:
    if not 0 < value <= 1:
        raise NotationError(f"the {name} rule needs a value above 0 and at most 1, not {value}")
    if moves < 1:
        raise NotationError(f"the {name} rule needs at least 1 move, not {moves}")


def _parse_rule(name: str, text: str, defaults: tuple[str, ...]) -> list[str]:
    """Return the fields of a rule, with defaults for missing fields. All fields but the first must be integers."""
    fields = [field.strip() for field in text.split(",")]
    try:
        float(fields[0])
        [int(field) for field in fields[1:]]
        if len(fields) > len(defaults):
            raise ValueError
    except ValueError:
        raise NotationError(f"not a {name} rule: {text!r} (expected numbers such as {','.join(defaults)})") from None
    return [*fields, *defaults[len(fields) :]]


@dataclass(frozen=True, slots=True, kw_only=True)
class Adjudication:
    """Conditions under which a game is decided before it is played out."""

    proofs: ProofTrust = ProofTrust.NONE
    """Policy for ending a game on a proved result."""
    max_moves: int | None = None
    """Number of stones at which the game is declared a draw; None for no limit."""
    resign: ResignRule | None = None
    """Rule for resignation; None if players never resign."""
    draw: DrawRule | None = None
    """Rule for declaring an even game a draw; None for no such rule."""

    def __post_init__(self) -> None:
        if self.max_moves is not None and self.max_moves < 1:
            raise NotationError(f"max_moves must be at least 1, not {self.max_moves}")


class Adjudicator:
    """Applies the adjudication rules to one game. Call each method after every move."""

    def __init__(self, rules: Adjudication) -> None:
        self._rules = rules
        self._check = ClaimCheck()
        self._claim: Outcome | None = None
        """Result proved by the player who made the last move."""
        self._lost_moves = [0, 0]
        """Number of moves in a row that each seat has valued as lost."""
        self._even_moves = [0, 0]
        """Number of moves in a row that each seat has valued as even."""

    def proved_result(self, agent: Agent, decision: Decision, after: Position) -> Outcome | None:
        """Return the result that a decision proves, if it ends the game; `after` is the position after the move."""
        if self._rules.proofs is ProofTrust.NONE:
            return None
        claim: Outcome | None = None
        if decision.proof is not None and not after.is_over:
            mover = after.to_move.opponent
            winner = {"win": mover, "loss": mover.opponent}.get(decision.proof.result)
            claim = Outcome.DRAW if winner is None else Outcome.win_for(winner)
            if not is_own_code(agent) and not self._check.confirms(claim, after):
                claim = None
        before, self._claim = self._claim, claim
        return claim if self._rules.proofs is ProofTrust.ONE or claim == before else None

    def has_resigned(self, seat: int, value: float | None) -> bool:
        """Whether a seat resigns after a move that it valued at `value`; None if the player gave no value."""
        rule = self._rules.resign
        if rule is None:
            return False
        is_lost = value is not None and value <= -rule.value
        self._lost_moves[seat] = self._lost_moves[seat] + 1 if is_lost else 0
        return self._lost_moves[seat] >= rule.moves

    def is_drawn(self, seat: int, value: float | None, stones: int) -> bool:
        """Whether the game is drawn after a seat's move, with `stones` on the board."""
        rule = self._rules.draw
        if rule is None:
            return False
        is_even = value is not None and abs(value) <= rule.value
        self._even_moves[seat] = self._even_moves[seat] + 1 if is_even else 0
        return min(self._even_moves) >= rule.moves and stones >= rule.after
