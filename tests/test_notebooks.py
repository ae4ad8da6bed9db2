"""The notebooks of examples/notebooks/ run from the first cell to the last, with a small budget.

`make test-examples` runs them with the Python of an environment that has an installed wheel (EXAMPLES_PYTHON).
"""

from __future__ import annotations

import ast
import json
import os
import subprocess
import sys
from pathlib import Path
from typing import Any

import pytest

from tests.conftest import ROOT

NOTEBOOKS = ROOT / "examples" / "notebooks"
BUDGETS = {
    "play_and_analyse": "NODES = 2000",
    "rate": 'RULES, GAMES = "9x9", 8',
    "train": (
        "MINUTES, GAMES = 0.0, 2\n"
        'SETTINGS = {"iterations": 2, "self_play.games": 16, "self_play.parallel": 16, "search.simulations": 8,'
        ' "strength.points": 1, "strength.games": 2, "strength.ladder_games": 2}'
    ),
    "write_a_bot": "GAMES = 4",
}
"""Notebook → values that replace those of its cell of parameters."""
SHOWN = {
    "play_and_analyse": ("black may not play j8 (double-three)", "black wins by VC", "<svg"),
    "rate": ("likelihood of superiority", "improvement", "random "),
    "train": ("runs/notebook is finished", "rule-based", "%", "<svg"),
    "write_a_bot": ("central against random", "./shaper.py:Shaper against careful", "<svg"),
}
"""Notebook → texts among what its cells print and show."""

EXECUTOR = """
import ast, json, sys
namespace = {"__name__": "__main__"}
for code in json.load(sys.stdin):
    *body, last = ast.parse(code).body or [None]
    if last is None:
        continue
    shown = ast.Expression(last.value) if isinstance(last, ast.Expr) else None
    exec(compile(ast.Module(body if shown else [*body, last], []), "cell", "exec"), namespace)
    value = eval(compile(shown, "cell", "eval"), namespace) if shown else None
    if value is not None:  # as a notebook shows it
        print(value._repr_svg_() if hasattr(value, "_repr_svg_") else repr(value))
"""


def cells(name: str) -> list[dict[str, Any]]:
    read: list[dict[str, Any]] = json.loads((NOTEBOOKS / f"{name}.ipynb").read_text(encoding="utf-8"))["cells"]
    return read


def is_parameters(cell: dict[str, Any]) -> bool:
    return "parameters" in cell["metadata"].get("tags", ())


def test_every_notebook_is_tested() -> None:
    assert {path.stem for path in NOTEBOOKS.glob("*.ipynb")} == set(BUDGETS) == set(SHOWN)


@pytest.mark.parametrize("name", BUDGETS)
def test_notebook_runs(name: str, tmp_path: Path) -> None:
    code = ["".join(cell["source"]) for cell in cells(name) if cell["cell_type"] == "code"]
    index = [is_parameters(cell) for cell in cells(name) if cell["cell_type"] == "code"].index(True)
    done = subprocess.run(
        [os.environ.get("EXAMPLES_PYTHON", sys.executable), "-P", "-c", EXECUTOR],
        input=json.dumps([*code[: index + 1], BUDGETS[name], *code[index + 1 :]]),
        cwd=tmp_path,
        env={**os.environ, "MPLBACKEND": "agg"},
        capture_output=True,
        text=True,
        check=False,
    )
    assert done.returncode == 0, done.stderr
    for text in SHOWN[name]:
        assert text in done.stdout


@pytest.mark.parametrize("name", BUDGETS)
def test_notebook_is_ready_to_open(name: str) -> None:
    """It has no outputs, installs what it needs in the first cell of code, and has one cell of parameters."""
    of_code = [cell for cell in cells(name) if cell["cell_type"] == "code"]
    assert not any(cell["outputs"] or cell["execution_count"] for cell in of_code)
    assert '"pip", "install"' in "".join(of_code[0]["source"])
    (parameters,) = filter(is_parameters, of_code)
    assigned = {
        target.id
        for statement in ast.parse("".join(parameters["source"])).body
        if isinstance(statement, ast.Assign)
        for target in statement.targets
        if isinstance(target, ast.Name)
    }
    replaced = {node.id for node in ast.walk(ast.parse(BUDGETS[name])) if isinstance(node, ast.Name)}
    assert replaced <= assigned
