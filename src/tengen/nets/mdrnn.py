"""Multi-dimensional recurrent networks, which sweep the board from its four corners.

`MdrnnNet` is the network from stanford15 (after Schaul and Schmidhuber 2008, "A scalable neural network architecture
for board games"): 140 weights for k = 10. `GatedMdrnnNet` is our strongest variant. Both play on boards of any size
with the same weights.

A unit depends on the units above it and to its left, so a whole anti-diagonal is computed at once. The sweeps from the
four corners are one batch of flipped boards. A 15×15 board takes 2·15 - 1 steps per batch instead of 4·225 steps per
position.
"""

from __future__ import annotations

import math
from abc import ABC, abstractmethod
from dataclasses import dataclass
from functools import lru_cache
from typing import Any

import torch
from torch import Tensor, nn
from torch.nn import functional

from tengen.core.contracts import Ruleset
from tengen.core.planes import plane_count
from tengen.nets.architectures import Net, NetConfig, NetOutput
from tengen.nets.residual import pool

FLIPS: tuple[tuple[int, ...], ...] = ((), (1,), (2,), (1, 2))
"""Axes of [c, H, W, N] to reverse so that each sweep starts in the first corner."""
LEAK = 0.1
_VALUE_HIDDEN = 32


@dataclass(frozen=True, slots=True)
class _Diagonals:
    """The cells of a board ordered by anti-diagonal, from each corner."""

    orders: tuple[Tensor, ...]
    """int64 [H·W] per corner of `FLIPS`: index y·W + x of each cell; the cells of a diagonal are consecutive."""
    places: tuple[Tensor, ...]
    """int64 [H·W] per corner: the inverses of `orders`."""
    rows: tuple[tuple[int, int], ...]
    """First and last row of each diagonal."""


@lru_cache(maxsize=32)
def _diagonals(height: int, width: int) -> _Diagonals:
    rows = tuple((max(0, d - width + 1), min(d, height - 1)) for d in range(height + width - 1))
    with torch.inference_mode(False):  # the cached tensors are also used in training
        order = torch.tensor([y * width + d - y for d, (low, high) in enumerate(rows) for y in range(low, high + 1)])
        cells = torch.arange(height * width).view(1, height, width)
        orders = tuple(cells.flip(flip).flatten()[order] for flip in FLIPS)
        return _Diagonals(orders, tuple(torch.argsort(order) for order in orders), rows)


class _Permute(torch.autograd.Function):
    """Permutation of columns. Its backward pass is also a permutation, which is faster than a gradient of indexing."""

    @staticmethod
    def forward(context: Any, columns: Tensor, order: Tensor, places: Tensor) -> Tensor:
        context.save_for_backward(places)
        return columns.index_select(1, order)

    @staticmethod
    def backward(context: Any, *gradients: Tensor) -> tuple[Tensor, None, None]:
        (places,) = context.saved_tensors
        return gradients[0].index_select(1, places), None, None


def _permute(columns: Tensor, order: Tensor, places: Tensor) -> Tensor:
    permuted: Tensor = _Permute.apply(columns, order, places)  # type: ignore[no-untyped-call]
    return permuted


def _mix(weights: Tensor, x: Tensor, bias: Tensor | None = None) -> Tensor:
    """Combine channels: [m, c] · [c, …] → [m, …], plus a bias [m]."""
    columns = x.flatten(1)
    mixed = weights @ columns if bias is None else torch.addmm(bias[:, None], weights, columns)
    return mixed.view(-1, *x.shape[1:])


def _dense(layer: nn.Linear, x: Tensor) -> Tensor:
    """Apply a dense layer to the channels: [c, …] → [m, …]."""
    return _mix(layer.weight, x, layer.bias)


def _tanh(x: Tensor) -> Tensor:
    """Compute tanh with the vectorised sigmoid, which takes half as long as torch.tanh."""
    return 2 * torch.sigmoid(2 * x) - 1


class Sweep(nn.Module, ABC):
    """A recurrent sweep from one corner. It maps features [c, H·W, N] to states [k, H·W, N], by anti-diagonal.

    Channels come first and the batch last, because multiplying small matrices by long rows is fast. A subclass
    defines `step`, which maps a unit's features and its neighbours' states to its state. The neighbours are above, to
    the left and, with `sees_diagonal`, to the upper left. Outside the board every state is `border`.
    """

    sees_diagonal = False

    def __init__(self, units: int) -> None:
        super().__init__()
        self.border = nn.Parameter(torch.zeros(units))

    @abstractmethod
    def step(self, own: Tensor, above: Tensor, left: Tensor, corner: Tensor | None) -> Tensor:
        """Compute states [k, …] from the units' own features [c, …] and the neighbours' states [k, …]."""

    def forward(self, features: Tensor, height: int, width: int) -> Tensor:
        """Compute all states, one `step` per anti-diagonal."""
        rows = _diagonals(height, width).rows
        border = self.border[:, None, None].expand(-1, 1, features.shape[-1])
        before, before_that = border[:, :0], border[:, :0]
        states: list[Tensor] = []
        sizes = [high - low + 1 for low, high in rows]
        for d, ((low, _), size, own) in enumerate(zip(rows, sizes, torch.split(features, sizes, dim=1), strict=True)):
            # Rows low - 1 … high of the previous diagonal, with the border for rows outside the board.
            top, bottom = [border] * (low == 0), [border] * (d < height)
            around = torch.cat((*top, before, *bottom), dim=1)
            corner = None
            if self.sees_diagonal:
                # Rows low - 1 … high - 1 of the diagonal before the previous one.
                inside = before_that[:, int(d > width) : before_that.shape[1] - int(d > height)]
                missing = size - len(top) - inside.shape[1]
                corner = torch.cat((*top, inside, *[border] * missing), dim=1)
            state = self.step(own, around[:, :-1], around[:, 1:], corner)
            states.append(state)
            before_that, before = before, state
        return torch.cat(states, dim=1)


def sweep_from_corners(sweep: Sweep, features: Tensor, output: Tensor | None = None) -> Tensor:
    """Return the summed states of four sweeps: features [c, H, W, B] → [k, H, W, B].

    With `output` [m, k], the states are first combined to [m, H, W, B], which is cheaper than combining the sum.
    """
    _, height, width, count = features.shape
    board = _diagonals(height, width)
    # In bf16, rounding errors would accumulate over the steps.
    with torch.autocast(features.device.type, enabled=False):
        cells = features.to(sweep.border.dtype).flatten(1, 2)
        turned = [_permute(cells, order, places) for order, places in zip(board.orders, board.places, strict=True)]
        states = sweep(torch.cat(turned, dim=-1), height, width)
        if output is not None:
            states = _mix(output, states)
        parts = zip(states.chunk(len(FLIPS), dim=-1), board.orders, board.places, strict=True)
        turned_back = torch.stack([_permute(part, places, order) for part, order, places in parts])
        return turned_back.sum(dim=0).view(-1, height, width, count)


class PlainSweep(Sweep):
    """The paper's unit: tanh(w_i · in + w_h · above + w_h · left)."""

    def __init__(self, planes: int, units: int) -> None:
        super().__init__(units)
        self.input = nn.Parameter(torch.empty(planes, units))
        self.hidden = nn.Parameter(torch.empty(units, units))

    def step(self, own: Tensor, above: Tensor, left: Tensor, corner: Tensor | None) -> Tensor:
        weights = torch.cat((self.hidden, self.input))
        return _tanh(_mix(weights.T, torch.cat((above + left, own))))


class MdrnnNet(Net):
    """Maps planes [B, C, H, W] to a policy [B, H·W]; the value is always 0.

    The four sweeps share their weights: w_i [C, k], w_h [k, k], w_b [k]. The policy is w_o · u, summed over the four
    sweeps, where w_o is [k].
    """

    has_any_size = True
    has_int8 = False

    def __init__(self, config: NetConfig, ruleset: Ruleset) -> None:
        super().__init__(config)
        self.sweep = PlainSweep(plane_count(config.planes), config.channels)
        self.output = nn.Parameter(torch.empty(config.channels))
        # The paper uses N(0, 0.001), but then all states stay near 0 for a long time. Each unit adds the states of two
        # neighbours, so an orthogonal matrix with gain ½ keeps the states from growing or vanishing.
        nn.init.normal_(self.sweep.input, std=0.3)
        nn.init.orthogonal_(self.sweep.hidden, gain=0.5)
        nn.init.normal_(self.output, std=0.3)

    def forward(self, planes: Tensor) -> NetOutput:
        """Evaluate planes, float32 [B, C, H, W] in the layout `config.planes`."""
        policy = sweep_from_corners(self.sweep, planes.permute(1, 2, 3, 0), self.output[None])[0]
        return NetOutput(policy.flatten(0, 1).T, planes.new_zeros(len(planes)))


class GatedSweep(Sweep):
    """A unit that mixes the states of its three neighbours with a new candidate state; the mixing weights sum to one.

    The neighbours include the upper-left one, so every line, even a diagonal one, is followed by one of the sweeps.
    """

    sees_diagonal = True

    def __init__(self, features: int, units: int) -> None:
        super().__init__(units)
        self.units = units
        # Candidate, then three gates: above vs. left, corner vs. both, new vs. old.
        self.input = nn.Linear(features, 4 * units)
        self.hidden = nn.Parameter(torch.empty(3 * units, 4 * units))
        nn.init.normal_(self.hidden, std=0.5 / math.sqrt(3 * units))
        with torch.no_grad():
            self.input.bias[3 * units :] = -1  # initially favour the old states

    def step(self, own: Tensor, above: Tensor, left: Tensor, corner: Tensor | None) -> Tensor:
        assert corner is not None
        weights = torch.cat((self.hidden.T, self.input.weight), dim=1)
        mixed = _mix(weights, torch.cat((above, left, corner, own)), self.input.bias)
        candidate = _tanh(mixed[: self.units])
        to_above, to_corner, to_new = torch.sigmoid(mixed[self.units :]).chunk(3)
        memory = torch.lerp(torch.lerp(left, above, to_above), corner, to_corner)
        return torch.lerp(memory, candidate, to_new)


class GatedLayer(nn.Module):
    """Four gated sweeps plus a skip connection, then a leaky ReLU. The output is [k, H, W, B]."""

    def __init__(self, features: int, units: int) -> None:
        super().__init__()
        self.sweep = GatedSweep(features, units)
        self.merge = nn.Linear(units, units)
        self.skip = nn.Linear(features, units)

    def forward(self, features: Tensor) -> Tensor:
        states = sweep_from_corners(self.sweep, features)
        # Leaky, because with only a dozen units a dead unit would cost a lot of capacity.
        return functional.leaky_relu(_dense(self.merge, states) + _dense(self.skip, features), LEAK)


class GatedMdrnnNet(Net):
    """Maps planes [B, C, H, W] to a policy [B, H·W] and win/draw/loss [B, 3].

    It has `blocks` gated layers of k = `channels` units. The policy head has one weight per unit; the value head pools
    to [B, 2k] and has two dense layers.
    """

    has_any_size = True
    has_int8 = False

    def __init__(self, config: NetConfig, ruleset: Ruleset) -> None:
        super().__init__(config)
        units = config.channels
        widths = [plane_count(config.planes)] + [units] * config.blocks
        self.layers = nn.ModuleList(GatedLayer(before, units) for before in widths[:-1])
        self.policy = nn.Linear(units, 1)
        self.value_hidden = nn.Linear(2 * units, _VALUE_HIDDEN)
        self.value = nn.Linear(_VALUE_HIDDEN, 3)

    def forward(self, planes: Tensor) -> NetOutput:
        """Evaluate planes, float32 [B, C, H, W] in the layout `config.planes`."""
        x = planes.permute(1, 2, 3, 0)
        for layer in self.layers:
            x = layer(x)
        pooled = pool(x.permute(3, 0, 1, 2))
        value_logits = self.value(torch.relu(self.value_hidden(pooled)))
        chances = torch.softmax(value_logits, dim=1)
        return NetOutput(
            policy_logits=_dense(self.policy, x)[0].flatten(0, 1).T,
            value_to_move=chances[:, 0] - chances[:, 2],
            value_logits=value_logits,
        )
