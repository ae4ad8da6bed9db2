"""The convolutional network from stanford15, "Convolutional and recurrent neural network for Gomoku".

Its input is one plane. Pooling reduces 15×15 points to 5×5 and so loses exact positions, which the dense layers must
recover. The paper does not state the widths of its dense layers; the ones here are our choice.
"""

from __future__ import annotations

from itertools import pairwise
from typing import Any

import torch
from torch import Tensor, nn
from torch.nn import functional

from tengen.core.contracts import Ruleset
from tengen.core.planes import plane_count
from tengen.nets.architectures import Net, NetConfig, NetOutput

_FILTERS = (1024, 256, 128)
_HIDDEN = 512
POOL = 3
# The paper says "dropout 0.8", which must be the fraction kept: with 80 % dropped, the network learns almost nothing.
_DROPPED = 0.2
_ROWS = 400
"""Pooled points per block of `_ConvolvePooled`; the 1024 channels of a block fit into the L2 cache."""
_ALIGNED = 32
"""Matrix products in bf16 are fastest if the inner dimension is a multiple of this."""


class _ConvolvePooled(torch.autograd.Function):
    """Convolution and max pooling in one, for training on the CPU; eight times as fast as the two layers.

    The output of the first convolution has 1024 channels on the whole board, so moving it through memory takes far
    longer than computing it. Here each block of pooled points is computed in the cache, once per point of its pooling
    window, and only the maximum is kept. The backward pass computes the block again to find where the maximum was.
    """

    @staticmethod
    def forward(context: Any, planes: Tensor, weight: Tensor, bias: Tensor) -> Tensor:
        """Return [B, K, H/3, W/3] in channels-last format, in the type of an enclosing autocast."""
        kind = torch.get_autocast_dtype("cpu") if torch.is_autocast_enabled("cpu") else weight.dtype
        with torch.autocast("cpu", enabled=False):
            windows = _aligned(_windows(planes, weight.shape[-1]).to(kind))
            filters = _aligned(weight.flatten(1).to(kind)).T
            best = windows.new_empty(windows.shape[1], len(weight))
            block = best.new_empty(min(_ROWS, len(best)), len(weight))
            for begin in range(0, len(best), _ROWS):
                found = best[begin : begin + _ROWS]
                other = block[: len(found)]
                torch.mm(windows[0, begin : begin + _ROWS], filters, out=found)
                for place in windows[1:]:
                    torch.mm(place[begin : begin + _ROWS], filters, out=other)
                    torch.maximum(found, other, out=found)
            context.save_for_backward(windows, filters, best)
            context.shape = weight.shape
            pooled = (best + bias.to(kind)).view(len(planes), planes.shape[2] // POOL, planes.shape[3] // POOL, -1)
            return pooled.permute(0, 3, 1, 2)

    @staticmethod
    def backward(context: Any, *gradients: Tensor) -> tuple[None, Tensor, Tensor]:
        """Return the gradients of the weights; among equal maxima of a window, the first one gets the gradient."""
        windows, filters, best = context.saved_tensors
        given = gradients[0].permute(0, 2, 3, 1).reshape(best.shape)
        weight = torch.zeros(filters.shape[1], filters.shape[0])
        block = best.new_empty(min(_ROWS, len(best)), filters.shape[1])
        for begin in range(0, len(best), _ROWS):
            rest = given[begin : begin + _ROWS].clone()
            own = block[: len(rest)]
            for place in windows[:, begin : begin + _ROWS]:
                torch.mm(place, filters, out=own)
                own.eq_(best[begin : begin + _ROWS]).mul_(rest)
                rest.sub_(own)
                weight.add_(own.T @ place)
        size = context.shape[1:].numel()
        return None, weight[:, :size].reshape(context.shape), given.sum(dim=0, dtype=torch.float32)


def _windows(planes: Tensor, size: int) -> Tensor:
    """Return the filters' inputs, [9, B·H/3·W/3, C·size·size]: one row per pooled point and place in its window."""
    seen = functional.pad(planes, (size // 2,) * 4).unfold(2, size, 1).unfold(3, size, 1)
    count, channels, height, width = (len(seen), seen.shape[1], seen.shape[2] // POOL, seen.shape[3] // POOL)
    seen = seen[:, :, : height * POOL, : width * POOL]
    parts = seen.reshape(count, channels, height, POOL, width, POOL, size, size).permute(3, 5, 0, 2, 4, 1, 6, 7)
    return parts.reshape(POOL**2, count * height * width, channels * size**2)


def _aligned(rows: Tensor) -> Tensor:
    """Pad the last dimension with zeros to a multiple of `_ALIGNED`."""
    return functional.pad(rows, (0, -rows.shape[-1] % _ALIGNED))


class PooledNet(Net):
    """Maps planes [B, C, H, W] to a policy [B, H·W]; the value is always 0.

    5×5 convolution to 1024 channels, 3×3 max pooling → [B, 1024, H/3, W/3], 3×3 convolutions to 256 and 128,
    dense layers 512, 512, H·W, with ReLU between all layers and dropout after the first two dense layers.
    """

    def __init__(self, config: NetConfig, ruleset: Ruleset) -> None:
        super().__init__(config)
        self.stem = nn.Conv2d(plane_count(config.planes), _FILTERS[0], 5, padding=2)
        self.trunk = nn.ModuleList(nn.Conv2d(a, b, 3, padding=1) for a, b in pairwise(_FILTERS))
        widths = (_FILTERS[-1] * (ruleset.height // POOL) * (ruleset.width // POOL), _HIDDEN, _HIDDEN, ruleset.area)
        self.dense = nn.ModuleList(nn.Linear(a, b) for a, b in pairwise(widths))

    def forward(self, planes: Tensor) -> NetOutput:
        """Evaluate planes, float32 [B, C, H, W] in the layout `config.planes`."""
        if torch.is_grad_enabled() and planes.device.type == "cpu" and not planes.requires_grad:
            x = _ConvolvePooled.apply(planes, self.stem.weight, self.stem.bias)  # type: ignore[no-untyped-call]
        else:
            x = functional.max_pool2d(self.stem(planes), POOL)
        x = torch.relu(x)
        for layer in self.trunk:
            x = torch.relu(layer(x))
        x = x.flatten(1)
        for layer in self.dense[:-1]:
            x = functional.dropout(torch.relu(layer(x)), _DROPPED, self.training)
        return NetOutput(self.dense[-1](x), planes.new_zeros(len(planes)))
