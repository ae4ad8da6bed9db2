"""Critics: small networks that estimate winning probabilities from shape counts.

A critic evaluates the position after each candidate move, from the point of view of the player making the move. The
player takes the best move. All of this is native code. A critic file is in safetensors format with a description;
reading it does not need torch.
"""

from __future__ import annotations

import json
from collections.abc import Mapping
from dataclasses import asdict, dataclass
from enum import StrEnum
from pathlib import Path

import numpy as np
import numpy.typing as npt

from tengen import _native
from tengen.core.checked_files import parse_json, parse_tensor_header, read_bytes
from tengen.core.contracts import Colour, Ruleset
from tengen.core.native_enums import colour_to_native
from tengen.core.position import Position
from tengen.core.shipped import shipped_folder
from tengen.core.tables import did_you_mean
from tengen.errors import InputError, RulesetError

FloatArray = npt.NDArray[np.float32]
IntArray = npt.NDArray[np.int64]

CRITIC_FILE = "critic.safetensors"
_METADATA = "tengen"
_MAX_CRITIC_BYTES = 64 << 20


class CriticInput(StrEnum):
    """Input features of a critic; `cpp/eval/critic.h` defines them."""

    STONES = "stones"
    """Counts of stones in each of the paper's 100 shapes, and the side to move: 402 inputs."""
    POINTS = "points"
    """Counts of empty points by the shape a stone there would make, and the existing threats: 4,816 inputs."""

    @property
    def size(self) -> int:
        """Number of inputs."""
        return _native.critic_input_count(_native.CriticInput[self.name])


class Activation(StrEnum):
    """Activation function of the hidden units."""

    SIGMOID = "sigmoid"
    RELU = "relu"


@dataclass(frozen=True, slots=True, kw_only=True)
class CriticConfig:
    """Architecture of a critic."""

    input: CriticInput = CriticInput.POINTS
    """Input features: stones as in the paper, or points."""
    hidden: int = 32
    """Number of hidden units, a multiple of 8."""
    activation: Activation = Activation.RELU
    """Activation function of the hidden units."""
    radius: int = 2
    """Maximum distance of a candidate move from the nearest stone, in rows and columns."""

    def __post_init__(self) -> None:
        if self.hidden % 8 or not 8 <= self.hidden <= 128:
            raise InputError(f"hidden={self.hidden} is not a multiple of 8 between 8 and 128")
        if self.radius < 1:
            raise InputError(f"radius={self.radius} leaves no candidate moves; it must be at least 1")

    def shapes(self) -> dict[str, tuple[int, ...]]:
        """Return the shapes of the weights by name."""
        return {
            "weights": (self.input.size, self.hidden),
            "biases": (self.hidden,),
            "output_weights": (self.hidden,),
            "output_bias": (1,),
        }


@dataclass(frozen=True, slots=True)
class Judgement:
    """A critic's evaluation of the candidate moves in a position."""

    points: IntArray
    """[moves]: point indices in ascending order."""
    chances: npt.NDArray[np.float64]
    """[moves]: winning probability for the side to move after each move; 1 for a winning move, 0.5 for a draw."""


class Critic:
    """A critic with its weights."""

    def __init__(self, config: CriticConfig, ruleset: Ruleset, weights: Mapping[str, FloatArray]) -> None:
        """Create a critic from `weights`, named as in `CriticConfig.shapes` and trained on `ruleset`."""
        for name, shape in config.shapes().items():
            found = weights[name].shape if name in weights else None
            if found != shape:
                raise InputError(f"{name} in this critic must have shape {shape}, not {found}")
        self.config = config
        self.ruleset = ruleset
        # Copy, because training changes the originals in place.
        self.weights = {name: np.array(weights[name], np.float32, order="C") for name in config.shapes()}
        self.native = _native.Critic(
            _native.CriticInput[config.input.name],
            _native.Activation[config.activation.name],
            self.weights["weights"],
            self.weights["biases"],
            self.weights["output_weights"],
            float(self.weights["output_bias"][0]),
        )

    def supports(self, ruleset: Ruleset) -> bool:
        """Return whether the critic supports a ruleset: any size, with the rule and win length it was trained on."""
        return (ruleset.rule, ruleset.win_length) == (self.ruleset.rule, self.ruleset.win_length)

    def check_supports(self, ruleset: Ruleset) -> None:
        """Raise `RulesetError` unless the critic supports the ruleset."""
        if not self.supports(ruleset):
            raise RulesetError(f"the critic supports {self.ruleset} on any board size, not {ruleset}")

    def judge(self, position: Position) -> Judgement:
        """Evaluate all candidate moves in a position, in a few microseconds. The game must not be over."""
        self.check_supports(position.ruleset)
        points, logits = _native.judge_afterstates(self.native, position.native, self.config.radius)
        # tanh does not overflow, unlike exp. In float64, fewer logits round to the same probability.
        return Judgement(points, 0.5 * (1 + np.tanh(0.5 * logits.astype(np.float64))))

    def to_bytes(self) -> bytes:
        """Serialize the critic in the format of a critic file."""
        from safetensors.numpy import save

        # Use a single entry: the order of several entries is undefined, and equal critics should produce equal files.
        description = json.dumps({"critic": asdict(self.config), "ruleset": str(self.ruleset)})
        return save(self.weights, metadata={_METADATA: description})

    @classmethod
    def from_bytes(cls, data: bytes, place: str) -> Critic:
        """Parse the content of a critic file. If it is invalid, raises an `InputError` that names `place`."""
        from safetensors.numpy import load

        header = parse_tensor_header(data, place)
        description = parse_json(header.metadata.get(_METADATA, "null"), f"the description in {place}")
        try:
            table = description["critic"]
            config = CriticConfig(
                **{**table, "input": CriticInput(table["input"]), "activation": Activation(table["activation"])}
            )
            ruleset = Ruleset.parse(description["ruleset"])
        except (ValueError, TypeError, KeyError, AttributeError) as error:
            raise InputError(f"{place} is not a critic: {error!r:.200}") from None
        header.check_shapes(config.shapes(), place)
        if unknown := set(header.kinds.values()) - {"F32"}:
            raise InputError(f"{place} is not a critic: its weights are {min(unknown)}, not F32")
        weights = load(data)
        if not all(np.isfinite(array).all() for array in weights.values()):
            raise InputError(f"{place} is damaged: it has weights that are NaN or infinite")
        return cls(config, ruleset, weights)


def critic_names() -> tuple[str, ...]:
    """Return the names of the shipped critics."""
    return tuple(sorted(path.parent.name for path in shipped_folder("models").glob(f"*/{CRITIC_FILE}")))


def find_critic(source: str | Path) -> Path:
    """Return the path of a critic given as a shipped name, the folder of a training run, or a file."""
    path = Path(source)
    if path.suffix == ".safetensors":
        return path
    if not path.is_dir():
        if str(source) not in critic_names():
            known = did_you_mean(str(source), critic_names())
            raise InputError(
                f"{str(source)!r} is neither a folder, nor a .safetensors file, nor a shipped critic{known}"
            )
        path = shipped_folder("models") / path
    return path / CRITIC_FILE


def load_critic(source: str | Path) -> Critic:
    """Load a critic given by name, folder or file (see `find_critic`)."""
    path = find_critic(source)
    return Critic.from_bytes(read_bytes(path, _MAX_CRITIC_BYTES), str(path))


def critic_inputs(kind: CriticInput, position: Position, view: Colour) -> tuple[npt.NDArray[np.int32], FloatArray]:
    """Return the indices and values of the nonzero inputs for a position as seen by `view`."""
    return _native.critic_inputs(_native.CriticInput[kind.name], position.native, colour_to_native(view))
