"""The convolutional network from stanford15, "Convolutional and recurrent neural network for Gomoku".

Its input is one plane. Pooling reduces 15×15 points to 5×5 and so loses exact positions, which the dense layers must
recover. The paper does not state the widths of its dense layers; the ones here are our choice.
"""

from __future__ import annotations

from itertools import pairwise

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


class PooledNet(Net):
    """Planes [B, C, H, W] → policy [B, H·W]; the value is always 0.

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
        x = functional.max_pool2d(torch.relu(self.stem(planes)), POOL)
        for layer in self.trunk:
            x = torch.relu(layer(x))
        x = x.flatten(1)
        for layer in self.dense[:-1]:
            x = functional.dropout(torch.relu(layer(x)), _DROPPED, self.training)
        return NetOutput(self.dense[-1](x), planes.new_zeros(len(planes)))
