"""The simple players from the papers, in native code: random, naive 0–4, chains, rule-based, tree.

All but `tree` look only at the current position and answer in a few microseconds; `tree` needs about a millisecond.
For the exact definitions, see docs/how/players.md.
"""

from __future__ import annotations

from collections import Counter
from collections.abc import Generator
from dataclasses import dataclass
from enum import StrEnum

from tengen._native import Policy, PolicyKind
from tengen.agents.registry import AgentKind, parameter
from tengen.core.contracts import Agent, Analysis, AnalysisLine, Decision, Limits, Report, Ruleset, Search
from tengen.core.game_batch import NAIVE_FIRST_LEVELS, NAIVE_LEVELS
from tengen.core.geometry import Point
from tengen.core.position import Position
from tengen.core.stop_signal import StopSignal
from tengen.errors import GameOverError
from tengen.patterns.explain import describe_purpose
from tengen.search.seeds import seed_word

_SAMPLE = 500
"""Number of moves sampled to estimate the policy for an analysis. Sampling takes about a millisecond."""
_SEED_HELP = "Random seed; it is combined with the seed of each game."


class PointChoice(StrEnum):
    """Method of choosing if a strategy matches several points."""

    RANDOM = "random"
    FIRST = "first"


@dataclass(frozen=True)
class SimpleParameters:
    """Parameters of `random`, `chains` and `tree`."""

    seed: int = parameter(0, help=_SEED_HELP)


@dataclass(frozen=True)
class RuleBasedParameters:
    """Parameters of `rule-based`."""

    choice: PointChoice = parameter(
        PointChoice.RANDOM, help="random: Tengen's own player; first: the simpler player in the code of AlphaGomoku"
    )
    seed: int = parameter(0, help=_SEED_HELP)

    @property
    def policy(self) -> PolicyKind:
        """The native player."""
        return PolicyKind.RULE_BASED_FIRST if self.choice is PointChoice.FIRST else PolicyKind.RULE_BASED


@dataclass(frozen=True)
class NaiveParameters:
    """Parameters of `naive`."""

    level: int = parameter(3, help="Level: 0–3 as in the paper; 4 also sees split fours and broken threes.")
    choice: PointChoice = parameter(
        PointChoice.RANDOM,
        help="random: a random point of the first strategy that applies; first: the first such point, as in the"
        " author's code.",
    )
    seed: int = parameter(0, help=_SEED_HELP)

    def __post_init__(self) -> None:
        if not 0 <= self.level < len(NAIVE_LEVELS):
            raise ValueError(f"unknown naive level {self.level} (known: 0, 1, 2, 3, 4)")
        if self.choice is PointChoice.FIRST and self.level >= len(NAIVE_FIRST_LEVELS):
            raise ValueError(f"naive level {self.level} does not support choice=first; use a level from 0 to 3")

    @property
    def policy(self) -> PolicyKind:
        """The native player."""
        return (NAIVE_FIRST_LEVELS if self.choice is PointChoice.FIRST else NAIVE_LEVELS)[self.level]


class SimpleAgent(Agent):
    """A native policy as an agent."""

    def __init__(self, name: str, kind: PolicyKind, seed: int = 0) -> None:
        self.name = name
        self._kind = kind
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

    def start(self, position: Position, limits: Limits, lines: int = 1) -> Search:
        """Create a search with one snapshot: the moves from which the policy chooses, and the reason for each.

        The limits are ignored. The values are 0, because the policy does not evaluate positions.
        """
        if position.is_over:
            raise GameOverError(f"{self.name} cannot move: the game is over\n{position}")

        def run(stop: StopSignal, report: Report) -> Decision:
            return self.choose(position, limits)

        def snapshots(stop: StopSignal) -> Generator[Analysis, None, None]:
            shares = self._shares(position)
            likeliest = sorted(shares, key=lambda point: (-shares[point], point.index(position.ruleset.width)))
            shown = (
                AnalysisLine(
                    move=p, value_to_move=0.0, line=(p,), prior=shares[p], reason=describe_purpose(position, p)
                )
                for p in likeliest[: max(1, lines)]
            )
            yield Analysis(lines=tuple(shown), nodes=1, policy=shares, has_values=False)

        return Search(run, snapshots)

    def _shares(self, position: Position) -> dict[Point, float]:
        """Return the fraction of sampled moves at each point. The sample depends only on the agent's seed."""
        policy = Policy(self._kind, _mix(self._seed, _SAMPLE))
        sample = 1 if self._kind is PolicyKind.TREE else _SAMPLE  # the tree player is deterministic
        chosen = Counter(policy.choose(position.native) for _ in range(sample))
        return {Point.from_index(index, position.ruleset.width): n / sample for index, n in chosen.items()}


def _mix(agent_seed: int, game_seed: int) -> int:
    """Combine two seeds of any size into 64 bits; the odd factor distinguishes (1, 0) from (0, 1)."""
    return seed_word(agent_seed * 0x9E3779B97F4A7C15 + game_seed)


def _simple_kind(name: str, kind: PolicyKind, summary: str) -> AgentKind:
    return AgentKind(name, summary, SimpleParameters, lambda chosen: SimpleAgent(name, kind, chosen.seed))


KINDS: tuple[AgentKind, ...] = (
    _simple_kind("random", PolicyKind.RANDOM, "Plays a random legal point."),
    AgentKind(
        "naive",
        "Completes or blocks connected fours, blocks open threes; higher levels extend threes, twos and single stones.",
        NaiveParameters,
        lambda chosen: SimpleAgent("naive", chosen.policy, chosen.seed),
    ),
    _simple_kind("chains", PolicyKind.CHAINS, "Plays the point that makes and blocks the heaviest chains."),
    AgentKind(
        "rule-based",
        "Wins, blocks, then builds fours, threes and twos close to other stones.",
        RuleBasedParameters,
        lambda chosen: SimpleAgent("rule-based", chosen.policy, chosen.seed),
    ),
    _simple_kind("tree", PolicyKind.TREE, "Follows the best replies to each of its ten best points for 20 plies."),
)
