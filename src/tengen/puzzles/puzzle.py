"""Puzzles from the engine's self-play games: win by continuous fours (VCF) or by continuous threats (VCT).

A puzzle has exactly one first move that wins by threats of its kind. The solver proves that this move wins against all
defences, and that no other first move does. The games are played fast and with some randomness, so that they contain
mistakes.
"""

from __future__ import annotations

import json
import random
from collections.abc import Iterable, Iterator, Sequence
from dataclasses import asdict, dataclass
from enum import StrEnum

import numpy as np

from tengen.core.contracts import Colour, Limits, Ruleset
from tengen.core.geometry import Point, parse_points
from tengen.core.native_enums import colour_to_native
from tengen.core.position import Position
from tengen.core.symmetry import canonical_hash
from tengen.errors import InputError, NotationError
from tengen.patterns.explain import Kind, explain
from tengen.search.alphabeta import AlphaBeta, AlphaBetaConfig
from tengen.search.threats import ThreatKind, Verdict, solve_threats

MIN_DEPTH = 2
"""Minimum number of moves by the attacker."""
_QUIET_PLIES = 6
"""Number of plies at the start of a game that are skipped when searching for wins."""
_MAX_MISSES = 1
"""The backward search through a game stops after more than this many positions without a win by threats."""
_GRADES = (3, 4, 6, 8)
"""Minimum depths of grades 2, 3, 4 and 5."""
_JUDGE_VCT_NODES = 8_000
"""Node limit for judging a move that is not in the solution; if it is reached, the move counts as right."""
_MAX_QUIET_DEFENCES = 12
"""Maximum number of nearby points to try as defences if no single stone answers all threats."""
_UNSTOPPABLE = "nothing stops the threat any more"
_FOURS = (Kind.OPEN_FOUR, Kind.DOUBLE_FOUR, Kind.FOUR_THREE, Kind.FOUR)
_THREES = (Kind.DOUBLE_THREE, Kind.OPEN_THREE)


@dataclass(frozen=True, slots=True, kw_only=True)
class Puzzle:
    """A position in which exactly one move wins by threats of the given kind."""

    id: str
    kind: ThreatKind
    rules: str
    moves: str
    """The moves of the game up to the position, such as `h8i9j10`."""
    solution: str
    """The winning line: the attacker's moves and one answer to each, up to a move that has no answer."""
    depth: int
    """Number of moves by the attacker in the solution."""
    grade: int
    """Difficulty from 1 (easy) to 5, derived from the depth."""

    def position(self) -> Position:
        """Return the position to solve."""
        return Position.from_moves(Ruleset.parse(self.rules), self.moves)

    def line(self) -> tuple[Point, ...]:
        """Return the solution as points."""
        return parse_points(self.solution)


@dataclass(frozen=True, kw_only=True)
class MakerConfig:
    """Settings for playing the games and finding puzzles in them."""

    min_nodes: int = 100
    """Lower bound for the engine's nodes per move; the actual number is drawn at random for each side in each game."""
    max_nodes: int = 800
    """Upper bound for the engine's nodes per move."""
    random_stones: int = 4
    """Maximum number of random stones near the centre at the start of a game."""
    slip: float = 0.15
    """Probability of playing the second-best move."""
    vcf_nodes: int = 5_000
    """Node limit per search for a VCF."""
    vct_nodes: int = 2_000
    """Node limit per search for a VCT."""

    def nodes(self, kind: ThreatKind) -> int:
        """Return the node limit per search for threats of the given kind."""
        return self.vcf_nodes if kind is ThreatKind.VCF else self.vct_nodes


def make_puzzles(
    ruleset: Ruleset, kinds: Iterable[ThreatKind], seed: int, config: MakerConfig | None = None
) -> Iterator[Puzzle]:
    """Play games forever and yield the puzzles found in them, without duplicates or symmetric copies."""
    config = config or MakerConfig()
    rng = random.Random(seed)
    engine = AlphaBeta(AlphaBetaConfig(table_mb=4))
    wanted = tuple(kinds)
    seen: set[str] = set()
    while True:
        for puzzle in find_puzzles(play_game(engine, ruleset, rng, config), wanted, config):
            if puzzle.id not in seen:
                seen.add(puzzle.id)
                yield puzzle


def play_game(engine: AlphaBeta, ruleset: Ruleset, rng: random.Random, config: MakerConfig) -> Position:
    """Play a self-play game from a random opening and return the final position."""
    engine.new_game(ruleset)
    nodes = {colour: rng.randint(config.min_nodes, config.max_nodes) for colour in Colour}
    position = Position.start(ruleset)
    for _ in range(rng.randint(1, config.random_stones)):
        position = position.play(rng.choice(_near_centre(position)))
    while not position.is_over:
        lines = engine.search(position, Limits(nodes=nodes[position.to_move]), lines=2).lines
        slips = len(lines) > 1 and rng.random() < config.slip and lines[1].value_to_move > -0.9
        position = position.play(lines[1 if slips else 0].move)
    return position


def find_puzzles(end: Position, kinds: Iterable[ThreatKind], config: MakerConfig) -> Iterator[Puzzle]:
    """Yield the deepest puzzle of each kind near the end of a game; drawn games have none."""
    left = set(kinds)
    for position, kind, line in reversed(list(_wins_before(end, frozenset(left), config))):
        if kind in left and (puzzle := _checked(position, kind, line, config)) is not None:
            left.remove(kind)
            yield puzzle


def _wins_before(
    end: Position, kinds: frozenset[ThreatKind], config: MakerConfig
) -> Iterator[tuple[Position, ThreatKind, tuple[Point, ...]]]:
    """Yield the positions in which the winner had a win by threats, from the end of the game backwards."""
    misses = 0
    for plies in range(1, len(end.moves) - _QUIET_PLIES):
        position = end.undo(plies)
        if position.to_move is not end.outcome.winner:
            continue
        found = _find_win(position, kinds, config)
        if found is not None:
            yield (position, *found)
        else:
            misses += 1
            if misses > _MAX_MISSES:
                return


def _find_win(
    position: Position, kinds: frozenset[ThreatKind], config: MakerConfig
) -> tuple[ThreatKind, tuple[Point, ...]] | None:
    # A position that is won by fours alone is not a VCT puzzle, so VCF is always tried first.
    for kind in (ThreatKind.VCF, ThreatKind.VCT) if ThreatKind.VCT in kinds else (ThreatKind.VCF,):
        result = solve_threats(position, kind, Limits(nodes=config.nodes(kind)))
        if result.verdict is Verdict.WIN:
            return kind, result.line
        if result.verdict is Verdict.UNKNOWN:
            return None
    return None


def _checked(position: Position, kind: ThreatKind, line: tuple[Point, ...], config: MakerConfig) -> Puzzle | None:
    line = until_unstoppable(position, line)
    depth = (len(line) + 1) // 2
    if depth < MIN_DEPTH or _fives(position, position.to_move.opponent):
        return None  # too short, or the side to move must first answer a four, which is obvious
    if not _is_only_winning_move(position, kind, line[0], config):
        return None
    return Puzzle(
        id=f"{kind}-{canonical_hash(position):016x}",
        kind=kind,
        rules=position.ruleset.name,
        moves="".join(position.moves),
        solution="".join(line),
        depth=depth,
        grade=1 + sum(depth >= bound for bound in _GRADES),
    )


def until_unstoppable(position: Position, line: tuple[Point, ...]) -> tuple[Point, ...]:
    """Return the line up to the attacker's first move that has no answer, such as an open four."""
    for ply, move in enumerate(line):
        position = position.play(move)
        if ply % 2 == 0 and (position.is_over or not any(True for _ in _defences(position))):
            return line[: ply + 1]
    return line


# ---- Uniqueness of the first move -----------------------------------------------------------------------------------


def _is_only_winning_move(position: Position, kind: ThreatKind, first: Point, config: MakerConfig) -> bool:
    """Whether every other threat has a defence that prevents a win of this kind; False if the solver cannot decide."""
    return all(_is_refuted(position, kind, move, config) for move in _threats(position, kind, config) if move != first)


def _threats(position: Position, kind: ThreatKind, config: MakerConfig) -> Iterator[Point]:
    """Yield the moves that could start a win of the given kind, fours first."""
    attacker = position.to_move
    quiet = []
    for point in _near_stones(position):
        after = position.play(point)
        if after.is_over or _fives(after, attacker):
            yield point
        else:
            quiet.append((point, after))
    if kind is ThreatKind.VCF:
        return
    chances = explain(position).chances[attacker]
    threes = {point for one in _THREES for point in chances.get(one, ())}
    for point, after in quiet:
        # Any other move is a threat if it prepares a win by continuous fours.
        if point in threes or _solve(after, ThreatKind.VCF, config, attacker) is not Verdict.NO_WIN:
            yield point


def _is_refuted(position: Position, kind: ThreatKind, move: Point, config: MakerConfig) -> bool:
    after = position.play(move)
    if after.is_over:
        return False
    for defence in _defences(after):
        answered = after.play(defence)
        if answered.is_over or _solve(answered, kind, config) is Verdict.NO_WIN:
            return True
    return False


def _defences(position: Position) -> Iterator[Point]:
    """Yield the replies worth trying against a threat."""
    defender = position.to_move
    yield from _fives(position, defender)
    fives = _fives(position, defender.opponent)
    if fives:
        yield from (fives if len(fives) == 1 and position.is_legal(fives[0]) else ())
        return
    explanation = explain(position)
    answers = explanation.answers
    yield from answers
    chances = explanation.chances[defender]
    yield from (point for one in _FOURS for point in chances.get(one, ()) if point not in answers)
    if not answers:
        yield from _near_stones(position)[:_MAX_QUIET_DEFENCES]


def _fives(position: Position, colour: Colour) -> list[Point]:
    """Return the points where a stone of the colour wins, regardless of the side to move."""
    board, number = position.native, colour_to_native(colour)
    empty: list[int] = np.flatnonzero(position.cells().ravel() == 0).tolist()
    return [Point.from_index(index, position.ruleset.width) for index in empty if board.would_win(index, number)]


def _solve(position: Position, kind: ThreatKind, config: MakerConfig, attacker: Colour | None = None) -> Verdict:
    return solve_threats(position, kind, Limits(nodes=config.nodes(kind)), for_side=attacker).verdict


def _near_stones(position: Position, reach: int = 2) -> list[Point]:
    stones = [point for colour in Colour for point in position.points_of(colour)]
    return [
        point
        for point in position.legal_points()
        if any(max(abs(point.x - stone.x), abs(point.y - stone.y)) <= reach for stone in stones)
    ]


def _near_centre(position: Position, reach: int = 3) -> list[Point]:
    centre = position.ruleset.centre
    return [
        point for point in position.legal_points() if max(abs(point.x - centre.x), abs(point.y - centre.y)) <= reach
    ]


# ---- Solving --------------------------------------------------------------------------------------------------------


class TryVerdict(StrEnum):
    """The verdict on a move in a puzzle."""

    RIGHT = "right"
    """The move keeps the win; the defender replies."""
    SOLVED = "solved"
    """The move wins, or has no answer."""
    WRONG = "wrong"


@dataclass(frozen=True, slots=True, kw_only=True)
class TryResult:
    """The result of an attempt."""

    verdict: TryVerdict
    reply: Point | None
    """The defender's reply; after a wrong move, the refutation."""
    reason: str


def judge_try(puzzle: Puzzle, moves: Sequence[str], config: MakerConfig | None = None) -> TryResult:
    """Judge the last of the moves played in a puzzle; attacker and defender alternate.

    After the first move, every move that keeps a win by threats of the given kind is right, not only the solution's.
    """
    if len(moves) % 2 == 0:
        raise InputError(f"the attacker must make the last move, so the number of moves must be odd, not {len(moves)}")
    config = config or MakerConfig(vct_nodes=_JUDGE_VCT_NODES)
    before = puzzle.position()
    for move in moves[:-1]:
        before = before.play(move)
    attacker = before.to_move
    after = before.play(moves[-1])
    if after.is_over:
        if after.outcome.winner is attacker:
            return TryResult(verdict=TryVerdict.SOLVED, reply=None, reason="five in a row")
        return TryResult(verdict=TryVerdict.WRONG, reply=None, reason="that does not win")
    if not _is_threat(after, puzzle.kind, config):
        wanted = "a four" if puzzle.kind is ThreatKind.VCF else "a threat"
        return TryResult(verdict=TryVerdict.WRONG, reply=None, reason=f"that is not {wanted}")
    line = [str(point) for point in puzzle.line()]
    if line[: len(moves)] == list(moves):  # proved when the puzzle was created
        if len(line) == len(moves):
            return TryResult(verdict=TryVerdict.SOLVED, reply=None, reason=_UNSTOPPABLE)
        return TryResult(verdict=TryVerdict.RIGHT, reply=Point(line[len(moves)]), reason="")
    return _defend(puzzle, after, config)


def _defend(puzzle: Puzzle, position: Position, config: MakerConfig) -> TryResult:
    """Reply with a refutation if there is one, otherwise with the defence that holds out longest."""
    toughest: Point | None = None
    longest = -1
    for defence in _defences(position):
        answered = position.play(defence)
        if answered.is_over:
            return TryResult(verdict=TryVerdict.WRONG, reply=defence, reason=f"{defence} wins first")
        found = solve_threats(answered, puzzle.kind, Limits(nodes=config.nodes(puzzle.kind)))
        if found.verdict is Verdict.NO_WIN:
            return TryResult(verdict=TryVerdict.WRONG, reply=defence, reason=f"{defence} stops the attack")
        if len(found.line) > longest:
            toughest, longest = defence, len(found.line)
    if toughest is None:
        return TryResult(verdict=TryVerdict.SOLVED, reply=None, reason=_UNSTOPPABLE)
    return TryResult(verdict=TryVerdict.RIGHT, reply=toughest, reason="")


def _is_threat(position: Position, kind: ThreatKind, config: MakerConfig) -> bool:
    """Whether the last move made a threat of the given kind."""
    attacker = position.to_move.opponent
    if _fives(position, attacker):
        return True
    if kind is ThreatKind.VCF:
        return False
    standing = explain(position).against_mover
    return bool(standing) or _solve(position, ThreatKind.VCF, config, attacker) is not Verdict.NO_WIN


# ---- Files ----------------------------------------------------------------------------------------------------------


def format_puzzle(puzzle: Puzzle) -> str:
    """Return the puzzle as a line of a puzzle file."""
    return json.dumps(asdict(puzzle), separators=(",", ":"))


def parse_puzzles(text: str) -> list[Puzzle]:
    """Parse a puzzle file with one JSON object per line. Raises `NotationError` for an invalid line."""
    puzzles = []
    for number, line in enumerate(text.splitlines(), start=1):
        try:
            found = json.loads(line)
            puzzle = Puzzle(**(found | {"kind": ThreatKind(found["kind"])}))
            texts = (puzzle.id, puzzle.rules, puzzle.moves, puzzle.solution)
            if not all(type(text) is str for text in texts) or not all(
                type(number) is int for number in (puzzle.depth, puzzle.grade)
            ):
                raise ValueError("a field has the wrong type")
            puzzles.append(puzzle)
        except (ValueError, TypeError, KeyError, RecursionError) as error:
            raise NotationError(f"line {number} is not a puzzle: {error}") from None
    return puzzles
