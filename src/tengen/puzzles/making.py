"""Finds puzzles in the engine's self-play games, and in positions where a player missed a win or the only defence.

The engine plays fast and with some randomness, so that its games contain mistakes.
"""

from __future__ import annotations

import itertools
import random
from collections.abc import Iterable, Iterator
from dataclasses import dataclass

from tengen.core.contracts import Colour, Limits, Ruleset
from tengen.core.geometry import Point
from tengen.core.position import Position
from tengen.core.symmetry import canonical_hash
from tengen.patterns.explain import Kind, explain
from tengen.puzzles.lines import defences, fives_of, near_stones, solve_defence, until_unstoppable
from tengen.puzzles.puzzle import Puzzle, PuzzleKind
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
_MAX_DEFENCES = 8
"""If more moves than this stop the continuous fours, the position is not searched for an only defence."""
_THREES = (Kind.DOUBLE_THREE, Kind.OPEN_THREE)


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
    """Yield the deepest attack of each kind near the end of a game (none if it was drawn), and the earliest defence."""
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
    if depth < MIN_DEPTH or fives_of(position, position.to_move.opponent):
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


def _near_centre(position: Position, reach: int = 3) -> list[Point]:
    centre = position.ruleset.centre
    return [
        point for point in position.legal_points() if max(abs(point.x - centre.x), abs(point.y - centre.y)) <= reach
    ]


# ---- Mistakes in games ----------------------------------------------------------------------------------------------


def missed_puzzle(position: Position, played: str, config: MakerConfig | None = None) -> Puzzle | None:
    """Return the puzzle that a player missed by playing `played`: a forced win or the only defence.

    Returns None if there was no such move, if it is obvious, if several moves were equally good, or if the player
    found it.
    """
    if position.is_over or position.stones != len(position.moves) or position.ruleset.win_length not in (4, 5):
        return None
    config = config or MakerConfig()
    win = _find_win(position, frozenset(ThreatKind), config)
    found = find_defence(position) if win is None else _checked(position, *win, config)
    return None if found is None or found.line()[0] == played else found


# ---- Defences -------------------------------------------------------------------------------------------------------


def find_defence(position: Position) -> Puzzle | None:
    """Return a puzzle whose solution is the only move that does not lose; None if there is none or it is obvious.

    The opponent threatens to win by continuous fours. The side to move has no such win, and no four to answer.
    """
    attacker = position.to_move.opponent
    if fives_of(position, attacker) or fives_of(position, position.to_move):
        return None
    threat = solve_defence(position, ThreatKind.VCF, attacker)
    depth = (len(until_unstoppable(_passed(position), threat.line)) + 1) // 2 if threat.verdict is Verdict.WIN else 0
    if depth < MIN_DEPTH or solve_defence(position, ThreatKind.VCF, position.to_move).verdict is not Verdict.NO_WIN:
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
    """Return the only move that does not lose to continuous fours or threats; None if there are several or none.

    Also returns None if the solver reaches its node limit.
    """
    holding: list[Point] = []
    for move in position.legal_points():
        after = position.play(move)
        if after.is_over:
            return None
        if solve_defence(after, ThreatKind.VCF).verdict is not Verdict.WIN:
            holding.append(move)
            if len(holding) > _MAX_DEFENCES:
                return None
    only = None
    for move in holding:
        verdict = solve_defence(position.play(move), ThreatKind.VCT).verdict
        if verdict is Verdict.UNKNOWN or (verdict is Verdict.NO_WIN and only is not None):
            return None
        if verdict is Verdict.NO_WIN:
            only = move
    return only


# ---- Uniqueness of the first move -----------------------------------------------------------------------------------


def _is_only_winning_move(position: Position, kind: ThreatKind, first: Point, config: MakerConfig) -> bool:
    """Whether every other threat has a defence that prevents a win of this kind; False if the solver cannot decide."""
    return all(_is_refuted(position, kind, move, config) for move in _threats(position, kind, config) if move != first)


def _threats(position: Position, kind: ThreatKind, config: MakerConfig) -> Iterator[Point]:
    """Yield the moves that could start a win of the given kind, fours first."""
    attacker = position.to_move
    quiet = []
    for point in near_stones(position):
        after = position.play(point)
        if after.is_over or fives_of(after, attacker):
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
    for defence in defences(after):
        answered = after.play(defence)
        if answered.is_over or _solve(answered, kind, config) is Verdict.NO_WIN:
            return True
    return False


def _solve(position: Position, kind: ThreatKind, config: MakerConfig, attacker: Colour | None = None) -> Verdict:
    return solve_threats(position, kind, Limits(nodes=config.nodes(kind)), for_side=attacker).verdict
