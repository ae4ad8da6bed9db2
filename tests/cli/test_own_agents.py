"""Somebody's player in a file, wherever the command line names a player; worker processes load it too."""

from __future__ import annotations

import json
import subprocess
import sys
from pathlib import Path

import pytest
from typer.testing import CliRunner

from tengen.cli import app
from tengen.errors import AgentError, AgentNameError, InputError
from tengen.learning.run import RunReader
from tests.conftest import ROOT

MYBOT = f"{ROOT / 'examples' / 'mybot.py'}:MyBot"


def run(*arguments: str, typed: str = ""):
    return CliRunner().invoke(app, list(arguments), input=typed, env={"COLUMNS": "200"})


def test_match_in_two_worker_processes(tmp_path: Path) -> None:
    written = tmp_path / "match.json"
    result = run("match", f"{MYBOT}:seed=1", "random", "--rules", "9x9", "--games", "4", "--concurrency", "2",
                 "--quiet", "--json", str(written))  # fmt: skip
    assert result.exit_code == 0, result.exception
    found = json.loads(written.read_text())
    assert found["wins"] == 4


def test_tournament_file(tmp_path: Path) -> None:
    (tmp_path / "cup.toml").write_text(
        f'rules = ["9x9"]\nplayers = ["random", {json.dumps(MYBOT)}]\nrounds = 1\n', encoding="utf-8"
    )
    result = run("tournament", str(tmp_path / "cup.toml"), "--quiet")
    assert result.exit_code == 0, result.exception
    assert "MyBot" in result.stdout


def test_play_analyse_and_agents() -> None:
    played = run("play", "--black", MYBOT, "--white", "random", "--rules", "9x9", "--seed", "1")
    assert played.exit_code == 0, played.exception
    assert "black" in played.stdout
    listed = run("agents", MYBOT)
    assert "Makes a five, blocks a five" in listed.stdout
    assert "seed = 0 (int)" in listed.stdout


def test_brain_ignores_what_the_file_prints(tmp_path: Path) -> None:
    bot = tmp_path / "talkative.py"
    bot.write_text("print('hello')\ndef corner(position):\n    print('thinking')\n    return 0\n", encoding="utf-8")
    command = [sys.executable, "-m", "tengen", "brain", "--agent", f"{bot}:corner"]
    with subprocess.Popen(command, stdin=subprocess.PIPE, stdout=subprocess.PIPE, text=True) as brain:
        assert brain.stdin is not None
        assert brain.stdout is not None
        brain.stdin.write("START 15\nBEGIN\n")
        brain.stdin.flush()
        assert [brain.stdout.readline(), brain.stdout.readline()] == ["OK\n", "0,14\n"]
        brain.stdin.write("END\n")


@pytest.mark.parametrize(
    ("content", "name", "message"),
    [
        (None, ":MyBot", "no such file"),
        ("class MyBot: pass", ":YourBot", "has no 'YourBot'"),
        ("import nonexistent_module", ":MyBot", "ModuleNotFoundError: No module named 'nonexistent_module'"),
        ("class MyBot: pass", ":MyBot", "is not a subclass of tengen.Agent"),
        ("import tengen\nclass MyBot(tengen.Agent):\n def __init__(self): 1/0\n def choose(self, p, l): 0", ":MyBot",
         "cannot be created: line 3 of bot.py: ZeroDivisionError: division by zero"),
    ],
)  # fmt: skip
def test_mistakes_are_one_line(tmp_path: Path, content: str | None, name: str, message: str) -> None:
    bot = tmp_path / "bot.py"
    if content is not None:
        bot.write_text(content, encoding="utf-8")
    for command in (("match", f"{bot}{name}", "random", "--quiet"), ("play", f"{bot}{name}")):
        result = run(*command)
        assert isinstance(result.exception, (AgentError, AgentNameError)), result.exception
        assert message in str(result.exception)
        assert "\n" not in str(result.exception)


LEARNER = """
from dataclasses import dataclass
from tengen.learning.learner import restore_weights, weights_of
from tengen.learning.run.loop import Loop, NetLoopConfig, initial_net

@dataclass(frozen=True, slots=True, kw_only=True)
class Config(NetLoopConfig):
    '''Settings.'''

def train(run, progress):
    config = run.config(Config)
    with Loop(run, config, progress) as loop:
        net = initial_net(config, run, progress)
        loop.resume(lambda checkpoint: restore_weights(net, checkpoint.tensors, "weights"))
        while not loop.is_done:
            loop.publish(net)
            loop.end_iteration({"losses": {"none": 0.0}}, "nothing", tensors={"weights": weights_of(net)})
"""
NETWORK = """
from torch import nn
from tengen.core.planes import plane_count
from tengen.nets.architectures import Net, NetOutput

class MyNet(Net):
    def __init__(self, config, ruleset):
        super().__init__(config)
        self.policy = nn.Conv2d(plane_count(config.planes), 1, 3, padding=1)
        self.value = nn.Linear(ruleset.area, 1)

    def forward(self, planes):
        logits = self.policy(planes).flatten(1)
        return NetOutput(logits, self.value(logits).squeeze(1).tanh())
"""


def test_own_learners_and_networks(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.chdir(tmp_path)
    Path("learn.py").write_text(LEARNER, encoding="utf-8")
    Path("net.py").write_text(NETWORK, encoding="utf-8")
    settings = ("--set", "ruleset=6x6:4", "--set", "net.kind=./net.py:MyNet", "--set", "strength.games=2",
                "--set", "strength.simulations=2", "--set", "strength.opponents=['random', 'rule-based']")  # fmt: skip
    begun = run("train", "./learn.py", *settings, "--set", "iterations=1", "--quiet")
    assert begun.exit_code == 0, begun.exception
    folder = Path("runs/learn")
    assert (folder / "model.onnx").exists()
    assert RunReader.open(folder).metrics()[-1]["strength"]["scores"].keys() == {"random", "rule-based"}

    resumed = ("train", "./learn.py", "--resume", "--set", "iterations=2", "--quiet")
    refused = run(*resumed)
    assert isinstance(refused.exception, InputError)
    assert "defined in the file ./net.py:MyNet, whose code is run only if you name it" in str(refused.exception)
    resumed_run = run(*resumed, "--set", "net.kind=./net.py:MyNet")
    assert resumed_run.exit_code == 0, resumed_run.exception
    assert RunReader.open(folder).metrics()[-1]["iteration"] == 2

    # A weights file does not run the code that it names.
    played = run("match", f"policy:run={folder},backend=torch", "random", "--rules", "6x6:4", "--games", "2", "--quiet")
    assert "defined in the file ./net.py:MyNet" in str(played.exception)
    transferred = run("train", "./learn.py", *settings, "--set", "iterations=1", "--set", "strength.every=0",
                      "--init-from", str(folder), "--run", "other")  # fmt: skip
    assert transferred.exit_code == 0, transferred.exception
    assert "starting with all weights" in transferred.stdout
