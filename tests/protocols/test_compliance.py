"""Games of the engine against itself, as in Gomocup's test of new engines. Its positions are in `tengen compliance`.

Positions are written as Gomocup writes them: letters are columns and numbers are rows, counted from the top left.
"""

from __future__ import annotations

import re
import sys
from collections.abc import Iterator

import psutil
import pytest

from tengen.core.contracts import Ruleset
from tengen.core.position import Position
from tengen.protocols.piskvork.notation import point_of_square, rule_of_number
from tests.protocols.harness import BrainProcess

AGENTS = ["alphabeta"]
MEMORY_BYTES = 350 * 2**20


@pytest.fixture(scope="module", params=AGENTS)
def brain(request: pytest.FixtureRequest) -> Iterator[BrainProcess]:
    with BrainProcess([sys.executable, "-m", "tengen.cli", "brain", "--agent", request.param]) as process:
        yield process


def squares(text: str) -> list[str]:
    """Convert names such as `h8h9` to squares `X,Y`."""
    return [f"{ord(letter) - ord('a')},{int(number) - 1}" for letter, number in re.findall(r"([a-z])(\d+)", text)]


def choose(brain: BrainProcess, size: int, rule: int, moves: str, turn_ms: int = 1500) -> str:
    """Return the brain's move after the given moves."""
    assert brain.ask(f"START {size}") == "OK"
    brain.send(f"INFO timeout_turn {turn_ms}\nINFO timeout_match 180000\nINFO max_memory {MEMORY_BYTES}")
    brain.send(f"INFO rule {rule}\nINFO time_left 180000")
    stones = squares(moves)
    rows = [f"{square},{1 + (len(stones) - ply) % 2}" for ply, square in enumerate(stones)]
    return brain.ask("\n".join(["BOARD", *rows, "DONE"]))


@pytest.mark.parametrize("rule", [0, 1, 4, 8])
def test_a_game_against_itself(brain: BrainProcess, rule: int) -> None:
    size = 15
    known = rule_of_number(rule)
    assert known is not None
    position = Position.start(Ruleset(size, size, 5, known))
    for square in squares("n14k14k13"):  # the opening b2e2e3, mirrored into the opposite corner
        position = play(position, square)
    while not position.is_over and position.stones < 60:
        position = play(position, choose(brain, size, rule, names(position), turn_ms=60))
    process = psutil.Process(brain.process.pid)
    assert process.memory_info().rss < MEMORY_BYTES


def play(position: Position, square: str) -> Position:
    """Return the position after a move, which must be legal."""
    x, y = (int(number) for number in square.split(","))
    point = point_of_square(x, y, position.ruleset.width, position.ruleset.height)
    assert point is not None
    return position.play(point)


def names(position: Position) -> str:
    """Return the moves so far, with rows counted from the top."""
    return "".join(f"{chr(ord('a') + move.x)}{position.ruleset.height - move.y}" for move in position.moves)
