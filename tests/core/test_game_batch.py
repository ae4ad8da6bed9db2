"""A batch of games agrees with `Position` move by move."""

from __future__ import annotations

import numpy as np
import pytest

from tengen.core.contracts import Outcome, Ruleset
from tengen.core.game_batch import NO_POLICY, POLICIES, GameBatch
from tengen.core.planes import encode
from tengen.core.position import Position
from tengen.core.symmetry import permutation, symmetries, transform_array
from tengen.errors import InputError, RulesetError

GAMES = 24


def turned(planes: np.ndarray, turn: int) -> np.ndarray:
    return np.ascontiguousarray(transform_array(planes, turn))


@pytest.mark.parametrize(
    ("ruleset", "layout"),
    [
        ("3x3:3:freestyle", "board"),
        ("6x5:4:standard", "own-other-last-colour"),
        ("7x7:5:renju", "stones"),
        ("9x9:5:freestyle", "threats"),
        ("9x9:5:caro", "black-white-occupied"),
    ],
)
def test_every_move_agrees_with_position(ruleset: str, layout: str) -> None:
    rules = Ruleset.parse(ruleset)
    batch = GameBatch(rules, GAMES, layout)
    batch.begin(7, most_opening_moves=2)
    rng = np.random.default_rng(1)
    positions = [Position.from_moves(rules, batch.moves(game)) for game in range(GAMES)]
    assert {position.stones for position in positions} == {0, 1, 2}
    while len(going := np.flatnonzero(~batch.is_over)):
        turns = rng.integers(len(symmetries(rules)), size=len(going)).astype(np.int8)
        planes, legal = batch.look(going, turns)
        actions = np.full(GAMES, -1, np.int64)
        for row, game in enumerate(going):
            position, turn = positions[game], int(turns[row])
            assert not position.is_over
            np.testing.assert_array_equal(planes[row], turned(encode(position, layout), turn))
            np.testing.assert_array_equal(legal[row][permutation(turn, rules)], position.legal_mask())
            actions[game] = rng.choice(np.flatnonzero(position.legal_mask()))
        waiting = rng.random(GAMES) < 0.2
        actions[waiting] = -1
        batch.play(actions)
        positions = [p if a < 0 else p.play(int(a)) for p, a in zip(positions, actions, strict=True)]
        assert batch.plies.tolist() == [position.stones for position in positions]
        assert [batch.outcome(game) for game in range(GAMES)] == [position.outcome for position in positions]
    results = {Outcome.BLACK: 1.0, Outcome.WHITE: -1.0, Outcome.DRAW: 0.0}
    assert batch.black_results.tolist() == [results[position.outcome] for position in positions]


def test_simple_players_move_only_in_selected_games_and_follow_the_seed() -> None:
    def play(seed: int) -> list[tuple[int, ...]]:
        batch = GameBatch(Ruleset.parse("6x6:4"), len(POLICIES), "board")
        batch.begin(seed)
        kinds = np.array([kind.value for kind in POLICIES.values()], np.int8)
        while not batch.is_over.all():
            actions = np.full(batch.size, -1, np.int64)
            batch.choose(kinds, actions)
            assert ((actions >= 0) == ~batch.is_over).all()
            batch.play(actions)
        return [batch.moves(game) for game in range(batch.size)]

    assert play(1) == play(1)
    assert play(1) != play(2)
    batch = GameBatch(Ruleset.parse("6x6:4"), 2, "board")
    actions = np.full(2, -1, np.int64)
    batch.choose(np.array([NO_POLICY, POLICIES["random"].value], np.int8), actions)
    assert actions[0] == -1 <= 0 <= actions[1]


def test_an_illegal_action_loses() -> None:
    batch = GameBatch(Ruleset.parse("3x3:3"), 3, "board")
    batch.play(np.array([4, 4, 4]))
    batch.play(np.array([4, 9, 0]))
    assert [batch.outcome(game) for game in range(3)] == [Outcome.BLACK, Outcome.BLACK, Outcome.ONGOING]
    assert batch.moves(0) == (4,)


def test_invalid_arguments_are_rejected() -> None:
    three = Ruleset.parse("3x3:3")
    with pytest.raises(RulesetError, match="threats"):
        GameBatch(three, 1, "threats")
    with pytest.raises(InputError, match="games must be at least 1, not 0"):
        GameBatch(three, 0, "board")
    with pytest.raises(InputError, match="most_opening_moves=5 is outside the range 0–4"):
        GameBatch(three, 1, "board").begin(1, 5)
    with pytest.raises(IndexError):
        GameBatch(three, 1, "board").look(np.array([1]), np.zeros(1, np.int8))
