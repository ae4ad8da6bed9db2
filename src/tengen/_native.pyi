"""
The native core of Tengen. Thin and unchecked: use it through tengen.core, not directly.
"""

from collections.abc import Sequence
import enum
from typing import Annotated

import numpy
from numpy.typing import NDArray


class Board:
    """A board with make and unmake. Points are indices y * width + x."""

    def __init__(self, width: int, height: int, win_length: int, rule: int) -> None: ...

    def copy(self) -> Board: ...

    def set_up(self, black: Sequence[int], white: Sequence[int], to_move: int) -> None:
        """Put stones on the empty board and say who moves next."""

    def make(self, point: int) -> None:
        """Play a point. Renju fouls are not checked here."""

    def unmake(self) -> None: ...

    def at(self, arg: int, /) -> int: ...

    def would_win(self, point: int, colour: int) -> bool: ...

    def foul_at(self, point: int) -> int:
        """0 none, 1 overline, 2 double-four, 3 double-three, for black."""

    def fouls(self) -> list[tuple[int, int]]:
        """Pairs (point, foul) of the side to move."""

    def legal_mask(self) -> Annotated[NDArray[numpy.bool_], dict(shape=(None,))]:
        """bool [area]: what the side to move may play."""

    def cells(self) -> Annotated[NDArray[numpy.uint8], dict(shape=(None, None))]:
        """uint8 [height, width]: 0 empty, 1 black, 2 white. A copy."""

    def moves(self) -> list[int]: ...

    def winning_line(self) -> list[int]: ...

    def outcome(self) -> int:
        """0 ongoing, 1 black, 2 white, 3 draw."""

    def check(self) -> str:
        """
        Empty when the redundant state agrees with the stones, else what does not.
        """

    def perft(self, depth: int) -> list[tuple[int, int]]: ...

    @property
    def hash(self) -> int: ...

    @property
    def to_move(self) -> int: ...

    @property
    def stones(self) -> int: ...

    @property
    def ply(self) -> int: ...

class PolicyKind(enum.Enum):
    """The simple players (docs/players.md)."""

    RANDOM = 0

    NAIVE0 = 1

    NAIVE1 = 2

    NAIVE2 = 3

    NAIVE3 = 4

    NAIVE4 = 5

    CHAINS = 6

    RULE_BASED = 7

class Policy:
    """A simple player with its seeded randomness."""

    def __init__(self, kind: PolicyKind, seed: int = 0) -> None: ...

    def reseed(self, seed: int) -> None:
        """Begin again, as if made with this seed."""

    def choose(self, board: Board) -> int:
        """A legal point for the side to move of an unfinished game."""

    @property
    def kind(self) -> PolicyKind: ...

def chains_score(board: Board, point: int) -> int:
    """What the chains player thinks of an empty point, for the side to move."""

class PlaneLayout(enum.Enum):
    """What each plane of an observation holds (tengen.core.planes)."""

    BOARD = 0

    OWN_OTHER_LAST_COLOUR = 1

    BLACK_WHITE_OCCUPIED = 2

class Side(enum.Enum):
    """Which colour the agent plays against an opponent."""

    BLACK = 0

    WHITE = 1

    RANDOM = 2

class ByteVectorEnv:
    """Many games advanced by one call, planes of int8."""

    def __init__(self, board: Board, *, boards: int, opponent: PolicyKind | None, side: Side, layout: PlaneLayout, resign_action: bool, opening_moves: int, threads: int) -> None:
        """Games by the rules of `board`, whose stones are not looked at."""

    def seed(self, board: int, seed: int) -> None:
        """Begin the randomness of a board anew; reset_board must follow."""

    def reset_board(self, board: int) -> None:
        """Begin a new game on a board."""

    def find_invalid(self, actions: Annotated[NDArray[numpy.int64], dict(shape=(None,), order='C', device='cpu', writable=False)]) -> int:
        """The first board that cannot play its action, or -1."""

    def step(self, actions: Annotated[NDArray[numpy.int64], dict(shape=(None,), order='C', device='cpu', writable=False)]) -> None:
        """
        Play one action on each board; an invalid one loses. Writes into the arrays below.
        """

    def sample_actions(self, seed: int, actions: Annotated[NDArray[numpy.int64], dict(shape=(None,), order='C', device='cpu')]) -> None:
        """Write a random legal point of each board into `actions`."""

    def moves(self, board: int) -> list[int]:
        """The moves of the game on a board, opening included."""

    @property
    def planes(self) -> NDArray[numpy.int8]: ...

    @property
    def final_planes(self) -> NDArray[numpy.int8]: ...

    @property
    def masks(self) -> NDArray[numpy.int8]: ...

    @property
    def colours(self) -> NDArray[numpy.int8]: ...

    @property
    def final_colours(self) -> NDArray[numpy.int8]: ...

    @property
    def rewards(self) -> NDArray[numpy.float64]: ...

    @property
    def terminations(self) -> NDArray[numpy.bool_]: ...

    @property
    def outcomes(self) -> NDArray[numpy.uint8]: ...

    @property
    def episode_returns(self) -> NDArray[numpy.float64]: ...

    @property
    def episode_lengths(self) -> NDArray[numpy.int64]: ...

class FloatVectorEnv:
    """Many games advanced by one call, planes of float32."""

    def __init__(self, board: Board, *, boards: int, opponent: PolicyKind | None, side: Side, layout: PlaneLayout, resign_action: bool, opening_moves: int, threads: int) -> None:
        """Games by the rules of `board`, whose stones are not looked at."""

    def seed(self, board: int, seed: int) -> None:
        """Begin the randomness of a board anew; reset_board must follow."""

    def reset_board(self, board: int) -> None:
        """Begin a new game on a board."""

    def find_invalid(self, actions: Annotated[NDArray[numpy.int64], dict(shape=(None,), order='C', device='cpu', writable=False)]) -> int:
        """The first board that cannot play its action, or -1."""

    def step(self, actions: Annotated[NDArray[numpy.int64], dict(shape=(None,), order='C', device='cpu', writable=False)]) -> None:
        """
        Play one action on each board; an invalid one loses. Writes into the arrays below.
        """

    def sample_actions(self, seed: int, actions: Annotated[NDArray[numpy.int64], dict(shape=(None,), order='C', device='cpu')]) -> None:
        """Write a random legal point of each board into `actions`."""

    def moves(self, board: int) -> list[int]:
        """The moves of the game on a board, opening included."""

    @property
    def planes(self) -> NDArray[numpy.float32]: ...

    @property
    def final_planes(self) -> NDArray[numpy.float32]: ...

    @property
    def masks(self) -> NDArray[numpy.int8]: ...

    @property
    def colours(self) -> NDArray[numpy.int8]: ...

    @property
    def final_colours(self) -> NDArray[numpy.int8]: ...

    @property
    def rewards(self) -> NDArray[numpy.float64]: ...

    @property
    def terminations(self) -> NDArray[numpy.bool_]: ...

    @property
    def outcomes(self) -> NDArray[numpy.uint8]: ...

    @property
    def episode_returns(self) -> NDArray[numpy.float64]: ...

    @property
    def episode_lengths(self) -> NDArray[numpy.int64]: ...
