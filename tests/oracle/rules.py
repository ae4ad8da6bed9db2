"""Winning lines, draws, renju fouls and legal points, written directly from the rule text.

A board is the dict of its stones: `{(x, y): "black" | "white"}`; a point that is on the board and not in the dict is
empty. x counts from the left and y from the bottom, both from 0. Speed does not matter: every function computes its
result from the stones alone and stores nothing.
"""

from __future__ import annotations

from collections.abc import Iterator, Mapping
from typing import NamedTuple

Point = tuple[int, int]
Step = tuple[int, int]
Stones = dict[Point, str]

BLACK, WHITE = "black", "white"
ONGOING, DRAW = "ongoing", "draw"
OVERLINE, DOUBLE_FOUR, DOUBLE_THREE = "overline", "double-four", "double-three"

RULES = ("freestyle", "standard", "renju", "caro", "caro-exact")
DIRECTIONS: tuple[Step, ...] = ((1, 0), (0, 1), (1, 1), (1, -1))
"""Row, column, rising diagonal, falling diagonal."""


class Rules(NamedTuple):
    """Board size, win length and rule, with the text form `15x15:5:renju`."""

    width: int
    height: int
    win_length: int
    rule: str

    @classmethod
    def parse(cls, text: str) -> Rules:
        """Parse the complete text form."""
        size, win_length, rule = text.split(":")
        width, height = size.split("x")
        rules = cls(int(width), int(height), int(win_length), rule)
        if not (3 <= rules.width <= 22 and 3 <= rules.height <= 22 and 3 <= rules.win_length <= 6 and rule in RULES):
            raise ValueError(f"no such ruleset: {text!r}")
        return rules

    def __str__(self) -> str:
        return f"{self.width}x{self.height}:{self.win_length}:{self.rule}"


def opponent(colour: str) -> str:
    """Return the other colour."""
    return WHITE if colour == BLACK else BLACK


def name_of(point: Point) -> str:
    """`(7, 7)` → `h8`."""
    return f"{chr(ord('a') + point[0])}{point[1] + 1}"


def point_of(name: str) -> Point:
    """`h8` → `(7, 7)`."""
    return ord(name[0]) - ord("a"), int(name[1:]) - 1


def all_points(rules: Rules) -> Iterator[Point]:
    """Return every point of the board, row by row from the bottom."""
    return ((x, y) for y in range(rules.height) for x in range(rules.width))


def on_board(rules: Rules, point: Point) -> bool:
    """Whether the board has this point."""
    return 0 <= point[0] < rules.width and 0 <= point[1] < rules.height


def is_empty(rules: Rules, stones: Mapping[Point, str], point: Point) -> bool:
    """Whether the point is on the board and empty."""
    return on_board(rules, point) and point not in stones


def empty_points(rules: Rules, stones: Mapping[Point, str]) -> list[Point]:
    """Return the empty points, row by row from the bottom."""
    return [point for point in all_points(rules) if point not in stones]


def shift(point: Point, step: Step, times: int = 1) -> Point:
    """Return the point that is a number of steps away from `point`."""
    return point[0] + times * step[0], point[1] + times * step[1]


def run_through(stones: Mapping[Point, str], point: Point, step: Step) -> list[Point]:
    """Return the unbroken run of one colour through the stone on `point`, in the direction of `step`."""
    colour = stones[point]
    first = point
    while stones.get(shift(first, step, -1)) == colour:
        first = shift(first, step, -1)
    run = [first]
    while stones.get(shift(run[-1], step)) == colour:
        run.append(shift(run[-1], step))
    return run


# --- winning lines ---------------------------------------------------------------------------------------------------


def run_wins(rules: Rules, stones: Mapping[Point, str], run: list[Point], step: Step) -> bool:
    """Whether this complete run of one colour wins under the rule. The edge of the board does not close a run."""
    colour = stones[run[0]]
    exact = len(run) == rules.win_length
    longer = len(run) > rules.win_length
    ends = (stones.get(shift(run[0], step, -1)), stones.get(shift(run[-1], step)))
    closed = ends == (opponent(colour), opponent(colour))
    if rules.rule == "freestyle":
        return exact or longer
    if rules.rule == "standard":
        return exact
    if rules.rule == "renju":
        return exact or (longer and colour == WHITE)
    if rules.rule == "caro":
        return longer or (exact and not closed)
    assert rules.rule == "caro-exact", rules.rule
    return exact and not closed


def winning_lines(rules: Rules, stones: Mapping[Point, str], last: Point) -> list[list[Point]]:
    """Return the complete winning runs through the stone on `last`, in the order of `DIRECTIONS`."""
    runs = [(run_through(stones, last, step), step) for step in DIRECTIONS]
    return [run for run, step in runs if run_wins(rules, stones, run, step)]


def wins_at(rules: Rules, stones: Mapping[Point, str], colour: str, point: Point) -> bool:
    """Whether a stone of `colour` on the empty `point` would win immediately."""
    return bool(winning_lines(rules, {**stones, point: colour}, point))


def colours_with_winning_line(rules: Rules, stones: Mapping[Point, str]) -> set[str]:
    """Return the colours with a winning line anywhere on the board."""
    return {colour for point, colour in stones.items() if winning_lines(rules, stones, point)}


# --- renju fouls -----------------------------------------------------------------------------------------------------


def foul(rules: Rules, stones: Mapping[Point, str], point: Point, levels: int | None = None) -> str | None:
    """Return the kind of foul of a black stone on the empty `point` in renju; None if black may play there.

    `levels` limits the recursion into the points that turn threes into straight fours: 0 assumes that every such point
    is legal, 1 checks these points but assumes that theirs are legal, and so on. None, the real rule, has no limit.
    """
    if rules.rule != "renju":
        return None
    after = {**stones, point: BLACK}
    lengths = [len(run_through(after, point, step)) for step in DIRECTIONS]
    if any(length == 5 for length in lengths):
        return None
    if any(length >= 6 for length in lengths):
        return OVERLINE
    if len(fours_through(rules, after, point)) >= 2:
        return DOUBLE_FOUR
    if sum(is_three(rules, after, point, step, levels) for step in DIRECTIONS) >= 2:
        return DOUBLE_THREE
    return None


def fours_through(rules: Rules, stones: Mapping[Point, str], point: Point) -> set[frozenset[Point]]:
    """Return the fours with the black stone on `point`: four stones on a line that one more makes exactly five."""
    fours = set()
    for step in DIRECTIONS:
        if stones_near(stones, point, step, 4) < 3:
            continue
        for times in (-4, -3, -2, -1, 1, 2, 3, 4):
            filler = shift(point, step, times)
            if is_empty(rules, stones, filler):
                run = run_through({**stones, filler: BLACK}, filler, step)
                if len(run) == 5 and point in run:
                    fours.add(frozenset(run) - {filler})
    return fours


def is_straight_four(rules: Rules, stones: Mapping[Point, str], run: list[Point], step: Step) -> bool:
    """Whether a black run is exactly four stones with two empty ends, each of which completes an exact five."""
    return len(run) == 4 and all(
        is_empty(rules, stones, end) and len(run_through({**stones, end: BLACK}, end, step)) == 5
        for end in (shift(run[0], step, -1), shift(run[-1], step))
    )


def is_three(rules: Rules, stones: Mapping[Point, str], point: Point, step: Step, levels: int | None = None) -> bool:
    """Whether the black stone on `point` belongs to a three on this line.

    That is: one more stone on the line, which is neither a five (on any line) nor itself a foul, gives a straight four
    that contains both.
    """
    if stones_near(stones, point, step, 3) < 2:
        return False
    for times in (-3, -2, -1, 1, 2, 3):
        filler = shift(point, step, times)
        if not is_empty(rules, stones, filler):
            continue
        after = {**stones, filler: BLACK}
        run = run_through(after, filler, step)
        if (
            point in run
            and is_straight_four(rules, after, run, step)
            and all(len(run_through(after, filler, other)) != 5 for other in DIRECTIONS)
            and (levels == 0 or foul(rules, stones, filler, None if levels is None else levels - 1) is None)
        ):
            return True
    return False


def stones_near(stones: Mapping[Point, str], point: Point, step: Step, reach: int) -> int:
    """Count the other black stones on the line within `reach` points, to skip lines without enough stones."""
    steps = [times for times in range(-reach, reach + 1) if times != 0]
    return sum(stones.get(shift(point, step, times)) == BLACK for times in steps)


# --- legal points and the end of the game ----------------------------------------------------------------------------


def is_legal(rules: Rules, stones: Mapping[Point, str], colour: str, point: Point) -> bool:
    """Whether `colour` may play on `point`: it is on the board, empty and not a foul. White never fouls."""
    return is_empty(rules, stones, point) and (colour == WHITE or foul(rules, stones, point) is None)


def legal_points(rules: Rules, stones: Mapping[Point, str], colour: str) -> set[Point]:
    """Return the points where `colour` may play if the game is not over."""
    return {point for point in empty_points(rules, stones) if is_legal(rules, stones, colour, point)}


def fouls(rules: Rules, stones: Mapping[Point, str]) -> dict[Point, str]:
    """Return every forbidden point of black with the kind of foul."""
    kinds = {point: foul(rules, stones, point) for point in empty_points(rules, stones)}
    return {point: kind for point, kind in kinds.items() if kind is not None}


def outcome_after(rules: Rules, stones: Mapping[Point, str], colour: str, point: Point) -> str:
    """Return the outcome after a stone of `colour` on the empty `point`: a colour, `DRAW` or `ONGOING`.

    A winning line takes precedence, then a foul (white wins), then the full board. A player without a legal point on a
    board that is not full has lost. This can only be black, if all empty points are fouls.
    """
    after = {**stones, point: colour}
    if winning_lines(rules, after, point):
        return colour
    if colour == BLACK and foul(rules, stones, point) is not None:
        return WHITE
    return outcome_without_line(rules, after, opponent(colour))


def outcome_without_line(rules: Rules, stones: Mapping[Point, str], to_move: str) -> str:
    """Return the outcome of a position without a winning line, with `to_move` to move."""
    empties = empty_points(rules, stones)
    if not empties:
        return DRAW
    if any(is_legal(rules, stones, to_move, point) for point in empties):
        return ONGOING
    return opponent(to_move)


class Game(NamedTuple):
    """A game as its list of moves; `play` returns a new one."""

    rules: Rules
    moves: tuple[Point, ...] = ()
    stones: Mapping[Point, str] = {}
    outcome: str = ONGOING

    @property
    def to_move(self) -> str:
        """The side to move, also after the end of the game; black plays first."""
        return WHITE if len(self.moves) % 2 else BLACK

    def legal_points(self) -> set[Point]:
        """Return the points where the side to move may play; none if the game is over."""
        return legal_points(self.rules, self.stones, self.to_move) if self.outcome == ONGOING else set()

    def play(self, point: Point) -> Game:
        """Return the game after one more stone, which may be a foul and lose. The game must not be over."""
        if self.outcome != ONGOING or not is_empty(self.rules, self.stones, point):
            raise ValueError(f"{name_of(point)} cannot be played: {self.outcome}, {sorted(self.stones)}")
        outcome = outcome_after(self.rules, self.stones, self.to_move, point)
        return Game(self.rules, (*self.moves, point), {**self.stones, point: self.to_move}, outcome)

    def winning_lines(self) -> list[list[Point]]:
        """Return the winning lines that the last stone completed."""
        return winning_lines(self.rules, self.stones, self.moves[-1]) if self.moves else []


def play_moves(rules: Rules, moves: list[Point]) -> Game:
    """Return the game after these moves."""
    game = Game(rules)
    for point in moves:
        game = game.play(point)
    return game
