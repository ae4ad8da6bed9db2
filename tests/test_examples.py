"""The small scripts of examples/ run as they are, outside the source tree.

`make test-examples` runs them with the Python of an environment that has an installed wheel (EXAMPLES_PYTHON).
"""

from __future__ import annotations

import importlib.util
import os
import subprocess
import sys
from pathlib import Path
from types import ModuleType

import pytest

from tests.conftest import ROOT

EXAMPLES = ROOT / "examples"
SCRIPTS = {
    "random_games.py": "'black': ",
    "load_game.py": "15x15:5:renju black against white",
    "iterate_game.py": "1 ",
    "stream_analysis.py": "h",
    "threats.py": "black wins by VCF",
    "picture.py": "bytes",
    "match.py": "likelihood of superiority",
    "train_player.py": "'policy': ",
    "export_games.py": "6 games",
    "own_agent.py": "centre_first against random",
    "board_and_brain.py": "OK 0,14",
}
"""Script → text that it prints."""
OTHERS = {"mybot.py", "alphazero_in_one_file.py", "tianshou_dqn.py"}
"""Scripts that may be longer; the last needs tianshou and is run by the job `examples` of continuous integration."""
MAX_LINES = 15


def run(script: str, folder: Path) -> subprocess.CompletedProcess[str]:
    # -P: like an installed script, it must not find modules in the source tree.
    command = [os.environ.get("EXAMPLES_PYTHON", sys.executable), "-P", str(EXAMPLES / script)]
    return subprocess.run(command, cwd=folder, capture_output=True, text=True, check=False)


@pytest.mark.parametrize("script", SCRIPTS)
def test_script(script: str, tmp_path: Path) -> None:
    done = run(script, tmp_path)
    assert done.returncode == 0, done.stderr
    assert SCRIPTS[script] in done.stdout


def test_every_script_is_run_and_described() -> None:
    scripts = {path.name for path in EXAMPLES.glob("*.py")}
    assert scripts == SCRIPTS.keys() | OTHERS
    page = (EXAMPLES / "README.md").read_text(encoding="utf-8")
    assert all(f"`{script}`" in page for script in scripts)
    workflow = (ROOT / ".github" / "workflows" / "ci.yml").read_text(encoding="utf-8")
    assert "make test-examples" in workflow
    assert "examples/tianshou_dqn.py" in workflow


@pytest.mark.parametrize("script", SCRIPTS)
def test_script_is_short(script: str) -> None:
    lines = (EXAMPLES / script).read_text(encoding="utf-8").splitlines()
    assert len([line for line in lines if line.strip()]) <= MAX_LINES


@pytest.fixture(scope="module")
def alphazero() -> ModuleType:
    spec = importlib.util.spec_from_file_location("alphazero_in_one_file", EXAMPLES / "alphazero_in_one_file.py")
    assert spec is not None
    assert spec.loader is not None
    module = importlib.util.module_from_spec(spec)
    spec.loader.exec_module(module)
    return module


def test_alphazero_in_one_file_is_short_and_runs(alphazero: ModuleType, capsys: pytest.CaptureFixture[str]) -> None:
    assert len((EXAMPLES / "alphazero_in_one_file.py").read_text(encoding="utf-8").splitlines()) <= 300
    before, after = alphazero.main(minutes=0.001, games=4, simulations=4, match_games=2)
    assert before.keys() == after.keys() == {"random", "naive:level=1", "rule-based"}
    assert "4 games, policy loss" in capsys.readouterr().out


def test_the_search_of_alphazero_in_one_file_finds_a_win_and_a_block(alphazero: ModuleType) -> None:
    import numpy as np

    boards = np.zeros((2, alphazero.AREA), np.int8)
    boards[0, [8, 14, 20]] = 1  # three own stones in a column: 2 and 26 win
    boards[0, [0, 5, 35]] = -1
    x, y = np.arange(alphazero.AREA) % alphazero.SIZE, np.arange(alphazero.AREA) // alphazero.SIZE
    boards[1] = np.where((x + 2 * y) % 4 < 2, 1, -1)  # no three in a row anywhere
    boards[1, [0, 1, 2, 3]] = [1, -1, -1, -1]  # the opponent wins at 4
    boards[1, [4, 5, 20, 27, 35]] = 0
    visits = alphazero.search(alphazero.Network().eval(), boards, 150)
    assert visits[0].argmax() in (2, 26)
    assert visits[1].argmax() == 4


def test_the_rules_of_alphazero_in_one_file_are_those_of_tengen(alphazero: ModuleType) -> None:
    import numpy as np

    from tengen.core.position import Position

    rng = np.random.default_rng(3)
    for _ in range(30):
        position, board = Position.start(alphazero.RULES), np.zeros((1, alphazero.AREA), np.int8)
        won = full = np.array([False])
        while not (won | full):
            move = int(rng.choice(np.flatnonzero(board[0] == 0)))
            position = position.play(move)
            board, won, full = alphazero.play(board, np.array([move]))
            assert (bool(won[0]), bool(full[0])) == (bool(position.winning_line), position.outcome.value == "draw")
