"""Training steps: forward pass, optimiser, averaged weights, checkpoint tensors, and weight transfer."""

from __future__ import annotations

import copy
from collections.abc import Mapping
from enum import StrEnum
from pathlib import Path
from typing import Any, Generic, TypeVar

import numpy as np
import numpy.typing as npt
import torch
from torch import Tensor, nn

from tengen.errors import InputError, RunError
from tengen.nets.architectures import Net, NetOutput, load_net, transfer_weights
from tengen.nets.models import WEIGHTS_FILE, find_model

N = TypeVar("N", bound=nn.Module)


class StepPrecision(StrEnum):
    """Number format for the forward and backward passes; weights, losses and recurrent sweeps are always fp32."""

    FP32 = "fp32"
    BF16 = "bf16"


def forward(net: nn.Module, planes: Tensor, precision: StepPrecision) -> NetOutput:
    """Run a forward pass in the given precision; return fp32 outputs."""
    with torch.autocast(planes.device.type, torch.bfloat16, enabled=precision is StepPrecision.BF16):
        output: NetOutput = net(planes)
    return output._replace(**{name: part.float() for name, part in output._asdict().items() if part is not None})


def to_planes(planes: npt.NDArray[Any]) -> Tensor:
    """Convert planes [B, C, H, W] to float32 in channels-last memory format, which is the fastest for training."""
    return torch.from_numpy(planes.astype(np.float32, copy=False)).contiguous(memory_format=torch.channels_last)


def weights_of(net: nn.Module) -> dict[str, Tensor]:
    """Return a copy of all weights."""
    return {name: tensor.detach().contiguous().clone() for name, tensor in net.state_dict().items()}


def optimizer_tensors(optimizer: torch.optim.Optimizer) -> dict[str, Tensor]:
    """Return the state of an optimiser as tensors for a checkpoint."""
    return {
        f"{number}.{name}": torch.as_tensor(value).contiguous()
        for number, state in optimizer.state_dict()["state"].items()
        for name, value in state.items()
    }


_STATES: Mapping[type[torch.optim.Optimizer], frozenset[str]] = {
    torch.optim.AdamW: frozenset({"step", "exp_avg", "exp_avg_sq"}),
    torch.optim.Adam: frozenset({"step", "exp_avg", "exp_avg_sq"}),
    torch.optim.RMSprop: frozenset({"step", "square_avg"}),
    torch.optim.SGD: frozenset(),
}
"""Names of each optimiser's state tensors per parameter. `step` is a scalar; the others have the parameter's shape."""


def restore_optimizer(optimizer: torch.optim.Optimizer, tensors: Mapping[str, Mapping[str, Tensor]]) -> None:
    """Restore the state saved by `optimizer_tensors` from a checkpoint's file `optimizer`.

    Raises `RunError` if the state belongs to a different optimizer or different parameters.
    """
    parameters = [parameter for group in optimizer.param_groups for parameter in group["params"]]
    state: dict[int, dict[str, Tensor]] = {}
    for key, tensor in _tensor_file(tensors, "optimizer").items():
        text, _, name = key.partition(".")
        number = int(text) if text.isascii() and text.isdecimal() and len(text) < 10 else len(parameters)
        shape = parameters[number].shape if number < len(parameters) and name != "step" else torch.Size()
        if number >= len(parameters) or name not in _STATES[type(optimizer)] or tensor.shape != shape:
            raise RunError(
                f"optimizer.safetensors was not saved by {type(optimizer).__name__} for this network: it has"
                f" {key!r:.80} with shape {tuple(tensor.shape)}"
            )
        # A fused optimiser needs its state in the memory format of the parameter.
        state.setdefault(number, {})[name] = (
            tensor if name == "step" else torch.empty_like(parameters[number]).copy_(tensor)
        )
    for number, found in state.items():
        if missing := _STATES[type(optimizer)] - found.keys():
            raise RunError(f"optimizer.safetensors lacks {number}.{', '.join(sorted(missing))}")
    optimizer.load_state_dict({**optimizer.state_dict(), "state": state})


def restore_weights(net: nn.Module, tensors: Mapping[str, Mapping[str, Tensor]], file: str) -> None:
    """Restore the weights saved by `weights_of` from a checkpoint file. Raises `RunError` if they do not match."""
    given = _tensor_file(tensors, file)
    wanted = net.state_dict()
    for name in sorted(wanted.keys() | given.keys()):
        if name not in given or name not in wanted:
            raise RunError(f"{file}.safetensors {'lacks' if name in wanted else 'has the unknown tensor'} {name!r:.80}")
        if (given[name].shape, given[name].dtype) != (wanted[name].shape, wanted[name].dtype):
            raise RunError(
                f"{name} in {file}.safetensors has shape {tuple(given[name].shape)} and type {given[name].dtype},"
                f" not {tuple(wanted[name].shape)} and {wanted[name].dtype}"
            )
    net.load_state_dict(dict(given))


def _tensor_file(tensors: Mapping[str, Mapping[str, Tensor]], file: str) -> Mapping[str, Tensor]:
    if file not in tensors:
        raise RunError(f"{file}.safetensors is missing")
    return tensors[file]


class AveragedLearner(Generic[N]):
    """A network in training, its optimiser, and a running average of its weights, which is the network that plays."""

    def __init__(self, net: N, optimizer: torch.optim.Optimizer, *, decay: float, clip: float = 0.0) -> None:
        """Set the decay of the average per step (0: newest weights) and the maximum gradient norm (0: no limit)."""
        self.net = net
        self.average = copy.deepcopy(net).eval()
        self.steps = 0
        self._optimizer = optimizer
        self._decay = decay
        self._clip = clip

    def optimize(self, loss: Tensor, learning_rate: float) -> None:
        """Backpropagate a loss, take one optimiser step and update the average."""
        for group in self._optimizer.param_groups:
            group["lr"] = learning_rate
        self._optimizer.zero_grad(set_to_none=True)
        torch.autograd.backward(loss)
        if self._clip:
            torch.nn.utils.clip_grad_norm_(self.net.parameters(), self._clip)
        self._optimizer.step()
        self.steps += 1
        # The decay starts lower, so that the random initial weights soon vanish from the average.
        decay = min(self._decay, self.steps / (self.steps + 10))
        with torch.no_grad():
            for ours, newest in zip(self.average.parameters(), self.net.parameters(), strict=True):
                ours.lerp_(newest, 1 - decay)

    def tensors(self) -> dict[str, dict[str, Tensor]]:
        """Return the state for a checkpoint, except `steps`."""
        return {
            "weights": weights_of(self.net),
            "average": weights_of(self.average),
            "optimizer": optimizer_tensors(self._optimizer),
        }

    def restore(self, tensors: Mapping[str, Mapping[str, Tensor]], steps: int) -> None:
        """Restore the state saved by `tensors`. Raises `RunError` if it does not match."""
        restore_weights(self.net, tensors, "weights")
        restore_weights(self.average, tensors, "average")
        restore_optimizer(self._optimizer, tensors)
        self.steps = steps


def transfer_from(source: str, net: Net) -> str:
    """Copy the matching weights from a run, a shipped model or a weights file to `net`; return a sentence for the log.

    Raises `InputError` if no weight matches.
    """
    path = Path(source)
    file = path if path.suffix == ".safetensors" else find_model(source).with_name(WEIGHTS_FILE)
    given = load_net(file, trusted=net.config.kind)[0]
    left_out = transfer_weights(given, net)
    if len(left_out) == len(net.state_dict()):
        raise InputError(f"{file} holds {_describe(given)}; none of its weights fit {_describe(net)}")
    copied = f"all weights except {', '.join(left_out)}" if left_out else "all weights"
    return f"starting with {copied} of {file}"


def _describe(net: Net) -> str:
    config = net.config
    return f"a {config.kind} network ({config.planes}, {config.channels} channels, {config.blocks} blocks)"
