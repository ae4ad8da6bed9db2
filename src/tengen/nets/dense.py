"""The network from pg9, "Using DRL to train a Gomoku agent": one dense hidden layer, which does not model adjacency."""

from __future__ import annotations

import torch
from torch import Tensor, nn

from tengen.core.contracts import Ruleset
from tengen.core.planes import plane_count
from tengen.nets.architectures import Net, NetConfig, NetKind, NetOutput


class DenseNet(Net):
    """Maps planes [B, C, H, W] to a policy [B, H·W]; the value is 0, or comes from a second network of the same shape.

    A dense layer of `channels` units with ReLU, then a dense layer of H·W units. The paper uses 81 inputs, 500 hidden
    units and 81 outputs, and suggests the second network as future work. Its author's code has no biases and an
    additional resignation output, which is never chosen.
    """

    def __init__(self, config: NetConfig, ruleset: Ruleset) -> None:
        super().__init__(config)
        size = plane_count(config.planes) * ruleset.area
        self.can_resign = config.kind is NetKind.DENSE_RESIGN
        self.hidden = nn.Linear(size, config.channels, bias=not self.can_resign)
        self.policy = nn.Linear(config.channels, ruleset.area + self.can_resign, bias=not self.can_resign)
        has_value = config.kind is NetKind.DENSE_VALUE
        self.value_hidden = nn.Linear(size, config.channels) if has_value else None
        self.value = nn.Linear(config.channels, 1) if has_value else None
        # The paper's source (Karpathy 2016, "Pong from pixels") calls this Xavier initialisation: variance 1 / inputs.
        for layer in self.modules():
            if isinstance(layer, nn.Linear):
                nn.init.normal_(layer.weight, std=layer.in_features**-0.5)
                if layer.bias is not None:
                    nn.init.zeros_(layer.bias)

    def forward(self, planes: Tensor) -> NetOutput:
        """Evaluate planes, float32 [B, C, H, W] in the layout `config.planes`."""
        x = planes.flatten(1)
        policy = self.policy(torch.relu(self.hidden(x)))
        if self.can_resign:
            return NetOutput(policy[:, :-1], x.new_zeros(len(x)), resign_logit=policy[:, -1])
        if self.value_hidden is None or self.value is None:
            return NetOutput(policy, x.new_zeros(len(x)))
        value = torch.tanh(self.value(torch.relu(self.value_hidden(x))))
        return NetOutput(policy, value.squeeze(1))
