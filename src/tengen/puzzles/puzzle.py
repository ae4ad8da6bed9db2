"""Puzzles from the engine's self-play games: win by continuous fours (VCF) or threats (VCT), or find the only defence.

An attack has exactly one first move that wins by threats of its kind. The solver proves that this move wins against all
defences, and that no other first move does. In a defence, the opponent threatens to win by continuous fours. The solver
proves that every move but one loses by continuous fours or threats, and that the only move stops both. The games are
played fast and with some randomness, so that they contain mistakes.
"""

from __future__ import annotations

import itertools
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
from tengen.search.threats import ThreatKind, ThreatResult, Verdict, solve_threats

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
_DEFENCE_NODES = 10_000
"""Node limit per search in a defence puzzle; a puzzle is used only if no search reaches it."""
_MAX_DEFENCES = 8
"""Maximum number of moves against continuous fours among which the only defence is searched."""
_MAX_LINE = 80
"""Maximum length of a line that is played to the five."""
_FOURS = (Kind.OPEN_FOUR, Kind.DOUBLE_FOUR, Kind.FOUR_THREE, Kind.FOUR)
_THREES = (Kind.DOUBLE_THREE, Kind.OPEN_THREE)


class PuzzleKind(StrEnum):
    """What the side to move has to do."""

    VCF = "vcf"
    """Win by continuous fours."""
    VCT = "vct"
    """Win by continuous threats."""
    DEFENCE = "defence"
    """Find the only move that does not lose by continuous fours or threats."""

    @property
    def threats(self) -> ThreatKind:
        """The kind of threats that the attacker may use."""
        return ThreatKind.VCF if self is PuzzleKind.VCF else ThreatKind.VCT


class Theme(StrEnum):
    """What a puzzle is about."""

    FOURS = "fours"
    THREES = "threes"
    DEFENCE = "defence"
    FOULS = "fouls"
    """White wins because renju forbids black the point that would stop a four."""


@dataclass(frozen=True, slots=True, kw_only=True)
class Puzzle:
    """A position in which exactly one move is right."""

    id: str
    kind: PuzzleKind
    rules: str
    moves: str
    """The moves of the game up to the position, such as `h8i9j10`."""
    solution: str
    """The winning line, up to a move that has no answer: attacks and one answer to each; or the only defence."""
    depth: int
    """Number of moves by the attacker in the solution, or in the win that a defence prevents."""
    grade: int
    """Difficulty from 1 (easy) to 5, derived from the depth."""

    def position(self) -> Position:
        """Return the position to solve."""
        return Position.from_moves(Ruleset.parse(self.rules), self.moves)

    def line(self) -> tuple[Point, ...]:
        """Return the solution as points."""
        return parse_points(self.solution)

    def full_line(self) -> tuple[Point, ...]:
        """Return the solution of an attack up to the five; a defence has only its move."""
        if self.kind is PuzzleKind.DEFENCE:
            return self.line()
        return to_the_five(self.position(), self.line(), self.kind.threats)

    def themes(self) -> frozenset[Theme]:
        """Return what the puzzle is about."""
        if self.kind is PuzzleKind.DEFENCE:
            return frozenset({Theme.DEFENCE})
        main = Theme.FOURS if self.kind is PuzzleKind.VCF else Theme.THREES
        return frozenset({main, Theme.FOULS}) if _uses_fouls(self) else frozenset({main})

    @property
    def rating(self) -> int:
        """Estimated rating of the puzzle: a player with the same rating should solve half of such puzzles."""
        extra = {PuzzleKind.VCF: 0, PuzzleKind.VCT: 250, PuzzleKind.DEFENCE: 150}[self.kind]
        return 500 + extra + 180 * self.depth + 2 * min(len(parse_points(self.moves)), 100)


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
    ruleset: Ruleset, kinds: Iterable[PuzzleKind], seed: int, config: MakerConfig | None = None
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


def find_puzzles(end: Position, kinds: Iterable[PuzzleKind], config: MakerConfig) -> Iterator[Puzzle]:
    """Yield the deepest attack of each kind near the end of a game, and the earliest defence; drawn games have none."""
    wanted = frozenset(kinds)
    left = {kind.threats for kind in wanted - {PuzzleKind.DEFENCE}}
    if left:
        for position, kind, line in reversed(list(_wins_before(end, frozenset(left), config))):
            if kind in left and (puzzle := _checked(position, kind, line, config)) is not None:
                left.remove(kind)
                yield puzzle
    if PuzzleKind.DEFENCE in wanted:
        found = (find_defence(end.undo(plies)) for plies in range(len(end.moves) - _QUIET_PLIES, 0, -1))
        yield from itertools.islice((puzzle for puzzle in found if puzzle is not None), 1)


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
        kind=PuzzleKind(kind.value),
        rules=position.ruleset.name,
        moves="".join(position.moves),
        solution="".join(line),
        depth=depth,
        grade=_grade(depth),
    )


def _grade(depth: int) -> int:
    return 1 + sum(depth >= bound for bound in _GRADES)


# ---- Defences -------------------------------------------------------------------------------------------------------


def find_defence(position: Position) -> Puzzle | None:
    """Return the puzzle to find the only move that does not lose; None if there is no such move or it is obvious.

    The opponent threatens to win by continuous fours. The player has no such win, and no four to answer.
    """
    attacker = position.to_move.opponent
    if _fives(position, attacker) or _fives(position, position.to_move):
        return None
    threat = _solve_defence(position, ThreatKind.VCF, attacker)
    depth = (len(until_unstoppable(_passed(position), threat.line)) + 1) // 2 if threat.verdict is Verdict.WIN else 0
    if depth < MIN_DEPTH or _solve_defence(position, ThreatKind.VCF, position.to_move).verdict is not Verdict.NO_WIN:
        return None
    only = only_defence(position)
    if only is None:
        return None
    return Puzzle(
        id=f"defence-{canonical_hash(position):016x}",
        kind=PuzzleKind.DEFENCE,
        rules=position.ruleset.name,
        moves="".join(position.moves),
        solution=only,
        depth=depth,
        grade=_grade(depth),
    )


def _passed(position: Position) -> Position:
    """Return the position with the other side to move."""
    stones = {colour: position.points_of(colour) for colour in Colour}
    return Position.from_stones(
        position.ruleset, black=stones[Colour.BLACK], white=stones[Colour.WHITE], to_move=position.to_move.opponent
    )


def only_defence(position: Position) -> Point | None:
    """Return the only move that does not lose by continuous fours or threats; None if there is another or none.

    Also None if the solver cannot decide a move within its node limit.
    """
    holding: list[Point] = []
    for move in position.legal_points():
        after = position.play(move)
        if after.is_over:
            return None
        if _solve_defence(after, ThreatKind.VCF).verdict is not Verdict.WIN:
            holding.append(move)
            if len(holding) > _MAX_DEFENCES:
                return None
    verdicts = [_solve_defence(position.play(move), ThreatKind.VCT).verdict for move in holding]
    if Verdict.UNKNOWN in verdicts:
        return None
    holding = [move for move, verdict in zip(holding, verdicts, strict=True) if verdict is Verdict.NO_WIN]
    if len(holding) > 1:
        return None
    return holding[0] if holding else None


def _solve_defence(position: Position, kind: ThreatKind, attacker: Colour | None = None) -> ThreatResult:
    return solve_threats(position, kind, Limits(nodes=_DEFENCE_NODES), for_side=attacker)


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
    refutation: tuple[Point, ...] = ()
    """After a wrong move, how the opponent wins or stops the attack, starting with the reply."""


def judge_try(puzzle: Puzzle, moves: Sequence[str], config: MakerConfig | None = None) -> TryResult:
    """Judge the last of the moves played in a puzzle; attacker and defender alternate.

    After the first move, every move that keeps a win by threats of the given kind is right, not only the solution's. An
    attack is solved by a five. A defence is solved by its first move.
    """
    if puzzle.kind is PuzzleKind.DEFENCE:
        return _judge_defence(puzzle, moves)
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
    if not _is_threat(after, puzzle.kind.threats, config):
        wanted = "a four" if puzzle.kind is PuzzleKind.VCF else "a threat"
        return _wrong(after, f"that is not {wanted}")
    line = [str(point) for point in puzzle.line()]
    if len(moves) < len(line) and line[: len(moves)] == list(moves):  # proved when the puzzle was created
        return TryResult(verdict=TryVerdict.RIGHT, reply=Point(line[len(moves)]), reason="")
    return _defend(puzzle, after, config)


def _judge_defence(puzzle: Puzzle, moves: Sequence[str]) -> TryResult:
    if len(moves) != 1:
        raise InputError(f"a defence has one move, not {len(moves)}")
    after = puzzle.position().play(moves[0])
    if after.is_over or moves[0] == puzzle.solution:
        return TryResult(verdict=TryVerdict.SOLVED, reply=None, reason="that stops every attack")
    for kind in ThreatKind:
        found = _solve_defence(after, kind)
        if found.verdict is Verdict.WIN:
            line = to_the_five(after, found.line, kind)
            return TryResult(verdict=TryVerdict.WRONG, reply=line[0], reason=f"{line[0]} wins", refutation=line)
    return TryResult(verdict=TryVerdict.SOLVED, reply=None, reason="that stops every attack")


def _wrong(after: Position, reason: str) -> TryResult:
    """Answer a move that is no threat by a forced win of the opponent, if there is one."""
    found = solve_threats(after, ThreatKind.VCF, Limits(nodes=_DEFENCE_NODES))
    line = to_the_five(after, found.line, ThreatKind.VCF) if found.verdict is Verdict.WIN else ()
    return TryResult(verdict=TryVerdict.WRONG, reply=line[0] if line else None, reason=reason, refutation=line)


def _defend(puzzle: Puzzle, position: Position, config: MakerConfig) -> TryResult:
    """Reply with a refutation if there is one, otherwise with the defence that holds out longest."""
    toughest: Point | None = None
    longest = -1
    for defence in _defences(position):
        answered = position.play(defence)
        if answered.is_over:
            return TryResult(
                verdict=TryVerdict.WRONG, reply=defence, reason=f"{defence} wins first", refutation=(defence,)
            )
        kind = puzzle.kind.threats
        found = solve_threats(answered, kind, Limits(nodes=config.nodes(kind)))
        if found.verdict is Verdict.NO_WIN:
            return TryResult(
                verdict=TryVerdict.WRONG, reply=defence, reason=f"{defence} stops the attack", refutation=(defence,)
            )
        if len(found.line) > longest:
            toughest, longest = defence, len(found.line)
    return TryResult(verdict=TryVerdict.RIGHT, reply=toughest or _last_stand(position), reason="")


def _last_stand(position: Position) -> Point:
    """Return a reply to a move that cannot be stopped: a point where a five is threatened, or any other."""
    fives = [point for point in _fives(position, position.to_move.opponent) if position.is_legal(point)]
    return (fives or _near_stones(position) or list(position.legal_points()))[0]


def to_the_five(position: Position, line: Sequence[Point], kind: ThreatKind) -> tuple[Point, ...]:
    """Return a winning line of the side to move, continued until the five."""
    attacker = position.to_move
    moves: list[Point] = []
    for move in line:
        position = position.play(move)
        moves.append(move)
    while not position.is_over and len(moves) < _MAX_LINE:
        if position.to_move is attacker:
            found = solve_threats(position, kind, Limits(nodes=_DEFENCE_NODES))
            if found.verdict is not Verdict.WIN:
                break
            move = found.line[0]
        else:
            move = next(_defences(position), None) or _last_stand(position)
        position = position.play(move)
        moves.append(move)
    return tuple(moves)


def _uses_fouls(puzzle: Puzzle) -> bool:
    """Whether white makes a five at a point in the solution that renju forbids black to block."""
    position = puzzle.position()
    if not puzzle.rules.endswith("renju") or position.to_move is not Colour.WHITE:
        return False
    for ply, move in enumerate(puzzle.line()):
        position = position.play(move)
        if ply % 2 == 0 and not position.is_over:
            fives = _fives(position, Colour.WHITE)
            if fives and not any(map(position.is_legal, fives)):
                return True
    return False


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
            puzzle = Puzzle(**(found | {"kind": PuzzleKind(found["kind"])}))
            texts = (puzzle.id, puzzle.rules, puzzle.moves, puzzle.solution)
            if not all(type(text) is str for text in texts) or not all(
                type(number) is int for number in (puzzle.depth, puzzle.grade)
            ):
                raise ValueError("a field has the wrong type")
            puzzles.append(puzzle)
        except (ValueError, TypeError, KeyError, RecursionError) as error:
            raise NotationError(f"line {number} is not a puzzle: {error}") from None
    return puzzles
