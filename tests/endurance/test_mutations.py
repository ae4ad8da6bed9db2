"""A few hundred damaged files of each kind; `python -m tests.endurance mutations` tries thousands."""

from __future__ import annotations

from pathlib import Path

import pytest

from tests.endurance.mutations import SUBJECTS, Subject

CASES = 150


@pytest.mark.parametrize("subject", SUBJECTS, ids=lambda subject: subject.name)
def test_damaged_files_give_our_errors_only(subject: type[Subject], tmp_path: Path) -> None:
    found = subject(tmp_path / "samples").run(seed=0, count=CASES)
    assert found["refused"] > 0
    assert sum(found.values()) == CASES
