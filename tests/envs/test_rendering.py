"""Rendering of the environments as text, as images and in windows."""

from __future__ import annotations

import numpy as np
import pytest

from tengen.core.contracts import Ruleset
from tengen.core.position import Position
from tengen.envs import GomokuEnv, rendering
from tengen.envs.drawing import CELL, draw_board
from tengen.errors import InputError

ANSI = """\
5x4:4:freestyle  white to move
 4  . . . . .
 3  . . O . .
 2  . .(X). .
 1  X . . . .
    a b c d e"""


def test_ansi() -> None:
    env = GomokuEnv("5x4:4:freestyle", opponent=None, render_mode="ansi")
    env.reset()
    for action in (0, 12, 7):
        env.step(action)
    assert env.render() == ANSI


def centre_colour(image: np.ndarray, x: int, y_from_top: int) -> tuple[int, ...]:
    return tuple(int(c) for c in image[y_from_top * CELL + CELL // 2, x * CELL + CELL // 2])


def test_image_shows_the_stones() -> None:
    position = Position.from_moves(Ruleset(7, 5), "b2c4f5")
    image = draw_board(position)
    assert image.shape == (5 * CELL, 7 * CELL, 3)
    assert image.dtype == np.uint8
    assert max(centre_colour(image, 1, 3)) < 60  # b2, black, second row from the bottom
    assert min(centre_colour(image, 2, 1)) > 200  # c4, white
    red, green, blue = centre_colour(image, 5, 0)  # f5, the last move
    assert red > 180
    assert max(green, blue) < 80
    wood = image[1, 1]
    assert wood[0] > wood[1] > wood[2]
    assert np.array_equal(draw_board(position), image)


def test_winning_line_is_marked() -> None:
    position = Position.from_moves(Ruleset(5, 5, 3), "a1a5b1b5c1")
    image = draw_board(position)
    for x in range(3):
        assert centre_colour(image, x, 4)[0] > 180
    assert centre_colour(image, 0, 0)[1] > 200  # a5, an unmarked white stone


def test_rgb_array_changes_with_the_game() -> None:
    env = GomokuEnv("15x15", render_mode="rgb_array")
    env.reset(seed=0)
    empty = env.render()
    env.step(112)
    assert not np.array_equal(env.render(), empty)
    fresh = GomokuEnv("15x15", render_mode="rgb_array")
    fresh.reset(seed=0)
    assert np.array_equal(fresh.render(), empty)  # nothing is painted on the cached empty board


def test_human_opens_a_window(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setenv("SDL_VIDEODRIVER", "dummy")
    monkeypatch.setattr(rendering, "IMAGES_PER_SECOND", 1000)
    import pygame

    env = GomokuEnv("9x9", render_mode="human")
    env.reset(seed=0)
    env.step(40)
    screen = pygame.display.get_surface()
    assert screen is not None
    assert screen.get_size() == (9 * CELL, 9 * CELL)
    assert np.array_equal(pygame.surfarray.array3d(screen).swapaxes(0, 1), draw_board(env.position))
    assert env.render() is None
    env.close()
    env.close()
    assert not pygame.display.get_init()


def test_human_mode_without_a_display_is_an_error(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setenv("SDL_VIDEODRIVER", "no-such-driver")
    env = GomokuEnv("9x9", render_mode="human")
    with pytest.raises(InputError, match=r"needs a display.*'rgb_array' and 'ansi' work without one"):
        env.reset(seed=0)


def test_no_render_mode_warns() -> None:
    env = GomokuEnv("9x9")
    env.reset(seed=0)
    with pytest.warns(UserWarning, match="without a render_mode"):
        assert env.render() is None
