"""The native core and the oracle agree on every board: legal points, fouls, outcome, winning lines."""

from __future__ import annotations

from collections.abc import Iterator
from itertools import product
from random import Random

import pytest
from hypothesis import given, note, settings
from hypothesis import strategies as st

from tengen.core.contracts import Outcome
from tengen.core.position import Position
from tengen.errors import ForbiddenPointError, PositionError
from tests.conftest import shared_data
from tests.core.bridge import colours, fouls_of, point_of, position_of, ruleset_of, seeds, some_rules, tuples
from tests.oracle import rules as oracle
from tests.oracle.boards import crossing_stones, crowded_stones, scattered_stones, tactical_stones
from tests.oracle.rules import BLACK, ONGOING, WHITE, Rules, Stones
from tests.oracle.suites import RenjuCase, read_renju_vectors, renju_cases


def check_board(rules: Rules, stones: Stones, to_move: str) -> None:
    """Compare every property of a set-up position."""
    winners = oracle.colours_with_winning_line(rules, stones)
    if len(winners) == 2:
        with pytest.raises(PositionError):
            position_of(rules, stones, to_move)
        return
    position = position_of(rules, stones, to_move)
    note(f"\n{position}")
    assert position.native.check() == ""
    if winners:
        [winner] = winners
        assert position.outcome == winner
        line = [(point.x, point.y) for point in position.winning_line]
        assert line in [run for point in stones for run in oracle.winning_lines(rules, stones, point)]
        assert position.legal_points() == []
        return
    assert position.outcome == oracle.outcome_without_line(rules, stones, to_move)
    assert position.winning_line == ()
    if position.outcome is Outcome.ONGOING:
        legal = position.legal_points()
        assert len(legal) == len(set(legal))
        assert tuples(legal) == oracle.legal_points(rules, stones, to_move)
        assert fouls_of(position) == (oracle.fouls(rules, stones) if to_move == BLACK else {})


def check_moves(rules: Rules, stones: Stones, position: Position, rng: Random, count: int) -> None:
    """Play some moves of an ongoing position, game-ending ones first, and compare the resulting positions."""
    to_move = str(position.to_move)
    moves = oracle.empty_points(rules, stones)
    wins = {point for point in moves if oracle.wins_at(rules, stones, to_move, point)}
    for point in moves:
        assert position.native.would_win(point[1] * rules.width + point[0], [BLACK, WHITE].index(to_move)) == (
            point in wins
        )
    others = [point for point in moves if point not in wins]
    for point in [*sorted(wins), *rng.sample(others, min(count, len(others)))]:
        if not oracle.is_legal(rules, stones, to_move, point):
            with pytest.raises(ForbiddenPointError):
                position.play(point_of(point))
            continue
        after = position.play(point_of(point))
        assert after.outcome == oracle.outcome_after(rules, stones, to_move, point)
        lines = oracle.winning_lines(rules, {**stones, point: to_move}, point)
        line = [(each.x, each.y) for each in after.winning_line]
        assert line in lines if lines else line == []
        assert after.last_move == point_of(point)


@given(some_rules(), seeds, colours)
@settings(max_examples=120)
def test_scattered_boards(rules: Rules, seed: int, to_move: str):
    check_board(rules, scattered_stones(Random(seed), rules), to_move)


@given(some_rules(), seeds, colours)
@settings(max_examples=150)
def test_tactical_boards(rules: Rules, seed: int, to_move: str):
    rng = Random(seed)
    stones = tactical_stones(rng, rules)
    check_board(rules, stones, to_move)
    position = position_of(rules, stones, to_move)
    if position.outcome is Outcome.ONGOING:
        check_moves(rules, stones, position, rng, 4)


@given(st.sampled_from(["15x15:5:renju", "9x9:5:renju", "22x5:5:renju", "6x6:5:renju"]), seeds)
@settings(max_examples=80)
def test_renju_fouls(text: str, seed: int):
    rules = Rules.parse(text)
    rng = Random(seed)
    for stones in (crowded_stones(rng, rules, side=7), crossing_stones(rng, rules)):
        check_board(rules, stones, BLACK)


@given(some_rules(), seeds)
@settings(max_examples=40)
def test_random_games(rules: Rules, seed: int):
    """Play a game to the end on both boards; on large boards only near existing stones."""
    rng = Random(seed)
    game = oracle.Game(rules)
    position = Position.start(ruleset_of(rules))
    for _ in range(60):
        note(f"\n{position}")
        assert position.outcome == game.outcome
        assert position.to_move == game.to_move
        if game.outcome != ONGOING:
            break
        legal = game.legal_points()
        assert tuples(position.legal_points()) == legal
        near = [
            point for point in sorted(legal) if any(abs(point[0] - x) + abs(point[1] - y) < 3 for x, y in game.moves)
        ]
        point = rng.choice(near or sorted(legal))
        game, position = game.play(point), position.play(point_of(point))
    assert tuple((point.x, point.y) for point in position.moves) == game.moves
    line = [(point.x, point.y) for point in position.winning_line]
    assert line in game.winning_lines() if game.winning_lines() else line == []


@given(st.sampled_from(["3x3:3:freestyle", "4x3:3:caro", "4x4:4:standard", "5x3:5:renju", "5x4:4:caro-exact"]), seeds)
@settings(max_examples=40)
def test_games_to_the_last_point(text: str, seed: int):
    rules = Rules.parse(text)
    rng = Random(seed)
    game = oracle.Game(rules)
    position = Position.start(ruleset_of(rules))
    while game.outcome == ONGOING:
        # Play winning moves last, so that boards fill up.
        legal = sorted(position.legal_points())
        quiet = [point for point in legal if not position.is_win(point)]
        point = rng.choice(quiet or legal)
        game, position = game.play((point.x, point.y)), position.play(point)
        assert position.outcome == game.outcome
        assert tuples(position.legal_points()) == game.legal_points()


def line_points(length: int, step: tuple[int, int]) -> list[oracle.Point]:
    """The points of a line that crosses a square board of size `length`."""
    start = (0, length - 1) if step == (1, -1) else (0, 0)
    return [oracle.shift(start, step, times) for times in range(length)]


def lines_of(length: int, step: tuple[int, int], marks: str) -> Iterator[Stones]:
    """All ways to fill the points of a line with the given marks: `.` empty, `X` black, `O` white."""
    points = line_points(length, step)
    for filling in product(marks, repeat=length):
        yield {
            point: BLACK if mark == "X" else WHITE for point, mark in zip(points, filling, strict=True) if mark != "."
        }


@pytest.mark.parametrize("step", oracle.DIRECTIONS)
@pytest.mark.parametrize("rule", oracle.RULES)
def test_every_line_of_seven_points(rule: str, step: tuple[int, int]):
    rules = Rules(7, 7, 5, rule)
    for stones in lines_of(7, step, ".XO"):
        if oracle.colours_with_winning_line(rules, stones):
            continue
        board = position_of(rules, stones, BLACK).native
        for x, y in [point for point in line_points(7, step) if point not in stones]:
            found = [board.would_win(y * 7 + x, colour) for colour in (0, 1)]
            assert found == [oracle.wins_at(rules, stones, colour, (x, y)) for colour in (BLACK, WHITE)], stones


@pytest.mark.parametrize("colour", [BLACK, WHITE])
@pytest.mark.parametrize("rule", oracle.RULES)
def test_long_runs(rule: str, colour: str):
    """Runs of up to 22 stones with one missing, starting at either edge of the largest board."""
    rules = Rules(22, 22, 5, rule)
    for step in oracle.DIRECTIONS:
        points = line_points(22, step)
        for run in [points[:length] for length in range(1, 23)] + [points[-length:] for length in range(1, 22)]:
            for gap in run:
                stones = {point: colour for point in run if point != gap}
                if oracle.colours_with_winning_line(rules, stones):
                    continue
                board = position_of(rules, stones, colour).native
                found = board.would_win(gap[1] * 22 + gap[0], [BLACK, WHITE].index(colour))
                assert found == oracle.wins_at(rules, stones, colour, gap), (run, gap)


def test_every_row_of_ten_black_points():
    """Overlines and double-fours in one line, including lines that touch the edges."""
    rules = Rules.parse("10x3:5:renju")
    for stones in lines_of(10, (1, 0), ".X"):
        if not oracle.colours_with_winning_line(rules, stones):
            assert fouls_of(position_of(rules, stones, BLACK)) == oracle.fouls(rules, stones), stones


@pytest.mark.parametrize("case", renju_cases(), ids=lambda case: case.id)
def test_stored_forbidden_points(case: RenjuCase):
    position = position_of(case.rules, case.stones, BLACK)
    assert fouls_of(position) == case.forbidden
    assert set(case.looks_forbidden) <= tuples(position.legal_points())
    assert len(position.legal_points()) == case.rules.width * case.rules.height - len(case.stones) - len(case.forbidden)
    assert fouls_of(position_of(case.rules, case.stones, WHITE)) == {}


def test_black_loses_if_only_forbidden_points_are_left():
    drawing = """6x6:5:renju  white to move
     6  O X X O X O
     5  O X X O O O
     4  X X . O X X
     3  O O X O . O
     2  X . X X X X
     1  O O X X O O
    """
    before = Position.parse(drawing)
    assert before.outcome is Outcome.ONGOING
    after = before.play("e3")
    assert after.outcome is Outcome.WHITE
    assert after.legal_points() == []
    assert after.winning_line == ()
    assert after.undo().outcome is Outcome.ONGOING
    assert {before.play(move).outcome for move in ("b2", "c4")} == {Outcome.ONGOING}


if (shared := shared_data()) is not None:
    VECTORS = read_renju_vectors(shared / "renju_vectors.jsonl")

    @pytest.mark.parametrize("part", range(4))
    def test_renju_vectors(part: int):
        for case in VECTORS[part::4]:
            assert fouls_of(position_of(case.rules, case.stones, BLACK)) == case.forbidden, case.id
