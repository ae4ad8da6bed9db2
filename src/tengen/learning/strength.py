"""How strong a player in training is: its rating against a ladder of fixed opponents, with an interval.

The opponents have played each other once, when the run began. A measurement adds a few games of the player in training
against each of them, from random openings with both colours, and rates all games together, with one opponent's rating
held at 0. Training losses say little about strength; this says it, and costs a known number of games.
"""

from __future__ import annotations

import hashlib
from collections.abc import Mapping
from contextlib import ExitStack
from dataclasses import dataclass
from itertools import combinations
from pathlib import Path
from typing import Any

from tengen.agents.registry import make_agent, parse_agent
from tengen.arena.match import TimeControl
from tengen.arena.openings import random_openings
from tengen.arena.pairs import play_pairs
from tengen.arena.ratings import rate
from tengen.arena.tally import Wdl
from tengen.core.contracts import Agent, Ruleset
from tengen.errors import AgentNameError, InputError

LADDER = (
    "random",
    "naive:level=1",
    "naive:level=3",
    "rule-based",
    "chains",
    "alphabeta:nodes=30,hash-mb=2",
    "alphabeta:nodes=300,hash-mb=2",
    "alphabeta:nodes=3000,hash-mb=2",
)
"""Players that answer in microseconds to a few milliseconds, about the weakest first."""


@dataclass(frozen=True, slots=True, kw_only=True)
class StrengthConfig:
    """When and how strength is measured."""

    every: int = 10
    """Iterations between measurements; 0 for none. The last iteration is always measured."""
    points: int = 0
    """If not 0, so many measurements over the run at even distances of its time, instead of `every`."""
    opponents: tuple[str, ...] = ()
    """Agent texts of the ladder; none, those of `LADDER` that play the ruleset."""
    anchor: str = "rule-based"
    """The opponent whose rating is 0."""
    games: int = 10
    """Games against each opponent, half of them with each colour."""
    simulations: int = 32
    """Simulations of the player in training for each move."""
    player: str = ""
    """Further parameters of the player that is measured, such as `preset=zero9`."""
    ladder_games: int = 10
    """Games of each pair of opponents, played once."""

    def __post_init__(self) -> None:
        opponents = self.opponents or LADDER
        if self.anchor not in opponents:
            raise InputError(f"the anchor {self.anchor!r} is none of the opponents {', '.join(opponents)}")
        if self.every < 0 or self.points < 0 or self.games < 2 or self.simulations < 1 or self.ladder_games < 2:
            raise InputError("strength needs every ≥ 0, points ≥ 0, games ≥ 2, ladder_games ≥ 2 and simulations ≥ 1")

    @property
    def is_measured(self) -> bool:
        """Whether there is a curve at all."""
        return self.every > 0 or self.points > 0

    def player_text(self, algorithm: str, folder: Path) -> str:
        """The agent that is measured: the one of the algorithm with the newest network of a run.

        `InputError` when it does not know its further parameters.
        """
        text = f'{algorithm}:run="{folder}"' + (f",{self.player}" if self.player else "")
        try:
            parse_agent(text)
        except AgentNameError as error:
            raise InputError(f"strength.player = {self.player!r}: {error}") from None
        return text


@dataclass(frozen=True, slots=True)
class Strength:
    """One point of the curve."""

    elo: float
    """Above the anchor."""
    error: float
    """Half the 95 % interval."""
    results: Mapping[str, tuple[Wdl, Wdl]]
    """Opponent → results with black and with white."""

    def to_json(self) -> dict[str, Any]:
        """For the metrics."""
        return {
            "elo": round(self.elo, 1),
            "error": round(self.error, 1),
            "scores": {name: round((black + white).score, 4) for name, (black, white) in self.results.items()},
        }


class Ladder:
    """The opponents and what they did against each other. A context manager that closes them."""

    def __init__(self, ruleset: Ruleset, config: StrengthConfig, seed: int) -> None:
        self._ruleset = ruleset
        self._config = config
        self._seed = seed
        self._agents: dict[str, Agent] = {}
        """By their text, in the order of the ladder."""
        with ExitStack() as closing:
            for text in config.opponents or LADDER:
                agent = closing.enter_context(make_agent(text))
                if agent.supports(ruleset):
                    self._agents[text] = agent
                elif config.opponents:
                    raise InputError(f"{text} does not play {ruleset}, so it cannot measure strength there")
            if config.is_measured and config.anchor not in self._agents:
                raise InputError(
                    f"the anchor {config.anchor} does not play {ruleset}, so strength.anchor must be another of"
                    f" {', '.join(self._agents)}"
                )
            self._closing = closing.pop_all()
        self._results: dict[tuple[int, int], Wdl] = {}

    def __enter__(self) -> Ladder:
        return self

    def __exit__(self, *exception: object) -> None:
        self._closing.close()

    def measure(self, agent: Agent, iteration: int) -> Strength:
        """Play the games of one measurement and rate them."""
        if not self._results:
            self._play_ladder()
        control = TimeControl(simulations=self._config.simulations)
        newcomer = len(self._agents)
        results = dict(self._results)
        by_opponent: dict[str, tuple[Wdl, Wdl]] = {}
        for place, (text, opponent) in enumerate(self._agents.items()):
            black, white = self._play_pair((agent, opponent), control, self._config.games, f"{iteration} {text}")
            results[newcomer, place], results[place, newcomer] = black, white.reversed()
            by_opponent[text] = black, white
        ratings = rate(newcomer + 1, results, anchors={list(self._agents).index(self._config.anchor): 0.0})
        return Strength(float(ratings.elo[newcomer]), ratings.error(newcomer), by_opponent)

    def _play_ladder(self) -> None:
        agents = list(self._agents.values())
        for one, other in combinations(range(len(agents)), 2):
            pair = agents[one], agents[other]
            black, white = self._play_pair(pair, TimeControl(), self._config.ladder_games, f"ladder {one} {other}")
            self._results[one, other], self._results[other, one] = black, white.reversed()

    def _play_pair(
        self, agents: tuple[Agent, Agent], control: TimeControl, games: int, purpose: str
    ) -> tuple[Wdl, Wdl]:
        """Return the results of the first agent, which plays under `control`, with black and with white."""
        digest = hashlib.blake2b(f"{self._seed} {purpose}".encode(), digest_size=8).digest()
        seed = int.from_bytes(digest) >> 1
        openings = random_openings(self._ruleset, (games + 1) // 2, seed)
        return play_pairs(self._ruleset, agents, openings, seed, (control, TimeControl()))
