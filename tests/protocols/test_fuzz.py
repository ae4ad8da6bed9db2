"""A few seconds of wild input; `fuzz_brain` does hours of it."""

from __future__ import annotations

import pytest

from tests.protocols.fuzz_brain import fuzz_session


@pytest.mark.parametrize("seed", range(4))
def test_wild_input(seed: int) -> None:
    assert fuzz_session(seed, batches=15) > 10
