"""The simple players from the papers, in native code: random, naive 0–4, chains, rule-based.

They look only at the current position and answer in a few microseconds. docs/how/players.md defines them exactly.
"""

from __future__ import annotations

from dataclasses import dataclass

from tengen._native import Policy, PolicyKind
from tengen.agents.registry import AgentKind, parameter
from tengen.core.contracts import Agent, Decision, Limits, Ruleset
from tengen.core.game_batch import NAIVE_LEVELS
from tengen.core.geometry import Point
from tengen.core.position import Position
from tengen.errors import GameOverError
from tengen.search.seeds import seed_word

_SEED_HELP = "Random seed; it is combined with the seed of each game."


@dataclass(frozen=True)
class SimpleParameters:
    """Parameters of `random`, `chains` and `rule-based`."""

    seed: int = parameter(0, help=_SEED_HELP)


@dataclass(frozen=True)
class NaiveParameters:
    """Parameters of `naive`."""

    level: int = parameter(3, help="0–3 as in the paper; 4 also sees split fours and broken threes.")
    seed: int = parameter(0, help=_SEED_HELP)

    def __post_init__(self) -> None:
        if not 0 <= self.level < len(NAIVE_LEVELS):
            raise ValueError(f"unknown naive level {self.level} (known: 0, 1, 2, 3, 4)")


class SimpleAgent(Agent):
    """A native policy as an agent."""

    def __init__(self, name: str, kind: PolicyKind, seed: int = 0) -> None:
        self.name = name
        self._seed = seed
        self._policy = Policy(kind, _mix(seed, 0))

    def new_game(self, ruleset: Ruleset, seed: int = 0) -> None:
        """Reseed the random generator from the agent's and the game's seeds."""
        self._policy.reseed(_mix(self._seed, seed))

    def choose(self, position: Position, limits: Limits) -> Decision:
        """Return the policy's move; the limits are ignored."""
        if position.is_over:
            raise GameOverError(f"{self.name} cannot move: the game is over\n{position}")
        index = self._policy.choose(position.native)
        return Decision(move=Point.from_index(index, position.ruleset.width))


def _mix(agent_seed: int, game_seed: int) -> int:
    """Combine two seeds of any size into 64 bits; the odd factor distinguishes (1, 0) from (0, 1)."""
    return seed_word(agent_seed * 0x9E3779B97F4A7C15 + game_seed)


def _simple_kind(name: str, kind: PolicyKind, summary: str) -> AgentKind:
    return AgentKind(name, summary, SimpleParameters, lambda chosen: SimpleAgent(name, kind, chosen.seed))


KINDS: tuple[AgentKind, ...] = (
    _simple_kind("random", PolicyKind.RANDOM, "Plays a random legal point."),
    AgentKind(
        "naive",
        "Wins and blocks connected fours, blocks open threes; higher levels extend threes, twos and single stones.",
        NaiveParameters,
        lambda chosen: SimpleAgent("naive", NAIVE_LEVELS[chosen.level], chosen.seed),
    ),
    _simple_kind("chains", PolicyKind.CHAINS, "Plays the point that makes and blocks the heaviest chains."),
    _simple_kind(
        "rule-based", PolicyKind.RULE_BASED, "Wins, blocks, then builds fours, threes and twos close to other stones."
    ),
)
