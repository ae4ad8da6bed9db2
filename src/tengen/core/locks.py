"""Locks between processes: files that the operating system unlocks when the process that holds them ends."""

from __future__ import annotations

import sys
import time

_ATTEMPTS, _RETRY_S = 20, 0.05

if sys.platform == "win32":
    import msvcrt

    def try_lock(descriptor: int, *, shared: bool = False) -> bool:
        try:
            msvcrt.locking(descriptor, msvcrt.LK_NBLCK, 1)
        except OSError:
            return False
        return True
else:
    import fcntl

    def try_lock(descriptor: int, *, shared: bool = False) -> bool:
        """Try to lock a file until it is closed, without waiting; return whether this succeeded.

        A shared lock fails only while another process holds an exclusive one.
        """
        try:
            fcntl.flock(descriptor, (fcntl.LOCK_SH if shared else fcntl.LOCK_EX) | fcntl.LOCK_NB)
        except OSError:
            return False
        return True


def wait_for_lock(descriptor: int) -> bool:
    """Lock a file exclusively; retry for a second, because readers briefly lock it to test its state."""
    for _ in range(_ATTEMPTS):
        if try_lock(descriptor):
            return True
        time.sleep(_RETRY_S)
    return False
