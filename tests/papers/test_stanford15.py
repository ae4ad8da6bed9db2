"""The experiments of stanford15 in their shortest form."""

from __future__ import annotations

from pathlib import Path

import numpy as np
import pytest
from rich.console import Console

from tengen.core.contracts import Ruleset
from tengen.datasets.build import BuildConfig, build_dataset
from tengen.errors import InputError
from tengen.learning.run.folder import Run
from tengen.nets.architectures import NetConfig, NetKind, build_net, save_net
from tengen.nets.export import export_onnx
from tengen.nets.models import WEIGHTS_FILE
from tengen.papers.experiment import Lab, MissingDataError
from tengen.papers.stanford15.experiments import (
    Accuracy,
    Curves,
    Filters,
    Sizes,
    Supervised,
    TrainedGames,
    samples_to_gain,
)

NINE = Ruleset(9, 9)
MDRNN = NetConfig(kind=NetKind.MDRNN, planes="own-other", channels=4)


@pytest.fixture
def lab(tmp_path: Path) -> Lab:
    folder = tmp_path / "runs" / "small" / "1"
    folder.mkdir(parents=True)
    (folder / "model.onnx").write_bytes(export_onnx(build_net(MDRNN, NINE), NINE))
    return Lab(out=tmp_path, console=Console(quiet=True))


def write_data(folder: Path) -> str:
    games = folder.with_suffix(".pos")
    games.write_text("".join(f"9/freestyle/e5{point}d5g7c5\n" for point in ("e4", "f4", "g3", "h2", "a1", "b9")))
    build_dataset([games], folder, BuildConfig(ruleset=NINE, opening_moves=2, shares=(1, 1, 4)))
    return str(folder)


def test_accuracy_is_that_of_the_test_games(lab: Lab, tmp_path: Path) -> None:
    accuracy = Accuracy(name="a", networks={"net": "small"}, data=write_data(tmp_path / "people"), command="build")
    found = accuracy.run(lab)
    assert 0 < found.data["net"]["opening_samples"] < found.data["net"]["samples"]
    assert found.figures["a/net/top1"].count == found.data["net"]["samples"]
    assert found.figures["a/net/top1"].value == pytest.approx(found.data["net"]["top1"], abs=1e-3)
    without = found.data["net"]["samples"] - found.data["net"]["opening_samples"]
    assert found.figures["a/net/top1_without_openings"].count == without


def test_missing_games_are_named_with_the_command_that_builds_them(lab: Lab) -> None:
    accuracy = Accuracy(name="a", networks={"net": "small"}, data="no/such/data", command="tengen data build")
    training = Supervised(name="t", preset="stanford15-cnn", data="no/such/data", command="tengen data build")
    for experiment in (accuracy, training):
        with pytest.raises(MissingDataError, match=r"no data set no/such/data; build it with `tengen data build`"):
            experiment.run(lab)


def test_the_same_weights_play_on_boards_of_several_sizes(lab: Lab) -> None:
    sizes = Sizes(name="s", networks={"net": "small"}, opponents=("random",), sizes=(7, 9), games=2)
    found = sizes.run(lab)
    assert set(found.figures) == {"s/net/random/7", "s/net/random/9"}
    sizes.draw(lab, found.data)
    assert (lab.out / "plots" / "s.svg").exists()


def test_a_training_has_a_curve_by_samples_and_says_where_it_stops_gaining(lab: Lab, tmp_path: Path) -> None:
    data = write_data(tmp_path / "people")
    training = Supervised(
        name="trained",
        preset="stanford15-mdrnn",
        data=data,
        command="build",
        settings=(f"data={data}", "ruleset=9x9:5:freestyle", "iterations=3", "learner.steps=2", "learner.batch=4"),
    )
    found = training.run(lab)
    (curve,) = found.data["curves"].values()
    assert [samples for samples, _ in curve] == [8, 16, 24]
    assert found.figures["trained/best validation top1"].value == max(accuracy for _, accuracy in curve)
    assert (found.figures["trained/positions per CPU second"].value or 0) > 0
    curves = Curves(name="c", about="both", trainings={"MDRNN": "trained"})
    again = curves.run(lab).data
    assert again["curves"]["MDRNN"] == [(samples / 1e6, 100 * accuracy) for samples, accuracy in curve]
    curves.draw(lab, again)
    assert (lab.out / "plots" / "c.svg").exists()
    assert Run.open(lab.run_folder("trained")).is_finished()


def test_a_curve_stops_gaining_near_its_maximum() -> None:
    assert samples_to_gain([(1, 0.1), (2, 0.3), (3, 0.396), (4, 0.4), (5, 0.39)]) == 3


def test_all_filters_are_drawn(lab: Lab) -> None:
    folder = lab.run_folder("cnn")
    folder.mkdir(parents=True)
    net = build_net(NetConfig(kind=NetKind.POOLED, planes="board"), NINE)
    (folder / "model.onnx").write_bytes(export_onnx(net, NINE))
    save_net(folder / WEIGHTS_FILE, net, NINE)
    filters = Filters(name="f", about="filters", training="cnn")
    found = filters.run(lab)
    assert found.figures["f/filters"].value == 1024 == len(found.data["norms"])
    norms = np.array(found.data["norms"])
    half = int(found.figures["f/filters with half of the weight"].value or 0)
    assert norms[: half - 1].sum() < norms.sum() / 2 <= norms[:half].sum() * 1.001
    filters.draw(lab, found.data)
    assert (lab.out / "plots" / "f.svg").exists()


def test_filters_of_another_network_are_refused(lab: Lab) -> None:
    save_net(lab.run_folder("small") / WEIGHTS_FILE, build_net(MDRNN, NINE), NINE)
    with pytest.raises(InputError, match="small is a network of kind mdrnn, which has no filters"):
        Filters(name="f", training="small").run(lab)


def test_what_needs_an_untrained_network_is_left_out(lab: Lab) -> None:
    games = TrainedGames(name="g", rules=NINE, players={"net": "policy:{absent}", "random": "random"}, rounds=1)
    sizes = Sizes(name="s", networks={"net": "absent"}, opponents=("random",), sizes=(9,), games=2)
    for experiment in (games, sizes, Filters(name="f", training="absent"), Curves(name="c", trainings={"a": "absent"})):
        with pytest.raises(MissingDataError, match="absent"):
            experiment.run(lab)
    trained = TrainedGames(name="g", rules=NINE, players={"net": "policy:{small}", "random": "random"}, rounds=1)
    assert trained.run(lab).figures["g/net/random/all won"].count == 2
