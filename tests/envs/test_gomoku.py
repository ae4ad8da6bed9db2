"""`tengen/Gomoku-v1` follows Gymnasium's API and the rules of the game."""

from __future__ import annotations

import copy
import pickle
import sys
import warnings
from pathlib import Path
from types import ModuleType
from typing import Any

import gymnasium
import numpy as np
import pytest
from gymnasium.utils.env_checker import check_env
from gymnasium.wrappers import RecordVideo

import tengen.envs
from tengen.agents.registry import make_agent, parse_agent
from tengen.core.contracts import Agent, Colour, Decision, Limits, Outcome, Ruleset
from tengen.core.game_batch import POLICIES
from tengen.core.geometry import Point
from tengen.core.planes import encode, layouts
from tengen.core.position import Position
from tengen.envs import GomokuEnv, rendering
from tengen.errors import (
    AgentError,
    AgentNameError,
    ForbiddenPointError,
    GameOverError,
    IllegalMoveError,
    InputError,
    RulesetError,
)

TIC_TAC_TOE = "3x3:3:freestyle"
RULESETS = ["3x3:3:freestyle", "7x5:4:standard", "9x9:5:renju", "8x8:5:caro", "15x15:5:caro-exact", "22x22:6:freestyle"]


def play_out(env: GomokuEnv, seed: int) -> tuple[float, dict]:
    """Play one game with random legal actions; return the last reward and the last info."""
    _, info = env.reset(seed=seed)
    env.action_space.seed(seed)
    for _ in range(env.ruleset.area + 1):
        _, reward, terminated, truncated, info = env.step(env.action_space.sample(info["action_mask"]))
        assert not truncated
        if terminated:
            return reward, info
        assert reward == 0.0
    raise AssertionError("the game does not end")


def test_check_env_passes_with_the_defaults(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setenv("SDL_VIDEODRIVER", "dummy")
    monkeypatch.setattr(rendering, "IMAGES_PER_SECOND", 1000)
    with warnings.catch_warnings():
        warnings.simplefilter("error")
        check_env(gymnasium.make("tengen/Gomoku-v1").unwrapped)


@pytest.mark.parametrize("ruleset", RULESETS)
@pytest.mark.parametrize("opponent", ["random", "rule-based", "self", None])
def test_check_env(ruleset: str, opponent: str | None) -> None:
    env = gymnasium.make("tengen/Gomoku-v1", ruleset=ruleset, opponent=opponent, side="random")
    # Rendering is tested in test_rendering.py.
    check_env(env.unwrapped, skip_render_check=True)


def test_planes_that_the_ruleset_does_not_support_are_rejected() -> None:
    with pytest.raises(RulesetError, match="'threats' requires a win length of 4 or 5, but 9x9:3:freestyle has 3"):
        GomokuEnv("9x9:3", observation="threats")


def test_made_by_module_and_id() -> None:
    env = gymnasium.make("tengen.envs:tengen/Gomoku-v1", ruleset=TIC_TAC_TOE)
    assert isinstance(env.unwrapped, GomokuEnv)
    vector = gymnasium.make_vec("tengen/Gomoku-v1", num_envs=3, ruleset=TIC_TAC_TOE)
    assert isinstance(vector.unwrapped, tengen.envs.GomokuVectorEnv)


@pytest.mark.parametrize("layout", layouts())
@pytest.mark.parametrize("side", ["black", "white"])
def test_observation_is_what_the_agent_sees(layout: str, side: str) -> None:
    env = GomokuEnv("6x7:4:freestyle", observation=layout, side=side)
    observation, info = env.reset(seed=3)
    terminated = False
    while not terminated:
        assert env.observation_space.contains(observation)
        np.testing.assert_array_equal(observation, encode(env.position, layout, Colour(side)))
        assert np.array_equal(info["action_mask"], env.position.legal_mask())
        assert np.array_equal(env.action_masks(), env.position.legal_mask())
        assert info["colour"] == ("black", "white").index(side)
        assert env.position.to_move == side
        observation, _, terminated, _, info = env.step(env.position.legal_points()[-1].index(6))
    np.testing.assert_array_equal(observation, encode(env.position, layout, Colour(side)))
    assert not info["action_mask"].any()


@pytest.mark.parametrize("ruleset", RULESETS)
@pytest.mark.parametrize("opponent", sorted(POLICIES))
def test_rewards_match_the_result(ruleset: str, opponent: str) -> None:
    env = GomokuEnv(ruleset, opponent=opponent, side="random")
    reward, info = play_out(env, seed=5)
    assert env.position.is_over
    assert info["outcome"] == env.position.outcome
    winner = env.position.outcome.winner
    assert reward == (0.0 if winner is None else 1.0 if winner is env.colour else -1.0)


def test_the_opponents_win_is_seen_in_the_same_step() -> None:
    """Regression test for a bug of the paper's environment, which checked only the agent's move for a win."""
    env = GomokuEnv(TIC_TAC_TOE, opponent=lambda position: next(m for m in ("c1", "c2", "c3") if position.is_legal(m)))
    env.reset(seed=0)
    env.step(0)
    env.step(1)
    _, reward, terminated, _, info = env.step(3)
    assert (reward, terminated, info["outcome"]) == (-1.0, True, "white")


def test_caller_plays_both_colours() -> None:
    env = GomokuEnv(TIC_TAC_TOE, opponent=None, observation="board")
    observation, info = env.reset()
    assert info["colour"] == 0
    observation, reward, *_, info = env.step(0)
    assert (reward, info["colour"]) == (0.0, 1)
    assert observation[0, 0, 0] == -1  # white sees black's stone
    for action in (3, 1, 4):
        observation, reward, terminated, _, info = env.step(action)
        assert not terminated
    _, reward, terminated, _, info = env.step(2)
    assert (reward, terminated, info["outcome"]) == (1.0, True, "black")


def test_draw_is_zero() -> None:
    env = GomokuEnv(TIC_TAC_TOE, opponent=None)
    env.reset()
    for action in (0, 1, 2, 4, 3, 5, 7, 6):
        _, reward, terminated, _, _ = env.step(action)
        assert (reward, terminated) == (0.0, False)
    _, reward, terminated, _, info = env.step(8)
    assert (reward, terminated, info["outcome"]) == (0.0, True, "draw")


@pytest.mark.parametrize("opponent", ["random", None])
def test_resigning_loses(opponent: str | None) -> None:
    env = GomokuEnv("9x9", opponent=opponent, resign_action=True)
    _, info = env.reset(seed=1)
    assert env.action_space.n == 82
    assert info["action_mask"][81] == 1
    observation, reward, terminated, _, info = env.step(81)
    assert (reward, terminated, info["outcome"]) == (-1.0, True, "white")
    assert observation.sum() == 0
    assert not info["action_mask"].any()


@pytest.mark.parametrize("action", [-1, 9, 10**6, 4])
def test_invalid_move_raises_and_changes_nothing(action: int) -> None:
    env = GomokuEnv(TIC_TAC_TOE, opponent=None, invalid_move="raise")
    env.reset()
    env.step(4)
    before = env.position
    with pytest.raises(IllegalMoveError, match="3x3:3:freestyle"):
        env.step(action)
    assert env.position is before
    env.step(0)


@pytest.mark.parametrize("action", [-1, 9, 4])
def test_invalid_move_can_lose_the_game(action: int) -> None:
    env = GomokuEnv(TIC_TAC_TOE, opponent=None)
    env.reset()
    env.step(4)
    _, reward, terminated, _, info = env.step(action)
    assert (reward, terminated, info["outcome"]) == (-1.0, True, "black")


@pytest.mark.parametrize("action", [1.5, "a1", None, np.array([1, 2])])
def test_action_must_be_an_integer(action: object) -> None:
    env = GomokuEnv(TIC_TAC_TOE)
    env.reset(seed=0)
    with pytest.raises(IllegalMoveError, match="is not an integer"):
        env.step(action)  # type: ignore[arg-type]


DOUBLE_THREE = """
 7 . . . . . . .
 6 . . . . . . .
 5 . . . X . . .
 4 . . . X . . .
 3 . X X . . . .
 2 . . . . . . .
 1 . . . . . . .
"""


@pytest.mark.parametrize("invalid_move", ["raise", "lose"])
def test_renju_fouls_are_masked(invalid_move: str) -> None:
    ruleset = Ruleset.parse("7x7:5:renju")
    start = Position.parse(DOUBLE_THREE, ruleset)
    start = Position.from_stones(
        ruleset, black=start.points_of("black"), white=["a1", "g1", "a7", "g7"], to_move="black"
    )
    env = GomokuEnv(ruleset, invalid_move=invalid_move)
    _, info = env.reset(seed=1, options={"position": start})
    foul = Point("d3").index(7)
    assert info["action_mask"][foul] == 0
    assert info["action_mask"].sum() == len(start.legal_points())
    if invalid_move == "raise":
        with pytest.raises(ForbiddenPointError):
            env.step(foul)
    else:
        assert env.step(foul)[1] == -1.0


def test_same_seed_same_game() -> None:
    def game(seed: int) -> list[str]:
        env = GomokuEnv("9x9", opponent="naive:level=2", side="random", opening_moves=4)
        play_out(env, seed)
        return [str(env.position), str(env.colour)]

    assert game(11) == game(11)
    assert len({str(game(seed)) for seed in range(8)}) == 8


def test_games_differ_without_a_new_seed() -> None:
    env = GomokuEnv("9x9", side="white")
    env.reset(seed=1)
    replies = {str(env.reset()[0].tolist()) for _ in range(10)}
    assert len(replies) > 5


def test_random_side_and_opening() -> None:
    env = GomokuEnv("9x9", side="random", opening_moves=7)
    sides = set()
    for seed in range(12):
        env.reset(seed=seed)
        sides.add(env.colour)
        # After seven stones white is to move, or black after the opponent's first move.
        assert env.position.stones == (7 if env.colour is Colour.WHITE else 8)
        assert env.position.to_move is env.colour
    assert sides == set(Colour)


def test_reset_options() -> None:
    env = GomokuEnv("9x9", opponent="random")
    start = Position.from_moves(env.ruleset, "e5e6")
    env.reset(seed=0, options={"position": start})
    assert env.position == start
    env.reset(options={"position": start, "side": "white"})
    assert env.colour is Colour.WHITE
    assert env.position.stones == 3
    for options in ({"side": "red"}, {"positon": start}, {"position": "e5e6"}):
        with pytest.raises(InputError):
            env.reset(options=options)
    with pytest.raises(InputError, match="unfinished"):
        env.reset(options={"position": Position.start(Ruleset(10, 10))})


def test_state_can_be_saved_and_restored() -> None:
    env = GomokuEnv("9x9", opponent="naive:level=1")
    env.reset(seed=2)
    env.step(40)
    state = env.get_state()
    continuations = []
    for _ in range(2):
        _, info = env.set_state(state)
        moves = [env.step(int(np.flatnonzero(env.action_masks())[0]))[4] for _ in range(5)]
        continuations.append((env.position.moves, len(moves)))
        assert info["action_mask"].sum() == 81 - 2
    assert continuations[0] == continuations[1]
    other = GomokuEnv("10x10")
    other.reset(seed=0)
    with pytest.raises(InputError):
        other.set_state(state)


class CornerAgent(Agent):
    """Plays the first legal point and records the seeds it receives."""

    name = "corner"

    def __init__(self) -> None:
        self.seeds: list[int] = []

    def supports(self, ruleset: Ruleset) -> bool:
        return ruleset.width < 20

    def new_game(self, ruleset: Ruleset, seed: int = 0) -> None:
        self.seeds.append(seed)

    def choose(self, position: Position, limits: Limits) -> Decision:
        assert limits.nodes == 7
        return Decision(move=position.legal_points()[0])


def test_agent_as_opponent() -> None:
    agent = CornerAgent()
    env = gymnasium.make("tengen/Gomoku-v1", ruleset="9x9", opponent=agent, opponent_limits=Limits(nodes=7))
    env.reset(seed=4)
    env.step(80)
    env.reset(seed=4)
    env.step(80)
    assert env.unwrapped.position.moves == (Point("i9"), Point("a1"))  # type: ignore[attr-defined]
    assert len(agent.seeds) == 2
    assert agent.seeds[0] == agent.seeds[1]
    with pytest.raises(RulesetError, match="corner does not play"):
        GomokuEnv("20x20", opponent=agent)


def test_agents_of_the_registry_can_be_opponents() -> None:
    env = GomokuEnv("7x7:5:renju", opponent=make_agent("chains"))
    reward, info = play_out(env, seed=0)
    assert reward in (-1.0, 0.0, 1.0)
    assert info["outcome"] in list(Outcome)


def test_policies_have_the_names_of_the_registry() -> None:
    for text in POLICIES:
        assert make_agent(text).name == text
    assert parse_agent("naive")[1] == parse_agent("naive:level=3")[1]
    assert POLICIES["naive"] is POLICIES["naive:level=3"]


@pytest.mark.parametrize("answer", ["z9", 81, None, "e5"])
def test_an_illegal_move_of_the_opponent_is_an_error(answer: object) -> None:
    env = GomokuEnv("9x9", opponent=lambda position: answer)  # type: ignore[arg-type,return-value]
    env.reset()
    with pytest.raises(AgentError, match="chose the illegal move"):
        env.step(40)


@pytest.mark.parametrize(
    ("text", "message"),
    [
        ("alphabet", "known: random.*did you mean 'alphabeta'"),
        ("naive:level=9", "level"),
        ("random:depth=3", "has no parameter 'depth'"),
        ("", "unknown agent ''"),
    ],
)
def test_unknown_opponents_are_rejected(text: str, message: str) -> None:
    for make in (GomokuEnv, tengen.envs.GomokuVectorEnv):
        with pytest.raises(AgentNameError, match=message):
            make(opponent=text)


def test_opponents_are_named_by_any_agents_text() -> None:
    env = GomokuEnv("9x9", opponent="alphabeta:depth=2")
    # Black has an open three and plays elsewhere; white has a three in the corner, so it must prevent the open four.
    env.reset(seed=1, options={"position": Position.from_moves(env.ruleset, "d5a1e5c2f5i3")})
    env.step(Point("i9").index(9))
    assert str(env.position.last_move) in {"b5", "c5", "g5", "h5"}
    env.close()


def test_self_is_no_opponent() -> None:
    env = GomokuEnv(TIC_TAC_TOE, opponent="self")
    env.reset()
    assert env.step(0)[4]["colour"] == 1


def test_channels_last() -> None:
    first, last = (
        GomokuEnv("6x7:4:freestyle", observation="stones", channels=channels) for channels in ("first", "last")
    )
    for env in (first, last):
        env.reset(seed=3)
    for action in (20, 3, 17):
        planes, stacked = first.step(action)[0], last.step(action)[0]
        assert stacked.shape == (7, 6, 5)
        assert last.observation_space.contains(stacked)
        np.testing.assert_array_equal(np.moveaxis(planes, 0, -1), stacked)


@pytest.mark.parametrize("copied", [copy.deepcopy, lambda env: pickle.loads(pickle.dumps(env))])
@pytest.mark.parametrize("opponent", ["random", "naive:level=2", None])
def test_copies_continue_the_same_game(copied: Any, opponent: str | None) -> None:
    env = GomokuEnv("9x9:5:renju", opponent=opponent, side="random", opening_moves=3)
    env.reset(seed=4)
    env.action_space.seed(5)
    env.step(int(np.flatnonzero(env.action_masks())[7]))
    twin = copied(env)
    assert twin is not env
    for _ in range(3):
        action = env.action_space.sample(env.action_masks().view(np.int8))
        assert twin.action_space.sample(twin.action_masks().view(np.int8)) == action
        one, two = env.step(action), twin.step(action)
        np.testing.assert_array_equal(one[0], two[0])
        assert one[1:4] == two[1:4]
        assert env.position == twin.position
    assert env.reset()[1]["colour"] == twin.reset()[1]["colour"]
    assert env.position == twin.position


def test_an_environment_can_be_copied_before_the_first_game() -> None:
    twin = copy.deepcopy(GomokuEnv("9x9", opponent=CornerAgent(), opponent_limits=Limits(nodes=7)))
    twin.reset(seed=1)
    twin.step(80)
    assert twin.position.stones == 2


@pytest.mark.parametrize("copied", [copy.deepcopy, lambda env: pickle.loads(pickle.dumps(env))])
def test_copies_create_their_own_opponent_from_its_text(copied: Any) -> None:
    env = GomokuEnv("9x9", opponent="alphabeta:depth=2")
    env.reset(seed=4)
    env.step(40)
    twin = copied(env)
    env.close()
    twin.step(0)
    assert twin.position.stones == 4


def test_copies_share_an_opponent_object() -> None:
    agent = CornerAgent()
    env = GomokuEnv("9x9", opponent=agent, opponent_limits=Limits(nodes=7))
    env.reset(seed=1)
    twin = copy.deepcopy(env)
    twin.reset(seed=1)
    assert len(agent.seeds) == 3  # the copy has continued a game and started another


def test_video_of_a_game(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    """MoviePy is replaced, because it pins old packages; the frames are what it receives."""
    clips: list[Any] = []

    class Clip:
        def __init__(self, frames: list[np.ndarray], fps: float) -> None:
            clips.append((frames, fps))

        def write_videofile(self, path: str, logger: str | None) -> None:
            Path(path).write_bytes(b"video")

    for name in ("moviepy", "moviepy.video", "moviepy.video.io"):
        monkeypatch.setitem(sys.modules, name, ModuleType(name))
    module = ModuleType("moviepy.video.io.ImageSequenceClip")
    module.ImageSequenceClip = Clip  # type: ignore[attr-defined]
    monkeypatch.setitem(sys.modules, module.__name__, module)
    env = RecordVideo(gymnasium.make("tengen/Gomoku-v1", ruleset="9x9", render_mode="rgb_array"), str(tmp_path))
    _, info = env.reset(seed=1)
    steps, terminated = 0, False
    while not terminated:
        *_, terminated, _, info = env.step(env.action_space.sample(info["action_mask"]))
        steps += 1
    env.close()
    assert [each.name for each in tmp_path.iterdir()] == ["rl-video-episode-0.mp4"]
    ((frames, fps),) = clips
    assert len(frames) == steps + 1
    assert fps == rendering.IMAGES_PER_SECOND
    # Most video codecs need even sizes.
    assert all(frame.dtype == np.uint8 and frame.shape == (288, 288, 3) for frame in frames)


@pytest.mark.parametrize(
    ("settings", "message"),
    [
        ({"side": "both"}, "unknown side 'both'"),
        ({"channels": "middle"}, "unknown channels 'middle'"),
        ({"invalid_move": "ignore"}, "unknown invalid_move 'ignore'"),
        ({"observation": "rgb"}, "unknown plane layout 'rgb'"),
        ({"dtype": "float64"}, "cannot have dtype float64"),
        ({"observation": "board", "dtype": "uint8"}, "cannot have dtype uint8"),
        ({"opening_moves": 8}, "outside the range 0–7"),
        ({"opening_moves": -1}, "outside the range 0–7"),
        ({"render_mode": "svg"}, "unknown render_mode 'svg'"),
        ({"ruleset": "15x15:5:renju:swap2"}, "do not support the opening procedure swap2"),
        ({"opponent": 3}, "must be an agent specification"),
    ],
)
def test_wrong_settings_are_rejected(settings: dict, message: str) -> None:
    with pytest.raises(InputError, match=message):
        GomokuEnv(**settings)


def test_step_needs_a_game() -> None:
    env = GomokuEnv(TIC_TAC_TOE, opponent=None)
    with pytest.raises(GameOverError, match="no game has started"):
        env.step(0)
    env.reset()
    for action in (0, 3, 1, 4, 2):
        env.step(action)
    with pytest.raises(GameOverError, match="the game is over"):
        env.step(5)
