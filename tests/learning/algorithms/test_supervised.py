"""Supervised learning: a tiny network fits its games, runs resume exactly, accuracy is counted correctly."""

from __future__ import annotations

import io
import json
from pathlib import Path

import numpy as np
import pytest
import torch
from rich.console import Console
from typer.testing import CliRunner

from tengen.agents.registry import make_agent
from tengen.cli import app
from tengen.core.contracts import Limits, Ruleset
from tengen.core.planes import FloatPlanes
from tengen.core.position import Position
from tengen.datasets.build import BuildConfig, build_dataset
from tengen.datasets.dataset import Dataset, Split
from tengen.errors import InputError
from tengen.learning import shipping
from tengen.learning.accuracy import TEST_FILE, measure_accuracy
from tengen.learning.algorithms import supervised
from tengen.learning.algorithms.supervised_pictures import PICTURES
from tengen.learning.config import load_config, preset_names
from tengen.learning.learner import StepPrecision
from tengen.learning.run import Run, new_header
from tengen.learning.run.progress import Progress
from tengen.learning.shipping import ship_run
from tengen.nets.architectures import NetConfig, NetKind, build_net, load_net
from tengen.nets.models import WEIGHTS_FILE, ModelInfo, Precision
from tengen.tuning.engine_games import EngineGamesConfig, generate_games

SEVEN = Ruleset(7, 7)
TINY = [
    "ruleset=7x7:5:freestyle",
    "net.channels=8",
    "net.blocks=1",
    "learner.batch=32",
    "learner.steps=6",
    "validation=40",
    "test=60",
    "strength.every=0",
]


@pytest.fixture(scope="module")
def data(tmp_path_factory) -> Path:
    folder = tmp_path_factory.mktemp("data")
    generate_games(folder / "games.jsonl", EngineGamesConfig(ruleset=SEVEN, games=60, nodes=30, to_the_end=True))
    build_dataset([folder / "games.jsonl"], folder / "set", BuildConfig(ruleset=SEVEN, opening_moves=8))
    return folder / "set"


def make_run(folder: Path, data: Path, *settings: str, preset: str = "cnn", seed: int = 4) -> Run:
    config = load_config(supervised.Config, "supervised", preset, [*TINY, f"data={data}", *settings])
    return Run.create(folder, new_header("supervised", preset, seed), config)


def train(run: Run) -> None:
    with Progress(Console(file=io.StringIO()), "test") as progress:
        supervised.train(run, progress)


def test_presets_can_be_read_and_are_those_of_the_paper() -> None:
    for name in preset_names("supervised"):
        load_config(supervised.Config, "supervised", name, ["data=somewhere"])
    mdrnn, cnn = (
        load_config(supervised.Config, "supervised", f"stanford15-{name}", ["data=somewhere"])
        for name in ("mdrnn", "cnn")
    )
    for paper in (mdrnn, cnn):
        assert str(paper.ruleset) == "15x15:5:renju"
        assert paper.learner.batch == 200
        # 600 passes over 0.8 million training moves
        assert paper.iterations * paper.learner.steps * paper.learner.batch == 600 * 800_000
        assert (paper.augmentation.symmetry, paper.augmentation.shift, paper.learner.average) == (False, 0, 0)
    assert (mdrnn.net.kind, mdrnn.net.channels, mdrnn.net.planes) == (NetKind.MDRNN, 10, "own-other")
    assert (mdrnn.learner.learning_rate, mdrnn.learner.decay, mdrnn.learner.weight_decay) == (1e-4, 0.99, 1e-3)
    assert (cnn.net.kind, cnn.net.planes) == (NetKind.POOLED, "board")
    assert (cnn.learner.learning_rate, cnn.learner.decay, cnn.learner.weight_decay) == (3e-3, 0.95, 1e-4)
    shapes = [tuple(weight.shape) for weight in build_net(cnn.net, cnn.ruleset).parameters() if weight.dim() > 1]
    convolutions, dense = shapes[:3], shapes[3:]
    assert convolutions == [(1024, 1, 5, 5), (256, 1024, 3, 3), (128, 256, 3, 3)]
    assert [shape[1] for shape in dense] == [128 * 5 * 5, 512, 512]
    assert dense[-1][0] == 15 * 15


def test_initial_weights_can_be_drawn_as_in_the_paper(tmp_path, data) -> None:
    changes = ("iterations=1", "learner.steps=1", "learner.learning_rate=0", "initial_deviation=0.5", "net.channels=10")
    run = make_run(tmp_path / "run", data, *changes, preset="stanford15-mdrnn")
    train(run)
    net, _ = load_net(run.folder / WEIGHTS_FILE)
    weights = torch.cat([weight.flatten() for weight in net.parameters()])
    assert len(weights) == 140
    assert abs(float(weights.mean())) < 0.15
    assert 0.4 < float(weights.std()) < 0.6
    with pytest.raises(InputError, match="initial_deviation would replace the weights of init_from"):
        load_config(
            supervised.Config, "supervised", "mdrnn", ["data=x", "initial_deviation=1", "init_from=mdrnn-15x15"]
        )


@pytest.mark.parametrize("preset", preset_names("supervised"))
def test_a_run_gives_a_player_figures_and_pictures(tmp_path, data, preset) -> None:
    steps = 1 if preset == "stanford15-cnn" else 6  # by far the largest network
    run = make_run(tmp_path / "run", data, "iterations=2", f"learner.steps={steps}", preset=preset)
    train(run)
    metrics = run.metrics()
    assert [line["iteration"] for line in metrics] == [1, 2]
    assert metrics[-1]["positions"] == 2 * steps * run.config(supervised.Config).learner.batch
    assert metrics[-1]["accuracy"]["samples"] == 40
    test = json.loads((run.folder / TEST_FILE).read_text())
    assert test["samples"] == sum(test["by_stones"]["samples"]) == 60
    for picture in ("losses", "accuracy", "by-move", "policy"):
        assert (run.folder / f"{picture}.svg").stat().st_size > 1000
    assert (run.folder / "filters.svg").exists() == preset.endswith("cnn")
    with make_agent(f'supervised:run="{run.folder}"') as agent:
        position = Position.from_moves(SEVEN, "d4d5")
        assert position.is_legal(agent.choose(position, Limits()).move)
    result = CliRunner().invoke(app, ["data", "measure", str(data), str(run.folder), "--moves", "60"])
    assert result.exit_code == 0, result.exception
    assert "without openings" in result.stdout


def test_a_finished_run_can_be_shipped(tmp_path, data) -> None:
    for preset in ("cnn", "mdrnn"):
        run = make_run(tmp_path / preset, data, "iterations=1", preset=preset)
        train(run)
        target = tmp_path / "models" / f"{preset}-7x7"
        ship_run(run, target, "tengen train supervised")
        assert (target / "model-int8.onnx").exists() == (preset == "cnn")
        card = json.loads((target / "card.json").read_text(encoding="utf-8"))
        assert card["accuracy"]["samples"] == 60
        told = (target / "card.md").read_text(encoding="utf-8")
        assert "Accuracy on 60 moves of held-out test games" in told
        pictures = {"by-move", "policy"} | ({"filters"} if preset == "cnn" else set())
        assert set(card["pictures"]) == pictures == {name for name in PICTURES if f"({name}.svg)" in told}
        assert all((target / f"{name}.svg").stat().st_size > 1000 for name in pictures)


def test_a_run_resumed_in_the_middle_ends_the_same(tmp_path, data) -> None:
    whole = make_run(tmp_path / "whole", data, "iterations=3")
    train(whole)
    cut = make_run(tmp_path / "cut", data, "iterations=3")
    original = supervised.Learner.step
    steps = 0

    def learn_until_killed(self, *arguments):
        nonlocal steps
        steps += 1
        if steps > 9:
            raise KeyboardInterrupt
        return original(self, *arguments)

    with pytest.MonkeyPatch.context() as patch:
        patch.setattr(supervised.Learner, "step", learn_until_killed)
        with pytest.raises(KeyboardInterrupt):
            train(cut)
    train(Run.open(cut.folder))
    for file in ("model.safetensors", "test.json"):
        assert (cut.folder / file).read_bytes() == (whole.folder / file).read_bytes()
    losses = [[line["losses"] for line in run.metrics()] for run in (whole, cut)]
    assert losses[0] == losses[1]


def test_an_int8_form_that_differs_too_much_is_not_shipped(tmp_path, data, monkeypatch) -> None:
    run = make_run(tmp_path / "cnn", data, "iterations=1")
    train(run)
    target = tmp_path / "models" / "cnn-7x7"
    shipped = []
    for limit in (shipping.MAX_INT8_VALUE_DIFFERENCE, 0.0):
        monkeypatch.setattr(shipping, "MAX_INT8_VALUE_DIFFERENCE", limit)
        ship_run(run, target, "tengen train supervised")
        card = json.loads((target / "card.json").read_text(encoding="utf-8"))
        shipped.append((card["int8"], (target / "model-int8.onnx").exists()))
    assert shipped == [(True, True), (False, False)]


def test_a_network_learns_the_games_it_sees(data) -> None:
    dataset = Dataset.open(data)
    net = build_net(NetConfig(planes="threats", channels=16, blocks=1), SEVEN, seed=1)
    learner = supervised.Learner(net, supervised.LearnerConfig())
    batch = dataset.batch(dataset.find(Split.TRAINING)[:64], "threats")
    first = learner.step(batch, 3e-3)
    losses = [learner.step(batch, 3e-3) for _ in range(120)]
    last = losses[-1]
    assert last["policy"] < 0.3 * first["policy"]
    assert last["value"] < 0.5 * first["value"]


@pytest.mark.parametrize(
    "net",
    [
        NetConfig(planes="threats", channels=16, blocks=1),
        NetConfig(kind=NetKind.GATED_MDRNN, planes="threats", channels=8, blocks=1),
    ],
    ids=lambda net: net.kind,
)
def test_steps_in_bf16_learn_as_much_as_those_in_fp32(data, net) -> None:
    dataset = Dataset.open(data)
    batch = dataset.batch(dataset.find(Split.TRAINING)[:64], "threats")
    losses: dict[str, list[dict[str, float]]] = {}
    for precision in StepPrecision:
        learner = supervised.Learner(build_net(net, SEVEN, seed=1), supervised.LearnerConfig(precision=precision))
        losses[precision] = [learner.step(batch, 3e-3) for _ in range(60)]
        assert all(weight.dtype is torch.float32 for weight in learner.net.parameters())
    assert losses["bf16"] != losses["fp32"]
    for name in ("policy", "value"):
        first, last = (losses["fp32"][step][name] for step in (0, -1))
        assert losses["bf16"][-1][name] - last < 0.05 * (first - last)


def test_an_unknown_precision_is_refused(data) -> None:
    with pytest.raises(InputError, match=r"learner\.precision = 'fp16' is not one of fp32, bf16"):
        load_config(supervised.Config, "supervised", "cnn", [f"data={data}", "learner.precision=fp16"])


class Oracle:
    """Ranks the played move first, or third on every second position."""

    plane_layout = "board"

    def __init__(self, dataset: Dataset, numbers) -> None:
        self._moves = iter(dataset.batch(numbers, "board").moves)
        self._empty = iter(dataset.batch(numbers, "board").empty)
        self._count = 0

    def evaluate(self, planes: FloatPlanes):
        log_policy = np.full((len(planes), 49), -9.0, np.float32)
        for row in range(len(planes)):
            move, empty = next(self._moves), next(self._empty)
            log_policy[row, ~empty] = 0  # occupied points do not count
            others = [int(point) for point in np.flatnonzero(empty) if point != move][:2]
            log_policy[row, move] = -2
            log_policy[row, others] = -1 if self._count % 2 else -3
            self._count += 1
        return log_policy, np.zeros(len(planes), np.float32)


def test_accuracy_counts_first_and_fifth_choices(data) -> None:
    dataset = Dataset.open(data)
    numbers = dataset.find(Split.TRAINING)[:300]
    accuracy = measure_accuracy(Oracle(dataset, numbers), dataset, numbers)
    assert accuracy.share(accuracy.first) == pytest.approx(0.5, abs=0.01)
    assert accuracy.share(accuracy.top) == 1
    table = accuracy.to_json()
    plies = dataset.batch(numbers, "board").plies
    assert table["opening_samples"] == int((plies < 8).sum())
    shares = [accuracy.share(accuracy.first, openings=openings) for openings in (True, False)]
    weights = [table["opening_samples"], table["samples"] - table["opening_samples"]]
    assert np.average(shares, weights=weights) == pytest.approx(accuracy.share(accuracy.first))


class LeftHanded:
    """Prefers points further to the left."""

    plane_layout = "board"

    def evaluate(self, planes: FloatPlanes):
        log_policy = -np.tile(np.arange(7, dtype=np.float32), (len(planes), 7))
        return log_policy, np.zeros(len(planes), np.float32)


def test_accuracy_can_be_measured_with_the_average(data) -> None:
    run = CliRunner()
    command = ["data", "measure", str(data), "LeftHanded", "--moves", "50"]
    info = ModelInfo("LeftHanded", SEVEN, "board", False, Precision.FP32, "")
    with pytest.MonkeyPatch.context() as patch:
        patch.setattr("tengen.nets.models.load_model", lambda _: (LeftHanded(), info))
        alone, averaged = (run.invoke(app, [*command, *more]) for more in ([], ["--average"]))
    assert alone.exit_code == averaged.exit_code == 0, averaged.exception
    assert alone.stdout != averaged.stdout


def test_results_that_are_unknown_teach_no_value(data) -> None:
    dataset = Dataset.open(data)
    batch = dataset.batch(np.arange(8), "threats")
    net = build_net(NetConfig(planes="threats", channels=8, blocks=1), SEVEN)
    batch.results[:] = np.nan
    assert set(supervised.compute_losses(net(torch.from_numpy(batch.planes)), batch)) == {"policy"}


def test_wrong_data_and_settings_are_refused(tmp_path, data) -> None:
    with pytest.raises(InputError, match="data is not set"):
        load_config(supervised.Config, "supervised", "cnn", ["data="])
    for setting, message in (
        ("learner.batch=0", "learner: batch must be finite and at least 1, not 0"),
        ("learner.decay=1.5", r"decay=1\.5 is outside the range 0–1"),
        ("learner.average=1", r"average must be at least 0 and below 1, not 1\.0"),
        ("validation=0", "validation must be finite and at least 1, not 0"),
    ):
        with pytest.raises(InputError, match=message):
            load_config(supervised.Config, "supervised", "cnn", [f"data={data}", setting])
    with pytest.raises(InputError, match="not a data set"):
        train(make_run(tmp_path / "a", tmp_path))
    with pytest.raises(InputError, match="7x7:5:freestyle, not 9x9:5:freestyle"):
        train(make_run(tmp_path / "b", data, "ruleset=9x9"))
