"""The PettingZoo environment passes PettingZoo's own tests and follows the rules of the game."""

from __future__ import annotations

import pickle
from types import SimpleNamespace
from typing import Any, ClassVar

import numpy as np
import pytest
from pettingzoo.test import api_test, max_cycles_test, render_test, seed_test
from pettingzoo.utils.conversions import aec_to_parallel

from tengen.core.contracts import Colour
from tengen.core.planes import encode
from tengen.envs import gomoku_aec, rendering
from tengen.errors import GameOverError, IllegalMoveError, InputError

TIC_TAC_TOE = "3x3:3:freestyle"


@pytest.mark.filterwarnings("ignore::UserWarning")  # advice on names and on all-zero planes of the empty board
@pytest.mark.parametrize("settings", [{}, {"ruleset": "7x7:5:renju", "resign_action": True}, {"opening_moves": 5}])
def test_api(settings: dict) -> None:
    api_test(gomoku_aec.env(**settings), num_cycles=150)


@pytest.mark.filterwarnings("ignore::UserWarning")
def test_api_without_wrappers() -> None:
    api_test(gomoku_aec.raw_env("6x6:4:caro", observation="board", dtype="float32"), num_cycles=100)


def test_seed() -> None:
    seed_test(lambda: gomoku_aec.env(ruleset="9x9", opening_moves=5), num_cycles=60)


class BothAtOnce(gomoku_aec.raw_env):
    """Claims to be parallelizable, which a turn-based game is not, because PettingZoo's test requires it."""

    metadata: ClassVar[dict[str, Any]] = gomoku_aec.raw_env.metadata | {"is_parallelizable": True}


def test_max_cycles() -> None:
    """PettingZoo's seed test also needs a parallel environment and samples actions without a mask.

    The seeds are chosen so that the sampled actions are legal.
    """

    def seeded(game: Any) -> Any:
        for number, agent in enumerate(game.possible_agents):
            game.action_space(agent).seed(10 + number)
        return game

    def parallel_env(max_cycles: int) -> Any:
        return seeded(aec_to_parallel(BothAtOnce(max_cycles=max_cycles)))

    max_cycles_test(
        SimpleNamespace(parallel_env=parallel_env, env=lambda max_cycles: seeded(gomoku_aec.env(max_cycles=max_cycles)))
    )


def test_render(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setenv("SDL_VIDEODRIVER", "dummy")
    monkeypatch.setattr(rendering, "IMAGES_PER_SECOND", 1000)
    render_test(lambda render_mode: gomoku_aec.env(ruleset="9x9", render_mode=render_mode))


def test_a_game_move_by_move() -> None:
    game = gomoku_aec.env(ruleset=TIC_TAC_TOE)
    game.reset()
    for action in (0, 3, 1, 4):
        observation, reward, terminated, truncated, _ = game.last()
        assert (reward, terminated, truncated) == (0, False, False)
        assert observation["action_mask"][action] == 1
        waiting = "white" if game.agent_selection == "black" else "black"
        assert not game.observe(waiting)["action_mask"].any()
        game.step(action)
    game.step(2)
    assert game.rewards == {"black": 1.0, "white": -1.0}
    assert game.terminations == {"black": True, "white": True}
    seen = {}
    for agent in game.agent_iter():
        observation, reward, terminated, _, _ = game.last()
        assert terminated
        assert not observation["action_mask"].any()
        seen[agent] = reward
        game.step(None)
    assert seen == {"black": 1.0, "white": -1.0}
    assert game.agents == []


def test_observations_are_from_each_agents_view() -> None:
    game = gomoku_aec.raw_env("9x9")
    game.reset()
    for action in (40, 41, 30):
        game.step(action)
    for colour in Colour:
        seen = game.observe(str(colour))["observation"]
        np.testing.assert_array_equal(seen, encode(game.position, gomoku_aec.LAYOUT, colour))
    np.testing.assert_array_equal(game.state(), game.position.cells())


def test_illegal_move_loses_with_the_wrappers_and_raises_without() -> None:
    game = gomoku_aec.env(ruleset=TIC_TAC_TOE)
    game.reset()
    game.step(4)
    game.step(4)
    assert game.rewards == {"black": 0, "white": -1.0}
    assert all(game.terminations.values())

    raw = gomoku_aec.raw_env(TIC_TAC_TOE)
    with pytest.raises(GameOverError):
        raw.step(0)
    raw.reset()
    raw.step(4)
    before = raw.position
    with pytest.raises(IllegalMoveError):
        raw.step(4)
    assert raw.position is before
    assert raw.agent_selection == "white"


def test_resigning() -> None:
    game = gomoku_aec.env(ruleset="9x9", resign_action=True)
    game.reset()
    game.step(81)
    assert game.rewards == {"black": -1.0, "white": 1.0}
    assert all(game.terminations.values())


def test_odd_opening_lets_white_begin() -> None:
    game = gomoku_aec.env(ruleset="9x9", opening_moves=3)
    game.reset(seed=1)
    assert game.agent_selection == "white"
    assert game.unwrapped.position.stones == 3


def test_environment_can_be_pickled() -> None:
    game = gomoku_aec.raw_env("6x6:4:freestyle", resign_action=True)
    again = pickle.loads(pickle.dumps(game))
    again.reset()
    assert again.action_space("black").n == 37


def test_max_cycles_must_be_positive() -> None:
    with pytest.raises(InputError, match="max_cycles must be at least 1, not 0"):
        gomoku_aec.raw_env(max_cycles=0)
