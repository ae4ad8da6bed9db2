"""The committed type stub of the native module says what the module says."""

from __future__ import annotations

import subprocess
import sys
from pathlib import Path

from tests.conftest import ROOT


def test_stub_is_current(tmp_path: Path) -> None:
    fresh = tmp_path / "_native.pyi"
    command = [sys.executable, "-m", "nanobind.stubgen", "-q", "-m", "tengen._native", "-o", str(fresh)]
    subprocess.run(command, check=True)
    committed = ROOT / "src" / "tengen" / "_native.pyi"
    assert committed.read_text(encoding="utf-8") == fresh.read_text(encoding="utf-8"), "run `make stubs`"
