"""A network's games against itself, earlier networks and simple players, as rows for policy and value learning.

A row is a position in which the network moved, or in which it observed a simple player's move. Rows are ordered by game
and ply. The next row of a game belongs to the same player if an opponent moved in between, and to the other player in
self-play; `next_sign` is +1 or -1 accordingly. All results and values are from the perspective of the player to move,
so one formula covers both cases: the value of the next row is multiplied by `next_sign`.
"""

from __future__ import annotations

import copy
from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from enum import StrEnum
from typing import Protocol

import numpy as np
import numpy.typing as npt
import torch
from torch import Tensor

from tengen.core.contracts import Outcome, Ruleset
from tengen.core.game_batch import NO_POLICY, POLICIES, GameBatch
from tengen.core.symmetry import inverse, permutation, symmetries
from tengen.core.tables import did_you_mean
from tengen.errors import InputError
from tengen.learning.checks import check_at_least
from tengen.learning.learner import restore_weights, to_planes, weights_of
from tengen.nets.architectures import Net, NetOutput

SELF, PAST = "self", "past"
"""Opponents besides the simple players: the network itself, which then learns from both colours, and an earlier
network."""

_LEARNER, _PAST, _SIMPLE = 0, 1, 2


class Colours(StrEnum):
    """Colours that the network in training plays."""

    BLACK = "black"
    WHITE = "white"
    BOTH = "both"


class FullBoard(StrEnum):
    """Result of a game that ends with a full board."""

    DRAW = "draw"
    BLACK = "black"
    """Black wins: in the code of pg9, white resigns when no point is empty."""
    WHITE = "white"
    """White wins."""


@dataclass(frozen=True, slots=True, kw_only=True)
class PlayConfig:
    """Settings for a batch of games."""

    games: int = 256
    """Number of games, played concurrently."""
    opponents: tuple[str, ...] = (SELF,)
    """Opponents, assigned to the games in turn: self, past, or a simple player such as naive:level=3. An opponent that
    is listed twice gets twice as many games."""
    colours: Colours = Colours.BOTH
    """Colours of the network in training; `both` alternates. In self-play it always plays both."""
    opening_moves: int = 0
    """Maximum number of random opening moves; the number is uniform from 0 to this maximum."""
    symmetric: bool = True
    """Apply a random board symmetry to each position that the network sees."""
    masked: bool = True
    """Choose among legal moves only; otherwise an illegal move loses the game."""
    full_board: FullBoard = FullBoard.DRAW
    """Result of a game that ends with a full board."""

    def __post_init__(self) -> None:
        known = (SELF, PAST, *POLICIES)
        for name in self.opponents:
            if name not in known:
                raise InputError(f"unknown opponent {name!r}{did_you_mean(name, known)}")
        check_at_least(self, 1, "games")
        if not self.opponents:
            raise InputError("play.opponents is empty: set at least one opponent")


@dataclass(frozen=True, slots=True, kw_only=True)
class Episodes:
    """N rows from finished games."""

    planes: Tensor
    """float32 [N, C, H, W]: input planes."""
    legal: Tensor
    """bool [N, area]: moves that were allowed."""
    actions: Tensor
    """int64 [N]: move that was chosen."""
    log_probs: Tensor
    """float32 [N]: log-probability of the chosen move under the policy that played."""
    value_to_move: Tensor
    """float32 [N]: value of the position predicted by the network."""
    results: Tensor
    """float32 [N]: result of the game (+1, 0, -1) for the player to move."""
    next_sign: Tensor
    """float32 [N]: +1 if the next row belongs to the same player, -1 if to the other, 0 in the last row of a game."""
    rewards: npt.NDArray[np.float32]
    """[games]: result of each game for the network in training, or for black in self-play."""
    plies: float
    """Mean number of stones per game."""
    illegal: float
    """Share of rows in which an illegal move was chosen; 0 if moves are masked."""
    scores: Mapping[str, float]
    """Mean points per game against each opponent, for the network in training, or for black in self-play."""

    def __len__(self) -> int:
        return len(self.actions)


class Choose(Protocol):
    """Function that chooses actions [B] among the allowed moves [B, area]; it also returns their log-probabilities."""

    def __call__(self, output: NetOutput, legal: Tensor) -> tuple[Tensor, Tensor]: ...


def sample_policy(generator: torch.Generator) -> Choose:
    """Return a function that samples moves from the policy."""

    def choose(output: NetOutput, legal: Tensor) -> tuple[Tensor, Tensor]:
        log_policy = masked_log_policy(output.policy_logits, legal)
        # Gumbel-max trick: the argmax of log-probability minus the log of an exponential variable is a sample.
        clocks = torch.empty_like(log_policy).exponential_(generator=generator).log_()
        actions = (log_policy - clocks).argmax(dim=1)
        return actions, log_policy.gather(1, actions[:, None]).squeeze(1)

    return choose


def greedy_policy(generator: torch.Generator) -> Choose:
    """Return a function that chooses the most likely move; ties are broken at random."""

    def choose(output: NetOutput, legal: Tensor) -> tuple[Tensor, Tensor]:
        log_policy = masked_log_policy(output.policy_logits, legal)
        best = log_policy == log_policy.amax(dim=1, keepdim=True)
        actions = torch.empty_like(log_policy).exponential_(generator=generator).masked_fill_(~best, -1).argmax(dim=1)
        return actions, log_policy.gather(1, actions[:, None]).squeeze(1)

    return choose


def masked_log_policy(logits: Tensor, legal: Tensor) -> Tensor:
    """Return log-probabilities [B, area], -inf for illegal moves."""
    return torch.log_softmax(logits.masked_fill(~legal, -torch.inf), dim=1)


def entropy(log_policy: Tensor) -> Tensor:
    """Return the entropies [B], in nats, of log-policies [B, area]."""
    return -(log_policy.exp() * log_policy.clamp(min=torch.finfo(log_policy.dtype).min)).sum(dim=1)


class EpisodePlayer:
    """Plays batches of games between a network and its opponents."""

    def __init__(self, ruleset: Ruleset, layout: str, config: PlayConfig) -> None:
        self._config = config
        self._batch = GameBatch(ruleset, config.games, layout)
        self._symmetries = len(symmetries(ruleset)) if config.symmetric else 1
        self._to_view = np.stack([permutation(one, ruleset) for one in range(self._symmetries)])
        self._from_view = np.stack([permutation(inverse(one), ruleset) for one in range(self._symmetries)])
        self._opponents = [config.opponents[game % len(config.opponents)] for game in range(config.games)]
        self._seats, self._policies = self._seat()

    def play(
        self, net: Net, past: Net | None, choose: Choose, rng: np.random.Generator, *, watches: bool = False
    ) -> Episodes:
        """Play all games to the end and return their rows.

        `past` is the network that plays the opponent `past` (default: `net`). With `watches`, simple players' moves
        also become rows, with log-probability and value 0.
        """
        batch = self._batch
        batch.begin(int(rng.integers(1 << 63)), self._config.opening_moves)
        recorded: list[tuple[Tensor, ...]] = []
        games, plies = [], []
        with torch.inference_mode():
            while len(unfinished := np.flatnonzero(~batch.is_over)):
                colours = batch.plies[unfinished] & 1
                seats = self._seats[unfinished, colours]
                actions = np.full(batch.size, -1, np.int64)
                if (seats == _SIMPLE).any():
                    policies = np.full(batch.size, NO_POLICY, np.int8)
                    policies[unfinished] = self._policies[unfinished, colours]
                    batch.choose(policies, actions)
                    if watches:
                        rows = unfinished[seats == _SIMPLE]
                        games.append(rows)
                        plies.append(batch.plies[rows])
                        recorded.append(self._watch(rows, rng, actions))
                if len(rows := unfinished[seats == _LEARNER]):
                    games.append(rows)
                    plies.append(batch.plies[rows])
                    recorded.append(self._move(net, rows, choose, rng, actions))
                if len(rows := unfinished[seats == _PAST]):
                    self._move(past or net, rows, choose, rng, actions)
                batch.play(actions)
        return self._collect(recorded, np.concatenate(games), np.concatenate(plies))

    def games(self, count: int) -> tuple[list[tuple[int, ...]], list[Outcome]]:
        """Return the moves and outcomes of up to `count` games from the last batch."""
        chosen = range(min(count, self._batch.size))
        return [self._batch.moves(game) for game in chosen], [self._batch.outcome(game) for game in chosen]

    def _black_results(self) -> npt.NDArray[np.float32]:
        """Return the results for black. Full boards have the configured result."""
        black = self._batch.black_results
        if self._config.full_board is FullBoard.DRAW:
            return black
        return np.where(self._batch.is_full, np.float32(1 if self._config.full_board is FullBoard.BLACK else -1), black)

    def _seat(self) -> tuple[npt.NDArray[np.int8], npt.NDArray[np.int8]]:
        """Return the player of each colour in each game, int8 [games, 2], and the policies of the simple players."""
        seats = np.full((len(self._opponents), 2), _LEARNER, np.int8)
        policies = np.full(seats.shape, NO_POLICY, np.int8)
        for game, name in enumerate(self._opponents):
            if name == SELF:
                continue
            both = self._config.colours is Colours.BOTH
            plays_white = (game // len(self._config.opponents)) % 2 == 1
            other = int(not plays_white) if both else int(self._config.colours is Colours.BLACK)
            seats[game, other] = _PAST if name == PAST else _SIMPLE
            policies[game, other] = NO_POLICY if name == PAST else POLICIES[name].value
        return seats, policies

    def _move(
        self,
        net: Net,
        rows: npt.NDArray[np.int64],
        choose: Choose,
        rng: np.random.Generator,
        actions: npt.NDArray[np.int64],
    ) -> tuple[Tensor, ...]:
        """Choose moves with a network in the games `rows`; return the columns of the new rows."""
        chosen_symmetries, planes, legal = self._observe(rows, rng)
        choices = legal if self._config.masked else torch.ones_like(legal)
        output = net(planes)
        chosen, log_probs = choose(output, choices)
        actions[rows] = self._from_view[chosen_symmetries, chosen.numpy()]
        illegal = ~legal.gather(1, chosen[:, None]).squeeze(1)
        return planes, choices, chosen, log_probs, output.value_to_move, illegal

    def _watch(
        self, rows: npt.NDArray[np.int64], rng: np.random.Generator, actions: npt.NDArray[np.int64]
    ) -> tuple[Tensor, ...]:
        """Return the columns of the new rows for games in which a simple player has moved."""
        chosen_symmetries, planes, legal = self._observe(rows, rng)
        nothing = torch.zeros(len(rows))
        return (
            planes,
            legal,
            torch.from_numpy(self._to_view[chosen_symmetries, actions[rows]]),
            nothing,
            nothing,
            nothing.bool(),
        )

    def _observe(
        self, rows: npt.NDArray[np.int64], rng: np.random.Generator
    ) -> tuple[npt.NDArray[np.int8], Tensor, Tensor]:
        """Return a random symmetry for each of the games `rows`, with planes and legal points under that symmetry."""
        count = len(rows)
        drawn = rng.integers(self._symmetries, size=count) if self._symmetries > 1 else np.zeros(count)
        chosen = drawn.astype(np.int8)
        planes, legal = self._batch.look(rows, chosen)
        return chosen, to_planes(planes), torch.from_numpy(legal)

    def _collect(
        self, recorded: Sequence[tuple[Tensor, ...]], games: npt.NDArray[np.int64], plies: npt.NDArray[np.int16]
    ) -> Episodes:
        order = np.lexsort((plies, games))
        games, colours = games[order], plies[order] & 1
        black = self._black_results()
        results = np.where(colours == 0, black[games], -black[games])
        same_game, same_colour = games[1:] == games[:-1], colours[1:] == colours[:-1]
        next_sign = np.zeros(len(games), np.float32)
        next_sign[:-1] = np.where(same_game, np.where(same_colour, 1.0, -1.0), 0.0)
        rewards = np.where(self._seats[:, 0] == _LEARNER, black, -black)
        columns = [torch.cat(parts)[torch.from_numpy(order)] for parts in zip(*recorded, strict=True)]
        planes, legal, actions, log_probs, value_to_move, illegal = columns
        names = np.array(self._opponents)
        return Episodes(
            planes=planes,
            legal=legal,
            actions=actions,
            log_probs=log_probs,
            value_to_move=value_to_move,
            results=torch.from_numpy(results),
            next_sign=torch.from_numpy(next_sign),
            rewards=rewards,
            plies=float(self._batch.plies.mean()),
            illegal=float(illegal.float().mean()),
            scores={name: float((1 + rewards[names == name].mean()) / 2) for name in dict.fromkeys(self._opponents)},
        )


# -- credit -----------------------------------------------------------------------------------------------------------


def discounted_returns(results: Tensor, next_sign: Tensor, discount: float) -> Tensor:
    """Return the discounted results [N]: result · discount^(number of rows until the last row of the game)."""
    ends = (next_sign == 0).numpy()
    rows = np.arange(len(ends))
    last = np.flatnonzero(ends)
    distance = last[np.searchsorted(last, rows)] - rows
    return results * torch.from_numpy(np.power(discount, distance)).to(results.dtype)


def standardised_returns(returns: Tensor, next_sign: Tensor, games: int) -> Tensor:
    """Scale the returns [N] of every `games` consecutive games to mean 0 and deviation 1; 0 if all are equal."""
    starts = torch.nonzero(next_sign == 0).flatten()[games - 1 : -1 : games] + 1
    return torch.cat([_standardised(part) for part in torch.tensor_split(returns, starts.tolist())])


def _standardised(values: Tensor) -> Tensor:
    deviation = values.std(correction=0)
    return (values - values.mean()) / deviation if deviation > 1e-6 else torch.zeros_like(values)


def generalised_advantages(
    value_to_move: Tensor, results: Tensor, next_sign: Tensor, discount: float, decay: float
) -> tuple[Tensor, Tensor]:
    """Return advantages [N] by generalised advantage estimation (Schulman et al. 2016) and value targets [N].

    δ = sign · discount · V(next) - V, or result - V in the last row; A = δ + sign · discount · decay · A(next).
    """
    advantages = value_to_move.tolist()
    following = 0.0
    next_values = value_to_move.roll(-1)
    rows = zip(value_to_move.tolist(), next_values.tolist(), results.tolist(), next_sign.tolist(), strict=True)
    for row, (value, next_value, result, sign) in reversed(list(enumerate(rows))):
        if sign == 0:
            following = result - value
        else:
            following = sign * discount * (next_value + decay * following) - value
        advantages[row] = following
    found = torch.tensor(advantages, dtype=value_to_move.dtype)
    return found, found + value_to_move


# -- earlier networks -------------------------------------------------------------------------------------------------


@dataclass(frozen=True, slots=True, kw_only=True)
class PoolConfig:
    """Settings for the pool of earlier networks, which play as the opponent `past`."""

    size: int = 8
    """Maximum number of networks; the newest are kept. The initial network is the first."""
    every: int = 10
    """Number of iterations after which the current network is added; 0 to add none."""

    def __post_init__(self) -> None:
        check_at_least(self, 1, "size")
        check_at_least(self, 0, "every")


class Pool:
    """Copies of earlier networks, oldest first."""

    def __init__(self, net: Net, config: PoolConfig) -> None:
        self._config = config
        self._nets = [copy.deepcopy(net)]

    def add(self, net: Net) -> None:
        """Add a copy of a network; drop the oldest one if there are too many."""
        self._nets = [*self._nets, copy.deepcopy(net)][-self._config.size :]

    def add_if_due(self, net: Net, iteration: int) -> None:
        """Add a copy of a network if one is due after this iteration."""
        if self._config.every and iteration % self._config.every == 0:
            self.add(net)

    def draw(self, rng: np.random.Generator) -> Net:
        """Return a random network."""
        return self._nets[rng.integers(len(self._nets))]

    def tensors(self) -> dict[str, dict[str, Tensor]]:
        """Return all weights for a checkpoint."""
        return {f"past-{place}": weights_of(net) for place, net in enumerate(self._nets)}

    def restore(self, tensors: Mapping[str, Mapping[str, Tensor]]) -> None:
        """Restore the state saved by `tensors`. Raises `RunError` if a network does not match."""
        nets = [copy.deepcopy(self._nets[0])]
        restore_weights(nets[0], tensors, "past-0")
        while (name := f"past-{len(nets)}") in tensors:
            nets.append(copy.deepcopy(nets[0]))
            restore_weights(nets[-1], tensors, name)
        self._nets = nets
