from __future__ import annotations

import os
from collections.abc import Iterator
from pathlib import Path

import pytest

from tengen.cluster.local_cluster import LocalCluster


@pytest.fixture(scope="session")
def cluster() -> Iterator[LocalCluster]:
    """One cluster of two nodes for all tests, because it takes many seconds to start."""
    os.environ["PYTHONPATH"] = str(Path(__file__).parents[2])  # workers import the modules of the tests
    with LocalCluster() as cluster:
        yield cluster
