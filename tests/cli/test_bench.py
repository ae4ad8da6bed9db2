"""`tengen bench`."""

from __future__ import annotations

import re

from typer.testing import CliRunner

from tengen.cli import app
from tengen.search.bench import run_bench


def test_the_last_line_is_the_signature():
    result = CliRunner().invoke(app, ["bench", "--depth", "4"])
    assert result.exit_code == 0
    assert result.stdout.splitlines()[-1] == f"Bench: {run_bench(4).nodes}"
    assert re.search(r"\d+\.\d\d s, [\d,]+ nodes/s", result.stdout)
    assert result.stdout.count("15x15:5:renju") == 2


def test_depth_has_bounds():
    assert CliRunner().invoke(app, ["bench", "--depth", "0"]).exit_code == 2
