"""The convolutional network of stanford15: its fast training step computes what the layers do."""

from __future__ import annotations

import pytest
import torch
from torch import Tensor
from torch.nn import functional

from tengen.core.contracts import Ruleset
from tengen.core.planes import plane_count
from tengen.nets.architectures import NetConfig, NetKind, build_net
from tengen.nets.pooled import POOL, PooledNet

BOARDS = pytest.mark.parametrize(("size", "planes"), [((15, 15), "board"), ((7, 8), "own-other")])


def make(size: tuple[int, int], planes: str) -> tuple[PooledNet, Tensor]:
    """Return a network and boards with few stones, on which many windows have equal maxima."""
    net = build_net(NetConfig(kind=NetKind.POOLED, planes=planes), Ruleset(*size), seed=1)
    assert isinstance(net, PooledNet)
    torch.manual_seed(2)
    stones = (torch.rand(19, plane_count(planes), size[1], size[0]) < 0.2).float()
    return net.eval(), stones * torch.where(torch.rand_like(stones) < 0.5, 1.0, -1.0)


def gradients(net: PooledNet, planes: Tensor, *, fused: bool) -> tuple[Tensor, list[Tensor]]:
    net.zero_grad()
    # The fast form has no gradient for its input and is not used when that is wanted.
    policy = net(planes.clone().requires_grad_(not fused)).policy_logits
    (policy * torch.linspace(-1, 1, policy.shape[1])).sum().backward()
    return policy.detach(), [weight.grad.clone() for weight in net.parameters() if weight.grad is not None]


@BOARDS
def test_the_fast_form_computes_the_layers_and_their_gradients(size: tuple[int, int], planes: str) -> None:
    net, boards = make(size, planes)
    policy, ours = gradients(net, boards, fused=True)
    expected, theirs = gradients(net, boards, fused=False)
    torch.testing.assert_close(policy, expected, rtol=1e-5, atol=1e-6)
    for one, other in zip(ours, theirs, strict=True):
        torch.testing.assert_close(one, other, rtol=1e-4, atol=1e-6 * float(other.abs().max()) + 1e-7)


@BOARDS
def test_bf16_is_close_to_fp32(size: tuple[int, int], planes: str) -> None:
    net, boards = make(size, planes)
    expected, theirs = gradients(net, boards, fused=False)
    with torch.autocast("cpu", torch.bfloat16):
        policy, ours = gradients(net, boards, fused=True)
    torch.testing.assert_close(policy.float(), expected, rtol=0.05, atol=0.01)
    for one, other in zip(ours, theirs, strict=True):
        assert functional.cosine_similarity(one.flatten(), other.flatten(), dim=0) > 0.98


def test_rows_beyond_the_last_window_are_ignored() -> None:
    net, boards = make((7, 8), "own-other")
    with torch.no_grad():
        pooled = functional.max_pool2d(torch.relu(net.stem(boards)), POOL)
    assert pooled.shape[2:] == (2, 2)
    assert torch.isfinite(net(boards).policy_logits).all()
