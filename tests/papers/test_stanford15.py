"""What stanford15 measured, in its shortest form."""

from __future__ import annotations

import json
from pathlib import Path

from tengen.core.contracts import Ruleset
from tengen.datasets.build import BuildConfig, build_dataset
from tengen.nets.architectures import NetConfig, NetKind, build_net
from tengen.nets.export import export_onnx
from tengen.papers.stanford15 import main

NINE = Ruleset(9, 9)


def test_networks_are_measured_and_written(tmp_path: Path, capsys) -> None:
    configs = {
        "cnn": NetConfig(planes="threats", channels=4, blocks=1),
        "mdrnn": NetConfig(kind=NetKind.MDRNN, planes="own-other", channels=4),
    }
    for name, config in configs.items():
        (tmp_path / f"{name}.onnx").write_bytes(export_onnx(build_net(config, NINE), NINE))
    lines = "".join(f"9/freestyle/e5{point}d5g7c5\n" for point in ("e4", "f4", "g3", "h2", "a1", "b9"))
    (tmp_path / "games.pos").write_text(lines)
    build_dataset([tmp_path / "games.pos"], tmp_path / "set", BuildConfig(ruleset=NINE, shares=(1, 1, 4)))
    out = tmp_path / "results"
    command = [f"{name}={tmp_path / name}.onnx" for name in configs]
    command += ["--data", str(tmp_path / "set"), "--games", "4", "--simulations", "8", "--games-a-size", "2"]
    assert main([*command, "--sizes", "7", "9", "--out", str(out)]) == 0
    assert "| cnn | accuracy 40 %, won 0 of 1,000 | policy alone |" in capsys.readouterr().out
    rows = json.loads((out / "stanford15.json").read_text(encoding="utf-8"))
    for row in rows.values():
        assert sum(row["policy"]["black"]) == sum(row["search_8"]["white"]) == 2
        assert list(row["sizes"]) == ["7", "9"]
        assert 0 < row["accuracy"]["samples"] <= 20
    assert (out / "scalability.svg").exists()


def test_bad_input_is_one_sentence(tmp_path: Path, capsys) -> None:
    assert main(["cnn", "--out", str(tmp_path)]) == 2
    assert "'cnn' is not NAME=NETWORK" in capsys.readouterr().err
    assert main(["cnn=nowhere", "--out", str(tmp_path)]) == 2
