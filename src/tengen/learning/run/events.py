"""Metrics for TensorBoard, if the package tensorboard is installed.

The writer in the tensorboard package uses a thread, which dies with a traceback if the disk is full. This writer is
synchronous, so the caller gets the error.
"""

from __future__ import annotations

import importlib.util
import itertools
import os
import socket
import time
from collections.abc import Mapping
from pathlib import Path
from typing import Any

_numbers = itertools.count()
"""Distinguishes files that one process creates in the same second."""


def can_write_events() -> bool:
    """Return whether tensorboard is installed (the extra `tensorboard`)."""
    return importlib.util.find_spec("tensorboard") is not None


class EventWriter:
    """An open event file. All methods raise `OSError` if it cannot be written."""

    def __init__(self, folder: Path, first_step: int) -> None:
        """Create a file in `folder`. TensorBoard then ignores events in earlier files from `first_step` onwards."""
        from tensorboard.compat.proto.event_pb2 import Event, SessionLog
        from tensorboard.summary.writer.record_writer import RecordWriter

        # TensorBoard reads the files in the order of their names, so the numbers have a fixed width.
        moment = time.time_ns() // 1000
        name = f"events.out.tfevents.{moment}.{socket.gethostname()}.{os.getpid():010}.{next(_numbers):010}"
        self._event: Any = Event
        self._file = open(folder / name, "ab", buffering=0)  # noqa: SIM115  closed by `close`
        self._records = RecordWriter(self._file)
        self._write(file_version="brain.Event:2")
        self._write(step=first_step, session_log=SessionLog(status=SessionLog.START))

    def add(self, step: int, scalars: Mapping[str, float]) -> None:
        """Write the numbers for one step."""
        from tensorboard.compat.proto.summary_pb2 import Summary

        values = [Summary.Value(tag=name, simple_value=value) for name, value in scalars.items()]
        self._write(step=step, summary=Summary(value=values))

    def close(self) -> None:
        """Close the file."""
        self._file.close()

    def _write(self, **fields: Any) -> None:
        self._records.write(self._event(wall_time=time.time(), **fields).SerializeToString())
