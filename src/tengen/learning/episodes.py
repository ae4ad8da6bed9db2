"""Games of a network in training against itself, its past and simple players, as rows to learn from.

A row is a position in which the network in training moved, or one whose move it watched. Rows lie game after game, in
the order of play; within a game the next row may be of the same player (an opponent answered in between) or of the
other one (self-play), and `next_sign` says which. All results and values are those of the player to move, so one
formula serves both: what comes next counts with that sign.
"""

from __future__ import annotations

import copy
from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from enum import StrEnum
from typing import Any, Protocol

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
from tengen.learning.weights import weights_of
from tengen.nets.architectures import Net, NetOutput

SELF, PAST = "self", "past"
"""Opponents beside the simple players: the network itself, which then learns from both colours, and an earlier one."""

_LEARNER, _PAST, _SIMPLE = 0, 1, 2


class Colours(StrEnum):
    """Which colours the network in training plays."""

    BLACK = "black"
    WHITE = "white"
    BOTH = "both"


@dataclass(frozen=True, slots=True, kw_only=True)
class PlayConfig:
    """Which games are played."""

    games: int = 256
    """Games that are played at the same time, each to its end."""
    opponents: tuple[str, ...] = (SELF,)
    """Whom the games are against, in turn: self, past, or a simple player such as naive:level=3; repeat for a share."""
    colours: Colours = Colours.BOTH
    """The colours of the network in training, in turn; against itself it plays both."""
    opening_moves: int = 0
    """Each game begins with so many random moves at most, drawn evenly from 0 up."""
    symmetric: bool = True
    """Each position is seen through a random symmetry of the board."""
    masked: bool = True
    """Only legal moves are chosen; otherwise an illegal one loses."""

    def __post_init__(self) -> None:
        known = (SELF, PAST, *POLICIES)
        for name in self.opponents:
            if name not in known:
                raise InputError(f"unknown opponent {name!r}{did_you_mean(name, known)}")
        if self.games < 1 or not self.opponents:
            raise InputError(f"{self.games} games against {len(self.opponents)} opponents")


@dataclass(frozen=True, slots=True, kw_only=True)
class Episodes:
    """N rows of finished games."""

    planes: Tensor
    """float32 [N, C, H, W]"""
    legal: Tensor
    """bool [N, area]: what could be chosen."""
    actions: Tensor
    """int64 [N]: what was."""
    log_probs: Tensor
    """float32 [N]: with which probability."""
    values: Tensor
    """float32 [N]: what the network thought of the position."""
    results: Tensor
    """float32 [N]: +1, 0, -1 as the game ended for the player to move."""
    next_sign: Tensor
    """float32 [N]: 0 in the last row of a game, +1 before a row of the same player, -1 before one of the other."""
    rewards: npt.NDArray[np.float32]
    """[games]: how each game ended for the network in training; for black when it played itself."""
    plies: float
    """Stones of a game, on average."""
    illegal: float
    """Share of the rows in which an illegal move was chosen; 0 where moves are masked."""
    scores: Mapping[str, float]
    """Opponent → points a game of the network in training; those of black against itself."""

    def __len__(self) -> int:
        return len(self.actions)


class Choose(Protocol):
    """Picks moves: (what the network said, what may be chosen [B, area]) → (actions [B], log-probabilities [B])."""

    def __call__(self, output: NetOutput, legal: Tensor) -> tuple[Tensor, Tensor]: ...


def sample_policy(generator: torch.Generator) -> Choose:
    """Moves drawn from the policy."""

    def choose(output: NetOutput, legal: Tensor) -> tuple[Tensor, Tensor]:
        log_policy = masked_log_policy(output.policy_logits, legal)
        # The first of independent exponential clocks whose rates are the probabilities.
        clocks = torch.empty_like(log_policy).exponential_(generator=generator).log_()
        actions = (log_policy - clocks).argmax(dim=1)
        return actions, log_policy.gather(1, actions[:, None]).squeeze(1)

    return choose


def masked_log_policy(logits: Tensor, legal: Tensor) -> Tensor:
    """Log-probabilities [B, area], -inf where a move is not legal."""
    return torch.log_softmax(logits.masked_fill(~legal, -torch.inf), dim=1)


def entropy(log_policy: Tensor) -> Tensor:
    """In nats, [B]."""
    return -(log_policy.exp() * log_policy.clamp(min=torch.finfo(log_policy.dtype).min)).sum(dim=1)


def to_planes(planes: npt.NDArray[Any]) -> Tensor:
    """Planes [B, C, H, W] as networks learn from them fastest: float32, the channels of a point side by side."""
    return torch.from_numpy(planes.astype(np.float32, copy=False)).contiguous(memory_format=torch.channels_last)


class Table:
    """Where the games are played, batch after batch."""

    def __init__(self, ruleset: Ruleset, layout: str, config: PlayConfig) -> None:
        self._config = config
        self._batch = GameBatch(ruleset, config.games, layout)
        self._turns = len(symmetries(ruleset)) if config.symmetric else 1
        self._turn = np.stack([permutation(turn, ruleset) for turn in range(self._turns)])
        self._turn_back = np.stack([permutation(inverse(turn), ruleset) for turn in range(self._turns)])
        self._opponents = [config.opponents[game % len(config.opponents)] for game in range(config.games)]
        self._seats, self._policies = self._seat()

    def play(
        self, net: Net, past: Net | None, choose: Choose, rng: np.random.Generator, *, watches: bool = False
    ) -> Episodes:
        """Play all games to their ends; `past` is who sits on the seats of that name, the network itself if None.

        With `watches` the moves of simple players are rows as well, without probability and value.
        """
        batch = self._batch
        batch.begin(int(rng.integers(1 << 63)), self._config.opening_moves)
        recorded: list[tuple[Tensor, ...]] = []
        games, plies = [], []
        with torch.inference_mode():
            while len(going := np.flatnonzero(~batch.is_over)):
                colours = batch.plies[going] & 1
                seats = self._seats[going, colours]
                actions = np.full(batch.size, -1, np.int64)
                if (seats == _SIMPLE).any():
                    policies = np.full(batch.size, NO_POLICY, np.int8)
                    policies[going] = self._policies[going, colours]
                    batch.choose(policies, actions)
                    if watches:
                        rows = going[seats == _SIMPLE]
                        games.append(rows)
                        plies.append(batch.plies[rows])
                        recorded.append(self._watch(rows, rng, actions))
                if len(rows := going[seats == _LEARNER]):
                    games.append(rows)
                    plies.append(batch.plies[rows])
                    recorded.append(self._move(net, rows, choose, rng, actions))
                if len(rows := going[seats == _PAST]):
                    self._move(past or net, rows, choose, rng, actions)
                batch.play(actions)
        return self._collect(recorded, np.concatenate(games), np.concatenate(plies))

    def games(self, count: int) -> tuple[list[tuple[int, ...]], list[Outcome]]:
        """Moves and outcomes of the first games that were just played."""
        chosen = range(min(count, self._batch.size))
        return [self._batch.moves(game) for game in chosen], [self._batch.outcome(game) for game in chosen]

    def _seat(self) -> tuple[npt.NDArray[np.int8], npt.NDArray[np.int8]]:
        """Who plays each colour of each game, int8 [games, 2], and the kinds of the simple players among them."""
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
        """Let a network move in some games; returns what belongs into their rows."""
        turns, planes, legal = self._look(rows, rng)
        choices = legal if self._config.masked else torch.ones_like(legal)
        output = net(planes)
        chosen, log_probs = choose(output, choices)
        actions[rows] = self._turn_back[turns, chosen.numpy()]
        illegal = ~legal.gather(1, chosen[:, None]).squeeze(1)
        return planes, choices, chosen, log_probs, output.value_to_move, illegal

    def _watch(
        self, rows: npt.NDArray[np.int64], rng: np.random.Generator, actions: npt.NDArray[np.int64]
    ) -> tuple[Tensor, ...]:
        """What belongs into the rows of games in which somebody else has chosen his move."""
        turns, planes, legal = self._look(rows, rng)
        nothing = torch.zeros(len(rows))
        return planes, legal, torch.from_numpy(self._turn[turns, actions[rows]]), nothing, nothing, nothing.bool()

    def _look(
        self, rows: npt.NDArray[np.int64], rng: np.random.Generator
    ) -> tuple[npt.NDArray[np.int8], Tensor, Tensor]:
        """Through which symmetries some games are seen, their planes and legal points."""
        turns = (rng.integers(self._turns, size=len(rows)) if self._turns > 1 else np.zeros(len(rows))).astype(np.int8)
        planes, legal = self._batch.look(rows, turns)
        return turns, to_planes(planes), torch.from_numpy(legal)

    def _collect(
        self, recorded: Sequence[tuple[Tensor, ...]], games: npt.NDArray[np.int64], plies: npt.NDArray[np.int16]
    ) -> Episodes:
        order = np.lexsort((plies, games))
        games, colours = games[order], plies[order] & 1
        black = self._batch.black_results
        results = np.where(colours == 0, black[games], -black[games])
        same_game, same_colour = games[1:] == games[:-1], colours[1:] == colours[:-1]
        next_sign = np.zeros(len(games), np.float32)
        next_sign[:-1] = np.where(same_game, np.where(same_colour, 1.0, -1.0), 0.0)
        rewards = np.where(self._seats[:, 0] == _LEARNER, black, -black)
        columns = [torch.cat(parts)[torch.from_numpy(order)] for parts in zip(*recorded, strict=True)]
        planes, legal, actions, log_probs, values, illegal = columns
        names = np.array(self._opponents)
        return Episodes(
            planes=planes,
            legal=legal,
            actions=actions,
            log_probs=log_probs,
            values=values,
            results=torch.from_numpy(results),
            next_sign=torch.from_numpy(next_sign),
            rewards=rewards,
            plies=float(self._batch.plies.mean()),
            illegal=float(illegal.float().mean()),
            scores={name: float((1 + rewards[names == name].mean()) / 2) for name in dict.fromkeys(self._opponents)},
        )


# -- credit -----------------------------------------------------------------------------------------------------------


def discounted_returns(results: Tensor, next_sign: Tensor, discount: float) -> Tensor:
    """discount^(rows until the game's last one) · result, [N]."""
    ends = (next_sign == 0).numpy()
    rows = np.arange(len(ends))
    last = np.flatnonzero(ends)
    distance = last[np.searchsorted(last, rows)] - rows
    return results * torch.from_numpy(np.power(discount, distance)).to(results.dtype)


def generalised_advantages(
    values: Tensor, results: Tensor, next_sign: Tensor, discount: float, decay: float
) -> tuple[Tensor, Tensor]:
    """Advantages [N] by generalised advantage estimation (Schulman et al. 2016), and the value targets [N].

    δ = sign · discount · V(next) - V, or result - V in the last row; A = δ + sign · discount · decay · A(next).
    """
    advantages = values.tolist()
    following = 0.0
    rows = zip(values.tolist(), values.roll(-1).tolist(), results.tolist(), next_sign.tolist(), strict=True)
    for row, (value, next_value, result, sign) in reversed(list(enumerate(rows))):
        if sign == 0:
            following = result - value
        else:
            following = sign * discount * (next_value + decay * following) - value
        advantages[row] = following
    found = torch.tensor(advantages, dtype=values.dtype)
    return found, found + values


# -- the past ---------------------------------------------------------------------------------------------------------


@dataclass(frozen=True, slots=True, kw_only=True)
class PoolConfig:
    """Which earlier networks are opponents."""

    size: int = 8
    """So many of the newest that were kept; the first weights are the first of them."""
    every: int = 10
    """Iterations between two that are kept; 0 for none but the first."""

    def __post_init__(self) -> None:
        check_at_least(self, 1, "size")
        check_at_least(self, 0, "every")


class Pool:
    """Earlier networks."""

    def __init__(self, net: Net, config: PoolConfig) -> None:
        self._config = config
        self._nets = [copy.deepcopy(net)]

    def add(self, net: Net) -> None:
        """Keep a copy; the oldest gives its place when there are too many."""
        self._nets = [*self._nets, copy.deepcopy(net)][-self._config.size :]

    def add_if_due(self, net: Net, iteration: int) -> None:
        """Keep a copy after an iteration in which one is due."""
        if self._config.every and iteration % self._config.every == 0:
            self.add(net)

    def draw(self, rng: np.random.Generator) -> Net:
        """One of them at random."""
        return self._nets[rng.integers(len(self._nets))]

    def tensors(self) -> dict[str, dict[str, Tensor]]:
        """All of them for a checkpoint."""
        return {f"past-{place}": weights_of(net) for place, net in enumerate(self._nets)}

    def restore(self, tensors: Mapping[str, Mapping[str, Tensor]]) -> None:
        """Go back to what `tensors` returned."""
        net, self._nets = self._nets[0], []
        while (weights := tensors.get(f"past-{len(self._nets)}")) is not None:
            kept = copy.deepcopy(net)
            kept.load_state_dict(dict(weights))
            self._nets.append(kept)
