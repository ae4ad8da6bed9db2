"""The network shown in figure 1 of AlphaGomoku: 3×3 convolutions with 128 filters and two heads.

The figure shows planes 4×15×15, a 3×3 convolution to 128 channels and the heads; the code behind it adds residual
blocks. The separable convolutions and the batch normalisation of that code are left out.
"""

from __future__ import annotations

import torch
from torch import Tensor, nn
from torch.nn import functional

from tengen.core.contracts import Ruleset
from tengen.core.planes import plane_count
from tengen.nets.architectures import Net, NetConfig, NetOutput

_FILTERS = 2
_VALUE_HIDDEN = 32


class WideNet(Net):
    """Maps planes [B, C, H, W] to a policy [B, H·W] and a scalar value [B].

    Trunk: 3×3 convolution to `channels`, then `blocks` residual blocks of two 3×3 convolutions, leaky ReLU. Each head
    has a 1×1 convolution → [B, 2, H, W]; policy: dense → [B, H·W]; value: dense → [B, 32], dense → [B], tanh.
    """

    def __init__(self, config: NetConfig, ruleset: Ruleset) -> None:
        super().__init__(config)
        width = config.channels
        self.stem = nn.Conv2d(plane_count(config.planes), width, 3, padding=1)
        self.first = nn.ModuleList(nn.Conv2d(width, width, 3, padding=1) for _ in range(config.blocks))
        self.second = nn.ModuleList(nn.Conv2d(width, width, 3, padding=1) for _ in range(config.blocks))
        self.policy_filters = nn.Conv2d(width, _FILTERS, 1)
        self.policy_points = nn.Linear(_FILTERS * ruleset.area, ruleset.area)
        self.value_filters = nn.Conv2d(width, _FILTERS, 1)
        self.value_hidden = nn.Linear(_FILTERS * ruleset.area, _VALUE_HIDDEN)
        self.value = nn.Linear(_VALUE_HIDDEN, 1)
        for layer in self.modules():
            if isinstance(layer, (nn.Conv2d, nn.Linear)):
                nn.init.kaiming_normal_(layer.weight, nonlinearity="leaky_relu")
                assert layer.bias is not None
                nn.init.zeros_(layer.bias)
        # Without batch normalisation, blocks that start as the identity keep the activations of a deep trunk bounded.
        for layer in (*self.second, self.policy_points, self.value):
            with torch.no_grad():
                layer.weight.mul_(0.1)

    def forward(self, planes: Tensor) -> NetOutput:
        """Evaluate planes, float32 [B, C, H, W] in the layout `config.planes`."""
        x = functional.leaky_relu(self.stem(planes))
        for first, second in zip(self.first, self.second, strict=True):
            x = functional.leaky_relu(x + second(functional.leaky_relu(first(x))))
        policy = functional.leaky_relu(self.policy_filters(x)).flatten(1)
        value = functional.leaky_relu(self.value_filters(x)).flatten(1)
        value = torch.tanh(self.value(functional.leaky_relu(self.value_hidden(value))))
        return NetOutput(self.policy_points(policy), value.squeeze(1))
