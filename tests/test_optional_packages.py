"""Playing needs no more than the base dependencies; what needs more says which extra to install."""

from __future__ import annotations

import importlib.metadata
import os
import re
import subprocess
import sys
import tomllib
from pathlib import Path

import pytest
from packaging.requirements import Requirement

from tengen.core.extras import EXTRAS, needs_extra, needs_package
from tengen.errors import MissingExtraError

ROOT = Path(__file__).parents[1]
PROJECT = tomllib.loads((ROOT / "pyproject.toml").read_text(encoding="utf-8"))["project"]

BLOCKER = """
import importlib.metadata, sys

class Blocker:
    allowed = {allowed}
    owners = importlib.metadata.packages_distributions()

    def find_spec(self, name, path=None, target=None):
        owners = self.owners.get(name.partition(".")[0])
        if owners and not self.allowed & {{owner.lower().replace("_", "-") for owner in owners}}:
            raise ModuleNotFoundError(f"No module named {{name!r}}", name=name)

sys.meta_path.insert(0, Blocker())
"""


def closure(requirements: list[str]) -> set[str]:
    """Return the distributions that these requirements install, themselves included."""
    found: set[tuple[str, str]] = set()
    given = [Requirement(line) for line in requirements]
    waiting = [one for one in given if one.marker is None or one.marker.evaluate({"extra": ""})]
    while waiting:
        requirement = waiting.pop()
        name = requirement.name.lower().replace("_", "-")
        for extra in {"", *requirement.extras} - {extra for other, extra in found if other == name}:
            found.add((name, extra))
            try:
                needed = map(Requirement, importlib.metadata.requires(name) or [])
            except importlib.metadata.PackageNotFoundError:
                continue  # for another system
            waiting += [one for one in needed if one.marker is None or one.marker.evaluate({"extra": extra})]
    return {"tengen", *(name for name, _ in found)}


class Environment:
    """Runs Python as if only some distributions were installed, in its child processes too."""

    def __init__(self, folder: Path, *extras: str) -> None:
        lines = [
            *PROJECT["dependencies"],
            *(line for extra in extras for line in PROJECT["optional-dependencies"][extra]),
        ]
        self.allowed = closure(lines)
        self.folder = folder
        (folder / "sitecustomize.py").write_text(BLOCKER.format(allowed=self.allowed))

    def run(self, *arguments: str, text: str = "") -> subprocess.CompletedProcess[str]:
        done = self.attempt(*arguments, text=text)
        assert done.returncode == 0, done.stderr
        return done

    def attempt(self, *arguments: str, text: str = "") -> subprocess.CompletedProcess[str]:
        return subprocess.run(
            [sys.executable, *arguments],
            input=text,
            capture_output=True,
            text=True,
            check=False,
            cwd=self.folder,
            env={**os.environ, "PYTHONPATH": f"{self.folder}{os.pathsep}{ROOT}"},
        )

    def tengen(self, *arguments: str, text: str = "") -> subprocess.CompletedProcess[str]:
        return self.run("-m", "tengen.cli", *arguments, text=text)


@pytest.fixture
def base(tmp_path: Path) -> Environment:
    return Environment(tmp_path)


def test_the_base_has_no_large_packages(base: Environment) -> None:
    assert {"numpy", "onnxruntime", "typer", "rich", "psutil"} <= base.allowed
    assert not {"scipy", "matplotlib", "torch", "fastapi", "ray", "pillow"} & base.allowed
    # The blocker blocks: otherwise the other tests prove nothing.
    code = "try:\n    import scipy\nexcept ModuleNotFoundError as error:\n    print(error.name)"
    assert base.run("-c", code).stdout == "scipy\n"


def test_playing_needs_only_the_base(base: Environment) -> None:
    assert "white (random) plays" in base.tengen("play", "random", "--rules", "9x9", text="a1\nquit\n").stdout
    assert "pg9" in base.tengen("paper").stdout
    done = base.tengen("match", "alphazero:model=9x9,simulations=2", "naive", "--rules", "9x9", "--games", "2")
    assert re.search(r"^ *Elo ", done.stdout, re.MULTILINE), done.stdout


def test_a_tournament_without_matplotlib_has_a_report_without_plots(base: Environment) -> None:
    (base.folder / "cup.toml").write_text('rules = "9x9"\nplayers = ["random", "chains", "naive"]\n')
    done = base.tengen("tournament", "cup.toml", "--report", "report", "--quiet")
    assert (
        "warning: the report has no plots: drawing plots needs matplotlib: pip install 'tengen[plots]'" in done.stderr
    )
    files = {path.name for path in (base.folder / "report").iterdir()}
    assert {"report.md", "report.html", "report.json"} <= files
    assert not any(name.endswith((".png", ".svg")) for name in files)
    done = base.tengen("ratings", "cup.db", "--report", "again")
    assert "pip install 'tengen[plots]'" in done.stderr


def test_fitting_without_scipy_names_the_extra(base: Environment) -> None:
    code = """
from pathlib import Path
from tengen.errors import MissingExtraError
from tengen.tuning.evaluation_fit import FitConfig, fit_files
try:
    fit_files([], Path("w.npz"), FitConfig())
except MissingExtraError as error:
    print(error)
"""
    assert base.run("-c", code).stdout == "fitting needs scipy: pip install 'tengen[train]'\n"


@pytest.mark.parametrize(
    ("arguments", "sentence"),
    [
        (["-m", "tengen.cli", "serve"], "tengen: tengen serve needs uvicorn: pip install 'tengen[web]'"),
        (
            ["-m", "tengen.cli", "train", "alphazero", "--preset", "6x6x4"],
            "tengen: training needs torch: pip install 'tengen[train]'",
        ),
        (["-c", "import tengen.envs"], "tengen.envs needs gymnasium: pip install 'tengen[envs]'"),
    ],
)
def test_a_missing_extra_is_named_in_one_line(base: Environment, arguments: list[str], sentence: str) -> None:
    done = base.attempt(*arguments)
    assert done.returncode != 0
    assert done.stderr.splitlines()[-1].removeprefix("tengen.errors.MissingExtraError: ") == sentence
    assert "Traceback" not in done.stderr or arguments[0] == "-c"


@pytest.mark.parametrize("extra", EXTRAS)
def test_the_modules_of_an_extra_are_those_of_its_packages(extra: str) -> None:
    modules: dict[str, set[str]] = {}
    for module, owners in importlib.metadata.packages_distributions().items():
        for owner in owners:
            modules.setdefault(owner.lower().replace("_", "-"), set()).add(module)
    named = set(EXTRAS[extra].modules)
    installed = closure(PROJECT["optional-dependencies"][extra])
    if extra == "openvino" and extra not in modules:
        pytest.skip("the tests use a stand-in for openvino")
    for line in PROJECT["optional-dependencies"][extra]:
        assert modules[Requirement(line).name.lower()] & named, f"{line}: add its module"
    assert named <= set().union(*(modules.get(package, set()) for package in installed))


def import_pandas_as_ray_does() -> None:
    try:
        raise ModuleNotFoundError("No module named 'pandas'", name="pandas")
    except ImportError as error:
        raise ImportError("Can't import ray.train") from error


def test_a_missing_package_is_named_even_if_another_one_reports_it() -> None:
    sentence = r"^learners = 2 needs pandas: pip install 'tengen\[cluster\]'$"
    with pytest.raises(MissingExtraError, match=sentence), needs_extra("learners = 2", "cluster"):
        import_pandas_as_ray_does()


def test_an_import_that_fails_for_another_reason_is_not_reported_as_a_missing_package() -> None:
    with pytest.raises(ImportError, match="libcudart") as caught, needs_package("a network", "onnxruntime"):
        raise ImportError("libcudart.so: cannot open shared object file", name="onnxruntime")
    assert not isinstance(caught.value, MissingExtraError)


def test_the_board_in_the_browser_needs_no_matplotlib(tmp_path: Path) -> None:
    web = Environment(tmp_path, "web")
    assert "matplotlib" not in web.allowed
    code = """
from tengen.web.app import create_app
from tengen.web.services import ServerConfig

create_app(ServerConfig())
"""
    web.run("-c", code)


def test_pictures_of_positions_need_no_extra(base: Environment) -> None:
    code = """
import tengen
position = tengen.Position.from_moves("15x15", "h8i9")
assert position.to_svg().startswith("<svg")
print(position.to_png()[:4])
"""
    assert base.run("-c", code).stdout == "b'\\x89PNG'\n"
