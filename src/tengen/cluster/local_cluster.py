"""A Ray cluster of several nodes on this machine whose nodes and workers can be killed, for tests and benchmarks."""

from __future__ import annotations

import logging
import os
import signal
import tempfile
from contextlib import suppress
from pathlib import Path
from typing import Any, Self

import psutil
import ray
from ray.cluster_utils import Cluster

_STORE_BYTES = 100 << 20


class LocalCluster:
    """A head without CPUs, which hosts the driver, and nodes with one CPU each; a context manager that stops them."""

    def __init__(self, nodes: int = 2, store_bytes: int = _STORE_BYTES) -> None:
        """Start the cluster and connect to it. Use it from the main thread: Ray's nodes set signal handlers."""
        # The paths of Unix sockets are limited to about 100 characters.
        self._folder = tempfile.TemporaryDirectory(prefix="ray-", ignore_cleanup_errors=True)
        os.environ["RAY_TMPDIR"] = self._folder.name
        self._store_bytes = store_bytes
        head = {"num_cpus": 0, "object_store_memory": store_bytes, "include_dashboard": False}
        self._cluster = Cluster(initialize_head=True, head_node_args=head)
        self._nodes: list[Any] = []
        for _ in range(nodes):
            self.add_node()
        ray.init(address=self.address, log_to_driver=False, logging_level=logging.ERROR)

    @property
    def address(self) -> str:
        """The address for `--on ray=ADDRESS`."""
        return str(self._cluster.address)

    def add_node(self) -> None:
        """Add a node."""
        self._nodes.append(self._cluster.add_node(num_cpus=1, object_store_memory=self._store_bytes))

    def replace_node(self) -> None:
        """Kill the oldest node with everything on it, and add a new one."""
        self._cluster.remove_node(self._nodes.pop(0), allow_graceful=False)
        self.add_node()

    def kill_worker(self) -> bool:
        """Kill one worker process; return False if no worker is running."""
        for process in self.workers():
            process.send_signal(signal.SIGKILL)
            return True
        return False

    def workers(self) -> list[psutil.Process]:
        """Return the processes of our workers on all nodes; Ray names them after their class."""
        return [process for process in self.processes() if _is_worker(process)]

    def processes(self) -> list[psutil.Process]:
        """Return all processes of this cluster except the driver."""
        found = []
        for process in psutil.process_iter():
            with suppress(psutil.Error):
                # Ray's processes have our folder in their command lines; the workers are children of these processes.
                if self._is_ours(process) or ((parent := process.parent()) is not None and self._is_ours(parent)):
                    found.append(process)
        return found

    def spilled_files(self) -> list[Path]:
        """Return the files that Ray has written to disk because its object store was full."""
        folders = Path(self._folder.name).rglob("ray_spilled_objects*")
        return [path for folder in folders for path in folder.rglob("*") if path.is_file()]

    def _is_ours(self, process: psutil.Process) -> bool:
        return process.pid != os.getpid() and any(self._folder.name in part for part in process.cmdline())

    def close(self) -> None:
        """Disconnect and stop all nodes."""
        ray.shutdown()
        self._cluster.shutdown()
        self._folder.cleanup()

    def __enter__(self) -> Self:
        return self

    def __exit__(self, *exception: object) -> None:
        self.close()


def _is_worker(process: psutil.Process) -> bool:
    with suppress(psutil.Error):
        return "".join(process.cmdline()[:1]).startswith("ray::_Actor")
    return False
