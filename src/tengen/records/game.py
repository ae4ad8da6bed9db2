"""The content of a game file: a header and a tree of moves, set-up stones and annotations.

A record may break the rules of the game. It may stop anywhere, set up stones, contain passes, or continue after a five.
The only requirement is that every stone is placed on an empty point of the board. A branch may be thousands of nodes
deep, so all traversals use explicit stacks.
"""

from __future__ import annotations

import re
from collections.abc import Iterable, Iterator, Mapping
from dataclasses import dataclass, field
from enum import StrEnum
from functools import cache
from types import MappingProxyType
from typing import TYPE_CHECKING, Any, NamedTuple

from tengen.core.contracts import Colour, Outcome, Rule, Ruleset
from tengen.core.geometry import Point
from tengen.errors import ForbiddenPointError, InputError, RecordError
from tengen.records.limits import MAX_DEPTH, MAX_NODES, MAX_TIME_MS

if TYPE_CHECKING:
    from tengen.core.position import Position

Properties = Mapping[str, tuple[str, ...]]
"""Raw values of SGF properties by name, as written between the brackets, including escapes."""

NO_PROPERTIES: Properties = MappingProxyType({})

OPENING_PROPERTY = "OPENINGSTONES"
"""SGF property of the game: the number of initial moves that were a given opening, not chosen by the players."""

PASS = "--"
"""Notation for a pass in a list of points."""


class Move(NamedTuple):
    """A stone placed by `colour`, or a pass if `point` is None."""

    colour: Colour
    point: Point | None

    def __str__(self) -> str:
        return f"{self.colour} {self.point or PASS}"


@cache
def move_of(colour: Colour, point: Point | None) -> Move:
    """Return a shared `Move` object, which saves memory in trees with millions of moves."""
    return Move(colour, point)


@dataclass(frozen=True, slots=True)
class Setup:
    """Stones added to the board, or removed from it, without a move."""

    black: tuple[Point, ...] = ()
    white: tuple[Point, ...] = ()
    empty: tuple[Point, ...] = ()
    to_move: Colour | None = None
    """The side to move next; None leaves it unchanged."""

    def __bool__(self) -> bool:
        return bool(self.black or self.white or self.empty or self.to_move)


class MarkKind(StrEnum):
    """The marks that can be drawn on a point."""

    TRIANGLE = "triangle"
    SQUARE = "square"
    CIRCLE = "circle"
    CROSS = "cross"
    SELECTED = "selected"
    LABEL = "label"
    """A short text."""


class Mark(NamedTuple):
    """A mark on a point; only a label has text."""

    kind: MarkKind
    point: Point
    text: str = ""


@dataclass(slots=True, eq=False, repr=False)
class Node:
    """One step of a record: usually one move, sometimes set-up stones, several moves or only a comment.

    Nodes compare by identity; `GameRecord` compares whole trees.
    """

    moves: tuple[Move, ...] = ()
    """The moves of this node in order; usually one."""
    setup: Setup | None = None
    """Stones placed or removed before the moves of this node."""
    comment: str = ""
    label: str = ""
    """A short text shown on the board at this move (RenLib's board text)."""
    time_ms: int | None = None
    """Time spent on the last move in this node, in milliseconds."""
    clock_ms: int | None = None
    """Time left on the mover's clock after the last move in this node, in milliseconds."""
    value: float | None = None
    """Evaluation of the position after this node **for black**, from -1 (white wins) to +1 (black wins)."""
    marks: tuple[Mark, ...] = ()
    """Marks on points, in no particular order."""
    bookmarked: bool = False
    """Whether the author bookmarked this node."""
    properties: Properties = field(default_factory=lambda: NO_PROPERTIES)
    """SGF properties that have no field here, in file order. Replace the mapping; do not modify it."""
    children: list[Node] = field(default_factory=list)
    """Continuations; the first one is the main line."""
    parent: Node | None = None

    def add(self, child: Node) -> Node:
        """Append `child` as the last continuation and return it."""
        child.parent = self
        self.children.append(child)
        return child

    def play(self, point: Point | None, colour: Colour | None = None) -> Node:
        """Append a move and return its node; None is a pass. The default colour is the side to move."""
        return self.add(Node(moves=(move_of(colour or self.to_move, point),)))

    @property
    def to_move(self) -> Colour:
        """The side to move after this node. Takes time proportional to the distance from the last move."""
        node: Node | None = self
        setups: list[Setup] = []
        while node is not None:
            if node.moves:
                return node.moves[-1].colour.opponent
            if node.setup is not None:
                if node.setup.to_move:
                    return node.setup.to_move
                setups.append(node.setup)
            node = node.parent
        return _first_to_move(setups)

    def content(self) -> tuple[object, ...]:
        """Return all fields except the parent and the children, for comparisons."""
        return (
            self.moves,
            self.setup or Setup(),
            self.comment,
            self.label,
            self.time_ms,
            self.clock_ms,
            self.value,
            frozenset(self.marks),
            self.bookmarked,
            dict(self.properties),
        )

    def __repr__(self) -> str:
        played = ", ".join(map(str, self.moves)) or ("set-up" if self.setup else "no move")
        return f"<Node {played}, {len(self.children)} children>"


def _first_to_move(setups: list[Setup]) -> Colour:
    """Return the side to move after these set-ups (latest first): white if black has more stones."""
    stones: dict[Point, Colour] = {}
    for setup in reversed(setups):
        _place(setup, stones)
    black = sum(colour is Colour.BLACK for colour in stones.values())
    return Colour.WHITE if 2 * black > len(stones) else Colour.BLACK


def _place(setup: Setup, stones: dict[Point, Colour]) -> None:
    for point in setup.black:
        stones[point] = Colour.BLACK
    for point in setup.white:
        stones[point] = Colour.WHITE
    for point in setup.empty:
        stones.pop(point, None)


class Branch:
    """The stones on the current branch while a tree is read or written; call `enter` and `leave` for each node."""

    def __init__(self, ruleset: Ruleset) -> None:
        self.ruleset = ruleset
        self.stones: dict[Point, Colour] = {}
        self._undo: list[list[tuple[Point, Colour | None]]] = []

    def __len__(self) -> int:
        return len(self._undo)

    def enter(self, node: Node) -> None:
        """Apply a node. Raises `RecordError` and changes nothing if a stone is off the board or on another stone."""
        if len(self._undo) >= MAX_DEPTH:
            raise RecordError(f"a branch is deeper than {MAX_DEPTH} nodes")
        changes: list[tuple[Point, Colour | None]] = []
        self._undo.append(changes)
        try:
            if node.setup is not None:
                self._set_up(node.setup, changes)
            for colour, point in node.moves:
                if point is not None:
                    self._play(colour, point, changes)
        except RecordError:
            self.leave()
            raise

    def leave(self) -> None:
        """Undo the last node entered."""
        for point, before in reversed(self._undo.pop()):
            if before is None:
                self.stones.pop(point, None)
            else:
                self.stones[point] = before

    def leave_to(self, depth: int) -> None:
        """Undo nodes until only `depth` of them remain."""
        while len(self._undo) > depth:
            self.leave()

    def _play(self, colour: Colour, point: Point, changes: list[tuple[Point, Colour | None]]) -> None:
        self._check_on_board(point)
        if point in self.stones:
            raise RecordError(f"{colour} plays {point}, which is occupied by a {self.stones[point]} stone")
        changes.append((point, None))
        self.stones[point] = colour

    def _set_up(self, setup: Setup, changes: list[tuple[Point, Colour | None]]) -> None:
        seen: set[Point] = set()
        for colour, points in ((Colour.BLACK, setup.black), (Colour.WHITE, setup.white), (None, setup.empty)):
            for point in points:
                self._check_on_board(point)
                if point in seen:
                    raise RecordError(f"{point} is set up twice in one node")
                seen.add(point)
                changes.append((point, self.stones.get(point)))
                if colour is None:
                    self.stones.pop(point, None)
                else:
                    self.stones[point] = colour

    def _check_on_board(self, point: Point) -> None:
        if not self.ruleset.contains(point):
            raise RecordError(f"{point} is not on a {self.ruleset.width}x{self.ruleset.height} board")


@dataclass(slots=True, eq=False, repr=False)
class GameRecord:
    """A game with its header; texts may be empty. A `result` of None is unknown; `Outcome.ONGOING` means unfinished.

    >>> from tengen.core.geometry import parse_points
    >>> game = GameRecord.from_points(Ruleset(15, 15), parse_points("h8i9"), black="Ann")
    >>> [str(move) for move in game.moves()]
    ['black h8', 'white i9']
    """

    ruleset: Ruleset = field(default_factory=Ruleset)
    black: str = ""
    white: str = ""
    result: Outcome | None = None
    result_reason: str = ""
    """The reason for the result: `five`, `resignation`, `time`, `foul`, `forfeit`, … or any other text."""
    event: str = ""
    round: str = ""
    date: str = ""
    """The date as written in the file, preferably `YYYY-MM-DD`."""
    comment: str = ""
    """Comment on the whole game; nodes have their own comments."""
    root: Node = field(default_factory=Node)

    @classmethod
    def from_points(cls, ruleset: Ruleset, points: Iterable[Point | None], **header: Any) -> GameRecord:
        """Create a game of alternating moves, black first; None is a pass. `header` sets the other fields."""
        record = cls(ruleset=ruleset, **header)
        node, colour = record.root, Colour.BLACK
        for point in points:
            node = node.add(Node(moves=(move_of(colour, point),)))
            colour = colour.opponent
        return record

    @property
    def properties(self) -> Properties:
        """The properties of the root: SGF properties of the game that have no field here."""
        return self.root.properties

    @property
    def opening_stones(self) -> int:
        """Number of initial moves that were a given opening; 0 if the file does not state it."""
        text = next(iter(self.properties.get(OPENING_PROPERTY, ())), "")
        return min(int(text), len(self.moves())) if re.fullmatch("[0-9]{1,4}", text) else 0

    def nodes(self) -> Iterator[Node]:
        """Yield all nodes in pre-order, main line first."""
        stack = [self.root]
        while stack:
            node = stack.pop()
            yield node
            stack.extend(reversed(node.children))

    def main_line(self) -> Iterator[Node]:
        """Yield the root, its first child, and so on."""
        node = self.root
        yield node
        while node.children:
            node = node.children[0]
            yield node

    def moves(self) -> list[Move]:
        """Return the moves of the main line, without set-up stones."""
        return [move for node in self.main_line() for move in node.moves]

    def stones(self, moves: int | None = None) -> dict[Point, Colour]:
        """Return the stones after the first `moves` moves of the main line (default: all), including set-up stones."""
        stones: dict[Point, Colour] = {}
        left = self._checked_count(moves)
        for node in self.main_line():
            _place(node.setup or Setup(), stones)
            played = node.moves[:left]
            left -= len(played)
            stones.update((point, colour) for colour, point in played if point is not None)
            if len(played) < len(node.moves):
                break
        return stones

    def to_move(self, moves: int | None = None) -> Colour:
        """Return the side to move after the first `moves` moves of the main line (default: all)."""
        count = self._checked_count(moves)
        last = self.root
        for node in self.main_line():
            if len(node.moves) > count:
                if count:
                    return node.moves[count - 1].colour.opponent
                return node.moves[0].colour
            count -= len(node.moves)
            last = node
        return last.to_move

    def position(self, moves: int | None = None) -> Position:
        """Return the position after the first `moves` moves of the main line (default: all).

        A game of alternating moves is replayed, so an illegal move raises `IllegalMoveError`. For a game with set-up
        stones or passes, the position is built from the stones and has no move history.
        """
        from tengen.core.position import Position

        played = self.moves()[: self._checked_count(moves)]
        if self._is_replayable(played):
            position = Position.start(self.ruleset)
            for move in played:
                assert move.point is not None
                position = position.play(move.point)
            return position
        stones = self.stones(moves)
        return Position.from_stones(
            self.ruleset,
            black=[point for point, owner in stones.items() if owner is Colour.BLACK],
            white=[point for point, owner in stones.items() if owner is Colour.WHITE],
            to_move=self.to_move(moves),
        )

    def positions(self) -> Iterator[Position]:
        """Yield the position before the first move of the main line and the one after each move."""
        for moves in range(len(self.moves()) + 1):
            yield self.position(moves)

    def __iter__(self) -> Iterator[Position]:
        """Iterate over the positions of the main line; see `positions`."""
        return self.positions()

    def to_svg(self, *, numbers: bool = True, coordinates: bool = True) -> str:
        """Return a picture of the final position of the main line as SVG text, by default with move numbers."""
        return self.position().to_svg(numbers=numbers, coordinates=coordinates)

    def to_png(self, *, numbers: bool = True, coordinates: bool = True) -> bytes:
        """Return a PNG picture of the final position of the main line as bytes, by default with move numbers."""
        return self.position().to_png(numbers=numbers, coordinates=coordinates)

    def _repr_svg_(self) -> str:
        """Draw the final position in a notebook."""
        return self.to_svg()

    def settle(self) -> bool:
        """Fill in an unknown result if the final position decides it; return whether the result was filled in.

        If the last move is a renju foul, white wins. A game with an earlier illegal move is not changed.
        """
        if self.result not in (None, Outcome.ONGOING):
            return False
        try:
            position = self.position()
        except ForbiddenPointError:
            return self._settle_by_foul()
        except InputError:
            return False
        if position.outcome is Outcome.ONGOING:
            return False
        self.result = position.outcome
        if position.winning_line:
            self.result_reason = "five"
        else:
            self.result_reason = "full board" if self.result is Outcome.DRAW else "no legal point"
        return True

    def _settle_by_foul(self) -> bool:
        try:
            self.position(len(self.moves()) - 1)
        except InputError:
            return False
        self.result, self.result_reason = Outcome.WHITE, "foul"
        return True

    def check(self) -> None:
        """Raise `RecordError` unless every stone is placed on an empty point and every number is in range."""
        branch = Branch(self.ruleset)
        stack = [(self.root, 0)]
        while stack:
            node, depth = stack.pop()
            branch.leave_to(depth)
            branch.enter(node)
            _check_numbers(node)
            stack.extend((child, depth + 1) for child in reversed(node.children))

    def _is_replayable(self, played: list[Move]) -> bool:
        alternates = all(
            move.point is not None and move.colour is (Colour.WHITE if ply % 2 else Colour.BLACK)
            for ply, move in enumerate(played)
        )
        return alternates and not any(node.setup for node in self.main_line())

    def _checked_count(self, moves: int | None) -> int:
        total = sum(len(node.moves) for node in self.main_line())
        if moves is None:
            return total
        if not 0 <= moves <= total:
            raise InputError(f"move {moves} does not exist: the main line has {total} moves")
        return moves

    def _header(self) -> tuple[object, ...]:
        return (
            self.ruleset,
            self.black,
            self.white,
            self.result,
            self.result_reason,
            self.event,
            self.round,
            self.date,
            self.comment,
        )

    def __eq__(self, other: object) -> bool:
        if not isinstance(other, GameRecord):
            return NotImplemented
        return self._header() == other._header() and same_tree(self.root, other.root)

    __hash__ = None  # type: ignore[assignment]

    def __repr__(self) -> str:
        names = f"{self.black or '?'} – {self.white or '?'}"
        return f"<GameRecord {self.ruleset} {names}, {len(self.moves())} moves, result {self.result or 'unknown'}>"


def _check_numbers(node: Node) -> None:
    if node.value is not None and not -1 <= node.value <= 1:
        raise RecordError(f"{node!r} has the value {node.value}, which is outside [-1, 1]")
    for name, amount in (("time", node.time_ms), ("clock", node.clock_ms)):
        if amount is None:
            continue
        if not node.moves:
            raise RecordError(f"{node!r} has a {name} but no move")
        if not 0 <= amount <= MAX_TIME_MS:
            raise RecordError(f"{node!r} has a {name} of {amount} ms, which is outside the range 0–{MAX_TIME_MS}")


def same_tree(left: Node, right: Node) -> bool:
    """Return whether two trees have the same nodes in the same order."""
    stack = [(left, right)]
    while stack:
        one, other = stack.pop()
        if one.content() != other.content() or len(one.children) != len(other.children):
            return False
        stack.extend(zip(one.children, other.children, strict=True))
    return True


def collect(records: Iterable[GameRecord]) -> list[GameRecord]:
    """Collect records in a list; raise `RecordError` if together they have more than `MAX_NODES` nodes."""
    collected: list[GameRecord] = []
    nodes = 0
    for record in records:
        nodes += sum(1 for _ in record.nodes())
        if nodes > MAX_NODES:
            raise RecordError(f"game {len(collected) + 1}: the games up to this one have more than {MAX_NODES} nodes")
        collected.append(record)
    return collected


def plies_of(node: Node, turn: Colour, stones: Mapping[Point, Colour]) -> list[Point | None]:
    """Convert a node to strictly alternating plies, `turn` first, for formats that support nothing else.

    Set-up stones become moves, black and white in turn, with a pass (None) wherever a player would place two stones in
    a row. `stones` is the board before the node. A set-up that removes or replaces stones raises `RecordError`.
    """
    plies: list[Point | None] = []
    if node.setup:
        replaced = node.setup.empty or [*filter(stones.__contains__, (*node.setup.black, *node.setup.white))]
        if replaced:
            raise RecordError(f"the format cannot store set-ups that remove or replace stones ({' '.join(replaced)})")
        waiting = {Colour.BLACK: list(node.setup.black), Colour.WHITE: list(node.setup.white)}
        while waiting[Colour.BLACK] or waiting[Colour.WHITE]:
            plies.append(waiting[turn].pop(0) if waiting[turn] else None)
            turn = turn.opponent
        if not node.moves and node.to_move is not turn:
            plies.append(None)
            turn = turn.opponent
    for colour, point in node.moves:
        if colour is not turn:
            plies.append(None)
        plies.append(point)
        turn = colour.opponent
    return plies


def main_plies(record: GameRecord, *, passes: bool) -> list[Point | None]:
    """Return the main line as alternating plies, black first (see `plies_of`).

    With `passes=False`, for formats without passes, a pass raises `RecordError`.
    """
    plies: list[Point | None] = []
    stones: dict[Point, Colour] = {}
    for node in record.main_line():
        turn = Colour.WHITE if len(plies) % 2 else Colour.BLACK
        plies += plies_of(node, turn, stones)
        _place(node.setup or Setup(), stones)
        stones.update((point, colour) for colour, point in node.moves if point is not None)
    if not passes and None in plies:
        raise RecordError(
            f"the colours do not alternate at stone {plies.index(None) + 1}, and the format has no passes"
        )
    return plies


def ruleset_of(width: int, height: int, default: Ruleset | None, rule: Rule = Rule.FREESTYLE) -> Ruleset:
    """Return the ruleset for a file that states only the board size.

    `default` supplies the rest; if it is None, the ruleset is five in a row under `rule`. Raises `RulesetError` if the
    size is not supported.
    """
    if default is None:
        win_length = min(5, max(width, height))
        return Ruleset(width, height, max(3, win_length), rule if win_length == 5 else Rule.FREESTYLE)
    return Ruleset(width, height, default.win_length, default.rule, default.opening)
