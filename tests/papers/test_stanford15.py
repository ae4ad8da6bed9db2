"""What stanford15 measured, in its shortest form."""

from __future__ import annotations

import json
from pathlib import Path
from typing import Any

import pytest

from tengen.core.contracts import Ruleset
from tengen.datasets.build import BuildConfig, build_dataset
from tengen.nets.architectures import NetConfig, NetKind, build_net
from tengen.nets.export import export_onnx
from tengen.papers.stanford15.experiments import RESULTS_FILE, main

NINE = Ruleset(9, 9)
SHORT = ["--games", "4", "--simulations", "8", "--games-a-size", "2"]
CNN = NetConfig(planes="threats", channels=4, blocks=1)
MDRNN = NetConfig(kind=NetKind.MDRNN, planes="own-other", channels=4)
FIXED_SIZE = NetConfig(kind=NetKind.DENSE, planes="board", channels=16)


def write_network(path: Path, config: NetConfig, seed: int = 0) -> str:
    path.write_bytes(export_onnx(build_net(config, NINE, seed=seed), NINE))
    return f"{path.stem}={path}"


def write_data(folder: Path, rules: str = "9/freestyle", *, keeps_duplicates: bool = False) -> list[str]:
    lines = "".join(f"{rules}/e5{point}d5g7c5\n" for point in ("e4", "f4", "g3", "h2", "a1", "b9"))
    games = folder.with_suffix(".pos")
    games.write_text(lines)
    size, rule = rules.split("/")
    ruleset = Ruleset.parse(f"{size}x{size}:5:{rule}")
    config = BuildConfig(ruleset=ruleset, opening_moves=2, shares=(1, 1, 4), keeps_duplicates=keeps_duplicates)
    build_dataset([games], folder, config)
    return ["--data", str(folder)]


def read_results(folder: Path) -> dict[str, Any]:
    rows: dict[str, Any] = json.loads((folder / RESULTS_FILE).read_text(encoding="utf-8"))
    return rows


def test_networks_are_measured_and_written(tmp_path: Path, capsys) -> None:
    networks = [write_network(tmp_path / "cnn.onnx", CNN), write_network(tmp_path / "mdrnn-small.onnx", MDRNN)]
    out = ["--out", str(tmp_path / "results")]
    assert main([*networks, *write_data(tmp_path / "people"), *SHORT, "--sizes", "7", "9", *out]) == 0
    shown = capsys.readouterr().out
    assert "| cnn | accuracy 40 %, won 0 of 1,000 | policy alone |" in shown
    assert "| mdrnn-small | accuracy 50 %, won 3 % | policy alone |" in shown
    assert "| cnn | people | removed |" in shown
    assert (tmp_path / "results" / "table.md").read_text(encoding="utf-8") == shown
    for row in read_results(tmp_path / "results").values():
        assert sum(row["policy"]["black"]) == sum(row["search_8"]["white"]) == 2
        assert {opponent: list(scores) for opponent, scores in row["sizes"].items()} == {
            "naive:level=3": ["7", "9"],
            "chains": ["7", "9"],
        }
        found = row["accuracy"]["people"]
        assert 0 < found["opening_samples"] < found["samples"] <= 20
        assert (found["duplicates"], found["averaged"], found["opening_moves"]) == ("removed", False, 2)
    assert (tmp_path / "results" / "scalability.svg").exists()


def test_what_is_measured_in_pieces_comes_together(tmp_path: Path) -> None:
    out = tmp_path / "results"
    cnn, mdrnn = write_network(tmp_path / "cnn.onnx", CNN), write_network(tmp_path / "mdrnn.onnx", MDRNN)

    def run(*arguments: str) -> dict[str, Any]:
        assert main([*arguments, *SHORT, "--out", str(out)]) == 0
        return read_results(out)

    assert set(run(cnn, "--only", "policy")["cnn"]) == {"network", "ruleset", "sha256", "policy"}
    people, kept = write_data(tmp_path / "people"), write_data(tmp_path / "kept", keeps_duplicates=True)
    run(cnn, mdrnn, *people, "--only", "accuracy")
    run(cnn, *people, "--only", "accuracy", "--average")
    run(cnn, *kept, "--only", "accuracy")
    run(cnn, "--only", "sizes", "--sizes", "9")
    rows = run(cnn, "--only", "sizes", "--sizes", "7")
    assert set(rows["mdrnn"]) == {"network", "ruleset", "sha256", "accuracy"}
    assert set(rows["cnn"]) == {"network", "ruleset", "sha256", "policy", "accuracy", "sizes"}
    described = {name: (row["averaged"], row["duplicates"]) for name, row in rows["cnn"]["accuracy"].items()}
    assert described == {"people": (False, "removed"), "people, averaged": (True, "removed"), "kept": (False, "kept")}
    assert list(rows["cnn"]["sizes"]["chains"]) == ["7", "9"]
    # Another network of the same name begins anew.
    write_network(tmp_path / "cnn.onnx", CNN, seed=1)
    rows = run(cnn, *people, "--only", "accuracy")
    assert set(rows["cnn"]) == {"network", "ruleset", "sha256", "accuracy"}
    assert "mdrnn" in rows


@pytest.mark.parametrize(("config", "rules"), [(FIXED_SIZE, "15/freestyle"), (CNN, "9/renju")], ids=["size", "rule"])
def test_games_that_a_network_does_not_play_are_refused(tmp_path: Path, capsys, config: NetConfig, rules: str) -> None:
    network = write_network(tmp_path / "cnn.onnx", config)
    assert main([network, *write_data(tmp_path / "other", rules), *SHORT, "--out", str(tmp_path / "results")]) == 2
    assert "plays 9x9:5:freestyle" in capsys.readouterr().err
    assert not (tmp_path / "results").exists()


def test_bad_input_is_one_sentence(tmp_path: Path, capsys) -> None:
    assert main(["cnn", "--out", str(tmp_path)]) == 2
    assert "'cnn' does not have the form NAME=NETWORK" in capsys.readouterr().err
    assert main(["cnn=nowhere", "--out", str(tmp_path)]) == 2
    network = write_network(tmp_path / "cnn.onnx", CNN)
    assert main([network, "--only", "accuracy", "--out", str(tmp_path)]) == 2
    assert "pass --data" in capsys.readouterr().err
    (tmp_path / RESULTS_FILE).write_text("[]")
    assert main([network, "--only", "policy", "--out", str(tmp_path)]) == 2
    assert f"{RESULTS_FILE} is not a results file" in capsys.readouterr().err
