"""A training run: its folder (`reading`, `folder`), its loop, strength measurements, guards, progress and plots."""

from tengen.learning.run.folder import Checkpoint, Run, iteration_rng, new_header
from tengen.learning.run.reading import CONFIG_FILE, METRICS_FILE, RunHeader, RunReader, RunState, find_runs

__all__ = [
    "CONFIG_FILE",
    "METRICS_FILE",
    "Checkpoint",
    "Run",
    "RunHeader",
    "RunReader",
    "RunState",
    "find_runs",
    "iteration_rng",
    "new_header",
]
