"""Checksums of checkpoints: whatever does not verify or cannot be restored falls back to the checkpoint before."""

from __future__ import annotations

import hashlib
import json
import random
from collections.abc import Callable
from pathlib import Path
from shutil import copytree

import numpy as np
import pytest
import torch
from safetensors.torch import load_file, save_file

from tengen.errors import InputError
from tengen.learning.run import Checkpoint, Run, RunHeader
from tengen.learning.run.manifest import format_manifest, parse_manifest
from tests.endurance.training_faults import Training, go
from tests.learning.run.test_folder import Config
from tests.learning.run_helpers import fingerprint


def make_run(folder: Path) -> Run:
    run = Run.create(folder, RunHeader(algorithm="test"), Config())
    for iteration in (1, 2):
        weights = {"a": torch.full((40,), float(iteration)), "b": torch.arange(10)}
        arrays = {"games": np.arange(50, dtype=np.int16)}
        run.save_checkpoint(Checkpoint(iteration, {"weights": weights}, {"games": 10 * iteration}, arrays))
    return run


def load(run: Run) -> tuple[int, list[str]]:
    heard: list[str] = []
    found = run.load_checkpoint(heard.append, ["games"])
    assert found is not None
    return found.iteration, heard


def test_the_manifest_of_a_checkpoint_has_the_checksums_of_all_its_files(tmp_path: Path) -> None:
    make_run(tmp_path)
    folder = tmp_path / "checkpoints" / "000002"
    lines = (folder / "manifest").read_text().splitlines()
    for line in lines[:-1]:
        checksum, _, name = line.partition("  ")
        assert hashlib.sha256((tmp_path / name).read_bytes()).hexdigest() == checksum
    names = {line.partition("  ")[2] for line in lines[:-1]}
    assert names == {f"checkpoints/000002/{path.name}" for path in folder.iterdir()} - {"checkpoints/000002/manifest"}
    assert lines[-1].startswith("# ")  # `sha256sum --check` ignores it


def test_no_change_of_a_single_byte_is_accepted(tmp_path: Path) -> None:
    """Before, more than a quarter of the changes in tensor files went unnoticed."""
    run = make_run(tmp_path)
    assert load(run) == (2, [])
    rng = random.Random(1)
    for path in sorted((tmp_path / "checkpoints" / "000002").iterdir()):
        good = path.read_bytes()
        for _ in range(40):
            bad = bytearray(good)
            bad[rng.randrange(len(bad))] ^= 1 << rng.randrange(8)
            path.write_bytes(bytes(bad))
            iteration, heard = load(run)
            assert iteration == 1
            assert str(path) in heard[0]
            assert heard[0].endswith(": going back to iteration 1")
        path.write_bytes(good)
    assert load(run) == (2, [])


def test_a_manifest_with_one_changed_byte_is_refused() -> None:
    good = format_manifest({"checkpoints/000001/a": "0" * 64, "replay/000001.npz": "1" * 64})
    assert parse_manifest(good, "m") == {"checkpoints/000001/a": "0" * 64, "replay/000001.npz": "1" * 64}
    for place in range(len(good)):
        bad = bytearray(good)
        bad[place] ^= 1
        with pytest.raises(InputError, match="m does not match its own checksum"):
            parse_manifest(bytes(bad), "m")
    for length in range(len(good)):
        with pytest.raises(InputError, match="m does not match its own checksum"):
            parse_manifest(good[:length], "m")


def test_a_run_of_an_earlier_version_resumes_and_says_what_is_not_verified(tmp_path: Path) -> None:
    run = make_run(tmp_path)
    for manifest in tmp_path.rglob("manifest"):
        manifest.unlink()
    iteration, heard = load(run)
    assert iteration == 2
    folder = tmp_path / "checkpoints" / "000002"
    assert heard == [f"{folder} has no manifest, so its files and positions were not verified by checksums"]


# -- runs of earlier versions, whose damage is found when they are restored -------------------------------------------


def drop_tensor(folder: Path) -> None:
    tensors = load_file(folder / "weights.safetensors")
    del tensors["stem.weight"]
    save_file(tensors, folder / "weights.safetensors")


def bend_tensor(folder: Path) -> None:
    tensors = load_file(folder / "average.safetensors")
    tensors["stem.bias"] = tensors["stem.bias"][:-1].clone()
    save_file(tensors, folder / "average.safetensors")


def drop_file(folder: Path) -> None:
    (folder / "actor.safetensors").unlink()


def foreign_optimizer(folder: Path) -> None:
    """The state of RMSprop in place of AdamW's."""
    tensors = load_file(folder / "optimizer.safetensors")
    renamed = {name.replace("exp_avg_sq", "square_avg"): tensor for name, tensor in tensors.items()}
    save_file(
        {name: tensor for name, tensor in renamed.items() if "exp_avg" not in name}, folder / "optimizer.safetensors"
    )


def unknown_parameter(folder: Path) -> None:
    tensors = load_file(folder / "optimizer.safetensors")
    tensors["9999.exp_avg"] = torch.zeros(3)
    save_file(tensors, folder / "optimizer.safetensors")


def deep_state(folder: Path) -> None:
    (folder / "state.json").write_text('{"games":' + "[" * 100_000)


def wordy_state(folder: Path) -> None:
    state = json.loads((folder / "state.json").read_text())
    (folder / "state.json").write_text(json.dumps({**state, "steps": "many"}))


def endless_state(folder: Path) -> None:
    state = (folder / "state.json").read_text()
    (folder / "state.json").write_text(state.replace('"positions": ', '"positions": 1' + "0" * 400))


def flip_zip_flag(folder: Path) -> None:
    data = bytearray((folder / "arrays.npz").read_bytes())
    data[data.index(b"PK\x01\x02") + 8] |= 1  # encrypted
    (folder / "arrays.npz").write_bytes(bytes(data))


def off_board_reply(folder: Path) -> None:
    path = folder.parent.parent / "replay" / "000002.npz"
    with np.load(path) as file:
        arrays = dict(file)
    arrays["reply"][0] = 999
    np.savez_compressed(path, **arrays)


@pytest.fixture(scope="module")
def training(tmp_path_factory: pytest.TempPathFactory) -> Training:
    return Training(tmp_path_factory.mktemp("training"))


DAMAGE: dict[Callable[[Path], None], str] = {
    drop_tensor: "weights.safetensors lacks 'stem.weight'",
    bend_tensor: "stem.bias in average.safetensors has shape (7,)",
    drop_file: "actor.safetensors is missing",
    foreign_optimizer: "optimizer.safetensors was not saved by AdamW",
    unknown_parameter: "it has '9999.exp_avg' with shape (3,)",
    deep_state: "state.json is damaged: its values are nested too deeply",
    wordy_state: "state.json is damaged: steps is 'many', not a number",
    endless_state: "state.json is damaged: positions is",
    flip_zip_flag: "arrays.npz is damaged",
    off_board_reply: "000002.npz is damaged: reply has values outside the range -1 to 15",
}


@pytest.mark.parametrize("damage", DAMAGE, ids=lambda damage: damage.__name__)
def test_what_cannot_be_restored_falls_back_and_the_run_ends_as_before(
    training: Training, damage: Callable[[Path], None]
) -> None:
    folder = training.copy(damage.__name__, whole=True)
    for manifest in folder.rglob("manifest"):
        manifest.unlink()
    damage(folder / "checkpoints" / "000002")
    said = go(folder)
    assert DAMAGE[damage] in said
    assert "going back to iteration 1\n" in said
    assert fingerprint(folder) == training.result


def test_a_shard_with_one_changed_byte_is_noticed(training: Training) -> None:
    folder = training.copy("shard", whole=True)
    shard = folder / "replay" / "000002.npz"
    data = bytearray(shard.read_bytes())
    data[10] ^= 1  # the time of the first member, which nothing reads
    shard.write_bytes(bytes(data))
    said = go(folder)
    assert f"{shard} is damaged: its sha256 is" in said
    assert fingerprint(folder) == training.result


def test_a_copied_checkpoint_is_not_taken_for_another_iteration(tmp_path: Path) -> None:
    run = make_run(tmp_path)
    copytree(tmp_path / "checkpoints" / "000002", tmp_path / "checkpoints" / "000003")
    iteration, heard = load(run)
    assert iteration == 2
    assert "is not in the manifest" in heard[0]


def test_a_damaged_line_of_metrics_is_reported_when_the_run_resumes(training: Training) -> None:
    folder = training.copy("metrics")
    lines = (folder / "metrics.jsonl").read_bytes()
    (folder / "metrics.jsonl").write_bytes(b"\x00\x00\n" + lines)
    assert "metrics.jsonl: 1 damaged line skipped" in go(folder)
    assert fingerprint(folder) == training.result
