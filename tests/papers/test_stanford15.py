"""Accuracy and board sizes of stanford15 in their shortest form."""

from __future__ import annotations

from pathlib import Path

import pytest
from rich.console import Console

from tengen.core.contracts import Ruleset
from tengen.datasets.build import BuildConfig, build_dataset
from tengen.nets.architectures import NetConfig, NetKind, build_net
from tengen.nets.export import export_onnx
from tengen.papers.experiment import Lab, MissingDataError
from tengen.papers.stanford15.experiments import Accuracy, Sizes, Supervised

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
