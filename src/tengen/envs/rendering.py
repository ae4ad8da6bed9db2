"""Board rendering for the environments: as text, as an image, or in a pygame window."""

from __future__ import annotations

import os
from typing import Any

import gymnasium as gym

from tengen.core.extras import needs_extra
from tengen.core.position import Position
from tengen.envs.drawing import Image, draw_board
from tengen.envs.spaces import check_choice
from tengen.errors import InputError

RENDER_MODES = ("ansi", "rgb_array", "human")
IMAGES_PER_SECOND = 2


class Renderer:
    """Renders positions in one render mode; does nothing if the mode is None."""

    def __init__(self, mode: str | None) -> None:
        self.mode = None if mode is None else check_choice(mode, RENDER_MODES, "render_mode")
        self._window = _Window()

    def render(self, position: Position) -> str | Image | None:
        """Return the board as text ("ansi") or as an image uint8 [H, W, 3] ("rgb_array"), or show it ("human")."""
        if self.mode is None:
            gym.logger.warn("render() does nothing because the environment was created without a render_mode")
            return None
        if self.mode == "ansi":
            return str(position)
        image = draw_board(position)
        if self.mode == "rgb_array":
            return image
        self._window.show(image)
        return None

    def watch(self, position: Position) -> None:
        """Show the position after a reset or step in mode "human". Other modes ignore the call."""
        if self.mode == "human":
            self.render(position)

    def close(self) -> None:
        """Close the window, if any."""
        self._window.close()


class _Window:
    def __init__(self) -> None:
        self._pygame: Any = None
        self._screen: Any = None
        self._clock: Any = None

    def show(self, image: Image) -> None:
        height, width, _ = image.shape
        if self._screen is None:
            self._open(width, height)
        surface = self._pygame.surfarray.make_surface(image.swapaxes(0, 1))
        self._screen.blit(surface, (0, 0))
        self._pygame.event.pump()
        self._pygame.display.flip()
        self._clock.tick(IMAGES_PER_SECOND)

    def close(self) -> None:
        if self._screen is not None:
            self._pygame.display.quit()
            self._screen = None

    def _open(self, width: int, height: int) -> None:
        os.environ.setdefault("PYGAME_HIDE_SUPPORT_PROMPT", "1")
        with needs_extra("render_mode 'human'", "envs"):
            import pygame
        try:
            pygame.display.init()
            screen = pygame.display.set_mode((width, height))
        except pygame.error as error:
            raise InputError(
                f"render_mode 'human' needs a display ({error}); 'rgb_array' and 'ansi' work without one"
            ) from None
        pygame.display.set_caption("Gomoku")
        self._pygame, self._screen, self._clock = pygame, screen, pygame.time.Clock()
