"""Recurrent networks: the paper's weights, sweeps as a loop over cells computes them, and what they can see."""

from __future__ import annotations

import numpy as np
import pytest
import torch
from torch import Tensor

from tengen.core.contracts import Ruleset
from tengen.nets.architectures import Net, NetConfig, NetKind, build_net, count_weights
from tengen.nets.evaluators import OnnxEvaluator, TorchEvaluator
from tengen.nets.export import export_onnx
from tengen.nets.mdrnn import FLIPS, GatedSweep, PlainSweep, Sweep, sweep_from_corners
from tests.nets.positions import random_planes

NINE = Ruleset.parse("9x9")
PAPER = NetConfig(kind=NetKind.MDRNN, planes="own-other", channels=10)
GATED = NetConfig(kind=NetKind.GATED_MDRNN, planes="threats", channels=6, blocks=2)
SIZES = [(1, 1), (1, 5), (5, 1), (4, 4), (3, 7), (7, 3)]


def sweep_cell_by_cell(sweep: Sweep, features: Tensor) -> Tensor:
    """[c, H, W, N] → [k, H, W, N] as the definition says it."""
    _, height, width, count = features.shape
    states: dict[tuple[int, int], Tensor] = {}
    border = sweep.border[:, None].expand(-1, count)
    for y in range(height):
        for x in range(width):
            above, left, corner = (states.get(place, border) for place in ((y - 1, x), (y, x - 1), (y - 1, x - 1)))
            states[y, x] = sweep.step(features[:, y, x], above, left, corner if sweep.sees_diagonal else None)
    rows = [torch.stack([states[y, x] for x in range(width)], dim=1) for y in range(height)]
    return torch.stack(rows, dim=1)


def make_sweep(kind: type[Sweep]) -> Sweep:
    torch.manual_seed(5)
    sweep = PlainSweep(3, 4) if kind is PlainSweep else GatedSweep(3, 4)
    with torch.no_grad():
        for weight in sweep.parameters():
            weight.normal_(std=0.7)
    return sweep


def test_the_papers_network_has_140_weights() -> None:
    assert count_weights(build_net(PAPER, NINE)) == 140


def sweep_corners_cell_by_cell(sweep: Sweep, features: Tensor) -> Tensor:
    corners = [sweep_cell_by_cell(sweep, features.flip(flip)).flip(flip) for flip in FLIPS]
    return torch.stack(corners).sum(dim=0)


@pytest.mark.parametrize("kind", [PlainSweep, GatedSweep])
@pytest.mark.parametrize(("height", "width"), SIZES)
def test_diagonals_compute_what_the_loop_over_cells_does(kind: type[Sweep], height: int, width: int) -> None:
    sweep, features, output = make_sweep(kind), torch.randn(3, height, width, 2), torch.randn(2, 4)
    expected = sweep_corners_cell_by_cell(sweep, features)
    assert torch.allclose(sweep_from_corners(sweep, features), expected, atol=1e-5)
    combined = torch.einsum("mk,khwn->mhwn", output, expected)
    assert torch.allclose(sweep_from_corners(sweep, features, output), combined, atol=1e-5)


@pytest.mark.parametrize("kind", [PlainSweep, GatedSweep])
def test_gradients_are_those_of_the_loop_over_cells(kind: type[Sweep]) -> None:
    sweep = make_sweep(kind)
    features, weights = torch.randn(3, 4, 5, 2, requires_grad=True), torch.randn(4, 4, 5, 2)
    learned = {"features": features, **dict(sweep.named_parameters())}
    found, expected = (
        torch.autograd.grad((compute(sweep, features) * weights).sum(), list(learned.values()))
        for compute in (sweep_from_corners, sweep_corners_cell_by_cell)
    )
    for name, gradient, correct in zip(learned, found, expected, strict=True):
        assert torch.allclose(gradient, correct, atol=1e-4), name


@pytest.mark.parametrize("config", [PAPER, GATED], ids=lambda config: config.kind)
@pytest.mark.parametrize("rules", ["9x9", "6x6:4", "15x15", "7x11"])
def test_onnx_agrees_on_boards_of_every_size(config: NetConfig, rules: str) -> None:
    net, ruleset = build_net(config, NINE, seed=3), Ruleset.parse(rules)
    with torch.no_grad():
        for weight in net.parameters():
            weight.mul_(2)
    planes = random_planes(ruleset, 20, config.planes)
    policy, value = TorchEvaluator(net).evaluate(planes)
    onnx_policy, onnx_value = OnnxEvaluator(export_onnx(net, NINE)).evaluate(planes)
    assert policy.shape == (20, ruleset.area)
    assert np.abs(onnx_policy - policy).max() < 1e-4
    assert np.abs(onnx_value - value).max() < 1e-5
    assert np.ptp(policy, axis=1).max() > 0.1


def logits(net: Net, planes: Tensor) -> Tensor:
    return net(planes).policy_logits.detach()


@pytest.mark.parametrize("config", [PAPER, GATED], ids=lambda config: config.kind)
def test_points_hear_of_stones_far_away_and_of_mirrored_boards_the_same(config: NetConfig) -> None:
    net = build_net(config, NINE, seed=1).double()
    planes = torch.from_numpy(random_planes(NINE, 4, config.planes)).double()
    for axes in ((2,), (3,), (2, 3)):
        turned = logits(net, planes.flip(axes)).view(-1, 9, 9).flip([axis - 1 for axis in axes]).flatten(1)
        assert torch.allclose(turned, logits(net, planes), atol=1e-5)
    changed = planes.clone()
    changed[:, 0, 0, 8] += 1
    # A few points may have units that are all silent.
    assert ((logits(net, changed) - logits(net, planes)).abs() > 0).double().mean() > 0.9
