"""Replays recorded sessions against a `tengen brain` process: `>` lines are sent, `<` lines are expected.

In an expected line, `X,Y` matches any free square, `*` matches any text, and `|` separates alternatives. MESSAGE, DEBUG
and INFO lines are ignored unless one is expected. `{move}` stands for the brain's last move.
"""

from __future__ import annotations

import re
import sys
import time
from pathlib import Path

import psutil
import pytest

from tengen.agents.alphabeta import _MEMORY_WITHOUT_TABLE
from tests.protocols.harness import PATIENCE_S, BrainProcess

FOLDER = Path(__file__).parent / "transcripts"
BRAIN = [sys.executable, "-m", "tengen.cli", "brain"]


class Replay:
    """Replays a transcript and keeps track of the stones."""

    def __init__(self, brain: BrainProcess) -> None:
        self.brain = brain
        self.stones: set[str] = set()
        self.move = ""

    def send(self, line: str) -> None:
        line = line.replace("{move}", self.move)
        word = line.split()[0].upper()
        if word.endswith(("START", "BOARD")):
            self.stones.clear()
        if word == "TAKEBACK":
            self.stones.discard(line.split()[1])
        elif word != "INFO":
            self.stones.update(re.findall(r"\b\d+,\d+", line))
        self.brain.send(line)

    def expect(self, pattern: str) -> None:
        expects_message = pattern.startswith(("MESSAGE", "INFO"))
        while True:
            line = self.brain.line()
            if any(matches(line, choice) for choice in pattern.split("|")):
                break
            assert expects_message or line.startswith(("MESSAGE", "DEBUG", "INFO")), f"{line!r} came, not {pattern!r}"
        if pattern.endswith("X,Y") and line != "SWAP":
            for square in line.split():
                assert square not in self.stones, f"{square} was taken"
                self.stones.add(square)
                self.move = square


def matches(line: str, pattern: str) -> bool:
    regex = re.escape(pattern).replace(r"\*", ".*").replace("X,Y", r"\d+,\d+")
    return re.fullmatch(regex, line) is not None


TRANSCRIPTS = sorted(path.stem for path in FOLDER.glob("*.txt"))


@pytest.mark.parametrize(
    ("name", "agent"),
    [*((name, "naive:level=3") for name in TRANSCRIPTS), ("gomocup", "alphabeta"), ("yixin_board", "alphabeta")],
)
def test_transcript(name: str, agent: str) -> None:
    with BrainProcess([*BRAIN, "--agent", agent]) as brain:
        replay = Replay(brain)
        for line in (FOLDER / f"{name}.txt").read_text().splitlines():
            if line.startswith(">"):
                replay.send(line[2:])
            elif line.startswith("<"):
                replay.expect(line[2:])
        after, errors = brain.leave()
    assert after == []
    assert errors == b""
    assert brain.process.returncode == 0


@pytest.mark.parametrize("ending", ["END", "EOF"])
def test_the_end_while_thinking(ending: str) -> None:
    with BrainProcess([*BRAIN, "--agent", "alphabeta"]) as brain:
        brain.send("START 15\nINFO timeout_turn 3600000\nINFO show_detail 2\nBOARD 7,7,1 8,8,2 DONE")
        while not brain.line().startswith("INFO PV"):
            pass
        started = time.monotonic()
        if ending == "END":
            brain.send("END")
        else:
            brain.close_input()
        lines, errors = brain.leave()
        elapsed = time.monotonic() - started
    assert all(line.startswith("INFO") for line in lines)  # analysis that was already being sent, but no move
    assert errors == b""
    assert brain.process.returncode == 0
    assert elapsed < PATIENCE_S / 3  # half a second on an idle machine, as the protocol requires


def test_the_log_has_both_sides(tmp_path: Path) -> None:
    log = tmp_path / "brain.log"
    with BrainProcess([*BRAIN, "--agent", "random", "--log", str(log)]) as brain:
        assert brain.ask("START 15") == "OK"
        brain.send("END")
        brain.leave()
    lines = [line.split(" ", 2)[2] for line in log.read_text().splitlines()]
    assert lines == ["-> START 15", "<- OK", "-> END"]


def test_an_unknown_agent_is_reported_on_stderr() -> None:
    with BrainProcess([*BRAIN, "--agent", "nobody"]) as brain:
        lines, errors = brain.leave()
    assert lines == []
    assert b"unknown agent 'nobody'" in errors
    assert brain.process.returncode == 2


def test_the_installed_program() -> None:
    with BrainProcess(
        [str(Path(sys.executable).parent / "pbrain-tengen"), "--agent", "random", "--force-utf8"]
    ) as brain:
        assert brain.ask("ABOUT").startswith('name="Tengen"')
        brain.send("END")
        assert brain.leave() == ([], b"")


def test_the_engine_needs_little_memory_apart_from_its_table() -> None:
    with BrainProcess([*BRAIN, "--agent", "alphabeta:hash-mb=1"]) as brain:
        assert brain.ask("START 20") == "OK"
        brain.send("INFO max_node 50000\nINFO timeout_turn 3600000")
        for rule in (0, 1, 4, 8):
            brain.send(f"INFO rule {rule}\nYXBOARD 9,9,2 10,10,1 11,9,2 DONE\nYXNBEST 3")
            brain.answer()
        resident = psutil.Process(brain.process.pid).memory_info().rss
        brain.send("END")
        brain.leave()
    assert resident < _MEMORY_WITHOUT_TABLE
