"""Training games for a critic, with its evaluation of every position."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass
from typing import Any

import numpy as np
import numpy.typing as npt

from tengen import _native
from tengen.core.contracts import Outcome, Ruleset
from tengen.core.game_batch import POLICIES
from tengen.core.native_enums import outcome_from_native
from tengen.core.position import Position
from tengen.core.tables import did_you_mean
from tengen.errors import InputError
from tengen.search.critic import Critic, FloatArray, IntArray


def check_policy_name(name: str) -> None:
    """Raise `InputError` unless `name` is the name of a simple player."""
    if name not in POLICIES:
        raise InputError(f"{name!r} is not a simple player{did_you_mean(name, tuple(POLICIES))}")


@dataclass(frozen=True, slots=True)
class CriticGames:
    """Games, the positions after their moves, and their values as winning probabilities for black.

    A position has one value per view. A critic whose inputs include the side to move (`stones`) has two views, black's
    and white's. Any other critic has only the view of the colour that has just moved.
    """

    moves: list[npt.NDArray[np.int16]]
    """Moves of each game from the empty board, opening included, as point indices."""
    outcomes: list[Outcome]
    black_values: FloatArray
    """[positions, views]: the critic's value; for the last position of a game, the result."""
    black_best_values: FloatArray
    """[positions, views]: the value after the critic's own choice, which may differ from the move played."""
    is_last: npt.NDArray[np.bool_]
    """[positions]: whether the position ends its game."""
    is_black_view: npt.NDArray[np.bool_]
    """[positions, views]: whether the view is black's."""
    row_starts: IntArray
    """[positions · views + 1]: offset of each view's inputs, and the end of the last view's."""
    indices: npt.NDArray[np.int32]
    """Indices of the nonzero inputs."""
    amounts: FloatArray
    """Values of the nonzero inputs."""

    def __len__(self) -> int:
        return len(self.is_last)

    @classmethod
    def concatenate(cls, parts: Sequence[CriticGames]) -> CriticGames:
        """Join several sets of games in order."""
        ends = np.cumsum([0, *(part.row_starts[-1] for part in parts)])
        starts = [part.row_starts[:-1] + end for part, end in zip(parts, ends, strict=False)]
        joined = {
            name: np.concatenate([getattr(part, name) for part in parts])
            for name in ("black_values", "black_best_values", "is_last", "is_black_view", "indices", "amounts")
        }
        return cls(
            moves=[moves for part in parts for moves in part.moves],
            outcomes=[outcome for part in parts for outcome in part.outcomes],
            row_starts=np.concatenate([*starts, ends[-1:]]),
            **joined,
        )


def play_games(
    critic: Critic,
    ruleset: Ruleset,
    *,
    games: int,
    seed: int,
    epsilon: float,
    random_stones: int,
    opponent: Critic | str | None = None,
) -> CriticGames:
    """Play games to their end; the same arguments produce the same games.

    `epsilon` is the probability of playing a random candidate instead of the best one. Games start with 1 to
    `random_stones` random stones, or from the empty board if it is 0. `opponent` is another critic or a simple player,
    which plays black in every other game; with None the critic plays against itself.
    """
    arrays = _native.play_critic_games(
        critic.native,
        Position.start(ruleset).native,
        games=games,
        seed=seed,
        radius=critic.config.radius,
        epsilon=epsilon,
        random_stones=random_stones,
        critic_opponent=opponent.native if isinstance(opponent, Critic) else None,
        policy_opponent=POLICIES[opponent] if isinstance(opponent, str) else None,
    )
    return _read(arrays)


def _read(arrays: dict[str, Any]) -> CriticGames:
    games, starts = arrays["game_starts"], arrays["position_starts"]
    positions = int(starts[-1])
    views = len(arrays["black_values"]) // max(positions, 1)
    is_last = np.zeros(positions, np.bool_)
    is_last[starts[1:] - 1] = True
    # The ply of each position in its game, counted from the end because only `moves` includes the openings.
    plies = (
        np.arange(positions)
        + np.repeat(games[1:] - starts[1:], np.diff(starts))
        - np.repeat(games[:-1], np.diff(starts))
    )
    moved_black = plies % 2 == 0
    is_black_view = np.stack((np.ones_like(moved_black), np.zeros_like(moved_black)), axis=1)
    return CriticGames(
        moves=np.split(arrays["moves"], games[1:-1]),
        outcomes=[outcome_from_native(outcome) for outcome in arrays["outcomes"]],
        black_values=arrays["black_values"].reshape(positions, views),
        black_best_values=arrays["black_best_values"].reshape(positions, views),
        is_last=is_last,
        is_black_view=is_black_view if views == 2 else moved_black[:, None],
        row_starts=arrays["row_starts"],
        indices=arrays["indices"],
        amounts=arrays["amounts"],
    )
