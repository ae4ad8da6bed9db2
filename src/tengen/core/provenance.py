"""Provenance of results: the commit of the code that produced them."""

from __future__ import annotations

import subprocess
from pathlib import Path


def source_commit() -> str:
    """Return the git commit of the running source tree, or `unknown` outside a repository."""
    try:
        done = subprocess.run(
            ["git", "rev-parse", "HEAD"], cwd=Path(__file__).parent, capture_output=True, text=True, check=True
        )
    except (OSError, subprocess.CalledProcessError):
        return "unknown"
    return done.stdout.strip()
