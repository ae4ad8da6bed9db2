"""Searches that report by callback, as a stream of snapshots."""

from __future__ import annotations

import queue
import threading
from collections.abc import Callable, Iterator

from tengen.core.contracts import Analysis

Report = Callable[[Analysis], None]


def stream_analysis(search: Callable[[Report], Analysis], stop: Callable[[], None]) -> Iterator[Analysis]:
    """Run `search` in a thread of its own; yield what it reports and, last, what it returns.

    An error of the search is raised here. Abandoning the iterator calls `stop` and waits for the search to end.
    """
    snapshots: queue.SimpleQueue[Analysis | BaseException | None] = queue.SimpleQueue()

    def run() -> None:
        try:
            snapshots.put(search(snapshots.put))
        except BaseException as error:
            snapshots.put(error)
        snapshots.put(None)

    thread = threading.Thread(target=run, name="analysis", daemon=True)
    thread.start()
    try:
        while (item := snapshots.get()) is not None:
            if isinstance(item, BaseException):
                raise item
            yield item
    finally:
        stop()
        thread.join()
