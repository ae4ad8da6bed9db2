"""The state of the incremental pattern board depends on the stones only, not on the moves made and unmade."""

from __future__ import annotations

from random import Random

import numpy as np
import pytest

from tengen import _native
from tengen.core.contracts import Ruleset
from tengen.core.position import Position
from tengen.search.weights import weights_for
from tests.core.bridge import position_of
from tests.oracle.boards import tactical_stones, transformed
from tests.oracle.rules import BLACK, RULES, WHITE, Rules

BOARDS = (
    *(f"15x15:5:{rule}" for rule in RULES),
    *(f"7x6:4:{rule}" for rule in RULES if rule != "renju"),
    "5x5:5:renju",
    "6x6:4:freestyle",
    "22x22:5:freestyle",
    "22x3:4:standard",
    "3x22:5:caro",
    "9x13:5:renju",
)


@pytest.mark.parametrize("text", BOARDS)
def test_walks_keep_the_state(text):
    board = Position.start(Ruleset.parse(text)).native
    for seed in range(3):
        assert _native.check_pattern_walk(board, seed, 250) == ""


def test_a_walk_starts_from_set_up_stones_too():
    rules = Rules.parse("9x9:5:renju")
    for seed in range(5):
        stones = tactical_stones(Random(seed), rules)
        assert _native.check_pattern_walk(position_of(rules, stones, BLACK).native, seed, 100) == ""


@pytest.mark.parametrize("text", BOARDS)
def test_unmake_restores_everything(text):
    ruleset = Ruleset.parse(text)
    rng = Random(f"unmake {text}")
    board = _native.PatternBoard(Position.start(ruleset).native)
    # Avoid fives: they would end the game.
    moves = [move for move in rng.sample(range(ruleset.area), ruleset.area // 3) if move not in board.fives(0)]
    before = []
    for move in moves:
        if move in board.fives(board.to_move):
            break
        before.append((move, board.threats(), board.shapes(0), board.shapes(1)))
        board.make(move)
    assert len(before) > 3
    for move, threats, black, white in reversed(before):
        board.unmake()
        assert board.at(move) == 0
        for now, then in ((board.threats(), threats), (board.shapes(0), black), (board.shapes(1), white)):
            assert np.array_equal(now, then)
    assert board.check() == ""


@pytest.mark.parametrize("text", ["9x9:5:freestyle", "9x9:5:renju", "9x9:5:caro", "7x7:4:standard"])
def test_threats_follow_the_symmetries_of_the_board(text):
    rules = Rules.parse(text)
    for seed in range(6):
        stones = tactical_stones(Random(f"{text} {seed}"), rules)
        threats = _native.PatternBoard(position_of(rules, stones, BLACK).native).threats()
        for symmetry in range(8):
            turned = {transformed(rules, point, symmetry): colour for point, colour in stones.items()}
            there = _native.PatternBoard(position_of(rules, turned, BLACK).native).threats()
            for y in range(rules.height):
                for x in range(rules.width):
                    tx, ty = transformed(rules, (x, y), symmetry)
                    assert (threats[:, y * rules.width + x] == there[:, ty * rules.width + tx]).all()


@pytest.mark.parametrize("text", ["9x9:5:freestyle", "9x9:5:standard", "9x9:5:caro", "7x7:4:caro-exact"])
def test_without_fouls_both_colours_are_alike(text):
    rules = Rules.parse(text)
    for seed in range(10):
        stones = tactical_stones(Random(f"{text} {seed}"), rules)
        swapped = {point: WHITE if colour == BLACK else BLACK for point, colour in stones.items()}
        threats = _native.PatternBoard(position_of(rules, stones, BLACK).native).threats()
        assert np.array_equal(threats[::-1], _native.PatternBoard(position_of(rules, swapped, BLACK).native).threats())


def test_misuse_is_rejected():
    board = _native.PatternBoard(Position.start(Ruleset(9, 9)).native)
    with pytest.raises(ValueError, match="no move"):
        board.unmake()
    board.make(40)
    with pytest.raises(ValueError, match="occupied"):
        board.make(40)
    with pytest.raises(IndexError):
        board.make(81)
    with pytest.raises(IndexError):
        board.shape(0, 4, 0)
    with pytest.raises(ValueError, match="colour"):
        board.shapes(2)
    with pytest.raises(ValueError, match="win lengths 4 and 5"):
        _native.PatternBoard(Position.start(Ruleset(9, 9, 6)).native)


def test_walks_are_reproducible():
    board = Position.start(Ruleset(15, 15)).native
    weights = weights_for(Ruleset(15, 15))
    signature = _native.run_make_unmake(board, weights, 1, 5000)
    assert _native.run_make_unmake(board, weights, 1, 5000) == signature
    assert _native.run_make_unmake(board, weights, 2, 5000) != signature


def test_moves_before_the_board_was_created_cannot_be_undone():
    board = _native.PatternBoard(Position.from_moves(Ruleset(15, 15), "h8i9").native)
    board.make(3)
    board.unmake()
    with pytest.raises(ValueError, match="no move to undo"):
        board.unmake()
