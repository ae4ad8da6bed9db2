"""A small residual network that plays on boards of any size with the same weights.

Like KataGo (Wu 2019, "Accelerating Self-Play Learning in Go", and `KataGoMethods.md`), it has global pooling in the
trunk and the heads, a win/draw/loss value, and heads for a softened policy and for the opponent's reply. Fixed scaling
replaces batch normalisation: each sum is divided by its standard deviation at initialisation, so outputs do not depend
on the batch and the export is exact.
"""

from __future__ import annotations

import math

import torch
from torch import Tensor, nn

from tengen.core.contracts import Ruleset
from tengen.core.planes import plane_count
from tengen.nets.architectures import Net, NetConfig, NetOutput

# A line of five through a point reaches 4 points away; a 5×5 stem and one block of two 3×3 convolutions cover that.
_STEM_SIZE = 5
_VALUE_HIDDEN = 32
_POLICY_MAPS = 3  # policy, soft policy, reply


class ResidualNet(Net):
    """Maps planes [B, C, H, W] to policy, soft policy and reply, each [B, H·W], and win/draw/loss [B, 3].

    Trunk: 5×5 convolution to K channels, then `blocks` residual blocks of two 3×3 convolutions; the middle block adds
    global pooling of its first convolution's output. Heads: policy by a 1×1 convolution with a pooled bias per channel,
    value by a 1×1 convolution, pooling to [B, K] and two dense layers.
    """

    has_any_size = True

    def __init__(self, config: NetConfig, ruleset: Ruleset) -> None:
        super().__init__(config)
        width = config.channels
        self.stem = nn.Conv2d(plane_count(config.planes), width, _STEM_SIZE, padding=_STEM_SIZE // 2)
        pooled = config.blocks // 2
        self.blocks = nn.ModuleList(
            ResidualBlock(width, depth, pools=depth == pooled) for depth in range(config.blocks)
        )
        # The trunk starts with variance 1, and each block adds variance 1.
        self.trunk_scale = 1 / math.sqrt(1 + config.blocks)
        head = max(8, width // 2)
        self.policy_features = nn.Conv2d(width, head, 1)
        self.policy_bias = nn.Linear(2 * head, head)
        self.policy_maps = nn.Conv2d(head, _POLICY_MAPS, 1)
        self.value_features = nn.Conv2d(width, head, 1)
        self.value_hidden = nn.Linear(2 * head, _VALUE_HIDDEN)
        self.value = nn.Linear(_VALUE_HIDDEN, 3)
        self._initialise()

    def _initialise(self) -> None:
        for layer in self.modules():
            if isinstance(layer, (nn.Conv2d, nn.Linear)):
                nn.init.kaiming_normal_(layer.weight, nonlinearity="relu")
                assert layer.bias is not None
                nn.init.zeros_(layer.bias)
        # With small head weights, the initial policy is almost uniform.
        for layer in (self.policy_maps, self.value):
            with torch.no_grad():
                layer.weight.mul_(0.1)

    def forward(self, planes: Tensor) -> NetOutput:
        """Evaluate planes, float32 [B, C, H, W] in the layout `config.planes`."""
        x = self.stem(planes)
        for block in self.blocks:
            x = block(x)
        x = torch.relu(x * self.trunk_scale)
        features = self.policy_features(x)
        bias = self.policy_bias(pool(torch.relu(features)))
        maps = self.policy_maps(torch.relu(features + bias[:, :, None, None])).flatten(2)
        value = torch.relu(self.value_hidden(pool(torch.relu(self.value_features(x)))))
        value_logits = self.value(value)
        chances = torch.softmax(value_logits, dim=1)
        return NetOutput(
            policy_logits=maps[:, 0],
            value_to_move=chances[:, 0] - chances[:, 2],
            value_logits=value_logits,
            soft_policy_logits=maps[:, 1],
            reply_logits=maps[:, 2],
        )


class ResidualBlock(nn.Module):
    """x + convolution(ReLU(convolution(ReLU(scale · x)))), all [B, K, H, W]."""

    def __init__(self, width: int, depth: int, *, pools: bool) -> None:
        super().__init__()
        self.scale = 1 / math.sqrt(1 + depth)
        self.first = nn.Conv2d(width, width, 3, padding=1)
        self.second = nn.Conv2d(width, width, 3, padding=1)
        self.pooled = nn.Linear(2 * width, width) if pools else None

    def forward(self, x: Tensor) -> Tensor:
        y = self.first(torch.relu(x * self.scale))
        if self.pooled is not None:
            y = y + self.pooled(pool(torch.relu(y)))[:, :, None, None]
        added: Tensor = self.second(torch.relu(y))
        return x + added


def pool(x: Tensor) -> Tensor:
    """Return the mean and maximum over the board: [B, K, H, W] → [B, 2K]."""
    return torch.cat((x.mean(dim=(2, 3)), x.amax(dim=(2, 3))), dim=1)
