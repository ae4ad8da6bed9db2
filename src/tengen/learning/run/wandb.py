"""Metrics of a run for Weights & Biases, if its package is installed and the caller asks for it."""

from __future__ import annotations

import hashlib
from collections.abc import Callable, Mapping
from typing import Any

from tengen.core.extras import needs_package
from tengen.errors import RunError
from tengen.learning.run.reading import RunReader


class WandbLogger:
    """Sends the metrics of a run to a project; a resumed run continues the same curves."""

    def __init__(self, run: RunReader, project: str, say: Callable[[str], None]) -> None:
        """Start logging. Raises `MissingExtraError` if the package is missing and `RunError` if it cannot start."""
        with needs_package("--wandb", "wandb"):
            import wandb
        # The id depends on the folder, so that --resume finds the curves again.
        number = hashlib.sha256(str(run.folder.resolve()).encode()).hexdigest()[:12]
        try:
            self._run: Any = wandb.init(
                project=project,
                id=f"{run.folder.name}-{number}",
                name=run.folder.name,
                resume="allow",
                config={"algorithm": run.header.algorithm, "preset": run.header.preset, **run.config_table},
            )
        except Exception as error:
            raise RunError(f"Weights & Biases cannot start: {' '.join(str(error).split())}") from error
        self._say = say

    def log(self, iteration: int, scalars: Mapping[str, float]) -> None:
        """Send the numbers of one iteration. If that fails, training continues without this logger."""
        if self._run is None:
            return
        try:
            self._run.log(dict(scalars), step=iteration)
        except Exception as error:
            self._run = None
            self._say(f"Weights & Biases failed, so the run continues without it: {' '.join(str(error).split())}")

    def close(self) -> None:
        """Send the remaining metrics and end the upload."""
        if self._run is not None:
            self._run.finish()
