"""Speed of supervised learning: building data sets, making batches, training networks.

A training step is the forward pass, backward pass and optimizer step of a batch of 256 positions on 15×15, in one
thread. The sweeps of the recurrent network go by anti-diagonals, with the four corners as one batch. They are compared
with two loops over cells that compute the same result:

- `of_one_position`: one position after the other, one cell at a time, as in a naive program. Each operation acts on ten
  numbers, so the call overhead is far larger than the computation.
- `of_a_batch`: one cell at a time for all 256 positions. Operations on 256 rows already use the processor well, so the
  possible gain is limited by the arithmetic. `arithmetic_to_cells_of_a_batch_ratio` is the speed-up of the same
  operations on all cells at once, as if no unit depended on another. No order of the sweep can exceed it.

The convolutional network of stanford15 trains in bf16. Its arithmetic limit is the speed of a 3×3 convolution with 256
channels in bf16, divided by the operations of a training step: the forward pass, and twice as many for the gradients of
weights and inputs, except that the board needs no gradient.

All figures use processor time, which other programs affect less than wall-clock time.
"""

from __future__ import annotations

import tempfile
import time
from collections.abc import Callable
from functools import partial
from pathlib import Path

import numpy as np
import torch
from torch import Tensor, nn
from torch.nn import functional

from tengen.core.contracts import Ruleset
from tengen.core.position import Position
from tengen.datasets.build import BuildConfig, build_dataset
from tengen.datasets.dataset import Augmentation, Batch, Dataset
from tengen.learning.algorithms.supervised import Config, Learner
from tengen.learning.config import load_config
from tengen.nets.architectures import Net, build_net
from tengen.nets.mdrnn import FLIPS, PlainSweep, sweep_from_corners
from tengen.nets.pooled import POOL, PooledNet
from tengen.records import GameRecord, save

Figures = dict[str, float]

RULES = Ruleset.parse("15x15:5:freestyle")
GAMES = 1500
BATCH = 256
STEPS = 3
ALONE = 4
"""Number of positions for the loop over single positions."""


def run() -> Figures:
    """Return all figures by name."""
    torch.set_num_threads(1)
    figures: Figures = {}
    with tempfile.TemporaryDirectory() as folder:
        _write_games(Path(folder) / "games.jsonl.gz")
        started = time.process_time()
        dataset = build_dataset([Path(folder) / "games.jsonl.gz"], Path(folder) / "set", BuildConfig(ruleset=RULES))
        figures["built_moves_per_second"] = len(dataset.moves) / (time.process_time() - started)
        numbers = np.random.default_rng(1).integers(len(dataset), size=BATCH)
        for layout in ("own-other", "threats"):
            seconds = _time(partial(_batch, dataset, numbers, layout))
            figures[f"batch_{layout}_positions_per_second"] = BATCH / seconds
        for preset in ("cnn", "mdrnn", "stanford15-mdrnn"):
            config = load_config(Config, "supervised", preset, [f"data={folder}"])
            learner = Learner(build_net(config.net, RULES), config.learner)
            batch = _batch(dataset, numbers, config.net.planes)
            seconds = _time(partial(learner.step, batch, 1e-3))
            figures[f"train_{preset}_positions_per_second"] = BATCH / seconds
        figures |= _train_paper_cnn(dataset, numbers, folder)
        planes = torch.from_numpy(_batch(dataset, numbers, "own-other").planes).permute(1, 2, 3, 0)
    return figures | _sweeps(planes.contiguous())


def _train_paper_cnn(dataset: Dataset, numbers: np.ndarray[tuple[int], np.dtype[np.int64]], folder: str) -> Figures:
    """Measure training steps of the 1024-filter network, and the speed that arithmetic alone would allow."""
    settings = [f"data={folder}", "learner.precision=bf16"]
    config = load_config(Config, "supervised", "stanford15-cnn", settings)
    net = build_net(config.net, RULES)
    learner = Learner(net, config.learner)
    batch = _batch(dataset, numbers, config.net.planes)
    reached = BATCH / _time(partial(learner.step, batch, 1e-3))
    limit = _peak_operations() / _step_operations(net)
    return {
        "train_stanford15-cnn_positions_per_second": reached,
        "arithmetic_stanford15-cnn_positions_per_second": limit,
        "train_to_arithmetic_stanford15-cnn_ratio": reached / limit,
    }


def _peak_operations() -> float:
    """Return the additions and multiplications per second of a large convolution in bf16."""
    count, channels, size = 50, 256, 30
    planes = torch.rand(count, channels, size, size).bfloat16().contiguous(memory_format=torch.channels_last)
    filters = torch.rand(channels, channels, 3, 3).bfloat16().contiguous(memory_format=torch.channels_last)
    with torch.no_grad():
        seconds = _time(lambda: functional.conv2d(planes, filters, padding=1))
    return 2 * count * size**2 * channels**2 * 9 / seconds


def _step_operations(net: Net) -> float:
    """Return the additions and multiplications of a training step per position."""
    assert isinstance(net, PooledNet)
    pooled = RULES.area // POOL**2
    stem = 2 * RULES.area * net.stem.weight.numel()
    rest = 2 * pooled * sum(layer.weight.numel() for layer in net.trunk.children() if isinstance(layer, nn.Conv2d))
    rest += 2 * sum(layer.weight.numel() for layer in net.dense.children() if isinstance(layer, nn.Linear))
    return 2 * stem + 3 * rest


def _sweeps(features: Tensor) -> Figures:
    """Measure the forward and backward pass of the paper's recurrent layer with ten units."""
    torch.manual_seed(1)
    sweep = PlainSweep(len(features), 10)
    with torch.no_grad():
        for weight in sweep.parameters():
            weight.normal_(std=0.2)

    def by_diagonals(given: Tensor) -> None:
        sweep_from_corners(sweep, given).sum().backward()  # type: ignore[no-untyped-call]

    def by_cells(given: Tensor) -> None:
        states = torch.stack([_sweep_cells(sweep, given.flip(flip)) for flip in FLIPS])
        states.sum().backward()  # type: ignore[no-untyped-call]

    def one_by_one() -> None:
        for row in range(ALONE):
            by_cells(features[..., row : row + 1])

    own = torch.cat([features] * len(FLIPS), dim=-1)
    neighbours = torch.rand(10, *own.shape[1:], requires_grad=True)

    def arithmetic() -> None:
        sweep.step(own, neighbours, neighbours, None).sum().backward()  # type: ignore[no-untyped-call]

    batched = _time(lambda: by_diagonals(features)) / BATCH
    cells = _time(lambda: by_cells(features), 1) / BATCH
    alone = _time(one_by_one, 1) / ALONE
    return {
        "sweep_positions_per_second": 1 / batched,
        "sweep_to_cells_of_one_position_ratio": alone / batched,
        "sweep_to_cells_of_a_batch_ratio": cells / batched,
        "arithmetic_to_cells_of_a_batch_ratio": cells * BATCH / _time(arithmetic),
    }


def _sweep_cells(sweep: PlainSweep, features: Tensor) -> Tensor:
    """Compute the paper's formula cell by cell."""
    _, height, width, count = features.shape
    states: dict[tuple[int, int], Tensor] = {}
    border = sweep.border[:, None].expand(-1, count)
    for y in range(height):
        for x in range(width):
            own = sweep.input.T @ features[:, y, x]
            above = sweep.hidden.T @ states.get((y - 1, x), border)
            left = sweep.hidden.T @ states.get((y, x - 1), border)
            states[y, x] = torch.tanh(own + above + left)
    return torch.stack(list(states.values()))


def _batch(dataset: Dataset, numbers: np.ndarray[tuple[int], np.dtype[np.int64]], layout: str) -> Batch:
    return dataset.batch(numbers, layout, Augmentation(shift=2), np.random.default_rng(2))


def _time(do: Callable[[], object], rounds: int = STEPS) -> float:
    """Return the processor seconds of one call, after a warm-up call."""
    do()
    started = time.process_time()
    for _ in range(rounds):
        do()
    return (time.process_time() - started) / rounds


def _write_games(path: Path) -> None:
    """Write random games near the centre."""
    rng = np.random.default_rng(3)
    records = []
    for _ in range(GAMES):
        position = Position.start(RULES)
        while not position.is_over and position.stones < 40:
            x, y = np.clip(np.rint(rng.normal(7, 2.5, size=2)), 0, 14).astype(int)
            if position.is_legal(int(y * 15 + x)):
                position = position.play(int(y * 15 + x))
        records.append(GameRecord.from_points(RULES, position.moves))
    save(path, records)
