"""Strength of a player in training: its rating on a ladder of fixed opponents, with a confidence interval.

The opponents play each other once, at the first measurement. Each measurement adds a few games between the player in
training and every opponent, from random openings with both colours, and rates all games together. The rating of one
opponent, the anchor, is fixed at 0. Training losses say little about strength, so these measurements are worth their
cost.
"""

from __future__ import annotations

import hashlib
from collections.abc import Mapping
from contextlib import ExitStack
from dataclasses import dataclass, field
from itertools import combinations
from pathlib import Path
from typing import Any, NamedTuple

from tengen.agents.registry import make_agent, network_player, parse_agent
from tengen.arena.match import TimeControl
from tengen.arena.openings import random_openings
from tengen.arena.pairs import play_pairs
from tengen.arena.ratings import rate
from tengen.arena.tally import Wdl
from tengen.core.contracts import Agent, Ruleset
from tengen.errors import AgentNameError, InputError
from tengen.learning.checks import check_at_least

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
"""Fast players, at most a few milliseconds per move, roughly from weakest to strongest."""


@dataclass(frozen=True, slots=True, kw_only=True)
class StrengthConfig:
    """Settings for the strength measurements."""

    every: int = 10
    """Number of iterations between measurements; the last iteration is always measured. 0 for no measurements."""
    points: int = 0
    """Number of measurements, evenly spaced over the run, instead of `every`; 0 uses `every`."""
    opponents: tuple[str, ...] = ()
    """Opponents on the ladder, as agent specifications (default: those in `LADDER` that support the ruleset)."""
    anchor: str = "rule-based"
    """Opponent whose rating is fixed at 0."""
    games: int = 10
    """Games per opponent in each measurement, half with each colour."""
    simulations: int = 32
    """Simulations per move for the player in training."""
    player: str = ""
    """Additional parameters for the measured player, such as `preset=zero9`."""
    ladder_games: int = 10
    """Games between each pair of opponents, played at the first measurement."""
    at_start: bool = False
    """Also measure the untrained player, as iteration 0."""
    policy: bool = False
    """Also measure the network alone: its most likely move, without a search."""

    def __post_init__(self) -> None:
        opponents = self.opponents or LADDER
        if self.anchor not in opponents:
            raise InputError(f"the anchor {self.anchor!r} is not one of the opponents {', '.join(opponents)}")
        check_at_least(self, 0, "every", "points")
        check_at_least(self, 1, "simulations")
        check_at_least(self, 2, "games", "ladder_games")

    @property
    def is_measured(self) -> bool:
        """Whether strength is measured at all."""
        return self.every > 0 or self.points > 0

    def player_text(self, algorithm: str, folder: Path) -> str:
        """Return the specification of the agent to measure: the algorithm's agent with a run's newest network.

        Raises `InputError` if `player` has an unknown parameter.
        """
        text = f'{network_player(algorithm, "run")}:run="{folder}"' + (f",{self.player}" if self.player else "")
        try:
            parse_agent(text)
        except AgentNameError as error:
            raise InputError(f"strength.player = {self.player!r}: {error}") from None
        return text


class Rating(NamedTuple):
    """A rating relative to the anchor, and half the width of its 95 % confidence interval."""

    elo: float
    error: float

    def to_json(self) -> dict[str, float]:
        """Convert to a table for the metrics."""
        return {"elo": round(self.elo, 1), "error": round(self.error, 1)}


@dataclass(frozen=True, slots=True)
class Strength:
    """Result of one measurement."""

    elo: float
    """Rating above the anchor."""
    error: float
    """Half the width of the 95 % interval."""
    results: Mapping[str, tuple[Wdl, Wdl]]
    """Results as black and as white, by opponent."""
    policy: Rating | None = None
    """Rating of the network alone, if it was measured."""
    opponents: Mapping[str, Rating] = field(default_factory=dict)
    """Ratings of the opponents on the same scale."""
    games_each: int = 0
    """Games against each opponent."""

    def to_json(self) -> dict[str, Any]:
        """Convert to a table for the metrics; `strength_curve` in `reading` parses it."""
        table: dict[str, Any] = {
            "elo": round(self.elo, 1),
            "error": round(self.error, 1),
            "games_each": self.games_each,
            "scores": {name: round((black + white).score, 4) for name, (black, white) in self.results.items()},
            "opponents": {name: rating.to_json() for name, rating in self.opponents.items()},
        }
        return table if self.policy is None else {**table, "policy": self.policy.to_json()}


class Ladder:
    """The opponents and their results against each other. A context manager that closes the agents."""

    def __init__(self, ruleset: Ruleset, config: StrengthConfig, seed: int) -> None:
        self._ruleset = ruleset
        self._config = config
        self._seed = seed
        self._agents: dict[str, Agent] = {}
        """Agents by specification, in ladder order."""
        with ExitStack() as closing:
            for text in config.opponents or LADDER:
                agent = closing.enter_context(make_agent(text))
                if agent.supports(ruleset):
                    self._agents[text] = agent
                elif config.opponents:
                    raise InputError(f"{text} does not play {ruleset}: remove it from strength.opponents")
            if config.is_measured and config.anchor not in self._agents:
                raise InputError(
                    f"the anchor {config.anchor} does not play {ruleset}: set strength.anchor to one of"
                    f" {', '.join(self._agents)}"
                )
            self._closing = closing.pop_all()
        self._results: dict[tuple[int, int], Wdl] = {}

    def __enter__(self) -> Ladder:
        return self

    def __exit__(self, *exception: object) -> None:
        self._closing.close()

    def measure(self, agent: Agent, iteration: int, policy: Agent | None = None) -> Strength:
        """Play the games for one measurement; rate the agent and, if given, `policy`: the network without a search."""
        if not self._results:
            self._play_ladder()
        control = TimeControl(simulations=self._config.simulations)
        first = len(self._agents)
        newcomers = [agent] if policy is None else [agent, policy]
        results = dict(self._results)
        by_opponent: dict[str, tuple[Wdl, Wdl]] = {}
        for newcomer, player in enumerate(newcomers, start=first):
            for place, (text, opponent) in enumerate(self._agents.items()):
                black, white = self._play_pair((player, opponent), control, self._config.games, f"{iteration} {text}")
                results[newcomer, place], results[place, newcomer] = black, white.reversed()
                if player is agent:
                    by_opponent[text] = black, white
        anchor = list(self._agents).index(self._config.anchor)
        ratings = rate(first + len(newcomers), results, anchors={anchor: 0.0})
        rated = [Rating(float(elo), ratings.error(place)) for place, elo in enumerate(ratings.elo)]
        return Strength(
            elo=rated[first].elo,
            error=rated[first].error,
            results=by_opponent,
            policy=None if policy is None else rated[first + 1],
            opponents=dict(zip(self._agents, rated[:first], strict=True)),
            games_each=2 * ((self._config.games + 1) // 2),
        )

    def _play_ladder(self) -> None:
        agents = list(self._agents.values())
        for one, other in combinations(range(len(agents)), 2):
            pair = agents[one], agents[other]
            black, white = self._play_pair(pair, TimeControl(), self._config.ladder_games, f"ladder {one} {other}")
            self._results[one, other], self._results[other, one] = black, white.reversed()

    def _play_pair(
        self, agents: tuple[Agent, Agent], control: TimeControl, games: int, purpose: str
    ) -> tuple[Wdl, Wdl]:
        """Return the first agent's results as black and as white; `control` applies to the first agent only."""
        digest = hashlib.blake2b(f"{self._seed} {purpose}".encode(), digest_size=8).digest()
        seed = int.from_bytes(digest) >> 1
        openings = random_openings(self._ruleset, (games + 1) // 2, seed)
        return play_pairs(self._ruleset, agents, openings, seed, (control, TimeControl()))
