"""Many games that are played to their ends together: what the learners without a tree search train on.

The rules, the simple players and the input planes are native; one call moves all games. `tengen.envs.GomokuVectorEnv`
is the same for Gymnasium, with games that begin again by themselves.
"""

from __future__ import annotations

import numpy as np
import numpy.typing as npt

from tengen import _native
from tengen._native import PolicyKind
from tengen.core.contracts import Outcome, Ruleset
from tengen.core.planes import FloatPlanes, check_layout, native_layout, plane_count
from tengen.core.position import Position
from tengen.errors import InputError

_NAIVE = (PolicyKind.NAIVE0, PolicyKind.NAIVE1, PolicyKind.NAIVE2, PolicyKind.NAIVE3, PolicyKind.NAIVE4)
POLICIES: dict[str, PolicyKind] = {
    "random": PolicyKind.RANDOM,
    "naive": PolicyKind.NAIVE3,
    **{f"naive:level={level}": kind for level, kind in enumerate(_NAIVE)},
    "chains": PolicyKind.CHAINS,
    "rule-based": PolicyKind.RULE_BASED,
}
"""The simple players that native code plays, by the text that names them (docs/players.md)."""

NO_POLICY = -1
"""In the argument of `GameBatch.choose`: this game is not meant."""

_OUTCOMES = (Outcome.ONGOING, Outcome.BLACK, Outcome.WHITE, Outcome.DRAW)
_BLACK_RESULTS = np.array([0.0, 1.0, -1.0, 0.0], np.float32)  # by the number of the outcome

Actions = npt.NDArray[np.int64]
Rows = npt.NDArray[np.int64]


class GameBatch:
    """`games` games of one ruleset. Arrays have one entry for each game unless they say otherwise."""

    def __init__(self, ruleset: Ruleset, games: int, layout: str) -> None:
        check_layout(layout, ruleset)
        if games < 1:
            raise InputError(f"a batch of {games} games")
        self.ruleset = ruleset
        self.size = games
        self._planes = (plane_count(layout), ruleset.height, ruleset.width)
        self._native = _native.GameBatch(Position.start(ruleset).native, games, native_layout(layout))
        # Views of native memory, which lives as long as one of them.
        self._outcomes, self.plies = self._native.outcomes, self._native.plies
        self.begin(0)

    def begin(self, seed: int, most_opening_moves: int = 0) -> None:
        """Every game anew, each with 0 to `most_opening_moves` random moves."""
        most = 2 * self.ruleset.win_length - 2
        if not 0 <= most_opening_moves <= most:
            raise InputError(f"{most_opening_moves} opening moves are outside 0–{most}: more could end a game")
        self._native.begin(seed & 0xFFFF_FFFF_FFFF_FFFF, most_opening_moves)

    def look(self, rows: Rows, turns: npt.NDArray[np.int8]) -> tuple[FloatPlanes, npt.NDArray[np.bool_]]:
        """Planes [rows, C, H, W] and legal points [rows, area] of some games, as the side to move sees them.

        `turns` [rows] are symmetries (`tengen.core.symmetry`) through which each board is seen.
        """
        planes = np.empty((len(rows), *self._planes), np.float32)
        legal = np.empty((len(rows), self.ruleset.area), np.bool_)
        self._native.write(rows, turns, planes, legal)
        return planes, legal

    def choose(self, policies: npt.NDArray[np.int8], actions: Actions) -> None:
        """Write moves of simple players into `actions`, by the number of their kind; `NO_POLICY` leaves a game out."""
        self._native.choose(policies, actions)

    def play(self, actions: Actions) -> None:
        """Play one action in each game that goes on: a negative one leaves it waiting, an illegal one loses it."""
        self._native.play(actions)

    @property
    def is_over(self) -> npt.NDArray[np.bool_]:
        """Which games have ended."""
        over: npt.NDArray[np.bool_] = self._outcomes != 0
        return over

    @property
    def black_results(self) -> npt.NDArray[np.float32]:
        """+1 where black has won, -1 where white has, else 0."""
        return _BLACK_RESULTS[self._outcomes]

    def outcome(self, game: int) -> Outcome:
        """How a game ended, if it did."""
        return _OUTCOMES[self._outcomes[game]]

    def moves(self, game: int) -> tuple[int, ...]:
        """The moves of a game as indices of points, opening included."""
        return tuple(self._native.moves(game))
