"""Where results come from: they name the commit of the code that made them."""

from __future__ import annotations

import subprocess
from pathlib import Path


def source_commit() -> str:
    """The commit of the source tree this runs from, `unknown` outside of one."""
    try:
        done = subprocess.run(
            ["git", "rev-parse", "HEAD"], cwd=Path(__file__).parent, capture_output=True, text=True, check=True
        )
    except (OSError, subprocess.CalledProcessError):
        return "unknown"
    return done.stdout.strip()
