"""A few seconds of fuzzing; run `fuzz_brain` for longer sessions."""

from __future__ import annotations

import pytest

from tests.protocols.fuzz_brain import fuzz_session


@pytest.mark.parametrize("seed", range(4))
def test_random_input(seed: int) -> None:
    assert fuzz_session(seed, batches=15) > 10
