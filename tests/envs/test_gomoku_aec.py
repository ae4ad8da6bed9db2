"""The PettingZoo environment passes PettingZoo's own tests and follows the rules of the game."""

from __future__ import annotations

import copy
import itertools
import pickle
from typing import Any

import numpy as np
import pytest
from gymnasium.spaces import Discrete
from pettingzoo.test import api_test, max_cycles_test, render_test, seed_test
from pettingzoo.test import test_save_obs as save_obs_test

from tengen.core.contracts import Colour
from tengen.core.planes import encode
from tengen.envs import gomoku_aec, rendering
from tengen.envs.spaces import BoardSpaces
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


def test_max_cycles(monkeypatch: pytest.MonkeyPatch) -> None:
    """PettingZoo's test samples actions without the mask; with these seeds, all of them are legal."""
    seeds = itertools.count(1)
    make_space = BoardSpaces.action_space

    def seeded_space(self: BoardSpaces) -> Discrete:
        space = make_space(self)
        space.seed(next(seeds))
        return space

    monkeypatch.setattr(BoardSpaces, "action_space", seeded_space)
    max_cycles_test(gomoku_aec)
    assert next(seeds) == 5


def test_save_observations(capsys: pytest.CaptureFixture[str]) -> None:
    save_obs_test(gomoku_aec.env())
    assert "Observations must be Box to save observations as image" in capsys.readouterr().out


def test_parallel_steps_are_single_moves() -> None:
    game = gomoku_aec.parallel_env(ruleset=TIC_TAC_TOE)
    observations, _ = game.reset()
    rewards: dict[str, float] = {}
    terminations: dict[str, bool] = {}
    for action in (0, 3, 1, 4, 2):
        assert game.agents == ["player_0", "player_1"]
        masks = {agent: seen["action_mask"] for agent, seen in observations.items()}
        mover = next(agent for agent in game.agents if masks[agent].any())
        assert masks[mover][action]
        other = next(agent for agent in game.agents if agent != mover)
        observations, rewards, terminations, _, _ = game.step({mover: action, other: 8})
    assert rewards == {"player_0": 1.0, "player_1": -1.0}
    assert all(terminations.values())
    assert game.agents == []


def test_render(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setenv("SDL_VIDEODRIVER", "dummy")
    monkeypatch.setattr(rendering, "IMAGES_PER_SECOND", 1000)
    render_test(gomoku_aec.env)


def test_a_game_move_by_move() -> None:
    game = gomoku_aec.env(ruleset=TIC_TAC_TOE)
    game.reset()
    for action in (0, 3, 1, 4):
        observation, reward, terminated, truncated, _ = game.last()
        assert (reward, terminated, truncated) == (0, False, False)
        assert observation["action_mask"][action] == 1
        waiting = "player_1" if game.agent_selection == "player_0" else "player_0"
        assert not game.observe(waiting)["action_mask"].any()
        game.step(action)
    game.step(2)
    assert game.rewards == {"player_0": 1.0, "player_1": -1.0}
    assert game.terminations == {"player_0": True, "player_1": True}
    seen = {}
    for agent in game.agent_iter():
        observation, reward, terminated, _, _ = game.last()
        assert terminated
        assert not observation["action_mask"].any()
        seen[agent] = reward
        game.step(None)
    assert seen == {"player_0": 1.0, "player_1": -1.0}
    assert game.agents == []


def test_observations_are_from_each_agents_view() -> None:
    game, planes_first = gomoku_aec.raw_env("9x9"), gomoku_aec.raw_env("9x9", channels="first")
    for each in (game, planes_first):
        each.reset()
        for action in (40, 41, 30):
            each.step(action)
    for colour in Colour:
        planes = encode(game.position, gomoku_aec.LAYOUT, colour)
        seen = game.observe(gomoku_aec.AGENTS[colour])["observation"]
        np.testing.assert_array_equal(seen, np.moveaxis(planes, 0, -1))
        np.testing.assert_array_equal(planes_first.observe(gomoku_aec.AGENTS[colour])["observation"], planes)
    np.testing.assert_array_equal(game.state(), game.position.cells())


def test_illegal_move_loses_with_the_wrappers_and_raises_without() -> None:
    game = gomoku_aec.env(ruleset=TIC_TAC_TOE)
    game.reset()
    game.step(4)
    game.step(4)
    assert game.rewards == {"player_0": 0, "player_1": -1.0}
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
    assert raw.agent_selection == "player_1"


def test_resigning() -> None:
    game = gomoku_aec.env(ruleset="9x9", resign_action=True)
    game.reset()
    game.step(81)
    assert game.rewards == {"player_0": -1.0, "player_1": 1.0}
    assert all(game.terminations.values())


def test_odd_opening_lets_white_begin() -> None:
    game = gomoku_aec.env(ruleset="9x9", opening_moves=3)
    game.reset(seed=1)
    assert game.agent_selection == "player_1"
    assert game.unwrapped.position.stones == 3


@pytest.mark.parametrize("make", [gomoku_aec.env, gomoku_aec.raw_env])
@pytest.mark.parametrize("copied", [copy.deepcopy, lambda game: pickle.loads(pickle.dumps(game))])
def test_copies_continue_the_same_game(make: Any, copied: Any) -> None:
    game = make(ruleset="6x6:4:freestyle", resign_action=True, opening_moves=2)
    assert copied(game).action_space("player_0").n == 37
    game.reset(seed=3)
    game.step(int(np.flatnonzero(game.last()[0]["action_mask"])[0]))
    twin = copied(game)
    for agent in game.agent_iter():
        assert twin.agent_selection == agent
        observation, reward, terminated, _, _ = game.last()
        np.testing.assert_array_equal(twin.last()[0]["observation"], observation["observation"])
        assert twin.last()[1] == reward
        for each in (game, twin):
            each.step(None if terminated else int(np.flatnonzero(observation["action_mask"])[-2]))
    game.reset()
    twin.reset()
    assert game.position == twin.position


def test_state_can_be_saved_and_restored() -> None:
    game = gomoku_aec.env(ruleset=TIC_TAC_TOE)
    with pytest.raises(GameOverError):
        game.get_state()
    game.reset(seed=1)
    game.step(4)
    state = game.get_state()
    for action in (0, 1, 2, 7):
        game.step(action)
    assert game.terminations["player_0"]
    game.set_state(state)
    assert (game.agent_selection, game.position.stones) == ("player_1", 1)
    assert not any(game.terminations.values())
    game.step(0)
    with pytest.raises(InputError, match="belongs to a game of"):
        gomoku_aec.env(ruleset="9x9").set_state(state)


def test_env_checks_what_the_wrappers_check() -> None:
    game = gomoku_aec.env(ruleset=TIC_TAC_TOE)
    with pytest.raises(AttributeError, match="rewards cannot be accessed before reset"):
        _ = game.rewards
    for call in (lambda: game.step(0), lambda: game.observe("player_0"), game.state, game.agent_iter, game.render):
        with pytest.raises(AssertionError, match="reset"):
            call()
    game.reset()
    for action in (9, -1, 1.5, None, "a1"):
        with pytest.raises(AssertionError, match="not in action space"):
            game.step(action)
    for action in (0, 3, 1, 4, 2):
        game.step(action)
    game.step(None)
    game.step(None)
    game.step(None)  # ignored, with a warning
    assert game.agents == []


def test_max_cycles_must_be_positive() -> None:
    with pytest.raises(InputError, match="max_cycles must be at least 1, not 0"):
        gomoku_aec.raw_env(max_cycles=0)
