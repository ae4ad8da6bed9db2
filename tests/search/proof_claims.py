"""Wins and losses that the alpha-beta engine claims to have proved in its own games, and their verification.

`python -m tests.search.proof_claims 2000` collects that many claims from games under every rule and verifies them.
"""

from __future__ import annotations

import random
import sys
import time
from collections import Counter
from collections.abc import Iterator
from itertools import count, islice
from typing import NamedTuple

from tengen.core.contracts import Colour, Limits, Proof, Ruleset
from tengen.core.geometry import Point
from tengen.core.position import Position
from tengen.search.alphabeta import AlphaBeta, AlphaBetaConfig
from tengen.search.threats import solve_threats
from tests.oracle.proofs import OutOfNodesError, ProofChecker
from tests.oracle.rules import Rules, Stones

RULESETS = (
    "15x15:5:freestyle",
    "15x15:5:standard",
    "15x15:5:renju",
    "15x15:5:caro",
    "15x15:5:caro-exact",
    "9x9:5:freestyle",
    "9x9:5:renju",
    "11x8:5:standard",
    "8x8:4:freestyle",
    "20x20:5:freestyle",
)
_HINT_NODES = 20_000
_OPENING_STONES = 5


class Claim(NamedTuple):
    """A position with the result that the engine claims to have proved."""

    position: Position
    proof: Proof


def claims_of(ruleset: Ruleset, seed: int, nodes: int) -> Iterator[Claim]:
    """Play one game of the engine against itself from a random opening and yield all proved results."""
    engine = AlphaBeta(AlphaBetaConfig(table_mb=4))
    rng = random.Random(f"{ruleset} {seed}")
    position = Position.start(ruleset)
    centre = ruleset.centre
    while position.stones < _OPENING_STONES:
        near = [
            point
            for point in position.legal_points()
            if max(abs(point.x - centre.x), abs(point.y - centre.y)) <= 3 and not position.is_win(point)
        ]
        position = position.play(rng.choice(near))
    engine.new_game(ruleset)
    while not position.is_over:
        decision = engine.search(position, Limits(nodes=nodes)).decide()
        if decision.proof is not None:
            yield Claim(position, decision.proof)
        position = position.play(decision.move)


def games(*, nodes: int = 1500, first_seed: int = 0) -> Iterator[list[Claim]]:
    """Yield the earliest claims of each game, which are the longest ones, from games under all rulesets in turn."""
    for seed in count(first_seed):
        for text in RULESETS:
            yield list(islice(claims_of(Ruleset.parse(text), seed, nodes), 3))


class Verifier:
    """Verifies claims of the same game."""

    def __init__(self, ruleset: Ruleset) -> None:
        self._ruleset = ruleset
        self._engine = AlphaBeta(AlphaBetaConfig(table_mb=16))
        self._checkers: dict[Colour, ProofChecker] = {}

    def verify(self, claim: Claim, max_nodes: int) -> str:
        """Return `verified`, `refuted` or `unknown`."""
        position = claim.position
        winner = position.to_move if claim.proof.result == "win" else position.to_move.opponent
        if winner not in self._checkers:
            self._checkers[winner] = ProofChecker(Rules.parse(str(self._ruleset)), winner.value, self._hint)
        stones = {(point.x, point.y): colour.value for colour in Colour for point in position.points_of(colour)}
        try:
            is_won = self._checkers[winner].verify(stones, position.to_move.value, max_nodes)
        except OutOfNodesError:
            return "unknown"
        return "verified" if is_won else "refuted"

    def _hint(self, stones: Stones, to_move: str) -> tuple[int, int] | None:
        at = _position(self._ruleset, stones, to_move)
        if at.is_over:
            return None
        found = solve_threats(at, "vct", Limits(nodes=300))
        move = found.line[0] if found.line else self._engine.search(at, Limits(nodes=_HINT_NODES)).lines[0].move
        return move.x, move.y


def _position(ruleset: Ruleset, stones: Stones, to_move: str) -> Position:
    points = {
        colour: [Point.at(*point) for point, owner in stones.items() if owner == colour]
        for colour in ("black", "white")
    }
    return Position.from_stones(ruleset, black=points["black"], white=points["white"], to_move=Colour(to_move))


def main(wanted: int) -> int:
    """Verify this many claims, print the verdicts, and return the number of refuted claims."""
    verdicts: Counter[str] = Counter()
    plies: list[int] = []
    for claims in games():
        verifier = Verifier(claims[0].position.ruleset) if claims else None
        for claim in claims[: wanted - len(plies)]:
            assert verifier is not None
            verdict = verifier.verify(claim, 200_000)
            verdicts[verdict] += 1
            plies.append(claim.proof.plies)
            if verdict != "verified":
                moves = "".join(map(str, claim.position.moves))
                print(f"{verdict}: {claim.proof} in {claim.position.ruleset}: {moves}")
            if len(plies) % 50 == 0:
                print(len(plies), dict(verdicts), f"{time.process_time():.0f} s of processor time", flush=True)
        if len(plies) == wanted:
            break
    print(f"{dict(verdicts)}; {sum(plies) / len(plies):.1f} plies on average, at most {max(plies)}")
    return verdicts["refuted"]


if __name__ == "__main__":
    sys.exit(min(1, main(int(sys.argv[1]) if len(sys.argv) > 1 else 2000)))
