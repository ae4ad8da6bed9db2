"""Batches of games played to the end in parallel, used by the training algorithms without tree search.

The rules, the simple players and the input planes are native; one call makes a move in every game.
`tengen.envs.GomokuVectorEnv` is the Gymnasium counterpart, in which finished games restart automatically.
"""

from __future__ import annotations

import numpy as np
import numpy.typing as npt

from tengen import _native
from tengen._native import PolicyKind
from tengen.core.contracts import Outcome, Ruleset
from tengen.core.native_enums import outcome_from_native
from tengen.core.planes import FloatPlanes, check_layout, native_layout, plane_count
from tengen.core.position import Position
from tengen.errors import InputError

NAIVE_LEVELS: tuple[PolicyKind, ...] = tuple(PolicyKind[f"NAIVE{level}"] for level in range(5))
"""The naive players by level."""
NAIVE_FIRST_LEVELS: tuple[PolicyKind, ...] = tuple(PolicyKind[f"NAIVE_FIRST{level}"] for level in range(4))
"""The naive players with `choice=first` by level."""

POLICIES: dict[str, PolicyKind] = {
    "random": PolicyKind.RANDOM,
    "naive": PolicyKind.NAIVE3,
    **{f"naive:level={level}": kind for level, kind in enumerate(NAIVE_LEVELS)},
    **{f"naive:level={level},choice=first": kind for level, kind in enumerate(NAIVE_FIRST_LEVELS)},
    "chains": PolicyKind.CHAINS,
    "rule-based": PolicyKind.RULE_BASED,
    "rule-based:choice=first": PolicyKind.RULE_BASED_FIRST,
    "tree": PolicyKind.TREE,
}
"""The simple native players by agent specification (docs/how/players.md)."""

NO_POLICY = -1
"""Marks a game that `GameBatch.choose` skips."""

_BLACK_RESULTS = np.zeros(len(_native.Outcome), np.float32)  # indexed by native outcome
_BLACK_RESULTS[[_native.Outcome.BLACK, _native.Outcome.WHITE]] = 1.0, -1.0

Actions = npt.NDArray[np.int64]
Rows = npt.NDArray[np.int64]


class GameBatch:
    """A fixed number of games under one ruleset. Arrays have one entry per game except where noted."""

    def __init__(self, ruleset: Ruleset, games: int, layout: str) -> None:
        check_layout(layout, ruleset)
        if games < 1:
            raise InputError(f"games must be at least 1, not {games}")
        self.ruleset = ruleset
        self.size = games
        self._planes = (plane_count(layout), ruleset.height, ruleset.width)
        self._native = _native.GameBatch(Position.start(ruleset).native, games, native_layout(layout))
        # These arrays are views into native memory and keep it alive.
        self._outcomes, self.plies = self._native.outcomes, self._native.plies
        self.begin(0)

    def begin(self, seed: int, most_opening_moves: int = 0) -> None:
        """Reset all games, each with 0 to `most_opening_moves` random moves."""
        most = 2 * self.ruleset.win_length - 2
        if not 0 <= most_opening_moves <= most:
            raise InputError(
                f"most_opening_moves={most_opening_moves} is outside the range 0–{most}: more moves could end a game"
            )
        self._native.begin(seed & 0xFFFF_FFFF_FFFF_FFFF, most_opening_moves)

    def look(self, rows: Rows, turns: npt.NDArray[np.int8]) -> tuple[FloatPlanes, npt.NDArray[np.bool_]]:
        """Return planes [rows, C, H, W] and legal points [rows, area] for the side to move in the given games.

        `turns` [rows] contains the symmetry (`tengen.core.symmetry`) applied to each board.
        """
        planes = np.empty((len(rows), *self._planes), np.float32)
        legal = np.empty((len(rows), self.ruleset.area), np.bool_)
        self._native.write(rows, turns, planes, legal)
        return planes, legal

    def choose(self, policies: npt.NDArray[np.int8], actions: Actions) -> None:
        """Let each game's policy, a `PolicyKind`, choose a move and write it to `actions`; `NO_POLICY` skips a game."""
        self._native.choose(policies, actions)

    def play(self, actions: Actions) -> None:
        """Play one action in each unfinished game. A negative action skips the game; an illegal one loses it."""
        self._native.play(actions)

    @property
    def is_over(self) -> npt.NDArray[np.bool_]:
        """Mask of the games that are over."""
        over: npt.NDArray[np.bool_] = self._outcomes != _native.Outcome.ONGOING
        return over

    @property
    def black_results(self) -> npt.NDArray[np.float32]:
        """Results for black: +1 for a win, -1 for a loss, 0 for a draw or an unfinished game."""
        return _BLACK_RESULTS[self._outcomes]

    @property
    def is_full(self) -> npt.NDArray[np.bool_]:
        """Mask of the games that ended in a draw because the board is full."""
        full: npt.NDArray[np.bool_] = self._outcomes == _native.Outcome.DRAW
        return full

    def outcome(self, game: int) -> Outcome:
        """The outcome of one game."""
        return outcome_from_native(self._outcomes[game])

    def moves(self, game: int) -> tuple[int, ...]:
        """The moves of one game as point indices, including the random opening."""
        return tuple(self._native.moves(game))
