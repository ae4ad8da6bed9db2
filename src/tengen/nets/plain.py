"""The network from zero9, "Reinforcement Learning for Gomoku": three convolutions, dense heads.

Model I has one input plane (layout `board`), model II has four (layout `own-other-last-colour`).
"""

from __future__ import annotations

from itertools import pairwise

import torch
from torch import Tensor, nn

from tengen.core.contracts import Ruleset
from tengen.core.planes import plane_count
from tengen.nets.architectures import Net, NetConfig, NetOutput

_WIDER = (64, 128)
_POLICY_FILTERS = 4
_VALUE_FILTERS = 2
_VALUE_HIDDEN = 64


class PlainNet(Net):
    """Maps planes [B, C, H, W] to a policy [B, H·W] and a scalar value [B].

    Trunk: 3×3 convolutions to `channels`, 64 and 128, each with ReLU; the paper states 32 channels, and its authors'
    code has 64 for model I. Policy: 1×1 convolution → [B, 4, H, W], dense → [B, H·W]. Value: 1×1 convolution →
    [B, 2, H, W], dense → [B, 64], dense → [B], tanh.
    """

    def __init__(self, config: NetConfig, ruleset: Ruleset) -> None:
        super().__init__(config)
        widths = (plane_count(config.planes), config.channels, *_WIDER)
        self.trunk = nn.ModuleList(nn.Conv2d(a, b, 3, padding=1) for a, b in pairwise(widths))
        self.policy_filters = nn.Conv2d(widths[-1], _POLICY_FILTERS, 1)
        self.policy_points = nn.Linear(_POLICY_FILTERS * ruleset.area, ruleset.area)
        self.value_filters = nn.Conv2d(widths[-1], _VALUE_FILTERS, 1)
        self.value_hidden = nn.Linear(_VALUE_FILTERS * ruleset.area, _VALUE_HIDDEN)
        self.value = nn.Linear(_VALUE_HIDDEN, 1)
        # Glorot weights and zero biases are the defaults in Keras. With torch's defaults, both value filters can
        # be dead from the start.
        for layer in self.modules():
            if isinstance(layer, (nn.Conv2d, nn.Linear)):
                nn.init.xavier_uniform_(layer.weight)
                assert layer.bias is not None
                nn.init.zeros_(layer.bias)

    def forward(self, planes: Tensor) -> NetOutput:
        """Evaluate planes, float32 [B, C, H, W] in the layout `config.planes`."""
        x = planes
        for layer in self.trunk:
            x = torch.relu(layer(x))
        policy = torch.relu(self.policy_filters(x)).flatten(1)
        value = torch.relu(self.value_filters(x)).flatten(1)
        value = torch.tanh(self.value(torch.relu(self.value_hidden(value))))
        return NetOutput(self.policy_points(policy), value.squeeze(1))
