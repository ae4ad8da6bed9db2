"""The positions that Gomocup's organisers use to check new engines, and a game of the engine against itself.

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
ALL_RULES = (0, 1, 4, 8, 9)
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


@pytest.mark.parametrize("size", [15, 20])
@pytest.mark.parametrize("rule", ALL_RULES)
def test_an_open_four_becomes_a_five(brain: BrainProcess, size: int, rule: int) -> None:
    assert choose(brain, size, rule, "h8h9i8i9j8j9k8k9") in squares("g8l8")


def test_six_does_not_win_in_standard(brain: BrainProcess) -> None:
    # h13 would make six stones from h9 to h14, so black's open three g8 h8 i8 must be blocked.
    assert choose(brain, 15, 1, "h8h9i8h10g8h11j13h12g14h14i15") in squares("f8j8")


def test_a_forbidden_point_is_not_played(brain: BrainProcess) -> None:
    assert choose(brain, 15, 4, "h8h9i7i9h10i6i11i12") not in squares("g9")


@pytest.mark.parametrize("rule", [8, 9])
def test_a_closed_five_does_not_win_in_caro(brain: BrainProcess, rule: int) -> None:
    # The brain's four g8 to j8 is closed by f8 and l8, so white's open three f7 f8 f9 must be blocked.
    assert choose(brain, 15, rule, "h8f8g8f9i8f7j8l8") in squares("f5f6f10f11")


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
