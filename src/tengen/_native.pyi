"""
The native core of Tengen. Use it through the packages of tengen, not directly.
"""

from collections.abc import Callable, Mapping, Sequence
import enum
from typing import Annotated, Any, Final, overload

import numpy
from numpy.typing import NDArray


class Colour(enum.IntEnum):
    """A side."""

    BLACK = 0

    WHITE = 1

class Rule(enum.IntEnum):
    """The rule that defines which lines win (tengen.core.contracts.Rule)."""

    FREESTYLE = 0

    STANDARD = 1

    RENJU = 2

    CARO = 3

    CARO_EXACT = 4

class Outcome(enum.IntEnum):
    """The result of a game. Arrays contain these numbers."""

    ONGOING = 0

    BLACK = 1

    WHITE = 2

    DRAW = 3

class Foul(enum.IntEnum):
    """A kind of move that renju forbids for black."""

    NONE = 0

    OVERLINE = 1

    DOUBLE_FOUR = 2

    DOUBLE_THREE = 3

class Board:
    """A board with make and unmake. Points are indices y * width + x."""

    def __init__(self, width: int, height: int, win_length: int, rule: Rule) -> None: ...

    def copy(self) -> Board: ...

    def set_up(self, black: Sequence[int], white: Sequence[int], to_move: int) -> None:
        """Place stones on an empty board and set the side to move."""

    def make(self, point: int) -> None:
        """Play a point. Renju fouls are not checked."""

    def unmake(self) -> None:
        """Undo the last move."""

    def at(self, point: int) -> int:
        """Return 0 for an empty point, 1 for a black stone, 2 for a white stone."""

    def would_win(self, point: int, colour: int) -> bool:
        """Return whether a stone of the colour would complete a winning line."""

    def foul_at(self, point: int) -> Foul:
        """Return the foul that black would commit on the empty point."""

    def fouls(self) -> list[tuple[int, Foul]]:
        """Return the fouls of the side to move as pairs (point, foul)."""

    def legal_mask(self) -> Annotated[NDArray[numpy.bool_], dict(shape=(None,))]:
        """Return the legal points of the side to move, bool [area]."""

    def cells(self) -> Annotated[NDArray[numpy.uint8], dict(shape=(None, None))]:
        """
        Return a copy of the stones, uint8 [height, width]: 0 empty, 1 black, 2 white.
        """

    def moves(self) -> list[int]: ...

    def winning_line(self) -> list[int]:
        """Return the points of a winning line; empty if neither side has won."""

    def outcome(self) -> Outcome:
        """
        Return the result so far. In renju, black loses if no legal move is left.
        """

    def check(self) -> str:
        """Compare the incremental state with the stones; return '' or the error."""

    def perft(self, depth: int) -> list[tuple[int, int]]:
        """Return pairs (sequences, wins) for each number of moves up to `depth`."""

    @property
    def hash(self) -> int: ...

    @property
    def to_move(self) -> Colour: ...

    @property
    def stones(self) -> int: ...

    @property
    def ply(self) -> int: ...

class PolicyKind(enum.Enum):
    """The simple players (docs/how/players.md)."""

    RANDOM = 0

    NAIVE0 = 1

    NAIVE1 = 2

    NAIVE2 = 3

    NAIVE3 = 4

    NAIVE4 = 5

    CHAINS = 6

    RULE_BASED = 7

    NAIVE_FIRST0 = 8

    NAIVE_FIRST1 = 9

    NAIVE_FIRST2 = 10

    NAIVE_FIRST3 = 11

    RULE_BASED_FIRST = 12

    TREE = 13

class Policy:
    """A simple player with its own random generator."""

    def __init__(self, kind: PolicyKind, seed: int = 0) -> None: ...

    def reseed(self, seed: int) -> None:
        """Restart the random generator, as if constructed with this seed."""

    def choose(self, board: Board) -> int:
        """Return a legal move for the side to move. The game must not be over."""

    @property
    def kind(self) -> PolicyKind: ...

def chains_score(board: Board, point: int) -> int:
    """
    Return the score that the chains player gives an empty point, for the side to move.
    """

class PlaneLayout(enum.Enum):
    """
    The planes of an observation and their order (cpp/core/plane_layout.h).
    """

    BOARD = 0

    OWN_OTHER = 1

    OWN_OTHER_LAST_COLOUR = 2

    BLACK_WHITE_OCCUPIED = 3

    STONES = 4

    THREATS = 5

    THREATS_LAST = 6

def plane_count(layout: PlaneLayout) -> int:
    """Return the number of planes C of a layout."""

def needs_patterns(layout: PlaneLayout) -> bool:
    """
    Return whether a layout needs patterns, which support only win lengths 4 and 5.
    """

def is_incremental(layout: PlaneLayout) -> bool:
    """Return whether vector environments support a layout."""

class Side(enum.Enum):
    """The colour that the agent plays against an opponent."""

    BLACK = 0

    WHITE = 1

    RANDOM = 2

def play_if_legal(board: Board, action: int) -> int:
    """
    Play an action and return the Outcome as a number; change nothing and return -1 if the action is illegal.
    """

@overload
def write_observation(board: Board, layout: PlaneLayout, viewer: Colour, channels_last: bool, planes: Annotated[NDArray[numpy.int8], dict(shape=(None, None, None), order='C', device='cpu')], mask: Annotated[NDArray[numpy.int8], dict(shape=(None,), order='C', device='cpu')]) -> None: ...

@overload
def write_observation(board: Board, layout: PlaneLayout, viewer: Colour, channels_last: bool, planes: Annotated[NDArray[numpy.uint8], dict(shape=(None, None, None), order='C', device='cpu')], mask: Annotated[NDArray[numpy.int8], dict(shape=(None,), order='C', device='cpu')]) -> None: ...

@overload
def write_observation(board: Board, layout: PlaneLayout, viewer: Colour, channels_last: bool, planes: Annotated[NDArray[numpy.float32], dict(shape=(None, None, None), order='C', device='cpu')], mask: Annotated[NDArray[numpy.int8], dict(shape=(None,), order='C', device='cpu')]) -> None:
    """
    Write the planes [C, H, W] or [H, W, C] that `viewer` sees and the mask of the side to move. The mask may have one entry more than there are points, for resigning.
    """

class ByteVectorEnv:
    """Many games that advance with one call, with int8 planes."""

    def __init__(self, board: Board, *, boards: int, opponent: PolicyKind | None, caller_replies: bool, side: Side, layout: PlaneLayout, resign_action: bool, opening_moves: int, threads: int) -> None:
        """
        Create games with the rules of `board`; its stones are ignored. With `caller_replies` and no opponent, the caller supplies an opponent's moves through `reply`.
        """

    def seed(self, board: int, seed: int) -> None:
        """Seed the random generator of a board; call reset_board afterwards."""

    def reset_board(self, board: int) -> None:
        """Start a new game on a board."""

    def find_invalid(self, actions: Annotated[NDArray[numpy.int64], dict(shape=(None,), order='C', device='cpu', writable=False)]) -> int:
        """Return the first board with an invalid action, or -1."""

    def step(self, actions: Annotated[NDArray[numpy.int64], dict(shape=(None,), order='C', device='cpu', writable=False)]) -> None:
        """
        Play one action on each board and update the arrays. An invalid action loses the game.
        """

    def reply(self, replies: Annotated[NDArray[numpy.int64], dict(shape=(None,), order='C', device='cpu', writable=False)]) -> None:
        """
        Play the opponent's move on each board where `owed` is not 0. Repeat until it is 0 on all boards.
        """

    def save(self, board: int) -> tuple[list[int], list[int], int, int]:
        """Return the game on a board: (moves, generator, actor, actions done)."""

    def restore(self, board: int, saved: tuple[Sequence[int], Sequence[int], int, int]) -> None:
        """Continue a saved game on a board; `saved` is a result of `save`."""

    def sample_actions(self, seed: int, actions: Annotated[NDArray[numpy.int64], dict(shape=(None,), order='C', device='cpu')]) -> None:
        """Write a random legal point for each board into `actions`."""

    def moves(self, board: int) -> list[int]:
        """Return the moves of the game on a board, including the opening."""

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
    def owed(self) -> NDArray[numpy.uint8]: ...

    @property
    def outcomes(self) -> NDArray[numpy.uint8]: ...

    @property
    def episode_returns(self) -> NDArray[numpy.float64]: ...

    @property
    def episode_lengths(self) -> NDArray[numpy.int64]: ...

class FloatVectorEnv:
    """Many games that advance with one call, with float32 planes."""

    def __init__(self, board: Board, *, boards: int, opponent: PolicyKind | None, caller_replies: bool, side: Side, layout: PlaneLayout, resign_action: bool, opening_moves: int, threads: int) -> None:
        """
        Create games with the rules of `board`; its stones are ignored. With `caller_replies` and no opponent, the caller supplies an opponent's moves through `reply`.
        """

    def seed(self, board: int, seed: int) -> None:
        """Seed the random generator of a board; call reset_board afterwards."""

    def reset_board(self, board: int) -> None:
        """Start a new game on a board."""

    def find_invalid(self, actions: Annotated[NDArray[numpy.int64], dict(shape=(None,), order='C', device='cpu', writable=False)]) -> int:
        """Return the first board with an invalid action, or -1."""

    def step(self, actions: Annotated[NDArray[numpy.int64], dict(shape=(None,), order='C', device='cpu', writable=False)]) -> None:
        """
        Play one action on each board and update the arrays. An invalid action loses the game.
        """

    def reply(self, replies: Annotated[NDArray[numpy.int64], dict(shape=(None,), order='C', device='cpu', writable=False)]) -> None:
        """
        Play the opponent's move on each board where `owed` is not 0. Repeat until it is 0 on all boards.
        """

    def save(self, board: int) -> tuple[list[int], list[int], int, int]:
        """Return the game on a board: (moves, generator, actor, actions done)."""

    def restore(self, board: int, saved: tuple[Sequence[int], Sequence[int], int, int]) -> None:
        """Continue a saved game on a board; `saved` is a result of `save`."""

    def sample_actions(self, seed: int, actions: Annotated[NDArray[numpy.int64], dict(shape=(None,), order='C', device='cpu')]) -> None:
        """Write a random legal point for each board into `actions`."""

    def moves(self, board: int) -> list[int]:
        """Return the moves of the game on a board, including the opening."""

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
    def owed(self) -> NDArray[numpy.uint8]: ...

    @property
    def outcomes(self) -> NDArray[numpy.uint8]: ...

    @property
    def episode_returns(self) -> NDArray[numpy.float64]: ...

    @property
    def episode_lengths(self) -> NDArray[numpy.int64]: ...

class GameBatch:
    """A batch of games that are played together."""

    def __init__(self, board: Board, games: int, layout: PlaneLayout) -> None:
        """
        Create games with the rules of `board`; its stones are ignored. Call `begin` first.
        """

    def begin(self, seed: int, most_opening_moves: int) -> None:
        """
        Reset all games. Each starts with 0 to `most_opening_moves` random moves.
        """

    def write(self, rows: Annotated[NDArray[numpy.int64], dict(shape=(None,), order='C', device='cpu', writable=False)], turns: Annotated[NDArray[numpy.int8], dict(shape=(None,), order='C', device='cpu', writable=False)], planes: Annotated[NDArray[numpy.float32], dict(shape=(None, None, None, None), order='C', device='cpu')], legal: Annotated[NDArray[numpy.bool_], dict(shape=(None, None), order='C', device='cpu')]) -> None:
        """
        Write planes and legal points of some games for the side to move, each transformed by a symmetry.
        """

    def choose(self, policies: Annotated[NDArray[numpy.int8], dict(shape=(None,), order='C', device='cpu', writable=False)], actions: Annotated[NDArray[numpy.int64], dict(shape=(None,), order='C', device='cpu')]) -> None:
        """
        Write moves of simple players into `actions`. Skips negative policies and finished games.
        """

    def play(self, actions: Annotated[NDArray[numpy.int64], dict(shape=(None,), order='C', device='cpu', writable=False)]) -> None:
        """
        Play one action in each unfinished game. A negative action skips the game; an illegal one loses it.
        """

    def moves(self, game: int) -> list[int]:
        """Return the moves of a game, including the opening."""

    @property
    def outcomes(self) -> NDArray[numpy.uint8]: ...

    @property
    def plies(self) -> NDArray[numpy.int16]: ...

class LineShape(enum.IntEnum):
    """
    The shape that a stone makes along one line, weakest first (cpp/patterns/shapes.h).
    """

    NOTHING = 0

    FOUL_LINE = 1

    CLOSED_ONE = 2

    OPEN_ONE = 3

    CLOSED_TWO = 4

    OPEN_TWO = 5

    OPEN_TWO_GOOD = 6

    OPEN_TWO_BEST = 7

    CLOSED_THREE = 8

    OPEN_THREE = 9

    OPEN_THREE_BEST = 10

    FOUR = 11

    OPEN_FOUR = 12

    FIVE = 13

class PatternBoard:
    """
    A board that maintains the shapes and threats that stones would make on empty points.
    """

    def __init__(self, board: Board) -> None:
        """Copy a board with its history. Supports only win lengths 4 and 5."""

    def make(self, point: int) -> None:
        """Play a point. Renju fouls are not checked."""

    def unmake(self) -> None:
        """Undo the last move made on this board."""

    def pass_turn(self) -> None:
        """Switch the side to move; a second call switches back."""

    def threats(self) -> Annotated[NDArray[numpy.uint8], dict(shape=(None, None))]:
        """
        Return a copy of the threats that black and white would make, uint8 [2, area]; 0 on stones.
        """

    def shapes(self, colour: int) -> Annotated[NDArray[numpy.uint8], dict(shape=(None, None))]:
        """Return a copy of the shapes along each direction, uint8 [4, area]."""

    def shape(self, colour: int, direction: int, point: int) -> LineShape:
        """Return one entry of shapes(); NOTHING on a stone."""

    def at(self, point: int) -> int:
        """Return 0 for an empty point, 1 for a black stone, 2 for a white stone."""

    def fives(self, colour: int) -> list[int]:
        """Return the empty points where the colour makes five."""

    def is_legal(self, colour: int, point: int) -> bool:
        """Return whether the colour may play the point."""

    def check(self) -> str:
        """Compare the incremental state with the stones; return '' or the error."""

    @property
    def to_move(self) -> Colour: ...

def check_pattern_walk(board: Board, seed: int, steps: int) -> str:
    """
    Make and unmake random moves and check the state after each; return '' or the error.
    """

def run_make_unmake(board: Board, weights: Weights, seed: int, pairs: int) -> int:
    """
    Make and unmake `pairs` moves with all pattern state; return a signature of the states.
    """

class StopSignal:
    """
    A request to stop a search. Any thread may set it at any time; it is never cleared.
    """

    def __init__(self) -> None: ...

    def set(self) -> None: ...

    def is_set(self) -> bool: ...

class Ingredient(enum.IntEnum):
    """
    A part of the search that can be disabled (cpp/search/alphabeta/options.h).
    """

    STATIC_WINS = 1

    DEFENCE_SETS = 2

    LEAF_FOURS = 4

    RAZORING = 8

    FUTILITY = 16

    MOVE_COUNT_PRUNING = 32

    REDUCTIONS = 64

    FOUR_EXTENSION = 128

    SINGULAR = 256

    ASPIRATION = 512

    HISTORY = 1024

    COUNTER_MOVE = 2048

    TABLE = 4096

    ROOT_FOURS = 8192

    FAIL_HIGH_REDUCTION = 16384

    NETWORK = 32768

    CLOCK = 65536

def search_parameters() -> list[tuple[str, int, int, int]]:
    """
    Return all search parameters: name, default, and the bounds for tuning.
    """

class EvaluationNet:
    """The small network of the evaluation (cpp/eval/weights.h)."""

    def __init__(self, own: Annotated[NDArray[numpy.int16], dict(order='C', device='cpu', writable=False)], other: Annotated[NDArray[numpy.int16], dict(order='C', device='cpu', writable=False)], first: Annotated[NDArray[numpy.int16], dict(order='C', device='cpu', writable=False)], threats: Annotated[NDArray[numpy.int32], dict(order='C', device='cpu', writable=False)], second: Annotated[NDArray[numpy.int16], dict(order='C', device='cpu', writable=False)], second_bias: Annotated[NDArray[numpy.int32], dict(order='C', device='cpu', writable=False)], output: Annotated[NDArray[numpy.int16], dict(order='C', device='cpu', writable=False)], output_bias: int) -> None: ...

    @property
    def own(self) -> NDArray[numpy.int16]: ...

    @property
    def other(self) -> NDArray[numpy.int16]: ...

    @property
    def first(self) -> NDArray[numpy.int16]: ...

    @property
    def threats(self) -> NDArray[numpy.int32]: ...

    @property
    def second(self) -> NDArray[numpy.int16]: ...

    @property
    def second_bias(self) -> NDArray[numpy.int32]: ...

    @property
    def output(self) -> NDArray[numpy.int16]: ...

    @property
    def output_bias(self) -> int: ...

    FEATURES: Final[int] = ...
    """(arg: object, /) -> int"""

    HIDDEN: Final[int] = ...
    """(arg: object, /) -> int"""

    SHIFT: Final[int] = ...
    """(arg: object, /) -> int"""

    OUTPUT_UNIT: Final[int] = ...
    """(arg: object, /) -> int"""

class Weights:
    """
    The weights of the evaluation and of move ordering, as int16 arrays [2, n].
    """

    def __init__(self, points: Annotated[NDArray[numpy.int16], dict(shape=(None, None), order='C', device='cpu', writable=False)], threats: Annotated[NDArray[numpy.int16], dict(shape=(None, None), order='C', device='cpu', writable=False)], attack: Annotated[NDArray[numpy.int16], dict(shape=(None, None), order='C', device='cpu', writable=False)], defence: Annotated[NDArray[numpy.int16], dict(shape=(None, None), order='C', device='cpu', writable=False)], net: EvaluationNet | None = None) -> None: ...

    @staticmethod
    def prior() -> Weights: ...

    def evaluate(self, board: Board) -> int:
        """Return the static evaluation for the side to move."""

    @property
    def net(self) -> EvaluationNet: ...

    @property
    def points(self) -> Annotated[NDArray[numpy.int16], dict(shape=(None, None), order='C')]: ...

    @property
    def threats(self) -> Annotated[NDArray[numpy.int16], dict(shape=(None, None), order='C')]: ...

    @property
    def attack(self) -> Annotated[NDArray[numpy.int16], dict(shape=(None, None), order='C')]: ...

    @property
    def defence(self) -> Annotated[NDArray[numpy.int16], dict(shape=(None, None), order='C')]: ...

class SearchLine:
    """A line of play with its value for the side to move."""

    @property
    def value(self) -> int: ...

    @property
    def depth(self) -> int: ...

    @property
    def reach(self) -> int: ...

    @property
    def moves(self) -> list[int]: ...

class SearchReport:
    """The state of a search after an iteration."""

    @property
    def lines(self) -> list[SearchLine]: ...

    @property
    def depth(self) -> int: ...

    @property
    def nodes(self) -> int: ...

    @property
    def elapsed_ms(self) -> int: ...

class SearchLimits:
    def __init__(self) -> None: ...

    @property
    def time_ms(self) -> int: ...

    @time_ms.setter
    def time_ms(self, arg: int, /) -> None: ...

    @property
    def clock_ms(self) -> int: ...

    @clock_ms.setter
    def clock_ms(self, arg: int, /) -> None: ...

    @property
    def increment_ms(self) -> int: ...

    @increment_ms.setter
    def increment_ms(self, arg: int, /) -> None: ...

    @property
    def nodes(self) -> int: ...

    @nodes.setter
    def nodes(self, arg: int, /) -> None: ...

    @property
    def depth(self) -> int: ...

    @depth.setter
    def depth(self, arg: int, /) -> None: ...

    @property
    def threads(self) -> int: ...

    @threads.setter
    def threads(self, arg: int, /) -> None: ...

    @property
    def lines(self) -> int: ...

    @lines.setter
    def lines(self, arg: int, /) -> None: ...

    @property
    def excluded(self) -> list[int]: ...

    @excluded.setter
    def excluded(self, arg: Sequence[int], /) -> None: ...

class MoveClock:
    """
    Decides when the search for one move ends (cpp/search/alphabeta/clock.h).
    """

    def __init__(self, *, time_ms: int = -1, clock_ms: int = -1, increment_ms: int = 0, stones: int, area: int, is_managed: bool = True) -> None: ...

    @property
    def soft_ms(self) -> int:
        """The time that the move should take on average; -1 for no limit."""

    @property
    def hard_ms(self) -> int:
        """The time at which the search is stopped; -1 for no limit."""

    def set_single_move(self) -> None:
        """Lower the limits because there is a single move."""

    def is_enough(self, *, depth: int, elapsed_ms: int, move: int, value: int, is_only_move: bool = False) -> bool:
        """Record a completed iteration; return whether the search should end."""

class Engine:
    """The alpha-beta engine. Runs one search at a time."""

    def __init__(self, table_bytes: int) -> None: ...

    def set_weights(self, weights: Weights) -> None: ...

    def set_options(self, ingredients: int, max_four_depth: int, parameters: Mapping[str, int] = {}) -> None:
        """Set the options. Parameters that are not given get their defaults."""

    def set_table_bytes(self, bytes: int) -> None: ...

    def new_game(self) -> None: ...

    def touch_table(self) -> None:
        """
        Make the table's memory resident, so that page faults do not slow down the first search.
        """

    def search(self, board: Board, limits: SearchLimits, on_report: Callable[[SearchReport], None] | None = None, stop: StopSignal | None = None) -> SearchReport:
        """
        Search a position; the game must not be over. The callback receives a SearchReport after each iteration.
        """

    @property
    def table_bytes(self) -> int: ...

    @property
    def table_usage(self) -> int:
        """
        Entries written by the current search, per thousand entries of the table.
        """

class Verdict(enum.Enum):
    """The result of a solver."""

    UNKNOWN = 0

    WIN = 1

    NO_WIN = 2

class FourSolver:
    """Finds wins by continuous fours (VCF)."""

    def __init__(self, log2_table: int = 16) -> None: ...

    def solve(self, board: Board, max_nodes: int, stop: StopSignal | None = None) -> Verdict: ...

    @property
    def line(self) -> list[int]: ...

    @property
    def nodes(self) -> int: ...

class ThreatSolver:
    """Finds wins by continuous fours and threes (VCT)."""

    def __init__(self, log2_table: int = 20) -> None: ...

    def solve(self, board: Board, max_nodes: int, time_ms: int, stop: StopSignal | None = None) -> Verdict: ...

    def solve_fours(self, board: Board, max_nodes: int, stop: StopSignal | None = None) -> Verdict: ...

    @property
    def line(self) -> list[int]: ...

    @property
    def nodes(self) -> int: ...

ALL_INGREDIENTS: int = 131071

MATE_BOUND: int = 28800

def is_proved(value: int) -> bool:
    """Return whether a search value is a proved win or loss."""

def plies_to_end(value: int) -> int:
    """Return the plies to the end of the game for a win or loss."""

LOGISTIC_UNIT: int = 200

class PlayoutPolicy(enum.Enum):
    RANDOM = 0

    HEURISTIC = 1

class ProofResult(enum.Enum):
    """A result that a search has proved for the side to move."""

    UNKNOWN = 0

    WIN = 1

    LOSS = 2

    DRAW = 3

def play_out(board: Board, policy: PlayoutPolicy, seed: int) -> tuple[list[int], Outcome]:
    """Run one playout; return its moves and the outcome."""

def tally_playouts(board: Board, policy: PlayoutPolicy, count: int, seed: int) -> list[int]:
    """
    Run `count` playouts; return black's wins, white's wins, the draws and the total number of moves.
    """

class RolloutLimits:
    def __init__(self) -> None: ...

    @property
    def time_ms(self) -> int: ...

    @time_ms.setter
    def time_ms(self, arg: int, /) -> None: ...

    @property
    def playouts(self) -> int: ...

    @playouts.setter
    def playouts(self, arg: int, /) -> None: ...

    @property
    def threads(self) -> int: ...

    @threads.setter
    def threads(self, arg: int, /) -> None: ...

    @property
    def lines(self) -> int: ...

    @lines.setter
    def lines(self, arg: int, /) -> None: ...

    @property
    def excluded(self) -> list[int]: ...

    @excluded.setter
    def excluded(self, arg: Sequence[int], /) -> None: ...

class RolloutMove:
    """
    Statistics of one root move, from the point of view of the side to move.
    """

    @property
    def move(self) -> int: ...

    @property
    def visits(self) -> int: ...

    @property
    def value_to_move(self) -> float: ...

    @property
    def proof(self) -> ProofResult: ...

    @property
    def proof_plies(self) -> int: ...

    @property
    def line(self) -> list[int]: ...

class RolloutReport:
    """The state of a rollout search. The best move comes first."""

    @property
    def moves(self) -> list[RolloutMove]: ...

    @property
    def playouts(self) -> int: ...

    @property
    def nodes(self) -> int: ...

    @property
    def elapsed_ms(self) -> float: ...

class UctOptions:
    def __init__(self) -> None: ...

    @property
    def exploration(self) -> float: ...

    @exploration.setter
    def exploration(self, arg: float, /) -> None: ...

    @property
    def policy(self) -> PlayoutPolicy: ...

    @policy.setter
    def policy(self, arg: PlayoutPolicy, /) -> None: ...

    @property
    def radius(self) -> int: ...

    @radius.setter
    def radius(self, arg: int, /) -> None: ...

    @property
    def expand_after(self) -> int: ...

    @expand_after.setter
    def expand_after(self, arg: int, /) -> None: ...

    @property
    def solve(self) -> bool: ...

    @solve.setter
    def solve(self, arg: bool, /) -> None: ...

    @property
    def memory_bytes(self) -> int: ...

    @memory_bytes.setter
    def memory_bytes(self, arg: int, /) -> None: ...

class HmctsOptions:
    def __init__(self) -> None: ...

    @property
    def policy(self) -> PlayoutPolicy: ...

    @policy.setter
    def policy(self, arg: PlayoutPolicy, /) -> None: ...

    @property
    def radius(self) -> int: ...

    @radius.setter
    def radius(self, arg: int, /) -> None: ...

    @property
    def playouts_a_candidate(self) -> int: ...

    @playouts_a_candidate.setter
    def playouts_a_candidate(self, arg: int, /) -> None: ...

class Uct:
    """UCT. Runs one search at a time."""

    def __init__(self, options: UctOptions) -> None: ...

    def search(self, board: Board, limits: RolloutLimits, seed: int, on_report: Callable[[RolloutReport], None] | None = None, stop: StopSignal | None = None) -> RolloutReport:
        """
        Search a position; the game must not be over. The callback receives a RolloutReport at increasing intervals.
        """

class Hmcts:
    """HMCTS. Runs one search at a time."""

    def __init__(self, options: HmctsOptions) -> None: ...

    def search(self, board: Board, limits: RolloutLimits, seed: int, on_report: Callable[[RolloutReport], None] | None = None, stop: StopSignal | None = None) -> RolloutReport:
        """
        Search a position; the game must not be over. The callback receives a RolloutReport at increasing intervals.
        """

class FudanKeys(enum.Enum):
    """The keys of the score dictionary."""

    ALL = 0

    AS_AUTHORED = 1

class FudanEvaluation(enum.Enum):
    """The method of scoring line shapes."""

    DICTIONARY = 0

    TABLE = 1

class FudanCheckmate(enum.Enum):
    """The checkmate search at the root."""

    OFF = 0

    BOTH_SIDES = 1

    AUTHORS = 2

def fudan_shape_score(keys: FudanKeys, low_blocked: bool, low_outer: int, middle: int, high_outer: int, high_blocked: bool) -> int:
    """
    Return the score of a shape; outer lengths range from 0 to 4, `middle` from 1 to 4.
    """

class FudanScoreOptions:
    def __init__(self) -> None: ...

    @property
    def keys(self) -> FudanKeys: ...

    @keys.setter
    def keys(self, arg: FudanKeys, /) -> None: ...

    @property
    def evaluation(self) -> FudanEvaluation: ...

    @evaluation.setter
    def evaluation(self, arg: FudanEvaluation, /) -> None: ...

    @property
    def blocked_update(self) -> bool: ...

    @blocked_update.setter
    def blocked_update(self, arg: bool, /) -> None: ...

    @property
    def peer_update(self) -> bool: ...

    @peer_update.setter
    def peer_update(self, arg: bool, /) -> None: ...

class FudanPointScores:
    """The scores of all points, updated incrementally."""

    def __init__(self, options: FudanScoreOptions, board: Board) -> None: ...

    def place(self, point: int, colour: Colour) -> None: ...

    def remove(self, point: int) -> None: ...

    def score(self, colour: Colour, point: int) -> int: ...

    def direction_scores(self, colour: Colour, point: int) -> list[int]:
        """
        Return one score per direction: row, column, rising and falling diagonal.
        """

    def stone_sum(self, colour: Colour) -> int: ...

    @property
    def hash(self) -> int: ...

    @property
    def neighbours(self) -> list[int]: ...

class FudanOptions:
    def __init__(self) -> None: ...

    @property
    def scores(self) -> FudanScoreOptions: ...

    @scores.setter
    def scores(self, arg: FudanScoreOptions, /) -> None: ...

    @property
    def hash_index(self) -> bool: ...

    @hash_index.setter
    def hash_index(self, arg: bool, /) -> None: ...

    @property
    def checkmate(self) -> FudanCheckmate: ...

    @checkmate.setter
    def checkmate(self, arg: FudanCheckmate, /) -> None: ...

    @property
    def prefers_fast_wins(self) -> bool: ...

    @prefers_fast_wins.setter
    def prefers_fast_wins(self, arg: bool, /) -> None: ...

class FudanLimits:
    def __init__(self) -> None: ...

    @property
    def time_ms(self) -> int: ...

    @time_ms.setter
    def time_ms(self, arg: int, /) -> None: ...

    @property
    def nodes(self) -> int: ...

    @nodes.setter
    def nodes(self, arg: int, /) -> None: ...

    @property
    def depth(self) -> int: ...

    @depth.setter
    def depth(self, arg: int, /) -> None: ...

    @property
    def lines(self) -> int: ...

    @lines.setter
    def lines(self, arg: int, /) -> None: ...

class FudanLine:
    """A line of play with its value for the side to move."""

    @property
    def value(self) -> int: ...

    @property
    def moves(self) -> list[int]: ...

class FudanReport:
    """The state of a search after an iteration."""

    @property
    def lines(self) -> list[FudanLine]: ...

    @property
    def depth(self) -> int: ...

    @property
    def nodes(self) -> int: ...

    @property
    def elapsed_ms(self) -> float: ...

    @property
    def win_plies(self) -> int: ...

class FudanSearch:
    """The alpha-beta search of the fudan report. Runs one search at a time."""

    def __init__(self, options: FudanOptions) -> None: ...

    def search(self, board: Board, limits: FudanLimits, on_report: Callable[[FudanReport], None] | None = None, stop: StopSignal | None = None) -> FudanReport:
        """
        Search a position; the game must not be over. The callback receives a FudanReport after each iteration.
        """

FUDAN_SCORE_UNIT: int = 10

FUDAN_WIN_BOUND: int = 99999999000

def write_planes(board: Board, layout: PlaneLayout, viewer: int, planes: Annotated[NDArray[numpy.float32], dict(shape=(None, None, None), order='C', device='cpu')]) -> None:
    """
    Write the planes for the viewer (0 black, 1 white), float32 [C, height, width].
    """

def write_game_planes(start: Board, layout: PlaneLayout, moves: Annotated[NDArray[numpy.uint16], dict(shape=(None, None), order='C', device='cpu', writable=False)], counts: Annotated[NDArray[numpy.int32], dict(shape=(None,), order='C', device='cpu', writable=False)], planes: Annotated[NDArray[numpy.float32], dict(shape=(None, None, None, None), order='C', device='cpu')]) -> None:
    """
    Write planes, float32 [B, C, height, width], for the side to move. Row i of `moves`, uint16 [B, L], is a game from `start`; its position is the one after counts[i] moves, int32 [B].
    """

class RootNoise(enum.Enum):
    NONE = 0

    ROOT = 1

    EVERY = 2

    CHOICE = 3

class SymmetryUse(enum.Enum):
    NONE = 0

    RANDOM = 1

    AVERAGE = 2

class PuctOptions:
    """See tengen.search.puct_config.PuctConfig."""

    def __init__(self) -> None: ...

    @property
    def simulations(self) -> int: ...

    @simulations.setter
    def simulations(self, arg: int, /) -> None: ...

    @property
    def c_puct(self) -> float: ...

    @c_puct.setter
    def c_puct(self, arg: float, /) -> None: ...

    @property
    def c_puct_growth(self) -> float: ...

    @c_puct_growth.setter
    def c_puct_growth(self, arg: float, /) -> None: ...

    @property
    def c_puct_base(self) -> float: ...

    @c_puct_base.setter
    def c_puct_base(self, arg: float, /) -> None: ...

    @property
    def fpu_from_parent(self) -> bool: ...

    @fpu_from_parent.setter
    def fpu_from_parent(self, arg: bool, /) -> None: ...

    @property
    def fpu_reduction(self) -> float: ...

    @fpu_reduction.setter
    def fpu_reduction(self, arg: float, /) -> None: ...

    @property
    def fpu_reduction_root(self) -> float: ...

    @fpu_reduction_root.setter
    def fpu_reduction_root(self, arg: float, /) -> None: ...

    @property
    def first_play_value(self) -> float: ...

    @first_play_value.setter
    def first_play_value(self, arg: float, /) -> None: ...

    @property
    def virtual_loss(self) -> float: ...

    @virtual_loss.setter
    def virtual_loss(self, arg: float, /) -> None: ...

    @property
    def leaves(self) -> int: ...

    @leaves.setter
    def leaves(self, arg: int, /) -> None: ...

    @property
    def noise(self) -> RootNoise: ...

    @noise.setter
    def noise(self, arg: RootNoise, /) -> None: ...

    @property
    def noise_alpha(self) -> float: ...

    @noise_alpha.setter
    def noise_alpha(self, arg: float, /) -> None: ...

    @property
    def noise_alpha_total(self) -> float: ...

    @noise_alpha_total.setter
    def noise_alpha_total(self, arg: float, /) -> None: ...

    @property
    def noise_fraction(self) -> float: ...

    @noise_fraction.setter
    def noise_fraction(self, arg: float, /) -> None: ...

    @property
    def root_temperature(self) -> float: ...

    @root_temperature.setter
    def root_temperature(self, arg: float, /) -> None: ...

    @property
    def solve(self) -> bool: ...

    @solve.setter
    def solve(self, arg: bool, /) -> None: ...

    @property
    def tactics(self) -> bool: ...

    @tactics.setter
    def tactics(self, arg: bool, /) -> None: ...

    @property
    def vcf_nodes_leaf(self) -> int: ...

    @vcf_nodes_leaf.setter
    def vcf_nodes_leaf(self, arg: int, /) -> None: ...

    @property
    def vcf_nodes_root(self) -> int: ...

    @vcf_nodes_root.setter
    def vcf_nodes_root(self, arg: int, /) -> None: ...

    @property
    def vct_nodes(self) -> int: ...

    @vct_nodes.setter
    def vct_nodes(self, arg: int, /) -> None: ...

    @property
    def vct_visits(self) -> int: ...

    @vct_visits.setter
    def vct_visits(self, arg: int, /) -> None: ...

    @property
    def discount(self) -> float: ...

    @discount.setter
    def discount(self, arg: float, /) -> None: ...

    @property
    def gumbel(self) -> bool: ...

    @gumbel.setter
    def gumbel(self, arg: bool, /) -> None: ...

    @property
    def gumbel_candidates(self) -> int: ...

    @gumbel_candidates.setter
    def gumbel_candidates(self, arg: int, /) -> None: ...

    @property
    def gumbel_scale(self) -> float: ...

    @gumbel_scale.setter
    def gumbel_scale(self, arg: float, /) -> None: ...

    @property
    def gumbel_visit_offset(self) -> float: ...

    @gumbel_visit_offset.setter
    def gumbel_visit_offset(self, arg: float, /) -> None: ...

    @property
    def gumbel_value_scale(self) -> float: ...

    @gumbel_value_scale.setter
    def gumbel_value_scale(self, arg: float, /) -> None: ...

    @property
    def symmetry(self) -> SymmetryUse: ...

    @symmetry.setter
    def symmetry(self, arg: SymmetryUse, /) -> None: ...

    @property
    def cache_entries(self) -> int: ...

    @cache_entries.setter
    def cache_entries(self, arg: int, /) -> None: ...

    @property
    def reuse_tree(self) -> bool: ...

    @reuse_tree.setter
    def reuse_tree(self, arg: bool, /) -> None: ...

    @property
    def forced_playouts(self) -> float: ...

    @forced_playouts.setter
    def forced_playouts(self, arg: float, /) -> None: ...

    @property
    def full_fraction(self) -> float: ...

    @full_fraction.setter
    def full_fraction(self, arg: float, /) -> None: ...

    @property
    def fast_simulations(self) -> int: ...

    @fast_simulations.setter
    def fast_simulations(self, arg: int, /) -> None: ...

    @property
    def temperature(self) -> float: ...

    @temperature.setter
    def temperature(self, arg: float, /) -> None: ...

    @property
    def temperature_plies(self) -> int: ...

    @temperature_plies.setter
    def temperature_plies(self, arg: int, /) -> None: ...

    @property
    def temperature_final(self) -> float: ...

    @temperature_final.setter
    def temperature_final(self, arg: float, /) -> None: ...

    @property
    def stop_when_proved(self) -> bool: ...

    @stop_when_proved.setter
    def stop_when_proved(self, arg: bool, /) -> None: ...

def plan_halving(candidates: int, simulations: int) -> list[int]:
    """
    Return, for each simulation of sequential halving, the visit count that a root move needs to be considered.
    """

class OpeningOptions:
    """See tengen.search.puct_self_play.Openings."""

    def __init__(self) -> None: ...

    @property
    def list(self) -> list[list[int]]: ...

    @list.setter
    def list(self, arg: Sequence[Sequence[int]], /) -> None: ...

    @property
    def fraction(self) -> float: ...

    @fraction.setter
    def fraction(self, arg: float, /) -> None: ...

    @property
    def random_stones(self) -> int: ...

    @random_stones.setter
    def random_stones(self, arg: int, /) -> None: ...

    @property
    def balance_candidates(self) -> int: ...

    @balance_candidates.setter
    def balance_candidates(self, arg: int, /) -> None: ...

class SelfPlayGame:
    """A game of self-play, finished or not."""

    def __init__(self) -> None: ...

    @property
    def moves(self) -> list[int]: ...

    @moves.setter
    def moves(self, arg: Sequence[int], /) -> None: ...

    @property
    def opening_length(self) -> int: ...

    @opening_length.setter
    def opening_length(self, arg: int, /) -> None: ...

    @property
    def outcome(self) -> Outcome: ...

    @property
    def plies_left(self) -> int: ...

    @property
    def policies(self) -> NDArray[numpy.float32]:
        """A copy of the policies, float32 [searched, area]."""

    @property
    def values(self) -> NDArray[numpy.float32]: ...

    @property
    def surprises(self) -> NDArray[numpy.float32]: ...

    @property
    def full(self) -> NDArray[numpy.float32]:
        """float32 [searched]: 1 for full searches, 0 for fast ones."""

    def set_searched(self, arg0: Annotated[NDArray[numpy.float32], dict(shape=(None, None), order='C', device='cpu', writable=False)], arg1: Annotated[NDArray[numpy.float32], dict(shape=(None,), order='C', device='cpu', writable=False)], arg2: Annotated[NDArray[numpy.float32], dict(shape=(None,), order='C', device='cpu', writable=False)], arg3: Annotated[NDArray[numpy.float32], dict(shape=(None,), order='C', device='cpu', writable=False)], /) -> None: ...

class SelfPlay:
    """Many games that a network plays against itself."""

    def __init__(self, board: Board, layout: PlaneLayout, options: PuctOptions, openings: OpeningOptions, games: int, seed: int) -> None:
        """Create games with the rules of `board`; its stones are ignored."""

    def collect(self, planes: Annotated[NDArray[numpy.float32], dict(shape=(None, None, None, None), order='C', device='cpu')]) -> int:
        """
        Write the planes of leaves that need an evaluation; return the number of rows.
        """

    def supply(self, log_policies: Annotated[NDArray[numpy.float32], dict(shape=(None, None), order='C', device='cpu', writable=False)], values: Annotated[NDArray[numpy.float32], dict(shape=(None,), order='C', device='cpu', writable=False)]) -> None: ...

    def take_finished(self) -> list[SelfPlayGame]: ...

    def clear_cache(self) -> None: ...

    def restart(self) -> None: ...

    def game(self, index: int) -> SelfPlayGame: ...

    def rng_state(self, index: int) -> list[int]: ...

    def set_game(self, index: int, game: SelfPlayGame, rng_state: Sequence[int]) -> None: ...

    @property
    def max_rows(self) -> int: ...

    @property
    def games(self) -> int: ...

    @property
    def finished_count(self) -> int:
        """Number of games that take_finished would return."""

    @property
    def counts(self) -> list[int]:
        """Simulations, evaluations, cache hits, moves, games."""

class PuctMove:
    """
    Statistics of one root move, from the point of view of the side to move.
    """

    @property
    def move(self) -> int: ...

    @property
    def visits(self) -> int: ...

    @property
    def prior(self) -> float: ...

    @property
    def value_to_move(self) -> float: ...

    @property
    def proof(self) -> ProofResult: ...

    @property
    def proof_plies(self) -> int: ...

    @property
    def line(self) -> list[int]: ...

class PuctReport:
    """The state of a search. The chosen move comes first."""

    @property
    def moves(self) -> list[PuctMove]: ...

    @property
    def policy(self) -> list[float]: ...

    @property
    def simulations(self) -> int: ...

    @property
    def proof(self) -> ProofResult: ...

    @property
    def proof_plies(self) -> int: ...

class PuctSearch:
    """Network-guided search of one position by workers that share a tree."""

    def __init__(self, board: Board, layout: PlaneLayout, options: PuctOptions, memory_bytes: int) -> None:
        """
        Create a search for positions with the rules of `board`; its stones are ignored.
        """

    def begin(self, board: Board, simulations: int, time_ms: int, excluded: Sequence[int], workers: int, seed: int, stop: StopSignal | None = None) -> None: ...

    def collect(self, worker: int, planes: Annotated[NDArray[numpy.float32], dict(shape=(None, None, None, None), order='C', device='cpu')]) -> int:
        """
        Write the planes of leaves that need an evaluation; return the number of rows.
        """

    @property
    def has_work(self) -> bool:
        """Whether `collect` may find more leaves or visit more nodes."""

    def supply(self, worker: int, log_policies: Annotated[NDArray[numpy.float32], dict(shape=(None, None), order='C', device='cpu', writable=False)], values: Annotated[NDArray[numpy.float32], dict(shape=(None,), order='C', device='cpu', writable=False)]) -> None: ...

    def abandon(self, worker: int) -> None:
        """Cancel the pending walks of a worker whose rows will not be evaluated."""

    def report(self, lines: int, temperature: float) -> PuctReport: ...

    def end(self) -> None: ...

    def clear(self) -> None: ...

    def check(self) -> str:
        """
        Check that the counts of the tree are consistent and no walk is pending; return '' or the error.
        """

    @property
    def is_over(self) -> bool: ...

    @property
    def simulations(self) -> int:
        """Number of finished simulations."""

    @property
    def max_rows(self) -> int: ...

class CriticInput(enum.Enum):
    """The inputs of a critic (cpp/eval/critic.h)."""

    STONES = 0

    POINTS = 1

class Activation(enum.Enum):
    """The activation function of the hidden units of a critic."""

    SIGMOID = 0

    RELU = 1

class Critic:
    """
    A network with one hidden layer that maps counts of shapes to the logit of a win.
    """

    def __init__(self, input: CriticInput, activation: Activation, weights: Annotated[NDArray[numpy.float32], dict(shape=(None, None), order='C', device='cpu', writable=False)], biases: Annotated[NDArray[numpy.float32], dict(shape=(None,), order='C', device='cpu', writable=False)], output_weights: Annotated[NDArray[numpy.float32], dict(shape=(None,), order='C', device='cpu', writable=False)], output_bias: float) -> None:
        """Shapes: weights [inputs, hidden], biases and output_weights [hidden]."""

    @property
    def input(self) -> CriticInput: ...

    @property
    def hidden(self) -> int: ...

def critic_input_count(input: CriticInput) -> int:
    """Return the number of inputs of a critic."""

def judge_afterstates(critic: Critic, board: Board, radius: int) -> tuple[Annotated[NDArray[numpy.int64], dict(shape=(None,))], Annotated[NDArray[numpy.float32], dict(shape=(None,))]]:
    """
    Return the candidate moves of the side to move, and the logit of a win for that side after each.
    """

def critic_inputs(input: CriticInput, board: Board, view: int) -> tuple[Annotated[NDArray[numpy.int32], dict(shape=(None,))], Annotated[NDArray[numpy.float32], dict(shape=(None,))]]:
    """
    Return the indices and amounts of the non-zero inputs, from the point of view of colour `view`.
    """

def play_critic_games(learner: Critic, board: Board, *, games: int, seed: int, radius: int, epsilon: float, random_stones: int, critic_opponent: Critic | None = None, policy_opponent: PolicyKind | None = None) -> dict[str, Any]:
    """
    Play games with the rules of `board`; its stones are ignored. Return the arrays of CriticGames by name (cpp/play/critic_games.h).
    """

def shape_codes() -> list[list[int]]:
    """Return the four line shapes of each code, weakest first."""

class PositionFeatures:
    """Samples for the tuner, collected game by game."""

    def __init__(self, by_colour: bool = False) -> None:
        """
        With by_colour, white's codes have their own columns after those of black.
        """

    def add(self, board: Board, moves: Sequence[int], first: int) -> None:
        """
        Add positions of a game that starts at `board`, from move number `first` on. Supports win lengths 4 and 5.
        """

    def __len__(self) -> int: ...

    def take(self) -> dict[str, Any]:
        """
        Remove all samples and return them as the arrays of PositionFeatures by name (cpp/tools/features.h).
        """

VALUE_UNIT: int = 8

SHAPE_CODES: int = 2380

THREAT_BITS: int = 9
