"""`tengen check`: finds damage in everything Tengen writes, and reports what can be recovered."""

from __future__ import annotations

import json
import shutil
import sqlite3
from contextlib import closing
from pathlib import Path

import numpy as np
import pytest
from typer.testing import CliRunner

from tengen.arena.store import GameStore
from tengen.cli import app
from tengen.core.contracts import Ruleset
from tengen.core.shipped import shipped_folder
from tengen.datasets.build import BuildConfig, build_dataset
from tengen.errors import InputError
from tests.arena.test_store import fill
from tests.datasets.test_build import random_games, write_games
from tests.endurance.training_faults import begin, go


def check(*paths: Path) -> tuple[int, list[str]]:
    done = CliRunner().invoke(app, ["check", *map(str, paths)])
    if done.exception is not None and not isinstance(done.exception, SystemExit):
        raise done.exception
    return done.exit_code, done.stdout.splitlines()


@pytest.fixture(scope="module")
def laboratory(tmp_path_factory: pytest.TempPathFactory) -> Path:
    """A folder with an item of each kind."""
    folder = tmp_path_factory.mktemp("laboratory")
    begin(folder / "runs" / "one")
    go(folder / "runs" / "one")
    write_games(folder / "games.jsonl", random_games(12))
    build_dataset([folder / "games.jsonl"], folder / "set", BuildConfig(ruleset=Ruleset(9, 9)))
    with GameStore(folder / "cup.db") as store:
        fill(store, 30)
    models = shipped_folder("models")
    shutil.copytree(models / "6x6x4", folder / "models" / "6x6x4")
    shutil.copytree(models / "adp", folder / "models" / "adp")
    shutil.copy(shipped_folder("data") / "puzzles" / "renju15.jsonl", folder / "puzzles.jsonl")
    (folder / "notes.txt").write_text("not a game")
    return folder


def copy(laboratory: Path, tmp_path: Path) -> Path:
    return Path(shutil.copytree(laboratory, tmp_path / "copy"))


def test_every_item_of_an_intact_folder_gets_one_line(laboratory: Path) -> None:
    code, lines = check(laboratory)
    assert code == 0, lines
    names = {
        "cup.db": "game store; 30 games",
        "games.jsonl": "game file; 12 games",
        "models/6x6x4/model-int8.onnx": "network; 6x6:4:freestyle, int8",
        "models/6x6x4/model.onnx": "network; 6x6:4:freestyle, fp32",
        "models/6x6x4/model.safetensors": "weights; 24 tensors",
        "models/adp/critic.safetensors": "critic; 15x15:5:freestyle",
        "puzzles.jsonl": "puzzles; 205 puzzles",
        "runs/one": "training run; 2 iterations; checkpoints 1, 2",
    }
    for name, text in names.items():
        assert f"ok       {laboratory / name}: {text}" in lines
    assert any(line.startswith(f"ok       {laboratory / 'set'}: data set; ") for line in lines)
    assert lines[-1] == f"{len(names) + 1} checked, 0 damaged"


def flip(path: Path, place: int) -> None:
    data = bytearray(path.read_bytes())
    data[place] ^= 1
    path.write_bytes(bytes(data))


@pytest.mark.parametrize(
    ("name", "item", "words"),
    [
        ("runs/one/checkpoints/000002/weights.safetensors", "runs/one", "--resume continues after iteration 1"),
        ("runs/one/replay/000002.npz", "runs/one", "000002.npz is damaged: its sha256"),
        ("runs/one/replay/000001.npz", "runs/one", "--init-from"),
        ("runs/one/model.onnx", "runs/one", "model.onnx is damaged"),
        ("set/moves.npy", "set", "build it again with `tengen data build`"),
        ("set/samples.npy", "set", "samples.npy"),
        ("models/6x6x4/model.onnx", "models/6x6x4/model.onnx", "its sha256 is"),
    ],
)
def test_a_flipped_bit_is_found(laboratory: Path, tmp_path: Path, name: str, item: str, words: str) -> None:
    folder = copy(laboratory, tmp_path)
    flip(folder / name, -100 if "models" in name else -3)
    code, lines = check(folder)
    assert code == 1
    damaged = [line for line in lines if line.startswith("damaged ")]
    assert [line.partition(": ")[0] for line in damaged] == [f"damaged  {folder / item}"]
    assert words in damaged[0]
    assert lines[-1].endswith("checked, 1 damaged")


def test_a_store_with_unreadable_games_says_how_many_are_left(laboratory: Path, tmp_path: Path) -> None:
    folder = copy(laboratory, tmp_path)
    with closing(sqlite3.connect(folder / "cup.db")) as database:
        database.execute("UPDATE games SET moves = 'z99' WHERE number < 3")
        database.commit()
    code, lines = check(folder / "cup.db")
    assert code == 1
    shown = f"damaged  {folder / 'cup.db'}: game store; 3 games cannot be read; 27 of 30 games can be read"
    assert lines == [shown, "1 checked, 1 damaged"]
    (folder / "cup.db").write_bytes((folder / "cup.db").read_bytes()[:1000] + b"\xff" * 9000)
    assert check(folder / "cup.db")[0] == 1


def test_damaged_lines_are_counted(laboratory: Path, tmp_path: Path) -> None:
    folder = copy(laboratory, tmp_path)
    for name in ("puzzles.jsonl", "games.jsonl", "runs/one/metrics.jsonl"):
        path = folder / name
        first, *rest = path.read_text().splitlines()
        path.write_text("\n".join([first, "{", *rest]) + "\n")
    (folder / "engine.jsonl").write_text(
        json.dumps(
            {"game": 0, "ruleset": "9x9:5:freestyle", "first": 0, "moves": "e5", "values": [1], "outcome": "draw"}
        )
        + '\n{"game": 1}\n'
    )
    code, lines = check(folder)
    assert code == 1
    damaged = {line.partition(": ")[0].split()[1]: line for line in lines if line.startswith("damaged ")}
    assert "205 puzzles can be read" in damaged[str(folder / "puzzles.jsonl")]
    assert "12 games can be read" in damaged[str(folder / "games.jsonl")]
    assert "1 games before that line can be read" in damaged[str(folder / "engine.jsonl")]
    assert "1 damaged line skipped" in damaged[str(folder / "runs" / "one")]


def test_engine_weights_and_other_databases_are_checked(tmp_path: Path) -> None:
    np.savez(tmp_path / "weights.npz", points=np.zeros(3, np.int16))
    with closing(sqlite3.connect(tmp_path / "other.db")) as database:
        database.execute("CREATE TABLE t (x)")
        database.commit()
    code, lines = check(tmp_path)
    assert code == 1
    assert f"ok       {tmp_path / 'other.db'}: database" in lines
    assert any(line.startswith(f"damaged  {tmp_path / 'weights.npz'}: engine weights; ") for line in lines)


def test_a_run_without_checksums_is_checked_as_far_as_possible(laboratory: Path, tmp_path: Path) -> None:
    folder = copy(laboratory, tmp_path)
    for manifest in folder.rglob("manifest"):
        manifest.unlink()
    code, lines = check(folder / "runs")
    assert code == 0
    assert "2 checkpoints without checksums, so only their structure was checked" in lines[0]
    (folder / "runs" / "one" / "config.toml").write_text("[run")
    code, lines = check(folder / "runs")
    assert code == 1


def test_what_cannot_be_checked_is_an_error(tmp_path: Path) -> None:
    with pytest.raises(InputError, match="does not exist"):
        check(tmp_path / "nothing")
    (tmp_path / "notes.md").write_text("")
    with pytest.raises(InputError, match=r"notes\.md is not a file that can be checked"):
        check(tmp_path / "notes.md")
    with pytest.raises(InputError, match="nothing to check"):
        check(tmp_path)
