"""Critics: small networks that say from counts of shapes who will win, and the one move they look ahead.

A critic judges the position after each candidate move as the player sees it who made the move; the player takes the
best. All of that is native code. The file of a critic is safetensors with a description, and needs no torch.
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


class CriticInput(StrEnum):
    """What a critic sees of a position; `cpp/eval/critic.h` says it exactly."""

    STONES = "stones"
    """Counts of stones by the hundred shapes of the paper, and whose turn it is: 402 inputs."""
    POINTS = "points"
    """Counts of empty points by what a stone there would make, and which threats exist: 4,816 inputs."""

    @property
    def size(self) -> int:
        """How many inputs that are."""
        return _native.critic_input_count(_native.CriticInput[self.name])


class Activation(StrEnum):
    """What the hidden units do to their sums."""

    SIGMOID = "sigmoid"
    RELU = "relu"


@dataclass(frozen=True, slots=True, kw_only=True)
class CriticConfig:
    """The form of a critic."""

    input: CriticInput = CriticInput.POINTS
    """What it sees: stones as in the paper, or points."""
    hidden: int = 32
    """Hidden units, a multiple of 8."""
    activation: Activation = Activation.RELU
    """Of the hidden units."""
    radius: int = 2
    """Candidate moves are the empty points so near to a stone along both axes."""

    def __post_init__(self) -> None:
        if self.hidden % 8 or not 8 <= self.hidden <= 128:
            raise InputError(f"{self.hidden} hidden units are not a multiple of 8 from 8 to 128")
        if self.radius < 1:
            raise InputError(f"candidates within {self.radius} of a stone are none")

    def shapes(self) -> dict[str, tuple[int, ...]]:
        """Name → shape of the weights."""
        return {
            "weights": (self.input.size, self.hidden),
            "biases": (self.hidden,),
            "output_weights": (self.hidden,),
            "output_bias": (1,),
        }


@dataclass(frozen=True, slots=True)
class Judgement:
    """What a critic says of the candidate moves of a position."""

    points: IntArray
    """[moves]: their indices, growing."""
    chances: npt.NDArray[np.float64]
    """[moves]: of the side to move to win after each; 1 for a move that wins, 0.5 for one that draws."""


class Critic:
    """A critic with its weights, ready to judge."""

    def __init__(self, config: CriticConfig, ruleset: Ruleset, weights: Mapping[str, FloatArray]) -> None:
        """`weights` as `CriticConfig.shapes` names them; `ruleset` is what it was trained to play."""
        for name, shape in config.shapes().items():
            found = weights[name].shape if name in weights else None
            if found != shape:
                raise InputError(f"{name} of a critic have shape {shape}, not {found}")
        self.config = config
        self.ruleset = ruleset
        # Copies: weights in training change under their owner.
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
        """Whether it can judge positions of a ruleset: any size, the rule and win length it was trained with."""
        return (ruleset.rule, ruleset.win_length) == (self.ruleset.rule, self.ruleset.win_length)

    def check_supports(self, ruleset: Ruleset) -> None:
        """`RulesetError` unless `supports`."""
        if not self.supports(ruleset):
            raise RulesetError(f"the critic plays {self.ruleset} and other sizes, not {ruleset}")

    def judge(self, position: Position) -> Judgement:
        """All candidate moves of a game that goes on; takes microseconds."""
        self.check_supports(position.ruleset)
        points, logits = _native.judge_afterstates(self.native, position.native, self.config.radius)
        # By tanh, which does not overflow; in float64, where more positions differ.
        return Judgement(points, 0.5 * (1 + np.tanh(0.5 * logits.astype(np.float64))))

    def to_bytes(self) -> bytes:
        """The content of a critic's file."""
        from safetensors.numpy import save

        # One entry: several come out in any order, and the same critic should give the same file.
        description = json.dumps({"critic": asdict(self.config), "ruleset": str(self.ruleset)})
        return save(self.weights, metadata={_METADATA: description})

    @classmethod
    def from_bytes(cls, data: bytes, place: str) -> Critic:
        """The critic in a file; `InputError`, naming `place`, when there is none."""
        import safetensors
        from safetensors.numpy import load

        try:
            weights = load(data)
            length = int.from_bytes(data[:8], "little")
            description = json.loads(json.loads(data[8 : 8 + length])["__metadata__"][_METADATA])
            table = description["critic"]
            config = CriticConfig(
                **{**table, "input": CriticInput(table["input"]), "activation": Activation(table["activation"])}
            )
            return cls(config, Ruleset.parse(description["ruleset"]), weights)
        except (safetensors.SafetensorError, ValueError, TypeError, KeyError) as error:
            raise InputError(f"{place} is not a critic: {error}") from None


def critic_names() -> tuple[str, ...]:
    """The names of the shipped critics."""
    return tuple(sorted(path.parent.name for path in shipped_folder("models").glob(f"*/{CRITIC_FILE}")))


def find_critic(source: str | Path) -> Path:
    """The file of a critic by the name of a shipped one, the folder of a training run, or its own path."""
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
    """Read what `find_critic` finds."""
    path = find_critic(source)
    try:
        return Critic.from_bytes(path.read_bytes(), str(path))
    except OSError as error:
        raise InputError(f"cannot read the critic {path}: {error.strerror}") from None


def critic_inputs(kind: CriticInput, position: Position, view: Colour) -> tuple[npt.NDArray[np.int32], FloatArray]:
    """The inputs that are not 0, counted from the stones, and their amounts, as `view` sees the position."""
    return _native.critic_inputs(_native.CriticInput[kind.name], position.native, colour_to_native(view))
