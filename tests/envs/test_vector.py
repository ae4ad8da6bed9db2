"""The native vector environment agrees with `Position` step by step and follows Gymnasium's vector API."""

from __future__ import annotations

import copy
import dataclasses
import gc
import os
import pickle
from typing import Any

import numpy as np
import pytest
from gymnasium.vector import AutoresetMode, SyncVectorEnv
from gymnasium.wrappers.vector import RecordEpisodeStatistics

from tengen._native import Policy, PolicyKind
from tengen.core.contracts import Colour, Outcome, Ruleset
from tengen.core.game_batch import POLICIES
from tengen.core.geometry import Point
from tengen.core.planes import encode
from tengen.core.position import Position
from tengen.envs import GomokuEnv, GomokuVectorEnv
from tengen.envs.vector import LAYOUTS
from tengen.errors import AgentError, IllegalMoveError, InputError

TIC_TAC_TOE = "3x3:3:freestyle"

RULESETS = [
    "3x3:3:freestyle",
    "3x22:3:standard",
    "5x4:4:standard",
    "6x6:4:caro",
    "7x7:5:renju",
    "9x9:5:caro-exact",
    "15x15:5:renju",
    "15x15:5:freestyle",
    "22x22:6:freestyle",
    "22x9:5:caro",
]
COLOURS = tuple(Colour)


class Follower:
    """Replays one board of a vector environment with `Position` and compares them after each step."""

    def __init__(self, env: GomokuVectorEnv, board: int, settings: dict[str, Any]) -> None:
        self.env = env
        self.board = board
        self.layout = settings["observation"]
        self.opponent = settings["opponent"]
        self.resigns = settings["resign_action"]
        self.position = env.position(board)
        self.actions = 0

    def check_shown(self, observations: np.ndarray, infos: dict[str, Any]) -> None:
        """Check that observation, mask and colour match the position and that the agent is to move."""
        assert not self.position.is_over
        colour = self.position.to_move
        np.testing.assert_array_equal(observations[self.board], encode(self.position, self.layout, colour))
        assert infos["colour"][self.board] == COLOURS.index(colour)
        mask = infos["action_mask"][self.board]
        np.testing.assert_array_equal(mask[: self.position.ruleset.area], self.position.legal_mask())
        assert not self.resigns or mask[-1] == 1

    def follow(self, action: int, results: tuple[Any, ...]) -> bool:
        """Check the result of a step with `action`; return whether the game ended."""
        observations, rewards, terminations, truncations, infos = results
        actor = self.position.to_move
        self.actions += 1
        ended, outcome = self._after(action, actor, infos)
        assert terminations[self.board] == (outcome is not Outcome.ONGOING)
        assert not truncations[self.board]
        winner = outcome.winner
        assert rewards[self.board] == (0 if winner is None else 1 if winner is actor else -1)
        if outcome is not Outcome.ONGOING:
            self._check_final(ended, actor, outcome, infos)
            self.position = self.env.position(self.board)
            self.actions = 0
        else:
            self.position = ended
        self.check_shown(observations, infos)
        return outcome is not Outcome.ONGOING

    def _after(self, action: int, actor: Colour, infos: dict[str, Any]) -> tuple[Position, Outcome]:
        if not self.position.is_legal(action):
            return self.position, Outcome.win_for(actor.opponent)
        after = self.position.play(action)
        if self.opponent is None or after.is_over:
            return after, after.outcome
        reply = self._reply(after, infos)
        assert after.is_legal(reply)
        after = after.play(reply)
        return after, after.outcome

    def _reply(self, after: Position, infos: dict[str, Any]) -> int:
        """Return the opponent's move: the last move on the board, or the new stone in the final observation."""
        finals = infos.get("final_obs")
        if finals is None or finals[self.board] is None:
            moves = self.env.position(self.board).moves
            assert moves[:-1] == after.moves
            return moves[-1].index(after.ruleset.width)
        seen = finals[self.board].astype(np.float32)
        before = encode(after, self.layout, after.to_move.opponent)
        planes = {"board": [0], "own-other": [0, 1], "own-other-last-colour": [0, 1], "black-white-occupied": [2]}[
            self.layout
        ]
        new = np.flatnonzero((seen[planes] != before[planes]).any(axis=0).ravel())
        assert len(new) == 1
        return int(new[0])

    def _check_final(self, ended: Position, actor: Colour, outcome: Outcome, infos: dict[str, Any]) -> None:
        played = ended != self.position
        viewer = ended.to_move if self.opponent is None and played else actor
        seen = infos["final_obs"][self.board]
        assert seen.dtype == self.env.single_observation_space.dtype
        np.testing.assert_array_equal(seen, encode(ended, self.layout, viewer))
        finals = infos["final_info"]
        assert infos["_final_obs"][self.board]
        assert infos["_final_info"][self.board]
        assert not finals["action_mask"][self.board].any()
        assert finals["colour"][self.board] == COLOURS.index(viewer)
        assert finals["outcome"][self.board] == outcome
        assert finals["episode_length"][self.board] == self.actions
        owner = Colour.BLACK if self.opponent is None else actor
        winner = outcome.winner
        assert finals["episode_return"][self.board] == (0 if winner is None else 1 if winner is owner else -1)


def follow_games(num_envs: int, steps: int, seed: int, ruleset: str, **settings: Any) -> int:
    """Play random actions, some invalid and some resignations, and compare everything; return the games finished."""
    defaults: dict[str, Any] = {"opponent": "random", "resign_action": False, "observation": "board"}
    settings = defaults | settings
    env = GomokuVectorEnv(num_envs, ruleset, invalid_move="lose", **settings)
    rng = np.random.default_rng(seed)
    observations, infos = env.reset(seed=seed)
    followers = [Follower(env, board, settings) for board in range(num_envs)]
    for follower in followers:
        follower.check_shown(observations, infos)
    ended = 0
    for _ in range(steps):
        actions = env.sample_actions()
        wild = rng.random(num_envs) < 0.03
        actions[wild] = rng.integers(-2, env.single_action_space.n + 2, size=int(wild.sum()))
        results = env.step(actions)
        ended += sum(follower.follow(int(actions[i]), results) for i, follower in enumerate(followers))
    return ended


@pytest.mark.parametrize("ruleset", RULESETS)
@pytest.mark.parametrize("opponent", ["random", "naive:level=3", None])
def test_every_step_agrees_with_position(ruleset: str, opponent: str | None) -> None:
    area = Ruleset.parse(ruleset).area
    assert follow_games(3, min(4 * area, 130), 1, ruleset, opponent=opponent, side="random") > 0


@pytest.mark.parametrize("opponent", sorted(POLICIES))
def test_every_opponent(opponent: str) -> None:
    assert follow_games(2, 60, 2, "8x8:5:renju", opponent=opponent, side="random", opening_moves=3) > 0


@pytest.mark.parametrize("layout", sorted(LAYOUTS))
@pytest.mark.parametrize("dtype", [None, "float32", "int8"])
@pytest.mark.parametrize("opponent", ["random", None])
def test_every_layout(layout: str, dtype: str | None, opponent: str | None) -> None:
    settings: dict[str, Any] = {"observation": layout, "dtype": dtype, "opponent": opponent, "side": "white"}
    assert follow_games(4, 60, 3, "5x6:4:freestyle", resign_action=True, opening_moves=2, **settings) > 0


def test_threads_share_the_boards_of_a_real_batch() -> None:
    assert follow_games(300, 12, 4, "4x4:3:freestyle", threads=3, copy=False) > 0


def random_steps(env: GomokuVectorEnv, seed: int, steps: int) -> list[np.ndarray]:
    """Collect the return values of `steps` seeded random steps."""
    observations, infos = env.reset(seed=seed)
    seen = [observations.copy(), infos["action_mask"].copy()]
    for _ in range(steps):
        observations, rewards, terminations, _, infos = env.step(env.sample_actions())
        seen += [observations.copy(), rewards, terminations, infos["action_mask"].copy(), infos["colour"].copy()]
    return seen


def same(first: list[np.ndarray], second: list[np.ndarray]) -> bool:
    return all(np.array_equal(a, b) for a, b in zip(first, second, strict=True))


@pytest.mark.parametrize("opponent", ["random", "naive:level=4"])
def test_games_do_not_depend_on_threads(opponent: str) -> None:
    settings: dict[str, Any] = {"opponent": opponent, "side": "random", "opening_moves": 2}
    alone, shared = (
        random_steps(GomokuVectorEnv(600, "6x6:4:freestyle", threads=threads, **settings), 7, 40) for threads in (1, 4)
    )
    assert same(alone, shared)


def test_seeds() -> None:
    env = GomokuVectorEnv(5, "9x9", side="white")
    first, again, other = random_steps(env, 1, 30), random_steps(env, 1, 30), random_steps(env, 2, 30)
    assert same(first, again)
    assert not same(first, other)
    # Board i with seed s plays like board 0 with seed s + i.
    starts = env.reset(seed=10)[0]
    for board in range(5):
        np.testing.assert_array_equal(
            GomokuVectorEnv(1, "9x9", side="white").reset(seed=10 + board)[0][0], starts[board]
        )
    by_list = env.reset(seed=[10, 11, 12, 13, 14])[0]
    np.testing.assert_array_equal(by_list, starts)
    assert not np.array_equal(env.reset()[0], starts)
    kept = env.reset(seed=[None, None, 12, None, None])[0]
    np.testing.assert_array_equal(kept[2], starts[2])
    with pytest.raises(InputError, match="3 seeds for 5 boards"):
        env.reset(seed=[1, 2, 3])


def test_unseeded_environments_differ() -> None:
    first, second = (GomokuVectorEnv(8, side="white").reset()[0] for _ in range(2))
    assert not np.array_equal(first, second)


def test_agrees_with_gymnasiums_own_vector_environment() -> None:
    """Without an opponent nothing is random, so the result must equal Gymnasium's `SyncVectorEnv`."""
    settings: dict[str, Any] = {"opponent": None, "observation": "own-other-last-colour", "resign_action": True}
    ours = GomokuVectorEnv(4, "4x4:3:freestyle", **settings)
    theirs = SyncVectorEnv(
        [lambda: GomokuEnv("4x4:3:freestyle", **settings)] * 4, autoreset_mode=AutoresetMode.SAME_STEP
    )
    assert ours.metadata["autoreset_mode"] is theirs.metadata["autoreset_mode"]
    assert ours.single_observation_space == theirs.single_observation_space
    assert ours.observation_space == theirs.observation_space
    assert ours.action_space == theirs.action_space
    extra = {"episode_return", "_episode_return", "episode_length", "_episode_length"}

    def compare(mine: Any, reference: Any) -> None:
        if isinstance(reference, dict):
            assert set(mine) - extra == set(reference)
            for key, value in reference.items():
                compare(mine[key], value)
        elif reference.dtype == object:
            for a, b in zip(mine, reference, strict=True):
                np.testing.assert_array_equal(a, b)
        else:
            np.testing.assert_array_equal(mine, reference)

    compare(ours.reset(seed=1)[1], theirs.reset(seed=1)[1])
    ends = 0
    for step in range(60):
        actions = ours.sample_actions()
        if step % 17 == 5:
            actions[step % 4] = 16
        mine, reference = ours.step(actions), theirs.step(actions)
        for a, b in zip(mine, reference, strict=True):
            compare(a, b)
        for a, b in zip(mine[:4], reference[:4], strict=True):
            assert a.dtype == b.dtype
        ends += int(mine[2].sum())
    assert ends > 10


def test_gymnasiums_statistics_agree_with_ours() -> None:
    env = RecordEpisodeStatistics(GomokuVectorEnv(6, "5x5:4:freestyle", opponent="naive:level=1"))
    env.reset(seed=3)
    for _ in range(80):
        *_, infos = env.step(env.unwrapped.sample_actions())  # type: ignore[attr-defined]
        if "episode" in infos:
            np.testing.assert_array_equal(infos["episode"]["r"], infos["final_info"]["episode_return"])
            np.testing.assert_array_equal(infos["episode"]["l"], infos["final_info"]["episode_length"])
    assert env.episode_count > 20


def test_invalid_action_raises_before_any_board_moves() -> None:
    env = GomokuVectorEnv(3, "5x5:4:freestyle", copy=False, invalid_move="raise")
    observations, infos = env.reset(seed=1)
    observations, *_ = env.step(np.array([0, 0, 0]))
    before, positions = observations.copy(), [env.position(board) for board in range(3)]
    legal = env.sample_actions()
    for wrong in (0, -1, 25):
        with pytest.raises(IllegalMoveError, match=f"board 2 cannot play action {wrong}\n5x5:4:freestyle"):
            env.step(np.array([legal[0], legal[1], wrong]))
    np.testing.assert_array_equal(observations, before)
    assert positions == [env.position(board) for board in range(3)]
    infos["action_mask"][:] = 1  # writing to the returned view must not make moves legal
    with pytest.raises(IllegalMoveError):
        env.step(np.array([0, 0, 0]))


@pytest.mark.parametrize(
    "actions", [np.zeros(2), np.zeros(3, np.int64), np.zeros((2, 1), np.int64), [0.5, 1.5], "ab", 3, [True, False]]
)
def test_actions_must_be_one_integer_per_board(actions: Any) -> None:
    env = GomokuVectorEnv(2, "5x5")
    env.reset(seed=0)
    with pytest.raises(InputError, match="actions must be integers of shape"):
        env.step(actions)


def test_views_and_copies() -> None:
    view = GomokuVectorEnv(2, "9x9", copy=False, resign_action=True)
    first, infos = view.reset(seed=0)
    second, _, _, _, later = view.step([40, 41])
    assert first is second
    assert np.shares_memory(infos["action_mask"], later["action_mask"])
    assert np.shares_memory(view.action_masks(), later["action_mask"])
    np.testing.assert_array_equal(view.action_masks(), later["action_mask"] != 0)
    kept = second.copy()
    del view
    gc.collect()
    np.testing.assert_array_equal(second, kept)  # the views keep the native memory alive

    copying = GomokuVectorEnv(2, "9x9")
    first, infos = copying.reset(seed=0)
    before = first.copy()
    copying.step([40, 41])
    np.testing.assert_array_equal(first, before)
    assert infos["action_mask"].all()


def test_partial_reset() -> None:
    env = GomokuVectorEnv(3, "9x9")
    env.reset(seed=0)
    env.step([40, 40, 40])
    kept = env.position(1)
    env.reset(options={"reset_mask": np.array([True, False, True])})
    assert [env.position(board).stones for board in range(3)] == [0, 2, 0]
    assert env.position(1) == kept
    for mask in ([True, False, True], np.array([1, 0, 1]), np.array([True])):
        with pytest.raises(InputError, match="reset_mask must be"):
            env.reset(options={"reset_mask": mask})
    with pytest.raises(InputError, match="unknown reset options"):
        env.reset(options={"mask": None})


def test_sampled_actions_are_legal_and_spread() -> None:
    env = GomokuVectorEnv(1000, "4x4:4:freestyle", resign_action=True)
    _, infos = env.reset(seed=0)
    actions = env.sample_actions()
    assert set(actions.tolist()) == set(range(16))
    *_, infos = env.step(actions)
    actions = env.sample_actions()
    assert infos["action_mask"][np.arange(1000), actions].all()


def test_render() -> None:
    env = GomokuVectorEnv(2, "5x5", render_mode="ansi")
    env.reset(seed=0)
    env.step([0, 1])
    assert env.render() == (str(env.position(0)), str(env.position(1)))
    images = GomokuVectorEnv(2, "5x5", render_mode="rgb_array").render()
    assert images is not None
    assert images[0].shape == (160, 160, 3)
    assert GomokuVectorEnv(2, "5x5").render() is None


@pytest.mark.parametrize(
    ("settings", "message"),
    [
        ({"num_envs": 0}, "num_envs must be at least 1, not 0"),
        ({"threads": 0}, "threads must be at least 1, not 0"),
        ({"opponent": 3}, "must be an agent specification"),
        ({"channels": "middle"}, "unknown channels"),
        ({"side": "grey"}, "unknown side"),
        ({"observation": "own"}, "unknown plane layout"),
        ({"invalid_move": "pass"}, "unknown invalid_move"),
        ({"opening_moves": 9}, "outside the range 0–7"),
        ({"render_mode": "human"}, "unknown render_mode"),
    ],
)
def test_wrong_settings_are_rejected(settings: dict, message: str) -> None:
    with pytest.raises(InputError, match=message):
        GomokuVectorEnv(**settings)


def first_legal(position: Position) -> Point:
    return position.legal_points()[0]


@pytest.mark.parametrize("opponent", [first_legal, "alphabeta:depth=1"])
@pytest.mark.parametrize("side", ["black", "white", "random"])
def test_opponents_in_python(opponent: Any, side: str) -> None:
    settings: dict[str, Any] = {"opponent": opponent, "side": side, "opening_moves": 1}
    assert follow_games(3, 40, 5, "6x6:4:freestyle", **settings) > 0


def test_a_reply_of_the_opponent_can_end_the_game() -> None:
    env = GomokuVectorEnv(2, TIC_TAC_TOE, opponent=first_legal)
    env.reset(seed=0)
    env.step([8, 4])
    env.step([7, 1])
    _, rewards, terminations, _, infos = env.step([5, 8])
    # White has a1, b1, c1 on the first board and a1, c1, a2 on the second.
    assert rewards.tolist() == [-1.0, 0.0]
    assert terminations.tolist() == [True, False]
    assert infos["final_info"]["outcome"][0] == "white"
    assert env.position(0).stones == 0


def test_an_illegal_move_of_the_opponent_is_an_error() -> None:
    env = GomokuVectorEnv(2, TIC_TAC_TOE, opponent=lambda position: "a1")
    env.reset(seed=0)
    env.step([8, 8])
    with pytest.raises(AgentError, match="chose the illegal move 'a1'"):
        env.step([7, 7])


def test_channels_last() -> None:
    settings: dict[str, Any] = {"opponent": "naive:level=1", "observation": "own-other-last-colour"}
    first = GomokuVectorEnv(3, "6x7:4:freestyle", **settings)
    last = GomokuVectorEnv(3, "6x7:4:freestyle", channels="last", **settings)
    first.reset(seed=1)
    assert last.reset(seed=1)[0].shape == last.observation_space.shape == (3, 7, 6, 4)
    for _ in range(40):
        actions = first.sample_actions()
        one, two = first.step(actions), last.step(actions)
        np.testing.assert_array_equal(np.moveaxis(one[0], 1, -1), two[0])
        if "final_obs" in one[4]:
            board = int(np.flatnonzero(one[2])[0])
            np.testing.assert_array_equal(np.moveaxis(one[4]["final_obs"][board], 0, -1), two[4]["final_obs"][board])


@pytest.mark.parametrize("copied", [copy.deepcopy, lambda env: pickle.loads(pickle.dumps(env))])
@pytest.mark.parametrize("opponent", ["random", "naive:level=3", first_legal, None])
def test_copies_continue_the_same_games(copied: Any, opponent: Any) -> None:
    env = GomokuVectorEnv(4, "7x7:5:renju", opponent=opponent, side="random", opening_moves=2, observation="own-other")
    assert copied(env).num_envs == 4
    random_steps(env, 6, 9)
    twin = copied(env)
    for _ in range(40):
        actions = env.sample_actions()
        np.testing.assert_array_equal(twin.sample_actions(), actions)
        one, two = env.step(actions), twin.step(actions)
        for each, other in zip(one[:4], two[:4], strict=True):
            np.testing.assert_array_equal(each, other)
        np.testing.assert_array_equal(one[4]["action_mask"], two[4]["action_mask"])


def test_state_can_be_saved_and_restored() -> None:
    env = GomokuVectorEnv(3, "6x6:4:freestyle", opponent="random")
    random_steps(env, 1, 10)
    state = env.get_state()
    first = [env.step(env.sample_actions())[0] for _ in range(20)]
    env.set_state(state)
    assert same(first, [env.step(env.sample_actions())[0] for _ in range(20)])
    with pytest.raises(InputError, match="the state has 3 boards"):
        GomokuVectorEnv(2, "6x6:4:freestyle").set_state(state)
    with pytest.raises(InputError, match="the state is for 6x6:4:freestyle, but the environment plays 9x9"):
        GomokuVectorEnv(3, "9x9:5:freestyle").set_state(state)


@pytest.mark.parametrize(
    ("change", "message"),
    [
        (lambda game: ([*game[0], game[0][0]], *game[1:]), "not a game in progress"),
        (lambda game: (game[0][:-1], *game[1:]), "does not wait for an action"),
        (lambda game: (*game[:2], 1 - game[2], game[3]), "does not wait for an action"),
        (lambda game: (game[0], [], *game[1:]), "damaged"),
    ],
)
def test_damaged_states_are_rejected(change: Any, message: str) -> None:
    env = GomokuVectorEnv(1, "6x6:4:freestyle", opponent="random")
    random_steps(env, 1, 3)
    state = env.get_state()
    with pytest.raises(InputError, match=message):
        env.set_state(dataclasses.replace(state, games=(change(state.games[0]),)))
    assert env.get_state() == state


@pytest.mark.parametrize(("opponent", "size"), [("random", 9), ("random", 15), (None, 12)])
def test_fouls_are_updated_stone_by_stone(opponent: str | None, size: int) -> None:
    env = GomokuVectorEnv(12, f"{size}x{size}:5:renju", opponent=opponent, side="random", copy=False)
    builder = Policy(PolicyKind.RULE_BASED, 3)  # makes many threes
    _, infos = env.reset(seed=8)
    fouls = 0
    for _ in range(100):
        actions = env.sample_actions()
        for board in range(12):
            position = env.position(board)
            np.testing.assert_array_equal(infos["action_mask"][board], position.legal_mask())
            fouls += len(position.forbidden_points())
            if opponent is None:
                actions[board] = builder.choose(position.native)
        *_, infos = env.step(actions)
    assert fouls > 50


if hasattr(os, "fork"):  # not on Windows

    def test_a_forked_process_steps_without_the_threads_of_its_parent() -> None:
        env = GomokuVectorEnv(600, "6x6:4:freestyle", threads=3)
        ours = random_steps(env, 2, 5)
        child = os.fork()
        if child == 0:
            try:
                alike = same(random_steps(env, 2, 5), ours)
                del env
                gc.collect()
                os._exit(0 if alike else 1)
            finally:
                os._exit(2)
        assert os.waitpid(child, 0)[1] == 0
        assert same(random_steps(env, 2, 5), ours)


def test_position_of_a_missing_board() -> None:
    with pytest.raises(InputError, match="board 2 does not exist"):
        GomokuVectorEnv(2).position(2)
