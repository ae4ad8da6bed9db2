"""Trains the evaluation's small network (`EvaluationNet` in cpp/eval/weights.h) on games played by the engine.

The linear evaluation sums the values of all empty points. It cannot express that a point useful to both sides is worth
more than the sum of both values, that the third open two adds less than the first, or that the side to move needs fewer
threats. The network learns this difference; the linear evaluation is unchanged. An empty point adds
max(0, own[code] + other[code]) to sixteen features of each side. Two small layers process the sums, minus those of the
empty board, so that one network serves all board sizes.

Training uses floating point; the engine computes with integers (`quantise`).
"""

from __future__ import annotations

import math
from collections.abc import Sequence
from dataclasses import dataclass
from pathlib import Path
from typing import TYPE_CHECKING, Any

import numpy as np
import torch
from torch import Tensor, nn
from torch.nn import functional

from tengen.errors import InputError
from tengen.search.weights import LOGISTIC_UNIT, SHAPE_CODES, VALUE_UNIT, EvaluationNet, Weights, load_weights
from tengen.tuning.evaluation_fit import (
    FitConfig,
    FitSamples,
    Say,
    collect_samples,
    rulesets_of,
    shape_parts,
    threat_parts,
    write_fit,
)

if TYPE_CHECKING:
    import numpy.typing as npt

    from tengen.tuning.engine_games import EngineGame

FEATURES = EvaluationNet.FEATURES
HIDDEN = EvaluationNet.HIDDEN
_SHIFT = EvaluationNet.SHIFT
_OUTPUT_UNIT = EvaluationNet.OUTPUT_UNIT

_INPUT_SCALE = 0.05
"""Factor that scales features, which are sums over many points, to about 1."""
_OWN_CODE = 0.3
"""Factor for a code's own part, relative to the parts shared with other codes; as in the linear fit."""

# Scale factors for rounding features and hidden layers to integers. The sum of a feature over the largest board must
# stay below 2^15.
_FEATURE_UNIT = 32
_HIDDEN_UNIT = 256


@dataclass(frozen=True, kw_only=True)
class NetFitConfig:
    """Settings for training."""

    epochs: float = 8.0
    batch: int = 2048
    learning_rate: float = 5e-3
    """Peak learning rate; it rises over the first tenth of the training and then falls to almost 0."""
    decay: float = 0.02
    """Weight decay for the codes' own parts."""
    result_weight: float = 0.5
    """Weight of the game's result in the target; the rest is the search value."""
    validation: float = 0.05
    """Fraction of games held out for validation."""
    threads: int = 1
    seed: int = 1

    def __post_init__(self) -> None:
        if self.epochs <= 0 or self.batch < 1 or self.learning_rate <= 0 or self.decay < 0:
            raise InputError(
                f"epochs={self.epochs}, batch={self.batch} and learning_rate={self.learning_rate} must be positive, and"
                f" decay={self.decay} must not be negative"
            )

    @property
    def fit(self) -> FitConfig:
        """Settings for collecting the samples."""
        return FitConfig(result_weight=self.result_weight, validation=self.validation, seed=self.seed)


class _CodeTable(nn.Module):
    """A vector for each code: [codes, width]. Rare codes rely mainly on the parts shared with other codes."""

    parts: Tensor

    def __init__(self, width: int, deviation: float) -> None:
        super().__init__()
        parts = torch.tensor(shape_parts(), dtype=torch.float32)
        # Parts that occur in few codes would learn slowly, so scale them up, within limits.
        parts = (parts / parts.pow(2).mean(0).sqrt().clamp(min=1e-3)).clamp(max=20)
        self.register_buffer("parts", parts)
        self.shared = nn.Parameter(deviation * torch.randn(parts.shape[1], width))
        self.own = nn.Parameter(torch.zeros(len(parts), width))

    def forward(self) -> Tensor:
        return self.parts @ self.shared + _OWN_CODE * self.own


class TrainedNet(nn.Module):
    """The network in floating point. `sides` is 1 if both colours share their tables, otherwise 2."""

    threat_parts: Tensor

    def __init__(self, sides: int) -> None:
        super().__init__()
        self.sides = sides
        self.register_buffer("threat_parts", torch.tensor(threat_parts(), dtype=torch.float32))
        self.own = nn.ModuleList(_CodeTable(FEATURES, 0.03) for _ in range(sides))
        self.other = nn.ModuleList(_CodeTable(FEATURES, 0.03) for _ in range(sides))
        self.first = nn.Parameter(torch.empty(sides, HIDDEN, 2 * FEATURES))
        nn.init.uniform_(self.first, -1 / math.sqrt(2 * FEATURES), 1 / math.sqrt(2 * FEATURES))
        self.threats = nn.Parameter(0.1 * torch.randn(sides, self.threat_parts.shape[1], HIDDEN))
        self.second = nn.Linear(HIDDEN, HIDDEN)
        self.output = nn.Linear(HIDDEN, 1)
        nn.init.zeros_(self.output.weight)

    def point_features(self, side: int, own_codes: Tensor, other_codes: Tensor) -> Tensor:
        """Return the points' contributions to a side's features [n, FEATURES] from both sides' codes [n]."""
        own = functional.embedding(own_codes, self.own[side]())
        return torch.relu(own + functional.embedding(other_codes, self.other[side]()))

    def forward(self, to_move: Tensor, opponents: Tensor, threat_bits: Tensor, side: int) -> Tensor:
        """Map features of both sides [B, FEATURES] and threat bits [B] to log-odds [B]."""
        inputs = _INPUT_SCALE * torch.cat((to_move, opponents), dim=1)
        hidden = torch.relu(inputs @ self.first[side].T + self.threat_parts[threat_bits] @ self.threats[side])
        logits: Tensor = self.output(torch.relu(self.second(hidden)))[:, 0]
        return logits


class _Batches:
    """Samples as network input. Distinct pairs of codes are numbered."""

    def __init__(self, samples: FitSamples, linear: npt.NDArray[np.float32]) -> None:
        pairs, numbers = np.unique(samples.pairs, return_inverse=True)
        self.own_codes = torch.from_numpy((pairs // SHAPE_CODES).astype(np.int64))
        self.other_codes = torch.from_numpy((pairs % SHAPE_CODES).astype(np.int64))
        self._numbers = numbers.astype(np.int32)
        self._counts = samples.pair_counts.astype(np.float32)
        self._starts = samples.pair_starts
        self._bits = samples.threat_bits.astype(np.int64)
        self._targets = samples.targets.astype(np.float32)
        self._linear = linear

    def logits(self, net: TrainedNet, side: int, positions: npt.NDArray[np.intp]) -> Tensor:
        """Return the sum of the linear and the network log-odds for positions with `side` to move."""
        lengths = self._starts[positions + 1] - self._starts[positions]
        offsets = np.concatenate(([0], np.cumsum(lengths)[:-1]))
        entries = np.repeat(self._starts[positions] - offsets, lengths) + np.arange(int(lengths.sum()))
        numbers = torch.from_numpy(self._numbers[entries])
        counts = torch.from_numpy(self._counts[entries])
        starts = torch.from_numpy(offsets.astype(np.int32))

        def sums(features: Tensor) -> Tensor:
            return functional.embedding_bag(numbers, features, starts, mode="sum", per_sample_weights=counts)

        opponent = net.sides - 1 - side
        to_move = sums(net.point_features(side, self.own_codes, self.other_codes))
        opponents = sums(net.point_features(opponent, self.other_codes, self.own_codes))
        bits = torch.from_numpy(self._bits[positions])
        logits: Tensor = net(to_move, opponents, bits, side)
        return logits + torch.from_numpy(self._linear[positions])

    def loss(self, net: TrainedNet, side: int, positions: npt.NDArray[np.intp]) -> Tensor:
        """Return the mean cross-entropy over positions with `side` to move."""
        targets = torch.from_numpy(self._targets[positions])
        return functional.binary_cross_entropy_with_logits(self.logits(net, side, positions), targets)


def _linear_logits(samples: FitSamples, weights: Weights) -> npt.NDArray[np.float32]:
    """Return the linear evaluation of each sample in log-odds."""
    points = weights.points.astype(np.float64) / VALUE_UNIT
    columns = points.ravel() if samples.by_colour else points[0]
    threats = weights.threats.astype(np.float64)[samples.colours, samples.threat_bits]
    units = np.asarray(samples.rows @ columns) + threats
    return np.asarray(units / LOGISTIC_UNIT, dtype=np.float32)


@dataclass(frozen=True, kw_only=True)
class NetReport:
    """Result of training, written next to the weights; validation losses are in nats."""

    ruleset: str
    games: int
    positions: int
    linear: float
    network: float


def train_net(
    samples: FitSamples, weights: Weights, config: NetFitConfig, say: Say = lambda _: None
) -> tuple[TrainedNet, float, float]:
    """Train on samples. Return the network and the validation losses without and with the network."""
    torch.set_num_threads(config.threads)
    torch.manual_seed(config.seed)
    random = np.random.default_rng(config.seed)
    net = TrainedNet(2 if samples.by_colour else 1)
    linear = _linear_logits(samples, weights)
    batches = _Batches(samples, linear)
    training, validation = samples.split(config.fit)
    sides = samples.colours if samples.by_colour else np.zeros(len(samples), dtype=np.uint8)
    by_side = [np.flatnonzero(training & (sides == side)) for side in range(net.sides)]
    kept_out = [np.flatnonzero(validation & (sides == side)) for side in range(net.sides)]
    if not all(map(len, by_side)) or not all(map(len, kept_out)):
        raise InputError(f"{len(samples)} positions are too few to train and validate; generate more games")

    def measure() -> float:
        total = 0.0
        with torch.no_grad():
            for side, chosen in enumerate(kept_out):
                for i in range(0, len(chosen), config.batch):
                    part = chosen[i : i + config.batch]
                    total += float(batches.loss(net, side, part)) * len(part)
        return total / sum(map(len, kept_out))

    before = measure()
    own_parts = [p for name, p in net.named_parameters() if name.endswith(".own")]
    rest = [p for name, p in net.named_parameters() if not name.endswith(".own")]
    groups: list[dict[str, Any]] = [
        {"params": own_parts, "weight_decay": config.decay},
        {"params": rest, "weight_decay": 0.0},
    ]
    optimizer = torch.optim.AdamW(groups, lr=config.learning_rate)
    count = sum(map(len, by_side))
    steps = max(1, math.ceil(config.epochs * count / config.batch))
    schedule = torch.optim.lr_scheduler.OneCycleLR(optimizer, config.learning_rate, total_steps=steps, pct_start=0.1)
    for step in range(1, steps + 1):
        side = int(random.integers(net.sides))
        chosen = by_side[side]
        loss = batches.loss(net, side, np.sort(random.choice(chosen, min(config.batch, len(chosen)), replace=False)))
        optimizer.zero_grad()
        torch.autograd.backward(loss)
        optimizer.step()
        schedule.step()
        if step % max(1, steps // 10) == 0:
            say(f"step {step:,} of {steps:,}: loss {measure():.5f} (linear: {before:.5f})")
    return net, before, measure()


def quantise(net: TrainedNet) -> EvaluationNet:
    """Return the network with integer weights, as the engine uses it."""
    first_unit = _HIDDEN_UNIT * (1 << _SHIFT) / _FEATURE_UNIT
    second_unit = 1 << _SHIFT
    output_unit = LOGISTIC_UNIT * _OUTPUT_UNIT / _HIDDEN_UNIT

    def whole(values: Tensor, unit: float, kind: type[np.signedinteger[Any]]) -> npt.NDArray[Any]:
        limits = np.iinfo(kind)
        numbers = np.rint(values.detach().double().numpy() * unit)
        return np.ascontiguousarray(np.clip(numbers, limits.min, limits.max), dtype=kind)

    def both_sides(parts: Sequence[Tensor] | Tensor) -> Tensor:
        return torch.stack([parts[0], parts[-1]])

    return EvaluationNet(
        own=whole(both_sides([table() for table in net.own]), _FEATURE_UNIT, np.int16),
        other=whole(both_sides([table() for table in net.other]), _FEATURE_UNIT, np.int16),
        first=whole(both_sides(_INPUT_SCALE * net.first), first_unit, np.int16),
        threats=whole(both_sides(net.threat_parts @ net.threats), _HIDDEN_UNIT * (1 << _SHIFT), np.int32),
        second=whole(net.second.weight, second_unit, np.int16),
        second_bias=whole(net.second.bias, _HIDDEN_UNIT * second_unit, np.int32),
        output=whole(net.output.weight[0], output_unit, np.int16),
        output_bias=int(whole(net.output.bias, _HIDDEN_UNIT * output_unit, np.int32)[0]),
    )


def train_files(
    paths: Sequence[Path], base: Path, target: Path, config: NetFitConfig, say: Say = lambda _: None
) -> NetReport:
    """Train on the games in these files with the linear weights `base`. Write `target` and a log next to it."""
    weights = load_weights(base)

    def fit(games: list[EngineGame]) -> tuple[Weights, NetReport]:
        samples = collect_samples(games, config.fit)
        say(f"{len(games):,} games, {len(samples):,} positions")
        net, linear, trained = train_net(samples, weights, config, say)
        tables = (weights.points, weights.threats, weights.attack, weights.defence)
        report = NetReport(
            ruleset=rulesets_of(games), games=len(games), positions=len(samples), linear=linear, network=trained
        )
        return Weights(*tables, quantise(net)), report

    return write_fit(paths, target, config, fit)
