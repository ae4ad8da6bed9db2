"""Networks in torch, as ONNX and as int8: shapes, agreement, symmetry of what they can learn, sizes, files."""

from __future__ import annotations

import errno
from pathlib import Path

import numpy as np
import onnx
import pytest
import torch
from torch import nn

from tengen.core.contracts import Ruleset
from tengen.core.planes import plane_count
from tengen.core.symmetry import symmetries, transform_array
from tengen.errors import InputError, RunError
from tengen.nets.architectures import (
    Net,
    NetConfig,
    NetKind,
    NetOutput,
    build_net,
    count_weights,
    load_net,
    save_net,
    transfer_weights,
)
from tengen.nets.evaluators import AveragedEvaluator, OnnxEvaluator, TorchEvaluator
from tengen.nets.export import export_onnx, quantise
from tests.nets.positions import random_planes

NINE = Ruleset.parse("9x9")
SMALL = Ruleset.parse("6x6:4")
CONFIGS = [
    NetConfig(kind=NetKind.PLAIN, planes="board"),
    NetConfig(kind=NetKind.PLAIN),
    NetConfig(kind=NetKind.RESIDUAL, channels=16, blocks=2),
    NetConfig(kind=NetKind.DENSE, planes="board", channels=500),
    NetConfig(kind=NetKind.DENSE_RESIGN, planes="board", channels=500),
    NetConfig(kind=NetKind.DENSE_VALUE, planes="board", channels=64),
    NetConfig(kind=NetKind.WIDE, channels=16, blocks=2),
    NetConfig(kind=NetKind.POOLED, planes="board"),
]


def named(config: NetConfig) -> str:
    return f"{config.kind}-{config.planes}"


@pytest.mark.parametrize("config", CONFIGS, ids=named)
def test_outputs_have_the_promised_shapes_and_ranges(config: NetConfig) -> None:
    net = build_net(config, NINE)
    output = net(torch.from_numpy(random_planes(NINE, 5, config.planes)))
    assert output.policy_logits.shape == (5, 81)
    assert output.value_to_move.shape == (5,)
    assert output.value_to_move.abs().max() <= 1
    if config.kind is NetKind.RESIDUAL:
        shapes = [None if tensor is None else tuple(tensor.shape) for tensor in output[2:]]
        assert shapes == [(5, 3), (5, 81), (5, 81), None]


def test_plain_net_has_the_weights_of_the_paper() -> None:
    # 3×3 convolutions 4 → 32 → 64 → 128, heads 128 → 4 and 2 filters, dense 324 → 81, 162 → 64 → 1, all with biases.
    convolutions = (4 * 9 + 1) * 32 + (32 * 9 + 1) * 64 + (64 * 9 + 1) * 128 + 129 * 4 + 129 * 2
    dense = 325 * 81 + 163 * 64 + 65
    assert count_weights(build_net(NetConfig(kind=NetKind.PLAIN), NINE)) == convolutions + dense


@pytest.mark.parametrize("config", CONFIGS, ids=named)
def test_torch_onnx_and_int8_agree_on_a_thousand_positions(config: NetConfig) -> None:
    net = build_net(config, NINE, seed=3)
    with torch.no_grad():  # fresh heads say almost nothing: louder ones make disagreement visible
        for name, weight in net.named_parameters():
            if name.startswith(("policy_maps", "value.")):
                weight.mul_(10)
    planes = random_planes(NINE, 1000, config.planes)
    model = export_onnx(net, NINE)
    policy, value = TorchEvaluator(net).evaluate(planes)
    onnx_policy, onnx_value = OnnxEvaluator(model).evaluate(planes)
    assert np.abs(np.exp(onnx_policy).sum(axis=1) - 1).max() < 1e-5
    assert np.abs(onnx_policy - policy).max() < 1e-4
    assert np.abs(onnx_value - value).max() < 1e-5
    int8_policy, int8_value = OnnxEvaluator(quantise(model, planes[::4])).evaluate(planes)
    divergence = (np.exp(policy) * (policy - int8_policy)).sum(axis=1)
    assert divergence.mean() < 0.005
    assert np.abs(int8_value - value).mean() < 0.03
    assert np.ptp(policy) > 0.01, "a net that says the same about everything proves nothing"
    has_value = config.kind not in (NetKind.DENSE, NetKind.DENSE_RESIGN, NetKind.POOLED)
    assert not has_value or np.std(value) > 0.01, "a net that says the same about everything proves nothing"


def test_int8_without_room_for_temporary_files_is_a_sentence(monkeypatch: pytest.MonkeyPatch) -> None:
    def write_bytes(path: Path, data: bytes) -> int:
        raise OSError(errno.ENOSPC, "No space left on device")

    model = export_onnx(build_net(CONFIGS[0], NINE), NINE)
    monkeypatch.setattr(Path, "write_bytes", write_bytes)
    with pytest.raises(RunError, match=r"temporary files for int8: No space left on device; .* TMPDIR"):
        quantise(model, random_planes(NINE, 4, "board"))


def test_residual_net_plays_boards_of_any_size_with_the_same_weights() -> None:
    net = build_net(NetConfig(channels=8, blocks=1), NINE)
    evaluator = OnnxEvaluator(export_onnx(net, NINE))
    for rules in ("6x6:4", "15x15", "11x7"):
        ruleset = Ruleset.parse(rules)
        planes = random_planes(ruleset, 4, net.config.planes)
        policy, value = evaluator.evaluate(planes)
        assert policy.shape == (4, ruleset.area)
        assert np.allclose(policy, TorchEvaluator(net).evaluate(planes)[0], atol=1e-4)
        assert value.shape == (4,)


def test_same_seed_gives_the_same_weights_and_leaves_the_global_generator_alone() -> None:
    torch.manual_seed(5)
    before = torch.random.get_rng_state()
    one, same, other = (build_net(CONFIGS[2], NINE, seed=seed).state_dict()["stem.weight"] for seed in (1, 1, 2))
    assert torch.equal(torch.random.get_rng_state(), before)
    assert torch.equal(one, same)
    assert not torch.equal(one, other)


def test_weights_file_gives_back_the_network(tmp_path) -> None:
    for config in CONFIGS:
        net = build_net(config, NINE, seed=9)
        save_net(tmp_path / "net.safetensors", net, NINE)
        read, ruleset = load_net(tmp_path / "net.safetensors")
        assert ruleset == NINE
        assert read.config == config
        planes = torch.from_numpy(random_planes(NINE, 3, config.planes))
        assert torch.equal(read.eval()(planes).policy_logits, net.eval()(planes).policy_logits)


def test_damaged_weights_file_is_refused_by_name(tmp_path) -> None:
    path = tmp_path / "net.safetensors"
    save_net(path, build_net(CONFIGS[1], NINE), NINE)
    path.write_bytes(path.read_bytes()[:-100])
    with pytest.raises(InputError, match=r"net\.safetensors is damaged: its tensors occupy"):
        load_net(path)


def test_transfer_copies_convolutions_and_leaves_dense_layers_of_another_size() -> None:
    plain = NetConfig(kind=NetKind.PLAIN)
    source, target = build_net(plain, NINE, seed=1), build_net(plain, Ruleset.parse("15x15"), seed=2)
    left = transfer_weights(source, target)
    assert left == ["policy_points.weight", "policy_points.bias", "value_hidden.weight"]
    assert torch.equal(source.state_dict()["trunk.2.weight"], target.state_dict()["trunk.2.weight"])
    residual = CONFIGS[2]
    assert transfer_weights(build_net(residual, NINE, seed=1), build_net(residual, SMALL, seed=2)) == []


def test_onnx_file_says_what_it_is_to_every_reader() -> None:
    model = onnx.load_from_string(export_onnx(build_net(CONFIGS[2], SMALL), SMALL, name="try"))
    onnx.checker.check_model(model, full_check=True)
    metadata = {entry.key: entry.value for entry in model.metadata_props}
    assert metadata["ruleset"] == "6x6:4:freestyle"
    assert metadata["planes"] == "own-other-last-colour"
    assert metadata["any_size"] == "yes"
    assert len(metadata["sha256"]) == 64
    assert "discount" not in metadata


@pytest.mark.parametrize("ruleset", [NINE, Ruleset.parse("7x11")], ids=str)
def test_the_average_turns_with_the_board_and_keeps_what_all_symmetries_agree_on(ruleset: Ruleset) -> None:
    plain = TorchEvaluator(build_net(CONFIGS[2], ruleset, seed=4))
    averaged = AveragedEvaluator(plain, ruleset)
    planes = random_planes(ruleset, 6, plain.plane_layout)
    shape = (6, ruleset.height, ruleset.width)
    log_policy, value = averaged.evaluate(planes)
    assert np.exp(log_policy).sum(axis=1) == pytest.approx(np.ones(6), abs=1e-5)
    assert np.abs(log_policy - plain.evaluate(planes)[0]).max() > 1e-3
    for symmetry in symmetries(ruleset):
        turned_policy, turned_value = averaged.evaluate(np.ascontiguousarray(transform_array(planes, symmetry)))
        assert turned_value == pytest.approx(value, abs=1e-5)
        turned = transform_array(log_policy.reshape(shape), symmetry).reshape(6, -1)
        assert turned_policy == pytest.approx(turned, abs=1e-4)
    empty = np.zeros_like(planes)
    means = [np.exp(plain.evaluate(empty)[0]).reshape(shape)]
    means += [transform_array(means[0], symmetry) for symmetry in symmetries(ruleset)[1:]]
    assert np.exp(averaged.evaluate(empty)[0]).reshape(shape) == pytest.approx(np.mean(means, axis=0), abs=1e-6)


class Own(Net):
    """A network as somebody else would write it."""

    def __init__(self, config: NetConfig, ruleset: Ruleset) -> None:
        super().__init__(config)
        self.trunk = nn.Conv2d(plane_count(config.planes), 4, 3, padding=1)
        self.policy = nn.Conv2d(4, 1, 1)
        self.value = nn.Linear(4 * (ruleset.height // 2) * (ruleset.width // 2), 1)

    def forward(self, planes: torch.Tensor) -> NetOutput:
        x = torch.relu(self.trunk(planes))
        value = self.value(nn.functional.max_pool2d(x, 2).flatten(1))
        return NetOutput(self.policy(x).flatten(1), value.squeeze(1).tanh())


class Sorting(Own):
    """A network with an operator that is not allowed in network files."""

    def forward(self, planes: torch.Tensor) -> NetOutput:
        output = super().forward(planes)
        return output._replace(policy_logits=output.policy_logits.sort(dim=1).values)


def test_a_network_of_somebody_else_is_traced() -> None:
    net = Own(NetConfig(), NINE)
    evaluator = OnnxEvaluator(export_onnx(net, NINE))
    planes = np.random.default_rng(1).random((3, plane_count(net.config.planes), 9, 9), dtype=np.float32)
    policy, value = evaluator.evaluate(planes)
    with torch.no_grad():
        output = net(torch.from_numpy(planes))
    np.testing.assert_allclose(policy, output.policy_logits.log_softmax(1), atol=1e-5)
    np.testing.assert_allclose(value, output.value_to_move, atol=1e-5)


def test_a_network_with_unknown_operators_is_refused_when_it_is_exported() -> None:
    with pytest.raises(InputError, match=r"the ONNX graph of Sorting is not a network that Tengen can use: .*TopK"):
        export_onnx(Sorting(NetConfig(), NINE), NINE)
