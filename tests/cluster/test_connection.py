from __future__ import annotations

import socket
import subprocess
import sys
from pathlib import Path

import pytest
from typer.testing import CliRunner

from tengen.cli import app
from tengen.cluster.connection import On, connected
from tengen.errors import InputError, RunError


@pytest.mark.parametrize(
    ("text", "on"),
    [("local", On()), ("ray", On(True)), ("ray=auto", On(True, "auto")), ("ray=a:1", On(True, "a:1"))],
)
def test_places_are_read(text: str, on: On) -> None:
    assert On.parse(text) == on


@pytest.mark.parametrize("text", ["", "Ray", "ray=", "local=3", "spark", "ray:6379"])
def test_other_places_are_refused(text: str) -> None:
    with pytest.raises(InputError, match=r"unknown value .* for --on; use local, ray or ray=ADDRESS"):
        On.parse(text)


def test_ray_client_is_refused_with_what_to_do_instead() -> None:
    with pytest.raises(InputError, match="Ray Client is not supported; run this command on a node of the cluster"):
        On.parse("ray=ray://head:10001")


def test_an_address_where_nobody_listens_is_refused_at_once() -> None:
    with socket.socket() as taken:
        taken.bind(("127.0.0.1", 0))  # bound, but not listening
        address = f"127.0.0.1:{taken.getsockname()[1]}"
        with (
            pytest.raises(
                RunError, match=rf"cannot connect to Ray at {address} .*: start the head node with `ray start"
            ),
            connected(On.parse(f"ray={address}")),
        ):
            pass


TRAIN = ["train", "alphazero", "--preset", "6x6x4", "--set", "iterations=1", "--set", "self_play.games=2", "--quiet"]
WITHOUT_RAY = """
import sys
sys.modules["ray"] = None  # as if it were not installed
sys.argv = ["tengen", *sys.argv[1:]]
from tengen.cli import main
main()
"""


def run_without_ray(*arguments: str) -> subprocess.CompletedProcess[str]:
    command = [sys.executable, "-c", WITHOUT_RAY, *arguments]
    return subprocess.run(command, capture_output=True, text=True, check=False, timeout=300)


@pytest.mark.parametrize(
    "command",
    [
        ["match", "random", "naive:level=1", "--rules", "9x9", "--games", "2", "--quiet"],
        ["data", "generate", "games.jsonl", "--rules", "9x9", "--games", "2", "--nodes", "20", "--workers", "1"],
        [*TRAIN, "--set", "self_play.parallel=2", "--set", "search.simulations=2", "--set", "strength.every=0"],
    ],
    ids=lambda command: command[0],
)
def test_without_ray_everything_works_but_on_ray(
    command: list[str], tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.chdir(tmp_path)
    refused = run_without_ray(*command, "--on", "ray")
    assert refused.returncode == 2
    assert refused.stderr.splitlines()[-1] == "tengen: --on ray needs ray: pip install 'tengen[cluster]'"
    done = run_without_ray(*command)
    assert done.returncode == 0, done.stderr


def test_only_alphazero_trains_on_a_cluster() -> None:
    done = CliRunner().invoke(app, ["train", "ppo", "--preset", "9x9", "--on", "ray"])
    assert isinstance(done.exception, InputError)
    assert str(done.exception) == (
        "--on ray, --workers and --device apply only to alphazero; ppo trains in one process on the CPU"
    )


def test_a_device_that_is_not_there_is_one_sentence(tmp_path: Path) -> None:
    arguments = ["train", "alphazero", "--preset", "6x6x4", "--run", str(tmp_path / "run"), "--device", "mps"]
    done = CliRunner().invoke(app, arguments)
    assert isinstance(done.exception, InputError)
    assert str(done.exception).startswith("device mps is not available to torch ")
    assert not (tmp_path / "run").exists()


def test_several_learners_need_a_cluster(tmp_path: Path) -> None:
    arguments = ["train", "alphazero", "--preset", "6x6x4", "--run", str(tmp_path / "run"), "--set", "learners=2"]
    done = CliRunner().invoke(app, arguments)
    assert isinstance(done.exception, InputError)
    assert str(done.exception) == "learners = 2 needs a cluster: use --on ray"
