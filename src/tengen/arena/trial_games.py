"""Trial games: short games of one agent against itself that show which colour an opening favours.

Every search in a trial game gets a random node limit around the nominal value. Games from one opening therefore differ,
although the agent always plays its best move. The same seed and agent produce the same games.
"""

from __future__ import annotations

import math
import random
from collections.abc import Iterator
from dataclasses import dataclass

from tengen.arena.adjudication import Adjudication, ProofTrust
from tengen.arena.match import play_game
from tengen.core.contracts import Agent, Decision, Limits, Outcome, Ruleset
from tengen.core.position import Position
from tengen.errors import AgentError, InputError

_FULL_BOARD = 0.9
"""Fraction of occupied points at which a trial game is declared a draw."""
_POINTS_OF_BLACK = {Outcome.BLACK: 1.0, Outcome.DRAW: 0.5, Outcome.WHITE: 0.0}


@dataclass(frozen=True, slots=True, kw_only=True)
class TrialSettings:
    """Number of trial games per opening, and nodes per move."""

    games: int = 20
    """Games per opening; 0 plays none."""
    nodes: int = 3_000
    """Mean node limit per move; the limit of each search is between 0.5 and 1.5 times this value."""

    def __post_init__(self) -> None:
        if self.games < 0 or self.games % 2:
            raise InputError(f"the number of trial games must be even and not negative, not {self.games}")
        if self.nodes < 2:
            raise InputError(f"the nodes per move of trial games must be at least 2, not {self.nodes}")


@dataclass(frozen=True, slots=True)
class TrialResult:
    """Results of trial games in the order of play, as points for black."""

    points: tuple[float, ...]

    @property
    def black_share(self) -> float:
        """Share of the points that black scored. Requires at least one game."""
        return sum(self.points) / len(self.points)

    @property
    def split_pairs(self) -> int:
        """Number of pairs of games with equal results.

        If two players exchanged colours between the games of such a pair, each would score one point, so the pair would
        not show which of them is stronger.
        """
        return sum(one == other for one, other in zip(self.points[::2], self.points[1::2], strict=False))

    @property
    def pairs(self) -> int:
        """Number of complete pairs of games."""
        return len(self.points) // 2


def play_trials(agent: Agent, opening: Position, settings: TrialSettings, seed: str) -> Iterator[TrialResult]:
    """Play the trial games from an opening and yield the results so far after each game."""
    rng = random.Random(f"trial games {seed}")
    player = _VariedAgent(agent, settings.nodes, rng)
    end = Adjudication(proofs=ProofTrust.ONE, max_moves=math.ceil(_FULL_BOARD * opening.ruleset.area))
    points: tuple[float, ...] = ()
    for _ in range(settings.games):
        result = play_game(opening.ruleset, (player, player), opening=opening.moves, adjudication=end)
        if result.ending.is_forfeit:
            raise AgentError(f"{agent.name} forfeited a trial game: {result.detail}")
        points += (_POINTS_OF_BLACK[result.outcome],)
        yield TrialResult(points)


class _VariedAgent(Agent):
    """Wraps an agent and gives each of its searches a random node limit."""

    def __init__(self, agent: Agent, nodes: int, rng: random.Random) -> None:
        self.name = agent.name
        self._agent = agent
        self._nodes = nodes
        self._rng = rng

    def new_game(self, ruleset: Ruleset, seed: int = 0) -> None:
        self._agent.new_game(ruleset, 0)

    def choose(self, position: Position, limits: Limits) -> Decision:
        nodes = self._rng.randint(self._nodes // 2, self._nodes * 3 // 2)
        return self._agent.choose(position, Limits(nodes=nodes))
