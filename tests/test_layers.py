"""The rules about imports that import-linter cannot see: native module, front door, minimal dependencies.

import-linter (pyproject.toml) keeps the order of the layers; it does not know modules that are not written in Python.
"""

from __future__ import annotations

import ast
import subprocess
import sys
from collections.abc import Iterator
from pathlib import Path

import tengen

PACKAGE = Path(tengen.__file__).parent
MAY_IMPORT_NATIVE = ("core", "patterns", "search", "envs", "tuning", "agents.simple")


def imported_names(tree: ast.AST) -> Iterator[str]:
    """Full names of everything a module imports: `a.b` for both `import a.b` and `from a import b`."""
    for node in ast.walk(tree):
        if isinstance(node, ast.Import):
            yield from (alias.name for alias in node.names)
        elif isinstance(node, ast.ImportFrom):
            assert node.level == 0, "imports inside tengen are absolute"
            yield from (f"{node.module}.{alias.name}" for alias in node.names)


def imports_by_module() -> Iterator[tuple[str, set[str]]]:
    """Pairs (module name without `tengen.`, names it imports) of all modules below the front door."""
    for path in sorted(PACKAGE.rglob("*.py")):
        parts = path.relative_to(PACKAGE).with_suffix("").parts
        module = ".".join(parts[:-1] if parts[-1] == "__init__" else parts)
        if module:
            yield module, set(imported_names(ast.parse(path.read_text(encoding="utf-8"))))


def is_under(name: str, *parents: str) -> bool:
    return any(name == parent or name.startswith(f"{parent}.") for parent in parents)


def test_native_module_is_imported_by_few() -> None:
    importers = {module for module, names in imports_by_module() if any(is_under(n, "tengen._native") for n in names)}
    assert "core.position" in importers
    assert [module for module in importers if not is_under(module, *MAY_IMPORT_NATIVE)] == []


def test_modules_do_not_enter_through_the_front_door() -> None:
    layers = {path.stem for path in PACKAGE.iterdir()} | {"_native", "__version__"}
    strangers = {
        f"{module}: {name}"
        for module, names in imports_by_module()
        for name in names
        if name == "tengen" or (name.startswith("tengen.") and name.split(".")[1] not in layers)
    }
    assert strangers == set()


BLOCK_ALL_BUT_NUMPY = """
import importlib.metadata, sys

class Blocker:
    blocked = {
        name for name, owners in importlib.metadata.packages_distributions().items()
        if not {owner.lower() for owner in owners} & {"numpy", "tengen"}
    }
    def find_spec(self, name, path=None, target=None):
        if name.partition(".")[0] in self.blocked:
            raise ImportError(f"blocked: {name}")

sys.meta_path.insert(0, Blocker())
assert "typer" in Blocker.blocked
import tengen
tengen.Position.start(tengen.Ruleset.parse("15x15:5:renju")).play("h8")
"""


def test_front_door_needs_numpy_alone() -> None:
    done = subprocess.run([sys.executable, "-c", BLOCK_ALL_BUT_NUMPY], capture_output=True, text=True, check=False)
    assert done.returncode == 0, done.stderr
