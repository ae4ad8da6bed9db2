"""Helpers for tests of training runs."""

from __future__ import annotations

import json
from collections.abc import Callable
from pathlib import Path
from typing import Any

import pytest

from tengen.learning.run import Run


def fingerprint(folder: Path) -> dict[str, object]:
    """Return all results of a run that do not depend on time."""
    metrics = [json.loads(line) for line in (folder / "metrics.jsonl").read_text().splitlines()]
    for line in metrics:
        del line["seconds"], line["cpu_seconds"]
    games = {path.name: path.read_bytes() for path in sorted((folder / "games").iterdir())}
    return {"metrics": metrics, "games": games, "model": (folder / "model.safetensors").read_bytes()}


def go_with_a_break(run: Run, go: Callable[[Run], None], iteration: int, monkeypatch: pytest.MonkeyPatch) -> None:
    """Run until an iteration is logged but has no checkpoint yet, stop there, then resume to the end."""
    log = Run.log

    def stop(self: Run, number: int, metrics: Any) -> None:
        log(self, number, metrics)
        if number == iteration:
            raise KeyboardInterrupt

    with monkeypatch.context() as patch:
        patch.setattr(Run, "log", stop)
        with pytest.raises(KeyboardInterrupt):
            go(run)
    go(Run.open(run.folder))
