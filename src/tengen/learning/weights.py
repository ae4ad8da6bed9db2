"""Weights and optimizers as tensors by name, for checkpoints, and the weights of other networks to begin with."""

from __future__ import annotations

from collections.abc import Mapping
from pathlib import Path

import torch
from torch import Tensor, nn

from tengen.nets.architectures import Net, load_net, transfer_weights
from tengen.nets.models import WEIGHTS_FILE, find_model


def weights_of(net: nn.Module) -> dict[str, Tensor]:
    """A copy of all weights."""
    return {name: tensor.detach().contiguous().clone() for name, tensor in net.state_dict().items()}


def optimizer_tensors(optimizer: torch.optim.Optimizer) -> dict[str, Tensor]:
    """What an optimizer remembers of its steps."""
    return {
        f"{number}.{name}": torch.as_tensor(value).contiguous()
        for number, state in optimizer.state_dict()["state"].items()
        for name, value in state.items()
    }


def restore_optimizer(optimizer: torch.optim.Optimizer, tensors: Mapping[str, Tensor]) -> None:
    """Go back to what `optimizer_tensors` returned."""
    state: dict[int, dict[str, Tensor]] = {}
    for key, tensor in tensors.items():
        number, _, name = key.partition(".")
        state.setdefault(int(number), {})[name] = tensor
    optimizer.load_state_dict({**optimizer.state_dict(), "state": state})


def transfer_from(source: str, net: Net) -> str:
    """Copy what fits of a run, a shipped model or a weights file; returns a sentence about it."""
    path = Path(source)
    file = path if path.suffix == ".safetensors" else find_model(source).with_name(WEIGHTS_FILE)
    left = transfer_weights(load_net(file)[0], net)
    kept = f"all but {', '.join(left)}" if left else "all weights"
    return f"beginning with {kept} of {file}"
