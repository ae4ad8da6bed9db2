"""The interface shared by all networks: configuration, output, and loading and saving weights."""

from __future__ import annotations

import json
from abc import ABC, abstractmethod
from dataclasses import asdict, dataclass
from enum import StrEnum
from pathlib import Path
from typing import NamedTuple

import safetensors.torch
import torch
from torch import Tensor, nn

from tengen.core.checked_files import parse_json, parse_tensor_header, read_bytes
from tengen.core.contracts import Ruleset
from tengen.core.files import replace_file
from tengen.core.planes import plane_count
from tengen.core.plugins import InFile, Plugins
from tengen.core.tables import did_you_mean
from tengen.errors import InputError

_METADATA = "tengen"
_MAX_WEIGHTS_BYTES = 1 << 30


class NetKind(StrEnum):
    """Architecture of a network."""

    PLAIN = "plain"
    """The convolutional network from zero9: dense heads, one board size (`tengen.nets.plain`)."""
    RESIDUAL = "residual"
    """A small residual network with global pooling: any board size (`tengen.nets.residual`)."""
    DENSE = "dense"
    """One hidden layer and a policy, as in pg9: one board size (`tengen.nets.dense`)."""
    DENSE_RESIGN = "dense-resign"
    """The dense network in the code of pg9: no biases, and an additional resignation output used only in training."""
    DENSE_VALUE = "dense-value"
    """The dense network plus a second dense network for the value."""
    WIDE = "wide"
    """The network in figure 1 of alphagomoku8: residual blocks, dense heads, one board size (`tengen.nets.wide`)."""
    POOLED = "pooled"
    """The convolutional network from stanford15: pooling, dense layers, one board size (`tengen.nets.pooled`)."""
    MDRNN = "mdrnn"
    """The recurrent network from stanford15: any board size (`tengen.nets.mdrnn`)."""
    GATED_MDRNN = "gated-mdrnn"
    """A deeper recurrent network with gates and a value head: any board size (`tengen.nets.mdrnn`)."""


@dataclass(frozen=True, slots=True, kw_only=True)
class NetConfig:
    """Configuration of a network; together with the ruleset it determines the shape of every weight."""

    kind: str = NetKind.RESIDUAL
    """Architecture: plain, residual, dense, dense-resign, dense-value, wide, pooled, mdrnn, gated-mdrnn, or one from a
    package or file."""
    planes: str = "own-other-last-colour"
    """Name of the input layout in `tengen.core.planes`."""
    channels: int = 32
    """Channels of the residual or wide trunk or of the first plain layer, or units of a recurrent or dense layer; the
    pooled network ignores it."""
    blocks: int = 3
    """Residual blocks of two convolutions, or gated recurrent layers; other architectures ignore it."""

    def __post_init__(self) -> None:
        if self.kind in list(NetKind):
            object.__setattr__(self, "kind", NetKind(self.kind))
        elif InFile.parse(self.kind) is None and self.kind not in NETWORKS.names():
            raise InputError(f"unknown network {self.kind!r}{did_you_mean(self.kind, NETWORKS.names())}")
        plane_count(self.planes)
        if not 4 <= self.channels <= 512 or not 1 <= self.blocks <= 40:
            raise InputError(f"blocks must be 1–40 and channels 4–512, not {self.blocks} and {self.channels}")


class NetOutput(NamedTuple):
    """Output for a batch of B positions with H·W = area points; only training uses the fields after the second."""

    policy_logits: Tensor
    """[B, area]"""
    value_to_move: Tensor
    """[B], in [-1, 1]"""
    value_logits: Tensor | None = None
    """[B, 3]: win, draw, loss for the side to move; None for a network with a scalar value."""
    soft_policy_logits: Tensor | None = None
    """[B, area]: the policy at a high temperature."""
    reply_logits: Tensor | None = None
    """[B, area]: the opponent's next move."""
    resign_logit: Tensor | None = None
    """[B]: resignation, an additional output of the policy; None for a network without it."""


class Net(nn.Module, ABC):
    """A network that maps planes [B, C, H, W] to a `NetOutput`."""

    has_any_size = False
    """Whether the same weights work on boards of any size."""
    has_int8 = True
    """Whether the network's ONNX graph can be quantised."""

    def __init__(self, config: NetConfig) -> None:
        super().__init__()
        self.config = config

    @abstractmethod
    def forward(self, planes: Tensor) -> NetOutput:
        """Evaluate planes, float32 [B, C, H, W] in the layout `config.planes`."""


def _is_net(found: object) -> bool:
    return isinstance(found, type) and issubclass(found, Net)


NETWORKS = Plugins(
    what="network",
    group="tengen.networks",
    wanted="a subclass of tengen.nets.architectures.Net",
    accepts=_is_net,
    built_in={
        NetKind.PLAIN: "tengen.nets.plain:PlainNet",
        NetKind.RESIDUAL: "tengen.nets.residual:ResidualNet",
        NetKind.DENSE: "tengen.nets.dense:DenseNet",
        NetKind.DENSE_RESIGN: "tengen.nets.dense:DenseNet",
        NetKind.DENSE_VALUE: "tengen.nets.dense:DenseNet",
        NetKind.WIDE: "tengen.nets.wide:WideNet",
        NetKind.POOLED: "tengen.nets.pooled:PooledNet",
        NetKind.MDRNN: "tengen.nets.mdrnn:MdrnnNet",
        NetKind.GATED_MDRNN: "tengen.nets.mdrnn:GatedMdrnnNet",
    },
)
"""The architectures. Each is a class whose constructor takes the configuration and the ruleset."""


def build_net(config: NetConfig, ruleset: Ruleset, *, seed: int = 0) -> Net:
    """Build a network with random weights; the same seed produces the same weights.

    This imports the code of a network in a package or file, so `config` must not come from an untrusted source; see
    `check_described_net`.
    """
    architecture = NETWORKS.find(config.kind)
    with torch.random.fork_rng(devices=[]):
        torch.manual_seed(seed)
        net: Net = architecture(config, ruleset)
    return net


def check_described_net(kind: object, origin: str, trusted: str | None = None) -> None:
    """Raise `InputError` if a weights file or a run asks for a network in a Python file other than `trusted`.

    Files may be untrusted, and building such a network would run its code.
    """
    if isinstance(kind, str) and InFile.parse(kind) is not None and kind != trusted:
        raise InputError(
            f"the network of {origin} is defined in the file {kind}, whose code is run only if you name it:"
            f" --set net.kind={kind}"
        )


def count_weights(net: nn.Module) -> int:
    """Return the number of trainable weights."""
    return sum(parameter.numel() for parameter in net.parameters())


# -- weights as a file ------------------------------------------------------------------------------------------------


def save_net(path: Path, net: Net, ruleset: Ruleset) -> None:
    """Write the weights, configuration and ruleset to a safetensors file, atomically."""
    weights = {name: tensor.detach().contiguous() for name, tensor in net.state_dict().items()}
    # Use a single entry: the order of several entries is undefined, and equal networks should produce equal files.
    description = json.dumps({"net": asdict(net.config), "ruleset": str(ruleset)})
    replace_file(path, safetensors.torch.save(weights, metadata={_METADATA: description}))


def load_net(path: Path, *, trusted: str | None = None) -> tuple[Net, Ruleset]:
    """Read a network written by `save_net` and the ruleset it was trained for.

    The shapes in the header are checked against the network before any memory is allocated. A network that is defined
    in a Python file is loaded only if that file, as in `NetConfig.kind`, is `trusted`.
    """
    data = read_bytes(path, _MAX_WEIGHTS_BYTES)
    header = parse_tensor_header(data, str(path))
    if _METADATA not in header.metadata:
        raise InputError(
            f"{path} was not written by Tengen: it does not describe the network that its weights belong to"
        )
    described = parse_json(header.metadata[_METADATA], f"the description in {path}")
    try:
        check_described_net(described["net"]["kind"], str(path), trusted)
        config = NetConfig(**described["net"])
        ruleset = Ruleset.parse(described["ruleset"])
    except InputError:
        raise
    except (ValueError, TypeError, KeyError, AttributeError) as error:
        raise InputError(f"{path} has an unreadable network description: {error!r:.200}") from None
    with torch.device("meta"):
        shapes = {name: tuple(tensor.shape) for name, tensor in build_net(config, ruleset).state_dict().items()}
    header.check_shapes(shapes, str(path))
    if unknown := set(header.kinds.values()) - {"F32"}:
        raise InputError(f"{path} does not match its network: its weights are {min(unknown)}, not F32")
    net = build_net(config, ruleset)
    net.load_state_dict(safetensors.torch.load(data))
    return net, ruleset


def transfer_weights(source: Net, target: Net) -> list[str]:
    """Copy all weights with matching names and shapes, for example to another board size; return the names of the rest.

    Residual networks with the same configuration share all weights; plain ones share all but the dense layers.
    """
    theirs, ours = source.state_dict(), target.state_dict()
    shared = {name: tensor for name, tensor in theirs.items() if name in ours and ours[name].shape == tensor.shape}
    target.load_state_dict({**ours, **shared})
    return [name for name in ours if name not in shared]


def keep_convolutions(source: Path, target: Path) -> None:
    """Write a network with the convolutions of another one and new random weights in all other layers."""
    net, ruleset = load_net(source)
    fresh = build_net(net.config, ruleset, seed=1)
    for ours, given in zip(fresh.modules(), net.modules(), strict=True):
        if isinstance(ours, nn.Conv2d):
            ours.load_state_dict(given.state_dict())
    save_net(target, fresh, ruleset)
