"""Finding networks by name, folder and file, and refusing what cannot be used."""

from __future__ import annotations

import subprocess
import sys
from pathlib import Path

import numpy as np
import pytest

from tengen.core.contracts import Ruleset
from tengen.core.planes import encode_batch
from tengen.errors import InputError, RulesetError
from tengen.learning.shipping import MAX_INT8_DIVERGENCE, MAX_INT8_VALUE_DIFFERENCE
from tengen.nets.architectures import NetConfig, NetKind, build_net, save_net
from tengen.nets.export import export_onnx, quantise
from tengen.nets.models import find_model, load_evaluator, load_model, model_names, read_card
from tests.nets.positions import played_positions, random_planes

NINE = Ruleset.parse("9x9")


@pytest.fixture
def folder(tmp_path: Path) -> Path:
    """A folder as a training run and a shipped model have it."""
    net = build_net(NetConfig(kind=NetKind.PLAIN), NINE)
    model = export_onnx(net, NINE)
    (tmp_path / "model.onnx").write_bytes(model)
    (tmp_path / "model-int8.onnx").write_bytes(quantise(model, random_planes(NINE, 64, net.config.planes)))
    save_net(tmp_path / "model.safetensors", net, NINE)
    return tmp_path


def test_folder_file_backend_and_precision_name_the_same_network(folder: Path) -> None:
    planes = random_planes(NINE, 20, "own-other-last-colour")
    by_folder, info = load_model(folder)
    policy, value = by_folder.evaluate(planes)
    assert (info.ruleset, info.plane_layout, len(info.sha256)) == (NINE, "own-other-last-colour", 64)
    for other in (load_evaluator(folder / "model.onnx"), load_evaluator(folder, backend="torch")):
        assert np.allclose(other.evaluate(planes)[0], policy, atol=1e-4)
    assert np.abs(load_evaluator(folder, precision="int8").evaluate(planes)[1] - value).max() < 0.05


def test_unknown_names_are_refused_with_the_known_ones() -> None:
    with pytest.raises(InputError, match=r"'nine' is neither a folder, nor an .onnx file, nor a shipped model"):
        load_evaluator("nine")
    with pytest.raises(InputError, match=r"unknown precision 'int4' .known: fp32, int8."):
        load_evaluator("nine", precision="int4")
    with pytest.raises(InputError, match=r"network file missing.onnx does not exist"):
        load_evaluator("missing.onnx")


def test_every_damaged_byte_and_every_cut_is_noticed(folder: Path) -> None:
    path = folder / "model.onnx"
    good = path.read_bytes()
    for place in (0, 100, len(good) // 2, len(good) - 200, len(good) - 1):
        path.write_bytes(good[:place] + bytes([good[place] ^ 1]) + good[place + 1 :])
        with pytest.raises(InputError, match=r"is damaged"):
            load_evaluator(folder)
    for length in (0, 50, len(good) - 1):
        path.write_bytes(good[:length])
        with pytest.raises(InputError, match=r"is damaged, truncated"):
            load_evaluator(folder)


def test_a_network_says_which_rulesets_it_serves(folder: Path) -> None:
    info = load_model(folder)[1]
    info.check_supports(NINE)
    with pytest.raises(RulesetError, match=r"plays 9x9:5:freestyle, not 15x15:5:freestyle"):
        info.check_supports(Ruleset.parse("15x15"))
    with pytest.raises(RulesetError, match=r"not 9x9:5:renju"):
        info.check_supports(Ruleset.parse("9x9:5:renju"))
    with pytest.raises(RulesetError, match="trained for 5 in a row, not 4"):
        info.check_supports(Ruleset.parse("9x9:4"))


def test_playing_imports_no_torch(folder: Path) -> None:
    code = (
        "import sys; from tengen.nets.models import load_evaluator;"
        f"load_evaluator({str(folder)!r}); print(sorted({{'torch', 'onnx', 'safetensors'}} & sys.modules.keys()))"
    )
    done = subprocess.run([sys.executable, "-c", code], capture_output=True, text=True, check=True)
    assert done.stdout.strip() == "[]"


def test_a_renamed_model_is_still_found_by_its_former_name() -> None:
    assert "pg9" not in model_names()
    assert find_model("pg9") == find_model("pg-9x9-paper")
    assert read_card("pg9")["name"] == "pg-9x9-paper"


@pytest.mark.parametrize("name", model_names())
def test_a_shipped_model_is_whole_and_says_the_same_in_torch_fp32_and_int8(name: str) -> None:
    """On a thousand positions of played games, in the tolerances that docs/how/alphazero.md states."""
    evaluator, info = load_model(name)
    card = read_card(name)
    assert card["sha256"] == info.sha256
    planes = np.ascontiguousarray(encode_batch(played_positions(info.ruleset, 1000), info.plane_layout))
    policy, value = evaluator.evaluate(planes)
    tolerances = {"torch": (1e-6, 1e-6)}
    answers = {"torch": load_evaluator(name, backend="torch").evaluate(planes)}
    if card.get("int8", True):
        tolerances["int8"] = (MAX_INT8_DIVERGENCE, MAX_INT8_VALUE_DIFFERENCE)
        answers["int8"] = load_evaluator(name, precision="int8").evaluate(planes)
    for form, (its_policy, its_value) in answers.items():
        divergence = (np.exp(policy.astype(np.float64)) * (policy - its_policy)).sum(axis=1).mean()
        assert abs(divergence) < tolerances[form][0], form
        assert np.abs(its_value - value).mean() < tolerances[form][1], form
        assert (its_policy.argmax(axis=1) == policy.argmax(axis=1)).mean() > 0.8, form
