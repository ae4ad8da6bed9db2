"""A slow, obvious second implementation of the simple players after docs/how/players.md: the points each may play."""

from __future__ import annotations

from collections.abc import Callable, Iterator

from tengen.core.contracts import Colour, Rule, Ruleset
from tengen.core.geometry import Point
from tengen.core.position import Position

DIRECTIONS = ((1, 0), (0, 1), (1, 1), (1, -1))
WALL = "wall"

Cell = Colour | str | None
"""A colour, None for an empty point, or WALL outside the board."""


class Grid:
    """The cells of a position; everything outside the board is a wall."""

    def __init__(self, position: Position) -> None:
        self.ruleset = position.ruleset
        self.k = position.ruleset.win_length
        self.own = position.to_move
        self.other = position.to_move.opponent
        self.stones: dict[tuple[int, int], Colour] = {}
        for colour in Colour:
            for point in position.points_of(colour):
                self.stones[point.x, point.y] = colour

    def at(self, x: int, y: int) -> Cell:
        if 0 <= x < self.ruleset.width and 0 <= y < self.ruleset.height:
            return self.stones.get((x, y))
        return WALL

    def empties(self) -> list[tuple[int, int]]:
        width, height = self.ruleset.width, self.ruleset.height
        return [(x, y) for y in range(height) for x in range(width) if self.at(x, y) is None]

    def run_if_played(self, x: int, y: int, dx: int, dy: int, colour: Colour) -> tuple[int, Cell, Cell]:
        """Return the length of the run through (x, y) with a stone of `colour` there, and the cells at its two ends."""
        length, ends = 1, []
        for sign in (-1, 1):
            step = 1
            while self.at(x + sign * step * dx, y + sign * step * dy) is colour:
                step += 1
                length += 1
            ends.append(self.at(x + sign * step * dx, y + sign * step * dy))
        return length, ends[0], ends[1]

    def runs(self, colour: Colour) -> Iterator[tuple[int, tuple[int, int], tuple[int, int]]]:
        """Yield every unbroken run of a colour: its length and the two adjacent cells."""
        for (x, y), stone in self.stones.items():
            for dx, dy in DIRECTIONS:
                if stone is not colour or self.at(x - dx, y - dy) is colour:
                    continue
                length = 1
                while self.at(x + length * dx, y + length * dy) is colour:
                    length += 1
                yield length, (x - dx, y - dy), (x + length * dx, y + length * dy)


def line_wins(ruleset: Ruleset, length: int, colour: Colour, ends: tuple[Cell, Cell]) -> bool:
    k = ruleset.win_length
    closed = all(end is colour.opponent for end in ends)
    match ruleset.rule:
        case Rule.FREESTYLE:
            return length >= k
        case Rule.STANDARD:
            return length == k
        case Rule.RENJU:
            return length == k if colour is Colour.BLACK else length >= k
        case Rule.CARO:
            return length > k or (length == k and not closed)
        case Rule.CARO_EXACT:
            return length == k and not closed


def completions(grid: Grid, colour: Colour) -> set[tuple[int, int]]:
    return {
        (x, y)
        for x, y in grid.empties()
        for dx, dy in DIRECTIONS
        for length, low, high in [grid.run_if_played(x, y, dx, dy, colour)]
        if line_wins(grid.ruleset, length, colour, (low, high))
    }


def ends_of_runs(grid: Grid, colour: Colour, length: int, *, both: bool = False) -> set[tuple[int, int]]:
    found: set[tuple[int, int]] = set()
    for run_length, low, high in grid.runs(colour):
        empty = [end for end in (low, high) if grid.at(*end) is None]
        if run_length == length and (len(empty) == 2 or not both):
            found.update(empty)
    return found


def ends_of_fours(grid: Grid, colour: Colour) -> set[tuple[int, int]]:
    """Return the ends of connected runs of k - 1 stones that complete a win on the same line."""
    found: set[tuple[int, int]] = set()
    for run_length, low, high in grid.runs(colour):
        if run_length != grid.k - 1:
            continue
        dx, dy = (high[0] - low[0]) // grid.k, (high[1] - low[1]) // grid.k
        for x, y in (low, high):
            if grid.at(x, y) is not None:
                continue
            length, *ends = grid.run_if_played(x, y, dx, dy, colour)
            if line_wins(grid.ruleset, length, colour, (ends[0], ends[1])):
                found.add((x, y))
    return found


def four_makers(grid: Grid, colour: Colour, open_ends: int) -> set[tuple[int, int]]:
    return {
        (x, y)
        for x, y in grid.empties()
        for dx, dy in DIRECTIONS
        for length, low, high in [grid.run_if_played(x, y, dx, dy, colour)]
        if length == grid.k - 1 and [low, high].count(None) >= open_ends
    }


def naive_stages(grid: Grid, level: int) -> list[set[tuple[int, int]]]:
    own, other, k = grid.own, grid.other, grid.k
    if level == 4:
        stages = [
            completions(grid, own),
            completions(grid, other),
            ends_of_runs(grid, other, k - 2, both=True) | four_makers(grid, other, 2),
            ends_of_runs(grid, own, k - 2) | four_makers(grid, own, 1),
        ]
    else:
        stages = [
            ends_of_fours(grid, own),
            ends_of_fours(grid, other),
            ends_of_runs(grid, other, k - 2, both=True),
            ends_of_runs(grid, own, k - 2),
        ]
    stages.append(ends_of_runs(grid, own, k - 3))
    stages.append({point for length in range(1, k - 3) for point in ends_of_runs(grid, own, length)})
    return stages[: level + 3]


def chains_score(position: Position, point: Point) -> int:
    """Return the paper's 8 counts times their weights (for win length 5: 1, 3, 9, 81 and 1, 3, 9, 27)."""
    grid, score = Grid(position), 0
    k = grid.k
    for colour, win_weight in ((grid.own, 3 ** (k - 1)), (grid.other, 3 ** (k - 2))):
        for dx, dy in DIRECTIONS:
            length, low, high = grid.run_if_played(point.x, point.y, dx, dy, colour)
            if 2 <= length < k:
                score += 3 ** (length - 2)
            elif line_wins(grid.ruleset, length, colour, (low, high)):
                score += win_weight
    return score


def prospect(grid: Grid, x: int, y: int) -> int:
    """Return the largest number of own stones, including this one, in a window of k points without enemy stones."""
    best = 0
    for dx, dy in DIRECTIONS:
        for start in range(-grid.k + 1, 1):
            cells = [grid.at(x + (start + i) * dx, y + (start + i) * dy) for i in range(grid.k)]
            if all(cell is None or cell is grid.own for cell in cells):
                best = max(best, 1 + cells.count(grid.own))
    return best


def neighbours(grid: Grid, x: int, y: int) -> int:
    return sum(
        isinstance(grid.at(x + dx, y + dy), Colour) for dx in (-1, 0, 1) for dy in (-1, 0, 1) if (dx, dy) != (0, 0)
    )


def best_points(points: list[Point], score: Callable[[Point], int]) -> set[Point]:
    scores = {point: score(point) for point in points}
    return {point for point in points if scores[point] == max(scores.values())}


def candidates(agent: str, position: Position) -> set[Point]:
    """Return the points from which the agent picks one at random."""
    grid = Grid(position)
    legal = position.legal_points()
    if agent == "random":
        return set(legal)
    if agent == "chains":
        return best_points(legal, lambda point: chains_score(position, point))
    if agent == "rule-based":
        if not grid.stones:
            return {position.ruleset.centre}
        stages = [completions(grid, grid.own), completions(grid, grid.other), four_makers(grid, grid.other, 2)]
        rest = best_points(legal, lambda p: 100 * prospect(grid, p.x, p.y) + neighbours(grid, p.x, p.y))
    else:
        stages = naive_stages(grid, int(agent.removeprefix("naive:level=")))
        rest = set(legal)
    for stage in stages:
        allowed = {Point.at(x, y) for x, y in stage} & set(legal)
        if allowed:
            return allowed
    return rest


# ---- Naive players, first match: patterns over text lines ------------------------------------------------------------


def reading_order(ruleset: Ruleset) -> Iterator[tuple[int, int, int, int]]:
    """Yield first cells and directions: rows from the top, columns from the left, diagonals by their upper cell."""
    columns, rows = range(ruleset.width), range(ruleset.height - 1, -1, -1)
    yield from ((x, y, 1, 0) for y in rows for x in columns)
    yield from ((x, y, 0, -1) for x in columns for y in rows)
    yield from ((x, y, side, -1) for y in rows for side in (-1, 1) for x in columns)


def first_point(grid: Grid, pattern: str, wins: Colour | None, legal: set[Point]) -> Point | None:
    """Return the empty end in the first match of a run; `o`, `x` and `.` are own, enemy and empty.

    The first of two empty ends counts. With `wins`, a stone of that colour there must win.
    """
    signs = {grid.own: "o", grid.other: "x", None: ".", WALL: "#"}
    colour = pattern.strip(".")[0]
    winning = None if wins is None else completions(grid, wins)
    for x, y, dx, dy in reading_order(grid.ruleset):
        text = "".join(signs[grid.at(x + i * dx, y + i * dy)] for i in range(-1, len(pattern) + 1))
        before, found, after = text[0], text[1:-1], text[-1]
        if found != pattern or (pattern[0] == before == colour) or (pattern[-1] == after == colour):
            continue
        gap = pattern.index(".")
        cell = x + gap * dx, y + gap * dy
        if Point.at(*cell) in legal and (winning is None or cell in winning):
            return Point.at(*cell)
    return None


def first_match(level: int, position: Position) -> Point | None:
    """Return the move of `naive:level=…,choice=first` after the opening; None if it is random."""
    grid, legal, k = Grid(position), set(position.legal_points()), position.ruleset.win_length
    four, three = k - 1, k - 2
    searches: list[tuple[str, Colour | None]] = []
    for colour, stone in ((grid.own, "o"), (grid.other, "x")):
        searches += [("." + four * stone, colour), (four * stone + ".", colour)]
    searches.append(("." + "x" * three + ".", None))
    for length in range(three, 0, -1):
        if level == 3 or length >= k - 1 - level:
            searches += [("." + "o" * length, None), ("o" * length + ".", None)]
    for search in searches:
        found = first_point(grid, *search, legal)
        if found is not None:
            return found
    return None


# ---- Tree ------------------------------------------------------------------------------------------------------------


def worth(grid: Grid, x: int, y: int) -> int:
    """Return attack plus defence of a point: (stones)^5 for each open window, 100^9 for a win, 100^8 for a block."""
    total = 0
    for colour, win in ((grid.own, 100**9), (grid.other, 100**8)):
        power, wins = 0, False
        for dx, dy in DIRECTIONS:
            for start in range(-grid.k + 1, 1):
                cells = [grid.at(x + (start + i) * dx, y + (start + i) * dy) for i in range(grid.k)]
                if all(cell is None or cell is colour for cell in cells):
                    power += cells.count(colour) ** 5
            length, low, high = grid.run_if_played(x, y, dx, dy, colour)
            wins = wins or line_wins(grid.ruleset, length, colour, (low, high))
        total += win if wins else power
    return total


def best_near_stones(position: Position, count: int) -> list[Point]:
    """Return the best points within k - 1 queen steps of a stone, in reading order if their worth is equal."""
    grid = Grid(position)
    near = {
        (x + step * dx, y + step * dy)
        for x, y in grid.stones
        for dx, dy in DIRECTIONS
        for step in range(-grid.k + 1, grid.k)
    }
    points = [point for point in position.legal_points() if (point.x, point.y) in near]
    return sorted(points, key=lambda point: (-worth(grid, point.x, point.y), -point.y, point.x))[:count]


def tree_move(position: Position) -> Point:
    """Return the move of `tree` on a board with stones and a legal point near them."""
    undecided = None
    moves = best_near_stones(position, 10)
    for move in moves:
        line = position.play(move)
        for _ in range(19):
            if line.is_over or not (reply := best_near_stones(line, 1)):
                break
            line = line.play(reply[0])
        if line.outcome.winner is position.to_move:
            return move
        if line.outcome.winner is None and undecided is None:
            undecided = move
    return undecided or moves[0]
