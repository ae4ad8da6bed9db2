"""One Ray cluster for all tests of a process: a head without CPUs and two nodes with one CPU each, on this machine."""

from __future__ import annotations

import os
import signal
import tempfile
from collections.abc import Iterator
from contextlib import suppress
from pathlib import Path
from typing import Any

import psutil
import pytest

STORE_BYTES = 100 << 20


class TestCluster:
    """The cluster and what can happen to it."""

    __test__ = False

    def __init__(self) -> None:
        import ray
        from ray.cluster_utils import Cluster

        self._ray = ray
        head = {"num_cpus": 0, "object_store_memory": STORE_BYTES, "include_dashboard": False}
        self._cluster = Cluster(initialize_head=True, head_node_args=head)
        self.nodes: list[Any] = []
        self.add_node()
        self.add_node()
        ray.init(address=self.address, log_to_driver=False, logging_level="ERROR")

    @property
    def address(self) -> str:
        return str(self._cluster.address)

    def add_node(self) -> None:
        self.nodes.append(self._cluster.add_node(num_cpus=1, object_store_memory=STORE_BYTES))

    def replace_node(self) -> None:
        """Kill the older node with everything on it, and let another one join."""
        self._cluster.remove_node(self.nodes.pop(0), allow_graceful=False)
        self.add_node()

    def kill_worker(self) -> bool:
        """Kill the process of one actor; False if there is none."""
        for process in actor_processes():
            process.send_signal(signal.SIGKILL)
            return True
        return False

    def close(self) -> None:
        self._ray.shutdown()
        self._cluster.shutdown()


def actor_processes() -> list[psutil.Process]:
    """Processes of our actors on all nodes of this cluster, which Ray names after their class."""
    found = []
    for process in psutil.process_iter(["cmdline"]):
        command = process.info["cmdline"] or [""]
        if not command[0].startswith("ray::_Actor"):
            continue
        with suppress(psutil.NoSuchProcess):
            raylet = process.parent()
            # Another cluster can be on this machine: ours has our folder in the command of its raylets.
            if raylet is not None and any(os.environ["RAY_TMPDIR"] in part for part in raylet.cmdline()):
                found.append(process)
    return found


@pytest.fixture(scope="session")
def cluster() -> Iterator[TestCluster]:
    with tempfile.TemporaryDirectory(prefix="ray-") as folder:
        # Worker processes find the modules of the tests; sockets need short paths.
        os.environ.update(RAY_TMPDIR=folder, PYTHONPATH=str(Path(__file__).parents[2]))
        made = TestCluster()
        try:
            yield made
        finally:
            made.close()
