"""What all tests share: the profiles of hypothesis and the way to larger data that may lie beside the repository."""

from __future__ import annotations

import os
from pathlib import Path

from hypothesis import settings

ROOT = Path(__file__).resolve().parent.parent

# Tests of one commit do the same everywhere; HYPOTHESIS_PROFILE=explore looks for new counterexamples.
settings.register_profile("ci", derandomize=True, deadline=None, print_blob=True)
settings.register_profile("explore", max_examples=2000, deadline=None, print_blob=True)
settings.load_profile(os.environ.get("HYPOTHESIS_PROFILE", "ci"))


def shared_data() -> Path | None:
    """The folder `../shared/data` beside the repository if it is there, else None."""
    folder = ROOT.parent / "shared" / "data"
    return folder if folder.is_dir() else None
