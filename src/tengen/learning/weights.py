"""Weights in training: their optimizer and running average, as tensors for checkpoints, and those of other networks."""

from __future__ import annotations

import copy
from collections.abc import Mapping
from enum import StrEnum
from pathlib import Path
from typing import Generic, TypeVar

import torch
from torch import Tensor, nn

from tengen.errors import InputError
from tengen.nets.architectures import Net, NetOutput, load_net, transfer_weights
from tengen.nets.models import WEIGHTS_FILE, find_model

N = TypeVar("N", bound=nn.Module)


class StepPrecision(StrEnum):
    """The numbers that a learning step computes with; weights, losses and sweeps are fp32 in any case."""

    FP32 = "fp32"
    BF16 = "bf16"


def answer(net: Net, planes: Tensor, precision: StepPrecision) -> NetOutput:
    """What a network says while it learns, computed in that precision and handed over in fp32."""
    with torch.autocast("cpu", torch.bfloat16, enabled=precision is StepPrecision.BF16):
        output: NetOutput = net(planes)
    return output._replace(**{name: part.float() for name, part in output._asdict().items() if part is not None})


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


class AveragedLearner(Generic[N]):
    """A network in training, its optimizer, and the running average of its weights, which is what plays."""

    def __init__(self, net: N, optimizer: torch.optim.Optimizer, *, decay: float, clip: float = 0.0) -> None:
        """`decay` of the average, a step; 0 keeps the newest weights. `clip` is the largest norm of a gradient."""
        self.net = net
        self.average = copy.deepcopy(net).eval()
        self.steps = 0
        self._optimizer = optimizer
        self._decay = decay
        self._clip = clip

    def descend(self, loss: Tensor, learning_rate: float) -> None:
        """One step against the gradient of a loss; the average follows."""
        for group in self._optimizer.param_groups:
            group["lr"] = learning_rate
        self._optimizer.zero_grad(set_to_none=True)
        loss.backward()  # type: ignore[no-untyped-call]
        if self._clip:
            torch.nn.utils.clip_grad_norm_(self.net.parameters(), self._clip)
        self._optimizer.step()
        self.steps += 1
        # Early on the average is of all steps so far: the first weights are no better than noise.
        decay = min(self._decay, self.steps / (self.steps + 10))
        with torch.no_grad():
            for ours, newest in zip(self.average.parameters(), self.net.parameters(), strict=True):
                ours.lerp_(newest, 1 - decay)

    def tensors(self) -> dict[str, dict[str, Tensor]]:
        """All state for a checkpoint, beside `steps`."""
        return {
            "weights": weights_of(self.net),
            "average": weights_of(self.average),
            "optimizer": optimizer_tensors(self._optimizer),
        }

    def restore(self, tensors: Mapping[str, Mapping[str, Tensor]], steps: int) -> None:
        """Go back to the state that `tensors` returned."""
        self.net.load_state_dict(dict(tensors["weights"]))
        self.average.load_state_dict(dict(tensors["average"]))
        restore_optimizer(self._optimizer, tensors["optimizer"])
        self.steps = steps


def transfer_from(source: str, net: Net) -> str:
    """Copy what fits of a run, a shipped model or a weights file; returns a sentence about it.

    `InputError` when nothing fits.
    """
    path = Path(source)
    file = path if path.suffix == ".safetensors" else find_model(source).with_name(WEIGHTS_FILE)
    given = load_net(file)[0]
    left = transfer_weights(given, net)
    if len(left) == len(net.state_dict()):
        raise InputError(f"no weight of {file}, {_describe(given)}, fits into {_describe(net)}")
    kept = f"all but {', '.join(left)}" if left else "all weights"
    return f"beginning with {kept} of {file}"


def _describe(net: Net) -> str:
    config = net.config
    return f"a {config.kind} network ({config.planes}, {config.channels} channels, {config.blocks} blocks)"
