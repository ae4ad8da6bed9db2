"""The types shared by all parts of Tengen; read this file first.

Searches, networks, agents, the arena, the web application and training communicate only through these types. A
`Ruleset` defines the game, a `Position` (in `tengen.core.position`) is its current state, and `Limits` bound a search.
An `Agent` starts a `Search`, which yields an `Analysis` from time to time and ends with a `Decision`. Values are from
the point of view of the side to move, between -1 (lost) and +1 (won).
"""

from __future__ import annotations

import queue
import re
import threading
from collections.abc import Callable, Generator, Iterator, Mapping, Sequence
from contextlib import closing
from dataclasses import dataclass, field
from enum import StrEnum
from typing import TYPE_CHECKING, Protocol, Self, TypeVar, runtime_checkable

from tengen.core.geometry import MAX_SIZE, MIN_SIZE, Point
from tengen.core.stop_signal import StopSignal
from tengen.errors import AgentError, NotationError, RulesetError

if TYPE_CHECKING:
    import numpy as np
    import numpy.typing as npt

    from tengen.core.position import Position

E = TypeVar("E", bound=StrEnum)

MIN_WIN_LENGTH = 3
MAX_WIN_LENGTH = 6


class Colour(StrEnum):
    """Colour of a stone and its player. Black moves first."""

    BLACK = "black"
    WHITE = "white"

    @property
    def opponent(self) -> Colour:
        """The other colour."""
        return Colour.WHITE if self is Colour.BLACK else Colour.BLACK


class Rule(StrEnum):
    """Rule for winning lines and for points forbidden to black (docs/reference/rules.md)."""

    FREESTYLE = "freestyle"
    """A line of at least the win length wins."""
    STANDARD = "standard"
    """Only a line of exactly the win length wins."""
    RENJU = "renju"
    """Black wins with exactly five and may not make an overline, double-four or double-three. White wins with five or
    more."""
    CARO = "caro"
    """A line of at least the win length wins, unless it has exactly that length and enemy stones at both ends."""
    CARO_EXACT = "caro-exact"
    """A line of exactly the win length wins, unless it has enemy stones at both ends."""


class Opening(StrEnum):
    """Procedure for placing the first stones and choosing colours (`tengen.core.opening_procedure`)."""

    FREE = "free"
    SWAP = "swap"
    SWAP2 = "swap2"
    PRO = "pro"
    LONG_PRO = "long-pro"


class Foul(StrEnum):
    """Reason why a point is forbidden to black in renju."""

    OVERLINE = "overline"
    DOUBLE_FOUR = "double-four"
    DOUBLE_THREE = "double-three"


class Outcome(StrEnum):
    """State of a game: ongoing, won by a colour, or drawn."""

    ONGOING = "ongoing"
    BLACK = "black"
    WHITE = "white"
    DRAW = "draw"

    @property
    def winner(self) -> Colour | None:
        """The colour that won; None for a draw or an ongoing game."""
        return Colour(self.value) if self in (Outcome.BLACK, Outcome.WHITE) else None

    @classmethod
    def win_for(cls, colour: Colour) -> Outcome:
        """Return the outcome in which `colour` has won."""
        return cls(colour.value)


_MAX_RULESET = 80
"""Maximum length of a ruleset's text form; the longest valid one has about 30 characters."""
_RULESET = re.compile(r"(\d{1,6})(?:x(\d{1,6}))?(?::(\d{1,6}))?(?::([a-z-]+))?(?::([a-z0-9-]+))?", re.ASCII)


@dataclass(frozen=True, slots=True)
class Ruleset:
    """Rules of a game: board size, win length, rule and opening procedure.

    The text form is `WIDTHxHEIGHT:WIN_LENGTH:RULE[:OPENING]`; a free opening is omitted. A rule name alone stands for
    five in a row on a 15x15 board.

    >>> Ruleset.parse("15x15:5:renju").rule
    <Rule.RENJU: 'renju'>
    >>> str(Ruleset.parse("renju"))
    '15x15:5:renju'
    >>> str(Ruleset(9, 9))
    '9x9:5:freestyle'
    """

    width: int = 15
    height: int = 15
    win_length: int = 5
    rule: Rule = Rule.FREESTYLE
    opening: Opening = Opening.FREE

    def __post_init__(self) -> None:
        object.__setattr__(self, "rule", _member(Rule, self.rule, "rule"))
        object.__setattr__(self, "opening", _member(Opening, self.opening, "opening"))
        for name, size in (("width", self.width), ("height", self.height)):
            if not MIN_SIZE <= size <= MAX_SIZE:
                raise RulesetError(f"board {name} {size} is outside the range {MIN_SIZE}–{MAX_SIZE}")
        if not MIN_WIN_LENGTH <= self.win_length <= MAX_WIN_LENGTH:
            raise RulesetError(f"win length {self.win_length} is outside the range {MIN_WIN_LENGTH}–{MAX_WIN_LENGTH}")
        if self.win_length > max(self.width, self.height):
            raise RulesetError(f"no line of {self.win_length} fits on a {self.width}x{self.height} board")
        if self.rule is Rule.RENJU and self.win_length != 5:
            raise RulesetError(f"renju requires a win length of 5, not {self.win_length}")

    @classmethod
    def of(cls, rules: Ruleset | str) -> Ruleset:
        """Return `rules` unchanged if it is a ruleset; otherwise, parse it."""
        return rules if isinstance(rules, Ruleset) else cls.parse(rules)

    @classmethod
    def parse(cls, text: str) -> Ruleset:
        """Parse the text form (defaults: a square board, win length 5, freestyle, free opening).

        `RULE[:OPENING]` is short for `15x15:5:RULE[:OPENING]`.
        """
        shown = text if len(text) <= _MAX_RULESET else text[:_MAX_RULESET] + "…"
        lowered = text.strip().lower()
        if lowered.partition(":")[0] in list(Rule):
            lowered = f"15x15:5:{lowered}"
        match = _RULESET.fullmatch(lowered) if shown is text else None
        if match is None:
            rules = ", ".join(Rule)
            raise NotationError(
                f"not a ruleset: {shown!r} (expected a rule: {rules}; or WIDTHxHEIGHT:WIN_LENGTH:RULE[:OPENING],"
                " such as '15x15:5:renju')"
            )
        width, height, win_length, rule, opening = match.groups()
        try:
            return cls(
                int(width),
                int(height or width),
                int(win_length or 5),
                _member(Rule, rule or Rule.FREESTYLE, "rule"),
                _member(Opening, opening or Opening.FREE, "opening"),
            )
        except RulesetError as error:
            raise RulesetError(f"{error} in {text!r}") from None

    @property
    def name(self) -> str:
        """The text form."""
        tail = "" if self.opening is Opening.FREE else f":{self.opening}"
        return f"{self.width}x{self.height}:{self.win_length}:{self.rule}{tail}"

    @property
    def area(self) -> int:
        """Number of points on the board."""
        return self.width * self.height

    @property
    def is_square(self) -> bool:
        """Whether the board is square."""
        return self.width == self.height

    @property
    def centre(self) -> Point:
        """The middle of the board; for even sizes, the upper right of the middle points."""
        return Point.at(self.width // 2, self.height // 2)

    def contains(self, point: Point) -> bool:
        """Return whether the point is on this board."""
        return point.x < self.width and point.y < self.height

    def __str__(self) -> str:
        return self.name


def _member(kind: type[E], value: str, what: str) -> E:
    try:
        return kind(value)
    except ValueError:
        known = ", ".join(member.value for member in kind)
        raise RulesetError(f"unknown {what} {value!r} (known: {known})") from None


@dataclass(frozen=True, slots=True, kw_only=True)
class Limits:
    """Limits on the search for one move. The first limit reached ends the search; None means no limit."""

    time_ms: int | None = None
    """Time for this move, in milliseconds."""
    clock_ms: int | None = None
    """Time left on the player's clock, in milliseconds."""
    increment_ms: int = 0
    """Time added to the clock after each move, in milliseconds."""
    nodes: int | None = None
    """Maximum number of positions a tree search visits."""
    depth: int | None = None
    """Maximum depth of iterative deepening in plies."""
    simulations: int | None = None
    """Maximum number of simulations or playouts in a Monte Carlo search."""
    threads: int = 1
    """Maximum number of search threads."""

    def __post_init__(self) -> None:
        for name in ("time_ms", "clock_ms", "increment_ms", "nodes", "depth", "simulations"):
            amount = getattr(self, name)
            if amount is not None and amount < 0:
                raise NotationError(f"limit {name}={amount} is negative")
        if self.threads < 1:
            raise NotationError(f"threads must be at least 1, not {self.threads}")


@dataclass(frozen=True, slots=True)
class Proof:
    """A result proved by a search for the side to move: `win`, `loss` or `draw` in `plies` plies.

    >>> str(Proof("win", 5)), str(Proof("loss", 6))
    ('+M5', '-M6')
    """

    result: str
    plies: int

    def __str__(self) -> str:
        return {"win": "+M", "loss": "-M", "draw": "=M"}[self.result] + str(self.plies)


@dataclass(frozen=True, slots=True, kw_only=True)
class Decision:
    """The move that an agent chose, with its value, expected continuation and search statistics."""

    move: Point
    value_to_move: float | None = None
    """Expected result in [-1, 1] for the side to move; None if the agent does not estimate it."""
    line: tuple[Point, ...] = ()
    """Expected continuation, starting with `move`."""
    nodes: int = 0
    """Number of positions searched or simulations run."""
    policy: Mapping[Point, float] | None = None
    """Probability of each point in the agent's policy, summing to 1; None if it has no policy."""
    proof: Proof | None = None
    """Proved result, if any."""
    depth: int = 0
    """Search depth in plies at which the move and its value were found; 0 for agents without a depth."""
    messages: tuple[str, ...] = ()
    """Messages from an external engine about this move; limited in number and length."""

    def as_analysis(self, elapsed_ms: float = 0.0) -> Analysis:
        """Return the decision as an analysis with one line; an unknown value becomes 0."""
        line = AnalysisLine(
            move=self.move,
            value_to_move=self.value_to_move or 0.0,
            line=self.line or (self.move,),
            proof=self.proof,
            depth=self.depth,
            visits=self.nodes,
        )
        return Analysis(
            lines=(line,),
            depth=self.depth,
            nodes=self.nodes,
            elapsed_ms=elapsed_ms,
            policy=self.policy,
            has_values=self.value_to_move is not None,
        )


@dataclass(frozen=True, slots=True, kw_only=True)
class AnalysisLine:
    """A candidate move in an analysis with its expected continuation."""

    move: Point
    value_to_move: float
    line: tuple[Point, ...]
    proof: Proof | None = None
    depth: int = 0
    """Search depth in plies at which the value was found; 0 for agents without a depth."""
    selective_depth: int = 0
    """Length in plies of the longest line that the search examined in full; 0 if the agent does not measure it."""
    visits: int = 0
    prior: float | None = None
    reason: str = ""
    """Why the agent considers the move, in words; empty if it gives no reason beyond the value."""


@dataclass(frozen=True, slots=True, kw_only=True)
class Analysis:
    """A snapshot of a search: the best lines so far, best first."""

    lines: tuple[AnalysisLine, ...]
    depth: int = 0
    nodes: int = 0
    elapsed_ms: float = 0.0
    policy: Mapping[Point, float] | None = field(default=None)
    has_values: bool = True
    """Whether the agent evaluates positions; if not, all values are 0 and have no meaning."""

    @property
    def nodes_per_second(self) -> float:
        """Search speed; 0 if no time has been measured yet."""
        return 1000.0 * self.nodes / self.elapsed_ms if self.elapsed_ms > 0 else 0.0

    def decide(self) -> Decision:
        """Return the decision to play the best line."""
        best = self.lines[0]
        return Decision(
            move=best.move,
            value_to_move=best.value_to_move,
            line=best.line,
            nodes=self.nodes,
            policy=self.policy,
            proof=best.proof,
            depth=best.depth or self.depth,
        )


Report = Callable[[Analysis], None]
"""Callback that receives the snapshots of a running search."""


class Search:
    """Handle to one search of one position, created by `Agent.start`. It runs once.

    Nothing runs until a thread iterates over the search or calls `result`. Any thread may call `stop` and
    `best_so_far` at any time. A stop request is never lost, even if it arrives before the search starts.

    >>> import tengen
    >>> position = tengen.Position.start(tengen.Ruleset.parse("9x9:5:freestyle"))
    >>> search = tengen.make_agent("alphabeta").start(position, Limits(time_ms=60_000))
    >>> for analysis in search:
    ...     if analysis.depth >= 3:
    ...         search.stop()
    >>> position.is_legal(search.result().move)
    True
    """

    def __init__(
        self,
        run: Callable[[StopSignal, Report], Decision],
        snapshots: Callable[[StopSignal], Generator[Analysis, None, None]] | None = None,
    ) -> None:
        """Wrap the function that runs the search.

        `run` reports snapshots, if it has any, with the final one last, and returns the decision. Once the signal is
        set, `run` must return a legal move within about 10 ms. Agents that analyse in a different way pass `snapshots`:
        iterating over the search calls it instead of `run`.
        """
        self._run = run
        self._snapshots = snapshots
        self._stop_signal = StopSignal()
        self._has_begun = False
        self._latest: Analysis | None = None
        self._decision: Decision | None = None

    def stop(self) -> None:
        """End the search now; it still returns its best move. Has no effect once the search has ended."""
        self._stop_signal.set()

    def best_so_far(self) -> Decision | None:
        """Return the best decision so far, or None before the first one."""
        if self._decision is not None:
            return self._decision
        latest = self._latest
        return latest.decide() if latest is not None and latest.lines else None

    def result(self) -> Decision:
        """Return the decision. If the search has not been iterated over, run it in this thread first."""
        if not self._has_begun:
            self._begin()
            self._decision = self._run(self._stop_signal, self._remember)
        decision = self.best_so_far()
        if decision is None:
            raise AgentError("the search failed before it found a move; start a new search")
        return decision

    def __iter__(self) -> Iterator[Analysis]:
        """Run the search, usually in a background thread, and yield its snapshots. Leaving the loop stops it."""
        self._begin()
        snapshots = self._snapshots or self._snapshots_of_run
        with closing(snapshots(self._stop_signal)) as analyses:
            for analysis in analyses:
                self._remember(analysis)
                yield analysis

    def _begin(self) -> None:
        if self._has_begun:
            raise AgentError("a search can run only once; start a new search")
        self._has_begun = True

    def _remember(self, analysis: Analysis) -> None:
        self._latest = analysis

    def _snapshots_of_run(self, stop: StopSignal) -> Generator[Analysis, None, None]:
        snapshots: queue.SimpleQueue[Analysis | None] = queue.SimpleQueue()
        errors: list[BaseException] = []

        def run() -> None:
            try:
                self._decision = self._run(stop, snapshots.put)
            except BaseException as error:
                errors.append(error)
            snapshots.put(None)

        thread = threading.Thread(target=run, name="search", daemon=True)
        thread.start()
        try:
            while (analysis := snapshots.get()) is not None:
                yield analysis
        finally:
            stop.set()
            thread.join()
        if errors:
            raise errors[0]


class Agent:
    """A player, such as alpha-beta, a network or an external Gomocup engine.

    A subclass implements `start`, or only `choose` if it answers quickly. By default, each of the two calls the other,
    and `analyse` calls `start`. An agent may keep state between moves (tables, a tree, a process), but its decision
    depends only on the position, so callers may pass positions in any order. Use an agent from one thread, one search
    at a time. With one search thread, the same seed and the same calls produce the same moves, unless a time limit ends
    a search.
    """

    name: str = "agent"

    def supports(self, ruleset: Ruleset) -> bool:
        """Return whether the agent can play under `ruleset`."""
        return True

    def check_supports(self, ruleset: Ruleset) -> None:
        """Raise `AgentError` if the agent does not support `ruleset`; the message may list the supported rulesets."""
        if not self.supports(ruleset):
            raise AgentError(f"{self.name} does not play {ruleset}")

    def new_game(self, ruleset: Ruleset, seed: int = 0) -> None:
        """Clear the state from earlier games. Optional: without this call, searches behave as if the seed were 0."""

    def configure(self, *, memory_bytes: int | None = None, threads: int | None = None) -> None:
        """Apply the host's limits for the whole session; None leaves a limit unchanged. Call only between moves."""

    def start(self, position: Position, limits: Limits, lines: int = 1) -> Search:
        """Create a search for the `lines` best moves for the side to move. The game must not be over."""
        if type(self).choose is Agent.choose:
            raise NotImplementedError(f"{type(self).__name__} implements neither start nor choose")

        def run(stop: StopSignal, report: Report) -> Decision:
            return self.choose(position, limits)

        def snapshots(stop: StopSignal) -> Generator[Analysis, None, None]:
            yield self.choose(position, limits).as_analysis()

        return Search(run, snapshots)

    def choose(self, position: Position, limits: Limits) -> Decision:
        """Choose a legal move for the side to move. The game must not be over."""
        return self.start(position, limits).result()

    def analyse(self, position: Position, limits: Limits, lines: int = 1) -> Iterator[Analysis]:
        """Yield snapshots of the `lines` best moves until a limit is reached. Closing the iterator stops the search.

        An agent that does not search yields a single snapshot: its decision.
        """
        return iter(self.start(position, limits, lines))

    def close(self) -> None:
        """Free processes, threads and files. The agent cannot be used afterwards."""

    def __enter__(self) -> Self:
        return self

    def __exit__(self, *exception: object) -> None:
        self.close()


@runtime_checkable
class ExcludesMoves(Protocol):
    """Optional interface for agents that can exclude moves at the root."""

    def exclude(self, points: frozenset[Point]) -> None:
        """Exclude `points` from all later moves, unless there is no other move. Replaces earlier exclusions."""
        ...


@runtime_checkable
class WarmsUp(Protocol):
    """Optional interface for agents that can load weights and tables before their first search."""

    def warm_up(self, rulesets: Sequence[Ruleset]) -> None:
        """Load all data for searches under any of these rulesets. Call this only between moves."""
        ...


@runtime_checkable
class HasTable(Protocol):
    """Optional interface for agents with a resizable transposition table."""

    def resize_table(self, table_bytes: int) -> None:
        """Resize the table to about this size; this may clear it. Call this only between moves."""
        ...

    def table_usage(self) -> float:
        """Return the fraction of the table in use, from 0 to 1."""
        ...


class Evaluator(Protocol):
    """Interface through which tree searches use a network."""

    @property
    def plane_layout(self) -> str:
        """Name of the input layout in `tengen.core.planes`."""
        ...

    def evaluate(self, planes: npt.NDArray[np.float32]) -> tuple[npt.NDArray[np.float32], npt.NDArray[np.float32]]:
        """Evaluate planes [B, C, H, W]; return the log-policy [B, H·W] and the value [B] for the side to move."""
        ...
