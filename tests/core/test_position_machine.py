"""Positions stay consistent under any sequence of play and undo, board symmetries and colour exchange."""

from __future__ import annotations

from random import Random

import pytest
from hypothesis import given, settings
from hypothesis import strategies as st
from hypothesis.stateful import RuleBasedStateMachine, initialize, invariant, precondition, rule

from tengen._native import Board
from tengen.core.contracts import Outcome, Ruleset
from tengen.core.position import Position
from tengen.core.symmetry import canonical_hash, symmetries, transform_point, transform_position
from tengen.errors import GameOverError, IllegalMoveError
from tests.core.bridge import colours, fouls_of, point_of, position_of, seeds, some_rules, stones_of, tuples
from tests.oracle import rules as oracle
from tests.oracle.boards import crossing_stones, tactical_stones, transformed
from tests.oracle.rules import BLACK, WHITE, Rules, Stones

COLOUR_BLIND = ("freestyle", "standard", "caro", "caro-exact")


class PlayAndUndo(RuleBasedStateMachine):
    """A native board modified in place, an immutable position and the oracle's stones, compared after each step."""

    played_rules: Rules
    position: Position
    board: Board
    moves: list[oracle.Point]
    stones: list[Stones]
    outcomes: list[str]
    seen: list[tuple[object, ...]]

    @initialize(rules=some_rules(), seed=seeds, to_move=colours, empty=st.booleans())
    def set_up(self, rules: Rules, seed: int, to_move: str, empty: bool) -> None:
        self.played_rules = rules
        stones = {} if empty else tactical_stones(Random(seed), rules)
        self.position = position_of(rules, stones, to_move)
        self.board = self.position.native.copy()
        self.moves = []
        self.stones = [stones]
        self.outcomes = [oracle.outcome_without_line(rules, stones, to_move)]
        self.seen = [self.snapshot()]

    def snapshot(self) -> tuple[object, ...]:
        """All observable state of the native board."""
        board = self.board
        return (
            board.hash,
            board.to_move,
            board.outcome(),
            board.stones,
            board.ply,
            board.moves(),
            board.winning_line(),
            board.cells().tobytes(),
            board.legal_mask().tobytes(),
            board.fouls(),
        )

    @rule(choices=st.lists(st.integers(0, 10**6), min_size=1, max_size=8), prefer_wins=st.booleans())
    def play(self, choices: list[int], prefer_wins: bool) -> None:
        """Play some legal points, preferring winning ones if `prefer_wins` is set."""
        for choice in choices:
            if self.outcomes[-1] != oracle.ONGOING:
                break
            stones, to_move = self.stones[-1], str(self.position.to_move)
            legal = sorted(oracle.legal_points(self.played_rules, stones, to_move))
            wins = [point for point in legal if oracle.wins_at(self.played_rules, stones, to_move, point)]
            candidates = wins if prefer_wins and wins else legal
            self.make(candidates[choice % len(candidates)])

    def make(self, point: oracle.Point) -> None:
        stones, to_move = self.stones[-1], str(self.position.to_move)
        self.outcomes.append(oracle.outcome_after(self.played_rules, stones, to_move, point))
        self.stones.append({**stones, point: to_move})
        self.moves.append(point)
        self.board.make(point[1] * self.played_rules.width + point[0])
        self.position = self.position.play(point_of(point))
        self.seen.append(self.snapshot())

    @rule(count=st.integers(1, 5))
    def undo(self, count: int) -> None:
        """Take back some moves; taking back more than were played is an error."""
        if count > len(self.moves):
            with pytest.raises(IllegalMoveError):
                self.position.undo(count)
            return
        for _ in range(count):
            self.board.unmake()
        self.position = self.position.undo(count)
        for past in (self.moves, self.stones, self.outcomes, self.seen):
            del past[-count:]
        assert self.snapshot() == self.seen[-1]

    @precondition(lambda self: self.stones[-1])
    @rule(choice=st.integers(0, 10**6))
    def play_on_an_occupied_point(self, choice: int) -> None:
        occupied = sorted(self.stones[-1])
        over = self.outcomes[-1] != oracle.ONGOING
        with pytest.raises(GameOverError if over else IllegalMoveError):
            self.position.play(point_of(occupied[choice % len(occupied)]))

    @invariant()
    def both_boards_and_the_oracle_agree(self) -> None:
        assert self.board.check() == ""
        assert stones_of(self.position) == self.stones[-1]
        assert self.position.outcome == self.outcomes[-1]
        assert self.snapshot() == self.seen[-1]
        assert self.board.hash == self.position.hash
        assert [(point.x, point.y) for point in self.position.moves] == self.moves

    @invariant()
    def state_does_not_depend_on_history(self) -> None:
        """The hash and all properties equal those of the same stones set up at once."""
        fresh = position_of(self.played_rules, self.stones[-1], str(self.position.to_move))
        assert fresh.hash == self.position.hash
        assert fresh.outcome == self.position.outcome
        assert fresh.legal_points() == self.position.legal_points()
        assert fresh.forbidden_points() == self.position.forbidden_points()
        assert fresh == self.position


TestPlayAndUndo = PlayAndUndo.TestCase
TestPlayAndUndo.settings = settings(max_examples=60, stateful_step_count=20)


@given(some_rules(), seeds, colours)
@settings(max_examples=40)
def test_all_properties_follow_the_symmetries_of_the_board(rules: Rules, seed: int, to_move: str):
    rng = Random(seed)
    stones = tactical_stones(rng, rules)
    position = position_of(rules, stones, to_move)
    if legal := position.legal_points():
        position = position.play(rng.choice(legal))
    for symmetry in symmetries(position.ruleset):
        turned = transform_position(position, symmetry)
        assert stones_of(turned) == {
            transformed(rules, point, symmetry): colour for point, colour in stones_of(position).items()
        }
        assert turned.outcome is position.outcome
        assert fouls_of(turned) == {
            transformed(rules, point, symmetry): kind for point, kind in fouls_of(position).items()
        }
        assert tuples(turned.legal_points()) == {
            transformed(rules, point, symmetry) for point in tuples(position.legal_points())
        }
        assert [transform_point(point, symmetry, position.ruleset) for point in position.moves] == list(turned.moves)
        assert bool(turned.winning_line) == bool(position.winning_line)
        assert canonical_hash(turned) == canonical_hash(position)


@given(seeds)
@settings(max_examples=40)
def test_fouls_follow_the_symmetries_of_the_board(seed: int):
    rules = Rules.parse("15x15:5:renju")
    stones = crossing_stones(Random(seed), rules)
    fouls = fouls_of(position_of(rules, stones, BLACK))
    for symmetry in range(8):
        turned = {transformed(rules, point, symmetry): colour for point, colour in stones.items()}
        assert fouls_of(position_of(rules, turned, BLACK)) == {
            transformed(rules, point, symmetry): kind for point, kind in fouls.items()
        }


@given(some_rules(COLOUR_BLIND), seeds, colours)
@settings(max_examples=60)
def test_most_rules_treat_both_colours_alike(rules: Rules, seed: int, to_move: str):
    stones = tactical_stones(Random(seed), rules)
    swapped = {point: oracle.opponent(colour) for point, colour in stones.items()}
    position = position_of(rules, stones, to_move)
    mirror = position_of(rules, swapped, oracle.opponent(to_move))
    assert mirror.legal_points() == position.legal_points()
    assert mirror.outcome is position.outcome  # nobody has won yet: ongoing or draw
    assert mirror.hash != position.hash
    for index in range(rules.width * rules.height):
        if not position.native.at(index):
            for colour in (0, 1):
                assert position.native.would_win(index, colour) == mirror.native.would_win(index, 1 - colour)


def test_colours_differ_in_renju():
    rules = Rules.parse("15x15:5:renju")
    stones = dict.fromkeys([(7, 8), (7, 9), (8, 7), (9, 7)], BLACK)
    swapped = dict.fromkeys(stones, WHITE)
    assert fouls_of(position_of(rules, stones, BLACK)) == {(7, 7): "double-three"}
    assert fouls_of(position_of(rules, swapped, WHITE)) == {}
    assert position_of(rules, swapped, WHITE).is_legal("h8")


def test_undo_reopens_a_finished_game():
    row = ["a1", "b1", "c1", "d1"]
    won = Position.from_stones(Ruleset(5, 5), black=row, to_move="black").play("e1")
    assert won.outcome is Outcome.BLACK
    assert [str(point) for point in won.winning_line] == [*row, "e1"]
    back = won.undo()
    assert back.outcome is Outcome.ONGOING
    assert back.winning_line == ()
    assert back.is_legal("e1")
